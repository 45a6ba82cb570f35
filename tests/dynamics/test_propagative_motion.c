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
    return (carom_system){.self = t,
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
}

// ------------------------------------------------------------------------------------------------------------- in scenes

// Runs a scene of the given file, or text, by the integrator of the table.
static carom_status simulate(const char *path, const char *text, const char *set, double duration, carom_motion_answer *answer,
                             carom_error *error) {
    carom_registry *registry;
    carom_scene *scene;
    char *folder = text ? support_make_directory() : NULL, *file = text ? support_write_file(folder, "scene.yaml", text) : NULL;
    assert_ok(carom_registry_create(&registry, error), *error);
    assert_ok(carom_dynamics_register(registry, error), *error);
    const carom_integrator *one = carom_integrator_find(registry, "propagative");
    carom_status status = carom_scene_read_motion(text ? file : path, registry, &scene, error);
    *answer = (carom_motion_answer){0};
    if (!status) {
        void *options = calloc(1, one->options_size);
        assert_non_null(options);
        one->defaults(options);
        assert_ok(carom_scene_apply_simulate(scene, one->options, one->option_count, options, error), *error);
        char number[32];
        snprintf(number, sizeof number, "%.17g", duration);
        assert_ok(carom_option_set(&one->options[carom_option_find(one->options, one->option_count, "duration")], options, number, error),
                  *error);
        if (set)
            assert_ok(carom_option_set(&one->options[carom_option_find(one->options, one->option_count, "step")], options, set, error),
                      *error);
        status = carom_integrator_run(&(carom_motion_request){one, carom_scene_motion(scene), options, registry, NULL, NULL}, NULL, answer,
                                      error);
        free(options);
        carom_scene_free(scene);
    }
    carom_registry_free(registry);
    free(file);
    if (folder) support_remove_directory(folder);
    return status;
}

static const double *column(const carom_table *table, const char *name) {
    const int index = carom_table_find(table, name);
    assert_true(index >= 0);
    return carom_table_real_column(table, index);
}

#define BALLS(content) "balls: {masses: [1, 1], radius: 0.5, " content "}\nsimulate: {integrator: propagative, step: 0.1}\n"

