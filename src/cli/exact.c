// SPDX-License-Identifier: Apache-2.0
// `carom exact`: the set of possible outcomes as polytopes, in exact arithmetic.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

static const char law_name[] = "halm-posa-exact";

// Vertices that the terminal shows; JSON and files have them all.
enum { SHOWN_VERTICES = 40 };

static const cli_flag flags[] = {
    {"export", "FILE", "write the polytopes as text, by constraints and by vertices"},
    {"output", "FILE", "write the vertices and constraints to an HDF5 file"},
    {"json", NULL, "print one JSON document"},
};

// ---------------------------------------------------------------------------------------------------------------- JSON

static json_t *exact_json(char *const *texts, const int *order, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_string(texts[order[i]]));
    return list;
}

static json_t *reals_json(const double *values, const int *order, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, carom_json_real(values[order[i]]));
    return list;
}

// Normal velocities come before tangential ones in JSON; polyhedra are contact-major.
static json_t *vertex_json(const carom_impact *impact, const carom_polyhedra *set, const carom_piece *piece, int vertex, const int *order) {
    const int n = set->n, contacts = carom_impact_get_data(impact)->contacts;
    const double *u = piece->contact_velocity + vertex * n;
    json_t *v_plus = carom_impact_has_system(impact) ? carom_json_reals(piece->velocity + vertex * set->nv, set->nv) : json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "normal_velocity", reals_json(u, order, contacts), "tangent_velocity",
                     reals_json(u, order + contacts, n - contacts), "v_plus", v_plus, "exact",
                     exact_json(piece->exact + vertex * n, order, n));
}

static json_t *pieces_json(const carom_impact *impact, const carom_polyhedra *set, const int *order) {
    json_t *pieces = json_array();
    for (int i = 0; i < set->count; i++) {
        const carom_piece *piece = &set->pieces[i];
        json_t *vertices = json_array();
        for (int k = 0; k < piece->vertices; k++) json_array_append_new(vertices, vertex_json(impact, set, piece, k, order));
        json_array_append_new(pieces, json_pack("{s:i, s:o}", "dimension", piece->dimension, "vertices", vertices));
    }
    return pieces;
}

static int exit_status_of(const carom_answer *answer) { return carom_answer_complete(answer) ? EXIT_DONE : EXIT_INCOMPLETE; }

static int print_json(const carom_scene *scene, const carom_exact_set *set, const carom_answer *answer, const char *file) {
    const carom_impact *impact = carom_scene_impact(scene);
    const int n = carom_impact_contact_size(impact), contacts = carom_impact_get_data(impact)->contacts, stride = n / contacts;
    int *order = malloc((size_t)n * sizeof *order), next = 0;
    if (!order) return cli_print_json(NULL, EXIT_INCOMPLETE);
    for (int i = 0; i < contacts; i++) order[next++] = i * stride;
    for (int i = 0; i < n; i++)
        if (i % stride) order[next++] = i;
    json_t *document = json_pack("{s:s}", "schema", "carom.exact/1");
    cli_add_result(document, answer->result);
    json_object_set_new(document, "pieces", pieces_json(impact, set->pieces, order));
    if (set->outer) json_object_set_new(document, "outer", pieces_json(impact, set->outer, order));
    json_object_set_new(document, "seconds", carom_json_real(set->seconds));
    json_object_set_new(document, "file", carom_json_text(file));
    free(order);
    return cli_print_json(document, exit_status_of(answer));
}

// ---------------------------------------------------------------------------------------------------------------- text

static const char *name_dimension(int dimension) {
    static const char *const names[] = {"point", "segment", "polygon", "polyhedron"};
    return dimension < 4 ? names[dimension] : "polytope";
}

static void print_vertex(const carom_impact *impact, const carom_polyhedra *set, const carom_piece *piece, int vertex) {
    printf("   ");
    for (int i = 0; i < set->n; i++) printf(" %13.9g", cli_shown(impact, piece->contact_velocity[vertex * set->n + i]));
    putchar('\n');
}

static void print_pieces(const carom_impact *impact, const carom_polyhedra *set) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    int left = SHOWN_VERTICES;
    printf("vertices, m/s:");
    for (int i = 0; i < data->contacts; i++) printf("  Jn.%s  Jt.%s", data->names[i], data->names[i]);
    putchar('\n');
    for (int i = 0; i < set->count && left > 0; i++) {
        const carom_piece *piece = &set->pieces[i];
        printf("  %s, %d %s\n", name_dimension(piece->dimension), piece->vertices, piece->vertices == 1 ? "vertex" : "vertices");
        for (int k = 0; k < piece->vertices && left-- > 0; k++) print_vertex(impact, set, piece, k);
    }
    if (left <= 0) printf("  ... --json, --export and -o give them all\n");
}

