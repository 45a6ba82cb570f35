# SPDX-License-Identifier: Apache-2.0
"""Asking a law: what impacts and scenes share."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _carom
from ._errors import InputError, warn_incomplete
from .laws import make_settings

if TYPE_CHECKING:
    from .impact import Impact

_KEEP = {"all": 0, "extent": 1, "hull": 2}


def count_threads(threads: int | None) -> int:
    """Threads as C takes them: 0 for one for each core."""
    if threads is None:
        return 0
    if isinstance(threads, bool) or not 1 <= threads <= 1024 or int(threads) != threads:
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


def ask(
    impact: Impact,
    law: str,
    scene: Any,
    options: dict[str, Any],
    keep: str,
    threads: int | None,
    progress: bool | Callable[[int, int], object],
) -> Any:
    """Outcomes of a law; for callers two calls below the user."""
    from .outcomes import Outcomes
    from .polytopes import Polytopes

    if keep not in _KEEP:
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
    made = kind._make(impact, law, outcomes, result, scene, settings, extent, seconds)
    made.keep = keep
    if kind is Polytopes and outer is not None:
        made._outer = kind._make(impact, law, *outer, scene, settings, None, seconds)
    if not complete:
        warn_incomplete(law, made.info["verdict"], 3)
    return made
