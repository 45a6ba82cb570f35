// SPDX-License-Identifier: Apache-2.0
// How the root of a URDF robot is held: MuJoCo welds it to the world unless the file says otherwise, and keeps no trace of it.
#include <stdio.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// Is there an element called `name` with this value of an attribute?
static bool has_element(const xmlDoc *document, const char *name, const char *attribute, const char *value) {
    for (const xmlNode *element = model_xml_first(document); element; element = model_xml_next(element)) {
        const char *own = model_xml_is(element, name) ? model_xml_attribute(element, attribute) : NULL;
        if (own && !strcmp(own, value)) return true;
    }
    return false;
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
