// SPDX-License-Identifier: Apache-2.0
// URDF as MJCF, so that every version of MuJoCo is given the same problem.
//
// Versions of MuJoCo read URDF in their own ways: they drop or heed <mimic>, look for meshes in other places, give links without <inertial>
// the density of water, and take the mean of moments of inertia that they do not like. Here the format is read as its specification says,
// and MuJoCo gets bodies, joints, geoms and equality constraints. MuJoCo's own extension, <mujoco> with <compiler>, <option> and <size>,
// keeps its meaning; links joined by fixed joints become one body, and angles are radians.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// MuJoCo wants mass and moments above 1e-15 of what moves. These are too small to be seen in M, of which a robot's entries are above 1e-6.
#define LEAST_MASS   1e-12  // [kg]
#define LEAST_MOMENT 1e-14  // [kg m^2]
// Half the size of what has none, such as a sphere of radius zero [m].
#define LEAST_SIZE 1e-12
// Moments of a possible body, printed with three digits or more, break A + B >= C or A >= 0 by no more than this share of C.
#define MOMENT_ROUNDING 1e-3
// Moments this near to A + B = C are given to MuJoCo as A, B and A + B, less round-off: its own test is strict.
#define PLATE_TOLERANCE 1e-9
#define PLATE_MARGIN    1e-15

enum { NAME_SIZE = MODEL_LABEL_SIZE, LIST_SIZE = 3 * MODEL_LABEL_SIZE, NONE = -1 };

typedef enum joint_type { REVOLUTE, CONTINUOUS, PRISMATIC, FIXED, FLOATING, PLANAR, SPHERICAL, JOINT_TYPES } joint_type;
static const char *const joint_names[JOINT_TYPES] = {"revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"};

typedef struct urdf_joint {
    const xmlNode *element;
    const char *name;
    joint_type type;
    int parent, child;  // links
} urdf_joint;

// A place in another frame.
typedef struct urdf_frame {
    double position[3], turn[4];
} urdf_frame;

typedef struct urdf_link {
    const xmlNode *element;
    const char *name;
    int joint;                           // that it is the child of; NONE: a root
    int head;                            // the link that fixed joints weld this one to, nearest to the root
    int owner;                           // the link whose body it is part of: the head, unless <compiler> keeps welded links apart
    urdf_frame place;                    // of the link in its parent's body
    urdf_frame frame;                    // of the link in its owner's body
    xmlNode *body;                       // <body>, or <worldbody>
    double mass, center[3], inertia[9];  // about the center, in the owner's axes; of an owner, after weigh_robot, of all that is part of it
    double moments[3], axes[4];          // principal moments, ascending, and a rotation from their axes
    double group_mass, tree_mass;        // of a head: of what is welded to it, and of all that it carries
} urdf_link;

typedef struct urdf_reader {
    const char *path;
    model_changes *changes;
    const xmlNode *robot;
    urdf_link *links;
    urdf_joint *joints;
    int *order;  // links, parents first
    int link_count, joint_count;
    bool strips, fuses;  // of MuJoCo's <compiler>
    xmlNode *assets, *equalities;
} urdf_reader;

// Names of links for a sentence; where they are too many the last ones are counted only.
typedef struct name_list {
    char text[LIST_SIZE];
    int count, left_out;
} name_list;

static void list_name(name_list *list, const char *name) {
    const size_t used = strlen(list->text);
    if (list->left_out || used + strlen(name) + sizeof "'', and 12345 more" > sizeof list->text)
        list->left_out++;
    else
        snprintf(list->text + used, sizeof list->text - used, "%s'%s'", used ? ", " : "", name);
    list->count++;
}

static const char *end_list(name_list *list) {
    const size_t used = strlen(list->text);
    if (list->left_out) snprintf(list->text + used, sizeof list->text - used, " and %d more", list->left_out);
    return list->text;
}

static carom_status refuse(const urdf_reader *reader, const xmlNode *element, carom_error *error, const char *format, ...)
    CAROM_PRINTF(4, 5);
