"""How often 95 % intervals of AUROC, AP and pAUC hold the truth, and how wide they are: as they were, and with half a row more of each class.

Needs NumPy and SciPy; slow. `cargo experiment intervals` measures what the library has; this is the trial by which it was chosen, an
implementation of its own. `python3 tests/peers/intervals.py auroc 1000`, `python3 tests/peers/intervals.py bootstrap 500`.
"""

import sys

import numpy as np
from scipy import integrate, optimize, stats

AUROC, POSITIVES, KINDS = (0.7, 0.9, 0.97), (20, 50, 200), ("normal", "t2", "ties")


def noise(kind, size, rng):
    return rng.standard_t(2, size) if kind == "t2" else rng.normal(size=size)


def auroc_of(kind, d):
    if kind == "t2":
        return integrate.quad(lambda x: stats.t.pdf(x, 2) * stats.t.cdf(x + d, 2), -np.inf, np.inf, limit=500)[0]
    if kind == "ties":
        k = np.arange(-40, 80)
        negatives = stats.norm.cdf(k + 0.5, scale=2) - stats.norm.cdf(k - 0.5, scale=2)
        positives = stats.norm.cdf((k + 0.5) * 0.5 - d) - stats.norm.cdf((k - 0.5) * 0.5 - d)
        return float((positives * (np.cumsum(negatives) - negatives / 2)).sum())
    return stats.norm.cdf(d / np.sqrt(2))


def draw(kind, d, m, n, rng):
    p, q = noise(kind, m, rng) + d, noise(kind, n, rng)
    return (np.round(p / 0.5) * 0.5, np.round(q / 0.5) * 0.5) if kind == "ties" else (p, q)


def ends(value, deviation, rows):
    if not 0 < value < 1 or not deviation > 0:
        return None
    at, half = np.log(value / (1 - value)), stats.t.ppf(0.975, rows - 1) * deviation / (value * (1 - value))
    return 1 / (1 + np.exp(half - at)), 1 / (1 + np.exp(-half - at))


def delong(p, q, more):
    """With so much of a row more of each class, half of it above all scores and half below."""
    sp, sq, m, n = np.sort(p), np.sort(q), len(p), len(q)
    v10 = (np.searchsorted(sq, p, "left") + np.searchsorted(sq, p, "right")) / 2 / n
    v01 = 1 - (np.searchsorted(sp, q, "left") + np.searchsorted(sp, q, "right")) / 2 / m
    a = v10.mean()

    def part(v, k):
        mean = (k * a + more / 2) / (k + more)
        return (((v - mean) ** 2).sum() + more / 2 * (mean**2 + (1 - mean) ** 2)) / ((k + more) * (k + more - 1))

    middle = (m * n * a + (m * more + n * more + more * more) / 2) / ((m + more) * (n + more))
    return ends(middle, np.sqrt(part(v10, m) + part(v01, n)), min(m, n))


def figures(weights, y, high=0.1):
    positives, negatives = weights * y, weights * (1 - y)
    tp, fp = positives.cumsum(1), negatives.cumsum(1)
    total, most = tp[:, -1:], high * fp[:, -1:]
    ap = (positives * tp / (tp + fp + 1e-300)).sum(1) / total[:, 0]
    width = np.minimum(fp, most) - np.minimum(fp - negatives, most)
    return ap, (width * tp).sum(1) / (total[:, 0] * most[:, 0])


def order(p, q, rng):
    s = np.r_[p, q]
    y = np.r_[np.ones(len(p)), np.zeros(len(q))]
    return y[np.argsort(-s + 1e-9 * rng.random(len(s)), kind="stable")]


def bootstrap(y, rng, more, replicates=200):
    m = int(y.sum())
    base = np.ones(len(y))
    if more > 0:
        base, y = np.r_[np.full(2, more / 2), base, np.full(2, more / 2)], np.r_[0, 1, y, 0, 1]
    values, drawn = figures(base[None], y), figures(rng.standard_gamma(base[None].repeat(replicates, 0)), y)
    return [ends(value[0], x.std(ddof=1), m) for value, x in zip(values, drawn)]


def row(found, truths):
    held = [0 if e is None else e[0] <= truth <= e[1] for e, truth in zip(found, truths)]
    return np.array(held, float), np.array([1 if e is None else e[1] - e[0] for e in found])


def main(what, draws):
    for ratio in (10, 1) if what == "auroc" else (10,):
        for kind in KINDS:
            for auroc in AUROC:
                d = optimize.brentq(lambda d: auroc_of(kind, d) - auroc, 0, 30)
                truth = [auroc] * 2
                if what != "auroc":
                    big = np.random.default_rng(9)
                    parts = [figures(np.ones((1, 1_100_000)), order(*draw(kind, d, 100_000, 1_000_000, big), big)) for _ in range(6)]
                    truth = np.repeat(np.mean([[x[0] for x in part] for part in parts], 0)[None], 3, 0).ravel()
                for m in POSITIVES:
                    rng = np.random.default_rng([ratio, m, int(auroc * 100), len(kind)])
                    count = draws if m < 200 else draws // (2 if what == "auroc" else 3)
                    held, width = 0, 0
                    for _ in range(count):
                        p, q = draw(kind, d, m, m * ratio, rng)
                        if what == "auroc":
                            found = [delong(p, q, 0), delong(p, q, 0.5)]
                        else:
                            y = order(p, q, rng)
                            found = sum((bootstrap(y, rng, more) for more in (0, 0.25, 0.5)), [])
                        one = row(found, truth)
                        held, width = held + one[0], width + one[1]
                    cells = [f"{h / count:.3f} ({w / count:.3f})" for h, w in zip(held, width)]
                    print(f"| {kind} | {auroc} | {m} | {m * ratio} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
