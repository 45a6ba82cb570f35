// SPDX-License-Identifier: Apache-2.0
// Two free rigid bodies that touch at one point, frozen into an impact.
#include "carom/bodies.h"
#include "carom/vector3.h"

enum { BODY_VELOCITIES = 6, MOST_VELOCITIES = 2 * BODY_VELOCITIES };

carom_status carom_two_bodies_create_impact(const carom_two_bodies_data *data, carom_impact **impact, carom_error *error) {
    *impact = NULL;
    int nv = 0, first = 0;
    for (int b = 0; b < 2; b++) nv += data->body[b].fixed ? 0 : BODY_VELOCITIES;
    if (!nv) return carom_fail(error, CAROM_BAD_INPUT, "one of the two bodies must be free");

    // M has a block (m I, J) for each free body. The velocity of its contact point along a direction d is d.(v + omega x arm) =
    // d.v + (arm x d).omega. The contact velocity is that of the second body minus that of the first.
    static const char *const names[2][BODY_VELOCITIES] = {{"body1.x", "body1.y", "body1.z", "body1.wx", "body1.wy", "body1.wz"},
                                                          {"body2.x", "body2.y", "body2.z", "body2.wx", "body2.wy", "body2.wz"}};
    const char *velocity_names[MOST_VELOCITIES];
    bool turns[MOST_VELOCITIES];
    double mass[MOST_VELOCITIES * MOST_VELOCITIES] = {0}, rows[3 * MOST_VELOCITIES], velocity[MOST_VELOCITIES] = {0};
    for (int b = 0; b < 2; b++) {
        const carom_touching_body *body = &data->body[b];
        if (body->fixed) continue;
        const double side = b ? 1 : -1;
        for (int i = 0; i < BODY_VELOCITIES; i++) {
            velocity_names[first + i] = names[b][i];
            turns[first + i] = i >= 3;
        }
        for (int i = 0; i < 3; i++) {
            mass[(first + i) * nv + first + i] = body->mass;
            for (int k = 0; k < 3; k++) mass[(first + 3 + i) * nv + first + 3 + k] = body->inertia[3 * i + k];
            if (body->velocity) velocity[first + i] = body->velocity[i];
            if (body->angular_velocity) velocity[first + 3 + i] = body->angular_velocity[i];
        }
        for (int row = 0; row <= data->tangent_dim; row++) {
            double moment[3];
            carom_cross3(body->arm, data->directions[row], moment);
            for (int i = 0; i < 3; i++) {
                rows[row * nv + first + i] = side * data->directions[row][i];
                rows[row * nv + first + 3 + i] = side * moment[i];
            }
        }
        first += BODY_VELOCITIES;
    }
    const carom_impact_data frozen = {.nv = nv,
                                      .contacts = 1,
                                      .tangent_dim = data->tangent_dim,
                                      .mass = mass,
                                      .normal = rows,
                                      .tangent = rows + nv,
                                      .friction = &data->friction,
                                      .restitution = &data->restitution,
                                      .velocity = velocity,
                                      .velocity_names = velocity_names,
                                      .velocity_turns = turns};
    return carom_impact_create(&frozen, impact, error);
}
