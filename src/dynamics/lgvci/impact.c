// SPDX-License-Identifier: Apache-2.0
// What touches, and the impulse at a single contact.
#include <string.h>

#include "carom/rotation.h"
#include "dynamics/lgvci/lgvci.h"

// Turn of the normal, in radians, over which a point's wandering on the surface is differenced: the error is its square.
#define DIFFERENCE_ANGLE 1e-5
// The discrete impulse: change relative to itself at which the secant iteration has converged, a few units of rounding, and its limit.
#define SECANT_TOLERANCE 4e-15
enum { MOST_SECANTS = 50 };
// First step of the secant iteration, relative to the impulse.
#define SECANT_START 1e-4
// Segments shorter than this share of the fastest turn have the continuous energy: their discrete term differs by less than rounding.
#define SHORT_SEGMENT 1e-9

int lgvci_collect_contacts(const lgvci *run, const carom_body_state *state, lgvci_contact *contacts, int most) {
    double u[3], rho[3], Omega[3];
    carom_multiply3_transposed(state->attitude, run->normal, u);
    carom_multiply3(run->inverse, state->angular_momentum, Omega);
    const double least = carom_body_support(run->body, u, rho), limit = least + LGVCI_TOUCH_TOLERANCE * run->radius;
    const double approach = carom_dot3(run->normal, state->momentum) / run->mass;
    int count = 0;
    for (int feature = 0; feature < carom_body_features(run->body) && count < most; feature++) {
        lgvci_contact *contact = &contacts[count];
        if (carom_body_feature_support(run->body, feature, u, contact->rho) > limit) continue;
        carom_cross3(contact->rho, u, contact->chi);
        contact->speed = approach + carom_dot3(contact->chi, Omega);
        contact->feature = feature;
        count++;
    }
    return count;
}

double lgvci_gap_acceleration(const lgvci *run, const carom_body_state *state, const lgvci_contact *contact) {
    // The gap is n.x + D + u.rho(u): its second derivative is -g n3 + rho.d2u/dt2 + du.(d rho/du) du, with du = u x Omega and
    // d2u = du x Omega + u x J^-1 (Pi x Omega).
    double u[3], Omega[3], torque[3], turning[3], du[3], ddu[3], part[3], forward[3], backward[3];
    carom_multiply3_transposed(state->attitude, run->normal, u);
    carom_multiply3(run->inverse, state->angular_momentum, Omega);
    carom_cross3(state->angular_momentum, Omega, torque);
    carom_multiply3(run->inverse, torque, turning);
    carom_cross3(u, Omega, du);
    carom_cross3(du, Omega, ddu);
    carom_cross3(u, turning, part);
    carom_add3(1, part, ddu);
    double acceleration = -run->gravity * run->normal[2] + carom_dot3(contact->rho, ddu);
    const double speed = carom_norm3(du);
    if (speed == 0) return acceleration;
    // du.(d rho/du) du: the wandering of the deepest point, zero for a vertex.
    const double delta = DIFFERENCE_ANGLE / speed;
    for (int i = 0; i < 3; i++) forward[i] = u[i] + delta * du[i], backward[i] = u[i] - delta * du[i];
    double first[3], second[3];
    carom_body_feature_support(run->body, contact->feature, forward, first);
    carom_body_feature_support(run->body, contact->feature, backward, second);
    return acceleration + (carom_dot3(du, first) - carom_dot3(du, second)) / (2 * delta);
}

void lgvci_push(const lgvci *run, const lgvci_contact *contact, double impulse, carom_body_state *state) {
    carom_add3(impulse, run->normal, state->momentum);
    carom_add3(impulse, contact->chi, state->angular_momentum);
}

double lgvci_reflecting_impulse(const lgvci *run, const lgvci_contact *contact, double restitution) {
    double turned[3];
    carom_multiply3(run->inverse, contact->chi, turned);
    return -(1 + restitution) * contact->speed / (1 / run->mass + carom_dot3(contact->chi, turned));
}

// ------------------------------------------------------------------------------------------------------- discrete jump

// The discrete energy of a segment of length s, without the potential, which an impact does not change: |gamma|^2/(2m) - m g^2 s^2/8 +
// 2 c.Jc/(s^2 (1 + c.c)).
static double segment_energy(const lgvci *run, const carom_body_state *end, double s, const double c[3]) {
    double terms[3], Jc[3];
    lgvci_energy(run, end, terms);
    if (s * run->spin <= SHORT_SEGMENT || s == 0) return terms[0] + terms[1];
    carom_multiply3(run->inertia, c, Jc);
    return terms[0] - run->mass * run->gravity * run->gravity * s * s / 8 + 2 * carom_dot3(c, Jc) / (s * s * (1 + carom_dot3(c, c)));
}

// The energy of the segment of this length that follows an impulse; false where its rotation has no solution.
static bool energy_after(const lgvci *run, const carom_body_state *touch, const lgvci_contact *contact, double impulse, double length,
                         double *energy) {
    carom_body_state pushed = *touch;
    lgvci_push(run, contact, impulse, &pushed);
    double a[3], c[3] = {0};
    for (int i = 0; i < 3; i++) a[i] = length * pushed.angular_momentum[i];
    if (length > 0 && !carom_rotation_solve(run->inertia, run->inverse, a, c)) return false;
    *energy = segment_energy(run, &pushed, length, c);
    return true;
}

bool lgvci_discrete_impulse(const lgvci *run, const carom_body_state *touch, const lgvci_contact *contact, double before, const double c[3],
                            double after, double *impulse) {
    // A secant iteration from the impulse that reflects. The energy rises through the root that is wanted.
    const double wanted = segment_energy(run, touch, before, c);
    double old = lgvci_reflecting_impulse(run, contact, 1), now = old * (1 + SECANT_START), old_energy, now_energy;
    if (!energy_after(run, touch, contact, old, after, &old_energy)) return false;
    for (int i = 0; i < MOST_SECANTS; i++) {
        if (!energy_after(run, touch, contact, now, after, &now_energy)) return false;
        const double slope = (now_energy - old_energy) / (now - old), next = slope > 0 ? now - (now_energy - wanted) / slope : now;
        if (fabs(next - now) <= SECANT_TOLERANCE * fabs(next)) {
            *impulse = next;
            return next > 0;
        }
        old = now;
        old_energy = now_energy;
        now = next;
    }
    return false;
}
