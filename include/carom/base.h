// SPDX-License-Identifier: Apache-2.0
/// @file
/// Foundations: statuses and errors, random streams, the parallel loop, digests, option tables, column tables, registries.
///
/// Conventions of every carom header: matrices are row-major, units are SI, input arrays are borrowed, outputs are defined
/// on every exit, `carom_error *` is last and may be NULL. The library never prints, exits or keeps global state.
#ifndef CAROM_BASE_H
#define CAROM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CAROM_EXTERN_BEGIN extern "C" {
#define CAROM_EXTERN_END   }
#else
#define CAROM_EXTERN_BEGIN
#define CAROM_EXTERN_END
#endif

/// Everything between these two is exported by the shared libraries, which are built with hidden visibility.
#define CAROM_API_BEGIN CAROM_EXTERN_BEGIN _Pragma("GCC visibility push(default)")
#define CAROM_API_END   _Pragma("GCC visibility pop") CAROM_EXTERN_END

#if defined(__GNUC__)
#define CAROM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CAROM_PRINTF(text, first)
#endif

#define CAROM_VERSION "0.1.0"

CAROM_API_BEGIN

// ---------------------------------------------------------------------------------------------------------- statuses

/// Call errors: what was wrong with a call. X(constant, name, sentence)
#define CAROM_STATUS_LIST(X)                                                                                                               \
    X(CAROM_OK, "ok", "the call did what was asked")                                                                                       \
    X(CAROM_BAD_INPUT, "bad-input", "an argument, key or file breaks a rule")                                                              \
    X(CAROM_UNSUPPORTED, "unsupported", "this build or library does not offer it")                                                         \
    X(CAROM_OUT_OF_MEMORY, "out-of-memory", "memory could not be allocated")                                                               \
    X(CAROM_IO_FAILED, "io-failed", "a file could not be read or written")                                                                 \
    X(CAROM_INTERNAL, "internal", "an internal check failed; please report it")

/// Mathematical statuses: how far the answer of a correct call got. X(constant, name, sentence)
#define CAROM_VERDICT_LIST(X)                                                                                                              \
    X(CAROM_COMPLETE, "complete", "what was asked for was computed")                                                                       \
    X(CAROM_INTERRUPTED, "interrupted", "the caller stopped the computation; the finished part is kept")                                   \
    X(CAROM_INCOMPLETE, "incomplete", "part of what was asked for is missing")                                                             \
    X(CAROM_RAY, "ray", "a pivoting method ended on a secondary ray")                                                                      \
    X(CAROM_BUDGET_SPENT, "budget-spent", "the iteration limit was reached")                                                               \
    X(CAROM_UNVERIFIED, "unverified", "a solution was returned that fails the independent check")                                          \
    X(CAROM_PERSISTENT_CONTACT, "persistent-contact", "a body touches without approaching and does not leave: free flight ends there")     \
    X(CAROM_ZENO_LIMIT, "zeno-limit", "the limit of impacts was reached")                                                                  \
    X(CAROM_STEP_TOO_LARGE, "step-too-large", "the step is too large for the speed of rotation")                                           \
    X(CAROM_NO_CONVERGENCE, "no-convergence", "an equation of a step could not be solved")                                                 \
    X(CAROM_ENERGY_LIMIT, "energy-limit", "the energy left its limits: the step is probably too large")                                    \
    X(CAROM_NO_FORCE, "no-force", "a force is not finite, or the centers of two bodies that interact coincide")

#define CAROM_ENUM_ENTRY(constant, name, sentence) constant,
typedef enum carom_status { CAROM_STATUS_LIST(CAROM_ENUM_ENTRY) } carom_status;
typedef enum carom_verdict { CAROM_VERDICT_LIST(CAROM_ENUM_ENTRY) } carom_verdict;
#undef CAROM_ENUM_ENTRY

const char *carom_status_name(carom_status status);
const char *carom_status_sentence(carom_status status);
const char *carom_verdict_name(carom_verdict verdict);
const char *carom_verdict_sentence(carom_verdict verdict);

enum { CAROM_MESSAGE_SIZE = 1024 };