static carom_status refuse(const urdf_reader *reader, const xmlNode *element, carom_error *error, const char *format, ...) {
    char sentence[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return carom_fail(error, CAROM_BAD_INPUT, "%s:%ld: %s", reader->path, xmlGetLineNo(element), sentence);
}

// ------------------------------------------------------------------------------------------------------------ elements

// Has an element this name and no prefix?
static bool is_plain(const xmlNode *node, const char *name) {
    return node->type == XML_ELEMENT_NODE && !(node->ns && node->ns->prefix) && model_xml_is(node, name);
}

static const xmlNode *find_child(const xmlNode *parent, const char *name) {
    const xmlNode *child = parent ? parent->children : NULL;
    while (child && !is_plain(child, name)) child = child->next;
    return child;
}

// The first element below `parent` with this name, whatever its prefix, declared or not.
static const xmlNode *find_below(const xmlNode *parent, const char *name) {
    for (const xmlNode *node = parent ? model_xml_next(parent) : NULL; node; node = model_xml_next(node)) {
        const xmlNode *above = node->parent;
        while (above && above != parent) above = above->parent;
        if (!above) break;
        const char *colon = strchr((const char *)node->name, ':');
        if (!strcmp(colon ? colon + 1 : (const char *)node->name, name)) return node;
    }
    return NULL;
}

// Reads exactly `count` finite numbers. Where there is no such attribute the values stay, or with `required` that is an error.
static carom_status read_numbers(const urdf_reader *reader, const xmlNode *element, const char *name, int count, bool required,
                                 double *values, carom_error *error) {
    const char *text = model_xml_attribute(element, name);
    if (!text && !required && !xmlHasProp(element, (const xmlChar *)name)) return CAROM_OK;
    if (!text) return refuse(reader, element, error, "<%s> needs a value for '%s'", (const char *)element->name, name);
    const char *rest = text;
    int found = 0;
    for (; found < count; found++) {
        char *end;
        const double number = strtod(rest, &end);
        if (end == rest || !isfinite(number)) break;
        values[found] = number;
        rest = end;
    }
    if (found == count && !rest[strspn(rest, " \t\r\n")]) return CAROM_OK;
    return refuse(reader, element, error, "<%s %s=\"%.80s\">: must be %d finite number%s", (const char *)element->name, name, text, count,
                  count == 1 ? "" : "s");
}

static void set_number(xmlNode *element, const char *name, double value) { model_xml_set_numbers(element, name, 1, &value); }

// The place that <origin> gives to a body, a geom or a link's inertia: R = Rz(yaw) Ry(pitch) Rx(roll).
static carom_status read_frame(const urdf_reader *reader, const xmlNode *holder, urdf_frame *frame, carom_error *error) {
    const xmlNode *origin = find_child(holder, "origin");
    double angles[3] = {0}, product[4];
    *frame = (urdf_frame){.turn = {1, 0, 0, 0}};
    carom_status status = origin ? read_numbers(reader, origin, "xyz", 3, false, frame->position, error) : CAROM_OK;
    if (!status && origin) status = read_numbers(reader, origin, "rpy", 3, false, angles, error);
    for (int i = 0; !status && i < 3; i++) {
        const double half = angles[i] / 2, s = sin(half);
        mju_mulQuat(product, (const double[]){cos(half), i == 0 ? s : 0, i == 1 ? s : 0, i == 2 ? s : 0}, frame->turn);
        mju_copy4(frame->turn, product);
    }
    return status;
}

// The place of `inner`, which is given in the frame `outer`, where that one is given.
static urdf_frame compose(const urdf_frame *outer, const urdf_frame *inner) {
    urdf_frame result;
    mju_rotVecQuat(result.position, inner->position, outer->turn);
    mju_addTo3(result.position, outer->position);
    mju_mulQuat(result.turn, outer->turn, inner->turn);
    return result;
}

static void set_frame(xmlNode *element, const urdf_frame *frame) {
    model_xml_set_numbers(element, "pos", 3, frame->position);
    model_xml_set_numbers(element, "quat", 4, frame->turn);
}

// ------------------------------------------------------------------------------------------------------- links and joints

static int find_link(const urdf_reader *reader, const char *name) {
    for (int i = 0; name && i < reader->link_count; i++)
        if (!strcmp(reader->links[i].name, name)) return i;
    return NONE;
}

static int find_joint(const urdf_reader *reader, const char *name) {
    for (int i = 0; name && i < reader->joint_count; i++)
        if (!strcmp(reader->joints[i].name, name)) return i;
    return NONE;
}

static carom_status read_link(urdf_reader *reader, const xmlNode *element, carom_error *error) {
    const char *name = model_xml_attribute(element, "name");
    if (!name || !*name) return refuse(reader, element, error, "a <link> needs a name");
    if (find_link(reader, name) != NONE) return refuse(reader, element, error, "there are two links called '%s'", name);
    reader->links[reader->link_count++] = (urdf_link){.element = element, .name = name, .joint = NONE};
    return CAROM_OK;
}

// After all links.
static carom_status read_joint(urdf_reader *reader, const xmlNode *element, carom_error *error) {
    const char *name = model_xml_attribute(element, "name"), *type = model_xml_attribute(element, "type");
    if (!name || !*name) return refuse(reader, element, error, "a <joint> needs a name");
    if (find_joint(reader, name) != NONE) return refuse(reader, element, error, "there are two joints called '%s'", name);
    urdf_joint *joint = &reader->joints[reader->joint_count];
    *joint = (urdf_joint){.element = element, .name = name, .type = JOINT_TYPES};
    for (int i = 0; type && i < JOINT_TYPES; i++)
        if (!strcmp(type, joint_names[i])) joint->type = (joint_type)i;
    if (joint->type == JOINT_TYPES)
        return refuse(
            reader, element, error,
            "the joint '%s' has the type '%s', but types are revolute, continuous, prismatic, fixed, floating, planar and spherical", name,
            type ? type : "");
    static const char *const ends[] = {"parent", "child"};
    for (int i = 0; i < 2; i++) {
        const xmlNode *end = find_child(element, ends[i]);
        const char *link = end ? model_xml_attribute(end, "link") : NULL;
        const int found = find_link(reader, link);
        if (!link) return refuse(reader, element, error, "the joint '%s' needs <%s link=\"...\"/>", name, ends[i]);
        if (found == NONE)
            return refuse(reader, end, error, "the %s of the joint '%s' is the link '%s', which is not there", ends[i], name, link);
        *(i ? &joint->child : &joint->parent) = found;
    }
    urdf_link *child = &reader->links[joint->child];
    if (child->joint != NONE)
        return refuse(reader, element, error, "the link '%s' is the child of two joints, '%s' and '%s'; one closes the loop by hand",
                      child->name, reader->joints[child->joint].name, name);
    if (!strcmp(child->name, "world"))
        return refuse(reader, element, error, "the link 'world' is the child of the joint '%s', but the world does not move", name);
    if (joint->type == FLOATING && strcmp(reader->links[joint->parent].name, "world") != 0)
        return refuse(reader, element, error,
                      "the floating joint '%s' starts at the link '%s', but a body can float in the world only: call that link 'world', or "
                      "let the joint start at a link of that name",
                      name, reader->links[joint->parent].name);
    child->joint = reader->joint_count++;
    return CAROM_OK;
}

// Orders the links, parents first, and finds what each is welded to.
static carom_status order_links(urdf_reader *reader, carom_error *error) {
    // Depth first, as MuJoCo numbers bodies: links that wait are a stack at the end of the list.
    int count = 0, top = reader->link_count;
    for (int i = reader->link_count - 1; i >= 0; i--)
        if (reader->links[i].joint == NONE) reader->order[--top] = i;
    while (top < reader->link_count) {
        const int index = reader->order[top++];
        reader->order[count++] = index;
        urdf_link *link = &reader->links[index];
        const urdf_joint *joint = link->joint == NONE ? NULL : &reader->joints[link->joint];
        const urdf_link *parent = joint ? &reader->links[joint->parent] : NULL;
        const bool welded = joint && joint->type == FIXED;
        link->head = welded ? parent->head : index;
        link->owner = welded && reader->fuses ? parent->owner : index;
        link->frame = link->place = (urdf_frame){.turn = {1, 0, 0, 0}};
        const carom_status status = joint ? read_frame(reader, joint->element, &link->place, error) : CAROM_OK;
        if (status) return status;
        if (parent) link->place = compose(&parent->frame, &link->place);
        if (welded && reader->fuses) link->frame = link->place;
        for (int i = reader->joint_count - 1; i >= 0; i--)
            if (reader->joints[i].parent == index) reader->order[--top] = reader->joints[i].child;
    }
    if (count == reader->link_count) return CAROM_OK;
    for (int i = 0; i < reader->link_count; i++) {
        bool reached = false;
        for (int k = 0; k < count && !reached; k++) reached = reader->order[k] == i;
        if (!reached)
            return refuse(reader, reader->links[i].element, error, "the link '%s' is in a loop of joints that no root link leads to",
                          reader->links[i].name);
    }
    return CAROM_OK;
}

// Does a link move? What is welded to a root does not: a free root has been given a floating joint before.
static bool moves(const urdf_reader *reader, const urdf_link *link) { return reader->links[link->head].joint != NONE; }

// ------------------------------------------------------------------------------------------------------------- inertia

// Links that a sentence names.
typedef struct inertia_notes {
    name_list raised, impossible, rounded, massless;
} inertia_notes;

// Makes moments of inertia those that a body can have, 0 <= A <= B <= C <= A + B.
static carom_status judge_moments(const urdf_reader *reader, urdf_link *link, inertia_notes *notes, carom_error *error) {
    const double trace = link->inertia[0] + link->inertia[4] + link->inertia[8];
    const bool moving = moves(reader, link);
    double axes[9], moments[3];
    memcpy(axes, link->inertia, sizeof axes);
    const carom_status status = carom_symmetric_eigen(3, axes, moments, error);
    if (status) return status;
    const double slack = MOMENT_ROUNDING * moments[2];
    if (trace == 0 && carom_max_abs(9, link->inertia) == 0) return CAROM_OK;
    const double round = PLATE_TOLERANCE * moments[2];
    if (moments[0] >= -round && moments[2] <= moments[0] + moments[1] + round) return CAROM_OK;
    if (!(trace > 0))
        return refuse(reader, link->element, error, "the link '%s' has moments of inertia of which one is negative", link->name);
    const bool possible = moments[0] >= -slack && moments[2] <= moments[0] + moments[1] + slack;
    if (moving) list_name(possible ? &notes->rounded : &notes->impossible, link->name);
    moments[0] = possible ? fmax(moments[0], 0) : trace / 3;
    moments[1] = possible ? moments[1] : trace / 3;
    moments[2] = possible ? fmin(moments[2], moments[0] + moments[1]) : trace / 3;
    for (int i = 0; i < 9; i++) {
        link->inertia[i] = 0;
        for (int k = 0; k < 3; k++) link->inertia[i] += moments[k] * axes[3 * k + i / 3] * axes[3 * k + i % 3];
    }
    return CAROM_OK;
}

static carom_status weigh_link(const urdf_reader *reader, urdf_link *link, inertia_notes *notes, carom_error *error) {
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const xmlNode *inertial = find_child(link->element, "inertial");
    const xmlNode *mass = find_child(inertial, "mass"), *inertia = find_child(inertial, "inertia");
    double m[6] = {0};
    if (inertial && !mass) return refuse(reader, inertial, error, "<inertial> of the link '%s' needs a <mass>", link->name);
    carom_status status = mass ? read_numbers(reader, mass, "value", 1, true, &link->mass, error) : CAROM_OK;
    for (int i = 0; !status && inertia && i < 6; i++) status = read_numbers(reader, inertia, names[i], 1, i < 3, &m[i], error);
    if (!status && link->mass < 0)
        return refuse(reader, mass, error, "the link '%s' has the mass %g kg, but no mass is negative", link->name, link->mass);
    urdf_frame frame;
    if (!status) status = read_frame(reader, inertial, &frame, error);
    if (status) return status;
    memcpy(link->inertia, (const double[]){m[0], m[3], m[4], m[3], m[1], m[5], m[4], m[5], m[2]}, sizeof link->inertia);
    status = judge_moments(reader, link, notes, error);
    // In the axes of the body that the link is part of: R I R'.
    double rotation[9], product[9];
    frame = compose(&link->frame, &frame);
    mju_copy3(link->center, frame.position);
    mju_quat2Mat(rotation, frame.turn);
    mju_mulMatMat(product, rotation, link->inertia, 3, 3, 3);
    mju_mulMatMatT(link->inertia, product, rotation, 3, 3, 3);
    const bool massless = link->mass == 0 && carom_max_abs(9, link->inertia) == 0;
    if (massless && moves(reader, link) && find_child(link->element, "collision")) list_name(&notes->massless, link->name);
    return status;
}

// Finds the principal axes of a body. MuJoCo does so itself, but to 1e-9 in old versions.
static carom_status settle_inertia(const urdf_reader *reader, urdf_link *link, inertia_notes *notes, carom_error *error) {
    double axes[9], rotation[9];
    memcpy(axes, link->inertia, sizeof axes);
    const carom_status status = carom_symmetric_eigen(3, axes, link->moments, error);
    if (status) return status;
    mju_transpose(rotation, axes, 3, 3);
    double third[3];
    mju_cross(third, axes, axes + 3);
    for (int i = 0; i < 3; i++) rotation[3 * i + 2] = third[i];
    mju_mat2Quat(link->axes, rotation);
    // The head of a group says what MuJoCo needs of it; other members may weigh nothing.
    const bool head = link == &reader->links[link->head];
    const bool less = link->mass < LEAST_MASS || link->moments[0] < LEAST_MOMENT;
    if (!head && link->mass == 0 && carom_max_abs(9, link->inertia) == 0) return CAROM_OK;
    if (less) list_name(&notes->raised, link->name);
    link->mass = fmax(link->mass, LEAST_MASS);
    for (int i = 0; i < 3; i++) link->moments[i] = fmax(link->moments[i], LEAST_MOMENT);
    link->moments[2] = fmin(link->moments[2], (1 - PLATE_MARGIN) * (link->moments[0] + link->moments[1]));
    return CAROM_OK;
}

// Adds the links that are part of another one's body to that one.
static void join_masses(urdf_reader *reader) {
    for (int at = 0; at < reader->link_count; at++) {
        const urdf_link *link = &reader->links[reader->order[at]];
        urdf_link *owner = &reader->links[link->owner];
        if (owner == link || !(link->mass > 0 || carom_max_abs(9, link->inertia) > 0)) continue;
        // Two bodies about their common center: I = I1 + I2 + m1 m2 / (m1 + m2) (d.d 1 - d d').
        const double mass = owner->mass + link->mass, share = mass > 0 ? link->mass / mass : 0;
        double d[3];
        mju_sub3(d, link->center, owner->center);
        for (int i = 0; i < 9; i++)
            owner->inertia[i] += link->inertia[i] + owner->mass * share * ((i % 4 ? 0 : mju_dot3(d, d)) - d[i / 3] * d[i % 3]);
        mju_addToScl3(owner->center, d, share);
        owner->mass = mass;
    }
}

// What moves without a mass of its own counts with the least that MuJoCo takes, if it carries something that has mass.
static carom_status weigh_robot(urdf_reader *reader, carom_error *error) {
    inertia_notes notes = {0};
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < reader->link_count; i++) {
        urdf_link *link = &reader->links[i];
        status = weigh_link(reader, link, &notes, error);
        reader->links[link->head].group_mass += link->mass + carom_max_abs(9, link->inertia);
    }
    for (int at = reader->link_count - 1; !status && at >= 0; at--) {
        urdf_link *link = &reader->links[reader->order[at]];
        if (link->head != reader->order[at]) continue;
        link->tree_mass += link->group_mass;
        if (link->joint != NONE) reader->links[reader->links[reader->joints[link->joint].parent].head].tree_mass += link->tree_mass;
    }
    if (!status) join_masses(reader);
    for (int at = 0; !status && at < reader->link_count; at++) {
        const urdf_link *link = &reader->links[reader->order[at]];
        if (link->head != reader->order[at] || link->joint == NONE || link->tree_mass > 0) continue;
        return refuse(reader, link->element, error,
                      "the joint '%s' moves the link '%s' and nothing that has mass: links without <inertial>, or with zeros in it, are "
                      "massless, and the mass matrix is singular; give the link an <inertial> with mass and inertia, or make the joint "
                      "'fixed'",
                      reader->joints[link->joint].name, link->name);
    }
    for (int at = 0; !status && at < reader->link_count; at++) {
        urdf_link *link = &reader->links[reader->order[at]];
        if (link->owner == reader->order[at] && moves(reader, link)) status = settle_inertia(reader, link, &notes, error);
    }
    if (status) return status;
    model_changes *changes = reader->changes;
    if (notes.massless.count)
        model_add_note(changes, "without <inertial>, or with zeros in it, the link%s %s %s massless, as the format says",
                       notes.massless.count > 1 ? "s" : "", end_list(&notes.massless), notes.massless.count > 1 ? "are" : "is");
    if (notes.raised.count)
        model_add_note(changes,
                       "the link%s %s get%s the least mass of %g kg and the least principal moments of inertia of %g kg m^2 where %s less",
                       notes.raised.count > 1 ? "s" : "", end_list(&notes.raised), notes.raised.count > 1 ? "" : "s", LEAST_MASS,
                       LEAST_MOMENT, notes.raised.count > 1 ? "they have" : "it has");
    if (notes.rounded.count)
        model_add_note(
            changes,
            "the link%s %s %s moments of inertia that break A + B >= C or A >= 0 by up to 0.1 %%, as by rounding: they become the "
            "nearest possible ones",
            notes.rounded.count > 1 ? "s" : "", end_list(&notes.rounded), notes.rounded.count > 1 ? "have" : "has");
    if (notes.impossible.count)
        model_add_note(
            changes, "the link%s %s %s moments of inertia that no body can have (A + B >= C is broken): each becomes the mean of the three",
            notes.impossible.count > 1 ? "s" : "", end_list(&notes.impossible), notes.impossible.count > 1 ? "have" : "has");
    return CAROM_OK;
}

