// SPDX-License-Identifier: Apache-2.0
// `carom compliant`: sweeps of impacts of compliant bodies, laid over the set of outcomes of rigid ones.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/sets.h"

// Distance from the set at which a normal velocity still counts as one of it: compliance leaves about that [m/s].
#define CONTAINED 1e-6

// Rows that the terminal shows.
enum { SHOWN_POINTS = 60 };

static const cli_flag flags[] = {
    {"threads", "N", "threads (default: one a core); results do not depend on it"},
    {"figure", "FILE", "draw the normal velocities over the exact set, PNG or SVG"},
    {"output", "FILE", "write the impacts and the exact set to an HDF5 file"},
    {"json", NULL, "print one JSON document"},
};

typedef struct compliant {
    const cli_arguments *arguments;
    const carom_scene *scene;
    carom_compliant_options options;
    carom_answer answer;
    carom_exact_set *exact;
    carom_set *normals;  // the exact set's normal velocities; NULL where there is none
    double *distances;   // [points] from them
    double seconds;
} compliant;

static int64_t points_of(const compliant *c) { return carom_table_rows(c->answer.outcomes); }

static const double *column(const compliant *c, int index) { return carom_table_real_column(c->answer.outcomes, index); }

static bool is_settled(const compliant *c, int64_t point) {
    return carom_table_integer_column(c->answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_SETTLED)[point] != 0;
}

static bool has_set(const compliant *c) { return c->normals != NULL; }

// ------------------------------------------------------------------------------------------------------------- options

// Says where a value came from that the library refuses.
static void place_error(const compliant *c, carom_error *error) {
    for (int i = 0; i < CAROM_COMPLIANT_ROWS; i++) {
        const carom_option *row = &carom_compliant_rows[i];
        const carom_error inner = *error;
        const size_t length = strlen(row->name);
        if (strncmp(error->message, row->name, length) != 0 || strncmp(error->message + length, ": ", 2) != 0) continue;
        if (cli_given(c->arguments, row->name))
            cli_pass_on(row, &inner, error);
        else
            carom_fail(error, inner.status, "%s: compliant: %s", carom_scene_path(c->scene), inner.message);
        return;
    }
}

static carom_status prepare_options(compliant *c, carom_error *error) {
    const carom_law *law = &carom_compliant_law;
    const cli_owner owner = {"command", "compliant", law->summary, law->options, law->option_count};
    c->options = carom_compliant_defaults();
    carom_status status = carom_scene_apply_compliant(c->scene, law->options, law->option_count, &c->options, error);
    if (!status) status = cli_apply_owner(c->arguments, &owner, true, &c->options, error);
    return status ? status : carom_scene_system(c->scene, &c->options.system, error);
}

// ------------------------------------------------------------------------------------------------------------ measuring

static carom_status measure(compliant *c, carom_error *error) {
    const int64_t points = points_of(c);
    const int contacts = carom_impact_get_data(carom_scene_impact(c->scene))->contacts;
    const double *normal = column(c, CAROM_OUTCOME_NORMAL_VELOCITY);
    c->distances = malloc((size_t)points * sizeof *c->distances + 1);
    if (!c->distances) return carom_fail_memory(error, "compliant");
    if (!c->exact || c->exact->status != CAROM_EXACT_OK) return CAROM_OK;
    const carom_status status = cli_set_create(c->exact->pieces, c->exact->pieces->n / contacts, &c->normals, error);
    for (int64_t i = 0; i < points && !status; i++) c->distances[i] = carom_set_distance(c->normals, normal + i * contacts, NULL);
    return status;
}

// The largest normal velocity of a contact over the sweep's impacts that ended, and over the set.
static void measure_extremes(const compliant *c, int contact, double *sweep, double *set) {
    const int contacts = carom_impact_get_data(carom_scene_impact(c->scene))->contacts;
    const double *normal = column(c, CAROM_OUTCOME_NORMAL_VELOCITY);
    const carom_polyhedra *pieces = c->exact->pieces;
    *sweep = *set = -INFINITY;
    for (int64_t i = 0; i < points_of(c); i++)
        if (is_settled(c, i)) *sweep = fmax(*sweep, normal[i * contacts + contact]);
    for (int i = 0; i < pieces->count; i++)
        for (int k = 0; k < pieces->pieces[i].vertices; k++)
            *set = fmax(*set, pieces->pieces[i].contact_velocity[k * pieces->n + contact * pieces->n / contacts]);
}

