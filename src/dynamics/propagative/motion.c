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
// Width of a bracket of an impact time, relative to the time, that round-off leaves.
#define TIME_ROUND_OFF 4e-16
// Halvings of a step after which a contact that was just left has not opened; evaluations of a bracket.
enum { MOST_HALVINGS = 60, MOST_EVALUATIONS = 200 };
// Where the enumeration that tells whether an impact's outcome is unique ends: words of up to five equal balls fit in.
enum { MOST_STATES = 1000, MOST_LETTERS = 10000 };

struct propagative_motion {
    const carom_system *system;
    propagative_rules rules;
    propagative_flight *flight;
    size_t n, m;
    double time;
    uint64_t events;
    double loss, work;           // energy that was taken; that the dampers take in a trial
    double *q, *p;               // [n]
    double *next_q, *next_p;     // [n], end of a trial
    double *saved_q, *saved_p;   // [n], before the step
    double *velocity, *before;   // [n]
    double *multiplier;          // [m]
    double *rows;                // [m x n], normals of an impact
    double *plastic, *impulse;   // [m]
    double *rate;                // [m]
    double *start_rate;          // [m], at the start of a trial
    double *end_gap, *end_rate;  // [m], at its end
    int *active;                 // [m]
    int64_t *impacts;            // [m], in this step
    bool *held, *saved_held;     // [m]
    // Of the step that runs.
    const carom_control *control;
    propagative_visit visit;
    void *user;
    carom_verdict verdict;
};

// ---------------------------------------------------------------------------------------------------------------- gaps

static double gap_at(propagative_motion *o, int contact, const double *q) { return propagative_flight_look(o->flight, q)->gap[contact]; }

// Rates of all gaps at (q, p), with those that are round-off set to zero.
static void find_rates(propagative_motion *o, const double *q, const double *p, double *rate) {
    const int n = (int)o->n;
    propagative_flight_velocity(o->flight, q, p, o->velocity);
    const carom_system_terms *terms = propagative_flight_look(o->flight, q);
    const double speed = sqrt(carom_dot(n, o->velocity, o->velocity));
    for (size_t c = 0; c < o->m; c++) {
        const double *row = terms->normal + c * o->n;
        const double value = carom_dot(n, row, o->velocity);
        rate[c] = fabs(value) <= RESTING_RATE * sqrt(carom_dot(n, row, row)) * speed ? 0 : value;
    }
}

// The trial over the time tau.
static bool try(propagative_motion *o, double tau) {
    return propagative_flight_advance(o->flight, o->q, o->p, tau, o->held, o->next_q, o->next_p, o->multiplier, &o->work);
}

// What a search in time looks at at the end of a trial: the gap of a contact, or minus its rate.
typedef enum watched { GAP, CLOSING_SPEED } watched;

static double watch(propagative_motion *o, int contact, watched what, double tau) {
    if (!try(o, tau)) return NAN;
    if (what == GAP) return gap_at(o, contact, o->next_q);
    find_rates(o, o->next_q, o->next_p, o->rate);
    return -o->rate[contact];
}

// The root between `low`, where the value is not negative, and `high`, where it is. NaN when a trial does not converge.
static double find_root(propagative_motion *o, int contact, watched what, double low, double at_low, double high, double at_high) {
    carom_bracket b = {.low = low, .high = high, .p = at_low, .q = at_high};
    for (int i = 0; i < MOST_EVALUATIONS && b.high - b.low > TIME_ROUND_OFF * b.high; i++) {
        double tau = carom_bracket_guess(&b);
        if (!(tau > b.low && tau < b.high)) tau = 0.5 * (b.low + b.high);
        const double at = watch(o, contact, what, tau);
        if (isnan(at)) return NAN;
        if (at == 0) return tau;
        carom_bracket_update(&b, tau, at);
    }
    return b.high;
}

