// SPDX-License-Identifier: Apache-2.0
// The stiffest vibration of the present state, which limits the step of an explicit method (h omega < 2, and well below where contacts open
// and close): power iteration with differences of forces, or a bound from what single elements do.
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

// Rounds after which the Rayleigh quotient of a chain's crowded upper spectrum is about 1 % low.
enum { ROUNDS = 50 };
// Displacement of a difference, relative to the largest radius, and as an angle: about the cube root of the rounding unit.
#define DIFFERENCE 1e-5

// Forces and torques after a displacement of `now` along z [n x 6]: translations in units of `length`, then rotations.
static bool forces_at(rodrigues *run, const double *z, double displacement, double length) {
    const rodrigues_state *state = &run->next;
    for (int64_t i = 0; i < run->bodies; i++, z += 6) {
        const double half[4] = {1, 0.5 * displacement * z[3], 0.5 * displacement * z[4], 0.5 * displacement * z[5]};
        for (int k = 0; k < 3; k++) state->position[3 * i + k] = run->now.position[3 * i + k] + displacement * length * z[k];
        carom_quaternion_product(half, run->now.attitude + 4 * i, state->attitude + 4 * i);
        carom_quaternion_normalise(state->attitude + 4 * i);
    }
    double energy;
    return rodrigues_evaluate(run, state, &energy);
}

carom_status rodrigues_stiffest_frequency(rodrigues *run, double *frequency, carom_error *error) {
    *frequency = 0;
    const size_t n = (size_t)run->bodies;
    carom_arena memory = {0};
    double *z = carom_arena_take(&memory, 6 * n, sizeof *z), *change = carom_arena_take(&memory, 6 * n, sizeof *change);
    double *force = carom_arena_take(&memory, 3 * n, sizeof *force), *torque = carom_arena_take(&memory, 3 * n, sizeof *torque);
    if (memory.failed) {
        carom_arena_free(&memory);
        return carom_fail_memory(error, "frequency");
    }
    // Lengths are measured in radii, so that translations and rotations compare. The first direction is random, always the same.
    double size = 0, square = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, run->radius[i]);
    if (!(size > 0)) size = 1;
    carom_stream stream;
    carom_stream_start(&stream, 0, 0);
    for (size_t i = 0; i < 6 * n; i++) z[i] = carom_stream_uniform(&stream) - 0.5;
    for (int round = 0; round < ROUNDS; round++) {
        // change = K z, K the matrix of second derivatives of U in (x / size, rotation).
        if (!forces_at(run, z, DIFFERENCE, size)) break;
        memcpy(force, run->next.force, 3 * n * sizeof *force);
        memcpy(torque, run->next.torque, 3 * n * sizeof *torque);
        if (!forces_at(run, z, -DIFFERENCE, size)) break;
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < 3; k++) {
                change[6 * i + k] = size * (run->next.force[3 * i + k] - force[3 * i + k]) / (2 * DIFFERENCE);
                change[6 * i + 3 + k] = (run->next.torque[3 * i + k] - torque[3 * i + k]) / (2 * DIFFERENCE);
            }
        }
        // The estimate z.Kz / z.Mz, then z = M^-1 K z, scaled. A body's least moment stands for its inertia.
        double stiffness = 0, inertia = 0, largest = 0;
        for (size_t i = 0; i < n; i++) {
            const double *J = run->inertia + 3 * i, mass = run->mass[i] * size * size, moment = fmin(J[0], fmin(J[1], J[2]));
            for (size_t k = 6 * i; k < 6 * i + 6; k++) {
                const double m = k < 6 * i + 3 ? mass : moment;
                stiffness += z[k] * change[k];
                inertia += m * z[k] * z[k];
                z[k] = change[k] / m;
                largest = fmax(largest, fabs(z[k]));
            }
        }
        for (size_t i = 0; largest > 0 && i < 6 * n; i++) z[i] /= largest;
        const double estimate = inertia > 0 ? stiffness / inertia : 0;
        // If forces are not finite here, the estimate of the previous round is returned.
        if (!isfinite(estimate)) break;
        square = estimate;
        // Where no displacement changes a force, as under gravity alone, nothing vibrates.
        if (!(largest > 0)) break;
    }
    carom_arena_free(&memory);
    *frequency = sqrt(fmax(square, 0));
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- a bound

