# SPDX-License-Identifier: Apache-2.0
"""What impacts are extracted from: poses and the body, and warnings of what was done to them."""
from __future__ import annotations

import csv
import json
import math
import os
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import as_matrix, as_reals, as_vector
from .._errors import InputError
from ._rotation import Array, to_vector

PLANE = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
GRAVITY = (0.0, 0.0, -9.80665)

_COLUMNS = ("time", "x", "y", "z", "qw", "qx", "qy", "qz")


class PoseWarning(UserWarning):
    """Something about poses, body or plane that makes velocities or contacts wrong."""


def warn(text: str, level: int = 3) -> None:
    """Warn the caller of the package, `level` calls above."""
    warnings.warn(text, PoseWarning, stacklevel=level + 1)


class Poses(NamedTuple):
    """Poses over time of the tracked point, a point fixed in the body.

    `times` (N,) of the frames [s] increase within each group. `positions` (N, 3) are in world axes [m]; `quaternions` (N, 4) are unit
    quaternions w, x, y, z from body to world axes. `groups` (N,) say which toss a frame belongs to, or whatever it is part of; motions of
    different groups have nothing to do with each other.
    """

    times: Array
    positions: Array
    quaternions: Array
    groups: Any


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body with the points that may touch the plane. Body axes; places are those from the tracked point.

    Attributes
    ----------
    mass : float
        [kg]
    inertia : ndarray, (3, 3)
        About the center of mass [kg m^2]; three numbers are principal moments along the body's axes.
    vertices : ndarray, (n, 3)
        Points that may touch [m]. A body touches by these points only; a cylinder's rim or a curved edge has none.
    center : ndarray, (3,)
        Center of mass [m].
    friction : float or None
        Coulomb coefficient that files of measurements get; None leaves it open.
    rounding : ndarray, (n,)
        Radius of the sphere around each vertex that touches in its place [m]; a number stands for all, and 0 for sharp vertices. A ball has one
        vertex, its center.

    Raises
    ------
    InputError
        For numbers that no body has.
    """

    mass: float
    inertia: Any
    vertices: Any
    center: Any = (0.0, 0.0, 0.0)
    friction: float | None = None
    rounding: Any = 0.0

    def __post_init__(self) -> None:
        inertia = as_reals("inertia", self.inertia)
        inertia = np.diag(as_vector("inertia", inertia, 3)) if inertia.ndim < 2 else as_matrix("inertia", inertia, 3, 3)
        object.__setattr__(self, "inertia", _check_finite("inertia", inertia))
        object.__setattr__(self, "vertices", _check_finite("vertices", as_matrix("vertices", self.vertices, None, 3)))
        object.__setattr__(self, "center", _check_finite("center", as_vector("center", self.center, 3)))
        rounding = as_reals("rounding", self.rounding)
        rounding = np.full(len(self.vertices), rounding) if rounding.ndim == 0 else as_vector("rounding", rounding, len(self.vertices))
        object.__setattr__(self, "rounding", _check_finite("rounding", rounding))
        if rounding.min(initial=0) < 0:
            raise InputError("rounding: a radius is negative")
        if not (is_number(self.mass) and self.mass > 0):
            raise InputError(f"mass: {self.mass!r} is not a positive number")
        if self.friction is not None and not (is_number(self.friction) and self.friction >= 0):
            raise InputError(f"friction: {self.friction!r} is neither a number >= 0 nor None")
        if not len(self.vertices) or self.radius == 0:
            raise InputError("vertices: one at least is needed away from the center of mass, or with a rounding")
        moments = np.linalg.eigvalsh(inertia)
        if not np.allclose(inertia, inertia.T, rtol=0, atol=1e-9 * np.abs(inertia).max()):
            raise InputError("inertia: the matrix is not symmetric")
        if moments[0] <= 0 or moments[2] > (1 + 1e-9) * (moments[0] + moments[1]):
            raise InputError(f"inertia: no mass distribution has the principal moments {', '.join(f'{x:.6g}' for x in moments)}")

    @property
    def radius(self) -> float:
        """The largest distance of a point that may touch from the center of mass [m]."""
        return float((np.linalg.norm(self.vertices - self.center, axis=1) + self.rounding).max())


def read_csv(path: str | os.PathLike[str]) -> Poses:
    """Read poses from a CSV file.

    The first line names the columns, in any order: `time` [s], `x, y, z` [m], `qw, qx, qy, qz`, and `group` where there are several motions.
    Other columns are not used. Lines that begin with # are comments. A frame in which the body was lost has no line.

    Raises
    ------
    InputError
        Names line, column and rule.
    OSError
        When the file cannot be read.
    """
    names: list[str] = []
    table: list[list[float]] = []
    groups: list[str] = []
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            for row in reader:
                if not row or row[0].startswith("#"):
                    continue
                if not names:
                    names = [column.strip() for column in row]
                    missing = [column for column in _COLUMNS if column not in names]
                    if missing or len(set(names)) < len(names):
                        raise InputError(f"the column {missing[0]} is missing" if missing else "two columns have one name")
                    continue
                if len(row) != len(names):
                    raise InputError(f"line {reader.line_num}: it has {len(row)} fields, and {len(names)} columns have names")
                told = dict(zip(names, row))
                table.append([])
                for column in _COLUMNS:
                    try:
                        table[-1].append(float(told[column]))
                    except ValueError:
                        raise InputError(f"line {reader.line_num}: {column}: {told[column]!r} is not a number") from None
                    if not math.isfinite(table[-1][-1]):
                        raise InputError(f"line {reader.line_num}: {column}: {told[column]!r} is not finite")
                groups.append(told.get("group", "0").strip())
        if not names:
            raise InputError(f"there is no line with the names of columns: {', '.join(_COLUMNS)}")
        numbers = np.array(table).reshape(-1, 8)
        labels = np.array(groups)
        if all(label.isdecimal() for label in groups):
            labels = labels.astype(np.int64)
        poses = take_poses(numbers[:, 0], numbers[:, 1:4], numbers[:, 4:], labels)
    except (InputError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    if any(column.lower().startswith(("v", "w", "omega", "angular")) for column in names):
        warn(f"{os.fspath(path)}: its velocities are not used: stored velocities are filtered; they are fitted to the poses instead", 2)
    return poses


def read_body(path: str | os.PathLike[str]) -> tuple[Body, dict[str, Any]]:
    """Read a body from a JSON file: an object with `mass, inertia, vertices`, and `center, friction, rounding` as of `Body`.

    Returns
    -------
    body : Body
    place : dict
        What else the file says: `plane` as (point, normal) from `plane: {point, normal}`, and `gravity`; arguments of `impacts`.

    Raises
    ------
    InputError
        Names the key and the rule.
    OSError
        When the file cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        needed, more = {"mass", "inertia", "vertices"}, {"center", "friction", "rounding", "plane", "gravity"}
        if not isinstance(told, dict) or not needed <= set(told) <= needed | more:
            raise InputError("an object with mass, inertia, vertices is needed, and center, friction, rounding, plane, gravity if wanted")
        place = {key: told.pop(key) for key in ("plane", "gravity") if key in told}
        if "plane" in place:
            if not isinstance(place["plane"], dict) or set(place["plane"]) != {"point", "normal"}:
                raise InputError("plane: an object with point and normal is needed")
            place["plane"] = (place["plane"]["point"], place["plane"]["normal"])
            take_plane(place["plane"])
        if "gravity" in place:
            take_gravity(place["gravity"])
        return Body(**told), place
    except ValueError as error:
        rule = error if isinstance(error, InputError) else f"it is not a JSON file: {error}"
        raise InputError(f"{os.fspath(path)}: {rule}") from None


