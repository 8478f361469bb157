"""Losses over several workers beside the sum in memory: time as a ratio, and bytes sent beside the formula.

    python core/python/benches/distributed.py [ROWS …] [--gloo]      e.g. 100000 1000000

3 % positives. "One worker" is the machine alone, without an engine, on the rows that the sum in memory has; its ratio is what whole numbers
and thresholds of all rows cost (processor time of one thread, the least of several runs in turns). Bytes are those that a worker hands to its engine, of two workers. With
--gloo a second table, of 1, 2 and 3 processes on 127.0.0.1: bytes that the first hands to its engine, and the time of a step. A step of
`minimize` is a call of the loss with its derivatives by the weights of ten columns. Prints tables.
"""

import os
import socket
import sys
import tempfile
import threading
import time

import numpy as np

os.environ.setdefault("RAYON_NUM_THREADS", "1")
import undercurve
from undercurve.distributed import Alone, Torch, _at, value_grad

CASES = [("ap", "hinge"), ("ap", "squared-hinge"), ("auc", "hinge"), ("auc", "squared-hinge"), ("pauc", "squared-hinge")]
# With columns, of `minimize`.
STEPS = [("ap", "hinge", 0), ("ap", "squared-hinge", 0), ("pauc", "squared-hinge", 0), ("ap", "squared-hinge", 10)]


class Threads:
    """The engine of one of two workers that are threads."""

    size = 2

    def __init__(self, rank, slots, barrier):
        self.rank, self.slots, self.barrier = rank, slots, barrier

    def gather(self, own):
        self.slots[self.rank] = own
        self.barrier.wait()
        found = list(self.slots)
        self.barrier.wait()
        return found

    def reduce(self, op, numbers):
        return getattr(np, op)(np.stack(self.gather(numbers)), axis=0)


class Counting:
    """An engine that counts the bytes that it is handed."""

    def __init__(self, inner):
        self.inner, self.rank, self.size, self.sent = inner, inner.rank, inner.size, 0

    def gather(self, own):
        self.sent += len(own)
        return self.inner.gather(own)

    def reduce(self, op, numbers):
        self.sent += numbers.nbytes
        return self.inner.reduce(op, numbers)


def rows(n):
    rng = np.random.default_rng(5)
    labels = (rng.random(n) < 0.03).astype(np.uint8)
    return rng.normal(size=n) + labels, labels


def best(works, runs, clock=time.process_time):
    """The least time of each, in turns."""
    times = [[] for _ in works]
    for _ in range(runs):
        for work, found in zip(works, times, strict=True):
            start = clock()
            work()
            found.append(clock() - start)
    return [min(found) for found in times]


def sent(loss, scores, labels):
    slots, barrier = [None, None], threading.Barrier(2)
    engines = [Counting(Threads(rank, slots, barrier)) for rank in range(2)]
    threads = [threading.Thread(target=value_grad, args=(loss, scores[k::2], labels[k::2], one)) for k, one in enumerate(engines)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return engines[0].sent


def formula(kind, surrogate, own, positives, columns=0):
    """Of the guide, in bytes."""
    return 24 * columns + 88 + 8 * own + 8 * positives + (48 if surrogate == "squared-hinge" else 24) * positives + (6 * 2 * 2048 * 8 if kind == "pauc" else 0)


def work(rank, size, port, x, scores, labels, folder):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
    mine = slice(rank, None, size)
    x, scores, labels, found = np.asfortranarray(x[mine]), scores[mine], labels[mine], []
    for kind, surrogate, columns in STEPS:
        loss, engine = undercurve.Loss(kind, surrogate=surrogate), Counting(Torch())
        of = (loss, x, labels, np.linspace(0, 1, columns), engine) if columns else (loss, scores, labels, engine)
        (_at if columns else value_grad)(*of)
        found.append([engine.sent, *best([lambda of=of, run=_at if columns else value_grad: run(*of)], 3, time.perf_counter)])
    if rank == 0:
        np.save(f"{folder}/found.npy", found)
    dist.destroy_process_group()


def gloo(size, *rows):
    import torch
    import torch.multiprocessing as mp

    torch.set_num_threads(1)  # (Before processes are copied.)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(work, (size, port, *rows, folder), nprocs=size, start_method="fork")
        return np.load(f"{folder}/found.npy")


def by_workers(numbers):
    print("\n| rows | step | bytes by 1, 2, 3 workers | formula | time by 1, 2, 3 workers |\n|---|---|---|---|---|")
    for n in numbers:
        scores, labels = rows(n)
        x = np.random.default_rng(6).normal(size=(n, 10)) + labels[:, None] * np.linspace(0, 1, 10)
        found = np.array([gloo(size, x, scores, labels) for size in (1, 2, 3)])
        for k, (kind, surrogate, columns) in enumerate(STEPS):
            want = [formula(kind, surrogate, int(labels[::size].sum()), int(labels.sum()), columns) for size in (1, 2, 3)]
            name = f"{kind} {surrogate}" + (f", `minimize`, {columns} columns" if columns else "")
            sizes, whole = (", ".join(f"{one / 1e6:.3f}" for one in of) for of in (found[:, k, 0], want))
            print(f"| {n:,} | {name} | {sizes} MB | {whole} MB | {', '.join(f'{1e3 * one:.0f}' for one in found[:, k, 1])} ms |", flush=True)


def main():
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    numbers = [int(float(word)) for word in sys.argv[1:] if not word.startswith("-")] or [100_000, 1_000_000]
    print("| rows | loss | in memory | one worker | ratio | bytes, formula |\n|---|---|---|---|---|---|")
    for n in numbers:
        scores, labels = rows(n)
        runs = 9 if n <= 1_000_000 else 3
        for kind, surrogate in CASES:
            loss = undercurve.Loss(kind, surrogate=surrogate)
            works = [lambda loss=loss: loss.value_grad(scores, labels), lambda loss=loss: value_grad(loss, scores, labels, Alone())]
            memory, alone = best(works, runs)
            found, want = sent(loss, scores, labels), formula(kind, surrogate, int(labels[::2].sum()), int(labels.sum()))
            line = f"| {n:,} | {kind} {surrogate} | {memory * 1e3:.1f} ms | {alone * 1e3:.1f} ms | {alone / memory:.2f} |"
            print(f"{line} {found / 1e6:.2f} MB, {want / 1e6:.2f} |", flush=True)
    if "--gloo" in sys.argv:
        by_workers(numbers)


if __name__ == "__main__":
    main()
