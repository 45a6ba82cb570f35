// SPDX-License-Identifier: Apache-2.0
// The validated, immutable impact and its derived operators.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "impact/impact_internal.h"

// Entries of M that differ more than this share of the largest one are a mistake, not round-off.
#define MASS_ASYMMETRY 1e-9
// Delassus operators of published contact problems are asymmetric by up to 9e-3 of their largest entry.
#define DELASSUS_ASYMMETRY 1e-2
// Eigenvalues of W below this share of the largest one are round-off of a rank-deficient operator.
#define NEGLIGIBLE_EIGENVALUE 1e-12

// Inverse masses and velocities between its reciprocal and this are supported.
#define LARGEST_MAGNITUDE 1e100

enum { DEFAULT_NAME_SIZE = 16 };

// Everything is set when the impact is created, and never changes.
struct carom_impact {
    carom_arena arena;                // of all arrays
    carom_impact_data data;           // points to copies
    carom_contact_geometry geometry;  // what data.geometry points to, if anything
    carom_impact_texts texts;
    int contact_size;      // n = contacts (1 + tangent_dim)
    double *jacobian;      // J [n x nv], contact-major; NULL in contact space
    double *response;      // rows M^-1 J_c' [n x nv]
    double *half;          // rows L^-1 J_c' [n x nv]; NULL in contact space
    double *delassus;      // W [n x n]
    double *eigenvalues;   // of W, in contact space only
    double *eigenvectors;  // rows
    double velocity_scale, initial_energy;
};

// ---------------------------------------------------------------------------------------------------------- validation

static carom_status check_sizes(int nv, int contacts, int tangent_dim, carom_error *error) {
    if (nv < 1 || nv > CAROM_MAX_VELOCITIES)
        return carom_fail(error, CAROM_BAD_INPUT, "%d velocities: 1 to %d are supported", nv, CAROM_MAX_VELOCITIES);
    if (contacts < 1 || contacts > CAROM_MAX_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT, "%d contacts: 1 to %d are supported", contacts, CAROM_MAX_CONTACTS);
    if (tangent_dim != 1 && tangent_dim != 2)
        return carom_fail(error, CAROM_BAD_INPUT, "tangent_dim is %d: 1 (planar) and 2 (spatial) are supported", tangent_dim);
    return CAROM_OK;
}

// Names the first entry that is not a finite number.
static carom_status check_finite(const char *name, int rows, int columns, const double *A, carom_error *error) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            if (isfinite(A[(size_t)i * (size_t)columns + (size_t)j])) continue;
            if (columns == 1) return carom_fail(error, CAROM_BAD_INPUT, "%s[%d] is not a finite number", name, i);
            return carom_fail(error, CAROM_BAD_INPUT, "%s[%d][%d] is not a finite number", name, i, j);
        }
    return CAROM_OK;
}

// Asymmetry is measured by the largest entry.
static carom_status check_symmetric(const char *name, int n, const double *A, double tolerance, carom_error *error) {
    const size_t size = (size_t)n;
    const double scale = carom_max_abs(size * size, A);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(A[i * size + j] - A[j * size + i]) > tolerance * scale)
                return carom_fail(error, CAROM_BAD_INPUT, "%s is not symmetric: %s[%zu][%zu] is %.9g, %s[%zu][%zu] is %.9g", name, name, i,
                                  j, A[i * size + j], name, j, i, A[j * size + i]);
    return CAROM_OK;
}

// Names become parts of file names, and of orders and lists with commas between them.
static carom_status check_names(const char *what, int count, const char *const *names, carom_error *error) {
    for (int i = 0; names && i < count; i++) {
        if (!names[i] || !*names[i]) return carom_fail(error, CAROM_BAD_INPUT, "%s[%d] is empty", what, i);
        if (strlen(names[i]) > CAROM_MAX_NAME)
            return carom_fail(error, CAROM_BAD_INPUT, "%s[%d] has %zu bytes: at most %d are supported", what, i, strlen(names[i]),
                              CAROM_MAX_NAME);
        if (strpbrk(names[i], ","))
            return carom_fail(error, CAROM_BAD_INPUT, "%s[%d] contains a comma, which separates names in a list", what, i);
        for (int j = 0; j < i; j++)
            if (!strcmp(names[i], names[j]))
                return carom_fail(error, CAROM_BAD_INPUT, "%s[%d] and %s[%d] are both '%.60s'", what, j, what, i, names[i]);
    }
    return CAROM_OK;
}

