// SPDX-License-Identifier: Apache-2.0
// The validated, immutable impact and its derived operators.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/impact.h"

// Entries of M that differ more than this share of the largest one are a mistake, not round-off.
#define MASS_ASYMMETRY 1e-9
// Delassus operators of published contact problems are asymmetric by up to 9e-3 of their largest entry.
#define DELASSUS_ASYMMETRY 1e-2
// Eigenvalues of W below this share of the largest one are round-off of a rank-deficient operator.
#define NEGLIGIBLE_EIGENVALUE 1e-12

// Inverse masses and velocities between its reciprocal and this are supported.
#define LARGEST_MAGNITUDE 1e100

enum { DEFAULT_NAME_SIZE = 16 };

struct carom_impact {
    carom_impact_data data;  // points into the arrays below
    int contact_size;        // n = contacts (1 + tangent_dim)
    double *mass, *normal, *tangent, *friction, *restitution, *velocity;
    double *jacobian;      // J [n x nv], contact-major; NULL in contact space
    double *response;      // rows M^-1 J_c' [n x nv]
    double *delassus;      // W [n x n]
    double *eigenvalues;   // of W, in contact space only
    double *eigenvectors;  // rows
    double velocity_scale, initial_energy;
    char **names;
    carom_impact_texts texts;
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

static carom_status check_finite(const char *name, int rows, int columns, const double *A, carom_error *error) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            if (isfinite(A[(size_t)i * (size_t)columns + (size_t)j])) continue;
            if (columns == 1) return carom_fail(error, CAROM_BAD_INPUT, "%s[%d] is not a finite number", name, i);
            return carom_fail(error, CAROM_BAD_INPUT, "%s[%d][%d] is not a finite number", name, i, j);
        }
    return CAROM_OK;
}

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

static carom_status check_friction(int contacts, const double *friction, const double *restitution, carom_error *error) {
    for (int i = 0; i < contacts; i++) {
        if (friction && (!isfinite(friction[i]) || friction[i] < 0))
            return carom_fail(error, CAROM_BAD_INPUT, "mu[%d] is %g: a friction coefficient is a finite number >= 0", i, friction[i]);
        if (restitution && !(restitution[i] >= 0 && restitution[i] <= 1))
            return carom_fail(error, CAROM_BAD_INPUT, "restitution[%d] is %g: it is between 0 and 1", i, restitution[i]);
    }
    return CAROM_OK;
}

static carom_status check_normals(const carom_impact_data *data, carom_error *error) {
    const size_t nv = (size_t)data->nv;
    for (int i = 0; i < data->contacts; i++)
        if (carom_max_abs(nv, data->normal + (size_t)i * nv) == 0)
            return carom_fail(error, CAROM_BAD_INPUT, "Jn[%d] is zero: a contact needs a normal that some velocity moves along", i);
    return CAROM_OK;
}

static carom_status check_names(int contacts, const char *const *names, carom_error *error) {
    for (int i = 0; names && i < contacts; i++) {
        if (!names[i] || !*names[i]) return carom_fail(error, CAROM_BAD_INPUT, "names[%d] is empty", i);
        if (strlen(names[i]) > CAROM_MAX_NAME)
            return carom_fail(error, CAROM_BAD_INPUT, "names[%d] has %zu bytes: at most %d are supported", i, strlen(names[i]),
                              CAROM_MAX_NAME);
        if (strpbrk(names[i], ","))
            return carom_fail(error, CAROM_BAD_INPUT, "names[%d] contains a comma, which separates contacts in an order", i);
        for (int j = 0; j < i; j++)
            if (!strcmp(names[i], names[j]))
                return carom_fail(error, CAROM_BAD_INPUT, "names[%d] and names[%d] are both '%.60s'", j, i, names[i]);
    }
    return CAROM_OK;
}

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
    if (!status) status = check_normals(data, error);
    if (!status) status = check_friction(contacts, data->friction, data->restitution, error);
    if (!status) status = check_names(contacts, data->names, error);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- storage

