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
    {"cone-edges", "K", "spatial contacts, one or two: the set for linearised friction cones of so many edges, even, at least 4"},
    {"contacts-only", NULL,
     "where v- is uncertain, contact velocities alone: much faster where velocities differ by more than contacts feel"},
    {"reached", NULL, "keep the velocities that solutions pass through, too: in JSON and in the file, and grey in its pictures"},
    {"export", "FILE", "write the polytopes as text: their constraints and their vertices"},
    {"output", "FILE", "write the vertices and constraints to an HDF5 file"},
    {"json", NULL, "print one JSON document"},
};

// Of this command, and of no scene, whose keys may be meant for samples of the same impact.
static const carom_option cone_edges = {"cone_edges",
                                        CAROM_OPTION_INTEGER,
                                        offsetof(carom_exact_options, cone_edges),
                                        CAROM_MIN_CONE_EDGES,
                                        CAROM_MAX_CONE_EDGES,
                                        "",
                                        "none",
                                        "edges of linearised friction cones of spatial contacts",
                                        NULL};

// ---------------------------------------------------------------------------------------------------------------- JSON

// The pieces with their vertices, in reals and in exact fractions. Polyhedra are contact-major; in JSON all normal velocities come before
// the tangential ones.
// @param velocities  generalised velocities are known
static json_t *pieces_json(const carom_impact *impact, const carom_polyhedra *set, bool velocities) {
    const int n = set->n, contacts = carom_impact_get_data(impact)->contacts, stride = n / contacts;
    json_t *pieces = json_array();
    for (int i = 0; i < set->count; i++) {
        const carom_piece *piece = &set->pieces[i];
        json_t *vertices = json_array();
        for (int k = 0; k < piece->vertices; k++) {
            char *const *fractions = piece->exact + k * n;
            json_t *vertex = json_object(), *exact = json_array();
            cli_add_contact_velocity(vertex, impact, piece->contact_velocity + k * n);
            json_object_set_new(vertex, "v_plus",
                                velocities && carom_impact_has_system(impact) ? carom_json_reals(piece->velocity + k * set->nv, set->nv)
                                                                              : json_null());
            for (int j = 0; j < n; j += stride) json_array_append_new(exact, json_string(fractions[j]));
            for (int j = 0; j < n; j++)
                if (j % stride) json_array_append_new(exact, json_string(fractions[j]));
            json_object_set_new(vertex, "exact", exact);
            json_array_append_new(vertices, vertex);
        }
        json_array_append_new(pieces, json_pack("{s:i, s:o}", "dimension", piece->dimension, "vertices", vertices));
    }
    return pieces;
}

// ---------------------------------------------------------------------------------------------------------------- text

// What the set is, its first vertices, and what it cost.
static int print_text(const carom_scene *scene, const carom_exact_set *set, const carom_answer *answer, const char *file) {
    static const char *const shapes[] = {"point", "segment", "polygon", "polyhedron", "polytope"};
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const char *certificate = carom_table_text(answer->result, carom_table_find(answer->result, "certificate"), 0);
    printf("%s: %s; %d piece%s (%s), dimension %d\n", carom_scene_name(scene), carom_exact_status_name(set->status), set->pieces->count,
           set->pieces->count == 1 ? "" : "s", certificate, set->dimension);
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
    if (uncertainty && !strcmp(certificate, "outer"))
        printf("  an outer set of all that is uncertain, and more: friction may also change during the impact");
    else if (uncertainty)
        printf("  the union of the sets of all that is uncertain");
    if (uncertainty) cli_print_parameters(uncertainty);
    const char *friction = carom_table_text(answer->result, carom_table_find(answer->result, "friction"), 0);
    if (set->cone_edges) printf("  %s, whose set is neither in nor around that of round cones\n", friction);
    if (*set->reason) printf("  %s\n", set->reason);
    const double ratio = *carom_table_reals(answer->result, carom_table_find(answer->result, "energy_ratio"));
    if (ratio > 1) printf("  the set gains energy: up to %.4g times that before the impact\n", ratio);
    if (set->outer)
        printf("  there is also a certified outer set of %d piece%s: see --json, --export or -o\n", set->outer->count,
               set->outer->count == 1 ? "" : "s");
    if (set->reached) printf("  solutions pass through %d pieces: see --json or -o\n", set->reached->count);
    // The first vertices, piece by piece.
    const carom_polyhedra *pieces = set->pieces;
    int left = SHOWN_VERTICES;
    if (pieces->count) printf("vertices, m/s:");
    for (int i = 0; i < data->contacts && pieces->count; i++)
        printf(data->tangent_dim == 1 ? "  Jn.%s  Jt.%s" : "  Jn.%s  Jt.%s  Jt.%s.2", data->names[i], data->names[i], data->names[i]);
    if (pieces->count) putchar('\n');
    for (int i = 0; i < pieces->count && left > 0; i++) {
        const carom_piece *piece = &pieces->pieces[i];
        printf("  %s, %d %s\n", shapes[piece->dimension < 4 ? piece->dimension : 4], piece->vertices,
               piece->vertices == 1 ? "vertex" : "vertices");
        for (int k = 0; k < piece->vertices && left-- > 0; k++) {
            printf("   ");
            for (int j = 0; j < pieces->n; j++) printf(" %13.9g", cli_shown(impact, piece->contact_velocity[k * pieces->n + j]));
            putchar('\n');
        }
    }
    if (left <= 0) printf("  ... --json, --export and -o give them all\n");
    // A problem that was refused has no numbers to report.
    if (set->dimension) {
        printf("%" PRId64 " elapses, %" PRId64 " bits, %.3g s; ", set->elapses, set->bits, set->seconds);
        if (set->data_change > 0)
            printf("numbers were rounded by up to %.2g of their scale\n", set->data_change);
        else
            printf("all numbers were taken exactly\n");
        if (file) {
            printf("written to %s (HDF5); `carom plot ", file);
            cli_print_word(file);
            puts("` draws it");
        }
    }
    return cli_exit_status(answer);
}

