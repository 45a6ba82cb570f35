// SPDX-License-Identifier: Apache-2.0
// Options of sampling: defaults, rows, and what they mean.
#include <math.h>
#include <string.h>

#include "reach/reach_internal.h"

#define MOST_SAMPLES 1099511627776.0  // 2^40
#define MOST_PATHS   1e6
#define MOST_STEPS   1e9

// The default N of each sampler.
enum { LCP_STEPS = 100, WALK_STEPS = 10000 };

const char *const carom_sampler_names[] = {[CAROM_SAMPLER_LCP] = "lcp", [CAROM_SAMPLER_WALK] = "walk", [CAROM_SAMPLER_AUTO] = "auto", NULL};

// A set is to be the whole set: all solutions of a step, and both samplers.
carom_sample_options carom_sample_defaults(void) {
    carom_sample_options options = {.samples = 16384,
                                    .epsilon = NAN,
                                    .step = NAN,
                                    .sampler = CAROM_SAMPLER_AUTO,
                                    .path = "auto",
                                    .rebound = {.restitution = {NAN, NAN}},
                                    .tolerance = CAROM_WALK_TOLERANCE,
                                    .method = carom_step_choice_defaults()};
    options.method.selection = CAROM_SELECT_AUTO;
    return options;
}

int64_t carom_sample_max_steps(const carom_sample_options *options) {
    if (options->max_steps) return options->max_steps;
    return options->sampler == CAROM_SAMPLER_WALK ? WALK_STEPS : LCP_STEPS;
}

const carom_option carom_sample_rows[CAROM_SAMPLE_ROWS] = {
    {"samples", CAROM_OPTION_INTEGER, offsetof(carom_sample_options, samples), 1, MOST_SAMPLES, "", "16384", "number of samples", NULL},
    {"paths", CAROM_OPTION_INTEGER, offsetof(carom_sample_options, paths), 0, MOST_PATHS, "", "0",
     "samples, the first ones, whose velocity paths are kept", NULL},
    {"nested", CAROM_OPTION_INTEGER, offsetof(carom_sample_options, nested), 0, MOST_SAMPLES, "", "one each",
     "of a scene with `uncertain`: draws of its parameters, each for as many samples", NULL},
    {"epsilon", CAROM_OPTION_REAL, offsetof(carom_sample_options, epsilon), CAROM_POSITIVE, INFINITY, "m/s", "none",
     "accuracy of Algorithm 2, which adds a closing step to samples that have not ended", NULL},
    {"sampler", CAROM_OPTION_CHOICE, offsetof(carom_sample_options, sampler), 0, 0, "", "auto",
     "time stepping (lcp), random solutions of the inclusion without a step (walk), or both in turn where contacts are planar and time "
     "stepping where they are spatial (auto)",
     carom_sampler_names},
    {"seed", CAROM_OPTION_INTEGER, offsetof(carom_sample_options, seed), 0, CAROM_MOST_SEED, "", "0", "seed of the random caps", NULL},
    {"step", CAROM_OPTION_REAL, offsetof(carom_sample_options, step), CAROM_POSITIVE, INFINITY, "N s", "auto",
     "h, largest normal impulse of a contact in one step", NULL},
    {"max_steps", CAROM_OPTION_INTEGER, offsetof(carom_sample_options, max_steps), 1, MOST_STEPS, "", "auto",
     "steps after which a sample counts as not terminated (auto: 100); for walks, which have 10000, only with the sampler walk", NULL},
    {"draw", CAROM_OPTION_CHOICE, offsetof(carom_sample_options, draw), 0, 0, "", "uniform", "how the caps of a step are drawn",
     carom_draw_names},
    {"hypothesis", CAROM_OPTION_CHOICE, offsetof(carom_sample_options, rebound.hypothesis), 0, 0, "", "none",
     "what restitution means: none, which is inelastic, energetic (stronge) or kinetic (poisson); with restitution samples are walks",
     carom_hypothesis_names},
    {"restitution", CAROM_OPTION_INTERVAL, offsetof(carom_sample_options, rebound.restitution), 0, 1, "", "scene",
     "coefficient of restitution of all contacts, or an interval from which each contact's is drawn anew for each sample", NULL},
    {"weights", CAROM_OPTION_CHOICE, offsetof(carom_sample_options, weights), 0, 0, "", "mixed",
     "how contacts share the impulse of a walk: anew on each piece, in one proportion, or one contact at a time", carom_weights_names},
    {"tolerance", CAROM_OPTION_REAL, offsetof(carom_sample_options, tolerance), CAROM_WALK_LEAST_TOLERANCE, CAROM_WALK_MOST_TOLERANCE, "",
     "1e-8", "of the curved pieces of walks in space, relative to the velocity scale of the impact", NULL},
    {"path", CAROM_OPTION_TEXT, offsetof(carom_sample_options, path), 0, 0, "", "auto",
     "step method: auto (the fastest), or lemke or cone-map, alone or with :scalar, :portable, :avx2, :avx512, or sweeps or modes", NULL},
    CAROM_STEP_CHOICE_ROWS(carom_sample_options, method, carom_selection_names_one, "auto"),
};

carom_sample_options carom_sample_serve(const carom_sample_options *options) {
    carom_sample_options served = *options;
    if (served.rebound.hypothesis == CAROM_HYPOTHESIS_NONE || served.sampler != CAROM_SAMPLER_AUTO) return served;
    // As beside time stepping, whose steps max_steps counts.
    served.sampler = CAROM_SAMPLER_WALK;
    served.max_steps = 0;
    return served;
}

