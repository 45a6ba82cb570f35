# SPDX-License-Identifier: Apache-2.0
"""What shows whether extracted impacts can be trusted, with matplotlib."""
from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from .._errors import InputError
from ._extraction import Impacts
from ._fit import predict
from ._rotation import from_vector, multiply, to_matrix

_PLACES, _TURNS, _THEORY = "#0072b2", "#d55e00", "#505050"


def plot(found: Impacts, impact: int | None = None) -> Any:
    """Draw residuals over the time from the impact, chi2 per degree of freedom, and the fit of one impact.

    Parameters
    ----------
    found : Impacts
    impact : int, optional
        Whose fit is shown. Left out: the one whose chi2 per degree of freedom is nearest to the median.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        Where there are no impacts.
    """
    if not len(found):
        raise InputError("there is nothing to draw: no impact was extracted")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for ax in (left, middle, right):
        ax.spines[["top", "right"]].set_visible(False)

    # Noise that is white and of the right size gives a root mean square of 1 at all times.
    times = np.concatenate([fit.meeting.times for fit in found]) * 1e3
    residuals = np.concatenate([fit.meeting.residuals for fit in found]).reshape(-1, 2, 3)
    contact = found.options.contact_time * 1e3
    left.axvspan(-contact, contact, color="#e6e6e6", linewidth=0, label="left out")
    edges = np.linspace(times.min(), times.max(), 21)
    bins = np.digitize(times, edges[1:-1])
    for part, colour, label in ((0, _PLACES, "positions"), (1, _TURNS, "rotations")):
        left.plot(np.repeat(times, 3), residuals[:, part].ravel(), ".", markersize=2, alpha=0.25, color=colour, rasterized=True, zorder=1)
        rms = [np.sqrt(np.mean(residuals[bins == i, part] ** 2)) if (bins == i).any() else np.nan for i in range(20)]
        left.plot((edges[1:] + edges[:-1]) / 2, rms, "-", color=colour, label=f"rms, {label}")
    left.set(xlabel="time from the impact [ms]", ylabel="residual / noise", ylim=(-5, 5))
    left.legend(fontsize="x-small", loc="lower right", framealpha=0.9)

    quality = np.array([fit.quality for fit in found])
    freedom = float(np.median([fit.meeting.freedom for fit in found]))
    top = max(2.0, float(quality.max()))
    counts, edges, _ = middle.hist(quality, bins=np.linspace(0, top, 41), color=_PLACES, alpha=0.7, label="measured")
    x = np.linspace(1e-3, top, 400)
    # The density of chi2 / freedom.
    density = freedom / 2 * np.log(freedom / 2) + (freedom / 2 - 1) * np.log(x) - freedom * x / 2 - lgamma(freedom / 2)
    expected = counts.sum() * (edges[1] - edges[0]) * np.exp(density)
    middle.plot(x, expected, color=_THEORY, label=f"white noise, {freedom:.0f} degrees of freedom")
    middle.set(xlabel="chi2 per degree of freedom", ylabel="impacts")
    # The key is above the curves.
    middle.set_ylim(0, 1.3 * max(counts.max(), expected.max()))
    middle.legend(fontsize="x-small", loc="upper right", frameon=False)

    # Heights, measured and fitted, of the vertices that touch and of the center of mass; a residual is fitted minus measured.
    fit = found[int(np.abs(quality - np.median(quality)).argmin()) if impact is None else impact]
    meeting, body, (point, normal) = fit.meeting, found.body, found.plane
    fine = np.linspace(meeting.times.min(), meeting.times.max(), 200)
    fitted, at_frames = (
        predict(meeting.parameters, meeting.quaternion, meeting.parameters[6] + s, s > 0, body, found.gravity) for s in (fine, meeting.times)
    )
    assert found.options.noise is not None
    place_noise, turn_noise = (meeting.residuals.reshape(-1, 2, 3) * np.array(found.options.noise)[:, np.newaxis]).swapaxes(0, 1)
    measured = at_frames[0] - place_noise, multiply(from_vector(-turn_noise), at_frames[1])
    shown = [*((f"vertex {i}", body.vertices[i], body.rounding[i]) for i in fit.contacts), ("center of mass", body.center, 0)]
    for k, (name, place, rounding) in enumerate(shown):
        look = {"color": f"C{k}" if k < len(fit.contacts) else _THEORY, "linewidth": 1, "markersize": 4}
        for (x, q), s, style in ((fitted, fine, "-"), (measured, meeting.times, ".")):
            height = (x + to_matrix(q) @ place - point) @ normal - rounding
            right.plot(s * 1e3, height * 1e3, style, label=name if style == "-" else None, **look)
    right.axhline(0, color="#a0a0a0", linewidth=0.6)
    right.set(xlabel="time from the impact [ms]", ylabel="height above the plane [mm]")
    right.set_title(f"group {fit.group}, {fit.time:.3f} s", fontsize="medium")
    right.legend(fontsize="x-small")
    return figure
