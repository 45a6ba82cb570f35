// SPDX-License-Identifier: Apache-2.0
// From a model at its state to an impact: mass matrix and contact Jacobians.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dense.h"
#include "model_internal.h"

// Given directions may miss orthogonality by this, the precision of coordinates written by hand.
#define ORTHOGONALITY_TOLERANCE 1e-6
// Normals closer to the y axis than this (sine of the angle) take x as their first tangent.
#define PARALLEL_TOLERANCE 1e-9
// Geoms whose contact points lie this far off one line along the normal, relative to their size, do not touch there.
#define ALIGNMENT_TOLERANCE 1e-6
// Entries of a Jacobian below this, relative to the largest, are rounding errors of zero.
#define ZERO_TOLERANCE 1e-12

enum { LABEL_SIZE = 128 };

// Orthonormal directions of a contact in world axes.
typedef struct contact_frame {
    double normal[3];
    double tangent[2][3];
} contact_frame;

// A place at the current state. The point of a geom without a unique one is not `definite`; it may stand on an immovable body only.
typedef struct located_place {
    int body;
    double point[3];
    bool definite;
    double size;  // radius of the geom's bounding sphere, 0 for points
} located_place;

// The arrays of the impact under construction, all in one block of memory.
typedef struct frozen {
    const carom_model *model;
    int nv, count, tangent_dim;
    double *mass;                    // [nv x nv]
    double *normal;                  // [count x nv]
    double *tangent;                 // [(count*tangent_dim) x nv]
    double *first, *second;          // [3 x nv] Jacobians of the two places of one contact
    double *friction, *restitution;  // [count]
    const char **names;              // [count]
    double *block;
} frozen;

// --------------------------------------------------------------------------------------------------- contact frames

static void write_label(char label[LABEL_SIZE], const carom_model_contact *contact, int index) {
    if (contact->name)
        snprintf(label, LABEL_SIZE, "contact '%s'", contact->name);
    else
        snprintf(label, LABEL_SIZE, "contact number %d", index + 1);
}

// A unit vector along `vector`; false when its length is zero or not finite.
static bool normalise(const double vector[3], double unit[3]) {
    const double length = hypot(hypot(vector[0], vector[1]), vector[2]);
    if (!(length > 0) || !isfinite(length)) return false;
    for (int i = 0; i < 3; i++) unit[i] = vector[i] / length;
    return true;
}

// Tangents of the default rule: t1 = y x n, or x where n is parallel to y; t2 = n x t1.
static void choose_tangents(contact_frame *frame) {
    const double *n = frame->normal;
    const double across[3] = {n[2], 0, -n[0]};
    const double x[3] = {1, 0, 0};
    normalise(hypot(n[0], n[2]) > PARALLEL_TOLERANCE ? across : x, frame->tangent[0]);
    mju_cross(frame->tangent[1], n, frame->tangent[0]);
}

static carom_status take_tangents(const carom_model_contact *contact, const char *label, contact_frame *frame, carom_error *error) {
    for (int i = 0; i < contact->tangents; i++) {
        if (!normalise(contact->tangent[i], frame->tangent[i])) {
            return carom_fail(error, CAROM_BAD_INPUT, "%s: tangent %d needs a finite length greater than zero", label, i + 1);
        }
        if (fabs(mju_dot3(frame->tangent[i], frame->normal)) > ORTHOGONALITY_TOLERANCE) {
            return carom_fail(error, CAROM_BAD_INPUT, "%s: tangent %d is not orthogonal to the normal", label, i + 1);
        }
    }
    if (contact->tangents == 2 && fabs(mju_dot3(frame->tangent[0], frame->tangent[1])) > ORTHOGONALITY_TOLERANCE) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the two tangents are not orthogonal to each other", label);
    }
    return CAROM_OK;
}

static carom_status build_frame(const carom_model_contact *contact, const char *label, contact_frame *frame, carom_error *error) {
    if (!normalise(contact->normal, frame->normal)) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the normal needs a finite length greater than zero", label);
    }
    choose_tangents(frame);
    return take_tangents(contact, label, frame, error);
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

