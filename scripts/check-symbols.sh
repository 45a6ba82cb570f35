#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-symbols.sh BUILD: what object files really use of each other. Rooms form no circle, and files of one room no circle of more than
# two. Object files of one source that was compiled for several instruction sets count as one.
set -u
cd "$(dirname "$0")/.." || exit 2
build=$1

find "$build/obj/src" "$build/obj/solvers" "$build/obj/benchmarks/harness" -name '*.o' -exec nm -A -g {} + 2>/dev/null |
    sed -E "s|^$build/obj/||; s|^src/||; s/_(scalar|avx2|avx512)\.o:/.o:/" |
    LC_ALL=C awk '
    # A line is FILE.o:[ADDRESS] TYPE SYMBOL. Only symbols of carom matter.
    {
        split($1, place, ":"); file = place[1]; sub(/\.o$/, "", file)
        type = $(NF - 1); symbol = $NF
        if (symbol !~ /^(carom|cli|bench)_/) next
        if (type == "U") { used[file, symbol] = 1 } else { definer[symbol] = file }
        files[file] = 1
    }
    function room(file) { sub(/\/.*/, "", file); return file == "benchmarks" ? "harness" : file }
    # Warshall: reach[a, b] where arrows lead from a to b. Nodes of one circle reach each other.
    function close_over(nodes, count, reach,    i, j, k) {
        for (k = 1; k <= count; k++)
            for (i = 1; i <= count; i++)
                if ((nodes[i], nodes[k]) in reach)
                    for (j = 1; j <= count; j++)
                        if ((nodes[k], nodes[j]) in reach) reach[nodes[i], nodes[j]] = 1
    }
    END {
        for (pair in used) {
            split(pair, part, SUBSEP); from = part[1]; to = definer[part[2]]
            if (to == "" || to == from) continue
            if (room(from) == room(to)) inside[from, to] = 1
            else { arrows[room(from), room(to)] = 1; example[room(from), room(to)] = from " uses " part[2] }
        }
        for (f in files) if (!(room(f) in seen)) { seen[room(f)] = 1; rooms[++room_count] = room(f) }
        for (a in arrows) whole[a] = 1
        close_over(rooms, room_count, whole)
        for (a in arrows) {
            split(a, part, SUBSEP)
            if ((part[2], part[1]) in whole) { print "rooms in a circle: " part[1] " -> " part[2] " (" example[a] ")"; bad = 1 }
        }
        for (r = 1; r <= room_count; r++) {
            count = 0
            for (f in files) if (room(f) == rooms[r]) nodes[++count] = f
            close_over(nodes, count, inside)
            for (i = 1; i <= count; i++) {
                members = 1; list = nodes[i]; first = 1
                for (j = 1; j <= count; j++)
                    if (j != i && ((nodes[i], nodes[j]) in inside) && ((nodes[j], nodes[i]) in inside)) {
                        members++; list = list ", " nodes[j]
                        if (nodes[j] < nodes[i]) first = 0
                    }
                if (members > 2 && first) { print "files in a circle: " list; bad = 1 }
            }
        }
        exit bad
    }'
