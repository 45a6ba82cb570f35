# SPDX-License-Identifier: Apache-2.0
"""Which of the contacts that a simulator found an impact takes, by the rules of `detect:` in scenes: patterns of names, contacts of one
robot with itself, stops."""
from __future__ import annotations

import difflib
import enum
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .._errors import InputError
from ._freeze import Stop

_OFFERED_NAMES = 4
_LIKENESS = 0.4


class Fate(enum.IntEnum):
    """What becomes of a contact found. The first that applies to one of several equal contacts is that of them all."""

    KEPT = 0
    UNWANTED = 1
    EXCLUDED = 2
    OF_SELF = 3


# What the user gave that leaves out contacts of each fate.
_KEYS = {Fate.UNWANTED: "only", Fate.EXCLUDED: "exclude", Fate.OF_SELF: "self=False"}


@dataclass(frozen=True)
class Detection:
    """What is looked for, and what of it is taken; see `from_mujoco`.

    Attributes
    ----------
    margin, friction : float or None
        None: those of the model.
    only, exclude : tuple of str
        Patterns of names of bodies, geoms and contacts.
    """

    margin: float | None = None
    friction: float | None = None
    restitution: float = 0.0
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    drop_self: bool = False
    drop_stops: bool = False
    merge: float = 0.0

    def check(self) -> None:
        """Refuses what is no number or no length."""
        numbers = {"margin": self.margin, "merge": self.merge, "friction": self.friction, "restitution": self.restitution}
        for name, number in numbers.items():
            if number is not None and not isinstance(number, (int, float, np.integer, np.floating)):
                raise InputError(f"{name}: {number!r} is not a number")
            if name in ("margin", "merge") and number is not None and not 0 <= number < np.inf:
                raise InputError(f"{name} is {number:g}: it is a finite length >= 0")

    def judge_pair(self, names: Iterable[str], one_robot: bool) -> Fate:
        """What becomes of a contact of these bodies and geoms, but for its own name."""
        if self.drop_self and one_robot:
            return Fate.OF_SELF
        names = list(names)
        if any(_fits(self.exclude, name) for name in names):
            return Fate.EXCLUDED
        return Fate.KEPT if not self.only or any(_fits(self.only, name) for name in names) else Fate.UNWANTED

    def judge_name(self, fate: Fate, name: str) -> Fate:
        """What becomes of it by its name, too."""
        if fate > Fate.UNWANTED:
            return fate
        return Fate.EXCLUDED if _fits(self.exclude, name) else Fate.KEPT if _fits(self.only, name) else fate

    def choose_stops(self, stops: Sequence[Stop]) -> list[Stop]:
        """Those that stay. What is not at its limit stays, too: it may be worth a word."""
        if self.drop_stops:
            return []
        fate = Fate.UNWANTED if self.only else Fate.KEPT
        return [stop for stop in stops if not stop.reached or self.judge_name(fate, stop.label) == Fate.KEPT]

    def check_patterns(self, names: Sequence[str]) -> None:
        """Refuses a pattern that none of the names of the model fits."""
        for key, patterns in (("only", self.only), ("exclude", self.exclude)):
            for pattern in patterns:
                if any(_fits((pattern,), name) for name in names):
                    continue
                near = difflib.get_close_matches(pattern, dict.fromkeys(names), _OFFERED_NAMES, _LIKENESS)
                offered = "; near names: " + ", ".join(f"'{name}'" for name in near) if near else ""
                raise InputError(f"{key}: '{pattern}' is no body, geom or contact of the model{offered}")


def read_patterns(key: str, patterns: str | Sequence[str] | None) -> tuple[str, ...]:
    """One pattern, or several."""
    if patterns is None:
        return ()
    read = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    if not read or not all(isinstance(pattern, str) for pattern in read):
        raise InputError(f'{key}: a list of names of bodies, geoms or contacts is needed, which may have wildcards: "foot*"')
    return read


def describe_fates(fates: Sequence[Fate]) -> str:
    """Why nothing is left."""
    counts = ", ".join(f"'{key}' leaves out {fates.count(fate)}" for fate, key in _KEYS.items() if fate in fates)
    return f"none of the {len(fates)} contacts found is left: {counts}"


def _fits(patterns: Sequence[str], name: str) -> bool:
    # A name with a bracket in it, which a pattern reads as a set of letters, still matches itself.
    return any(pattern == name or fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