// Every body says what it has, nothing included: MuJoCo takes the weight of geoms otherwise.
static void add_inertial(const urdf_link *link) {
    xmlNode *inertial = model_xml_add(link->body, "inertial");
    model_xml_set_numbers(inertial, "pos", 3, link->center);
    set_number(inertial, "mass", link->mass);
    model_xml_set_numbers(inertial, "quat", 4, link->axes);
    model_xml_set_numbers(inertial, "diaginertia", 3, link->moments);
}

// --------------------------------------------------------------------------------------------------------------- geoms

// The friction that a file gives to a collision geometry: Drake's tag in it, or Gazebo's or Bullet's for its link. NAN: none.
static carom_status read_friction(const urdf_reader *reader, const urdf_link *link, const xmlNode *collision, double *friction,
                                  carom_error *error) {
    *friction = (double)NAN;
    const xmlNode *element = find_below(find_below(collision, "proximity_properties"), "mu_dynamic");
    if (!element) element = find_below(find_below(collision, "proximity_properties"), "mu_static");
    for (const xmlNode *node = reader->robot->children; node && !element; node = node->next) {
        const char *link_name = is_plain(node, "gazebo") ? model_xml_attribute(node, "reference") : NULL;
        if (!link_name || strcmp(link_name, link->name) != 0) continue;
        element = find_below(node, "mu1");
        if (!element) element = find_below(find_below(node, "ode"), "mu");
    }
    if (!element) element = find_below(find_child(link->element, "contact"), "lateral_friction");
    if (!element) return CAROM_OK;
    // Drake and Bullet write an attribute, Gazebo a text.
    char *end = NULL, *content = NULL;
    const char *text = model_xml_attribute(element, "value");
    if (!text) text = content = (char *)xmlNodeGetContent(element);
    *friction = text ? strtod(text, &end) : (double)NAN;
    const bool valid = text && end != text && !end[strspn(end, " \t\r\n")] && isfinite(*friction) && *friction >= 0;
    carom_status status = CAROM_OK;
    if (!valid)
        status = refuse(reader, element, error, "<%s> of the link '%s' is '%.40s', but friction is a finite number of 0 or more",
                        (const char *)element->name, link->name, text ? text : "");
    xmlFree(content);
    return status;
}

