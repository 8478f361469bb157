"""What PyTorch does with the work of `cargo experiment gpu` on the same device: sort, all pairs, steps of a network.

    pip install torch                       (of CUDA; on other machines --device cpu proves that it runs)
    python3 tests/peers/torch_cuda.py [--device cuda] [--seconds 2] [--out torch.json]

Sizes are those of `experiment gpu`. A row is the median and the least of spans of 20 ms and more, by wall clock with the device
waited for. All pairs are a loss and its gradient by autograd, in blocks of at most 2^26 pairs. Steps are cross-entropy by gradient
descent, eager and, on CUDA, recorded once and replayed (CUDA graph); batches are gathered on the device. Prints a Markdown table.
Exit code 2 without torch or without the device.
"""

import argparse
import json
import statistics
import sys
import time

BLOCK = 1 << 26


def spans(torch, device, work, seconds):
    """Seconds of a call: median, least, how many spans."""

    def timed(calls):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    timed(1)
    calls, times, begin = 1, [], time.perf_counter()
    while True:
        took = timed(calls)
        if took < 0.02:
            calls = max(calls + 1, int(calls * min(16, 0.025 / max(took, 1e-9))))
            continue
        times.append(took / calls)
        if len(times) == 25 or time.perf_counter() - begin > seconds:
            return statistics.median(times), min(times), len(times)


def sort_rows(torch, device, most):
    for keys in [10**3, 10**4, 10**5, 10**6, 10**7]:
        if keys <= most:
            x = torch.randn(keys, device=device)
            yield f"sort with indices, {keys} keys", keys, lambda x=x: torch.sort(x)


def pair_rows(torch, device, most):
    def value_and_gradient(loss, low, high):
        rows = max(1, BLOCK // len(low))
        gradient = torch.zeros_like(low)
        for part in high.split(rows):
            a, b = low.detach().requires_grad_(), part.detach().requires_grad_()
            loss(b[:, None] - a[None, :]).sum().backward()
            gradient += a.grad
        return gradient

    losses = {
        "squared hinge": lambda t: (1 - t).clamp(min=0).square(),
        "sigmoid": lambda t: (-t).sigmoid(),
    }
    for positives, negatives in [(10**2, 10**3), (10**3, 10**4), (10**4, 10**5)]:
        if positives * negatives <= most:
            low, high = torch.randn(negatives, device=device), 1 + torch.randn(positives, device=device)
            for name, loss in losses.items():
                what = f"all pairs, {name}, {positives} x {negatives}"
                yield what, positives * negatives, lambda f=loss, a=low, b=high: value_and_gradient(f, a, b)


def step_rows(torch, device, most):
    for widths, batch in [
        ([32, 64, 64, 1], 64),
        ([128, 128, 128, 1], 256),
        ([784, 512, 512, 1], 64),
        ([784, 512, 512, 1], 1024),
        ([784, 512, 512, 1], 4096),
        ([784, 1024, 1024, 1], 1024),
    ]:
        # Forward and by weight; from the second layer on also by input.
        products = [a * b for a, b in zip(widths, widths[1:])]
        work = batch * (3 * sum(products) - products[0])
        if work > most:
            continue
        x = torch.randn(8192, widths[0], device=device)
        y = (torch.arange(8192, device=device) % 8 == 0).float()[:, None]
        layers = []
        for a, b in zip(widths, widths[1:]):
            layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
        model = torch.nn.Sequential(*layers[:-1]).to(device)
        index = torch.randint(8192, (batch,), device=device)
        loss = torch.nn.BCEWithLogitsLoss()
        parameters = list(model.parameters())

        def step(model=model, x=x, y=y, index=index, parameters=parameters):
            gradients = torch.autograd.grad(loss(model(x[index]), y[index]), parameters)
            with torch.no_grad():
                for w, g in zip(parameters, gradients):
                    w.sub_(0.01 * g)

        what = f"step of {'-'.join(map(str, widths))}, batch {batch}"
        yield f"{what}, eager", work, step
        if device.type == "cuda":
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(3):
                    step()
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step()
            yield f"{what}, replayed", work, graph.replay


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a row, about")
    parser.add_argument("--most", type=float, default=1e12, help="units of work of a row, at most")
    parser.add_argument("--out", help="write every row to this file, as JSON")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"torch_cuda.py: {error}; not measured", file=sys.stderr)
        return 2
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print("torch_cuda.py: there is no CUDA device; not measured", file=sys.stderr)
        return 2
    # Full f32, as our kernels compute.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "this CPU"
    print(f"PyTorch {torch.__version__} on {name}, {time.strftime('%Y-%m-%d')}\n")
    print("| row | median, s | least, s | spans | units a second |\n|---|---|---|---|---|")
    rows = []
    for make in (sort_rows, pair_rows, step_rows):
        for what, units, work in make(torch, device, arguments.most):
            median, least, count = spans(torch, device, work, arguments.seconds)
            print(f"| {what} | {median:.3e} | {least:.3e} | {count} | {units / median:.3e} |", flush=True)
            rows.append({"row": what, "units": units, "median": median, "least": least, "count": count})
    if arguments.out:
        report = {"torch": torch.__version__, "device": name, "unix_time": int(time.time()), "rows": rows}
        with open(arguments.out, "w") as out:
            json.dump(report, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
