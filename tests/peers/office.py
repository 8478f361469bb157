"""From a raw file to a model by `auto` alone: python tests/peers/office.py COMMAND, with pandas and openpyxl installed.

Twenty-two files as programs and people write them, of the same rows. `auto` is given the file and the label; where it stops, the option that it names is added, once.
For each: attempts, rows of the model, and lines of notes (one a kind at most). Exit code 1 where a second attempt makes no model, rows are lost without a word, or a kind
has two lines.
"""

import gzip
import io
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas

N = 240


def rows():
    table = pandas.DataFrame({"town": [["Zürich", "Genève", "Bern"][k % 3] for k in range(N)]})
    table["weight"] = [round(50 + k * 37 % 101 / 2.5, 1) for k in range(N)]
    table["income"] = [1200.5 + k * 7919 % 9001 for k in range(N)]
    table["share"] = [round(k * 29 % 97 / 97, 3) for k in range(N)]
    table["since"] = pandas.to_datetime("2021-01-04") + pandas.to_timedelta([k * 53 % 997 for k in range(N)], "D")
    table["outcome"] = ["yes" if table.weight[k] + 20 * table.share[k] + k * k % 37 > 95 else "no" for k in range(N)]
    return table


def files(table):
    """Names with bytes."""
    text = table.to_csv(index=False)
    lines = text.splitlines()
    german = table.assign(since=table.since.dt.strftime("%d.%m.%Y")).to_csv(index=False, sep=";", decimal=",")
    yield "pandas, with its index.csv", table.to_csv().encode()
    yield "semicolons and decimal commas.csv", german.encode()
    yield "byte order mark.csv", table.to_csv(index=False).encode("utf-8-sig")
    yield "UTF-16.csv", table.to_csv(index=False, sep="\t").encode("utf-16")
    yield "Windows-1252.csv", german.encode("cp1252")
    yield "gzip.csv.gz", gzip.compress(text.encode())
    yield "lines before.csv", ("Report of sales\nmade on 4 May 2024\n" + text).encode()
    yield "a footer.csv", (text + "Source: own data\n").encode()
    yield "a row of totals.csv", (text + f"Total,{table.weight.sum():.1f},{table.income.sum():.1f},{table['share'].sum():.3f},,\n").encode()
    yield "two rows of names.csv", (",body,money,money,dates,\n" + text).encode()
    yield "row names of R.tsv", ("\t".join(f'"{name}"' for name in table.columns) + "\n" + table.rename(index=lambda k: k + 1).to_csv(sep="\t", header=False)).encode()
    yield "write.csv of R.csv", table.rename(index=lambda k: k + 1).to_csv(quoting=2).encode()
    yield "money and percent.csv", table.assign(income=[f"${x:,.2f}" for x in table.income], share=[f"{100 * x:.1f}%" for x in table["share"]]).to_csv(index=False).encode()
    yield "thousands with blanks.csv", table.assign(income=[f"{x:,.2f}".replace(",", "\u202f").replace(".", ",") for x in table.income]).to_csv(index=False, sep=";").encode()
    yield "sep in the first line.csv", ("sep=;\n" + german).encode()
    yield "empty columns and rows.csv", "\n".join([*(line + ",," for line in lines), ",,,,,,,", ",,,,,,,"]).encode()
    yield "a row of units.csv", "\n".join([lines[0], ",kg,CHF,,,", *lines[1:]]).encode()
    yield "a name twice.csv", text.replace("share", "income", 1).encode()
    yield "lines in cells.csv", table.assign(town=[f"{town}\n(CH)" for town in table.town]).to_csv(index=False).encode()
    yield "words for none.csv", table.assign(weight=[("k.A." if k % 9 == 4 else x) for k, x in enumerate(table.weight)]).to_csv(index=False).encode()
    yield "points for none (SAS).csv", table.assign(weight=[("." if k % 9 == 4 else x) for k, x in enumerate(table.weight)]).to_csv(index=False).encode()
    out = io.BytesIO()
    table.to_excel(out, index=False)
    read = pandas.read_excel(io.BytesIO(out.getvalue()))
    yield "a sheet of Excel, as CSV.csv", read.to_csv(index=False, date_format="%m/%d/%Y").encode()


def kind(note):
    """A note without what differs from column to column."""
    return re.sub(r'"[^"]*"|\S*\d\S*|--\S+ \S+', "…", note.split(": ", 1)[-1])


def option(error):
    """The first way out that a line names."""
    found = re.search(r"(--[a-z-]+)(?: ('[^']*'|[^\s;,)]+))?", error)
    return [found[1], *shlex.split(found[2])] if found and found[2] else []


def main(command):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files(rows()):
            path = Path(folder) / name.replace(" ", "-")
            path.write_bytes(data)
            more, attempts, done = [], 0, None
            while attempts < 2:
                attempts += 1
                asked = [command, "auto", path, "--label", "outcome", "--positive", "yes", "--model", "linear", "--folds", "2", "--threads", "1", "--json", "--out", Path(folder) / "made", *more]
                done = subprocess.run([str(one) for one in asked], capture_output=True, text=True)
                if done.returncode == 0 or not option(done.stderr):
                    break
                more += option(done.stderr)
            notes = [line for line in done.stderr.splitlines() if line.startswith(("note:", "warning:"))]
            kinds = [kind(note) for note in notes]
            twice = len(kinds) != len(set(kinds))
            model = json.loads(subprocess.run([command, "inspect", Path(folder) / "made/model.uc", "--json"], capture_output=True, text=True).stdout or "{}") if done.returncode == 0 else {}
            scores = (Path(folder) / "made/scores.csv").read_text().count("\n") - 1 if done.returncode == 0 else 0
            fine = done.returncode == 0 and scores == N and not twice
            wrong += not fine
            print(f"{name}: {'model' if done.returncode == 0 else 'NO MODEL'} at attempt {attempts} {' '.join(more)}, {scores} rows, {len(model.get('columns', []))} columns, {len(notes)} notes{', A KIND TWICE' if twice else ''}")
            if not fine or "-v" in sys.argv:
                print("   " + "\n   ".join(done.stderr.splitlines()[-6:]))
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
