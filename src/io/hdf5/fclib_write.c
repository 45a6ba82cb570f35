// SPDX-License-Identifier: Apache-2.0
// FCLIB local problems, written with HDF5 alone: FCLIB's own writer ends the process when a disk is full.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "carom/arena.h"
#include "carom/io.h"
#include "carom/temporary.h"
#include "io/fclib/file.h"
#include "io/hdf5/driver.h"
#include "io/hdf5/support.h"

#define DESCRIPTION                                                                                                                        \
    "Contacts of a rigid-body system at the instant of an impact. W: Delassus operator [1/kg], q: pre-impact contact velocity [m/s], "     \
    "r: impulses [N s]; per contact the normal, then the tangents. Written by carom " CAROM_VERSION "."

// What is written: W in compressed rows, of which the entries that are not zero and the diagonal are stored, q and mu.
typedef struct problem {
    const char *title;
    int contacts, tangent_dim, size, entries;
    int *starts, *columns;      // [size + 1], [entries]
    double *values, *velocity;  // [entries], [size]
    const double *friction;     // [contacts]
} problem;

// The group fclib_local with its groups W, vectors and info.
static bool write_local(hid_t file, const problem *from) {
    // Values and vectors have units and docs, which FCLIB ignores.
    const carom_hdf5_matrix values = {"x", "1/kg", "entries of the Delassus operator", from->entries, 0, from->values};
    const carom_hdf5_matrix vectors[] = {
        {"q", "m/s", "pre-impact contact velocity; per contact the normal, then the tangents", from->size, 0, from->velocity},
        {"mu", "", "Coulomb friction coefficients", from->contacts, 0, from->friction}};
    const hid_t local = carom_hdf5_create_group(file, "fclib_local");
    bool written = local >= 0 && carom_hdf5_put_integers(local, "spacedim", 1, &(int){1 + from->tangent_dim});

    // W as a sparse matrix in the form of CSparse: sizes, starts of rows, columns, values.
    hid_t group = carom_hdf5_create_group(local, "W");
    written = written && group >= 0 && carom_hdf5_put_integers(group, "nzmax", 1, &from->entries) &&
              carom_hdf5_put_integers(group, "m", 1, &from->size) && carom_hdf5_put_integers(group, "n", 1, &from->size) &&
              carom_hdf5_put_integers(group, "nz", 1, &(int){CAROM_FCLIB_COMPRESSED_ROWS}) &&
              carom_hdf5_put_integers(group, "p", from->size + 1, from->starts) &&
              carom_hdf5_put_integers(group, "i", from->entries, from->columns) && carom_hdf5_put_matrices(group, 1, &values);
    written = H5Gclose(group) >= 0 && written;

    group = carom_hdf5_create_group(local, "vectors");
    written = written && group >= 0 && carom_hdf5_put_matrices(group, 2, vectors);
    written = H5Gclose(group) >= 0 && written;

    // Who made it, and what it is.
    group = carom_hdf5_create_group(local, "info");
    written = written && group >= 0 && carom_hdf5_put_fixed_text(group, "title", from->title) &&
              carom_hdf5_put_fixed_text(group, "description", DESCRIPTION) &&
              carom_hdf5_put_fixed_text(group, "math_info", "W is symmetric positive semidefinite");
    written = H5Gclose(group) >= 0 && written;
    return H5Gclose(local) >= 0 && written;
}

carom_status carom_fclib_write(const char *path, const char *title, const carom_impact *impact, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double *W = carom_impact_delassus(impact);
    const int n = carom_impact_contact_size(impact);
    problem from = {.title = title, .contacts = data->contacts, .tangent_dim = data->tangent_dim, .size = n, .friction = data->friction};
    // Entries that are not zero, and the diagonal: every n + 1st.
    for (int k = 0; k < n * n; k++) from.entries += k % (n + 1) == 0 || W[k] != 0;

    // The compressed rows of W, and q.
    carom_arena memory = {0};
    from.starts = carom_arena_take(&memory, (size_t)n + 1, sizeof *from.starts);
    from.columns = carom_arena_take(&memory, (size_t)from.entries, sizeof *from.columns);
    from.values = carom_arena_take(&memory, (size_t)from.entries, sizeof *from.values);
    from.velocity = carom_arena_take(&memory, (size_t)n, sizeof *from.velocity);
    if (memory.failed || !carom_hdf5_has_memory()) {
        carom_arena_free(&memory);
        return carom_fail_memory(error, path);
    }
    carom_impact_contact_velocity(impact, data->velocity, from.velocity);
    for (int k = 0, stored = 0; k < n * n; k++) {
        if (k % (n + 1) == 0 || W[k] != 0) {
            from.columns[stored] = k % n;
            from.values[stored++] = W[k];
        }
        // A row ends with the number of entries stored so far.
        from.starts[k / n + 1] = stored;
    }

    // What the medium lost is known only when its descriptor is closed.
    carom_temporary temporary;
    carom_hdf5_medium medium = {0};
    carom_status status = carom_temporary_create(path, &carom_file_hdf5, &temporary, &medium.descriptor, error);
    if (!status) {
        const carom_hdf5_reporting reporting = carom_hdf5_mute();
        const hid_t file = carom_hdf5_create_file(temporary.path, &medium);
        bool written = file >= 0 && write_local(file, &from);
        if (file >= 0 && !carom_hdf5_close_file(file, &medium)) written = false;
        carom_hdf5_unmute(reporting);
        if (close(medium.descriptor) && !medium.lost) medium.lost = errno;
        if (written && !medium.lost)
            status = carom_temporary_commit(&temporary, error);
        else
            status = carom_fail(error, CAROM_IO_FAILED, "%s: the file could not be written (disk full?): %s", path,
                                medium.lost ? strerror(medium.lost) : "HDF5 reports an error");
        carom_temporary_discard(&temporary);
    }
    carom_arena_free(&memory);
    return status;
}
