// SPDX-License-Identifier: Apache-2.0
// One contact with friction and restitution: the published examples of Jia & Wang 2017 with exact events, closed forms, laws of mechanics
// on random contacts, invariant directions, and the law `stronge` with what is built on it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// ------------------------------------------------------------------------------------------------------------- helpers

// Full accuracy, for facts that hold exactly.
static const double FINEST = 1e-15;

static carom_contact_result solve_with(const carom_contact_problem *problem, carom_restitution hypothesis, double tolerance) {
    carom_contact_options options = carom_contact_defaults();
    options.hypothesis = hypothesis;
    options.tolerance = tolerance;
    carom_contact_result result;
    carom_error error;
    assert_ok(carom_contact_solve(problem, &options, &result, &error), error);
    return result;
}

static carom_contact_result solve(const carom_contact_problem *problem) { return solve_with(problem, CAROM_RESTITUTION_STRONGE, FINEST); }

static void unpack(const carom_contact_vector *v, double all[3]) {
    all[0] = v->tangent[0];
    all[1] = v->tangent[1];
    all[2] = v->normal;
}

static double carom_dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// y = W x
static void multiply(const carom_contact_problem *p, const double x[3], double y[3]) {
    y[0] = p->tangential[0] * x[0] + p->tangential[1] * x[1] + p->coupling[0] * x[2];
    y[1] = p->tangential[1] * x[0] + p->tangential[2] * x[1] + p->coupling[1] * x[2];
    y[2] = p->coupling[0] * x[0] + p->coupling[1] * x[1] + p->normal * x[2];
}

// x = B^-1 y in the tangent plane.
static void divide(const carom_contact_problem *p, const double y[2], double x[2]) {
    const double determinant = p->tangential[0] * p->tangential[2] - p->tangential[1] * p->tangential[1];
    x[0] = (p->tangential[2] * y[0] - p->tangential[1] * y[1]) / determinant;
    x[1] = (p->tangential[0] * y[1] - p->tangential[1] * y[0]) / determinant;
}

static double schur_of(const carom_contact_problem *p) {
    double x[2];
    divide(p, p->coupling, x);
    return p->normal - p->coupling[0] * x[0] - p->coupling[1] * x[1];
}

// v' W^-1 v / 2: the least kinetic energy of a system with this contact velocity.
static double energy_of(const carom_contact_problem *p) {
    const double *g = p->velocity.tangent;
    double x[2];
    divide(p, g, x);
    const double rest = p->velocity.normal - p->coupling[0] * x[0] - p->coupling[1] * x[1];
    return 0.5 * (g[0] * x[0] + g[1] * x[1] + rest * rest / schur_of(p));
}

// W = A A' + 0.05 I with A standard normal; friction log-uniform in `friction`; slip standard normal, approaching.
static carom_contact_problem random_contact(carom_stream *stream, double least_friction, double most_friction) {
    double A[9], W[9];
    for (int i = 0; i < 9; i++) A[i] = carom_stream_normal(stream);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) W[3 * i + k] = carom_dot3(A + 3 * i, A + 3 * k) + (i == k ? 0.05 : 0);
    carom_contact_problem p = {.tangential = {W[0], W[1], W[4]}, .coupling = {W[2], W[5]}, .normal = W[8]};
    p.friction = least_friction * pow(most_friction / least_friction, carom_stream_uniform(stream));
    p.restitution = carom_stream_uniform(stream);
    for (int i = 0; i < 2; i++) p.velocity.tangent[i] = carom_stream_normal(stream);
    p.velocity.normal = -fabs(carom_stream_normal(stream));
    return p;
}

// -------------------------------------------------------------------------------------------------- published examples

// Truncated icosahedron against tetrahedron (Jia & Wang 2017, Fig. 3): W as printed, v- such that it reproduces their result.
static carom_contact_problem polyhedra(double friction, double dx, double dy, double dz) {
    return (carom_contact_problem){.tangential = {11.5984, -0.910367, 9.90134},
                                   .coupling = {2.442355, 1.957465},
                                   .normal = 2.59042,
                                   .friction = friction,
                                   .restitution = 0.95,
                                   .velocity = {{-0.26197583 + dx, 0.38632923 + dy}, -0.07717472 + dz}};
}

static const carom_contact_problem pin = {.tangential = {1.55465, .002386755, 5.15191},
                                          .coupling = {-.360808, -.00313296},
                                          .normal = 1.105,
                                          .friction = 0.7,
                                          .restitution = 0.7,
                                          .velocity = {{-.20691338, .11765509}, -1.5069}};

static const carom_contact_problem recompressed = {.tangential = {1.3673867067468835, -.3552972699915408, 1.1445678331877123},
                                                   .coupling = {-1.113238212468424, 1.027280275703944},
                                                   .normal = 2.027017404014809,
                                                   .friction = 1.9511482542630871,
                                                   .restitution = .7285106793313822,
                                                   .velocity = {{-.5881044010302925, -.48797982075893975}, -.28105909355479175}};

typedef struct example {
    const char *scene;
    carom_contact_problem problem;
    const char *events, *course;
    double event_impulses[5];
    double impulse[3];
} example;

// The shipped scene is this example.
static void check_scene(const char *stem, const carom_contact_problem *expected) {
    char path[64];
    snprintf(path, sizeof path, "scenes/%s.yaml", stem);
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_scene_read(path, registry, &scene, &error), error);
    const carom_impact *impact = carom_scene_impact(scene);
    carom_contact_problem problem;
    carom_contact_extract(impact, 0, carom_impact_get_data(impact)->velocity, &problem);
    assert_all_close((const double *)&problem, (const double *)expected, sizeof problem / sizeof(double), 1e-15);
    assert_string_equal(carom_scene_law(scene), "stronge");
    carom_scene_free(scene);
}

