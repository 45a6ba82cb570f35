// SPDX-License-Identifier: Apache-2.0
// Remainders modulo primes: signs and values of whole numbers; linear systems with sign conditions; bounds of solutions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/modular.h"
#include "support.h"

__extension__ typedef unsigned __int128 uint128;

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = (uint64_t)((uint128)result * base % modulus);
        base = (uint64_t)((uint128)base * base % modulus);
    }
    return result;
}

// Miller and Rabin's test is exact below 2^64 with the first twelve primes as bases.
static bool is_prime(uint64_t p) {
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    uint64_t odd = p - 1;
    int twos = 0;
    for (; !(odd & 1); odd >>= 1) twos++;
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
        uint64_t x = power(bases[k], odd, p);
        bool passes = x == 1;
        for (int i = 0; i < twos; i++, x = (uint64_t)((uint128)x * x % p)) passes = passes || x == p - 1;
        if (!passes) return false;
    }
    return true;
}

static void moduli_are_primes(void **state) {
    (void)state;
    carom_moduli *moduli = carom_moduli_create(62 * CAROM_MOST_EXACT_PRIMES - 3);
    assert_non_null(moduli);
    assert_int_equal(moduli->count, CAROM_MOST_EXACT_PRIMES);
    for (int i = 0; i < moduli->count; i++) {
        assert_true(is_prime(moduli->prime[i]) && moduli->prime[i] < (uint64_t)1 << 62);
        for (int j = 0; j < i; j++) assert_true(moduli->prime[i] != moduli->prime[j]);
    }
    free(moduli);
    assert_null(carom_moduli_create(62 * CAROM_MOST_EXACT_PRIMES));
}

// a^k - a^k + r for large powers: what doubles lose, and its sign.
static void small_differences_of_large_numbers_keep_their_sign(void **state) {
    (void)state;
    carom_moduli *moduli = carom_moduli_create(2000);
    uint64_t a[40], sum[40], one[40], inverse[40];
    assert_true(moduli->count <= 40);
    for (int sign = -1; sign <= 1; sign++) {
        carom_residue_set(moduli, 1.7e9 + 0.5, 1, a);
        carom_residue_set(moduli, 1, 0, one);
        memcpy(sum, a, sizeof sum);
        for (int k = 0; k < 50; k++) carom_residue_multiply(moduli, sum, a, sum);
        const long double large = carom_residue_value(moduli, sum);
        assert_true(fabsl(large / powl(3.4e9L + 1, 51) - 1) < 1e-15L);
        carom_residue_subtract(moduli, sum, sum, a);
        assert_true(carom_residue_value(moduli, a) == 0);
        carom_residue_set(moduli, 0x1.8p-30 * sign, 40, a);
        assert_true(carom_residue_value(moduli, a) == 1536.0L * sign);
        if (!sign) continue;
        // -1/a times a is -1.
        carom_residue_negated_inverse(moduli, a, inverse);
        carom_residue_multiply(moduli, a, inverse, inverse);
        assert_true(carom_residue_value(moduli, inverse) == -1);
        carom_residue_add_product(moduli, one, one, inverse);
        assert_true(carom_residue_is_zero(moduli, inverse));
    }
    free(moduli);
}

// Equations and conditions given as small whole numbers, rows of coefficients and a constant; the last `watched` rows are watched. Without
// values: can the conditions be positive at once?
static carom_exact_answer decide(int unknowns, const double *equations, int signs, int watched, const double *conditions, double *values) {
    carom_moduli *moduli = carom_moduli_create(200);
    carom_exact_system system;
    carom_error error;
    assert_ok(carom_exact_system_create(moduli, unknowns, signs + watched, &system, &error), error);
    const size_t count = (size_t)moduli->count;
    system.unknowns = unknowns;
    system.signs = signs;
    system.watched = watched;
    system.rows = signs + watched;
    for (int k = 0; k < unknowns * (unknowns + 1); k++) carom_residue_set(moduli, equations[k], 0, system.equations + (size_t)k * count);
    for (int k = 0; k < system.rows * (unknowns + 1); k++)
        carom_residue_set(moduli, conditions[k], 0, system.conditions + (size_t)k * count);
    carom_exact_answer answer = carom_exact_eliminate(&system);
    const bool has_points = answer == CAROM_EXACT_SINGLE || answer == CAROM_EXACT_VARIES;
    if (has_points) answer = values ? carom_exact_decide(&system, values) : carom_exact_decide_strictly(&system);
    carom_exact_system_free(&system);
    free(moduli);
    return answer;
}

