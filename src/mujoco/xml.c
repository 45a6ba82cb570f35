// SPDX-License-Identifier: Apache-2.0
// Attributes of an XML file, as far as they must be known before MuJoCo reads it, or beside what it keeps.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

#define XML_SPACE " \t\r\n"

enum { MAX_FILE_BYTES = 1 << 26 };  // far above hand-written and generated models; also ends the reading of devices

carom_status model_read_text(const char *path, char **text, carom_error *error) {
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

bool model_span_equals(model_span s, const char *text) { return strlen(text) == s.length && memcmp(s.start, text, s.length) == 0; }

// Visits the element that starts at *text and its attributes, and moves behind it. Ends of elements have no name; declarations are no
// elements.
static carom_status scan_element(const char **text, model_xml_visit visit, void *user, carom_error *error) {
    const char *at = *text + 1;
    const model_span element = {at, strcspn(at, XML_SPACE "/>")};
    at += element.length;
    carom_status status = CAROM_OK;
    if (element.length && *element.start != '!') status = visit(user, element, (model_span){at, 0}, (model_span){at, 0}, error);
    while (!status && *(at += strspn(at, XML_SPACE "/=\"'")) && *at != '>') {
        const model_span attribute = {at, strcspn(at, XML_SPACE "=/>")};
        at += attribute.length;
        at += strspn(at, XML_SPACE);
        if (*at != '=') continue;
        at += 1 + strspn(at + 1, XML_SPACE);
        if (*at != '"' && *at != '\'') continue;
        const char *end = strchr(at + 1, *at);
        if (!end) break;
        const model_span value = {at + 1, (size_t)(end - at - 1)};
        at = end + 1;
        status = visit(user, element, attribute, value, error);
    }
    *text = at;
    return status;
}

carom_status model_xml_scan(const char *text, model_xml_visit visit, void *user, carom_error *error) {
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
            status = scan_element(&text, visit, user, error);
    }
    return status;
}
