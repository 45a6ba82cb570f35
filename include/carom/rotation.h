// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rotations: the implicit update of free rotation, and what keeps a matrix a rotation.
#ifndef CAROM_ROTATION_H
#define CAROM_ROTATION_H

#include <stdbool.h>

/// The Cayley vector c (axis times the tangent of half the angle) of the rotation F by which a free body turns in a step h: the solution of
/// h S(Pi) = F Jd - Jd F', Jd = (tr J / 2) I - J (discrete Moser-Veselov; Lee, Leok & McClamroch 2007), near c = 0.
/// @param inertia, inverse  J and J^-1
/// @param a                 h Pi
/// @return false when Newton's iteration fails, or ends on another branch: a quarter turn or more
bool carom_rotation_solve(const double inertia[9], const double inverse[9], const double a[3], double c[3]);

/// F = ((1 - c.c) I + 2 c c' + 2 S(c)) / (1 + c.c).
void carom_rotation_matrix(const double c[3], double F[9]);

/// |R'R - I|, Frobenius.
double carom_rotation_defect(const double R[9]);

/// One Newton-Schulz step towards the nearest orthogonal matrix: the defect is squared.
void carom_rotation_project(double R[9]);

/// Unit quaternion w, x, y, z of R, w >= 0.
void carom_rotation_quaternion(const double R[9], double q[4]);

#endif
