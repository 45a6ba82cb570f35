// SPDX-License-Identifier: Apache-2.0
// Impacts inside a step. Within a step of any length the centers follow x + t v + t^2 F/(2m), whatever the attitudes do: gaps are
// polynomials, of degree 2 above a plane and, squared, of degree 4 between spheres.
#include <string.h>

#include "dynamics/quaternion.h"
#include "dynamics/rodrigues.h"

enum { MOST_DEGREE = 4 };

// Depth of a body inside a wall or another body that counts as a touch, relative to what it would touch with: rounding of positions that
// were written with nine digits.
#define TOUCH_TOLERANCE 1e-9

// Halvings of a bracket, at most; the secant steps between them need about six.
enum { MOST_HALVINGS = 200 };

// ---------------------------------------------------------------------------------------------------------- polynomials

static double value_of(const double *c, int degree, double t) {
    double value = c[degree];
    for (int k = degree - 1; k >= 0; k--) value = value * t + c[k];
    return value;
}

// The root in [a, b] between values of opposite signs: the Illinois variant of the secant rule, with halvings for its slow cases.
static double bracketed_root(const double *c, int degree, double a, double b) {
    double fa = value_of(c, degree, a), fb = value_of(c, degree, b);
    const bool falls = fa > 0;
    for (int k = 0; k < MOST_HALVINGS; k++) {
        double t = k % 3 == 2 ? 0.5 * (a + b) : a + (b - a) * (fa / (fa - fb));
        if (!(t > a && t < b)) t = 0.5 * (a + b);
        if (!(t > a && t < b)) break;
        const double f = value_of(c, degree, t);
        if ((f > 0) == falls) {
            a = t;
            fa = f;
            fb *= 0.5;
        } else {
            b = t;
            fb = f;
            fa *= 0.5;
        }
    }
    return falls ? a : b;
}

// Ends of the pieces of [0, length] on which the polynomial is monotone: 0, the roots of its derivative, length.
static int monotone_pieces(const double *c, int degree, double length, double *ends) {
    double derivative[MOST_DEGREE], inner[MOST_DEGREE + 1];
    int count = 0;
    ends[count++] = 0;
    for (int k = 1; k <= degree; k++) derivative[k - 1] = k * c[k];
    const int pieces = degree > 1 ? monotone_pieces(derivative, degree - 1, length, inner) : 0;
    for (int k = 0; k < pieces; k++) {
        const double fa = value_of(derivative, degree - 1, inner[k]), fb = value_of(derivative, degree - 1, inner[k + 1]);
        if ((fa > 0) != (fb > 0)) ends[count++] = bracketed_root(derivative, degree - 1, inner[k], inner[k + 1]);
    }
    ends[count] = length;
    return count;
}

double rodrigues_first_contact(const double *c, int degree, double length) {
    double ends[MOST_DEGREE + 1];
    const int pieces = monotone_pieces(c, degree, length, ends);
    for (int k = 0; k < pieces; k++) {
        const double fa = value_of(c, degree, ends[k]), fb = value_of(c, degree, ends[k + 1]);
        // At the start of the motion a touch that neither approaches nor leaves is none, but one that is about to sink is.
        if (!(fb < fa)) continue;
        if (fa <= 0) return ends[k];
        if (fb <= 0) return bracketed_root(c, degree, ends[k], ends[k + 1]);
    }
    return INFINITY;
}

// ---------------------------------------------------------------------------------------------------------------- search

// Acceleration in the polynomial of a body's path: half of F/m, or all of it where the kick comes first.
static void path_of(const rodrigues *run, int64_t i, double half[3]) {
    const double factor = (run->map == RODRIGUES_FIRST ? 1 : 0.5) * run->inverse_mass[i];
    for (int k = 0; k < 3; k++) half[k] = factor * run->force[3 * i + k];
}

static void search_walls(const rodrigues *run, int64_t i, rodrigues_event *event) {
    double half[3];
    path_of(run, i, half);
    for (int w = 0; w < run->motion->walls; w++) {
        const carom_wall *wall = &run->motion->wall[w];
        const double scale = 1 / norm3(wall->normal), *x = run->now.position + 3 * i, *v = run->now.velocity + 3 * i;
        const double c[] = {scale * (dot3(wall->normal, x) + wall->offset) - run->radius[i], scale * dot3(wall->normal, v),
                            scale * dot3(wall->normal, half)};
        const double time = rodrigues_first_contact(c, 2, event->time < run->step ? event->time : run->step);
        if (time < event->time) *event = (rodrigues_event){.time = time, .body = i, .other = -1, .wall = w};
    }
}

