// SPDX-License-Identifier: Apache-2.0
// A harness for each reader: scenes, models, meshes, tables, measurements, LCP files, FCLIB files, result files, velocities, expressions,
// numbers, option texts.
// Besides sanitizers, each checks that a refusal has one sentence and that what is accepted obeys the reader's promise.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/expression.h"
#include "carom/functional.h"
#include "carom/loop.h"
#include "fuzz/fuzz.h"
#include "io/io_internal.h"
#include "io/number.h"

static const char input[] = "input.yaml", input_file[] = "input.h5";

// A refusal has a status and one sentence.
static bool accepted(carom_status status, const carom_error *error) {
    if (!status) return true;
    if (error->status != status) fuzz_fail("status %d comes with an error of status %d", (int)status, (int)error->status);
    if (status == CAROM_INTERNAL) fuzz_fail("%s", error->message);
    if (!*error->message || strchr(error->message, '\n')) fuzz_fail("not one sentence: '%s'", error->message);
    return false;
}

static void check_finite(const char *what, const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) fuzz_fail("%s[%lld] is %g", what, (long long)i, values[i]);
}

// An impact that was accepted is finite, with a mass matrix or a Delassus operator.
static void check_impact(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    if (data->contacts < 1) fuzz_fail("an impact without contacts");
    const int tangents = data->contacts * data->tangent_dim;
    if (data->normal) check_finite("normal", data->normal, (int64_t)data->contacts * data->nv);
    if (data->tangent) check_finite("tangent", data->tangent, (int64_t)tangents * data->nv);
    if (data->mass) check_finite("mass", data->mass, (int64_t)data->nv * data->nv);
    check_finite("friction", data->friction, data->contacts);
}

// --------------------------------------------------------------------------------------------------------------- scenes

// Reads the file as the commands do that need an impact, and as `simulate` and `design` do.
static void read_scene(void) {
    carom_error error;
    carom_scene *scene = NULL;
    if (accepted(carom_scene_read(input, fuzz_registry(), &scene, &error), &error)) {
        check_impact(carom_scene_impact(scene));
        carom_family *family = NULL;
        if (accepted(carom_family_create(scene, &family, &error), &error)) {
            carom_impact *impact = NULL;
            double *gaps = calloc((size_t)carom_family_pairs(family) + 1, sizeof *gaps);
            if (gaps && accepted(carom_family_evaluate(family, carom_family_start(family), &impact, gaps, &error), &error))
                check_impact(impact);
            carom_impact_free(impact);
            free(gaps);
        }
        carom_family_free(family);
    }
    carom_scene_free(scene);
    scene = NULL;
    if (accepted(carom_scene_read_motion(input, fuzz_registry(), &scene, &error), &error)) {
        const carom_system *system = NULL;
        if (carom_scene_motion(scene)->form == CAROM_MOTION_SYSTEM) accepted(carom_scene_system(scene, &system, &error), &error);
    }
    carom_scene_free(scene);
    // Every integrator, whatever the scene names.
    for (int i = 0; i < carom_registry_count(fuzz_registry(), CAROM_REGISTRY_INTEGRATORS); i++) {
        scene = NULL;
        const carom_integrator *integrator = carom_registry_entry(fuzz_registry(), CAROM_REGISTRY_INTEGRATORS, i);
        accepted(carom_scene_read_motion_for(input, fuzz_registry(), integrator, &scene, &error), &error);
        carom_scene_free(scene);
    }
}

void fuzz_scene(const uint8_t *bytes, size_t size) {
    fuzz_write(input, bytes, size);
    read_scene();
    fuzz_sweep();
}

