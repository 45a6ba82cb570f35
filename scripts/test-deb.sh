#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test-deb.sh BUILD SUITE...: builds the Debian packages of the last commit in a fresh system of each suite, installs them in another one,
# uses all four, and removes them (scripts/fresh-debian.sh). The packages stay in BUILD/debian/SUITE-packages.
set -eu
build=$1
shift
script=$(realpath "$0")
# One suite in this process: what is sourced ends it.
if [ $# -gt 1 ]; then
    for suite in "$@"; do "$script" "$build" "$suite" || exit; done
    exit
fi
suite=$1 what="The tests of the Debian packages"
# shellcheck source=scripts/fresh-debian.sh
. "$(dirname "$0")/fresh-debian.sh"
packages=$place/$suite-packages

make_root
git clone -q --no-hardlinks . "$root/carom"
try deb "make deb" inside /carom "make deb"
rm -rf "$packages" && mkdir "$packages"
cp "$root"/carom/build/deb/*.deb "$packages" && rm -f "$packages"/*-dbgsym_*

make_root
cp -r "$packages" "$root/packages"
mkdir "$root/carom"
git archive HEAD scripts/try-deb.sh tests/install/consumer examples README.md | tar -x -C "$root/carom"
try try-deb "packages installed, used and removed" inside /carom "sh scripts/try-deb.sh /packages"
