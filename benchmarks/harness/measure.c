// SPDX-License-Identifier: Apache-2.0
// Timing of one impact along several paths. Only ratios within one run mean anything on a shared machine: repetitions are interleaved.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/harness.h"
#include "carom/clock.h"

// Steps on record: enough that neither branch predictors nor the memory of a solver learn them by heart.
enum { RECORDED_STEPS = 8192 };
// Sampling hands out blocks of samples: with fewer for each thread, some threads would idle.
enum { LEAST_SAMPLES_A_THREAD = 1024 };
// A path that trains a map first has repetitions of so many training times, so that the training is a small part of each.
enum { TRAININGS = 5 };

struct bench_problem {
    const carom_impact *impact;
    const carom_registry *registry;
    carom_sample_options asked;    // of the set
    carom_sample_options options;  // of the record and the other paths
    carom_stepper *stepper;
    int size;  // of the LCP
    carom_arena arena;
    double *velocities;  // [RECORDED_STEPS x nv] before each step
    double *caps;        // [RECORDED_STEPS x contacts]
    double *vectors;     // [RECORDED_STEPS x size] w of each step
};

// ------------------------------------------------------------------------------------------------------------- problem

void bench_problem_free(bench_problem *problem) {
    if (!problem) return;
    carom_stepper_free(problem->stepper);
    carom_arena_free(&problem->arena);
    free(problem);
}

int bench_problem_lcp_size(const bench_problem *problem) { return problem->size; }

// Records the steps of samples, one sample after another, until the record is full.
static carom_status record_steps(bench_problem *p, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(p->impact);
    const size_t nv = (size_t)data->nv, contacts = (size_t)data->contacts, n = (size_t)carom_impact_contact_size(p->impact);
    p->velocities = carom_arena_take(&p->arena, RECORDED_STEPS * nv, sizeof(double));
    p->caps = carom_arena_take(&p->arena, RECORDED_STEPS * contacts, sizeof(double));
    p->vectors = carom_arena_take(&p->arena, RECORDED_STEPS * (size_t)p->size, sizeof(double));
    double *v = carom_arena_take(&p->arena, nv, sizeof *v), *u = carom_arena_take(&p->arena, n, sizeof *u);
    double *impulse = carom_arena_take(&p->arena, n, sizeof *impulse);
    if (p->arena.failed) return carom_fail_memory(error, "bench");

    // A sample that takes no step would leave nothing to measure.
    carom_impact_contact_velocity(p->impact, data->velocity, u);
    if (carom_impact_terminated(p->impact, u))
        return carom_fail(error, CAROM_BAD_INPUT, "no contact approaches, so that there is no impact to measure");

    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)p->options.seed, 0, CAROM_STREAM_CAPS);
    int64_t steps = 0;  // of the sample
    memcpy(v, data->velocity, nv * sizeof *v);
    // Walk: draw caps, solve the step from v, and go on from v+ until the sample ends.
    for (size_t count = 0; count < RECORDED_STEPS;) {
        carom_impact_contact_velocity(p->impact, v, u);
        bool ended = steps == carom_sample_max_steps(&p->options) || carom_impact_terminated(p->impact, u);
        if (!ended) {
            // Caps h U of the step, with U uniform in [0, 1): Algorithm 1.
            double *caps = p->caps + count * contacts;
            for (size_t i = 0; i < contacts; i++) caps[i] = p->options.step * carom_stream_uniform(&stream);
            memcpy(p->velocities + count * nv, v, nv * sizeof *v);
            // Before the step is solved: its w, which the LCP solvers alone will be given.
            carom_stepper_lcp_vector(p->stepper, v, caps, p->vectors + count * (size_t)p->size);
            carom_step_info info;
            carom_stepper_solve(p->stepper, v, caps, v, impulse, &info);
            count++;
            steps++;
            ended = info.verdict != CAROM_COMPLETE;
        }
        // The next sample starts where this one did.
        if (!ended) continue;
        steps = 0;
        memcpy(v, data->velocity, nv * sizeof *v);
    }
    return CAROM_OK;
}

