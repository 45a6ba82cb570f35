// SPDX-License-Identifier: Apache-2.0
// Is v' unique on a complementary cone?
//
// Every solution of a planar step has contact modes: open, stopped or capped with stick, slip one way or the other. A combination of modes
// is a polyhedral cone K in the inputs x and those impulses that the modes leave free. v' is unique on a cone C, that of the basis or,
// larger, that of all x for which its impulses solve the step, if for every combination the difference of the velocities, one functional f
// with coefficients without a pattern, vanishes on C and K together. By Farkas' lemma it does exactly when f and -f are non-negative
// combinations of the inequalities, up to multiples of the equations: two least-squares problems with y >= 0, as LCPs. What their solutions
// leave over is the proof, whatever solved them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"
#include "step/cones/build.h"

// Seven modes a contact; three contacts have 343 combinations for every cone, which takes longer than the steps that it may save.
enum { MOST_CONTACTS = 2, MODES = 7, MOST_IMPULSES = 2 * MOST_CONTACTS, MOST_INPUTS = 3 * MOST_CONTACTS };
enum { MOST_VARIABLES = MOST_INPUTS + MOST_IMPULSES, MOST_ROWS = 48 };

// Of functionals in units: below this share of the larger ones that they are made of they vanish.
#define VANISHING 1e-10
// What the combination of inequalities may leave over of f, as a share of it.
#define LEFT_OVER 1e-9

typedef struct row {
    double at[MOST_VARIABLES];
} row;

// One combination of modes. Variables, in units: the inputs, then the free impulses.
typedef struct rival {
    const carom_cone_builder *builder;
    int variables, inequalities, equations;
    row impulse[MOST_IMPULSES];  // [n] as functionals
    row inequality[MOST_ROWS], equation[3 * MOST_IMPULSES];
} rival;

static double dot(const rival *k, const row *a, const row *b) { return carom_dot(k->variables, a->at, b->at); }

static void subtract(const rival *k, row *a, double factor, const row *b) {
    for (int j = 0; j < k->variables; j++) a->at[j] -= factor * b->at[j];
}

