// SPDX-License-Identifier: Apache-2.0
// Sizes in model files, checked before MuJoCo allocates by them: it throws std::bad_alloc through C where they are absurd.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

#define XML_SPACE " \t\r\n"

enum {
    MAX_FILE_BYTES = 1 << 26,  // far above hand-written and generated models; also ends the reading of devices
    MAX_FILES = 256,           // ends cycles of includes, which MuJoCo refuses by itself
};

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

// A piece of the text, not terminated.
typedef struct span {
    const char *start;
    size_t length;
} span;

// What a scan knows: the folder that includes are relative to, and the files read so far.
typedef struct size_scan {
    span folder;
    int files;
} size_scan;

static bool span_equals(span s, const char *text) { return strlen(text) == s.length && memcmp(s.start, text, s.length) == 0; }

static bool limit_applies(const struct size_limit *limit, span element, span attribute) {
    if (!span_equals(element, limit->element)) return false;
    const size_t length = strlen(limit->attribute);
    if (limit->attribute[length - 1] != '_') return span_equals(attribute, limit->attribute);
    return attribute.length > length && memcmp(attribute.start, limit->attribute, length) == 0;
}

// Product of the numbers in a value; infinite when a number is written with XML entities, which nobody needs.
static double value_product(span value) {
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

static carom_status check_attribute(const char *path, span element, span attribute, span value, carom_error *error) {
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limit_applies(&limits[i], element, attribute) && !(value_product(value) <= limits[i].most)) {
            return carom_fail(error, CAROM_BAD_INPUT, "%s: <%s %.*s>: %.*s is more than %.0f, the most that is allowed", path,
                              limits[i].element, (int)attribute.length, attribute.start, (int)value.length, value.start, limits[i].most);
        }
    }
    return CAROM_OK;
}

static carom_status read_text(const char *path, char **text, carom_error *error) {
    *text = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return carom_fail(error, CAROM_IO_FAILED, "%s: the model cannot be read: %s", path, strerror(errno));
    carom_status status = CAROM_OK;
    size_t size = 0, room = 0;

    // Grow by doubling until the file ends.
    do {
        room = room ? 2 * room : 1 << 16;
        char *grown = realloc(*text, room + 1);
        if (!grown) {
            status = carom_fail_memory(error, path);
            break;
        }
        *text = grown;
        size += fread(grown + size, 1, room - size, file);
        grown[size] = '\0';
    } while (size == room && size < MAX_FILE_BYTES);

    if (!status && ferror(file)) status = carom_fail(error, CAROM_IO_FAILED, "%s: the model cannot be read: %s", path, strerror(errno));
    if (!status && size >= MAX_FILE_BYTES) {
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: a model file must be smaller than %d bytes", path, MAX_FILE_BYTES);
    }
    fclose(file);
    return status;
}

static carom_status scan_text(size_scan *scan, const char *path, const char *text, carom_error *error);

static carom_status scan_file(size_scan *scan, const char *path, carom_error *error) {
    if (++scan->files > MAX_FILES) return carom_fail(error, CAROM_BAD_INPUT, "%s: a model may include at most %d files", path, MAX_FILES);
    char *text;
    carom_status status = read_text(path, &text, error);
    if (!status) status = scan_text(scan, path, text, error);
    free(text);
    return status;
}

// An included file that cannot be read is left to MuJoCo, which names the element.
static carom_status scan_include(size_scan *scan, span name, carom_error *error) {
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

// Checks the attributes of the element that starts at *text and moves behind it.
static carom_status scan_element(size_scan *scan, const char *path, const char **text, carom_error *error) {
    const char *at = *text + 1;
    const span element = {at, strcspn(at, XML_SPACE "/>")};
    at += element.length;
    carom_status status = CAROM_OK;
    while (!status && *(at += strspn(at, XML_SPACE "/=\"'")) && *at != '>') {
        const span attribute = {at, strcspn(at, XML_SPACE "=/>")};
        at += attribute.length;
        at += strspn(at, XML_SPACE);
        if (*at != '=') continue;
        at += 1 + strspn(at + 1, XML_SPACE);
        if (*at != '"' && *at != '\'') continue;
        const char *end = strchr(at + 1, *at);
        if (!end) break;
        const span value = {at + 1, (size_t)(end - at - 1)};
        at = end + 1;
        status = check_attribute(path, element, attribute, value, error);
        if (!status && span_equals(element, "include") && span_equals(attribute, "file")) status = scan_include(scan, value, error);
    }
    *text = at;
    return status;
}

static carom_status scan_text(size_scan *scan, const char *path, const char *text, carom_error *error) {
    static const char *const skipped[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    carom_status status = CAROM_OK;
    while (!status && (text = strchr(text, '<'))) {
        const char *end = NULL;
        for (size_t i = 0; !end && i < sizeof skipped / sizeof *skipped; i++) {
            if (strncmp(text, skipped[i][0], strlen(skipped[i][0])) != 0) continue;
            end = strstr(text + strlen(skipped[i][0]), skipped[i][1]);
            if (!end) return CAROM_OK;
        }
        if (end)
            text = end;
        else
            status = scan_element(scan, path, &text, error);
    }
    return status;
}

carom_status model_check_sizes(const char *path, carom_error *error) {
    const char *slash = strrchr(path, '/');
    size_scan scan = {.folder = {path, slash ? (size_t)(slash - path) + 1 : 0}};
    return scan_file(&scan, path, error);
}
