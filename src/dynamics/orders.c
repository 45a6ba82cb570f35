// SPDX-License-Identifier: Apache-2.0
// Two copies of one motion whose impacts take the two extreme orders, and how far their momenta part (Seghete & Murphey, Figure 8).
#include <math.h>
#include <stdlib.h>

#include "dynamics/dynamics_internal.h"

static const carom_column columns[CAROM_ORDERS_COLUMNS] = {
    [CAROM_ORDERS_SCENE] = {"scene", CAROM_COLUMN_TEXT, 1, "", "as given, or designed", NULL},
    [CAROM_ORDERS_COMPLETE] = {"complete", CAROM_COLUMN_BOOLEAN, 1, "", "both runs covered the duration", NULL},
    [CAROM_ORDERS_LARGEST] = {"largest_distance", CAROM_COLUMN_REAL, 1, "", "largest of `distances`", NULL},
    [CAROM_ORDERS_TIMES] = {"times", CAROM_COLUMN_SERIES, 1, "s", "of recorded states", NULL},
    [CAROM_ORDERS_DISTANCES] = {"distances", CAROM_COLUMN_SERIES, 1, "",
                                "|p - p'|/|p| of the runs with argmin and argmax, in the kinetic metric at the former's position", NULL},
};

// States of a run with one order.
static carom_status run_order(const carom_motion_request *request, const char *order, carom_table **states, bool *complete,
                              carom_error *error) {
    void *options = carom_motion_copy_options(request);
    if (!options) return carom_fail_memory(error, "orders");
    carom_motion_request changed = *request;
    changed.options = options;
    carom_motion_answer answer = {0};
    carom_status status = carom_motion_set(request->integrator, options, "order", order, error);
    if (!status) status = carom_motion_create_states(request->integrator, request->motion, states, error);
    if (!status) {
        const carom_sink sink = carom_table_sink(*states);
        status = carom_integrator_run(&changed, &sink, &answer, error);
    }
    if (!status) *complete = *complete && carom_motion_answer_complete(&answer);
    carom_motion_answer_free(&answer);
    free(options);
    return status;
}

carom_status carom_orders_run(const carom_motion_request *request, const char *scene, carom_table **table, carom_error *error) {
    const carom_integrator *integrator = request->integrator;
    const carom_sizes none = {0};
    if (!integrator->order_distances)
        return carom_fail(error, CAROM_BAD_INPUT, "impacts of the integrator '%s' have no order", integrator->name);
    carom_table *first = NULL, *second = NULL;
    double *distances = NULL;
    bool complete = true;
    carom_status status = *table ? CAROM_OK : carom_table_create(columns, CAROM_ORDERS_COLUMNS, NULL, 0, &none, table, error);
    if (!status) status = run_order(request, "argmin", &first, &complete, error);
    if (!status) status = run_order(request, "argmax", &second, &complete, error);
    if (!status) {
        // Runs that ended early are compared as far as both got.
        const int64_t a = carom_table_rows(first), b = carom_table_rows(second), count = a < b ? a : b;
        distances = malloc((size_t)count * sizeof *distances + 1);
        status = distances ? integrator->order_distances(request->motion, first, second, count, distances, error)
                           : carom_fail_memory(error, "orders");
        if (!status) status = carom_table_add_row(*table, error);
        if (!status) {
            double largest = 0;
            for (int64_t i = 0; i < count; i++) largest = fmax(largest, distances[i]);
            *carom_table_reals(*table, CAROM_ORDERS_LARGEST) = largest;
            *carom_table_integers(*table, CAROM_ORDERS_COMPLETE) = complete;
            status = carom_table_set_series(*table, CAROM_ORDERS_DISTANCES, distances, (int)count, error);
        }
        if (!status) status = carom_table_set_series(*table, CAROM_ORDERS_TIMES, carom_motion_column(first, "time"), (int)count, error);
        if (!status) status = carom_table_set_text(*table, CAROM_ORDERS_SCENE, scene, error);
    }
    free(distances);
    carom_table_free(first);
    carom_table_free(second);
    return status;
}
