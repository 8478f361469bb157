"""What a ranking loss gains over cross-entropy in a small convolutional network.

    python core/python/benches/deep.py DATA RUNS.jsonl [--splits N] [--steps N] [--shares 0.02,…] [--losses SOAP;…] [--depth N] [--noise R]
    python core/python/benches/deep.py RUNS.jsonl

The first trains what is not there yet and appends a line for each run; the second prints the tables.

DATA is one of
- a folder with the four files of Fashion-MNIST (Debian: dataset-fashion-mnist, MIT licence): classes 5 to 9 against 0 to 4, as means of 2 × 2
  pixels;
- the word `digits`: scikit-learn's digits, 5 to 9 against 0 to 4;
- the source archive of vaderSentiment 3.3.2 (PyPI, MIT licence; `pip download --no-deps --no-binary :all: vaderSentiment==3.3.2`): 23,700
  sentences of film and product reviews, editorials and tweets, those that readers found positive on average against the others.

Of the positives of the training part a share is kept. A split draws the positives that are kept, the validation rows, balanced, which choose
the rate, and the first parameters; the test part stays apart. `--depth N` puts N more convolutions into the network, each added to what it is
given. `--noise R` swaps labels of training rows: a share R of the kept positives is called negative, and as many negatives positive.
Where the lowest or highest rate is the best the next one is tried, too. Every loss has the same rates, steps, batches of 128 rows (of losses
over ranks: 32 positives and 96 negatives; the others of all rows alike), Adam, a rate that falls to 0 and weight decay 1e-4. LibAUC's losses
run as its documentation says: sigmoid scores, its PESG for the margin loss, with 100 times the rates.
"""

import argparse
import gzip
import itertools
import json
import os
import re
import statistics
import tarfile
import time
import zlib

SHARES = [0.5, 0.1, 0.02, 0.005]
LOSSES = [
    "BCE", "balanced BCE", "BCE, 1 in 4", "focal", "exact AP", "exact AP, 512", "exact AUC", "exact pAUC", "SOAP", "SOAP after BCE",
    "AUC-M", "LibAUC AP", "LibAUC AUC-M",
]  # fmt: skip
# What is asked beside them: a sample like that of the ranking losses and more of it; what of SOAP costs.
VARIANTS = ["BCE, 1 in 4, 512", "SOAP, as drawn", "SOAP, gamma 1", "SOAP, scaled", "SOAP, as drawn, after BCE, 1 in 4"]
# The first three are tried for every loss; the grid goes on, either way, until the best is inside it or at its end.
RATES = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0]
FIRST = range(3, 6)


WORDS, LENGTH = 8192, 32


def sentences(archive, part):
    """Sentences as numbers of words, hashed, 0 where there is none; a third is the test part."""
    import numpy as np

    rows = []
    with tarfile.open(archive) as outer:
        inner = next(one for one in outer if one.name.endswith("ICWSM_2014.tar.gz"))
        with tarfile.open(fileobj=outer.extractfile(inner)) as files:
            for one in sorted(files.getmembers(), key=lambda one: one.name):
                if one.name.endswith("GroundTruth.txt"):
                    rows += files.extractfile(one).read().decode("latin-1").splitlines()
    x, y = np.zeros((len(rows), LENGTH), np.int64), np.zeros(len(rows), np.int64)
    for at, row in enumerate(rows):
        _, rating, text = row.split("\t", 2)
        words = re.findall(r"[a-z']+|[^\sa-z]", text.lower())[:LENGTH]
        x[at, : len(words)] = [1 + zlib.crc32(word.encode()) % (WORDS - 1) for word in words]
        y[at] = float(rating) > 0
    test = np.random.default_rng(0).permutation(len(y)) < len(y) // 3
    some = test if part == "t10k" else ~test
    return x[some], y[some]


