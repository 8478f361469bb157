"""Training from rows of every kind, and files that the command line reads and writes."""

import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import undercurve
from undercurve.models import TrainingWarning

ROOT = pathlib.Path(__file__).parents[3]
SAMPLE = ROOT / "demo/web/samples/page-blocks.csv"
QUICK = {"method": "soap", "steps": 200}


def program():
    """The command line, where it was built."""
    if "UNDERCURVE_COMMAND" in os.environ:
        return os.environ["UNDERCURVE_COMMAND"]
    found = [ROOT / "target" / kind / "undercurve" for kind in ("debug", "release")]
    found = [path for path in found if path.exists()]
    if not found:
        pytest.skip("the command line is not built (cargo build -p undercurve-demo)")
    return str(found[0])


def rows(n=400):
    rng = np.random.default_rng(0)
    town = rng.choice(["Bern", "Thun"], n)
    age = rng.normal(50, 15, n)
    label = np.where((age - 50) / 15 + (town == "Thun") + rng.logistic(size=n) > 2, "yes", "no")
    return {"age": age, "town": town.tolist(), "label": label.tolist()}


def test_frames_of_every_kind_give_the_same_model():
    table = rows()
    want = undercurve.train(table, **QUICK).to_bytes()
    for name in ("pandas", "polars", "pyarrow"):
        module = pytest.importorskip(name)
        frame = module.table(table) if name == "pyarrow" else module.DataFrame(table)
        assert undercurve.train(frame, **QUICK).to_bytes() == want, name
        model = undercurve.train(frame, **QUICK)
        assert np.array_equal(model.scores(frame), model.scores(table))


def test_frames_with_missing_values_dates_and_categories():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    table = rows()
    frame = pandas.DataFrame(table)
    frame.loc[3, "age"] = np.nan
    frame.loc[4, "town"] = None
    frame["day"] = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(np.arange(400) % 90, "D")
    frame["kind"] = pandas.Categorical(np.where(np.arange(400) % 3, "a", "b"))
    frame["flag"] = pandas.array([True, None] * 200, dtype="boolean")
    model = undercurve.train(frame, missing="impute", **QUICK)
    assert model.columns == ["age", "town", "day", "kind", "flag"]
    other = undercurve.train(polars.from_pandas(frame), missing="impute", **QUICK)
    assert np.allclose(model.scores(frame), other.scores(polars.from_pandas(frame)), atol=1e-6)
    with pytest.raises(ValueError, match='row 4, column "town": missing value'):
        undercurve.train(frame[["town", "label"]], **QUICK)


def test_arrays_and_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(1)
    X = np.where(rng.random((300, 6)) < 0.4, rng.normal(size=(300, 6)), 0.0)
    y = X[:, 0] + 0.3 * rng.normal(size=300) > 0.2
    dense = undercurve.train(X, y, scale="unit", dtype="float64", **QUICK)
    few = undercurve.train(sparse.csr_matrix(X), y, dtype="float64", **QUICK)
    # (SOAP is of differences of scores: only rounding moves the bias, and Adam makes steps of it.)
    assert np.allclose(np.diff(dense.scores(X)), np.diff(few.scores(sparse.csr_matrix(X))), atol=1e-9)
    assert np.allclose(few.scores(X), few.scores(sparse.csc_array(X)))
    times = rng.integers(0, 3, 300)
    one = undercurve.train(sparse.csr_matrix(X), y, weights=times, method="ap-exact", dtype="float64", pretrain=0)
    two = undercurve.train(
        sparse.csr_matrix(np.repeat(X, times, 0)), np.repeat(y, times), method="ap-exact", dtype="float64", pretrain=0
    )
    assert np.allclose(one.params(), two.params(), atol=1e-6)


