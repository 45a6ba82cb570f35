// SPDX-License-Identifier: Apache-2.0
// `carom design`: the nearest scene whose contacts meet at a cosine for which the order of their impacts does not matter.
#include <inttypes.h>
#include <math.h>

#include "carom/design.h"
#include "carom/json.h"
#include "cli/design.h"
#include "cli/info/info.h"

static const cli_flag flags[] = {
    {"output", "FILE", "write the new scene, as JSON"},
    {"json", NULL, "print one JSON document"},
};

// What is measured of a scene.
typedef struct measure {
    double *cosines;  // [pairs]
    double xi;
} measure;

// The family of scenes that a design searches, where it starts, and what was found.
typedef struct study {
    carom_family *family;
    int variables, pairs, contacts;
    carom_arena arena;
    double *x, *gaps;
    measure before, after;
    carom_design_result result;
} study;

// The cosine at which two contacts meet, W_ij / sqrt(W_ii W_jj) of their normal directions.
static double cosine_of(const carom_impact *impact, const int *pair) {
    const size_t stride = 1 + (size_t)carom_impact_get_data(impact)->tangent_dim, n = (size_t)carom_impact_contact_size(impact);
    const double *W = carom_impact_delassus(impact);
    const size_t i = (size_t)pair[0] * stride, j = (size_t)pair[1] * stride;
    return W[i * n + j] / sqrt(W[i * n + i] * W[j * n + j]);
}

// The equations: every pair's cosine is the target, and every contact of the scene stays in touch.
static carom_status evaluate(void *user, const double *x, double *residual, carom_error *error) {
    const study *searched = user;
    carom_impact *impact;
    const carom_status status = carom_family_evaluate(searched->family, x, &impact, residual + searched->pairs, error);
    for (int p = 0; !status && p < searched->pairs; p++)
        residual[p] = cosine_of(impact, carom_family_pair(searched->family, p)) - carom_family_target(searched->family);
    carom_impact_free(impact);
    return status;
}

// The cosines of all pairs at x, and how far apart outcomes of different orders of impacts are (xi).
static carom_status take_measure(const study *searched, const double *x, measure *taken, carom_error *error) {
    carom_impact *impact = NULL;
    carom_uniqueness *uniqueness = NULL;
    carom_status status = carom_family_evaluate(searched->family, x, &impact, searched->gaps, error);
    if (!status) status = cli_info_uniqueness(impact, &uniqueness, error);
    for (int p = 0; !status && p < searched->pairs; p++) taken->cosines[p] = cosine_of(impact, carom_family_pair(searched->family, p));
    if (!status) taken->xi = uniqueness->difference;
    carom_uniqueness_free(uniqueness);
    carom_impact_free(impact);
    return status;
}

// Searches the scene's family, and writes the new scene to `file`, unless that is NULL.
static carom_status solve(const cli_arguments *arguments, carom_scene *scene, const char *file, study *searched, carom_error *error) {
    carom_status status = carom_family_create(scene, &searched->family, error);
    if (status) return status;
    carom_family *family = searched->family;
    searched->variables = carom_family_variables(family);
    searched->pairs = carom_family_pairs(family);
    searched->contacts = carom_impact_get_data(carom_scene_impact(scene))->contacts;
    // Where the search ends, and what is measured before and after it.
    searched->x = carom_arena_take(&searched->arena, (size_t)searched->variables, sizeof(double));
    searched->gaps = carom_arena_take(&searched->arena, (size_t)searched->contacts, sizeof(double));
    searched->before.cosines = carom_arena_take(&searched->arena, (size_t)searched->pairs, sizeof(double));
    searched->after.cosines = carom_arena_take(&searched->arena, (size_t)searched->pairs, sizeof(double));
    if (searched->arena.failed) return carom_fail_memory(error, "design");

    // As many equations as pairs of contacts, and one for each contact's gap.
    const carom_design_problem problem = {.variables = searched->variables,
                                          .equations = searched->pairs + searched->contacts,
                                          .start = carom_family_start(family),
                                          .scale = carom_family_scale(family),
                                          .user = searched,
                                          .evaluate = evaluate};
    carom_control control;
    // Measure, search, measure.
    status = take_measure(searched, problem.start, &searched->before, error);
    if (!status) status = cli_start_control(arguments, &control, error);
    if (!status) status = carom_design_solve(&problem, &control, searched->x, &searched->result, error);
    if (!status) status = take_measure(searched, searched->x, &searched->after, error);
    if (!status && file) status = carom_family_write(family, searched->x, file, error);
    return status;
}

