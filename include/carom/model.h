// SPDX-License-Identifier: Apache-2.0
/// @file
/// MuJoCo models (MJCF, URDF): impacts frozen from them, their own contact solver, and systems in motion. In libcarom-mujoco.
#ifndef CAROM_MODEL_H
#define CAROM_MODEL_H

#include "carom/laws.h"
#include "carom/mechanism.h"
#include "carom/solid.h"
#include "carom/system.h"

CAROM_API_BEGIN

/// The version of MuJoCo that the program runs with, such as "3.17.0".
const char *carom_model_mujoco_version(void);

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

/// Coefficients of the contacts between two parties.
typedef struct carom_contact_pair {
    const char *between[2];        ///< patterns, of a body or a geom each, in any order
    double friction, restitution;  ///< >= 0, and in [0, 1]; NaN: not given here
} carom_contact_pair;

/// How contacts are found by MuJoCo's collision detection.
typedef struct carom_detection {
    double margin;       ///< geoms closer than this touch [m], >= 0; replaces all margins and gaps of the model
    double friction;     ///< of every contact; NaN: that of the geoms
    double restitution;  ///< of every contact, in [0,1]
    /// Patterns with the shell's wildcards (* ? [...]), of names of bodies, geoms and contacts, joints at their stops (LIMIT:JOINT)
    /// included: a contact stays where a pattern of `only` (if there is any) and none of `exclude` fits one of its two bodies, its two
    /// geoms or its own name. [only_count] and [exclude_count]
    const char *const *only, *const *exclude;
    int only_count, exclude_count;
    /// For each coefficient the first pair that fits the contact and gives it counts, before `friction` and `restitution` above.
    const carom_contact_pair *pairs;
    int pair_count;
    bool drop_self;   ///< leave out contacts of two bodies of one robot, which is all below one child of the world
    bool drop_stops;  ///< leave out joints at their stops and tendons at their limits
    /// Of the contacts of two bodies with the same normal (within 0.001 rad), friction and height along it (within this), keep the corners
    /// of the convex hull, and of corners that are closer than this [m] the outer one; >= 0, 0: keep all.
    double merge;
} carom_detection;

/// Is there a body or a geom whose name the pattern fits?
/// @return CAROM_BAD_INPUT with names that are near
carom_status carom_model_check_pattern(const carom_model *model, const char *pattern, carom_error *error);

/// 1 mm, friction of the geoms, no restitution, every contact.
carom_detection carom_detection_defaults(void);

/// Loads and compiles MJCF or URDF. A URDF robot whose root is welded to the world gets a warning.
/// @return CAROM_BAD_INPUT with MuJoCo's own message in one line, CAROM_IO_FAILED when the file cannot be read, CAROM_UNSUPPORTED when the
///         library of MuJoCo is of another version than the headers that carom was built with
carom_status carom_model_load(const char *path, carom_model **model, carom_error *error);
/// Named numbers of a model file.
typedef struct carom_model_parameters {
    int count;
    const char *const *names;  ///< [count]: letters, digits and _
    const double *values;      ///< [count]
} carom_model_parameters;

/// A floor that a model gets: a plane without edges through (0, 0, height), turned about y. It collides with whatever collides at all.
typedef struct carom_ground {
    double height;    ///< [m]
    double slope;     ///< [degrees], between -90 and 90: above 0 the floor falls towards +x, its normal being (sin slope, 0, cos slope)
    double friction;  ///< of every contact with it, >= 0; NaN: MuJoCo's default, 1, combined with the friction of the other geom
    bool optional;    ///< a model that has a floor already keeps it, with a warning; otherwise that is an error
} carom_ground;

