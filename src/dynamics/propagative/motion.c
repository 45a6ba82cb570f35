// SPDX-License-Identifier: Apache-2.0
// Impacts on the way of a step (Seghete & Murphey, section VI-B), with what the paper leaves open: contacts that have just been left,
// contacts that close and open within a step, accumulations of impacts, contacts that stay closed, and their release.
#include "dynamics/propagative/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/bracket.h"
#include "carom/dense.h"

// A contact that opens or closes slower than this share of |v| rests.
#define RESTING_RATE 1e-12
// Impulses of held contacts that differ by no more than this share of the largest one are equal: the solution of a flight is that good.
#define EQUAL_PULL 1e-9
// Width of a bracket of an impact time, relative to the time, that round-off leaves.
#define TIME_ROUND_OFF 4e-16
// Halvings of a step after which a contact that was just left has not opened; evaluations of a bracket.
enum { MOST_HALVINGS = 60, MOST_EVALUATIONS = 200 };
// Where the enumeration that tells whether an impact's outcome is unique ends: words of up to five equal balls fit in.
// ... and random orders where that is not enough.
enum { MOST_STATES = 1000, MOST_LETTERS = 10000, DRAWS = 100 };

// Rates of all gaps at (q, p), with those that are round-off set to zero.
static void find_rates(propagative_motion *motion, const double *q, const double *p, double *rate) {
    const int n = (int)motion->n;
    propagative_flight_velocity(motion->flight, q, p, motion->velocity);
    const carom_system_terms *terms = propagative_flight_look(motion->flight, q);
    const double speed = sqrt(carom_dot(n, motion->velocity, motion->velocity));
    for (size_t c = 0; c < motion->m; c++) {
        const double *row = terms->normal + c * motion->n;
        const double value = carom_dot(n, row, motion->velocity);
        rate[c] = fabs(value) <= RESTING_RATE * sqrt(carom_dot(n, row, row)) * speed ? 0 : value;
    }
}

// The flight from the present state over the time tau, into next_q and next_p.
static bool try_flight(propagative_motion *motion, double tau) {
    return propagative_flight_advance(motion->flight, motion->q, motion->p, tau, motion->held, motion->next_q, motion->next_p,
                                      motion->multiplier, motion->released, &motion->work);
}

// -------------------------------------------------------------------------------------------------------- impact times

// The function whose root in time is searched: the gap of a contact at the end of a trial, or minus its rate.
typedef enum watched { GAP, CLOSING_SPEED } watched;

static double watch(propagative_motion *motion, int contact, watched what, double tau) {
    if (!try_flight(motion, tau)) return NAN;
    if (what == GAP) return propagative_flight_look(motion->flight, motion->next_q)->gap[contact];
    find_rates(motion, motion->next_q, motion->next_p, motion->rate);
    return -motion->rate[contact];
}

// The root between `low`, where the value is not negative, and `high`, where it is. NaN when a trial does not converge.
static double find_root(propagative_motion *motion, int contact, watched what, double low, double at_low, double high, double at_high) {
    carom_bracket b = {.low = low, .high = high, .p = at_low, .q = at_high};
    for (int i = 0; i < MOST_EVALUATIONS && b.high - b.low > TIME_ROUND_OFF * b.high; i++) {
        double tau = carom_bracket_guess(&b);
        if (!(tau > b.low && tau < b.high)) tau = 0.5 * (b.low + b.high);
        const double at = watch(motion, contact, what, tau);
        if (isnan(at)) return NAN;
        if (at == 0) return tau;
        carom_bracket_update(&b, tau, at);
    }
    return b.high;
}

