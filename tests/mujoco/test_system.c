// SPDX-License-Identifier: Apache-2.0
// Planar models in motion: their forces and free flight are MuJoCo's, gaps and contact velocities are derivatives of each other, and what a
// motion does not heed is refused by its name.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "dynamics/integrators.h"
#include "models.h"

// A leg on slides with a hip and a knee that turn about minus y, in the plane (x, z): what a test adds to the knee, to the shank, and to
// the model.
#define LEG(knee, shank, in_model)                                                                                                         \
    "<mujoco><worldbody><body name='trunk' pos='0 0 1.5'><joint name='x' type='slide' axis='1 0 0'/>"                                      \
    "<joint name='z' type='slide' axis='0 0 1'/><joint name='pitch' axis='0 -1 0'/>"                                                       \
    "<geom name='trunk' type='box' size='0.3 0.1 0.1' mass='3' contype='0' conaffinity='0'/>"                                              \
    "<site name='tip' pos='0.3 0 -0.1'/><body name='thigh' pos='0.1 0 -0.1'><joint name='hip' axis='0 -1 0' armature='0.05'/>"             \
    "<geom type='capsule' fromto='0 0 0 0 0 -0.4' size='0.05' mass='1' contype='0' conaffinity='0'/>"                                      \
    "<body name='shank' pos='0 0 -0.4'><joint name='knee' axis='0 -1 0' " knee                                                             \
    "/><geom name='shank' type='capsule' fromto='0.02 0 0 0.1 0 -0.5' size='0.04' mass='0.8' contype='0' conaffinity='0'/>" shank          \
    "</body></body></body></worldbody>" in_model "</mujoco>"
#define FOOT "<geom name='foot' type='sphere' pos='0.1 0 -0.5' size='0.07' mass='0.2' contype='0' conaffinity='0'/>"
#define ALL_FORCES                                                                                                                         \
    "<tendon><fixed name='belt' stiffness='20' damping='0.3'><joint joint='hip' coef='0.6'/><joint joint='knee' coef='-0.4'/></fixed>"     \
    "</tendon><actuator><motor joint='hip' gear='2'/><position joint='knee' kp='30' forcelimited='true' forcerange='-9 9'/>"               \
    "<velocity joint='hip' kv='1.5'/><motor tendon='belt' ctrllimited='true' ctrlrange='-1 1'/></actuator>"                                \
    "<keyframe><key name='flight' qpos='0 1 0.3 -0.4 0.8' qvel='1 0.5 -1 2 -3' ctrl='0.7 0.5 -0.3 2'/></keyframe>"
#define FLUID     "<option density='80' viscosity='0.5' wind='2 0 -1'/>"
#define FULL      LEG("damping='0.4' stiffness='8' springref='0.5'", FOOT, ALL_FORCES FLUID)
#define PI        3.14159265358979323846
#define COUNT(of) (int)(sizeof(of) / sizeof *(of))

static const carom_model_contact contacts[] = {
    {.name = "tip", .places = 1, .place = {{.kind = CAROM_PLACE_SITE, .name = "tip"}}, .friction = 0.5},
    {.name = "foot", .places = 1, .place = {{.kind = CAROM_PLACE_GEOM, .name = "foot"}}, .friction = 0.5},
    {.name = "shank", .places = 1, .place = {{.kind = CAROM_PLACE_GEOM, .name = "shank"}}, .friction = 0.5},
};

// A system with everything that one evaluation fills.
typedef struct opened {
    fixture f;
    carom_system *system;
    void *workspace;
    int nv, contacts;
    carom_system_terms terms;
    carom_arena arena;
} opened;

static double *room(opened *o, int count) {
    double *array = carom_arena_take(&o->arena, (size_t)count, sizeof *array);
    assert_non_null(array);
    return array;
}

