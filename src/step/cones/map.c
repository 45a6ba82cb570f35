// SPDX-License-Identifier: Apache-2.0
// The step method `cone-map`: a map of cones is trained on steps that Lemke's method solved, then frozen; its kernel looks steps up.
#include "step/cones/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/instruction_sets.h"
#include "step/cones/build.h"

// Looking through more cones takes longer than they save; cones of pivots have many rows each.
enum { MOST_CONES = 2048, MOST_BY_PIVOTS = 256 };
// Training steps: a few milliseconds, some ten where there are many cones.
enum { TRAINING_STEPS = 4096, MANY_STEPS = 16384, LISTED_STEPS = 1024 };
// Where there are many cones, training steps before the first of several rounds, each of as many steps as all before it: from then on, a
// step is solved only where no cone that was known before the round has it.
enum { FIRST_ROUND = 512 };
// For `scattered`, so many training steps in a row have random covering vectors, every so many times, less often where there are more
// steps; the others have the canonical one, for which Lemke's method remembers its pivots.
enum { SCATTER_STEPS = 128, SCATTER_EVERY = 4, SCATTER_EVERY_OF_MANY = 8 };
enum { WITNESSES = CAROM_CONE_WITNESSES };

// One cone that training met.
typedef struct entry {
    uint64_t basis;  // bit i: z_i is basic; or the number of the combination of contact modes
    bool of_modes;   // which of the two
    bool singular;   // the modes do not determine the impulses: bases stand for them
    int count;       // training steps that ended in it
    bool by_pivots;  // the conditions of Lemke's pivots, not of the basis alone
    bool guessable;  // the selection allows its impulses wherever they are verified, in its rows or not
    bool ordered;    // its rows are in the order of the lookup
    carom_cone_rows rows;
    double *map;  // [inputs x n]
} entry;

struct carom_cone_map {
    carom_selection selection;
    bool by_modes;          // cones of contact modes, each the union of those of many bases in space
    bool has_many;          // cones: steps of more variables than Lemke's pivots are followed for
    bool looks_up;          // training steps, where it can
    carom_stream covering;  // of random covering vectors
    carom_cone_builder builder;
    entry *entries;
    int entry_count, entry_capacity, by_pivots_count;
    double *states;     // [trained x inputs]
    bool *hits;         // [trained] was the state's cone known?
    int32_t *outcomes;  // [trained x CAROM_CONE_MOST_SOLUTIONS] where solutions are listed: as for carom_cone_training
    int trained, state_capacity;
    double *witnesses;  // [(inputs + 1) x WITNESSES]
    int witness_count;
    int next_round;        // training step before which the cones known by then are laid out
    carom_step_batch one;  // for lookups among them; empty without rounds
    bool *basic;           // [size]
    double *impulse;       // [n]
    double *per_unit;      // [2 inputs + 4 size]
    carom_cones cones;
    carom_cone_physics physics;
    const carom_cone_kernel *kernel;
    carom_arena arena;  // of what is known before the training
};

// ------------------------------------------------------------------------------------------------------------ lifetime

static void batch_free(carom_step_batch *batch);
static carom_status batch_create(const void *state, int capacity, carom_step_batch *batch, carom_error *error);

static void free_cones(carom_cones *cones) {
    carom_cone_cells_free(cones->cells);
    free(cones->split_rows);
    free(cones->guesses);
    free(cones->picks);
    free(cones->first_rival);
    free(cones->rivals);
    free(cones->first_row);
    free(cones->first_side);
    free(cones->sides);
    free(cones->heads);
    free(cones->rows);
    free(cones->maps);
    free(cones->velocities);
    *cones = (carom_cones){0};
}

static void destroy(void *state) {
    carom_cone_map *map = state;
    if (!map) return;
    for (int i = 0; i < map->entry_count; i++) {
        free(map->entries[i].rows.rows);
        free(map->entries[i].map);
    }
    free(map->entries);
    free(map->states);
    free(map->hits);
    free(map->outcomes);
    free_cones(&map->cones);
    batch_free(&map->one);
    carom_lcp_basis_free(map->builder.basis);
    carom_arena_free(&map->arena);
    free(map);
}

