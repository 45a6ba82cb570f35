// SPDX-License-Identifier: Apache-2.0
/// @file
/// Exact arithmetic on numbers that are made of doubles, by remainders modulo many primes; shared by carom's own libraries, not installed.
///
/// A double is an integer times a power of two, so that sums, products and quotients of doubles have remainders modulo every odd prime. An
/// integer whose size has a bound is known when its remainders modulo enough primes are (Chinese remainder theorem): its sign, and whether
/// it is zero, are decided without round-off. What has no bound of its own, a quotient, is multiplied by its denominator first.
#ifndef CAROM_MODULAR_H
#define CAROM_MODULAR_H

#include "carom/arena.h"
#include "carom/base.h"

CAROM_API_BEGIN

/// So many primes of 62 bits decide integers of at most 7934 bits.
enum { CAROM_MOST_EXACT_PRIMES = 128 };

/// Primes below 2^62. A residue is an array of `count` remainders, one for each prime, in Montgomery's form.
typedef struct carom_moduli {
    int count;
    uint64_t *prime;
    uint64_t *negated_inverse;  ///< -1/p modulo 2^64
    uint64_t *square;           ///< 2^128 modulo p
    uint64_t *two, *half;       ///< 2 and 1/2
    uint64_t *inverse;          ///< [count x count] 1/p_j modulo p_i
    uint64_t *digits;           ///< scratch of carom_residue_value
} carom_moduli;

/// Enough primes for integers of `bits` bits and a sign; freed by free.
/// @return NULL beyond CAROM_MOST_EXACT_PRIMES, and when out of memory
carom_moduli *carom_moduli_create(double bits);

/// The first prime alone, borrowed: remainders that are not zero prove that numbers are not.
carom_moduli carom_moduli_first(const carom_moduli *moduli);

/// The exponent of the last bit of a number that is not zero: value 2^-exponent is a whole and odd number.
int carom_last_bit(double value);

/// value 2^exponent.
void carom_residue_set(const carom_moduli *moduli, double value, int exponent, uint64_t *residue);
/// The operations; the result may be one of the operands.
void carom_residue_subtract(const carom_moduli *moduli, const uint64_t *a, const uint64_t *b, uint64_t *difference);
void carom_residue_multiply(const carom_moduli *moduli, const uint64_t *a, const uint64_t *b, uint64_t *product);
/// sum += a b
void carom_residue_add_product(const carom_moduli *moduli, const uint64_t *a, const uint64_t *b, uint64_t *sum);
/// -1/a, where no remainder is zero.
void carom_residue_negated_inverse(const carom_moduli *moduli, const uint64_t *a, uint64_t *inverse);

bool carom_residue_is_zero(const carom_moduli *moduli, const uint64_t *a);
/// No remainder is zero: a number that can be divided by.
bool carom_residue_is_unit(const carom_moduli *moduli, const uint64_t *a);
/// The integer, rounded to long double: its sign is exact. Zero only for zero.
long double carom_residue_value(const carom_moduli *moduli, const uint64_t *a);

// ------------------------------------------------------------------------------------------------------- linear systems

/// Equations and sign conditions on unknowns x: rows of `unknowns` coefficients and a constant, each entry a residue.
typedef struct carom_exact_system {
    const carom_moduli *moduli;
    int unknowns;
    int rows;             ///< of conditions: the first `signs` must be >= 0, the next `watched` are asked whether they vary, and the others
    int signs, watched;   ///< are reported, too
    uint64_t *equations;  ///< [unknowns x (unknowns + 1)] = 0; overwritten
    uint64_t *conditions;    ///< [rows x (unknowns + 1)]
    const uint64_t *weight;  ///< a positive number that makes minors of equations and conditions integers; NULL: 1
    // Written by carom_exact_eliminate: x = base + sum_k t_k direction_k over the free unknowns.
    int rank;
    int *pivots;            ///< [unknowns] the unknown that each equation determines, for the first `rank`
    int *free_unknowns;     ///< [unknowns - rank]
    uint64_t *determinant;  ///< of the pivots, up to sign
    // Workspace.
    uint64_t *table, *row;
    int *row_label, *column_label;
    carom_arena arena;
} carom_exact_system;

typedef enum carom_exact_answer {
    CAROM_EXACT_EMPTY,      ///< no x satisfies equations and conditions
    CAROM_EXACT_SINGLE,     ///< some do, and the watched rows have the same values for all of them
    CAROM_EXACT_VARIES,     ///< some do, and the watched rows vary
    CAROM_EXACT_UNDECIDED,  ///< a number that is not zero is divisible by one of the primes: next to impossible
} carom_exact_answer;

/// Room for systems of at most so many unknowns and conditions.
carom_status carom_exact_system_create(const carom_moduli *moduli, int most_unknowns, int most_rows, carom_exact_system *system,
                                       carom_error *error);
void carom_exact_system_free(carom_exact_system *system);

/// Eliminates the equations. CAROM_EXACT_SINGLE: exactly one x satisfies them, CAROM_EXACT_VARIES: many, of dimension unknowns - rank.
carom_exact_answer carom_exact_eliminate(carom_exact_system *system);

/// Decides the conditions after the elimination.
/// @param values  [rows - signs] for CAROM_EXACT_SINGLE, at one of the solutions: the watched rows, then the others
carom_exact_answer carom_exact_decide(carom_exact_system *system, double *values);

/// Can all sign conditions be positive at once? After the elimination of equations without constants, for conditions without constants, of
/// which the watched rows are copies.
/// @return CAROM_EXACT_SINGLE when they can, otherwise CAROM_EXACT_EMPTY or CAROM_EXACT_UNDECIDED
carom_exact_answer carom_exact_decide_strictly(carom_exact_system *system);

/// Rank of a matrix of residues, which is overwritten; -1 when undecided.
int carom_exact_rank(const carom_moduli *moduli, int rows, int columns, uint64_t *matrix);

CAROM_API_END

#endif