static void examples_are_reproduced(void **state) {
    (void)state;
    const example examples[] = {
        {"polyhedra-4a",
         polyhedra(0.8, 0, 0, 0),
         "csr",
         "slip+stick",
         {.04396405587, .07145552420, .1012118356},
         {-.0033831344986, -.059338205724, .10121183564}},
        {"polyhedra-4b",
         polyhedra(0.4, 0, 0, -.75),
         "scr",
         "slip+stick",
         {.3535005424, .5304208506, 1.0192354768},
         {-.21245181535, -.26005127835, 1.0192354768}},
        {"polyhedra-4c",
         polyhedra(0.25, 0, 0, -.75),
         "cr",
         "slip",
         {.4265386278, .83610796162},
         {-.11608149757, -.16013382613, .83610796162}},
        {"polyhedra-4d",
         polyhedra(3, 0, 0, -.45),
         "scr",
         "slip+stick",
         {.01483838367, .3436482154, .66962418299},
         {-.13283210978, -.18361364226, .66962418299}},
        {"polyhedra-7",
         polyhedra(0.25, -.6, -.85, -1.45),
         "cr",
         "slip",
         {.6981013812, 1.3780004790},
         {-.18128161794, -.18853342314, 1.3780004790}},
        {"polyhedra-10a",
         polyhedra(0.35, 0, 0, -.75),
         "csr",
         "slip+stick",
         {.5086887577, .8376888340, .99413338115},
         {-.20673511940, -.25456305504, .99413338115}},
        {"polyhedra-10b",
         polyhedra(0.25, 0, 0, -1.95),
         "cr",
         "slip",
         {1.089274104, 2.1259738850},
         {-.35213193802, -.37982614407, 2.1259738850}},
        {"polyhedra-10c",
         polyhedra(0.55, 0, 0, -.05),
         "csr",
         "slip+stick",
         {.06782484311, .1373393306, .14936835336},
         {-.014350193713, -.069866957059, .14936835336}},
        {NULL, polyhedra(0, 0, 0, 0), "cr", "frictionless", {.02979235800, .058095098092}, {0, 0, .058095098092}},
        {"pin", pin, "scr", "slip+stick", {.2918852444, 1.5224919341, 2.5850130310}, {.7330642441, -.0216048014, 2.5850130310}},
        {"recompression",
         recompressed,
         "ckscr",
         "slip+stick",
         {.2665371734, .4884778488, .5001492242, .5147421538, .7144278662},
         {1.0397690662, .1078916186, .7144278662}},
    };
    // Ten digits are known.
    const double known = 3e-10;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const carom_contact_result r = solve(&examples[i].problem);
        double impulse[3];
        unpack(&r.impulse, impulse);
        assert_string_equal(r.events, examples[i].events);
        assert_string_equal(carom_contact_course_name(r.course), examples[i].course);
        for (size_t k = 0; r.events[k]; k++) assert_close(r.event_impulse[k], examples[i].event_impulses[k], known);
        assert_all_close(impulse, examples[i].impulse, 3, known);
        if (examples[i].scene) check_scene(examples[i].scene, &examples[i].problem);
    }
}

static void hypotheses_differ(void **state) {
    (void)state;
    static const double poisson[] = {1.42685e-4, -.0559532983, .0857299089}, newton[] = {-.00518730946, -.0610702753, .109133994};
    const carom_contact_problem p = polyhedra(0.8, 0, 0, 0);
    const carom_contact_result by_poisson = solve_with(&p, CAROM_RESTITUTION_POISSON, FINEST);
    const carom_contact_result by_newton = solve_with(&p, CAROM_RESTITUTION_NEWTON, FINEST);
    double impulse[3];
    unpack(&by_poisson.impulse, impulse);
    assert_all_close(impulse, poisson, 3, 1e-9);
    assert_close(by_poisson.impulse.normal, 1.95 * by_poisson.compression.normal, 1e-12);
    unpack(&by_newton.impulse, impulse);
    assert_all_close(impulse, newton, 3, 1e-9);
    assert_close(by_newton.velocity.normal, -0.95 * p.velocity.normal, 1e-12);
}

// The end of the first recompressed phase; the works of both compressions are pooled.
static void recompression_pools_works(void **state) {
    (void)state;
    const carom_contact_result r = solve(&recompressed);
    const double e = recompressed.restitution;
    assert_int_equal(r.compressions, 2);
    assert_true(r.sticks && r.may_jam && !r.jams);
    assert_close(r.velocity.normal, .12042290009, 1e-10);
    assert_close(r.restitution_work, e * e * r.compression_work, 1e-13);
    assert_close(r.compression.normal, r.event_impulse[0], 1e-15);
}

// Unit slips all around, mu 0.8, vz- = -0.2: slip stops for 11 of 15 directions (Fig. 6).
static void a_fan_stops_in_eleven_of_fifteen(void **state) {
    (void)state;
    int stops = 0;
    for (int degree = 0; degree < 360; degree++) {
        carom_contact_problem p = polyhedra(0.8, 0, 0, 0);
        const double angle = degree * acos(-1) / 180;
        p.velocity = (carom_contact_vector){{cos(angle), sin(angle)}, -0.2};
        stops += strchr(solve(&p).events, 's') != NULL;
    }
    assert_int_equal(stops, 264);
}

static void the_default_tolerance_is_good_for_ten_digits(void **state) {
    (void)state;
    const carom_contact_problem problems[] = {polyhedra(0.8, 0, 0, 0), polyhedra(0.25, -.6, -.85, -1.45), pin, recompressed};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        double usual[3], finest[3];
        const carom_contact_result a = solve_with(&problems[i], CAROM_RESTITUTION_STRONGE, carom_contact_defaults().tolerance);
        const carom_contact_result b = solve(&problems[i]);
        unpack(&a.impulse, usual);
        unpack(&b.impulse, finest);
        assert_all_close(usual, finest, 3, 1e-10);
    }
}

// -------------------------------------------------------------------------------------------------------- closed forms

// A sphere on a wall, W = diag(3.5, 3.5, 1): Iz = 1 + e, and slip stops at Iz = |gamma-| / (3.5 mu).
static void spheres_have_closed_forms(void **state) {
    (void)state;
    const double speed = sqrt(1.25);
    for (int i = 0; i <= 20; i++)
        for (int k = 0; k <= 4; k++) {
            const double mu = 0.05 * i, e = 0.25 * k;
            const carom_contact_problem p = {{3.5, 0, 3.5}, {0, 0}, 1, mu, e, {{1, .5}, -1}};
            const carom_contact_result r = solve(&p);
            const bool sticks = mu * 3.5 * (1 + e) >= speed;
            const double share = sticks ? 1 / 3.5 : mu * (1 + e) / speed, impulse[3] = {-share, -.5 * share, 1 + e};
            double actual[3];
            unpack(&r.impulse, actual);
            assert_all_close(actual, impulse, 3, 1e-12);
            assert_int_equal(r.sticks, sticks && mu > 0);
            assert_int_equal(r.steps, 0);
        }
}

// Without friction: Iz = -(1 + e) vz-/w, and It = 0 to the bit.
static void frictionless_contacts_have_closed_forms(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 71, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 1, 2);
        p.friction = 0;
        const carom_contact_result r = solve(&p);
        assert_close(r.impulse.normal, -(1 + p.restitution) * p.velocity.normal / p.normal, 1e-12);
        assert_true(r.impulse.tangent[0] == 0 && r.impulse.tangent[1] == 0);
        assert_close(r.velocity.normal, -p.restitution * p.velocity.normal, 1e-12);
        for (int k = 0; k < 2; k++) assert_close(r.velocity.tangent[k], p.velocity.tangent[k] + p.coupling[k] * r.impulse.normal, 1e-12);
    }
}

// B = b I, mu b > |d|: slip stops at Iz = (mu b |gamma-| + d.gamma-) / (mu^2 b^2 - |d|^2), which the curved path must reach.
static void isotropic_contacts_stop_in_time(void **state) {
    (void)state;
    int stopped = 0;
    for (int i = 0; i < 2000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 72, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 0.2, 3);
        p.tangential[1] = 0;
        p.tangential[2] = p.tangential[0];
        const double b = p.tangential[0], *d = p.coupling, *g = p.velocity.tangent;
        if (schur_of(&p) < 0.05 || p.friction * b < 1.1 * hypot(d[0], d[1])) continue;
        const carom_contact_result r = solve(&p);
        const double stop_at = (p.friction * b * hypot(g[0], g[1]) + d[0] * g[0] + d[1] * g[1]) /
                               (p.friction * p.friction * b * b - d[0] * d[0] - d[1] * d[1]);
        const char *event = strchr(r.events, 's');
        assert_int_equal(event != NULL, stop_at < r.impulse.normal);
        if (!event) continue;
        assert_close(r.event_impulse[event - r.events] / stop_at, 1, 1e-12);
        stopped++;
    }
    assert_true(stopped > 200);
}

