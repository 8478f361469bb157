"""AP of the global batch under DDP beside the mean of the workers' own: held-out AP, and the error of the gradient.

    python core/python/benches/ddp.py [STEPS]      e.g. 300

Two processes of gloo on 127.0.0.1, a network 10-32-1, Adam, 128 rows a worker and step, 3 % positives; rows are dealt at random, or by
a column, so that one worker has most positives ("drifting"). The loss is AP with squared hinge. The error is the relative distance
of the parameters' gradient from that of one process with both batches, the mean over the steps. Five seeds. Prints a table.
"""

import os
import socket
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

import undercurve
from undercurve.torch import Loss

SEEDS, WORKERS, BATCH, RATE = 5, 2, 128, 0.003


def network(seed):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))


def data(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60_000, 10)).astype(np.float32)
    chance = x[:, 0] * x[:, 1] + 0.7 * np.sin(2 * x[:, 2]) + 0.5 * x[:, 3]
    y = chance + 0.8 * rng.normal(size=len(x)) > np.quantile(chance, 0.97) + 0.4
    return torch.from_numpy(x[:30_000]), torch.from_numpy(y[:30_000]), torch.from_numpy(x[30_000:]), y[30_000:]


def gradient(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def work(rank, port, steps, drifting, is_global, seed, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORKERS)
    x, y, held, held_y = data(seed)
    # Drifting: the more of both numbers that make a positive, the more likely in the first part.
    order = np.argsort(-(x[:, 0] * x[:, 1]).numpy()) if drifting else np.random.default_rng(seed).permutation(len(x))
    parts = np.array_split(order, WORKERS)
    model = DistributedDataParallel(network(seed))
    whole = network(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    loss = Loss("ap", surrogate="squared-hinge", group=dist.group.WORLD if is_global else None)
    alone = Loss("ap", surrogate="squared-hinge")
    rng, errors = np.random.default_rng(100 + seed), []
    for _ in range(steps):
        # (Both draw both batches, for the gradient of one process.)
        batches = [rng.choice(part, BATCH, replace=False) for part in parts]
        optimizer.zero_grad()
        loss(model(x[batches[rank]]), y[batches[rank]]).backward()
        whole.load_state_dict(model.module.state_dict())
        whole.zero_grad()
        both = np.concatenate(batches)
        alone(whole(x[both]), y[both]).backward()
        found, want = gradient(model), gradient(whole)
        if want.norm() > 0:
            errors.append(((found - want).norm() / want.norm()).item())
        optimizer.step()
    if rank == 0:
        with torch.no_grad():
            ap = undercurve.average_precision(model(held).ravel().numpy(), held_y)
        np.save(f"{folder}/found.npy", [ap, np.mean(errors)])
    dist.destroy_process_group()


def run(*case):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(work, (port, *case, folder), nprocs=WORKERS, start_method="fork")
        return np.load(f"{folder}/found.npy")


def main():
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)  # (Before processes are copied.)
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"torch {torch.__version__}, {steps} steps\n")
    print("| rows | loss | held-out AP, seeds 1 to 5 | mean | error of the gradient |\n|---|---|---|---|---|", flush=True)
    for drifting in (False, True):
        found = {}
        for is_global in (True, False):
            found[is_global] = np.array([run(steps, drifting, is_global, seed) for seed in range(1, SEEDS + 1)])
            aps, error = found[is_global][:, 0], found[is_global][:, 1].mean()
            row = "drifting" if drifting else "at random", "of the global batch" if is_global else "each worker's own"
            print(f"| {row[0]} | {row[1]} | {' '.join(f'{ap:.3f}' for ap in aps)} | {aps.mean():.3f} | {error:.1e} |", flush=True)
        gain = found[True][:, 0] - found[False][:, 0]
        print(f"| | paired difference | {' '.join(f'{one:+.3f}' for one in gain)} | {gain.mean():+.3f} | |", flush=True)


if __name__ == "__main__":
    main()
