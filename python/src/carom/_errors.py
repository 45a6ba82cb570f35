# SPDX-License-Identifier: Apache-2.0
"""Exceptions and warnings of the package."""
from __future__ import annotations

import os
import sys
import warnings

from ._carom import InputError, InternalError, UnsupportedError

__all__ = ["Caveat", "Incomplete", "InputError", "InternalError", "UnsupportedError", "warn_caveats", "warn_incomplete", "warn_user"]


class Incomplete(UserWarning):
    """Part of what was asked for is missing, and what was found is there: `info["verdict"]` says why, or the warning itself, of samples that
    did not terminate."""


class Caveat(UserWarning):
    """What stands beside an answer: nothing collides, something is given that the law does not use, or an outcome may lie outside the set.
    `caveats` of the answer has it."""


def warn_caveats(sentences: tuple[str, ...], level: int) -> None:
    """Warn the caller `level` calls above of each sentence."""
    for sentence in sentences:
        warnings.warn(sentence, Caveat, stacklevel=level + 1)


def warn_incomplete(sentence: str, level: int) -> None:
    """Warn the caller `level` calls above."""
    warnings.warn(sentence, Incomplete, stacklevel=level + 1)


def warn_user(sentence: str) -> None:
    """Warn the first caller outside of the package, however deep inside it the sentence comes up."""
    package, level, frame = os.path.dirname(__file__), 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, UserWarning, stacklevel=level)
