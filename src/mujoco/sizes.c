// SPDX-License-Identifier: Apache-2.0
// Sizes in model files, checked before MuJoCo allocates by them: it throws std::bad_alloc through C where they are absurd.
//
// Numbers that are none are refused here, too: MuJoCo takes NaN for what a file does not say, or goes on with it and finds no contact.
// The limits are far above what models need. MuJoCo's file includes are followed as MuJoCo does, relative to the folder of the main file.
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

// What MuJoCo computes with. Numbers of a user may be anything.
static const char *const finite[] = {"friction", "size", "pos",     "quat",        "axisangle",   "euler", "xyaxes",   "zaxis",
                                     "fromto",   "mass", "density", "diaginertia", "fullinertia", "axis",  "gravity",  "scale",
                                     "armature", "ref",  "damping", "stiffness",   "margin",      "gap",   "timestep", "frictionloss",
                                     "anchor",   "qpos", "qvel",    "polycoef",    "relpose",     "coef",  "mpos",     "mquat"};

// Of these only NaN is refused: a range may be infinite.
static const char *const numbers[] = {"range",       "springref", "springlength", "ctrlrange", "forcerange",   "gear",        "gainprm",
                                      "biasprm",     "dynprm",    "kp",           "kv",        "solref",       "solimp",      "solreflimit",
                                      "solimplimit", "act",       "ctrl",         "boundmass", "boundinertia", "settotalmass"};

static bool is_listed(const char *const *names, size_t count, const char *name) {
    size_t i = 0;
    while (i < count && strcmp(name, names[i]) != 0) i++;
    return i < count;
}

// Refuses NaN and infinity in these, and friction below zero.
static carom_status check_numbers(const char *path, const xmlNode *element, const char *name, const char *value, carom_error *error) {
    const bool friction = !strcmp(name, "friction") && (model_xml_is(element, "geom") || model_xml_is(element, "pair"));
    const bool ends = is_listed(finite, sizeof finite / sizeof *finite, name);
    const bool listed = ends || is_listed(numbers, sizeof numbers / sizeof *numbers, name);
    for (const char *text = value; listed && text && *text;) {
        char *end;
        const double number = strtod(text, &end);
        if (end == text) break;
        if (isnan(number) || (ends && isinf(number)) || (friction && number < 0))
            return carom_fail(error, CAROM_BAD_INPUT, "%s:%ld: <%s %s=\"%.80s\">: must be %snumbers%s", path, xmlGetLineNo(element),
                              (const char *)element->name, name, value, ends ? "finite " : "", friction ? " of 0 or more" : "");
        text = end;
    }
    return CAROM_OK;
}

// Refuses an attribute whose value is beyond its limit. Most have none.
static carom_status check_attribute(const char *path, const xmlNode *element, const xmlAttr *attribute, carom_error *error) {
    const char *name = (const char *)attribute->name, *value = model_xml_value(attribute);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const size_t length = strlen(limits[i].attribute);
        const bool prefix = limits[i].attribute[length - 1] == '_';
        if (!model_xml_is(element, limits[i].element)) continue;
        if (prefix ? strncmp(name, limits[i].attribute, length) != 0 : strcmp(name, limits[i].attribute) != 0) continue;
        if (!value)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: <%s %s>: its value must be numbers, without entities", path, limits[i].element,
                              name);
        // The product of its numbers: <composite count="40 40 40"> makes 64,000 bodies.
        double product = 1;
        for (const char *text = value; *text;) {
            char *end;
            const double number = strtod(text, &end);
            if (end == text) break;
            product *= number;
            text = end;
        }
        if (!(product <= limits[i].most))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: <%s %s>: %s is more than %.0f, the most that is allowed", path,
                              limits[i].element, name, value, limits[i].most);
    }
    return CAROM_OK;
}

// Checks a document and the files that it includes, whose names are relative to `folder`. `files` counts them.
static carom_status check_document(const char *path, const char *folder, const xmlDoc *document, int *files, carom_error *error) {
    carom_status status = CAROM_OK;
    if (++*files > MAX_FILES) return carom_fail(error, CAROM_BAD_INPUT, "%s: a model may include at most %d files", path, MAX_FILES);
    for (const xmlNode *element = model_xml_first(document); element && !status; element = model_xml_next(element))
        for (const xmlAttr *attribute = element->properties; attribute && !status; attribute = attribute->next) {
            status = check_attribute(path, element, attribute, error);
            if (!status) status = check_numbers(path, element, (const char *)attribute->name, model_xml_value(attribute), error);
            // An included file, which may include others.
            const bool names_file = model_xml_is(element, "include") && !strcmp((const char *)attribute->name, "file");
            const char *name = names_file ? model_xml_value(attribute) : NULL;
            if (status || !name) continue;
            const size_t size = strlen(folder) + strlen(name) + 1;
            char *included = malloc(size), *text = NULL;
            if (!included) return carom_fail_memory(error, "included model");
            snprintf(included, size, "%s%s", *name == '/' ? "" : folder, name);
            carom_error why;
            xmlDoc *inner = NULL;
            status = model_read_text(included, &text, &why);
            if (!status) status = model_xml_parse(text, &inner, &why);
            if (!status) status = check_document(included, folder, inner, files, &why);
            if (inner) xmlFreeDoc(inner);
            free(text);
            free(included);
            // A file that cannot be read is left to MuJoCo, which names the element.
            if (status == CAROM_IO_FAILED) status = CAROM_OK;
            if (status && error) *error = why;
        }
    return status;
}

carom_status model_check_sizes(const char *path, const xmlDoc *document, carom_error *error) {
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    if (!folder) return carom_fail_memory(error, path);
    int files = 0;
    const carom_status status = check_document(path, folder, document, &files, error);
    free(folder);
    return status;
}
