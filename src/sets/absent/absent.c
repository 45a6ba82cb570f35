// SPDX-License-Identifier: Apache-2.0
// Facets of convex hulls in a build without Qhull.
#include "carom/sets.h"

carom_status carom_hull_facets(int dimension, int count, const double *points, const carom_control *control, carom_arena *arena,
                               carom_facets *facets, carom_error *error) {
    (void)count, (void)points, (void)control, (void)arena;
    *facets = (carom_facets){.dimension = dimension};
    return carom_fail(error, CAROM_UNSUPPORTED, "convex hull: " WITHOUT_QHULL);
}
