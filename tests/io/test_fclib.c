// SPDX-License-Identifier: Apache-2.0
// FCLIB files are read: every storage, and what FCLIB itself writes; whatever else is fed to the reader is refused.
#include "carom/dense.h"
#include "fclib_support.h"

#include <fclib.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fclib/file.h"
#include "io/hdf5/support.h"

// --------------------------------------------------------------------------------- a problem, as other programs write it

enum { MOST_STORED = 12 };

// Parts that a test changes; -100 stands for a dataset that is left out.
typedef struct layout {
    int spacedim, m, n, nz, p_count, i_count, x_count, mu_count, q_count;
    int p[MOST_STORED], i[MOST_STORED];
    double x[MOST_STORED], mu[2], q[4];
    const char *extra;  // one more group in fclib_local; NULL for none
} layout;

enum { ABSENT = -100 };

// Two planar contacts: W = [4 1 0 0; 1 3 0 0.5; 0 0 2 0; 0 0.5 0 1].
static const double dense[16] = {4, 1, 0, 0, 1, 3, 0, 0.5, 0, 0, 2, 0, 0, 0.5, 0, 1};
#define COMMON .spacedim = 2, .m = 4, .n = 4, .mu_count = 2, .q_count = 4, .mu = {0.5, 0.25}, .q = {-1, 2, -3, 0.5}

static const layout by_rows = {COMMON,
                               .nz = -2,
                               .p_count = 5,
                               .i_count = 8,
                               .x_count = 8,
                               .p = {0, 2, 5, 6, 8},
                               .i = {0, 1, 0, 1, 3, 2, 1, 3},
                               .x = {4, 1, 1, 3, 0.5, 2, 0.5, 1}};
// Triplets out of order, one of them in two parts, and room to spare.
static const layout by_triplets = {COMMON,
                                   .nz = 9,
                                   .p_count = 9,
                                   .i_count = 9,
                                   .x_count = 10,
                                   .p = {3, 0, 0, 1, 1, 1, 2, 3, 1},
                                   .i = {3, 0, 1, 0, 1, 3, 2, 1, 1},
                                   .x = {1, 4, 1, 1, 2, 0.5, 2, 0.5, 1, 99}};

static void put_integers(hid_t group, const char *name, int count, const int *values) {
    if (count != ABSENT) assert_true(carom_hdf5_put_integers(group, name, count, values));
}

static void put_integer(hid_t group, const char *name, int value) { put_integers(group, name, value == ABSENT ? ABSENT : 1, &value); }

static void put_reals(hid_t group, const char *name, int count, const double *values) {
    const carom_hdf5_matrix vector = {name, "", "", count, 0, values};
    if (count != ABSENT) assert_true(carom_hdf5_put_matrices(group, 1, &vector));
}

static void write_layout(const bench *b, const layout *l) {
    const hid_t file = H5Fcreate(b->file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), local = carom_hdf5_create_group(file, "fclib_local");
    const hid_t W = carom_hdf5_create_group(local, "W"), vectors = carom_hdf5_create_group(local, "vectors");
    put_integer(local, "spacedim", l->spacedim);
    put_integer(W, "nzmax", l->x_count);
    put_integer(W, "m", l->m);
    put_integer(W, "n", l->n);
    put_integer(W, "nz", l->nz);
    put_integers(W, "p", l->p_count, l->p);
    put_integers(W, "i", l->i_count, l->i);
    put_reals(W, "x", l->x_count, l->x);
    put_reals(vectors, "mu", l->mu_count, l->mu);
    put_reals(vectors, "q", l->q_count, l->q);
    if (l->extra) H5Gclose(carom_hdf5_create_group(local, l->extra));
    H5Gclose(W);
    H5Gclose(vectors);
    H5Gclose(local);
    assert_true(H5Fclose(file) >= 0);
}

