// SPDX-License-Identifier: Apache-2.0
/// @file
/// A YAML or JSON file as a tree of nodes that know their line, with errors that say FILE:LINE: KEY.
#ifndef CAROM_IO_DOCUMENT_H
#define CAROM_IO_DOCUMENT_H

#include "carom/base.h"
#include "carom/file.h"

/// Limit of what a document may hold: a deeper one is refused before it costs memory or time.
enum { CAROM_MAX_DEPTH = 64 };

typedef enum carom_node_kind { CAROM_NODE_SCALAR, CAROM_NODE_LIST, CAROM_NODE_MAP } carom_node_kind;

typedef struct carom_node carom_node;

/// A value with its place. Everything belongs to the document.
struct carom_node {
    const carom_node *parent;  ///< NULL for the root
    const carom_node *next;    ///< next entry of the same list or map
    const carom_node *first;   ///< first entry of a list or map
    const char *key;           ///< in a map; NULL otherwise
    const char *text;          ///< of a scalar as written, numbers too; NULL otherwise
    int line;                  ///< from 1; where the key stands, in a map
    int index;                 ///< among the entries of the parent
    int count;                 ///< entries of a list or map
    carom_node_kind kind;
    bool quoted;  ///< a scalar in quotes or a block scalar: text even where it looks like a number
};

/// A parsed file. It also owns what readers derive from its nodes.
typedef struct carom_document carom_document;

/// Parses `size` bytes of UTF-8. Refused: several documents or none, aliases, tags, keys that are no scalars, duplicate keys, NUL
/// characters.
/// @param path  named in errors
carom_status carom_document_parse(const char *path, const char *bytes, size_t size, carom_document **document, carom_error *error);
void carom_document_free(carom_document *document);

const char *carom_document_path(const carom_document *document);
const carom_node *carom_document_root(const carom_document *document);

/// The entry of a map; NULL when there is none. Linear in the entries.
const carom_node *carom_node_find(const carom_node *map, const char *key);

/// Zeroed memory that lives as long as the document; NULL when there is none.
void *carom_document_allocate(carom_document *document, size_t size);

/// CAROM_BAD_INPUT with "FILE:LINE: key.path[index]: sentence".
carom_status carom_document_refuse(const carom_document *document, const carom_node *node, carom_error *error, const char *format, ...)
    CAROM_PRINTF(4, 5);
/// Passes the error of a call that worked with `node` on, with the same place in front.
carom_status carom_document_pass_on(const carom_document *document, const carom_node *node, const carom_error *inner, carom_error *error);

#endif
