"""Ranking losses as objectives of boosted trees, with a Hessian that is proven to descend: what tests/results/boosting.md is about.

    python3 tests/peers/boosted.py          the majorant against steps and differences

A tree is fitted to F(s) + g·δ + ½ Σ h_i δ_i². It descends where that is a majorant of F(s + δ) for every step δ that a leaf can take:
a leaf is v = −G/(H + λ), and η ≤ 1 the learning rate. So h has two duties.

1. h_i ≥ k|g_i|. Then |v| ≤ 1/k, no margin s_i − s_j moves by more than 2/k, and with d = δ_i − δ_j, d² ≤ 2 δ_i² + 2 δ_j².
2. Within those steps h majorises. The surrogate is logistic, ℓ(t) = log(1 + e^−t), with |ℓ″| ≤ |ℓ′| ≤ ℓ: a change d of its margin changes ℓ, and
   ℓ′, by at most e^|d|.

AUC and partial AUC, F = Σ w_i w_j ℓ_ij/W₋ (W₊ times the loss of `undercurve.Loss`): d²F ≤ Σ w_i w_j |ℓ′_ij| d_ij²/W₋, and the derivatives
of all pairs of a row have one sign, so h_i = 2φ|g_i| =: k|g_i|. φ = ∫₀¹ 2(1−u) e^{xu} du, x = 2/k = 1/φ, bounds the change along the step:
φ = 2(e^x − 1 − x)/x², x = .7627, k = 2.623.

AP, F = −Σ w_i A_i/S_i, A_i = Σ_{j∈+} w_j ℓ_ij, B_i the same of negatives, S = A + B. With a = dA/A, b = dB/B the part of d²(B/S) without ℓ″
is 2(AB/S²)(a − b)(aA + bB)/S ≤ a²A/(2S), the most over b, and by Cauchy and Schwarz a²A ≤ Σ_{j∈+} w_j |ℓ′_ij| d_ij². So

    d²F ≤ Σ_i w_i Σ_j w_j |ℓ′_ij| d_ij² (j ∈ + : B/S² + 1/(2S);  j ∈ − : A/S²),

whose factors change by at most e^{4xu}: φ = 2(e^{4x} − 1 − 4x)/(4x)² = 1/x, x = .4759, k = 4.202. Of negatives again h = k|g|; of positives
the sums are taken from scores rounded to cells of width c, which changes them by at most e^{4c}, a factor of h.

`check` compares both with differences. The Hessian is that of the training rows: rows drawn for a tree, and leaves whose values a
library renews, have no such promise. O(n log n + cells²).
"""

import numpy as np

from undercurve import Loss

# Width of a cell of scores, and the most cells.
_WIDTH, _CELLS = 1 / 64, 4096
# k of the header.
_AUC, _AP = 2.623, 4.203