// Jt.A.2 is the second tangent of contact A, and must not be the tangent of a contact A.2 as well; the same with Jt.A.1.
static carom_status check_tangents(int count, int tangent_dim, const char *const *names, carom_error *error) {
    for (int i = 0; names && i < count; i++) {
        const char *dot = strrchr(names[i], '.');
        const int number = dot && dot[1] && !dot[2] ? dot[1] - '0' : 0;
        if (number < 1 || number > tangent_dim) continue;
        for (int j = 0; j < count; j++)
            if (strlen(names[j]) == (size_t)(dot - names[i]) && !strncmp(names[i], names[j], (size_t)(dot - names[i])))
                return carom_fail(error, CAROM_BAD_INPUT, "names[%d] is '%.60s', and tangent %d of contact '%.60s' is called so, too", i,
                                  names[i], number, names[j]);
    }
    return CAROM_OK;
}

// Friction, restitution and names, each of which may be NULL.
static carom_status check_contacts(int contacts, int tangent_dim, const double *friction, const double *restitution,
                                   const char *const *names, carom_error *error) {
    for (int i = 0; i < contacts; i++) {
        if (friction && (!isfinite(friction[i]) || friction[i] < 0))
            return carom_fail(error, CAROM_BAD_INPUT, "mu[%d] is %g: a friction coefficient is a finite number >= 0", i, friction[i]);
        if (restitution && !(restitution[i] >= 0 && restitution[i] <= 1))
            return carom_fail(error, CAROM_BAD_INPUT, "restitution[%d] is %g: it is between 0 and 1", i, restitution[i]);
    }
    const carom_status status = check_names("names", contacts, names, error);
    return status ? status : check_tangents(contacts, tangent_dim, names, error);
}

// Rows of three numbers are finite, or three times NaN for a contact that has none.
static carom_status check_places(const char *what, int rows, const double *places, carom_error *error) {
    if (!places) return carom_fail(error, CAROM_BAD_INPUT, "geometry: %s are missing", what);
    for (int i = 0; i < rows; i++) {
        const double *row = places + 3 * (size_t)i;
        if (isnan(row[0]) && isnan(row[1]) && isnan(row[2])) continue;
        if (!carom_all_finite(3, row)) return carom_fail(error, CAROM_BAD_INPUT, "geometry: %s[%d] is not finite", what, i);
    }
    return CAROM_OK;
}

static carom_status check_geometry(const carom_impact_data *data, carom_error *error) {
    const carom_contact_geometry *geometry = data->geometry;
    if (!geometry) return CAROM_OK;
    carom_status status = check_places("points", data->contacts, geometry->points, error);
    if (!status) status = check_places("normals", data->contacts, geometry->normals, error);
    if (!status) status = check_places("tangents", data->contacts * data->tangent_dim, geometry->tangents, error);
    if (!status && (geometry->nq < 0 || geometry->nq > 2 * CAROM_MAX_VELOCITIES || (geometry->nq > 0 && !geometry->qpos)))
        status =
            carom_fail(error, CAROM_BAD_INPUT, "geometry: %d positions: 0 to %d are supported", geometry->nq, 2 * CAROM_MAX_VELOCITIES);
    return status ? status : check_finite("qpos", geometry->nq, 1, geometry->qpos, error);
}