// The asset of a mesh file in this scale, which is made where there is none. Its name begins with the number of its points.
static carom_status add_mesh(const urdf_reader *reader, const xmlNode *mesh, xmlNode *geom, carom_error *error) {
    const char *file = model_xml_attribute(mesh, "filename");
    double scale[3] = {1, 1, 1};
    if (!file || !*file) return refuse(reader, mesh, error, "<mesh> needs a filename");
    const carom_status status = read_numbers(reader, mesh, "scale", 3, false, scale, error);
    if (status) return status;
    if (reader->strips) file = model_last_part(file);
    xmlNode *asset = model_xml_add(reader->assets, "mesh");
    model_xml_set(asset, "file", file);
    model_xml_set_numbers(asset, "scale", 3, scale);
    for (const xmlNode *other = reader->assets->children; other; other = other->next) {
        const char *const names[] = {"file", "scale"};
        bool same = other != asset;
        for (int i = 0; i < 2 && same; i++)
            same =
                xmlStrEqual((const xmlChar *)model_xml_attribute(other, names[i]), (const xmlChar *)model_xml_attribute(asset, names[i]));
        if (!same) continue;
        xmlUnlinkNode(asset);
        xmlFreeNode(asset);
        model_xml_set(geom, "mesh", model_xml_attribute(other, "name"));
        return CAROM_OK;
    }
    char name[NAME_SIZE];
    const char *points = model_xml_attribute(mesh, "points");
    snprintf(name, sizeof name, "%.10s:%.100s", points ? points : "", model_last_part(file));
    model_xml_set(asset, "name", name);
    model_xml_set(geom, "mesh", name);
    return CAROM_OK;
}

