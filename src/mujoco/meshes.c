// SPDX-License-Identifier: Apache-2.0
// Where the meshes of a URDF are: package://, file:// and names relative to the file's folder.
//
// Versions of MuJoCo look for meshes in places of their own, so each name becomes the whole path of the file that it means. MuJoCo calls a
// mesh by its file's name without folder and ending, and confuses meshes of one name: they come from memory, under names of their own.
// What only shows, <visual>, is left out: no mesh of it is needed.
#define _XOPEN_SOURCE 700  // realpath
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "mujoco/mujoco_internal.h"

// A mesh of the file.
typedef struct found_mesh {
    xmlNode *element;
    const char *name, *scale;  // as the file has them
    char path[PATH_MAX];
    bool converted;  // MuJoCo gets it as binary STL
    int twin;        // an earlier mesh of the same file and scale; -1: none
    int points;      // its number among the changes' meshes, which twins share
} found_mesh;

// ----------------------------------------------------------------------------------------------------------------- search

// A file at folder/name, into `path`. Names from the root need no folder.
static bool try_file(const char *folder, size_t length, const char *name, char path[PATH_MAX]) {
    const bool whole = *name == '/';
    const int size = snprintf(path, PATH_MAX, "%.*s%s%s", whole ? 0 : (int)length, folder, whole || !length ? "" : "/", name);
    return size > 0 && size < PATH_MAX && access(path, F_OK) == 0;
}

// The name in a list of folders such as ROS_PACKAGE_PATH, each followed by `below`.
static bool try_list(const char *list, const char *below, const char *name, char path[PATH_MAX]) {
    char folder[PATH_MAX];
    for (const char *start = list; start && *start;) {
        const size_t length = strcspn(start, ":");
        const int size = snprintf(folder, sizeof folder, "%.*s%s", (int)length, start, below);
        if (length && size > 0 && size < PATH_MAX && try_file(folder, strlen(folder), name, path)) return true;
        start += length + (start[length] == ':');
    }
    return false;
}

// A name PACKAGE/REST: where a folder above the file has the package, or is the package under another name, or where ROS looks.
static bool find_in_package(const char *folder, const char *name, char path[PATH_MAX]) {
    const char *rest = strchr(name, '/');
    for (int renamed = 0; renamed < 2; renamed++)
        for (size_t length = strlen(folder); length;) {
            if (renamed && !rest) break;
            if (try_file(folder, length, renamed ? rest + 1 : name, path)) return true;
            while (length && folder[length - 1] != '/') length--;
            if (length) length--;
        }
    return try_list(getenv("ROS_PACKAGE_PATH"), "", name, path) || (rest && try_list(getenv("ROS_PACKAGE_PATH"), "", rest + 1, path)) ||
           try_list(getenv("AMENT_PREFIX_PATH"), "/share", name, path);
}

// The file that a name means, into `path`: where the name says, or else where MuJoCo looks, by the name or its last part in `meshdir`.
static bool find_file(const char *folder, const char *directory, const char *name, char path[PATH_MAX]) {
    static const char *const packages[] = {"package://", "model://"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (!strncmp(name, packages[i], strlen(packages[i]))) {
            name += strlen(packages[i]);
            name += strspn(name, "/");
            if (find_in_package(folder, name, path)) return true;
        }
    if (!strncmp(name, "file://", 7)) name += 7;
    if (try_file(folder, strlen(folder), name, path)) return true;
    char meshes[PATH_MAX];
    if (!try_file(folder, strlen(folder), directory, meshes)) return false;
    return try_file(meshes, strlen(meshes), name, path) || try_file(meshes, strlen(meshes), model_last_part(name), path);
}

// MuJoCo reads these endings, the last ones after a conversion. Of other files, one with such an ending may stand beside: it is then what
// somebody made of it.
static carom_status check_ending(const char *model, const found_mesh *mesh, char path[PATH_MAX], carom_error *error) {
    static const char *const endings[] = {".stl", ".STL", ".obj", ".OBJ", ".msh", ".MSH", ".dae", ".DAE"};
    const size_t count = sizeof endings / sizeof *endings;
    char *dot = strrchr(path, '.');
    const char *ending = dot && !strchr(dot, '/') ? dot : "";
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(ending, endings[i])) return CAROM_OK;
    const size_t stem = strlen(path) - strlen(ending);
    char other[PATH_MAX];
    for (size_t i = 0; i < count && stem + strlen(endings[i]) < PATH_MAX; i++) {
        snprintf(other, sizeof other, "%.*s%s", (int)stem, path, endings[i]);
        if (access(other, F_OK) != 0) continue;
        snprintf(path, PATH_MAX, "%s", other);
        return CAROM_OK;
    }
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s:%ld: <collision> has the mesh '%s', of a kind that is not read: STL, OBJ and COLLADA are; convert it, such as by "
                      "'assimp export %s %.*s.stl', and leave the new file beside it: it is then found",
                      model, xmlGetLineNo(mesh->element), mesh->name, model_last_part(path),
                      (int)(stem - (size_t)(model_last_part(path) - path)), model_last_part(path));
}

