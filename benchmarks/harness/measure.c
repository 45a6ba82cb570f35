// SPDX-License-Identifier: Apache-2.0
// Timing of one impact along several paths. Only ratios within one run mean anything on a shared machine: repetitions are interleaved.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "benchmarks/harness/bench.h"

const char bench_reference[] = "siconos-lemke";

// Steps on record: enough that neither branch predictors nor the memory of a solver learn them by heart.
enum { RECORDED_STEPS = 8192 };
// Sampling hands out blocks of samples: with fewer a thread, some would idle.
enum { LEAST_SAMPLES_A_THREAD = 1024 };

struct bench_problem {
    const carom_impact *impact;
    const carom_registry *registry;
    carom_sample_options options;
    carom_stepper_options stepper_options;
    carom_stepper *stepper;
    int size;            // of the LCP
    double *velocities;  // [RECORDED_STEPS x nv] before each step
    double *caps;        // [RECORDED_STEPS x contacts]
    double *vectors;     // [RECORDED_STEPS x size] w of each step
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ------------------------------------------------------------------------------------------------------------- problem

void bench_problem_free(bench_problem *problem) {
    if (!problem) return;
    carom_stepper_free(problem->stepper);
    free(problem->velocities);
    free(problem->caps);
    free(problem->vectors);
    free(problem);
}

int bench_problem_lcp_size(const bench_problem *problem) { return problem->size; }

// Records the steps of one sample from row `count` on and returns the new count. `v`, `u`, `impulse` are scratch.
static int record_sample(bench_problem *p, carom_stream *stream, double *v, double *u, double *impulse, int count) {
    const carom_impact_data *data = carom_impact_get_data(p->impact);
    const size_t nv = (size_t)data->nv, contacts = (size_t)data->contacts;
    memcpy(v, data->velocity, nv * sizeof *v);
    for (int64_t steps = 0; count < RECORDED_STEPS && steps < carom_sample_max_steps(&p->options); steps++, count++) {
        carom_impact_contact_velocity(p->impact, v, u);
        if (carom_impact_terminated(p->impact, u)) break;
        double *caps = p->caps + (size_t)count * contacts;
        for (size_t i = 0; i < contacts; i++) caps[i] = p->options.step * carom_stream_uniform(stream);
        memcpy(p->velocities + (size_t)count * nv, v, nv * sizeof *v);
        carom_stepper_lcp_vector(p->stepper, v, caps, p->vectors + (size_t)count * (size_t)p->size);
        carom_step_info info;
        carom_stepper_solve(p->stepper, v, caps, v, impulse, &info);
        if (info.verdict != CAROM_COMPLETE) return count + 1;
    }
    return count;
}

static carom_status record_steps(bench_problem *p, carom_error *error) {
    const size_t nv = (size_t)carom_impact_get_data(p->impact)->nv, contacts = (size_t)carom_impact_get_data(p->impact)->contacts;
    const size_t n = (size_t)carom_impact_contact_size(p->impact);
    p->velocities = malloc(RECORDED_STEPS * nv * sizeof(double));
    p->caps = malloc(RECORDED_STEPS * contacts * sizeof(double));
    p->vectors = malloc(RECORDED_STEPS * (size_t)p->size * sizeof(double));
    double *scratch = malloc((nv + 2 * n) * sizeof *scratch);
    if (!p->velocities || !p->caps || !p->vectors || !scratch) {
        free(scratch);
        return carom_fail_memory(error, "bench");
    }
    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)p->options.seed, 0, CAROM_STREAM_CAPS);
    for (int count = 0; count < RECORDED_STEPS;) count = record_sample(p, &stream, scratch, scratch + nv, scratch + nv + n, count);
    free(scratch);
    return CAROM_OK;
}

