// SPDX-License-Identifier: Apache-2.0
// `carom sweep`: how the set of outcomes changes with friction, restitution, a velocity or the masses, and at which values it changes its
// contact modes.
#include "cli/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"

static const cli_flag flags[] = {
    {"vary", "NAME=FROM:TO:STEP",
     "a parameter and its values: mu, mu.CONTACT, restitution, restitution.CONTACT, mass (a factor), v.I (I from 1) or a velocity's name, "
     "qpos.I (a coordinate of the pose); a second --vary makes a grid"},
    {"critical", NULL, "bisect every change of the list of modes, and of uniqueness, over the first parameter (exact sets only)"},
    CLI_MODE_FLAGS,
    {"laws", "A,B,...", "also list the outcomes of these laws at each point, asked as the scene says"},
    {"map", NULL, "over one parameter, draw which modes are possible instead of the extents"},
    {"output", "FILE",
     "draw the extents over one parameter, or the map of modes over two (PNG, SVG or PDF), or write all that is found (HDF5: .h5)"},
    {"json", NULL, "print one JSON document"},
};

// A change lies between two values that differ by this share of the larger one, or of the sweep's range near zero.
#define RESOLUTION 1e-7
// Values of a grid are decimals of so many digits: 0.3, not 0.30000000000000004.
#define GRID_DIGITS 12

// ------------------------------------------------------------------------------------------------------------ parameters

// "qpos.3", a coordinate of the pose from 1; false for another name.
static bool find_coordinate(sweep *s, sweep_axis *axis, carom_status *status, carom_error *error) {
    static const char start[] = "qpos.";
    axis->coordinate = -1;
    if (strncmp(axis->name, start, strlen(start)) != 0) return false;
    carom_error inner;
    *status = s->pose ? CAROM_OK : carom_scene_pose_create(s->scene, &s->pose, &inner);
    if (*status) {
        carom_fail(error, *status, "--vary: '%.80s': %.400s", axis->name, inner.message);
        return true;
    }
    char *end;
    const long number = strtol(axis->name + strlen(start), &end, 10);
    const int size = carom_scene_pose_size(s->pose);
    if (number < 1 || number > size || *end)
        *status = carom_fail(error, CAROM_BAD_INPUT, "--vary: '%.80s' is not qpos.I with I from 1 to %d", axis->name, size);
    axis->coordinate = (int)number - 1;
    return true;
}

// "mu.A=0:2:0.05"
static carom_status read_axis(sweep *s, const char *text, sweep_axis *axis, carom_error *error) {
    const char *equals = strrchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    if (!length || length >= sizeof axis->name)
        return carom_fail(error, CAROM_BAD_INPUT, "--vary: '%.80s' is not NAME=FROM:TO:STEP, such as mu=0:2:0.05", text);
    memcpy(axis->name, text, length);
    axis->name[length] = '\0';
    carom_error inner;
    carom_status status = CAROM_OK;
    if (!find_coordinate(s, axis, &status, error) && carom_parameter_find(s->impact, axis->name, &axis->parameter, &inner))
        status = carom_fail(error, inner.status, "--vary: not qpos.I, a coordinate of the pose, and %.400s", inner.message);
    if (status) return status;

    double values[3] = {NAN, NAN, NAN};
    const char *next = equals + 1;
    int read = 0;
    for (bool more = true; read < 3 && more; read++) {
        char *end;
        values[read] = strtod(next, &end);
        if (end == next || (*end && *end != ':') || !isfinite(values[read])) break;
        more = *end == ':';
        next = end + more;
        if (!more && read < 2) break;
        if (read == 2 && more) values[2] = NAN;
    }
    const double from = values[0], to = values[1], step = values[2];
    if (!isfinite(from) || !isfinite(to) || !isfinite(step))
        return carom_fail(error, CAROM_BAD_INPUT, "--vary: '%.80s' is not NAME=FROM:TO:STEP with three finite numbers", text);
    if (!(from <= to && step > 0)) return carom_fail(error, CAROM_BAD_INPUT, "--vary: '%.80s' needs FROM <= TO and STEP > 0", text);
    // The last value is TO where the steps meet it up to round-off.
    const double steps = floor((to - from) / step * (1 + 1e-12) + 1e-9);
    if (!(steps < SWEEP_MOST_POINTS))
        return carom_fail(error, CAROM_BAD_INPUT, "--vary: '%.80s' has more than %d values", text, SWEEP_MOST_POINTS);
    axis->from = from;
    axis->step = step;
    axis->count = (int)steps + 1;
    return CAROM_OK;
}

