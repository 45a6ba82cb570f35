// SPDX-License-Identifier: Apache-2.0
// Motion through propagative impacts: bouncing, accumulation, rest and release, cradles on springs, a wedge, and where orders part.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "dynamics/propagative/motion.h"
#include "support.h"

enum { MOST_TIMES = 256 };

// --------------------------------------------------------------------------------------------------------------- systems

// A system with constant mass matrix in a potential, by functions.
typedef struct toy {
    int coordinates, contacts;
    const double *mass;
    double (*potential)(const double *q, double *gradient);
    double (*gap)(int contact, const double *q, double *gradient);
    carom_system system;  // filled by make_motion
} toy;

static carom_status open_toy(const void *self, void **workspace, carom_error *error) {
    (void)error;
    *workspace = (void *)self;
    return CAROM_OK;
}

static void close_toy(void *workspace) { (void)workspace; }

static void evaluate_toy(void *workspace, const double *q, const double *v, carom_system_terms *terms) {
    (void)v;
    const toy *t = workspace;
    const size_t n = (size_t)t->coordinates;
    memcpy(terms->mass, t->mass, n * n * sizeof *terms->mass);
    terms->potential = t->potential(q, terms->bias);
    for (int c = 0; c < t->contacts; c++) terms->gap[c] = t->gap(c, q, terms->normal + (size_t)c * n);
}

static carom_system system_of(const toy *t) {
    static const double smooth[8] = {0};
    return (carom_system){.self = t,
                          .friction = smooth,
                          .nv = t->coordinates,
                          .contacts = t->contacts,
                          .tangent_dim = 1,
                          .constant_mass = true,
                          .open = open_toy,
                          .close = close_toy,
                          .evaluate = evaluate_toy};
}

static propagative_rules elastic(void) {
    return (propagative_rules){.contact_tolerance = 1e-10, .restitution = 1, .zeno_limit = 2, .max_impacts = 1000};
}

// --------------------------------------------------------------------------------------------------------------- running

typedef struct record {
    double times[MOST_TIMES];
    int count, plastic, multiple;
    double first_plastic, worst_ratio;
} record;

static carom_status note(void *user, const propagative_event *event, carom_error *error) {
    (void)error;
    record *r = user;
    if (r->count < MOST_TIMES) r->times[r->count] = event->time;
    r->count++;
    r->multiple += event->uniqueness == CAROM_UNIQUE_NOT;
    if (event->kind >= PROPAGATIVE_PLASTIC && !r->plastic++) r->first_plastic = event->time;
    if (event->kind == PROPAGATIVE_ELASTIC) r->worst_ratio = fmax(r->worst_ratio, fabs(event->energy_ratio - 1));
    return CAROM_OK;
}

static propagative_motion *make_motion(toy *t, const propagative_rules *rules, const double *q, const double *v) {
    propagative_motion *motion;
    carom_error error;
    t->system = system_of(t);
    assert_ok(propagative_motion_create(&t->system, rules, q, v, &motion, &error), error);
    return motion;
}

static double energy_of(propagative_motion *motion) {
    double potential;
    const double kinetic = propagative_motion_energy(motion, &potential);
    return kinetic + potential;
}

// Steps to the end; returns the largest relative drift of the energy.
static double run(propagative_motion *motion, double step, int steps, record *r) {
    carom_error error;
    carom_verdict verdict;
    const double energy = energy_of(motion), start = motion->time;
    double drift = 0;
    for (int k = 1; k <= steps; k++) {
        assert_ok(propagative_motion_step(motion, start + k * step, NULL, note, r, &verdict, &error), error);
        assert_int_equal(verdict, CAROM_COMPLETE);
        drift = fmax(drift, fabs((energy_of(motion) + motion->loss) / energy - 1));
    }
    return drift;
}

// ---------------------------------------------------------------------------------------------------------------- ball

static const double GRAVITY = 9.81;
static const double ball_mass = 2, drop[] = {1}, still[] = {0};

static double weight(const double *q, double *gradient) {
    gradient[0] = ball_mass * GRAVITY;
    return gradient[0] * q[0];
}

static double height(int contact, const double *q, double *gradient) {
    (void)contact;
    gradient[0] = 1;
    return q[0];
}

static toy ball = {.coordinates = 1, .contacts = 1, .mass = &ball_mass, .potential = weight, .gap = height};

