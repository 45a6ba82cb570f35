// SPDX-License-Identifier: Apache-2.0
// Law `lzb`: contacts share the impulse as linear springs would, by the work that they have stored (Liu, Zhao & Brogliato 2008).
//
//     dp_i/dtau = k_i delta_i,    ddelta_i/dtau = -n_i (n_i < 0),  -n_i/e_i^2 (n_i > 0, delta_i > 0),  else 0,    delta(0) = 0
//
// with the deformation delta_i = sqrt(2 E_i/k_i): a solution of the inclusion with restitution in which lambda_i : lambda_j =
// sqrt(k_i E_i) : sqrt(k_j E_j). Only ratios of stiffnesses matter. Integrated from one change of phase or slip to the next.
//
// Contact velocities are unknowns of their own, du/dtau = W dp/dtau: a contact that sticks keeps u_t = 0 exactly, where u- + W p would be
// off by the round-off of large terms that cancel.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/box.h"
#include "carom/dense.h"
#include "carom/ode.h"
#include "laws/laws_internal.h"

// Added to the diagonal of W_tt, as a share of it, where several contacts stick: equal tangent rows then share friction evenly.
#define REGULARISATION 1e-14
// How far ahead a contact without slip is looked at, as a share of the time scale: at the start no spring has a force yet.
#define AHEAD 1e-6

// The velocity u- + W p after the impact may be off from the integrated one by so many tolerances: steps without number add up.
#define MOST_APART 100

// A few hundred steps are usual.
enum { MOST_EVENTS = 10000, MOST_STEPS = 200000, MOST_HALVINGS = 60 };

carom_lzb_options carom_lzb_defaults(void) { return (carom_lzb_options){.restitution = NAN, .tolerance = 1e-10}; }

static void defaults(void *options) { *(carom_lzb_options *)options = carom_lzb_defaults(); }

static const carom_option option_rows[] = {
    {"stiffness", CAROM_OPTION_TEXT, offsetof(carom_lzb_options, stiffness), 0, 0, "", "equal",
     "stiffnesses of the contacts, with commas; their ratios matter alone", NULL},
    {"restitution", CAROM_OPTION_REAL, offsetof(carom_lzb_options, restitution), 0, 1, "", "scene",
     "coefficient of energetic restitution of all contacts, instead of the scene's", NULL},
    {"tolerance", CAROM_OPTION_REAL, offsetof(carom_lzb_options, tolerance), 1e-14, 1e-3, "", "1e-10",
     "of the integration, relative to the speed before the impact", NULL},
};

enum { OWN_COMPRESSIONS, OWN_COLUMNS };

static const carom_column outcome_columns[OWN_COLUMNS] = {
    [OWN_COMPRESSIONS] = {"compressions", CAROM_COLUMN_INTEGER, CAROM_WIDTH_CONTACTS, "", "phases of compression of each contact", NULL},
};

// What a contact does between two events, along its normal and along its tangent.
typedef enum normal_phase { PHASE_IDLE, PHASE_COMPRESSION, PHASE_RESTITUTION } normal_phase;

// One impact on its way. The unknowns are the impulses and the contact velocities, [n] each, contact-major, then the deformations,
// [contacts].
typedef struct springs {
    const carom_impact *impact;
    int contacts, stride, n;
    double *stiffness, *restitution;
    normal_phase *phase;    // [contacts]
    double *side;           // [contacts] direction of slip; 0 for those that stick
    int64_t *compressions;  // [contacts]
    double *weight;         // [contacts] k_i delta_i there
    carom_box *friction;    // of the contacts that stick
    int *sticking;          // [contacts]
    double *tolerance;      // [2 n + contacts] of the unknowns
    double deep, least;     // a deformation of the impact's scale, and its tolerance
    bool failed;            // the friction of contacts that stick was not found
    carom_ode ode;
} springs;

// ------------------------------------------------------------------------------------------------------------- the rates