static double axis_value(const sweep_axis *axis, int index) {
    char text[32];
    snprintf(text, sizeof text, "%.*g", GRID_DIGITS, axis->from + index * axis->step);
    return strtod(text, NULL);
}

// Also by two names: a velocity has a number, too.
static bool same_parameter(const sweep_axis *a, const sweep_axis *b) {
    if (a->coordinate >= 0 || b->coordinate >= 0) return a->coordinate == b->coordinate;
    return a->parameter.kind == b->parameter.kind && a->parameter.index == b->parameter.index;
}

static carom_status read_axes(sweep *s, carom_error *error) {
    const cli_arguments *arguments = s->arguments;
    double points = 1;
    for (int i = 0; i < arguments->count; i++) {
        if (strcmp(arguments->settings[i].name, "vary") != 0) continue;
        if (s->axis_count == SWEEP_MOST_PARAMETERS)
            return carom_fail(error, CAROM_BAD_INPUT, "--vary: at most %d parameters can be varied", SWEEP_MOST_PARAMETERS);
        const carom_status status = read_axis(s, arguments->settings[i].value, &s->axes[s->axis_count], error);
        if (status) return status;
        points *= s->axes[s->axis_count++].count;
    }
    if (!s->axis_count) return carom_fail(error, CAROM_BAD_INPUT, "--vary is missing: say what varies, such as --vary mu=0:2:0.05");
    if (s->axis_count == 2 && same_parameter(&s->axes[0], &s->axes[1]))
        return carom_fail(error, CAROM_BAD_INPUT, "--vary: '%.80s' is given twice", s->axes[1].name);
    if (points > SWEEP_MOST_POINTS) return carom_fail(error, CAROM_BAD_INPUT, "--vary: more than %d points", SWEEP_MOST_POINTS);
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- points

bool sweep_same_modes(const carom_joint_modes *a, const carom_joint_modes *b) {
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++) same = !memcmp(a->modes[i].motions, b->modes[i].motions, (size_t)a->sizes.contacts);
    return same;
}

void sweep_extent(const carom_joint_modes *modes, int index, bool tangent, double range[2]) {
    range[0] = range[1] = NAN;
    for (int i = 0; i < modes->count; i++) {
        const double *of_mode = (tangent ? modes->modes[i].tangent : modes->modes[i].normal) + 2 * index;
        range[0] = fmin(range[0], of_mode[0]);
        range[1] = fmax(range[1], of_mode[1]);
    }
}

// The impact at the pose with these values of the parameters that are coordinates. It has the contacts of the scene, or columns would mean
// something else.
static carom_status pose_impact(const sweep *s, const double *values, carom_impact **posed, carom_error *error) {
    const size_t size = (size_t)carom_scene_pose_size(s->pose);
    double *qpos = malloc((size + 1) * sizeof *qpos);
    if (!qpos) return carom_fail_memory(error, "sweep");
    memcpy(qpos, carom_scene_pose_own(s->pose), size * sizeof *qpos);
    for (int i = 0; i < s->axis_count; i++)
        if (s->axes[i].coordinate >= 0) qpos[s->axes[i].coordinate] = values[i];
    const carom_status status = carom_scene_pose_freeze(s->pose, qpos, posed, error);
    free(qpos);
    if (status) return status;
    const carom_impact_data *now = carom_impact_get_data(*posed), *was = carom_impact_get_data(s->impact);
    bool same = now->nv == was->nv && now->contacts == was->contacts && now->tangent_dim == was->tangent_dim;
    for (int i = 0; i < was->contacts && same; i++) same = !strcmp(now->names[i], was->names[i]);
    if (same) return CAROM_OK;
    carom_impact_free(*posed);
    *posed = NULL;
    return carom_fail(error, CAROM_BAD_INPUT, "at this pose there are other contacts than those of the scene");
}

