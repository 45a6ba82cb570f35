# SPDX-License-Identifier: Apache-2.0
"""Contacts at frames of a model, for simulators in which places are frames."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import as_matrix
from .._errors import InputError
from ._contacts import Place, read_contacts
from ._freeze import Stop, Touch

Array = NDArray[np.float64]

# Limits beyond this are none: some simulators write the largest number for them.
_NO_LIMIT = 1e100


@dataclass
class Spot:
    """A point of a body in the world: the Jacobian of its velocity, (3, nv), and the number of all that moves with the body."""

    point: Array
    jacobian: Array
    body: int
    body_name: str


def read_touches(contacts: Sequence[Mapping[str, Any]], locate: Callable[[Place, str], Spot], world: Spot) -> tuple[list[Touch], int]:
    """The contacts that a caller listed, and their number of tangents."""
    listed, tangent_dim = read_contacts(contacts, ("frame",))
    touches = []
    for contact in listed:
        spots = [locate(place, contact.label) for place in contact.places]
        first, second = spots if len(spots) == 2 else (world, spots[0])
        touches.append(
            Touch(
                name=contact.name,
                first=first.jacobian,
                second=second.jacobian,
                normal=contact.normal,
                tangents=contact.tangents,
                friction=contact.friction,
                restitution=contact.restitution,
                point=np.mean([spot.point for spot in spots], axis=0),
                bodies=(first.body, second.body),
                body_names=(first.body_name, second.body_name),
            )
        )
    return touches, tangent_dim


def read_constraint(constraint: ArrayLike | None, nv: int) -> list[tuple[str, Array]]:
    """Rows of equality constraints that a caller gives."""
    if constraint is None:
        return []
    return [(f"row {i}", row[np.newaxis]) for i, row in enumerate(as_matrix("constraint", constraint, None, nv))]


def read_state(name: str, value: ArrayLike, size: int) -> Array:
    """Coordinates or velocities of a model."""
    vector = np.array(value, dtype=np.float64).reshape(-1)
    if vector.size != size:
        raise InputError(f"{name}: it has {vector.size} entries, and the model needs {size}")
    if not np.isfinite(vector).all():
        raise InputError(f"{name}: it is not finite")
    return vector


def make_stop(name: str, velocity: int, nv: int, value: float, low: float, high: float, slides: bool) -> Stop | None:
    """The stop of a joint with one coordinate; None where it has none. With one limit its range is measured by 1 rad or 1 m."""
    bounded = [abs(limit) < _NO_LIMIT for limit in (low, high)]
    if not any(bounded):
        return None
    row = np.zeros(nv)
    row[velocity] = 1
    lower = value - low if bounded[0] else np.inf
    upper = high - value if bounded[1] else np.inf
    width = high - low if all(bounded) else 1.0
    return Stop("slide" if slides else "hinge", name, row, lower, upper, width, unit="m" if slides else "rad")
