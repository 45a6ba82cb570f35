// SPDX-License-Identifier: Apache-2.0
// FCLIB files, read with HDF5 alone. Nothing in a file is trusted: not its types, not its sizes, not its indices.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/child.h"
#include "io/fclib/file.h"
#include "io/hdf5/support.h"

enum {
    LARGEST_SIZE = 3 * CAROM_MAX_CONTACTS,
    MOST_ENTRIES = LARGEST_SIZE * LARGEST_SIZE,  // of any dataset
    IMAGE_INCREMENT = 1 << 16,                   // HDF5 asks for one, although an image that is only read does not grow
};

// A group with its name, for messages, and the file's.
typedef struct place {
    hid_t group;
    const char *name, *path;
} place;

// Refuses a file with a sentence that begins with its name.
static carom_status refuse(const char *path, carom_error *error, const char *format, ...) CAROM_PRINTF(3, 4);

static carom_status refuse(const char *path, carom_error *error, const char *format, ...) {
    char sentence[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: not an FCLIB problem: %s", path, sentence);
}

// ------------------------------------------------------------------------------------------------------------ datasets

// All numbers of a dataset as int64_t or double, to be freed; NULL where that fails.
static void *read_numbers(const place *from, const char *name, hid_t memory_type, int64_t *count, carom_status *status,
                          carom_error *error) {
    void *values = NULL;
    *count = 0;
    carom_hdf5_extent extent;
    const hid_t dataset = carom_hdf5_open(from->group, name, H5I_DATASET);
    // Compressed datasets may be larger than their file: the largest problem bounds them, at 4 bytes an entry.
    const bool read = dataset >= 0 && carom_hdf5_get_dataset(dataset, memory_type, (hsize_t)4 * MOST_ENTRIES, &values, &extent);
    if (dataset < 0)
        *status = refuse(from->path, error, "'%s' lacks the dataset '%s'", from->name, name);
    else if (!read)
        *status = refuse(from->path, error, "the dataset '%s' of '%s' does not hold %s, is too large, or is damaged", name, from->name,
                         H5Tget_class(memory_type) == H5T_INTEGER ? "whole numbers" : "floating-point numbers");
    else
        *status = CAROM_OK;
    H5Oclose(dataset);
    if (read) *count = extent.lines * extent.width;
    return values;
}

// Reads a dataset that holds a single whole number in least..most.
static carom_status read_integer(const place *from, const char *name, int64_t least, int64_t most, int64_t *value, carom_error *error) {
    carom_status status;
    int64_t count, *values = read_numbers(from, name, H5T_NATIVE_INT64, &count, &status, error);
    // A dataset of another length has no value.
    *value = count == 1 ? *values : 0;
    if (!status && count != 1)
        status = refuse(from->path, error, "the dataset '%s' of '%s' has %lld numbers, must have 1", name, from->name, (long long)count);
    else if (!status && (*value < least || *value > most))
        status = refuse(from->path, error, "'%s' of '%s' is %lld, must be from %lld to %lld", name, from->name, (long long)*value,
                        (long long)least, (long long)most);
    free(values);
    return status;
}

// Reads a vector of a known length.
static carom_status read_vector(const place *from, const char *name, int64_t length, double **values, carom_error *error) {
    carom_status status;
    int64_t count;
    *values = read_numbers(from, name, H5T_NATIVE_DOUBLE, &count, &status, error);
    if (status || count == length) return status;
    return refuse(from->path, error, "the dataset '%s' of '%s' has %lld numbers, must have %lld", name, from->name, (long long)count,
                  (long long)length);
}

// Opens a group that must be there.
static carom_status open_group(const place *from, const char *name, place *group, carom_error *error) {
    *group = (place){carom_hdf5_open(from->group, name, H5I_GROUP), name, from->path};
    return group->group >= 0 ? CAROM_OK : refuse(from->path, error, "%s lacks the group '%s'", from->name, name);
}

// ------------------------------------------------------------------------------------------------------- sparse matrices

// A matrix as FCLIB stores it. Compressed: p are the starts of lines, i the positions in them. Triplets: p are rows, i columns,
// as the header of FCLIB says; but the other way round in the H of published files, as CSparse has them, if that fits the sizes.
typedef struct sparse {
    int64_t storage, p_count, i_count, x_count;
    int64_t *p, *i;
    double *x;
} sparse;

// Reads a matrix [rows x columns] row by row, to be freed. Entries that stand twice are summed, as assembled matrices mean it.
static carom_status read_matrix(const place *from, int64_t rows, int64_t columns, double **dense, carom_error *error) {
    sparse matrix = {0};
    int64_t count;
    carom_status status = read_integer(from, "m", rows, rows, &count, error);
    if (!status) status = read_integer(from, "n", columns, columns, &count, error);
    if (!status) status = read_integer(from, "nz", CAROM_FCLIB_COMPRESSED_ROWS, MOST_ENTRIES, &matrix.storage, error);
    if (!status) matrix.p = read_numbers(from, "p", H5T_NATIVE_INT64, &matrix.p_count, &status, error);
    if (!status) matrix.i = read_numbers(from, "i", H5T_NATIVE_INT64, &matrix.i_count, &status, error);
    if (!status) matrix.x = read_numbers(from, "x", H5T_NATIVE_DOUBLE, &matrix.x_count, &status, error);
    if (!status) *dense = calloc((size_t)(rows * columns), sizeof **dense);
    if (!status && !*dense) status = carom_fail_memory(error, from->path);

    // Do the starts of lines, or the number of entries, agree with the lengths of the datasets?
    const bool compressed = matrix.storage < 0;
    bool by_columns = compressed ? matrix.storage == CAROM_FCLIB_COMPRESSED_COLUMNS : rows != columns;
    const int64_t stored = matrix.i_count < matrix.x_count ? matrix.i_count : matrix.x_count, *p = matrix.p, *i = matrix.i;
    const char *wrong = NULL;
    for (int64_t k = 0; !status && !compressed && k < matrix.storage && k < stored && k < matrix.p_count; k++)
        by_columns = by_columns && p[k] < columns && i[k] < rows;
    const int64_t size = by_columns ? columns : rows, width = by_columns ? rows : columns;
    if (!status && !compressed && (matrix.storage > matrix.p_count || matrix.storage > stored)) wrong = "'nz' exceeds its datasets";
    if (!status && compressed && matrix.p_count != size + 1)
        wrong = "'p' must have one number more than the matrix has lines";
    else if (!status && compressed && (p[0] != 0 || p[size] > stored))
        wrong = "'p' does not fit 'i' and 'x'";
    for (int64_t line = 0; line < size && compressed && !status && !wrong; line++)
        if (p[line] > p[line + 1]) wrong = "'p' decreases";

    // One entry after the other; `line` is the row or column of compressed ones.
    for (int64_t k = 0, line = 0; !status && !wrong && k < (compressed ? p[size] : matrix.storage); k++) {
        while (compressed && k == p[line + 1]) line++;
        const int64_t row = compressed ? line : p[k];
        if (row < 0 || row >= size || i[k] < 0 || i[k] >= width)
            wrong = "an index is out of range";
        else
            (*dense)[by_columns ? i[k] * columns + row : row * columns + i[k]] += matrix.x[k];
    }
    if (wrong) status = refuse(from->path, error, "'%s': %s", from->name, wrong);
    free(matrix.p);
    free(matrix.i);
    free(matrix.x);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- problems

// Bilateral constraints have groups of these names.
static carom_status refuse_bilateral(const place *from, const char *const names[2], carom_error *error) {
    for (int i = 0; i < 2; i++)
        if (H5Lexists(from->group, names[i], H5P_DEFAULT) > 0)
            return carom_fail(error, CAROM_BAD_INPUT,
                              "%s: the problem has bilateral constraints ('%s'), which are not read: eliminate them", from->path, names[i]);
    return CAROM_OK;
}

// The number of rows of contact space, which `name` of a matrix says, must be whole contacts.
static carom_status read_sizes(const place *matrix, const char *name, int64_t dimension, carom_fclib_problem *problem, int64_t *rows,
                               carom_error *error) {
    const carom_status status = read_integer(matrix, name, dimension, dimension * CAROM_MAX_CONTACTS, rows, error);
    if (status) return status;
    if (*rows % dimension)
        return refuse(matrix->path, error, "'%s' of '%s' is %lld, must be a multiple of spacedim, which is %lld", name, matrix->name,
                      (long long)*rows, (long long)dimension);
    problem->tangent_dim = (int)dimension - 1;
    problem->contacts = (int)(*rows / dimension);
    return CAROM_OK;
}

// Reads a local problem: W, q, mu and the dimension of its space.
static carom_status read_local(const place *from, carom_fclib_problem *problem, carom_error *error) {
    // Closing a group that is not open is a harmless failure.
    place W = {.group = -1}, vectors = {.group = -1};
    int64_t dimension = 0, rows = 0;
    carom_status status = refuse_bilateral(from, (const char *const[]){"V", "R"}, error);
    if (!status) status = read_integer(from, "spacedim", 2, 3, &dimension, error);

    // The sizes come from W alone, so that all else is checked against one number.
    if (!status) status = open_group(from, "W", &W, error);
    if (!status) status = read_sizes(&W, "m", dimension, problem, &rows, error);
    if (!status) status = open_group(from, "vectors", &vectors, error);
    if (!status) status = read_vector(&vectors, "mu", problem->contacts, &problem->friction, error);
    if (!status) status = read_vector(&vectors, "q", rows, &problem->velocity, error);
    if (!status) status = read_matrix(&W, rows, rows, &problem->delassus, error);
    H5Oclose(W.group);
    H5Oclose(vectors.group);
    return status;
}

// Reads a global problem: M, H, f, w, mu; M and H say the sizes.
static carom_status read_global(const place *from, carom_fclib_problem *problem, carom_error *error) {
    place M = {.group = -1}, H = {.group = -1}, vectors = {.group = -1};
    int64_t dimension = 0, nv = 0, rows = 0;
    double *mass = NULL, *directions = NULL, *force = NULL, *shift = NULL;
    carom_status status = refuse_bilateral(from, (const char *const[]){"G", "b"}, error);
    if (!status) status = read_integer(from, "spacedim", 2, 3, &dimension, error);
    if (!status) status = open_group(from, "M", &M, error);
    if (!status) status = read_integer(&M, "m", 1, CAROM_MAX_VELOCITIES, &nv, error);
    if (!status) status = open_group(from, "H", &H, error);
    if (!status) status = read_sizes(&H, "n", dimension, problem, &rows, error);
    if (!status) status = open_group(from, "vectors", &vectors, error);
    if (!status) status = read_vector(&vectors, "mu", problem->contacts, &problem->friction, error);
    if (!status) status = read_vector(&vectors, "f", nv, &force, error);
    if (!status) status = read_vector(&vectors, "w", rows, &shift, error);
    if (!status) status = read_matrix(&M, nv, nv, &mass, error);
    if (!status) status = read_matrix(&H, nv, rows, &directions, error);
    if (!status) status = carom_fclib_reduce(from->path, &(carom_fclib_global){(int)nv, mass, directions, force, shift}, problem, error);
    free(mass);
    free(directions);
    free(force);
    free(shift);
    H5Oclose(M.group);
    H5Oclose(H.group);
    H5Oclose(vectors.group);
    return status;
}

static carom_status parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();

    // The bytes become a file that nothing else has open: HDF5 tells images apart by their names. It takes a copy of them, which its
    // interface does not call const.
    char name[32];
    snprintf(name, sizeof name, "image %p", (const void *)bytes);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (H5Pset_fapl_core(access, IMAGE_INCREMENT, 0) >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_image(access, (void *)(uintptr_t)bytes, size) >= 0)
        file = H5Fopen(name, H5F_ACC_RDONLY, access);
    H5Pclose(access);

    carom_status status = CAROM_OK;
    place problems = {.group = -1};
    const bool global = file >= 0 && H5Lexists(file, "fclib_local", H5P_DEFAULT) <= 0 && H5Lexists(file, "fclib_global", H5P_DEFAULT) > 0;
    if (file < 0) status = refuse(path, error, "it is not a whole HDF5 file");
    if (!status) status = open_group(&(place){file, "the file", path}, global ? "fclib_global" : "fclib_local", &problems, error);
    if (!status) status = global ? read_global(&problems, problem, error) : read_local(&problems, problem, error);
    H5Fclose(file);
    carom_hdf5_unmute(reporting);
    if (status) carom_fclib_problem_release(problem);
    return status;
}

// A file in memory, to be tried.
typedef struct image {
    const char *path, *bytes;
    size_t size;
} image;

static void rehearse(void *user) {
    const image *tried = user;
    carom_fclib_problem problem = {0};
    carom_error error;
    if (!parse(tried->path, tried->bytes, tried->size, &problem, &error)) carom_fclib_problem_release(&problem);
}

carom_status carom_fclib_parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error) {
    *problem = (carom_fclib_problem){0};
    if (!carom_fclib_is_hdf5(bytes, size)) return refuse(path, error, "it is not an HDF5 file");
    if (!carom_child_survives((int64_t)size, rehearse, &(image){path, bytes, size}))
        return refuse(path, error, "it is damaged, and libhdf5 crashes on it");
    return parse(path, bytes, size, problem, error);
}