/// Why a call failed: one sentence, one line, naming the offending input and the rule it broke.
typedef struct carom_error {
    carom_status status;
    char message[CAROM_MESSAGE_SIZE];
} carom_error;

/// Fills `error` (when not NULL) and returns `status`, so that a function can `return carom_fail(...)`.
/// Control characters of the formatted text, newlines included, become spaces; a text that is too long is cut.
carom_status carom_fail(carom_error *error, carom_status status, const char *format, ...) CAROM_PRINTF(3, 4);

/// `carom_fail(error, CAROM_OUT_OF_MEMORY, ...)` with a uniform sentence about `what`.
carom_status carom_fail_memory(carom_error *error, const char *what);

// ---------------------------------------------------------------------------------------------------- random streams

/// Largest seed that an option takes, 2^53 - 1: a whole number that its text gives exactly.
#define CAROM_MOST_SEED 9007199254740991.0

/// What a stream is for. Uses of one (seed, index) draw from streams of their own, so that a new use does not shift the numbers of another.
typedef enum carom_stream_use {
    CAROM_STREAM_GENERAL,
    CAROM_STREAM_CAPS,       ///< caps of sampled impact steps
    CAROM_STREAM_SELECTION,  ///< which of several solutions a step takes
    CAROM_STREAM_TRAINING,   ///< caps of the steps that cone maps are trained on
    CAROM_STREAM_WALK,       ///< directions and lengths of random solutions
} carom_stream_use;

/// A stream of pseudo-random numbers: Philox4x64-10 keyed by (seed, index) (Salmon et al. 2011, library Random123).
/// Streams with different keys are independent, so that sample `index` draws the same numbers on every thread count.
typedef struct carom_stream {
    uint64_t key[2];      ///< seed, index
    uint64_t counter[2];  ///< of the next block of four words: block, use
    uint64_t buffer[4];   ///< words of the current block
    int used;             ///< words of the buffer that are spent
} carom_stream;

void carom_stream_start(carom_stream *stream, uint64_t seed, uint64_t index);
void carom_stream_start_use(carom_stream *stream, uint64_t seed, uint64_t index, carom_stream_use use);

/// Next 64 random bits.
uint64_t carom_stream_bits(carom_stream *stream);

/// Next number, uniform in the open interval (0, 1): never exactly 0 or 1.
double carom_stream_uniform(carom_stream *stream);

/// Numbers 4 block to 4 block + 3 of many uniform streams at once: those that carom_stream_uniform draws one after the other.
/// @param index    [count] of the streams (seed, index)
/// @param numbers  [4 x stride] number 4 block + k of stream i at k * stride + i
void carom_stream_uniform_block(uint64_t seed, const uint64_t *index, size_t count, carom_stream_use use, uint64_t block, size_t stride,
                                double *numbers);

/// Next number of a standard normal distribution (Box-Muller, cosine branch: two uniform numbers each).
double carom_stream_normal(carom_stream *stream);

// -------------------------------------------------------------------------------------------------------------- ranks

/// Bytes that travel between processes: written at the end, read from the front. Both sides run the same program on like machines.
typedef struct carom_bytes carom_bytes;

carom_status carom_bytes_create(carom_bytes **bytes, carom_error *error);
void carom_bytes_free(carom_bytes *bytes);
/// Forgets what was written and keeps the memory.
void carom_bytes_clear(carom_bytes *bytes);
carom_status carom_bytes_put(carom_bytes *bytes, const void *values, size_t size, carom_error *error);
/// @return CAROM_INTERNAL when fewer than `size` bytes are left to be read
carom_status carom_bytes_take(carom_bytes *bytes, void *values, size_t size, carom_error *error);
/// All that was written. `*size` bytes.
const void *carom_bytes_data(const carom_bytes *bytes, size_t *size);
/// Replaces the contents by `size` bytes that the caller fills in; NULL when there is no memory for them.
void *carom_bytes_renew(carom_bytes *bytes, size_t size);

