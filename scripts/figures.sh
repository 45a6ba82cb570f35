#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# figures.sh BUILD: draws the figures of the pages in docs/ and measures docs/figures/table3.md with BUILD/carom. Result files go to
# BUILD/figures. BUILD is relative to the root of the repository, as make's is.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 BUILD" >&2; exit 2; }
cd "$(dirname "$0")/.."
carom=$1/carom
results=$1/figures
figures=docs/figures
table=$figures/table3.md
[ -x "$carom" ] || { echo "$0: $carom is not built; 'make figures' builds it" >&2; exit 2; }
mkdir -p "$results" "$figures"

# run_laws STEM SELECTION: the sampled set with the paths of some samples, all Anitescu-Potra outcomes, all cyclic sequential orders.
# Their result files stand in the array `files`.
run_laws() {
    local scene=scenes/$1.yaml file=$results/$1
    "$carom" sample "$scene" --sampler lcp --selection "$2" --samples 16384 --paths 12 -o "$file-sample.h5" >"$file-sample.txt"
    "$carom" resolve "$scene" --law anitescu-potra --selection all -o "$file-ap.h5" >"$file-ap.txt"
    "$carom" resolve "$scene" --law sequential -o "$file-sequential.h5" >"$file-sequential.txt"
    files=("$file-sample.h5" --overlay "$file-ap.h5,$file-sequential.h5")
}

# run_exact STEM SELECTION: the exact set, and samples and walks to be drawn over it.
run_exact() {
    local scene=scenes/$1.yaml file=$results/$1
    "$carom" exact "$scene" -o "$file-exact.h5" >"$file-exact.txt"
    "$carom" sample "$scene" --sampler lcp --selection "$2" --samples 16384 -o "$file-exact-sample.h5" >"$file-exact-sample.txt"
    "$carom" sample "$scene" --samples 16384 --sampler walk -o "$file-exact-walk.h5" >"$file-exact-walk.txt"
    files=("$file-exact.h5" --overlay "$file-exact-sample.h5,$file-exact-walk.h5")
}

# draw NAME AXES [OPTION]: docs/figures/NAME.png from the result files of the last run_laws.
draw() {
    local name=$1 axes=$2
    shift 2
    "$carom" plot "${files[@]}" --axes "$axes" "$@" -o "$figures/$name.png"
}

run_laws compass random
draw compass Jn.B,Jt.B
run_laws ramone random
draw ramone Jn.B,Jt.B
run_laws boxwall lemke
draw boxwall Jn.B,Jt.A --zoom all
draw boxwall-focus Jn.B,Jt.A
run_laws block lemke
draw block Jn.A,Jn.B
# The picture of README.md: samples by default.
"$carom" sample scenes/block.yaml -o "$results/block-set.h5" >"$results/block-set.txt"
files[0]=$results/block-set.h5
draw block-set Jn.A,Jn.B
# The picture of docs/your-robot.md.
"$carom" sample examples/landing.yaml -o "$results/landing.h5" >"$results/landing.txt"
files=("$results/landing.h5")
draw your-robot base.wy,base.z
# Poses of a tossed box, and what is extracted from them, by the Python package.
if [ -d "$1/python/carom" ]; then
    /usr/bin/python3 examples/tossed_box.py "$carom" "$results"
    PYTHONPATH=$1/python /usr/bin/python3 -m carom.poses "$results/poses.csv" --body "$results/body.json" -o "$results/impacts.json" \
        --figure "$figures/poses.png" >"$results/poses.txt"
fi
run_laws disks lemke
draw disks Jn.C,Jn.E --zoom all
draw disks-focus Jn.C,Jn.E
run_laws cube-k8 lemke
draw cube Jn.A,Jn.B
# The mechanisms of docs/draw.md.
"$carom" draw scenes/block.yaml --outcome sequential --number 1,2 --size column -o "$figures/draw-block.png"
"$carom" draw scenes/quadruped.yaml --outcome anitescu-potra -o "$figures/draw-quadruped.png"
"$carom" draw scenes/disks.yaml --outcome propagative,sequential --size column -o "$figures/draw-disks.png"
# A build without PPL has no exact sets.
if "$carom" exact scenes/block.yaml >/dev/null 2>&1; then
    run_exact compass random
    draw exact-compass Jt.B,Jn.B
    run_exact boxwall lemke
    draw exact-boxwall Jt.A,Jn.B
    "$carom" sweep scenes/block.yaml --vary mu=0.01:0.6:0.01 -o "$figures/sweep-block.png" >"$results/sweep-block.txt"
    "$carom" sweep scenes/block.yaml --vary v.1=-0.5:0.5:0.05 --vary mu=0.05:0.8:0.05 -o "$figures/sweep-map.png" >"$results/sweep-map.txt"
    "$carom" sweep scenes/compass.yaml --vary mu=1:5:0.5 --critical --map -o "$figures/sweep-modes.png" >"$results/sweep-modes.txt"
    printf '%s\n' "$figures/sweep-block.png" "$figures/sweep-map.png" "$figures/sweep-modes.png"
