// SPDX-License-Identifier: Apache-2.0
// Members of the set of the inclusion from tapes: walks, and samples of time stepping.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/worst.h"
#include "reach/reach_internal.h"
#include "reach/walk.h"

// Members that gain more energy than this share of the first, by rounding, are none. Poisson's may.
#define MOST_GAIN 1e-7

// Where a walk ends and where its impulses lead may differ by so much, relative to the velocity scale: in the plane by rounding, in space
// by so many times the tolerance of curved pieces. A search would find the walks that differ most. Beside that the rounding of thousands of
// pieces, relative to what these velocities are computed from (carom_velocity_scale_of): 1e-5 of the first one where a walk is given up.
#define PLANAR_DRIFT  1e-9
#define SPATIAL_DRIFT 100
#define ROUND_OFF     1e-12

// What makes walks or samples of one impact.
typedef struct maker {
    const carom_impact *impact;
    carom_walker *walker;  // one of these two
    carom_time_stepping *stepping;
    bool may_gain, records;
    double drift;             // of walks [m/s]
    double *v, *u, *impulse;  // [nv], [n], [n]
    carom_arena arena;
} maker;

static void free_maker(void *made) {
    maker *own = made;
    if (!own) return;
    carom_walker_free(own->walker);
    carom_time_stepping_free(own->stepping);
    carom_arena_free(&own->arena);
    free(own);
}

// A maker with room for one member.
static carom_status create_maker(const carom_impact *impact, bool records, maker **made, carom_error *error) {
    maker *own = *made = calloc(1, sizeof *own);
    if (!own) return carom_fail_memory(error, "worst cases");
    own->impact = impact;
    own->records = records;
    own->v = carom_arena_take(&own->arena, (size_t)carom_impact_get_data(impact)->nv, sizeof(double));
    own->u = carom_arena_take(&own->arena, (size_t)carom_impact_contact_size(impact), sizeof(double));
    own->impulse = carom_arena_take(&own->arena, (size_t)carom_impact_contact_size(impact), sizeof(double));
    return own->arena.failed ? carom_fail_memory(error, "worst cases") : CAROM_OK;
}

// The one member that a play has ended with.
static void fill_members(maker *own, carom_verdict verdict, const carom_sample_counts *counts, carom_members *members) {
    const bool gains = !own->may_gain && counts->max_energy_gain > MOST_GAIN * carom_impact_initial_energy(own->impact);
    carom_impact_contact_velocity(own->impact, own->v, own->u);
    *members = (carom_members){.count = verdict == CAROM_COMPLETE && !gains,
                               .v = own->v,
                               .u = own->u,
                               .impulse = own->impulse,
                               .verdict = verdict,
                               .approximate = counts->approximate > 0};
}

// --------------------------------------------------------------------------------------------------------------- walks

static carom_status create_walker(const void *user, const carom_impact *impact, bool records, void **made, carom_error *error) {
    const carom_walker_options *options = user;
    maker *own = NULL;
    carom_status status = create_maker(impact, records, &own, error);
    if (!status) status = carom_walker_create(impact, options, &own->walker, error);
    if (!status) status = carom_walker_record(own->walker, records, error);
    if (status) free_maker(own);
    *made = status ? NULL : own;
    if (status) return status;
    own->may_gain = options->rebound.hypothesis == CAROM_HYPOTHESIS_POISSON;
    const double tolerance = options->tolerance != 0 ? options->tolerance : CAROM_WALK_TOLERANCE;
    const bool planar = carom_impact_get_data(impact)->tangent_dim == 1;
    own->drift = (planar ? PLANAR_DRIFT : SPATIAL_DRIFT * tolerance) * carom_impact_velocity_scale(impact);
    return CAROM_OK;
}

static void watch_walker(void *made, const carom_control *control) { carom_walker_watch(((maker *)made)->walker, control); }

