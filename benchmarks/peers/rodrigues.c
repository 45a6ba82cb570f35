// SPDX-License-Identifier: Apache-2.0
// rodrigues [REPETITIONS]: what a body and step of the integrator `rodrigues` cost, by maps, beside velocity Verlet with the same forces
// and beside an implicit Lie group update, and how the cost grows with the number of bonded bodies. Markdown on stdout.
#include "dynamics/rodrigues/rodrigues.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPETITIONS = 7, MOST_REPETITIONS = 99, METHODS = 7 };

// Steps of all bodies together that one timing takes: a tenth of a second and more.
static const int64_t BODY_STEPS = 1000000;

#define PI 3.141592653589793

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

// ------------------------------------------------------------------------------------------------------------- motions

typedef struct setup {
    carom_particle *body;
    int *pairs;
    carom_potential potential[2];
    carom_bodies_motion motion;
    double step;
} setup;

static void *need(void *memory) {
    if (memory) return memory;
    fputs("rodrigues: no memory\n", stderr);
    exit(1);
}

// A ring of bonded spheres that shake: spacing, masses and stiffnesses of Baker & Gonzalez, section 4.2, whatever their number.
static void make_ring(int bodies, setup *ring) {
    const double diameter = 3 * sin(PI / 80), radius = 0.5 * diameter / sin(PI / bodies);
    *ring = (setup){.body = need(calloc((size_t)bodies, sizeof *ring->body)),
                    .pairs = need(malloc(2 * (size_t)bodies * sizeof *ring->pairs)),
                    .step = 1e-3};
    for (int i = 0; i < bodies; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 1, (uint64_t)i);
        const double angle = 2 * PI * i / bodies;
        ring->body[i] = (carom_particle){.mass = 1,
                                         .inertia = {1, 1, 1},
                                         .radius = diameter / 2,
                                         .position = {radius * cos(angle), radius * sin(angle), 0},
                                         .attitude = {1}};
        // Attitudes differ a little from the start, so that forces cost the same for a method that does not move attitudes.
        double length = 1;
        for (int k = 0; k < 3; k++) {
            ring->body[i].velocity[k] = 0.1 * carom_stream_normal(&stream);
            ring->body[i].angular_velocity[k] = 0.1 * carom_stream_normal(&stream);
            ring->body[i].attitude[1 + k] = 0.01 * carom_stream_normal(&stream);
            length += ring->body[i].attitude[1 + k] * ring->body[i].attitude[1 + k];
        }
        for (int k = 0; k < 4; k++) ring->body[i].attitude[k] /= sqrt(length);
        ring->pairs[2 * i] = i;
        ring->pairs[2 * i + 1] = (i + 1) % bodies;
    }
    ring->potential[0] =
        (carom_potential){.type = CAROM_POTENTIAL_BONDS, .bonds = {.count = bodies, .pairs = ring->pairs, .Km = 10, .Ka = 200, .Ks = 200}};
    ring->potential[1] = (carom_potential){.type = CAROM_POTENTIAL_HERTZ, .hertz = {.Kpp = 2100}};
    ring->motion = (carom_bodies_motion){.bodies = bodies, .body = ring->body, .potentials = 2, .potential = ring->potential};
}

// Many pendulums without forces on each other: as little work for a force as there can be.
static void make_pendulums(int bodies, bool spheres, setup *many) {
    *many = (setup){.body = need(calloc((size_t)bodies, sizeof *many->body)), .step = 0.01};
    for (int i = 0; i < bodies; i++)
        many->body[i] = (carom_particle){.mass = 1,
                                         .inertia = {1, spheres ? 1 : 2, spheres ? 1 : 3},
                                         .attitude = {0.38268343236508977, 0, 0.92387953251128674, 0},
                                         .angular_velocity = {0.2, 0, 0.2}};
    many->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_OFFSET_MASS, .offset_mass = {1, {0, 0, 1}}};
    many->motion = (carom_bodies_motion){.bodies = bodies, .body = many->body, .potentials = 1, .potential = many->potential};
}

static void release_setup(setup *made) {
    free(made->body);
    free(made->pairs);
}

// ------------------------------------------------------------------------------------------------------------- methods

// Velocity Verlet of the centers with the same forces, torques and blocks; attitudes and spins stand still.
static void kick_centers(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    (void)block;
    for (int64_t i = first; i < end; i++) {
        const double push = 0.5 * run->step * run->inverse_mass[i];
        for (int64_t k = 3 * i; k < 3 * i + 3; k++) run->now.velocity[k] += push * run->now.force[k];
    }
}

static void kick_and_drift_centers(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    kick_centers(run, block, first, end);
    for (int64_t k = 3 * first; k < 3 * end; k++) run->now.position[k] += run->step * run->now.velocity[k];
}

static bool verlet_step(rodrigues *run, double h) {
    run->step = h;
    rodrigues_for_blocks(run, run->bodies, kick_and_drift_centers);
    if (!rodrigues_evaluate(run, &run->now, &run->potential)) return false;
    rodrigues_for_blocks(run, run->bodies, kick_centers);
    return true;
}

