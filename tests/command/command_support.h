// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of the command share: running it, its JSON, the files it writes, scenes, command lines that it must refuse.
/// Every function fails the test where it cannot do what it says.
#ifndef CAROM_TESTS_COMMAND_SUPPORT_H
#define CAROM_TESTS_COMMAND_SUPPORT_H

#include <jansson.h>
#include <sys/types.h>

#include "support.h"

enum { PATH_SIZE = 4096, TIME_LIMIT = 120 };  // seconds that one run may take, sanitizers on a busy machine included

/// Absolute, because the command runs in the directory of its test, where everything that it leaves behind is seen.
extern char command_path[PATH_SIZE], scenes_path[PATH_SIZE];

/// Set-up of a group of tests: finds the command and the scenes.
int find_command(void **state);
/// Set-up and tear-down of one test, whose state is the path of a fresh directory.
int set_up(void **state);
int tear_down(void **state);

// ------------------------------------------------------------------------------------------------- running the command

/// One run of the command.
typedef struct request {
    const char *directory;         ///< where it runs
    const char *const *arguments;  ///< after the command's name, NULL-terminated
    const char *output;            ///< file that stdout goes to; NULL: captured
    bool broken_pipe;              ///< stdout is a pipe that nobody reads
    unsigned long file_limit;      ///< bytes that a file may have; 0: any
} request;

/// What a run left. Texts are to be freed by release.
typedef struct report {
    int status;  ///< exit status; the negative number of the signal that ended it
    char *out, *err;
    size_t out_size;
} report;

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
/// Runs `carom ...` in a directory. Where it says that this build lacks a library, the test is skipped.
#define run(in_directory, ...) run_request(&(request){.directory = (in_directory), .arguments = WORDS(__VA_ARGS__)})

report run_request(const request *asked);
void release(report *r);
/// Prints the command line and what came of it.
void show(const request *asked, const report *r);
/// Runs a command that would take far too long with `--json`, and stops it by a signal half a second after it started to compute.
/// @return its document, which it prints with status 1
json_t *stop(const request *asked, int signal_number);

/// Runs a line of bash in a directory, with the command as $carom; returns its standard output, to be freed.
char *run_line(const char *directory, int status, const char *line);
void run_quietly(const char *directory, int status, const char *line);
void check_text(const char *whole, const char *part);
int count_text(const char *whole, const char *part);

// ---------------------------------------------------------------------------------------------------------------- JSON

/// The document of a run with `--json` that ends with this status and says nothing else.
json_t *ask_request(const request *asked, int status);
#define ask_for(status, in_directory, ...)                                                                                                 \
    ask_request(&(request){.directory = (in_directory), .arguments = WORDS(__VA_ARGS__, "--json")}, (status))
#define ask(in_directory, ...) ask_for(0, (in_directory), __VA_ARGS__)

/// The one document on stdout, no more and no less; NULL where there is none.
json_t *parse(const report *r);
/// The value at a place like "outcomes.0.word", of a given type.
const json_t *at(const json_t *document, const char *place);
double number(const json_t *document, const char *place);
const char *text(const json_t *document, const char *place);
bool is_true(const json_t *document, const char *place);
size_t length(const json_t *document, const char *place);
/// Compares the numbers of nested lists, row by row, with as many expected ones.
void check_numbers(const json_t *document, const char *place, const double *expected, int count, double tolerance);
/// The only outcome of an answer, checked for what every outcome obeys.
const json_t *only_outcome(const json_t *answer);

// --------------------------------------------------------------------------------------------------------------- files

char *join(char path[PATH_SIZE], const char *directory, const char *name);
bool exists(const char *directory, const char *name);
void write_text(const char *directory, const char *name, const char *content);
/// The start of a file; "" where there is none.
size_t read_start(const char *path, char *bytes, size_t room);
/// A whole file, to be freed.
char *read_file(const char *directory, const char *name);
bool is_png(const char *path);
/// Everything below a directory as text, to be freed.
char *snapshot(const char *directory);
/// The attribute `complete` of a result file.
int64_t read_complete(const char *path);
/// Rows and columns of a dataset; 0 columns where it has one dimension.
void read_size(const char *path, const char *dataset, size_t size[2]);
size_t count_rows(const char *path, const char *dataset);
/// Writes an HDF5 file that is not one of carom's.
void write_foreign(const char *path);
/// Checks that `files` of a document names this many PNG and SVG pictures.
void check_pictures(const char *directory, const json_t *drawn, size_t count);

