# SPDX-License-Identifier: Apache-2.0
"""Bullet, by PyBullet: Featherstone's multibodies, projected Gauss-Seidel for impulses in every step. Trees are written as URDF."""
import os
import tempfile
from importlib.metadata import version as _version

import numpy as np
import pybullet

from simulators.mechanism import OVERLAP, WORLD, touching_shapes

NAME = "Bullet"
ABOUT = "games and learning: velocities by projected Gauss-Seidel over multibodies; frozen"

SETTINGS = {
    "default": {},
    "dt 1 ms": {"dt": 1e-3},
    "dt 0.1 ms": {"dt": 1e-4},
    "5 iterations": {"numSolverIterations": 5},
    "10 iterations": {"numSolverIterations": 10},
    "1000 iterations": {"numSolverIterations": 1000, "solverResidualThreshold": 0},
    "pyramid": {"enableConeFriction": 0},
    "no warm start": {"warmStartingFactor": 0},
    "Dantzig": {"constraintSolverType": pybullet.CONSTRAINT_SOLVER_LCP_DANTZIG, "globalCFM": 1e-6},
}
BOXES = ("default", "1000 iterations")


def version():
    return _version("pybullet")


def _text(vector):
    return " ".join(f"{x:.17g}" for x in vector)


def _angles(turn):
    """Roll, pitch and yaw of a rotation."""
    return np.arctan2(turn[2, 1], turn[2, 2]), -np.arcsin(np.clip(turn[2, 0], -1, 1)), np.arctan2(turn[1, 0], turn[0, 0])