static int print_text(const carom_scene *scene, const carom_exact_set *set, const carom_answer *answer, const char *file) {
    const char *certificate = carom_table_text(answer->result, carom_table_find(answer->result, "certificate"), 0);
    printf("%s: %s; %d piece%s (%s), dimension %d\n", carom_scene_name(scene), carom_exact_status_name(set->status), set->pieces->count,
           set->pieces->count == 1 ? "" : "s", certificate, set->dimension);
    if (*set->reason) printf("  %s\n", set->reason);
    if (set->outer)
        printf("  a certified outer set of %d piece%s was found too: see --json, --export or -o\n", set->outer->count,
               set->outer->count == 1 ? "" : "s");
    if (set->pieces->count) print_pieces(carom_scene_impact(scene), set->pieces);
    // Refused problems have no numbers to report.
    if (!set->dimension) return exit_status_of(answer);
    printf("%" PRId64 " elapses, %" PRId64 " bits, %.3g s; ", set->elapses, set->bits, set->seconds);
    if (set->data_change > 0)
        printf("numbers were rounded by up to %.2g of their scale\n", set->data_change);
    else
        printf("all numbers were taken exactly\n");
    if (file) printf("written to %s; `carom plot %s` draws it\n", file, file);
    return exit_status_of(answer);
}

// ------------------------------------------------------------------------------------------------------------- running

// The certified outer set as a law of its own, beside the inner one.
static carom_status write_outer(const cli_arguments *arguments, const carom_scene *scene, const void *options, carom_result_writer *writer,
                                carom_error *error) {
    const carom_law *law = &carom_exact_outer_law;
    carom_answer answer = {NULL, NULL};
    carom_sink file;
    const carom_law_call call = {carom_scene_impact(scene), options, arguments->registry, NULL, &file, NULL};
    carom_status status = carom_result_writer_open_law(writer, law, options, &file, error);
    if (!status) status = carom_law_resolve(law, &call, &answer, error);
    if (!status) status = carom_result_writer_close_law(writer, answer.result, error);
    carom_answer_free(&answer);
    return status;
}

// Solves, with the outcomes into `writer` where there is one.
static carom_status ask(const cli_arguments *arguments, const carom_scene *scene, carom_result_writer *writer, carom_exact_set **set,
                        carom_answer *answer, carom_error *error) {
    const carom_law *law = carom_law_find(arguments->registry, law_name);
    void *options = NULL;
    carom_control control;
    carom_sink file;
    carom_status status = cli_start_control(arguments, &control, error);
    if (!status) status = cli_prepare_options(arguments, scene, law, true, NULL, &options, error);
    if (!status) ((carom_exact_options *)options)->set = set;
    if (!status && writer) status = carom_result_writer_open_law(writer, law, options, &file, error);
    const carom_law_call call = {carom_scene_impact(scene), options, arguments->registry, &control, writer ? &file : NULL, NULL};
    if (!status) status = carom_law_resolve(law, &call, answer, error);
    cli_end_progress();
    if (!status && writer) status = carom_result_writer_close_law(writer, answer->result, error);
    if (!status && writer && (*set)->outer) status = write_outer(arguments, scene, options, writer, error);
    if (status) cli_place_error(arguments, scene, law->options, law->option_count, error);
    free(options);
    return status;
}

static carom_status solve(const cli_arguments *arguments, const carom_scene *scene, carom_exact_set **set, carom_answer *answer,
                          carom_error *error) {
    const char *output = cli_value(arguments, "output"), *export = cli_value(arguments, "export");
    carom_result_writer *writer = NULL;
    if (export && output && !strcmp(export, output))
        return carom_fail(error, CAROM_BAD_INPUT, "--export: '%.200s' is also where -o writes: name two files", export);
    carom_status status = export ? carom_polyhedra_check(export, error) : CAROM_OK;
    if (!status && output) status = carom_result_writer_create(output, scene, &writer, error);
    if (!status) status = ask(arguments, scene, writer, set, answer, error);
    if (!status && export) status = carom_polyhedra_write(export, scene, (*set)->pieces, (*set)->outer, error);
    if (!status && writer) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    return status;
}

static int run_exact(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    carom_exact_set *set = NULL;
    carom_answer answer = {NULL, NULL};
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) status = solve(arguments, scene, &set, &answer, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = cli_given(arguments, "json") ? print_json(scene, set, &answer, file) : print_text(scene, set, &answer, file);
    }
    carom_answer_free(&answer);
    carom_exact_set_free(set);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_exact = {
    .name = "exact",
    .summary = "the set of possible outcomes as polytopes, in exact arithmetic (law halm-posa-exact)",
    .operand = "SCENE",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .law = law_name,
    .run = run_exact,
};
