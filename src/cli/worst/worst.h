// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `carom worst` and `carom replay` share: the file of witnesses.
#ifndef CAROM_CLI_WORST_H
#define CAROM_CLI_WORST_H

#include "carom/temporary.h"
#include "cli/cli_internal.h"

/// One question: what it asks for, what the search found, and what no solution passes.
typedef struct worst_question {
    cli_objective asked;
    carom_worst found;
    carom_witness witness;  ///< rows 0 where there is no member
    double upper;           ///< certified, of the functional with its sign; NaN for none
    const char *method;     ///< what certifies it: "exact", "outer", "fan", "energy" or "start", or "list"; NULL for none
    bool by_exact_set;      ///< `upper` is the largest value of the exact set
} worst_question;

/// The questions of one impact and how they were asked.
typedef struct worst_run {
    const carom_scene *scene;
    const carom_law *law;
    void *law_options;
    carom_member_source source;  ///< what is searched among
    carom_worst_options options;
    worst_question *questions;  ///< [count]
    int count;
    double seconds;
    carom_verdict verdict;
    char unbounded[CAROM_MESSAGE_SIZE];  ///< why there are no certified bounds; "" where there may be
} worst_run;

/// Certified upper bounds of the questions, by the exact set or by carom_bound_solve, with this budget of time for each [s]: for all
/// uncertain velocities and friction of the scene. Where anything else is uncertain, `unbounded` says so.
carom_status worst_bound(worst_run *run, double seconds, const carom_control *control, carom_error *error);

/// The value of a question as it was asked: with the sign of a minimum turned back.
static inline double worst_signed(const worst_question *question, double value) { return question->asked.minimum ? 0 - value : value; }

extern const carom_file_kind witness_kind;

/// Writes the witnesses of all questions that have one.
carom_status witness_write(const char *path, const worst_run *run, carom_error *error);

/// A witness file that was read.
typedef struct witness_file {
    json_t *document;
    const char *scene, *digest;  ///< as the file has them
    const carom_law *law;
    void *law_options;
    int count;
} witness_file;

/// @param registry  where its law is found
/// @return CAROM_BAD_INPUT naming what is wrong with the file
carom_status witness_read(const char *path, const carom_registry *registry, witness_file *file, carom_error *error);
void witness_release(witness_file *file);

/// One witness of a file.
typedef struct witness_entry {
    const char *expression;
    bool minimum;
    double value;
    double *v;                        ///< [nv], to be freed
    const json_t *path, *parameters;  ///< as the file has them
    carom_tape tape;
    int64_t member;  ///< which of those to which the tape leads
} witness_entry;

carom_status witness_entry_read(const char *path, const witness_file *file, int index, const carom_scene *scene, witness_entry *entry,
                                carom_error *error);
void witness_entry_release(witness_entry *entry);

/// The path of a witness as JSON: a list of pieces with the impulses on each, and the contact velocities after it.
json_t *witness_path_json(const carom_impact *impact, const carom_witness *witness);
/// The parameters of a witness by their names; null where nothing is uncertain.
json_t *witness_parameters_json(const carom_uncertainty *uncertainty, const carom_witness *witness);
/// Of what a witness depends on: the numbers of the impact, and what is uncertain of it.
carom_status witness_digest(const carom_scene *scene, char text[CAROM_DIGEST_TEXT_SIZE], carom_error *error);
/// The names of the contacts that acted; null where nothing says so.
json_t *witness_word_json(const carom_impact *impact, const carom_witness *witness);
/// What the checks found.
json_t *witness_checks_json(const carom_witness *witness);

#endif
