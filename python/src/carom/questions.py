# SPDX-License-Identifier: Apache-2.0
"""Questions about sets of outcomes, as `carom query` asks them."""
from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import as_number, as_reals
from ._errors import InputError, warn_caveats

if TYPE_CHECKING:
    from .impact import Impact
    from .outcomes import Outcomes


# Of numbers of outcomes of which `Outcomes.caveats` speaks.
_OUTSIDE = "no lower bound: it may lie outside the set by O(h)"


class Maximum(float):
    """The largest value of an expression, a float that knows where it is attained.

    Attributes
    ----------
    unit : str
        Empty where there is none.
    index : int
        Row of the first outcome that has the value, up to round-off.
    certified : bool
        True where no outcome of the law has more: for exact sets.
    approximate : bool
        True where that outcome may lie outside the set by O(h), as samples of time stepping may (`sampler="walk"` has none of these).
        Otherwise the value of samples is a lower bound of the largest of the set.
    inner : float or None
        The largest value of a member of the set for certain, which is a lower bound: of an outcome that is not approximate, or, of one
        known impact, of a solution that a short search finds. None where none is known.
    source : str or None
        What `inner` is of: "samples", "search", or "exact".
    velocity, contact_velocity : ndarray
        Of that outcome.
    """

    unit: str
    index: int
    certified: bool
    approximate: bool
    inner: float | None
    source: str | None
    velocity: NDArray[np.float64]
    contact_velocity: NDArray[np.float64]

    # Printed it is a number; shown, it says what it is.
    __str__ = float.__repr__

    def __repr__(self) -> str:
        claim = "certified" if self.certified else _OUTSIDE if self.approximate else "a lower bound"
        return f"<carom.Maximum: {_quantity(self, self.unit)} in outcome {self.index}, {claim}>"


class Bound(float):
    """A certified upper bound of an expression over all solutions, a float that knows what proves it.

    Attributes
    ----------
    unit : str
        Empty where there is none.
    method : str
        "fan", "energy" or "start".
    energy : float
        The bound by energy alone.
    planes, simplices : int
        Planes that refined the fan, and its simplices.
    reason : str
        Why only the energy proves it; empty otherwise.
    """

    unit: str
    method: str
    energy: float
    planes: int
    simplices: int
    reason: str

    __str__ = float.__repr__

    def __repr__(self) -> str:
        return f"<carom.Bound: {_quantity(self, self.unit)} by {self.method}>"


class Distance(float):
    """The Hausdorff distance of two sets, a float that knows its parts.

    Attributes
    ----------
    a_to_b, b_to_a : float
        One-sided distances: the farthest that a point of the first set is from the second, and the reverse.
    gap : float
        The distances exceed these values by no more.
    unit : str
        "m/s", or "sqrt(J)" in the kinetic metric.
    worst_point, worst_point_of_b : ndarray, (n,)
        Contact velocities of the points that are farthest from the other set.
    worst_velocity, worst_velocity_of_b : ndarray, (nv,)
        Velocities that have them.
    """

    a_to_b: float
    b_to_a: float
    gap: float
    unit: str
    worst_point: NDArray[np.float64]
    worst_point_of_b: NDArray[np.float64]
    worst_velocity: NDArray[np.float64]
    worst_velocity_of_b: NDArray[np.float64]

    __str__ = float.__repr__

    def __repr__(self) -> str:
        return f"<carom.Distance: {_quantity(self, self.unit)}, a_to_b {self.a_to_b:.6g}, b_to_a {self.b_to_a:.6g}>"


@dataclass(frozen=True, repr=False, eq=False)
class Containment:
    """Whether velocities are in a set; true where all of them are. Arrays have an entry for each velocity where several were given.

    Attributes
    ----------
    contained : bool or ndarray
    distance : float or ndarray
        From the set, in the metric.
    unreachable : float or ndarray
        Length of the part of the velocity that no contact impulse brings about.
    unit, unreachable_unit : str
        Of these lengths.
    nearest : ndarray, (n,) or (k, n)
        Contact velocity of the nearest point of the set.
    nearest_velocity : ndarray, (nv,) or (k, nv)
        The velocity that has it.
    """

    contained: Any
    distance: Any
    unreachable: Any
    unit: str
    unreachable_unit: str
    nearest: NDArray[np.float64]
    nearest_velocity: NDArray[np.float64]

    def __bool__(self) -> bool:
        return bool(np.all(self.contained))

    def __repr__(self) -> str:
        farthest = f"at most {_quantity(float(np.max(self.distance, initial=0)), self.unit)} from the set"
        if np.ndim(self.contained) == 0:
            return f"<carom.Containment: {bool(self)}, {farthest}>"
        return f"<carom.Containment: {int(np.sum(self.contained))} of {len(self.contained)} velocities, {farthest}>"


def _quantity(number: float, unit: str) -> str:
    return f"{number:.6g} {unit}".rstrip()


def _source(out: Outcomes) -> tuple[Any, ...]:
    return out.impact._handle, out.law, out._table._handle, out._result._handle, out.keep == "hull"


