"""Writes metrics.json: scikit-learn's figures for a million scores, which the test in tests/metric.rs makes again.

Run: python3 make_metrics.py
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

N = 1_000_000


def split_mix(seed, count):
    """SplitMix64: `count` 64-bit numbers of a seed."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def example(seed, share, levels):
    """Labels from the first half of the stream, scores from the second.

    A positive has a score of a sum of two 20-bit integers, a negative the first of them alone, so that the classes
    overlap; without ties each score is made distinct by its position, with ties it is cut to `levels` values.
    """
    numbers = split_mix(seed, 2 * N)
    labels = (numbers[:N] >> np.uint64(44)) < np.uint64(int(share * (1 << 20)))
    bits = numbers[N:]
    first = (bits >> np.uint64(44)).astype(np.int64)
    second = ((bits >> np.uint64(20)) & np.uint64(0xFFFFF)).astype(np.int64)
    score = first + np.where(labels, second, 0)
    if levels is None:
        # 21 bits of score and 20 of position: exact in f64.
        return labels, (score * (1 << 20) + np.arange(N)).astype(np.float64)
    return labels, (score * levels // (1 << 21)).astype(np.float64)


def curve_area(fpr, tpr, low, high):
    """Area under the interpolated curve between two rates, divided by their distance."""
    inside = (fpr > low) & (fpr < high)
    # Where a vertical step stands at an end, the area begins at its top and ends at its bottom.
    first = np.searchsorted(fpr, low, side="right")
    last = np.searchsorted(fpr, high, side="left")
    x = np.concatenate([[low], fpr[inside], [high]])
    y = np.concatenate([[at(fpr, tpr, low, first)], tpr[inside], [at(fpr, tpr, high, last)]])
    return float(np.trapezoid(y, x) / (high - low))


def at(fpr, tpr, x, k):
    """The curve at x, on the line between its points k - 1 and k."""
    slope = (tpr[k] - tpr[k - 1]) / (fpr[k] - fpr[k - 1])
    return tpr[k - 1] + slope * (x - fpr[k - 1])


def main():
    cases = []
    for seed, share, levels in [(1, 0.05, None), (2, 0.05, 1000), (3, 0.5, None), (4, 0.5, 1000)]:
        labels, scores = example(seed, share, levels)
        fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
        cases.append(
            {
                "seed": seed,
                "share": share,
                "levels": levels,
                "positives": int(labels.sum()),
                "auroc": float(roc_auc_score(labels, scores)),
                "ap": float(average_precision_score(labels, scores)),
                "mcclish_05": float(roc_auc_score(labels, scores, max_fpr=0.05)),
                "mcclish_30": float(roc_auc_score(labels, scores, max_fpr=0.3)),
                "area_05_50": curve_area(fpr, tpr, 0.05, 0.5),
            }
        )
    out = {"source": f"scikit-learn {sklearn.__version__}, make_metrics.py", "n": N, "cases": cases}
    path = pathlib.Path(__file__).with_name("metrics.json")
    path.write_text(json.dumps(out, indent=1) + "\n")


main()