fi

# ---------------------------------------------------------------------------------------------------------- hodographs

# hodograph NAME STEM PICTURE [OPTION]: docs/figures/NAME.png, one of the pictures of `carom hodograph`.
hodograph() {
    local name=$1 stem=$2 picture=$3
    shift 3
    "$carom" hodograph "scenes/$stem.yaml" "$@" -o "$results/$name" >"$results/$name.txt"
    cp "$results/$name/$picture.png" "$figures/$name.png"
    echo "$figures/$name.png"
}

hodograph hodograph-stick polyhedra-4a hodograph
hodograph hodograph-impulse polyhedra-4a impulse
hodograph impulse-space polyhedra-4a impulse-space --size 120x110
hodograph hodograph-fan polyhedra-fan hodograph --fan 60
hodograph hodograph-centrifugal polyhedra-fan-centrifugal hodograph --fan 60
hodograph hodograph-four polyhedra-fan-four hodograph --fan 60
hodograph impulse-plane rod impulse-plane

# --------------------------------------------------------------------------------------------------------------- motions

# draw_motion STEM: docs/figures/STEM-snapshots.png and -energy.png over the scene's time, and -long.png: the energy
# error over 100,000 steps.
draw_motion() {
    draw_system "$1" "snapshots energy"
    "$carom" simulate "scenes/$1.yaml" --duration 1000 --every 20 --figures "$results/$1" >"$results/$1-long.txt"
    mv "$results/$1-energy-error.png" "$figures/$1-long.png"
}

# draw_system STEM PICTURES [OPTION]: docs/figures/STEM-PICTURE.png of a motion, those that the pages show.
draw_system() {
    local stem=$1 pictures=$2
    shift 2
    "$carom" simulate "scenes/$stem.yaml" --figures "$results/$stem" "$@" >"$results/$stem.txt"
    for picture in $pictures; do cp "$results/$stem-$picture.png" "$figures/"; done
}

draw_system zeno-block "time impulse rates"
draw_system falling-ball phase --ensemble 12 --perturb 0.3
draw_system painleve-rod impulse
draw_system dropped-block bundle --ensemble 40

for stem in ellipsoid ellipsoid-tilted two-ellipsoids bouncing-box; do draw_motion "$stem"; done
draw_system backspin "snapshots energy"
for stem in l-block die hammer bowl; do
    "$carom" simulate "scenes/$stem.yaml" --figures "$results/$stem" --views 3d --duration 2.15 --times 0,0.7,1.4,2.1 --size column >"$results/$stem.txt"
    mv "$results/$stem-view-3d.png" "$figures/"
done
for what in position attitude; do
    "$carom" simulate scenes/bouncing-box.yaml --duration 30 --ensemble 20 --perturb 1e-8 --perturbed "$what" --figures "$results/$what" \
        >"$results/$what.txt"
    mv "$results/$what-sensitivity.png" "$figures/bouncing-box-$what.png"
done
for picture in members distances; do cp "$results/position-$picture.png" "$figures/bouncing-box-$picture.png"; done
for picture in kinetic potential; do cp "$results/position-$picture.png" "$figures/bouncing-box-$picture.png"; done
"$carom" simulate scenes/tumbling-block.yaml --figures "$results/tumbling-block" --views 3d --times 0,0.4,0.8,4 >"$results/tumbling-block.txt"
"$carom" simulate scenes/thrown-ball.yaml --figures "$results/thrown-ball" >"$results/thrown-ball.txt"
mv "$results/tumbling-block-energy.png" "$results/tumbling-block-view-3d.png" "$results/thrown-ball-energy.png" "$figures/"

