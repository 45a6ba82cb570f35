// SPDX-License-Identifier: Apache-2.0
// Remainders modulo many primes: Montgomery's products, and the way back to signs and values by mixed radices.
#include "carom/modular.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

// The largest primes below 2^62, as distances from it.
static const uint16_t below[CAROM_MOST_EXACT_PRIMES] = {
    57,   87,   117,  143,  153,  167,  171,  195,  203,  273,  287,  317,  443,  483,  495,  575,  581,  603,  633,  663,  765,  773,
    777,  791,  813,  831,  923,  981,  993,  1001, 1007, 1017, 1197, 1241, 1293, 1353, 1433, 1515, 1553, 1575, 1581, 1595, 1617, 1673,
    1697, 1701, 1703, 1823, 1881, 1911, 1923, 2043, 2073, 2103, 2141, 2187, 2217, 2247, 2285, 2351, 2367, 2375, 2397, 2421, 2511, 2541,
    2583, 2661, 2675, 2753, 2777, 2793, 2861, 2891, 2927, 3023, 3041, 3221, 3251, 3255, 3257, 3263, 3317, 3377, 3521, 3537, 3545, 3551,
    3563, 3671, 3705, 3767, 3797, 3803, 3873, 3933, 4163, 4247, 4275, 4301, 4377, 4403, 4485, 4557, 4595, 4641, 4661, 4707, 4781, 4815,
    4821, 4857, 4881, 4917, 4941, 4971, 4991, 4997, 5003, 5055, 5103, 5133, 5153, 5265, 5355, 5393, 5445, 5465};

enum { PRIME_BITS = 62, LOW_BITS = 14, DIGITS = 53 };

// Values of mixed radices up to 2^7936 are summed in long double: 64 bits on x86, 113 on 64-bit ARM and RISC-V under Linux. Each step
// rounds a sum of positive numbers twice, so that 128 of them keep 56 bits of 64: no less than a double has. Signs and zeros do not depend
// on it.
_Static_assert(LDBL_MAX_EXP > CAROM_MOST_EXACT_PRIMES * PRIME_BITS + 8 && LDBL_MANT_DIG >= 64,
               "carom needs a long double of at least 64 bits with exponents of 15: macOS on ARM has none");

// a b / 2^64 modulo p, for a, b < p < 2^62.
static inline uint64_t multiply(uint64_t a, uint64_t b, uint64_t prime, uint64_t negated_inverse) {
    const uint128 product = (uint128)a * b;
    const uint64_t quotient = (uint64_t)product * negated_inverse;
    const uint64_t reduced = (uint64_t)((product + (uint128)quotient * prime) >> 64);
    return reduced >= prime ? reduced - prime : reduced;
}

static inline uint64_t subtract(uint64_t a, uint64_t b, uint64_t prime) { return a >= b ? a - b : a + prime - b; }

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t one, uint64_t prime, uint64_t negated_inverse) {
    uint64_t result = one;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = multiply(result, base, prime, negated_inverse);
        base = multiply(base, base, prime, negated_inverse);
    }
    return result;
}

carom_moduli *carom_moduli_create(double bits) {
    // A little below 62 bits each, and one bit for the sign.
    const double needed = ceil((bits + 2) / (PRIME_BITS - 1e-6));
    if (!(needed <= CAROM_MOST_EXACT_PRIMES)) return NULL;
    const size_t count = needed < 1 ? 1 : (size_t)needed;
    carom_moduli *made = malloc(sizeof *made + (6 + count) * count * sizeof(uint64_t));
    if (!made) return NULL;
    uint64_t *numbers = (uint64_t *)(made + 1);
    *made = (carom_moduli){.count = (int)count, .prime = numbers};
    made->negated_inverse = numbers += count;
    made->square = numbers += count;
    made->two = numbers += count;
    made->half = numbers += count;
    made->digits = numbers += count;
    made->inverse = numbers + count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t p = made->prime[i] = ((uint64_t)1 << PRIME_BITS) - below[i];
        // Newton's iteration for 1/p modulo 2^64: p itself is right to three bits, each step doubles them.
        uint64_t inverse = p;
        for (int step = 0; step < 5; step++) inverse *= 2 - p * inverse;
        made->negated_inverse[i] = 0 - inverse;
        const uint64_t one = (uint64_t)(((uint128)1 << 64) % p);
        made->square[i] = (uint64_t)((uint128)one * one % p);
        made->two[i] = subtract(one, p - one, p);
        made->half[i] = power(made->two[i], p - 2, one, p, made->negated_inverse[i]);
        // In Montgomery's form: a product with it leaves a plain number plain.
        for (size_t j = 0; j < i; j++) {
            const uint64_t other = multiply(made->prime[j] % p, made->square[i], p, made->negated_inverse[i]);
            made->inverse[i * count + j] = power(other, p - 2, one, p, made->negated_inverse[i]);
        }
    }
    return made;
}

carom_moduli carom_moduli_first(const carom_moduli *moduli) {
    carom_moduli first = *moduli;
    first.count = 1;
    return first;
}

int carom_last_bit(double value) {
    int exponent;
    uint64_t digits = (uint64_t)ldexp(frexp(fabs(value), &exponent), DIGITS);
    for (exponent -= DIGITS; !(digits & 1); digits >>= 1) exponent++;
    return exponent;
}

