#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# try-wheel.sh ENVIRONMENT FILE: runs a Python file in a virtual environment where Debian's libraries are hidden: in a root folder of its
# own, made of the environment, Python and what Python itself needs. Needs a kernel that lets users have namespaces, or root.
set -eu
environment=$(realpath "$1")
file=$(realpath "$2")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Python, its standard library and built-in extensions, and the C library and those of gcc, which wheels may expect: nothing else of
# /usr/lib.
interpreter=$(realpath "$environment/bin/python3")
standard=$("$interpreter" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
mapfile -t extensions < <(find "$standard" -name '*.so' -not -path '*/dist-packages/*' -not -path '*/site-packages/*')
mapfile -t libraries < <(ldd "$interpreter" "${extensions[@]}" 2>/dev/null | grep -o '/[^ ]*\.so[^ ]*' | sort -u)
mapfile -t expected < <(dpkg -L libc6 libgcc-s1 libstdc++6 | grep '/lib.*\.so')
for path in "${libraries[@]}" "${expected[@]}" "$interpreter" /lib64/ld-linux-x86-64.so.2; do
    [ -f "$path" ] || continue
    mkdir -p "$root$(dirname "$path")"
    cp -L "$path" "$root$path"
done
# The environment leads to the interpreter by links.
link=$environment/bin/python3
while [ -L "$link" ]; do
    next=$(readlink "$link")
    [[ $next == /* ]] || next=$(dirname "$link")/$next
    mkdir -p "$root$(dirname "$next")"
    [ -e "$root$next" ] || [ ! -L "$next" ] || cp -P "$next" "$root$next"
    link=$next
done
mkdir -p "$root$standard" "$root$environment" "$root/tmp" "$root/dev"
cp -r "$standard/." "$root$standard"
rm -rf "$root$standard/dist-packages" "$root$standard/site-packages"
cp -a "$environment/." "$root$environment"
cp "$file" "$root/tmp/"
: > "$root/dev/null"
unshare --map-root-user --user chroot "$root" "$environment/bin/python3" "/tmp/$(basename "$file")"
