// SPDX-License-Identifier: Apache-2.0
/// @file
/// Systems in motion: mass matrix, bias, gaps and contact Jacobians as functions of configuration and velocity.
#ifndef CAROM_SYSTEM_H
#define CAROM_SYSTEM_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// What a system is at one configuration and velocity: M(q) v' + bias(q, v) = Jn' lambda_n + Jt' lambda_t, where
/// bias = c(q, v) + dV/dq - actuation - resistance: c is quadratic in v, and the potential V that of gravity and springs.
typedef struct carom_system_terms {
    double *mass;          ///< [nv x nv]
    double *bias;          ///< [nv] all forces but those of contacts, with minus signs: inertia, gravity, springs, dampers, drag, actuators
    double *actuation;     ///< [nv] the share of the forces that actuators have [N, N m]; NULL: not wanted
    double *resistance;    ///< [nv] the share of the forces that dampers and fluids have [N, N m]; NULL: not wanted
    double *gap;           ///< [contacts] distance from the contact plane, > 0 apart [m], or of a joint from its stop [m or rad]
    double *normal;        ///< Jn, [contacts x nv]: its velocity is the gap's rate
    double *tangent;       ///< Jt, [contacts x nv]
    double *normal_drift;  ///< [contacts] dJn/dt v [m/s^2 or rad/s^2]
    double *tangent_drift;  ///< [contacts] dJt/dt v [m/s^2]
    double potential;       ///< energy of gravity and springs [J]
} carom_system_terms;

/// A mechanism in motion with points and spheres that may touch planes fixed in the world, and joints with stops. Its coordinates are those
/// whose rates are its velocities. Immutable: threads share it, and each opens a workspace of its own.
typedef struct carom_system {
    const void *self;
    int nv, contacts;
    int tangent_dim;                   ///< 1: planar; 0: contacts have no tangents, whose rows stay zero
    const double *friction;            ///< [contacts]
    const double *restitution;         ///< [contacts]
    const bool *turns;                 ///< [nv] the coordinate is an angle
    const char *const *names;          ///< [nv] of the joints
    const char *const *contact_names;  ///< [contacts], or NULL: those of the motion's impact
    const double *position;            ///< [nv] at the start
    const double *velocity;            ///< [nv] at the start
    double mass;                       ///< of all that moves [kg]
    double length;                     ///< a size that gaps compare with [m]
    const double *radii;               ///< [nv/2] of the balls in a plane that the system is; NULL: something else
    bool constant_mass;                ///< the mass matrix is the same everywhere, and the bias does not depend on the velocity
    carom_status (*open)(const void *self, void **workspace, carom_error *error);
    void (*close)(void *workspace);
    /// Fills all terms; may leave at zero, as callers hand them over, what the system never has. No allocation.
    void (*evaluate)(void *workspace, const double *position, const double *velocity, carom_system_terms *terms);
    /// Second derivatives of one contact's gap and of the displacement along its tangent with respect to the coordinates, [nv x nv] each,
    /// symmetric, where `evaluate` was called last. dJn/dt v = v' normal v. No allocation. May be NULL: only compliant contacts need them.
    void (*curve)(void *workspace, int contact, double *normal, double *tangent);
} carom_system;

CAROM_API_END

#endif