// An independent solution of planar contacts: the velocity is piecewise linear in the normal impulse (Routh 1860 with Stronge's law).
typedef struct planar {
    double normal, tangent;  // impulse
    bool sticks;
} planar;

static planar solve_planar(double wtt, double wtn, double wnn, double mu, double e, double u, double v) {
    const double side = u > 0 ? 1 : -1;
    const double slip_rate = wtn - mu * wtt * side, rate = u == 0 ? 0 : wnn - mu * wtn * side;
    const double stop_at = u == 0 ? 0 : u * slip_rate < 0 ? -u / slip_rate : INFINITY;
    const bool holds = fabs(wtn) <= mu * wtt;
    const double later = holds ? wnn - wtn * wtn / wtt : wnn - mu * fabs(wtn);
    const double v_stop = isinf(stop_at) ? NAN : v + rate * stop_at;
    // End of compression, and its work.
    const bool early = rate > 0 && -v / rate <= stop_at;
    const double work = early ? v * v / (2 * rate) : -0.5 * (v + v_stop) * stop_at + v_stop * v_stop / (2 * later);
    const double target = e * e * work;
    double end;
    if (!early) {
        end = stop_at - v_stop / later + sqrt(2 * target / later);
    } else {
        end = -v / rate + sqrt(2 * target / rate);
        if (end > stop_at) {
            const double left = target - v_stop * v_stop / (2 * rate);
            end = stop_at + (sqrt(v_stop * v_stop + 2 * later * left) - v_stop) / later;
        }
    }
    const double slid = fmin(end, stop_at), after = end - slid;
    const double tangent = -mu * side * slid - (holds ? wtn / wtt : mu * copysign(1, wtn)) * after;
    return (planar){end, tangent, holds && end > stop_at};
}

static void planar_contacts_have_closed_forms(void **state) {
    (void)state;
    int sticking = 0, reversing = 0;
    for (int i = 0; i < 20000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 73, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 0.01, 10);
        p.tangential[1] = p.tangential[2] = p.coupling[1] = p.velocity.tangent[1] = 0;
        if (p.normal - p.coupling[0] * p.coupling[0] / p.tangential[0] < 1e-3) continue;
        const planar expected =
            solve_planar(p.tangential[0], p.coupling[0], p.normal, p.friction, p.restitution, p.velocity.tangent[0], p.velocity.normal);
        const carom_contact_result r = solve(&p);
        const double scale = hypot(expected.normal, expected.tangent);
        assert_close((r.impulse.normal - expected.normal) / scale, 0, 1e-11);
        assert_close((r.impulse.tangent[0] - expected.tangent) / scale, 0, 1e-11);
        assert_int_equal(r.sticks, expected.sticks);
        assert_int_equal(r.steps, 0);
        sticking += r.sticks;
        reversing += r.course == CAROM_COURSE_LINE_RESUME;
    }
    assert_true(sticking > 1000 && reversing > 1000);
}

// d = 0: the normal motion is that of a frictionless contact, whatever the friction, and all hypotheses agree.
static void central_impacts_do_not_depend_on_friction(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 74, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 0.01, 10);
        p.coupling[0] = p.coupling[1] = 0;
        const double expected = -(1 + p.restitution) * p.velocity.normal / p.normal;
        for (int h = CAROM_RESTITUTION_STRONGE; h <= CAROM_RESTITUTION_NEWTON; h++) {
            const carom_contact_result r = solve_with(&p, (carom_restitution)h, FINEST);
            assert_close(r.impulse.normal / expected, 1, 1e-12);
        }
    }
}

// ----------------------------------------------------------------------------------------------------- laws of mechanics

// v+ = v- + W I, the friction cone, no energy gain, the work law, the bound of the impulse, and a defined end.
static void check_mechanics(const carom_contact_problem *p, const carom_contact_result *r, double accuracy) {
    double I[3], before[3], after[3], change[3], mean[3];
    unpack(&r->impulse, I);
    unpack(&p->velocity, before);
    unpack(&r->velocity, after);
    multiply(p, I, change);
    double velocity_scale = 0;
    for (int k = 0; k < 3; k++)
        velocity_scale = fmax(velocity_scale, fabs(before[k]) + fabs(I[k]) * (p->tangential[0] + p->tangential[2] + p->normal));
    for (int k = 0; k < 3; k++) assert_true(fabs(before[k] + change[k] - after[k]) <= 1e-13 * velocity_scale);
    for (int k = 0; k < 3; k++) mean[k] = 0.5 * (before[k] + after[k]);

    assert_int_equal(r->status, CAROM_CONTACT_IMPACT);
    assert_true(I[2] > 0 && after[2] >= -1e-13 * velocity_scale);
    assert_true(hypot(I[0], I[1]) <= p->friction * I[2] * (1 + accuracy));
    assert_true(r->events[strlen(r->events) - 1] == 'r');

    // Works by the process, energy by its end points: they agree, and the energy does not grow.
    const double energy = energy_of(p), gain = carom_dot3(I, mean), e = p->restitution;
    const double works = r->restitution_work - r->compression_work - r->friction_work;
    assert_true(gain <= accuracy * energy);
    assert_true(fabs(gain - works) <= accuracy * energy);
    assert_true(r->friction_work >= 0);
    assert_true(fabs(r->restitution_work - e * e * r->compression_work) <= 1e-12 * r->compression_work);

    const double reach = fabs(before[2]) + p->friction * hypot(before[0], before[1]);
    assert_true(I[2] <= (1 + e) * reach / schur_of(p) * (1 + accuracy));
    if (r->sticks) assert_true(after[0] == 0 && after[1] == 0);
}

static void random_contacts_obey_mechanics(void **state) {
    (void)state;
    const int contacts = support_count(2000, 100000, 1000000);
    int recompressions = 0, jams = 0, sticks = 0, resumes = 0;
    for (int i = 0; i < contacts; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 75, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 0.01, 10);
        // The ends of the range of restitution, too.
        if (i % 10 == 0) p.restitution = i % 20 == 0;
        const carom_contact_result r = solve(&p);
        check_mechanics(&p, &r, 1e-12);
        recompressions += r.compressions > 1;
        jams += r.jams;
        sticks += r.sticks;
        resumes += r.course == CAROM_COURSE_SLIP_RESUME;
    }
    assert_true(sticks > contacts / 5 && jams > contacts / 100 && resumes > contacts / 1000);
    if (contacts >= 100000) assert_true(recompressions > contacts / 10000);
}

static void rotate(const double c, const double s, double v[2]) {
    const double x = c * v[0] - s * v[1];
    v[1] = s * v[0] + c * v[1];
    v[0] = x;
}