// The modes of the impact with these values of its parameters. After an interruption a list that is not certified is a part of one.
static carom_status ask_point(sweep *s, sweep_point *point, carom_error *error) {
    carom_parameter parameters[SWEEP_MOST_PARAMETERS];
    double values[SWEEP_MOST_PARAMETERS];
    int count = 0;
    for (int i = 0; i < s->axis_count; i++) {
        if (s->axes[i].coordinate >= 0) continue;
        parameters[count] = s->axes[i].parameter;
        values[count++] = point->values[i];
    }
    carom_impact *posed = NULL, *varied = NULL;
    carom_error inner;
    carom_status status = s->pose ? pose_impact(s, point->values, &posed, &inner) : CAROM_OK;
    if (!status) status = carom_impact_vary(posed ? posed : s->impact, count, parameters, values, &varied, &inner);
    if (!status) status = cli_find_modes(&s->finder, varied, &point->found, &inner);
    // Laws are asked at the points of the grid, not where changes are looked for.
    if (!status && point == &s->points[s->count]) status = sweep_ask_laws(s, varied, s->count, &inner);
    if (status && s->axis_count == 1)
        carom_fail(error, status, "%s = %.9g: %.400s", s->axes[0].name, point->values[0], inner.message);
    else if (status)
        carom_fail(error, status, "%s = %.9g, %s = %.9g: %.400s", s->axes[0].name, point->values[0], s->axes[1].name, point->values[1],
                   inner.message);
    carom_impact_free(varied);
    carom_impact_free(posed);
    return status;
}

static bool interrupted(const sweep *s, const sweep_point *point) {
    return !point->found.certified && carom_control_cancelled(s->finder.control);
}

static bool differ(const sweep_point *a, const sweep_point *b) {
    return a->found.unique != b->found.unique || !sweep_same_modes(a->found.modes, b->found.modes);
}

// Keeps a change, which takes what is known at its two values.
static carom_status keep_change(sweep *s, const sweep_point *before, const sweep_point *after, carom_error *error) {
    if (s->change_count == s->change_room) {
        const int room = 2 * s->change_room + 8;
        sweep_change *grown = realloc(s->changes, (size_t)room * sizeof *grown);
        if (!grown) return carom_fail_memory(error, "sweep");
        s->changes = grown;
        s->change_room = room;
    }
    sweep_change *made = &s->changes[s->change_count];
    *made = (sweep_change){.value = (before->values[0] + after->values[0]) / 2, .other = before->values[1]};
    memcpy(made->before.values, before->values, sizeof made->before.values);
    memcpy(made->after.values, after->values, sizeof made->after.values);
    carom_status status = ask_point(s, &made->before, error);
    if (!status) status = ask_point(s, &made->after, error);
    if (!status && !interrupted(s, &made->before) && !interrupted(s, &made->after)) {
        s->change_count++;
        return CAROM_OK;
    }
    cli_found_modes_release(&made->before.found);
    cli_found_modes_release(&made->after.found);
    return status;
}

// All changes between two points, in their order: halves that differ at their ends are halved again.
static carom_status bisect(sweep *s, const sweep_point *low, const sweep_point *high, carom_error *error) {
    if (!low->found.certified || !high->found.certified || !differ(low, high) || carom_control_cancelled(s->finder.control))
        return CAROM_OK;
    const double a = low->values[0], b = high->values[0], scale = fmax(fmax(fabs(a), fabs(b)), s->axes[0].step);
    if (b - a <= RESOLUTION * scale) return keep_change(s, low, high, error);
    sweep_point middle = {.values = {a + (b - a) / 2, low->values[1]}};
    carom_status status = ask_point(s, &middle, error);
    if (!status) status = bisect(s, low, &middle, error);
    if (!status) status = bisect(s, &middle, high, error);
    cli_found_modes_release(&middle.found);
    return status;
}

static carom_status run_points(sweep *s, carom_error *error) {
    const sweep_axis *first = &s->axes[0], *second = s->axis_count > 1 ? &s->axes[1] : NULL;
    const int lines = second ? second->count : 1;
    s->points = calloc((size_t)first->count * (size_t)lines, sizeof *s->points);
    if (!s->points) return carom_fail_memory(error, "sweep");
    carom_status status = CAROM_OK;
    for (int line = 0; line < lines && !status; line++)
        for (int i = 0; i < first->count && !status && !carom_control_cancelled(s->finder.control); i++) {
            sweep_point *point = &s->points[s->count];
            point->values[0] = axis_value(first, i);
            point->values[1] = second ? axis_value(second, line) : 0;
            status = ask_point(s, point, error);
            if (status || interrupted(s, point)) {
                cli_found_modes_release(&point->found);
                break;
            }
            s->count++;
            if (i && cli_given(s->arguments, "critical")) status = bisect(s, point - 1, point, error);
        }
    return status;
}