static void release(study *searched) {
    carom_family_free(searched->family);
    carom_arena_free(&searched->arena);
}

carom_status cli_design_scene(const cli_arguments *arguments, const char *file, carom_error *error) {
    carom_scene *scene = NULL;
    study searched = {0};
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, error);
    if (!status) status = solve(arguments, scene, file, &searched, error);
    if (!status && searched.result.verdict != CAROM_COMPLETE)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the scene's design has no solution; `carom design` shows how near it came",
                            arguments->operand);
    release(&searched);
    carom_scene_free(scene);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- output

static json_t *measure_json(const study *searched, const measure *taken) {
    return json_pack("{s:o, s:o}", "cosines", carom_json_reals(taken->cosines, searched->pairs), "xi", carom_json_real(taken->xi));
}

static int run(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    study searched = {0};
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) status = solve(arguments, scene, file, &searched, &error);
    const carom_family *family = searched.family;
    const carom_design_result *result = &searched.result;
    const bool complete = result->verdict == CAROM_COMPLETE;
    int exit_status = complete ? EXIT_DONE : EXIT_INCOMPLETE;
    if (!status) cli_warn(scene);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        // The solution in the scene's own terms: a configuration, and parameters by their names.
        const char *const *names;
        const double *values;
        int count;
        const double *position = carom_family_position(searched.family, searched.x, &count);
        json_t *qpos = carom_json_reals(position, count), *parameters = json_object();
        carom_family_parameters(searched.family, searched.x, &names, &values, &count);
        for (int i = 0; i < count; i++) json_object_set_new(parameters, names[i], carom_json_real(values[i]));
        json_t *document =
            json_pack("{s:s, s:b, s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "schema", "carom.design/1", "complete", complete,
                      "verdict", carom_verdict_name(result->verdict), "before", measure_json(&searched, &searched.before), "after",
                      measure_json(&searched, &searched.after), "iterations", (json_int_t)result->iterations, "evaluations",
                      (json_int_t)result->evaluations, "residual", carom_json_real(result->residual), "qpos", qpos, "parameters",
                      parameters, "file", carom_json_text(file));
        exit_status = cli_print_json(document, exit_status);
    } else {
        const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
        printf("%s: %s after %" PRId64 " Newton steps, residual %.3g\n", carom_scene_name(scene), complete ? "solved" : "no solution found",
               result->iterations, result->residual);
        for (int p = 0; p < searched.pairs; p++) {
            const int *pair = carom_family_pair(family, p);
            printf("  cosine %s, %s: %.9g -> %.9g\n", data->names[pair[0]], data->names[pair[1]], searched.before.cosines[p],
                   searched.after.cosines[p]);
        }
        printf("  xi: %.9g -> %.9g\n", searched.before.xi, searched.after.xi);
        // Coordinates and parameters, from the scene's to the new ones.
        for (int i = 0; i < searched.variables; i++)
            printf("  %-12s %18.12g -> %.12g\n", carom_family_variable(family, i), carom_family_start(family)[i], searched.x[i]);
        if (file) printf("written to %s (JSON)\n", file);
    }
    release(&searched);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_design = {
    .name = "design",
    .summary = "the nearest scene in which the order of impacts does not matter",
    .operand = "SCENE",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run,
};