// When a contact that is closed at the end of the trial over `rest` closes. 0: now. A contact that is closed already and leaves must be
// followed off its own root first; one that never opens rests: `*rests`.
static double closing_time(propagative_motion *motion, int contact, double rest, double at_end, bool *rests) {
    const double at_start = propagative_flight_look(motion->flight, motion->q)->gap[contact];
    *rests = false;
    if (at_start > motion->rules.contact_tolerance) return find_root(motion, contact, GAP, 0, at_start, rest, at_end);
    find_rates(motion, motion->q, motion->p, motion->rate);
    if (motion->rate[contact] < 0) return 0;
    double low = rest, high = rest, at_high = at_end;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        low *= 0.5;
        const double at = watch(motion, contact, GAP, low);
        if (isnan(at)) return NAN;
        if (at > 0) return find_root(motion, contact, GAP, low, at, high, at_high);
        high = low;
        at_high = at;
    }
    *rests = true;
    return 0;
}

// The first time at which a free contact closes, in the trial over `rest`; `rest` when none does, NaN when a trial does not converge.
// Contacts that rest become held: then `*again`, because the trial changes.
static double first_closing(propagative_motion *motion, double rest, bool *again) {
    double tau = rest;
    *again = false;
    memcpy(motion->end_gap, propagative_flight_look(motion->flight, motion->next_q)->gap, motion->m * sizeof *motion->end_gap);
    find_rates(motion, motion->next_q, motion->next_p, motion->end_rate);
    find_rates(motion, motion->q, motion->p, motion->start_rate);
    for (size_t c = 0; c < motion->m; c++) {
        bool rests = false;
        double at = rest;
        if (motion->held[c]) continue;
        if (motion->end_gap[c] < -motion->rules.contact_tolerance) {
            at = closing_time(motion, (int)c, rest, motion->end_gap[c], &rests);
        } else if (motion->start_rate[c] < 0 && motion->end_rate[c] > 0) {
            // Open at both ends, but closing at the start and opening at the end: it may have been closed between. Bodies that pass
            // through each other in one step are found in this way.
            const double lowest = find_root(motion, (int)c, CLOSING_SPEED, 0, -motion->start_rate[c], rest, -motion->end_rate[c]);
            const double gap = isnan(lowest) ? NAN : watch(motion, (int)c, GAP, lowest);
            if (isnan(gap)) return NAN;
            bool unused;
            if (gap < -motion->rules.contact_tolerance) at = closing_time(motion, (int)c, lowest, gap, &unused);
        }
        if (isnan(at)) return NAN;
        if (rests) motion->held[c] = true;
        *again = *again || rests;
        if (!rests && at < tau) tau = at;
    }
    return tau;
}

// -------------------------------------------------------------------------------------------------------------- impacts

// The word that an elastic impact takes; its impulses, blended where R < 1, go into the motion's `impulse`.
typedef struct word_copy {
    propagative_motion *motion;
    const carom_propagative *propagative;
    int *word;  // by contacts of the system
    int64_t length;
} word_copy;

static carom_status keep_word(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    word_copy *copy = user;
    propagative_motion *motion = copy->motion;
    const int contacts = carom_impact_get_data(carom_propagative_impact(copy->propagative))->contacts;
    if (motion->rules.restitution < 1)
        carom_propagative_blend(copy->propagative, motion->rules.restitution, motion->plastic, outcome->impulse, motion->impulse);
    else
        memcpy(motion->impulse, outcome->impulse, (size_t)contacts * sizeof *motion->impulse);
    copy->length = outcome->min_length;
    copy->word = malloc((size_t)(copy->length + 1) * sizeof *copy->word);
    if (!copy->word) return carom_fail_memory(error, "impact");
    for (int64_t k = 0; k < copy->length; k++) copy->word[k] = motion->active[outcome->witness[k]];
    return CAROM_OK;
}

