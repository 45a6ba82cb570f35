// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mechanisms in time whose contacts are found as the motion goes on: forces, constraints and detection as functions of time,
/// configuration and velocity. A carom_system (carom/system.h) has a fixed list of contacts instead.
#ifndef CAROM_MECHANISM_H
#define CAROM_MECHANISM_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// What a mechanism is at one time, configuration and velocity: M(q) dv/dt = f(t, q, v) + J' lambda.
typedef struct carom_mechanism_terms {
    double *mass;          ///< M, [nv x nv], with armatures
    double *force;         ///< f, [nv]: of gravity, inertia (Coriolis, centrifugal), springs, dampers and actuators [N, N m]
    double *actuation;     ///< [nv] the share of `force` that the actuators have
    double *resistance;    ///< [nv] the share of `force` that dampers and drag have
    double *damping;       ///< D ~ -df/dv of dampers and servos, [nv x nv], symmetric and positive semidefinite
    double *stiffness;     ///< K ~ -df/dq of springs and servos along velocities, [nv x nv], symmetric and positive semidefinite
    double *dry_friction;  ///< [nv] bound of the dry friction of each velocity coordinate [N, N m]; 0 for none
    double kinetic;        ///< v' M v / 2 [J]
    double potential;      ///< of gravity and springs [J]
} carom_mechanism_terms;

typedef enum carom_touch_kind {
    CAROM_TOUCH_CONTACT,  ///< two geoms
    CAROM_TOUCH_LIMIT,    ///< a joint at a stop, or a tendon at a limit: no tangents
} carom_touch_kind;

/// One unilateral constraint that detection found near or closed.
typedef struct carom_touch {
    carom_touch_kind kind;
    int first, second;   ///< geoms; of a contact that the scene lists -1 and its number; of a limit its joint (or the number of joints plus
                         ///< the tendon) and 0 for the lower, 1 for the upper end
    int ordinal;         ///< among the points of the same two geoms
    double gap;          ///< > 0 apart [m or rad]
    double friction;     ///< mu, 0 for limits
    double restitution;  ///< in [0,1]
    double point[3];     ///< of contacts, in the world [m]
    double axes[3][3];   ///< of contacts: the normal from the first to the second geom, and two tangents
    double size;         ///< half the thickness of the thinner geom [m], of a limit half its range; 0: not known
} carom_touch;

/// What detection found at one configuration. The memory belongs to the workspace and lasts until its next call.
typedef struct carom_touches {
    int count;
    const carom_touch *touch;  ///< [count] ordered by kind, geoms and ordinal
    const double *normal;      ///< Jn, [count x nv]: its velocity is the gap's rate
    const double *tangent;     ///< Jt, [2 count x nv], contact-major; zero rows for limits
    int equations;             ///< bilateral constraints
    const double *residual;    ///< [equations] what they are off [m or rad]
    const double *equation;    ///< G, [equations x nv]: its velocity is the residual's rate
    int idle_count;
    const carom_touch *idle;  ///< [idle_count] that penetrate and are left out, because no motion changes their gap just now
} carom_touches;

/// A mechanism. Immutable: threads share it, and each opens a workspace of its own.
typedef struct carom_mechanism {
    const void *self;
    int nq, nv;
    const double *position;             ///< [nq] at the start
    const double *velocity;             ///< [nv] at the start
    const char *const *position_names;  ///< [nq] such as "trunk.x" or a hinge's name
    const char *const *velocity_names;  ///< [nv]
    const bool *turns;                  ///< [nv] the coordinate is an angular velocity
    double mass;                        ///< of all that moves [kg]
    double length;                      ///< a size that gaps compare with [m]
    double gravity;                     ///< its acceleration, for scales of energies [m/s^2]
    double restitution;                 ///< largest one that a contact, a stop or a string has
    int activations;                    ///< states of actuators besides positions and velocities; 0 for none
    const double *activation;           ///< [activations] at the start
    carom_status (*open)(const void *self, void **workspace, carom_error *error);
    void (*close)(void *workspace);
    /// Fills all terms at a time [s], position [nq] and velocity [nv]. No allocation.
    void (*evaluate)(void *workspace, double time, const double *position, const double *velocity, carom_mechanism_terms *terms);
    /// Finds what is closer than `margin` [m; of limits rad or m], and all bilateral constraints. Allocates only when there are more than
    /// ever before in this workspace.
    carom_status (*detect)(void *workspace, const double *position, double margin, carom_touches *touches, carom_error *error);
    /// moved [nq] = position (+) duration velocity: quaternions turn by their exponential map and stay unit quaternions. May be in place.
    void (*advance)(const void *self, const double *position, const double *velocity, double duration, double *moved);
    /// Sets the activations [activations] with which `evaluate` works from now on. NULL where there are none.
    void (*activate)(void *workspace, const double *activation);
    /// The activations after a time [s], at the rates of the last `evaluate`. NULL where there are none.
    void (*advance_activation)(void *workspace, double duration, double *activation);
    /// Writes a name of a constraint for people, such as "left_foot" or "left_foot:box" or "LIMIT:knee".
    void (*name)(const void *self, const carom_touch *touch, char *name, size_t size);
    /// Writes what to do about two links of one robot that overlap in a contact; an empty text where they are not of one robot. May be NULL
    void (*advise)(const void *self, const carom_touch *touch, char *text, size_t size);
} carom_mechanism;

CAROM_API_END

#endif