/// How a model file is read. Zero is carom_model_load.
typedef struct carom_model_options {
    /// Each ${...} in the text of the file is replaced by its value (numbers, parameters, pi, sqrt, + - * / ^ and parentheses). Included
    /// files are read as they are. NULL: the text is taken as it is
    const carom_model_parameters *parameters;
    /// The root that is welded to the world gets a free joint: the one body at the top of an MJCF file that has joints inside but none of
    /// its own, or the root link of a URDF. Its keyframes then start from its place in the file, at rest. A root that is free already
    /// stays, with a warning
    bool free_root;
    const carom_ground *ground;  ///< NULL: none
    /// A URDF whose only root link is joined to nothing, not even to a link called 'world', gets a free joint for it, with a warning. Other
    /// models stay as they are
    bool free_open_root;
} carom_model_options;

/// Loads a model with options.
/// @param options  NULL: none
/// @return CAROM_BAD_INPUT also for a formula that is not understood, for several roots or a root with another joint, and for a floor
/// beside
///         one that the model has
carom_status carom_model_load_with(const char *path, const carom_model_options *options, carom_model **model, carom_error *error);
void carom_model_free(carom_model *model);

/// The file that it was loaded from; owned by the model.
const char *carom_model_path(const carom_model *model);
int carom_model_nq(const carom_model *model);
int carom_model_nv(const carom_model *model);
/// Position, [nq], in MuJoCo's order; owned by the model.
const double *carom_model_qpos(const carom_model *model);
/// Index in qpos of the slide or hinge joint called `joint`; -1 where there is none.
int carom_model_find_coordinate(const carom_model *model, const char *joint);

/// A joint's name, and its numbers in qpos and qvel: a slide or hinge has one of each, a ball joint a quaternion and three rates, a free
/// joint position and quaternion, and six rates.
typedef struct carom_model_joint {
    const char *name;          ///< a free joint without one has that of its body; NULL: none. Owned by the model
    int position, positions;   ///< index of its first coordinate, and their number: 1, 4 or 7
    int velocity, velocities;  ///< index of its first velocity, and their number: 1, 3 or 6
} carom_model_joint;

int carom_model_joints(const carom_model *model);
/// @param index  0 .. carom_model_joints - 1, in MuJoCo's order
carom_model_joint carom_model_get_joint(const carom_model *model, int index);
/// Velocity, [nv], in MuJoCo's order; owned by the model.
const double *carom_model_qvel(const carom_model *model);

/// Sets position and velocity, in MuJoCo's order. Quaternions are normalised. Any of the two may be NULL: unchanged.
/// @return CAROM_BAD_INPUT when a count differs from nq or nv, or a number is not finite
carom_status carom_model_set_state(carom_model *model, const double *qpos, int qpos_count, const double *qvel, int qvel_count,
                                   carom_error *error);
/// Takes the state of the keyframe called `name`.
carom_status carom_model_set_keyframe(carom_model *model, const char *name, carom_error *error);
/// Restitution of joints at their stops and of tendons ("strings") at their limits, in impacts and motions; 0 after loading.
/// @param stops, strings  in [0, 1]
/// @return CAROM_BAD_INPUT for another number
carom_status carom_model_set_limit_restitution(carom_model *model, double stops, double strings, carom_error *error);

/// Moves a robot along gravity until it touches: down from above, or up out of what it penetrates. Joints, orientation and velocity stay.
/// What moves is the first free joint, or else the first slide along gravity that carries its whole tree; with a target, the one that
/// carries the target. Geoms touch as in MuJoCo's collision detection (contype, conaffinity, <pair>, <exclude>), whose distances decide,
/// to 1e-12 of the size and place of the geoms; planes have no edge.
/// @param target  NULL: the first geom of the robot that touches what does not move with it; else the name of a geom, or of a site: until
///                that one touches, whatever else does
/// @param shift   how far it moved down [m], below zero where it moved up; may be NULL
/// @return CAROM_BAD_INPUT where the model has no gravity or no such joint, where nothing is called `target`, or where nothing is below it;
///         the model stays as it was
/// Cost: some ten calls of MuJoCo's collision functions for a pair of geoms that can meet
carom_status carom_model_lower(carom_model *model, const char *target, double *shift, carom_error *error);

