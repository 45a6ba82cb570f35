// SPDX-License-Identifier: Apache-2.0
// Joint contact modes: of exact sets, whose list is certified, and of samples, which must be on it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/joint_modes.h"
#include "exact_support.h"

static carom_joint_modes *exact_modes(const carom_impact *impact) {
    carom_joint_modes *modes;
    carom_error error;
    assert_ok(carom_joint_modes_create(impact, &modes, &error), error);
    carom_exact_options options = carom_exact_defaults();
    options.modes = modes;
    carom_exact_set *set = solve(impact, &options);
    assert_int_equal(set->status, CAROM_EXACT_OK);
    carom_exact_set_free(set);
    return modes;
}

// The motions as initials, "sl" for stick and lift.
static const carom_joint_mode *find_mode(const carom_joint_modes *modes, const char *initials) {
    for (int i = 0; i < modes->count; i++) {
        bool same = true;
        for (int k = 0; k < modes->sizes.contacts; k++)
            same &= *carom_contact_motion_name((carom_contact_motion)modes->modes[i].motions[k]) == initials[k];
        if (same) return modes->modes + i;
    }
    return NULL;
}

static void assert_range(const double *range, double least, double most, double tolerance) {
    assert_close(range[0], least, tolerance);
    assert_close(range[1], most, tolerance);
}

// Each witness is strictly in its mode, within the round-off of doubles.
static void check_witnesses(const carom_impact *impact, const carom_joint_modes *modes) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    for (int i = 0; i < modes->count; i++)
        for (int k = 0; k < data->contacts; k++) {
            double normal = 0, tangent = 0;
            for (int j = 0; j < data->nv; j++) {
                normal += data->normal[k * data->nv + j] * modes->modes[i].witness[j];
                tangent += data->tangent[k * data->nv + j] * modes->modes[i].witness[j];
            }
            const carom_contact_motion motion = (carom_contact_motion)modes->modes[i].motions[k];
            assert_true(motion == CAROM_MOTION_LIFT ? normal > 1e-6 : fabs(normal) < 1e-12);
            if (motion == CAROM_MOTION_STICK) assert_true(fabs(tangent) < 1e-12);
            if (motion == CAROM_MOTION_FORWARD) assert_true(tangent > 1e-6);
            if (motion == CAROM_MOTION_BACKWARD) assert_true(tangent < -1e-6);
        }
}

// --------------------------------------------------------------------------------------------------- reference modes

static void block_rests_or_lifts_a_corner(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    carom_joint_modes *modes = exact_modes(impact);
    assert_int_equal(modes->count, 3);
    assert_non_null(find_mode(modes, "ss"));
    assert_int_equal(find_mode(modes, "ss")->count, 2);
    assert_range(find_mode(modes, "sl")->normal + 2, 0, .093009, 1e-15);
    assert_range(find_mode(modes, "ls")->normal, 0, .093009, 1e-15);
    check_witnesses(impact, modes);
    carom_joint_modes_free(modes);
    carom_impact_free(impact);
}

// The leading foot A sticks only above 1.949261; the trailing foot may stick, slide or lift only above 3.040506.
static void compass_gait_changes_its_modes_with_friction(void **state) {
    (void)state;
    const struct {
        const char *friction;
        bool foot_sticks, has_several;
    } cases[] = {{"1.94 1.94", false, false}, {"1.96 1.96", true, false}, {"3.04 3.04", true, false}, {"3.05 3.05", true, true}};
    for (int i = 0; i < 4; i++) {
        text_scene scene = compass;
        scene.friction = cases[i].friction;
        carom_impact *impact = make_impact(&scene);
        carom_joint_modes *modes = exact_modes(impact);
        bool sticks = false;
        for (int k = 0; k < modes->count; k++) sticks |= modes->modes[k].motions[0] == CAROM_MOTION_STICK;
        assert_int_equal(sticks, cases[i].foot_sticks);
        assert_int_equal(modes->count > 1, cases[i].has_several);
        check_witnesses(impact, modes);
        carom_joint_modes_free(modes);
        carom_impact_free(impact);
    }
}

// -------------------------------------------------------------------------------------------------------- invariants

// The other order of contacts, and the mirror image, name the same modes.
static void order_and_mirror_change_names_only(void **state) {
    (void)state;
    text_scene mirrored = boxwall;
    mirrored.tangent = "-1 0 -5680703/9807370 0 -1 -5680703/9807370";
    text_scene swapped = boxwall;
    swapped.normal = "-1 0 3977671/9807370 0 1 3977671/9807370";
    swapped.tangent = "0 1 5680703/9807370 1 0 5680703/9807370";
    carom_impact *impacts[] = {make_impact(&boxwall), make_impact(&mirrored), make_impact(&swapped)};
    carom_joint_modes *modes[3];
    for (int i = 0; i < 3; i++) modes[i] = exact_modes(impacts[i]);
    assert_int_equal(modes[0]->count, 3);
    assert_int_equal(modes[1]->count, 3);
    assert_int_equal(modes[2]->count, 3);
    const carom_joint_mode *slides = find_mode(modes[0], "fl"), *image = find_mode(modes[1], "bl"), *other = find_mode(modes[2], "lf");
    assert_true(slides && image && other);
    assert_range(image->tangent, -slides->tangent[1], -slides->tangent[0], 1e-14);
    assert_range(other->normal, slides->normal[2], slides->normal[3], 1e-14);
    for (int i = 0; i < 3; i++) {
        carom_joint_modes_free(modes[i]);
        carom_impact_free(impacts[i]);
    }
}