// Sizes of the shapes of URDF, which are whole ones, but for radii.
static const struct shape {
    const char *name, *type;
    const char *attributes[2];
    int counts[2];
    double factors[2];
} shapes[] = {
    {"box", "box", {"size", NULL}, {3, 0}, {0.5, 0}},
    {"sphere", "sphere", {"radius", NULL}, {1, 0}, {1, 0}},
    {"cylinder", "cylinder", {"radius", "length"}, {1, 1}, {1, 0.5}},
    {"capsule", "capsule", {"radius", "length"}, {1, 1}, {1, 0.5}},
};

// MuJoCo moves the frames of meshes; this is where it was.
static void keep_frame(xmlNode *geom, const urdf_frame *frame) {
    double place[MODEL_FRAME_SIZE];
    mju_copy3(place, frame->position);
    mju_copy4(place + 3, frame->turn);
    model_xml_set_numbers(geom, "user", MODEL_FRAME_SIZE, place);
}

static carom_status add_geom(const urdf_reader *reader, const urdf_link *link, const xmlNode *holder, carom_error *error) {
    const xmlNode *geometry = find_child(holder, "geometry"), *mesh = find_child(geometry, "mesh"), *element = NULL;
    xmlNode *geom = model_xml_add(link->body, "geom");
    urdf_frame frame;
    carom_status status = read_frame(reader, holder, &frame, error);
    frame = compose(&link->frame, &frame);
    set_frame(geom, &frame);
    const struct shape *shape = NULL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !element; i++)
        if ((element = find_child(geometry, shapes[i].name))) shape = &shapes[i];
    if (!status && !element && !mesh)
        return refuse(reader, holder, error, "<%s> of the link '%s' needs a <geometry> with a box, sphere, cylinder, capsule or mesh",
                      (const char *)holder->name, link->name);
    model_xml_set(geom, "type", element ? shape->type : "mesh");
    if (!status && !element) status = add_mesh(reader, mesh, geom, error);
    if (!status && !element) keep_frame(geom, &frame);
    double size[3] = {0};
    int count = 0;
    for (int part = 0; !status && element && part < 2 && shape->attributes[part]; part++) {
        status = read_numbers(reader, element, shape->attributes[part], shape->counts[part], true, size + count, error);
        for (int i = 0; !status && i < shape->counts[part]; i++, count++) {
            if (size[count] < 0)
                return refuse(reader, element, error, "<%s> of the link '%s' has the size %g, but no size is negative", shape->name,
                              link->name, size[count]);
            size[count] = fmax(shape->factors[part] * size[count], LEAST_SIZE);
        }
    }
    if (!status && element) model_xml_set_numbers(geom, "size", count, size);
    double friction = (double)NAN;
    if (!status) status = read_friction(reader, link, holder, &friction, error);
    if (status || isnan(friction)) return status;
    // It counts against whatever the file says nothing about.
    set_number(geom, "friction", friction);
    model_xml_set(geom, "priority", "1");
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- joints