/// Freezes the model at its state: M, and for each contact J of the second place minus that of the first, projected on normal and tangents.
/// Joints at or beyond their stops, LIMIT:JOINT, and tendons at or beyond their limits, TENDON:TENDON, are contacts without friction after
/// the others (without that name where no contact has one). Bounded forces (frictionloss, damping, springs, actuators) are left out with a
/// warning. Active equality constraints hold: rows of J are J P, where P projects on the velocities that they allow, so that M and nv stay.
/// Tangents left out: one tangent t = (n_z, 0, -n_x) when `planar` is what all contacts allow (see docs/scenes.md), else two, by the rule
/// stated there.
/// `count` may be 0 when a joint is at its stop or a tendon at its limit.
/// @return CAROM_BAD_INPUT naming the contact and the rule it breaks: an unknown site, a normal without length, tangents that are not
/// orthonormal; a velocity that breaks an equality constraint
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
/// Names are those that all contacts found have, whichever of them stay.
/// @return CAROM_BAD_INPUT as above; also when nothing touches or is left, for a pattern that fits no name of the model, when the model's
///         nconmax is too small, or for anisotropic friction
carom_status carom_model_detect(carom_model *model, const carom_detection *detection, carom_impact **impact, carom_error *error);

// -------------------------------------------------------------------------------------------------------------------------- bare models

/// What a file holds, by its content.
typedef enum carom_model_file {
    CAROM_MODEL_FILE_NONE,   ///< not XML
    CAROM_MODEL_FILE_MODEL,  ///< MJCF or URDF: the root element is `mujoco` or `robot`
    CAROM_MODEL_FILE_PART,   ///< a part of MJCF that other files include
    CAROM_MODEL_FILE_XML,    ///< some other XML
} carom_model_file;

/// @param text  ends with NUL
carom_model_file carom_model_recognise(const char *text);

/// How a model without a scene was brought to an impact.
typedef struct carom_model_start {
    bool lacks_ground;               ///< it could be lowered, but nothing is below it; there is no impact
    char story[CAROM_MESSAGE_SIZE];  ///< one sentence about its state
} carom_model_start;

/// The impact of a model about which nothing else is known, with the contacts that carom_model_detect finds by default. The state is its
/// first keyframe, where something approaches there; where something touches but does not approach, with 1 m/s along gravity added to the
/// joint that carom_model_lower moves; where nothing touches, and without a keyframe, lowered until it touches, with the same velocity.
/// Where that gives no impact, because nothing can be lowered: the contacts that touch, or else the nearest pair of geoms, whose gap is
/// left open; the velocity gets the multiple of M^-1 n' that lets the first one, with normal row n, approach at 1 m/s: the least kinetic
/// energy. Contacts that hardly approach, with an inverse mass along n below 1e-4 of the largest of a contact, are passed over. Where the
/// model lets no geoms collide, every pair may.
/// @param any  without ground under it, take the last way instead of saying so in start->lacks_ground
/// @return CAROM_BAD_INPUT where no two geoms can approach each other
carom_status carom_model_freeze_bare(carom_model *model, bool any, carom_model_start *start, carom_impact **impact, carom_error *error);

/// What the last load, freeze or detection found worth knowing: sentences, 0..warnings-1. NULL beyond them.
int carom_model_warnings(const carom_model *model);
const char *carom_model_warning(const carom_model *model, int index);

// -------------------------------------------------------------------------------------------------------------------------------
// appearance