def test_the_command_line_writes_the_same_file_and_reads_ours(tmp_path):
    run = program()
    for method, more in [("soap", []), ("ap-exact", []), ("ppd-sg", ["--valid", "0.2"])]:
        theirs = tmp_path / f"{method}.uc"
        line = [run, "train", str(SAMPLE), "--label", "kind", "--positive", "other", "--method", method, "--steps", "200"]
        subprocess.run([*line, *more, "--out", str(theirs)], check=True, capture_output=True)
        valid = {"valid": 0.2} if more else {}
        valid |= {"missing": "impute"}  # (the command line's default)
        ours = undercurve.train(SAMPLE, label="kind", positive="other", method=method, steps=200, **valid)
        assert ours.to_bytes() == theirs.read_bytes(), method
        assert undercurve.load(theirs).params().tolist() == ours.params().tolist()
    ours.save(tmp_path / "ours.uc")
    told = subprocess.run([run, "predict", str(tmp_path / "ours.uc"), str(SAMPLE)], check=True, capture_output=True, text=True)
    scores = [float(line.split(",")[0]) for line in told.stdout.splitlines()[1:]]
    assert np.array_equal(np.array(scores, np.float32), ours.scores(SAMPLE))


def test_a_frame_of_pandas_to_a_file_that_the_command_line_scores(tmp_path):
    pandas = pytest.importorskip("pandas")
    run = program()
    frame = pandas.DataFrame(rows())
    model = undercurve.train(frame, **QUICK)
    model.save(tmp_path / "m.uc")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    line = [run, "predict", str(tmp_path / "m.uc"), str(tmp_path / "rows.csv")]
    told = subprocess.run(line, check=True, capture_output=True, text=True)
    scores = [float(line.split(",")[0]) for line in told.stdout.splitlines()[1:]]
    assert np.array_equal(np.array(scores, np.float32), model.scores(frame))


def test_constraints_on_groups_are_judged():
    rng = np.random.default_rng(2)
    group = rng.choice(["a", "b"], 3000)
    X = rng.normal(size=(3000, 2)) + (group == "a")[:, None]
    y = X[:, 0] + rng.normal(size=3000) > 1.5
    run = undercurve.Trainer(X, y, groups=group, method="lagrange", constraints=["gap(fpr) <= 0.3"], steps=300, valid=0.3)
    run.run()
    (valid,) = run.judge()
    assert valid["rows"] == "valid" and valid["verdict"] in ("met", "not met", "cannot tell")
    plain = undercurve.Trainer(X, y, groups=group, preset="roc-fairness", steps=300, test=(X, y))
    with pytest.raises(ValueError, match="group"):
        plain.run()
        plain.judge()
    named = {"x": X[:, 0], "who": group.tolist(), "label": y}
    run = undercurve.Trainer(named, groups="who", method="sonex", constraints=["recall >= 0.5"], steps=200)
    assert run.run().about()["groups"] == (["who"], ["a", "b"])