static xmlNode *add_axis_joint(xmlNode *body, const char *name, const char *ending, const char *type, const double axis[3]) {
    char full[CAROM_MESSAGE_SIZE];
    snprintf(full, sizeof full, "%s%s", name, ending);
    xmlNode *joint = model_xml_add(body, "joint");
    model_xml_set(joint, "name", full);
    model_xml_set(joint, "type", type);
    model_xml_set_numbers(joint, "axis", 3, axis);
    return joint;
}

static carom_status add_joint(const urdf_reader *reader, const urdf_joint *joint, xmlNode *body, carom_error *error) {
    const xmlNode *axis_element = find_child(joint->element, "axis"), *limit = find_child(joint->element, "limit");
    const xmlNode *dynamics = find_child(joint->element, "dynamics");
    double axis[3] = {1, 0, 0}, range[2] = {0}, damping = 0, friction = 0;
    carom_status status = axis_element ? read_numbers(reader, axis_element, "xyz", 3, true, axis, error) : CAROM_OK;
    const bool ranges = limit && (joint->type == REVOLUTE || joint->type == PRISMATIC);
    if (!status && ranges) status = read_numbers(reader, limit, "lower", 1, false, &range[0], error);
    if (!status && ranges) status = read_numbers(reader, limit, "upper", 1, false, &range[1], error);
    if (!status && dynamics) status = read_numbers(reader, dynamics, "damping", 1, false, &damping, error);
    if (!status && dynamics) status = read_numbers(reader, dynamics, "friction", 1, false, &friction, error);
    if (status || joint->type == FIXED) return status;
    const bool has_axis = joint->type != FLOATING && joint->type != SPHERICAL;
    if (has_axis && !(mju_norm3(axis) > mjMINVAL))
        return refuse(reader, joint->element, error, "the axis of the joint '%s' is zero", joint->name);
    if (damping < 0 || friction < 0)
        return refuse(reader, dynamics, error, "<dynamics> of the joint '%s': damping and friction are not negative", joint->name);

    xmlNode *added[3] = {NULL};
    if (joint->type == REVOLUTE || joint->type == CONTINUOUS) added[0] = add_axis_joint(body, joint->name, "", "hinge", axis);
    if (joint->type == PRISMATIC) added[0] = add_axis_joint(body, joint->name, "", "slide", axis);
    if (joint->type == SPHERICAL) added[0] = add_axis_joint(body, joint->name, "", "ball", axis);
    if (joint->type == FLOATING) model_xml_set(model_xml_add(body, "freejoint"), "name", joint->name);
    if (joint->type == PLANAR) {
        // Two slides across the axis, and a hinge about it.
        double quaternion[4], matrix[9];
        mju_quatZ2Vec(quaternion, axis);
        mju_quat2Mat(matrix, quaternion);
        added[0] = add_axis_joint(body, joint->name, "_TX", "slide", (const double[]){matrix[0], matrix[3], matrix[6]});
        added[1] = add_axis_joint(body, joint->name, "_TY", "slide", (const double[]){matrix[1], matrix[4], matrix[7]});
        added[2] = add_axis_joint(body, joint->name, "_RZ", "hinge", axis);
    }
    for (int i = 0; i < 3 && added[i]; i++) {
        const bool limited = range[0] < range[1];
        model_xml_set(added[i], "limited", limited ? "true" : "false");
        if (limited) model_xml_set_numbers(added[i], "range", 2, range);
        set_number(added[i], "damping", damping);
        set_number(added[i], "frictionloss", friction);
    }
    return CAROM_OK;
}

// The joint that another one imitates; NONE where it imitates none, as one that is fixed.
static int find_leader(const urdf_reader *reader, int joint) {
    const xmlNode *mimic = find_child(reader->joints[joint].element, "mimic");
    return mimic && reader->joints[joint].type != FIXED ? find_joint(reader, model_xml_attribute(mimic, "joint")) : NONE;
}

