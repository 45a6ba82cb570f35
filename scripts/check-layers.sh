#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One direction of flow: every include in a room may name only rooms that stand before it in its line below,
# and a private header (<room>_internal.h) is included by its own room alone.
set -u
cd "$(dirname "$0")/.." || exit 2

allowed() {
    case "$1" in
    base)    echo "base" ;;
    impact)  echo "base impact" ;;
    solvers) echo "base impact solvers" ;;
    reach)   echo "base impact solvers reach" ;;
    propagative) echo "base impact solvers propagative" ;;
    laws)    echo "base impact solvers reach propagative laws" ;;
    dynamics) echo "base impact solvers reach propagative laws model dynamics" ;;
    design)  echo "base design" ;;
    model)   echo "base impact model" ;;
    io)      echo "base impact solvers reach propagative laws model dynamics io" ;;
    cli)     echo "base impact solvers reach propagative laws design model dynamics io cli" ;;
    *)       echo "" ;;
    esac
}

bad=0
for file in src/*/*.[ch]; do
    room=$(basename "$(dirname "$file")")
    rooms=$(allowed "$room")
    if [ -z "$rooms" ]; then
        echo "$file: room '$room' is not in scripts/check-layers.sh"
        bad=1
        continue
    fi
    for include in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
        case "$include" in
        carom/carom.h) target=io ;; # the whole API: for the rooms that may use all of it
        carom/polyhedra.h|carom/exact.h|carom/query.h) target=reach ;; # the room that makes them
        carom/*) target=$(basename "$include" .h) ;;
        */*) target=${include%%/*} ;;
        *) target=$room ;;
        esac
        case " $rooms " in
        *" $target "*) ;;
        *) echo "$file: a file in '$room' may not include \"$include\""; bad=1 ;;
        esac
        case "$include" in
        *_internal.h)
            [ "$(basename "$include")" = "${room}_internal.h" ] || { echo "$file: \"$include\" is private to its room"; bad=1; } ;;
        esac
    done
done
exit $bad
