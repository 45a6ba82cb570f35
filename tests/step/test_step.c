// SPDX-License-Identifier: Apache-2.0
// The impact step: reference solutions, the properties of the inclusion that each step keeps, on random impacts, and zero unsolved steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "support.h"

enum { MOST_CONTACTS = 6, MOST_VELOCITIES = 64, MOST_CONTACT_SPACE = 3 * MOST_CONTACTS };

// A step of one impact with everything a property needs.
typedef struct trial {
    carom_impact *impact;
    const carom_impact_data *data;
    carom_stepper *stepper;
    int edges, n;
    double lmax[MOST_CONTACTS], v[MOST_VELOCITIES], impulse[MOST_CONTACT_SPACE];
    carom_step_info info;
} trial;

static carom_stepper *make_stepper(const carom_impact *impact, carom_step_kind kind, int contact, int edges) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = kind;
    options.contact = contact;
    options.cone_edges = edges;
    carom_stepper *stepper;
    carom_error error;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    return stepper;
}

// A random capped step of the family of the acceptance list: k = 2, 4, 8, caps in [0,1], mu in [0, max_friction].
static void start_trial(trial *t, uint64_t index, double max_friction) {
    static const int edges[] = {2, 4, 8};
    carom_stream stream;
    carom_stream_start(&stream, 42, index);
    const support_family family = (support_family)(index % FAMILIES);
    t->edges = edges[support_random_integer(&stream, 0, 2)];
    t->impact = support_random_impact(&stream, family, MOST_CONTACTS, t->edges == 2 ? 1 : 2, max_friction);
    t->data = carom_impact_get_data(t->impact);
    t->n = carom_impact_contact_size(t->impact);
    t->stepper = make_stepper(t->impact, CAROM_STEP_CAPPED, 0, t->edges == 2 ? 4 : t->edges);
    for (int i = 0; i < t->data->contacts; i++) {
        t->lmax[i] = carom_stream_uniform(&stream);
        if (family == FAMILY_ZERO_CAPS && carom_stream_uniform(&stream) < 0.4) t->lmax[i] = 0;
    }
    carom_stepper_solve(t->stepper, t->data->velocity, t->lmax, t->v, t->impulse, &t->info);
}

static void end_trial(trial *t) {
    carom_stepper_free(t->stepper);
    carom_impact_free(t->impact);
}

// ------------------------------------------------------------------------------------------------------- every step

static void no_random_step_stays_unsolved(void **state) {
    (void)state;
    const int count = support_count(500, 200000, 1000000);
    double worst = 0;
    for (int i = 0; i < count; i++) {
        trial t;
        start_trial(&t, (uint64_t)i, 10);
        if (t.info.verdict != CAROM_COMPLETE) fail_msg("step %d: %s, residual %g", i, carom_verdict_name(t.info.verdict), t.info.residual);
        if (t.info.residual > worst) worst = t.info.residual;
        end_trial(&t);
    }
    assert_true(worst <= 1e-11);
}

// mu up to 1e5 takes the ladder's quadruple precision in about one step of twenty. Rounding lam_n to double alone leaves mu lam_n - sum
// lam_D a residual of 1e5 * 1e-16 times an impulse that may be a hundred.
static void steep_friction_cones_are_solved(void **state) {
    (void)state;
    const int count = support_count(50, 1000, 100000);
    double worst = 0;
    for (int i = 0; i < count; i++) {
        trial t;
        start_trial(&t, (uint64_t)i, 1e5);
        if (t.info.verdict != CAROM_COMPLETE) fail_msg("step %d: %s, residual %g", i, carom_verdict_name(t.info.verdict), t.info.residual);
        if (t.info.residual > worst) worst = t.info.residual;
        end_trial(&t);
    }
    assert_true(worst <= 1e-9);
}

// Many contacts, with fewer velocities than contact directions: beyond the size that quadruple precision helps.
static void large_steps_are_solved(void **state) {
    (void)state;
    const int contacts = support_count(12, 30, 80), nv = 3 * contacts / 2, rows = 3 * contacts;
    carom_stream stream;
    carom_stream_start(&stream, 8, 0);
    double *mass = calloc((size_t)(nv * nv), sizeof *mass), *jacobian = malloc((size_t)(rows * nv) * sizeof *jacobian);
    double *mu = malloc((size_t)contacts * sizeof *mu), *v = malloc((size_t)nv * sizeof *v),
           *impulse = malloc((size_t)rows * sizeof *impulse);
    for (int k = 0; k < nv; k++) {
        mass[k * (nv + 1)] = 0.5 + carom_stream_uniform(&stream);
        v[k] = carom_stream_normal(&stream);
    }
    for (int k = 0; k < rows * nv; k++) jacobian[k] = carom_stream_normal(&stream);
    for (int i = 0; i < contacts; i++) mu[i] = carom_stream_uniform(&stream);
    const carom_impact_data data = {.nv = nv,
                                    .contacts = contacts,
                                    .tangent_dim = 2,
                                    .mass = mass,
                                    .normal = jacobian,
                                    .tangent = jacobian + contacts * nv,
                                    .friction = mu,
                                    .velocity = v};
    carom_impact *impact = support_impact(&data);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, 0, 4);
    carom_step_info info;
    carom_stepper_solve(stepper, v, NULL, v, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
    free(mass);
    free(jacobian);
    free(mu);
    free(v);
    free(impulse);
}