/// Processes that share a computation. Every rank makes the same calls; rank 0 alone receives what they lead to.
/// How messages travel is the caller's: libcarom knows no MPI.
typedef struct carom_ranks {
    int rank, count;
    void *user;
    /// Returns when `message` may be changed; messages between two ranks keep their order. Called from the calling thread only.
    carom_status (*send)(void *user, int to, const carom_bytes *message, carom_error *error);
    /// Waits for the next message of a rank and replaces the contents of `message` by it.
    carom_status (*receive)(void *user, int from, carom_bytes *message, carom_error *error);
    bool ended;  ///< a failure was agreed on: no rank sends any more. False at first
} carom_ranks;

/// Makes a failure on one rank a failure of all: returns the status, and fills in the error, of the lowest rank that failed.
/// A rank that fails alone calls it where the others come to their next agreement, whichever that is. NULL: one rank.
carom_status carom_ranks_agree(carom_ranks *ranks, carom_status status, carom_error *error);

// ----------------------------------------------------------------------------------------------------- parallel loop

/// How a long computation runs, is watched, and is stopped. All zero is valid: one thread a core, never cancelled, silent.
typedef struct carom_control {
    int threads;                                                ///< 0: as many as OpenMP offers
    bool (*cancelled)(void *user);                              ///< polled between blocks from any thread; may be NULL
    void (*progress)(void *user, int64_t done, int64_t total);  ///< called from the calling thread; may be NULL
    void *user;
    carom_ranks *ranks;  ///< NULL: this process computes alone
} carom_control;

/// Has the caller asked to stop? False for NULL. Long computations of laws poll it between steps.
bool carom_control_cancelled(const carom_control *control);

/// A loop over blocks 0..count-1: `compute` runs on any thread, `deliver` on the calling thread in block order.
typedef struct carom_loop {
    int64_t blocks;
    void *user;
    /// Computes one block into `slot`, with the scratch memory of `worker`; both are small dense indices.
    carom_status (*compute)(void *user, int worker, int slot, int64_t block, carom_error *error);
    /// Hands the finished block in `slot` on.
    carom_status (*deliver)(void *user, int slot, int64_t block, carom_error *error);
    /// How a finished block travels to rank 0: out of a slot, and into one. NULL: every rank runs the whole loop for itself.
    carom_status (*pack)(void *user, int slot, carom_bytes *into, carom_error *error);
    carom_status (*unpack)(void *user, int slot, carom_bytes *from, carom_error *error);
} carom_loop;

/// Workers that `carom_loop_run` uses under this control: at least 1.
int carom_control_workers(const carom_control *control);

/// Slots that `carom_loop_run` uses for that many workers. A caller allocates this many block buffers.
int carom_loop_slots(int workers);

/// Runs the loop with `workers` threads. Results depend on neither their number nor timing, because blocks are delivered in order.
/// When cancelled, a prefix of the blocks has been delivered and `*delivered` is less than `blocks`.
/// With ranks the blocks are dealt to them in runs, and all are delivered on rank 0; `*delivered` and the status are the same on every
/// rank.
/// @return CAROM_OK, also when cancelled; otherwise the error of the first block in order that failed
carom_status carom_loop_run(const carom_loop *loop, const carom_control *control, int workers, int64_t *delivered, carom_error *error);

// ------------------------------------------------------------------------------------------------------------ digest

enum { CAROM_DIGEST_TEXT_SIZE = 65 };  ///< 64 hexadecimal digits and the end

/// SHA-256 over a sequence of values, little-endian on every machine.
typedef struct carom_digest carom_digest;

carom_status carom_digest_create(carom_digest **digest, carom_error *error);
void carom_digest_add_doubles(carom_digest *digest, const double *values, size_t count);
void carom_digest_add_bytes(carom_digest *digest, const void *bytes, size_t size);
/// Writes the digest of all that was added and starts anew.
void carom_digest_finish(carom_digest *digest, char text[CAROM_DIGEST_TEXT_SIZE]);
void carom_digest_free(carom_digest *digest);

// ----------------------------------------------------------------------------------------------------- option tables

typedef enum carom_option_type {
    CAROM_OPTION_INTEGER,   ///< field int64_t; whole numbers written like 1e6 are accepted; 0 in the defaults means "auto" where 1 is the
                            ///< least
    CAROM_OPTION_REAL,      ///< field double; NaN in the defaults means "not set" or "auto"
    CAROM_OPTION_CHOICE,    ///< field int: index into `choices`
    CAROM_OPTION_TEXT,      ///< field const char *, borrowed from whoever sets it
    CAROM_OPTION_CONTACTS,  ///< field const char *: contact names with commas between them, borrowed
    CAROM_OPTION_SWITCH,    ///< field bool; "true" or "false" in scenes, a flag without value on the command line
} carom_option_type;

