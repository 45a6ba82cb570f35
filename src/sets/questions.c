// SPDX-License-Identifier: Apache-2.0
// Questions about the outcomes of a law: worst cases, areas of hulls, containment, distances.
#include "carom/questions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/set.h"

// Values within this share of the largest one are equal.
#define EQUAL_VALUES 1e-12

// Outcomes between two questions whether to stop.
enum { POLL = 4096 };

// Impacts whose operators differ by more than this share are not the same.
#define SAME_IMPACT 1e-9

// ------------------------------------------------------------------------------------------------------------- functionals

bool carom_outcome_set_omits(const carom_outcome_set *set, const carom_functional *functional) {
    return set->corners && (functional->has_velocity || functional->has_impulse || functional->energy != 0);
}

static bool all_nan(const double *values, int64_t count) {
    bool none = true;
    for (int64_t i = 0; i < count && none; i++) none = isnan(values[i]);
    return none;
}

// Do the outcomes have values of this functional? Whether one at a vertex says anything about a piece depends on the functional: linear
// ones are largest there, and so is K with a positive factor, which is convex.
static carom_status check_functional(const carom_outcome_set *set, const carom_functional *f, bool projects, carom_error *error) {
    const bool polyhedral = strcmp(set->certificate, "samples") != 0;
    if (polyhedral && projects && f->energy != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "K is quadratic: it makes no polygon of the pieces of an exact set; ask a sampled set");
    if (polyhedral && f->energy < 0)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "the least energy of a convex piece is not at one of its vertices: K has factors of at least 0 in exact sets");
    if (f->has_velocity && !set->v)
        return carom_fail(error, CAROM_BAD_INPUT, "the impact is in contact space: it has no velocities of joints");
    // An exact set is one of velocities; laws that give no impulses have NaN in every row.
    if (f->has_impulse && (!set->impulse || all_nan(set->impulse, set->points * set->n)))
        return carom_fail(error, CAROM_BAD_INPUT, "%s determines no impulses: Pn and Pt are known of sampled sets and of other laws",
                          set->law);
    if (f->energy != 0 && (!set->energy || all_nan(set->energy, set->points)))
        return carom_fail(error, CAROM_BAD_INPUT, "K is not determined: the kinetic energy before the impact is zero");
    return CAROM_OK;
}

static double value_of(const carom_outcome_set *set, const carom_functional *f, int64_t row) {
    const carom_outcome_point point = carom_outcome_set_point(set, row);
    return carom_functional_value(f, &point);
}

carom_status carom_outcome_set_maximum(const carom_outcome_set *set, const carom_functional *functional, carom_maximum *maximum,
                                       carom_error *error) {
    *maximum =
        (carom_maximum){.value = -INFINITY, .inner = -INFINITY, .unit = functional->unit, .certified = !strcmp(set->certificate, "exact")};
    const carom_status status = check_functional(set, functional, false, error);
    if (status) return status;
    // Outcomes with a value that is not a number are never the largest. Of those that have it up to round-off, the first is shown.
    double most = -INFINITY;
    for (int64_t i = 0; i < set->points; i++) most = fmax(most, value_of(set, functional, i));
    if (!isfinite(most)) return carom_fail(error, CAROM_BAD_INPUT, "its factors are too large for double precision");
    int64_t first = 0;
    while (first + 1 < set->points && !(value_of(set, functional, first) >= most - EQUAL_VALUES * fabs(most))) first++;
    maximum->value = most;
    maximum->point = first;
    maximum->approximate = (set->flags[first] & CAROM_FLAG_APPROXIMATE) != 0;
    // Every outcome of samples is in the set but those with the flag; pieces are in it where they are an inner set.
    if (!strcmp(set->certificate, "outer") || !strcmp(set->certificate, "none")) return CAROM_OK;
    if (!maximum->approximate) maximum->inner = most;
    for (int64_t i = 0; i < set->points && maximum->approximate; i++)
        if (!(set->flags[i] & CAROM_FLAG_APPROXIMATE)) maximum->inner = fmax(maximum->inner, value_of(set, functional, i));
    return CAROM_OK;
}

