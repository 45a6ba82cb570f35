// SPDX-License-Identifier: Apache-2.0
// Motion through propagative impacts: bouncing, accumulation, rest and release, cradles on springs, a wedge, and where orders part.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "dynamics/propagative_motion.h"
#include "support.h"

enum { MOST_TIMES = 256 };

typedef struct record {
    double times[MOST_TIMES];
    int count, plastic;
    double first_plastic, worst_ratio;
} record;

static carom_status note(void *user, const carom_motion_event *event, carom_error *error) {
    (void)error;
    record *r = user;
    if (r->count < MOST_TIMES) r->times[r->count] = event->time;
    r->count++;
    if (event->plastic && !r->plastic++) r->first_plastic = event->time;
    if (!event->plastic) r->worst_ratio = fmax(r->worst_ratio, fabs(event->energy_ratio - 1));
    return CAROM_OK;
}

static carom_motion *make_motion(const carom_motion_system *system, const carom_motion_options *options, const double *q, const double *v) {
    carom_motion *motion;
    carom_error error;
    assert_ok(carom_motion_create(system, options, q, v, &motion, &error), error);
    return motion;
}

// Steps to the end; returns the largest relative drift of the energy.
static double run(carom_motion *motion, double step, int steps, record *r) {
    carom_error error;
    const double energy = carom_motion_energy(motion);
    double drift = 0;
    for (int k = 0; k < steps; k++) {
        assert_ok(carom_motion_step(motion, step, note, r, &error), error);
        drift = fmax(drift, fabs(carom_motion_energy(motion) / energy - 1));
    }
    return drift;
}

// ---------------------------------------------------------------------------------------------------------------- ball

static const double GRAVITY = 9.81;

static double weight(void *user, const double *q, double *gradient) {
    const double mass = *(const double *)user;
    gradient[0] = mass * GRAVITY;
    return mass * GRAVITY * q[0];
}

static double height(void *user, int contact, const double *q, double *gradient) {
    (void)user;
    (void)contact;
    gradient[0] = 1;
    return q[0];
}

static const double ball_mass = 2, drop[] = {1}, still[] = {0};
static const carom_motion_system ball = {
    .coordinates = 1, .contacts = 1, .mass = &ball_mass, .user = (void *)&ball_mass, .potential = weight, .gap = height};

static void a_ball_bounces_for_ever(void **state) {
    (void)state;
    const carom_motion_options options = carom_motion_defaults();
    carom_motion *motion = make_motion(&ball, &options, drop, still);
    record r = {0};
    assert_true(run(motion, 0.01, 5000, &r) <= 1e-13);
    assert_int_equal(r.count, 55);
    for (int k = 0; k < r.count; k++) assert_true(fabs(r.times[k] - (2 * k + 1) * sqrt(2 / GRAVITY)) <= 1e-11);
    assert_true(r.worst_ratio <= 3e-15);
    carom_motion_free(motion);
}

// Energy is kept over a thousand impacts, which is more than the exact solution of one step can say.
static void energy_stays_over_a_thousand_impacts(void **state) {
    (void)state;
    const carom_motion_options options = carom_motion_defaults();
    carom_motion *motion = make_motion(&ball, &options, drop, still);
    record r = {0};
    assert_true(run(motion, 0.05, 18080, &r) <= 1e-12);
    assert_true(r.count >= 1000);
    carom_motion_free(motion);
}

// Impacts accumulate at sqrt(2 h/g) (1+R)/(1-R): there the ball is closed plastically and stays.
static void impacts_accumulate(void **state) {
    (void)state;
    static const struct {
        double restitution, step, switched;
        int impacts;
    } known[] = {{0.8, 0.01, 4.05498, 28}, {0.5, 0.01, 1.353689, 0}, {0.9, 0.01, 8.548414, 0}};
    for (int i = 0; i < 3; i++) {
        carom_motion_options options = carom_motion_defaults();
        options.restitution = known[i].restitution;
        carom_motion *motion = make_motion(&ball, &options, drop, still);
        record r = {0};
        run(motion, known[i].step, 1000, &r);
        const double R = known[i].restitution, exact = sqrt(2 / GRAVITY) * (1 + R) / (1 - R);
        assert_int_equal(r.plastic, 1);
        assert_true(r.first_plastic < exact);
        assert_true(fabs(r.first_plastic - known[i].switched) <= 1e-5);
        if (known[i].impacts) assert_int_equal(r.count, known[i].impacts);
        assert_true(carom_motion_is_held(motion, 0));
        assert_true(fabs(*carom_motion_position(motion)) <= 1e-12);
        assert_close(*carom_motion_momentum(motion), 0, 1e-15);
        carom_motion_free(motion);
    }
    // The switch comes closer to the accumulation with the step.
    static const double steps[] = {0.02, 0.01, 0.005, 0.0025}, early[] = {0.0267, 0.0087, 0.0087, 0.0023};
    for (int i = 0; i < 4; i++) {
        carom_motion_options options = carom_motion_defaults();
        options.restitution = 0.8;
        carom_motion *motion = make_motion(&ball, &options, drop, still);
        record r = {0};
        run(motion, steps[i], (int)(4.2 / steps[i]), &r);
        assert_true(fabs(sqrt(2 / GRAVITY) * 9 - r.first_plastic - early[i]) <= 1e-4);
        carom_motion_free(motion);
    }
}

