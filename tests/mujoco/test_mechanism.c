// SPDX-License-Identifier: Apache-2.0
// Models as mechanisms in time: their terms against MuJoCo's own step and finite differences, and what detection finds.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "robot_support.h"

#define STEP       1e-3
#define DIFFERENCE 1e-6

// Two links in the plane with springs, dampers, drag, a tendon and motors; gravity as MuJoCo has it.
#define LINKS(attributes, in_model)                                                                                                        \
    "<mujoco><worldbody><body name='upper' pos='0 0 1'><joint name='shoulder' axis='0 1 0' " attributes "/>"                               \
    "<geom type='capsule' fromto='0 0 0 0.1 0 -0.5' size='0.05' mass='2' contype='0' conaffinity='0'/>"                                    \
    "<body name='lower' pos='0.1 0 -0.5'><joint name='elbow' axis='0.2 1 0' " attributes "/>"                                              \
    "<geom type='capsule' fromto='0 0 0 0 0 -0.4' size='0.04' mass='1' contype='0' conaffinity='0'/>"                                      \
    "<body name='hand' pos='0 0 -0.4'><joint name='reach' type='slide' axis='0 0 1' " attributes "/>"                                      \
    "<geom size='0.03' mass='0.5' contype='0' conaffinity='0'/></body></body></body></worldbody>" in_model "</mujoco>"
#define SPRINGS "stiffness='30' springref='0.2' damping='2' armature='0.1'"
#define STRING                                                                                                                             \
    "<tendon><fixed name='string' stiffness='40'><joint joint='shoulder' coef='0.5'/><joint joint='reach' coef='-1'/></fixed></tendon>"
#define MOTORS "<actuator><motor joint='shoulder' gear='3'/><position joint='elbow' kp='50'/><motor tendon='string' gear='2'/></actuator>"

typedef struct motion {
    fixture model;
    carom_mechanism *mechanism;
    void *work;
    carom_mechanism_terms terms;
    carom_arena arena;
    int nq, nv;
} motion;

static double *take(motion *m, int count) {
    double *array = carom_arena_take(&m->arena, (size_t)count + 1, sizeof *array);
    assert_non_null(array);
    return array;
}

// The model of a text, or of a file of scenes/, as a mechanism.
static motion start(const char *text, const carom_model_motion *how) {
    motion m = {0};
    carom_error error;
    if (*text == '<')
        m.model = load_text(text);
    else
        assert_ok(carom_model_load(text, &m.model.model, &error), error);
    assert_ok(carom_model_create_mechanism(m.model.model, how, &m.mechanism, &error), error);
    assert_ok(m.mechanism->open(m.mechanism->self, &m.work, &error), error);
    m.nq = m.mechanism->nq;
    m.nv = m.mechanism->nv;
    m.terms = (carom_mechanism_terms){.mass = take(&m, m.nv * m.nv),
                                      .force = take(&m, m.nv),
                                      .actuation = take(&m, m.nv),
                                      .resistance = take(&m, m.nv),
                                      .damping = take(&m, m.nv * m.nv),
                                      .stiffness = take(&m, m.nv * m.nv),
                                      .dry_friction = take(&m, m.nv)};
    return m;
}

static void stop(motion *m) {
    m->mechanism->close(m->work);
    carom_model_free_mechanism(m->mechanism);
    if (m->model.path)
        free_fixture(&m->model);
    else
        carom_model_free(m->model.model);
    carom_arena_free(&m->arena);
}

static carom_touches detect_at(const motion *m, const double *position, double margin) {
    carom_touches touches;
    carom_error error;
    assert_ok(m->mechanism->detect(m->work, position, margin, &touches, &error), error);
    return touches;
}

// A state near the start: every coordinate displaced along a random velocity, `size` times 1 m or rad, and a random velocity.
static void choose_state(const motion *m, carom_stream *stream, double size, double *position, double *velocity) {
    for (int i = 0; i < m->nv; i++) velocity[i] = size * carom_stream_normal(stream);
    m->mechanism->advance(m->mechanism->self, m->mechanism->position, velocity, 1, position);
    for (int i = 0; i < m->nv; i++) velocity[i] = carom_stream_normal(stream);
}

// --------------------------------------------------------------------------------------------------------------- terms

