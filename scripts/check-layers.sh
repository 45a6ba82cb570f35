#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-layers.sh: one direction of flow between rooms, by what files include.
# A file may include the public headers of the rooms in its line of `allowed`, and private headers of its own room. Circles of files inside
# a room have at most two members: a pair that shares a header.
set -u
cd "$(dirname "$0")/.." || exit 2

# room: rooms whose public headers it may include.
allowed() {
    case "$1" in
    base)     echo "base" ;;
    impact)   echo "base impact" ;;
    solvers)  echo "base solvers" ;;
    step)     echo "base impact solvers step" ;;
    reach)    echo "base impact solvers step reach" ;;
    laws)     echo "base impact solvers step reach laws" ;;
    exact)    echo "base impact solvers step reach laws exact" ;;
    sets)     echo "base impact sets" ;;
    bodies)   echo "base impact sets bodies" ;;
    mujoco)   echo "base impact solvers step reach laws mujoco" ;;
    dynamics) echo "base impact solvers step reach laws bodies dynamics" ;;
    compliant) echo "base impact solvers step reach laws mujoco compliant" ;;
    design)   echo "base design" ;;
    measure)  echo "base impact solvers step reach laws measure" ;;
    io)       echo "base impact solvers step reach laws exact sets bodies mujoco dynamics measure io" ;;
    harness)  echo "base impact solvers step reach laws harness" ;;
    cli)      echo "base impact solvers step reach laws exact sets bodies mujoco dynamics compliant design measure io harness cli" ;;
    python)   echo "base impact solvers step reach laws exact sets bodies mujoco dynamics compliant design measure io" ;;
    esac
}

# The room that a public header describes.
room_of_header() {
    case "$1" in
    api | base | status | stream | loop | digest | option | table | registry) echo base ;;
    arena | clock | file | utf8 | picture | dense | box | ode | modular | quad | expression | condition | suggest | bracket | vector3 | quaternion | instruction_sets | lanes | solid | surface) echo base ;;
    functional | impact | joint_modes | mechanism | polyhedra | system | uncertain | vary) echo impact ;;
    lcp) echo solvers ;;
    sweeps) echo step ;;
    worst) echo reach ;;
    draws | many | propagative | stronge) echo laws ;;
    questions | sensitivity) echo sets ;;
    bound) echo exact ;;
    rotation | outline) echo bodies ;;
    model) echo mujoco ;;
    studies) echo dynamics ;;
    scene | pose | result | plot | files | json | temporary | stage | space) echo io ;;
    carom) echo io ;; # the whole API: for the rooms that may use all of it
    *) echo "$1" ;;   # step.h belongs to step
    esac
}

# The room of a file, from its path below src/ or the top.
room_of_path() {
    case "$1" in
    solvers/*) echo solvers ;;
    benchmarks/harness/*) echo harness ;;
    *) echo "${1%%/*}" ;;
    esac
}

bad=0
while read -r file include; do
    room=$(room_of_path "${file#src/}")
    rooms=$(allowed "$room")
    if [ -z "$rooms" ]; then
        echo "$file: room '$room' is not in scripts/check-layers.sh"
        bad=1
    elif [[ $include == carom/* || $include == benchmarks/harness/harness.h ]]; then
        target=$(room_of_header "$(basename "$include" .h)")
        [[ " $rooms " == *" $target "* ]] || { echo "$file: a file in '$room' may not include \"$include\""; bad=1; }
    elif [[ $include != */* ]]; then
        [ -f "$(dirname "$file")/$include" ] || { echo "$file: \"$include\" does not stand beside it"; bad=1; }
    elif [ "$(room_of_path "$include")" != "$room" ]; then
        echo "$file: \"$include\" is private to its room"
        bad=1
    fi
done < <(LC_ALL=C grep -rHo '^#include "[^"]*"' --include='*.[ch]' src solvers benchmarks/harness python/src | sed 's|:#include "\(.*\)"| \1|')
exit $bad