void carom_residue_set(const carom_moduli *moduli, double value, int exponent, uint64_t *residue) {
    int own;
    const double fraction = frexp(fabs(value), &own);
    const uint64_t digits = (uint64_t)ldexp(fraction, DIGITS);
    const int shift = exponent + own - DIGITS;
    for (int i = 0; i < moduli->count; i++) {
        const uint64_t p = moduli->prime[i], inverse = moduli->negated_inverse[i];
        const uint64_t one = multiply(1, moduli->square[i], p, inverse);
        const uint64_t factor = power(shift < 0 ? moduli->half[i] : moduli->two[i], (uint64_t)abs(shift), one, p, inverse);
        const uint64_t size = multiply(multiply(digits, moduli->square[i], p, inverse), factor, p, inverse);
        residue[i] = value < 0 ? subtract(0, size, p) : size;
    }
}

void carom_residue_subtract(const carom_moduli *moduli, const uint64_t *a, const uint64_t *b, uint64_t *difference) {
    for (int i = 0; i < moduli->count; i++) difference[i] = subtract(a[i], b[i], moduli->prime[i]);
}

void carom_residue_multiply(const carom_moduli *moduli, const uint64_t *a, const uint64_t *b, uint64_t *product) {
    for (int i = 0; i < moduli->count; i++) product[i] = multiply(a[i], b[i], moduli->prime[i], moduli->negated_inverse[i]);
}

void carom_residue_add_product(const carom_moduli *moduli, const uint64_t *a, const uint64_t *b, uint64_t *sum) {
    for (int i = 0; i < moduli->count; i++) {
        const uint64_t p = moduli->prime[i], raised = sum[i] + multiply(a[i], b[i], p, moduli->negated_inverse[i]);
        sum[i] = raised >= p ? raised - p : raised;
    }
}

// Fermat: 1/a = a^(p - 2). All primes are 2^62 minus a number of LOW_BITS bits, so that the exponent's other bits are ones. Primes side by
// side: each product waits for the one before it.
void carom_residue_negated_inverse(const carom_moduli *moduli, const uint64_t *a, uint64_t *inverse) {
    uint64_t power_of[CAROM_MOST_EXACT_PRIMES], run[CAROM_MOST_EXACT_PRIMES];
    const int count = moduli->count;
    const uint64_t *prime = moduli->prime, *negated = moduli->negated_inverse;
    // a^(2^k - 1) for k = 1, 2, 3, 6, 12, 24, 48: from k to 2k by k squarings and a product; 3 = 2 + 1.
    memcpy(run, a, (size_t)count * sizeof *run);
    for (int length = 1; length < PRIME_BITS - LOW_BITS;) {
        memcpy(power_of, run, (size_t)count * sizeof *run);
        const int more = length == 2 ? 1 : length;
        for (int k = 0; k < more; k++)
            for (int i = 0; i < count; i++) power_of[i] = multiply(power_of[i], power_of[i], prime[i], negated[i]);
        for (int i = 0; i < count; i++) run[i] = multiply(power_of[i], more == length ? run[i] : a[i], prime[i], negated[i]);
        length += more;
    }
    for (int bit = LOW_BITS - 1; bit >= 0; bit--)
        for (int i = 0; i < count; i++) {
            run[i] = multiply(run[i], run[i], prime[i], negated[i]);
            if ((prime[i] - 2) >> bit & 1) run[i] = multiply(run[i], a[i], prime[i], negated[i]);
        }
    for (int i = 0; i < count; i++) inverse[i] = subtract(0, run[i], prime[i]);
}

bool carom_residue_is_zero(const carom_moduli *moduli, const uint64_t *a) {
    for (int i = 0; i < moduli->count; i++)
        if (a[i]) return false;
    return true;
}

bool carom_residue_is_unit(const carom_moduli *moduli, const uint64_t *a) {
    for (int i = 0; i < moduli->count; i++)
        if (!a[i]) return false;
    return true;
}

// Garner's algorithm: a = d_0 + d_1 p_0 + d_2 p_0 p_1 + ..., with digits 0 <= d_i < p_i. Half of the product of all primes, rounded down,
// has the digits (p_i - 1)/2: what is greater stands for a negative number.
long double carom_residue_value(const carom_moduli *moduli, const uint64_t *a) {
    const int count = moduli->count;
    uint64_t *digits = moduli->digits;
    for (int i = 0; i < count; i++) {
        const uint64_t p = moduli->prime[i], negated = moduli->negated_inverse[i], *inverse = moduli->inverse + i * count;
        uint64_t rest = multiply(a[i], 1, p, negated);
        // Primes lie within a factor below 2 of each other: a digit is reduced by one subtraction.
        for (int j = 0; j < i; j++) rest = multiply(subtract(rest, digits[j] >= p ? digits[j] - p : digits[j], p), inverse[j], p, negated);
        digits[i] = rest;
    }
    bool negative = false;
    for (int i = count - 1; i >= 0; i--) {
        const uint64_t middle = (moduli->prime[i] - 1) / 2;
        if (digits[i] == middle) continue;
        negative = digits[i] > middle;
        break;
    }
    // The size of a negative number: product - a = 1 + sum of (p_i - 1 - d_i) p_0 ... p_(i - 1).
    long double size = 0;
    for (int i = count - 1; i >= 0; i--)
        size = size * (long double)moduli->prime[i] + (long double)(negative ? moduli->prime[i] - 1 - digits[i] : digits[i]);
    return negative ? -(size + 1) : size;
}
