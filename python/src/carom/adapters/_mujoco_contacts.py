# SPDX-License-Identifier: Apache-2.0
"""Contacts of MuJoCo models: those that it found, and those that a caller listed."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _carom
from .._errors import InputError
from ._choose import Detection, Fate, describe_fates
from ._contacts import Listed, Place, as_unit, default_tangents, find
from ._freeze import System, Touch, compare_bodies
from ._names import clean, number_names

Array = NDArray[np.float64]

# Contacts of the same two bodies are one when their points are closer than this share of the smaller geom's radius and their normals
# differ by less than this angle [rad].
_MERGE = 1e-6
# Normals of a patch differ by less than this angle [rad]: far above the round-off of collision detection, far below a shape's edges.
_SAME_NORMAL = 1e-3
# Points of two boxes closer than this share of the second box's radius along one of its axes count as equal there.
_ORDER = 1e-9
# Components of a direction smaller than this count as zero.
_PARALLEL = 1e-9
# Geoms whose contact points lie this far off one line along the normal, relative to their size, do not touch there.
_ALIGNMENT = 1e-6
_GEOM_NAME = 47
_LABEL = 127


def name_of(mujoco: Any, model: Any, kind: Any, number: int, word: str, most: int = _LABEL) -> str:
    """The name of an object as messages and contacts show it; the word and its number where it has none."""
    return clean(mujoco.mj_id2name(model, kind, number) or f"{word}{number}", most)


def weld(model: Any, body: int) -> int:
    """The first of the bodies that move with a body; 0, the world, for bodies that only a user moves, too."""
    first = int(model.body_weldid[body])
    return 0 if model.body_mocapid[first] >= 0 else first


def _make_touch(
    mujoco: Any, model: Any, state: Any, bodies: Sequence[int], geoms: Sequence[int], points: Sequence[Array], **rest: Any
) -> Touch:
    """A contact with the Jacobians of its two points; a geom that there is not is -1."""
    jacobians = np.zeros((2, 3, model.nv))
    for jacobian, body, point in zip(jacobians, bodies, points):
        mujoco.mj_jac(model, state, jacobian, None, point, body)
    body_names = [name_of(mujoco, model, mujoco.mjtObj.mjOBJ_BODY, body, "body") for body in bodies]
    geom_names = [None if geom < 0 else name_of(mujoco, model, mujoco.mjtObj.mjOBJ_GEOM, geom, "geom") for geom in geoms]
    return Touch(
        first=jacobians[0],
        second=jacobians[1],
        bodies=(weld(model, bodies[0]), weld(model, bodies[1])),
        body_names=(body_names[0], body_names[1]),
        geom_names=(geom_names[0], geom_names[1]),
        joints=max(_count_joints(model, bodies[0], bodies[1]), _count_joints(model, bodies[1], bodies[0])),
        **rest,
    )


def _count_joints(model: Any, body: int, carrier: int) -> int:
    """Joints between a body and one that carries it; 0 where it does not."""
    joints = 0
    while body > 0 and body != carrier:
        joints += int(model.body_jntnum[body])
        body = int(model.body_parentid[body])
    return joints if body > 0 else 0


# ------------------------------------------------------------------------------------------------------------------- found


def detect(mujoco: Any, model: Any, state: Any, chosen: Sequence[Any] | None, detection: Detection, system: System) -> list[Touch]:
    """The contacts that MuJoCo found, or those chosen of them: one for a point and a normal, because pairs of geoms that share a corner
    report it twice. Leaves the stops of the system that the detection takes."""
    if chosen is None:
        acting = [contact for contact in state.contact if detection.margin is not None or contact.dist < contact.includemargin]
        chosen = _order(mujoco, model, state, acting)
    found: list[Touch] = []
    bases: list[str] = []
    fates: list[Fate] = []
    for contact in chosen:
        touch = _read(mujoco, model, state, contact, detection)
        fate = _judge(mujoco, model, contact, detection)
        radius = _smaller_radius(model, contact)
        same = next((k for k, other in enumerate(found) if _repeats(other, touch, radius)), None)
        if same is None:
            found.append(touch)
            bases.append(_base(mujoco, model, contact))
            fates.append(fate)
        elif fate == fates[same]:
            found[same].friction = max(found[same].friction, touch.friction)
        elif fate < fates[same]:
            # One that is left out gives way to one that stays.
            found[same].friction, bases[same], fates[same] = touch.friction, _base(mujoco, model, contact), fate
    for touch, name in zip(found, number_names(bases)):
        touch.name = name

    detection.check_patterns(_names(mujoco, model) + [str(touch.name) for touch in found])
    fates = [detection.judge_name(fate, str(touch.name)) for fate, touch in zip(fates, found)]
    touches = [touch for touch, fate in zip(found, fates) if fate == Fate.KEPT]
    at_limit = any(stop.reached for stop in system.stops)
    system.stops = detection.choose_stops(system.stops)
    if not touches:
        # Stops may be the only contacts.
        why = describe_fates(fates) if found else "no geoms touch at this state"
        if not any(stop.reached for stop in system.stops):
            advice = "; what is at its limit is left out, too" if at_limit else ""
            if not found:
                advice += "; margin= says how close they may be apart, contacts= where they touch"
            raise InputError(why + advice)
        system.notes.append(why)
    if detection.merge > 0:
        touches = _merge_patches(touches, detection.merge)
    if any(contact.dim > 3 for contact in chosen):
        system.notes.append("torsional and rolling friction of geoms (condim above 3) is left out: contacts have sliding friction only")
    return touches


def _judge(mujoco: Any, model: Any, contact: Any, detection: Detection) -> Fate:
    """What becomes of a contact, by its bodies and geoms. A robot is a tree of bodies: all those below one child of the world."""
    geoms = (int(contact.geom1), int(contact.geom2))
    bodies = [int(model.geom_bodyid[geom]) for geom in geoms]
    names = [name_of(mujoco, model, mujoco.mjtObj.mjOBJ_GEOM, geom, "geom") for geom in geoms]
    names += [name_of(mujoco, model, mujoco.mjtObj.mjOBJ_BODY, body, "body") for body in bodies]
    first, second = (int(model.body_rootid[body]) for body in bodies)
    return detection.judge_pair(names, first == second != 0)


def _names(mujoco: Any, model: Any) -> list[str]:
    """What patterns may mean: bodies, geoms, joints and tendons at their limits."""
    kinds = mujoco.mjtObj
    named = [name_of(mujoco, model, kinds.mjOBJ_BODY, i, "body") for i in range(model.nbody)]
    named += [name_of(mujoco, model, kinds.mjOBJ_GEOM, i, "geom") for i in range(model.ngeom)]
    named += ["LIMIT:" + name_of(mujoco, model, kinds.mjOBJ_JOINT, i, "joint") for i in range(model.njnt)]
    return named + ["TENDON:" + name_of(mujoco, model, kinds.mjOBJ_TENDON, i, "tendon") for i in range(model.ntendon)]


def _merge_patches(touches: list[Touch], distance: float) -> list[Touch]:
    """Of each flat patch of contacts, the same two bodies, normal, friction and height along the normal, the corners."""
    kept: list[int] = []
    left = list(range(len(touches)))
    while left:
        base = touches[left[0]]
        patch = [i for i in left if _shares_patch(base, touches[i], distance)]
        left = [i for i in left if i not in patch]
        points = np.array([base.tangents @ (touches[i].point - base.point) for i in patch])
        kept += [patch[k] for k in _carom.patch_corners(points, len(patch), distance)]
    return [touches[i] for i in sorted(kept)]


def _shares_patch(base: Touch, other: Touch, distance: float) -> bool:
    sign = compare_bodies(base.bodies, other.bodies)
    flat = abs((other.point - base.point) @ base.normal) <= distance
    return bool(sign and flat and np.linalg.norm(base.normal - sign * other.normal) < _SAME_NORMAL and base.friction == other.friction)


def _read(mujoco: Any, model: Any, state: Any, contact: Any, detection: Detection) -> Touch:
    """A contact of data.contact; tangents by carom's rule, so that planar models give planar impacts."""
    if contact.geom1 < 0 or contact.geom2 < 0:
        raise InputError("a deformable body (flex) touches something at this state: impacts are of rigid bodies only")
    if np.any(getattr(contact, "surfacevel", 0)):
        raise InputError("a geom with a surface velocity touches something: surfaces of impacts are at rest on their bodies")
    friction = detection.friction
    if friction is None:
        # MuJoCo raises every coefficient to its least one, which stands for none.
        own, other = (float(mu) for mu in contact.friction[:2])
        friction = 0.0 if contact.dim == 1 or own <= mujoco.mjMINMU else own
        if contact.dim != 1 and own != other:
            raise InputError(
                f"a contact pair has different friction along its two tangents, {own:g} and {other:g}: friction cones are isotropic "
                "here; give friction for all contacts"
            )
    normal = as_unit(contact.frame[:3], "a contact of MuJoCo: the normal")
    geoms, point = (int(contact.geom1), int(contact.geom2)), np.array(contact.pos)
    return _make_touch(
        mujoco,
        model,
        state,
        [int(model.geom_bodyid[geom]) for geom in geoms],
        geoms,
        (point, point),
        name=None,
        normal=normal,
        tangents=default_tangents(normal),
        friction=friction,
        restitution=detection.restitution,
        point=point,
        gap=float(contact.dist),
    )