// ------------------------------------------------------------------------------------------------------------- running

// Computes the set, and writes the files that are asked for.
// @param unused  receives what is given and has no part in the set
static carom_status solve(const cli_arguments *arguments, const carom_scene *scene, carom_exact_set **set, carom_answer *answer,
                          int *unused, carom_error *error) {
    const char *output = cli_value(arguments, "output"), *export = cli_value(arguments, "export");
    if (export && output && !strcmp(export, output))
        return carom_fail(error, CAROM_BAD_INPUT, "--export: '%.200s' is also where -o writes: name two files", export);
    carom_control control;
    void *options = NULL;
    cli_question question = {
        .arguments = arguments, .scene = scene, .law = carom_law_find(arguments->registry, law_name), .control = &control, .strict = true};
    // Places that cannot be written are refused before the work.
    carom_status status = export ? carom_polyhedra_check(export, error) : CAROM_OK;
    if (!status && output) status = carom_result_writer_create(output, scene, &question.writer, error);
    if (!status) status = cli_start_control(arguments, &control, error);
    if (!status) status = cli_prepare_options(&question, NULL, &options, error);
    // What is uncertain in the scene.
    carom_exact_options *asked = options;
    if (!status) status = cli_apply_rows(arguments, &cone_edges, 1, asked, error);
    const bool contacts_only = cli_given(arguments, "contacts-only");
    if (!status && output && contacts_only)
        status = carom_fail(error, CAROM_BAD_INPUT,
                            "--contacts-only: a result file (-o) holds velocities, which are left out: use --json or --export");
    carom_uncertain_support support = {0};
    carom_exact_start start;
    if (!status) status = cli_find_support(scene, asked->hypothesis != CAROM_EXACT_INELASTIC, &support, &start, error);
    if (!status && support.vertices) asked->start = &start;
    if (!status) asked->friction = support.friction;
    if (!status) {
        // The set itself comes back beside the law's outcomes, which are its vertices.
        asked->set = set;
        asked->contacts_only = contacts_only;
        asked->reached = cli_given(arguments, "reached");
        status = cli_resolve_law(&question, options, answer, error);
        const carom_given given = cli_given_by(arguments, scene);
        *unused = carom_law_unused(question.law, options, &given);
    }
    // A certified outer set goes into the file as a law of its own, beside the inner one, and so does what solutions pass through.
    const carom_law *const beside[] = {&carom_exact_outer_law, &carom_exact_reached_law};
    for (int i = 0; i < 2 && !status && output; i++) {
        if (!(i ? (*set)->reached : (*set)->outer)) continue;
        const cli_question more = {.arguments = arguments, .scene = scene, .law = beside[i], .writer = question.writer};
        carom_answer other = {NULL, NULL};
        status = cli_resolve_law(&more, options, &other, error);
        carom_answer_free(&other);
    }
    if (status && options) cli_place_error(arguments, scene, &cone_edges, 1, error);
    if (status && options) cli_place_error(arguments, scene, question.law->options, question.law->option_count, error);
    // The text has both sets, and comes before the HDF5 file takes its place.
    if (!status && export) status = carom_polyhedra_write(export, scene, (*set)->pieces, (*set)->outer, error);
    if (!status && output) status = carom_result_writer_commit(question.writer, error);
    carom_result_writer_free(question.writer);
    carom_uncertain_support_free(&support);
    free(options);
    return status;
}

static int run_exact(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    carom_exact_set *set = NULL;
    carom_answer answer = {NULL, NULL};
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    int exit_status, unused = 0;
    if (!status) status = solve(arguments, scene, &set, &answer, &unused, &error);
    if (!status) cli_warn_uncertain(scene);
    if (!status) cli_say_unused(arguments, scene, (const carom_law *[]){carom_law_find(arguments->registry, law_name)}, &unused, 1);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        const carom_impact *impact = carom_scene_impact(scene);
        const bool velocities = !cli_given(arguments, "contacts-only") || !carom_scene_uncertainty(scene);
        json_t *document = json_pack("{s:s}", "schema", "carom.exact/1");
        cli_add_result(document, answer.result);
        json_object_set_new(document, "pieces", pieces_json(impact, set->pieces, velocities));
        if (set->outer) json_object_set_new(document, "outer", pieces_json(impact, set->outer, velocities));
        if (set->reached) json_object_set_new(document, "reached", pieces_json(impact, set->reached, velocities));
        json_object_set_new(document, "seconds", carom_json_real(set->seconds));
        json_object_set_new(document, "file", carom_json_text(file));
        const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
        json_object_set_new(document, "uncertain", json_boolean(uncertainty != NULL));
        if (uncertainty) json_object_set_new(document, "parameters", cli_parameters_json(uncertainty));
        exit_status = cli_print_json(document, cli_exit_status(&answer));
    } else {
        exit_status = print_text(scene, set, &answer, file);
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
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .law = law_name,
    .run = run_exact,
};
