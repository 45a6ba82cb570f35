// SPDX-License-Identifier: Apache-2.0
// `carom compliant`: sweeps of impacts of compliant bodies, laid over the set of outcomes of rigid ones.
//
// The sweep is compared with the exact set in the plane of normal velocities: how far each of its outcomes is from the set, and by how much
// its largest normal velocities exceed the set's.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

// Distance from the set at which a normal velocity still counts as one of it: compliance leaves about that [m/s].
#define CONTAINED 1e-6

// Rows that the terminal shows.
enum { SHOWN_POINTS = 60 };

static const cli_flag flags[] = {
    {"threads", "N", "threads (default: one per core); results do not depend on it"},
    {"figure", "FILE", "draw the normal velocities over the exact set, PNG, SVG or PDF"},
    {"output", "FILE", "write the impacts and the exact set to an HDF5 file"},
    {"json", NULL, "print one JSON document"},
};

// A sweep and what it is compared with.
typedef struct comparison {
    const cli_arguments *arguments;
    const carom_scene *scene;
    carom_compliant_options options;
    carom_answer answer;
    carom_exact_set *exact;
    carom_set *normals;  // the exact set's normal velocities; NULL where there is none
    double *distances;   // [points] of the sweep's normal velocities from them
    int64_t points;      // of the sweep
    carom_sizes sizes;   // of the impact
    double seconds;
} comparison;

// A column of the sweep's outcomes.
static const double *column(const comparison *c, int index) { return carom_table_real_column(c->answer.outcomes, index); }

static bool is_settled(const comparison *c, int64_t point) {
    return carom_table_integer_column(c->answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_SETTLED)[point] != 0;
}

// By how much the sweep's impacts that ended go beyond the set in the normal velocity of a contact, over the set's largest; NaN where that
// is zero, or no impact ended.
static double excess_of(const comparison *c, int contact) {
    const double *normal = column(c, CAROM_OUTCOME_NORMAL_VELOCITY);
    const carom_polyhedra *set = c->exact->pieces;
    double fastest = -INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < c->points; i++)
        if (is_settled(c, i)) fastest = fmax(fastest, normal[i * c->sizes.contacts + contact]);
    for (int i = 0; i < set->count; i++)
        for (int k = 0; k < set->pieces[i].vertices; k++)
            most = fmax(most, set->pieces[i].contact_velocity[k * set->n + contact * set->n / c->sizes.contacts]);
    return most > 0 && isfinite(fastest) ? fastest / most - 1 : NAN;
}

// ------------------------------------------------------------------------------------------------------------- running

// The set of rigid bodies with the options of the scene, its outcomes into `writer` where there is one, and their normal velocities.
static carom_status find_exact_set(comparison *c, const carom_control *control, carom_result_writer *writer, carom_error *error) {
    const carom_law *law = carom_law_find(c->arguments->registry, "halm-posa-exact");
    const cli_question question = {.arguments = c->arguments, .scene = c->scene, .law = law, .control = control, .writer = writer};
    carom_exact_options options = carom_exact_defaults();
    carom_answer answer = {NULL, NULL};
    carom_status status = carom_scene_apply(c->scene, law->options, law->option_count, &options, error);
    options.mode = CAROM_EXACT_UNION;
    options.set = &c->exact;
    if (!status) status = cli_resolve_law(&question, &options, &answer, error);
    carom_answer_free(&answer);
    if (status || c->exact->status != CAROM_EXACT_OK) return status;

    // Of the vertices of each piece, every `stride`-th contact velocity is a normal one.
    const carom_polyhedra *set = c->exact->pieces;
    const int contacts = c->sizes.contacts, stride = set->n / contacts;
    size_t vertices = 0;
    for (int i = 0; i < set->count; i++) vertices += (size_t)set->pieces[i].vertices;
    carom_arena arena = {0};
    int64_t *starts = carom_arena_take(&arena, (size_t)set->count + 1, sizeof *starts);
    double *points = carom_arena_take(&arena, vertices * (size_t)contacts, sizeof *points), *next = points;
    if (arena.failed) status = carom_fail_memory(error, "exact set");
    for (int i = 0; i < set->count && !status; i++) {
        const carom_piece *piece = &set->pieces[i];
        starts[i + 1] = starts[i] + piece->vertices;
        for (int k = 0; k < piece->vertices; k++)
            for (int j = 0; j < set->n; j += stride) *next++ = piece->contact_velocity[k * set->n + j];
    }
    if (!status) status = carom_set_create(contacts, set->count, starts, points, &c->normals, error);
    carom_arena_free(&arena);
    return status;
}

