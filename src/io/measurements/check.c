// SPDX-License-Identifier: Apache-2.0
// Measured impacts: what makes one, whatever file it is from.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/vector3.h"
#include "io/measurements/measurements.h"

// Files round their numbers: a covariance is symmetric and positive up to this share of its diagonal, a rotation orthogonal.
#define ROUNDED 1e-6
// The kinetic energy may grow by noise: so many standard deviations, and rounding where there is no covariance.
#define NOISE_LIMIT  5.0
#define ENERGY_LIMIT 1e-9
// Energies and variances above the square of the largest velocity of an impact are out of range: their squares must not overflow.
#define LARGEST_ENERGY 1e200
// Bytes of a kind, which is a heading and a part of the names of files.
#define MOST_KIND 95

carom_status measured_file_begin(measured_file *file, const carom_measurements_options *options, int count, carom_measurements *into,
                                 carom_error *error) {
    *into = (carom_measurements){.mass = NAN};
    *file = (measured_file){.options = options, .into = into};
    into->list = carom_arena_take(&into->arena, (size_t)count + 1, sizeof *into->list);
    file->groups = carom_arena_take(&into->arena, (size_t)count + 1, sizeof *file->groups);
    return into->arena.failed ? carom_fail_memory(error, "measured impacts") : CAROM_OK;
}

static double *copy(carom_arena *arena, const double *values, size_t count) {
    double *made = values ? carom_arena_take(arena, count, sizeof *made) : NULL;
    if (made) memcpy(made, values, count * sizeof *made);
    return made;
}

// Symmetric and positive semidefinite, as correlations: the rule does not depend on units.
static carom_status check_covariance(int size, double *S, carom_error *error) {
    const size_t n = (size_t)size;
    double *numbers = malloc((n * n + 2 * n) * sizeof *numbers), *values = numbers + n * n, *deviation = values + n;
    if (!numbers) return carom_fail_memory(error, "covariance");
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < n && !status; i++) {
        deviation[i] = sqrt(S[i * n + i]);
        if (!(S[i * n + i] >= 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "cov: the variance [%zu][%zu] is %g, below 0", i, i, S[i * n + i]);
    }
    double greatest = 0;
    for (size_t i = 0; i < n; i++) greatest = fmax(greatest, S[i * n + i]);
    if (!status && !(greatest <= LARGEST_ENERGY))
        status = carom_fail(error, CAROM_BAD_INPUT, "cov: has the variance %g, out of range (up to %g): choose other units", greatest,
                            LARGEST_ENERGY);
    if (!status && greatest == 0) status = carom_fail(error, CAROM_BAD_INPUT, "cov: is zero: leave it out where the noise is not known");
    for (size_t i = 0; i < n && !status; i++)
        for (size_t k = 0; k < i && !status; k++) {
            const double scale = deviation[i] * deviation[k], mean = 0.5 * (S[i * n + k] + S[k * n + i]);
            if (fabs(S[i * n + k] - S[k * n + i]) > ROUNDED * scale)
                status = carom_fail(error, CAROM_BAD_INPUT, "cov: is not symmetric: [%zu][%zu] is %g, [%zu][%zu] is %g", i, k, S[i * n + k],
                                    k, i, S[k * n + i]);
            S[i * n + k] = S[k * n + i] = mean;
        }
    for (size_t i = 0; i < n * n && !status; i++) {
        const double scale = deviation[i / n] * deviation[i % n];
        numbers[i] = scale > 0 ? S[i] / scale : (double)(i / n == i % n);
        if (scale == 0 && S[i] != 0) status = carom_fail(error, CAROM_BAD_INPUT, "cov: is not positive semidefinite");
    }
    if (!status) status = carom_symmetric_eigen(size, numbers, values, error);
    if (!status && values[0] < -ROUNDED)
        status =
            carom_fail(error, CAROM_BAD_INPUT, "cov: is not positive semidefinite: an eigenvalue of its correlations is %.3g", values[0]);
    free(numbers);
    return status;
}