typedef struct method {
    const char *name;
    rodrigues_map map;
    bool verlet, any_inertia;
} method;

static const method methods[METHODS] = {{"velocity Verlet", RODRIGUES_TAN, true, false}, {"`tan`", RODRIGUES_TAN, false, false},
                                        {"`sin`", RODRIGUES_SIN, false, false},          {"`cubic`", RODRIGUES_CUBIC, false, false},
                                        {"`exact`", RODRIGUES_EXACT, false, false},      {"`splitting`", RODRIGUES_SPLITTING, false, true},
                                        {"`implicit`", RODRIGUES_IMPLICIT, false, true}};

// Nanoseconds for one body and step; the run starts anew each time. One thread is timed by the processor's time, which other work on the
// machine does not lengthen.
static double time_method(const setup *made, const method *tried, int threads) {
    rodrigues run;
    carom_error error;
    if (rodrigues_create(&made->motion, tried->map, false, threads, &run, &error)) {
        fprintf(stderr, "rodrigues: %s\n", error.message);
        exit(1);
    }
    const int64_t steps = (BODY_STEPS + run.bodies - 1) / run.bodies;
    const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    const double start = seconds_of(clock);
    for (int64_t k = 0; k < steps; k++) {
        if (tried->verlet ? verlet_step(&run, made->step) : rodrigues_step(&run, made->step)) continue;
        fprintf(stderr, "rodrigues: a step of %s failed\n", tried->name);
        exit(1);
    }
    const double seconds = seconds_of(clock) - start;
    rodrigues_release(&run);
    return 1e9 * seconds / ((double)steps * made->motion.bodies);
}

// --------------------------------------------------------------------------------------------------------------- tables

// Methods take turns, so that other work on the machine slows all of them alike.
static void compare_methods(const char *title, const setup *made, bool spheres, int repetitions) {
    double times[METHODS][MOST_REPETITIONS], ratios[MOST_REPETITIONS];
    const int base = spheres ? 0 : METHODS - 1;
    for (int r = 0; r < repetitions; r++)
        for (int m = 0; m < METHODS; m++) times[m][r] = spheres || methods[m].any_inertia ? time_method(made, &methods[m], 1) : NAN;
    printf("\n%s, one thread:\n\n| method | ns per body and step | over %s |\n|---|---|---|\n", title, methods[base].name);
    for (int m = 0; m < METHODS; m++) {
        if (isnan(times[m][0])) continue;
        for (int r = 0; r < repetitions; r++) ratios[r] = times[m][r] / times[base][r];
        const double ratio = median_of(ratios, repetitions);
        double sorted[MOST_REPETITIONS];
        for (int r = 0; r < repetitions; r++) sorted[r] = times[m][r];
        printf("| %s | %.0f | %.2f |\n", methods[m].name, median_of(sorted, repetitions), ratio);
    }
}

static void show_growth(int repetitions) {
    static const int sizes[] = {80, 1000, 10000, 100000}, threads[] = {1, 2, 4};
    enum { SIZES = sizeof sizes / sizeof *sizes, THREADS = sizeof threads / sizeof *threads };
    printf("\nBonded rings, `tan`, ns per body and step:\n\n| bodies | 1 thread | 2 threads | 4 threads |\n|---|---|---|---|\n");
    for (int k = 0; k < SIZES; k++) {
        setup s;
        double times[THREADS][MOST_REPETITIONS];
        make_ring(sizes[k], &s);
        for (int r = 0; r < repetitions; r++)
            for (int t = 0; t < THREADS; t++) times[t][r] = time_method(&s, &methods[1], threads[t]);
        printf("| %d |", sizes[k]);
        for (int t = 0; t < THREADS; t++) printf(" %.0f |", median_of(times[t], repetitions));
        putchar('\n');
        release_setup(&s);
    }
}

int main(int count, char **arguments) {
    const int repetitions = count > 1 ? atoi(arguments[1]) : REPETITIONS;
    if (repetitions < 1 || repetitions > MOST_REPETITIONS) {
        fprintf(stderr, "usage: rodrigues [REPETITIONS]; 1 to %d\n", MOST_REPETITIONS);
        return 2;
    }
    setup s;
    printf(
        "Medians of %d interleaved repetitions. Velocity Verlet moves the centers alone, with the same forces; `implicit` is a Lie group\n"
        "update by Newton's method.\n",
        repetitions);
    make_ring(80, &s);
    compare_methods("Ring of 80 bonded spheres", &s, true, repetitions);
    release_setup(&s);
    make_pendulums(80, true, &s);
    compare_methods("80 pendulums", &s, true, repetitions);
    release_setup(&s);
    make_pendulums(80, false, &s);
    compare_methods("80 heavy bodies with moments 1, 2, 3", &s, false, repetitions);
    release_setup(&s);
    show_growth(repetitions);
    return 0;
}
