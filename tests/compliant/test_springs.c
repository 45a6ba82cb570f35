// SPDX-License-Identifier: Apache-2.0
// Springs without dampers give back all that they store: restitution 1. Velocities after them are those of law `lzb`.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "compliant/compliant.h"
#include "support.h"

enum { MOST = 8 };

// -------------------------------------------------------------------------------------------------------- three balls

// Three balls of 1 kg on a line, which touch: gaps x2 - x1 and x3 - x2, no friction, no gravity.
static carom_status open_balls(const void *self, void **workspace, carom_error *error) {
    (void)self, (void)error;
    static int nothing;
    *workspace = &nothing;
    return CAROM_OK;
}

static void close_balls(void *workspace) { (void)workspace; }

static const double ball_mass[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, ball_normal[6] = {-1, 1, 0, 0, -1, 1}, nothing[6] = {0};

static void evaluate_balls(void *workspace, const double *position, const double *velocity, carom_system_terms *terms) {
    (void)workspace, (void)velocity;
    memcpy(terms->mass, ball_mass, sizeof ball_mass);
    memcpy(terms->normal, ball_normal, sizeof ball_normal);
    memcpy(terms->tangent, nothing, sizeof nothing);
    memset(terms->bias, 0, 3 * sizeof(double));
    memset(terms->normal_drift, 0, 2 * sizeof(double));
    memset(terms->tangent_drift, 0, 2 * sizeof(double));
    for (int i = 0; i < 2; i++) terms->gap[i] = position[i + 1] - position[i];
    terms->potential = 0;
}

static void curve_balls(void *workspace, int contact, double *normal, double *tangent) {
    (void)workspace, (void)contact;
    memset(normal, 0, 9 * sizeof(double));
    memset(tangent, 0, 9 * sizeof(double));
}

static const carom_system balls = {.nv = 3,
                                   .contacts = 2,
                                   .tangent_dim = 1,
                                   .friction = (const double[]){0, 0},
                                   .restitution = (const double[]){1, 1},
                                   .turns = (const bool[]){false, false, false},
                                   .names = (const char *const[]){"a", "b", "c"},
                                   .position = (const double[]){0, 0, 0},
                                   .velocity = (const double[]){1, 0, 0},
                                   .mass = 3,
                                   .length = 1,
                                   .constant_mass = true,
                                   .open = open_balls,
                                   .close = close_balls,
                                   .evaluate = evaluate_balls,
                                   .curve = curve_balls};

// Velocities [nv] after all contacts have let go. The end of an impact for this command is that of compression, unless a contact lacks its
// least impulse: one that none can have lets springs push back until the horizon.
static void spring_back(const carom_system *system, const double *displacement, const double stiffness[2], double horizon, double *v) {
    carom_compliant_options options = carom_compliant_defaults();
    options.system = system;
    options.damping_ratio = 0;
    compliant_solver *solver;
    carom_error error;
    assert_ok(compliant_solver_create(system, &options, &solver, &error), error);
    double impulse[2], normal[2], tangent[2];
    const compliant_start start = {stiffness, displacement, system->velocity, 0, 1e30, horizon};
    compliant_end end = {.velocity = v, .impulse = impulse, .normal_velocity = normal, .tangent_velocity = tangent};
    assert_ok(compliant_solver_run(solver, &start, &end, &error), error);
    assert_false(end.stuck);
    for (int i = 0; i < 2; i++) assert_true(normal[i] > -1e-6);
    compliant_solver_free(solver);
}

// The rows of law `lzb` for e = 1, from an independent program. Springs are linear, and the balls' matrices constant: no stiffness is too
// low.
static void three_balls_on_springs_are_those_of_lzb(void **state) {
    (void)state;
    if (!carom_compliant_available()) skip();
    static const struct {
        double ratio, v[3];
    } rows[] = {{1e-3, {-0.000116866, 0.000116879, 0.999999986}},
                {0.1, {-0.01184085, 0.01198276, 0.99985809}},
                {1, {-0.1302617, 0.15022957, 0.98003213}},
                {10, {-0.33099389, 0.61717162, 0.71382227}},
                {1e3, {-0.33333322, 0.66633054, 0.66700268}}};
    // A spring that neither pushes nor is approached has no event to begin with: it is apart by a hair, beside compressions of 0.1 to 1 m.
    const double nearly_touching[] = {0, 0, 1e-9};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const double least = fmin(1, rows[k].ratio), stiffness[] = {1 / least, rows[k].ratio / least};
        double v[3];
        spring_back(&balls, nearly_touching, stiffness, 20, v);
        assert_all_close(v, rows[k].v, 3, 1e-6);
    }
}

// ------------------------------------------------------------------------------------------------------------- a block

// The stiff limit of the block, with friction and turning: 1 % of the speed is left for gravity, which acts for 0.1 ms.
static void the_block_on_springs_is_that_of_lzb(void **state) {
    (void)state;
    if (!carom_compliant_available()) skip();
    carom_registry *registry;
    carom_scene *scene;
    carom_error error;
    const carom_system *system;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_dynamics_register(registry, &error), error);
    assert_ok(carom_scene_read_motion("scenes/block.yaml", registry, &scene, &error), error);
    assert_ok(carom_scene_system(scene, &system, &error), error);
    const carom_impact *impact = carom_scene_impact(scene);
    static const struct {
        const char *text;
        double ratio;
    } rows[] = {{"1,1", 1}, {"1,4", 4}, {"1,30", 30}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const double stiffness[] = {1e10, 1e10 * rows[k].ratio};
        double v[MOST];
        spring_back(system, (const double[MOST]){0}, stiffness, 1e-4, v);
        carom_answer answer =
            support_ask(registry, impact, "lzb", (const char *const[]){"restitution", "1", "stiffness", rows[k].text, NULL});
        const double *expected = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY);
        const double speed = carom_max_abs((size_t)system->nv, system->velocity);
        for (int j = 0; j < system->nv; j++) assert_true(fabs(v[j] - expected[j]) <= 0.01 * speed);
        carom_answer_free(&answer);
    }
    carom_scene_free(scene);
    carom_registry_free(registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_balls_on_springs_are_those_of_lzb),
        cmocka_unit_test(the_block_on_springs_is_that_of_lzb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
