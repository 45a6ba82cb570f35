// SPDX-License-Identifier: Apache-2.0
// The reduced planar step: between the step's LCP and a kernel that pivots on two rows a contact.
#include "step/reduced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/instruction_sets.h"
#include "carom/lcp.h"

// Relative residual above which a tie was misjudged, as in our Lemke: then that has the say.
#define RESIDUAL_GOAL 2e-10
// The first sweep makes up for the pivots and reaches this relative residual but for nearly singular modes.
#define REFINED 1e-14
enum { MOST_REFINEMENTS = 4 };
// Ordinary steps need about one pivot a row; the limit bounds a run whose tolerances broke the lexicographic order.
enum { PIVOTS_PER_ROW = 20 };

struct carom_step_reduced {
    const carom_stepper *stepper;
    carom_reduced_problem problem;
    const carom_reduced_kernel *kernel;
    void *tableau;
    bool unique;
    double *arena;  // every array of doubles
    double *u, *lmax, *impulse, *u_next;
    double *y;                    // [size] W z + w
    double *y_weight, *z_weight;  // [size] 1 / units of the LCP
};

// ------------------------------------------------------------------------------------------------------------- kernels

typedef struct kernel_choice {
    const char *name;
    const carom_reduced_kernel *kernel;
    bool available;
} kernel_choice;

enum { CHOICES = 4 };

// From the fastest on.
static void list_choices(kernel_choice choices[CHOICES]) {
    choices[0] = (kernel_choice){"reduced:avx512", CAROM_X86_KERNEL(carom_step_reduced_kernel_avx512), CAROM_HAS_AVX512};
    choices[1] = (kernel_choice){"reduced:avx2", CAROM_X86_KERNEL(carom_step_reduced_kernel_avx2), CAROM_HAS_AVX2};
    choices[2] = (kernel_choice){"reduced:portable", &carom_step_reduced_kernel_portable, true};
    choices[3] = (kernel_choice){"reduced:scalar", &carom_step_reduced_kernel_scalar, true};
}

const char *const carom_step_reduced_names[] = {"reduced", "reduced:scalar", "reduced:portable", "reduced:avx2", "reduced:avx512", NULL};

// False for an unknown name.
static bool choose(const char *name, kernel_choice *choice) {
    kernel_choice choices[CHOICES];
    list_choices(choices);
    for (int i = 0; i < CHOICES; i++) {
        *choice = choices[i];
        if (!strcmp(name, carom_step_reduced_names[0]) ? choice->available : !strcmp(name, choice->name)) return true;
    }
    return false;
}

const char *carom_step_reduced_path(const char *name) {
    kernel_choice choice;
    return choose(name, &choice) ? choice.name : NULL;
}

// ------------------------------------------------------------------------------------------------------------- lifetime

void carom_step_reduced_free(carom_step_reduced *reduced) {
    if (!reduced) return;
    if (reduced->kernel) reduced->kernel->free(reduced->tableau);
    free(reduced->arena);
    free(reduced);
}

// Index in the LCP of axis 0 (normal) or 1 (tangent, along the first cone edge) of contact space.
static int lcp_index(const carom_stepper *s, int row) { return carom_step_force_index(s, row / 2, row % 2); }

