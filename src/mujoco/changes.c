// SPDX-License-Identifier: Apache-2.0
// Changes of a model file before MuJoCo compiles it: a free joint for its root, and a floor.
//
// MJCF gets the elements that a hand would add. The free root of a URDF is the child of a link 'world' by a floating joint; it gets its
// floor as MJCF (urdf.c). Whatever the file itself says keeps its bits.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

#define PI 3.14159265358979323846
enum {
    NAME_SIZE = MODEL_LABEL_SIZE,
    NUMBER_SIZE = 32,
    FREE_POSITIONS = 7,
    FREE_VELOCITIES = 6,
};

// --------------------------------------------------------------------------------------------------------- small helps

// Is there an element called `element` with this name?
static bool has_name(const xmlDoc *document, const char *element, const char *name) {
    for (const xmlNode *node = model_xml_first(document); node; node = model_xml_next(node)) {
        const char *own = model_xml_is(node, element) ? model_xml_attribute(node, "name") : NULL;
        if (own && !strcmp(own, name)) return true;
    }
    return false;
}

// A name that no such element has: `wish`, or with as many underscores behind it as it takes.
static void choose_name(const xmlDoc *document, const char *element, const char *wish, char name[NAME_SIZE]) {
    snprintf(name, NAME_SIZE, "%s", wish);
    while (has_name(document, element, name) && strlen(name) + 1 < NAME_SIZE) strcat(name, "_");
}

// Adds a name to a list of them, which may be full.
static void list_name(char list[NAME_SIZE], const char *name) {
    const size_t used = strlen(list);
    snprintf(list + used, NAME_SIZE - used, "%s'%s'", used ? ", " : "", name ? name : "");
}

// --------------------------------------------------------------------------------------------------------------- files

// Puts what an included file holds in the place of the element that includes it, as MuJoCo does.
static carom_status inline_include(xmlNode *include, const char *path, carom_error *error) {
    const char *slash = strrchr(path, '/'), *name = model_xml_attribute(include, "file");
    const size_t folder = slash && name && *name != '/' ? (size_t)(slash - path) + 1 : 0;
    char *file = malloc(folder + strlen(name ? name : "") + 1), *text = NULL;
    if (!file) return carom_fail_memory(error, path);
    sprintf(file, "%.*s%s", (int)folder, path, name ? name : "");
    xmlDoc *document = NULL;
    carom_status status = model_read_text(file, &text, error);
    if (!status) status = model_xml_parse(text, &document, error);
    if (!status && (!document || document->type != XML_DOCUMENT_NODE || !model_xml_first(document)))
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: is not well-formed XML, so that nothing can be added to it", file);
    for (xmlNode *child = status ? NULL : xmlDocGetRootElement(document)->children; child; child = child->next) {
        xmlNode *copy = xmlDocCopyNode(child, include->doc, 1);
        if (copy) xmlAddPrevSibling(include, copy);
    }
    xmlUnlinkNode(include);
    xmlFreeNode(include);
    if (document) xmlFreeDoc(document);
    free(text);
    free(file);
    return status;
}

