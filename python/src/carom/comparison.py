# SPDX-License-Identifier: Apache-2.0
"""All laws on one impact."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _carom
from ._errors import InputError, UnsupportedError, warn_caveats
from .impact import Impact
from .laws import Law, find_caveats
from .laws import law as find_law
from .laws import laws as all_laws
from .laws import option_text
from .outcomes import Outcomes
from .scene import Scene


class Comparison(Mapping[str, Outcomes]):
    """The answers of several laws to one impact, by their names: see `compare`.

    Attributes
    ----------
    impact : Impact
        The impact.
    name : str
        Of the scene; empty for an impact that is of none.
    left_out : dict of str to str
        Laws that gave no answer, and why.
    """

    __slots__ = ("impact", "name", "left_out", "_answers")

    def __init__(self, impact: Impact, name: str, answers: dict[str, Outcomes], left_out: dict[str, str]) -> None:
        self.impact = impact
        self.left_out = left_out
        self.name = name
        self._answers = answers

    def __getitem__(self, law: str) -> Outcomes:
        if law in self.left_out:
            raise KeyError(f"{law} is left out: {self.left_out[law]}")
        return self._answers[law]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to know beside the answers, in sentences; see `Outcomes.caveats`."""
        sampled = (f"{law}: {sentence}" for law, out in self.items() for sentence in out._sampled_caveats)
        return (*self._unused(), *sampled)

    def _unused(self) -> tuple[str, ...]:
        """Where nothing collides, and what is given that laws do not use."""
        scene = next((answer._scene for answer in self.values()), None)
        return find_caveats(self.impact, scene, tuple((name, out._settings) for name, out in self.items()))

    def plot(self, *axes: str, ax: Any = None, **options: Any) -> Any:
        """Draws all answers into one figure with matplotlib; see `carom.plotting.plot`."""
        from .plotting import plot

        return plot(list(self.values()), *axes, ax=ax, **{"title": self.name or None, **options})

    def explore(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with all answers; see `carom.explore`."""
        from .explorer import explore

        explore(self, path)

    def __repr__(self) -> str:
        counts = ", ".join(f"{law} {len(out)}" for law, out in self.items())
        left_out = f"; left out: {', '.join(self.left_out)}" if self.left_out else ""
        return f"<carom.Comparison of {len(self)} law{'s' * (len(self) != 1)}: {'; '.join((counts + left_out, *self.caveats))}>"


def compare(impact: Impact | Scene, laws: str | Sequence[str] | None = None, *, threads: int | None = None, **options: Any) -> Comparison:
    """Ask every law about one impact.

    Parameters
    ----------
    impact : Impact or Scene
        A scene gives its options to the laws.
    laws : str or sequence of str, optional
        Left out: all laws that apply, as the command `carom compare` asks them.
    threads : int, optional
        Left out: one for each core.
    **options
        Options of laws, such as `samples=2**16`; each law takes those that it has.

    Returns
    -------
    Comparison
        Of the laws that answered; `left_out` says why others did not.

    Raises
    ------
    InputError
        For a law that does not exist, an option that none of the laws has, and a value that a law refuses. An interval leaves out laws for
        which the option is a number.

    Warns
    -----
    Incomplete
        When part of an answer is missing, as `Impact.resolve` does.
    Caveat
        When nothing collides, or laws do not use what is given: `caveats` of the comparison.
    """
    if not isinstance(impact, (Impact, Scene)):
        raise InputError(f"impact: a carom.Impact or a carom.Scene is needed, not {type(impact).__name__}")
    scene = impact if isinstance(impact, Scene) else None
    frozen = impact.impact if isinstance(impact, Scene) else impact
    asked = all_laws() if laws is None else [laws] if isinstance(laws, str) else list(laws)
    known = [option for law in asked for option in find_law(law).options]
    unknown = set(options) - {option.name for option in known}
    if unknown:
        raise InputError(f"{', '.join(sorted(unknown))}: none of the laws has such an option")
    # Intervals among the options, as texts.
    given = {one.name for one in known if one.type == "interval" and options.get(one.name) is not None}
    texts = {name: option_text(name, options[name], ":") for name in given}
    wide = {name: text for name, text in texts.items() if ":" in text}
    answers: dict[str, Outcomes] = {}
    left_out: dict[str, str] = {}
    bounces = "restitution" in options or any(frozen.restitution > 0) or (scene is not None and "restitution" in scene.settings)
    for name in asked:
        law = find_law(name)
        if laws is None and not law.applies(frozen):
            left_out[name] = "it does not apply to this impact"
            continue
        if laws is None and law.elastic and not bounces and not (scene and scene.law == name):
            left_out[name] = "its impacts are elastic, and no contact bounces here: name it among the laws, or give a restitution"
            continue
        own = {option.name: option.type for option in law.options}
        narrow = [key for key in wide if own.get(key, "interval") != "interval"]
        if narrow:
            left_out[name] = f"it has no {narrow[0]} {wide[narrow[0]]}"
            continue
        settings = {**_thorough(law, scene), **{key: value for key, value in options.items() if key in own}}
        try:
            answers[name] = impact._ask(name, settings, "all", threads, False, quiet=True)
        except (InputError, UnsupportedError) as error:
            # A law may refuse the impact, but not what the caller says.
            if str(error).partition(":")[0] in (*options, "threads"):
                raise
            left_out[name] = str(error)
    made = Comparison(frozen, scene.name if scene else "", answers, left_out)
    warn_caveats(impact._news(made._unused()), 2)
    return made


def _thorough(law: Law, scene: Scene | None) -> dict[str, str]:
    """The options with which comparisons ask a law, but for those that the scene gives."""
    defaults = dict(_carom.law_options(law.name, None, ()))
    given = dict(_carom.law_options(law.name, scene._handle, ())) if scene else defaults
    return {name: text for name, text in law.thorough.items() if given[name] == defaults[name]}
