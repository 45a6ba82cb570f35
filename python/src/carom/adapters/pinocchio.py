# SPDX-License-Identifier: Apache-2.0
"""Impacts of models in memory of Pinocchio."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from ..impact import Impact
from ._contacts import Place
from ._frames import Spot, make_stop, read_constraint, read_state, read_touches
from ._freeze import Stop, System, freeze
from ._names import ANGULAR, LINEAR, name_velocities

Array = NDArray[np.float64]

# Joints with several velocities: their endings, and which of them are angular.
_ENDINGS = {
    "JointModelFreeFlyer": (LINEAR + ANGULAR, (False, False, False, True, True, True)),
    "JointModelSpherical": (ANGULAR, (True, True, True)),
    "JointModelPlanar": ((".x", ".y", ".wz"), (False, False, True)),
    "JointModelTranslation": (LINEAR, (False, False, False)),
}
_SLIDES = ("JointModelPX", "JointModelPY", "JointModelPZ", "JointModelPrismaticUnaligned")


def from_pinocchio(
    model: Any,
    data: Any,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Sequence[Mapping[str, Any]],
    *,
    constraint: ArrayLike | None = None,
    stops: bool = True,
) -> Impact:
    """The impact of a Pinocchio model at the state q, v.

    M is that of `pinocchio.crba`, with the inertia of rotors. Joints with one coordinate at their stops are contacts without friction,
    LIMIT:JOINT. Forces, gravity among them, are left out.

    Parameters
    ----------
    model : pinocchio.Model
    data : pinocchio.Data
        Receives positions, M and Jacobians, as by Pinocchio's own functions.
    q : array_like, (nq,)
        Position.
    v : array_like, (nv,)
        Pre-impact velocity, in Pinocchio's coordinates: those of a free-flyer are along the body's axes.
    contacts : sequence of dict
        `frame`, a name or number, with `point` in its axes (left out: its origin), or `frames` for a pair; `normal` in the world, from the
        first body (the world where there is one frame) to the second; `name`, `tangents`, `friction`, `restitution`.
    constraint : array_like, (k, nv), optional
        Rows C of equality constraints C v = 0 that hold during the impact, such as those of closed loops.
    stops : bool, optional
        False leaves out joints at their stops.

    Returns
    -------
    Impact
        In Pinocchio's velocities.

    Raises
    ------
    InputError
        Names the contact and the rule that it breaks.

    Warns
    -----
    UserWarning
        For joints at their stops.
    """
    import pinocchio

    if not isinstance(model, pinocchio.Model) or not isinstance(data, pinocchio.Data):
        raise InputError("from_pinocchio: a pinocchio.Model and its pinocchio.Data are needed")
    if not model.check(data):
        raise InputError("data: it is of another model")
    q, v = read_state("q", q, model.nq), read_state("v", v, model.nv)
    upper = np.triu(pinocchio.crba(model, data, q))
    pinocchio.computeJointJacobians(model, data, q)
    pinocchio.updateFramePlacements(model, data)

    def locate(place: Place, label: str) -> Spot:
        number = _find_frame(model, place.name, label)
        frame, where = model.frames[number], data.oMf[number]
        offset = where.rotation @ place.point
        jacobian = pinocchio.getFrameJacobian(model, data, number, pinocchio.LOCAL_WORLD_ALIGNED)
        moved = jacobian[:3] + np.cross(jacobian[3:], offset, axisa=0, axisc=0)
        joint = int(frame.parentJoint)
        return Spot(where.translation + offset, moved, joint, model.names[joint])

    joints = [joint for joint in model.joints if joint.id < model.njoints and joint.nv > 0]
    names = name_velocities((model.names[joint.id], _endings(joint)[0]) for joint in joints)
    system = System(
        upper + np.triu(upper, 1).T,
        v,
        names,
        [turn for joint in joints for turn in _endings(joint)[1]],
        q,
        read_constraint(constraint, model.nv),
        list(_find_stops(model, joints, names, q)) if stops else [],
    )
    world = Spot(np.zeros(3), np.zeros((3, model.nv)), 0, model.names[0])
    touches, tangent_dim = read_touches(contacts, locate, world)
    impact = freeze(system, touches, tangent_dim=tangent_dim, listed=True)
    return impact


def _find_frame(model: Any, wanted: Any, label: str) -> int:
    """The number of a frame; several of one name, as of a joint and its body, must be at the same place."""
    if isinstance(wanted, (int, np.integer)):
        if 0 <= wanted < model.nframes:
            return int(wanted)
        raise InputError(f"{label}: there is no frame number {wanted}, only 0 to {model.nframes - 1}")
    same = [i for i, frame in enumerate(model.frames) if frame.name == wanted]
    if not same:
        raise InputError(f"{label}: there is no frame called {wanted!r} in the model")
    first = model.frames[same[0]]
    for i in same[1:]:
        if model.frames[i].parentJoint != first.parentJoint or not model.frames[i].placement.isApprox(first.placement):
            raise InputError(f"{label}: several frames at different places are called {wanted!r}: give the number of one, of {same}")
    return same[0]


def _endings(joint: Any) -> tuple[Sequence[str], Sequence[bool]]:
    """Endings of the velocities of a joint, and which are angular ones."""
    kind = joint.shortname()
    if kind in _ENDINGS:
        return _ENDINGS[kind]
    if kind == "JointModelComposite":
        parts = (joint.extract() if hasattr(joint, "extract") else joint).joints
        turns = tuple(turn for part in parts for turn in _endings(part)[1])
    else:
        turns = (kind not in _SLIDES,) * joint.nv
    return ("",) if joint.nv == 1 else tuple(f".{i + 1}" for i in range(joint.nv)), turns


def _find_stops(model: Any, joints: Sequence[Any], names: Sequence[str], q: Array) -> Iterator[Stop]:
    """Those of joints with one coordinate, also where several make a composite one."""
    for joint in joints:
        parts = joint.extract().joints if joint.shortname() == "JointModelComposite" else [joint]
        for part in parts:
            if part.nq != 1 or part.nv != 1:
                continue
            at, low, high = part.idx_q, model.lowerPositionLimit, model.upperPositionLimit
            slides = part.shortname() in _SLIDES
            stop = make_stop(names[part.idx_v], part.idx_v, model.nv, q[at], low[at], high[at], slides)
            if stop is not None:
                yield stop