static carom_status walk(void *made, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded, carom_members *members,
                         carom_error *error) {
    maker *own = made;
    carom_sample_counts counts;
    const carom_verdict verdict = carom_walker_play(own->walker, played, seed, index, own->v, own->impulse, recorded, &counts);
    fill_members(own, verdict, &counts, members);
    const double most = fmax(own->drift, ROUND_OFF * carom_velocity_scale_of(own->impact, own->impulse));
    for (int c = 0; c < own->walker->n; c++)
        if (!(fabs(own->walker->u[c] - own->u[c]) <= most)) members->count = 0;
    members->path = CAROM_PATH_SOLUTION;
    members->rows_u = carom_walker_trace(own->walker, &members->rows);
    members->rows_impulse = carom_walker_impulses(own->walker, &members->rows);
    return own->records && !members->rows ? carom_fail_memory(error, "path of a sample") : CAROM_OK;
}

static const carom_member_kind walks = {"walk", true, create_walker, free_maker, watch_walker, walk};

carom_status carom_walk_members(const carom_walker_options *options, carom_member_source *source, carom_error *error) {
    *source = (carom_member_source){.kind = &walks, .rebound = options->rebound};
    carom_walker_options *kept = source->user = malloc(sizeof *kept);
    if (!kept) return carom_fail_memory(error, "worst cases");
    *kept = *options;
    source->tolerance = options->tolerance != 0 ? options->tolerance : CAROM_WALK_TOLERANCE;
    return CAROM_OK;
}

carom_status carom_usual_members(carom_member_source *source, carom_error *error) {
    const carom_sample_options usual = {.sampler = CAROM_SAMPLER_WALK};
    return carom_walk_members(&(carom_walker_options){.max_steps = carom_sample_max_steps(&usual), .rebound = {.restitution = {NAN, NAN}}},
                              source, error);
}

// ------------------------------------------------------------------------------------------------------- time stepping

typedef struct step_options {
    carom_stepper_options stepper;
    double step;
    int64_t max_steps;
    carom_draw draw;
} step_options;

static carom_status create_stepping(const void *user, const carom_impact *impact, bool records, void **made, carom_error *error) {
    const step_options *options = user;
    maker *own = NULL;
    carom_status status = create_maker(impact, records, &own, error);
    if (!status)
        status =
            carom_time_stepping_create(impact, &options->stepper, options->step, options->max_steps, options->draw, &own->stepping, error);
    if (!status) status = carom_time_stepping_record(own->stepping, records, error);
    if (status) free_maker(own);
    *made = status ? NULL : own;
    return status;
}

static void watch_stepping(void *made, const carom_control *control) { carom_time_stepping_watch(((maker *)made)->stepping, control); }

static carom_status step_in_time(void *made, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded,
                                 carom_members *members, carom_error *error) {
    maker *own = made;
    carom_sample_counts counts;
    // Without a tape, an empty one: selections are numbers of tapes.
    static const carom_tape empty = {0};
    const carom_verdict verdict =
        carom_time_stepping_play(own->stepping, played ? played : &empty, seed, index, own->v, own->impulse, recorded, &counts);
    fill_members(own, verdict, &counts, members);
    members->path = CAROM_PATH_STEPS;
    members->rows_u = carom_time_stepping_trace(own->stepping, &members->rows);
    members->rows_impulse = carom_time_stepping_impulses(own->stepping, &members->rows);
    return own->records && !members->rows ? carom_fail_memory(error, "path of a sample") : CAROM_OK;
}

static const carom_member_kind steps = {"lcp", true, create_stepping, free_maker, watch_stepping, step_in_time};

// -------------------------------------------------------------------------------------------------------- one or other

// Planar contacts: walks, and samples of time stepping that are certified to be solutions. These take a tenth of the time, and have large
// impulses at once; walks reach what straight steps do not.
typedef struct both_options {
    carom_walker_options walk;
    step_options steps;
} both_options;

typedef struct both {
    maker *walks, *steps;
    int contacts;
} both;

static void free_both(void *made) {
    both *own = made;
    if (!own) return;
    free_maker(own->walks);
    free_maker(own->steps);
    free(own);
}