// <mimic> is the equality constraint q = multiplier q_leader + offset, named after the joint that has it.
static carom_status add_mimic(const urdf_reader *reader, int index, carom_error *error) {
    const urdf_joint *joint = &reader->joints[index];
    const xmlNode *mimic = find_child(joint->element, "mimic");
    if (!mimic) return CAROM_OK;
    const char *name = model_xml_attribute(mimic, "joint");
    if (!name) return refuse(reader, mimic, error, "<mimic> of the joint '%s' needs the name of a joint", joint->name);
    const int leader = find_joint(reader, name);
    if (leader == NONE) {
        model_add_note(reader->changes, "the joint '%s' mimics '%s', which is not there: it moves by itself", joint->name, name);
        return CAROM_OK;
    }
    if (joint->type == FIXED) {
        model_add_note(reader->changes, "the joint '%s' is fixed: its <mimic> is left out", joint->name);
        return CAROM_OK;
    }
    int next = leader;
    for (int count = 0; next != NONE && next != index && count < reader->joint_count; count++) next = find_leader(reader, next);
    if (next != NONE) return refuse(reader, mimic, error, "the joint '%s' mimics itself, by way of '%s'", joint->name, name);
    double factors[5] = {0, 1, 0, 0, 0};
    carom_status status = read_numbers(reader, mimic, "multiplier", 1, false, &factors[1], error);
    if (!status) status = read_numbers(reader, mimic, "offset", 1, false, &factors[0], error);
    if (status) return status;
    const urdf_joint *const pair[] = {joint, &reader->joints[leader]};
    for (int i = 0; i < 2; i++)
        if (pair[i]->type >= FLOATING)
            return refuse(reader, mimic, error,
                          "<mimic> of the joint '%s': the joint '%s' is %s, and only joints of one coordinate mimic others", joint->name,
                          pair[i]->name, joint_names[pair[i]->type]);
    const bool held = pair[1]->type == FIXED;
    xmlNode *equality = model_xml_add(reader->equalities, "joint");
    model_xml_set(equality, "name", joint->name);
    model_xml_set(equality, "joint1", joint->name);
    if (held)
        factors[1] = 0;
    else
        model_xml_set(equality, "joint2", name);
    model_xml_set_numbers(equality, "polycoef", 5, factors);
    if (held) model_add_note(reader->changes, "the joint '%s' mimics '%s', which is fixed: it is held", joint->name, name);
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------- whole files

// Refuses what is written where it would not count.
static carom_status check_elements(const urdf_reader *reader, carom_error *error) {
    for (const xmlNode *node = reader->robot; node; node = model_xml_next(node)) {
        const char *prefix = node->ns && node->ns->prefix ? (const char *)node->ns->prefix : "", *name = (const char *)node->name;
        const bool top = node->parent == reader->robot,
                   in_mujoco = node->parent && node->parent->parent == reader->robot && is_plain(node->parent, "mujoco");
        if (is_plain(node, "mujoco") && !(top && find_child(reader->robot, "mujoco") == node))
            return refuse(reader, node, error, "<mujoco> counts once, directly in <robot>: move what this one holds there");
        if (is_plain(node, "compiler") && !(in_mujoco && find_child(node->parent, "compiler") == node))
            return refuse(reader, node, error,
                          "<compiler> counts once, directly in the <mujoco> of <robot>: move its attributes to <robot><mujoco><compiler/>");
        if (top && !is_plain(node, "joint") && (!strcmp(name, "joint") || !strcmp(name, "drake:joint")))
            return refuse(reader, node, error, "<%s%sjoint>: such joints are not read", prefix, *prefix ? ":" : "drake:");
        if (in_mujoco && strcmp(name, "compiler") != 0 && strcmp(name, "option") != 0 && strcmp(name, "size") != 0)
            model_add_note(reader->changes, "<mujoco> of a URDF may hold compiler, option and size: <%s> is left out", name);
    }
    return CAROM_OK;
}

// <compiler> as the file has it, with what its elements need here; <option> and <size>.
static void add_settings(urdf_reader *reader, xmlNode *model) {
    const xmlNode *mujoco = find_child(reader->robot, "mujoco"), *own = find_child(mujoco, "compiler");
    const char *const fuses = own ? model_xml_attribute(own, "fusestatic") : NULL;
    const char *const strips = own ? model_xml_attribute(own, "strippath") : NULL;
    reader->fuses = !fuses || strcmp(fuses, "false") != 0;
    reader->strips = !strips || strcmp(strips, "false") != 0;
    xmlNode *compiler = model_xml_add(model, "compiler");
    for (const xmlAttr *attribute = own ? own->properties : NULL; attribute; attribute = attribute->next)
        if (model_xml_value(attribute)) model_xml_set(compiler, (const char *)attribute->name, model_xml_value(attribute));
    model_xml_set(compiler, "angle", "radian");
    model_xml_set(compiler, "fusestatic", "false");
    model_xml_set(compiler, "strippath", "false");
    static const char *const others[] = {"option", "size"};
    for (int i = 0; i < 2; i++) {
        const xmlNode *section = find_child(mujoco, others[i]);
        if (section) xmlAddChild(model, xmlDocCopyNode((xmlNode *)section, model->doc, 1));
    }
}

static carom_status add_link(const urdf_reader *reader, urdf_link *link, xmlNode *world, carom_error *error) {
    const urdf_joint *joint = link->joint == NONE ? NULL : &reader->joints[link->joint];
    const urdf_link *owner = &reader->links[link->owner];
    carom_status status = CAROM_OK;
    if (owner != link || !strcmp(link->name, "world") || (!joint && reader->fuses)) {
        link->body = owner != link ? owner->body : world;
    } else {
        link->body = model_xml_add(joint ? reader->links[joint->parent].body : world, "body");
        model_xml_set(link->body, "name", link->name);
        set_frame(link->body, &link->place);
        if (joint) status = add_joint(reader, joint, link->body, error);
        add_inertial(link);
    }
    for (const xmlNode *child = link->element->children; child && !status; child = child->next)
        if (is_plain(child, "collision")) status = add_geom(reader, link, child, error);
    return status;
}

static carom_status translate(urdf_reader *reader, xmlNode *model, carom_error *error) {
    carom_status status = check_elements(reader, error);
    for (const xmlNode *node = reader->robot->children; node && !status; node = node->next)
        if (is_plain(node, "link")) status = read_link(reader, node, error);
    for (const xmlNode *node = reader->robot->children; node && !status; node = node->next)
        if (is_plain(node, "joint")) status = read_joint(reader, node, error);
    add_settings(reader, model);
    if (!status) status = order_links(reader, error);
    if (!status) status = weigh_robot(reader, error);
    if (status) return status;
    const char *name = model_xml_attribute(reader->robot, "name");
    if (name) model_xml_set(model, "model", name);
    reader->assets = model_xml_add(model, "asset");
    xmlNode *world = model_xml_add(model, "worldbody");
    for (int i = 0; !status && i < reader->link_count; i++) status = add_link(reader, &reader->links[reader->order[i]], world, error);
    reader->equalities = model_xml_add(model, "equality");
    for (int i = 0; !status && i < reader->joint_count; i++) status = add_mimic(reader, i, error);
    return status;
}

bool model_is_urdf(const xmlDoc *document) {
    const xmlNode *root = document && document->type == XML_DOCUMENT_NODE ? model_xml_first(document) : NULL;
    return root && model_xml_is(root, "robot");
}

carom_status model_translate_urdf(const char *path, model_changes *changes, carom_error *error) {
    if (!model_is_urdf(changes->document)) return CAROM_OK;
    urdf_reader reader = {.path = path, .changes = changes, .robot = model_xml_first(changes->document)};
    size_t links = 1, joints = 1;
    for (const xmlNode *node = reader.robot->children; node; node = node->next) {
        links += is_plain(node, "link");
        joints += is_plain(node, "joint");
    }
    carom_arena arena = {0};
    reader.links = carom_arena_take(&arena, links, sizeof *reader.links);
    reader.joints = carom_arena_take(&arena, joints, sizeof *reader.joints);
    reader.order = carom_arena_take(&arena, links, sizeof *reader.order);
    xmlNode *model = xmlNewDocNode(changes->document, NULL, (const xmlChar *)"mujoco", NULL);
    carom_status status = arena.failed || !model ? carom_fail_memory(error, path) : CAROM_OK;
    if (!status) status = translate(&reader, model, error);
    carom_arena_free(&arena);
    // The new root replaces the old one.
    xmlNode *dropped = status ? model : xmlDocSetRootElement(changes->document, model);
    if (dropped) xmlFreeNode(dropped);
    changes->edited = changes->urdf = true;
    return status;
}

// The positions of joints that mimic others, at those of the others; a chain has at most as many links as there are constraints.
void model_settle_mimics(const model_changes *changes, const mjModel *compiled, mjData *data) {
    const int count = changes->urdf ? model_count(compiled->neq) : 0;
    for (int pass = 0; pass < count; pass++)
        for (int i = 0; i < count; i++) {
            const double *factors = compiled->eq_data + (size_t)i * mjNEQDATA;
            const int leader = compiled->eq_obj2id[i];
            const double position = leader < 0 ? 0 : data->qpos[compiled->jnt_qposadr[leader]];
            data->qpos[compiled->jnt_qposadr[compiled->eq_obj1id[i]]] = factors[0] + factors[1] * position;
        }
}

// ---------------------------------------------------------------------------------------------------------------- roots

// Is there an element called `name` with this value of an attribute?
static bool has_element(const xmlDoc *document, const char *name, const char *attribute, const char *value) {
    for (const xmlNode *element = model_xml_first(document); element; element = model_xml_next(element)) {
        const char *own = model_xml_is(element, name) ? model_xml_attribute(element, attribute) : NULL;
        if (own && !strcmp(own, value)) return true;
    }
    return false;
}

carom_status model_check_template(const char *path, const xmlDoc *document, carom_error *error) {
    for (const xmlNode *node = model_is_urdf(document) ? xmlDocGetRootElement(document) : NULL; node; node = model_xml_next(node)) {
        const char *prefix = node->ns && node->ns->prefix ? (const char *)node->ns->prefix : "", *name = (const char *)node->name;
        bool template =
            !strcmp(prefix, "xacro") || !strncmp(name, "xacro:", 6) || (*prefix && strstr((const char *)node->ns->href, "xacro"));
        for (const xmlAttr *attribute = node->properties; attribute && !template; attribute = attribute->next) {
            const char *value = model_xml_value(attribute);
            template = value && (strstr(value, "${") || strstr(value, "$("));
        }
        if (template)
            return carom_fail(error, CAROM_BAD_INPUT, "%s:%ld: this is xacro: run xacro first, such as by 'xacro %s > robot.urdf'", path,
                              xmlGetLineNo(node), model_last_part(path));
    }
    return CAROM_OK;
}

bool model_urdf_is_child(const xmlDoc *document, const char *link) { return has_element(document, "child", "link", link); }

void model_advise_on_root(const xmlDoc *document, char advice[MODEL_ADVICE_SIZE]) {
    advice[0] = '\0';
    const xmlNode *robot = model_xml_first(document);
    if (!robot || !model_xml_is(robot, "robot") || has_element(document, "link", "name", "world")) return;
    // The root is the first link that is the child of no joint.
    for (const xmlNode *link = robot; link; link = model_xml_next(link)) {
        const char *root = model_xml_is(link, "link") ? model_xml_attribute(link, "name") : NULL;
        if (!root || model_urdf_is_child(document, root)) continue;
        snprintf(advice, MODEL_ADVICE_SIZE,
                 "the root link '%s' is welded to the world; to let it move say 'root: free' in the scene, or add <link "
                 "name=\"world\"/><joint name=\"root\" "
                 "type=\"floating\"><parent link=\"world\"/><child link=\"%s\"/></joint> (type \"fixed\" welds it without this warning)",
                 root, root);
        return;
    }
}