// An MJCF or URDF file under a scene that takes all its contacts.
void fuzz_model(const uint8_t *bytes, size_t size) {
    static const char scene[] =
        "model: fuzzed.xml\ncontacts: {detect: true, margin: 0.01, friction: 0.5}\nsimulate: {integrator: inclusion}\n";
    fuzz_write(input, scene, sizeof scene - 1);
    fuzz_write("fuzzed.xml", bytes, size);
    read_scene();
    carom_error error;
    carom_model *model = NULL;
    if (!accepted(carom_model_load("fuzzed.xml", &model, &error), &error) && model) fuzz_fail("a refused model is handed on");
    carom_model_free(model);
    const carom_model_options options = {.free_open_root = true};
    model = NULL;
    if (!accepted(carom_model_load_with("fuzzed.xml", &options, &model, &error), &error) && model)
        fuzz_fail("a refused model is handed on");
    carom_model_free(model);
    fuzz_sweep();
}

// The file of a model's mesh in every format that models name: the body takes its shape, its mass and its contacts from it.
void fuzz_mesh(const uint8_t *bytes, size_t size) {
    static const char *const formats[] = {"obj", "stl", "msh", "dae"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char mesh[32], model[600], scene[200];
        snprintf(mesh, sizeof mesh, "fuzzed.%s", formats[i]);
        snprintf(model, sizeof model,
                 "<mujoco><asset><mesh name=\"m\" file=\"%s\"/></asset><worldbody><geom type=\"plane\" size=\"1 1 1\"/>"
                 "<body name=\"b\" pos=\"0 0 0.02\"><freejoint/><geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>",
                 mesh);
        snprintf(scene, sizeof scene, "model: fuzzed.xml\ncontacts: {detect: true, margin: 0.01, friction: 0.5}\n");
        fuzz_write(mesh, bytes, size);
        fuzz_write("fuzzed.xml", model, strlen(model));
        fuzz_write(input, scene, strlen(scene));
        read_scene();
    }
    fuzz_sweep();
}

// A surface in every format: finite points, and triangles of these.
void fuzz_surface(const uint8_t *bytes, size_t size) {
    // The reader takes what a file gives: a text with an end.
    char *text = fuzz_text(bytes, size);
    for (int format = CAROM_SURFACE_BY_CONTENT; format <= CAROM_SURFACE_MSH; format++) {
        carom_error error;
        carom_arena arena = {0};
        carom_surface_points surface = {0};
        if (accepted(carom_surface_parse(input, text, size, (carom_surface_format)format, &arena, &surface, &error), &error)) {
            check_finite("point", surface.point, 3 * (int64_t)surface.points);
            for (int k = 0; k < 3 * surface.triangles; k++)
                if (surface.triangle[k] < 0 || surface.triangle[k] >= surface.points)
                    fuzz_fail("corner %d is %d, of %d points", k, surface.triangle[k], surface.points);
        }
        carom_arena_free(&arena);
    }
    free(text);
}

// --------------------------------------------------------------------------------------------------------------- tables

// A table that travelled, as in a pickle: every cell of what is accepted can be read.
void fuzz_table(const uint8_t *bytes, size_t size) {
    static const char *const bits[] = {"first", "second", NULL};
    static const carom_column columns[] = {
        {"real", CAROM_COLUMN_REAL, 2, "", "", NULL},         {"integer", CAROM_COLUMN_INTEGER, 1, "", "", NULL},
        {"flags", CAROM_COLUMN_FLAGS, 1, "", "", bits},       {"text", CAROM_COLUMN_TEXT, 1, "", "", NULL},
        {"contacts", CAROM_COLUMN_CONTACTS, 1, "", "", NULL}, {"series", CAROM_COLUMN_SERIES, 3, "", "", NULL},
        {"truth", CAROM_COLUMN_BOOLEAN, 1, "", "", NULL},     {"choice", CAROM_COLUMN_CHOICE, 1, "", "", bits},
    };
    static const carom_sizes sizes = {.nv = 3, .contacts = 2, .tangents = 2, .positions = 3};
    carom_error error;
    carom_table *table = NULL;
    carom_bytes *message = NULL;
    if (carom_table_create(columns, sizeof columns / sizeof *columns, NULL, 0, &sizes, &table, &error) ||
        carom_bytes_create(&message, &error) || carom_bytes_put(message, bytes, size, &error))
        exit(EXIT_FAILURE);
    // Between ranks a damaged message is a failure of ours; a pickle's is an input.
    const carom_status unpacked = carom_table_unpack(table, message, &error);
    const bool reads = unpacked == CAROM_INTERNAL ? false : accepted(unpacked, &error);
    const int64_t rows = carom_table_rows(table);
    if (!reads && rows) fuzz_fail("a message that is refused leaves %lld rows", (long long)rows);
    volatile double sum = 0;
    for (int64_t row = 0; row < rows; row++) {
        int count = 0;
        sum += carom_table_real_column(table, 0)[2 * row + 1] + (double)carom_table_integer_column(table, 1)[row];
        const char *text = carom_table_text(table, 3, row);
        sum += text ? (double)strlen(text) : 0;
        const int *list = carom_table_list(table, 4, row, &count);
        for (int k = 0; k < count; k++)
            if (list[k] < 0 || list[k] >= sizes.contacts) fuzz_fail("row %lld lists contact %d", (long long)row, list[k]);
        const double *series = carom_table_series(table, 5, row, &count);
        for (int k = 0; k < count; k++) sum += series[k];
        // Names stand in arrays of two.
        const int64_t mask = carom_table_integer_column(table, 2)[row], choice = carom_table_integer_column(table, 7)[row];
        if (mask < 0 || mask > 3 || choice < 0 || choice > 1) fuzz_fail("row %lld has the bits %lld", (long long)row, (long long)mask);
    }
    (void)sum;
    carom_table_free(table);
    carom_bytes_free(message);
}

