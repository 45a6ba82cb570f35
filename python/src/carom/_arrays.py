# SPDX-License-Identifier: Apache-2.0
"""Arrays of callers as C takes them: float64, row-major, of the right shape."""
from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError

_FLOAT64 = np.dtype(np.float64)


def as_reals(name: str, value: Any, dimensions: int | None = None) -> NDArray[np.float64]:
    """`value` as a C-contiguous array of float64; itself where it is one.

    Missing dimensions are added in front, so that a single row passes for a matrix. None: as many as it has.
    """
    if not (type(value) is np.ndarray and value.dtype is _FLOAT64):
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise InputError(f"{name}: it has masked entries; numbers are needed")
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise InputError(f"{name}: not an array of numbers: {error}") from None
        if value.dtype.kind == "O":
            value = np.array([_read_exact(_place(name, at), entry)[0] for at, entry in np.ndenumerate(value)]).reshape(value.shape)
        if value.dtype.kind not in "fiub":
            raise InputError(f"{name}: real numbers are needed, not {value.dtype}")
        value = value.astype(np.float64)
    if dimensions is not None and value.ndim > dimensions:
        raise InputError(f"{name}: it has {value.ndim} dimensions, and at most {dimensions} are needed")
    while dimensions is not None and value.ndim < dimensions:
        value = value[np.newaxis]
    return value if value.flags.c_contiguous else np.ascontiguousarray(value)


def _place(name: str, index: tuple[int, ...]) -> str:
    return name + "".join(f"[{i}]" for i in index)


# Whole numbers up to this one are doubles.
_WHOLE = 2**53
# Numbers as texts: "p/q", or a decimal whose power of ten is of a size that doubles have.
_EXACT = re.compile(r"[+-]?(\d{1,4000}/\d{1,4000}|(\d{1,4000}\.?\d{0,4000}|\.\d{1,4000})(e[+-]?\d{1,3})?)", re.IGNORECASE | re.ASCII)


def _read_exact(name: str, entry: Any) -> tuple[float, str | None]:
    """A number, and its text where it is an exact one."""
    if isinstance(entry, (float, np.floating)):
        return float(entry), None
    if isinstance(entry, str) and not _EXACT.fullmatch(entry.strip()):
        raise InputError(f"{name}: real numbers are needed, not {entry!r}")
    try:
        if isinstance(entry, Decimal) and not (entry.is_finite() and abs(entry.adjusted()) < 1000):
            raise OverflowError
        exact = Fraction(entry.strip() if isinstance(entry, str) else entry)
        number = float(exact)
    except (TypeError, ValueError):
        raise InputError(f"{name}: real numbers are needed, not {entry!r}") from None
    except ZeroDivisionError:
        raise InputError(f"{name}: {entry!r} has a denominator of 0") from None
    except OverflowError:
        raise InputError(f"{name}: {entry!r} is too large for double precision") from None
    return number, f"{exact.numerator}/{exact.denominator}"


def split_exact(name: str, value: Any) -> tuple[Any, list[str | None] | None]:
    """Splits an array of fractions, decimals, texts such as "1/3", or whole numbers that no double has into numbers, and texts for exact
    computations.

    Other values stay as they are, with None. Whole numbers and fractions are exact; floats among them are what they are.
    """
    if value is None or (type(value) is np.ndarray and value.dtype is _FLOAT64) or isinstance(value, np.ma.MaskedArray):
        return value, None
    try:
        array = np.asarray(value, dtype=object) if isinstance(value, (list, tuple)) else np.asarray(value)
    except ValueError:
        return value, None
    if array.dtype.kind in "iu" and array.size and max(int(array.max()), -int(array.min())) > _WHOLE:
        array = array.astype(object)
    kinds = {type(entry) for entry in array.flat} if array.dtype.kind == "O" else set()
    exact = array.dtype.kind == "U" or any(issubclass(kind, (Fraction, Decimal, str)) for kind in kinds)
    if not exact and not (int in kinds and any(type(entry) is int and abs(entry) > _WHOLE for entry in array.flat)):
        return value, None
    read = [_read_exact(_place(name, at), entry) for at, entry in np.ndenumerate(array)]
    return np.array([number for number, _ in read]).reshape(array.shape), [text for _, text in read]


def repeat_texts(texts: list[str | None] | None, count: int) -> tuple[str | None, ...] | None:
    """Texts of `count` numbers; a single one is meant for all."""
    if texts is None:
        return None
    return tuple(texts * count if len(texts) == 1 else texts)


def as_number(name: str, value: Any) -> float:
    """A number as a float."""
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"{name}: {value!r} is not a number of double precision") from None


def as_matrix(name: str, value: Any, rows: int | None, columns: int | None) -> NDArray[np.float64]:
    """A matrix of this shape; None stands for any size."""
    matrix = as_reals(name, value, 2)
    if (rows is not None and matrix.shape[0] != rows) or (columns is not None and matrix.shape[1] != columns):
        wanted = " x ".join("any" if size is None else str(size) for size in (rows, columns))
        raise InputError(f"{name}: it is {matrix.shape[0]} x {matrix.shape[1]}, and must be {wanted}")
    return matrix


def as_vector(name: str, value: Any, size: int) -> NDArray[np.float64]:
    """A vector of this size; a matrix of one column passes, too."""
    vector = as_reals(name, value, 2)
    if 1 not in vector.shape or vector.size != size:
        raise InputError(f"{name}: it has the shape {np.shape(value)}, and must have {size} entries")
    return vector.reshape(size)


def as_coefficients(name: str, value: Any, contacts: int) -> NDArray[np.float64] | None:
    """One number for each contact; a single one is meant for all of them."""
    if value is None:
        return None
    if np.ndim(value) == 0:
        return np.full(contacts, as_reals(name, value, 1)[0])
    return as_vector(name, value, contacts)


def as_names(names: Sequence[str] | None, count: int, owner: str = "contact") -> tuple[str, ...] | None:
    """Names of the contacts, or of what the owner says."""
    if names is None:
        return None
    if not isinstance(names, (list, tuple, np.ndarray)) or len(names) != count or not all(isinstance(name, str) for name in names):
        key = "names" if owner == "contact" else f"{owner}_names"
        raise InputError(f"{key}: a list of {count} texts is needed, one for each {owner}")
    return tuple(str(name) for name in names)
