"""Training by any method, and the models that come of it."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, arguments, frames
from ._html import table
from .curves import Curves, _subplots, curves
from .decisions import numbers
from .metrics import Metrics, metrics, span

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._arguments import Arguments, MethodName, Settings

Array = NDArray[Any]
Range = tuple[float, float]


class TrainingWarning(UserWarning):
    """A run ended without an error, and its model has learned little or nothing."""


class Model:
    """A trained model, with all that turns rows into scores and scores into decisions.

    Made by `train`, `Trainer.model` or `load`. Its file is that of the command line and of the npm package.
    """

    def __init__(self, core: _core.Model) -> None:
        self._core = core
        self._about = core.about()

    @property
    def method(self) -> str:
        """The method it was trained by."""
        return str(self._about["method"])

    @property
    def architecture(self) -> str:
        """``linear``, or ``mlp:`` with the widths of the hidden layers."""
        return str(self._about["model"])

    @property
    def columns(self) -> list[str]:
        """The columns that it reads; empty for sparse rows."""
        return [name for name, _ in self._about["columns"]]

    @property
    def classes(self) -> list[str]:
        """The labels: negative and positive, or all of several; empty for numbers. (Of two, the negative may be unknown.)"""
        if self._about["classes"]:
            return list(self._about["classes"])
        two = [self._about["negative"], self._about["positive"]]
        return [] if two[1] is None else [label or "" for label in two]

    @property
    def threshold(self) -> float | None:
        """Scores from here up predict the positive class; None where none was asked for, or none keeps the rule."""
        return self._about["threshold"]

    @property
    def has_probabilities(self) -> bool:
        """Whether `probabilities` gives some."""
        return self._core.has_probabilities

    @property
    def figures(self) -> dict[str, float]:
        """What was measured at the end of training, as ``train ap`` or ``valid auroc``."""
        return dict(self._about["figures"])

    def about(self) -> dict[str, Any]:
        """Everything the file says of the model."""
        return dict(self._about)

    def params(self) -> Array:
        """The parameters; of a linear model one weight per encoded column, then the bias."""
        return self._core.params()

    def _table(self, data: Any) -> _core.Table:
        if frames.is_file(data):
            return self._core.read(data)
        if not frames.is_frame(data) and not frames.is_sparse(data):
            data = np.asarray(data)
            if data.ndim != 2:
                raise ValueError(f"X: {data.ndim} dimensions, expected 2")
            if self._about["sparse"] and data.shape[1] == self._about["inputs"]:
                labels = [("label", np.zeros(len(data)))]
                return frames.table_of(_csr(data), labels)
            names = [f"x{k + 1}" for k in range(data.shape[1])]
            if any(name not in names for name in self.columns):
                wanted = ", ".join(self.columns[:20])
                raise ValueError(
                    f"X has {data.shape[1]} columns and no names, and the model reads the columns {wanted}; pass a frame"
                )
        if frames.is_sparse(data):
            return frames.table_of(data, [("label", np.zeros(data.shape[0]))])
        return frames.table_of(data, [])

    def scores(self, data: Any) -> Array:
        """A score for each row; higher means more likely positive.

        Parameters
        ----------
        data : array, sparse matrix, frame or path
            With the columns of training; other columns are not looked at.

        Returns
        -------
        array of shape (n,), or (n, classes) of several classes (log-odds of each)

        Raises
        ------
        ValueError
            For a column that is not there, a text in a column of numbers, a missing value that training refused.
        """
        return self._scored(data, False)[0]

    def _scored(self, data: Any, labelled: bool) -> tuple[Array, Any, Any]:
        """Scores, and the labels and weights that the rows have."""
        try:
            scores, labels, weights, notes = self._core.scores(self._table(data), labelled)
        except ValueError as error:
            if "missing value in column" in str(error):
                raise ValueError(f'{error} (a model of train(missing="impute") fills it in)') from None
            raise
        for note in notes:
            _warn(note, UserWarning)
        return scores, labels, weights

    def _labelled(self, data: Any, labels: Any, weights: Any) -> tuple[Array, Any, Any]:
        """Scores, labels and weights: those that are given, or of columns of the rows as in training."""
        if labels is None:
            named = frames.is_frame(data)
            if not named:
                raise ValueError("labels: rows without names of columns need labels beside them")
            scores, labels, own = self._scored(data, True)
            return scores, labels, own if weights is None else weights
        if isinstance(labels, str):
            raise ValueError(f"labels: expected values; without them those of the column {self._about['label']!r} are taken")
        return self._scored(data, False)[0], self._of_training(labels), weights

    def _of_training(self, labels: Any) -> Any:
        """True for the label that is the model's positive one, where these are its labels; else as they are."""
        known = self.classes if self._about["target"] == "binary" else []
        given = np.asarray(labels)
        if len(known) != 2 or given.ndim != 1:
            return labels
        try:
            values, at = np.unique(given, return_inverse=True)
        except TypeError:  # (None among texts: the core says where.)
            return labels
        texts = [_positive(value) for value in values.tolist()]
        if len(texts) > 2 or known[1] not in texts or not set(texts) <= {*known} and known[0]:
            return labels
        return np.array([text == known[1] for text in texts])[at]

    def probabilities(self, data: Any) -> NDArray[np.float64]:
        """The probability of the positive class for each row, or (n, classes) of several.

        Raises
        ------
        ValueError
            Of a method that only ranks, whose scores were not calibrated.
        """
        return self._probable(self.scores(data))

    def _probable(self, scores: Array) -> NDArray[np.float64]:
        found = self._core.probabilities(scores.ravel())
        if found is None:
            raise ValueError(f"{self.method} only ranks: train with valid=0.2, or calibrate=\"platt\", for probabilities")
        return found.reshape(scores.shape)

    def decide(self, data: Any) -> Array:
        """True for each row whose score reaches the threshold; of several classes the name of the most likely."""
        scores = self.scores(data)
        if scores.ndim == 2:
            return np.array(self.classes)[scores.argmax(axis=1)]
        if self.threshold is None:
            raise ValueError('the model has no threshold; model.with_threshold("precision>=0.8", data, labels) chooses one on labelled rows')
        return scores >= self.threshold

    def with_threshold(
        self, rule: str | float, data: Any, labels: ArrayLike | None = None, weights: ArrayLike | None = None, *, clusters: ArrayLike | None = None
    ) -> Model:
        """A copy whose threshold is chosen on labelled rows that the model was not trained on.

        Parameters
        ----------
        rule, clusters
            As in `undercurve.decide`.
        data, labels, weights
            As in `evaluate`.

        Raises
        ------
        ValueError
            As `undercurve.decide`.
        """
        scores, labels, weights = self._labelled(data, labels, weights)
        return Model(self._core.with_threshold(str(rule), scores, labels, weights, numbers("clusters", clusters)))

    def evaluate(
        self, data: Any, labels: ArrayLike | None = None, weights: ArrayLike | None = None, *, fpr: Range | float | None = None, intervals: bool = False
    ) -> Metrics:
        """Exact metrics of its scores of some rows; see `undercurve.metrics`.

        Parameters
        ----------
        data : array, sparse matrix, frame or path
            As in `scores`.
        labels : array of shape (n,), optional
            Those of training, or any two. Without them, and `weights`, frames and files have the columns of training.
        """
        scores, labels, weights = self._labelled(data, labels, weights)
        return metrics(scores, labels, weights, fpr=self._about["fpr"] if fpr is None else fpr, intervals=intervals)

    def curves(self, data: Any, labels: ArrayLike | None = None, weights: ArrayLike | None = None) -> Curves:
        """Both curves of its scores of some rows; see `undercurve.curves`."""
        return curves(*self._labelled(data, labels, weights))

    def plot_curves(self, data: Any, labels: ArrayLike | None = None, axes: Any = None) -> Any:
        """Draw both curves by matplotlib; see `Curves.plot`."""
        return self.curves(data, labels).plot(axes)

    def plot_scores(self, data: Any, labels: ArrayLike | None = None, axis: Any = None) -> Any:
        """Draw the distribution of the scores of each class, and the threshold, by matplotlib."""
        axis = _axis(axis)
        scores, labels, _ = self._labelled(data, labels, None)
        positive = np.asarray(labels).astype(bool)
        edges = np.histogram_bin_edges(scores, bins=40)
        for name, of in (("negative", ~positive), ("positive", positive)):
            axis.hist(scores[of], bins=edges, density=True, alpha=0.6, label=name)
        if self.threshold is not None and np.isfinite(self.threshold):
            axis.axvline(self.threshold, color="black", linewidth=0.8, label="threshold")
        axis.set(xlabel="score", ylabel="density")
        axis.legend()
        return axis

    def plot_thresholds(self, data: Any, labels: ArrayLike | None = None, weights: ArrayLike | None = None, axis: Any = None) -> Any:
        """Draw precision, recall and false-positive rate against the threshold, and the model's own, by matplotlib."""
        axis = self.curves(data, labels, weights).plot_thresholds(_axis(axis))
        if self.threshold is not None and np.isfinite(self.threshold):
            axis.axvline(self.threshold, color="black", linewidth=0.8, label="of the model")
            axis.legend()
        return axis

    def plot_reliability(self, data: Any, labels: ArrayLike | None = None, bins: int = 10, axis: Any = None) -> Any:
        """Draw the share of positives against the probability, in bins of equally many rows, by matplotlib.

        Bars are 95 % intervals (Wilson's). The title has the log loss and the Brier score.

        Raises
        ------
        ValueError
            Of a method that only ranks, whose scores were not calibrated; for fewer than 1 bin or several classes.
        """
        if bins < 1:
            raise ValueError(f"bins: expected at least 1, got {bins}")
        scores, labels, _ = self._labelled(data, labels, None)
        chance, positive = self._probable(scores), np.asarray(labels).astype(bool)
        if chance.ndim != 1:
            raise ValueError("plot_reliability: of two classes")
        if len(positive) != len(chance):
            raise ValueError(f"labels: {len(positive)} values for {len(chance)} rows")
        axis = _axis(axis)
        loss, brier = _core.calibration(chance, positive)
        order = np.argsort(chance, kind="stable")
        # (Rows of one probability are not divided.)
        ends = np.unique([np.searchsorted(chance[order], chance[order][part[-1]], "right") for part in np.array_split(np.arange(len(order)), bins) if len(part)])
        parts = np.split(order, ends[:-1])
        mean, share, rows = (np.array([of(part) for part in parts]) for of in (lambda p: chance[p].mean(), lambda p: positive[p].mean(), len))
        z = 1.959964
        middle, half = share + z * z / (2 * rows), z * np.sqrt(share * (1 - share) / rows + (z / (2 * rows)) ** 2)
        low, high = (middle - half) / (1 + z * z / rows), (middle + half) / (1 + z * z / rows)
        axis.errorbar(mean, share, yerr=np.clip([share - low, high - share], 0, None), marker="o", capsize=3, label="bins of rows")
        top = min(1.0, 1.1 * max(float(mean.max()), float(high.max())))
        axis.plot([0, top], [0, top], color="grey", linewidth=0.8, linestyle="--", label="calibrated")
        axis.set(
            xlabel="probability", ylabel="share of positives", xlim=(0, top), ylim=(0, top),
            title=f"log loss {loss:.4f}, Brier score {brier:.4f}",
        )  # fmt: skip
        axis.legend(loc="upper left")
        return axis

    def plot_weights(self, most: int = 20, axis: Any = None) -> Any:
        """Draw the largest weights of a linear model of two classes, per deviation of a column, by matplotlib."""
        if self.architecture != "linear" or len(self.classes) > 2:
            raise ValueError(f"plot_weights: of a linear model of two classes, and this one is {self.architecture}")
        axis = _axis(axis)
        names = [name for name, _, _ in self._about["encoded"]]
        weights = self.params()[: len(names)]
        order = np.argsort(-np.abs(weights))[:most][::-1]
        axis.barh([names[k] for k in order], weights[order])
        axis.axvline(0, color="grey", linewidth=0.8)
        axis.set(xlabel="weight")
        return axis

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            here = {"predict": "decide, and scores", "predict_proba": "probabilities", "decision_function": "scores", "transform": "scores", "fit": "undercurve.train",
                    "score": "evaluate", "judge": "judge of the Trainer, before its model is taken", "feature_importances_": "params", "coef_": "params"}  # fmt: skip
            more = f"; what does it here is {here[name]}" if name in here else ""
            raise AttributeError(f"a Model has no {name}{more}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file. An existing file is replaced only when all of the new one is written."""
        _write(path, self._core.to_bytes())

    def to_bytes(self) -> bytes:
        """The model file's bytes."""
        return self._core.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        rule = f", threshold={self.threshold:.6g}" if self.threshold is not None else ""
        return f"Model({self.method!r}, {self.architecture!r}, {len(self.columns) or self._about['inputs']} columns{rule})"

    def _repr_html_(self) -> str:
        rule = self._about["rule"]
        rows: list[tuple[str, object]] = [
            ("method", self.method),
            ("model", self.architecture),
            ("columns", len(self.columns) or self._about["inputs"]),
            ("threshold", "none" if self.threshold is None else f"{self.threshold:.6g}"),
        ]
        if rule:
            rows.append(("chosen by", f"{rule[0]} on {rule[1]} rows"))
        rows += [(name, f"{value:.4f}") for name, value in self.figures.items()]
        return table("Model", rows)


def _axis(axis: Any) -> Any:
    return _subplots(1, (6, 4))[0] if axis is None else axis


class _csr:
    """A dense array as sparse rows, without SciPy."""

    def __init__(self, dense: Array) -> None:
        there = dense != 0
        self.shape = dense.shape
        self.data = dense[there].astype("float64")
        self.indices = np.nonzero(there)[1]
        self.indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])

    def tocsr(self) -> _csr:
        return self


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file whole or not at all."""
    path = os.fspath(path)
    beside = f"{path}.part"
    try:
        with open(beside, "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(beside)
        raise


def _of_bytes(data: bytes) -> Model:
    return Model(_core.Model.of_bytes(data))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file of this package, the command line or the npm package.

    Raises
    ------
    OSError
        Where the file cannot be read.
    ValueError
        Where it is no model, or damaged.
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        return _of_bytes(content)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


class Trainer:
    """A training run, step by step. `train` runs one to its end and takes the same arguments."""

    def __init__(
        self,
        data: Any,
        labels: ArrayLike | None = None,
        *,
        method: MethodName | None = None,
        model: str = "linear",
        label: str | None = None,
        positive: str | float | Sequence[str] | None = None,
        target: Literal["binary", "classes", "values"] | None = None,
        weights: ArrayLike | str | None = None,
        groups: ArrayLike | str | Sequence[str] | None = None,
        constraints: Sequence[str] = (),
        objective: str | None = None,
        preset: str | None = None,
        test: Any = None,
        valid: Any = None,
        metric: str | None = None,
        patience: int | None = None,
        threshold: str | float | None = None,
        calibrate: Literal["none", "platt", "isotonic", "beta", "auto"] | None = None,
        fpr: Range | float = (0.0, 0.05),
        steps: int | None = None,
        passes: float | None = None,
        seed: int = 1,
        scale: Literal["none", "standard", "unit", "robust", "rank"] | None = None,
        encode: str | None = None,
        missing: Literal["error", "impute"] = "error",
        categorical: Sequence[str] = (),
        na: Sequence[str] = (),
        skip: int = 0,
        encoding: Literal["utf8", "latin1"] = "utf8",
        ignore: Sequence[str] = (),
        keep_identifiers: bool | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | Sequence[float] | None = None,
        init: Literal["auto", "linear", "random"] = "auto",
        dtype: Literal["float32", "float64"] = "float32",
        start: Model | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype: expected 'float32' or 'float64', got {dtype!r}")
        named, taken, more, label = _with_labels(data, labels, label, ignore)
        if isinstance(constraints, str):
            constraints = [constraints]
        if not hasattr(constraints, "__iter__"):
            raise TypeError(f"constraints: expected texts, as [\"gap(tpr) <= 0.05\"], got {type(constraints).__name__}")
        if start is not None and not isinstance(start, Model):
            raise TypeError(f"start: expected a Model, as undercurve.load gives it, got {type(start).__name__}")
        ignore = [str(name) for name in ignore]
        group: list[str] = []
        if isinstance(groups, str):
            group = [groups]
        elif groups is not None and named and all(isinstance(one, str) and (one in taken or not taken) for one in groups):  # type: ignore[union-attr]
            group = [str(name) for name in groups]  # type: ignore[union-attr]
        elif groups is not None:
            name = frames.free_name("group", taken)
            more.append(_texts(name, "groups", groups))
            group, ignore = [name], [*ignore, name]
        weight: str | None = None
        if isinstance(weights, str):
            weight = weights
        elif weights is not None:
            weight = frames.free_name("weight", taken)
            more.append(_column(weight, "weights", weights))
        data = _rows(data, more)
        _check_texts(model=model, init=init)
        _check_texts(optional=True, method=method, preset=preset, objective=objective, target=target, metric=metric, calibrate=calibrate)
        asked = {
            "method": method,
            "preset": preset,
            "objective": objective,
            "settings": arguments.settings(dict(settings), Trainer.__init__, _text),
            "constraints": [str(one) for one in constraints],
            "model": model,
            "init": init,
            "seed": _number("seed", seed, whole=True),
            "steps": None if steps is None else _number("steps", steps, whole=True),
            "passes": None if passes is None else _number("passes", passes),
            "fpr": span(fpr),
            "class_weights": _class_weights(class_weight),
            "balanced": isinstance(class_weight, str),
            "target": target,
            "reading": _reading(
                named, label, positive, missing, categorical, ignore, keep_identifiers,
                scale=scale, encode=encode, group=group, weight=None if frames.is_sparse(data) else weight,
            ),
            "valid": _number("valid", valid) if isinstance(valid, (int, float, np.number)) else None,
            "metric": metric,
            "patience": None if patience is None else _number("patience", patience, whole=True),
            "threshold": None if threshold is None else str(threshold),
            "calibrate": calibrate,
        }
        wide = dtype == "float64"
        if encoding not in ("utf8", "latin1"):
            raise ValueError(f"encoding: expected 'utf8' or 'latin1', got {encoding!r}")
        reads: dict[str, Any] = {"texts": [str(name) for name in categorical], "na": [str(text) for text in na], "ignore": ignore}
        reads |= {"skip": _number("skip", skip, whole=True), "latin1": encoding == "latin1"}
        table = frames.table_of(data, more, label, **reads)
        _warn_of_reading(table)
        taken = taken or table.columns
        held = (self._held("test", test, label, more, named, reads), self._held("valid", None if asked["valid"] is not None else valid, label, more, named, reads))
        try:
            self._core = _core.Trainer(asked, table, held, start._core if start else None, wide)
        except ValueError as error:
            raise ValueError(_with_hint(str(error), method)) from None
        columns, target_column = self._core.columns
        if start is None:
            _warn_of_left_out(taken, {*columns, *group, *ignore, weight, target_column})

    @staticmethod
    def _held(what: str, test: Any, label: str | None, more: frames.Columns, named: bool, reads: dict[str, Any]) -> _core.Table | None:
        if test is None:
            return None
        if isinstance(test, tuple):
            rows, labels = test
            column = _column(label or "label", f"{what} labels", labels)
            return frames.table_of(_rows(rows, [column]), [column], ignore=reads["ignore"])
        if (more and not named) or not (frames.is_frame(test) or frames.is_sparse(test)):
            raise ValueError(f"{what}: expected {'a share, or ' if what == 'valid' else ''}(rows, labels)")
        return frames.table_of(test, [], label, **(reads if frames.is_file(test) else {"ignore": reads["ignore"]}))

    @property
    def method(self) -> str:
        """The method."""
        return self._core.method

    @property
    def is_done(self) -> bool:
        """Whether the run is over."""
        return self._core.is_done

    @property
    def steps_done(self) -> int:
        """Steps so far."""
        return self._core.steps_done

    @property
    def total_steps(self) -> int:
        """The most steps that the run takes."""
        return self._core.total_steps

    def step(self, count: int = 1) -> float | None:
        """Make at most `count` steps; the objective on the last batch, or None where nothing was left to do."""
        return self._core.step(count)

    def run(self, *, progress: bool = False, callback: Callable[[Trainer], object] | None = None) -> Model:
        """Train to the end, and give the model.

        Parameters
        ----------
        progress : bool
            Show a bar, where tqdm is installed.
        callback : callable, optional
            Called with the trainer about twenty times; training ends where it returns False.
        """
        bar = None
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: expected a function of the run, got {type(callback).__name__}")
        if progress:
            try:
                from tqdm.auto import tqdm  # type: ignore[import-untyped]

                bar = tqdm(total=self.total_steps, initial=self.steps_done, desc=self.method)
            except ImportError:
                callback = _told(callback)
        part = max(1, -(-self.total_steps // 20))
        try:
            while not self.is_done:
                before = self.steps_done
                # (Small pieces, so that Ctrl-C is heard.)
                end = before + part
                while self.steps_done < end and not self.is_done:
                    self.step(min(64, end - self.steps_done))
                if bar is not None:
                    bar.update(self.steps_done - before)
                if callback is not None and callback(self) is False:
                    break
        finally:
            if bar is not None:
                bar.close()
        warning = self.report()["warning"]
        if warning:
            _warn(f"{self.method}: {_as_arguments(warning)}")
        if self._core.idle_patience:
            _warn(self._core.idle_patience, UserWarning)
        return self.model()

    def __repr__(self) -> str:
        return f"Trainer({self.method!r}, {self.steps_done} of {self.total_steps} steps)"

    def report(self) -> dict[str, Any]:
        """Objective, exact metrics of training and test rows, and what warns of the model."""
        return self._core.report()

    def judge(self) -> list[dict[str, Any]]:
        """Whether each constraint holds: ``met``, ``not met`` or ``cannot tell``, with its value, bound and noise."""
        return self._core.judge()

    def model(self) -> Model:
        """The model to keep, now: the best on the validation rows, or the last."""
        model, missed = self._core.model()
        if missed:
            _warn(missed)
        return Model(model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run so far, to go on from by `resume` or by ``undercurve train --resume``.

        The file is a model file, too, and larger than that of `Model.save`. An existing file is replaced only when all of the new
        one is written.

        Examples
        --------
        Saved about twenty times on the way:

        >>> import numpy as np, os, tempfile, undercurve
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> y = X[:, 0] > 1
        >>> path = os.path.join(tempfile.mkdtemp(), "run.uc")
        >>> run = undercurve.Trainer(X, y, method="soap", steps=400)
        >>> whole = run.run(callback=lambda run: run.save(path) if run.steps_done < 300 else None)
        >>> again = undercurve.Trainer.resume(path, X, y).run()
        >>> again.to_bytes() == whole.to_bytes()
        True
        """
        _write(path, self._core.save())

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        data: Any,
        labels: ArrayLike | None = None,
        *,
        weights: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        test: Any = None,
        steps: int | None = None,
        passes: float | None = None,
        threshold: str | float | None = None,
        calibrate: Literal["none", "platt", "isotonic"] | None = None,
        **settings: Any,
    ) -> Trainer:
        """Go on with a run that `save` or the command line wrote, on the rows that it was saved with.

        The run ends with the bits that it would have had without the pause.

        Parameters
        ----------
        path : str or path
            The run's file.
        data, labels, weights, groups, test
            The same rows as when the run began; what was a column of the data then is one now.
        steps, passes : number, optional
            Another length for the whole run.
        threshold, calibrate : optional
            Other than in the file.
        **settings
            Numbers of the method that change for the rest, as ``lr=0.01``.

        Raises
        ------
        ValueError
            For other rows, a file without a run, a length that has passed, a setting that cannot change.
        """
        saved = load(path)
        about = saved.about()
        named = frames.is_frame(data)
        taken = frames.names_of(data) if named else []
        more: frames.Columns = []
        label = about["label"] or "label"
        for name, what, values, make in (
            (label, "labels", labels, _column),
            (next(iter(about["groups"][0]), None), "groups", groups, _texts),
            # (Weights of sparse rows are no column.)
            (about["weight"] or ("weight" if about["sparse"] else None), "weights", weights, _column),
        ):
            if values is None:
                continue
            if isinstance(values, str) or name in taken:
                raise ValueError(f"{what}: the run reads them from a column of the rows, as when it began; leave the argument out")
            if name is None:
                raise ValueError(f"{what}: the run has none")
            more.append(make(name, what, values))
        if labels is None and not named:
            raise ValueError("labels: rows without names of columns need labels beside them")
        changed = {
            "settings": arguments.settings(settings, Trainer.resume, _text),
            "steps": None if steps is None else _number("steps", steps, whole=True),
            "passes": None if passes is None else _number("passes", passes),
            "threshold": None if threshold is None else str(threshold),
            "calibrate": calibrate,
        }
        run = cls.__new__(cls)
        rows = saved._core.read(data) if frames.is_file(data) and not more else frames.table_of(_rows(data, more), more, label)
        held = saved._core.read(test) if frames.is_file(test) else cls._held("test", test, label, more, named, {"ignore": []})
        try:
            run._core = _core.Trainer.resume(changed, saved._core, rows, held)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None
        return run


