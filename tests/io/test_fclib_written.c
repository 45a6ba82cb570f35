// SPDX-License-Identifier: Apache-2.0
// FCLIB files are written: what is written comes back and FCLIB reads it, whole or not at all.
#include "fclib_support.h"

#include <fclib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ------------------------------------------------------------------------------------------------------------ round trip

static void write_problem(const bench *b, const carom_impact *impact) {
    carom_error error = {0};
    assert_ok(carom_fclib_write(b->file, "a problem \xc3\xb6", impact, &error), error);
}

static double *contact_velocity(const carom_impact *impact) {
    double *u = malloc((size_t)carom_impact_contact_size(impact) * sizeof *u);
    assert_non_null(u);
    carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
    return u;
}

static void assert_same_problem(const carom_impact *impact, const carom_impact *copy) {
    const carom_impact_data *data = carom_impact_get_data(impact), *copied = carom_impact_get_data(copy);
    const size_t n = (size_t)carom_impact_contact_size(impact);
    assert_int_equal(copied->contacts, data->contacts);
    assert_int_equal(copied->tangent_dim, data->tangent_dim);
    assert_memory_equal(carom_impact_delassus(copy), carom_impact_delassus(impact), n * n * sizeof(double));
    assert_memory_equal(copied->friction, data->friction, (size_t)data->contacts * sizeof(double));
    double *u = contact_velocity(impact);
    for (size_t i = 0; i < n; i++) assert_true(copied->velocity[i] == u[i]);
    free(u);
}

static void problems_come_back_bit_by_bit(void **state) {
    (void)state;
    bench b = start();
    const carom_impact_data *references[] = {&reference_block, &reference_compass, &reference_boxwall, &reference_ramone, &reference_disks};
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    for (int k = 0; k < 25; k++) {
        carom_impact *impact = k < 5 ? support_impact(references[k]) : support_random_impact(&stream, FAMILY_PLAIN, 6, 1 + k % 2, 1);
        write_problem(&b, impact);
        carom_scene *scene = good_scene(&b, FILE_SCENE);
        // Of the random problems, some do not collide or have contacts that face each other, which is worth a warning.
        for (int i = 0; i < carom_scene_warnings(scene); i++)
            assert_true(strstr(carom_scene_warning(scene, i), "no contact approaches") ||
                        strstr(carom_scene_warning(scene, i), "opposite normals"));
        assert_same_problem(impact, carom_scene_impact(scene));
        carom_scene_free(scene);
        carom_impact_free(impact);
    }
    finish(&b);
}

// The scene with W, u and mu in full digits.
static char *print_arrays(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int n = carom_impact_contact_size(impact);
    const double *W = carom_impact_delassus(impact);
    double *u = contact_velocity(impact);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "delassus:\n  W: [");
    for (int i = 0; i < n * n; i++) fprintf(out, "%s%.17g%s", i % n ? ", " : i ? ", [" : "[", W[i], i % n == n - 1 ? "]" : "");
    fprintf(out, "]\n  u: [");
    for (int i = 0; i < n; i++) fprintf(out, "%s%.17g", i ? ", " : "", u[i]);
    fprintf(out, "]\n  mu: [");
    for (int i = 0; i < data->contacts; i++) fprintf(out, "%s%.17g", i ? ", " : "", data->friction[i]);
    fprintf(out, "]\n");
    fclose(out);
    free(u);
    return text;
}

static void sample_digest(const bench *b, const char *text, char digest[CAROM_DIGEST_TEXT_SIZE]) {
    carom_error error = {0};
    carom_scene *scene = good_scene(b, text);
    carom_sample_options options = carom_sample_defaults();
    options.samples = 200;
    carom_answer answer = {0};
    const carom_law *law = carom_law_find(b->registry, "halm-posa");
    assert_non_null(law);
    assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = carom_scene_impact(scene), .options = &options}, &answer, &error), error);
    const int column = carom_table_find(answer.result, "digest");
    assert_true(column >= 0);
    strcpy(digest, carom_table_text(answer.result, column, 0));
    carom_answer_free(&answer);
    carom_scene_free(scene);
}

static void samples_of_file_and_arrays_are_the_same(void **state) {
    (void)state;
    bench b = start();
    carom_impact *impact = support_impact(&reference_compass);
    write_problem(&b, impact);
    char *arrays = print_arrays(impact);
    char from_file[CAROM_DIGEST_TEXT_SIZE], from_arrays[CAROM_DIGEST_TEXT_SIZE];
    sample_digest(&b, FILE_SCENE, from_file);
    sample_digest(&b, arrays, from_arrays);
    assert_string_equal(from_file, from_arrays);
    free(arrays);
    carom_impact_free(impact);
    finish(&b);
}

// -------------------------------------------------------------------------------------------------------- FCLIB itself

