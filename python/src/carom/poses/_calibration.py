# SPDX-License-Identifier: Apache-2.0
"""What free flights tell about gravity, lengths, frame rate and center of mass."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._errors import InputError
from ._flight import Flight, Motion, estimate_noise, find_flights, split_motions
from ._input import GRAVITY, Body, check_record, take_gravity, take_poses
from ._options import Options
from ._rotation import Array, to_matrix

# Frames of the shortest flight that is used.
_LEAST = 8
# Flights whose mean squared residual is this many times the median one are left out: the body rolled, or was held.
_POOR = 3.0


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """What free flights tell.

    Attributes
    ----------
    gravity, gravity_error : ndarray, (3,)
        Measured acceleration of free fall, and its standard deviations [m/s^2].
    center, center_error : ndarray, (3,)
        Center of mass from the tracked point, body axes [m], and its standard deviations. Where flights do not tell, because the body does
        not turn, it is the given one, with the body's radius as its standard deviation.
    length_factor, rate_factor : float
        Multiply positions by the first, or the frame rate by the second (divide times by it): both give the gravity that was given. Free
        flight tells only the product length_factor * rate_factor**2 of the true corrections; one of the two must be known otherwise.
    factor_error : float
        Standard deviation of `length_factor`; that of `rate_factor` is about half.
    flights, frames : int
        That were used.
    noise : float
        Standard deviation of a coordinate of the center of mass [m].
    correlation : float
        Of residuals of successive frames; that of white noise is slightly below 0.
    """

    gravity: Array
    gravity_error: Array
    center: Array
    center_error: Array
    length_factor: float
    rate_factor: float
    factor_error: float
    flights: int
    frames: int
    noise: float
    correlation: float

    def __repr__(self) -> str:
        center = ", ".join(f"{1e3 * x:.2f}" for x in self.center)
        return f"<carom.poses.Calibration: {self.flights} flights, gravity {np.linalg.norm(self.gravity):.4f} m/s^2, center ({center}) mm>"


def calibrate(
    times: ArrayLike,
    positions: ArrayLike,
    quaternions: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    body: Body,
    gravity: ArrayLike = GRAVITY,
    noise: tuple[float, float] | None = None,
) -> Calibration:
    """Measure gravity and the center of mass in free flights.

    The tracked point of flight i is at X_i + V_i t + g t^2/2 - R(t) c: linear least squares in all X_i, V_i, in g and the center c.

    Parameters
    ----------
    times, positions, quaternions, groups
        As of `impacts`.
    body : Body
        With a first guess of its center of mass.
    gravity : array_like, (3,)
        True acceleration of free fall in world axes [m/s^2].
    noise : (float, float), optional
        As of `Options`.

    Raises
    ------
    InputError
        For poses as of `impacts`, and where no free flight is found.
    """
    poses, g = take_poses(times, positions, quaternions, groups), take_gravity(gravity)
    check_record(poses)
    motions = list(split_motions(poses))
    noise = Options(noise=noise).noise or estimate_noise(motions, body)
    return calibrate_flights([(motion, flight) for motion in motions for flight in find_flights(motion, body, g, noise)], body, g)


def calibrate_flights(flights: list[tuple[Motion, Flight]], body: Body, gravity: Array) -> Calibration:
    """What known flights tell; see `calibrate`."""
    blocks: list[Array] = []
    for (_, _, t, p, q), (first, last, _) in flights:
        part = slice(first, last + 1)
        if last + 1 - first < _LEAST:
            continue
        # The columns of g and c and the data, without what a line X + V t explains.
        s = t[part] - t[first]
        columns = [0.5 * s[:, None, None] ** 2 * np.eye(3), -to_matrix(q[part]), p[part, :, None]]
        rows = np.concatenate(columns, axis=2).reshape(len(s), -1)
        line = np.linalg.qr(np.stack([np.ones_like(s), s], axis=1))[0]
        blocks.append((rows - line @ (line.T @ rows)).reshape(-1, 7))
    if not blocks:
        raise InputError(f"positions: nothing falls freely for {_LEAST} frames: are they in m, times in s, quaternions w, x, y, z, gravity right?")
    # The center of mass is within the body: one more equation for each coordinate, which counts where flights tell nothing.
    prior = np.concatenate([np.eye(6)[3:], body.center[:, np.newaxis]], axis=1) / body.radius
    # Poses of a simulation may have no noise at all.
    used, solution, sigma = blocks, np.zeros(6), 1e-9 * body.radius
    for _ in range(4):
        equations = np.concatenate([*used, sigma * prior])
        solution = np.linalg.lstsq(equations[:, :6], equations[:, 6], rcond=None)[0]
        squares = [np.sum((block[:, 6] - block[:, :6] @ solution) ** 2) / (len(block) - 6) for block in blocks]
        used = [block for block, square in zip(blocks, squares) if square <= _POOR * np.median(squares)]
        misfits = [block[:, 6] - block[:, :6] @ solution for block in used]
        misfit = np.concatenate(misfits)
        sigma = max(float(misfit @ misfit / max(1, len(misfit) - 6 * len(used) - 6)) ** 0.5, 1e-9 * body.radius)
    covariance = sigma**2 * np.linalg.inv(equations[:, :6].T @ equations[:, :6])
    errors, size = np.sqrt(np.diag(covariance)), float(np.linalg.norm(solution[:3]))
    factor, along = float(np.linalg.norm(gravity)) / size, solution[:3] / size
    return Calibration(
        gravity=solution[:3],
        gravity_error=errors[:3],
        center=solution[3:],
        center_error=errors[3:],
        length_factor=factor,
        rate_factor=factor**0.5,
        factor_error=factor / size * float(along @ covariance[:3, :3] @ along) ** 0.5,
        flights=len(used),
        frames=len(misfit) // 3,
        noise=sigma,
        correlation=sum(float(np.sum(r[3:] * r[:-3])) for r in misfits) / len(misfit) / sigma**2,
    )
