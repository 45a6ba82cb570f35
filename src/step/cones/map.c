// SPDX-License-Identifier: Apache-2.0
// The cone map: trained on steps that Lemke's method solved, then frozen.
#include "step/cones/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/instruction_sets.h"
#include "carom/lcp.h"
#include "step/cones/build.h"

// More cones cost more to look through than they save, and those of pivots have many rows.
enum { MOST_CONES = 768, MOST_PATHS = 256 };
// Training steps by which the rows of a cone are put in order.
enum { WITNESSES = 64 };
// Coefficients below this share of the solution's largest, both in units, are round-off.
#define NEGLIGIBLE 1e-12
// Signs below this share of size(x) are zero: the round-off of states on a cone's boundary, as velocities are after a contact has stopped.
#define SIGN_TOLERANCE 1e-13
// Rows of unit size closer than this are the same.
#define SAME_ROW 1e-12

// One cone that training met.
typedef struct entry {
    uint64_t basis;  // bit i: z_i is basic
    int count;       // training steps that it has
    bool is_path;    // the conditions of Lemke's pivots, not of the basis alone
    bool guessable;  // the selection allows its impulses wherever they are verified, in its rows or not
    carom_cone_rows rows;
    double *map;  // [inputs x n]
} entry;

struct carom_cone_map {
    carom_selection selection;
    carom_cone_builder builder;
    entry *entries;
    int entry_count, entry_capacity, path_count;
    double *states;  // [trained x inputs]
    int trained, state_capacity;
    bool *hits;        // [trained]
    bool *basic;       // [size]
    double *impulse;   // [n]
    double *per_unit;  // [inputs + 2 size]
    carom_cones cones;
    carom_cone_physics physics;
};

// ---------------------------------------------------------------------------------------------------------------- rows

double carom_cone_row_size(const carom_cone_builder *builder, const double *row) {
    double size = 0;
    for (int j = 0; j < builder->inputs; j++) size = fmax(size, fabs(row[j]) * builder->unit[j]);
    return size;
}

static bool is_same(const carom_cone_builder *b, const double *row, const double *other) {
    for (int j = 0; j < b->inputs; j++)
        if (fabs(row[j] - other[j]) * b->unit[j] > SAME_ROW) return false;
    return true;
}

carom_status carom_cone_rows_add(const carom_cone_builder *builder, carom_cone_rows *rows, const double *row, double size, double threshold,
                                 carom_error *error) {
    const int inputs = rows->inputs, width = inputs + 1;
    if (rows->count == rows->capacity) {
        const int capacity = 2 * rows->capacity + 8;
        double *moved = realloc(rows->rows, (size_t)capacity * (size_t)width * sizeof *moved);
        if (!moved) return carom_fail_memory(error, "cone map");
        rows->rows = moved;
        rows->capacity = capacity;
    }
    double *made = rows->rows + (size_t)rows->count * (size_t)width;
    for (int j = 0; j < inputs; j++) made[j] = row[j] / size;
    made[inputs] = -threshold / size;
    for (int i = 0; i < rows->count; i++) {
        double *other = rows->rows + (size_t)i * (size_t)width;
        if (!is_same(builder, made, other)) continue;
        other[inputs] = fmin(other[inputs], made[inputs]);
        return CAROM_OK;
    }
    rows->count++;
    return CAROM_OK;
}

double carom_cone_input_size(int inputs, const double *per_unit, const double *x) {
    double size = 0;
    for (int j = 0; j < inputs; j++) size = fmax(size, fabs(x[j]) * per_unit[j]);
    return size;
}

bool carom_cone_rows_hold(int inputs, const double *rows, int count, const double *x, double size) {
    for (const double *row = rows, *end = rows + count * (inputs + 1); row < end; row += inputs + 1)
        if (!(carom_dot(inputs, row, x) + row[inputs] * size >= 0)) return false;
    return true;
}

static double size_of(const carom_cone_map *map, const double *x) { return carom_cone_input_size(map->builder.inputs, map->per_unit, x); }