// --------------------------------------------------------------------------------------------------------------- sliding

static double turning_weight(void *user, const double *q, double *gradient) {
    (void)user;
    gradient[0] = -GRAVITY * q[1];
    gradient[1] = GRAVITY * (1 - q[0]);
    return GRAVITY * q[1] * (1 - q[0]);
}

static double second_coordinate(void *user, int contact, const double *q, double *gradient) {
    (void)user;
    (void)contact;
    gradient[0] = 0;
    gradient[1] = 1;
    return q[1];
}

// The force on the floor vanishes at x = 1: the contact lets go there, in the step that passes it.
static void held_contacts_are_released(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 1}, q[] = {0, 0.001}, v[] = {1, 0};
    const carom_motion_system system = {
        .coordinates = 2, .contacts = 1, .mass = mass, .potential = turning_weight, .gap = second_coordinate};
    static const double steps[] = {0.01, 0.001};
    for (int i = 0; i < 2; i++) {
        carom_motion_options options = carom_motion_defaults();
        options.restitution = 0;
        carom_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        double released = 0;
        bool was_held = false;
        while (carom_motion_time(motion) < 1.2) {
            run(motion, steps[i], 1, &r);
            if (was_held && !carom_motion_is_held(motion, 0) && released == 0) released = carom_motion_time(motion);
            was_held = was_held || carom_motion_is_held(motion, 0);
            if (carom_motion_is_held(motion, 0)) assert_true(fabs(carom_motion_position(motion)[1]) <= 1e-12);
        }
        assert_true(fabs(released - (1 + steps[i])) <= 1e-9);
        assert_true(carom_motion_position(motion)[1] > 0);
        carom_motion_free(motion);
    }
}

// --------------------------------------------------------------------------------------------------------------- cradles

// Three balls of diameter 1 on springs of stiffness 4 about -1, 0, 1.
static double springs(void *user, const double *q, double *gradient) {
    (void)user;
    double energy = 0;
    for (int i = 0; i < 3; i++) {
        gradient[i] = 4 * (q[i] - (i - 1));
        energy += 0.5 * gradient[i] * (q[i] - (i - 1));
    }
    return energy;
}

static double between_balls(void *user, int contact, const double *q, double *gradient) {
    (void)user;
    memset(gradient, 0, 3 * sizeof *gradient);
    gradient[contact] = -1;
    gradient[contact + 1] = 1;
    return q[contact + 1] - q[contact] - 1;
}

static carom_motion_system cradle(const double *mass) {
    return (carom_motion_system){.coordinates = 3, .contacts = 2, .mass = mass, .potential = springs, .gap = between_balls};
}

static void cradles_swing_without_loss(void **state) {
    (void)state;
    static const double masses[][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 2, 0, 0, 0, 1}, {2, 0, 0, 0, 1, 0, 0, 0, 3}};
    static const double q[] = {-1.7, 0, 1}, v[] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        const carom_motion_system system = cradle(masses[i]);
        const carom_motion_options options = carom_motion_defaults();
        carom_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        assert_true(run(motion, 0.01, 1000, &r) <= 1e-13);
        assert_true(r.count > 5);
        carom_motion_free(motion);
    }
    // The first impact of equal balls is at pi/4: second order in the step.
    static const double steps[] = {0.05, 0.005}, found[] = {0.786037816, 0.785404705};
    for (int i = 0; i < 2; i++) {
        const carom_motion_system system = cradle(masses[0]);
        const carom_motion_options options = carom_motion_defaults();
        carom_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        run(motion, steps[i], (int)(0.9 / steps[i]), &r);
        assert_true(fabs(r.times[0] - found[i]) <= 1e-9);
        carom_motion_free(motion);
    }
}

// |p - p'|/|p|, in the metric of the masses, of two copies that take the two extreme orders, from a start where all three balls meet at
// once.
static double part(const double *mass, double duration) {
    const carom_motion_system system = cradle(mass);
    carom_motion_options options = carom_motion_defaults();
    static const double q[] = {-1.5, 0, 2}, v[] = {0, 0, 0};
    carom_motion *first = make_motion(&system, &options, q, v);
    options.order = CAROM_ORDER_ARGMAX;
    carom_motion *second = make_motion(&system, &options, q, v);
    record r = {0};
    double largest = 0;
    for (int k = 0; k < (int)(duration / 0.01); k++) {
        run(first, 0.01, 1, &r);
        run(second, 0.01, 1, &r);
        double square = 0, total = 0;
        for (int i = 0; i < 3; i++) {
            const double a = carom_motion_momentum(first)[i], b = carom_motion_momentum(second)[i];
            square += (a - b) * (a - b) / mass[4 * i];
            total += a * a / mass[4 * i];
        }
        if (total > 0.01) largest = fmax(largest, sqrt(square / total));
    }
    carom_motion_free(first);
    carom_motion_free(second);
    return largest;
}

