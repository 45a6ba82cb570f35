#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test-debian.sh BUILD SUITE: `make demo` and `make test` of the last commit in a fresh, minimal Debian of this suite (bookworm, trixie), in
# a change of root under BUILD/debian. The system is made once by debootstrap, and copied for each run. DEBIAN_MIRROR names the archive; by
# default it is the one that this machine takes its own packages from. KEEP=1 keeps the copy. Where this cannot be done, a line says why.
set -eu
build=$1
suite=$2
place=$build/debian
base=$place/$suite
root=$place/$suite-run

leave_out() {
    echo "The tests in a fresh Debian ($suite) are left out: $*."
    exit 0
}

# The first archive of the machine's own sources, in the old form or the new one.
find_mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/debian.sources 2>/dev/null |
        sed -n -e 's/^deb  *\(\[[^]]*\]  *\)\{0,1\}\([^ ]*\/debian\/\{0,1\}\) .*/\2/p' -e 's/^URIs: *\([^ ]*\/debian\/\{0,1\}\)$/\1/p' | head -n 1
}

[ "$(id -u)" -eq 0 ] || leave_out "a change of root needs root"
command -v debootstrap >/dev/null || leave_out "debootstrap is not installed"
mirror=${DEBIAN_MIRROR:-$(find_mirror)}
[ -n "$mirror" ] || leave_out "no Debian archive is known: give DEBIAN_MIRROR=..."

mkdir -p "$place"
if [ ! -e "$base/complete" ]; then
    rm -rf "$base"
    debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$base" "$mirror" >"$place/$suite.log" 2>&1 ||
        leave_out "debootstrap failed: $(tail -n 1 "$place/$suite.log")"
    touch "$base/complete"
fi

# /proc and /dev belong to the host, and must be gone before the folder is.
clean() {
    for mounted in dev proc; do mountpoint -q "$root/$mounted" && umount -l "$root/$mounted"; done
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}
rm -rf --one-file-system "$root"
cp -a "$base" "$root"
trap clean EXIT
mount -t proc proc "$root/proc" 2>/dev/null && mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" || leave_out "file systems cannot be mounted"

git clone -q --no-hardlinks . "$root/carom"
inside() {
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 sh -c "cd /carom && $1"
}
for target in demo test; do
    started=$SECONDS
    echo "$suite: make $target"
    inside "make $target" >"$place/$suite-$target.log" 2>&1 || {
        tail -n 40 "$place/$suite-$target.log"
        echo "$suite: make $target failed; $place/$suite-$target.log has it all"
        exit 1
    }
    tail -n 3 "$place/$suite-$target.log"
    echo "$suite: make $target took $((SECONDS - started)) s on $(nproc) cores; load $(cut -d' ' -f1 /proc/loadavg)"
done
inside "build/carom --version --verbose"
changes=$(git -C "$root/carom" status --porcelain)
[ -z "$changes" ] || { echo "$suite: the checkout has changed: $changes"; exit 1; }

# The same numbers everywhere: digests of samples, which a run in another suite left beside this one.
inside "for scene in block cube-k4 quadruped disks; do echo \"\$scene \$(build/carom sample scenes/\$scene.yaml --samples 1024 --json | sed -n 's/.*\"digest\": *\"\([0-9a-f]*\)\".*/\1/p' | head -n 1)\"; done" |
    tee "$place/$suite.digests"
status=0
for other in "$place"/*.digests; do
    cmp -s "$other" "$place/$suite.digests" || { echo "the digests of $other differ:" && diff "$other" "$place/$suite.digests" || status=1; }
done
exit $status
