// SPDX-License-Identifier: Apache-2.0
// Guessing cones: where there are few, the sides of some planes on which x is say which of them to try first.
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "solvers/step_cones_build.h"

// Training steps that planes are chosen by; the share of all that guesses should get right, and the least that makes them worth while.
enum { JUDGES = 256 };
#define SURE   0.99
#define LIKELY 0.8

// The planes chosen so far put every judge into a group; what matters is how often a group's judges are of the same cone.
typedef struct choice {
    const carom_cones *cones;
    const double *states;  // [trained x inputs]
    int trained, judges, groups, labels;
    int group[JUDGES];
    int *label;   // [trained] the first cone that has the training's step, or CAROM_CONE_NONE
    int *counts;  // [2 groups x labels]
} choice;

static const double *judge(const choice *c, int t) {
    return c->states + (size_t)((int64_t)t * c->trained / c->judges) * (size_t)c->cones->inputs;
}

static int label_of(const choice *c, int t) { return c->label[(int64_t)t * c->trained / c->judges]; }

static bool has(const carom_cones *c, int cone, const double *x, double size) {
    const int first = c->first_row[cone], count = c->first_row[cone + 1] - first;
    return carom_cone_rows_hold(c->inputs, c->rows + first * (c->inputs + 1), count, x, size);
}

// What looking through the cones would find.
static void fill_labels(choice *c) {
    for (int t = 0; t < c->trained; t++) {
        const double *x = c->states + (size_t)t * (size_t)c->cones->inputs;
        const double size = carom_cone_input_size(c->cones->inputs, c->cones->per_unit, x);
        int i = 0;
        while (i < c->labels && !has(c->cones, i, x, size)) i++;
        c->label[t] = i < c->labels ? i : CAROM_CONE_NONE;
    }
}

// Sum over the groups that a plane would make of count_label^2 / count: the greater, the purer (Gini).
static double purity(choice *c, const double *row) {
    memset(c->counts, 0, 2 * (size_t)c->groups * (size_t)c->labels * sizeof *c->counts);
    for (int t = 0; t < c->judges; t++) {
        const int side = carom_dot(c->cones->inputs, row, judge(c, t)) >= 0;
        if (label_of(c, t) >= 0) c->counts[(2 * c->group[t] + side) * c->labels + label_of(c, t)]++;
    }
    double sum = 0;
    for (int g = 0; g < 2 * c->groups; g++) {
        double squares = 0, total = 0;
        for (int l = 0; l < c->labels; l++) {
            const double count = c->counts[g * c->labels + l];
            squares += count * count;
            total += count;
        }
        if (total > 0) sum += squares / total;
    }
    return sum;
}

// The row of all cones that is best to ask next; NULL where none tells more than those before it.
static const double *best_plane(choice *c, double *reached) {
    const carom_cones *cones = c->cones;
    const double *best = NULL;
    double most = *reached * (1 + 1e-9);
    for (int i = 0; i < cones->first_row[cones->count]; i++) {
        const double *row = cones->rows + (size_t)i * (size_t)(cones->inputs + 1), pure = purity(c, row);
        if (pure > most) most = pure, best = row;
    }
    *reached = most;
    return best;
}

static void split_groups(choice *c, const double *row) {
    int names[2 * JUDGES], groups = 0;
    for (int g = 0; g < 2 * c->groups; g++) names[g] = CAROM_CONE_NONE;
    for (int t = 0; t < c->judges; t++) {
        const int group = 2 * c->group[t] + (carom_dot(c->cones->inputs, row, judge(c, t)) >= 0);
        if (names[group] < 0) names[group] = groups++;
        c->group[t] = names[group];
    }
    c->groups = groups;
}

static int code_of(const carom_cones *c, const double *x) {
    int code = 0;
    for (int k = 0; k < c->splits; k++) code |= (carom_dot(c->inputs, c->split_rows + k * c->inputs, x) >= 0) << k;
    return code;
}

