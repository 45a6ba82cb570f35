# SPDX-License-Identifier: Apache-2.0
"""Result files."""
from __future__ import annotations

import contextlib
import os
import secrets
import stat
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
    """One user of libhdf5 at a time, which need not be made for several threads; h5py may share ours, and has a lock of its own.

    That lock comes first: a function that h5py calls holds it already.
    """
    h5py = sys.modules.get("h5py._objects")
    with h5py.phil if h5py is not None else contextlib.nullcontext(), _lock:
        yield


# The law under which a file holds a certified outer set is that of the set with this ending.
_OUTER = "-outer"
# And that of what solutions pass through.
_REACHED = "-reached"

_forks: list[contextlib.ExitStack] = []


def _before_fork() -> None:
    held = contextlib.ExitStack()
    held.enter_context(one_at_a_time())
    _forks.append(held)


def _after_fork() -> None:
    _forks.pop().close()


# A child of os.fork has the locks of no other thread: while one reads or writes, forks wait, and libhdf5 is in order in the child.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def write(out: Outcomes, path: str | os.PathLike[str], name: str) -> None:
    """Write a result file."""
    outer = out.outer if isinstance(out, Polytopes) else None
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
            None if outer is None else (outer._table._handle, outer._result._handle),
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
    _, found = read_all(path)
    answers = {out.law: out for out in found}
    # What solutions pass through stands beside the set that it belongs to.
    sets = [name for name in answers if not name.endswith(_REACHED)]
    if law is None and len(sets) == 1:
        law = sets[0]
    if law not in answers:
        which = "say which law" if law is None else f"there is no law '{law}'"
        raise InputError(f"{os.fspath(path)}: {which}; the file holds {', '.join(answers) or 'none'}")
    return answers[law]


def read_all(path: str | os.PathLike[str]) -> tuple[str, list[Outcomes]]:
    """Read the outcomes of all laws of a result file.

    Returns
    -------
    name : str
        Of the scene or impact.
    outcomes : list of Outcomes
        One for each law; they share the impact.
    """
    with one_at_a_time():
        name, handle, answers = _carom.result_read(os.fspath(path))
    impact = Impact._wrap(handle)
    made: list[Outcomes] = []
    outer: dict[str, Polytopes] = {}
    for law, outcomes, result, settings, keep, extent in answers:
        name_of_set = law.removesuffix(_OUTER)
        arguments = (impact, name_of_set, outcomes, result, None, settings, extent, 0.0, keep)
        if name_of_set != law:
            outer[name_of_set] = Polytopes._make(*arguments)
        else:
            made.append((Polytopes if law.startswith("halm-posa-exact") else Outcomes)._make(*arguments))
    # A certified outer set belongs to the set whose run found it.
    for one in made:
        if isinstance(one, Polytopes):
            one._outer = outer.get(one.law)
    return name, made


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file of text under a temporary name, then rename it: it appears whole or not at all."""
    try:
        os.fsencode(path).index(b"\0")
    except UnicodeEncodeError:
        raise InputError(f"{ascii(os.fspath(path))}: the name has a lone surrogate, which no file has") from None
    except ValueError:
        pass
    else:
        raise InputError(f"{ascii(os.fspath(path))}: the name has a zero byte") from None
    place = os.path.realpath(path)
    if os.path.exists(place) and not os.path.isfile(place):
        raise InputError(f"{os.fspath(path)}: it is not a file that can be replaced")
    temporary = os.path.join(os.path.dirname(place), f".carom-{secrets.token_hex(8)}{os.path.splitext(place)[1]}")
    try:
        # With the permissions of any file that the user makes, or of the one that it replaces.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        if os.path.exists(place):
            os.chmod(temporary, stat.S_IMODE(os.stat(place).st_mode))
        os.replace(temporary, place)
    except BaseException:
        os.unlink(temporary)
        raise
