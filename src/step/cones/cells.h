// SPDX-License-Identifier: Apache-2.0
/// @file
/// What cells (cells.c) and the proofs about them (exclusion.c) share.
///
/// All of it is in units of per_scale, in which velocities before the step are at most size(x) and coefficients of rows at most one.
#ifndef CAROM_STEP_CONES_CELLS_H
#define CAROM_STEP_CONES_CELLS_H

#include "step/cones/build.h"

enum { CAROM_CELL_MOST_DIMENSIONS = CAROM_CONE_MOST_RESOLVED, CAROM_CELL_MOST_FACETS = 160 };

/// The margin of a cell's conditions.
#define CAROM_CELL_MARGIN 1e-6
/// Caps of a cell are at most this many times size(x): its margins are then larger than the round-off of sums with caps.
#define CAROM_CELL_MOST_CAP 1e3
/// How far u may be from a velocity u = J v.
#define CAROM_CELL_OUT_OF_RANGE 1e-12
/// Functionals below this share of their unit vanish.
#define CAROM_CELL_VANISHING 1e-9
/// Conditions that span less than this beside the others depend on them.
#define CAROM_CELL_DEPENDENT 1e-3
/// Coefficients b_k up to this count as zero; what they are multiplied with is counted as left over.
#define CAROM_CELL_FUZZ 1e-13

/// The coordinates in which proofs are made: those of u in an orthonormal basis of the velocities u = J v, then the caps.
typedef struct cell_space {
    const carom_cones *cones;
    const carom_cone_kernel *kernel;
    int rank, dimensions;
    /// [n x n] that basis, then the directions that are orthogonal to it
    double range[CAROM_CELL_MOST_DIMENSIONS * CAROM_CELL_MOST_DIMENSIONS];
    double *rows;        ///< [rows of the cones x CAROM_CELL_MOST_DIMENSIONS]; zero where a row vanishes
    double *velocities;  ///< [cones x n x CAROM_CELL_MOST_DIMENSIONS]
} cell_space;

/// f . x >= margin size(x)
typedef struct cell_facet {
    double at[CAROM_CELL_MOST_DIMENSIONS];   ///< in coordinates
    double row[CAROM_CELL_MOST_DIMENSIONS];  ///< by a unit of each input
    double margin;
    bool is_condition;  ///< otherwise a cap, which is not negative
    bool implied;       ///< by others, for which it is then needed that they are tested
    bool needed;
} cell_facet;

/// The region of an outcome.
typedef struct cell_region {
    int solutions, facets;
    int32_t solution[CAROM_CONE_MOST_SOLUTIONS];
    cell_facet facet[CAROM_CELL_MOST_FACETS];
} cell_region;

/// Independent facets, completed by directions in which they are all zero, and their inverse: b = q inverse.
typedef struct cell_simplex {
    int member[CAROM_CELL_MOST_DIMENSIONS];  ///< facet, or -1 for such a direction, in which b must vanish
    unsigned lines;                          ///< bit k: b_k is that of such a direction
    _Alignas(64) double inverse[CAROM_CELL_MOST_DIMENSIONS * CAROM_CELL_MOST_DIMENSIONS];
    double error;  ///< of inverse times matrix, with the round-off of b times matrix
} cell_simplex;

static inline double carom_cell_larger(double a, double b) { return a > b ? a : b; }

/// A row in units of per_scale.
static inline void carom_cell_scale_row(const carom_cones *cones, const double *row, double *scaled) {
    for (int j = 0; j < cones->inputs; j++) scaled[j] = row[j] / cones->per_scale[j];
}

/// v_r of a cone by a unit of input j.
static inline double carom_cell_velocity_by(const carom_cones *cones, int cone, int r, int j) {
    const double *map = cones->velocities + (size_t)(cone * cones->inputs + j) * cones->map_rows;
    return map[r] * cones->per_scale[0] / cones->per_scale[j];
}

/// A row, in these units, in coordinates.
void carom_cell_to_coordinates(const cell_space *space, const double *row, double *at);

/// Rows and velocities of all cones in coordinates.
bool carom_cell_fill_space(cell_space *space, carom_arena *arena);

/// Independent facets, from `first` on, without those that are implied. False where the inverse is of no use.
bool carom_cell_choose_simplex(const cell_space *space, const cell_region *region, int first, cell_simplex *simplex);

/// Do the facets of the simplex prove that f . x >= (margin - CAROM_CELL_MARGIN) size(x) for this facet? b: with which coefficients of -f.
bool carom_cell_implies(const cell_space *space, const cell_region *region, const cell_simplex *simplex, const cell_facet *own, double *b);

/// Has a cone no x of the region, as one of its rows, or means of them, prove?
bool carom_cell_excludes(const cell_space *space, const cell_region *region, const cell_simplex *simplex, int cone);

#endif