static void search_pair(const rodrigues *run, int64_t i, int64_t j, rodrigues_event *event) {
    double x[3], v[3], half[3], other[3];
    path_of(run, i, half);
    path_of(run, j, other);
    for (int k = 0; k < 3; k++) {
        x[k] = run->now.position[3 * i + k] - run->now.position[3 * j + k];
        v[k] = run->now.velocity[3 * i + k] - run->now.velocity[3 * j + k];
        half[k] -= other[k];
    }
    const double length = event->time < run->step ? event->time : run->step, D = run->radius[i] + run->radius[j];
    // Most pairs of the list cannot meet in this step.
    if (norm3(x) - D > length * (norm3(v) + length * norm3(half))) return;
    const double c[] = {dot3(x, x) - D * D, 2 * dot3(x, v), dot3(v, v) + 2 * dot3(x, half), 2 * dot3(v, half), dot3(half, half)};
    const double time = rodrigues_first_contact(c, 4, length);
    if (time < event->time) *event = (rodrigues_event){.time = time, .body = i, .other = j, .wall = -1};
}

static void search_block(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    rodrigues_event *event = &run->partials[block].event;
    *event = (rodrigues_event){.time = INFINITY};
    for (int64_t i = first; i < end; i++) {
        search_walls(run, i, event);
        for (int64_t k = run->motion->collisions ? run->colliders.start[i] : 0; run->motion->collisions && k < run->colliders.start[i + 1];
             k++)
            search_pair(run, i, run->colliders.second[k], event);
    }
}

// The furthest that a body goes.
static double reach_of(const rodrigues *run, double length) {
    double furthest = 0;
    for (int64_t i = 0; i < run->bodies; i++) {
        double half[3];
        path_of(run, i, half);
        furthest = fmax(furthest, length * (norm3(run->now.velocity + 3 * i) + length * norm3(half)));
    }
    return furthest;
}

bool rodrigues_find_event(rodrigues *run, double length, rodrigues_event *event) {
    run->step = length;
    if (run->motion->collisions && !rodrigues_neighbours_update(&run->colliders, run->now.position, run->radius, reach_of(run, length)))
        return false;
    rodrigues_for_blocks(run, run->bodies, search_block);
    *event = (rodrigues_event){.time = INFINITY};
    for (int64_t b = 0; b < run->blocks; b++)
        if (run->partials[b].event.time < event->time) *event = run->partials[b].event;
    return true;
}

static carom_status check_pair_gaps(const rodrigues *run, int64_t i, carom_error *error) {
    for (int64_t k = run->colliders.start[i]; k < run->colliders.start[i + 1]; k++) {
        const int64_t j = run->colliders.second[k];
        double between[3];
        for (int d = 0; d < 3; d++) between[d] = run->now.position[3 * i + d] - run->now.position[3 * j + d];
        const double D = run->radius[i] + run->radius[j];
        if (norm3(between) < D * (1 - TOUCH_TOLERANCE))
            return carom_fail(error, CAROM_BAD_INPUT, "bodies: %d and %d overlap by %.3g m at the start", (int)i, (int)j,
                              D - norm3(between));
    }
    return CAROM_OK;
}

