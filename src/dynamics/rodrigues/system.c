// SPDX-License-Identifier: Apache-2.0
// The bodies of a run: their arrays, their first state, and how work on them is shared between threads.
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

const char *const carom_surface_names[] = {"smooth", "rough", "coulomb", NULL};

// Blocks below which one thread is as fast as several, which have to wait for each other.
enum { LEAST_PARALLEL_BLOCKS = 16 };

static int64_t block_end(int64_t block, int64_t items) {
    const int64_t end = (block + 1) * RODRIGUES_BLOCK;
    return end < items ? end : items;
}

void rodrigues_for_blocks(rodrigues *run, int64_t items, rodrigues_kernel *kernel) {
    const int64_t blocks = (items + RODRIGUES_BLOCK - 1) / RODRIGUES_BLOCK;
    // Written twice: a parallel region costs more than a step of a few bodies, even on one thread.
    if (run->workers == 1 || blocks < LEAST_PARALLEL_BLOCKS) {
        for (int64_t b = 0; b < blocks; b++) kernel(run, b, b * RODRIGUES_BLOCK, block_end(b, items));
        return;
    }
#pragma omp parallel for num_threads(run->workers) schedule(static)
    for (int64_t b = 0; b < blocks; b++) kernel(run, b, b * RODRIGUES_BLOCK, block_end(b, items));
}

void rodrigues_angular_velocity(const rodrigues *run, const rodrigues_state *state, int64_t body, double Omega[3]) {
    const double *inverse = run->inverse_inertia + 3 * body, *L = state->spin + 3 * body, *q = state->attitude + 4 * body;
    if (rodrigues_is_sphere(run->inertia + 3 * body)) {
        for (int k = 0; k < 3; k++) Omega[k] = inverse[0] * L[k];
        return;
    }
    double Pi[3];
    carom_quaternion_rotate_back(q, L, Pi);
    for (int k = 0; k < 3; k++) Pi[k] *= inverse[k];
    carom_quaternion_rotate(q, Pi, Omega);
}

// ----------------------------------------------------------------------------------------------------------------- life

static double *take(double **room, size_t count) {
    double *taken = *room;
    *room += count;
    return taken;
}

// The arrays of a state follow each other, as copies of states rely on.
static rodrigues_state take_state(double **room, size_t n) {
    rodrigues_state state = {.position = take(room, 3 * n)};
    state.attitude = take(room, 4 * n);
    state.velocity = take(room, 3 * n);
    state.spin = take(room, 3 * n);
    state.force = take(room, 3 * n);
    state.torque = take(room, 3 * n);
    return state;
}

// Copies one body into the arrays, with L = R J R' Omega, and adds its kinetic energy.
static void place_body(rodrigues *run, int i) {
    const carom_particle *body = &run->motion->body[i];
    double *q = run->now.attitude + 4 * i, turning[3];
    run->mass[i] = body->mass;
    run->inverse_mass[i] = 1 / body->mass;
    run->radius[i] = body->radius;
    memcpy(run->now.position + 3 * i, body->position, sizeof body->position);
    memcpy(run->now.velocity + 3 * i, body->velocity, sizeof body->velocity);
    memcpy(q, body->attitude, sizeof body->attitude);
    carom_quaternion_normalise(q);
    for (int k = 0; k < 3; k++) {
        run->inertia[3 * i + k] = body->inertia[k];
        run->inverse_inertia[3 * i + k] = 1 / body->inertia[k];
        run->now.spin[3 * i + k] = body->inertia[0] * body->angular_velocity[k];
    }
    // For a sphere L = J Omega is a product of numbers; others need the turn into the body frame and back.
    if (!rodrigues_is_sphere(body->inertia)) {
        carom_quaternion_rotate_back(q, body->angular_velocity, turning);
        for (int k = 0; k < 3; k++) turning[k] *= body->inertia[k];
        carom_quaternion_rotate(q, turning, run->now.spin + 3 * i);
    }
    run->kinetic += 0.5 * body->mass * carom_dot3(body->velocity, body->velocity) + rodrigues_rotational_energy(run, &run->now, i);
}

carom_status rodrigues_create(const carom_bodies_motion *motion, rodrigues_map map, bool fourth_order, int workers, rodrigues *run,
                              carom_error *error) {
    *run = (rodrigues){.motion = motion, .bodies = motion->bodies, .workers = workers, .map = map, .fourth_order = fourth_order};
    carom_status status = rodrigues_check_motion(motion, map, fourth_order, error);
    if (status) return status;

    // One piece of memory for all numbers of bodies: arrays that steps read together then start at different places of the cache.
    enum { CONSTANTS = 9, STATE = 19, SAVED = 13 };
    const size_t n = (size_t)run->bodies;
    run->blocks = (run->bodies + RODRIGUES_BLOCK - 1) / RODRIGUES_BLOCK;
    run->partials = carom_arena_take(&run->memory, (size_t)run->blocks, sizeof *run->partials);
    double *room = carom_arena_take(
        &run->memory, (size_t)(CONSTANTS + (map == RODRIGUES_MIDPOINT ? 3 : 2) * STATE + (fourth_order ? SAVED : 0)) * n, sizeof *room);
    if (run->memory.failed) return carom_fail_memory(error, "bodies");
    run->mass = take(&room, n);
    run->inverse_mass = take(&room, n);
    run->radius = take(&room, n);
    run->inertia = take(&room, 3 * n);
    run->inverse_inertia = take(&room, 3 * n);
    run->now = take_state(&room, n);
    run->next = take_state(&room, n);
    if (map == RODRIGUES_MIDPOINT) run->middle = take_state(&room, n);
    if (fourth_order) run->saved = take(&room, SAVED * n);

    for (int i = 0; i < motion->bodies; i++) place_body(run, i);
    status = rodrigues_prepare_forces(run, error);
    if (!status && motion->collisions) status = rodrigues_neighbours_create(motion->bodies, &run->colliders, error);
    if (status) return status;

    // The forces at the start, which must be finite with the energy.
    if (!rodrigues_evaluate(run, &run->now, &run->potential)) return carom_fail_memory(error, "contacts");
    double sum = rodrigues_energy(run);
    for (int64_t i = 0; i < 3 * (int64_t)run->bodies; i++) sum += fabs(run->now.force[i]) + fabs(run->now.torque[i]);
    if (isfinite(sum)) return CAROM_OK;
    rodrigues_explain_force(run, &run->now);
    const int body = (int)run->failure.body, other = (int)run->failure.other;
    if (run->failure.problem == RODRIGUES_COINCIDENT)
        return carom_fail(error, CAROM_BAD_INPUT, "bodies: the centers of bodies %d and %d coincide", body, other);
    if (body < 0) return carom_fail(error, CAROM_BAD_INPUT, "potentials: the energy is not finite at the start");
    return carom_fail(error, CAROM_BAD_INPUT, "potentials: the force on body %d is not finite at the start", body);
}

void rodrigues_release(rodrigues *run) {
    free(run->contact_push);
    free(run->of_bonds.entries);
    free(run->of_contacts.entries);
    rodrigues_neighbours_release(&run->contacts);
    rodrigues_neighbours_release(&run->colliders);
    rodrigues_agenda_release(&run->agenda);
    carom_arena_free(&run->memory);
    *run = (rodrigues){0};
}