static bool contains(const carom_cone_map *map, const carom_cone_rows *rows, const double *x) {
    return carom_cone_rows_hold(rows->inputs, rows->rows, rows->count, x, size_of(map, x));
}

// ------------------------------------------------------------------------------------------------------------ lifetime

static carom_status allocate(carom_cone_map *map, carom_error *error) {
    carom_cone_builder *b = &map->builder;
    const size_t size = (size_t)b->size, inputs = (size_t)b->inputs, n = (size_t)b->n;
    b->unit = malloc(inputs * sizeof(double));
    b->vector = calloc(size * inputs, sizeof(double));
    b->y_unit = malloc(size * sizeof(double));
    b->z_unit = malloc(size * sizeof(double));
    b->z = calloc(inputs * size, sizeof(double));
    b->y = calloc(inputs * size, sizeof(double));
    b->impulse = calloc(inputs * n, sizeof(double));
    map->basic = malloc(size * sizeof *map->basic);
    map->impulse = malloc(n * sizeof(double));
    map->per_unit = malloc((inputs + 2 * size) * sizeof(double));
    if (b->unit && b->vector && b->y_unit && b->z_unit && b->z && b->y && b->impulse && map->basic && map->impulse && map->per_unit)
        return CAROM_OK;
    return carom_fail_memory(error, "cone map");
}

// Columns of w = vector x, one unit input at a time.
static void fill_vector(carom_cone_builder *b) {
    double x[CAROM_MOST_MAPPED * 2] = {0};
    for (int j = 0; j < b->inputs; j++) {
        x[j] = 1;
        carom_step_start_contact(b->stepper, x, x + b->n);
        x[j] = 0;
        for (int i = 0; i < b->size; i++) b->vector[i * b->inputs + j] = b->stepper->w[i];
    }
}

static void set_units(carom_cone_map *map, double step) {
    carom_cone_builder *b = &map->builder;
    const double speed = carom_impact_velocity_scale(b->stepper->impact);
    carom_lcp_units(b->size, b->stepper->W, b->y_unit, b->z_unit);
    for (int j = 0; j < b->inputs; j++) {
        b->unit[j] = j >= b->n ? step : speed > 0 ? speed : 1;
        map->per_unit[j] = 1 / b->unit[j];
    }
    for (int i = 0; i < b->size; i++) {
        map->per_unit[b->inputs + i] = 1 / b->y_unit[i];
        map->per_unit[b->inputs + b->size + i] = 1 / b->z_unit[i];
    }
}

static void describe_physics(carom_cone_map *map) {
    const carom_cone_builder *b = &map->builder;
    const carom_stepper *s = b->stepper;
    map->physics = (carom_cone_physics){.contacts = s->count,
                                        .dim = s->dim,
                                        .edges = s->edges,
                                        .n = b->n,
                                        .size = b->size,
                                        .delassus = carom_impact_delassus(s->impact),
                                        .friction = carom_impact_get_data(s->impact)->friction,
                                        .directions = s->directions,
                                        .y_per_unit = map->per_unit + b->inputs,
                                        .z_per_unit = map->per_unit + b->inputs + b->size,
                                        .least_mass = s->least_mass};
}

static carom_status start_builder(carom_cone_map *map, const carom_impact *impact, const carom_stepper_options *options,
                                  carom_error *error) {
    carom_cone_builder *b = &map->builder;
    carom_stepper_options own = *options;
    own.kind = CAROM_STEP_CAPPED;
    own.solver = &carom_lcp_lemke;
    own.selection = CAROM_SELECT_LEMKE;
    carom_status status = carom_stepper_create(impact, &own, &b->stepper, error);
    if (status) return status;
    b->size = carom_stepper_lcp_size(b->stepper);
    b->n = carom_impact_contact_size(impact);
    b->inputs = b->n + carom_impact_get_data(impact)->contacts;
    const int most = options->selection == CAROM_SELECT_LEMKE ? CAROM_MOST_FOLLOWED : CAROM_MOST_MAPPED;
    if (b->size > most)
        return carom_fail(error, CAROM_UNSUPPORTED, "cone-map: the step's LCP has %d variables, at most %d are supported for `%s`", b->size,
                          most, carom_selection_name(options->selection));
    return carom_lcp_basis_create(b->size, b->stepper->W, &b->basis, error);
}

