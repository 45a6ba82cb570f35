# SPDX-License-Identifier: Apache-2.0
"""Two questions to an HDF5 file, by libhdf5 itself: is it whole, and how many rows has a dataset?"""
import ctypes

_names = ("libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5_serial.so", "libhdf5.so")
_library = None
for _name in _names:
    try:
        _library = ctypes.CDLL(_name)
        break
    except OSError:
        pass

if _library:
    for _function, _result, _arguments in (
            ("H5Fopen", ctypes.c_int64, [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64]),
            ("H5Fclose", ctypes.c_int, [ctypes.c_int64]),
            ("H5Aopen", ctypes.c_int64, [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]),
            ("H5Aread", ctypes.c_int, [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]),
            ("H5Aclose", ctypes.c_int, [ctypes.c_int64]),
            ("H5Dopen2", ctypes.c_int64, [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]),
            ("H5Dget_space", ctypes.c_int64, [ctypes.c_int64]),
            ("H5Dclose", ctypes.c_int, [ctypes.c_int64]),
            ("H5Sget_simple_extent_dims", ctypes.c_int, [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]),
            ("H5Sclose", ctypes.c_int, [ctypes.c_int64]),
            ("H5Eset_auto2", ctypes.c_int, [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p])):
        getattr(_library, _function).restype = _result
        getattr(_library, _function).argtypes = _arguments
    _library.H5open()
    _library.H5Eset_auto2(0, None, None)


def available():
    return _library is not None


def look(path, dataset):
    """(complete, rows): the attribute `complete` of a file, and the rows of a dataset; None for what is missing. OSError: no HDF5 file."""
    file = _library.H5Fopen(path.encode(), 0, 0)
    if file < 0:
        raise OSError(f"{path} is not an HDF5 file")
    complete = rows = None
    attribute = _library.H5Aopen(file, b"complete", 0)
    if attribute >= 0:
        value = ctypes.c_int64(-1)
        native = ctypes.c_int64.in_dll(_library, "H5T_NATIVE_INT64_g")
        if _library.H5Aread(attribute, native, ctypes.byref(value)) >= 0:
            complete = value.value
        _library.H5Aclose(attribute)
    data = _library.H5Dopen2(file, dataset.encode(), 0)
    if data >= 0:
        sizes = (ctypes.c_uint64 * 8)()
        space = _library.H5Dget_space(data)
        _library.H5Sget_simple_extent_dims(space, sizes, None)
        rows = sizes[0]
        _library.H5Sclose(space)
        _library.H5Dclose(data)
    _library.H5Fclose(file)
    return complete, rows
