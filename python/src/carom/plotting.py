# SPDX-License-Identifier: Apache-2.0
"""Figures of outcomes with matplotlib."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _carom
from . import _pictures as pictures
from ._errors import InputError
from .outcomes import Outcomes
from .polytopes import Polytopes

# matplotlib's names of the shapes of marks.
MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "triangle-down": "v",
    "cross": "x",
    "plus": "+",
    "pentagon": "p",
    "star": (8, 2, 0),
    "disc": "o",
}  # fmt: skip

# Points in a millimetre.
_MM = 72 / 25.4
# Of far marks [mm]: how far inside the edge they stand, and the lengths of their arrows.
_INSET, _ARROW = 2.4, 4.4
# Shaded sets: cells are no smaller [mm], and there are no more of them.
_LEAST_CELL, _MOST_CELLS = 0.4, 20000
# More states of paths than this are drawn thin and pale.
_MANY_ARROWS = 40
# Dots beyond this number are drawn as pixels also in a PDF or SVG.
_RASTERIZED = 5000


@dataclass
class _Plane:
    """What a figure shows of the plane, and how long a unit of each axis is [mm]."""

    ax: Any
    window: tuple[float, float, float, float]
    scale: tuple[float, float]


def plot(
    outcomes: Outcomes | Mapping[str, Outcomes] | Sequence[Outcomes],
    *axes: str,
    ax: Any = None,
    hull: bool = True,
    paths: bool = True,
    zoom: str = "set",
    focus: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw outcomes in the plane of two quantities.

    Samples are dots, labelled *inner approximation*, or with how many of them may lie outside the set, within their convex hull, labelled
    *convex hull, not the set*; exact sets are filled polygons, the projections of their pieces; single outcomes are open marks. Velocity
    paths of sequential laws are arrows, those of samples (`sample(..., paths=20)`) thin grey lines. Each law has its own colour and mark;
    marks on one point enclose each other. Sets of more than 20,000 points are shaded by their density. Axes, colours and marks are those of
    the command `carom plot`.

    Parameters
    ----------
    outcomes : Outcomes, or a sequence or mapping of Outcomes
        Of impacts with the same contacts.
    *axes : str
        Two of Jn.A, Jt.A, Jt.A.2 (contact velocities), Pn.A, Pt.A (impulses), v.1 (generalised velocities), energy_ratio. Left out: the two
        contact velocities with the largest extent.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Left out: a new figure.
    hull : bool
        Draw the convex hull of samples.
    paths : bool
        Draw velocity paths, where both axes are contact velocities.
    zoom : str
        "set": the axes fit the sets and what is near them; arrows at the edge point to laws and starts beyond it. "all": everything.
    focus : str, optional
        A law: the axes fit its outcomes, and all others are pale.
    title : str, optional
        Of the figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        For a name that is no axis, for outcomes of different contacts, and when there is nothing to draw.
    """
    drawn = pictures.list_outcomes(outcomes, "draw")
    x, y = pictures.choose_axes(drawn, axes)
    points = [_finite(out, x, y) for out in drawn]
    traces = [pictures.paths(out, x, y) if paths else [] for out in drawn]
    looks = pictures.looks(drawn)[:-1]

    own = ax is None
    if own:
        from matplotlib import pyplot

        # Below it a row of the key for each law, for hulls and for the start.
        ax = pyplot.subplots(figsize=(7, 4.4 + 0.2 * (len(drawn) + 2)), layout="constrained")[1]
    ax.grid(color="#e6e6e6", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)

    if zoom not in ("set", "all"):
        raise InputError(f"zoom: {zoom!r} is not 'set' or 'all'")
    if focus is not None and focus not in [out.law for out in drawn]:
        raise InputError(f"focus: no outcomes of {focus!r} are given")
    # Where paths begin: of the first that has any.
    start, begins = None, "before the impact"
    for out, trace in zip(drawn, traces):
        if trace and start is None:
            start = trace[0][:, 0]
            begins += ", in the first draw" if "draw" in out.columns else ""
    pale = [focus is not None and out.law != focus for out in drawn]
    is_set = [isinstance(out, Polytopes) or pictures.is_sampled(out) or len(out) > pictures.MANY for out in drawn]
    plane = _fit(ax, zoom, points, traces, start, pale, is_set)

    # Exact sets at the bottom, samples and their hulls over them, single outcomes on top.
    hull_label: str | None = "convex hull, not the set"
    followed = [len(trace) > 0 and "draw" not in out.columns for out, trace in zip(drawn, traces)]
    labels = [pictures.label(out, followed=has_paths) for out, has_paths in zip(drawn, followed)]
    for out, look, (px, py), label, faded in zip(drawn, looks, points, labels, pale):
        if isinstance(out, Polytopes):
            _draw_pieces(ax, out, look, x, y, faded)
        elif pictures.is_sampled(out) or len(out) > pictures.MANY:
            _draw_dots(plane, px, py, look, label, faded, above=not pictures.is_sampled(out))
        if hull and pictures.is_sampled(out) and len(px):
            corners = pictures.hull(px, py)
            closed = [*corners, corners[0]]
            ax.plot(px[closed], py[closed], color="#505050", linewidth=1, linestyle=(0, (5, 3)), label=hull_label, zorder=2.5)
            hull_label = None
    marked = [not of_set for of_set in is_set]
    _draw_marks(plane, drawn, looks, points, labels, marked, pale, None if start is None else (*start, begins))

    # Paths, which may be much longer than the figure.
    for out, look, trace, faded in zip(drawn, looks, traces, pale):
        if trace and pictures.is_sampled(out):
            _draw_lines(ax, trace)
        elif trace and "draw" not in out.columns:  # those of many draws would hide everything
            _draw_arrows(ax, trace, look, faded)
    ax.set(xlim=plane.window[:2], ylim=plane.window[2:])

    # Zero, where it is in the picture.
    for draw_zero, (least, most) in ((ax.axvline, ax.get_xlim()), (ax.axhline, ax.get_ylim())):
        if least <= 0 <= most:
            draw_zero(0, color="#a0a0a0", linewidth=0.6, zorder=0.5)
    ax.set_xlabel(pictures.axis_label(drawn[0], x))
    ax.set_ylabel(pictures.axis_label(drawn[0], y))
    if title:
        ax.set_title(title)
    # "best" compares the key with every dot, which takes seconds.
    place = {"loc": "upper left", "bbox_to_anchor": (-0.12, -0.13), "frameon": False} if own else {"loc": "upper right"}
    ax.legend(fontsize="small", **place)
    return ax


