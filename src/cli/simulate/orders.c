// SPDX-License-Identifier: Apache-2.0
// Two copies of one motion whose impacts take the two extreme orders, and how far their momenta part (Seghete & Murphey, Figure 8).
#define _XOPEN_SOURCE 700  // mkstemp
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/design.h"
#include "cli/simulate/simulate.h"
#include "dynamics/propagative/flight.h"

static const carom_column columns[CLI_ORDERS_COLUMNS] = {
    [CLI_ORDERS_SCENE] = {"scene", CAROM_COLUMN_TEXT, 1, "", "as given, or designed", NULL},
    [CLI_ORDERS_COMPLETE] = {"complete", CAROM_COLUMN_BOOLEAN, 1, "", "both runs covered the duration", NULL},
    [CLI_ORDERS_LARGEST] = {"largest_distance", CAROM_COLUMN_REAL, 1, "", "largest of `distances`", NULL},
    [CLI_ORDERS_TIMES] = {"times", CAROM_COLUMN_SERIES, 1, "s", "of recorded states", NULL},
    [CLI_ORDERS_DISTANCES] = {"distances", CAROM_COLUMN_SERIES, 1, "",
                              "|p - p'|/|p| of the runs with argmin and argmax, in the kinetic metric at the former's position", NULL},
};

// States of a run of one scene with one order.
static carom_status run_order(const cli_motion *motion, const carom_motion *problem, const char *order, carom_table **states,
                              bool *complete, carom_error *error) {
    const carom_integrator *one = motion->integrator;
    const carom_sizes sizes = carom_impact_sizes(problem->impact);
    const carom_law_settings settings = cli_motion_settings(motion);
    carom_motion_answer answer = {0};
    void *options = malloc(one->options_size);
    if (!options) return carom_fail_memory(error, one->name);
    memcpy(options, motion->options, one->options_size);
    carom_status status =
        carom_option_set(&one->options[carom_option_find(one->options, one->option_count, "order")], options, order, error);
    if (!status) status = carom_table_create(one->state_columns, one->state_column_count, NULL, 0, &sizes, states, error);
    const carom_sink sink = carom_table_sink(*states);
    if (!status)
        status =
            carom_integrator_run(one, problem, options, motion->arguments->registry, &settings, &motion->control, &sink, &answer, error);
    if (!status) *complete = *complete && carom_motion_answer_complete(&answer);
    carom_motion_answer_free(&answer);
    free(options);
    return status;
}

static const double *column(const carom_table *table, const char *name) {
    return carom_table_real_column(table, carom_table_find(table, name));
}

// Distances of the states that both runs have; returns the largest.
static double find_distances(propagative_flight *flight, const carom_table *first, const carom_table *second, int count, double *difference,
                             double *distances) {
    const size_t nv = (size_t)carom_table_sizes(first)->nv;
    const double *position = column(first, "qpos"), *p = column(first, "momentum"), *other = column(second, "momentum");
    double largest = 0;
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * nv;
        for (size_t k = 0; k < nv; k++) difference[k] = p[at + k] - other[at + k];
        const double apart = propagative_flight_kinetic_energy(flight, position + at, difference);
        const double whole = propagative_flight_kinetic_energy(flight, position + at, p + at);
        distances[i] = apart > 0 && whole > 0 ? sqrt(apart / whole) : 0;
        largest = fmax(largest, distances[i]);
    }
    return largest;
}

static carom_status add_row(const cli_motion *motion, const carom_motion *problem, const carom_table *first, const carom_table *second,
                            carom_error *error) {
    const int64_t a = carom_table_rows(first), b = carom_table_rows(second);
    const int count = (int)(a < b ? a : b);
    propagative_flight *flight = NULL;
    double *distances = malloc(((size_t)count + (size_t)problem->system->nv) * sizeof *distances);
    carom_status status = distances ? carom_table_add_row(motion->orders, error) : carom_fail_memory(error, "orders");
    if (!status) status = propagative_flight_create(problem->system, &flight, error);
    if (!status) {
        *carom_table_reals(motion->orders, CLI_ORDERS_LARGEST) = find_distances(flight, first, second, count, distances + count, distances);
        status = carom_table_set_series(motion->orders, CLI_ORDERS_DISTANCES, distances, count, error);
    }
    if (!status) status = carom_table_set_series(motion->orders, CLI_ORDERS_TIMES, column(first, "time"), count, error);
    propagative_flight_free(flight);
    free(distances);
    return status;
}

