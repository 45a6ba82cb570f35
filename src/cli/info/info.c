// SPDX-License-Identifier: Apache-2.0
// `carom info`: the frozen problem of a scene, its matrices and bounds.
#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "carom/json.h"
#include "cli/info/info.h"

static const cli_flag flags[] = {
    {"cone-edges", "N", "edges of the linearised friction cone of spatial contacts, even (default 4)"},
    {"fclib-out", "FILE", "write the problem in contact space as an FCLIB local problem"},
    {"epsilon", "E", "print how many samples make an E-net of the set with 99 % probability, by Lemma 1 [m/s]"},
    {"lipschitz", "L", "the Lipschitz constant of the outcomes in the caps, for that lemma [1/kg] (default psi - 1)"},
    {"full", NULL, "print the matrices, too, and every contact"},
    {"json", NULL, "print one JSON document"},
};

// What is derived from the scene for display.
typedef struct facts {
    const carom_scene *scene;
    const carom_impact *impact;
    const carom_impact_data *data;
    double step;       // NaN where it is `auto` and large
    bool large;        // a step is too large to find it by one
    double variables;  // of the LCP of a step
    carom_reach_bounds bounds;
    carom_uniqueness *uniqueness;
    cli_outcome outcome;
    carom_first_step first_step;
    carom_net_question net;  // epsilon is 0 without --epsilon
    double log10_samples;
} facts;

// Probability with which the samples of Lemma 1 may fail.
#define FAILURE 0.01
// Dense LCP matrices that are held at once.
enum { INFO_MATRICES = 5 };