carom_status carom_cone_map_create(const carom_impact *impact, const carom_stepper_options *options, double step, carom_cone_map **map,
                                   carom_error *error) {
    *map = NULL;
    if (options->selection != CAROM_SELECT_LEMKE && options->selection != CAROM_SELECT_ANY)
        return carom_fail(error, CAROM_UNSUPPORTED, "cone-map: serves the selections lemke and any alone");
    carom_cone_map *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "cone map");
    made->selection = options->selection;
    carom_status status = start_builder(made, impact, options, error);
    if (!status) status = allocate(made, error);
    if (status) {
        carom_cone_map_free(made);
        return status;
    }
    set_units(made, step);
    fill_vector(&made->builder);
    describe_physics(made);
    *map = made;
    return CAROM_OK;
}

static void release_entry(entry *e) {
    free(e->rows.rows);
    free(e->map);
}

void carom_cone_map_free(carom_cone_map *map) {
    if (!map) return;
    carom_cone_builder *b = &map->builder;
    for (int i = 0; i < map->entry_count; i++) release_entry(&map->entries[i]);
    free(map->entries);
    free(map->states);
    free(map->hits);
    free(map->cones.split_rows);
    free(map->cones.guesses);
    free(map->cones.picks);
    free(map->basic);
    free(map->impulse);
    free(map->per_unit);
    free(map->cones.first_row);
    free(map->cones.rows);
    free(map->cones.maps);
    free(b->unit);
    free(b->vector);
    free(b->y_unit);
    free(b->z_unit);
    free(b->z);
    free(b->y);
    free(b->impulse);
    carom_lcp_basis_free(b->basis);
    carom_stepper_free(b->stepper);
    free(map);
}

// ----------------------------------------------------------------------------------------------------- one basis' cone

// Several bases have the same velocities and impulses. In the plane a contact that sticks has one of three: friction along one edge, along
// the other, or along both with gamma at zero, y_+ = y_- = 0 and lam_+ + lam_- = mu lam_n. The cone of the last contains those of the
// others.
static uint64_t canonical_basis(const carom_stepper *s, const bool *basic) {
    uint64_t basis = 0;
    for (int i = 0; i < s->size; i++) basis |= (uint64_t)basic[i] << i;
    for (int i = 0; i < s->count && s->edges == 2; i++) {
        const uint64_t forward = UINT64_C(1) << carom_step_force_index(s, i, 1), backward = UINT64_C(1) << carom_step_force_index(s, i, 2);
        const uint64_t gamma = UINT64_C(1) << (s->gamma + i);
        const bool one = !(basis & forward) != !(basis & backward);
        if (one && !(basis & gamma)) basis |= forward | backward | gamma;
    }
    return basis;
}

// y = W z + w for every input.
static void fill_slacks(carom_cone_builder *b, int input) {
    const double *z = b->z + (size_t)input * (size_t)b->size;
    for (int i = 0; i < b->size; i++) {
        const double *W = b->stepper->W + (size_t)i * (size_t)b->size;
        long double sum = b->vector[i * b->inputs + input];
        for (int j = 0; j < b->size; j++) sum += (long double)W[j] * z[j];
        b->y[input * b->size + i] = (double)sum;
    }
}

// Solution and impulse of a basis by a unit of each input. False when the basis is singular.
static bool solve_basis(carom_cone_builder *b, uint64_t basis) {
    bool basic[CAROM_MOST_MAPPED];
    double w[CAROM_MOST_MAPPED];
    for (int i = 0; i < b->size; i++) basic[i] = basis >> i & 1;
    for (int j = 0; j < b->inputs; j++) {
        double *z = b->z + (size_t)j * (size_t)b->size;
        for (int i = 0; i < b->size; i++) w[i] = b->vector[i * b->inputs + j];
        memset(z, 0, (size_t)b->size * sizeof *z);
        if (!carom_lcp_basis_solve(b->basis, basic, w, z)) return false;
        fill_slacks(b, j);
        carom_step_collect_impulse(b->stepper, z, b->impulse + (size_t)j * (size_t)b->n);
    }
    return true;
}

