# SPDX-License-Identifier: Apache-2.0
"""What is measured of outcomes: distance from the set, energy, impulses outside the friction cones, and how much of the set is reached.

Lengths are of contact velocities (2-norm), relative to the largest contact velocity before the impact.
"""
from __future__ import annotations

import warnings

import numpy as np

# Edges that stand for a round cone: an impulse on the cone may seem outside by (pi/64)^2/2 = 0.1 % of itself.
CONE_EDGES = 64
# Of the friction cones of time stepping in space.
EDGES_OF_MANY = 8


def energy_ratio(impact, velocities: np.ndarray) -> np.ndarray:
    before = impact.kinetic_energy(impact.velocity)
    return np.array([impact.kinetic_energy(v) for v in velocities]) / before


def outside_cones(impact, velocity: np.ndarray) -> float:
    """The part of v+ - v- that no impulses within the friction cones bring about, in the kinetic metric, relative to |v-|.

    Minimises |L'(v+ - v-) - L^-1 J' p| over p in the cones, with M = L L'; a necessary condition of every law with Coulomb friction, because
    the cones are convex: a sum of impulses within them is within them.
    """
    from scipy.optimize import nnls

    factor = np.linalg.cholesky(impact.mass)
    dim, rays = impact.tangent_dim, []
    for i, friction in enumerate(impact.friction):
        normal, tangents = impact.normal[i], impact.tangent[i * dim : (i + 1) * dim]
        if friction == 0:
            rays.append(normal)
        elif dim == 1:
            rays += [normal + friction * tangents[0], normal - friction * tangents[0]]
        else:
            for angle in np.arange(CONE_EDGES) * 2 * np.pi / CONE_EDGES:
                rays.append(normal + friction * (np.cos(angle) * tangents[0] + np.sin(angle) * tangents[1]))
    columns = np.linalg.solve(factor, np.array(rays).T)
    # Directions alone matter: with friction of 1e5, lengths would spoil the arithmetic.
    columns /= np.linalg.norm(columns, axis=0)
    _, residual = nnls(columns, factor.T @ (velocity - impact.velocity), maxiter=100 * columns.shape[1])
    return float(residual / np.linalg.norm(factor.T @ impact.velocity))


class Reference:
    """The set of an impact: exact where that finishes, otherwise walks and samples of time stepping in one cloud.

    gap
        0 for an exact set. Otherwise how far further walks lie from the cloud: the median and the largest; so far an outcome of the set may
        seem to be outside.
    """

    def __init__(self, impact, walks: int, further: int, samples: int = 0, seconds: float = 20, restitution: float | None = None):
        import carom

        self.impact = impact
        self.before = impact.contact_velocity(impact.velocity)
        self.speed = float(np.abs(self.before).max())
        self.exact = False
        bounce = {} if restitution is None else {"hypothesis": "stronge", "restitution": restitution}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.parts = []
            if impact.tangent_dim == 1 and impact.contacts <= 3 and restitution is None:
                try:
                    found = impact.exact(seconds=seconds)
                    if found.complete:
                        self.exact, self.parts = True, [found]
                except carom.UnsupportedError:
                    pass
            # Walks in space have round cones, but take too long with many contacts; time stepping has cones with edges.
            many = impact.tangent_dim == 2 and impact.contacts > 4
            kinds = [{"cone_edges": EDGES_OF_MANY}] if many else [{"sampler": "walk", "weights": w, **bounce} for w in ("mixed", "single")]
            drawn = [impact.sample(walks, seed=seed, **kind) for seed, kind in enumerate(kinds, 1)]
            if samples and impact.tangent_dim == 1:
                drawn.append(impact.sample(samples, seed=3))
            self.points = np.concatenate([part.contact_velocity for part in drawn])
            if self.exact:
                self.points = np.concatenate([self.points, self.parts[0].contact_velocity])
                self.gap = (0.0, 0.0)
            else:
                self.parts = drawn
                more = [impact.sample(further, seed=seed, **kind) for seed, kind in enumerate(kinds, 5)]
                lengths = self.distance(np.concatenate([part.contact_velocity for part in more]))
                self.gap = (float(np.median(lengths)), float(lengths.max()))

    def distance(self, contact_velocities: np.ndarray) -> np.ndarray:
        """From the set."""
        if not self.exact:
            return nearest(contact_velocities, np.concatenate([p.contact_velocity for p in self.parts])) / self.speed
        # Velocities of the impact with these contact velocities: v = v- + M^-1 J' W^+ (u - u-).
        dim = self.impact.tangent_dim
        rows = np.concatenate([[self.impact.normal[i], *self.impact.tangent[i * dim : (i + 1) * dim]] for i in range(self.impact.contacts)])
        inverse = np.linalg.solve(self.impact.mass, rows.T) @ np.linalg.pinv(self.impact.delassus, rcond=1e-11, hermitian=True)
        velocities = self.impact.velocity + (contact_velocities - self.before) @ inverse.T
        found = self.parts[0].contains(velocities)
        return np.atleast_1d(found.distance) / self.speed

    def uncovered(self, contact_velocities: np.ndarray) -> float:
        """The largest distance of a point of the set from the nearest of these."""
        return float(nearest(self.points, contact_velocities).max() / self.speed)

    def shown(self, contact_velocities: np.ndarray) -> float:
        """The least share, over the contacts, of the set's range of normal velocities that these span; NaN where nothing has a range."""
        stride = 1 + self.impact.tangent_dim
        low, high = self.points[:, ::stride].min(axis=0), self.points[:, ::stride].max(axis=0)
        mine = np.clip(contact_velocities[:, ::stride], low, high)
        wide = high - low > 1e-6 * self.speed
        return float(np.min((mine.max(axis=0) - mine.min(axis=0))[wide] / (high - low)[wide])) if wide.any() else float("nan")


def nearest(these: np.ndarray, those: np.ndarray) -> np.ndarray:
    """The distance of each of these points from the nearest of those."""
    from scipy.spatial import cKDTree

    return cKDTree(those).query(these)[0]