def take_poses(times: ArrayLike, positions: ArrayLike, quaternions: ArrayLike, groups: ArrayLike | None = None) -> Poses:
    """Arrays as poses, each group in one piece; refuses what is not finite or not in order."""
    t = _check_finite("times", as_reals("times", times).reshape(-1))
    p = _check_finite("positions", as_matrix("positions", positions, len(t), 3))
    q = _check_finite("quaternions", as_matrix("quaternions", quaternions, len(t), 4))
    labels = np.zeros(len(t), np.int64) if groups is None else np.asarray(groups).reshape(-1)
    if len(labels) != len(t):
        raise InputError(f"groups: there are {len(labels)}, and {len(t)} times")
    if not len(t):
        raise InputError("times: there are no frames")
    lengths = np.linalg.norm(q, axis=1)
    worst = int(np.abs(lengths - 1).argmax())
    if abs(lengths[worst] - 1) > 0.01:
        raise InputError(f"quaternions: that of frame {worst} has the length {lengths[worst]:.4g}, and must have 1")
    order = np.argsort(labels, kind="stable")
    t, p, q, labels = t[order], p[order], (q / lengths[:, np.newaxis])[order], labels[order]
    late = np.flatnonzero((labels[1:] == labels[:-1]) & (np.diff(t) <= 0))
    if len(late):
        before, after = t[late[0]], t[late[0] + 1]
        raise InputError(f"times: {after:.9g} s comes after {before:.9g} s in the group {labels[late[0]]}; they must increase")
    return Poses(t, p, q, labels)


