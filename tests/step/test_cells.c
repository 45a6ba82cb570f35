// SPDX-License-Identifier: Apache-2.0
// Cells: a lookup that knows the solutions beforehand gives the bits of one that lists them, wherever the inputs are.
#include <math.h>
#include <string.h>

#include "carom/step.h"
#include "step/cones/map.h"
#include "support.h"

enum { MOST_INPUTS = 12, SAMPLES = 64, STEPS = 6 };

// Two maps of the same impact: one that has learnt cells from steps, one that has not and lists all solutions.
typedef struct maps {
    const carom_step_batch_method *method;
    carom_stepper *stepper;
    void *learnt, *listing;
    carom_step_batch known, listed;
    int n, contacts;
    double step;
} maps;

static maps make_maps(const carom_impact *impact, double step, int max_steps, int training) {
    const carom_step_method *method;
    carom_instructions instructions;
    carom_error error;
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    options.selection = CAROM_SELECT_RANDOM;
    maps made = {.n = carom_impact_contact_size(impact), .contacts = carom_impact_get_data(impact)->contacts, .step = step};
    assert_ok(carom_step_method_find("cone-map", &method, &instructions, &error), error);
    made.method = method->batch;
    assert_ok(carom_stepper_create(impact, &options, &made.stepper, &error), error);
    assert_ok(made.method->create(made.stepper, step, instructions, &made.learnt, &error), error);
    assert_ok(made.method->create(made.stepper, step, instructions, &made.listing, &error), error);
    for (int i = 0; i < training; i++) {
        double u[MOST_INPUTS], lmax[MOST_INPUTS];
        bool solved = true;
        carom_stream stream;
        carom_stream_start(&stream, 26, (uint64_t)i);
        carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
        for (int k = 0; k < max_steps && solved && !carom_impact_terminated(impact, u); k++) {
            for (int c = 0; c < made.contacts; c++) lmax[c] = step * carom_stream_uniform(&stream);
            assert_ok(made.method->learn(made.learnt, u, lmax, u, &solved, &error), error);
        }
    }
    assert_ok(made.method->freeze(made.learnt, &error), error);
    assert_ok(made.method->freeze(made.listing, &error), error);
    assert_ok(made.method->batch_create(made.learnt, SAMPLES, &made.known, &error), error);
    assert_ok(made.method->batch_create(made.listing, SAMPLES, &made.listed, &error), error);
    assert_int_equal(carom_cone_map_cells(made.listing), 0);
    return made;
}

static void free_maps(maps *m) {
    m->method->batch_free(&m->known);
    m->method->batch_free(&m->listed);
    m->method->free(m->learnt);
    m->method->free(m->listing);
    carom_stepper_free(m->stepper);
}

// Both maps take a step from the inputs in `known`; cones, numbers of solutions, impulses and velocities are the same bits.
static void check_step(maps *m, carom_stream *stream) {
    double residual = 0;
    for (int i = 0; i < SAMPLES; i++) {
        m->known.choice[i] = m->listed.choice[i] = carom_stream_uniform(stream);
        for (int j = 0; j < m->n + m->contacts; j++)
            m->listed.x[(size_t)j * m->listed.stride + (size_t)i] = m->known.x[(size_t)j * m->known.stride + (size_t)i];
    }
    m->method->solve(m->learnt, &m->known, SAMPLES, &residual);
    m->method->solve(m->listing, &m->listed, SAMPLES, &residual);
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(m->known.served[i], m->listed.served[i]);
        assert_int_equal(m->known.solutions[i], m->listed.solutions[i]);
        for (int r = 0; r < m->n && m->known.served[i] >= 0; r++) {
            const size_t at = (size_t)r * m->known.stride + (size_t)i;
            assert_memory_equal(&m->known.impulse[at], &m->listed.impulse[at], sizeof(double));
            assert_memory_equal(&m->known.u_next[at], &m->listed.u_next[at], sizeof(double));
        }
    }
}

