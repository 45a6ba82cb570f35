# SPDX-License-Identifier: Apache-2.0
"""What an impact can say about itself besides its numbers: names of velocities, and where the contacts are."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import as_matrix, as_names, as_reals, as_vector
from ._errors import InputError

# Unit vectors written by hand miss their length by this.
_UNIT = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Geometry:
    """Where the contacts are, for those who show, draw or name them: no law reads it. World axes.

    Attributes
    ----------
    points : ndarray, (contacts, 3)
        Where the two bodies touch [m]; NaN for a contact without a place, such as a joint at its stop.
    normals : ndarray, (contacts, 3)
        Unit vectors from the first body to the second.
    tangents : ndarray, (contacts * tangent_dim, 3)
        Unit vectors, contact by contact.
    bodies, geoms : tuple of (str or None, str or None)
        Names of the two bodies, and of their geoms, for each contact; None where there are none.
    qpos : ndarray, (nq,), or None
        The position of the system, in the order of its simulator.
    gaps : ndarray, (contacts,), or None
        Distances of the two surfaces [m], negative where they penetrate, NaN where not known. A new impact warns of deep contacts; it does
        not keep them.
    joints : sequence of int, (contacts,), or None
        Joints between a link and one that carries it, 0 for other contacts. A new impact warns of neighbours.
    """

    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    tangents: NDArray[np.float64]
    bodies: tuple[tuple[str | None, str | None], ...]
    geoms: tuple[tuple[str | None, str | None], ...]
    qpos: NDArray[np.float64] | None = None
    gaps: NDArray[np.float64] | None = None
    joints: Sequence[int] | None = None

    def __repr__(self) -> str:
        bodies = ", ".join(dict.fromkeys(name for pair in self.bodies or () for name in pair if name))
        return f"<carom.Geometry: {len(self.points)} contacts{' of ' * bool(bodies)}{bodies}>"


def as_place(
    names: Sequence[str] | None, turns: Sequence[bool] | None, geometry: Geometry | None, nv: int, contacts: int, tangents: int
) -> tuple[Any, ...] | None:
    """Names and places as C takes them."""
    if names is None and turns is None and geometry is None:
        return None
    if geometry is not None and not isinstance(geometry, Geometry):
        raise InputError(f"geometry: a carom.Geometry is needed, not {type(geometry).__name__}")
    about = (as_names(names, nv, "velocity"), None if turns is None else tuple(bool(turn) for turn in turns))
    if geometry is None:
        return (*about, None, None, None, None, None, 0, None, None, None)
    pairs = [None if rows is None else tuple(name for pair in rows for name in pair) for rows in (geometry.bodies, geometry.geoms)]
    qpos = None if geometry.qpos is None else as_reals("geometry.qpos", geometry.qpos, 1)
    normals = as_matrix("geometry.normals", geometry.normals, contacts, 3)
    directions = as_matrix("geometry.tangents", geometry.tangents, contacts * tangents, 3)
    for name, vectors in (("normals", normals), ("tangents", directions)):
        # A contact without a place has NaN or zero there.
        lengths = np.linalg.norm(vectors, axis=1)
        odd = np.flatnonzero((lengths > 0) & (np.abs(lengths - 1) > _UNIT))
        if len(odd):
            raise InputError(f"geometry.{name}[{odd[0]}]: its length is {lengths[odd[0]]:.6g}, and a unit vector is needed")
    return (
        *about,
        as_matrix("geometry.points", geometry.points, contacts, 3),
        normals,
        directions,
        *pairs,
        0 if qpos is None else len(qpos),
        qpos,
        None if geometry.gaps is None else as_vector("geometry.gaps", geometry.gaps, contacts),
        None if geometry.joints is None else as_vector("geometry.joints", geometry.joints, contacts),
    )
