// SPDX-License-Identifier: Apache-2.0
/// @file
/// The last word of an LCP solver: the equations of its basic variables, solved again on the original data. Not installed.
#ifndef CAROM_SOLVERS_LCP_BASIS_H
#define CAROM_SOLVERS_LCP_BASIS_H

#include "carom/solvers.h"

CAROM_API_BEGIN

/// Workspace for one W. Not to be shared between threads.
typedef struct carom_lcp_basis carom_lcp_basis;

/// @param W  [n x n], borrowed for the life of the workspace
carom_status carom_lcp_basis_create(int n, const double *W, carom_lcp_basis **basis, carom_error *error);
void carom_lcp_basis_free(carom_lcp_basis *basis);

/// Solves W_aa z_a = -w_a for the indices a with basic[a], refined; the other z are zero. False, and z left alone, when W_aa is singular.
bool carom_lcp_basis_solve(carom_lcp_basis *basis, const bool *basic, const double *w, double *z);

/// The same, and keeps in z whichever of the two has the smaller residual.
/// Round-off below zero is clipped, in z too: impulses are non-negative.
/// @return the residual of z
double carom_lcp_basis_polish(carom_lcp_basis *basis, const bool *basic, const double *w, double *z);

CAROM_API_END

#endif