# draw_bodies STEM FIGURE...: docs/figures/STEM-FIGURE.png of those that a motion of many bodies has.
draw_bodies() {
    local stem=$1
    shift
    "$carom" simulate "scenes/$stem.yaml" ${times:+--times "$times"} --figures "$results/$stem" >"$results/$stem-bodies.txt"
    for figure in "$@"; do mv "$results/$stem-$figure.png" "$figures/"; done
}

draw_bodies torus frames energy momentum angular-momentum
draw_bodies torus-published energy-terms
times=0,0.3,0.6,1,2,3 draw_bodies torus-breaking frames
draw_bodies box-of-spheres frames energy
for order in 2 4; do
    "$carom" simulate scenes/pendulum.yaml --step 0.1 --order "$order" --convergence 5 --figures "$results/pendulum" >"$results/pendulum-$order.txt"
    mv "$results/pendulum-convergence.png" "$figures/pendulum-order-$order.png"
done

# The billiard break of docs/propagative.md, by examples/billiards.c.
"$1/examples/billiards" >"$results/billiards.txt"
gnuplot <<END
load "scripts/style.gp"
set output "$figures/billiards-xi.png"
set xlabel "angle between the balls that are hit [degrees]"
set ylabel "xi, distance of the two outcomes over |p-|"
set xrange [30:180]
set yrange [0:1.1]
set xtics 15
plot "$results/billiards.txt" index 0 with lines title "equal balls", \
     "" index 1 with lines title "cue ball of half the radius", \
     "" index 2 with lines title "cue ball of 2.86 radii"
END
# --------------------------------------------------------------------------------------------- compliance, a simulator

# A build without SUNDIALS has no compliant contact.
if "$carom" compliant scenes/block-compliant.yaml --points 1 >/dev/null 2>&1; then
    for sweep in stiffness angle; do
        "$carom" compliant scenes/block-compliant.yaml --sweep $sweep --figure "$figures/compliant-$sweep.png" >"$results/compliant-$sweep.txt"
        echo "$figures/compliant-$sweep.png"
    done
fi
"$carom" compare scenes/block.yaml --simulator mujoco -o "$results/simulator-block" >"$results/simulator-block.txt"
"$carom" plot "$results/simulator-block/compare.h5" --axes Jn.A,Jn.B -o "$figures/simulator-block.png"
# docs/measured.md: the measured impacts of the examples.
"$carom" measure examples/cube-impacts.json --law stronge,moreau,anitescu-potra --friction 0.164 --restitution 0.284 -o "$results/measured" >"$results/measured.txt"
"$carom" measure examples/cube-impacts.json --law halm-posa --friction 0.164 --hypothesis stronge --restitution 0.2:0.5 --samples 1000 -o "$results/measured-sets" >"$results/measured-sets.txt"
cp "$results"/measured/figure-*-Errors-single.png "$figures/measured-errors.png"
cp "$results"/measured/figure-*-parameters.png "$figures/measured-parameters.png"
cp "$results"/measured-sets/figure-*-impact-19.png "$figures/measured-set.png"

# A sampled set of docs/propagative.md: an incomplete answer has exit status 1.
"$carom" resolve scenes/rack-break.yaml -o "$results/rack-break.h5" >"$results/rack-break.txt" || test $? -eq 1
"$carom" plot "$results/rack-break.h5" --axes ball11.x,ball11.y -o "$figures/rack-break-sampled.png"

# Motions of docs/propagative.md: orders of impacts, and a rack of balls.
"$carom" simulate scenes/rack.yaml --figures "$results/rack" >"$results/rack.txt"
mv "$results/rack-paths.png" "$figures/rack-paths.png"
"$carom" simulate scenes/unequal-balls.yaml --figures "$results/unequal-balls" >"$results/unequal-balls.txt"
mv "$results/unequal-balls-paths.png" "$figures/unequal-balls-paths.png"
# A build without KINSOL has no designs.
if "$carom" simulate scenes/tailed-biped.yaml --orders --design --figures "$results/tailed-biped" --times 0 >"$results/tailed-biped.txt"; then
    mv "$results/tailed-biped-orders.png" "$figures/tailed-biped-orders.png"
    mv "$results/tailed-biped-view-side.png" "$figures/tailed-biped.png"
