// SPDX-License-Identifier: Apache-2.0
// Parameters of a law that fit measured impacts, and their spread by bootstrap over groups.
#include <math.h>
#include <string.h>

#include "measure/measure_internal.h"

// Friction up to this value, restitution up to 1.
#define MOST_FRICTION 2.0
// Of the box, which is more than the spread of any fit needs.
#define FIT_TOLERANCE 1e-4

static const double friction_starts[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.1, 2};
static const double restitution_starts[] = {0, 0.15, 0.3, 0.45, 0.6, 0.8, 1};
enum { FRICTION_STARTS = sizeof friction_starts / sizeof *friction_starts };
enum { RESTITUTION_STARTS = sizeof restitution_starts / sizeof *restitution_starts };

// Places of the lattice that all resamples share, with the errors of all impacts at each: at most so many.
enum { MOST_PLACES = 4096, NEIGHBOURS = 4 };

typedef struct fitting {
    const carom_measure_fit_request *request;
    bool interrupted;
    double *errors;   // [chosen] at the place that was evaluated last
    double place[2];  // mu and e there
    int64_t *steps;   // [MOST_PLACES x 2] places of the lattice, in steps
    double **stored;  // [MOST_PLACES] errors there [chosen]
    int places;
    double *weights;  // [chosen] how often the group of each impact was drawn
    carom_arena arena;
} fitting;

// ---------------------------------------------------------------------------------------------------------------- errors

// The relative error of one impact at the place: of the nearest outcome.
static carom_status compute(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)worker, (void)slot;
    fitting *f = user;
    const carom_measure_fit_request *request = f->request;
    const int index = request->chosen[block];
    const carom_measurement *measurement = &request->measurements->list[index];
    carom_measure_law law = *request->law;
    if (request->friction) law.friction = (carom_interval){f->place[0], f->place[0]};
    if (request->restitution) law.restitution = (carom_interval){f->place[1], f->place[1]};
    carom_measure_set set;
    carom_measure_score score;
    carom_status status = carom_measure_ask(&law, measurement, index, NULL, request->control, &set, error);
    if (status) return status;
    status = carom_measure_score_set(measurement, set.members, set.count, law.law->samples, &score, error);
    f->errors[block] = score.error;
    carom_measure_set_free(&set);
    return status;
}

static carom_status deliver(void *user, int slot, int64_t block, carom_error *error) {
    (void)user, (void)slot, (void)block, (void)error;
    return CAROM_OK;
}

// The errors of all chosen impacts at a place, computed in parallel.
static carom_status find_errors(fitting *f, const double place[2], carom_error *error) {
    memcpy(f->place, place, sizeof f->place);
    carom_control quiet = {0};
    if (f->request->control) quiet = *f->request->control;
    quiet.progress = NULL;
    const carom_loop loop = {.blocks = f->request->count, .user = f, .compute = compute, .deliver = deliver};
    int64_t delivered = 0;
    const carom_status status = carom_loop_run(&loop, &quiet, carom_control_workers(&quiet), &delivered, error);
    f->interrupted = f->interrupted || (!status && delivered < loop.blocks);
    return status;
}

// The weighted mean of errors; impacts without an outcome take no part.
static double mean(const fitting *f, const double *errors) {
    double sum = 0, weight = 0;
    for (int i = 0; i < f->request->count; i++) {
        if (isnan(errors[i])) continue;
        sum += f->weights[i] * errors[i];
        weight += f->weights[i];
    }
    return weight > 0 ? sum / weight : (double)NAN;
}