def _smaller_radius(model: Any, contact: Any) -> float:
    """Of the two geoms' bounding spheres; planes have none."""
    radii = [float(radius) for radius in model.geom_rbound[[contact.geom1, contact.geom2]] if radius > 0]
    return min(radii, default=0.0)


def _repeats(a: Touch, b: Touch, radius: float) -> bool:
    sign = compare_bodies(a.bodies, b.bodies)
    near = np.linalg.norm(a.point - b.point) < _MERGE * radius
    return bool(sign and near and np.linalg.norm(a.normal - sign * b.normal) < _MERGE)


def _base(mujoco: Any, model: Any, contact: Any) -> str:
    """Contacts are named after the geoms of the bodies that can move, with a colon between two of them; a geom without a name has that of
    its body."""
    names, moves = [], []
    for geom in (contact.geom1, contact.geom2):
        body = int(model.geom_bodyid[geom])
        given = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom)
        bodys = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) if body else None
        names.append(clean(given or bodys or f"geom{geom}", _GEOM_NAME))
        moves.append(weld(model, body) != 0)
    return ":".join(names) if moves[0] == moves[1] else names[moves[1]]


def _order(mujoco: Any, model: Any, state: Any, found: list[Any]) -> list[Any]:
    """Contacts in the order of MuJoCo before 3.12, which names them: since then the points of two boxes go around their polygon. Along
    the first axis of the second box that is not the one of the contact they come upwards, along the last downwards."""
    if mujoco.mj_version() < 3012000:
        return found
    box = mujoco.mjtGeom.mjGEOM_BOX
    ordered: list[Any] = []
    for contact in found:
        place = len(ordered)
        geoms = (contact.geom1, contact.geom2)
        if min(geoms) >= 0 and all(int(model.geom_type[geom]) == box for geom in geoms):
            while (
                place
                and (ordered[place - 1].geom1, ordered[place - 1].geom2) == geoms
                and _comes_after(model, state, ordered[place - 1], contact)
            ):
                place -= 1
        ordered.insert(place, contact)
    return ordered