// ------------------------------------------------------------------------------------------------------------- the model

// The <compiler> that MuJoCo reads in a URDF; created where `create` says so.
static xmlNode *find_compiler(xmlDoc *document, bool create) {
    xmlNode *parent = xmlDocGetRootElement(document);
    static const char *const path[] = {"mujoco", "compiler"};
    for (int i = 0; parent && i < 2; i++) {
        xmlNode *child = parent->children;
        while (child && (child->type != XML_ELEMENT_NODE || !model_xml_is(child, path[i]))) child = child->next;
        parent = child || !create ? child : xmlNewChild(parent, NULL, (const xmlChar *)path[i], NULL);
    }
    return parent;
}

// Does this mesh count?
static bool is_used(const xmlNode *mesh) {
    const xmlNode *holder = mesh->parent ? mesh->parent->parent : NULL;
    return model_xml_is(mesh, "mesh") && holder && holder->type == XML_ELEMENT_NODE && model_xml_is(holder, "collision") &&
           model_xml_attribute(mesh, "filename");
}

// Takes out <visual> elements.
static void drop_visuals(xmlDoc *document) {
    for (const xmlNode *node = model_xml_first(document); node;) {
        const bool drops = model_xml_is(node, "visual") && node->parent && model_xml_is(node->parent, "link");
        node = drops ? model_xml_remove(node) : model_xml_next(node);
    }
}

static bool is_same_text(const char *a, const char *b) { return !strcmp(a ? a : "", b ? b : ""); }

// The length of a file's name without its ending.
static size_t stem_length(const char *path) {
    const char *name = model_last_part(path), *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : strlen(name);
}

// Do these two have the name that MuJoCo gives a mesh?
static bool are_namesakes(const found_mesh *a, const found_mesh *b) {
    const size_t length = stem_length(a->path);
    return length == stem_length(b->path) && !strncmp(model_last_part(a->path), model_last_part(b->path), length);
}

static bool are_twins(const found_mesh *a, const found_mesh *b) { return !strcmp(a->path, b->path) && is_same_text(a->scale, b->scale); }

// Reads the last of these meshes as a check, and keeps its points, unless an earlier one is the same.
static carom_status check_mesh(const char *model, model_changes *changes, found_mesh *meshes, int last, carom_error *error) {
    found_mesh *mesh = &meshes[last];
    mesh->points = changes->mesh_count;
    for (int k = 0; k < last && mesh->points == changes->mesh_count; k++)
        if (are_twins(mesh, &meshes[k])) mesh->points = meshes[k].points;
    if (mesh->points < changes->mesh_count) return CAROM_OK;
    model_points *grown = realloc(changes->meshes, (size_t)(changes->mesh_count + 1) * sizeof *grown);
    if (!grown) return carom_fail_memory(error, model);
    changes->meshes = grown;
    double scale[3];
    carom_error why;
    model_parse_scale(mesh->scale, scale);
    const carom_status status = model_check_mesh(mesh->path, NULL, scale, true, &grown[mesh->points], &why);
    if (!status) changes->mesh_count++;
    return status ? carom_fail(error, status, "%s:%ld: %s", model, xmlGetLineNo(mesh->element), why.message) : CAROM_OK;
}

// Adds the bytes of a mesh to the files in memory, as `name`.
static carom_status keep_file(model_changes *changes, const char *path, const char *name, bool converted, carom_error *error) {
    model_file *grown = realloc(changes->files, (size_t)(changes->file_count + 1) * sizeof *grown);
    if (!grown) return carom_fail_memory(error, path);
    changes->files = grown;
    model_file *file = &grown[changes->file_count];
    *file = (model_file){.name = strdup(name)};
    carom_status status = CAROM_OK;
    if (!file->name)
        status = carom_fail_memory(error, path);
    else if (converted)
        status = model_convert_mesh(path, &file->bytes, &file->size, error);
    else
        status = model_read_bytes(path, &file->bytes, &file->size, error);
    if (!status) {
        changes->file_count++;
        return CAROM_OK;
    }
    free(file->name);
    free(file->bytes);
    return status;
}

