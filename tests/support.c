// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "benchmarks/harness/harness.h"

static const struct library {
    const char *name, *what, *packages;
    bool present;
} libraries[] = {OPTIONAL_LIBRARIES};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

bool support_has(const char *library) {
    for (int i = 0; i < LIBRARIES; i++)
        if (!strcmp(libraries[i].name, library)) return libraries[i].present;
    fail_msg("scripts/libraries.mk has no %s", library);
    return false;
}

void support_skip_missing(const char *message) {
    char says[CAROM_MESSAGE_SIZE];
    for (int i = 0; i < LIBRARIES; i++) {
        snprintf(says, sizeof says, "this build has no %s: install %s", libraries[i].what, libraries[i].packages);
        if (!libraries[i].present && strstr(message, says)) skip();
    }
}

// -------------------------------------------------------------------------------------------------------- assertions

void support_assert_close(double actual, double expected, double tolerance, const char *file, int line) {
    double allowed = tolerance * fmax(1, fabs(expected));
    // The negation makes NaN fail.
    if (!(fabs(actual - expected) <= allowed)) {
        print_error("%.17g is not %.17g: they differ by %.3g, allowed is %.3g\n", actual, expected, actual - expected, allowed);
        _fail(file, line);
    }
}

void support_assert_all_close(const double *actual, const double *expected, size_t count, double tolerance, const char *file, int line) {
    double scale = 1;
    for (size_t i = 0; i < count; i++) scale = fmax(scale, fabs(expected[i]));
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(actual[i] - expected[i]) <= tolerance * scale)) {
            print_error("entry %zu: %.17g is not %.17g: they differ by %.3g, allowed is %.3g\n", i, actual[i], expected[i],
                        actual[i] - expected[i], tolerance * scale);
            _fail(file, line);
        }
    }
}

void support_assert_ok(carom_status status, const carom_error *error, const char *file, int line) {
    if (status == CAROM_UNSUPPORTED) support_skip_missing(error->message);
    if (status != CAROM_OK) {
        print_error("the call failed: %s: %s\n", carom_status_name(status), error->message);
        _fail(file, line);
    }
}

void support_assert_refused(carom_status status, carom_status expected, const carom_error *error, const char *text, const char *file,
                            int line) {
    if (status == CAROM_UNSUPPORTED && expected != status) support_skip_missing(error->message);
    if (status != expected) {
        print_error("status %s instead of %s\n", carom_status_name(status), carom_status_name(expected));
        _fail(file, line);
    }
    if (error->status != expected || !strstr(error->message, text)) {
        print_error("the error is %s: \"%s\", without \"%s\"\n", carom_status_name(error->status), error->message, text);
        _fail(file, line);
    }
}

// ------------------------------------------------------------------------------------ reference scenes of Halm & Posa

// One matrix row a line.
// clang-format off

const carom_impact_data reference_block = {
    .nv = 3, .contacts = 2, .tangent_dim = 1,
    .mass = (const double[]){
        1, 0, 0,
        0, 1, 0,
        0, 0, 0.41666666666666669},
    .normal = (const double[]){
        0, 1, -0.5,
        0, 1, 0.5},
    .tangent = (const double[]){
        1, 0, 1,
        1, 0, 1},
    .friction = (const double[]){1, 1},
    .velocity = (const double[]){0, -0.44294469180700202, 0},
};

const carom_impact_data reference_compass = {
    .nv = 4, .contacts = 2, .tangent_dim = 1,
    .mass = (const double[]){
        2, 0, 0.10395584540887974, 0.10395584540887974,
        0, 2, -0.4890738003669029, 0.4890738003669029,
        0.10395584540887974, -0.4890738003669029, 0.25000000000000006, 0,
        0.10395584540887974, 0.4890738003669029, 0, 0.25000000000000006},
    .normal = (const double[]){
        0, 1, -0.9781476007338058, 0,
        0, 1, 0, 0.9781476007338058},
    .tangent = (const double[]){
        1, 0, 0.20791169081775948, 0,
        1, 0, 0, 0.20791169081775948},
    .friction = (const double[]){5, 5},
    .velocity = (const double[]){-0.05197792270443987, -0.24453690018345145, 0.25, 0.25},
};

