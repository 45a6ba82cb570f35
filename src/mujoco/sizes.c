// SPDX-License-Identifier: Apache-2.0
// Sizes in model files, checked before MuJoCo allocates by them: it throws std::bad_alloc through C where they are absurd.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

enum { MAX_FILES = 256 };  // ends cycles of includes, which MuJoCo refuses by itself

// The largest product of the numbers in an attribute. Rows with a name that ends in '_' mean all attributes that start with it.
static const struct size_limit {
    const char *element, *attribute;
    double most;
} limits[] = {
    {"size", "nuser_", 1e4},
    {"size", "nuserdata", 1e6},
    {"size", "nkey", 1e4},
    {"size", "njmax", 1e5},
    {"size", "nconmax", 1e5},
    {"size", "nstack", 1e8},
    {"composite", "count", CAROM_MAX_VELOCITIES},
    {"hfield", "nrow", 1e4},
    {"hfield", "ncol", 1e4},
    {"texture", "width", 16384},
    {"texture", "height", 16384},
};

// What a scan knows: the folder that includes are relative to, the files read so far, and the one that is being read.
typedef struct size_scan {
    model_span folder;
    int files;
    const char *path;
} size_scan;

static bool limit_applies(const struct size_limit *limit, model_span element, model_span attribute) {
    if (!model_span_equals(element, limit->element)) return false;
    const size_t length = strlen(limit->attribute);
    if (limit->attribute[length - 1] != '_') return model_span_equals(attribute, limit->attribute);
    return attribute.length > length && memcmp(attribute.start, limit->attribute, length) == 0;
}

// Product of the numbers in a value; infinite when a number is written with XML entities, which nobody needs.
static double value_product(model_span value) {
    if (memchr(value.start, '&', value.length)) return INFINITY;
    double product = 1;
    for (const char *text = value.start; text < value.start + value.length;) {
        char *end;
        const double number = strtod(text, &end);
        if (end == text) break;
        product *= number;
        text = end;
    }
    return product;
}

static carom_status check_attribute(const char *path, model_span element, model_span attribute, model_span value, carom_error *error) {
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limit_applies(&limits[i], element, attribute) && !(value_product(value) <= limits[i].most)) {
            return carom_fail(error, CAROM_BAD_INPUT, "%s: <%s %.*s>: %.*s is more than %.0f, the most that is allowed", path,
                              limits[i].element, (int)attribute.length, attribute.start, (int)value.length, value.start, limits[i].most);
        }
    }
    return CAROM_OK;
}

static carom_status scan_file(size_scan *scan, const char *path, carom_error *error);

// An included file that cannot be read is left to MuJoCo, which names the element.
static carom_status scan_include(size_scan *scan, model_span name, carom_error *error) {
    const size_t folder = name.length && name.start[0] == '/' ? 0 : scan->folder.length;
    char *path = malloc(folder + name.length + 1);
    if (!path) return carom_fail_memory(error, "included model");
    memcpy(path, scan->folder.start, folder);
    memcpy(path + folder, name.start, name.length);
    path[folder + name.length] = '\0';
    carom_error why;
    carom_status status = scan_file(scan, path, &why);
    free(path);
    if (status == CAROM_IO_FAILED) return CAROM_OK;
    if (status && error) *error = why;
    return status;
}

static carom_status visit_attribute(void *user, model_span element, model_span attribute, model_span value, carom_error *error) {
    size_scan *scan = user;
    const carom_status status = check_attribute(scan->path, element, attribute, value, error);
    if (status || !model_span_equals(element, "include") || !model_span_equals(attribute, "file")) return status;
    return scan_include(scan, value, error);
}

static carom_status scan_file(size_scan *scan, const char *path, carom_error *error) {
    if (++scan->files > MAX_FILES) return carom_fail(error, CAROM_BAD_INPUT, "%s: a model may include at most %d files", path, MAX_FILES);
    const char *includer = scan->path;
    scan->path = path;
    char *text;
    carom_status status = model_read_text(path, &text, error);
    if (!status) status = model_xml_scan(text, visit_attribute, scan, error);
    free(text);
    scan->path = includer;
    return status;
}

carom_status model_check_sizes(const char *path, const char *text, carom_error *error) {
    const char *slash = strrchr(path, '/');
    size_scan scan = {.folder = {path, slash ? (size_t)(slash - path) + 1 : 0}, .path = path};
    return text ? model_xml_scan(text, visit_attribute, &scan, error) : scan_file(&scan, path, error);
}
