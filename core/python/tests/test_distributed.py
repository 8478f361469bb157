"""Losses over the rows of several workers: threads, and processes of torch.distributed on 127.0.0.1 (UNDERCURVE_LONG=1)."""

import hashlib
import os
import random
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import undercurve
from undercurve.distributed import value_grad

KINDS = [("ap", {}), ("auc", {}), ("pauc", {"fpr": (0.05, 0.3)})]
SURROGATES = ["hinge", "squared-hinge"]


class Threads:
    """Workers that are threads of this process."""

    def __init__(self, size):
        self.size, self.barrier, self.slots = size, threading.Barrier(size, timeout=20), [None] * size

    def engine(self, rank):
        def all_of(own):
            self.slots[rank] = own
            self.barrier.wait()
            found = list(self.slots)
            self.barrier.wait()
            return found

        class Engine:
            size = self.size

            def gather(self, own):
                return all_of(own)

            def reduce(self, op, numbers):
                return getattr(np, op)(np.stack(all_of(numbers)), axis=0)

        Engine.rank = rank
        return Engine()


def spread(loss, scores, labels, owner, size):
    group, grad, values, errors = Threads(size), np.zeros_like(scores), [None] * size, [None] * size

    def work(rank):
        mine = np.flatnonzero(owner == rank)
        try:
            values[rank], grad[mine] = value_grad(loss, scores[mine], labels[mine], group.engine(rank))
        except Exception as error:
            errors[rank] = error

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return values, grad, errors


def rows(n, seed=5):
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.03).astype(np.uint8)
    labels[:2] = [1, 0]
    return rng.normal(size=n) + labels, labels


def test_threads_have_one_gradient_that_of_the_rows_together():
    scores, labels = rows(3000)
    for kind, more in KINDS:
        for surrogate in SURROGATES:
            loss = undercurve.Loss(kind, surrogate=surrogate, **more)
            value, grad = loss.value_grad(scores, labels)
            hashes = set()
            for size in (1, 2, 5):
                values, found, errors = spread(loss, scores, labels, np.arange(3000) * 7 % size, size)
                assert errors == [None] * size
                assert abs(found - grad).max() <= 1e-14 * abs(grad).max() and abs(values[0] - value) <= 1e-14 * abs(value)
                hashes.add((*set(values), found.tobytes()))
            assert len(hashes) == 1