def _warn_outside(*sets: Outcomes) -> None:
    for sentence in dict.fromkeys(sentence for out in sets for sentence in out._sampled_caveats):
        warnings.warn(sentence, UserWarning, stacklevel=4)


def _warn(omits: bool) -> None:
    if omits:
        sentence = 'only corners of the hulls in contact velocities were kept (keep="hull"); other outcomes may have more of this'
        warnings.warn(sentence, UserWarning, stacklevel=4)


def ask_max(out: Outcomes, expression: str) -> Maximum:
    """See `Outcomes.max`."""
    if not isinstance(expression, str):
        raise InputError(f"max: {expression!r} is not a text such as 'Jn.A - Jn.B'")
    # Of draws of an uncertain impact there is no one impact to search.
    value, index, unit, certified, omits, approximate, inner, source = _carom.question_max(_source(out), expression, "draw" not in out)
    _warn(omits)
    made = Maximum(value)
    made.unit, made.index, made.certified = unit, index, certified
    made.approximate, made.inner, made.source = approximate, inner, source
    if made.approximate:
        sentence = "max: the outcome with this maximum may lie outside the set by O(h), so that it is no lower bound"
        warn_caveats((f"{sentence}; `inner` is one, and carom.worst and sampler='walk' give others",), 3)
    made.velocity, made.contact_velocity = out.velocity[index], out.contact_velocity[index]
    return made


def ask_bound(
    impact: Impact, expression: str, planes: int, seconds: float | None, start: ArrayLike | None, friction: ArrayLike | None
) -> Bound:
    """See `Impact.bound`."""
    if not isinstance(expression, str):
        raise InputError(f"bound: {expression!r} is not a text such as 'Jn.A - Jn.B'")
    vertices = None if start is None else as_reals("start", start, 2)
    if vertices is not None and vertices.shape[-1] != impact.nv:
        raise InputError(f"start: it has the shape {vertices.shape}, and must have rows of {impact.nv} entries")
    intervals = None if friction is None else as_reals("friction", friction, 2)
    if intervals is not None and intervals.shape != (impact.contacts, 2):
        raise InputError(f"friction: it has the shape {intervals.shape}, and must have a least and a largest value for each contact")
    count = 0 if vertices is None else len(vertices)
    limit = float("nan") if seconds is None else as_number("seconds", seconds)
    answer = _carom.question_bound(impact._handle, expression, planes, limit, count, vertices, intervals)
    made = Bound(answer[0])
    made.method, made.energy, made.planes, made.simplices, made.unit, made.reason = answer[1:]
    return made


def ask_hull(out: Outcomes, axes: str | Sequence[str]) -> float:
    """See `Outcomes.hull`."""
    text = axes if isinstance(axes, str) else ",".join(axes)
    volume, omits = _carom.question_hull(_source(out), text)
    _warn(omits)
    _warn_outside(out)
    return float(volume)


def ask_containment(out: Outcomes, v: ArrayLike, tolerance: float, metric: str) -> Containment:
    """See `Outcomes.contains`."""
    impact = out.impact
    given = as_reals("v", v)
    if given.ndim not in (1, 2) or given.shape[-1] != impact.nv:
        raise InputError(f"v: it has the shape {given.shape}, and must have {impact.nv} entries, or rows of as many")
    if not np.isfinite(given).all():
        raise InputError("v: it has entries that are not finite")
    count = 1 if given.ndim == 1 else len(given)
    distance, unreachable = np.empty(count), np.empty(count)
    u, velocity = np.empty((count, impact.contacts * (1 + impact.tangent_dim))), np.empty((count, impact.nv))
    contained, unit, unreachable_unit = _carom.question_contain(
        _source(out), metric, tolerance, count, given, distance, unreachable, u, velocity
    )
    _warn_outside(out)
    if given.ndim == 1:
        return Containment(contained[0], float(distance[0]), float(unreachable[0]), unit, unreachable_unit, u[0], velocity[0])
    return Containment(np.array(contained, dtype=bool), distance, unreachable, unit, unreachable_unit, u, velocity)


def ask_distance(out: Outcomes, other: Outcomes | str | os.PathLike[str], metric: str, gap: SupportsFloat) -> Distance:
    """See `Outcomes.distance`."""
    from .files import read
    from .outcomes import Outcomes

    if not isinstance(other, Outcomes):
        other = read(other)
    impact = out.impact
    u, velocity = np.empty((2, impact.contacts * (1 + impact.tangent_dim))), np.empty((2, impact.nv))
    forth, back, value, left, unit, alike = _carom.question_distance(_source(out), _source(other), metric, as_number("gap", gap), u, velocity)
    if not alike:
        warnings.warn("the sets are of different impacts", UserWarning, stacklevel=3)
    _warn_outside(out, other)
    made = Distance(value)
    made.a_to_b, made.b_to_a, made.gap, made.unit = forth, back, left, unit
    made.worst_point, made.worst_point_of_b = u
    made.worst_velocity, made.worst_velocity_of_b = velocity
    return made