// When a contact that is closed at the end of the trial over `rest` closes. 0: now. A contact that is closed already and leaves must be
// followed off its own root first; one that never opens rests: `*rests`.
static double closing_time(propagative_motion *o, int contact, double rest, double at_end, bool *rests) {
    const double at_start = gap_at(o, contact, o->q);
    *rests = false;
    if (at_start > o->rules.contact_tolerance) return find_root(o, contact, GAP, 0, at_start, rest, at_end);
    find_rates(o, o->q, o->p, o->rate);
    if (o->rate[contact] < 0) return 0;
    double low = rest, high = rest, at_high = at_end;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        low *= 0.5;
        const double at = watch(o, contact, GAP, low);
        if (isnan(at)) return NAN;
        if (at > 0) return find_root(o, contact, GAP, low, at, high, at_high);
        high = low;
        at_high = at;
    }
    *rests = true;
    return 0;
}

// A contact that is open at both ends of the trial, but closes at its start and opens at its end, may have been closed between: when, or
// `rest` when it was not. Bodies that pass through each other in one step are found in this way.
static double dipping_time(propagative_motion *o, int contact, double rest, double closing, double opening) {
    const double lowest = find_root(o, contact, CLOSING_SPEED, 0, closing, rest, -opening);
    if (isnan(lowest)) return NAN;
    const double at = watch(o, contact, GAP, lowest);
    if (!(at < -o->rules.contact_tolerance)) return isnan(at) ? NAN : rest;
    bool rests;
    return closing_time(o, contact, lowest, at, &rests);
}

// -------------------------------------------------------------------------------------------------------------- impacts

// What an elastic word leaves: itself, and its impulses, blended where R < 1, in the motion's `impulse`.
typedef struct word_copy {
    propagative_motion *motion;
    const carom_propagative *propagative;
    int *word;
    int64_t length;
} word_copy;

static carom_status keep_word(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    word_copy *copy = user;
    propagative_motion *o = copy->motion;
    const int contacts = carom_impact_get_data(carom_propagative_impact(copy->propagative))->contacts;
    if (o->rules.restitution < 1)
        carom_propagative_blend(copy->propagative, o->rules.restitution, o->plastic, outcome->impulse, o->impulse);
    else
        memcpy(o->impulse, outcome->impulse, (size_t)contacts * sizeof *o->impulse);
    copy->length = outcome->min_length;
    copy->word = malloc((size_t)(copy->length + 1) * sizeof *copy->word);
    if (!copy->word) return carom_fail_memory(error, "impact");
    for (int64_t k = 0; k < copy->length; k++) copy->word[k] = o->active[outcome->witness[k]];
    return CAROM_OK;
}

// Contacts that are closed here, with their normals; `*approaching` when one of them approaches.
static int find_active(propagative_motion *o, bool *approaching) {
    int count = 0;
    *approaching = false;
    find_rates(o, o->q, o->p, o->rate);
    const carom_system_terms *terms = propagative_flight_look(o->flight, o->q);
    for (size_t c = 0; c < o->m; c++) {
        if (!o->held[c] && terms->gap[c] > o->rules.contact_tolerance) continue;
        memcpy(o->rows + (size_t)count * o->n, terms->normal + c * o->n, o->n * sizeof *o->rows);
        o->active[count++] = (int)c;
        if (o->rate[c] >= 0) continue;
        *approaching = true;
        o->impacts[c]++;
    }
    return count;
}

static propagative_kind kind_of(const propagative_motion *o, const carom_propagative *p, int count) {
    if (o->rules.restitution == 0) return PROPAGATIVE_PLASTIC;
    for (int i = 0; i < count; i++)
        if (o->impacts[o->active[i]] > o->rules.zeno_limit) return PROPAGATIVE_ACCUMULATION;
    if (carom_propagative_is_jammed(p)) return PROPAGATIVE_JAMMED;
    return o->rules.restitution < 1 ? PROPAGATIVE_INELASTIC : PROPAGATIVE_ELASTIC;
}

static bool closes(propagative_kind kind) { return kind >= PROPAGATIVE_PLASTIC; }

// Held: what the plastic impact pushed on. Released: held contacts that the impact opened.
static void update_held(propagative_motion *o, int count, bool plastic) {
    find_rates(o, o->q, o->p, o->rate);
    for (int i = 0; i < count; i++) {
        const int contact = o->active[i];
        const bool pushed = plastic && o->plastic[i] > 0;
        if (pushed) o->held[contact] = true;
        if (o->rate[contact] > 0 && !pushed) o->held[contact] = false;
    }
}

