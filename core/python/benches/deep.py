"""What a ranking loss gains over cross-entropy in a small convolutional network.

    python core/python/benches/deep.py FOLDER RUNS.jsonl [--splits N] [--steps N]     trains, and appends a line for each run
    python core/python/benches/deep.py RUNS.jsonl                                    prints the tables of what is there

FOLDER holds the four files of Fashion-MNIST (Debian: dataset-fashion-mnist, MIT licence), classes 5 to 9 against 0 to 4, as means of 2 × 2
pixels; or is the word `digits`: scikit-learn's digits, 5 to 9 against 0 to 4. Of the positives of the training part a share is kept. A split
draws the positives that are kept, the validation rows, balanced, which choose the rate, and the first parameters; the test part, balanced,
stays apart. Every loss has the same rates, steps, batches of 128 rows (of losses over ranks: 32 positives and 96 negatives; the others of all
rows alike), Adam, a rate that falls to 0 and weight decay 1e-4. LibAUC's losses run as its documentation says: sigmoid scores, its PESG for
the margin loss, with 100 times the rates.
"""

import gzip
import itertools
import json
import os
import statistics
import sys
import time

SHARES = [0.5, 0.1, 0.02, 0.005]
LOSSES = [
    "BCE", "balanced BCE", "BCE, 1 in 4", "focal", "exact AP", "exact AP, 512", "exact AUC", "exact pAUC", "SOAP", "SOAP after BCE",
    "AUC-M", "LibAUC AP", "LibAUC AUC-M",
]  # fmt: skip
RATES = [1e-3, 3e-3, 1e-2, 3e-2]


def read(folder, part):
    """Images and labels of a part, both halves of 0 and 1."""
    import numpy as np

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


def network(torch, side):
    nn = torch.nn
    flat = 16 * (side // 4) ** 2
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(flat, 32), nn.ReLU(), nn.Linear(32, 1),
    )  # fmt: skip


def libauc(name):
    from libauc import losses

    return getattr(losses, name)


def run(data, share, loss, rate, split, steps):
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
    x, y = torch.from_numpy(X[rows]), torch.from_numpy(Y[rows])
    count = int(y.sum())
    torch.manual_seed(split)
    model = network(torch, X.shape[-1])
    bce = torch.nn.BCEWithLogitsLoss()
    balanced = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor((len(y) - count) / count))
    ranked = loss not in ("BCE", "balanced BCE", "focal", "AUC-M")
    positives, negatives = (128, 384) if loss.endswith("512") else (32, 96)
    own = {
        "exact AP": lambda: Loss("ap"),
        "exact AP, 512": lambda: Loss("ap"),
        "exact AUC": lambda: Loss("auc"),
        "exact pAUC": lambda: Loss("pauc", fpr=(0, 0.3), scale=2.0),
        "SOAP": lambda: Objective("soap", y, sampling="stratified"),
        "SOAP after BCE": lambda: Objective("soap", y, sampling="stratified"),
        "AUC-M": lambda: Objective("auc-margin", y),
        "focal": lambda: Objective("focal", y),
        "LibAUC AP": lambda: libauc("APLoss")(data_len=len(y), margin=0.6, gamma=0.9),
        "LibAUC AUC-M": lambda: libauc("AUCMLoss")(),
    }.get(loss, torch.nn.Identity)()
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
        early = loss == "SOAP after BCE" and step < steps // 2
        if ranked and not early:
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
            value = own(scores, y[at], at)
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


def table(path):
    runs = [json.loads(line) for line in open(path, encoding="utf-8")]
    for key in ("ap", "auroc"):
        splits = sorted({one["split"] for one in runs})
        print(f"\nTest {key.upper()}: mean over splits (deviation), at the rate that is best on the validation rows of each split\n")
        print("| loss | " + " | ".join(f"{share:.1%} kept" for share in SHARES) + " |\n|" + "---|" * (len(SHARES) + 1))
        for loss in LOSSES:
            cells = []
            for share in SHARES:
                best = []
                for split in splits:
                    of = [o for o in runs if (o["loss"], o["share"], o["split"]) == (loss, share, split)]
                    if len(of) == len(RATES):
                        best.append(max(of, key=lambda one: one["valid ap"])[f"test {key}"])
                more = f" ({statistics.stdev(best):.4f})" if len(best) > 1 else ""
                cells.append(f"{statistics.mean(best):.4f}{more}, n = {len(best)}" if best else "–")
            print(f"| {loss} | " + " | ".join(cells) + " |")


def main():
    words = list(itertools.takewhile(lambda word: not word.startswith("--"), sys.argv[1:]))
    option = lambda name, usual: int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else usual
    if "--splits" in sys.argv or "--steps" in sys.argv or len(words) > 1:
        import torch

        torch.set_num_threads(option("--threads", 1))
        folder, path = words[0], words[1]
        data = (*read(folder, "train"), *read(folder, "t10k"))
        done = set()
        if os.path.exists(path):
            done = {tuple(json.loads(line)[key] for key in ("share", "loss", "rate", "split", "steps")) for line in open(path, encoding="utf-8")}
        steps = option("--steps", 1000)
        for split in range(1, option("--splits", 5) + 1):
            for share in SHARES:
                for loss in LOSSES:
                    for rate in RATES:
                        key = (share, loss, rate, split, steps)
                        if key in done:
                            continue
                        found = run(data, share, loss, rate, split, steps)
                        line = dict(zip(("share", "loss", "rate", "split", "steps"), key)) | found
                        with open(path, "a", encoding="utf-8") as file:
                            file.write(json.dumps(line) + "\n")
                        print(line, flush=True)
    else:
        table(words[0])


if __name__ == "__main__":
    main()
