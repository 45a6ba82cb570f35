#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test-mujoco.sh BUILD PYTHON WHEEL...: tests carom with other versions of MuJoCo than that of BUILD. For each WHEEL, a version of the
# Python wheel `mujoco` such as '3.*', it makes a virtual environment and a build below BUILD/mujoco, runs the tests that read models, and
# compares the results of shipped scenes with BUILD's. A wheel that cannot be had is left out, said so, and counts as a failure.
set -u
build=$1 python=$2
shift 2
make=${MAKE:-make}
scenes=()
for scene in scenes/*.yaml; do
    grep -q '^ *model:' "$scene" && scenes+=("$scene")
done
left_out=() failed=() environments=() versions=()

say() {
    echo "test-mujoco: $*"
}

# Installs a wheel without what it needs in Python: 3.x has headers and library itself, 4.x in `mujoco-core`.
install_wheel() {
    local pip=("$1/bin/python" -m pip --disable-pip-version-check -q install --no-deps) version
    "${pip[@]}" "mujoco==$2" || return
    version=$("$1/bin/python" -c 'import importlib.metadata; print(importlib.metadata.version("mujoco"))') || return
    scripts/mujoco.sh pip "$1/bin/python" >/dev/null 2>&1 || "${pip[@]}" "mujoco-core==$version"
}

# Builds with a choice of MuJoCo: run_make BUILD CHOICE PYTHON TARGET...
run_make() {
    local place=$1 choice=$2 interpreter=$3
    shift 3
    "$make" --no-print-directory -s "-j${JOBS:-1}" BUILD="$place" MUJOCO="$choice" PYTHON="$interpreter" "$@"
}

for wheel in "$@"; do
    place=$build/mujoco/${wheel//\*/x} environment=$(realpath -m "$build/mujoco/${wheel//\*/x}/environment")
    mkdir -p "$place"
    if [ ! -x "$environment/bin/python" ] && ! "$python" -m venv "$environment" >"$place/log" 2>&1; then
        say "LEFT OUT $wheel: '$python -m venv' failed, which needs python3-venv on Debian: $(tail -n 1 "$place/log")"
        left_out+=("$wheel")
        continue
    fi
    install_wheel "$environment" "$wheel" >"$place/log" 2>&1 || reason=$(grep -m 1 -i error "$place/log" || tail -n 1 "$place/log")
    if ! found=$(scripts/mujoco.sh pip "$environment/bin/python" 2>/dev/null); then
        say "LEFT OUT $wheel: the registry of Python wheels does not answer, or has none for $python: ${reason:-no library in the wheel}"
        left_out+=("$wheel")
        continue
    fi
    version=${found##* }
    [ -z "${reason:-}" ] || say "the registry does not answer; $version is here from before: $reason"
    unset reason
    say "MuJoCo $version"
    environments+=("$environment")
    versions+=("$version")
    run_make "$place/build" pip "$environment/bin/python" run-models || failed+=("$version: tests")
    tests/mujoco/agreement.py "$build/carom" "$place/build/carom" "${scenes[@]}" || failed+=("$version: results")
    named=$("$place/build/carom" --version --verbose | sed -n 's/^MUJOCO *//p')
    [ "$named" = "$version" ] || failed+=("$version: --version says '$named'")
done

# One build folder changes its MuJoCo: to headers of one version with the library of another, which no model may be loaded with, and back.
if [ ${#versions[@]} -ge 2 ] && [ "${versions[0]}" != "${versions[1]}" ]; then
    read -r include _ _ < <(scripts/mujoco.sh pip "${environments[0]}/bin/python")
    read -r _ library _ < <(scripts/mujoco.sh pip "${environments[1]}/bin/python")
    mixed=$(realpath -m "$build/mujoco/mixed") place=${environments[0]%/environment}/build
    rm -rf "$mixed" && mkdir -p "$mixed/lib" && ln -s "$include" "$mixed/include" && cp "$library" "$mixed/lib/libmujoco.so" &&
        ln -s libmujoco.so "$mixed/lib/$(basename "$library")"
    run_make "$place" "$mixed" "$python" "$place/carom"
    message=$("$place/carom" info scenes/block.yaml 2>&1)
    [[ $message == *"headers of MuJoCo ${versions[0]}, but runs with the library of MuJoCo ${versions[1]}"* ]] ||
        failed+=("headers of ${versions[0]} with the library of ${versions[1]}: $message")
    run_make "$place" pip "${environments[0]}/bin/python" "$place/carom"
    "$place/carom" info scenes/block.yaml >/dev/null || failed+=("${versions[0]}: the way back from another version")
fi

[ ${#versions[@]} -eq 0 ] || say "tested with MuJoCo ${versions[*]}"
[ ${#left_out[@]} -eq 0 ] || say "left out: ${left_out[*]}"
for one in "${failed[@]}"; do say "FAILED $one"; done
[ ${#failed[@]} -eq 0 ] && [ ${#left_out[@]} -eq 0 ]
