# SPDX-License-Identifier: Apache-2.0
"""MuJoCo: soft contacts, a convex problem for the accelerations in every step. The model is written as MJCF."""
import mujoco
import numpy as np

from simulators.mechanism import WORLD, touching_shapes

NAME = "MuJoCo"
ABOUT = "control and learning: soft contacts with a time constant (20 ms) that the user chooses, invertible dynamics; moves during the impact"

SETTINGS = {
    "default": {},
    "dt 5 ms": {"dt": 5e-3},
    "dt 1 ms": {"dt": 1e-3},
    "dt 0.1 ms": {"dt": 1e-4},
    "elliptic cone": {"cone": "elliptic"},
    "elliptic, impratio 10": {"cone": "elliptic", "impratio": 10},
    "PGS": {"solver": "PGS"},
    "CG": {"solver": "CG"},
    "3 iterations": {"iterations": 3},
    "implicitfast": {"integrator": "implicitfast"},
    "solref 5 ms": {"solref": "0.005 1", "dt": 1e-3},
    "solref 1 ms": {"solref": "0.001 1", "dt": 1e-4},
    "overdamped": {"solref": "0.02 4"},
    "no rebound": {"solref": "0.002 50", "dt": 1e-4},
    "no rebound, hard, elliptic": {"solref": "0.002 50", "solimp": "0.9999 0.9999 0.001", "dt": 1e-4, "cone": "elliptic", "impratio": 100},
    "hard": {"solref": "0.001 1", "solimp": "0.99 0.999 0.0001", "dt": 1e-4},
    "hard, elliptic": {"solref": "0.001 1", "solimp": "0.99 0.999 0.0001", "dt": 1e-4, "cone": "elliptic", "impratio": 10},
}

# Where contacts are elastic, solref is another, and most of these are the same.
ELASTIC = ("default", "elliptic cone", "PGS", "hard")
BOXES = ("default", "elliptic cone", "no rebound, hard, elliptic")


def version():
    return mujoco.__version__


def _text(vector):
    return " ".join(f"{x:.17g}" for x in np.ravel(vector))


def _quaternion(turn):
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(turn).ravel())
    return quaternion


def _write(mechanism, dt, cone, impratio, solver, iterations, integrator, solref, solimp):
    """The model as MJCF: body frames at mass centres, a pair of geoms for each contact, and no other collisions."""
    geoms = {b: [] for b in range(WORLD, len(mechanism.bodies))}
    pairs = {}
    for p, pad in enumerate(touching_shapes(mechanism)):
        origin = np.zeros(3) if pad.body == WORLD else mechanism.bodies[pad.body].center
        geoms[pad.body].append(
            f'<geom name="pad{p}" type="box" size="{_text(pad.half)}" pos="{_text(pad.center - origin)}" quat="{_text(_quaternion(pad.turn))}"/>'
        )
        for k, b, center in pad.balls:
            place = center - mechanism.bodies[b].center
            geoms[b].append(f'<geom name="ball{k}" type="sphere" size="{pad.radius:.17g}" pos="{_text(place)}"/>')
            contact = mechanism.contacts[k]
            # A spring without damping is elastic; the stiffness acts on accelerations [1/s^2]: half a period is 1 ms.
            reference = f"{-((np.pi / 1e-3) ** 2):.17g} 0" if contact.restitution == 1 else solref
            friction = f'condim="3" friction="{_text([contact.friction] * 2)} 0 0 0"' if contact.friction > 0 else 'condim="1"'
            pairs[k] = f'<pair geom1="pad{p}" geom2="ball{k}" {friction} solref="{reference}" solimp="{solimp}"/>'

    def write_body(b):
        body = mechanism.bodies[b]
        origin = np.zeros(3) if body.parent == WORLD else mechanism.bodies[body.parent].center
        i = body.inertia
        joints = [
            "<freejoint/>" if j.kind == "free" else f'<joint type="{j.kind}" axis="{_text(j.axis)}" pos="{_text(j.anchor - body.center)}"/>'
            for j in body.joints
        ]
        children = [write_body(c) for c in range(len(mechanism.bodies)) if mechanism.bodies[c].parent == b]
        inertia = _text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
        inertial = f'<inertial pos="0 0 0" mass="{body.mass:.17g}" fullinertia="{inertia}"/>'
        return f'<body name="body{b}" pos="{_text(body.center - origin)}">{"".join([*joints, inertial, *geoms[b], *children])}</body>'

    roots = "".join(write_body(b) for b in range(len(mechanism.bodies)) if mechanism.bodies[b].parent == WORLD)
    return (
        f'<mujoco><compiler inertiafromgeom="false" angle="radian"/>'
        f'<option timestep="{dt}" gravity="0 0 0" cone="{cone}" impratio="{impratio}" solver="{solver}" iterations="{iterations}" '
        f'integrator="{integrator}"/><default><geom contype="0" conaffinity="0" mass="0"/></default>'
        f'<worldbody>{"".join(geoms[WORLD])}{roots}</worldbody><contact>{"".join(pairs[k] for k in sorted(pairs))}</contact></mujoco>'
    )


class Simulation:
    def __init__(
        self,
        mechanism,
        dt=2e-3,
        cone="pyramidal",
        impratio=1,
        solver="Newton",
        iterations=100,
        integrator="Euler",
        solref="0.02 1",
        solimp="0.9 0.95 0.001 0.5 2",
    ):
        if any(0 < contact.restitution < 1 for contact in mechanism.contacts):
            raise ValueError("has no coefficient of restitution")
        if any(contact.restitution == 1 for contact in mechanism.contacts):
            dt = min(dt, 2e-5)
        self.dt = dt
        self.model = mujoco.MjModel.from_xml_string(
            _write(mechanism, dt, cone, impratio, solver, iterations, integrator, solref, solimp)
        )
        self.data = mujoco.MjData(self.model)
        # MuJoCo numbers bodies depth first.
        self.columns = []
        for b, body in enumerate(mechanism.bodies):
            start = self.model.body(f"body{b}").dofadr[0]
            self.columns += range(start, start + sum(joint.size for joint in body.joints))
        self.free = [k for k in range(self.model.njnt) if self.model.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE]
        self.data.qvel[self.columns] = mechanism.velocity

    def step(self):
        mujoco.mj_step(self.model, self.data)

    def velocity(self):
        velocity = self.data.qvel.copy()
        for joint in self.free:
            # MuJoCo has angular velocities of free bodies in their own axes.
            start, body = self.model.jnt_dofadr[joint], self.model.jnt_bodyid[joint]
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, self.data.qpos[self.model.jnt_qposadr[joint] + 3 :][:4])
            velocity[start + 3 : start + 6] = turn.reshape(3, 3) @ velocity[start + 3 : start + 6]
        return velocity[self.columns]
