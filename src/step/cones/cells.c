// SPDX-License-Identifier: Apache-2.0
// Cells: inputs at which the distinct solutions of a step are known beforehand.
//
// Where `random` lists the cones of all contact modes, training shows the outcomes that steps meet: the cones of their distinct solutions.
// The cell of an outcome is a polyhedral cone of inputs x = (u, lmax) on which these cones have x, with a margin, and have velocities that
// differ. Of every other cone D there is a proof that it changes nothing there, or it is one of the few that are left to be tested:
//   - its velocity is that of a cone of the outcome that stands before it, for every x: then it is no solution of its own;
//   - or D and the cell have no x in common. Where that is not so, but no step of the training with this outcome meets some row of D, the
//     cell is cut off there: it gets the condition that x is on the other side of the row.
// That they have none in common is proved in exclusion.c.
//
// As cells are proved, no outcome of a step depends on which there are.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/cones/cells.h"

enum { MOST_CELLS = 96, HEADS = CAROM_CONE_HEADS, ABREAST = CAROM_CONE_ABREAST };
// An outcome that one step in so many has, or fewer, gets no cell.
enum { RARE = 512 };
// Proofs take time: so many rows of cones are looked at in all. Where more than a few cones are left after the first choice of coordinates,
// others are not tried, and none of the cones is cut off; so many cones are at most.
enum { MOST_ROWS_EXAMINED = 1500000, FEW = 64, MOST_CUTS = 8 };

// A cell that leaves more than one in so many cones to be tested saves no time: there is none. After so many of them, no others are tried.
enum { MOST_LEFT_SHARE = 4, MOST_IN_VAIN = 4 };

// ---------------------------------------------------------------------------------------------------------------- regions

// What is known while cells are made.
typedef struct cell_maker {
    cell_space space;
    const carom_cone_training *training;
    carom_cone_cells *cells;
    carom_cone_rows *rows;  // [MOST_CELLS]
    bool *listed;           // [cones] cones that are left to be tested
    int32_t *rest;          // of `cells`
    int *inside;            // [training] scratch
    int examined;           // rows
    int in_vain;            // cells that would save no time
} cell_maker;

static cell_facet *add_facet(const cell_space *space, cell_region *region, const double *row, double margin) {
    if (region->facets == CAROM_CELL_MOST_FACETS) return NULL;
    cell_facet *made = &region->facet[region->facets++];
    *made = (cell_facet){.margin = margin, .is_condition = true};
    memcpy(made->row, row, (size_t)space->cones->inputs * sizeof *row);
    carom_cell_to_coordinates(space, row, made->at);
    return made;
}

// The round-off of the velocities of two cones by a unit of size(x), with caps up to CAROM_CELL_MOST_CAP.
static double velocity_round_off(const carom_cones *cones, int a, int b) {
    double largest = 1;
    for (int j = 0; j < cones->inputs; j++)
        for (int r = 0; r < cones->n; r++)
            largest = carom_cell_larger(
                largest, carom_cell_larger(fabs(carom_cell_velocity_by(cones, a, r, j)), fabs(carom_cell_velocity_by(cones, b, r, j))));
    return 4 * CAROM_CELL_MOST_DIMENSIONS * CAROM_CELL_MOST_CAP * DBL_EPSILON * largest;
}

// The largest |v_r| by a unit of size(x), where the velocity by a unit of each input is `velocity` [n x CAROM_CELL_MOST_DIMENSIONS].
static double most_velocity(const cell_space *space, const double *velocity) {
    double most = 0;
    for (int r = 0; r < space->cones->n; r++) {
        double sum = 0;
        for (int j = 0; j < space->dimensions; j++)
            sum += fabs(velocity[r * CAROM_CELL_MOST_DIMENSIONS + j]) * (j < space->rank ? sqrt(space->cones->n) : CAROM_CELL_MOST_CAP);
        most = fmax(most, sum);
    }
    return most;
}

static const double *velocity_of(const cell_space *space, int cone) {
    return space->velocities + (size_t)(cone * space->cones->n) * CAROM_CELL_MOST_DIMENSIONS;
}

