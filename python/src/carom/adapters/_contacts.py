# SPDX-License-Identifier: Apache-2.0
"""Contacts that a caller lists, in the words of scene files."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _carom
from .._errors import InputError

Array = NDArray[np.float64]

# Given directions may miss orthogonality by this, the precision of coordinates written by hand.
_ORTHOGONALITY = 1e-6
_WORDS = ("name", "point", "normal", "tangents", "friction", "restitution")


@dataclass
class Place:
    """Where a contact is on a body: its kind (site, frame, ...), its name or number, and a point in its frame."""

    kind: str
    name: Any
    point: Array


@dataclass
class Listed:
    """A contact of a list; the world is the first body where there is one place."""

    label: str
    name: str | None
    places: list[Place]
    normal: Array
    tangents: Array
    friction: float
    restitution: float


def default_tangents(normal: Array) -> Array:
    """The two tangents, (2, 3), that belong to a unit normal."""
    tangents = np.empty((2, 3))
    _carom.default_tangents(np.ascontiguousarray(normal, dtype=np.float64), tangents)
    return tangents


def as_unit(vector: Any, label: str) -> Array:
    """A unit vector along the vector."""
    try:
        vector = np.array(vector, dtype=np.float64).reshape(3)
    except (TypeError, ValueError):
        raise InputError(f"{label} needs three numbers") from None
    length = float(np.linalg.norm(vector))
    if not (length > 0 and np.isfinite(length)):
        raise InputError(f"{label} needs a finite length greater than zero")
    unit: Array = vector / length
    return unit


def read_contacts(contacts: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> tuple[list[Listed], int]:
    """Read a list of contacts.

    Parameters
    ----------
    contacts : sequence of mappings
        With the keys of `contacts:` in scene files.
    kinds : sequence of str
        What a place may be, such as "site"; a pair of them is given with an s, such as "sites". Bodies are no places of pairs.

    Returns
    -------
    contacts : list of Listed
    tangent_dim : int
        What the given tangents say; 2 where none are given.
    """
    found = [_read_contact(contact, index, kinds) for index, contact in enumerate(contacts)]
    given = {len(contact["tangents"]) for contact in contacts if contact.get("tangents") is not None}
    if len(given) > 1:
        raise InputError("tangents: all contacts need the same number of them")
    named = [contact.name is not None for contact in found]
    if any(named) and not all(named):
        raise InputError(f"contact number {named.index(False) + 1} has no name while others have one")
    return found, given.pop() if given else 2


def _read_contact(contact: Mapping[str, Any], index: int, kinds: Sequence[str]) -> Listed:
    if not isinstance(contact, Mapping):
        raise InputError(f"contact number {index + 1}: a dict such as {{'{kinds[0]}': ..., 'normal': [0, 0, 1]}} is needed")
    name = contact.get("name")
    label = f"contact number {index + 1}" if name is None else f"contact '{name}'"
    known = (*kinds, *_pairs(kinds), *_WORDS)
    for key in contact:
        if key not in known:
            raise InputError(f"{label}: there is no key '{key}'; the keys are {', '.join(known)}")
    if "normal" not in contact:
        raise InputError(f"{label}: normal is missing")
    normal = as_unit(contact["normal"], f"{label}: the normal")
    tangents = default_tangents(normal)
    given = contact.get("tangents")
    if given is not None:
        if not isinstance(given, (list, tuple, np.ndarray)) or not 1 <= len(given) <= 2:
            raise InputError(f"{label}: tangents: one or two rows of three numbers are needed, not {given!r}")
        for i, row in enumerate(given):
            tangents[i] = as_unit(row, f"{label}: tangent {i + 1}")
            if abs(tangents[i] @ normal) > _ORTHOGONALITY:
                raise InputError(f"{label}: tangent {i + 1} is not orthogonal to the normal")
        if len(given) == 2 and abs(tangents[0] @ tangents[1]) > _ORTHOGONALITY:
            raise InputError(f"{label}: the two tangents are not orthogonal to each other")
    numbers = [contact.get("friction", 0.0), contact.get("restitution", 0.0)]
    try:
        friction, restitution = (float(number) for number in numbers)
    except (TypeError, ValueError):
        raise InputError(f"{label}: friction and restitution are numbers") from None
    return Listed(label, name, _read_places(contact, label, kinds), normal, tangents, friction, restitution)


def _pairs(kinds: Sequence[str]) -> list[str]:
    """Keys of two places. A body is a place with a point of its own, and two points have no key."""
    return [f"{kind}s" for kind in kinds if kind != "body"]


def _read_places(contact: Mapping[str, Any], label: str, kinds: Sequence[str]) -> list[Place]:
    given = [key for key in (*kinds, *_pairs(kinds)) if key in contact]
    if len(given) != 1:
        raise InputError(f"{label}: one of {', '.join(kinds)} says where it is, or {' or '.join(_pairs(kinds))} for a pair")
    key = given[0]
    try:
        point = np.array(contact.get("point", (0.0, 0.0, 0.0)), dtype=np.float64).reshape(3)
    except (TypeError, ValueError):
        raise InputError(f"{label}: point needs three numbers") from None
    if not np.isfinite(point).all():
        raise InputError(f"{label}: point is not finite")
    if "point" in contact and key not in ("body", "frame"):
        raise InputError(f"{label}: point is in the frame of a {' or '.join(kind for kind in kinds if kind in ('body', 'frame'))}")
    if key in kinds:
        return [Place(key, contact[key], point)]
    names = contact[key]
    if not isinstance(names, (list, tuple, np.ndarray)) or len(names) != 2:
        raise InputError(f"{label}: {key} needs two names")
    return [Place(key[:-1], name, point) for name in names]


def find(names: Callable[[int], str | None], count: int, wanted: Any, label: str, kind: str) -> int:
    """The number of the object that a name, or its number, means."""
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
        if 0 <= wanted < count:
            return int(wanted)
    else:
        for i in range(count):
            if names(i) == wanted:
                return i
    raise InputError(f"{label}: there is no {kind} {wanted!r} in the model")
