// SPDX-License-Identifier: Apache-2.0
// A body that has come to rest on the plane with a point: it slides, rolls or sticks there, by steps of the first order.
//
// A step adds gravity's impulse to the momenta, then the inelastic impulses with Coulomb friction of all points that touch, whose gaps do
// not close any further (Anitescu & Potra); with these momenta it moves: the centre of mass along a line, the attitude by the discrete
// rotation, which keeps its energy. With P the impulses of the contacts, u+ their velocities after, and G gravity's impulse, the energy
// changes by
//     P.u+ - |G + P|^2/2,    |.| in the metric of M^-1,
// which is never positive: it falls. Curved and turning surfaces then miss the plane by the square of the step. Gaps of points that press
// are closed again along M^-1 J', which may raise the weight; momenta pay for that.
#include <string.h>

#include "carom/dense.h"
#include "carom/rotation.h"
#include "dynamics/lgvci/lgvci.h"

// Points that are looked at: of more, those that reach furthest in as many directions along the plane.
enum { MOST_POINTS = 8, MOST_CLOSINGS = 4, CONE_EDGES = 16 };
// Singular systems of dependent gaps, such as the four corners of a box: this share of the trace is added to the diagonal.
#define REGULARISED 1e-9
// Speeds below this share of the body's scale are none.
#define STILL_SPEED 1e-9
// A contact presses when its normal impulse exceeds this share of the weight's.
#define PRESSING 1e-9

carom_status lgvci_rest_create(const lgvci *run, const carom_motion_call *call, lgvci_law *law, carom_error *error) {
    lgvci_options options = *(const lgvci_options *)call->options;
    options.law = "anitescu-potra";
    options.restitution = NAN;
    carom_motion_call own = *call;
    own.options = &options;
    carom_status status = lgvci_law_create(run, &own, law, error);
    if (!status && law->friction > 0) status = carom_motion_set_option(law->law, law->options, "cone_edges", CONE_EDGES, error);
    return status;
}

// The points within `reach` of the plane; of many, those that reach furthest in directions spread evenly along it.
static int collect(const lgvci *run, const carom_body_state *state, double reach, lgvci_law *law) {
    double u[3], Omega[3], tangents[6], turned[6], rho[3];
    carom_multiply3_transposed(state->attitude, run->normal, u);
    carom_multiply3(run->inverse, state->angular_momentum, Omega);
    carom_complete_frame3(run->normal, tangents);
    for (int k = 0; k < 2; k++) carom_multiply3_transposed(state->attitude, tangents + 3 * k, turned + 3 * k);
    const double height = carom_dot3(run->normal, state->position) + run->offset;
    const double approach = carom_dot3(run->normal, state->momentum) / run->mass;
    const int features = carom_body_features(run->body), most = law->most < MOST_POINTS ? law->most : MOST_POINTS;
    int found = 0, count = 0, chosen[MOST_POINTS];
    for (int feature = 0; feature < features; feature++)
        if (height + carom_body_feature_support(run->body, feature, u, rho) <= reach && found++ < most) chosen[count++] = feature;
    if (found > most) count = 0;
    for (int d = 0; found > most && d < most; d++) {
        const double angle = 6.283185307179586 * d / most;
        double furthest = -INFINITY;
        int best = 0;
        for (int feature = 0; feature < features; feature++) {
            if (height + carom_body_feature_support(run->body, feature, u, rho) > reach) continue;
            const double along = cos(angle) * carom_dot3(turned, rho) + sin(angle) * carom_dot3(turned + 3, rho);
            if (along > furthest) furthest = along, best = feature;
        }
        bool known = false;
        for (int k = 0; k < count; k++) known = known || chosen[k] == best;
        if (!known) chosen[count++] = best;
    }
    for (int k = 0; k < count; k++) {
        lgvci_contact *contact = &law->contacts[k];
        contact->feature = chosen[k];
        carom_body_feature_support(run->body, chosen[k], u, contact->rho);
        carom_cross3(contact->rho, u, contact->chi);
        contact->speed = approach + carom_dot3(contact->chi, Omega);
    }
    return count;
}

