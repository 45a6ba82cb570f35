# SPDX-License-Identifier: Apache-2.0
"""A page on which outcomes are explored: one HTML file with linked plots, which needs no network."""
from __future__ import annotations

import base64
import gzip
import html
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _carom
from . import _pictures as pictures
from ._errors import InputError
from .comparison import Comparison
from .files import read_all, write_text
from .impact import Impact
from .outcomes import MODES, Outcomes
from .polytopes import Polytopes

_START = b"<!doctype html>"


def explore(
    outcomes: Outcomes | Mapping[str, Outcomes] | Sequence[Outcomes], path: str | os.PathLike[str], *, title: str | None = None
) -> None:
    """Write a page on which outcomes are explored in a browser.

    One HTML file that loads nothing from anywhere: linked scatter plots of any contact velocities and impulses, in which outcomes are
    selected with the mouse, all laws with their colours and marks, the exact set where it is among the outcomes, a histogram of energies,
    filters by what contacts do, and the contacts in space with the impulses and velocities of the outcome under the pointer. Numbers on the
    page have single precision; what differs from zero by rounding only is zero.

    Parameters
    ----------
    outcomes : Outcomes, or a sequence or mapping of Outcomes, such as a comparison
        Of impacts with the same contacts.
    path : path-like
        The page. Only a page or an empty file is replaced. The file appears whole or not at all.
    title : str, optional
        What the page is called.

    Raises
    ------
    ImportError
        Without the Python package plotly, whose JavaScript becomes part of the page.
    InputError
        When there is nothing to show, for outcomes of different contacts, and when `path` is something else.
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> carom.explore(carom.compare(impact), "page.html")  # doctest: +SKIP
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("the explorer needs the Python package plotly, which is not installed: pip install plotly") from None
    shown = pictures.list_outcomes(outcomes, "show")
    if title is None:
        title = (isinstance(outcomes, Comparison) and outcomes.name) or "Outcomes of an impact"
    page = resources.files(__package__) / "page"
    parts = {
        "title": html.escape(title),
        "version": _carom.version,
        "style": (page / "explorer.css").read_text("utf-8"),
        "script": "\n".join((page / name).read_text("utf-8") for name in ("mechanism.js", "explorer.js")),
        "plotly": get_plotlyjs(),
        # No text of the data may end the element.
        "data": json.dumps(_describe(shown, title), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    template = (page / "explorer.html").read_text("utf-8")
    _write(path, re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template))


# -------------------------------------------------------------------------------------------------------------- the data


def _describe(outcomes: Sequence[Outcomes], title: str) -> dict[str, Any]:
    """All that the page shows, as JSON."""
    first = outcomes[0].impact
    names, units = _carom.impact_velocities(first._handle)
    return {
        "title": title,
        "version": _carom.version,
        "contacts": list(first.names),
        "tangents": first.tangent_dim,
        "axes": [{"name": name, "unit": pictures.unit(outcomes[0], name)} for name in _axis_names(outcomes[0])],
        "views": _views(outcomes),
        "modes": list(MODES),
        "velocities": {"names": list(names), "units": list(units), "before": first.velocity.tolist()} if first.has_system else None,
        # Row c is the velocity change by a unit impulse along contact direction c, so that velocities follow from impulses.
        "response": _array(first, "response").tolist() if first.has_system else None,
        "place": _place(outcomes),
        "laws": [_describe_law(out, look, first) for out, look in zip(outcomes, _looks(outcomes))],
    }


def _looks(outcomes: Sequence[Outcomes]) -> list[pictures.Look]:
    """Looks with sizes that all differ, so that marks on one point stay visible wherever they meet."""
    laws, nowhere = tuple(out.law for out in outcomes), np.zeros(len(outcomes))
    rings = _carom.plot_nest(laws, tuple(range(len(laws))), nowhere, nowhere)
    return [replace(look, size=look.size * (1 + 0.15 * ring)) for look, ring in zip(pictures.looks(outcomes), rings)]


def _axis_names(out: Outcomes) -> list[str]:
    """Contact velocities and impulses, contact by contact: normal, then tangents; the columns of the page's data in this order."""
    return [name for letter in "JP" for name in out.axes() if name.startswith((f"{letter}n.", f"{letter}t."))]