class Objective:
    """Of "ap", "auc" or "pauc"; the proof for the last holds while the range has the same negatives."""

    def __init__(self, kind: str, fpr: tuple[float, float] = (0.0, 0.05)) -> None:
        self.kind = kind
        self._loss = Loss(kind, surrogate="logistic", scale=1.0, fpr=fpr)

    def derivatives(self, scores: object, labels: object, weights: object = None) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian by score: of the loss times the weight of all positives."""
        scores, positive = np.asarray(scores, float), np.asarray(labels) == 1
        w = np.ones(len(scores)) if weights is None or not len(weights) else np.asarray(weights, float)
        if not (w * positive).any() or not (w * ~positive).any():
            return np.zeros(len(scores)), np.zeros(len(scores))
        grad = self._loss.value_grad(scores, positive, w)[1] * (w * positive).sum()
        if self.kind != "ap":
            return grad, _AUC * np.abs(grad)
        return grad, np.where(positive, _of_positives(scores, w * positive, w * ~positive), _AP * np.abs(grad))

    def __call__(self, first: object, second: object, sample_weight: object = None) -> tuple[np.ndarray, np.ndarray]:
        """As `train` of LightGBM and XGBoost calls it, (scores, data), or their classes for scikit-learn, (labels, scores)."""
        if hasattr(second, "get_label"):
            return self.derivatives(first, second.get_label(), second.get_weight())
        return self.derivatives(second, first, sample_weight)

    def calc_ders_range(self, approxes: object, targets: object, weights: object) -> list[tuple[float, float]]:
        """As CatBoost calls it, of some rows, for what it maximises."""
        grad, hess = self.derivatives(approxes, targets, weights)
        return list(zip(-grad, -hess, strict=True))

    def __repr__(self) -> str:
        more = f", fpr={self._loss._core.arguments()['fpr']}" if self.kind == "pauc" else ""
        return f"objective({self.kind!r}{more})"


def _of_positives(scores: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    low = scores.min()
    width = max(_WIDTH, float(scores.max() - low) / _CELLS)
    cell = np.rint((scores - low) / width).astype(int)
    n = int(cell.max()) + 1
    p, q = np.bincount(cell, positive), np.bincount(cell, negative)
    margins = np.arange(1 - n, n) * width
    value, slope = np.logaddexp(0, -margins), 1 / (1 + np.exp(np.minimum(margins, 700)))

    def over(weights: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        return np.convolve(weights, kernel)[n - 1 : 2 * n - 1]

    a, b = over(p, value), over(q, value)
    s = a + b
    own = b / s**2 + 1 / (2 * s)
    found = own * over(p, slope) + a / s**2 * over(q, slope) + over(p * own, slope[::-1])
    return _AP * np.exp(4 * width) * positive * found[cell]


def drawn(rng, case):
    """Scores, labels and weights."""
    n = int(rng.choice([4, 10, 40]))
    labels = (rng.random(n) < rng.choice([0.1, 0.3, 0.8])).astype(float)
    labels[:2] = 1, 0
    return rng.normal(size=n) * rng.choice([0, 0.1, 1, 5]), labels, rng.random(n) + 0.1 if case % 2 else np.ones(n)


def check(kind):
    rng, of = np.random.default_rng(1), Objective(kind, (0.0, 1.0))
    most, steepest = 0.0, 0.0
    for case in range(100):
        scores, labels, weights = drawn(rng, case)
        mass = (weights * labels).sum()
        grad, hess = of.derivatives(scores, labels, weights)
        longest = np.min(hess / np.abs(grad)) if grad.all() else np.inf
        assert longest > 2.62 and (hess > 0).all()
        for _ in range(10):
            step = [rng.uniform(-1, 1, len(scores)), rng.choice([-1.0, 1], len(scores)), np.where(labels, 1.0, -1), np.where(labels, -1.0, 1), -np.sign(grad)][rng.integers(5)]
            step /= 4.203 if kind == "ap" else 2.623
            rise = mass * (of._loss.value(scores + step, labels, weights) - of._loss.value(scores, labels, weights)) - grad @ step
            most = max(most, rise / (0.5 * hess @ step**2))
        moved = [[of.derivatives(scores + sign * 1e-5 * row, labels, weights)[0] for sign in (1, -1)] for row in np.eye(len(scores))]
        second = np.array([(up - down) / 2e-5 for up, down in moved])
        steepest = max(steepest, np.linalg.eigvalsh((second + second.T) / 2 / np.sqrt(hess * hess[:, None])).max())
    # (How much of it is used: of AUC no much smaller multiple of the gradient would do.)
    assert (0.7 if kind != "ap" else 0.05) < most <= 1 and (0.6 if kind != "ap" else 0.1) < steepest <= 1
    print(f"{kind}: at most {most:.3f} of the majorant used by a step, {steepest:.3f} by curvature")


if __name__ == "__main__":
    for name in ("ap", "auc", "pauc"):
        check(name)
