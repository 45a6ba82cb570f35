// SPDX-License-Identifier: Apache-2.0
// How the root of a URDF robot is held: MuJoCo welds it to the world unless the file says otherwise, and keeps no trace of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

typedef struct span_list {
    model_span *spans;
    int count;
} span_list;

typedef struct urdf_scan {
    bool started, is_urdf;
    span_list links, children;
} urdf_scan;

static carom_status append_span(span_list *list, model_span span, carom_error *error) {
    model_span *grown = realloc(list->spans, (size_t)(list->count + 1) * sizeof *grown);
    if (!grown) return carom_fail_memory(error, "links of a URDF");
    list->spans = grown;
    list->spans[list->count++] = span;
    return CAROM_OK;
}

// The first element is the root: <robot> in a URDF.
static carom_status visit_attribute(void *user, model_span element, model_span attribute, model_span value, carom_error *error) {
    urdf_scan *scan = user;
    if (!scan->started) scan->is_urdf = model_span_equals(element, "robot");
    scan->started = true;
    if (!scan->is_urdf) return CAROM_OK;
    if (model_span_equals(element, "link") && model_span_equals(attribute, "name")) return append_span(&scan->links, value, error);
    if (model_span_equals(element, "child") && model_span_equals(attribute, "link")) return append_span(&scan->children, value, error);
    return CAROM_OK;
}

static bool contains_span(const span_list *list, model_span wanted) {
    for (int i = 0; i < list->count; i++) {
        const model_span *span = &list->spans[i];
        if (span->length == wanted.length && !memcmp(span->start, wanted.start, wanted.length)) return true;
    }
    return false;
}

static void write_advice(const urdf_scan *scan, char advice[MODEL_ADVICE_SIZE]) {
    if (contains_span(&scan->links, (model_span){"world", 5})) return;
    for (int i = 0; i < scan->links.count; i++) {
        const model_span root = scan->links.spans[i];
        if (contains_span(&scan->children, root)) continue;
        snprintf(advice, MODEL_ADVICE_SIZE,
                 "the root link '%.*s' is welded to the world; to let it move add <link name=\"world\"/><joint name=\"root\" "
                 "type=\"floating\"><parent link=\"world\"/><child link=\"%.*s\"/></joint> (type \"fixed\" welds it without this warning)",
                 (int)root.length, root.start, (int)root.length, root.start);
        return;
    }
}

carom_status model_advise_on_root(const char *path, char advice[MODEL_ADVICE_SIZE], carom_error *error) {
    advice[0] = '\0';
    char *text;
    urdf_scan scan = {0};
    carom_status status = model_read_text(path, &text, error);
    if (!status) status = model_xml_scan(text, visit_attribute, &scan, error);
    if (!status) write_advice(&scan, advice);
    free(scan.links.spans);
    free(scan.children.spans);
    free(text);
    return status;
}