// The tangents may be rotated; velocities and inverse masses have any unit.
static void answers_are_equivariant(void **state) {
    (void)state;
    const double c = 0.28, s = 0.96, speed = 37, mass = 0.013;
    for (int i = 0; i < 2000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 76, (uint64_t)i);
        const carom_contact_problem p = random_contact(&stream, 0.05, 2);
        carom_contact_problem q = p;
        const double a = p.tangential[0], b = p.tangential[1], d = p.tangential[2];
        q.tangential[0] = (c * c * a - 2 * c * s * b + s * s * d) / mass;
        q.tangential[1] = (c * s * (a - d) + (c * c - s * s) * b) / mass;
        q.tangential[2] = (s * s * a + 2 * c * s * b + c * c * d) / mass;
        rotate(c, s, q.coupling);
        for (int k = 0; k < 2; k++) q.coupling[k] /= mass;
        q.normal /= mass;
        rotate(c, s, q.velocity.tangent);
        for (int k = 0; k < 2; k++) q.velocity.tangent[k] *= speed;
        q.velocity.normal *= speed;
        carom_contact_result r = solve(&p), t = solve(&q);
        double expected[3], actual[3];
        rotate(c, s, r.impulse.tangent);
        unpack(&r.impulse, expected);
        unpack(&t.impulse, actual);
        for (int k = 0; k < 3; k++) actual[k] /= speed * mass;
        assert_all_close(actual, expected, 3, 1e-10);
        assert_string_equal(r.events, t.events);
    }
}

// The slip where the normal impulse has the given size: the hodograph does not depend on the approach speed, which says where it ends.
static void slip_at(carom_contact_problem p, double impulse, double slip[2]) {
    double slow = 0, fast = 1;
    p.restitution = 0;
    for (p.velocity.normal = -fast; solve(&p).impulse.normal < impulse; p.velocity.normal = -(fast *= 2)) continue;
    for (int i = 0; i < 60; i++) {
        p.velocity.normal = -0.5 * (slow + fast);
        if (solve(&p).impulse.normal < impulse)
            slow = -p.velocity.normal;
        else
            fast = -p.velocity.normal;
    }
    memcpy(slip, solve(&p).velocity.tangent, 2 * sizeof *slip);
}

static double distance(const carom_contact_problem *p, const double a[2], const double b[2]) {
    const double y[2] = {a[0] - b[0], a[1] - b[1]};
    double x[2];
    divide(p, y, x);
    return sqrt(x[0] * y[0] + x[1] * y[1]);
}

// Two hodographs of one contact never part: (gamma1 - gamma2)' B^-1 (gamma1 - gamma2) does not grow, also through zero slip.
static void hodographs_contract(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 77, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 0.05, 2), q = p;
        for (int k = 0; k < 2; k++) q.velocity.tangent[k] += 0.3 * carom_stream_normal(&stream);
        if (i % 4 == 0) q.velocity.tangent[0] = q.velocity.tangent[1] = 0;
        // Where contacts may jam, the end is not a continuous function of the approach speed.
        if (solve(&p).may_jam) continue;
        double before = distance(&p, p.velocity.tangent, q.velocity.tangent);
        const double first = before;
        for (int k = 1; k <= 4; k++) {
            double a[2], b[2];
            slip_at(p, 0.2 * k, a);
            slip_at(q, 0.2 * k, b);
            const double now = distance(&p, a, b);
            assert_true(now <= before + 1e-9 * first);
            before = now;
        }
    }
}

typedef struct curve {
    double slip[64][2], impulse[64];
    int count;
} curve;

static void record(void *user, const carom_contact_state *at) {
    curve *c = user;
    if (c->count == 64) return;
    memcpy(c->slip[c->count], at->velocity.tangent, sizeof c->slip[0]);
    c->impulse[c->count++] = at->impulse.normal;
}

// The trace begins with the start, ends with the answer, and its clock does not run back.
static void traces_lead_to_the_answer(void **state) {
    (void)state;
    const carom_contact_problem problems[] = {polyhedra(0, 0, 0, 0), pin, recompressed};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        static curve c;
        c.count = 0;
        carom_contact_options options = carom_contact_defaults();
        options.tolerance = 1e-6;
        options.trace = record;
        options.user = &c;
        carom_contact_result result;
        carom_error error;
        assert_ok(carom_contact_solve(&problems[i], &options, &result, &error), error);
        assert_true(c.count >= 2 && c.impulse[0] == 0);
        assert_all_close(c.slip[0], problems[i].velocity.tangent, 2, 1e-15);
        for (int k = 1; k < c.count; k++) assert_true(c.impulse[k] >= c.impulse[k - 1]);
        if (c.count < 64) assert_close(c.impulse[c.count - 1], result.impulse.normal, 1e-15);
    }
}

// ------------------------------------------------------------------------------------------------- invariant directions

static double turning(const carom_contact_problem *p, double angle) {
    const double c = cos(angle), s = sin(angle), mu = p->friction;
    const double x = p->coupling[0] - mu * (p->tangential[0] * c + p->tangential[1] * s);
    const double y = p->coupling[1] - mu * (p->tangential[1] * c + p->tangential[2] * s);
    return c * y - s * x;
}

// Zeros of the turning over a full circle, by its signs; between samples of one sign, its extremum is sought for a hidden pair.
static int count_by_signs(const carom_contact_problem *p) {
    enum { SAMPLES = 720 };
    const double step = 2 * acos(-1) / SAMPLES, golden = 0.5 * (sqrt(5) - 1);
    int count = 0;
    for (int i = 0; i < SAMPLES; i++) {
        const double a = turning(p, (i - 1) * step), b = turning(p, i * step), c = turning(p, (i + 1) * step);
        count += (a > 0) != (b > 0);
        if ((a > 0) != (b > 0) || (b > 0) != (c > 0) || fabs(b) > fabs(a) || fabs(b) > fabs(c)) continue;
        double low = (i - 1) * step, high = (i + 1) * step;
        while (high - low > 1e-9) {
            const double x = high - golden * (high - low), y = low + golden * (high - low);
            if (fabs(turning(p, x)) < fabs(turning(p, y)))
                high = y;
            else
                low = x;
            if ((turning(p, x) > 0) != (b > 0) || (turning(p, y) > 0) != (b > 0)) {
                count += 2;
                break;
            }
        }
    }
    return count;
}

