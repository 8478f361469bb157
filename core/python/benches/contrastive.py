"""`undercurve.torch.Contrastive` beside InfoNCE: encoders of the upper and the lower half of scikit-learn's digits.

    python core/python/benches/contrastive.py          needs torch, scikit-learn

Five splits in halves; 30 epochs; of each loss and batch size the better of two rates by recall at 10 of a quarter of the training rows. Prints recall at 10
of the lower half's own among those of all test rows, and the difference to InfoNCE with its 95 % interval over the splits (Nadeau and Bengio).
"""

import numpy as np
import torch
from sklearn.datasets import load_digits

from undercurve.torch import Contrastive

RATES, EPOCHS, TEMPERATURE = (0.003, 0.01), 30, 0.1
X = torch.tensor(load_digits().data / 16, dtype=torch.float32)


def info_nce(first, second, _):
    unit = torch.nn.functional.normalize
    scores = unit(first, dim=1) @ unit(second, dim=1).T / TEMPERATURE
    own = torch.arange(len(scores))
    return torch.nn.functional.cross_entropy(scores, own) + torch.nn.functional.cross_entropy(scores.T, own)


def recall(encoders, rows):
    with torch.no_grad():
        first, second = (torch.nn.functional.normalize(of(X[rows][:, part]), dim=1) for of, part in encoders)
        scores = first @ second.T
        return (scores.topk(10, dim=1).indices == torch.arange(len(rows))[:, None]).any(1).float().mean().item()


def train(rows, batch, rate, ours, seed):
    torch.manual_seed(seed)
    made = [torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16)) for _ in range(2)]
    encoders = list(zip(made, (slice(0, 32), slice(32, 64))))
    loss = Contrastive(len(rows), temperature=TEMPERATURE) if ours else info_nce
    optimizer = torch.optim.Adam([one for of in made for one in of.parameters()], lr=rate)
    for _ in range(EPOCHS):
        for at in torch.randperm(len(rows)).split(batch):
            if len(at) < 2:
                continue
            optimizer.zero_grad()
            first, second = (of(X[rows[at]][:, part]) for of, part in encoders)
            loss(first, second, at).backward()
            optimizer.step()
    return encoders


splits = 5
torch.set_num_threads(1)
print("batch  InfoNCE  global  difference [95 %]")
for batch in (32, 128, 512):
    found = []
    for split in range(splits):
        order = torch.randperm(len(X), generator=torch.Generator().manual_seed(split))
        fit, test = order[: len(X) // 2], order[len(X) // 2 :]
        part, choose = fit[: 3 * len(fit) // 4], fit[3 * len(fit) // 4 :]
        row = []
        for ours in (False, True):
            best = max(RATES, key=lambda rate: recall(train(part, batch, rate, ours, split), choose))
            row.append(recall(train(fit, batch, best, ours, split), test))
        found.append(row)
    found = np.array(found)
    gap = found[:, 1] - found[:, 0]
    half = 2.776 * gap.std(ddof=1) * np.sqrt(1 / splits + 1)  # (t of five splits in halves)
    print(f"{batch:5}  {found[:, 0].mean():.3f}    {found[:, 1].mean():.3f}   {gap.mean():+.3f} [{gap.mean() - half:+.3f}, {gap.mean() + half:+.3f}]", flush=True)
