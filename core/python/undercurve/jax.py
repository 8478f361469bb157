"""Exact losses over a batch for JAX: under jit, vmap and grad, on any device.

Equations and weights as in `undercurve.tensors`. Hinge and squared hinge: one sort, a binary search, and sums of w, w d and w d² of the gaps
d above each score, by doubling, of which all terms are positive: O(n log n), differentiated any number of times by

    d/ds of Σ_j w_j (m − s_i + s_j)₊^p  =  p Σ_j w_j (m − s_i + s_j)₊^(p−1) (ds_j − ds_i).

The other surrogates: blocks of pairs in a loop, O(n n₊) work and O(n) memory, differentiated once (in forward mode any number of times).
The sums of hinges are float64 in any case, as `_operation` below keeps it inside; all else is where `jax_enable_x64` is set, and float32 where
not: values and gradients are then off by at most 1e-6 of the greatest, for 1,000 random cases on a CPU.
Nothing is checked: a NaN gives NaN. Without a class the value is 0. There is no derivative by the weights.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import losses

# Pairs in memory at once.
_PAIRS = 1 << 22


class Loss(losses.Loss):
    """An exact ranking loss over the batch, to be minimised.

    Parameters
    ----------
    kind, surrogate, margin, scale, smoothing, fpr, tpr
        As in `undercurve.Loss`, with its defaults. (`grade` has no effect.)

    Notes
    -----
    Hinge and squared hinge cost O(n log n); the others, so ``"ap"`` and ``"pauc"`` by default, O(n n₊). Scores are not checked.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from undercurve.jax import Loss
    >>> loss = Loss("auc", surrogate="hinge")
    >>> jax.grad(loss)(jnp.array([0.3, 1.2, -0.4]), jnp.array([1, 0, 0])).tolist()
    [-1.0, 0.5, 0.5]
    """

    def __call__(self, scores: Any, labels: Any, weights: Any = None) -> Any:
        """The loss of scores (n,) or (n, 1) with labels of 0 and 1, and perhaps a weight each."""
        scores = jnp.asarray(scores)
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores.reshape(-1)
        if scores.ndim != 1:
            raise ValueError(f"scores: shape {scores.shape}, expected (n,) or (n, 1)")
        if not jnp.issubdtype(scores.dtype, jnp.floating):
            raise TypeError(f"scores: {scores.dtype}, expected a floating-point type")
        known = self._core.arguments()
        wide = jnp.result_type(float)
        of = scores.astype(wide)
        y = jnp.asarray(labels).reshape(-1).astype(wide)
        w = lax.stop_gradient(jnp.ones_like(y) if weights is None else jnp.asarray(weights).reshape(-1).astype(wide))
        if not len(of) == len(y) == len(w):
            raise ValueError(f"{len(of)} scores, {len(y)} labels, {len(w)} weights")
        positive, negative = w * y, w * (1 - y)
        if known["kind"] == "pauc":
            order = lax.stop_gradient(of)
            negative = _in_range(order, negative, *known["fpr"])
            positive = _in_range(order, positive, known["tpr"], 1.0) if known["tpr"] > 0 else positive
        size = next(known[name] for name in ("margin", "scale", "smoothing") if name in known)
        ap, surrogate = known["kind"] == "ap", known["surrogate"]
        if surrogate in ("hinge", "squared-hinge"):
            value = _sorted(of, positive, negative, ap, size, 2 if surrogate == "squared-hinge" else 1)
        else:
            value = _by_blocks(of, positive, negative, ap, surrogate, size)
        return value.astype(scores.dtype if scores.dtype.itemsize > 2 else jnp.float32)


def _ratio(over: Array, under: Array) -> Array:
    """A quotient that is 0 where nothing is divided by nothing."""
    return over / jnp.where(under > 0, under, 1)


def _in_range(scores: Array, weights: Array, low: float, high: float) -> Array:
    """The parts of weights whose share of all, by descending score, lies from `low` to `high`."""
    order = jnp.argsort(-scores, stable=True)
    with jax.enable_x64(True):
        each = weights[order].astype(jnp.float64)
        to = jnp.cumsum(each)
        part = jnp.minimum(to, to[-1] * high) - jnp.maximum(to - each, to[-1] * low)
        found = jnp.zeros_like(part).at[order].set(jnp.maximum(part, 0)).astype(weights.dtype)
    return found


def _sums(h: Array, w: Array, margin: float, power: int) -> Array:
    """Σ_j w_j (margin − h_i + h_j)₊^power of ascending h, in float64."""
    with jax.enable_x64(True):
        n, wide = len(h), h.astype(jnp.float64)
        nothing, gaps = jnp.zeros_like(wide), jnp.append(wide[1:] - wide[:-1], 0)

        def join(k: Array, near: tuple[Array, ...]) -> tuple[Array, ...]:
            """Sums of w, w d and w d² over 2ᵏ scores from each on, d their way down to it, and the way to the next, to those of 2ᵏ⁺¹."""
            there = jnp.arange(n) + (1 << k) < n
            a0, a1, a2, far = (jnp.where(there, jnp.roll(of, -(1 << k)), 0) for of in near)
            b0, b1, b2, way = near
            return a0 + b0, a1 + way * a0 + b1, a2 + way * (2 * a1 + way * a0) + b2, far + way

        start = (w.astype(jnp.float64), nothing, nothing, gaps)
        totals = lax.fori_loop(0, max(n - 1, 0).bit_length(), join, start)[:3]
        place = jnp.searchsorted(wide, wide - margin, side="right")
        d = jnp.maximum(jnp.append(wide, 0)[place] - wide + margin, 0)
        s0, s1, s2 = (jnp.append(total, 0)[place] for total in totals)
        found: Array = (s0, s1 + d * s0, s2 + d * (2 * s1 + d * s0))[power].astype(w.dtype)
        return found


def _rows(h: Array, w: Array, *, margin: float, power: int) -> Array:
    """`_sums` over the last axis."""
    found: Array = jnp.vectorize(functools.partial(_sums, margin=margin, power=power), signature="(n),(n)->(n)")(h, w)
    return found


# `_sums` as an operation with rules of its own: it is linear in w, and float64 does not leave it.
_operation: Any = Primitive("undercurve_above")
_rules: Any = ad
_operation.def_impl(jax.jit(_rows, static_argnames=("margin", "power")))
_operation.def_abstract_eval(lambda h, w, **_: w)
mlir.register_lowering(_operation, mlir.lower_fun(_rows, multiple_results=False))


def _jvp(given: Any, by: Any, *, margin: float, power: int) -> Any:
    (h, w), (dh, dw) = given, (_rules.instantiate_zeros(of) for of in by)
    change = _above(h, dw, margin, power)
    if power > 0:
        change += power * (_above(h, w * dh, margin, power - 1) - dh * _above(h, w, margin, power - 1))
    return _above(h, w, margin, power), change


def _transposed(of: Array, h: Array, _w: Any, **more: Any) -> Any:
    # (As i sees j, so j sees i with the signs turned.)
    return None, lax.rev(_operation.bind(lax.rev(-h, (h.ndim - 1,)), lax.rev(of, (h.ndim - 1,)), **more), (h.ndim - 1,))


def _batched(given: Any, axes: Any, **more: Any) -> Any:
    size = next(of.shape[axis] for of, axis in zip(given, axes, strict=True) if axis is not None)
    to_front: Any = batching.bdim_at_front
    return _operation.bind(*(to_front(of, axis, size) for of, axis in zip(given, axes, strict=True)), **more), 0


ad.primitive_jvps[_operation] = _jvp
ad.primitive_transposes[_operation] = _transposed
batching.primitive_batchers[_operation] = _batched


def _above(h: Array, w: Array, margin: float, power: int) -> Array:
    found: Array = _operation.bind(h, w, margin=margin, power=power)
    return found


def _sorted(scores: Array, positive: Array, negative: Array, ap: bool, margin: float, power: int) -> Array:
    order = jnp.argsort(lax.stop_gradient(scores))
    h, p, n = scores[order], positive[order], negative[order]
    if ap:
        own = _above(h, p, margin, power)
        return -_ratio((p * _ratio(own, own + _above(h, n, margin, power))).sum(), p.sum())
    return _ratio((p * _above(h, n, margin, power)).sum(), p.sum() * n.sum())


def _surrogate(name: str, size: float) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """ℓ(t) and ℓ′(t)."""
    sigmoid = jax.nn.sigmoid
    if name == "sigmoid":
        return lambda t: sigmoid(-size * t), lambda t: -size * sigmoid(-size * t) * sigmoid(size * t)
    if name == "logistic":
        return lambda t: jax.nn.softplus(-size * t), lambda t: -size * sigmoid(-size * t)
    if name == "exponential":
        return lambda t: jnp.exp(-size * t), lambda t: -size * jnp.exp(-size * t)
    if name == "square":
        return lambda t: (size - t) ** 2, lambda t: 2 * (t - size)
    if name == "ramp":
        return lambda t: jnp.clip((size - t) / size, 0, 1), lambda t: -((t >= 0) & (t < size)).astype(t.dtype) / size

    def smoothed(t: Array) -> Array:
        past = jnp.maximum(1 - t, 0)
        inside = jnp.minimum(past, size)
        return past - inside + inside * inside / (2 * size)

    return smoothed, lambda t: -(jnp.clip(1 - t, 0, size) / size)


@functools.partial(jax.custom_jvp, nondiff_argnums=(3, 4, 5))
def _by_blocks(scores: Array, positive: Array, negative: Array, ap: bool, surrogate: str, size: float) -> Array:
    return _pairs(scores, positive, negative, ap, surrogate, size)[0]


@_by_blocks.defjvp
def _(ap: bool, surrogate: str, size: float, given: Any, by: Any) -> Any:
    scores, positive, negative = given
    value, grad = _pairs(scores, positive, negative, ap, surrogate, size)
    return value, grad @ by[0]


def _pairs(scores: Array, positive: Array, negative: Array, ap: bool, surrogate: str, size: float) -> tuple[Array, Array]:
    """Value and gradient, some positives at a time."""
    value_of, slope_of = _surrogate(surrogate, size)
    n = len(scores)
    some = max(1, min(n, _PAIRS // max(1, n)))
    rows = jnp.argsort(positive <= 0, stable=True)
    last = (positive > 0).sum()
    mass, all_rows = positive.sum(), positive + negative

    def block(k: Array, told: tuple[Array, Array]) -> tuple[Array, Array]:
        value, grad = told
        at = k * some + jnp.arange(some)
        mine = rows[jnp.minimum(at, n - 1)]
        weight = jnp.where(at < last, positive[mine], 0)
        margins = scores[mine, None] - scores
        values = value_of(margins)
        if ap:
            own, every = (values * positive).sum(1), (values * all_rows).sum(1)
            value = value - _ratio((weight * _ratio(own, every)).sum(), mass)
            by_own, by_every = -_ratio(_ratio(weight, every), mass), _ratio(_ratio(weight * own, every * every), mass)
            kappa = by_own[:, None] * positive + by_every[:, None] * all_rows
        else:
            each = _ratio(weight, mass * negative.sum())
            value = value + (each * (values * negative).sum(1)).sum()
            kappa = each[:, None] * negative
        kappa = kappa * slope_of(margins)
        return value, grad.at[mine].add(kappa.sum(1)) - kappa.sum(0)

    found: tuple[Array, Array] = lax.fori_loop(0, (last + some - 1) // some, block, (scores.sum() * 0, jnp.zeros_like(scores)))
    return found