// A sample that takes no step would leave nothing to measure.
static carom_status check_approach(const carom_impact *impact, carom_error *error) {
    double *u = malloc((size_t)carom_impact_contact_size(impact) * sizeof *u);
    if (!u) return carom_fail_memory(error, "bench");
    carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
    const bool terminated = carom_impact_terminated(impact, u);
    free(u);
    return terminated ? carom_fail(error, CAROM_BAD_INPUT, "no contact approaches, so that there is no impact to measure") : CAROM_OK;
}

carom_status bench_problem_create(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                  bench_problem **problem, carom_error *error) {
    *problem = NULL;
    bench_problem *p = calloc(1, sizeof *p);
    if (!p) return carom_fail_memory(error, "bench");
    *p = (bench_problem){.impact = impact, .registry = registry, .options = *options};
    p->options.method = (carom_step_choice){options->method.cone_edges, CAROM_SELECT_LEMKE, carom_lcp_lemke.name};
    carom_status status = check_approach(impact, error);
    if (!status && isnan(options->step)) status = carom_reach_auto_step(impact, options->method.cone_edges, &p->options.step, error);
    if (!status) status = carom_step_choice_resolve(&p->options.method, CAROM_STEP_CAPPED, registry, &p->stepper_options, error);
    if (!status) status = carom_stepper_create(impact, &p->stepper_options, &p->stepper, error);
    if (!status) {
        p->size = carom_stepper_lcp_size(p->stepper);
        status = record_steps(p, error);
    }
    if (status) {
        bench_problem_free(p);
        return status;
    }
    *problem = p;
    return CAROM_OK;
}

// The options of a run along the path.
static carom_sample_options path_options(const bench_problem *p, const bench_path *path) {
    carom_sample_options options = p->options;
    options.method.solver = path->solver->name;
    options.method.selection = (int)path->selection;
    // A solver by its name is held to LCPs.
    options.path = path->is_path ? path->name : path->solver == &carom_lcp_lemke ? carom_lcp_lemke.name : "auto";
    return options;
}

static carom_status make_stepper(const bench_problem *p, const bench_path *path, carom_stepper **stepper, carom_error *error) {
    const carom_sample_options options = path_options(p, path);
    carom_stepper_options stepper_options;
    *stepper = NULL;
    const carom_status status = carom_sample_resolve_method(&options, p->registry, &stepper_options, error);
    return status ? status : carom_stepper_create(p->impact, &stepper_options, stepper, error);
}

static bool is_batch(const carom_step_method *method) { return method && method->batch; }

static bool batch_serves(const bench_problem *p, const bench_path *path) {
    carom_sample_options options = path_options(p, path);
    options.samples = 1;
    carom_sample_statistics statistics;
    double seconds;
    return !bench_time_run(p->impact, &options, p->registry, 1, &seconds, &statistics, NULL) && statistics.selection == path->selection;
}

bool bench_problem_takes(const bench_problem *problem, const bench_path *path) {
    const carom_step_method *method = NULL;
    carom_instructions instructions;
    if (path->is_path && carom_step_method_find(path->name, &method, &instructions, NULL)) return false;
    if (is_batch(method)) return batch_serves(problem, path);
    carom_stepper *stepper = NULL;
    const carom_status status = make_stepper(problem, path, &stepper, NULL);
    const bool serves = !status && (path->selection != CAROM_SELECT_LEMKE || carom_stepper_selection(stepper) == CAROM_SELECT_LEMKE ||
                                    !path->solver->canonical);
    carom_stepper_free(stepper);
    return serves;
}

bench_path bench_named_path(const char *name, carom_selection selection) {
    bench_path path = {.is_path = true, .solver = &carom_lcp_lemke, .selection = selection, .threads = 1};
    snprintf(path.name, sizeof path.name, "%s", name);
    return path;
}

bool bench_find_path(const carom_registry *registry, const char *name, bench_path *path) {
    const carom_lcp_solver *solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, name);
    *path = (bench_path){.solver = solver, .selection = CAROM_SELECT_LEMKE, .threads = 1};
    snprintf(path->name, sizeof path->name, "%s", name);
    return solver && cli_solver_is_available(solver);
}

