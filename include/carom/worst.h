// SPDX-License-Identifier: Apache-2.0
/// @file
/// Worst cases: directed search among the solutions of the impact inclusion for the largest value of a functional.
#ifndef CAROM_WORST_H
#define CAROM_WORST_H

#include "carom/functional.h"
#include "carom/reach.h"

CAROM_API_BEGIN

// ----------------------------------------------------------------------------------------------- what is searched among

/// What a path is made of, and so what it is checked for.
typedef enum carom_path_kind {
    CAROM_PATH_SOLUTION,  ///< pieces of a solution of the inclusion
    CAROM_PATH_STEPS,     ///< impact steps, which apply the friction of their end to their whole impulse
    CAROM_PATH_JUMP,      ///< from v- to v+, by the impulses that the law reports
} carom_path_kind;

/// The outcomes to which a tape leads, and how. Borrowed from what made them until its next play.
typedef struct carom_members {
    int64_t count;                ///< 0: it leads nowhere
    const double *v, *u;          ///< [count x nv], [count x n] velocities and contact velocities
    const double *impulse;        ///< [count x n] contact-major [N s]; NaN where the law does not report it
    carom_verdict verdict;        ///< CAROM_COMPLETE: a walk or sample that has ended, or a list of outcomes with all that the law has
    bool approximate;             ///< time-stepped, and may lie outside the set of the inclusion by O(h)
    carom_path_kind path;         ///< of its rows, where one outcome has been recorded
    const double *rows_u;         ///< [rows x n] contact velocities before the impact and after every piece
    const double *rows_impulse;   ///< [rows x n] accumulated impulses
    int rows;                     ///< 0: nothing was recorded
    const carom_table *outcomes;  ///< [count] of a law's list: its columns; NULL otherwise
} carom_members;

/// A way of making members from tapes.
typedef struct carom_member_kind {
    const char *name;  ///< "walk", "lcp", "auto"; of a law's list of outcomes "list"
    bool draws;        ///< a tape decides; otherwise one play gives all members that an impact has
    /// What makes members of one impact; not to be shared between threads.
    /// @param user     what the source has
    /// @param records  members have their paths
    carom_status (*create)(const void *user, const carom_impact *impact, bool records, void **maker, carom_error *error);
    void (*free)(void *maker);
    /// Plays from now on poll `control`. Borrowed; NULL: never.
    void (*watch)(void *maker, const carom_control *control);
    /// Members by the numbers of a tape, and by those of the stream (seed, index) where it has none: carom_walker_play.
    /// @param recorded  receives all numbers that were used; NULL: not wanted
    carom_status (*play)(void *maker, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded, carom_members *members,
                         carom_error *error);
} carom_member_kind;

/// What a search is among: solutions as walks or time stepping have them, or the outcomes of a law (carom_law_members).
typedef struct carom_member_source {
    const carom_member_kind *kind;
    void *user;                     ///< belongs to the source
    carom_rebound_options rebound;  ///< what restitution means for solutions
    double tolerance;               ///< of paths in space, relative to the velocity scale; 0: rounding alone
} carom_member_source;

/// Walks.
carom_status carom_walk_members(const carom_walker_options *options, carom_member_source *source, carom_error *error);
/// What `halm-posa` samples: time-stepped samples of the sampler `lcp`, walks, or with `auto` for planar inelastic contacts both, of the
/// samples those that are certified to be solutions. Caps and selections of every step are the numbers of a tape.
/// @param impact  the one that is known: of it are the step and the selection that `auto` stands for
/// @return CAROM_BAD_INPUT for options out of range
carom_status carom_sample_members(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                  carom_member_source *source, carom_error *error);
void carom_member_source_release(carom_member_source *source);

// ----------------------------------------------------------------------------------------------------------- the search

typedef struct carom_worst_options {
    int64_t evaluations;                   ///< plays for each functional, the plain ones that all share included, >= 1; 0: auto
    double seconds;                        ///< budget of time for each functional [s], > 0, in place of evaluations; NaN: none
    int64_t seed;                          ///< of plain samples and of the search
    const carom_member_source *source;     ///< what is searched among, borrowed; NULL: inelastic walks
    const carom_uncertainty *uncertainty;  ///< of the impact: its parameters are searched, too; NULL: nothing is uncertain
} carom_worst_options;

/// Auto evaluations, seed 0, inelastic walks of up to 10,000 pieces with mixed weights.
carom_worst_options carom_worst_defaults(void);

enum { CAROM_WORST_ROWS = 3 };
extern const carom_option carom_worst_rows[CAROM_WORST_ROWS];

