// SPDX-License-Identifier: Apache-2.0
/// @file
/// An HDF5 file driver over an open descriptor that remembers a failed write instead of reporting it.
///
/// When a write fails (full disk, quota, size limit), HDF5 1.10 can neither close the dataset nor the file, and the process crashes at exit
/// when the library cleans up. Through this driver HDF5 never sees the failure; whoever opened the file looks at `lost` and discards the
/// file.
#ifndef CAROM_IO_HDF5_DRIVER_H
#define CAROM_IO_HDF5_DRIVER_H

#include <hdf5.h>
#include <stdbool.h>

typedef struct carom_hdf5_medium {
    int descriptor;  ///< open for reading and writing; stays open when HDF5 closes the file
    hid_t driver;    ///< registered with HDF5 as long as the file is open
    int lost;        ///< errno of the first write that failed, 0 while all is well. Nothing is written after it.
} carom_hdf5_medium;

/// Creates an HDF5 file on the medium, which must outlive it. Objects that are left open are closed with the file; no times are recorded.
/// @return the file, negative when it could not be created
hid_t carom_hdf5_create_file(const char *name, carom_hdf5_medium *medium);
/// Closes the file. The descriptor stays open, so that its own closing can be checked.
bool carom_hdf5_close_file(hid_t file, carom_hdf5_medium *medium);

#endif
