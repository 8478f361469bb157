"""Linear models of a Spark frame beside one process: time of a step, and whether the bits are the same.

    python core/python/benches/spark.py [ROWS …]      e.g. 100000 1000000

Ten columns, 3 % positives, AP with squared hinge, two steps of L-BFGS from given weights; local[2]. The time is that of a call of the loss and its
gradient, of which a step needs one, mostly. Prints a table.
"""

import os
import sys
import time

import numpy as np
import pandas as pd

import undercurve
import undercurve.spark
from undercurve import distributed


def timed(work):
    """What it finds, and the seconds of a call of the loss."""
    calls = 0
    inner = distributed._descend

    def counted(at, *more):
        def one(w):
            nonlocal calls
            calls += 1
            return at(w)

        return inner(one, *more)

    distributed._descend = undercurve.spark._descend = counted
    start = time.perf_counter()
    found = work()
    seconds = time.perf_counter() - start
    distributed._descend = undercurve.spark._descend = inner
    return found, seconds / calls


def main():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    settings = {"ui.enabled": "false", "driver.memory": "4g", "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1"}
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    loss = undercurve.Loss("ap", surrogate="squared-hinge")
    print("| rows | partitions | one process | Spark | params |\n|---|---|---|---|---|")
    for n in [int(float(word)) for word in sys.argv[1:]] or [100_000, 1_000_000]:
        rng = np.random.default_rng(5)
        y = rng.random(n) < 0.03
        x = rng.normal(size=(n, 10)) + y[:, None] * np.linspace(0, 1, 10)
        start = np.linspace(0, 1, 10)
        want, alone = timed(lambda: distributed.minimize(loss, x, y, distributed.Alone(), steps=2, start=start))
        names = [f"x{k}" for k in range(10)]
        frame = session.createDataFrame(pd.DataFrame(x, columns=names).assign(label=y))
        for parts in (2, 8):
            spread = frame.repartition(parts).persist()
            spread.count()
            found, seconds = timed(lambda: undercurve.spark.minimize(loss, spread, names, steps=2, start=start))
            bits = "the same bits" if found.params.tobytes() == want.params.tobytes() else "OTHER"
            print(f"| {n:,} | {parts} | {alone:.2f} s | {seconds:.2f} s | {bits} |", flush=True)
            spread.unpersist()


if __name__ == "__main__":
    main()
