// SPDX-License-Identifier: Apache-2.0
// Arrays for other programs: NumPy's .npz, an uncompressed ZIP archive of .npy files (NEP 1; APPNOTE of ZIP), or a table as .csv.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "carom/io.h"
#include "carom/temporary.h"

// Only files that begin like these are replaced.
static const carom_file_kind npz_kind = {"a NumPy archive", "PK\x03\x04", false, ".npz"};
static const carom_file_kind csv_kind = {"a table that begins with the column 't'", "t,", false, ".csv"};

enum {
    NPY_ALIGNMENT = 64,  // of the numbers in a .npy file
    NPY_PREFIX = 10,     // bytes before its header: magic, version, and the header's size
    NPY_HEADER = 192,    // most bytes before the numbers
    MOST_ARRAYS = 16,
    ZIP_LOCAL = 30,    // bytes of a ZIP record before the name
    ZIP_CENTRAL = 46,  // the same in the directory at the end
    ZIP_END = 22,
    ZIP_DATE = 0x21,  // 1 January 1980: files with the same numbers have the same bytes
};

// Sizes and places in an archive have 32 bits.
#define MOST_BYTES 0xffffffffull

static const char *ending_of(const char *path) {
    const char *ending = strrchr(path, '.');
    return ending ? ending : "";
}

static const carom_file_kind *kind_of(const char *path) {
    if (!strcasecmp(ending_of(path), ".npz")) return &npz_kind;
    return strcasecmp(ending_of(path), ".csv") ? NULL : &csv_kind;
}

carom_status carom_arrays_check(const char *path, carom_error *error) {
    const carom_file_kind *kind = kind_of(path);
    if (!kind) return carom_fail(error, CAROM_BAD_INPUT, "'%.200s' does not end in .npz or .csv", path);
    return carom_temporary_check(path, kind, error);
}

// What a printer is given.
typedef struct arrays {
    const carom_named_array *array;
    int count;
} arrays;

// --------------------------------------------------------------------------------------------------------------- NumPy

