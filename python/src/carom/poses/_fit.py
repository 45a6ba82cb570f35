# SPDX-License-Identifier: Apache-2.0
"""One impact: two free flights that meet in one pose, fitted to the poses around it."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._flight import Event
from ._input import Body
from ._rotation import Array, conjugate, from_vector, multiply, to_matrix, to_vector, turn_freely

# Gauss-Newton ends with a step this small, in standard deviations squared; after so many steps it is given up.
_SMALL, _STEPS = 1e-6, 30
# So often the frames near the impact are chosen anew, as its time becomes known.
_ROUNDS = 6


class Meeting(NamedTuple):
    """Two free flights that meet in one pose.

    Attributes
    ----------
    parameters : ndarray, (19,)
        Center of mass at the impact [m], rotation away from `quaternion`, which is 0, time from the group's first frame [s], and velocities:
        linear and angular before, linear and angular after, all in world axes.
    covariance : ndarray, (19, 19)
        Of the parameters, scaled by chi2 per degree of freedom.
    quaternion : ndarray, (4,)
        Orientation at the impact.
    chi2, freedom : float and int
        Sum of squared residuals in units of the noise; 6 frames - 19.
    times : ndarray, (frames,)
        Of the fitted frames, from the impact [s].
    residuals : ndarray, (frames, 6)
        Fitted minus measured positions and rotations (world axes), in units of the noise.
    jacobian : ndarray, (6 frames, 19)
        Of the residuals with respect to the parameters, each in a unit of its own.
    """

    parameters: Array
    covariance: Array
    quaternion: Array
    chi2: float
    freedom: int
    times: Array
    residuals: Array
    jacobian: Array


def predict(parameters: Array, q: Array, t: Array, after: NDArray[np.bool_], body: Body, gravity: Array) -> tuple[Array, Array]:
    """Tracked points (..., frames, 3) and quaternions (..., frames, 4) at times t of flights (..., 19) that meet near q (4,)."""
    x, turn, instant, *velocities = np.split(parameters[..., np.newaxis, :], [3, 6, 7, 10, 13, 16], axis=-1)
    v, w = (np.where(after[:, np.newaxis], velocities[i + 2], velocities[i]) for i in range(2))
    s = t[:, np.newaxis] - instant
    turned = turn_freely(multiply(from_vector(turn), q), w, s[..., 0], body.inertia)
    center = x + v * s + 0.5 * gravity * s**2
    return center - to_matrix(turned) @ body.center, turned


def fit_meeting(
    event: Event, body: Body, gravity: Array, noise: tuple[float, float], contact_time: float, least_frames: int
) -> Meeting | str:
    """Weighted least squares over the frames further than `contact_time` from the impact; or why there is no such fit."""
    t, places, turns = (array[event.frames] for array in event.motion[2:])
    interval = float(np.median(np.diff(t))) if len(t) > 1 else 1.0
    # What each parameter changes by, to scale the equations; differences take a millionth of it.
    scale = np.repeat([body.radius, 1, interval, *[body.radius / interval, 1 / interval] * 2], [3, 3, 1, 3, 3, 3, 3])
    theta, q, chosen = event.start, event.quaternion, None
    for _ in range(_ROUNDS):
        # Frames during the contact belong to neither flight.
        free, after = np.abs(t - theta[6]) > contact_time, t > theta[6]
        if chosen is not None and np.array_equal(chosen, (free, after)):
            break
        chosen = (free, after)
        for side, count in (("before", np.sum(free & ~after)), ("after", np.sum(free & after))):
            if count < least_frames:
                return f"too few frames: {count} {side} it, and {least_frames} are needed"

        def residuals(parameters: Array) -> Array:
            x, turned = predict(parameters, q, t[free], after[free], body, gravity)
            parts = [(x - places[free]) / noise[0], to_vector(multiply(turned, conjugate(turns[free]))) / noise[1]]
            return np.concatenate(parts, axis=-1).reshape(*parameters.shape[:-1], -1)

        r = residuals(theta)
        for _ in range(_STEPS):
            jacobian = (residuals(theta + 1e-6 * np.diag(scale)) - r).T * 1e6
            step = np.linalg.lstsq(jacobian, -r, rcond=None)[0]
            # The full step, or the best of shorter ones where the fit is still far; the rotation goes into q.
            tries = theta + 0.5 ** np.arange(6)[:, np.newaxis] * step * scale
            off = residuals(tries)
            best = np.argmin(np.sum(off**2, axis=1))
            theta, r = tries[best], off[best]
            q, theta = multiply(from_vector(theta[3:6]), q), np.where(np.arange(19) // 3 == 1, 0, theta)
            if not t[0] < theta[6] < t[-1]:
                return "the fit moves it out of its frames: velocities hardly change"
            if np.sum((jacobian @ step) ** 2) < _SMALL:
                break
        else:
            return "the fit does not converge"
    chi2, freedom = float(r @ r), len(r) - 19
    covariance = np.linalg.pinv(jacobian.T @ jacobian, hermitian=True) * np.outer(scale, scale) * chi2 / freedom
    return Meeting(theta, covariance, q, chi2, freedom, t[free] - theta[6], r.reshape(-1, 6), jacobian)