// What is known of the step before the training: arrays, units, and w as a function of the inputs.
static carom_status prepare(carom_cone_map *map, carom_stepper *stepper, double step, carom_error *error) {
    carom_cone_builder *builder = &map->builder;
    const int n = carom_impact_contact_size(stepper->impact), inputs = n + stepper->count, size = stepper->size;
    const size_t input_count = (size_t)inputs, lcp_size = (size_t)size;
    carom_arena *arena = &map->arena;
    *builder = (carom_cone_builder){.stepper = stepper,
                                    .inputs = inputs,
                                    .n = n,
                                    .size = size,
                                    .unit = carom_arena_take(arena, input_count, sizeof(double)),
                                    .vector = carom_arena_take(arena, lcp_size * input_count, sizeof(double)),
                                    .y_unit = carom_arena_take(arena, lcp_size, sizeof(double)),
                                    .z_unit = carom_arena_take(arena, lcp_size, sizeof(double)),
                                    .natural = carom_arena_take(arena, lcp_size * lcp_size, sizeof(double)),
                                    .z = carom_arena_take(arena, input_count * lcp_size, sizeof(double)),
                                    .y = carom_arena_take(arena, input_count * lcp_size, sizeof(double)),
                                    .impulse = carom_arena_take(arena, input_count * (size_t)n, sizeof(double))};
    map->basic = carom_arena_take(arena, lcp_size, sizeof *map->basic);
    map->impulse = carom_arena_take(arena, (size_t)n, sizeof(double));
    map->per_unit = carom_arena_take(arena, 2 * input_count + 4 * lcp_size, sizeof(double));
    map->witnesses = carom_arena_take(arena, (input_count + 1) * WITNESSES, sizeof(double));
    if (arena->failed) return carom_fail_memory(error, "cone map");
    // Units of the inputs: the velocity scale, and h for the caps.
    const double speed = carom_impact_velocity_scale(stepper->impact);
    carom_step_units(stepper, builder->y_unit, builder->z_unit);
    for (int j = 0; j < inputs; j++) {
        builder->unit[j] = j >= n ? step : speed > 0 ? speed : 1;
        map->per_unit[j] = map->per_unit[inputs + j] = 1 / builder->unit[j];
    }
    for (int i = 0; i < size; i++) {
        map->per_unit[2 * inputs + i] = 1 / builder->y_unit[i];
        map->per_unit[2 * inputs + size + i] = 1 / builder->z_unit[i];
        map->per_unit[2 * inputs + 2 * size + i] = 1 / stepper->y_natural[i];
        map->per_unit[2 * inputs + 3 * size + i] = 1 / stepper->z_natural[i];
    }
    // Columns of w = vector x, one unit input at a time.
    double x[CAROM_MOST_MAPPED * 2] = {0};
    for (int j = 0; j < inputs; j++) {
        x[j] = 1;
        carom_step_start_contact(stepper, x, x + n);
        x[j] = 0;
        for (int i = 0; i < size; i++) builder->vector[i * inputs + j] = stepper->w[i];
    }
    map->physics = (carom_cone_physics){.contacts = stepper->count,
                                        .dim = stepper->dim,
                                        .edges = stepper->edges,
                                        .n = n,
                                        .delassus = carom_impact_delassus(stepper->impact),
                                        .friction = carom_impact_get_data(stepper->impact)->friction,
                                        .directions = stepper->directions,
                                        .y_per_unit = map->per_unit + 2 * inputs,
                                        .z_per_unit = map->per_unit + 2 * inputs + size,
                                        .y_per_natural = map->per_unit + 2 * inputs + 2 * size,
                                        .z_per_natural = map->per_unit + 2 * inputs + 3 * size,
                                        .least_mass = stepper->least_mass};
    // Bases are solved in natural units, too: pivots of a factorisation depend on units.
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            builder->natural[i * size + j] = stepper->W[i * size + j] * (stepper->z_natural[j] / stepper->y_natural[i]);
    return carom_lcp_basis_create(size, builder->natural, &builder->basis, error);
}

// How many modes a capped contact has: open, or stopped or capped with one of the friction modes.
static uint64_t modes_of_contact(const carom_stepper *stepper) {
    return 1 + 2 * (uint64_t)carom_step_friction_modes(stepper->dim, stepper->edges);
}

