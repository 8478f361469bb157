"""Training for the area under the curve: exact ranking losses, metrics and models.

>>> import numpy as np, undercurve
>>> scores, labels = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1])
>>> undercurve.metrics(scores, labels).auroc
0.75
"""

from ._core import METRICS, __version__, methods
from .curves import Curves, curves
from .decisions import Decision, decide
from .losses import Loss
from .metrics import Comparison, Difference, Measured, Metrics, auroc, average_precision, compare, metrics, partial_auc
from .models import Model, Trainer, TrainingWarning, load, train
from .preparations import ColumnStats, Preparation
from .search import Auto, Tried, auto
from .states import State

__all__ = [
    "Auto",
    "ColumnStats",
    "Comparison",
    "Curves",
    "Decision",
    "Difference",
    "Loss",
    "METRICS",
    "Measured",
    "Metrics",
    "Model",
    "Preparation",
    "State",
    "Trainer",
    "TrainingWarning",
    "Tried",
    "__version__",
    "auroc",
    "auto",
    "average_precision",
    "compare",
    "curves",
    "decide",
    "load",
    "methods",
    "metrics",
    "partial_auc",
    "train",
]