// Have both cones the same velocity for every x?
static bool always_agree(const cell_space *space, int a, int b) {
    const carom_cones *cones = space->cones;
    const int n = cones->n;
    const double *first = velocity_of(space, a), *second = velocity_of(space, b);
    double difference[CAROM_CELL_MOST_DIMENSIONS * CAROM_CELL_MOST_DIMENSIONS];
    for (int k = 0; k < n * CAROM_CELL_MOST_DIMENSIONS; k++) {
        difference[k] = first[k] - second[k];
        if (fabs(difference[k]) > CAROM_CONE_SAME_VELOCITY) return false;
    }
    // Out of the range of J, the whole difference counts.
    double apart = 0;
    for (int j = 0; j < cones->inputs; j++)
        for (int r = 0; r < n; r++)
            apart = carom_cell_larger(apart, fabs(carom_cell_velocity_by(cones, a, r, j) - carom_cell_velocity_by(cones, b, r, j)));
    const double rest = 4 * CAROM_CELL_MOST_DIMENSIONS * CAROM_CELL_OUT_OF_RANGE * apart + velocity_round_off(cones, a, b);
    return most_velocity(space, difference) + rest <= 0.5 * CAROM_CONE_SAME_VELOCITY;
}

// A training step's inputs in units, by its size(x).
static void take_state(const cell_maker *maker, int state, double *scaled) {
    const carom_cones *cones = maker->space.cones;
    const double *x = maker->training->states + (size_t)state * (size_t)cones->inputs;
    const double per_size = 1 / (carom_cone_input_size(cones->inputs, cones->per_unit, x) * cones->per_scale[0]);
    for (int j = 0; j < cones->inputs; j++) scaled[j] = x[j] * cones->per_scale[j] * per_size;
}

static double value_at(const cell_maker *maker, const double *row, int state) {
    double scaled[CAROM_CELL_MOST_DIMENSIONS];
    take_state(maker, state, scaled);
    return carom_dot(maker->space.cones->inputs, row, scaled);
}

static bool is_inside(const cell_maker *maker, const cell_region *region, int state) {
    const carom_cones *cones = maker->space.cones;
    double scaled[CAROM_CELL_MOST_DIMENSIONS];
    take_state(maker, state, scaled);
    bool inside = true;
    for (int j = cones->n; j < cones->inputs; j++) inside &= scaled[j] <= CAROM_CELL_MOST_CAP;
    for (int i = 0; i < region->facets && inside; i++)
        inside = carom_dot(cones->inputs, region->facet[i].row, scaled) >= region->facet[i].margin;
    return inside;
}

// The conditions under which the velocities of two of the outcome's cones differ, the second one listed later: one component of the
// difference, and its sign, that most of these states show.
static bool add_difference(const cell_maker *maker, const int *states, int count, int a, int b, cell_region *region) {
    const cell_space *space = &maker->space;
    const carom_cones *cones = space->cones;
    const double *first = velocity_of(space, a), *second = velocity_of(space, b);
    // Velocities are compared by the largest, that before the step or the second one.
    const double apart =
        2 * (CAROM_CONE_SAME_VELOCITY * carom_cell_larger(1, most_velocity(space, second)) + velocity_round_off(cones, a, b));
    double best_row[CAROM_CELL_MOST_DIMENSIONS], best_margin = 0;
    int best = 0;
    for (int r = 0; r < cones->n; r++) {
        double row[CAROM_CELL_MOST_DIMENSIONS] = {0}, size = 0;
        for (int j = 0; j < cones->inputs; j++) row[j] = carom_cell_velocity_by(cones, b, r, j) - carom_cell_velocity_by(cones, a, r, j);
        for (int j = 0; j < CAROM_CELL_MOST_DIMENSIONS; j++)
            size = carom_cell_larger(size, fabs(second[r * CAROM_CELL_MOST_DIMENSIONS + j] - first[r * CAROM_CELL_MOST_DIMENSIONS + j]));
        if (size <= CAROM_CELL_DEPENDENT * carom_cell_larger(CAROM_CELL_VANISHING, carom_max_abs(CAROM_CELL_MOST_DIMENSIONS, row)))
            continue;
        const double margin = CAROM_CELL_MARGIN + apart / size;
        for (int sign = -1; sign <= 1; sign += 2) {
            int holds = 0;
            for (int t = 0; t < count; t++) holds += sign * value_at(maker, row, states[t]) >= margin * size;
            if (holds <= best) continue;
            best = holds;
            best_margin = margin;
            for (int j = 0; j < CAROM_CELL_MOST_DIMENSIONS; j++) best_row[j] = sign * row[j] / size;
        }
    }
    return best && add_facet(space, region, best_row, best_margin);
}

