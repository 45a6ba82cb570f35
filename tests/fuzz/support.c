// SPDX-License-Identifier: Apache-2.0
// What harnesses share: their directory, their table, and what they do when a rule is broken.
#define _XOPEN_SOURCE 700  // nftw
#include <dirent.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

const fuzz_harness fuzz_harnesses[] = {
    {"command", FUZZ_COMMANDS, fuzz_command},
    {"scene", FUZZ_TEXT, fuzz_scene},
    {"model", FUZZ_TEXT, fuzz_model},
    {"mesh", FUZZ_BYTES, fuzz_mesh},
    {"surface", FUZZ_BYTES, fuzz_surface},
    {"table", FUZZ_BYTES, fuzz_table},
    {"measurements", FUZZ_TEXT, fuzz_measurements},
    {"lcp", FUZZ_TEXT, fuzz_lcp},
    {"fclib", FUZZ_BYTES, fuzz_fclib},
    {"result", FUZZ_BYTES, fuzz_result},
    {"velocity", FUZZ_TEXT, fuzz_velocity},
    {"expression", FUZZ_TEXT, fuzz_expression},
    {"number", FUZZ_TEXT, fuzz_number},
    {"option", FUZZ_TEXT, fuzz_option},
    {0},
};

const fuzz_harness *fuzz_find(const char *name) {
    for (const fuzz_harness *each = fuzz_harnesses; each->name; each++)
        if (name && !strcmp(each->name, name)) return each;
    return NULL;
}

_Noreturn void fuzz_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("broken rule: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

// ----------------------------------------------------------------------------------------------------------- directory

static char directory[4096];
// Files that stay from run to run.
static const char tools[] = "tools";

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static void leave(void) { nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

void fuzz_write(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
        perror(name);
        exit(EXIT_FAILURE);
    }
}

// A picture that is whole by its first and last bytes: drawing thousands would take the time that fuzzing has.
static const char gnuplot[] = "#!/bin/sh\n"
                              "if grep -q -m 1 pngcairo; then printf '\\211PNG\\r\\n\\032\\nIEND\\256B`\\202'; "
                              "else printf '<?xml?></svg>\\n\\n'; fi\n";

// A Python that writes an empty page: what it says itself would not pass this process's streams.
static const char python[] = "#!/bin/sh\n"
                             "for page; do :; done\n"
                             "case $page in *.htm*) echo '<html></html>' > \"$page\";; esac\n";

// The models of the scenes. A run may write models of its own, whose names begin with `fuzzed`.
static bool is_model(const char *name) {
    const char *ending = strrchr(name, '.');
    return ending && !strcmp(ending, ".xml") && strncmp(name, "fuzzed", 6) != 0;
}

bool fuzz_may_write(const char *name) { return !is_model(name) && strcmp(name, tools) != 0; }

void fuzz_enter(const char *scenes) {
    const char *place = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/carom-fuzz-XXXXXX", place ? place : "/tmp");
    struct dirent **names;
    const int count = scandir(scenes, &names, NULL, alphasort);
    if (count < 0 || !mkdtemp(directory)) {
        perror(scenes);
        exit(EXIT_FAILURE);
    }
    atexit(leave);
    char path[8192], search[8192];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", scenes, names[i]->d_name);
        FILE *model = is_model(names[i]->d_name) ? fopen(path, "rb") : NULL;
        char bytes[1 << 14];
        const size_t size = model ? fread(bytes, 1, sizeof bytes, model) : 0;
        snprintf(path, sizeof path, "%s/%s", directory, names[i]->d_name);
        if (model) fuzz_write(path, bytes, size);
        if (model) fclose(model);
        free(names[i]);
    }
    free(names);
    const char *old = getenv("PATH");
    snprintf(search, sizeof search, "%s/%s:%s", directory, tools, old ? old : "");
    if (chdir(directory) || mkdir(tools, 0777)) {
        perror(directory);
        exit(EXIT_FAILURE);
    }
    fuzz_write("tools/gnuplot", gnuplot, sizeof gnuplot - 1);
    fuzz_write("tools/python", python, sizeof python - 1);
    chmod("tools/gnuplot", 0755);
    chmod("tools/python", 0755);
    setenv("PATH", search, 1);
    setenv("CAROM_PYTHON", "tools/python", 1);
}

void fuzz_sweep(void) {
    struct dirent **names;
    const int count = scandir(".", &names, NULL, alphasort);
    bool left = false;
    char temporary[300] = "";
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        const bool itself = !strcmp(name, ".") || !strcmp(name, "..");
        // Their names are .NAME.xxxxxxxx.
        const char *suffix = strrchr(name, '.');
        if (!itself && *name == '.' && suffix != name && strlen(suffix) == 9) {
            left = true;
            snprintf(temporary, sizeof temporary, "%s", name);
        }
        if (!itself && !is_model(name) && strcmp(name, tools) != 0) nftw(name, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        free(names[i]);
    }
    if (count >= 0) free(names);
    if (left) fuzz_fail("the temporary file %s is left", temporary);
}

// ---------------------------------------------------------------------------------------------------------------- input

char *fuzz_text(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    if (!text) exit(EXIT_FAILURE);
    if (size) memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

const carom_registry *fuzz_registry(void) {
    static carom_registry *registry;
    if (!registry && (carom_registry_create(&registry, NULL) || carom_siconos_register(registry, NULL) ||
                      carom_exact_register(registry, NULL) || carom_dynamics_register(registry, NULL)))
        fuzz_fail("the registry cannot be made");
    return registry;
}
