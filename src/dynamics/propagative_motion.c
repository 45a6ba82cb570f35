// SPDX-License-Identifier: Apache-2.0
// Impacts on the way of a step (Seghete & Murphey, section VI-B), with what the paper leaves open: contacts that have just been left,
// accumulations of impacts, contacts that stay closed, and their release.
#include "dynamics/propagative_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "dynamics/propagative_flight.h"

// A contact that opens or closes slower than this share of |v| rests.
#define RESTING_RATE 1e-12
// Halvings of a step after which a contact that was just left has not opened.
enum { MOST_HALVINGS = 60, MOST_EVENTS = 1000, MOST_BISECTIONS = 200 };

struct carom_motion {
    const carom_motion_system *system;
    carom_motion_options options;
    propagative_flight *flight;
    size_t n, m;
    double time;
    int64_t events;
    double *q, *p;              // [n]
    double *next_q, *next_p;    // [n], end of a trial
    double *saved_q, *saved_p;  // [n], before the step
    double *multiplier;         // [m]
    double *gradient;           // [n]
    double *rows;               // [m x n], normals of an impact
    double *velocity;           // [n]
    double *plastic, *impulse;  // [m]
    double *end_gap;            // [m], at the end of a trial
    int *active, *impacts;      // [m]
    bool *held, *saved_held;    // [m]
};

carom_motion_options carom_motion_defaults(void) {
    return (carom_motion_options){.contact_tolerance = 1e-10, .restitution = 1, .order = CAROM_ORDER_ARGMIN, .zeno_limit = 2};
}

// ---------------------------------------------------------------------------------------------------------------- gaps

static double gap_at(carom_motion *o, int contact, const double *q) { return o->system->gap(o->system->user, contact, q, o->gradient); }

// <p, grad phi> at (q, p): the rate of the gap; `*resting` when it is round-off.
static double rate_at(carom_motion *o, int contact, const double *q, const double *p, bool *resting) {
    gap_at(o, contact, q);
    memcpy(o->velocity, p, o->n * sizeof *p);
    propagative_flight_solve_mass(o->flight, o->velocity);
    const double rate = carom_dot((int)o->n, o->gradient, o->velocity);
    const double scale = sqrt(carom_dot((int)o->n, o->gradient, o->gradient) * carom_dot((int)o->n, o->velocity, o->velocity));
    *resting = fabs(rate) <= RESTING_RATE * scale;
    return rate;
}

// The trial's end after the time tau; NaN when it does not converge.
static double trial_gap(carom_motion *o, int contact, double tau) {
    if (!propagative_flight_advance(o->flight, o->q, o->p, tau, o->held, o->next_q, o->next_p, o->multiplier)) return NAN;
    return gap_at(o, contact, o->next_q);
}

// The root of the gap between `low`, where it is open, and `high`, where it is not: regula falsi (Illinois), bisection where that is slow.
static double find_root(carom_motion *o, int contact, double low, double at_low, double high, double at_high) {
    for (int i = 0; i < MOST_BISECTIONS && high - low > 4e-16 * high; i++) {
        double tau = (low * at_high - high * at_low) / (at_high - at_low);
        if (i % 3 == 2 || !(tau > low && tau < high)) tau = 0.5 * (low + high);
        const double at = trial_gap(o, contact, tau);
        if (isnan(at)) return NAN;
        if (at == 0) return tau;
        if (at > 0) {
            low = tau;
            at_low = at;
            at_high *= 0.5;
        } else {
            high = tau;
            at_high = at;
            at_low *= 0.5;
        }
    }
    return high;
}

// When a contact that is closed at the end of the trial over `rest` closes. 0: now. A contact that is closed already and leaves must be
// followed off its own root first; one that never opens rests: `*rests`.
static double closing_time(carom_motion *o, int contact, double rest, double at_end, bool *rests) {
    const double at_start = gap_at(o, contact, o->q);
    *rests = false;
    if (at_start > o->options.contact_tolerance) return find_root(o, contact, 0, at_start, rest, at_end);
    bool resting;
    const double rate = rate_at(o, contact, o->q, o->p, &resting);
    if (rate < 0 && !resting) return 0;
    double low = rest, high = rest, at_high = at_end;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        low *= 0.5;
        const double at = trial_gap(o, contact, low);
        if (at > 0) return find_root(o, contact, low, at, high, at_high);
        high = low;
        at_high = at;
    }
    *rests = true;
    return 0;
}

// -------------------------------------------------------------------------------------------------------------- impacts