// Without contacts (M + h D) (v' - v) = h f is the step of MuJoCo's Euler integrator, which is implicit in the damping of joints; its
// energies are those of the terms.
static void test_step_is_that_of_mujoco(void **state) {
    (void)state;
    static const char *const models[] = {LINKS(SPRINGS, STRING MOTORS),
                                         LINKS(SPRINGS, "<option density='100' viscosity='0.5' wind='2 0 1'/>"), "scenes/quadruped.xml",
                                         "scenes/humanoid.xml"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        fixture probe = *models[k] == '<' ? load_text(models[k]) : (fixture){0};
        char message[500];
        mjModel *witness = mj_loadXML(probe.path ? probe.path : models[k], NULL, message, sizeof message);
        assert_non_null(witness);
        mjData *data = mj_makeData(witness);
        witness->opt.timestep = STEP;
        witness->opt.disableflags |= mjDSBL_CONSTRAINT;
        witness->opt.enableflags |= mjENBL_ENERGY;
        double controls[64];
        for (int i = 0; i < 64; i++) controls[i] = 0.1 * (i % 5) - 0.2;
        const double time = 0;
        motion m = start(models[k], &(carom_model_motion){.control = {witness->nu ? 1 : 0, &time, controls}});
        double *position = take(&m, m.nq), *velocity = take(&m, m.nv), *next = take(&m, m.nv), *factor = take(&m, m.nv * m.nv);
        carom_stream stream;
        carom_stream_start(&stream, 4, k);
        for (int trial = 0; trial < 5; trial++) {
            choose_state(&m, &stream, 0.3, position, velocity);
            mju_copy(data->qpos, position, m.nq);
            mju_copy(data->qvel, velocity, m.nv);
            mju_copy(data->ctrl, controls, (int)witness->nu);
            m.mechanism->evaluate(m.work, 0.7, position, velocity, &m.terms);
            for (int i = 0; i < m.nv * m.nv; i++) factor[i] = m.terms.mass[i] + STEP * m.terms.damping[i];
            for (int i = 0; i < m.nv; i++) next[i] = STEP * m.terms.force[i];
            assert_int_equal(carom_cholesky_factor(m.nv, factor), 0);
            carom_cholesky_forward(m.nv, factor, next);
            carom_cholesky_backward(m.nv, factor, next);
            for (int i = 0; i < m.nv; i++) next[i] += velocity[i];
            mj_step(witness, data);
            assert_all_close(next, data->qvel, m.nv, 1e-10);
            assert_close(m.terms.potential, data->energy[0], 1e-12);
            assert_close(m.terms.kinetic, data->energy[1], 1e-12);
            // Positions move by the exponential map, and quaternions stay unit quaternions.
            m.mechanism->advance(m.mechanism->self, position, next, STEP, position);
            assert_all_close(position, data->qpos, m.nq, 1e-12);
            if (m.nq > m.nv) assert_close(mju_norm(position + 3, 4), 1, 1e-15);
        }
        stop(&m);
        mj_deleteData(data);
        mj_deleteModel(witness);
        if (probe.path) free_fixture(&probe);
    }
}