static void ramone_steps_are_solved(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_ramone);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, 0, 4);
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    const int count = support_count(200, 5000, 200000);
    double v[7], impulse[4], lmax[2], u[4];
    memcpy(v, reference_ramone.velocity, sizeof v);
    for (int i = 0; i < count; i++) {
        for (int c = 0; c < 2; c++) lmax[c] = carom_stream_uniform(&stream);
        carom_step_info info;
        carom_stepper_solve(stepper, v, lmax, v, impulse, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        assert_true(info.residual <= 1e-9);
        assert_true(info.energy_change <= 1e-12 * carom_impact_initial_energy(impact));
        carom_impact_contact_velocity(impact, v, u);
        // Start anew when it has terminated, from a velocity that both feet may approach with.
        if (carom_impact_terminated(impact, u))
            for (int k = 0; k < 7; k++) v[k] = carom_stream_normal(&stream);
    }
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------- properties of the inclusion that steps keep

static double norm_squared(const carom_impact *impact, const double *v) { return 2 * carom_impact_kinetic_energy(impact, v); }

// Dissipation: K(v') - K(v) <= -||v'-v||^2/2.
static void check_dissipation(const trial *t) {
    double difference[MOST_VELOCITIES];
    for (int k = 0; k < t->data->nv; k++) difference[k] = t->v[k] - t->data->velocity[k];
    const double before = carom_impact_initial_energy(t->impact), after = carom_impact_kinetic_energy(t->impact, t->v);
    assert_true(after - before <= -0.5 * norm_squared(t->impact, difference) + 1e-11 * (before + after));
    assert_close(t->info.energy_change / (1 + before), (after - before) / (1 + before), 1e-10);
}

// Friction: 0 <= lam_n <= lmax, the friction cone, and lam_n Jn v' <= 0.
static void check_friction_law(const trial *t) {
    double u[MOST_CONTACT_SPACE];
    carom_impact_contact_velocity(t->impact, t->v, u);
    const int stride = 1 + t->data->tangent_dim;
    const double scale = 1e-9 * (1 + carom_impact_velocity_scale(t->impact));
    for (int i = 0; i < t->data->contacts; i++) {
        const double *impulse = t->impulse + i * stride;
        const double tangential = stride == 2 ? fabs(impulse[1]) : hypot(impulse[1], impulse[2]);
        assert_true(impulse[0] >= 0 && impulse[0] <= t->lmax[i] + scale);
        assert_true(tangential <= t->data->friction[i] * impulse[0] + scale);
        assert_true(impulse[0] * u[i * stride] <= scale);
    }
}

// Progress: colliding and every cap positive: some cap binds, or no contact approaches.
static void check_advancement(const trial *t) {
    double u[MOST_CONTACT_SPACE];
    carom_impact_contact_velocity(t->impact, t->v, u);
    bool capped = false, all_positive = true;
    for (int i = 0; i < t->data->contacts; i++) {
        all_positive &= t->lmax[i] > 0;
        capped |= t->impulse[i * (1 + t->data->tangent_dim)] >= t->lmax[i] * (1 - 1e-9);
    }
    if (all_positive) assert_true(capped || carom_impact_min_normal(t->impact, u) >= -1e-9 * (1 + carom_impact_velocity_scale(t->impact)));
}

// z'Wz >= 0 for z >= 0.
static void check_copositivity(const trial *t, uint64_t index) {
    enum { MOST_SIZE = MOST_CONTACTS * 11 };
    carom_stream stream;
    carom_stream_start(&stream, 43, index);
    const int size = carom_stepper_lcp_size(t->stepper);
    double z[MOST_SIZE], Wz[MOST_SIZE];
    for (int i = 0; i < size; i++) z[i] = carom_stream_uniform(&stream);
    carom_multiply(size, size, carom_stepper_lcp_matrix(t->stepper), z, Wz);
    assert_true(carom_dot(size, z, Wz) >= -1e-10);
}

static void steps_obey_the_discrete_properties(void **state) {
    (void)state;
    const int count = support_count(300, 10000, 100000);
    for (int i = 0; i < count; i++) {
        trial t;
        start_trial(&t, 1000000 + (uint64_t)i, 10);
        assert_int_equal(t.info.verdict, CAROM_COMPLETE);
        check_dissipation(&t);
        check_friction_law(&t);
        check_advancement(&t);
        check_copositivity(&t, (uint64_t)i);
        end_trial(&t);
    }
}

// No caps, no step.
static void zero_caps_change_nothing(void **state) {
    (void)state;
    static const double none[MOST_CONTACTS] = {0};
    for (uint64_t i = 0; i < 500; i++) {
        trial t;
        start_trial(&t, i, 10);
        carom_stepper_solve(t.stepper, t.data->velocity, none, t.v, t.impulse, &t.info);
        assert_int_equal(t.info.verdict, CAROM_COMPLETE);
        assert_all_close(t.v, t.data->velocity, t.data->nv, 1e-12);
        end_trial(&t);
    }
}

// Homogeneity: f(c v, c lmax) = c f(v, lmax). Powers of two, so that not even ties can tell the difference.
static void steps_are_homogeneous(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        trial t;
        start_trial(&t, i, 10);
        const double factor = i % 2 ? 1024 : 1.0 / 1024;
        double v[MOST_VELOCITIES], lmax[MOST_CONTACTS], next[MOST_VELOCITIES], impulse[MOST_CONTACT_SPACE];
        for (int k = 0; k < t.data->nv; k++) v[k] = factor * t.data->velocity[k];
        for (int c = 0; c < t.data->contacts; c++) lmax[c] = factor * t.lmax[c];
        carom_step_info info;
        carom_stepper_solve(t.stepper, v, lmax, next, impulse, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        for (int k = 0; k < t.data->nv; k++) next[k] /= factor;
        assert_all_close(next, t.v, t.data->nv, 1e-9);
        end_trial(&t);
    }
}

// ------------------------------------------------------------------------------------------- changes of description

// The data of a random planar one-contact impact, where v' is unique for moderate friction, described in another way.
typedef struct description {
    double mass[16], normal[12], tangent[12], friction[3], velocity[4];
    carom_impact_data data;
} description;

static void describe(description *d, const carom_impact *impact) {
    const carom_impact_data *from = carom_impact_get_data(impact);
    memcpy(d->mass, from->mass, sizeof(double) * (size_t)(from->nv * from->nv));
    memcpy(d->normal, from->normal, sizeof(double) * (size_t)(from->contacts * from->nv));
    memcpy(d->tangent, from->tangent, sizeof(double) * (size_t)(from->contacts * from->nv));
    memcpy(d->friction, from->friction, sizeof(double) * (size_t)from->contacts);
    memcpy(d->velocity, from->velocity, sizeof(double) * (size_t)from->nv);
    d->data = *from;
    d->data.mass = d->mass;
    d->data.normal = d->normal;
    d->data.tangent = d->tangent;
    d->data.friction = d->friction;
    d->data.velocity = d->velocity;
    d->data.restitution = NULL;
    d->data.names = NULL;
}

static void solve_capped(const carom_impact_data *data, const double *lmax, double *v, double *impulse) {
    carom_impact *impact = support_impact(data);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, 0, 4);
    carom_step_info info;
    carom_stepper_solve(stepper, data->velocity, lmax, v, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

// Symmetry of the block, whose steps have one v': contacts in the other order, tangents the other way, other coordinates.
static void steps_commute_with_descriptions(void **state) {
    (void)state;
    carom_impact *block = support_impact(&reference_block);
    const double lmax[] = {0.11, 0.05}, exchanged_lmax[] = {0.05, 0.11};
    double v[3], impulse[4], other[3], other_impulse[4];
    solve_capped(&reference_block, lmax, v, impulse);
    description d;

    describe(&d, block);
    for (int k = 0; k < 3; k++) {
        d.normal[k] = reference_block.normal[3 + k];
        d.normal[3 + k] = reference_block.normal[k];
    }
    solve_capped(&d.data, exchanged_lmax, other, other_impulse);
    assert_all_close(other, v, 3, 1e-13);

    describe(&d, block);
    for (int k = 0; k < 3; k++) d.tangent[k] = -d.tangent[k];
    solve_capped(&d.data, lmax, other, other_impulse);
    assert_all_close(other, v, 3, 1e-13);
    assert_close(other_impulse[1], -impulse[1], 1e-13);

    // v = T y with T = diag(1, 2, 4): M becomes T'MT, J becomes JT.
    describe(&d, block);
    static const double T[] = {1, 2, 4};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) d.mass[3 * i + k] *= T[i] * T[k];
        for (int c = 0; c < 2; c++) d.normal[3 * c + i] *= T[i], d.tangent[3 * c + i] *= T[i];
        d.velocity[i] /= T[i];
    }
    solve_capped(&d.data, lmax, other, other_impulse);
    for (int k = 0; k < 3; k++) other[k] *= T[k];
    assert_all_close(other, v, 3, 1e-13);
    carom_impact_free(block);
}

