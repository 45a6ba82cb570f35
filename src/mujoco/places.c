// SPDX-License-Identifier: Apache-2.0
// Where the contacts that a caller describes are: their points and their orthonormal directions.
#include <math.h>
#include <stdio.h>

#include "mujoco/mujoco_internal.h"

// Given directions may miss orthogonality by this, the precision of coordinates written by hand.
#define ORTHOGONALITY_TOLERANCE 1e-6
// Components of a direction smaller than this are none.
#define PARALLEL_TOLERANCE 1e-9
// Geoms whose contact points lie this far off one line along the normal, relative to their size, do not touch there.
#define ALIGNMENT_TOLERANCE 1e-6

// A place at the current state. The point of a geom without a unique one is not `definite`; it may stand on an immovable body only.
typedef struct located_place {
    int body;
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

void model_choose_tangents(model_touch *touch) { carom_impact_default_tangents(touch->normal, touch->tangent); }

int model_compare_bodies(const carom_model *model, const model_touch *a, const model_touch *b) {
    const int *weld = model->compiled->body_weldid;
    const int a0 = weld[a->body[0]], a1 = weld[a->body[1]], b0 = weld[b->body[0]], b1 = weld[b->body[1]];
    if (a0 == b0 && a1 == b1) return 1;
    return a0 == b1 && a1 == b0 ? -1 : 0;
}

static carom_status take_tangents(const carom_model_contact *contact, const char *label, model_touch *touch, carom_error *error) {
    for (int i = 0; i < contact->tangents; i++) {
        if (!model_normalise(contact->tangent[i], touch->tangent[i])) {
            return carom_fail(error, CAROM_BAD_INPUT, "%s: tangent %d needs a finite length greater than zero", label, i + 1);
        }
        if (fabs(mju_dot3(touch->tangent[i], touch->normal)) > ORTHOGONALITY_TOLERANCE) {
            return carom_fail(error, CAROM_BAD_INPUT, "%s: tangent %d is not orthogonal to the normal", label, i + 1);
        }
    }
    if (contact->tangents == 2 && fabs(mju_dot3(touch->tangent[0], touch->tangent[1])) > ORTHOGONALITY_TOLERANCE) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the two tangents are not orthogonal to each other", label);
    }
    return CAROM_OK;
}

static carom_status build_frame(const carom_model_contact *contact, const char *label, model_touch *touch, carom_error *error) {
    if (!model_normalise(contact->normal, touch->normal)) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the normal needs a finite length greater than zero", label);
    }
    model_choose_tangents(touch);
    return take_tangents(contact, label, touch, error);
}

// ----------------------------------------------------------------------------------------------------------- places

static int find_object(const carom_model *model, int type, const char *name) {
    return name && *name ? mj_name2id(model->compiled, type, name) : -1;
}

// The point of a geom that is farthest along `direction`; false for shapes that need not have a unique one.
// A capsule whose axis is perpendicular to the direction touches along its whole length: the middle stands for it.
static bool find_support_point(const carom_model *model, int geom, const double direction[3], double point[3]) {
    const double *size = model->compiled->geom_size + 3 * geom;
    const double *rotation = model->data->geom_xmat + 9 * geom;
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

static carom_status locate_geom(const carom_model *model, const char *name, const double direction[3], const char *label,
                                located_place *located, carom_error *error) {
    const mjModel *compiled = model->compiled;
    const int geom = find_object(model, mjOBJ_GEOM, name);
    if (geom < 0) return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no geom called '%s' in %s", label, name ? name : "", model->path);
    located->body = compiled->geom_bodyid[geom];
    located->size = compiled->geom_rbound[geom];
    located->definite = find_support_point(model, geom, direction, located->point);
    if (!located->definite && compiled->body_weldid[located->body] != 0) {
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: geom '%s' is no sphere, capsule or ellipsoid, so that the normal does not tell its contact point; "
                          "give a site or a point of its body",
                          label, name);
    }
    return CAROM_OK;
}

static carom_status locate_site(const carom_model *model, const char *name, const char *label, located_place *located, carom_error *error) {
    const int site = find_object(model, mjOBJ_SITE, name);
    if (site < 0) return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no site called '%s' in %s", label, name ? name : "", model->path);
    located->body = model->compiled->site_bodyid[site];
    mju_copy3(located->point, model->data->site_xpos + 3 * site);
    return CAROM_OK;
}

