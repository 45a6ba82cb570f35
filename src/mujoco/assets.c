// SPDX-License-Identifier: Apache-2.0
// Files that an MJCF model names. MuJoCo trusts what they hold, so meshes and height fields are read here first; textures and skins, which
// no impact needs, are left out. Geoms that only show, without a part in collisions and inertia, are left out where their meshes are
// missing.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "mujoco/mujoco_internal.h"

enum { MAX_DIRECTORIES = 8, MAX_ROWS = 10000, PNG_START = 24 };

// What the assets of a file have in common.
typedef struct asset_search {
    const char *path;  // of the model
    xmlDoc *document;
    bool editable;                             // the document is well-formed
    size_t folder;                             // length of the model's folder in its path, with a slash
    const char *directories[MAX_DIRECTORIES];  // of <compiler>, and none
    int count;
    bool from_geoms;  // inertia always comes from geoms
    int missing;      // meshes that are left out
    char first[MODEL_LABEL_SIZE];
} asset_search;

// ------------------------------------------------------------------------------------------------------------ elements

static bool is_inside(const xmlNode *element, const char *name) {
    for (const xmlNode *outer = element->parent; outer && outer->type == XML_ELEMENT_NODE; outer = outer->parent)
        if (model_xml_is(outer, name)) return true;
    return false;
}

// The value of an attribute in a <default> element, or in those around it.
static const char *find_in_class(const xmlNode *class, const char *element, const char *name) {
    for (; class && class->type == XML_ELEMENT_NODE && model_xml_is(class, "default"); class = class->parent)
        for (const xmlNode *child = class->children; child; child = child->next) {
            const char *value = child->type == XML_ELEMENT_NODE && model_xml_is(child, element) ? model_xml_attribute(child, name) : NULL;
            if (value) return value;
        }
    return NULL;
}

// The value of an element's attribute, its own or that of its default classes; NULL where none has it.
static const char *find_value(const asset_search *search, const xmlNode *element, const char *name) {
    const char *value = model_xml_attribute(element, name), *class = model_xml_attribute(element, "class");
    for (const xmlNode *outer = element->parent; !class && outer && outer->type == XML_ELEMENT_NODE; outer = outer->parent)
        class = model_xml_attribute(outer, "childclass");
    for (int pass = class ? 0 : 1; pass < 2 && !value; pass++)
        for (const xmlNode *node = model_xml_first(search->document); node && !value; node = model_xml_next(node)) {
            if (!model_xml_is(node, "default")) continue;
            const char *own = model_xml_attribute(node, "class");
            const bool top = node->parent && !model_xml_is(node->parent, "default");
            if (pass ? top : own && !strcmp(own, class)) value = find_in_class(node, (const char *)element->name, name);
        }
    return value;
}

static double find_number(const asset_search *search, const xmlNode *element, const char *name, double otherwise) {
    const char *text = find_value(search, element, name);
    return text ? strtod(text, NULL) : otherwise;
}

// --------------------------------------------------------------------------------------------------------------- files

// The folder of the model, and those that a <compiler> names.
static void find_directories(asset_search *search) {
    static const char *const names[] = {"assetdir", "meshdir"};
    search->directories[search->count++] = "";
    for (const xmlNode *element = model_xml_first(search->document); element; element = model_xml_next(element)) {
        if (!model_xml_is(element, "compiler")) continue;
        const char *whole = model_xml_attribute(element, "inertiafromgeom");
        if (whole) search->from_geoms = !strcmp(whole, "true");
        for (int i = 0; i < 2 && search->count < MAX_DIRECTORIES; i++) {
            const char *directory = model_xml_attribute(element, names[i]);
            if (directory) search->directories[search->count++] = directory;
        }
    }
}

// Where a file may be: by its name, or by the last part of it, in the folder number `index`; to be freed. NULL: no memory.
static char *join_path(const asset_search *search, const char *name, int index, bool strip) {
    if (strip) name = model_last_part(name);
    const char *directory = *name == '/' ? "" : search->directories[index];
    const size_t folder = *name == '/' || *directory == '/' ? 0 : search->folder;
    const size_t size = folder + strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%.*s%s%s%s", (int)folder, search->path, directory, *directory ? "/" : "", name);
    return path;
}

