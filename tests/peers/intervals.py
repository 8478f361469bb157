"""How often 95 % intervals of AUROC, AP and pAUC hold the truth, and how wide they are, in several forms.

Needs NumPy and SciPy; slow. `cargo experiment intervals` measures what the library has; these are the trials by which it was chosen, an
implementation of its own. `python3 tests/peers/intervals.py auroc 1000`: of the rows alone, and with half a row more of each class.
`python3 tests/peers/intervals.py bootstrap 500 drawn 20`: each form below, for AP and pAUC, of rows drawn from the population (or `fixed`:
with a fixed number of each class), with 20 positives.
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


def ends(value, deviation, freedom):
    if not 0 < value < 1 or not deviation > 0:
        return None
    at, half = np.log(value / (1 - value)), stats.t.ppf(0.975, freedom) * deviation / (value * (1 - value))
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
    return ends(middle, np.sqrt(part(v10, m) + part(v01, n)), min(m, n) - 1)


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


def bootstrap(y, rng, replicates=200):
    """Rows alone; with ends and Student's quantile of m - 1, of 2m - 1 (as the library has it) and the normal one; with ends, 2m - 1 and the
    weights of each class scaled to its size; that of Boyd, Eng and Page 2013, "Area under the Precision-Recall Curve: Point Estimates and Confidence Intervals", of AP alone."""
    m, found = int(y.sum()), []
    for more in (0, 0.25):
        base, labels = np.ones(len(y)), y
        if more > 0:
            base, labels = np.r_[np.full(2, more), base, np.full(2, more)], np.r_[0, 1, y, 0, 1]
        drawn = rng.standard_gamma(base[None].repeat(replicates, 0))
        values, all_ = figures(base[None], labels), figures(drawn, labels)
        for freedom in (m - 1, 2 * m - 1, np.inf) if more else (m - 1,):
            found += [ends(value[0], x.std(ddof=1), freedom) for value, x in zip(values, all_)]
    for label in (0, 1):
        own = labels == label
        drawn[:, own] *= base[own].sum() / drawn[:, own].sum(1, keepdims=True)
    found += [ends(value[0], x.std(ddof=1), 2 * m - 1) for value, x in zip(values, figures(drawn, labels))]
    share = np.clip(figures(np.ones((1, len(y))), y)[0][0], 0.5 / m, 1 - 0.5 / m)
    return [*found, ends(share, np.sqrt(share * (1 - share) / m), np.inf), None]


FORMS = 6


def row(found, truths):
    held = [0 if e is None else e[0] <= truth <= e[1] for e, truth in zip(found, truths)]
    return np.array(held, float), np.array([1 if e is None else e[1] - e[0] for e in found])


def main(what, draws, sizes="fixed", counts=POSITIVES):
    for ratio in (10, 1) if what == "auroc" else (10,):
        for kind in KINDS:
            for auroc in AUROC:
                d = optimize.brentq(lambda d: auroc_of(kind, d) - auroc, 0, 30)
                truth = [auroc] * 2
                if what != "auroc":
                    big = np.random.default_rng(9)
                    parts = [figures(np.ones((1, 1_100_000)), order(*draw(kind, d, 100_000, 1_000_000, big), big)) for _ in range(6)]
                    truth = np.tile(np.mean([[x[0] for x in part] for part in parts], 0), FORMS)
                for positives in counts:
                    rng = np.random.default_rng([ratio, positives, int(auroc * 100), len(kind)])
                    count = draws if positives < 200 else draws // (2 if what == "auroc" else 3)
                    rows = positives * (1 + ratio)
                    held, width = 0, 0
                    for _ in range(count):
                        m = np.clip(rng.binomial(rows, 1 / (1 + ratio)), 2, rows - 2) if sizes == "drawn" else positives
                        p, q = draw(kind, d, m, rows - m, rng)
                        found = [delong(p, q, 0), delong(p, q, 0.5)] if what == "auroc" else bootstrap(order(p, q, rng), rng)
                        one = row(found, truth)
                        held, width = held + one[0], width + one[1]
                    cells = [f"{h / count:.3f} ({w / count:.3f})" for h, w in zip(held, width)]
                    if what != "auroc":
                        cells = cells[::2] + cells[1:-1:2]
                    print(f"| {kind} | {auroc} | {positives} | {positives * ratio} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:4], *[[int(count) for count in text.split(",")] for text in sys.argv[4:5]])