static void invariant_directions_are_complete(void **state) {
    (void)state;
    int with_four = 0;
    for (int i = 0; i < 20000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 78, (uint64_t)i);
        const carom_contact_problem p = random_contact(&stream, 0.02, 3);
        carom_invariant_ray rays[CAROM_MOST_RAYS];
        carom_error error;
        int count, centrifugal = 0, attracting = 0, repelling = 0;
        assert_ok(carom_contact_invariant_rays(&p, rays, &count, &error), error);
        assert_int_equal(count, count_by_signs(&p));
        for (int k = 0; k < count; k++) {
            assert_true(fabs(turning(&p, rays[k].angle)) <= 1e-13 * (p.friction * (p.tangential[0] + p.tangential[2]) + 1));
            assert_true(k == 0 || rays[k].angle > rays[k - 1].angle);
            assert_int_equal(rays[k].rate > 0, rays[k].type == CAROM_RAY_CENTRIFUGAL);
            centrifugal += rays[k].type == CAROM_RAY_CENTRIFUGAL;
            attracting += rays[k].type == CAROM_RAY_ATTRACTING;
            repelling += rays[k].type == CAROM_RAY_REPELLING;
        }
        // One centrifugal direction exactly where friction cannot hold the contact; as many attract as repel.
        double held[2];
        divide(&p, p.coupling, held);
        assert_int_equal(centrifugal, hypot(held[0], held[1]) > p.friction);
        assert_int_equal(attracting + centrifugal, repelling);
        with_four += count == 4;
    }
    assert_true(with_four > 2000);
}

static void published_directions_are_found(void **state) {
    (void)state;
    static const struct {
        double friction;
        int count;
        double rates[4];  // by angle
        carom_ray_type types[4];
    } rows[] = {
        {0.8, 2, {-11.613, -4.7031}, {CAROM_RAY_REPELLING, CAROM_RAY_ATTRACTING}},
        {0.25, 2, {-5.6779, 0.64557}, {CAROM_RAY_REPELLING, CAROM_RAY_CENTRIFUGAL}},
        {3,
         4,
         {-31.440, -34.323, -25.719, -37.516},
         {CAROM_RAY_ATTRACTING, CAROM_RAY_REPELLING, CAROM_RAY_ATTRACTING, CAROM_RAY_REPELLING}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const carom_contact_problem p = polyhedra(rows[i].friction, 0, 0, 0);
        carom_invariant_ray rays[CAROM_MOST_RAYS];
        carom_error error;
        int count;
        assert_ok(carom_contact_invariant_rays(&p, rays, &count, &error), error);
        assert_int_equal(count, rows[i].count);
        for (int k = 0; k < count; k++) {
            assert_close(rays[k].rate / rows[i].rates[k], 1, 5e-5);
            assert_int_equal(rays[k].type, rows[i].types[k]);
        }
    }
}

// On the astroid |px|^(2/3) + |py|^(2/3) = L^(2/3), p = -d/mu, two directions merge; at its cusps three do.
static void directions_merge_on_the_astroid(void **state) {
    (void)state;
    static const struct {
        double p[2];
        int count;
    } rows[] = {{{0, 0}, 4},     {{0.5, 0}, 4},  {{1, 0}, 2}, {{0, 1}, 2},
                {{0, -1}, 2},    {{2, 0}, 2},    {{0, 3}, 2}, {{0.125, 0.649519052838329}, 3},
                {{0.1, 0.2}, 4}, {{0.5, 0.5}, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const carom_contact_problem p = {{3, 0, 2}, {-0.5 * rows[i].p[0], -0.5 * rows[i].p[1]}, 5, 0.5, 0, {{1, 1}, -1}};
        carom_invariant_ray rays[CAROM_MOST_RAYS];
        carom_error error;
        int count;
        assert_ok(carom_contact_invariant_rays(&p, rays, &count, &error), error);
        assert_int_equal(count, rows[i].count);
    }
    const carom_contact_problem round = {{3, 0, 3}, {0, 0}, 5, 0.5, 0, {{1, 1}, -1}};
    carom_invariant_ray rays[CAROM_MOST_RAYS];
    int count = -1;
    assert_int_equal(carom_contact_invariant_rays(&round, rays, &count, NULL), CAROM_OK);
    assert_int_equal(count, 0);
}

// A start on a ray stays on it, to the end or to rest.
static void rays_are_straight(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 79, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 0.05, 3);
        carom_invariant_ray rays[CAROM_MOST_RAYS];
        carom_error error;
        int count;
        assert_ok(carom_contact_invariant_rays(&p, rays, &count, &error), error);
        const carom_invariant_ray *ray = &rays[i % count];
        for (int k = 0; k < 2; k++) p.velocity.tangent[k] = ray->direction[k];
        const carom_contact_result r = solve(&p);
        assert_int_equal(r.events[0], 'l');
        assert_int_equal(r.steps, 0);
        check_mechanics(&p, &r, 1e-12);
        if (ray->rate > 0) assert_int_equal(r.course, CAROM_COURSE_LINE);
        if (r.course == CAROM_COURSE_LINE)
            for (int k = 0; k < 2; k++)
                assert_close(r.velocity.tangent[k], ray->direction[k] * (1 + ray->rate * r.impulse.normal), 1e-11 * (1 + fabs(ray->rate)));
    }
}

// ------------------------------------------------------------------------------------------------------- special cases

static void perfectly_plastic_contacts_stop(void **state) {
    (void)state;
    const double W[9] = {2, 0.3, 0.4, 0.3, 1.5, -0.2, 0.4, -0.2, 1};
    const carom_contact_problem p = {{W[0], W[1], W[4]}, {W[2], W[5]}, W[8], 5, 0, {{.3, -.2}, -1}};
    const carom_contact_result r = solve(&p);
    double I[3], change[3];
    unpack(&r.impulse, I);
    multiply(&p, I, change);
    // I = -W^-1 v-: everything stops.
    assert_all_close(change, ((double[]){-.3, .2, 1}), 3, 1e-14);
    assert_string_equal(r.events, "scr");
    assert_true(r.velocity.tangent[0] == 0 && r.velocity.tangent[1] == 0);
}

static void contacts_without_slip_stick_or_resume(void **state) {
    (void)state;
    carom_contact_problem p = {{2, 0, 2}, {1, 0}, 3, 0.6, 0.5, {{0, 0}, -1}};
    carom_contact_result r = solve(&p);
    assert_string_equal(r.events, "scr");
    assert_int_equal(r.course, CAROM_COURSE_STICK);
    assert_close(r.impulse.normal, 1.5 / 2.5, 1e-14);
    // |B^-1 d| = mu: both branches are the same limit.
    p.friction = 0.5;
    assert_int_equal(solve(&p).course, CAROM_COURSE_STICK);
    const double limit = solve(&p).impulse.normal;
    p.friction = 0.5 * (1 - 1e-12);
    assert_int_equal(solve(&p).course, CAROM_COURSE_RESUME);
    assert_close(solve(&p).impulse.normal, limit, 1e-11);
    p.friction = 0.25;
    r = solve(&p);
    // Slides along d: vz' = w - mu |d|.
    assert_close(r.impulse.normal, 1.5 / 2.75, 1e-14);
    assert_close(r.velocity.tangent[0], 0.5 * r.impulse.normal, 1e-14);
}