// Does an unknown at its bound want more friction than that?
static bool needs_more(const carom_box *box, int a) { return box->place[a] != 0 && box->slope[a] != 0; }

// Friction of all contacts under the present weights, into the rates of the impulses, and the rates of the velocities. Those that stick
// minimise x'W_tt x/2 + b'x over |x_i| <= mu_i lambda_i, as in walks.
static void apply_friction(springs *s, double *rates) {
    const double *delassus = carom_impact_delassus(s->impact), *mu = carom_impact_get_data(s->impact)->friction;
    const size_t n = (size_t)s->n;
    carom_box *box = s->friction;
    box->size = 0;
    for (int i = 0; i < s->contacts; i++) {
        for (int k = 1; k < s->stride; k++) rates[s->stride * i + k] = 0;
        if (mu[i] == 0) continue;
        rates[s->stride * i + 1] = -s->side[i] * mu[i] * s->weight[i];
        const size_t row = (size_t)(s->stride * i + 1);
        // A tangent of zero slips nowhere.
        if (s->side[i] == 0 && s->weight[i] > 0 && delassus[row * n + row] > 0) s->sticking[box->size++] = (int)row;
    }
    for (int a = 0; a < box->size; a++) {
        const double *row = delassus + (size_t)s->sticking[a] * n;
        const int contact = s->sticking[a] / s->stride;
        box->b[a] = carom_dot(s->n, row, rates);
        box->bound[a] = mu[contact] * s->weight[contact];
        for (int k = 0; k < box->size; k++)
            box->A[a * box->size + k] = row[s->sticking[k]] + (a == k && box->size > 1 ? REGULARISATION * row[s->sticking[a]] : 0);
    }
    const bool sticks = box->size && carom_box_solve(box);
    s->failed = s->failed || (box->size && !sticks);
    for (int a = 0; a < box->size && sticks; a++) rates[s->sticking[a]] = box->x[a];
    for (int r = 0; r < s->n; r++) rates[s->n + r] = carom_dot(s->n, delassus + (size_t)r * n, rates);
    for (int a = 0; a < box->size && sticks; a++)
        if (!needs_more(box, a)) rates[s->n + s->sticking[a]] = 0;
}

// A carom_ode_rate.
static void find_rates(void *user, double tau, const double *y, double *rates) {
    (void)tau;
    springs *s = user;
    const double *u = y + s->n, *deformation = u + s->n;
    for (int i = 0; i < s->contacts; i++) {
        const double normal = u[s->stride * i], e = s->restitution[i];
        s->weight[i] = s->phase[i] == PHASE_IDLE ? 0 : s->stiffness[i] * fmax(deformation[i], 0);
        rates[s->stride * i] = s->weight[i];
        rates[2 * s->n + i] = s->phase[i] == PHASE_COMPRESSION ? -normal : s->phase[i] == PHASE_RESTITUTION ? -normal / (e * e) : 0;
    }
    apply_friction(s, rates);
}

// ------------------------------------------------------------------------------------------------------------ the events

// Has some contact left its phase or its slip? `y` is where rates were asked for last.
static bool is_event(const springs *s, const double *y, int contact) {
    const double *u = y + s->n + s->stride * contact, normal = u[0], deformation = y[2 * s->n + contact];
    if (s->phase[contact] == PHASE_COMPRESSION ? normal > 0 : normal < 0) return true;
    if (s->phase[contact] == PHASE_RESTITUTION && deformation <= 0) return true;
    return s->weight[contact] > 0 && s->side[contact] != 0 && s->side[contact] * u[1] < 0;
}

// Does a contact that sticks need more friction than it has?
static bool breaks_away(const springs *s, int contact) {
    for (int a = 0; a < s->friction->size; a++)
        if (s->sticking[a] / s->stride == contact) return needs_more(s->friction, a);
    return false;
}