// To unit length; false when it vanishes.
static bool normalise(const rival *k, row *a, double vanishing) {
    const double length = sqrt(dot(k, a, a));
    if (!(length > vanishing)) return false;
    for (int j = 0; j < k->variables; j++) a->at[j] /= length;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- modes

typedef enum normal_mode { OPEN, STOPPED, CAPPED } normal_mode;
typedef enum friction_mode { STICK, FORWARD, BACKWARD } friction_mode;

static void add_inequality(rival *k, row made) {
    if (normalise(k, &made, 0)) k->inequality[k->inequalities++] = made;
}

// A free impulse, measured by what stops the contact at the velocity scale.
static row free_impulse(rival *k) {
    row made = {{0}};
    made.at[k->variables++] = k->builder->unit[0] * k->builder->stepper->least_mass;
    return made;
}

static row input(const rival *k, int index, double factor) {
    row made = {{0}};
    made.at[index] = factor * k->builder->unit[index];
    return made;
}

static row sum_of(const rival *k, double a, const row *x, double b, const row *y) {
    row made;
    for (int j = 0; j < MOST_VARIABLES; j++) made.at[j] = j < k->variables ? a * x->at[j] + b * y->at[j] : 0;
    return made;
}

static void set_impulse(rival *k, int contact, normal_mode normal, friction_mode friction) {
    const carom_stepper *s = k->builder->stepper;
    const double mu = carom_impact_get_data(s->impact)->friction[contact];
    row *own = &k->impulse[2 * contact];
    own[0] = own[1] = (row){{0}};
    if (normal == OPEN) return;
    own[0] = normal == CAPPED ? input(k, k->builder->n + contact, 1) : free_impulse(k);
    if (friction == STICK)
        own[1] = free_impulse(k);
    else
        own[1] = sum_of(k, friction == FORWARD ? -mu : mu, &own[0], 0, &own[0]);
}

// u' = u + W lambda along one row of contact space.
static row velocity_after(const rival *k, const row *impulse, int index) {
    const double *W = carom_impact_delassus(k->builder->stepper->impact) + (size_t)index * (size_t)k->builder->n;
    row made = input(k, index, 1);
    for (int c = 0; c < k->builder->n; c++) subtract(k, &made, -W[c], &impulse[c]);
    return made;
}

static void add_conditions(rival *k, int contact, normal_mode normal, friction_mode friction) {
    const double mu = carom_impact_get_data(k->builder->stepper->impact)->friction[contact];
    const row *own = &k->impulse[2 * contact];
    const row un = velocity_after(k, k->impulse, 2 * contact), ut = velocity_after(k, k->impulse, 2 * contact + 1);
    const row cap = input(k, k->builder->n + contact, 1);
    if (normal == STOPPED) {
        k->equation[k->equations++] = un;
        add_inequality(k, own[0]);
        add_inequality(k, sum_of(k, 1, &cap, -1, &own[0]));
    } else {
        add_inequality(k, sum_of(k, normal == OPEN ? 1 : -1, &un, 0, &un));
    }
    if (normal == OPEN) return;
    if (friction == STICK) {
        k->equation[k->equations++] = ut;
        add_inequality(k, sum_of(k, mu, &own[0], 1, &own[1]));
        add_inequality(k, sum_of(k, mu, &own[0], -1, &own[1]));
    } else {
        add_inequality(k, sum_of(k, friction == FORWARD ? 1 : -1, &ut, 0, &ut));
    }
}

static void add_caps(rival *k) {
    for (int i = k->builder->n; i < k->builder->inputs; i++) add_inequality(k, input(k, i, 1));
}

// The inputs are in the cone, with a cap that is not negative.
static void add_cone(rival *k, const carom_cone_rows *rows) {
    for (int i = 0; i < rows->count; i++) {
        row made = {{0}};
        for (int j = 0; j < rows->inputs; j++) made.at[j] = rows->rows[i * (rows->inputs + 1) + j] * k->builder->unit[j];
        add_inequality(k, made);
    }
    add_caps(k);
}

// The impulses of the solution, as functionals of the inputs.
static void fill_solution(const rival *k, const double *impulse, row *own) {
    const carom_cone_builder *b = k->builder;
    for (int c = 0; c < b->n; c++) {
        own[c] = (row){{0}};
        for (int j = 0; j < b->inputs; j++) own[c].at[j] = impulse[j * b->n + c] * b->unit[j];
    }
}

static bool vanishes(const rival *k, const row *a, double unit) { return sqrt(dot(k, a, a)) <= VANISHING * unit; }

// sign a >= 0, unless a vanishes.
static void add_sign(rival *k, double sign, const row *a, double unit) {
    if (!vanishes(k, a, unit)) add_inequality(k, sum_of(k, sign, a, 0, a));
}

// a = 0, unless it is so for every x. Where contacts depend on each other it may be for velocities alone that fit together.
static void add_rest(rival *k, const row *a, double unit) {
    if (!vanishes(k, a, unit)) k->equation[k->equations++] = *a;
}

// What the modes of the solution ask of one contact. Impulses that vanish, or are those of the cap or of slip, are so for every x.
static void add_own_conditions(rival *k, int contact, const row *own, double impulse_unit) {
    const double mu = carom_impact_get_data(k->builder->stepper->impact)->friction[contact], speed = k->builder->unit[0];
    const row *normal = &own[2 * contact], *tangent = normal + 1, cap = input(k, k->builder->n + contact, 1);
    const row un = velocity_after(k, own, 2 * contact), ut = velocity_after(k, own, 2 * contact + 1);
    const row free = sum_of(k, 1, &cap, -1, normal), ahead = sum_of(k, mu, normal, 1, tangent), back = sum_of(k, mu, normal, -1, tangent);
    const bool open = vanishes(k, normal, impulse_unit), capped = vanishes(k, &free, impulse_unit);
    const bool forward = vanishes(k, &ahead, impulse_unit), backward = vanishes(k, &back, impulse_unit);
    if (open || capped) {
        add_sign(k, open ? 1 : -1, &un, speed);
    } else {
        add_inequality(k, *normal);
        add_inequality(k, free);
        add_rest(k, &un, speed);
    }
    if (forward != backward) {
        add_sign(k, forward ? 1 : -1, &ut, speed);
    } else if (!forward) {
        add_rest(k, &ut, speed);
        // Without a tangential impulse these are the sign of the normal one.
        if (!vanishes(k, tangent, impulse_unit)) {
            add_inequality(k, ahead);
            add_inequality(k, back);
        }
    }
}

// The inputs are where these impulses solve the step.
static void add_solution(rival *k, const double *impulse) {
    const carom_cone_builder *b = k->builder;
    row own[MOST_IMPULSES];
    fill_solution(k, impulse, own);
    double unit = b->unit[b->n];
    for (int c = 0; c < b->n; c++) unit = fmax(unit, sqrt(dot(k, &own[c], &own[c])));
    for (int i = 0; i < b->stepper->count; i++) add_own_conditions(k, i, own, unit);
    add_caps(k);
}

// Directions of contact space, by an orthonormal basis of the columns of J. Returns their number.
static int find_range(const carom_impact_data *data, int n, double range[][MOST_IMPULSES]) {
    const double largest = fmax(carom_max_abs((size_t)(data->contacts * data->nv), data->normal),
                                carom_max_abs((size_t)(data->contacts * data->nv), data->tangent));
    int rank = 0;
    for (int j = 0; j < data->nv && rank < n; j++) {
        double *made = range[rank], length = 0;
        for (int r = 0; r < n; r++) made[r] = (r % 2 ? data->tangent : data->normal)[r / 2 * data->nv + j] / largest;
        for (int twice = 0; twice < 2; twice++)
            for (int e = 0; e < rank; e++) {
                const double share = carom_dot(n, made, range[e]);
                for (int r = 0; r < n; r++) made[r] -= share * range[e][r];
            }
        length = sqrt(carom_dot(n, made, made));
        if (!(length > VANISHING)) continue;
        for (int r = 0; r < n; r++) made[r] /= length;
        rank++;
    }
    return rank;
}

// Contact velocities are those of some velocity, u = J v. In contact space any u may be given.
static void add_system(rival *k) {
    const carom_impact *impact = k->builder->stepper->impact;
    double range[MOST_IMPULSES][MOST_IMPULSES];
    const int n = k->builder->n;
    if (!carom_impact_has_system(impact)) return;
    const int rank = find_range(carom_impact_get_data(impact), n, range);
    for (int i = 0; i < n && rank < n; i++) {
        row outside = input(k, i, 1);
        for (int e = 0; e < rank; e++)
            for (int r = 0; r < n; r++) outside.at[r] -= range[e][i] * range[e][r] * k->builder->unit[r];
        add_rest(k, &outside, k->builder->unit[0]);
    }
}

static void make_rival(rival *k, const carom_cone_builder *b, int code) {
    const int contacts = b->stepper->count;
    normal_mode normal[MOST_CONTACTS];
    friction_mode friction[MOST_CONTACTS];
    k->builder = b;
    k->variables = b->inputs;
    k->inequalities = k->equations = 0;
    for (int i = 0; i < contacts; i++, code /= MODES) {
        const int mode = code % MODES;
        normal[i] = mode == 0 ? OPEN : mode <= 3 ? STOPPED : CAPPED;
        friction[i] = (friction_mode)(mode == 0 ? 0 : (mode - 1) % 3);
        set_impulse(k, i, normal[i], friction[i]);
    }
    for (int i = 0; i < contacts; i++) add_conditions(k, i, normal[i], friction[i]);
    add_system(k);
}

// The difference of the velocities, each component with a factor of its own.
static row difference(const rival *k, const double *impulse) {
    const carom_cone_builder *b = k->builder;
    const double *W = carom_impact_delassus(b->stepper->impact);
    row f = {{0}}, own[MOST_IMPULSES];
    fill_solution(k, impulse, own);
    for (int r = 0; r < b->n; r++) {
        const double factor = 1 + 0.5 * cos(1 + 2.5 * r);
        for (int c = 0; c < b->n; c++) {
            const double weight = factor * W[r * b->n + c];
            subtract(k, &f, -weight, &own[c]);
            subtract(k, &f, weight, &k->impulse[c]);
        }
    }
    return f;
}

// ---------------------------------------------------------------------------------------------------------- certificate

// An orthonormal basis of the equations (modified Gram-Schmidt); the rest is projected onto what is orthogonal to it.
static void remove_equations(rival *k, row *f) {
    int rank = 0;
    for (int e = 0; e < k->equations; e++) {
        row made = k->equation[e];
        if (!normalise(k, &made, 0)) continue;
        for (int i = 0; i < rank; i++) subtract(k, &made, dot(k, &made, &k->equation[i]), &k->equation[i]);
        if (normalise(k, &made, VANISHING)) k->equation[rank++] = made;
    }
    k->equations = rank;
    int kept = 0;
    for (int i = 0; i < k->inequalities; i++) {
        row made = k->inequality[i];
        for (int e = 0; e < rank; e++) subtract(k, &made, dot(k, &made, &k->equation[e]), &k->equation[e]);
        if (normalise(k, &made, VANISHING)) k->inequality[kept++] = made;
    }
    k->inequalities = kept;
    for (int e = 0; e < rank; e++) subtract(k, f, dot(k, f, &k->equation[e]), &k->equation[e]);
}

// Is f, of unit length, a non-negative combination of the inequalities? min |G'y - f| over y >= 0: 0 <= y _|_ G G'y - G f >= 0.
static bool is_implied(const rival *k, const row *f, double sign) {
    const int n = k->inequalities;
    double gram[MOST_ROWS * MOST_ROWS], w[MOST_ROWS], y[MOST_ROWS];
    bool negative = false;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) gram[a * n + b] = dot(k, &k->inequality[a], &k->inequality[b]);
        w[a] = -sign * dot(k, &k->inequality[a], f);
        negative = negative || w[a] < 0;
    }
    if (!negative) return false;
    const carom_verdict verdict = carom_lcp_lemke_once(n, gram, w, y);
    row rest;
    for (int j = 0; j < MOST_VARIABLES; j++) rest.at[j] = sign * f->at[j];
    for (int a = 0; a < n; a++) subtract(k, &rest, fmax(0, y[a]), &k->inequality[a]);
    return verdict == CAROM_COMPLETE && dot(k, &rest, &rest) <= LEFT_OVER * LEFT_OVER;
}

static bool agrees(rival *k, const double *impulse) {
    row f = difference(k, impulse);
    const double size = sqrt(dot(k, &f, &f));
    remove_equations(k, &f);
    // Differences below the round-off of u + W lambda are none: the velocities themselves are of unit size.
    if (!normalise(k, &f, VANISHING * fmax(size, k->builder->unit[0]))) return true;
    return is_implied(k, &f, 1) && is_implied(k, &f, -1);
}

bool carom_cone_prove_unique(const carom_cone_builder *builder, const carom_cone_rows *rows, const double *impulse) {
    const int contacts = builder->stepper->count;
    const int conditions = (rows ? rows->count : 4 * contacts) + 5 * contacts;
    if (builder->stepper->dim != 1 || contacts > MOST_CONTACTS || conditions > MOST_ROWS) return false;
    rival k;
    int combinations = 1;
    for (int i = 0; i < contacts; i++) combinations *= MODES;
    for (int code = 0; code < combinations; code++) {
        make_rival(&k, builder, code);
        if (rows)
            add_cone(&k, rows);
        else
            add_solution(&k, impulse);
        if (!agrees(&k, impulse)) return false;
    }
    return true;
}
