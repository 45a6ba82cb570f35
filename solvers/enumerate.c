// SPDX-License-Identifier: Apache-2.0
// All solutions of a small LCP, by its complementary bases. A basis is dismissed where signs or bounds contradict it, and decided exactly
// otherwise: W and w are the doubles they are. Where round-off has moved the data off a degenerate problem, a solution may be left that is
// one by its residuals alone: it is listed, and the list is not complete.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"
#include "carom/modular.h"

// Exact solutions all of whose entries agree to this share of their own size are one; a solution by its residuals is one with an exact
// solution within this share of the largest entry, in the units of the problem.
#define SAME_SOLUTION 1e-8
// The residual, in these units, by which solutions are accepted.
#define RELATIVE_RESIDUAL 1e-10
// Bases between polls for cancellation.
enum { POLL_EVERY = 256 };

// The round-off of a sum of products, as a share of the sizes of its terms, for each term.
#define SUM_ROUND_OFF 0x1p-50

typedef struct enumeration {
    int n;
    const double *W, *w;
    double *y_unit, *z_unit;  // [n] powers of two
    int members[CAROM_LCP_MOST_ENUMERATED], exchanges[CAROM_LCP_MOST_ENUMERATED];
    double *system, *none, *work;             // [n x n], zeros [n x n], [2 n n + 4 n]
    double *z, *right_side, *values, *radii;  // [n]
    carom_moduli *moduli;                     // NULL: no proof
    carom_exact_system exact;
    uint64_t *residues;  // [n x (n + 1)] of W, w in units, whole numbers
    int constant_scale;  // exponent of w there
    double *found;       // [found_count x n]
    bool *found_exact;   // [found_count]
    int found_count, found_capacity;
    uint32_t *singular;  // [singular_count] bases left for later
    int singular_count, singular_capacity;
    bool complete;
    const carom_control *control;
    bool cancelled;
} enumeration;

// ---------------------------------------------------------------------------------------------------------- the exact LCP

// Residues of [W w] with rows and columns in units, each row multiplied by the power of two that makes it whole. Minors of its rows, and of
// rows of the unit matrix, have at most as many bits as Hadamard's inequality says. Without memory or beyond the primes there are none.
static void make_exact(enumeration *all, carom_arena *arena) {
    const int n = all->n;
    const size_t size = (size_t)n;
    int z_exponent[CAROM_LCP_MOST_ENUMERATED], row_exponent[CAROM_LCP_MOST_ENUMERATED];
    double most = 0, bits = 0;
    for (int i = 0; i < n; i++) {
        frexp(all->z_unit[i], &z_exponent[i]);
        most = fmax(most, fabs(all->w[i]) / all->y_unit[i]);
    }
    frexp(most, &all->constant_scale);
    for (int i = 0; i < n; i++) {
        int y_exponent, least = 0;
        double length = 1;
        frexp(all->y_unit[i], &y_exponent);
        for (int j = 0; j <= n; j++) {
            const double entry = j < n ? all->W[(size_t)i * size + (size_t)j] : all->w[i];
            const int shift = (j < n ? z_exponent[j] : -all->constant_scale) - y_exponent;
            if (entry == 0) continue;
            least = carom_last_bit(entry) + shift < least ? carom_last_bit(entry) + shift : least;
            length += fabs(ldexp(entry, shift));
        }
        row_exponent[i] = -least;
        bits += row_exponent[i] + log2(length) + 1;
    }
    all->moduli = carom_moduli_create(bits + 1);
    if (!all->moduli) return;
    const size_t count = (size_t)all->moduli->count;
    all->residues = carom_arena_take(arena, size * (size + 1) * count, sizeof(uint64_t));
    for (int i = 0; i < n && all->residues; i++) {
        int y_exponent;
        frexp(all->y_unit[i], &y_exponent);
        for (int j = 0; j <= n; j++) {
            const double entry = j < n ? all->W[(size_t)i * size + (size_t)j] : all->w[i];
            const int shift = (j < n ? z_exponent[j] : -all->constant_scale) - y_exponent + row_exponent[i];
            carom_residue_set(all->moduli, entry, shift, all->residues + ((size_t)i * (size + 1) + (size_t)j) * count);
        }
    }
}

