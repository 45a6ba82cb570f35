# SPDX-License-Identifier: Apache-2.0
"""Exact sets: unions of convex polytopes."""
from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .outcomes import Outcomes


@dataclass(frozen=True, repr=False, eq=False)
class Polytope:
    """One convex piece, as the hull of its vertices and as the intersection of half-spaces. u are contact velocities, n of them.

    Attributes
    ----------
    dimension : int
        Of its affine hull: 0 a point, 1 a segment, ...
    velocity : ndarray, (vertices, nv)
        Generalised velocities of the vertices [m/s, rad/s].
    contact_velocity : ndarray, (vertices, n)
        Contact velocities of the vertices [m/s], per contact the normal, then the tangents.
    exact : list of list of Fraction, or None
        The same numbers exactly.
    equalities : tuple of ndarray, (k, n) and (k,)
        a and b with a.u + b = 0.
    inequalities : tuple of ndarray, (k, n) and (k,)
        a and b with a.u + b >= 0, one for each facet.
    """

    dimension: int
    velocity: NDArray[np.float64]
    contact_velocity: NDArray[np.float64]
    exact: list[list[Fraction]] | None
    equalities: tuple[NDArray[np.float64], NDArray[np.float64]]
    inequalities: tuple[NDArray[np.float64], NDArray[np.float64]]

    def __repr__(self) -> str:
        return f"<carom.Polytope: {_count_vertices(len(self.velocity))}, dimension {self.dimension}>"


def _count_vertices(count: int) -> str:
    return "1 vertex" if count == 1 else f"{count} vertices"


class Polytopes(Outcomes):
    """An exact set of outcomes: a union of polytopes. Its rows are their vertices, piece after piece.

    `info["certificate"]` says what it is of the set: exact, inner, outer or none.
    """

    __slots__ = ("_outer", "_pieces")

    _outer: Polytopes | None
    _pieces: list[Polytope] | None

    @classmethod
    def _make(cls, *arguments: Any) -> Self:
        made = super()._make(*arguments)
        made._outer = None
        made._pieces = None
        return made

    @property
    def outer(self) -> Polytopes | None:
        """A certified outer set that an unfinished run found; None for none."""
        return self._outer

    @property
    def pieces(self) -> list[Polytope]:
        """The pieces."""
        if self._pieces is None:
            self._pieces = self._make_pieces()
        return list(self._pieces)

    def _make_pieces(self) -> list[Polytope]:
        index = self["piece"]
        starts: Any = np.flatnonzero(np.r_[True, index[1:] != index[:-1]]) if len(index) else []
        u, n = self.contact_velocity, self.impact.contacts * (1 + self.impact.tangent_dim)
        made = []
        for first, end in zip(starts, [*starts[1:], len(index)]):
            rows = {name: np.reshape(self[name][first], (-1, n)) for name in ("planes", "facets")}
            texts = self["exact"][first:end]
            made.append(
                Polytope(
                    int(self["piece_dimension"][first]),
                    self.velocity[first:end],
                    u[first:end],
                    [[Fraction(number) for number in text.split()] for text in texts] if all(texts) else None,
                    (rows["planes"], np.asarray(self["plane_offsets"][first])),
                    (rows["facets"], np.asarray(self["facet_offsets"][first])),
                )
            )
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        restore, arguments = super().__reduce__()
        return _restore_outer, (restore, arguments, self._outer)

    def __repr__(self) -> str:
        count, about = self.info["pieces"], f"{self.info['certificate']}, {self.info['verdict']}"
        return f"<carom.Polytopes: {count} piece{'s' * (count != 1)}, {_count_vertices(len(self))}, {about}{self._say_caveats()}>"


def _restore_outer(restore: Any, arguments: Any, outer: Polytopes | None) -> Polytopes:
    made: Polytopes = restore(*arguments)
    made._outer = outer
    return made
