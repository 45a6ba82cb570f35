#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# coverage.sh BUILD: measures how well sampled sets cover the exact ones with BUILD/carom, for docs/coverage.md: tables in
# docs/figures/coverage.md, one figure a scene in docs/figures/coverage-STEM.png. Result files go to BUILD/coverage. Takes some minutes.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 BUILD" >&2; exit 2; }
cd "$(dirname "$0")/.."
carom=$1/carom
results=$1/coverage
figures=docs/figures
table=$figures/coverage.md
[ -x "$carom" ] || { echo "$0: $carom is not built; 'make coverage' builds it" >&2; exit 2; }
mkdir -p "$results" "$figures"

counts="256 1024 4096 16384 65536"
seeds="1 2 3 4 5 6 7 8 9 10"

# field JSON KEY: a number of the JSON document.
field() { sed -n 's/.*"'"$2"'": *\([-+0-9.eE]*\).*/\1/p' <<<"$1" | head -n 1; }

# cover STEM SCENE COUNT SEED OPTIONS...: prints `radius outside` of one sampled set: the largest distance of a point of the exact set from
# the samples, and of a sample from the exact set.
cover() {
    local stem=$1 scene=$2 count=$3 seed=$4 answer
    shift 4
    "$carom" sample "$scene" --samples "$count" --seed "$seed" "$@" -o "$results/$stem.h5" >/dev/null
    answer=$("$carom" query "$results/$stem-exact.h5" --distance "$results/$stem.h5" --json)
    echo "$(field "$answer" a_to_b) $(field "$answer" b_to_a)"
}

# measure STEM LABEL OPTIONS...: one line of the table, and a block of the figure's data: the mean radius over the seeds for every count.
measure() {
    local stem=$1 label=$2 outside=0 row count seed sum radius away
    shift 2
    row="| $label |"
    printf '"%s"\n' "$label" >>"$results/$stem.dat"
    for count in $counts; do
        sum=""
        for seed in $seeds; do
            read -r radius away < <(cover "$stem" "scenes/$stem.yaml" "$count" "$seed" "$@")
            sum+="$radius "
            outside=$(awk -v a="$outside" -v b="$away" 'BEGIN { print (b > a) ? b : a }')
        done
        radius=$(tr ' ' '\n' <<<"${sum% }" | awk '{ s += $1 } END { print s / NR }')
        printf '%s %s\n' "$count" "$radius" >>"$results/$stem.dat"
        row+=$(printf ' %.2g |' "$radius")
    done
    printf '\n\n' >>"$results/$stem.dat"
    printf '%s %.1g |\n' "$row" "$outside"
}

# ratio STEM: the last line of the table: the last block of the figure's data, the default, over the least of all blocks, for every count.
ratio() {
    printf '| default over best |'
    awk 'NF == 2 && $1 + 0 > 0 { if (!($1 in least) || $2 < least[$1]) least[$1] = $2; last[$1] = $2; }
         END { split("'"$counts"'", count, " "); for (i = 1; i in count; i++) printf " %.2f |", last[count[i]] / least[count[i]] }' "$results/$1.dat"
    printf ' |\n'
}

# begin STEM TITLE: the exact set, and the head of its table.
begin() {
    local answer
    "$carom" exact "scenes/$1.yaml" -o "$results/$1-exact.h5" >/dev/null
    : >"$results/$1.dat"
    printf '\n### %s\n\n| sampler |' "$2"
    # shellcheck disable=SC2086
    printf ' %s |' $counts
    printf ' outside |\n|---|'
    # shellcheck disable=SC2086
    printf -- '---|%.0s' $counts
    printf -- '---|\n'
}

# draw STEM TITLE: docs/figures/coverage-STEM.png.
draw() {
    local blocks
    blocks=$(grep -c '^"' "$results/$1.dat")
    gnuplot <<GNUPLOT
load "scripts/style.gp"
set output "$figures/coverage-$1.png"
set logscale xy
set format y "10^{%T}"
set xtics (256, 1024, 4096, 16384, 65536)
set xlabel "samples"
set ylabel "farthest point of the exact set from the samples [m/s]"
set title "$2"
plot for [i=0:$((blocks - 1))] "$results/$1.dat" index i using 1:2 with linespoints pointsize 1 title columnheader(1)
GNUPLOT
}