// D and K are the derivatives of the force of dampers, springs and servos, of those that do not push; a servo at the end of its force's
// range has none. At rest without gravity the bias has no derivatives.
static void test_damping_and_stiffness_are_derivatives(void **state) {
    (void)state;
    static const char servos[] =
        "<option gravity='0 0 0'/>"
        "<tendon><fixed name='string' stiffness='40' damping='3'><joint joint='shoulder' coef='0.5'/><joint joint='reach' "
        "coef='-1'/></fixed></tendon>"
        "<actuator><general joint='shoulder' gear='2' gainprm='30' biastype='affine' biasprm='1 -30 -4'/>"
        "<general joint='elbow' gaintype='affine' gainprm='5 -2 -1' biastype='none' ctrllimited='true' ctrlrange='0 1'/>"
        "<general tendon='string' gainprm='7' biastype='affine' biasprm='0 -7 -0.5'/>"
        "<general joint='reach' gainprm='1000' biastype='affine' biasprm='0 -1000 -10' forcelimited='true' forcerange='-1 1'/></actuator>";
    char text[4096];
    snprintf(text, sizeof text, LINKS(SPRINGS, "%s"), servos);
    const double time = 0, controls[] = {0.3, 0.9, -0.2, 1};
    motion m = start(text, &(carom_model_motion){.control = {1, &time, controls}});
    const int nv = m.nv;
    double *position = take(&m, nv), *velocity = take(&m, nv), *force = take(&m, nv), *D = take(&m, nv * nv), *K = take(&m, nv * nv);
    position[0] = 0.4, position[1] = -0.3, position[2] = 0.05;
    m.mechanism->evaluate(m.work, 0, position, velocity, &m.terms);
    mju_copy(D, m.terms.damping, nv * nv);
    mju_copy(K, m.terms.stiffness, nv * nv);
    assert_true(D[0] > 2 && D[1 * nv + 1] > 2 && fabs(D[2]) > 0.1 && K[0] > 30);
    for (int j = 0; j < nv; j++) {
        for (int along = 0; along < 2; along++) {
            double *moved = along ? velocity : position, derivative[8];
            const double before = moved[j];
            moved[j] = before + DIFFERENCE;
            m.mechanism->evaluate(m.work, 0, position, velocity, &m.terms);
            mju_copy(force, m.terms.force, nv);
            moved[j] = before - DIFFERENCE;
            m.mechanism->evaluate(m.work, 0, position, velocity, &m.terms);
            moved[j] = before;
            for (int i = 0; i < nv; i++) derivative[i] = -(force[i] - m.terms.force[i]) / (2 * DIFFERENCE);
            assert_all_close((along ? D : K) + j * nv, derivative, nv, 1e-7);
        }
    }
    // The share of the dampers is that of the force which a velocity adds, without the actuators.
    velocity[0] = 0.5, velocity[1] = -1, velocity[2] = 2;
    m.mechanism->evaluate(m.work, 0, position, velocity, &m.terms);
    double expected[] = {-2 * 0.5 - 3 * 0.5 * (0.25 - 2), 2, -4 + 3 * (0.25 - 2)};
    assert_all_close(m.terms.resistance, expected, 3, 1e-14);
    stop(&m);
}

// Controls are linear between the rows of a table, and constant outside; dry friction is that of the joints.
static void test_controls_over_time(void **state) {
    (void)state;
    const double times[] = {0, 1, 3}, controls[] = {1, 0, 0, 2, 4, 0, 2, 8, 1};
    motion m = start(LINKS(SPRINGS " frictionloss='0.7'", STRING MOTORS), &(carom_model_motion){.control = {3, times, controls}});
    static const double asked[][2] = {{-1, 3}, {0, 3}, {0.25, 3.75}, {1, 6}, {2, 6}, {3, 6}, {9, 6}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        m.mechanism->evaluate(m.work, asked[i][0], m.mechanism->position, m.mechanism->velocity, &m.terms);
        // The motor of the tendon pulls at the shoulder, too: 2 * 0.5 per unit.
        const double third = asked[i][0] <= 1 ? 0 : asked[i][0] >= 3 ? 1 : (asked[i][0] - 1) / 2;
        assert_close(m.terms.actuation[0], asked[i][1] + third, 1e-14);
        assert_close(m.terms.dry_friction[2], 0.7, 0);
    }
    stop(&m);
}

// ----------------------------------------------------------------------------------------------------------- detection

// Shapes of all kinds that touch, a chain that hits its stops, and tendons and equality constraints between moving bodies.
static const char heap[] =
    "<mujoco><compiler angle='radian'/><worldbody><geom name='floor' type='plane' size='2 2 1' friction='0.7'/>"
    "<body name='box' pos='0 0 0.1'><freejoint/><geom name='box' type='box' size='0.1 0.1 0.1' friction='0.2'/><site name='hook' pos='0.1 "
    "0 0.1'/></body>"
    "<body name='ball' pos='0.19 0 0.1'><freejoint/><geom name='ball' size='0.1' condim='1'/><site name='ring'/></body>"
    "<body name='roll' pos='-0.5 0 0.05'><freejoint/><geom name='roll' type='capsule' fromto='0 0 0 0 0.3 0' size='0.05'/></body>"
    "<body name='stick' pos='-0.5 0.1 0.16'><freejoint/><geom name='stick' type='capsule' fromto='-0.2 0 0 0.2 0 0' size='0.055'/></body>"
    "<body name='arm' pos='1 0 1'><joint name='swing' axis='0 1 0' limited='true' range='-0.04 0.04'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -0.3' size='0.02'/><site name='tip' pos='0 0 -0.3'/>"
    "<body name='wrist' pos='0 0 -0.4'><joint name='socket' type='ball' limited='true' range='0 0.06'/><geom size='0.04'/></body></body>"
    "</worldbody><tendon><spatial name='rope' limited='true' range='0 0.9'><site site='tip'/><site site='ring'/></spatial></tendon>"
    "<equality><connect name='pin' body1='box' body2='roll' anchor='-0.3 0 0'/><weld name='glue' body1='ball' "
    "body2='stick'/></equality></mujoco>";

