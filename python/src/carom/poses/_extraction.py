# SPDX-License-Identifier: Apache-2.0
"""From poses over time to measured impacts."""
from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._errors import InputError
from ..files import write_text
from ._calibration import Calibration, calibrate_flights
from ._fit import Meeting, fit_meeting
from ._flight import Event, estimate_noise, find_events, find_flights, limit_noise, split_motions
from ._input import GRAVITY, PLANE, Body, check_record, take_gravity, take_plane, take_poses, warn
from ._options import Options
from ._rotation import Array, to_matrix
from ._second import find_second

_ABOUT = """Impacts of a rigid body on a plane: free flights fitted to its poses on both sides of each impact. SI units, world axes; velocities are \
those of the center of mass, then the angular one; covariance is that of (v_minus, v_plus)."""

# Residuals of white noise have a small negative one; a mean of three frames makes 0.6.
_CORRELATED = 0.25
# chi2 per degree of freedom that every fit has while noise is estimated.
_ANY = 1e12
# The kinetic energy may grow by this many of its standard deviations.
_GAIN = 4.0
# White noise of the right size leaves a chi2 per degree of freedom above this one in 4 % of fits of the fewest frames (29 degrees of
# freedom), and in 0.3 % of those with 75.
_DOUBTFUL = 1.5
# Events from which noise is estimated, and times that the worse fits are left out.
_ENOUGH, _STEPS = 100, 5


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A measured impact. Velocities are those of the center of mass [m/s], then the angular one [rad/s], in world axes.

    Attributes
    ----------
    group : object
        The group of its frames.
    frame : int
        Last frame before the impact, counted from the group's first.
    time : float
        Of the impact, by the clock of the poses [s].
    contacts : tuple of int
        Vertices that touch.
    gaps : ndarray, (contacts,)
        Their distances from the plane [m].
    kind : str
        "single", "edge" (two) or "face" (more).
    mass, normal, tangent : ndarray, (6, 6), (contacts, 6) and (2 contacts, 6)
        Mass matrix and Jacobians at the impact.
    v_minus, v_plus : ndarray, (6,)
        Velocities before and after.
    covariance : ndarray, (12, 12)
        Of (v_minus, v_plus), with the floors of `Options`.
    seconds : tuple of float
        Times from the impact of second impacts, which residuals showed: frames beyond them are left out [s].
    meeting : Meeting
        The fit itself: all 19 parameters with their covariance without floors, chi2, residuals.
    """

    group: Any
    frame: int
    time: float
    contacts: tuple[int, ...]
    gaps: Array
    kind: str
    mass: Array
    normal: Array
    tangent: Array
    v_minus: Array
    v_plus: Array
    covariance: Array
    seconds: tuple[float, ...]
    meeting: Meeting

    @property
    def quality(self) -> float:
        """chi2 per degree of freedom."""
        return self.meeting.chi2 / self.meeting.freedom

    def __repr__(self) -> str:
        return f"<carom.poses.Fit: group {self.group}, {self.time:.4f} s, {self.kind} {self.contacts}, chi2/dof {self.quality:.2f}>"


class Rejected(NamedTuple):
    """An impact, or what looked like one, that gives no measurement: its group, last frame before it, time [s], and the reason."""

    group: Any
    frame: int
    time: float
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Impacts(Sequence[Fit]):
    """Measured impacts, a sequence of `Fit`.

    Attributes
    ----------
    fits : list of Fit
    rejected : list of Rejected
    body : Body
    plane : (ndarray, ndarray)
        Point and unit normal.
    gravity : ndarray, (3,)
    options : Options
        With the noise that was used.
    calibration : Calibration
        What the free flights say about gravity and the center of mass.
    """

    fits: list[Fit]
    rejected: list[Rejected]
    body: Body
    plane: tuple[Array, Array]
    gravity: Array
    options: Options
    calibration: Calibration

    def __len__(self) -> int:
        return len(self.fits)

    def __getitem__(self, index: Any) -> Any:
        return self.fits[index]

    def __repr__(self) -> str:
        return f"<carom.poses.Impacts: {len(self)} impacts, {len(self.rejected)} rejected>"

    def to_dict(self) -> dict[str, Any]:
        """All impacts as the file of measurements holds them."""
        body, inertia = self.body, self.body.inertia
        return {
            "about": _ABOUT,
            "mass": float(body.mass),
            "inertia": inertia.tolist(),
            # Principal moments along the body's axes, where they are principal axes.
            **({"inertia_body": np.diag(inertia).tolist()} if np.array_equal(inertia, np.diag(np.diag(inertia))) else {}),
            "center": body.center.tolist(),
            "gravity": self.gravity.tolist(),
            "plane": {"point": self.plane[0].tolist(), "normal": self.plane[1].tolist()},
            "options": {name: value if value is None else np.asarray(value).tolist() for name, value in asdict(self.options).items()},
            "impacts": [
                {
                    "group": fit.group,
                    "frame": fit.frame,
                    "time": fit.time,
                    "kind": fit.kind,
                    "vertices": list(fit.contacts),
                    "gaps": fit.gaps.tolist(),
                    "M": fit.mass.tolist(),
                    "Jn": fit.normal.tolist(),
                    "Jt": fit.tangent.tolist(),
                    **({} if body.friction is None else {"mu": [float(body.friction)] * len(fit.contacts)}),
                    "v_minus": fit.v_minus.tolist(),
                    "v_plus": fit.v_plus.tolist(),
                    "covariance": fit.covariance.tolist(),
                    "chi2_dof": fit.quality,
                    "second_impacts": list(fit.seconds),
                    "R": to_matrix(fit.meeting.quaternion).tolist(),
                }
                for fit in self
            ],
            "rejected": [each._asdict() for each in self.rejected],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file of measurements (JSON); it appears whole or not at all.

        Raises
        ------
        OSError
            When the file cannot be written.
        """
        write_text(path, json.dumps(self.to_dict(), allow_nan=False) + "\n")

    def plot(self, impact: int | None = None) -> Any:
        """Draw residuals over time, chi2 per degree of freedom, and one impact's fit with matplotlib; see `carom.poses.figures.plot`."""
        from .figures import plot

        return plot(self, impact)


