"""`undercurve.jax.Loss("ap")` beside log loss: a linear model of the recipe's digits (8 against the others).

    python core/python/benches/jax_digits.py          needs jax, scikit-learn, scipy

Ten splits in halves; of each loss the better of four rates by the AP of a quarter of the training rows; 200 steps with momentum, as in the recipe.
Prints test AP and the difference with its 95 % interval (Nadeau and Bengio).
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import t
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from undercurve.jax import Loss

RATES = (0.1, 0.5, 2.0, 10.0)
LOSSES = {
    "log loss": lambda scores, y: (jax.nn.softplus(scores) - y * scores).mean(),
    "ap, sigmoid": Loss("ap"),
    "ap, squared hinge": Loss("ap", surrogate="squared-hinge"),
}


def trainer(loss):
    @jax.jit
    def train(X, y, weights, rate):
        """(Rows of weight 0 are left out: one shape for all.)"""
        own = (lambda s: loss(s, y, weights)) if isinstance(loss, Loss) else (lambda s: (weights * (jax.nn.softplus(s) - y * s)).sum() / weights.sum())
        grad = jax.grad(lambda w: own(X @ w) + 1e-4 * w @ w)

        def step(_, now):
            momentum = 0.9 * now[1] + grad(now[0])
            return now[0] - rate * momentum, momentum

        start = jnp.zeros(X.shape[1])
        return jax.lax.fori_loop(0, 200, step, (start, start))[0]

    return train


X, digit = load_digits(return_X_y=True)
X, y = X / 16, (digit == 8).astype(float)
found = {name: [] for name in LOSSES}
for name, loss in LOSSES.items():
    train = trainer(loss)
    for split in range(10):
        fit, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=split)
        held = train_test_split(np.arange(len(fit)), test_size=0.25, stratify=y[fit], random_state=split)[1]
        few = np.ones(len(fit))
        few[held] = 0
        best = max(RATES, key=lambda rate: average_precision_score(y[fit][held], np.nan_to_num(X[fit][held] @ train(X[fit], y[fit], few, rate))))
        found[name].append(average_precision_score(y[test], X[test] @ train(X[fit], y[fit], np.ones(len(fit)), best)))
for name, of in found.items():
    apart = np.array(of) - found["log loss"]
    half = t.ppf(0.975, 9) * apart.std(ddof=1) * np.sqrt(1 / 10 + 1)
    print(f"| {name} | {np.mean(of):.3f} | {apart.mean():+.3f} [{apart.mean() - half:+.3f}, {apart.mean() + half:+.3f}] |", flush=True)