static void a_ball_bounces_for_ever(void **state) {
    (void)state;
    const propagative_rules options = elastic();
    propagative_motion *motion = make_motion(&ball, &options, drop, still);
    record r = {0};
    assert_true(run(motion, 0.01, 5000, &r) <= 1e-13);
    assert_int_equal(r.count, 55);
    for (int k = 0; k < r.count; k++) assert_true(fabs(r.times[k] - (2 * k + 1) * sqrt(2 / GRAVITY)) <= 1e-11);
    assert_true(r.worst_ratio <= 3e-15);
    propagative_motion_free(motion);
}

// Energy is kept over a thousand impacts, which is more than the exact solution of one step can say.
static void energy_stays_over_a_thousand_impacts(void **state) {
    (void)state;
    const propagative_rules options = elastic();
    propagative_motion *motion = make_motion(&ball, &options, drop, still);
    record r = {0};
    assert_true(run(motion, 0.05, 18080, &r) <= 1e-12);
    assert_true(r.count >= 1000);
    propagative_motion_free(motion);
}

// Impacts accumulate at sqrt(2 h/g) (1+R)/(1-R): there the ball is closed plastically and stays.
static void impacts_accumulate(void **state) {
    (void)state;
    static const struct {
        double restitution, step, switched;
        int impacts;
    } known[] = {{0.8, 0.01, 4.05498, 28}, {0.5, 0.01, 1.353689, 0}, {0.9, 0.01, 8.548414, 0}};
    for (int i = 0; i < 3; i++) {
        propagative_rules options = elastic();
        options.restitution = known[i].restitution;
        propagative_motion *motion = make_motion(&ball, &options, drop, still);
        record r = {0};
        run(motion, known[i].step, 1000, &r);
        const double R = known[i].restitution, exact = sqrt(2 / GRAVITY) * (1 + R) / (1 - R);
        assert_int_equal(r.plastic, 1);
        assert_true(r.first_plastic < exact);
        assert_true(fabs(r.first_plastic - known[i].switched) <= 1e-5);
        if (known[i].impacts) assert_int_equal(r.count, known[i].impacts);
        assert_true(motion->held[0]);
        assert_true(fabs(*motion->q) <= 1e-12);
        assert_close(*motion->p, 0, 1e-15);
        propagative_motion_free(motion);
    }
    // The switch comes closer to the accumulation with the step.
    static const double steps[] = {0.02, 0.01, 0.005, 0.0025}, early[] = {0.0267, 0.0087, 0.0087, 0.0023};
    for (int i = 0; i < 4; i++) {
        propagative_rules options = elastic();
        options.restitution = 0.8;
        propagative_motion *motion = make_motion(&ball, &options, drop, still);
        record r = {0};
        run(motion, steps[i], (int)(4.2 / steps[i]), &r);
        assert_true(fabs(sqrt(2 / GRAVITY) * 9 - r.first_plastic - early[i]) <= 1e-4);
        propagative_motion_free(motion);
    }
}

// --------------------------------------------------------------------------------------------------------------- sliding

static double turning_weight(const double *q, double *gradient) {
    gradient[0] = -GRAVITY * q[1];
    gradient[1] = GRAVITY * (1 - q[0]);
    return GRAVITY * q[1] * (1 - q[0]);
}

static double second_coordinate(int contact, const double *q, double *gradient) {
    (void)contact;
    gradient[0] = 0;
    gradient[1] = 1;
    return q[1];
}

// The force on the floor vanishes at x = 1: the contact lets go there, in the step that passes it.
static void held_contacts_are_released(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 1}, q[] = {0, 0.001}, v[] = {1, 0};
    toy system = {.coordinates = 2, .contacts = 1, .mass = mass, .potential = turning_weight, .gap = second_coordinate};
    static const double steps[] = {0.01, 0.001};
    for (int i = 0; i < 2; i++) {
        propagative_rules options = elastic();
        options.restitution = 0;
        propagative_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        double released = 0;
        bool was_held = false;
        while (motion->time < 1.2) {
            run(motion, steps[i], 1, &r);
            if (was_held && !motion->held[0] && released == 0) released = motion->time;
            was_held = was_held || motion->held[0];
            if (motion->held[0]) assert_true(fabs(motion->q[1]) <= 1e-12);
        }
        assert_true(fabs(released - (1 + steps[i])) <= 1e-9);
        assert_true(motion->q[1] > 0);
        propagative_motion_free(motion);
    }
}

// --------------------------------------------------------------------------------------------------------------- cradles