def test_all_workers_raise_where_one_has_wrong_rows():
    scores, labels = rows(100)
    loss = undercurve.Loss("ap", surrogate="hinge")
    scores[55] = np.nan
    _, _, errors = spread(loss, scores, labels, np.arange(100) // 40, 3)
    assert {str(error) for error in errors} == {"worker 1: scores: value 15 is NaN or infinite"}
    # Rows that never reach the core are told to the others, too.
    scores, labels = rows(100)
    _, _, errors = spread(loss, scores, labels * np.where(np.arange(100) < 50, 1.0, 0.5), np.arange(100) // 50, 2)
    assert "worker 1: " in str(errors[0]) and "labels" in str(errors[1])
    smooth = undercurve.Loss("ap", surrogate="sigmoid")
    _, _, errors = spread(smooth, scores, labels, np.arange(100) // 50, 2)
    assert all("a surrogate other than hinge and squared hinge" in str(error) for error in errors)
    _, _, errors = spread(loss, scores, labels * 0, np.arange(100) // 50, 2)
    assert all(isinstance(error, ValueError) and "one class" in str(error) for error in errors)


def long(test):
    has = os.environ.get("UNDERCURVE_LONG")
    return pytest.mark.skipif(not has, reason="processes of torch.distributed are for the long tier (UNDERCURVE_LONG=1)")(test)


# What a worker runs: one line of its result, or of its error.
WORKER = """
import datetime, os, sys, time
import numpy as np
import torch, torch.distributed as dist
rank, size, port, place, case, seconds, tests = sys.argv[1:]
rank, size = int(rank), int(size)
sys.path.insert(0, tests)
import undercurve
from undercurve.distributed import Torch, value_grad
from test_distributed import KINDS, SURROGATES, rows
from undercurve.torch import Loss
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:" + port, rank=rank, world_size=size,
                        timeout=datetime.timedelta(seconds=float(seconds)))
if case == "forever":
    scores, labels = rows(2000, rank)
    loss = Loss("ap", surrogate="squared-hinge", group=dist.group.WORLD)
    print("ready", flush=True)
    try:
        while True:
            loss(torch.from_numpy(scores), torch.from_numpy(labels))
    except RuntimeError as error:
        print("error", str(error).replace("\\n", " "), flush=True)
        os._exit(3)
n = 200_000
scores, labels = rows(n)
owner = {"blocks": np.arange(n) * size // n, "random": np.random.default_rng(size).integers(0, size, n), "empty": np.zeros(n, int),
         "one class": np.where(labels == 1, 0, size - 1 - np.arange(n) % max(1, size - 1))}[case]
mine = np.flatnonzero(owner == rank)
np.random.default_rng(rank).shuffle(mine)
engine = Torch()
for kind, more in KINDS:
    for surrogate in SURROGATES:
        value, grad = value_grad(undercurve.Loss(kind, surrogate=surrogate, **more), scores[mine], labels[mine], engine)
        s = torch.from_numpy(scores[mine]).requires_grad_()
        loss = Loss(kind, surrogate=surrogate, group=dist.group.WORLD, **more)(s, torch.from_numpy(labels[mine]))
        loss.backward()
        assert loss.item() == value and np.array_equal(s.grad.numpy(), grad * size)
        np.savez(f"{place}/{kind}-{surrogate}-{rank}.npz", mine=mine, grad=grad, value=value)
"""


def port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def processes(size, folder, case, seconds):
    more = [str(size), str(port()), str(folder), case, str(seconds), os.path.dirname(__file__)]
    return [subprocess.Popen([sys.executable, "-c", WORKER, str(rank), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"}) for rank in range(size)]  # fmt: skip


@long
def test_processes_have_one_gradient_that_of_the_rows_together(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    n = 200_000
    scores, labels = rows(n)
    hashes = {}
    for size, case in [(1, "blocks"), (2, "random"), (2, "empty"), (3, "random"), (3, "one class")]:
        for one in processes(size, tmp_path, case, 60):
            told = one.communicate(timeout=300)
            assert one.returncode == 0, told
        for kind, more in KINDS:
            for surrogate in SURROGATES:
                parts = [np.load(tmp_path / f"{kind}-{surrogate}-{rank}.npz") for rank in range(size)]
                grad = np.full(n, np.nan)
                for part in parts:
                    grad[part["mine"]] = part["grad"]
                value, want = undercurve.Loss(kind, surrogate=surrogate, **more).value_grad(scores, labels)
                values = {float(part["value"]) for part in parts}
                assert abs(grad - want).max() <= 1e-14 * abs(want).max() and abs(max(values) - value) <= 1e-14 * abs(value)
                hashes.setdefault((kind, surrogate), set()).add((*values, hashlib.sha256(grad.tobytes()).hexdigest()))
    assert all(len(found) == 1 and len(*found) == 2 for found in hashes.values()), hashes


@long
def test_no_worker_outlives_one_that_is_killed(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    runs, seconds, draw = int(os.environ.get("UNDERCURVE_KILLS", 100)), 5, random.Random(7)
    slowest = 0.0
    for run in range(runs):
        size = draw.choice([2, 3])
        group = processes(size, tmp_path, "forever", seconds)
        try:
            for one in group:
                assert one.stdout.readline() == "ready\n"
            time.sleep(draw.random() * 0.5)
            victim = draw.randrange(size)
            group[victim].kill()
            start = time.monotonic()
            for rank, one in enumerate(group):
                out, err = one.communicate(timeout=seconds + 10)
                if rank != victim:
                    assert one.returncode == 3 and "another worker ended or did not answer in time" in out, (out, err)
            slowest = max(slowest, time.monotonic() - start)
        finally:
            for one in group:
                one.kill()
    assert not any(tmp_path.iterdir())
    print(f"{runs} runs, the slowest ended after {slowest:.1f} s, time-out {seconds} s")