// What an elastic word leaves: itself, and its impulses, blended where R < 1, in the motion's `impulse`.
typedef struct word_copy {
    carom_motion *motion;
    const carom_propagative *propagative;
    int *word;
    int64_t length;
} word_copy;

static carom_status keep_word(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    word_copy *copy = user;
    carom_motion *o = copy->motion;
    const double R = o->options.restitution;
    const int contacts = carom_impact_get_data(carom_propagative_impact(copy->propagative))->contacts;
    if (R < 1)
        carom_propagative_blend(copy->propagative, R, o->plastic, outcome->impulse, o->impulse);
    else
        memcpy(o->impulse, outcome->impulse, (size_t)contacts * sizeof *o->impulse);
    copy->length = outcome->min_length;
    copy->word = malloc((size_t)(copy->length + 1) * sizeof *copy->word);
    if (!copy->word) return carom_fail_memory(error, "impact");
    for (int64_t k = 0; k < copy->length; k++) copy->word[k] = o->active[outcome->witness[k]];
    return CAROM_OK;
}

// Contacts that are closed here, with their normals; `*approaching` when one of them approaches.
static int find_active(carom_motion *o, bool *approaching) {
    int count = 0;
    *approaching = false;
    for (int c = 0; c < (int)o->m; c++) {
        bool resting;
        if (!o->held[c] && gap_at(o, c, o->q) > o->options.contact_tolerance) continue;
        const double rate = rate_at(o, c, o->q, o->p, &resting);
        memcpy(o->rows + (size_t)count * o->n, o->gradient, o->n * sizeof *o->rows);
        o->active[count++] = c;
        if (rate >= 0 || resting) continue;
        *approaching = true;
        o->impacts[c]++;
    }
    return count;
}

// R = 0, or a contact whose impacts accumulate.
static bool must_close(const carom_motion *o, int count) {
    for (int i = 0; i < count; i++)
        if (o->impacts[o->active[i]] > o->options.zeno_limit) return true;
    return o->options.restitution == 0;
}

// Held: what the plastic impact pushed on. Released: held contacts that the impact opened.
static void update_held(carom_motion *o, int count, bool plastic) {
    for (int i = 0; i < count; i++) {
        bool resting;
        const double rate = rate_at(o, o->active[i], o->q, o->p, &resting);
        if (plastic && o->plastic[i] > 0) o->held[o->active[i]] = true;
        if (rate > 0 && !resting && !(plastic && o->plastic[i] > 0)) o->held[o->active[i]] = false;
    }
}

// The impact's impulses into `plastic`, and into `impulse` unless `*plastic` says that it closes contacts.
static carom_status choose_outcome(carom_motion *o, const carom_propagative *p, bool *plastic, word_copy *word, carom_error *error) {
    bool adhesive;
    const carom_word_limits limits = carom_word_limits_defaults();
    const carom_word_order order = {.kind = o->options.order, .seed = o->options.seed, .index = (uint64_t)o->events};
    *plastic = *plastic || carom_propagative_is_jammed(p);
    carom_status status = carom_propagative_plastic(p, o->options.plastic, o->plastic, &adhesive, error);
    if (status || *plastic) return status;
    carom_verdict verdict;
    status = carom_propagative_follow(p, &order, &limits, NULL, keep_word, word, &verdict, error);
    if (!status && verdict != CAROM_COMPLETE)
        status = carom_fail(error, CAROM_INTERNAL, "the impact at %.9g s has a word of more than %lld letters", o->time,
                            (long long)limits.max_length);
    return status;
}

static double kinetic_energy(carom_motion *o, const double *p) {
    memcpy(o->velocity, p, o->n * sizeof *p);
    propagative_flight_solve_mass(o->flight, o->velocity);
    return 0.5 * carom_dot((int)o->n, p, o->velocity);
}

static carom_status resolve(carom_motion *o, const carom_propagative *p, int count, carom_motion_visit visit, void *user,
                            carom_error *error) {
    bool plastic = must_close(o, count);
    const double before = kinetic_energy(o, o->p);
    word_copy word = {.motion = o, .propagative = p};
    carom_status status = choose_outcome(o, p, &plastic, &word, error);
    if (!status) {
        const double *impulse = plastic ? o->plastic : o->impulse;
        for (int i = 0; i < count; i++)
            for (size_t k = 0; k < o->n; k++) o->p[k] += impulse[i] * o->rows[(size_t)i * o->n + k];
        update_held(o, count, plastic);
        const carom_motion_event event = {o->time, plastic, word.word, word.length, before > 0 ? kinetic_energy(o, o->p) / before : 1};
        if (visit) status = visit(user, &event, error);
    }
    o->events++;
    free(word.word);
    return status;
}

