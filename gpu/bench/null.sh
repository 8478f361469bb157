#!/bin/sh
# What this host alone allows, however fast the adapter: `cargo experiment gpu --null` above a Vulkan layer that drops dispatches.
#
#   sh null.sh [PROGRAM [FILE [OPTION…]]]      (./experiments, null.json; --software where no option says otherwise)
#
# Needs a C compiler, a Vulkan loader and any driver, in software as well (VK_DRIVER_FILES names one).
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)/tests/vulkan-fault/layer.c
program=${1:-./experiments}
[ $# -gt 0 ] && shift
file=${1:-null.json}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- --software

if [ ! -x "$program" ]; then
    echo "null.sh: $program: no such program (cargo build --release -p undercurve-experiments makes it)" >&2
    exit 2
fi
case $program in
    */*) ;;
    *) program=./$program ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cc -shared -fPIC -O1 -o "$work/libfault.so" "$source"
cat >"$work/fault.json" <<JSON
{"file_format_version": "1.0.0", "layer": {"name": "VK_LAYER_UNDERCURVE_fault", "type": "GLOBAL",
 "library_path": "$work/libfault.so", "api_version": "1.3.0", "implementation_version": "1", "description": "drops dispatches"}}
JSON
VK_LAYER_PATH=$work VK_INSTANCE_LAYERS=VK_LAYER_UNDERCURVE_fault UNDERCURVE_FAULT=drop \
    "$program" gpu --null --out "$file" "$@"
echo "$file"
