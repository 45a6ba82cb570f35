# SPDX-License-Identifier: Apache-2.0
"""Linear complementarity problems: z >= 0, W z + w >= 0, z.(W z + w) = 0."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import as_matrix, as_reals, as_vector
from ._errors import InputError, warn_incomplete


def solvers() -> dict[str, str]:
    """The LCP solvers of this build: names, and one line about each."""
    return dict(_carom.lcp_solvers())


def _problem(W: ArrayLike, w: ArrayLike) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    W = as_reals("W", W, 2)
    n = W.shape[0]
    return n, as_matrix("W", W, n, n), as_vector("w", w, n)


def solve_lcp(W: ArrayLike, w: ArrayLike, solver: str = "lemke") -> tuple[NDArray[np.float64], dict[str, Any]]:
    """One solution of an LCP, in any units; by default with Lemke's method, lexicographic (Cottle, Pang & Stone, ch. 4).

    Parameters
    ----------
    W : array_like, (n, n)
    w : array_like, (n,)
    solver : str
        One of `carom.solvers()`.

    Returns
    -------
    z : ndarray, (n,)
        The solution; where none was found, the last candidate or zeros.
    info : dict
        `verdict`, "complete" where z is verified; `residual`, ``max |min(z, W z + w)| / (1 + max |w|)``; `pivots`; `fallbacks`.

    Raises
    ------
    InputError
        For sizes, numbers that are not finite, an unknown solver.

    Warns
    -----
    Incomplete
        When there is no verified solution.
    """
    if not isinstance(solver, str):
        raise InputError(f"solver: {solver!r} is not the name of one")
    n, W, w = _problem(W, w)
    z = np.empty(n)
    verdict, residual, pivots, fallbacks = _carom.lcp_solve(n, W, w, solver, z)
    if verdict != "complete":
        more = "; there may be solutions all the same, and enumerate_lcp looks for them" if verdict == "ray" else ""
        warn_incomplete(f"{solver}: the answer is {verdict}: what was found is there{more}", 2)
    return z, {"verdict": verdict, "residual": residual, "pivots": pivots, "fallbacks": fallbacks}


def enumerate_lcp(W: ArrayLike, w: ArrayLike) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Every isolated solution of an LCP with at most 22 variables, by its 2^n complementary bases.

    Parameters
    ----------
    W : array_like, (n, n)
    w : array_like, (n,)

    Returns
    -------
    z : ndarray, (solutions, n)
    info : dict
        `complete`: it is proved that there are no others; `residual` of each, (solutions,).

    Raises
    ------
    InputError
        For sizes, and numbers that are not finite.
    """
    n, W, w = _problem(W, w)
    z, residuals, complete = _carom.lcp_enumerate(n, W, w)
    return np.frombuffer(z).reshape(-1, n), {"complete": complete, "residual": np.frombuffer(residuals)}
