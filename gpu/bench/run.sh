#!/bin/sh
# Measures the graphics adapter of this machine by `cargo experiment gpu` and writes one JSON.
#
#   sh run.sh [PROGRAM [FILE [OPTION…]]]      (./experiments, gpu.json)
#
# Needs neither network nor cargo. On Linux it finds what a machine for computing often lacks: a Vulkan loader (a libvulkan1*.deb
# or libvulkan.so.1 beside this script is used where the system has none; nothing is installed) and the driver's description
# (VK_DRIVER_FILES is set to the system's nvidia_icd.json, or to one that is written where the driver has a Vulkan library and no
# description). What is set already stays.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=${1:-./experiments}
[ $# -gt 0 ] && shift
file=${1:-gpu.json}
[ $# -gt 0 ] && shift

if [ ! -x "$program" ]; then
    echo "run.sh: $program: no such program (cargo build --release -p undercurve-experiments makes it)" >&2
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

# has LIBRARY: whether the system's linker knows it.
has() {
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null || true; } | grep -q "$1"
}

if [ "$(uname -s)" = Linux ]; then
    if ! has 'libvulkan\.so\.1'; then
        for package in "$here"/libvulkan1*.deb; do
            [ -f "$package" ] || continue
            if command -v dpkg-deb >/dev/null 2>&1; then
                dpkg-deb -x "$package" "$work/loader"
            else
                echo "run.sh: $package cannot be opened without dpkg-deb; put libvulkan.so.1 beside this script" >&2
            fi
        done
        loader=$(find "$work" "$here" -name 'libvulkan.so.1' 2>/dev/null | head -n 1)
        if [ -n "$loader" ]; then
            LD_LIBRARY_PATH=$(dirname "$loader")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
            export LD_LIBRARY_PATH
        else
            echo "run.sh: there is no Vulkan loader (libvulkan1) on this machine, and none beside this script" >&2
        fi
    fi
    if [ -z "${VK_DRIVER_FILES:-}" ] && [ -z "${VK_ICD_FILENAMES:-}" ]; then
        for folder in /etc/vulkan/icd.d /usr/share/vulkan/icd.d /usr/local/share/vulkan/icd.d /usr/local/etc/vulkan/icd.d; do
            if [ -f "$folder/nvidia_icd.json" ]; then
                VK_DRIVER_FILES=$folder/nvidia_icd.json
                break
            fi
        done
        if [ -z "${VK_DRIVER_FILES:-}" ] && has 'libGLX_nvidia\.so\.0'; then
            VK_DRIVER_FILES=$work/nvidia_icd.json
            cat >"$VK_DRIVER_FILES" <<'JSON'
{"file_format_version": "1.0.0", "ICD": {"library_path": "libGLX_nvidia.so.0", "api_version": "1.3.0"}}
JSON
        fi
        [ -z "${VK_DRIVER_FILES:-}" ] || export VK_DRIVER_FILES
    fi
fi

# (Mesa says so when this is not set.)
XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$work}
export XDG_RUNTIME_DIR

"$program" gpu --out "$file" "$@"
echo "$file"