// The contacts above a slope of 20 degrees.
static opened open_text(const char *text, const carom_model_contact *listed, int count, const char *key) {
    opened o = {.f = load_text(text)};
    carom_error error;
    carom_model_contact tilted[4];
    for (int i = 0; i < count; i++) {
        tilted[i] = listed[i];
        tilted[i].normal[0] = -sin(PI / 9);
        tilted[i].normal[2] = cos(PI / 9);
        tilted[i].tangents = 1;
        tilted[i].tangent[0][0] = cos(PI / 9);
        tilted[i].tangent[0][2] = sin(PI / 9);
        tilted[i].offset = -20;
    }
    if (key) assert_ok(carom_model_set_keyframe(o.f.model, key, &error), error);
    assert_ok(carom_model_create_system(o.f.model, tilted, count, &o.system, &error), error);
    assert_ok(o.system->open(o.system->self, &o.workspace, &error), error);
    const int nv = o.nv = o.system->nv, m = o.contacts = o.system->contacts;
    o.terms = (carom_system_terms){.mass = room(&o, nv * nv),
                                   .bias = room(&o, nv),
                                   .actuation = room(&o, nv),
                                   .resistance = room(&o, nv),
                                   .gap = room(&o, m),
                                   .normal = room(&o, m * nv),
                                   .tangent = room(&o, m * nv),
                                   .normal_drift = room(&o, m),
                                   .tangent_drift = room(&o, m)};
    return o;
}

static void close_all(opened *o) {
    o->system->close(o->workspace);
    carom_model_free_system(o->system);
    carom_arena_free(&o->arena);
    free_fixture(&o->f);
}

static void draw(carom_stream *stream, int count, double size, double *values) {
    for (int i = 0; i < count; i++) values[i] = size * carom_stream_normal(stream);
}

// ---------------------------------------------------------------------------------------------------------------- forces