static const carom_touch *find_touch(const carom_touches *touches, const carom_touch *wanted, int *index) {
    for (*index = 0; *index < touches->count; ++*index) {
        const carom_touch *touch = &touches->touch[*index];
        if (touch->kind == wanted->kind && touch->first == wanted->first && touch->second == wanted->second &&
            touch->ordinal == wanted->ordinal)
            return touch;
    }
    return NULL;
}

// Rates of gaps and of residuals are Jn v and G v: of contacts, stops, ball joints, tendons, points and welds.
static void test_jacobians_are_derivatives(void **state) {
    (void)state;
    motion m = start(heap, NULL);
    const int nv = m.nv;
    double *position = take(&m, m.nq), *velocity = take(&m, nv), *moved = take(&m, m.nq);
    carom_stream stream;
    carom_stream_start(&stream, 9, 0);
    int contacts = 0, limits = 0;
    for (int trial = 0; trial < 8; trial++) {
        choose_state(&m, &stream, 0.02, position, velocity);
        const carom_touches found = detect_at(&m, position, 0.05);
        assert_true(found.equations == 9);
        double gaps[64], rates[64], residuals[9], equation_rates[9];
        carom_touch touches[64];
        assert_in_range(found.count, 8, 64);
        for (int i = 0; i < found.count; i++) {
            touches[i] = found.touch[i];
            rates[i] = carom_dot(nv, found.normal + i * nv, velocity);
            contacts += touches[i].kind == CAROM_TOUCH_CONTACT;
            limits += touches[i].kind == CAROM_TOUCH_LIMIT;
            // The normal of a contact moves the second geom away from the first, and tangents are orthonormal to it.
            for (int a = 0; a < 3 && touches[i].kind == CAROM_TOUCH_CONTACT; a++)
                for (int b = 0; b < 3; b++) assert_close(mju_dot3(touches[i].axes[a], touches[i].axes[b]), a == b, 1e-9);
        }
        for (int i = 0; i < 9; i++) equation_rates[i] = carom_dot(nv, found.equation + i * nv, velocity);
        const int count = found.count;
        for (int side = 0; side < 2; side++) {
            m.mechanism->advance(m.mechanism->self, position, velocity, side ? DIFFERENCE : -DIFFERENCE, moved);
            const carom_touches other = detect_at(&m, moved, 0.06);
            for (int i = 0; i < 9; i++) residuals[i] = side ? (other.residual[i] - residuals[i]) / (2 * DIFFERENCE) : other.residual[i];
            for (int i = 0; i < count; i++) {
                int index;
                const carom_touch *same = find_touch(&other, &touches[i], &index);
                assert_non_null(same);
                gaps[i] = side ? (same->gap - gaps[i]) / (2 * DIFFERENCE) : same->gap;
            }
        }
        assert_all_close(gaps, rates, count, 1e-6);
        assert_all_close(residuals, equation_rates, 9, 1e-6);
    }
    assert_true(contacts > 60 && limits > 16);
    stop(&m);
}