carom_status rodrigues_check_gaps(rodrigues *run, carom_error *error) {
    for (int64_t i = 0; i < run->bodies; i++) {
        const double *x = run->now.position + 3 * i;
        for (int w = 0; w < run->motion->walls; w++) {
            const carom_wall *wall = &run->motion->wall[w];
            const double gap = (dot3(wall->normal, x) + wall->offset) / norm3(wall->normal) - run->radius[i];
            if (gap < -TOUCH_TOLERANCE * fmax(run->radius[i], norm3(x)))
                return carom_fail(error, CAROM_BAD_INPUT, "bodies[%d].position: the body reaches %.3g m into wall %d at the start", (int)i,
                                  -gap, w);
        }
    }
    if (!run->motion->collisions) return CAROM_OK;
    if (!rodrigues_neighbours_update(&run->colliders, run->now.position, run->radius, 0)) return carom_fail_memory(error, "neighbours");
    carom_status status = CAROM_OK;
    for (int64_t i = 0; !status && i < run->bodies; i++) status = check_pair_gaps(run, i, error);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- impact

static double kinetic_energy(const rodrigues *run, int64_t i) {
    return 0.5 * run->mass[i] * dot3(run->now.velocity + 3 * i, run->now.velocity + 3 * i) + rodrigues_rotational_energy(run, &run->now, i);
}

static void find_normal(const rodrigues *run, rodrigues_event *event) {
    for (int k = 0; k < 3; k++)
        event->normal[k] = event->other < 0 ? run->motion->wall[event->wall].normal[k]
                                            : run->now.position[3 * event->body + k] - run->now.position[3 * event->other + k];
    const double length = norm3(event->normal);
    for (int k = 0; k < 3; k++) event->normal[k] /= length;
}

// Adds the velocity of the point at -side radius n of a body, times side.
static void add_surface_velocity(const rodrigues *run, int64_t i, double side, const double n[3], double u[3]) {
    double Omega[3], turning[3];
    const double arm[3] = {-side * run->radius[i] * n[0], -side * run->radius[i] * n[1], -side * run->radius[i] * n[2]};
    rodrigues_angular_velocity(run, &run->now, i, Omega);
    cross3(Omega, arm, turning);
    add3(side, run->now.velocity + 3 * i, u);
    add3(side, turning, u);
}

static void push_body(rodrigues *run, int64_t i, double side, const double n[3], const double p[3]) {
    double moment[3];
    const double arm[3] = {-side * run->radius[i] * n[0], -side * run->radius[i] * n[1], -side * run->radius[i] * n[2]};
    cross3(arm, p, moment);
    add3(side * run->inverse_mass[i], p, run->now.velocity + 3 * i);
    add3(side, moment, run->now.spin + 3 * i);
}

// 1/m and, along the surface, 1/m + r^2/J, summed over the bodies that meet.
static void inverse_masses(const rodrigues *run, const rodrigues_event *event, double *normal, double *tangent) {
    *normal = *tangent = 0;
    const int64_t both[] = {event->body, event->other};
    for (int side = 0; side < 2; side++) {
        const int64_t i = both[side];
        if (i < 0) continue;
        *normal += run->inverse_mass[i];
        *tangent += run->inverse_mass[i] + run->radius[i] * run->radius[i] * run->inverse_inertia[3 * i];
    }
}

// The tangential impulse against the slip u. Between spheres the normal impulse changes the slip by nothing and a tangential one along
// itself: Coulomb's law, followed through the impact, brings the slip to rest or does not, and nothing turns its direction.
static double tangent_impulse(const carom_surface_law *law, double slip, double inverse_mass, double normal_impulse) {
    const double stop = slip / inverse_mass;
    switch (law->surface) {
    case CAROM_SURFACE_SMOOTH: return 0;
    case CAROM_SURFACE_ROUGH: return 2 * stop;
    case CAROM_SURFACE_COULOMB: return fmin(stop, law->friction * normal_impulse);
    }
    return 0;
}

void rodrigues_collide(rodrigues *run, rodrigues_event *event) {
    const carom_surface_law *law = event->other < 0 ? &run->motion->wall[event->wall].law : run->motion->collisions;
    const int64_t i = event->body, j = event->other;
    const double before = kinetic_energy(run, i) + (j < 0 ? 0 : kinetic_energy(run, j));
    double u[3] = {0}, across, along, p[3] = {0};
    find_normal(run, event);
    const double *n = event->normal;
    add_surface_velocity(run, i, 1, n, u);
    if (j >= 0) add_surface_velocity(run, j, -1, n, u);
    inverse_masses(run, event, &across, &along);
    const double speed = dot3(n, u);
    event->approach = fmax(0, -speed);
    event->normal_impulse = (1 + law->restitution) * event->approach / across;
    add3(-speed, n, u);
    const double slip = norm3(u);
    event->tangent_impulse = tangent_impulse(law, slip, along, event->normal_impulse);
    add3(event->normal_impulse, n, p);
    if (slip > 0) add3(-event->tangent_impulse / slip, u, p);
    push_body(run, i, 1, n, p);
    if (j >= 0) push_body(run, j, -1, n, p);
    event->energy_change = kinetic_energy(run, i) + (j < 0 ? 0 : kinetic_energy(run, j)) - before;
    run->kinetic += event->energy_change;
}