const carom_impact_data reference_boxwall = {
    .nv = 3, .contacts = 2, .tangent_dim = 1,
    .mass = (const double[]){
        1, 0, 0,
        0, 1, 0,
        0, 0, 0.16666666666666666},
    .normal = (const double[]){
        0, 1, 0.4055797876726388,
        -1, 0, 0.4055797876726388},
    .tangent = (const double[]){
        1, 0, 0.57922796533956922,
        0, 1, 0.57922796533956922},
    .friction = (const double[]){1, 1},
    .velocity = (const double[]){1, 0, 0},
};

const carom_impact_data reference_ramone = {
    .nv = 7, .contacts = 2, .tangent_dim = 1,
    .mass = (const double[]){
        10.5, 0, 0.55172748673236383, 0.11607030707671971, 0.047123102096544307, 0.091912837716412801, 0.083730403953108212,
        0, 10.5, 0.041300974808862662, -0.16476055828531097, -0.069862871883577482, 0.10749442916240116, -0.0095198252542689852,
        0.55172748673236383, 0.041300974808862662, 0.29886286122408851, 0.086147086335412335, 0.040873200991834932, 0.05813191436158327,
        0.030432911577555767,
        0.11607030707671971, -0.16476055828531097, 0.086147086335412335, 0.077038539229688757, 0.037288031681605029, 0, 0,
        0.047123102096544307, -0.069862871883577482, 0.040873200991834932, 0.037288031681605029, 0.020444328664749999, 0, 0,
        0.091912837716412801, 0.10749442916240116, 0.05813191436158327, 0, 0, 0.041888774110588965, 0.019713149122055129,
        0.083730403953108212, -0.0095198252542689852, 0.030432911577555767, 0, 0, 0.019713149122055129, 0.020444328664749992},
    .normal = (const double[]){
        0, 1, -0.3215804869672616, -0.35952885992936695, -0.19772546105437744, 0, 0,
        0, 1, 0.2105182333927863, 0, 0, 0.17256986043068095, -0.026942949621283921},
    .tangent = (const double[]){
        1, 0, 0.41141626192457581, 0.27907455793626773, 0.1615175074777731, 0, 0,
        1, 0, 0.4114162619245757, 0, 0, 0.27907455793626768, 0.26512326318744256},
    .friction = (const double[]){100000, 100000},
    .velocity = (const double[]){-0.4114162619245757, -0.2105182333927863, 1, 0, 0, 0, 0},
};

const carom_impact_data reference_disks = {
    .nv = 9, .contacts = 5, .tangent_dim = 1,
    .mass = (const double[]){
        1, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 1, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0.5, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 1, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 1, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0.5, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 1, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 1, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0.5},
    .normal = (const double[]){
        0, 0, 0, 0, 1, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 1, 0,
        0.50000000000000011, 0.86602540378443871, 0, -0.50000000000000011, -0.86602540378443871, 0, 0, 0, 0,
        -0.50000000000000011, 0.86602540378443871, 0, 0, 0, 0, 0.50000000000000011, -0.86602540378443871, 0,
        0, 0, 0, -1, 0, 0, 1, 0, 0},
    .tangent = (const double[]){
        0, 0, 0, 1, 0, 1, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 1, 0, 1,
        0.86602540378443871, -0.50000000000000011, 1.0000000000000002,
        -0.86602540378443871, 0.50000000000000011, 1.0000000000000002, 0, 0, 0,
        0.86602540378443871, 0.50000000000000011, 1.0000000000000002,
        0, 0, 0, -0.86602540378443871, -0.50000000000000011, 1.0000000000000002,
        0, 0, 0, 0, 1, 1, 0, -1, 1},
    .friction = (const double[]){1.7320508075688772, 1.7320508075688772, 1.7320508075688772, 1.7320508075688772, 1.7320508075688772},
    .velocity = (const double[]){0, -1, 0, 0, 0, 0, 0, 0, 0},
};

// clang-format on

// ----------------------------------------------------------------------------------------------------- random impacts

carom_impact *support_impact(const carom_impact_data *data) {
    carom_error error;
    carom_impact *impact = NULL;
    assert_ok(carom_impact_create(data, &impact, &error), error);
    return impact;
}

carom_answer support_ask(const carom_registry *registry, const carom_impact *impact, const char *name, const char *const *pairs) {
    const carom_law *law = carom_law_find(registry, name);
    assert_non_null(law);
    void *options = malloc(law->options_size);
    law->defaults(options);
    carom_error error;
    for (; pairs && *pairs; pairs += 2) assert_ok(carom_law_set(law, options, pairs[0], pairs[1], &error), error);
    carom_answer answer;
    const carom_law_call call = {.impact = impact, .options = options, .registry = registry};
    assert_ok(carom_law_resolve(law, &call, &answer, &error), error);
    free(options);
    return answer;
}

