# SPDX-License-Identifier: Apache-2.0
"""Outcomes of an impact: the table that a law fills, and what is asked of it."""
from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._errors import InputError
from .laws import _WIDTHS, Column, find_caveats, make_column
from .laws import law as _law
from .questions import Containment, Distance, Maximum, ask_containment, ask_distance, ask_hull, ask_max

if TYPE_CHECKING:
    from .impact import Impact

# What contacts do after the impact, in the order of carom_contact_mode.
MODES = ("stick", "slide", "lift", "approach")


class Table:
    """Columns of a table in C. Those of numbers share C's memory and are read-only; texts and lists are copies."""

    __slots__ = ("_handle", "_names", "_columns", "_values")

    def __init__(self, handle: Any, names: tuple[str, ...]) -> None:
        self._handle = handle
        self._names = names  # of the contacts
        self._columns: dict[str, Column] | None = None
        self._values: dict[str, Any] = {}

    @property
    def columns(self) -> dict[str, Column]:
        """The columns by name."""
        if self._columns is None:
            self._columns = {row[0]: make_column(row) for row in _carom.table_columns(self._handle)}
        return self._columns

    def column(self, name: str) -> Any:
        """The values of a column, one for each row."""
        if name not in self._values:
            self._values[name] = self._read(self.columns[name])
        return self._values[name]

    def _read(self, column: Column) -> Any:
        values = _carom.table_column(self._handle, column.name)
        if column.type == "boolean":
            truth = np.asarray(values).astype(bool)
            truth.flags.writeable = False
            return truth
        if column.type == "text":
            return values
        if column.type == "contacts":
            return [None if cell is None else tuple(self._names[index] for index in cell) for cell in values]
        if column.type == "series":
            return [self._read_series(column, cell) for cell in values]
        return np.asarray(values)

    def _read_series(self, column: Column, cell: bytes) -> Any:
        numbers = np.frombuffer(cell)
        _, nv, contacts, tangents = _carom.table_about(self._handle)
        named = {"velocities": nv, "contacts": contacts, "tangents": tangents, "contact space": contacts + tangents}
        width = named[column.width] if isinstance(column.width, str) else column.width
        rows = numbers.reshape(-1, width) if width != 1 and len(numbers) else numbers
        if not column.names:
            return rows
        # Records: names of fields, each followed by =TEXT for every text that its numbers stand for.
        fields: dict[str, list[str]] = {}

        def named_text(x: float, texts: list[str]) -> str | None:
            return texts[int(x)] if 0 <= x < len(texts) else None

        for name in column.names:
            if name.startswith("="):
                fields[next(reversed(fields))].append(name[1:])
            else:
                fields[name] = []
        return [{name: named_text(x, texts) if texts else float(x) for x, (name, texts) in zip(row, fields.items())} for row in rows]

    def pack(self) -> tuple[Any, ...]:
        """What `unpack` makes an equal table of."""
        columns = tuple(_carom.table_columns(self._handle))
        return columns, tuple(_carom.table_about(self._handle)[1:]), _carom.table_pack(self._handle)


