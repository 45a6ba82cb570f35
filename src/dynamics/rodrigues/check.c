// SPDX-License-Identifier: Apache-2.0
// What is checked of the bodies, potentials and walls that a caller gives.
#include "carom/dense.h"
#include "dynamics/rodrigues/rodrigues.h"

// Attitudes whose length misses 1 by more are refused; others are normalised.
#define UNIT_TOLERANCE 1e-6
// How far principal moments may violate J1 <= J2 + J3, relative to their sum: round-off of how they were computed.
#define INERTIA_TOLERANCE 1e-9

// Numbers of one key: all must be finite, and none below `least`.
typedef struct named_values {
    const char *name;
    const double *values;
    int count;
    double least;  // -INFINITY for no bound
} named_values;

// Messages name the owner's list, the index in it and the key.
static carom_status check_values(const char *owner, int index, const named_values *rows, size_t count, carom_error *error) {
    for (size_t r = 0; r < count; r++) {
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

static carom_status check_list(const char *name, int count, const void *list, carom_error *error) {
    if (count >= 0 && (!count || list)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no list of %d entries", name, count);
}

// Finite numbers, a unit quaternion, possible moments, and a map that can turn the body.
static carom_status check_body(const carom_particle *body, int index, rodrigues_map map, carom_error *error) {
    const named_values rows[] = {{"mass", &body->mass, 1, CAROM_POSITIVE},
                                 {"inertia", body->inertia, 3, CAROM_POSITIVE},
                                 {"radius", &body->radius, 1, 0},
                                 {"position", body->position, 3, -INFINITY},
                                 {"attitude", body->attitude, 4, -INFINITY},
                                 {"velocity", body->velocity, 3, -INFINITY},
                                 {"angular_velocity", body->angular_velocity, 3, -INFINITY}};
    const carom_status status = check_values("bodies", index, rows, sizeof rows / sizeof *rows, error);
    if (status) return status;
    const double *q = body->attitude, length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), *J = body->inertia;
    if (!(fabs(length - 1) <= UNIT_TOLERANCE))
        return carom_fail(error, CAROM_BAD_INPUT, "bodies[%d].attitude: the quaternion has length %.9g, not 1", index, length);
    if (2 * carom_max_abs(3, J) > (1 + INERTIA_TOLERANCE) * (J[0] + J[1] + J[2]))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "bodies[%d].inertia: no mass distribution has the moments %g, %g, %g: none exceeds the sum of the other two",
                          index, J[0], J[1], J[2]);
    // The explicit maps hold for equal moments; averaging others would be another body. A symmetric top turns exactly by its axes.
    const bool top = J[0] == J[1] || J[1] == J[2] || J[0] == J[2];
    if (rodrigues_is_sphere(J) || map == RODRIGUES_SPLITTING || map == RODRIGUES_IMPLICIT || (top && map == RODRIGUES_EXACT))
        return CAROM_OK;
    return carom_fail(error, CAROM_UNSUPPORTED,
                      "bodies[%d].inertia: the moments %g, %g, %g differ, and this map is for spheres; take map splitting or implicit%s",
                      index, J[0], J[1], J[2], top ? ", or exact" : "");
}

static carom_status check_potential(const carom_potential *p, int index, carom_error *error) {
    const bool hertz = p->type == CAROM_POTENTIAL_HERTZ;
    carom_status status = CAROM_OK;
    if (p->type == CAROM_POTENTIAL_BONDS) status = check_list("potentials: pairs", p->bonds.count, p->bonds.pairs, error);
    if (hertz) status = check_list("potentials: planes", p->hertz.planes, p->hertz.plane, error);
    if (p->type == CAROM_POTENTIAL_USER && !p->callback.evaluate)
        status = carom_fail(error, CAROM_BAD_INPUT, "potentials[%d]: the callback is missing", index);
    // Only rows of the potential's own type are read: those of other types point to inactive members of the union.
    const struct {
        carom_potential_type type;
        named_values numbers;
    } rows[] = {{CAROM_POTENTIAL_GRAVITY, {"acceleration", p->acceleration, 3, -INFINITY}},
                {CAROM_POTENTIAL_OFFSET_MASS, {"gravity", &p->offset_mass.gravity, 1, -INFINITY}},
                {CAROM_POTENTIAL_OFFSET_MASS, {"offset", p->offset_mass.offset, 3, -INFINITY}},
                {CAROM_POTENTIAL_DIPOLE, {"moment", &p->dipole.moment, 1, -INFINITY}},
                {CAROM_POTENTIAL_DIPOLE, {"direction", p->dipole.direction, 3, -INFINITY}},
                {CAROM_POTENTIAL_DIPOLE, {"field", p->dipole.field, 3, -INFINITY}},
                {CAROM_POTENTIAL_DIPOLE, {"gradient", p->dipole.gradient, 9, -INFINITY}},
                {CAROM_POTENTIAL_DIPOLE, {"trap", &p->dipole.trap, 1, -INFINITY}},
                {CAROM_POTENTIAL_DIPOLE, {"gravity", &p->dipole.gravity, 1, -INFINITY}},
                {CAROM_POTENTIAL_BONDS, {"Km", &p->bonds.Km, 1, 0}},
                {CAROM_POTENTIAL_BONDS, {"Ka", &p->bonds.Ka, 1, 0}},
                {CAROM_POTENTIAL_BONDS, {"Ks", &p->bonds.Ks, 1, 0}},
                {CAROM_POTENTIAL_BONDS, {"break_force", &p->bonds.break_force, 1, 0}},
                {CAROM_POTENTIAL_BONDS, {"break_energy", &p->bonds.break_energy, 1, 0}},
                {CAROM_POTENTIAL_HERTZ, {"Kpp", &p->hertz.Kpp, 1, 0}},
                {CAROM_POTENTIAL_HERTZ, {"Kpw", &p->hertz.Kpw, 1, 0}},
                {CAROM_POTENTIAL_HERTZ, {"planes", hertz ? p->hertz.plane : NULL, hertz ? 4 * p->hertz.planes : 0, -INFINITY}}};
    for (size_t r = 0; !status && r < sizeof rows / sizeof *rows; r++)
        if (rows[r].type == p->type) status = check_values("potentials", index, &rows[r].numbers, 1, error);
    for (int w = 0; !status && hertz && w < p->hertz.planes; w++)
        if (!(carom_norm3(p->hertz.plane + 4 * w) > 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "potentials[%d].planes: a normal has no length", index);
    return status;
}

// Restitution from 0 to 1, friction of 0 or more.
static carom_status check_law(const char *owner, int index, const carom_surface_law *law, carom_error *error) {
    const named_values rows[] = {{"restitution", &law->restitution, 1, 0}, {"friction", &law->friction, 1, 0}};
    const carom_status status = check_values(owner, index, rows, 2, error);
    if (status || law->restitution <= 1) return status;
    return carom_fail(error, CAROM_BAD_INPUT, "%s[%d].restitution: %g is above 1", owner, index, law->restitution);
}

carom_status rodrigues_check_motion(const carom_bodies_motion *motion, rodrigues_map map, bool fourth_order, carom_error *error) {
    carom_status status = check_list("bodies", motion->bodies, motion->body, error);
    if (!status) status = check_list("potentials", motion->potentials, motion->potential, error);
    if (!status) status = check_list("walls", motion->walls, motion->wall, error);
    if (status) return status;
    if (fourth_order && map == RODRIGUES_FIRST)
        return carom_fail(error, CAROM_BAD_INPUT, "order: 4 is composed of symmetric steps, which those of map first-order are not");
    if (fourth_order && (motion->walls > 0 || motion->collisions))
        return carom_fail(error, CAROM_BAD_INPUT, "order: 4 takes steps back in time and is for motions without impacts");
    if (map == RODRIGUES_MIDPOINT && (motion->walls > 0 || motion->collisions))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "map: midpoint moves centers by forces that it has to find, and is for motions without impacts");
    // Each entry of the lists, and what bodies that collide need.
    for (int i = 0; !status && i < motion->bodies; i++) status = check_body(&motion->body[i], i, map, error);
    for (int k = 0; !status && k < motion->potentials; k++) status = check_potential(&motion->potential[k], k, error);
    for (int w = 0; !status && w < motion->walls; w++) {
        const carom_wall *wall = &motion->wall[w];
        const named_values rows[] = {{"normal", wall->normal, 3, -INFINITY}, {"offset", &wall->offset, 1, -INFINITY}};
        status = check_values("walls", w, rows, 2, error);
        if (!status && !(carom_norm3(wall->normal) > 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "walls[%d].normal: it has no length", w);
        if (!status) status = check_law("walls", w, &wall->law, error);
    }
    if (!status && motion->collisions) status = check_law("collisions", 0, motion->collisions, error);
    for (int i = 0; !status && motion->collisions && i < motion->bodies; i++)
        if (!(motion->body[i].radius > 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "bodies[%d].radius: bodies that collide need one", i);
    return status;
}
