#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh BUILD TEST...: runs the test programs, shows the output of those that fail, and sums their own counts.
# CAROM_TEST_WRAPPER, when set, is a command that each program is run under. CAROM_LEFT_OUT names the libraries that the build lacks, with
# the programs that are left out for it. The last line is 'N passed, N failed'.
set -u

[ $# -ge 1 ] || { echo "usage: $0 BUILD TEST..." >&2; exit 2; }
export CAROM_BUILD=$1
shift
# Threads that wait for others sleep. Spinning, they take whole time slices from those they wait for wherever the machine has other work.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
# TAP lists a result as soon as it is known, so that the results before a crash are counted too.
export CMOCKA_MESSAGE_OUTPUT=TAP

output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT

# Prints 'passed failed skipped planned' of the TAP in $output; cmocka reports a skipped test as 'not ok N # SKIP'.
count_results() {
    awk '/^1\.\.[0-9]+$/ { planned += substr($0, 4) }
         /^(not )?ok [0-9]+ # SKIP/ { skipped++; next }
         /^ok [0-9]+ / { passed++ }
         /^not ok [0-9]+ / { failed++ }
         END { print passed + 0, failed + 0, skipped + 0, planned + 0 }' "$output"
}

# Says how a program ended that did not report all its tests, or failed in another way than by its tests; nothing otherwise.
describe_death() {
    local status=$1 results=$2 failed=$3 planned=$4
    if [ "$status" -gt 128 ] && kill -l $((status - 128)) >/dev/null 2>&1; then
        echo "killed by SIG$(kill -l $((status - 128)))"
    elif [ "$results" -lt "$planned" ] || [ "$planned" -eq 0 ]; then
        echo "ended with status $status before its tests did"
    elif [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
        echo "ended with status $status although no test failed"
    fi
}

total_passed=0
total_failed=0
total_skipped=0
for program in "$@"; do
    started=$EPOCHREALTIME
    # The wrapper is a command line of several words.
    # shellcheck disable=SC2086
    { ${CAROM_TEST_WRAPPER:-} "$program" >"$output" 2>&1 </dev/null; } 2>/dev/null
    status=$?
    microseconds=$((${EPOCHREALTIME/[^0-9]/} - ${started/[^0-9]/}))

    read -r passed failed skipped planned < <(count_results)
    death=$(describe_death "$status" $((passed + failed + skipped)) "$failed" "$planned")
    [ -z "$death" ] || failed=$((failed + 1))
    if [ "$failed" -gt 0 ]; then
        sed 's/^/    /' "$output"
        [ -z "$death" ] || echo "    $program $death"
    fi
    printf '%-24s %5d passed %4d failed %5d.%d s\n' "$(basename "$program")" "$passed" "$failed" \
        $((microseconds / 1000000)) $((microseconds / 100000 % 10))
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    total_skipped=$((total_skipped + skipped))
done

[ -z "${CAROM_LEFT_OUT:-}" ] || echo "Left out is what needs libraries that this build lacks: ${CAROM_LEFT_OUT%;}."
[ "$total_skipped" -eq 0 ] || echo "$total_skipped tests were skipped: each needs what this build, this machine or this kind of run has not."
echo "$total_passed passed, $total_failed failed"
[ "$total_failed" -eq 0 ] && [ "$total_passed" -gt 0 ]
