"""Merged states beside scikit-learn and Spark's evaluator: time, bytes sent, error.

    python core/python/benches/states.py [ROWS] [--spark]      e.g. 1000000

2 % positives, probabilities of full precision, and rounded to four digits; eight Parquet files for Spark (local[2]). The error is
that of AUROC and of AP against the answer in memory. Bytes are those of all parts, and of the positives that each gets for the second
pass. The evaluator of Spark makes its curve anew for each of the two metrics. Prints a table.
"""

import os
import sys
import tempfile
import time

import numpy as np

import undercurve

PARTS = 8


def timed(work):
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def row(way, seconds, size, auroc, ap, want):
    bits = "the same bits" if (auroc, ap) == (want.auroc, want.ap) else f"{abs(auroc - want.auroc):.1e}, {abs(ap - want.ap):.1e}"
    print(f"| {way} | {seconds:.2f} s | {f'{size / 1e6:.1f} MB' if size else '–'} | {bits} |", flush=True)


def merged(scores, labels, want):
    size = 0

    def work():
        nonlocal size
        total = undercurve.State()
        for part in np.array_split(np.arange(len(scores)), PARTS):
            sent = undercurve.State().update(scores[part], labels[part]).to_bytes()
            size += len(sent)
            total.merge(sent)
        return total.metrics()

    found, seconds = timed(work)
    row(f"`State`, {PARTS} parts", seconds, size, found.auroc, found.ap, want)


def twice(scores, labels, want):
    size = 0

    def work():
        nonlocal size
        total, parts = undercurve.State(), np.array_split(np.arange(len(scores)), PARTS)
        for part in parts:
            positives = part[labels[part]]
            sent = undercurve.State().update(scores[positives], labels[positives]).to_bytes()
            size += len(sent)
            total.merge(sent)
        anchors = total.to_bytes()
        for part in parts:
            sent = undercurve.State.between(anchors).update(scores[part], labels[part]).to_bytes()
            size += len(sent) + len(anchors)
            total.merge(sent)
        return total.metrics()

    found, seconds = timed(work)
    row(f"`State`, {PARTS} parts, two passes", seconds, size, found.auroc, found.ap, want)


def by_spark(frame, passes):
    """Metrics, seconds, and the bytes that tasks send and that each is sent for the second pass."""
    size, parts, merge, to_bytes = 0, frame.rdd.getNumPartitions(), undercurve.State.merge, undercurve.State.to_bytes

    def counted(state, *others):
        nonlocal size
        size += sum(len(other) for other in others if isinstance(other, bytes))
        return merge(state, *others)

    def told(state):
        nonlocal size
        size += parts * len(to_bytes(state))
        return to_bytes(state)

    undercurve.State.merge, undercurve.State.to_bytes = counted, told  # (of the driver alone; tasks import their own)
    try:
        return *timed(lambda: undercurve.spark.metrics(frame, passes=passes)), size
    finally:
        undercurve.State.merge, undercurve.State.to_bytes = merge, to_bytes


def scikit_learn(scores, labels, want):
    from sklearn.metrics import average_precision_score, roc_auc_score

    found, seconds = timed(lambda: (roc_auc_score(labels, scores), average_precision_score(labels, scores)))
    row("scikit-learn", seconds, 0, *found, want)


def spark(scores, labels, want, folder):
    import pyarrow
    import pyarrow.parquet
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql import SparkSession

    import undercurve.spark

    settings = {"ui.enabled": "false", "driver.memory": "4g", "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1",
                "sql.execution.arrow.maxRecordsPerBatch": "200000"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for k, part in enumerate(np.array_split(np.arange(len(scores)), PARTS)):
        pyarrow.parquet.write_table(pyarrow.table({"score": scores[part], "label": labels[part].astype("f8")}), f"{folder}/{k}.parquet")
    frame = session.read.parquet(folder)
    frame.groupBy().count().collect()
    undercurve.spark.metrics(frame.limit(1000).repartition(2))  # (starts the workers)
    for passes in (1, 2):
        found, seconds, size = by_spark(frame, passes)
        row(f"`undercurve.spark`, passes {passes}", seconds, size, found.auroc, found.ap, want)
    for bins in (1000, 0):
        def evaluate(metric):
            return BinaryClassificationEvaluator(rawPredictionCol="score", metricName=metric, numBins=bins).evaluate(frame)

        both, seconds = timed(lambda: (evaluate("areaUnderROC"), evaluate("areaUnderPR")))
        row(f"`BinaryClassificationEvaluator`, numBins {bins}", seconds, 0, *both, want)


def main():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    numbers = [int(float(word)) for word in sys.argv[1:] if not word.startswith("-")]
    n = numbers[0] if numbers else 1_000_000
    rng = np.random.default_rng(3)
    labels = rng.random(n) < 0.02
    whole = 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * labels - 4)))
    for name, scores in (("full precision", whole), ("four digits", np.round(whole, 4))):
        print(f"\n{n:,} rows, {name}:\n\n| way | time | sent | error of AUROC, AP |\n|---|---|---|---|")
        want, seconds = timed(lambda: undercurve.metrics(scores, labels))
        row("in memory", seconds, 0, want.auroc, want.ap, want)
        merged(scores, labels, want)
        twice(scores, labels, want)
        scikit_learn(scores, labels, want)
        if "--spark" in sys.argv:
            with tempfile.TemporaryDirectory() as folder:
                spark(scores, labels, want, folder)


if __name__ == "__main__":
    main()