// Sliding that drives the bodies together: w - mu d.s < 0 (Painleve). The impulse does not vanish with the approach speed.
static void jams_are_defined(void **state) {
    (void)state;
    carom_contact_problem p = {{2, 0, 2}, {1.5, 0}, 1.5, 1.2, 0.5, {{1, 0}, -1e-9}};
    const carom_contact_result r = solve(&p);
    assert_true(r.jams && r.may_jam);
    check_mechanics(&p, &r, 1e-12);
    p.velocity.normal = 0;
    carom_contact_options options = carom_contact_defaults();
    carom_contact_result still, limit;
    carom_error error;
    assert_ok(carom_contact_solve(&p, &options, &still, &error), error);
    assert_int_equal(still.status, CAROM_CONTACT_TANGENTIAL);
    assert_true(still.impulse.normal == 0 && still.velocity.tangent[0] == 1);
    options.tangential = true;
    assert_ok(carom_contact_solve(&p, &options, &limit, &error), error);
    assert_int_equal(limit.status, CAROM_CONTACT_IMPACT);
    assert_true(limit.impulse.normal > 0.5);
    assert_close(limit.impulse.normal, r.impulse.normal, 1e-7);
}

static void what_does_not_approach_gets_no_impulse(void **state) {
    (void)state;
    const carom_contact_vector velocities[] = {{{1, 0}, 1}, {{1, 0}, 0}, {{0, 0}, 0}, {{0, 0}, 2}};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++) {
        const carom_contact_problem p = {{2, 0, 2}, {0.1, 0}, 3, 0.6, 0.5, velocities[i]};
        const carom_contact_result r = solve(&p);
        assert_int_equal(r.status, CAROM_CONTACT_NO_IMPACT);
        assert_memory_equal(&r.velocity, &p.velocity, sizeof r.velocity);
        assert_true(r.impulse.normal == 0 && r.events[0] == '\0');
    }
}

// A mechanism in a plane of space: its second tangent has no motion.
static void planar_mechanisms_in_space_are_planar(void **state) {
    (void)state;
    const carom_contact_problem plane = {{2, 0, 0}, {0.5, 0}, 3, 0.6, 0.5, {{0.4, 0}, -1}};
    const carom_contact_result expected = solve(&plane);
    for (int i = 0; i < 8; i++) {
        const double angle = 0.7 * i, c = cos(angle), s = sin(angle);
        const carom_contact_problem turned = {{2 * c * c, 2 * c * s, 2 * s * s}, {0.5 * c, 0.5 * s}, 3, 0.6, 0.5, {{0.4 * c, 0.4 * s}, -1}};
        const carom_contact_result r = solve(&turned);
        assert_close(r.impulse.normal, expected.impulse.normal, 1e-12);
        assert_close(c * r.impulse.tangent[0] + s * r.impulse.tangent[1], expected.impulse.tangent[0], 1e-12);
    }
    // A point on a line has no tangential motion at all.
    const carom_contact_problem line = {{0, 0, 0}, {0, 0}, 2, 0.6, 0.5, {{0, 0}, -1}};
    assert_close(solve(&line).impulse.normal, 0.75, 1e-14);
}

static void bad_contacts_are_refused(void **state) {
    (void)state;
    const carom_contact_problem good = {{2, 0, 2}, {0.1, 0}, 3, 0.6, 0.5, {{1, 0}, -1}};
    carom_contact_problem bad[12];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) bad[i] = good;
    bad[0].friction = -1;
    bad[1].friction = INFINITY;
    bad[2].restitution = 1.5;
    bad[3].restitution = NAN;
    bad[4].velocity.normal = NAN;
    bad[5].tangential[0] = INFINITY;
    bad[6].normal = 0;
    bad[7].tangential[1] = 2.5;
    bad[8].coupling[0] = 2.5;
    bad[9].tangential[2] = -1;
    // No motion along the second tangent, yet slip, and coupling.
    bad[10].tangential[2] = 0;
    bad[10].velocity.tangent[1] = 1;
    bad[11].tangential[2] = 0;
    bad[11].coupling[1] = 0.5;
    const carom_contact_options options = carom_contact_defaults();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        carom_contact_result result;
        carom_error error;
        assert_refused(carom_contact_solve(&bad[i], &options, &result, &error), CAROM_BAD_INPUT, error, "single contact: ");
        assert_true(result.impulse.normal == 0 && result.events[0] == '\0');
    }
    carom_contact_options loose = options;
    loose.tolerance = 0.1;
    carom_contact_result result;
    carom_error error;
    assert_refused(carom_contact_solve(&good, &loose, &result, &error), CAROM_BAD_INPUT, error, "tolerance: 0.1");
}

// Units are the caller's: what is tiny or huge as a whole is solved like anything else.
static void sizes_of_units_do_not_matter(void **state) {
    (void)state;
    const double speeds[] = {1e-310, 1e-200, 1e150}, masses[] = {1e-150, 1e-20, 1e150};
    const carom_contact_result usual = solve(&pin);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            carom_contact_problem p = pin;
            for (int l = 0; l < 3; l++) p.tangential[l] *= masses[k];
            for (int l = 0; l < 2; l++) p.coupling[l] *= masses[k], p.velocity.tangent[l] *= speeds[i];
            p.normal *= masses[k];
            p.velocity.normal *= speeds[i];
            const carom_contact_result r = solve(&p);
            assert_string_equal(r.events, usual.events);
            // A denormal speed has few digits.
            assert_close(r.velocity.normal / speeds[i], usual.velocity.normal, i ? 1e-13 : 1e-10);
        }
}

// Contacts close to what is refused, and approach speeds and slips of very different sizes, end with an answer that obeys mechanics.
static void badly_scaled_contacts_end(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 80, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 1e-4, 1e4);
        const double shrink = pow(10, -4 * carom_stream_uniform(&stream));
        // Scaling the first tangent keeps W positive definite.
        p.tangential[0] *= shrink * shrink;
        p.tangential[1] *= shrink;
        p.coupling[0] *= shrink;
        p.velocity.normal *= pow(10, -8 * carom_stream_uniform(&stream));
        const carom_contact_result r = solve(&p);
        check_mechanics(&p, &r, 1e-7);
    }
}

// Beyond some value, more friction changes nothing. Its powers were once out of range.
static void unlimited_friction_has_a_limit(void **state) {
    (void)state;
    static const double frictions[] = {1e20, 1e100, 1e300};
    for (int i = 0; i < 20; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 84, (uint64_t)i);
        carom_contact_problem p = random_contact(&stream, 1, 2);
        p.friction = 1e14;
        const carom_contact_result large = solve(&p);
        for (size_t k = 0; k < sizeof frictions / sizeof *frictions; k++) {
            p.friction = frictions[k];
            const carom_contact_result r = solve(&p);
            assert_string_equal(r.events, large.events);
            // Where friction alone ends the compression, nothing is left for the normal impulse.
            assert_true(fabs(r.impulse.normal - large.impulse.normal) <= 1e-10 * fmax(1, large.impulse.normal));
            assert_close(r.velocity.normal, large.velocity.normal, 1e-10);
            assert_all_close(r.velocity.tangent, large.velocity.tangent, 2, 1e-10);
        }
    }
}

// Contact velocities have an energy only where W is regular to more digits than the impact asks of it: such a contact is refused.
static void nearly_singular_contacts_are_refused(void **state) {
    (void)state;
    const carom_contact_problem p = {
        .tangential = {1 + 1e-13, 0, 1}, .coupling = {1, 0}, .normal = 1, .friction = 0.5, .velocity = {{1, 0}, -1}};
    const carom_contact_options options = carom_contact_defaults();
    carom_contact_result result;
    carom_error error;
    assert_refused(carom_contact_solve(&p, &options, &result, &error), CAROM_BAD_INPUT, error, "not positive definite");
}