// Three balls of diameter 1 on springs of stiffness 4 about -1, 0, 1.
static double springs(const double *q, double *gradient) {
    double energy = 0;
    for (int i = 0; i < 3; i++) {
        gradient[i] = 4 * (q[i] - (i - 1));
        energy += 0.5 * gradient[i] * (q[i] - (i - 1));
    }
    return energy;
}

static double between_balls(int contact, const double *q, double *gradient) {
    memset(gradient, 0, 3 * sizeof *gradient);
    gradient[contact] = -1;
    gradient[contact + 1] = 1;
    return q[contact + 1] - q[contact] - 1;
}

static toy cradle(const double *mass) {
    return (toy){.coordinates = 3, .contacts = 2, .mass = mass, .potential = springs, .gap = between_balls};
}

static void cradles_swing_without_loss(void **state) {
    (void)state;
    static const double masses[][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 2, 0, 0, 0, 1}, {2, 0, 0, 0, 1, 0, 0, 0, 3}};
    static const double q[] = {-1.7, 0, 1}, v[] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        toy system = cradle(masses[i]);
        const propagative_rules options = elastic();
        propagative_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        assert_true(run(motion, 0.01, 1000, &r) <= 1e-13);
        assert_true(r.count > 5);
        propagative_motion_free(motion);
    }
    // The first impact of equal balls is at pi/4: second order in the step.
    static const double steps[] = {0.05, 0.005}, found[] = {0.786037816, 0.785404705};
    for (int i = 0; i < 2; i++) {
        toy system = cradle(masses[0]);
        const propagative_rules options = elastic();
        propagative_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        run(motion, steps[i], (int)(0.9 / steps[i]), &r);
        assert_true(fabs(r.times[0] - found[i]) <= 1e-9);
        propagative_motion_free(motion);
    }
}

// |p - p'|/|p|, in the metric of the masses, of two copies that take the two extreme orders, from a start where all three balls meet at
// once.
static double part(const double *mass, double duration) {
    toy system = cradle(mass);
    propagative_rules options = elastic();
    static const double q[] = {-1.5, 0, 2}, v[] = {0, 0, 0};
    propagative_motion *first = make_motion(&system, &options, q, v);
    options.order = CAROM_ORDER_ARGMAX;
    propagative_motion *second = make_motion(&system, &options, q, v);
    record r = {0};
    double largest = 0;
    for (int k = 0; k < (int)(duration / 0.01); k++) {
        run(first, 0.01, 1, &r);
        run(second, 0.01, 1, &r);
        double square = 0, total = 0;
        for (int i = 0; i < 3; i++) {
            const double a = first->p[i], b = second->p[i];
            square += (a - b) * (a - b) / mass[4 * i];
            total += a * a / mass[4 * i];
        }
        if (total > 0.01) largest = fmax(largest, sqrt(square / total));
    }
    propagative_motion_free(first);
    propagative_motion_free(second);
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

static double point_weight(const double *q, double *gradient) {
    gradient[0] = 0;
    gradient[1] = GRAVITY;
    return GRAVITY * q[1];
}

// Half angle 50 degrees: normals (+-sin 40, cos 40).
static double wedge_walls(int contact, const double *q, double *gradient) {
    const double angle = 40 * acos(-1.0) / 180;
    gradient[0] = contact ? -sin(angle) : sin(angle);
    gradient[1] = cos(angle);
    return gradient[0] * q[0] + gradient[1] * q[1];
}

static void a_wedge_keeps_the_energy(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 1}, q[] = {0.1, 1}, v[] = {0.2, 0};
    toy system = {.coordinates = 2, .contacts = 2, .mass = mass, .potential = point_weight, .gap = wedge_walls};
    const propagative_rules options = elastic();
    propagative_motion *motion = make_motion(&system, &options, q, v);
    record r = {0};
    assert_true(run(motion, 0.01, 3000, &r) <= 1e-12);
    assert_true(r.count > 30);
    for (int c = 0; c < 2; c++) {
        double gradient[2];
        assert_true(wedge_walls(c, motion->q, gradient) >= -1e-10);
    }
    propagative_motion_free(motion);
}

