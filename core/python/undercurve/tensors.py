"""The losses of `undercurve.torch.Loss` in tensor operations alone, where the tensors are: on a GPU, and under torch.func.

Equations (Qi et al. 2021, (2) to (4); Yao et al. 2022, (2)), with weights w, W₊ and W₋ their sums, ℓ the surrogate of s_i − s_j:

    auc   1/(W₊W₋) Σ_{i∈+} Σ_{j∈−} w_i w_j ℓ          pauc  the same with the parts of w_j whose rank lies in the range
    ap    −1/W₊ Σ_{i∈+} w_i g1_i/g2_i,   g1_i = Σ_{j∈+} w_j ℓ,   g2_i = Σ_j w_j ℓ

Hinge and squared hinge: one sort, sums of w, w s and w s² from the end, one binary search, in float64: O(n log n), no length depends on the
data and nothing waits for the device; autograd goes through any number of times, as the places found are constant in between. The other
surrogates, and hinges on devices without float64 (MPS): blocks of pairs, O(n n₊) work and O(n) memory; the number of positives is read
once, which waits for the device; differentiated once. Nothing is checked: a NaN gives NaN. Without a class the value is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# Pairs in memory at once.
_PAIRS = 1 << 24


def loss(scores: Tensor, labels: Tensor, weights: Tensor | None, known: dict[str, Any]) -> Tensor:
    """The loss that `undercurve.Loss.arguments` describes, of scores of shape (n,)."""
    kind, surrogate = known["kind"], known["surrogate"]
    size = next((known[name] for name in ("margin", "scale", "smoothing") if name in known), 1.0)
    y = labels.reshape(-1).to(scores.device, scores.dtype)
    w = torch.ones_like(y) if weights is None else weights.reshape(-1).to(scores.device, scores.dtype)
    wide = scores.device.type != "mps"
    of = scores.double() if wide else scores
    y, w = y.to(of.dtype), w.to(of.dtype)
    if kind == "pauc":
        low, high = known["fpr"]
        negative = _in_range(of.detach(), w * (1 - y), low, high)
        positive = _in_range(of.detach(), w * y, known["tpr"], 1.0) if known["tpr"] > 0 else w * y
    else:
        negative, positive = w * (1 - y), w * y
    if wide and surrogate in ("hinge", "squared-hinge"):
        value = _sorted(of, positive, negative, kind == "ap", size, 2 if surrogate == "squared-hinge" else 1)
    else:
        value = _Blocks.apply(of, positive, negative, kind == "ap", surrogate, size)[0]
    return value.to(scores.dtype)


def _in_range(scores: Tensor, weights: Tensor, low: float, high: float) -> Tensor:
    """The parts of weights whose share of all, by descending score, lies from `low` to `high`."""
    order = torch.argsort(scores, descending=True, stable=True)
    to = torch.cumsum(weights[order], 0)
    total = to[-1]
    part = torch.minimum(to, total * high) - torch.maximum(to - weights[order], total * low)
    return torch.zeros_like(weights).scatter(0, order, part.clamp(min=0))


def _ratio(over: Tensor, under: Tensor) -> Tensor:
    """A quotient that is 0 where nothing is divided by nothing."""
    return over / torch.where(under > 0, under, torch.ones_like(under))


def _sorted(scores: Tensor, positive: Tensor, negative: Tensor, ap: bool, margin: float, power: int) -> Tensor:
    h, order = torch.sort(scores)
    h = h - h.mean().detach()
    p, n = positive[order], negative[order]
    edge = h - margin
    place = torch.searchsorted(h.detach(), edge.detach(), right=True)

    def above(weights: Tensor) -> Tensor:
        """Σ_j w_j (h_j − edge_i)^power over the h_j above the edge."""
        sums = [torch.cat([total := (weights * h**k).flip(0).cumsum(0).flip(0), total.new_zeros(1)])[place] for k in range(power + 1)]
        return sums[1] - edge * sums[0] if power == 1 else sums[2] - 2 * edge * sums[1] + edge * edge * sums[0]

    if ap:
        own = above(p)
        return -_ratio((p * _ratio(own, own + above(n))).sum(), p.sum())
    return _ratio((p * above(n)).sum(), p.sum() * n.sum())


def _surrogate(name: str, size: float) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """ℓ(t) and ℓ′(t)."""
    sigmoid = torch.sigmoid
    if name == "sigmoid":
        return lambda t: sigmoid(-size * t), lambda t: -size * sigmoid(-size * t) * sigmoid(size * t)
    if name == "logistic":
        return lambda t: torch.nn.functional.softplus(-size * t), lambda t: -size * sigmoid(-size * t)
    if name == "exponential":
        return lambda t: torch.exp(-size * t), lambda t: -size * torch.exp(-size * t)
    if name == "square":
        return lambda t: (size - t) ** 2, lambda t: 2 * (t - size)
    if name == "squared-hinge":
        return lambda t: (size - t).clamp(min=0) ** 2, lambda t: -2 * (size - t).clamp(min=0)
    if name == "hinge":
        return lambda t: (size - t).clamp(min=0), lambda t: -(t < size).to(t.dtype)
    if name == "ramp":
        return lambda t: ((size - t) / size).clamp(0, 1), lambda t: -((t >= 0) & (t < size)).to(t.dtype) / size

    def smoothed(t: Tensor) -> Tensor:
        past = (1 - t).clamp(min=0)
        inside = past.clamp(max=size)
        return past - inside + inside * inside / (2 * size)

    return smoothed, lambda t: -((1 - t).clamp(min=0, max=size) / size)


class _Blocks(torch.autograd.Function):
    """All pairs, some positives at a time."""

    generate_vmap_rule = True

    @staticmethod
    def forward(scores: Tensor, positive: Tensor, negative: Tensor, ap: bool, surrogate: str, size: float) -> tuple[Tensor, Tensor]:
        value_of, slope_of = _surrogate(surrogate, size)
        # (Under torch.func no number may be read: all rows count as candidates.)
        rows = torch.arange(len(scores), device=scores.device) if _is_wrapped(scores) or _is_wrapped(positive) else (positive > 0).nonzero()[:, 0]
        mass = positive.sum()
        value, grad = scores.new_zeros(()), torch.zeros_like(scores)
        all_rows = positive + negative
        for some in rows.split(max(1, _PAIRS // max(1, len(scores)))):
            margins = scores[some, None] - scores
            values, weight = value_of(margins), positive[some]
            if ap:
                own, every = values @ positive, values @ all_rows
                value = value - _ratio((weight * _ratio(own, every)).sum(), mass)
                by_own, by_every = -_ratio(_ratio(weight, every), mass), _ratio(_ratio(weight * own, every * every), mass)
                kappa = by_own[:, None] * positive + by_every[:, None] * all_rows
            else:
                each = _ratio(weight, mass * negative.sum())
                value = value + (each * (values @ negative)).sum()
                kappa = each[:, None] * negative
            kappa = kappa * slope_of(margins)
            grad = grad.index_add(0, some, kappa.sum(1)) - kappa.sum(0)
        return value, grad

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, outer: Tensor, _grad: Tensor) -> Any:
        return ctx.saved_tensors[0] * outer, None, None, None, None, None


def _is_wrapped(values: Tensor) -> bool:
    """Whether torch.func or torch.compile looks through it."""
    return torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(values)


def wanted(scores: Tensor) -> bool:
    """Whether the compiled core cannot reach the numbers, or only by a copy that the device waits for."""
    if scores.device.type != "cpu":
        return True
    return not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(scores)
