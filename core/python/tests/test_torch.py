"""Modules for torch: gradients by differences, the bits of the core, and what frameworks do to modules."""

import copy
import io
import os
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import undercurve
from undercurve import _core, tensors
from undercurve.torch import Contrastive, Loss, Objective

KINDS = [("ap", {}), ("auc", {}), ("pauc", {"fpr": (0.0, 0.5), "scale": 2.0})]
SMOOTH = ["squared-hinge", "logistic", "sigmoid", "exponential"]
PARAM = {name: {"margin" if name == "squared-hinge" else "scale": 1.0} for name in SMOOTH}


def batch(n=48, dtype=torch.float64, share=0.25):
    generator = torch.Generator().manual_seed(n)
    scores = torch.randn(n, dtype=dtype, generator=generator).requires_grad_()
    labels = (torch.arange(n) % round(1 / share) == 0).int()
    return scores, labels


@pytest.mark.parametrize("kind", ["ap", "auc", "pauc"])
@pytest.mark.parametrize("surrogate", SMOOTH)
def test_gradients_of_losses_by_differences(kind, surrogate):
    scores, labels = batch()
    weights = torch.rand(48, dtype=torch.float64) + 0.5
    loss = Loss(kind, surrogate=surrogate, **({"fpr": (0.0, 0.5)} if kind == "pauc" else {}), **PARAM[surrogate])
    assert torch.autograd.gradcheck(lambda s: loss(s, labels), (scores,), atol=1e-6)
    assert torch.autograd.gradcheck(lambda s: loss(s, labels, weights), (scores,), atol=1e-6)


@pytest.mark.parametrize(("kind", "more"), KINDS)
def test_losses_have_the_bits_of_the_core(kind, more):
    for dtype in (torch.float32, torch.float64):
        scores, labels = batch(200, dtype)
        loss = Loss(kind, **more)(scores[:, None], labels[:, None])
        loss.backward()
        value, grad = undercurve.Loss(kind, **more).value_grad(scores.detach().numpy(), labels.numpy())
        assert loss.item() == np.asarray(value, scores.detach().numpy().dtype)
        assert np.array_equal(scores.grad.numpy(), grad)


def test_every_objective_has_the_gradient_of_its_value_and_the_bits_of_the_core():
    scores, labels = batch(64)
    rows = torch.arange(64)
    tried = 0
    for method in undercurve.methods():
        try:
            objective = Objective(method["name"], labels, dtype=torch.float64, fpr=(0.0, 0.5))
        except ValueError as error:
            assert "algorithm of its own" in str(error) or "no loss of scores" in str(error) or "of groups" in str(error)  # fmt: skip
            continue
        tried += 1
        core = copy.deepcopy(objective)._core
        state = np.zeros(core.state_len(64))
        aux = objective.aux.detach().numpy().copy()
        for _ in range(3):
            scores.grad = objective.aux.grad = None
            value = objective(scores, labels, rows)
            value.backward()
            told = core.update(scores.detach().numpy(), labels.numpy(), rows.numpy(), state, aux)
            assert value.item() == told[0] and np.array_equal(scores.grad.numpy(), told[1]), method["name"]
            assert np.array_equal(objective.state.numpy(), state)
            if objective.aux.numel():
                assert np.array_equal(objective.aux.grad.numpy(), told[2])
        objective.eval()
        before = objective.state.clone()
        objective(scores, labels, rows)
        assert torch.equal(objective.state, before)
    assert tried >= 20, tried


# Objectives that are no sum over a batch's scores, and what says so.
ELSEWHERE = {
    "has an algorithm of its own": {"agd-sbcd", "dca", "proximal-dca", "sorr"},
    "moves the parameters by proximal points": {"icppac"},
    "is no loss of scores": {
        "ai-sarah", "theoretical-ai-sarah", "bounded-ai-sarah", "sarah", "sarah+", "svrg", "momentum-sum", "adam-sum"
    },
}  # fmt: skip
CONSTRAINTS = ["gap(fpr) <= 0.01", "gap(tpr) <= 0.01", "recall >= 0.95", "precision >= 0.9"]
# (The width of a pooled threshold follows the scores, and is held while the gradient is computed; those at fixed scores have none.)
FIXED = {"constraints": CONSTRAINTS, "thresholds": "raw"}
KINDS_OF = {method["name"]: method["kind"] for method in undercurve.methods()}


