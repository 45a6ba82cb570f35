#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# mujoco.sh CHOICE [PYTHON]: finds the MuJoCo to build with. CHOICE is `pip`, the wheel `mujoco` that PYTHON (python3) has installed, or
# the folder of an unpacked release. Prints the folder of its headers, its library, and its version.
set -u
choice=${1:-}
python=${2:-python3}

fail() {
    echo "mujoco: $*" >&2
    exit 1
}

# The folders that a wheel lies in, one a line: importing it would need its whole environment.
list_wheel_folders() {
    "$python" -c 'if True:
        import importlib.util
        spec = importlib.util.find_spec("mujoco")
        print("\n".join(spec.submodule_search_locations if spec else []))'
}

# The number in the headers as X.Y.Z: before 3.5.0 one digit stood for each part, since then three do.
read_version() {
    local number base
    number=$(sed -n 's/^#define mjVERSION_HEADER  *\([0-9]*\).*/\1/p' "$1/mujoco/mujoco.h")
    [ -n "$number" ] || fail "$1/mujoco/mujoco.h does not say its version"
    base=$((number < 1000 ? 10 : 1000))
    echo "$((number / base / base)).$((number / base % base)).$((number % base))"
}

case $choice in
'') fail "which MuJoCo? MUJOCO=pip or MUJOCO=DIR" ;;
pip)
    command -v "$python" >/dev/null || fail "MUJOCO=pip asks Python for its wheel, and there is no '$python': give PYTHON=..."
    folders=$(list_wheel_folders) || fail "MUJOCO=pip: '$python' cannot say where its wheel is"
    where="the wheel 'mujoco' of $(command -v "$python")"
    [ -n "$folders" ] || fail "MUJOCO=pip: $(command -v "$python") has no wheel 'mujoco': install it with '$python -m pip install mujoco', or give the PYTHON=... that has it"
    ;;
*)
    folders=$(cd "$choice" 2>/dev/null && pwd) || fail "MUJOCO=$choice: there is no such folder (MUJOCO is 'pip' or the folder of a release)"
    where=$folders
    ;;
esac

include='' library=''
while read -r folder; do
    for place in "$folder/include" "$folder"; do
        [ -z "$include" ] && [ -f "$place/mujoco/mujoco.h" ] && include=$place
    done
    # A release has libmujoco.so beside the file that it leads to, a wheel that file alone.
    for file in "$folder"/lib/libmujoco.so "$folder"/lib64/libmujoco.so "$folder"/lib/*/libmujoco.so "$folder"/libmujoco.so \
        "$folder"/lib/libmujoco.so.* "$folder"/libmujoco.so.*; do
        [ -z "$library" ] && [ -f "$file" ] && library=$file
    done
done <<<"$folders"
[ -n "$include" ] || fail "MUJOCO=$choice: no include/mujoco/mujoco.h in $where"
[ -n "$library" ] || fail "MUJOCO=$choice: no libmujoco.so in $where"
[[ $include$library != *[[:space:]]* ]] || fail "MUJOCO=$choice: make cannot use a path with blanks: $include"

version=$(read_version "$include") || exit 1
[ "$(printf '%s\n' 2.2.2 "$version" | sort -V | head -n 1)" = 2.2.2 ] || fail "MUJOCO=$choice: MuJoCo $version is older than 2.2.2"
named=$(readlink -f "$library")
named=${named##*libmujoco.so}
[ -z "$named" ] || [ "$named" = ".$version" ] || fail "MUJOCO=$choice: the headers $include are of MuJoCo $version, but the library is $library${named:+, of ${named#.}}"
echo "$include $library $version"
