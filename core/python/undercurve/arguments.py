"""Names of arguments: the nearest of those there are, and what other libraries call them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from keyword import iskeyword
from typing import Any

from . import _core

# What to write here, and what scikit-learn, LightGBM, XGBoost, CatBoost, Keras, PyTorch and LibAUC call it.
_HERE = {
    "lr": "learning_rate learning_rate_init eta eta0 learn_rate step_size base_lr max_lr lr_init",
    "schedule": "lr_scheduler lr_schedule learning_rate_schedule scheduler decay_schedule",
    "batch": "batch_size minibatch_size mini_batch_size train_batch_size bs",
    "positives and negatives, rows of each class in a batch": "sampling_rate pos_per_batch num_pos batch_size_per_class samples_per_class",
    "passes": "epochs n_epochs num_epochs max_epochs nb_epoch epoch",
    "steps": "max_iter num_steps n_iter iterations num_iterations total_iter max_steps steps_per_epoch num_iter n_steps",
    "tolerance, of methods that go to the minimum (\"auc-exact\")": "tol ftol gtol eps_stop factr",
    "seed": "random_state random_seed rng rng_seed seed_value manual_seed data_random_seed random",
    "weights": "sample_weight sample_weights weight instance_weight case_weights row_weights observation_weights",
    "class_weight": "class_weights scale_pos_weight is_unbalance unbalance auto_class_weights pos_weight weighted",
    "decay": "weight_decay l2 reg_lambda lambda_l2 l2_leaf_reg alpha reg_alpha l2_reg l2_regularization kernel_regularizer penalty_weight",
    "decay, 1/(C times the rows)": "C Cs inverse_regularization",
    "decay (an L2 penalty; others are not there)": "penalty l1 l1_ratio lambda_l1 elastic_net regularization",
    "valid, a share as 0.2, or (rows, labels)": "validation_fraction validation_split validation_data eval_set valid_sets eval_fraction val_size "
    "valid_set validation_size valid_size eval_data dev validation",
    "patience, with valid=0.2": "early_stopping early_stopping_rounds n_iter_no_change early_stopping_round od_wait early_stop stopping_rounds",
    "test": "test_set test_data eval_test holdout test_size",
    "metric": "eval_metric scoring metrics eval_metrics monitor score_func refit_metric",
    "method": "loss objective_function loss_function loss_fn criterion algorithm algo solver boosting_type booster",
    "model, as \"linear\" or \"mlp:64,64\"": "hidden_layer_sizes hidden_units hidden layers units arch architecture network net hidden_dims n_hidden "
    "num_layers estimator base_estimator",
    "model, as \"mlp-tanh:64\"; \"mlp:64\" has ReLU": "activation nonlinearity act",
    "optimizer": "optim opt updater momentum_type",
    "beta1 (optimizer=\"momentum\")": "momentum nesterovs_momentum nesterov",
    "beta1": "beta_1",
    "beta2": "beta_2",
    "eps": "epsilon adam_epsilon",
    "margin": "m margin_size delta",
    "label": "target_column label_column y_column label_col labelcol target_name outcome response",
    "labels": "y y_train target_values y_true",
    "data": "X x X_train train_set dtrain train_data df",
    "positive": "pos_label positive_class pos_class positive_label event_level",
    "groups": "group sensitive_features protected sensitive_attribute group_column",
    "constraints": "constraint fairness_constraint",
    "fpr": "max_fpr fpr_range max_fprs partial_range",
    "fpr, as (0, 0.05)": "fpr_max false_positive_rate",
    "categorical": "categorical_feature cat_features categorical_features enable_categorical categorical_columns cat_cols",
    "ignore": "drop ignore_column exclude drop_columns ignored_features id_columns",
    "missing=\"impute\"": "impute imputer na_option nan_mode missing_values use_missing fill_value handle_missing",
    "na, of files": "na_values null_values null_value",
    "skip, of files": "skiprows skip_rows header_rows",
    "scale": "normalize standardize scaler scaling feature_scaling normalization",
    "encode": "encoder encoding_method basis n_knots bins max_bin n_bins",
    "threshold": "decision_threshold cutoff cut_off thresh",
    "calibrate": "calibration calibrate_method probability calibrator",
    "init": "kernel_initializer initializer init_weights weight_init init_method",
    "start": "init_model warm_start coef_init xgb_model pretrained initial_model checkpoint resume_from",
    "dtype, \"float32\" or \"float64\"": "precision single_precision use_float64 floatx",
    "progress": "verbose verbosity silent verbose_eval show_progress tqdm progress_bar logging_level",
    "callback": "callbacks on_epoch_end on_step",
    "preset": "params parameters config hyperparameters kwargs",
    "surrogate": "surr_loss surrogate_loss pairwise_loss surrogate_name",
    "gamma": "moving_average ema smoothing_factor momentum_u",
}
# What has no counterpart, and why.
_NONE = {
    "threads are those of the pool, RAYON_NUM_THREADS": "n_jobs nthread num_threads thread_count n_threads num_workers workers nthreads",
    "training is on the CPU; undercurve.torch and the command line's --device use a GPU": "device gpu_id task_type use_gpu device_type tree_method cuda",
    "models are linear or networks, and have no trees": "n_estimators num_boost_round num_round max_depth num_leaves subsample colsample_bytree "
    "min_child_weight min_child_samples min_data_in_leaf feature_fraction bagging_fraction bagging_freq max_leaf_nodes min_samples_leaf "
    "min_samples_split n_trees num_trees max_leaves colsample_bylevel colsample_bynode grow_policy max_features depth border_count rsm "
    "min_split_gain min_gain_to_split max_delta_step bagging_temperature random_strength extra_trees path_smooth",
    "networks have no dropout; decay, and valid with patience, keep them from learning by heart": "dropout drop_rate dropout_rate batch_norm "
    "batch_normalization layer_norm",
    "the bias is always there": "fit_intercept intercept_scaling bias use_bias add_intercept",
    "rows are drawn at random in every pass": "shuffle shuffle_buffer drop_last",
    "gradients are not clipped": "clipnorm clipvalue max_grad_norm gradient_clip clip_value global_clipnorm",
    "two classes are told from several by the labels; target=\"classes\" says it": "num_class n_classes multi_class classes_count",
    "ce-exact chooses its penalty by folds itself, and `undercurve.sklearn.RankingClassifier` goes through scikit-learn's cross-validation": "cv n_folds folds nfold n_splits",
}  # fmt: skip

# What other libraries call methods.
_METHODS = {
    "ap": "ap-exact", "average-precision": "ap-exact", "auprc": "ap-exact", "aupr": "ap-exact", "pr-auc": "ap-exact", "prauc": "ap-exact", "auc": "auc-exact", "auroc": "auc-exact", "roc-auc": "auc-exact",
    "pauc": "pauc-exact", "bce": "ce", "cross-entropy": "ce", "logistic": "ce-exact", "log-loss": "ce", "logloss": "ce", "aucm": "auc-margin",
    "binary-crossentropy": "ce", "binary:logistic": "ce", "binary": "ce", "logistic-regression": "ce-exact", "lr": "ce-exact",
}  # fmt: skip


@cache
def _foreign() -> dict[str, str]:
    """What to say of a name of another library."""
    here = {name: f"is called {word} here" for word, names in _HERE.items() for name in names.split()}
    return here | {name: f"has no counterpart here: {why}" for why, names in _NONE.items() for name in names.split()}


def foreign(name: str) -> str | None:
    """What to say of a name of another library."""
    return f"{name}: {_foreign()[name]}" if name in _foreign() else None


@cache
def settings_of(method: str | None = None) -> frozenset[str]:
    """The settings of a method, or of all, as Python has them."""
    return frozenset(as_argument(name) for one in _core.methods() if method in (None, one["name"]) for name in one["domains"])


def as_argument(name: str) -> str:
    """A setting as an argument: a word of Python's own has ``_`` behind it."""
    name = name.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def settings(given: dict[str, Any], of: Callable[..., Any], text: Callable[[Any], str]) -> list[tuple[str, str]]:
    """Settings as the core names them.

    Raises
    ------
    ValueError
        For a name that is no setting of any method and no argument of `of`, with what it is called here or the nearest.
    """
    for name in given:
        if as_argument(name.rstrip("_")) not in settings_of():
            raise ValueError(unknown(name, of))
    return [(name.rstrip("_").replace("_", "-"), text(value)) for name, value in given.items()]