// Half a step would carry one ball through the other.
static void fast_balls_do_not_pass_through_each_other(void **state) {
    (void)state;
    carom_motion_answer answer;
    carom_error error;
    assert_ok(simulate(NULL, BALLS("positions: [[-2.5, 0.1], [0, 0]], velocities: [[60, 0], [0, 0]]"), NULL, 0.1, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    // Centres are one diameter apart, 0.1 aside.
    assert_close(column(answer.impacts, "time")[0], (2.5 - sqrt(0.99)) / 60, 1e-15);
    const double *v = column(answer.final, "qvel");
    assert_close(v[2], 60 * 0.99, 1e-12);
    assert_close(v[3], -60 * 0.1 * sqrt(0.99), 1e-12);
    assert_close(v[0] + v[2], 60, 1e-13);
    carom_motion_answer_free(&answer);
    assert_ok(simulate(NULL, BALLS("positions: [0, -2.5], velocities: [0, 60]"), NULL, 0.1, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    assert_close(column(answer.impacts, "time")[0], 1.5 / 60, 1e-15);
    carom_motion_answer_free(&answer);
}

// A mechanism whose mass matrix changes: energy and impact times are of second order. Its first impact is the one of the scene.
static void mechanisms_are_of_second_order(void **state) {
    (void)state;
    static const char *const steps[] = {"0.001", "0.0005", "0.00025"};
    double drift[3], times[3];
    for (int i = 0; i < 3; i++) {
        carom_motion_answer answer;
        carom_error error;
        assert_ok(simulate("scenes/tailed-biped.yaml", NULL, steps[i], 0.08, &answer, &error), error);
        assert_int_equal(carom_table_rows(answer.impacts), 2);
        assert_close(column(answer.impacts, "time")[0], 0, 0);
        assert_true(fabs(column(answer.impacts, "xi")[0] - 2.25200709e-4) <= 1e-11);
        assert_true(fabs(column(answer.impacts, "energy_ratio")[0] - 1) <= 1e-14);
        drift[i] = carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0];
        times[i] = column(answer.impacts, "time")[1];
        carom_motion_answer_free(&answer);
    }
    assert_true(drift[2] <= 2e-5);
    for (int i = 0; i < 2; i++) assert_true(drift[i] / drift[i + 1] > 3.6 && drift[i] / drift[i + 1] < 4.4);
    const double ratio = (times[0] - times[1]) / (times[1] - times[2]);
    assert_true(ratio > 3.6 && ratio < 4.4);
}

static void scenes_move(void **state) {
    (void)state;
    carom_motion_answer answer;
    carom_error error;
    assert_ok(simulate("scenes/swinging-cradle.yaml", NULL, NULL, 10, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 6);
    assert_true(fabs(column(answer.impacts, "time")[0] - 0.785404705) <= 1e-9);
    assert_true(carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0] <= 2e-14);
    carom_motion_answer_free(&answer);
    assert_ok(simulate("scenes/bouncing-wedge.yaml", NULL, NULL, 30, &answer, &error), error);
    assert_true(carom_table_rows(answer.impacts) > 50);
    assert_true(carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0] <= 2e-14);
    carom_motion_answer_free(&answer);
    assert_ok(simulate("scenes/rack.yaml", NULL, NULL, 2, &answer, &error), error);
    assert_true(carom_table_integer_column(answer.result, carom_table_find(answer.result, "multiple_count"))[0] >= 1);
    assert_true(carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0] <= 1e-14);
    carom_motion_answer_free(&answer);
}

static void bad_scenes_in_time_are_refused(void **state) {
    (void)state;
    carom_motion_answer answer;
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_dynamics_register(registry, &error), error);
    ball.system = system_of(&ball);
    const carom_motion lonely = {.form = CAROM_MOTION_SYSTEM, .system = &ball.system};
    const carom_motion_request request = {carom_integrator_find(registry, "propagative"), &lonely, NULL, registry, NULL, NULL};
    assert_refused(carom_integrator_run(&request, NULL, &answer, &error), CAROM_BAD_INPUT, error, "impact");
    carom_registry_free(registry);
    assert_refused(simulate(NULL, BALLS("positions: [0, 0.5], velocities: [0, 0]"), NULL, 1, &answer, &error), CAROM_BAD_INPUT, error,
                   "overlap");
    assert_refused(simulate(NULL, BALLS("positions: [0, 2], velocities: [0, 0], stiffness: 2"), NULL, 1, &answer, &error), CAROM_BAD_INPUT,
                   error, "belong together");
    assert_refused(simulate(NULL, BALLS("positions: [0, 2], velocities: [0, 0], rest: [0, 2]"), NULL, 1, &answer, &error), CAROM_BAD_INPUT,
                   error, "belong together");
    assert_refused(simulate(NULL, BALLS("positions: [0, 2], velocities: [0, 0], gravity: -1"), NULL, 1, &answer, &error), CAROM_BAD_INPUT,
                   error, "gravity");
    assert_refused(simulate("scenes/wedge.yaml", NULL, NULL, 1, &answer, &error), CAROM_BAD_INPUT, error, "needs a scene with");
    assert_refused(simulate("scenes/cube-k4.yaml", NULL, NULL, 1, &answer, &error), CAROM_UNSUPPORTED, error, "slide and hinge");
}

// A receiver of pictures that counts their lines and points.
typedef struct pictures {
    int count, lines;
    int64_t points;
} pictures;

static carom_status count_picture(void *user, const char *name, const carom_plot *picture, carom_error *error) {
    (void)error;
    pictures *seen = user;
    assert_true(*name);
    assert_string_equal(picture->title, "a rack");
    seen->count++;
    seen->lines += picture->series_count;
    for (int i = 0; i < picture->series_count; i++) seen->points += picture->series[i].count;
    return CAROM_OK;
}

