// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impact steps by lookup, many samples at once: finds the cone of every sample, applies its map, and verifies. The same code for several
/// instruction sets, with the same bits.
#ifndef CAROM_STEP_CONES_KERNEL_H
#define CAROM_STEP_CONES_KERNEL_H

#include "carom/step.h"

/// Columns of samples start at cache lines and hold a multiple of CAROM_CONE_LANES.
enum { CAROM_CONE_LANES = 8, CAROM_CONE_NONE = -1, CAROM_CONE_MOST_SAMPLES = 512 };
/// Rows of a cone come in multiples of this; rows of zeros fill up.
enum { CAROM_CONE_ROWS = 4 };
/// Most planes of a guess, most cones among which it is made, and guesses before the cones are looked through.
enum { CAROM_CONE_MOST_SPLITS = 12, CAROM_CONE_MOST_GUESSED = 16, CAROM_CONE_GUESSES = 2 };

/// Polyhedral cones {x : row . x >= threshold * size(x)} of the step's inputs x = (u, lmax), each with the linear map from x to the
/// impulses. size(x) = max_j |x_j| / unit_j makes the thresholds relative.
typedef struct carom_cones {
    int count;
    int inputs;        ///< n + contacts
    int n;             ///< impulses, contact-major
    size_t map_rows;   ///< n, padded to lanes
    int *first_row;    ///< [count + 1] in `rows`
    double *rows;      ///< [rows x (inputs + 1)]; the last coefficient belongs to size(x)
    double *maps;      ///< [count x inputs x map_rows] impulse by a unit of each input
    double *per_unit;  ///< [inputs] reciprocal units
    /// Where a few planes tell nearly all cones apart: the sides of them on which x is, as a number in base two, say which cone to try.
    int splits;          ///< planes; 0: the cones are looked through
    double *split_rows;  ///< [splits x inputs]
    int32_t *guesses;    ///< [CAROM_CONE_GUESSES x 2^splits] cones, or CAROM_CONE_NONE, the likeliest first
    double *picks;       ///< [n x inputs x CAROM_CONE_MOST_GUESSED] the maps once more, coefficient by coefficient
} carom_cones;

/// What verification needs to know of the step; in its order of LCP variables beta, lam_n, lam_D, gamma.
typedef struct carom_cone_physics {
    int contacts, dim, edges, n;
    int size;                               ///< of the LCP
    const double *delassus;                 ///< [n x n]
    const double *friction;                 ///< [contacts]
    const double *directions;               ///< [edges x dim]
    const double *y_per_unit, *z_per_unit;  ///< [size] reciprocal units of lcp_units.h
    double least_mass;                      ///< 1 / max |W_ij|
} carom_cone_physics;

/// Samples as structure of arrays: column j of an array stands at j * stride.
typedef struct carom_cone_batch {
    size_t stride;
    double *x;                      ///< [inputs] contact velocities, contact-major, then caps
    double *impulse;                ///< [n] of the step
    double *u_next;                 ///< [n]
    double *gain;                   ///< [1] energy change
    int32_t *cone;                  ///< [stride] cone that served, or CAROM_CONE_NONE
    double *work;                   ///< [inputs + 1] columns of scratch
    int32_t *samples;               ///< [stride] scratch
    struct carom_cone_batch *left;  ///< scratch as large as this: the samples whose cones were guessed wrong
} carom_cone_batch;

/// What goes with the samples from step to step, and those that have left; columns stand as in the batch.
typedef struct carom_cone_run {
    int live;       ///< samples that still run, side by side
    double *total;  ///< [n] impulse so far
    double *slot;   ///< [1] a number that names the sample
    double *ahead;  ///< [ahead_count] numbers drawn ahead
    int ahead_count;
    int done;            ///< samples that have left, in that order
    double *done_total;  ///< [n]
    double *done_slot;   ///< [1]
} carom_cone_run;

/// Sums of rows: v_k = start_k + sum_c impulse_c response_ck.
typedef struct carom_cone_velocities {
    int nv, n;
    const double *start;     ///< [nv]
    const double *response;  ///< [n x nv] M^-1 J'
} carom_cone_velocities;

typedef struct carom_cone_kernel {
    const char *name;  ///< of the path: "cone-map:avx512"
    /// One step of the first `count` samples: cone, impulse, u_next and gain. The cone is CAROM_CONE_NONE where no cone has the sample, or
    /// where its impulse fails the verification, which is that of carom_lcp_solve and carom_stepper_solve.
    /// @param max_residual  raised to the largest residual of a verified sample
    /// @return the number of samples without a cone
    int (*step)(const carom_cones *cones, const carom_cone_physics *physics, carom_cone_batch *batch, int count, double *max_residual);
    /// The largest gain of the first `count` samples, at least 0.
    double (*largest_gain)(const carom_cone_batch *batch, int count);
    /// After the step: total += impulse, u = u_next. Samples leave when none of their contacts has a normal velocity below `limit`.
    /// @param stopped  bit l of stopped[g]: sample 8g + l leaves in any case; NULL: none
    void (*advance)(const carom_cone_physics *physics, carom_cone_batch *batch, carom_cone_run *run, double limit,
                    const unsigned char *stopped);
    /// Velocities of the first `count` samples, in the order of carom_impact_apply. Columns stand `stride` apart.
    void (*velocities)(const carom_cone_velocities *sums, const double *impulse, size_t stride, int count, double *v);
} carom_cone_kernel;

extern const carom_cone_kernel carom_cone_kernel_scalar, carom_cone_kernel_portable;
#if defined(__x86_64__)
extern const carom_cone_kernel carom_cone_kernel_avx2, carom_cone_kernel_avx512;
#endif

#endif