// Kinds are shown, and stand in the names of files: they are one short line.
static carom_status check_kind(const char *kind, carom_error *error) {
    if (strlen(kind) > MOST_KIND)
        return carom_fail(error, CAROM_BAD_INPUT, "kind: has %zu bytes, at most %d are allowed", strlen(kind), MOST_KIND);
    for (const char *c = kind; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return carom_fail(error, CAROM_BAD_INPUT, "kind: has a control character (byte %d)", (unsigned char)*c);
    return CAROM_OK;
}

// K(v+) > K(v-) by more than noise: an impact gives no energy.
static carom_status check_energy(const carom_measurement *one, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(one->impact);
    const int nv = data->nv;
    const double *M = one->metric ? one->metric : data->mass;
    // Energies, and their gradient (-M v-, M v+).
    double *gradient = malloc(2 * (size_t)nv * sizeof *gradient), before = 0, after = 0, variance = 0;
    if (!gradient) return carom_fail_memory(error, "energy");
    for (int i = 0; i < nv; i++) {
        gradient[i] = -carom_dot(nv, M + i * nv, data->velocity);
        gradient[nv + i] = carom_dot(nv, M + i * nv, one->after);
        before -= 0.5 * gradient[i] * data->velocity[i];
        after += 0.5 * gradient[nv + i] * one->after[i];
    }
    for (int i = 0; one->covariance && i < 2 * nv; i++) variance += gradient[i] * carom_dot(2 * nv, one->covariance + i * 2 * nv, gradient);
    free(gradient);
    const double limit = ENERGY_LIMIT * before + NOISE_LIMIT * sqrt(fmax(variance, 0));
    // Written so that no number that overflowed passes.
    if (!(after <= LARGEST_ENERGY) || !(before <= LARGEST_ENERGY))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: has a kinetic energy of %g J, out of range (up to %g J): choose other units",
                          before <= LARGEST_ENERGY ? "vp" : "vm", before <= LARGEST_ENERGY ? after : before, LARGEST_ENERGY);
    if (!isfinite(limit)) return carom_fail(error, CAROM_BAD_INPUT, "cov: the noise of the kinetic energy overflows: choose other units");
    if (after - before <= limit) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "vp: has more kinetic energy than vm: %.4g J after %.4g J, beyond the noise of %.2g J", after,
                      before, limit);
}

// Does a contact approach, by the rule of all laws for the end of an impact?
static bool approaches(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    double least = INFINITY;
    for (int i = 0; i < data->contacts; i++) least = fmin(least, carom_dot(data->nv, data->normal + i * data->nv, data->velocity));
    return least < carom_impact_approach_limit(impact);
}

carom_status measured_file_add_impact(measured_file *file, carom_impact *impact, bool friction_known, const measured_numbers *numbers,
                                      carom_error *error) {
    carom_measurements *into = file->into;
    const int nv = carom_impact_get_data(impact)->nv, contacts = carom_impact_get_data(impact)->contacts;
    const size_t n = (size_t)nv;
    char *group = numbers->group ? carom_arena_take(&into->arena, strlen(numbers->group) + 1, 1) : NULL;
    if (group) strcpy(group, numbers->group);
    file->groups[into->count] = group;
    carom_measurement *one = &into->list[into->count++];
    double *covariance = copy(&into->arena, numbers->covariance, 4 * n * n);
    char *kind = carom_arena_take(&into->arena, numbers->kind ? strlen(numbers->kind) + 1 : 32, 1);
    *one = (carom_measurement){.impact = impact,
                               .after = copy(&into->arena, numbers->after, n),
                               .covariance = covariance,
                               .attitude = copy(&into->arena, numbers->attitude, 9),
                               .kind = kind,
                               .friction_known = friction_known};
    if (into->arena.failed) return carom_fail_memory(error, "measured impacts");
    if (numbers->kind)
        strcpy(kind, numbers->kind);
    else
        snprintf(kind, 32, "%d contact%s", contacts, contacts == 1 ? "" : "s");
    // An inertia that is put to the test changes the laws, not what distances are measured by.
    if (file->options->inertia) one->metric = copy(&into->arena, numbers->mass, n * n);
    if (into->arena.failed) return carom_fail_memory(error, "measured impacts");
    if (isnan(into->mass)) into->mass = numbers->body_mass;
    carom_status status = check_kind(kind, error);
    if (!status && !(carom_impact_initial_energy(impact) > 0)) status = carom_fail(error, CAROM_BAD_INPUT, "vm: is zero: nothing collides");
    if (!status && !approaches(impact)) status = carom_fail(error, CAROM_BAD_INPUT, "vm: no contact approaches: nothing collides");
    if (!status && covariance) status = check_covariance(2 * nv, covariance, error);
    if (!status && into->count > 1 && !covariance != !into->list[0].covariance)
        status = carom_fail(error, CAROM_BAD_INPUT, "cov: %s: all impacts have a covariance, or none",
                            covariance ? "the first impact of the file has none" : "is missing, and the first impact of the file has it");
    return status ? status : check_energy(one, error);
}

// M of a free body: its mass and its moments of inertia in world axes, R diag(I) R', in the place of what `mass` [6 x 6] holds.
static carom_status place_inertia(const measured_numbers *numbers, const double *inertia, double *mass, carom_error *error) {
    const double *R = numbers->attitude;
    const bool sphere = inertia[0] == inertia[1] && inertia[1] == inertia[2];
    if (numbers->nv != 6)
        return carom_fail(error, CAROM_BAD_INPUT, "M: only a free body in space, with 6 velocities, has an inertia that can be given");
    if (!sphere && !R) return carom_fail(error, CAROM_BAD_INPUT, "R: is missing: an inertia in body axes needs the attitude");
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double sum = sphere ? inertia[0] * (i == k) : 0;
            for (int l = 0; l < 3 && !sphere; l++) sum += R[3 * i + l] * inertia[l] * R[3 * k + l];
            mass[(3 + i) * 6 + 3 + k] = sum;
        }
    return CAROM_OK;
}

