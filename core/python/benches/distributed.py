"""Losses over several workers beside the sum in memory: time as a ratio, and bytes sent beside the formula.

    python core/python/benches/distributed.py [ROWS …] [--gloo]      e.g. 100000 1000000

3 % positives. "One worker" is the machine alone, without an engine, on the rows that the sum in memory has; its ratio is what whole numbers
and thresholds of all rows cost (processor time of one thread, the least of several runs in turns). Bytes are those that a worker hands to its engine, of two workers; with --gloo also the time of a
step of 1, 2 and 3 processes on 127.0.0.1. Prints a table.
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
from undercurve.distributed import Alone, Torch, value_grad

CASES = [("ap", "hinge"), ("ap", "squared-hinge"), ("auc", "hinge"), ("auc", "squared-hinge"), ("pauc", "squared-hinge")]


class Counting:
    """One of two workers that are threads."""

    def __init__(self, rank, slots, barrier):
        self.rank, self.size, self.slots, self.barrier, self.sent = rank, 2, slots, barrier, 0

    def all_of(self, own):
        self.slots[self.rank] = own
        self.barrier.wait()
        found = list(self.slots)
        self.barrier.wait()
        return found

    def gather(self, own):
        self.sent += len(own)
        return self.all_of(own)

    def reduce(self, op, numbers):
        self.sent += numbers.nbytes
        return getattr(np, op)(np.stack(self.all_of(numbers)), axis=0)


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
    engines = [Counting(rank, slots, barrier) for rank in range(2)]
    threads = [threading.Thread(target=value_grad, args=(loss, scores[k::2], labels[k::2], one)) for k, one in enumerate(engines)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return engines[0].sent


def formula(kind, surrogate, own, positives):
    return 88 + 8 * own + 8 * positives + (48 if surrogate == "squared-hinge" else 24) * positives + (6 * 2 * 2048 * 8 if kind == "pauc" else 0)


def work(rank, size, port, n, folder):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
    scores, labels = rows(n)
    mine = slice(rank, None, size)
    engine, times = Torch(), []
    for kind, surrogate in CASES:
        loss = undercurve.Loss(kind, surrogate=surrogate)
        times += best([lambda loss=loss: value_grad(loss, scores[mine], labels[mine], engine)], 3, time.perf_counter)
    if rank == 0:
        np.save(f"{folder}/times.npy", times)
    dist.destroy_process_group()


def gloo(n, size):
    import torch.multiprocessing as mp

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(work, (size, port, n, folder), nprocs=size, start_method="fork")
        return np.load(f"{folder}/times.npy")


def main():
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    numbers = [int(float(word)) for word in sys.argv[1:] if not word.startswith("-")] or [100_000, 1_000_000]
    more = "--gloo" in sys.argv
    print("| rows | loss | in memory | one worker | ratio | bytes, formula |" + (" gloo 1, 2, 3 |" if more else ""))
    print("|---|---|---|---|---|---|" + ("---|" if more else ""))
    for n in numbers:
        scores, labels = rows(n)
        runs = 9 if n <= 1_000_000 else 3
        steps = [gloo(n, size) for size in (1, 2, 3)] if more else []
        for k, (kind, surrogate) in enumerate(CASES):
            loss = undercurve.Loss(kind, surrogate=surrogate)
            works = [lambda loss=loss: loss.value_grad(scores, labels), lambda loss=loss: value_grad(loss, scores, labels, Alone())]
            memory, alone = best(works, runs)
            found, want = sent(loss, scores, labels), formula(kind, surrogate, int(labels[::2].sum()), int(labels.sum()))
            line = f"| {n:,} | {kind} {surrogate} | {memory * 1e3:.1f} ms | {alone * 1e3:.1f} ms | {alone / memory:.2f} | {found / 1e6:.2f} MB, {want / 1e6:.2f} |"
            print(line + (f" {', '.join(f'{one[k] * 1e3:.0f}' for one in steps)} ms |" if more else ""), flush=True)


if __name__ == "__main__":
    main()
