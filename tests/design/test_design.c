// SPDX-License-Identifier: Apache-2.0
// Formulas in models, scenes of balls, families of scenes, and the design of the nearest predictable one.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/dense.h"
#include "carom/expression.h"
#include "support.h"

static carom_registry *registry;

static int start(void **state) {
    (void)state;
    return carom_registry_create(&registry, NULL) != CAROM_OK;
}

static int stop(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

static int set_up(void **state) {
    *state = support_make_directory();
    return 0;
}

static int tear_down(void **state) {
    support_remove_directory(*state);
    return 0;
}

// ------------------------------------------------------------------------------------------------------------ formulas

static const char *const names[] = {"r1", "r2", "length"};
static const double values[] = {7, 4, 0.5};

static carom_status evaluate(const char *text, double *value, carom_error *error) {
    return carom_expression_evaluate(text, strlen(text), names, values, 3, value, error);
}

static void formulas_follow_precedence(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } known[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"2^-1", 0.5},
        {"8/4/2", 1},
        {"1 - 2 - 3", -4},
        {"sqrt(r2)", 2},
        {"r1*(r1+r2)/(r1-r2)-(r1+r2)", 44. / 3},
        {"1.5e-1", 0.15},
        {"--length", 0.5},
        {" 2 * length ", 1},
        {"2e+2", 200},
        {"4/3*pi*r2^3", 268.08257310632899},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double value;
        carom_error error;
        assert_ok(evaluate(known[i].text, &value, &error), error);
        assert_close(value, known[i].value, 1e-15);
    }
}

static void formulas_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } wrong[] = {{"", "ends too early"},
                 {"1+", "ends too early"},
                 {"(1", "closing parenthesis"},
                 {"1)", "operator or the end"},
                 {"r3", "one of r1, r2"},
                 {"sin(1)", "does not begin"},
                 {"1/0", "finite"},
                 {"sqrt(-1)", "finite"},
                 {"1..2", "number"},
                 {"2 3", "operator or the end"},
                 {"a$b", "does not begin"},
                 {"@", "does not begin"}};
    double value;
    carom_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(evaluate(wrong[i].text, &value, &error), CAROM_BAD_INPUT, error, wrong[i].why);
    char deep[4001];
    memset(deep, '(', 4000);
    deep[4000] = '\0';
    assert_refused(evaluate(deep, &value, &error), CAROM_BAD_INPUT, error, "nested");
}

// A pendulum bob on a rod whose length and mass are formulas.
static const char *const pendulum =
    "<mujoco><compiler angle=\"radian\"/><worldbody><body><joint name=\"angle\" type=\"hinge\" axis=\"0 -1 0\"/>"
    "<inertial pos=\"0 0 ${-l}\" mass=\"${m}\" diaginertia=\"${m*l^2/100} ${m*l^2/100} ${m*l^2/100}\"/>"
    "<site name=\"bob\" pos=\"0 0 ${-l}\"/></body></worldbody></mujoco>";