// M a = -bias gives the accelerations of mj_forward, with every kind of force that a motion has.
static void forces_are_those_of_mujoco(void **state) {
    (void)state;
    opened o = open_text(FULL, contacts, 3, "flight");
    char message[512];
    mjModel *model = mj_loadXML(o.f.path, NULL, message, sizeof message);
    assert_non_null(model);
    mjData *data = mj_makeData(model);
    mj_resetDataKeyframe(model, data, 0);
    carom_stream stream;
    carom_stream_start(&stream, 1, 0);
    for (int round = 0; round < 50; round++) {
        double q[5], v[5], force[5];
        draw(&stream, 5, 1, q);
        draw(&stream, 5, 3, v);
        mju_copy(data->qpos, q, 5);
        mju_copy(data->qvel, v, 5);
        mj_forward(model, data);
        o.system->evaluate(o.workspace, q, v, &o.terms);
        for (int i = 0; i < 5; i++) {
            force[i] = o.terms.bias[i];
            for (int k = 0; k < 5; k++) force[i] += o.terms.mass[5 * i + k] * data->qacc[k];
        }
        const double zeros[5] = {0};
        for (int i = 0; i < 5; i++) force[i] /= 1 + fabs(o.terms.bias[i]);
        assert_all_close(force, zeros, 5, 1e-12);
        assert_all_close(o.terms.actuation, data->qfrc_actuator, 5, 1e-14);
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    close_all(&o);
}

// bias + actuation + resistance is a form of second degree of the velocity, with the potential's gradient at rest.
static void forces_without_potential_are_told_apart(void **state) {
    (void)state;
    opened o = open_text(FULL, contacts, 3, "flight");
    carom_stream stream;
    carom_stream_start(&stream, 2, 0);
    const double step = 1e-5;
    for (int round = 0; round < 20; round++) {
        double q[5], v[5], none[5] = {0}, still[5], once[5], twice[5], gradient[5], rest[5];
        draw(&stream, 5, 1, q);
        draw(&stream, 5, 3, v);
        double *const sums[] = {still, once, twice};
        for (int factor = 0; factor < 3; factor++) {
            double speed[5];
            for (int i = 0; i < 5; i++) speed[i] = factor * v[i];
            o.system->evaluate(o.workspace, q, speed, &o.terms);
            for (int i = 0; i < 5; i++) sums[factor][i] = o.terms.bias[i] + o.terms.actuation[i] + o.terms.resistance[i];
        }
        // c(2 v) = 4 c(v).
        for (int i = 0; i < 5; i++) rest[i] = (twice[i] - still[i]) - 4 * (once[i] - still[i]);
        for (int i = 0; i < 5; i++) rest[i] /= 1 + carom_max_abs(5, twice);
        assert_all_close(rest, none, 5, 1e-12);
        for (int i = 0; i < 5; i++) {
            double moved[5], potential[2];
            for (int side = 0; side < 2; side++) {
                memcpy(moved, q, sizeof moved);
                moved[i] += side ? step : -step;
                o.system->evaluate(o.workspace, moved, none, &o.terms);
                potential[side] = o.terms.potential;
            }
            gradient[i] = (potential[1] - potential[0]) / (2 * step);
        }
        assert_all_close(still, gradient, 5, 1e-8);
    }
    close_all(&o);
}

// ---------------------------------------------------------------------------------------------------------------- contacts

// Gaps have the normal velocities as rates, and both velocities have the drifts as rates where joints do not accelerate: a point, a sphere
// that rolls, the two ends of a capsule, and the stops of the knee. The slip of a sphere of radius r in a plane is t.dc/dt - omega r.
static void gaps_velocities_and_drifts_are_derivatives(void **state) {
    (void)state;
    opened o = open_text(LEG("limited='true' range='-40 80'", FOOT, ""), contacts, 3, NULL);
    static const char *const names[] = {"tip", "foot", "shank:1", "shank:2", "LIMIT:knee:lower", "LIMIT:knee:upper"};
    assert_int_equal(o.contacts, COUNT(names));
    for (int i = 0; i < o.contacts; i++) assert_string_equal(o.system->contact_names[i], names[i]);
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    const double step = 1e-5;
    for (int round = 0; round < 30; round++) {
        double q[5], v[5], moved[5], gap[2][6], normal[2][6], tangent[2][6];
        draw(&stream, 5, 1, q);
        draw(&stream, 5, 1, v);
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 5; k++) moved[k] = q[k] + (side ? step : -step) * v[k];
            o.system->evaluate(o.workspace, moved, v, &o.terms);
            memcpy(gap[side], o.terms.gap, sizeof gap[side]);
            for (int i = 0; i < 6; i++) {
                normal[side][i] = carom_dot(5, o.terms.normal + 5 * i, v);
                tangent[side][i] = carom_dot(5, o.terms.tangent + 5 * i, v);
            }
        }
        o.system->evaluate(o.workspace, q, v, &o.terms);
        for (int i = 0; i < 6; i++) {
            assert_close((gap[1][i] - gap[0][i]) / (2 * step), carom_dot(5, o.terms.normal + 5 * i, v), 1e-8);
            assert_close((normal[1][i] - normal[0][i]) / (2 * step), o.terms.normal_drift[i], 1e-7);
            assert_close((tangent[1][i] - tangent[0][i]) / (2 * step), o.terms.tangent_drift[i], 1e-7);
        }
        // The sphere against a point: that of the shank where the sphere's center is, which only adds the turning of the shank.
        const double turning = v[2] + v[3] + v[4], along = cos(PI / 9), up = sin(PI / 9);
        double center[2] = {0, 0};
        const double angle[3] = {q[2], q[2] + q[3], q[2] + q[3] + q[4]}, rate[3] = {v[2], v[2] + v[3], turning};
        const double arm[3][2] = {{0.1, -0.1}, {0, -0.4}, {0.1, -0.5}};
        for (int k = 0; k < 3; k++) {
            // Counter-clockwise in (x, z).
            center[0] += rate[k] * (-arm[k][0] * sin(angle[k]) - arm[k][1] * cos(angle[k]));
            center[1] += rate[k] * (arm[k][0] * cos(angle[k]) - arm[k][1] * sin(angle[k]));
        }
        center[0] += v[0];
        center[1] += v[1];
        assert_close(carom_dot(5, o.terms.tangent + 5, v), center[0] * along + center[1] * up + 0.07 * turning, 1e-13);
        assert_close(o.terms.gap[4], q[4] + 40 * PI / 180, 1e-14);
        assert_close(o.terms.gap[5], 80 * PI / 180 - q[4], 1e-14);
    }
    close_all(&o);
}

// ------------------------------------------------------------------------------------------------------------ free flight

#define SCENE                                                                                                                              \
    "{model: model.xml, state: {key: flight}, contacts: [{name: foot, geom: foot, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0, " \
    "offset: -100}]}"

// qpos and qvel, [10], at the end of a flight, and the relative error of the energy.
static void fly(const char *integrator, const char *step, const char *duration, double *end, double *energy_error) {
    carom_motion_answer answer = run_model(FULL, SCENE, integrator, (const char *[]){"step", step, "duration", duration, NULL});
    assert_int_equal(carom_table_rows(answer.impacts), 0);
    memcpy(end, reals(answer.final, "qpos"), 5 * sizeof *end);
    memcpy(end + 5, reals(answer.final, "qvel"), 5 * sizeof *end);
    *energy_error = carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0];
    carom_motion_answer_free(&answer);
}

