// SPDX-License-Identifier: Apache-2.0
// An HDF5 file driver over an open descriptor: the callbacks that HDF5 calls for every piece of a file.
#include "io/hdf5/driver.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// One open file: HDF5's part first, as its drivers do.
typedef struct open_file {
    H5FD_t header;
    carom_hdf5_medium *medium;
    haddr_t allocated, end;
} open_file;

// The medium comes through the driver settings of the property list. What it held before is not looked at.
static H5FD_t *open_medium(const char *name, unsigned flags, hid_t access, haddr_t limit) {
    (void)name, (void)flags, (void)limit;
    carom_hdf5_medium *const *medium = H5Pget_driver_info(access);
    open_file *file = medium ? calloc(1, sizeof *file) : NULL;
    if (!file) return NULL;
    file->medium = *medium;
    return &file->header;
}

// The descriptor belongs to the caller, who checks its closing.
static herr_t close_medium(H5FD_t *file) {
    free(file);
    return 0;
}

// Small writes may be gathered, as in the standard driver.
static herr_t query_features(const H5FD_t *file, unsigned long *flags) {
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

// HDF5 keeps two ends: that of the addresses it has given out, and that of the bytes it has written.
static haddr_t get_allocated(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const open_file *)file)->allocated;
}

// HDF5 tells how much of the file it has given out.
static herr_t set_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((open_file *)file)->allocated = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const open_file *)file)->end;
}

// What lies beyond the end, or was lost, reads as zeros.
static herr_t read_medium(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *buffer) {
    (void)type, (void)transfer;
    const carom_hdf5_medium *medium = ((open_file *)file)->medium;
    char *rest = buffer;
    while (size) {
        const ssize_t count = pread(medium->descriptor, rest, size, (off_t)address);
        // Signals interrupt; anything else is a failure that HDF5 may see, because nothing is lost by it.
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (!count) break;
        rest += count;
        size -= (size_t)count;
        address += (haddr_t)count;
    }
    memset(rest, 0, size);
    return 0;
}

static herr_t write_medium(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, const void *buffer) {
    (void)type, (void)transfer;
    open_file *opened = (open_file *)file;
    carom_hdf5_medium *medium = opened->medium;
    if (address + size > opened->end) opened->end = address + size;
    // After a failed write nothing more is written, and HDF5 is told that all is well.
    const char *rest = buffer;
    while (size && !medium->lost) {
        const ssize_t count = pwrite(medium->descriptor, rest, size, (off_t)address);
        if (count < 0 && errno == EINTR) continue;
        // A write of 0 bytes is a full disk, too.
        if (count <= 0) medium->lost = count ? errno : ENOSPC;
        if (count <= 0) break;
        rest += count;
        size -= (size_t)count;
        address += (haddr_t)count;
    }
    return 0;
}

static herr_t truncate_medium(H5FD_t *file, hid_t transfer, hbool_t closing) {
    (void)transfer, (void)closing;
    // The file ends where the given addresses end.
    open_file *opened = (open_file *)file;
    carom_hdf5_medium *medium = opened->medium;
    if (opened->end == opened->allocated || medium->lost) return 0;
    if (ftruncate(medium->descriptor, (off_t)opened->allocated)) medium->lost = errno;
    opened->end = opened->allocated;
    return 0;
}

// What a driver must have; locks, asynchronous and memory-mapped reading are left out.
static const H5FD_class_t DRIVER = {
#ifdef H5FD_CLASS_VERSION  // HDF5 1.14 and later; 500 lies in the range for drivers that are not registered
    .version = H5FD_CLASS_VERSION,
    .value = 500,
#endif
    .name = "carom",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(carom_hdf5_medium *),
    .open = open_medium,
    .close = close_medium,
    .query = query_features,
    .get_eoa = get_allocated,
    .set_eoa = set_allocated,
    .get_eof = get_end,
    .read = read_medium,
    .write = write_medium,
    .truncate = truncate_medium,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

// The driver is registered for this file alone, because its settings are those of the file.
hid_t carom_hdf5_create_file(const char *name, carom_hdf5_medium *medium) {
    medium->driver = H5FDregister(&DRIVER);
    if (medium->driver < 0) return -1;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = -1;
    // The driver's settings are the address of the medium; HDF5 copies `fapl_size` bytes.
    if (H5Pset_driver(access, medium->driver, &medium) >= 0 && H5Pset_obj_track_times(creation, 0) >= 0)
        file = H5Fcreate(name, H5F_ACC_TRUNC, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
    if (file < 0) H5FDunregister(medium->driver);
    return file;
}

bool carom_hdf5_close_file(hid_t file, carom_hdf5_medium *medium) {
    const bool closed = H5Fclose(file) >= 0;
    // Not before: HDF5 reads the driver's table once more after it has let go of the driver.
    return H5FDunregister(medium->driver) >= 0 && closed;
}
