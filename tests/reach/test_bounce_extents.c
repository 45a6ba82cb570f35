// SPDX-License-Identifier: Apache-2.0
// How far energetic walks reach: against the extents that a search found.
#include <math.h>

#include "bounce_support.h"

// Contact velocities of two contacts, and the energy over that before.
enum { QUANTITIES = 5 };

typedef struct extents {
    double least[QUANTITIES], most[QUANTITIES];
} extents;

static extents measure_extents(const carom_impact *impact, double e, int walks) {
    extents found;
    for (int q = 0; q < QUANTITIES; q++) found.least[q] = INFINITY, found.most[q] = -INFINITY;
    carom_walker *walker = make_bouncer(impact, CAROM_HYPOTHESIS_STRONGE, e, CAROM_WEIGHTS_MIXED, 10000);
    for (int i = 0; i < walks; i++) {
        const bounce b = run(walker, impact, i);
        assert_true(b.counts.terminated);
        for (int q = 0; q < QUANTITIES; q++) {
            const double value = q < 4 ? b.u[q] : carom_impact_kinetic_energy(impact, b.v) / carom_impact_initial_energy(impact);
            found.least[q] = fmin(found.least[q], value);
            found.most[q] = fmax(found.most[q], value);
        }
    }
    carom_walker_free(walker);
    return found;
}

// The search: 1,000,000 walks for each system, of which four in five change the random numbers of one of the walks that reached farthest, a
// few of them or all from some piece on. It knows no more than walks do, and finds thin ends that they seldom come to.
static const struct {
    const char *system;
    double e, found[QUANTITIES][2];
} rows[] = {
    // clang-format off
    {"block", 0.1, {{0.0101877, 0.12274}, {0, 0}, {0.0101877, 0.12274}, {0, 0}, {0.01, 0.113985}}},
    {"block", 0.5, {{0.0221472, 0.267732}, {0, 0}, {0.0221472, 0.267732}, {0, 0}, {0.25, 0.3625}}},
    {"block", 1, {{0.177178, 0.480441}, {0, 0}, {0.177178, 0.480441}, {0, 0}, {1, 1}}},
    {"balls", 0.5, {{0, 0.5}, {0, 0}, {0, 0.3669}, {0, 0}, {0.412598, 0.5}}},
    {"random 0", 0.2, {{0.107537, 0.544074}, {0.0643259, 0.686818}, {0, 0.113178}, {-0.859104, 0}, {0.00255698, 0.0399285}}},
    {"random 1", 0.4, {{0.233756, 0.755008}, {0.864678, 1.47492}, {1.42523, 1.91667}, {1.98274, 2.30007}, {0.943378, 0.946938}}},
    {"random 2", 0.6, {{0.19547, 0.485747}, {-1.87661, -1.82908}, {0.229166, 0.343}, {0.875377, 1.31514}, {0.848165, 0.876265}}},
    {"random 3", 0.4, {{0.435776, 1.2634}, {0.133506, 0.17846}, {0.861038, 1.69639}, {0.289234, 0.594464}, {0.468547, 0.536445}}},
    {"random 4", 0.8, {{1.36846, 4.31753}, {-10.3963, -7.38127}, {0.8231, 2.85484}, {-3.23784, -1.81807}, {0.873388, 0.953578}}},
    {"random 5", 0.5, {{0.576486, 0.85232}, {0.181617, 0.278451}, {0, 0.345188}, {-0.0813336, 0.112574}, {0.891091, 0.914617}}},
    {"random 6", 0.4, {{0.976056, 0.982758}, {-0.0651065, -0.00478483}, {0.0721222, 0.363697}, {-0.727536, -0.656847}, {0.738818, 0.741734}}},
    {"random 7", 0.7, {{3.23788e-08, 0.055663}, {-0.544853, 0}, {0.000106942, 1.30772}, {-0.409844, 0.0520296}, {3.29525e-08, 0.914634}}},
    {"random 8", 0.5, {{0.32961, 0.964031}, {2.41785, 2.57471}, {0.533107, 0.869905}, {0, 0.866544}, {0.759388, 0.776853}}},
    {"random 9", 0.9, {{0.000504935, 0.111137}, {-2.28151, 0}, {0.552133, 0.901273}, {-0.0114652, 0.0611071}, {0.36726, 0.80917}}},
    // clang-format on
};

static const carom_impact_data three_balls = {.nv = 3,
                                              .contacts = 2,
                                              .tangent_dim = 1,
                                              .mass = (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                                              .normal = (const double[]){-1, 1, 0, 0, -1, 1},
                                              .tangent = (const double[6]){0},
                                              .friction = (const double[]){0, 0},
                                              .velocity = (const double[]){1, 0, 0}};

// The next random system with two contacts that both approach, with pointed cones.
static carom_impact *draw_system(carom_stream *stream, double *e) {
    for (;;) {
        carom_impact *impact = support_random_impact(stream, FAMILY_PLAIN, 2, 1, 1.5);
        const carom_impact_data *data = carom_impact_get_data(impact);
        *e = support_random_integer(stream, 1, 9) / 10.0;
        double u[4] = {0};
        if (data->contacts == 2 && data->nv > 1) carom_impact_contact_velocity(impact, data->velocity, u);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 2, 1, &bounds, &error), error);
        if (u[0] < 0 && u[2] < 0 && bounds.pointed) return impact;
        carom_impact_free(impact);
    }
}

// Samples of 65,536 walks come within 5 % of every extent, and 16,384 within 12 %.
static void walks_reach_what_a_search_reaches(void **state) {
    (void)state;
    const int walks = support_count(1 << 14, 1 << 14, 1 << 16);
    carom_stream stream;
    carom_stream_start(&stream, 21, 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double e = rows[k].e;
        carom_impact *impact = !strcmp(rows[k].system, "block")   ? support_impact(&reference_block)
                               : !strcmp(rows[k].system, "balls") ? support_impact(&three_balls)
                                                                  : draw_system(&stream, &e);
        assert_true(e == rows[k].e);
        const extents found = measure_extents(impact, e, walks);
        double missed = 0;
        for (int q = 0; q < QUANTITIES; q++) {
            const double width = rows[k].found[q][1] - rows[k].found[q][0];
            if (!(width > 1e-5)) continue;
            missed = fmax(missed, fmax(found.least[q] - rows[k].found[q][0], rows[k].found[q][1] - found.most[q]) / width);
        }
        print_message("%s, e = %g: %.2f %% of an extent are missed\n", rows[k].system, e, 100 * missed);
        assert_true(missed <= (walks == 1 << 16 ? 0.05 : 0.12));
        carom_impact_free(impact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(walks_reach_what_a_search_reaches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
