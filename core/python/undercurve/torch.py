"""Modules for torch: exact losses over a batch, and objectives that keep numbers from batch to batch.

`Loss` is computed where the scores are: on a CPU by the compiled core, on other devices by `undercurve.tensors`. `Objective` is computed on
the CPU. Tensors of a GPU are copied there and the gradient back: of n float32 scores with int64 labels 12 n bytes (20 n with row numbers) and
4 n, at 16,384 rows 196 (328) and 66 KB, and a wait for the GPU. One that is on a GPU itself has its state copied both ways with each batch:
leave it on the CPU.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _core, distributed, tensors

_TWICE = "losses of undercurve are differentiated once: call backward or torch.autograd.grad without create_graph=True"


_WIDE, _HALF = (torch.float32, torch.float64), (torch.float16, torch.bfloat16)


def _scores(scores: Tensor) -> Tensor:
    """Scores of one dimension."""
    if scores.ndim == 2 and scores.size(1) == 1:
        scores = scores.reshape(-1)
    if scores.ndim != 1:
        raise ValueError(f"scores: shape {tuple(scores.shape)}, expected (n,) or (n, 1)")
    if not scores.is_floating_point():
        raise TypeError(f"scores: {scores.dtype}, expected a floating-point type")
    return scores


def _wide(scores: Tensor) -> Tensor:
    """In a type that is computed in: float32 or float64."""
    return scores if scores.dtype in _WIDE else scores.float()


def _array(values: Tensor | Any) -> Any:
    """As NumPy sees it, on the CPU."""
    if not isinstance(values, Tensor):
        return values
    if values.dtype in _HALF:
        values = values.float()
    if values.ndim == 2 and values.size(1) == 1:
        values = values.reshape(-1)
    # (What force=True does, at half its time.)
    return (values.detach() if values.requires_grad else values).numpy() if values.is_cpu else values.numpy(force=True)


@functools.lru_cache(maxsize=256)
def _loss(key: str) -> _core.Loss:
    known: dict[str, Any] = {name: tuple(of) if isinstance(of, list) else of for name, of in json.loads(key).items()}
    return _core.Loss(**known)


class _Exact(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, told: tuple[float, Any]) -> Tensor:
        value, grad = told
        # (No input and no output, so that it need not be saved with care.)
        ctx.by_score = torch.from_numpy(grad)
        if scores.is_cpu:
            return torch.scalar_tensor(value, dtype=scores.dtype)
        ctx.by_score = ctx.by_score.to(scores.device)
        return torch.scalar_tensor(value, dtype=scores.dtype, device=scores.device)

    @staticmethod
    def backward(ctx: Any, *outer: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(_TWICE)
        return ctx.by_score * outer[0], None


# What torch.compile sees. (Outside of it the function above costs a tenth of it.)
@torch.library.custom_op("undercurve::exact_loss", mutates_args=())
def _exact(scores: Tensor, labels: Tensor, weights: Tensor | None, key: str) -> tuple[Tensor, Tensor]:
    value, grad = _loss(key).value_grad(_array(scores), _array(labels), _array(weights), True)
    return scores.new_tensor(value), torch.from_numpy(grad).to(scores.device)


@_exact.register_fake
def _(scores: Tensor, labels: Tensor, weights: Tensor | None, key: str) -> tuple[Tensor, Tensor]:
    return scores.new_empty(()), torch.empty_like(scores)


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(output[1])


def _back(ctx: Any, outer: Tensor, _grad: Tensor | None) -> tuple[Tensor, None, None, None]:
    (grad,) = ctx.saved_tensors
    return grad * outer, None, None, None


_exact.register_autograd(_back, setup_context=_keep)


class Loss(torch.nn.Module):
    """An exact ranking loss over the batch, to be minimised.

    Parameters
    ----------
    kind : {"ap", "auc", "pauc"}
        ``"ap"`` is minus the smoothed average precision of the batch; ``"auc"`` and ``"pauc"`` are means of the surrogate over
        pairs.
    surrogate, margin, scale, smoothing, fpr, tpr, grade
        As in `undercurve.Loss`.
    group : torch.distributed.ProcessGroup, optional
        The batch is then that of all workers of the group (``dist.group.WORLD`` for all), each with its own rows; surrogates are
        hinge and squared hinge. The value is that of all rows, and has the same bits for any split. The gradient is that by the
        own scores times the number of workers, because DDP and FSDP average over them. Every worker calls it as often.

    Notes
    -----
    O(n log n) for a batch of n scores. float16 and bfloat16 are computed in float32. A batch that lacks a class has the value 0 and
    the gradient 0. Differentiated once.

    On a GPU, and under ``torch.func``, tensor operations compute it (`undercurve.tensors`): hinge and squared hinge by a sort, O(n log n)
    without waiting for the device and differentiated any number of times; other surrogates by blocks of pairs, O(n n₊) in O(n) memory. Scores
    and labels are not checked there.

    Examples
    --------
    >>> import torch
    >>> from undercurve.torch import Loss
    >>> scores = torch.tensor([0.3, 1.2, -0.4], requires_grad=True)
    >>> loss = Loss("auc", surrogate="hinge")(scores, torch.tensor([1, 0, 0]))
    >>> loss.backward()
    >>> scores.grad
    tensor([-1.0000,  0.5000,  0.5000])
    """

    def __init__(
        self,
        kind: str,
        *,
        surrogate: str | None = None,
        margin: float | None = None,
        scale: float | None = None,
        smoothing: float | None = None,
        fpr: tuple[float, float] = (0.0, 0.05),
        tpr: float = 0.0,
        grade: str = "full",
        group: Any = None,
    ) -> None:
        super().__init__()
        self._core = _core.Loss(kind, surrogate, margin, scale, smoothing, fpr, tpr, grade)
        self._key = json.dumps(self._core.arguments())
        self._engine = None if group is None else distributed.Torch(group)
        if group is not None and (of := self._core.arguments()["surrogate"]) not in ("hinge", "squared-hinge"):
            raise ValueError(f"surrogate: over a group expected 'hinge' or 'squared-hinge', got {of!r}")

    def forward(self, scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of scores (n,) or (n, 1) with labels of 0 and 1, and perhaps a weight each."""
        scores = _wide(_scores(scores))
        if self._engine is not None:
            return self._of_group(scores, labels, weights)
        if tensors.wanted(scores):
            return tensors.loss(scores, labels, weights, self._core.arguments())
        if torch.compiler.is_compiling():
            labels = labels.reshape(-1)
            return _exact(scores, labels, weights, self._key)[0]
        # (Each argument of apply costs time, and so does looking at one.)
        return _Exact.apply(scores, self._core.value_grad(_array(scores), _array(labels), _array(weights), True))

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _of_group(self, scores: Tensor, labels: Tensor, weights: Tensor | None) -> Tensor:
        if weights is not None:
            raise ValueError("weights: not supported with a group")
        engine: Any = self._engine
        value, grad = distributed._run(self._core, engine, _array(scores), _array(labels), True)
        found: Tensor = _Exact.apply(scores, (value, grad * engine.size))
        return found

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={of!r}" for name, of in self._core.arguments().items())

    def __getstate__(self) -> dict[str, Any]:
        return {name: of for name, of in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core = _loss(self._key)


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, aux: Tensor, told: Any) -> Tensor:
        value, by_score, by_aux = told(scores, aux)
        ctx.save_for_backward(
            torch.from_numpy(by_score).to(scores.device, scores.dtype), torch.from_numpy(by_aux).to(aux.device, aux.dtype)
        )
        return torch.tensor(value, dtype=scores.dtype, device=scores.device)

    @staticmethod
    def backward(ctx: Any, *outer: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(_TWICE)
        by_score, by_aux = ctx.saved_tensors
        return by_score * outer[0], by_aux * outer[0], None


class Objective(torch.nn.Module):
    """The objective of a method that is estimated from batches, to be minimised.

    Parameters
    ----------
    method : str
        A method of `undercurve.methods()` whose objective is of scores: SOAP, min-max AUC, partial AUC by thresholds, methods under
        constraints on groups, and the losses they are compared with. Methods whose algorithm moves the parameters in a way of its own
        (AGD-SBCD, DCA, SoRR, ICPPAC, finite sums) are trained by `undercurve.train` alone.
    labels : array or tensor of shape (n,)
        The labels of all training rows: how many rows there are of each class is part of most objectives.
    groups : array of shape (n,), optional
        The group of each training row, numbers or names, for methods of groups.
    constraints : sequence of str, optional
        What must hold, as ``["gap(tpr) <= 0.05"]``.
    sampling : {"uniform", "stratified"}
        How batches are drawn: from all rows alike (a shuffled DataLoader), or so many of each class. The second weighs the rows of a
        batch back to the shares of the data; SOAP on few positives is better off without, by ``weights="as-drawn"``.
    fpr : (low, high)
        Range of false-positive rates, of methods of partial AUC.
    dtype : torch.dtype
        float32 or float64, of the state.
    **settings
        Settings of the method, as ``gamma=0.9``; ``-`` becomes ``_``.

    Attributes
    ----------
    state : buffer
        What moves from batch to batch: SOAP's averages by row number, thresholds, values of constraints. A forward pass in training
        mode moves it; in evaluation mode it stays.
    duals : buffer
        The multipliers of ``"lagrange"``, and the weights of groups, less 1/G, of ``"ooa"``. A forward pass in training mode moves
        them by the method's own step (its setting ``dual_lr``), after the gradient of the scores was computed with those before.
    aux : Parameter
        The variables of min-max objectives (a, b and the dual). Give ``objective.parameters()`` to the
        optimizer, too: gradients by variables that are maximised have their sign turned, so that descent is right for all. They want
        a rate some ten times that of the network: with the same rate one run of six tried stayed where it began.

    Notes
    -----
    A batch that lacks a class which the objective needs has the value 0 and the gradient 0. Under `torch.compile` the call is a
    graph break.

    Examples
    --------
    >>> import torch
    >>> from undercurve.torch import Objective
    >>> y = torch.tensor([1, 0, 0, 0, 1, 0])
    >>> soap = Objective("soap", y)
    >>> rows = torch.tensor([0, 2, 3])
    >>> scores = torch.zeros(3, requires_grad=True)
    >>> soap(scores, y[rows], rows).backward()
    >>> bool(scores.grad[0] < 0)
    True
    """

    state: Tensor
    duals: Tensor

    def __init__(
        self,
        method: str,
        labels: Tensor | Any,
        *,
        groups: Tensor | Any | None = None,
        constraints: Sequence[str] = (),
        sampling: str = "uniform",
        fpr: tuple[float, float] = (0.0, 0.05),
        seed: int = 1,
        dtype: torch.dtype = torch.float32,
        **settings: Any,
    ) -> None:
        super().__init__()
        if dtype not in (torch.float32, torch.float64):
            raise TypeError(f"dtype: {dtype}, expected torch.float32 or torch.float64")
        if sampling not in ("uniform", "stratified"):
            raise ValueError(f"sampling: expected 'uniform' or 'stratified', got {sampling!r}")
        y = np.asarray(_array(labels)).ravel()
        if not np.isin(y, (0, 1)).all():
            raise ValueError(f"labels: row {int(np.argmin(np.isin(y, (0, 1))))} is neither 0 nor 1")
        y = y.astype(int)
        self._labels = y.astype(np.int8)
        names: list[str] = []
        cells: list[int] = []
        self._groups: dict[Any, int] = {}
        if groups is not None:
            values, of = np.unique(np.asarray(_array(groups)), return_inverse=True)
            if len(of) != len(y):
                raise ValueError(f"groups: {len(of)} values for {len(y)} labels")
            self._groups = {value: at for at, value in enumerate(values.tolist())}
            names = [f"{value:g}" if isinstance(value, float) else str(value) for value in values.tolist()]
            cells = np.bincount(y * len(names) + of, minlength=2 * len(names)).tolist()
        pairs = [(name.replace("_", "-"), f"{of:.17g}" if isinstance(of, float) else str(of)) for name, of in settings.items()]
        self._made = (
            method, int(y.sum()), int(len(y) - y.sum()), pairs, (float(fpr[0]), float(fpr[1])), sampling == "stratified", seed,
            names, list(constraints), cells,
        )  # fmt: skip
        self._core = _core.Estimator(*self._made)
        self.register_buffer("state", torch.zeros(self._core.state_len(len(y)), dtype=dtype))
        low, high = self._core.aux
        own = self._core.has_duals
        self.register_buffer("duals", torch.zeros(high if own else 0, dtype=dtype))
        moved = 0 if own else low + high
        self.aux = torch.nn.Parameter(torch.zeros(moved, dtype=dtype), requires_grad=moved > 0)
        self._low = low

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(
        self, scores: Tensor, labels: Tensor, rows: Tensor | Any | None = None, groups: Tensor | Any | None = None
    ) -> Tensor:
        """The estimate on a batch.

        Parameters
        ----------
        scores : tensor of shape (n,) or (n, 1)
        labels : tensor of shape (n,)
        rows : integer tensor of shape (n,)
            The numbers of the batch's rows in the training data, from 0; of methods that keep numbers by row (SOAP). A row may be
            there more than once; its average moves once.
        groups : of shape (n,)
            The group of each row, of methods of groups.
        """
        scores = _scores(scores).to(self.state.dtype)
        if groups is not None:
            known = np.asarray(_array(groups)).tolist()
            unknown = [value for value in known if value not in self._groups]
            if unknown:
                raise ValueError(f"groups: {unknown[0]!r} is none of {list(self._groups)}")
            groups = np.array([self._groups[value] for value in known])
        if self._made[0] == "auc-margin":
            # (The dual of a margin is 0 or more.)
            with torch.no_grad():
                self.aux[self._low :].clamp_(min=0)

        y, at = _array(labels), _array(rows)
        if at is not None:
            self._check(np.asarray(y).ravel(), np.asarray(at).ravel())

        def told(scores: Tensor, aux: Tensor) -> Any:
            # (Arrays that are the tensors' memory; copies of it only where that is a GPU's.)
            state, duals = self.state.detach().cpu().numpy(), self.duals.detach().cpu().numpy()
            own = duals.size > 0
            value, by_score, by_aux = self._core.update(
                _array(scores), y, at, state, duals if own else _array(aux), self.training, groups
            )
            if own:
                if self.training:
                    self._core.ascend(duals, by_aux)
                by_aux = by_aux[:0]
            if self.training and not self.state.is_cpu:
                self.state.copy_(torch.from_numpy(state))
                self.duals.copy_(torch.from_numpy(duals))
            return value, by_score, by_aux

        return _Step.apply(scores, self.aux, told)

    def _check(self, given: Any, of: Any) -> None:
        """Refuses labels other than those that the rows had when the objective was made."""
        if len(given) == len(of) and of.size and of.dtype.kind in "iu" and 0 <= of.min() and of.max() < len(self._labels):
            wrong = np.flatnonzero(given != self._labels[of])
            if wrong.size:
                at = wrong[0]
                raise ValueError(f"labels: {given[at]} for row {of[at]}, which is {self._labels[of[at]]} in the labels of the data")

    def extra_repr(self) -> str:
        return f"{self._made[0]!r}, positives={self._made[1]}, negatives={self._made[2]}"

    def __getstate__(self) -> dict[str, Any]:
        return {name: of for name, of in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core = _core.Estimator(*self._made)


class _Views(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, told: Any) -> Tensor:
        value, *by = told
        ctx.save_for_backward(*(torch.from_numpy(one).reshape(of.shape).to(of.device, of.dtype) for one, of in zip(by, (first, second))))
        return first.new_tensor(value)

    @staticmethod
    def backward(ctx: Any, *outer: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(_TWICE)
        first, second = ctx.saved_tensors
        return first * outer[0], second * outer[0], None


class Contrastive(torch.nn.Module):
    """The two-way global contrastive loss of two encoders, to be minimised: each row's pair against all rows of the data, not the batch's alone.

    Of embeddings a and b of length one it is the mean over all rows i of ``t ln(sum_j exp((a_i b_j - a_i b_i)/t))`` plus the same with a and b
    exchanged (Yuan et al. 2022, SogCLR). InfoNCE is this with the batch in place of the data.

    Parameters
    ----------
    rows : int
        How many rows the data has, 2 or more.
    temperature : float
        t, from 0.005 to 1000.
    gamma : float
        Weight of the batch in the running sums, above 0 and at most 1, where nothing is kept.
    dtype : torch.dtype
        float32 or float64, of the state.

    Attributes
    ----------
    state : buffer
        Two running sums for each row. A forward pass in training mode moves those of its rows; in evaluation mode none.

    Notes
    -----
    O(B^2 e) for a batch of B rows and embeddings of e numbers, on the CPU. Differentiated once.

    Examples
    --------
    >>> import torch
    >>> from undercurve.torch import Contrastive
    >>> loss = Contrastive(100, temperature=0.1)
    >>> first, second = torch.randn(8, 4, requires_grad=True), torch.randn(8, 4)
    >>> loss(first, second, torch.arange(8)).backward()
    >>> first.grad.shape
    torch.Size([8, 4])
    """

    state: Tensor

    def __init__(self, rows: int, *, temperature: float = 0.05, gamma: float = 0.8, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        if dtype not in _WIDE:
            raise TypeError(f"dtype: {dtype}, expected torch.float32 or torch.float64")
        for name, value, fits, expected in (
            ("rows", rows, rows >= 2, "2 or more"),
            ("temperature", temperature, 0.005 <= temperature <= 1000, "from 0.005 to 1000"),
            ("gamma", gamma, 0 < gamma <= 1, "above 0 and at most 1"),
        ):
            if not fits:
                raise ValueError(f"{name}: expected {expected}, got {value!r}")
        self.temperature, self.gamma = float(temperature), float(gamma)
        self.register_buffer("state", torch.zeros(2 * rows, dtype=dtype))

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(self, first: Tensor, second: Tensor, rows: Tensor | Any) -> Tensor:
        """The estimate on embeddings (B, e) of a batch of two rows or more by both encoders; `rows` are its numbers in the data, from 0, each there once."""
        at = np.asarray(_array(rows)).ravel()
        if len(at) < 2:
            raise ValueError("rows: a batch of one row has nothing to be held against; leave it out, as DataLoader(..., drop_last=True) does")
        if len(np.unique(at)) < len(at):
            raise ValueError("rows: a row is there twice, and would be held against itself")
        first, second = first.to(self.state.dtype), second.to(self.state.dtype)
        # (Memory of the buffer itself, where that is on a CPU and is to move.)
        state = self.state.detach().cpu().numpy() if self.training else self.state.detach().cpu().numpy().copy()
        flat = [np.ascontiguousarray(of.detach().cpu().numpy()) for of in (first, second)]
        told = _core.contrastive(*flat, at, state, self.temperature, self.gamma)
        if self.training and not self.state.is_cpu:
            self.state.copy_(torch.from_numpy(state))
        found: Tensor = _Views.apply(first, second, told)
        return found

    def extra_repr(self) -> str:
        return f"{len(self.state) // 2}, temperature={self.temperature}, gamma={self.gamma}"