// Tells the visitor what happened, and whether the outcome is the same for all orders. Impacts of one contact are unique.
static carom_status report(propagative_motion *motion, const carom_propagative *p, propagative_event *event, carom_error *error) {
    event->uniqueness = CAROM_UNIQUE_ALWAYS;
    if (event->count > 1) {
        const carom_word_limits few = {.max_states = MOST_STATES, .max_length = MOST_LETTERS, .draws = DRAWS, .seed = motion->rules.seed};
        carom_uniqueness *uniqueness;
        const carom_status status = carom_propagative_uniqueness(p, &few, motion->control, &uniqueness, error);
        if (status) return status;
        event->uniqueness = uniqueness->verdict;
        event->xi = uniqueness->difference;
        carom_uniqueness_free(uniqueness);
    }
    return motion->visit(motion->user, event, error);
}

// Takes the active contacts through their impact.
static carom_status resolve(propagative_motion *motion, const carom_propagative *p, int count, carom_error *error) {
    const propagative_rules *rules = &motion->rules;
    bool accumulates = false;
    for (int i = 0; i < count; i++) accumulates = accumulates || motion->impacts[motion->active[i]] > rules->zeno_limit;
    const propagative_kind kind = rules->restitution == 0          ? PROPAGATIVE_PLASTIC
                                  : accumulates                    ? PROPAGATIVE_ACCUMULATION
                                  : carom_propagative_is_jammed(p) ? PROPAGATIVE_JAMMED
                                  : rules->restitution < 1         ? PROPAGATIVE_INELASTIC
                                                                   : PROPAGATIVE_ELASTIC;
    // Kinds from here on close the contacts, by the plastic impulses.
    const bool closes = kind >= PROPAGATIVE_PLASTIC;
    const double energy = propagative_flight_kinetic_energy(motion->flight, motion->q, motion->p);
    // The plastic impulses, which inelastic impacts blend with those of a word.
    word_copy word = {.motion = motion, .propagative = p};
    bool adhesive;
    carom_status status = carom_propagative_plastic(p, rules->plastic, motion->plastic, &adhesive, error);
    // One word, by the rule of the order.
    if (!status && !closes) {
        const carom_word_limits limits = carom_word_limits_defaults();
        const carom_word_order order = {.kind = rules->order, .seed = rules->seed, .index = motion->events};
        status = carom_propagative_follow(p, &order, &limits, motion->control, keep_word, &word, &motion->verdict, error);
    }
    if (!status && motion->verdict == CAROM_COMPLETE) {
        const double *impulse = closes ? motion->plastic : motion->impulse;
        for (int i = 0; i < count; i++)
            for (size_t k = 0; k < motion->n; k++) motion->p[k] += impulse[i] * motion->rows[(size_t)i * motion->n + k];
        // A plastic impact holds all its contacts, and the flight that follows releases those that leave: contacts that open each other in
        // turn would come back ever sooner. Other impacts release the held contacts that they open.
        find_rates(motion, motion->q, motion->p, motion->rate);
        for (int i = 0; i < count; i++) {
            const int contact = motion->active[i];
            motion->held[contact] = closes || (motion->held[contact] && !(motion->rate[contact] > 0));
        }
        propagative_flight_velocity(motion->flight, motion->q, motion->p, motion->velocity);
        const double after = propagative_flight_kinetic_energy(motion->flight, motion->q, motion->p);
        // An elastic impact loses no energy: what it changes is round-off, and counts as error.
        if (kind != PROPAGATIVE_ELASTIC) motion->loss += energy - after;
        propagative_event event = {.time = motion->time,
                                   .kind = kind,
                                   .contacts = motion->active,
                                   .count = count,
                                   .word = word.word,
                                   .length = word.length,
                                   .impulse = impulse,
                                   .q = motion->q,
                                   .v_before = motion->before,
                                   .v_after = motion->velocity,
                                   .energy_ratio = energy > 0 ? after / energy : 1};
        if (motion->visit) status = report(motion, p, &event, error);
    }
    motion->events++;
    free(word.word);
    return status;
}

