// SPDX-License-Identifier: Apache-2.0
// Files of measured impacts: {impacts: [{M, Jn, Jt, vm, vp, ...}]} as YAML or JSON, or the same in HDF5.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/fclib/file.h"
#include "io/measurements/measurements.h"

enum { VELOCITIES, CONTACTS, TANGENTS, BOTH, LENGTHS };

// Some keys have two names, a long one and that of the field.
typedef struct impact_fields {
    const double *mass, *normal, *tangent, *attitude;
    const double *vm, *vp, *v_minus, *v_plus, *cov, *covariance;
    const carom_node *friction, *restitution, *inertia;
    const char *kind, *toss, *group;
    double body_mass;
} impact_fields;

// The velocities come first: they set the length that the others must fit.
static const carom_field IMPACT[] = {
    {"vm", CAROM_FIELD_VECTOR, .offset = offsetof(impact_fields, vm), .rows = VELOCITIES},
    {"v_minus", CAROM_FIELD_VECTOR, .offset = offsetof(impact_fields, v_minus), .rows = VELOCITIES},
    {"vp", CAROM_FIELD_VECTOR, .offset = offsetof(impact_fields, vp), .rows = VELOCITIES},
    {"v_plus", CAROM_FIELD_VECTOR, .offset = offsetof(impact_fields, v_plus), .rows = VELOCITIES},
    {"Jn", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(impact_fields, normal), .rows = CONTACTS, .columns = VELOCITIES},
    {"Jt", CAROM_FIELD_MATRIX, .offset = offsetof(impact_fields, tangent), .rows = TANGENTS, .columns = VELOCITIES},
    {"M", CAROM_FIELD_MATRIX, .offset = offsetof(impact_fields, mass), .rows = VELOCITIES, .columns = VELOCITIES},
    {"mu", CAROM_FIELD_NODE, .offset = offsetof(impact_fields, friction)},
    {"restitution", CAROM_FIELD_NODE, .offset = offsetof(impact_fields, restitution)},
    {"R", CAROM_FIELD_MATRIX, .offset = offsetof(impact_fields, attitude), .rows = CAROM_EXACTLY(3), .columns = CAROM_EXACTLY(3)},
    {"mass", CAROM_FIELD_NUMBER, .offset = offsetof(impact_fields, body_mass), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"inertia_body", CAROM_FIELD_NODE, .offset = offsetof(impact_fields, inertia)},
    {"kind", CAROM_FIELD_TEXT, .offset = offsetof(impact_fields, kind)},
    {"toss", CAROM_FIELD_TEXT, .offset = offsetof(impact_fields, toss)},
    {"group", CAROM_FIELD_TEXT, .offset = offsetof(impact_fields, group)},
};

static const carom_field COVARIANCE[] = {
    {"cov", CAROM_FIELD_MATRIX, .offset = offsetof(impact_fields, cov), .rows = BOTH, .columns = BOTH},
    {"covariance", CAROM_FIELD_MATRIX, .offset = offsetof(impact_fields, covariance), .rows = BOTH, .columns = BOTH},
};

// One number for all, or one for each of `count`.
static carom_status read_each(carom_document *document, const carom_node *node, int count, double least, double most, const double **values,
                              carom_error *error) {
    *values = NULL;
    if (!node) return CAROM_OK;
    if (node->kind == CAROM_NODE_LIST) {
        const carom_field field[] = {
            {node->key, CAROM_FIELD_VECTOR, .offset = 0, .rows = CAROM_EXACTLY(count), .least = least, .most = most}};
        return carom_fields_take(document, node->parent, field, 1, NULL, values, error);
    }
    const carom_field field[] = {{node->key, CAROM_FIELD_NUMBER, .offset = 0, .least = least, .most = most}};
    double one;
    const carom_status status = carom_fields_take(document, node->parent, field, 1, NULL, &one, error);
    double *numbers = carom_document_allocate(document, (size_t)count * sizeof *numbers);
    if (!status && !numbers) return carom_fail_memory(error, carom_document_path(document));
    for (int i = 0; !status && i < count; i++) numbers[i] = one;
    *values = numbers;
    return status;
}

carom_status measured_refuse_both(const carom_document *document, const carom_node *node, const void *first, const void *second,
                                  const char *names, carom_error *error) {
    if (!first || !second) return CAROM_OK;
    return carom_document_refuse(document, node, error, "only one of the keys %s is allowed", names);
}

carom_status measured_choose(const carom_document *document, const carom_node *node, const double *first, const double *second,
                             const char *names, const double **value, carom_error *error) {
    *value = first ? first : second;
    const carom_status status = measured_refuse_both(document, node, first, second, names, error);
    if (status) return status;
    return *value ? CAROM_OK : carom_document_refuse(document, node, error, "one of the keys %s is needed", names);
}

