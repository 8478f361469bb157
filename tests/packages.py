#!/usr/bin/env python3
"""The packages that can be published, as files: python3 tests/packages.py [--build]

Each has a page of its own, both licences, what a registry asks for, and no path to another folder. `--build` compiles each from
its file alone, outside the workspace, as `cargo publish` does before it uploads. Nothing is uploaded.
"""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The packages, and what their files may weigh at most, in bytes.
CEILINGS = {"undercurve": 650_000, "undercurve-gpu": 180_000, "undercurve-demo": 260_000}


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


if __name__ == "__main__":
    main(sys.argv[1:])
