# SPDX-License-Identifier: Apache-2.0
"""The impacts of the harness: shipped scenes, impacts made here, random boxes, measured impacts, and cases with one known answer."""
from __future__ import annotations

import json
import pathlib
import warnings
from dataclasses import dataclass, replace

import numpy as np

from .mechanism import WORLD, Body, Contact, Joint, Mechanism

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ("block", "boxwall", "compass", "ramone", "disks", "cube-k4", "biped", "quadruped")
_X, _Y, _Z = np.eye(3)


@dataclass(frozen=True)
class Case:
    """A mechanism whose impact has one answer."""

    mechanism: Mechanism
    answer: np.ndarray


def read_scene(name: str) -> Mechanism:
    """A shipped scene: the tree from MuJoCo's reading of its model, contacts from carom's geometry of the impact.

    Raises ValueError where contacts or joints are of kinds that a mechanism does not have, or the two impacts differ.
    """
    import carom
    import mujoco
    import yaml

    path = ROOT / "scenes" / f"{name}.yaml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        impact = carom.load(path).impact
    model = mujoco.MjModel.from_xml_path(str(path.parent / yaml.safe_load(path.read_text())["model"]))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = impact.geometry.qpos, impact.velocity
    mujoco.mj_forward(model, data)

    # Bodies that are welded to another one count as a part of it.
    place = {0: WORLD}
    bodies: list[Body] = []
    velocity: list[float] = []
    for b in range(1, model.nbody):
        joints = []
        for j in range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]):
            start = model.jnt_dofadr[j]
            kind = mujoco.mjtJoint(model.jnt_type[j])
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                if data.qvel[start + 3 : start + 6].any():
                    raise ValueError("a free body turns")
                joints.append(Joint("free", _Z, data.xipos[b].copy()))
                velocity += [*data.qvel[start : start + 6]]
            elif kind in (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE):
                word = "slide" if kind == mujoco.mjtJoint.mjJNT_SLIDE else "hinge"
                joints.append(Joint(word, data.xaxis[j].copy(), data.xanchor[j].copy()))
                velocity.append(data.qvel[start])
            else:
                raise ValueError("a ball joint")
        turn = data.ximat[b].reshape(3, 3)
        inertia = turn @ np.diag(model.body_inertia[b]) @ turn.T
        parent = place[model.body_parentid[b]]
        if joints:
            place[b] = len(bodies)
            bodies.append(Body(model.body(b).name, model.body_mass[b], inertia, data.xipos[b].copy(), parent, tuple(joints)))
        else:
            place[b] = parent
            if parent != WORLD and model.body_mass[b] > 0:
                bodies[parent] = _join(bodies[parent], model.body_mass[b], inertia, data.xipos[b])

    names = {model.body(b).name: place[b] for b in range(model.nbody)}
    geometry, dim = impact.geometry, impact.tangent_dim
    contacts = tuple(
        Contact(
            label,
            names[geometry.bodies[i][0]],
            names[geometry.bodies[i][1]],
            geometry.points[i],
            geometry.normals[i],
            geometry.tangents[i * dim : (i + 1) * dim],
            impact.friction[i],
            impact.restitution[i],
        )
        for i, label in enumerate(impact.names)
    )
    # No other simulator has inertia of joints, such as that of rotors: mechanisms go without.
    rotors = model.dof_armature
    mechanism = Mechanism(name, tuple(bodies), contacts, np.array(velocity), group="without rotors" if rotors.any() else "")
    check_same(mechanism, impact, rotors)
    return mechanism


def check_same(mechanism: Mechanism, impact, rotors) -> None:
    """With inertia of joints, a mechanism has the Delassus operator and contact velocities of an impact, or ValueError says so."""
    rows = mechanism.contact_rows()
    delassus = rows @ np.linalg.solve(mechanism.mass_matrix() + np.diag(rotors), rows.T)
    pairs = (("W", delassus, impact.delassus), ("u", rows @ mechanism.velocity, impact.contact_velocity(impact.velocity)))
    for label, mine, given in pairs:
        # Rounded constants of models leave a few digits.
        if np.abs(mine - given).max() > 1e-7 * np.abs(given).max():
            raise ValueError(f"{label} of the mechanism is not that of the scene")