@pytest.mark.parametrize("name", KINDS_OF)
def test_gradients_of_objectives_by_differences(name):
    """Of every method: where numbers are kept from batch to batch, on its first batch, which the numbers are those of."""
    scores, labels = batch(40)
    groups = ["a" if row % 5 < 3 else "b" for row in range(40)]
    options = {"dtype": torch.float64, "fpr": (0.0, 0.5)}
    if KINDS_OF[name] == "groups":
        options |= {"groups": groups} | ({} if name == "ooa" else FIXED)
    refused = [why for why, names in ELSEWHERE.items() if name in names]
    if refused:
        with pytest.raises(ValueError, match=refused[0]):
            Objective(name, labels, **options)
        return

    def told(given, aux):
        objective = Objective(name, labels, **options)
        with torch.no_grad():
            objective.aux.copy_(aux)
            objective.duals.copy_(torch.linspace(0.1, 0.9, len(objective.duals), dtype=torch.float64) if name != "ooa" else torch.tensor([0.1, -0.1]))
        beside = {"groups": groups} if KINDS_OF[name] == "groups" else {}
        if name == "sopa":  # (Its thresholds begin at 0, where losses of 0 have a corner.)
            for _ in range(3):
                objective(scores.detach(), labels, torch.arange(40))
            objective.eval()
        return objective, objective(given, labels, torch.arange(40), **beside)

    count = Objective(name, labels, **options).aux.numel()
    aux = torch.linspace(0.1, 0.5, count, dtype=torch.float64)
    objective, value = told(scores, aux)
    value.backward()
    low = objective._core.aux[0]
    # (Of variables that are maximised the sign is turned.)
    gradients = torch.cat([scores.grad, *([objective.aux.grad * torch.tensor([1.0] * low + [-1.0] * (count - low))] if count else [])])
    assert gradients.abs().max() > 1e-3
    for at, found in enumerate(gradients):
        ends = []
        for step in (1e-6, -1e-6):
            moved = torch.cat([scores.detach(), aux])
            moved[at] += step
            ends.append(told(moved[:40], moved[40:])[1].item())
        slope = (ends[0] - ends[1]) / 2e-6
        assert abs(found - slope) < 1e-7 * (1 + abs(slope)), (at, found, slope)


def test_multipliers_are_moved_by_the_steps_of_the_method():
    """Cotter et al. 2019, algorithm 2, and Sagawa et al. 2020, algorithm 1, in numpy."""
    scores, labels = batch(60)
    groups = ["a" if row % 5 < 3 else "b" for row in range(60)]
    for name, more in [("lagrange", {"constraints": CONSTRAINTS, "thresholds": "raw", "penalty": 0.3}), ("ooa", {"share": 0.8})]:
        objective = Objective(name, labels, groups=groups, dtype=torch.float64, dual_lr=0.5, **more)
        assert objective.aux.numel() == 0 and not list(objective.parameters())[0].requires_grad
        duals, state = np.zeros(len(objective.duals)), objective.state.numpy().copy()
        codes = np.array([0 if group == "a" else 1 for group in groups])
        for step in range(6):
            given = (scores.detach() * (1 + step)).requires_grad_()
            value, by_score, by_duals = copy.deepcopy(objective)._core.update(
                given.detach().numpy(), labels.numpy(), None, state, duals, True, codes
            )
            loss = objective(given, labels, groups=groups)
            loss.backward()
            assert loss.item() == value and np.array_equal(given.grad.numpy(), by_score)
            if name == "lagrange":
                duals = np.clip(duals - 0.5 * by_duals, 0, 0.3)
            else:
                weights = (duals + 0.5) * np.exp(-0.5 * by_duals)
                weights /= weights.sum()
                if weights.max() > 1 / (0.8 * 2):  # (Of two groups: the worse at the cap, the other the rest.)
                    weights = np.where(weights == weights.max(), 1 / (0.8 * 2), 1 - 1 / (0.8 * 2))
                duals = weights - 0.5
            assert np.allclose(objective.duals.numpy(), duals, atol=1e-12), (name, step)
            duals = objective.duals.numpy().copy()
        assert np.abs(duals).max() > 0.1
        before = objective.duals.clone()
        objective.eval()(scores, labels, groups=groups)
        assert torch.equal(objective.duals, before)
        assert torch.equal(pickle.loads(pickle.dumps(objective)).duals, before) and "duals" in objective.state_dict()


