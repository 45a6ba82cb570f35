// SPDX-License-Identifier: Apache-2.0
// A report is made in a folder within its directory, and its files are moved from there.
#include "cli/compare/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carom/file.h"
#include "carom/json.h"

// HDF5, PNG, XML and our page differ within so many bytes.
enum { KIND_BYTES = 4, LINE_SIZE = 4096 };

carom_status cli_stage_create(const char *directory, const char *command, const char *const *pages, cli_stage *stage, carom_error *error) {
    *stage = (cli_stage){.directory = directory, .pages = pages};
    carom_status status = cli_make_directory(directory, &stage->made, error);
    if (!status) status = carom_temporary_folder_create(directory, command, &stage->folder, error);
    if (status) cli_stage_free(stage);
    return status;
}

// Only files of the same kind are replaced, as everywhere.
static carom_status check_place(const char *from, const char *to, carom_error *error) {
    char start[KIND_BYTES + 1] = {0};
    FILE *file = fopen(from, "rb");
    const bool read = file && fread(start, 1, KIND_BYTES, file) == KIND_BYTES;
    if (file) fclose(file);
    if (!read) return carom_fail_system(error, errno, "%s: the file cannot be read", from);
    const carom_file_kind kind = {"a file of an earlier report", start, false, NULL};
    return carom_temporary_check(to, &kind, error);
}

// Removes the figures that the page of the last report shows, each in a line of its own, as (figure-NAME.png) or "figure-NAME.svg", then
// the page.
static void remove_last(const char *directory, const char *name_of_page) {
    char *page = cli_join_path(directory, name_of_page), line[LINE_SIZE];
    FILE *file = NULL;
    if (page) carom_file_open(page, &file, NULL);
    while (file && fgets(line, sizeof line, file)) {
        char *opening = strpbrk(line, "(\"");
        while (opening && strncmp(opening + 1, "figure-", 7) != 0) opening = strpbrk(opening + 1, "(\"");
        char *name = opening ? opening + 1 : NULL, *end = name ? strpbrk(name, ")\"") : NULL;
        if (!end || (strncmp(end - 4, ".png", 4) && strncmp(end - 4, ".svg", 4))) continue;
        *end = '\0';
        char *path = cli_join_path(directory, name);
        if (path && !strchr(name, '/')) unlink(path);
        free(path);
    }
    if (file) fclose(file);
    if (page) unlink(page);
    free(page);
}

carom_status cli_stage_commit(cli_stage *stage, json_t *files, carom_error *error) {
    const size_t count = json_array_size(files);
    carom_status status = CAROM_OK;
    // Every place is checked before anything changes.
    for (int moves = 0; moves <= 1 && !status; moves++) {
        for (const char *const *page = stage->pages; moves && *page; page++) remove_last(stage->directory, *page);
        for (size_t i = 0; i < count && !status; i++) {
            const char *from = json_string_value(json_array_get(files, i)), *slash = strrchr(from, '/');
            char *to = cli_join_path(stage->directory, slash ? slash + 1 : from);
            if (!to)
                status = carom_fail_memory(error, stage->directory);
            else if (!moves)
                status = check_place(from, to, error);
            else if (rename(from, to))
                status = carom_fail_system(error, errno, "%s: the file cannot be written", to);
            else if (json_array_set_new(files, i, carom_json_text(to)))
                status = carom_fail_memory(error, stage->directory);
            free(to);
        }
    }
    return status;
}

void cli_stage_free(cli_stage *stage) {
    carom_temporary_folder_remove(&stage->folder);
    // A directory that holds a result stays.
    if (stage->made) rmdir(stage->directory);
    *stage = (cli_stage){0};
}