def _told(callback: Callable[[Trainer], object] | None) -> Callable[[Trainer], object]:
    """Progress in lines, where there is no tqdm."""

    def told(run: Trainer) -> object:
        print(f"{run.method}: {run.steps_done} of {run.total_steps} steps", flush=True)
        return callback(run) if callback is not None else None

    return told


def _as_arguments(sentence: str) -> str:
    """Options of the command line as arguments of `train`."""
    sentence = re.sub(r"--set ([a-z0-9-]+)=([^\s,;)]+)", lambda found: f"{found[1].replace('-', '_')}={found[2]}", sentence)
    return re.sub(r"--(model|init|scale|method|preset) ([^\s,;)]+)", r'\1="\2"', sentence)


def _with_hint(error: str, method: str | None) -> str:
    """What is wrong, with what to do where Python has other words for it than the core."""
    if "missing value in column" in error:
        return f'{error} (missing="impute" fills it in)'
    if "the third of more than two label values" in error:
        error = re.sub(r'\((("[^"]*", ){3}).*?\);', r"(\1…);", error)
        return (
            f"{error} (positive=…); several classes are trained by the methods ce, ppd-sg and ppd-adagrad, numbers by"
            ' target="values" and the finite sums'
        )
    if found := re.match('method [^ ]+ has no parameter "([^"]+)"', error):
        there = "" if method is not None or found[1] not in arguments.settings_of("ce") else f'; method="ce", which goes in batches, has {found[1]}'
        return arguments.foreign(found[1]) or error + there
    if error.startswith("method: there is no") and method is not None and (near := arguments.method_meant(method)):
        return error.replace("; ", f"; did you mean {near}? ")
    if error.startswith("target: expected one of"):
        return f"{error} (label=… names the column of the labels)"
    if error.startswith("which column is the label?"):
        return f"{error} (label=…)"
    return error