static carom_status compare(const cli_motion *motion, const carom_motion *problem, const char *scene, carom_error *error) {
    carom_table *first = NULL, *second = NULL;
    bool complete = true;
    carom_status status = run_order(motion, problem, "argmin", &first, &complete, error);
    if (!status) status = run_order(motion, problem, "argmax", &second, &complete, error);
    if (!status) status = add_row(motion, problem, first, second, error);
    if (!status) status = carom_table_set_text(motion->orders, CLI_ORDERS_SCENE, scene, error);
    if (!status) *carom_table_integers(motion->orders, CLI_ORDERS_COMPLETE) = complete;
    carom_table_free(first);
    carom_table_free(second);
    return status;
}

// ------------------------------------------------------------------------------------------------------- the new scene

static carom_status compare_written(const cli_motion *motion, const char *path, carom_error *error) {
    carom_scene *scene = NULL;
    carom_status status = cli_design_scene(motion->arguments, path, error);
    if (!status) status = carom_scene_read_motion(path, motion->arguments->registry, &scene, error);
    if (!status) status = compare(motion, carom_scene_motion(scene), "designed", error);
    carom_scene_free(scene);
    return status;
}

// The new scene passes through a temporary file, as it would from `carom design -o` to this command.
static carom_status compare_designed(const cli_motion *motion, carom_error *error) {
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    static const char name[] = "/carom-design-XXXXXX";
    char *path = malloc(strlen(folder) + sizeof name);
    if (!path) return carom_fail_memory(error, "design");
    strcat(strcpy(path, folder), name);
    const int descriptor = mkstemp(path);
    carom_status status = CAROM_OK;
    if (descriptor < 0) {
        status = carom_fail(error, CAROM_IO_FAILED, "%s: no temporary file for the designed scene: %s", folder, strerror(errno));
    } else {
        close(descriptor);
        status = compare_written(motion, path, error);
        unlink(path);
    }
    free(path);
    return status;
}

carom_status cli_run_orders(cli_motion *motion, bool designed, carom_error *error) {
    const carom_integrator *one = motion->integrator;
    const carom_motion *problem = carom_scene_motion(motion->scene);
    const int row = carom_option_find(one->options, one->option_count, "order");
    if (row < 0 || !carom_option_offers(&one->options[row], "argmin") || !problem->system)
        return carom_fail(error, CAROM_BAD_INPUT, "--orders: impacts of the integrator '%s' have no order", one->name);
    const carom_sizes none = {0};
    carom_status status = carom_table_create(columns, CLI_ORDERS_COLUMNS, NULL, 0, &none, &motion->orders, error);
    if (!status) status = compare(motion, problem, "as given", error);
    if (status || !designed || carom_control_cancelled(&motion->control)) return status;
    status = compare_designed(motion, error);
    // A design that was cut short has no solution; what was found before it stays.
    return carom_control_cancelled(&motion->control) ? CAROM_OK : status;
}

// -------------------------------------------------------------------------------------------------------------- output

bool cli_orders_complete(const cli_motion *motion) {
    const carom_table *orders = motion->orders;
    if (carom_table_rows(orders) < (cli_given(motion->arguments, "design") ? 2 : 1)) return false;
    for (int64_t row = 0; row < carom_table_rows(orders); row++)
        if (!carom_table_integer_column(orders, CLI_ORDERS_COMPLETE)[row]) return false;
    return true;
}

// When the momenta are first apart by more than half of their largest distance.
static double parting_time(const carom_table *orders, int64_t row) {
    int count;
    const double *times = carom_table_series(orders, CLI_ORDERS_TIMES, row, &count);
    const double *distances = carom_table_series(orders, CLI_ORDERS_DISTANCES, row, &count);
    const double half = 0.5 * carom_table_real_column(orders, CLI_ORDERS_LARGEST)[row];
    int i = 0;
    while (i + 1 < count && distances[i] <= half) i++;
    return count ? times[i] : 0;
}

void cli_print_orders(const carom_table *orders) {
    for (int64_t row = 0; row < carom_table_rows(orders); row++) {
        const double largest = carom_table_real_column(orders, CLI_ORDERS_LARGEST)[row];
        const bool complete = carom_table_integer_column(orders, CLI_ORDERS_COMPLETE)[row];
        printf("orders argmin and argmax, %s: ", carom_table_text(orders, CLI_ORDERS_SCENE, row));
        if (largest > 0)
            printf("|p - p'|/|p| up to %.3g, half of it from %.6g s on", largest, parting_time(orders, row));
        else
            fputs(complete ? "the same motion" : "no difference", stdout);
        puts(complete ? "" : "; a run ended early");
    }
}