// Writes whole paths into the document, and the numbers of the points. A mesh whose name an earlier one has gets a name of its own.
static carom_status write_paths(model_changes *changes, found_mesh *meshes, int count, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < count; i++) {
        found_mesh *mesh = &meshes[i];
        int same = 0;
        mesh->twin = -1;
        for (int k = 0; k < i && mesh->twin < 0; k++) {
            if (!are_namesakes(mesh, &meshes[k])) continue;
            same++;
            if (are_twins(mesh, &meshes[k])) mesh->twin = k;
        }
        char name[PATH_MAX + 16];
        if (mesh->twin >= 0) {
            snprintf(name, sizeof name, "%s", model_xml_attribute(meshes[mesh->twin].element, "filename"));
        } else if (!same && !mesh->converted) {
            snprintf(name, sizeof name, "%s", mesh->path);
        } else {
            const size_t stem = (size_t)(model_last_part(mesh->path) - mesh->path) + stem_length(mesh->path);
            snprintf(name, sizeof name, "%.*s#%d%s", (int)stem, mesh->path, same + 1, mesh->converted ? ".stl" : mesh->path + stem);
            status = keep_file(changes, mesh->path, name, mesh->converted, error);
        }
        xmlSetProp(mesh->element, (const xmlChar *)"filename", (const xmlChar *)name);
        snprintf(name, sizeof name, "%d", mesh->points);
        xmlSetProp(mesh->element, (const xmlChar *)"points", (const xmlChar *)name);
    }
    changes->edited = true;
    xmlNode *compiler = find_compiler(changes->document, true);
    if (!compiler) return carom_fail_memory(error, "model");
    xmlSetProp(compiler, (const xmlChar *)"strippath", (const xmlChar *)"false");
    xmlUnsetProp(compiler, (const xmlChar *)"meshdir");
    xmlUnsetProp(compiler, (const xmlChar *)"assetdir");
    return status;
}

carom_status model_resolve_meshes(const char *path, model_changes *changes, carom_error *error) {
    xmlDoc *document = changes->document;
    const xmlNode *robot = model_xml_first(document);
    if (!model_is_urdf(document)) return CAROM_OK;
    drop_visuals(document);
    const xmlNode *compiler = find_compiler(document, false);
    const char *directory = compiler ? model_xml_attribute(compiler, "meshdir") : NULL;
    if (!directory) directory = compiler ? model_xml_attribute(compiler, "assetdir") : NULL;
    int count = 0;
    for (const xmlNode *node = robot; node; node = model_xml_next(node)) count += is_used(node);
    if (!count) return CAROM_OK;
    found_mesh *meshes = calloc((size_t)count, sizeof *meshes);
    char *folder = realpath(path, NULL);
    carom_status status = meshes && folder ? CAROM_OK : carom_fail_memory(error, path);
    if (folder) *strrchr(folder, '/') = '\0';

    count = 0;
    for (const xmlNode *node = robot; !status && node; node = model_xml_next(node)) {
        if (!is_used(node)) continue;
        found_mesh *mesh = &meshes[count++];
        mesh->element = (xmlNode *)node;
        mesh->name = model_xml_attribute(node, "filename");
        mesh->scale = model_xml_attribute(node, "scale");
        if (!find_file(folder, directory ? directory : "", mesh->name, mesh->path))
            status = carom_fail(error, CAROM_BAD_INPUT,
                                "%s:%ld: the mesh '%s' was not found, neither in the folder of the file and those above it nor in those of "
                                "ROS_PACKAGE_PATH and AMENT_PREFIX_PATH",
                                path, xmlGetLineNo(mesh->element), mesh->name);
        if (!status) status = check_ending(path, mesh, mesh->path, error);
        if (!status) status = check_mesh(path, changes, meshes, count - 1, error);
        mesh->converted = !status && model_needs_conversion(mesh->path);
    }
    if (!status) status = write_paths(changes, meshes, count, error);
    free(meshes);
    free(folder);
    return status;
}