static bool any_event(springs *s, const double *y, double *rates) {
    find_rates(s, 0, y, rates);
    for (int i = 0; i < s->contacts; i++)
        if (is_event(s, y, i) || breaks_away(s, i)) return true;
    return false;
}

// Lets a contact without slip stick or slide off, by its friction a moment later.
static void choose_slip(springs *s, double *y, double *rates, double ahead) {
    const double *mu = carom_impact_get_data(s->impact)->friction;
    find_rates(s, 0, y, rates);
    for (int i = 0; i < s->contacts; i++)
        s->weight[i] = s->phase[i] == PHASE_IDLE ? 0 : s->stiffness[i] * fmax(y[2 * s->n + i] + ahead * rates[2 * s->n + i], 0);
    for (int i = 0; i < s->contacts; i++) rates[s->stride * i] = s->weight[i];
    apply_friction(s, rates);
    for (int i = 0; i < s->contacts; i++) {
        // It slides against its friction.
        if (mu[i] > 0 && s->side[i] == 0 && breaks_away(s, i)) s->side[i] = rates[s->stride * i + 1] > 0 ? -1 : 1;
    }
}

// The next phase of every contact at an event.
static void change_phases(springs *s, double *y) {
    const double *mu = carom_impact_get_data(s->impact)->friction;
    for (int i = 0; i < s->contacts; i++) {
        double *u = y + s->n + s->stride * i, *deformation = y + 2 * s->n + i;
        const double normal = u[0];
        const normal_phase before = s->phase[i];
        if (normal < 0) s->phase[i] = PHASE_COMPRESSION;
        if (before == PHASE_COMPRESSION && normal > 0) s->phase[i] = PHASE_RESTITUTION;
        if (s->phase[i] == PHASE_RESTITUTION && (*deformation <= 0 || s->restitution[i] == 0)) s->phase[i] = PHASE_IDLE;
        if (s->phase[i] == PHASE_IDLE) *deformation = 0;
        if (s->phase[i] == PHASE_COMPRESSION && before != PHASE_COMPRESSION) s->compressions[i]++;
        if (mu[i] == 0) continue;
        // Slip that turns ends: the contact sticks, or slides off from rest. What happened while nothing pressed counts when it does again.
        if (before == PHASE_IDLE) s->side[i] = (u[1] > 0) - (u[1] < 0);
        if (before != PHASE_IDLE && s->side[i] * u[1] < 0) s->side[i] = 0;
        if (s->side[i] == 0 && before != PHASE_IDLE) u[1] = 0;
    }
}

// ------------------------------------------------------------------------------------------------------------ one impact

static bool all_idle(const springs *s) {
    for (int i = 0; i < s->contacts; i++)
        if (s->phase[i] != PHASE_IDLE) return false;
    return true;
}

// The shortest time in which a spring swings at the present rates, 1 / sqrt(k du_n/dp_n): contacts that stick are far softer than W_nn says
// where friction takes nearly all of their impulse.
static double swing(const springs *s, const double *rates) {
    double shortest = INFINITY;
    for (int i = 0; i < s->contacts; i++)
        if (s->weight[i] > 0) shortest = fmin(shortest, sqrt(s->weight[i] / (s->stiffness[i] * fabs(rates[s->n + s->stride * i]))));
    return shortest;
}

