#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# try-deb.sh PACKAGES: installs carom's Debian packages of a folder in this system, uses each, and removes them all. For systems made for
# this alone (scripts/test-deb.sh). Runs in a folder with parts of a checkout.
set -eux
packages=$1
scenes=/usr/share/carom/scenes
install() { apt-get -qq -y --no-install-recommends install "$@"; }
apt-get -qq update

# The command, as a user who is not root.
install "$packages"/carom_*.deb gnuplot-nox fonts-dejavu-core
mkdir -m 777 /tmp/demo
su -s /bin/sh nobody -c "cd /tmp/demo && carom sample $scenes/block.yaml -o block.h5 && carom plot block.h5 && carom compare $scenes/block.yaml -o out"
ls /tmp/demo/*.png /tmp/demo/out/index.md
carom --version --verbose
# SUNDIALS, of whatever version.
carom compliant $scenes/block-compliant.yaml
carom design $scenes/tailed-biped.yaml
digest=$(carom sample $scenes/block.yaml --json | sed -n 's/.*"digest": *"\([0-9a-f]*\)".*/\1/p' | head -n 1)
[ -n "$digest" ]

# The Python package: the same scene, the same bits.
install "$packages"/python3-carom_*.deb
cd /tmp
[ "$(python3 -c "import carom; print(carom.load('$scenes/block.yaml').sample().info['digest'])")" = "$digest" ]
python3 -c "import importlib.metadata; print(importlib.metadata.version('carom'))"
cd -

# The library, by pkg-config and by CMake.
install "$packages"/libcarom0_*.deb "$packages"/libcarom-dev_*.deb gcc libc6-dev pkg-config cmake make
printed=$(sed -n 's/^It prints `\(.*\)`\. \[docs.*/\1/p' README.md)
# Flags are words.
# shellcheck disable=SC2046
cc examples/impact.c $(pkg-config --cflags --libs carom) -o /tmp/impact
[ "$(/tmp/impact)" = "$printed" ]
cmake -S tests/install/consumer -B /tmp/consumer -DIMPACT="$PWD/examples/impact.c" -DWITH_IO=ON >/dev/null
cmake --build /tmp/consumer
[ "$(/tmp/consumer/impact)" = "$printed" ]
/tmp/consumer/read $scenes/block.yaml

# All of it goes.
apt-get -qq -y purge carom libcarom0 libcarom-dev python3-carom
rm -rf /tmp/demo /tmp/consumer /tmp/impact
left=$(find / -xdev -name '*carom*' ! -path "$PWD*" ! -path "$packages/*" ! -path '/proc/*')
[ -z "$left" ] || { echo "left after removal: $left"; exit 1; }
echo "the packages were used and removed"
