#!/usr/bin/env bash
# A Rust module in wasm3, an interpreter for microcontrollers.
#
# Good guess: wasm3 lacks newer features of WebAssembly, so a module compiled with -Ctarget-cpu=mvp runs in it.
#
# What happens: wasm3 refuses with "LEB encoded value overflow", with mvp as without. The linker leaves five bytes for the number of the
# table in each call by pointer, so that another table can be put in; wasm3 takes one byte. -Ctarget-cpu=mvp mends the calls of one's own code alone:
# those in the standard library, which comes compiled, stay. What helps is the linker's --compress-relocations, which wants debug
# information stripped; the target then does not matter.
#
# Seen: pywasm3 0.5.0, rustc 1.95.0.
#   as it is: LEB encoded value overflow
#   -Ctarget-cpu=mvp: LEB encoded value overflow
#   -Clink-arg=--compress-relocations -Cstrip=debuginfo: 42
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet pywasm3==0.5.0
cat > text.rs <<'R'
#[unsafe(no_mangle)]
pub extern "C" fn answer(x: i32) -> i32 {
    let texts: [&dyn std::fmt::Display; 2] = [&x, &"nine"];
    texts.iter().map(|text| format!("{text:>9}").len() as i32).sum::<i32>() + 24
}
R
cat > run.py <<'P'
import sys, wasm3
environment = wasm3.Environment()
runtime = environment.new_runtime(1 << 16)
try:
    module = environment.parse_module(open(sys.argv[1], "rb").read())
    runtime.load(module)
    print(runtime.find_function("answer")(1))
except RuntimeError as error:
    print(error)
P
tried() {
    rustc -O --crate-type cdylib --target wasm32-unknown-unknown "$@" -o text.wasm text.rs
    python/bin/python run.py text.wasm 2> /dev/null
}
plain=$(tried)
mvp=$(tried -Ctarget-cpu=mvp)
pressed=$(tried -Clink-arg=--compress-relocations -Cstrip=debuginfo)
printf '%s\n' "as it is: $plain" "-Ctarget-cpu=mvp: $mvp" "-Clink-arg=--compress-relocations -Cstrip=debuginfo: $pressed"
[ "$plain" = "LEB encoded value overflow" ] && [ "$mvp" = "$plain" ] && [ "$pressed" = 42 ] || { echo "it is not so any more" >&2; exit 1; }
