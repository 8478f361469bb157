"""Value and gradient of an average-precision loss, by the size of the batch: exact, all pairs in torch, LibAUC.

    python core/python/benches/batch_table.py [SIZES]      e.g. 64 1024 16384
    python core/python/benches/batch_table.py --overhead   the module's forward pass against the call in it, in turns

Each cell runs in a process of its own: the best of several times, and the memory that the process had at most beyond that of the start.
A cell that needs more than LIMIT seconds or more memory than there is says so. 2 % of the rows are positives.
"""

import resource
import subprocess
import sys
import time

LIMIT = 60.0
SIZES = [64, 256, 1024, 4096, 16384, 65536, 262_144, 1_000_000]
WAYS = ["core", "exact", "all pairs", "libauc"]


def rows(n):
    import numpy as np
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    labels = (rng.random(n) < 0.02).astype("float32")
    labels[:2] = 1
    scores = rng.normal(size=n).astype("float32") + labels
    return scores, labels, torch.from_numpy(scores).requires_grad_(), torch.from_numpy(labels)


def overhead():
    from undercurve.torch import Loss

    loss = Loss("ap")
    for n in (1024, 4096, 16384):
        scores, labels, s, y = rows(n)
        ways, best = [lambda: loss._core.value_grad(scores, labels), lambda: loss(s, y)], [float("inf")] * 2
        for turn in range(20_000):
            begin = time.perf_counter()
            ways[turn % 2]()
            best[turn % 2] = min(best[turn % 2], time.perf_counter() - begin)
        core, module = best
        print(f"{n:,} rows: {core * 1e6:.1f} µs, the module's forward pass {module * 1e6:.1f} µs: {module / core - 1:.0%} more")


def cell(way, n):
    import torch

    scores, labels, s, y = rows(n)
    if way == "core":
        from undercurve import Loss

        loss = Loss("ap")._core
        step = lambda: loss.value_grad(scores, labels)
    elif way == "exact":
        from undercurve.torch import Loss

        loss = Loss("ap")
        step = lambda: loss(s, y).backward()
    elif way == "all pairs":
        def step():
            positive = s[y == 1]
            ell = torch.sigmoid(2.0 * (s[None] - positive[:, None]))
            (-((ell * y).sum(1) / ell.sum(1)).mean()).backward()
    else:
        from libauc.losses import APLoss

        loss = APLoss(data_len=n, margin=1.0, gamma=0.9)
        index = torch.arange(n)
        step = lambda: loss(torch.sigmoid(s).reshape(-1, 1), y.reshape(-1, 1), index).backward()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    best, start = float("inf"), time.perf_counter()
    while True:
        s.grad = None
        begin = time.perf_counter()
        step()
        best = min(best, time.perf_counter() - begin)
        if time.perf_counter() - start > 2.0:
            break
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{best * 1e3:.3f} {grown:.0f}")


def told(way, n):
    try:
        done = subprocess.run([sys.executable, __file__, way, str(n)], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"over {LIMIT:.0f} s"
    if done.returncode < 0 or "memory" in done.stderr.lower():
        return "out of memory"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:60]
    best, grown = done.stdout.split()[-2:]
    return f"{float(best):.3g} ms, {grown} MB"


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] in WAYS:
        cell(sys.argv[1], int(sys.argv[2]))
    elif sys.argv[1:] == ["--overhead"]:
        overhead()
    else:
        sizes = [int(one) for one in sys.argv[1:]] or SIZES
        print("| rows | " + " | ".join(WAYS) + " |\n|" + "---|" * (len(WAYS) + 1))
        for n in sizes:
            print(f"| {n:,} | " + " | ".join(told(way, n) for way in WAYS) + " |", flush=True)
