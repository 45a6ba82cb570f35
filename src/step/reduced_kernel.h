// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the reduced planar step: the same code for several instruction sets, with the same bits, because every vector operation is
/// element by element and nothing is contracted. Not installed.
#ifndef CAROM_STEP_REDUCED_KERNEL_H
#define CAROM_STEP_REDUCED_KERNEL_H

#include "carom/step.h"

/// What the step knows of the contacts; borrowed for the life of a tableau. Contact space is contact-major: normal, tangent.
typedef struct carom_reduced_problem {
    int contacts;                             // m
    const double *delassus;                   // W [2m x 2m], symmetric
    const double *friction;                   // [m]
    const double *speed_unit, *impulse_unit;  // [2m] magnitudes, for tolerances
} carom_reduced_problem;

/// What each contact does at the end of the step. Slip and stick are closed, with an impulse below the cap.
typedef enum carom_reduced_mode {
    CAROM_REDUCED_OPEN,
    CAROM_REDUCED_SLIP,
    CAROM_REDUCED_STICK,
    CAROM_REDUCED_CAPPED_SLIP,
    CAROM_REDUCED_CAPPED_STICK
} carom_reduced_mode;

typedef struct carom_reduced_kernel {
    const char *name;
    /// NULL when out of memory.
    void *(*create)(const carom_reduced_problem *problem);
    void (*free)(void *tableau);
    /// Pivots until the artificial speed has left, at most `limit` of them; adds them to `*pivots`.
    /// @param u     [2m] contact velocity before the step
    /// @param lmax  [m] caps, INFINITY where there is none
    carom_verdict (*run)(void *tableau, const double *u, const double *lmax, int64_t limit, int64_t *pivots);
    /// [2m] that the last run found.
    void (*read_impulse)(const void *tableau, double *impulse);
    /// u + W impulse, [2m].
    void (*find_velocity)(void *tableau, const double *impulse, double *u_next);
    /// One sweep of iterative refinement of an impulse that leaves u_next: velocities that should be zero in the modes of the last run,
    /// times the inverse basis that the tableau holds, are its error.
    void (*correct)(void *tableau, const double *u_next, double *impulse);
    /// [m] of the last run.
    const carom_reduced_mode *(*modes)(const void *tableau);
} carom_reduced_kernel;

extern const carom_reduced_kernel carom_step_reduced_kernel_scalar, carom_step_reduced_kernel_portable;
#if defined(__x86_64__)
extern const carom_reduced_kernel carom_step_reduced_kernel_avx2, carom_step_reduced_kernel_avx512;
#endif

#endif
