"""Column statistics of parts, merged: bytes, time, and how far the preparation is from one that is fitted to all rows in memory.

    python core/python/benches/preparation.py [ROWS]      e.g. 1000000

Columns of several kinds, eight parts, splines of nine quantiles. "Quantiles" is the largest share of the rows between a quantile and that of
all rows; "mean, deviation" the largest difference from NumPy's, in deviations. Time is that of all parts in turn. Prints a table.
"""

import re
import sys
import time

import numpy as np

import undercurve

PARTS, KNOTS = 8, 9


def columns(n):
    rng = np.random.default_rng(4)
    yield "normal", rng.normal(size=n)
    yield "heavy tails", rng.standard_t(1.5, size=n)
    yield "log-normal", np.exp(3 * rng.normal(size=n))
    yield "seconds since 1970", 1.7e9 + 1e7 * rng.random(n)
    yield "amounts of two digits", np.round(np.exp(3 + rng.normal(size=n)), 2)
    yield "ages", np.floor(18 + 70 * rng.random(n))


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    labels = np.arange(n) % 2
    print(f"{n:,} rows\n\n| column | different | bytes of a part, of all | time | quantiles | mean, deviation |\n|---|---|---|---|---|---|")
    for name, x in columns(n):
        start = time.perf_counter()
        parts = [undercurve.ColumnStats({"x": x[k::PARTS], "label": labels[k::PARTS]}).to_bytes() for k in range(PARTS)]
        merged = undercurve.ColumnStats().merge(*parts)
        whole = merged.to_bytes()
        seconds = time.perf_counter() - start
        # The ends of steps are in the names of their columns, in full.
        names = merged.preparation(encode=f"bins:{KNOTS + 1}").names
        ends = {float(end) for one in names for end in re.findall(r"(?<=[\[,=])[-+.\de]+", one)}
        sorted_x, shares = np.sort(x), np.arange(1, KNOTS + 1) / (KNOTS + 1)
        off = 0.0
        for end in ends:
            # The nearest quantile of all rows: the rows between it and the end.
            least = np.searchsorted(sorted_x, sorted_x[np.ceil(shares * n).astype(int) - 1], "left")
            off = max(off, abs(least - np.searchsorted(sorted_x, end, "left")).min() / n)
        two = np.array([x.min(), x.max()])
        first, last = merged.preparation().encode({"x": two, "label": [0, 1]})[0][:, 0]
        deviation = (two[1] - two[0]) / (last - first)
        mean = two[0] - first * deviation
        apart = max(abs(mean - x.mean()) / x.std(), abs(deviation / x.std() - 1))
        print(f"| {name} | {len(np.unique(x)):,} | {len(parts[0]) / 1e3:.0f}, {len(whole) / 1e3:.0f} KB | {seconds:.2f} s | {off:.1e} | {apart:.0e} |", flush=True)


if __name__ == "__main__":
    main()