// From one event to the next, until every contact is idle.
static carom_verdict integrate(springs *s, const carom_control *control, int64_t *events) {
    carom_ode *ode = &s->ode;
    // Times scale with 1/sqrt(W k).
    double stiffest = 0;
    for (int i = 0; i < s->contacts; i++) {
        const size_t row = (size_t)(s->stride * i);
        stiffest = fmax(stiffest, s->stiffness[i] * carom_impact_delassus(s->impact)[row * (size_t)s->n + row]);
    }
    const double time = 1 / sqrt(stiffest), *mu = carom_impact_get_data(s->impact)->friction;
    for (int i = 0; i < s->contacts; i++) {
        const double *u = ode->y + s->n + s->stride * i;
        s->phase[i] = u[0] < 0 ? PHASE_COMPRESSION : PHASE_IDLE;
        s->compressions[i] = s->phase[i] == PHASE_COMPRESSION;
        s->side[i] = mu[i] > 0 ? (u[1] > 0) - (u[1] < 0) : 0;
    }
    int64_t steps = 0;
    ode->next = ode->length = time / 100;
    for (*events = 0; !all_idle(s); ++*events) {
        if (carom_control_cancelled(control)) return CAROM_INTERRUPTED;
        if (*events == MOST_EVENTS) return CAROM_BUDGET_SPENT;
        choose_slip(s, ode->y, ode->trial, AHEAD * time);
        ode->length = fmin(ode->next, time / 100);
        // Steps without an event.
        bool found = false;
        while (!found) {
            if (carom_control_cancelled(control)) return CAROM_INTERRUPTED;
            if (steps++ == MOST_STEPS) return CAROM_BUDGET_SPENT;
            for (int i = 0; i < s->contacts; i++) s->tolerance[2 * s->n + i] = s->least * fmax(1, ode->y[2 * s->n + i] / s->deep);
            if (!carom_ode_step(ode) || s->failed) return CAROM_UNVERIFIED;
            found = any_event(s, ode->end, ode->stage[1]);
            if (!found) carom_ode_advance(ode);
            ode->length = fmin(ode->length, fmax(time, swing(s, ode->stage[1])));
        }
        // The event, between the last share of the step without one and the first with one; the step then ends behind it.
        double low = 0, high = ode->length;
        const double next = ode->next;
        for (int k = 0; k < MOST_HALVINGS; k++) {
            const double middle = (low + high) / 2;
            carom_ode_shorten(ode, middle);
            *(any_event(s, ode->end, ode->stage[1]) ? &high : &low) = middle;
        }
        carom_ode_shorten(ode, high);
        find_rates(s, 0, ode->end, ode->stage[1]);
        for (int i = 0; i < s->contacts; i++)
            if (breaks_away(s, i)) s->side[i] = ode->stage[1][s->stride * i + 1] > 0 ? -1 : 1;
        change_phases(s, ode->end);
        carom_ode_advance(ode);
        ode->next = next;
    }
    return CAROM_COMPLETE;
}

// Reads "K1,K2,...", a positive number for each contact; all ones where there is no text.
static carom_status read_stiffness(const char *text, int contacts, double *stiffness, carom_error *error) {
    for (int i = 0; i < contacts; i++) stiffness[i] = 1;
    if (!text || !strcmp(text, "equal")) return CAROM_OK;
    int count = 0;
    while (*text) {
        const size_t length = strcspn(text, ",");
        char number[64] = "";
        if (length < sizeof number) memcpy(number, text, length);
        double value;
        if (!carom_parse_number(number, &value) || !(value > 0))
            return carom_fail(error, CAROM_BAD_INPUT, "stiffness: '%.60s' is not a number greater than 0", number);
        if (count < contacts) stiffness[count] = value;
        count++;
        text += length + (text[length] == ',');
    }
    if (count == contacts) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "stiffness: %d numbers for %d contacts", count, contacts);
}

