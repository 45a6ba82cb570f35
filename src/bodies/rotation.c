// SPDX-License-Identifier: Apache-2.0
// Rotations: the implicit update of free rotation by Newton's method, and rotation matrices.
#include "carom/rotation.h"

#include "carom/vector3.h"

// Newton's correction, relative to the solution, after which the next one is below rounding: the iteration is quadratic.
#define NEWTON_TOLERANCE 1e-9
// At most 9 iterations were needed in 20,000 random cases up to the limit of solvability.
enum { MOST_ITERATIONS = 25 };

bool carom_rotation_solve(const double inertia[9], const double inverse[9], const double a[3], double c[3]) {
    const double S[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
    // The first guess is the turn of the flow, h Omega/2.
    carom_multiply3(inverse, a, c);
    for (int i = 0; i < 3; i++) c[i] *= 0.5;
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        // With F = (I + S(c))(I - S(c))^-1 the equation is, exactly, G(c) = a + a x c + (a.c) c - 2 J c = 0.
        double G[3], D[9], adjugate[9], change[3], turned[3], Jc[3];
        const double along = carom_dot3(a, c);
        carom_cross3(a, c, turned);
        carom_multiply3(inertia, c, Jc);
        for (int i = 0; i < 3; i++) G[i] = a[i] + turned[i] + along * c[i] - 2 * Jc[i];
        // dG/dc = S(a) + (a.c) I + c a' - 2 J.
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) D[3 * i + j] = S[3 * i + j] + c[i] * a[j] - 2 * inertia[3 * i + j];
        for (int i = 0; i < 9; i += 4) D[i] += along;
        // c -= (dG/dc)^-1 G.
        const double determinant = carom_adjugate3(D, adjugate);
        carom_multiply3(adjugate, G, change);
        carom_add3(-1 / determinant, change, c);
        const double size = carom_dot3(c, c), correction = carom_dot3(change, change) / (determinant * determinant);
        if (!(size < 1)) return false;
        if (correction <= NEWTON_TOLERANCE * NEWTON_TOLERANCE * size) return true;
    }
    return false;
}

void carom_rotation_matrix(const double c[3], double F[9]) {
    // ((1 - c.c) I + 2 c c' + 2 S(c)) / (1 + c.c), entry by entry.
    const double size = carom_dot3(c, c), scale = 1 / (1 + size), diagonal = (1 - size) * scale, twice = 2 * scale;
    const double x = twice * c[0], y = twice * c[1], z = twice * c[2];
    F[0] = diagonal + x * c[0];
    F[4] = diagonal + y * c[1];
    F[8] = diagonal + z * c[2];
    F[1] = x * c[1] - z;
    F[3] = x * c[1] + z;
    F[2] = x * c[2] + y;
    F[6] = x * c[2] - y;
    F[5] = y * c[2] - x;
    F[7] = y * c[2] + x;
}

// R'R - I.
static void gram_defect(const double R[9], double E[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) E[3 * i + j] = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - (i == j);
}

double carom_rotation_defect(const double R[9]) {
    double E[9], sum = 0;
    gram_defect(R, E);
    for (int i = 0; i < 9; i++) sum += E[i] * E[i];
    return sqrt(sum);
}

void carom_rotation_project(double R[9]) {
    // R (I - (R'R - I)/2).
    double E[9], change[9];
    gram_defect(R, E);
    carom_product3(R, E, change);
    for (int i = 0; i < 9; i++) R[i] -= 0.5 * change[i];
}

void carom_rotation_quaternion(const double R[9], double q[4]) {
    // The largest of the four squares is at least 1/4: no division by a small number (Shepperd 1978).
    const double squares[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8]};
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (squares[i] > squares[best]) best = i;
    const double products[4][4] = {{squares[0], R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                                   {R[7] - R[5], squares[1], R[1] + R[3], R[2] + R[6]},
                                   {R[2] - R[6], R[1] + R[3], squares[2], R[5] + R[7]},
                                   {R[3] - R[1], R[2] + R[6], R[5] + R[7], squares[3]}};
    const double scale = (products[best][0] < 0 ? -0.5 : 0.5) / sqrt(squares[best]);
    for (int i = 0; i < 4; i++) q[i] = scale * products[best][i] + 0.0;
}
