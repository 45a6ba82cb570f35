# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# For scripts that try carom in fresh, minimal Debian systems, in a change of root under BUILD/debian: they set `build`, `suite` (bookworm,
# trixie) and `what`, and source this. The system is made once by debootstrap, and copied for each use; packages that apt has fetched stay
# for the next one. DEBIAN_MIRROR names the archive; by default it is the one that this machine takes its own packages from. KEEP=1 keeps
# the last copy.
place=$build/debian
base=$place/$suite
root=$place/$suite-run
archives=$place/$suite-archives

# Where this cannot be done, a line says why.
leave_out() {
    echo "$what in a fresh Debian ($suite) are left out: $*."
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

mkdir -p "$archives/partial"
if [ ! -e "$base/complete" ]; then
    rm -rf "$base"
    debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$base" "$mirror" >"$place/$suite.log" 2>&1 ||
        leave_out "debootstrap failed: $(tail -n 1 "$place/$suite.log")"
    touch "$base/complete"
fi

# /proc and /dev belong to the host, packages to all copies: they must be gone before the folder is.
remove_root() {
    for mounted in dev proc var/cache/apt/archives; do mountpoint -q "$root/$mounted" && umount -l "$root/$mounted"; done
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}

# A new copy in place of the last one.
make_root() {
    KEEP='' remove_root
    cp -a "$base" "$root"
    mount -t proc proc "$root/proc" 2>/dev/null && mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" &&
        mount --bind "$archives" "$root/var/cache/apt/archives" || leave_out "file systems cannot be mounted"
}
trap remove_root EXIT

# inside FOLDER COMMAND: runs a command line there, with an environment that holds nothing of this one.
inside() {
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "cd $1 && $2"
}

# Processor time of all that this script has run and waited for, in clock ticks.
read_ticks() {
    local fields
    read -r -a fields </proc/$$/stat
    echo $((fields[15] + fields[16]))
}

# try LOG DESCRIPTION COMMAND...: runs a command into a log, whose end is shown when it fails, which ends the script.
try() {
    local log=$place/$suite-$1.log description=$2 started=$SECONDS ticks
    ticks=$(read_ticks)
    shift 2
    echo "$suite: $description"
    "$@" >"$log" 2>&1 || {
        tail -n 40 "$log"
        echo "$suite: $description failed; $log has it all"
        exit 1
    }
    tail -n 3 "$log"
    echo "$suite: $description took $((SECONDS - started)) s, with $((($(read_ticks) - ticks) / $(getconf CLK_TCK))) s of processor time, on $(nproc) cores; load $(cut -d' ' -f1 /proc/loadavg)"
}