// An impact, with the defaults of the file.
static carom_status read_impact(carom_document *document, const carom_node *node, const impact_fields *defaults, measured_file *file,
                                carom_error *error) {
    impact_fields fields = *defaults;
    carom_length lengths[LENGTHS] = {
        [VELOCITIES] = {.least = 1, .most = CAROM_MAX_VELOCITIES},
        [CONTACTS] = {.least = 1, .most = CAROM_MAX_CONTACTS},
        [TANGENTS] = {.least = 1, .most = 2 * CAROM_MAX_CONTACTS},
    };
    if (node->kind != CAROM_NODE_MAP) return carom_document_refuse(document, node, error, "must be a map with the keys of an impact");
    carom_status status = carom_fields_take(document, node, CAROM_FIELD_ROWS(IMPACT), lengths, &fields, error);
    if (status) return status;
    const int nv = lengths[VELOCITIES].value, contacts = lengths[CONTACTS].value;
    // Both velocities, one after the other.
    lengths[BOTH] = (carom_length){.least = 2 * nv, .most = 2 * nv, .value = 2 * nv, .origin = "vm and vp"};
    measured_numbers numbers = {.nv = nv,
                                .contacts = contacts,
                                .tangents = lengths[TANGENTS].value,
                                .mass = fields.mass,
                                .normal = fields.normal,
                                .tangent = fields.tangent,
                                .attitude = fields.attitude,
                                .body_mass = fields.body_mass,
                                .kind = fields.kind,
                                .group = fields.group ? fields.group : fields.toss};
    status = measured_choose(document, node, fields.vm, fields.v_minus, "'vm' and 'v_minus'", &numbers.before, error);
    if (!status) status = measured_choose(document, node, fields.vp, fields.v_plus, "'vp' and 'v_plus'", &numbers.after, error);
    if (!status) status = carom_fields_take(document, node, CAROM_FIELD_ROWS(COVARIANCE), lengths, &fields, error);
    if (!status) status = measured_refuse_both(document, node, fields.cov, fields.covariance, "'cov' and 'covariance'", error);
    if (!status) status = measured_refuse_both(document, node, fields.group, fields.toss, "'group' and 'toss'", error);
    numbers.covariance = fields.cov ? fields.cov : fields.covariance;
    if (!status) status = read_each(document, fields.friction, contacts, 0, HUGE_VAL, &numbers.friction, error);
    if (!status) status = read_each(document, fields.restitution, contacts, 0, 1, &numbers.restitution, error);
    if (!status) status = read_each(document, fields.inertia, 3, CAROM_POSITIVE, HUGE_VAL, &numbers.inertia, error);
    carom_error inner;
    if (!status && (status = measured_file_add(file, &numbers, &inner))) carom_document_pass_on(document, node, &inner, error);
    return status;
}

static carom_status read_document(carom_document *document, measured_file *file, const carom_measurements_options *options,
                                  carom_measurements *into, carom_error *error) {
    const carom_node *root = carom_document_root(document);
    const carom_node *impacts = root->kind == CAROM_NODE_MAP ? carom_node_find(root, "impacts") : NULL;
    if (!impacts)
        return carom_document_refuse(document, root, error,
                                     "the key 'impacts' is missing: a list of measured impacts; a table (CSV) needs its model");
    if (impacts->kind != CAROM_NODE_LIST || !impacts->count)
        return carom_document_refuse(document, impacts, error, "must be a list of one impact or more");
    // Keys at the top are defaults for every impact.
    impact_fields defaults = {.body_mass = NAN,
                              .friction = carom_node_find(root, "mu"),
                              .restitution = carom_node_find(root, "restitution"),
                              .inertia = carom_node_find(root, "inertia_body")};
    static const carom_field mass[] = {{"mass", CAROM_FIELD_NUMBER, .offset = 0, .least = CAROM_POSITIVE, .most = HUGE_VAL}};
    carom_status status = carom_fields_take(document, root, mass, 1, NULL, &defaults.body_mass, error);
    if (!status) status = measured_file_begin(file, options, impacts->count, into, error);
    const bool modelled = carom_node_find(root, "model") != NULL;
    if (!status && modelled) status = measured_read_model(document, impacts, file, error);
    for (const carom_node *entry = impacts->first; entry && !status && !modelled; entry = entry->next)
        status = read_impact(document, entry, &defaults, file, error);
    carom_error inner;
    if (!status && (status = measured_file_end(file, &inner))) carom_document_pass_on(document, root, &inner, error);
    return status;
}

carom_status carom_measurements_read(const char *path, const carom_measurements_options *options, carom_measurements *measurements,
                                     carom_error *error) {
    *measurements = (carom_measurements){0};
    char *bytes = NULL;
    size_t size = 0;
    carom_document *document = NULL;
    measured_file file;
    carom_status status = carom_file_read(path, CAROM_MAX_FILE_SIZE, &bytes, &size, error);
    char hash[CAROM_DIGEST_TEXT_SIZE] = "";
    carom_digest *digest = NULL;
    if (!status) status = carom_digest_create(&digest, error);
    if (!status) {
        carom_digest_add_bytes(digest, bytes, size);
        carom_digest_finish(digest, hash);
    }
    carom_digest_free(digest);
    // Names of files say nothing: the first bytes do. A table comes with its model.
    const bool csv = options->model != NULL, hdf5 = !status && !csv && carom_fclib_is_hdf5(bytes, size);
    if (!status && !hdf5 && !csv) status = carom_document_parse(path, bytes, size, &document, error);
    if (!status && !hdf5 && !csv) status = read_document(document, &file, options, measurements, error);
    if (!status && hdf5) status = carom_measurements_read_hdf5(path, size, &file, options, measurements, error);
    if (!status && csv) status = carom_measurements_read_csv(path, bytes, size, &file, options, measurements, error);
    if (!status) memcpy(measurements->hash, hash, sizeof hash);
    carom_document_free(document);
    free(bytes);
    if (status) carom_measurements_free(measurements);
    return status;
}
