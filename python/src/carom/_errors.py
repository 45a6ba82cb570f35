# SPDX-License-Identifier: Apache-2.0
"""Exceptions and warnings of the package."""
from __future__ import annotations

import warnings

from ._carom import InputError, InternalError, UnsupportedError

__all__ = ["Incomplete", "InputError", "InternalError", "UnsupportedError", "warn_incomplete"]


class Incomplete(UserWarning):
    """Part of what was asked for is missing: `info["verdict"]` says why, and what was found is there."""


def warn_incomplete(law: str, verdict: str, level: int) -> None:
    """Warn the caller `level` calls above."""
    warnings.warn(f"{law}: the answer is {verdict}: what was found is there", Incomplete, stacklevel=level + 1)