// --------------------------------------------------------------------------------------------------------- measurements

// Measured impacts: matrices in YAML or JSON, and a table of states of a model.
void fuzz_measurements(const uint8_t *bytes, size_t size) {
    static const char *const models[] = {NULL, "falling-ball.xml"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const char *name = models[i] ? "input.csv" : input;
        fuzz_write(name, bytes, size);
        carom_error error;
        carom_measurements measurements = {0};
        const carom_measurements_options options = {.model = models[i]};
        if (accepted(carom_measurements_read(name, &options, &measurements, &error), &error)) {
            if (measurements.count < 1) fuzz_fail("no impact is accepted");
            for (int k = 0; k < measurements.count; k++) {
                const carom_measurement *one = &measurements.list[k];
                check_impact(one->impact);
                check_finite("v_plus", one->after, carom_impact_get_data(one->impact)->nv);
            }
        }
        carom_measurements_free(&measurements);
    }
    fuzz_sweep();
}

// ----------------------------------------------------------------------------------------------------------------- LCPs

static void read_lcp(const char *path) {
    carom_error error;
    carom_lcp_problem problem;
    if (accepted(carom_lcp_problem_read(path, &problem, &error), &error)) {
        if (problem.n < 1) fuzz_fail("an LCP of size %d", problem.n);
        check_finite("W", problem.W, (int64_t)problem.n * problem.n);
        check_finite("w", problem.w, problem.n);
    }
    carom_lcp_problem_release(&problem);
}

void fuzz_lcp(const uint8_t *bytes, size_t size) {
    fuzz_write(input, bytes, size);
    read_lcp(input);
    fuzz_sweep();
}

void fuzz_fclib(const uint8_t *bytes, size_t size) {
    fuzz_write(input_file, bytes, size);
    read_lcp(input_file);
    carom_error error;
    carom_scene *scene = NULL;
    static const char text[] = "delassus: {file: input.h5}\n";
    fuzz_write(input, text, sizeof text - 1);
    if (accepted(carom_scene_read(input, fuzz_registry(), &scene, &error), &error)) check_impact(carom_scene_impact(scene));
    carom_scene_free(scene);
    fuzz_sweep();
}

// -------------------------------------------------------------------------------------------------------------- results

