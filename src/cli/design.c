// SPDX-License-Identifier: Apache-2.0
// `carom design`: the nearest scene whose contacts meet at a cosine for which the order of their impacts does not matter.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

typedef struct study {
    carom_family *family;
    int variables, pairs, contacts;
    double *x;
    measure before, after;
    carom_design_result result;
} study;

static double cosine_of(const carom_impact *impact, const int *pair) {
    const size_t stride = 1 + (size_t)carom_impact_get_data(impact)->tangent_dim, n = (size_t)carom_impact_contact_size(impact);
    const double *W = carom_impact_delassus(impact);
    const size_t i = (size_t)pair[0] * stride, j = (size_t)pair[1] * stride;
    return W[i * n + j] / sqrt(W[i * n + i] * W[j * n + j]);
}

// The equations: every pair's cosine is the target, and every contact of the scene stays in touch.
static carom_status evaluate(void *user, const double *x, double *residual, carom_error *error) {
    study *s = user;
    carom_impact *impact;
    const carom_status status = carom_family_evaluate(s->family, x, &impact, residual + s->pairs, error);
    for (int p = 0; !status && p < s->pairs; p++)
        residual[p] = cosine_of(impact, carom_family_pair(s->family, p)) - carom_family_target(s->family);
    carom_impact_free(impact);
    return status;
}

static carom_status take_measure(study *s, const double *x, measure *m, carom_error *error) {
    carom_impact *impact = NULL;
    carom_uniqueness *uniqueness = NULL;
    double *gaps = malloc((size_t)s->contacts * sizeof *gaps);
    carom_status status = gaps ? carom_family_evaluate(s->family, x, &impact, gaps, error) : carom_fail_memory(error, "design");
    if (!status) status = cli_info_uniqueness(impact, &uniqueness, error);
    for (int p = 0; !status && p < s->pairs; p++) m->cosines[p] = cosine_of(impact, carom_family_pair(s->family, p));
    if (!status) m->xi = uniqueness->difference;
    carom_uniqueness_free(uniqueness);
    carom_impact_free(impact);
    free(gaps);
    return status;
}

static carom_status start(carom_scene *scene, study *s, carom_error *error) {
    const carom_status status = carom_family_create(scene, &s->family, error);
    if (status) return status;
    s->variables = carom_family_variables(s->family);
    s->pairs = carom_family_pairs(s->family);
    s->contacts = carom_impact_get_data(carom_scene_impact(scene))->contacts;
    s->x = malloc((size_t)s->variables * sizeof *s->x);
    s->before.cosines = malloc((size_t)s->pairs * sizeof *s->before.cosines);
    s->after.cosines = malloc((size_t)s->pairs * sizeof *s->after.cosines);
    return s->x && s->before.cosines && s->after.cosines ? CAROM_OK : carom_fail_memory(error, "design");
}

// Writes the new scene to `file`, unless that is NULL.
static carom_status solve(const cli_arguments *arguments, carom_scene *scene, const char *file, study *s, carom_error *error) {
    carom_control control;
    carom_status status = start(scene, s, error);
    if (!status) status = take_measure(s, carom_family_start(s->family), &s->before, error);
    if (!status) status = cli_start_control(arguments, &control, error);
    if (status) return status;
    const carom_design_problem problem = {.variables = s->variables,
                                          .equations = s->pairs + s->contacts,
                                          .start = carom_family_start(s->family),
                                          .scale = carom_family_scale(s->family),
                                          .user = s,
                                          .evaluate = evaluate};
    status = carom_design_solve(&problem, &control, s->x, &s->result, error);
    if (!status) status = take_measure(s, s->x, &s->after, error);
    if (!status && file) status = carom_family_write(s->family, s->x, file, error);
    return status;
}

static void release(study *s) {
    carom_family_free(s->family);
    free(s->x);
    free(s->before.cosines);
    free(s->after.cosines);
}

carom_status cli_design_scene(const cli_arguments *arguments, const char *file, carom_error *error) {
    carom_scene *scene = NULL;
    study s = {0};
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, error);
    if (!status) status = solve(arguments, scene, file, &s, error);
    if (!status && s.result.verdict != CAROM_COMPLETE)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the scene's design has no solution; `carom design` shows how near it came",
                            arguments->operand);
    release(&s);
    carom_scene_free(scene);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- output

static json_t *measure_json(const study *s, const measure *m) {
    return json_pack("{s:o, s:o}", "cosines", carom_json_reals(m->cosines, s->pairs), "xi", carom_json_real(m->xi));
}

static int print_json(const study *s, const char *file) {
    const char *const *names;
    const double *values, *position;
    int count;
    position = carom_family_position(s->family, s->x, &count);
    json_t *qpos = carom_json_reals(position, count), *parameters = json_object();
    carom_family_parameters(s->family, s->x, &names, &values, &count);
    for (int i = 0; i < count; i++) json_object_set_new(parameters, names[i], carom_json_real(values[i]));
    const bool complete = s->result.verdict == CAROM_COMPLETE;
    return cli_print_json(json_pack("{s:s, s:b, s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "schema", "carom.design/1", "complete",
                                    complete, "verdict", carom_verdict_name(s->result.verdict), "before", measure_json(s, &s->before),
                                    "after", measure_json(s, &s->after), "iterations", (json_int_t)s->result.iterations, "evaluations",
                                    (json_int_t)s->result.evaluations, "residual", carom_json_real(s->result.residual), "qpos", qpos,
                                    "parameters", parameters, "file", carom_json_text(file)),
                          complete ? EXIT_DONE : EXIT_INCOMPLETE);
}

static int print_text(const carom_scene *scene, const study *s, const char *file) {
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    const bool complete = s->result.verdict == CAROM_COMPLETE;
    printf("%s: %s after %" PRId64 " Newton steps, residual %.3g\n", carom_scene_name(scene), complete ? "solved" : "no solution found",
           s->result.iterations, s->result.residual);
    for (int p = 0; p < s->pairs; p++) {
        const int *pair = carom_family_pair(s->family, p);
        printf("  cosine %s, %s: %.9g -> %.9g\n", data->names[pair[0]], data->names[pair[1]], s->before.cosines[p], s->after.cosines[p]);
    }
    printf("  xi: %.9g -> %.9g\n", s->before.xi, s->after.xi);
    for (int i = 0; i < s->variables; i++)
        printf("  %-12s %18.12g -> %.12g\n", carom_family_variable(s->family, i), carom_family_start(s->family)[i], s->x[i]);
    if (file) printf("written to %s\n", file);
    return complete ? EXIT_DONE : EXIT_INCOMPLETE;
}

static int run(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    study s = {0};
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) status = solve(arguments, scene, file, &s, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = cli_given(arguments, "json") ? print_json(&s, file) : print_text(scene, &s, file);
    }
    release(&s);
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
