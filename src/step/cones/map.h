// SPDX-License-Identifier: Apache-2.0
/// @file
/// What can be asked of the state of the step method `cone-map` beside the functions of its row.
///
/// W is fixed, so that every basis of the step's LCP gives the impulse as a linear function of x = (u, lmax), on the polyhedral cone of the
/// x for which its signs hold: a complementary cone (Cottle, Pang & Stone 1992, section 1.3). A map is trained on steps solved by Lemke's
/// method, then frozen and shared between threads. Steps that no cone serves are left to Lemke's method itself.
#ifndef CAROM_STEP_CONES_MAP_H
#define CAROM_STEP_CONES_MAP_H

#include <stdbool.h>

/// LCP variables of a step that can be mapped, and of one that can be mapped for `lemke`: Lemke's method has too many ways to a basis of
/// more variables, each a cone with hundreds of rows.
enum { CAROM_MOST_MAPPED = 64, CAROM_MOST_FOLLOWED = 20 };
/// Combinations of contact modes whose cones are listed for `random`, which `auto` therefore takes: those of four planar contacts.
enum { CAROM_MOST_LISTED = 2500 };

/// For the selection `any` a map holds complementary cones; for `lemke` only cones on which v' is Lemke's: those where it is proved to be
/// unique, elsewhere those on which Lemke's method takes the same pivots.
typedef struct carom_cone_map carom_cone_map;

/// Share of the training that ended on bases where v' was proved to be unique; only for `lemke`.
double carom_cone_map_certified(const carom_cone_map *map);

/// Cells in which the solutions of a frozen map for `random` are known beforehand.
int carom_cone_map_cells(const carom_cone_map *map);

/// Is v' proved to be unique on this cone of a frozen map for `lemke`?
bool carom_cone_map_is_certified(const carom_cone_map *map, int cone);

#endif