fi
"$carom" simulate scenes/tailed-biped-straight.yaml --orders --figures "$results/tailed-biped-straight" --times 0 >"$results/tailed-biped-straight.txt"
mv "$results/tailed-biped-straight-orders.png" "$figures/tailed-biped-straight-orders.png"
mv "$results/tailed-biped-straight-view-side.png" "$figures/tailed-biped-straight.png"
# docs/stepping.md: a drop of the quadruped, and what its members may do.
"$carom" simulate scenes/quadruped-drop.yaml --ensemble 100 --perturb 0.01 --record 0:1:0.01 --duration 1 --figures "$results/quadruped-drop" --views 3d --times 0,0.15,1 >"$results/quadruped-drop.txt"
mv "$results/quadruped-drop-view-3d.png" "$figures/quadruped-drop.png"
mv "$results/quadruped-drop-tube-m.png" "$figures/quadruped-drop-tube.png"
if [ -x "$1/benchmarks/cradle" ]; then
    "$1/benchmarks/cradle" --points >"$results/cradle.txt"
    gnuplot <<END
load "scripts/style.gp"
set output "$figures/cradle-bullet.png"
set xlabel "restitution"
set ylabel "energy after over energy before"
set xrange [-0.05:1.05]
set yrange [0:1.4]
plot 1 with lines dt (7,6) lw 1.8 lc rgb "#707070" title "the energy before", \
     "$results/cradle.txt" index 1 with points pt 6 ps 1.2 lw 1.5 lc rgb halm_posa title "Bullet, 60 Hz, all speeds and phases", \
     "" index 0 with lines lc rgb propagative title "propagative: (1 + 2 R^2)/3"
END
fi

# --------------------------------------------------------------------------------------------------------- restitution

# normals SCENE LAW OPTIONS...: the normal velocities after each outcome of a law, one line each.
normals() {
    local scene=scenes/$1.yaml law=$2
    shift 2
    "$carom" resolve "$scene" --law "$law" "$@" --json | grep -o '"normal_velocity": \[[^]]*\]' | sed 's/.*\[\(.*\)\]/\1/; s/,//g'
}

# The three balls of a cradle: sets that bounce, and laws of one outcome among them.
for e in 0.5 1; do
    normals cradle halm-posa --hypothesis stronge --restitution $e --samples 8192 >"$results/cradle-$e.dat"
    normals cradle sequential --rule stronge --restitution $e >"$results/cradle-sequential-$e.dat"
    normals cradle moreau --restitution $e >"$results/cradle-moreau-$e.dat"
    # Stiffness ratios k2/k1; where e = 1/2, labels of small ones would lie on each other.
    for ratio in 0.1 1 3 10 100; do
        echo "$ratio $(normals cradle lzb --restitution $e --stiffness "1,$ratio")"
    done >"$results/cradle-lzb-$e.dat"
done
normals cradle propagative --restitution 1 >"$results/cradle-propagative.dat"
gnuplot <<END
load "scripts/style.gp"
set output "$figures/restitution-cradle.png"
set xlabel "Jn.1:2, the first ball leaves the second with [m/s]"
set ylabel "Jn.2:3, the second ball leaves the third with [m/s]"
set xrange [-0.04:1.1]
set yrange [-0.04:1.1]
set size ratio -1
files(law) = "$results/cradle-".law.".dat"
plot files("1") with points pt 7 ps 0.25 lc rgb "#8fc1e3" notitle, \
     files("0.5") with points pt 7 ps 0.25 lc rgb "#f3c083" notitle, \
     1/0 with points pt 7 ps 1 lc rgb "#8fc1e3" title "the set, e = 1 (8192 walks)", \
     1/0 with points pt 7 ps 1 lc rgb "#f3c083" title "the set, e = 1/2 (8192 walks)", \
     for [e in "0.5 1"] files("sequential-".e) with points pt 8 ps 2.4 lw 2.5 lc rgb sequential title (e eq "1" ? "sequential" : ""), \
     files("propagative") with points pt 12 ps 1.9 lw 2.5 lc rgb propagative title "propagative, R = 1", \
     for [e in "0.5 1"] files("moreau-".e) with points pt 1 ps 1.6 lw 2.5 lc rgb moreau title (e eq "1" ? "moreau, all at once" : ""), \
     for [e in "0.5 1"] files("lzb-".e) using 2:3 with points pt 3 ps 2.1 lw 2 lc rgb lzb title (e eq "1" ? "lzb, labelled k_2/k_1" : ""), \
     files("lzb-1") using 2:3:1 with labels left offset 1,0.4 font ",12" notitle, \
     files("lzb-0.5") using (\$1 > 1 ? \$2 : 1/0):3:1 with labels left offset 1,0.4 font ",12" notitle
END

