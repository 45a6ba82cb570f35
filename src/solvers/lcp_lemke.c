// SPDX-License-Identifier: Apache-2.0
// Our Lemke: the canonical selection (covering vector of ones, unscaled data, lexicographic ratio test; Halm & Posa spec section 3.1).
//
// A ladder of precisions and tolerances: tolerances decide which entries of a degenerate tableau count as zero or as equal, and no
// pair of them suits every problem. A rung is left when it ends on a ray or its solution fails the residual goal. The last ones perturb w,
// which makes the problem non-degenerate, and solve the final basis for w itself.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "solvers/lcp_basis.h"

#define REAL        double
#define LEMKE(name) double_##name
#include "solvers/lemke_tableau.h"
#undef REAL
#undef LEMKE

// Quadruple precision, in software: only for the few problems that double precision misjudges, mu = 1e5 above all.
__extension__ typedef __float128 quad;
#define REAL        quad
#define LEMKE(name) extended_##name
#include "solvers/lemke_tableau.h"
#undef REAL
#undef LEMKE

// Relative to the column's largest entry, and to the round-off weight of the right-hand side.
typedef struct rung {
    bool extended;
    double pivot_tolerance, tie_tolerance;
    double perturbation;  // of w, relative to its largest entry
} rung;

// Measured: of 200,000 degenerate random steps with mu <= 10 the first rung solves all but some 20, with mu = 1e5 about 95 %.
static const rung ladder[] = {
    {false, 1e-9, 1e-10, 0}, {true, 1e-13, 1e-14, 0},     {true, 1e-18, 1e-20, 0},
    {true, 1e-22, 1e-24, 0}, {true, 1e-18, 1e-20, 1e-12}, {true, 1e-13, 1e-14, 1e-9},
};
enum { RUNGS = sizeof ladder / sizeof *ladder };

// Refined solutions reach 1e-15; one above this, and above the round-off of evaluating W z + w, came from a wrong decision on an
// ill-conditioned basis.
#define RESIDUAL_GOAL 1e-12
#define ROUND_OFF     4e-16
// Lemke needs about 2n pivots; the limit only bounds a run whose tolerances broke the lexicographic order.
enum { PIVOTS_PER_ROW = 50 };

typedef struct lemke {
    int n;
    const double *W;
    double_tableau plain;
    extended_tableau extended;
    carom_lcp_basis *basis;  // solves the final basis again
    bool *basic;             // [n] which z are basic
    double *best;            // best z over the rungs
    double *perturbed;       // w of a perturbed rung
} lemke;

static void lemke_free(void *state) {
    lemke *s = state;
    double_release(&s->plain);
    extended_release(&s->extended);
    carom_lcp_basis_free(s->basis);
    free(s->basic);
    free(s->best);
    free(s->perturbed);
    free(s);
}

static carom_status lemke_create(int n, const double *W, void **state, carom_error *error) {
    const size_t size = (size_t)n;
    lemke *s = calloc(1, sizeof *s);
    if (!s) return carom_fail_memory(error, "lemke");
    s->n = n;
    s->W = W;
    const bool plain = double_allocate(&s->plain, n), extended = extended_allocate(&s->extended, n);
    s->basic = malloc(size * sizeof *s->basic);
    s->best = malloc(size * sizeof *s->best);
    s->perturbed = malloc(size * sizeof *s->perturbed);
    carom_status status = carom_lcp_basis_create(n, W, &s->basis, error);
    if (!status && !(plain && extended && s->basic && s->best && s->perturbed)) status = carom_fail_memory(error, "lemke");
    if (status) {
        lemke_free(s);
        return status;
    }
    *state = s;
    return CAROM_OK;
}

// w + eps ||w|| (1 + noise), the same noise at every call.
static const double *perturb(lemke *s, const double *w, double perturbation) {
    if (perturbation == 0) return w;
    const double size = perturbation * carom_max_abs((size_t)s->n, w);
    carom_stream noise;
    carom_stream_start(&noise, 0, 0);
    for (int i = 0; i < s->n; i++) s->perturbed[i] = w[i] + size * (1 + carom_stream_uniform(&noise));
    return s->perturbed;
}

static carom_verdict climb(lemke *s, const rung *r, const double *given, double *z, int64_t *pivots) {
    const double *w = perturb(s, given, r->perturbation);
    const int64_t limit = *pivots + (int64_t)PIVOTS_PER_ROW * s->n;
    if (r->extended) {
        extended_start(&s->extended, s->W, w);
        const carom_verdict verdict = extended_run(&s->extended, limit, r->pivot_tolerance, r->tie_tolerance, pivots);
        extended_extract(&s->extended, z);
        return verdict;
    }
    double_start(&s->plain, s->W, w);
    const carom_verdict verdict = double_run(&s->plain, limit, r->pivot_tolerance, r->tie_tolerance, pivots);
    double_extract(&s->plain, z);
    return verdict;
}

// The better of the tableau's solution and the refined one of its basis; returns its residual.
static double polish(lemke *s, const rung *r, const double *w, double *z) {
    const int *place = r->extended ? s->extended.place : s->plain.place;
    for (int i = 0; i < s->n; i++) s->basic[i] = place[s->n + i] >= 0;
    return carom_lcp_basis_polish(s->basis, s->basic, w, z);
}

// The least residual that can be expected of z rounded to double: with mu = 1e5 it is above the goal.
static double reachable_residual(const lemke *s, const double *w, const double *z) {
    double worst = 0;
    for (int i = 0; i < s->n; i++) {
        double sum = fabs(w[i]);
        for (int j = 0; j < s->n; j++) sum += fabs(s->W[(size_t)i * (size_t)s->n + (size_t)j]) * z[j];
        if (sum > worst) worst = sum;
    }
    return ROUND_OFF * worst / (1 + carom_max_abs((size_t)s->n, w));
}

static bool is_non_negative(int n, const double *w) {
    for (int i = 0; i < n; i++)
        if (w[i] < 0) return false;
    return true;
}

static void lemke_solve(void *state, const double *w, double *z, carom_lcp_info *info) {
    lemke *s = state;
    info->verdict = CAROM_COMPLETE;
    if (is_non_negative(s->n, w)) return;
    double best = INFINITY;
    carom_verdict last = CAROM_RAY;
    for (int k = 0; k < RUNGS; k++) {
        info->fallbacks = k;
        last = climb(s, &ladder[k], w, z, &info->pivots);
        if (last != CAROM_COMPLETE) continue;
        const double residual = polish(s, &ladder[k], w, z);
        if (residual <= RESIDUAL_GOAL || residual <= reachable_residual(s, w, z)) return;
        if (!(residual < best)) continue;
        best = residual;
        memcpy(s->best, z, (size_t)s->n * sizeof *z);
    }
    if (isinf(best)) {
        memset(z, 0, (size_t)s->n * sizeof *z);
        info->verdict = last;
    } else {
        memcpy(z, s->best, (size_t)s->n * sizeof *z);
    }
}

const carom_lcp_solver carom_lcp_lemke = {
    .name = "lemke",
    .summary = "Lemke's method, lexicographic, covering vector of ones (canonical)",
    .canonical = true,
    .create = lemke_create,
    .solve = lemke_solve,
    .free = lemke_free,
};