def _finite(out: Outcomes, x: str, y: str) -> tuple[Any, Any]:
    """The points of outcomes; what is not determined cannot be drawn."""
    px, py = pictures.values(out, x), pictures.values(out, y)
    shown = np.isfinite(px) & np.isfinite(py)
    return px[shown], py[shown]


def _fit(ax: Any, zoom: str, points: Any, traces: Any, start: Any, pale: Sequence[bool], is_set: Sequence[bool]) -> _Plane:
    """The window of a figure, as the command fits it."""
    everything = [*points, *(path for trace in traces for path in trace)]
    # What is pale counts only where the rest is one point.
    for heeded in ([not faded for faded in pale], [True] * len(pale)):
        sets = [pair for pair, counts, of_set in zip(points, heeded, is_set) if of_set and counts]
        marks = [pair for pair, counts, of_set in zip(points, heeded, is_set) if not of_set and counts]
        if any(high > low for low, high in (_range([pair[k] for pair in sets + marks]) for k in (0, 1))):
            break
    if zoom == "all" or not any(len(x) for x, _ in sets + marks):
        sets, marks = everything + ([] if start is None else [np.reshape(start, (2, 1))]), []
    ranges = [value for k in (0, 1) for value in _range([pair[k] for pair in sets])]
    mx, my = (np.concatenate([np.ravel(pair[k]) for pair in marks] or [np.zeros(0)]) for k in (0, 1))
    margin = pictures.MARGIN if zoom == "all" else pictures.ZOOM_MARGIN
    window = _carom.plot_fit(np.array(ranges), mx, my, len(mx), margin)
    box = ax.get_window_extent()
    dots = ax.figure.dpi / 25.4
    scale = box.width / dots / (window[1] - window[0]), box.height / dots / (window[3] - window[2])
    return _Plane(ax, window, scale)


def _range(parts: Sequence[Any]) -> tuple[float, float]:
    numbers = np.concatenate([np.ravel(part) for part in parts] or [np.zeros(0)])
    return (float(np.nanmin(numbers)), float(np.nanmax(numbers))) if len(numbers) else (np.inf, -np.inf)