// By how much the sweep goes beyond the set in one normal velocity, over the set's largest; NaN where that is zero, or no impact ended.
static double excess_of(const compliant *c, int contact) {
    double sweep, set;
    measure_extremes(c, contact, &sweep, &set);
    return set > 0 && isfinite(sweep) ? sweep / set - 1 : NAN;
}

static int64_t count_settled(const compliant *c) {
    int64_t count = 0;
    for (int64_t i = 0; i < points_of(c); i++) count += is_settled(c, i);
    return count;
}

static int64_t count_contained(const compliant *c) {
    int64_t count = 0;
    for (int64_t i = 0; i < points_of(c); i++) count += c->distances[i] <= CONTAINED;
    return count;
}

static double largest_distance(const compliant *c) {
    double largest = 0;
    for (int64_t i = 0; i < points_of(c); i++) largest = fmax(largest, c->distances[i]);
    return largest;
}

// ------------------------------------------------------------------------------------------------------------- running

// The exact set is what the sweep is measured by: where it cannot be had, the sweep stands alone.
static carom_status solve_set(compliant *c, const carom_control *control, carom_result_writer *writer, carom_error *error) {
    if (!carom_exact_available()) return CAROM_OK;
    return cli_solve_exact(c->arguments, c->scene, control, writer, &c->exact, error);
}

static carom_status sweep(compliant *c, const carom_control *control, carom_result_writer *writer, carom_error *error) {
    carom_sink file;
    carom_status status = writer ? carom_result_writer_open_law(writer, &carom_compliant_law, &c->options, &file, error) : CAROM_OK;
    if (!status)
        status = carom_law_resolve(
            &carom_compliant_law, &(carom_law_call){carom_scene_impact(c->scene), &c->options, c->arguments->registry, control, NULL, NULL},
            &c->answer, error);
    cli_end_progress();
    if (status) place_error(c, error);
    if (!status && writer) status = file.receive(file.user, c->answer.outcomes, error);
    if (!status && writer) status = carom_result_writer_close_law(writer, c->answer.result, error);
    return status;
}

static carom_status run(compliant *c, carom_error *error) {
    const char *output = cli_value(c->arguments, "output");
    carom_control control;
    carom_result_writer *writer = NULL;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    carom_status status = cli_start_control(c->arguments, &control, error);
    if (!status && output) status = carom_result_writer_create(output, c->scene, &writer, error);
    if (!status) status = sweep(c, &control, writer, error);
    if (!status) status = solve_set(c, &control, writer, error);
    if (!status) status = measure(c, error);
    if (!status && writer) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    c->seconds = cli_seconds_since(&start);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- figure

// Outlines of the set's pieces in the plane of two normal velocities.
typedef struct outlines {
    double *x, *y;
    int64_t count;
} outlines;

static carom_status add_outline(outlines *drawn, const carom_polyhedra *set, const carom_piece *piece, int second, carom_error *error) {
    double *x = malloc(2 * (size_t)piece->vertices * sizeof *x), *y = x + piece->vertices;
    int64_t *hull = malloc((size_t)piece->vertices * sizeof *hull), corners;
    carom_status status = x && hull ? CAROM_OK : carom_fail_memory(error, "figure");
    for (int k = 0; k < piece->vertices && !status; k++) {
        x[k] = piece->contact_velocity[k * set->n];
        y[k] = piece->contact_velocity[k * set->n + second];
    }
    if (!status) status = carom_plot_hull(x, y, piece->vertices, hull, &corners, error);
    for (int64_t i = 0; !status && i <= corners; i++) {
        drawn->x[drawn->count] = x[hull[i % corners]];
        drawn->y[drawn->count++] = y[hull[i % corners]];
    }
    drawn->x[drawn->count] = drawn->y[drawn->count] = NAN;
    drawn->count++;
    free(x);
    free(hull);
    return status;
}

static carom_status make_outlines(const compliant *c, outlines *drawn, carom_error *error) {
    const carom_polyhedra *set = c->exact->pieces;
    const int second = set->n / carom_impact_get_data(carom_scene_impact(c->scene))->contacts;
    size_t room = 0;
    for (int i = 0; i < set->count; i++) room += (size_t)set->pieces[i].vertices + 2;
    *drawn = (outlines){malloc(2 * room * sizeof(double)), NULL, 0};
    if (!drawn->x) return carom_fail_memory(error, "figure");
    drawn->y = drawn->x + room;
    carom_status status = CAROM_OK;
    for (int i = 0; i < set->count && !status; i++) status = add_outline(drawn, set, &set->pieces[i], second, error);
    return status;
}

static carom_status write_figure(const compliant *c, const char *path, const outlines *drawn, const double *x, const double *y,
                                 carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(c->scene));
    char label[64], x_label[CAROM_MAX_NAME + 32], y_label[CAROM_MAX_NAME + 32];
    snprintf(label, sizeof label, "compliant, %s sweep", carom_compliant_rows[0].choices[c->options.sweep]);
    snprintf(x_label, sizeof x_label, "normal velocity of %s [m/s]", data->names[0]);
    snprintf(y_label, sizeof y_label, "normal velocity of %s [m/s]", data->names[1]);
    const carom_plot_series series[] = {
        {label, CAROM_PLOT_MARKS, points_of(c), x, y},
        {"exact set", CAROM_PLOT_AREAS, drawn->count, drawn->x, drawn->y},
    };
    const carom_plot plot = {carom_scene_name(c->scene), x_label, y_label, series, drawn->count ? 2 : 1, false, false};
    return carom_plot_write(&plot, path, error);
}

