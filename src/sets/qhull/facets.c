// SPDX-License-Identifier: Apache-2.0
// The one wrapper of Qhull: its own memory, file and copy of the points are gone when a call returns.
#define _GNU_SOURCE  // fopencookie
#include <libqhull_r/libqhull_r.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/set.h"

// A run of Qhull that can be stopped: it reports after every so many facets, and adds no more points once it is told so.
typedef struct watched_run {
    qhT state;
    const carom_control *control;
    bool interrupted;
} watched_run;

// Takes Qhull's messages, which nobody reads. Each is an occasion to ask whether to stop: Qhull itself never does.
static ssize_t hear_message(void *user, const char *text, size_t size) {
    (void)text;
    watched_run *run = user;
    run->interrupted = run->interrupted || carom_control_cancelled(run->control);
    // As its option TA1: the hull is that of the points so far.
    if (run->interrupted) run->state.STOPadd = 1;
    return (ssize_t)size;
}

carom_status carom_hull_facets(int dimension, int count, const double *points, const carom_control *control, carom_arena *arena,
                               carom_facets *facets, carom_error *error) {
    *facets = (carom_facets){.dimension = dimension};
    const size_t size = (size_t)dimension, bytes = (size_t)count * size * sizeof(coordT);
    // Qhull may exchange coordinates of its points, and prints to stderr unless it is given a file for its messages.
    watched_run run = {.control = control};
    FILE *messages = fopencookie(&run, "w", (cookie_io_functions_t){.write = hear_message});
    coordT *copy = malloc(bytes + 1);
    if (!messages || !copy) {
        if (messages) fclose(messages);
        free(copy);
        return carom_fail_memory(error, "convex hull");
    }
    setvbuf(messages, NULL, _IONBF, 0);
    memcpy(copy, points, bytes);
    qhT *qh = &run.state;
    qh_zero(qh, messages);
    char command[] = "qhull Qt Pp TF500";
    const int failure = qh_new_qhull(qh, dimension, count, copy, False, command, NULL, messages);
    carom_status status = CAROM_OK;
    if (failure == qh_ERRmem) status = carom_fail_memory(error, "convex hull");
    if (failure && !status) status = carom_fail(error, CAROM_INTERNAL, "convex hull: Qhull failed with exit code %d", failure);

    // Copy the facets. Qt leaves simplices only; a facet that rounding kept from being one is cut to one.
    facetT *facet;
    vertexT *vertex, **vertexp;
    facets->interrupted = run.interrupted;
    if (!status) FORALLfacets facets->count++;
    facets->corners = carom_arena_take(arena, (size_t)facets->count * size, sizeof *facets->corners);
    facets->normals = carom_arena_take(arena, (size_t)facets->count * size, sizeof *facets->normals);
    facets->mirrored = carom_arena_take(arena, (size_t)facets->count, sizeof *facets->mirrored);
    if (!status && arena->failed) status = carom_fail_memory(error, "convex hull");
    size_t index = 0;
    for (facet = qh->facet_list; !status && facet && facet->next; facet = facet->next, index++) {
        size_t taken = 0;
        FOREACHvertex_(facet->vertices) {
            if (taken < size) facets->corners[index * size + taken] = qh_pointid(qh, vertex->point);
            taken++;
        }
        if (taken < size) status = carom_fail(error, CAROM_INTERNAL, "convex hull: a facet has too few vertices");
        memcpy(facets->normals + index * size, facet->normal, size * sizeof *facets->normals);
        facets->mirrored[index] = !facet->toporient;
    }

    qh_freeqhull(qh, qh_ALL);
    int leaked_blocks, leaked_bytes;
    qh_memfreeshort(qh, &leaked_blocks, &leaked_bytes);
    fclose(messages);
    free(copy);
    return status;
}
