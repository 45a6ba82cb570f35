// SPDX-License-Identifier: Apache-2.0
// cradle [--points]: energy after over energy before of three equal spheres in a row, by Bullet's sequential impulses and by the
// propagative model (Seghete & Murphey, Figure 2). Markdown on stdout; with --points the numbers of the figure, for gnuplot.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/propagative.h"
#include "cradle_bullet.h"

enum { SPEEDS = 21, PHASES = 10, RESTITUTIONS = 11 };

static const double least_speed = 0.1, most_speed = 10;
static const double frequencies[] = {60, 240, 6000};
enum { FREQUENCIES = sizeof frequencies / sizeof *frequencies };

static double speed_at(int index) { return least_speed * pow(most_speed / least_speed, (double)index / (SPEEDS - 1)); }

// ----------------------------------------------------------------------------------------------------------------- ours

typedef struct blend {
    const carom_propagative *propagative;
    double restitution, plastic[2], velocity[3];
} blend;

static carom_status take_outcome(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    blend *b = user;
    double impulse[2];
    carom_propagative_blend(b->propagative, b->restitution, b->plastic, outcome->impulse, impulse);
    return carom_propagative_velocity(b->propagative, impulse, b->velocity, error);
}

// E+/E- of the only outcome of three equal balls; NaN when something failed. It does not depend on the speed.
static double propagative_ratio(double restitution) {
    static const double mass[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, normal[] = {-1, 1, 0, 0, -1, 1}, velocity[] = {1, 0, 0};
    const carom_impact_data data = {.nv = 3, .contacts = 2, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = velocity};
    const carom_word_limits limits = carom_word_limits_defaults();
    carom_impact *impact = NULL;
    carom_propagative *propagative = NULL;
    carom_verdict verdict;
    bool adhesive;
    blend b = {.restitution = restitution};
    carom_status status = carom_impact_create(&data, &impact, NULL);
    if (!status) status = carom_propagative_create(impact, &propagative, NULL);
    b.propagative = propagative;
    if (!status) status = carom_propagative_plastic(propagative, CAROM_PLASTIC_UNILATERAL, b.plastic, &adhesive, NULL);
    if (!status) status = carom_propagative_enumerate(propagative, CAROM_WORDS_ADMISSIBLE, &limits, NULL, take_outcome, &b, &verdict, NULL);
    const double *v = b.velocity;
    const double ratio = status ? NAN : carom_impact_kinetic_energy(impact, v) / carom_impact_initial_energy(impact);
    carom_propagative_free(propagative);
    carom_impact_free(impact);
    return ratio;
}

// --------------------------------------------------------------------------------------------------------------- Bullet

static double bullet_ratio(double speed, double restitution, double frequency, double phase, int iterations) {
    double v[3];
    bullet_cradle(speed, restitution, frequency, phase, iterations, v);
    return (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / (speed * speed);
}

typedef struct range {
    double least, most;
} range;

static range bullet_range(double restitution, double frequency) {
    range r = {INFINITY, -INFINITY};
    for (int s = 0; s < SPEEDS; s++)
        for (int p = 0; p < PHASES; p++) {
            const double ratio = bullet_ratio(speed_at(s), restitution, frequency, (double)p / PHASES, 0);
            r.least = fmin(r.least, ratio);
            r.most = fmax(r.most, ratio);
        }
    return r;
}

// Largest change of a ratio by ten and a hundred times as many iterations of the solver.
static double iteration_effect(void) {
    double largest = 0;
    for (int s = 0; s < SPEEDS; s++) {
        const double usual = bullet_ratio(speed_at(s), 1, 60, 0, 10);
        for (int iterations = 100; iterations <= 1000; iterations *= 10)
            largest = fmax(largest, fabs(bullet_ratio(speed_at(s), 1, 60, 0, iterations) - usual));
    }
    return largest;
}

// --------------------------------------------------------------------------------------------------------------- output

static void print_table(void) {
    printf("# Three balls in a row: energy after over energy before\n\n");
    printf(
        "Bullet %d.%02d with its default settings, from the least to the largest ratio over %d speeds from %g to %g and %d phases of the\n"
        "step; ours has one outcome, whose ratio depends on nothing but the restitution.\n\n",
        bullet_version() / 100, bullet_version() % 100, SPEEDS, least_speed, most_speed, PHASES);
    printf("| restitution | propagative |");
    for (int f = 0; f < FREQUENCIES; f++) printf(" Bullet, %g Hz |", frequencies[f]);
    printf("\n|---|---|");
    for (int f = 0; f < FREQUENCIES; f++) printf("---|");
    putchar('\n');
    for (int k = 0; k < RESTITUTIONS; k++) {
        const double restitution = (double)k / (RESTITUTIONS - 1);
        printf("| %.1f | %.4f |", restitution, propagative_ratio(restitution));
        for (int f = 0; f < FREQUENCIES; f++) {
            const range r = bullet_range(restitution, frequencies[f]);
            printf(" %.3f to %.3f |", r.least, r.most);
        }
        putchar('\n');
    }
    printf("\nRestitution 1 at 60 Hz: 100 and 1000 iterations of Bullet's solver change a ratio by %.1e at most.\n", iteration_effect());
}

// Two blocks: restitution and ratio of ours; of Bullet's at 60 Hz, every speed and phase.
static void print_points(void) {
    for (int k = 0; k <= 100; k++) printf("%g %.17g\n", k / 100.0, propagative_ratio(k / 100.0));
    printf("\n\n");
    for (int k = 0; k < RESTITUTIONS; k++)
        for (int s = 0; s < SPEEDS; s++)
            for (int p = 0; p < PHASES; p++) {
                const double restitution = (double)k / (RESTITUTIONS - 1);
                printf("%g %.9g\n", restitution, bullet_ratio(speed_at(s), restitution, 60, (double)p / PHASES, 0));
            }
}

int main(int argc, char **argv) {
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--points") != 0)) {
        fprintf(stderr, "usage: %s [--points]\n", argv[0]);
        return 2;
    }
    if (argc == 2)
        print_points();
    else
        print_table();
    return 0;
}