static void assert_two_contacts(const carom_scene *scene) {
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 2);
    assert_int_equal(data->tangent_dim, 1);
    assert_memory_equal(carom_impact_delassus(impact), dense, sizeof dense);
    assert_memory_equal(data->velocity, by_rows.q, sizeof by_rows.q);
    assert_memory_equal(data->friction, by_rows.mu, sizeof by_rows.mu);
    assert_int_equal(carom_scene_warnings(scene), 0);
}

static void every_storage_is_read(void **state) {
    (void)state;
    bench b = start();
    layout by_columns = by_rows;  // W is symmetric: only the mark differs
    by_columns.nz = -1;
    const layout *all[] = {&by_rows, &by_columns, &by_triplets};
    for (int k = 0; k < 3; k++) {
        write_layout(&b, all[k]);
        carom_scene *scene = good_scene(&b, FILE_SCENE);
        assert_two_contacts(scene);
        carom_scene_free(scene);
    }
    finish(&b);
}

static void rows_and_columns_are_told_apart(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    layout l = by_triplets;
    l.nz = 1;
    l.p[0] = 0, l.i[0] = 3, l.x[0] = 7;
    for (int k = 0; k < 3; k++) {
        write_layout(&b, &l);
        size_t size;
        char *bytes = support_read_file(b.file, &size);
        carom_fclib_problem problem;
        assert_ok(carom_fclib_parse(b.file, bytes, size, &problem, &error), error);
        for (int e = 0; e < 16; e++) assert_true(problem.delassus[e] == (e == (k == 1 ? 12 : 3) ? 7 : 0));
        carom_fclib_problem_release(&problem);
        free(bytes);
        // the same entry in compressed columns, which end at column 0, and in compressed rows
        l.nz = k == 0 ? -1 : -2;
        l.p_count = 5;
        l.p[0] = 0, l.p[1] = l.p[2] = l.p[3] = l.p[4] = 1;
    }
    finish(&b);
}

static void asymmetry_is_averaged_with_a_warning(void **state) {
    (void)state;
    bench b = start();
    layout l = by_rows;
    l.x[1] = 1.02;  // W[0][1]; half a percent of the largest entry
    write_layout(&b, &l);
    carom_scene *scene = good_scene(&b, FILE_SCENE);
    assert_int_equal(carom_scene_warnings(scene), 1);
    assert_non_null(strstr(carom_scene_warning(scene, 0), ":1: delassus.file: W is not symmetric (by 0.005 of its largest entry)"));
    const double *W = carom_impact_delassus(carom_scene_impact(scene));
    assert_close(W[1], 1.01, 1e-15);
    assert_true(W[1] == W[4]);
    carom_scene_free(scene);

    carom_error error = {0};
    carom_lcp_problem lcp;
    assert_ok(carom_lcp_problem_read(b.file, &lcp, &error), error);
    assert_non_null(lcp.warning);
    assert_non_null(strstr(lcp.warning, "problem.hdf5: W is not symmetric"));
    carom_lcp_problem_release(&lcp);

    l.x[1] = 1.1;
    write_layout(&b, &l);
    assert_refused(read_scene(&b, FILE_SCENE, &scene, &error), CAROM_BAD_INPUT, error, ":1: delassus.file: W is not symmetric: W[1][0]");
    assert_refused(carom_lcp_problem_read(b.file, &lcp, &error), CAROM_BAD_INPUT, error, "problem.hdf5: W is not symmetric");
    finish(&b);
}

static void names_and_restitution_stand_beside_the_file(void **state) {
    (void)state;
    bench b = start();
    write_layout(&b, &by_rows);
    carom_scene *scene = good_scene(&b, "delassus: {file: problem.hdf5, names: [toe, heel], restitution: [0, 0.5]}\n");
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    assert_string_equal(data->names[1], "heel");
    assert_close(data->restitution[1], 0.5, 0);
    char hash[CAROM_DIGEST_TEXT_SIZE];
    strcpy(hash, carom_scene_hash(scene));
    carom_scene_free(scene);

    // the hash is of the file's bytes too
    layout l = by_rows;
    l.q[3] = 0.75;
    write_layout(&b, &l);
    scene = good_scene(&b, "delassus: {file: problem.hdf5, names: [toe, heel], restitution: [0, 0.5]}\n");
    assert_string_not_equal(carom_scene_hash(scene), hash);
    carom_scene_free(scene);
    finish(&b);
}

