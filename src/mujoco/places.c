// SPDX-License-Identifier: Apache-2.0
// Where the contacts that a caller describes are: their points and their orthonormal directions.
//
// A site or a point of a body says where it touches. Of a geom the normal tells the point, where its shape has one that is farthest along
// it; a plane or a box on the world does not need one, because the point of the other place serves.
#include <math.h>
#include <stdio.h>

#include "mujoco/mujoco_internal.h"

// Given directions may miss orthogonality by this, the precision of coordinates written by hand.
#define ORTHOGONALITY_TOLERANCE 1e-6
// Components of a direction smaller than this count as zero.
#define PARALLEL_TOLERANCE 1e-9
// Geoms whose contact points lie this far off one line along the normal, relative to their size, do not touch there.
#define ALIGNMENT_TOLERANCE 1e-6

// A place at the current state. The point of a geom without a unique one is not `definite`; it may stand on an immovable body only.
typedef struct located_place {
    int body, geom;  // geom: -1 where the place is none
    double point[3];
    bool definite;
    double size;  // radius of the geom's bounding sphere, 0 for points
} located_place;

// --------------------------------------------------------------------------------------------------------- directions

void model_label_contact(char label[MODEL_LABEL_SIZE], const char *name, int index) {
    if (name)
        snprintf(label, MODEL_LABEL_SIZE, "contact '%s'", name);
    else
        snprintf(label, MODEL_LABEL_SIZE, "contact number %d", index + 1);
}

bool model_normalise(const double vector[3], double unit[3]) {
    const double length = hypot(hypot(vector[0], vector[1]), vector[2]);
    if (!(length > 0) || !isfinite(length)) return false;
    for (int i = 0; i < 3; i++) unit[i] = vector[i] / length;
    return true;
}

int model_compare_bodies(const carom_model *model, const model_touch *a, const model_touch *b) {
    const mjModel *compiled = model->compiled;
    const int a0 = model_weld(compiled, a->body[0]), a1 = model_weld(compiled, a->body[1]);
    const int b0 = model_weld(compiled, b->body[0]), b1 = model_weld(compiled, b->body[1]);
    if (a0 == b0 && a1 == b1) return 1;
    return a0 == b1 && a1 == b0 ? -1 : 0;
}

// ----------------------------------------------------------------------------------------------------------- places

// The point of a geom that is farthest along `direction`; false for shapes that need not have a unique one.
// A capsule whose axis is perpendicular to the direction touches along its whole length: the middle stands for it.
static bool find_support_point(const carom_model *model, int geom, const double direction[3], double point[3]) {
    const double *size = model->compiled->geom_size + 3 * geom;
    const double *rotation = model->data->geom_xmat + 9 * geom;
    // In the geom's frame, with d the direction there: r d for a sphere, and with semi-axes a_i of an ellipsoid a_i^2 d_i / |a d|.
    double local[3], support[3];
    mju_rotVecMatT(local, direction, rotation);
    switch (model->compiled->geom_type[geom]) {
    case mjGEOM_SPHERE: mju_scl3(support, local, size[0]); break;
    case mjGEOM_CAPSULE:
        mju_scl3(support, local, size[0]);
        if (fabs(local[2]) > PARALLEL_TOLERANCE) support[2] += copysign(size[1], local[2]);
        break;
    case mjGEOM_ELLIPSOID: {
        double scaled[3];
        for (int i = 0; i < 3; i++) scaled[i] = size[i] * local[i];
        const double length = mju_norm3(scaled);
        for (int i = 0; i < 3; i++) support[i] = size[i] * scaled[i] / length;
        break;
    }
    default: return false;
    }
    mju_rotVecMat(point, support, rotation);
    mju_addTo3(point, model->data->geom_xpos + 3 * geom);
    return true;
}

// `direction` points from this place to the other one.
static carom_status locate_place(const carom_model *model, const carom_place *place, const double direction[3], const char *label,
                                 located_place *located, carom_error *error) {
    // Find it by its name.
    static const struct {
        int type;
        const char *name;
    } kinds[] = {[CAROM_PLACE_SITE] = {mjOBJ_SITE, "site"},
                 [CAROM_PLACE_GEOM] = {mjOBJ_GEOM, "geom"},
                 [CAROM_PLACE_BODY_POINT] = {mjOBJ_BODY, "body"}};
    const mjModel *compiled = model->compiled;
    const mjData *data = model->data;
    *located = (located_place){.definite = true, .geom = -1};
    if (place->kind < CAROM_PLACE_SITE || place->kind > CAROM_PLACE_BODY_POINT)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: a place is a site, a geom or a point of a body", label);
    const char *name = place->name ? place->name : "";
    const int id = *name ? mj_name2id(compiled, kinds[place->kind].type, name) : -1;
    const int counts[] = {[CAROM_PLACE_SITE] = model_count(compiled->nsite),
                          [CAROM_PLACE_GEOM] = model_count(compiled->ngeom),
                          [CAROM_PLACE_BODY_POINT] = model_count(compiled->nbody)};
    char phrase[CAROM_SUGGESTION_SIZE];
    if (id < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no %s called '%s' in %s%s", label, kinds[place->kind].name, name,
                          model->path, model_suggest(model, kinds[place->kind].type, counts[place->kind], name, phrase));
    // Its point in the world.
    switch (place->kind) {
    case CAROM_PLACE_SITE:
        located->body = compiled->site_bodyid[id];
        mju_copy3(located->point, data->site_xpos + 3 * id);
        break;
    case CAROM_PLACE_GEOM:
        located->body = compiled->geom_bodyid[id];
        located->geom = id;
        located->size = compiled->geom_rbound[id];
        located->definite = find_support_point(model, id, direction, located->point);
        if (!located->definite && model_weld(compiled, located->body) != 0)
            return carom_fail(error, CAROM_BAD_INPUT,
                              "%s: geom '%s' is no sphere, capsule or ellipsoid, so that the normal does not tell its contact point; "
                              "give a site or a point of its body",
                              label, name);
        break;
    case CAROM_PLACE_BODY_POINT:
        for (int i = 0; i < 3; i++)
            if (!isfinite(place->point[i])) return carom_fail(error, CAROM_BAD_INPUT, "%s: point[%d] is not finite", label, i);
        located->body = id;
        mju_rotVecMat(located->point, place->point, data->xmat + 9 * id);
        mju_addTo3(located->point, data->xpos + 3 * id);
        break;
    }
    return CAROM_OK;
}

