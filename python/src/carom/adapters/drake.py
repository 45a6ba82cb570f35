# SPDX-License-Identifier: Apache-2.0
"""Impacts of multibody plants in memory of Drake."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from ..impact import Impact
from ._contacts import Place, as_unit, default_tangents
from ._frames import Spot, make_stop, read_constraint, read_touches
from ._freeze import Stop, System, Touch, freeze
from ._names import clean, name_velocities, number_names

Array = NDArray[np.float64]

_GEOM_NAME = 47


def from_drake(
    plant: Any,
    context: Any,
    contacts: Sequence[Mapping[str, Any]] | None = None,
    *,
    friction: float | None = None,
    restitution: float = 0.0,
    constraint: ArrayLike | None = None,
    stops: bool = True,
) -> Impact:
    """The impact of a Drake plant at the positions and velocities of its context.

    M is that of `CalcMassMatrix`. Joints with one position at their limits are contacts without friction, LIMIT:JOINT. Forces, gravity
    among them, are left out.

    Parameters
    ----------
    plant : pydrake.multibody.plant.MultibodyPlant
        Finalized.
    context : pydrake.systems.framework.Context
        Of the plant. To find contacts it must be part of the context of a diagram with a scene graph.
    contacts : sequence of dict, optional
        `frame`, a name or a frame, with `point` in its axes (left out: its origin), or `frames` for a pair; `normal` in the world, from the
        first body (the world where there is one frame) to the second; `name`, `tangents`, `friction`, `restitution`. Left out: the pairs
        of Drake's point contact, one point for each two geometries that penetrate, half-way between the surfaces.
    friction : float, optional
        Of every contact that Drake found. Left out: the dynamic friction of the two geometries, combined as Drake does.
    restitution : float, optional
        Of every contact that Drake found.
    constraint : array_like, (k, nv), optional
        Rows C of equality constraints C v = 0 that hold during the impact. The plant's own constraints are left out with a warning.
    stops : bool, optional
        False leaves out joints at their limits.

    Returns
    -------
    Impact
        In Drake's velocities: those of a floating base are angular ones first.

    Raises
    ------
    InputError
        When nothing touches, or with the contact and the rule that it breaks.

    Warns
    -----
    UserWarning
        For what is left out, and joints at their limits.
    """
    from pydrake.multibody import plant as plants

    if not isinstance(plant, plants.MultibodyPlant):
        raise InputError("from_drake: a pydrake MultibodyPlant is needed")
    reader = _Reader(plant, context)
    joints = reader.joints()
    names = name_velocities((joint.name(), _endings(joint)) for joint in joints)
    system = System(
        np.array(plant.CalcMassMatrix(context)),
        np.array(plant.GetVelocities(context)),
        names,
        [joint.velocity_suffix(i).startswith("w") for joint in joints for i in range(joint.num_velocities())],
        np.array(plant.GetPositions(context)),
        read_constraint(constraint, plant.num_velocities()),
        list(_find_stops(plant, context, joints)) if stops else [],
    )
    if plant.num_constraints():
        system.notes.append(f"the plant's {plant.num_constraints()} constraints are left out; their rows can be given as constraint")
    if contacts is None:
        touches, tangent_dim = reader.detect(friction, restitution), 2
        if not touches and not any(stop.reached for stop in system.stops):
            raise InputError("no geometries penetrate at this state; contacts= says where they touch")
    else:
        touches, tangent_dim = read_touches(contacts, reader.locate, reader.spot(plant.world_frame(), np.zeros(3)))
    impact = freeze(system, touches, tangent_dim=tangent_dim, listed=contacts is not None)
    return impact


def _endings(joint: Any) -> list[str]:
    """Of the joint's velocities, without the v of linear ones; a single velocity needs none."""
    suffixes = [joint.velocity_suffix(i) for i in range(joint.num_velocities())]
    return [""] * len(suffixes) if len(suffixes) < 2 else ["." + (s[1:] if s[:1] == "v" and s[1:] else s) for s in suffixes]


def _find_stops(plant: Any, context: Any, joints: Sequence[Any]) -> Iterator[Stop]:
    q, nv = plant.GetPositions(context), plant.num_velocities()
    for joint in joints:
        if joint.num_positions() != 1 or joint.num_velocities() != 1:
            continue
        low, high = joint.position_lower_limits()[0], joint.position_upper_limits()[0]
        slides = joint.velocity_suffix(0).startswith("v")
        stop = make_stop(joint.name(), joint.velocity_start(), nv, q[joint.position_start()], low, high, slides)
        if stop is not None:
            yield stop