// Motors, servos, springs, dampers, a tendon and a fluid in free flight, against MuJoCo's integrator of order 4; the energy less their work
// stays. The variational one is of order 2.
static void flight_is_that_of_mujoco(void **state) {
    (void)state;
    fixture f = load_text(FULL);
    char message[512];
    mjModel *model = mj_loadXML(f.path, NULL, message, sizeof message);
    assert_non_null(model);
    mjData *data = mj_makeData(model);
    mj_resetDataKeyframe(model, data, 0);
    model->opt.integrator = mjINT_RK4;
    model->opt.timestep = 1e-4;
    for (int i = 0; i < 5000; i++) mj_step(model, data);
    double expected[10], end[10], error[2], drift[2];
    mju_copy(expected, data->qpos, 5);
    mju_copy(expected + 5, data->qvel, 5);
    mj_deleteData(data);
    mj_deleteModel(model);
    free_fixture(&f);

    fly("inclusion", "0.01", "0.5", end, &drift[0]);
    // Forces have kinks where a servo meets its limit and the fluid changes its direction.
    assert_all_close(end, expected, 10, 1e-8);
    assert_true(drift[0] <= 1e-9);
    for (int i = 0; i < 2; i++) {
        error[i] = 0;
        fly("propagative", i ? "0.0005" : "0.001", "0.5", end, &drift[i]);
        for (int k = 0; k < 10; k++) error[i] = fmax(error[i], fabs(end[k] - expected[k]));
    }
    assert_true(error[1] < 2e-5);
    assert_true(error[0] / error[1] > 3.6 && error[0] / error[1] < 4.4);
    assert_true(drift[1] < 1e-5 && drift[0] / drift[1] > 3.5);
}

// A ball that shoots through a fluid along a rail: x = ln(1 + k v t)/k, where the drag is k m v^2.
static void drag_is_that_of_the_moving_state(void **state) {
    (void)state;
    static const char text[] = "<mujoco><option density='1000' gravity='0 0 0'/><worldbody><body name='ball'>"
                               "<joint name='rail' type='slide' axis='1 0 0'/><geom name='ball' size='0.02' mass='1'/></body></worldbody>"
                               "<keyframe><key name='shot' qvel='10'/></keyframe></mujoco>";
    const carom_model_contact ball[] = {
        {.name = "ball", .places = 1, .place = {{.kind = CAROM_PLACE_GEOM, .name = "ball"}}, .friction = 0}};
    opened o = open_text(text, ball, 1, "shot");
    o.system->evaluate(o.workspace, (double[]){0}, (double[]){10}, &o.terms);
    const double k = -o.terms.resistance[0] / 100;
    assert_close(o.terms.bias[0], -o.terms.resistance[0], 1e-15);
    assert_true(k > 0.01);
    carom_impact *impact;
    carom_error error;
    const carom_impact_data data = {.nv = 1,
                                    .contacts = 1,
                                    .tangent_dim = 1,
                                    .mass = (double[]){1},
                                    .normal = (double[]){1},
                                    .tangent = (double[]){1},
                                    .friction = (double[]){0},
                                    .velocity = (double[]){10}};
    assert_ok(carom_impact_create(&data, &impact, &error), error);
    const carom_motion motion = {.form = CAROM_MOTION_SYSTEM, .system = o.system, .impact = impact};
    static const char *const integrators[] = {"inclusion", "propagative"};
    for (int i = 0; i < 2; i++) {
        carom_motion_answer answer;
        assert_ok(run_integrator(integrators[i], &motion, (const char *[]){"step", "0.001", "duration", "0.5", NULL}, NULL, NULL, &answer,
                                 &error),
                  error);
        assert_close(reals(answer.final, "qpos")[0], log(1 + k * 10 * 0.5) / k, i ? 2e-6 : 1e-11);
        assert_close(reals(answer.final, "qvel")[0], 10 / (1 + k * 10 * 0.5), i ? 2e-6 : 1e-11);
        assert_true(carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0] <= 1e-11);
        carom_motion_answer_free(&answer);
    }
    carom_impact_free(impact);
    close_all(&o);
}

// ------------------------------------------------------------------------------------------------------ rolling and stops

// A solid ball, radius 0.2, on a floor: slides in x and z, turns counter-clockwise in (x, z).
#define BALL                                                                                                                               \
    "<mujoco><worldbody><body name='ball'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"          \
    "<joint name='turn' axis='0 -1 0'/><geom name='ball' size='0.2' mass='2'/></body></worldbody></mujoco>"

