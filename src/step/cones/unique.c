// SPDX-License-Identifier: Apache-2.0
// Is v' unique on a complementary cone?
//
// Every solution of a planar step has contact modes: open, stopped or capped with stick, slip one way or the other. A combination of modes
// is a polyhedral cone K in the inputs x and those impulses that the modes leave free. v' is unique on a cone C, that of the basis or,
// larger, that of all x for which its impulses solve the step, if for every combination the difference of the velocities, one functional f
// with coefficients without a pattern, vanishes on C and K together. By Farkas' lemma it does exactly when f and -f are non-negative
// combinations of the inequalities, up to multiples of the equations: two least-squares problems with y >= 0, as LCPs. What their solutions
// leave over is the proof, whatever solved them.
//
// The same for a whole impact: v' is unique in all its steps if every two combinations agree wherever both have solutions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"
#include "step/cones/build.h"

// Seven modes a contact; three contacts have 343 combinations for every cone, which takes longer than the steps that it may save.
enum { MOST_CONTACTS = 2, MODES = 7, MOST_IMPULSES = 2 * MOST_CONTACTS, MOST_INPUTS = 3 * MOST_CONTACTS };
enum { MOST_VARIABLES = 1 + MOST_INPUTS + 2 * MOST_IMPULSES, MOST_ROWS = 48 };

// A functional in units vanishes when it is below this share of the larger functionals that it combines.
#define VANISHING 1e-10
// What the combination of inequalities may leave over of f, as a share of it.
#define LEFT_OVER 1e-9

typedef struct row {
    double at[MOST_VARIABLES];
} row;

// One combination of modes, or two. Variables, in units: the inputs, then the free impulses.
typedef struct rival_modes {
    const carom_cone_builder *builder;
    int variables, inequalities, equations;
    row input[MOST_INPUTS];      // as functionals
    row impulse[MOST_IMPULSES];  // [n] as functionals
    row inequality[MOST_ROWS], equation[4 * MOST_IMPULSES];
} rival_modes;

static double dot(const rival_modes *rival, const row *a, const row *b) { return carom_dot(rival->variables, a->at, b->at); }

static void subtract(const rival_modes *rival, row *a, double factor, const row *b) {
    for (int j = 0; j < rival->variables; j++) a->at[j] -= factor * b->at[j];
}

