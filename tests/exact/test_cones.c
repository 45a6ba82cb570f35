// SPDX-License-Identifier: Apache-2.0
// Exact sets of contacts in space with linearised friction cones: closed forms, symmetries, planar impacts as spatial ones, and random
// solutions of the same inclusion, which are made here in doubles.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact_support.h"

enum { MOST_CONTACTS = 2, MOST_EDGES = CAROM_MAX_CONE_EDGES, MOST_SIZE = 3 * MOST_CONTACTS };

static carom_exact_set *solve_cones(const carom_impact *impact, int edges) {
    carom_exact_options options = carom_exact_defaults();
    options.cone_edges = edges;
    return solve(impact, &options);
}

// A ball on a floor, W = diag(1, 7/2, 7/2), without spin; tangents (1, 0) and (0, 1).
static carom_impact *make_ball(double mu, const double *v) {
    static const double mass[] = {1, 0, 0, 0, 2.0 / 7, 0, 0, 0, 2.0 / 7}, normal[] = {1, 0, 0}, tangent[] = {0, 1, 0, 0, 0, 1};
    const carom_impact_data data = {
        .nv = 3, .contacts = 1, .tangent_dim = 2, .mass = mass, .normal = normal, .tangent = tangent, .friction = &mu, .velocity = v};
    return support_impact(&data);
}

static void assert_point(const carom_exact_set *set, const double *expected, double tolerance) {
    assert_int_equal(set->status, CAROM_EXACT_OK);
    assert_int_equal(set->pieces->count, 1);
    assert_int_equal(set->pieces->pieces[0].vertices, 1);
    for (int k = 0; k < 3; k++) assert_true(fabs(set->pieces->pieces[0].contact_velocity[k] - expected[k]) <= tolerance);
}

// --------------------------------------------------------------------------------------------------------- closed forms