class Outcomes:
    """The outcomes that a law allows: one row for each.

    Columns are read by name, as `out["normal_velocity"]` or `out.normal_velocity`; those of numbers are arrays in C's memory, without a
    copy, and read-only. They stay valid when the outcomes and the impact are gone. `out["Jn.A"]` is one contact velocity by name.

    Attributes
    ----------
    impact : Impact
        Whose outcomes these are.
    law : str
        The law that was asked.
    keep : {"all", "extent", "hull"}
        What of the outcomes is here; see `Impact.resolve`.
    """

    __slots__ = ("impact", "law", "keep", "seconds", "_table", "_result", "_scene", "_settings", "_extent", "__weakref__")

    impact: Impact
    law: str
    keep: str
    seconds: float
    _table: Table
    _result: Table
    _scene: Any
    _settings: tuple[tuple[str, str], ...]
    _extent: tuple[int, bytes, bytes, bytes, bytes, int] | None

    def __init__(self) -> None:
        raise TypeError("outcomes come from Impact.resolve, Impact.sample, Impact.exact and carom.read")

    @classmethod
    def _make(
        cls,
        impact: Impact,
        law: str,
        outcomes: Any,
        result: Any,
        scene: Any,
        settings: Any,
        extent: Any,
        seconds: float,
        keep: str = "all",
    ) -> Self:
        made = cls.__new__(cls)
        made.impact = impact
        made.law = law
        made.keep = keep
        made.seconds = seconds
        made._table = Table(outcomes, impact.names)
        made._result = Table(result, impact.names)
        made._scene = scene
        made._settings = settings
        made._extent = extent
        return made

    # ------------------------------------------------------------------------------------------------------------ columns

    @property
    def columns(self) -> dict[str, Column]:
        """The columns by name, with units and docs."""
        return self._table.columns

    @property
    def velocity(self) -> NDArray[np.float64]:
        """Post-impact velocities v+, (N, nv) [m/s, rad/s], in C's memory; in contact space the contact velocities."""
        velocity: NDArray[np.float64] = self._table.column("v_plus")
        return velocity

    @property
    def contact_velocity(self) -> NDArray[np.float64]:
        """Contact velocities, (N, n) [m/s], per contact the normal, then the tangents."""
        m, dim = self.impact.contacts, self.impact.tangent_dim
        normal = self["normal_velocity"].reshape(-1, m, 1)
        tangent = self["tangent_velocity"].reshape(-1, m, dim)
        return np.concatenate([normal, tangent], axis=2).reshape(-1, m * (1 + dim))

    def axes(self) -> dict[str, tuple[str, int]]:
        """Names of single numbers of an outcome, with their column and place in it: Jn.A, Jt.A, Jt.A.2, Pn.A, Pt.A, v.1, v.knee, ..."""
        named = {}
        for letter, normal, tangent in (("J", "normal_velocity", "tangent_velocity"), ("P", "normal_impulse", "tangent_impulse")):
            for i, name in enumerate(self.impact.names):
                named[f"{letter}n.{name}"] = (normal, i)
                for k in range(self.impact.tangent_dim):
                    named[f"{letter}t.{name}" + (f".{k + 1}" if k else "")] = (tangent, i * self.impact.tangent_dim + k)
        for i in range(self.impact.nv):
            named[f"v.{i + 1}"] = ("v_plus", i)
        # Velocities by their names, which stand alone where they do not look like another quantity.
        for i, name in enumerate(self.impact.velocity_names or ()):
            named.setdefault(f"v.{name}", ("v_plus", i))
            if name != "K" and not name.startswith(("Jn.", "Jt.", "Pn.", "Pt.", "v.")):
                named.setdefault(name, ("v_plus", i))
        return named

    def __getitem__(self, name: str) -> Any:
        if name in self.columns:
            return self._table.column(name)
        place = self.axes().get(name)
        if place is None:
            single = f"Jn.{self.impact.names[0]}"
            raise KeyError(f"{name!r} is neither a column ({', '.join(self.columns)}) nor a single number such as {single}")
        return self._table.column(place[0])[:, place[1]]

    def __contains__(self, name: object) -> bool:
        return name in self.columns or name in self.axes()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name != "columns" and name in self.columns:
            return self._table.column(name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute or column {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.columns})

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.columns, *self.axes()]

    def __len__(self) -> int:
        return _carom.table_about(self._table._handle)[0]

    # ------------------------------------------------------------------------------------------------------------- results

    @property
    def info(self) -> dict[str, Any]:
        """The result row: verdict, selection, and what the law reports once, such as digest and counts."""
        row = {}
        for name, column in self._result.columns.items():
            value = self._result.column(name)[0]
            if column.type == "integer" and column.width == 1:
                value = None if value == np.iinfo(np.int64).min else int(value)
            elif column.type == "real" and column.width == 1:
                value = float(value)
            elif column.type == "boolean":
                value = bool(value)
            elif column.type == "choice":
                value = column.names[int(value)]
            elif column.type == "series" and isinstance(value, np.ndarray):
                value = value.tolist()
            row[name] = value
        return row

    @property
    def options(self) -> dict[str, str]:
        """Every option of the law, as text, with the value that was used."""
        return dict(_carom.law_options(self.law, self._scene, self._settings))

    @property
    def complete(self) -> bool:
        """Whether what was asked for was computed."""
        return bool(self.info["verdict"] == "complete")

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to know before numbers of these outcomes are believed, in sentences, as the command prints them: nothing collides, something
        is given that the law does not use, or outcomes may lie outside the set."""
        return (*self._unused(), *self._sampled_caveats)

    def _unused(self) -> tuple[str, ...]:
        return find_caveats(self.impact, self._scene, ((self.law, self._settings),))

    @property
    def _sampled_caveats(self) -> tuple[str, ...]:
        extent = self._get_extent()
        sentence = _carom.outcomes_caveat(self.impact._handle, extent[5], extent[0])
        return (sentence,) if sentence else ()

    @property
    def extent(self) -> dict[str, Any]:
        """Least and largest values of all outcomes, also of those that were not kept.

        Returns
        -------
        dict
            `outcomes`, their number, None where a file of an older version does not say it; `normal`, (contacts, 2), and `tangent`,
            (tangents, 2) [m/s]; `energy_ratio`, (2,). NaN without outcomes. `approximate`, how many of them may lie outside the set of
            the inclusion, as `caveats` says; None where a file of an older version does not say it.
        """
        count, normal, tangent, ratio, _, approximate = self._get_extent()
        return {
            "outcomes": count if count >= 0 else None,
            "approximate": approximate if approximate >= 0 else None,
            "normal": np.frombuffer(normal).reshape(-1, 2),
            "tangent": np.frombuffer(tangent).reshape(-1, 2),
            "energy_ratio": np.frombuffer(ratio),
        }

    def modes(self) -> dict[str, dict[str, int]]:
        """In how many of all outcomes each contact sticks, slides, lifts, or approaches still: by contact, then by mode.

        A contact lifts, or approaches, with more than 1e-8 of the largest contact velocity before the impact; otherwise it is closed, and
        sticks where its tangential speed is within that, too.

        Raises
        ------
        InputError
            For outcomes of a file of an older version that has only part of them.
        """
        if self._get_extent()[0] < 0:
            raise InputError(f'modes: the file has keep="{self.keep}", and does not say them')
        counts = np.frombuffer(self._get_extent()[4], dtype=np.int64).reshape(-1, len(MODES))
        return {name: dict(zip(MODES, map(int, row))) for name, row in zip(self.impact.names, counts)}

    def _get_extent(self) -> tuple[int, bytes, bytes, bytes, bytes, int]:
        if self._extent is None:
            self._extent = _carom.table_extent(self.impact._handle, self._table._handle)
        return self._extent

    # ---------------------------------------------------------------------------------------------------------- questions

    def max(self, expression: str) -> Maximum:
        """The worst case: the largest value of a sum of multiples of quantities.

        Parameters
        ----------
        expression : str
            Such as "(Jn.A - Jn.B)/2 + 0.1*base.z": contact velocities `Jn.A`, `Jt.A`, `Jt.A.2`, velocities by their names or as `v.3`,
            impulses `Pn.A`, `Pt.A.2`, the energy ratio `K`. With a minus in front: the least value.

        Returns
        -------
        Maximum
            A float with `unit`, `index`, `certified`, `approximate`, `inner`, `source`, `velocity`, `contact_velocity`.

        Raises
        ------
        InputError
            For what cannot be read or is not determined, and without outcomes.

        Warns
        -----
        Caveat
            When the outcome may lie outside the set: its value is then no lower bound, and `inner` is one.
        """
        return ask_max(self, expression)

    def contains(self, v: ArrayLike, tolerance: float = 1e-9, *, metric: str = "euclidean") -> Containment:
        """Is a velocity in the set, or each of several, and how far is it from it?

        Parameters
        ----------
        v : array_like, (nv,) or (k, nv)
            Velocities [m/s, rad/s].
        tolerance : float
            Share of the speed before the impact that a contained velocity may be away.
        metric : {"euclidean", "kinetic"}
            Of the distance: length of contact velocities [m/s], or sqrt(d'M d) of velocities [sqrt(J)].

        Returns
        -------
        Containment
            True or false, with `distance`, `nearest` and more. A sampled set is a set of points: ask for the distance there.

        Raises
        ------
        InputError
            For another shape, numbers that are not finite, an unknown metric, and without outcomes.
        """
        return ask_containment(self, v, tolerance, metric)

    def distance(self, other: Outcomes | str | os.PathLike[str], *, metric: str = "euclidean", gap: float = 0.01) -> Distance:
        """The Hausdorff distance to another set, and both one-sided ones.

        Parameters
        ----------
        other : Outcomes or path-like
            Of an impact with the same contacts; another impact gives a warning.
        metric : {"euclidean", "kinetic"}
            As of `contains`, of this set's impact.
        gap : float
            Relative gap at which the search for the worst point may stop in three or more dimensions.

        Returns
        -------
        Distance
            A float with `a_to_b`, `b_to_a`, `gap`, `unit`, and the worst points.

        Raises
        ------
        InputError
            For sets of different contacts, an unknown metric, and without outcomes.

        Warns
        -----
        UserWarning
            When the sets are of different impacts.
        """
        return ask_distance(self, other, metric, gap)

    def hull(self, axes: str | Sequence[str]) -> float:
        """Area of the convex hull of the outcomes in the plane of two quantities, or volume for more (Qhull).

        Parameters
        ----------
        axes : sequence of str
            Expressions as of `max`, at least two.

        Returns
        -------
        float
            In the product of their units; 0 where the outcomes lie in a line or plane.

        Raises
        ------
        InputError
            For what cannot be read or is not determined, and without outcomes.
        """
        return ask_hull(self, axes)

    # ------------------------------------------------------------------------------------------- files and other packages

    def save(self, path: str | os.PathLike[str], *, name: str = "impact") -> None:
        """Write a result file (HDF5), as the command does; `carom.read` reads it.

        Parameters
        ----------
        path : path-like
            Only an HDF5 or empty file is replaced. The file appears whole or not at all.
        name : str
            Of the impact, where it is of no scene.

        Raises
        ------
        InputError
            When `path` is something else that would be replaced.
        OSError
            When the file cannot be written; then nothing is left of it.
        """
        from .files import write

        write(self, path, name)

    def plot(self, *axes: str, ax: Any = None, **options: Any) -> Any:
        """Draws the outcomes with matplotlib; see `carom.plotting.plot`."""
        from .plotting import plot

        return plot(self, *axes, ax=ax, **options)

    def to_pandas(self) -> Any:
        """The outcomes as a `pandas.DataFrame`: a row for each outcome, a column for each number (Jn.A, Pt.B, v.knee) and for what else
        there is. `attrs` has the law, and the units of `columns`. Raises ImportError without pandas."""
        from .tables import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> Any:
        """The outcomes as an `xarray.Dataset` over outcome, velocity, contact and tangent, with names, units and docs. Raises ImportError
        without xarray."""
        from .tables import to_xarray

        return to_xarray(self)

    # ------------------------------------------------------------------------------------------------------------- copying

    def __reduce__(self) -> tuple[Any, ...]:
        # Options as they were used, because a scene stays behind. A text that was not given is empty.
        settings = tuple((name, text) for name, text in self.options.items() if text)
        tables = self._table.pack(), self._result.pack()
        return _restore, (type(self), self.impact, self.law, *tables, settings, self._extent, self.seconds, self.keep)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<carom.{type(self).__name__}: {self._summary()}{self._say_caveats()}>"

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.caveats)
        return f"<code>carom.{type(self).__name__}</code>: {html.escape(self._summary())}" + f"<ul>{said}</ul>" * bool(said)

    def _summary(self) -> str:
        count = len(self)
        return f"{count} outcome{'s' * (count != 1)} of {self.law}, {self.info['verdict']}"

    def _say_caveats(self) -> str:
        return "".join(f"; {sentence}" for sentence in self.caveats)


def _restore(
    kind: type[Outcomes],
    impact: Impact,
    law: str,
    outcomes: tuple[Any, ...],
    result: tuple[Any, ...],
    settings: Any,
    extent: Any,
    seconds: float,
    keep: str,
) -> Outcomes:
    # Nothing in a pickle is trusted: C reads columns by their names, and a column of another kind would be misread.
    try:
        for (columns, *_), rows in ((outcomes, _law(law).columns), (result, _law(law).results)):
            known = {row.name: (row.type, row.width) for row in rows}
            for name, type_, width, *_ in columns:
                if known.get(name, (type_, _WIDTHS.get(width, width))) != (type_, _WIDTHS.get(width, width)):
                    raise ValueError(f"{name}: a column of another kind")
        tables = _carom.table_unpack(*outcomes), _carom.table_unpack(*result)
        if _carom.table_about(tables[1])[0] != 1:
            raise ValueError("a result is one row")
        if _carom.table_about(tables[0])[1:] != (impact.nv, impact.contacts, impact.contacts * impact.tangent_dim):
            raise ValueError("outcomes of another impact")
    except (AttributeError, IndexError, OverflowError, SystemError, TypeError, ValueError) as error:
        raise InputError(f"pickle: it is damaged: {error}") from None
    return kind._make(impact, law, *tables, None, settings, extent, seconds, keep)
