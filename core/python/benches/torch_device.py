"""python torch_device.py: `undercurve.torch.Loss` where the tensors are, beside log loss and all pairs, on each device there is.

A step is the loss and its gradient; times are the best of twelve, with the device waited for before and after.
"""

import time

import torch

from undercurve.torch import Loss


def pairs(scores, labels):
    """Squared hinge over all pairs."""
    return (1 - (scores[labels > 0, None] - scores[labels == 0])).clamp(min=0).pow(2).mean()


LOSSES = {
    "log loss": torch.nn.functional.binary_cross_entropy_with_logits,
    "ap, squared hinge": Loss("ap", surrogate="squared-hinge"),
    "auc, squared hinge": Loss("auc", surrogate="squared-hinge"),
    "ap, sigmoid": Loss("ap"),
    "all pairs": pairs,
}
devices = ["cpu"] + [name for name in ("cuda", "mps", "xpu") if getattr(torch, name, None) is not None and getattr(torch, name).is_available()]
print(f"torch {torch.__version__}; 2 % positive; ms a step, and times that of log loss")
for device in devices:
    wait = getattr(torch, device).synchronize if device != "cpu" else lambda: None
    for rows in (1024, 16_384, 65_536, 1_000_000):
        torch.manual_seed(0)
        labels = (torch.rand(rows, device=device) < 0.02).float()
        scores = torch.randn(rows, device=device, requires_grad=True)
        base = 0.0
        for name, loss in LOSSES.items():
            if rows > 65_536 and name in ("all pairs", "ap, sigmoid") and device != "cpu":
                continue
            if rows > 65_536 and name == "all pairs":
                continue
            best = 1e9
            for _ in range(12):
                scores.grad = None
                wait()
                start = time.perf_counter()
                loss(scores, labels).backward()
                wait()
                best = min(best, time.perf_counter() - start)
            base = base or best
            print(f"{device:5} {rows:9,} {name:20} {best * 1e3:8.3f} {best / base:7.1f}")
if "cuda" in devices:
    labels, scores = (torch.rand(65_536, device="cuda") < 0.02).float(), torch.randn(65_536, device="cuda", requires_grad=True)
    torch.cuda.set_sync_debug_mode("error")
    for name in ("ap, squared hinge", "auc, squared hinge"):
        LOSSES[name](scores, labels).backward()
    print("no step of a squared hinge waited for the device")
