// SPDX-License-Identifier: Apache-2.0
// The exact set of an impact: checks, phases within the budget, and what an unfinished run may still claim.
#include <math.h>
#include <ppl_c.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "carom/exact.h"
#include "carom/propagative.h"
#include "exact/exact_internal.h"
#include "exact/ppl/output.h"

// Shares of the time: what the set itself may use, and when the hulls that bound an unfinished one must be done. The rest is for the bound
// by impulses.
#define UNION_SHARE 0.6
#define HULL_SHARE  0.9
// Seconds for reading finished pieces, in addition to the budget: without them the work would be lost.
#define OUTPUT_SECONDS 60

typedef struct set_solver {
    const exact_data *data;
    const carom_exact_options *options;
    exact_session session;       // open while phases run
    exact_pieces pieces, outer;  // what was asked for, and the best bound on it
    exact_pieces reached;        // what solutions pass through, where it is wanted
    bool has_outer;              // an empty bound is one, too
    exact_counts counts;
    int64_t bits;     // largest of all phases
    exact_stop stop;  // of the phase that was asked for
} set_solver;

bool carom_exact_available(void) { return true; }

const char *carom_exact_ppl_version(void) { return PPL_VERSION; }

// -------------------------------------------------------------------------------------------------------------- phases

// Takes the result of a phase as the outer set, unless the phase stopped.
static void take_outer(set_solver *solver, exact_pieces *found) {
    if (solver->session.seen > solver->bits) solver->bits = solver->session.seen;
    if (solver->session.stop) {
        exact_pieces_free(found);
        return;
    }
    exact_pieces_free(&solver->outer);
    solver->outer = *found;
    solver->has_outer = true;
}

// An outer set for an unfinished run: first the energy's, which is cheap, then better ones while there is time.
static void find_outer(set_solver *solver, const exact_cells *cells, exact_polyhedron box) {
    exact_session *session = &solver->session;
    const double seconds = solver->options->seconds;
    exact_pieces energy = {0}, hulls = {0}, impulses = {0};
    // The box of the energy, cut by T: its time is small.
    exact_session_start(session, seconds);
    exact_energy_bound(session, cells, box, &energy);
    take_outer(solver, &energy);
    // Without all cells there is no fixpoint.
    if (solver->options->mode == CAROM_EXACT_UNION && cells->complete) {
        exact_session_start(session, HULL_SHARE * seconds);
        exact_reach_hulls(session, cells, box, &solver->counts, &hulls, NULL);
        take_outer(solver, &hulls);
        if (!session->stop) return;
    }
    // The cone of impulses, which always ends, for the rest of the time.
    if (session->stop == EXACT_CANCELLED) return;
    exact_session_start(session, seconds);
    exact_impulse_bound(session, cells, box, &impulses);
    take_outer(solver, &impulses);
}

// The set that was asked for, and an outer one where it is not finished.
static void run_phases(set_solver *solver) {
    exact_session *session = &solver->session;
    const exact_data *data = solver->data;
    const carom_exact_options *options = solver->options;
    const bool wants_union = options->mode != CAROM_EXACT_HULL;
    // With restitution there is no outer set to look for: those that are known are bounded by the energy, which may grow.
    const bool inelastic = exact_data_is_inelastic(data);
    mpq_t width;
    mpq_init(width);
    if (options->mode == CAROM_EXACT_EPS) {
        // The overlap is absolute, so that V_eps shrinks in proportion to it. A few bits are enough of it, and keep the coefficients short.
        double scale = 0;
        for (int s = 0; s < data->starts; s++)
            for (int k = 0; k < data->dimension; k++) scale = fmax(scale, fabs(mpq_get_d(data->start[s * data->width + k])));
        exact_rational_round(width, options->cover * scale, exact_scale_exponent(options->cover * scale));
    }
    exact_session_start(session, (!inelastic ? 1 : wants_union ? UNION_SHARE : HULL_SHARE) * options->seconds);
    exact_pieces *reached = options->reached ? &solver->reached : NULL;
    // The bound by energy needs the box: it comes first.
    exact_cells cells;
    exact_polyhedron box = exact_energy_box(session, data);
    exact_cells_create(session, data, width, &cells);
    if (wants_union)
        exact_reach_union(session, &cells, &solver->counts, &solver->pieces, reached);
    else
        exact_reach_hulls(session, &cells, box, &solver->counts, &solver->pieces, reached);
    solver->bits = session->seen;
    solver->stop = session->stop;
    // Only an unfinished union of plain cells is a certified set; other modes, and the outer set of an interval of friction, claim nothing
    // before their fixpoint.
    if (solver->stop && (options->mode != CAROM_EXACT_UNION || exact_data_varies(data))) {
        exact_pieces_free(&solver->pieces);
        exact_pieces_free(&solver->reached);
    }
    // An outer set is worth looking for unless the caller stopped the run, or something failed.
    const bool may_go_on = inelastic && solver->stop != EXACT_CANCELLED && solver->stop < EXACT_OUT_OF_MEMORY;
    if (solver->stop && may_go_on && box && cells.terminal) find_outer(solver, &cells, box);
    exact_polyhedron_free(box);
    exact_cells_free(&cells);
    mpq_clear(width);
}