// Stiffnesses whose quadratic form is nowhere below the second derivatives of an element's energy: `apart` k for the difference of the
// displacements of its ends, `bending` for that of their rotations, and `turning` for the rotation of each.
typedef struct stiffness {
    double apart, bending, turning;
} stiffness;

// Of a bond, term by term.
//   stretching: Ka/r0^2 along the bond, (Ka/r0) (r/r0 - 1)/r across it
//   bending: at most Km about any axis
//   shear, Ks (1 - c)^2/2: Ks (grad c . z)^2, where the square of a sum of three is at most three times the sum of squares, and
//   Ks |1 - c| times a bound of the second derivatives of c
static stiffness bound_bond(const rodrigues_bond *bond, const rodrigues_state *state) {
    const carom_bonds *law = bond->law;
    const double *qi = state->attitude + 4 * (int64_t)bond->first, *qj = state->attitude + 4 * (int64_t)bond->second;
    double n[3], a[3], b[3], gradient[3], turned[2][3], c;
    for (int k = 0; k < 3; k++) n[k] = state->position[3 * bond->first + k] - state->position[3 * bond->second + k];
    const double r = carom_norm3(n), stretch = r / bond->length - 1;
    for (int k = 0; k < 3; k++) n[k] /= r;
    carom_quaternion_rotate(qi, bond->direction, a);
    double mixed, own;  // of the second derivatives of c: what they add to the displacement, times r^2, and to the rotations
    if (law->shear == CAROM_SHEAR_PUBLISHED) {
        // c = a.b, a = Ri n0, b = Rj n. Its derivatives: Rj'a across n over r, and -+ a x b.
        double back[3];
        carom_quaternion_rotate(qj, n, b);
        carom_quaternion_rotate_back(qj, a, back);
        c = carom_dot3(a, b);
        for (int k = 0; k < 3; k++) gradient[k] = back[k] - c * n[k];
        carom_cross3(a, b, turned[0]);
        memcpy(turned[1], turned[0], sizeof turned[1]);
        mixed = 2;
        own = 3;
    } else {
        // c = (a + b).n/2, b = Rj n0. Its derivatives: (a + b)/2 across n over r, and a x n/2, b x n/2.
        carom_quaternion_rotate(qj, bond->direction, b);
        c = 0.5 * (carom_dot3(a, n) + carom_dot3(b, n));
        for (int k = 0; k < 3; k++) gradient[k] = 0.5 * (a[k] + b[k]) - c * n[k];
        carom_cross3(a, n, turned[0]);
        carom_cross3(b, n, turned[1]);
        for (int k = 0; k < 6; k++) turned[k / 3][k % 3] *= 0.5;
        mixed = 1;
        own = 1;
    }
    const double slack = fabs(1 - c), moved = carom_dot3(gradient, gradient);
    const double rotated = fmax(carom_dot3(turned[0], turned[0]), carom_dot3(turned[1], turned[1]));
    return (stiffness){.apart = fmax(law->Ka / (bond->length * bond->length), law->Ka / bond->length * stretch / r) +
                                law->Ks * (3 * moved + slack * (fabs(c) + sqrt(moved) + mixed)) / (r * r),
                       .bending = law->Km,
                       .turning = law->Ks * (3 * rotated + own * slack)};
}

// U'' = (3/2) (K/D^2) s^(1/2) of a contact, s = 1 - distance/D.
static double contact_stiffness(double K, double distance, double D) { return 1.5 * K / (D * D) * sqrt(fmax(0, 1 - distance / D)); }