// ------------------------------------------------------------------------------------------------------------ one path

// A path at work. How often each thing is done in a repetition is found by calibration.
typedef struct runner {
    const bench_problem *problem;
    bench_case *result;
    carom_lcp *lcp;  // NULL where whole steps are timed instead
    carom_stepper *stepper;
    carom_stream selection;
    double *z, *v, *impulse;
    int64_t samples, lcps;
} runner;

static void runner_release(runner *r) {
    carom_lcp_free(r->lcp);
    carom_stepper_free(r->stepper);
    free(r->z);
}

static carom_status runner_start(runner *r, const bench_problem *p, bench_case *result, carom_error *error) {
    const size_t size = (size_t)p->size, nv = (size_t)carom_impact_get_data(p->impact)->nv;
    *r = (runner){.problem = p, .result = result};
    r->z = malloc((size + nv + (size_t)carom_impact_contact_size(p->impact)) * sizeof *r->z);
    if (!r->z) return carom_fail_memory(error, "bench");
    r->v = r->z + size;
    r->impulse = r->v + nv;
    if (!result->path.is_path) return carom_lcp_create(result->path.solver, p->size, carom_stepper_lcp_matrix(p->stepper), &r->lcp, error);
    carom_stream_start_use(&r->selection, (uint64_t)p->options.seed, 0, CAROM_STREAM_SELECTION);
    const carom_status status = make_stepper(p, &result->path, &r->stepper, error);
    if (!status) carom_stepper_set_stream(r->stepper, &r->selection);
    return status;
}

carom_status bench_time_run(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry, int threads,
                            double *seconds, carom_sample_statistics *statistics, carom_error *error) {
    const carom_control control = {.threads = threads};
    carom_sample_statistics unwanted;
    const double start = now();
    const carom_status status = carom_reach_sample(impact, options, registry, &control, NULL, statistics ? statistics : &unwanted, error);
    *seconds = now() - start;
    return status;
}

// The whole loop for samples 0..count-1.
static carom_status time_samples(runner *r, int64_t count, double *seconds, carom_error *error) {
    carom_sample_options options = path_options(r->problem, &r->result->path);
    options.samples = count;
    carom_sample_statistics *statistics = &r->result->statistics;
    return bench_time_run(r->problem->impact, &options, r->problem->registry, r->result->path.threads, seconds, statistics, error);
}

// The recorded LCPs, or steps, over and over.
static carom_status time_lcps(runner *r, int64_t count, double *seconds, carom_error *error) {
    (void)error;
    const bench_problem *p = r->problem;
    const carom_impact_data *data = carom_impact_get_data(p->impact);
    const double start = now();
    for (int64_t i = 0; i < count; i++) {
        const size_t row = (size_t)(i % RECORDED_STEPS);
        carom_lcp_info info;
        carom_step_info step;
        if (r->lcp)
            carom_lcp_solve(r->lcp, p->vectors + row * (size_t)p->size, r->z, &info);
        else
            carom_stepper_solve(r->stepper, p->velocities + row * (size_t)data->nv, p->caps + row * (size_t)data->contacts, r->v,
                                r->impulse, &step);
    }
    *seconds = now() - start;
    return CAROM_OK;
}

// Of a repetition of the cone map, which trains once, in training times.
enum { TRAININGS = 5 };

typedef carom_status (*timed)(runner *r, int64_t count, double *seconds, carom_error *error);

// Twice the work in more than this many times the time: something else ran meanwhile.
#define INTERRUPTED 3