// The impact of all contacts that are closed here, if one of them approaches.
static carom_status strike(propagative_motion *motion, carom_error *error) {
    // Held contacts, and those whose gaps are within the tolerance, with their normals.
    int count = 0;
    bool approaching = false;
    find_rates(motion, motion->q, motion->p, motion->rate);
    const carom_system_terms *terms = propagative_flight_look(motion->flight, motion->q);
    for (size_t c = 0; c < motion->m; c++) {
        if (!motion->held[c] && terms->gap[c] > motion->rules.contact_tolerance) continue;
        memcpy(motion->rows + (size_t)count * motion->n, terms->normal + c * motion->n, motion->n * sizeof *motion->rows);
        motion->active[count++] = (int)c;
        if (motion->rate[c] >= 0) continue;
        approaching = true;
        motion->impacts[c]++;
    }
    if (!approaching) return CAROM_OK;
    // The frozen problem of these contacts, without friction: its words act on momenta.
    propagative_flight_velocity(motion->flight, motion->q, motion->p, motion->before);
    carom_impact *impact = NULL;
    carom_propagative *p = NULL;
    const carom_impact_data data = {.nv = (int)motion->n,
                                    .contacts = count,
                                    .tangent_dim = 1,
                                    .mass = propagative_flight_look(motion->flight, motion->q)->mass,
                                    .normal = motion->rows,
                                    .velocity = motion->before};
    carom_status status = carom_impact_create(&data, &impact, error);
    if (!status) status = carom_propagative_create(impact, &p, error);
    if (!status) status = resolve(motion, p, count, error);
    carom_propagative_free(p);
    carom_impact_free(impact);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- steps

carom_status propagative_motion_step(propagative_motion *motion, double end, const carom_control *control, propagative_visit visit,
                                     void *user, carom_verdict *verdict, carom_error *error) {
    const double start = motion->time, loss = motion->loss;
    motion->control = control;
    motion->visit = visit;
    motion->user = user;
    motion->verdict = CAROM_COMPLETE;
    memcpy(motion->saved_q, motion->q, motion->n * sizeof *motion->q);
    memcpy(motion->saved_p, motion->p, motion->n * sizeof *motion->p);
    memcpy(motion->saved_held, motion->held, motion->m * sizeof *motion->held);
    memset(motion->impacts, 0, motion->m * sizeof *motion->impacts);
    double rest = end - start;
    carom_status status = CAROM_OK;
    // From one impact to the next.
    for (int64_t parts = 0; !status && motion->verdict == CAROM_COMPLETE && rest > 0; parts++) {
        if (carom_control_cancelled(control))
            motion->verdict = CAROM_INTERRUPTED;
        else if (parts > motion->rules.max_impacts)
            motion->verdict = CAROM_ZENO_LIMIT;
        if (motion->verdict != CAROM_COMPLETE) break;
        bool again = false;
        double tau = NAN;
        if (try_flight(motion, rest)) {
            // The held contact that pulls most at the end is freed, and the trial repeated without it. The first of those that pull alike.
            for (size_t c = 0; c < motion->m; c++)
                motion->rate[c] = motion->held[c] && motion->multiplier[c] < 0 ? motion->multiplier[c] : INFINITY;
            const int worst = carom_first_least((int)motion->m, motion->rate, EQUAL_PULL * carom_max_abs(motion->m, motion->multiplier));
            if (worst >= 0) {
                motion->held[worst] = false;
                continue;
            }
            tau = first_closing(motion, rest, &again);
        }
        // A contact that came to rest is held now: the trial changes.
        if (!isnan(tau) && again) continue;
        if (isnan(tau) || !try_flight(motion, tau)) {
            motion->verdict = CAROM_NO_CONVERGENCE;
            break;
        }
        // Takes the motion to that time, and through the impact there. Contacts that opened are free from then on.
        for (size_t c = 0; c < motion->m; c++) motion->held[c] = motion->held[c] && !motion->released[c];
        memcpy(motion->q, motion->next_q, motion->n * sizeof *motion->q);
        memcpy(motion->p, motion->next_p, motion->n * sizeof *motion->p);
        motion->time += tau;
        motion->loss -= motion->work;
        rest -= tau;
        if (rest > 0) status = strike(motion, error);
    }
    *verdict = motion->verdict;
    if (!status && motion->verdict == CAROM_COMPLETE) {
        motion->time = end;
        return CAROM_OK;
    }
    // A step that failed restores the state before it.
    motion->time = start;
    motion->loss = loss;
    memcpy(motion->q, motion->saved_q, motion->n * sizeof *motion->q);
    memcpy(motion->p, motion->saved_p, motion->n * sizeof *motion->p);
    memcpy(motion->held, motion->saved_held, motion->m * sizeof *motion->held);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- its life

carom_status propagative_motion_create(const carom_system *system, const propagative_rules *rules, const double *q, const double *v,
                                       propagative_motion **created, carom_error *error) {
    *created = NULL;
    propagative_motion *motion = calloc(1, sizeof *motion);
    if (!motion) return carom_fail_memory(error, "motion");
    const size_t n = (size_t)system->nv, m = (size_t)system->contacts;
    *motion = (propagative_motion){.rules = *rules, .n = n, .m = m};
    double **const of_n[] = {&motion->q,       &motion->p,       &motion->next_q,   &motion->next_p,
                             &motion->saved_q, &motion->saved_p, &motion->velocity, &motion->before};
    double **const of_m[] = {&motion->multiplier, &motion->plastic, &motion->impulse, &motion->rate,
                             &motion->start_rate, &motion->end_gap, &motion->end_rate};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++) *of_n[i] = carom_arena_take(&motion->arena, n, sizeof(double));
    for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) *of_m[i] = carom_arena_take(&motion->arena, m, sizeof(double));
    motion->rows = carom_arena_take(&motion->arena, m * n, sizeof *motion->rows);
    motion->active = carom_arena_take(&motion->arena, m, sizeof *motion->active);
    motion->impacts = carom_arena_take(&motion->arena, m, sizeof *motion->impacts);
    motion->held = carom_arena_take(&motion->arena, m, sizeof *motion->held);
    motion->released = carom_arena_take(&motion->arena, m, sizeof *motion->released);
    motion->saved_held = carom_arena_take(&motion->arena, m, sizeof *motion->saved_held);
    carom_status status =
        motion->arena.failed ? carom_fail_memory(error, "motion") : propagative_flight_create(system, &motion->flight, error);
    if (!status && (!carom_all_finite(n, q) || !carom_all_finite(n, v)))
        status = carom_fail(error, CAROM_BAD_INPUT, "state: it is not finite");
    if (!status) {
        memcpy(motion->q, q, n * sizeof *q);
        const carom_system_terms *terms = propagative_flight_look(motion->flight, q);
        carom_multiply((int)n, (int)n, terms->mass, v, motion->p);
        for (size_t c = 0; c < m && !status; c++)
            if (terms->gap[c] < -rules->contact_tolerance)
                status =
                    carom_fail(error, CAROM_BAD_INPUT, "contacts: number %d penetrates by %.9g m at the start", (int)c + 1, -terms->gap[c]);
    }
    if (!status && !propagative_flight_velocity(motion->flight, q, motion->p, motion->velocity))
        status = carom_fail(error, CAROM_BAD_INPUT, "the mass matrix of the start is not positive definite");
    if (status)
        propagative_motion_free(motion);
    else
        *created = motion;
    return status;
}

void propagative_motion_free(propagative_motion *motion) {
    if (!motion) return;
    propagative_flight_free(motion->flight);
    carom_arena_free(&motion->arena);
    free(motion);
}

double propagative_motion_energy(propagative_motion *motion, double *potential) {
    *potential = propagative_flight_look(motion->flight, motion->q)->potential;
    return propagative_flight_kinetic_energy(motion->flight, motion->q, motion->p);
}
