// SPDX-License-Identifier: Apache-2.0
// Three unit spheres on a line in Bullet's world with its default settings.
#include "cradle_bullet.h"

#include <btBulletDynamicsCommon.h>

static const double RADIUS = 1;
// Steps before the impact, and behind it: slow contacts need some.
static const int FLIGHT_STEPS = 10, STEPS_BEHIND = 20;

namespace {

struct world {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld dynamics{&dispatcher, &broadphase, &solver, &configuration};
};

btRigidBody *add_sphere(world &w, btCollisionShape &shape, double x, double speed, double restitution) {
    btVector3 inertia;
    shape.calculateLocalInertia(1, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(1, nullptr, &shape, inertia);
    info.m_restitution = static_cast<btScalar>(restitution);
    info.m_startWorldTransform.setOrigin(btVector3(static_cast<btScalar>(x), 0, 0));
    btRigidBody *body = new btRigidBody(info);
    body->setLinearVelocity(btVector3(static_cast<btScalar>(speed), 0, 0));
    body->setActivationState(DISABLE_DEACTIVATION);
    w.dynamics.addRigidBody(body);
    return body;
}

}  // namespace

extern "C" void bullet_cradle(double speed, double restitution, double frequency, double phase, int iterations, double velocity[3]) {
    world w;
    w.dynamics.setGravity(btVector3(0, 0, 0));
    if (iterations > 0) w.dynamics.getSolverInfo().m_numIterations = iterations;
    btSphereShape shape(static_cast<btScalar>(RADIUS));
    const double step = 1 / frequency;
    const double start = -2 * RADIUS - (FLIGHT_STEPS + phase) * step * speed;
    btRigidBody *bodies[] = {add_sphere(w, shape, start, speed, restitution), add_sphere(w, shape, 0, 0, restitution),
                             add_sphere(w, shape, 2 * RADIUS, 0, restitution)};
    for (int k = 0; k < FLIGHT_STEPS + STEPS_BEHIND; k++) w.dynamics.stepSimulation(static_cast<btScalar>(step), 0);
    for (int i = 0; i < 3; i++) {
        velocity[i] = static_cast<double>(bodies[i]->getLinearVelocity().x());
        w.dynamics.removeRigidBody(bodies[i]);
        delete bodies[i];
    }
}

extern "C" int bullet_version(void) { return BT_BULLET_VERSION; }