static carom_status locate_body_point(const carom_model *model, const carom_place *place, const char *label, located_place *located,
                                      carom_error *error) {
    const int body = find_object(model, mjOBJ_BODY, place->name);
    if (body < 0) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no body called '%s' in %s", label, place->name ? place->name : "",
                          model->path);
    }
    for (int i = 0; i < 3; i++) {
        if (!isfinite(place->point[i])) return carom_fail(error, CAROM_BAD_INPUT, "%s: point[%d] is not finite", label, i);
    }
    located->body = body;
    mju_rotVecMat(located->point, place->point, model->data->xmat + 9 * body);
    mju_addTo3(located->point, model->data->xpos + 3 * body);
    return CAROM_OK;
}

// `direction` points from this place to the other one.
static carom_status locate_place(const carom_model *model, const carom_place *place, const double direction[3], const char *label,
                                 located_place *located, carom_error *error) {
    *located = (located_place){.definite = true};
    switch (place->kind) {
    case CAROM_PLACE_SITE: return locate_site(model, place->name, label, located, error);
    case CAROM_PLACE_GEOM: return locate_geom(model, place->name, direction, label, located, error);
    case CAROM_PLACE_BODY_POINT: return locate_body_point(model, place, label, located, error);
    }
    return carom_fail(error, CAROM_BAD_INPUT, "%s: a place is a site, a geom or a point of a body", label);
}

// Two convex geoms with the common normal n touch where both are extreme along n: one point, or two on a line along n before they touch.
static carom_status check_alignment(const located_place *first, const located_place *second, const double normal[3], const char *label,
                                    carom_error *error) {
    double offset[3];
    mju_sub3(offset, second->point, first->point);
    mju_addToScl3(offset, normal, -mju_dot3(offset, normal));
    if (mju_norm3(offset) <= ALIGNMENT_TOLERANCE * (first->size + second->size)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s: the geoms do not touch with this normal (their extreme points are %g m apart across it); "
                      "the normal of two spheres is the line from the first centre to the second",
                      label, mju_norm3(offset));
}

static void take_place(model_touch *touch, int side, const located_place *place, const double point[3]) {
    touch->body[side] = place->body;
    mju_copy3(touch->point[side], point);
}

// The points of the contact's places. The world is the first place where only one is given. A place without a point of its own, the world
// or a geom that the normal does not tell one of, has that of the other.
static carom_status locate_places(const carom_model *model, const carom_model_contact *contact, const char *label, model_touch *touch,
                                  carom_error *error) {
    if (contact->places < 1 || contact->places > 2) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: a contact has one place or two, not %d", label, contact->places);
    }
    const double inwards[3] = {-touch->normal[0], -touch->normal[1], -touch->normal[2]};
    located_place first, second;
    carom_status status = locate_place(model, &contact->place[contact->places - 1], inwards, label, &second, error);
    if (status) return status;
    take_place(touch, 1, &second, second.point);
    take_place(touch, 0, &(located_place){.body = 0}, second.point);
    if (contact->places == 1) return CAROM_OK;

    status = locate_place(model, &contact->place[0], touch->normal, label, &first, error);
    if (status) return status;
    take_place(touch, 0, &first, first.definite ? first.point : second.point);
    const bool geoms = contact->place[0].kind == CAROM_PLACE_GEOM && contact->place[1].kind == CAROM_PLACE_GEOM;
    if (!geoms || !first.definite || !second.definite) return CAROM_OK;
    return check_alignment(&first, &second, touch->normal, label, error);
}

carom_status model_locate_contact(const carom_model *model, const carom_model_contact *contact, int index, model_touch *touch,
                                  carom_error *error) {
    char label[MODEL_LABEL_SIZE];
    model_label_contact(label, contact->name, index);
    *touch = (model_touch){.name = contact->name, .friction = contact->friction, .restitution = contact->restitution};
    const carom_status status = build_frame(contact, label, touch, error);
    return status ? status : locate_places(model, contact, label, touch, error);
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
