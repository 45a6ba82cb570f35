// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of the scene reader share.
#ifndef CAROM_IO_INTERNAL_H
#define CAROM_IO_INTERNAL_H

#include "carom/io.h"
#include "carom/model.h"
#include "carom/uncertain.h"
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
    carom_impact *whole;   ///< of all contacts of the system; NULL where those are the ones of `impact`
    carom_body *body;
    carom_body_motion body_motion;
    carom_bodies_motion bodies_motion;
    carom_surface_law collisions;
    carom_model *model;                  ///< NULL for a form without one
    carom_system *system;                ///< of a scene with 'model' that was read for an integrator
    carom_system *balls;                 ///< of a scene with 'balls' that was read for an integrator
    carom_mechanism *mechanism;          ///< of a scene with 'model' that was read for an integrator of mechanisms
    carom_detection detection;           ///< that the mechanism refers to
    const carom_integrator *integrator;  ///< that the scene is read for; NULL: none is named
    carom_ball_data ball_data;           ///< of a scene with 'balls'; count 0: it has none
    carom_two_bodies_data pair;          ///< of a scene with 'two_bodies'; tangent_dim 0: it has none
    carom_motion motion;
    carom_error obstacle;         ///< why a scene with 'model' has no system
    bool moves;                   ///< read for an integrator
    const carom_node *compliant;  ///< the map of that name; NULL when left out
    carom_scene_settings impact_settings, simulate;
    carom_model_parameters parameters;
    carom_model_options model_options;  ///< how the model file is read, without parameters
    carom_ground ground;                ///< that model_options may point to
    carom_scene_design design;
    carom_uncertainty *uncertainty;  ///< NULL: every number of the impact is known
    struct carom_scene_pose *pose;   ///< that the uncertainty may move; NULL: it is known
    const char **warnings;
    int warning_count;
    const char **notes;
    int note_count;
};

/// Adds "FILE:LINE: key.path: sentence" to the scene's warnings; "FILE: sentence" without a node.
carom_status carom_scene_warn(carom_scene *scene, const carom_node *node, carom_error *error, const char *format, ...) CAROM_PRINTF(4, 5);

/// Adds a sentence to the scene's notes.
carom_status carom_scene_note(carom_scene *scene, carom_error *error, const char *format, ...) CAROM_PRINTF(3, 4);

/// Whether a file is a model in place of a scene.
/// @param text  ends with NUL
/// @return CAROM_BAD_INPUT for XML that is no model
carom_status carom_scene_recognise(const char *path, const char *text, bool *bare, carom_error *error);
/// The model and the impact of a scene that is one.
carom_status carom_scene_read_bare(carom_scene *scene, carom_error *error);

/// The path of a file that the scene names, relative to the scene file; to be freed. NULL when out of memory.
char *carom_scene_join_path(const carom_scene *scene, const char *path);

/// A form of scene as a table row: the way in which a scene describes what collides or moves.
typedef struct carom_scene_form {
    const char *key;         ///< whose presence makes a scene one of this form
    carom_field_table keys;  ///< of the top level that belong to this form, `key` among them
    bool motion_only;        ///< it has no impact of its own: only integrators take it
    /// Reads these keys of the root, and creates the scene's impact or motion.
    /// @param digest  receives the bytes of files that the scene names
    carom_status (*read)(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error);
} carom_scene_form;

extern const carom_scene_form carom_scene_form_model, carom_scene_form_matrices, carom_scene_form_delassus, carom_scene_form_two_bodies,
    carom_scene_form_balls, carom_scene_form_body, carom_scene_form_bodies;

/// Reads `design`.
carom_status carom_scene_read_design(carom_scene *scene, const carom_node *design, carom_error *error);

/// Reads `uncertain`, for an impact that is there already.
carom_status carom_scene_read_uncertain(carom_scene *scene, const carom_node *node, carom_error *error);

/// The model of a scene at the scene's state, with these values of its parameters (NULL: the scene's).
/// @param digest  receives the bytes of the model file; may be NULL
carom_status carom_scene_load_model(carom_scene *scene, const double *parameters, carom_digest *digest, carom_model **model,
                                    carom_error *error);
/// Puts the model into the state that the map `state` describes.
carom_status carom_scene_read_state(carom_scene *scene, const carom_node *state, carom_model *model, carom_error *error);
/// The contacts of a scene that lists them, to be freed; names belong to the document.
/// @param touching  receives the number of those that touch; the others, which are open, come after them
carom_status carom_scene_list_contacts(carom_scene *scene, const carom_node *list, carom_model_contact **contacts, int *touching,
                                       carom_error *error);

/// What the map `contacts` says about contacts that are detected; patterns belong to the document.
carom_status carom_scene_read_detection(carom_scene *scene, const carom_node *contacts, carom_detection *detection, carom_error *error);

/// The impact of a model's scene with these contacts.
carom_status carom_scene_detect_contacts(carom_scene *scene, const carom_node *contacts, carom_error *error);

/// Is the scene read for an integrator of mechanisms?
static inline bool carom_scene_is_mechanism(const carom_scene *scene) {
    return scene->moves && scene->integrator && scene->integrator->form == CAROM_MOTION_MECHANISM;
}
/// The mechanism of the scene's model, in place of an impact.
/// @param contacts  the scene's list or map of contacts; NULL: all are detected
/// @param control   what the actuators get; NULL: nothing
carom_status carom_scene_create_mechanism(carom_scene *scene, const carom_node *contacts, const carom_node *control, carom_error *error);

/// The balls that the map `balls` describes; arrays belong to the document.
carom_status carom_scene_read_ball_data(carom_scene *scene, const carom_node *balls, carom_ball_data *data, carom_error *error);

/// The pairs of balls that touch, or for a motion all that may ever touch. Balls that overlap are refused.
carom_status carom_scene_pair_balls(carom_scene *scene, const carom_node *balls, const carom_ball_data *data, bool moves,
                                    carom_ball_pairs *pairs, carom_error *error);
/// The impact of these pairs, as if they touched. Contacts are called "1:2", by the numbers of the balls.
carom_status carom_ball_freeze(const carom_ball_data *data, const carom_ball_pairs *pairs, carom_impact **impact, carom_error *error);

/// Says in `text` how asymmetric W [size x size] is, to follow its name; false when that is round-off.
bool carom_asymmetry_describe(int size, const double *W, char text[CAROM_MESSAGE_SIZE]);

/// Reads `impact` or `simulate`: the law or integrator, and settings that some one of the registry accepts.
carom_status carom_scene_read_settings(carom_scene *scene, carom_scene_settings *settings, const carom_node *map,
                                       const carom_registry *registry, carom_error *error);

#endif
