// SPDX-License-Identifier: Apache-2.0
// stronge [CONTACTS [REPETITIONS]]: how fast and how accurate the single contact is, beside SUNDIALS at equal accuracy and the schemes of
// Jia & Wang 2017 (their Table 1), and how often each sequence of events occurs (their Figure 9). Markdown on stdout.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stronge_peers.h"

enum { CONTACTS = 10000, REPETITIONS = 3, MOST_REPETITIONS = 99, SEED = 1 };

static const double REFERENCE_TOLERANCE = 1e-15;

// ------------------------------------------------------------------------------------------------------------ contacts

// The range of friction of an ensemble, log-uniform.
typedef struct ensemble {
    double least_friction, most_friction;
} ensemble;

// W = A A' + 0.05 I with A standard normal, restitution uniform, slip and approach speed standard normal.
static carom_contact_problem draw_contact(const ensemble *e, int64_t index) {
    carom_stream stream;
    carom_stream_start(&stream, SEED, (uint64_t)index);
    double A[3][3], W[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) A[i][k] = carom_stream_normal(&stream);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) W[i][k] = A[i][0] * A[k][0] + A[i][1] * A[k][1] + A[i][2] * A[k][2] + (i == k ? 0.05 : 0);
    carom_contact_problem p = {.tangential = {W[0][0], W[0][1], W[1][1]}, .coupling = {W[0][2], W[1][2]}, .normal = W[2][2]};
    p.friction = e->least_friction * pow(e->most_friction / e->least_friction, carom_stream_uniform(&stream));
    p.restitution = carom_stream_uniform(&stream);
    for (int i = 0; i < 2; i++) p.velocity.tangent[i] = carom_stream_normal(&stream);
    p.velocity.normal = -fabs(carom_stream_normal(&stream));
    return p;
}

static bool solve(const carom_contact_problem *problem, double tolerance, carom_contact_result *result) {
    carom_contact_options options = carom_contact_defaults();
    options.tolerance = tolerance;
    return carom_contact_solve(problem, &options, result, NULL) == CAROM_OK;
}

static double error_of(const carom_contact_result *r, const carom_contact_result *reference) {
    const carom_contact_vector *a = &r->impulse, *b = &reference->impulse;
    const double distance =
        fmax(fmax(fabs(a->tangent[0] - b->tangent[0]), fabs(a->tangent[1] - b->tangent[1])), fabs(a->normal - b->normal));
    return distance / fmax(fmax(fabs(b->tangent[0]), fabs(b->tangent[1])), b->normal);
}

// ---------------------------------------------------------------------------------------------------- accuracy and cost

typedef struct row {
    const char *name;
    peer_sundials *peer;  // NULL: carom
    double tolerance;
    double seconds[MOST_REPETITIONS];
    double worst, median, microseconds, steps;
    int failures;
} row;

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool solve_row(const row *w, const carom_contact_problem *problem, carom_contact_result *result) {
    return w->peer ? peer_sundials_solve(w->peer, problem, w->tolerance, result) : solve(problem, w->tolerance, result);
}

static void time_row(row *w, const carom_contact_problem *problems, int count, int repetition) {
    carom_contact_result result;
    const double start = processor_seconds();
    for (int i = 0; i < count; i++) solve_row(w, &problems[i], &result);
    w->seconds[repetition] = processor_seconds() - start;
}

static void judge_row(row *w, const carom_contact_problem *problems, const carom_contact_result *references, int count, int repetitions) {
    double *errors = malloc((size_t)count * sizeof *errors);
    for (int i = 0; errors && i < count; i++) {
        carom_contact_result result;
        const bool solved = solve_row(w, &problems[i], &result);
        errors[i] = solved ? error_of(&result, &references[i]) : 1;
        w->failures += !solved;
        w->steps += (double)result.steps / count;
    }
    w->median = errors ? median_of(errors, count) : NAN;
    w->worst = errors ? errors[count - 1] : NAN;
    w->microseconds = 1e6 * median_of(w->seconds, repetitions) / count;
    free(errors);
}

// The cheapest of carom's rows that is at least as accurate, in the median and at worst.
static const row *find_equal(const row *rows, int count, const row *w) {
    const row *best = NULL;
    for (int i = 0; i < count; i++)
        if (!rows[i].peer && rows[i].median <= w->median && rows[i].worst <= w->worst &&
            (!best || rows[i].microseconds < best->microseconds))
            best = &rows[i];
    return best;
}