// The impact of the active contacts.
static carom_status strike(carom_motion *o, int count, carom_motion_visit visit, void *user, carom_error *error) {
    memcpy(o->velocity, o->p, o->n * sizeof *o->p);
    propagative_flight_solve_mass(o->flight, o->velocity);
    carom_impact *impact = NULL;
    carom_propagative *p = NULL;
    carom_status status = carom_impact_create(
        &(carom_impact_data){
            .nv = (int)o->n, .contacts = count, .tangent_dim = 1, .mass = o->system->mass, .normal = o->rows, .velocity = o->velocity},
        &impact, error);
    if (!status) status = carom_propagative_create(impact, &p, error);
    if (!status) status = resolve(o, p, count, visit, user, error);
    carom_propagative_free(p);
    carom_impact_free(impact);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- steps

static carom_status fail_step(const carom_motion *o, carom_error *error) {
    return carom_fail(error, CAROM_INTERNAL, "the implicit step at %.9g s does not converge: take a smaller one", o->time);
}

// Frees the held contact that pulls most at the end of the trial, if there is one.
static bool release_pulling(carom_motion *o) {
    int worst = -1;
    for (int c = 0; c < (int)o->m; c++)
        if (o->held[c] && o->multiplier[c] < 0 && (worst < 0 || o->multiplier[c] < o->multiplier[worst])) worst = c;
    if (worst >= 0) o->held[worst] = false;
    return worst >= 0;
}

// The first time at which a free contact closes, in the trial over `rest`; `rest` when none does. Contacts that rest become held: then
// `*again`, because the trial changes.
static carom_status first_closing(carom_motion *o, double rest, double *tau, bool *again, carom_error *error) {
    *tau = rest;
    *again = false;
    for (size_t c = 0; c < o->m; c++) o->end_gap[c] = o->held[c] ? 0 : gap_at(o, (int)c, o->next_q);
    for (size_t c = 0; c < o->m; c++) {
        if (!(o->end_gap[c] < -o->options.contact_tolerance)) continue;
        bool rests;
        const double closes = closing_time(o, (int)c, rest, o->end_gap[c], &rests);
        if (isnan(closes)) return fail_step(o, error);
        if (rests) o->held[c] = true;
        *again = *again || rests;
        if (!rests && closes < *tau) *tau = closes;
    }
    return CAROM_OK;
}

// Moves on to the end of a trial over `tau`.
static carom_status move_on(carom_motion *o, double tau, carom_error *error) {
    if (!propagative_flight_advance(o->flight, o->q, o->p, tau, o->held, o->next_q, o->next_p, o->multiplier)) return fail_step(o, error);
    memcpy(o->q, o->next_q, o->n * sizeof *o->q);
    memcpy(o->p, o->next_p, o->n * sizeof *o->p);
    o->time += tau;
    return CAROM_OK;
}

// From one impact to the next. `*rest` is what remains of the step.
static carom_status advance(carom_motion *o, double *rest, carom_motion_visit visit, void *user, carom_error *error) {
    if (!propagative_flight_advance(o->flight, o->q, o->p, *rest, o->held, o->next_q, o->next_p, o->multiplier)) return fail_step(o, error);
    if (release_pulling(o)) return CAROM_OK;
    double tau;
    bool again, approaching = false;
    carom_status status = first_closing(o, *rest, &tau, &again, error);
    if (status || again) return status;
    const bool whole = tau == *rest;
    status = move_on(o, tau, error);
    *rest -= tau;
    if (status || whole) return status;
    const int count = find_active(o, &approaching);
    return approaching ? strike(o, count, visit, user, error) : CAROM_OK;
}

carom_status carom_motion_step(carom_motion *o, double step, carom_motion_visit visit, void *user, carom_error *error) {
    if (!(step > 0) || !isfinite(step)) return carom_fail(error, CAROM_BAD_INPUT, "step: %g is not greater than 0", step);
    const double start = o->time;
    memcpy(o->saved_q, o->q, o->n * sizeof *o->q);
    memcpy(o->saved_p, o->p, o->n * sizeof *o->p);
    memcpy(o->saved_held, o->held, o->m * sizeof *o->held);
    memset(o->impacts, 0, o->m * sizeof *o->impacts);
    double rest = step;
    carom_status status = CAROM_OK;
    for (int events = 0; !status && rest > 0; events++) {
        if (events == MOST_EVENTS)
            status = carom_fail(error, CAROM_INTERNAL, "more than %d events in the step at %.9g s", MOST_EVENTS, start);
        else
            status = advance(o, &rest, visit, user, error);
    }
    o->time = status ? start : start + step;
    if (!status) return CAROM_OK;
    memcpy(o->q, o->saved_q, o->n * sizeof *o->q);
    memcpy(o->p, o->saved_p, o->n * sizeof *o->p);
    memcpy(o->held, o->saved_held, o->m * sizeof *o->held);
    return status;
}

// ------------------------------------------------------------------------------------------------------ life and getters

static carom_status check(const carom_motion_system *system, const carom_motion_options *options, const double *q, const double *v,
                          carom_error *error) {
    if (system->coordinates < 1 || system->coordinates > CAROM_MAX_VELOCITIES || system->contacts < 0 ||
        system->contacts > CAROM_MAX_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT, "%d coordinates and %d contacts are out of range", system->coordinates, system->contacts);
    const size_t n = (size_t)system->coordinates;
    if (!carom_all_finite(n * n, system->mass)) return carom_fail(error, CAROM_BAD_INPUT, "mass: an entry is not a finite number");
    if (!carom_all_finite(n, q) || !carom_all_finite(n, v)) return carom_fail(error, CAROM_BAD_INPUT, "the state is not finite");
    if (!(options->restitution >= 0 && options->restitution <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "restitution: %g is not between 0 and 1", options->restitution);
    if (!(options->contact_tolerance > 0))
        return carom_fail(error, CAROM_BAD_INPUT, "contact_tolerance: %g is not greater than 0", options->contact_tolerance);
    if (options->order == CAROM_ORDER_GIVEN) return carom_fail(error, CAROM_BAD_INPUT, "order: a motion has argmin, argmax or random");
    return CAROM_OK;
}

static carom_status allocate(carom_motion *o, carom_error *error) {
    const size_t n = o->n, m = o->m;
    o->q = calloc(8 * n + 4 * m + m * n, sizeof *o->q);
    o->active = calloc(2 * m + 1, sizeof *o->active);
    o->held = calloc(2 * m + 1, sizeof *o->held);
    if (!o->q || !o->active || !o->held) return carom_fail_memory(error, "motion");
    o->p = o->q + n;
    o->next_q = o->p + n;
    o->next_p = o->next_q + n;
    o->saved_q = o->next_p + n;
    o->saved_p = o->saved_q + n;
    o->gradient = o->saved_p + n;
    o->velocity = o->gradient + n;
    o->multiplier = o->velocity + n;
    o->plastic = o->multiplier + m;
    o->impulse = o->plastic + m;
    o->end_gap = o->impulse + m;
    o->rows = o->end_gap + m;
    o->impacts = o->active + m;
    o->saved_held = o->held + m;
    return propagative_flight_create(o->system, &o->flight, error);
}

carom_status carom_motion_create(const carom_motion_system *system, const carom_motion_options *options, const double *q, const double *v,
                                 carom_motion **motion, carom_error *error) {
    *motion = NULL;
    carom_status status = check(system, options, q, v, error);
    if (status) return status;
    carom_motion *o = calloc(1, sizeof *o);
    if (!o) return carom_fail_memory(error, "motion");
    *o = (carom_motion){.system = system, .options = *options, .n = (size_t)system->coordinates, .m = (size_t)system->contacts};
    status = allocate(o, error);
    if (!status) {
        memcpy(o->q, q, o->n * sizeof *q);
        carom_multiply((int)o->n, (int)o->n, system->mass, v, o->p);
    }
    for (int c = 0; !status && c < system->contacts; c++)
        if (gap_at(o, c, q) < -options->contact_tolerance)
            status = carom_fail(error, CAROM_BAD_INPUT, "contact %d penetrates by %g m at the start", c, -gap_at(o, c, q));
    if (status)
        carom_motion_free(o);
    else
        *motion = o;
    return status;
}

void carom_motion_free(carom_motion *o) {
    if (!o) return;
    propagative_flight_free(o->flight);
    free(o->q);
    free(o->active);
    free(o->held);
    free(o);
}

double carom_motion_time(const carom_motion *o) { return o->time; }
const double *carom_motion_position(const carom_motion *o) { return o->q; }
const double *carom_motion_momentum(const carom_motion *o) { return o->p; }
bool carom_motion_is_held(const carom_motion *o, int contact) { return o->held[contact]; }

double carom_motion_energy(carom_motion *o) {
    const double kinetic = kinetic_energy(o, o->p);
    return o->system->potential ? kinetic + o->system->potential(o->system->user, o->q, o->gradient) : kinetic;
}