// What detection says is a function of the position and the margin: the bits do not depend on calls before, or on the workspace.
static void test_detection_has_no_memory(void **state) {
    (void)state;
    motion m = start(heap, NULL);
    double *position = take(&m, m.nq), *other = take(&m, m.nq), *velocity = take(&m, m.nv);
    carom_stream stream;
    carom_stream_start(&stream, 2, 0);
    for (int trial = 0; trial < 10; trial++) {
        choose_state(&m, &stream, 0.03, position, velocity);
        choose_state(&m, &stream, 0.3, other, velocity);
        void *fresh;
        carom_touches first, second;
        carom_error error;
        assert_ok(m.mechanism->open(m.mechanism->self, &fresh, &error), error);
        detect_at(&m, other, 0.5);
        m.mechanism->evaluate(m.work, 0, other, velocity, &m.terms);
        first = detect_at(&m, position, 0.01);
        assert_ok(m.mechanism->detect(fresh, position, 0.01, &second, &error), error);
        assert_int_equal(first.count, second.count);
        assert_memory_equal(first.touch, second.touch, (size_t)first.count * sizeof *first.touch);
        assert_memory_equal(first.normal, second.normal, (size_t)(first.count * m.nv) * sizeof *first.normal);
        assert_memory_equal(first.tangent, second.tangent, (size_t)(2 * first.count * m.nv) * sizeof *first.tangent);
        assert_memory_equal(first.residual, second.residual, (size_t)first.equations * sizeof *first.residual);
        // Touches are in the order of kinds, geoms and ordinals.
        for (int i = 1; i < first.count; i++) {
            const carom_touch *a = &first.touch[i - 1], *b = &first.touch[i];
            const int order = a->kind != b->kind       ? (int)a->kind - (int)b->kind
                              : a->first != b->first   ? a->first - b->first
                              : a->second != b->second ? a->second - b->second
                                                       : a->ordinal - b->ordinal;
            assert_true(order < 0);
        }
        m.mechanism->close(fresh);
    }
    stop(&m);
}

// A ball above a level height field beside a floor: whatever the margin, the gap is the distance from the field, of a ball that touches.
static void test_height_fields_stay_in_their_place(void **state) {
    (void)state;
    motion m =
        start("<mujoco><asset><hfield name='land' nrow='4' ncol='4' size='1 1 0.2 0.1'/></asset><worldbody>"
              "<geom name='land' type='hfield' hfield='land' pos='0 0 0.1'/><geom name='floor' type='plane' size='2 2 1' pos='0 0 0.099'/>"
              "<body name='ball' pos='0.1 0.2 0.2'><joint name='z' type='slide' axis='0 0 1'/><geom name='ball' size='0.1'/></body>"
              "</worldbody></mujoco>",
              NULL);
    const double margins[] = {0, 1e-3, 0.05};
    for (int i = 0; i < 3; i++) {
        const carom_touches under = detect_at(&m, (double[]){-1e-4}, margins[i]);
        // Where normals are equal to round-off, the contacts with field and floor are one.
        double least = INFINITY;
        for (int k = 0; k < under.count; k++) {
            least = fmin(least, under.touch[k].gap);
            assert_close(under.normal[k], 1, 1e-6);
        }
        assert_close(least, -1e-4, 1e-7);
        // The floor is 1.1 mm below the ball; the field is not felt from afar.
        const carom_touches above = detect_at(&m, (double[]){1e-4}, margins[i]);
        assert_int_equal(above.count, margins[i] > 2e-3);
        if (above.count) assert_close(above.touch[0].gap, 1.1e-3, 1e-12);
    }
    stop(&m);
}

// Friction is that of a pair as impacts have it, and names are theirs.
static void test_friction_and_names(void **state) {
    (void)state;
    motion m = start(heap, NULL);
    const carom_touches found = detect_at(&m, m.mechanism->position, 0.03);
    int boxes = 0, balls = 0;
    for (int i = 0; i < found.count; i++) {
        char name[100], expected[100];
        m.mechanism->name(m.mechanism->self, &found.touch[i], name, sizeof name);
        if (strncmp(name, "box", 3) == 0 && !strchr(name, 'l')) {
            snprintf(expected, sizeof expected, "box:%d", boxes + 1);
            assert_string_equal(name, expected);
            assert_close(found.touch[i].friction, 0.7, 0);
            boxes++;
        }
        if (!strcmp(name, "ball")) balls += found.touch[i].friction == 1;
    }
    assert_int_equal(boxes, 4);
    assert_int_equal(balls, 1);
    // Both stops of the swing are 0.04 rad away.
    const carom_touches wide = detect_at(&m, m.mechanism->position, 0.11);
    int stops = 0;
    for (int i = 0; i < wide.count; i++) {
        if (wide.touch[i].kind != CAROM_TOUCH_LIMIT || wide.touch[i].first != 4) continue;
        char name[100];
        m.mechanism->name(m.mechanism->self, &wide.touch[i], name, sizeof name);
        assert_string_equal(name, "LIMIT:swing");
        assert_int_equal(wide.touch[i].second, stops++);
        assert_close(wide.touch[i].gap, 0.04, 1e-15);
    }
    assert_int_equal(stops, 2);
    stop(&m);
}