// The impact's impulses into `plastic`, and into `impulse` unless contacts are closed.
static carom_status choose_outcome(propagative_motion *o, const carom_propagative *p, propagative_kind kind, word_copy *word,
                                   carom_error *error) {
    bool adhesive;
    const carom_word_limits limits = carom_word_limits_defaults();
    const carom_word_order order = {.kind = o->rules.order, .seed = o->rules.seed, .index = o->events};
    const carom_status status = carom_propagative_plastic(p, o->rules.plastic, o->plastic, &adhesive, error);
    if (status || closes(kind)) return status;
    return carom_propagative_follow(p, &order, &limits, o->control, keep_word, word, &o->verdict, error);
}

// Is the outcome the same for all orders? Impacts of one contact are.
static carom_status judge(propagative_motion *o, const carom_propagative *p, propagative_event *event, carom_error *error) {
    event->uniqueness = CAROM_UNIQUE_ALWAYS;
    if (event->count < 2) return CAROM_OK;
    const carom_word_limits few = {.max_states = MOST_STATES, .max_length = MOST_LETTERS};
    carom_uniqueness *uniqueness;
    const carom_status status = carom_propagative_uniqueness(p, &few, o->control, &uniqueness, error);
    if (status) return status;
    event->uniqueness = uniqueness->verdict;
    event->xi = uniqueness->difference;
    carom_uniqueness_free(uniqueness);
    return CAROM_OK;
}

static carom_status report(propagative_motion *o, const carom_propagative *p, propagative_event *event, carom_error *error) {
    if (!o->visit) return CAROM_OK;
    const carom_status status = judge(o, p, event, error);
    return status ? status : o->visit(o->user, event, error);
}

static carom_status resolve(propagative_motion *o, const carom_propagative *p, int count, carom_error *error) {
    const propagative_kind kind = kind_of(o, p, count);
    const double energy = propagative_flight_kinetic_energy(o->flight, o->q, o->p);
    word_copy word = {.motion = o, .propagative = p};
    carom_status status = choose_outcome(o, p, kind, &word, error);
    if (!status && o->verdict == CAROM_COMPLETE) {
        const double *impulse = closes(kind) ? o->plastic : o->impulse;
        for (int i = 0; i < count; i++)
            for (size_t k = 0; k < o->n; k++) o->p[k] += impulse[i] * o->rows[(size_t)i * o->n + k];
        update_held(o, count, closes(kind));
        propagative_flight_velocity(o->flight, o->q, o->p, o->velocity);
        const double after = propagative_flight_kinetic_energy(o->flight, o->q, o->p);
        // What an elastic impact changes is round-off, and counts as error.
        if (kind != PROPAGATIVE_ELASTIC) o->loss += energy - after;
        propagative_event event = {.time = o->time,
                                   .kind = kind,
                                   .contacts = o->active,
                                   .count = count,
                                   .word = word.word,
                                   .length = word.length,
                                   .impulse = impulse,
                                   .q = o->q,
                                   .v_before = o->before,
                                   .v_after = o->velocity,
                                   .energy_ratio = energy > 0 ? after / energy : 1};
        status = report(o, p, &event, error);
    }
    o->events++;
    free(word.word);
    return status;
}