// CRC-32 of ZIP, continued: the reflected polynomial 0xedb88320.
static uint32_t add_to_crc(uint32_t crc, const void *bytes, size_t size) {
    static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const unsigned char *byte = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc = nibble[(crc ^ byte[i]) & 15] ^ crc >> 4;
        crc = nibble[(crc ^ byte[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

// Numbers of `size` bytes, the least significant first; beyond the eighth byte zeros.
static void put(unsigned char **at, uint64_t value, int size) {
    for (int i = 0; i < size; i++, value >>= 8) *(*at)++ = (unsigned char)value;
}

// What stands in a .npy file before its numbers; returns its size.
static size_t format_npy(const carom_named_array *array, char header[NPY_HEADER]) {
    const uint16_t probe = 1;
    const char order = *(const unsigned char *)&probe ? '<' : '>';
    char shape[48];
    if (array->columns)
        snprintf(shape, sizeof shape, "(%lld, %d)", (long long)array->rows, array->columns);
    else
        snprintf(shape, sizeof shape, "(%lld,)", (long long)array->rows);
    const int length =
        snprintf(header + NPY_PREFIX, NPY_HEADER - NPY_PREFIX, "{'descr': '%cf8', 'fortran_order': False, 'shape': %s, }", order, shape);
    // Blanks up to the line end, after which the numbers are aligned.
    const size_t total = ((size_t)(NPY_PREFIX + length) / NPY_ALIGNMENT + 1) * NPY_ALIGNMENT;
    memset(header + NPY_PREFIX + length, ' ', total - (size_t)(NPY_PREFIX + length));
    header[total - 1] = '\n';
    unsigned char *at = (unsigned char *)header;
    memcpy(at, "\x93NUMPY\x01\x00", 8);
    at += 8;
    put(&at, total - NPY_PREFIX, 2);
    return total;
}

static size_t size_of(const carom_named_array *array) {
    return (size_t)array->rows * (size_t)(array->columns ? array->columns : 1) * sizeof *array->values;
}

// Fields that a record has both before its file and in the directory, from the version that is needed on.
static void put_common(unsigned char **at, uint32_t crc, size_t size, size_t name) {
    put(at, 20, 2);  // version 2.0
    put(at, 0, 2);   // no flags
    put(at, 0, 2);   // stored as it is
    put(at, 0, 2);   // midnight
    put(at, ZIP_DATE, 2);
    put(at, crc, 4);
    put(at, size, 4);  // as stored
    put(at, size, 4);
    put(at, name, 2);
    put(at, 0, 2);  // nothing extra
}

static carom_status print_npz(FILE *file, const void *content, carom_error *error) {
    const arrays *all = content;
    uint64_t place = 0, places[MOST_ARRAYS];
    uint32_t crcs[MOST_ARRAYS];
    size_t sizes[MOST_ARRAYS];
    char name[64];
    // Each array as a file NAME.npy.
    for (int a = 0; a < all->count; a++) {
        const carom_named_array *array = &all->array[a];
        char header[NPY_HEADER];
        unsigned char record[ZIP_LOCAL], *at = record;
        const size_t start = format_npy(array, header), length = (size_t)snprintf(name, sizeof name, "%s.npy", array->name);
        places[a] = place;
        sizes[a] = start + size_of(array);
        place += ZIP_LOCAL + length + sizes[a];
        if (place > MOST_BYTES) return carom_fail(error, CAROM_UNSUPPORTED, "an archive has at most 4 GB; record fewer states, or as .csv");
        crcs[a] = add_to_crc(add_to_crc(0, header, start), array->values, size_of(array));
        put(&at, 0x04034b50, 4);
        put_common(&at, crcs[a], sizes[a], length);
        fwrite(record, 1, ZIP_LOCAL, file);
        fwrite(name, 1, length, file);
        fwrite(header, 1, start, file);
        fwrite(array->values, 1, size_of(array), file);
    }
    // The directory, and where it is.
    const uint64_t directory = place;
    for (int a = 0; a < all->count; a++) {
        unsigned char record[ZIP_CENTRAL], *at = record;
        const size_t length = (size_t)snprintf(name, sizeof name, "%s.npy", all->array[a].name);
        put(&at, 0x02014b50, 4);
        put(&at, 20, 2);  // made by version 2.0
        put_common(&at, crcs[a], sizes[a], length);
        put(&at, 0, 10);  // no comment, first disk, no attributes
        put(&at, places[a], 4);
        fwrite(record, 1, ZIP_CENTRAL, file);
        fwrite(name, 1, length, file);
        place += ZIP_CENTRAL + length;
    }
    unsigned char record[ZIP_END], *at = record;
    put(&at, 0x06054b50, 4);
    put(&at, 0, 4);  // one disk
    put(&at, (uint64_t)all->count, 2);
    put(&at, (uint64_t)all->count, 2);
    put(&at, place - directory, 4);
    put(&at, directory, 4);
    put(&at, 0, 2);
    fwrite(record, 1, ZIP_END, file);
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- tables

// A line of names, NAME.1, NAME.2, ... for columns of a matrix, then a line for each row; 17 digits bring back the same doubles.
static carom_status print_csv(FILE *file, const void *content, carom_error *error) {
    (void)error;
    const arrays *all = content;
    for (int a = 0; a < all->count; a++) {
        const carom_named_array *array = &all->array[a];
        if (!array->columns) fprintf(file, "%s%s", a ? "," : "", array->name);
        for (int k = 0; k < array->columns; k++) fprintf(file, "%s%s.%d", a || k ? "," : "", array->name, k + 1);
    }
    fputc('\n', file);
    for (int64_t row = 0; row < all->array[0].rows; row++) {
        for (int a = 0; a < all->count; a++) {
            const int columns = all->array[a].columns ? all->array[a].columns : 1;
            for (int k = 0; k < columns; k++) fprintf(file, "%s%.17g", a || k ? "," : "", all->array[a].values[row * columns + k]);
        }
        fputc('\n', file);
    }
    return CAROM_OK;
}

carom_status carom_arrays_write(const char *path, const carom_named_array *array, int count, carom_error *error) {
    const carom_status status = carom_arrays_check(path, error);
    if (status) return status;
    const carom_file_kind *kind = kind_of(path);
    if (count > MOST_ARRAYS) return carom_fail(error, CAROM_UNSUPPORTED, "%s: at most %d arrays can be written", path, MOST_ARRAYS);
    for (int a = 0; a < count && kind == &csv_kind; a++)
        if (array[a].rows != array[0].rows) return carom_fail(error, CAROM_BAD_INPUT, "%s: columns of a table have as many rows", path);
    return carom_text_write(path, kind, kind == &npz_kind ? print_npz : print_csv, &(arrays){array, count}, error);
}
