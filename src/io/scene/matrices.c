// SPDX-License-Identifier: Apache-2.0
// The forms `matrices` and `delassus`: scenes that give the matrices of the impact, or its Delassus operator.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/fclib/file.h"
#include "io/io_internal.h"

enum { VELOCITIES, CONTACTS, TANGENTS, SPACE, LENGTHS };

// ------------------------------------------------------------------------------------------------------------ matrices

// The matrices of the impact, row-major, as in carom_impact_data.
typedef struct matrices_fields {
    const double *mass, *normal, *tangent, *friction, *restitution, *velocity;
    const char **names, **velocities;
} matrices_fields;

// v and Jn come first: they set the lengths that the others must fit.
static const carom_field MATRICES[] = {
    {"v", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(matrices_fields, velocity), .rows = VELOCITIES},
    {"Jn", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(matrices_fields, normal), .rows = CONTACTS, .columns = VELOCITIES},
    {"M", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(matrices_fields, mass), .rows = VELOCITIES, .columns = VELOCITIES},
    {"Jt", CAROM_FIELD_MATRIX, .offset = offsetof(matrices_fields, tangent), .rows = TANGENTS, .columns = VELOCITIES},
    {"mu", CAROM_FIELD_VECTOR, .offset = offsetof(matrices_fields, friction), .rows = CONTACTS, .least = 0, .most = HUGE_VAL},
    {"names", CAROM_FIELD_TEXTS, .offset = offsetof(matrices_fields, names), .rows = CONTACTS},
    {"velocities", CAROM_FIELD_TEXTS, .offset = offsetof(matrices_fields, velocities), .rows = VELOCITIES},
    {"restitution", CAROM_FIELD_VECTOR, .offset = offsetof(matrices_fields, restitution), .rows = CONTACTS, .least = 0, .most = 1},
};

// Friction and tangents may be left out where there is no friction: zeros take their place.
static carom_status complete_frictionless(carom_scene *scene, const carom_node *node, matrices_fields *fields, carom_length *lengths,
                                          carom_error *error) {
    const size_t contacts = (size_t)lengths[CONTACTS].value, velocities = (size_t)lengths[VELOCITIES].value;
    for (size_t i = 0; !fields->tangent && fields->friction && i < contacts; i++)
        if (fields->friction[i] > 0)
            return carom_document_refuse(scene->document, node, error,
                                         "the key 'Jt' is missing: friction needs tangents, and mu[%zu] is not 0", i);
    if (fields->tangent && !fields->friction) {
        const carom_status status = carom_scene_warn(scene, node, error, "'mu' is left out: the contacts are frictionless");
        if (status) return status;
    }
    if (!fields->friction) fields->friction = carom_document_allocate(scene->document, contacts * sizeof(double));
    if (!fields->tangent) {
        fields->tangent = carom_document_allocate(scene->document, contacts * velocities * sizeof(double));
        lengths[TANGENTS].value = lengths[CONTACTS].value;
    }
    return fields->friction && fields->tangent ? CAROM_OK : carom_fail_memory(error, carom_scene_path(scene));
}

// Beyond this many numbers no exact set is computed, and their texts would only cost memory.
enum { MOST_TEXTS = 1 << 14 };

// The numbers of a list, or of a list of lists, as they were written; NULL where the key is left out.
static carom_status collect_texts(const carom_scene *scene, const carom_node *matrices, const char *key, const char *const **texts,
                                  carom_error *error) {
    const carom_node *node = carom_node_find(matrices, key);
    *texts = NULL;
    if (!node) return CAROM_OK;
    const bool nested = node->first->kind == CAROM_NODE_LIST;
    const size_t count = (size_t)node->count * (size_t)(nested ? node->first->count : 1);
    const char **next = carom_document_allocate(scene->document, count * sizeof *next);
    if (!next) return carom_fail_memory(error, carom_scene_path(scene));
    *texts = next;
    for (const carom_node *row = node->first; row; row = row->next)
        for (const carom_node *entry = nested ? row->first : row; entry; entry = nested ? entry->next : NULL) *next++ = entry->text;
    return CAROM_OK;
}