// What a scene leaves out is not found: geoms, one robot's own contacts, stops.
static void test_detection_is_chosen(void **state) {
    (void)state;
    static const char *const floor[] = {"floor"}, *const wrong[] = {"flor"}, *const pair[] = {"ball:box", "LIMIT:swing"};
    motion all = start(heap, NULL);
    const int touches = detect_at(&all, all.mechanism->position, 0.11).count;
    stop(&all);
    carom_detection detection = carom_detection_defaults();
    detection.only = floor;
    detection.only_count = 1;
    detection.friction = 0.25;
    motion m = start(heap, &(carom_model_motion){.detection = &detection});
    carom_touches found = detect_at(&m, m.mechanism->position, 0.11);
    assert_in_range(found.count, 4, touches - 3);
    for (int i = 0; i < found.count; i++) {
        assert_int_equal(found.touch[i].kind, CAROM_TOUCH_CONTACT);
        assert_int_equal(found.touch[i].first, 0);
        assert_close(found.touch[i].friction, 0.25, 0);
    }
    stop(&m);
    detection = carom_detection_defaults();
    detection.exclude = pair;
    detection.exclude_count = 2;
    m = start(heap, &(carom_model_motion){.detection = &detection});
    found = detect_at(&m, m.mechanism->position, 0.11);
    assert_int_equal(found.count, touches - 3);
    stop(&m);
    detection.exclude = wrong;
    detection.exclude_count = 1;
    fixture f = load_text(heap);
    carom_error error;
    carom_mechanism *refused;
    assert_refused(carom_model_create_mechanism(f.model, &(carom_model_motion){.detection = &detection}, &refused, &error), CAROM_BAD_INPUT,
                   error, "exclude: 'flor' is no body, geom or contact of the model; near names: 'floor'");
    assert_null(refused);
    free_fixture(&f);
}

// In a planar scene a box touches at two points; nothing moves across the plane.
static void test_planar_points_are_one(void **state) {
    (void)state;
    motion m = start("<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body pos='0 0 0.5'>"
                     "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/>"
                     "<geom name='block' type='box' size='0.3 0.2 0.5'/></body></worldbody></mujoco>",
                     NULL);
    const carom_touches found = detect_at(&m, m.mechanism->position, 0.01);
    assert_int_equal(found.count, 2);
    for (int i = 0; i < 2; i++) {
        const double *second = found.tangent + (2 * i + 1) * m.nv;
        for (int j = 0; j < m.nv; j++) assert_true(second[j] == 0);
        assert_int_equal(found.touch[i].ordinal, i);
    }
    stop(&m);
}

// Contacts that are listed stand in place of those of the geoms.
static void test_listed_contacts(void **state) {
    (void)state;
    carom_error error;
    carom_model *model;
    assert_ok(carom_model_load("scenes/block.xml", &model, &error), error);
    carom_model_contact contacts[] = {site_contact("A", "left_corner"), site_contact("B", "right_corner")};
    contacts[0].offset = -1.25;
    contacts[1].offset = (double)NAN;
    contacts[1].restitution = 0.5;
    carom_mechanism *mechanism;
    assert_ok(carom_model_create_mechanism(model, &(carom_model_motion){.contacts = contacts, .contact_count = 2}, &mechanism, &error),
              error);
    void *work;
    assert_ok(mechanism->open(mechanism->self, &work, &error), error);
    carom_touches found;
    assert_ok(mechanism->detect(work, mechanism->position, 1, &found, &error), error);
    assert_int_equal(found.count, 2);
    assert_close(found.touch[0].gap, 0.25, 1e-15);
    assert_close(found.touch[1].gap, 0, 1e-15);
    assert_close(found.touch[1].restitution, 0.5, 0);
    assert_close(found.touch[1].friction, 0.5, 0);
    char name[20];
    mechanism->name(mechanism->self, &found.touch[1], name, sizeof name);
    assert_string_equal(name, "B");
    const double normal[] = {0, 1, 0.5};
    assert_all_close(found.normal + 3, normal, 3, 1e-15);
    assert_ok(mechanism->detect(work, mechanism->position, 0.2, &found, &error), error);
    assert_int_equal(found.count, 1);
    mechanism->close(work);
    carom_model_free_mechanism(mechanism);
    // The corner of a box that touches changes as it turns.
    contacts[0].place[0] = (carom_place){.kind = CAROM_PLACE_GEOM, .name = "block"};
    assert_refused(carom_model_create_mechanism(model, &(carom_model_motion){.contacts = contacts, .contact_count = 1}, &mechanism, &error),
                   CAROM_BAD_INPUT, error, "contact 'A': geom 'block' is no sphere, capsule or ellipsoid");
    carom_model_free(model);
}

