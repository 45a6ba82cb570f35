// SPDX-License-Identifier: Apache-2.0
/// @file
/// A scene as a function of named numbers: what the files that evaluate and write it share.
#ifndef CAROM_IO_SCENE_FAMILY_H
#define CAROM_IO_SCENE_FAMILY_H

#include "io/io_internal.h"

struct carom_family {
    carom_scene *scene;
    carom_arena arena;  // every array below
    int variables, contacts;
    bool *is_parameter;     // [variables] the variable is a parameter, not a coordinate
    int *index;             // [variables] its place in the position or among the parameters
    double *start, *scale;  // [variables]
    int *pairs;             // [2 x pairs of the design] contacts
    // Current values.
    int position_size, parameter_count;
    double *position, *parameters;
    double *reference;  // [contacts] distances of the scene
    // Models.
    carom_model_contact *model_contacts;
    carom_model *model;  // compiled with the parameters `loaded`
    double *loaded;      // [parameter_count]
    // Balls.
    carom_ball_data balls;  // its masses and positions are the arrays above
    carom_ball_pairs *touching;
    const char **mass_names;
    char (*mass_texts)[16];
};

/// Puts x into position and parameters.
void carom_family_place(carom_family *family, const double *x);

#endif
