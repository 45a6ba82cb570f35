// SPDX-License-Identifier: Apache-2.0
// Files of `carom measure`: measure.h5, measure.json, the figures and the page, which take their places together.
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/measure/measure.h"

static const carom_file_kind json_kind = {"the document of an earlier run", "{\"schema\": \"carom.measure/1\"", false, ".json"};

static carom_status put_json(FILE *file, const void *content, carom_error *error) {
    return carom_json_write(file, (json_t *)(uintptr_t)content, error);
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
    carom_status status = cli_stage_create(directory, "measure", MEASURE_PAGE, stage, error);
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