// Workspaces of several threads find the same, at once.
static void test_threads_share_a_mechanism(void **state) {
    (void)state;
    motion m = start("scenes/humanoid.xml", NULL);
    enum { STATES = 40 };
    double *positions = take(&m, STATES * m.nq), *velocity = take(&m, m.nv), *sums = take(&m, 2 * STATES);
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    for (int i = 0; i < STATES; i++) choose_state(&m, &stream, 0.1, positions + i * m.nq, velocity);
    int failures = 0;
    for (int pass = 0; pass < 2; pass++) {
#pragma omp parallel num_threads(pass ? 4 : 1) reduction(+ : failures)
        {
            void *work = NULL;
            failures += m.mechanism->open(m.mechanism->self, &work, NULL) != CAROM_OK;
#pragma omp for
            for (int i = 0; i < STATES; i++) {
                carom_touches found;
                failures += m.mechanism->detect(work, positions + i * m.nq, 0.3, &found, NULL) != CAROM_OK;
                double sum = found.count;
                for (int k = 0; k < found.count * m.nv; k++) sum += found.normal[k] * (1 + k % 7);
                sums[pass * STATES + i] = sum;
            }
            m.mechanism->close(work);
        }
    }
    assert_int_equal(failures, 0);
    assert_memory_equal(sums, sums + STATES, STATES * sizeof *sums);
    stop(&m);
}

// --------------------------------------------------------------------------------------------------------------- start

// Names and kinds of coordinates, and the mass of what moves.
static void test_start_is_described(void **state) {
    (void)state;
    motion m = start(heap, NULL);
    assert_string_equal(m.mechanism->velocity_names[5], "box.wz");
    assert_string_equal(m.mechanism->position_names[2], "box.z");
    assert_string_equal(m.mechanism->position_names[3], "box.qw");
    assert_string_equal(m.mechanism->position_names[28], "swing");
    assert_string_equal(m.mechanism->position_names[29], "socket.qw");
    assert_string_equal(m.mechanism->position_names[32], "socket.qz");
    assert_true(!m.mechanism->turns[2] && m.mechanism->turns[3] && m.mechanism->turns[24]);
    stop(&m);
    m = start("scenes/box-stack.xml", NULL);
    assert_close(m.mechanism->mass, 10, 1e-15);
    assert_int_equal(detect_at(&m, m.mechanism->position, 1e-3).count, 40);
    stop(&m);
}

