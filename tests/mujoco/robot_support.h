// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of robots share: detecting contacts, warnings, and the outcome of an impact.
#ifndef CAROM_TESTS_ROBOT_SUPPORT_H
#define CAROM_TESTS_ROBOT_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "models.h"

// ------------------------------------------------------------------------------------------------------------ helpers

static inline carom_impact *detect(carom_model *model) {
    carom_error error;
    carom_impact *impact;
    assert_ok(carom_model_detect(model, NULL, &impact, &error), error);
    return impact;
}

static inline void set_velocity(carom_model *model, const double *qvel) {
    carom_error error;
    assert_ok(carom_model_set_state(model, NULL, 0, qvel, carom_model_nv(model), &error), error);
}

static inline void assert_detection_refused(carom_model *model, const char *message) {
    carom_error error;
    carom_impact *impact = (carom_impact *)&error;
    assert_refused(carom_model_detect(model, NULL, &impact, &error), CAROM_BAD_INPUT, error, message);
    assert_null(impact);
}

/// The model loads, but detecting its contacts is refused with this message.
static inline void assert_text_refused(const char *text, const char *message) {
    fixture f = load_text(text);
    assert_detection_refused(f.model, message);
    free_fixture(&f);
}

/// Some warning of the model contains the text.
static inline bool warns(const carom_model *model, const char *text) {
    for (int i = 0; i < carom_model_warnings(model); i++) {
        if (strstr(carom_model_warning(model, i), text)) return true;
    }
    return false;
}

static inline carom_model_contact site_contact(const char *name, const char *site) {
    return (carom_model_contact){
        .name = name, .places = 1, .place = {{.kind = CAROM_PLACE_SITE, .name = site}}, .normal = {0, 0, 1}, .friction = 0.5};
}

/// v+ of the one outcome of a law, [nv], freed by the caller.
static inline double *resolve(const carom_impact *impact) {
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_stepper_options options;
    const carom_step_choice choice = carom_step_choice_defaults();
    assert_ok(carom_step_choice_resolve(&choice, CAROM_STEP_SIMULTANEOUS, registry, &options, &error), error);
    carom_stepper *stepper;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    double *v_plus = malloc((size_t)carom_impact_sizes(impact).nv * sizeof *v_plus);
    double *impulse = malloc((size_t)carom_impact_contact_size(impact) * sizeof *impulse);
    carom_step_info info;
    carom_stepper_solve(stepper, carom_impact_get_data(impact)->velocity, NULL, v_plus, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    free(impulse);
    carom_stepper_free(stepper);
    carom_registry_free(registry);
    return v_plus;
}

// ---------------------------------------------------------------------------------------------------- detected contacts

#define FLOOR "<geom name='floor' type='plane' size='5 5 1'/>"
#define CUBE(attributes)                                                                                                                   \
    "<body name='cube' pos='0 0 0.5'><freejoint/><geom name='cube' type='box' size='0.5 0.5 0.5' mass='1' " attributes "/>"                \
    "<site name='pp' pos='0.5 0.5 -0.5'/><site name='mp' pos='-0.5 0.5 -0.5'/><site name='pm' pos='0.5 -0.5 -0.5'/>"                       \
    "<site name='mm' pos='-0.5 -0.5 -0.5'/></body>"

#endif