// A height field's numbers of rows and columns, and its heights; of a PNG file only its size, which a small file can make huge.
static carom_status check_heights(const char *path, const char *content, carom_error *error) {
    const char *dot = strrchr(path, '.');
    const bool png = content ? strstr(content, "png") != NULL : dot && !strcasecmp(dot, ".png");
    char *bytes = NULL;
    size_t size = 0;
    carom_status status = model_read_bytes(path, &bytes, &size, error);
    const unsigned char *at = (const unsigned char *)bytes;
    int64_t sides[2] = {0, 0};
    if (!status && png && size >= PNG_START)
        for (int k = 0; k < 8; k++) sides[k / 4] = sides[k / 4] << 8 | at[16 + k];
    int32_t counts[2] = {0, 0};
    if (!status && !png && size >= sizeof counts) {
        memcpy(counts, bytes, sizeof counts);
        for (int k = 0; k < 2; k++) sides[k] = counts[k];
    }
    if (!status && (sides[0] < 1 || sides[1] < 1 || sides[0] > MAX_ROWS || sides[1] > MAX_ROWS))
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: a height field has 1 to %d rows and columns, but this has %lld and %lld", path,
                            MAX_ROWS, (long long)sides[0], (long long)sides[1]);
    if (!status && !png && size != sizeof counts + sizeof(float) * (size_t)(sides[0] * sides[1]))
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: has %zu bytes, which is not what %d rows and %d columns take", path, size,
                            counts[0], counts[1]);
    for (int64_t i = 0; !status && !png && i < sides[0] * sides[1]; i++) {
        float height;
        memcpy(&height, bytes + sizeof counts + sizeof height * (size_t)i, sizeof height);
        if (!isfinite(height)) status = carom_fail(error, CAROM_BAD_INPUT, "%s: height %lld is not finite", path, (long long)i);
    }
    free(bytes);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- meshes

// The name of a mesh: its own, or that of its file without folder and ending.
static void name_mesh(const xmlNode *mesh, const char *file, char name[MODEL_LABEL_SIZE]) {
    const char *given = model_xml_attribute(mesh, "name"), *start = model_last_part(file);
    const char *dot = strrchr(start, '.');
    if (given && *given)
        snprintf(name, MODEL_LABEL_SIZE, "%s", given);
    else
        snprintf(name, MODEL_LABEL_SIZE, "%.*s", (int)(dot ? dot - start : (long)strlen(start)), start);
}

// Is this a geom of a body that has the mesh?
static bool has_mesh(const asset_search *search, const xmlNode *node, const char *mesh) {
    const char *own = model_xml_is(node, "geom") && !is_inside(node, "default") ? find_value(search, node, "mesh") : NULL;
    return own && !strcmp(own, mesh);
}

// May the geom touch anything, by its bits or by a pair of its name?
static bool collides(const asset_search *search, const xmlNode *geom) {
    if (find_number(search, geom, "contype", 1) != 0 || find_number(search, geom, "conaffinity", 1) != 0) return true;
    const char *name = model_xml_attribute(geom, "name");
    for (const xmlNode *node = model_xml_first(search->document); node && name; node = model_xml_next(node))
        for (int side = 0; side < 2 && model_xml_is(node, "pair"); side++) {
            const char *own = model_xml_attribute(node, side ? "geom2" : "geom1");
            if (own && !strcmp(own, name)) return true;
        }
    return false;
}

// Does the geom give mass to a body that can move? `*body` gets the name of its body.
static bool gives_inertia(const asset_search *search, const xmlNode *geom, const char **body) {
    *body = "";
    const xmlNode *owner = geom->parent;
    while (owner && owner->type == XML_ELEMENT_NODE && !model_xml_is(owner, "body")) owner = owner->parent;
    if (!owner || owner->type != XML_ELEMENT_NODE) return false;
    const char *name = model_xml_attribute(owner, "name");
    if (name) *body = name;
    bool given = false, moves = false;
    for (const xmlNode *outer = owner; outer && outer->type == XML_ELEMENT_NODE; outer = outer->parent)
        for (const xmlNode *child = outer->children; child; child = child->next) {
            if (child->type != XML_ELEMENT_NODE || !(model_xml_is(outer, "body") || model_xml_is(outer, "frame"))) continue;
            given = given || (outer == owner && model_xml_is(child, "inertial"));
            moves = moves || model_xml_is(child, "joint") || model_xml_is(child, "freejoint");
        }
    const bool massless = find_number(search, geom, "mass", 1) == 0 || find_number(search, geom, "density", 1) == 0;
    return moves && !massless && (!given || search->from_geoms);
}