carom_status bench_problem_create(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                  bench_problem **problem, carom_error *error) {
    *problem = NULL;
    bench_problem *p = calloc(1, sizeof *p);
    if (!p) return carom_fail_memory(error, "bench");
    *p = (bench_problem){.impact = impact, .registry = registry, .asked = *options, .options = *options};
    // The record is made by our Lemke, whatever the paths use.
    p->options.method = (carom_step_choice){options->method.cone_edges, CAROM_SELECT_LEMKE, carom_lcp_lemke.name};
    carom_stepper_options stepper_options;
    carom_status status = CAROM_OK;
    if (isnan(options->step)) status = carom_reach_auto_step(impact, options->method.cone_edges, &p->options.step, error);
    if (!status) status = carom_step_choice_resolve(&p->options.method, CAROM_STEP_CAPPED, registry, &stepper_options, error);
    if (!status) status = carom_stepper_create(impact, &stepper_options, &p->stepper, error);
    if (!status) {
        p->size = carom_stepper_lcp_size(p->stepper);
        status = record_steps(p, error);
    }
    if (status)
        bench_problem_free(p);
    else
        *problem = p;
    return status;
}

// The options of a run along the path.
static carom_sample_options path_options(const bench_problem *p, const bench_path *path) {
    carom_sample_options options = path->is_set ? p->asked : p->options;
    if (path->is_set && path->sampler != CAROM_SAMPLER_AUTO) options.sampler = (int)path->sampler;
    if (path->is_set) return options;
    options.sampler = CAROM_SAMPLER_LCP;
    options.method.solver = path->solver->name;
    options.method.selection = (int)path->selection;
    // A solver by its name is held to LCPs.
    options.path = path->is_path ? path->name : path->solver == &carom_lcp_lemke ? carom_lcp_lemke.name : "auto";
    return options;
}

// The stepper that a run along the path would use.
static carom_status make_stepper(const bench_problem *p, const bench_path *path, carom_stepper **stepper, carom_error *error) {
    const carom_sample_options options = path_options(p, path);
    carom_sample_method method;
    *stepper = NULL;
    const carom_status status = carom_sample_resolve_method(p->impact, &options, p->registry, &method, error);
    return status ? status : carom_stepper_create(p->impact, &method.stepper, stepper, error);
}

// Such a method computes whole samples, not steps.
static bool is_batch(const carom_step_method *method) { return method && method->batch; }

// Has the case, which has run, single LCPs or steps to be timed?
static bool has_steps(const bench_case *c) { return !c->path.is_set && !is_batch(c->statistics.method); }

bool bench_problem_takes(const bench_problem *problem, const bench_path *path) {
    const carom_step_method *method = NULL;
    carom_instructions instructions;
    if (path->is_path && carom_step_method_find(path->name, &method, &instructions, NULL)) return false;
    if (is_batch(method)) {
        carom_sample_options options = path_options(problem, path);
        options.samples = 1;
        bench_run run;
        return !bench_time_run(problem->impact, &options, problem->registry, 1, &run, NULL) && run.statistics.selection == path->selection;
    }
    carom_stepper *stepper = NULL;
    const carom_status status = make_stepper(problem, path, &stepper, NULL);
    // A canonical solver that does not serve `lemke` here would be measured on other solutions.
    const bool serves = !status && (path->selection != CAROM_SELECT_LEMKE || carom_stepper_selection(stepper) == CAROM_SELECT_LEMKE ||
                                    !path->solver->canonical);
    carom_stepper_free(stepper);
    return serves;
}

// ------------------------------------------------------------------------------------------------------------ one path

