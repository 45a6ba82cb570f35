// SPDX-License-Identifier: Apache-2.0
// Balls in motion: no friction, no spin, under gravity and springs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/bodies.h"

enum { NAME_SIZE = 16 };

typedef struct ball_system {
    carom_system base;
    size_t dim;
    double gravity, stiffness;
    double *masses, *radii, *rest;  // [balls], [balls], [nv] or NULL
    int (*pair)[2];                 // [contacts], on a line the ball on the left comes first
    carom_arena memory;
} ball_system;

double carom_ball_radius(const carom_ball_data *data, int ball) { return data->radii ? data->radii[ball] : data->radius; }

double carom_ball_distance(const carom_ball_data *data, int i, int j) {
    const double *a = data->positions + (size_t)i * (size_t)data->dim, *b = data->positions + (size_t)j * (size_t)data->dim;
    return data->dim == 1 ? fabs(b[0] - a[0]) : hypot(b[0] - a[0], b[1] - a[1]);
}

bool carom_ball_neighbours(const carom_ball_data *data, carom_ball_pairs *pairs) {
    const double *x = data->positions;
    pairs->count = 0;
    for (int i = 0; i < data->count; i++)
        for (int j = i + 1; j < data->count; j++) {
            // No third ball lies between neighbours on a line; among balls at one place, indices decide.
            const double low = fmin(x[i], x[j]), high = fmax(x[i], x[j]);
            bool apart = false;
            for (int k = 0; data->dim == 1 && k < data->count && !apart; k++) apart = k != i && k != j && x[k] > low && x[k] < high;
            if (apart) continue;
            if (pairs->count == CAROM_MAX_CONTACTS) return false;
            pairs->pair[pairs->count][0] = i;
            pairs->pair[pairs->count++][1] = j;
        }
    return true;
}

// Tangents and drifts stay zero, as the caller's memory is: there is no friction, and no caller needs accelerations.
static void evaluate(void *opened, const double *q, const double *v, carom_system_terms *terms) {
    (void)v;
    const ball_system *system = opened;
    const size_t nv = (size_t)system->base.nv, dim = system->dim;
    memset(terms->mass, 0, nv * nv * sizeof *terms->mass);
    terms->potential = 0;
    // M = diag(m), bias = gravity m g and springs k (q - rest), U = m g q + k (q - rest)^2/2.
    for (size_t k = 0; k < nv; k++) {
        const double mass = system->masses[k / dim], pull = system->rest ? system->stiffness * (q[k] - system->rest[k]) : 0;
        const double weight = k % dim == dim - 1 ? mass * system->gravity : 0;
        terms->mass[k * nv + k] = mass;
        terms->bias[k] = pull + weight;
        terms->potential += weight * q[k] + (system->rest ? 0.5 * pull * (q[k] - system->rest[k]) : 0);
    }
    // The gap |xj - xi| - ri - rj, and its gradient.
    for (size_t c = 0; c < (size_t)system->base.contacts; c++) {
        const size_t i = (size_t)system->pair[c][0] * dim, j = (size_t)system->pair[c][1] * dim;
        const double apart[2] = {q[j] - q[i], dim > 1 ? q[j + 1] - q[i + 1] : 0};
        // Balls on a line keep their order: one that has passed through the other is deep inside it.
        const double distance = dim > 1 ? hypot(apart[0], apart[1]) : apart[0];
        double *row = terms->normal + c * nv;
        memset(row, 0, nv * sizeof *row);
        terms->gap[c] = distance - (system->radii[system->pair[c][0]] + system->radii[system->pair[c][1]]);
        for (size_t k = 0; k < dim; k++) {
            row[j + k] = dim > 1 && distance > 0 ? apart[k] / distance : k == 0;
            row[i + k] = -row[j + k];
        }
    }
}

// The system is its own workspace: nothing is written to it.
static carom_status open_workspace(const void *self, void **workspace, carom_error *error) {
    (void)error;
    *workspace = (void *)self;
    return CAROM_OK;
}

static void close_workspace(void *workspace) { (void)workspace; }

void carom_ball_free_system(carom_system *base) {
    if (!base) return;
    ball_system *system = (ball_system *)base;
    carom_arena_free(&system->memory);
    free(system);
}

carom_status carom_ball_create_system(const carom_ball_data *data, const carom_ball_pairs *pairs, carom_system **created,
                                      carom_error *error) {
    *created = NULL;
    const size_t balls = (size_t)data->count, dim = (size_t)data->dim, nv = balls * dim, contacts = (size_t)pairs->count;
    ball_system *system = calloc(1, sizeof *system);
    if (!system) return carom_fail_memory(error, "balls");
    carom_arena *memory = &system->memory;
    double *position = carom_arena_take(memory, nv, sizeof *position), *velocity = carom_arena_take(memory, nv, sizeof *velocity);
    double *zeros = carom_arena_take(memory, contacts, sizeof *zeros);
    bool *turns = carom_arena_take(memory, nv, sizeof *turns);
    char(*texts)[NAME_SIZE] = carom_arena_take(memory, nv, sizeof *texts);
    const char **names = carom_arena_take(memory, nv, sizeof *names);
    system->masses = carom_arena_take(memory, balls, sizeof *system->masses);
    system->radii = carom_arena_take(memory, balls, sizeof *system->radii);
    system->rest = data->rest ? carom_arena_take(memory, nv, sizeof *system->rest) : NULL;
    system->pair = carom_arena_take(memory, contacts, sizeof *system->pair);
    if (memory->failed) {
        carom_ball_free_system(&system->base);
        return carom_fail_memory(error, "balls");
    }
    // Copies of the data: the caller's arrays are borrowed.
    memcpy(position, data->positions, nv * sizeof *position);
    memcpy(velocity, data->velocities, nv * sizeof *velocity);
    memcpy(system->masses, data->masses, balls * sizeof *system->masses);
    if (data->rest) memcpy(system->rest, data->rest, nv * sizeof *system->rest);
    system->dim = dim;
    system->gravity = data->gravity;
    system->stiffness = data->stiffness;
    // Coordinates are called x1, y1, x2, ...
    double total = 0, largest = 0;
    for (size_t i = 0; i < balls; i++) {
        system->radii[i] = carom_ball_radius(data, (int)i);
        total += data->masses[i];
        largest = fmax(largest, system->radii[i]);
    }
    for (size_t k = 0; k < nv; k++) {
        snprintf(texts[k], NAME_SIZE, "%c%d", "xy"[k % dim], (int)(k / dim) + 1);
        names[k] = texts[k];
    }
    // On a line the ball on the left comes first.
    for (size_t c = 0; c < contacts; c++) {
        const int i = pairs->pair[c][0], j = pairs->pair[c][1];
        const bool swapped = data->dim == 1 && data->positions[i] > data->positions[j];
        system->pair[c][0] = swapped ? j : i;
        system->pair[c][1] = swapped ? i : j;
    }
    system->base = (carom_system){.self = system,
                                  .nv = (int)nv,
                                  .contacts = pairs->count,
                                  .friction = zeros,
                                  .restitution = zeros,
                                  .turns = turns,
                                  .names = names,
                                  .position = position,
                                  .velocity = velocity,
                                  .mass = total,
                                  .length = 2 * largest,
                                  .radii = dim > 1 ? system->radii : NULL,
                                  .constant_mass = true,
                                  .open = open_workspace,
                                  .close = close_workspace,
                                  .evaluate = evaluate};
    *created = &system->base;
    return CAROM_OK;
}
