// SPDX-License-Identifier: Apache-2.0
// The stepper: options, lifetime, and the way to its step method.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/step_internal.h"

enum { STEPPER_COOKIE = 0x57e9 };

carom_stepper_options carom_stepper_defaults(void) {
    return (carom_stepper_options){.kind = CAROM_STEP_SIMULTANEOUS,
                                   .cone_edges = CAROM_MIN_CONE_EDGES,
                                   .selection = CAROM_SELECT_LEMKE,
                                   .solver = &carom_lcp_lemke,
                                   .cookie = STEPPER_COOKIE};
}

carom_step_choice carom_step_choice_defaults(void) {
    return (carom_step_choice){.cone_edges = CAROM_MIN_CONE_EDGES, .selection = CAROM_SELECT_LEMKE, .solver = carom_lcp_lemke.name};
}

carom_status carom_step_choice_resolve(const carom_step_choice *choice, carom_step_kind kind, const carom_registry *registry,
                                       carom_stepper_options *options, carom_error *error) {
    *options = carom_stepper_defaults();
    options->kind = kind;
    options->selection = (carom_selection)choice->selection;
    options->solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, choice->solver);
    char phrase[CAROM_SUGGESTION_SIZE];
    if (!options->solver)
        return carom_fail(error, CAROM_BAD_INPUT, "solver: there is no LCP solver '%.60s'%s", choice->solver,
                          carom_registry_suggest(registry, CAROM_REGISTRY_SOLVERS, choice->solver, phrase));
    if (choice->cone_edges < CAROM_MIN_CONE_EDGES || choice->cone_edges > CAROM_MAX_CONE_EDGES)
        return carom_fail(error, CAROM_BAD_INPUT, "cone_edges: %lld is not between %d and %d", (long long)choice->cone_edges,
                          CAROM_MIN_CONE_EDGES, CAROM_MAX_CONE_EDGES);
    options->cone_edges = (int)choice->cone_edges;
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------- lifetime

// Who takes part, and where each block of the LCP stands: (beta,) lam_n, lam_D, gamma.
static carom_status lay_out(carom_stepper *stepper, const carom_stepper_options *options, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(stepper->impact);
    const bool one = options->kind == CAROM_STEP_ONE_CONTACT, capped = options->kind == CAROM_STEP_CAPPED;
    const carom_status status = carom_impact_cone_edges(stepper->impact, options->cone_edges, &stepper->edges, error);
    if (status) return status;
    // The contacts that take part are consecutive: all of them, or one.
    stepper->first = one ? options->contact : 0;
    stepper->count = one ? 1 : data->contacts;
    stepper->dim = data->tangent_dim;
    stepper->beta = capped ? 0 : -1;
    stepper->normal = capped ? stepper->count : 0;
    stepper->edge = stepper->normal + stepper->count;
    stepper->gamma = stepper->edge + stepper->edges * stepper->count;
    stepper->size = stepper->gamma + stepper->count;
    // A dense matrix of that size is the largest that the LCP layer takes.
    if (stepper->size > CAROM_MAX_LCP)
        return carom_fail(error, CAROM_BAD_INPUT, "the step's LCP has %d variables: at most %d are supported", stepper->size,
                          CAROM_MAX_LCP);
    const size_t size = (size_t)stepper->size, n = (size_t)carom_impact_contact_size(stepper->impact);
    carom_arena *arena = &stepper->arena;
    stepper->directions = carom_arena_take(arena, (size_t)stepper->edges * (size_t)stepper->dim, sizeof(double));
    stepper->W = carom_arena_take(arena, size * size, sizeof(double));
    stepper->w = carom_arena_take(arena, size, sizeof(double));
    stepper->z = carom_arena_take(arena, size, sizeof(double));
    stepper->u = carom_arena_take(arena, n, sizeof(double));
    stepper->u_next = carom_arena_take(arena, n, sizeof(double));
    stepper->v_next = carom_arena_take(arena, (size_t)data->nv, sizeof(double));
    stepper->y_natural = carom_arena_take(arena, size, sizeof(double));
    stepper->z_natural = carom_arena_take(arena, size, sizeof(double));
    stepper->covering = carom_arena_take(arena, size, sizeof(double));
    stepper->scaled = carom_arena_take(arena, size, sizeof(double));
    stepper->change = carom_arena_take(arena, 2 * size + (size_t)data->nv + n, sizeof(double));
    stepper->impulse_change = carom_arena_take(arena, n, sizeof(double));
    stepper->force_rows = carom_arena_take(arena, (size_t)(stepper->count * (1 + stepper->edges)) * (size_t)data->nv, sizeof(double));
    return arena->failed ? carom_fail_memory(error, "impact step") : CAROM_OK;
}

