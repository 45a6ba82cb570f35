// SPDX-License-Identifier: Apache-2.0
// Balls in motion: equal radii, no friction, no spin, under gravity and springs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/bodies.h"

enum { NAME_SIZE = 16 };

typedef struct ball_system {
    carom_system base;
    size_t balls, dim;
    double diameter, gravity, stiffness;
    double *reals;  // all arrays of numbers
    double *masses, *rest;
    int (*pair)[2];  // on a line the ball on the left comes first
    bool *turns;
    char (*texts)[NAME_SIZE];
    const char **names;
} ball_system;

double carom_ball_distance(const carom_ball_data *data, int i, int j) {
    const double *a = data->positions + (size_t)i * (size_t)data->dim, *b = data->positions + (size_t)j * (size_t)data->dim;
    return data->dim == 1 ? fabs(b[0] - a[0]) : hypot(b[0] - a[0], b[1] - a[1]);
}

// No third ball lies between two on a line; among balls at one place, indices decide.
static bool are_neighbours(const carom_ball_data *data, int i, int j) {
    const double *x = data->positions, low = fmin(x[i], x[j]), high = fmax(x[i], x[j]);
    for (int k = 0; k < data->count; k++)
        if (k != i && k != j && x[k] > low && x[k] < high) return false;
    return true;
}

bool carom_ball_neighbours(const carom_ball_data *data, carom_ball_pairs *pairs) {
    pairs->count = 0;
    for (int i = 0; i < data->count; i++)
        for (int j = i + 1; j < data->count; j++) {
            if (data->dim == 1 && !are_neighbours(data, i, j)) continue;
            if (pairs->count == CAROM_MAX_CONTACTS) return false;
            pairs->pair[pairs->count][0] = i;
            pairs->pair[pairs->count++][1] = j;
        }
    return true;
}

// ---------------------------------------------------------------------------------------------------------- evaluation

static void fill_contact(const ball_system *system, int index, const double *q, carom_system_terms *terms) {
    const size_t dim = system->dim, i = (size_t)system->pair[index][0] * dim, j = (size_t)system->pair[index][1] * dim;
    double apart[2] = {q[j] - q[i], dim > 1 ? q[j + 1] - q[i + 1] : 0};
    // Balls on a line keep their order: one that has passed through the other is deep inside it.
    const double distance = dim > 1 ? hypot(apart[0], apart[1]) : apart[0];
    double *row = terms->normal + (size_t)index * (size_t)system->base.nv;
    memset(row, 0, (size_t)system->base.nv * sizeof *row);
    terms->gap[index] = distance - system->diameter;
    for (size_t k = 0; k < dim; k++) {
        row[j + k] = dim > 1 && distance > 0 ? apart[k] / distance : k == 0;
        row[i + k] = -row[j + k];
    }
}

// Tangents and drifts stay zero, as the caller's memory is: there is no friction, and nobody asks for accelerations.
static void evaluate(void *opened, const double *q, const double *v, carom_system_terms *terms) {
    (void)v;
    const ball_system *system = opened;
    const size_t nv = (size_t)system->base.nv, dim = system->dim;
    memset(terms->mass, 0, nv * nv * sizeof *terms->mass);
    terms->potential = 0;
    for (size_t k = 0; k < nv; k++) {
        const double mass = system->masses[k / dim], pull = system->rest ? system->stiffness * (q[k] - system->rest[k]) : 0;
        const double weight = k % dim == dim - 1 ? mass * system->gravity : 0;
        terms->mass[k * nv + k] = mass;
        terms->bias[k] = pull + weight;
        terms->potential += weight * q[k] + (system->rest ? 0.5 * pull * (q[k] - system->rest[k]) : 0);
    }
    for (int c = 0; c < system->base.contacts; c++) fill_contact(system, c, q, terms);
}

static carom_status open_workspace(const void *self, void **workspace, carom_error *error) {
    (void)error;
    *workspace = (void *)self;  // nothing is written to it
    return CAROM_OK;
}

static void close_workspace(void *workspace) { (void)workspace; }

// ------------------------------------------------------------------------------------------------------------ creation

static void fill_base(ball_system *system, const carom_ball_data *data, const carom_ball_pairs *pairs) {
    const size_t balls = system->balls, nv = balls * system->dim, contacts = (size_t)pairs->count;
    double *position = system->reals, *velocity = position + nv, *zeros = velocity + nv;
    system->masses = zeros + 2 * contacts;
    system->rest = data->rest ? system->masses + balls : NULL;
    memcpy(position, data->positions, nv * sizeof *position);
    memcpy(velocity, data->velocities, nv * sizeof *velocity);
    memcpy(system->masses, data->masses, balls * sizeof *system->masses);
    if (data->rest) memcpy(system->rest, data->rest, nv * sizeof *system->rest);
    double total = 0;
    for (size_t i = 0; i < balls; i++) total += data->masses[i];
    for (size_t k = 0; k < nv; k++) {
        snprintf(system->texts[k], NAME_SIZE, "%c%d", "xy"[k % system->dim], (int)(k / system->dim) + 1);
        system->names[k] = system->texts[k];
    }
    for (size_t c = 0; c < contacts; c++) {
        const int i = pairs->pair[c][0], j = pairs->pair[c][1];
        const bool swapped = data->dim == 1 && data->positions[i] > data->positions[j];
        system->pair[c][0] = swapped ? j : i;
        system->pair[c][1] = swapped ? i : j;
    }
    system->base = (carom_system){.self = system,
                                  .nv = (int)nv,
                                  .contacts = pairs->count,
                                  .tangent_dim = 0,
                                  .friction = zeros,
                                  .restitution = zeros + contacts,
                                  .turns = system->turns,
                                  .names = system->names,
                                  .position = position,
                                  .velocity = velocity,
                                  .mass = total,
                                  .length = system->diameter,
                                  .constant_mass = true,
                                  .open = open_workspace,
                                  .close = close_workspace,
                                  .evaluate = evaluate};
}

void carom_ball_free_system(carom_system *base) {
    if (!base) return;
    ball_system *system = (ball_system *)base;
    free(system->reals);
    free(system->pair);
    free(system->turns);
    free(system->texts);
    free(system->names);
    free(system);
}

carom_status carom_ball_create_system(const carom_ball_data *data, const carom_ball_pairs *pairs, carom_system **created,
                                      carom_error *error) {
    *created = NULL;
    const size_t balls = (size_t)data->count, dim = (size_t)data->dim, nv = balls * dim, contacts = (size_t)pairs->count;
    ball_system *system = calloc(1, sizeof *system);
    if (!system) return carom_fail_memory(error, "balls");
    system->balls = balls;
    system->dim = dim;
    system->diameter = 2 * data->radius;
    system->gravity = data->gravity;
    system->stiffness = data->stiffness;
    system->reals = calloc(3 * nv + 2 * contacts + balls, sizeof *system->reals);
    system->pair = calloc(contacts + 1, sizeof *system->pair);
    system->turns = calloc(nv, sizeof *system->turns);
    system->texts = calloc(nv, sizeof *system->texts);
    system->names = calloc(nv, sizeof *system->names);
    if (!system->reals || !system->pair || !system->turns || !system->texts || !system->names) {
        carom_ball_free_system(&system->base);
        return carom_fail_memory(error, "balls");
    }
    fill_base(system, data, pairs);
    *created = &system->base;
    return CAROM_OK;
}
