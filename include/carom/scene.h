// SPDX-License-Identifier: Apache-2.0
/// @file
/// Scene files and families of scenes. In libcarom-io.
#ifndef CAROM_SCENE_H
#define CAROM_SCENE_H

#include "carom/dynamics.h"
#include "carom/model.h"
#include "carom/uncertain.h"

CAROM_API_BEGIN

// ---------------------------------------------------------------------------------------------------------------------------------- scenes

/// A scene file, read, checked and turned into an impact.
typedef struct carom_scene carom_scene;

/// Reads a YAML or JSON scene that holds an impact, or a bare MJCF or URDF file (by its content), whose state and contacts are then those
/// of carom_model_freeze_bare, with a floor where it lacks one. All keys are checked; keys under `impact` must be `law` or an option of
/// some law in `registry`.
/// @return CAROM_BAD_INPUT with "FILE:LINE: KEY: rule", CAROM_IO_FAILED when the file cannot be read
carom_status carom_scene_read(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error);
/// Reads a scene of any form for an integrator; keys under `simulate` must be `integrator` or an option of some integrator in `registry`.
carom_status carom_scene_read_motion(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error);
/// The same for this integrator, whatever `simulate` names: a scene with `model` is a system or a mechanism, whichever the integrator
/// takes. NULL: the scene's.
carom_status carom_scene_read_motion_for(const char *path, const carom_registry *registry, const carom_integrator *integrator,
                                         carom_scene **scene, carom_error *error);
void carom_scene_free(carom_scene *scene);

const char *carom_scene_path(const carom_scene *scene);
/// The `name` key; the file's stem when left out.
const char *carom_scene_name(const carom_scene *scene);
/// SHA-256 of the scene's bytes and, where it names one, of its model file's bytes.
const char *carom_scene_hash(const carom_scene *scene);
/// NULL for a form without impact, which carom_scene_read does not give.
const carom_impact *carom_scene_impact(const carom_scene *scene);
/// What the scene's `uncertain` says of its impact; NULL where it has no such key. Of the scene's impact, and lives as long as the scene.
const carom_uncertainty *carom_scene_uncertainty(const carom_scene *scene);
/// The scene as integrators take it.
const carom_motion *carom_scene_motion(const carom_scene *scene);
/// The model of a scene with `model`, at the scene's state; NULL for other forms. Not to be shared between threads.
carom_model *carom_scene_model(const carom_scene *scene);
/// The mechanism of a scene with `model` and a list of contacts that was read by carom_scene_read_motion.
/// @return CAROM_UNSUPPORTED with what the mechanism has that systems do not, CAROM_BAD_INPUT for scenes of another form
carom_status carom_scene_system(const carom_scene *scene, const carom_system **system, carom_error *error);
/// `impact: law`, NULL when left out.
const char *carom_scene_law(const carom_scene *scene);
/// `simulate: integrator`, NULL when left out.
const char *carom_scene_integrator(const carom_scene *scene);
/// Warnings for the user (asymmetric W, skewed tangents, ...), each one sentence.
int carom_scene_warnings(const carom_scene *scene);
const char *carom_scene_warning(const carom_scene *scene, int index);
/// What was chosen for a bare model, each one sentence: 0 .. carom_scene_notes - 1.
int carom_scene_notes(const carom_scene *scene);
const char *carom_scene_get_note(const carom_scene *scene, int index);

/// The settings of laws in the scene's `impact`, without `law`: 0 .. carom_scene_settings_count - 1, in the scene's order.
int carom_scene_settings_count(const carom_scene *scene);
/// Name of a setting.
/// @param text  receives its value as a command line gives it: entries of a list have commas between them
const char *carom_scene_get_setting(const carom_scene *scene, int index, const char **text);
/// Sets the options that the scene's `impact` gives among `rows`; keys of other laws are skipped.
/// @return CAROM_BAD_INPUT with file, line, key and rule
carom_status carom_scene_apply(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error);
/// The same for all options of a law, where the caller may ask for another sampler than the scene's: a scene's `max_steps` counts steps of
/// its own sampler, or pieces of walks, and says nothing about the other kind, which has the law's default.
/// @param sampler  that the caller is going to set after this; NULL: none
carom_status carom_scene_apply_law(const carom_scene *scene, const carom_law *law, const char *sampler, void *options, carom_error *error);
/// The same for `simulate`, of integrators.
carom_status carom_scene_apply_simulate(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error);

/// The same for `compliant`, all of whose keys must be among `rows`.
carom_status carom_scene_apply_compliant(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error);

