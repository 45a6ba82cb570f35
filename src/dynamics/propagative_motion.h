// SPDX-License-Identifier: Apache-2.0
/// @file
/// Motion through propagative impacts: a midpoint variational integrator that stops at every contact (Seghete & Murphey, section VI).
#ifndef CAROM_DYNAMICS_PROPAGATIVE_MOTION_H
#define CAROM_DYNAMICS_PROPAGATIVE_MOTION_H

#include "carom/propagative.h"

CAROM_API_BEGIN

/// A system with constant mass matrix in a potential, before contacts phi_i(q) >= 0. Borrowed as long as the motion lives.
typedef struct carom_motion_system {
    int coordinates, contacts;
    const double *mass;  ///< [coordinates x coordinates], symmetric positive definite
    void *user;
    /// V(q) [J] and its gradient; NULL: no forces.
    double (*potential)(void *user, const double *q, double *gradient);
    /// phi_i(q) [m], positive when open, and its gradient.
    double (*gap)(void *user, int contact, const double *q, double *gradient);
} carom_motion_system;

typedef struct carom_motion_options {
    double contact_tolerance;  ///< gaps this small are closed, and contacts that close within it of each other are one impact [m]
    double restitution;        ///< energetic coefficient of the impacts, in [0,1]
    carom_plastic_kind plastic;
    carom_word_order_kind order;  ///< which of several outcomes is taken; not CAROM_ORDER_GIVEN
    uint64_t seed;                ///< of random orders: event k draws from stream (seed, k)
    int zeno_limit;               ///< impacts of one contact in one step beyond which it is closed plastically and held
} carom_motion_options;

/// 1e-10 m, elastic, unilateral, the most violated contact first, 2 impacts.
carom_motion_options carom_motion_defaults(void);

/// What happened at one instant.
typedef struct carom_motion_event {
    double time;
    bool plastic;     ///< contacts were closed: R = 0, more impacts in the step than the limit, or words need not end
    const int *word;  ///< [length], contacts in the order of their impacts; none for a plastic event
    int64_t length;
    double energy_ratio;  ///< kinetic energy after over before
} carom_motion_event;

typedef carom_status (*carom_motion_visit)(void *user, const carom_motion_event *event, carom_error *error);

typedef struct carom_motion carom_motion;

/// @return CAROM_BAD_INPUT naming what is wrong: sizes, mass, options, a position that penetrates
carom_status carom_motion_create(const carom_motion_system *system, const carom_motion_options *options, const double *q, const double *v,
                                 carom_motion **motion, carom_error *error);
void carom_motion_free(carom_motion *motion);

/// Advances by `step`, with as many impacts as happen in it.
/// @param visit  receives the events in order; may be NULL
/// @return CAROM_INTERNAL when an implicit step does not converge, or more than 1000 events happen in one step: the state is then that
///         before the step
/// Cost: a few evaluations of forces and gaps without event; about 60 more for each contact of an event.
carom_status carom_motion_step(carom_motion *motion, double step, carom_motion_visit visit, void *user, carom_error *error);

double carom_motion_time(const carom_motion *motion);
const double *carom_motion_position(const carom_motion *motion);
/// Momentum p = M v.
const double *carom_motion_momentum(const carom_motion *motion);
/// The contact is held closed, until it would have to pull.
bool carom_motion_is_held(const carom_motion *motion, int contact);
/// Kinetic and potential energy.
double carom_motion_energy(carom_motion *motion);

CAROM_API_END

#endif