static carom_status allocate(carom_step_reduced *r, carom_error *error) {
    const size_t m = (size_t)r->problem.contacts, rows = 2 * m, size = (size_t)r->stepper->size;
    double *at = r->arena = malloc((rows * rows + 5 * rows + 2 * m + 3 * size) * sizeof *at);
    if (!at) return carom_fail_memory(error, "reduced step");
    double *const delassus = at, *const speed_unit = at += rows * rows, *const impulse_unit = at += rows, *const friction = at += rows;
    r->lmax = at += m;
    r->u = at += m;
    r->impulse = at += rows;
    r->u_next = at += rows;
    r->y = at += rows;
    r->y_weight = at += size;
    r->z_weight = at += size;
    carom_lcp_units(r->stepper->size, r->stepper->W, r->y_weight, r->z_weight);
    for (size_t a = 0; a < rows; a++) {
        const size_t row = (size_t)lcp_index(r->stepper, (int)a);
        for (size_t b = 0; b < rows; b++) delassus[a * rows + b] = r->stepper->W[row * size + (size_t)lcp_index(r->stepper, (int)b)];
        speed_unit[a] = r->y_weight[row];
        impulse_unit[a] = r->z_weight[row];
    }
    // Powers of two: nothing is lost.
    for (size_t i = 0; i < size; i++) {
        r->y_weight[i] = 1 / r->y_weight[i];
        r->z_weight[i] = 1 / r->z_weight[i];
    }
    const double *mu = carom_impact_get_data(r->stepper->impact)->friction;
    for (size_t i = 0; i < m; i++) friction[i] = mu[(size_t)r->stepper->first + i];
    r->problem = (carom_reduced_problem){(int)m, delassus, friction, speed_unit, impulse_unit};
    return CAROM_OK;
}

carom_status carom_step_reduced_create(const carom_stepper *stepper, const char *path, carom_step_reduced **reduced, carom_error *error) {
    *reduced = NULL;
    kernel_choice choice;
    if (!choose(path, &choice)) return carom_fail(error, CAROM_BAD_INPUT, "path: there is no way '%.60s' of computing steps", path);
    if (stepper->dim != 1)
        return carom_fail(error, CAROM_BAD_INPUT, "path: %s is for planar contacts, and these have %d tangents", path, stepper->dim);
    if (!choice.available) return carom_fail(error, CAROM_UNSUPPORTED, "%s: this machine lacks the instructions", path);
    carom_step_reduced *r = calloc(1, sizeof *r);
    if (!r) return carom_fail_memory(error, "reduced step");
    r->stepper = stepper;
    r->problem.contacts = stepper->count;
    carom_status status = allocate(r, error);
    if (!status) {
        r->kernel = choice.kernel;
        r->tableau = r->kernel->create(&r->problem);
        if (!r->tableau) status = carom_fail_memory(error, "reduced step");
        r->unique = carom_reduced_prove_unique(&r->problem, stepper->impact, stepper->first);
    }
    if (status)
        carom_step_reduced_free(r);
    else
        *reduced = r;
    return status;
}

bool carom_step_reduced_is_unique(const carom_step_reduced *reduced) { return reduced->unique; }

// -------------------------------------------------------------------------------------------------------------- solving

static void read_vector(carom_step_reduced *r, const double *w) {
    const carom_stepper *s = r->stepper;
    for (int a = 0; a < 2 * s->count; a++) r->u[a] = w[lcp_index(s, a)];
    for (int i = 0; i < s->count; i++) r->lmax[i] = s->beta < 0 ? INFINITY : w[s->beta + i];
}

// The solution z of the LCP that the impulse and the velocity after the step make, and y = W z + w, whose sums are written out without the
// terms that are zero. beta = -u'_n of a capped contact, gamma = |u'_t| unless it sticks.
static void fill_solution(const carom_step_reduced *r, double *z) {
    const carom_stepper *s = r->stepper;
    const carom_reduced_mode *mode = r->kernel->modes(r->tableau);
    double *y = r->y;
    for (int i = 0; i < s->count; i++) {
        const int forward = carom_step_force_index(s, i, 1), backward = carom_step_force_index(s, i, 2);
        const double lam_n = r->impulse[2 * i], lam_t = r->impulse[2 * i + 1], u_n = r->u_next[2 * i], u_t = r->u_next[2 * i + 1];
        const bool sticks = mode[i] == CAROM_REDUCED_STICK || mode[i] == CAROM_REDUCED_CAPPED_STICK;
        const double beta = mode[i] >= CAROM_REDUCED_CAPPED_SLIP && u_n < 0 ? -u_n : 0, gamma = sticks ? 0 : fabs(u_t);
        if (s->beta >= 0) {
            z[s->beta + i] = beta;
            y[s->beta + i] = r->lmax[i] - lam_n;
        }
        z[s->normal + i] = lam_n;
        y[s->normal + i] = u_n + beta;
        z[forward] = lam_t > 0 ? lam_t : 0;
        y[forward] = u_t + gamma;
        z[backward] = lam_t < 0 ? -lam_t : 0;
        y[backward] = gamma - u_t;
        z[s->gamma + i] = gamma;
        y[s->gamma + i] = r->problem.friction[i] * lam_n - fabs(lam_t);
    }
}