carom_status model_locate_contact(const carom_model *model, const carom_model_contact *contact, int index, model_touch *touch,
                                  carom_error *error) {
    char label[MODEL_LABEL_SIZE];
    model_label_contact(label, contact->name, index);
    *touch = (model_touch){
        .name = contact->name, .geom = {-1, -1}, .friction = contact->friction, .restitution = contact->restitution, .gap = NAN};

    // Orthonormal directions: tangents by the default rule where none are given.
    double *normal = touch->normal, (*tangent)[3] = touch->tangent;
    if (!model_normalise(contact->normal, normal))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the normal needs a finite length greater than zero", label);
    carom_impact_default_tangents(normal, tangent);
    for (int i = 0; i < contact->tangents; i++) {
        if (!model_normalise(contact->tangent[i], tangent[i]))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: tangent %d needs a finite length greater than zero", label, i + 1);
        if (fabs(mju_dot3(tangent[i], normal)) > ORTHOGONALITY_TOLERANCE)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: tangent %d is not orthogonal to the normal", label, i + 1);
    }
    if (contact->tangents == 2 && fabs(mju_dot3(tangent[0], tangent[1])) > ORTHOGONALITY_TOLERANCE)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the two tangents are not orthogonal to each other", label);

    // The points of its places. The world is the first place where only one is given. A place without a point of its own, the world or a
    // geom that the normal does not tell one of, has that of the other.
    if (contact->places < 1 || contact->places > 2)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: a contact has one place or two, not %d", label, contact->places);
    const carom_place *places = contact->place;
    const double inwards[3] = {-normal[0], -normal[1], -normal[2]};
    located_place first, second;
    carom_status status = locate_place(model, &places[contact->places - 1], inwards, label, &second, error);
    if (status) return status;
    touch->body[1] = second.body;
    touch->geom[1] = second.geom;
    mju_copy3(touch->point[1], second.point);
    mju_copy3(touch->point[0], second.point);
    mju_copy3(touch->meeting, second.point);
    if (contact->places == 1) return CAROM_OK;
    status = locate_place(model, &places[0], normal, label, &first, error);
    if (status) return status;
    touch->body[0] = first.body;
    touch->geom[0] = first.geom;
    if (first.definite) mju_copy3(touch->point[0], first.point);
    for (int i = 0; i < 3 && first.definite; i++)
        touch->meeting[i] = second.definite ? 0.5 * (first.point[i] + second.point[i]) : first.point[i];
    if (first.definite && second.definite) touch->gap = mju_dot3(normal, second.point) - mju_dot3(normal, first.point);
    if (places[0].kind != CAROM_PLACE_GEOM || places[1].kind != CAROM_PLACE_GEOM || !first.definite || !second.definite) return CAROM_OK;

    // Two convex geoms with the common normal n touch where both are extreme along n: one point, or two on a line along n before they
    // touch.
    double offset[3];
    mju_sub3(offset, second.point, first.point);
    mju_addToScl3(offset, normal, -mju_dot3(offset, normal));
    if (mju_norm3(offset) <= ALIGNMENT_TOLERANCE * (first.size + second.size)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s: the geoms do not touch with this normal (their extreme points are %g m apart across it); "
                      "the normal of two spheres is the line from the first center to the second",
                      label, mju_norm3(offset));
}

carom_status carom_model_measure_gaps(carom_model *model, const carom_model_contact *contacts, int count, double *gaps,
                                      carom_error *error) {
    carom_status status = model_prepare_freeze(model, error);
    for (int i = 0; !status && i < count; i++) {
        model_touch touch;
        status = model_locate_contact(model, &contacts[i], i, &touch, error);
        // One place alone stands against the world's origin.
        const bool alone = contacts[i].places == 1;
        gaps[i] = 0;
        for (int k = 0; !status && k < 3; k++) gaps[i] += touch.normal[k] * (touch.point[1][k] - (alone ? 0 : touch.point[0][k]));
    }
    return status;
}