def _views(outcomes: Sequence[Outcomes]) -> list[tuple[str, str]]:
    """The axes with which the three plots begin."""
    x, y = pictures.choose_axes(outcomes, ())
    contact, other = x.split(".", 1)[1], y.split(".", 1)[1]
    first = outcomes[0].impact.names
    near = contact if contact in first else first[0]
    far = other if other in first and other != near else near
    return [(x, y), (f"Jt.{near}", f"Jn.{near}"), (f"Pn.{near}", f"Pn.{far}" if far != near else f"Pt.{near}")]


def _place(outcomes: Sequence[Outcomes]) -> dict[str, Any] | None:
    """Where the contacts are; null for a contact without a place, such as a joint at its stop."""
    place = next((found for found in (_carom.impact_place(out.impact._handle) for out in outcomes) if found), None)
    if place is None:
        return None
    points, normals, tangents = (np.asarray(array) for array in place[:3])
    bodies = [place[3][i : i + 2] for i in range(0, len(place[3]), 2)]
    return {"points": _rows(points), "normals": _rows(normals), "tangents": _rows(tangents), "bodies": bodies}


def _array(impact: Impact, name: str) -> NDArray[np.float64]:
    return np.asarray(_carom.impact_array(impact._handle, name))


def _rows(array: NDArray[np.float64]) -> list[list[float] | None]:
    return [row.tolist() if np.isfinite(row).all() else None for row in array]


def _describe_law(out: Outcomes, look: pictures.Look, first: Impact) -> dict[str, Any]:
    """One law: its look, and its outcomes as packed columns. Velocities follow from the impulses and what is known of the first impact."""
    rows, normal, tangent = len(out), out["normal_velocity"], out["tangent_velocity"]
    names = _axis_names(out)
    columns = np.empty((len(names) + 1, rows), np.float32)
    for column, name in zip(columns, names):
        column[:] = pictures.values(out, name)
    columns[-1] = pictures.values(out, "energy_ratio")
    modes = np.frombuffer(_carom.table_modes(out.impact._handle, normal, tangent, rows), np.uint8).reshape(rows, -1)
    exact = isinstance(out, Polytopes)
    same = all(np.array_equal(_array(out.impact, name), _array(first, name)) for name in ("velocity", "response"))
    follows = same and np.isfinite(out["normal_impulse"]).all()
    return {
        "name": out.law,
        "label": pictures.label(out),
        "colour": look.colour,
        "shape": look.shape,
        "size": look.size,
        "style": "pieces" if exact else "dots" if pictures.is_sampled(out) or rows > pictures.MANY else "marks",
        "sampled": pictures.is_sampled(out),
        # Of an impact of which some numbers were drawn.
        "uncertain": "draw" in out.columns,
        # How many samples may lie outside the set; null where a file of an older version does not say it.
        "outside": out.info["approximate"] if pictures.is_sampled(out) else None,
        "complete": out.complete,
        "rows": rows,
        "columns": _pack(columns),
        "modes": _pack(modes.T),
        "pieces": np.asarray(out["piece"]).tolist() if exact else None,
        "velocity": None if follows or not first.has_system else _pack(out.velocity.T.astype(np.float32)),
    }


def _pack(columns: NDArray[Any]) -> str:
    """Columns, one after the other, as base64 of gzip: the first bytes of all numbers, then the second ones, ..., which packs best."""
    columns = np.ascontiguousarray(columns)
    planes = columns.view(np.uint8).reshape(-1, columns.itemsize).T
    return base64.b64encode(gzip.compress(np.ascontiguousarray(planes).tobytes(), 6, mtime=0)).decode("ascii")


# -------------------------------------------------------------------------------------------------------------- the file


def _write(path: str | os.PathLike[str], text: str) -> None:
    """Write the page; of other files it replaces empty ones only."""
    if os.path.isfile(path):
        with open(path, "rb") as old:
            start = old.read(len(_START)).lower()
        if start and start != _START:
            raise InputError(f"{os.fspath(path)}: it exists and is not a page (HTML): it is not replaced")
    write_text(path, text)


def explore_files(paths: Sequence[str], page: str) -> None:
    """What the command does: a page of all laws of result files.

    Parameters
    ----------
    paths : sequence of str
        Result files of the same contacts.
    page : str
        The page.
    """
    answers = [read_all(path) for path in paths]
    explore([out for _, outcomes in answers for out in outcomes], page, title=answers[0][0])