static void models_take_parameters(void **state) {
    char *path = support_write_file(*state, "pendulum.xml", pendulum);
    const carom_model_parameters parameters = {2, (const char *[]){"l", "m"}, (const double[]){0.5, 3}};
    carom_model *model;
    carom_error error;
    assert_ok(carom_model_load_with(path, &(carom_model_options){.parameters = &parameters}, &model, &error), error);
    assert_int_equal(carom_model_find_coordinate(model, "angle"), 0);
    assert_int_equal(carom_model_find_coordinate(model, "bob"), -1);
    assert_ok(carom_model_set_state(model, (const double[]){0.25}, 1, NULL, 0, &error), error);
    const carom_model_contact contact = {.name = "A", .places = 1, .place = {{CAROM_PLACE_SITE, "bob", {0}}}, .normal = {1, 0, 0}};
    double gap;
    assert_ok(carom_model_measure_gaps(model, &contact, 1, &gap, &error), error);
    assert_close(gap, 0.5 * sin(0.25), 1e-15);
    carom_impact *impact;
    assert_ok(carom_model_freeze(model, &contact, 1, &impact, &error), error);
    assert_close(carom_impact_get_data(impact)->mass[0], 3 * 0.25 * 1.01, 1e-14);
    carom_impact_free(impact);
    carom_model_free(model);

    const carom_model_parameters unknown = {1, (const char *[]){"l"}, (const double[]){0.5}};
    assert_refused(carom_model_load_with(path, &(carom_model_options){.parameters = &unknown}, &model, &error), CAROM_BAD_INPUT, error,
                   "'m'");
    assert_null(model);
    free(path);
    path = support_write_file(*state, "open.xml", "<mujoco><worldbody><body pos=\"${1 0 0\"/></worldbody></mujoco>");
    assert_refused(carom_model_load_with(path, &(carom_model_options){.parameters = &unknown}, &model, &error), CAROM_BAD_INPUT, error,
                   "has no end");
    free(path);
    // Sizes that MuJoCo would abort for are found behind formulas, too.
    path = support_write_file(*state, "large.xml", "<mujoco><size nuserdata=\"${l*1e10}\"/><worldbody/></mujoco>");
    assert_refused(carom_model_load_with(path, &(carom_model_options){.parameters = &unknown}, &model, &error), CAROM_BAD_INPUT, error,
                   "nuserdata");
    free(path);
}

// -------------------------------------------------------------------------------------------------------------- scenes

static carom_status read_text(const char *directory, const char *text, carom_scene **scene, carom_error *error) {
    char *path = support_write_file(directory, "scene.yaml", text);
    const carom_status status = carom_scene_read(path, registry, scene, error);
    free(path);
    return status;
}

static void balls_touch_or_do_not(void **state) {
    carom_scene *scene;
    carom_error error;
    assert_ok(
        read_text(*state, "balls: {masses: [1, 2, 3], radius: 0.5, positions: [-1.5, 0, 1], velocities: [1, 0, -1]}\n", &scene, &error),
        error);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    static const double normal[] = {0, -1, 1};
    assert_int_equal(data->contacts, 1);
    assert_string_equal(data->names[0], "2:3");
    assert_all_close(data->normal, normal, 3, 0);
    assert_close(data->mass[8], 3, 0);
    carom_scene_free(scene);

    assert_ok(read_text(*state, "balls: {masses: [1, 1], radius: 0.5, positions: [[0, 0], [0.6, 0.8]], velocities: [[1, 0], [0, 0]]}\n",
                        &scene, &error),
              error);
    data = carom_impact_get_data(carom_scene_impact(scene));
    static const double plane[] = {-0.6, -0.8, 0.6, 0.8};
    assert_int_equal(data->nv, 4);
    assert_all_close(data->normal, plane, 4, 1e-15);
    carom_scene_free(scene);

    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"balls: {masses: [1, 1], radius: 0.5, positions: [0, 2], velocities: [1, 0]}", "no two balls touch"},
        {"balls: {masses: [1, 1], radius: 0.5, positions: [0, 0.9], velocities: [1, 0]}", "overlap"},
        {"balls: {masses: [1, 1], radius: 0.5, positions: [0, 1, 2], velocities: [1, 0, 0]}", "must have 2"},
        {"balls: {masses: [1, 0], radius: 0.5, positions: [0, 1], velocities: [1, 0]}", "masses[1]"},
        {"balls: {masses: [1, 1], radius: 0.5, positions: [[0, 0], [1, 0]], velocities: [1, 0]}", "velocities"},
        {"balls: {masses: [1], radius: 0.5, positions: [0], velocities: [1]}", "masses"},
        {"balls: {masses: [1, 1], radius: 0.5, positions: [0, 1], velocities: [1, 0], colour: 3}", "colour"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(read_text(*state, wrong[i].text, &scene, &error), CAROM_BAD_INPUT, error, wrong[i].why);
}

