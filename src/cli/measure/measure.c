// SPDX-License-Identifier: Apache-2.0
// `carom measure`: measured impacts against the laws.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/measure/measure.h"

static const cli_flag flags[] = {
    {"law", "A,B,...",
     "laws to confront with the impacts (default: all that have something to say of them). Their options are below; other than there, sets "
     "are of 2000 walks, cones have 32 edges, and single impacts of `sequential` obey the rule stronge"},
    {"friction", "MU|LO:HI", "of every contact (default: the impacts' mu, else fitted to the single contacts)"},
    {"fit", "mu,e",
     "parameters to be fitted, for each law and each part of the impacts, on half of the groups; errors are of the other half. e of a set "
     "with a hypothesis of restitution is the least interval whose set holds --share of the outcomes within --tolerance"},
    {"share", "X", "of the outcomes that the set with the fitted interval of e is to hold (default 0.9)"},
    {"draws", "N", "resamples of the bootstrap, for the spread of what is fitted (default 100)"},
    {"by", "kind|speed", "parts of the impacts that are reported apart (default kind)"},
    {"null", "cone|none", "the naive set that laws are to beat: any dissipative impulse within the friction cones (default cone)"},
    {"null-points", "N", "points of each null set (default 2000)"},
    {"tolerance", "X", "relative error within which an impact counts as explained (default 0.05)"},
    {"identify", "inertia,com", "find the body's inertia, and its centre of mass, from the impacts of single contacts"},
    {"inertia", "I|I1,I2,I3",
     "principal moments of inertia of a free body in kg m^2 for the laws; errors stay in the metric of the file's M"},
    {"model", "FILE", "IMPACTS is a table (CSV) of positions and velocities of this MJCF or URDF model"},
    {"threads", "N", "threads (default: one per core)"},
    {"output", "DIR",
     "write DIR/index.html, a page with tables and pictures, DIR/measure.h5 and DIR/measure.json; DIR is made if it is missing"},
    {"json", NULL, "print one JSON document"},
};

enum { DRAWS = 100, NULL_POINTS = 2000, MOST_POINTS = 1000000 };

typedef struct numbers {
    carom_interval friction;
    double tolerance, share;
    int64_t draws, null_points;
} numbers;

static const carom_option rows[] = {
    {"friction", CAROM_OPTION_INTERVAL, offsetof(numbers, friction), 0, INFINITY, "", "", "", NULL},
    {"tolerance", CAROM_OPTION_REAL, offsetof(numbers, tolerance), CAROM_POSITIVE, INFINITY, "", "", "", NULL},
    {"share", CAROM_OPTION_REAL, offsetof(numbers, share), CAROM_POSITIVE, 1, "", "", "", NULL},
    {"draws", CAROM_OPTION_INTEGER, offsetof(numbers, draws), 0, MOST_POINTS, "", "", "", NULL},
    {"null_points", CAROM_OPTION_INTEGER, offsetof(numbers, null_points), 1, MOST_POINTS, "", "", "", NULL},
};

// Which of the words of a list with commas are given; others are refused.
static carom_status read_words(const cli_arguments *arguments, const char *flag, const char *const words[2], bool given[2],
                               carom_error *error) {
    const char *text = cli_value(arguments, flag);
    given[0] = given[1] = false;
    while (text) {
        const size_t length = strcspn(text, ",");
        bool known = false;
        for (int k = 0; k < 2; k++) {
            if (strlen(words[k]) != length || strncmp(text, words[k], length) != 0) continue;
            given[k] = known = true;
        }
        if (!known)
            return carom_fail(error, CAROM_BAD_INPUT, "--%s: '%.*s' is not one of %s, %s", flag, (int)(length < 60 ? length : 60), text,
                              words[0], words[1]);
        text = text[length] ? text + length + 1 : NULL;
    }
    return CAROM_OK;
}

// One moment for all axes, or three.
static carom_status read_inertia(const cli_arguments *arguments, double inertia[3], const double **chosen, carom_error *error) {
    const char *text = cli_value(arguments, "inertia");
    *chosen = NULL;
    if (!text) return CAROM_OK;
    int count = 0;
    for (const char *next = text; next && count < 4; count++) {
        char copy[CLI_NAME_SIZE] = {0};
        const size_t length = strcspn(next, ",");
        if (length < sizeof copy) memcpy(copy, next, length);
        if (count < 3 && (!carom_parse_number(copy, &inertia[count]) || !(inertia[count] > 0)))
            return carom_fail(error, CAROM_BAD_INPUT, "--inertia: '%.60s' is not a number greater than 0", copy);
        next = next[length] ? next + length + 1 : NULL;
    }
    if (count == 1) inertia[1] = inertia[2] = inertia[0];
    if (count != 1 && count != 3) return carom_fail(error, CAROM_BAD_INPUT, "--inertia: one number is needed, or three");
    // The moments of a body, of which none is larger than the sum of the others.
    for (int k = 0; k < 3; k++)
        if (inertia[k] > (1 + 1e-9) * (inertia[(k + 1) % 3] + inertia[(k + 2) % 3]))
            return carom_fail(error, CAROM_BAD_INPUT, "--inertia: %g is larger than the sum of the other two", inertia[k]);
    *chosen = inertia;
    return CAROM_OK;
}