def _draw_dots(plane: _Plane, x: Any, y: Any, look: pictures.Look, label: str, faded: bool, *, above: bool) -> None:
    """Dots shrink and fade as they become many; very many are shaded by their density. The key has one of full size. Samples lie below
    paths, other outcomes `above` them."""
    ax, strength, layer = plane.ax, 0.25 if faded else 1, 3.5 if above else 2
    if len(x) > pictures.SHADED:
        width, height = plane.scale[0] * (plane.window[1] - plane.window[0]), plane.scale[1] * (plane.window[3] - plane.window[2])
        cell = max(_LEAST_CELL, float(np.sqrt(width * height / _MOST_CELLS)))
        grid = int(np.ceil(width / cell)), int(np.ceil(height / cell))
        colour = int(look.colour[1:], 16)
        cells = _carom.plot_shade(np.ascontiguousarray(x), np.ascontiguousarray(y), len(x), np.array(plane.window), *grid, colour)
        kept = [index for index, _ in cells]
        ax.scatter(x[kept], y[kept], s=(1.8 * cell * _MM) ** 2, c=[shade for _, shade in cells], alpha=strength, linewidths=0, zorder=layer)
        label += "; darker: more in a dot"
    else:
        size, alpha = (3, 0.5) if len(x) > 2000 else (6, 0.7) if len(x) > 200 else (12, 0.9)
        ax.scatter(x, y, s=size, alpha=alpha * strength, color=look.colour, linewidths=0, rasterized=len(x) > _RASTERIZED, zorder=layer)
    ax.plot([], [], ".", markersize=8, color=look.colour, alpha=strength, label=label)


def _draw_marks(
    plane: _Plane,
    drawn: Sequence[Outcomes],
    looks: Sequence[pictures.Look],
    points: Any,
    labels: Sequence[str],
    marked: Sequence[bool],
    pale: Sequence[bool],
    start: tuple[float, float, str] | None,
) -> None:
    """Single outcomes and where paths begin. Marks on one point enclose each other; far ones stand at the edge, with arrows."""
    from matplotlib.patheffects import withStroke

    ax = plane.ax
    owners = [k for k, (px, _) in enumerate(points) if marked[k] for _ in px]
    places = [place for k, pair in enumerate(points) if marked[k] for place in zip(*pair)]
    if start:
        owners.append(-1)
        places.append(start[:2])
    placed = [_place(plane, *place) for place in places]
    x_mm, y_mm = (np.array([at[k] * plane.scale[k] for at, _ in placed], dtype=float) for k in (0, 1))
    rings = _carom.plot_nest(tuple(out.law for out in drawn), tuple(owners), x_mm, y_mm)

    for k, (out, look) in enumerate(zip(drawn, looks)):
        mine = [i for i, owner in enumerate(owners) if owner == k]
        if not mine:
            continue
        style = {
            "linestyle": "none",
            "marker": MARKERS[look.shape],
            "markerfacecolor": look.colour if look.shape == "disc" else "none",
            "markeredgecolor": look.colour,
            "markeredgewidth": 1.3,
            "alpha": 0.25 if pale[k] else 1,
            # A white rim keeps marks apart from what they lie on.
            "path_effects": [withStroke(linewidth=2.3, foreground="white")],
        }
        size = pictures.MARK * _MM * look.size
        ax.plot([], [], markersize=size, label=labels[k] + _far_label(places, placed, mine), **style)
        for ring in sorted({rings[i] for i in mine}, reverse=True):
            at = np.array([placed[i][0] for i in mine if rings[i] == ring])
            ax.plot(*at.T, markersize=size * (1 + pictures.RING * ring), zorder=4 - 0.01 * ring, **style)
        _draw_far(plane, [placed[i] for i in mine], look.colour)
    if start:
        style = {"linestyle": "none", "marker": "o", "color": "#101010", "markersize": 0.8 * pictures.MARK * _MM}
        ax.plot(*np.reshape(placed[-1][0], (2, 1)), zorder=4.1, label=start[2] + _far_label(places, placed, [len(placed) - 1]), **style)
        _draw_far(plane, placed[-1:], "#101010")


