// SPDX-License-Identifier: Apache-2.0
// `carom hodograph`: how slip and impulse of one contact go during its impact (Jia & Wang 2017, Figures 4-8, 10, 11; Routh's impulse
// plane).
#include "cli/hodograph/hodograph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/json.h"

static const char law_name[] = "stronge";

static const cli_flag flags[] = {
    {"fan", "N", "add the same contact with N other initial slips: as fast as the scene's (or 1 m/s), in directions all around"},
    {"output", "DIR", "draw pictures into a directory"},
    {"size", "SIZE", "of the pictures on paper: column (84 x 63 mm), page (174 x 120), slide (254 x 143), or WxH in millimetres"},
    {"json", NULL, "print one JSON document"},
};

enum { MOST_DIRECTIONS = 3600 };

static const double FULL_TURN = 6.283185307179586476925286766559;

static const carom_option fan_row = {"fan", CAROM_OPTION_INTEGER, 0, 1, MOST_DIRECTIONS, "", "none", "", NULL};

const char *hodograph_event_name(char event) {
    switch (event) {
    case 'l': return "on an invariant ray";
    case 's': return "slip is zero";
    case 'c': return "compression ends";
    case 'k': return "recompression starts";
    default: return "end";
    }
}

const carom_contact_state *hodograph_event_state(const hodograph_curve *curve, int event) {
    // The normal impulse grows all the time: it is the clock that tells where the event is.
    int i = 0;
    while (i + 1 < curve->count && curve->states[i].impulse.normal < curve->result.event_impulse[event]) i++;
    return &curve->states[i];
}

// ----------------------------------------------------------------------------------------------------------- computing

// Receives a state of the contact during the impact.
static void record(void *user, const carom_contact_state *state) {
    hodograph_curve *curve = user;
    // Grow by doubling; a state that finds no room makes the trace fail in the end.
    if (curve->count == curve->capacity) {
        const int capacity = 2 * curve->capacity + 64;
        carom_contact_state *states = realloc(curve->states, (size_t)capacity * sizeof *states);
        curve->out_of_memory = curve->out_of_memory || !states;
        if (!states) return;
        curve->states = states;
        curve->capacity = capacity;
    }
    curve->states[curve->count++] = *state;
}

// Follows the curve's contact, and keeps the states on its way.
static carom_status trace(hodograph_curve *curve, const carom_contact_options *options, carom_error *error) {
    carom_contact_options traced = *options;
    traced.trace = record;
    traced.user = curve;
    const carom_status status = carom_contact_solve(&curve->problem, &traced, &curve->result, error);
    // Where nothing happens, there is still a state.
    if (!status && !curve->count) record(curve, &(carom_contact_state){.velocity = curve->problem.velocity});
    return curve->out_of_memory ? carom_fail_memory(error, "hodograph") : status;
}

// The scene's contact and, where --fan asks for them, the same contact with slips of the same speed in equally spaced directions.
static carom_status compute(const cli_arguments *arguments, hodograph *h, carom_error *error) {
    const carom_law *law = carom_law_find(arguments->registry, law_name);
    const cli_question question = {.arguments = arguments, .scene = h->scene, .law = law, .strict = true};
    const carom_impact *impact = carom_scene_impact(h->scene);
    carom_contact_options options;
    void *law_options = NULL;
    int contact = 0;
    int64_t directions = 0;
    carom_status status = cli_apply_rows(arguments, &fan_row, 1, &directions, error);
    if (!status) status = cli_prepare_options(&question, NULL, &law_options, error);
    // The contact of the scene as a problem of its own: B, d, w, mu, e and the velocity.
    if (!status) status = carom_stronge_prepare(impact, law_options, &contact, &h->curve.problem, &options, error);
    if (!status) {
        h->contact = carom_impact_get_data(impact)->names[contact];
        h->tangent_dim = carom_impact_get_data(impact)->tangent_dim;
        status = trace(&h->curve, &options, error);
    }
    if (!status) status = carom_contact_invariant_rays(&h->curve.problem, h->rays, &h->ray_count, error);
    if (!status && directions && h->tangent_dim == 1)
        status = carom_fail(error, CAROM_BAD_INPUT, "--fan: slip of a planar contact has only two directions, and none to fan out");
    if (!status && directions) {
        h->fan = calloc((size_t)directions, sizeof *h->fan);
        if (!h->fan) status = carom_fail_memory(error, "hodograph");
        h->fan_count = h->fan ? (int)directions : 0;
    }
    // Directions 2 pi i / N; the normal velocity stays.
    const double *slip = h->curve.problem.velocity.tangent, scene_speed = hypot(slip[0], slip[1]);
    const double speed = scene_speed > 0 ? scene_speed : 1;
    for (int i = 0; i < h->fan_count && !status; i++) {
        const double angle = FULL_TURN * i / h->fan_count;
        h->fan[i].problem = h->curve.problem;
        h->fan[i].problem.velocity.tangent[0] = speed * cos(angle);
        h->fan[i].problem.velocity.tangent[1] = speed * sin(angle);
        status = trace(&h->fan[i], &options, error);
    }
    if (status) cli_place_error(arguments, h->scene, law->options, law->option_count, error);
    free(law_options);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// Impulses are in the order tangents, normal.
static json_t *state_json(const hodograph *h, const carom_contact_state *state) {
    double impulse[3] = {state->impulse.tangent[0], state->impulse.tangent[1], state->impulse.normal};
    impulse[h->tangent_dim] = state->impulse.normal;
    return json_pack("{s:o, s:o, s:o}", "slip", carom_json_reals(state->velocity.tangent, h->tangent_dim), "normal_velocity",
                     carom_json_real(state->velocity.normal), "impulse", carom_json_reals(impulse, h->tangent_dim + 1));
}

// The states of a curve, in their order.
static json_t *states_json(const hodograph *h, const hodograph_curve *curve) {
    json_t *list = json_array();
    for (int i = 0; i < curve->count; i++) json_array_append_new(list, state_json(h, &curve->states[i]));
    return list;
}

// The course of the impact, its events, the rays that guide its slip, and the fan.
static int print_json(const hodograph *h, json_t *files) {
    const carom_contact_result *result = &h->curve.result;
    json_t *events = json_array(), *rays = json_array(), *fan = json_array();
    // Events, with the state of the contact at each.
    for (int i = 0; result->events[i]; i++) {
        json_t *event =
            json_pack("{s:s#, s:o}", "event", &result->events[i], 1, "normal_impulse", carom_json_real(result->event_impulse[i]));
        json_object_update_new(event, state_json(h, hodograph_event_state(&h->curve, i)));
        json_array_append_new(events, event);
    }
    // Invariant rays, along which the direction of slip does not change.
    for (int i = 0; i < h->ray_count; i++) {
        const carom_invariant_ray *ray = &h->rays[i];
        json_array_append_new(rays, json_pack("{s:o, s:o, s:s}", "angle", carom_json_real(ray->angle), "rate", carom_json_real(ray->rate),
                                              "type", carom_ray_type_name(ray->type)));
    }
    // The fan: a curve for each direction of the initial slip.
    for (int i = 0; i < h->fan_count; i++) {
        const hodograph_curve *curve = &h->fan[i];
        json_array_append_new(fan, json_pack("{s:o, s:s, s:s, s:o}", "angle", carom_json_real(FULL_TURN * i / h->fan_count), "course",
                                             carom_contact_course_name(curve->result.course), "events", curve->result.events, "curve",
                                             states_json(h, curve)));
    }
    json_t *document =
        json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:O}", "schema", "carom.hodograph/1", "contact", carom_json_text(h->contact),
                  "status", carom_contact_status_name(result->status), "course", carom_contact_course_name(result->course), "curve",
                  states_json(h, &h->curve), "events", events, "invariant_directions", rays, "fan", fan, "files", files);
    return cli_print_json(document, EXIT_DONE);
}