static carom_status draw(const compliant *c, const char *path, carom_error *error) {
    const int contacts = carom_impact_get_data(carom_scene_impact(c->scene))->contacts;
    const int64_t points = points_of(c);
    if (contacts < 2) return carom_fail(error, CAROM_BAD_INPUT, "--figure: the plane of two normal velocities needs two contacts");
    outlines drawn = {0};
    double *x = malloc(2 * (size_t)points * sizeof *x + 1), *y = x + points;
    carom_status status = x ? CAROM_OK : carom_fail_memory(error, "figure");
    for (int64_t i = 0; i < points && !status; i++) {
        x[i] = column(c, CAROM_OUTCOME_NORMAL_VELOCITY)[i * contacts];
        y[i] = column(c, CAROM_OUTCOME_NORMAL_VELOCITY)[i * contacts + 1];
    }
    if (!status && has_set(c)) status = make_outlines(c, &drawn, error);
    if (!status) status = write_figure(c, path, &drawn, x, y, error);
    free(drawn.x);
    free(x);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- output

static int exit_status_of(const compliant *c) { return carom_answer_complete(&c->answer) && has_set(c) ? EXIT_DONE : EXIT_INCOMPLETE; }

static json_t *point_json(const compliant *c, int64_t i) {
    const carom_sizes sizes = carom_impact_sizes(carom_scene_impact(c->scene));
    const int own = CAROM_OUTCOME_COLUMNS;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "parameter",
                     carom_json_real(column(c, own + CAROM_COMPLIANT_PARAMETER)[i]), "normal_velocity",
                     carom_json_reals(column(c, CAROM_OUTCOME_NORMAL_VELOCITY) + i * sizes.contacts, sizes.contacts), "tangent_velocity",
                     carom_json_reals(column(c, CAROM_OUTCOME_TANGENT_VELOCITY) + i * sizes.tangents, sizes.tangents), "contained",
                     has_set(c) ? json_boolean(c->distances[i] <= CONTAINED) : json_null(), "distance",
                     has_set(c) ? carom_json_real(c->distances[i]) : json_null(), "v_plus",
                     carom_json_reals(column(c, CAROM_OUTCOME_VELOCITY) + i * sizes.nv, sizes.nv), "normal_impulse",
                     carom_json_reals(column(c, CAROM_OUTCOME_NORMAL_IMPULSE) + i * sizes.contacts, sizes.contacts), "settled",
                     (int)is_settled(c, i), "time", carom_json_real(column(c, own + CAROM_COMPLIANT_TIME)[i]));
}

static json_t *excess_json(const compliant *c) {
    if (!has_set(c)) return json_null();
    json_t *list = json_array();
    for (int i = 0; i < carom_impact_get_data(carom_scene_impact(c->scene))->contacts; i++)
        json_array_append_new(list, carom_json_real(excess_of(c, i)));
    return list;
}

