// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impact steps by lookup, many samples at once: finds the cone of every sample, applies its map, and verifies. The same code for several
/// instruction sets, with the same bits.
#ifndef CAROM_STEP_CONES_KERNEL_H
#define CAROM_STEP_CONES_KERNEL_H

#include "carom/arena.h"
#include "carom/step.h"

/// First rows of a cone, which stand beside those of other cones, and of how many in all.
enum { CAROM_CONE_HEADS = 3, CAROM_CONE_ABREAST = 16 };
/// Most planes of a guess, most cones among which it is made, and guesses before the cones are looked through.
enum { CAROM_CONE_MOST_SPLITS = 12, CAROM_CONE_MOST_GUESSED = 16, CAROM_CONE_GUESSES = 2 };

/// Velocities closer than this share of the largest, before or after the step, are the same solution, as in src/step/modes.c; and how many
/// solutions of one step are told apart.
#define CAROM_CONE_SAME_VELOCITY 1e-8
enum { CAROM_CONE_MOST_SOLUTIONS = 8 };

/// Polyhedral cones {x : row . x >= threshold * size(x)} of the step's inputs x = (u, lmax), each with the linear map from x to the
/// impulses. size(x) = max_j |x_j| / unit_j makes the thresholds relative.
typedef struct carom_cones {
    int count;
    int inputs;       ///< n + contacts
    int n;            ///< impulses, contact-major
    size_t map_rows;  ///< n, padded to lanes
    int *first_row;   ///< [count + 1] in `rows`
    double *rows;     ///< [rows x (inputs + 1)]; the last coefficient belongs to size(x)
    /// The rows once more, eight side by side, cone by cone, from first_side[i] to first_side[i + 1] - 1, [.. x (inputs + 1) x 8]. Zeros
    /// fill up.
    double *sides;
    /// The first rows in single precision, loosened by a bound of its round-off, for inputs in units of `per_scale` and of the largest of
    /// them: [cones / 16 x (1 + inputs) x CAROM_CONE_HEADS x 16], what they are loosened by first. A cone that has x passes them.
    float *heads;
    int *first_side;  ///< [count + 1]
    double *maps;     ///< [count x inputs x map_rows] impulse by a unit of each input
    /// [count x inputs x map_rows] velocity after the step by a unit of each input; NULL where solutions are not listed
    double *velocities;
    double *per_unit;  ///< [inputs] reciprocal units of size(x)
    /// [inputs] reciprocal units in which coefficients of a row are at most one
    double *per_scale;
    /// Cones that training found to overlap with a cone that is looked up before them, with another v': those of cone i are
    /// rivals[first_rival[i]] to rivals[first_rival[i + 1] - 1]. NULL where nothing is chosen among them.
    int *first_rival;
    int32_t *rivals;
    /// Where a few planes tell nearly all cones apart: the sides of them on which x is, as a number in base two, say which cone to try.
    int splits;                      ///< planes; 0: the cones are looked through
    double *split_rows;              ///< [splits x inputs]
    int32_t *guesses;                ///< [CAROM_CONE_GUESSES x 2^splits] cones, or CAROM_STEP_UNSERVED, the likeliest first
    double *picks;                   ///< [n x inputs x CAROM_CONE_MOST_GUESSED] the maps once more, coefficient by coefficient
    struct carom_cone_cells *cells;  ///< where solutions are listed; may be NULL
} carom_cones;

/// Inputs at which the distinct solutions are known, as long as some cones don't have them: polyhedral cones, the most frequent first.
typedef struct carom_cone_cells {
    carom_cones where;    ///< only what a lookup needs
    int *solution_count;  ///< [cells]
    int32_t *solutions;   ///< [cells x CAROM_CONE_MOST_SOLUTIONS] the cones of distinct solutions, in their order
    /// Cones to be tested, CAROM_CONE_ABREAST by so many: groups first_rest[i] to first_rest[i + 1] - 1 of cell i; -1 fills up.
    int *first_rest;
    int32_t *rest;
    float *heads;  ///< of these
    carom_arena arena;
} carom_cone_cells;

/// What verification needs to know of the step; in its order of LCP variables beta, lam_n, lam_D, gamma.
typedef struct carom_cone_physics {
    int contacts, dim, edges, n;
    const double *delassus;                       ///< [n x n]
    const double *friction;                       ///< [contacts]
    const double *directions;                     ///< [edges x dim]
    const double *y_per_unit, *z_per_unit;        ///< [size of the LCP] reciprocals of carom_step_units
    const double *y_per_natural, *z_per_natural;  ///< [size of the LCP] reciprocals of the natural units
    double least_mass;                            ///< 1 / max |W_ij|
} carom_cone_physics;

/// The method's part of a carom_step_batch, whose `served` holds the number of the cone.
typedef struct carom_cone_scratch {
    double *columns;         ///< every column of the batch
    double *work;            ///< [inputs + 1] columns
    float *scaled;           ///< [inputs x stride] sample by sample, for `heads`
    int32_t *samples;        ///< [stride] that have no cone yet
    int32_t *hopeful;        ///< [stride] of these, samples that one of the cones abreast may have,
    unsigned *open;          ///< [stride] and bits of these cones
    int32_t *listed;         ///< [CAROM_CONE_MOST_SOLUTIONS] receives the cones that the last sample chose from; NULL: not asked for
    carom_step_batch *left;  ///< as large as the batch: the samples whose cones were guessed wrong; NULL after the last guess
} carom_cone_scratch;

/// Most coordinates that are resolved at once.
enum { CAROM_CONE_MOST_RESOLVED = 16 };

typedef struct carom_cone_kernel {
    const char *name;  ///< of the path: "cone-map:avx512"
    /// `solve` of carom_step_batch_method. A sample stays unserved where no cone has it, or where its impulse fails the verification, which
    /// is that of carom_lcp_solve and carom_stepper_solve.
    int (*step)(const carom_cones *cones, const carom_cone_physics *physics, carom_step_batch *batch, int count, double *max_residual);
    /// The same for maps that choose among solutions: of the distinct ones, the batch's choices say which is taken. Without rivals the map
    /// holds the cones of all solutions. With them, a small share of the samples is left unserved, for solutions that no cone has.
    int (*choose)(const carom_cones *cones, const carom_cone_physics *physics, carom_step_batch *batch, int count, double *max_residual);
    /// b = q inverse for a row q of so many coordinates; `inverse` and b are aligned, with rows of CAROM_CONE_MOST_RESOLVED. Returns bits:
    /// bit k where b_k > small, and bit CAROM_CONE_MOST_RESOLVED + k where b_k < -small.
    unsigned (*resolve)(const double *q, const double *inverse, int coordinates, double small, double *b);
} carom_cone_kernel;

extern const carom_cone_kernel carom_cone_kernel_scalar, carom_cone_kernel_portable;
#if defined(__x86_64__)
extern const carom_cone_kernel carom_cone_kernel_avx2, carom_cone_kernel_avx512;
#endif

#endif