// A ball that is set down sliding at 3 m/s slips until t = 2 v/(7 mu g), at x = 12 v^2/(49 mu g), and rolls at 5/7 v from then on.
static void a_sliding_ball_comes_to_roll(void **state) {
    (void)state;
    const double v = 3, mu = 0.3, g = 9.81, slips = 2 * v / (7 * mu * g), far = 12 * v * v / (49 * mu * g);
    carom_motion_answer answer = run_model(BALL,
                                           "{model: model.xml, state: {qvel: [3, 0, 0]}, contacts: [{name: floor, geom: ball, normal: [0, "
                                           "0, 1], tangents: [[1, 0, 0]], friction: 0.3}]}",
                                           "inclusion", (const char *[]){"duration", "1", NULL});
    const double *q = reals(answer.final, "qpos"), *rate = reals(answer.final, "qvel");
    assert_close(q[0], far + 5 * v / 7 * (1 - slips), 1e-11);
    assert_close(q[1], 0, 1e-13);
    assert_close(rate[0], 5 * v / 7, 1e-12);
    // Forward is clockwise. The angle so far is that of constant acceleration, then of rolling.
    assert_close(rate[2], -5 * v / 7 / 0.2, 1e-12);
    assert_close(q[2], -(5 * v / 7 / 0.2) * (slips / 2 + 1 - slips), 1e-11);
    carom_motion_answer_free(&answer);
}

// A ball rolls down 30 degrees with 5/7 g sin 30, and a capsule that lies across the plane, of inertia 1/2 m r^2 by its given inertia,
// with 2/3.
static void round_bodies_roll_down_a_slope(void **state) {
    (void)state;
    static const char roller[] =
        "<mujoco><worldbody><body name='roller'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
        "<joint name='turn' axis='0 -1 0'/><inertial pos='0 0 0' mass='2' diaginertia='1 0.04 1'/>"
        "<geom name='ball' type='capsule' fromto='0 -0.3 0 0 0.3 0' size='0.2'/></body></worldbody></mujoco>";
    static const char scene[] = "{model: model.xml, contacts: [{name: slope, geom: ball, normal: [0.5, 0, 0.86602540378443865], tangents: "
                                "[[0.86602540378443865, 0, -0.5]], friction: 1}]}";
    static const struct {
        const char *xml;
        double share;
    } cases[] = {{BALL, 5. / 7}, {roller, 2. / 3}};
    for (int i = 0; i < 2; i++) {
        carom_motion_answer answer = run_model(cases[i].xml, scene, "inclusion", (const char *[]){"duration", "0.8", NULL});
        const double *q = reals(answer.final, "qpos"), down = cases[i].share * 9.81 * 0.5 * 0.32;
        assert_close(q[0], down * cos(PI / 6), 1e-11);
        assert_close(q[1], -down * sin(PI / 6), 1e-11);
        assert_close(q[2], -down / 0.2, 1e-10);
        assert_close(reals(answer.final, "energy")[0], 0, 1e-11);
        carom_motion_answer_free(&answer);
    }
}

// A capsule falls flat, on both its ends, and rests there; the floor carries its weight with both.
static void a_capsule_rests_on_both_ends(void **state) {
    (void)state;
    static const char text[] = "<mujoco><worldbody><body name='rod'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' "
                               "type='slide' axis='0 0 1'/><joint name='turn' axis='0 -1 0'/><geom name='rod' type='capsule' "
                               "fromto='-0.5 0 0 0.5 0 0' size='0.1' mass='3'/></body></worldbody></mujoco>";
    carom_motion_answer answer = run_model(text,
                                           "{model: model.xml, state: {qpos: [0, 0.4, 0.1]}, contacts: [{name: rod, geom: rod, normal: [0, "
                                           "0, 1], tangents: [[1, 0, 0]], friction: 0.5, offset: 0}]}",
                                           "inclusion", (const char *[]){"duration", "3", NULL});
    const double *force = reals(answer.final, "normal_force"), *gap = reals(answer.final, "gap");
    for (int i = 0; i < 2; i++) {
        assert_close(gap[i], 0, 1e-13);
        assert_close(force[i], 3 * 9.81 / 2, 1e-9);
    }
    assert_close(reals(answer.final, "qpos")[2], 0, 1e-12);
    carom_motion_answer_free(&answer);
}