static void bad_scenes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *scene, *message;
    } cases[] = {
        {"delassus: {file: problem.hdf5, names: [A]}\n",
         ":1: delassus.names: the length is 1, must be 2, the number of contacts in 'file'"},
        {"delassus: {file: problem.hdf5, restitution: [0, 0, 0]}\n", ":1: delassus.restitution: the length is 3, must be 2"},
        {"delassus: {file: problem.hdf5, names: [A, A]}\n", ":1: delassus.file: names[0] and names[1] are both 'A'"},
        {"delassus: {file: problem.hdf5, W: [[1]]}\n", ":1: delassus.W: is read from 'file'"},
        {"delassus: {file: problem.hdf5, mu: [1, 1]}\n", ":1: delassus.mu: is read from 'file'"},
        {"delassus: {file: problem.hdf5, what: 1}\n", ":1: delassus.what: unknown key"},
        {"delassus: {file: [problem.hdf5]}\n", ":1: delassus.file: must be text"},
        {"delassus: {file: .}\n", ":1: delassus.file: "},
        {"name: a\ndelassus:\n  file: scene.yaml\n", "scene.yaml: not an FCLIB problem: it is not an HDF5 file"},
    };
    bench b = start();
    write_layout(&b, &by_rows);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        carom_error error = {0};
        carom_scene *scene;
        const carom_status status = read_scene(&b, cases[k].scene, &scene, &error);
        assert_true(status == CAROM_BAD_INPUT || status == CAROM_IO_FAILED);
        if (!strstr(error.message, cases[k].message)) fail_msg("'%s' lacks '%s'", error.message, cases[k].message);
        assert_null(scene);
    }
    carom_error error = {0};
    carom_scene *scene;
    assert_refused(read_scene(&b, "delassus: {file: none.hdf5}\n", &scene, &error), CAROM_IO_FAILED, error, "none.hdf5: cannot be opened");
    finish(&b);
}

// ------------------------------------------------------------------------------------------------------ global problems

// A global problem of 3 velocities and 2 planar contacts, whose H is stored in one of several ways.
typedef struct global_layout {
    double mass[9];
    int columns, nz, p_count, count;
    int p[8], i[8];
    double x[8];
    const char *extra;
} global_layout;

// H' = [1 0 0.5; 0 2 0; 1 0 0; 0 0.25 -1], without its zeros.
static const double directions[12] = {1, 0, 0.5, 0, 2, 0, 1, 0, 0, 0, 0.25, -1};
#define GLOBAL .mass = {2, 0.3, 0, 0.3, 1, 0, 0, 0, 0.5}, .columns = 4, .count = 6
static const global_layout global_columns = {
    GLOBAL, .nz = -1, .p_count = 5, .p = {0, 2, 3, 4, 6}, .i = {0, 2, 1, 0, 1, 2}, .x = {1, 0.5, 2, 1, 0.25, -1}};
static const global_layout global_rows = {
    GLOBAL, .nz = -2, .p_count = 4, .p = {0, 2, 4, 6}, .i = {0, 2, 1, 3, 0, 3}, .x = {1, 1, 2, 0.25, 0.5, -1}};
// w is of a velocity, (0.1, 0.2, -0.3). In triplets p has columns, as in published files; and rows, as FCLIB's header says.
static const global_layout global_triplets = {
    GLOBAL, .nz = 6, .p_count = 6, .p = {3, 0, 0, 1, 2, 3}, .i = {1, 0, 2, 1, 0, 2}, .x = {0.25, 1, 0.5, 2, 1, -1}};
static const global_layout global_header = {
    GLOBAL, .nz = 6, .p_count = 6, .p = {1, 0, 2, 1, 0, 2}, .i = {3, 0, 0, 1, 2, 3}, .x = {0.25, 1, 0.5, 2, 1, -1}};