// FCLIB ends the process when it dislikes a file, which counts as a failure too.
static void fclib_reads_what_is_written(void **state) {
    (void)state;
    bench b = start();
    carom_stream stream;
    carom_stream_start(&stream, 8, 0);
    for (int dim = 1; dim <= 2; dim++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 4, dim, 1);
        write_problem(&b, impact);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const int n = carom_impact_contact_size(impact);
        double *u = contact_velocity(impact);
        struct fclib_local *local = fclib_read_local(b.file);
        assert_non_null(local);
        assert_int_equal(local->spacedim, 1 + dim);
        assert_int_equal(local->W->m, n);
        assert_int_equal(local->W->n, n);
        assert_int_equal(local->W->nz, -2);
        assert_null(local->V);
        assert_null(local->R);
        assert_string_equal(local->info->title, "a problem \xc3\xb6");
        assert_all_close(local->mu, data->friction, data->contacts, 0);
        assert_all_close(local->q, u, n, 0);
        assert_int_equal(local->W->p[n], local->W->nzmax);
        for (int i = 0; i < n; i++)
            for (int k = local->W->p[i]; k < local->W->p[i + 1]; k++)
                assert_true(local->W->x[k] == carom_impact_delassus(impact)[i * n + local->W->i[k]]);
        fclib_delete_local(local);
        free(local);
        free(u);
        carom_impact_free(impact);
    }
    finish(&b);
}

// ------------------------------------------------------------------------------------------------------------------ LCP

static void the_lcp_is_that_of_the_simultaneous_step(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_stream stream;
    carom_stream_start(&stream, 9, 0);
    for (int dim = 1; dim <= 2; dim++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, dim, 1);
        write_problem(&b, impact);
        carom_lcp_problem lcp;
        assert_ok(carom_lcp_problem_read(b.file, &lcp, &error), error);
        assert_null(lcp.warning);

        const carom_stepper_options options = carom_stepper_defaults();
        carom_stepper *stepper;
        assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
        const int n = carom_stepper_lcp_size(stepper);
        double *w = malloc((size_t)n * sizeof *w);
        assert_non_null(w);
        carom_stepper_lcp_vector(stepper, carom_impact_get_data(impact)->velocity, NULL, w);
        assert_int_equal(lcp.n, n);
        assert_int_equal(n, carom_impact_get_data(impact)->contacts * (dim == 1 ? 4 : 6));
        assert_all_close(lcp.W, carom_stepper_lcp_matrix(stepper), n * n, 0);
        assert_all_close(lcp.w, w, n, 0);
        free(w);
        carom_stepper_free(stepper);
        carom_lcp_problem_release(&lcp);
        carom_impact_free(impact);
    }
    finish(&b);
}

// -------------------------------------------------------------------------------------------------------------- writing

static void rewriting_gives_the_same_bytes(void **state) {
    (void)state;
    bench b = start();
    carom_impact *impact = support_impact(&reference_disks);
    size_t sizes[2];
    char *bytes[2];
    for (int k = 0; k < 2; k++) {
        write_problem(&b, impact);
        bytes[k] = support_read_file(b.file, &sizes[k]);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
    carom_impact_free(impact);
    finish(&b);
}

static void only_regular_files_are_replaced(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_impact *impact = support_impact(&reference_block);
    assert_refused(carom_fclib_write(b.directory, "", impact, &error), CAROM_BAD_INPUT, error, "is a directory");
    assert_refused(carom_fclib_write("/dev/null", "", impact, &error), CAROM_BAD_INPUT, error, "not a regular file");
    char *scene = support_write_file(b.directory, "scene.yaml", "name: mine\n");
    assert_refused(carom_fclib_write(scene, "", impact, &error), CAROM_BAD_INPUT, error, "scene.yaml: is not an HDF5 file");
    free(scene);
    assert_refused(carom_fclib_write("/nonexistent/x", "", impact, &error), CAROM_IO_FAILED, error, "/nonexistent/x");
    carom_impact_free(impact);
    finish(&b);
}

// Writes under a limit of the file size; true when it was refused with the reason.
static bool full_disk_is_reported(const bench *b, const carom_impact *impact, rlim_t limit) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        // A sanitizer that has something to say would try for ever to write it into a file of limited size.
        if (!freopen("/dev/null", "w", stderr)) exit(2);
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit limits = {limit, limit};
        setrlimit(RLIMIT_FSIZE, &limits);
        carom_error error = {0};
        const carom_status status = carom_fclib_write(b->file, "", impact, &error);
        // exit, not _exit: HDF5 cleans up
        exit(status == CAROM_IO_FAILED && strstr(error.message, "problem.hdf5: the file could not be written") ? 0 : 1);
    }
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    return WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0;
}

static void full_disks_leave_nothing(void **state) {
    (void)state;
    bench b = start();
    carom_impact *impact = support_impact(&reference_disks);
    write_problem(&b, impact);
    struct stat about;
    assert_int_equal(stat(b.file, &about), 0);
    assert_int_equal(unlink(b.file), 0);
    for (rlim_t limit = 0; limit < (rlim_t)about.st_size; limit += 700) assert_true(full_disk_is_reported(&b, impact, limit));
    // nothing is left: the directory can be removed as an empty one
    assert_int_equal(rmdir(b.directory), 0);
    assert_int_equal(mkdir(b.directory, 0700), 0);
    carom_impact_free(impact);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_come_back_bit_by_bit),  cmocka_unit_test(samples_of_file_and_arrays_are_the_same),
        cmocka_unit_test(fclib_reads_what_is_written),    cmocka_unit_test(the_lcp_is_that_of_the_simultaneous_step),
        cmocka_unit_test(rewriting_gives_the_same_bytes), cmocka_unit_test(only_regular_files_are_replaced),
        cmocka_unit_test(full_disks_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