carom_status carom_outcome_set_hull(const carom_outcome_set *set, int count, const carom_functional *axes, const carom_control *control,
                                    double *volume, carom_error *error) {
    carom_status status = CAROM_OK;
    *volume = 0;
    for (int k = 0; k < count && !status; k++) status = check_functional(set, &axes[k], true, error);
    if (status) return status;
    double *points = malloc((size_t)set->points * (size_t)count * sizeof *points);
    if (!points) return carom_fail_memory(error, "hull");
    // Outcomes without a value have no place in the plane.
    int64_t rows = 0;
    bool stopped = false;
    for (int64_t i = 0; i < set->points && !stopped; i++) {
        for (int k = 0; k < count; k++) points[rows * count + k] = value_of(set, &axes[k], i);
        rows += carom_all_finite((size_t)count, points + rows * count);
        stopped = i % POLL == 0 && carom_control_cancelled(control);
    }
    if (stopped)
        *volume = NAN;
    else
        status = carom_hull_volume(count, rows, points, control, volume, error);
    free(points);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- distances

const char *carom_metric_unit(carom_metric_kind kind) { return kind == CAROM_METRIC_KINETIC ? "sqrt(J)" : "m/s"; }

// The part that no impulse reaches is measured by the kinetic energy where there is a mass matrix.
static carom_metric_kind unreachable_kind(const carom_impact *impact) {
    return carom_impact_has_system(impact) ? CAROM_METRIC_KINETIC : CAROM_METRIC_EUCLIDEAN;
}

const char *carom_metric_unreachable_unit(const carom_impact *impact) { return carom_metric_unit(unreachable_kind(impact)); }

// The speed of the impact before any impulse, in the unit of the metric.
static double speed_before(const carom_impact *impact, carom_metric_kind kind) {
    return kind == CAROM_METRIC_KINETIC ? sqrt(2 * carom_impact_initial_energy(impact)) : carom_impact_velocity_scale(impact);
}

// The set in the metric's space; CAROM_OK without one when the caller asked to stop.
static carom_status map_set(const carom_metric *metric, const carom_outcome_set *from, const carom_control *control, carom_set **set,
                            carom_error *error) {
    const size_t n = (size_t)from->n;
    double *x = malloc((size_t)from->points * n * sizeof *x);
    if (!x) return carom_fail_memory(error, "set");
    bool stopped = false;
    for (int64_t i = 0; i < from->points && !stopped; i++) {
        carom_metric_map(metric, from->u + (size_t)i * n, x + (size_t)i * n);
        stopped = i % POLL == 0 && carom_control_cancelled(control);
    }
    const carom_status status = stopped ? CAROM_OK : carom_set_create_watched(from->n, from->pieces, from->starts, x, control, set, error);
    free(x);
    return status;
}

// A point of the metric's space as a contact velocity and the velocity that has it.
static void unmap_point(const carom_metric *metric, const double *x, double *u, double *v) {
    carom_metric_unmap(metric, x, u);
    carom_metric_velocity(metric, u, v);
}

// Velocities in one block of the parallel loop.
enum { BLOCK = 64 };

// Many velocities that are asked about.
typedef struct containing {
    const carom_impact *impact;
    carom_metric_kind kind;
    const carom_metric *metric;
    const carom_set *set;  // in the metric's space
    double tolerance;
    int64_t count;
    const double *v;
    carom_containment *answers;
    double *scratch;  // [workers x 2n]
} containing;

static carom_status contain_block(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)slot;
    const containing *asked = user;
    const carom_impact *impact = asked->impact;
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)carom_impact_get_data(impact)->nv;
    const carom_metric_kind kind = asked->kind, rest_kind = unreachable_kind(impact);
    double *x = asked->scratch + (size_t)worker * 2 * n, *nearest = x + n;
    const int64_t end = block * BLOCK + BLOCK < asked->count ? block * BLOCK + BLOCK : asked->count;
    for (int64_t i = block * BLOCK; i < end; i++) {
        const double *velocity = asked->v + (size_t)i * nv;
        carom_containment *answer = &asked->answers[i];
        carom_impact_contact_velocity(impact, velocity, answer->u);
        carom_metric_map(asked->metric, answer->u, x);
        answer->distance = carom_set_distance(asked->set, x, nearest);

        // The part of v that no impulse reaches has a unit of its own, except in the kinetic metric, which has both parts in one.
        answer->unreachable = carom_metric_unreachable(asked->metric, velocity);
        if (kind == CAROM_METRIC_KINETIC && rest_kind == kind) answer->distance = hypot(answer->distance, answer->unreachable);
        answer->contained = answer->distance <= asked->tolerance * speed_before(impact, kind) &&
                            answer->unreachable <= asked->tolerance * speed_before(impact, rest_kind);
        unmap_point(asked->metric, nearest, answer->u, answer->v);
        if (isfinite(answer->distance + answer->unreachable)) continue;
        static const char too_far[] = "its distance from the set is too large for double precision";
        return asked->count == 1 ? carom_fail(error, CAROM_BAD_INPUT, "v: %s", too_far)
                                 : carom_fail(error, CAROM_BAD_INPUT, "v[%lld]: %s", (long long)i, too_far);
    }
    return CAROM_OK;
}

// Answers go where the caller wants them; there is nothing to be handed on in order.
static carom_status deliver_nothing(void *user, int slot, int64_t block, carom_error *error) {
    (void)user, (void)slot, (void)block, (void)error;
    return CAROM_OK;
}