def _place(plane: _Plane, x: float, y: float) -> tuple[tuple[float, float], tuple[float, float] | None]:
    """Where a mark is drawn, and of a far one the end of its arrow."""
    left, right, low, high = plane.window
    across, up = (x - min(max(x, left), right)) * plane.scale[0], (y - min(max(y, low), high)) * plane.scale[1]
    length = float(np.hypot(across, up))
    if not length:
        return (x, y), None
    inset_x, inset_y = (_INSET / scale for scale in plane.scale)
    x, y = min(max(x, left + inset_x), right - inset_x), min(max(y, low + inset_y), high - inset_y)
    return (x, y), (x + _ARROW / plane.scale[0] * across / length, y + _ARROW / plane.scale[1] * up / length)


def _draw_far(plane: _Plane, placed: Any, colour: str) -> None:
    """Arrows of the marks beyond the edge."""
    for at, end in placed:
        if end:
            style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
            plane.ax.annotate("", xy=end, xytext=at, arrowprops=style, annotation_clip=False, zorder=4.2)


def _far_label(places: Any, placed: Any, mine: Sequence[int]) -> str:
    """What the key says of marks beyond the edge: where one is, or how many there are."""
    far = [places[i] for i in mine if placed[i][1]]
    if len(far) == 1:
        largest = max(abs(value) for value in far[0])
        x, y = (0.0 if abs(value) < 1e-9 * largest else value for value in far[0])
        return f" \u2192\u00a0({x:.3g},\u00a0{y:.3g})"
    return f" ({len(far)} beyond the edge)" if far else ""


def _draw_lines(ax: Any, paths: Sequence[NDArray[np.float64]]) -> None:
    """Paths of samples, as one line with gaps."""
    gap = np.full((2, 1), np.nan)
    x, y = np.hstack([part for path in paths for part in (path, gap)])
    ax.plot(x, y, color="#404040", alpha=0.75, linewidth=0.7, label=f"{len(paths)} of the samples, step by step", zorder=2.3)


def _draw_arrows(ax: Any, paths: Sequence[NDArray[np.float64]], look: pictures.Look, faded: bool) -> None:
    """Arrows from the velocity before the impact through that after each single impact, with a dot where each begins and ends. Many are
    thin and pale."""
    starts = np.hstack([path[:, :-1] for path in paths])
    steps = np.hstack([np.diff(path) for path in paths])
    states = np.hstack(paths)
    many = states.shape[1] > _MANY_ARROWS
    # As opaque colours: many arrows that lie on each other stay pale.
    share = (0.25 if faded else 1) * (0.6 if many else 1)
    colour = tuple(1 - share * (1 - int(look.colour[k : k + 2], 16) / 255) for k in (1, 3, 5))
    ax.plot(*states, linestyle="none", marker="o", markersize=1.5 if many else 2.5, color=colour, zorder=3)
    moves = np.any(steps != 0, axis=0)
    pen = {"width": 0.007 if many else 0.015, "color": colour, "zorder": 3}
    shape = {"units": "inches", "headwidth": 10 if many else 6, "headlength": 8, "headaxislength": 8, "minlength": 0}
    ax.quiver(*starts[:, moves], *steps[:, moves], angles="xy", scale_units="xy", scale=1, **pen, **shape)


def _draw_pieces(ax: Any, out: Polytopes, look: pictures.Look, x: str, y: str, faded: bool) -> None:
    """Filled projections with outlines and a dot on each vertex, so that segments and points show, too."""
    label: str | None = pictures.label(out)
    strength = 0.25 if faded else 1
    piece, px, py = np.asarray(out["piece"]), pictures.values(out, x), pictures.values(out, y)
    for index in np.unique(piece):
        vertices = np.flatnonzero((piece == index) & np.isfinite(px) & np.isfinite(py))
        if not len(vertices):
            continue
        corners = vertices[pictures.hull(px[vertices], py[vertices])]
        ax.fill(px[corners], py[corners], color=look.colour, alpha=0.3 * strength, linewidth=0, zorder=1)
        # Wide enough to be seen on both sides of samples that lie on a segment.
        outline = {"marker": "o", "markersize": 6, "color": look.colour, "alpha": strength, "linewidth": 5, "zorder": 1.5}
        ax.plot(px[[*corners, corners[0]]], py[[*corners, corners[0]]], label=label, **outline)
        label = None
