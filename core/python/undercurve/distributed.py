"""Losses over the rows of several workers: exact, with the same bits for any number of workers and any split of the rows.

Hinge and squared hinge. What is sent: 16 bytes for each positive of all workers and 24 (hinge) or 48 (squared hinge) more, whatever
the number of negatives; partial AUC 192 KB beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .losses import Loss


class Engine(Protocol):
    """Collective operations of the workers, of which each calls all, in the same order."""

    rank: int
    size: int

    def gather(self, own: bytes) -> list[bytes]:
        """The bytes of every worker, by rank; lengths differ."""

    def reduce(self, op: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums (``op`` is ``"sum"``) or the largest (``"max"``) of each number over the workers."""


class Alone:
    """One worker, which has all rows."""

    rank, size = 0, 1

    def gather(self, own: bytes) -> list[bytes]:
        return [own]

    def reduce(self, op: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return numbers


class Torch:
    """The workers of a process group of `torch.distributed`: gloo, or NCCL by copies of what is sent.

    >>> import torch.distributed as dist
    >>> from undercurve.distributed import Torch
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> Torch().gather(b"own")
    [b'own']
    >>> dist.destroy_process_group()
    """

    def __init__(self, group: Any = None) -> None:
        import torch.distributed as dist

        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self._device = "cuda" if dist.get_backend(group) == "nccl" else "cpu"

    def gather(self, own: bytes) -> list[bytes]:
        lengths = self.reduce("sum", np.eye(1, self.size, self.rank, dtype=np.int64)[0] * len(own)).tolist()
        import torch
        import torch.distributed as dist

        padded = torch.zeros(max(max(lengths), 1), dtype=torch.uint8)
        if own:
            padded[: len(own)] = torch.frombuffer(bytearray(own), dtype=torch.uint8)
        mine = padded.to(self._device)
        parts = [torch.empty_like(mine) for _ in lengths]
        dist.all_gather(parts, mine, group=self.group)
        return [part.cpu().numpy()[:length].tobytes() for part, length in zip(parts, lengths, strict=True)]

    def reduce(self, op: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        import torch
        import torch.distributed as dist

        sums = torch.from_numpy(numbers).to(self._device)
        dist.all_reduce(sums, op=dist.ReduceOp.SUM if op == "sum" else dist.ReduceOp.MAX, group=self.group)
        found: NDArray[np.int64] = sums.cpu().numpy()
        return found


def _run(loss: Any, engine: Engine, scores: Any, labels: Any, zero_for_one_class: bool = False) -> tuple[float, Any]:
    worker = _core.Worker(loss, engine.rank, engine.size, scores, labels, zero_for_one_class)
    while (ask := worker.ask()) is not None:
        kind, what = ask
        try:
            answer: Any = engine.gather(what) if kind == "gather" else engine.reduce(kind, what)
        except Exception as error:
            raise RuntimeError(f"worker {engine.rank}: another worker ended or did not answer in time ({error})") from error
        if kind == "gather":
            worker.gathered(answer)
        else:
            worker.reduced(answer)
    return worker.result()


def value_grad(loss: Loss, scores: ArrayLike, labels: ArrayLike, engine: Engine) -> tuple[float, NDArray[Any]]:
    """The loss over the rows of all workers, and its derivative by each own score.

    Parameters
    ----------
    loss : Loss
        With the surrogate ``hinge`` or ``squared-hinge``; the same at every worker.
    scores, labels : arrays of shape (n,)
        The own rows, which may be none, or of one class.
    engine : Engine
        `Torch()`, or `Alone()`.

    Raises
    ------
    ValueError
        For wrong rows, at every worker; where a worker has another loss or release.
    RuntimeError
        When a worker ends, or the engine's time-out is over.

    Examples
    --------
    >>> import undercurve
    >>> from undercurve.distributed import Alone, value_grad
    >>> value, grad = value_grad(undercurve.Loss("auc", surrogate="hinge"), [0.3, 1.2, -0.4], [1, 0, 0], Alone())
    >>> round(value, 6), grad
    (1.1, array([-1. ,  0.5,  0.5]))
    """
    return _run(loss._core, engine, scores, labels)


class Fit(NamedTuple):
    """What `minimize` found."""

    params: NDArray[np.float64]
    value: float
    steps: int
    """Steps taken."""


def minimize(
    loss: Loss,
    x: NDArray[np.float64],
    labels: ArrayLike,
    engine: Engine,
    *,
    decay: float = 1e-4,
    steps: int = 100,
    tolerance: float = 1e-7,
    start: ArrayLike | None = None,
) -> Fit:
    """The weights w of least loss(X w) + decay/2 ‖w‖², by L-BFGS over the rows of all workers; no bias, which moves no ranking.

    Every worker has the same result, to the last bit the same for any number of workers and any split of the rows: derivatives by
    the weights are added in whole numbers, too.

    Parameters
    ----------
    loss : Loss
        With the surrogate ``hinge`` or ``squared-hinge``.
    x : array of shape (n, d)
        The own rows, in columns of like scales (standardised, say) that all workers have made alike; finite.
    labels : array of shape (n,)
    engine : Engine
    decay : float
        Weight decay, 0 or more.
    steps : int
        Steps at most.
    tolerance : float
        It ends where no derivative is larger, or no shorter step falls.
    start : array of shape (d,), optional
        Weights to begin at, as those of an earlier call; by default the difference of the class means.

    Notes
    -----
    A call of the loss a step, mostly, and 24 bytes a column beside what it sends.

    References
    ----------
    Nocedal and Wright 2006, algorithm 7.4, with ten pairs and backtracking to the Armijo condition.
    """
    columns, labels = np.asfortranarray(x, dtype=np.float64), np.asarray(labels)
    w = _mean_difference(columns, labels, engine) if start is None else np.array(start, dtype=np.float64)
    return _descend(lambda w: _at(loss, columns, labels, w, engine), w, decay, steps, tolerance)


def _at(loss: Loss, columns: Any, labels: Any, w: Any, engine: Engine) -> tuple[float, NDArray[np.float64]]:
    """The loss of the rows of all workers with these weights, and its derivatives."""
    # (A column at a time, so that the bits of a row do not depend on its place.)
    scores = np.zeros(len(columns))
    for j, one in enumerate(w):
        scores += columns[:, j] * one
    value, by_score = _run(loss._core, engine, scores, labels)
    return value, _sums(lambda j: columns[:, j] * by_score, len(w), engine)


def _mean_difference(columns: Any, labels: Any, engine: Engine) -> NDArray[np.float64]:
    """Where L-BFGS begins: the means of the positives less those of the others."""
    y, d = labels == 1, columns.shape[1]
    of_class = [y, ~y]
    counts = _sums(lambda k: of_class[k] * 1.0, 2, engine)
    sums = _sums(lambda k: columns[of_class[k // d], k % d], 2 * d, engine)
    return sums[:d] / max(counts[0], 1.0) - sums[d:] / max(counts[1], 1.0)


def _descend(
    loss_at: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    w: NDArray[np.float64],
    decay: float,
    steps: int,
    tolerance: float,
) -> Fit:
    def at(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slopes = loss_at(w)
        return value + decay / 2 * _dot(w, w), slopes + decay * w

    value, slopes = at(w)
    pairs: list[tuple[Any, Any, float]] = []
    for taken in range(steps):
        if not abs(slopes).max(initial=0.0) > tolerance:
            return Fit(w, value, taken)
        way = -_two_loops(slopes, pairs)
        fall = _dot(way, slopes)
        length = 1.0 if pairs else min(1.0, 1.0 / math.sqrt(-fall))
        for _ in range(40):
            there = w + length * way
            lower, new = at(there)
            if lower <= value + 1e-4 * length * fall:
                break
            length *= 0.5
        else:
            return Fit(w, value, taken)
        moved, turned = there - w, new - slopes
        if (bend := _dot(moved, turned)) > 1e-12 * _dot(turned, turned):
            pairs = [*pairs[-9:], (moved, turned, bend)]
        w, value, slopes = there, lower, new
    return Fit(w, value, steps)


def _dot(a: Any, b: Any) -> float:
    """Rounded once, whatever the order."""
    return math.fsum(a * b)


def _two_loops(slopes: Any, pairs: list[tuple[Any, Any, float]]) -> Any:
    way, parts = slopes.copy(), []
    for moved, turned, bend in reversed(pairs):
        parts.append(_dot(moved, way) / bend)
        way -= parts[-1] * turned
    if pairs:
        _, turned, bend = pairs[-1]
        way *= bend / _dot(turned, turned)
    for moved, turned, bend in pairs:
        way += (parts.pop() - _dot(turned, way) / bend) * moved
    return way


def _sums(terms: Callable[[int], Any], count: int, engine: Engine) -> NDArray[np.float64]:
    """Sums over the rows of all workers, in whole numbers of 60 bits of the largest term of each; of fewer than 2³² rows."""
    reach = [np.frexp(abs(terms(k)).max(initial=0.0)) for k in range(count)]
    empty = -(1 << 20)
    exponents = engine.reduce("max", np.array([int(e) if m > 0 else empty for m, e in reach], dtype=np.int64))
    limbs = np.zeros((count, 2), dtype=np.int64)
    for k, e in enumerate(exponents.tolist()):
        if e > empty:
            scaled = np.ldexp(terms(k), 30 - e)
            whole = np.rint(scaled)
            limbs[k] = whole.astype(np.int64).sum(), np.rint((scaled - whole) * 2.0**30).astype(np.int64).sum()
    found = engine.reduce("sum", limbs.ravel()).reshape(-1, 2).tolist()
    # (Python's whole numbers; one rounding.)
    return np.array([math.ldexp((a << 30) + b, e - 60) if e > empty else 0.0 for (a, b), e in zip(found, exponents.tolist(), strict=True)])