// The lengths of v and Jn say how many velocities and contacts there are; Jt has one or two rows for each contact.
static carom_status read_matrices(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    (void)digest;
    const carom_node *matrices = carom_node_find(root, "matrices");
    matrices_fields fields = {0};
    carom_length lengths[LENGTHS] = {
        [VELOCITIES] = {.least = 1, .most = CAROM_MAX_VELOCITIES},
        [CONTACTS] = {.least = 1, .most = CAROM_MAX_CONTACTS},
        [TANGENTS] = {.least = 1, .most = 2 * CAROM_MAX_CONTACTS},
    };
    carom_status status = carom_fields_read(scene->document, matrices, CAROM_FIELD_ROWS(MATRICES), lengths, &fields, error);
    if (!status) status = complete_frictionless(scene, matrices, &fields, lengths, error);
    if (status) return status;

    const int nv = lengths[VELOCITIES].value, contacts = lengths[CONTACTS].value, tangents = lengths[TANGENTS].value;
    if (tangents != contacts && tangents != 2 * contacts)
        return carom_document_refuse(scene->document, carom_node_find(matrices, "Jt"), error,
                                     "the number of rows is %d, must be %d (planar) or %d (spatial) for the rows of 'Jn'", tangents,
                                     contacts, 2 * contacts);

    // The texts of the numbers keep fractions and decimals exact for laws that compute in rational numbers.
    carom_impact_texts texts = {0};
    const bool few = (int64_t)nv * (nv + contacts + tangents) <= MOST_TEXTS;
    if (few) {
        status = collect_texts(scene, matrices, "M", &texts.mass, error);
        if (!status) status = collect_texts(scene, matrices, "Jn", &texts.normal, error);
        if (!status) status = collect_texts(scene, matrices, "Jt", &texts.tangent, error);
        if (!status) status = collect_texts(scene, matrices, "mu", &texts.friction, error);
        if (!status) status = collect_texts(scene, matrices, "v", &texts.velocity, error);
        if (!status) status = collect_texts(scene, matrices, "restitution", &texts.restitution, error);
        if (status) return status;
    }
    const carom_impact_data data = {.nv = nv,
                                    .contacts = contacts,
                                    .tangent_dim = tangents / contacts,
                                    .mass = fields.mass,
                                    .normal = fields.normal,
                                    .tangent = fields.tangent,
                                    .friction = fields.friction,
                                    .restitution = fields.restitution,
                                    .velocity = fields.velocity,
                                    .names = fields.names,
                                    .velocity_names = fields.velocities};
    carom_error inner;
    status = carom_impact_create_exact(&data, few ? &texts : NULL, &scene->impact, &inner);
    return status ? carom_document_pass_on(scene->document, matrices, &inner, error) : CAROM_OK;
}

static const carom_field MATRICES_KEYS[] = {{"matrices", CAROM_FIELD_MAP, .offset = 0}};

const carom_scene_form carom_scene_form_matrices = {"matrices", CAROM_FIELD_TABLE(MATRICES_KEYS), .read = read_matrices};

// ------------------------------------------------------------------------------------------------------------ delassus

// The Delassus operator W, the contact velocity u before the impact, and mu: here, or in a file.
typedef struct delassus_fields {
    const char *file;
    const double *delassus, *velocity, *friction, *restitution;
    const char **names;
} delassus_fields;

static const carom_field ARRAYS[] = {
    {"mu", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(delassus_fields, friction), .rows = CONTACTS, .least = 0,
     .most = HUGE_VAL},
    {"u", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(delassus_fields, velocity), .rows = SPACE},
    {"W", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(delassus_fields, delassus), .rows = SPACE, .columns = SPACE},
    {"names", CAROM_FIELD_TEXTS, .offset = offsetof(delassus_fields, names), .rows = CONTACTS},
    {"restitution", CAROM_FIELD_VECTOR, .offset = offsetof(delassus_fields, restitution), .rows = CONTACTS, .least = 0, .most = 1},
};

// The same from an FCLIB file, which has neither names nor restitution.
static const carom_field FCLIB[] = {
    {"file", CAROM_FIELD_TEXT, .required = true, .offset = offsetof(delassus_fields, file)},
    {"mu", CAROM_FIELD_REFUSED, .doc = "is read from 'file'"},
    {"u", CAROM_FIELD_REFUSED, .doc = "is read from 'file', where it is called q"},
    {"W", CAROM_FIELD_REFUSED, .doc = "is read from 'file'"},
    {"names", CAROM_FIELD_TEXTS, .offset = offsetof(delassus_fields, names), .rows = CONTACTS},
    {"restitution", CAROM_FIELD_VECTOR, .offset = offsetof(delassus_fields, restitution), .rows = CONTACTS, .least = 0, .most = 1},
};

// Other programs write W with the round-off of their own sums; more asymmetry than that changes the problem that is solved.
#define ROUND_OFF_ASYMMETRY 1e-9

bool carom_asymmetry_describe(int size, const double *W, char text[CAROM_MESSAGE_SIZE]) {
    double largest = 0, asymmetry = 0;
    for (size_t i = 0, n = (size_t)size; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            largest = fmax(largest, fabs(W[i * n + j]));
            asymmetry = fmax(asymmetry, fabs(W[i * n + j] - W[j * n + i]));
        }
    *text = '\0';
    if (!(asymmetry > ROUND_OFF_ASYMMETRY * largest)) return false;
    snprintf(text, CAROM_MESSAGE_SIZE, "is not symmetric (by %.2g of its largest entry): its symmetric part is used", asymmetry / largest);
    return true;
}