def _comes_after(model: Any, state: Any, first: Any, second: Any) -> bool:
    rotation = np.reshape(state.geom_xmat[first.geom2], (3, 3))
    apart, normal = (first.pos - second.pos) @ rotation, np.abs(first.frame[:3] @ rotation)
    across = int(np.argmax(normal))
    up, down = (1 if across == 0 else 0), (1 if across == 2 else 2)
    equal = _ORDER * model.geom_rbound[first.geom2]
    return bool(apart[up] > 0 if abs(apart[up]) > equal else apart[down] < -equal)


# ------------------------------------------------------------------------------------------------------------------ listed


def locate(mujoco: Any, model: Any, state: Any, contact: Listed) -> Touch:
    """A contact that the caller listed. A place without a point of its own, the world or a geom that the normal does not tell one of, has
    that of the other."""
    second = _locate_place(mujoco, model, state, contact.places[-1], -contact.normal, contact.label)
    body, geom, point, _ = second
    if point is None:
        point = np.zeros(3)
    bodies, geoms, points, meeting = [0, body], [-1, geom], [point, point], point
    if len(contact.places) == 2:
        first = _locate_place(mujoco, model, state, contact.places[0], contact.normal, contact.label)
        bodies[0], geoms[0] = first[:2]
        if first[2] is not None:
            points[0] = first[2]
            meeting = 0.5 * (first[2] + point) if second[2] is not None else first[2]
        if first[1] >= 0 and second[1] >= 0 and first[2] is not None and second[2] is not None:
            offset = point - first[2]
            offset = offset - (offset @ contact.normal) * contact.normal
            if np.linalg.norm(offset) > _ALIGNMENT * (first[3] + second[3]):
                across = f"{np.linalg.norm(offset):g} m apart across it"
                raise InputError(
                    f"{contact.label}: the geoms do not touch with this normal (their extreme points are {across}); the normal of two "
                    "spheres is the line from the first center to the second"
                )
    return _make_touch(
        mujoco,
        model,
        state,
        bodies,
        geoms,
        points,
        name=contact.name,
        normal=contact.normal,
        tangents=contact.tangents,
        friction=contact.friction,
        restitution=contact.restitution,
        point=meeting,
    )