// Both residuals of the LCP layer, from z and y: absolute as carom_lcp_residual, relative as carom_lcp_relative_residual.
typedef struct residuals {
    double absolute, relative;
} residuals;

static residuals measure(const carom_step_reduced *r, const double *w, const double *z) {
    double worst = 0, worst_relative = 0, scale = 0, size = 0;
    bool finite = true;
    for (int i = 0; i < r->stepper->size; i++) {
        const double y = r->y[i], y_relative = y * r->y_weight[i], z_relative = z[i] * r->z_weight[i];
        const double violation = fabs(y < z[i] ? y : z[i]), relative = fabs(y_relative < z_relative ? y_relative : z_relative);
        const double w_size = fabs(w[i]), w_relative = w_size * r->y_weight[i];
        finite = finite && isfinite(y) && isfinite(z[i]);
        worst = violation > worst ? violation : worst;
        size = w_size > size ? w_size : size;
        worst_relative = relative > worst_relative ? relative : worst_relative;
        scale = w_relative > scale ? w_relative : scale;
        scale = z_relative > scale ? z_relative : scale;
    }
    if (!finite) return (residuals){INFINITY, INFINITY};
    return (residuals){worst / (1 + size), worst_relative > 0 ? worst_relative / scale : 0};
}

// u + W impulse, summed in extended precision: the cancellation is what refinement lives on where modes are nearly singular.
static void find_velocity_extended(carom_step_reduced *r) {
    const int rows = 2 * r->stepper->count;
    for (int a = 0; a < rows; a++) {
        long double sum = r->u[a];
        for (int b = 0; b < rows; b++) sum += (long double)r->problem.delassus[a * rows + b] * r->impulse[b];
        r->u_next[a] = (double)sum;
    }
}

static residuals improve(carom_step_reduced *r, const double *w, double *z) {
    r->kernel->read_impulse(r->tableau, r->impulse);
    r->kernel->find_velocity(r->tableau, r->impulse, r->u_next);
    residuals found = {INFINITY, INFINITY};
    for (int k = 0; k < MOST_REFINEMENTS && !(found.relative <= REFINED); k++) {
        r->kernel->correct(r->tableau, r->u_next, r->impulse);
        if (k)
            find_velocity_extended(r);
        else
            r->kernel->find_velocity(r->tableau, r->impulse, r->u_next);
        fill_solution(r, z);
        found = measure(r, w, z);
    }
    return found;
}

void carom_step_reduced_solve(carom_step_reduced *reduced, const double *w, double *z, carom_lcp_info *info) {
    const carom_stepper *s = reduced->stepper;
    *info = (carom_lcp_info){.verdict = CAROM_UNVERIFIED, .residual = INFINITY};
    if (!carom_all_finite((size_t)s->size, w)) return;
    read_vector(reduced, w);
    const int64_t limit = (int64_t)PIVOTS_PER_ROW * 2 * s->count;
    info->verdict = reduced->kernel->run(reduced->tableau, reduced->u, reduced->lmax, limit, &info->pivots);
    if (info->verdict != CAROM_COMPLETE) return;
    const residuals found = improve(reduced, w, z);
    info->residual = found.absolute;
    if (!(found.relative <= RESIDUAL_GOAL && found.absolute <= CAROM_LCP_TOLERANCE)) info->verdict = CAROM_UNVERIFIED;
}
