// SPDX-License-Identifier: Apache-2.0
// One contact with friction and restitution: laws of mechanics on random contacts, and invariant directions.
#include <math.h>
#include <string.h>

#include "stronge_support.h"

// ----------------------------------------------------------------------------------------------------- laws of mechanics

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_contacts_obey_mechanics),
        cmocka_unit_test(answers_are_equivariant),
        cmocka_unit_test(hodographs_contract),
        cmocka_unit_test(traces_lead_to_the_answer),
        cmocka_unit_test(invariant_directions_are_complete),
        cmocka_unit_test(published_directions_are_found),
        cmocka_unit_test(directions_merge_on_the_astroid),
        cmocka_unit_test(rays_are_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