// -------------------------------------------------------------------------------------------------------------- scenes

enum { CONTACTS = 2, COMPONENTS = 4 };  // of each published scene: two contacts; their normal, then their tangential velocities

/// A shipped scene with the numbers published for it.
typedef struct published {
    const char *scene;
    const carom_impact_data *data;
    double kinetic_energy;
    double r_norm, psi, step_bound;   ///< least ||r||, psi of the closing step, c of eq. (78)
    const char *step, *steps;         ///< h [N s] and N of the tables
    double lcps;                      ///< mean of LCPs per sample, 2^16 samples
    double most[COMPONENTS];          ///< largest velocities [m/s] of the set; infinite where none is published
    double simultaneous[COMPONENTS];  ///< Anitescu-Potra outcome that Lemke's method selects
    double simultaneous_tolerance;
    double sequential[2][COMPONENTS];  ///< outcomes of the orders A, B and B, A
    int visits[2];                     ///< contacts visited in these orders
} published;

enum { SCENES = 3 };
extern const published scenes[SCENES];

const char *scene_path(const published *p, char path[PATH_SIZE]);
/// scenes/STEM.yaml
const char *motion_path(const char *stem, char path[PATH_SIZE]);
void check_velocities(const json_t *outcome, const double expected[COMPONENTS], double tolerance);

/// A point mass over a floor in the plane: small, and right in every respect.
#define FLAT_PARTS "M: [[1, 0], [0, 1]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.5], v: [1, -1]"
#define FLAT_SCENE "name: flat\nmatrices: {" FLAT_PARTS "}\n"
/// A ball of radius 1; its height and the end of the map are to follow.
#define BALL_AT "body: {mass: 1, shape: {ellipsoids: [{semiaxes: [1, 1, 1]}]}}\ninitial: {position: [0, 0, "
/// Two balls on a line, the first of which runs into the second.
#define TWO_BALLS "balls: {masses: [1, 1], radius: 0.5, positions: [-2, 0], velocities: [1, 0]}\n"
/// One rigid body in space; `more` are further keys of it.
#define BODIES(more) "simulate: {integrator: rodrigues, duration: 0.1}\nbodies: [{mass: 1, inertia: 1" more "}]\n"
/// An LCP with the solution (1/3, 1/3).
#define SMALL_LCP "{\"W\": [[2, 1], [1, 2]], \"w\": [-1, -1]}"
/// Two contacts in the plane, with 64 samples.
#define BLOCK_SCENE                                                                                                                        \
    "name: block\n"                                                                                                                        \
    "matrices: {M: [[1, 0, 0], [0, 1, 0], [0, 0, 0.41666666666666669]], Jn: [[0, 1, -0.5], [0, 1, 0.5]], Jt: [[1, 0, 1], [1, 0, 1]],\n"    \
    "           mu: [1, 1], v: [0, -0.44294469180700202, 0], names: [A, B]}\n"                                                             \
    "impact: {step: 0.3, max_steps: 10, samples: 64, seed: 1}\n"
/// The same at rest on a floor: there is no energy to compare with.
#define STILL_SCENE "matrices: {M: [[1, 0], [0, 1]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.5], v: [0, 0]}\nimpact: {samples: 64}\n"
/// The unit cube on its four bottom corners (spatial; scenes/cube-k4.yaml).
extern const char cube_scene[];

// ------------------------------------------------------------------------------------------------------------- refusals

/// A command line that is refused, and a part of the one sentence that says why.
typedef struct refusal {
    const char *words;  ///< with blanks between them; '' is an empty one
    const char *says;
    const char *content;  ///< of case.yaml, where the words name it
} refusal;

/// Status 2, nothing on stdout, one line on stderr that contains `says`.
bool is_refusal(const report *r, const char *says);
/// Runs every command line in a directory of files that they may name, and checks that each is refused and leaves nothing behind.
void check_refusals(const char *directory, const refusal *refusals, size_t count);

#endif