// Runs the sweep, finds the exact set, and measures the one by the other.
static carom_status run(comparison *c, carom_error *error) {
    const carom_law *law = &carom_compliant_law;
    const carom_impact *impact = carom_scene_impact(c->scene);
    const char *output = cli_value(c->arguments, "output");
    const cli_owner owner = {"command", "compliant", law->summary, law->options, law->option_count};
    carom_control control;
    carom_result_writer *writer = NULL;
    carom_sink file;

    // Options of the scene, then those of the command line.
    c->options = carom_compliant_defaults();
    carom_status status = carom_scene_apply_compliant(c->scene, law->options, law->option_count, &c->options, error);
    if (!status) status = cli_apply_owner(c->arguments, &owner, true, &c->options, error);
    if (!status) status = carom_scene_system(c->scene, &c->options.system, error);
    const double start = carom_clock_seconds();
    if (!status) status = cli_start_control(c->arguments, &control, error);

    // The sweep, into memory and into the file.
    if (!status && output) status = carom_result_writer_create(output, c->scene, &writer, error);
    if (!status && writer) status = carom_result_writer_open_law(writer, law, &c->options, &file, error);
    if (!status) {
        status =
            carom_law_resolve(law, &(carom_law_call){impact, &c->options, c->arguments->registry, &control, NULL, NULL}, &c->answer, error);
        cli_end_progress();
        // Say where an option came from that the law refuses.
        if (status && cli_blame(c->arguments, carom_compliant_rows, CAROM_COMPLIANT_ROWS, error)) {
            const carom_error inner = *error;
            carom_fail(error, status, "%s: compliant: %s", carom_scene_path(c->scene), inner.message);
        }
    }
    if (!status && writer) status = file.receive(file.user, c->answer.outcomes, error);
    if (!status && writer) status = carom_result_writer_close_law(writer, c->answer.result, error);

    // The exact set, and how far the sweep is from it. Without an exact set the sweep stands alone.
    if (!status) {
        c->points = carom_table_rows(c->answer.outcomes);
        c->sizes = carom_impact_sizes(impact);
    }
    if (!status && carom_exact_available()) status = find_exact_set(c, &control, writer, error);
    if (!status) {
        const double *normal = column(c, CAROM_OUTCOME_NORMAL_VELOCITY);
        c->distances = malloc((size_t)c->points * sizeof *c->distances + 1);
        if (!c->distances) status = carom_fail_memory(error, "compliant");
        for (int64_t i = 0; i < c->points && c->normals && !status; i++)
            c->distances[i] = carom_set_distance(c->normals, normal + i * c->sizes.contacts, NULL);
    }
    if (!status && writer) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    c->seconds = carom_clock_seconds() - start;
    return status;
}

// -------------------------------------------------------------------------------------------------------------- figure

