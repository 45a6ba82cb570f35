// SPDX-License-Identifier: Apache-2.0
// Files of `carom measure`: measure.h5, measure.json, the figures and the page, which take their places together.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/measure/measure.h"

static const carom_file_kind json_kind = {"the document of an earlier run", "{\"schema\": \"carom.measure/1\"", false, ".json"};

static carom_status put_json(FILE *file, const void *content, carom_error *error) {
    return carom_json_write(file, (json_t *)(uintptr_t)content, error);
}

enum {
    FIT_PART,
    FIT_LAW,
    FIT_MU,
    FIT_MU_ERROR,
    FIT_E_LEAST,
    FIT_E_MOST,
    FIT_E_LEAST_ERROR,
    FIT_E_MOST_ERROR,
    FIT_SHARE,
    FIT_TOLERANCE,
    FIT_CONTAINED,
    FIT_REACHABLE,
    FIT_MEMBERS,
    FIT_COLUMNS
};

static const carom_column fit_columns[FIT_COLUMNS] = {
    [FIT_PART] = {"part", CAROM_COLUMN_TEXT, 1, "", "of the impacts", NULL},
    [FIT_LAW] = {"law", CAROM_COLUMN_TEXT, 1, "", "that was fitted", NULL},
    [FIT_MU] = {"mu", CAROM_COLUMN_REAL, 1, "", "friction; NaN: not fitted, and so are the others", NULL},
    [FIT_MU_ERROR] = {"mu_error", CAROM_COLUMN_REAL, 1, "", "standard deviation over resampled groups", NULL},
    [FIT_E_LEAST] = {"e_least", CAROM_COLUMN_REAL, 1, "", "restitution, or the lower end of its interval", NULL},
    [FIT_E_MOST] = {"e_most", CAROM_COLUMN_REAL, 1, "", "restitution, or the upper end of its interval", NULL},
    [FIT_E_LEAST_ERROR] = {"e_least_error", CAROM_COLUMN_REAL, 1, "", "standard deviation of e_least over resampled groups", NULL},
    [FIT_E_MOST_ERROR] = {"e_most_error", CAROM_COLUMN_REAL, 1, "", "standard deviation of e_most over resampled groups", NULL},
    [FIT_SHARE] = {"share", CAROM_COLUMN_REAL, 1, "", "of the outcomes that the interval was to hold", NULL},
    [FIT_TOLERANCE] = {"tolerance", CAROM_COLUMN_REAL, 1, "", "relative error within which an outcome is held", NULL},
    [FIT_CONTAINED] = {"contained", CAROM_COLUMN_REAL, 1, "", "share of the training half that the interval holds", NULL},
    [FIT_REACHABLE] = {"reachable", CAROM_COLUMN_REAL, 1, "", "share of the training half that [0, 1] holds", NULL},
    [FIT_MEMBERS] = {"members", CAROM_COLUMN_REAL, 1, "", "walks in the interval, mean over the training half", NULL},
};

// A row for each law and part to which anything was fitted.
static carom_status write_fits(const measure_run *run, carom_result_writer *writer, carom_error *error) {
    const carom_sizes sizes = {0};
    carom_table *fits;
    carom_status status = carom_table_create(fit_columns, FIT_COLUMNS, NULL, 0, &sizes, &fits, error);
    if (status) return status;
    for (int k = 0; k < run->part_count * run->law_count && !status; k++) {
        const carom_measure_fit *fit = &run->fits[k];
        const carom_measure_interval *found = &run->intervals[k];
        const bool interval = found->finished && !isnan(found->restitution.least);
        if (!interval && !fit->finished) continue;
        const double e = fit->restitution, spread = fit->restitution_error;
        const double numbers[] = {fit->friction,
                                  fit->friction_error,
                                  interval ? found->restitution.least : e,
                                  interval ? found->restitution.most : e,
                                  interval ? found->least_error : spread,
                                  interval ? found->most_error : spread,
                                  interval ? run->share : (double)NAN,
                                  interval ? run->tolerance : (double)NAN,
                                  interval ? found->contained : (double)NAN,
                                  interval ? found->reachable : (double)NAN,
                                  interval ? found->members : (double)NAN};
        status = carom_table_add_row(fits, error);
        if (!status) status = carom_table_set_text(fits, FIT_PART, run->parts[k / run->law_count].name, error);
        if (!status) status = carom_table_set_text(fits, FIT_LAW, run->laws[k % run->law_count]->name, error);
        for (int i = FIT_MU; i < FIT_COLUMNS && !status; i++) *carom_table_reals(fits, i) = numbers[i - FIT_MU];
    }
    if (!status && carom_table_rows(fits)) status = carom_result_writer_put_table(writer, "fits", fits, error);
    carom_table_free(fits);
    return status;
}

