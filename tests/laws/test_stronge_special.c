// SPDX-License-Identifier: Apache-2.0
// One contact with friction and restitution: special cases, extreme numbers, and what is refused.
#include <math.h>
#include <string.h>

#include "stronge_support.h"

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

// The caller chooses the units: contacts whose numbers are all tiny or all huge are solved like any other.
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

// The energy of a contact velocity needs the inverse of W, so a contact whose W is nearly singular is refused, although an impact allows
// it.
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

int main(void) {
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