static void designs_are_checked(void **state) {
#define TWO_BALLS "balls: {masses: [1, 1, 1], radius: 0.5, positions: [-1, 0, 1], velocities: [1, 0, 0]}\n"
    static const struct {
        const char *text, *why;
    } at_reading[] =
        {
            {TWO_BALLS "design: {free: [x1]}", "pairs"},
            {TWO_BALLS "design: {pairs: [['1:2']], free: [x1]}", "two contacts"},
            {TWO_BALLS "design: {pairs: [['1:2', '2:3']], free: [x1], scale: [1, 2]}", "scale"},
            {TWO_BALLS "design: {pairs: [['1:2', '2:3']], free: [x1], target: 2}", "target"},
            {TWO_BALLS "parameters: {a: 1}", "parameters"},
        },
      at_family[] = {
          {TWO_BALLS, "design"},
          {TWO_BALLS "design: {pairs: [['1:2', '1:2']], free: [m1]}", "paired with itself"},
          {TWO_BALLS "design: {pairs: [['1:2', '1:3']], free: [m1]}", "no contact"},
          {TWO_BALLS "design: {pairs: [['1:2', '2:3']], free: [y1]}", "no coordinate"},
          {TWO_BALLS "design: {pairs: [['1:2', '2:3']], free: [m4]}", "no coordinate"},
          {TWO_BALLS "design: {pairs: [['1:2', '2:3']], free: [x1, m1, x1]}", "'x1' stands twice"},
      };
    carom_scene *scene;
    carom_family *family;
    carom_error error;
    for (size_t i = 0; i < sizeof at_reading / sizeof *at_reading; i++)
        assert_refused(read_text(*state, at_reading[i].text, &scene, &error), CAROM_BAD_INPUT, error, at_reading[i].why);
    for (size_t i = 0; i < sizeof at_family / sizeof *at_family; i++) {
        assert_ok(read_text(*state, at_family[i].text, &scene, &error), error);
        assert_refused(carom_family_create(scene, &family, &error), CAROM_BAD_INPUT, error, at_family[i].why);
        assert_null(family);
        carom_scene_free(scene);
    }
}

// The tailed biped: inverse masses along the normals and their product, to the digits of the reference [1/kg].
static void tailed_biped_has_its_reference_numbers(void **state) {
    (void)state;
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_scene_read("scenes/tailed-biped.yaml", registry, &scene, &error), error);
    const double *W = carom_impact_delassus(carom_scene_impact(scene));
    assert_close(W[0], 38.1417286, 1e-8);
    assert_close(W[10], 110.6613914, 1e-8);
    assert_close(W[2], -2.63589e-2, 1e-7);
    assert_close(W[2] / sqrt(W[0] * W[10]), -4.0572246e-4, 1e-10);
    carom_propagative *p;
    carom_uniqueness *u;
    assert_ok(carom_propagative_create(carom_scene_impact(scene), &p, &error), error);
    const carom_word_limits limits = carom_word_limits_defaults();
    assert_ok(carom_propagative_uniqueness(p, &limits, NULL, &u, &error), error);
    assert_int_equal(u->outcomes, 2);
    assert_true(fabs(u->difference - 2.25200709e-4) <= 1e-11);
    carom_uniqueness_free(u);
    carom_propagative_free(p);
    carom_scene_free(scene);
}