// Caps are never negative: a non-negative combination of them asks for nothing.
static bool asks_nothing(const carom_cone_builder *b, const double *row, double negligible) {
    for (int j = 0; j < b->inputs; j++)
        if (row[j] * b->unit[j] < 0 || (j < b->n && fabs(row[j]) * b->unit[j] > negligible)) return false;
    return true;
}

// The signs that a basis asks for: z_i >= 0 where it is basic, y_i >= 0 elsewhere.
static carom_status add_signs(const carom_cone_builder *b, uint64_t basis, carom_cone_rows *rows, carom_error *error) {
    double row[2 * CAROM_MOST_MAPPED], largest = 0;
    for (int j = 0; j < b->inputs; j++)
        for (int i = 0; i < b->size; i++) {
            const int at = j * b->size + i;
            largest = fmax(largest, b->unit[j] * fmax(fabs(b->z[at]) / b->z_unit[i], fabs(b->y[at]) / b->y_unit[i]));
        }
    for (int i = 0; i < b->size; i++) {
        const bool basic = basis >> i & 1;
        for (int j = 0; j < b->inputs; j++) row[j] = (basic ? b->z : b->y)[j * b->size + i];
        const double negligible = NEGLIGIBLE * largest * (basic ? b->z_unit : b->y_unit)[i];
        const double size = carom_cone_row_size(b, row);
        if (!(size > negligible) || asks_nothing(b, row, negligible)) continue;
        const carom_status status = carom_cone_rows_add(b, rows, row, size, -SIGN_TOLERANCE * size, error);
        if (status) return status;
    }
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ training

static carom_status add_entry(carom_cone_map *map, const entry *made, carom_error *error) {
    if (map->entry_count == map->entry_capacity) {
        const int capacity = 2 * map->entry_capacity + 16;
        entry *moved = realloc(map->entries, (size_t)capacity * sizeof *moved);
        if (!moved) return carom_fail_memory(error, "cone map");
        map->entries = moved;
        map->entry_capacity = capacity;
    }
    map->entries[map->entry_count++] = *made;
    return CAROM_OK;
}

static carom_status copy_map(const carom_cone_builder *b, entry *e, carom_error *error) {
    const size_t size = (size_t)b->inputs * (size_t)b->n * sizeof(double);
    e->map = malloc(size);
    if (!e->map) return carom_fail_memory(error, "cone map");
    memcpy(e->map, b->impulse, size);
    return CAROM_OK;
}

// The cone of this basis, or, for `lemke` where v' may have rivals there, that of the pivots that x leads to.
static carom_status make_entry(carom_cone_map *map, const double *x, entry *e, bool *usable, carom_error *error) {
    carom_cone_builder *b = &map->builder;
    *usable = solve_basis(b, e->basis);
    if (!*usable) return CAROM_OK;
    carom_status status = add_signs(b, e->basis, &e->rows, error);
    e->guessable = map->selection == CAROM_SELECT_ANY || carom_cone_prove_unique(b, NULL, b->impulse);
    if (!status && !e->guessable && !carom_cone_prove_unique(b, &e->rows, b->impulse)) {
        e->is_path = true;
        e->rows.count = 0;
        status = carom_cone_follow_lemke(b, x, map->basic, &e->rows, usable, error);
        *usable = *usable && contains(map, &e->rows, x);
    }
    if (!status && *usable) status = copy_map(b, e, error);
    return status;
}

// Finds the cone of x among those of its basis, or makes it.
static carom_status learn(carom_cone_map *map, const double *x, bool *known, carom_error *error) {
    const uint64_t basis = canonical_basis(map->builder.stepper, map->basic);
    for (int i = 0; i < map->entry_count; i++) {
        entry *e = &map->entries[i];
        *known = e->basis == basis && (!e->is_path || contains(map, &e->rows, x));
        if (!*known) continue;
        e->count++;
        return CAROM_OK;
    }
    if (map->path_count >= MOST_PATHS) return CAROM_OK;
    entry made = {.basis = basis, .count = 1, .rows = {.inputs = map->builder.inputs}};
    bool usable;
    carom_status status = make_entry(map, x, &made, &usable, error);
    if (!status && usable) {
        map->path_count += made.is_path;
        status = add_entry(map, &made, error);
    }
    if (status || !usable) release_entry(&made);
    return status;
}

static carom_status remember_state(carom_cone_map *map, const double *u, const double *lmax, double **x, carom_error *error) {
    const size_t inputs = (size_t)map->builder.inputs, n = (size_t)map->builder.n;
    if (map->trained == map->state_capacity) {
        const int capacity = 2 * map->state_capacity + 256;
        double *states = realloc(map->states, (size_t)capacity * inputs * sizeof *states);
        if (states) map->states = states;
        bool *hits = realloc(map->hits, (size_t)capacity * sizeof *hits);
        if (hits) map->hits = hits;
        if (!states || !hits) return carom_fail_memory(error, "cone map");
        map->state_capacity = capacity;
    }
    *x = map->states + (size_t)map->trained * inputs;
    memcpy(*x, u, n * sizeof *u);
    memcpy(*x + n, lmax, (inputs - n) * sizeof *lmax);
    return CAROM_OK;
}

carom_status carom_cone_map_train(carom_cone_map *map, const double *u, const double *lmax, double *u_next, bool *solved,
                                  carom_error *error) {
    double *x = NULL;
    carom_status status = remember_state(map, u, lmax, &x, error);
    if (status) return status;
    carom_step_info info;
    carom_stepper_solve_contact(map->builder.stepper, x, lmax, u_next, map->impulse, &info);
    *solved = info.verdict == CAROM_COMPLETE;
    bool known = false;
    // A step that needed more than one rung of the ladder says nothing about its neighbours.
    if (*solved && info.fallbacks == 0) {
        memcpy(map->basic, carom_lcp_lemke_basic(map->builder.stepper->lcp), (size_t)map->builder.size * sizeof *map->basic);
        status = learn(map, x, &known, error);
    }
    map->hits[map->trained++] = known;
    return status;
}

// ------------------------------------------------------------------------------------------------------------- freezing

// More frequent first; otherwise in the order of training.
static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

// Insertion keeps the order of equals, which qsort does not promise.
static void sort_entries(carom_cone_map *map) {
    for (int i = 1; i < map->entry_count; i++) {
        const entry moving = map->entries[i];
        int j = i;
        for (; j > 0 && compare_entries(&map->entries[j - 1], &moving) > 0; j--) map->entries[j] = map->entries[j - 1];
        map->entries[j] = moving;
    }
}

static void exchange_rows(carom_cone_rows *rows, int a, int b) {
    const int width = rows->inputs + 1;
    double *x = rows->rows + a * width, *y = rows->rows + b * width;
    for (int j = 0; a != b && j < width; j++) {
        const double kept = x[j];
        x[j] = y[j];
        y[j] = kept;
    }
}

// Bit t: witness t of the training's steps is on the wrong side of a row.
static uint64_t turned_away(const carom_cone_map *map, const double *row, int witnesses) {
    const int inputs = map->builder.inputs;
    uint64_t turned = 0;
    for (int t = 0; t < witnesses; t++) {
        const double *x = map->states + (size_t)((int64_t)t * map->trained / witnesses) * (size_t)inputs;
        turned |= (uint64_t)!carom_cone_rows_hold(inputs, row, 1, x, size_of(map, x)) << t;
    }
    return turned;
}

// Rows that turn most witnesses away come first, each counted among those that the rows before it let pass.
static carom_status order_rows(const carom_cone_map *map, carom_cone_rows *rows, carom_error *error) {
    const int width = rows->inputs + 1, witnesses = map->trained < WITNESSES ? map->trained : WITNESSES;
    uint64_t *turned = malloc(((size_t)rows->count + 1) * sizeof *turned), passing = UINT64_MAX;
    if (!turned) return carom_fail_memory(error, "cone map");
    for (int i = 0; i < rows->count; i++) turned[i] = turned_away(map, rows->rows + i * width, witnesses);
    for (int first = 0; first < rows->count && passing; first++) {
        int best = first;
        for (int i = first + 1; i < rows->count; i++)
            if (__builtin_popcountll(turned[i] & passing) > __builtin_popcountll(turned[best] & passing)) best = i;
        passing &= ~turned[best];
        exchange_rows(rows, first, best);
        turned[best] = turned[first];
    }
    free(turned);
    return CAROM_OK;
}

static int padded_rows(const carom_cone_rows *rows) { return (rows->count + CAROM_CONE_ROWS - 1) / CAROM_CONE_ROWS * CAROM_CONE_ROWS; }

static carom_status allocate_cones(carom_cone_map *map, carom_error *error) {
    carom_cones *c = &map->cones;
    const carom_cone_builder *b = &map->builder;
    size_t rows = 0;
    c->count = map->entry_count < MOST_CONES ? map->entry_count : MOST_CONES;
    for (int i = 0; i < c->count; i++) rows += (size_t)padded_rows(&map->entries[i].rows);
    c->inputs = b->inputs;
    c->n = b->n;
    c->map_rows = ((size_t)b->n + CAROM_CONE_LANES - 1) / CAROM_CONE_LANES * CAROM_CONE_LANES;
    c->per_unit = map->per_unit;
    const size_t values = ((size_t)c->count * (size_t)b->inputs + 1) * c->map_rows;
    c->first_row = malloc(((size_t)c->count + 1) * sizeof *c->first_row);
    c->rows = calloc((rows + 1) * ((size_t)b->inputs + 1), sizeof *c->rows);
    c->maps = aligned_alloc(CAROM_CONE_LANES * sizeof(double), values * sizeof *c->maps);
    if (!c->first_row || !c->rows || !c->maps) return carom_fail_memory(error, "cone map");
    memset(c->maps, 0, values * sizeof *c->maps);
    return CAROM_OK;
}

// A guess is held against the verification alone.
static carom_status choose_splits(carom_cone_map *map, carom_error *error) {
    bool guessable[MOST_CONES];
    for (int i = 0; i < map->cones.count; i++) guessable[i] = map->entries[i].guessable;
    return carom_cones_choose_splits(&map->cones, guessable, map->states, map->trained, error);
}

carom_status carom_cone_map_freeze(carom_cone_map *map, carom_error *error) {
    sort_entries(map);
    carom_status status = allocate_cones(map, error);
    if (status) return status;
    carom_cones *c = &map->cones;
    const size_t width = (size_t)c->inputs + 1;
    c->first_row[0] = 0;
    for (int i = 0; i < c->count && !status; i++) {
        entry *e = &map->entries[i];
        status = order_rows(map, &e->rows, error);
        memcpy(c->rows + (size_t)c->first_row[i] * width, e->rows.rows, (size_t)e->rows.count * width * sizeof(double));
        c->first_row[i + 1] = c->first_row[i] + padded_rows(&e->rows);
        for (int j = 0; j < c->inputs; j++)
            memcpy(c->maps + ((size_t)i * (size_t)c->inputs + (size_t)j) * c->map_rows, e->map + j * c->n, (size_t)c->n * sizeof(double));
    }
    // Cones of pivots have conditions that are not the solution's, and are many.
    return status || map->path_count ? status : choose_splits(map, error);
}

double carom_cone_map_hit_rate(const carom_cone_map *map) {
    int hits = 0;
    for (int t = map->trained / 2; t < map->trained; t++) hits += map->hits[t];
    return map->trained ? (double)hits / (map->trained - map->trained / 2) : 0;
}

bool carom_cone_map_is_certified(const carom_cone_map *map, int cone) {
    return map->selection == CAROM_SELECT_LEMKE && !map->entries[cone].is_path;
}

double carom_cone_map_certified(const carom_cone_map *map) {
    int64_t certified = 0;
    for (int i = 0; i < map->entry_count; i++) certified += carom_cone_map_is_certified(map, i) ? map->entries[i].count : 0;
    return map->trained ? (double)certified / map->trained : 0;
}

const carom_cones *carom_cone_map_cones(const carom_cone_map *map) { return &map->cones; }
const carom_cone_physics *carom_cone_map_physics(const carom_cone_map *map) { return &map->physics; }

// -------------------------------------------------------------------------------------------------------------- batches

double *carom_cone_columns_create(int count, size_t stride) {
    const size_t size = (size_t)count * stride * sizeof(double);
    double *columns = aligned_alloc(CAROM_CONE_LANES * sizeof(double), size);
    if (columns) memset(columns, 0, size);
    return columns;
}

static bool allocate_batch(const carom_cone_map *map, size_t stride, carom_cone_batch *batch) {
    const int inputs = map->builder.inputs, n = map->builder.n;
    *batch = (carom_cone_batch){.stride = stride,
                                .x = carom_cone_columns_create(inputs, stride),
                                .impulse = carom_cone_columns_create(n, stride),
                                .u_next = carom_cone_columns_create(n, stride),
                                .gain = carom_cone_columns_create(1, stride),
                                .cone = aligned_alloc(CAROM_CONE_LANES * sizeof(int32_t), stride * sizeof(int32_t)),
                                .work = carom_cone_columns_create(inputs + 1, stride),
                                .samples = malloc(stride * sizeof(int32_t))};
    return batch->x && batch->impulse && batch->u_next && batch->gain && batch->cone && batch->work && batch->samples;
}

// A batch, and those for what is left after every guess.
static bool allocate_batches(const carom_cone_map *map, size_t stride, int guesses, carom_cone_batch *batch) {
    const bool allocated = allocate_batch(map, stride, batch);
    if (!guesses) return allocated;
    batch->left = calloc(1, sizeof *batch->left);
    return allocated && batch->left && allocate_batches(map, stride, guesses - 1, batch->left);
}

carom_status carom_cone_batch_create(const carom_cone_map *map, int capacity, carom_cone_batch *batch, carom_error *error) {
    *batch = (carom_cone_batch){0};
    if (capacity < 1 || capacity > CAROM_CONE_MOST_SAMPLES)
        return carom_fail(error, CAROM_BAD_INPUT, "a batch of %d samples: 1 to %d are supported", capacity, CAROM_CONE_MOST_SAMPLES);
    // One line more than the samples: columns that stand a power of two apart share the same lines of a cache.
    const size_t stride = ((size_t)capacity + 2 * CAROM_CONE_LANES - 1) / CAROM_CONE_LANES * CAROM_CONE_LANES;
    if (allocate_batches(map, stride, CAROM_CONE_GUESSES, batch)) return CAROM_OK;
    carom_cone_batch_free(batch);
    return carom_fail_memory(error, "cone map");
}

void carom_cone_batch_free(carom_cone_batch *batch) {
    if (batch->left) carom_cone_batch_free(batch->left);
    free(batch->left);
    free(batch->x);
    free(batch->impulse);
    free(batch->u_next);
    free(batch->gain);
    free(batch->cone);
    free(batch->work);
    free(batch->samples);
    *batch = (carom_cone_batch){0};
}

// -------------------------------------------------------------------------------------------------------------- kernels

const carom_cone_kernel *carom_cone_kernel_find(const char *path, bool *available) {
    const struct {
        const char *path;
        const carom_cone_kernel *kernel;
        bool available;
    } kernels[] = {{"cone-map:avx512", CAROM_X86_KERNEL(carom_cone_kernel_avx512), CAROM_HAS_AVX512},
                   {"cone-map:avx2", CAROM_X86_KERNEL(carom_cone_kernel_avx2), CAROM_HAS_AVX2},
                   {"cone-map:portable", &carom_cone_kernel_portable, true},
                   {"cone-map:scalar", &carom_cone_kernel_scalar, true}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        *available = kernels[i].available;
        if (!strcmp(path, kernels[i].path)) return kernels[i].kernel;
        if (!strcmp(path, "cone-map") && *available) return kernels[i].kernel;
    }
    return NULL;
}
