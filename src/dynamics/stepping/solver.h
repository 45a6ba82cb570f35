// SPDX-License-Identifier: Apache-2.0
/// @file
/// The solver of contact problems: what its files share.
#ifndef CAROM_DYNAMICS_STEPPING_SOLVER_H
#define CAROM_DYNAMICS_STEPPING_SOLVER_H

#include "carom/sweeps.h"
#include "dynamics/stepping/stepping.h"

/// The size up to which an LCP is pivoted where sweeps fail.
enum { STEPPING_MOST_PIVOTED = 400 };

/// A force of the LCP: rows of the problem along which it pushes.
typedef struct stepping_force {
    int row, width;
    double along[2];
    int gamma;  // of an edge of a friction cone: the number of its bound; otherwise -1
} stepping_force;

struct stepping_solver {
    double planar[2], spatial[2 * CAROM_MAX_CONE_EDGES];  // directions of cone edges
    carom_arena arena;
    int room;            // of the arrays that an LCP needs
    int row_room;        // of those by rows of the problem
    double mass, speed;  // units of the present problem
    int size, forces, gammas;
    stepping_force *force;  // [forces]
    double *W, *w, *z;      // in those units
    bool *basic;            // [basic_size] of the solution before
    int basic_size;
    carom_lcp_basis *basis;
    int basis_size;
    double *previous;  // [previous_rows] impulses of the problem before
    int previous_rows;
    carom_sweep_problem sweeps;    // the present problem
    carom_sweep_contact *contact;  // [contacts]
    carom_sweep_room *sweeping;
};

const double *stepping_directions(const stepping_solver *solver, const stepping_contact *contact);

#endif
