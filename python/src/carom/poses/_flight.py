# SPDX-License-Identifier: Apache-2.0
"""Free flights among poses, and where one ends and the next begins."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._errors import InputError
from ._input import Body, Poses
from ._rotation import Array, conjugate, multiply, to_matrix, to_vector, turn_freely

# A frame is off its parabola when it is further from it than this many standard deviations of noise.
_OFF = 6.0


class Motion(NamedTuple):
    """The frames of one group. Times count from the first frame, `origin`: clocks that count from 1970 lose no digits."""

    group: Any
    origin: float
    times: Array
    positions: Array
    quaternions: Array


class Flight(NamedTuple):
    """Around each frame from first to last the body flies freely, over `stride` frames before and after it."""

    first: int
    last: int
    stride: int


class Event(NamedTuple):
    """Two flights, one after the other, and where they seem to meet."""

    motion: Motion
    frames: Any  # indices of those that may be fitted
    start: Array  # of the fit: its 19 parameters
    quaternion: Array  # orientation at the start
    pause: float  # time between the flights [s]
    neighbor: float  # time to the nearest other event [s]


def split_motions(poses: Poses) -> Iterator[Motion]:
    """The groups, one by one."""
    labels, starts = np.unique(poses.groups, return_index=True)
    for label, start, end in zip(labels.tolist(), starts, [*starts[1:], len(poses.times)]):
        t, p, q, _ = (array[start:end] for array in poses)
        yield Motion(label, float(t[0]), t - t[0], p, q)


def estimate_noise(motions: list[Motion], body: Body) -> tuple[float, float]:
    """Standard deviations of one coordinate [m] and of one component of the rotation [rad].

    From third differences, which no constant acceleration changes; their variance is 20 times that of the noise. The median of their
    sizes passes over impacts. Fast rotations of slender bodies add to it, which residuals of fits correct later.
    """
    places = [np.diff(motion.positions, n=3, axis=0) for motion in motions]
    turns = [np.diff(to_vector(multiply(q[1:], conjugate(q[:-1]))), n=2, axis=0) for *_, q in motions]
    if not sum(map(len, places)):
        raise InputError("times: no group has the four frames from which noise is estimated")
    # The median of the sizes of normal numbers is 0.6745 standard deviations.
    sizes = np.array([np.median(np.abs(np.concatenate(parts))) for parts in (places, turns)])
    return limit_noise(sizes / 0.6745 / 20**0.5, body)


def limit_noise(found: Array, body: Body) -> tuple[float, float]:
    """Noise that is no smaller than one millionth of the body, and of a radian, which exact poses of a simulation get."""
    return max(float(found[0]), 1e-6 * body.radius), max(float(found[1]), 1e-6)


def find_flights(motion: Motion, body: Body, gravity: Array, noise: tuple[float, float]) -> list[Flight]:
    """Free flights of the center of mass.

    A frame is compared with the parabola of free fall through the frames `stride` before and after it: within the noise they agree in free
    flight, and only there. The stride is the least for which a body that rests, slides or rolls is off by twice the bound.
    """
    t, x = motion.times, motion.positions + to_matrix(motion.quaternions) @ body.center
    bound = _OFF * 1.5**0.5 * float(np.hypot(noise[0], noise[1] * np.linalg.norm(body.center)))
    if len(t) < 3:
        return []
    stride = max(1, int(np.ceil((4 * bound / np.linalg.norm(gravity)) ** 0.5 / np.median(np.diff(t)))))
    if len(t) < 2 * stride + 1:
        return []
    t0, t1, t2 = t[: -2 * stride], t[stride:-stride], t[2 * stride :]
    share = ((t1 - t0) / (t2 - t0))[:, np.newaxis]
    chord = (1 - share) * x[: -2 * stride] + share * x[2 * stride :]
    sag = 0.5 * ((t1 - t0) * (t1 - t2))[:, np.newaxis] * gravity
    # 5 % of gravity are left to calibration.
    free = np.linalg.norm(x[stride:-stride] - chord - sag, axis=1) < bound + 0.05 * np.linalg.norm(sag, axis=1)
    edges = np.flatnonzero(np.diff(free.astype(int), prepend=0, append=0)).reshape(-1, 2)
    return [Flight(int(first) + stride, int(end) + stride - 1, stride) for first, end in edges]


def find_events(motion: Motion, flights: list[Flight], body: Body, gravity: Array, window: float, contact_time: float) -> list[Event]:
    """Where a flight ends and the next one begins, with the frames within `window` that no other event disturbs."""
    _, _, t, p, q = motion
    x = p + to_matrix(q) @ body.center
    pairs = list(zip(flights, flights[1:]))
    starts = []
    for one, two in pairs:
        # Seen from a falling frame both flights are straight lines; where they are nearest to each other is the impact.
        middle = (t[one.last] + t[two.first]) / 2
        lines, spins = [], []
        for side, edge, i, j in ((one, one.last, one.last - one.stride, one.last), (two, two.first, two.first, two.first + two.stride)):
            part = np.arange(side.first - side.stride, side.last + side.stride + 1)
            part = part[np.abs(t[part] - t[edge]) <= max(window, t[j] - t[i])]
            s = t[part] - middle
            lines.append(np.polyfit(s, x[part] - 0.5 * gravity * s[:, np.newaxis] ** 2, 1))
            spins.append(to_vector(multiply(q[j], conjugate(q[i]))) / (t[j] - t[i]))
        jump, apart = lines[1] - lines[0]
        s = float(np.clip(-(apart @ jump) / (jump @ jump or 1.0), t[one.last] - middle, t[two.first] - middle))
        place = np.mean([line[1] + line[0] * s for line in lines], axis=0) + 0.5 * gravity * s**2
        turned = turn_freely(q[one.last], spins[0], np.array(middle + s - t[one.last]), body.inertia)
        velocities = [lines[0][0] + gravity * s, spins[0], lines[1][0] + gravity * s, spins[1]]
        starts.append((np.concatenate([place, np.zeros(3), [middle + s], *velocities]), turned))

    instants = np.array([-np.inf, *(start[6] for start, _ in starts), np.inf])
    events = []
    for i, ((one, two), (start, turned)) in enumerate(zip(pairs, starts)):
        frames = np.r_[one.first - one.stride : one.last + one.stride + 1, two.first - two.stride : two.last + two.stride + 1]
        now = t[frames]
        clear = (np.abs(now - start[6]) <= window) & (now > instants[i] + contact_time) & (now < instants[i + 2] - contact_time)
        pause = float(t[two.first - two.stride] - t[one.last + one.stride])
        events.append(Event(motion, np.unique(frames[clear]), start, turned, pause, float(np.diff(instants)[i : i + 2].min())))
    return events