{
    echo "<!-- Written by scripts/coverage.sh; do not edit. -->"
    begin block "Rocking block"
    measure block "lcp, h = 0.3" --sampler lcp --selection lemke --step 0.3 --max-steps 1000
    measure block "lcp, h = 0.1" --sampler lcp --selection lemke --step 0.1 --max-steps 1000
    measure block "lcp, h = 0.03" --sampler lcp --selection lemke --step 0.03 --max-steps 1000
    measure block "lcp correlated, h = 0.03" --sampler lcp --selection lemke --step 0.03 --max-steps 1000 --draw correlated
    measure block "walk" --sampler walk
    measure block "default: half of each"
    ratio block
    begin boxwall "Box and wall"
    measure boxwall "lcp, h = 2" --sampler lcp --selection lemke --step 2 --max-steps 1000
    measure boxwall "lcp, h = 0.3" --sampler lcp --selection lemke --step 0.3 --max-steps 1000
    measure boxwall "lcp, h = 0.1" --sampler lcp --selection lemke --step 0.1 --max-steps 1000
    measure boxwall "lcp correlated, h = 0.1" --sampler lcp --selection lemke --step 0.1 --max-steps 1000 --draw correlated
    measure boxwall "walk" --sampler walk
    measure boxwall "default: half of each"
    ratio boxwall
    begin compass "Compass gait"
    measure compass "lcp lemke, h = 0.25" --sampler lcp --selection lemke --step 0.25 --max-steps 1000
    measure compass "lcp random, h = 1" --sampler lcp --step 1 --max-steps 1000 --selection random
    measure compass "lcp random, h = 0.25" --sampler lcp --step 0.25 --max-steps 1000 --selection random
    measure compass "lcp random, h = 0.1" --sampler lcp --step 0.1 --max-steps 1000 --selection random
    measure compass "lcp random correlated, h = 0.1" --sampler lcp --step 0.1 --max-steps 1000 --selection random --draw correlated
    measure compass "walk" --sampler walk
    measure compass "default: half of each"
    ratio compass
    begin ramone "RAMone"
    measure ramone "lcp lemke, h = 1" --sampler lcp --selection lemke --step 1 --max-steps 1000
    measure ramone "lcp random, h = 1" --sampler lcp --step 1 --max-steps 1000 --selection random
    measure ramone "lcp random, h = 0.3" --sampler lcp --step 0.3 --max-steps 1000 --selection random
    measure ramone "lcp random correlated, h = 0.3" --sampler lcp --step 0.3 --max-steps 1000 --selection random --draw correlated
    measure ramone "walk" --sampler walk
    measure ramone "default: half of each"
    ratio ramone
} >"$table.new"

# Samples outside the set at finite h: the rocking block with friction 1/4, and Algorithm 2's closing step.
{
    scene=$results/slippery.yaml
    cat >"$scene" <<'SCENE'
name: rocking block with friction 1/4
matrices: {M: [[1, 0, 0], [0, 1, 0], [0, 0, "5/12"]], Jn: [[0, 1, -0.5], [0, 1, 0.5]], Jt: [[1, 0, 1], [1, 0, 1]], mu: [0.25, 0.25], v: [0, -0.4429, 0]}
SCENE
    "$carom" exact "$scene" -o "$results/slippery-exact.h5" >/dev/null
    printf '\n### Rocking block with friction 1/4: samples outside the set\n\n'
    echo "| h [N s] | farthest sample from the set, 16384 samples | farthest point of the set |"
    echo "|---|---|---|"
    for step in 0.3 0.1 0.03 0.01 0.003; do
        read -r radius away < <(cover slippery "$scene" 16384 1 --sampler lcp --step "$step" --max-steps 10000)
        printf '| %s | %.2g | %.2g |\n' "$step" "$away" "$radius"
    done
    read -r radius away < <(cover slippery "$scene" 16384 1 --sampler walk)
    printf '| walk | %.2g | %.2g |\n' "$away" "$radius"

    printf '\n### Algorithm 2 on the compass gait, h = 0.25, N = 5, 16384 samples\n\n'
    echo "| epsilon [m/s] | samples that end | farthest point of the set | farthest sample from the set |"
    echo "|---|---|---|---|"
    for epsilon in none 0.1 0.01 0.001; do
        closing=()
        [ "$epsilon" = none ] || closing=(--epsilon "$epsilon")
        options=(--samples 16384 --seed 1 --sampler lcp --selection random "${closing[@]}")
        ended=$(field "$("$carom" sample scenes/compass.yaml "${options[@]}" --json)" terminated)
        read -r radius away < <(cover compass scenes/compass.yaml 16384 1 "${options[@]}")
        printf '| %s | %s | %.2g | %.2g |\n' "$epsilon" "$ended" "$radius" "$away"
    done
} >>"$table.new"
mv "$table.new" "$table"

draw block "Rocking block"
draw boxwall "Box and wall"
draw compass "Compass gait"
draw ramone "RAMone"
echo "$table"