// Studies and pictures from C, without any command: all of them by one request.
static void studies_take_one_request(void **state) {
    (void)state;
    carom_registry *registry;
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_dynamics_register(registry, &error), error);
    assert_ok(carom_scene_read_motion("scenes/rack.yaml", registry, &scene, &error), error);
    const carom_motion_request request = {
        .integrator = carom_integrator_find(registry, "propagative"), .motion = carom_scene_motion(scene), .registry = registry};
    carom_table *states, *orders = NULL, *convergence;
    carom_motion_answer answer;
    assert_ok(carom_motion_create_states(request.integrator, request.motion, &states, &error), error);
    const carom_sink sink = carom_table_sink(states);
    assert_ok(carom_integrator_run(&request, &sink, &answer, &error), error);
    // Members of a system are the same motion where neither starts nor draws differ.
    carom_ensemble ensemble = {.requested = 3, .traced = true, .perturbation = carom_ensemble_default_perturbation(request.motion)};
    assert_ok(carom_ensemble_run(&request, &answer, &ensemble, &error), error);
    assert_int_equal(carom_table_rows(ensemble.members), 3);
    const size_t nv = (size_t)request.motion->system->nv;
    for (int64_t row = 0; row < 3; row++) {
        int count;
        const double *end = carom_table_series(ensemble.members, CAROM_MEMBER_FINAL, row, &count);
        assert_int_equal(count, 2 * nv);
        assert_memory_equal(end, column(answer.final, "qpos"), nv * sizeof *end);
    }
    assert_ok(carom_orders_run(&request, "first", &orders, &error), error);
    assert_ok(carom_orders_run(&request, "again", &orders, &error), error);
    const double *largest = carom_table_real_column(orders, CAROM_ORDERS_LARGEST);
    assert_int_equal(carom_table_rows(orders), 2);
    assert_true(largest[0] > 0.5 && largest[0] == largest[1]);
    assert_refused(carom_convergence_run(&request, 2, &convergence, &error), CAROM_UNSUPPORTED, error, "'propagative' has no study");
    // Energies, paths with the balls at both ends, and a line for each comparison of orders.
    pictures seen = {0};
    const carom_figures figures = {.title = "a rack",
                                   .motion = request.motion,
                                   .states = states,
                                   .answer = &answer,
                                   .ensemble = &ensemble,
                                   .orders = orders,
                                   .user = &seen,
                                   .receive = count_picture};
    assert_ok(request.integrator->figures(&figures, &error), error);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.lines, 3 + 3 + 2);
    assert_true(seen.points > 5 * carom_table_rows(states));
    carom_ensemble_free(&ensemble);
    carom_table_free(orders);
    carom_table_free(convergence);
    carom_table_free(states);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
    carom_registry_free(registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_bounces_for_ever),
        cmocka_unit_test(energy_stays_over_a_thousand_impacts),
        cmocka_unit_test(impacts_accumulate),
        cmocka_unit_test(held_contacts_are_released),
        cmocka_unit_test(cradles_swing_without_loss),
        cmocka_unit_test(orders_part_unless_the_design_forbids_it),
        cmocka_unit_test(a_wedge_keeps_the_energy),
        cmocka_unit_test(a_wedge_holds_a_particle_at_rest),
        cmocka_unit_test(the_order_decides_the_side),
        cmocka_unit_test(bad_motions_are_refused),
        cmocka_unit_test(fast_balls_do_not_pass_through_each_other),
        cmocka_unit_test(mechanisms_are_of_second_order),
        cmocka_unit_test(scenes_move),
        cmocka_unit_test(bad_scenes_in_time_are_refused),
        cmocka_unit_test(studies_take_one_request),
    };
    return cmocka_run_group_tests_name("propagative motion", tests, NULL, NULL);
}