static void systems_are_empty_single_or_vary(void **state) {
    (void)state;
    double x[2];
    // x = 2, y = -1/3.
    static const double regular[] = {1, 0, -2, 0, 3, 1}, both[] = {1, 0, 0, 0, 1, 0}, first[] = {1, 0, 0, 1, 0, 0, 0, 1, 0};
    assert_int_equal(decide(2, regular, 2, 0, both, x), CAROM_EXACT_EMPTY);
    assert_int_equal(decide(2, regular, 1, 2, first, x), CAROM_EXACT_SINGLE);
    assert_true(x[0] == 2 && x[1] == -1.0 / 3);
    // x + y = 1 twice, and x + y = 1 against x + y = 2.
    static const double line[] = {1, 1, -1, 1, 1, -1}, parallel[] = {1, 1, -1, 1, 1, -2};
    static const double segment[] = {1, 0, 0, 0, 1, 0, 1, 0, 0};
    assert_int_equal(decide(2, line, 2, 1, segment, x), CAROM_EXACT_VARIES);
    assert_int_equal(decide(2, parallel, 2, 1, segment, x), CAROM_EXACT_EMPTY);
    // The sum does not vary on the segment.
    static const double sum[] = {1, 0, 0, 0, 1, 0, 1, 1, 0};
    assert_int_equal(decide(2, line, 2, 1, sum, x), CAROM_EXACT_SINGLE);
    assert_true(x[0] == 1);
    // x >= 1 and y >= 0 leave one point; x >= 2 none.
    static const double point[] = {1, 0, -1, 0, 1, 0, 1, 0, 0, 0, 1, 0}, none[] = {1, 0, -2, 0, 1, 0};
    assert_int_equal(decide(2, line, 2, 2, point, x), CAROM_EXACT_SINGLE);
    assert_true(x[0] == 1 && x[1] == 0);
    assert_int_equal(decide(2, line, 2, 0, none, x), CAROM_EXACT_EMPTY);
    // No condition bounds x - y: a line.
    static const double free_line[] = {1, 1, 0, 1, -1, 0};
    assert_int_equal(decide(2, line, 1, 1, free_line, x), CAROM_EXACT_VARIES);
}

static void conditions_are_positive_at_once_or_not(void **state) {
    (void)state;
    // x > 0 and y > 0 in the plane; with x + y <= 0, too; on the line x = y; and on the line x = -y. Conditions stand twice.
    static const double none[6] = {0}, equal[6] = {1, -1, 0}, opposite[6] = {1, 1, 0};
    static const double both[] = {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0};
    static const double three[] = {1, 0, 0, 0, 1, 0, -1, -1, 0, 1, 0, 0, 0, 1, 0, -1, -1, 0};
    assert_int_equal(decide(2, none, 2, 2, both, NULL), CAROM_EXACT_SINGLE);
    assert_int_equal(decide(2, none, 3, 3, three, NULL), CAROM_EXACT_EMPTY);
    assert_int_equal(decide(2, equal, 2, 2, both, NULL), CAROM_EXACT_SINGLE);
    assert_int_equal(decide(2, opposite, 2, 2, both, NULL), CAROM_EXACT_EMPTY);
    // One point, zero: nothing is positive there, and no condition is broken.
    static const double point[] = {1, 0, 0, 0, 1, 0};
    assert_int_equal(decide(2, point, 2, 2, both, NULL), CAROM_EXACT_EMPTY);
    assert_int_equal(decide(2, point, 0, 0, both, NULL), CAROM_EXACT_SINGLE);
}

// Hilbert matrices, whose inverses are whole numbers: x = 1 is inside the bounds, or the bounds are not claimed.
static void bounds_hold_the_solution(void **state) {
    (void)state;
    int enclosed = 0;
    for (int n = 1; n <= 12; n++) {
        double A[144], b[12], none[144] = {0}, work[400], x[12], radius[12];
        int exchanges[12];
        // Times the least common multiple of 1 to 23: whole numbers, whose sums are exact.
        for (int i = 0; i < n; i++) {
            b[i] = 0;
            for (int j = 0; j < n; j++) b[i] += A[i * n + j] = 5354228880.0 / (i + j + 1);
        }
        const carom_uncertain_system system = {n, A, b, none, none, work, exchanges};
        if (!carom_enclose_solution(&system, x, radius)) continue;
        enclosed++;
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] - 1) <= radius[i]);
    }
    assert_true(enclosed >= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moduli_are_primes),
        cmocka_unit_test(small_differences_of_large_numbers_keep_their_sign),
        cmocka_unit_test(systems_are_empty_single_or_vary),
        cmocka_unit_test(conditions_are_positive_at_once_or_not),
        cmocka_unit_test(bounds_hold_the_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
