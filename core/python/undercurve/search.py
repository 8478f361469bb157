"""From rows to the model that pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from . import _core, frames, models
from ._html import table, text
from .metrics import Metrics, metrics
from .models import Model


@dataclass(frozen=True)
class Tried:
    """A candidate on the folds.

    Attributes
    ----------
    name, options : str
        What it is called, and the options of ``undercurve train`` that make it.
    values : list of float
        The metric on each fold; on the first two alone where it was `dropped`.
    mean, sd, seconds : float
        Of the values; of one training.
    ahead, interval
        How far it is ahead of the first candidate, with a 95 % interval by the paired t of Nadeau and Bengio (2003).
    """

    name: str
    options: str
    values: list[float]
    mean: float
    sd: float
    seconds: float
    dropped: bool
    ahead: float | None
    interval: tuple[float, float] | None

    def _told(self) -> str:
        if self.dropped:
            return f"dropped after {len(self.values)} folds"
        if self.ahead is None or self.interval is None:
            return ""
        return f"{self.ahead:+.4f} [{self.interval[0]:+.4f}, {self.interval[1]:+.4f}]"


@dataclass(frozen=True, eq=False)
class Auto:
    """What `auto` found.

    Attributes
    ----------
    model : Model
        The candidate that was taken, trained on all rows.
    tried : list of Tried
        The simplest first.
    taken, verdict : str
        Its name, and why.
    signal : bool
        Whether its mean over the folds can be told from that of scores at random.
    importances : dict
        Of each column what the metric loses on the rows of a fold when the column is shuffled, and the deviation over five shuffles (0 of one
        shuffle, with more than 50 columns); the most first.
    metric, fpr
        What was compared: ``"ap"``, ``"auroc"`` or ``"pauc"`` over these false-positive rates.
    rows, folds, scores, labels : array of shape (n,)
        Of every row that was held out its number, its fold, its score by the model that did not see it, and whether it is positive.
    """

    model: Model
    tried: list[Tried]
    taken: str
    verdict: str
    signal: bool
    importances: dict[str, tuple[float, float]]
    metric: str
    fpr: tuple[float, float]
    rows: NDArray[Any]
    folds: NDArray[Any]
    scores: NDArray[Any]
    labels: NDArray[Any]
    _clusters: list[int]

    def metrics(self) -> Metrics:
        """Exact metrics of the held-out scores, with 95 % intervals."""
        return metrics(self.scores, self.labels, fpr=self.fpr, intervals=True, clusters=self._clusters or None)

    def __repr__(self) -> str:
        width = max(len(one.name) for one in self.tried)
        lines = [f"{'tried':{width}}  {self.metric} ± sd over the folds  ahead of the first [95 %]"]
        lines += [f"{one.name:{width}}  {one.mean:.4f} ± {one.sd:.4f}  {one._told()}".rstrip() for one in self.tried]
        lines += ["", self.verdict, "", text("held-out rows", self._held_out())]
        return "\n".join(lines + (["", text(f"what {self.metric} loses without", self._lost())] if self.importances else []))

    def _held_out(self) -> list[tuple[str, object]]:
        at = self.model.threshold
        return [*self.metrics()._rows(), *([] if at is None else [("threshold", f"{at:.6g}")])]

    def _lost(self) -> list[tuple[str, object]]:
        # (A column that was shuffled once, or that the model does not read, has no deviation.)
        return [(name, f"{loss:.4f}" + (f" ± {sd:.4f}" if sd else "")) for name, (loss, sd) in [*self.importances.items()][:10]]

    def _repr_html_(self) -> str:
        from html import escape

        body = "".join(
            f"<tr><td style='text-align:left'>{escape(one.name)}</td><td>{one.mean:.4f} ± {one.sd:.4f}</td><td>{escape(one._told())}</td></tr>"
            for one in self.tried
        )
        head = f"<tr><th style='text-align:left'>tried</th><th>{self.metric} ± sd</th><th>ahead of the first [95 %]</th></tr>"
        lost = table(f"What {self.metric} loses without", self._lost()) if self.importances else ""
        return f"<table>{head}{body}</table><p>{escape(self.verdict)}</p>{table('Held-out rows', self._held_out())}{lost}"


def auto(
    data: Any,
    labels: ArrayLike | None = None,
    *,
    want: str = "ap",
    threshold: str | float | None = None,
    label: str | None = None,
    positive: str | float | Sequence[str] | None = None,
    clusters: ArrayLike | str | None = None,
    order: ArrayLike | str | None = None,
    folds: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    missing: Literal["error", "impute"] = "impute",
    categorical: Sequence[str] = (),
    na: Sequence[str] = (),
    skip: int = 0,
    encoding: Literal["utf8", "latin1"] = "utf8",
    ignore: Sequence[str] = (),
    keep_identifiers: bool | None = None,
    progress: bool = False,
) -> Auto:
    """Search the model that pays: models first, then one loss for what is wanted on the best. As ``undercurve auto``.

    Of rows with names of columns it tries a ridge of the columns, of their ranks and of splines, networks of each, the mean of five networks where
    one leads, and a loss for the metric. It takes the simplest that is within noise of the best, and trains it on all rows.

    Parameters
    ----------
    data, labels, label, positive, missing, categorical, na, skip, encoding, ignore, keep_identifiers
        As of `undercurve.train`. Labels of two classes.
    want : str
        ``"ap"``, ``"auroc"``, ``"pauc"`` (false-positive rates up to .05), ``"fpr<=0.001"``, ``"100 alerts"`` (of as many rows) or ``"recall@100"``.
    threshold : str or float, optional
        The rule of the model's threshold, chosen on the held-out scores, as of `undercurve.decide`. One that promises needs other rows.
    clusters : array of shape (n,) or the name of a column, optional
        Rows of equal values stay in one fold. No feature.
    order : array of shape (n,) or the name of a column, optional
        Numbers or dates, in an array also texts as ``"2024-05-31"``; each fold is of later rows than those trained on. No feature.
    folds : int, optional
        Default: 5; from 20,000 rows on 3.
    seed : int
        Decides the folds, the start values and the batches. The same result with any number of threads.
    threads : int, optional
        Trainings at a time. Default: one a core.
    progress : bool
        Print what is trained, and how long all will take.

    Returns
    -------
    Auto

    Raises
    ------
    ValueError
        For what does not fit; where a fold would be without a class.

    Warns
    -----
    TrainingWarning
        Where no signal was found, a column gives the label away, or no threshold keeps the rule.

    Notes
    -----
    About 8 s of processor time for 5,000 rows of 20 columns, and 40 s for 50,000; beyond 100,000 rows as many, drawn by class, are searched on.

    Examples
    --------
    >>> import numpy as np, undercurve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> found = undercurve.auto(X, X[:, 0] + rng.normal(size=300) > 1, threshold="recall>=0.8")
    >>> found.signal, found.model.threshold is not None, found.metrics().ap > 0.4
    (True, True, True)
    """
    if not isinstance(want, str):
        raise TypeError(f"want: expected a text, got {type(want).__name__}")
    named, taken, more, label = models._with_labels(data, labels, label, ignore)
    columns: dict[str, str | None] = {"cluster": None, "order": None}
    if clusters is not None and order is not None:
        raise ValueError("clusters, order: one of the two, not both")
    for name, given, make in (("cluster", clusters, models._texts), ("order", order, models._moments)):
        if given is None or isinstance(given, str):
            columns[name] = given
        else:
            columns[name] = frames.free_name(name, taken)
            more.append(make(columns[name] or name, "clusters" if name == "cluster" else name, given))
    if encoding not in ("utf8", "latin1"):
        raise ValueError(f"encoding: expected 'utf8' or 'latin1', got {encoding!r}")
    ignored = [str(name) for name in ignore]
    read = frames.table_of(
        models._rows(data, more), more, label, texts=[str(name) for name in categorical], na=[str(text) for text in na],
        ignore=ignored, skip=models._number("skip", skip, whole=True), latin1=encoding == "latin1",
    )  # fmt: skip
    models._warn_of_reading(read)
    reading = models._reading(named, label, positive, missing, categorical, ignored, keep_identifiers, order=columns["order"], cluster=columns["cluster"])
    asked = {name: None if one is None else models._number(name, one, whole=True) for name, one in (("folds", folds), ("seed", seed), ("threads", threads))}
    rule = None if threshold is None else str(threshold)
    core, found = _core.search(reading, read, {"want": want, "threshold": rule, **asked}, _told() if progress else None)
    model, found["tried"] = Model(core), [Tried(**one) for one in found["tried"]]
    found["importances"] = {name: (loss, sd) for name, loss, sd in found["importances"]}
    of = found.pop("clusters")
    if rule is not None:
        try:
            model = Model(core.with_threshold(rule, found["scores"], found["labels"], None, of or None))
        except ValueError as error:
            models._warn(f"threshold {rule}: {error} (the held-out rows); the model has no threshold")
    models._warn_of_left_out(taken or read.columns, {*model.columns, *ignored, *columns.values(), model._about["label"]})
    for name in found.pop("away"):
        models._warn(f"column {name!r} alone ranks the label almost perfectly: if it is not known when the model has to decide, ignore=[{name!r}]")
    if not found["signal"]:
        models._warn("no signal was found: the mean over the folds cannot be told from that of scores at random")
    return Auto(model=model, _clusters=of, **found)


def _told() -> Callable[[int, int, str, list[str]], None]:
    """Progress in lines."""
    last = (0, 0)

    def told(done: int, all: int, name: str, notes: list[str]) -> None:
        nonlocal last
        for note in notes:
            print(note, flush=True)
        if name and (done, all) != last:
            last = (done, all)
            print(f"{done} of {all} trainings so far: {name}", flush=True)

    return told
