// SPDX-License-Identifier: Apache-2.0
/// @file
/// Systems that give mass matrices and contact Jacobians: MuJoCo models (MJCF, URDF). In libcarom-mujoco.
#ifndef CAROM_MODEL_H
#define CAROM_MODEL_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// A compiled MuJoCo model with its state. Not to be shared between threads.
typedef struct carom_model carom_model;

typedef enum carom_place_kind { CAROM_PLACE_SITE, CAROM_PLACE_GEOM, CAROM_PLACE_BODY_POINT } carom_place_kind;

/// A place on a body: a site, a geom, or a point in a body's frame.
typedef struct carom_place {
    carom_place_kind kind;
    const char *name;  ///< of the site, geom or body
    double point[3];   ///< in the body's frame [m]; only for CAROM_PLACE_BODY_POINT
} carom_place;

/// A contact at places of a model. With one place, the world is the first body.
typedef struct carom_model_contact {
    const char *name;
    int places;            ///< 1 or 2
    carom_place place[2];  ///< [0] the first and [1] the second; with one place only [0]
    double normal[3];      ///< from the first to the second, world axes; need not be a unit vector
    int tangents;          ///< rows given: 0 (default rule), 1 planar, 2 spatial
    double tangent[2][3];  ///< orthonormal to the normal after normalisation
    double friction;
    double restitution;
    double offset;  ///< of the contact plane along the normal, for systems in motion [m]; NaN: through the point at the model's state
} carom_model_contact;

/// How contacts are found by MuJoCo's collision detection.
typedef struct carom_detection {
    double margin;       ///< geoms closer than this touch [m], >= 0; replaces all margins and gaps of the model
    double friction;     ///< of every contact; NaN: that of the geoms
    double restitution;  ///< of every contact, in [0,1]
} carom_detection;

/// 1 mm, friction of the geoms, no restitution.
carom_detection carom_detection_defaults(void);

/// Loads and compiles MJCF or URDF. A URDF robot whose root is welded to the world gets a warning.
/// @return CAROM_BAD_INPUT with MuJoCo's own message in one line, CAROM_IO_FAILED when the file cannot be read
carom_status carom_model_load(const char *path, carom_model **model, carom_error *error);
/// Named numbers of a model file.
typedef struct carom_model_parameters {
    int count;
    const char *const *names;  ///< [count]: letters, digits and _
    const double *values;      ///< [count]
} carom_model_parameters;

/// The same for a file with formulas: each ${...} in its text is replaced by its value (numbers, parameters, pi, sqrt, + - * / ^ and
/// parentheses). Included files are read as they are.
/// @return CAROM_BAD_INPUT also for a formula that is not understood
carom_status carom_model_load_with(const char *path, const carom_model_parameters *parameters, carom_model **model, carom_error *error);
void carom_model_free(carom_model *model);

int carom_model_nq(const carom_model *model);
int carom_model_nv(const carom_model *model);
/// Position, [nq], in MuJoCo's order; owned by the model.
const double *carom_model_qpos(const carom_model *model);
/// Index in qpos of the slide or hinge joint called `joint`; -1 where there is none.
int carom_model_find_coordinate(const carom_model *model, const char *joint);

/// Sets position and velocity, in MuJoCo's order. Quaternions are normalised. Any of the two may be NULL: unchanged.
/// @return CAROM_BAD_INPUT when a count differs from nq or nv, or a number is not finite
carom_status carom_model_set_state(carom_model *model, const double *qpos, int qpos_count, const double *qvel, int qvel_count,
                                   carom_error *error);
/// Takes the state of the keyframe called `name`.
carom_status carom_model_set_keyframe(carom_model *model, const char *name, carom_error *error);

