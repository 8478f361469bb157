"""The compiled part; use `undercurve`, which documents it."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "METRICS",
    "__version__",
    "contrastive",
    "Loss",
    "Estimator",
    "State",
    "ColumnStats",
    "Preparation",
    "Worker",
    "Table",
    "Model",
    "Trainer",
    "search",
    "methods",
    "summary",
    "measure",
    "curves",
    "calibration",
    "compare",
    "decide",
]

__version__: str
METRICS: list[tuple[str, str]]

@final
class Loss:
    def __new__(
        cls,
        kind: str,
        surrogate: str | None = None,
        margin: float | None = None,
        scale: float | None = None,
        smoothing: float | None = None,
        fpr: tuple[float, float] = ...,
        tpr: float = 0.0,
        grade: str = "full",
    ) -> Loss: ...
    def arguments(self) -> dict[str, Any]: ...
    def value_grad(
        self,
        scores: npt.ArrayLike,
        labels: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        zero_for_one_class: bool = False,
    ) -> tuple[float, npt.NDArray[Any]]: ...

@final
class Estimator:
    def __new__(
        cls,
        method: str,
        positives: int,
        negatives: int,
        settings: list[tuple[str, str]],
        fpr: tuple[float, float] = ...,
        stratified: bool = False,
        seed: int = 1,
        groups: list[str] = ...,
        constraints: list[str] = ...,
        cells: list[int] = ...,
    ) -> Estimator: ...
    @property
    def has_rows(self) -> bool: ...
    @property
    def aux(self) -> tuple[int, int]: ...
    @property
    def has_duals(self) -> bool: ...
    def ascend(self, duals: npt.NDArray[Any], by_duals: npt.NDArray[Any]) -> None: ...
    def state_len(self, rows: int) -> int: ...
    def update(
        self,
        scores: npt.ArrayLike,
        labels: npt.ArrayLike,
        rows: npt.ArrayLike | None,
        state: npt.NDArray[Any],
        aux: npt.NDArray[Any],
        move_state: bool = True,
        groups: npt.ArrayLike | None = None,
    ) -> tuple[float, npt.NDArray[Any], npt.NDArray[Any]]: ...

def contrastive(
    first: npt.NDArray[Any], second: npt.NDArray[Any], rows: npt.ArrayLike, state: npt.NDArray[Any], temperature: float, gamma: float
) -> tuple[float, npt.NDArray[Any], npt.NDArray[Any]]: ...
@final
class State:
    def __new__(cls) -> State: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> State: ...
    @staticmethod
    def between(positives: State) -> State: ...
    def update(
        self, scores: npt.ArrayLike, labels: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> None: ...
    def merge(self, other: State) -> None: ...
    def to_bytes(self) -> bytes: ...
    @property
    def rows(self) -> int: ...
    def summary(self, fpr: tuple[float, float] = ...) -> dict[str, Any]: ...
    def intervals(self, fpr: tuple[float, float] = ...) -> dict[str, tuple[float, float] | None]: ...
    def curves(self, points: int | None = None) -> dict[str, npt.NDArray[np.float64]]: ...

@final
class ColumnStats:
    def __new__(cls) -> ColumnStats: ...
    @staticmethod
    def of(table: Table, asked: dict[str, Any]) -> ColumnStats: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> ColumnStats: ...
    def merge(self, other: ColumnStats) -> None: ...
    def to_bytes(self) -> bytes: ...
    @property
    def rows(self) -> int: ...
    def finish(self, asked: dict[str, Any]) -> Preparation: ...

@final
class Preparation:
    @staticmethod
    def from_bytes(bytes: bytes) -> Preparation: ...
    def to_bytes(self) -> bytes: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def labels(self) -> tuple[str | None, str | None, list[str]]: ...
    def read(self, path: Any) -> Table: ...
    def encode(self, table: Table, targets: bool) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any] | None]: ...

@final
class Worker:
    def __new__(
        cls,
        loss: Loss,
        rank: int,
        workers: int,
        scores: npt.ArrayLike,
        labels: npt.ArrayLike,
        zero_for_one_class: bool = False,
    ) -> Worker: ...
    def ask(self) -> tuple[str, Any] | None: ...
    def gathered(self, all: list[bytes]) -> None: ...
    def reduced(self, numbers: npt.NDArray[np.int64]) -> None: ...
    def result(self) -> tuple[float, npt.NDArray[Any]]: ...

@final
class Table:
    @staticmethod
    def of_columns(more: list[tuple[str, Any]]) -> Table: ...
    @staticmethod
    def of_matrix(x: npt.ArrayLike, more: list[tuple[str, Any]]) -> Table: ...
    @staticmethod
    def of_csr(
        values: npt.ArrayLike,
        columns: npt.ArrayLike,
        starts: npt.ArrayLike,
        width: int,
        labels: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> Table: ...
    @staticmethod
    def of_arrow(stream: object, more: list[tuple[str, Any]]) -> Table: ...
    @staticmethod
    def of_file(
        path: Any, label: str | None = None, texts: list[str] = ..., na: list[str] = ..., skip: int = 0, latin1: bool = False
    ) -> Table: ...
    @property
    def rows(self) -> int: ...
    @property
    def rounded(self) -> list[str]: ...
    @property
    def unlabelled(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...

@final
class Model:
    @staticmethod
    def of_bytes(bytes: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def read(self, path: Any) -> Table: ...
    def scores(
        self, table: Table, labelled: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None, npt.NDArray[np.float64] | None, list[str]]: ...
    def probabilities(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64] | None: ...
    @property
    def has_probabilities(self) -> bool: ...
    def with_threshold(
        self,
        rule: str,
        scores: npt.ArrayLike,
        labels: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        clusters: list[int] | None = None,
    ) -> Model: ...
    def calibrated(self, scores: npt.ArrayLike, labels: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Model: ...
    def params(self) -> npt.NDArray[Any]: ...
    def about(self) -> dict[str, Any]: ...

@final
class Trainer:
    def __new__(
        cls,
        asked: dict[str, Any],
        table: Table,
        held: tuple[Table | None, Table | None] = ...,
        start: Model | None = None,
        wide: bool = False,
    ) -> Trainer: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def idle_patience(self) -> str | None: ...
    @property
    def steps_done(self) -> int: ...
    @property
    def total_steps(self) -> int: ...
    @property
    def columns(self) -> tuple[list[str], str | None]: ...
    @property
    def method(self) -> str: ...
    @staticmethod
    def resume(changed: dict[str, Any], saved: Model, table: Table, test: Table | None = None) -> Trainer: ...
    def save(self) -> bytes: ...
    def step(self, most: int) -> float | None: ...
    def report(self) -> dict[str, Any]: ...
    def model(self) -> tuple[Model, str | None]: ...
    def judge(self) -> list[dict[str, Any]]: ...

def search(
    reading: dict[str, Any],
    table: Table,
    asked: dict[str, Any],
    told: Callable[[int, int, str, list[str]], None] | None = None,
) -> tuple[Model, dict[str, Any]]: ...
def methods() -> list[dict[str, Any]]: ...
def summary(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    positive: str | None = None,
    weights: npt.ArrayLike | None = None,
    fpr: tuple[float, float] = ...,
) -> dict[str, Any]: ...
def measure(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    asked: dict[str, Any],
    positive: str | None = None,
    weights: npt.ArrayLike | None = None,
) -> dict[str, dict[str, Any]]: ...
def compare(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    labels: npt.ArrayLike,
    asked: dict[str, Any],
    positive: str | None = None,
    weights: npt.ArrayLike | None = None,
) -> dict[str, dict[str, Any]]: ...
def curves(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    positive: str | None = None,
    weights: npt.ArrayLike | None = None,
    points: int | None = None,
) -> dict[str, npt.NDArray[np.float64]]: ...
def decide(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    rule: str,
    positive: str | None = None,
    weights: npt.ArrayLike | None = None,
    clusters: list[int] | None = None,
) -> dict[str, Any]: ...
def calibration(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, positive: str | None = None, weights: npt.ArrayLike | None = None
) -> tuple[float, float]: ...