def _join(body: Body, mass: float, inertia: np.ndarray, center: np.ndarray) -> Body:
    total = body.mass + mass
    middle = (body.mass * body.center + mass * center) / total

    def about(m, i, c):
        d = c - middle
        return i + m * (d @ d * np.eye(3) - np.outer(d, d))

    joined = about(body.mass, body.inertia, body.center) + about(mass, inertia, center)
    return Body(body.name, total, joined, middle, body.parent, body.joints)


def box_inertia(mass: float, sides) -> np.ndarray:
    a, b, c = np.square(sides)
    return mass / 12 * np.diag([b + c, a + c, a + b])


def free_body(name: str, mass: float, inertia: np.ndarray, center) -> Body:
    center = np.asarray(center, float)
    return Body(name, mass, np.asarray(inertia, float), center, WORLD, (Joint("free", _Z, center),))


def floor_contact(name: str, body: int, point, friction: float, restitution: float = 0.0, first: int = WORLD) -> Contact:
    return Contact(name, first, body, np.asarray(point, float), _Z, np.array([_X, _Y]), friction, restitution)


def chain() -> Mechanism:
    """Three balls on a line, equal and elastic, of which the first comes."""
    bodies = tuple(free_body(f"ball{k}", 1.0, 0.1 * np.eye(3), [k - 1.0, 0, 0]) for k in range(3))
    contacts = tuple(
        Contact(f"{k + 1}:{k + 2}", k, k + 1, np.array([k - 0.5, 0, 0]), _X, np.array([_Y, _Z]), 0.0, 1.0) for k in range(2)
    )
    velocity = np.zeros(18)
    velocity[0] = 1.0
    return Mechanism("chain", bodies, contacts, velocity)


def stack() -> Mechanism:
    """Three boxes that rest on each other and come down together, flat, at 1 m/s."""
    side = 0.2
    bodies = tuple(free_body(f"box{k + 1}", 1.0, box_inertia(1.0, [side] * 3), [0, 0, (k + 0.5) * side]) for k in range(3))
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    contacts = tuple(
        floor_contact(f"{k}:{k + 1}:{i}", k, [x * side / 2, y * side / 2, k * side], 0.6, first=k - 1 if k else WORLD)
        for k in range(3)
        for i, (x, y) in enumerate(corners)
    )
    velocity = np.zeros(18)
    velocity[2::6] = -1.0
    return Mechanism("stack", bodies, contacts, velocity)


def random_boxes(count: int, seed: int = 0) -> list[Mechanism]:
    """Boxes that come down on an edge (two corners) or a face (four), in turns."""
    random = np.random.default_rng(seed)
    boxes = []
    for k in range(count):
        sides = random.uniform(0.1, 0.4, 3)
        mass, friction = random.uniform(0.2, 2.0), random.uniform(0.1, 1.0)
        if k % 2:
            tilt, corners, kind = 0.0, [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)], "face"
        else:
            tilt, corners, kind = random.uniform(0.2, 1.2), [(1, -1, -1), (1, 1, -1)], "edge"
        heading = random.uniform(0, 2 * np.pi)
        # About y by the tilt, which lowers the edge at +x, then about z.
        c, s = np.cos(tilt), np.sin(tilt)
        turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        c, s = np.cos(heading), np.sin(heading)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ turn
        points = np.array([turn @ (np.array(corner) * sides / 2) for corner in corners])
        center = np.array([0, 0, -points[0, 2]])
        body = free_body("box", mass, turn @ box_inertia(mass, sides) @ turn.T, center)
        contacts = tuple(floor_contact("ABCD"[i], 0, point + center, friction) for i, point in enumerate(points))
        linear = np.array([*random.normal(0, 0.5, 2), -random.uniform(0.5, 1.5)])
        # Turning is slow enough for every corner to come down.
        angular = random.normal(0, 1.0, 3)
        mechanism = Mechanism(f"box {k}", (body,), contacts, np.concatenate([linear, angular]), group=f"boxes on {kind}s")
        normal = (mechanism.contact_rows() @ mechanism.velocity)[::3]
        if normal.max() > -0.1:
            linear[2] -= normal.max() + 0.1
            mechanism = Mechanism(mechanism.name, (body,), contacts, np.concatenate([linear, angular]), group=mechanism.group)
        boxes.append(mechanism)
    return boxes


