// SPDX-License-Identifier: Apache-2.0
// The cones of contact modes: every solution of a step has one combination of them (docs/laws.md, "Selection").
//
// A mode says of its contact's impulse and velocity after the step which functionals vanish, as many as the impulse has components, and
// which must not be negative. All contacts together: (P + Q W) lambda = -Q u - C lmax. So lambda is a linear function of the inputs x =
// (u, lmax), on the polyhedral cone of the x for which the signs agree.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "step/cones/build.h"
#include "step/scaled_system.h"

enum { MOST_WIDTH = 3 };

// As in src/step/modes.c: the share of the speed before the step by which a sign may miss.
#define SIGN_TOLERANCE 1e-10
// A functional below this share of its unit vanishes for every x.
#define VANISHING 1e-12

// impulse . lambda_i + velocity . u'_i + cap lmax_i of one contact, in its own axes.
typedef struct functional {
    double impulse[MOST_WIDTH], velocity[MOST_WIDTH], cap;
    double tolerance;  // by a unit of speed
} functional;

// What one mode of one contact asks.
typedef struct contact_mode {
    int signs;
    functional equation[MOST_WIDTH];  // = 0
    functional sign[CAROM_MAX_CONE_EDGES + 4];
} contact_mode;

static void add_sign(contact_mode *mode, functional sign) { mode->sign[mode->signs++] = sign; }

// Stick: u'_t = 0, and lam_t in mu lam_n conv D, a half-plane for each side of the polygon.
static void ask_stick(const carom_stepper *stepper, double mu, double small, contact_mode *mode) {
    for (int p = 1; p <= stepper->dim; p++) mode->equation[p].velocity[p] = 1;
    for (int j = 0; j < stepper->edges; j++) {
        const double *d = carom_step_direction(stepper, j), *e = carom_step_direction(stepper, stepper->dim == 1 ? j : j + 1);
        functional side = {.tolerance = small};
        for (int p = 0; p < stepper->dim; p++) {
            const double middle = 0.5 * (d[p] + e[p]);
            side.impulse[0] += mu * middle * middle;
            side.impulse[1 + p] = -middle;
        }
        add_sign(mode, side);
    }
}

// Slip along an edge: lam_t = mu lam_n d_j, and no neighbouring edge opposes the slip more.
static void ask_edge(const carom_stepper *stepper, int j, double mu, contact_mode *mode) {
    const double *d = carom_step_direction(stepper, j);
    for (int p = 1; p <= stepper->dim; p++) {
        mode->equation[p].impulse[p] = 1;
        mode->equation[p].impulse[0] = -mu * d[p - 1];
    }
    for (int neighbour = 1; neighbour <= stepper->dim; neighbour++) {
        const double *other = carom_step_direction(stepper, neighbour == 1 ? j + 1 : j + stepper->edges - 1);
        functional least = {.tolerance = SIGN_TOLERANCE};
        for (int p = 0; p < stepper->dim; p++) least.velocity[1 + p] = other[p] - d[p];
        add_sign(mode, least);
    }
}

// Slip between two edges d and e: lam_t = a d + (mu lam_n - a) e with 0 <= a <= mu lam_n, (d - e) . u'_t = 0, and against the slip.
static void ask_facet(const carom_stepper *stepper, int j, double mu, double small, contact_mode *mode) {
    const double *d = carom_step_direction(stepper, j), *e = carom_step_direction(stepper, j + 1);
    functional share = {.tolerance = small}, rest = {.impulse[0] = mu, .tolerance = small}, against = {.tolerance = SIGN_TOLERANCE};
    double length = 0;
    for (int p = 0; p < 2; p++) length += (d[p] - e[p]) * (d[p] - e[p]);
    for (int p = 0; p < 2; p++) {
        const double middle = 0.5 * (d[p] + e[p]), across = (d[p] - e[p]) / length;
        mode->equation[1].velocity[1 + p] = d[p] - e[p];
        mode->equation[2].impulse[1 + p] = middle;
        mode->equation[2].impulse[0] -= mu * middle * middle;
        share.impulse[1 + p] = across;
        share.impulse[0] -= mu * e[p] * across;
        against.velocity[1 + p] = -middle;
    }
    for (int p = 0; p < MOST_WIDTH; p++) rest.impulse[p] -= share.impulse[p];
    add_sign(mode, share);
    add_sign(mode, rest);
    add_sign(mode, against);
}

