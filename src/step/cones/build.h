// SPDX-License-Identifier: Apache-2.0
/// @file
/// How cones are made, of bases, of Lemke's pivots and of contact modes: shared by the files of this folder.
#ifndef CAROM_STEP_CONES_BUILD_H
#define CAROM_STEP_CONES_BUILD_H

#include "step/cones/kernel.h"
#include "step/cones/map.h"
#include "step/step_internal.h"

/// Training steps by which the rows of a cone are put in order.
enum { CAROM_CONE_WITNESSES = 64 };

/// A cone under construction: rows r . x >= threshold size(x), scaled such that max_j |r_j| unit_j = 1.
typedef struct carom_cone_rows {
    int count, capacity, inputs;
    double *rows;  ///< [capacity x (inputs + 1)]; the last entry is -threshold
} carom_cone_rows;

/// What all cones of a step have in common.
typedef struct carom_cone_builder {
    carom_stepper *stepper;   ///< capped, with our Lemke
    carom_lcp_basis *basis;   ///< on W in natural units
    double *natural;          ///< [size x size] that W
    int inputs, n, size;      ///< of x, of contact space, of the LCP
    double *unit;             ///< [inputs]
    double *vector;           ///< [size x inputs] w = vector x
    double *y_unit, *z_unit;  ///< [size] of carom_step_units
    double *z, *y;            ///< [inputs x size] solution of the basis at hand, by a unit of each input
    double *impulse;          ///< [inputs x n]
} carom_cone_builder;

/// max_j |row_j| unit_j, the largest value of a row for inputs of size one.
double carom_cone_row_size(const carom_cone_builder *builder, const double *row);

/// Adds row . x >= threshold size(x), scaled to size one, unless the row is there already: then the stronger threshold counts.
/// @param size  of the row, > 0
carom_status carom_cone_rows_add(const carom_cone_builder *builder, carom_cone_rows *rows, const double *row, double size, double threshold,
                                 carom_error *error);

/// size(x) of carom_cones.
double carom_cone_input_size(int inputs, const double *per_unit, const double *x);
/// Do all of these rows [count x (inputs + 1)] hold at x?
bool carom_cone_rows_hold(int inputs, const double *rows, int count, const double *x, double size);

/// Puts rows that turn most witnesses away first, each counted among those that the rows before it let pass.
/// @param witnesses  [(inputs + 1) x CAROM_CONE_WITNESSES] steps side by side, with their sizes; `count` of them
carom_status carom_cone_rows_order(carom_cone_rows *rows, const double *witnesses, int count, carom_error *error);

/// Fills `first_row` and `rows` from those of `count` cones.
carom_status carom_cones_take_rows(carom_cones *cones, const carom_cone_rows *rows, carom_error *error);

/// Fills `heads` and `sides` from the rows.
carom_status carom_cones_stand_side_by_side(carom_cones *cones, carom_error *error);

/// Training steps by which planes are chosen.
typedef struct carom_cone_training {
    const bool *guessable;  ///< [cones] cones whose impulses the selection allows wherever they are verified; others are not guessed
    const double *states;   ///< [count x inputs]
    int count;
    /// [count x CAROM_CONE_MOST_SOLUTIONS] the cones of their distinct solutions, in their order; negative numbers fill up. Where solutions
    /// are listed.
    const int32_t *outcomes;
    const double *witnesses;  ///< as for carom_cone_rows_order
    int witness_count;
} carom_cone_training;

/// Finds planes whose sides tell the cones apart, for guesses, where there are few cones and the planes are nearly always right; otherwise
/// leaves the cones without any. The cones are complete but for these.
carom_status carom_cones_choose_splits(carom_cones *cones, const carom_cone_training *training, carom_error *error);

/// Finds the rivals of every cone at these training steps.
carom_status carom_cones_find_rivals(carom_cones *cones, const double *delassus, const carom_cone_training *training, carom_error *error);

/// Makes the cells of the outcomes that the training met most often. The cones are complete but for these. A cell is proved: no outcome of
/// a lookup depends on which there are.
carom_status carom_cones_make_cells(carom_cones *cones, const carom_cone_builder *builder, const carom_cone_kernel *kernel,
                                    const carom_cone_training *training, carom_error *error);
void carom_cone_cells_free(carom_cone_cells *cells);

/// An orthonormal basis [n x n] of contact space, row by row, that begins with one of the contact velocities u = J v. Returns how many
/// these are; all n where there is no system, and any u may be given.
int carom_cone_range(const carom_cone_builder *builder, double *basis);

/// The velocity u' = u + W lambda after the step by a cone's map.
void carom_cone_velocity(const carom_cones *cones, const double *delassus, int cone, const double *x, double *velocity);
/// Are two velocities after the step from x the same solution?
bool carom_cone_same_velocity(int n, const double *x, const double *a, const double *b);

/// Conditions under which Lemke's method takes the same pivots as for x: then it ends on the same basis.
/// @param basic  [size] the basis it ended on
/// @param same   false when the method could not be followed; `rows` are then of no use
carom_status carom_cone_follow_lemke(const carom_cone_builder *builder, const double *x, const bool *basic, carom_cone_rows *rows,
                                     bool *same, carom_error *error);

/// The cone of a basis: the signs that it asks for, z_i >= 0 where bit i is set and y_i >= 0 elsewhere, and its impulses in
/// builder->impulse.
/// @param regular  false when the basis is singular; rows and impulses are then of no use
carom_status carom_cone_make_basis(const carom_cone_builder *builder, uint64_t members, carom_cone_rows *rows, bool *regular,
                                   carom_error *error);

/// The cone of one combination of contact modes: its rows, whose thresholds are shares of the largest |u_c|, and its impulses in
/// builder->impulse.
/// @param codes    [contacts] 0: open; then the friction modes of a contact that stops, then those of a capped one
/// @param regular  false when the modes do not determine the impulses; rows and impulses are then of no use
carom_status carom_cone_make_modes(const carom_cone_builder *builder, const int *codes, carom_cone_rows *rows, bool *regular,
                                   carom_error *error);

/// Is v' proved to be unique on the cone of these rows, on which `impulse` [inputs x n] is a solution? For two planar contacts at most.
/// @param rows  NULL: wherever `impulse` is a solution
bool carom_cone_prove_unique(const carom_cone_builder *builder, const carom_cone_rows *rows, const double *impulse);

#endif
