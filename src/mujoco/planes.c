// SPDX-License-Identifier: Apache-2.0
// Listed contacts of a model in motion: points, spheres and capsules of bodies above planes that are fixed in the world.
#include <math.h>
#include <stdio.h>

#include "mujoco/mujoco_internal.h"

// A capsule whose axis is this close to the normal of the plane of motion (one minus the cosine) touches with its middle.
#define ACROSS_TOLERANCE 1e-12

// Puts what a contact names above a plane through its lowest point at the model's state, or at the contact's offset: a point of a body, a
// sphere, or the two ends of a capsule; of a planar contact whose capsule lies across the plane of motion, its middle.
// @param parts  how many there are: 1 or 2
static carom_status place_contact(const carom_model *model, const carom_model_contact *contact, int index, model_plane_contact placed[2],
                                  int *parts, carom_error *error) {
    char label[MODEL_LABEL_SIZE];
    model_label_contact(label, contact->name, index);
    model_touch touch;
    const carom_status status = model_locate_contact(model, contact, index, &touch, error);
    if (status) return status;
    const mjModel *compiled = model->compiled;
    const int geom = touch.geom[1], type = geom < 0 ? mjGEOM_NONE : compiled->geom_type[geom];
    if (contact->places != 1 || (geom >= 0 && type != mjGEOM_SPHERE && type != mjGEOM_CAPSULE))
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "%s: contacts of a motion are points of one body (a site, or 'body' and 'point'), spheres and capsules (a geom), "
                          "above planes fixed in the world",
                          label);
    *placed = (model_plane_contact){.body = touch.body[1]};
    mju_copy3(placed->normal, touch.normal);
    for (int k = 0; k < 2; k++) mju_copy3(placed->tangent[k], touch.tangent[k]);
    placed->offset = isnan(contact->offset) ? mju_dot3(touch.normal, touch.point[1]) : contact->offset;
    *parts = 1;
    if (geom < 0) {
        double arm[3];
        mju_sub3(arm, touch.point[1], model->data->xpos + 3 * placed->body);
        mju_rotVecMatT(placed->point, arm, model->data->xmat + 9 * placed->body);
        return CAROM_OK;
    }
    mju_copy3(placed->point, compiled->geom_pos + 3 * geom);
    placed->radius = compiled->geom_size[3 * geom];
    double axis[3], across[3];
    mju_cross(across, touch.normal, touch.tangent[0]);
    const double *columns = model->data->geom_xmat + 9 * geom, world[3] = {columns[2], columns[5], columns[8]};
    const bool is_across = contact->tangents != 2 && fabs(mju_dot3(world, across)) > 1 - ACROSS_TOLERANCE;
    if (type == mjGEOM_SPHERE || is_across) return CAROM_OK;
    const double along[3] = {0, 0, compiled->geom_size[3 * geom + 1]};
    mju_rotVecQuat(axis, along, compiled->geom_quat + 4 * geom);
    placed[1] = placed[0];
    mju_subFrom3(placed[0].point, axis);
    mju_addTo3(placed[1].point, axis);
    *parts = 2;
    return CAROM_OK;
}

carom_status model_place_contacts(const carom_model *model, const carom_model_contact *contacts, int count, carom_arena *arena,
                                  model_plane_contacts *placed, carom_error *error) {
    const size_t room = 2 * (size_t)count;
    char(*labels)[2 * MODEL_LABEL_SIZE] = carom_arena_take(arena, room, sizeof *labels);
    *placed = (model_plane_contacts){.contact = carom_arena_take(arena, room, sizeof *placed->contact),
                                     .names = carom_arena_take(arena, room, sizeof *placed->names),
                                     .friction = carom_arena_take(arena, room, sizeof *placed->friction),
                                     .restitution = carom_arena_take(arena, room, sizeof *placed->restitution)};
    if (arena->failed) return carom_fail_memory(error, model->path);
    for (int i = 0; i < count; i++) {
        int parts = 0;
        const carom_status status = place_contact(model, &contacts[i], i, &placed->contact[placed->count], &parts, error);
        if (status) return status;
        for (int part = 0; part < parts; part++, placed->count++) {
            char number[16], *label = labels[placed->count];
            snprintf(number, sizeof number, "%d", i + 1);
            snprintf(label, sizeof *labels, parts > 1 ? "%.200s:%d" : "%.200s", contacts[i].name ? contacts[i].name : number, part + 1);
            placed->names[placed->count] = label;
            placed->friction[placed->count] = contacts[i].friction;
            placed->restitution[placed->count] = contacts[i].restitution;
        }
    }
    return CAROM_OK;
}
