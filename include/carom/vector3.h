// SPDX-License-Identifier: Apache-2.0
/// @file
/// Vectors and matrices of space, inline: they are the whole cost of a step. Matrices [3 x 3] are row-major; outputs differ from inputs.
#ifndef CAROM_VECTOR3_H
#define CAROM_VECTOR3_H

#include <math.h>
#include <stdbool.h>

static const double CAROM_IDENTITY3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static inline double carom_dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline double carom_norm3(const double a[3]) { return sqrt(carom_dot3(a, a)); }

static inline void carom_cross3(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// a += factor b.
static inline void carom_add3(double factor, const double b[3], double a[3]) {
    for (int i = 0; i < 3; i++) a[i] += factor * b[i];
}

/// Two unit vectors that complete a unit normal: the axis that is least along it gives the first, n x t1 = t2.
static inline void carom_complete_frame3(const double normal[3], double tangents[6]) {
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(normal[i]) < fabs(normal[axis])) axis = i;
    double along[3] = {0};
    along[axis] = 1;
    carom_add3(-normal[axis], normal, along);
    const double length = carom_norm3(along);
    for (int i = 0; i < 3; i++) tangents[i] = along[i] / length;
    carom_cross3(normal, tangents, tangents + 3);
}

/// y = A x.
static inline void carom_multiply3(const double A[9], const double x[3], double y[3]) {
    for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

/// y = A' x.
static inline void carom_multiply3_transposed(const double A[9], const double x[3], double y[3]) {
    for (int i = 0; i < 3; i++) y[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}

/// C = A B.
static inline void carom_product3(const double A[9], const double B[9], double C[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/// The adjugate of A, row-major; returns the determinant.
static inline double carom_adjugate3(const double A[9], double adjugate[9]) {
    adjugate[0] = A[4] * A[8] - A[5] * A[7];
    adjugate[1] = A[2] * A[7] - A[1] * A[8];
    adjugate[2] = A[1] * A[5] - A[2] * A[4];
    adjugate[3] = A[5] * A[6] - A[3] * A[8];
    adjugate[4] = A[0] * A[8] - A[2] * A[6];
    adjugate[5] = A[2] * A[3] - A[0] * A[5];
    adjugate[6] = A[3] * A[7] - A[4] * A[6];
    adjugate[7] = A[1] * A[6] - A[0] * A[7];
    adjugate[8] = A[0] * A[4] - A[1] * A[3];
    return A[0] * adjugate[0] + A[1] * adjugate[3] + A[2] * adjugate[6];
}

/// Returns the determinant of A; `inverse` is not finite where it is zero.
static inline double carom_invert3(const double A[9], double inverse[9]) {
    const double determinant = carom_adjugate3(A, inverse);
    for (int i = 0; i < 9; i++) inverse[i] /= determinant;
    return determinant;
}

#endif