/// Freezes the model at its state: M, and for each contact J of the second place minus that of the first, projected on normal and tangents.
/// Joints at or beyond their stops are contacts without friction, LIMIT:JOINT, after the others (without that name where no contact has
/// one). Active equality constraints hold: rows of J are J P, where P projects on the velocities that they allow, so that M and nv stay.
/// Tangents left out: one tangent t = (n_z, 0, -n_x) when `planar` is what all contacts allow (see docs/scenes.md), else two, by the rule
/// stated there.
/// `count` may be 0 when a joint is at its stop.
/// @return CAROM_BAD_INPUT naming the contact and the rule it breaks: an unknown site, a normal without length, tangents that are not
/// orthonormal; a velocity that breaks an equality constraint; joints with frictionloss, tendons at their limits or with frictionloss
carom_status carom_model_freeze(carom_model *model, const carom_model_contact *contacts, int count, carom_impact **impact,
                                carom_error *error);

/// n.(p2 - p1) for each contact at the model's position [m], [count]: the gap but for a constant, as long as the normal is that of the
/// contact in every position, as it is for a point and a plane of the world.
/// @return CAROM_BAD_INPUT as carom_model_freeze
carom_status carom_model_measure_gaps(carom_model *model, const carom_model_contact *contacts, int count, double *gaps, carom_error *error);

/// Freezes with the contacts that MuJoCo's collision detection finds at the state, named after their geoms. Tangents by the default rule.
/// Contacts of the same two bodies at the same point with the same normal are one, and so are those of a planar problem with the same rows
/// (docs/scenes.md states names and tolerances); those that no motion changes are left out with a warning.
/// @param detection  NULL: the defaults
/// @return CAROM_BAD_INPUT as above; also when nothing touches, when the model's nconmax is too small, or for anisotropic friction
carom_status carom_model_detect(carom_model *model, const carom_detection *detection, carom_impact **impact, carom_error *error);

// ------------------------------------------------------------------------------------------------------------- systems

/// What a system is at one configuration and velocity: M(q) v' + bias(q, v) = Jn' lambda_n + Jt' lambda_t.
typedef struct carom_system_terms {
    double *mass;           ///< [nv x nv]
    double *bias;           ///< [nv] gyroscopic and gravitational terms, less springs and dampers
    double *gap;            ///< [contacts] distance from the contact plane, > 0 apart [m]
    double *normal;         ///< Jn, [contacts x nv]: its velocity is the gap's rate
    double *tangent;        ///< Jt, [contacts x nv]
    double *normal_drift;   ///< [contacts] dJn/dt v [m/s^2]
    double *tangent_drift;  ///< [contacts] dJt/dt v [m/s^2]
    double potential;       ///< energy of gravity and springs [J]
} carom_system_terms;

/// A mechanism in motion with points that may touch planes fixed in the world. Its coordinates are those whose rates are its velocities.
/// Immutable: threads share it, and each opens a workspace of its own.
typedef struct carom_system {
    const void *self;
    int nv, contacts;
    int tangent_dim;            ///< 1: planar
    const double *friction;     ///< [contacts]
    const double *restitution;  ///< [contacts]
    const bool *turns;          ///< [nv] the coordinate is an angle
    const char *const *names;   ///< [nv] of the joints
    const double *position;     ///< [nv] at the start
    const double *velocity;     ///< [nv] at the start
    double mass;                ///< of all that moves [kg]
    double length;              ///< a size that gaps compare with [m]
    carom_status (*open)(const void *self, void **workspace, carom_error *error);
    void (*close)(void *workspace);
    /// Fills all terms. No allocation.
    void (*evaluate)(void *workspace, const double *position, const double *velocity, carom_system_terms *terms);
} carom_system;

/// The model as a system, from its state on. Contacts are points (sites, points of bodies) that may touch planes with the given normals;
/// `offset` places each plane.
/// @param system  refers to the model, which must outlive it; to be freed by carom_model_free_system
/// @return CAROM_UNSUPPORTED for what a system in motion does not have here: joints other than slides and hinges, joint stops, equality
///         constraints, contacts between two places or at geoms; CAROM_BAD_INPUT as carom_model_freeze
carom_status carom_model_create_system(carom_model *model, const carom_model_contact *contacts, int count, carom_system **system,
                                       carom_error *error);
void carom_model_free_system(carom_system *system);

/// What the last load, freeze or detection found worth knowing: sentences, 0..warnings-1. NULL beyond them.
int carom_model_warnings(const carom_model *model);
const char *carom_model_warning(const carom_model *model, int index);

CAROM_API_END

#endif