// Creates the impact. What is wrong with it is said of `node`, and of W at `matrix`, which is called `subject` there.
static carom_status create_impact(carom_scene *scene, const carom_delassus_data *data, const carom_node *node, const carom_node *matrix,
                                  const char *subject, carom_error *error) {
    char asymmetry[CAROM_MESSAGE_SIZE];
    carom_status status = CAROM_OK;
    if (carom_asymmetry_describe(data->contacts * (1 + data->tangent_dim), data->delassus, asymmetry))
        status = carom_scene_warn(scene, matrix, error, "%s%s", subject, asymmetry);
    if (status) return status;
    carom_error inner;
    status = carom_impact_create_delassus(data, &scene->impact, &inner);
    return status ? carom_document_pass_on(scene->document, node, &inner, error) : CAROM_OK;
}

// u has two entries for each contact in the plane, three in space.
static carom_status read_arrays(carom_scene *scene, const carom_node *delassus, carom_error *error) {
    delassus_fields fields = {0};
    carom_length lengths[LENGTHS] = {
        [CONTACTS] = {.least = 1, .most = CAROM_MAX_CONTACTS},
        [SPACE] = {.least = 1, .most = 3 * CAROM_MAX_CONTACTS},
    };
    const carom_status status = carom_fields_read(scene->document, delassus, CAROM_FIELD_ROWS(ARRAYS), lengths, &fields, error);
    if (status) return status;

    const int contacts = lengths[CONTACTS].value, size = lengths[SPACE].value;
    if (size != 2 * contacts && size != 3 * contacts)
        return carom_document_refuse(
            scene->document, carom_node_find(delassus, "u"), error,
            "the length is %d, must be %d (planar) or %d (spatial): for each entry of 'mu' the normal, then the tangents", size,
            2 * contacts, 3 * contacts);
    const carom_delassus_data data = {.contacts = contacts,
                                      .tangent_dim = size / contacts - 1,
                                      .delassus = fields.delassus,
                                      .velocity = fields.velocity,
                                      .friction = fields.friction,
                                      .restitution = fields.restitution,
                                      .names = fields.names};
    return create_impact(scene, &data, delassus, carom_node_find(delassus, "W"), "", error);
}

// Names and restitution may stand beside the file, and must fit its number of contacts.
static carom_status read_fclib(carom_scene *scene, const carom_node *delassus, carom_digest *digest, carom_error *error) {
    const carom_node *node = carom_node_find(delassus, "file");
    delassus_fields fields = {0};
    carom_length lengths[LENGTHS] = {[CONTACTS] = {.least = 1, .most = CAROM_MAX_CONTACTS}};
    carom_status status = carom_fields_read(scene->document, delassus, CAROM_FIELD_ROWS(FCLIB), lengths, &fields, error);
    if (status) return status;

    // The file's bytes belong to the scene, and so to its digest.
    char *path = carom_scene_join_path(scene, fields.file), *bytes = NULL;
    if (!path) return carom_fail_memory(error, carom_scene_path(scene));
    size_t size = 0;
    carom_error inner;
    carom_fclib_problem problem = {0};
    status = carom_file_read(path, CAROM_MAX_FILE_SIZE, &bytes, &size, &inner);
    if (!status) {
        carom_digest_add_bytes(digest, bytes, size);
        status = carom_contact_file_parse(path, bytes, size, &problem, &inner);
    }
    free(bytes);
    free(path);
    if (status) return carom_document_pass_on(scene->document, node, &inner, error);

    const carom_length *contacts = &lengths[CONTACTS];
    if (contacts->value && contacts->value != problem.contacts) {
        status = carom_document_refuse(scene->document, carom_node_find(delassus, contacts->origin), error,
                                       "the length is %d, must be %d, the number of contacts in 'file'", contacts->value, problem.contacts);
    } else {
        const carom_delassus_data data = {.contacts = problem.contacts,
                                          .tangent_dim = problem.tangent_dim,
                                          .delassus = problem.delassus,
                                          .velocity = problem.velocity,
                                          .friction = problem.friction,
                                          .restitution = fields.restitution,
                                          .names = fields.names};
        status = create_impact(scene, &data, node, node, "W ", error);
    }
    carom_fclib_problem_release(&problem);
    return status;
}

// With the key `file` the arrays come from there.
static carom_status read_delassus(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    const carom_node *delassus = carom_node_find(root, "delassus");
    return carom_node_find(delassus, "file") ? read_fclib(scene, delassus, digest, error) : read_arrays(scene, delassus, error);
}

static const carom_field DELASSUS_KEYS[] = {{"delassus", CAROM_FIELD_MAP, .offset = 0}};

const carom_scene_form carom_scene_form_delassus = {"delassus", CAROM_FIELD_TABLE(DELASSUS_KEYS), .read = read_delassus};
