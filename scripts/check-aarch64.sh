#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-aarch64.sh: every file of the libraries and the command once through gcc for 64-bit ARM, without making code: nothing may assume x86.
# The headers of libraries are those of this machine; the cross compiler searches them after those of its own architecture.
set -u
cd "$(dirname "$0")/.." || exit 2

here=/usr/include/$(gcc -dumpmachine)
includes=(-Iinclude -Isrc -I. -isystem /usr/aarch64-linux-gnu/include)
for directory in "$here"/openblas*/ /usr/include/hdf5/serial /usr/include/siconos /usr/include/siconos/numerics; do
    includes+=(-isystem "$directory")
done
for flag in $(pkg-config --cflags-only-I libxml-2.0 2>/dev/null); do includes+=(-isystem "${flag#-I}"); done
includes+=(-idirafter /usr/include -idirafter "$here")

failed=0
while read -r file; do
    aarch64-linux-gnu-gcc -std=c17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fopenmp -fsyntax-only -D_POSIX_C_SOURCE=200809L \
        "${includes[@]}" "$file" || failed=1
done < <(find src solvers benchmarks/harness -name '*.c' ! -path '*/ranks/mpi/*' ! -path '*/absent/*' | sort)
[ $failed -eq 0 ] && echo "every file compiles for aarch64"
exit $failed
