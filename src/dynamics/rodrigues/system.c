// SPDX-License-Identifier: Apache-2.0
// The bodies of a run: what is checked of them, and their arrays.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

// Attitudes whose length misses 1 by more are refused; others are normalised.
#define UNIT_TOLERANCE 1e-6
// How far principal moments may miss J1 <= J2 + J3: round-off of whoever computed them.
#define INERTIA_TOLERANCE 1e-9

const char *const carom_surface_names[] = {"smooth", "rough", "coulomb", NULL};

// Blocks below which one thread is as fast as several, which have to wait for each other.
enum { LEAST_PARALLEL_BLOCKS = 16 };

// -------------------------------------------------------------------------------------------------------------- blocks

static int64_t block_end(int64_t block, int64_t items) {
    const int64_t end = (block + 1) * RODRIGUES_BLOCK;
    return end < items ? end : items;
}

void rodrigues_for_blocks(rodrigues *run, int64_t items, rodrigues_kernel *kernel) {
    const int64_t blocks = (items + RODRIGUES_BLOCK - 1) / RODRIGUES_BLOCK;
    if (run->workers == 1 || blocks < LEAST_PARALLEL_BLOCKS) {
        for (int64_t b = 0; b < blocks; b++) kernel(run, b, b * RODRIGUES_BLOCK, block_end(b, items));
        return;
    }
#pragma omp parallel for num_threads(run->workers) schedule(static)
    for (int64_t b = 0; b < blocks; b++) kernel(run, b, b * RODRIGUES_BLOCK, block_end(b, items));
}

// ------------------------------------------------------------------------------------------------------------ rotation

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

// --------------------------------------------------------------------------------------------------------------- checks

typedef struct named_values {
    const char *name;
    const double *values;
    int count;
    double least;  // -inf for none
} named_values;

static carom_status check_values(const char *owner, int index, const named_values *rows, int count, carom_error *error) {
    for (int r = 0; r < count; r++) {
        for (int k = 0; k < rows[r].count; k++) {
            const double value = rows[r].values[k];
            if (!isfinite(value))
                return carom_fail(error, CAROM_BAD_INPUT, "%s[%d].%s: a number is not finite", owner, index, rows[r].name);
            if (value < rows[r].least)
                return carom_fail(error, CAROM_BAD_INPUT, "%s[%d].%s: %g is not %s", owner, index, rows[r].name, value,
                                  rows[r].least > 0 ? "greater than 0" : "0 or more");
        }
    }
    return CAROM_OK;
}

static carom_status check_attitude(const carom_particle *body, int index, carom_error *error) {
    const double *q = body->attitude, length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (fabs(length - 1) <= UNIT_TOLERANCE) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "bodies[%d].attitude: the quaternion has length %.9g, not 1", index, length);
}

// The explicit maps hold for equal moments; averaging others would be another body.
static carom_status check_shape(const carom_particle *body, int index, rodrigues_map map, carom_error *error) {
    const double *J = body->inertia;
    if (2 * carom_max_abs(3, J) > (1 + INERTIA_TOLERANCE) * (J[0] + J[1] + J[2]))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "bodies[%d].inertia: no mass distribution has the moments %g, %g, %g: none exceeds the sum of the other two",
                          index, J[0], J[1], J[2]);
    if (rodrigues_is_sphere(J) || map == RODRIGUES_SPLITTING || map == RODRIGUES_IMPLICIT) return CAROM_OK;
    const bool top = J[0] == J[1] || J[1] == J[2] || J[0] == J[2];
    if (top && map == RODRIGUES_EXACT) return CAROM_OK;
    return carom_fail(error, CAROM_UNSUPPORTED,
                      "bodies[%d].inertia: the moments %g, %g, %g differ, and this map is for spheres; take map splitting or implicit%s",
                      index, J[0], J[1], J[2], top ? ", or exact" : "");
}

static carom_status check_body(const carom_particle *body, int index, rodrigues_map map, carom_error *error) {
    const named_values rows[] = {{"mass", &body->mass, 1, CAROM_POSITIVE},
                                 {"inertia", body->inertia, 3, CAROM_POSITIVE},
                                 {"radius", &body->radius, 1, 0},
                                 {"position", body->position, 3, -INFINITY},
                                 {"attitude", body->attitude, 4, -INFINITY},
                                 {"velocity", body->velocity, 3, -INFINITY},
                                 {"angular_velocity", body->angular_velocity, 3, -INFINITY}};
    carom_status status = check_values("bodies", index, rows, sizeof rows / sizeof *rows, error);
    if (!status) status = check_attitude(body, index, error);
    return status ? status : check_shape(body, index, map, error);
}

