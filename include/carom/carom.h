// SPDX-License-Identifier: Apache-2.0
/// @file
/// The whole public API of carom.
#ifndef CAROM_CAROM_H
#define CAROM_CAROM_H

#include "carom/base.h"
#include "carom/bodies.h"
#include "carom/bound.h"
#include "carom/compliant.h"
#include "carom/design.h"
#include "carom/draws.h"
#include "carom/dynamics.h"
#include "carom/exact.h"
#include "carom/functional.h"
#include "carom/impact.h"
#include "carom/io.h"
#include "carom/joint_modes.h"
#include "carom/laws.h"
#include "carom/lcp.h"
#include "carom/many.h"
#include "carom/measure.h"
#include "carom/mechanism.h"
#include "carom/model.h"
#include "carom/outline.h"
#include "carom/polyhedra.h"
#include "carom/propagative.h"
#include "carom/questions.h"
#include "carom/reach.h"
#include "carom/sensitivity.h"
#include "carom/sets.h"
#include "carom/solid.h"
#include "carom/step.h"
#include "carom/stronge.h"
#include "carom/studies.h"
#include "carom/surface.h"
#include "carom/system.h"
#include "carom/uncertain.h"
#include "carom/vary.h"
#include "carom/worst.h"

#endif
