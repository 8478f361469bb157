"""Metrics against scikit-learn, on random cases."""

import os
import json
from pathlib import Path

import numpy as np
import pytest

import undercurve

sk = pytest.importorskip("sklearn.metrics")


def case(rng):
    n = int(rng.integers(2, 400))
    scores = rng.normal(size=n)
    if rng.random() < 0.5:
        scores = np.round(scores * rng.integers(1, 8))  # ties
    labels = rng.random(n) < rng.choice([0.02, 0.2, 0.5, 0.9])
    labels[:2] = [True, False]
    return (scores.astype(np.float32) if rng.random() < 0.3 else scores), labels


def test_cases_against_scikit_learn():
    rng = np.random.default_rng(1)
    worst = {"plain": 0.0, "weighted": 0.0}
    for _ in range(1000 if os.environ.get("UNDERCURVE_LONG") else 300):
        scores, labels = case(rng)
        weights = rng.random(len(labels)) + 0.01 if rng.random() < 0.5 else None
        high = float(rng.uniform(0.05, 1.0))
        found = undercurve.metrics(scores, labels, weights, fpr=(0, high))
        auroc = sk.roc_auc_score(labels, scores, sample_weight=weights)
        ap = sk.average_precision_score(labels, scores, sample_weight=weights)
        # (scikit-learn's is McClish's form of the area.)
        standard = sk.roc_auc_score(labels, scores, sample_weight=weights, max_fpr=high) if high < 1 else auroc
        least, most = high * high / 2, high
        area = (2 * standard - 1) * (most - least) + least if high < 1 else auroc
        kind = "plain" if weights is None else "weighted"
        worst[kind] = max(worst[kind], abs(found.auroc - auroc), abs(found.ap - ap))
        assert abs(found.pauc - area / high) < 1e-12
    print(worst)
    assert worst["plain"] <= 4e-16 and worst["weighted"] <= 1e-14, worst


def test_curves_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    for _ in range(50):
        scores, labels = case(rng)
        found = undercurve.curves(scores, labels)
        fpr, tpr, _ = sk.roc_curve(labels, scores, drop_intermediate=False)
        assert np.allclose(found.fpr, fpr, atol=1e-15) and np.allclose(found.tpr, tpr, atol=1e-15)
        precision, recall, thresholds = sk.precision_recall_curve(labels, scores)
        assert np.allclose(found.precision, precision[:-1][::-1]) and np.allclose(found.recall, recall[:-1][::-1])
        assert np.array_equal(found.pr_thresholds, thresholds[::-1])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64])
def test_labels_of_any_type_and_arrays_of_any_shape(dtype):
    rng = np.random.default_rng(3)
    scores, labels = rng.normal(size=300), rng.random(300) < 0.3
    want = undercurve.auroc(scores, labels)
    assert undercurve.auroc(scores, labels.astype(dtype)) == want
    assert undercurve.auroc(scores.tolist(), labels.astype(dtype).tolist()) == want
    wide = np.asfortranarray(np.stack([scores, -scores], axis=1))
    assert undercurve.auroc(wide[:, 0], labels) == want  # strided
    assert undercurve.auroc(scores[::-1], labels[::-1]) == want
    scores.flags.writeable = labels.flags.writeable = False
    assert undercurve.auroc(scores, labels) == want
    memory = np.zeros(300 * 8 + 1, np.uint8)
    shifted = memory[1:].view(np.float64)  # not aligned
    shifted[:] = scores
    assert undercurve.auroc(shifted, labels) == want


def test_intervals_hold_the_value():
    rng = np.random.default_rng(4)
    labels = rng.random(2000) < 0.1
    found = undercurve.metrics(rng.normal(size=2000) + labels, labels, intervals=True)
    for name in ("auroc", "ap", "pauc"):
        low, high = found.intervals[name]
        assert low < getattr(found, name) < high and high - low < 0.3
    assert "AUROC" in found._repr_html_() and "[" in found._repr_html_()


