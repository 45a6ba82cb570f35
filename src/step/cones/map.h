// SPDX-License-Identifier: Apache-2.0
/// @file
/// The cone map of an impact's capped steps. Not installed.
///
/// W is fixed, so that every basis of the step's LCP gives the impulse as a linear function of x = (u, lmax), on the polyhedral cone of the
/// x for which its signs hold: a complementary cone (Cottle, Pang & Stone 1992, section 1.3). A map is trained on steps solved by Lemke's
/// method, then frozen and shared between threads. What no cone serves is for Lemke's method itself.
#ifndef CAROM_STEP_CONES_MAP_H
#define CAROM_STEP_CONES_MAP_H

#include "step/cones/kernel.h"

typedef struct carom_cone_map carom_cone_map;

/// LCP variables of a step that can be mapped, and of one that can be mapped for `lemke`: Lemke's method has too many ways to a basis of
/// more variables, each a cone with hundreds of rows.
enum { CAROM_MOST_MAPPED = 64, CAROM_MOST_FOLLOWED = 20 };

/// An empty map, to be trained. For the selection `any` it will hold complementary cones, for `lemke` only cones on which v' is Lemke's:
/// those where it is proved to be unique, elsewhere those on which Lemke's method takes the same pivots.
/// @param options  of the capped step; its solver is not used
/// @param step     h, the largest cap [N s]: with the impact's velocity scale the unit of the inputs
/// @return CAROM_UNSUPPORTED for LCPs of more variables than these, or another selection
carom_status carom_cone_map_create(const carom_impact *impact, const carom_stepper_options *options, double step, carom_cone_map **map,
                                   carom_error *error);
void carom_cone_map_free(carom_cone_map *map);

/// Takes one step by Lemke's method from the contact velocity u with the caps lmax, and learns its cone.
/// @param u_next  [n]; may be u
/// @param solved  false when the step has no verified solution
carom_status carom_cone_map_train(carom_cone_map *map, const double *u, const double *lmax, double *u_next, bool *solved,
                                  carom_error *error);

/// Ends the training: the most frequent cones are kept, in order of their frequency.
carom_status carom_cone_map_freeze(carom_cone_map *map, carom_error *error);

/// Share of the later half of the training so far that met a cone known by then: an estimate of how often a lookup succeeds.
double carom_cone_map_hit_rate(const carom_cone_map *map);
/// Share of the training that ended on bases where v' was proved to be unique; only for `lemke`.
double carom_cone_map_certified(const carom_cone_map *map);

/// Is v' proved to be unique on this cone of a frozen map for `lemke`?
bool carom_cone_map_is_certified(const carom_cone_map *map, int cone);

/// Of a frozen map.
const carom_cones *carom_cone_map_cones(const carom_cone_map *map);
const carom_cone_physics *carom_cone_map_physics(const carom_cone_map *map);

/// Columns of zeros for the kernels, `stride` numbers each, freed by free; NULL when out of memory.
double *carom_cone_columns_create(int count, size_t stride);

/// Arrays for at most `capacity` samples, 1 to CAROM_CONE_MOST_SAMPLES; one thread's.
carom_status carom_cone_batch_create(const carom_cone_map *map, int capacity, carom_cone_batch *batch, carom_error *error);
void carom_cone_batch_free(carom_cone_batch *batch);

/// A step by the LCP solver in contact space: carom_stepper_solve for a stepper of a selection without enumeration, with u' = u + W
/// impulse.
/// @param u_next   [n]; may be u, which it is when the step is unsolved
/// @param impulse  [n]; zero when the step is unsolved
void carom_stepper_solve_contact(carom_stepper *stepper, const double *u, const double *lmax, double *u_next, double *impulse,
                                 carom_step_info *info);

/// The kernel of a path: "cone-map", or "cone-map:scalar", ... NULL for another name; `*available` says whether this machine runs it.
/// A kernel that this architecture never has is NULL and not available.
const carom_cone_kernel *carom_cone_kernel_find(const char *path, bool *available);

#endif
