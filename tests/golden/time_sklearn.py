"""Times scikit-learn's AUROC alone on a million f32 scores, to stand beside `cargo experiment metrics`.

Run: OMP_NUM_THREADS=1 python3 time_sklearn.py
"""

import time

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score

N = 1_000_000


def median_ms(call, runs=15):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def main():
    random = np.random.default_rng(1)
    print(f"scikit-learn {sklearn.__version__}, roc_auc_score, n = {N}, median of 15 runs")
    for share in (0.05, 0.5):
        labels = (random.random(N) < share).astype(np.uint8)
        scores = (random.standard_normal(N) + labels).astype(np.float32)
        rounded = (np.round(scores * 125) / 125).astype(np.float32)
        for name, values in (("no ties", scores), ("ties", rounded)):
            print(f"  {share:4.0%} positives, {name:8}: {median_ms(lambda: roc_auc_score(labels, values)):7.1f} ms")


main()
