// SPDX-License-Identifier: Apache-2.0
/// @file
/// Motion through propagative impacts: a midpoint variational integrator that stops at every contact (Seghete & Murphey, section VI).
#ifndef CAROM_DYNAMICS_PROPAGATIVE_MOTION_H
#define CAROM_DYNAMICS_PROPAGATIVE_MOTION_H

#include "carom/propagative.h"
#include "dynamics/propagative/flight.h"

typedef struct propagative_rules {
    double contact_tolerance;  ///< gaps this small are closed, and contacts that close within it of each other are one impact [m]
    double restitution;        ///< energetic coefficient of the impacts, in [0,1]
    carom_plastic_kind plastic;
    carom_word_order_kind order;  ///< which of several outcomes is taken; not CAROM_ORDER_GIVEN
    uint64_t seed;                ///< of random orders: event k draws from stream (seed, k)
    int64_t zeno_limit;           ///< impacts of one contact in one step beyond which it is closed plastically and held
    int64_t max_impacts;          ///< events in one step
} propagative_rules;

/// What an impact was.
typedef enum propagative_kind {
    PROPAGATIVE_ELASTIC,
    PROPAGATIVE_INELASTIC,
    PROPAGATIVE_PLASTIC,       ///< R = 0
    PROPAGATIVE_ACCUMULATION,  ///< closed, because a contact was hit more often in the step than the limit
    PROPAGATIVE_JAMMED,        ///< closed, because words need not end
} propagative_kind;

/// What happened at one instant. Arrays are borrowed during the call.
typedef struct propagative_event {
    double time;
    propagative_kind kind;
    const int *contacts;  ///< [count], closed contacts
    int count;
    const int *word;  ///< [length], contacts in the order of their impacts; NULL where contacts were closed
    int64_t length;
    const double *impulse;                 ///< [count] normal impulses [N s]
    const double *q, *v_before, *v_after;  ///< [nv]
    double energy_ratio;                   ///< kinetic energy after over before
    carom_uniqueness_verdict uniqueness;
    double xi;  ///< largest kinetic distance of two outcomes over |p-|; NaN where jammed
} propagative_event;

typedef carom_status (*propagative_visit)(void *user, const propagative_event *event, carom_error *error);

/// A motion on its way, and where it searches for the next impact.
typedef struct propagative_motion {
    propagative_rules rules;
    propagative_flight *flight;
    size_t n, m;  // velocities, contacts
    carom_arena arena;
    double time;
    uint64_t events;
    double loss;                 // energy that impacts and dampers have taken so far
    double work;                 // that the dampers take in a trial
    double *q, *p;               // [n] position, and momentum p = M v
    bool *held;                  // [m] the contact is held closed, until it would have to pull
    double *saved_q, *saved_p;   // [n] before the step
    bool *saved_held;            // [m]
    double *next_q, *next_p;     // [n] end of a trial
    double *multiplier;          // [m] impulses of held contacts in it
    bool *released;              // [m] held contacts that it lets open
    double *start_rate;          // [m] of the gaps at its start
    double *end_gap, *end_rate;  // [m] at its end
    double *rate;                // [m] wherever they are wanted
    double *velocity, *before;   // [n] scratch, and before an impact
    int *active;                 // [m] contacts of an impact
    double *rows;                // [m x n] their normals
    double *plastic, *impulse;   // [m]
    int64_t *impacts;            // [m] in this step
    // Of the step that runs.
    const carom_control *control;
    propagative_visit visit;
    void *user;
    carom_verdict verdict;
} propagative_motion;

/// A motion from (q, v) at time 0.
/// @param system   borrowed as long as the motion lives
/// @return CAROM_BAD_INPUT: no mass matrix at q, a position that penetrates
carom_status propagative_motion_create(const carom_system *system, const propagative_rules *rules, const double *q, const double *v,
                                       propagative_motion **created, carom_error *error);
void propagative_motion_free(propagative_motion *motion);

/// Advances to the time `end`, as one step with as many impacts as happen in it.
/// @param control  cancels; may be NULL
/// @param visit    receives the events in order; may be NULL
/// @param verdict  CAROM_COMPLETE; otherwise the state is that before the step: CAROM_NO_CONVERGENCE, CAROM_ZENO_LIMIT when there are more
///                 events than max_impacts, CAROM_BUDGET_SPENT at the longest word, CAROM_INTERRUPTED
/// Cost: a few evaluations of the system without event (2 nv + 3 times as many for a mass matrix that changes); about 60 steps for each
///       contact of an event.
carom_status propagative_motion_step(propagative_motion *motion, double end, const carom_control *control, propagative_visit visit,
                                     void *user, carom_verdict *verdict, carom_error *error);

/// Kinetic energy, and that of the potential.
double propagative_motion_energy(propagative_motion *motion, double *potential);

// ------------------------------------------------------------------------------------------------ figures and studies

extern const carom_integrator carom_integrator_propagative;
carom_status propagative_figures(const carom_figures *figures, carom_error *error);
/// |p - p'|/|p| in the kinetic metric at the first run's positions.
carom_status propagative_order_distances(const carom_motion *motion, const carom_table *first, const carom_table *second, int64_t count,
                                         double *distances, carom_error *error);

#endif