// A copy whose zeros are all +0, so that the bits of results do not depend on how a zero was written.
static double *copy_reals(const double *values, size_t count) {
    double *copy = malloc(count * sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) copy[i] = values[i] + 0.0;
    return copy;
}

static char **copy_names(int contacts, const char *const *names) {
    char **copies = calloc((size_t)contacts, sizeof *copies);
    for (int i = 0; copies && i < contacts; i++) {
        char standard[DEFAULT_NAME_SIZE];
        if (i < 26)
            snprintf(standard, sizeof standard, "%c", 'A' + i);
        else
            snprintf(standard, sizeof standard, "C%d", i + 1);
        copies[i] = strdup(names ? names[i] : standard);
    }
    return copies;
}

static bool have_names(const carom_impact *impact) {
    for (int i = 0; impact->names && i < impact->data.contacts; i++)
        if (!impact->names[i]) return false;
    return impact->names;
}

// A copy in one block: the pointers, then the characters.
static const char *const *copy_texts(size_t count, const char *const *texts) {
    size_t size = count * sizeof(char *);
    for (size_t i = 0; i < count; i++) size += strlen(texts[i]) + 1;
    char **copies = malloc(size + 1);
    if (!copies) return NULL;
    char *next = (char *)(copies + count);
    for (size_t i = 0; i < count; i++) {
        copies[i] = next;
        next = stpcpy(next, texts[i]) + 1;
    }
    return (const char *const *)copies;
}

static bool copy_all_texts(carom_impact *impact, const carom_impact_texts *texts) {
    if (!texts) return true;
    const size_t nv = (size_t)impact->data.nv, m = (size_t)impact->data.contacts, tangents = m * (size_t)impact->data.tangent_dim;
    carom_impact_texts *copies = &impact->texts;
    if (texts->mass && !(copies->mass = copy_texts(nv * nv, texts->mass))) return false;
    if (texts->normal && !(copies->normal = copy_texts(m * nv, texts->normal))) return false;
    if (texts->tangent && !(copies->tangent = copy_texts(tangents * nv, texts->tangent))) return false;
    if (texts->friction && !(copies->friction = copy_texts(m, texts->friction))) return false;
    if (texts->velocity && !(copies->velocity = copy_texts(nv, texts->velocity))) return false;
    return true;
}

void carom_impact_free(carom_impact *impact) {
    if (!impact) return;
    double *arrays[] = {impact->mass,     impact->normal,   impact->tangent,  impact->friction,    impact->restitution, impact->velocity,
                        impact->jacobian, impact->response, impact->delassus, impact->eigenvalues, impact->eigenvectors};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    for (int i = 0; impact->names && i < impact->data.contacts; i++) free(impact->names[i]);
    free(impact->names);
    const char *const *texts[] = {impact->texts.mass, impact->texts.normal, impact->texts.tangent, impact->texts.friction,
                                  impact->texts.velocity};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free((void *)texts[i]);
    free(impact);
}

// Allocates the impact with what both kinds have: sizes, velocity, friction, restitution, names, W and the response.
static carom_impact *allocate_impact(int nv, int contacts, int tangent_dim, const double *velocity, const double *friction,
                                     const double *restitution, const char *const *names) {
    carom_impact *impact = calloc(1, sizeof *impact);
    if (!impact) return NULL;
    const size_t m = (size_t)contacts, n = m * (size_t)(1 + tangent_dim);
    impact->contact_size = (int)n;
    impact->data.nv = nv;
    impact->data.contacts = contacts;
    impact->data.tangent_dim = tangent_dim;
    impact->data.velocity = impact->velocity = copy_reals(velocity, (size_t)nv);
    impact->data.friction = impact->friction = friction ? copy_reals(friction, m) : calloc(m, sizeof(double));
    impact->data.restitution = impact->restitution = restitution ? copy_reals(restitution, m) : calloc(m, sizeof(double));
    impact->names = copy_names(contacts, names);
    impact->data.names = (const char *const *)impact->names;
    impact->delassus = malloc(n * n * sizeof(double));
    impact->response = malloc(n * (size_t)nv * sizeof(double));
    if (impact->velocity && impact->friction && impact->restitution && have_names(impact) && impact->delassus && impact->response)
        return impact;
    carom_impact_free(impact);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------- operators

static void symmetrise(int n, double *A) {
    const size_t size = (size_t)n;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++) A[i * size + j] = A[j * size + i] = 0.5 * (A[i * size + j] + A[j * size + i]);
}

