// SPDX-License-Identifier: Apache-2.0
/// @file
/// The foundations: statuses, random streams, the parallel loop, digests, options, tables, registries.
#ifndef CAROM_BASE_H
#define CAROM_BASE_H

#include "carom/arena.h"
#include "carom/digest.h"
#include "carom/loop.h"
#include "carom/option.h"
#include "carom/registry.h"
#include "carom/status.h"
#include "carom/stream.h"
#include "carom/suggest.h"
#include "carom/table.h"

#endif