// A condition that others prove needs no test: of a cone's row that it is not negative, of a difference that it is as large as is asked.
static void drop_implied(const cell_space *space, cell_region *region) {
    for (int first = 0; first < region->facets; first++) {
        cell_simplex simplex;
        if (!carom_cell_choose_simplex(space, region, first, &simplex)) continue;
        bool is_member[CAROM_CELL_MOST_FACETS] = {false};
        for (int k = 0; k < space->dimensions; k++)
            if (simplex.member[k] >= 0) is_member[simplex.member[k]] = true;
        for (int i = 0; i < region->facets; i++) {
            cell_facet *own = &region->facet[i];
            if (is_member[i] || own->implied || own->needed || !own->is_condition) continue;
            _Alignas(64) double b[CAROM_CELL_MOST_DIMENSIONS];
            own->implied = carom_cell_implies(space, region, &simplex, own, b);
            // The proof holds as long as its conditions are tested.
            for (int k = 0; k < space->dimensions && own->implied; k++)
                if (simplex.member[k] >= 0 && fabs(b[k]) > CAROM_CELL_FUZZ) region->facet[simplex.member[k]].needed = true;
        }
    }
}

// Unlists the cones that these facets and the next ones exclude. Returns how many are left.
static int exclude_by(cell_maker *maker, const cell_region *region, int first, int left) {
    const cell_space *space = &maker->space;
    const carom_cones *cones = space->cones;
    cell_simplex simplex;
    if (region->facet[first].implied || !carom_cell_choose_simplex(space, region, first, &simplex)) return left;
    for (int d = 0; d < cones->count; d++) {
        if (!maker->listed[d]) continue;
        maker->examined += cones->first_row[d + 1] - cones->first_row[d];
        if (!carom_cell_excludes(space, region, &simplex, d)) continue;
        maker->listed[d] = false;
        left--;
    }
    return left;
}

// The row of a cone that all of these states violate by the margin, the least of them by most. NULL where there is none.
static const double *find_cut(const cell_maker *maker, int cone, const int *states, int count) {
    const carom_cones *cones = maker->space.cones;
    const double *best = NULL;
    double most = CAROM_CELL_MARGIN;
    for (int i = cones->first_row[cone]; i < cones->first_row[cone + 1]; i++) {
        const double *row = cones->rows + (size_t)i * (size_t)(cones->inputs + 1);
        double scaled[CAROM_CELL_MOST_DIMENSIONS], least = INFINITY;
        // Beyond its threshold.
        if (row[cones->inputs] / cones->per_scale[0] > 0.5 * CAROM_CELL_MARGIN) continue;
        carom_cell_scale_row(cones, row, scaled);
        for (int t = 0; t < count && least > most; t++) least = fmin(least, -value_at(maker, scaled, states[t]));
        if (!(least > most)) continue;
        best = row;
        most = least;
    }
    return best;
}

// Gives the region the condition that a row of this cone is not met, where it is listed and none of these states meets that row.
static bool cut_off(cell_maker *maker, cell_region *region, int cone, const int *states, int count, int *left) {
    const double *cut = maker->listed[cone] ? find_cut(maker, cone, states, count) : NULL;
    double row[CAROM_CELL_MOST_DIMENSIONS] = {0};
    if (!cut) return false;
    carom_cell_scale_row(maker->space.cones, cut, row);
    for (int j = 0; j < CAROM_CELL_MOST_DIMENSIONS; j++) row[j] = -row[j];
    if (!add_facet(&maker->space, region, row, CAROM_CELL_MARGIN)) return false;
    maker->listed[cone] = false;
    *left = exclude_by(maker, region, region->facets - 1, *left - 1);
    return true;
}

