#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test-arm64.sh BUILD TEST...: builds carom for 64-bit ARM with the cross compiler, runs test programs (tests/ROOM/NAME) under qemu, and
# compares digests of samples and outcomes with those of the build for this machine (tests/laws/digests.c).
# The libraries are Debian's packages for arm64, unpacked in BUILD/arm64/root: nothing is installed, and apt's own configuration says where
# packages come from.
set -u

build=$1
shift
arm=$(mkdir -p "$build/arm64" && cd "$build/arm64" && pwd) || exit 2
root=$arm/root
libraries=$root/usr/lib/aarch64-linux-gnu
version=$(aarch64-linux-gnu-gcc -dumpversion)
version=${version%%.*}
packages="libc6-dev libstdc++-$version-dev libopenblas-serial-dev liblapacke-dev nettle-dev librandom123-dev libsiconos-numerics-dev libmujoco-dev
    libxml2-dev libhdf5-dev libyaml-dev libjansson-dev libqhull-dev libppl-dev libgmp-dev libglpk-dev libcmocka-dev libfclib-dev"

# apt with lists, a cache and installed packages (none) of its own.
fetch_root() {
    local apt=$arm/apt package link
    rm -rf "$root" && mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$root" && : >"$apt/status" || return 1
    printf '%s\n' 'APT::Architecture "arm64";' 'APT::Architectures { "arm64"; };' 'Debug::NoLocking "true";' \
        "Dir::State \"$apt\";" "Dir::State::status \"$apt/status\";" "Dir::Cache \"$apt\";" >"$apt/apt.conf"
    export APT_CONFIG=$apt/apt.conf
    apt-get -qq update || return 1
    # Words of the list are packages, of which a distribution may lack some: what they serve is then left out of the build.
    # shellcheck disable=SC2046,SC2086
    apt-get -qq -y --no-install-recommends --download-only install $(apt-cache show $packages | sed -n 's/^Package: //p' | sort -u) \
        >/dev/null || return 1
    for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$root" || return 1; done
    # Links from the top of the file system, and the choice that Debian's alternatives would make.
    find "$root" -type l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
    ln -s ../openblas-serial/pkgconfig/lapack-openblas.pc "$libraries/pkgconfig/lapack.pc"
    touch "$root/ready"
}

if [ ! -e "$root/ready" ] && ! fetch_root 2>"$arm/apt.log"; then
    echo "The packages for arm64 cannot be had (see $arm/apt.log): the tests for 64-bit ARM are left out."
    exit 0
fi

export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$libraries/openblas-serial/pkgconfig:$root/usr/share/pkgconfig
programs=("${@/#/$arm/tests/}")
${MAKE:-make} --no-print-directory BUILD="$arm" CC="aarch64-linux-gnu-gcc --sysroot=$root" -j"${JOBS:-1}" \
    LDFLAGS="-L$root/usr/lib/gcc/aarch64-linux-gnu/$version -Wl,-rpath-link,$libraries/openblas-serial" "${programs[@]}" "$arm/tests/laws/digests" || exit 1

emulate="qemu-aarch64-static -L $root -E LD_LIBRARY_PATH=$libraries/openblas-serial:$libraries/hdf5/serial"
if $emulate "$arm/tests/laws/digests" >"$arm/digests" && "$build/tests/laws/digests" | diff - "$arm/digests"; then
    echo "$(wc -l <"$arm/digests") digests are those of this machine"
else
    echo "digests differ from those of this machine"
    exit 1
fi
CAROM_TEST_QUICK=1 CAROM_TEST_WRAPPER=$emulate scripts/run-tests.sh "$arm" "${programs[@]}"
