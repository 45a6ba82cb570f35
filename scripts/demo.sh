#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh BUILD: samples the set of post-impact velocities of the rocking block with BUILD/carom, compares all laws on it,
# and says which files to look at. They are written to BUILD/demo. BUILD is relative to the root of the repository, as make's is.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 BUILD" >&2; exit 2; }
cd "$(dirname "$0")/.."
carom=$1/carom
results=$1/demo
scene=scenes/block.yaml
[ -x "$carom" ] || { echo "$0: $carom is not built; 'make demo' builds it" >&2; exit 2; }

# Shows a command and runs it.
run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

mkdir -p "$results"
rm -f "$results"/*.h5 "$results"/*.png "$results"/*.svg

run "$carom" sample "$scene" -o "$results/block.h5"
run "$carom" plot "$results/block.h5"
run "$carom" compare "$scene" -o "$results"

printf '\nPictures to look at, and HDF5 files with the numbers (docs/results.md):\n'
for file in "$results"/*.png "$results"/*.h5; do
    echo "    $file"
done