// Numbers the lists of modes.
static void number_lists(sweep *s) {
    int lists = 0;
    for (int i = 0; i < s->count; i++) {
        int same = 0;
        while (same < i && !sweep_same_modes(s->points[same].found.modes, s->points[i].found.modes)) same++;
        s->points[i].list = same < i ? s->points[same].list : lists++;
    }
}

const char *sweep_letter(int list, char letter[SWEEP_LETTER_SIZE]) {
    if (list < 26)
        snprintf(letter, SWEEP_LETTER_SIZE, "%c", 'a' + list);
    else
        snprintf(letter, SWEEP_LETTER_SIZE, "%d", list + 1);
    return letter;
}

// -------------------------------------------------------------------------------------------------------------- answers

static json_t *parameters_json(const sweep *s, const double *values) {
    json_t *object = json_object();
    for (int i = 0; i < s->axis_count; i++) json_object_set_new(object, s->axes[i].name, carom_json_real(values[i]));
    return object;
}

static json_t *extent_json(const carom_joint_modes *modes) {
    json_t *normal = json_array(), *tangent = json_array();
    double range[2];
    for (int i = 0; i < modes->sizes.contacts; i++) {
        sweep_extent(modes, i, false, range);
        json_array_append_new(normal, carom_json_reals(range, 2));
    }
    for (int i = 0; i < modes->sizes.tangents; i++) {
        sweep_extent(modes, i, true, range);
        json_array_append_new(tangent, carom_json_reals(range, 2));
    }
    return json_pack("{s:o, s:o}", "normal", normal, "tangent", tangent);
}

static json_t *motions_list_json(const carom_impact *impact, const carom_joint_modes *modes) {
    json_t *list = json_array();
    for (int i = 0; i < modes->count; i++) json_array_append_new(list, cli_motions_json(impact, &modes->modes[i]));
    return list;
}

// What is to be said of outcomes that may lie outside their sets, of all points and laws together.
static bool describe_outside(const sweep *s, char caveat[CAROM_CAVEAT_SIZE]) {
    int64_t approximate = 0, seen = 0;
    for (int i = 0; i < s->count; i++) {
        approximate += s->points[i].found.modes->approximate;
        seen += s->points[i].found.modes->seen;
    }
    for (int i = 0; i < s->law_count; i++) {
        const carom_table *outcomes = s->laws[i].outcomes;
        seen += carom_table_rows(outcomes);
        for (int64_t row = 0; row < carom_table_rows(outcomes); row++) approximate += sweep_lies_outside(outcomes, row);
    }
    return carom_outcomes_caveat(carom_impact_sizes(s->impact), approximate, seen, caveat);
}

static json_t *make_document(const sweep *s) {
    json_t *points = json_array(), *critical = json_array();
    for (int i = 0; i < s->count; i++) {
        const cli_found_modes *found = &s->points[i].found;
        json_array_append_new(
            points, json_pack("{s:o, s:b, s:b, s:o, s:o, s:o, s:o}", "parameters", parameters_json(s, s->points[i].values),
                              "extent_may_lie_outside", found->modes->approximate > 0, "certified", found->certified, "unique",
                              found->certified ? json_boolean(found->unique) : json_null(), "extent", extent_json(found->modes), "reason",
                              carom_json_text(*found->reason ? found->reason : NULL), "modes", cli_modes_json(s->impact, found->modes)));
        if (s->law_count) json_object_set_new(json_array_get(points, (size_t)i), "laws", sweep_laws_json(s, i));
        if (s->law_count) json_object_set_new(json_array_get(points, (size_t)i), "left_out", sweep_refusals_json(s, i));
    }
    for (int i = 0; i < s->change_count; i++) {
        const sweep_change *change = &s->changes[i];
        const double values[] = {change->value, change->other};
        json_array_append_new(critical, json_pack("{s:s, s:f, s:o, s:o, s:o, s:b, s:b}", "parameter", s->axes[0].name, "value",
                                                  change->value, "parameters", parameters_json(s, values), "before",
                                                  motions_list_json(s->impact, change->before.found.modes), "after",
                                                  motions_list_json(s->impact, change->after.found.modes), "unique_before",
                                                  change->before.found.unique, "unique_after", change->after.found.unique));
    }
    char caveat[CAROM_CAVEAT_SIZE];
    describe_outside(s, caveat);
    json_t *document =
        json_pack("{s:s, s:b, s:o, s:o}", "schema", "carom.sweep/1", "complete", s->finished, "points", points, "critical", critical);
    cli_add_caveat(document, caveat);
    return document;
}

