# SPDX-License-Identifier: Apache-2.0
"""Outcomes as tables of pandas and datasets of xarray."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .laws import Column
    from .outcomes import Outcomes

_MISSING = np.iinfo(np.int64).min


def _names(out: Outcomes, column: Column) -> list[str]:
    """Names of the numbers of a column: v.knee, Jn.A, Jt.A.2, ...; of other columns NAME.1, NAME.2, ..."""
    if column.name in ("v_plus", "normal_velocity", "tangent_velocity", "normal_impulse", "tangent_impulse"):
        own: dict[int, str] = {}
        for name, (of, place) in out.axes().items():
            # The last name of a number is the one that says most.
            if of == column.name and (of != "v_plus" or name.startswith("v.")):
                own[place] = name
        return [own[place] for place in sorted(own)]
    width = np.size(out[column.name][0]) if len(out) else 0
    return [f"{column.name}.{k + 1}" for k in range(width)]


def _plain(column: Column, values: Any) -> Any:
    """The values of a column with one of them in a row: names for choices, None for what is not determined."""
    if column.type == "choice":
        return np.array([column.names[number] for number in values], dtype=object)
    if column.type == "integer" and len(values) and values.min() == _MISSING:
        return np.array([None if number == _MISSING else int(number) for number in values], dtype=object)
    return values


def _listed(values: Any) -> Any:
    cells = np.empty(len(values), dtype=object)
    cells[:] = list(values)
    return cells


def to_pandas(out: Outcomes) -> Any:
    """See `Outcomes.to_pandas`."""
    import pandas

    columns: dict[str, Any] = {}
    for name, column in out.columns.items():
        values = out[name]
        if isinstance(values, np.ndarray) and values.ndim == 2:
            columns.update(zip(_names(out, column), values.T))
        else:
            columns[name] = _plain(column, values) if isinstance(values, np.ndarray) else _listed(values)
    frame = pandas.DataFrame(columns, index=pandas.RangeIndex(len(out), name="outcome"))
    frame.attrs.update(law=out.law, units={name: column.unit for name, column in out.columns.items()})
    return frame


def to_xarray(out: Outcomes) -> Any:
    """See `Outcomes.to_xarray`."""
    import xarray

    impact = out.impact
    tangents = [name.removeprefix("Jt.") for name, (of, _) in out.axes().items() if of == "tangent_velocity"]
    velocities = list(impact.velocity_names or (f"v.{i + 1}" for i in range(impact.nv)))
    places = {"velocities": ("velocity", velocities), "contacts": ("contact", list(impact.names)), "tangents": ("tangent", tangents)}
    variables: dict[str, Any] = {}
    for name, column in out.columns.items():
        values = out[name]
        attributes = {"units": column.unit, "long_name": column.doc}
        if not isinstance(values, np.ndarray):
            variables[name] = ("outcome", _listed(values), attributes)
        elif values.ndim == 2:
            second = places[column.width][0] if column.width in places else f"{name}_entry"
            variables[name] = (("outcome", second), values, attributes)
        else:
            variables[name] = ("outcome", _plain(column, values), attributes)
    return xarray.Dataset(variables, coords=dict(places.values()), attrs={"law": out.law, "verdict": out.info["verdict"]})
