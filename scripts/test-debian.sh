#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test-debian.sh BUILD SUITE: `make demo` and `make test` of the last commit in a fresh, minimal Debian (scripts/fresh-debian.sh);
# TARGETS='demo test-all' makes others than these two.
set -eu
build=$1 suite=$2 what="The tests"
# shellcheck source=scripts/fresh-debian.sh
. "$(dirname "$0")/fresh-debian.sh"
make_root

git clone -q --no-hardlinks . "$root/carom"
for target in ${TARGETS:-demo test}; do
    try "$target" "make $target" inside /carom "make $target"
done
inside /carom "build/carom --version --verbose"
changes=$(git -C "$root/carom" status --porcelain)
[ -z "$changes" ] || { echo "$suite: the checkout has changed: $changes"; exit 1; }

# The same numbers everywhere: digests of samples, which a run of this commit in another suite left beside this one.
commit=$(git rev-parse --short HEAD)
digests=$place/$suite-$commit.digests
inside /carom "for scene in block cube-k4 quadruped disks; do echo \"\$scene \$(build/carom sample scenes/\$scene.yaml --samples 1024 --json | sed -n 's/.*\"digest\": *\"\([0-9a-f]*\)\".*/\1/p' | head -n 1)\"; done" |
    tee "$digests"
status=0
for other in "$place"/*-"$commit".digests; do
    cmp -s "$other" "$digests" || { echo "the digests of $other differ:" && diff "$other" "$digests" || status=1; }
done
exit $status
