// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finer fans: which plane makes the bound smaller.
#ifndef CAROM_EXACT_FAN_REFINE_H
#define CAROM_EXACT_FAN_REFINE_H

#include "exact/fan/glpk/value_function.h"

/// A fan and the best certificate on it. A struct of zeros holds nothing.
typedef struct fan_certificate {
    fan *on;
    value_function *function;
} fan_certificate;

/// Planes that may be added to a fan. A struct of zeros is an empty list.
typedef struct plane_list {
    int count;
    mpq_t *planes;  ///< [count x dimension]
    double *reals;  ///< [count x dimension], the largest entry about one
    int *order;     ///< [count] by the bounds that they promised last
    double *hopes;  ///< [count] these bounds; infinite before the first trial
    int *sizes;     ///< [count] simplices of the fan that they cut
    exact_rationals rationals;
} plane_list;

void fan_certificate_release(fan_certificate *certificate);

/// The planes that may be added: each holds the crease of two planes of the problem and one velocity, that of a speed or of a mixture of
/// two speeds that keeps a plane's value. Planes of the problem and repetitions are left out, and what is over when the time is.
carom_status refine_list_planes(const fan_problem *problem, const bound_effort *effort, plane_list *list, carom_error *error);
void refine_release_planes(plane_list *list);

/// Finds a plane that seems to make the bound nearly as small as any, and leaves the smallest fan of these, by a linear program for each;
/// -1 where no one makes it less by a share of |c|_W R, or the time was over before one was found. Planes that promised most before come
/// first, and the others follow only where these are of no use any more.
carom_status refine_choose(const fan_certificate *from, plane_list *list, slope_cuts *cuts, const bound_effort *effort, int *chosen,
                           carom_error *error);

#endif
