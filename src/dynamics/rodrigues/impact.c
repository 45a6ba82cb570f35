// SPDX-License-Identifier: Apache-2.0
// Impacts inside a step. Within a step of any length the centers follow x + t v + t^2 F/(2m), whatever the attitudes do: gaps are
// polynomials, of degree 2 above a plane and, squared, of degree 4 between spheres.
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

enum { MOST_DEGREE = 4 };

// A body that reaches into a wall or another body by less than this share of its size only touches: positions written with nine digits
// have such round-off.
#define TOUCH_TOLERANCE 1e-9

// Halvings of a bracket, at most; the secant steps between them need about six.
enum { MOST_HALVINGS = 200 };

// ---------------------------------------------------------------------------------------------------------- polynomials

// Horner's rule.
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
        // The end that stays twice would hold the secant back: its value is halved each time.
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

// Ends of the pieces of [0, length] on which the polynomial is monotone: 0, the roots of its derivative, length. Returns how many pieces.
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
        // At the start a touch that neither approaches nor leaves does not count, but one that is about to sink does.
        if (!(fb < fa)) continue;
        if (fa <= 0) return ends[k];
        if (fb <= 0) return bracketed_root(c, degree, ends[k], ends[k + 1]);
    }
    return INFINITY;
}

// -------------------------------------------------------------------------------------------------------------- search

// The coefficient of t^2 in a body's parabola: half of F/m, or all of it where the kick comes first.
static void half_acceleration(const rodrigues *run, int64_t i, double half[3]) {
    const double factor = (run->map == RODRIGUES_FIRST ? 1 : 0.5) * run->inverse_mass[i];
    for (int k = 0; k < 3; k++) half[k] = factor * run->now.force[3 * i + k];
}

void rodrigues_keep_first(const rodrigues *run, const rodrigues_event *found, rodrigues_event *first) {
    if (!isfinite(found->time)) return;
    const bool tie = fabs(found->time - first->time) <= run->tie;
    const bool lower = found->body != first->body ? found->body < first->body : found->other < first->other;
    if (tie ? lower : found->time < first->time) *first = *found;
}

void rodrigues_meet_walls(const rodrigues *run, int64_t i, const double x[3], const double v[3], double length, rodrigues_event *first) {
    double half[3];
    half_acceleration(run, i, half);
    for (int w = 0; w < run->motion->walls; w++) {
        const carom_wall *wall = &run->motion->wall[w];
        const double scale = 1 / carom_norm3(wall->normal);
        const double c[] = {scale * (carom_dot3(wall->normal, x) + wall->offset) - run->radius[i], scale * carom_dot3(wall->normal, v),
                            scale * carom_dot3(wall->normal, half)};
        const double time = rodrigues_first_contact(c, 2, fmin(first->time + run->tie, length));
        rodrigues_keep_first(run, &(rodrigues_event){.time = time, .body = i, .other = -1, .wall = w}, first);
    }
}

// The first impact of the bodies of a block, with walls and with the bodies above them in the list.
static void search_block(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    rodrigues_event event = {.time = INFINITY};
    for (int64_t i = first; i < end; i++) {
        const double *x = run->now.position + 3 * i, *v = run->now.velocity + 3 * i;
        double half[3];
        half_acceleration(run, i, half);
        rodrigues_meet_walls(run, i, x, v, run->step, &event);
        if (!run->motion->collisions) continue;
        for (int64_t k = run->colliders.start[i]; k < run->colliders.start[i + 1]; k++) {
            const int64_t j = run->colliders.second[k];
            double dx[3], dv[3], other[3], da[3];
            half_acceleration(run, j, other);
            for (int d = 0; d < 3; d++) {
                dx[d] = x[d] - run->now.position[3 * j + d];
                dv[d] = v[d] - run->now.velocity[3 * j + d];
                da[d] = half[d] - other[d];
            }
            const double length = fmin(event.time + run->tie, run->step), D = run->radius[i] + run->radius[j];
            // Most pairs of the list cannot meet in this step.
            if (carom_norm3(dx) - D > length * (carom_norm3(dv) + length * carom_norm3(da))) continue;
            // |dx + t dv + t^2 da|^2 - D^2
            const double c[] = {carom_dot3(dx, dx) - D * D, 2 * carom_dot3(dx, dv), carom_dot3(dv, dv) + 2 * carom_dot3(dx, da),
                                2 * carom_dot3(dv, da), carom_dot3(da, da)};
            const double time = rodrigues_first_contact(c, 4, length);
            rodrigues_keep_first(run, &(rodrigues_event){.time = time, .body = i, .other = j, .wall = -1}, &event);
        }
    }
    run->partials[block].event = event;
}

