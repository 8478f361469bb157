#!/usr/bin/env python3
"""The wasm module of the C library in five hosts, with what each computes: nice python3 core/c/tests/hosts.py FOLDER

Trains on made rows, and prints hashes of the model's file, of the scores and of an exact gradient, which are those of C (abi.rs has the gradient's). FOLDER gets what the hosts are
installed into (pip and cargo fetch the versions below; wasmer wants a Python of at most 3.10); the second run finds it there. Fails where a host differs.
"""

import json
import os
import struct
import subprocess
import sys

from measure import GRADIENT, build

PIP = ["wasmtime==50.0.1", "pywasm3==0.5.0", "wasmer==1.1.0", "wasmer_compiler_cranelift==1.1.0"]
CARGO = {"wasmi": '{ version = "=2.0.0", default-features = false, features = ["std", "validate", "auto-dispatch"] }'}
ROWS, COLUMNS = 200, 3

# These answer lines of: call NAME TYPE:VALUE…, or read AT BYTES, or write AT HEX.
NODE = """
const { readFileSync } = require("node:fs");
const host = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(process.argv[1]))).exports;
const read = { i: Number, l: BigInt, f: Number };
let text = "";
process.stdin.on("data", (part) => {
  const lines = (text + part).split("\\n");
  text = lines.pop();
  for (const line of lines) {
    const [what, name, ...rest] = line.split(" ");
    if (what === "call") console.log(String(host[name](...rest.map((word) => read[word[0]](word.slice(2)))) ?? 0));
    if (what === "read") console.log(Buffer.from(host.memory.buffer, +name, +rest[0]).toString("hex"));
    if (what === "write") console.log(Buffer.from(rest[0], "hex").copy(Buffer.from(host.memory.buffer), +name));
  }
});
"""
RUST = """
use std::io::{BufRead, Write};
fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|k| u8::from_str_radix(&text[2 * k..2 * k + 2], 16).unwrap()).collect()
}
fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
fn value(word: &&str) -> wasmi::Val {
    match word.split_at(2) {
        ("i:", x) => wasmi::Val::I32(x.parse::<u32>().unwrap() as i32),
        ("l:", x) => wasmi::Val::I64(x.parse().unwrap()),
        (_, x) => wasmi::Val::F64(x.parse::<f64>().unwrap().into()),
    }
}
fn answer(mut of: impl FnMut(&str, &str, &[&str]) -> String) {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        println!("{}", of(words[0], words[1], &words[2..]));
        std::io::stdout().flush().unwrap();
    }
}
fn wasmi(module: &[u8]) {
    use wasmi::{Engine, Linker, Module, Store, Val};
    let engine = Engine::default();
    let module = Module::new(&engine, module).unwrap();
    let mut store = Store::new(&engine, ());
    let host = Linker::new(&engine).instantiate_and_start(&mut store, &module).unwrap();
    let memory = host.get_memory(&store, "memory").unwrap();
    answer(|what, name, rest| match what {
        "call" => {
            let function = host.get_func(&store, name).unwrap();
            let mut out = vec![Val::I32(0); function.ty(&store).results().len()];
            function.call(&mut store, &rest.iter().map(value).collect::<Vec<_>>(), &mut out).unwrap();
            out.first().and_then(|value| value.i32()).unwrap_or(0).to_string()
        }
        "read" => {
            let mut bytes = vec![0; rest[0].parse().unwrap()];
            memory.read(&store, name.parse().unwrap(), &mut bytes).unwrap();
            text(&bytes)
        }
        _ => {
            memory.write(&mut store, name.parse().unwrap(), &hex(rest[0])).unwrap();
            "0".into()
        }
    });
}
fn main() {
    wasmi(&std::fs::read(std::env::args().nth(1).unwrap()).unwrap())
}
"""


class Long(int):
    """An argument of 64 bits."""