/// The solids of a model, body by body: of each body the geoms that MuJoCo's viewer shows (groups 0 to 2, not transparent), else all that
/// it has, and of a body without geoms segments from its origin to its centre of mass, its sites and its children. Meshes stand for their
/// convex hulls. The model's state stays.
/// @param velocity  [nv] with which it has moved; NULL: the state's
/// @param time      that it has moved from its state [s], without forces and contacts
/// @param arena     that the solids and their names and vertices belong to
/// @return CAROM_BAD_INPUT for numbers that are not finite
/// Cost: the positions of all bodies once, and copies of meshes
carom_status carom_model_solids(const carom_model *model, const double *velocity, double time, carom_arena *arena, carom_solids *solids,
                                carom_error *error);

// ------------------------------------------------------------------------------------------------------------- MuJoCo's own contact solver

/// Impacts of a model by MuJoCo itself: its soft contacts at the places of the model's last freeze or detection, stepped in time.
typedef struct carom_model_simulator carom_model_simulator;

/// One impact: time step and contact settings, as MuJoCo's documentation calls them.
typedef struct carom_model_run {
    double timestep;             ///< > 0 [s]
    double solref[2];            ///< time constant [s] and damping ratio, > 0
    double solimp[3];            ///< least and largest impedance, in (0, 1), and width > 0 [m]
    bool elliptic;               ///< friction cone: elliptic instead of pyramidal
    const double *displacement;  ///< [nv] of the start from the model's state, in velocities' coordinates; NULL: none
    const double *kick;          ///< [nv] added to the model's velocity; NULL: none
    double approach_limit;       ///< the run ends when no normal velocity is below this [m/s]
    double horizon;              ///< or after this time [s]
} carom_model_run;

/// How it ended.
typedef struct carom_model_end {
    double *velocity;  ///< [nv], supplied by the caller
    double *contact;   ///< [contact size of the impact] contact velocities at the end's configuration, supplied by the caller
    double time;       ///< [s]
    bool ended;        ///< before the horizon
} carom_model_end;

/// A simulator of the model from its state on. Contacts are those of the impact that the model gave last, and limits of joints and tendons
/// are MuJoCo's own; geoms of the model collide with nothing else. Gravity, springs, damping, frictionloss, actuators and fluid forces are
/// off: an impact has none, and soft contacts take long. A contact's gap is the
/// distance of its two material points along its normal, less that at the model's state; both points and the normal stay where they are on
/// their bodies and in space.
/// @param impact  what carom_model_freeze or carom_model_detect gave last
/// @return CAROM_BAD_INPUT when nothing was frozen
carom_status carom_model_simulator_create(carom_model *model, const carom_impact *impact, carom_model_simulator **simulator,
                                          carom_error *error);
void carom_model_simulator_free(carom_model_simulator *simulator);
/// Runs from the displaced state. Where a displacement brings contacts into each other, all gaps are widened by the deepest one.
/// @return CAROM_BAD_INPUT naming the field that is out of range, or what MuJoCo objects to
/// Cost: horizon / timestep steps at most, some 10 us each for a small model.
carom_status carom_model_simulator_run(carom_model_simulator *simulator, const carom_model_run *run, carom_model_end *end,
                                       carom_error *error);

/// Options of the law `mujoco`.
typedef struct carom_mujoco_options {
    int64_t perturbations;  ///< perturbed starts besides the model's own state
    double perturb;         ///< their size: normal numbers times this, of coordinates [m, rad], of velocities over the largest of them
    int64_t seed;           ///< of the perturbations: 0 to CAROM_MOST_SEED
    double horizon;         ///< longest time of an impact [s]
    carom_model *model;     ///< that gave the impact; must be set
} carom_mujoco_options;

/// Ten perturbations of 0.001, 0.1 s; no model.
carom_mujoco_options carom_mujoco_defaults(void);

/// The simulator as a law: an outcome for each of its runs, over contact settings, time steps, friction cones and starts. The unperturbed
/// runs come first, and the first of them has MuJoCo's defaults. In no registry, because it needs the impact's model.
extern const carom_law carom_law_mujoco;

/// What the law varies from each start.
enum { CAROM_MUJOCO_SETTINGS = 4, CAROM_MUJOCO_TIMESTEPS = 5, CAROM_MUJOCO_CONES = 2 };