// J with the rows of a contact together: normal, then tangents.
static void fill_jacobian(carom_impact *impact) {
    const size_t nv = (size_t)impact->data.nv, dim = (size_t)impact->data.tangent_dim;
    for (size_t i = 0; i < (size_t)impact->data.contacts; i++) {
        double *rows = impact->jacobian + i * (1 + dim) * nv;
        memcpy(rows, impact->normal + i * nv, nv * sizeof *rows);
        memcpy(rows + nv, impact->tangent + i * dim * nv, dim * nv * sizeof *rows);
    }
}

// With M = L L': X = L^-1 J', W = X'X (symmetric to the bit), M^-1 J' = L^-T X.
static carom_status derive_operators(carom_impact *impact, carom_error *error) {
    const int nv = impact->data.nv, n = impact->contact_size;
    double *factor = copy_reals(impact->mass, (size_t)nv * (size_t)nv);
    if (!factor) return carom_fail_memory(error, "impact");
    const int minor = carom_cholesky_factor(nv, factor);
    if (!minor) {
        memcpy(impact->response, impact->jacobian, (size_t)n * (size_t)nv * sizeof(double));
        for (int c = 0; c < n; c++) carom_cholesky_forward(nv, factor, impact->response + (size_t)c * (size_t)nv);
        carom_gram(n, nv, impact->response, impact->delassus);
        for (int c = 0; c < n; c++) carom_cholesky_backward(nv, factor, impact->response + (size_t)c * (size_t)nv);
    }
    free(factor);
    if (minor) return carom_fail(error, CAROM_BAD_INPUT, "M is not positive definite (its leading minor of order %d)", minor);
    if (!carom_all_finite((size_t)n * (size_t)n, impact->delassus) || !carom_all_finite((size_t)n * (size_t)nv, impact->response))
        return carom_fail(error, CAROM_BAD_INPUT, "J M^-1 J' overflows: M, Jn and Jt differ too much in magnitude");
    return CAROM_OK;
}

// Squares and products of such numbers neither overflow nor vanish.
static bool is_moderate(double size) { return size == 0 || (size > 1 / LARGEST_MAGNITUDE && size < LARGEST_MAGNITUDE); }

// Every contact's inverse mass along its normal, and the velocity scale: beyond the limits another unit is the remedy.
static carom_status check_magnitudes(const carom_impact *impact, carom_error *error) {
    const size_t n = (size_t)impact->contact_size, stride = 1 + (size_t)impact->data.tangent_dim;
    if (!is_moderate(impact->velocity_scale))
        return carom_fail(error, CAROM_BAD_INPUT, "contact velocities of %g m/s are out of range (1e-100 to 1e100): choose other units",
                          impact->velocity_scale);
    for (size_t c = 0; c < n; c += stride)
        if (!is_moderate(impact->delassus[c * n + c]))
            return carom_fail(error, CAROM_BAD_INPUT,
                              "contact %s has the inverse mass %g 1/kg, out of range (1e-100 to 1e100): choose other units",
                              impact->names[c / stride], impact->delassus[c * n + c]);
    return CAROM_OK;
}

