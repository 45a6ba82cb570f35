// SPDX-License-Identifier: Apache-2.0
// Texts of Siconos: contact problems, local and global, and LCPs, with dense and block matrices.
#include "io/fclib/file.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

// W = [4 1 0 0; 1 3 0 0.5; 0 0 2 0; 0 0.5 0 1] of two planar contacts, q and mu; dense, and in blocks of 2 x 2 without the zeros.
static const double W[16] = {4, 1, 0, 0, 1, 3, 0, 0.5, 0, 0, 2, 0, 0, 0.5, 0, 1}, q[4] = {-1, 2, -3, 0.5}, mu[2] = {0.5, 0.25};
#define VECTORS "-1 2.0e+00 -3 0.5\n0.5 0.25\n"
#define DENSE_W "0\n4\n4\n4\t4\n4 1 0 0\n1 3 0 0.5\n0 0 2 0\n0 0.5 0 1\n"
#define BLOCK_W "1\n4\n4\n4\n2\n2\n2\t4\n2\t4\n3\n4\n0 2 4\n0 1 0 1\n0\n4 1 1 3\n1\n0 0 0 0.5\n2\n0 0 0 0.5\n3\n2 0 0 1\n"

static void contact_problems_are_read(void **state) {
    (void)state;
    const char *texts[] = {"2\n2\n" DENSE_W VECTORS, "2\n2\n" BLOCK_W VECTORS, "  2 2 " DENSE_W VECTORS "0 # a remark"};
    for (int k = 0; k < 3; k++) {
        carom_fclib_problem problem;
        carom_error error;
        assert_true(carom_siconos_is_text(texts[k]) && !carom_siconos_is_lcp(texts[k]));
        assert_ok(carom_contact_file_parse("a.dat", texts[k], strlen(texts[k]), &problem, &error), error);
        assert_int_equal(problem.contacts, 2);
        assert_int_equal(problem.tangent_dim, 1);
        assert_memory_equal(problem.delassus, W, sizeof W);
        assert_memory_equal(problem.velocity, q, sizeof q);
        assert_memory_equal(problem.friction, mu, sizeof mu);
        carom_fclib_problem_release(&problem);
    }
}

static void global_problems_become_local(void **state) {
    (void)state;
    // M = diag(2, 1, 4), H = [1 0; 0 2; 1 -1] of one planar contact, column by column; f, b, mu: W = H' M^-1 H, q = H' M^-1 f + b.
    const char *text = "2\n1\n0 3 3 3 3\n2 0 0\n0 1 0\n0 0 4\n0 3 2 3 2\n1 0\n1 0\n2 -1\n-2 1 2\n0.25 0.5\n0.7\n";
    carom_fclib_problem problem;
    carom_error error;
    assert_ok(carom_siconos_parse("a.dat", text, &problem, &error), error);
    assert_all_close(problem.delassus, ((double[]){0.75, -0.25, -0.25, 4.25}), 4, 1e-15);
    assert_all_close(problem.velocity, ((double[]){-0.25, 2}), 2, 1e-15);
    carom_fclib_problem_release(&problem);
    // As many velocities as rows of contact space: H tells it from a local problem.
    const char *square = "2\n1\n0 2 2 2 2\n2 0 0 1\n0 2 2 2 2\n0 1 1 0\n-2 1\n0 0\n0.7\n";
    assert_ok(carom_siconos_parse("a.dat", square, &problem, &error), error);
    assert_all_close(problem.delassus, ((double[]){1, 0, 0, 0.5}), 4, 1e-15);
    assert_all_close(problem.velocity, ((double[]){1, -1}), 2, 1e-15);
    carom_fclib_problem_release(&problem);
}