// The cones of all combinations of contact modes, in their order, which decides what a choice among solutions means.
static carom_status list_modes(carom_cone_map *map, carom_error *error) {
    carom_cone_builder *builder = &map->builder;
    const int contacts = builder->stepper->count, base = (int)modes_of_contact(builder->stepper);
    const size_t size = (size_t)builder->inputs * (size_t)builder->n * sizeof(double);
    map->entry_capacity = (int)pow(base, contacts);
    map->entries = calloc((size_t)map->entry_capacity, sizeof *map->entries);
    if (!map->entries) return carom_fail_memory(error, "cone map");
    carom_status status = CAROM_OK;
    for (int code = 0; code < map->entry_capacity && !status; code++) {
        int codes[CAROM_MOST_MAPPED], rest = code;
        for (int i = 0; i < contacts; i++, rest /= base) codes[i] = rest % base;
        entry *made = &map->entries[map->entry_count++];
        *made = (entry){.rows = {.inputs = builder->inputs}, .map = malloc(size)};
        bool regular;
        status = made->map ? carom_cone_make_modes(builder, codes, &made->rows, &regular, error) : carom_fail_memory(error, "cone map");
        if (status) break;
        memcpy(made->map, builder->impulse, size);
        if (regular) continue;
        // Its solutions, if any, are among those of regular combinations, or a continuum.
        free(made->rows.rows);
        free(made->map);
        map->entry_count--;
    }
    return status;
}

static carom_status create(carom_stepper *stepper, double step, carom_instructions instructions, void **state, carom_error *error) {
    static const carom_cone_kernel *const kernels[CAROM_INSTRUCTIONS] = {
        [CAROM_INSTRUCTIONS_SCALAR] = &carom_cone_kernel_scalar,
        [CAROM_INSTRUCTIONS_PORTABLE] = &carom_cone_kernel_portable,
        [CAROM_INSTRUCTIONS_AVX2] = CAROM_X86_KERNEL(carom_cone_kernel_avx2),
        [CAROM_INSTRUCTIONS_AVX512] = CAROM_X86_KERNEL(carom_cone_kernel_avx512)};
    *state = NULL;
    // `lemke` asks for cones of pivots, which are few only for small LCPs.
    const bool lemke = stepper->selection == CAROM_SELECT_LEMKE;
    const double combinations = pow((double)modes_of_contact(stepper), stepper->count);
    if (stepper->selection == CAROM_SELECT_RANDOM && combinations > CAROM_MOST_LISTED)
        return carom_fail(error, CAROM_UNSUPPORTED, "cone-map: %d contacts have %.0f combinations of modes, at most %d are supported",
                          stepper->count, combinations, CAROM_MOST_LISTED);
    const int most = lemke ? CAROM_MOST_FOLLOWED : CAROM_MOST_MAPPED;
    if (stepper->size > most)
        return carom_fail(error, CAROM_UNSUPPORTED, "cone-map: the step's LCP has %d variables, at most %d are supported for `%s`",
                          stepper->size, most, carom_selection_name(stepper->selection));
    carom_cone_map *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "cone map");
    made->selection = stepper->selection;
    made->kernel = kernels[instructions];
    made->has_many = made->selection != CAROM_SELECT_RANDOM && stepper->size > CAROM_MOST_FOLLOWED;
    carom_status status = prepare(made, stepper, step, error);
    // Signs of contact modes may miss by a share of the speed before the step: size(x) is the largest |u_c|.
    made->by_modes = made->selection == CAROM_SELECT_RANDOM || made->selection == CAROM_SELECT_SCATTERED ||
                     (made->selection == CAROM_SELECT_ANY && (stepper->dim == 2 || made->has_many));
    for (int j = 0; !status && made->by_modes && j < made->builder.inputs; j++) made->per_unit[j] = j < made->builder.n;
    carom_stream_start_use(&made->covering, 0, 0, CAROM_STREAM_SELECTION);
    if (!status && made->selection == CAROM_SELECT_RANDOM) status = list_modes(made, error);
    made->looks_up = made->has_many || made->selection == CAROM_SELECT_RANDOM;
    made->next_round = made->has_many ? FIRST_ROUND : 0;
    if (!status && made->looks_up) status = batch_create(made, 1, &made->one, error);
    if (status)
        destroy(made);
    else
        *state = made;
    return status;
}

// ----------------------------------------------------------------------------------------------------- one basis' cone

static double size_of(const carom_cone_map *map, const double *x) { return carom_cone_input_size(map->builder.inputs, map->per_unit, x); }