def check_record(poses: Poses) -> None:
    """Warns of times and poses that were changed before they came here."""
    same = poses.groups[1:] == poses.groups[:-1]
    if not same.any():
        return
    # Lost frames make intervals of a multiple of the common one; what scatters around it is a clock.
    intervals = np.diff(poses.times)[same]
    common = intervals[np.abs(intervals / np.median(intervals) - 1) < 0.5]
    if common.std() > 0.01 * common.mean():
        percent = 100 * common.std() / common.mean()
        warn(f"times: intervals between frames scatter by {percent:.0f} %: give frame numbers divided by the frame rate", 4)
    # A median filter repeats single components; a system that lost the body repeats whole poses, and so does a body at rest.
    turn = (np.diff(to_vector(poses.quaternions), axis=0) == 0)[same]
    still = (np.diff(poses.positions, axis=0) == 0).all(axis=1)[same]
    if (turn.any(axis=1) & ~turn.all(axis=1)).mean() > 0.02:
        warn("quaternions: components of rotation vectors repeat exactly: they went through a median filter", 4)
    if (still & turn.all(axis=1)).mean() > 0.02:
        warn("positions: whole poses repeat exactly: where frames were lost and filled, leave them out", 4)


def take_plane(plane: Any) -> tuple[Array, Array]:
    """Point and unit normal of a plane."""
    try:
        point, normal = plane
    except (TypeError, ValueError):
        raise InputError("plane: a pair of a point and a normal is needed") from None
    point, normal = (_check_finite(f"plane: {name}", as_vector(f"plane: {name}", x, 3)) for name, x in (("point", point), ("normal", normal)))
    if not normal.any():
        raise InputError("plane: its normal is 0")
    return point, normal / np.linalg.norm(normal)


def take_gravity(gravity: ArrayLike) -> Array:
    """The acceleration of free fall."""
    vector = _check_finite("gravity", as_vector("gravity", gravity, 3))
    if not vector.any():
        raise InputError("gravity: it is 0, and free flight is known by it")
    return vector


def is_number(value: Any) -> bool:
    """Whether it is a finite number, and not a truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and math.isfinite(value)


def _check_finite(name: str, array: Array) -> Array:
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise InputError(f"{name}: the entry [{', '.join(map(str, bad[0]))}] is not finite")
    return array