// What is to be changed may stand in an included file.
carom_status model_inline_includes(xmlDoc *document, const char *path, carom_error *error) {
    enum { MOST_INCLUDES = 256 };  // ends cycles
    carom_status status = CAROM_OK;
    for (int count = 0; !status; count++) {
        const xmlNode *include = model_xml_first(document);
        while (include && !model_xml_is(include, "include")) include = model_xml_next(include);
        if (!include) break;
        if (count == MOST_INCLUDES)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: a model may include at most %d files", path, MOST_INCLUDES);
        status = inline_include((xmlNode *)include, path, error);
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------------- free root

// Has this element, or one inside it, a joint?
static bool has_joint(const xmlNode *element) {
    for (const xmlNode *child = element->children; child; child = child->next)
        if (child->type == XML_ELEMENT_NODE && (model_xml_is(child, "joint") || model_xml_is(child, "freejoint") || has_joint(child)))
            return true;
    return false;
}

// The bodies at the top of an MJCF file, in <worldbody> or in its frames: those with joints inside, or all where none has one.
typedef struct root_search {
    bool jointed;           // look for bodies with joints
    xmlNode *welded;        // the first one that has no joint of its own
    int count;              // of such bodies
    char names[NAME_SIZE];  // theirs
    const xmlNode *free;    // the first one with a free joint
    const xmlNode *held;    // the first joint of another kind
} root_search;

static void search_roots(xmlNode *parent, root_search *search) {
    for (xmlNode *child = parent->children; child; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) continue;
        if (model_xml_is(child, "frame")) search_roots(child, search);
        if (!model_xml_is(child, "body") || (search->jointed && !has_joint(child))) continue;
        const xmlNode *own = child->children;
        while (own && (own->type != XML_ELEMENT_NODE || !(model_xml_is(own, "joint") || model_xml_is(own, "freejoint")))) own = own->next;
        const char *type = own ? model_xml_attribute(own, "type") : NULL;
        if (!own) {
            if (!search->count++) search->welded = child;
            list_name(search->names, model_xml_attribute(child, "name"));
        } else if (model_xml_is(own, "freejoint") || (type && !strcmp(type, "free"))) {
            if (!search->free) search->free = child;
        } else if (!search->held) {
            search->held = own;
        }
    }
}

// Keyframes lack the coordinates of the new joint. MuJoCo is given them without their vectors, which are kept until it has compiled.
static carom_status keep_keyframes(model_changes *changes, const char *path, carom_error *error) {
    static const char *const vectors[] = {"qpos", "qvel"};
    for (const xmlNode *node = model_xml_first(changes->document); node; node = model_xml_next(node)) {
        if (!model_xml_is(node, "key") || !node->parent || !model_xml_is(node->parent, "keyframe")) continue;
        model_keyframe *grown = realloc(changes->keyframes, (size_t)(changes->keyframe_count + 1) * sizeof *grown);
        if (!grown) return carom_fail_memory(error, path);
        changes->keyframes = grown;
        model_keyframe *keyframe = &grown[changes->keyframe_count++];
        for (int i = 0; i < 2; i++) {
            const char *text = model_xml_attribute(node, vectors[i]);
            keyframe->text[i] = text ? strdup(text) : NULL;
            if (text && !keyframe->text[i]) return carom_fail_memory(error, path);
            xmlUnsetProp((xmlNode *)node, (const xmlChar *)vectors[i]);
        }
    }
    return CAROM_OK;
}

static carom_status free_mjcf_root(model_changes *changes, const char *path, carom_error *error) {
    carom_status status = model_inline_includes(changes->document, path, error);
    if (status) return status;
    root_search search = {.jointed = true};
    for (int pass = 0; pass < 2 && !search.count && !search.free && !search.held; pass++) {
        search.jointed = !pass;
        for (xmlNode *child = xmlDocGetRootElement(changes->document)->children; child; child = child->next)
            if (child->type == XML_ELEMENT_NODE && model_xml_is(child, "worldbody")) search_roots(child, &search);
    }
    if (search.count > 1)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: only one root can be freed, but there are %d: %s", path, search.count, search.names);
    // Beside a robot that is welded there may be things that move.
    if (!search.count && search.free) {
        list_name(search.names, model_xml_attribute(search.free, "name"));
        model_add_note(changes, "the root %s is free already", search.names);
        return CAROM_OK;
    }
    if (!search.count && search.held) {
        const char *name = model_xml_attribute(search.held, "name");
        list_name(search.names, model_xml_attribute(search.held->parent, "name"));
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the root %s cannot be freed: it has a joint of its own%s%s%s", path, search.names,
                          name ? ", '" : "", name ? name : "", name ? "'" : "");
    }
    if (!search.count) return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no body whose root could be freed", path);
    // The first joint of the body: its coordinates come first.
    xmlNode *joint = xmlNewNode(NULL, (const xmlChar *)"freejoint");
    if (!joint) return carom_fail_memory(error, path);
    if (search.welded->children)
        xmlAddPrevSibling(search.welded->children, joint);
    else
        xmlAddChild(search.welded, joint);
    changes->edited = true;
    // Its number among all joints, which MuJoCo counts body by body.
    for (const xmlNode *node = model_xml_first(changes->document); node && node != joint; node = model_xml_next(node)) {
        if (!model_xml_is(node, "joint") && !model_xml_is(node, "freejoint")) continue;
        const xmlNode *outer = node->parent;
        while (outer && outer->type == XML_ELEMENT_NODE && !model_xml_is(outer, "worldbody")) outer = outer->parent;
        changes->joint += outer && outer->type == XML_ELEMENT_NODE;
    }
    return keep_keyframes(changes, path, error);
}

// ---------------------------------------------------------------------------------------------------------------- URDF

// Gives every root of a URDF the link 'world' as its parent, by joints of this type; it may have that link already.
static carom_status join_world(model_changes *changes, const char *type, const char *path, carom_error *error) {
    xmlDoc *document = changes->document;
    xmlNode *robot = xmlDocGetRootElement(document);
    const bool has_world = has_name(document, "link", "world");
    int count = 0;
    char names[NAME_SIZE] = "", root[NAME_SIZE] = "";
    for (const xmlNode *link = model_xml_first(document); link; link = model_xml_next(link)) {
        const char *name = model_xml_is(link, "link") ? model_xml_attribute(link, "name") : NULL;
        if (!name || has_world || model_urdf_is_child(document, name)) continue;
        if (!count++) snprintf(root, sizeof root, "%s", name);
        list_name(names, name);
    }
    if (!has_world && !count) return carom_fail(error, CAROM_BAD_INPUT, "%s: no link is the root: each is the child of a joint", path);
    if (!has_world && count > 1)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: only one root link can be joined to the world, but there are %d: %s", path, count,
                          names);
    if (!has_world) {
        char name[NAME_SIZE];
        choose_name(document, "joint", "root", name);
        model_xml_set(model_xml_add(robot, "link"), "name", "world");
        xmlNode *joint = model_xml_add(robot, "joint");
        model_xml_set(joint, "name", name);
        model_xml_set(joint, "type", type);
        model_xml_set(model_xml_add(joint, "parent"), "link", "world");
        model_xml_set(model_xml_add(joint, "child"), "link", root);
        changes->edited = true;
    }
    return CAROM_OK;
}