// Everything that `query` and `plot` read of one law.
static void read_law(const carom_result *result, int law, const carom_impact *impact) {
    static const char *const reals[] = {"v_plus", "normal_impulse", "tangent_velocity", "energy_ratio"};
    carom_error error;
    double *values = NULL;
    int64_t *integers = NULL, rows;
    int width;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        accepted(carom_result_read_reals(result, law, reals[i], &values, &rows, &width, &error), &error);
        free(values);
        values = NULL;
    }
    accepted(carom_result_read_integers(result, law, "flags", &integers, &rows, &width, &error), &error);
    free(integers);
    integers = NULL;
    accepted(carom_result_read_series(result, law, "path", &values, &integers, &rows, &error), &error);
    free(values);
    free(integers);
    carom_polyhedra *polyhedra = NULL;
    char certificate[CAROM_CERTIFICATE_SIZE];
    accepted(carom_result_read_polyhedra(result, law, &polyhedra, certificate, &error), &error);
    carom_polyhedra_free(polyhedra);
    carom_column draws[CAROM_UNCERTAIN_COLUMNS];
    int count = 0;
    accepted(carom_result_read_draw_columns(result, law, draws, &count, &error), &error);
    char text[256];
    carom_result_read_option(result, law, "samples", text, sizeof text);
    if (!impact) return;
    carom_outcome_set set = {0};
    if (accepted(carom_result_set_read(result, law, impact, &set, &error), &error)) {
        check_finite("u", set.u, set.points * set.n);
        carom_functional functional = {0};
        if (!carom_functional_parse(impact, "K", &functional, &error))
            accepted(carom_result_set_read_for(result, law, &functional, &set, &error), &error);
        carom_functional_release(&functional);
    }
    carom_outcome_set_release(&set);
    carom_extent *extent = NULL;
    accepted(carom_result_read_extent(result, law, impact, certificate, &extent, &error), &error);
    carom_extent_free(extent);
    const carom_law *known = carom_law_find(fuzz_registry(), carom_result_law_name(result, law));
    carom_answer answer = {0};
    if (known && accepted(carom_result_read_answer(result, law, impact, known, &answer, &error), &error)) carom_answer_free(&answer);
}

void fuzz_result(const uint8_t *bytes, size_t size) {
    fuzz_write(input_file, bytes, size);
    carom_error error;
    carom_result *result = NULL;
    carom_impact *impact = NULL;
    if (accepted(carom_result_open_apart(input_file, NULL, &result, &error), &error)) {
        if (accepted(carom_result_read_impact(result, &impact, &error), &error)) check_impact(impact);
        for (int i = 0; i < carom_result_laws(result); i++) read_law(result, i, impact);
    }
    carom_impact_free(impact);
    carom_result_close(result);
    fuzz_sweep();
}

void fuzz_velocity(const uint8_t *bytes, size_t size) {
    double v[4];
    carom_error error;
    fuzz_write(input, bytes, size);
    if (accepted(carom_velocity_read(input, 4, v, &error), &error)) check_finite("v", v, 4);
    fuzz_sweep();
}

// ---------------------------------------------------------------------------------------------------------------- texts

// Two planar contacts on three velocities, whose names expressions use.
static const carom_impact *named_impact(void) {
    static const double mass[9] = {2, 0, 0, 0, 2, 0, 0, 0, 1}, normal[6] = {0, 1, 1, 0, 1, -1}, tangent[6] = {1, 0, 0, 1, 0, 0},
                        friction[2] = {1, 0.5}, velocity[3] = {0, -1, 0};
    static const char *const names[] = {"A", "B-2"};
    static carom_impact *impact;
    const carom_impact_data data = {.nv = 3,
                                    .contacts = 2,
                                    .tangent_dim = 1,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = friction,
                                    .velocity = velocity,
                                    .names = names};
    if (!impact && carom_impact_create(&data, &impact, NULL)) fuzz_fail("the impact of expressions cannot be made");
    return impact;
}

