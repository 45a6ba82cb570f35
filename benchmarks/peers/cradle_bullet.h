// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bullet's answer to three spheres in a row, called from C.
#ifndef CRADLE_BULLET_H
#define CRADLE_BULLET_H

#ifdef __cplusplus
extern "C" {
#endif

/// Velocities after sphere A, with this speed, has hit B, which touches C; both rest. Unit masses and radii, no gravity.
/// @param frequency   steps per second
/// @param phase       share of the step in which the impact happens that is over then: the spheres overlap by the rest when they are found
/// @param iterations  of the solver; 0: Bullet's default
void bullet_cradle(double speed, double restitution, double frequency, double phase, int iterations, double velocity[3]);

/// 324 is 3.24.
int bullet_version(void);

#ifdef __cplusplus
}
#endif

#endif
