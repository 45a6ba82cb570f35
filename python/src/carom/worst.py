# SPDX-License-Identifier: Apache-2.0
"""Worst cases by directed search, as `carom worst` finds them."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _carom
from ._arrays import as_number
from ._ask import count_threads, make_progress
from ._errors import InputError, warn_caveats, warn_incomplete
from .laws import find_caveats
from .laws import law as find_law
from .laws import make_settings
from .questions import _OUTSIDE

if TYPE_CHECKING:
    from .impact import Impact
    from .scene import Scene


class Worst(float):
    """The largest value of an expression that was found, a float that knows the outcome that has it.

    Attributes
    ----------
    unit : str
        Empty where there is none.
    complete : bool
        True where no outcome of the law has more: it gave the list of all. Otherwise the value is a lower bound of the largest, unless
        `approximate`.
    velocity, contact_velocity, impulse : ndarray, (nv,), (n,), (n,)
        v+, J v+ and the accumulated impulses of the outcome, per contact the normal, then the tangents; NaN where a law reports no impulses.
    energy_ratio : float
        Kinetic energy after over before.
    path, path_impulse : ndarray, (rows, n)
        Contact velocities before the impact and after every piece, and the impulses accumulated there. Of a law with a list of outcomes
        the start and the end.
    word : tuple of str
        Contacts in the order in which they acted, where the law says it.
    parameters : dict of str to float
        Where the worst is in what is uncertain of a scene.
    approximate : bool
        True for a time-stepped sample that may lie outside the set by O(h).
    verified : bool
        An independent check of the path has passed.
    evaluations, samples : int
        Walks or samples that were made for it, and how many of them were plain ones.
    samples_value : float
        The best of the plain ones.
    growth : ndarray, (k, 2)
        Evaluations, and the best value after them.
    members : int
        Outcomes of the law's list.
    """

    unit: str
    complete: bool
    velocity: NDArray[np.float64]
    contact_velocity: NDArray[np.float64]
    impulse: NDArray[np.float64]
    energy_ratio: float
    path: NDArray[np.float64]
    path_impulse: NDArray[np.float64]
    word: tuple[str, ...]
    parameters: dict[str, float]
    approximate: bool
    verified: bool
    evaluations: int
    samples: int
    samples_value: float
    growth: NDArray[np.float64]
    members: int

    # Printed it is a number; shown, it says what it is.
    __str__ = float.__repr__

    def __repr__(self) -> str:
        bound = _OUTSIDE if self.approximate else "a lower bound"
        claim = "no outcome of the law has more" if self.complete else f"{bound}, after {self.evaluations} evaluations"
        return f"<carom.Worst: {float(self):.6g} {self.unit}".rstrip() + f", {claim}>"


def _make(impact: Impact, expression: str, answer: tuple[Any, ...]) -> Worst:
    """The answer of C for one expression."""
    if len(answer) == 5:
        warn_incomplete(f"worst: no outcome has a value of {expression!r}", 3)
        n, nothing = impact.contacts * (1 + impact.tangent_dim), float("nan")
        rows = [np.full(size, nothing).tobytes() for size in (impact.nv, n, n, 0, 0)]
        answer = (*answer, float("-inf"), 0, False, *rows, (), (), nothing, False, False)
    made = Worst(answer[0])
    made.unit, made.evaluations, made.samples, growth, made.samples_value, made.members, made.complete = answer[1:8]
    made.velocity, made.contact_velocity, made.impulse, path, path_impulse = (np.frombuffer(part) for part in answer[8:13])
    n = len(made.contact_velocity)
    made.path, made.path_impulse = path.reshape(-1, n), path_impulse.reshape(-1, n)
    made.parameters = dict(answer[13])
    made.word = tuple(impact.names[contact] for contact in answer[14])
    made.energy_ratio, made.approximate, made.verified = answer[15:]
    made.growth = np.array(growth, dtype=np.float64).reshape(-1, 2)
    return made


@overload
def worst(
    of: Impact | Scene,
    max: str,
    *,
    law: str = ...,
    evaluations: int | None = ...,
    seconds: float | None = ...,
    seed: int = ...,
    threads: int | None = ...,
    progress: bool | Callable[[int, int], object] = ...,
    **options: Any,
) -> Worst: ...


@overload
def worst(
    of: Impact | Scene,
    max: Sequence[str],
    *,
    law: str = ...,
    evaluations: int | None = ...,
    seconds: float | None = ...,
    seed: int = ...,
    threads: int | None = ...,
    progress: bool | Callable[[int, int], object] = ...,
    **options: Any,
) -> list[Worst]: ...


def worst(
    of: Impact | Scene,
    max: str | Sequence[str],
    *,
    law: str = "halm-posa",
    evaluations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Callable[[int, int], object] = False,
    **options: Any,
) -> Worst | list[Worst]:
    """Search for the largest value of an expression among all solutions of the impact inclusion, or among the outcomes of another law.

    Parameters
    ----------
    of : Impact or Scene
        Of a scene, what is uncertain is searched, too.
    max : str, or sequence of str
        A sum of multiples of velocities, impulses and the energy ratio, as of `Outcomes.max`; with a minus in front its least value is
        looked for. Several are searched at once, and share what is found.
    law : str
        One of `carom.laws()`. Laws with a list of outcomes are asked for all of them, with the options `carom.law(law).exhaustive`.
    evaluations : int, optional
        Walks or samples for each expression; the answer is then the same for every number of threads. Left out: 2^17, in space 2^13.
    seconds : float, optional
        A budget of time for each expression, in place of evaluations.
    seed : int
        Of the plain samples and of the search.
    threads, progress
        As of `Impact.resolve`.
    **options
        Options of the law: those of `halm-posa` are `sampler` ("walk", unless given; "lcp"; "auto": both in the plane), `hypothesis`, `restitution`, `weights`, ...

    Returns
    -------
    Worst, or list of Worst
        A float with the outcome that has the value and its path; a list for a sequence.

    Raises
    ------
    InputError
        For an expression that is not understood, and options as of `Impact.resolve`.
    KeyboardInterrupt
        After Ctrl-C; what was found until then is lost.

    Warns
    -----
    Incomplete
        Where no outcome has a value of the expression, as those of `halm-posa-exact` have no impulses: it is then -inf.
    Caveat
        As `Impact.resolve` does.
    """
    impact, scene, _ = of._asked()
    expressions = (max,) if isinstance(max, str) else tuple(max) if isinstance(max, Sequence) else ()
    if not expressions or not all(isinstance(one, str) for one in expressions):
        raise InputError(f"max: {max!r} is not a text such as 'Jn.A - Jn.B', or several")
    if evaluations is not None and seconds is not None:
        raise InputError("seconds: give either a budget of time or evaluations")
    if seconds is not None and not as_number("seconds", seconds) > 0:
        raise InputError(f"seconds: {seconds!r} is not positive")
    if evaluations is not None and operator.index(evaluations) < 1:
        raise InputError(f"evaluations: {evaluations!r} is not a whole number from 1")
    table = find_law(law)
    for useless in ("samples", "paths", "nested", "epsilon"):
        if options.get(useless) is not None:
            raise InputError(f"{useless}: it has no meaning for a search, whose budget is evaluations or seconds")
    # All that the law can choose, unless the scene or the caller says otherwise.
    given = getattr(of, "settings", {})
    preset = {name: text for name, text in table.exhaustive.items() if name not in given and options.get(name) is None}
    names = {option.name for option in table.options}
    if "sampler" in names and options.get("sampler") is None:
        preset["sampler"] = "walk"
    if "seed" in names:
        preset["seed"] = str(operator.index(seed))
    settings = make_settings(law, {**options, **preset})
    limit = float("nan") if seconds is None else as_number("seconds", seconds)
    show, end = make_progress(progress, law)
    try:
        answers = _carom.worst_search(
            law, impact._handle, scene, settings, expressions, operator.index(evaluations or 0), limit, operator.index(seed),
            count_threads(threads), show
        )  # fmt: skip
    finally:
        end()
    warn_caveats(of._news(find_caveats(impact, scene, ((law, settings),))), 2)
    found = [_make(impact, expression, answer) for expression, answer in zip(expressions, answers)]
    return found[0] if isinstance(max, str) else found