static void print_rows(const row *rows, int count, int contacts) {
    printf("## Accuracy and cost\n\n%d random contacts, one core; errors relative to the impulse, against tolerance 1e-15.\n\n", contacts);
    puts("| | tolerance | us per impact | impacts per s | worst error | median error | steps | times carom at equal accuracy |");
    puts("|---|---|---|---|---|---|---|---|");
    for (int i = 0; i < count; i++) {
        const row *w = &rows[i], *equal = w->peer ? find_equal(rows, count, w) : NULL;
        printf("| %s | %.0e | %.3g | %.3g | %.1e | %.1e | %.1f | ", w->name, w->tolerance, w->microseconds, 1e6 / w->microseconds, w->worst,
               w->median, w->steps);
        if (equal) printf("%.1f", w->microseconds / equal->microseconds);
        printf("%s |\n", w->failures ? " (some failed)" : "");
    }
    putchar('\n');
}

static bool measure_accuracy(int contacts, int repetitions) {
    static const ensemble usual = {0.02, 1.5};
    static const double ours[] = {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14};
    static const double theirs[] = {1e-6, 1e-8, 1e-10, 1e-12};
    static const char *const names[] = {"CVODE, Adams", "ARKODE, Runge-Kutta of order 8"};
    enum { OURS = sizeof ours / sizeof *ours, THEIRS = sizeof theirs / sizeof *theirs, PEERS = 2, ROWS = OURS + PEERS * THEIRS };
    static row rows[ROWS];
    carom_contact_problem *problems = malloc((size_t)contacts * sizeof *problems);
    carom_contact_result *references = malloc((size_t)contacts * sizeof *references);
    peer_sundials *peers[PEERS] = {peer_sundials_create(PEER_ADAMS), peer_sundials_create(PEER_RUNGE_KUTTA)};
    const bool ready = problems && references && peers[0] && peers[1];
    for (int i = 0; ready && i < contacts; i++) {
        problems[i] = draw_contact(&usual, i);
        solve(&problems[i], REFERENCE_TOLERANCE, &references[i]);
    }
    for (int i = 0; i < OURS; i++) rows[i] = (row){.name = "carom", .tolerance = ours[i]};
    for (int i = 0; i < PEERS * THEIRS; i++)
        rows[OURS + i] = (row){names[i / THEIRS], peers[i / THEIRS], theirs[i % THEIRS], .seconds = {0}};
    for (int k = 0; ready && k < repetitions; k++)
        for (int i = 0; i < ROWS; i++) time_row(&rows[i], problems, contacts, k);
    for (int i = 0; ready && i < ROWS; i++) judge_row(&rows[i], problems, references, contacts, repetitions);
    if (ready) print_rows(rows, ROWS, contacts);
    for (int i = 0; i < PEERS; i++)
        if (peers[i]) peer_sundials_free(peers[i]);
    free(problems);
    free(references);
    return ready;
}

// ---------------------------------------------------------------------------------------------------- published schemes

static const carom_contact_problem published[] = {
    {{11.5984, -0.910367, 9.90134}, {2.442355, 1.957465}, 2.59042, 0.8, 0.95, {{-0.26197583, 0.38632923}, -0.07717472}},
    {{1.55465, .002386755, 5.15191}, {-.360808, -.00313296}, 1.105, 0.7, 0.7, {{-.20691338, .11765509}, -1.5069}},
};

// Time of one solve, by the least of several batches.
static double time_scheme(const peer_euler *scheme, double tolerance, const carom_contact_problem *problem) {
    enum { BATCHES = 5, BATCH = 200 };
    double least = DBL_MAX;
    for (int k = 0; k < BATCHES; k++) {
        carom_contact_result result;
        const double start = processor_seconds();
        for (int i = 0; i < BATCH; i++) {
            if (scheme)
                peer_euler_solve(scheme, problem, &result);
            else
                solve(problem, tolerance, &result);
        }
        least = fmin(least, (processor_seconds() - start) / BATCH);
    }
    return 1e6 * least;
}

