# SPDX-License-Identifier: Apache-2.0
"""What the extraction of impacts is given: poses, the body, the plane; and what is wrong with it."""
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

_COLUMNS = ("time", "x", "y", "z", "qw", "qx", "qy", "qz")
PLANE = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
GRAVITY = (0.0, 0.0, -9.80665)


class PoseWarning(UserWarning):
    """Something about poses or body that would make the velocities wrong."""


def warn(text: str, level: int = 3) -> None:
    """Warn the caller of the package, `level` calls above."""
    warnings.warn(text, PoseWarning, stacklevel=level + 1)


class Poses(NamedTuple):
    """Poses over time of the tracked point, a point fixed in the body.

    Attributes
    ----------
    times : ndarray, (N,)
        Of the frames, increasing within each group [s].
    positions : ndarray, (N, 3)
        Of the tracked point, world axes [m].
    quaternions : ndarray, (N, 4)
        Unit quaternions w, x, y, z from body to world axes.
    groups : ndarray, (N,)
        The toss, or whatever the frame is part of; motions of different groups have nothing to do with each other.
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
        Points that may touch [m].
    center : ndarray, (3,)
        Center of mass [m].
    friction : float or None
        Coulomb coefficient that files of measurements get; None leaves it open.

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

    def __post_init__(self) -> None:
        inertia = as_reals("inertia", self.inertia)
        inertia = np.diag(as_vector("inertia", inertia, 3)) if inertia.ndim < 2 else as_matrix("inertia", inertia, 3, 3)
        finite = {"inertia": inertia, "vertices": as_matrix("vertices", self.vertices, None, 3), "center": as_vector("center", self.center, 3)}
        for name, array in finite.items():
            _check_finite(name, array)
            object.__setattr__(self, name, array)
        if not (is_number(self.mass) and self.mass > 0):
            raise InputError(f"mass: {self.mass!r} is not a positive number")
        if self.friction is not None and not (is_number(self.friction) and self.friction >= 0):
            raise InputError(f"friction: {self.friction!r} is neither a number >= 0 nor None")
        if not len(self.vertices):
            raise InputError("vertices: there are none, and a body touches the plane with one at least")
        if not np.allclose(inertia, inertia.T, rtol=0, atol=1e-9 * np.abs(inertia).max()):
            raise InputError("inertia: the matrix is not symmetric")
        moments = np.linalg.eigvalsh(inertia)
        if moments[0] <= 0 or moments[2] > (1 + 1e-9) * (moments[0] + moments[1]):
            raise InputError(f"inertia: no mass distribution has the principal moments {', '.join(f'{x:.6g}' for x in moments)}")

    @property
    def radius(self) -> float:
        """The largest distance of a vertex from the center of mass [m]."""
        return float(np.linalg.norm(self.vertices - self.center, axis=1).max())


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
    name = os.fspath(path)
    numbers: list[list[float]] = []
    groups: list[str] = []
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = ((i, line) for i, line in enumerate(file, 1) if line.strip() and not line.startswith("#"))
            _, head = next(lines, (0, ""))
            names = [column.strip() for column in next(csv.reader([head]), [])]
            missing = [column for column in _COLUMNS if column not in names]
            if missing or len(set(names)) < len(names):
                problem = f"the column {missing[0]} is missing" if missing else "two columns have one name"
                raise InputError(f"{name}: {problem}; the first line names the columns {', '.join(_COLUMNS)} and group, if there are several")
            places = [names.index(column) for column in _COLUMNS]
            for i, line in lines:
                row = next(csv.reader([line]))
                if len(row) != len(names):
                    raise InputError(f"{name}: line {i}: it has {len(row)} fields, and the first line {len(names)}")
                numbers.append([])
                for column, place in zip(_COLUMNS, places):
                    try:
                        numbers[-1].append(float(row[place]))
                    except ValueError:
                        raise InputError(f"{name}: line {i}: {column}: {row[place]!r} is not a number") from None
                groups.append(row[names.index("group")].strip() if "group" in names else "0")
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{name}: it is not a CSV file: {error}") from None
    if any(column.lower().startswith(("v", "w", "omega", "angular")) for column in names):
        warn(f"{name}: its velocities are not used: stored velocities are filtered; they are fitted to the poses instead", 2)
    table = np.array(numbers).reshape(-1, 8)
    labels: Any = np.array(groups)
    if len(labels) and all(label.isdecimal() for label in groups):
        labels = labels.astype(np.int64)
    try:
        return take_poses(table[:, 0], table[:, 1:4], table[:, 4:], labels)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def read_body(path: str | os.PathLike[str]) -> tuple[Body, dict[str, Any]]:
    """Read a body from a JSON file: an object with `mass, inertia, vertices`, and `center, friction` as of `Body`.

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
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    except ValueError as error:
        raise InputError(f"{name}: it is not a JSON file: {error}") from None
    keys = {"mass", "inertia", "vertices", "center", "friction", "plane", "gravity"}
    if not isinstance(told, dict) or not set(told) <= keys or not {"mass", "inertia", "vertices"} <= set(told):
        raise InputError(f"{name}: an object with mass, inertia, vertices is needed, and center, friction, plane, gravity if wanted")
    place: dict[str, Any] = {key: told.pop(key) for key in ("plane", "gravity") if key in told}
    try:
        if "plane" in place:
            if not isinstance(place["plane"], dict) or set(place["plane"]) != {"point", "normal"}:
                raise InputError("plane: an object with point and normal is needed")
            place["plane"] = (place["plane"]["point"], place["plane"]["normal"])
            take_plane(place["plane"])
        return Body(**told), place
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def take_poses(times: ArrayLike, positions: ArrayLike, quaternions: ArrayLike, groups: ArrayLike | None = None) -> Poses:
    """Arrays as checked poses, in the order of their groups; warns of poses that were changed before they came here."""
    t = as_reals("times", times).reshape(-1)
    p, q = as_matrix("positions", positions, len(t), 3), as_matrix("quaternions", quaternions, len(t), 4)
    labels = np.zeros(len(t), np.int64) if groups is None else np.asarray(groups).reshape(-1)
    if len(labels) != len(t):
        raise InputError(f"groups: there are {len(labels)}, and {len(t)} times")
    if not len(t):
        raise InputError("times: there are no frames")
    for name, array in (("times", t), ("positions", p), ("quaternions", q)):
        _check_finite(name, array)
    lengths = np.linalg.norm(q, axis=1)
    if np.abs(lengths - 1).max() > 0.01:
        worst = int(np.abs(lengths - 1).argmax())
        raise InputError(f"quaternions: that of frame {worst} has the length {lengths[worst]:.4g}, and must have 1")
    order = np.argsort(labels, kind="stable")
    t, p, q, labels = t[order], p[order], (q / lengths[:, np.newaxis])[order], labels[order]
    steps, same = np.diff(t), labels[1:] == labels[:-1]
    if same.any() and steps[same].min() <= 0:
        late = int(np.flatnonzero(same & (steps <= 0))[0])
        raise InputError(f"times: {t[late + 1]:.9g} s comes after {t[late]:.9g} s in the group {labels[late]}; they must increase")
    return Poses(t, p, q, labels)


