# SPDX-License-Identifier: Apache-2.0
"""Equality constraints C v = 0 that hold during an impact: contact forces are projected so that no velocity leaves them.

P = 1 - M^-1 C'(C M^-1 C')^-1 C keeps the velocities with C v = 0 and takes away what breaks them; rows J P in place of J make every
post-impact velocity satisfy C v+ = 0. With M = L L' and rows q_i that span those of C L^-T orthonormally,
P = 1 - sum_i motion_i' force_i, motion_i = L^-T q_i, force_i = L q_i.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _carom
from .._errors import InputError

Array = NDArray[np.float64]

# A constraint row whose part that is independent of the rows before it is shorter than this share of its length says nothing new.
_RANK = 1e-9
# A velocity may break the constraints by this share (square root of kinetic energies), the precision of numbers typed by hand.
_VELOCITY = 1e-6


class Projector:
    """The motions that equality constraints leave.

    Parameters
    ----------
    mass : ndarray, (nv, nv)
        M.
    constraints : sequence of (str, ndarray (k, nv))
        Names and rows C.
    velocity_names : sequence of str, optional
        For errors.
    """

    def __init__(
        self, mass: Array, constraints: Sequence[tuple[str, Array]], velocity_names: Sequence[str] | None = None
    ) -> None:
        self.mass = mass
        self.nv = len(mass)
        self.names: list[str] = []
        span = np.empty((0, self.nv))
        if constraints:
            _carom.mass_check(np.ascontiguousarray(mass), self.nv, None if velocity_names is None else tuple(velocity_names))
            factor = np.linalg.cholesky(mass)
        for name, rows in constraints:
            if not np.isfinite(rows).all():
                raise InputError("the Jacobian of the equality constraints is not finite")
            for q in np.linalg.solve(factor, rows.T).T:
                length = np.linalg.norm(q)
                for _ in range(2):
                    q = q - span.T @ (span @ q)
                rest = np.linalg.norm(q)
                if len(span) < self.nv and rest > _RANK * length:
                    span = np.vstack([span, q / rest])
                    self.names.append(name)
        self.rank = len(span)
        if self.rank:
            self.force = span @ factor.T
            self.motion = np.linalg.solve(factor.T, span.T).T

    def project_row(self, row: Array) -> Array:
        """row P, twice against round-off."""
        for _ in range(2):
            row = row - (self.motion @ row) @ self.force
        return row

    def project_velocity(self, velocity: Array) -> Array:
        """P v; refuses a velocity that breaks a constraint by more than round-off of what people type."""
        if not self.rank:
            return velocity
        # The part of v that the constraints forbid has the kinetic energy sum_i (force_i . v)^2.
        parts = self.force @ velocity
        broken, energy = parts @ parts, velocity @ self.mass @ velocity
        if not np.sqrt(broken) <= _VELOCITY * np.sqrt(energy):
            raise InputError(
                f"the velocity breaks equality constraint '{self.names[int(np.argmax(np.abs(parts)))]}': {broken / energy:.3g} of the "
                f"kinetic energy is in motion that the equality constraints forbid, more than {_VELOCITY**2:g}"
            )
        for _ in range(2):
            velocity = velocity - (self.force @ velocity) @ self.motion
        return velocity
