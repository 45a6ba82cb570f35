// SPDX-License-Identifier: Apache-2.0
/// @file
/// A law's outcomes for draws of an uncertain impact. In libcarom.
#ifndef CAROM_DRAWS_H
#define CAROM_DRAWS_H

#include "carom/laws.h"
#include "carom/uncertain.h"

CAROM_API_BEGIN

/// Asks the law about the impacts of draws 0 to draws - 1, by the streams (seed, draw): the same impacts for every law. Blocks of outcomes
/// go to the call's sink, one for each draw, in order, with the columns of carom_uncertainty_extend after the law's own.
/// @param call    its impact is that of the uncertainty; a sink is needed, and a registry. Its control stops between draws.
/// @param answer  the result row has the verdict, which is `complete` where all are, and the selection of the first draw; everything else
///                in it is "not determined". No outcomes. To be freed by carom_answer_free
/// @return CAROM_BAD_INPUT also where a draw has no impact, or the law takes no such impact
/// Cost: that of the law for each draw, one after the other.
carom_status carom_law_resolve_draws(const carom_law *law, const carom_law_call *call, const carom_uncertainty *uncertainty, int64_t draws,
                                     int64_t seed, carom_answer *answer, carom_error *error);

CAROM_API_END

#endif