// A group for the impacts, and one for each law, with a row for every impact.
static carom_status write_tables(const measure_run *run, bool complete, const char *path, carom_error *error) {
    const char *source = run->arguments->operand, *slash = strrchr(source, '/');
    carom_result_writer *writer;
    carom_status status =
        carom_result_writer_create_tables(path, slash ? slash + 1 : source, source, run->measurements.hash, &writer, error);
    if (status) return status;
    status = carom_result_writer_put_table(writer, "impacts", run->impacts, error);
    for (int i = 0; i < run->law_count && !status; i++)
        status = carom_result_writer_put_table(writer, run->laws[i]->name, run->rows[i], error);
    if (!status) status = write_fits(run, writer, error);
    if (!complete) carom_result_writer_mark_incomplete(writer);
    if (!status) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    if (!status) json_array_append_new(run->files, carom_json_text(path));
    return status;
}

// The document that `--json` prints, without the files.
static carom_status write_document(const measure_run *run, bool complete, const char *path, carom_error *error) {
    json_t *document = measure_json(run, complete);
    if (document) json_object_del(document, "files");
    const carom_status status = document ? carom_text_write(path, &json_kind, put_json, document, error) : carom_fail_memory(error, path);
    json_decref(document);
    if (!status) json_array_append_new(run->files, carom_json_text(path));
    return status;
}

// May files of these kinds be written?
static carom_status check_places(const char *directory, carom_error *error) {
    const struct {
        const char *name;
        const carom_file_kind *kind;
    } places[] = {{"measure.h5", &carom_file_hdf5}, {"measure.json", &json_kind}, {MEASURE_PAGE, &measure_page_kind}};
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < sizeof places / sizeof *places && !status; i++) {
        char *path = cli_join_path(directory, places[i].name);
        status = path ? carom_temporary_check(path, places[i].kind, error) : carom_fail_memory(error, directory);
        free(path);
    }
    return status;
}

carom_status measure_begin_files(const char *directory, cli_stage *stage, carom_error *error) {
    static const char *const pages[] = {MEASURE_PAGE, NULL};
    carom_status status = cli_stage_create(directory, "measure", pages, stage, error);
    if (!status) status = check_places(directory, error);
    return status;
}

carom_status measure_write(measure_run *run, bool complete, cli_stage *stage, carom_error *error) {
    const char *folder = stage->folder.path, *directory = stage->directory;
    carom_status status = CAROM_OK;
    char *tables = cli_join_path(folder, "measure.h5"), *document = cli_join_path(folder, "measure.json");
    if (!tables || !document) status = carom_fail_memory(error, directory);
    if (!status) status = write_tables(run, complete, tables, error);
    if (!status) status = write_document(run, complete, document, error);
    if (!status) {
        // Results are kept, also where they cannot be drawn; the page comes last.
        measure_figures *figures = calloc(1, sizeof *figures);
        carom_error inner;
        status = figures ? measure_draw(run, folder, figures, error) : carom_fail_memory(error, directory);
        if (!status && !cli_interrupted()) status = measure_write_page(run, figures, folder, error);
        free(figures);
        const carom_status placed = cli_stage_commit(stage, run->files, status ? &inner : error);
        if (!status) status = placed;
    }
    free(tables);
    free(document);
    return status;
}
