# SPDX-License-Identifier: Apache-2.0
"""Names of velocities and contacts, by the rules of C's models."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

# Longest names: of a joint before endings and numbers, and of a contact before its number.
_PREFIX = 64
_BASE = 100

LINEAR = (".x", ".y", ".z")
ANGULAR = (".wx", ".wy", ".wz")


def clean(name: str, most: int) -> str:
    """Printable ASCII without blanks and commas, cut to fit."""
    data = name.encode()[:most]
    return "".join("_" if byte <= 0x20 or byte >= 0x7F or byte == 0x2C else chr(byte) for byte in data)


def name_velocities(joints: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Distinct names of all velocities, joint by joint.

    Parameters
    ----------
    joints : iterable of (str, sequence of str)
        The joint's name and the endings of its velocities; a single empty one for a joint with one velocity.
    """
    names: list[str] = []
    taken: set[str] = set()
    for prefix, endings in joints:
        prefix = clean(prefix, _PREFIX)
        number = 1
        while True:
            own = [prefix + (f":{number}" if number > 1 else "") + ending for ending in endings]
            if taken.isdisjoint(own):
                break
            number += 1
        names += own
        taken.update(own)
    return names


def number_names(bases: Sequence[str]) -> list[str]:
    """Names of contacts; those that share a base are numbered from 1."""
    names: list[str] = []
    for i, base in enumerate(bases):
        number = bases[: i + 1].count(base)
        name = f"{base[:_BASE]}:{number}" if bases.count(base) > 1 else base
        while name in names:
            name = f"{base[:_BASE]}:{number}"
            number += 1
        names.append(name)
    return names
