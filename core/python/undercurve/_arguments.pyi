"""Types of arguments, written by tests/test_arguments_typed.py: of methods and settings by the registry, of others by `Trainer`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from numpy.typing import ArrayLike

from .models import Model, Range

MethodName = Literal["adam-sum", "agd-sbcd", "ai-sarah", "alexr2", "ap-exact", "auc-exact", "auc-margin", "auc-pairwise", "bounded-ai-sarah", "cb-ce", "ce", "ce-balanced", "ce-exact", "dca", "fast-ap", "focal", "icppac", "lagrange", "ldam", "min-max-ap", "momentum-sum", "msvr", "oauc", "ooa", "pauc-exact", "pauc-minibatch", "pauc-threshold", "pga", "ppd-adagrad", "ppd-sg", "proximal-dca", "sarah", "sarah+", "smooth-ap", "soap", "sonex", "sonx", "sopa", "sopa-s", "sorr", "sota-s", "sox", "svm-pauc-tight", "svrg", "theoretical-ai-sarah", "top"]

class Settings(TypedDict, total=False):
    aim: float
    alpha: float | Literal["1/L"]
    alpha_max: float | Literal["4/L"]
    alpha_min: float | Literal["1/L"]
    anchors: int
    answer: Literal["last", "mean", "stage"]
    batch: int
    beta: float
    beta1: float
    beta2: float
    bias: Literal["free", "penalised"]
    bins: int
    blocks: Literal["cells", "groups"]
    c: float | Literal["auto"]
    choose: Literal["ap", "auroc", "least", "one-se", "pauc"]
    correction: float
    decay: float | Literal["auto"]
    decay_to: Literal["start", "zero"]
    defer: int | Literal["auto"]
    delta: float
    dual_lr: float
    dual_radius: float
    eps: float
    eta: float
    first: Literal["estimate", "zero"]
    focus: float
    folds: int
    form: Literal["joint", "per-class"]
    from_: float
    gamma: float
    gamma_outer: float
    inner: float | Literal["n/16", "n/batch"]
    inner_lr: float
    l_tilde: float
    lambda_: float | Literal["1/n"]
    link: Literal["identity", "sigmoid"]
    loss: Literal["absolute", "least-squares", "logistic", "squared-hinge"]
    lr: float | Literal["auto"]
    margin: float
    memory: int
    mu: float
    negatives: int | Literal["auto"]
    optimizer: Literal["adagrad", "adam", "adam-plain", "agd-sbcd", "alexr2", "amsgrad", "cutting-plane", "dca", "icppac", "lagrange", "lbfgs", "momentum", "msvr", "oauc", "ooa", "pesg", "pga", "ppd-adagrad", "ppd-sg", "sgd", "sonex"]
    penalty: float
    per_cell: int
    planes: int
    positives: int | Literal["auto"]
    pretrain: int | Literal["auto"]
    pretrain_lr: float | Literal["auto"]
    prior: Literal["known", "online", "online-exact"]
    prox: float
    pull: float
    radius: float
    relax: float
    reset: int
    restart: Literal["auto", "last", "none"]
    sampling: Literal["importance", "stratified", "uniform"]
    schedule: Literal["changing", "constant", "cosine", "linear", "practice", "steps", "theory"]
    share: float
    smoothing: float
    smoothness: float
    stage: float | Literal["auto"]
    stage_factor: float
    stages: Literal["data", "fixed"]
    step: Literal["adam", "momentum", "sgd"]
    stop: float
    surrogate: Literal["exponential", "hinge", "logistic", "ramp", "sigmoid", "smoothed-hinge", "square", "squared-hinge"]
    tau: float
    temperature: float
    theta: float
    thresholds: Literal["pooled", "raw"]
    to: float
    tolerance: float
    tpr: float
    u: Literal["new", "old"]
    u0: float
    units: Literal["balanced", "ranks", "raw", "shares"]

class Arguments(Settings, total=False):
    method: MethodName | None
    model: str
    label: str | None
    positive: str | float | Sequence[str] | None
    target: Literal["binary", "classes", "values"] | None
    weights: ArrayLike | str | None
    groups: ArrayLike | str | Sequence[str] | None
    constraints: Sequence[str]
    objective: str | None
    preset: str | None
    test: Any
    valid: Any
    metric: str | None
    patience: int | None
    threshold: str | float | None
    calibrate: Literal["none", "platt", "isotonic", "beta", "auto"] | None
    fpr: Range | float
    steps: int | None
    passes: float | None
    seed: int
    scale: Literal["none", "standard", "unit", "robust", "rank"] | None
    encode: str | None
    missing: Literal["error", "impute"]
    categorical: Sequence[str]
    na: Sequence[str]
    skip: int
    encoding: Literal["utf8", "latin1"]
    ignore: Sequence[str]
    keep_identifiers: bool | None
    class_weight: Literal["balanced"] | Mapping[Any, float] | Sequence[float] | None
    init: Literal["auto", "linear", "random"]
    dtype: Literal["float32", "float64"]
    start: Model | None