static double log_uniform(carom_stream *stream, double least, double most) {
    return pow(10, least + (most - least) * carom_stream_uniform(stream));
}

// Sizes that differ by many orders of magnitude, integer entries, zeros: a contact is solved or refused, and never left unfinished.
static void extreme_contacts_are_solved_or_refused(void **state) {
    (void)state;
    const int contacts = support_count(2000, 50000, 1000000);
    int solved = 0;
    for (int i = 0; i < contacts; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 82, (uint64_t)i);
        const double scale[3] = {log_uniform(&stream, -5, 5), log_uniform(&stream, -5, 5), log_uniform(&stream, -3, 3)};
        const double shift = log_uniform(&stream, -12, 0);
        double A[9], W[9];
        for (int k = 0; k < 9; k++) A[k] = i % 5 ? carom_stream_normal(&stream) : support_random_integer(&stream, -1, 1);
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) W[3 * k + l] = (carom_dot3(A + 3 * k, A + 3 * l) + (k == l ? shift : 0)) * scale[k] * scale[l];
        carom_contact_problem p = {{W[0], W[1], W[4]}, {W[2], W[5]}, W[8], log_uniform(&stream, -8, 8), i % 7 ? 0.5 : i % 2, {{0, 0}, 0}};
        for (int k = 0; k < 2; k++) p.velocity.tangent[k] = (i + k) % 11 ? carom_stream_normal(&stream) * log_uniform(&stream, -6, 6) : 0;
        p.velocity.normal = i % 19 ? -log_uniform(&stream, -12, 3) : 0;
        carom_contact_options options = carom_contact_defaults();
        options.hypothesis = (carom_restitution)(i % 3);
        options.tangential = i % 2;
        carom_contact_result r;
        carom_error error;
        const carom_status status = carom_contact_solve(&p, &options, &r, &error);
        assert_true(status == CAROM_OK || status == CAROM_BAD_INPUT);
        if (status || r.status != CAROM_CONTACT_IMPACT) continue;
        assert_true(isfinite(r.impulse.normal + r.impulse.tangent[0] + r.impulse.tangent[1] + r.friction_work));
        assert_int_equal(r.events[strlen(r.events) - 1], 'r');
        solved++;
    }
    assert_true(solved > contacts / 2);
}

// ------------------------------------------------------------------------------------------------------------- the law

// scenes/ball.yaml: slip stops, so that It = -gamma-/3.5 per mass; the normal impulse is 1 + e.
static void the_ball_rolls_off(void **state) {
    (void)state;
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_scene_read("scenes/ball.yaml", registry, &scene, &error), error);
    carom_answer answer = support_ask(registry, carom_scene_impact(scene), "stronge", NULL);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE), 1.9, 1e-14);
    assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_IMPULSE), ((double[]){-1 / 3.5, -1.1 / 3.5}), 2, 1e-14);
    assert_string_equal(carom_table_text(answer.outcomes, carom_table_find(answer.outcomes, "course"), 0), "line+stick");
    carom_answer_free(&answer);
    carom_scene_free(scene);
}

// A body with full inertia, one contact: the law's outcome is that of its contact space.
static void the_law_solves_the_contact_of_an_impact(void **state) {
    (void)state;
    static const double mass[] = {2, 0, 0, 0, 1, 0, 0, 0, 1}, normal[] = {0, 0.3, 1}, tangent[] = {1, 0, 0.1, 0, 1, 0.2}, mu[] = {0.4},
                        e[] = {0.5}, v[] = {0.5, 0.2, -1};
    const carom_impact_data data = {3, 1, 2, mass, normal, tangent, mu, e, v, NULL};
    carom_impact *impact = support_impact(&data);
    carom_contact_problem problem;
    double u[3];
    carom_impact_contact_velocity(impact, v, u);
    carom_contact_extract(impact, 0, u, &problem);
    assert_close(problem.tangential[0], 0.5 + 0.01, 1e-15);
    assert_close(problem.coupling[1], 0.3 + 0.2, 1e-15);
    assert_close(problem.velocity.tangent[0], 0.4, 1e-15);
    const carom_contact_result r = solve_with(&problem, CAROM_RESTITUTION_STRONGE, 1e-12);
    carom_answer answer = support_ask(registry, impact, "stronge", NULL);
    assert_true(carom_answer_complete(&answer));
    assert_int_equal(carom_table_rows(answer.outcomes), 1);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE), r.impulse.normal, 1e-15);
    assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_VELOCITY), r.velocity.tangent, 2, 1e-14);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY), r.velocity.normal, 1e-14);
    const int events = carom_table_find(answer.outcomes, "events"), rays = carom_table_find(answer.outcomes, "invariant_directions");
    assert_string_equal(carom_table_text(answer.outcomes, events, 0), r.events);
    int numbers;
    carom_table_series(answer.outcomes, rays, 0, &numbers);
    assert_true(numbers == 6 || numbers == 12);
    carom_answer_free(&answer);

    // The option wins over the impact's coefficient, and the hypothesis is passed on.
    answer = support_ask(registry, impact, "stronge", (const char *[]){"restitution", "0.75", "hypothesis", "newton", NULL});
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY), -0.75 * u[0], 1e-12);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static void a_contact_is_chosen_by_name(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const carom_law *law = carom_law_find(registry, "stronge");
    carom_answer answer;
    carom_error error;
    assert_refused(carom_law_resolve(law, &(carom_law_call){.impact = impact}, &answer, &error), CAROM_BAD_INPUT, error,
                   "contact: the scene has 2 contacts");
    answer = support_ask(registry, impact, "stronge", (const char *[]){"contact", "B", NULL});
    int count;
    const int *word = carom_table_list(answer.outcomes, CAROM_OUTCOME_WORD, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(word[0], 1);
    const double *normal = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE);
    assert_true(normal[0] == 0 && normal[1] > 0);
    // The other corner approaches still.
    assert_false(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[0]);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// Three balls in a row, frictionless: elastic impacts hand the velocity on, plastic ones share it.
static void sequences_of_single_impacts_have_restitution(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, normal[] = {-1, 1, 0, 0, -1, 1}, v[] = {1, 0, 0};
    const carom_impact_data data = {3, 2, 1, mass, normal, NULL, NULL, NULL, v, NULL};
    carom_impact *impact = support_impact(&data);
    static const double elastic[] = {0, 0, 1}, half[] = {1. / 4, 3. / 16, 9. / 16};
    carom_answer answer =
        support_ask(registry, impact, "sequential", (const char *[]){"rule", "stronge", "restitution", "1", "order", "A,B", NULL});
    assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), elastic, 3, 1e-14);
    assert_string_equal(carom_table_text(answer.result, CAROM_RESULT_SELECTION, 0), "");
    carom_answer_free(&answer);
    // Two impacts at e = 1/2 leave (1/4, 3/16, 9/16), and then A is hit again.
    answer = support_ask(registry, impact, "sequential", (const char *[]){"rule", "stronge", "restitution", "0.5", "order", "A,B", NULL});
    int count;
    const int path = carom_table_find(answer.outcomes, "path");
    const double *velocities = carom_table_series(answer.outcomes, path, 0, &count);
    assert_close(velocities[2 * 4], half[1] - half[0], 1e-14);
    assert_close(velocities[2 * 4 + 2], half[2] - half[1], 1e-14);
    assert_true(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[0]);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// Where slip does not reverse within an impact, the inelastic rules agree.