// No contact approaches at any start: n_i = C_i y >= 0 for all contacts.
static bool starts_terminal(const exact_data *data) {
    bool terminal = true;
    mpq_t normal, scratch;
    mpq_inits(normal, scratch, NULL);
    for (int k = 0; k < data->starts * data->contacts && terminal; k++) {
        mpq_t *start = data->start + k / data->contacts * data->width;
        mpq_t *row = data->contact_rows + data->stride * (k % data->contacts) * data->width;
        mpq_set_ui(normal, 0, 1);
        for (int i = 0; i < data->dimension; i++) exact_rational_add_product(normal, row[i], start[i], scratch);
        terminal = mpq_sgn(normal) >= 0;
    }
    mpq_clears(normal, scratch, NULL);
    return terminal;
}

// What a phase that stopped says about the set, in one sentence, or an error.
// @param before  what the phase did not come to
static carom_status note_stop(exact_stop stop, const char *before, const exact_data *data, carom_exact_set *set, carom_error *error) {
    static const struct {
        const char *happened, *remedy;
    } reasons[] = {
        [EXACT_OUT_OF_TIME] = {"the budget of time was spent", "raise --seconds"},
        [EXACT_OUT_OF_PIECES] = {"the budget of polyhedra was spent", "raise --pieces"},
        [EXACT_OUT_OF_BITS] = {"the budget of bits was spent", "raise --bits"},
        [EXACT_OUT_OF_ENERGY] = {"the budget of energy was spent", "raise --gain"},
        [EXACT_CANCELLED] = {"the run was stopped", "let it go on"},
    };
    if (stop == EXACT_OUT_OF_MEMORY) return carom_fail_memory(error, "exact set");
    if (stop == EXACT_FAILED) return carom_fail(error, CAROM_INTERNAL, "the polyhedra library reports an error");
    set->status = stop == EXACT_UNBOUNDED ? CAROM_EXACT_UNBOUNDED : CAROM_EXACT_INCOMPLETE;
    const char *few = data->contacts > CAROM_EXACT_USUAL_CONTACTS ? "; sets of more than three contacts seldom finish" : "";
    if (stop == EXACT_UNBOUNDED)
        snprintf(set->reason, sizeof set->reason,
                 "a piece has a ray, the friction cone is not pointed: change the scene, or sample the set (`carom sample`)%s", few);
    else
        snprintf(set->reason, sizeof set->reason, "%s before %s%s: %s%s, or sample the set (`carom sample`)%s", reasons[stop].happened,
                 before, stop == EXACT_OUT_OF_ENERGY ? ", and the set may be unbounded" : "", reasons[stop].remedy,
                 data->constants ? ", leave out what no contact feels (`carom exact --contacts-only`)" : "", few);
    return CAROM_OK;
}

