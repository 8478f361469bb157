#!/usr/bin/env bash
# A product of two f32 in f64, on an emulated s390x.
#
# Good guess: QEMU's floating point is exact to the last bit, so a program that gives other numbers in qemu-s390x than elsewhere has a
# fault of its own, or meets one of big-endian machines; and what GCC's tests pass is right for every compiler.
#
# What happens: in QEMU 7.2 (Debian 12) the instruction MDEBR, which multiplies two f32 into an f64, reads its first operand as half of
# an f64. `(double)a * b` of 0.1f and 1.3f is 6.81e-11. LLVM (Rust, Zig, Clang) uses the instruction for exactly that expression; GCC 12
# widens both and multiplies with MDBR, which is right. So programs of the one compiler are wrong and of the other right, by values
# from 1e-11 on, in sums by a few units in the last place. In QEMU 10.0 (Debian 13) both are right.
#
# Seen: qemu-user-static 1:7.2+dfsg-7+deb12u18+b3, qemu-user 1:10.0.13+ds-0+deb13u1, ziglang 0.14.1.
#   7.2.22: 6.8102968e-11
#   10.0.13: 0.13
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet ziglang==0.14.1
cat > product.c <<'C'
#include <stdio.h>
__attribute__((noinline)) double product(float a, float b) { return (double)a * (double)b; }
int main(int count, char **words) {
    (void)words;
    printf("%.8g\n", product(0.1f * count, 1.3f));
    return 0;
}
C
python/bin/python -m ziglang cc -target s390x-linux-musl -O2 product.c -o product
mkdir -p lists/partial cache/archives/partial
for suite in bookworm trixie; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" > "$suite.list"
    apt() { apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$PWD/$suite.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" "$@"; }
    apt update
    package=qemu-user
    [ $suite = trixie ] || package=qemu-user-static
    apt download $package 2> /dev/null
    dpkg -x $package\_*.deb $suite
    rm $package\_*.deb
done
old=$(bookworm/usr/bin/qemu-s390x-static ./product)
new=$(trixie/usr/bin/qemu-s390x ./product)
echo "$(bookworm/usr/bin/qemu-s390x-static --version | grep -o 'version [0-9.]*'): $old"
echo "$(trixie/usr/bin/qemu-s390x --version | grep -o 'version [0-9.]*'): $new"
[ "$old" = 6.8102968e-11 ] && [ "$new" = 0.13 ] || { echo "it is not so any more" >&2; exit 1; }
