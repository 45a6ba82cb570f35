// SPDX-License-Identifier: Apache-2.0
// What the kinds of solids are called.
#include "carom/solid.h"

const char *const carom_solid_kind_names[] = {"sphere", "capsule", "cylinder", "ellipsoid", "box", "plane", "hull", "heights", NULL};