// The count that takes about as long as a repetition should: doubled until half of that time is reached, then extrapolated. Where a map is
// trained first, repetitions are so long that it takes a small part of them.
static carom_status calibrate(runner *r, timed work, double target, int64_t *count, carom_error *error) {
    double seconds = 0;
    *count = 1;
    // The first call also warms the caches.
    carom_status status = work(r, *count, &seconds, error);
    if (!status && is_batch(r->result->statistics.method)) target = fmax(target, TRAININGS * seconds);
    while (!status && seconds < 0.5 * target) {
        const double before = seconds;
        *count *= 2;
        status = work(r, *count, &seconds, error);
        if (!status && seconds > INTERRUPTED * before) status = work(r, *count, &seconds, error);
    }
    if (!status && seconds < target && seconds > 0) *count = (int64_t)ceil((double)*count * target / seconds);
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

static int find_reference(const bench_case *cases, int count) {
    for (int i = 0; i < count; i++)
        if (!strcmp(cases[i].path.name, bench_reference)) return i;
    return -1;
}

// Ratios are medians of the ratios within a repetition, in which the machine was the same for both.
static void summarise(bench_case *cases, int count, int repetitions, const double *samples, double *lcps, double *scratch) {
    const int reference = find_reference(cases, count);
    for (int i = 0; i < count; i++) {
        const double *own = samples + (size_t)i * (size_t)repetitions;
        cases[i].ratio_to_siconos = NAN;
        if (reference >= 0) {
            const double *other = samples + (size_t)reference * (size_t)repetitions;
            for (int k = 0; k < repetitions; k++) scratch[k] = other[k] / own[k];
            cases[i].ratio_to_siconos = bench_median(scratch, repetitions);
        }
        memcpy(scratch, own, (size_t)repetitions * sizeof *scratch);
        cases[i].ns_per_sample = bench_median(scratch, repetitions);
        cases[i].ns_per_lcp = bench_median(lcps + (size_t)i * (size_t)repetitions, repetitions);
    }
}

static carom_status prepare(runner *runners, const bench_problem *problem, double target, bench_case *cases, int count,
                            carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < count && !status; i++) {
        status = runner_start(&runners[i], problem, &cases[i], error);
        if (!status) status = calibrate(&runners[i], time_samples, target, &runners[i].samples, error);
        if (!status && !is_batch(cases[i].statistics.method)) status = calibrate(&runners[i], time_lcps, target, &runners[i].lcps, error);
        const int64_t least = cases[i].path.threads > 1 ? (int64_t)LEAST_SAMPLES_A_THREAD * cases[i].path.threads : 1;
        if (runners[i].samples < least) runners[i].samples = least;
        cases[i].samples = runners[i].samples;
    }
    return status;
}

// One repetition of one path, in nanoseconds a sample and an LCP.
static carom_status repeat(runner *r, double *sample, double *lcp, carom_error *error) {
    carom_status status = time_samples(r, r->samples, sample, error);
    *sample *= 1e9 / (double)r->samples;
    *lcp = *sample / r->result->statistics.lcps_per_sample;
    if (status || is_batch(r->result->statistics.method)) return status;
    status = time_lcps(r, r->lcps, lcp, error);
    *lcp *= 1e9 / (double)r->lcps;
    return status;
}

carom_status bench_measure(const bench_problem *problem, const bench_effort *effort, bench_case *cases, int count, carom_error *error) {
    const size_t repetitions = (size_t)effort->repetitions;
    runner *runners = calloc((size_t)count, sizeof *runners);
    double *samples = malloc((2 * (size_t)count + 1) * repetitions * sizeof *samples);
    carom_status status = runners && samples ? prepare(runners, problem, 1e-3 * effort->milliseconds, cases, count, error)
                                             : carom_fail_memory(error, "bench");
    if (!status) {
        double *lcps = samples + (size_t)count * repetitions, *scratch = lcps + (size_t)count * repetitions;
        for (size_t k = 0; k < repetitions && !status; k++)
            for (int i = 0; i < count && !status; i++) {
                const size_t cell = (size_t)i * repetitions + k;
                status = repeat(&runners[i], &samples[cell], &lcps[cell], error);
            }
        if (!status) summarise(cases, count, (int)effort->repetitions, samples, lcps, scratch);
    }
    for (int i = 0; runners && i < count; i++) runner_release(&runners[i]);
    free(runners);
    free(samples);
    return status;
}