// Inputs that steps meet, those on the borders between cones, and those with very large, small and vanishing parts.
static void check_inputs(const carom_impact *impact, maps *m, carom_stream *stream) {
    const int inputs = m->n + m->contacts;
    const size_t stride = m->known.stride;
    double start[MOST_INPUTS], met[SAMPLES][MOST_INPUTS], low[SAMPLES][MOST_INPUTS], high[SAMPLES][MOST_INPUTS];
    int32_t at_low[SAMPLES];
    carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, start);
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < m->n; j++) m->known.x[(size_t)j * stride + (size_t)i] = start[j];
    for (int k = 0; k < STEPS; k++) {
        for (int i = 0; i < SAMPLES; i++)
            for (int j = 0; j < inputs; j++) {
                double *x = &m->known.x[(size_t)j * stride + (size_t)i];
                if (k && j < m->n && m->known.served[i] >= 0) *x = m->known.u_next[(size_t)j * stride + (size_t)i];
                if (j >= m->n) *x = m->step * carom_stream_uniform(stream);
                met[i][j] = *x;
            }
        check_step(m, stream);
    }
    // By bisection between two samples whose cones differ.
    for (int i = 0; i < SAMPLES; i++) {
        at_low[i] = m->known.served[i];
        memcpy(low[i], met[i], sizeof *low);
        memcpy(high[i], met[(i + 1) % SAMPLES], sizeof *high);
    }
    for (int k = 0; k < 60; k++) {
        for (int i = 0; i < SAMPLES; i++)
            for (int j = 0; j < inputs; j++) m->known.x[(size_t)j * stride + (size_t)i] = 0.5 * (low[i][j] + high[i][j]);
        check_step(m, stream);
        for (int i = 0; i < SAMPLES; i++)
            for (int j = 0; j < inputs; j++)
                (m->known.served[i] == at_low[i] ? low : high)[i][j] = m->known.x[(size_t)j * stride + (size_t)i];
    }
    for (int k = 0; k < 40; k++) {
        for (int i = 0; i < SAMPLES; i++) {
            const double velocities = pow(10, 16 * carom_stream_uniform(stream) - 12),
                         caps = pow(10, 16 * carom_stream_uniform(stream) - 12);
            const int vanishing = support_random_integer(stream, 0, 3 * inputs);
            for (int j = 0; j < inputs; j++)
                m->known.x[(size_t)j * stride + (size_t)i] = j == vanishing ? 0
                                                                            : (k % 2 ? met : low)[i][j] * (k < 10     ? 1
                                                                                                           : j < m->n ? velocities
                                                                                                                      : caps);
        }
        check_step(m, stream);
    }
}

static void scenes_have_cells_and_the_same_bits(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        double step;
        int max_steps;
    } scenes[] = {{&reference_block, 0.3, 10}, {&reference_boxwall, 2, 5}, {&reference_compass, 0.25, 5}, {&reference_ramone, 1, 10}};
    carom_stream stream;
    carom_stream_start(&stream, 27, 5);
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        carom_impact *impact = support_impact(scenes[k].data);
        maps m = make_maps(impact, scenes[k].step, scenes[k].max_steps, 500);
        assert_true(carom_cone_map_cells(m.learnt) >= 2);
        for (int repeat = 0; repeat < support_count(2, 10, 200); repeat++) check_inputs(impact, &m, &stream);
        free_maps(&m);
        carom_impact_free(impact);
    }
}

// Duplicated contacts, equal velocities, no friction, and contacts in space: their cones overlap, touch, and are thin.
static void random_impacts_have_the_same_bits(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 28, 5);
    int cells = 0;
    const int impacts = support_count(15, 60, 1000);
    for (int i = 0; i < impacts; i++) {
        const int dim = 1 + i % 7 / 6, contacts = dim == 2 ? 2 : i % 20 == 19 ? 4 : 3;
        carom_impact *impact = support_random_impact(&stream, (support_family)(i % FAMILIES), contacts, dim, 2);
        maps m = make_maps(impact, 0.5, 5, 60);
        cells += carom_cone_map_cells(m.learnt);
        check_inputs(impact, &m, &stream);
        free_maps(&m);
        carom_impact_free(impact);
    }
    assert_true(cells > impacts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_have_cells_and_the_same_bits),
        cmocka_unit_test(random_impacts_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