static void orders_part_unless_the_design_forbids_it(void **state) {
    (void)state;
    // The outer balls swing alike, with different amplitudes, and arrive together. Wedge angles acos(1/4), and pi/3.
    static const double unequal[] = {1, 0, 0, 0, 3, 0, 0, 0, 1}, equal[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_true(part(unequal, 1.5) > 0.5);
    assert_true(part(equal, 1.5) <= 1e-9);
}

// ---------------------------------------------------------------------------------------------------------------- wedge

static double point_weight(void *user, const double *q, double *gradient) {
    (void)user;
    gradient[0] = 0;
    gradient[1] = GRAVITY;
    return GRAVITY * q[1];
}

// Half angle 50 degrees: normals (+-sin 40, cos 40).
static double wedge_walls(void *user, int contact, const double *q, double *gradient) {
    (void)user;
    const double angle = 40 * acos(-1.0) / 180;
    gradient[0] = contact ? -sin(angle) : sin(angle);
    gradient[1] = cos(angle);
    return gradient[0] * q[0] + gradient[1] * q[1];
}

static void a_wedge_keeps_the_energy(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 1}, q[] = {0.1, 1}, v[] = {0.2, 0};
    const carom_motion_system system = {.coordinates = 2, .contacts = 2, .mass = mass, .potential = point_weight, .gap = wedge_walls};
    const carom_motion_options options = carom_motion_defaults();
    carom_motion *motion = make_motion(&system, &options, q, v);
    record r = {0};
    assert_true(run(motion, 0.01, 3000, &r) <= 1e-12);
    assert_true(r.count > 30);
    for (int c = 0; c < 2; c++) {
        double gradient[2];
        assert_true(wedge_walls(NULL, c, carom_motion_position(motion), gradient) >= -1e-10);
    }
    carom_motion_free(motion);
}

// Dropped on the axis, both walls are hit at once, and the order decides the side.
static void the_order_decides_the_side(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 1}, q[] = {0, 1}, v[] = {0, 0};
    const carom_motion_system system = {.coordinates = 2, .contacts = 2, .mass = mass, .potential = point_weight, .gap = wedge_walls};
    bool sides[2] = {false, false};
    for (uint64_t seed = 0; seed < 16; seed++) {
        carom_motion_options options = carom_motion_defaults();
        options.order = CAROM_ORDER_RANDOM;
        options.seed = seed;
        carom_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        run(motion, 0.01, 60, &r);
        assert_true(r.count >= 1);
        assert_true(fabs(carom_motion_momentum(motion)[0]) > 0.1);
        sides[carom_motion_momentum(motion)[0] > 0] = true;
        carom_motion_free(motion);
    }
    assert_true(sides[0] && sides[1]);
}

// -------------------------------------------------------------------------------------------------------------- refusals

static double stiff(void *user, const double *q, double *gradient) {
    (void)user;
    gradient[0] = 1e6 * q[0];
    return 5e5 * q[0] * q[0];
}

static void bad_motions_are_refused(void **state) {
    (void)state;
    carom_motion *motion;
    carom_error error;
    carom_motion_options options = carom_motion_defaults();
    static const double below[] = {-0.1};
    const double infinite[] = {INFINITY};
    assert_refused(carom_motion_create(&ball, &options, below, still, &motion, &error), CAROM_BAD_INPUT, error, "penetrates");
    assert_refused(carom_motion_create(&ball, &options, infinite, still, &motion, &error), CAROM_BAD_INPUT, error, "finite");
    options.restitution = 1.5;
    assert_refused(carom_motion_create(&ball, &options, drop, still, &motion, &error), CAROM_BAD_INPUT, error, "restitution");
    options = carom_motion_defaults();
    options.order = CAROM_ORDER_GIVEN;
    assert_refused(carom_motion_create(&ball, &options, drop, still, &motion, &error), CAROM_BAD_INPUT, error, "order");
    options = carom_motion_defaults();
    // A step that the iteration cannot solve leaves the state alone.
    carom_motion_system spring = ball;
    spring.potential = stiff;
    motion = make_motion(&spring, &options, drop, still);
    assert_refused(carom_motion_step(motion, 1, NULL, NULL, &error), CAROM_INTERNAL, error, "does not converge");
    assert_close(*carom_motion_position(motion), 1, 0);
    assert_close(carom_motion_time(motion), 0, 0);
    assert_refused(carom_motion_step(motion, -1, NULL, NULL, &error), CAROM_BAD_INPUT, error, "step");
    carom_motion_free(motion);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_bounces_for_ever),    cmocka_unit_test(energy_stays_over_a_thousand_impacts),
        cmocka_unit_test(impacts_accumulate),         cmocka_unit_test(held_contacts_are_released),
        cmocka_unit_test(cradles_swing_without_loss), cmocka_unit_test(orders_part_unless_the_design_forbids_it),
        cmocka_unit_test(a_wedge_keeps_the_energy),   cmocka_unit_test(the_order_decides_the_side),
        cmocka_unit_test(bad_motions_are_refused),
    };
    return cmocka_run_group_tests_name("propagative motion", tests, NULL, NULL);
}