static carom_status read_arguments(measure_run *run, carom_error *error) {
    static const char *const parameters[2] = {"mu", "e"}, *const identified[2] = {"inertia", "com"};
    const cli_arguments *arguments = run->arguments;
    numbers given = {{NAN, NAN}, 0.05, 0.9, DRAWS, NULL_POINTS};
    const char *null = cli_value(arguments, "null");
    bool fit[2], identify[2];
    carom_status status = cli_apply_rows(arguments, rows, sizeof rows / sizeof *rows, &given, error);
    if (!status) status = read_words(arguments, "fit", parameters, fit, error);
    if (!status) status = read_words(arguments, "identify", identified, identify, error);
    if (!status && null && strcmp(null, "cone") != 0 && strcmp(null, "none") != 0)
        status = carom_fail(error, CAROM_BAD_INPUT, "--null: '%.60s' is not one of cone, none", null);
    if (status) return status;
    if (fit[0] && !isnan(given.friction.least)) return carom_fail(error, CAROM_BAD_INPUT, "--friction: it is fitted, as --fit mu says");
    if (fit[1] && cli_given(arguments, "restitution"))
        return carom_fail(error, CAROM_BAD_INPUT, "--restitution: it is fitted, as --fit e says");
    run->friction = given.friction;
    run->tolerance = given.tolerance;
    run->share = given.share;
    run->draws = given.draws;
    run->null_points = null && !strcmp(null, "none") ? 0 : given.null_points;
    run->fit_friction = fit[0];
    run->fit_restitution = fit[1];
    run->identify = identify[0] || identify[1];
    run->identify_com = identify[1];
    return CAROM_OK;
}

// Tables for the rows of all impacts.
static carom_status make_tables(measure_run *run, carom_error *error) {
    carom_sizes sizes = {0};
    for (int i = 0; i < run->measurements.count; i++) {
        const int nv = carom_impact_get_data(run->measurements.list[i].impact)->nv;
        sizes.nv = nv > sizes.nv ? nv : sizes.nv;
    }
    run->rows = carom_arena_take(&run->arena, (size_t)run->law_count + 1, sizeof *run->rows);
    if (!run->rows) return carom_fail_memory(error, "measured impacts");
    carom_status status =
        carom_table_create(carom_measure_impact_columns, CAROM_MEASURE_IMPACT_COLUMNS, NULL, 0, &sizes, &run->impacts, error);
    for (int i = 0; i < run->law_count && !status; i++)
        status = carom_table_create(carom_measure_law_columns, CAROM_MEASURE_LAW_COLUMNS, NULL, 0, &sizes, &run->rows[i], error);
    return status;
}

static carom_status assess(measure_run *run, carom_error *error) {
    double *friction = carom_arena_take(&run->arena, (size_t)run->part_count, sizeof *friction);
    if (!friction) return carom_fail_memory(error, "measured impacts");
    for (int k = 0; k < run->part_count; k++) friction[k] = run->parts[k].friction;
    const carom_measure_request request = {.measurements = &run->measurements,
                                           .law_count = run->law_count,
                                           .laws = run->asked,
                                           .part = run->part,
                                           .friction = friction,
                                           .edges = MEASURE_EDGES,
                                           .null_members = run->null_points};
    const carom_status status = carom_measure_assess(&request, &run->control, run->impacts, run->rows, error);
    cli_end_progress();
    return status;
}

static void release(measure_run *run) {
    for (int i = 0; i < run->law_count && run->rows; i++) carom_table_free(run->rows[i]);
    carom_table_free(run->impacts);
    carom_measurements_free(&run->measurements);
    json_decref(run->files);
    json_decref(run->left_out);
    json_decref(run->reasons);
    carom_arena_free(&run->arena);
}

static int run_measure(const cli_arguments *arguments) {
    carom_error error;
    measure_run run = {.arguments = arguments, .files = json_array(), .left_out = json_array(), .reasons = json_array()};
    double inertia[3];
    carom_measurements_options options = {0};
    carom_status status = run.files && run.left_out && run.reasons ? CAROM_OK : carom_fail_memory(&error, "measure");
    if (!status) status = read_arguments(&run, &error);
    if (!status) status = read_inertia(arguments, inertia, &options.inertia, &error);
    options.model = cli_value(arguments, "model");
    if (!status && options.model && options.inertia)
        status = carom_fail(&error, CAROM_BAD_INPUT, "--inertia: the inertia is that of the model");
    if (!status) status = cli_start_control(arguments, &run.control, &error);
    if (!status) status = carom_measurements_read(arguments->operand, &options, &run.measurements, &error);
    if (!status) status = measure_choose_laws(&run, &error);
    if (!status) status = measure_divide(&run, &error);
    if (!status) status = make_tables(&run, &error);
    cli_stage stage = {0};
    const char *directory = cli_value(arguments, "output");
    if (!status && directory) status = measure_begin_files(directory, &stage, &error);
    carom_error inner;
    if (!status && run.identify &&
        (status = carom_measure_identify(&run.measurements, run.identify_com, run.draws, &run.identified, &inner)))
        carom_fail(&error, status, "--identify: %s", inner.message);
    if (!status) status = measure_fit(&run, &error);
    if (!status && !cli_interrupted()) status = assess(&run, &error);
    const bool complete = !status && carom_table_rows(run.impacts) == run.measurements.count;
    // A run that was interrupted before its first impact has no result: that of an earlier one stays.
    if (!status && directory && carom_table_rows(run.impacts)) status = measure_write(&run, complete, &stage, &error);
    cli_stage_free(&stage);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        exit_status = complete ? EXIT_DONE : EXIT_INCOMPLETE;
        measure_note(&run);
        if (cli_given(arguments, "json"))
            exit_status = cli_print_json(measure_json(&run, complete), exit_status);
        else
            measure_print(&run);
    }
    release(&run);
    return exit_status;
}

const cli_command cli_measure = {
    .name = "measure",
    .summary = "measured impacts against the laws: errors, fits, and how much better than chance they are",
    .operand = "IMPACTS",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ALL_LAWS,
    .run = run_measure,
};