// Fills the set from the data of an impact.
static carom_status solve_data(const exact_data *data, const carom_exact_options *options, const carom_control *control,
                               carom_exact_set *set, carom_error *error) {
    set_solver solver = {.data = data, .options = options, .counts = {.limit = options->pieces, .gain = options->gain}};
    exact_session *session = &solver.session;
    exact_session_open(session, data->width, options->bits, control);
    solver.stop = session->stop;
    const bool terminal = starts_terminal(data);
    if (!session->stop && terminal) {
        // Nothing happens: the set is what it starts from.
        exact_session_start(session, OUTPUT_SECONDS);
        exact_pieces_add(session, &solver.pieces, exact_start(session, data));
        if (options->reached) exact_pieces_add(session, &solver.reached, exact_start(session, data));
        solver.stop = session->stop;
    } else if (!session->stop) {
        run_phases(&solver);
    }
    set->status = terminal ? CAROM_EXACT_TERMINAL_START : CAROM_EXACT_OK;
    carom_status status = solver.stop ? note_stop(solver.stop, "the fixpoint", data, set, error) : CAROM_OK;

    // What was found, in doubles, as a phase of its own.
    exact_session_start(session, exact_session_elapsed(session) + OUTPUT_SECONDS);
    // At the end nothing is owed: y and z describe the pieces.
    session->dimension = data->dimension + data->constants;
    for (int i = 0; i < solver.pieces.count; i++) exact_polyhedron_project(session, solver.pieces.items[i], session->dimension);
    for (int i = 0; i < solver.reached.count; i++) exact_polyhedron_project(session, solver.reached.items[i], session->dimension);
    if (!status) status = exact_output_create(session, data, &solver.pieces, &set->pieces, error);
    if (!status && solver.reached.count) status = exact_output_create(session, data, &solver.reached, &set->reached, error);
    if (!status && solver.has_outer) status = exact_output_create(session, data, &solver.outer, &set->outer, error);
    if (!status && session->stop) status = carom_fail(error, CAROM_INTERNAL, "the finished pieces could not be read");
    // Joint modes are those of the whole set, so that an unfinished one has none. Cutting its pieces takes time, and may be stopped.
    if (!status && options->modes && !solver.stop) {
        exact_session_start(session, exact_session_elapsed(session) + fmax(OUTPUT_SECONDS, options->seconds));
        status = exact_output_modes(session, data, &solver.pieces, options->modes, error);
        if (!status && session->stop) status = note_stop(session->stop, "all joint modes were known", data, set, error);
    }
    exact_pieces_free(&solver.pieces);
    exact_pieces_free(&solver.outer);
    exact_pieces_free(&solver.reached);
    // A fixpoint is the set itself, or an outer one in other modes; an unfinished union lies in the set.
    if (!status)
        set->certificate = terminal                                                        ? "exact"
                           : !set->pieces->count                                           ? "none"
                           : options->mode != CAROM_EXACT_UNION || exact_data_varies(data) ? "outer"
                           : carom_exact_set_complete(set)                                 ? "exact"
                                                                                           : "inner";
    set->elapses = solver.counts.elapses;
    set->bits = solver.bits;
    set->seconds = exact_session_elapsed(session);
    exact_session_close(session);
    return status;
}

// ------------------------------------------------------------------------------------------------------- the whole set

// A set that needs no computation.
static carom_status conclude(carom_exact_set *set, carom_exact_status reached, const char *reason, const carom_impact *impact,
                             carom_error *error) {
    set->status = reached;
    set->certificate = "none";
    snprintf(set->reason, sizeof set->reason, "%s", reason);
    return carom_polyhedra_create(carom_impact_contact_size(impact), carom_impact_get_data(impact)->nv, &set->pieces, error);
}

// Where normals cancel, as between two opposite walls, the cells of mode eps let all these contacts push at once: the normal velocities
// stay, and friction takes any slip. The overlap is not to blame, and a smaller one changes nothing: the set says so.
static carom_status note_cancelling_normals(const carom_impact *impact, carom_exact_set *set, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    if (carom_max_abs((size_t)data->contacts, data->friction) == 0) return CAROM_OK;
    carom_propagative *normals;
    const carom_status status = carom_propagative_create(impact, &normals, error);
    if (status) return status;
    if (carom_propagative_is_jammed(normals))
        snprintf(set->reason, sizeof set->reason,
                 "the normals of some contacts cancel, as between two opposite walls: in cells that overlap they press on each other and "
                 "friction takes any slip, so that this outer set need not shrink to the set with `cover`");
    carom_propagative_free(normals);
    return CAROM_OK;
}