// Under an impulse of 1 friction takes 7/2 mu = 7/8 of slip. With four edges it acts on the larger component until both are equal, and
// then on both at half the rate: from (1, 3/10), 4/5 of the impulse leads to (3/10, 3/10), the rest to (17/80, 17/80).
static void four_edges_have_a_closed_form(void **state) {
    (void)state;
    const struct {
        double slip[2], mu, expected[3];
    } cases[] = {
        {{1, 0.3}, 0.25, {0, 0.2125, 0.2125}}, {{-0.3, 1}, 0.25, {0, -0.2125, 0.2125}}, {{2, -0.5}, 0.25, {0, 1.125, -0.5}},
        {{0.5, 0}, 0.25, {0, 0, 0}},           {{0.25, 0.25}, 0.25, {0, 0, 0}},         {{1, 0.3}, 0, {0, 1, 0.3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double v[] = {-1, cases[i].slip[0], cases[i].slip[1]};
        carom_impact *impact = make_ball(cases[i].mu, v);
        carom_exact_set *set = solve_cones(impact, 4);
        assert_int_equal(set->cone_edges, 4);
        assert_string_equal(set->certificate, "exact");
        assert_point(set, cases[i].expected, 1e-11);
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
}

// Slip in one sector keeps its edge d: t+ = t - 7/8 d. Round cones have t - 7/8 t/|t|, from which d differs by at most the angle pi/K.
static void more_edges_approach_round_cones(void **state) {
    (void)state;
    static const double v[] = {-1, 1, 1.1}, PI = 3.14159265358979323846;
    const double length = hypot(v[1], v[2]), round[] = {0, v[1] * (1 - 0.875 / length), v[2] * (1 - 0.875 / length)};
    carom_impact *impact = make_ball(0.25, v);
    for (int edges = 4; edges <= MOST_EDGES; edges += edges < 16 ? 2 : 12) {
        carom_exact_set *set = solve_cones(impact, edges);
        assert_point(set, round, 0.875 * PI / edges);
        // The edge next to the slip's direction, where slip stays in its sector.
        const int nearest = (int)lround(atan2(v[2], v[1]) * edges / (2 * PI));
        const double angle = 2 * PI * nearest / edges, along[] = {0, v[1] - 0.875 * cos(angle), v[2] - 0.875 * sin(angle)};
        if (fabs(atan2(along[2], along[1]) - angle) <= PI / edges) assert_point(set, along, 1e-10);
        carom_exact_set_free(set);
    }
    carom_impact_free(impact);
}

// -------------------------------------------------------------------------------------------------------------- planar

// A planar impact is a spatial one whose second tangents feel nothing: its slip is (t, 0), and friction across it changes nothing.
static void planar_impacts_have_the_same_sets(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_compass};
    for (int i = 0; i < 3; i++) {
        carom_impact_data data = *scenes[i];
        double tangent[4 * 10] = {0};
        for (int k = 0; k < 2; k++) memcpy(tangent + 2 * k * data.nv, data.tangent + k * data.nv, (size_t)data.nv * sizeof *tangent);
        data.tangent_dim = 2;
        data.tangent = tangent;
        carom_impact *planar = support_impact(scenes[i]), *spatial = support_impact(&data);
        carom_exact_set *expected = solve_mode(planar, CAROM_EXACT_UNION);
        for (int edges = 4; edges <= 8; edges += 4) {
            carom_exact_set *set = solve_cones(spatial, edges);
            assert_int_equal(set->status, CAROM_EXACT_OK);
            // Contact velocities of both, without the second slips, which are zero.
            for (int p = 0; p < set->pieces->count; p++)
                for (int k = 0; k < set->pieces->pieces[p].vertices; k++) {
                    const double *u = set->pieces->pieces[p].contact_velocity + 6 * k, flat[] = {u[0], u[1], u[3], u[4]};
                    assert_true(u[2] == 0 && u[5] == 0 && distance_out(expected->pieces, flat) <= 1e-10);
                }
            for (int p = 0; p < expected->pieces->count; p++)
                for (int k = 0; k < expected->pieces->pieces[p].vertices; k++) {
                    const double *u = expected->pieces->pieces[p].contact_velocity + 4 * k, full[] = {u[0], u[1], 0, u[2], u[3], 0};
                    assert_true(distance_out(set->pieces, full) <= 1e-10);
                }
            carom_exact_set_free(set);
        }
        carom_exact_set_free(expected);
        carom_impact_free(spatial);
        carom_impact_free(planar);
    }
}

// ---------------------------------------------------------------------------------------------------------- symmetries

// A random impact of two contacts in space that collide.
static carom_impact *random_pair(carom_stream *stream, double most_friction) {
    for (;;) {
        carom_impact *impact = support_random_impact(stream, FAMILY_PLAIN, MOST_CONTACTS, 2, most_friction);
        const carom_impact_data *data = carom_impact_get_data(impact);
        double u[MOST_SIZE];
        carom_impact_contact_velocity(impact, data->velocity, u);
        if (data->contacts == 2 && fmin(u[0], u[3]) < 0) return impact;
        carom_impact_free(impact);
    }
}

// Each vertex of `set`, moved by the permutation and signs, is in `other`.
static void assert_moves_into(const carom_polyhedra *set, const carom_polyhedra *other, const int *from, const double *sign) {
    for (int p = 0; p < set->count; p++)
        for (int k = 0; k < set->pieces[p].vertices; k++) {
            double moved[MOST_SIZE];
            for (int i = 0; i < MOST_SIZE; i++) moved[i] = sign[i] * set->pieces[p].contact_velocity[MOST_SIZE * k + from[i]];
            assert_true(distance_out(other, moved) <= 1e-9);
        }
}

static void mirrors_and_permutations_move_the_set(void **state) {
    (void)state;
    static const int same[] = {0, 1, 2, 3, 4, 5}, exchanged[] = {3, 4, 5, 0, 1, 2};
    static const double mirrored[] = {1, 1, -1, 1, 1, -1}, plain[] = {1, 1, 1, 1, 1, 1};
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    for (int i = 0; i < support_count(3, 8, 60); i++) {
        carom_impact *impact = random_pair(&stream, 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const size_t nv = (size_t)data->nv;
        double tangent[4 * MOST_SIZE], normal[2 * MOST_SIZE];
        // The second tangents of both contacts the other way round; then the contacts exchanged.
        carom_impact_data other = *data;
        memcpy(tangent, data->tangent, 4 * nv * sizeof *tangent);
        for (size_t j = 0; j < nv; j++) {
            tangent[nv + j] = -tangent[nv + j];
            tangent[3 * nv + j] = -tangent[3 * nv + j];
        }
        other.tangent = tangent;
        carom_impact *mirror = support_impact(&other);
        double swapped[4 * MOST_SIZE];
        memcpy(swapped, data->tangent + 2 * nv, 2 * nv * sizeof *swapped);
        memcpy(swapped + 2 * nv, data->tangent, 2 * nv * sizeof *swapped);
        memcpy(normal, data->normal + nv, nv * sizeof *normal);
        memcpy(normal + nv, data->normal, nv * sizeof *normal);
        const double friction[] = {data->friction[1], data->friction[0]};
        other.tangent = swapped;
        other.normal = normal;
        other.friction = friction;
        other.names = NULL;
        carom_impact *exchange = support_impact(&other);
        const int edges = i % 2 ? 8 : 4;
        carom_exact_set *set = solve_cones(impact, edges), *sets[] = {solve_cones(mirror, edges), solve_cones(exchange, edges)};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(sets[k]->status, set->status);
            if (set->status != CAROM_EXACT_OK) continue;
            assert_moves_into(set->pieces, sets[k]->pieces, k ? exchanged : same, k ? plain : mirrored);
            assert_moves_into(sets[k]->pieces, set->pieces, k ? exchanged : same, k ? plain : mirrored);
        }
        for (int k = 0; k < 2; k++) carom_exact_set_free(sets[k]);
        carom_exact_set_free(set);
        carom_impact_free(exchange);
        carom_impact_free(mirror);
        carom_impact_free(impact);
    }
}

// --------------------------------------------------------------------------------------------------- random solutions

// What a contact does on one straight piece of a solution: the corners that its friction mixes.
typedef struct motion {
    bool pushes;
    bool ties[MOST_EDGES];  // corners that maximise d.t
    int first, count;       // of the face: one corner, two neighbours, or all of them
    double friction[2];
} motion;

typedef struct problem {
    int contacts, n, edges;
    const double *W, *mu;
    double d[2 * MOST_EDGES], scale;
} problem;

static double along(const problem *p, int corner, const double *slip) {
    return p->d[2 * corner] * slip[0] + p->d[2 * corner + 1] * slip[1];
}

// Solves A x = b [size x size] by elimination with pivots; false where it is singular.
static bool eliminate(int size, double A[4][4], double *b) {
    for (int k = 0; k < size; k++) {
        int pivot = k;
        for (int i = k + 1; i < size; i++)
            if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
        if (fabs(A[pivot][k]) < 1e-9) return false;
        for (int j = 0; j < size; j++) {
            const double swap = A[k][j];
            A[k][j] = A[pivot][j];
            A[pivot][j] = swap;
        }
        const double swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        for (int i = 0; i < size; i++) {
            const double factor = i == k ? 0 : A[i][k] / A[k][k];
            for (int j = 0; j < size; j++) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = 0; k < size; k++) b[k] /= A[k][k];
    return true;
}

static void find_rate(const problem *p, const motion *motions, const double *weights, double *rate) {
    for (int row = 0; row < p->n; row++) {
        rate[row] = 0;
        for (int i = 0; i < p->contacts; i++)
            rate[row] += weights[i] * (p->W[row * p->n + 3 * i] - p->mu[i] * (p->W[row * p->n + 3 * i + 1] * motions[i].friction[0] +
                                                                              p->W[row * p->n + 3 * i + 2] * motions[i].friction[1]));
    }
}

// Friction of all contacts that keeps their slips on the rays, or zero, that their faces ask for; and the rate u' with it. False where
// there is none, or it is not in the hull of the face, or slip leaves it.
static bool find_friction(const problem *p, motion *motions, const double *weights, double *rate) {
    // Friction is first + sum_k x_k direction_k, with one unknown for two corners and two for all; each has a row of slip that must not
    // change.
    int unknowns = 0, owner[4];
    double direction[4][2], keeps[4][2], A[4][4], b[4];
    for (int i = 0; i < p->contacts; i++) {
        motion *m = &motions[i];
        const double *corner = p->d + 2 * m->first, *next = p->d + 2 * ((m->first + 1) % p->edges);
        const bool all = m->count == p->edges;
        for (int axis = 0; axis < 2; axis++) m->friction[axis] = all || !m->pushes ? 0 : corner[axis];
        if (!m->pushes || m->count == 1) continue;
        for (int k = 0; k < (all ? 2 : 1); k++, unknowns++) {
            owner[unknowns] = i;
            for (int axis = 0; axis < 2; axis++)
                direction[unknowns][axis] = keeps[unknowns][axis] = all ? axis == k : next[axis] - corner[axis];
        }
    }
    find_rate(p, motions, weights, rate);
    for (int r = 0; r < unknowns; r++) {
        const double *kept = &rate[3 * owner[r] + 1];
        b[r] = -(keeps[r][0] * kept[0] + keeps[r][1] * kept[1]);
        for (int c = 0; c < unknowns; c++) {
            A[r][c] = 0;
            for (int k = 0; k < 4; k++)
                A[r][c] -= keeps[r][k / 2] * p->W[(3 * owner[r] + 1 + k / 2) * p->n + 3 * owner[c] + 1 + k % 2] * direction[c][k % 2] *
                           p->mu[owner[c]] * weights[owner[c]];
        }
    }
    if (unknowns && !eliminate(unknowns, A, b)) return false;
    for (int c = 0; c < unknowns; c++) {
        if (motions[owner[c]].count == 2 && !(b[c] >= 0 && b[c] <= 1)) return false;
        for (int axis = 0; axis < 2; axis++) motions[owner[c]].friction[axis] += b[c] * direction[c][axis];
    }
    find_rate(p, motions, weights, rate);
    for (int i = 0; i < p->contacts; i++) {
        const motion *m = &motions[i];
        if (!m->pushes) continue;
        // Within the polygon, on the left of all its sides.
        for (int k = 0; k < p->edges && m->count == p->edges; k++) {
            const double *from = p->d + 2 * k, *to = p->d + 2 * ((k + 1) % p->edges);
            const double side = (to[0] - from[0]) * (m->friction[1] - from[1]) - (to[1] - from[1]) * (m->friction[0] - from[0]);
            if (side < 0) return false;
        }
        // Slip goes where the corners of the face are still the largest of those that were.
        for (int k = 0; k < p->edges && m->count < p->edges; k++) {
            const bool member = k == m->first || (m->count == 2 && k == (m->first + 1) % p->edges);
            if (m->ties[k] && !member && along(p, m->first, rate + 3 * i + 1) < along(p, k, rate + 3 * i + 1)) return false;
        }
    }
    return true;
}

// A random solution from u, in straight pieces from event to event or less. False where it was given up.
static bool walk(const problem *p, carom_stream *stream, double *u) {
    const double near = 1e-11 * p->scale;
    for (int piece = 0; piece < 400; piece++) {
        bool done = true;
        for (int i = 0; i < p->contacts; i++) done = done && u[3 * i] >= -near;
        if (done) return true;
        // Weights of active contacts and faces for them, until a choice fits together.
        double weights[MOST_CONTACTS], rate[MOST_SIZE];
        motion motions[MOST_CONTACTS];
        bool fits = false;
        for (int attempt = 0; attempt < 300 && !fits; attempt++) {
            double sum = 0;
            for (int i = 0; i < p->contacts; i++) {
                motion *m = &motions[i];
                *m = (motion){.pushes = u[3 * i] <= near && carom_stream_uniform(stream) < 0.7, .count = 1};
                weights[i] = m->pushes ? carom_stream_uniform(stream) : 0;
                sum += weights[i];
                double largest = -INFINITY;
                for (int k = 0; k < p->edges; k++) largest = fmax(largest, along(p, k, u + 3 * i + 1));
                int ties = 0;
                for (int k = 0; k < p->edges; k++) ties += m->ties[k] = along(p, k, u + 3 * i + 1) >= largest - near;
                do m->first = support_random_integer(stream, 0, p->edges - 1);
                while (!m->ties[m->first]);
                const int choice = support_random_integer(stream, 0, 2);
                if (choice == 1 && m->ties[(m->first + 1) % p->edges]) m->count = 2;
                if (choice == 2 && ties == p->edges) m->count = p->edges;
            }
            if (sum == 0) continue;
            for (int i = 0; i < p->contacts; i++) weights[i] /= sum;
            fits = find_friction(p, motions, weights, rate);
            // A contact at n = 0 that opens does not go on pushing.
            for (int i = 0; i < p->contacts; i++) fits = fits && !(motions[i].pushes && u[3 * i] >= -near && rate[3 * i] > 0);
        }
        if (!fits) return false;
        // The first event: a contact that pushes stops approaching, or another corner comes to tie.
        double length = INFINITY;
        for (int i = 0; i < p->contacts; i++) {
            if (!motions[i].pushes) continue;
            if (rate[3 * i] > 0) length = fmin(length, -u[3 * i] / rate[3 * i]);
            for (int k = 0; k < p->edges; k++) {
                const int first = motions[i].first;
                const double lead = along(p, first, u + 3 * i + 1) - along(p, k, u + 3 * i + 1);
                const double loss = along(p, k, rate + 3 * i + 1) - along(p, first, rate + 3 * i + 1);
                if (!motions[i].ties[k] && loss > 1e-9) length = fmin(length, lead / loss);
            }
        }
        if (!isfinite(length)) return false;
        if (carom_stream_uniform(stream) < 0.5) length *= carom_stream_uniform(stream);
        for (int k = 0; k < p->n; k++) u[k] += length * rate[k];
        for (int i = 0; i < p->contacts; i++)
            if (fabs(u[3 * i]) <= near) u[3 * i] = 0;
    }
    return false;
}

static void random_solutions_are_in_the_set(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 17, 0);
    int ended = 0, large = 0;
    for (int i = 0; i < support_count(8, 24, 200); i++) {
        carom_impact *impact = random_pair(&stream, i % 4 == 3 ? 3 : 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const int edges = i % 3 == 0 ? 4 : i % 3 == 1 ? 6 : 8;
        carom_exact_options options = carom_exact_defaults();
        options.cone_edges = edges;
        options.bits = 1000;
        carom_exact_set *set = solve(impact, &options);
        const carom_polyhedra *outer = set->status == CAROM_EXACT_OK ? set->pieces : set->outer;
        problem p = {.contacts = 2, .n = 6, .edges = edges, .W = carom_impact_delassus(impact), .mu = data->friction};
        carom_cone_directions(2, edges, p.d);
        p.scale = carom_impact_velocity_scale(impact);
        for (int k = 0; set->status == CAROM_EXACT_OK && k < set->pieces->count; k++) large += set->pieces->pieces[k].dimension > 0;
        for (int k = 0; outer && k < 100; k++) {
            double u[MOST_SIZE];
            carom_impact_contact_velocity(impact, data->velocity, u);
            if (!walk(&p, &stream, u)) continue;
            ended++;
            assert_true(distance_out(outer, u) <= 1e-9 * p.scale);
        }
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
    // Walks do end, and some sets are more than points.
    assert_true(ended >= 100 && large >= 1);
}

// ------------------------------------------------------------------------------------------------------------- budgets

// A spent budget leaves a part of the set and, where one was found, a set around it.
static void unfinished_sets_are_bounded(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 23, 0);
    int unfinished = 0;
    for (int i = 0; i < support_count(8, 12, 60); i++) {
        carom_impact *impact = random_pair(&stream, 1);
        carom_exact_options options = carom_exact_defaults();
        options.cone_edges = 4;
        options.bits = 1000;
        carom_exact_set *whole = solve(impact, &options);
        options.pieces = 3;
        carom_exact_set *part = solve(impact, &options);
        if (whole->status == CAROM_EXACT_OK && part->status == CAROM_EXACT_INCOMPLETE) {
            unfinished++;
            assert_true(*part->reason);
            assert_string_equal(part->certificate, part->pieces->count ? "inner" : "none");
            assert_true(worst_excess(part->pieces, whole->pieces) <= 1e-9);
            assert_non_null(part->outer);
            assert_true(worst_excess(whole->pieces, part->outer) <= 1e-9);
        }
        carom_exact_set_free(part);
        carom_exact_set_free(whole);
        carom_impact_free(impact);
    }
    assert_true(unfinished >= 1);
}

static void odd_questions_are_refused(void **state) {
    (void)state;
    static const double v[] = {-1, 1, 0};
    carom_impact *ball = make_ball(0.5, v), *planar = make_impact(&block);
    carom_exact_set *set;
    carom_error error;
    carom_exact_options options = carom_exact_defaults();
    assert_refused(carom_exact_solve(ball, &options, NULL, &set, &error), CAROM_UNSUPPORTED, error, "--cone-edges");
    const int64_t odd[] = {5, 2, -4, 66};
    for (int i = 0; i < 4; i++) {
        options.cone_edges = odd[i];
        assert_refused(carom_exact_solve(ball, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "even number");
    }
    options.cone_edges = 4;
    assert_refused(carom_exact_solve(planar, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "planar");
    options.mode = CAROM_EXACT_EPS;
    assert_refused(carom_exact_solve(ball, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "cone_edges");
    options.mode = CAROM_EXACT_UNION;
    options.hypothesis = CAROM_EXACT_POISSON;
    assert_refused(carom_exact_solve(ball, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "cone_edges");
    options.hypothesis = CAROM_EXACT_INELASTIC;
    // Three contacts.
    static const double mass[] = {1}, rows[6] = {1, 1, 1, 1, 1, 1}, friction[] = {1, 1, 1}, down[] = {-1};
    const carom_impact_data three = {.nv = 1,
                                     .contacts = 3,
                                     .tangent_dim = 2,
                                     .mass = mass,
                                     .normal = rows,
                                     .tangent = (const double[6]){0},
                                     .friction = friction,
                                     .velocity = down};
    carom_impact *many = support_impact(&three);
    assert_refused(carom_exact_solve(many, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "at most 2 contacts");
    carom_impact_free(many);
    carom_impact_free(planar);
    carom_impact_free(ball);
}

// The command says whose set it is, in text, JSON, file and picture, and refuses what has none.
static void the_command_names_linearised_cones(void **state) {
    (void)state;
    static const char *const label = "for linearised cones of 4 edges";
    char *directory = support_make_directory(), text[8192], command[1024];
    char *scene = support_write_file(directory, "ball.yaml",
                                     "matrices: {M: [[1,0,0],[0,\"2/7\",0],[0,0,\"2/7\"]], Jn: [[1,0,0]], Jt: [[0,1,0],[0,0,1]], "
                                     "mu: [\"1/4\"], v: [-1,1,\"3/10\"]}\nuncertain: {velocity: {box: [0, 0.01, 0]}}\n");
    snprintf(command, sizeof command, "exact %s --cone-edges 4 -o %s/set.h5", scene, directory);
    assert_int_equal(support_run_command(command, false, text, sizeof text), 0);
    assert_non_null(strstr(text, label));
    assert_non_null(strstr(text, "Jt.A.2"));
    snprintf(command, sizeof command, "exact %s --cone-edges 4 --contacts-only --json", scene);
    assert_int_equal(support_run_command(command, false, text, sizeof text), 0);
    assert_non_null(strstr(text, label));
    assert_non_null(strstr(text, "\"v_plus\": null"));
    snprintf(command, sizeof command, "plot %s/set.h5 --svg -o %s/picture", directory, directory);
    if (!support_run_command(command, false, text, sizeof text)) {
        snprintf(command, sizeof command, "cat %s/*.svg", directory);
        FILE *pictures = popen(command, "r");
        bool named = false;
        while (fgets(text, sizeof text, pictures)) named = named || strstr(text, label + strlen("for "));
        pclose(pictures);
        assert_true(named);
    }
    const struct {
        const char *arguments, *says;
    } refused[] = {
        {"exact %s", "--cone-edges"},
        {"exact %s --cone-edges 5", "--cone-edges: 5 is not an even number"},
        {"exact %s --cone-edges 4 --contacts-only -o set.h5", "--contacts-only"},
    };
    for (int i = 0; i < 3; i++) {
        snprintf(command, sizeof command, refused[i].arguments, scene);
        assert_int_equal(support_run_command(command, true, text, sizeof text), 2);
        assert_non_null(strstr(text, refused[i].says));
    }
    assert_int_equal(support_run_command("exact scenes/compass.yaml --cone-edges 4", true, text, sizeof text), 2);
    assert_non_null(strstr(text, "planar"));
    free(scene);
    support_remove_directory(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_edges_have_a_closed_form),     cmocka_unit_test(more_edges_approach_round_cones),
        cmocka_unit_test(planar_impacts_have_the_same_sets), cmocka_unit_test(mirrors_and_permutations_move_the_set),
        cmocka_unit_test(random_solutions_are_in_the_set),   cmocka_unit_test(unfinished_sets_are_bounded),
        cmocka_unit_test(odd_questions_are_refused),         cmocka_unit_test(the_command_names_linearised_cones),
    };
    return carom_exact_available() ? cmocka_run_group_tests(tests, NULL, NULL) : skip_all();
}