static carom_status free_urdf_root(model_changes *changes, const char *path, carom_error *error) {
    xmlNode *joint = NULL;
    int count = 0;
    char names[NAME_SIZE] = "";
    for (const xmlNode *node = model_xml_first(changes->document); node; node = model_xml_next(node)) {
        const char *parent = model_xml_is(node, "parent") ? model_xml_attribute(node, "link") : NULL;
        if (!parent || strcmp(parent, "world") || !model_xml_is(node->parent, "joint")) continue;
        joint = node->parent;
        count++;
        list_name(names, model_xml_attribute(joint, "name"));
    }
    if (!count) return join_world(changes, "floating", path, error);
    const char *type = model_xml_attribute(joint, "type");
    if (count > 1)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: only one root can be freed, but %d joints start at the link 'world': %s", path,
                          count, names);
    if (type && !strcmp(type, "floating")) {
        model_add_note(changes, "the root is free already, by the joint %s", names);
        return CAROM_OK;
    }
    if (!type || strcmp(type, "fixed"))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the root cannot be freed: the joint %s of type '%s' holds it", path, names,
                          type ? type : "");
    model_xml_set(joint, "type", "floating");
    changes->edited = true;
    return CAROM_OK;
}

// Frees the root link that a URDF leaves open, if there is one.
static carom_status free_open_root(model_changes *changes, const char *path, carom_error *error) {
    const char *root = NULL;
    int count = 0;
    for (const xmlNode *link = model_xml_first(changes->document); link; link = model_xml_next(link)) {
        const char *name = model_xml_is(link, "link") ? model_xml_attribute(link, "name") : NULL;
        if (!name || model_urdf_is_child(changes->document, name)) continue;
        root = name;
        count++;
    }
    if (count != 1 || !strcmp(root, "world")) return CAROM_OK;
    model_add_note(
        changes,
        "the root link '%.80s' is joined to nothing and is free; a robot that is bolted down has a link 'world' and a joint of type "
        "'fixed' between",
        root);
    return join_world(changes, "floating", path, error);
}

// -------------------------------------------------------------------------------------------------------------- ground

void model_add_ground(model_changes *changes) {
    const carom_ground *ground = changes->ground;
    if (!ground) return;
    // Every attribute that a default class could change is written.
    char name[NAME_SIZE], place[2 * NUMBER_SIZE], numbers[2][NUMBER_SIZE], turn[3 * NUMBER_SIZE], friction[2 * NUMBER_SIZE];
    choose_name(changes->document, "geom", "ground", name);
    carom_print_number(ground->height, numbers[0], sizeof numbers[0]);
    snprintf(place, sizeof place, "0 0 %s", numbers[0]);
    const double half = ground->slope * PI / 360;
    carom_print_number(cos(half), numbers[0], sizeof numbers[0]);
    carom_print_number(sin(half), numbers[1], sizeof numbers[1]);
    snprintf(turn, sizeof turn, "%s 0 %s 0", numbers[0], numbers[1]);
    carom_print_number(isnan(ground->friction) ? 1 : ground->friction, numbers[0], sizeof numbers[0]);
    snprintf(friction, sizeof friction, "%s 0.005 0.0001", numbers[0]);
    const char *const attributes[][2] = {
        {"name", name},
        {"type", "plane"},
        {"size", "0 0 1"},
        {"pos", place},
        {"quat", turn},
        {"friction", friction},
        {"condim", "3"},
        {"contype", "2147483647"},
        {"conaffinity", "2147483647"},
        {"margin", "0"},
        {"gap", "0"},
        {"priority", isnan(ground->friction) ? "0" : "2147483647"},
    };
    xmlNode *geom = model_xml_add(model_xml_add(xmlDocGetRootElement(changes->document), "worldbody"), "geom");
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) model_xml_set(geom, attributes[i][0], attributes[i][1]);
    snprintf(changes->name, sizeof changes->name, "%s", name);
    changes->edited = true;
}

