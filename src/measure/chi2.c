// SPDX-License-Identifier: Apache-2.0
// Residuals in units of their noise.
#include <math.h>
#include <string.h>

#include "measure/measure_internal.h"

// Differences of velocities before the impact, relative to |v-|_M: walks in space are good for 1e-8.
#define DIFFERENCE 1e-5
// Eigenvalues of a covariance below this share of the largest, in kinetic coordinates, are rounding.
#define COVARIANCE_RANK 1e-10
// A residual may leave the range of its covariance by this share of |v-|_M.
#define OUT_OF_RANGE 1e-6

#define TWO_OVER_ROOT_PI 1.1283791670955126

double carom_measure_chi_square_tail(double x, int freedom) {
    if (isnan(x)) return (double)NAN;
    if (!(x > 0)) return 1;
    if (isinf(x)) return 0;
    // Q_0 = 0, Q_1 = erfc(sqrt(x/2)), Q_{k+2} = Q_k + t_k with t_k = (x/2)^{k/2} exp(-x/2) / Gamma(k/2 + 1).
    const bool odd = freedom % 2;
    double tail = odd ? erfc(sqrt(x / 2)) : 0, term = exp(-x / 2) * (odd ? sqrt(x / 2) * TWO_OVER_ROOT_PI : 1);
    for (int k = odd; k + 2 <= freedom; k += 2) {
        tail += term;
        term *= x / (k + 2);
    }
    return fmin(tail, 1);
}

// ----------------------------------------------------------------------------------------------------- along a selection

// One confrontation, with its workspace. In kinetic coordinates y = L'v all matrices are [nv x nv].
typedef struct confrontation {
    const carom_measure_law *law;
    const carom_measurement *measurement;
    const carom_measure_set *set;
    measure_frame frame;
    double *before, *after, *other;                   // [nv] velocities
    double *residual, *difference;                    // [nv] kinetic
    double *slope;                                    // D = L'A L^-T
    double *noise_before, *noise_after, *noise_both;  // C_--, C_++, C_-+ = L' S L
    double *product, *covariance, *values;
} confrontation;

// The velocity after the impact at `before`, along the selection of a member: the same walk, or the outcome next to it.
static carom_status follow(confrontation *c, int64_t member, double *after, bool *found, carom_error *error) {
    const carom_measure_set *set = c->set;
    const int nv = set->nv;
    *found = false;
    const carom_measure_origin *origin = &set->origins[member];
    const measure_question question = {
        .friction = origin->friction, .restitution = c->law->restitution, .seed = origin->seed, .shares = 1, .before = c->before};
    if (origin->sample >= 0) return measure_walk_again(c->law, c->measurement, &question, origin->sample, after, found, error);
    carom_measure_set others = {.nv = nv};
    const carom_status status = measure_ask_once(c->law, c->measurement, &question, NULL, &others, error);
    if (status) {
        carom_measure_set_free(&others);
        return status;
    }
    double least = INFINITY;
    for (int64_t i = 0; i < others.count; i++) {
        for (int k = 0; k < nv; k++) c->other[k] = others.members[i * nv + k] - set->members[member * nv + k];
        measure_whiten(&c->frame, c->other, c->difference);
        const double distance = carom_dot(nv, c->difference, c->difference);
        if (!(distance < least)) continue;
        least = distance;
        memcpy(after, others.members + i * nv, (size_t)nv * sizeof *after);
        *found = true;
    }
    carom_measure_set_free(&others);
    return CAROM_OK;
}

// The slope of the member in kinetic coordinates, by central differences.
static carom_status differentiate(confrontation *c, int64_t member, bool *found, carom_error *error) {
    const int nv = c->set->nv;
    const double step = DIFFERENCE * c->frame.scale;
    carom_status status = CAROM_OK;
    *found = true;
    for (int j = 0; j < nv && !status && *found; j++) {
        for (int side = -1; side <= 1 && !status && *found; side += 2) {
            for (int k = 0; k < nv; k++) c->before[k] = c->frame.before[k] + (k == j ? side * step : 0);
            measure_unwhiten(&c->frame, c->before, c->before);
            status = follow(c, member, c->after, found, error);
            measure_whiten(&c->frame, c->after, c->difference);
            for (int k = 0; k < nv; k++) {
                double *entry = &c->slope[k * nv + j];
                *entry = side < 0 ? c->difference[k] : (c->difference[k] - *entry) / (2 * step);
            }
        }
    }
    return status;
}

// C = L' S L of one block of the covariance of (v-, v+).
static void whiten_block(const confrontation *c, int row, int column, double *block) {
    const int nv = c->set->nv;
    const double *S = c->measurement->covariance, *L = c->frame.factor;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++) {
            double sum = 0;
            for (int k = i; k < nv; k++)
                for (int l = j; l < nv; l++) sum += L[k * nv + i] * S[(row * nv + k) * 2 * nv + column * nv + l] * L[l * nv + j];
            block[i * nv + j] = sum;
        }
}

