// SPDX-License-Identifier: Apache-2.0
/// @file
/// The reduced planar step: the step's LCP on two rows a contact instead of five. Not installed.
#ifndef CAROM_STEP_REDUCED_H
#define CAROM_STEP_REDUCED_H

#include "step/reduced_kernel.h"
#include "step/step_internal.h"

/// With its workspace; not to be shared between threads.
/// @param stepper  with its LCP matrix; borrowed
/// @param path     one of carom_step_reduced_names
/// @return CAROM_BAD_INPUT for another name and for spatial contacts, CAROM_UNSUPPORTED where the machine lacks the instructions
carom_status carom_step_reduced_create(const carom_stepper *stepper, const char *path, carom_step_reduced **reduced, carom_error *error);
void carom_step_reduced_free(carom_step_reduced *reduced);

/// Solves the step's LCP for its vector w as carom_lcp_solve does: verified, no allocation. Anything but CAROM_COMPLETE is for the LCP
/// solver.
void carom_step_reduced_solve(carom_step_reduced *reduced, const double *w, double *z, carom_lcp_info *info);

/// Is v' proved to be the same for all solutions of the step, whatever the velocity and the caps?
bool carom_step_reduced_is_unique(const carom_step_reduced *reduced);

/// The proof, by determinants of combinations of contact modes; false where there is none, or no time to look for it.
/// @param first  contact of the impact that the problem begins with
bool carom_reduced_prove_unique(const carom_reduced_problem *problem, const carom_impact *impact, int first);

#endif