// The sweep's normal velocities of the first two contacts over the set, coloured by its parameter.
static carom_status write_figure(const comparison *c, const char *path, carom_error *error) {
    const int contacts = c->sizes.contacts;
    if (contacts < 2) return carom_fail(error, CAROM_BAD_INPUT, "--figure: the plane of two normal velocities needs two contacts");
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(c->scene));
    const carom_polyhedra *set = c->normals ? c->exact->pieces : &(carom_polyhedra){0};
    char label[64], ratio_label[2 * CAROM_MAX_NAME + 64], x_label[CAROM_MAX_NAME + 32], y_label[CAROM_MAX_NAME + 32];
    snprintf(label, sizeof label, "compliant, %s sweep", carom_compliant_rows[0].choices[c->options.sweep]);
    snprintf(ratio_label, sizeof ratio_label, "stiffness of %s over that of %s, log10", data->names[0], data->names[1]);
    snprintf(x_label, sizeof x_label, "normal velocity of %s [m/s]", data->names[0]);
    snprintf(y_label, sizeof y_label, "normal velocity of %s [m/s]", data->names[1]);
    // Room for the sweep, for the vertices of one piece, and for the outlines of all pieces.
    size_t room = 0, most = 0;
    for (int i = 0; i < set->count; i++) {
        const size_t vertices = (size_t)set->pieces[i].vertices;
        room += vertices + 2;
        most = vertices > most ? vertices : most;
    }
    carom_arena arena = {0};
    double *swept_x = carom_arena_take(&arena, (size_t)c->points, sizeof *swept_x);
    double *swept_y = carom_arena_take(&arena, (size_t)c->points, sizeof *swept_y);
    double *drawn_x = carom_arena_take(&arena, room, sizeof *drawn_x), *drawn_y = carom_arena_take(&arena, room, sizeof *drawn_y);
    double *x = carom_arena_take(&arena, most, sizeof *x), *y = carom_arena_take(&arena, most, sizeof *y);
    int64_t *hull = carom_arena_take(&arena, most, sizeof *hull), count = 0;
    carom_status status = arena.failed ? carom_fail_memory(error, "figure") : CAROM_OK;
    const double *normal = column(c, CAROM_OUTCOME_NORMAL_VELOCITY);
    for (int64_t i = 0; i < c->points && !status; i++) {
        swept_x[i] = normal[i * contacts];
        swept_y[i] = normal[i * contacts + 1];
    }
    // The outline of each piece in the plane of the two velocities, with a NaN after it.
    for (int i = 0; i < set->count && !status; i++) {
        const carom_piece *piece = &set->pieces[i];
        int64_t corners;
        for (int k = 0; k < piece->vertices; k++) {
            x[k] = piece->contact_velocity[k * set->n];
            y[k] = piece->contact_velocity[k * set->n + set->n / contacts];
        }
        status = carom_hull_plane(x, y, piece->vertices, hull, &corners, error);
        for (int64_t k = 0; k <= corners && !status; k++, count++) {
            drawn_x[count] = x[hull[k % corners]];
            drawn_y[count] = y[hull[k % corners]];
        }
        if (status) break;
        drawn_x[count] = drawn_y[count] = NAN;
        count++;
    }
    const carom_plot_series series[] = {{label, CAROM_PLOT_COLOURED, c->points, swept_x, swept_y},
                                        {"exact set", CAROM_PLOT_AREAS, count, drawn_x, drawn_y}};
    int looks[2];
    carom_plot_assign_looks(2, (const char *const[]){NULL, "halm-posa-exact"}, looks);
    const carom_plot plot = {.title = carom_scene_name(c->scene),
                             .x_label = x_label,
                             .y_label = y_label,
                             .series = series,
                             .series_count = count ? 2 : 1,
                             .colours = column(c, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_PARAMETER),
                             .colour_label = c->options.sweep == CAROM_SWEEP_ANGLE ? "angle [deg]" : ratio_label};
    if (!status) status = carom_plot_write_looks(&plot, looks, path, error);
    carom_arena_free(&arena);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- output

// Every point, and what is known of them together; null for what needs the exact set where there is none.
static json_t *make_json(const comparison *c) {
    const carom_sizes *sizes = &c->sizes;
    const double *parameter = column(c, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_PARAMETER);
    const double *time = column(c, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_TIME), *v = column(c, CAROM_OUTCOME_VELOCITY);
    const double *normal = column(c, CAROM_OUTCOME_NORMAL_VELOCITY), *tangent = column(c, CAROM_OUTCOME_TANGENT_VELOCITY);
    const double *impulse = column(c, CAROM_OUTCOME_NORMAL_IMPULSE);
    json_t *points = json_array(), *excess = c->normals ? json_array() : json_null();
    for (int64_t i = 0; i < c->points; i++)
        json_array_append_new(points, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "parameter", carom_json_real(parameter[i]),
                                                "normal_velocity", carom_json_reals(normal + i * sizes->contacts, sizes->contacts),
                                                "tangent_velocity", carom_json_reals(tangent + i * sizes->tangents, sizes->tangents),
                                                "contained", c->normals ? json_boolean(c->distances[i] <= CONTAINED) : json_null(),
                                                "distance", c->normals ? carom_json_real(c->distances[i]) : json_null(), "v_plus",
                                                carom_json_reals(v + i * sizes->nv, sizes->nv), "normal_impulse",
                                                carom_json_reals(impulse + i * sizes->contacts, sizes->contacts), "settled",
                                                (int)is_settled(c, i), "time", carom_json_real(time[i])));
    for (int i = 0; i < sizes->contacts && c->normals; i++) json_array_append_new(excess, carom_json_real(excess_of(c, i)));
    json_t *document =
        json_pack("{s:s, s:b, s:o}", "schema", "carom.compliant/1", "complete", carom_answer_complete(&c->answer), "points", points);
    cli_add_result(document, c->answer.result);
    json_object_set_new(document, "set", json_string(c->exact ? carom_exact_status_name(c->exact->status) : "unavailable"));
    json_object_set_new(document, "excess", excess);
    json_object_set_new(document, "seconds", carom_json_real(c->seconds));
    json_object_set_new(document, "file", carom_json_text(cli_value(c->arguments, "output")));
    json_object_set_new(document, "figure", carom_json_text(cli_value(c->arguments, "figure")));
    return document;
}