# The rocking block, for coefficients from 0 to 1.
for e in 0 0.25 0.5 0.75 1; do
    normals block halm-posa --hypothesis stronge --restitution $e --samples 8192 >"$results/bouncing-block-$e.dat"
    normals block lzb --restitution $e >"$results/bouncing-block-lzb-$e.dat"
    normals block sequential --rule stronge --restitution $e >"$results/bouncing-block-sequential-$e.dat"
done
gnuplot <<END
load "scripts/style.gp"
set output "$figures/restitution-block.png"
set xlabel "Jn.A [m/s]"
set ylabel "Jn.B [m/s]"
set xrange [-0.015:0.5]
set yrange [-0.015:0.5]
set size ratio -1
colours = "#000000 #882255 #0072b2 #56b4e9 #e69f00"
values = "0 0.25 0.5 0.75 1"
files(law, i) = "$results/bouncing-block-".law.word(values, i).".dat"
plot for [i=1:5] files("", i) with points pt 7 ps 0.25 lc rgb word(colours, i) notitle, \
     for [i=1:5] 1/0 with points pt 7 ps 1 lc rgb word(colours, i) title "e = ".word(values, i), \
     for [i=1:5] files("sequential-", i) with points pt 8 ps 2.4 lw 2.5 lc rgb sequential title (i == 1 ? "sequential" : ""), \
     for [i=1:5] files("lzb-", i) with points pt 3 ps 2.1 lw 2 lc rgb lzb title (i == 1 ? "lzb, equal springs" : "")
END

# ------------------------------------------------------------------------------------------------------------- table 3

# field JSON KEY: a number of the JSON document.
field() { sed -n 's/.*"'"$2"'": *\([-+0-9.eE]*\).*/\1/p' <<<"$1" | head -n 1; }

# row NAME STEM SELECTION PAPER_COUNT PAPER_SAMPLE PAPER_LCP: measures one scene on one thread and prints its line. Times in microseconds of
# processor time; the least of three runs, because other work on the machine only adds.
row() {
    local json seconds="" TIMEFORMAT="%U %S"
    for _ in 1 2 3; do
        seconds+="$({ time "$carom" sample "scenes/$2.yaml" --sampler lcp --selection "$3" --samples 65536 --threads 1 --json >"$results/row.json"; } 2>&1),"
    done
    json=$(<"$results/row.json")
    seconds=$(tr ',' '\n' <<<"${seconds%,}" | awk '{ print $1 + $2 }' | sort -g | head -n 1)
    awk -v name="$1" -v selection="$3" -v lcps="$(field "$json" lcps_per_sample)" -v ci="$(field "$json" lcps_per_sample_ci95)" \
        -v seconds="$seconds" -v samples="$(field "$json" samples)" -v count="$4" -v sample="$5" -v lcp="$6" 'BEGIN {
            each = 1e6 * seconds / samples
            printf "| %s | `%s` | %.3f &plusmn; %.3f | %s | %.1f | %s | %.2f | %s |\n", name, selection, lcps, ci, count, each, sample, each / lcps, lcp }'
}

cpu=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -n 1)
# A model name may be missing, or hold what Markdown takes for a table's border.
cpu=${cpu//|/ }
{
    echo "<!-- Written by scripts/figures.sh; do not edit. -->"
    echo
    echo "| scene | selection | LCPs per sample | paper | time per sample [&micro;s] | paper | time per LCP [&micro;s] | paper |"
    echo "|---|---|---|---|---|---|---|---|"
    row "block" block lemke 2.67 2100 800
    row "compass gait" compass lemke 2.27 1900 850
    row "compass gait" compass random 2.27 1900 850
    row "box and wall" boxwall lemke 1.97 1600 810
    row "RAMone" ramone lemke 3.20 2200 700
    row "RAMone" ramone random 3.20 2200 700
    row "disks, 1 kg" disks lemke 9.04 11000 1300
    row "disks, 5 kg" disks-5kg lemke 9.04 11000 1300
    row "disks, 5 kg, skewed tangents" disks-5kg-skewed lemke 9.04 11000 1300
    echo
    echo "65,536 samples a scene with the paper's *h* and *N*, means with 95 % confidence intervals; least of three runs on one thread of ${cpu:-an unnamed CPU} ($(uname -m))."
    echo "Times are processor time of the whole command, with some 20 ms (0.3 &micro;s a sample) for reading the scene and training."
} >"$table.new"
mv "$table.new" "$table"
echo "$table"