def test_a_plot_has_the_curves(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    rng = np.random.default_rng(5)
    labels = rng.random(500) < 0.3
    roc, pr = undercurve.curves(rng.normal(size=500) + 2 * labels, labels).plot()
    figure = roc.figure
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    blue = (np.abs(pixels - np.array([31, 119, 180])).sum(axis=2) < 30).sum(axis=0)
    half = blue.shape[0] // 2
    assert blue[:half].sum() > 200 and blue[half:].sum() > 200, "a curve is missing"
    assert pr.get_xlabel() == "recall"


def test_decisions_are_those_of_a_scan():
    rng = np.random.default_rng(12)
    labels = rng.random(3000) < 0.2
    scores = rng.normal(size=3000) + 3 * labels
    for rule in ("precision>=0.9@90%", "recall>=0.8@90%", "fpr<=0.05@95%", "precision>=0.9", "alerts<=5%", "alerts<=100", "youden", "f1", "mcc"):
        found = undercurve.decide(scores, labels, rule)
        alerts = scores >= found.threshold
        assert (found.alerts, found.true_positives) == (alerts.sum(), (alerts & labels).sum()), rule
        assert found.precision == labels[alerts].mean() and found.recall == alerts[labels].mean()
        assert found.fpr == alerts[~labels].mean() and found.rule == rule and found.threshold not in scores
        low, high = found.intervals["precision"]
        assert low < found.precision <= high
    # Rows that are there four times promise no more than they do once.
    alone = undercurve.decide(scores, labels, "recall>=0.8@90%", clusters=np.arange(3000))
    four = [np.repeat(x, 4) for x in (scores, labels, np.arange(3000))]
    assert undercurve.decide(*four[:2], "recall>=0.8@90%", clusters=four[2]).threshold == alone.threshold
    assert undercurve.decide(*four[:2], "recall>=0.8@90%").threshold > alone.threshold
    with pytest.raises(ValueError, match="more positives"):
        undercurve.decide(scores[:60], labels[:60], "precision>=0.9@99%")
    with pytest.raises(ValueError, match="rule"):
        undercurve.decide(scores, labels, "precision")


def test_two_scores_are_compared_as_by_proc() -> None:
    golden = json.loads((Path(__file__).parents[3] / "tests" / "golden" / "delong.json").read_text())
    for case in golden["cases"]:
        found = undercurve.compare(case["a"], case["b"], case["labels"]).auroc
        assert found.values == pytest.approx(case["aurocs"], rel=1e-12)
        assert found.z == pytest.approx(case["z"], rel=1e-10)
        assert found.p == pytest.approx(case["p"], rel=1e-8)
    rows = len(case["labels"])
    clusters = [f"p{row // 3}" for row in range(rows)]
    whole = undercurve.compare(case["a"], np.asarray(case["b"], np.float32), case["labels"], clusters=clusters)
    assert whole.auroc.values == pytest.approx(case["aurocs"], rel=1e-12)
    assert whole.ap.p != undercurve.compare(case["a"], case["b"], case["labels"]).ap.p
    with pytest.raises(ValueError, match="b: "):
        undercurve.compare(case["a"], case["b"][1:], case["labels"])


def test_any_metric_by_its_name():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 300)
    scores = np.round(1 / (1 + np.exp(-(labels + rng.normal(size=300)))), 2)
    weights, query = rng.integers(1, 4, 300).astype(float), rng.integers(0, 20, 300)
    whole = undercurve.metrics(scores, labels, weights, intervals=True, fpr=0.1, clusters=query)
    by_name = undercurve.metrics(scores, labels, weights, metrics=["AUC", "ap", "pauc:0:0.1"], clusters=query)
    assert [one.value for one in by_name.values()] == [whole.auroc, whole.ap, whole.pauc]
    assert [one.interval for one in by_name.values()] == list(whole.intervals.values())
    # Labels of two of any kind.
    for other in (labels * 2 - 1, labels + 1, labels == 1, np.where(labels, "yes", "no"), [None if y is None else bool(y) for y in labels]):
        assert undercurve.metrics(scores, other, weights, fpr=0.1).auroc == whole.auroc
    assert undercurve.metrics(scores, labels, metrics="ap", positive=0) == undercurve.metrics(scores, 1 - labels, metrics="ap")
    # Queries, graded labels, groups.
    graded = labels * rng.integers(1, 4, 300)
    found = undercurve.metrics(scores, graded, metrics="map,ndcg:5,mrr", queries=[f"q{k}" for k in query])
    assert found["map"].interval and 0 < found["ndcg:5"].value < 1
    found = undercurve.metrics(scores, labels, metrics="gap(tpr@.1),worst-auroc", groups=np.where(query < 9, "a", "b"))
    assert set(found) == {"gap(tpr@0.1)", "worst-auroc"} and found["gap(tpr@0.1)"].noise > 0 and found["worst-auroc"].groups[0] in "ab"
    assert all(0 <= undercurve.metrics(scores, labels, metrics=name)[name].value for name in ("f1:0.5", "brier", "ece", "lift-at:10%"))
    assert len(undercurve.METRICS) >= 28