// What carom_fit_minimise minimises. Once interrupted, it is told nothing new.
static carom_status evaluate(void *user, const double *x, double *value, carom_error *error) {
    fitting *f = user;
    const bool friction = f->request->friction, restitution = f->request->restitution;
    const double at[2] = {friction ? x[0] : 0, restitution ? x[friction] : 0};
    *value = 0;
    if (f->interrupted) return CAROM_OK;
    const carom_status status = find_errors(f, at, error);
    if (!status && !f->interrupted) *value = mean(f, f->errors);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- lattice

// The mean at a place of the lattice, whose errors are computed once. Infinite beyond the box, and when there are too many places.
static carom_status look_up(fitting *f, const int64_t step[2], double *value, carom_error *error) {
    const double place[2] = {(double)step[0] * CAROM_MEASURE_LATTICE, (double)step[1] * CAROM_MEASURE_LATTICE};
    *value = INFINITY;
    if (place[0] < 0 || place[0] > MOST_FRICTION || place[1] < 0 || place[1] > 1) return CAROM_OK;
    int i = 0;
    while (i < f->places && memcmp(f->steps + 2 * i, step, 2 * sizeof *step) != 0) i++;
    if (i == f->places) {
        if (i == MOST_PLACES) return CAROM_OK;
        carom_status status = find_errors(f, place, error);
        f->stored[i] = status ? NULL : carom_arena_take(&f->arena, (size_t)f->request->count, sizeof(double));
        if (!status && !f->stored[i]) status = carom_fail_memory(error, "bootstrap");
        if (status || f->interrupted) return status;
        memcpy(f->stored[i], f->errors, (size_t)f->request->count * sizeof(double));
        memcpy(f->steps + 2 * f->places++, step, 2 * sizeof *step);
    }
    const double found = mean(f, f->stored[i]);
    if (!isnan(found)) *value = found;
    return CAROM_OK;
}

// Descends from a place of the lattice to a neighbour as long as one is lower: along one direction, over a number of steps that halves.
static carom_status descend(fitting *f, int64_t step[2], carom_error *error) {
    static const int directions[NEIGHBOURS][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    double value;
    carom_status status = look_up(f, step, &value, error);
    for (int64_t stride = 4; stride && !status && !f->interrupted; stride /= 2) {
        for (bool lower = true; lower && !status && !f->interrupted;) {
            lower = false;
            for (int k = 0; k < NEIGHBOURS && !status && !f->interrupted; k++) {
                if (!(directions[k][0] ? f->request->friction : f->request->restitution)) continue;
                const int64_t next[2] = {step[0] + stride * directions[k][0], step[1] + stride * directions[k][1]};
                double tried;
                status = look_up(f, next, &tried, error);
                if (status || f->interrupted || !(tried < value)) continue;
                value = tried;
                memcpy(step, next, sizeof next);
                lower = true;
            }
        }
    }
    return status;
}

// Standard deviations of the fitted values over resampled groups.
static carom_status resample(fitting *f, carom_measure_fit *fit, carom_error *error) {
    const carom_measure_fit_request *request = f->request;
    f->steps = carom_arena_take(&f->arena, 2 * MOST_PLACES, sizeof *f->steps);
    f->stored = carom_arena_take(&f->arena, MOST_PLACES, sizeof *f->stored);
    if (f->arena.failed) return carom_fail_memory(error, "bootstrap");
    measure_bootstrap bootstrap;
    carom_status status = measure_bootstrap_begin(&bootstrap, request->measurements, request->chosen, request->count, error);
    double sum[2] = {0}, square[2] = {0};
    const double fitted[2] = {request->friction ? fit->friction : 0, request->restitution ? fit->restitution : 0};
    for (int64_t draw = 0; draw < request->draws && !status && !f->interrupted; draw++) {
        measure_bootstrap_draw(&bootstrap, request->law->seed, draw, f->weights);
        int64_t step[2];
        for (int k = 0; k < 2; k++) step[k] = llround(fitted[k] / CAROM_MEASURE_LATTICE);
        status = descend(f, step, error);
        for (int k = 0; k < 2; k++) {
            const double away = (double)step[k] * CAROM_MEASURE_LATTICE - fitted[k];
            sum[k] += away;
            square[k] += away * away;
        }
    }
    carom_arena_free(&bootstrap.arena);
    const double n = (double)request->draws;
    double deviation[2];
    for (int k = 0; k < 2; k++) deviation[k] = n > 1 ? sqrt(fmax(square[k] - sum[k] * sum[k] / n, 0) / (n - 1)) : (double)NAN;
    if (request->friction) fit->friction_error = deviation[0];
    if (request->restitution) fit->restitution_error = deviation[1];
    return status;
}

carom_status carom_measure_fit_law(const carom_measure_fit_request *request, carom_measure_fit *fit, carom_error *error) {
    *fit = (carom_measure_fit){NAN, NAN, NAN, NAN, NAN, false};
    fitting f = {.request = request};
    f.errors = carom_arena_take(&f.arena, (size_t)request->count + 1, sizeof *f.errors);
    f.weights = carom_arena_take(&f.arena, (size_t)request->count + 1, sizeof *f.weights);
    carom_status status = f.arena.failed ? carom_fail_memory(error, "fit") : CAROM_OK;
    for (int i = 0; i < request->count && !status; i++) f.weights[i] = 1;
    if (!status && (request->friction || request->restitution)) {
        carom_fit_problem problem = {.tolerance = FIT_TOLERANCE, .evaluate = evaluate, .user = &f};
        if (request->friction) {
            problem.most[0] = MOST_FRICTION;
            problem.start[0] = friction_starts;
            problem.starts[0] = FRICTION_STARTS;
            problem.dimension = 1;
        }
        if (request->restitution) {
            problem.most[problem.dimension] = 1;
            problem.start[problem.dimension] = restitution_starts;
            problem.starts[problem.dimension] = RESTITUTION_STARTS;
            problem.dimension++;
        }
        double x[2];
        status = carom_fit_minimise(&problem, x, &fit->mean_error, error);
        if (request->friction) fit->friction = x[0];
        if (request->restitution) fit->restitution = x[problem.dimension - 1];
        if (!status && !f.interrupted && request->draws > 0) status = resample(&f, fit, error);
    }
    fit->finished = !status && !f.interrupted;
    carom_arena_free(&f.arena);
    return status;
}