// -------------------------------------------------------------------------------------------------------- Jacobians

static void point_jacobian(const frozen *f, const located_place *place, double *jacobian) {
    mj_jac(f->model->compiled, f->model->data, jacobian, NULL, place->point, place->body);
}

// Translational Jacobians of the contact's places into f->first and f->second. The world is the first place where only one is given.
static carom_status contact_jacobians(const frozen *f, const carom_model_contact *contact, const double normal[3], const char *label,
                                      carom_error *error) {
    if (contact->places < 1 || contact->places > 2) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: a contact has one place or two, not %d", label, contact->places);
    }
    const double inwards[3] = {-normal[0], -normal[1], -normal[2]};
    located_place first, second;
    carom_status status = locate_place(f->model, &contact->place[contact->places - 1], inwards, label, &second, error);
    if (status) return status;
    point_jacobian(f, &second, f->second);
    mju_zero(f->first, 3 * f->nv);
    if (contact->places == 1) return CAROM_OK;

    status = locate_place(f->model, &contact->place[0], normal, label, &first, error);
    if (status) return status;
    point_jacobian(f, &first, f->first);
    const bool geoms = contact->place[0].kind == CAROM_PLACE_GEOM && contact->place[1].kind == CAROM_PLACE_GEOM;
    if (!geoms || !first.definite || !second.definite) return CAROM_OK;
    return check_alignment(&first, &second, normal, label, error);
}

// One row of the contact's Jacobian: velocity of the second place minus that of the first along `direction`.
static void project_row(const frozen *f, const double direction[3], double *row) {
    for (int j = 0; j < f->nv; j++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += direction[k] * (f->second[k * f->nv + j] - f->first[k * f->nv + j]);
        row[j] = sum;
    }
}

// Fills the rows of one contact.
static carom_status add_contact(frozen *f, const carom_model_contact *contact, int index, carom_error *error) {
    char label[LABEL_SIZE];
    write_label(label, contact, index);
    contact_frame frame;
    carom_status status = build_frame(contact, label, &frame, error);
    if (!status) status = contact_jacobians(f, contact, frame.normal, label, error);
    if (status) return status;

    // MuJoCo only warns about a NaN in a model file.
    const size_t nv = (size_t)f->nv;
    if (!carom_all_finite(3 * nv, f->first) || !carom_all_finite(3 * nv, f->second)) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: its Jacobian is not finite; are all numbers of the model?", label);
    }
    double *row = f->normal + (size_t)index * nv;
    project_row(f, frame.normal, row);
    const double scale = fmax(carom_max_abs(3 * nv, f->first), carom_max_abs(3 * nv, f->second));
    if (carom_max_abs(nv, row) <= ZERO_TOLERANCE * scale) {
        return carom_fail(error, CAROM_BAD_INPUT, "%s: no joint of the model changes its distance along the normal", label);
    }
    for (int k = 0; k < f->tangent_dim; k++) project_row(f, frame.tangent[k], f->tangent + (size_t)(index * f->tangent_dim + k) * nv);
    f->friction[index] = contact->friction;
    f->restitution[index] = contact->restitution;
    f->names[index] = contact->name;
    return CAROM_OK;
}

// Second tangents along which nothing can move are left out: the scene is planar.
static void drop_idle_tangents(frozen *f) {
    const size_t nv = (size_t)f->nv, rows = (size_t)f->count;
    if (f->tangent_dim != 2) return;
    const double scale = fmax(carom_max_abs(rows * nv, f->normal), carom_max_abs(2 * rows * nv, f->tangent));
    for (size_t i = 0; i < rows; i++) {
        if (carom_max_abs(nv, f->tangent + (2 * i + 1) * nv) > ZERO_TOLERANCE * scale) return;
    }
    for (size_t i = 0; i < rows; i++) mju_copy(f->tangent + i * nv, f->tangent + 2 * i * nv, f->nv);
    f->tangent_dim = 1;
}

// ---------------------------------------------------------------------------------------------------------- freezing