static bool contains(const carom_cone_map *map, const carom_cone_rows *rows, const double *x) {
    return carom_cone_rows_hold(rows->inputs, rows->rows, rows->count, x, size_of(map, x));
}

// The combination of contact modes that a basis means, the first contact's in the highest place: lam_n and the cap's beta say whether the
// contact is open, stopped or capped. Where gamma is basic it slips along the edge that is, or between two neighbouring ones.
static uint64_t modes_of_basis(const carom_stepper *stepper, const bool *basic) {
    const int edges = stepper->edges;
    uint64_t number = 0;
    for (int i = 0; i < stepper->count; i++) {
        int slipping = 0, count = 0, first = 0, last = 0;
        for (int a = 0; a < edges; a++) {
            if (!basic[carom_step_force_index(stepper, i, 1 + a)]) continue;
            if (!count++) first = a;
            last = a;
        }
        if (basic[stepper->gamma + i] && count == 1) slipping = 1 + first;
        if (basic[stepper->gamma + i] && count == 2 && stepper->dim == 2) {
            if (last == first + 1) slipping = 1 + edges + first;
            if (first == 0 && last == edges - 1) slipping = 1 + edges + last;
        }
        const int capped = basic[stepper->beta + i] ? carom_step_friction_modes(stepper->dim, edges) : 0;
        number *= modes_of_contact(stepper);
        if (basic[stepper->normal + i]) number += (uint64_t)(1 + capped + slipping);
    }
    return number;
}

