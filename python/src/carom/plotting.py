# SPDX-License-Identifier: Apache-2.0
"""Figures of outcomes with matplotlib."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _pictures as pictures
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
    "star": (6, 2, 0),
}  # fmt: skip

# Points of a mark of size 1.
_MARK = 3.6
# Dots beyond this number are drawn as pixels also in a PDF or SVG.
_RASTERIZED = 5000


def plot(
    outcomes: Outcomes | Mapping[str, Outcomes] | Sequence[Outcomes],
    *axes: str,
    ax: Any = None,
    hull: bool = True,
    paths: bool = True,
    focus: bool = False,
    title: str | None = None,
) -> Any:
    """Draw outcomes in the plane of two quantities.

    Samples are dots, labelled *inner approximation*, or with how many of them may lie outside the set, within their convex hull, labelled
    *convex hull, not the set*; exact sets are filled polygons, the projections of their pieces; single outcomes are open marks. Velocity
    paths of sequential laws are arrows, those of samples (`sample(..., paths=20)`) thin grey lines. Each law has its own colour and mark.

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
    focus : bool
        Fit the axes to the outcomes and hulls: paths then run out of the figure.
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
    *looks, free = pictures.looks(drawn)

    own = ax is None
    if own:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(7, 5.5), layout="constrained")[1]
    ax.grid(color="#e6e6e6", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)

    # Exact sets at the bottom, samples and their hulls over them, single outcomes on top.
    hull_label: str | None = "convex hull, not the set"
    for out, look, (px, py), trace in zip(drawn, looks, points, traces):
        if isinstance(out, Polytopes):
            _draw_pieces(ax, out, look, x, y)
        elif pictures.is_sampled(out) or len(out) > pictures.MANY:
            _draw_dots(ax, px, py, look, pictures.label(out))
        else:
            _draw_marks(ax, px, py, look, pictures.label(out, followed=len(trace) > 0 and "draw" not in out.columns))
        if hull and pictures.is_sampled(out) and len(px):
            corners = pictures.hull(px, py)
            closed = [*corners, corners[0]]
            ax.plot(px[closed], py[closed], color="#505050", linewidth=1, linestyle=(0, (5, 3)), label=hull_label, zorder=2.5)
            hull_label = None

    # Paths over them, which may be much longer, and where they begin.
    limits = ax.get_xlim(), ax.get_ylim()
    for out, look, trace in zip(drawn, looks, traces):
        if trace and pictures.is_sampled(out):
            _draw_lines(ax, trace)
        elif trace and "draw" not in out.columns:  # those of many draws would hide everything
            _draw_arrows(ax, trace, look)
    if focus:
        ax.set(xlim=limits[0], ylim=limits[1])
    elif any(traces):
        (x0, y0), of = next((trace[0][:, 0], out) for out, trace in zip(drawn, traces) if trace)
        _draw_marks(ax, [x0], [y0], free, "before the impact, in the first draw" if "draw" in of.columns else "before the impact")

    # Zero, where it is in the picture.
    for draw_zero, (least, most) in ((ax.axvline, ax.get_xlim()), (ax.axhline, ax.get_ylim())):
        if least <= 0 <= most:
            draw_zero(0, color="#a0a0a0", linewidth=0.6, zorder=0.5)
    ax.set_xlabel(pictures.axis_label(drawn[0], x))
    ax.set_ylabel(pictures.axis_label(drawn[0], y))
    if title:
        ax.set_title(title)
    # "best" compares the key with every dot, which takes seconds.
    place = {"loc": "upper left", "bbox_to_anchor": (-0.12, -0.13), "ncol": 2, "frameon": False} if own else {"loc": "upper right"}
    ax.legend(fontsize="small", **place)
    return ax


def _finite(out: Outcomes, x: str, y: str) -> tuple[Any, Any]:
    """The points of outcomes; what is not determined cannot be drawn."""
    px, py = pictures.values(out, x), pictures.values(out, y)
    shown = np.isfinite(px) & np.isfinite(py)
    return px[shown], py[shown]


def _draw_dots(ax: Any, x: Any, y: Any, look: pictures.Look, label: str) -> None:
    """Dots shrink and fade as they become many, so that the density of a set shows; the key has one of full size."""
    size, alpha = (1.5, 0.3) if len(x) > 20000 else (3, 0.45) if len(x) > 2000 else (7, 0.65)
    ax.scatter(x, y, s=size, alpha=alpha, color=look.colour, linewidths=0, rasterized=len(x) > _RASTERIZED, zorder=2)
    ax.plot([], [], ".", markersize=8, color=look.colour, label=label)


def _draw_marks(ax: Any, x: Any, y: Any, look: pictures.Look, label: str) -> None:
    style = {"markersize": _MARK * look.size, "markerfacecolor": "none", "markeredgecolor": look.colour, "markeredgewidth": 1.6}
    ax.plot(x, y, linestyle="none", marker=MARKERS[look.shape], label=label, zorder=4 - 0.1 * look.size, **style)


def _draw_lines(ax: Any, paths: Sequence[NDArray[np.float64]]) -> None:
    """Paths of samples, as one line with gaps."""
    gap = np.full((2, 1), np.nan)
    x, y = np.hstack([part for path in paths for part in (path, gap)])
    ax.plot(x, y, color="#404040", alpha=0.75, linewidth=0.7, label=f"{len(paths)} of the samples, step by step", zorder=2.3)


def _draw_arrows(ax: Any, paths: Sequence[NDArray[np.float64]], look: pictures.Look) -> None:
    """Arrows from the velocity before the impact through that after each single impact, with a dot where each begins and ends."""
    starts = np.hstack([path[:, :-1] for path in paths])
    steps = np.hstack([np.diff(path) for path in paths])
    ax.plot(*np.hstack(paths), linestyle="none", marker="o", markersize=2.5, color=look.colour, zorder=3)
    moves = np.any(steps != 0, axis=0)
    shape = {"units": "inches", "width": 0.015, "headwidth": 6, "headlength": 8, "headaxislength": 8, "minlength": 0}
    ax.quiver(*starts[:, moves], *steps[:, moves], angles="xy", scale_units="xy", scale=1, color=look.colour, zorder=3, **shape)


def _draw_pieces(ax: Any, out: Polytopes, look: pictures.Look, x: str, y: str) -> None:
    """Filled projections with outlines and a dot on each vertex, so that segments and points show, too."""
    label: str | None = pictures.label(out)
    piece, px, py = np.asarray(out["piece"]), pictures.values(out, x), pictures.values(out, y)
    for index in np.unique(piece):
        vertices = np.flatnonzero((piece == index) & np.isfinite(px) & np.isfinite(py))
        if not len(vertices):
            continue
        corners = vertices[pictures.hull(px[vertices], py[vertices])]
        ax.fill(px[corners], py[corners], color=look.colour, alpha=0.3, linewidth=0, zorder=1)
        outline = {"marker": "o", "markersize": 3.5, "color": look.colour, "linewidth": 1.8, "zorder": 1.5}
        ax.plot(px[[*corners, corners[0]]], py[[*corners, corners[0]]], label=label, **outline)
        label = None