class Lines:
    """A host in a process of its own."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def call(self, name, *arguments):
        tag = lambda x: "f" if isinstance(x, float) else "l" if isinstance(x, Long) else "i"
        return int(self.ask(" ".join(["call", name, *(f"{tag(x)}:{x}" for x in arguments)])))

    def read(self, at, size):
        return bytes.fromhex(self.ask(f"read {at} {size}"))

    def write(self, at, data):
        self.ask(f"write {at} {data.hex()}")


class Wasmtime:
    def __init__(self, module):
        from wasmtime import Instance, Module, Store

        self.store = Store()
        self.of = Instance(self.store, Module.from_file(self.store.engine, module), []).exports(self.store)
        self.call = lambda name, *arguments: self.of[name](self.store, *arguments)
        self.read = lambda at, size: bytes(self.of["memory"].read(self.store, at, at + size))
        self.write = lambda at, data: self.of["memory"].write(self.store, data, at)


class Wasmer:
    def __init__(self, module):
        from wasmer import Instance, Module, Store, engine
        from wasmer_compiler_cranelift import Compiler

        store = Store(engine.JIT(Compiler))
        of = Instance(Module(store, open(module, "rb").read())).exports
        self.call = lambda name, *arguments: getattr(of, name)(*arguments)
        self.view = of.memory.uint8_view
        self.read = lambda at, size: bytes(self.view(at)[0:size])

    def write(self, at, data):
        self.view(at)[0 : len(data)] = data


class Wasm3:
    def __init__(self, module):
        import wasm3

        self.runtime = wasm3.Environment().new_runtime(1 << 20)
        self.runtime.load(wasm3.Environment().parse_module(open(module, "rb").read()))
        self.call = lambda name, *arguments: self.runtime.find_function(name)(*arguments)
        self.read = lambda at, size: bytes(self.runtime.get_memory(0)[at : at + size])

    def write(self, at, data):
        self.runtime.get_memory(0)[at : at + len(data)] = data


def fnv(data):
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 % 2**32
    return f"{value:08x}"


def trained(host):
    """What the example programs do, and the model's file and scores beside the gradient."""

    def space(size, data=b""):
        at = host.call("uc_alloc", size) % 2**32
        host.write(at, data or bytes(size))
        return at

    text = lambda words: space(len(words) + 1, words.encode() + b"\0")
    number = lambda at: struct.unpack("<I", host.read(at, 4))[0]

    def call(name, *arguments):
        if code := host.call(name, *arguments):
            raise RuntimeError(f"{name}: code {code}")

    random, cells, labels = 1, [], bytes(row % 10 == 0 for row in range(ROWS))
    for k in range(ROWS * COLUMNS):
        random = (random * 1664525 + 1013904223) % 2**32
        cells.append((random >> 16) / 65536 + (0.5 if labels[k // COLUMNS] and k % COLUMNS == 0 else 0))
    x, y = space(4 * len(cells), struct.pack(f"<{len(cells)}f", *cells)), space(ROWS, labels)
    scores, grad, out, model, loss = space(4 * ROWS), space(4 * ROWS), space(24), space(4096), text("squared-hinge")
    settings = text("lr = 0.02; steps = 300; pretrain = 100")
    call("uc_trainer_new", x, ROWS, COLUMNS, y, 0, text("soap"), text("linear"), settings, Long(1), out)
    run = number(out)
    call("uc_trainer_steps", run, Long(2**40), out)
    call("uc_trainer_model", run, model, 4096, out)
    size = number(out)
    call("uc_score", run, x, ROWS, COLUMNS, scores, ROWS)
    call("uc_pairs_need_f32", 1, loss, 1.0, ROWS, 20, 0, out)
    need = number(out)
    call("uc_pairs_f32", 1, 0.0, 1.0, 0.0, loss, 1.0, scores, y, 0, ROWS, space(need), need, out, grad)
    return fnv(host.read(model, size)), fnv(host.read(scores, 4 * ROWS)), fnv(host.read(grad, 4 * ROWS))


def main():
    folder = os.path.abspath(sys.argv[1])
    at = lambda *names: os.path.join(folder, *names)
    python, quiet = at("python", "bin", "python"), {"check": True, "stdout": subprocess.DEVNULL}
    if os.environ.get("HOSTS") != folder:
        os.makedirs(at("rust", "src"), exist_ok=True)
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", at("python")], **quiet)
            subprocess.run([at("python", "bin", "pip"), "install", "--quiet", *PIP], **quiet)
        manifest = '[package]\nname = "hosts"\nedition = "2024"\n[dependencies]\n' + "".join(f"{name} = {of}\n" for name, of in CARGO.items())
        open(at("rust", "Cargo.toml"), "w").write(manifest + "[workspace]\n")
        open(at("rust", "src", "main.rs"), "w").write(RUST)
        subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", at("rust", "Cargo.toml")], **quiet)
        os.execve(python, [python, *sys.argv], {**os.environ, "HOSTS": folder})
    module, rust = str(build("wasm", "all")), at("rust", "target", "release", "hosts")
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    versions = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--manifest-path", at("rust", "Cargo.toml")], capture_output=True, text=True).stdout)
    versions = {package["name"]: package["version"] for package in versions["packages"]}
    pip = {one.split("==")[0]: one.split("==")[1] for one in PIP}
    hosts = {
        f"Node {node}": lambda: Lines("node", "-e", NODE, module),
        f"wasmtime {pip['wasmtime']}": lambda: Wasmtime(module),
        f"wasmi {versions['wasmi']}": lambda: Lines(rust, module),
        f"wasmer {pip['wasmer']}": lambda: Wasmer(module),
        f"wasm3 {pip['pywasm3']}": lambda: Wasm3(module),
    }
    print(f"{os.path.getsize(module):,} bytes\n\n| host | model | scores | gradient |\n|---|---|---|---|")
    found = set()
    for name, host in hosts.items():
        hashes = trained(host())
        found.add(hashes)
        print(f"| {name} | {' | '.join(hashes)} |", flush=True)
    if {f"gradient {gradient}" for _, _, gradient in found} != {GRADIENT} or len(found) > 1:
        sys.exit(f"they differ, or from {GRADIENT} in C")


if __name__ == "__main__":
    main()
