// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of MuJoCo models share: models of bodies in the plane and in space, their contacts, and refusals.
#ifndef CAROM_TESTS_MODEL_SUPPORT_H
#define CAROM_TESTS_MODEL_SUPPORT_H

#include "models.h"

#define PI 3.14159265358979323846

/// A body that slides in x and z and turns about y, with what a test adds to its body, and to the model.
#define PLANAR_MODEL(in_body, in_model)                                                                                                    \
    "<mujoco><worldbody><body name='box' pos='0 0 1'><joint name='x' type='slide' axis='1 0 0'/>"                                          \
    "<joint name='z' type='slide' axis='0 0 1'/><joint name='turn' type='hinge' axis='0 1 0'/>"                                            \
    "<inertial pos='0.1 0 0' mass='2' diaginertia='0.3 0.2 0.25'/><site name='corner' pos='0.5 0 -0.5'/>" in_body "</body>"                \
    "</worldbody>" in_model "</mujoco>"

/// Two bodies, free in space and with a ball joint, and an arm on the second.
static const char spatial_model[] =
    "<mujoco><worldbody>"
    "<body name='drone' pos='0 0 2'><freejoint/><inertial pos='0.1 0.2 -0.1' mass='1.5' diaginertia='0.3 0.2 0.25'/>"
    "<site name='leg' pos='0.3 -0.2 -0.4'/></body>"
    "<body name='pendulum' pos='1 0 3'><joint type='ball'/><inertial pos='0 0 -0.5' mass='0.7' diaginertia='0.1 0.12 0.08'/>"
    "<body name='arm' pos='0 0 -1'><joint type='hinge' axis='1 2 0'/><inertial pos='0 0.3 0' mass='0.4' diaginertia='0.02 0.03 0.04'/>"
    "<site name='hand' pos='0.1 0.5 -0.2'/></body></body>"
    "</worldbody></mujoco>";

/// A contact of a site with the ground.
static inline carom_model_contact ground_contact(const char *name, const char *site) {
    return (carom_model_contact){
        .name = name, .places = 1, .place = {{.kind = CAROM_PLACE_SITE, .name = site}}, .normal = {0, 0, 1}, .friction = 0.5};
}

static inline void assert_contact_refused(carom_model *model, carom_model_contact contact, const char *message) {
    carom_error error;
    carom_impact *impact = (carom_impact *)&error;
    assert_refused(carom_model_freeze(model, &contact, 1, &impact, &error), CAROM_BAD_INPUT, error, message);
    assert_null(impact);
}

#endif
