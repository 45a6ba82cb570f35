# SPDX-License-Identifier: Apache-2.0
"""Exceptions and warnings of the package."""
from __future__ import annotations

import warnings

from ._carom import InputError, InternalError, UnsupportedError

__all__ = ["Caveat", "Incomplete", "InputError", "InternalError", "UnsupportedError", "warn_caveats", "warn_incomplete"]


class Incomplete(UserWarning):
    """Part of what was asked for is missing, and what was found is there: `info["verdict"]` says why, or the warning itself, of samples that
    did not terminate."""


class Caveat(UserWarning):
    """What stands beside an answer: nothing collides, or something is given that the law does not use. `caveats` of the answer has it."""


def warn_caveats(sentences: tuple[str, ...], level: int) -> None:
    """Warn the caller `level` calls above of each sentence."""
    for sentence in sentences:
        warnings.warn(sentence, Caveat, stacklevel=level + 1)


def warn_incomplete(sentence: str, level: int) -> None:
    """Warn the caller `level` calls above."""
    warnings.warn(sentence, Incomplete, stacklevel=level + 1)
