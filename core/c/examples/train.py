"""The wasm module in Python, by the package wasmtime: python train.py undercurve_c.wasm. From data to an exact gradient."""

import struct
import sys
from wasmtime import Instance, Module, Store

store = Store()
uc = Instance(store, Module.from_file(store.engine, sys.argv[1]), []).exports(store)
ROWS, COLUMNS = 200, 3
space = lambda size: uc["uc_alloc"](store, size)
write = lambda at, data: uc["memory"].write(store, data, at) and at or at
text = lambda words: write(space(len(words) + 1), words.encode() + b"\0")
number = lambda at: struct.unpack("<I", uc["memory"].read(store, at, at + 4))[0]

def call(name, *arguments):
    code = uc[name](store, *arguments)
    if code:
        raise RuntimeError(f"{name}: code {code}")

random, cells, labels = 1, [], bytes(row % 10 == 0 for row in range(ROWS))
for k in range(ROWS * COLUMNS):
    random = (random * 1664525 + 1013904223) % 2**32
    cells.append((random >> 16) / 65536 + (0.5 if labels[k // COLUMNS] and k % COLUMNS == 0 else 0))
x, y = write(space(4 * len(cells)), struct.pack(f"<{len(cells)}f", *cells)), write(space(ROWS), labels)
scores, grad, out, loss = space(4 * ROWS), space(4 * ROWS), space(24), text("squared-hinge")
call("uc_trainer_new", x, ROWS, COLUMNS, y, 0, text("soap"), text("linear"), text("lr = 0.02; steps = 300; pretrain = 100"), 1, out)
trainer = number(out)
call("uc_trainer_steps", trainer, 2**40, out)
call("uc_score", trainer, x, ROWS, COLUMNS, scores, ROWS)
call("uc_pairs_need_f32", 1, loss, 1.0, ROWS, 20, 0, out)
need = number(out)
call("uc_pairs_f32", 1, 0.0, 1.0, 0.0, loss, 1.0, scores, y, 0, ROWS, space(need), need, out, grad)
value = 2166136261
for byte in uc["memory"].read(store, grad, grad + 4 * ROWS):
    value = (value ^ byte) * 16777619 % 2**32
print(f"gradient {value:08x}")
