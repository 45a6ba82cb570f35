// SPDX-License-Identifier: Apache-2.0
// What differs between the versions of MuJoCo that carom builds against, 2.2.2 to 4.0. The room speaks the API of 2.2.2, and gets from
// here what later versions call, store or mean otherwise.
#ifndef CAROM_MUJOCO_COMPATIBLE_H
#define CAROM_MUJOCO_COMPATIBLE_H

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "carom/model.h"

// Numbers of versions grow, although their form changed: 3.4.0 is 340, and 3.5.0 is 3005000.
#if mjVERSION_HEADER >= 330
static inline void mju_rotVecMat(double result[3], const double vector[3], const double matrix[9]) {
    mju_mulMatVec3(result, matrix, vector);
}
static inline void mju_rotVecMatT(double result[3], const double vector[3], const double matrix[9]) {
    mju_mulMatTVec3(result, matrix, vector);
}
#endif

// A size of a model: 64 bits since 3.5, of a number that fits an int, because a model file and its velocities are limited.
static inline int model_count(int64_t size) { return (int)size; }

// Refuses a library whose structs may differ from those of the headers that carom was built with.
carom_status model_check_version(carom_error *error);

enum { MODEL_ADVICE_SIZE = 512, MODEL_ROOM_SIZE = 128 };

// What to do about a message of MuJoCo, to stand behind it: where it does not know a word of the model, which version this is, and how to
// build with a newer one; where a free joint is inside another body, what to move. An empty text behind other messages.
void model_advise_on_message(const char *message, char advice[MODEL_ADVICE_SIZE]);

// Loads the plugins that stand beside MuJoCo's library, once in a process.
void model_load_plugins(void);

// Passes a message that came from MuJoCo on to it.
void model_repeat_error(const char *message);
void model_repeat_warning(const char *message);

// Puts bytes into a file system in memory, in the place of the file `path`; false when that fails.
bool model_add_file(mjVFS *files, const char *path, const char *bytes, size_t size);

// After loading a model that gives no limit of contacts: raises MuJoCo's own, 100 in 2.2.2; later versions share a memory.
void model_make_room(mjModel *compiled);

// After loading: every body is awake, whatever its speed.
void model_keep_awake(mjModel *compiled);

// Tendons, deformable bodies and the mass matrix, after the positions of bodies.
void model_compute_inertia(const mjModel *compiled, mjData *data);
// The mass matrix, [nv x nv].
void model_fill_mass(const mjModel *compiled, const mjData *data, double *mass);

// The gradient of a tendon's length, [nv].
void model_fill_tendon_row(const mjModel *compiled, const mjData *data, int tendon, double *row);

// Do springs and dampers of the model act?
bool model_has_springs(const mjModel *compiled);
bool model_has_dampers(const mjModel *compiled);
// Is a tendon longer or shorter than its spring at rest? Needs tendons' lengths.
bool model_is_tendon_stretched(const mjModel *compiled, const mjData *data, int tendon);

// The number of actuators. Each has one control and one force, but for kinds that are no motors, servos or dampers.
int model_count_actuators(const mjModel *compiled);
// The place of an actuator's control among all controls; -1 where it has none or several.
int model_find_control(const mjModel *compiled, int actuator);
// Its force [N, N m], and the gradient of its length, [nv], after mj_fwdActuation; false where it has several forces.
bool model_get_actuator(const mjModel *compiled, const mjData *data, int actuator, double *force, double *gradient);
// The place of the activation that an actuator's force is proportional to; -1: it has none.
int model_find_activation(const mjModel *compiled, int actuator);
// Do actuators have delays?
bool model_has_delays(const mjModel *compiled);
// Advances the activations of all actuators by a time, from the rates that mj_fwdActuation left: as MuJoCo does, exactly for filters that
// ask for it, within the range of each. Kinds of dynamics that are not known here keep theirs.
void model_advance_activations(const mjModel *compiled, mjData *data, double duration);
// Is that such a kind?
bool model_holds_activation(const mjModel *compiled, int actuator);
// Do contacts of geoms pull?
bool model_has_adhesion(const mjModel *compiled);
// Deformable bodies, or plugins, whose forces are not known here.
bool model_has_foreign_parts(const mjModel *compiled);

// Takes the damping of joints from a copy of a model, which mj_Euler integrates implicitly, whatever the passive forces are.
// @param zeros  in place of the linear damping, [nv]
void model_switch_off_damping(mjModel *shadow, double *zeros);

// After changes of what geoms collide with, by their bits: bodies have those of their geoms.
void model_gather_bits(mjModel *compiled);
// Collision detection then finds the geoms that are closer than the margin [m], whatever margins the model gives.
void model_set_margins(mjModel *compiled, double margin);
// After collision detection: drops penetrations of two boxes that are apart, and gives the contacts of two boxes, which are numbered in
// their order, that of 2.2.2.
void model_tidy_contacts(const mjModel *compiled, mjData *data);
// The signed distance of two geoms by MuJoCo's collision function, at their places in the data; infinite where it is at least the margin.
// Farther away than they are large it is a lower bound.
double model_measure_distance(const mjModel *compiled, mjData *data, int first_geom, int second_geom, double margin);
// Does MuJoCo have a collision function for two geoms of these types?
bool model_can_collide(int first_type, int second_type);
// The precision of collisions of general convex geoms: sets the values and returns those before.
typedef struct model_precision {
    double tolerance;  // [m]
    int iterations;
} model_precision;
model_precision model_set_precision(mjModel *compiled, model_precision precision);
// Is the pair of bodies an excluded one?
bool model_excludes(const mjModel *compiled, int exclude, int first_body, int second_body);
// Distance from a point to a geom along a unit vector; below zero where the ray misses it.
double model_cast_ray(const mjModel *compiled, const mjData *data, int geom, const double from[3], const double along[3]);
// Does a contact touch a deformable body, which has no geom?
bool model_touches_flex(const mjContact *contact);
// Does the surface of one of its geoms move along the geom, as a belt does?
bool model_touches_belt(const mjModel *compiled, const mjContact *contact);
// A contact of two geoms, its other members zero.
mjContact model_contact_of(int first_geom, int second_geom);
// Skins and deformable bodies.
int model_count_soft_parts(const mjModel *compiled);
// The first of the bodies that move with a body; 0, the world, for bodies that only a user moves, too.
int model_weld(const mjModel *compiled, int body);

// What limits the number of contacts (`size` is "nconmax") or constraints ("njmax"), and how to raise it, to stand behind "more than ".
void model_describe_room(const mjModel *compiled, const char *size, char text[MODEL_ROOM_SIZE]);

#endif
