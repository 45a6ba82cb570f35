// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of the scene reader share.
#ifndef CAROM_IO_INTERNAL_H
#define CAROM_IO_INTERNAL_H

#include "carom/io.h"
#include "carom/model.h"
#include "io/fields.h"

/// One key under `impact` or `simulate`, kept as text until a law or integrator asks for it.
typedef struct carom_scene_setting {
    const carom_node *node;
    const char *text;  ///< entries of a list with commas between them
} carom_scene_setting;

typedef struct carom_scene_settings {
    carom_registry_kind kind;  ///< of laws or integrators
    const char *chosen;        ///< the name of one; NULL when left out
    carom_scene_setting *items;
    int count;
} carom_scene_settings;

/// What `design` asks for.
typedef struct carom_scene_design {
    const carom_node *node;  ///< NULL: the scene has none
    int pairs, variables;
    const char *const *contacts;  ///< [2 pairs], names
    const char *const *free;      ///< [variables], names of coordinates and parameters
    const double *scale;          ///< [variables]; NULL: 1
    double target;
} carom_scene_design;

struct carom_scene {
    carom_document *document;  ///< owns every text below; numbers stay in it as they were written
    const char *name;
    char hash[CAROM_DIGEST_TEXT_SIZE];
    carom_impact *impact;  ///< NULL for a form that has none
    carom_body *body;
    carom_body_motion body_motion;
    carom_bodies_motion bodies_motion;
    carom_surface_law collisions;
    carom_model *model;    ///< NULL for a form without one
    carom_system *system;  ///< of a scene with 'model' that was read for an integrator
    carom_system *balls;   ///< of a scene with 'balls', likewise
    carom_motion motion;
    carom_error obstacle;         ///< why a scene with 'model' has no system
    bool moves;                   ///< read for an integrator
    const carom_node *compliant;  ///< the map of that name; NULL when left out
    carom_scene_settings impact_settings, simulate;
    carom_model_parameters parameters;
    carom_scene_design design;
    const char **warnings;
    int warning_count;
};

/// Adds "FILE:LINE: key.path: sentence" to the scene's warnings.
carom_status carom_scene_warn(carom_scene *scene, const carom_node *node, carom_error *error, const char *format, ...) CAROM_PRINTF(4, 5);

/// The path of a file that the scene names, relative to the scene file; to be freed. NULL when out of memory.
char *carom_scene_join_path(const carom_scene *scene, const char *path);

/// Each reads one form of scene and creates the scene's impact.
/// @param digest  receives the bytes of the file that the scene names, where it does
carom_status carom_scene_read_matrices(carom_scene *scene, const carom_node *matrices, carom_error *error);
carom_status carom_scene_read_delassus(carom_scene *scene, const carom_node *delassus, carom_digest *digest, carom_error *error);
carom_status carom_scene_read_balls(carom_scene *scene, const carom_node *balls, carom_error *error);
/// @param root    with the keys `model` (checked to be text), `state` and `contacts` (any form, or left out)
carom_status carom_scene_read_model(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error);

/// The keys of a scene of two bodies; NULL and 0 where left out.
typedef struct carom_scene_pair {
    const carom_node *bodies;  ///< a list of two
    const double *normal;      ///< [3]
    const double *tangents;    ///< [tangent_count x 3]
    int tangent_count;
    double friction, restitution;
} carom_scene_pair;

carom_status carom_scene_read_two_bodies(carom_scene *scene, const carom_scene_pair *pair, carom_error *error);

/// Reads `parameters`: a map of names and numbers.
carom_status carom_scene_read_parameters(carom_scene *scene, const carom_node *parameters, carom_error *error);
carom_status carom_scene_read_design(carom_scene *scene, const carom_node *design, carom_error *error);

/// The model of a scene at the scene's state, with these values of its parameters (NULL: the scene's).
/// @param digest  receives the bytes of the model file; may be NULL
carom_status carom_scene_load_model(carom_scene *scene, const double *parameters, carom_digest *digest, carom_model **model,
                                    carom_error *error);
/// The contacts of a scene that lists them, to be freed; names belong to the document.
carom_status carom_scene_list_contacts(carom_scene *scene, const carom_node *list, carom_model_contact **contacts, carom_error *error);

carom_status carom_scene_read_ball_data(carom_scene *scene, const carom_node *balls, carom_ball_data *data, carom_error *error);

/// Those that touch.
carom_status carom_scene_pair_balls(carom_scene *scene, const carom_node *balls, const carom_ball_data *data, carom_ball_pairs *pairs,
                                    carom_error *error);
/// The impact of these pairs, as if they touched. Contacts are called "1:2", by the numbers of the balls.
carom_status carom_ball_freeze(const carom_ball_data *data, const carom_ball_pairs *pairs, carom_impact **impact, carom_error *error);

/// Says in `text` how asymmetric W [size x size] is, to follow its name; false when that is round-off.
bool carom_asymmetry_describe(int size, const double *W, char text[CAROM_MESSAGE_SIZE]);

/// Keys of the form with one body above one plane, as parts of a scene's top level.
typedef struct carom_scene_body_fields {
    const carom_node *body, *plane, *initial;  ///< maps; NULL when left out
    double gravity;
} carom_scene_body_fields;

/// Reads one body above one plane.
carom_status carom_scene_read_body(carom_scene *scene, const carom_scene_body_fields *fields, carom_error *error);

/// Keys of the form with many bodies, as parts of a scene's top level; NULL when left out.
typedef struct carom_scene_bodies_fields {
    const carom_node *bodies, *potentials, *walls, *collisions;
} carom_scene_bodies_fields;

/// Reads many bodies.
carom_status carom_scene_read_bodies(carom_scene *scene, const carom_scene_bodies_fields *fields, carom_error *error);

/// Reads `impact` or `simulate`: the law or integrator, and settings that some one of the registry accepts.
carom_status carom_scene_read_settings(carom_scene *scene, carom_scene_settings *settings, const carom_node *map,
                                       const carom_registry *registry, carom_error *error);

#endif