def impacts(
    times: ArrayLike,
    positions: ArrayLike,
    quaternions: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    body: Body,
    plane: tuple[ArrayLike, ArrayLike] = PLANE,
    gravity: ArrayLike = GRAVITY,
    **options: Any,
) -> Impacts:
    """Extract impacts of a body on a plane from its poses over time.

    Between impacts the body flies: its center of mass on a parabola, its rotation free of torque. Where two flights meet, their common pose,
    its time and the velocities on both sides, 19 unknowns, are fitted to the poses around the impact by weighted least squares. Vertices that
    are near the plane at the impact are its contacts. Where residuals show a second impact, frames beyond it are left out, and the impact is
    rejected if too few remain.

    Parameters
    ----------
    times : array_like, (N,)
        Of the frames [s]. Lost frames are left out, not filled.
    positions : array_like, (N, 3)
        Of the tracked point, a point fixed in the body, world axes [m]. As measured: filters smear impacts.
    quaternions : array_like, (N, 4)
        w, x, y, z, from body to world axes; either sign.
    groups : array_like, (N,), optional
        Which motion each frame belongs to.
    body : Body
    plane : (point, normal)
        The body is on the side of the normal [m].
    gravity : array_like, (3,)
        Acceleration of free fall in world axes [m/s^2].
    **options
        Fields of `Options`.

    Returns
    -------
    Impacts
        Those with a good fit; `rejected` lists others with the reason.

    Raises
    ------
    InputError
        For arrays of wrong shapes, NaN, times that do not increase, quaternions that are not of length 1, and where nothing flies.

    Warns
    -----
    PoseWarning
        Where free flight contradicts gravity, units, frame rate or center of mass; for filtered poses, repeated frames, irregular clocks; where
        no impact is left.
    """
    names = [each.name for each in fields(Options)]
    for name in options:
        if name not in names:
            raise InputError(f"{name}: there is no such option; there are {', '.join(names)}")
    how = Options(**options)
    poses, place, g = take_poses(times, positions, quaternions, groups), take_plane(plane), take_gravity(gravity)
    check_record(poses)
    motions = list(split_motions(poses))
    noise = how.noise or estimate_noise(motions, body)
    # Noise from differences of frames finds flights and weighs positions against rotations for a first time; residuals of fits do it better.
    for estimating in (False,) if how.noise else (True, True, False):
        used = replace(how, noise=noise, worst=_ANY if estimating else how.worst)
        flights = [(motion, find_flights(motion, body, g, noise)) for motion in motions]
        events = [event for motion, found in flights for event in find_events(motion, found, body, g, how.window, how.contact_time)]
        asked = events[:: 1 + len(events) // _ENOUGH] if estimating else events
        outcomes = [_measure(event, body, place, g, used) for event in asked]
        fits = [each for each in outcomes if isinstance(each, Fit)]
        noise = _pool_noise([each.meeting for each in fits], noise, body) if estimating else noise
    calibration = calibrate_flights([(motion, flight) for motion, found in flights for flight in found], body, g)
    _check_calibration(calibration, body, g)
    _check_fits(fits, body, used)
    rejected = [each for each in outcomes if isinstance(each, Rejected)]
    if not fits and rejected:
        warn(
            f"none of {len(rejected)} impacts can be used; that at {rejected[0].time:.4g} s: {rejected[0].reason}: are quaternions w, x, y, z "
            "from body to world axes, and are vertices and plane where they should be?",
            2,
        )
    elif not fits:
        warn("there are no impacts: no free flight ends where another one begins", 2)
    return Impacts(fits, rejected, body, place, g, used, calibration)


def _measure(event: Event, body: Body, plane: tuple[Array, Array], gravity: Array, how: Options) -> Fit | Rejected:
    """Fits one event, and finds its contacts."""
    group, origin, times, *_ = event.motion

    def reject(instant: float, reason: str) -> Rejected:
        return Rejected(group, int(np.searchsorted(times, instant)) - 1, origin + float(instant), reason)

    interval = float(np.median(np.diff(times)))
    if event.pause > 2 * how.contact_time + 1.5 * interval:
        return reject(event.start[6], f"the body does not fly for {1e3 * event.pause:.0f} ms")
    assert how.noise is not None
    # Frames beyond a second impact belong to a third flight. Once they are left out, a weaker one may show.
    seconds: list[float] = []
    while True:
        meeting = fit_meeting(event, body, gravity, how.noise, how.contact_time, how.least_frames)
        if isinstance(meeting, str):
            near = f"; another impact is {1e3 * event.neighbor:.0f} ms away" if event.neighbor < how.window else ""
            if seconds:
                near = f"; residuals show a second impact {1e3 * abs(seconds[-1]):.0f} ms {'after' if seconds[-1] > 0 else 'before'} it"
            return reject(event.start[6], meeting + near)
        second = find_second(meeting, body, plane, gravity, how.noise, how)
        if second is None:
            break
        seconds.append(second)
        s = times[event.frames] - meeting.parameters[6]
        event = event._replace(frames=event.frames[s < second if second > 0 else s > second])
    x, instant, (v_minus, v_plus) = meeting.parameters[:3], meeting.parameters[6], meeting.parameters[7:].reshape(2, 6)
    quality = meeting.chi2 / meeting.freedom
    if quality > how.worst:
        return reject(instant, f"bad fit: chi2 per degree of freedom is {quality:.3g}, and at most {how.worst:.3g} is allowed")
    if meeting.covariance[6, 6] ** 0.5 > interval:
        return reject(instant, "velocities change too little to tell when")

    point, normal = plane
    rotation = to_matrix(meeting.quaternion)
    # From the center of mass to the lowest point of each vertex.
    arms = (body.vertices - body.center) @ rotation.T - body.rounding[:, np.newaxis] * normal
    gaps = (x + arms - point) @ normal
    lowest = float(gaps.min())
    if abs(lowest) > how.reach:
        return reject(instant, f"the lowest vertex is {1e3 * lowest:.3g} mm from the plane, and at most {1e3 * how.reach:.3g} mm are allowed")
    contacts = np.flatnonzero(gaps <= lowest + how.near)
    # The velocity of a point at r from the center of mass along d is d.v + (r x d).w.
    axis = np.eye(3)[np.argmin(np.abs(normal))]
    first = axis - (axis @ normal) * normal
    first /= np.linalg.norm(first)
    frame = np.stack([normal, first, np.cross(normal, first)])
    rows = np.concatenate([np.broadcast_to(frame, (len(contacts), 3, 3)), np.cross(arms[contacts, np.newaxis], frame)], axis=2)
    if (rows[:, 0] @ v_minus).min() >= 0:
        return reject(instant, "none of its contacts approaches the plane")
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = body.mass * np.eye(3), rotation @ body.inertia @ rotation.T
    covariance = meeting.covariance[7:, 7:] + np.diag(np.tile(np.repeat([how.floor_velocity, how.floor_spin], 3) ** 2, 2))
    gradient = np.concatenate([-mass @ v_minus, mass @ v_plus])
    gain = 0.5 * float(v_plus @ mass @ v_plus - v_minus @ mass @ v_minus)
    if gain > _GAIN * float(gradient @ covariance @ gradient) ** 0.5:
        return reject(instant, f"the kinetic energy grows by {gain:.3g} J: mass, inertia, center or frames are wrong")
    return Fit(
        group=group,
        frame=int(np.searchsorted(times, instant)) - 1,
        time=origin + float(instant),
        contacts=tuple(contacts.tolist()),
        gaps=gaps[contacts],
        kind=("single", "edge", "face")[min(len(contacts), 3) - 1],
        mass=mass,
        normal=rows[:, 0],
        tangent=rows[:, 1:].reshape(-1, 6),
        v_minus=v_minus,
        v_plus=v_plus,
        covariance=covariance,
        seconds=tuple(seconds),
        meeting=meeting,
    )


def _pool_noise(meetings: list[Meeting], noise: tuple[float, float], body: Body) -> tuple[float, float]:
    """Noise by which residuals of positions and of rotations get the size that they should have: each takes half of the 19 unknowns."""
    if not meetings:
        return noise
    sizes = np.array([np.sum(each.residuals.reshape(-1, 2, 3) ** 2, axis=(0, 2)) / (3 * len(each.times) - 9.5) for each in meetings])
    # Bad fits may be many, and are all too large.
    for _ in range(_STEPS):
        sizes = sizes[(sizes <= 4 * np.median(sizes, axis=0)).all(axis=1)]
    return limit_noise(noise * np.sqrt(np.median(sizes, axis=0)), body)


def _check_calibration(found: Calibration, body: Body, gravity: Array) -> None:
    """Warns where free flights contradict gravity, the center of mass, or white noise."""
    if found.correlation > _CORRELATED and found.noise > limit_noise(np.zeros(2), body)[0]:
        warn(f"positions: residuals of successive frames in free flight have a correlation of {found.correlation:.2f}: were they filtered?")
    size, error = float(np.linalg.norm(found.gravity)), float(np.linalg.norm(found.gravity_error))
    if abs(found.length_factor - 1) > max(3e-3, 4 * found.factor_error):
        warn(
            f"gravity: bodies fall with {size:.4g} m/s^2 instead of {np.linalg.norm(gravity):.4g}: either lengths must be multiplied by "
            f"{found.length_factor:.4f}, or the frame rate by {found.rate_factor:.4f}; free flight cannot say which"
        )
    tilt = float(np.linalg.norm(np.cross(found.gravity, gravity))) / size / float(np.linalg.norm(gravity))
    if tilt > max(3e-3, 4 * error / size):
        warn(f"gravity: bodies fall {np.degrees(tilt):.2g} degrees away from the given direction: are the axes level?")
    off = np.abs(found.center - body.center)
    if (off > np.maximum(0.01 * body.radius, 4 * found.center_error)).any():
        told = ", ".join(f"{1e3 * x:.2f} +- {1e3 * e:.2f}" for x, e in zip(found.center, found.center_error))
        warn(f"center: free flights put the center of mass at ({told}) mm from the tracked point")


def _check_fits(fits: list[Fit], body: Body, how: Options) -> None:
    """Warns where residuals or gaps show a systematic error, or noise of another size."""
    if not fits:
        return
    doubtful = sum(fit.quality > _DOUBTFUL for fit in fits)
    # Of few fits one may be above by chance.
    if doubtful > max(1, 0.05 * len(fits)):
        warn(
            f"noise: chi2 per degree of freedom is above {_DOUBTFUL:g} in {doubtful} of {len(fits)} impacts: noise differs between motions or is "
            f"larger than what was given, or the body does not fly freely there; worst = {_DOUBTFUL:g} rejects them"
        )
    turns = [fit.meeting.residuals[:, 3:] for fit in fits]
    correlation = float(np.median([np.sum(r[1:] * r[:-1]) / np.sum(r * r) for r in turns]))
    if correlation > _CORRELATED and how.noise and how.noise[1] > limit_noise(np.zeros(2), body)[1]:
        warn(f"quaternions: residuals of successive frames have a correlation of {correlation:.2f}: were they filtered?")
    height = float(np.median([fit.gaps.min() for fit in fits]))
    approach = float(np.median([-(fit.normal @ fit.v_minus).min() for fit in fits]))
    # While the contact lasts, the body goes on into it.
    if abs(height) > how.near + how.contact_time * approach:
        warn(f"plane: lowest vertices are {1e3 * height:.2g} mm from it at impacts (median): are plane, vertices and the tracked point right?")