// A path at work. Calibration finds how often each thing is done in a repetition.
typedef struct runner {
    const bench_problem *problem;
    bench_case *result;
    carom_lcp *lcp;  // NULL where whole steps are timed instead
    carom_stepper *stepper;
    carom_stream selection;
    carom_arena arena;
    double *z, *v, *impulse;
    int64_t samples, lcps;
} runner;

carom_status bench_time_run(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry, int threads,
                            bench_run *run, carom_error *error) {
    const carom_control control = {.threads = threads};
    const double start = carom_clock_seconds();
    const carom_status status = carom_reach_sample(impact, options, registry, &control, NULL, &run->statistics, error);
    run->seconds = carom_clock_seconds() - start;
    return status;
}

// The whole loop for samples 0..count-1.
static carom_status time_samples(runner *r, int64_t count, double *seconds, carom_error *error) {
    const bench_problem *p = r->problem;
    carom_sample_options options = path_options(p, &r->result->path);
    options.samples = count;
    bench_run run;
    const carom_status status = bench_time_run(p->impact, &options, p->registry, r->result->path.threads, &run, error);
    *seconds = run.seconds;
    r->result->statistics = run.statistics;
    return status;
}

// The recorded LCPs, or steps, over and over.
static carom_status time_lcps(runner *r, int64_t count, double *seconds, carom_error *error) {
    (void)error;
    const bench_problem *p = r->problem;
    const carom_impact_data *data = carom_impact_get_data(p->impact);
    const double start = carom_clock_seconds();
    for (int64_t i = 0; i < count; i++) {
        // Over the record again and again: memory and branches see the variety of a real run.
        const size_t row = (size_t)(i % RECORDED_STEPS);
        carom_lcp_info info;
        carom_step_info step;
        if (r->lcp)
            carom_lcp_solve(r->lcp, p->vectors + row * (size_t)p->size, r->z, &info);
        else
            carom_stepper_solve(r->stepper, p->velocities + row * (size_t)data->nv, p->caps + row * (size_t)data->contacts, r->v,
                                r->impulse, &step);
    }
    *seconds = carom_clock_seconds() - start;
    return CAROM_OK;
}

// Does a run along the path begin with a training, which makes a method ready or decides against it?
static bool trains(const bench_case *c) { return is_batch(c->statistics.method) || (c->path.is_path && !strcmp(c->path.name, "auto")); }

// Finds the count that takes about as long as a repetition should: doubled until half of that time is reached, then extrapolated.
static carom_status calibrate(runner *r, carom_status (*work)(runner *, int64_t, double *, carom_error *), double target, int64_t *count,
                              carom_error *error) {
    double seconds = 0;
    *count = 1;
    // The first call also warms the caches.
    carom_status status = work(r, *count, &seconds, error);
    if (!status && trains(r->result)) target = fmax(target, TRAININGS * seconds);
    // Double. What seems to be enough is measured once more: something else may have run meanwhile.
    while (!status && seconds < 0.5 * target) {
        *count *= 2;
        status = work(r, *count, &seconds, error);
        if (!status && seconds >= 0.5 * target) {
            double again = seconds;
            status = work(r, *count, &again, error);
            seconds = fmin(seconds, again);
        }
    }
    if (!status && seconds < target && seconds > 0) *count = (int64_t)ceil((double)*count * target / seconds);
    return status;
}