carom_status measured_file_add(measured_file *file, const measured_numbers *numbers, carom_error *error) {
    if (numbers->tangents && numbers->tangents != numbers->contacts && numbers->tangents != 2 * numbers->contacts)
        return carom_fail(error, CAROM_BAD_INPUT, "Jt: has %d rows, must have %d (planar) or %d (spatial) for those of Jn",
                          numbers->tangents, numbers->contacts, 2 * numbers->contacts);
    if (!numbers->mass && (isnan(numbers->body_mass) || !numbers->inertia))
        return carom_fail(error, CAROM_BAD_INPUT, "M: is missing, and 'mass' with 'inertia_body' do not make it");
    for (int i = 0; numbers->attitude && i < 9; i++)
        if (fabs(carom_dot(3, numbers->attitude + i / 3 * 3, numbers->attitude + i % 3 * 3) - (i / 3 == i % 3)) > ROUNDED)
            return carom_fail(error, CAROM_BAD_INPUT, "R: its rows are not orthonormal");
    double adjugate[9];
    if (numbers->attitude && carom_adjugate3(numbers->attitude, adjugate) < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "R: is a reflection: its determinant is -1, that of a rotation is 1");

    // The matrix of the file, or what takes its place.
    const double *mass = numbers->mass;
    double made[36] = {0};
    const double *chosen = file->options->inertia, *inertia = chosen ? chosen : mass ? NULL : numbers->inertia;
    if (inertia) {
        for (int i = 0; i < 3; i++)
            if (!(inertia[i] > 0)) return carom_fail(error, CAROM_BAD_INPUT, "inertia_body: %g is not greater than 0", inertia[i]);
        if (mass && numbers->nv == 6) memcpy(made, mass, sizeof made);
        for (int i = 0; i < 3 && !mass; i++) made[7 * i] = numbers->body_mass;
        const carom_status status = place_inertia(numbers, inertia, made, error);
        if (status) return status;
        mass = made;
    }
    const carom_impact_data data = {.nv = numbers->nv,
                                    .contacts = numbers->contacts,
                                    .tangent_dim = numbers->tangents == 2 * numbers->contacts ? 2 : 1,
                                    .mass = mass,
                                    .normal = numbers->normal,
                                    .tangent = numbers->tangent,
                                    .friction = numbers->friction,
                                    .restitution = numbers->restitution,
                                    .velocity = numbers->before};
    carom_impact *impact;
    carom_error inner;
    const carom_status status = carom_impact_create(&data, &impact, &inner);
    if (status) return carom_fail(error, status, "%s", inner.message);
    return measured_file_add_impact(file, impact, numbers->friction != NULL, numbers, error);
}

// By number where all groups are numbers, otherwise by text.
typedef struct ranked {
    const char *text;
    double number;
    bool by_number;
    int index;
} ranked;

static int compare_groups(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    return a->by_number ? (a->number > b->number) - (a->number < b->number) : strcmp(a->text, b->text);
}

carom_status measured_file_end(measured_file *file, carom_error *error) {
    carom_measurements *into = file->into;
    ranked *order = malloc(((size_t)into->count + 1) * sizeof *order);
    if (!order) return carom_fail_memory(error, "measured impacts");
    bool numbers = true, named = false;
    int missing = -1;
    for (int i = 0; i < into->count; i++) {
        order[i] = (ranked){.text = file->groups[i], .index = i};
        named = named || file->groups[i];
        if (!file->groups[i]) missing = i;
        numbers = numbers && file->groups[i] && carom_parse_number(file->groups[i], &order[i].number);
    }
    // Without groups, every impact is one.
    if (!named) {
        for (int i = 0; i < into->count; i++) into->list[i].group = i;
        into->groups = into->count;
    } else if (missing < 0) {
        for (int i = 0; i < into->count; i++) order[i].by_number = numbers;
        qsort(order, (size_t)into->count, sizeof *order, compare_groups);
        for (int i = 0; i < into->count; i++) {
            into->groups += i == 0 || compare_groups(&order[i - 1], &order[i]) != 0;
            into->list[order[i].index].group = into->groups - 1;
        }
    }
    free(order);
    if (named && missing >= 0)
        return carom_fail(error, CAROM_BAD_INPUT, "impacts[%d]: group: is missing, and other impacts have it", missing);
    return CAROM_OK;
}
