#!/usr/bin/env python3
"""The packages that can be published, as files: python3 tests/packages.py [--build] [--run]

Each has a page of its own, both licences, what a registry asks for, and no path to another folder. `--build` compiles each from
its file alone, outside the workspace, as `cargo publish` does before it uploads. `--run` unpacks the core and the C library and runs
what is in them: the core's examples, the programs of its page and its documentation, and the C and C++ examples by the library as
core/c/install.py installs it. Nothing is uploaded.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The packages, and what their files may weigh at most, in bytes.
CEILINGS = {"undercurve": 745_000, "undercurve-arrow": 30_000, "undercurve-search": 30_000, "undercurve-gpu": 180_000, "undercurve-demo": 270_000}
# What core/c/tests/abi.rs expects of the examples, too.
GRADIENT = "gradient b2ebbff8"
METRICS = "auroc 0.625 ap 0.833333 pauc 0.5 loss 0.5625 slope -1.5"


def cargo(*arguments):
    run = subprocess.run(["cargo", *arguments], cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stdout


def to_publish():
    packages = json.loads(cargo("metadata", "--format-version", "1", "--no-deps"))["packages"]
    return {package["name"]: package["version"] for package in packages if package["publish"] is None}


def paths(table, at=""):
    """Dependencies of a manifest that name a folder."""
    for key, value in table.items():
        if isinstance(value, dict):
            if "dependencies" in at and "path" in value:
                yield f"{at}.{key}"
            yield from paths(value, f"{at}.{key}")


def faults(name, version, file):
    weight, ceiling = file.stat().st_size, CEILINGS[name]
    print(f"{name} {version}: {weight:,} bytes, at most {ceiling:,}")
    if weight > ceiling:
        yield f"{weight:,} bytes, more than {ceiling:,}"
    with tarfile.open(file) as archive:
        inside = f"{name}-{version}/"
        names = {member.name.removeprefix(inside) for member in archive}
        for wanted in ("README.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.toml"):
            if wanted not in names:
                yield f"no {wanted}"
            elif not archive.extractfile(inside + wanted).read():
                yield f"{wanted} is empty"
        manifest = tomllib.loads(archive.extractfile(f"{inside}Cargo.toml").read().decode())
    for wanted in ("description", "license", "readme", "rust-version", "keywords", "categories"):
        if not manifest["package"].get(wanted):
            yield f"no {wanted} in its manifest"
    for path in paths(manifest):
        yield f"{path} is a path"


def unpacked(folder, crates):
    """A workspace of unpacked packages, with the profiles of this one: the manifest is all that it shares with the checkout."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for crate in crates:
        with tarfile.open(crate) as archive:
            archive.extractall(folder, filter="data")
    members = [crate.stem for crate in crates]
    lines = ["[workspace]", "resolver = '3'", f"members = {members}", "[patch.crates-io]", f"undercurve.path = '{members[0]}'"]
    for name, profile in tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"].items():
        lines += [f"[profile.{name}]", *(f"{key} = {json.dumps(of)}" for key, of in profile.items() if not isinstance(of, dict))]
    (folder / "Cargo.toml").write_text("\n".join(lines))
    shutil.copy(ROOT / "Cargo.lock", folder)
    return folder


def told(command, cwd, **options):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_core(folder, target, core):
    """Its examples, to their ends, and the programs of its page and documentation."""
    # (The example of the README reads a sample of the checkout, from its root.)
    sample = folder / "demo/web/samples/page-blocks.csv"
    sample.parent.mkdir(parents=True)
    shutil.copy(ROOT / "demo/web/samples/page-blocks.csv", sample)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    examples = sorted((folder / core / "examples").glob("*.rs"))
    if [example.name for example in examples] != sorted(example.name for example in (ROOT / "core/examples").glob("*.rs")):
        sys.exit("examples are missing in the packed core")
    for example in examples:
        plain = ["--no-default-features"] * example.stem.startswith("no_allocator")
        told(["cargo", "run", "--quiet", "-p", "undercurve", *plain, "--example", example.stem], folder, env=environment)
        print(f"packed: example {example.stem}", flush=True)
    tests = told(["cargo", "test", "--quiet", "-p", "undercurve", "--doc"], folder, env=environment)
    passed = sum(map(int, re.findall(r"(\d+) passed", tests)))
    if passed < 100:
        sys.exit(f"only {passed} programs of the packed documentation")
    print(f"packed: {passed} programs of the documentation", flush=True)


def run_c(folder, target, package):
    """The examples by an installed library: shared and static, in C and C++."""
    prefix = folder / "installed"
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    environment["LD_LIBRARY_PATH"] = str(prefix / "lib")
    told([sys.executable, folder / package / "install.py", prefix], folder, env=environment)
    flags = told(["pkg-config", "--cflags", "--libs", "undercurve"], folder, env=environment).split()
    beside = told(["pkg-config", "--static", "--libs-only-l", "undercurve"], folder, env=environment).split()[1:]
    static = [f"-I{prefix}/include", prefix / "lib/libundercurve.a", *beside]
    sources = {"examples/train.c": GRADIENT, "examples/metrics.cpp": METRICS, "tests/threads.cpp": "0 wrong messages"}
    for source, answer in sources.items():
        for kind, how in [("shared", flags), ("static", static)]:
            program = folder / f"{Path(source).name}-{kind}"
            compiler = "cc" if source.endswith(".c") else "c++"
            told([compiler, "-Wall", "-Werror", folder / package / source, "-o", program, *how], folder, env=environment)
            printed = told([program], folder, env=environment)
            if answer not in printed:
                sys.exit(f"{program.name} prints {printed}, not {answer}")
            print(f"packed: {source}, {kind} library", flush=True)


def main(arguments):
    packages = to_publish()
    if packages.keys() != CEILINGS.keys():
        sys.exit(f"would be published: {', '.join(packages)}; meant to be: {', '.join(CEILINGS)}")
    # (A checkout that is worked in is packaged as it is.)
    build = ["--allow-dirty"] + ([] if "--build" in arguments else ["--no-verify"])
    cargo("package", "--quiet", *build, *(word for name in packages for word in ("-p", name)))
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "package"
    found = [f"{name}: {fault}" for name, v in packages.items() for fault in faults(name, v, folder / f"{name}-{v}.crate")]
    if found:
        sys.exit("\n".join(found))
    if "--run" in arguments:
        names = ["undercurve", "undercurve-c"]
        cargo("package", "--quiet", "--allow-dirty", "--no-verify", *(word for name in names for word in ("-p", name)))
        crates = [folder / f"{name}-{packages['undercurve']}.crate" for name in names]
        around = unpacked(folder / "unpacked", crates)
        run_core(around, folder / "built", crates[0].stem)
        if all(map(shutil.which, ["cc", "c++", "pkg-config"])):
            run_c(around, folder / "built", crates[1].stem)
        else:
            print("packed C library: skipped, no C compiler or pkg-config")


if __name__ == "__main__":
    main(sys.argv[1:])
