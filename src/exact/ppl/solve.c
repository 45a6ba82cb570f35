// SPDX-License-Identifier: Apache-2.0
// The exact set of an impact: checks, phases within the budget, and what an unfinished run may still claim.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/exact.h"
#include "exact/ppl/bound.h"
#include "exact/ppl/data.h"
#include "exact/ppl/output.h"

// Shares of the time: what the set itself may use, and when the hulls that bound an unfinished one must be done. The rest is for the bound
// by impulses.
#define UNION_SHARE 0.6
#define HULL_SHARE  0.9
// Reading finished pieces is not part of the budget: they are there already.
#define OUTPUT_SECONDS 60

typedef struct solver {
    const exact_data *data;
    const carom_exact_options *options;
    exact_session session;
    exact_pieces pieces, outer;
    bool has_outer;
    exact_counts counts;
    int64_t bits;     // largest of all phases
    exact_stop stop;  // of the phase that was asked for
    carom_exact_set *set;
} solver;

bool carom_exact_available(void) { return true; }

// ------------------------------------------------------------------------------------------------------------ checking

static carom_status check_options(const carom_exact_options *options, carom_error *error) {
    if (options->mode < CAROM_EXACT_UNION || options->mode > CAROM_EXACT_EPS)
        return carom_fail(error, CAROM_BAD_INPUT, "mode: %d is none of exact, hull, eps", options->mode);
    if (!(options->seconds > 0)) return carom_fail(error, CAROM_BAD_INPUT, "seconds: %g is not positive", options->seconds);
    if (options->pieces < 1) return carom_fail(error, CAROM_BAD_INPUT, "pieces: at least one is needed");
    if (options->bits < 64) return carom_fail(error, CAROM_BAD_INPUT, "bits: at least 64 are needed");
    if (!(options->cover > 0 && options->cover <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "cover: %g is not between 0 and 1", options->cover);
    return CAROM_OK;
}

static bool is_too_large(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    return data->contacts > CAROM_EXACT_MOST_CONTACTS || data->nv > CAROM_EXACT_MOST_VELOCITIES;
}

static bool starts_terminal(const exact_data *data) {
    mpq_t normal, scratch;
    mpq_inits(normal, scratch, NULL);
    bool terminal = true;
    for (int i = 0; i < data->contacts && terminal; i++) {
        mpq_set_ui(normal, 0, 1);
        for (int k = 0; k < data->dimension; k++)
            exact_rational_add_product(normal, data->contact_rows[2 * i * data->dimension + k], data->start[k], scratch);
        terminal = mpq_sgn(normal) >= 0;
    }
    mpq_clears(normal, scratch, NULL);
    return terminal;
}

// -------------------------------------------------------------------------------------------------------------- phases

// Ends a phase and remembers what it cost.
static void finish_phase(solver *s) {
    if (s->session.seen > s->bits) s->bits = s->session.seen;
}

// Is there any use in a further phase?
static bool goes_on(const solver *s) { return s->stop != EXACT_CANCELLED && s->stop < EXACT_OUT_OF_MEMORY; }

// The overlap of mode eps: absolute, so that V_eps shrinks in proportion to it.
static void choose_width(const solver *s, mpq_t width) {
    mpq_set_ui(width, 0, 1);
    if (s->options->mode != CAROM_EXACT_EPS) return;
    double scale = 0;
    for (int k = 0; k < s->data->dimension; k++) scale = fmax(scale, fabs(mpq_get_d(s->data->start[k])));
    // A few bits are enough of a width, and keep the coefficients short.
    const double wanted = s->options->cover * scale;
    exact_rational_round(width, wanted, exact_scale_exponent(wanted));
}

// Takes the result of a phase as the outer set, unless the phase stopped.
static void take_outer(solver *s, exact_pieces *found) {
    finish_phase(s);
    if (s->session.stop) {
        exact_pieces_free(found);
        return;
    }
    exact_pieces_free(&s->outer);
    s->outer = *found;
    s->has_outer = true;
}

// An unfinished run looks for an outer set: first the energy's, which is cheap, then better ones while there is time.
static void find_outer(solver *s, const exact_cells *cells, exact_polyhedron box) {
    exact_session *session = &s->session;
    exact_pieces energy = {0}, hulls = {0}, impulses = {0};
    exact_session_start(session, s->options->seconds);
    exact_energy_bound(session, cells, box, &energy);
    take_outer(s, &energy);
    // Without all cells there is no fixpoint.
    if (s->options->mode == CAROM_EXACT_UNION && cells->complete) {
        exact_session_start(session, HULL_SHARE * s->options->seconds);
        exact_reach_hulls(session, cells, s->data->start, box, &s->counts, &hulls);
        take_outer(s, &hulls);
        if (!session->stop) return;
    }
    if (session->stop == EXACT_CANCELLED) return;
    exact_session_start(session, s->options->seconds);
    exact_impulse_bound(session, cells, box, &impulses);
    take_outer(s, &impulses);
}

static void run_phases(solver *s) {
    exact_session *session = &s->session;
    const bool wants_union = s->options->mode != CAROM_EXACT_HULL;
    mpq_t width;
    mpq_init(width);
    choose_width(s, width);
    exact_cells cells;
    exact_session_start(session, (wants_union ? UNION_SHARE : HULL_SHARE) * s->options->seconds);
    // What the bound by energy needs comes first.
    exact_polyhedron box = exact_energy_box(session, s->data);
    exact_cells_create(session, s->data, width, &cells);
    if (wants_union)
        exact_reach_union(session, &cells, s->data->start, &s->counts, &s->pieces);
    else
        exact_reach_hulls(session, &cells, s->data->start, box, &s->counts, &s->pieces);
    finish_phase(s);
    s->stop = session->stop;
    const bool usable = box && cells.terminal && goes_on(s);
    // Only an unfinished union of plain cells is a certified set; other modes claim nothing before their fixpoint.
    if (s->stop && s->options->mode != CAROM_EXACT_UNION) exact_pieces_free(&s->pieces);
    if (s->stop && usable) find_outer(s, &cells, box);
    exact_polyhedron_free(box);
    exact_cells_free(&cells);
    mpq_clear(width);
}

// ------------------------------------------------------------------------------------------------------------- results

// What to do about an unfinished run.
static void explain(carom_exact_set *set, exact_stop stop, int contacts) {
    static const char *const reasons[] = {
        [EXACT_OUT_OF_TIME] = "the budget of time was spent before the fixpoint: raise --seconds",
        [EXACT_OUT_OF_PIECES] = "the budget of polyhedra was spent before the fixpoint: raise --pieces",
        [EXACT_OUT_OF_BITS] = "the budget of bits was spent before the fixpoint: raise --bits",
        [EXACT_CANCELLED] = "the run was stopped before the fixpoint: let it go on",
        [EXACT_UNBOUNDED] = "a piece has a ray, the friction cone is not pointed: change the scene",
    };
    snprintf(set->reason, sizeof set->reason, "%s, or sample the set (`carom sample`)%s", reasons[stop],
             contacts > CAROM_EXACT_USUAL_CONTACTS ? "; sets of more than three contacts seldom finish" : "");
}

static carom_status judge(solver *s, carom_error *error) {
    if (s->stop == EXACT_OUT_OF_MEMORY) return carom_fail_memory(error, "exact set");
    if (s->stop == EXACT_FAILED) return carom_fail(error, CAROM_INTERNAL, "the polyhedra library reports an error");
    s->set->status = s->stop == EXACT_RUNNING     ? CAROM_EXACT_OK
                     : s->stop == EXACT_UNBOUNDED ? CAROM_EXACT_UNBOUNDED
                                                  : CAROM_EXACT_INCOMPLETE;
    if (s->stop) explain(s->set, s->stop, s->data->contacts);
    return CAROM_OK;
}

static carom_status write_sets(solver *s, carom_error *error) {
    exact_session *session = &s->session;
    exact_session_start(session, exact_session_elapsed(session) + OUTPUT_SECONDS);
    carom_status status = exact_output_create(session, s->data, &s->pieces, &s->set->pieces, error);
    if (!status && s->has_outer) status = exact_output_create(session, s->data, &s->outer, &s->set->outer, error);
    if (!status && session->stop) status = carom_fail(error, CAROM_INTERNAL, "the finished pieces could not be read");
    return status;
}

static carom_status solve_data(solver *s, const carom_control *control, carom_error *error) {
    exact_session_open(&s->session, s->data->dimension, s->options->bits, control);
    if (s->session.stop)
        s->stop = s->session.stop;
    else
        run_phases(s);
    carom_status status = judge(s, error);
    if (!status) status = write_sets(s, error);
    exact_pieces_free(&s->pieces);
    exact_pieces_free(&s->outer);
    s->set->elapses = s->counts.elapses;
    s->set->bits = s->bits;
    s->set->seconds = exact_session_elapsed(&s->session);
    exact_session_close(&s->session);
    return status;
}

// A set that needs no computation.
static carom_status conclude(carom_exact_set *set, carom_exact_status reached, const char *reason, const carom_impact *impact,
                             carom_error *error) {
    set->status = reached;
    snprintf(set->reason, sizeof set->reason, "%s", reason);
    return carom_polyhedra_create(carom_impact_contact_size(impact), carom_impact_get_data(impact)->nv, &set->pieces, error);
}

static carom_status solve(const carom_impact *impact, const carom_exact_options *options, const carom_control *control,
                          carom_exact_set *set, carom_error *error) {
    if (is_too_large(impact))
        return conclude(set, CAROM_EXACT_TOO_LARGE,
                        "more than 5 contacts or 128 velocities are out of reach of rational arithmetic: sample the set (`carom sample`)",
                        impact, error);
    exact_data *data;
    const char *fault;
    carom_status status = exact_data_create(impact, &data, &fault, error);
    if (status) return status;
    if (fault) return conclude(set, CAROM_EXACT_BAD_DATA, fault, impact, error);
    set->dimension = data->dimension;
    set->data_change = data->change;
    if (starts_terminal(data)) {
        set->status = CAROM_EXACT_TERMINAL_START;
        status = exact_output_start(data, &set->pieces, error);
    } else {
        solver s = {.data = data, .options = options, .counts = {.limit = options->pieces}, .set = set};
        status = solve_data(&s, control, error);
    }
    exact_data_free(data);
    return status;
}

carom_status carom_exact_solve(const carom_impact *impact, const carom_exact_options *options, const carom_control *control,
                               carom_exact_set **set, carom_error *error) {
    *set = NULL;
    carom_status status = check_options(options, error);
    if (status) return status;
    if (carom_impact_get_data(impact)->tangent_dim != 1)
        return carom_fail(
            error, CAROM_UNSUPPORTED,
            "exact sets are computed for planar contacts only: friction in space has round cones; sample the set (`carom sample`)");
    carom_exact_set *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "exact set");
    status = solve(impact, options, control, made, error);
    if (status)
        carom_exact_set_free(made);
    else
        *set = made;
    return status;
}
