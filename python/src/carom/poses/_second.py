# SPDX-License-Identifier: Apache-2.0
"""A second impact among the frames of a fit, seen in its residuals."""
from __future__ import annotations

import numpy as np

from ._fit import Meeting, predict
from ._flight import limit_noise
from ._input import Body
from ._options import Options
from ._rotation import Array, to_matrix


def find_second(
    meeting: Meeting, body: Body, plane: tuple[Array, Array], gravity: Array, noise: tuple[float, float], how: Options
) -> float | None:
    """Time of a second impact from the fitted one [s], or None.

    At a second impact, at s2 > 0, the velocities change by (dv, dw) once more, and poses at s > s2 move away by (dv, dw) (s - s2); likewise
    before the first one. With these six numbers beside the 19 of the fit, linearised, chi2 falls to chi2'. Of white noise of any size,
    chi2' / chi2 is below 1 - y with the probability (1 - y)^b (1 + b y + b (b + 1) y^2 / 2), where 2 b degrees of freedom are left: the F
    test. Times that are tried are the middles between frames, where a vertex of the fitted body is within `reach` of the plane. The least
    of their probabilities must be below `doubt` divided by their number.
    """
    s, (point, normal) = meeting.times, plane
    # A second impact between the contact and the first frame on a side shows as a jump.
    edges = np.concatenate([s, [-how.contact_time, how.contact_time]])
    middles = np.convolve(np.sort(edges), [0.5, 0.5], mode="valid")
    middles = middles[np.abs(middles) > how.contact_time]
    x, q = predict(meeting.parameters, meeting.quaternion, meeting.parameters[6] + middles, middles > 0, body, gravity)
    heights = ((to_matrix(q) @ body.vertices.T).swapaxes(1, 2) + x[:, np.newaxis] - point) @ normal - body.rounding
    middles = middles[heights.min(axis=1) <= how.reach]
    left = meeting.freedom - 6
    if not len(middles) or left < 2 or how.doubt == 0:
        return None

    # Columns of the six changes at each time, less what the 19 unknowns explain. A change between the contact and the first frame has one
    # direction in common with the time of the impact: singular values that are this small are rounding of the differences in the Jacobian.
    basis = np.linalg.qr(meeting.jacobian)[0]
    residuals = meeting.residuals.ravel()
    ramps = np.maximum((s - middles[:, np.newaxis]) * np.sign(middles[:, np.newaxis]), 0)
    explained = []
    for ramp in ramps:
        columns = np.kron((ramp / ramp.max())[:, np.newaxis], np.eye(6))
        directions, sizes, _ = np.linalg.svd(columns - basis @ (basis.T @ columns), full_matrices=False)
        explained.append(np.sum((directions[:, sizes > 1e-4].T @ residuals) ** 2))
    best = int(np.argmax(explained))
    # Residuals of exact poses are rounding and steps of integration, which are not white.
    exact = max(limit_noise(np.zeros(2), body)[i] / noise[i] for i in range(2))
    y, b = explained[best] / (explained[best] + max(meeting.chi2 - explained[best], exact**2 * left)), left / 2
    chance = (1 - y) ** b * (1 + b * y + b * (b + 1) / 2 * y**2) * len(middles)
    return float(middles[best]) if chance < how.doubt else None