class Simulation:
    def __init__(self, mechanism, dt=1 / 240, **parameters):
        self.dt = dt
        self.client = pybullet.connect(pybullet.DIRECT)
        self.here = {"physicsClientId": self.client}
        pybullet.setGravity(0, 0, 0, **self.here)
        pybullet.setTimeStep(dt, **self.here)
        # At a position that stays frozen, contacts would approach by slop / dt for ever.
        pybullet.setPhysicsEngineParameter(**{"contactSlop": 0, **parameters}, **self.here)
        self.mechanism = mechanism
        links, own = mechanism.links()
        self.links = links
        pads = touching_shapes(mechanism, overlap=OVERLAP)
        shapes = [""] * len(links)
        grounds, allowed = [], []
        for p, pad in enumerate(pads):
            if pad.body == WORLD:
                shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=pad.half, **self.here)
                quaternion = pybullet.getQuaternionFromEuler(_angles(pad.turn))
                ground = pybullet.createMultiBody(0, shape, basePosition=pad.center, baseOrientation=quaternion, **self.here)
                grounds.append((ground, pad))
            else:
                place = pad.center - links[own[pad.body]].origin
                shapes[own[pad.body]] += _shape(f'<box size="{_text(2 * pad.half)}"/>', place, _angles(pad.turn))
                allowed += [(own[pad.body], own[b]) for _, b, _ in pad.balls]
            for _, b, center in pad.balls:
                shapes[own[b]] += _shape(f'<sphere radius="{pad.radius:.17g}"/>', center - links[own[b]].origin, (0, 0, 0))

        # A URDF for each tree.
        roots = [i for i, link in enumerate(links) if link.parent == WORLD]
        self.place = [None] * len(links)
        self.start = {}
        for root in roots:
            members = [i for i in range(len(links)) if _root(links, i) == root]
            body = self._load(root, members, shapes)
            # Of bases the frame is that of the principal axes.
            self.start[body] = pybullet.getBasePositionAndOrientation(body, **self.here)
            numbers = {links[root].name: -1}
            for k in range(pybullet.getNumJoints(body, **self.here)):
                numbers[pybullet.getJointInfo(body, k, **self.here)[12].decode()] = k
            for i in members:
                self.place[i] = (body, numbers[links[i].name])

        # Nothing collides but what touches; coefficients of two shapes multiply.
        friction = {contact.friction for contact in mechanism.contacts}
        restitution = {contact.restitution for contact in mechanism.contacts}
        if len(friction) > 1 or len(restitution) > 1:
            raise ValueError("has one friction and restitution for each link")
        everything = [*self.place, *((ground, -1) for ground, _ in grounds)]
        touching = [((ground, -1), self.place[own[b]]) for ground, pad in grounds for _, b, _ in pad.balls]
        touching += [(self.place[a], self.place[b]) for a, b in allowed]
        # Pairs that are switched off and on again are not found while nothing moves: those that touch are left as they are.
        for a in everything:
            for b in everything:
                if (a, b) not in touching and (b, a) not in touching:
                    pybullet.setCollisionFilterPair(a[0], b[0], a[1], b[1], 0, **self.here)
        mu, bounce = friction.pop(), restitution.pop()
        for body, number in everything:
            pybullet.changeDynamics(
                body,
                number,
                lateralFriction=np.sqrt(mu),
                restitution=np.sqrt(bounce),
                spinningFriction=0,
                rollingFriction=0,
                linearDamping=0,
                angularDamping=0,
                jointDamping=0,
                maxJointVelocity=1e9,
                activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
                **self.here,
            )
        for link, (body, number) in zip(links, self.place):
            if number >= 0:
                pybullet.setJointMotorControl2(body, number, pybullet.VELOCITY_CONTROL, force=0, **self.here)
        self._set(mechanism.velocity)

    def _load(self, root, members, shapes):
        links = self.links
        text = ""
        floating = links[root].joint.kind == "free"
        if not floating:
            text += '<link name="world"/>'
        for i in members:
            link = links[i]
            m = link.inertia
            text += (
                f'<link name="{link.name}"><inertial><origin xyz="{_text(link.center - link.origin)}"/><mass value="{link.mass:.17g}"/>'
                f'<inertia ixx="{m[0, 0]:.17g}" iyy="{m[1, 1]:.17g}" izz="{m[2, 2]:.17g}" ixy="{m[0, 1]:.17g}" ixz="{m[0, 2]:.17g}" '
                f'iyz="{m[1, 2]:.17g}"/></inertial>{shapes[i]}</link>'
            )
            if link.joint.kind == "free":
                continue
            start = np.zeros(3) if link.parent == WORLD else links[link.parent].origin
            kind = {"slide": "prismatic", "hinge": "continuous"}[link.joint.kind]
            text += (
                f'<joint name="{link.name}_joint" type="{kind}"><parent link="{"world" if link.parent == WORLD else links[link.parent].name}"/>'
                f'<child link="{link.name}"/><origin xyz="{_text(link.origin - start)}"/><axis xyz="{_text(link.joint.axis)}"/>'
                f'<limit lower="-1e9" upper="1e9" effort="1e9" velocity="1e9"/></joint>'
            )
        with tempfile.NamedTemporaryFile("w", suffix=".urdf", delete=False) as file:
            file.write(f'<robot name="tree">{text}</robot>')
        try:
            return pybullet.loadURDF(
                file.name,
                basePosition=links[root].origin if floating else [0, 0, 0],
                useFixedBase=not floating,
                flags=pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_MAINTAIN_LINK_ORDER,
                **self.here,
            )
        finally:
            os.unlink(file.name)

    def _set(self, velocity):
        """The frozen position with these velocities."""
        column = 0
        for link, (body, number) in zip(self.links, self.place):
            if number < 0:
                pybullet.resetBasePositionAndOrientation(body, *self.start[body], **self.here)
                pybullet.resetBaseVelocity(body, velocity[column : column + 3], velocity[column + 3 : column + 6], **self.here)
            else:
                pybullet.resetJointState(body, number, 0.0, velocity[column], **self.here)
            column += link.joint.size

    def step(self):
        pybullet.stepSimulation(**self.here)
        self._set(self.velocity())

    def velocity(self):
        velocity = []
        for link, (body, number) in zip(self.links, self.place):
            if number < 0:
                linear, angular = pybullet.getBaseVelocity(body, **self.here)
                velocity += [*linear, *angular]
            else:
                velocity.append(pybullet.getJointState(body, number, **self.here)[1])
        return np.array(velocity)

    def close(self):
        pybullet.disconnect(**self.here)


def _shape(shape, place, angles):
    return f'<collision><origin xyz="{_text(place)}" rpy="{_text(angles)}"/><geometry>{shape}</geometry></collision>'


def _root(links, i):
    while links[i].parent != WORLD:
        i = links[i].parent
    return i