// Homogeneity: (M, lmax) -> (c M, c lmax) leaves v' alone where it is unique.
static void only_the_ratio_of_cap_and_mass_matters(void **state) {
    (void)state;
    carom_impact *block = support_impact(&reference_block);
    const double lmax[] = {0.11, 0.05};
    double v[3], impulse[4], other[3], other_impulse[4];
    solve_capped(&reference_block, lmax, v, impulse);
    for (double c = 1e-6; c < 1e7; c *= 1000) {
        description d;
        describe(&d, block);
        for (int i = 0; i < 9; i++) d.mass[i] *= c;
        const double scaled[] = {c * lmax[0], c * lmax[1]};
        solve_capped(&d.data, scaled, other, other_impulse);
        assert_all_close(other, v, 3, 1e-12);
    }
    carom_impact_free(block);
}

// Mirror symmetry of the block: caps exchanged, outcome mirrored.
static void the_block_is_mirror_symmetric(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    for (int i = 0; i < 500; i++) {
        const double a = 0.3 * carom_stream_uniform(&stream), b = 0.3 * carom_stream_uniform(&stream);
        double v[3], mirrored[3], impulse[4];
        solve_capped(&reference_block, (double[]){a, b}, v, impulse);
        solve_capped(&reference_block, (double[]){b, a}, mirrored, impulse);
        assert_close(mirrored[0], -v[0], 1e-12);
        assert_close(mirrored[1], v[1], 1e-12);
        assert_close(mirrored[2], -v[2], 1e-12);
    }
}