// What would act and is not covered is refused by name, and so are controls that no actuator takes.
static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } models[] = {
        {LINKS("", "<actuator><adhesion name='pad' body='hand' ctrlrange='0 1'/></actuator>"), "actuator 'pad' has adhesion"},
        {LINKS("", "<actuator><general name='mine' joint='elbow' biastype='user'/></actuator>"),
         "actuator 'mine' has a force that the user's code gives"},
        {LINKS("", "<tendon><fixed name='belt' frictionloss='1'><joint joint='elbow' coef='1'/></fixed></tendon>"),
         "tendon 'belt' has frictionloss: motions cover that of joints only"},
    };
    carom_error error;
    carom_mechanism *mechanism;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        fixture f = load_text(models[i].text);
        assert_refused(carom_model_create_mechanism(f.model, NULL, &mechanism, &error), CAROM_UNSUPPORTED, error, models[i].message);
        free_fixture(&f);
    }
    fixture f = load_text(LINKS("", "<actuator><motor name='pull' joint='elbow' ctrllimited='true' ctrlrange='-1 2'/></actuator>"));
    static const double good[] = {0, 1}, falling[] = {1, 1}, values[] = {0.5, 2.5}, infinite[] = {0, INFINITY};
    const struct {
        carom_model_control control;
        const char *message;
    } controls[] = {
        {{2, good, values}, "control: 'pull' gets 2.5, outside its range from -1 to 2"},
        {{2, falling, good}, "control: the times of its rows do not increase: row 2 has 1 s"},
        {{2, good, infinite}, "control: 'pull' gets a number that is not finite"},
    };
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        assert_refused(carom_model_create_mechanism(f.model, &(carom_model_motion){.control = controls[i].control}, &mechanism, &error),
                       CAROM_BAD_INPUT, error, controls[i].message);
    // Without any, each is 0, which is said.
    assert_ok(carom_model_create_mechanism(f.model, NULL, &mechanism, &error), error);
    assert_true(warns(f.model, "the actuators get no control: each of the 1 controls is 0"));
    carom_model_free_mechanism(mechanism);
    free_fixture(&f);
    // Those of the keyframe at the start act without a warning.
    fixture pulled =
        load_text(LINKS("", "<actuator><motor name='pull' joint='elbow'/></actuator><keyframe><key name='k' ctrl='2'/></keyframe>"));
    assert_ok(carom_model_set_keyframe(pulled.model, "k", &error), error);
    assert_ok(carom_model_create_mechanism(pulled.model, NULL, &mechanism, &error), error);
    assert_false(warns(pulled.model, "the actuators get no control"));
    double mass[9], force[3], actuation[3], resistance[3], damping[9], stiffness[9], dry[3];
    carom_mechanism_terms terms = {.mass = mass,
                                   .force = force,
                                   .actuation = actuation,
                                   .resistance = resistance,
                                   .damping = damping,
                                   .stiffness = stiffness,
                                   .dry_friction = dry};
    void *work;
    assert_ok(mechanism->open(mechanism->self, &work, &error), error);
    mechanism->evaluate(work, 0, mechanism->position, mechanism->velocity, &terms);
    assert_close(actuation[1], 2, 0);
    mechanism->close(work);
    carom_model_free_mechanism(mechanism);
    free_fixture(&pulled);
    // Controls of a keyframe.
    carom_model *model;
    const double *key;
    assert_ok(carom_model_load("scenes/humanoid.xml", &model, &error), error);
    assert_int_equal(carom_model_controls(model), 20);
    assert_ok(carom_model_key_controls(model, "stand", &key, &error), error);
    assert_close(key[11], -0.4, 0);
    assert_refused(carom_model_key_controls(model, "stant", &key, &error), CAROM_BAD_INPUT, error, "did you mean 'stand'?");
    carom_model_free(model);
}

// A state that is not finite is an error, not a crash.
static void test_bad_states(void **state) {
    (void)state;
    motion m = start("scenes/hopper.xml", NULL);
    double *position = take(&m, m.nq);
    mju_copy(position, m.mechanism->position, m.nq);
    position[1] = 0.58;
    assert_true(detect_at(&m, position, 0.1).count > 0);
    position[5] = (double)NAN;
    carom_touches touches;
    carom_error error;
    assert_refused(m.mechanism->detect(m.work, position, 0.1, &touches, &error), CAROM_BAD_INPUT, error, "the position is not finite");
    assert_int_equal(touches.count, 0);
    stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_is_that_of_mujoco),
        cmocka_unit_test(test_damping_and_stiffness_are_derivatives),
        cmocka_unit_test(test_controls_over_time),
        cmocka_unit_test(test_jacobians_are_derivatives),
        cmocka_unit_test(test_detection_has_no_memory),
        cmocka_unit_test(test_height_fields_stay_in_their_place),
        cmocka_unit_test(test_friction_and_names),
        cmocka_unit_test(test_detection_is_chosen),
        cmocka_unit_test(test_planar_points_are_one),
        cmocka_unit_test(test_listed_contacts),
        cmocka_unit_test(test_threads_share_a_mechanism),
        cmocka_unit_test(test_start_is_described),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