// Moves the body until the first `count` points are on the plane, along M^-1 J' mu with J M^-1 J' mu = -gap, again for what a turn misses.
static void close_gaps(const lgvci *run, const lgvci_law *law, int count, carom_body_state *state) {
    double gap[MOST_POINTS] = {0};
    for (int round = 0; round < MOST_CLOSINGS; round++) {
        double u[3], chi[MOST_POINTS][3], turned[MOST_POINTS][3], W[MOST_POINTS * MOST_POINTS], trace = 0, mu[MOST_POINTS];
        int rows[MOST_POINTS];
        carom_multiply3_transposed(state->attitude, run->normal, u);
        const double height = carom_dot3(run->normal, state->position) + run->offset;
        for (int k = 0; k < count; k++) {
            double rho[3];
            gap[k] = height + carom_body_feature_support(run->body, law->contacts[k].feature, u, rho);
            carom_cross3(rho, u, chi[k]);
            carom_multiply3(run->inverse, chi[k], turned[k]);
            mu[k] = -gap[k];
        }
        if (carom_max_abs((size_t)count, gap) <= lgvci_gap_resolution(run, state)) return;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < count; k++) W[count * i + k] = 1 / run->mass + carom_dot3(chi[i], turned[k]);
        for (int k = 0; k < count; k++) trace += W[(count + 1) * k];
        for (int k = 0; k < count; k++) W[(count + 1) * k] += REGULARISED * trace;
        if (!carom_lu_factor(count, W, rows)) return;
        carom_lu_solve(count, W, rows, mu);
        double turn[3] = {0}, next[9];
        for (int k = 0; k < count; k++) {
            carom_add3(mu[k] / run->mass, run->normal, state->position);
            carom_add3(mu[k], turned[k], turn);
        }
        // R (1 + S(turn)), and back to a rotation.
        const double whole[9] = {1, -turn[2], turn[1], turn[2], 1, -turn[0], -turn[1], turn[0], 1};
        carom_product3(state->attitude, whole, next);
        memcpy(state->attitude, next, sizeof next);
        carom_rotation_project(state->attitude);
        carom_rotation_project(state->attitude);
    }
}

carom_status lgvci_rest_step(lgvci *run, const carom_motion_call *call, lgvci_law *law, double length, bool may_leave, lgvci_rest *rest,
                             carom_error *error) {
    double terms[3], c[3];
    const carom_body_state start = run->base;
    const double energy = lgvci_energy(run, &start, terms);
    *rest = LGVCI_REST_STAYS;
    lgvci_launch(run, &start);
    // A point that is nearer than the plane's curvature of the motion in a step touches.
    const double reach = length * length * (run->gravity + run->acceleration) + lgvci_gap_resolution(run, &start);
    int count = collect(run, &start, reach, law);
    carom_body_state state = start;
    state.momentum[2] -= run->mass * run->gravity * length;
    const carom_body_state pulled = state;
    bool solved = true;
    if (count > 0) {
        const carom_status status = lgvci_law_apply(run, call, law, 0, count, &state, &solved, error);
        if (status) return status;
        if (!solved) {
            *rest = LGVCI_REST_FAILS;
            return CAROM_OK;
        }
    }
    double push[3];
    for (int i = 0; i < 3; i++) push[i] = state.momentum[i] - pulled.momentum[i];
    const double weight = run->mass * run->gravity * run->normal[2] * length;
    if (may_leave && !(carom_dot3(push, run->normal) > PRESSING * weight)) {
        *rest = LGVCI_REST_LEAVES;
        return CAROM_OK;
    }

    // The points that go on touching come first.
    double Omega[3];
    carom_multiply3(run->inverse, state.angular_momentum, Omega);
    const double slow = PRESSING * lgvci_speed_scale(run, &pulled);
    int pressing = 0;
    for (int k = 0; k < count; k++) {
        const lgvci_contact contact = law->contacts[k];
        const double speed = carom_dot3(run->normal, state.momentum) / run->mass + carom_dot3(contact.chi, Omega);
        if (speed > slow) continue;
        law->contacts[k] = law->contacts[pressing];
        law->contacts[pressing++] = contact;
    }
    // Moves with the momenta after the impulses.
    lgvci_launch(run, &state);
    carom_body_state next;
    if (length > run->longest || !lgvci_advance(run, length, &next, c)) {
        run->base = start;
        *rest = LGVCI_REST_FAILS;
        return CAROM_OK;
    }
    memcpy(next.momentum, state.momentum, sizeof next.momentum);
    memcpy(next.position, state.position, sizeof next.position);
    carom_add3(length / run->mass, state.momentum, next.position);
    const carom_body_state moved = next;
    close_gaps(run, law, pressing, &next);
    // Points that came down in this step, which end on the plane, too.
    count = collect(run, &next, -lgvci_gap_resolution(run, &next), law);
    if (count > 0) close_gaps(run, law, count, &next);

    // The energy never rises: momenta pay for the weight that was lifted, or it stays where it was.
    double after = lgvci_energy(run, &next, terms);
    if (after > energy && terms[2] > energy) {
        next = moved;
        after = lgvci_energy(run, &next, terms);
    }
    if (after > energy && terms[0] + terms[1] > 0) {
        const double factor = sqrt(fmax(energy - terms[2], 0) / (terms[0] + terms[1]));
        for (int i = 0; i < 3; i++) {
            next.momentum[i] *= factor;
            next.angular_momentum[i] *= factor;
        }
    }
    if (lgvci_still(run, &next) && lgvci_still(run, &start)) *rest = LGVCI_REST_STILL;
    lgvci_launch(run, &next);
    run->touching = count > pressing ? count : pressing;
    return CAROM_OK;
}

bool lgvci_still(const lgvci *run, const carom_body_state *state) {
    double terms[3];
    lgvci_energy(run, state, terms);
    const double slow = STILL_SPEED * sqrt(run->gravity * run->radius);
    return terms[0] + terms[1] <= 0.5 * run->mass * slow * slow;
}