// ------------------------------------------------------------------------------------------------- known solutions

// Spec 7.1: one contact in contact space whose slip reverses. Routh gives 34/75; implicit steps approach it linearly in h.
static void finite_steps_converge_to_routh(void **state) {
    (void)state;
    static const double W[] = {2, 1.5, 1.5, 1.5}, u0[] = {-1, -0.2}, mu[] = {0.5};
    static const struct { double h, expected; } rows[] = {{0.8, 0.4}, {0.2, 0.42}, {0.1, 0.45}, {0.01, 0.453}, {0.001, 0.4533}};
    const carom_delassus_data data = {1, 1, W, u0, mu, NULL, NULL};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, 0, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double u[2], impulse[2];
        memcpy(u, u0, sizeof u);
        while (!carom_impact_terminated(impact, u)) {
            carom_step_info info;
            carom_stepper_solve(stepper, u, &rows[i].h, u, impulse, &info);
            assert_int_equal(info.verdict, CAROM_COMPLETE);
        }
        assert_close(u[1], rows[i].expected, 1e-9);
    }
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

// Caps that do not bind give an Anitescu-Potra solution.
static void wide_caps_are_anitescu_potra(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall};
    for (int i = 0; i < 2; i++) {
        double capped[3], impulse[4], free_v[3];
        solve_capped(scenes[i], (double[]){100, 100}, capped, impulse);
        carom_impact *impact = support_impact(scenes[i]);
        carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, 0, 4);
        carom_step_info info;
        carom_stepper_solve(stepper, scenes[i]->velocity, NULL, free_v, impulse, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        assert_all_close(capped, free_v, 3, 1e-12);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

// One frictionless contact: lam = -Jn v / (Jn M^-1 Jn').
static void frictionless_single_contact_has_a_closed_form(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 77, i);
        carom_impact *impact = support_random_impact(&stream, FAMILY_FRICTIONLESS, 1, 1, 0);
        const carom_impact_data *data = carom_impact_get_data(impact);
        carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, 0, 4);
        double v[MOST_VELOCITIES], impulse[MOST_CONTACT_SPACE], u[MOST_CONTACT_SPACE];
        carom_step_info info;
        carom_stepper_solve(stepper, data->velocity, NULL, v, impulse, &info);
        carom_impact_contact_velocity(impact, data->velocity, u);
        assert_close(impulse[0], fmax(0, -u[0] / carom_impact_delassus(impact)[0]), 1e-12);
        assert_true(fabs(impulse[1]) <= 1e-14);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

