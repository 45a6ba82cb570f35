// SPDX-License-Identifier: Apache-2.0
// One contact with friction and restitution: the published examples of Jia & Wang 2017 with exact events, and closed forms.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stronge_support.h"

// -------------------------------------------------------------------------------------------------- published examples

typedef struct example {
    const char *scene;
    carom_contact_problem problem;
    const char *events, *course;
    double event_impulses[5];
    double impulse[3];
} example;

// Fails unless the file in scenes/ describes this example.
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
    // The references have ten digits.
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
    };
    return cmocka_run_group_tests(tests, start, stop);
}
