// SPDX-License-Identifier: Apache-2.0
// Guessing cones: where there are few, the sides of some planes on which x is say which of them to try first.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/cones/build.h"

// Training steps that planes are chosen by; the share of all that guesses should get right, and the least that makes them worth while.
enum { JUDGES = 256 };
#define SURE   0.99
#define LIKELY 0.8

// The planes chosen so far put every judge into a group; what matters is how often a group's judges are of the same cone. Judges in a group
// of one cone are settled: no plane can part them any better.
typedef struct plane_choice {
    const carom_cones *cones;
    const carom_cone_training *training;
    int judges;
    int *label;            // [training] the first cone that has the step, or CAROM_STEP_UNSERVED, too, where it must not be guessed
    int *code;             // [training] bit k: on the upper side of plane k
    int doubtful, groups;  // judges in groups of several cones; these groups
    int doubt[JUDGES], group[JUDGES];
    bool (*side)[JUDGES];  // [rows of the cones] of every judge
    int *counts;           // [2 groups x cones]
} plane_choice;

static int judge_step(const plane_choice *choice, int judge) { return (int)((int64_t)judge * choice->training->count / choice->judges); }

// Labels of the training's steps, sides of the judges, and one group of all judges with a label.
static void start(plane_choice *choice) {
    const carom_cones *cones = choice->cones;
    const size_t inputs = (size_t)cones->inputs;
    // The label of a step: the first cone that has it, which looking through the cones would find.
    for (int t = 0; t < choice->training->count; t++) {
        const double *x = choice->training->states + (size_t)t * inputs;
        const double size = carom_cone_input_size(cones->inputs, cones->per_unit, x);
        choice->label[t] = CAROM_STEP_UNSERVED;
        for (int i = 0; i < cones->count; i++) {
            const int first = cones->first_row[i];
            const double *rows = cones->rows + (size_t)first * (inputs + 1);
            if (!carom_cone_rows_hold(cones->inputs, rows, cones->first_row[i + 1] - first, x, size)) continue;
            if (choice->training->guessable[i]) choice->label[t] = i;
            break;
        }
    }
    for (int i = 0; i < cones->first_row[cones->count]; i++)
        for (int t = 0; t < choice->judges; t++) {
            const double *x = choice->training->states + (size_t)judge_step(choice, t) * inputs;
            choice->side[i][t] = carom_dot(cones->inputs, cones->rows + (size_t)i * (inputs + 1), x) >= 0;
        }
    choice->groups = 1;
    for (int t = 0; t < choice->judges; t++) {
        if (choice->label[judge_step(choice, t)] == CAROM_STEP_UNSERVED) continue;
        choice->doubt[choice->doubtful] = t;
        choice->group[choice->doubtful++] = 0;
    }
}

// Sum over the groups that a plane would make of count_label^2 / count: the greater, the purer (Gini).
static double purity(const plane_choice *choice, const bool *side) {
    const int labels = choice->cones->count;
    // How many judges of each label every group would have, on either side.
    memset(choice->counts, 0, 2 * (size_t)choice->groups * (size_t)labels * sizeof *choice->counts);
    for (int i = 0; i < choice->doubtful; i++) {
        const int judge = choice->doubt[i];
        choice->counts[(2 * choice->group[i] + side[judge]) * labels + choice->label[judge_step(choice, judge)]]++;
    }
    double sum = 0;
    for (int g = 0; g < 2 * choice->groups; g++) {
        double squares = 0, total = 0;
        for (int l = 0; l < labels; l++) {
            const double count = choice->counts[g * labels + l];
            squares += count * count;
            total += count;
        }
        if (total > 0) sum += squares / total;
    }
    return sum;
}

