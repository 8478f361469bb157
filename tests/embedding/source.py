#!/usr/bin/env python3
"""Models as source (`undercurve export MODEL FILE.c` and `.rs`) on other machines: whether their scores have the bits of `predict`, and what they take of flash.

    cargo build -p undercurve-demo && python3 tests/embedding/source.py target/debug/undercurve [--check]

A linear model, a network, splines in f64, and missing numbers with categories, on ROWS new rows each: on x86-64 by C and Rust, in Node by JavaScript and by Rust's source as
wasm, on a Cortex-M4 in QEMU by C and Rust. Then the first three in floats (`--numeric`), whose bits have to be the same everywhere; then the first two with weights as bytes (`--int8`), whose bits have to be the same everywhere, and what the new rows lose by it. Flash is what a program on the Cortex-M4 gains by the linear model's source, with the routines for doubles, which this processor
has not. Needs rustc with its targets, cc, Node, QEMU (Debian: qemu-system-arm) and, for C on the Cortex-M4, Debian's gcc-arm-linux-gnueabihf; what is missing is skipped, with a
word. `--check` fails where bits differ or flash is above the ceiling.
"""

import csv
import io
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

from cortex_m import HERE as CORTEX, MACHINE, QEMU, TARGET, run, sections

HERE = Path(__file__).resolve().parent
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target")).absolute() / "embedding/source"
ROWS = 1000
MODELS = [
    ["--ignore", "colour,gone"],
    ["--ignore", "colour,gone", "--model", "mlp:16"],
    ["--ignore", "colour,gone", "--encode", "splines:4", "--precision", "f64"],
    ["--missing", "impute"],
]
# Bytes that a linear model of eight columns may take of flash, without and with the routines for doubles, and in floats.
CEILINGS = {"code": 2048, "with doubles": 4096, "floats": 1536}
ARM = "arm-linux-gnueabihf-gcc"
FLAGS = ["-Os", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-ffreestanding", "-ffunction-sections", "-fno-pie", "-fno-unwind-tables"]
FLAGS += ["-fno-asynchronous-unwind-tables", "-fno-stack-protector"]
NODE = """
const { readFileSync } = require("node:fs");
(async () => {
  let hash = 0xcbf29ce484222325n;
  const view = new DataView(new ArrayBuffer(8));
  for (const [k, n] of Object.entries(%s)) {
    const { score } = await import(`./m${k}.mjs`), bytes = readFileSync(`x${k}`);
    for (let at = 0; at < bytes.length; at += 8 * n) {
      view.setFloat64(0, score(Array.from({ length: n }, (_, k) => bytes.readDoubleLE(at + 8 * k))), true);
      for (let k = 0; k < 8; k++) hash = BigInt.asUintN(64, (hash ^ BigInt(view.getUint8(k))) * 0x100000001b3n);
    }
  }
  const { instance } = await WebAssembly.instantiate(readFileSync("main.wasm"), {});
  for (const one of [hash, BigInt.asUintN(64, instance.exports.rust())]) console.log(one.toString(16).padStart(16, "0"));
})();
"""


def table(rows, seed):
    dice = random.Random(seed)
    lines = [[*(f"x{k}" for k in range(1, 9)), "colour", "gone", "label"]]
    for _ in range(rows):
        x = [dice.gauss(3 * k, 10.0 ** (k - 4)) for k in range(8)]
        signal = x[3] - 9 + (x[4] - 12) - (x[5] - 15) / 10 + dice.gauss(0, 1)
        gone = "" if dice.random() < 0.3 else f"{dice.gauss(0, 1):.4f}"
        lines.append([*(f"{one:.7g}" for one in x), dice.choice(["red", "green", "blue"]), gone, "yes" if signal > 0 else "no"])
    return "\n".join(",".join(line) for line in lines) + "\n"


def hashed(scores, value=0xCBF29CE484222325):
    for score in scores:
        for byte in struct.pack("<d", score):
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def models(program):
    """Trains and exports; the hash of what `predict` says, and how many numbers a row has for each model."""
    said = lambda *words: subprocess.run([program, *words], cwd=FOLDER, check=True, capture_output=True, text=True).stdout
    for name, rows, seed in [("rows.csv", 1000, 1), ("new.csv", ROWS, 2)]:
        (FOLDER / name).write_text(table(rows, seed))
    new, want, widths = list(csv.DictReader((FOLDER / "new.csv").open())), hashed([]), []
    for k, options in enumerate(MODELS):
        said("train", "rows.csv", "--label", "label", "--method", "ce", "--steps", "60", *options, "--out", f"m{k}.uc")
        for end in ("c", "rs", "mjs", "json"):
            said("export", f"m{k}.uc", f"m{k}.{end}")
        scores = [float(line["score"]) for line in csv.DictReader(io.StringIO(said("predict", f"m{k}.uc", "new.csv")))]
        # (Shortest decimals of f32 are read as such.)
        single = lambda score: struct.unpack("<f", struct.pack("<f", score))[0]
        want = hashed(scores if "f64" in options else map(single, scores), want)
        columns = json.loads((FOLDER / f"m{k}.json").read_text())["columns"]
        place = lambda column, cell: column["categories"].index(cell) if "categories" in column else float(cell or "nan")
        (FOLDER / f"x{k}").write_bytes(b"".join(struct.pack("<d", place(of, row[of["name"]])) for row in new for of in columns))
        widths.append(len(columns))
    return want, widths


def sources(widths, c):
    """models.rs: each model by Rust and, where it is linked, by C."""
    text = "".join(f'#[path = "m{k}.rs"]\nmod m{k};\n' for k in range(len(widths)))
    if c:
        text += 'unsafe extern "C" {\n' + "".join(f"fn score{k}(row: *const f64) -> f64;\n" for k in range(len(widths))) + "}\n"
    text += "pub fn all(hashes: &mut crate::Hashes) {\n"
    for k, n in enumerate(widths):
        other = f"unsafe {{ score{k}(row.as_ptr()) }}" if c else "0.0"
        text += f'crate::one::<{n}>(include_bytes!("x{k}"), |row| [m{k}::score(row), {other}], hashes);\n'
    (FOLDER / "models.rs").write_text(text + "}\n")


def bytewise(program, count):
    """Exports the first models anew, with weights as bytes; what each says of its loss."""
    for k in range(count):
        for end in ("c", "rs"):
            subprocess.run([program, "export", f"m{k}.uc", f"m{k}.{end}", "--int8", "new.csv"], cwd=FOLDER, check=True, capture_output=True)
        yield next(line for line in (FOLDER / f"m{k}.c").read_text().splitlines() if "bytes:" in line)


# What takes rows of floats, called with rows of doubles as the others are, which are less what the file says.
FLOATS = "\ndouble score%d(const double *row) { static const double less[] = {%s}; float r[%d]; for (int k = 0; k < %d; k++) r[k] = (float)(row[k] - less[k]); return plain(r); }\n"
FLOATS_RS = "\npub fn score(row: &[f64; %d]) -> f64 { let less = [%s]; plain(&core::array::from_fn(|k| (row[k] - less[k]) as f32)) as f64 }\n"


def floats(program, widths):
    """Exports the first models anew, in floats."""
    for k, n in enumerate(widths):
        for end in ("c", "rs"):
            subprocess.run([program, "export", f"m{k}.uc", f"m{k}.{end}", "--numeric"], cwd=FOLDER, check=True, capture_output=True)
        c, rust = (FOLDER / f"m{k}.c"), (FOLDER / f"m{k}.rs")
        lines = [line for line in c.read_text().splitlines() if re.match(r'// \d+ "', line)]
        less = ", ".join(repr(float((re.findall(r"\) less (\S+), before", line) or ["0"])[0])) for line in lines)
        c.write_text("#undef score\n#define score plain\n" + c.read_text().replace("\nfloat score(", "\nstatic float score(") + FLOATS % (k, less, n, n))
        rust.write_text(rust.read_text().replace("pub fn score(", "fn plain(") + FLOATS_RS % (n, less))


def linked_beside(k):
    """What a model's object wants of others."""
    said = subprocess.run([ARM.replace("gcc", "nm"), "-u", f"m{k}.o"], cwd=FOLDER, check=True, capture_output=True, text=True).stdout
    return [word for word in said.split() if word != "U"]


def objects(compiler, flags, count):
    for k in range(count):
        subprocess.run([compiler, *flags, f"-Dscore=score{k}", "-c", f"m{k}.c", "-o", f"m{k}.o"], cwd=FOLDER, check=True)
    return [word for k in range(count) for word in ("-C", f"link-arg=m{k}.o")]


def rustc(*words):
    subprocess.run(["rustc", "--edition", "2024", "-C", "panic=abort", "-A", "warnings", *words, "main.rs"], cwd=FOLDER, check=True)


def own(k):
    """Bytes of flash of a model's own code and of its numbers."""
    parts = sections((FOLDER / f"m{k}.o").read_bytes())
    return [sum(size for name, size in parts.items() if name.startswith(start)) for start in (".text", ".rodata")]


def flash(linked):
    """Bytes of flash of a program of one row by the first model's source, less those of the program without."""
    sizes = {}
    for which in ("none", "c", "rust"):
        if which != "c" or linked:
            rustc("--cfg", f'size="{which}"', "--cfg", "size", *BARE, *(["-C", "link-arg=m0.o"] if which == "c" else []), "-o", f"size-{which}")
            found = sections((FOLDER / f"size-{which}").read_bytes())
            sizes[which] = found[".text"] + found.get(".rodata", 0)
    return {which: size - sizes["none"] for which, size in sizes.items() if which != "none"}


BARE = ["--target", TARGET, "-C", "linker=rust-lld", "-C", "opt-level=s", "-C", "lto", "-C", f"link-arg=-T{CORTEX}/link.ld"]


def main(arguments):
    programs = [os.path.abspath(word) for word in arguments if not word.startswith("-")]
    if len(programs) != 1:
        sys.exit("usage: source.py PROGRAM [--check]")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    shutil.copy(HERE / "source/main.rs", FOLDER)
    shutil.copy(CORTEX / "src/machine.rs", FOLDER)
    want, widths = models(programs[0])
    installed = subprocess.run(["rustup", "target", "list", "--installed"], capture_output=True, text=True).stdout
    faults = []
    print("| machine | source | rows | bits |\n|---|---|---|---|")

    def tell(machine, source, found):
        equal = found == f"{want:016x}"
        print(f"| {machine} | {source} | {ROWS * len(MODELS):,} | {'those of predict' if equal else found} |", flush=True)
        if not equal:
            faults.append(f"{machine}, {source}: {found}, not {want:016x}")

    def here(widths):
        sources(widths, True)
        rustc("-O", *objects("cc", ["-O2", "-march=native"], len(widths)), "-C", "link-arg=-lm", "-o", "main")
        return run([str(FOLDER / "main")])

    def there(widths, linked):
        sources(widths, linked)
        rustc(*BARE, *(objects(ARM, FLAGS, len(widths)) if linked else []), "-o", "arm")
        return run([QEMU, *MACHINE.split(), str(FOLDER / "arm")])[: 2 if linked else 1]

    def alike(what, widths):
        found = here(widths)
        for machine, hashes in [("x86-64", found), *([("Cortex-M4 in QEMU", there(widths, linked))] if arm else [])]:
            equal = set(hashes) == set(found[:1])
            print(f"{what}, {machine}: {'the same bits' if equal else hashes}")
            if not equal:
                faults.append(f"{what}, {machine}: {hashes}, not {found[0]}")

    for source, found in zip(("Rust", "C"), here(widths)):
        tell("x86-64", source, found)
    if shutil.which("node") and "wasm32-unknown-unknown" in installed:
        sources(widths, False)
        rustc("-O", "--target", "wasm32-unknown-unknown", "--crate-type", "cdylib", "-o", "main.wasm")
        done = subprocess.run(["node", "-e", NODE % json.dumps(widths)], cwd=FOLDER, check=True, capture_output=True, text=True).stdout.split()
        tell("Node", "JavaScript", done[0])
        tell("Node, wasm", "Rust", done[1])
    else:
        print("| Node | skipped: no Node, or no target wasm32-unknown-unknown | | |")
    arm, linked = shutil.which(QEMU) and TARGET in installed, bool(shutil.which(ARM))
    if arm:
        for source, found in zip(("Rust", "C"), there(widths, linked)):
            tell("Cortex-M4 in QEMU", source, found)
        if not linked:
            print(f"| Cortex-M4 in QEMU | C skipped: no {ARM} | | |")
        for which, size in flash(linked).items():
            print(f"{which}: a linear model of {widths[0]} columns adds {size:,} bytes of flash with its weights and the routines for doubles")
            if size > CEILINGS["with doubles"]:
                faults.append(f"{which}: {size} bytes")
    else:
        print(f"| Cortex-M4 | skipped: no {QEMU}, or no target {TARGET} | | |")
    sizes = [[own(k)] for k in range(2)] if arm and linked else []
    floats(programs[0], widths[:3])
    alike("floats", widths[:3])
    if arm and linked:
        # (As it is exported, without what calls it with doubles.)
        subprocess.run([programs[0], "export", "m0.uc", "m0.c", "--numeric"], cwd=FOLDER, check=True, capture_output=True)
        objects(ARM, FLAGS, 1)
        size, beside = sum(own(0)), linked_beside(0)
        print(f"C in floats on the Cortex-M4: a linear model of {widths[0]} columns takes {size} bytes of flash with its weights, and {' '.join(beside) or 'nothing'} beside")
        # (C's own library has what sets memory.)
        if size > CEILINGS["floats"] or any(not name.startswith("mem") for name in beside):
            faults.append(f"C in floats: {size} bytes, and {beside}")
    losses = list(bytewise(programs[0], 2))
    alike("weights as bytes", widths[:2])
    print("\n".join(losses))
    for k, (model, size) in enumerate(zip(("a linear model", "a network mlp:16"), sizes)):
        size.append(own(k))
        print(f"C on the Cortex-M4, {model} of {widths[k]} columns: code and numbers {size[0]} bytes of its own, with weights as bytes {size[1]}")
    if sizes and sum(sizes[0][0]) > CEILINGS["code"]:
        faults.append(f"C: {sizes[0][0]} bytes of its own")
    if "--check" in arguments and faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main(sys.argv[1:])