static bool has_planar_friction(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    return data->tangent_dim == 1 || carom_max_abs((size_t)data->contacts, data->friction) == 0;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_lzb_options *options = call->options;
    const carom_impact *impact = call->impact;
    const carom_impact_data *data = carom_impact_get_data(impact);
    if (!has_planar_friction(impact))
        return carom_fail(error, CAROM_UNSUPPORTED, "lzb takes planar contacts, or contacts without friction");
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)data->contacts;
    carom_arena arena = {0};
    double *v = carom_arena_take(&arena, (size_t)data->nv, sizeof *v), *u = carom_arena_take(&arena, n, sizeof *u);
    springs s = {.impact = impact, .contacts = data->contacts, .stride = 1 + data->tangent_dim, .n = (int)n};
    s.tolerance = carom_arena_take(&arena, 2 * n + contacts, sizeof *s.tolerance);
    s.stiffness = carom_arena_take(&arena, contacts, sizeof *s.stiffness);
    s.restitution = carom_arena_take(&arena, contacts, sizeof *s.restitution);
    s.phase = carom_arena_take(&arena, contacts, sizeof *s.phase);
    s.side = carom_arena_take(&arena, contacts, sizeof *s.side);
    s.compressions = carom_arena_take(&arena, contacts, sizeof *s.compressions);
    s.weight = carom_arena_take(&arena, contacts, sizeof *s.weight);
    s.sticking = carom_arena_take(&arena, contacts, sizeof *s.sticking);
    carom_ode_create(&arena, (int)(2 * n + contacts), &s.ode);
    carom_status status = arena.failed ? carom_fail_memory(error, "lzb") : carom_box_create(data->contacts, &s.friction, error);
    if (!status) status = read_stiffness(options->stiffness, data->contacts, s.stiffness, error);

    carom_table *outcomes = NULL;
    if (!status) status = carom_outcomes_create(impact, outcome_columns, OWN_COLUMNS, &outcomes, error);
    if (!status) {
        for (size_t i = 0; i < contacts; i++) s.restitution[i] = isnan(options->restitution) ? data->restitution[i] : options->restitution;
        carom_impact_contact_velocity(impact, data->velocity, s.ode.y + n);
        // Deformations are velocities over the frequency sqrt(W k), or more; impulses follow from both.
        const double speed = carom_impact_velocity_scale(impact), W = carom_max_abs(n * n, carom_impact_delassus(impact));
        for (size_t i = 0; i < n; i++) s.tolerance[i] = INFINITY;
        for (size_t i = 0; i < n; i++) s.tolerance[n + i] = options->tolerance * speed;
        s.deep = speed / sqrt(W * carom_max_abs(contacts, s.stiffness));
        s.least = options->tolerance * s.deep;
        s.ode.rate = find_rates;
        s.ode.user = &s;
        s.ode.tolerance = s.tolerance;
        int64_t events;
        carom_verdict verdict = integrate(&s, call->control, &events);
        carom_impact_apply(impact, data->velocity, s.ode.y, v);
        // Round-off of the impulses, where terms of W p cancel, may be more than the tolerance.
        carom_impact_contact_velocity(impact, v, u);
        double apart = 0;
        for (size_t i = 0; i < n; i++) apart = fmax(apart, fabs(u[i] - s.ode.y[n + i]));
        if (verdict == CAROM_COMPLETE && !(apart <= MOST_APART * options->tolerance * speed)) verdict = CAROM_UNVERIFIED;
        status = carom_outcomes_add(outcomes, impact, v, s.ode.y, events, verdict == CAROM_UNVERIFIED ? CAROM_FLAG_UNSOLVED : 0, error);
        if (!status) memcpy(carom_table_integers(outcomes, CAROM_OUTCOME_COLUMNS), s.compressions, contacts * sizeof *s.compressions);
        if (!status) status = carom_law_emit(call, outcomes, error);
        if (!status) status = carom_law_set_verdict(call, verdict, error);
    }
    carom_table_free(outcomes);
    carom_box_free(s.friction);
    carom_arena_free(&arena);
    return status;
}

const carom_law carom_law_lzb = {
    .name = "lzb",
    .summary = "springs of given stiffness ratios at all contacts, one outcome",
    .source = "Liu, Zhao & Brogliato 2008",
    CAROM_OPTION_TABLE(carom_lzb_options, option_rows),
    .defaults = defaults,
    .applies = has_planar_friction,
    CAROM_COLUMN_TABLE(outcome, outcome_columns),
    .resolve = resolve,
};
