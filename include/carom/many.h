// SPDX-License-Identifier: Apache-2.0
/// @file
/// One outcome for each of many impacts: for training and for studies over families of systems. In libcarom.
#ifndef CAROM_MANY_H
#define CAROM_MANY_H

#include "carom/laws.h"

CAROM_API_BEGIN

/// Many impacts, of equal or different sizes, and how they are asked. Everything is borrowed; one of `data` and `impacts` is given.
typedef struct carom_many_call {
    int64_t count;                       ///< impacts, N
    const carom_impact_data *data;       ///< [count], checked and made into impacts on their way; NULL: `impacts` are given
    const carom_impact *const *impacts;  ///< [count]; NULL: made from `data`
    const void *options;                 ///< the law's option struct; NULL: carom_many_defaults
    int64_t seed;                        ///< 0 to CAROM_MOST_SEED; takes the place of the law's option `seed`
    const carom_registry *registry;      ///< NULL: the core's solvers
    const carom_control *control;        ///< threads, cancellation, progress; NULL: all by default
} carom_many_call;

/// Where the outcome of one impact goes. The caller sets the pointers, each of which may be NULL: not wanted.
typedef struct carom_many_outcome {
    double *velocity;         ///< [nv] v+ [m/s, rad/s]; NaN where there is no outcome
    double *normal_impulse;   ///< [contacts] [N s]; NaN also where the law does not determine it
    double *tangent_impulse;  ///< [contacts * tangent_dim] [N s]
    double energy_ratio;      ///< K(v+) / K(v-); NaN where K(v-) is 0, and without outcome
    int64_t steps, flags;     ///< of the outcome, as in its columns; 0 without one
    carom_verdict verdict;    ///< of the law's answer; CAROM_INTERRUPTED also where the impact was not reached
    bool finished;            ///< there is an outcome: one after which no contact approaches
} carom_many_outcome;

/// The law's defaults, but for `samples`, which is 1 where the law has that option.
/// @param options  the law's option struct
void carom_many_defaults(const carom_law *law, void *options);

/// The seed of impact `index`: 53 bits of a stream of its own, so that neither other impacts nor other seeds share its random numbers.
int64_t carom_many_seed(int64_t seed, int64_t index);

/// Asks the law about every impact, and takes one of its outcomes after which no contact approaches; of several, each with the same
/// probability. Impact i is asked with the seed carom_many_seed(seed, i) where the law has the option: its outcome is bit by bit one of
/// those of carom_law_resolve with that seed and selection. Outcomes do not depend on the number of threads, nor on the other impacts.
///
/// The selection `auto` is that of carom_step_selection_unproved here, because the proof that is left out takes longer than an outcome.
/// Laws that sample a set make as many samples as the option `samples` says, of which one is taken.
/// @param outcomes  [count]; filled on every exit, what was not reached with NaN and CAROM_INTERRUPTED
/// @return CAROM_BAD_INPUT for data that make no impact, with its index, and as carom_law_resolve. What a law cannot finish is a verdict.
/// Cost: that of the impacts one by one, shared between threads.
carom_status carom_law_sample_many(const carom_law *law, const carom_many_call *call, carom_many_outcome *outcomes, carom_error *error);

CAROM_API_END

#endif