// Of all other cones, those that may have a sample in the region and a velocity of their own. Where a row of one of them is not met at any
// of these states, the region gets the condition that it is not, as long as there are few conditions. Returns how many are left.
static int find_rest(cell_maker *maker, cell_region *region, const int *states, int count) {
    const cell_space *space = &maker->space;
    const carom_cones *cones = space->cones;
    int left = 0;
    for (int d = 0; d < cones->count; d++) {
        bool known = false;
        for (int s = 0; s < region->solutions && !known; s++)
            known = region->solution[s] == d || (region->solution[s] < d && always_agree(space, region->solution[s], d));
        maker->listed[d] = !known;
        left += !known;
    }
    // Other choices of coordinates are tried only if the first one that excludes any cone leaves few.
    const int all = left;
    for (int first = 0; first < region->facets && left && (left < FEW || left == all); first++)
        left = exclude_by(maker, region, first, left);
    // First the cones of other outcomes that the region has in common with them.
    int cuts = 0;
    for (int t = 0; t < maker->training->count && cuts < MOST_CUTS && left && left < FEW; t++) {
        const int32_t *outcome = maker->training->outcomes + t * CAROM_CONE_MOST_SOLUTIONS;
        if (outcome[0] < 0 ||
            !memcmp(outcome, maker->training->outcomes + states[0] * CAROM_CONE_MOST_SOLUTIONS,
                    CAROM_CONE_MOST_SOLUTIONS * sizeof *outcome) ||
            !is_inside(maker, region, t))
            continue;
        for (int s = 0; s < CAROM_CONE_MOST_SOLUTIONS && outcome[s] >= 0 && cuts < MOST_CUTS; s++)
            cuts += cut_off(maker, region, outcome[s], states, count, &left);
    }
    for (int d = 0; d < cones->count && cuts < MOST_CUTS && left < FEW; d++) cuts += cut_off(maker, region, d, states, count, &left);
    return left;
}

static void append_row(carom_cone_rows *rows, const double *row, double last) {
    double *to = rows->rows + rows->count++ * (rows->inputs + 1);
    memcpy(to, row, (size_t)rows->inputs * sizeof *to);
    to[rows->inputs] = last;
}

// The rows of a cell: conditions, rows of the outcome's cones that vanish for u = J v, which are tested as they are, velocities that are
// in that range, and caps that are not too large.
static carom_status make_rows(const cell_space *space, const cell_region *region, carom_cone_rows *rows, carom_error *error) {
    const carom_cones *cones = space->cones;
    const int inputs = cones->inputs, width = inputs + 1, n = cones->n;
    int most = region->facets + 2 * inputs;
    for (int s = 0; s < region->solutions; s++) most += cones->first_row[region->solution[s] + 1] - cones->first_row[region->solution[s]];
    *rows = (carom_cone_rows){.inputs = inputs, .capacity = most, .rows = malloc((size_t)(most * width) * sizeof(double))};
    if (!rows->rows) return carom_fail_memory(error, "cells");
    double row[CAROM_CELL_MOST_DIMENSIONS];
    for (int i = 0; i < region->facets; i++) {
        const cell_facet *own = &region->facet[i];
        for (int j = 0; j < inputs; j++) row[j] = own->row[j] * cones->per_scale[j];
        if (own->is_condition && !own->implied) append_row(rows, row, -own->margin * cones->per_scale[0]);
    }
    for (int s = 0; s < region->solutions; s++)
        for (int i = cones->first_row[region->solution[s]]; i < cones->first_row[region->solution[s] + 1]; i++) {
            const double *own = cones->rows + (size_t)i * (size_t)width, *at = space->rows + (size_t)i * CAROM_CELL_MOST_DIMENSIONS;
            if (carom_max_abs((size_t)width, own) > 0 && !(carom_max_abs(CAROM_CELL_MOST_DIMENSIONS, at) > 0))
                append_row(rows, own, own[inputs]);
        }
    for (int e = space->rank; e < n; e++)
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int j = 0; j < inputs; j++) row[j] = j < n ? sign * space->range[e * n + j] * cones->per_scale[j] : 0;
            append_row(rows, row, CAROM_CELL_OUT_OF_RANGE * cones->per_scale[0]);
        }
    for (int cap = n; cap < inputs; cap++) {
        for (int j = 0; j < inputs; j++) row[j] = j == cap ? -cones->per_scale[j] / CAROM_CELL_MOST_CAP : 0;
        append_row(rows, row, cones->per_scale[0]);
    }
    return CAROM_OK;
}