static void inelastic_sequences_are_those_of_anitescu_potra(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_compass, &reference_disks};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        carom_answer step = support_ask(registry, impact, "sequential", NULL),
                     process = support_ask(registry, impact, "sequential", (const char *[]){"rule", "stronge", NULL});
        const int64_t rows = carom_table_rows(step.outcomes);
        assert_int_equal(carom_table_rows(process.outcomes), rows);
        assert_true(carom_answer_complete(&process));
        assert_all_close(carom_table_real_column(process.outcomes, CAROM_OUTCOME_VELOCITY),
                         carom_table_real_column(step.outcomes, CAROM_OUTCOME_VELOCITY), rows * scenes[i]->nv, 1e-10);
        carom_answer_free(&step);
        carom_answer_free(&process);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------- the set-valued model in the limit

// Largest distance of sampled contact velocities from the answer of `stronge`.
static double sampled_error(const carom_impact *impact, const char *step, const char *edges, const char *samples) {
    carom_answer sampled =
        support_ask(registry, impact, "halm-posa",
                    (const char *[]){"step", step, "cone_edges", edges, "max_steps", "1000000", "samples", samples, "seed", "5", NULL});
    carom_answer exact = support_ask(registry, impact, "stronge", NULL);
    const int64_t rows = carom_table_rows(sampled.outcomes);
    assert_true(rows > 0);
    const int nv = carom_impact_get_data(impact)->nv;
    const double *v = carom_table_real_column(sampled.outcomes, CAROM_OUTCOME_VELOCITY);
    const double *expected = carom_table_real_column(exact.outcomes, CAROM_OUTCOME_VELOCITY);
    double largest = 0;
    for (int64_t i = 0; i < rows * nv; i++) largest = fmax(largest, fabs(v[i] - expected[i % nv]));
    carom_answer_free(&sampled);
    carom_answer_free(&exact);
    return largest;
}

static carom_impact *contact_space(int dim, const double *W, const double *u, double friction) {
    const carom_delassus_data data = {1, dim, W, u, &friction, NULL, NULL};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    return impact;
}

// One planar contact, e = 0, slip that reverses: the impact inclusion has one solution, and samples approach it as h.
static void planar_samples_converge_with_the_step(void **state) {
    (void)state;
    static const double W[] = {2, 1.5, 1.5, 1.5}, u[] = {-1, -0.2};
    carom_impact *impact = contact_space(1, W, u, 0.5);
    const double coarse = sampled_error(impact, "0.01", "4", "32"), middle = sampled_error(impact, "0.001", "4", "32"),
                 fine = sampled_error(impact, "0.0001", "4", "32");
    assert_true(fine < 1e-4);
    assert_true(log10(coarse / middle) > 0.7 && log10(coarse / middle) < 1.3);
    assert_true(log10(middle / fine) > 0.7 && log10(middle / fine) < 1.3);
    carom_impact_free(impact);
}

// Spatial contacts, e = 0: the error falls with the square of the number of cone edges, when steps are small enough not to matter.
// Measured over twelve contacts and 8 to 64 edges: order 1.9.
static void spatial_samples_converge_with_the_cone(void **state) {
    (void)state;
    enum { LEVELS = 3 };
    static const char *const edges[LEVELS] = {"8", "16", "32"};
    const int contacts = support_count(2, 6, 12);
    double logarithms[LEVELS] = {0};
    for (int i = 0; i < contacts; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 81, (uint64_t)i);
        const carom_contact_problem p = random_contact(&stream, 0.2, 0.6);
        const double *B = p.tangential, *d = p.coupling;
        const double W[9] = {p.normal, d[0], d[1], d[0], B[0], B[1], d[1], B[1], B[2]};
        const double u[3] = {-1, p.velocity.tangent[0], p.velocity.tangent[1]};
        carom_impact *impact = contact_space(2, W, u, p.friction);
        char step[32];
        snprintf(step, sizeof step, "%.6g", 3e-4 / p.normal);
        for (int k = 0; k < LEVELS; k++) logarithms[k] += log2(sampled_error(impact, step, edges[k], "2")) / contacts;
        carom_impact_free(impact);
    }
    const double order = (logarithms[0] - logarithms[LEVELS - 1]) / (LEVELS - 1);
    assert_true(logarithms[LEVELS - 1] < -10);
    assert_true(order > 1.2 && order < 2.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_reproduced),
        cmocka_unit_test(hypotheses_differ),
        cmocka_unit_test(recompression_pools_works),
        cmocka_unit_test(a_fan_stops_in_eleven_of_fifteen),
        cmocka_unit_test(the_default_tolerance_is_good_for_ten_digits),
        cmocka_unit_test(spheres_have_closed_forms),
        cmocka_unit_test(frictionless_contacts_have_closed_forms),
        cmocka_unit_test(isotropic_contacts_stop_in_time),
        cmocka_unit_test(planar_contacts_have_closed_forms),
        cmocka_unit_test(central_impacts_do_not_depend_on_friction),
        cmocka_unit_test(random_contacts_obey_mechanics),
        cmocka_unit_test(answers_are_equivariant),
        cmocka_unit_test(hodographs_contract),
        cmocka_unit_test(traces_lead_to_the_answer),
        cmocka_unit_test(invariant_directions_are_complete),
        cmocka_unit_test(published_directions_are_found),
        cmocka_unit_test(directions_merge_on_the_astroid),
        cmocka_unit_test(rays_are_straight),
        cmocka_unit_test(perfectly_plastic_contacts_stop),
        cmocka_unit_test(contacts_without_slip_stick_or_resume),
        cmocka_unit_test(jams_are_defined),
        cmocka_unit_test(what_does_not_approach_gets_no_impulse),
        cmocka_unit_test(planar_mechanisms_in_space_are_planar),
        cmocka_unit_test(bad_contacts_are_refused),
        cmocka_unit_test(sizes_of_units_do_not_matter),
        cmocka_unit_test(badly_scaled_contacts_end),
        cmocka_unit_test(unlimited_friction_has_a_limit),
        cmocka_unit_test(nearly_singular_contacts_are_refused),
        cmocka_unit_test(extreme_contacts_are_solved_or_refused),
        cmocka_unit_test(the_ball_rolls_off),
        cmocka_unit_test(the_law_solves_the_contact_of_an_impact),
        cmocka_unit_test(a_contact_is_chosen_by_name),
        cmocka_unit_test(sequences_of_single_impacts_have_restitution),
        cmocka_unit_test(inelastic_sequences_are_those_of_anitescu_potra),
        cmocka_unit_test(planar_samples_converge_with_the_step),
        cmocka_unit_test(spatial_samples_converge_with_the_cone),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