def test_classes_and_numbers():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    kinds = np.array(["red", "blue", "green"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = undercurve.train(X, kinds, method="ppd-sg", steps=300)
    assert sorted(model.classes) == ["blue", "green", "red"] and model.scores(X).shape == (300, 3)
    assert (model.decide(X) == kinds).mean() > 0.7
    model = undercurve.train(X, X[:, 0] * 2 + 1, method="ai-sarah", target="values", loss="least-squares")
    assert np.corrcoef(model.scores(X), X[:, 0])[0, 1] > 0.99


def test_progress_callbacks_and_warnings():
    X = np.random.default_rng(4).normal(size=(200, 3))
    y = np.arange(200) % 5 == 0
    seen = []
    run = undercurve.Trainer(X, y, method="soap", steps=200)
    with pytest.warns(TrainingWarning, match='model="mlp:16"'):
        run.run(callback=lambda one: seen.append(one.steps_done))
    assert 15 <= len(seen) <= 40 and seen == sorted(seen) and run.is_done
    run = undercurve.Trainer(X, y, method="soap", steps=200)
    with pytest.warns(TrainingWarning):
        run.run(progress=True, callback=lambda one: one.steps_done < 50)
    assert run.steps_done < 200
    table = {"id": [f"c{k}" for k in range(200)], "x": X[:, 0] + y, "label": y}
    with pytest.warns(TrainingWarning, match="left out: id .keep_identifiers=True"):
        assert undercurve.train(table, **QUICK).columns == ["x"]
    assert undercurve.train(table, keep_identifiers=True, **QUICK).columns == ["id", "x"]


def test_files_are_whole_or_not_there(tmp_path):
    table = rows()
    model = undercurve.train(table, **QUICK)
    path = tmp_path / "model.uc"
    model.save(path)
    assert [one.name for one in tmp_path.iterdir()] == ["model.uc"]
    again = undercurve.load(path)
    assert np.array_equal(again.scores(table), model.scores(table)) and again.threshold == model.threshold
    assert np.array_equal(pickle.loads(pickle.dumps(model)).scores(table), model.scores(table))
    with pytest.raises(OSError):
        model.save(tmp_path / "no" / "model.uc")
    with pytest.raises(FileNotFoundError):
        undercurve.load(tmp_path / "none.uc")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="model.uc"):
        undercurve.load(path)
    assert "threshold" in model._repr_html_()


def test_a_threshold_is_there_where_one_was_asked_for():
    table = rows()
    labels = np.array(table["label"]) == "yes"
    model = undercurve.train(table, **QUICK)
    assert model.threshold is None and model.about()["rule"] is None
    with pytest.raises(ValueError, match="model.with_threshold"):
        model.decide(table)
    decided = model.with_threshold("alerts<=20", table, labels)
    assert decided.decide(table).sum() <= 20 and decided.about()["rule"] == ("alerts<=20", "given") and model.threshold is None
    assert undercurve.decide(model.scores(table), labels, "alerts<=20").threshold == decided.threshold
    # A promise needs rows that choose nothing else; what cannot be promised is said in the words of `decide`.
    with pytest.raises(ValueError, match="a promise needs rows that chose nothing else"):
        undercurve.train(table, threshold="recall>=0.5@90%", **QUICK)
    with pytest.warns(TrainingWarning, match="precision>=0.95@99%: no threshold can be promised.*the validation rows"):
        found = undercurve.train(table, valid=0.2, threshold="precision>=0.95@99%", **QUICK)
    assert found.threshold is None
    with pytest.raises(ValueError, match="no threshold can be promised"):
        found.with_threshold("precision>=0.95@99%", table, labels, clusters=np.zeros(len(labels)))


def test_plots_of_a_model():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    table = rows()
    labels = np.array(table["label"]) == "yes"
    model = undercurve.train(table, **QUICK)
    sure = undercurve.train(table, valid=0.3, threshold="f1", **QUICK)
    with pytest.raises(ValueError, match="only ranks"):
        model.plot_reliability(table, labels)
    chance = sure.probabilities(table)
    reliable = sure.plot_reliability(table, labels, bins=4)
    of = reliable.containers[0].lines[0].get_xydata()
    assert len(of) == 4 and np.isclose(of[:, 0].mean(), chance.mean()) and np.isclose(of[:, 1].mean(), labels.mean())
    loss = -np.log(np.where(labels, chance, 1 - chance)).mean()
    assert reliable.get_title() == f"log loss {loss:.4f}, Brier score {((chance - labels) ** 2).mean():.4f}"
    thresholds = sure.plot_thresholds(table, labels)
    precision, recall, false, own = (line.get_xydata() for line in thresholds.get_lines())
    at, scores = own[0, 0], sure.scores(table)
    assert at == sure.threshold
    for line, want in [(precision, labels[scores >= at].mean()), (recall, (scores[labels] >= at).mean()), (false, (scores[~labels] >= at).mean())]:
        assert np.isclose(line[line[:, 0] >= at][-1, 1], want)
    for axis in (model.plot_scores(table, labels), model.plot_weights(), model.plot_curves(table, labels)[0], reliable, thresholds):
        axis.figure.canvas.draw()
        pixels = np.asarray(axis.figure.canvas.buffer_rgba())[..., :3].astype(int)
        assert ((pixels.max(axis=2) - pixels.min(axis=2)) > 60).sum() > 300, "nothing is drawn"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_a_run():
    code = """
        import signal
        import numpy as np, undercurve
        signal.signal(signal.SIGINT, signal.default_int_handler)  # (a job in the background ignores it)
        X = np.random.default_rng(0).normal(size=(2000, 5))
        run = undercurve.Trainer(X, X[:, 0] > 1, method="soap", steps=100_000_000)
        print("on", flush=True)
        try:
            run.run()
        except KeyboardInterrupt:
            print("stopped", run.steps_done > 0)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "on\n"
        import time

        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        try:
            told, _ = child.communicate(timeout=20)
        finally:
            child.kill()
    assert told == "stopped True\n"


def test_what_is_in_the_rows_need_not_be_said_twice(tmp_path):
    table = rows() | {"weight": (1 + np.arange(400) % 3).tolist()}
    model = undercurve.train(table, weights="weight", valid=0.3)
    labels, weights = table["label"], np.array(table["weight"])
    whole = model.evaluate(table)
    assert whole == model.evaluate(table, labels, weights) != model.evaluate(table, labels)
    assert whole == model.evaluate(table, np.array(labels) == "yes", weights)
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in [table, *zip(*table.values())]))
    assert model.evaluate(file) == whole and model.evaluate(str(file), intervals=True).intervals["auroc"][0] < whole.auroc
    assert model.with_threshold("f1", table).threshold == model.with_threshold("f1", table, labels, weights).threshold
    assert np.array_equal(model.curves(table).tpr, model.curves(file, labels, weights).tpr)
    for wrong, text in [(np.zeros((3, 2)), "labels: rows without names"), (table | {"label": [None] * 400}, "label"), ({"age": [1.0]}, "label")]:
        with pytest.raises(ValueError, match=text):
            model.evaluate(wrong)
    with pytest.raises(ValueError, match="labels: expected values; without them those of the column 'label'"):
        model.evaluate(table, "label")


def test_the_positive_label_is_that_of_training():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    for labels, positive in [(np.where(X[:, 0] > 0, 0, 1), "0"), (np.where(X[:, 0] > 0, "good", "bad"), "good"), (np.where(X[:, 0] > 0, -1, 1), -1), (X[:, 0] <= 0, False)]:
        model = undercurve.train(X, labels, positive=positive, steps=50)
        assert model.evaluate(X, labels).auroc > 0.99, positive
        assert model.curves(X, labels).metrics.auroc > 0.99 and model.with_threshold("f1", X, labels).decide(X).mean() < 0.7


def test_categories_that_training_did_not_have_are_told():
    table = rows()
    model = undercurve.train(table, steps=50, method="ce")
    with pytest.warns(UserWarning, match='^2 values of column "town" did not occur in training'):
        scores = model.scores({"age": [40.0, 50.0, 60.0], "town": ["Bern", "Basel", "Genf"]})
    assert np.isfinite(scores).all()


def test_validation_rows_of_ones_own_choose_the_model(tmp_path):
    table, other = rows(400), rows(700)
    held = {name: of[400:] for name, of in other.items()}
    model = undercurve.train(table, method="soap", steps=300, valid=held, threshold="recall>=0.8@60%")
    assert model.figures["valid ap"] == pytest.approx(model.evaluate(held).ap, abs=1e-12)
    file = tmp_path / "held.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in [held, *zip(*held.values())]))
    assert undercurve.train(table, method="soap", steps=300, valid=str(file), threshold="recall>=0.8@60%").to_bytes() == model.to_bytes()
    X, y = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 3 == 0
    own = undercurve.train(X[:200], y[:200], method="ce", steps=100, valid=(X[200:], y[200:]), patience=3)
    assert own.figures["valid ap"] == pytest.approx(own.evaluate(X[200:], y[200:]).ap, abs=1e-12)
    with pytest.warns(UserWarning, match="^patience 3 had no part: the run ended by itself"):
        undercurve.train(X[:200], y[:200], valid=(X[200:], y[200:]), patience=3)
    for wrong in (X, [0.2, 0.3], "share"):
        with pytest.raises((ValueError, OSError)):
            undercurve.train(X, y, valid=wrong, steps=5)


def test_sparse_rows_of_every_layout_are_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 6)) < 0.3, rng.random((200, 6)), 0)
    y = X[:, 0] > 0
    want = undercurve.train(sparse.csr_array(X), y, method="ce", steps=50)
    # (A `dok` is a dict, too.)
    for layout in ("csc", "coo", "lil", "dok", "bsr"):
        rows = sparse.csr_array(X).asformat(layout)
        assert undercurve.train(rows, y, method="ce", steps=50).to_bytes() == want.to_bytes(), layout
        assert np.array_equal(want.scores(rows), want.scores(sparse.csr_array(X))), layout


def test_what_is_wrong_names_the_way_out():
    table = rows()
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3 == 0
    model = undercurve.train(table, steps=50, method="ce")
    V, T, A = ValueError, TypeError, AttributeError
    for call, kind, text in [
        (lambda: model.scores({"age": [1.0], "town": [None]}), V, 'row 0, column "town": missing value in column "town" .a model of train.missing="impute"'),
        (lambda: model.predict(X), A, "a Model has no predict; what does it here is decide, and scores"),
        (lambda: model.nothing, A, "a Model has no nothing$"),
        (lambda: undercurve.train(X, y, class_weight=5), V, "class_weight: expected 'balanced', or labels with their weights as {1: 5}, got 5"),
        (lambda: undercurve.train(X, y, callback=[1]), T, "callback: expected a function of the run, got list"),
        (lambda: undercurve.train(table, target="label"), V, "target: expected one of .*label=… names the column"),
        (lambda: undercurve.train(X, y, lr=0.1), V, 'ce-exact has no parameter "lr".*method="ce", which goes in batches, has lr'),
        (lambda: undercurve.train(X, y, method="aupr"), V, "did you mean ap-exact"),
    ]:
        with pytest.raises(kind, match=text):
            call()
    assert not hasattr(model, "coef_") and pickle.loads(pickle.dumps(model)).method == "ce"


def test_warnings_are_of_the_line_that_calls(recwarn):
    model = undercurve.train(rows(), steps=50, method="ce")
    recwarn.clear()
    for call in (model.scores, model.probabilities, lambda rows: undercurve.train(rows, label="town", positive="Basel", method="soap", steps=1)):
        call({"age": [40.0, 50.0, 20.0, 30.0], "town": ["Basel", "Basel", "Bern", "Bern"]})
    assert {os.path.basename(one.filename) for one in recwarn} == {os.path.basename(__file__)} and len(recwarn) >= 1
    assert issubclass(undercurve.TrainingWarning, UserWarning)


@pytest.mark.parametrize("method", ["soap", "auc-pairwise", "pauc-threshold"])
def test_a_class_that_counts_next_to_nothing_is_measured(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = rows()
        run = undercurve.Trainer(table, method=method, class_weight={"no": 1000, "yes": 1e-4}, steps=5)
        run.step(5)
        assert np.isfinite(run.report()["objective"])


def test_cross_entropy_on_few_rows_a_column_is_warned_of():
    y = np.arange(190) % 10 == 0
    X = np.random.default_rng(0).normal(size=(190, 2)) + 2.0 * y[:, None]
    with pytest.warns(undercurve.TrainingWarning, match='^ce: fewer than ten rows of the rarer class a column.*; try method="ce-exact"$'):
        undercurve.train(X, y, method="ce")