static carom_status create_both(const void *user, const carom_impact *impact, bool records, void **made, carom_error *error) {
    const both_options *options = user;
    both *own = calloc(1, sizeof *own);
    *made = NULL;
    if (!own) return carom_fail_memory(error, "worst cases");
    own->contacts = carom_impact_get_data(impact)->contacts;
    void *walker = NULL, *stepping = NULL;
    carom_status status = create_walker(&options->walk, impact, records, &walker, error);
    own->walks = walker;
    if (!status) status = create_stepping(&options->steps, impact, records, &stepping, error);
    own->steps = stepping;
    if (status)
        free_both(own);
    else
        *made = own;
    return status;
}

static void watch_both(void *made, const carom_control *control) {
    watch_walker(((both *)made)->walks, control);
    watch_stepping(((both *)made)->steps, control);
}

static carom_status play_either(void *made, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded,
                                carom_members *members, carom_error *error) {
    both *own = made;
    const int32_t what = (int32_t)CAROM_TAPE_SAMPLER * own->contacts;
    // The tape says which one; otherwise they take turns.
    carom_tape_number which = {0, what, index % 2 ? 0.75 : 0.25};
    for (int64_t k = 0; played && k < played->count && played->numbers[k].piece <= 0; k++)
        if (played->numbers[k].piece == 0 && played->numbers[k].what == what) which.value = played->numbers[k].value;
    const bool walking = which.value >= 0.5;
    const carom_status status = walking ? walk(own->walks, played, seed, index, recorded, members, error)
                                        : step_in_time(own->steps, played, seed, index, recorded, members, error);
    if (members->approximate) members->count = 0;
    if (!recorded) return status;
    // It stands first.
    carom_tape_add(recorded, which);
    if (recorded->failed) return status;
    memmove(recorded->numbers + 1, recorded->numbers, (size_t)(recorded->count - 1) * sizeof which);
    recorded->numbers[0] = which;
    return status;
}

static const carom_member_kind either = {"auto", true, create_both, free_both, watch_both, play_either};

carom_status carom_sample_members(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                  carom_member_source *source, carom_error *error) {
    *source = (carom_member_source){0};
    carom_sample_options served = *options;
    // In space steps have other cones, and with restitution there are none.
    const bool planar = carom_impact_get_data(impact)->tangent_dim == 1, bounces = options->rebound.hypothesis != CAROM_HYPOTHESIS_NONE;
    if (served.sampler == CAROM_SAMPLER_AUTO && (!planar || bounces)) served.sampler = CAROM_SAMPLER_WALK;
    carom_status status = carom_sample_check(&served, error);
    if (status) return status;
    // Beside time stepping, max_steps are its steps.
    carom_sample_options alone = served;
    if (served.sampler == CAROM_SAMPLER_AUTO) alone.max_steps = 0;
    alone.sampler = CAROM_SAMPLER_WALK;
    const carom_walker_options how = {carom_sample_max_steps(&alone), served.weights, served.rebound, served.tolerance};
    if (served.sampler == CAROM_SAMPLER_WALK) return carom_walk_members(&how, source, error);
    carom_sample_method method;
    status = carom_sample_resolve_method(impact, &served, registry, &method, error);
    if (status) return status;
    const step_options stepping = {method.stepper, method.step, carom_sample_max_steps(&served), (carom_draw)served.draw};
    const bool mixed = served.sampler == CAROM_SAMPLER_AUTO;
    *source = (carom_member_source){.kind = mixed ? &either : &steps, .rebound = served.rebound};
    source->user = malloc(mixed ? sizeof(both_options) : sizeof stepping);
    if (!source->user) return carom_fail_memory(error, "worst cases");
    if (mixed)
        *(both_options *)source->user = (both_options){how, stepping};
    else
        *(step_options *)source->user = stepping;
    return CAROM_OK;
}

void carom_member_source_release(carom_member_source *source) {
    free(source->user);
    source->user = NULL;
}