// Marks a mesh that is not there, and its geoms, to be left out, or says which of them needs it.
static carom_status drop_mesh(asset_search *search, xmlNode *mesh, const char *file, carom_error *error) {
    char name[MODEL_LABEL_SIZE];
    name_mesh(mesh, file, name);
    for (const xmlNode *node = model_xml_first(search->document); node; node = model_xml_next(node)) {
        const char *body;
        if (!has_mesh(search, node, name)) continue;
        const bool touches = collides(search, node);
        if (!gives_inertia(search, node, &body) && !touches) continue;
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: the file '%s' of the mesh '%s' was not found, in the folder of the model or where its <compiler> says; a "
                          "geom of the body '%s' %s",
                          search->path, file, name, *body ? body : "world",
                          touches ? "collides with it" : "gives the body its inertia by it, because there is no <inertial>");
    }
    if (!search->editable) return CAROM_OK;
    for (const xmlNode *node = model_xml_first(search->document); node; node = model_xml_next(node))
        if (has_mesh(search, node, name)) ((xmlNode *)node)->_private = search;
    mesh->_private = search;
    if (!search->missing++) snprintf(search->first, sizeof search->first, "%s", file);
    return CAROM_OK;
}

// Does any geom collide with this mesh, so that it needs a hull?
static bool needs_hull(const asset_search *search, const char *name) {
    for (const xmlNode *node = model_xml_first(search->document); node; node = model_xml_next(node)) {
        const char *type = has_mesh(search, node, name) ? find_value(search, node, "type") : NULL;
        if (type && !strcmp(type, "mesh") && collides(search, node)) return true;
    }
    return false;
}

// The numbers of an attribute, of the arena.
static double *read_list(const char *text, carom_arena *arena, int *count) {
    double *numbers = carom_arena_take(arena, strlen(text) / 2 + 1, sizeof *numbers);
    *count = 0;
    for (char *end; numbers; text = end) {
        const double number = strtod(text, &end);
        if (end == text) break;
        numbers[(*count)++] = number;
    }
    return numbers;
}

// A mesh in words of the model itself.
static carom_status check_inline_mesh(const asset_search *search, const xmlNode *mesh, carom_error *error) {
    const char *vertex = model_xml_attribute(mesh, "vertex"), *face = model_xml_attribute(mesh, "face");
    const char *given = model_xml_attribute(mesh, "name"), *name = given ? given : "";
    if (!vertex) return CAROM_OK;
    carom_arena arena = {0};
    int numbers = 0, corners = 0;
    double scale[3];
    const double *point = read_list(vertex, &arena, &numbers), *corner = face ? read_list(face, &arena, &corners) : NULL;
    model_parse_scale(find_value(search, mesh, "scale"), scale);
    carom_status status = arena.failed ? carom_fail_memory(error, search->path) : CAROM_OK;
    for (int i = 0; !status && i < corners; i++)
        if (!(corner[i] >= 0 && corner[i] < numbers / 3))
            status = carom_fail(error, CAROM_BAD_INPUT, "%s: the mesh '%s' has a face with the vertex %g, but it has %d, numbered from 0",
                                search->path, name, corner[i], numbers / 3);
    char label[2 * MODEL_LABEL_SIZE];
    snprintf(label, sizeof label, "%.100s: mesh '%.100s'", search->path, name);
    if (!status && numbers >= 12 && numbers % 3 == 0)
        status = model_check_points(label, numbers / 3, point, scale, needs_hull(search, name), error);
    carom_arena_free(&arena);
    return status;
}

