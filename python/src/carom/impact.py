# SPDX-License-Identifier: Apache-2.0
"""The impact: a rigid-body system frozen at the instant several contacts collide."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import as_coefficients, as_matrix, as_names, as_reals, as_vector, repeat_texts, split_exact
from ._ask import Asked
from ._errors import InputError, warn_user
from .geometry import Geometry, as_place
from .questions import Bound, ask_bound


class Impact(Asked):
    """A validated impact; immutable, and shared between threads without harm.

    Parameters
    ----------
    mass : array_like, (nv, nv)
        Mass matrix M, symmetric positive definite.
    normal : array_like, (contacts, nv)
        Jn: `normal @ v` are the separation speeds [m/s], positive where contacts open.
    tangent : array_like, (contacts * tangent_dim, nv), optional
        Jt, contact by contact: one row for each contact (planar) or two (spatial) [m/s]. Left out: no tangents move, planar.
    friction : float or array_like, (contacts,), optional
        Coulomb coefficients, at least 0. Left out: 0.
    velocity : array_like, (nv,)
        Pre-impact velocity v- [m/s, rad/s].
    restitution : float or array_like, (contacts,), optional
        Between 0 and 1. Left out: 0.
    names : sequence of str, optional
        Of the contacts. Left out: A, B, ...
    velocity_names : sequence of str, optional
        What each velocity is of, such as a joint. Left out: v.1, v.2, ... where names are shown.
    velocity_turns : sequence of bool, optional
        Which velocities are angular ones [rad/s]. Left out: not known.
    geometry : Geometry, optional
        Where the contacts are. Left out: not known.

    Raises
    ------
    InputError
        Names the matrix and entry, and the rule that it breaks.

    Warns
    -----
    UserWarning
        For what is seldom meant: a mass matrix that is nearly singular, contacts with the same rows or opposite normals, and, where the
        geometry says so, contacts that are deep or between neighbouring links.

    Notes
    -----
    All of them may have exact numbers, which exact sets take as they are: `fractions.Fraction`, `decimal.Decimal`, or texts such as
    "1/3" and "0.1", also among whole numbers and floats.
    """

    __slots__ = ("_handle", "_about", "__weakref__")

    def __init__(
        self,
        mass: ArrayLike,
        normal: ArrayLike,
        tangent: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        *,
        restitution: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        velocity_names: Sequence[str] | None = None,
        velocity_turns: Sequence[bool] | None = None,
        geometry: Geometry | None = None,
    ) -> None:
        if velocity is None:
            raise InputError("velocity: the pre-impact velocity is missing")
        # Numbers, and the texts of those that are exact.
        given = {"mass": mass, "normal": normal, "tangent": tangent, "friction": friction, "velocity": velocity}
        given["restitution"] = restitution
        split = [split_exact(name, value) for name, value in given.items()]
        mass, normal, tangent, friction, velocity, restitution = (numbers for numbers, _ in split)
        written = [texts for _, texts in split]
        mass = as_reals("mass", mass, 2)
        nv = mass.shape[0]
        mass = as_matrix("mass", mass, nv, nv)
        normal = as_matrix("normal", normal, None, nv)
        contacts = normal.shape[0]
        if not nv or not contacts:
            raise InputError(f"{'normal' if nv else 'mass'}: it has no rows, and at least one is needed")
        dimension = 1
        if tangent is not None:
            tangent = as_matrix("tangent", tangent, None, nv)
            dimension = tangent.shape[0] // contacts
            if dimension not in (1, 2) or dimension * contacts != tangent.shape[0]:
                raise InputError(f"tangent: it has {tangent.shape[0]} rows, and must have one or two for each of {contacts} contacts")
        texts = None
        if any(one is not None for one in written):
            counts = (nv * nv, contacts * nv, contacts * dimension * nv, contacts, nv, contacts)
            texts = tuple(repeat_texts(one, count) for one, count in zip(written, counts))
        self._create(
            nv,
            contacts,
            dimension,
            mass,
            normal,
            tangent,
            as_coefficients("friction", friction, contacts),
            as_coefficients("restitution", restitution, contacts),
            as_vector("velocity", velocity, nv),
            as_names(names, contacts),
            as_place(velocity_names, velocity_turns, geometry, nv, contacts, dimension),
            texts,
        )
        self._review()

    def _create(self, *arguments: Any) -> None:
        self._handle = _carom.impact_create(*arguments)
        self._about = _carom.impact_about(self._handle)

    def _review(self) -> Impact:
        """Say what is odd about an impact that is new."""
        for sentence in _carom.impact_review(self._handle):
            warn_user(sentence)
        return self

    @classmethod
    def _wrap(cls, handle: Any) -> Impact:
        made = cls.__new__(cls)
        made._handle = handle
        made._about = _carom.impact_about(handle)
        return made

    @classmethod
    def from_delassus(
        cls,
        delassus: ArrayLike,
        velocity: ArrayLike,
        friction: ArrayLike | None = None,
        *,
        tangent_dim: int | None = None,
        restitution: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> Impact:
        """An impact in contact space, whose generalised velocity is the contact velocity.

        Parameters
        ----------
        delassus : array_like, (n, n)
            W = J M^-1 J', symmetric positive semidefinite [1/kg]; per contact the normal, then the tangents.
        velocity : array_like, (n,)
            Pre-impact contact velocity u [m/s].
        friction : float or array_like, (contacts,), optional
            Coulomb coefficients. Left out: 0.
        tangent_dim : int, optional
            1 planar, 2 spatial. Left out: what the sizes of `friction`, `restitution` or `names` tell; else planar where n is even.
        restitution, names
            As of an impact with a mass matrix.

        Raises
        ------
        InputError
            For sizes; for W that is asymmetric beyond 1e-2 of its largest entry, or clearly indefinite; for a velocity outside the range of
            W, which no system has.

        Notes
        -----
        Fractions, decimals and texts such as "1/3" stand for the nearest doubles: exact sets round a Delassus operator in any case, so
        that rows that depend on each other still do.
        """
        given = {"delassus": delassus, "velocity": velocity, "friction": friction, "restitution": restitution}
        delassus, velocity, friction, restitution = (split_exact(name, value)[0] for name, value in given.items())
        delassus = as_reals("delassus", delassus, 2)
        n = delassus.shape[0]
        delassus = as_matrix("delassus", delassus, n, n)
        if tangent_dim is None:
            told = next((np.size(x) for x in (friction, restitution, names) if x is not None and np.ndim(x) == 1), 0)
            tangent_dim = n // told - 1 if told else 1 if n % 2 == 0 else 2
        if tangent_dim not in (1, 2) or n == 0 or n % (1 + tangent_dim):
            raise InputError(f"delassus: {n} rows are not those of contacts with {tangent_dim} tangents")
        contacts = n // (1 + tangent_dim)
        handle = _carom.impact_create_delassus(
            contacts,
            tangent_dim,
            delassus,
            as_vector("velocity", velocity, n),
            as_coefficients("friction", friction, contacts),
            as_coefficients("restitution", restitution, contacts),
            as_names(names, contacts),
        )
        return cls._wrap(handle)._review()

    # --------------------------------------------------------------------------------------------------------- what it is

    @property
    def nv(self) -> int:
        """Number of generalised velocities."""
        return self._about[0]

    @property
    def contacts(self) -> int:
        """Number of contacts."""
        return self._about[1]

    @property
    def tangent_dim(self) -> int:
        """1 planar, 2 spatial."""
        return self._about[2]

    @property
    def has_system(self) -> bool:
        """False for an impact in contact space, which has no mass matrix."""
        return self._about[3]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the contacts."""
        return self._about[4]

    @property
    def velocity_names(self) -> tuple[str, ...] | None:
        """Names of the velocities; None where nobody gave them."""
        names: tuple[str, ...] | None = _carom.impact_names(self._handle)[0]
        return names

    @property
    def velocity_turns(self) -> tuple[bool, ...] | None:
        """Which velocities are angular ones [rad/s]; None where it is not known."""
        turns: tuple[bool, ...] | None = _carom.impact_names(self._handle)[1]
        return turns

    @property
    def geometry(self) -> Geometry | None:
        """Where the contacts are; None where it is not known."""
        place = _carom.impact_place(self._handle)
        if place is None:
            return None
        points, normals, tangents, bodies, geoms = place
        qpos = _carom.impact_position(self._handle)
        return Geometry(
            np.asarray(points),
            np.asarray(normals),
            np.asarray(tangents),
            tuple(zip(bodies[::2], bodies[1::2])),
            tuple(zip(geoms[::2], geoms[1::2])),
            None if qpos is None else np.asarray(qpos),
        )

    @property
    def velocity_scale(self) -> float:
        """Largest pre-impact contact velocity [m/s]: the scale of tolerances."""
        return self._about[5]

    @property
    def initial_energy(self) -> float:
        """Kinetic energy before the impact [J]."""
        return self._about[6]

    def _array(self, name: str) -> NDArray[np.float64]:
        return np.asarray(_carom.impact_array(self._handle, name))

    def _system_array(self, name: str) -> NDArray[np.float64] | None:
        return self._array(name) if self.has_system else None

    @property
    def mass(self) -> NDArray[np.float64] | None:
        """M, (nv, nv); None in contact space."""
        return self._system_array("mass")

    @property
    def normal(self) -> NDArray[np.float64] | None:
        """Jn, (contacts, nv); None in contact space."""
        return self._system_array("normal")

    @property
    def tangent(self) -> NDArray[np.float64] | None:
        """Jt, (contacts * tangent_dim, nv), contact by contact; None in contact space."""
        return self._system_array("tangent")

    @property
    def friction(self) -> NDArray[np.float64]:
        """Coulomb coefficients, (contacts,)."""
        return self._array("friction")

    @property
    def restitution(self) -> NDArray[np.float64]:
        """Coefficients of restitution, (contacts,)."""
        return self._array("restitution")

    @property
    def velocity(self) -> NDArray[np.float64]:
        """Pre-impact velocity v-, (nv,) [m/s, rad/s]; in contact space the contact velocity."""
        return self._array("velocity")

    @property
    def delassus(self) -> NDArray[np.float64]:
        """W = J M^-1 J', (n, n) [1/kg]; per contact the normal, then the tangents."""
        return self._array("delassus")

    def contact_velocity(self, velocity: ArrayLike | None = None) -> NDArray[np.float64]:
        """J v, (n,) [m/s], per contact the normal, then the tangents; of the pre-impact velocity where none is given, of each row of several.

        Raises InputError for a velocity that has not nv entries, or entries that are not finite.
        """
        v = self.velocity if velocity is None else self._velocities(velocity)
        u = np.empty((*v.shape[:-1], self.contacts * (1 + self.tangent_dim)))
        for own, of in zip(np.atleast_2d(u), np.atleast_2d(v)):
            _carom.impact_contact_velocity(self._handle, of, own)
        return u

    def kinetic_energy(self, velocity: ArrayLike | None = None) -> Any:
        """v'Mv/2 [J]; of the pre-impact velocity where none is given, an array for rows of several. In contact space the least energy of any
        such system. Raises InputError as `contact_velocity` does."""
        v = self.velocity if velocity is None else self._velocities(velocity)
        energies = [_carom.impact_kinetic_energy(self._handle, of) for of in np.atleast_2d(v)]
        return energies[0] if v.ndim == 1 else np.array(energies, dtype=np.float64)

    def bound(
        self,
        expression: str,
        *,
        planes: int = 8,
        seconds: float | None = 10.0,
        start: ArrayLike | None = None,
        friction: ArrayLike | None = None,
    ) -> Bound:
        """A number that no solution passes, as `carom bound --max EXPR` proves it.

        Parameters
        ----------
        expression : str
            A sum of multiples of velocities, as of `Outcomes.max`; with a minus in front its bound is that of the least value. No impulses.
        planes : int
            Most planes that refine the fan.
        seconds : float, optional
            Budget of time; None: none, so that the answer does not depend on the machine.
        start : array_like, (k, nv), optional
            Vertices of a polytope of velocities before the impact; the bound holds for all of it.
        friction : array_like, (contacts, 2), optional
            Least and largest coefficient of each contact; the bound holds for all between, which may change during the impact.

        Returns
        -------
        Bound
            A float with `unit`, `method`, `energy`, `planes`, `simplices`, `reason`.

        Raises
        ------
        InputError
            For what is no sum of velocities, and numbers out of range.
        """
        return ask_bound(self, expression, planes, seconds, start, friction)

    def _velocities(self, velocity: ArrayLike) -> NDArray[np.float64]:
        """One velocity, or rows of several."""
        v = as_reals("velocity", velocity)
        if v.ndim not in (1, 2) or v.shape[-1] != self.nv:
            raise InputError(f"velocity: it has the shape {v.shape}, and must have {self.nv} entries, or rows of as many")
        if not np.isfinite(v).all():
            raise InputError("velocity: it has entries that are not finite")
        return v

    def _asked(self) -> tuple[Impact, Any, str | None]:
        return self, None, None

    # ------------------------------------------------------------------------------------------------------------ copying

    def __reduce__(self) -> tuple[Any, ...]:
        if self.has_system:
            sizes = (self.nv, self.contacts, self.tangent_dim)
            numbers = (self.mass, self.normal, self.tangent, self.friction, self.restitution, self.velocity)
            place = as_place(self.velocity_names, self.velocity_turns, self.geometry, *sizes)
            return _make, (*sizes, *numbers, self.names, place, _carom.impact_texts(self._handle))
        return _make_delassus, (self.delassus, self.velocity, self.friction, self.tangent_dim, self.restitution, self.names)

    def __copy__(self) -> Impact:
        return self

    def __deepcopy__(self, memo: Any) -> Impact:
        return self

    def __repr__(self) -> str:
        names = ", ".join(self.names[:6]) + (", ..." if self.contacts > 6 else "")
        space = "planar" if self.tangent_dim == 1 else "spatial"
        of = f"{self.nv} velocities" if self.has_system else "in contact space"
        return f"<carom.Impact: {of}, {self.contacts} {space} contact{'s' * (self.contacts != 1)} {names}>"


def _make(*arguments: Any) -> Impact:
    made = Impact.__new__(Impact)
    made._create(*arguments)
    return made


def _make_delassus(delassus: Any, velocity: Any, friction: Any, tangent_dim: int, restitution: Any, names: Any) -> Impact:
    return Impact.from_delassus(delassus, velocity, friction, tangent_dim=tangent_dim, restitution=restitution, names=names)