def read(folder, part):
    """Rows and labels of 0 and 1 of a part."""
    import numpy as np

    if folder.endswith(".tar.gz"):
        return sentences(folder, part)
    if folder == "digits":
        from sklearn.datasets import load_digits

        images, labels = load_digits(return_X_y=True)
        test = np.random.default_rng(0).permutation(len(labels)) < len(labels) // 3
        some = test if part == "t10k" else ~test
        return images[some].reshape(-1, 1, 8, 8).astype("float32") / 16, (labels[some] >= 5).astype("int64")

    with gzip.open(os.path.join(folder, f"{part}-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(folder, f"{part}-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    pooled = images.reshape(-1, 1, 14, 2, 14, 2).mean(axis=(3, 5), dtype="float32")
    return pooled / 255, (labels >= 5).astype("int64")


def network(torch, rows, depth):
    """A convolutional network of images (rows, 1, side, side) or of sentences (rows, words)."""
    nn = torch.nn

    class Words(nn.Embedding):
        def forward(self, words):
            return super().forward(words).transpose(1, 2)

    class Added(nn.Module):
        def __init__(self, conv):
            super().__init__()
            self.conv = conv

        def forward(self, x):
            return x + torch.relu(self.conv(x))

    if rows.ndim == 2:
        more = [Added(nn.Conv1d(32, 32, 3, padding=1)) for _ in range(depth)]
        first = [Words(WORDS, 32, padding_idx=0), nn.Conv1d(32, 32, 3, padding=1), nn.ReLU()]
        return nn.Sequential(*first, *more, nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    more = [Added(nn.Conv2d(16, 16, 3, padding=1)) for _ in range(depth)]
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), *more, nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16 * (rows.shape[-1] // 4) ** 2, 32), nn.ReLU(), nn.Linear(32, 1),
    )  # fmt: skip


def libauc(name):
    from libauc import losses

    return getattr(losses, name)


def run(data, share, loss, rate, split, steps, depth=0, noise=0.0):
    import numpy as np
    import torch

    import undercurve
    from undercurve.torch import Loss, Objective

    X, Y, X_test, Y_test = data
    rng = np.random.default_rng(split)
    held = np.concatenate([rng.choice(np.flatnonzero(Y == label), min(4000, len(Y) // 10), replace=False) for label in (0, 1)])
    rest = np.setdiff1d(np.arange(len(Y)), held)
    positive, negative = rest[Y[rest] == 1], rest[Y[rest] == 0]
    rows = np.concatenate([rng.choice(positive, max(4, int(len(positive) * share)), replace=False), negative])
    count = int(Y[rows].sum())
    if noise:
        wrong = int(noise * count)
        rows[:wrong], rows[-wrong:] = rows[-wrong:].copy(), rows[:wrong].copy()
    x, y = torch.from_numpy(X[rows]), (torch.arange(len(rows)) < count).long()
    torch.manual_seed(split)
    model = network(torch, X, depth)
    bce = torch.nn.BCEWithLogitsLoss()
    balanced = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor((len(y) - count) / count))
    ranked = loss not in ("BCE", "balanced BCE", "focal", "AUC-M")
    positives, negatives = (128, 384) if loss.endswith("512") else (32, 96)
    soap = {"SOAP, as drawn": {"weights": "as-drawn"}, "SOAP, as drawn, after BCE, 1 in 4": {"weights": "as-drawn"}, "SOAP, gamma 1": {"gamma": 1.0}}
    own = {
        "exact AP": lambda: Loss("ap"),
        "exact AP, 512": lambda: Loss("ap"),
        "exact AUC": lambda: Loss("auc"),
        "exact pAUC": lambda: Loss("pauc", fpr=(0, 0.3), scale=2.0),
        "AUC-M": lambda: Objective("auc-margin", y),
        "focal": lambda: Objective("focal", y),
        "LibAUC AP": lambda: libauc("APLoss")(data_len=len(y), margin=0.6, gamma=0.9),
        "LibAUC AUC-M": lambda: libauc("AUCMLoss")(),
    }.get(loss, torch.nn.Identity)()
    if loss.startswith("SOAP"):
        own = Objective("soap", y, sampling="stratified", **soap.get(loss, {}))
    groups = [{"params": model.parameters()}, {"params": own.parameters(), "lr": 10 * rate, "weight_decay": 0.0}]
    optimizer = torch.optim.Adam(groups, lr=rate, weight_decay=1e-4)
    if loss == "LibAUC AUC-M":
        from libauc.optimizers import PESG

        optimizer = PESG(model.parameters(), loss_fn=own, lr=100 * rate, verbose=False)
    first = [group["lr"] for group in optimizer.param_groups]
    begun = time.perf_counter()
    for step in range(steps):
        for group, lr in zip(optimizer.param_groups, first):
            group["lr"] = lr * (1 - step / steps)
        early = "after BCE" in loss and step < steps // 2
        if ranked and not (early and loss == "SOAP after BCE"):
            of = rng.choice(count, min(positives, count), replace=False)
            some = np.concatenate([of, count + rng.integers(0, len(y) - count, negatives)])
        else:
            some = rng.integers(0, len(y), 128)
        at = torch.from_numpy(some)
        scores = model(x[at]).ravel()
        if loss.startswith("BCE") or early:
            value = bce(scores, y[at].float())
        elif loss == "balanced BCE":
            value = balanced(scores, y[at].float())
        elif isinstance(own, Objective):
            value = own(scores, y[at], at) * (len(y) / count / 4 if loss == "SOAP, scaled" else 1)
        elif loss == "LibAUC AP":
            value = own(torch.sigmoid(scores), y[at], at)
        elif loss == "LibAUC AUC-M":
            value = own(torch.sigmoid(scores), y[at])
        else:
            value = own(scores, y[at])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    out = {}
    model.eval()
    with torch.no_grad():
        for part, images, labels in (("valid", X[held], Y[held]), ("test", X_test, Y_test)):
            scores = torch.cat([model(some).ravel() for some in torch.from_numpy(images).split(2000)]).numpy()
            found = undercurve.metrics(scores, labels)
            out[f"{part} ap"], out[f"{part} auroc"] = found.ap, found.auroc
    return {**out, "seconds": time.perf_counter() - begun}


def load(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# Of Student's t: 97.5 % by degrees of freedom.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]


def table(path, key="test ap", yardstick="balanced BCE"):
    """Means over splits, and what is gained over the yardstick on the same splits with its 95 % interval."""
    best = {}
    for one in load(path):
        kind = (one["steps"], one.get("depth", 0), one.get("noise", 0.0))
        at = (kind, one["share"], one["loss"])
        cell = best.setdefault(at, {})
        cell[one["split"]] = max(cell.get(one["split"], one), one, key=lambda run: run["valid ap"])
    for kind in sorted({at[0] for at in best}):
        steps, depth, noise = kind
        shares = [share for share in SHARES if any(at[:2] == (kind, share) for at in best)]
        more = f", {depth} more convolutions" * (depth > 0) + f", {noise:.0%} of the positives swapped" * (noise > 0)
        print(f"\n{steps} steps{more}, {key}: mean (gain over {yardstick}, 95 % interval); * where the best rate of a split is an end of the grid\n")
        print("| loss | " + " | ".join(f"{share:.1%} kept" for share in shares) + " |\n|" + "---|" * (len(shares) + 1))
        for loss in dict.fromkeys(LOSSES + sorted(at[2] for at in best)):
            cells = []
            for share in shares:
                at, base = best.get((kind, share, loss), {}), best.get((kind, share, yardstick), {})
                both = [at[split][key] - base[split][key] for split in at if split in base]
                edge = any(one["rate"] in (RATES[0], RATES[-1]) for one in at.values())
                cell = f"{statistics.mean(one[key] for one in at.values()):.4f}" + "*" * edge if at else "–"
                if len(both) > 1 and loss != yardstick:
                    half = STUDENT[len(both) - 2] * statistics.stdev(both) / len(both) ** 0.5
                    mean = statistics.mean(both)
                    cell += f" ({mean:+.4f} [{mean - half:+.4f}, {mean + half:+.4f}], n = {len(both)})"
                cells.append(cell)
            if any(cell != "–" for cell in cells):
                print(f"| {loss} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?")
    parser.add_argument("runs")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--losses", default=";".join(LOSSES + VARIANTS))
    asked = parser.parse_args()
    if asked.data is None:
        return table(asked.runs)
    import torch

    torch.set_num_threads(1)
    data = (*read(asked.data, "train"), *read(asked.data, "t10k"))
    runs = load(asked.runs)
    for split, share, loss in itertools.product(range(1, asked.splits + 1), map(float, asked.shares.split(",")), asked.losses.split(";")):
        line = {"share": share, "loss": loss, "split": split, "steps": asked.steps, "depth": asked.depth, "noise": asked.noise}
        cell = {one["rate"]: one for one in runs if all(one.get(key, 0) == of for key, of in line.items())}
        tried = FIRST
        while tried:
            for rate in (RATES[at] for at in tried):
                if rate not in cell:
                    cell[rate] = line | {"rate": rate} | run(data, share, loss, rate, split, asked.steps, asked.depth, asked.noise)
                    with open(asked.runs, "a", encoding="utf-8") as file:
                        file.write(json.dumps(cell[rate]) + "\n")
                    print(cell[rate], flush=True)
            of = [at for at, rate in enumerate(RATES) if rate in cell]
            best = max(of, key=lambda at: cell[RATES[at]]["valid ap"])
            tried = [at for at in {of[0]: [best - 1], of[-1]: [best + 1]}.get(best, []) if 0 <= at < len(RATES)]


if __name__ == "__main__":
    main()