// Adds the row, of all cones, that separates the judges best. False where no row separates them better than those chosen before.
static bool add_best_plane(plane_choice *choice, carom_cones *cones) {
    static const bool nowhere[JUDGES];
    // The row whose groups are purest, if they are purer than without it.
    double most = purity(choice, nowhere) * (1 + 1e-9);
    int best = -1;
    for (int i = 0; i < cones->first_row[cones->count]; i++) {
        const double pure = purity(choice, choice->side[i]);
        if (pure > most) most = pure, best = i;
    }
    if (best < 0) return false;
    const double *plane = cones->rows + (size_t)best * (size_t)(cones->inputs + 1);
    for (int t = 0; t < choice->training->count; t++) {
        const double *x = choice->training->states + (size_t)t * (size_t)cones->inputs;
        choice->code[t] |= (carom_dot(cones->inputs, plane, x) >= 0) << cones->splits;
    }
    memcpy(cones->split_rows + cones->splits++ * cones->inputs, plane, (size_t)cones->inputs * sizeof *plane);

    // Of the groups that the plane makes, those of several cones remain, numbered anew; their judges are in doubt.
    const bool *side = choice->side[best];
    int names[2 * JUDGES], groups = 0, doubtful = 0, first[2 * JUDGES];
    bool several[2 * JUDGES] = {false};
    for (int g = 0; g < 2 * choice->groups; g++) names[g] = first[g] = CAROM_STEP_UNSERVED;
    for (int i = 0; i < choice->doubtful; i++) {
        const int judge = choice->doubt[i], label = choice->label[judge_step(choice, judge)];
        const int g = choice->group[i] = 2 * choice->group[i] + side[judge];
        if (first[g] == CAROM_STEP_UNSERVED) first[g] = label;
        several[g] |= label != first[g];
    }
    for (int i = 0; i < choice->doubtful; i++) {
        const int g = choice->group[i];
        if (!several[g]) continue;
        if (names[g] == CAROM_STEP_UNSERVED) names[g] = groups++;
        choice->doubt[doubtful] = choice->doubt[i];
        choice->group[doubtful++] = names[g];
    }
    choice->groups = groups;
    choice->doubtful = doubtful;
    return true;
}

// The most frequent cones of every code; `share` is that of the training that the first of them gets right.
static carom_status fill_guesses(const plane_choice *choice, carom_cones *cones, double *share, carom_error *error) {
    const size_t codes = (size_t)1 << cones->splits, labels = (size_t)cones->count;
    int *counts = calloc(codes * labels, sizeof *counts), right = 0;
    if (!counts) return carom_fail_memory(error, "cone map");
    for (int t = 0; t < choice->training->count; t++)
        if (choice->label[t] >= 0) counts[(size_t)choice->code[t] * labels + (size_t)choice->label[t]]++;
    for (size_t code = 0; code < codes; code++) {
        // The likeliest cone of the code, then the next.
        int *own = counts + code * labels;
        for (size_t rank = 0; rank < CAROM_CONE_GUESSES; rank++) {
            size_t best = 0;
            for (size_t i = 1; i < labels; i++)
                if (own[i] > own[best]) best = i;
            cones->guesses[rank * codes + code] = own[best] ? (int32_t)best : CAROM_STEP_UNSERVED;
            if (rank == 0) right += own[best];
            own[best] = 0;
        }
    }
    *share = (double)right / choice->training->count;
    free(counts);
    return CAROM_OK;
}

carom_status carom_cones_choose_splits(carom_cones *cones, const carom_cone_training *training, carom_error *error) {
    if (cones->count > CAROM_CONE_MOST_GUESSED || !cones->count) return CAROM_OK;
    const size_t trained = (size_t)training->count, labels = (size_t)cones->count, inputs = (size_t)cones->inputs, n = (size_t)cones->n;
    carom_arena arena = {0};
    plane_choice choice = {.cones = cones, .training = training, .judges = training->count < JUDGES ? training->count : JUDGES};
    choice.label = carom_arena_take(&arena, trained, sizeof *choice.label);
    choice.code = carom_arena_take(&arena, trained, sizeof *choice.code);
    choice.side = carom_arena_take(&arena, (size_t)cones->first_row[cones->count], sizeof *choice.side);
    choice.counts = carom_arena_take(&arena, 2 * JUDGES * labels, sizeof *choice.counts);
    cones->split_rows = calloc(CAROM_CONE_MOST_SPLITS * inputs, sizeof *cones->split_rows);
    cones->guesses = calloc(CAROM_CONE_GUESSES << CAROM_CONE_MOST_SPLITS, sizeof *cones->guesses);
    // One table of CAROM_CONE_MOST_GUESSED numbers for each coefficient of the maps.
    cones->picks = carom_step_columns_create(n * inputs, CAROM_CONE_MOST_GUESSED);
    carom_status status = CAROM_OK;
    double share = 0;
    if (arena.failed || !cones->split_rows || !cones->guesses || !cones->picks)
        status = carom_fail_memory(error, "cone map");
    else
        start(&choice);
    while (!status && share < SURE && cones->splits < CAROM_CONE_MOST_SPLITS && add_best_plane(&choice, cones))
        status = fill_guesses(&choice, cones, &share, error);
    carom_arena_free(&arena);
    if (share < LIKELY) cones->splits = 0;
    // The maps once more, coefficient by coefficient, a table of all cones for each.
    double *to = cones->picks;
    for (size_t r = 0; r < n && !status && cones->splits; r++)
        for (size_t j = 0; j < inputs; j++, to += CAROM_CONE_MOST_GUESSED)
            for (size_t i = 0; i < labels; i++) to[i] = cones->maps[(i * inputs + j) * cones->map_rows + r];
    return status;
}
