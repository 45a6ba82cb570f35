// SPDX-License-Identifier: Apache-2.0
/// @file
/// Worst cases: directed search among the solutions of the impact inclusion for the largest value of a functional.
#ifndef CAROM_WORST_H
#define CAROM_WORST_H

#include "carom/functional.h"
#include "carom/reach.h"

CAROM_API_BEGIN

typedef struct carom_worst_options {
    int64_t evaluations;                   ///< walks for each functional, the plain ones that all share included, >= 1; 0: auto
    double seconds;                        ///< budget of time for each functional [s], > 0, in place of evaluations; NaN: none
    int64_t seed;                          ///< of plain walks and of the search
    carom_walker_options walker;           ///< how walks go
    const carom_uncertainty *uncertainty;  ///< of the impact: its parameters are searched, too; NULL: nothing is uncertain
} carom_worst_options;

/// Auto evaluations, seed 0, up to 10,000 pieces, mixed weights, no restitution.
carom_worst_options carom_worst_defaults(void);

enum { CAROM_WORST_ROWS = 7 };
extern const carom_option carom_worst_rows[CAROM_WORST_ROWS];

/// The best value after so many evaluations.
typedef struct carom_worst_growth {
    int64_t evaluations;
    double value;
} carom_worst_growth;

enum { CAROM_WORST_MOST_GROWTH = 64 };

/// The best member of the set that was found for one functional.
typedef struct carom_worst {
    double value;                                        ///< of the functional; -INFINITY: no walk has ended
    double samples_value;                                ///< that of the best of the plain walks
    int64_t evaluations;                                 ///< walks, the plain ones included
    int64_t samples;                                     ///< plain ones
    carom_tape tape;                                     ///< plays the member again
    carom_worst_growth growth[CAROM_WORST_MOST_GROWTH];  ///< [grown], at each doubling of the evaluations and at the end
    int grown;
} carom_worst;

/// Searches for the largest values of functionals [count] over the solutions of the impact inclusion, as walks have them: first plain
/// walks, then changes of the tapes of the best (docs/worst.md). With a budget of evaluations the answer is the same, bit by bit, for every
/// number of threads; with one of time it is not, but what is found can be played again.
/// @param worst  [count] to be released, also after a failure
/// @param verdict  CAROM_COMPLETE or CAROM_INTERRUPTED; what was found until then is there
/// @return CAROM_BAD_INPUT for options out of range
carom_status carom_worst_search(const carom_impact *impact, const carom_functional *functionals, int count,
                                const carom_worst_options *options, const carom_control *control, carom_worst *worst,
                                carom_verdict *verdict, carom_error *error);
void carom_worst_release(carom_worst *worst);

/// A member of the set with its path, and what an independent check says of it.
typedef struct carom_witness {
    int n, rows;                ///< straight or curved pieces are between rows
    const double *u, *impulse;  ///< [rows x n] contact velocities [m/s] and accumulated impulses [N s], contact-major
    const double *v, *u_plus;   ///< [nv], [n] velocities at the end
    const double *parameters;   ///< [carom_uncertainty_count] of an uncertain impact; NULL for none
    const double *total;        ///< [n] impulses at the end; paths of more than CAROM_MOST_TRACE_STEPS pieces are cut before
    double energy_ratio;        ///< K(v+)/K(v-); NaN where K(v-) = 0
    bool terminated;            ///< no contact approaches at the end
    /// Largest violations, relative to the velocity scale of the impact, or to the largest impulse times the largest friction:
    double balance;  ///< of u' = u + W dP on a piece
    double cone;     ///< of dP_n >= 0 and |dP_t| <= mu dP_n on a piece
    double energy;   ///< gained on a piece, relative to K(v-); with restitution at the end alone
    double opening;  ///< normal velocity of a contact that presses; 0 with restitution
    double slip;     ///< of friction mu dP_n against the slip; in space as far as the slip at both ends of a piece tells
    bool verified;   ///< all of them are below the tolerance of walks, and the walk has terminated
    carom_arena arena;
} carom_witness;

/// Plays a tape, and checks the path piece by piece from velocities and impulses alone.
/// @param options  how walks go, and what is uncertain
/// @param tape     of carom_worst_search; one that is too short goes on with a stream
carom_status carom_witness_create(const carom_impact *impact, const carom_worst_options *options, const carom_tape *tape,
                                  carom_witness *witness, carom_error *error);
void carom_witness_release(carom_witness *witness);

/// Its value of a functional.
double carom_witness_value(const carom_witness *witness, const carom_functional *functional);

CAROM_API_END

#endif
