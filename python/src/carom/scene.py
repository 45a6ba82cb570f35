# SPDX-License-Identifier: Apache-2.0
"""Scene files: an impact, and options for laws."""
from __future__ import annotations

import os
import warnings
from typing import Any

from . import _carom
from ._ask import Asked
from .files import one_at_a_time
from .impact import Impact


class Scene(Asked):
    """A scene file, read and checked: see `load`. Laws are asked about its impact, with the options that it gives unless others are given.

    Attributes
    ----------
    path, name, hash : str
        The file, its name, and the SHA-256 of its bytes and those of its model.
    law : str or None
        The law that the scene names.
    warnings : tuple of str
        What is odd about the scene.
    settings : dict
        Options of laws that the scene gives, by name, as texts.
    impact : Impact
        The impact that it describes.
    """

    __slots__ = ("path", "name", "hash", "law", "warnings", "settings", "impact", "_handle", "__weakref__")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with one_at_a_time():
            self._handle = _carom.scene_read(os.fspath(path))
        self.path, self.name, self.hash, self.law, self.warnings = _carom.scene_about(self._handle)
        self.settings: dict[str, str] = dict(_carom.scene_settings(self._handle))
        self.impact = Impact._wrap(_carom.scene_impact(self._handle))

    def _asked(self) -> tuple[Impact, Any, str | None]:
        return self.impact, self._handle, self.law

    def __reduce__(self) -> tuple[Any, ...]:
        return Scene, (os.path.abspath(self.path),)

    def __repr__(self) -> str:
        return f"<carom.Scene {self.name!r} of {self.path}: {self.impact!r}>"


def load(path: str | os.PathLike[str]) -> Scene:
    """Read a scene file (YAML or JSON) with the model that it names.

    Parameters
    ----------
    path : path-like
        The scene.

    Returns
    -------
    Scene
        `load(path).impact` is its impact; `load(path).sample()` samples it with the scene's options, as the command does.

    Raises
    ------
    InputError
        With file, line, key and rule.
    OSError
        When a file cannot be read.
    """
    scene = Scene(path)
    for sentence in scene.warnings:
        warnings.warn(sentence, UserWarning, stacklevel=2)
    return scene