// To unit length; false when it vanishes.
static bool normalise(const rival_modes *rival, row *a, double vanishing) {
    const double length = sqrt(dot(rival, a, a));
    if (!(length > vanishing)) return false;
    for (int j = 0; j < rival->variables; j++) a->at[j] /= length;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- modes

typedef enum normal_mode { OPEN, STOPPED, CAPPED } normal_mode;
typedef enum friction_mode { STICK, FORWARD, BACKWARD } friction_mode;

static void add_inequality(rival_modes *rival, row made) {
    if (normalise(rival, &made, 0)) rival->inequality[rival->inequalities++] = made;
}

// A free impulse, measured by what stops the contact at the velocity scale.
static row free_impulse(rival_modes *rival) {
    row made = {{0}};
    made.at[rival->variables++] = rival->builder->unit[0] * rival->builder->stepper->least_mass;
    return made;
}

static row input(const rival_modes *rival, int index, double factor) {
    row made;
    for (int j = 0; j < MOST_VARIABLES; j++) made.at[j] = factor * rival->input[index].at[j];
    return made;
}

static row sum_of(const rival_modes *rival, double a, const row *x, double b, const row *y) {
    row made;
    for (int j = 0; j < MOST_VARIABLES; j++) made.at[j] = j < rival->variables ? a * x->at[j] + b * y->at[j] : 0;
    return made;
}

// u' = u + W lambda along one row of contact space.
static row velocity_after(const rival_modes *rival, const row *impulse, int index) {
    const double *W = carom_impact_delassus(rival->builder->stepper->impact) + (size_t)index * (size_t)rival->builder->n;
    row made = input(rival, index, 1);
    for (int c = 0; c < rival->builder->n; c++) subtract(rival, &made, -W[c], &impulse[c]);
    return made;
}

static void add_caps(rival_modes *rival) {
    for (int i = rival->builder->n; i < rival->builder->inputs; i++) add_inequality(rival, input(rival, i, 1));
}

// The impulses of the solution, as functionals of the inputs.
static void fill_solution(const rival_modes *rival, const double *impulse, row *own) {
    const carom_cone_builder *b = rival->builder;
    for (int c = 0; c < b->n; c++) {
        own[c] = (row){{0}};
        for (int j = 0; j < b->inputs; j++) own[c].at[j] = impulse[j * b->n + c] * b->unit[j];
    }
}

static bool vanishes(const rival_modes *rival, const row *a, double unit) { return sqrt(dot(rival, a, a)) <= VANISHING * unit; }

// sign a >= 0, unless a vanishes.
static void add_sign(rival_modes *rival, double sign, const row *a, double unit) {
    if (!vanishes(rival, a, unit)) add_inequality(rival, sum_of(rival, sign, a, 0, a));
}

// a = 0, unless it is so for every x. Where contacts depend on each other it may be for velocities alone that fit together.
static void add_rest(rival_modes *rival, const row *a, double unit) {
    if (!vanishes(rival, a, unit)) rival->equation[rival->equations++] = *a;
}

// The inputs are where these impulses solve the step: what the modes of the solution ask of every contact. Impulses that vanish, or are
// those of the cap or of slip, are so for every x.
static void add_solution(rival_modes *rival, const double *impulse) {
    const carom_cone_builder *b = rival->builder;
    const double speed = b->unit[0];
    row own[MOST_IMPULSES];
    fill_solution(rival, impulse, own);
    double unit = b->unit[b->n];
    for (int c = 0; c < b->n; c++) unit = fmax(unit, sqrt(dot(rival, &own[c], &own[c])));
    for (int i = 0; i < b->stepper->count; i++) {
        const double mu = carom_impact_get_data(b->stepper->impact)->friction[i];
        const row *normal = &own[2 * i], *tangent = normal + 1, cap = input(rival, b->n + i, 1);
        const row un = velocity_after(rival, own, 2 * i), ut = velocity_after(rival, own, 2 * i + 1);
        const row free = sum_of(rival, 1, &cap, -1, normal);
        const row ahead = sum_of(rival, mu, normal, 1, tangent), back = sum_of(rival, mu, normal, -1, tangent);
        const bool open = vanishes(rival, normal, unit), capped = vanishes(rival, &free, unit);
        const bool forward = vanishes(rival, &ahead, unit), backward = vanishes(rival, &back, unit);
        // Normal: open or capped with the sign of u_n, or stopped, 0 <= lam_n <= lmax and u_n = 0.
        if (open || capped) {
            add_sign(rival, open ? 1 : -1, &un, speed);
        } else {
            add_inequality(rival, *normal);
            add_inequality(rival, free);
            add_rest(rival, &un, speed);
        }
        // Friction: slip with the sign of u_t, or stick, |lam_t| <= mu lam_n and u_t = 0.
        if (forward != backward) {
            add_sign(rival, forward ? 1 : -1, &ut, speed);
        } else if (!forward) {
            add_rest(rival, &ut, speed);
            // Without a tangential impulse these are the sign of the normal one.
            if (!vanishes(rival, tangent, unit)) {
                add_inequality(rival, ahead);
                add_inequality(rival, back);
            }
        }
    }
    add_caps(rival);
}

int carom_cone_range(const carom_cone_builder *builder, double *basis) {
    const carom_impact *impact = builder->stepper->impact;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int n = builder->n, width = 1 + builder->stepper->dim, directions = carom_impact_has_system(impact) ? data->nv : 0;
    const double largest = directions ? fmax(carom_max_abs((size_t)(data->contacts * data->nv), data->normal),
                                             carom_max_abs((size_t)(data->contacts * (width - 1) * data->nv), data->tangent))
                                      : 1;
    // The columns of J, then unit vectors, by Gram-Schmidt done twice.
    int rank = 0, count = directions ? 0 : n;
    for (int j = 0; j < directions + n && rank < n; j++) {
        double *made = basis + rank * n;
        for (int r = 0; r < n; r++) {
            const int contact = r / width, part = r % width - 1;
            // In contact space there is no J.
            made[r] = j >= directions ? r == j - directions
                      : part < 0      ? data->normal[contact * data->nv + j] / largest
                                      : data->tangent[(contact * (width - 1) + part) * data->nv + j] / largest;
        }
        for (int twice = 0; twice < 2; twice++)
            for (int e = 0; e < rank; e++) {
                const double share = carom_dot(n, made, basis + e * n);
                for (int r = 0; r < n; r++) made[r] -= share * basis[e * n + r];
            }
        const double length = sqrt(carom_dot(n, made, made));
        if (!(length > VANISHING)) continue;
        for (int r = 0; r < n; r++) made[r] /= length;
        rank++;
        if (j < directions) count++;
    }
    return count;
}

// Contact velocities are those of some velocity, u = J v. In contact space any u may be given.
static void add_system(rival_modes *rival) {
    const int n = rival->builder->n;
    double range[MOST_IMPULSES * MOST_IMPULSES];
    const int rank = carom_cone_range(rival->builder, range);
    // The rest of every u outside of the range is zero.
    for (int i = 0; i < n && rank < n; i++) {
        row outside = input(rival, i, 1);
        for (int e = 0; e < rank; e++)
            for (int r = 0; r < n; r++) outside.at[r] -= range[e * n + i] * range[e * n + r] * rival->builder->unit[r];
        add_rest(rival, &outside, rival->builder->unit[0]);
    }
}

// The inputs are variables.
static void start(rival_modes *rival, const carom_cone_builder *b) {
    rival->builder = b;
    rival->variables = b->inputs;
    rival->inequalities = rival->equations = 0;
    memset(rival->input, 0, sizeof rival->input);
    for (int j = 0; j < b->inputs; j++) rival->input[j].at[j] = b->unit[j];
}

// The inputs that steps can meet: u = t u- + W lambda with t >= 0 and the sum of all impulses so far, which is in the friction cones.
static void start_reached(rival_modes *rival, const carom_cone_builder *b, const double *before) {
    const carom_impact *impact = b->stepper->impact;
    const double *W = carom_impact_delassus(impact);
    start(rival, b);
    row total[MOST_IMPULSES];
    rival->variables = 0;
    for (int c = 0; c < b->n; c++) total[c] = free_impulse(rival);
    const int time = rival->variables++;
    for (int r = 0; r < b->n; r++) {
        rival->input[r] = (row){{0}};
        rival->input[r].at[time] = before[r];
        for (int c = 0; c < b->n; c++) rival->input[r].at[c] = W[r * b->n + c] * total[c].at[c];
    }
    for (int i = 0; i < b->stepper->count; i++) {
        const double mu = carom_impact_get_data(impact)->friction[i];
        rival->input[b->n + i] = (row){{0}};
        rival->input[b->n + i].at[rival->variables++] = b->unit[b->n + i];
        add_inequality(rival, sum_of(rival, mu, &total[2 * i], 1, &total[2 * i + 1]));
        add_inequality(rival, sum_of(rival, mu, &total[2 * i], -1, &total[2 * i + 1]));
        add_inequality(rival, total[2 * i]);
    }
    row positive = {{0}};
    positive.at[time] = 1;
    add_inequality(rival, positive);
}

// The combination of modes that a code in base MODES means: its impulses [n], and what the modes ask of the velocities.
static void add_modes(rival_modes *rival, int code, row *impulse) {
    const carom_cone_builder *b = rival->builder;
    const int contacts = b->stepper->count;
    const double *friction_bounds = carom_impact_get_data(b->stepper->impact)->friction;
    normal_mode normal[MOST_CONTACTS];
    friction_mode friction[MOST_CONTACTS];
    // Impulses: none of an open contact, the cap of a capped one, free ones of normals that stop and of tangents that stick, mu lam_n of
    // slip.
    for (int i = 0; i < contacts; i++, code /= MODES) {
        const int mode = code % MODES;
        row *own = &impulse[2 * i];
        normal[i] = mode == 0 ? OPEN : mode <= 3 ? STOPPED : CAPPED;
        friction[i] = (friction_mode)(mode == 0 ? 0 : (mode - 1) % 3);
        own[0] = own[1] = (row){{0}};
        if (normal[i] == OPEN) continue;
        own[0] = normal[i] == CAPPED ? input(rival, b->n + i, 1) : free_impulse(rival);
        if (friction[i] == STICK)
            own[1] = free_impulse(rival);
        else
            own[1] = sum_of(rival, friction[i] == FORWARD ? -friction_bounds[i] : friction_bounds[i], &own[0], 0, &own[0]);
    }
    // Velocities after the step: zero where the mode says so, signs elsewhere; and the bounds of the impulses.
    for (int i = 0; i < contacts; i++) {
        const double mu = friction_bounds[i];
        const row *own = &impulse[2 * i], cap = input(rival, b->n + i, 1);
        const row un = velocity_after(rival, impulse, 2 * i), ut = velocity_after(rival, impulse, 2 * i + 1);
        if (normal[i] == STOPPED) {
            rival->equation[rival->equations++] = un;
            add_inequality(rival, own[0]);
            add_inequality(rival, sum_of(rival, 1, &cap, -1, &own[0]));
        } else {
            add_inequality(rival, sum_of(rival, normal[i] == OPEN ? 1 : -1, &un, 0, &un));
        }
        if (normal[i] == OPEN) continue;
        if (friction[i] == STICK) {
            rival->equation[rival->equations++] = ut;
            add_inequality(rival, sum_of(rival, mu, &own[0], 1, &own[1]));
            add_inequality(rival, sum_of(rival, mu, &own[0], -1, &own[1]));
        } else {
            add_inequality(rival, sum_of(rival, friction[i] == FORWARD ? 1 : -1, &ut, 0, &ut));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- certificate

// Is f, of unit length, a non-negative combination of the inequalities? min |G'y - f| over y >= 0: 0 <= y _|_ G G'y - G f >= 0.
static bool is_implied(const rival_modes *rival, const row *f, double sign) {
    const int n = rival->inequalities;
    double gram[MOST_ROWS * MOST_ROWS], w[MOST_ROWS], y[MOST_ROWS];
    bool negative = false;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) gram[a * n + b] = dot(rival, &rival->inequality[a], &rival->inequality[b]);
        w[a] = -sign * dot(rival, &rival->inequality[a], f);
        negative = negative || w[a] < 0;
    }
    if (!negative) return false;
    const carom_verdict verdict = carom_lcp_lemke_once(n, gram, w, y);
    row rest;
    for (int j = 0; j < MOST_VARIABLES; j++) rest.at[j] = sign * f->at[j];
    for (int a = 0; a < n; a++) subtract(rival, &rest, fmax(0, y[a]), &rival->inequality[a]);
    return verdict == CAROM_COMPLETE && dot(rival, &rest, &rest) <= LEFT_OVER * LEFT_OVER;
}

// Does the difference of the velocities vanish wherever both the rival's impulses and these are solutions?
static bool agrees(rival_modes *rival, const row *own) {
    const carom_cone_builder *b = rival->builder;
    const double *W = carom_impact_delassus(b->stepper->impact);
    // f, the difference, each component with a factor of its own.
    row f = {{0}};
    for (int r = 0; r < b->n; r++) {
        const double factor = 1 + 0.5 * cos(1 + 2.5 * r);
        for (int c = 0; c < b->n; c++) {
            const double weight = factor * W[r * b->n + c];
            subtract(rival, &f, -weight, &own[c]);
            subtract(rival, &f, weight, &rival->impulse[c]);
        }
    }
    const double size = sqrt(dot(rival, &f, &f));
    // An orthonormal basis of the equations (modified Gram-Schmidt); the rest is projected onto what is orthogonal to it.
    int rank = 0;
    for (int e = 0; e < rival->equations; e++) {
        row made = rival->equation[e];
        if (!normalise(rival, &made, 0)) continue;
        for (int i = 0; i < rank; i++) subtract(rival, &made, dot(rival, &made, &rival->equation[i]), &rival->equation[i]);
        if (normalise(rival, &made, VANISHING)) rival->equation[rank++] = made;
    }
    rival->equations = rank;
    int kept = 0;
    for (int i = 0; i < rival->inequalities; i++) {
        row made = rival->inequality[i];
        for (int e = 0; e < rank; e++) subtract(rival, &made, dot(rival, &made, &rival->equation[e]), &rival->equation[e]);
        if (normalise(rival, &made, VANISHING)) rival->inequality[kept++] = made;
    }
    rival->inequalities = kept;
    for (int e = 0; e < rank; e++) subtract(rival, &f, dot(rival, &f, &rival->equation[e]), &rival->equation[e]);
    // A difference below the round-off of u + W lambda counts as zero: the velocities themselves are of unit size.
    if (!normalise(rival, &f, VANISHING * fmax(size, b->unit[0]))) return true;
    return is_implied(rival, &f, 1) && is_implied(rival, &f, -1);
}

bool carom_cone_prove_unique(const carom_cone_builder *builder, const carom_cone_rows *rows, const double *impulse) {
    const int contacts = builder->stepper->count;
    const int conditions = (rows ? rows->count : 4 * contacts) + 5 * contacts;
    if (builder->stepper->dim != 1 || contacts > MOST_CONTACTS || conditions > MOST_ROWS) return false;
    rival_modes rival;
    // Every combination of modes must agree with the solution wherever both apply.
    int combinations = 1;
    for (int i = 0; i < contacts; i++) combinations *= MODES;
    for (int code = 0; code < combinations; code++) {
        row own[MOST_IMPULSES];
        start(&rival, builder);
        add_modes(&rival, code, rival.impulse);
        add_system(&rival);
        fill_solution(&rival, impulse, own);
        if (!rows) {
            add_solution(&rival, impulse);
        } else {
            // The inputs are in the cone, with a cap that is not negative.
            for (int i = 0; i < rows->count; i++) {
                row made = {{0}};
                for (int j = 0; j < rows->inputs; j++) made.at[j] = rows->rows[i * (rows->inputs + 1) + j] * builder->unit[j];
                add_inequality(&rival, made);
            }
            add_caps(&rival);
        }
        if (!agrees(&rival, own)) return false;
    }
    return true;
}

bool carom_step_modes_agree(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int contacts = data->contacts, n = carom_impact_contact_size(impact);
    if (data->tangent_dim != 1 || contacts > MOST_CONTACTS) return false;
    // What the builder needs to know of a step.
    carom_stepper stepper = {.impact = impact, .count = contacts, .dim = 1};
    stepper.least_mass = 1 / carom_max_abs((size_t)(n * n), carom_impact_delassus(impact));
    // Units of the inputs: the velocity before the impact, and the impulse that stops it.
    const double scale = carom_impact_velocity_scale(impact), speed = scale > 0 ? scale : 1;
    double unit[MOST_INPUTS], before[MOST_IMPULSES];
    for (int j = 0; j < n + contacts; j++) unit[j] = j < n ? speed : speed * stepper.least_mass;
    carom_impact_contact_velocity(impact, data->velocity, before);
    const carom_cone_builder builder = {.stepper = &stepper, .inputs = n + contacts, .n = n, .unit = unit};
    rival_modes rival;
    int combinations = 1;
    for (int i = 0; i < contacts; i++) combinations *= MODES;
    // A combination is its own rival where it leaves impulses undetermined.
    for (int first = 0; first < combinations; first++)
        for (int second = 0; second <= first; second++) {
            row own[MOST_IMPULSES];
            start_reached(&rival, &builder, before);
            add_modes(&rival, first, rival.impulse);
            add_modes(&rival, second, own);
            add_caps(&rival);
            if (!agrees(&rival, own)) return false;
        }
    return true;
}