// A table of the sweep, then how it compares with the exact set.
static void print_text(const comparison *c) {
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(c->scene));
    const double *parameter = column(c, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_PARAMETER);
    const double *normal = column(c, CAROM_OUTCOME_NORMAL_VELOCITY);
    // A table of the first points: parameter, normal velocities, distance from the set.
    printf("%s: %s\n  %12s ", carom_scene_name(c->scene), carom_compliant_rows[0].choices[c->options.sweep],
           c->options.sweep == CAROM_SWEEP_ANGLE ? "angle, deg" : "log10 ratio");
    for (int i = 0; i < data->contacts; i++) printf(" %12s.%-2s", "Jn", data->names[i]);
    printf("%s\n", c->normals ? "  distance" : "");
    for (int64_t i = 0; i < c->points && i < SHOWN_POINTS; i++) {
        printf("  %12.6g ", parameter[i]);
        for (int k = 0; k < data->contacts; k++) printf(" %15.10f", normal[i * data->contacts + k]);
        if (c->normals) printf("  %9.2e%s", c->distances[i], c->distances[i] <= CONTAINED ? "" : "  outside");
        puts(is_settled(c, i) ? "" : "  not settled");
    }
    if (c->points > SHOWN_POINTS) printf("  ... --json and -o give them all\n");
    // How many of the impacts ended and lie in the set, and by how much the largest velocities exceed it.
    int64_t settled = 0, contained = 0;
    double farthest = 0;
    for (int64_t i = 0; i < c->points; i++) {
        settled += is_settled(c, i);
        contained += c->normals && c->distances[i] <= CONTAINED;
        farthest = c->normals ? fmax(farthest, c->distances[i]) : farthest;
    }
    if (settled < c->points) printf("%" PRId64 " of %" PRId64 " settled before the horizon\n", settled, c->points);
    if (c->normals) {
        printf("%" PRId64 " of %" PRId64 " within %g m/s of the exact set in the normal velocities; largest distance %.3g m/s\n", contained,
               c->points, CONTAINED, farthest);
    } else {
        // Some statuses come with a reason, others say all in their sentence.
        const char *reason = c->exact ? c->exact->reason : "this build has none";
        printf("no exact set to lay it over: %s\n", *reason ? reason : carom_exact_status_sentence(c->exact->status));
    }
    for (int i = 0; i < data->contacts && c->normals; i++) {
        const double excess = excess_of(c, i);
        const char *side = excess < 0 ? "short of" : "beyond";
        if (!isnan(excess)) printf("  Jn.%s: largest value %.3f %% %s the set's\n", data->names[i], 100 * fabs(excess), side);
    }
    if (!carom_answer_complete(&c->answer)) printf("%s\n", carom_table_text(c->answer.result, CAROM_RESULT_VERDICT, 0));
    const double first = *carom_table_real_column(c->answer.result, CAROM_RESULT_COLUMNS + CAROM_COMPLIANT_FIRST_FRACTION);
    if (!isnan(first)) printf("at the largest angle the first contact has %.6f of its impulse before the second touches\n", first);
    printf("%.3g s\n", c->seconds);
    if (cli_given(c->arguments, "output")) printf("written to %s (HDF5)\n", cli_value(c->arguments, "output"));
    if (cli_given(c->arguments, "figure")) printf("%s\n", cli_value(c->arguments, "figure"));
}

static int run_compliant(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    comparison c = {.arguments = arguments};
    const char *figure = cli_value(arguments, "figure");
    carom_status status = carom_scene_read_motion(arguments->operand, arguments->registry, &scene, &error);
    c.scene = scene;
    if (!status) status = run(&c, &error);
    if (!status && figure) status = write_figure(&c, figure, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = carom_answer_complete(&c.answer) && c.normals ? EXIT_DONE : EXIT_INCOMPLETE;
        if (cli_given(arguments, "json"))
            exit_status = cli_print_json(make_json(&c), exit_status);
        else
            print_text(&c);
    }
    free(c.distances);
    carom_set_free(c.normals);
    carom_exact_set_free(c.exact);
    carom_answer_free(&c.answer);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_compliant = {
    .name = "compliant",
    .summary = "impacts of compliant bodies over stiffness ratios or angles, laid over the exact set of rigid ones",
    .operand = "SCENE",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .own_law = &carom_compliant_law,
    .run = run_compliant,
};