bool rodrigues_find_event(rodrigues *run, double length, rodrigues_event *event) {
    run->step = length;
    if (run->motion->collisions) {
        // The furthest that a body goes.
        double reach = 0;
        for (int64_t i = 0; i < run->bodies; i++) {
            double half[3];
            half_acceleration(run, i, half);
            reach = fmax(reach, length * (carom_norm3(run->now.velocity + 3 * i) + length * carom_norm3(half)));
        }
        if (!rodrigues_neighbours_update(&run->colliders, run->now.position, run->radius, reach)) return false;
    }
    rodrigues_for_blocks(run, run->bodies, search_block);
    *event = (rodrigues_event){.time = INFINITY};
    for (int64_t b = 0; b < run->blocks; b++) rodrigues_keep_first(run, &run->partials[b].event, event);
    return true;
}

// Bodies may touch at the start, with the rounding of numbers written by hand.
carom_status rodrigues_check_gaps(rodrigues *run, carom_error *error) {
    for (int64_t i = 0; i < run->bodies; i++) {
        const double *x = run->now.position + 3 * i;
        for (int w = 0; w < run->motion->walls; w++) {
            const carom_wall *wall = &run->motion->wall[w];
            const double gap = (carom_dot3(wall->normal, x) + wall->offset) / carom_norm3(wall->normal) - run->radius[i];
            if (gap < -TOUCH_TOLERANCE * fmax(run->radius[i], carom_norm3(x)))
                return carom_fail(error, CAROM_BAD_INPUT, "bodies[%d].position: the body reaches %.3g m into wall %d at the start", (int)i,
                                  -gap, w);
        }
    }
    if (!run->motion->collisions) return CAROM_OK;
    if (!rodrigues_neighbours_update(&run->colliders, run->now.position, run->radius, 0)) return carom_fail_memory(error, "neighbours");
    for (int64_t i = 0; i < run->bodies; i++) {
        for (int64_t k = run->colliders.start[i]; k < run->colliders.start[i + 1]; k++) {
            const int64_t j = run->colliders.second[k];
            const double D = run->radius[i] + run->radius[j];
            double between[3];
            for (int d = 0; d < 3; d++) between[d] = run->now.position[3 * i + d] - run->now.position[3 * j + d];
            if (carom_norm3(between) < D * (1 - TOUCH_TOLERANCE))
                return carom_fail(error, CAROM_BAD_INPUT, "bodies: %d and %d overlap by %.3g m at the start", (int)i, (int)j,
                                  D - carom_norm3(between));
        }
    }
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- impact

static double kinetic_energy(const rodrigues *run, int64_t i) {
    return 0.5 * run->mass[i] * carom_dot3(run->now.velocity + 3 * i, run->now.velocity + 3 * i) +
           rodrigues_rotational_energy(run, &run->now, i);
}

// Adds the velocity of the point at -side radius n of a body, times side.
static void add_surface_velocity(const rodrigues *run, int64_t i, double side, const double n[3], double u[3]) {
    double Omega[3], turning[3];
    const double arm[3] = {-side * run->radius[i] * n[0], -side * run->radius[i] * n[1], -side * run->radius[i] * n[2]};
    rodrigues_angular_velocity(run, &run->now, i, Omega);
    carom_cross3(Omega, arm, turning);
    carom_add3(side, run->now.velocity + 3 * i, u);
    carom_add3(side, turning, u);
}

// Applies the impulse side p at that point: v += p/m, L += arm x p.
static void push_body(rodrigues *run, int64_t i, double side, const double n[3], const double p[3]) {
    double moment[3];
    const double arm[3] = {-side * run->radius[i] * n[0], -side * run->radius[i] * n[1], -side * run->radius[i] * n[2]};
    carom_cross3(arm, p, moment);
    carom_add3(side * run->inverse_mass[i], p, run->now.velocity + 3 * i);
    carom_add3(side, moment, run->now.spin + 3 * i);
}

// Adds what an impulse changes a body's velocity at the touching point by, along two tangents and the normal. The arm is along the normal:
// an impulse along it turns nothing, and the two are not coupled whatever the inertia is.
static void add_mobility(const rodrigues *run, int64_t i, const double tangents[6], carom_contact_problem *contact) {
    const double *inverse = run->inverse_inertia + 3 * i, mass = run->inverse_mass[i], square = run->radius[i] * run->radius[i];
    double turned[2][3];
    contact->normal += mass;
    if (rodrigues_is_sphere(inverse)) {
        contact->tangential[0] += mass + square * inverse[0];
        contact->tangential[2] += mass + square * inverse[0];
        return;
    }
    for (int k = 0; k < 2; k++) carom_quaternion_rotate_back(run->now.attitude + 4 * i, tangents + 3 * k, turned[k]);
    // An impulse along the first tangent turns the body about the second, and one along the second about minus the first.
    const double *first = turned[1], *second = turned[0];
    contact->tangential[0] += mass;
    contact->tangential[2] += mass;
    for (int k = 0; k < 3; k++) {
        contact->tangential[0] += square * inverse[k] * first[k] * first[k];
        contact->tangential[1] -= square * inverse[k] * first[k] * second[k];
        contact->tangential[2] += square * inverse[k] * second[k] * second[k];
    }
}

carom_status rodrigues_collide(rodrigues *run, rodrigues_event *event, carom_error *error) {
    const carom_surface_law *law = event->other < 0 ? &run->motion->wall[event->wall].law : run->motion->collisions;
    const int64_t i = event->body, j = event->other;
    const double before = kinetic_energy(run, i) + (j < 0 ? 0 : kinetic_energy(run, j));
    double u[3] = {0}, p[3] = {0}, tangents[6], *n = event->normal;

    // The contact frame, and the problem in it: the relative velocity of the surfaces and what impulses change it by.
    for (int k = 0; k < 3; k++)
        n[k] = j < 0 ? run->motion->wall[event->wall].normal[k] : run->now.position[3 * i + k] - run->now.position[3 * j + k];
    const double length = carom_norm3(n);
    for (int k = 0; k < 3; k++) n[k] /= length;
    carom_complete_frame3(n, tangents);
    add_surface_velocity(run, i, 1, n, u);
    if (j >= 0) add_surface_velocity(run, j, -1, n, u);
    carom_contact_problem contact = {.friction = law->friction,
                                     .restitution = law->restitution,
                                     .velocity = {{carom_dot3(tangents, u), carom_dot3(tangents + 3, u)}, carom_dot3(n, u)}};
    add_mobility(run, i, tangents, &contact);
    if (j >= 0) add_mobility(run, j, tangents, &contact);

    // The impulse: along the normal by Newton's law, which the surface may complete by a tangential one.
    event->approach = fmax(0, -contact.velocity.normal);
    carom_contact_vector impulse = {.normal = (1 + contact.restitution) * event->approach / contact.normal};
    if (law->surface == CAROM_SURFACE_ROUGH) {
        // It reverses the slip: -2 B^-1 u.
        const double *B = contact.tangential, *slip = contact.velocity.tangent, scale = -2 / (B[0] * B[2] - B[1] * B[1]);
        impulse.tangent[0] = scale * (B[2] * slip[0] - B[1] * slip[1]);
        impulse.tangent[1] = scale * (B[0] * slip[1] - B[1] * slip[0]);
    } else if (law->surface == CAROM_SURFACE_COULOMB) {
        // The hypotheses of restitution agree here, as normal and tangential motion are not coupled.
        const carom_contact_options options = carom_contact_defaults();
        carom_contact_result result;
        const carom_status status = carom_contact_solve(&contact, &options, &result, error);
        if (status) return status;
        impulse = result.impulse;
    }
    carom_add3(impulse.normal, n, p);
    for (int k = 0; k < 2; k++) carom_add3(impulse.tangent[k], tangents + 3 * k, p);
    push_body(run, i, 1, n, p);
    if (j >= 0) push_body(run, j, -1, n, p);
    event->normal_impulse = impulse.normal;
    event->tangent_impulse = hypot(impulse.tangent[0], impulse.tangent[1]);
    event->energy_change = kinetic_energy(run, i) + (j < 0 ? 0 : kinetic_energy(run, j)) - before;
    run->kinetic += event->energy_change;
    return CAROM_OK;
}