// At rest in the bottom of the wedge, at the origin: both walls hold, whatever the step and the coefficient.
static void a_wedge_holds_a_particle_at_rest(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 1}, q[] = {0.1, 1}, v[] = {0.2, 0}, restitutions[] = {0, 0.3, 0.8},
                        steps[] = {0.02, 0.01, 0.0025};
    toy system = {.coordinates = 2, .contacts = 2, .mass = mass, .potential = point_weight, .gap = wedge_walls};
    for (int i = 0; i < 9; i++) {
        propagative_rules options = elastic();
        options.restitution = restitutions[i % 3];
        propagative_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        run(motion, steps[i / 3], (int)(6 / steps[i / 3]), &r);
        for (int c = 0; c < 2; c++) {
            assert_true(motion->held[c]);
            assert_close(motion->q[c], 0, 1e-12);
            assert_close(motion->p[c], 0, 1e-12);
        }
        propagative_motion_free(motion);
    }
}

// Dropped on the axis, both walls are hit at once, and the order decides the side.
static void the_order_decides_the_side(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 1}, q[] = {0, 1}, v[] = {0, 0};
    toy system = {.coordinates = 2, .contacts = 2, .mass = mass, .potential = point_weight, .gap = wedge_walls};
    bool sides[2] = {false, false};
    for (uint64_t seed = 0; seed < 16; seed++) {
        propagative_rules options = elastic();
        options.order = CAROM_ORDER_RANDOM;
        options.seed = seed;
        propagative_motion *motion = make_motion(&system, &options, q, v);
        record r = {0};
        run(motion, 0.01, 60, &r);
        assert_true(r.count >= 1);
        assert_true(fabs(motion->p[0]) > 0.1);
        sides[motion->p[0] > 0] = true;
        propagative_motion_free(motion);
    }
    assert_true(sides[0] && sides[1]);
}

// -------------------------------------------------------------------------------------------------------------- refusals

static double stiff(const double *q, double *gradient) {
    gradient[0] = 1e6 * q[0];
    return 5e5 * q[0] * q[0];
}

static void bad_motions_are_refused(void **state) {
    (void)state;
    propagative_motion *motion;
    carom_error error;
    carom_verdict verdict;
    propagative_rules options = elastic();
    static const double below[] = {-0.1};
    const double infinite[] = {INFINITY};
    ball.system = system_of(&ball);
    assert_refused(propagative_motion_create(&ball.system, &options, below, still, &motion, &error), CAROM_BAD_INPUT, error, "penetrates");
    assert_refused(propagative_motion_create(&ball.system, &options, infinite, still, &motion, &error), CAROM_BAD_INPUT, error, "finite");
    // A step that the iteration cannot solve leaves the state alone.
    toy spring = ball;
    spring.potential = stiff;
    motion = make_motion(&spring, &options, drop, still);
    assert_ok(propagative_motion_step(motion, 1, NULL, NULL, NULL, &verdict, &error), error);
    assert_int_equal(verdict, CAROM_NO_CONVERGENCE);
    assert_close(*motion->q, 1, 0);
    assert_close(motion->time, 0, 0);
    propagative_motion_free(motion);
    // More impacts in one step than allowed.
    options.max_impacts = 3;
    options.zeno_limit = 100;
    motion = make_motion(&ball, &options, drop, still);
    assert_ok(propagative_motion_step(motion, 10, NULL, NULL, NULL, &verdict, &error), error);
    assert_int_equal(verdict, CAROM_ZENO_LIMIT);
    assert_close(*motion->q, 1, 0);
    propagative_motion_free(motion);

    // A system without an impact is no motion of this integrator.
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_dynamics_register(registry, &error), error);
    ball.system = system_of(&ball);
    const carom_motion lonely = {.form = CAROM_MOTION_SYSTEM, .system = &ball.system};
    const carom_motion_request request = {carom_integrator_find(registry, "propagative"), &lonely, NULL, registry, NULL, NULL, NULL};
    carom_motion_answer answer;
    assert_refused(carom_integrator_run(&request, NULL, &answer, &error), CAROM_BAD_INPUT, error, "impact");
    carom_registry_free(registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_bounces_for_ever),    cmocka_unit_test(energy_stays_over_a_thousand_impacts),
        cmocka_unit_test(impacts_accumulate),         cmocka_unit_test(held_contacts_are_released),
        cmocka_unit_test(cradles_swing_without_loss), cmocka_unit_test(orders_part_unless_the_design_forbids_it),
        cmocka_unit_test(a_wedge_keeps_the_energy),   cmocka_unit_test(a_wedge_holds_a_particle_at_rest),
        cmocka_unit_test(the_order_decides_the_side), cmocka_unit_test(bad_motions_are_refused),
    };
    return cmocka_run_group_tests_name("propagative motion", tests, NULL, NULL);
}