// Adds the cell of an outcome that these training steps had, where it holds at least half of them and saves time.
static carom_status add_cell(cell_maker *maker, const int32_t *outcome, const int *states, int count, carom_error *error) {
    cell_space *space = &maker->space;
    const carom_cones *cones = space->cones;
    carom_cone_cells *cells = maker->cells;
    cell_region region = {.facets = 0};
    bool fits = true;
    while (region.solutions < CAROM_CONE_MOST_SOLUTIONS && outcome[region.solutions] >= 0) {
        const int cone = region.solution[region.solutions] = outcome[region.solutions];
        region.solutions++;
        for (int i = cones->first_row[cone]; i < cones->first_row[cone + 1] && fits; i++) {
            double row[CAROM_CELL_MOST_DIMENSIONS] = {0};
            carom_cell_scale_row(cones, cones->rows + (size_t)i * (size_t)(cones->inputs + 1), row);
            if (carom_max_abs(CAROM_CELL_MOST_DIMENSIONS, space->rows + (size_t)i * CAROM_CELL_MOST_DIMENSIONS) > 0)
                fits = add_facet(space, &region, row, CAROM_CELL_MARGIN);
        }
    }
    for (int b = 1; b < region.solutions; b++)
        for (int a = 0; a < b && fits; a++) fits = add_difference(maker, states, count, region.solution[a], region.solution[b], &region);
    for (int j = cones->n; j < cones->inputs && fits; j++) {
        double row[CAROM_CELL_MOST_DIMENSIONS] = {0};
        row[j] = 1;
        cell_facet *cap = add_facet(space, &region, row, 0);
        if (cap) cap->is_condition = false;
        fits = cap;
    }
    if (!fits) return CAROM_OK;
    drop_implied(space, &region);
    // States that are in the region so far, to the front.
    int *inside = maker->inside, kept = 0;
    for (int t = 0; t < count; t++) {
        inside[kept] = states[t];
        kept += is_inside(maker, &region, states[t]);
    }
    if (2 * kept < count) return CAROM_OK;
    if (find_rest(maker, &region, inside, kept) * MOST_LEFT_SHARE > cones->count) {
        maker->in_vain++;
        return CAROM_OK;
    }
    const carom_status status = make_rows(space, &region, &maker->rows[cells->where.count], error);
    if (status) return status;
    // The outcome, and the cones that are left.
    const int cell = cells->where.count++;
    cells->solution_count[cell] = region.solutions;
    memcpy(cells->solutions + cell * CAROM_CONE_MOST_SOLUTIONS, region.solution, sizeof region.solution);
    int at = cells->first_rest[cell] * ABREAST;
    for (int d = 0; d < cones->count; d++)
        if (maker->listed[d]) maker->rest[at++] = d;
    while (at % ABREAST) maker->rest[at++] = CAROM_STEP_UNSERVED;
    cells->first_rest[cell + 1] = at / ABREAST;
    return CAROM_OK;
}

// The outcomes that the training's steps had more than now and then, the most frequent first, and their steps: those of outcome i are
// step[first[i]] to step[first[i + 1] - 1]. Returns the number of outcomes.
static int sort_outcomes(const carom_cone_training *training, int *first, int *step) {
    enum { MOST_OUTCOMES = 4 * MOST_CELLS };
    int example[MOST_OUTCOMES], frequency[MOST_OUTCOMES] = {0}, count = 0;
    int *own = step + training->count;
    for (int t = 0; t < training->count; t++) {
        const int32_t *outcome = training->outcomes + t * CAROM_CONE_MOST_SOLUTIONS;
        own[t] = 0;
        while (own[t] < count && memcmp(outcome, training->outcomes + example[own[t]] * CAROM_CONE_MOST_SOLUTIONS,
                                        CAROM_CONE_MOST_SOLUTIONS * sizeof *outcome))
            own[t]++;
        if (outcome[0] < 0 || own[t] == MOST_OUTCOMES) {
            own[t] = -1;
            continue;
        }
        if (own[t] == count) example[count++] = t;
        frequency[own[t]]++;
    }
    first[0] = 0;
    int sorted = 0, at = 0;
    for (; sorted < count && sorted < MOST_CELLS; sorted++) {
        int best = 0;
        for (int i = 1; i < count; i++)
            if (frequency[i] > frequency[best]) best = i;
        if (frequency[best] * RARE < training->count) break;
        for (int t = 0; t < training->count; t++)
            if (own[t] == best) step[at++] = t;
        frequency[best] = 0;
        first[sorted + 1] = at;
    }
    return sorted;
}