carom_status carom_stepper_create(const carom_impact *impact, const carom_stepper_options *options, carom_stepper **stepper,
                                  carom_error *error) {
    *stepper = NULL;
    if (options->selection == CAROM_SELECT_AUTO) {
        carom_stepper_options resolved = *options;
        const carom_status status = carom_step_selection_auto(impact, options, &resolved.selection, error);
        return status ? status : carom_stepper_create(impact, &resolved, stepper, error);
    }
    const int contacts = carom_impact_get_data(impact)->contacts;
    // What can be refused before anything is computed.
    if (options->cookie != STEPPER_COOKIE)
        return carom_fail(error, CAROM_BAD_INPUT, "stepper options were not made by carom_stepper_defaults");
    if (options->kind == CAROM_STEP_ONE_CONTACT && (options->contact < 0 || options->contact >= contacts))
        return carom_fail(error, CAROM_BAD_INPUT, "contact %d: the impact has contacts 0 to %d", options->contact, contacts - 1);
    if (options->kind == CAROM_STEP_NEWTON && carom_step_method_serves(&carom_step_modes, options->selection))
        return carom_fail(error, CAROM_BAD_INPUT, "selection: steps with Newton restitution are not enumerated; use lemke or any");
    if (options->method && !(options->method->solve && carom_step_method_serves(options->method, options->selection)))
        return carom_fail(error, CAROM_BAD_INPUT, "path: %s does not serve the selection %s", options->method->name,
                          carom_selection_name(options->selection));

    carom_stepper *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "impact step");
    *made = (carom_stepper){.impact = impact, .kind = options->kind, .solver = options->solver, .method = options->method};
    // Only a canonical solver can promise Lemke's solutions; with another one the step says `any`.
    const bool of_lemke = options->selection == CAROM_SELECT_LEMKE || options->selection == CAROM_SELECT_SCATTERED;
    made->selection = of_lemke && !made->solver->canonical ? CAROM_SELECT_ANY : options->selection;
    made->restitution = options->restitution ? options->restitution : carom_impact_get_data(impact)->restitution;
    carom_status status = lay_out(made, options, error);
    // Without a method of the caller's choice: the first that serves the selection at this size. Another LCP solver is meant to be used.
    const int size = made->solver->canonical ? made->size : 0;
    for (const carom_step_method *const *row = carom_step_methods; !made->method && *row; row++)
        if ((*row)->solve && carom_step_method_serves(*row, made->selection) && size >= (*row)->least_size) made->method = *row;
    if (!status) {
        carom_step_assemble(made);
        status = carom_step_bind(made, error);
    }
    // The method sees a complete stepper: matrix, LCP and selection.
    if (!status && made->method->create) status = made->method->create(made, &made->state, error);
    if (status)
        carom_stepper_free(made);
    else
        *stepper = made;
    return status;
}

void carom_stepper_free(carom_stepper *stepper) {
    if (!stepper) return;
    if (stepper->method->free) stepper->method->free(stepper->state);
    carom_lcp_free(stepper->lcp);
    carom_arena_free(&stepper->arena);
    free(stepper);
}

carom_selection carom_stepper_selection(const carom_stepper *stepper) { return stepper->selection; }
const carom_lcp_solver *carom_stepper_solver(const carom_stepper *stepper) { return stepper->solver; }
const carom_step_method *carom_stepper_method(const carom_stepper *stepper) { return stepper->method; }
const char *carom_stepper_path(const carom_stepper *stepper) { return stepper->method->path(stepper); }
int carom_stepper_lcp_size(const carom_stepper *stepper) { return stepper->size; }
const double *carom_stepper_lcp_matrix(const carom_stepper *stepper) { return stepper->W; }

void carom_stepper_lcp_vector(carom_stepper *stepper, const double *v, const double *lmax, double *w) {
    carom_step_start(stepper, v, lmax);
    memcpy(w, stepper->w, (size_t)stepper->size * sizeof *w);
}

// -------------------------------------------------------------------------------------------------------------- solving

void carom_stepper_watch(carom_stepper *stepper, const carom_control *control) {
    stepper->control = control;
    carom_lcp_watch(stepper->lcp, control);
}

void carom_stepper_set_stream(carom_stepper *stepper, carom_stream *stream) { stepper->stream = stream; }

void carom_stepper_solve(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse,
                         carom_step_info *info) {
    stepper->method->solve(stepper, v, lmax, v_next, impulse, info);
}

carom_status carom_stepper_enumerate(carom_stepper *stepper, const double *v, const double *lmax, carom_step_visit visit, void *user,
                                     bool *complete, carom_error *error) {
    *complete = true;
    if (!stepper->method->enumerate)
        return carom_fail(error, CAROM_BAD_INPUT, "selection: a stepper enumerates when it was made with `random` or `all`");
    return stepper->method->enumerate(stepper, v, lmax, visit, user, complete, error);
}