static void compare_schemes(void) {
    static const struct {
        const char *name;
        peer_euler scheme;
    } schemes[] = {
        {"Euler, fixed step 0.001 N s", {.step = 1e-3, .collinear = 0.0873}},
        {"Euler, arc length 0.01 m/s", {.share = 1, .length = 0.01, .turn = 0.01, .collinear = 0.0873}},
        {"Euler, arc length and curvature", {.share = 0.5, .length = 0.01, .turn = 0.01, .collinear = 0.0873}},
        {"Euler, fixed step 1e-5 N s, no shortcut", {.step = 1e-5}},
    };
    static const double tolerances[] = {1e-6, 1e-12, 1e-15};
    puts("## The schemes of Jia & Wang\n");
    puts("Steps, error of the impulse relative to its size, and time; the closed form takes over 5 degrees from an invariant direction.\n");
    puts("| scheme | polyhedra: steps | error | us | pin and ball: steps | error | us |\n|---|---|---|---|---|---|---|");
    enum { SCHEMES = sizeof schemes / sizeof *schemes, TOLERANCES = sizeof tolerances / sizeof *tolerances };
    for (int i = 0; i < SCHEMES + TOLERANCES; i++) {
        const peer_euler *scheme = i < SCHEMES ? &schemes[i].scheme : NULL;
        const double tolerance = i < SCHEMES ? 0 : tolerances[i - SCHEMES];
        if (scheme)
            printf("| %s", schemes[i].name);
        else
            printf("| carom, tolerance %.0e", tolerance);
        for (int k = 0; k < 2; k++) {
            carom_contact_result result, reference;
            solve(&published[k], REFERENCE_TOLERANCE, &reference);
            if (scheme)
                peer_euler_solve(scheme, &published[k], &result);
            else
                solve(&published[k], tolerance, &result);
            printf(" | %d | %.1e | %.3g", result.steps, error_of(&result, &reference), time_scheme(scheme, tolerance, &published[k]));
        }
        puts(" |");
    }
    putchar('\n');
}

// ------------------------------------------------------------------------------------------------------------ sequences

enum { MOST_SEQUENCES = 64, SAMPLED_CONTACTS = 200000 };

typedef struct sequence {
    char name[64];
    int count;
} sequence;

static int compare_sequences(const void *a, const void *b) { return ((const sequence *)b)->count - ((const sequence *)a)->count; }

static void count_sequences(const ensemble *e) {
    static sequence found[MOST_SEQUENCES];
    int kinds = 0;
    memset(found, 0, sizeof found);
    for (int i = 0; i < SAMPLED_CONTACTS; i++) {
        const carom_contact_problem problem = draw_contact(e, i);
        carom_contact_result result;
        char name[64];
        if (!solve(&problem, 1e-10, &result)) continue;
        snprintf(name, sizeof name, "%s (%s)", result.events, carom_contact_course_name(result.course));
        int k = 0;
        while (k < kinds && strcmp(found[k].name, name) != 0) k++;
        if (k == MOST_SEQUENCES) continue;
        if (k == kinds) snprintf(found[kinds++].name, sizeof name, "%s", name);
        found[k].count++;
    }
    qsort(found, (size_t)kinds, sizeof *found, compare_sequences);
    for (int k = 0; k < kinds; k++)
        printf("| %g to %g | %s | %.4f %% |\n", e->least_friction, e->most_friction, found[k].name,
               100.0 * found[k].count / SAMPLED_CONTACTS);
}

static void count_all_sequences(void) {
    static const ensemble ensembles[] = {{0.05, 0.3}, {0.3, 1}, {1, 10}};
    printf("## Sequences of events\n\n%d random contacts for each range of friction (log-uniform).\n\n", SAMPLED_CONTACTS);
    puts("| friction | events (course) | share |\n|---|---|---|");
    for (size_t i = 0; i < sizeof ensembles / sizeof *ensembles; i++) count_sequences(&ensembles[i]);
}

int main(int argc, char **argv) {
    const int contacts = argc > 1 ? atoi(argv[1]) : CONTACTS, repetitions = argc > 2 ? atoi(argv[2]) : REPETITIONS;
    if (contacts < 1 || repetitions < 1 || repetitions > MOST_REPETITIONS) {
        fprintf(stderr, "usage: stronge [CONTACTS [REPETITIONS]]\n");
        return 2;
    }
    if (!measure_accuracy(contacts, repetitions)) {
        fprintf(stderr, "stronge: no memory, or no SUNDIALS\n");
        return 1;
    }
    compare_schemes();
    count_all_sequences();
    return 0;
}