def _locate_place(mujoco: Any, model: Any, state: Any, place: Place, direction: Array, label: str) -> tuple[int, int, Array | None, float]:
    """Body, geom (-1: none), point (None: not definite), and the geom's radius; `direction` points to the other place."""
    kinds = {"site": (mujoco.mjtObj.mjOBJ_SITE, model.nsite), "geom": (mujoco.mjtObj.mjOBJ_GEOM, model.ngeom)}
    kind, count = kinds.get(place.kind, (mujoco.mjtObj.mjOBJ_BODY, model.nbody))
    number = find(lambda i: mujoco.mj_id2name(model, kind, i), count, place.name, label, place.kind)
    if place.kind == "site":
        return int(model.site_bodyid[number]), -1, np.array(state.site_xpos[number]), 0.0
    if place.kind == "body":
        return number, -1, state.xpos[number] + np.reshape(state.xmat[number], (3, 3)) @ place.point, 0.0
    body = int(model.geom_bodyid[number])
    point = _support_point(mujoco, model, state, number, direction)
    if point is None and weld(model, body) != 0:
        raise InputError(
            f"{label}: geom '{place.name}' is no sphere, capsule or ellipsoid, so that the normal does not tell its contact point; give a "
            "site or a point of its body"
        )
    return body, number, point, float(model.geom_rbound[number])


def _support_point(mujoco: Any, model: Any, state: Any, geom: int, direction: Array) -> Array | None:
    """The point of a geom that is farthest along a direction; None for shapes that need not have a unique one. The middle of a capsule
    stands for its line."""
    size, rotation = model.geom_size[geom], np.reshape(state.geom_xmat[geom], (3, 3))
    local = direction @ rotation
    kind = int(model.geom_type[geom])
    if kind in (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE):
        support = size[0] * local
        if kind == mujoco.mjtGeom.mjGEOM_CAPSULE and abs(local[2]) > _PARALLEL:
            support[2] += np.copysign(size[1], local[2])
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        support = size**2 * local / np.linalg.norm(size * local)
    else:
        return None
    point: Array = state.geom_xpos[geom] + rotation @ support
    return point
