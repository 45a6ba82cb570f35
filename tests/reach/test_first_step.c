// SPDX-License-Identifier: Apache-2.0
// Assumption 6 at the first step: it fails on the compass gait and RAMone, which have three velocities (Halm & Posa, section 6 of our
// notes), and holds on block and box-wall.
#include <math.h>
#include <string.h>

#include "support.h"

static carom_first_step ask(const carom_impact_data *data) {
    carom_impact *impact = support_impact(data);
    carom_first_step first;
    carom_error error;
    assert_ok(carom_reach_first_step(impact, 4, NULL, &first, &error), error);
    carom_impact_free(impact);
    return first;
}

static void known_scenes_are_judged(void **state) {
    (void)state;
    static const carom_impact_data *const several[] = {&reference_compass, &reference_ramone};
    for (int i = 0; i < 2; i++) {
        const carom_first_step first = ask(several[i]);
        assert_int_equal(first.verdict, CAROM_FIRST_STEP_SEVERAL);
        assert_int_equal(first.most, 3);
        assert_int_equal(first.sets, 7);
        assert_true(first.several >= 4);
        assert_non_null(strstr(first.by, "3 velocities"));
    }
    static const carom_impact_data *const one[] = {&reference_block, &reference_boxwall};
    for (int i = 0; i < 2; i++) {
        const carom_first_step first = ask(one[i]);
        assert_int_equal(first.verdict, CAROM_FIRST_STEP_ONE);
        assert_int_equal(first.most, 1);
        assert_int_equal(first.several, 0);
        assert_non_null(strstr(first.by, "7 choices"));
    }
    // Seven modes to the fifth power are not listed.
    const carom_first_step disks = ask(&reference_disks);
    assert_int_equal(disks.verdict, CAROM_FIRST_STEP_UNDECIDED);
    assert_int_equal(disks.sets, 0);
}

// Without friction, and without an approaching contact, nothing has to be listed, however many contacts there are.
static void plain_impacts_need_no_list(void **state) {
    (void)state;
    static const double zeros[16];
    carom_impact_data smooth = reference_disks;
    smooth.friction = zeros;
    assert_int_equal(ask(&smooth).verdict, CAROM_FIRST_STEP_ONE);
    assert_non_null(strstr(ask(&smooth).by, "convex"));
    carom_impact_data resting = reference_disks;
    resting.velocity = zeros;
    assert_int_equal(ask(&resting).verdict, CAROM_FIRST_STEP_ONE);
    assert_non_null(strstr(ask(&resting).by, "no contact approaches"));
}

// The answer does not change with units of mass and speed, nor with the order of contacts.
static void units_and_order_do_not_matter(void **state) {
    (void)state;
    const carom_impact_data *data[] = {&reference_block, &reference_compass, &reference_ramone, &reference_boxwall};
    for (int d = 0; d < 4; d++) {
        const carom_first_step first = ask(data[d]);
        const int nv = data[d]->nv;
        double mass[64], v[8], normal[16], tangent[16];
        for (int unit = 0; unit < 3; unit++) {
            static const double masses[] = {0.1, 3, 64}, speeds[] = {7, 0.3, 1};
            for (int i = 0; i < nv * nv; i++) mass[i] = masses[unit] * data[d]->mass[i];
            for (int i = 0; i < nv; i++) v[i] = speeds[unit] * data[d]->velocity[i];
            for (int c = 0; c < 2; c++) {
                memcpy(normal + c * nv, data[d]->normal + (1 - c) * nv, (size_t)nv * sizeof *normal);
                memcpy(tangent + c * nv, data[d]->tangent + (1 - c) * nv, (size_t)nv * sizeof *tangent);
            }
            carom_impact_data other = *data[d];
            other.mass = mass;
            other.velocity = v;
            other.normal = normal;
            other.tangent = tangent;
            const carom_first_step scaled = ask(&other);
            assert_int_equal(scaled.verdict, first.verdict);
            assert_int_equal(scaled.several, first.several);
            assert_int_equal(scaled.most, first.most);
        }
    }
}

static bool always(void *user) {
    (void)user;
    return true;
}

static void refusals_and_interruption(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_boxwall);
    carom_first_step first;
    carom_error error;
    const carom_control control = {.cancelled = always};
    assert_ok(carom_reach_first_step(impact, 4, &control, &first, &error), error);
    assert_int_equal(first.verdict, CAROM_FIRST_STEP_UNDECIDED);
    assert_non_null(strstr(first.by, "not proved"));
    carom_impact_free(impact);
    carom_stream stream;
    carom_stream_start(&stream, 1, 0);
    carom_impact *spatial = support_random_impact(&stream, FAMILY_PLAIN, 2, 2, 1);
    assert_refused(carom_reach_first_step(spatial, 5, NULL, &first, &error), CAROM_BAD_INPUT, error, "even");
    carom_impact_free(spatial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_scenes_are_judged),
        cmocka_unit_test(plain_impacts_need_no_list),
        cmocka_unit_test(units_and_order_do_not_matter),
        cmocka_unit_test(refusals_and_interruption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