def _positive(given: Any) -> str | None:
    """The label that counts as positive, or several with commas between them."""
    if given is None:
        return None
    if isinstance(given, (bool, np.bool_)):
        return str(bool(given)).lower()
    if isinstance(given, (list, tuple, set, frozenset)):
        return ",".join(_text(one) for one in given)
    return _text(given)


def _warn(text: str, category: type[Warning] = TrainingWarning) -> None:
    """A warning at the line that called the package."""
    import sys

    depth, own = 2, os.path.dirname(__file__)
    while (frame := sys._getframe(depth - 1)).f_back and os.path.dirname(frame.f_code.co_filename) == own:
        depth += 1
    warnings.warn(text, category, stacklevel=depth)


def _warn_of_reading(table: _core.Table) -> None:
    """Warns of what was lost on the way into the table."""
    if table.rounded:
        _warn(
            f"whole numbers beyond 2^53 were rounded in {', '.join(table.rounded)} (as texts or categories they are what they are)"
        )
    if table.unlabelled:
        _warn(f"{table.unlabelled} rows have no label and are left out")


def _warn_of_left_out(taken: list[str], known: set[str | None]) -> None:
    """Warns of columns that a model does not read, and nobody said so."""
    left = [name for name in taken if name not in known]
    if left:
        _warn(f"columns that tell rows apart are left out: {', '.join(left)} (keep_identifiers=True keeps them)")