def unknown(name: str, of: Callable[..., Any]) -> str:
    """What to say of an argument that a function does not have."""
    own = [one for one in inspect.signature(of).parameters if one not in ("self", "settings", "options", "named")]
    own += ["progress", "callback"] if "start" in own else []  # (of `train`)
    if said := foreign(name):
        word = re.match("is called ([a-z0-9_]+)", _foreign()[name])
        there = word is None or word[1] in {*own, *settings_of()}
        return said if there else f"{name}: is called {word[1]} in undercurve.train, and is not there here"
    close = near(name, [*own, *settings_of()])
    ask = f"; did you mean {close}?" if close else "; help(undercurve.train) lists the arguments, undercurve.methods() the settings"
    return f"{name}: no argument and no setting has this name{ask}"


def near(word: str, names: Iterable[str]) -> str | None:
    """The nearest of some names, if one is near."""
    names = list(names)
    found = get_close_matches(word.lower(), names, 1, 0.65)
    # (Words that say more than the name: `validation_split` for `valid`.)
    return found[0] if found else next((one for one in names if len(one) > 3 and word.lower().startswith(one)), None)


def method_meant(word: str) -> str | None:
    """The method that somebody means."""
    plain = word.lower().replace("_", "-").replace(" ", "-")
    return _METHODS.get(plain) or near(plain, [one["name"] for one in _core.methods()])