def test_weights_of_groups_rise_with_their_loss():
    torch.manual_seed(1)
    n = 3000
    group = (torch.rand(n) < 0.1).int()  # (Few rows, of the other slope.)
    X = torch.randn(n, 2)
    y = (torch.where(group == 1, -X[:, 0], X[:, 0]) + 0.5 * torch.randn(n) > 0.5).int()
    inputs, worst = torch.cat([X, group[:, None].float()], dim=1), {}
    for name in ("ce", "ooa"):
        torch.manual_seed(2)
        model, beside = torch.nn.Linear(3, 1), {"groups": group} if name == "ooa" else {}
        objective = Objective(name, y, **beside, **({"dual_lr": 0.05, "share": 0.5} if beside else {}))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(400):
            rows = torch.randint(0, n, (256,)).unique()
            optimizer.zero_grad()
            objective(model(inputs[rows]), y[rows], **({"groups": group[rows]} if beside else {})).backward()
            optimizer.step()
        with torch.no_grad():
            each = torch.nn.functional.binary_cross_entropy_with_logits(model(inputs).ravel(), y.float(), reduction="none")
        worst[name] = max(float(each[group == one].mean()) for one in (0, 1))
    assert worst["ooa"] < 0.8 * worst["ce"], worst


def test_soap_is_twenty_lines_of_numpy():
    """Qi et al. 2021, algorithm 1: averages u of g1 and g2 of each positive, then the gradient of u1/u2 by the chain rule."""
    rng = np.random.default_rng(5)
    n, gamma, c = 400, 0.9, 2.0
    labels = (np.arange(n) % 10 == 0).astype(int)
    objective = Objective("soap", torch.from_numpy(labels), dtype=torch.float64, gamma=gamma, weights="as-drawn", link="identity")
    u = np.zeros((n, 2))
    scores = rng.normal(size=n)
    for step in range(20):
        rows = rng.permutation(n)[:80]
        s, y = scores[rows], labels[rows]
        at = np.flatnonzero(y)
        t = s[at, None] - s[None]
        ell = 1 / (1 + np.exp(c * t))
        slope = -c * ell * (1 - ell)
        g = np.stack([(ell * y).sum(1), ell.sum(1)], axis=1) / len(s)
        mine = u[rows[at]]
        fresh = (mine == 0).all(axis=1, keepdims=True)
        u[rows[at]] = np.where(fresh, g, (1 - gamma) * mine + gamma * g)
        u1, u2 = u[rows[at]].T
        by_ell = ((u1[:, None] - u2[:, None] * y) / u2[:, None] ** 2) / len(s) / len(at)
        by_margin = by_ell * slope
        grad = -by_margin.sum(0)
        np.add.at(grad, at, by_margin.sum(1))
        given = torch.from_numpy(s).requires_grad_()
        objective(given, torch.from_numpy(y), torch.from_numpy(rows)).backward()
        share = given.grad.numpy() @ grad / (grad @ grad)
        assert np.allclose(given.grad.numpy(), share * grad, atol=1e-6 * np.abs(share * grad).max()), step
        assert abs(share - 1) < 1e-6, share
        scores -= 0.5 * np.bincount(rows, grad, n)


def test_compile_half_precision_and_accumulation():
    scores, labels = batch(100, torch.float32)
    loss = Loss("ap")
    loss(scores, labels).backward()
    want = scores.grad.clone()
    scores.grad = None
    for part in (loss(scores, labels) * 0.25, loss(scores, labels) * 0.75):
        part.backward()
    assert torch.allclose(scores.grad, want)
    twin = scores.detach().clone().requires_grad_()
    torch.compile(lambda s, y: loss(s, y) * 2, fullgraph=True)(twin, labels).backward()
    assert torch.equal(twin.grad, 2 * want)
    half = scores.detach().bfloat16().requires_grad_()
    loss(half, labels).backward()
    assert half.grad.dtype == torch.bfloat16 and half.grad.abs().sum() > 0
    network = torch.nn.Linear(3, 1)
    with torch.autocast("cpu", torch.bfloat16):
        loss(network(torch.randn(20, 3)), torch.arange(20) % 2).backward()
    assert network.weight.grad.abs().sum() > 0