void sweep_put_motions(FILE *file, const carom_impact *impact, const carom_joint_mode *mode) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    for (int i = 0; i < data->contacts; i++)
        fprintf(file, "%s%s %s", i ? " | " : "", data->names[i], carom_contact_motion_name((carom_contact_motion)mode->motions[i]));
}

// The modes of one list that another does not have.
static void print_missing(const carom_impact *impact, const char *sign, const carom_joint_modes *of, const carom_joint_modes *in) {
    for (int i = 0; i < of->count; i++) {
        bool has = false;
        for (int k = 0; k < in->count && !has; k++) has = !memcmp(of->modes[i].motions, in->modes[k].motions, (size_t)of->sizes.contacts);
        if (has) continue;
        printf("    %s ", sign);
        sweep_put_motions(stdout, impact, &of->modes[i]);
        putchar('\n');
    }
}

// A line for each point: parameters, how many modes, and the extents of normal velocities; then the changes.
static void print_text(const sweep *s) {
    const carom_impact_data *data = carom_impact_get_data(s->impact);
    printf("%s\n ", carom_scene_name(s->scene));
    for (int i = 0; i < s->axis_count; i++) printf(" %12s", s->axes[i].name);
    printf("  modes");
    for (int i = 0; i < data->contacts; i++) printf("  %*s.%-9s", 11, "Jn", data->names[i]);
    puts("  (m/s)");
    char letter[SWEEP_LETTER_SIZE];
    for (int i = 0; i < s->count; i++) {
        const cli_found_modes *found = &s->points[i].found;
        putchar(' ');
        for (int k = 0; k < s->axis_count; k++) printf(" %12.9g", s->points[i].values[k]);
        printf("  %3d%s%s", found->modes->count, found->certified ? " " : "+",
               found->certified ? sweep_letter(s->points[i].list, letter) : " ");
        for (int k = 0; k < data->contacts; k++) {
            double range[2];
            sweep_extent(found->modes, k, false, range);
            printf("  %9.6g to %9.6g%s", cli_shown(s->impact, range[0]), cli_shown(s->impact, range[1]),
                   found->modes->approximate ? CLI_OUTSIDE : "");
        }
        puts(found->unique ? "  one velocity" : "");
        sweep_print_laws(s, i);
    }
    bool sampled = false;
    for (int i = 0; i < s->count; i++) sampled |= !s->points[i].found.certified;
    if (sampled) puts("  +: modes seen in samples; there may be more");
    char caveat[CAROM_CAVEAT_SIZE];
    if (describe_outside(s, caveat)) printf("  " CLI_OUTSIDE ": %s\n", caveat);
    // What the letters stand for, at their first points.
    for (int i = 0, shown = 0; i < s->count; i++) {
        const carom_joint_modes *modes = s->points[i].found.modes;
        if (!s->points[i].found.certified || s->points[i].list < shown) continue;
        shown = s->points[i].list + 1;
        printf("%s: ", sweep_letter(s->points[i].list, letter));
        for (int k = 0; k < modes->count; k++) {
            if (k) printf("; ");
            sweep_put_motions(stdout, s->impact, &modes->modes[k]);
        }
        putchar('\n');
    }
    for (int i = 0; i < s->change_count; i++) {
        const sweep_change *change = &s->changes[i];
        printf("critical: %s = %.8g", s->axes[0].name, change->value);
        if (s->axis_count > 1) printf(" at %s = %.9g", s->axes[1].name, change->other);
        if (change->before.found.unique != change->after.found.unique)
            printf(change->after.found.unique ? ", from several velocities to one" : ", from one velocity to several");
        putchar('\n');
        print_missing(s->impact, "-", change->before.found.modes, change->after.found.modes);
        print_missing(s->impact, "+", change->after.found.modes, change->before.found.modes);
    }
    if (cli_given(s->arguments, "critical") && !s->change_count)
        puts(s->finished ? "no critical value: the modes stay the same" : "no critical value so far");
    if (s->figure) printf("%s\n", s->figure);
}