// Row i of [W w] on the members of the basis.
static void copy_row(const enumeration *all, int i, int members, uint64_t *row) {
    const size_t count = (size_t)all->moduli->count, width = (size_t)all->n + 1;
    for (int a = 0; a <= members; a++) {
        const size_t column = a < members ? (size_t)all->members[a] : width - 1;
        memcpy(row + (size_t)a * count, all->residues + ((size_t)i * width + column) * count, count * sizeof *row);
    }
}

// Is the basis regular? The first prime proves that it is; that it is not is certain only with all of them.
static bool is_regular(enumeration *all, int members) {
    const carom_moduli first = carom_moduli_first(all->moduli);
    const size_t count = (size_t)all->moduli->count, width = (size_t)all->n + 1;
    for (int a = 0; a < members; a++)
        for (int b = 0; b < members; b++)
            all->exact.equations[a * members + b] = all->residues[((size_t)all->members[a] * width + (size_t)all->members[b]) * count];
    return carom_exact_rank(&first, members, members, all->exact.equations) == members;
}

// Decides a basis exactly; its solution, where it has a single one, becomes all->z.
static carom_exact_answer decide_basis(enumeration *all, uint32_t basis, int members) {
    carom_exact_system *exact = &all->exact;
    const size_t width = (size_t)(members + 1) * (size_t)all->moduli->count;
    exact->unknowns = members;
    exact->rows = exact->watched = 0;
    for (int a = 0; a < members; a++) copy_row(all, all->members[a], members, exact->equations + (size_t)a * width);
    const carom_exact_answer points = carom_exact_eliminate(exact);
    if (points == CAROM_EXACT_EMPTY || points == CAROM_EXACT_UNDECIDED) return points;
    // z >= 0, y >= 0; and z once more, to be watched.
    memset(exact->conditions, 0, (size_t)(2 * all->n) * width * sizeof *exact->conditions);
    for (int a = 0; a < members; a++)
        carom_residue_set(all->moduli, 1, 0, exact->conditions + (size_t)exact->rows++ * width + (size_t)a * (size_t)all->moduli->count);
    for (int i = 0; i < all->n; i++)
        if (!(basis >> i & 1)) copy_row(all, i, members, exact->conditions + (size_t)exact->rows++ * width);
    exact->signs = exact->rows;
    exact->rows += exact->watched = members;
    memcpy(exact->conditions + (size_t)exact->signs * width, exact->conditions, (size_t)members * width * sizeof *exact->conditions);
    const carom_exact_answer answer = carom_exact_decide(exact, all->values);
    memset(all->z, 0, (size_t)all->n * sizeof *all->z);
    for (int a = 0; a < members && answer == CAROM_EXACT_SINGLE; a++)
        all->z[all->members[a]] = ldexp(all->values[a], all->constant_scale) * (2 * all->z_unit[all->members[a]]);
    return answer;
}

// ------------------------------------------------------------------------------------------------------------ quick answers

// Does some row of y = w + W z have the wrong sign for every z >= 0?
static bool signs_contradict(const enumeration *all, uint32_t basis, int members) {
    for (int i = 0; i < all->n; i++) {
        const double *row = all->W + (size_t)i * (size_t)all->n;
        bool rises = all->w[i] > 0, falls = all->w[i] < 0;
        // All terms of one sign, the constant not zero: y is not zero in a row of the basis, and negative in another.
        for (int a = 0; a < members; a++) {
            rises = rises && row[all->members[a]] >= 0;
            falls = falls && row[all->members[a]] <= 0;
        }
        if (falls || (rises && basis >> i & 1)) return true;
    }
    return false;
}

// Do bounds of the solution of a regular basis contradict a sign? The solution becomes all->values.
static bool bounds_contradict(enumeration *all, uint32_t basis, int members) {
    for (int a = 0; a < members; a++) {
        for (int b = 0; b < members; b++)
            all->system[a * members + b] = all->W[(size_t)all->members[a] * (size_t)all->n + (size_t)all->members[b]];
        all->right_side[a] = -all->w[all->members[a]];
    }
    const carom_uncertain_system equations = {members, all->system, all->right_side, all->none, all->none, all->work, all->exchanges};
    if (!carom_enclose_solution(&equations, all->values, all->radii)) return false;
    for (int a = 0; a < members; a++)
        if (all->values[a] + all->radii[a] < 0) return true;
    for (int i = 0; i < all->n; i++) {
        const double *row = all->W + (size_t)i * (size_t)all->n;
        double y = all->w[i], margin = fabs(y) * SUM_ROUND_OFF * all->n;
        for (int a = 0; a < members; a++) {
            const double entry = row[all->members[a]];
            y += entry * all->values[a];
            margin += fabs(entry) * (all->radii[a] + SUM_ROUND_OFF * all->n * fabs(all->values[a]));
        }
        if (!(basis >> i & 1) && y + 2 * margin < 0) return true;
    }
    return false;
}