// The cone of this basis, or, for `lemke` where v' may have rivals there, that of the pivots that x leads to.
static carom_status make_entry(carom_cone_map *map, const double *x, entry *made, bool *usable, carom_error *error) {
    carom_cone_builder *builder = &map->builder;
    carom_status status;
    if (made->of_modes) {
        int codes[CAROM_MOST_MAPPED];
        uint64_t rest = made->basis;
        for (int i = builder->stepper->count - 1; i >= 0; i--, rest /= modes_of_contact(builder->stepper))
            codes[i] = (int)(rest % modes_of_contact(builder->stepper));
        status = carom_cone_make_modes(builder, codes, &made->rows, usable, error);
        made->singular = !*usable || !contains(map, &made->rows, x);
        *usable = !made->singular;
    } else {
        status = carom_cone_make_basis(builder, made->basis, &made->rows, usable, error);
    }
    if (status || !*usable) return status;
    made->guessable = map->by_modes || map->selection == CAROM_SELECT_ANY || carom_cone_prove_unique(builder, NULL, builder->impulse);
    if (!status && !made->guessable && !carom_cone_prove_unique(builder, &made->rows, builder->impulse)) {
        made->by_pivots = true;
        made->rows.count = 0;
        status = carom_cone_follow_lemke(builder, x, map->basic, &made->rows, usable, error);
        *usable = *usable && contains(map, &made->rows, x);
    }
    // The map of the cone: impulses by a unit of each input.
    if (status || !*usable) return status;
    const size_t size = (size_t)builder->inputs * (size_t)builder->n * sizeof(double);
    made->map = malloc(size);
    if (!made->map) return carom_fail_memory(error, "cone map");
    memcpy(made->map, builder->impulse, size);
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------------- laying out

// Some of the training's steps, side by side, with their sizes.
static void call_witnesses(carom_cone_map *map) {
    const int inputs = map->builder.inputs;
    map->witness_count = map->trained < WITNESSES ? map->trained : WITNESSES;
    for (int t = 0; t < map->witness_count; t++) {
        const double *x = map->states + (size_t)((int64_t)t * map->trained / map->witness_count) * (size_t)inputs;
        for (int j = 0; j < inputs; j++) map->witnesses[j * WITNESSES + t] = x[j];
        map->witnesses[inputs * WITNESSES + t] = size_of(map, x);
    }
}

// Puts the most frequent cones, in order of their frequency, side by side for the kernel.
static carom_status lay_out_cones(carom_cone_map *map, carom_error *error) {
    carom_cones *cones = &map->cones;
    free_cones(cones);
    call_witnesses(map);
    const size_t inputs = (size_t)map->builder.inputs, n = (size_t)map->builder.n;
    // More frequent first; insertion keeps equals in the order of training, which qsort does not promise.
    for (int i = 1; i < map->entry_count; i++) {
        const entry moving = map->entries[i];
        int j = i;
        for (; j > 0 && map->entries[j - 1].count < moving.count; j--) map->entries[j] = map->entries[j - 1];
        map->entries[j] = moving;
    }
    const bool listed = map->selection == CAROM_SELECT_RANDOM;
    // Combinations that are singular have no cone; they stand last.
    int known = 0;
    while (known < map->entry_count && !map->entries[known].singular) known++;
    cones->count = listed || known < MOST_CONES ? known : MOST_CONES;
    cones->inputs = (int)inputs;
    cones->n = (int)n;
    cones->map_rows = (n + CAROM_STEP_LANES - 1) / CAROM_STEP_LANES * CAROM_STEP_LANES;
    cones->per_unit = map->per_unit;
    cones->per_scale = map->per_unit + inputs;
    cones->maps = carom_step_columns_create((size_t)cones->count * inputs + 1, cones->map_rows);
    if (listed) cones->velocities = carom_step_columns_create((size_t)cones->count * inputs + 1, cones->map_rows);
    carom_cone_rows *rows = malloc(((size_t)cones->count + 1) * sizeof *rows);
    carom_status status = CAROM_OK;
    if (!rows || !cones->maps || (listed && !cones->velocities)) status = carom_fail_memory(error, "cone map");
    for (int i = 0; i < cones->count && !status; i++) {
        entry *from = &map->entries[i];
        status = from->ordered ? CAROM_OK : carom_cone_rows_order(&from->rows, map->witnesses, map->witness_count, error);
        from->ordered = map->witness_count > 0;
        rows[i] = from->rows;
        for (size_t j = 0; j < inputs; j++) {
            const size_t at = ((size_t)i * inputs + j) * cones->map_rows;
            memcpy(cones->maps + at, from->map + j * n, n * sizeof(double));
            if (!listed) continue;
            // u' = u + W lambda
            carom_multiply((int)n, (int)n, map->physics.delassus, from->map + j * n, cones->velocities + at);
            if (j < n) cones->velocities[at + j] += 1;
        }
    }
    if (!status) status = carom_cones_take_rows(cones, rows, error);
    free(rows);
    return status ? status : carom_cones_stand_side_by_side(cones, error);
}

// ------------------------------------------------------------------------------------------------------------ training

// Finds the cone of x with this number among those of its basis or modes, or makes it. `*found` says where it is; NULL where there is none.
static carom_status find_entry(carom_cone_map *map, const double *x, uint64_t number, bool of_modes, bool *known, entry **found,
                               carom_error *error) {
    *known = false;
    *found = NULL;
    // A cone of pivots counts as known only where it holds x; others of the same basis may.
    for (int i = 0; i < map->entry_count && !*known; i++) {
        entry *other = &map->entries[i];
        *known = other->basis == number && other->of_modes == of_modes && (!other->by_pivots || contains(map, &other->rows, x));
        if (*known) *found = other;
    }
    if (*known) (*found)->count += !(*found)->singular;
    if (*known || map->by_pivots_count >= MOST_BY_PIVOTS) return CAROM_OK;
    // Otherwise the cone is made; a singular basis, or pivots that cannot be followed, give none.
    if (map->entry_count == map->entry_capacity) {
        const int capacity = 2 * map->entry_capacity + 16;
        entry *moved = realloc(map->entries, (size_t)capacity * sizeof *moved);
        if (!moved) return carom_fail_memory(error, "cone map");
        map->entries = moved;
        map->entry_capacity = capacity;
    }
    entry made = {.basis = number, .of_modes = of_modes, .rows = {.inputs = map->builder.inputs}};
    bool usable;
    const carom_status status = make_entry(map, x, &made, &usable, error);
    if (!status && (usable || made.singular)) {
        made.count = usable;
        map->by_pivots_count += made.by_pivots;
        *found = &map->entries[map->entry_count++];
        **found = made;
    } else {
        free(made.rows.rows);
        free(made.map);
    }
    return status;
}

// Has one of the cones x with this velocity after the step?
static bool is_covered(const carom_cone_map *map, const double *x, const double *u_next) {
    const int n = map->builder.n;
    const double *W = carom_impact_delassus(map->builder.stepper->impact), size = size_of(map, x);
    for (int i = 0; i < map->entry_count; i++) {
        entry *other = &map->entries[i];
        if (other->singular || !carom_cone_rows_hold(other->rows.inputs, other->rows.rows, other->rows.count, x, size)) continue;
        double impulse[CAROM_MOST_MAPPED] = {0}, velocity[CAROM_MOST_MAPPED];
        for (int j = 0; j < map->builder.inputs; j++)
            for (int c = 0; c < n; c++) impulse[c] += other->map[j * n + c] * x[j];
        for (int r = 0; r < n; r++) velocity[r] = x[r] + carom_dot(n, W + r * n, impulse);
        if (!carom_cone_same_velocity(n, x, velocity, u_next)) continue;
        other->count++;
        return true;
    }
    return false;
}

// Finds or makes the cone of x, on whose basis Lemke's method has ended.
static carom_status learn_cone(carom_cone_map *map, const double *x, const double *u_next, bool *known, carom_error *error) {
    const carom_stepper *stepper = map->builder.stepper;
    entry *found = NULL;
    if (map->by_modes) {
        const carom_status status = find_entry(map, x, modes_of_basis(stepper, map->basic), true, known, &found, error);
        if (status || (found && !found->singular)) return status;
        // Redundant contacts have many bases with the same velocity: one is enough.
        *known = is_covered(map, x, u_next);
        if (*known) return CAROM_OK;
    }
    uint64_t basis = 0;
    for (int i = 0; i < stepper->size; i++) basis |= (uint64_t)map->basic[i] << i;
    // Several bases have the same velocities and impulses. In the plane a contact that sticks has one of three: friction along one edge,
    // along the other, or along both with gamma at zero, y_+ = y_- = 0 and lam_+ + lam_- = mu lam_n. The cone of the last contains those of
    // the others.
    for (int i = 0; i < stepper->count && stepper->edges == 2; i++) {
        const uint64_t forward = UINT64_C(1) << carom_step_force_index(stepper, i, 1);
        const uint64_t backward = UINT64_C(1) << carom_step_force_index(stepper, i, 2), gamma = UINT64_C(1) << (stepper->gamma + i);
        const bool one = !(basis & forward) != !(basis & backward);
        if (one && !(basis & gamma)) basis |= forward | backward | gamma;
    }
    return find_entry(map, x, basis, false, known, &found, error);
}

// Looks a training step up among the cones that are laid out. False where none of them has it. Where solutions are listed it takes any of
// them, and `outcome` receives their cones.
static bool look_up_step(carom_cone_map *map, const double *x, double *u_next, int32_t *outcome) {
    carom_step_batch *one = &map->one;
    const bool listed = map->selection == CAROM_SELECT_RANDOM;
    double residual = 0;
    for (size_t j = 0; j < (size_t)map->builder.inputs; j++) one->x[j * one->stride] = x[j];
    if (listed) {
        one->choice[0] = carom_stream_uniform(&map->covering);
        ((carom_cone_scratch *)one->scratch)->listed = outcome;
    }
    if (!map->cones.count || (listed ? map->kernel->choose : map->kernel->step)(&map->cones, &map->physics, one, 1, &residual))
        return false;
    // Cones of all modes keep the order of their numbers.
    if (!listed) map->entries[one->served[0]].count++;
    for (size_t c = 0; c < (size_t)map->builder.n; c++) u_next[c] = one->u_next[c * one->stride];
    return true;
}

static carom_status learn(void *state, const double *u, const double *lmax, double *u_next, bool *solved, carom_error *error) {
    carom_cone_map *map = state;
    carom_stepper *stepper = map->builder.stepper;
    const size_t inputs = (size_t)map->builder.inputs, n = (size_t)map->builder.n;
    const bool listed = map->selection == CAROM_SELECT_RANDOM;
    if (map->trained == map->state_capacity) {
        const int capacity = 2 * map->state_capacity + 256;
        double *states = realloc(map->states, (size_t)capacity * inputs * sizeof *states);
        if (states) map->states = states;
        bool *hits = realloc(map->hits, (size_t)capacity * sizeof *hits);
        if (hits) map->hits = hits;
        int32_t *outcomes = listed ? realloc(map->outcomes, (size_t)capacity * CAROM_CONE_MOST_SOLUTIONS * sizeof *outcomes) : NULL;
        if (outcomes) map->outcomes = outcomes;
        if (!states || !hits || (listed && !outcomes)) return carom_fail_memory(error, "cone map");
        map->state_capacity = capacity;
    }
    // The state is kept: after the training, the kept states decide the order of rows and the choice of planes.
    double *x = map->states + (size_t)map->trained * inputs;
    memcpy(x, u, n * sizeof *u);
    memcpy(x + n, lmax, (inputs - n) * sizeof *lmax);
    carom_step_info info;
    carom_status status = CAROM_OK;
    const int every = map->has_many ? SCATTER_EVERY_OF_MANY : SCATTER_EVERY;
    const bool scatters = map->selection == CAROM_SELECT_SCATTERED && map->trained / SCATTER_STEPS % every == 0;
    if (map->looks_up && map->trained == map->next_round) {
        status = lay_out_cones(map, error);
        map->next_round = map->next_round ? 2 * map->next_round : FIRST_ROUND;
    }
    if (status) return status;
    int32_t *outcome = listed ? map->outcomes + (size_t)map->trained * CAROM_CONE_MOST_SOLUTIONS : NULL;
    for (int s = 0; listed && s < CAROM_CONE_MOST_SOLUTIONS; s++) outcome[s] = CAROM_STEP_UNSERVED;
    *solved = map->looks_up && !scatters && look_up_step(map, x, u_next, outcome);
    if (*solved) {
        map->hits[map->trained++] = true;
        return CAROM_OK;
    }
    if (map->selection == CAROM_SELECT_SCATTERED && scatters != (stepper->stream != NULL)) {
        stepper->stream = scatters ? &map->covering : NULL;
        if (!scatters) carom_lcp_cover(stepper->lcp, stepper->covering);
    }
    carom_stepper_solve_contact(stepper, x, lmax, u_next, map->impulse, &info);
    *solved = info.verdict == CAROM_COMPLETE;
    bool known = false;
    // A step that needed more than one rung of the ladder says nothing about its neighbours.
    if (map->selection == CAROM_SELECT_RANDOM) {
        known = true;
    } else if (*solved && info.fallbacks == 0) {
        memcpy(map->basic, carom_lcp_lemke_basic(stepper->lcp), (size_t)stepper->size * sizeof *map->basic);
        status = learn_cone(map, x, stepper->u_next, &known, error);
    }
    map->hits[map->trained++] = known;
    return status;
}

// Share of the later half of the training so far that met a cone known by then: an estimate of how often a lookup succeeds.
static double promise(const void *state) {
    const carom_cone_map *map = state;
    int hits = 0;
    for (int t = map->trained / 2; t < map->trained; t++) hits += map->hits[t];
    return map->trained ? (double)hits / (map->trained - map->trained / 2) : 0;
}

// ------------------------------------------------------------------------------------------------------------- freezing

static carom_status freeze(void *state, carom_error *error) {
    carom_cone_map *map = state;
    carom_cones *cones = &map->cones;
    carom_status status = lay_out_cones(map, error);
    if (status) return status;
    bool guessable[MOST_CONES] = {false};
    carom_cone_training training = {guessable, map->states, map->trained, map->outcomes, map->witnesses, map->witness_count};
    if (map->selection == CAROM_SELECT_RANDOM) return carom_cones_make_cells(cones, &map->builder, map->kernel, &training, error);
    for (int i = 0; i < cones->count; i++) guessable[i] = map->entries[i].guessable;
    if (map->selection == CAROM_SELECT_SCATTERED)
        return carom_cones_find_rivals(cones, carom_impact_delassus(map->builder.stepper->impact), &training, error);
    // Cones of pivots are many, and have conditions that verification cannot check: a guess is only verified, so they are not guessed.
    return map->by_pivots_count ? CAROM_OK : carom_cones_choose_splits(cones, &training, error);
}

bool carom_cone_map_is_certified(const carom_cone_map *map, int cone) {
    return map->selection == CAROM_SELECT_LEMKE && !map->entries[cone].by_pivots;
}

int carom_cone_map_cells(const carom_cone_map *map) { return map->cones.cells ? map->cones.cells->where.count : 0; }

double carom_cone_map_certified(const carom_cone_map *map) {
    int64_t certified = 0;
    for (int i = 0; i < map->entry_count; i++) certified += carom_cone_map_is_certified(map, i) ? map->entries[i].count : 0;
    return map->trained ? (double)certified / map->trained : 0;
}

// -------------------------------------------------------------------------------------------------------------- batches

static void batch_free(carom_step_batch *batch) {
    carom_cone_scratch *scratch = batch->scratch;
    if (scratch) {
        if (scratch->left) batch_free(scratch->left);
        free(scratch->left);
        free(scratch->columns);
        free(scratch->scaled);
        free(scratch->samples);
        free(scratch->hopeful);
        free(scratch->open);
    }
    free(scratch);
    free(batch->served);
    free(batch->solutions);
    *batch = (carom_step_batch){0};
}

static carom_status batch_create(const void *state, int capacity, carom_step_batch *batch, carom_error *error) {
    const carom_cone_map *map = state;
    *batch = (carom_step_batch){0};
    if (capacity < 1 || capacity > CAROM_STEP_MOST_BATCHED)
        return carom_fail(error, CAROM_BAD_INPUT, "a batch of %d samples: 1 to %d are supported", capacity, CAROM_STEP_MOST_BATCHED);
    // One line more than the samples: columns that stand a power of two apart share the same lines of a cache.
    const size_t stride = ((size_t)capacity + 2 * CAROM_STEP_LANES - 1) / CAROM_STEP_LANES * CAROM_STEP_LANES;
    const size_t inputs = (size_t)map->builder.inputs, n = (size_t)map->builder.n;
    // The batch, and one for the samples that are left after every guess.
    carom_step_batch *at = batch;
    for (int guess = 0; at; guess++) {
        carom_cone_scratch *scratch = calloc(1, sizeof *scratch);
        at->stride = stride;
        at->scratch = scratch;
        at->served = aligned_alloc(CAROM_STEP_LANES * sizeof(int32_t), stride * sizeof(int32_t));
        if (scratch) {
            scratch->columns = carom_step_columns_create(2 * inputs + 2 * n + 3, stride);
            scratch->scaled = malloc(inputs * stride * sizeof *scratch->scaled);
            scratch->samples = malloc(stride * sizeof *scratch->samples);
            scratch->hopeful = malloc(stride * sizeof *scratch->hopeful);
            scratch->open = malloc(stride * sizeof *scratch->open);
            scratch->left = guess < CAROM_CONE_GUESSES ? calloc(1, sizeof *scratch->left) : NULL;
        }
        const bool last = guess == CAROM_CONE_GUESSES;
        if (!at->served || !scratch || !scratch->columns || !scratch->scaled || !scratch->samples || !scratch->hopeful || !scratch->open ||
            !(last || scratch->left)) {
            batch_free(batch);
            return carom_fail_memory(error, "cone map");
        }
        at->x = scratch->columns;
        at->impulse = at->x + inputs * stride;
        at->u_next = at->impulse + n * stride;
        at->gain = at->u_next + n * stride;
        scratch->work = at->gain + stride;
        at = scratch->left;
    }
    if (map->selection != CAROM_SELECT_RANDOM && map->selection != CAROM_SELECT_SCATTERED) return CAROM_OK;
    batch->choice = ((carom_cone_scratch *)batch->scratch)->work + (inputs + 1) * stride;
    batch->solutions = calloc(stride, sizeof *batch->solutions);
    if (batch->solutions) return CAROM_OK;
    batch_free(batch);
    return carom_fail_memory(error, "cone map");
}

static int solve(const void *state, carom_step_batch *batch, int count, double *max_residual) {
    const carom_cone_map *map = state;
    return (batch->choice ? map->kernel->choose : map->kernel->step)(&map->cones, &map->physics, batch, count, max_residual);
}

static int training_steps(const void *state) {
    const carom_cone_map *map = state;
    return map->selection == CAROM_SELECT_RANDOM ? LISTED_STEPS : map->has_many ? MANY_STEPS : TRAINING_STEPS;
}

static const char *path(const void *state) { return ((const carom_cone_map *)state)->kernel->name; }

static const carom_step_batch_method batches = {.create = create,
                                                .free = destroy,
                                                .training_steps = training_steps,
                                                .learn = learn,
                                                .promise = promise,
                                                .freeze = freeze,
                                                .path = path,
                                                .batch_create = batch_create,
                                                .batch_free = batch_free,
                                                .solve = solve};

const carom_step_method carom_step_cone_map = {
    .name = "cone-map",
    .summary = "steps looked up among the linear pieces of the solution, many samples at once",
    .has_kernels = true,
    .selections = 1U << CAROM_SELECT_LEMKE | 1U << CAROM_SELECT_ANY | 1U << CAROM_SELECT_RANDOM | 1U << CAROM_SELECT_SCATTERED,
    .batch = &batches,
};