// A family moves what it says, and a written scene is the family at that point.
static void families_write_what_they_evaluate(void **state) {
    static const char *const shipped[] = {"scenes/tailed-biped.yaml", "scenes/billiards-design.yaml"};
    for (int i = 0; i < 2; i++) {
        carom_scene *scene, *copy;
        carom_family *family;
        carom_error error;
        assert_ok(carom_scene_read(shipped[i], registry, &scene, &error), error);
        assert_ok(carom_family_create(scene, &family, &error), error);
        const int variables = carom_family_variables(family), contacts = carom_impact_get_data(carom_scene_impact(scene))->contacts;
        double x[16], gaps[4];
        for (int k = 0; k < variables; k++) x[k] = carom_family_start(family)[k];
        carom_impact *impact;
        assert_ok(carom_family_evaluate(family, x, &impact, gaps, &error), error);
        for (int c = 0; c < contacts; c++) assert_true(gaps[c] == 0);
        carom_impact_free(impact);

        // Both balls one way along x; the biped's angles a little, and r1.
        for (int k = 0; k < variables; k++) x[k] += i == 0 ? 0.01 * carom_family_scale(family)[k] : 0;
        assert_ok(carom_family_evaluate(family, x, &impact, gaps, &error), error);
        if (i == 0) assert_true(fabs(gaps[0]) > 1e-6);
        char path[256];
        snprintf(path, sizeof path, "%s/design.json", (const char *)*state);
        assert_ok(carom_family_write(family, x, path, &error), error);
        assert_ok(carom_scene_read(path, registry, &copy, &error), error);
        const carom_impact_data *a = carom_impact_get_data(impact), *b = carom_impact_get_data(carom_scene_impact(copy));
        assert_int_equal(a->nv, b->nv);
        assert_all_close(b->mass, a->mass, a->nv * a->nv, 0);
        assert_all_close(b->normal, a->normal, a->contacts * a->nv, 0);
        assert_all_close(b->velocity, a->velocity, a->nv, 0);
        carom_scene_free(copy);
        carom_impact_free(impact);
        carom_family_free(family);
        carom_scene_free(scene);
        // Nobody's YAML is replaced.
        if (i == 1) continue;
        free(support_write_file(*state, "hand.yaml", "name: mine\n"));
        assert_ok(carom_scene_read(shipped[i], registry, &scene, &error), error);
        assert_ok(carom_family_create(scene, &family, &error), error);
        snprintf(path, sizeof path, "%s/hand.yaml", (const char *)*state);
        assert_refused(carom_family_write(family, carom_family_start(family), path, &error), CAROM_BAD_INPUT, error, "hand.yaml");
        carom_family_free(family);
        carom_scene_free(scene);
    }
}

// -------------------------------------------------------------------------------------------------------------- design

// The nearest point of a sphere of radius 2 about the origin to the start, in the metric of the scales: known by Lagrange's condition.
static carom_status sphere(void *user, const double *x, double *residual, carom_error *error) {
    ++*(int *)user;
    if (x[0] < -10) return carom_fail(error, CAROM_BAD_INPUT, "outside");
    residual[0] = carom_dot(3, x, x) - 4;
    return CAROM_OK;
}

static void design_finds_the_nearest_point(void **state) {
    (void)state;
    static const double from[] = {3, 1, 0.5}, scale[] = {1, 2, 0.5}, even[] = {1, 1, 1};
    int calls = 0;
    double x[3];
    carom_error error;
    carom_design_result result;
    carom_design_problem problem = {.variables = 3, .equations = 1, .start = from, .scale = even, .user = &calls, .evaluate = sphere};
    if (carom_design_solve(&problem, NULL, x, &result, &error) == CAROM_UNSUPPORTED) skip();
    assert_int_equal(result.verdict, CAROM_COMPLETE);
    assert_true(result.residual <= CAROM_DESIGN_TOLERANCE);
    assert_int_equal(result.evaluations, calls);
    const double length = sqrt(carom_dot(3, from, from));
    for (int i = 0; i < 3; i++) assert_close(x[i], 2 * from[i] / length, 1e-7);
    problem.scale = scale;
    assert_ok(carom_design_solve(&problem, NULL, x, &result, &error), error);
    assert_int_equal(result.verdict, CAROM_COMPLETE);
    // (x_i - start_i) / scale_i^2 is a multiple of the gradient 2 x_i.
    const double multiple = (x[0] - from[0]) / (scale[0] * scale[0] * x[0]);
    for (int i = 1; i < 3; i++) assert_true(fabs((x[i] - from[i]) / (scale[i] * scale[i]) - multiple * x[i]) <= 1e-6);
}

