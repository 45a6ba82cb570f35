#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh BUILD [HARNESS...]: runs the harnesses of BUILD/carom-fuzz, each for FUZZ_SECONDS (default 60), from the seeds in the repository and
# from inputs made of scenes and tests. What libFuzzer learns stays in BUILD/corpus, what it finds in BUILD/found. The last line is the sum.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# -ge 1 ] || { echo "usage: $0 BUILD [HARNESS...]" >&2; exit 2; }
build=$(realpath "$1")
shift
seconds=${FUZZ_SECONDS:-60}
harnesses=("$@")
# Without a name the program lists its harnesses.
[ $# -gt 0 ] || read -ra harnesses < <("$build/carom-fuzz" 2>&1 | sed -n 's/^CAROM_FUZZ is not one of://p')
mkdir -p "$build/corpus" "$build/found" "$build/fuzz-log"
seeds=$build/fuzz-seeds
rm -rf "$seeds"
TMPDIR=$(mktemp -d) || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# What holds for one run, in seconds and megabytes: with sanitizers 30 s are about one second of the plain command.
export ASAN_OPTIONS=allocator_may_return_null=1
limits=(-timeout="${FUZZ_TIMEOUT:-30}" -rss_limit_mb=2048 -report_slow_units=1000)

# ---------------------------------------------------------------------------------------------------------------- words
# Keys of scenes, names in scenes, options and their choices; libFuzzer reads them quoted.
words=$build/fuzz-words
{
    grep -oh '{"[A-Za-z_]*", CAROM_FIELD' src/io/*.c src/io/*/*.c | cut -d'"' -f2
    grep -ohE '[A-Za-z_][A-Za-z_0-9-]+' scenes/*.yaml scenes/*.xml | sort | uniq -c | awk '$1 > 1 && length($2) < 32 { print $2 }'
    "$build/carom" docs bash | grep -oE "words='[^']*'" | cut -d"'" -f2 | tr ' ' '\n'
    "$build/carom" docs bash | grep -oE -e '--[a-z-]+'
} | grep . | sort -u >"$words"
sed 's/.*/"&"/' "$words" >"$words.dict"

# ---------------------------------------------------------------------------------------------------------------- seeds
# put HARNESS NAME: a seed from standard input.
put() {
    mkdir -p "$seeds/$1"
    cat >"$seeds/$1/$2"
}

# commands NAME SCENE LINE...: command lines over a scene.
commands() {
    local name=$1 scene=$2
    shift 2
    { printf '%s\n' "$@" ---; cat "$scene"; } | put command "$name"
}

# Every command, law and integrator, with the files that it reads; what cannot stand in a text is left out.
made=$TMPDIR/made
mkdir "$made"
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 tests/fault/bases.py "$build/carom" "$made" >"$TMPDIR/lines" || exit 2
number=0
while read -r line; do
    number=$((number + 1))
    {
        case $line in *set.h5*) printf 'sample block-matrices.yaml --samples 20 -o set.h5\n' ;; esac
        printf '%s\n' "$line"
        case $line in *set.h5*) printf -- '--- block-matrices.yaml\n'; cat "$made/block-matrices.yaml"; echo ;; esac
        for word in $line; do
            case $word in
            *.yaml) printf -- '--- %s\n' "$word"; cat "$made/$word"; echo ;;
            *.json)
                printf -- '--- %s\n' "$word"; cat "$made/$word"; echo
                scene=$(sed -n 's/.*"scene": *"\([^"]*\.yaml\)".*/\1/p' "$made/$word" | head -n 1)
                if [ -n "$scene" ]; then printf -- '--- %s\n' "$scene"; cat "$made/$scene"; echo; fi
                ;;
            esac
        done
    } | put command "base-$number"
done <"$TMPDIR/lines"
stepping=$(basename "$(grep -l 'integrator: *stepping' scenes/*.yaml | head -n 1)")
{
    printf 'simulate %s --integrator stepping --duration 0.1 --resume state.json --json\n--- state.json\n' "$stepping"
    cat "$made/state.json"; printf -- '\n--- %s\n' "$stepping"; cat "scenes/$stepping"
} | put command resume
printf 'info input.yaml --json\nsample input.yaml --json\n--- input.yaml\nmodel: fuzzed.xml\ncontacts: {detect: true, margin: 0.01, friction: 0.5}\n--- fuzzed.xml\n%s\n--- foot.obj\n%s\n' \
    '<mujoco><asset><mesh name="m" file="foot.obj"/></asset><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0"><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>' \
    "$(cat tests/fuzz/seeds/surface/tetrahedron)" | put command mesh
