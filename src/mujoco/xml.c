// SPDX-License-Identifier: Apache-2.0
// Model files as XML documents, for what must be known before MuJoCo reads them, or beside what it keeps.
//
// libxml2 initialises itself at its first use, safely for threads, and is never cleaned up here: the calling program may use it, too.
#include <libxml/HTMLparser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "carom/file.h"
#include "mujoco/mujoco_internal.h"

// Far above hand-written and generated models, and above meshes.
enum { MAX_MODEL_BYTES = 1 << 26, MAX_FILE_BYTES = 1 << 30 };

carom_status model_check_regular(const char *path, carom_error *error) {
    FILE *file;
    struct stat about;
    if (stat(path, &about)) return CAROM_OK;
    const carom_status status = carom_file_open(path, &file, error);
    if (file) fclose(file);
    return status;
}

carom_status model_read_text(const char *path, char **text, carom_error *error) {
    size_t size;
    return carom_file_read(path, MAX_MODEL_BYTES, text, &size, error);
}

carom_status model_read_bytes(const char *path, char **bytes, size_t *size, carom_error *error) {
    return carom_file_read(path, MAX_FILE_BYTES, bytes, size, error);
}

// MuJoCo reports what is wrong with a file, in its own words.
static void drop_message(void *user, xmlErrorPtr message) {
    (void)user;
    (void)message;
}

carom_status model_xml_parse(const char *text, xmlDoc **document, carom_error *error) {
    *document = NULL;
    xmlParserCtxt *xml = xmlNewParserCtxt();
    htmlParserCtxt *html = htmlNewParserCtxt();
    const int size = (int)strlen(text);
    if (xml && html) {
        // Handlers of these parsers alone: neither a message on stderr nor a change of the process's handlers.
        xml->sax->serror = html->sax->serror = drop_message;
        // MuJoCo reads every file as UTF-8, and knows neither the entities of a document nor other files that a DTD names: they stay
        // unread here, too.
        *document = xmlCtxtReadMemory(xml, text, size, NULL, NULL,
                                      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC);
        // MuJoCo accepts files that are not well-formed, such as those with '<' in a value. The parser of HTML, which never gives up, finds
        // their elements and attributes; their nesting does not matter then.
        if (!*document && xml->errNo != XML_ERR_NO_MEMORY)
            *document = htmlCtxtReadMemory(html, text, size, NULL, "UTF-8",
                                           HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
    }
    const bool failed = !xml || !html || xml->errNo == XML_ERR_NO_MEMORY || html->errNo == XML_ERR_NO_MEMORY;
    if (xml) xmlFreeParserCtxt(xml);
    if (html) htmlFreeParserCtxt(html);
    if (!failed) return CAROM_OK;
    if (*document) xmlFreeDoc(*document);
    *document = NULL;
    return carom_fail_memory(error, "model file");
}

const xmlNode *model_xml_first(const xmlDoc *document) { return document ? xmlDocGetRootElement(document) : NULL; }

// The element that follows one, its children first or not. Depth first, without recursion: documents may be deep.
static const xmlNode *find_next(const xmlNode *element, const xmlNode *next) {
    for (;;) {
        // Nodes other than elements have no children that count.
        while (next && next->type != XML_ELEMENT_NODE) next = next->next;
        if (next) return next;
        next = element->next;
        element = element->parent;
        if (!next && (!element || element->type != XML_ELEMENT_NODE)) return NULL;
    }
}

const xmlNode *model_xml_next(const xmlNode *element) { return find_next(element, element->children); }

const xmlNode *model_xml_remove(const xmlNode *element) {
    const xmlNode *next = find_next(element, NULL);
    xmlUnlinkNode((xmlNode *)element);
    xmlFreeNode((xmlNode *)element);
    return next;
}

bool model_xml_is(const xmlNode *element, const char *name) { return xmlStrEqual(element->name, (const xmlChar *)name); }

// libxml2 keeps an attribute's value as a list of texts and references to entities; values without such references are one text.
const char *model_xml_value(const xmlAttr *attribute) {
    const xmlNode *value = attribute->children;
    if (!value) return "";
    return value->next || value->type != XML_TEXT_NODE ? NULL : (const char *)value->content;
}

const char *model_xml_attribute(const xmlNode *element, const char *name) {
    const xmlAttr *attribute = xmlHasProp(element, (const xmlChar *)name);
    return attribute ? model_xml_value(attribute) : NULL;
}

xmlNode *model_xml_add(xmlNode *parent, const char *name) { return xmlNewChild(parent, NULL, (const xmlChar *)name, NULL); }

void model_xml_set(xmlNode *element, const char *name, const char *value) {
    xmlSetProp(element, (const xmlChar *)name, (const xmlChar *)value);
}

void model_xml_set_numbers(xmlNode *element, const char *name, int count, const double *values) {
    enum { MOST_NUMBERS = 7, NUMBER_SIZE = 32 };
    char text[MOST_NUMBERS * NUMBER_SIZE] = "";
    for (int i = 0; i < count && i < MOST_NUMBERS; i++) {
        char number[NUMBER_SIZE];
        carom_print_number(values[i], number, sizeof number);
        if (i) strcat(text, " ");
        strcat(text, number);
    }
    model_xml_set(element, name, text);
}

carom_status model_xml_print(xmlDoc *document, char **text, carom_error *error) {
    xmlChar *bytes = NULL;
    int size = 0;
    xmlDocDumpMemoryEnc(document, &bytes, &size, "UTF-8");
    *text = bytes ? strdup((const char *)bytes) : NULL;
    xmlFree(bytes);
    return *text ? CAROM_OK : carom_fail_memory(error, "model");
}