def _class_weights(given: Any) -> list[tuple[str | None, float]] | None:
    """Weights with the labels that they are of, or without any in the order of the classes."""
    if given is None or given == "balanced":
        return None
    if isinstance(given, str):
        raise ValueError(f"class_weight: expected 'balanced', weights, or labels with their weights, got {given!r}")
    if isinstance(given, Mapping):
        return [(_text(label), _number("class_weight", weight)) for label, weight in given.items()]
    if not hasattr(given, "__iter__"):
        raise ValueError(f"class_weight: expected 'balanced', or labels with their weights as {{1: {given!r}}}, got {given!r}")
    return [(None, _number("class_weight", weight)) for weight in given]


def _with_labels(
    data: Any, labels: ArrayLike | None, label: str | None, ignore: Sequence[str]
) -> tuple[bool, list[str], frames.Columns, str | None]:
    """Whether rows have names of columns, and which; the labels as a column beside them, where they are given; and the label column."""
    named = frames.is_frame(data)
    taken = frames.names_of(data) if named else []
    more: frames.Columns = []
    if labels is not None:
        if label is not None:
            raise ValueError("label, labels: one of the two, not both")
        if isinstance(labels, str):
            raise ValueError(f"labels: expected values; a column of the rows is named by label={labels!r}")
        label = frames.free_name("label", taken)
        more.append(_column(label, "labels", labels))
        _warn_of_copies(data, taken, [str(name) for name in ignore], labels)
    elif not named:
        raise ValueError("labels: rows without names of columns need labels beside them")
    return named, taken, more, label