for file in tests/fuzz/seeds/surface/*; do put mesh "$(basename "$file")" <"$file"; done
for file in tests/fuzz/seeds/mesh/*; do put surface "$(basename "$file")" <"$file"; done
put measurements cube < <(head -c 16000 "$made/impacts.json")

# Each scene with one question in turn, sets or one of the laws: libFuzzer runs all seeds before it begins.
mapfile -t laws < <("$build/carom" resolve --list | cut -d' ' -f1)
turn=0
for scene in scenes/*.yaml; do
    stem=$(basename "$scene" .yaml)
    put scene "$stem" <"$scene"
    turn=$((turn + 1))
    if grep -q '^simulate:' "$scene" && [ $((turn % 3)) -eq 0 ]; then
        commands "simulate-$stem" "$scene" "simulate input.yaml --json" "simulate input.yaml --duration 0.1 -o out.h5"
    elif grep -qE '^(model|matrices|delassus|two_bodies|balls):' "$scene" && [ $((turn % 2)) -eq 0 ]; then
        # Pictures take the most time: some sets are drawn.
        [ $((turn % 8)) -eq 0 ] && last="plot out.h5 --json" || last="info input.yaml"
        commands "sample-$stem" "$scene" "info input.yaml --json" "sample input.yaml --json -o out.h5" "query out.h5 --max Jn.A --json" "$last"
    elif grep -qE '^(model|matrices|delassus|two_bodies|balls):' "$scene"; then
        commands "resolve-$stem" "$scene" "resolve input.yaml --law ${laws[turn / 2 % ${#laws[@]}]} --json"
    fi
    if grep -q '^design:' "$scene"; then commands "design-$stem" "$scene" "design input.yaml --json -o out.json"; fi
    if grep -q '^compliant:' "$scene"; then commands "compliant-$stem" "$scene" "compliant input.yaml --json"; fi
done
for stem in block-matrices block boxwall compass-matrices corner; do
    scene=scenes/$stem.yaml
    commands "exact-$stem" "$scene" "exact input.yaml --json -o out.h5 --export out.txt" "query out.h5 --hull Jn.A,Jn.B --json" \
        "query out.h5 --distance out.h5 --json" "plot out.h5 -o picture"
    commands "hodograph-$stem" "$scene" "hodograph input.yaml --contact A --json" "hodograph input.yaml --contact A --fan 3 -o out"
    commands "modes-$stem" "$scene" "modes input.yaml --json" "modes input.yaml --sampled" "sweep input.yaml --vary mu=0:1:0.5 --critical --json"
    commands "page-$stem" "$scene" "compare input.yaml -o out --json"
done
for model in scenes/*.xml; do put model "$(basename "$model")" <"$model"; done
for text in 'W: [[2, 1], [1, 2]]\nw: [-5, -6]' '{"W": [["1/3", 0], [0, "1e-8"]], "w": [-1, 1]}' 'W: [[1]]\nw: [0]'; do
    printf "$text" | put lcp "$(printf '%s' "$text" | cksum | cut -d' ' -f1)"
    printf '%s\n---\n%b\n' "lcp input.yaml --all --json" "$text" | put command "lcp-$(printf '%s' "$text" | cksum | cut -d' ' -f1)"
done
printf 'v: [0, 1, -2, 0.5]\n' | put velocity plain
for text in 'Jn.A - 2*Jt.B-2' '(Jn.A - Jn.B-2)/2 + sqrt(2)*v.3' 'Jn.A,Jt.B-2' 'mass*(1 + sin(pi/4))^2' '-1e-3*v.1'; do
    printf '%s' "$text" | put expression "$(printf '%s' "$text" | cksum | cut -d' ' -f1)"
done
for text in 0.25 -1e-3 1/3 9007199254740993 1e400 .5 -0 1e-324 4.9406564584124654e-324; do
    printf '%s' "$text" | put number "$(printf '%s' "$text" | cksum | cut -d' ' -f1)"
    printf '%s' "$text" | put option "$(printf '%s' "$text" | cksum | cut -d' ' -f1)"
done
# Small HDF5 files of every kind. Reports of leaks at exit are not wanted here.
(
    cd "$TMPDIR" && export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    scenes=$OLDPWD/scenes
    "$build/carom" sample "$scenes/block-matrices.yaml" --samples 3 --paths 1 -o sample.h5
    "$build/carom" exact "$scenes/block-matrices.yaml" -o exact.h5
    "$build/carom" sample "$scenes/block-matrices.yaml" --samples 3 --keep extent -o extent.h5
    "$build/carom" resolve "$scenes/block-matrices.yaml" --law propagative -o resolve.h5
    "$build/carom" info "$scenes/block-matrices.yaml" --fclib-out planar.fclib
    "$build/carom" info "$scenes/cube-k4.yaml" --fclib-out spatial.fclib
) >/dev/null
for file in "$TMPDIR"/*.h5; do put result "$(basename "$file")" <"$file"; done
for file in "$TMPDIR"/*.fclib; do put fclib "$(basename "$file")" <"$file"; done

# ------------------------------------------------------------------------------------------------------------------ run
findings=0
total=0
for harness in "${harnesses[@]}"; do
    corpus=$build/corpus/$harness log=$build/fuzz-log/$harness.log
    mkdir -p "$corpus" "$build/found/$harness"
    folders=("$corpus")
    for folder in "$PWD/tests/fuzz/seeds/$harness" "$seeds/$harness"; do [ -d "$folder" ] && folders+=("$folder"); done
    # libhdf5 asks for whatever a damaged size says, and takes a refusal: only memory in use counts there.
    longest=16384 allocation=2048
    case $harness in result | fclib) longest=131072 allocation=0 ;; esac
    started=$SECONDS
    CAROM_FUZZ=$harness CAROM_FUZZ_SCENES=$PWD/scenes CAROM_FUZZ_WORDS=$words OMP_NUM_THREADS=2 LSAN_OPTIONS="suppressions=$PWD/tests/fuzz/leaks.txt:print_suppressions=0" \
        "$build/carom-fuzz" "${limits[@]}" -malloc_limit_mb=$allocation -max_total_time="$seconds" -max_len=$longest -print_final_stats=1 -dict="$words.dict" \
        -artifact_prefix="$build/found/$harness/" "${folders[@]}" >"$log" 2>&1
    status=$?
    elapsed=$((SECONDS - started)) runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    total=$((total + elapsed))
    if [ $status -ne 0 ]; then
        findings=$((findings + 1))
        grep -m 3 -E 'broken rule|ERROR: |runtime error|SUMMARY|Test unit written' "$log"
    fi
    printf '%-12s %6d s %9s runs  %s\n' "$harness" "$elapsed" "${runs:-?}" "$([ $status -eq 0 ] && echo clean || echo "FOUND: see $log")"
done
echo "fuzzed $total s, $findings findings"
[ $findings -eq 0 ]
