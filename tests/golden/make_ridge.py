"""Writes ridge.json: scikit-learn's `LogisticRegressionCV` on drawn rows, which the test in tests/ridge.rs makes again with the same folds.

Run: python3 make_ridge.py
"""

import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import PredefinedSplit

ROWS, COLS, FOLDS, SEED, PURPOSE = 300, 6, 5, 1, 0x72696467
MASK = (1 << 64) - 1
# What the path tries, from the strongest on; the test checks that it is this.
DECAYS = ["1e0", "1e-1", "1e-2", "1e-3"]


def split_mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    z = x
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return x, z ^ (z >> 31)


class Rng:
    """xoshiro256++ of core/src/rng.rs."""

    def __init__(self, seed, purpose, number):
        x, y = split_mix(seed)
        y ^= (purpose * 0xA0761D6478BD642F) & MASK
        y, z = split_mix(y)
        z ^= (number * 0xE7037ED1A0B428DB) & MASK
        self.s = []
        for _ in range(4):
            z, word = split_mix(z)
            self.s.append(word)

    def next(self):
        rotl = lambda x, k: ((x << k) | (x >> (64 - k))) & MASK  # noqa: E731
        s = self.s
        out = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return out

    def below(self, bound):
        while True:
            wide = (self.next() >> 32) * bound
            if (wide & 0xFFFFFFFF) >= (2**32 - bound) % bound:
                return wide >> 32

    def shuffle(self, items):
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def rows():
    """Columns between -1 and 1 from a linear congruential generator; labels by a line and noise."""
    state, x, y = 1, [], []
    for _ in range(ROWS):
        row = []
        for _ in range(COLS + 1):
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            row.append((state >> 11) / 2.0**52 - 1.0)
        x.append(row[:COLS])
        y.append(int(row[0] + 0.5 * row[1] - 0.25 * row[2] + 1.2 * row[COLS] > 0.6))
    return np.array(x), np.array(y)


def folds(y):
    fold, rng = [0] * ROWS, Rng(SEED, PURPOSE, 0)
    for label in (0, 1):
        of = [row for row in range(ROWS) if y[row] == label]
        rng.shuffle(of)
        for at, row in enumerate(of):
            fold[row] = at % FOLDS
    return fold


def main():
    x, y = rows()
    fold = folds(y)
    decays = [float(decay) for decay in DECAYS]
    cs = [1.0 / (ROWS * decay) for decay in decays]
    exact = {"tol": 1e-12, "max_iter": 10_000}
    cv = LogisticRegressionCV(Cs=cs, cv=PredefinedSplit(fold), scoring="neg_log_loss", **exact).fit(x, y)
    sizes = np.bincount(fold)
    losses = -(cv.scores_[1] * sizes[:, None]).sum(axis=0) / ROWS
    best = int(np.argmin(losses))
    again = LogisticRegression(C=cs[best], **exact).fit(x, y)
    out = {
        "source": "scikit-learn's LogisticRegressionCV, by make_ridge.py",
        "folds": fold,
        "decays": DECAYS,
        "losses": [round(float(loss), 10) for loss in losses],
        "chosen": DECAYS[best],
        "params": [round(float(w), 10) for w in [*again.coef_[0], again.intercept_[0]]],
    }
    Path(__file__).with_name("ridge.json").write_text(json.dumps(out) + "\n")
    print(sum(y), [(d, round(float(v), 5)) for d, v in zip(DECAYS, losses)], DECAYS[best], out["params"])
    print("curvature", np.mean(y) * (1 - np.mean(y)) * (x**2).sum() / ROWS)


if __name__ == "__main__":
    main()