// Is this a plane or a height field that does not move, whose upper side is up, and on which something may stand?
static bool is_floor(const mjModel *compiled, int geom) {
    const int type = compiled->geom_type[geom];
    const bool collides = compiled->geom_contype[geom] || compiled->geom_conaffinity[geom];
    if ((type != mjGEOM_PLANE && type != mjGEOM_HFIELD) || !collides || compiled->body_weldid[compiled->geom_bodyid[geom]]) return false;
    double normal[3];
    mju_rotVecQuat(normal, (const double[]){0, 0, 1}, compiled->geom_quat + 4 * geom);
    return !(mju_dot3(normal, compiled->opt.gravity) >= 0) || mju_norm3(compiled->opt.gravity) == 0;
}

// ------------------------------------------------------------------------------------------------------ before and after

carom_status model_start_changes(const char *path, xmlDoc *document, const carom_model_options *options, model_changes *changes,
                                 carom_error *error) {
    *changes = (model_changes){.document = document, .ground = options->ground};
    const bool readable = document && document->type == XML_DOCUMENT_NODE && model_xml_first(document);
    if (!options->free_root && !options->ground && !(options->free_open_root && readable)) return CAROM_OK;
    if (!readable) return carom_fail(error, CAROM_BAD_INPUT, "%s: is not well-formed XML, so that nothing can be added to it", path);
    const carom_ground *ground = options->ground;
    if (ground && !(isfinite(ground->height) && fabs(ground->slope) < 90 && (isnan(ground->friction) || ground->friction >= 0)))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "a ground has a finite height, a slope between -90 and 90 degrees and a friction of 0 or more");
    const bool urdf = model_is_urdf(document);
    carom_status status = CAROM_OK;
    if (options->free_root) status = urdf ? free_urdf_root(changes, path, error) : free_mjcf_root(changes, path, error);
    if (!status && urdf && !options->free_root && options->free_open_root) status = free_open_root(changes, path, error);
    return status;
}

void model_add_note(model_changes *changes, const char *format, ...) {
    if (changes->note_count == MODEL_NOTES) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(changes->notes[changes->note_count++], sizeof changes->notes[0], format, arguments);
    va_end(arguments);
}

// A vector of a keyframe: its own numbers, and between them those of the new joint, which `vector` has at `place`.
static carom_status put_vector(const char *path, const char *name, const char *text, int place, int own, double *vector, int count,
                               carom_error *error) {
    if (!text) return CAROM_OK;
    int given = 0;
    for (const char *c = text; *c;) {
        char *end;
        const double number = strtod(c, &end);
        if (end == c) break;
        const int index = given < place ? given : given + own;
        if (index < count) vector[index] = number;
        given++;
        c = end;
    }
    if (given + own == count) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: a keyframe has %d numbers in %s, but the model needs %d without its free root", path,
                      given, name, count - own);
}

carom_status model_finish_changes(const char *path, model_changes *changes, mjModel *compiled, carom_error *error) {
    const int nq = model_count(compiled->nq), nv = model_count(compiled->nv);
    carom_status status = CAROM_OK;
    // MuJoCo has filled the keyframes with the initial position, at rest.
    const bool found = changes->joint < model_count(compiled->njnt) && compiled->jnt_type[changes->joint] == mjJNT_FREE;
    if (changes->keyframe_count && !found)
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: the keyframes of this model cannot be given a free root", path);
    for (int i = 0; !status && i < changes->keyframe_count && i < model_count(compiled->nkey); i++) {
        const model_keyframe *keyframe = &changes->keyframes[i];
        const int position = compiled->jnt_qposadr[changes->joint], velocity = compiled->jnt_dofadr[changes->joint];
        status = put_vector(path, "qpos", keyframe->text[0], position, FREE_POSITIONS, compiled->key_qpos + i * nq, nq, error);
        if (!status)
            status = put_vector(path, "qvel", keyframe->text[1], velocity, FREE_VELOCITIES, compiled->key_qvel + i * nv, nv, error);
    }
    // The new floor, and one that the model has itself.
    const int own = *changes->name ? mj_name2id(compiled, mjOBJ_GEOM, changes->name) : -1;
    changes->floor = -1;
    for (int geom = 0; !status && changes->ground && geom < compiled->ngeom; geom++) {
        if (geom != own && changes->floor < 0 && is_floor(compiled, geom)) changes->floor = geom;
    }
    return status;
}

void model_free_changes(model_changes *changes) {
    for (int i = 0; i < changes->keyframe_count; i++)
        for (int k = 0; k < 2; k++) free(changes->keyframes[i].text[k]);
    for (int i = 0; i < changes->file_count; i++) {
        free(changes->files[i].name);
        free(changes->files[i].bytes);
    }
    for (int i = 0; i < changes->mesh_count; i++) free(changes->meshes[i].point);
    free(changes->files);
    free(changes->meshes);
    free(changes->keyframes);
}
