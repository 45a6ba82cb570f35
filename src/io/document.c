// SPDX-License-Identifier: Apache-2.0
// YAML and JSON files as trees, built from the events of libyaml.
#include "io/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

// Memory of a document comes in chunks, so that the millions of small nodes of a large matrix stay cheap.
enum { CHUNK_SIZE = 1 << 16 };

// One block of memory, filled from its start.
typedef struct chunk {
    struct chunk *next;
    size_t size, used;
    _Alignas(max_align_t) char bytes[];
} chunk;

struct carom_document {
    chunk *chunks;
    const char *path;
    carom_node *root;
};

// What grows while the events of the parser arrive.
typedef struct tree_builder {
    carom_document *document;
    int depth;                                // lists and maps that are not closed yet
    carom_node *newest[CAROM_MAX_DEPTH + 1];  // newest node of each depth; all but the deepest are open
    const char *key;                          // waits for its value
    int key_line;
} tree_builder;

// -------------------------------------------------------------------------------------------------------------- memory

void *carom_document_allocate(carom_document *document, size_t size) {
    const size_t alignment = sizeof(void *);
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + alignment - 1) / alignment * alignment;

    // A new chunk when the newest one is full
    if (!document->chunks || document->chunks->size - document->chunks->used < size) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk *fresh = calloc(1, sizeof *fresh + room);
        if (!fresh) return NULL;
        *fresh = (chunk){.next = document->chunks, .size = room};
        document->chunks = fresh;
    }
    void *memory = document->chunks->bytes + document->chunks->used;
    document->chunks->used += size;
    return memory;
}