static int print_json(const compliant *c) {
    json_t *points = json_array();
    for (int64_t i = 0; i < points_of(c); i++) json_array_append_new(points, point_json(c, i));
    json_t *document =
        json_pack("{s:s, s:b, s:o}", "schema", "carom.compliant/1", "complete", carom_answer_complete(&c->answer), "points", points);
    cli_add_result(document, c->answer.result);
    json_object_set_new(document, "set", json_string(c->exact ? carom_exact_status_name(c->exact->status) : "unavailable"));
    json_object_set_new(document, "excess", excess_json(c));
    json_object_set_new(document, "seconds", carom_json_real(c->seconds));
    json_object_set_new(document, "file", carom_json_text(cli_value(c->arguments, "output")));
    json_object_set_new(document, "figure", carom_json_text(cli_value(c->arguments, "figure")));
    return cli_print_json(document, exit_status_of(c));
}

static void print_point(const compliant *c, int64_t i) {
    const carom_sizes sizes = carom_impact_sizes(carom_scene_impact(c->scene));
    printf("  %12.6g ", column(c, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_PARAMETER)[i]);
    for (int k = 0; k < sizes.contacts; k++) printf(" %15.10f", column(c, CAROM_OUTCOME_NORMAL_VELOCITY)[i * sizes.contacts + k]);
    if (has_set(c)) printf("  %9.2e%s", c->distances[i], c->distances[i] <= CONTAINED ? "" : "  outside");
    if (!is_settled(c, i)) printf("  not settled");
    putchar('\n');
}

// Why there is no exact set; a status that leaves nothing more to say has no reason beside its sentence.
static const char *missing_set(const compliant *c) {
    if (!c->exact) return "this build has none";
    return *c->exact->reason ? c->exact->reason : carom_exact_status_sentence(c->exact->status);
}

static void print_summary(const compliant *c) {
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(c->scene));
    const int64_t settled = count_settled(c);
    if (settled < points_of(c)) printf("%" PRId64 " of %" PRId64 " settled before the horizon\n", settled, points_of(c));
    if (!has_set(c)) {
        printf("no exact set to lay it over: %s\n", missing_set(c));
        return;
    }
    printf("%" PRId64 " of %" PRId64 " within %g m/s of the exact set in the normal velocities; largest distance %.3g m/s\n",
           count_contained(c), points_of(c), CONTAINED, largest_distance(c));
    for (int i = 0; i < data->contacts; i++) {
        const double excess = excess_of(c, i);
        const char *side = excess < 0 ? "short of" : "beyond";
        if (!isnan(excess)) printf("  Jn.%s: largest value %.3f %% %s the set's\n", data->names[i], 100 * fabs(excess), side);
    }
}

static int print_text(const compliant *c) {
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(c->scene));
    const int64_t points = points_of(c);
    const int fraction = CAROM_RESULT_COLUMNS + CAROM_COMPLIANT_FIRST_FRACTION;
    const double first = *carom_table_real_column(c->answer.result, fraction);
    printf("%s: %s\n  %12s ", carom_scene_name(c->scene), carom_compliant_rows[0].choices[c->options.sweep],
           c->options.sweep == CAROM_SWEEP_ANGLE ? "angle, deg" : "log10 ratio");
    for (int i = 0; i < data->contacts; i++) printf(" %12s.%-2s", "Jn", data->names[i]);
    printf("%s\n", has_set(c) ? "  distance" : "");
    for (int64_t i = 0; i < points && i < SHOWN_POINTS; i++) print_point(c, i);
    if (points > SHOWN_POINTS) printf("  ... --json and -o give them all\n");
    print_summary(c);
    if (!carom_answer_complete(&c->answer)) printf("%s\n", carom_table_text(c->answer.result, CAROM_RESULT_VERDICT, 0));
    if (!isnan(first)) printf("at the largest angle the first contact has %.6f of its impulse before the second touches\n", first);
    printf("%.3g s\n", c->seconds);
    if (cli_given(c->arguments, "output")) printf("written to %s\n", cli_value(c->arguments, "output"));
    if (cli_given(c->arguments, "figure")) printf("%s\n", cli_value(c->arguments, "figure"));
    return exit_status_of(c);
}

static int run_compliant(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    compliant c = {.arguments = arguments};
    const char *figure = cli_value(arguments, "figure");
    carom_status status = carom_scene_read_motion(arguments->operand, arguments->registry, &scene, &error);
    c.scene = scene;
    if (!status) status = prepare_options(&c, &error);
    if (!status) status = run(&c, &error);
    if (!status && figure) status = draw(&c, figure, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = cli_given(arguments, "json") ? print_json(&c) : print_text(&c);
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
