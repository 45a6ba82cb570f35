# SPDX-License-Identifier: Apache-2.0
"""Result files."""
from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

from . import _carom
from ._errors import InputError
from .impact import Impact
from .outcomes import Outcomes
from .polytopes import Polytopes

_lock = threading.RLock()


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """One user of libhdf5 at a time, which is not made for several threads; h5py may share ours, and has a lock of its own."""
    h5py = sys.modules.get("h5py._objects")
    with _lock, h5py.phil if h5py is not None else contextlib.nullcontext():
        yield


def write(out: Outcomes, path: str | os.PathLike[str], name: str) -> None:
    """Write a result file."""
    with one_at_a_time():
        _carom.result_write(
            os.fspath(path),
            name,
            out._scene,
            out.impact._handle,
            out.law,
            out._settings,
            out._table._handle,
            out._result._handle,
            out.keep,
            None if out.keep == "all" else out._get_extent(),
        )


def read(path: str | os.PathLike[str], law: str | None = None) -> Outcomes:
    """Read the outcomes of a result file, which `Outcomes.save` or the command wrote.

    Parameters
    ----------
    path : path-like
        The file.
    law : str, optional
        Whose outcomes; needed where the file holds those of several laws.

    Returns
    -------
    Outcomes
        With the impact that the file holds. `Polytopes` for exact sets.

    Raises
    ------
    InputError
        For a file that carom did not write, or that is damaged; and when `law` is to be given, with the laws that there are.
    OSError
        When the file cannot be read.
    """
    with one_at_a_time():
        _, handle, answers = _carom.result_read(os.fspath(path))
    names = [answer[0] for answer in answers]
    if law is None and len(names) == 1:
        law = names[0]
    if law not in names:
        which = "say which law" if law is None else f"there is no law '{law}'"
        raise InputError(f"{os.fspath(path)}: {which}; the file holds {', '.join(names) or 'none'}")
    name, outcomes, result, settings, keep, extent = answers[names.index(law)]
    kind = Polytopes if name == "halm-posa-exact" else Outcomes
    made: Outcomes = kind._make(Impact._wrap(handle), name, outcomes, result, None, settings, extent, 0.0)
    made.keep = keep
    return made