/// The best value after so many evaluations.
typedef struct carom_worst_growth {
    int64_t evaluations;
    double value;
} carom_worst_growth;

enum { CAROM_WORST_MOST_GROWTH = 64 };

/// The best member of the set that was found for one functional.
typedef struct carom_worst {
    double value;                                        ///< of the functional; -INFINITY: there is no member
    double samples_value;                                ///< that of the best of the plain samples
    int64_t evaluations;                                 ///< plays, the plain ones included
    int64_t samples;                                     ///< plain ones
    carom_tape tape;                                     ///< plays the member again
    int64_t member;                                      ///< which of those to which the tape leads
    int64_t members;                                     ///< how many these are
    bool complete;                                       ///< nothing has more: these are all that there are of a known impact
    carom_worst_growth growth[CAROM_WORST_MOST_GROWTH];  ///< [grown], at each doubling of the evaluations and at the end
    int grown;
} carom_worst;

/// Searches for the largest values of functionals [count] over the members of a set: first plain samples, then changes of the tapes of the
/// best (docs/worst.md). Where no tape decides and nothing is uncertain, it looks at all members once. With a budget of evaluations the
/// answer is the same, bit by bit, for every number of threads; with one of time it is not, but what is found can be played again.
/// @param worst  [count] to be released, also after a failure
/// @param verdict  CAROM_COMPLETE or CAROM_INTERRUPTED; what was found until then is there
/// @return CAROM_BAD_INPUT for options out of range
carom_status carom_worst_search(const carom_impact *impact, const carom_functional *functionals, int count,
                                const carom_worst_options *options, const carom_control *control, carom_worst *worst,
                                carom_verdict *verdict, carom_error *error);
void carom_worst_release(carom_worst *worst);

/// A short search, a second for a robot, for a solution with a larger value of the functional than is known of the set.
/// @param inner  the largest one that is known, -INFINITY for none; raised where a solution has more
/// @param raised  whether one has
carom_status carom_worst_raise(const carom_impact *impact, const carom_functional *functional, const carom_control *control, double *inner,
                               bool *raised, carom_error *error);

/// A member of the set with its path, and what an independent check says of it.
typedef struct carom_witness {
    int n, rows;                ///< pieces or steps are between rows
    const double *u, *impulse;  ///< [rows x n] contact velocities [m/s] and accumulated impulses [N s], contact-major; NaN: not reported
    const double *v, *u_plus;   ///< [nv], [n] velocities at the end
    const double *parameters;   ///< [carom_uncertainty_count] of an uncertain impact; NULL for none
    const double *total;        ///< [n] impulses at the end
    const int *word;            ///< [word_length] contacts that acted, where a law says so
    int word_length;
    double energy_ratio;   ///< K(v+)/K(v-); NaN where K(v-) = 0
    bool terminated;       ///< no contact approaches at the end
    bool approximate;      ///< time-stepped, and may lie outside the set of the inclusion by O(h)
    carom_path_kind path;  ///< what the path is checked for; of a jump the balance alone, where impulses are reported
    /// Largest violations, of velocities relative to the velocity scale of the impact, or to the largest |W_rc P_c| where these terms
    /// cancel; of impulses relative to the largest one so far times the largest friction:
    double balance;  ///< of u' = u + W dP on a piece
    double cone;     ///< of dP_n >= 0 and |dP_t| <= mu dP_n on a piece
    double energy;   ///< gained on a piece, relative to K(v-) or to the largest work of one row; with restitution at the end alone
    double opening;  ///< normal velocity of a contact that presses, of a step at its end; 0 with restitution
    double slip;     ///< of friction mu dP_n against the slip, of a step against that at its end; in space as far as the slip at both ends
                     ///< of a piece tells
    bool verified;   ///< all of them are below the tolerance of the path, and no contact approaches
    carom_arena arena;
} carom_witness;

/// Plays a tape, and checks the path piece by piece from velocities and impulses alone.
/// @param options  what is searched among, and what is uncertain
/// @param tape     of carom_worst_search; one that is too short goes on with a stream
/// @param member   which of those to which it leads
/// @return CAROM_BAD_INPUT where there is no such member
carom_status carom_witness_create(const carom_impact *impact, const carom_worst_options *options, const carom_tape *tape, int64_t member,
                                  carom_witness *witness, carom_error *error);
void carom_witness_release(carom_witness *witness);

/// Its value of a functional.
double carom_witness_value(const carom_witness *witness, const carom_functional *functional);

CAROM_API_END

#endif