// A file that an element names: reads a mesh or a height field wherever MuJoCo may look for it, and refuses pipes and folders elsewhere.
static carom_status check_file(asset_search *search, xmlNode *element, carom_error *error) {
    const char *content = model_xml_attribute(element, "content_type"), *file = model_xml_attribute(element, "file");
    // A URDF that is not well-formed gets no further check.
    if (!file && !search->editable) file = model_xml_attribute(element, "filename");
    const bool mesh = model_xml_is(element, "mesh"), heights = model_xml_is(element, "hfield");
    if (!file) return mesh ? check_inline_mesh(search, element, error) : CAROM_OK;
    char name[MODEL_LABEL_SIZE];
    name_mesh(element, file, name);
    double scale[3];
    model_parse_scale(find_value(search, element, "scale"), scale);
    bool found = false;
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 * search->count && !status; i++) {
        char *path = join_path(search, file, i / 2, i % 2);
        if (!path) return carom_fail_memory(error, search->path);
        if (access(path, F_OK) == 0) {
            carom_error inner;
            found = true;
            status = mesh      ? model_check_mesh(path, content, scale, needs_hull(search, name), NULL, &inner)
                     : heights ? check_heights(path, content, &inner)
                               : model_check_regular(path, &inner);
            if (status) carom_fail(error, status, "%s: %s", search->path, inner.message);
        }
        free(path);
    }
    return status || found || !mesh ? status : drop_mesh(search, element, file, error);
}

// ------------------------------------------------------------------------------------------------------------ pictures

// Does a texture or skin come from a file? The six sides of a cube have files of their own.
static bool is_picture(const xmlNode *element) {
    if (!model_xml_is(element, "texture") && !model_xml_is(element, "skin")) return false;
    for (const xmlAttr *attribute = element->properties; attribute; attribute = attribute->next)
        if (!strncmp((const char *)attribute->name, "file", 4)) return true;
    return false;
}

// Takes out textures and skins that come from files, and what names textures.
static carom_status drop_pictures(const asset_search *search, bool *edited, carom_error *error) {
    bool textures = false;
    for (const xmlNode *node = model_xml_first(search->document); node;) {
        const bool picture = is_picture(node);
        if (picture && !search->editable)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: is not well-formed XML, so that its textures and skins cannot be left out",
                              search->path);
        textures = textures || (picture && model_xml_is(node, "texture"));
        *edited = *edited || picture;
        node = picture ? model_xml_remove(node) : model_xml_next(node);
    }
    for (const xmlNode *node = model_xml_first(search->document); node && textures;) {
        xmlUnsetProp((xmlNode *)node, (const xmlChar *)"texture");
        node = model_xml_is(node, "layer") ? model_xml_remove(node) : model_xml_next(node);
    }
    return CAROM_OK;
}

carom_status model_check_assets(const char *path, model_changes *changes, carom_error *error) {
    xmlDoc *document = changes->document;
    const xmlNode *root = model_xml_first(document);
    if (!root) return CAROM_OK;
    const char *slash = strrchr(path, '/');
    asset_search search = {.path = path,
                           .document = document,
                           .editable = document->type == XML_DOCUMENT_NODE,
                           .folder = slash ? (size_t)(slash - path) + 1 : 0};
    if (search.editable && !model_xml_is(root, "mujoco")) return CAROM_OK;
    carom_error why;
    carom_status status = search.editable ? model_inline_includes(document, path, &why) : CAROM_OK;
    if (status)
        status = carom_fail(error, status == CAROM_OUT_OF_MEMORY ? status : CAROM_BAD_INPUT, "%s: an included file: %s", path, why.message);
    if (!status) status = drop_pictures(&search, &changes->edited, error);
    find_directories(&search);
    for (const xmlNode *node = model_xml_first(document); node && !status; node = model_xml_next(node))
        if (!is_inside(node, "default")) status = check_file(&search, (xmlNode *)node, error);
    for (const xmlNode *node = model_xml_first(document); node && search.missing;)
        node = node->_private ? model_xml_remove(node) : model_xml_next(node);
    changes->edited = changes->edited || search.missing;
    if (!status && search.missing)
        model_add_note(changes, "%d mesh file%s not found, such as '%.100s': geoms that only show are left out", search.missing,
                       search.missing > 1 ? "s were" : " was", search.first);
    return status;
}