/// The least positive double.
#define CAROM_POSITIVE 4.9406564584124654e-324

/// One option of a law, sampler or command: a row from which flags, scene keys, `--help` and docs are made.
typedef struct carom_option {
    const char *name;  ///< as in scenes (`max_steps`); the flag is `--max-steps`
    carom_option_type type;
    size_t offset;        ///< of the field in the option struct
    double least, most;   ///< closed range of numbers; CAROM_POSITIVE as the least means "greater than zero"
    const char *unit;     ///< "" where it has none
    const char *initial;  ///< default as shown to users
    const char *doc;
    const char *const *choices;  ///< of a choice, NULL-terminated
} carom_option;

/// Index of the option called `name` among `count` rows, -1 if there is none.
int carom_option_find(const carom_option *rows, int count, const char *name);

/// Parses `text` by the row's type and range and stores it in the option struct. The whole text must be one token.
/// @return CAROM_BAD_INPUT with a message that starts with the option's name
carom_status carom_option_set(const carom_option *row, void *options, const char *text, carom_error *error);

/// False when the row is a choice without that name: the text may be meant for a law with other choices.
bool carom_option_offers(const carom_option *row, const char *text);

/// Writes the value that the option struct holds as text, as `carom_option_set` would read it. "auto" for a NaN.
void carom_option_print(const carom_option *row, const void *options, char *text, size_t size);

/// Whole-token finite number: decimal notation only. False for "1abc", "nan", "inf", hexadecimal, an empty text.
bool carom_parse_number(const char *text, double *value);

/// Writes a number with 17 significant digits and a decimal point, whatever the locale, so that reading it gives the same double.
void carom_print_number(double value, char *text, size_t size);

// ----------------------------------------------------------------------------------------------------- column tables

typedef enum carom_column_type {
    CAROM_COLUMN_REAL,      ///< `width` doubles a row; NaN means "not determined"
    CAROM_COLUMN_SQUARE,    ///< the same, a square matrix by rows: `width` is 4, 9, 16, ...
    CAROM_COLUMN_INTEGER,   ///< `width` int64_t a row
    CAROM_COLUMN_BOOLEAN,   ///< one int64_t a row, 0 or 1
    CAROM_COLUMN_FLAGS,     ///< one int64_t a row, a bit for each entry of `flags`
    CAROM_COLUMN_TEXT,      ///< one text a row
    CAROM_COLUMN_CONTACTS,  ///< one list of contact indices a row, or none
    CAROM_COLUMN_SERIES,    ///< one list of doubles a row, a multiple of `width` long; of records where `flags` names their fields
} carom_column_type;

/// Widths that depend on the problem.
enum { CAROM_WIDTH_VELOCITY = -1, CAROM_WIDTH_CONTACTS = -2, CAROM_WIDTH_TANGENTS = -3, CAROM_WIDTH_CONTACT_SPACE = -4 };

/// One column of a table: JSON fields, HDF5 datasets, tables on the terminal and docs are made from it.
typedef struct carom_column {
    const char *name;
    carom_column_type type;
    int width;         ///< entries a row, or a CAROM_WIDTH constant
    const char *unit;  ///< "" where it has none
    const char *doc;
    /// NULL-terminated: names of the bits of a flags column; of the fields of a series of records, each followed by "=NAME" for every text
    /// that its numbers 0, 1, ... stand for, where they do.
    const char *const *flags;
} carom_column;

/// What the width constants stand for in one problem.
typedef struct carom_sizes {
    int nv, contacts,
        tangents;  ///< velocities; contacts; tangential components (contacts x tangent_dim). Contact space: contacts + tangents
} carom_sizes;

int carom_column_width(const carom_column *column, const carom_sizes *sizes);

/// Rows of named, typed columns. An outcome set is one, and so are the results that a law reports once.
typedef struct carom_table carom_table;