// -------------------------------------------------------------------------------------------------------------- running

// Inelastic sets do not depend on coefficients of restitution.
static void note_restitution(const sweep *s) {
    bool varies = false;
    for (int i = 0; i < s->axis_count; i++) varies |= s->axes[i].coordinate < 0 && s->axes[i].parameter.kind == CAROM_PARAMETER_RESTITUTION;
    if (!varies || s->law_count || carom_law_bounces(&carom_law_halm_posa, s->finder.sampling)) return;
    cli_say("note", NULL, "--vary: restitution has no effect on an inelastic set: --hypothesis says what it means");
}

static carom_status solve(sweep *s, const carom_control *control, carom_error *error) {
    const char *figure = cli_value(s->arguments, "output");
    const bool table = figure && sweep_is_table(figure);
    carom_result_writer *writer = NULL;
    s->impact = carom_scene_impact(s->scene);
    carom_status status = read_axes(s, error);
    if (!status && cli_given(s->arguments, "map") && (!figure || table))
        status = carom_fail(error, CAROM_BAD_INPUT, "--map: is about a picture: name it by -o, such as -o map.png");
    if (!status && figure && !table) status = carom_plot_check(figure, error);
    if (!status) status = sweep_read_laws(s, error);
    if (!status && table) status = carom_result_writer_create(figure, s->scene, &writer, error);
    if (!status) status = cli_mode_finder_create(s->arguments, s->scene, control, &s->finder, error);
    if (!status && cli_given(s->arguments, "critical") && !s->finder.exact)
        status = carom_fail(error, CAROM_UNSUPPORTED,
                            "--critical: needs exact sets, which inelastic impacts with at most %d planar contacts have",
                            CAROM_EXACT_USUAL_CONTACTS);
    if (!status) note_restitution(s);
    if (!status) status = run_points(s, error);
    number_lists(s);
    for (int i = 0; i < s->law_count; i++) s->unfinished = s->unfinished || s->laws[i].refusal_count;
    if (!status && figure && s->count) {
        status = table ? sweep_write_tables(s, writer, !cli_interrupted() && !s->unfinished, error) : sweep_write_figure(s, figure, error);
        s->figure = figure;
    }
    carom_result_writer_free(writer);
    return status;
}

static void release(sweep *s) {
    for (int i = 0; i < s->count; i++) cli_found_modes_release(&s->points[i].found);
    for (int i = 0; i < s->change_count; i++) {
        cli_found_modes_release(&s->changes[i].before.found);
        cli_found_modes_release(&s->changes[i].after.found);
    }
    free(s->points);
    free(s->changes);
    sweep_release_laws(s);
    cli_mode_finder_free(&s->finder);
    carom_scene_pose_free(s->pose);
}

static int run_sweep(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    carom_control control;
    sweep s = {.arguments = arguments};
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    s.scene = scene;
    if (!status) status = cli_start_control(arguments, &control, &error);
    if (!status) status = solve(&s, &control, &error);
    s.finished = !status && !cli_interrupted() && !s.unfinished;
    int exit_status = s.finished ? EXIT_DONE : EXIT_INCOMPLETE;
    // A point that could not be computed leaves those before it; bad input has no answer.
    const bool answers = !status || (s.count && (status == CAROM_OUT_OF_MEMORY || status == CAROM_INTERNAL));
    if (answers) {
        cli_warn(scene);
        cli_say_unused_by(arguments, scene, &carom_law_halm_posa, s.finder.sampling);
        if (cli_given(arguments, "json")) {
            json_t *document = make_document(&s);
            if (!s.finished)
                json_object_set_new(document, "verdict",
                                    json_string(status              ? carom_status_name(status)
                                                : cli_interrupted() ? carom_verdict_name(CAROM_INTERRUPTED)
                                                                    : carom_verdict_name(CAROM_INCOMPLETE)));
            exit_status = cli_print_json(document, exit_status);
        } else {
            print_text(&s);
        }
    }
    if (status) exit_status = cli_report(&error);
    release(&s);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_sweep = {
    .name = "sweep",
    .summary = "how the set and its contact modes change with friction, restitution, a velocity or the masses",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .law = "halm-posa",
    .run = run_sweep,
};
