#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_install.sh: `make install` of the build CAROM_BUILD, and programs elsewhere that use it, by pkg-config and by CMake. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${CAROM_BUILD:-build}
place=$(mktemp -d) || exit 2
trap 'rm -rf "$place"' EXIT
prefix=$place/prefix lib=$place/prefix/lib
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH DESTDIR
version=$(sed -n 's/^#define CAROM_VERSION "\(.*\)"/\1/p' include/carom/api.h)
cc=${CC:-cc}
# What README says that the program of its library section prints.
printed=$(sed -n 's/^It prints `\(.*\)`\. \[docs.*/\1/p' README.md)
log=$place/log

run_make() {
    # A make above has no jobs to lend.
    MAKEFLAGS=${MAKEFLAGS:+$(sed -E 's/--jobserver[^ ]*//g; s/-j[0-9]*//g' <<<"$MAKEFLAGS")} make --no-print-directory -s BUILD="$build" "$@"
}

number=0
# report DESCRIPTION COMMAND...: one test of TAP. The log of a failure is shown.
report() {
    local description=$1
    shift
    number=$((number + 1))
    if "$@" >"$log" 2>&1; then
        echo "ok $number - $description"
    else
        sed 's/^/# /' "$log"
        echo "not ok $number - $description"
    fi
}
skip() {
    number=$((number + 1))
    echo "ok $number # SKIP $1"
}

installs() { run_make install PREFIX="$prefix"; }

# The example of the README as it is printed there.
runs_by_pkg_config() {
    # Flags are words.
    # shellcheck disable=SC2046
    (cd "$place" && cp "$OLDPWD/examples/impact.c" . && $cc impact.c $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs "$@" carom) -o impact &&
        says "$printed" ./impact)
}
says() {
    local text
    text=$("${@:2}") && [ -n "$1" ] && [ "$text" = "$1" ] || { echo "it said '$text', not '$1'"; return 1; }
}

# Each library of a full installation alone: its own pkg-config file names all that it needs.
links_every_library() {
    local file name
    echo 'int main(void) { return 0; }' >"$place/empty.c"
    for file in "$lib"/pkgconfig/carom*.pc; do
        name=$(basename "$file" .pc)
        [ "$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion "$name")" = "$version" ] || return 1
        # Linked although nothing uses it, so that the linker resolves what it needs.
        # shellcheck disable=SC2046
        $cc "$place/empty.c" -Wl,--no-as-needed $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --libs "$name") -o "$place/empty" && "$place/empty" || return 1
    done
}

# cmake_consumer FOLDER [OPTION...]: configures, builds and runs tests/install/consumer with the installation below FOLDER.
cmake_consumer() {
    local from=$1
    shift
    rm -rf "$place/consumer"
    cmake -S tests/install/consumer -B "$place/consumer" -DCMAKE_C_COMPILER="${cc##* }" -DCMAKE_PREFIX_PATH="$from" -DIMPACT="$PWD/examples/impact.c" "$@" &&
        cmake --build "$place/consumer" && says "$printed" "$place/consumer/impact"
}
reads_a_scene() {
    cmake_consumer "$prefix" -DWITH_IO=ON && says "rocking block from matrices, with carom $version" "$place/consumer/read" scenes/block-matrices.yaml
}
refuses() {
    cmake_consumer "$prefix" "$1" >"$place/refusal" 2>&1 && return 1
    cat "$place/refusal"
    grep -q "$2" "$place/refusal"
}
runs_after_a_move() {
    mv "$prefix" "$place/moved" && cmake_consumer "$place/moved"
    local status=$?
    mv "$place/moved" "$prefix"
    return $status
}

# DESTDIR gives the same files, and none of them knows it.
stages() {
    run_make install PREFIX=/opt/carom LIBDIR=/opt/carom/lib64 DESTDIR="$place/stage" &&
        diff <(cd "$prefix" && find . -type f | sort) <(cd "$place/stage/opt/carom" && find . -type f | sed 's|/lib64/|/lib/|' | sort) &&
        ! grep -r "$place" "$place/stage" --include='*.pc' --include='*.cmake' &&
        grep -q '^libdir=${prefix}/lib64$' "$place/stage/opt/carom/lib64/pkgconfig/carom.pc"
}
leaves_nothing() {
    run_make uninstall PREFIX="$prefix" || return 1
    [ -z "$(find "$prefix" ! -type d)" ]
}

echo "1..10"
report "make install" installs
report "README's example by pkg-config, without LD_LIBRARY_PATH" runs_by_pkg_config
report "the same, linked with the static library" runs_by_pkg_config --static
report "every library links alone by its pkg-config file" links_every_library
if command -v cmake >/dev/null; then
    report "find_package(carom) gives carom::carom" cmake_consumer "$prefix"
    if [ -e "$lib/libcarom-io.so" ]; then
        report "the component io, with what it needs" reads_a_scene
    else
        skip "this build has libcarom alone"
    fi
    report "find_package(carom 9) is refused" refuses -DWANTED=9 "version: $version"
    report "an installation that was moved" runs_after_a_move
else
    for _ in 1 2 3 4; do skip "cmake is not installed"; done
fi
report "DESTDIR and LIBDIR" stages
report "make uninstall" leaves_nothing
