"""Losses over the rows of several workers: exact, with the same bits for any number of workers and any split of the rows.

Hinge and squared hinge. What is sent: 16 bytes for each positive of all workers and 24 (hinge) or 48 (squared hinge) more, whatever
the number of negatives; partial AUC 192 KB beside.
"""

from __future__ import annotations

from typing import Any, Protocol

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
            answer = engine.gather(what) if kind == "gather" else engine.reduce(kind, what)
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
        As `Torch()`.

    Raises
    ------
    ValueError
        For wrong rows, at every worker; where a worker has another loss or release.
    RuntimeError
        When a worker ends, or the engine's time-out is over.

    Examples
    --------
    >>> import undercurve
    >>> from undercurve.distributed import value_grad
    >>> class Alone:
    ...     rank, size = 0, 1
    ...     def gather(self, own): return [own]
    ...     def reduce(self, op, numbers): return numbers
    >>> value, grad = value_grad(undercurve.Loss("auc", surrogate="hinge"), [0.3, 1.2, -0.4], [1, 0, 0], Alone())
    >>> round(value, 6), grad
    (1.1, array([-1. ,  0.5,  0.5]))
    """
    return _run(loss._core, engine, scores, labels)
