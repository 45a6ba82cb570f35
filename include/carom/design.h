// SPDX-License-Identifier: Apache-2.0
/// @file
/// Design for predictability: the nearest parameters at which equations hold, such as a cosine between normals for which the order of
/// impacts does not matter. In libcarom-design, which needs KINSOL of SUNDIALS.
#ifndef CAROM_DESIGN_H
#define CAROM_DESIGN_H

#include "carom/base.h"

CAROM_API_BEGIN

/// Find x near `start` with F(x) = 0, fewer equations than variables or as many.
typedef struct carom_design_problem {
    int variables, equations;
    const double *start;  ///< [variables]
    const double *scale;  ///< [variables], > 0: distances are those of x_i / scale_i
    void *user;
    /// Writes F(x), [equations]. CAROM_BAD_INPUT means that there is no such x, and is recovered from; other errors end the search.
    carom_status (*evaluate)(void *user, const double *x, double *residual, carom_error *error);
} carom_design_problem;

/// Largest |F_i| of a solution.
#define CAROM_DESIGN_TOLERANCE 1e-12

typedef struct carom_design_result {
    carom_verdict verdict;  ///< CAROM_COMPLETE; CAROM_INCOMPLETE: no solution was found, x is the best point; CAROM_INTERRUPTED
    int64_t iterations;     ///< Newton steps of KINSOL
    int64_t evaluations;    ///< of F
    double residual;        ///< max |F_i| at x
} carom_design_result;

/// The point of {F = 0} nearest to the start, up to a local minimum of the distance. On the plane through the start that the gradients of F
/// at the best point so far span, in scaled variables, KINSOL's Newton method with line search solves as many equations as it has unknowns;
/// then gradients are taken anew, until x stays. Derivatives are central differences.
/// @param x  [variables], receives the solution
/// @return CAROM_UNSUPPORTED when the library was built without KINSOL; CAROM_BAD_INPUT for sizes, scales, or a start where F has no value
carom_status carom_design_solve(const carom_design_problem *problem, const carom_control *control, double *x, carom_design_result *result,
                                carom_error *error);

CAROM_API_END

#endif