// Tangents per contact: as many as the contacts give, which must agree; two where none gives any.
static carom_status choose_tangent_dim(const carom_model_contact *contacts, int count, int *dim, carom_error *error) {
    *dim = 0;
    for (int i = 0; i < count; i++) {
        char label[LABEL_SIZE];
        write_label(label, &contacts[i], i);
        const int given = contacts[i].tangents;
        if (given < 0 || given > 2) return carom_fail(error, CAROM_BAD_INPUT, "%s: a contact has up to two tangents, not %d", label, given);
        if (given && *dim && given != *dim) {
            return carom_fail(error, CAROM_BAD_INPUT, "%s: %d tangents, but contacts before it have %d; all need the same number", label,
                              given, *dim);
        }
        if (given) *dim = given;
    }
    if (!*dim) *dim = 2;
    return CAROM_OK;
}

// Names are given for all contacts or for none.
static carom_status check_names(const carom_model_contact *contacts, int count, carom_error *error) {
    for (int i = 1; i < count; i++) {
        if (!contacts[i].name != !contacts[0].name) {
            return carom_fail(error, CAROM_BAD_INPUT, "contact number %d has no name while others have one", contacts[i].name ? 1 : i + 1);
        }
    }
    return CAROM_OK;
}

static carom_status allocate_frozen(frozen *f, carom_error *error) {
    const size_t nv = (size_t)f->nv, count = (size_t)f->count;
    f->block = calloc(nv * nv + 3 * count * nv + 6 * nv + 2 * count, sizeof *f->block);
    f->names = calloc(count, sizeof *f->names);
    if (!f->block || !f->names) return carom_fail_memory(error, "contact Jacobians");
    f->mass = f->block;
    f->normal = f->mass + nv * nv;
    f->tangent = f->normal + count * nv;
    f->first = f->tangent + 2 * count * nv;
    f->second = f->first + 3 * nv;
    f->friction = f->second + 3 * nv;
    f->restitution = f->friction + count;
    return CAROM_OK;
}

static void free_frozen(frozen *f) {
    free(f->names);
    free(f->block);
}

// Positions, tendon lengths and the mass matrix at the current state: neither collisions nor forces.
static void compute_kinematics(void *argument) {
    const frozen *f = argument;
    const mjModel *compiled = f->model->compiled;
    mjData *data = f->model->data;
    mj_kinematics(compiled, data);
    mj_comPos(compiled, data);
    mj_tendon(compiled, data);
    mj_crb(compiled, data);
    mj_fullM(compiled, f->mass, data->qM);
}

static carom_status create_impact(const frozen *f, carom_impact **impact, carom_error *error) {
    const carom_impact_data data = {
        .nv = f->nv,
        .contacts = f->count,
        .tangent_dim = f->tangent_dim,
        .mass = f->mass,
        .normal = f->normal,
        .tangent = f->tangent,
        .friction = f->friction,
        .restitution = f->restitution,
        .velocity = f->model->data->qvel,
        .names = f->names[0] ? f->names : NULL,
    };
    return carom_impact_create(&data, impact, error);
}

carom_status carom_model_freeze(carom_model *model, const carom_model_contact *contacts, int count, carom_impact **impact,
                                carom_error *error) {
    if (!impact) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_freeze: impact is NULL");
    *impact = NULL;
    if (!contacts || count < 1 || count > CAROM_MAX_CONTACTS) {
        return carom_fail(error, CAROM_BAD_INPUT, "an impact needs 1 to %d contacts, not %d", CAROM_MAX_CONTACTS, count);
    }
    frozen f = {.model = model, .nv = model->compiled->nv, .count = count};
    carom_status status = check_names(contacts, count, error);
    if (!status) status = choose_tangent_dim(contacts, count, &f.tangent_dim, error);
    if (!status) status = allocate_frozen(&f, error);
    if (!status) status = model_guard_call(compute_kinematics, &f, error);
    if (!status) status = model_check_constraints(model, error);
    for (int i = 0; !status && i < count; i++) status = add_contact(&f, &contacts[i], i, error);
    if (!status) {
        drop_idle_tangents(&f);
        status = create_impact(&f, impact, error);
    }
    free_frozen(&f);
    return status;
}
