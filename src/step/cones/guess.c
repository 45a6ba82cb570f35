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

// The planes chosen so far put every judge into a group; what matters is how often a group's judges are of the same cone.
typedef struct choice {
    const carom_cones *cones;
    const bool *guessable;  // [labels]
    const double *states;   // [trained x inputs]
    int trained, judges, labels;
    int *label;  // [trained] the first cone that has the training's step, or CAROM_CONE_NONE, too, where it must not be guessed
    int *code;   // [trained] bit k: on the upper side of plane k
    // Of the judges in groups of several cones; the others no plane can part any better.
    int doubtful, groups;
    int doubt[JUDGES], group[JUDGES];
    bool (*side)[JUDGES];  // [rows of the cones] of every judge
    int *counts;           // [2 groups x labels]
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
        c->label[t] = i < c->labels && c->guessable[i] ? i : CAROM_CONE_NONE;
    }
}

static void fill_sides(choice *c) {
    const carom_cones *cones = c->cones;
    for (int i = 0; i < cones->first_row[cones->count]; i++)
        for (int t = 0; t < c->judges; t++)
            c->side[i][t] = carom_dot(cones->inputs, cones->rows + (size_t)i * (size_t)(cones->inputs + 1), judge(c, t)) >= 0;
}

// Sum over the groups that a plane would make of count_label^2 / count: the greater, the purer (Gini).
static double purity(choice *c, const bool *side) {
    memset(c->counts, 0, 2 * (size_t)c->groups * (size_t)c->labels * sizeof *c->counts);
    for (int i = 0; i < c->doubtful; i++) c->counts[(2 * c->group[i] + side[c->doubt[i]]) * c->labels + label_of(c, c->doubt[i])]++;
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

// The row of all cones that is best to ask next; -1 where none tells more than those before it.
static int best_plane(choice *c) {
    static const bool nowhere[JUDGES];
    double most = purity(c, nowhere) * (1 + 1e-9);
    int best = -1;
    for (int i = 0; i < c->cones->first_row[c->cones->count]; i++) {
        const double pure = purity(c, c->side[i]);
        if (pure > most) most = pure, best = i;
    }
    return best;
}

// Groups of several cones among those that the plane makes; their judges are in doubt.
static void split_groups(choice *c, const bool *side) {
    int names[2 * JUDGES], groups = 0, doubtful = 0, first[2 * JUDGES];
    bool several[2 * JUDGES] = {false};
    for (int g = 0; g < 2 * c->groups; g++) names[g] = first[g] = CAROM_CONE_NONE;
    for (int i = 0; i < c->doubtful; i++) {
        const int g = c->group[i] = 2 * c->group[i] + side[c->doubt[i]], label = label_of(c, c->doubt[i]);
        if (first[g] == CAROM_CONE_NONE) first[g] = label;
        several[g] |= label != first[g];
    }
    for (int i = 0; i < c->doubtful; i++) {
        const int g = c->group[i];
        if (!several[g]) continue;
        if (names[g] == CAROM_CONE_NONE) names[g] = groups++;
        c->doubt[doubtful] = c->doubt[i];
        c->group[doubtful++] = names[g];
    }
    c->groups = groups;
    c->doubtful = doubtful;
}

// Asks for the side of the plane of one more row.
static void add_plane(choice *c, carom_cones *cones, int row) {
    const double *plane = cones->rows + (size_t)row * (size_t)(cones->inputs + 1);
    for (int t = 0; t < c->trained; t++)
        c->code[t] |= (carom_dot(cones->inputs, plane, c->states + (size_t)t * (size_t)cones->inputs) >= 0) << cones->splits;
    memcpy(cones->split_rows + cones->splits++ * cones->inputs, plane, (size_t)cones->inputs * sizeof *plane);
    split_groups(c, c->side[row]);
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
        if (made->label[t] >= 0) counts[(size_t)made->code[t] * labels + (size_t)made->label[t]]++;
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

static carom_status start_choice(choice *c, carom_cones *cones, carom_error *error) {
    c->label = malloc((size_t)c->trained * sizeof *c->label);
    c->code = calloc((size_t)c->trained, sizeof *c->code);
    c->side = malloc((size_t)cones->first_row[cones->count] * sizeof *c->side);
    c->counts = malloc(2 * JUDGES * (size_t)c->labels * sizeof *c->counts);
    cones->split_rows = calloc(CAROM_CONE_MOST_SPLITS * (size_t)cones->inputs, sizeof *cones->split_rows);
    cones->guesses = malloc(CAROM_CONE_GUESSES * sizeof *cones->guesses << CAROM_CONE_MOST_SPLITS);
    if (!c->label || !c->code || !c->side || !c->counts || !cones->split_rows || !cones->guesses)
        return carom_fail_memory(error, "cone map");
    fill_labels(c);
    fill_sides(c);
    for (int t = 0; t < c->judges; t++) {
        if (label_of(c, t) == CAROM_CONE_NONE) continue;
        c->doubt[c->doubtful] = t;
        c->group[c->doubtful++] = 0;
    }
    return CAROM_OK;
}

carom_status carom_cones_choose_splits(carom_cones *cones, const bool *guessable, const double *states, int trained, carom_error *error) {
    carom_cones *c = cones;
    if (c->count > CAROM_CONE_MOST_GUESSED || !c->count) return CAROM_OK;
    choice made = {.cones = c, .guessable = guessable, .states = states, .trained = trained, .groups = 1, .labels = c->count};
    made.judges = trained < JUDGES ? trained : JUDGES;
    carom_status status = start_choice(&made, c, error);
    double share = 0;
    while (!status && share < SURE && c->splits < CAROM_CONE_MOST_SPLITS) {
        const int row = best_plane(&made);
        if (row < 0) break;
        add_plane(&made, c, row);
        status = fill_guesses(&made, c, &share, error);
    }
    if (share < LIKELY) c->splits = 0;
    if (!status && c->splits) status = fill_picks(c, error);
    free(made.label);
    free(made.code);
    free(made.side);
    free(made.counts);
    return status;
}