static const double force[3] = {-2, 1, 0.4}, shift[4] = {-0.05, 0.4, 0.1, 0.35}, global_mu[2] = {0.5, 0.25};

static void put_matrix(hid_t group, const char *name, int rows, int columns, const global_layout *l) {
    const hid_t matrix = carom_hdf5_create_group(group, name);
    put_integer(matrix, "nzmax", l->count);
    put_integer(matrix, "m", rows);
    put_integer(matrix, "n", columns);
    put_integer(matrix, "nz", l->nz);
    put_integers(matrix, "p", l->p_count, l->p);
    put_integers(matrix, "i", l->count, l->i);
    put_reals(matrix, "x", l->count, l->x);
    H5Gclose(matrix);
}

static void write_global(const bench *b, const global_layout *l) {
    const hid_t file = H5Fcreate(b->file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), global = carom_hdf5_create_group(file, "fclib_global");
    const hid_t vectors = carom_hdf5_create_group(global, "vectors");
    const double *M = l->mass;
    const global_layout mass = {
        .nz = -2, .count = 5, .p_count = 4, .p = {0, 2, 4, 5}, .i = {0, 1, 0, 1, 2}, .x = {M[0], M[1], M[3], M[4], M[8]}};
    put_integer(global, "spacedim", 2);
    put_matrix(global, "M", 3, 3, &mass);
    put_matrix(global, "H", 3, l->columns, l);
    put_reals(vectors, "mu", 2, global_mu);
    put_reals(vectors, "f", 3, force);
    put_reals(vectors, "w", 4, shift);
    if (l->extra) H5Gclose(carom_hdf5_create_group(global, l->extra));
    H5Gclose(vectors);
    H5Gclose(global);
    assert_true(H5Fclose(file) >= 0);
}

static void global_problems_become_local(void **state) {
    (void)state;
    bench b = start();
    // What the system says of itself: v = M^-1 f, W = J M^-1 J', q = J v + w. det = 1.91.
    const double v[3] = {(-2 - 0.3) / 1.91, (2 + 0.6) / 1.91, 0.8}, Jn[6] = {1, 0, 0.5, 1, 0, 0}, Jt[6] = {0, 2, 0, 0, 0.25, -1};
    const carom_impact_data data = {
        .nv = 3, .contacts = 2, .tangent_dim = 1, .mass = global_rows.mass, .normal = Jn, .tangent = Jt, .velocity = v};
    carom_impact *system;
    carom_error error;
    assert_ok(carom_impact_create(&data, &system, &error), error);
    const global_layout *all[] = {&global_columns, &global_rows, &global_triplets, &global_header};
    for (int k = 0; k < 4; k++) {
        write_global(&b, all[k]);
        carom_scene *scene = good_scene(&b, FILE_SCENE);
        const carom_impact *impact = carom_scene_impact(scene);
        assert_all_close(carom_impact_delassus(impact), carom_impact_delassus(system), 16, 1e-14);
        for (int i = 0; i < 4; i++)
            assert_close(carom_impact_get_data(impact)->velocity[i], carom_dot(3, directions + 3 * i, v) + shift[i], 1e-14);
        assert_memory_equal(carom_impact_get_data(impact)->friction, global_mu, sizeof global_mu);
        carom_scene_free(scene);
    }
    carom_impact_free(system);
    finish(&b);
}

// ----------------------------------------------------------------------------------------------------------- bad files

static carom_status parse(const bench *b, carom_error *error) {
    size_t size;
    char *bytes = support_read_file(b->file, &size);
    carom_fclib_problem problem;
    const carom_status status = carom_fclib_parse(b->file, bytes, size, &problem, error);
    if (status) assert_null(problem.delassus);
    carom_fclib_problem_release(&problem);
    free(bytes);
    return status;
}