// The heads of the cones that are left, cell by cell, as they stand among those of all cones.
static bool copy_heads(const carom_cones *cones, carom_cone_cells *cells) {
    const size_t size = (size_t)((1 + cones->inputs) * HEADS * ABREAST);
    const int groups = cells->first_rest[cells->where.count];
    cells->heads = (float *)(void *)carom_step_columns_create((size_t)groups + 1, size / 2);
    if (!cells->heads) return false;
    for (int k = 0; k < groups * ABREAST; k++) {
        float *to = cells->heads + (size_t)(k / ABREAST) * size + k % ABREAST;
        const int cone = cells->rest[k];
        for (size_t i = 0; i < size; i += ABREAST)
            to[i] = cone < 0 ? (i ? 0 : -1) : cones->heads[(size_t)(cone / ABREAST) * size + i + (size_t)(cone % ABREAST)];
    }
    return true;
}

void carom_cone_cells_free(carom_cone_cells *cells) {
    if (!cells) return;
    free(cells->where.first_row);
    free(cells->where.rows);
    free(cells->where.first_side);
    free(cells->where.sides);
    free(cells->where.heads);
    free(cells->heads);
    carom_arena_free(&cells->arena);
    free(cells);
}

carom_status carom_cones_make_cells(carom_cones *cones, const carom_cone_builder *builder, const carom_cone_kernel *kernel,
                                    const carom_cone_training *training, carom_error *error) {
    const int n = cones->n, inputs = cones->inputs;
    if (inputs > CAROM_CELL_MOST_DIMENSIONS) return CAROM_OK;
    carom_cone_cells *cells = cones->cells = calloc(1, sizeof *cells);
    if (!cells) return carom_fail_memory(error, "cells");
    cells->where = (carom_cones){.inputs = inputs, .n = n, .per_unit = cones->per_unit, .per_scale = cones->per_scale};
    const size_t most_rest = (size_t)(MOST_CELLS * ((cones->count + ABREAST - 1) / ABREAST) * ABREAST);
    cells->solution_count = carom_arena_take(&cells->arena, MOST_CELLS, sizeof *cells->solution_count);
    cells->solutions = carom_arena_take(&cells->arena, MOST_CELLS * CAROM_CONE_MOST_SOLUTIONS, sizeof *cells->solutions);
    cells->first_rest = carom_arena_take(&cells->arena, MOST_CELLS + 1, sizeof *cells->first_rest);
    cells->rest = carom_arena_take(&cells->arena, most_rest + 1, sizeof *cells->rest);
    carom_arena scratch = {0};
    cell_maker maker = {.space = {.cones = cones, .kernel = kernel}, .training = training, .cells = cells};
    maker.rows = carom_arena_take(&scratch, MOST_CELLS, sizeof *maker.rows);
    maker.listed = carom_arena_take(&scratch, (size_t)cones->count + 1, sizeof *maker.listed);
    maker.inside = carom_arena_take(&scratch, (size_t)training->count + 1, sizeof *maker.inside);
    maker.rest = cells->rest;
    int *step = carom_arena_take(&scratch, 2 * (size_t)training->count + 1, sizeof *step), first[MOST_CELLS + 1];
    carom_status status = CAROM_OK;
    maker.space.rank = carom_cone_range(builder, maker.space.range);
    maker.space.dimensions = maker.space.rank + inputs - n;
    if (cells->arena.failed || scratch.failed || !carom_cell_fill_space(&maker.space, &scratch)) status = carom_fail_memory(error, "cells");
    const int outcomes = status ? 0 : sort_outcomes(training, first, step);
    for (int i = 0; i < outcomes && maker.examined < MOST_ROWS_EXAMINED && maker.in_vain < MOST_IN_VAIN && !status; i++)
        status = add_cell(&maker, training->outcomes + step[first[i]] * CAROM_CONE_MOST_SOLUTIONS, step + first[i], first[i + 1] - first[i],
                          error);
    const int count = cells->where.count;
    for (int i = 0; i < count && !status; i++)
        status = carom_cone_rows_order(&maker.rows[i], training->witnesses, training->witness_count, error);
    if (!status) status = carom_cones_take_rows(&cells->where, maker.rows, error);
    if (!status) status = carom_cones_stand_side_by_side(&cells->where, error);
    if (!status && !copy_heads(cones, cells)) status = carom_fail_memory(error, "cells");
    for (int i = 0; i < count; i++) free(maker.rows[i].rows);
    carom_arena_free(&scratch);
    return status;
}