static carom_status measure_velocity(carom_impact *impact, carom_error *error) {
    double *u = malloc((size_t)impact->contact_size * sizeof *u);
    if (!u) return carom_fail_memory(error, "impact");
    carom_impact_contact_velocity(impact, impact->velocity, u);
    const bool finite = carom_all_finite((size_t)impact->contact_size, u);
    impact->velocity_scale = carom_max_abs((size_t)impact->contact_size, u);
    free(u);
    impact->initial_energy = carom_impact_kinetic_energy(impact, impact->velocity);
    if (!finite || !isfinite(impact->initial_energy))
        return carom_fail(error, CAROM_BAD_INPUT, "the contact velocities or the kinetic energy of v overflow");
    return check_magnitudes(impact, error);
}

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
    carom_impact *made =
        allocate_impact(data->nv, data->contacts, data->tangent_dim, data->velocity, data->friction, data->restitution, data->names);
    if (!made) return carom_fail_memory(error, "impact");
    const size_t nv = (size_t)data->nv, m = (size_t)data->contacts, dim = (size_t)data->tangent_dim;
    made->data.mass = made->mass = copy_reals(data->mass, nv * nv);
    made->data.normal = made->normal = copy_reals(data->normal, m * nv);
    made->data.tangent = made->tangent = data->tangent ? copy_reals(data->tangent, m * dim * nv) : calloc(m * dim * nv, sizeof(double));
    made->jacobian = malloc((size_t)made->contact_size * nv * sizeof(double));
    if (!made->mass || !made->normal || !made->tangent || !made->jacobian || !copy_all_texts(made, texts)) {
        status = carom_fail_memory(error, "impact");
    } else {
        symmetrise(data->nv, made->mass);
        fill_jacobian(made);
        status = derive_operators(made, error);
    }
    return finish_impact(status, made, impact, error);
}

carom_status carom_impact_create(const carom_impact_data *data, carom_impact **impact, carom_error *error) {
    return carom_impact_create_exact(data, NULL, impact, error);
}

// ------------------------------------------------------------------------------------------------------- contact space

static carom_status check_delassus(const carom_delassus_data *data, int n, carom_error *error) {
    carom_status status = check_finite("W", n, n, data->delassus, error);
    if (!status) status = check_finite("u", n, 1, data->velocity, error);
    if (!status) status = check_symmetric("W", n, data->delassus, DELASSUS_ASYMMETRY, error);
    if (!status) status = check_friction(data->contacts, data->friction, data->restitution, error);
    if (!status) status = check_names(data->contacts, data->names, error);
    const int stride = 1 + data->tangent_dim;
    for (int i = 0; !status && i < n; i += stride)
        if (!(data->delassus[(size_t)i * (size_t)n + (size_t)i] > 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "W[%d][%d] is not positive: it is the inverse mass along the normal of contact %d",
                                i, i, i / stride);
    return status;
}

// Eigenvalues of W: they say whether it is positive semidefinite, and give the energy u'W^+u/2.
static carom_status derive_eigenvalues(carom_impact *impact, carom_error *error) {
    const int n = impact->contact_size;
    impact->eigenvectors = copy_reals(impact->delassus, (size_t)n * (size_t)n);
    impact->eigenvalues = malloc((size_t)n * sizeof(double));
    if (!impact->eigenvectors || !impact->eigenvalues) return carom_fail_memory(error, "impact");
    const carom_status status = carom_symmetric_eigen(n, impact->eigenvectors, impact->eigenvalues, error);
    if (status) return status;
    if (impact->eigenvalues[0] < -DELASSUS_ASYMMETRY * impact->eigenvalues[n - 1])
        return carom_fail(error, CAROM_BAD_INPUT, "W is not positive semidefinite: it has the eigenvalue %.6g", impact->eigenvalues[0]);
    return CAROM_OK;
}

carom_status carom_impact_create_delassus(const carom_delassus_data *data, carom_impact **impact, carom_error *error) {
    *impact = NULL;
    if (!data->delassus || !data->velocity)
        return carom_fail(error, CAROM_BAD_INPUT, "delassus and velocity are needed: one of them is NULL");
    carom_status status = check_sizes(1, data->contacts, data->tangent_dim, error);
    if (status) return status;
    const int n = data->contacts * (1 + data->tangent_dim);
    status = check_delassus(data, n, error);
    if (status) return status;
    carom_impact *made =
        allocate_impact(n, data->contacts, data->tangent_dim, data->velocity, data->friction, data->restitution, data->names);
    if (!made) return carom_fail_memory(error, "impact");
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++) made->delassus[i] = data->delassus[i] + 0.0;
    symmetrise(n, made->delassus);
    memcpy(made->response, made->delassus, (size_t)n * (size_t)n * sizeof(double));
    status = derive_eigenvalues(made, error);
    return finish_impact(status, made, impact, error);
}