#define refuses(change, text)                                                                                                              \
    do {                                                                                                                                   \
        layout l = by_rows;                                                                                                                \
        change;                                                                                                                            \
        write_layout(&b, &l);                                                                                                              \
        carom_error error = {0};                                                                                                           \
        assert_refused(parse(&b, &error), CAROM_BAD_INPUT, error, text);                                                                   \
        assert_non_null(strstr(error.message, "problem.hdf5: "));                                                                          \
    } while (0)

static void bad_layouts_are_refused(void **state) {
    (void)state;
    bench b = start();
    refuses(l.spacedim = ABSENT, "'fclib_local' lacks the dataset 'spacedim'");
    refuses(l.spacedim = 4, "'spacedim' of 'fclib_local' is 4, must be from 2 to 3");
    refuses(l.spacedim = 3, "'m' of 'W' is 4, must be a multiple of spacedim, which is 3");
    refuses(l.m = ABSENT, "'W' lacks the dataset 'm'");
    refuses(l.m = 0, "'m' of 'W' is 0, must be from 2 to 2048");
    refuses(l.m = 2000000000, "'m' of 'W' is 2000000000, must be from 2 to 2048");
    refuses(l.n = 3, "'n' of 'W' is 3, must be from 4 to 4");
    refuses(l.nz = ABSENT, "'W' lacks the dataset 'nz'");
    refuses(l.nz = -3, "'nz' of 'W' is -3");
    refuses(l.nz = 9, "'nz' exceeds its datasets");
    refuses(l.p_count = ABSENT, "'W' lacks the dataset 'p'");
    refuses(l.p_count = 4, "'p' must have one number more");
    refuses(l.i_count = 7, "'p' does not fit 'i' and 'x'");
    refuses(l.x_count = 7, "'p' does not fit 'i' and 'x'");
    refuses(l.x_count = ABSENT, "'W' lacks the dataset 'x'");
    refuses(l.p[0] = 1, "'p' does not fit");
    refuses(l.p[1] = 6, "'p' decreases");
    refuses(l.p[1] = -1, "'p' decreases");
    refuses(l.i[3] = 4, "an index is out of range");
    refuses(l.i[3] = -1, "an index is out of range");
    refuses(l = by_triplets; l.i[8] = 4, "an index is out of range");
    refuses(l = by_triplets; l.p[8] = -1, "an index is out of range");
    refuses(l.mu_count = ABSENT, "'vectors' lacks the dataset 'mu'");
    refuses(l.mu_count = 1, "'mu' of 'vectors' has 1 numbers, must have 2");
    refuses(l.q_count = 3, "'q' of 'vectors' has 3 numbers, must have 4");
    refuses(l.extra = "V", "bilateral constraints");
    refuses(l.extra = "R", "bilateral constraints");
    finish(&b);
}