/// Says in `error`, whose message begins with "KEY: ", where the scene's `impact` gives this option: for rules that only a law can check.
/// @return false, and nothing is changed, when the scene does not give it
bool carom_scene_place_error(const carom_scene *scene, const char *key, carom_error *error);
/// The same for `simulate`.
bool carom_scene_place_simulate_error(const carom_scene *scene, const char *key, carom_error *error);
/// The same for a key of the scene itself, written with dots: "initial.attitude"; as much of it as the scene has.
void carom_scene_place_key_error(const carom_scene *scene, carom_error *error);

// ------------------------------------------------------------------------------------------------------------------------------ appearance

/// The solids of a scene at its state. Of a model those of carom_model_solids; a body above its plane, which is a solid, too; many bodies
/// with their walls; balls, whose plane is that of x and z, so that gravity points down; of two bodies that touch segments from the centres
/// of mass to their contact, which is the origin.
/// @param velocity  [nv] of the scene's impact with which it has moved; NULL: its own
/// @param time      that it has moved [s], without forces and contacts; 0 for scenes without impact
/// @param arena     that the solids belong to
/// @return CAROM_UNSUPPORTED for a scene of matrices, which has no bodies
carom_status carom_scene_solids(const carom_scene *scene, const double *velocity, double time, carom_arena *arena, carom_solids *solids,
                                carom_error *error);
/// The same at a recorded state of the scene's motion.
/// @param states  of an integrator: columns qpos and qvel, or position, attitude and momentum or velocity
/// @return CAROM_UNSUPPORTED also for states that do not say where the bodies are
carom_status carom_scene_solids_at(const carom_scene *scene, const carom_table *states, int64_t row, carom_arena *arena,
                                   carom_solids *solids, carom_error *error);
/// Where the contacts of a scene's impact are, in the space of its solids: points, normals and tangents, as in carom_contact_geometry, with
/// NaN for what has no place. Pointers are NULL in a scene without impact.
typedef struct carom_scene_places {
    const double *points, *normals;  ///< [contacts x 3]
    const double *tangents;          ///< [contacts * tangent_dim x 3]
} carom_scene_places;
carom_status carom_scene_contacts(const carom_scene *scene, carom_arena *arena, carom_scene_places *places, carom_error *error);

// -------------------------------------------------------------------------------------------------------------------------------- families

/// A scene as a function of named numbers: coordinates and parameters. For scenes with `model`, coordinates are its slide and hinge joints,
/// parameters those of the scene; for `balls`, x1, y1, x2, ... and the masses m1, m2, ...
typedef struct carom_family carom_family;

/// The family over what the scene's `design` calls free. Not to be shared between threads.
/// @param scene  borrowed as long as the family lives
/// @return CAROM_BAD_INPUT where the scene has no `design`, for a name that is no coordinate or parameter, and for scenes of another form;
///         contacts of a model must be listed, each of one place, whose distance from a plane of the world is their gap
carom_status carom_family_create(carom_scene *scene, carom_family **family, carom_error *error);
void carom_family_free(carom_family *family);

int carom_family_variables(const carom_family *family);
const char *carom_family_variable(const carom_family *family, int variable);
/// The scene's own values, [variables].
const double *carom_family_start(const carom_family *family);
/// Units of the variables, [variables]: how far each may move, relative to the others.
const double *carom_family_scale(const carom_family *family);

/// The impact at x with the scene's velocity, and the changes of the gaps against the scene [contacts]. Contacts count as touching.
/// @return CAROM_BAD_INPUT where there is none, as for a mass below zero
carom_status carom_family_evaluate(carom_family *family, const double *x, carom_impact **impact, double *gaps, carom_error *error);

/// What the scene's `design` asks for: pairs of contacts and the cosine between their normals.
int carom_family_pairs(const carom_family *family);
/// Indices of a pair's contacts.
const int *carom_family_pair(const carom_family *family, int pair);
double carom_family_target(const carom_family *family);

/// The position at x: qpos of a model, coordinates of balls; `*count` numbers, valid until the next call.
const double *carom_family_position(carom_family *family, const double *x, int *count);
/// The parameters at x: `*count` of them with their names, valid until the next call.
void carom_family_parameters(carom_family *family, const double *x, const char *const **names, const double **values, int *count);
/// Writes the scene at x as JSON, which is YAML; comments are not kept. Written under a temporary name and renamed.
/// @return CAROM_IO_FAILED, or CAROM_BAD_INPUT when `path` exists and is no scene
carom_status carom_family_write(carom_family *family, const double *x, const char *path, carom_error *error);

CAROM_API_END

#endif
