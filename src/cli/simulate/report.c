// SPDX-License-Identifier: Apache-2.0
// What `carom simulate` prints: one JSON document, or text for people.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/simulate/simulate.h"

// Impacts that the table on the terminal shows; JSON and files have them all.
enum { SHOWN_IMPACTS = 20 };

// Members of an ensemble that are not complete.
static int64_t count_incomplete(const carom_table *members) {
    int64_t count = 0;
    for (int64_t i = 0; i < carom_table_rows(members); i++)
        count += strcmp(carom_table_text(members, CAROM_MEMBER_VERDICT, i), carom_verdict_name(CAROM_COMPLETE)) != 0;
    return count;
}

// How many members have each verdict.
static json_t *count_verdicts(const carom_table *members) {
    json_t *counts = json_object();
    for (int64_t i = 0; i < carom_table_rows(members); i++) {
        const char *verdict = carom_table_text(members, CAROM_MEMBER_VERDICT, i);
        json_object_set_new(counts, verdict, json_integer(json_integer_value(json_object_get(counts, verdict)) + 1));
    }
    return counts;
}

// Done means that the motion and everything asked about it reached the end.
static int exit_status_of(const cli_motion *motion) {
    const carom_table *members = motion->ensemble.members, *orders = motion->orders;
    bool complete = carom_motion_answer_complete(&motion->answer) && !motion->pictures.cut_short;
    if (members) complete = complete && carom_table_rows(members) == motion->ensemble.requested && !count_incomplete(members);
    if (orders) complete = complete && carom_table_rows(orders) == (cli_given(motion->arguments, "design") ? 2 : 1);
    for (int64_t row = 0; orders && row < carom_table_rows(orders); row++)
        complete = complete && carom_table_integer_column(orders, CAROM_ORDERS_COMPLETE)[row];
    if (motion->convergence) complete = complete && carom_table_rows(motion->convergence) == motion->halvings;
    return complete ? EXIT_DONE : EXIT_INCOMPLETE;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// Names of contacts, which lists of contacts in a table need: those that the motion of a mechanism met, or the scene's. To be freed; NULL
// without memory.
static const char **contact_names(const cli_motion *motion) {
    const carom_impact *impact = carom_scene_motion(motion->scene)->impact;
    const carom_table *met = motion->answer.names;
    const size_t count = met ? (size_t)carom_table_rows(met) : impact ? (size_t)carom_impact_get_data(impact)->contacts : 0;
    const char **names = malloc((count + 1) * sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = met ? carom_table_text(met, CAROM_MOTION_NAME, (int64_t)i) : carom_impact_get_data(impact)->names[i];
    return names;
}

// A table as a list of objects, one for each row.
static json_t *rows_json(const carom_table *table, const char *const *names) {
    json_t *list = json_array();
    for (int64_t row = 0; row < carom_table_rows(table); row++) json_array_append_new(list, carom_json_row(table, row, names));
    return list;
}

// A state: the series of the table become a list of bodies, which have their entries under the columns' names. Series of records stay.
static json_t *state_json(const carom_table *table, int64_t row, const char *const *names) {
    json_t *object = carom_json_row(table, row, names), *bodies = NULL;
    for (int i = 0; object && i < carom_table_columns(table); i++) {
        const carom_column *column = carom_table_column(table, i);
        int count;
        if (column->type != CAROM_COLUMN_SERIES || column->flags) continue;
        json_object_del(object, column->name);
        const double *values = carom_table_series(table, i, row, &count);
        if (!bodies) bodies = json_array();
        for (int64_t body = 0; body < count / column->width; body++) {
            if (body == (int64_t)json_array_size(bodies)) json_array_append_new(bodies, json_object());
            json_object_set_new(json_array_get(bodies, (size_t)body), column->name,
                                carom_json_reals(values + body * column->width, column->width));
        }
    }
    if (bodies) json_object_set_new(object, "bodies", bodies);
    return object;
}

int cli_print_motion_json(const cli_motion *motion, const char *file) {
    const carom_integrator *one = motion->request.integrator;
    const char **names = contact_names(motion);
    json_t *document = !names ? NULL
                              : json_pack("{s:s, s:s, s:b}", "schema", "carom.simulate/1", "integrator", one->name, "complete",
                                          carom_motion_answer_complete(&motion->answer));
    const carom_table *result = motion->answer.result;
    cli_add_result(document, result);
    // A motion that reached its end does not make studies complete that did not.
    const int exit_status = exit_status_of(motion);
    if (exit_status != EXIT_DONE && carom_motion_answer_complete(&motion->answer)) {
        json_object_set_new(document, "complete", json_false());
        json_object_set_new(document, "verdict", json_string(carom_verdict_name(cli_interrupted() ? CAROM_INTERRUPTED : CAROM_INCOMPLETE)));
    }
    // Result columns that the integrator's row groups become one object.
    for (int g = 0; g < one->result_group_count; g++) {
        const carom_result_group *group = &one->result_groups[g];
        json_t *object = isnan(*carom_table_real_column(result, group->first)) ? json_null() : json_object();
        for (int i = group->first; i < group->first + group->count; i++) {
            const char *name = carom_table_column(result, i)->name;
            if (json_is_object(object)) json_object_set(object, name + strlen(group->name) + 1, json_object_get(document, name));
            json_object_del(document, name);
        }
        json_object_set_new(document, group->name, object);
    }
    json_object_set_new(document, "seconds", carom_json_real(motion->seconds));
    json_object_set_new(document, "impacts", rows_json(motion->answer.impacts, names));
    // States at the times that the options ask for; files have them all.
    json_t *states = json_array();
    for (int64_t row = 0; row < carom_table_rows(motion->answer.recorded); row++)
        json_array_append_new(states, state_json(motion->answer.recorded, row, names));
    json_object_set_new(document, "states", states);
    json_object_set_new(document, "final", state_json(motion->answer.final, 0, names));
    const carom_ensemble *ensemble = &motion->ensemble;
    json_object_set_new(document, "ensemble",
                        ensemble->members ? json_pack("{s:I, s:o, s:o, s:o}", "requested", (json_int_t)ensemble->requested, "perturbation",
                                                      carom_json_real(ensemble->perturbation), "verdicts",
                                                      count_verdicts(ensemble->members), "members", rows_json(ensemble->members, names))
                                          : json_null());
    json_t *members = json_object_get(document, "ensemble");
    if (ensemble->tubes) json_object_set_new(members, "tubes", rows_json(ensemble->tubes, names));
    if (ensemble->ends) json_object_set_new(members, "ends", rows_json(ensemble->ends, names));
    if (motion->orders) json_object_set_new(document, "orders", rows_json(motion->orders, names));
    if (motion->convergence) json_object_set_new(document, "convergence", rows_json(motion->convergence, names));
    json_object_set_new(document, "file", carom_json_text(file));
    json_object_set_new(document, "mujoco", carom_json_text(cli_value(motion->arguments, "mujoco")));
    json_object_set(document, "figures", motion->files);
    free(names);
    return cli_print_json(document, exit_status);
}

// ---------------------------------------------------------------------------------------------------------------- text

// Columns with one value a row; others are left out.
static void print_impacts(const carom_table *impacts) {
    const int64_t rows = carom_table_rows(impacts), shown = rows < SHOWN_IMPACTS ? rows : SHOWN_IMPACTS;
    // Row -1 is the heading.
    for (int64_t row = rows ? -1 : 0; row < shown; row++) {
        if (row < 0)
            printf("%5s", "");
        else
            printf("%5" PRId64, row + 1);
        for (int i = 0; i < carom_table_columns(impacts); i++) {
            const carom_column *column = carom_table_column(impacts, i);
            const bool real = column->type == CAROM_COLUMN_REAL && column->width == 1, text = column->type == CAROM_COLUMN_TEXT;
            const bool integer = column->type == CAROM_COLUMN_INTEGER && column->width == 1;
            if (row < 0 && (real || integer || text))
                printf("  %*s", real ? 16 : integer ? 8 : 17, column->name);
            else if (real)
                printf("  %16.9g", carom_table_real_column(impacts, i)[row]);
            else if (integer)
                printf("  %8" PRId64, carom_table_integer_column(impacts, i)[row]);
            else if (text)
                printf("  %17s", carom_table_text(impacts, i, row));
        }
        putchar('\n');
    }
    if (shown < rows) printf("... and %" PRId64 " more; --json and -o FILE give them all\n", rows - shown);
}

// How far the momenta part, and when they are first apart by half of that.
static void print_orders(const carom_table *orders) {
    for (int64_t row = 0; row < carom_table_rows(orders); row++) {
        const double largest = carom_table_real_column(orders, CAROM_ORDERS_LARGEST)[row];
        const bool complete = carom_table_integer_column(orders, CAROM_ORDERS_COMPLETE)[row];
        printf("orders argmin and argmax, %s: ", carom_table_text(orders, CAROM_ORDERS_SCENE, row));
        if (largest > 0) {
            int count, i = 0;
            const double *times = carom_table_series(orders, CAROM_ORDERS_TIMES, row, &count);
            const double *distances = carom_table_series(orders, CAROM_ORDERS_DISTANCES, row, &count);
            while (i + 1 < count && distances[i] <= 0.5 * largest) i++;
            printf("|p - p'|/|p| up to %.3g, half of it from %.6g s on", largest, count ? times[i] : 0);
        } else {
            fputs(complete ? "the same motion" : "no difference", stdout);
        }
        puts(complete ? "" : "; a run ended early");
    }
}

// Errors, and the order that each shows from one step to the next.
static void print_convergence(const carom_table *table) {
    const int columns = carom_table_columns(table);
    for (int c = 0; c < columns; c++) printf("%17s%s", carom_table_column(table, c)->name, c ? "  order" : "");
    putchar('\n');
    for (int64_t row = 0; row < carom_table_rows(table); row++) {
        for (int c = 0; c < columns; c++) {
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

int cli_print_motion_text(const cli_motion *motion, const char *file) {
    const carom_integrator *one = motion->request.integrator;
    const carom_table *result = motion->answer.result;
    const int64_t steps = carom_table_integer_column(result, CAROM_MOTION_STEPS)[0], impacts = carom_table_rows(motion->answer.impacts);
    printf("%s, integrator %s: %" PRId64 " steps, %.9g s, %" PRId64 " impact%s, %s\n", carom_scene_name(motion->scene), one->name, steps,
           carom_table_real_column(result, CAROM_MOTION_TIME)[0], impacts, impacts == 1 ? "" : "s",
           carom_table_text(result, CAROM_MOTION_VERDICT, 0));
    // Why a run ended before its time. Some integrators know more than the verdict says.
    if (!carom_motion_answer_complete(&motion->answer)) {
        const char *verdict = carom_table_text(result, CAROM_MOTION_VERDICT, 0);
        const char *message = carom_table_text(result, CAROM_MOTION_MESSAGE, 0);
        unsigned code = CAROM_COMPLETE;
        // Results name verdicts of the list only.
        while (strcmp(verdict, carom_verdict_name(code)) != 0) code++;
        if (*message)
            printf("%s: %s\n", verdict, message);
        else
            printf("%s: %s\n", verdict, carom_verdict_sentence(code));
    }
    // What integrators have in common, what this one says about itself, and its impacts.
    const double error = carom_table_real_column(result, CAROM_MOTION_ENERGY_ERROR)[0];
    if (!isnan(error)) printf("largest relative energy error %.3g\n", error);
    char text[CAROM_MESSAGE_SIZE] = "";
    if (one->describe) one->describe(&motion->answer, text, sizeof text);
    fputs(text, stdout);
    cli_print_findings(result, CAROM_MOTION_RESULT_COLUMNS);
    print_impacts(motion->answer.impacts);
    // Studies.
    const carom_ensemble *ensemble = &motion->ensemble;
    if (ensemble->members) {
        const int64_t rows = carom_table_rows(ensemble->members);
        const int64_t *hits = carom_table_integer_column(ensemble->members, CAROM_MEMBER_IMPACTS);
        const int64_t *failures = carom_table_integer_column(ensemble->members, CAROM_MEMBER_FAILURES);
        int64_t least = rows ? INT64_MAX : 0, most = 0, sum = 0, unsolved = 0;
        for (int64_t i = 0; i < rows; i++) {
            unsolved += failures[i] > 0 ? failures[i] : 0;
            least = hits[i] < least ? hits[i] : least;
            most = hits[i] > most ? hits[i] : most;
            sum += hits[i];
        }
        printf("ensemble: %" PRId64 " of %" PRId64 " members, starts perturbed by %g, impacts %" PRId64 " to %" PRId64 ", mean %.1f\n",
               rows, ensemble->requested, ensemble->perturbation, least, most, rows ? (double)sum / (double)rows : 0);
        const int64_t incomplete = count_incomplete(ensemble->members);
        if (incomplete) {
            json_t *counts = count_verdicts(ensemble->members), *count;
            const char *verdict;
            printf("%" PRId64 " of %" PRId64 " members are not complete:", incomplete, rows);
            json_object_foreach(counts, verdict, count) if (strcmp(verdict, carom_verdict_name(CAROM_COMPLETE)) != 0)
                printf(" %s %" JSON_INTEGER_FORMAT ";", verdict, json_integer_value(count));
            puts(" --json says why");
            json_decref(counts);
        }
        if (unsolved) printf("%" PRId64 " contact problems or impacts of members were not solved\n", unsolved);
    }
    for (int64_t i = 0; ensemble->ends && i < carom_table_rows(ensemble->ends); i++)
        printf("%6.2f %% end with %s\n", 100 * carom_table_real_column(ensemble->ends, CAROM_END_SHARE)[i],
               *carom_table_text(ensemble->ends, CAROM_END_CONTACTS, i) ? carom_table_text(ensemble->ends, CAROM_END_CONTACTS, i)
                                                                        : "nothing closed");
    if (motion->orders) print_orders(motion->orders);
    if (motion->convergence) print_convergence(motion->convergence);
    printf("%.3g s, %.3g steps/s\n", motion->seconds, (double)steps / fmax(motion->seconds, 1e-9));
    if (file) printf("written to %s (HDF5)\n", file);
    if (cli_given(motion->arguments, "mujoco")) cli_mujoco_print_player(motion);
    for (size_t i = 0; i < json_array_size(motion->files); i++) printf("%s\n", json_string_value(json_array_get(motion->files, i)));
    if (motion->pictures.cut_short) puts("interrupted: there is no film");
    return exit_status_of(motion);
}