// ------------------------------------------------------------------------------------------------------------- getters

const carom_impact_data *carom_impact_get_data(const carom_impact *impact) { return &impact->data; }
const carom_impact_texts *carom_impact_get_texts(const carom_impact *impact) { return &impact->texts; }
bool carom_impact_has_system(const carom_impact *impact) { return impact->mass; }
int carom_impact_contact_size(const carom_impact *impact) { return impact->contact_size; }
const double *carom_impact_delassus(const carom_impact *impact) { return impact->delassus; }
const double *carom_impact_response(const carom_impact *impact) { return impact->response; }
double carom_impact_velocity_scale(const carom_impact *impact) { return impact->velocity_scale; }
double carom_impact_initial_energy(const carom_impact *impact) { return impact->initial_energy; }

carom_sizes carom_impact_sizes(const carom_impact *impact) {
    return (carom_sizes){impact->data.nv, impact->data.contacts, impact->data.contacts * impact->data.tangent_dim};
}

int carom_impact_find_contact(const carom_impact *impact, const char *name) {
    for (int i = 0; i < impact->data.contacts; i++)
        if (!strcmp(impact->names[i], name)) return i;
    return -1;
}

void carom_impact_contact_velocity(const carom_impact *impact, const double *v, double *u) {
    if (impact->jacobian)
        carom_multiply(impact->contact_size, impact->data.nv, impact->jacobian, v, u);
    else
        memcpy(u, v, (size_t)impact->contact_size * sizeof *u);
}

void carom_impact_apply(const carom_impact *impact, const double *v, const double *impulse, double *v_next) {
    const size_t nv = (size_t)impact->data.nv;
    if (v_next != v) memcpy(v_next, v, nv * sizeof *v);
    for (size_t c = 0; c < (size_t)impact->contact_size; c++)
        for (size_t k = 0; k < nv; k++) v_next[k] += impulse[c] * impact->response[c * nv + k];
}

static double contact_space_energy(const carom_impact *impact, const double *u) {
    const int n = impact->contact_size;
    const double negligible = NEGLIGIBLE_EIGENVALUE * impact->eigenvalues[n - 1];
    double twice = 0;
    for (int i = 0; i < n; i++) {
        if (impact->eigenvalues[i] <= negligible) continue;
        const double part = carom_dot(n, impact->eigenvectors + (size_t)i * (size_t)n, u);
        twice += part * part / impact->eigenvalues[i];
    }
    return 0.5 * twice;
}

double carom_impact_kinetic_energy(const carom_impact *impact, const double *v) {
    if (!impact->mass) return contact_space_energy(impact, v);
    double twice = 0;
    for (int i = 0; i < impact->data.nv; i++)
        twice += v[i] * carom_dot(impact->data.nv, impact->mass + (size_t)i * (size_t)impact->data.nv, v);
    return 0.5 * twice;
}

double carom_impact_min_normal(const carom_impact *impact, const double *u) {
    const int stride = 1 + impact->data.tangent_dim;
    double least = u[0];
    for (int c = stride; c < impact->contact_size; c += stride)
        if (u[c] < least) least = u[c];
    return least;
}

double carom_impact_approach_limit(const carom_impact *impact) { return -CAROM_TERMINATION_TOLERANCE * impact->velocity_scale; }

bool carom_impact_terminated(const carom_impact *impact, const double *u) {
    return carom_impact_min_normal(impact, u) >= carom_impact_approach_limit(impact);
}