static carom_status check_list(const char *name, int count, const void *list, carom_error *error) {
    if (count >= 0 && (!count || list)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no list of %d entries", name, count);
}

static carom_status check_hertz(const carom_potential *p, int index, carom_error *error) {
    const carom_status listed = check_list("potentials: planes", p->hertz.planes, p->hertz.plane, error);
    if (listed) return listed;
    const named_values rows[] = {
        {"Kpp", &p->hertz.Kpp, 1, 0}, {"Kpw", &p->hertz.Kpw, 1, 0}, {"planes", p->hertz.plane, 4 * p->hertz.planes, -INFINITY}};
    carom_status status = check_values("potentials", index, rows, 3, error);
    for (int w = 0; !status && w < p->hertz.planes; w++)
        if (!(carom_norm3(p->hertz.plane + 4 * w) > 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "potentials[%d].planes: a normal has no length", index);
    return status;
}

static carom_status check_potential(const carom_potential *p, int index, carom_error *error) {
    // Addresses of members that another type of potential has are not looked at.
    const named_values gravity[] = {{"acceleration", p->acceleration, 3, -INFINITY}};
    const named_values offset[] = {{"gravity", &p->offset_mass.gravity, 1, -INFINITY}, {"offset", p->offset_mass.offset, 3, -INFINITY}};
    const named_values dipole[] = {{"moment", &p->dipole.moment, 1, -INFINITY}, {"direction", p->dipole.direction, 3, -INFINITY},
                                   {"field", p->dipole.field, 3, -INFINITY},    {"gradient", p->dipole.gradient, 9, -INFINITY},
                                   {"trap", &p->dipole.trap, 1, -INFINITY},     {"gravity", &p->dipole.gravity, 1, -INFINITY}};
    const named_values bonds[] = {{"Km", &p->bonds.Km, 1, 0}, {"Ka", &p->bonds.Ka, 1, 0}, {"Ks", &p->bonds.Ks, 1, 0}};
    switch (p->type) {
    case CAROM_POTENTIAL_GRAVITY: return check_values("potentials", index, gravity, 1, error);
    case CAROM_POTENTIAL_OFFSET_MASS: return check_values("potentials", index, offset, 2, error);
    case CAROM_POTENTIAL_DIPOLE: return check_values("potentials", index, dipole, 6, error);
    case CAROM_POTENTIAL_BONDS: {
        const carom_status listed = check_list("potentials: pairs", p->bonds.count, p->bonds.pairs, error);
        return listed ? listed : check_values("potentials", index, bonds, 3, error);
    }
    case CAROM_POTENTIAL_HERTZ: return check_hertz(p, index, error);
    case CAROM_POTENTIAL_USER:
        return p->callback.evaluate ? CAROM_OK : carom_fail(error, CAROM_BAD_INPUT, "potentials[%d]: the callback is missing", index);
    }
    return CAROM_OK;
}

static carom_status check_law(const char *owner, int index, const carom_surface_law *law, carom_error *error) {
    const named_values rows[] = {{"restitution", &law->restitution, 1, 0}, {"friction", &law->friction, 1, 0}};
    const carom_status status = check_values(owner, index, rows, 2, error);
    if (status || law->restitution <= 1) return status;
    return carom_fail(error, CAROM_BAD_INPUT, "%s[%d].restitution: %g is above 1", owner, index, law->restitution);
}

static carom_status check_wall(const carom_wall *wall, int index, carom_error *error) {
    const named_values rows[] = {{"normal", wall->normal, 3, -INFINITY}, {"offset", &wall->offset, 1, -INFINITY}};
    carom_status status = check_values("walls", index, rows, 2, error);
    if (!status && !(carom_norm3(wall->normal) > 0))
        status = carom_fail(error, CAROM_BAD_INPUT, "walls[%d].normal: it has no length", index);
    return status ? status : check_law("walls", index, &wall->law, error);
}

static carom_status check_radii(const carom_bodies_motion *motion, carom_error *error) {
    for (int i = 0; motion->collisions && i < motion->bodies; i++)
        if (!(motion->body[i].radius > 0)) return carom_fail(error, CAROM_BAD_INPUT, "bodies[%d].radius: bodies that collide need one", i);
    return CAROM_OK;
}

static carom_status check_motion(const carom_bodies_motion *motion, rodrigues_map map, bool fourth_order, carom_error *error) {
    carom_status status = check_list("bodies", motion->bodies, motion->body, error);
    if (!status) status = check_list("potentials", motion->potentials, motion->potential, error);
    if (!status) status = check_list("walls", motion->walls, motion->wall, error);
    const bool impacts = motion->walls > 0 || motion->collisions;
    if (status) return status;
    if (fourth_order && map == RODRIGUES_FIRST)
        return carom_fail(error, CAROM_BAD_INPUT, "order: 4 is composed of symmetric steps, which those of map first-order are not");
    if (fourth_order && impacts)
        return carom_fail(error, CAROM_BAD_INPUT, "order: 4 takes steps back in time and is for motions without impacts");
    for (int i = 0; !status && i < motion->bodies; i++) status = check_body(&motion->body[i], i, map, error);
    for (int k = 0; !status && k < motion->potentials; k++) status = check_potential(&motion->potential[k], k, error);
    for (int w = 0; !status && w < motion->walls; w++) status = check_wall(&motion->wall[w], w, error);
    if (!status && motion->collisions) status = check_law("collisions", 0, motion->collisions, error);
    return status ? status : check_radii(motion, error);
}

// --------------------------------------------------------------------------------------------------------------- memory

static double *take(double **room, size_t count) {
    double *taken = *room;
    *room += count;
    return taken;
}

// Contiguous, as copies of states rely on.
static rodrigues_state take_state(double **room, size_t n) {
    rodrigues_state state = {.position = take(room, 3 * n)};
    state.attitude = take(room, 4 * n);
    state.velocity = take(room, 3 * n);
    state.spin = take(room, 3 * n);
    return state;
}

static carom_status allocate(rodrigues *run, carom_error *error) {
    enum { CONSTANTS = 9, STATES = 3 * 13, FORCES = 4 * 3 };
    const size_t n = (size_t)run->bodies;
    run->blocks = (run->bodies + RODRIGUES_BLOCK - 1) / RODRIGUES_BLOCK;
    run->partials = calloc((size_t)run->blocks + 1, sizeof *run->partials);
    double *room = calloc((CONSTANTS + STATES + FORCES) * n + 1, sizeof *room);
    run->memory = room;
    if (!run->partials || !room) return carom_fail_memory(error, "bodies");
    run->mass = take(&room, n);
    run->inverse_mass = take(&room, n);
    run->radius = take(&room, n);
    run->inertia = take(&room, 3 * n);
    run->inverse_inertia = take(&room, 3 * n);
    run->now = take_state(&room, n);
    run->next = take_state(&room, n);
    run->saved = take_state(&room, n);
    run->force = take(&room, 3 * n);
    run->torque = take(&room, 3 * n);
    run->next_force = take(&room, 3 * n);
    run->next_torque = take(&room, 3 * n);
    return CAROM_OK;
}

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
    if (!rodrigues_is_sphere(body->inertia)) {
        carom_quaternion_rotate_back(q, body->angular_velocity, turning);
        for (int k = 0; k < 3; k++) turning[k] *= body->inertia[k];
        carom_quaternion_rotate(q, turning, run->now.spin + 3 * i);
    }
    run->kinetic += 0.5 * body->mass * carom_dot3(body->velocity, body->velocity) + rodrigues_rotational_energy(run, &run->now, i);
}

static carom_status take_first_forces(rodrigues *run, carom_error *error) {
    const bool evaluated = rodrigues_evaluate(run, &run->now, run->force, run->torque, &run->potential);
    if (!evaluated) return carom_fail_memory(error, "contacts");
    double sum = rodrigues_energy(run);
    for (int64_t i = 0; i < 3 * (int64_t)run->bodies; i++) sum += fabs(run->force[i]) + fabs(run->torque[i]);
    if (isfinite(sum)) return CAROM_OK;
    rodrigues_explain_force(run, &run->now, run->force, run->torque);
    if (run->failure.problem == RODRIGUES_COINCIDENT)
        return carom_fail(error, CAROM_BAD_INPUT, "bodies: the centers of bodies %d and %d coincide", (int)run->failure.body,
                          (int)run->failure.other);
    if (run->failure.body < 0) return carom_fail(error, CAROM_BAD_INPUT, "potentials: the energy is not finite at the start");
    return carom_fail(error, CAROM_BAD_INPUT, "potentials: the force on body %d is not finite at the start", (int)run->failure.body);
}

carom_status rodrigues_create(const carom_bodies_motion *motion, rodrigues_map map, bool fourth_order, int workers, rodrigues *run,
                              carom_error *error) {
    *run = (rodrigues){.motion = motion, .bodies = motion->bodies, .workers = workers, .map = map, .fourth_order = fourth_order};
    carom_status status = check_motion(motion, map, fourth_order, error);
    if (!status) status = allocate(run, error);
    for (int i = 0; !status && i < motion->bodies; i++) place_body(run, i);
    if (!status) status = rodrigues_prepare_forces(run, error);
    if (!status && motion->collisions) status = rodrigues_neighbours_create(motion->bodies, &run->colliders, error);
    return status ? status : take_first_forces(run, error);
}

void rodrigues_release(rodrigues *run) {
    rodrigues_release_forces(run);
    rodrigues_neighbours_release(&run->colliders);
    free(run->partials);
    free(run->memory);
    *run = (rodrigues){0};
}