// Linearised cones are for one or two contacts in space, in the modes that know them.
static carom_status check_cones(const carom_impact_data *data, const carom_exact_options *options, carom_error *error) {
    const int64_t edges = options->cone_edges;
    if (edges < CAROM_MIN_CONE_EDGES || edges > CAROM_MAX_CONE_EDGES || edges % 2)
        return carom_fail(error, CAROM_BAD_INPUT, "cone_edges: %lld is not an even number between %d and %d", (long long)edges,
                          CAROM_MIN_CONE_EDGES, CAROM_MAX_CONE_EDGES);
    if (data->tangent_dim == 1)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "cone_edges: the contacts are planar, and their friction cones have two edges: leave it out");
    if (data->contacts > CAROM_EXACT_MOST_SPATIAL_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "cone_edges: sets of linearised cones are computed for at most %d contacts, not %d: sample",
                          CAROM_EXACT_MOST_SPATIAL_CONTACTS, data->contacts);
    if (options->mode == CAROM_EXACT_EPS || options->hypothesis != CAROM_EXACT_INELASTIC || options->modes)
        return carom_fail(
            error, CAROM_BAD_INPUT,
            "cone_edges: mode eps, restitution and joint modes are those of planar contacts; linearised cones have modes exact "
            "and hull");
    return CAROM_OK;
}

carom_status carom_exact_solve(const carom_impact *impact, const carom_exact_options *options, const carom_control *control,
                               carom_exact_set **set, carom_error *error) {
    *set = NULL;
    const carom_impact_data *source = carom_impact_get_data(impact);
    // The options as a program may have filled them; the rows check those of scenes and flags.
    if (options->mode < CAROM_EXACT_UNION || options->mode > CAROM_EXACT_EPS)
        return carom_fail(error, CAROM_BAD_INPUT, "mode: %d is none of exact, hull, eps", options->mode);
    if (!(options->seconds > 0)) return carom_fail(error, CAROM_BAD_INPUT, "seconds: %g is not positive", options->seconds);
    if (options->pieces < 1) return carom_fail(error, CAROM_BAD_INPUT, "pieces: at least one is needed");
    if (options->bits < 64) return carom_fail(error, CAROM_BAD_INPUT, "bits: at least 64 are needed");
    if (!(options->gain >= 1)) return carom_fail(error, CAROM_BAD_INPUT, "gain: %g is below 1", options->gain);
    if (!(options->cover > 0 && options->cover <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "cover: %g is not between 0 and 1", options->cover);
    if (options->hypothesis < CAROM_EXACT_INELASTIC || options->hypothesis > CAROM_EXACT_POISSON)
        return carom_fail(error, CAROM_BAD_INPUT, "hypothesis: %d is none of carom_exact_hypothesis", options->hypothesis);
    if (!isnan(options->restitution) && !(options->restitution >= 0 && options->restitution <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "restitution: %g is not between 0 and 1", options->restitution);
    if (options->hypothesis != CAROM_EXACT_INELASTIC && options->mode != CAROM_EXACT_UNION)
        return carom_fail(error, CAROM_BAD_INPUT, "mode: outer sets are those of the inelastic inclusion; with a hypothesis use exact");
    if (source->tangent_dim != 1 && !options->cone_edges)
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "exact sets are those of planar contacts; friction in space has round cones: ask for the set of linearised cones "
                          "(`carom exact --cone-edges 4`), or sample the set (`carom sample`)");
    const carom_status fault_of_cones = options->cone_edges ? check_cones(source, options, error) : CAROM_OK;
    if (fault_of_cones) return fault_of_cones;
    carom_status status = exact_check_uncertain(source, options->start, options->friction, error);
    if (status) return status;
    carom_exact_set *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "exact set");

    // Some sets are known without computation: those of impacts that are too large, have no rational data, or start terminal.
    exact_data *data = NULL;
    const char *fault = NULL;
    const bool fits = source->contacts <= CAROM_EXACT_MOST_CONTACTS && source->nv <= CAROM_EXACT_MOST_VELOCITIES;
    if (fits) status = exact_data_create(impact, options, &data, &fault, error);
    if (!fits) {
        status = conclude(made, CAROM_EXACT_TOO_LARGE,
                          "more than 5 contacts or 128 velocities are out of reach of rational arithmetic: sample the set (`carom sample`)",
                          impact, error);
    } else if (fault) {
        status = conclude(made, CAROM_EXACT_BAD_DATA, fault, impact, error);
    } else if (!status) {
        made->dimension = data->dimension;
        made->cone_edges = source->tangent_dim == 1 ? 0 : options->cone_edges;
        made->data_change = data->change;
        status = solve_data(data, options, control, made, error);
        if (!status && options->mode == CAROM_EXACT_EPS && made->status == CAROM_EXACT_OK)
            status = note_cancelling_normals(impact, made, error);
    }
    exact_data_free(data);
    if (status)
        carom_exact_set_free(made);
    else
        *set = made;
    return status;
}
