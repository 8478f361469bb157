"""The numbers of `undercurve metrics --like all` beside those of the programs themselves, on ten files.

python3 tests/peers/conventions.py [UNDERCURVE]

Prints each program's version, each call with the largest difference over the files, and for every call whether `--reported` with
four digits of what the program printed names it. A program that is not installed is named and left out: from PyPI scikit-learn,
torchmetrics, torcheval, lightgbm, xgboost, catboost, keras, river, pytrec-eval-terrier, pyspark (with Java); R's pROC, ROCR,
MLmetrics. Ends with an error where a number differs by more than 2e-6 (32-bit programs) or a call is not named.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings

os.environ.update(KERAS_BACKEND="torch", CUDA_VISIBLE_DEVICES="", SPARK_LOCAL_IP="127.0.0.1")
warnings.filterwarnings("ignore")
import numpy as np

UNDERCURVE = sys.argv[1] if len(sys.argv) > 1 else "target/debug/undercurve"
FPRS = [0.01, 0.05, 0.1, 0.3]


def files():
    """Ten files: few and many rows, ties, rare positives, scores outside of [0, 1], an order that is wrong."""
    draw = np.random.default_rng(20)
    yield np.array([1, 0, 1, 0, 1]), np.array([0.9, 0.5, 0.5, 0.5, 0.1])
    shapes = [(40, 0.3, 0, 1.0), (200, 0.1, 20, 1.0), (300, 0.5, 5, 1.0), (1000, 0.05, 200, 1.5), (700, 0.2, 0, -0.7), (6000, 0.03, 0, 1.5)]
    for rows, share, levels, apart in shapes:
        labels = (draw.random(rows) < share).astype(int)
        scores = 1 / (1 + np.exp(0.5 - draw.normal(size=rows) - apart * labels))
        # (Scores that 32 bits hold, so that no program sees others.)
        yield labels, (np.round(scores * levels) / levels if levels else scores).astype(np.float32).astype(float)
    for rows, share, scale in [(400, 0.2, 1), (500, 0.1, 30), (3000, 0.5, 8)]:
        labels = (draw.random(rows) < share).astype(int)
        yield labels, ((draw.normal(size=rows) + labels) * scale).astype(np.float32).astype(float)


def probabilities(scores):
    return scores.min() >= 0 and scores.max() <= 1


def scikit_learn(y, s, **weights):
    import sklearn
    from functools import partial
    from sklearn import metrics

    roc_auc_score, average_precision_score = (partial(of, **weights) for of in (metrics.roc_auc_score, metrics.average_precision_score))
    precision, recall, _ = metrics.precision_recall_curve(y, s, **weights)
    return sklearn.__version__, {
        "roc_auc_score(y, s)": roc_auc_score(y, s),
        "roc_auc_score(1 - y, s)": roc_auc_score(1 - y, s),
        "roc_auc_score(y, s >= .5)": roc_auc_score(y, s >= 0.5),
        "average_precision_score(y, s)": average_precision_score(y, s),
        "average_precision_score(1 - y, -s)": average_precision_score(1 - y, -s),
        "average_precision_score(y, s >= .5)": average_precision_score(y, s >= 0.5),
        "auc(recall, precision)": metrics.auc(recall, precision),
        **{f"roc_auc_score(y, s, max_fpr={end})": roc_auc_score(y, s, max_fpr=end) for end in FPRS},
    }


def torchmetrics(y, s):
    import torch
    import torchmetrics
    from torchmetrics.functional.classification import binary_auroc, binary_average_precision

    scores, labels = torch.tensor(s), torch.tensor(y)
    if not probabilities(s):
        return torchmetrics.__version__, {
            "binary_auroc(s.float(), y)": binary_auroc(scores.float(), labels).item(),
            "binary_average_precision(s.float(), y)": binary_average_precision(scores.float(), labels).item(),
        }
    return torchmetrics.__version__, {
        "binary_auroc(s, y)": binary_auroc(scores, labels).item(),
        "binary_average_precision(s, y)": binary_average_precision(scores, labels).item(),
        "binary_auroc(s, y, thresholds=100)": binary_auroc(scores, labels, thresholds=100).item(),
        "binary_average_precision(s, y, thresholds=100)": binary_average_precision(scores, labels, thresholds=100).item(),
        **{f"binary_auroc(s, y, max_fpr={end})": binary_auroc(scores, labels, max_fpr=end).item() for end in FPRS},
    }


def torcheval(y, s):
    import torch
    import torcheval
    from torcheval.metrics.functional import binary_auprc, binary_auroc, binary_binned_auprc, binary_binned_auroc

    scores, labels = torch.tensor(s), torch.tensor(y)
    found = {"binary_auroc(s, y)": binary_auroc(scores, labels), "binary_auprc(s, y)": binary_auprc(scores, labels)}
    if probabilities(s):
        found["binary_binned_auroc(s, y, threshold=100)"] = binary_binned_auroc(scores, labels, threshold=100)[0]
        found["binary_binned_auprc(s, y, threshold=100)"] = binary_binned_auprc(scores, labels, threshold=100)[0]
    return torcheval.__version__, {call: value.item() for call, value in found.items()}


def lightgbm(y, s):
    import lightgbm

    data = lightgbm.Dataset(np.arange(len(y), dtype=float)[:, None], y, init_score=s)
    wanted = {"objective": "none", "metric": ["auc", "average_precision"], "verbosity": -1, "min_data_in_leaf": 1}
    return lightgbm.__version__, {name: value for _, name, value, _ in lightgbm.Booster(wanted, data).eval_train()}


def xgboost(y, s):
    import xgboost

    data = xgboost.DMatrix(np.zeros((len(y), 1)), y, base_margin=s)
    wanted = {"objective": "reg:squarederror", "eval_metric": ["auc", "aucpr"], "base_score": 0.0}
    told = xgboost.train(wanted, data, 0).eval(data).split("\t")[1:]
    return xgboost.__version__, {name.removeprefix("eval-"): float(value) for name, value in (one.split(":") for one in told)}


def catboost(y, s):
    import catboost
    from catboost.utils import eval_metric

    return catboost.__version__, {name: eval_metric(list(y), list(s), name)[0] for name in ["AUC", "PRAUC", "NormalizedGini"]}


def keras(y, s):
    import keras

    found = {}
    for call, options in [("AUC()", {}), ('AUC(curve="PR")', {"curve": "PR"})] if probabilities(s) else []:
        metric = keras.metrics.AUC(**options)
        metric.update_state(y, s)
        found[call] = float(metric.result())
    return keras.__version__, found


def river(y, s):
    import river
    from river import metrics

    binned = metrics.ROCAUC()
    for label, score in zip(y, s):
        binned.update(bool(label), {True: score})
    return river.__version__, {"ROCAUC": float(binned.get())} if probabilities(s) else {}


def numpy(y, s):
    ranked = y[np.argsort(-s, kind="stable")]
    return np.__version__, {'argsort(-s, kind="stable")': (ranked.cumsum() / np.arange(1, len(y) + 1))[ranked == 1].mean()}


def trec_eval(y, s):
    import pytrec_eval

    names = [f"row{row:06}" for row in range(len(y))]
    truth = pytrec_eval.RelevanceEvaluator({"q": dict(zip(names, map(int, y)))}, {"map"})
    return "9.0.8", {"map": truth.evaluate({"q": dict(zip(names, map(float, s)))})["q"]["map"]}


def spark(y, s):
    import pyspark
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    session = SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    rows = session.createDataFrame([(float(score), float(label)) for score, label in zip(s, y)], ["rawPrediction", "label"]).coalesce(1)
    found = {}
    for name in ["areaUnderROC", "areaUnderPR"]:
        found[name] = BinaryClassificationEvaluator(metricName=name).evaluate(rows)
        found[f"{name} with numBins=0"] = BinaryClassificationEvaluator(metricName=name, numBins=0).evaluate(rows)
    return pyspark.__version__, found


def in_r(package, calls):
    """A package of R, with its calls and how R writes them."""

    def program(y, s):
        with tempfile.TemporaryDirectory() as folder:
            rows = os.path.join(folder, "rows.csv")
            np.savetxt(rows, np.column_stack([y, s]), delimiter=",", header="y,s", comments="", fmt="%.17g")
            text = f'suppressMessages(library({package})); d <- read.csv("{rows}"); y <- d$y; s <- d$s\n'
            text += f'cat(as.character(packageVersion("{package}")), "\\n")\n'
            text += "".join(f"cat(format(as.numeric({call}), digits=15), '\\n')\n" for call in calls.values())
            done = subprocess.run(["Rscript", "-e", text], capture_output=True, text=True)
        if done.returncode:
            raise ImportError(done.stderr.strip().splitlines()[-1])
        version, *values = done.stdout.split()
        return version, dict(zip(calls, map(float, values)))

    return program


PROC = {f"auc(roc(y, s), partial.auc=c(1, {round(1 - end, 9)}))": f'auc(roc(y, s, quiet=TRUE, direction="<"), partial.auc=c(1, {1 - end}))' for end in FPRS}
ROCR = {f"auc, fpr.stop={end}": f'performance(prediction(s, y), "auc", fpr.stop={end})@y.values[[1]]' for end in FPRS}
PROGRAMS = {
    "scikit-learn": scikit_learn,
    "torchmetrics": torchmetrics,
    "torcheval": torcheval,
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "CatBoost": catboost,
    "Keras": keras,
    "river": river,
    "NumPy": numpy,
    "trec_eval": trec_eval,
    "Spark": spark,
    "pROC": in_r("pROC", {"auc(roc(y, s))": "auc(roc(y, s, quiet=TRUE))", **PROC}),
    "ROCR": in_r("ROCR", {"auc": 'performance(prediction(s, y), "auc")@y.values[[1]]', **ROCR}),
    "MLmetrics": in_r("MLmetrics", {"AUC": "MLmetrics::AUC(s, y)", "PRAUC": "MLmetrics::PRAUC(s, y)"}),
}


def ours(path, *options):
    done = subprocess.run([UNDERCURVE, "metrics", path, *options, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["conventions"] if told.get("given", True) else []


def calls(conventions):
    return {(of["program"], of["call"]): one["value"] for one in conventions for of in one["of"]}


def main():
    versions, apart, named, missing = {}, {}, {}, set()
    with tempfile.TemporaryDirectory() as folder:
        for k, (y, s) in enumerate(files()):
            path = os.path.join(folder, f"{k}.csv")
            np.savetxt(path, np.column_stack([y, s]), delimiter=",", header="label,score", comments="", fmt=["%d", "%.17g"])
            mine = calls(ours(path, "--like", "all"))
            weights = np.random.default_rng(k).integers(1, 9, len(y)) / 4.0
            weighted = os.path.join(folder, "weighted.csv")
            np.savetxt(weighted, np.column_stack([y, s, weights]), delimiter=",", header="label,score,w", comments="", fmt="%.17g")
            told = ours(weighted, "--weight", "w", "--like", "scikit-learn")
            with_weights = calls([one for one in told if not one["what"].endswith("without the weights")])
            for name, program in PROGRAMS.items():
                if name in missing:
                    continue
                try:
                    with contextlib.redirect_stderr(io.StringIO()):
                        versions[name], theirs = program(y, s)
                except ImportError as error:
                    missing.add(name)
                    print(f"{name} is left out: {error}")
                    continue
                if name == "scikit-learn":
                    for call, value in program(y, s, sample_weight=weights)[1].items():
                        most = apart.get((name, "with weights"), 0.0)
                        apart[name, "with weights"] = max(most, abs(value - with_weights[name, call]))
                for call, value in theirs.items():
                    of = (name, call)
                    apart[of] = max(apart.get(of, 0.0), abs(value - mine[of]))
                    right = of in calls(ours(path, "--reported", f"{value:.4f}"))
                    told = named.setdefault(of, [0, 0])
                    told[0] += right
                    told[1] += 1
    wrong = 0
    for name, version in versions.items():
        print(f"\n{name} {version}")
        for (program, call), most in apart.items():
            if program == name:
                right, of = named.get((program, call), [0, 0])
                bad = most > 2e-6 or right < of
                wrong += bad
                print(f"  {most:8.1e}  {f'named in {right} of {of}' if of else '':16}  {call}{'  WRONG' if bad else ''}")
    print(f"\n{len(apart)} calls of {len(versions)} programs, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
