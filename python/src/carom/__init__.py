# SPDX-License-Identifier: Apache-2.0
"""Sets of post-impact velocities of rigid-body systems: arrays in, sets out::

    impact = carom.Impact(mass=M, normal=Jn, tangent=Jt, friction=mu, velocity=v)
    out = impact.sample(samples=2**16, seed=1)
    out.velocity, out.info

Every number comes from the C library carom; laws, options and columns come from its tables. All quantities are in SI units.
"""
from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from . import _carom
from ._errors import Caveat, Incomplete, InputError, InternalError, UnsupportedError
from .files import read
from .geometry import Geometry
from .impact import Impact
from .laws import Column, Law, Option, law, laws
from .lcp import enumerate_lcp, solve_lcp, solvers
from .many import Many, many_seed, sample_many
from .outcomes import Outcomes
from .polytopes import Polytope, Polytopes
from .questions import Bound, Containment, Distance, Maximum
from .scene import Scene, load
from .worst import Worst, worst

if TYPE_CHECKING:
    from .adapters.drake import from_drake
    from .adapters.mujoco import from_mujoco
    from .adapters.pinocchio import from_pinocchio
    from .comparison import compare
    from .explorer import explore

__version__: str = _carom.version

# Functions that are loaded when they are used, because they need other packages: name and module.
_LATER = {
    "compare": "comparison",
    "explore": "explorer",
    "from_drake": "adapters.drake",
    "from_mujoco": "adapters.mujoco",
    "from_pinocchio": "adapters.pinocchio",
}

# In the order of the reference.
__all__ = [
    "Impact", "from_mujoco", "from_pinocchio", "from_drake", "Geometry", "load", "Scene", "laws", "law", "Law", "Option", "Column",
    "Outcomes", "Maximum", "Bound", "Containment", "Distance", "worst", "Worst", "Polytopes", "Polytope", "compare", "explore", "read", "sample_many", "Many",
    "many_seed", "solve_lcp", "enumerate_lcp", "solvers", "InputError", "UnsupportedError", "InternalError", "Caveat", "Incomplete",
]  # fmt: skip

# A child of fork has none of the threads that OpenMP keeps for the next computation, and would wait for them.
os.register_at_fork(before=_carom.release_threads)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'carom' has no attribute {name!r}")
    return getattr(importlib.import_module(f"carom.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
