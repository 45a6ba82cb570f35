# SPDX-License-Identifier: Apache-2.0
"""Measured impacts from poses over time: a rigid body above a plane, followed by a motion-capture system or a camera::

    body = carom.poses.Body(mass=0.37, inertia=[1.1e-3] * 3, vertices=corners, center=[0, 0, 0.006])
    found = carom.poses.impacts(*carom.poses.read_csv("poses.csv"), body=body)
    found.save("impacts.json")

Each impact is one fit of two free flights that meet in one pose: it gives both velocities with their covariance, in the form that files of
measurements have. Needs numpy alone (figures need matplotlib). All quantities are in SI units.
"""
from __future__ import annotations

from ._calibration import Calibration, calibrate
from ._extraction import Fit, Impacts, Rejected, impacts
from ._input import Body, Poses, PoseWarning, read_body, read_csv
from ._options import Options

__all__ = [
    "Body", "Calibration", "Fit", "Impacts", "Options", "PoseWarning", "Poses", "Rejected", "calibrate", "impacts", "read_body", "read_csv",
]  # fmt: skip