// A copy with an end, in the document's memory; NULL when there is none.
static const char *copy_text(carom_document *document, const char *text, size_t length) {
    char *copy = carom_document_allocate(document, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void carom_document_free(carom_document *document) {
    if (!document) return;
    for (chunk *next, *each = document->chunks; each != NULL; each = next) {
        next = each->next;
        free(each);
    }
    free(document);
}

// -------------------------------------------------------------------------------------------------------------- errors

enum { SHOWN_PATH = 300, SHOWN_KEY = 40, SHOWN_PLACE = 300 };

// The end of a path that is too long for a message.
static const char *shown_path(const char *path) {
    size_t length = strlen(path);
    return length > SHOWN_PATH ? path + length - SHOWN_PATH : path;
}

// Appends "key.path[index]" of a node; nothing for the root.
static void write_place(const carom_node *node, char *text, size_t size) {
    if (!node->parent) return;
    write_place(node->parent, text, size);
    size_t used = strlen(text);
    if (node->key)
        snprintf(text + used, size - used, "%s%.*s", used > 0 ? "." : "", SHOWN_KEY, node->key);
    else
        snprintf(text + used, size - used, "[%d]", node->index);
}

// "FILE:LINE: key.path: sentence", the one form of every error about a file.
static carom_status fail_at(const carom_document *document, const carom_node *node, carom_status status, const char *sentence,
                            carom_error *error) {
    char place[SHOWN_PLACE] = "";
    write_place(node, place, sizeof place);
    return carom_fail(error, status, "%s:%d: %s%s%s", shown_path(document->path), node->line, place, place[0] != '\0' ? ": " : "",
                      sentence);
}

carom_status carom_document_refuse(const carom_document *document, const carom_node *node, carom_error *error, const char *format, ...) {
    char sentence[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return fail_at(document, node, CAROM_BAD_INPUT, sentence, error);
}

carom_status carom_document_pass_on(const carom_document *document, const carom_node *node, const carom_error *inner, carom_error *error) {
    return fail_at(document, node, inner->status, inner->message, error);
}

// For rules of the file's form, which concern a line and no key.
static carom_status refuse_line(const tree_builder *builder, const yaml_event_t *event, const char *sentence, carom_error *error) {
    return carom_fail(error, CAROM_BAD_INPUT, "%s:%zu: %s", shown_path(builder->document->path), event->start_mark.line + 1, sentence);
}

// ---------------------------------------------------------------------------------------------------------------- tree

// By key, and equal ones by their place in the map.
static int compare_keys(const void *left, const void *right) {
    const carom_node *a = *(const carom_node *const *)left, *b = *(const carom_node *const *)right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

// Sorts the entries instead of comparing each with each: a map may be as long as the file.
static carom_status refuse_duplicates(const carom_document *document, const carom_node *map, carom_error *error) {
    if (map->count < 2) return CAROM_OK;
    const carom_node **entries = malloc((size_t)map->count * sizeof *entries);
    if (!entries) return carom_fail_memory(error, document->path);
    for (const carom_node *entry = map->first; entry != NULL; entry = entry->next) entries[entry->index] = entry;
    qsort(entries, (size_t)map->count, sizeof *entries, compare_keys);

    // Of several duplicates, the first in the file is reported.
    const carom_node *original = NULL, *duplicate = NULL;
    for (int i = 1; i < map->count; i++) {
        if (strcmp(entries[i - 1]->key, entries[i]->key) != 0 || (duplicate != NULL && duplicate->index < entries[i]->index)) continue;
        original = entries[i - 1];
        duplicate = entries[i];
    }
    free(entries);
    if (!duplicate) return CAROM_OK;
    return carom_document_refuse(document, duplicate, error, "the key stands twice, first in line %d", original->line);
}

// The list or map that the next node belongs to; NULL for the root.
static carom_node *innermost(const tree_builder *builder) { return builder->depth > 0 ? builder->newest[builder->depth - 1] : NULL; }

// Adds a node of this kind after the newest entry of the innermost open list or map. NULL when out of memory.
static carom_node *add_node(tree_builder *builder, const yaml_event_t *event, carom_node_kind kind) {
    carom_node *node = carom_document_allocate(builder->document, sizeof *node), *parent = innermost(builder);
    if (!node) return NULL;
    *node = (carom_node){.parent = parent, .kind = kind, .key = builder->key, .line = (int)event->start_mark.line + 1};
    if (builder->key) node->line = builder->key_line;
    builder->key = NULL;

    if (!parent) {
        builder->document->root = node;
    } else {
        node->index = parent->count++;
        if (node->index == 0)
            parent->first = node;
        else
            builder->newest[builder->depth]->next = node;
    }
    builder->newest[builder->depth] = node;
    return node;
}

// One event of the parser: a key, a value, or the start or end of a list or map.
static carom_status take_event(tree_builder *builder, const yaml_event_t *event, carom_error *error) {
    carom_document *document = builder->document;
    const bool scalar = event->type == YAML_SCALAR_EVENT, list = event->type == YAML_SEQUENCE_START_EVENT,
               map = event->type == YAML_MAPPING_START_EVENT;

    // An alias may stand for itself, and ten lines of aliases for more nodes than any memory holds.
    if (event->type == YAML_ALIAS_EVENT)
        return refuse_line(builder, event, "aliases (*name) are not allowed; put a text that starts with * in quotes", error);
    if ((scalar && event->data.scalar.tag) || (list && event->data.sequence_start.tag) || (map && event->data.mapping_start.tag))
        return refuse_line(builder, event, "tags (!name) are not allowed", error);

    // Scalars in a map alternate between keys and values.
    const carom_node *open = innermost(builder);
    const bool key = (scalar || list || map) && open && open->kind == CAROM_NODE_MAP && !builder->key;
    if (key && !scalar) return refuse_line(builder, event, "a key must be text, not a list or map", error);

    if (scalar) {
        const char *text = (const char *)event->data.scalar.value;
        const size_t length = event->data.scalar.length;
        if (strlen(text) != length)
            return refuse_line(builder, event, key ? "a key contains a NUL character" : "a text contains a NUL character", error);
        const char *copy = copy_text(document, text, length);
        if (!copy) return carom_fail_memory(error, document->path);
        if (key) {
            builder->key = copy;
            builder->key_line = (int)event->start_mark.line + 1;
            return CAROM_OK;
        }
        carom_node *node = add_node(builder, event, CAROM_NODE_SCALAR);
        if (!node) return carom_fail_memory(error, document->path);
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node->text = copy;
    } else if (list || map) {
        if (builder->depth == CAROM_MAX_DEPTH) return refuse_line(builder, event, "lists and maps are nested more than 64 deep", error);
        if (!add_node(builder, event, map ? CAROM_NODE_MAP : CAROM_NODE_LIST)) return carom_fail_memory(error, document->path);
        builder->depth++;
    } else if (event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT) {
        builder->depth--;
        if (open->kind == CAROM_NODE_MAP) return refuse_duplicates(document, open, error);
    } else if (event->type == YAML_DOCUMENT_START_EVENT && document->root) {
        return refuse_line(builder, event, "a second document starts here: a file holds one", error);
    }
    return CAROM_OK;
}

// Events are taken one by one: libyaml's own tree would hold a file that is then refused.
carom_status carom_document_parse(const char *path, const char *bytes, size_t size, carom_document **document, carom_error *error) {
    *document = NULL;
    carom_document *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, path);
    made->path = copy_text(made, path, strlen(path));
    yaml_parser_t parser;
    if (!made->path || !yaml_parser_initialize(&parser)) {
        carom_document_free(made);
        return carom_fail_memory(error, path);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);

    tree_builder builder = {.document = made};
    carom_status status = CAROM_OK;
    for (bool more = true; more && !status;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            // One sentence about what libyaml found. Encoding errors have an offset and no line.
            size_t line = parser.problem_mark.line + 1;
            if (parser.error == YAML_READER_ERROR) {
                const size_t end = parser.problem_offset < size ? parser.problem_offset : size;
                line = 1;
                for (size_t i = 0; i < end; i++) line += bytes[i] == '\n';
            }
            const char *problem = parser.problem ? parser.problem : "cannot be parsed", *context = parser.context ? parser.context : "";
            // A pattern of names, as *foot*, is what an alias is mostly meant to be.
            const char *const advice = strstr(context, "alias") ? "; put a text that starts with * in quotes" : "";
            status = parser.error == YAML_MEMORY_ERROR ? carom_fail_memory(error, path)
                                                       : carom_fail(error, CAROM_BAD_INPUT, "%s:%zu: not valid YAML: %s%s%s%s",
                                                                    shown_path(path), line, problem, *context ? " " : "", context, advice);
            break;
        }
        status = take_event(&builder, &event, error);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (!status && !made->root) status = carom_fail(error, CAROM_BAD_INPUT, "%s:1: the file is empty", shown_path(path));
    if (status)
        carom_document_free(made);
    else
        *document = made;
    return status;
}

// -------------------------------------------------------------------------------------------------------------- getters

const char *carom_document_path(const carom_document *document) { return document->path; }
const carom_node *carom_document_root(const carom_document *document) { return document->root; }

const carom_node *carom_node_find(const carom_node *map, const char *key) {
    for (const carom_node *entry = map->first; entry != NULL; entry = entry->next)
        if (entry->key != NULL && strcmp(entry->key, key) == 0) return entry;
    return NULL;
}