// The impact of the active contacts.
static carom_status strike(propagative_motion *o, int count, carom_error *error) {
    propagative_flight_velocity(o->flight, o->q, o->p, o->before);
    carom_impact *impact = NULL;
    carom_propagative *p = NULL;
    const carom_impact_data data = {.nv = (int)o->n,
                                    .contacts = count,
                                    .tangent_dim = 1,
                                    .mass = propagative_flight_look(o->flight, o->q)->mass,
                                    .normal = o->rows,
                                    .velocity = o->before};
    carom_status status = carom_impact_create(&data, &impact, error);
    if (!status) status = carom_propagative_create(impact, &p, error);
    if (!status) status = resolve(o, p, count, error);
    carom_propagative_free(p);
    carom_impact_free(impact);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- steps

// Frees the held contact that pulls most at the end of the trial, if there is one.
static bool release_pulling(propagative_motion *o) {
    int worst = -1;
    for (int c = 0; c < (int)o->m; c++)
        if (o->held[c] && o->multiplier[c] < 0 && (worst < 0 || o->multiplier[c] < o->multiplier[worst])) worst = c;
    if (worst >= 0) o->held[worst] = false;
    return worst >= 0;
}

// The first time at which a free contact closes, in the trial over `rest`; `rest` when none does, NaN when a trial does not converge.
// Contacts that rest become held: then `*again`, because the trial changes.
static double first_closing(propagative_motion *o, double rest, bool *again) {
    double tau = rest;
    *again = false;
    memcpy(o->end_gap, propagative_flight_look(o->flight, o->next_q)->gap, o->m * sizeof *o->end_gap);
    find_rates(o, o->next_q, o->next_p, o->end_rate);
    find_rates(o, o->q, o->p, o->start_rate);
    for (size_t c = 0; c < o->m; c++) {
        bool rests = false;
        double at = rest;
        if (o->held[c]) continue;
        if (o->end_gap[c] < -o->rules.contact_tolerance)
            at = closing_time(o, (int)c, rest, o->end_gap[c], &rests);
        else if (o->start_rate[c] < 0 && o->end_rate[c] > 0)
            at = dipping_time(o, (int)c, rest, -o->start_rate[c], o->end_rate[c]);
        if (isnan(at)) return NAN;
        if (rests) o->held[c] = true;
        *again = *again || rests;
        if (!rests && at < tau) tau = at;
    }
    return tau;
}

static carom_status fail_to_converge(propagative_motion *o) {
    o->verdict = CAROM_NO_CONVERGENCE;
    return CAROM_OK;
}

// From one impact to the next. `*rest` is what remains of the step.
static carom_status advance(propagative_motion *o, double *rest, carom_error *error) {
    if (!try(o, *rest)) return fail_to_converge(o);
    if (release_pulling(o)) return CAROM_OK;
    bool again, approaching = false;
    const double tau = first_closing(o, *rest, &again);
    if (isnan(tau)) return fail_to_converge(o);
    if (again) return CAROM_OK;
    if (!try(o, tau)) return fail_to_converge(o);
    memcpy(o->q, o->next_q, o->n * sizeof *o->q);
    memcpy(o->p, o->next_p, o->n * sizeof *o->p);
    o->time += tau;
    o->loss -= o->work;
    const bool whole = tau == *rest;
    *rest -= tau;
    if (whole) return CAROM_OK;
    const int count = find_active(o, &approaching);
    return approaching ? strike(o, count, error) : CAROM_OK;
}

static void save(propagative_motion *o) {
    memcpy(o->saved_q, o->q, o->n * sizeof *o->q);
    memcpy(o->saved_p, o->p, o->n * sizeof *o->p);
    memcpy(o->saved_held, o->held, o->m * sizeof *o->held);
}

static void restore(propagative_motion *o) {
    memcpy(o->q, o->saved_q, o->n * sizeof *o->q);
    memcpy(o->p, o->saved_p, o->n * sizeof *o->p);
    memcpy(o->held, o->saved_held, o->m * sizeof *o->held);
}

carom_status propagative_motion_step(propagative_motion *o, double end, const carom_control *control, propagative_visit visit, void *user,
                                     carom_verdict *verdict, carom_error *error) {
    const double start = o->time, loss = o->loss;
    o->control = control;
    o->visit = visit;
    o->user = user;
    o->verdict = CAROM_COMPLETE;
    save(o);
    memset(o->impacts, 0, o->m * sizeof *o->impacts);
    double rest = end - start;
    carom_status status = CAROM_OK;
    for (int64_t parts = 0; !status && o->verdict == CAROM_COMPLETE && rest > 0; parts++) {
        if (carom_control_cancelled(control))
            o->verdict = CAROM_INTERRUPTED;
        else if (parts > o->rules.max_impacts)
            o->verdict = CAROM_ZENO_LIMIT;
        else
            status = advance(o, &rest, error);
    }
    *verdict = o->verdict;
    const bool done = !status && o->verdict == CAROM_COMPLETE;
    o->time = done ? end : start;
    if (done) return CAROM_OK;
    o->loss = loss;
    restore(o);
    return status;
}

// ------------------------------------------------------------------------------------------------------ life and getters

static carom_status allocate(propagative_motion *o, carom_error *error) {
    const size_t n = o->n, m = o->m;
    o->q = calloc(8 * n + 7 * m + m * n, sizeof *o->q);
    o->active = calloc(m + 1, sizeof *o->active);
    o->impacts = calloc(m + 1, sizeof *o->impacts);
    o->held = calloc(2 * m + 1, sizeof *o->held);
    if (!o->q || !o->active || !o->impacts || !o->held) return carom_fail_memory(error, "motion");
    o->p = o->q + n;
    o->next_q = o->p + n;
    o->next_p = o->next_q + n;
    o->saved_q = o->next_p + n;
    o->saved_p = o->saved_q + n;
    o->velocity = o->saved_p + n;
    o->before = o->velocity + n;
    o->multiplier = o->before + n;
    o->plastic = o->multiplier + m;
    o->impulse = o->plastic + m;
    o->rate = o->impulse + m;
    o->start_rate = o->rate + m;
    o->end_gap = o->start_rate + m;
    o->end_rate = o->end_gap + m;
    o->rows = o->end_rate + m;
    o->saved_held = o->held + m;
    return propagative_flight_create(o->system, &o->flight, error);
}

static carom_status start(propagative_motion *o, const double *q, const double *v, carom_error *error) {
    if (!carom_all_finite(o->n, q) || !carom_all_finite(o->n, v)) return carom_fail(error, CAROM_BAD_INPUT, "state: it is not finite");
    memcpy(o->q, q, o->n * sizeof *q);
    const carom_system_terms *terms = propagative_flight_look(o->flight, q);
    carom_multiply((int)o->n, (int)o->n, terms->mass, v, o->p);
    for (size_t c = 0; c < o->m; c++)
        if (terms->gap[c] < -o->rules.contact_tolerance)
            return carom_fail(error, CAROM_BAD_INPUT, "contacts: number %d penetrates by %.9g m at the start", (int)c + 1, -terms->gap[c]);
    if (!propagative_flight_velocity(o->flight, q, o->p, o->velocity))
        return carom_fail(error, CAROM_BAD_INPUT, "the mass matrix of the start is not positive definite");
    return CAROM_OK;
}

carom_status propagative_motion_create(const carom_system *system, const propagative_rules *rules, const double *q, const double *v,
                                       propagative_motion **motion, carom_error *error) {
    *motion = NULL;
    propagative_motion *o = calloc(1, sizeof *o);
    if (!o) return carom_fail_memory(error, "motion");
    *o = (propagative_motion){.system = system, .rules = *rules, .n = (size_t)system->nv, .m = (size_t)system->contacts};
    carom_status status = allocate(o, error);
    if (!status) status = start(o, q, v, error);
    if (status)
        propagative_motion_free(o);
    else
        *motion = o;
    return status;
}

void propagative_motion_free(propagative_motion *o) {
    if (!o) return;
    propagative_flight_free(o->flight);
    free(o->q);
    free(o->active);
    free(o->impacts);
    free(o->held);
    free(o);
}

double propagative_motion_time(const propagative_motion *o) { return o->time; }
const double *propagative_motion_position(const propagative_motion *o) { return o->q; }
const double *propagative_motion_momentum(const propagative_motion *o) { return o->p; }
bool propagative_motion_is_held(const propagative_motion *o, int contact) { return o->held[contact]; }
double propagative_motion_loss(const propagative_motion *o) { return o->loss; }

void propagative_motion_velocity(propagative_motion *o, double *velocity) { propagative_flight_velocity(o->flight, o->q, o->p, velocity); }

const double *propagative_motion_gaps(propagative_motion *o) { return propagative_flight_look(o->flight, o->q)->gap; }

double propagative_motion_energy(propagative_motion *o, double *potential) {
    *potential = propagative_flight_look(o->flight, o->q)->potential;
    return propagative_flight_kinetic_energy(o->flight, o->q, o->p);
}