static carom_status prepare(runner *r, const bench_problem *p, double target, bench_case *result, carom_error *error) {
    const bench_path *path = &result->path;
    *r = (runner){.problem = p, .result = result};
    r->z = carom_arena_take(&r->arena, (size_t)p->size, sizeof *r->z);
    r->v = carom_arena_take(&r->arena, (size_t)carom_impact_get_data(p->impact)->nv, sizeof *r->v);
    r->impulse = carom_arena_take(&r->arena, (size_t)carom_impact_contact_size(p->impact), sizeof *r->impulse);
    if (r->arena.failed) return carom_fail_memory(error, "bench");
    carom_status status;
    // A solver alone is timed on bare LCPs; every other path on whole steps.
    if (!path->is_path) {
        status = carom_lcp_create(path->solver, p->size, carom_stepper_lcp_matrix(p->stepper), &r->lcp, error);
    } else {
        carom_stream_start_use(&r->selection, (uint64_t)p->options.seed, 0, CAROM_STREAM_SELECTION);
        status = make_stepper(p, path, &r->stepper, error);
        if (!status) carom_stepper_set_stream(r->stepper, &r->selection);
    }
    if (!status) status = calibrate(r, time_samples, target, &r->samples, error);
    if (!status && has_steps(result)) status = calibrate(r, time_lcps, target, &r->lcps, error);
    // Enough samples for every thread.
    const int64_t least = path->threads > 1 ? (int64_t)LEAST_SAMPLES_A_THREAD * path->threads : 1;
    if (r->samples < least) r->samples = least;
    result->samples = r->samples;
    return status;
}

// One repetition, in nanoseconds for a sample and an LCP.
static carom_status repeat(runner *r, double *sample, double *lcp, carom_error *error) {
    // A batch has no LCP of its own: its share of a sample stands for it. In a set there are walks, too, which solve none.
    carom_status status = time_samples(r, r->samples, sample, error);
    *sample *= 1e9 / (double)r->samples;
    *lcp = r->result->path.is_set ? NAN : *sample / r->result->statistics.lcps_per_sample;
    if (status || !has_steps(r->result)) return status;
    status = time_lcps(r, r->lcps, lcp, error);
    *lcp *= 1e9 / (double)r->lcps;
    return status;
}

// ----------------------------------------------------------------------------------------------------------- all paths

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

carom_status bench_measure(const bench_problem *problem, const bench_effort *effort, bench_case *cases, int count, carom_error *error) {
    const int repetitions = (int)effort->repetitions;
    const size_t cells = (size_t)count * (size_t)repetitions;
    carom_arena arena = {0};
    runner *runners = carom_arena_take(&arena, (size_t)count, sizeof *runners);
    double *samples = carom_arena_take(&arena, cells, sizeof *samples), *lcps = carom_arena_take(&arena, cells, sizeof *lcps);
    double *scratch = carom_arena_take(&arena, (size_t)repetitions, sizeof *scratch);
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "bench");
    }
    carom_status status = CAROM_OK;
    for (int i = 0; i < count && !status; i++) status = prepare(&runners[i], problem, 1e-3 * effort->milliseconds, &cases[i], error);
    // Interleave: all paths once, then all once more.
    for (int k = 0; k < repetitions && !status; k++)
        for (int i = 0; i < count && !status; i++)
            status = repeat(&runners[i], &samples[i * repetitions + k], &lcps[i * repetitions + k], error);

    // Ratios are medians of the ratios within a repetition, in which the machine was the same for both.
    int reference = 0;
    while (reference < count && strcmp(cases[reference].path.name, bench_reference) != 0) reference++;
    for (int i = 0; i < count && !status; i++) {
        const double *own = samples + i * repetitions;
        cases[i].ratio_to_siconos = NAN;
        if (reference < count) {
            const double *other = samples + reference * repetitions;
            for (int k = 0; k < repetitions; k++) scratch[k] = other[k] / own[k];
            cases[i].ratio_to_siconos = bench_median(scratch, repetitions);
        }
        // The median sorts its values: on a copy, since others are divided by these.
        memcpy(scratch, own, (size_t)repetitions * sizeof *scratch);
        cases[i].ns_per_sample = bench_median(scratch, repetitions);
        cases[i].ns_per_lcp = bench_median(lcps + i * repetitions, repetitions);
    }
    for (int i = 0; i < count; i++) {
        carom_lcp_free(runners[i].lcp);
        carom_stepper_free(runners[i].stepper);
        carom_arena_free(&runners[i].arena);
    }
    carom_arena_free(&arena);
    return status;
}