static void lcps_are_read_column_by_column(void **state) {
    (void)state;
    const char *texts[] = {"2\n0\n2\n2\n2\t2\n1 2\n3 4\n-5 -6", "2 1 2 2 1 1 1 2 2 2 1 0 1 0 0 1 2 3 4 -5 -6 a remark"};
    for (int k = 0; k < 2; k++) {
        int n;
        double *matrix, *vector;
        carom_error error;
        assert_true(carom_siconos_is_lcp(texts[k]));
        assert_ok(carom_siconos_parse_lcp("a.dat", texts[k], &n, &matrix, &vector, &error), error);
        assert_int_equal(n, 2);
        assert_memory_equal(matrix, ((double[]){1, 3, 2, 4}), 4 * sizeof(double));
        assert_memory_equal(vector, ((double[]){-5, -6}), 2 * sizeof(double));
        free(matrix);
        free(vector);
    }
}

static void bad_texts_are_refused(void **state) {
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"", "not an HDF5 file"},
        {"4 1 0 4 4", "a.dat: not a problem of Siconos: the dimension is 4"},
        {"2 0", "the number of contacts is 0"},
        {"2 1e9", "the number of contacts is 1e+09"},
        {"2 1.5", "the number of contacts is 1.5"},
        {"2 1 7", "the storage of a matrix is 7"},
        {"2 1 0 2", "it ends before the number of columns"},
        {"2 1 0 999999999999 2", "the number of rows of a matrix is 1e+12"},
        {"2 1 0 2 3 2 3 1 2 3 4 5 6", "its first matrix is not square, but 2 x 3"},
        {"2 1 0 2 2 3 2", "the number of rows of a matrix is 3"},
        {"2 1 0 2 2 2 2 1 0 0", "it ends before the first matrix"},
        {"2 1 0 2 2 2 2 1 0 0 nan 1 1 1", "'nan' of the first matrix is not a finite number"},
        {"2 1 0 2 2 2 2 1 0 0 1 1 1", "it ends before mu"},
        {"2 1 2 2 2 2\nCSparse Version 3.1.9", "Siconos' sparse storage"},
        {"2 1 1 2 2 1 1 1 3 2", "an end of a block is 3, must be a whole number from 2 to 2"},
        {"2 1 1 2 2 2 2 1 2 1", "an end of a block is 1, must be a whole number from 2 to 2"},
        {"2 1 1 2 2 1 1 1 2 2 9", "the number of starts of rows of blocks is 9"},
        {"2 1 1 2 2 1 1 1 2 2 2 7", "the number of stored blocks is 7"},
        {"2 1 1 2 2 1 1 1 2 2 2 1 0 5", "a start of a row of blocks is 5"},
        {"2 1 1 2 2 1 1 1 2 2 2 1 0 1 3", "a column of a block is 3"},
        {"2 1 1 2 2 1 1 1 2 2 2 1 0 1 0 4", "the number of a block is 4"},
        {"2 1 0 3 3 3 3 1 0 0 0 1 0 0 0 0 0 3 2 3 2 1 0 0 1 0 0 1 1 1 0 0 0", "M is not positive definite: a motion of 'v.3' has no"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        carom_fclib_problem problem;
        carom_error error;
        const carom_status status = carom_contact_file_parse("a.dat", cases[k].text, strlen(cases[k].text), &problem, &error);
        if (!status) print_error("case %zu is read\n", k);
        assert_int_not_equal(status, CAROM_OK);
        if (!strstr(error.message, cases[k].message)) fail_msg("'%s' lacks '%s'", error.message, cases[k].message);
        assert_null(problem.delassus);
    }
}

static void cut_texts_are_refused(void **state) {
    (void)state;
    const char *whole = "2\n2\n" BLOCK_W VECTORS;
    char text[400];
    // Without its last number, and at every shorter length.
    for (size_t length = 1; length < strlen(whole) - 5; length++) {
        memcpy(text, whole, length);
        text[length] = '\0';
        carom_fclib_problem problem;
        carom_error error;
        assert_int_equal(carom_siconos_parse("a.dat", text, &problem, &error), CAROM_BAD_INPUT);
        assert_null(problem.delassus);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_problems_are_read),      cmocka_unit_test(global_problems_become_local),
        cmocka_unit_test(lcps_are_read_column_by_column), cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(cut_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