static int most_frequent(const int *counts, int labels) {
    int best = 0;
    for (int i = 1; i < labels; i++)
        if (counts[i] > counts[best]) best = i;
    return counts[best] ? best : CAROM_CONE_NONE;
}

// The most frequent cones of every code; `share` is that of the training that the first of them gets right.
static carom_status fill_guesses(choice *made, carom_cones *c, double *share, carom_error *error) {
    const size_t codes = (size_t)1 << c->splits, labels = (size_t)made->labels;
    int *counts = calloc(codes * labels, sizeof *counts), right = 0;
    if (!counts) return carom_fail_memory(error, "cone map");
    for (int t = 0; t < made->trained; t++) {
        const size_t code = (size_t)code_of(c, made->states + (size_t)t * (size_t)c->inputs);
        if (made->label[t] >= 0) counts[code * labels + (size_t)made->label[t]]++;
    }
    for (size_t code = 0; code < codes; code++) {
        int *own = counts + code * labels;
        for (size_t rank = 0; rank < CAROM_CONE_GUESSES; rank++) {
            const int best = most_frequent(own, made->labels);
            c->guesses[rank * codes + code] = best;
            if (best == CAROM_CONE_NONE) continue;
            if (rank == 0) right += own[best];
            own[best] = 0;
        }
    }
    *share = (double)right / made->trained;
    free(counts);
    return CAROM_OK;
}

static carom_status fill_picks(carom_cones *c, carom_error *error) {
    const size_t coefficients = (size_t)c->n * (size_t)c->inputs;
    double *to = c->picks = aligned_alloc(CAROM_CONE_LANES * sizeof *to, coefficients * CAROM_CONE_MOST_GUESSED * sizeof *to);
    if (!to) return carom_fail_memory(error, "cone map");
    memset(to, 0, coefficients * CAROM_CONE_MOST_GUESSED * sizeof *to);
    for (size_t r = 0; r < (size_t)c->n; r++)
        for (size_t j = 0; j < (size_t)c->inputs; j++, to += CAROM_CONE_MOST_GUESSED)
            for (size_t i = 0; i < (size_t)c->count; i++) to[i] = c->maps[(i * (size_t)c->inputs + j) * c->map_rows + r];
    return CAROM_OK;
}

carom_status carom_cones_choose_splits(carom_cones *cones, const double *states, int trained, carom_error *error) {
    carom_cones *c = cones;
    choice made = {.cones = c, .states = states, .trained = trained, .groups = 1, .labels = c->count};
    made.judges = trained < JUDGES ? trained : JUDGES;
    if (c->count > CAROM_CONE_MOST_GUESSED || !c->count) return CAROM_OK;
    c->split_rows = calloc(CAROM_CONE_MOST_SPLITS * (size_t)c->inputs, sizeof *c->split_rows);
    c->guesses = malloc(CAROM_CONE_GUESSES * sizeof *c->guesses << CAROM_CONE_MOST_SPLITS);
    made.counts = malloc(2 * JUDGES * (size_t)made.labels * sizeof *made.counts);
    made.label = malloc((size_t)trained * sizeof *made.label);
    carom_status status = c->split_rows && c->guesses && made.counts && made.label ? CAROM_OK : carom_fail_memory(error, "cone map");
    if (!status) fill_labels(&made);
    double reached = 0, share = 0;
    while (!status && share < SURE && c->splits < CAROM_CONE_MOST_SPLITS) {
        const double *plane = best_plane(&made, &reached);
        if (!plane) break;
        memcpy(c->split_rows + c->splits++ * c->inputs, plane, (size_t)c->inputs * sizeof *plane);
        split_groups(&made, plane);
        status = fill_guesses(&made, c, &share, error);
    }
    if (share < LIKELY) c->splits = 0;
    if (!status && c->splits) status = fill_picks(c, error);
    free(made.counts);
    free(made.label);
    return status;
}
