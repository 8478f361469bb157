#!/usr/bin/env python3
"""Builds the C library and installs it: python3 core/c/install.py PREFIX [--stateless] [--compact]

    include/undercurve.h
    lib/libundercurve.a, lib/libundercurve.so.0 and its link libundercurve.so
    lib/pkgconfig/undercurve.pc
    lib/cmake/undercurve/undercurve-config.cmake: the targets undercurve::shared and undercurve::static

`--stateless` leaves runs and models out (of the header, too), `--compact` is smaller and slower (README.md). Needs cargo alone.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The name that programs ask for (build.rs).
SHARED = "libundercurve.so.0"
# What a program links beside the static library.
NEEDS = "-lpthread"
PC = """prefix=${{pcfiledir}}/../..
Name: undercurve
Description: Training and metrics for the area under the curve
Version: {version}
Cflags: -I${{prefix}}/include
Libs: -L${{prefix}}/lib -lundercurve
Libs.private: {needs}
"""
CMAKE = """get_filename_component(root "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
foreach(kind IN ITEMS shared static)
  if(NOT TARGET undercurve::${{kind}})
    string(TOUPPER ${{kind}} library)
    add_library(undercurve::${{kind}} ${{library}} IMPORTED)
    set_target_properties(undercurve::${{kind}} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${{root}}/include")
  endif()
endforeach()
set_target_properties(undercurve::shared PROPERTIES IMPORTED_LOCATION "${{root}}/lib/{shared}")
set_target_properties(undercurve::static PROPERTIES
  IMPORTED_LOCATION "${{root}}/lib/libundercurve.a" INTERFACE_LINK_LIBRARIES "{needs}")
unset(root)
"""


def build(options):
    """The folder of both libraries."""
    features = ["--features", "bare,compact" if "--compact" in options else "bare"]
    features += ["--no-default-features"] * ("--stateless" in options)
    command = ["cargo", "rustc", "--quiet", "-p", "undercurve-c", "--lib", "--profile", "embedded", "--crate-type", "cdylib,staticlib"]
    subprocess.run(command + features, cwd=HERE, check=True)
    told = subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=HERE, check=True, capture_output=True)
    about = json.loads(told.stdout)
    version = next(package["version"] for package in about["packages"] if package["name"] == "undercurve-c")
    return Path(about["target_directory"]) / "embedded", version


def header(stateless):
    """The header, without what a library without runs does not have."""
    text = (HERE / "include/undercurve.h").read_text()
    return re.sub(r"#ifndef UC_STATELESS.*?#endif\n\n", "", text, flags=re.S) if stateless else text


def main(arguments):
    options = {word for word in arguments if word.startswith("-")}
    places = [Path(word) for word in arguments if not word.startswith("-")]
    if len(places) != 1 or options - {"--stateless", "--compact"}:
        sys.exit("usage: install.py PREFIX [--stateless] [--compact]")
    if not sys.platform.startswith("linux"):
        sys.exit("install.py knows the layout of Linux alone; README.md has the line that builds the library")
    built, version = build(options)
    prefix = places[0]
    lib = prefix / "lib"
    for folder in (prefix / "include", lib / "pkgconfig", lib / "cmake/undercurve"):
        folder.mkdir(parents=True, exist_ok=True)
    (prefix / "include/undercurve.h").write_text(header("--stateless" in options))
    shutil.copy(built / "libundercurve_c.a", lib / "libundercurve.a")
    shutil.copy(built / "libundercurve_c.so", lib / SHARED)
    (lib / "libundercurve.so").unlink(missing_ok=True)
    (lib / "libundercurve.so").symlink_to(SHARED)
    values = {"version": version, "shared": SHARED, "needs": NEEDS}
    (lib / "pkgconfig/undercurve.pc").write_text(PC.format(**values))
    (lib / "cmake/undercurve/undercurve-config.cmake").write_text(CMAKE.format(**values))


if __name__ == "__main__":
    main(sys.argv[1:])
