// SPDX-License-Identifier: Apache-2.0
// The same motion with halved steps, against one that is much more exact: errors at the end, and the orders that they show.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "cli/simulate/simulate.h"

// Halvings between the finest step and the reference's: at second order its error is a 64th.
enum { REFERENCE_HALVINGS = 3 };

static const carom_column columns[CLI_CONVERGENCE_COLUMNS] = {
    [CLI_ERROR_STEP] = {"step", CAROM_COLUMN_REAL, 1, "s", "grid step", NULL},
    [CLI_ERROR_POSITION] = {"position", CAROM_COLUMN_REAL, 1, "m", "|x - x_ref| over all bodies, at the end", NULL},
    [CLI_ERROR_VELOCITY] = {"velocity", CAROM_COLUMN_REAL, 1, "m/s", "|v - v_ref|", NULL},
    [CLI_ERROR_ATTITUDE] = {"attitude", CAROM_COLUMN_REAL, 1, "rad", "angles of R_ref' R, root of the sum of squares", NULL},
    [CLI_ERROR_ANGULAR_VELOCITY] = {"angular_velocity", CAROM_COLUMN_REAL, 1, "rad/s", "|Omega - Omega_ref|", NULL},
    [CLI_ERROR_ENERGY] = {"energy_measure", CAROM_COLUMN_REAL, 1, "", "L2 norm in time of the energy error over |E0| sqrt(T)", NULL},
    [CLI_ERROR_NORM] =
        {"norm_measure", CAROM_COLUMN_REAL, 1, "",
         "sqrt(| |q|^2 - |q_ref|^2 |) / |q_ref| of trajectories (Baker & Gonzalez, eq. 37): the difference of two norms, not "
         "the norm of a difference, under a root",
         NULL},
};

static const char *const labels[CLI_CONVERGENCE_COLUMNS] = {
    [CLI_ERROR_POSITION] = "position [m]",           [CLI_ERROR_VELOCITY] = "velocity [m/s]",
    [CLI_ERROR_ATTITUDE] = "attitude [rad]",         [CLI_ERROR_ANGULAR_VELOCITY] = "angular velocity [rad/s]",
    [CLI_ERROR_ENERGY] = "energy, in time (eq. 38)", [CLI_ERROR_NORM] = "difference of norms (eq. 37)",
};

static carom_status set(const cli_motion *motion, void *options, const char *name, const char *text, carom_error *error) {
    const carom_integrator *one = motion->integrator;
    const int row = carom_option_find(one->options, one->option_count, name);
    if (row >= 0) return carom_option_set(&one->options[row], options, text, error);
    return carom_fail(error, CAROM_UNSUPPORTED, "--convergence: the integrator '%s' has no option '%s'", one->name, name);
}

// The reference is of fourth order, by steps that can be composed, where no impacts forbid it.
static bool may_have_fourth_order(const cli_motion *motion) {
    const carom_bodies_motion *bodies = carom_scene_motion(motion->scene)->bodies;
    return bodies->walls == 0 && !bodies->collisions;
}

static bool has_map(const cli_motion *motion, const char *name) {
    char map[32] = "";
    const carom_integrator *one = motion->integrator;
    const int row = carom_option_find(one->options, one->option_count, "map");
    if (row >= 0) carom_option_print(&one->options[row], motion->options, map, sizeof map);
    return !strcmp(map, name);
}

static carom_status make_reference(const cli_motion *motion, void *options, carom_error *error) {
    const carom_status status = has_map(motion, "first-order") ? set(motion, options, "map", "tan", error) : CAROM_OK;
    return status || !may_have_fourth_order(motion) ? status : set(motion, options, "order", "4", error);
}

static carom_status run_with(const cli_motion *motion, double step, bool reference, carom_motion_answer *answer, carom_error *error) {
    void *options = malloc(motion->integrator->options_size);
    if (!options) return carom_fail_memory(error, "convergence");
    memcpy(options, motion->options, motion->integrator->options_size);
    char text[32];
    snprintf(text, sizeof text, "%.17g", step);
    carom_status status = set(motion, options, "step", text, error);
    if (!status) status = set(motion, options, "norms", "on", error);
    if (!status && reference) status = make_reference(motion, options, error);
    const carom_law_settings settings = cli_motion_settings(motion);
    if (!status)
        status = carom_integrator_run(motion->integrator, carom_scene_motion(motion->scene), options, motion->arguments->registry,
                                      &settings, &motion->control, NULL, answer, error);
    free(options);
    return status;
}

static const double *final_series(const carom_motion_answer *answer, const char *name, int *count) {
    return carom_table_series(answer->final, carom_table_find(answer->final, name), 0, count);
}