/// An empty table over `first_count` columns followed by `second_count` more (either may be 0). The rows of columns are borrowed.
carom_status carom_table_create(const carom_column *first, int first_count, const carom_column *second, int second_count,
                                const carom_sizes *sizes, carom_table **table, carom_error *error);
void carom_table_free(carom_table *table);
/// Removes all rows and keeps the memory.
void carom_table_clear(carom_table *table);
int64_t carom_table_rows(const carom_table *table);
int carom_table_columns(const carom_table *table);
const carom_column *carom_table_column(const carom_table *table, int column);
const carom_sizes *carom_table_sizes(const carom_table *table);
/// Index of the column called `name`, -1 if there is none.
int carom_table_find(const carom_table *table, const char *name);

/// Adds one row: NaN, 0, false, "" and "no list". Cells are then filled by the setters, which address the last row.
carom_status carom_table_add_row(carom_table *table, carom_error *error);
/// Adds `count` rows; setters address the last of them.
carom_status carom_table_add_rows(carom_table *table, int64_t count, carom_error *error);
/// Appends all rows of a table with the same columns.
carom_status carom_table_append(carom_table *table, const carom_table *rows, carom_error *error);

/// Appends one row of such a table.
carom_status carom_table_append_row(carom_table *table, const carom_table *rows, int64_t row, carom_error *error);

/// Writes all rows behind what `into` holds, and replaces the rows of a table with the same columns by them.
carom_status carom_table_pack(const carom_table *table, carom_bytes *into, carom_error *error);
carom_status carom_table_unpack(carom_table *table, carom_bytes *from, carom_error *error);

/// Cells of the last row, `width` of them, to be written. Only for real and square columns.
double *carom_table_reals(carom_table *table, int column);
/// Cells of the last row. For integer, boolean and flags columns.
int64_t *carom_table_integers(carom_table *table, int column);
carom_status carom_table_set_text(carom_table *table, int column, const char *text, carom_error *error);
carom_status carom_table_set_list(carom_table *table, int column, const int *contacts, int count, carom_error *error);

/// A series of `count` doubles for the last row.
carom_status carom_table_set_series(carom_table *table, int column, const double *values, int count, carom_error *error);

/// The whole column, rows x width. For real and square columns, and for integer, boolean and flags columns, respectively.
const double *carom_table_real_column(const carom_table *table, int column);
const int64_t *carom_table_integer_column(const carom_table *table, int column);
const char *carom_table_text(const carom_table *table, int column, int64_t row);
/// The list in a cell; NULL with `*count` -1 where there is none.
const int *carom_table_list(const carom_table *table, int column, int64_t row, int *count);

/// The series in a cell, `*count` doubles.
const double *carom_table_series(const carom_table *table, int column, int64_t row, int *count);

/// Receives blocks of rows in order. The table in memory and the result file are sinks.
typedef struct carom_sink {
    void *user;
    carom_status (*receive)(void *user, const carom_table *rows, carom_error *error);
} carom_sink;

/// A sink that appends to `table`.
carom_sink carom_table_sink(carom_table *table);

// --------------------------------------------------------------------------------------------------------- registries

/// Named things that the caller owns: LCP solvers, laws, integrators. Side libraries add theirs by explicit calls.
/// Not synchronised: fill it first, then share it between threads.
typedef struct carom_registry carom_registry;

typedef enum carom_registry_kind {
    CAROM_REGISTRY_SOLVERS,
    CAROM_REGISTRY_LAWS,
    CAROM_REGISTRY_INTEGRATORS,
    CAROM_REGISTRY_KINDS
} carom_registry_kind;

carom_status carom_registry_create_empty(carom_registry **registry, carom_error *error);
void carom_registry_free(carom_registry *registry);
/// @return CAROM_BAD_INPUT when the name is taken
carom_status carom_registry_add(carom_registry *registry, carom_registry_kind kind, const char *name, const void *entry,
                                carom_error *error);
int carom_registry_count(const carom_registry *registry, carom_registry_kind kind);
const void *carom_registry_entry(const carom_registry *registry, carom_registry_kind kind, int index);
/// NULL when there is none of that name.
const void *carom_registry_find(const carom_registry *registry, carom_registry_kind kind, const char *name);

CAROM_API_END

#endif
