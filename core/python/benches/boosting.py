"""XGBoost and LightGBM with two workers: the AUROC and AP that they tell, the true ones, and those of merged states.

    python core/python/benches/boosting.py [ROWS]      of each worker, for training and for validation; e.g. 100000

Two processes train one model of 20 trees over both parts, with the engine's own exchange. Rows are dealt at random, or drift: the
second part has more positives, and other means, as another day or region has. "Tells" is what the engine prints of the validation
rows; "alone" what its metric is of all rows and the same model in one process. The truth is scikit-learn's, of all rows. The last column is
of the states of both workers. Needs xgboost, lightgbm, scikit-learn and, because LightGBM listens on all addresses, a network
namespace (`unshare` and `ip`) that it starts itself in. Prints a table; what the engines say goes to stderr.
"""

import os
import socket
import subprocess
import sys
import tempfile

import numpy as np

import undercurve

WORKERS, TREES = 2, 20


def data(rank, drifting, n, part):
    """Rows of a worker."""
    rng = np.random.default_rng((7, rank, part))
    day = rank if drifting else rng.integers(0, WORKERS, n)
    x = rng.normal(size=(n, 8)) + 0.5 * np.asarray(day)[..., None]
    chance = x[:, 0] + 0.7 * np.sin(2 * x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] - 5.5 + 1.5 * day
    return x.astype(np.float32), (rng.random(n) < 1 / (1 + np.exp(-chance))).astype(np.uint8)


def by_xgboost(rank, ports, train, valid, both):
    import xgboost

    settings = {"objective": "binary:logistic", "eval_metric": ["auc", "aucpr"], "max_depth": 4, "nthread": 1}
    told = {}
    with xgboost.collective.CommunicatorContext(dmlc_communicator="rabit", dmlc_tracker_uri="127.0.0.1", dmlc_tracker_port=int(ports[0]), dmlc_task_id=str(rank)):
        rows, held = (xgboost.DMatrix(x, label=y) for x, y in (train, valid))
        model = xgboost.train(settings, rows, TREES, evals=[(held, "valid")], evals_result=told, verbose_eval=False)
        scores = model.predict(held)
    alone = model.eval(xgboost.DMatrix(both[0], label=both[1])).replace(":", "\t").split("\t")
    return scores, [told["valid"][name][-1] for name in ("auc", "aucpr")], [float(alone[2]), float(alone[4])]


def by_lightgbm(rank, ports, train, valid, both):
    import lightgbm

    settings = {
        "objective": "binary", "metric": ["auc", "average_precision"], "num_leaves": 15, "num_threads": 1, "verbose": -1,
        "tree_learner": "data", "pre_partition": True, "num_machines": WORKERS, "local_listen_port": int(ports[rank]),
        "machines": ",".join(f"127.0.0.1:{port}" for port in ports[:WORKERS]),
    }  # fmt: skip
    names, told = ("auc", "average_precision"), {}
    rows = lightgbm.Dataset(*train)
    held = lightgbm.Dataset(*valid, reference=rows)
    model = lightgbm.train(settings, rows, TREES, valid_sets=[held], valid_names=["valid"], callbacks=[lightgbm.record_evaluation(told)])
    model = lightgbm.Booster(model_str=model.model_to_string())
    # (A Booster tells no metric of other rows after training: trained on for no tree, from the model's scores.)
    one = {"objective": "binary", "metric": list(names), "verbose": -1, "num_threads": 1, "learning_rate": 1e-300}
    alone, whole = {}, lightgbm.Dataset(both[0], both[1], init_score=model.predict(both[0], raw_score=True))
    lightgbm.train(one, whole, 1, valid_sets=[whole], valid_names=["all"], callbacks=[lightgbm.record_evaluation(alone)])
    return model.predict(valid[0]), [told["valid"][name][-1] for name in names], [alone["all"][name][-1] for name in names]


ENGINES = {"XGBoost": by_xgboost, "LightGBM": by_lightgbm}


def work(engine, rank, drifting, n, folder, *ports):
    rank, drifting, n = int(rank), drifting == "True", int(n)
    train, valid = data(rank, drifting, n, 0), data(rank, drifting, n, 1)
    both = [np.concatenate(parts) for parts in zip(*(data(k, drifting, n, 1) for k in range(WORKERS)), strict=True)]
    scores, told, alone = ENGINES[engine](rank, ports, train, valid, both)
    state = undercurve.State().update(scores, valid[1]).to_bytes()
    np.savez(f"{folder}/{rank}.npz", scores=scores, labels=valid[1], told=told, alone=alone, state=np.frombuffer(state, np.uint8))


def run(engine, drifting, n):
    tracker, ports = None, []
    if engine == "XGBoost":
        from xgboost.tracker import RabitTracker

        tracker = RabitTracker(n_workers=WORKERS, host_ip="127.0.0.1")
        tracker.start()
        ports = [tracker.worker_args()["dmlc_tracker_port"]]
    else:
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(WORKERS)]
        ports = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
    with tempfile.TemporaryDirectory() as folder:
        args = [sys.executable, __file__, "--worker", engine]
        workers = [subprocess.Popen([*args, *map(str, (rank, drifting, n, folder, *ports))], stdout=2) for rank in range(WORKERS)]
        assert [one.wait() for one in workers] == [0] * WORKERS
        if tracker:
            tracker.wait_for()
        return [dict(np.load(f"{folder}/{rank}.npz")) for rank in range(WORKERS)]


def main():
    from sklearn.metrics import average_precision_score, roc_auc_score

    n = int(float(sys.argv[2])) if len(sys.argv) > 2 else 100_000
    print("| rows | engine | metric | worker 1 tells | worker 2 tells | alone | true | merged states |\n|---|---|---|---|---|---|---|---|")
    for drifting in (False, True):
        for engine in ENGINES:
            parts = run(engine, drifting, n)
            scores, labels = (np.concatenate([part[name] for part in parts]) for name in ("scores", "labels"))
            merged = undercurve.State().merge(*(part["state"].tobytes() for part in parts)).metrics()
            for k, (name, truth, ours) in enumerate([("AUROC", roc_auc_score, merged.auroc), ("AP", average_precision_score, merged.ap)]):
                want = truth(labels, scores)
                off = [f"{part['told'][k]:.5f} ({part['told'][k] - want:+.5f})" for part in parts]
                alone = parts[0]["alone"][k]
                print(
                    f"| {'drift' if drifting else 'at random'} | {engine} | {name} | {' | '.join(off)} | {alone:.5f} ({alone - want:+.5f}) "
                    f"| {want:.5f} | {ours:.5f} ({ours - want:+.0e}) |",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
    elif sys.argv[1:2] == ["--inside"]:
        main()
    else:
        inside = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, __file__, "--inside", *sys.argv[1:]]
        os.execvp("unshare", ["unshare", "--map-root-user", "--net", *inside])
