// SPDX-License-Identifier: Apache-2.0
// What `auto` stands for: proofs that v' is unique, against enumeration.
#include <math.h>

#include "carom/step.h"
#include "support.h"

static bool is_unique(const carom_impact *impact) {
    bool unique;
    carom_error error;
    assert_ok(carom_step_prove_unique(impact, CAROM_MIN_CONE_EDGES, &unique, &error), error);
    return unique;
}

static carom_selection resolved(const carom_impact *impact) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    carom_selection selection;
    carom_error error;
    assert_ok(carom_step_selection_auto(impact, &options, &selection, &error), error);
    return selection;
}

static carom_stepper *lister(const carom_impact *impact) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    options.selection = CAROM_SELECT_ALL;
    carom_stepper *stepper;
    carom_error error;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    return stepper;
}

static carom_status count_one(void *user, const double *v, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)v, (void)impulse, (void)info, (void)error;
    ++*(int *)user;
    return CAROM_OK;
}

static int count_solutions(carom_stepper *stepper, const double *v, const double *lmax) {
    int count = 0;
    bool complete;
    carom_error error;
    assert_ok(carom_stepper_enumerate(stepper, v, lmax, count_one, &count, &complete, &error), error);
    return count;
}

// Halm & Posa, section 6: the block's steps have one solution, most of the compass gait's and of RAMone's have three.
static void scenes_are_judged(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        carom_selection selection;
    } scenes[] = {{&reference_block, CAROM_SELECT_ANY},
                  {&reference_compass, CAROM_SELECT_RANDOM},
                  {&reference_ramone, CAROM_SELECT_RANDOM},
                  {&reference_disks, CAROM_SELECT_SCATTERED}};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        carom_impact *impact = support_impact(scenes[k].data);
        assert_int_equal(resolved(impact), scenes[k].selection);
        carom_impact_free(impact);
    }
}

// One planar contact: unique exactly where W_nn > mu |W_nt| (no Painleve's paradox).
static void one_contact_has_a_closed_form(void **state) {
    (void)state;
    const double normal[] = {1, 0}, tangent[] = {0, 1}, velocity[] = {-1, 0.2};
    for (int k = -4; k <= 4; k++) {
        // M^-1 = [[1, c], [c, 1]], and mu = 2: c = 1/2 divides.
        const double c = 0.2 * k, scale = 1 / (1 - c * c), mass[] = {scale, -c * scale, -c * scale, scale}, friction[] = {2};
        carom_impact *impact = support_impact(&(carom_impact_data){.nv = 2,
                                                                   .contacts = 1,
                                                                   .tangent_dim = 1,
                                                                   .mass = mass,
                                                                   .normal = normal,
                                                                   .tangent = tangent,
                                                                   .friction = friction,
                                                                   .velocity = velocity});
        assert_int_equal(is_unique(impact), 2 * fabs(c) < 1);
        carom_impact_free(impact);
    }
}

// Where the proof succeeds, enumeration finds one v' from every velocity that impulses in the friction cones lead to.
static void proved_steps_have_one_solution(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 71, 5);
    int proved = 0, asked = 0;
    for (int i = 0; i < support_count(60, 300, 3000); i++) {
        const int dim = 1 + i % 5 / 4;
        carom_impact *impact = support_random_impact(&stream, (support_family)(i % FAMILIES), dim == 1 ? 3 : 1, dim, i % 2 ? 0.3 : 1.5);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const int n = carom_impact_contact_size(impact);
        asked++;
        if (is_unique(impact)) {
            proved++;
            carom_stepper *stepper = lister(impact);
            for (int k = 0; k < 30; k++) {
                double impulse[16] = {0}, v[16], lmax[4];
                for (int c = 0; c < data->contacts; c++) {
                    const int row = c * (1 + dim);
                    impulse[row] = 2 * carom_stream_uniform(&stream);
                    impulse[row + 1] = data->friction[c] * impulse[row] * (2 * carom_stream_uniform(&stream) - 1);
                    lmax[c] = carom_stream_uniform(&stream);
                }
                assert_true(n <= 16 && data->nv <= 16);
                carom_impact_apply(impact, data->velocity, impulse, v);
                assert_true(count_solutions(stepper, v, lmax) <= 1);
            }
            carom_stepper_free(stepper);
        }
        carom_impact_free(impact);
    }
    assert_true(3 * proved > asked);
}

// A contact given twice: its impulses are undetermined, but v' is the same. Slips in opposite directions exist for u alone, not for u = J
// v.
static void redundant_contacts_can_be_proved(void **state) {
    (void)state;
    const double mass[] = {1, 0, 0, 1}, normal[] = {1, 0, 1, 0}, tangent[] = {0, 1, 0, 1}, friction[] = {0.5, 0.5};
    const double velocity[] = {-1, 0.3};
    carom_impact *impact = support_impact(&(carom_impact_data){.nv = 2,
                                                               .contacts = 2,
                                                               .tangent_dim = 1,
                                                               .mass = mass,
                                                               .normal = normal,
                                                               .tangent = tangent,
                                                               .friction = friction,
                                                               .velocity = velocity});
    assert_true(is_unique(impact));
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_are_judged),
        cmocka_unit_test(one_contact_has_a_closed_form),
        cmocka_unit_test(proved_steps_have_one_solution),
        cmocka_unit_test(redundant_contacts_can_be_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