static carom_status no_root(void *user, const double *x, double *residual, carom_error *error) {
    (void)user;
    (void)error;
    residual[0] = 1 + x[0] * x[0] + x[1] * x[1];
    return CAROM_OK;
}

static void design_says_when_there_is_none(void **state) {
    (void)state;
    static const double from[] = {0.5, -0.25}, scale[] = {1, 1}, wrong[] = {1, 0};
    double x[2];
    carom_error error;
    carom_design_result result;
    carom_design_problem problem = {.variables = 2, .equations = 1, .start = from, .scale = scale, .evaluate = no_root};
    if (carom_design_solve(&problem, NULL, x, &result, &error) == CAROM_UNSUPPORTED) skip();
    assert_int_equal(result.verdict, CAROM_INCOMPLETE);
    assert_true(result.residual >= 1 && result.residual <= 1.3125);
    assert_close(1 + x[0] * x[0] + x[1] * x[1], result.residual, 1e-12);
    problem.scale = wrong;
    assert_refused(carom_design_solve(&problem, NULL, x, &result, &error), CAROM_BAD_INPUT, error, "scale[1]");
    problem.equations = 3;
    assert_refused(carom_design_solve(&problem, NULL, x, &result, &error), CAROM_BAD_INPUT, error, "3 equations");
}

// The command as users run it: its JSON, NULL when the build has no KINSOL.
static json_t *run_design(const char *scene, int *status) {
    const char *build = getenv("CAROM_BUILD");
    char command[1024];
    snprintf(command, sizeof command, "%s/carom design %s --json 2>/dev/null", build && *build ? build : "build", scene);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    json_t *document = json_loadf(pipe, 0, NULL);
    *status = pclose(pipe);
    return document;
}

static double number_of(const json_t *document, const char *part, const char *key) {
    const json_t *value = json_object_get(json_object_get(document, part), key);
    return json_number_value(json_is_array(value) ? json_array_get(value, 0) : value);
}

static void shipped_designs_become_predictable(void **state) {
    (void)state;
    static const double opened[] = {0.70710678118654752, 0.70710678118654752, 0.70710678118654752, -0.70710678118654752, 0, 0};
    static const char *const shipped[] = {"scenes/tailed-biped.yaml", "scenes/billiards-design.yaml"};
    for (int i = 0; i < 2; i++) {
        int status;
        json_t *document = run_design(shipped[i], &status);
        if (!document) skip();
        assert_int_equal(status, 0);
        assert_string_equal(json_string_value(json_object_get(document, "schema")), "carom.design/1");
        assert_true(fabs(number_of(document, "before", "cosines")) > 1e-4);
        assert_true(fabs(number_of(document, "after", "cosines")) < 1e-15);
        assert_true(number_of(document, "before", "xi") > 1e-4);
        assert_true(number_of(document, "after", "xi") < 1e-15);
        for (size_t k = 0; i == 1 && k < 6; k++)
            assert_close(json_number_value(json_array_get(json_object_get(document, "qpos"), k)), opened[k], 1e-9);
        json_decref(document);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_follow_precedence),
        cmocka_unit_test(formulas_are_refused),
        cmocka_unit_test_setup_teardown(models_take_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(balls_touch_or_do_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(designs_are_checked, set_up, tear_down),
        cmocka_unit_test(tailed_biped_has_its_reference_numbers),
        cmocka_unit_test_setup_teardown(families_write_what_they_evaluate, set_up, tear_down),
        cmocka_unit_test(design_finds_the_nearest_point),
        cmocka_unit_test(design_says_when_there_is_none),
        cmocka_unit_test(shipped_designs_become_predictable),
    };
    return cmocka_run_group_tests_name("design", tests, start, stop);
}