carom_status carom_reach_check_restitution(const carom_rebound_options *rebound, const carom_uncertainty *uncertainty, carom_error *error) {
    const bool replaced = rebound->hypothesis != CAROM_HYPOTHESIS_NONE && !isnan(rebound->restitution.least);
    if (!replaced || !uncertainty || !carom_uncertainty_bounces(uncertainty)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "restitution: it would replace the uncertain coefficients of the contacts, which would be drawn for nothing: leave "
                      "either of them out");
}

carom_status carom_sample_check(const carom_sample_options *options, carom_error *error) {
    // The command and scenes check numbers by the rows above; a C program may have put anything into the struct.
    if (options->samples < 1 || (double)options->samples > MOST_SAMPLES)
        return carom_fail(error, CAROM_BAD_INPUT, "samples: %lld is not between 1 and 2^40", (long long)options->samples);
    if (options->seed < 0) return carom_fail(error, CAROM_BAD_INPUT, "seed: %lld is below the least value 0", (long long)options->seed);
    if (options->sampler < CAROM_SAMPLER_LCP || options->sampler > CAROM_SAMPLER_AUTO)
        return carom_fail(error, CAROM_BAD_INPUT, "sampler: %d is none of carom_sampler", options->sampler);
    if (options->draw < CAROM_DRAW_UNIFORM || options->draw > CAROM_DRAW_SINGLE)
        return carom_fail(error, CAROM_BAD_INPUT, "draw: %d is none of carom_draw", options->draw);
    if (options->rebound.hypothesis != CAROM_HYPOTHESIS_NONE && options->sampler == CAROM_SAMPLER_LCP)
        return carom_fail(error, CAROM_BAD_INPUT, "sampler: the steps of lcp are inelastic; with a hypothesis of restitution use walk");
    if (options->nested && !options->uncertainty) return carom_fail(error, CAROM_BAD_INPUT, "nested: nothing is uncertain in this scene");
    if (options->nested < 0 || (options->nested && options->samples % options->nested))
        return carom_fail(error, CAROM_BAD_INPUT, "nested: %lld draws do not divide %lld samples", (long long)options->nested,
                          (long long)options->samples);
    if (options->uncertainty && !isnan(options->epsilon))
        return carom_fail(error, CAROM_BAD_INPUT, "epsilon: the closing step of Algorithm 2 is for one impact, and this one is uncertain");
    return carom_reach_check_restitution(&options->rebound, options->uncertainty, error);
}

// What `auto` serves by a step method: everything, or as much as the method can.
static carom_selection best_served(const carom_step_method *method, carom_selection wanted) {
    if (!method || carom_step_method_serves(method, wanted)) return wanted;
    if (carom_step_method_serves(method, CAROM_SELECT_SCATTERED)) return CAROM_SELECT_SCATTERED;
    return carom_step_method_serves(method, CAROM_SELECT_RANDOM) ? CAROM_SELECT_RANDOM : CAROM_SELECT_ANY;
}

carom_status carom_sample_resolve_method(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                         carom_sample_method *method, carom_error *error) {
    carom_step_choice choice = options->method;
    const carom_step_method *asked;
    carom_instructions instructions;
    carom_status status = carom_step_method_find(options->path, &asked, &instructions, error);
    if (status) return status;
    // A step method works with our Lemke only: it cannot be combined with another LCP solver. Walks take no steps.
    if (asked && options->sampler != CAROM_SAMPLER_WALK && strcmp(choice.solver, carom_lcp_lemke.name) != 0 &&
        strcmp(choice.solver, options->path) != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "path: %s takes no other solver than lemke", options->path);
    // A path that names an LCP solver, such as lemke:avx2, also makes it the solver of steps that the method cannot solve itself.
    const bool names_solver = asked && carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, options->path);
    if (names_solver) choice.solver = options->path;
    if (options->uncertainty && asked && !asked->solve && !names_solver)
        return carom_fail(error, CAROM_UNSUPPORTED, "path: %s learns the steps of one impact, and this one is uncertain", options->path);
    *method = (carom_sample_method){.step = options->step};
    carom_stepper_options *stepper = &method->stepper;
    status = carom_step_choice_resolve(&choice, CAROM_STEP_CAPPED, registry, stepper, error);
    // All that follows is of no use to walks.
    if (status || options->sampler == CAROM_SAMPLER_WALK) return status;
    if (isnan(method->step)) status = carom_reach_auto_step(impact, options->method.cone_edges, &method->step, error);

    // Who names an LCP solver wants the solutions that it finds.
    if (!status && stepper->selection == CAROM_SELECT_AUTO) {
        carom_selection wanted = CAROM_SELECT_ANY;
        // What is certified for these contacts is not so for others.
        if (stepper->solver->canonical && options->uncertainty && !carom_uncertainty_keeps_contacts(options->uncertainty))
            status = carom_step_selection_unproved(impact, options->method.cone_edges, CAROM_STEP_CAPPED, &wanted, error);
        else if (stepper->solver->canonical)
            status = carom_step_selection_auto(impact, stepper, &wanted, error);
        method->unique = !status && stepper->solver->canonical && wanted == CAROM_SELECT_ANY;
        stepper->selection = best_served(asked, wanted);
    }
    // The method also solves single steps if it can; a method for batches alone leaves them to the default of the selection.
    if (!status && asked && asked->solve && !(names_solver && !carom_step_method_serves(asked, stepper->selection)))
        stepper->method = asked;
    return status;
}