def test_second_derivatives_are_refused_in_plain_words():
    scores, labels = batch()
    for value in (Loss("ap")(scores, labels), Objective("ce", labels, dtype=torch.float64)(scores, labels)):
        with pytest.raises(RuntimeError, match="differentiated once"):
            torch.autograd.grad(value, scores, create_graph=True)


def test_batches_of_one_class_count_nothing():
    for label in (0, 1):
        scores, labels = torch.randn(8, requires_grad=True), torch.full((8,), label)
        for value in (Loss("ap")(scores, labels), Objective("soap", torch.arange(16) % 2)(scores, labels, torch.arange(label, 16, 2))):
            value.backward()
            assert value.item() == 0 and (scores.grad == 0).all()


@pytest.mark.parametrize("method", ["ce", "focal", "soap", "auc-margin", "ppd-sg", "smooth-ap", "auc-pairwise", "pauc-threshold"])
@pytest.mark.parametrize("sampling", ["uniform", "stratified"])
def test_rows_may_be_drawn_more_often_than_there_are(method, sampling):
    """As by WeightedRandomSampler: five positives in the data, sixteen in the batch."""
    labels = (torch.arange(60) % 12 == 0).int()
    rows = torch.cat([torch.arange(0, 60, 12).repeat(4)[:16], torch.arange(1, 12).repeat(3)])
    objective = Objective(method, labels, sampling=sampling, dtype=torch.float64)
    with torch.no_grad():
        objective.aux.fill_(0.5)  # (At 0 a min-max objective has no slope between the classes.)
    all_scores = torch.linspace(-1, 1, 60, dtype=torch.float64).requires_grad_()
    for _ in range(3):
        all_scores.grad = None
        value = objective(all_scores[rows], labels[rows], rows)
        value.backward()
        assert torch.isfinite(value) and torch.isfinite(all_scores.grad).all()
        assert all_scores.grad[0] < 0 < all_scores.grad[11]


@pytest.mark.parametrize("name", ["soap", "auc-margin", "ce"])
def test_objectives_under_compile_half_precision_and_accumulation(name):
    scores, labels = batch(64, torch.float32)
    rows = torch.arange(64)

    def one(change):
        torch.manual_seed(3)
        objective, given = Objective(name, labels), scores.detach().clone().requires_grad_()
        change(objective, given)
        return given.grad, objective.state

    want, state = one(lambda objective, s: objective(s, labels, rows).backward())

    def compiled(objective, s):
        torch.compile(lambda s: objective(s * 1.0, labels, rows))(s).backward()

    def accumulated(objective, s):
        (objective(s, labels, rows) * 0.25).backward()
        (objective.eval()(s, labels, rows) * 0.75).backward()

    grad, moved = one(compiled)
    assert torch.equal(grad, want) and torch.equal(moved, state)
    grad, moved = one(accumulated)
    assert torch.equal(moved, state) and torch.isfinite(grad).all() and (grad * want >= 0).all()
    objective = Objective(name, labels)
    network = torch.nn.Linear(3, 1)
    with torch.autocast("cpu", torch.bfloat16):
        out = network(torch.randn(64, 3))
        assert out.dtype == torch.bfloat16
        objective(out, labels, rows).backward()
    assert network.weight.grad.abs().sum() > 0 and objective.state.dtype == torch.float32


def test_a_scaler_of_gradients_changes_no_direction():
    scores, labels = batch(64, torch.float32)
    soap = Objective("soap", labels).eval()
    (soap(scores, labels, torch.arange(64)) * 2.0**16).backward()
    twin = scores.detach().clone().requires_grad_()
    soap(twin, labels, torch.arange(64)).backward()
    assert torch.equal(scores.grad / 2.0**16, twin.grad)