def _reading(
    named: bool, label: str | None, positive: Any, missing: str, categorical: Sequence[str], ignore: list[str], keep_identifiers: bool | None,
    *, scale: str | None = None, encode: str | None = None, group: Sequence[str] = (), weight: str | None = None,
    order: str | None = None, cluster: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What is made of the columns, as the core has it."""
    _check_texts(missing=missing)
    _check_texts(optional=True, label=label, scale=scale, encode=encode, weight=weight, order=order, cluster=cluster)
    return {
        "label": label,
        "positive": _positive(positive),
        "scale": scale,
        "encode": encode,
        "missing": missing,
        "categorical": [str(name) for name in categorical],
        "group": list(group),
        "weight": weight,
        "ignore": ignore,
        "keep_identifiers": not named if keep_identifiers is None else bool(keep_identifiers),
        "order": order,
        "cluster": cluster,
    }


def _check_texts(*, optional: bool = False, **given: Any) -> None:
    """Refuses what is no text."""
    for name, value in given.items():
        if not isinstance(value, str) and not (optional and value is None):
            raise TypeError(f"{name}: expected a text, got {value if value is None else type(value).__name__}")


def _number(name: str, value: Any, *, whole: bool = False) -> Any:
    """A number, of type int or float."""
    try:
        number = float(value)
        if not whole:
            return number
        if number.is_integer() and 0 <= int(value) < 2**64:
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    expected = "a whole number from 0 to 2^64 - 1" if whole else "a number"
    got = repr(value)[:40] if isinstance(value, (int, float, str, type(None))) else type(value).__name__
    raise TypeError(f"{name}: expected {expected}, got {got}")


def _warn_of_copies(data: Any, taken: list[str], ignore: list[str], labels: Any) -> None:
    """Warns of a column that is the labels, as a frame has that still holds its label."""
    if not taken or frames.is_file(data) or hasattr(labels, "__arrow_c_array__"):
        return
    own = np.asarray(labels)
    for at, name in enumerate(taken):
        try:
            column = np.asarray(data.iloc[:, at] if frames.is_pandas(data) else data[name])
            same = name not in ignore and column.shape == own.shape and bool((column[:50] == own[:50]).all() and (column == own).all())
        except (TypeError, ValueError, KeyError):
            continue
        if same:
            _warn(
                f"column {name!r} has the values of the labels, and is trained on: pass label={name!r} instead of labels, or ignore=[{name!r}]"
            )


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if number.is_integer() and abs(number) < 1e15:
            return str(int(number))
    return str(value)


def _column(name: str, what: str, values: Any) -> tuple[str, Any]:
    """A column of one's own beside those of the rows."""
    return name, frames.column(what, _vector(what, values))


def _moments(name: str, what: str, values: Any) -> tuple[str, Any]:
    """The same, of texts as dates."""
    found = _column(name, what, values)
    if isinstance(found[1], list):
        try:
            with warnings.catch_warnings():
                # (Of zones, which it has taken off.)
                warnings.simplefilter("ignore")
                found = _column(name, what, np.array(found[1], "datetime64[us]"))
        except ValueError:
            raise ValueError(f"{what}: expected numbers, dates, or texts as \"2024-05-31\"; pandas.to_datetime reads others") from None
    return found


def _texts(name: str, what: str, values: Any) -> tuple[str, Any]:
    """The same as texts."""
    of = frames.column(what, _vector(what, values))
    if isinstance(of, tuple) and of[0] != "whole":
        of = list(_vector(what, values))
    if isinstance(of, list) and all(isinstance(one, str) or one is None for one in of):
        return name, of
    return name, [None if frames.is_missing(value) else _text(value) for value in _vector(what, values)]


def _rows(data: Any, more: frames.Columns) -> Any:
    """Rows with as many values in each column beside them."""
    if not frames.is_frame(data) and not frames.is_sparse(data):
        data = np.asarray(data)
    rows = data.shape[0] if hasattr(data, "shape") else None
    if isinstance(data, dict) and not frames.is_sparse(data) and data:
        rows = len(next(iter(data.values())))
    for name, values in more:
        if rows is not None and frames.length(values) != rows:
            called = name.rstrip("_")
            raise ValueError(f"{called if called == 'order' else called + 's'}: {frames.length(values)} values for {rows} rows")
    return data


def _vector(name: str, values: Any) -> Any:
    """Something of one dimension."""
    if frames.is_pandas(values) or hasattr(values, "tolist"):
        shape = getattr(values, "shape", None)
        if shape is not None and len(shape) == 2 and shape[1] == 1:
            raise ValueError(f"{name}: 2 dimensions, expected 1; pass values.ravel()")
        if shape is not None and len(shape) != 1:
            raise ValueError(f"{name}: {len(shape)} dimensions, expected 1")
        return values
    if not hasattr(values, "__iter__"):
        raise TypeError(f"{name}: expected values, got {type(values).__name__}")
    return list(values)


def train(
    data: Any,
    labels: ArrayLike | None = None,
    *,
    progress: bool = False,
    callback: Callable[[Trainer], object] | None = None,
    **options: Unpack[Arguments],
) -> Model:
    """Train a model.

    Parameters
    ----------
    data : array of shape (n, d), SciPy sparse matrix, frame, or path
        Frames of pandas, polars, Arrow, and dicts of columns; CSV, LIBSVM and Parquet files. Texts are categories, dates days since
        1970, times of the day and durations days, booleans 0 and 1.
    labels : array of shape (n,), optional
        Booleans, numbers or texts. Without it the frame's column `label`, or the first that is called ``label``, ``target``,
        ``class`` or ``y``.
    method : str, optional
        Any of `undercurve.methods()`. Default: cross-entropy, ``"ce-exact"`` for linear models, else ``"ce"``.
    model : str
        ``"linear"``, or ``"mlp:64,64"`` with the widths of the hidden layers (``"mlp-tanh:16"``).
    label, positive, target
        The label column; the label that counts as positive, or several; ``"classes"`` or ``"values"`` for targets that are not of
        two classes.
    weights, groups : array, or names of columns
        What each row counts; the groups of constraints.
    constraints, objective, preset
        What must hold of the model, as ``["recall >= 0.8", "gap(tpr) <= 0.05"]``; of methods of groups what is minimised;
        settings by name.
    test : frame, or (rows, labels), optional
        Held-out rows for reports.
    valid : float, frame, or (rows, labels), optional
        Rows that choose the model, its threshold and its probabilities, and are not trained on: a share drawn from the rows, or your own.
    metric, patience, threshold, calibrate
        What the best model is best in; after how many looks without a better one to stop; the rule of the threshold, as in
        `undercurve.decide` (default: no threshold; where it promises, the last model is kept); how scores become probabilities.
    fpr : (low, high) or float
        Range of false-positive rates of partial AUC; a number is its end.
    steps, passes, seed, init, dtype
        Length in steps or in passes over the rows; the seed; where networks begin; number type of the run.
    scale, encode, missing, categorical, na, skip, encoding, ignore, keep_identifiers
        Preparation of the rows, as on the command line; `na`, `skip` (lines before the names) and `encoding` of files alone.
    class_weight : "balanced", mapping of labels to weights, or one weight for each class
        What a row of each class counts; a label that a mapping does not name counts 1.
    start : Model, optional
        Where to begin.
    progress, callback
        As in `Trainer.run`.
    **settings
        Settings of the method, as ``lr=0.1``; ``-`` becomes ``_``.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        For what does not fit, with the row and the column.

    Warns
    -----
    TrainingWarning
        Where the model has learned little or nothing, with what to try; where no threshold keeps the rule.

    Examples
    --------
    >>> import numpy as np, undercurve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = X[:, 0] + rng.normal(size=500) > 1.5
    >>> model = undercurve.train(X, y, method="ap-exact")
    >>> model.evaluate(X, y).auroc > 0.8
    True
    """
    return Trainer(data, labels, **options).run(progress=progress, callback=callback)


def _as_trainer() -> None:
    """`train` has the arguments of `Trainer`, for help and completion."""
    of = [one for name, one in signature(Trainer.__init__).parameters.items() if name != "self"]
    own = [signature(train).parameters[name] for name in ("progress", "callback")]
    named = [one for one in of if one.kind is not Parameter.VAR_KEYWORD]
    train.__signature__ = signature(train).replace(parameters=[*named, *own, *of[len(named):]])  # type: ignore[attr-defined]


_as_trainer()
