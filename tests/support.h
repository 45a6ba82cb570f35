// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every test program shares: cmocka, comparisons of doubles, the reference scenes, random impacts.
#ifndef CAROM_TESTS_SUPPORT_H
#define CAROM_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first
#include <cmocka.h>

#include "carom/carom.h"

// cmocka's assert_float_equal casts to float and lets NaN pass: these compare doubles and fail on NaN.

/// |actual - expected| <= tolerance * max(1, |expected|)
#define assert_close(actual, expected, tolerance) support_assert_close((actual), (expected), (tolerance), __FILE__, __LINE__)
/// The same for every entry, with max |expected| as the scale.
#define assert_all_close(actual, expected, count, tolerance)                                                                               \
    support_assert_all_close((actual), (expected), (size_t)(count), (tolerance), __FILE__, __LINE__)
/// CAROM_OK, or fails with the message of `error` (a carom_error); where that says that this build lacks a library, the test is skipped.
#define assert_ok(status, error) support_assert_ok((status), &(error), __FILE__, __LINE__)
/// The call failed with this status, and its message contains `text`.
#define assert_refused(status, expected, error, text) support_assert_refused((status), (expected), &(error), (text), __FILE__, __LINE__)

void support_assert_close(double actual, double expected, double tolerance, const char *file, int line);
void support_assert_all_close(const double *actual, const double *expected, size_t count, double tolerance, const char *file, int line);
void support_assert_ok(carom_status status, const carom_error *error, const char *file, int line);
void support_assert_refused(carom_status status, carom_status expected, const carom_error *error, const char *text, const char *file,
                            int line);

/// The scenes of Halm & Posa with the parameters of their tables: public reference numbers.
extern const carom_impact_data reference_block, reference_compass, reference_boxwall, reference_ramone, reference_disks;

/// Creates the impact or fails the test.
carom_impact *support_impact(const carom_impact_data *data);

/// Asks the law of this name, with options as name, text pairs that end with NULL, or fails the test.
carom_answer support_ask(const carom_registry *registry, const carom_impact *impact, const char *name, const char *const *pairs);

/// How a random impact is degenerate.
typedef enum support_family {
    FAMILY_PLAIN,
    FAMILY_DUPLICATED,
    FAMILY_INTEGER,
    FAMILY_ZERO_CAPS,
    FAMILY_FRICTIONLESS,
    FAMILIES
} support_family;

/// A random impact: contacts uniform in 1..max_contacts, nv uniform in 1..3m, M = AA' + 0.1 I, J and v standard normal, mu uniform in [0,
/// max_friction]. The family changes it: duplicated contacts, integer J and v in {-1,0,1}, mu = 0. `tangent_dim` 1 or 2.
carom_impact *support_random_impact(carom_stream *stream, support_family family, int max_contacts, int tangent_dim, double max_friction);

/// The same impact in other units: masses, lengths at the contacts and times times a factor each, and every velocity coordinate times one
/// of its own, `coordinate` [nv] (NULL: ones). Velocities become coordinate_k time v_k, contact velocities length time u, impulses mass
/// time / length lambda. With powers of two, and of four for the mass, every number of the impact changes exactly.
carom_impact *support_impact_in_units(const carom_impact_data *data, double mass, double length, double time, const double *coordinate);

/// Whole numbers uniform in least..most.
int support_random_integer(carom_stream *stream, int least, int most);

/// `large` when CAROM_TEST_LONG is set, `small` when CAROM_TEST_QUICK is, otherwise `usual`.
int support_count(int small, int usual, int large);

/// Does this build have a library of scripts/libraries.mk ("PPL")? Tests that need one that is missing call skip().
bool support_has(const char *library);
/// Skips the test where a message says that this build lacks a library, if it does lack some.
void support_skip_missing(const char *message);

/// A fresh directory for the files of one test; removed, with its files, by support_remove_directory.
char *support_make_directory(void);
void support_remove_directory(char *path);
/// Writes a file or fails the test; returns its path, to be freed.
char *support_write_file(const char *directory, const char *name, const char *text);
/// DIRECTORY/NAME, to be freed.
char *support_join_path(const char *directory, const char *name);
/// The bytes of a file and a final zero, to be freed; fails the test where there is none.
char *support_read_file(const char *path, size_t *size);

/// Runs `carom ARGUMENTS` in a shell and returns its exit status, -1 where a signal ended it; `text` [size] receives what it prints on
/// stdout, or on stderr where asked.
int support_run_command(const char *arguments, bool want_errors, char *text, size_t size);

#endif
