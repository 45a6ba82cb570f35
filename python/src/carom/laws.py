# SPDX-License-Identifier: Apache-2.0
"""The laws of this build: rows of C's tables."""
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _carom
from ._errors import InputError

_WIDTHS = {-1: "velocities", -2: "contacts", -3: "tangents", -4: "contact space"}


@dataclass(frozen=True)
class Option:
    """An option of a law.

    Attributes
    ----------
    name : str
        As in scenes, and as keyword of `Impact.resolve`.
    type : str
        integer, real, interval (a number, or a pair of them), choice, text, contacts (a list of names, or a text with commas between them)
        or switch.
    least, most : float
        Closed range of numbers.
    unit : str
        Empty where it has none.
    default : str
        As shown to users; a word such as "auto" may be given, too.
    doc : str
        What it is.
    choices : tuple of str
        The values of a choice.
    """

    name: str
    type: str
    least: float
    most: float
    unit: str
    default: str
    doc: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A column of outcomes or of a result row.

    Attributes
    ----------
    name : str
        As in `outcomes[name]`.
    type : str
        real, square (a matrix by rows), integer, boolean, flags (bits), choice (number of a name), text, contacts (a list of contacts) or
        series (a list of rows of numbers).
    width : int or str
        Numbers in a row; or what has as many: velocities, contacts, tangents, contact space.
    unit : str
        Empty where it has none.
    doc : str
        What it is.
    names : tuple of str
        Of the bits of flags, of the numbers 0, 1, ... of a choice, of the fields of records.
    """

    name: str
    type: str
    width: int | str
    unit: str
    doc: str
    names: tuple[str, ...]


def find_caveats(impact: Any, scene: Any, asked: tuple[tuple[str, Any], ...]) -> tuple[str, ...]:
    """What to know beside the answers of laws with these settings, in sentences: see `Outcomes.caveats`."""
    rest = _carom.impact_describe_rest(impact._handle)
    return (*([rest] if rest else []), *_carom.law_caveats(impact._handle, scene, asked))


def make_option(row: tuple[Any, ...]) -> Option:
    """An option from its row in C."""
    name, kind, least, most, unit, default, doc, choices = row
    return Option(name, kind, least, most, unit, default, doc, tuple(choices))


def make_column(row: tuple[Any, ...]) -> Column:
    """A column from its row in C."""
    name, kind, width, unit, doc, names = row
    return Column(name, kind, _WIDTHS.get(width, width), unit, doc, names)


@dataclass(frozen=True)
class Law:
    """An impact law: a set-valued map from an impact to its outcomes.

    Attributes
    ----------
    name, summary, source : str
        Its name, one line about it, and the paper.
    options : tuple of Option
        Keywords of `Impact.resolve(name, ...)`.
    columns : tuple of Column
        Of its outcomes, beside those that every law has.
    results : tuple of Column
        Of its result row, beside verdict and selection.
    thorough : dict of str to str
        Options with which comparisons ask it.
    exhaustive : dict of str to str
        Options with which worst cases are looked for: its outcomes are then all that it can choose.
    elastic : bool
        Its impacts are elastic unless its own option `restitution` says otherwise: where nothing bounces, comparisons ask it only by its
        name.
    """

    name: str
    summary: str
    source: str
    options: tuple[Option, ...]
    columns: tuple[Column, ...]
    results: tuple[Column, ...]
    thorough: dict[str, str]
    exhaustive: dict[str, str]
    elastic: bool

    def applies(self, impact: Any) -> bool:
        """Whether comparisons ask it about this impact."""
        return _carom.law_applies(self.name, impact._handle)

    def __repr__(self) -> str:
        return f"<carom.Law {self.name}: {self.summary}>"


@functools.cache
def _table() -> dict[str, Law]:
    table = {}
    for name, summary, source, options, columns, results, thorough, exhaustive, elastic in _carom.laws():
        table[name] = Law(
            name,
            summary,
            source,
            tuple(map(make_option, options)),
            tuple(map(make_column, columns)),
            tuple(map(make_column, results)),
            dict(zip(thorough[::2], thorough[1::2])),
            dict(zip(exhaustive[::2], exhaustive[1::2])),
            elastic,
        )
    return table


def laws() -> list[str]:
    """Names of the laws of this build."""
    return list(_table())


def law(name: str) -> Law:
    """The law of this name: its options, columns and source.

    Raises
    ------
    InputError
        Where there is none.
    """
    if name not in _table():
        raise InputError(f"law: there is no '{name}'; the laws are {', '.join(_table())}")
    return _table()[name]


def option_text(name: str, value: Any, separator: str = ",") -> str:
    """The value of an option as text, as a scene would give it; C checks it by the option's row."""
    if isinstance(value, str):
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1:
        return separator.join(option_text(name, entry) for entry in value)
    if isinstance(value, bool) or kind == "b":
        return "true" if value else "false"
    if isinstance(value, int) or kind in ("i", "u"):
        return str(int(value))
    try:
        return repr(float(value))
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"{name}: {value!r} is not a number, a text or a list of them") from None


@functools.cache
def _intervals() -> frozenset[tuple[str, str]]:
    return frozenset((one.name, option.name) for one in _table().values() for option in one.options if option.type == "interval")


def make_settings(law: str, options: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Pairs of texts for C; an option that is None keeps its default."""
    settings = []
    for name, value in options.items():
        if value is None:
            continue
        wide = (law, name) in _intervals()
        if wide and not isinstance(value, str) and np.size(value) > 2:
            raise InputError(f"{name}: {value!r} is not a number or a pair of them")
        settings.append((name, option_text(name, value, ":" if wide else ",")))
    return tuple(settings)