def test_in_lightning():
    lightning = pytest.importorskip("lightning", reason="lightning is not installed")
    X = torch.randn(2000, 4, generator=torch.Generator().manual_seed(1))
    y = (X[:, 0] > 1.2).int()

    class Ranker(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.network, self.loss = torch.nn.Linear(4, 1), Objective("soap", y)

        def training_step(self, batch, at):
            x, labels, rows = batch
            return self.loss(self.network(x), labels, rows)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.05)

    lightning.seed_everything(1, verbose=False)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y, torch.arange(2000)), batch_size=100, shuffle=True)
    model = Ranker()
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    lightning.Trainer(max_epochs=5, accelerator="cpu", accumulate_grad_batches=2, **quiet).fit(model, loader)
    assert undercurve.metrics(model.network(X).detach().numpy().ravel(), y.numpy()).ap > 0.9
    assert model.state_dict()["loss.state"].count_nonzero() > 0


def test_states_travel():
    scores, labels = batch(64, torch.float32)
    objective = Objective("soap", labels)
    objective(scores, labels, torch.arange(64)).backward()
    file = io.BytesIO()
    torch.save(objective.state_dict(), file)
    file.seek(0)
    other = Objective("soap", labels)
    other.load_state_dict(torch.load(file))
    assert torch.equal(other.state, objective.state) and other.state.count_nonzero() > 0
    for twin in (pickle.loads(pickle.dumps(objective)), copy.deepcopy(objective)):
        assert torch.equal(twin(scores, labels, torch.arange(64)), copy.deepcopy(objective)(scores, labels, torch.arange(64)))
    assert repr(pickle.loads(pickle.dumps(Loss("pauc", fpr=(0, 0.1))))) == repr(Loss("pauc", fpr=(0, 0.1)))


