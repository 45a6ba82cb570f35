# SPDX-License-Identifier: Apache-2.0
"""What figures and the explorer share: looks and labels of laws, axes and their units."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _carom
from ._errors import InputError
from .outcomes import Outcomes
from .polytopes import Polytopes

# A law with more outcomes than this is drawn as dots.
MANY = 50
# Diameter of a mark of size 1 [mm], its growth with each mark that it encloses, margins of figures and of those fitted to sets, and the
# number of points from which a set is shaded by its density: those of the command.
MARK, RING, MARGIN, ZOOM_MARGIN, SHADED = _carom.plot_sizes()
# Impulses are sums of a few hundred steps, each with the rounding of double precision.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Look:
    """How a law is drawn, the same in every picture of the command and of this package.

    Attributes
    ----------
    colour : str
        As #rrggbb.
    shape : str
        disc, triangle, triangle-down, diamond, square, pentagon, circle, cross, plus or star: in this order they enclose each other.
    size : float
        Of a mark, in units of `MARK`.
    """

    colour: str
    shape: str
    size: float


def list_outcomes(given: Any, verb: str) -> list[Outcomes]:
    """The answers of one picture, of the same contacts, and with something to be seen; from one answer, several, or a mapping of them."""
    if isinstance(given, Outcomes):
        given = [given]
    try:
        listed = list(given.values() if isinstance(given, Mapping) else given)
    except TypeError:
        listed = [given]
    for out in listed:
        if not isinstance(out, Outcomes):
            raise InputError(f"outcomes: a carom.Outcomes is needed, not {type(out).__name__}")
    if not listed:
        raise InputError(f"there is nothing to {verb}: no outcomes are given")
    if not any(map(len, listed)):
        reason = "there are no outcomes"
        if any(out.keep == "extent" for out in listed):
            reason = 'no outcomes are kept (keep="extent" leaves them out)'
        elif all(map(is_sampled, listed)):
            reason = f"none of the {sum(out.info['samples'] for out in listed)} samples terminated"
        raise InputError(f"there is nothing to {verb}: {reason}")
    same_contacts(listed)
    return listed


def looks(outcomes: Sequence[Outcomes]) -> list[Look]:
    """The looks of these answers in one picture, and a free one at the end; a law that stands there already gets a free one, too."""
    return [Look(*row) for row in _carom.plot_looks((*(out.law for out in outcomes), ""))]


def is_sampled(out: Outcomes) -> bool:
    """Whether its outcomes are samples of a set."""
    return "sample" in out.columns


def label(out: Outcomes, *, followed: bool = False) -> str:
    """What the key of a picture says: the law, what its outcomes are of the set, and how many they are; and that they are followed."""
    if isinstance(out, Polytopes):
        claim = {"exact": "the set", "inner": "certified inner set"}.get(out.info["certificate"], "certified outer set")
        return f"{out.law} ({claim}, {plural(len(out.pieces), 'piece')})"
    if is_sampled(out):
        total, noun = out.extent["outcomes"], "walk" if out.info["solver"] == "walk" else "sample"
        kept = f"{len(out)} of " if total is not None and len(out) < total else ""
        count = f"{plural(len(out), noun)} kept" if total is None else f"{kept}{plural(total, noun)}"
        # Of an uncertain impact they are of many sets.
        if "draw" in out.columns:
            return f"{out.law} (uncertain impact: {count} of a union of sets)"
        # Files of older versions do not say how many may lie outside the set.
        outside = out.info["approximate"]
        if outside is None:
            return f"{out.law} ({count})"
        return f"{out.law} ({count}, {outside} may lie outside)" if outside else f"{out.law} (inner approximation, {count})"
    if followed:
        return f"{out.law} ({plural(len(out), 'outcome')}, impact by impact)"
    if "draw" in out.columns:
        return f"{out.law} (uncertain impact: {plural(len(out), 'outcome')})"
    return out.law if len(out) == 1 else f"{out.law} ({plural(len(out), 'outcome')})"


def plural(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count} {noun}{'s' * (count != 1)}"


def unit(out: Outcomes, axis: str) -> str:
    """The unit of a column or of one of its numbers; empty where it has none or none is known."""
    if axis in out.columns:
        return out.columns[axis].unit
    column, place = out.axes()[axis]
    if column == "v_plus":
        return _carom.impact_velocities(out.impact._handle)[1][place]
    return out.columns[column].unit


def axis_label(out: Outcomes, axis: str) -> str:
    """What stands beside an axis."""
    if axis == "energy_ratio":
        return "kinetic energy after / before"
    of = unit(out, axis)
    # A generalised velocity is better known by its joint.
    column, place = out.axes().get(axis, ("", 0))
    joint = _carom.impact_velocities(out.impact._handle)[0][place] if column == "v_plus" else axis
    text = axis if axis in (joint, f"v.{joint}") else f"{axis}, {joint}"
    return f"{text}  [{of}]" if of else text


def values(out: Outcomes, axis: str) -> NDArray[np.float64]:
    """The numbers of one axis, one for each outcome, as they are drawn: what differs from zero by rounding only is zero.

    Contact velocities are zero within the tolerance of rest, impulses within `_ROUNDING` of the largest, energy within the precision of that
    before the impact.
    """
    try:
        found = np.asarray(out[axis])
    except KeyError as error:
        raise InputError(f"axes: {error.args[0]}") from None
    if found.ndim != 1 or found.dtype.kind not in "fiub":
        raise InputError(f"axes: {axis!r} is not a single number of an outcome")
    numbers = found.astype(np.float64)
    column = out.axes().get(axis, ("",))[0]
    if column in ("normal_velocity", "tangent_velocity"):
        numbers[np.abs(numbers) <= _carom.impact_rest(out.impact._handle)] = 0
    elif column in ("normal_impulse", "tangent_impulse") and len(out):
        numbers[np.abs(numbers) <= _ROUNDING * np.max(out["normal_impulse"])] = 0
    elif axis == "energy_ratio":
        numbers[np.abs(numbers) <= np.finfo(np.float64).eps] = 0
    return numbers


def paths(out: Outcomes, x: str, y: str) -> list[NDArray[np.float64]]:
    """Contact velocities before the impact and after each single impact or step, (2, k), of the outcomes that have them.

    None where one of the axes is no contact velocity, which is all that paths have.
    """
    m, dim = out.impact.contacts, out.impact.tangent_dim
    # Contact by contact the normal, then the tangents.
    places = {"normal_velocity": range(0, m * (1 + dim), 1 + dim), "tangent_velocity": [i for i in range(m * (1 + dim)) if i % (1 + dim)]}
    columns = [out.axes().get(axis, ("", 0)) for axis in (x, y)]
    if "path" not in out.columns or any(column not in places for column, _ in columns):
        return []
    chosen = [places[column][place] for column, place in columns]
    found = [states[:, chosen].T for states in out["path"] if len(states)]
    rest = _carom.impact_rest(out.impact._handle)
    return [np.where(np.abs(path) <= rest, 0, path) for path in found]


def contact_axes(out: Outcomes) -> list[str]:
    """Names of the contact velocities, normal ones first."""
    return sorted((name for name in out.axes() if name.startswith(("Jn.", "Jt."))), key=lambda name: name[1] != "n")


def choose_axes(outcomes: Sequence[Outcomes], axes: Sequence[str]) -> tuple[str, str]:
    """The two axes that were asked for, or the contact velocities with the largest extent."""
    if len(axes) == 2:
        return axes[0], axes[1]
    if axes:
        raise InputError(f"axes: a figure has two, such as 'Jn.A', 'Jn.B', and {len(axes)} are given")
    names = contact_axes(outcomes[0])
    ranges = np.tile([np.inf, -np.inf], (len(names), 1))
    for out in (out for out in outcomes if len(out)):
        for row, name in zip(ranges, names):
            numbers = values(out, name)
            row[:] = np.fmin(row[0], np.nanmin(numbers)), np.fmax(row[1], np.nanmax(numbers))
    x, y = _carom.plot_axes(outcomes[0].impact.contacts, len(names), ranges)
    return names[x], names[y]


def hull(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[int]:
    """Which of these points are the corners of their convex hull, in order."""
    return _carom.plot_hull(np.ascontiguousarray(x), np.ascontiguousarray(y), len(x))


def same_contacts(outcomes: Sequence[Outcomes]) -> None:
    """Outcomes of one picture have the same contacts and as many velocities, and so the same axes."""
    first = outcomes[0].impact
    for out in outcomes[1:]:
        if (out.impact.names, out.impact.tangent_dim, out.impact.nv) != (first.names, first.tangent_dim, first.nv):
            raise InputError(f"{out!r}: its contacts are not those of {outcomes[0]!r}")
