"""Losses under JAX: the core's numbers, all pairs by JAX's own derivatives, and what its transformations do to them."""

import copy
import os
import pickle

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")

import jax.numpy as jnp
from jax.test_util import check_grads

import undercurve
from undercurve.jax import Loss

SURROGATES = {"square": "margin", "squared-hinge": "margin", "hinge": "margin", "ramp": "margin", "logistic": "scale", "sigmoid": "scale", "exponential": "scale", "smoothed-hinge": "smoothing"}
KINDS = [("auc", {}), ("ap", {}), ("pauc", {"fpr": (0.0, 0.05)}), ("pauc", {"fpr": (0.2, 0.9), "tpr": 0.3})]
ROWS = 120


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_losses_and_gradients_are_the_core(surrogate, x64):
    rng = np.random.default_rng(1)
    dtype, near = (np.float64, 1e-12) if x64 else (np.float32, 1e-6)
    for kind, of in KINDS:
        if kind == "pauc" and surrogate == "square":
            continue
        of = of | {"surrogate": surrogate, SURROGATES[surrogate]: float(rng.choice([0.5, 1, 2]))}
        core = undercurve.Loss(kind, **of)
        with jax.enable_x64(x64):
            ours = jax.jit(jax.value_and_grad(Loss(kind, **of)))
            for case in range(32 if "UNDERCURVE_LONG" in os.environ else 4):
                scores = (rng.normal(size=ROWS) * rng.choice([0.1, 1] if surrogate == "exponential" else [0.1, 1, 10])).astype(dtype)
                if case % 4 == 0 and kind != "pauc":  # (Of tied negatives partial AUC takes any.)
                    scores = np.round(4 * scores) / 4
                labels = (rng.random(ROWS) < 0.3).astype(int)
                # (Of one length, so that it is compiled once: rows that weigh nothing.)
                weights = np.where(rng.random(ROWS) < rng.random(), 0, rng.random(ROWS) + 0.1).astype(dtype) if case % 3 else np.ones(ROWS, dtype)
                labels[:2], weights[:2] = (1, 0), 1
                value, grad = core.value_grad(scores, labels, weights)
                found, by = ours(scores, labels, weights)
                assert found.dtype == by.dtype == dtype
                assert float(found) == pytest.approx(value, rel=near, abs=near), (kind, case)
                assert np.abs(np.asarray(by) - grad).max() <= near * max(1e-3, np.abs(grad).max()), (kind, case)


def all_pairs(kind, power):
    """Hinge, or squared hinge, of every pair, with JAX's own derivatives."""

    def loss(scores, labels, weights):
        ell = jnp.maximum(1 - (scores[:, None] - scores), 0) ** power
        positive, negative = weights * labels, weights * (1 - labels)
        if kind == "auc":
            return positive @ ell @ negative / (positive.sum() * negative.sum())
        own = ell @ positive
        return -(positive * own / (own + ell @ negative)).sum() / positive.sum()

    return loss


@pytest.mark.parametrize("kind", ["auc", "ap"])
@pytest.mark.parametrize("surrogate", ["hinge", "squared-hinge"])
def test_second_derivatives_are_those_of_all_pairs(kind, surrogate):
    rng = np.random.default_rng(2)
    with jax.enable_x64(True):
        scores, labels, weights = (jnp.array(of) for of in (rng.normal(size=12), np.arange(12) % 3 == 0, rng.random(12) + 0.5))
        loss, twin = Loss(kind, surrogate=surrogate), all_pairs(kind, 2 if surrogate == "squared-hinge" else 1)
        check_grads(lambda s: loss(s, labels, weights), (scores,), order=2, modes=["fwd", "rev"])
        for of in (jax.value_and_grad, lambda f: jax.jit(jax.hessian(f)), lambda f: jax.jacrev(jax.jacrev(f))):
            for ours, want in zip(jax.tree.leaves(of(loss)(scores, labels, weights)), jax.tree.leaves(of(twin)(scores, labels, weights)), strict=True):
                assert np.allclose(ours, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("kind", "surrogate"), [("ap", "squared-hinge"), ("pauc", "hinge"), ("ap", "sigmoid"), ("auc", "logistic")])
def test_batches_of_batches(kind, surrogate):
    rng = np.random.default_rng(3)
    scores, labels, weights = rng.normal(size=(5, 40)).astype("f4"), rng.random((5, 40)) < 0.3, rng.random((5, 40)).astype("f4")
    loss = jax.value_and_grad(Loss(kind, surrogate=surrogate, fpr=(0.0, 0.5)))
    found = jax.jit(jax.vmap(loss))(scores, labels, weights)
    for k in range(5):
        for ours, want in zip(found, loss(scores[k], labels[k], weights[k]), strict=True):
            assert np.allclose(ours[k], want, rtol=1e-5, atol=1e-6)
    step = jax.grad(lambda factor: Loss(kind, surrogate=surrogate)(factor * scores[0], labels[0]))
    assert np.isfinite(step(1.0)) and step(1.0) != 0


def test_shapes_types_and_rows_of_one_class():
    scores = jnp.array([0.3, 1.2, -0.4])
    for surrogate in ("hinge", "sigmoid"):
        value, grad = jax.value_and_grad(Loss("ap", surrogate=surrogate))(scores, jnp.zeros(3))
        assert value == 0 and not grad.any()
    loss = Loss("auc")
    assert loss(scores[:, None], jnp.array([[1], [0], [0]])) == loss(scores, jnp.array([True, False, False]))
    assert loss(scores.astype(jnp.bfloat16), jnp.array([1, 0, 0])).dtype == jnp.float32
    assert jax.grad(loss)(scores.astype(jnp.float16), jnp.array([1, 0, 0])).dtype == jnp.float16
    for twin in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert twin == loss and twin(scores, jnp.array([1, 0, 0])) == loss(scores, jnp.array([1, 0, 0]))
    for wrong in (lambda: loss(jnp.zeros((2, 2)), jnp.zeros(2)), lambda: loss(scores, jnp.zeros(2)), lambda: Loss("ap", scale=-1.0)):
        with pytest.raises(ValueError, match="scores|scale"):
            wrong()
    with pytest.raises(TypeError, match="int32"):
        loss(jnp.array([1, 2, 3]), jnp.array([1, 0, 0]))