// chi2 = r' C_r^+ r with C_r = C_++ - D C_-+ - (D C_-+)' + D C_-- D'.
static carom_status weigh(confrontation *c, carom_measure_chi_square *chi, carom_error *error) {
    const int nv = c->set->nv;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++) {
            double sum = 0;
            for (int k = 0; k < nv; k++) sum += c->slope[i * nv + k] * c->noise_before[k * nv + j];
            c->product[i * nv + j] = sum;
        }
    for (int i = 0; i < nv; i++)
        for (int j = 0; j <= i; j++) {
            double sum = c->noise_after[i * nv + j];
            for (int k = 0; k < nv; k++)
                sum += c->product[i * nv + k] * c->slope[j * nv + k] - c->slope[i * nv + k] * c->noise_both[k * nv + j] -
                       c->slope[j * nv + k] * c->noise_both[k * nv + i];
            c->covariance[i * nv + j] = c->covariance[j * nv + i] = sum;
        }
    const carom_status status = carom_symmetric_eigen(nv, c->covariance, c->values, error);
    if (status) return status;
    *chi = (carom_measure_chi_square){0};
    double outside = 0;
    for (int i = 0; i < nv; i++) {
        const double part = carom_dot(nv, c->covariance + i * nv, c->residual);
        if (c->values[i] > COVARIANCE_RANK * c->values[nv - 1]) {
            chi->value += part * part / c->values[i];
            chi->freedom++;
        } else {
            outside += part * part;
        }
    }
    if (sqrt(outside) > OUT_OF_RANGE * c->frame.scale) chi->value = INFINITY;
    chi->tail = carom_measure_chi_square_tail(chi->value, chi->freedom);
    return CAROM_OK;
}

// r = L'(v+ - x) of a member.
static void set_residual(confrontation *c, int64_t member) {
    measure_whiten(&c->frame, c->set->members + member * c->set->nv, c->residual);
    for (int k = 0; k < c->set->nv; k++) c->residual[k] = c->frame.after[k] - c->residual[k];
}

// The member with the least r' C_++^-1 r.
static int64_t find_likeliest(confrontation *c) {
    const int nv = c->set->nv;
    memcpy(c->covariance, c->noise_after, (size_t)nv * (size_t)nv * sizeof *c->covariance);
    if (carom_cholesky_factor(nv, c->covariance)) return -1;
    int64_t best = -1;
    double least = INFINITY;
    for (int64_t i = 0; i < c->set->count; i++) {
        set_residual(c, i);
        carom_cholesky_forward(nv, c->covariance, c->residual);
        const double value = carom_dot(nv, c->residual, c->residual);
        if (!(value < least)) continue;
        least = value;
        best = i;
    }
    return best;
}

carom_status carom_measure_find_chi_square(const carom_measure_law *law, const carom_measurement *measurement, const carom_measure_set *set,
                                           const carom_measure_score *score, carom_measure_chi_square *chi, carom_error *error) {
    *chi = (carom_measure_chi_square){.value = NAN, .tail = NAN};
    if (!measurement->covariance || !set->count) return CAROM_OK;
    confrontation c = {.law = law, .measurement = measurement, .set = set};
    carom_status status = measure_frame_make(measurement, measurement->metric, &c.frame, error);
    if (status) return status;
    const size_t nv = (size_t)set->nv;
    double **const vectors[] = {&c.before, &c.after, &c.other, &c.residual, &c.difference, &c.values};
    double **const matrices[] = {&c.slope, &c.noise_before, &c.noise_after, &c.noise_both, &c.product, &c.covariance};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = carom_arena_take(&c.frame.arena, nv, sizeof(double));
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        *matrices[i] = carom_arena_take(&c.frame.arena, nv * nv, sizeof(double));
    if (c.frame.arena.failed) status = carom_fail_memory(error, "chi2");
    if (!status) {
        whiten_block(&c, 0, 0, c.noise_before);
        whiten_block(&c, 1, 1, c.noise_after);
        whiten_block(&c, 0, 1, c.noise_both);
        const int64_t candidates[2] = {score->nearest, set->count > 1 ? find_likeliest(&c) : -1};
        for (int i = 0; i < 2 && !status; i++) {
            if (candidates[i] < 0 || (i && candidates[i] == candidates[0])) continue;
            bool found;
            carom_measure_chi_square one;
            status = differentiate(&c, candidates[i], &found, error);
            if (status || !found) continue;
            set_residual(&c, candidates[i]);
            status = weigh(&c, &one, error);
            if (!status && !(chi->value <= one.value)) *chi = one;
        }
    }
    carom_arena_free(&c.frame.arena);
    return status;
}
