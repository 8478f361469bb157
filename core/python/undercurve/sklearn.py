"""An estimator for scikit-learn, and scorers."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import arguments, frames
from .metrics import partial_auc
from .models import Model, Trainer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._arguments import MethodName, Settings


# Arguments of `undercurve.train` that scikit-learn calls otherwise.
_HERE = {"seed": "random_state", "weights": "sample_weight, an argument of fit,", "positive": "pos_label", "test": "score"}


def _check(name: str) -> None:
    """Refuses what is no setting."""
    if name in _HERE:
        raise ValueError(f"{name}: is called {_HERE[name]} here")
    if name not in arguments.settings_of():
        raise ValueError(arguments.unknown(name, RankingClassifier.__init__))


class RankingClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of two classes that is trained to rank.

    Parameters
    ----------
    method : str, optional
        Any method of two classes of `undercurve.methods()`. Default: cross-entropy, ``"ce-exact"`` for linear models, else ``"ce"``.
    model : str
        ``"linear"``, or ``"mlp:64,64"`` with the widths of the hidden layers.
    steps, passes, random_state
        Length in steps or in passes over the rows; the seed (None is 1: runs are repeatable).
    fpr : (low, high)
        Range of false-positive rates of partial AUC.
    threshold : str or float, optional
        The rule that `predict` decides by, as ``"fpr<=0.05"`` or ``"precision>=0.9"``, or a score. Default: a
        probability of one half, where there are probabilities; else the least cost, where an error costs the weight of its
        class, or 1.
    valid : float, optional
        Share of the rows that choose the model, its threshold and its probabilities, and are not trained on.
    patience : int, optional
        With `valid`: training ends after so many of about twenty looks without a better model.
    calibrate : {"none", "platt", "isotonic", "beta", "auto"}, optional
        How scores become probabilities, on the rows of `valid`, else on those of training. Default: as the likelihood of the method says; of one
        that only ranks by Platt's curve of the rows of `valid`, else of three folds, whose trainings cost as much again twice (``"none"`` leaves
        that out, and there is no `predict_proba`).
    scale, encode, missing, dtype, constraints, objective
        As in `undercurve.train`. The groups of constraints are an argument of `fit`.
    class_weight : "balanced" or dict, optional
        Weights of the classes.
    pos_label : optional
        The label that counts as positive. Default: of numbers the larger; of texts yes, true or positive, else the rarer.
    settings : dict, optional
        Settings of the method, as ``{"lr": 0.1}``.
    **named
        The same by name, as ``lr=0.1``: parameters of the estimator, which searches may set.

    Attributes
    ----------
    model_ : undercurve.Model
    classes_ : array of shape (2,)
    n_features_in_ : int
    threshold_ : float or None
        Scores from here up predict the positive class.
    coef_, intercept_ : array of shape (1, d), array of shape (1,)
        Of linear models of columns of numbers: ``decision_function(X)`` is ``X @ coef_[0] + intercept_``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from undercurve.sklearn import RankingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> RankingClassifier(method="ap-exact").fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        method: MethodName | None = None,
        *,
        model: str = "linear",
        steps: int | None = None,
        passes: float | None = None,
        random_state: int | None = None,
        fpr: tuple[float, float] = (0.0, 0.05),
        threshold: str | float | None = None,
        valid: float | None = None,
        patience: int | None = None,
        calibrate: str | None = None,
        scale: str | None = None,
        encode: str | None = None,
        missing: str = "error",
        dtype: str = "float32",
        class_weight: Any = None,
        pos_label: Any = None,
        constraints: Any = (),
        objective: str | None = None,
        settings: dict[str, Any] | None = None,
        **named: Unpack[Settings],
    ) -> None:
        self.method = method
        self.model = model
        self.steps = steps
        self.passes = passes
        self.random_state = random_state
        self.fpr = fpr
        self.threshold = threshold
        self.valid = valid
        self.patience = patience
        self.calibrate = calibrate
        self.scale = scale
        self.encode = encode
        self.missing = missing
        self.dtype = dtype
        self.class_weight = class_weight
        self.pos_label = pos_label
        self.constraints = constraints
        self.objective = objective
        self.settings = settings
        # (An unknown name is refused by `fit`, as every wrong value is.)
        for name, value in named.items():
            setattr(self, name, value)

    def _named(self) -> dict[str, Any]:
        """The settings that were given by name."""
        own = self._get_param_names()
        given = {name: value for name, value in vars(self).items() if name not in own and not name.startswith("_")}
        return {name: value for name, value in given.items() if not name.endswith("_") or name in arguments.settings_of()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, with the settings that were named."""
        return super().get_params(deep) | self._named()

    def set_params(self, **params: Any) -> RankingClassifier:
        """Set parameters, and settings of the method as ``lr=0.1`` or ``settings__lr=0.1``."""
        for name, value in params.items():
            name = name.removeprefix("settings__")
            if name not in self.get_params():
                _check(name)
            setattr(self, name, value)
        return self

    def _rows(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        """Checked as scikit-learn checks them; frames keep their texts."""
        mixed = frames.is_frame(X) and (not frames.is_pandas(X) or not all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes))
        options: dict[str, Any] = {
            "accept_sparse": "csr",
            "dtype": None if mixed else "numeric",
            "ensure_all_finite": "allow-nan" if self.missing == "impute" else True,
        }
        if mixed:
            options["skip_check_array"] = True
        checked = validate_data(self, X, **({"y": y} if reset else {}), reset=reset, **options)
        if mixed:
            return (X, np.asarray(y)) if reset else X
        return checked

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> RankingClassifier:
        """Train.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
        y : array of shape (n,), of two different labels
            scikit-learn's own scorers take the second of `classes_` for the positive one.
        sample_weight : array of shape (n,), optional
        groups : array of shape (n,), optional
            The group of each row, of `constraints` (``set_fit_request(groups=True)`` routes it).
        """
        for name in self._named():
            _check(name)
        X, y = self._rows(X, y, reset=True)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            if kind.startswith("continuous"):
                raise ValueError(f"Unknown label type: {kind}. Labels of two classes are expected.")
            if kind.startswith("multi"):
                raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_, labels = np.unique(y, return_inverse=True)
        # (Of texts as `train` has it; scikit-learn's second class is the positive one of numbers.)
        self._first = len(self.classes_) == 2 and _first_is_positive(self.classes_.tolist(), np.bincount(labels, minlength=2))
        if self.pos_label is not None:
            if self.pos_label not in self.classes_:
                raise ValueError(f"pos_label: {self.pos_label!r} is none of the labels, {', '.join(map(repr, self.classes_.tolist()))}")
            self._first = bool(self.classes_[0] == self.pos_label)
        labels = 1 - labels if self._first else labels
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_}")
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. There are {len(self.classes_)} classes.")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        weights = self.class_weight
        if isinstance(weights, dict):
            weights = [float(weights.get(label, 1.0)) for label in self.classes_.tolist()]
            weights = weights[::-1] if self._first else weights
        threshold = self.threshold
        if threshold is None:
            counts = np.bincount(labels, sample_weight, 2)
            costs = [1.0, 1.0] if weights is None else weights
            if isinstance(weights, str):
                costs = [float(cost) for cost in counts.sum() / (2 * counts)]
            threshold = f"costs:{costs[0]:.17g}:{costs[1]:.17g}"
        seed = self.random_state
        if seed is not None and not isinstance(seed, (int, np.integer)):
            seed = int(seed.randint(2**31))
        options: dict[str, Any] = dict(
            method=self.method,
            model=self.model,
            steps=self.steps,
            passes=self.passes,
            seed=1 if seed is None else int(seed),
            fpr=self.fpr,
            valid=self.valid,
            patience=self.patience,
            calibrate=self.calibrate,
            scale=self.scale,
            encode=self.encode,
            missing=self.missing,
            dtype=self.dtype,
            keep_identifiers=True,
            constraints=self.constraints,
            objective=self.objective,
            **{**(self.settings or {}), **self._named()},
        )
        run = Trainer(X, labels, threshold=threshold, class_weight=weights, weights=sample_weight, groups=groups, **options)
        self.model_ = run.run()
        if self.calibrate is None and not self.model_.has_probabilities:
            counted = compute_sample_weight("balanced" if isinstance(weights, str) else None if weights is None else dict(enumerate(weights)), labels)
            counted = counted if sample_weight is None else counted * sample_weight
            self.model_ = _cross_fitted(self.model_, X, labels, counted, groups, options | {"class_weight": weights}, sample_weight)
        self.threshold_ = self.model_.threshold
        if self.threshold is None and self.model_.has_probabilities:
            self.threshold_ = _where(self.model_, 0.5)
        self.n_iter_ = max(1, run.steps_done)
        return self

    def decision_function(self, X: Any) -> Any:
        """How far the score of each row is past the threshold: above 0 it predicts the second of `classes_`."""
        check_is_fitted(self)
        scores = self.model_.scores(self._rows(X, reset=False)).astype(np.float64)
        threshold = self.threshold_
        if threshold is None:
            raise ValueError(f"threshold: none keeps {self.threshold!r} on the rows it is chosen on; choose another rule")
        if self._first:
            return threshold - scores
        # (A score that is the threshold reaches it.)
        return scores - np.nextafter(threshold, -np.inf) if np.isfinite(threshold) else scores - threshold

    def predict(self, X: Any) -> Any:
        """The positive class for each row whose score reaches the model's threshold, else the other."""
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _has_probabilities(self) -> bool:
        if hasattr(self, "model_"):
            there = self.model_.has_probabilities
        else:
            there = self.method in (None, "ce", "ce-exact") or self.calibrate != "none"
        if not there:
            raise AttributeError(f"{self.method} only ranks, and calibrate=\"none\" asks for no probabilities; without it there is predict_proba")
        return True

    def _line(self) -> tuple[Any, float]:
        """The slopes and the constant of `decision_function`."""
        check_is_fitted(self)
        encoded = self.model_.about()["encoded"]
        if self.model_.architecture != "linear" or len(encoded) != self.n_features_in_ or self.scale in ("unit", "rank") or self.threshold_ is None:
            raise AttributeError("coef_: of a linear model of columns of numbers, not scaled by row or rank")
        weights = self.model_.params().astype(np.float64)
        slopes = weights[:-1] / np.array([divisor for _, _, divisor in encoded])
        at = weights[-1] - slopes @ np.array([shift for _, shift, _ in encoded]) - self.threshold_
        return (-slopes, -at) if self._first else (slopes, at)

    @property
    def coef_(self) -> Any:
        return self._line()[0].reshape(1, -1)

    @property
    def intercept_(self) -> Any:
        return np.array([self._line()[1]])

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, of shape (n, 2); of calibrated scores and methods of likelihoods."""
        check_is_fitted(self)
        positive = self.model_.probabilities(self._rows(X, reset=False))
        both = [positive, 1.0 - positive] if self._first else [1.0 - positive, positive]
        return np.column_stack(both)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "impute"
        return tags


def _cross_fitted(model: Model, X: Any, labels: Any, counted: Any, groups: Any, options: dict[str, Any], weights: Any) -> Model:
    """The model with probabilities of scores that others, trained without a fold, give to its rows."""
    own = model.scores(X).astype(np.float64)
    scores, folds = own.copy(), min(3, *np.bincount(labels))
    split = StratifiedKFold(folds, shuffle=True, random_state=options["seed"] % 2**32).split(labels, labels) if folds > 1 else ()
    for kept, out in split:
        part = {name: None if of is None else np.asarray(of)[kept] for name, of in (("weights", weights), ("groups", groups))}
        # (A fold may lack a group, or have too few rows for the method: its scores are those of the model then.)
        with warnings.catch_warnings(), contextlib.suppress(ValueError):
            warnings.simplefilter("ignore")
            one = Trainer(_some(X, kept), labels[kept], **options, **part).run()
            held = one.scores(_some(X, out)).astype(np.float64)
            # (Losses of differences leave the bias to chance.)
            scores[out] = held + own[out].mean() - held.mean()
    return Model(model._core.calibrated(scores, labels, counted))


def _some(X: Any, rows: Any) -> Any:
    """Some of the rows."""
    return {name: _safe_indexing(of, rows) for name, of in X.items()} if isinstance(X, dict) else _safe_indexing(X, rows)


def _first_is_positive(classes: list[Any], counts: Any) -> bool:
    """Whether of two labels the first is the positive one, by the rule of `train`."""
    if not all(isinstance(label, str) for label in classes):
        return False
    words = [label.lower() for label in classes]
    for positive, negative in (("yes", "no"), ("true", "false"), ("positive", "negative"), ("y", "n"), ("t", "f")):
        if sorted(words) == sorted((positive, negative)):
            return words[0] == positive
    return bool(counts[0] < counts[1])


def _where(model: Model, share: float) -> float:
    """The lowest score with this probability or a higher one."""

    def above(score: float) -> bool:
        found = model._core.probabilities([score])
        return found is not None and found[0] >= share

    low, high = -1.0, 1.0
    while above(low) and low > -1e30:
        low *= 2
    while not above(high) and high < 1e30:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if above(middle) else (middle, high)
    return high


def pauc_scorer(fpr: tuple[float, float] = (0.0, 0.05)) -> Any:
    """A scorer of partial AUC over a range of false-positive rates, for ``scoring=``.

    Examples
    --------
    >>> from undercurve.sklearn import pauc_scorer
    >>> pauc_scorer((0, 0.1))  # doctest: +ELLIPSIS
    make_scorer(...)
    """
    return make_scorer(_pauc, response_method=("decision_function", "predict_proba"), fpr=fpr)


def _pauc(y: Any, scores: Any, fpr: tuple[float, float], sample_weight: Any = None) -> float:
    return partial_auc(scores, np.asarray(y) == np.max(y), sample_weight, fpr=fpr)