// Every rule about an impact with a mass matrix; positive definiteness shows when M is factored.
static carom_status check_data(const carom_impact_data *data, carom_error *error) {
    const int nv = data->nv, contacts = data->contacts;
    if (!data->mass || !data->normal || !data->velocity)
        return carom_fail(error, CAROM_BAD_INPUT, "mass, normal and velocity are needed: one of them is NULL");
    carom_status status = check_sizes(nv, contacts, data->tangent_dim, error);
    if (!status) status = check_finite("M", nv, nv, data->mass, error);
    if (!status) status = check_finite("Jn", contacts, nv, data->normal, error);
    if (!status && data->tangent) status = check_finite("Jt", contacts * data->tangent_dim, nv, data->tangent, error);
    if (!status) status = check_finite("v", nv, 1, data->velocity, error);
    if (!status) status = check_symmetric("M", nv, data->mass, MASS_ASYMMETRY, error);
    for (int i = 0; i < contacts && !status; i++)
        if (carom_max_abs((size_t)nv, data->normal + (size_t)i * (size_t)nv) == 0)
            status = carom_fail(error, CAROM_BAD_INPUT, "Jn[%d] is zero: a contact needs a normal that some velocity moves along", i);
    if (!status) status = check_contacts(contacts, data->tangent_dim, data->friction, data->restitution, data->names, error);
    if (!status) status = check_names("velocities", nv, data->velocity_names, error);
    return status ? status : check_geometry(data, error);
}

