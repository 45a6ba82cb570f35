# SPDX-License-Identifier: Apache-2.0
"""Asking a law, of impacts and scenes."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

from . import _carom
from ._errors import InputError, warn_caveats, warn_incomplete
from .laws import make_settings

if TYPE_CHECKING:
    from .impact import Impact
    from .outcomes import Outcomes
    from .polytopes import Polytopes

_KEEP = {"all": 0, "extent": 1, "hull": 2}


def count_threads(threads: int | None) -> int:
    """Threads as C takes them: 0 for one for each core."""
    if threads is None:
        return 0
    if isinstance(threads, bool) or not isinstance(threads, SupportsIndex) or not 1 <= int(threads) <= 1024:
        raise InputError(f"threads: {threads!r} is not a whole number between 1 and 1024")
    return int(threads)


def make_progress(progress: bool | Callable[[int, int], object], name: str) -> tuple[Any, Callable[[], None]]:
    """A function for C's progress, None for none; and one to be called at the end."""
    if callable(progress):
        return progress, lambda: None
    if progress:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None, lambda: None
        bar = tqdm(desc=name, unit="block")

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return show, bar.close
    return None, lambda: None


class Asked:
    """What laws are asked about: an impact, or a scene, which has options of its own."""

    __slots__ = ()

    def _asked(self) -> tuple[Impact, Any, str | None]:
        """The impact; the handle of the scene, None for none; and the law that the scene names."""
        raise NotImplementedError

    def _news(self, sentences: tuple[str, ...]) -> tuple[str, ...]:
        """Those that loading a scene has not said."""
        known: tuple[str, ...] = getattr(self, "warnings", ())
        return tuple(one for one in sentences if not any(one in warning for warning in known))

    def resolve(
        self,
        law: str | None = None,
        *,
        keep: str = "all",
        threads: int | None = None,
        progress: bool | Callable[[int, int], object] = False,
        **options: Any,
    ) -> Outcomes:
        """The outcomes that a law allows.

        Parameters
        ----------
        law : str
            One of `carom.laws()`. May be left out where a scene names one.
        keep : {"all", "extent", "hull"}
            What stays in memory: every outcome; their extent alone; or those that are corners of the convex hull in at least one plane of
            two contact velocities. The latter two take any number of samples.
        threads : int, optional
            Left out: one for each core. Outcomes do not depend on it.
        progress : bool or callable
            True shows a bar of tqdm where that is installed; a function is called with the blocks done and their total.
        **options
            Options of the law, as `carom.law(law).options` lists them. None stands for the default, which is the scene's where it gives
            one.

        Returns
        -------
        Outcomes
            For "halm-posa-exact" `Polytopes`.

        Raises
        ------
        InputError
            For an option that the law does not have, or a value out of range.
        UnsupportedError
            Where this build lacks what the law needs.

        Warns
        -----
        Incomplete
            When part of the answer is missing: `info["verdict"]` says why, or the warning how many samples did not terminate.
        Caveat
            When nothing collides, or the law does not use what is given, such as restitution: the answer's `caveats`.
        """
        return self._ask(law, options, keep, threads, progress)

    def sample(
        self,
        samples: int | None = None,
        *,
        seed: int | None = None,
        keep: str = "all",
        threads: int | None = None,
        progress: bool | Callable[[int, int], object] = False,
        **options: Any,
    ) -> Outcomes:
        """The set of outcomes of the impact inclusion, sampled (law halm-posa, after Algorithms 1 and 2 of Halm & Posa 2023).

        An inner approximation where `info["approximate"]` is 0. Otherwise that many outcomes, those with the flag "approximate", may lie
        outside the set by O(h), an error of the steps of time stepping; `sampler="walk"` has none of these.

        Parameters
        ----------
        samples : int, optional
            Number of samples. Left out: 16384, or what the scene says.
        seed : int, optional
            Left out: 0, or what the scene says. The same seed gives the same bits.
        keep, threads, progress, **options
            As of `resolve`.

        Returns
        -------
        Outcomes
            Of the samples that terminated; a warning says how many did not. Errors and other warnings are those of `resolve`.
        """
        return self._ask("halm-posa", {"samples": samples, "seed": seed, **options}, keep, threads, progress)

    def exact(self, *, progress: bool | Callable[[int, int], object] = False, **options: Any) -> Polytopes:
        """The set of outcomes as polytopes, in exact arithmetic (law halm-posa-exact; planar, few contacts).

        Parameters
        ----------
        progress
            As of `resolve`.
        **options
            As `carom.law("halm-posa-exact").options` lists them: `mode`, `seconds`, ...

        Returns
        -------
        Polytopes
            `info["certificate"]` says what they are of the set.

        Raises
        ------
        InputError
            For options as of `resolve`, and impacts with more contacts than the law takes.
        UnsupportedError
            For spatial contacts, and where carom was built without the Parma Polyhedra Library.
        """
        return cast("Polytopes", self._ask("halm-posa-exact", options, "all", None, progress))

    def _ask(
        self,
        law: str | None,
        options: dict[str, Any],
        keep: str,
        threads: int | None,
        progress: bool | Callable[[int, int], object],
        quiet: bool = False,
    ) -> Outcomes:
        """Asks; `quiet` leaves caveats to the caller."""
        from .outcomes import Outcomes
        from .polytopes import Polytopes

        impact, scene, named = self._asked()
        law = law or named
        if law is None:
            raise InputError("law: it is missing, and no scene names one")
        if not isinstance(keep, str) or keep not in _KEEP:
            raise InputError(f"keep: {keep!r} is not one of all, extent, hull")
        settings = make_settings(law, options)
        show, end = make_progress(progress, law)
        try:
            outcomes, result, extent, outer, complete, seconds = _carom.law_resolve(
                law, impact._handle, scene, settings, count_threads(threads), _KEEP[keep], show
            )
        finally:
            end()
        kind = Polytopes if law == "halm-posa-exact" else Outcomes
        made = kind._make(impact, law, outcomes, result, scene, settings, extent, seconds, keep)
        if isinstance(made, Polytopes) and outer is not None:
            made._outer = Polytopes._make(impact, law, *outer, scene, settings, None, seconds)
        # Said of the caller of the method that asks. Samples that did not terminate are a result, but nothing of them is here.
        if not quiet:
            warn_caveats(self._news(made._unused()), 3)
        info = made.info
        if not complete:
            warn_incomplete(f"{law}: the answer is {info['verdict']}: what was found is there", 3)
        elif "samples" in info and info["terminated"] < info["samples"]:
            missing = f"{info['samples'] - info['terminated']} of {info['samples']}"
            warn_incomplete(f"{law}: {missing} samples did not terminate and have no outcome; more max_steps or a larger step may let them", 3)
        return made
