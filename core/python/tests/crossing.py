"""Types of columns × doors: python core/python/tests/crossing.py [PAGE.md], with pandas, polars, pyarrow and duckdb installed; the environment's
UNDERCURVE_COMMAND is a command line with Parquet, without which its doors are left out, and so is that of npm where the package is not built
(`cargo demo --build-only`) or there is no node.

Of each type a table is trained on in each door, and each of these models scores the same table in every door. A cell of the page says "same" where all scores
have the same bits, "refused" where the column is named, and else what is the matter, which is an error: exit code 1.
"""

import csv
import datetime
import decimal
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet

import undercurve

N = 48
COMMAND = os.environ.get("UNDERCURVE_COMMAND")
WASM = Path(__file__).resolve().parents[3] / "wasm"
DAY = datetime.date(2024, 1, 1)
NOON = datetime.datetime(2024, 1, 1, 12)
WHOLE = [k * k % 23 for k in range(N)]
WORDS = [["red", "blue", "1.10", "1.1", "NA", " x"][k % 6] for k in range(N)]


def types():
    """Names of types, with an array of each; every eleventh value is missing."""
    holes = lambda cells: [None if k % 11 == 5 else cell for k, cell in enumerate(cells)]
    of = lambda cells, type_: pa.array(holes(cells), type_)
    yield "bool", of([k % 3 == 0 for k in range(N)], pa.bool_())
    for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        yield name, of(WHOLE, getattr(pa, name)())
    yield "float16", pa.array([None if x is None else np.float16(x / 8) for x in holes(WHOLE)], pa.float16())
    yield "float32", of([x / 10 for x in WHOLE], pa.float32())
    yield "float64", of([x / 10 for x in WHOLE], pa.float64())
    for name, type_ in [("decimal128(9, 2)", pa.decimal128(9, 2)), ("decimal256(40, 2)", pa.decimal256(40, 2))]:
        yield name, of([decimal.Decimal(x) / 100 for x in WHOLE], type_)
    days = [DAY + datetime.timedelta(days=x) for x in WHOLE]
    yield "date32", of(days, pa.date32())
    yield "date64", of(days, pa.date64())
    moments = [NOON + datetime.timedelta(hours=x, seconds=x) for x in WHOLE]
    for unit in ["s", "ms", "us", "ns"]:
        yield f"timestamp {unit}", of(moments, pa.timestamp(unit))
    yield "timestamp, UTC", of(moments, pa.timestamp("us", "UTC"))
    yield "timestamp, Zurich", of(moments, pa.timestamp("us", "Europe/Zurich"))
    clocks = [datetime.time(x, x % 7, x) for x in WHOLE]
    for name, type_ in [("time32 s", pa.time32("s")), ("time32 ms", pa.time32("ms")), ("time64 us", pa.time64("us")), ("time64 ns", pa.time64("ns"))]:
        yield name, of(clocks, type_)
    lengths = [datetime.timedelta(hours=5 * x, seconds=x) for x in WHOLE]
    for unit in ["s", "ms", "us", "ns"]:
        yield f"duration {unit}", of(lengths, pa.duration(unit))
    yield "interval", pa.array([None if x is None else pa.MonthDayNano([0, x, 10**9]) for x in holes(WHOLE)], pa.month_day_nano_interval())
    for name, type_ in [("string", pa.string()), ("large string", pa.large_string()), ("string view", pa.string_view())]:
        yield name, of(WORDS, type_)
    yield "binary, UTF-8", of([word.encode() for word in WORDS], pa.binary())
    yield "fixed-size binary", of([["abcd", "efgh"][k % 2 and k % 5 > 0].encode() for k in range(N)], pa.binary(4))
    yield "dictionary of text", of(WORDS, pa.string()).dictionary_encode()
    yield "dictionary of int64", of([x % 4 for x in WHOLE], pa.int64()).dictionary_encode()
    yield "run-end int32", pa.RunEndEncodedArray.from_arrays(pa.array(range(4, N + 1, 4), pa.int32()), pa.array([k * 7 % 5 for k in range(N // 4)], pa.int32()))
    yield "null", pa.nulls(N)
    yield "list", of([[x] for x in WHOLE], pa.list_(pa.int32()))
    yield "binary, no UTF-8", of([bytes([255, x]) for x in WHOLE], pa.binary())


def written(cell):
    """A cell of a CSV file, as programs write it."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.timedelta):
        return f"{cell.days} days {datetime.timedelta(seconds=cell.seconds)}"
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        return cell.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    if isinstance(cell, bytes):
        return cell.decode("utf-8")
    if isinstance(cell, pa.MonthDayNano):
        return f"{cell.days} days {datetime.timedelta(seconds=cell.nanoseconds // 10**9)}"
    return str(cell)


class Absent(Exception):
    """Another program cannot make this."""


def doors(table, place):
    """The same rows in each door: what is given, and to whom."""

    def made(how):
        try:
            return how()
        except UnicodeDecodeError as error:
            raise Absent("no text") from error
        except (pa.ArrowException, NotImplementedError, TypeError, ValueError, duckdb.Error, polars.exceptions.PolarsError, BaseException) as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise Absent(f"not made there ({type(error).__name__})") from error

    def as_csv():
        path = place / "rows.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(table.column_names)
            # (Programs write the shortest decimals of a float32.)
            cells = lambda column: [None if x is None else np.float32(x) for x in column.to_pylist()] if column.type == pa.float32() else column.to_pylist()
            lines.writerows(zip(*([written(cell) for cell in cells(column)] for column in table.columns)))
        return path

    def as_parquet():
        path = place / "rows.parquet"
        pyarrow.parquet.write_table(table, path)
        return path

    yield "Arrow", lambda: table, "python"
    yield "pandas", lambda: made(table.to_pandas), "python"
    yield "polars", lambda: made(lambda: polars.from_arrow(table)), "python"
    yield "duckdb", lambda: made(lambda: duckdb.connect().from_arrow(table).arrow().read_all()), "python"
    yield "Parquet", lambda: made(as_parquet), "python"
    yield "CSV", lambda: made(as_csv), "python"
    if COMMAND:
        yield "Parquet, command", lambda: made(as_parquet), "command"
        yield "CSV, command", lambda: made(as_csv), "command"
    if NPM:
        yield "CSV, npm", lambda: made(as_csv), "npm"


class Refused(Exception):
    """By undercurve, in one line."""


class Npm:
    """The package in a process of node."""

    def __init__(self):
        self.node = subprocess.Popen(["node", "test/door.mjs"], cwd=WASM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, **asked):
        self.node.stdin.write(json.dumps({name: str(of) if isinstance(of, Path) else of for name, of in asked.items()}) + "\n")
        self.node.stdin.flush()
        told = json.loads(self.node.stdout.readline())
        if "error" in told:
            raise Refused(told["error"])
        return told


NPM = Npm() if shutil.which("node") and (WASM / "js/pkg").is_dir() else None


def ran(*args):
    done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr.strip().split("\n")[-1])


def trained(rows, by, place):
    path = place / "model"
    if by == "npm":
        NPM(train=rows, out=path)
    elif by == "command":
        ran("train", rows, "--label", "label", "--method", "ce", "--steps", "20", "--out", path)
    else:
        undercurve.train(rows, label="label", method="ce", steps=20, missing="impute").save(path)
    return path


def scores(model, rows, by, place):
    if by == "npm":
        return np.array(NPM(model=model, rows=rows)["scores"])
    if by == "python":
        return undercurve.load(model).scores(rows).astype(np.float64)
    out = place / "out.csv"
    ran("predict", model, rows, "--out", out)
    with open(out, encoding="utf-8") as file:
        return np.array([float(row["score"]) for row in csv.DictReader(file)]).astype(np.float32).astype(np.float64)


def attempt(how):
    """What comes of it: scores or a model, or in words why none did."""
    try:
        return how()
    except Absent as error:
        return str(error)
    except (Refused, ValueError, TypeError) as error:
        text = str(error)
        return "refused" if '"x"' in text or "'x'" in text else f"FAILS: {text}"


def crossed(name, array):
    """Of a type each door with what the models of all doors come to in it."""
    table = pa.table({"x": array, "s": pa.array([k * 29 % 31 / 31 for k in range(N)]), "label": pa.array([int(k * k % 23 + k % 5 > 12) for k in range(N)])})
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        all_doors = [(door, attempt(make), by) for door, make, by in doors(table, place)]
        found = {}
        for at, (door, rows, by) in enumerate(all_doors):
            if isinstance(rows, str):
                found[door] = [rows]
                continue
            where = place / str(at)
            where.mkdir()
            model = attempt(lambda: trained(rows, by, where))
            if isinstance(model, str):
                found[door] = [model]
                continue
            own = attempt(lambda: scores(model, rows, by, place))
            found[door] = []
            for other, others, asked in all_doors:
                if isinstance(others, str):
                    continue
                got = attempt(lambda: scores(model, others, asked, place))
                if isinstance(got, str) or isinstance(own, str):
                    found[door].append(got if isinstance(got, str) else own)
                else:
                    found[door].append("same" if np.array_equal(own, got) else f"OTHER in {other}")
    return found


def main(page=None):
    warnings.simplefilter("ignore")
    lines, wrong, count = [], 0, 0
    for name, array in types():
        found = crossed(name, array)
        if not lines:
            lines = [f"| type | {' | '.join(found)} |", "|---" * (1 + len(found)) + "|"]
        cells = []
        for all_ in found.values():
            count += len(all_)
            wrong += sum(one.startswith(("OTHER", "FAILS")) for one in all_)
            cells.append(", ".join(f"{one} {all_.count(one)}" if len(set(all_)) > 1 else one for one in dict.fromkeys(all_)))
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    head = (
        "# Types of columns in every door\n\n    python core/python/tests/crossing.py tests/results/crossing.md\n\n"
        f"A column of each type is trained on in each door, and each model scores the same rows in every door: {count} pairs, {wrong} of them with other bits.\n"
        "`same`: the same bits in every door; `refused`: in one line that names the column; a number says in how many doors.\n\n"
    )
    if page:
        Path(page).write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    if NPM:
        NPM.node.stdin.close()
        NPM.node.wait()
    print(f"{count} pairs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