carom_impact *support_impact_in_units(const carom_impact_data *data, double mass, double length, double time, const double *coordinate) {
    const size_t nv = (size_t)data->nv, m = (size_t)data->contacts, tangents = m * (size_t)data->tangent_dim;
    carom_arena arena = {0};
    double *M = carom_arena_take(&arena, nv * nv, sizeof *M), *v = carom_arena_take(&arena, nv, sizeof *v);
    double *normal = carom_arena_take(&arena, m * nv, sizeof *normal), *tangent = carom_arena_take(&arena, tangents * nv, sizeof *tangent);
    assert_false(arena.failed);
    for (size_t k = 0; k < nv; k++) {
        const double own = coordinate ? coordinate[k] : 1;
        v[k] = data->velocity[k] * own * time;
        for (size_t l = 0; l < nv; l++) M[k * nv + l] = data->mass[k * nv + l] * mass / own / (coordinate ? coordinate[l] : 1);
        for (size_t i = 0; i < m; i++) normal[i * nv + k] = data->normal[i * nv + k] * length / own;
        for (size_t i = 0; i < tangents; i++) tangent[i * nv + k] = data->tangent[i * nv + k] * length / own;
    }
    carom_impact_data scaled = *data;
    scaled.mass = M;
    scaled.normal = normal;
    scaled.tangent = tangent;
    scaled.velocity = v;
    carom_impact *impact = support_impact(&scaled);
    carom_arena_free(&arena);
    return impact;
}

int support_random_integer(carom_stream *stream, int least, int most) {
    return least + (int)(carom_stream_uniform(stream) * (double)(most - least + 1));
}

carom_impact *support_random_impact(carom_stream *stream, support_family family, int max_contacts, int tangent_dim, double max_friction) {
    static const bench_degeneracy degeneracies[FAMILIES] = {[FAMILY_PLAIN] = BENCH_PLAIN,
                                                            [FAMILY_DUPLICATED] = BENCH_DUPLICATED,
                                                            [FAMILY_INTEGER] = BENCH_INTEGER,
                                                            [FAMILY_ZERO_CAPS] = BENCH_PLAIN,
                                                            [FAMILY_FRICTIONLESS] = BENCH_FRICTIONLESS};
    const int contacts = support_random_integer(stream, 1, max_contacts), nv = support_random_integer(stream, 1, 3 * contacts);
    const bench_random kind = {contacts, nv, tangent_dim, degeneracies[family], max_friction, false};
    carom_impact *impact = NULL;
    carom_error error;
    assert_ok(bench_random_impact(stream, &kind, &impact, &error), error);
    return impact;
}

int support_count(int small, int usual, int large) {
    if (getenv("CAROM_TEST_LONG")) return large;
    return getenv("CAROM_TEST_QUICK") ? small : usual;
}

// -------------------------------------------------------------------------------------------------------------- files

char *support_join_path(const char *directory, const char *name) {
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    assert_non_null(path);
    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

char *support_make_directory(void) {
    const char *parent = getenv("TMPDIR");
    char *path = support_join_path(parent && *parent ? parent : "/tmp", "carom-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static void remove_tree(const char *path) {
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    if (!S_ISDIR(status.st_mode)) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    // A test may have taken the right to write from a directory.
    assert_int_equal(chmod(path, S_IRWXU), 0);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char *child = support_join_path(path, entry->d_name);
        remove_tree(child);
        free(child);
    }
    closedir(directory);
    assert_int_equal(rmdir(path), 0);
}

void support_remove_directory(char *path) {
    remove_tree(path);
    free(path);
}

char *support_write_file(const char *directory, const char *name, const char *text) {
    char *path = support_join_path(directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

char *support_read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = calloc(*size + 1, 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

int support_run_command(const char *arguments, bool want_errors, char *text, size_t size) {
    const char *build = getenv("CAROM_BUILD");
    char command[4096];
    snprintf(command, sizeof command, "%s/carom %s %s", build && *build ? build : "build", arguments,
             want_errors ? "2>&1 >/dev/null" : "2>/dev/null");
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, size - 1, pipe)] = '\0';
    const int ended = pclose(pipe), status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    // Bad input may be a scene for which this build lacks a library: ask why.
    char why[CAROM_MESSAGE_SIZE];
    if (status == 2 && want_errors)
        support_skip_missing(text);
    else if (status == 2)
        support_run_command(arguments, true, why, sizeof why);
    return status;
}
