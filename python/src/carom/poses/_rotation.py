# SPDX-License-Identifier: Apache-2.0
"""Rotations as unit quaternions w, x, y, z, from body to world axes; the last axis of arrays holds the components."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest turn within one step of the integration [rad]: 1e-7 rad of error in a step at most, far below the noise of any poses.
_STEP = 0.2


# a b = sum of a_i b_j _PRODUCT[i, j], by Hamilton's rules; x cross y likewise by _CROSS.
_PRODUCT = np.zeros((4, 4, 4))
for _k, (_row, _signs) in enumerate(zip(("0123", "1032", "2301", "3210"), ((1, -1, -1, -1), (1, 1, -1, 1), (1, 1, 1, -1), (1, -1, 1, 1)))):
    _PRODUCT[[int(_i) for _i in _row], range(4), _k] = _signs
_CROSS = np.cross(np.eye(3)[:, np.newaxis], np.eye(3))


def _combine(table: Array, a: Array, b: Array) -> Array:
    """Sum of a_i b_j table[i, j]."""
    pairs = a[..., :, np.newaxis] * b[..., np.newaxis, :]
    flat = table.reshape(-1, table.shape[-1])
    return np.asarray(pairs.reshape(*pairs.shape[:-2], len(flat)) @ flat)


def multiply(a: Array, b: Array) -> Array:
    """The rotation b, followed by a."""
    return _combine(_PRODUCT, a, b)


def conjugate(q: Array) -> Array:
    """The inverse rotation."""
    return np.concatenate([q[..., :1], -q[..., 1:]], axis=-1)


def to_matrix(q: Array) -> Array:
    """Rotation matrices (..., 3, 3)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def to_vector(q: Array) -> Array:
    """Rotation vectors (..., 3), axis times angle, the angle at most pi."""
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    # angle / sin(angle/2) is 2 for small angles.
    ratio = np.where(sine > 1e-12, 2 * np.arctan2(sine, q[..., :1]) / np.maximum(sine, 1e-12), 2.0)
    return np.asarray(ratio * q[..., 1:])


def from_vector(v: Array) -> Array:
    """The quaternions of rotation vectors."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    # np.sinc(x) is sin(pi x) / (pi x).
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * v], axis=-1)


def turn_freely(q: Array, velocity: Array, duration: Array, inertia: Array) -> Array:
    """Orientation of a torque-free body after `duration`, which may be negative.

    Euler's equations I w' = (I w) x w in body axes and q' = q (0, w) / 2, by the classical Runge-Kutta method.

    Parameters
    ----------
    q : ndarray, (..., 4)
        Orientation at the start.
    velocity : ndarray, (..., 3)
        Angular velocity at the start, world axes [rad/s].
    duration : ndarray, (...)
        [s]
    inertia : ndarray, (3, 3)
        About the center of mass, body axes [kg m^2].
    """
    # Both equations are quadratic in y = (q, w).
    rate = np.zeros((7, 7, 7))
    rate[:4, 4:, :4] = 0.5 * _PRODUCT[:, 1:]
    rate[4:, 4:, 4:] = np.einsum("ia,ajk,kb->ijb", inertia, _CROSS, np.linalg.inv(inertia))
    shape = np.broadcast_shapes(q.shape[:-1], velocity.shape[:-1], duration.shape)
    spin = np.einsum("...ji,...j->...i", to_matrix(q), velocity)
    y = np.concatenate([np.broadcast_to(q, (*shape, 4)), np.broadcast_to(spin, (*shape, 3))], axis=-1)
    steps = 1 + int(np.max(np.linalg.norm(velocity, axis=-1) * np.abs(duration), initial=0.0) / _STEP)
    h = np.broadcast_to(duration, shape)[..., np.newaxis] / steps
    for _ in range(steps):
        k1 = _combine(rate, y, y)
        z = y + h / 2 * k1
        k2 = _combine(rate, z, z)
        z = y + h / 2 * k2
        k3 = _combine(rate, z, z)
        z = y + h * k3
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + _combine(rate, z, z))
    return np.asarray(y[..., :4] / np.linalg.norm(y[..., :4], axis=-1, keepdims=True))