/// Its result columns, which follow the common ones.
enum { CAROM_MUJOCO_RUNS, CAROM_MUJOCO_UNPERTURBED, CAROM_MUJOCO_RESULTS };

// --------------------------------------------------------------------------------------------------------------------------------- systems

/// The model as a system, from its state on. Contacts are points (sites, points of bodies) and spheres and capsules (geoms) that may touch
/// planes with the given normals; `offset` places each plane. A capsule NAME is two contacts NAME:1 and NAME:2, of the spheres at its
/// ends, unless it lies across the plane of motion. Joints with a range have two more contacts each, LIMIT:JOINT:lower and
/// LIMIT:JOINT:upper, without friction, after the others. Actuators act with the controls and activations that the model has,
/// and hold them; held activations are warned of. The warnings of a freeze about forces that an impact leaves out are withdrawn.
/// @param system  refers to the model, which must outlive it; to be freed by carom_model_free_system
/// @return CAROM_UNSUPPORTED, by name, for what a system in motion does not have here: joints other than slides and hinges, limits of
///         tendons, frictionloss, equality constraints, delays or gains of actuators that are not affine, contacts between
///         two places or at other geoms; CAROM_BAD_INPUT as carom_model_freeze
carom_status carom_model_create_system(carom_model *model, const carom_model_contact *contacts, int count, carom_system **system,
                                       carom_error *error);
void carom_model_free_system(carom_system *system);

// ------------------------------------------------------------------------------------------------------------------------------ mechanisms

/// The controls of a model's actuators over time, linear between the rows, and constant before the first and after the last.
typedef struct carom_model_control {
    int rows;              ///< 0: every control is 0
    const double *times;   ///< [rows] increasing [s]
    const double *values;  ///< [rows x controls], in MuJoCo's order
} carom_model_control;

/// How a model moves. All zero: contacts as they are detected, and controls of 0.
typedef struct carom_model_motion {
    /// Which contacts and limits count; NULL: all. Its margin and merge have no effect. Borrowed as long as the mechanism lives
    const carom_detection *detection;
    /// Points of bodies above fixed planes, [contact_count], in place of contacts that are detected; NULL: none are listed
    const carom_model_contact *contacts;
    int contact_count;
    carom_model_control control;  ///< copied
} carom_model_motion;

int carom_model_controls(const carom_model *model);
/// Writes what a control is called: like its actuator.
void carom_model_name_control(const carom_model *model, int index, char *name, size_t size);
/// The controls [controls] of the keyframe called `name`; owned by the model.
carom_status carom_model_key_controls(const carom_model *model, const char *name, const double **values, carom_error *error);

/// The model in motion, from its state on: forces of gravity, springs, dampers, drag and actuators; contacts that MuJoCo's collision
/// detection finds between all geoms that may collide, or those listed; joints and tendons at their limits; equality constraints. Contacts
/// have the friction and the names of carom_model_detect, those of two bodies with the same Jacobian are one, and those that no motion
/// changes are left out. docs/mjcf.md says what of a model it heeds.
/// @param motion     NULL: the defaults
/// @param mechanism  refers to the model, which must outlive it; to be freed by carom_model_free_mechanism
/// Activations of actuators are integrated as MuJoCo does; those of kinds that are not known here are held, with a warning.
/// @return CAROM_UNSUPPORTED naming what acts in the model and is not covered: delays of actuators, adhesion, frictionloss
///         of tendons, deformable bodies, plugins; CAROM_BAD_INPUT for a control out of its range, and as carom_model_freeze and
///         carom_model_detect
carom_status carom_model_create_mechanism(carom_model *model, const carom_model_motion *motion, carom_mechanism **mechanism,
                                          carom_error *error);
void carom_model_free_mechanism(carom_mechanism *mechanism);

CAROM_API_END

#endif