def read_measured(friction: float, restitution: float) -> list[tuple[Mechanism, np.ndarray]]:
    """The measured impacts of the examples with their measured outcomes, for one friction and restitution."""
    measured = []
    for k, one in enumerate(json.loads((ROOT / "examples" / "cube-impacts.json").read_text())["impacts"]):
        inertia, mass = np.array(one["M"])[3:, 3:], one["M"][0][0]
        normals, tangents = np.array(one["Jn"]), np.array(one["Jt"]).reshape(len(one["Jn"]), 2, 6)
        body = free_body("cube", mass, inertia, [0, 0, 0])
        contacts = []
        for i in range(len(normals)):
            # Rows of a point r of a free body are (n, r x n): three of them give r.
            directions = np.vstack([normals[i, :3], tangents[i, :, :3]])
            moments = np.vstack([normals[i, 3:], tangents[i, :, 3:]])
            point = np.sum(np.cross(directions, moments), axis=0) / 2
            contacts.append(Contact("ABCD"[i], WORLD, 0, point, directions[0], directions[1:], friction, restitution))
        mechanism = Mechanism(f"cube {k}", (body,), tuple(contacts), np.array(one["vm"]), group=one["kind"])
        measured.append((mechanism, np.array(one["vp"])))
    return measured


def known_cases() -> list[Case]:
    """One answer each, on paper: with J for one contact and W = J M^-1 J', v+ = v + M^-1 J' p."""
    center, point = np.array([0.1, -0.05, 0.3]), np.zeros(3)
    body = free_body("box", 0.8, box_inertia(0.8, [0.3, 0.4, 0.6]), center)
    down = np.array([0.3, 0.1, -1.0, 0.2, -0.3, 0.1])

    def solve(name, velocity, friction, restitution, mode, at=point):
        mechanism = Mechanism(name, (body,), (floor_contact("A", 0, at, friction, restitution),), velocity, group="known")
        rows, inverse = mechanism.contact_rows(), np.linalg.inv(mechanism.mass_matrix())
        u, delassus = rows @ velocity, rows @ inverse @ rows.T
        impulse = np.zeros(3)
        if mode == "normal":
            impulse[0] = -(1 + restitution) * u[0] / delassus[0, 0]
        elif mode == "stick":
            impulse = -np.linalg.solve(delassus, u)
            assert np.linalg.norm(impulse[1:]) < friction * impulse[0]
        elif mode == "slide":
            # Below the mass centre of a body whose slip keeps its direction, along x.
            ray = np.array([1.0, -friction * np.sign(u[1]), 0.0])
            impulse = -u[0] / (delassus[0] @ ray) * ray
        return Case(mechanism, velocity + inverse @ rows.T @ impulse)

    below = np.array([center[0], center[1], 0.0])
    return [
        solve("free flight", np.array([0.3, 0.1, 1.0, 0.2, -0.3, 0.1]), 0.5, 0.0, "none"),
        solve("no friction", down, 0.0, 0.0, "normal"),
        solve("no friction, elastic", down, 0.0, 1.0, "normal"),
        solve("sticks", down, 5.0, 0.0, "stick"),
        solve("slides", np.array([2.0, 0, -1.0, 0, 0, 0]), 0.2, 0.0, "slide", below),
    ]


def inelastic(mechanism: Mechanism) -> Mechanism:
    """The same without restitution."""
    return replace(mechanism, contacts=tuple(replace(contact, restitution=0.0) for contact in mechanism.contacts))


def original_impact(mechanism: Mechanism):
    """The impact whose set is asked for: that of the scene file, whose numbers are exact, or else the mechanism's own."""
    import carom

    if mechanism.name not in SHIPPED or mechanism.group:
        return mechanism.impact()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return carom.load(ROOT / "scenes" / f"{mechanism.name}.yaml").impact
