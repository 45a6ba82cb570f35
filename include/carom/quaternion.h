// SPDX-License-Identifier: Apache-2.0
/// @file
/// Unit quaternions w, x, y, z as attitudes, body to inertial. Outputs differ from inputs.
#ifndef CAROM_QUATERNION_H
#define CAROM_QUATERNION_H

#include "carom/vector3.h"

/// p q: the rotation q first, then p.
static inline void carom_quaternion_product(const double p[4], const double q[4], double out[4]) {
    out[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    out[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    out[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    out[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/// p q^-1 for unit quaternions: the rotation from attitude q to attitude p, inertial frame.
static inline void carom_quaternion_difference(const double p[4], const double q[4], double out[4]) {
    const double inverse[4] = {q[0], -q[1], -q[2], -q[3]};
    carom_quaternion_product(p, inverse, out);
}

static inline void carom_quaternion_normalise(double q[4]) {
    const double scale = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] *= scale;
}

/// out = R v.
static inline void carom_quaternion_rotate(const double q[4], const double v[3], double out[3]) {
    double twice[3], turned[3];
    carom_cross3(q + 1, v, twice);
    for (int i = 0; i < 3; i++) twice[i] *= 2;
    carom_cross3(q + 1, twice, turned);
    for (int i = 0; i < 3; i++) out[i] = v[i] + q[0] * twice[i] + turned[i];
}

/// out = R' v.
static inline void carom_quaternion_rotate_back(const double q[4], const double v[3], double out[3]) {
    const double inverse[4] = {q[0], -q[1], -q[2], -q[3]};
    carom_quaternion_rotate(inverse, v, out);
}

/// Angle of the rotation, from 0 to pi.
static inline double carom_quaternion_angle(const double q[4]) { return 2 * atan2(carom_norm3(q + 1), fabs(q[0])); }

#endif
