"""Losses over the rows of several workers: threads, and processes of torch.distributed on 127.0.0.1 (UNDERCURVE_LONG=1)."""

import datetime
import hashlib
import math
import multiprocessing
import os
import random
import signal
import socket
import threading
import time

import numpy as np
import pytest

import undercurve
from undercurve.distributed import _sums, minimize, value_grad

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


def test_l_bfgs_has_the_bits_of_one_worker_and_a_minimum():
    rng = np.random.default_rng(4)
    y = (rng.random(2000) < 0.1).astype(np.uint8)
    x = rng.normal(size=(2000, 24)) + y[:, None] * ([1.0, 0.5, 0.0, -0.3] + [0.0] * 20)
    for kind in ("ap", "auc"):
        loss, found = undercurve.Loss(kind, surrogate="squared-hinge"), set()
        for size in (1, 3):
            group, fits = Threads(size), [None] * size
            owner = np.where(y == 1, 0, np.arange(2000) % size) if kind == "ap" else np.arange(2000) * 7 % size

            def work(rank, fits=fits, group=group, owner=owner, loss=loss):
                mine = np.flatnonzero(owner == rank)[::-1]
                fits[rank] = minimize(loss, x[mine], y[mine], group.engine(rank))

            threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            found |= {(fit.params.tobytes(), fit.value, fit.steps) for fit in fits}
        assert len(found) == 1
        params, value, steps = np.frombuffer(next(iter(found))[0]), fits[0].value, fits[0].steps
        # A minimum: no derivative is left, by the sum in memory.
        objective, by_score = loss.value_grad(x @ params, y)
        assert abs(x.T @ by_score + 1e-4 * params).max() <= 2e-7 and steps < 100
        assert abs(objective + 5e-5 * params @ params - value) <= 1e-12


def test_sums_over_rows_are_rounded_once():
    rng = np.random.default_rng(8)
    for scale in (1.0, 1e-200, 1e200):
        terms = [rng.normal(size=1000) * scale, np.zeros(1000), rng.normal(size=1000) * scale + 3 * scale]
        found = _sums(terms.__getitem__, 3, Threads(1).engine(0))
        for one, total in zip(terms, found, strict=True):
            assert abs(total - math.fsum(one)) <= 2**-57 * 1000 * abs(one).max()


def long(test):
    has = os.environ.get("UNDERCURVE_LONG")
    return pytest.mark.skipif(not has, reason="processes of torch.distributed are for the long tier (UNDERCURVE_LONG=1)")(test)


def port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def processes(work, size, seconds, *more):
    """So many copies of this process, each a worker of one group. (Copies, because importing torch takes seconds.)"""
    import torch
    import torch.distributed as dist

    at = port()

    def run(rank):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{at}", rank=rank, world_size=size)
        work(rank, size, dist.new_group(timeout=datetime.timedelta(seconds=seconds)), *more)

    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    group = [multiprocessing.get_context("fork").Process(target=run, args=(rank,)) for rank in range(size)]
    for one in group:
        one.start()
    return group


def one_step(rank, size, group, case, place):
    import torch

    from undercurve.distributed import Torch
    from undercurve.torch import Loss

    n = 200_000
    scores, labels = rows(n)
    owner = {
        "blocks": np.arange(n) * size // n,
        "random": np.random.default_rng(size).integers(0, size, n),
        "empty": np.zeros(n, int),
        "one class": np.where(labels == 1, 0, size - 1 - np.arange(n) % max(1, size - 1)),
    }[case]
    mine = np.flatnonzero(owner == rank)
    np.random.default_rng(rank).shuffle(mine)
    for kind, more in KINDS:
        for surrogate in SURROGATES:
            value, grad = value_grad(undercurve.Loss(kind, surrogate=surrogate, **more), scores[mine], labels[mine], Torch(group))
            s = torch.from_numpy(scores[mine]).requires_grad_()
            loss = Loss(kind, surrogate=surrogate, group=group, **more)(s, torch.from_numpy(labels[mine]))
            loss.backward()
            assert loss.item() == value and np.array_equal(s.grad.numpy(), grad * size)
            np.savez(f"{place}/{kind}-{surrogate}-{rank}.npz", mine=mine, grad=grad, value=value)


@long
def test_processes_have_one_gradient_that_of_the_rows_together(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    n = 200_000
    scores, labels = rows(n)
    hashes = {}
    for size, case in [(1, "blocks"), (2, "random"), (2, "empty"), (3, "random"), (3, "one class")]:
        for one in processes(one_step, size, 60, case, tmp_path):
            one.join(300)
            assert one.exitcode == 0, (size, case)
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


def forever(rank, size, group, place):
    import torch

    from undercurve.torch import Loss

    scores, labels = rows(2000, rank)
    loss = Loss("ap", surrogate="squared-hinge", group=group)
    (place / f"{rank} ready").touch()
    try:
        while True:
            loss(torch.from_numpy(scores), torch.from_numpy(labels))
    except RuntimeError as error:
        os._exit(3 if "another worker ended or did not answer in time" in str(error) else 4)


@long
def test_no_worker_outlives_one_that_is_killed(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    runs, seconds, draw = int(os.environ.get("UNDERCURVE_KILLS", 100)), 10, random.Random(7)
    slowest = 0.0
    for run in range(runs):
        size = draw.choice([2, 3])
        place = tmp_path / str(run)
        place.mkdir()
        group = processes(forever, size, seconds, place)
        try:
            for rank in range(size):
                while not (place / f"{rank} ready").exists():
                    assert all(one.exitcode is None for one in group)
                    time.sleep(0.005)
            time.sleep(draw.random() * 0.5)
            victim = draw.randrange(size)
            # Killed, or stopped: then nothing closes its connections, and the time-out alone ends the others.
            stopped = run % 4 == 3
            os.kill(group[victim].pid, signal.SIGSTOP if stopped else signal.SIGKILL)
            start = time.monotonic()
            for rank, one in enumerate(group):
                if rank != victim:
                    one.join(seconds + 10)
                    assert one.exitcode == 3, (run, rank, stopped, one.exitcode)
            slowest = max(slowest, time.monotonic() - start)
            print(f"run {run}: {size} workers, one {'stopped' if stopped else 'killed'}, {time.monotonic() - start:.1f} s", flush=True)
        finally:
            for one in group:
                one.kill()
                one.join()
        assert len(list(place.iterdir())) == size
    print(f"{runs} runs, the slowest ended after {slowest:.1f} s, time-out {seconds} s")