static void bad_global_problems_are_refused(void **state) {
    (void)state;
    bench b = start();
    const struct {
        int nz, p, i, columns;
        double mass;
        const char *extra, *message;
    } cases[] = {
        {6, 3, 3, 4, 2, NULL, "'H': an index is out of range"},
        {6, 0, -1, 4, 2, NULL, "'H': an index is out of range"},
        {7, 0, 0, 4, 2, NULL, "'H': 'nz' exceeds its datasets"},
        {-3, 0, 0, 4, 2, NULL, "'nz' of 'H' is -3"},
        {6, 0, 0, 5, 2, NULL, "'n' of 'H' is 5, must be a multiple of spacedim"},
        {6, 0, 0, 4, 0.09, NULL, "M is not positive definite: a motion of 'v.1', 'v.2' has no kinetic energy"},
        {6, 0, 0, 4, 2, "G", "bilateral constraints ('G')"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        global_layout bad = global_triplets;
        bad.nz = cases[k].nz;
        bad.p[1] = cases[k].p;
        bad.i[1] = cases[k].i;
        bad.columns = cases[k].columns;
        bad.mass[0] = cases[k].mass;
        bad.extra = cases[k].extra;
        write_global(&b, &bad);
        carom_error error = {0};
        assert_refused(parse(&b, &error), CAROM_BAD_INPUT, error, cases[k].message);
    }
    finish(&b);
}

static void other_files_are_refused(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    hid_t file = H5Fcreate(b.file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    assert_refused(parse(&b, &error), CAROM_BAD_INPUT, error, "the file lacks the group 'fclib_local'");

    // a dataset without data that claims 2^40 numbers, and numbers of another type
    write_layout(&b, &by_rows);
    file = H5Fopen(b.file, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t vectors = H5Gopen2(file, "fclib_local/vectors", H5P_DEFAULT);
    H5Ldelete(vectors, "q", H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, (hsize_t[]){(hsize_t)1 << 40}, NULL), chunks = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(chunks, 1, (hsize_t[]){1024});
    const hid_t dataset = H5Dcreate2(vectors, "q", H5T_IEEE_F64LE, space, H5P_DEFAULT, chunks, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(chunks);
    H5Sclose(space);
    H5Gclose(vectors);
    H5Fclose(file);
    assert_refused(parse(&b, &error), CAROM_BAD_INPUT, error, "'q' of 'vectors' does not hold floating-point numbers, is too large");
    finish(&b);
}

// Exits with 1 when an answer makes no sense.
static void read_damaged(const char *bytes, size_t size) {
    carom_stream stream;
    carom_stream_start(&stream, 4, 0);
    for (int k = 0; k < support_count(100, 500, 5000); k++) {
        char *damaged = malloc(size);
        if (!damaged) _exit(1);
        memcpy(damaged, bytes, size);
        for (int j = support_random_integer(&stream, 1, 4); j > 0; j--)
            damaged[carom_stream_bits(&stream) % size] = (char)carom_stream_bits(&stream);
        carom_error error = {0};
        carom_fclib_problem problem;
        const carom_status status = carom_fclib_parse("damaged.hdf5", damaged, size, &problem, &error);
        if (status ? problem.delassus || !strstr(error.message, "damaged.hdf5: ") : !problem.delassus) _exit(1);
        carom_fclib_problem_release(&problem);
        free(damaged);
    }
}

static void damaged_files_are_refused_or_read(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    write_layout(&b, &by_rows);
    size_t size;
    char *bytes = support_read_file(b.file, &size);
    carom_fclib_problem problem;
    // every truncation
    for (size_t kept = 0; kept < size; kept += kept < 64 ? 1 : 61) {
        assert_int_equal(carom_fclib_parse(b.file, bytes, kept, &problem, &error), CAROM_BAD_INPUT);
        assert_null(problem.delassus);
    }
    // random bytes replaced: any answer but a crash; in a child, because HDF5 is left with what it cannot close
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        read_damaged(bytes, size);
        _exit(0);
    }
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
    free(bytes);
    finish(&b);
}

// -------------------------------------------------------------------------------------------------------- FCLIB itself

static void what_fclib_writes_is_read(void **state) {
    (void)state;
    // Static, so that valgrind finds in the child what only the parent goes on with.
    static bench b;
    b = start();
    layout l = by_rows;
    struct fclib_matrix W = {8, 4, 4, l.p, l.i, l.x, -2, NULL};
    struct fclib_info info = {"title", "description", ""};
    struct fclib_local local = {&W, NULL, NULL, l.mu, l.q, NULL, 2, &info};
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(fclib_write_local(&local, b.file) == 1 ? 0 : 1);
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
    carom_scene *scene = good_scene(&b, FILE_SCENE);
    assert_two_contacts(scene);
    carom_scene_free(scene);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_storage_is_read),
        cmocka_unit_test(rows_and_columns_are_told_apart),
        cmocka_unit_test(asymmetry_is_averaged_with_a_warning),
        cmocka_unit_test(names_and_restitution_stand_beside_the_file),
        cmocka_unit_test(bad_scenes_are_refused),
        cmocka_unit_test(bad_layouts_are_refused),
        cmocka_unit_test(global_problems_become_local),
        cmocka_unit_test(bad_global_problems_are_refused),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(damaged_files_are_refused_or_read),
        cmocka_unit_test(what_fclib_writes_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