// Walks are solutions of the inclusion: what they are seen in is certified, with ranges inside those of the set. Modes that only points at
// the edge of a set are in may be missed.
static void walks_are_seen_in_certified_modes(void **state) {
    (void)state;
    const text_scene *scenes[] = {&block, &boxwall, &compass};
    for (int s = 0; s < 3; s++) {
        carom_impact *impact = make_impact(scenes[s]);
        carom_joint_modes *certified = exact_modes(impact), *seen;
        carom_error error;
        assert_ok(carom_joint_modes_create(impact, &seen, &error), error);
        // Walks stop contacts exactly: less counts as rest than in time stepping, and no slow slip is taken for it.
        seen->tolerance = 1e-11;
        carom_halm_posa_options options = carom_halm_posa_defaults();
        options.sampler = CAROM_SAMPLER_WALK;
        options.samples = 1 << 14;
        const carom_sink sink = carom_joint_modes_sink(seen);
        carom_answer answer;
        const carom_law_call call = {.impact = impact, .options = &options, .sink = &sink};
        assert_ok(carom_law_resolve(&carom_law_halm_posa, &call, &answer, &error), error);
        assert_int_equal(seen->unfinished, 0);
        assert_in_range(seen->count, 2, certified->count);
        int64_t outcomes = 0;
        for (int i = 0; i < seen->count; i++) {
            const carom_joint_mode *mode = seen->modes + i, *proved = NULL;
            for (int k = 0; k < certified->count && !proved; k++)
                if (!memcmp(certified->modes[k].motions, mode->motions, 2)) proved = certified->modes + k;
            assert_non_null(proved);
            for (int k = 0; k < 2; k++) {
                assert_true(mode->normal[2 * k] >= proved->normal[2 * k] - 1e-9 &&
                            mode->normal[2 * k + 1] <= proved->normal[2 * k + 1] + 1e-9);
                assert_true(mode->tangent[2 * k] >= proved->tangent[2 * k] - 1e-9 &&
                            mode->tangent[2 * k + 1] <= proved->tangent[2 * k + 1] + 1e-9);
            }
            outcomes += mode->count;
        }
        assert_int_equal(outcomes, options.samples);
        carom_answer_free(&answer);
        carom_joint_modes_free(seen);
        carom_joint_modes_free(certified);
        carom_impact_free(impact);
    }
}

// -------------------------------------------------------------------------------------------------------- interruption

// A run that is told to stop when it asks for the n-th time.
typedef struct patience {
    int asked, left;
} patience;

static bool is_over(void *user) {
    patience *waits = user;
    return ++waits->asked > waits->left;
}

// Wherever a run is stopped, it says so and keeps an inner set. Modes are those of a set that is complete.
static void a_stopped_run_is_incomplete(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    carom_joint_modes *whole = exact_modes(impact), *modes;
    patience waits = {0, 0};
    bool stopped_in_modes = false;
    do {
        carom_error error;
        carom_exact_set *set;
        waits.asked = 0;
        const carom_control control = {.cancelled = is_over, .user = &waits};
        carom_exact_options options = carom_exact_defaults();
        assert_ok(carom_joint_modes_create(impact, &modes, &error), error);
        options.modes = modes;
        assert_ok(carom_exact_solve(impact, &options, &control, &set, &error), error);
        const bool stopped = waits.asked > waits.left;
        assert_int_equal(set->status, stopped ? CAROM_EXACT_INCOMPLETE : CAROM_EXACT_OK);
        assert_int_equal(strncmp(set->reason, "the run was stopped before ", 27) == 0, stopped);
        assert_string_equal(set->certificate, !set->pieces->count ? "none" : stopped ? "inner" : "exact");
        if (stopped && !strstr(set->reason, "joint modes")) assert_int_equal(modes->count, 0);
        if (stopped && strstr(set->reason, "joint modes")) stopped_in_modes = true;
        if (!stopped) assert_int_equal(modes->count, whole->count);
        carom_exact_set_free(set);
        carom_joint_modes_free(modes);
    } while (waits.asked > waits.left++);
    assert_true(stopped_in_modes);
    carom_joint_modes_free(whole);
    carom_impact_free(impact);
}

int main(void) {
    if (!carom_exact_available()) return skip_all();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_rests_or_lifts_a_corner),      cmocka_unit_test(compass_gait_changes_its_modes_with_friction),
        cmocka_unit_test(order_and_mirror_change_names_only), cmocka_unit_test(walks_are_seen_in_certified_modes),
        cmocka_unit_test(a_stopped_run_is_incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