// ---------------------------------------------------------------------------------------------------------------- text

// A line of the table: impulses, slip and normal velocity at one instant.
static void print_state(const hodograph *h, const char *label, const carom_contact_state *state) {
    const carom_impact *impact = carom_scene_impact(h->scene);
    printf("  %-20s %11.6g |", label, state->impulse.normal);
    for (int i = 0; i < h->tangent_dim; i++) printf(" %11.6g", state->impulse.tangent[i]);
    printf(" |");
    for (int i = 0; i < h->tangent_dim; i++) printf(" %11.6g", cli_shown(impact, state->velocity.tangent[i]));
    printf(" | %11.6g\n", cli_shown(impact, state->velocity.normal));
}

// ------------------------------------------------------------------------------------------------------------- command

static int run_hodograph(const cli_arguments *arguments) {
    carom_error error, inner;
    carom_scene *scene = NULL;
    hodograph h = {0};
    json_t *files = json_array();
    const char *directory = cli_value(arguments, "output"), *size = cli_value(arguments, "size");
    carom_status status = CAROM_OK;
    if (size && carom_plot_parse_size(size, &h.size, &inner)) status = carom_fail(&error, CAROM_BAD_INPUT, "--size: %s", inner.message);
    if (!status)
        status = files ? carom_scene_read(arguments->operand, arguments->registry, &scene, &error) : carom_fail_memory(&error, "hodograph");
    h.scene = scene;
    if (!status) status = compute(arguments, &h, &error);
    if (!status && directory) {
        bool made;
        status = cli_make_directory(directory, &made, &error);
        if (!status) status = hodograph_draw(&h, directory, files, &error);
        // After a failure the directory goes again, unless it holds a picture.
        if (status && made) rmdir(directory);
    }
    const carom_contact_result *result = &h.curve.result;
    int exit_status = EXIT_DONE;
    if (!status) cli_warn(scene);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        exit_status = print_json(&h, files);
    } else {
        // A table of the events, then the rays, the fan and the files.
        printf("%s, contact %s: %s, course %s\n", carom_scene_name(scene), h.contact, carom_contact_status_name(result->status),
               carom_contact_course_name(result->course));
        printf("  %-20s normal impulse | tangential impulse [N s] | slip [m/s] | normal velocity [m/s]\n", "");
        print_state(&h, "start", &h.curve.states[0]);
        for (int i = 0; result->events[i]; i++)
            print_state(&h, hodograph_event_name(result->events[i]), hodograph_event_state(&h.curve, i));
        for (int i = 0; i < h.ray_count; i++)
            printf("invariant direction at %8.3f degrees: %s, rate %.6g 1/kg\n", 360 * h.rays[i].angle / FULL_TURN,
                   carom_ray_type_name(h.rays[i].type), h.rays[i].rate);
        // Of the fan, the number of curves that come to rest.
        int stops = 0;
        for (int i = 0; i < h.fan_count; i++) stops += strchr(h.fan[i].result.events, 's') != NULL;
        if (h.fan_count) printf("fan: slip stops for %d of %d directions\n", stops, h.fan_count);
        for (size_t i = 0; i < json_array_size(files); i++) printf("written: %s\n", json_string_value(json_array_get(files, i)));
        if (!json_array_size(files)) printf("(-o DIR draws it)\n");
    }
    for (int i = 0; i < h.fan_count; i++) free(h.fan[i].states);
    free(h.fan);
    free(h.curve.states);
    json_decref(files);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_hodograph = {
    .name = "hodograph",
    .summary = "slip and impulse of one contact during its impact (law stronge)",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .law = law_name,
    .run = run_hodograph,
};