// -------------------------------------------------------------------------------------------------------------- the search

// Are two exact solutions the same?
static bool is_same(const enumeration *all, const double *a, const double *b) {
    for (int i = 0; i < all->n; i++)
        if (fabs(a[i] - b[i]) > SAME_SOLUTION * fmax(fabs(a[i]), fabs(b[i]))) return false;
    return true;
}

// Is the second solution the first one with round-off?
static bool is_near(const enumeration *all, const double *a, const double *b) {
    double largest = 0, difference = 0;
    for (int i = 0; i < all->n; i++) {
        largest = fmax(largest, fmax(fabs(a[i]) / all->z_unit[i], fabs(all->w[i]) / all->y_unit[i]));
        difference = fmax(difference, fabs(a[i] - b[i]) / all->z_unit[i]);
    }
    return difference <= SAME_SOLUTION * largest;
}

// Keeps all->z, unless it is known: several bases give a degenerate solution.
static carom_status keep(enumeration *all, bool exact, carom_error *error) {
    const size_t size = (size_t)all->n;
    for (int k = 0; k < all->found_count; k++) {
        const double *known = all->found + (size_t)k * size;
        if (exact ? all->found_exact[k] && is_same(all, known, all->z) : is_near(all, known, all->z)) return CAROM_OK;
    }
    if (all->found_count == all->found_capacity) {
        const int capacity = 2 * all->found_capacity + 8;
        double *found = realloc(all->found, (size_t)capacity * size * sizeof *found);
        if (found) all->found = found;
        bool *found_exact = realloc(all->found_exact, (size_t)capacity * sizeof *found_exact);
        if (found_exact) all->found_exact = found_exact;
        if (!found || !found_exact) return carom_fail_memory(error, "LCP enumeration");
        all->found_capacity = capacity;
    }
    memcpy(all->found + (size_t)all->found_count * size, all->z, size * sizeof *all->z);
    all->found_exact[all->found_count++] = exact;
    return CAROM_OK;
}

static int fill_members(enumeration *all, uint32_t basis) {
    int members = 0;
    for (int i = 0; i < all->n; i++)
        if (basis >> i & 1) all->members[members++] = i;
    return members;
}

// The solution of one basis, a set of bits, where it has one; a singular basis that nothing contradicts is left for later.
static carom_status try_basis(enumeration *all, uint32_t basis, carom_error *error) {
    const int members = fill_members(all, basis);
    if (signs_contradict(all, basis, members) || bounds_contradict(all, basis, members)) return CAROM_OK;
    // Round-off below zero is clipped, and the residuals judge the result.
    memset(all->z, 0, (size_t)all->n * sizeof *all->z);
    for (int a = 0; a < members; a++) all->z[all->members[a]] = fmax(all->values[a], 0);
    const double residual = carom_lcp_residual(all->n, all->W, all->w, all->z);
    const double relative = carom_lcp_relative_residual(all->n, all->W, all->w, all->z, all->y_unit, all->z_unit);
    const bool accepted = residual <= CAROM_LCP_TOLERANCE && relative <= RELATIVE_RESIDUAL;
    const carom_status status = accepted ? keep(all, false, error) : CAROM_OK;
    if (status || !all->moduli) return status;
    if (is_regular(all, members)) {
        const carom_exact_answer answer = decide_basis(all, basis, members);
        all->complete = all->complete && answer != CAROM_EXACT_UNDECIDED;
        return answer == CAROM_EXACT_SINGLE ? keep(all, true, error) : CAROM_OK;
    }
    if (all->singular_count == all->singular_capacity) {
        const int capacity = 2 * all->singular_capacity + 64;
        uint32_t *singular = realloc(all->singular, (size_t)capacity * sizeof *singular);
        if (!singular) return carom_fail_memory(error, "LCP enumeration");
        all->singular = singular;
        all->singular_capacity = capacity;
    }
    all->singular[all->singular_count++] = basis;
    return CAROM_OK;
}