def check_record(poses: Poses) -> None:
    """Warns of times and poses that were changed before they came here."""
    same = poses.groups[1:] == poses.groups[:-1]
    steps = np.diff(poses.times)[same]
    if not len(steps):
        return
    # Lost frames make steps of a multiple of the common one; what scatters around it is a clock.
    near = steps[np.abs(steps / np.median(steps) - 1) < 0.5]
    if near.std() > 0.01 * near.mean():
        warn(f"times: intervals between frames scatter by {100 * near.std() / near.mean():.0f} %: give frame numbers divided by the frame rate")
    still = (np.diff(poses.positions, axis=0) == 0).all(axis=1)[same]
    kept = (np.diff(to_vector(poses.quaternions), axis=0) == 0)[same]
    # A median filter repeats single components; a system that lost the body, or stands still, repeats whole poses.
    if (kept.any(axis=1) & ~kept.all(axis=1)).mean() > 0.02:
        warn("quaternions: components of rotation vectors repeat exactly: they went through a median filter")
    if (still & kept.all(axis=1)).mean() > 0.02:
        warn("positions: whole poses repeat: lost frames that were filled; leave them out")


def take_plane(plane: Any) -> tuple[Array, Array]:
    """Point and unit normal of a plane."""
    try:
        point, normal = plane
    except (TypeError, ValueError):
        raise InputError("plane: a pair of a point and a normal is needed") from None
    point, normal = as_vector("plane: point", point, 3), as_vector("plane: normal", normal, 3)
    _check_finite("plane", np.concatenate([point, normal]))
    length = np.linalg.norm(normal)
    if length == 0:
        raise InputError("plane: its normal is 0")
    return point, normal / length


def take_gravity(gravity: ArrayLike) -> Array:
    """The acceleration of free fall, which is not 0."""
    vector = as_vector("gravity", gravity, 3)
    _check_finite("gravity", vector)
    if not vector.any():
        raise InputError("gravity: it is 0, and free flight is known by it")
    return vector


def _check_finite(name: str, array: Array) -> None:
    if not np.isfinite(array).all():
        place = ", ".join(str(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name}: the entry [{place}] is not finite")


def is_number(value: Any) -> bool:
    """Whether it is a finite number, and not a truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and math.isfinite(value)