static double difference(const carom_motion_answer *one, const carom_motion_answer *other, const char *name) {
    int count, same;
    const double *a = final_series(one, name, &count), *b = final_series(other, name, &same);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static double attitude_difference(const carom_motion_answer *one, const carom_motion_answer *other) {
    int count, same;
    const double *a = final_series(one, "attitude", &count), *b = final_series(other, "attitude", &same);
    double sum = 0;
    for (int i = 0; i < count; i += 4) {
        double turn[4];
        carom_quaternion_difference(a + i, b + i, turn);
        sum += carom_quaternion_angle(turn) * carom_quaternion_angle(turn);
    }
    return sqrt(sum);
}

static double result_of(const carom_motion_answer *answer, const char *name) { return cli_column(answer->result, name)[0]; }

static carom_status add_errors(carom_table *table, double step, const carom_motion_answer *one, const carom_motion_answer *reference,
                               carom_error *error) {
    const carom_status status = carom_table_add_row(table, error);
    if (status) return status;
    const double norm = result_of(reference, "trajectory_norm_squared");
    *carom_table_reals(table, CLI_ERROR_STEP) = step;
    *carom_table_reals(table, CLI_ERROR_POSITION) = difference(one, reference, "position");
    *carom_table_reals(table, CLI_ERROR_VELOCITY) = difference(one, reference, "velocity");
    *carom_table_reals(table, CLI_ERROR_ATTITUDE) = attitude_difference(one, reference);
    *carom_table_reals(table, CLI_ERROR_ANGULAR_VELOCITY) = difference(one, reference, "angular_velocity");
    *carom_table_reals(table, CLI_ERROR_ENERGY) = result_of(one, "energy_measure");
    *carom_table_reals(table, CLI_ERROR_NORM) = sqrt(fabs(result_of(one, "trajectory_norm_squared") - norm) / norm);
    return CAROM_OK;
}

static double base_step(const cli_motion *motion) {
    char text[64];
    double step = 0;
    const carom_integrator *one = motion->integrator;
    const int row = carom_option_find(one->options, one->option_count, "step");
    if (row >= 0) carom_option_print(&one->options[row], motion->options, text, sizeof text);
    return row >= 0 && carom_parse_number(text, &step) ? step : NAN;
}

// Runs that did not reach the end have no error there.
static carom_status check_complete(const carom_motion_answer *answer, double step, carom_error *error) {
    if (carom_motion_answer_complete(answer)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--convergence: the run with step %g s ended early (%s)", step,
                      carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0));
}

carom_status cli_run_convergence(cli_motion *motion, carom_error *error) {
    const carom_sizes none = {0};
    if (!carom_scene_motion(motion->scene)->bodies)
        return carom_fail(error, CAROM_UNSUPPORTED, "--convergence: only for motions of scenes with 'bodies'");
    const double step = base_step(motion);
    const double finest = ldexp(step, -(motion->halvings - 1 + REFERENCE_HALVINGS));
    carom_motion_answer reference = {0};
    carom_status status = carom_table_create(columns, CLI_CONVERGENCE_COLUMNS, NULL, 0, &none, &motion->convergence, error);
    if (!status) status = run_with(motion, finest, true, &reference, error);
    if (!status) status = check_complete(&reference, finest, error);
    for (int k = 0; !status && k < motion->halvings; k++) {
        carom_motion_answer one = {0};
        status = run_with(motion, ldexp(step, -k), false, &one, error);
        if (!status) status = check_complete(&one, ldexp(step, -k), error);
        if (!status) status = add_errors(motion->convergence, ldexp(step, -k), &one, &reference, error);
        carom_motion_answer_free(&one);
    }
    carom_motion_answer_free(&reference);
    // The motion itself, and the rows so far, stay when the rest is interrupted.
    return carom_control_cancelled(&motion->control) ? CAROM_OK : status;
}

// -------------------------------------------------------------------------------------------------------------- output

void cli_print_convergence(const carom_table *table) {
    for (int c = 0; c < CLI_CONVERGENCE_COLUMNS; c++) printf("%17s%s", columns[c].name, c ? "  order" : "");
    putchar('\n');
    for (int64_t row = 0; row < carom_table_rows(table); row++) {
        for (int c = 0; c < CLI_CONVERGENCE_COLUMNS; c++) {
            const double *values = carom_table_real_column(table, c), order = row ? log2(values[row - 1] / values[row]) : NAN;
            printf("%17.4g", values[row]);
            if (c && isfinite(order))
                printf("  %5.2f", order);
            else if (c)
                printf("  %5s", "");
        }
        putchar('\n');
    }
}

// Decades on both axes; columns that are zero or rounding in every run are not drawn.
carom_status cli_draw_convergence(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *table = motion->convergence;
    const int64_t rows = carom_table_rows(table);
    double *logs = malloc((size_t)(CLI_CONVERGENCE_COLUMNS * rows + 1) * sizeof *logs);
    if (!logs) return carom_fail_memory(error, "figure");
    carom_plot_series series[2 * CLI_CONVERGENCE_COLUMNS];
    int count = 0;
    for (int c = 0; c < CLI_CONVERGENCE_COLUMNS; c++) {
        const double *values = carom_table_real_column(table, c);
        for (int64_t i = 0; i < rows; i++) logs[c * rows + i] = values[i] > 0 ? log10(values[i]) : NAN;
        if (c == 0 || !(values[0] > 0)) continue;
        series[count++] = (carom_plot_series){labels[c], CAROM_PLOT_LINE, rows, logs, logs + c * rows};
    }
    const carom_plot plot = {carom_scene_name(motion->scene), "log10 of the step [s]", "log10 of the error", series, count, false, false};
    const carom_status status = cli_write_figure(motion, prefix, "convergence", &plot, error);
    free(logs);
    return status;
}