// A positive number among the flags; `*value` stays what it is where it is not given.
static carom_status take_positive(const cli_arguments *arguments, const char *flag, double *value, carom_error *error) {
    const char *text = cli_value(arguments, flag);
    if (!text || (carom_parse_number(text, value) && *value > 0)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--%s: '%.60s' is not a number greater than 0", flag, text);
}

// Derives everything with the step and the cone edges that `sample` would use, so that the bounds are those of the sampled set.
static carom_status derive(const cli_arguments *arguments, facts *f, carom_error *error) {
    carom_sample_options options = carom_sample_defaults();
    const int cone_edges = carom_option_find(carom_sample_rows, CAROM_SAMPLE_ROWS, "cone_edges");
    carom_status status = carom_scene_apply(f->scene, carom_sample_rows, CAROM_SAMPLE_ROWS, &options, error);
    if (!status) status = cli_apply_rows(arguments, &carom_sample_rows[cone_edges], 1, &options, error);
    double epsilon = 0, lipschitz = NAN;
    if (!status) status = take_positive(arguments, "epsilon", &epsilon, error);
    if (!status) status = take_positive(arguments, "lipschitz", &lipschitz, error);
    int edges = 0;
    f->step = options.step;
    // The bounds depend on the polyhedral cone and on h.
    if (!status) status = carom_impact_cone_edges(f->impact, options.method.cone_edges, &edges, error);
    f->large = !status && isnan(f->step) && cli_step_is_large(f->impact, edges, &f->variables);
    if (!status && isnan(f->step) && !f->large) status = carom_reach_auto_step(f->impact, options.method.cone_edges, &f->step, error);
    if (!status) status = carom_reach_get_bounds(f->impact, edges, f->step, &f->bounds, error);
    if (!status) status = cli_info_uniqueness(f->impact, &f->uniqueness, error);
    if (!status) status = cli_info_outcome(f->impact, &f->outcome, error);
    if (!status) status = carom_reach_first_step(f->impact, options.method.cone_edges, NULL, &f->first_step, error);
    if (status) {
        cli_place_error(arguments, f->scene, carom_sample_rows, CAROM_SAMPLE_ROWS, error);
        return status;
    }
    // Lemma 1. Without a Lipschitz constant of the whole map, psi - 1: what one unit of every cap can add to a velocity in one step.
    f->net = (carom_net_question){.lipschitz = isnan(lipschitz) ? f->bounds.psi - 1 : lipschitz,
                                  .step = f->step,
                                  .caps = carom_sample_max_steps(&options) * f->data->contacts,
                                  .epsilon = epsilon,
                                  .failure = FAILURE};
    if (epsilon > 0) status = carom_reach_log10_samples(&f->net, &f->log10_samples, error);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// Everything, in the order of the documentation: what it is, its matrices, then what follows from them.
static int print_json(const facts *f) {
    const carom_impact *impact = f->impact;
    const carom_impact_data *data = f->data;
    const int nv = data->nv, contacts = data->contacts, tangents = contacts * data->tangent_dim, n = carom_impact_contact_size(impact);
    // Matrices of the system are null where the scene only has contact space.
    const bool system = carom_impact_has_system(impact);
    // The pre-impact contact velocities, as an outcome set of one row computes them.
    carom_table *before;
    carom_error error;
    carom_status status = carom_outcomes_create(impact, NULL, 0, &before, &error);
    if (!status) status = carom_outcomes_add(before, impact, data->velocity, NULL, 0, 0, &error);
    if (status) {
        carom_table_free(before);
        return cli_report(&error);
    }
    json_t *row = carom_json_row(before, 0, data->names), *names = json_array(), *net = json_null();
    carom_table_free(before);
    for (int i = 0; i < contacts; i++) json_array_append_new(names, carom_json_text(data->names[i]));
    if (f->net.epsilon > 0)
        net = json_pack("{s:o, s:o, s:I, s:o, s:o}", "epsilon", carom_json_real(f->net.epsilon), "lipschitz",
                        carom_json_real(f->net.lipschitz), "caps", (json_int_t)f->net.caps, "failure", carom_json_real(f->net.failure),
                        "log10_samples", carom_json_real(f->log10_samples));
    json_t *bounds = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "psi", carom_json_real(f->bounds.psi), "r_norm",
                               carom_json_real(f->bounds.r_norm), "step_bound_c", carom_json_real(f->bounds.step_bound_c), "step_bound",
                               carom_json_real(f->bounds.step_bound), "step_tail", carom_json_real(f->bounds.step_tail), "net", net);
    json_t *document =
        json_pack("{s:s, s:o, s:o, s:i, s:i, s:o}", "schema", "carom.info/1", "name", carom_json_text(carom_scene_name(f->scene)), "nv",
                  system ? json_integer(nv) : json_null(), "contacts", contacts, "tangent_dim", data->tangent_dim, "contact_names", names);
    json_object_set_new(document, "M", json_null());
    json_object_set_new(document, "Jn", json_null());
    json_object_set_new(document, "Jt", json_null());
    json_object_set_new(document, "v", system ? carom_json_reals(data->velocity, nv) : json_null());
    json_object_set_new(document, "mu", carom_json_reals(data->friction, contacts));
    json_object_set_new(document, "restitution", carom_json_reals(data->restitution, contacts));
    json_object_set_new(document, "W", json_null());
    cli_add_mechanism(document, data);
    json_object_set_new(document, "kinetic_energy", carom_json_real(carom_impact_initial_energy(impact)));
    // Borrowed from the row, which goes afterwards.
    json_object_set(document, "normal_velocity", json_object_get(row, "normal_velocity"));
    json_object_set(document, "tangent_velocity", json_object_get(row, "tangent_velocity"));
    json_object_set_new(document, "pointed", json_boolean(f->bounds.pointed));
    json_object_set_new(document, "pointed_certified", json_boolean(f->bounds.pointed_certified));
    json_object_set_new(document, "step", carom_json_real(f->step));
    json_object_set_new(document, "bounds", bounds);
    json_object_set_new(document, "uniqueness", cli_uniqueness_json(f->uniqueness));
    json_object_set_new(document, "outcome", cli_outcome_json(&f->outcome));
    json_object_set_new(document, "this_impact", cli_first_step_json(&f->first_step));
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(f->scene);
    json_object_set_new(document, "uncertain", uncertainty ? cli_parameters_json(uncertainty) : json_null());
    json_decref(row);
    // Matrices of many contacts are written as they stand.
    carom_json_large matrices[7];
    int count = cli_uniqueness_matrices(f->uniqueness, "uniqueness", matrices);
    matrices[count++] = (carom_json_large){NULL, "W", carom_impact_delassus(impact), n, n};
    if (system) {
        matrices[count++] = (carom_json_large){NULL, "M", data->mass, nv, nv};
        matrices[count++] = (carom_json_large){NULL, "Jn", data->normal, contacts, nv};
        matrices[count++] = (carom_json_large){NULL, "Jt", data->tangent, tangents, nv};
    }
    return cli_print_large_json(document, matrices, count, EXIT_DONE);
}

// ---------------------------------------------------------------------------------------------------------------- text

// One screen: the mechanism, the contacts, then the bounds and how predictable the impact is; `full` adds the matrices.
static int print_text(const facts *f, bool full) {
    const carom_impact_data *data = f->data;
    printf("%s: %d contacts (%s), ", carom_scene_name(f->scene), data->contacts, data->tangent_dim == 1 ? "planar" : "spatial");
    if (carom_impact_has_system(f->impact))
        printf("%d velocities, ", data->nv);
    else
        printf("in contact space, ");
    printf("kinetic energy %.9g J\n", carom_impact_initial_energy(f->impact));
    if (carom_impact_has_system(f->impact)) cli_print_velocities("velocity", data, data->velocity, full);
    if (full) cli_print_matrices(f->impact);
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(f->scene);
    if (uncertainty) {
        printf("uncertain, and here as the scene has it");
        cli_print_parameters(uncertainty);
    }
    putchar('\n');
    cli_print_contacts(f->impact, full);
    putchar('\n');
    printf("friction cones pointed: %s\n", f->bounds.pointed ? "yes (samples end with probability one)"
                                           : f->bounds.pointed_certified
                                               ? "no (forces can cancel: jamming is possible; samples need not end)"
                                               : "not decided (jamming may be possible)");
    if (f->large)
        printf("h is not known, for a step has %.0f LCP variables (impact: {step: H} gives it): psi = %.6g", f->variables, f->bounds.psi);
    else
        printf("h = %.6g N s: psi = %.6g", f->step, f->bounds.psi);
    if (!isnan(f->bounds.r_norm)) printf(", ||r|| = %.6g", f->bounds.r_norm);
    if (!isnan(f->bounds.step_bound_c))
        printf(", c = %.6g (eq. 78):\n  more than %.6g + j steps have probability exp(-j/%g) at most", f->bounds.step_bound_c,
               f->bounds.step_bound, f->bounds.step_tail);
    putchar('\n');
    if (f->net.epsilon > 0)
        printf("%g-net with probability %g by Lemma 1, L = %.6g 1/kg, %lld caps: 10^%.6g samples\n", f->net.epsilon, 1 - f->net.failure,
               f->net.lipschitz, (long long)f->net.caps, f->log10_samples);
    cli_print_outcome(&f->outcome);
    cli_print_first_step(&f->first_step);
    cli_print_uniqueness(f->uniqueness, data->names, full);
    return EXIT_DONE;
}

// ------------------------------------------------------------------------------------------------------------- command

// What the scene's own law, or that of the set, does not use of what is given.
static void say_unused(const cli_arguments *arguments, const carom_scene *scene) {
    const char *name = carom_scene_law(scene);
    const carom_law *law = carom_law_find(arguments->registry, name ? name : carom_law_halm_posa.name);
    void *options = malloc(law->options_size);
    carom_error error;
    if (options) law->defaults(options);
    if (options && !carom_scene_apply_law(scene, law, NULL, options, &error)) cli_say_unused_by(arguments, scene, law, options);
    free(options);
}

static int run(const cli_arguments *arguments) {
    carom_error error;
    facts f = {0};
    carom_scene *scene = NULL;
    const char *fclib = cli_value(arguments, "fclib-out");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) {
        f = (facts){.scene = scene, .impact = carom_scene_impact(scene), .data = carom_impact_get_data(carom_scene_impact(scene))};
        status = derive(arguments, &f, &error);
    }
    if (!status && fclib) {
        status = carom_fclib_write(fclib, carom_scene_name(scene), f.impact, &error);
        // The problem in the file is the one without restitution.
        if (!status && carom_max_abs((size_t)f.data->contacts, f.data->restitution) > 0)
            cli_say("warning", fclib, "the file has no restitution, for which FCLIB has no place");
    }
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn_uncertain(scene);
        say_unused(arguments, scene);
        exit_status = cli_given(arguments, "json") ? print_json(&f) : print_text(&f, cli_given(arguments, "full"));
    }
    carom_uniqueness_free(f.uniqueness);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_info = {
    .name = "info",
    .summary = "the frozen problem of a scene: joints, contacts, velocities, bounds, uniqueness (of the step; of frictionless elastic "
               "orders), and with --full the matrices",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run,
};