// Singular bases, from the last, whose segments of solutions hold those of bases with fewer members. They are of no interest after a
// segment was found.
static carom_status try_singular_bases(enumeration *all, carom_error *error) {
    carom_status status = CAROM_OK;
    while (all->singular_count > 0 && all->complete && !status && !all->cancelled) {
        all->cancelled = carom_control_cancelled(all->control);
        const uint32_t basis = all->singular[--all->singular_count];
        const carom_exact_answer answer = decide_basis(all, basis, fill_members(all, basis));
        all->complete = answer == CAROM_EXACT_EMPTY || answer == CAROM_EXACT_SINGLE;
        if (answer == CAROM_EXACT_SINGLE) status = keep(all, true, error);
    }
    return status;
}

// Hands the solutions to the caller: the exact ones, and those by residuals that no exact one explains.
static carom_status report(enumeration *all, carom_lcp_visit visit, void *user, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int k = 0; k < all->found_count && !status; k++) {
        const double *z = all->found + (size_t)k * (size_t)all->n;
        bool explained = all->found_exact[k];
        for (int l = 0; l < all->found_count && !explained; l++)
            explained = all->found_exact[l] && is_near(all, all->found + (size_t)l * (size_t)all->n, z);
        if (explained && !all->found_exact[k]) continue;
        all->complete = all->complete && explained;
        status = visit(user, z, carom_lcp_residual(all->n, all->W, all->w, z), error);
    }
    return status;
}

carom_status carom_lcp_enumerate(int n, const double *W, const double *w, carom_lcp_visit visit, void *user, bool *complete,
                                 carom_error *error) {
    return carom_lcp_enumerate_watched(n, W, w, NULL, visit, user, complete, error);
}

carom_status carom_lcp_enumerate_watched(int n, const double *W, const double *w, const carom_control *control, carom_lcp_visit visit,
                                         void *user, bool *complete, carom_error *error) {
    *complete = false;
    if (n < 1 || n > CAROM_LCP_MOST_ENUMERATED)
        return carom_fail(error, CAROM_BAD_INPUT, "an LCP of size %d: all solutions are enumerated up to size %d (2^n bases)", n,
                          CAROM_LCP_MOST_ENUMERATED);
    const size_t size = (size_t)n;
    if (!carom_all_finite(size * size, W) || !carom_all_finite(size, w))
        return carom_fail(error, CAROM_BAD_INPUT, "W or w holds a number that is not finite");
    enumeration all = {.n = n, .W = W, .w = w, .control = control};
    carom_arena arena = {0};
    all.system = carom_arena_take(&arena, size * size, sizeof(double));
    all.none = carom_arena_take(&arena, size * size, sizeof(double));
    all.work = carom_arena_take(&arena, 2 * size * size + 4 * size, sizeof(double));
    all.z = carom_arena_take(&arena, size, sizeof(double));
    all.right_side = carom_arena_take(&arena, size, sizeof(double));
    all.values = carom_arena_take(&arena, size, sizeof(double));
    all.radii = carom_arena_take(&arena, size, sizeof(double));
    all.y_unit = carom_arena_take(&arena, size, sizeof(double));
    all.z_unit = carom_arena_take(&arena, size, sizeof(double));
    carom_status status = arena.failed ? carom_fail_memory(error, "LCP enumeration") : CAROM_OK;
    if (!status) {
        carom_lcp_units(n, W, all.y_unit, all.z_unit);
        make_exact(&all, &arena);
        if (arena.failed) status = carom_fail_memory(error, "LCP enumeration");
    }
    if (!status && all.moduli) status = carom_exact_system_create(all.moduli, n, 2 * n, &all.exact, error);
    all.complete = all.moduli;
    for (uint32_t basis = 0; basis < (uint32_t)1 << n && !status && !all.cancelled; basis++) {
        status = try_basis(&all, basis, error);
        if (basis % POLL_EVERY == 0) all.cancelled = carom_control_cancelled(control);
    }
    if (!status) status = try_singular_bases(&all, error);
    if (!status) status = report(&all, visit, user, error);
    *complete = !status && all.complete && !all.cancelled;
    carom_exact_system_free(&all.exact);
    free(all.moduli);
    free(all.found);
    free(all.found_exact);
    free(all.singular);
    carom_arena_free(&arena);
    return status;
}