void fuzz_expression(const uint8_t *bytes, size_t size) {
    static const char *const variables[] = {"mass", "length_2"};
    static const double values[] = {2.5, -1e-3};
    char *text = fuzz_text(bytes, size);
    carom_error error;
    carom_functional functional = {0};
    const carom_impact *impact = named_impact();
    if (accepted(carom_functional_parse(impact, text, &functional, &error), &error)) {
        check_finite("contact", functional.contact, 4);
        check_finite("velocity", functional.velocity, 3);
    }
    carom_functional_release(&functional);
    functional = (carom_functional){0};
    const carom_quantities quantities = carom_impact_quantities(impact);
    accepted(carom_functional_read(&quantities, text, &functional, &error), &error);
    carom_functional_release(&functional);
    carom_functional chosen[4];
    carom_arena memory = {0};
    int count = 0;
    const carom_status listed = carom_functional_read_list(&quantities, text, 1, 4, chosen, NULL, &count, &memory, &error);
    if (accepted(listed, &error) && (count < 1 || count > 4)) fuzz_fail("%d axes", count);
    for (int i = 0; i < count; i++) carom_functional_release(&chosen[i]);
    carom_arena_free(&memory);
    // Formulas of models: a part of a longer text.
    double value = 0;
    if (accepted(carom_expression_evaluate(text, strlen(text), variables, values, 2, &value, &error), &error))
        check_finite("formula", &value, 1);
    free(text);
}

void fuzz_number(const uint8_t *bytes, size_t size) {
    char *text = fuzz_text(bytes, size), printed[64];
    double option, scene;
    const bool as_option = carom_parse_number(text, &option), as_scene = carom_number_read(text, &scene);
    if (as_option) {
        // The same text means the same number everywhere, and 17 digits give it back.
        double again;
        check_finite("number", &option, 1);
        carom_print_number(option, printed, sizeof printed);
        if (!carom_parse_number(printed, &again) || again != option) fuzz_fail("'%s' is printed as '%s'", text, printed);
        if (option != strtod(text, NULL)) fuzz_fail("'%s' is read as %.17g", text, option);
        if (as_scene && scene != option) fuzz_fail("'%s' is %.17g on the command line and %.17g in a scene", text, option, scene);
    }
    if (as_scene) check_finite("number", &scene, 1);
    // Whole numbers are infinite where they are too large.
    double whole = 0;
    if (carom_parse_whole(text, &whole) && !(whole == floor(whole))) fuzz_fail("'%s' is the whole number %.17g", text, whole);
    carom_error error;
    carom_plot_size plot_size;
    if (accepted(carom_plot_parse_size(text, &plot_size, &error), &error)) check_finite("size", &plot_size.width, 1);
    free(text);
}

// Sets every option of these rows to the text. What is accepted is in range, and printed as a text that is accepted again.
static void set_options(const carom_option *rows, int count, size_t size, void (*defaults)(void *options), const char *text) {
    char *options = calloc(2, size), *again = options + size, printed[512], reprinted[512];
    if (!options) exit(EXIT_FAILURE);
    for (int i = 0; i < count; i++) {
        carom_error error;
        defaults(options);
        defaults(again);
        if (!accepted(carom_option_set(&rows[i], options, text, &error), &error)) continue;
        if (!carom_option_offers(&rows[i], text)) fuzz_fail("%s: '%s' is set and not offered", rows[i].name, text);
        if (rows[i].type == CAROM_OPTION_TEXT || rows[i].type == CAROM_OPTION_CONTACTS) continue;
        carom_option_print(&rows[i], options, printed, sizeof printed);
        if (carom_option_set(&rows[i], again, printed, &error)) fuzz_fail("'%s' is printed as '%s': %s", text, printed, error.message);
        carom_option_print(&rows[i], again, reprinted, sizeof reprinted);
        if (strcmp(printed, reprinted) != 0) fuzz_fail("%s: '%s' becomes '%s'", rows[i].name, printed, reprinted);
    }
    free(options);
}

void fuzz_option(const uint8_t *bytes, size_t size) {
    char *text = fuzz_text(bytes, size);
    const carom_registry *registry = fuzz_registry();
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        set_options(law->options, law->option_count, law->options_size, law->defaults, text);
    }
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_INTEGRATORS); i++) {
        const carom_integrator *integrator = carom_registry_entry(registry, CAROM_REGISTRY_INTEGRATORS, i);
        set_options(integrator->options, integrator->option_count, integrator->options_size, integrator->defaults, text);
    }
    free(text);
}
