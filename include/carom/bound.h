// SPDX-License-Identifier: Apache-2.0
/// @file
/// Certified upper bounds of linear functionals over the whole set of post-impact velocities. In libcarom-exact: value functions on fans
/// need GLPK, PPL's rational data and GMP, and are under GPL-3 terms; the bound by energy needs none of them.
#ifndef CAROM_BOUND_H
#define CAROM_BOUND_H

#include "carom/exact.h"
#include "carom/functional.h"
#include "carom/loop.h"
#include "carom/option.h"

CAROM_API_BEGIN

/// What proves a bound.
typedef enum carom_bound_method {
    CAROM_BOUND_START,   ///< `start`: no contact approaches, so that the velocity stays
    CAROM_BOUND_FAN,     ///< `fan`: a piecewise linear function that no solution increases
    CAROM_BOUND_ENERGY,  ///< `energy`: the cone of impulses, no energy gained, and no contact approaching at the end
} carom_bound_method;

/// "start", "fan", "energy".
const char *carom_bound_method_name(carom_bound_method method);

/// What restitution means for the set.
typedef enum carom_bound_hypothesis {
    CAROM_BOUND_INELASTIC,  ///< `none`: contacts do not bounce, whatever their coefficients are
    CAROM_BOUND_STRONGE,    ///< `stronge`: energetic restitution of any coefficients; only the bound by energy holds
    CAROM_BOUND_POISSON,    ///< `poisson`: kinetic restitution may gain energy; refused where a contact bounces
} carom_bound_hypothesis;

typedef struct carom_bound_options {
    int64_t planes;              ///< most planes that refine the fan, >= 0
    double seconds;              ///< budget of time of one bound [s], > 0; NaN: none
    int hypothesis;              ///< a carom_bound_hypothesis
    carom_interval restitution;  ///< of all contacts, within [0, 1]; NaN: the impact's. Only whether a contact bounces counts
    /// A polytope of velocities before the impact, as of carom_exact_options: the bound holds for all of them. NULL: the impact's.
    const carom_exact_start *start;
    /// [contacts] intervals of friction: the bound holds where it is any number within, which may change during the impact. NULL: the
    /// impact's.
    const carom_interval *friction;
} carom_bound_options;

enum { CAROM_BOUND_ROWS = 4 };
extern const carom_option carom_bound_rows[CAROM_BOUND_ROWS];

/// Up to 8 planes within 10 s, no restitution.
carom_bound_options carom_bound_defaults(void);

typedef struct carom_bound {
    double upper;                     ///< f(v+) <= upper for every solution, also with infinitely many switches
    carom_bound_method method;        ///< what proves it
    double energy;                    ///< the bound by energy, which is never less than `upper`
    int planes;                       ///< that refined the fan
    int simplices;                    ///< of the fan; 0 without one
    bool interrupted;                 ///< the caller stopped the search for planes; the bound holds
    char reason[CAROM_MESSAGE_SIZE];  ///< one sentence on a bound by energy alone; "" otherwise
    double seconds;
} carom_bound;

/// An upper bound of a functional of velocities over the closure of all solutions of the impact inclusion.
/// Planar contacts: min V(y-) + |c2|_W R over functions V that are linear on the simplices of a fan, do not grow along any speed of the
/// inclusion, and are at least c - c2 where impacts end; the fan is refined by the planes that lower the bound most (docs/bound.md). The
/// certificate is checked in exact geometry and bounded sums, whatever the linear programs said.
/// @param functional  of contact velocities and velocities; impulses and the energy ratio are refused
/// @param known       a value that some member of the set has, at which refinement may stop; -INFINITY for none
/// @return CAROM_BAD_INPUT for options out of range, for what is not linear in the velocity, and for restitution that may gain energy
/// Cost: milliseconds without planes for two contacts; each plane costs a linear program for each candidate.
/// Thread-safe. After an error within GLPK, such as no memory, the state that GLPK keeps for the calling thread is freed.
carom_status carom_bound_solve(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options,
                               double known, const carom_control *control, carom_bound *bound, carom_error *error);

/// The version of GLPK, such as "5.0"; NULL in a build without fans.
const char *carom_bound_glpk_version(void);

CAROM_API_END

#endif