class _Reader:
    """Reads joints, places and contacts of a plant at its context."""

    def __init__(self, plant: Any, context: Any) -> None:
        self.plant = plant
        self.context = context

    def joints(self) -> list[Any]:
        """Joints with velocities, in the order of these."""
        joints = [self.plant.get_joint(index) for index in self.plant.GetJointIndices()]
        return sorted((joint for joint in joints if joint.num_velocities()), key=lambda joint: joint.velocity_start())

    def weld(self, body: Any) -> int:
        """The first of the bodies that move with a body."""
        return min(int(other.index()) for other in self.plant.GetBodiesWeldedTo(body))

    def spot(self, frame: Any, point: Array) -> Spot:
        """A point in the axes of a frame."""
        from pydrake.multibody.tree import JacobianWrtVariable

        world = self.plant.world_frame()
        jacobian = self.plant.CalcJacobianTranslationalVelocity(
            self.context, JacobianWrtVariable.kV, frame, point.reshape(3, 1), world, world
        )
        place = frame.CalcPoseInWorld(self.context) @ point
        return Spot(place, jacobian, self.weld(frame.body()), frame.body().name())

    def locate(self, place: Place, label: str) -> Spot:
        """A place that a caller listed."""
        frame = place.name
        if isinstance(frame, str):
            try:
                frame = self.plant.GetFrameByName(frame)
            except RuntimeError as error:
                raise InputError(f"{label}: {error}") from None
        if not hasattr(frame, "CalcPoseInWorld"):
            raise InputError(f"{label}: frame {frame!r} is neither a name nor a frame of the plant")
        return self.spot(frame, place.point)

    def detect(self, friction: float | None, restitution: float) -> list[Touch]:
        """The pairs of Drake's point contact."""
        port = self.plant.get_geometry_query_input_port()
        if not port.HasValue(self.context):
            raise InputError("contacts: the context is not of a diagram with a scene graph that finds them; list them")
        query = port.Eval(self.context)
        inspector = query.inspector()
        touches, bases = [], []
        for pair in query.ComputePointPairPenetration():
            # Drake's normal points from B to A.
            geoms = (pair.id_A, pair.id_B)
            point = 0.5 * (np.asarray(pair.p_WCa) + np.asarray(pair.p_WCb))
            normal = as_unit(-pair.nhat_BA_W, "a contact of Drake: the normal")
            bodies = [self.plant.GetBodyFromFrameId(inspector.GetFrameId(geom)) for geom in geoms]
            spots = [self.spot(body.body_frame(), body.EvalPoseInWorld(self.context).inverse() @ point) for body in bodies]
            names = [inspector.GetName(geom).split("::")[-1] for geom in geoms]
            moves = [spot.body != 0 for spot in spots]
            bases.append(clean(":".join(names) if moves[0] == moves[1] else names[moves[1]], 2 * _GEOM_NAME + 1))
            touches.append(
                Touch(
                    name=None,
                    first=spots[0].jacobian,
                    second=spots[1].jacobian,
                    normal=normal,
                    tangents=default_tangents(normal),
                    friction=_combine_friction(inspector, geoms) if friction is None else friction,
                    restitution=restitution,
                    point=point,
                    bodies=(spots[0].body, spots[1].body),
                    body_names=(spots[0].body_name, spots[1].body_name),
                    geom_names=(names[0], names[1]),
                )
            )
        for touch, name in zip(touches, number_names(bases)):
            touch.name = name
        return touches


def _combine_friction(inspector: Any, geoms: Sequence[Any]) -> float:
    """The dynamic friction of two geometries."""
    from pydrake.multibody.plant import CalcContactFrictionFromSurfaceProperties

    own = []
    for geom in geoms:
        properties = inspector.GetProximityProperties(geom)
        if not properties.HasProperty("material", "coulomb_friction"):
            raise InputError(f"geometry '{inspector.GetName(geom)}' has no friction: give friction for all contacts")
        own.append(properties.GetProperty("material", "coulomb_friction"))
    return float(CalcContactFrictionFromSurfaceProperties(*own).dynamic_friction())