// Mode 0 is open; then the friction modes of a contact that stops approaching, then those of a capped one, in the order of
// src/step/modes.c.
static void ask(const carom_stepper *stepper, int contact, int code, contact_mode *mode) {
    const int row = carom_step_contact_row(stepper, contact), kinds = carom_step_friction_modes(stepper->dim, stepper->edges);
    const size_t diagonal = (size_t)row * ((size_t)carom_impact_contact_size(stepper->impact) + 1);
    const double mu = carom_impact_get_data(stepper->impact)->friction[contact];
    const double small = SIGN_TOLERANCE / carom_impact_delassus(stepper->impact)[diagonal], small_normal = small / (1 + mu);
    memset(mode, 0, sizeof *mode);
    if (!code) {
        for (int p = 0; p <= stepper->dim; p++) mode->equation[p].impulse[p] = 1;
        add_sign(mode, (functional){.velocity[0] = 1, .tolerance = SIGN_TOLERANCE});
        return;
    }
    if (code <= kinds) {
        mode->equation[0].velocity[0] = 1;
        add_sign(mode, (functional){.impulse[0] = 1, .tolerance = small_normal});
        add_sign(mode, (functional){.impulse[0] = -1, .cap = 1, .tolerance = small_normal});
    } else {
        mode->equation[0] = (functional){.impulse[0] = 1, .cap = -1};
        add_sign(mode, (functional){.velocity[0] = -1, .tolerance = SIGN_TOLERANCE});
    }
    const int friction = (code - 1) % kinds;
    if (!friction)
        ask_stick(stepper, mu, small, mode);
    else if (friction <= stepper->edges)
        ask_edge(stepper, friction - 1, mu, mode);
    else
        ask_facet(stepper, friction - stepper->edges - 1, mu, small, mode);
}

// ----------------------------------------------------------------------------------------------------------------- the cone

// The sign as a row over the inputs, from the impulses and the velocities after the step by a unit of each.
static carom_status add_row(const carom_cone_builder *builder, int contact, const functional *sign, const double *after,
                            carom_cone_rows *rows, carom_error *error) {
    const carom_stepper *stepper = builder->stepper;
    const int first = carom_step_contact_row(stepper, contact), n = builder->n;
    double row[2 * CAROM_MOST_MAPPED] = {0}, unit = 0;
    bool asks = false;
    for (int p = 0; p <= stepper->dim; p++)
        unit = fmax(unit, builder->unit[0] * fmax(fabs(sign->velocity[p]), stepper->least_mass * fabs(sign->impulse[p])));
    for (int j = 0; j < builder->inputs; j++) {
        row[j] = j == n + contact ? sign->cap : 0;
        for (int p = 0; p <= stepper->dim; p++)
            row[j] += sign->impulse[p] * builder->impulse[j * n + first + p] + sign->velocity[p] * after[j * n + first + p];
        // Caps are never negative: a non-negative combination of them asks for nothing.
        asks = asks || row[j] < 0 || (j < n && fabs(row[j]) * builder->unit[j] > VANISHING * unit);
    }
    const double size = carom_cone_row_size(builder, row);
    if (!asks || size <= VANISHING * unit) return CAROM_OK;
    return carom_cone_rows_add(builder, rows, row, size, -sign->tolerance, error);
}

carom_status carom_cone_make_modes(const carom_cone_builder *builder, const int *codes, carom_cone_rows *rows, bool *regular,
                                   carom_error *error) {
    const carom_stepper *stepper = builder->stepper;
    const int n = builder->n, width = 1 + stepper->dim, inputs = builder->inputs;
    const size_t size = (size_t)n;
    const double *W = carom_impact_delassus(stepper->impact);
    carom_arena arena = {0};
    contact_mode *modes = carom_arena_take(&arena, (size_t)stepper->count, sizeof *modes);
    double *after = carom_arena_take(&arena, (size_t)inputs * size, sizeof *after);
    double *right_side = carom_arena_take(&arena, size, sizeof *right_side);
    carom_scaled_system system;
    carom_scaled_system_take(&arena, size, &system);
    system.n = n;
    *regular = false;
    carom_status status = arena.failed ? carom_fail_memory(error, "cones of contact modes") : CAROM_OK;
    if (!status) {
        for (int i = 0; i < stepper->count; i++) ask(stepper, i, codes[i], &modes[i]);
        for (int r = 0; r < n; r++) {
            const functional *equation = &modes[r / width].equation[r % width];
            for (int p = 0; p < width; p++) {
                const int own = r / width * width + p;
                system.matrix[r * n + own] += equation->impulse[p];
                for (int c = 0; c < n; c++) system.matrix[r * n + c] += equation->velocity[p] * W[own * n + c];
            }
        }
        *regular = carom_scaled_system_factor(&system);
    }
    // Impulses and velocities after the step, u' = u + W lambda, by a unit of each input.
    for (int j = 0; j < inputs && *regular; j++) {
        for (int r = 0; r < n; r++) {
            const functional *equation = &modes[r / width].equation[r % width];
            right_side[r] = j < n ? (j / width == r / width ? -equation->velocity[j % width] : 0) : j - n == r / width ? -equation->cap : 0;
        }
        carom_scaled_system_solve(&system, right_side, builder->impulse + j * n);
        carom_multiply(n, n, W, builder->impulse + j * n, after + j * n);
        if (j < n) after[j * n + j] += 1;
    }
    for (int i = 0; i < stepper->count && *regular; i++)
        for (int k = 0; k < modes[i].signs && !status; k++) status = add_row(builder, i, &modes[i].sign[k], after, rows, error);
    carom_arena_free(&arena);
    return status;
}