def test_wrong_calls_say_what_is_wrong():
    scores, labels = batch(32, torch.float32)
    soap = Objective("soap", labels)
    for call, text in [
        (lambda: soap(scores, labels), "rows: soap keeps numbers for each row"),
        (lambda: soap(scores, labels, torch.arange(32) + 9), "rows: 40 is beyond"),
        (lambda: soap(scores, 1 - labels, torch.arange(32)), "labels: 0 for row 0, which is 1"),
        (lambda: Loss("ap")(torch.zeros(4, 2), labels), "scores: shape"),
        (lambda: Loss("ap")(scores * float("nan"), labels), "scores: row 0 is NaN"),
        (lambda: Objective("agd-sbcd", labels), "algorithm of its own"),
        (lambda: Objective("lagrange", labels), "pass them"),
        (lambda: Objective("icppac", labels, groups=labels), "proximal points"),
        (lambda: Objective("sonex", labels), "pass them"),
        (lambda: Objective("ce", torch.zeros(3)), "0 positives"),
        (lambda: Objective("soap", labels, gama=1), "no such parameter"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


@pytest.mark.parametrize("name", ["sonex", "alexr2", "sox", "msvr", "sonx", "lagrange"])
def test_objectives_under_constraints_learn_and_keep_gaps_small(name):
    torch.manual_seed(1)
    n = 4000
    group = torch.randint(0, 2, (n,))
    X = torch.randn(n, 4)
    y = (X[:, 0] + 0.7 * group + 0.5 * torch.randn(n) > 1.0).int()
    inputs = torch.cat([X, group[:, None].float()], dim=1)
    names = ["a" if one == 0 else "b" for one in group]

    def gap(scores):
        cut = torch.quantile(scores[y == 0], 0.8)
        return abs((scores[(y == 0) & (group == 0)] > cut).float().mean() - (scores[(y == 0) & (group == 1)] > cut).float().mean())

    found = {}
    for constrained in (False, True):
        torch.manual_seed(2)
        model = torch.nn.Linear(5, 1)
        objective = Objective(
            name, y, groups=names, constraints=["gap(fpr) <= 0.02"] if constrained else ["gap(fpr) <= 0.99"], sampling="uniform"
        )
        optimizer = torch.optim.Adam([*model.parameters(), *objective.parameters()], lr=0.02)
        for _ in range(400):
            rows = torch.randint(0, n, (128,)).unique()
            optimizer.zero_grad()
            objective(model(inputs[rows]), y[rows], groups=[names[row] for row in rows]).backward()
            optimizer.step()
        scores = model(inputs).detach().ravel()
        found[constrained] = (float(gap(scores)), undercurve.auroc(scores.numpy(), y.numpy()))
    assert found[True][1] > 0.75, found
    assert found[True][0] < 0.6 * found[False][0], found


@pytest.mark.parametrize("make", [lambda y: Loss("ap"), lambda y: Objective("soap", y), lambda y: Objective("auc-margin", y), lambda y: Objective("ppd-sg", y)])
def test_a_loop_with_a_shuffled_loader_learns(make):
    torch.manual_seed(0)
    X = torch.randn(4000, 6)
    y = ((X[:, 0] * X[:, 1] + 0.3 * torch.randn(4000)) > 1.3).int()
    network = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    loss = make(y)
    groups = [{"params": network.parameters()}, {"params": loss.parameters(), "lr": 0.1}]
    optimizer = torch.optim.Adam(groups, lr=0.01)
    rows = torch.utils.data.TensorDataset(torch.arange(4000))
    for _ in range(8):
        for (some,) in torch.utils.data.DataLoader(rows, batch_size=128, shuffle=True):
            optimizer.zero_grad()
            scores = network(X[some])
            (loss(scores, y[some], some) if isinstance(loss, Objective) else loss(scores, y[some])).backward()
            optimizer.step()
    found = undercurve.metrics(network(X).detach().numpy().ravel(), y.numpy())
    assert found.auroc > 0.85 and found.ap > 5 * y.float().mean(), found


SURROGATES = {"square": "margin", "squared-hinge": "margin", "hinge": "margin", "ramp": "margin", "logistic": "scale", "sigmoid": "scale", "exponential": "scale", "smoothed-hinge": "smoothing"}


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_tensor_operations_are_the_core(surrogate):
    rng = np.random.default_rng(1)
    for case in range(125 if "UNDERCURVE_LONG" in os.environ else 20):
        rows, dtype = int(rng.choice([2, 3, 7, 40, 300])), (torch.float32, torch.float64)[case % 2]
        spread = rng.choice([0.1, 1] if surrogate == "exponential" else [0.1, 1, 10])
        scores = torch.tensor(rng.normal(size=rows) * spread, dtype=dtype)
        labels = torch.tensor((rng.random(rows) < 0.3).astype(int))
        labels[0], labels[1] = 1, 0
        weights = torch.tensor(rng.random(rows) + 0.1) if case % 3 else None
        more = {SURROGATES[surrogate]: float(rng.choice([0.5, 1, 2]))}
        for kind, of in [("auc", {}), ("ap", {}), ("pauc", {"fpr": (0.0, float(rng.random()) + 0.01)}), ("pauc", {"fpr": (0.2, 0.9), "tpr": 0.3})]:
            if kind == "pauc" and surrogate == "square":
                continue
            loss = undercurve.Loss(kind, surrogate=surrogate, **more, **of)
            value, grad = loss.value_grad(scores.numpy(), labels.numpy(), None if weights is None else weights.numpy())
            ours = scores.clone().requires_grad_()
            found = tensors.loss(ours, labels, weights, loss._core.arguments())
            found.backward()
            near = 1e-6 if dtype == torch.float32 else 1e-10
            assert found.item() == pytest.approx(value, rel=near, abs=near) and found.dtype == dtype
            assert np.allclose(ours.grad.numpy(), grad, rtol=near, atol=near * max(1e-3, np.abs(grad).max())), (kind, case)


def test_torch_func_compile_and_second_derivatives_go_through_tensor_operations():
    scores, labels = batch(40)
    for kind, surrogate in [("ap", "squared-hinge"), ("auc", "squared-hinge"), ("pauc", "hinge"), ("ap", "sigmoid"), ("auc", "logistic")]:
        loss = Loss(kind, surrogate=surrogate, fpr=(0.0, 0.5))
        loss(scores, labels).backward()
        assert torch.allclose(torch.func.grad(loss)(scores.detach(), labels), scores.grad, atol=1e-12)
        some = torch.randn(5, 40, dtype=torch.float64)
        each = torch.stack([torch.func.grad(loss)(one, labels) for one in some])
        assert torch.allclose(torch.func.vmap(torch.func.grad(loss), (0, None))(some, labels), each, atol=1e-12)
        if surrogate == "squared-hinge":
            assert torch.autograd.gradgradcheck(lambda s: tensors.loss(s, labels, None, loss._core.arguments()), (scores.detach().requires_grad_(),))
            hessian = torch.func.hessian(loss)(scores.detach(), labels)
            assert torch.allclose(hessian, hessian.T, atol=1e-12) and hessian.abs().max() > 0
        scores.grad = None
    one_class = torch.zeros(40)
    for surrogate in ("hinge", "sigmoid"):
        alone = torch.func.grad_and_value(Loss("ap", surrogate=surrogate))(scores.detach(), one_class)
        assert alone[1] == 0 and not alone[0].any()


def test_the_contrastive_loss_is_that_of_all_rows():
    """A batch of everything, with nothing kept, beside plain autograd of the same loss; then the running sums by hand."""
    torch.manual_seed(0)
    share = 0.3

    def plain(first, second):
        scores = torch.nn.functional.normalize(first, dim=1) @ torch.nn.functional.normalize(second, dim=1).T
        apart = scores.diagonal()
        return share * sum(torch.logsumexp((of - apart[:, None]) / share, 1) for of in (scores, scores.T)).mean()

    for dtype, near in ((torch.float32, 1e-6), (torch.float64, 1e-11)):
        first, second = (torch.randn(12, 5, dtype=dtype, requires_grad=True) for _ in range(2))
        loss = Contrastive(12, temperature=share, gamma=1.0, dtype=dtype)
        value = loss(first, second, torch.arange(12))
        ours = torch.autograd.grad(2 * value, (first, second))
        theirs = torch.autograd.grad(2 * plain(first, second), (first, second))
        assert abs((value - plain(first, second)).item()) < near
        assert all(torch.allclose(a, b, rtol=0, atol=near) for a, b in zip(ours, theirs))
    loss = Contrastive(40, temperature=share, gamma=0.5, dtype=torch.float64)
    rows = torch.tensor([3, 30, 7])
    for parts in (slice(0, 3), slice(3, 6)):
        loss(first[parts], second[parts], rows)
    with torch.no_grad():
        sums = []
        for parts in (slice(0, 3), slice(3, 6)):
            a, b = (torch.nn.functional.normalize(of[parts], dim=1) for of in (first, second))
            powers = ((a @ b.T - (a @ b.T).diagonal()[:, None]) / share).exp()
            sums.append(1 + 39 / 2 * (powers.sum(1) - 1))
    assert torch.allclose(loss.state.reshape(40, 2)[rows, 0], 1 + (0.5 * sums[0] + 0.5 * sums[1]).log(), atol=1e-9)
    before = loss.state.clone()
    loss.eval()(first[:3], second[:3], rows)
    assert torch.equal(loss.state, before) and (before.reshape(40, 2)[8:30] == 0).all()
    for wrong, told in [((first[:1], second[:1], [1]), "drop_last=True"), ((first[:3], second[:3], [1, 1, 2]), "a row is there twice"), ((first[:3], second[:2], [0, 1, 2]), "shapes"), ((first[:3], second[:3], [0, 1, 40]), "beyond the 40 rows")]:
        with pytest.raises(ValueError, match=told):
            loss(*wrong)
    for settings, told in [({"rows": 1}, "^rows: expected 2 or more, got 1"), ({"temperature": 0}, "^temperature: expected from 0.005"), ({"gamma": 0}, "^gamma: expected above 0")]:
        with pytest.raises(ValueError, match=told):
            Contrastive(**{"rows": 40, **settings})
    again = pickle.loads(pickle.dumps(loss))
    assert torch.equal(again.state, loss.state)


def test_metrics_take_tensors_with_a_gradient():
    scores, labels = torch.tensor([0.1, 0.4, 0.35, 0.8], requires_grad=True), torch.tensor([0, 0, 1, 1])
    assert undercurve.metrics(scores, labels).auroc == 0.75 and undercurve.decide(scores, labels, "recall>=1").alerts == 3
    assert undercurve.Loss("auc").value_grad(scores, labels)[0] > 0 and undercurve.compare(scores, -scores, labels).auroc.difference == 0.5