// Adds those of one body alone: offset masses, m g |rho| about any axis; dipoles, the trap and the fields that turn and pull the moment;
// soft planes.
static void add_fields(const rodrigues *run, int64_t i, double *displacement, double *rotation) {
    const double *x = run->now.position + 3 * i;
    for (int k = 0; k < run->motion->potentials; k++) {
        const carom_potential *p = &run->motion->potential[k];
        if (p->type == CAROM_POTENTIAL_OFFSET_MASS)
            *rotation += run->mass[i] * fabs(p->offset_mass.gravity) * carom_norm3(p->offset_mass.offset);
        if (p->type != CAROM_POTENTIAL_DIPOLE) continue;
        double field[3], gradient = 0;
        carom_multiply3(p->dipole.gradient, x, field);
        carom_add3(1, p->dipole.field, field);
        for (int j = 0; j < 9; j++) gradient += p->dipole.gradient[j] * p->dipole.gradient[j];
        const double mu = fabs(p->dipole.moment) * carom_norm3(p->dipole.direction), *J = run->inertia + 3 * i;
        // 2 |mu G| |u| |eta| <= |mu G| (s |u|^2 + |eta|^2/s)
        const double s = sqrt(run->mass[i] / fmin(J[0], fmin(J[1], J[2])));
        *displacement += fmax(0, p->dipole.trap) + mu * sqrt(gradient) * s;
        *rotation += mu * (carom_norm3(field) + sqrt(gradient) / s);
    }
    for (int w = 0; w < run->planes; w++) {
        const double *plane = run->plane + RODRIGUES_PLANE_ROW * w;
        *displacement += contact_stiffness(plane[4], carom_dot3(plane, x) + plane[3], run->radius[i]);
    }
}

// K and M are sums over elements, if each body's mass is shared by its elements in proportion to their stiffness: no eigenvalue of
// K z = w^2 M z is then above the largest one of an element (Irons & Treharne 1971), which is S1/m1 + S2/m2 with the sums S of the
// stiffnesses at its ends. Displacements and rotations are apart here, and so are the two kinds of rotation, whose eigenvalues add up.
carom_status rodrigues_bound_frequency(rodrigues *run, double *frequency, carom_error *error) {
    *frequency = 0;
    if (!rodrigues_evaluate(run, &run->now, &run->potential)) return carom_fail_memory(error, "contacts");
    const rodrigues_neighbours *near = run->has_contacts ? &run->contacts : NULL;
    carom_arena memory = {0};
    double *sums = carom_arena_take(&memory, 3 * (size_t)run->bodies, sizeof *sums);
    if (memory.failed) return carom_fail_memory(error, "frequency");
    double *displacement = sums, *bending = sums + run->bodies, *turning = bending + run->bodies;
    for (int64_t k = 0; k < run->bonds; k++) {
        const rodrigues_bond *bond = &run->bond[k];
        if (bond->broken) continue;
        const stiffness one = bound_bond(bond, &run->now);
        for (int side = 0; side < 2; side++) {
            const int i = side ? bond->second : bond->first;
            displacement[i] += one.apart;
            bending[i] += one.bending;
            turning[i] += one.turning;
        }
    }
    // The second pass over contacts takes the sums that the first has made.
    double moved = 0, bent = 0, turned = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < run->bodies; i++) {
            if (!pass) add_fields(run, i, &displacement[i], &turning[i]);
            const double *inverse = run->inverse_inertia + 3 * i, own = displacement[i] * run->inverse_mass[i];
            if (pass) moved = fmax(moved, own);
            if (pass) turned = fmax(turned, turning[i] * fmax(inverse[0], fmax(inverse[1], inverse[2])));
            for (int64_t k = near ? near->start[i] : 0; near && k < near->start[i + 1]; k++) {
                const int64_t j = near->second[k];
                double between[3];
                for (int d = 0; d < 3; d++) between[d] = run->now.position[3 * i + d] - run->now.position[3 * j + d];
                const double stiff = contact_stiffness(run->Kpp, carom_norm3(between), run->radius[i] + run->radius[j]);
                if (!pass) displacement[i] += stiff;
                if (!pass) displacement[j] += stiff;
                if (pass && stiff > 0) moved = fmax(moved, own + displacement[j] * run->inverse_mass[j]);
            }
        }
    }
    for (int64_t k = 0; k < run->bonds; k++) {
        const rodrigues_bond *bond = &run->bond[k];
        double apart = 0, bend = 0;
        for (int side = 0; side < 2 && !bond->broken; side++) {
            const int64_t i = side ? bond->second : bond->first;
            const double *inverse = run->inverse_inertia + 3 * i;
            apart += displacement[i] * run->inverse_mass[i];
            bend += bending[i] * fmax(inverse[0], fmax(inverse[1], inverse[2]));
        }
        moved = fmax(moved, apart);
        bent = fmax(bent, bend);
    }
    carom_arena_free(&memory);
    *frequency = sqrt(fmax(moved, bent + turned));
    return CAROM_OK;
}
