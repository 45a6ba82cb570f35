# SPDX-License-Identifier: Apache-2.0
"""One outcome for each of many impacts."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import as_reals, split_exact
from ._ask import count_threads, make_progress
from ._errors import InputError, warn_caveats
from .impact import Impact
from .laws import law as find_law
from .laws import make_settings


@dataclass(frozen=True, repr=False, eq=False)
class Many:
    """One outcome for each of N impacts, in their order. Of impacts of different sizes, the first three are lists of arrays.

    Attributes
    ----------
    velocity : ndarray, (N, nv)
        Post-impact velocities v+ [m/s, rad/s]; NaN where there is no outcome.
    normal_impulse : ndarray, (N, contacts)
        [N s]; NaN also where the law does not determine it.
    tangent_impulse : ndarray, (N, contacts * tangent_dim)
        [N s]
    energy_ratio : ndarray, (N,)
        Kinetic energy after over before.
    finished : ndarray of bool, (N,)
        Whether there is an outcome.
    verdict : ndarray of str, (N,)
        How far the law's answer got: "complete", "budget-spent", ...
    steps, flags : ndarray of int, (N,)
        As the columns of these names.
    """

    velocity: Any
    normal_impulse: Any
    tangent_impulse: Any
    energy_ratio: NDArray[np.float64]
    finished: NDArray[np.bool_]
    verdict: NDArray[np.str_]
    steps: NDArray[np.int64]
    flags: NDArray[np.int64]
    law: str = field(default="")

    def __len__(self) -> int:
        return len(self.finished)

    def __repr__(self) -> str:
        return f"<carom.Many: {len(self)} impacts, {int(self.finished.sum())} outcomes of {self.law}>"


def sample_many(
    mass: ArrayLike | Sequence[Impact],
    normal: ArrayLike | None = None,
    tangent: ArrayLike | None = None,
    friction: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    *,
    restitution: ArrayLike | None = None,
    law: str = "routh",
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Callable[[int, int], object] = False,
    **options: Any,
) -> Many:
    """One outcome of a law for each of N impacts, in parallel; always N rows.

    Impact i is asked with the seed `carom.many_seed(seed, i)` where the law has a seed; of several outcomes one is drawn, each with the
    same probability. Outcomes depend neither on threads nor on the other impacts.

    Parameters
    ----------
    mass : array_like, (N, nv, nv) or (nv, nv); or a sequence of Impact
        Mass matrices; a matrix without a leading axis serves all impacts. Or the impacts themselves, of any sizes, instead of arrays.
    normal : array_like, (N, contacts, nv) or (contacts, nv)
    tangent : array_like, (N, contacts * tangent_dim, nv) or without N, optional
    friction : array_like, (N, contacts), (contacts,) or a number, optional
    velocity : array_like, (N, nv) or (nv,)
        Pre-impact velocities [m/s, rad/s].
    restitution : array_like, as friction, optional
    law : str
        One of `carom.laws()`.
    seed : int
    threads : int, optional
        Left out: one for each core.
    progress : bool or callable
        As of `Impact.resolve`.
    **options
        Of the law. `samples` is 1, and the selection "auto" stands for "random" or "scattered", without a proof that solutions are unique.

    Returns
    -------
    Many

    Raises
    ------
    InputError
        Names the impact, the array and the rule that it breaks.

    Warns
    -----
    Caveat
        When the law does not use what is given, such as restitution.
    """
    names = {option.name for option in find_law(law).options}
    if "samples" in names:
        options = {"samples": 1, **options}
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise InputError(f"seed: {seed!r} is not a whole number")
    if not 0 <= seed < 2**63:
        raise InputError(f"seed: {seed} is not between 0 and {2**63 - 1}")
    settings = make_settings(law, options)
    if normal is None:
        arrays_too = {"tangent": tangent, "friction": friction, "velocity": velocity, "restitution": restitution}
        return _sample_impacts(mass, arrays_too, law, settings, int(seed), threads, progress)
    arrays = _Arrays(mass, normal, tangent, friction, restitution, velocity)
    out = tuple(np.empty(shape) for shape in arrays.shapes())
    show, end = make_progress(progress, law)
    try:
        rows = _carom.many_arrays(
            law, settings, int(seed), count_threads(threads), show, arrays.sizes, arrays.values, arrays.repeated, out
        )
    finally:
        end()
    _warn_unused(arrays.example(), law, settings, 3)
    return _collect(law, out, rows)


class _Arrays:
    """The arrays of many impacts of one size, and which of them serve all."""

    def __init__(self, mass: Any, normal: Any, tangent: Any, friction: Any, restitution: Any, velocity: Any) -> None:
        if velocity is None:
            raise InputError("velocity: the pre-impact velocities are missing")
        # The dimensions that each has for one impact; coefficients may also be a single number.
        named = {"mass": (mass, 2), "normal": (normal, 2), "tangent": (tangent, 2), "friction": (friction, 1)}
        named |= {"restitution": (restitution, 1), "velocity": (velocity, 1)}
        taken: dict[str, Any] = {}
        count = None
        for name, (value, dimensions) in named.items():
            if value is None:
                taken[name] = None
                continue
            array = as_reals(name, split_exact(name, value)[0])
            if array.ndim == dimensions + 1:
                if count not in (None, array.shape[0]):
                    raise InputError(f"{name}: it is for {array.shape[0]} impacts, and others are for {count}")
                count = array.shape[0]
            taken[name] = array
        count = 1 if count is None else count
        for name in ("mass", "normal", "tangent"):
            if taken[name] is not None and taken[name].ndim not in (2, 3):
                raise InputError(f"{name}: it has the shape {taken[name].shape}, and a matrix, or one for each impact, is needed")
        nv, contacts = taken["mass"].shape[-1], taken["normal"].shape[-2]
        rows = contacts if tangent is None else taken["tangent"].shape[-2]
        dimension = rows // contacts if contacts else 0
        if dimension not in (1, 2) or dimension * contacts != rows:
            raise InputError(f"tangent: it has {rows} rows, and must have one or two for each of {contacts} contacts")
        wanted = {"mass": (nv, nv), "normal": (contacts, nv), "tangent": (rows, nv), "friction": (contacts,)}
        wanted |= {"restitution": (contacts,), "velocity": (nv,)}
        for name, shape in wanted.items():
            array = taken[name]
            if array is None:
                continue
            if array.ndim == 0 and len(shape) == 1:
                array = taken[name] = np.full(shape, float(array))
            if array.shape not in (shape, (count, *shape)):
                raise InputError(f"{name}: it has the shape {array.shape}, and must have {shape} or {(count, *shape)}")
        self.sizes = (count, nv, contacts, dimension)
        self.values = tuple(taken.values())
        self.repeated = tuple(array is not None and array.ndim == len(wanted[name]) for name, array in taken.items())

    def example(self) -> Impact | None:
        """The first impact that bounces, or the first of all."""
        if not self.sizes[0]:
            return None
        restitution = self.values[4]
        bounces = np.zeros(1) if restitution is None else np.atleast_2d(restitution).max(axis=1, initial=0)
        index = int(np.argmax(bounces > 0))
        mass, normal, tangent, friction, restitution, velocity = (
            value if value is None or repeated else value[index] for value, repeated in zip(self.values, self.repeated)
        )
        return Impact(mass, normal, tangent, friction, velocity, restitution=restitution)

    def shapes(self) -> list[tuple[int, ...]]:
        count, nv, contacts, dimension = self.sizes
        return [(count, nv), (count, contacts), (count, contacts * dimension), (count,)]


def _sample_impacts(
    impacts: Any, arrays: dict[str, Any], law: str, settings: Any, seed: int, threads: int | None, progress: Any
) -> Many:
    if isinstance(impacts, Impact) or not isinstance(impacts, Iterable):
        raise InputError("mass: arrays, or a sequence of carom.Impact, are needed")
    impacts = tuple(impacts)
    for i, impact in enumerate(impacts):
        if not isinstance(impact, Impact):
            raise InputError(f"impact {i}: a carom.Impact is needed, not {type(impact).__name__}; or give all arrays")
    for name, array in arrays.items():
        if array is not None:
            raise InputError(f"{name}: impacts are given, which have theirs")
    widths = [[x.nv for x in impacts], [x.contacts for x in impacts], [x.contacts * x.tangent_dim for x in impacts]]
    out = (*(np.empty(sum(sizes)) for sizes in widths), np.empty(len(impacts)))
    show, end = make_progress(progress, law)
    try:
        rows = _carom.many_impacts(law, settings, seed, count_threads(threads), show, tuple(x._handle for x in impacts), out)
    finally:
        end()
    bouncing = (x for x in impacts if x.restitution.any())
    _warn_unused(next(bouncing, impacts[0] if impacts else None), law, settings, 4)
    cut = [
        array.reshape(len(sizes), max(sizes, default=0)) if len(set(sizes)) <= 1 else np.split(array, np.cumsum(sizes)[:-1])
        for array, sizes in zip(out, widths)
    ]
    return _collect(law, (*cut, out[3]), rows)


def _warn_unused(impact: Impact | None, law: str, settings: Any, level: int) -> None:
    """Says of an impact that stands for all what is given and not used, to the caller `level` calls above."""
    if impact is not None:
        warn_caveats(tuple(_carom.law_caveats(impact._handle, None, ((law, settings),))), level)


def _collect(law: str, arrays: tuple[Any, ...], rows: bytes) -> Many:
    steps, flags, verdict, finished = np.frombuffer(rows, dtype=np.int64).reshape(-1, 4).T
    names = np.array(_carom.verdicts())
    velocity, normal, tangent, energy = arrays
    return Many(velocity, normal, tangent, energy, finished.astype(bool), names[verdict], steps.copy(), flags.copy(), law)


def many_seed(seed: int, index: int) -> int:
    """The seed with which `sample_many` asks about impact `index`."""
    return int(_carom.many_seed(seed, index))