// The same rules in contact space. W may be singular, but every contact must have an inverse mass.
static carom_status check_delassus(const carom_delassus_data *data, carom_error *error) {
    if (!data->delassus || !data->velocity)
        return carom_fail(error, CAROM_BAD_INPUT, "delassus and velocity are needed: one of them is NULL");
    carom_status status = check_sizes(1, data->contacts, data->tangent_dim, error);
    if (status) return status;
    const int stride = 1 + data->tangent_dim, n = data->contacts * stride;
    status = check_finite("W", n, n, data->delassus, error);
    if (!status) status = check_finite("u", n, 1, data->velocity, error);
    if (!status) status = check_symmetric("W", n, data->delassus, DELASSUS_ASYMMETRY, error);
    if (!status) status = check_contacts(data->contacts, data->tangent_dim, data->friction, data->restitution, data->names, error);
    for (int i = 0; !status && i < n; i += stride)
        if (!(data->delassus[(size_t)i * (size_t)n + (size_t)i] > 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "W[%d][%d] is not positive: it is the inverse mass along the normal of contact %d",
                                i, i, i / stride);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- storage

// A copy whose zeros are all +0, so that the bits of results do not depend on how a zero was written. Zeros where there are no values.
static double *copy_reals(carom_arena *arena, const double *values, size_t count) {
    double *copy = carom_arena_take(arena, count, sizeof *copy);
    for (size_t i = 0; copy && values && i < count; i++) copy[i] = values[i] + 0.0;
    return copy;
}

// NULL where there are no texts; entries may be NULL.
static const char *const *copy_texts(carom_arena *arena, size_t count, const char *const *texts) {
    if (!texts) return NULL;
    // One block for the pointers, one for the characters.
    size_t size = 0;
    for (size_t i = 0; i < count; i++) size += texts[i] ? strlen(texts[i]) + 1 : 0;
    const char **copies = carom_arena_take(arena, count, sizeof *copies);
    char *next = carom_arena_take(arena, size + 1, 1);
    for (size_t i = 0; i < count && !arena->failed; i++) {
        copies[i] = texts[i] ? next : NULL;
        if (texts[i]) next = stpcpy(next, texts[i]) + 1;
    }
    return copies;
}

// The names of velocities and the places of contacts, which no operator needs.
static void copy_description(carom_impact *impact, const carom_impact_data *given) {
    carom_arena *arena = &impact->arena;
    const size_t nv = (size_t)given->nv, m = (size_t)given->contacts, tangents = m * (size_t)given->tangent_dim;
    impact->data.velocity_names = copy_texts(arena, nv, given->velocity_names);
    bool *turns = given->velocity_turns ? carom_arena_take(arena, nv, sizeof *turns) : NULL;
    if (turns) memcpy(turns, given->velocity_turns, nv * sizeof *turns);
    impact->data.velocity_turns = turns;
    const carom_contact_geometry *from = given->geometry;
    if (!from) return;
    impact->geometry = (carom_contact_geometry){.points = copy_reals(arena, from->points, 3 * m),
                                                .normals = copy_reals(arena, from->normals, 3 * m),
                                                .tangents = copy_reals(arena, from->tangents, 3 * tangents),
                                                .bodies = copy_texts(arena, 2 * m, from->bodies),
                                                .geoms = copy_texts(arena, 2 * m, from->geoms),
                                                .gaps = from->gaps ? copy_reals(arena, from->gaps, m) : NULL,
                                                .nq = from->nq,
                                                .qpos = copy_reals(arena, from->qpos, (size_t)from->nq)};
    int *joints = from->joints ? carom_arena_take(arena, m, sizeof *joints) : NULL;
    if (joints) memcpy(joints, from->joints, m * sizeof *joints);
    impact->geometry.joints = joints;
    impact->data.geometry = &impact->geometry;
}

void carom_impact_free(carom_impact *impact) {
    if (!impact) return;
    carom_arena_free(&impact->arena);
    free(impact);
}

// An impact with what both kinds have: sizes, velocity, friction, restitution and names, copied from `given`, and room for W and the
// response.
static carom_impact *allocate_impact(const carom_impact_data *given) {
    carom_impact *impact = calloc(1, sizeof *impact);
    if (!impact) return NULL;
    carom_arena *arena = &impact->arena;
    const size_t nv = (size_t)given->nv, m = (size_t)given->contacts, n = m * (size_t)(1 + given->tangent_dim);
    impact->contact_size = (int)n;
    impact->data = (carom_impact_data){.nv = given->nv, .contacts = given->contacts, .tangent_dim = given->tangent_dim};
    impact->data.velocity = copy_reals(arena, given->velocity, nv);
    impact->data.friction = copy_reals(arena, given->friction, m);
    impact->data.restitution = copy_reals(arena, given->restitution, m);
    // Contacts without names are called A to Z, then C27, C28, ...
    const char **names = carom_arena_take(arena, m, sizeof *names);
    for (size_t i = 0; i < m && names; i++) {
        char standard[DEFAULT_NAME_SIZE];
        if (i < 26)
            snprintf(standard, sizeof standard, "%c", (char)('A' + i));
        else
            snprintf(standard, sizeof standard, "C%d", (int)i + 1);
        const char *name = given->names ? given->names[i] : standard;
        char *copy = carom_arena_take(arena, strlen(name) + 1, 1);
        names[i] = copy ? strcpy(copy, name) : NULL;
    }
    impact->data.names = names;
    impact->delassus = carom_arena_take(arena, n * n, sizeof *impact->delassus);
    impact->response = carom_arena_take(arena, n * nv, sizeof *impact->response);
    return impact;
}

// ---------------------------------------------------------------------------------------------------------- operators

// A = (A + A') / 2: the asymmetry that the tolerance let pass must not matter later.
static void symmetrise(int n, double *A) {
    const size_t size = (size_t)n;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++) A[i * size + j] = A[j * size + i] = 0.5 * (A[i * size + j] + A[j * size + i]);
}

// With M = L L': X = L^-1 J', W = X'X (symmetric to the bit), M^-1 J' = L^-T X.
static carom_status derive_operators(carom_impact *impact, carom_error *error) {
    const int nv = impact->data.nv, n = impact->contact_size;
    carom_arena scratch = {0};
    double *factor = copy_reals(&scratch, impact->data.mass, (size_t)nv * (size_t)nv);
    double *weak = carom_arena_take(&scratch, (size_t)nv, sizeof *weak);
    impact->half = copy_reals(&impact->arena, impact->jacobian, (size_t)n * (size_t)nv);
    if (scratch.failed || !impact->half) {
        carom_arena_free(&scratch);
        return carom_fail_memory(error, "impact");
    }
    const int minor = carom_cholesky_factor(nv, factor);
    double share;
    const bool sound = !minor && carom_mass_find_weak(nv, impact->data.mass, factor, 0, carom_mass_certain_share(nv), weak, &share) < 0;
    if (sound) {
        for (int c = 0; c < n; c++) carom_cholesky_forward(nv, factor, impact->half + (size_t)c * (size_t)nv);
        carom_gram(n, nv, impact->half, impact->delassus);
        memcpy(impact->response, impact->half, (size_t)n * (size_t)nv * sizeof(double));
        for (int c = 0; c < n; c++) carom_cholesky_backward(nv, factor, impact->response + (size_t)c * (size_t)nv);
    }
    carom_arena_free(&scratch);
    if (!sound) {
        const carom_status status = carom_mass_check(nv, impact->data.mass, impact->data.velocity_names, error);
        // BLAS and a fixed order of sums may differ at the limit.
        return status ? status : carom_fail(error, CAROM_BAD_INPUT, "M is not positive definite, up to round-off");
    }
    if (!carom_all_finite((size_t)n * (size_t)n, impact->delassus) || !carom_all_finite((size_t)n * (size_t)nv, impact->response))
        return carom_fail(error, CAROM_BAD_INPUT, "J M^-1 J' overflows: M, Jn and Jt differ too much in magnitude");
    return CAROM_OK;
}

// Squares and products of such numbers neither overflow nor vanish.
static bool is_moderate(double size) { return size == 0 || (size > 1 / LARGEST_MAGNITUDE && size < LARGEST_MAGNITUDE); }

// Measures the velocity and checks magnitudes: that of the velocities, and every contact's inverse mass along its normal.
static carom_status measure_velocity(carom_impact *impact, carom_error *error) {
    const size_t n = (size_t)impact->contact_size, stride = 1 + (size_t)impact->data.tangent_dim;
    // The scale is the largest contact velocity, over normals and tangents.
    double *u = malloc(n * sizeof *u);
    if (!u) return carom_fail_memory(error, "impact");
    carom_impact_contact_velocity(impact, impact->data.velocity, u);
    const bool finite = carom_all_finite(n, u);
    impact->velocity_scale = carom_max_abs(n, u);
    free(u);
    impact->initial_energy = carom_impact_kinetic_energy(impact, impact->data.velocity);
    if (!finite || !(impact->initial_energy < LARGEST_MAGNITUDE * LARGEST_MAGNITUDE))
        return carom_fail(
            error, CAROM_BAD_INPUT,
            "the contact velocities or the kinetic energy of v overflow, or are out of range (energies up to %g J): choose other "
            "units",
            LARGEST_MAGNITUDE * LARGEST_MAGNITUDE);
    // Squares of these numbers stand in energies and in pivots: out of this range another unit is the remedy.
    if (!is_moderate(impact->velocity_scale))
        return carom_fail(error, CAROM_BAD_INPUT, "contact velocities of %g m/s are out of range (1e-100 to 1e100): choose other units",
                          impact->velocity_scale);
    for (size_t c = 0; c < n; c += stride)
        if (!is_moderate(impact->delassus[c * n + c]))
            return carom_fail(error, CAROM_BAD_INPUT,
                              "contact %s has the inverse mass %g 1/kg, out of range (1e-100 to 1e100): choose other units",
                              impact->data.names[c / stride], impact->delassus[c * n + c]);
    return CAROM_OK;
}

// Hands a finished impact over, or frees it.
static carom_status finish_impact(carom_status status, carom_impact *made, carom_impact **impact, carom_error *error) {
    if (!status) status = measure_velocity(made, error);
    if (status)
        carom_impact_free(made);
    else
        *impact = made;
    return status;
}

carom_status carom_impact_create_exact(const carom_impact_data *data, const carom_impact_texts *texts, carom_impact **impact,
                                       carom_error *error) {
    *impact = NULL;
    carom_status status = check_data(data, error);
    if (status) return status;
    carom_impact *made = allocate_impact(data);
    if (!made) return carom_fail_memory(error, "impact");
    const size_t nv = (size_t)data->nv, m = (size_t)data->contacts, dim = (size_t)data->tangent_dim;
    carom_arena *arena = &made->arena;
    double *mass = copy_reals(arena, data->mass, nv * nv);
    made->data.mass = mass;
    made->data.normal = copy_reals(arena, data->normal, m * nv);
    made->data.tangent = copy_reals(arena, data->tangent, m * dim * nv);
    made->jacobian = carom_arena_take(arena, (size_t)made->contact_size * nv, sizeof *made->jacobian);
    copy_description(made, data);
    if (texts)
        made->texts = (carom_impact_texts){.mass = copy_texts(arena, nv * nv, texts->mass),
                                           .normal = copy_texts(arena, m * nv, texts->normal),
                                           .tangent = copy_texts(arena, m * dim * nv, texts->tangent),
                                           .friction = copy_texts(arena, m, texts->friction),
                                           .velocity = copy_texts(arena, nv, texts->velocity),
                                           .restitution = copy_texts(arena, m, texts->restitution)};
    if (arena->failed) {
        status = carom_fail_memory(error, "impact");
    } else {
        symmetrise(data->nv, mass);
        // J has the rows of a contact together: normal, then tangents.
        for (size_t i = 0; i < m; i++) {
            double *rows = made->jacobian + i * (1 + dim) * nv;
            memcpy(rows, made->data.normal + i * nv, nv * sizeof *rows);
            memcpy(rows + nv, made->data.tangent + i * dim * nv, dim * nv * sizeof *rows);
        }
        status = derive_operators(made, error);
    }
    return finish_impact(status, made, impact, error);
}

carom_status carom_impact_create(const carom_impact_data *data, carom_impact **impact, carom_error *error) {
    return carom_impact_create_exact(data, NULL, impact, error);
}

carom_status carom_impact_create_delassus(const carom_delassus_data *data, carom_impact **impact, carom_error *error) {
    *impact = NULL;
    carom_status status = check_delassus(data, error);
    if (status) return status;
    const int n = data->contacts * (1 + data->tangent_dim);
    const size_t entries = (size_t)n * (size_t)n;
    carom_impact *made = allocate_impact(&(carom_impact_data){.nv = n,
                                                              .contacts = data->contacts,
                                                              .tangent_dim = data->tangent_dim,
                                                              .velocity = data->velocity,
                                                              .friction = data->friction,
                                                              .restitution = data->restitution,
                                                              .names = data->names});
    if (!made) return carom_fail_memory(error, "impact");
    made->eigenvectors = carom_arena_take(&made->arena, entries, sizeof(double));
    made->eigenvalues = carom_arena_take(&made->arena, (size_t)n, sizeof(double));
    if (made->arena.failed) return finish_impact(carom_fail_memory(error, "impact"), made, impact, error);
    for (size_t i = 0; i < entries; i++) made->delassus[i] = data->delassus[i] + 0.0;
    symmetrise(n, made->delassus);
    memcpy(made->response, made->delassus, entries * sizeof(double));
    // The eigenvalues of W say whether it is positive semidefinite, and give the energy u'W^+u/2.
    memcpy(made->eigenvectors, made->delassus, entries * sizeof(double));
    status = carom_symmetric_eigen(n, made->eigenvectors, made->eigenvalues, error);
    if (!status && made->eigenvalues[0] < -DELASSUS_ASYMMETRY * made->eigenvalues[n - 1])
        status = carom_fail(error, CAROM_BAD_INPUT, "W is not positive semidefinite: it has the eigenvalue %.6g", made->eigenvalues[0]);
    return finish_impact(status, made, impact, error);
}

// ------------------------------------------------------------------------------------------------------------- getters

const carom_impact_data *carom_impact_get_data(const carom_impact *impact) { return &impact->data; }
const carom_impact_texts *carom_impact_get_texts(const carom_impact *impact) { return &impact->texts; }
// In contact space there are no generalised velocities: no M, and no J.
carom_status carom_impact_digest(const carom_impact *impact, char text[CAROM_DIGEST_TEXT_SIZE], carom_error *error) {
    carom_digest *digest;
    const carom_status status = carom_digest_create(&digest, error);
    if (status) return status;
    // W stands for M and the Jacobians of an impact in contact space.
    const carom_impact_data *data = &impact->data;
    const size_t nv = (size_t)data->nv, m = (size_t)data->contacts, n = (size_t)impact->contact_size;
    if (data->mass) {
        carom_digest_add_doubles(digest, data->mass, nv * nv);
        carom_digest_add_doubles(digest, data->normal, m * nv);
        carom_digest_add_doubles(digest, data->tangent, (n - m) * nv);
    } else {
        carom_digest_add_doubles(digest, carom_impact_delassus(impact), n * n);
    }
    carom_digest_add_doubles(digest, data->friction, m);
    carom_digest_add_doubles(digest, data->restitution, m);
    carom_digest_add_doubles(digest, data->velocity, nv);
    carom_digest_finish(digest, text);
    carom_digest_free(digest);
    return CAROM_OK;
}

bool carom_impact_has_system(const carom_impact *impact) { return impact->data.mass; }
int carom_impact_contact_size(const carom_impact *impact) { return impact->contact_size; }
const double *carom_impact_delassus(const carom_impact *impact) { return impact->delassus; }
const double *carom_impact_response(const carom_impact *impact) { return impact->response; }
const double *carom_impact_half_response(const carom_impact *impact) { return impact->half; }
double carom_impact_velocity_scale(const carom_impact *impact) { return impact->velocity_scale; }
double carom_impact_initial_energy(const carom_impact *impact) { return impact->initial_energy; }

// What the widths of columns refer to.
carom_sizes carom_impact_sizes(const carom_impact *impact) {
    const int nv = impact->data.nv;
    return (carom_sizes){nv, impact->data.contacts, impact->data.contacts * impact->data.tangent_dim, nv};
}

int carom_impact_find_contact(const carom_impact *impact, const char *name) {
    for (int i = 0; i < impact->data.contacts; i++)
        if (!strcmp(impact->data.names[i], name)) return i;
    return -1;
}

const char *carom_impact_suggest_contact(const carom_impact *impact, const char *name, char text[CAROM_SUGGESTION_SIZE]) {
    return carom_suggest(name, impact->data.names, impact->data.contacts, text);
}

// u = J v; in contact space v is u.
void carom_impact_contact_velocity(const carom_impact *impact, const double *v, double *u) {
    if (impact->jacobian)
        carom_multiply(impact->contact_size, impact->data.nv, impact->jacobian, v, u);
    else
        memcpy(u, v, (size_t)impact->contact_size * sizeof *u);
}

// v + sum_c impulse_c M^-1 J_c', direction by direction.
void carom_impact_apply(const carom_impact *impact, const double *v, const double *impulse, double *v_next) {
    const size_t nv = (size_t)impact->data.nv;
    if (v_next != v) memcpy(v_next, v, nv * sizeof *v);
    for (size_t c = 0; c < (size_t)impact->contact_size; c++)
        for (size_t k = 0; k < nv; k++) v_next[k] += impulse[c] * impact->response[c * nv + k];
}

double carom_impact_kinetic_energy(const carom_impact *impact, const double *v) {
    double twice = 0;
    if (impact->data.mass) {
        const int nv = impact->data.nv;
        for (int i = 0; i < nv; i++) twice += v[i] * carom_dot(nv, impact->data.mass + (size_t)i * (size_t)nv, v);
        return 0.5 * twice;
    }
    // u'W^+u/2, over the eigenvectors of W that are not round-off.
    const int n = impact->contact_size;
    const double negligible = NEGLIGIBLE_EIGENVALUE * impact->eigenvalues[n - 1];
    for (int i = 0; i < n; i++) {
        if (impact->eigenvalues[i] <= negligible) continue;
        const double part = carom_dot(n, impact->eigenvectors + (size_t)i * (size_t)n, v);
        twice += part * part / impact->eigenvalues[i];
    }
    return 0.5 * twice;
}

double carom_impact_range_defect(const carom_impact *impact) {
    if (impact->data.mass) return 0;
    // Eigenvectors of W without an eigenvalue are what no velocity reaches.
    const int n = impact->contact_size;
    const double negligible = NEGLIGIBLE_EIGENVALUE * impact->eigenvalues[n - 1], *u = impact->data.velocity;
    double square = 0;
    for (int i = 0; i < n; i++) {
        if (fabs(impact->eigenvalues[i]) > negligible) continue;
        const double part = carom_dot(n, impact->eigenvectors + (size_t)i * (size_t)n, u);
        square += part * part;
    }
    const double length = sqrt(carom_dot(n, u, u));
    return length > 0 ? sqrt(square) / length : 0;
}

double carom_impact_min_normal(const carom_impact *impact, const double *u) {
    const int stride = 1 + impact->data.tangent_dim;
    double least = u[0];
    for (int c = stride; c < impact->contact_size; c += stride)
        if (u[c] < least) least = u[c];
    return least;
}

double carom_impact_approach_limit(const carom_impact *impact) { return -CAROM_TERMINATION_TOLERANCE * impact->velocity_scale; }

// No contact approaches faster than the round-off of the impact's speed.
bool carom_impact_terminated(const carom_impact *impact, const double *u) {
    return carom_impact_min_normal(impact, u) >= carom_impact_approach_limit(impact);
}
