# SPDX-License-Identifier: Apache-2.0
"""From what a simulator says about a model at its state to an impact.

The rules are those of C's models: rows of contacts, joints at their stops, equality constraints, and planar scenes.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError, warn_user
from ..geometry import Geometry
from ..impact import Impact
from ._project import Projector

Array = NDArray[np.float64]

# Entries of a Jacobian below this, relative to the largest, are rounding errors of zero; and the same for rows that equality constraints
# have taken most of, which are differences of larger numbers.
_ZERO = 1e-12
_PROJECTED_ZERO = 1e-10
# Rows of two contacts of a planar scene that differ by no more than this, relative to their largest entry, are equal.
_EQUAL = 1e-12
# A value this close to its limit, relative to the width of the range, counts as being there; one this close gives a warning.
_AT_LIMIT = 1e-9
_NEAR_LIMIT = 1e-3


@dataclass
class Touch:
    """A contact: two places with the Jacobians of their points, and directions in world axes.

    Attributes
    ----------
    name : str or None
        None: the impact's default.
    first, second : ndarray, (3, nv)
        Velocities of the two points by those of the model.
    normal : ndarray, (3,)
        Unit vector from the first body to the second.
    tangents : ndarray, (2, 3)
        Unit vectors across it.
    point : ndarray, (3,)
        The place that is shown.
    bodies : tuple of int
        Equal for bodies that move together; the world is the least.
    gap : float
        Between the surfaces [m]; NaN: not known.
    joints : int
        Between a link and one that carries it; 0 for other contacts.
    """

    name: str | None
    first: Array
    second: Array
    normal: Array
    tangents: Array
    friction: float
    restitution: float
    point: Array
    bodies: tuple[int, int]
    body_names: tuple[str | None, str | None] = (None, None)
    geom_names: tuple[str | None, str | None] = (None, None)
    gap: float = np.nan
    joints: int = 0


@dataclass
class Stop:
    """A joint or a tendon with a range; at its limit it is a contact without friction.

    Attributes
    ----------
    kind : str
        slide, hinge, ball joint or tendon.
    row : ndarray, (nv,)
        The rate of its value is row @ v.
    lower, upper : float
        Distances from the limits, negative beyond them.
    width : float
        Of the range.
    scale : float
        What the entries of the row are measured by.
    """

    kind: str
    name: str
    row: Array
    lower: float
    upper: float
    width: float
    scale: float = 1.0
    unit: str = "rad"

    @property
    def distance(self) -> float:
        """From the nearer limit."""
        return min(self.lower, self.upper)

    @property
    def reached(self) -> bool:
        """Whether it is at a limit or beyond."""
        return not self.distance > _AT_LIMIT * self.width

    @property
    def opening(self) -> Array:
        """What opens it is this row times the velocity."""
        return -self.row if self.upper < self.lower else self.row

    @property
    def label(self) -> str:
        """Its name as a contact."""
        return f"{'TENDON' if self.kind == 'tendon' else 'LIMIT'}:{self.name}"


@dataclass
class System:
    """A model at its state.

    Attributes
    ----------
    mass : ndarray, (nv, nv)
        M.
    velocity : ndarray, (nv,)
        v.
    velocity_names, velocity_turns
        As of an impact.
    qpos : ndarray, (nq,)
        The position, in the simulator's order.
    constraints : list of (str, ndarray (k, nv))
        Names and rows C of equality constraints C v = 0 that hold.
    stops : list of Stop
        Joints and tendons with ranges.
    left_out : sequence of str
        Kinds of bounded forces of the model.
    notes : list of str
        Receives what is to be said to the caller.
    """

    mass: Array
    velocity: Array
    velocity_names: Sequence[str]
    velocity_turns: Sequence[bool]
    qpos: Array
    constraints: list[tuple[str, Array]] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    left_out: Sequence[str] = ()
    notes: list[str] = field(default_factory=list)


def largest(array: Array) -> float:
    """The largest absolute value; 0 of nothing."""
    return float(np.max(np.abs(array), initial=0.0))


def freeze(system: System, touches: Sequence[Touch], *, tangent_dim: int, listed: bool) -> Impact:
    """The impact of these contacts and of the joints and tendons at their limits.

    Parameters
    ----------
    tangent_dim : int
        Tangents of each contact, before second ones that nothing moves along are left out.
    listed : bool
        The caller listed the contacts: one that no motion changes is then refused, otherwise left out; and none are merged.
    """
    projector = Projector(system.mass, system.constraints, system.velocity_names)
    velocity = projector.project_velocity(system.velocity)
    kept, rows = _fill_touches(projector, touches, tangent_dim, listed, system.notes)
    labels, limits = _fill_stops(projector, system.stops, tangent_dim, system.notes)
    if system.left_out:
        kinds = " and ".join(filter(None, (", ".join(system.left_out[:-1]), system.left_out[-1])))
        system.notes.append(f"left out: {kinds}; the impulse of a bounded force vanishes with the duration of an impact")
    rows = np.concatenate([rows, limits])
    if not len(rows):
        raise InputError(f"none of the {len(touches)} contacts found can be changed by a motion of the model")

    # Second tangents are left out when nothing can move along any of them: the scene is planar.
    if tangent_dim == 2 and largest(rows[:, 2]) <= _ZERO * largest(rows):
        rows = rows[:, :2]
    planar = rows.shape[1] == 2
    friction = [touch.friction for touch in kept]
    if planar and not listed:
        kept, rows, friction = _merge_across_plane(kept, rows, system.notes)
    names = [touch.name for touch in kept]
    named = not names or names[0] is not None
    dimension = rows.shape[1] - 1
    nothing = [0.0] * len(labels)
    # What is odd about the impact itself comes after.
    for note in system.notes:
        warn_user(note)
    return Impact(
        system.mass,
        rows[:, 0],
        rows[:, 1:].reshape(-1, len(velocity)),
        friction + nothing,
        velocity,
        restitution=[touch.restitution for touch in kept] + nothing,
        names=[str(name) for name in names] + labels if named else None,
        velocity_names=system.velocity_names,
        velocity_turns=system.velocity_turns,
        geometry=_describe(kept, len(labels), dimension, system.qpos),
    )


def _fill_touches(
    projector: Projector, touches: Sequence[Touch], tangent_dim: int, listed: bool, notes: list[str]
) -> tuple[list[Touch], Array]:
    """The contacts that some motion changes, and their rows, (contacts, 1 + tangent_dim, nv)."""
    nv = projector.nv
    kept, rows = [], []
    for index, touch in enumerate(touches):
        label = f"contact number {index + 1}" if touch.name is None else f"contact '{touch.name}'"
        if not (np.isfinite(touch.first).all() and np.isfinite(touch.second).all()):
            raise InputError(f"{label}: its Jacobian is not finite; are all numbers of the model?")
        scale = max(largest(touch.first), largest(touch.second))
        directions = np.vstack([touch.normal, touch.tangents[:tangent_dim]])
        restricted = [_restrict(projector, row, scale) for row in directions @ (touch.second - touch.first)]
        # The normal row decides whether there is a contact at all; tangents may be idle, as in a planar scene.
        if restricted[0][1]:
            kept.append(touch)
            rows.append([row for row, _ in restricted])
        elif listed:
            raise InputError(f"{label}: no joint of the model changes its distance along the normal")
        else:
            notes.append(f"{label} is left out: no motion of the model changes its distance along the normal")
    return kept, np.array(rows).reshape(-1, 1 + tangent_dim, nv)


def _fill_stops(projector: Projector, stops: Sequence[Stop], tangent_dim: int, notes: list[str]) -> tuple[list[str], Array]:
    """Names and rows of the joints and tendons at their limits."""
    labels, rows = [], []
    for stop in (stop for stop in stops if stop.reached):
        row, moves = _restrict(projector, stop.opening, stop.scale)
        if not moves and stop.kind == "tendon":
            notes.append(f"tendon '{stop.name}' is at its limit, but no motion changes its length; the limit is left out")
        elif not moves:
            notes.append(f"joint '{stop.name}' is at its stop, where the equality constraints hold it; the stop is left out")
        else:
            labels.append(stop.label)
            rows.append(np.vstack([row, np.zeros((tangent_dim, projector.nv))]))
    if labels:
        tendons = [label.startswith("TENDON:") for label in labels]
        what = " and ".join(["joints at their stops"] * (not all(tendons)) + ["tendons at their limits"] * any(tendons))
        notes.append(f"{what} are contacts without friction: {', '.join(labels)}")
    for stop in (stop for stop in stops if not stop.reached and stop.distance < _NEAR_LIMIT * stop.width):
        what, distance = "limit" if stop.kind == "tendon" else "stop", f"{stop.distance:.3g} {stop.unit}".rstrip()
        notes.append(f"{stop.kind} '{stop.name}' is {distance} from its {what}; it counts as free")
    return labels, np.array(rows).reshape(-1, 1 + tangent_dim, projector.nv)


def _restrict(projector: Projector, row: Array, scale: float) -> tuple[Array, bool]:
    """A row restricted to the motions that the equality constraints leave, and whether anything is left of it."""
    if not projector.rank:
        return row, largest(row) > _ZERO * scale
    row = projector.project_row(row)
    moves = largest(row) > _PROJECTED_ZERO * scale
    return (row if moves else np.zeros_like(row)), moves


def _merge_across_plane(touches: Sequence[Touch], rows: Array, notes: list[str]) -> tuple[list[Touch], Array, list[float]]:
    """In a planar scene, points that differ across the plane only are one contact: the first stands for all, with the largest friction."""
    kept: list[int] = []
    friction: list[float] = []
    merged = []
    for i, touch in enumerate(touches):
        same = next((k for k, j in enumerate(kept) if _are_one(touches[j], touch, rows[j], rows[i])), None)
        if same is None:
            kept.append(i)
            friction.append(touch.friction)
        else:
            friction[same] = max(friction[same], touch.friction)
            merged.append(f"{touch.name} into {touches[kept[same]].name}")
    if merged:
        notes.append(f"the scene is planar, where contacts that differ across its plane only are one: {', '.join(merged)}")
    return [touches[i] for i in kept], rows[[*kept, *range(len(touches), len(rows))]], friction


def _are_one(a: Touch, b: Touch, a_rows: Array, b_rows: Array) -> bool:
    return compare_bodies(a.bodies, b.bodies) != 0 and bool(np.all(np.abs(a_rows - b_rows) <= _EQUAL * largest(a_rows)))


def compare_bodies(a: tuple[int, int], b: tuple[int, int]) -> int:
    """1 when two contacts are of the same bodies, -1 when the first of one is the second of the other, 0 when they are not."""
    return 1 if a == b else -1 if a == b[::-1] else 0


def _describe(touches: Sequence[Touch], stops: int, tangent_dim: int, qpos: Array) -> Geometry:
    """Where the contacts are; those at limits have no place."""
    nowhere = np.full((stops, 3), np.nan)
    return Geometry(
        np.vstack([*(touch.point for touch in touches), nowhere]),
        np.vstack([*(touch.normal for touch in touches), nowhere]),
        np.vstack([*(touch.tangents[:tangent_dim] for touch in touches), np.repeat(nowhere, tangent_dim, axis=0)]),
        tuple(touch.body_names for touch in touches) + ((None, None),) * stops,
        tuple(touch.geom_names for touch in touches) + ((None, None),) * stops,
        np.array(qpos, dtype=np.float64),
        np.array([touch.gap for touch in touches] + [np.nan] * stops),
        [touch.joints for touch in touches] + [0] * stops,
    )