// A pendulum of a point on a stiff rod that falls from the horizontal against a stop where it hangs: it stays there, or swings back.
static void stops_are_contacts(void **state) {
    (void)state;
    static const char text[] = "<mujoco><compiler angle='radian'/><worldbody><body name='rod'><joint name='swing' axis='0 -1 0' "
                               "limited='true' range='-1.5707963267948966 2'/><inertial pos='1 0 0' mass='2' diaginertia='1e-9 1e-9 1e-9'/>"
                               "<site name='end' pos='1 0 0'/></body></worldbody></mujoco>";
    static const char scene[] = "{model: model.xml, contacts: [{name: end, site: end, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: "
                                "0, offset: -5}]}";
    carom_motion_answer answer = run_model(text, scene, "inclusion", (const char *[]){"duration", "3", NULL});
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    assert_close(reals(answer.impacts, "qvel_before")[0], -sqrt(2 * 9.81), 1e-8);
    // The impulse at the lower stop takes the angular momentum; the end and the upper stop are not touched.
    const double *impulse = reals(answer.impacts, "normal_impulse");
    assert_close(impulse[0], 0, 0);
    assert_close(impulse[1], 2 * sqrt(2 * 9.81), 1e-8);
    assert_close(impulse[2], 0, 0);
    assert_close(reals(answer.final, "qpos")[0], -PI / 2, 1e-12);
    carom_motion_answer_free(&answer);
    // Elastic: back at the horizontal when twice the time is over.
    answer = run_model(text, scene, "propagative", (const char *[]){"step", "0.0005", "duration", "3", NULL});
    const double first = reals(answer.impacts, "time")[0], *times = reals(answer.impacts, "time");
    assert_int_equal(carom_table_rows(answer.impacts), 3);
    for (int i = 1; i < 3; i++) assert_close(times[i], (2 * i + 1) * first, 1e-5);
    assert_close(reals(answer.final, "energy")[0], 0, 1e-4);
    carom_motion_answer_free(&answer);
}

// --------------------------------------------------------------------------------------------------------------- refusals

static void what_is_not_heeded_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *refusal;
    } cases[] = {
        {LEG("frictionloss='1'", FOOT, ""), "joint 'knee' has frictionloss"},
        {LEG("", FOOT, "<tendon><fixed name='belt' frictionloss='1'><joint joint='hip' coef='1'/></fixed></tendon>"),
         "tendon 'belt' has frictionloss"},
        {LEG("", FOOT, "<tendon><fixed name='belt' limited='true' range='-1 1'><joint joint='hip' coef='1'/></fixed></tendon>"),
         "tendon 'belt' has limits"},
        {LEG("", FOOT, "<actuator><general name='odd' joint='hip' gaintype='user'/></actuator>"), "actuator 'odd' has a gain"},
        {LEG("", FOOT, "<equality><joint name='gear' joint1='hip' joint2='knee'/></equality>"), "equality constraint 'gear'"},
        {LEG("", "<joint name='wrist' type='ball'/>" FOOT, ""), "joint 'wrist': mechanisms with listed contacts have slide and hinge"},
        {LEG("", FOOT "<geom name='toe' type='box' size='0.1 0.1 0.1'/>", ""), NULL},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        fixture f = load_text(cases[i].text);
        carom_error error;
        carom_system *system;
        carom_model_contact one = contacts[1];
        one.normal[2] = 1;
        if (!cases[i].refusal) one.place[0].name = "trunk";
        const carom_status status = carom_model_create_system(f.model, &one, 1, &system, &error);
        assert_refused(status, cases[i].refusal ? CAROM_UNSUPPORTED : CAROM_BAD_INPUT, error,
                       cases[i].refusal ? cases[i].refusal : "geom 'trunk' is no sphere, capsule or ellipsoid");
        assert_null(system);
        free_fixture(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_those_of_mujoco),
        cmocka_unit_test(forces_without_potential_are_told_apart),
        cmocka_unit_test(gaps_velocities_and_drifts_are_derivatives),
        cmocka_unit_test(flight_is_that_of_mujoco),
        cmocka_unit_test(drag_is_that_of_the_moving_state),
        cmocka_unit_test(a_sliding_ball_comes_to_roll),
        cmocka_unit_test(round_bodies_roll_down_a_slope),
        cmocka_unit_test(a_capsule_rests_on_both_ends),
        cmocka_unit_test(stops_are_contacts),
        cmocka_unit_test(what_is_not_heeded_is_refused_by_name),
    };
    return cmocka_run_group_tests_name("systems", tests, start, stop);
}
