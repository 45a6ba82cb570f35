# SPDX-License-Identifier: Apache-2.0
"""Options of the extraction, in one table."""
from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._errors import InputError
from ._input import is_number


def _option(default: Any, unit: str, text: str) -> Any:
    return field(default=default, metadata={"unit": unit, "text": text})


@dataclass(frozen=True)
class Options:
    """How impacts are extracted: keywords of `impacts`, and options of the command, which explains them."""

    noise: tuple[float, float] | None = _option(None, "m rad", "standard deviations of coordinates and of rotations; left out: estimated")
    contact_time: float = _option(3.5e-3, "s", "frames this close to an impact are left out: the contact lasts")
    window: float = _option(0.1, "s", "frames further from an impact are left out")
    least_frames: int = _option(4, "", "least number of frames on each side of an impact")
    reach: float = _option(0.01, "m", "largest distance of the lowest vertex from the plane at an impact")
    near: float = _option(2e-3, "m", "vertices this much higher than the lowest one touch, too")
    worst: float = _option(5.0, "", "largest chi2 per degree of freedom of a fit")
    doubt: float = _option(1e-3, "", "a second impact is seen where white noise would look like one with less than this probability; 0: never")
    floor_velocity: float = _option(5e-3, "m/s", "error of velocities that is not noise, added in quadrature")
    floor_spin: float = _option(0.05, "rad/s", "error of angular velocities that is not noise, added in quadrature")

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self) if each.name != "noise"):
            if not (is_number(getattr(self, name)) and getattr(self, name) >= 0):
                raise InputError(f"{name}: a number >= 0 is needed, not {getattr(self, name)!r}")
        if not (isinstance(self.least_frames, int) and self.least_frames >= 3):
            raise InputError(f"least_frames: a whole number >= 3 is needed, not {self.least_frames!r}")
        if self.noise is not None and not (np.shape(self.noise) == (2,) and all(is_number(x) and x > 0 for x in self.noise)):
            raise InputError(f"noise: two positive numbers are needed, or None, not {self.noise!r}")


_ROWS = [f"{each.name} : {each.type}\n    {each.metadata['text']} [{each.metadata['unit'] or 1}]; default {each.default}\n" for each in fields(Options)]
Options.__doc__ = f"{Options.__doc__}\n\nAttributes\n----------\n{''.join(_ROWS)}"