// The matrix of Halm & Posa, eq. 75, for one planar contact, entry by entry.
static void the_capped_lcp_is_the_one_of_the_paper(void **state) {
    (void)state;
    static const double mass[] = {2, 0, 0, 4}, normal[] = {0, 1}, tangent[] = {1, 0}, mu[] = {0.7}, v[] = {3, -5};
    const carom_impact_data data = {
        .nv = 2, .contacts = 1, .tangent_dim = 1, .mass = mass, .normal = normal, .tangent = tangent, .friction = mu, .velocity = v};
    static const double expected_W[] = {0, -1,   0,    0,    0,  //
                                        1, 0.25, 0,    0,    0,  //
                                        0, 0,    0.5,  -0.5, 1,  //
                                        0, 0,    -0.5, 0.5,  1,  //
                                        0, 0.7,  -1,   -1,   0};
    static const double expected_w[] = {0.9, -5, 3, -3, 0}, lmax[] = {0.9};
    carom_impact *impact = support_impact(&data);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, 0, 4);
    assert_int_equal(carom_stepper_lcp_size(stepper), 5);
    assert_all_close(carom_stepper_lcp_matrix(stepper), expected_W, 25, 1e-15);
    double w[5];
    carom_stepper_lcp_vector(stepper, v, lmax, w);
    assert_all_close(w, expected_w, 5, 1e-15);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_stepper *stepper;
    carom_error error;
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_ONE_CONTACT;
    options.contact = 2;
    assert_refused(carom_stepper_create(impact, &options, &stepper, &error), CAROM_BAD_INPUT, error, "contact 2");
    const carom_stepper_options uninitialised = {.solver = &carom_lcp_lemke};
    assert_refused(carom_stepper_create(impact, &uninitialised, &stepper, &error), CAROM_BAD_INPUT, error, "carom_stepper_defaults");
    assert_null(stepper);
    carom_impact_free(impact);
}

// What a stepper remembers of its last step are the bits of J v, whatever was solved before.
static void contact_velocities_are_those_of_the_impact(void **state) {
    (void)state;
    for (int i = 0; i < support_count(50, 300, 3000); i++) {
        trial t;
        start_trial(&t, (uint64_t)i, 10);
        double u[MOST_CONTACT_SPACE], expected[MOST_CONTACT_SPACE];
        for (int k = 0; k < 4; k++) {
            // The velocity after a step; after one in contact space; and another one.
            if (k == 1) carom_impact_contact_velocity(t.impact, t.v, u);
            if (k == 1) carom_stepper_solve_contact(t.stepper, u, t.lmax, u, t.impulse, &t.info);
            if (k == 2) carom_stepper_solve(t.stepper, t.v, t.lmax, t.v, t.impulse, &t.info);
            const double *v = k == 3 ? t.data->velocity : t.v;
            carom_stepper_contact_velocity(t.stepper, v, u);
            carom_impact_contact_velocity(t.impact, v, expected);
            assert_memory_equal(u, expected, (size_t)t.n * sizeof *u);
        }
        end_trial(&t);
    }
}

// A velocity that is not a number has no step, and says so.
static void nan_velocities_are_unsolved(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_SIMULTANEOUS, 0, 4);
    const double v[] = {0, NAN, 0};
    double next[3], impulse[4];
    carom_step_info info;
    carom_stepper_solve(stepper, v, NULL, next, impulse, &info);
    assert_int_equal(info.verdict, CAROM_UNVERIFIED);
    for (int c = 0; c < 4; c++) assert_true(impulse[c] == 0);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_capped_lcp_is_the_one_of_the_paper),
        cmocka_unit_test(no_random_step_stays_unsolved),
        cmocka_unit_test(steep_friction_cones_are_solved),
        cmocka_unit_test(large_steps_are_solved),
        cmocka_unit_test(ramone_steps_are_solved),
        cmocka_unit_test(steps_obey_the_discrete_properties),
        cmocka_unit_test(zero_caps_change_nothing),
        cmocka_unit_test(steps_are_homogeneous),
        cmocka_unit_test(steps_commute_with_descriptions),
        cmocka_unit_test(only_the_ratio_of_cap_and_mass_matters),
        cmocka_unit_test(the_block_is_mirror_symmetric),
        cmocka_unit_test(finite_steps_converge_to_routh),
        cmocka_unit_test(wide_caps_are_anitescu_potra),
        cmocka_unit_test(frictionless_single_contact_has_a_closed_form),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(contact_velocities_are_those_of_the_impact),
        cmocka_unit_test(nan_velocities_are_unsolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