carom_status carom_outcome_set_contain(const carom_outcome_set *set, const carom_impact *impact, carom_metric_kind kind, double tolerance,
                                       int64_t count, const double *v, const carom_control *control, carom_containment *answers,
                                       int64_t *answered, carom_error *error) {
    *answered = 0;
    const int workers = carom_control_workers(control);
    carom_metric *metric = NULL;
    carom_set *mapped = NULL;
    double *scratch = malloc((size_t)workers * 2 * (size_t)set->n * sizeof *scratch);
    carom_status status = scratch ? carom_metric_create(impact, kind, &metric, error) : carom_fail_memory(error, "set");
    if (!status) status = map_set(metric, set, control, &mapped, error);
    if (mapped) {
        containing asked = {impact, kind, metric, mapped, tolerance, count, v, answers, scratch};
        const carom_loop loop = {count / BLOCK + (count % BLOCK > 0), &asked, contain_block, deliver_nothing, NULL, NULL};
        int64_t blocks;
        status = carom_loop_run(&loop, control, workers, &blocks, error);
        *answered = blocks < loop.blocks ? blocks * BLOCK : count;
    }
    carom_set_free(mapped);
    carom_metric_free(metric);
    free(scratch);
    return status;
}

carom_status carom_outcome_set_distances(const carom_outcome_set *a, const carom_outcome_set *b, const carom_impact *impact,
                                         carom_metric_kind kind, const carom_cover_options *options, const carom_control *control,
                                         carom_set_distances *distances, carom_error *error) {
    if (a->n != b->n) return carom_fail(error, CAROM_BAD_INPUT, "the sets have different contacts");
    // Nothing is known before the search.
    distances->a_to_b = distances->b_to_a = distances->hausdorff = distances->gap = NAN;
    distances->complete = false;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < a->n; k++) distances->u[i][k] = NAN;
        for (int k = 0; k < carom_impact_get_data(impact)->nv; k++) distances->v[i][k] = NAN;
    }
    carom_metric *metric = NULL;
    carom_set *mapped_a = NULL, *mapped_b = NULL;
    double *points = malloc(2 * (size_t)a->n * sizeof *points);
    carom_status status = points ? carom_metric_create(impact, kind, &metric, error) : carom_fail_memory(error, "set");
    if (!status) status = map_set(metric, a, control, &mapped_a, error);
    if (mapped_a) status = map_set(metric, b, control, &mapped_b, error);

    // The farthest point of each set from the other, with a bound from above in three and more dimensions.
    carom_cover forth = {.point = points}, back = {.point = points ? points + a->n : NULL};
    if (mapped_b) status = carom_set_cover(mapped_a, mapped_b, options, control, &forth, error);
    if (mapped_b && !status) status = carom_set_cover(mapped_b, mapped_a, options, control, &back, error);
    if (mapped_b && !status) {
        distances->a_to_b = forth.radius;
        distances->b_to_a = back.radius;
        distances->hausdorff = fmax(forth.radius, back.radius);
        distances->gap = fmax(forth.bound - forth.radius, back.bound - back.radius);
        distances->complete = !forth.interrupted && !back.interrupted;
        unmap_point(metric, forth.point, distances->u[0], distances->v[0]);
        unmap_point(metric, back.point, distances->u[1], distances->v[1]);
    }
    carom_set_free(mapped_a);
    carom_set_free(mapped_b);
    carom_metric_free(metric);
    free(points);
    return status;
}

// Do arrays agree within the share of the largest entry of the first?
static bool agree(size_t count, const double *first, const double *second, double scale) {
    bool same = true;
    for (size_t i = 0; i < count && same; i++) same = fabs(first[i] - second[i]) <= SAME_IMPACT * scale;
    return same;
}

carom_status carom_impact_resembles(const carom_impact *impact, const carom_impact *other, bool *resembles, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact), *others = carom_impact_get_data(other);
    const size_t n = (size_t)carom_impact_contact_size(impact), m = (size_t)data->contacts;
    *resembles = data->contacts == others->contacts && data->tangent_dim == others->tangent_dim;
    for (size_t i = 0; i < m && *resembles; i++) *resembles = !strcmp(data->names[i], others->names[i]);
    if (!*resembles) return CAROM_OK;
    double *u = malloc(2 * n * sizeof *u);
    if (!u) return carom_fail_memory(error, "impact");
    carom_impact_contact_velocity(impact, data->velocity, u);
    carom_impact_contact_velocity(other, others->velocity, u + n);
    const double *delassus = carom_impact_delassus(impact);
    *resembles = agree(n * n, delassus, carom_impact_delassus(other), carom_max_abs(n * n, delassus)) &&
                 agree(n, u, u + n, carom_impact_velocity_scale(impact)) &&
                 agree(m, data->friction, others->friction, carom_max_abs(m, data->friction)) &&
                 agree(m, data->restitution, others->restitution, 1);
    free(u);
    return CAROM_OK;
}
