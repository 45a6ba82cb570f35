// SPDX-License-Identifier: Apache-2.0
// What enumerations call complete, against rational arithmetic: every vertex of the solution set, and whether two of them share a face.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

// The oracle stands where the exact sets do: gmp.h comes with them.
#if __has_include(<gmp.h>) && __has_include(<ppl_c.h>)
#include <gmp.h>

enum { MOST_SIZE = 6, MOST_ROWS = 16, MOST_VERTICES = 400, MOST_LISTED = 64 };

// What a family of problems showed.
typedef struct tally {
    int problems, complete, continua, solutions;
} tally;

// ------------------------------------------------------------------------------------------------------ rational algebra

typedef mpq_t matrix[MOST_ROWS][MOST_SIZE + 1];

static void matrix_init(matrix A) {
    for (int i = 0; i < MOST_ROWS; i++)
        for (int j = 0; j <= MOST_SIZE; j++) mpq_init(A[i][j]);
}

static void matrix_clear(matrix A) {
    for (int i = 0; i < MOST_ROWS; i++)
        for (int j = 0; j <= MOST_SIZE; j++) mpq_clear(A[i][j]);
}

// sum += a b
static void add_product(mpq_t sum, const mpq_t a, const mpq_t b) {
    mpq_t product;
    mpq_init(product);
    mpq_mul(product, a, b);
    mpq_add(sum, sum, product);
    mpq_clear(product);
}

// Gauss-Jordan on rows [A | b]. Returns the rank, or -1 when there is no solution; a unique one becomes x. With one dimension left, `x`
// becomes the null vector instead, where asked for.
static int solve(int rows, int size, matrix A, mpq_t *x) {
    int rank = 0;
    mpq_t factor;
    mpq_init(factor);
    for (int column = 0; column < size; column++) {
        int pivot = rank;
        while (pivot < rows && mpq_sgn(A[pivot][column]) == 0) pivot++;
        if (pivot == rows) continue;
        for (int j = 0; j <= size; j++) mpq_swap(A[pivot][j], A[rank][j]);
        for (int i = 0; i < rows; i++) {
            if (i == rank || mpq_sgn(A[i][column]) == 0) continue;
            mpq_div(factor, A[i][column], A[rank][column]);
            mpq_neg(factor, factor);
            for (int j = 0; j <= size; j++) add_product(A[i][j], factor, A[rank][j]);
        }
        rank++;
    }
    mpq_clear(factor);
    for (int i = rank; i < rows; i++)
        if (mpq_sgn(A[i][size]) != 0) return -1;
    // Full rank: row i determines unknown i.
    for (int i = 0; i < size && rank == size; i++) mpq_div(x[i], A[i][size], A[i][i]);
    return rank;
}

// ------------------------------------------------------------------------------------------------------- random numbers

static double signed_power(carom_stream *stream, double most) {
    const double size = pow(10, most * (2 * carom_stream_uniform(stream) - 1));
    return carom_stream_uniform(stream) < 0.5 ? -size : size;
}

// ------------------------------------------------------------------------------------------------------------------ LCPs

typedef struct lcp_solutions {
    int n, count;
    double z[MOST_LISTED][MOST_SIZE];
} lcp_solutions;

static carom_status collect_lcp(void *user, const double *z, double residual, carom_error *error) {
    (void)residual;
    (void)error;
    lcp_solutions *found = user;
    assert_true(found->count < MOST_LISTED);
    memcpy(found->z[found->count++], z, (size_t)found->n * sizeof *z);
    return CAROM_OK;
}

static bool is_listed(const lcp_solutions *found, const double *z) {
    for (int k = 0; k < found->count; k++) {
        bool same = true;
        for (int i = 0; i < found->n; i++) same = same && fabs(found->z[k][i] - z[i]) <= 1e-8 * fmax(fabs(z[i]), fabs(found->z[k][i]));
        if (same) return true;
    }
    return false;
}

// Vertices of the solution set of 0 <= z _|_ W z + w >= 0: in each row z_i = 0, y_i = 0 or both. `*continuum`: two vertices in one
// complementary face, or a ray from one.
static lcp_solutions lcp_vertices(int n, const double *W, const double *w, bool *continuum) {
    static mpq_t z[MOST_VERTICES][MOST_SIZE];
    lcp_solutions vertices = {.n = n};
    matrix A;
    mpq_t x[MOST_SIZE + 1], y, entry;
    unsigned zeros_z[MOST_LISTED], zeros_y[MOST_LISTED];
    matrix_init(A);
    for (int i = 0; i <= MOST_SIZE; i++) mpq_init(x[i]);
    mpq_inits(y, entry, NULL);
    *continuum = false;
    int states = 1;
    for (int i = 0; i < n; i++) states *= 3;
    // Vertices first, then rays: the same equations without constants, with sum z = 1.
    for (int pass = 0; pass < 2; pass++)
        for (int state = 0; state < states; state++) {
            int rows = 0, code = state;
            for (int i = 0; i < n; i++, code /= 3) {
                for (int kind = 0; kind < 2; kind++) {
                    if (code % 3 == 1 - kind) continue;
                    // kind 0: z_i = 0; kind 1: (W z)_i = -w_i
                    for (int j = 0; j < n; j++) mpq_set_d(A[rows][j], kind ? W[i * n + j] : i == j);
                    mpq_set_d(A[rows++][n], kind && pass == 0 ? -w[i] : 0);
                }
            }
            for (int j = 0; j <= n && pass; j++) mpq_set_d(A[rows][j], 1);
            if (solve(rows + pass, n, A, x) != n) continue;
            bool feasible = true;
            unsigned zero_z = 0, zero_y = 0;
            double rounded[MOST_SIZE];
            for (int i = 0; i < n; i++) {
                mpq_set_d(y, pass == 0 ? w[i] : 0);
                for (int j = 0; j < n; j++) {
                    mpq_set_d(entry, W[i * n + j]);
                    add_product(y, entry, x[j]);
                }
                feasible = feasible && mpq_sgn(x[i]) >= 0 && mpq_sgn(y) >= 0;
                zero_z |= (unsigned)(mpq_sgn(x[i]) == 0) << i;
                zero_y |= (unsigned)(mpq_sgn(y) == 0) << i;
                rounded[i] = mpq_get_d(x[i]);
            }
            if (!feasible) continue;
            // A face holds both points when every row has z = 0 in both or y = 0 in both.
            bool known = false;
            for (int k = 0; k < vertices.count; k++) {
                bool same = pass == 0;
                for (int i = 0; i < n && same; i++) same = mpq_equal(z[k][i], x[i]);
                known = known || same;
                const unsigned shared = (zeros_z[k] & zero_z) | (zeros_y[k] & zero_y);
                *continuum = *continuum || (!same && shared == (1U << n) - 1);
            }
            if (known || pass) continue;
            assert_true(vertices.count < MOST_LISTED);
            for (int i = 0; i < n; i++) {
                mpq_init(z[vertices.count][i]);
                mpq_set(z[vertices.count][i], x[i]);
            }
            zeros_z[vertices.count] = zero_z;
            zeros_y[vertices.count] = zero_y;
            memcpy(vertices.z[vertices.count++], rounded, sizeof rounded);
        }
    for (int k = 0; k < vertices.count; k++)
        for (int i = 0; i < n; i++) mpq_clear(z[k][i]);
    for (int i = 0; i <= MOST_SIZE; i++) mpq_clear(x[i]);
    mpq_clears(y, entry, NULL);
    matrix_clear(A);
    return vertices;
}

// Families: numbers spread over 1e16; small whole numbers; singular blocks of such spread.
static void random_lcp(carom_stream *stream, int family, int *n, double *W, double *w) {
    const int size = *n = support_random_integer(stream, 1, 4);
    for (int i = 0; i < size * size; i++) W[i] = family == 1 ? support_random_integer(stream, -2, 2) : signed_power(stream, 8);
    for (int i = 0; i < size; i++) w[i] = family == 1 ? support_random_integer(stream, -2, 2) : signed_power(stream, 8);
    for (int i = 0; i < size * size && family != 1; i++)
        if (carom_stream_uniform(stream) < 0.2) W[i] = 0;
    // A row that is a multiple of another one.
    if (family == 2 && size > 1) {
        const double factor = ldexp(1, support_random_integer(stream, -20, 20));
        for (int j = 0; j < size; j++) W[size + j] = factor * W[j];
        if (carom_stream_uniform(stream) < 0.7) w[1] = factor * w[0];
    }
}

static void complete_lcps_hold_all_rational_solutions(void **state) {
    (void)state;
    const int count = support_count(300, 3000, 12000);
    tally tallies[3] = {0};
    for (int i = 0; i < count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 1801, (uint64_t)i);
        const int family = i % 3;
        int n;
        double W[MOST_SIZE * MOST_SIZE], w[MOST_SIZE];
        random_lcp(&stream, family, &n, W, w);
        bool continuum, complete;
        carom_error error;
        const lcp_solutions vertices = lcp_vertices(n, W, w, &continuum);
        lcp_solutions found = {.n = n};
        assert_ok(carom_lcp_enumerate(n, W, w, collect_lcp, &found, &complete, &error), error);
        tallies[family].problems++;
        tallies[family].complete += complete;
        tallies[family].continua += continuum;
        tallies[family].solutions += vertices.count;
        if (!complete) continue;
        if (continuum) fail_msg("LCP %d has a segment of solutions and is called complete", i);
        for (int k = 0; k < vertices.count; k++)
            if (!is_listed(&found, vertices.z[k])) fail_msg("LCP %d: solution %d is missing", i, k);
        for (int k = 0; k < found.count; k++)
            if (!is_listed(&vertices, found.z[k])) fail_msg("LCP %d: entry %d is no solution", i, k);
    }
    for (int family = 0; family < 3; family++) {
        const tally t = tallies[family];
        print_message("family %d: %d LCPs, %d solutions, %d segments, %d complete\n", family, t.problems, t.solutions, t.continua,
                      t.complete);
        // Nearly all that could be complete are: what is left are solutions by residual alone.
        assert_true(t.complete >= (t.problems - t.continua) * 9 / 10);
    }
}

// ----------------------------------------------------------------------------------------------------------------- steps

// A planar problem in rationals.
typedef struct exact_step {
    int nv, m;
    mpq_t W[MOST_SIZE][MOST_SIZE], response[MOST_SIZE][MOST_SIZE], u[MOST_SIZE], v[MOST_SIZE], mu[MOST_SIZE], cap[MOST_SIZE];
    bool capped;
} exact_step;

// W = J M^-1 J' and M^-1 J', column by column.
static void step_init(exact_step *step, const carom_impact_data *data, const double *lmax) {
    *step = (exact_step){.nv = data->nv, .m = data->contacts, .capped = lmax};
    matrix A;
    mpq_t column[MOST_SIZE], entry;
    matrix_init(A);
    mpq_init(entry);
    for (int i = 0; i < MOST_SIZE; i++) {
        mpq_inits(column[i], step->u[i], step->v[i], step->mu[i], step->cap[i], NULL);
        for (int j = 0; j < MOST_SIZE; j++) mpq_inits(step->W[i][j], step->response[i][j], NULL);
    }
    for (int k = 0; k < step->nv; k++) mpq_set_d(step->v[k], data->velocity[k]);
    for (int i = 0; i < step->m; i++) {
        mpq_set_d(step->mu[i], data->friction[i]);
        if (lmax) mpq_set_d(step->cap[i], lmax[i]);
    }
    for (int c = 0; c < 2 * step->m; c++) {
        const double *row = (c % 2 ? data->tangent : data->normal) + c / 2 * step->nv;
        for (int k = 0; k < step->nv; k++) {
            for (int l = 0; l < step->nv; l++) mpq_set_d(A[k][l], data->mass[k * step->nv + l]);
            mpq_set_d(A[k][step->nv], row[k]);
        }
        assert_int_equal(solve(step->nv, step->nv, A, column), step->nv);
        for (int k = 0; k < step->nv; k++) {
            mpq_set(step->response[k][c], column[k]);
            mpq_set_d(entry, row[k]);
            add_product(step->u[c], entry, step->v[k]);
        }
        for (int a = 0; a < 2 * step->m; a++)
            for (int k = 0; k < step->nv; k++) {
                mpq_set_d(entry, ((a % 2 ? data->tangent : data->normal) + a / 2 * step->nv)[k]);
                add_product(step->W[a][c], entry, column[k]);
            }
    }
    for (int i = 0; i < MOST_SIZE; i++) mpq_clear(column[i]);
    mpq_clear(entry);
    matrix_clear(A);
}

static void step_clear(exact_step *step) {
    for (int i = 0; i < MOST_SIZE; i++) {
        mpq_clears(step->u[i], step->v[i], step->mu[i], step->cap[i], NULL);
        for (int j = 0; j < MOST_SIZE; j++) mpq_clears(step->W[i][j], step->response[i][j], NULL);
    }
}

// Rows of one contact's equations, as bits: what holds with equality.
enum { NO_NORMAL = 1, STOPS = 2, AT_CAP = 4, STICKS = 8, NO_TANGENT = 16, FORWARD = 32, BACKWARD = 64 };

// Faces of the contact law, and their faces: impulse none, cap or between, with or without a normal velocity of zero; the same of friction.
static const int faces[] = {NO_NORMAL | NO_TANGENT,
                            NO_NORMAL | NO_TANGENT | STOPS,
                            NO_NORMAL | NO_TANGENT | STOPS | STICKS,
                            STOPS | STICKS,
                            STOPS | FORWARD,
                            STOPS | BACKWARD,
                            STOPS | STICKS | FORWARD,
                            STOPS | STICKS | BACKWARD,
                            AT_CAP | STICKS,
                            AT_CAP | FORWARD,
                            AT_CAP | BACKWARD,
                            AT_CAP | STICKS | FORWARD,
                            AT_CAP | STICKS | BACKWARD,
                            AT_CAP | STOPS | STICKS,
                            AT_CAP | STOPS | FORWARD,
                            AT_CAP | STOPS | BACKWARD,
                            AT_CAP | STOPS | STICKS | FORWARD,
                            AT_CAP | STOPS | STICKS | BACKWARD};
enum { FREE_FACES = 8, ALL_FACES = sizeof faces / sizeof *faces };

// Modes of one contact, as the equalities that they ask for.
static const int contact_modes[] = {NO_NORMAL,       STOPS | STICKS,   STOPS | FORWARD,  STOPS | BACKWARD,
                                    AT_CAP | STICKS, AT_CAP | FORWARD, AT_CAP | BACKWARD};

// The equalities that hold at impulse x of a contact, or -1 where its law is violated. FORWARD: lam_t = mu lam_n, with u_t <= 0.
static int contact_state(const exact_step *step, int i, mpq_t *x, mpq_t *u) {
    mpq_t limit, minus, over;
    mpq_inits(limit, minus, over, NULL);
    mpq_mul(limit, step->mu[i], x[2 * i]);
    mpq_neg(minus, limit);
    mpq_sub(over, x[2 * i], step->cap[i]);
    const int normal = mpq_sgn(x[2 * i]), speed = mpq_sgn(u[2 * i]), slip = mpq_sgn(u[2 * i + 1]);
    const bool at_cap = step->capped && mpq_sgn(over) == 0;
    bool lawful = normal >= 0 && !(step->capped && mpq_sgn(over) > 0);
    lawful = lawful && mpq_cmp(x[2 * i + 1], limit) <= 0 && mpq_cmp(x[2 * i + 1], minus) >= 0;
    lawful = lawful && (speed == 0 || (speed > 0 && normal == 0) || (speed < 0 && at_cap));
    const bool forward = mpq_equal(x[2 * i + 1], limit), backward = mpq_equal(x[2 * i + 1], minus);
    lawful = lawful && (slip == 0 || (slip < 0 ? forward : backward));
    int holds = (normal == 0 && speed >= 0 ? NO_NORMAL : 0) | (speed == 0 ? STOPS : 0) | (at_cap && speed <= 0 ? AT_CAP : 0);
    holds |= (slip == 0 ? STICKS : 0) | (forward && slip <= 0 ? FORWARD : 0) | (backward && slip >= 0 ? BACKWARD : 0);
    mpq_clears(limit, minus, over, NULL);
    return lawful ? holds : -1;
}

typedef struct step_solutions {
    const carom_impact_data *data;
    int count;
    double v[MOST_LISTED][MOST_SIZE];
} step_solutions;

static bool is_listed_velocity(const step_solutions *found, const double *v) {
    for (int k = 0; k < found->count; k++) {
        double difference = 0, scale = 0;
        for (int c = 0; c < found->data->nv; c++) {
            difference = fmax(difference, fabs(found->v[k][c] - v[c]));
            scale = fmax(scale, fmax(fabs(v[c]), fabs(found->data->velocity[c])));
        }
        if (difference <= 1e-8 * scale) return true;
    }
    return false;
}

static carom_status collect_step(void *user, const double *v, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)impulse;
    (void)error;
    step_solutions *found = user;
    assert_int_equal(info->verdict, CAROM_COMPLETE);
    assert_true(found->count < MOST_LISTED);
    memcpy(found->v[found->count++], v, (size_t)found->data->nv * sizeof *v);
    return CAROM_OK;
}

// Rows [A | b] of the equalities of a face.
static int add_face(const exact_step *step, int i, int face, matrix A, int rows) {
    const int size = 2 * step->m;
    for (int bit = 1; bit <= BACKWARD; bit *= 2) {
        if (!(face & bit)) continue;
        for (int j = 0; j <= size; j++) mpq_set_ui(A[rows][j], 0, 1);
        if (bit == STOPS || bit == STICKS) {
            const int row = 2 * i + (bit == STICKS);
            for (int j = 0; j < size; j++) mpq_set(A[rows][j], step->W[row][j]);
            mpq_neg(A[rows][size], step->u[row]);
        } else if (bit == NO_NORMAL || bit == AT_CAP || bit == NO_TANGENT) {
            mpq_set_ui(A[rows][2 * i + (bit == NO_TANGENT)], 1, 1);
            if (bit == AT_CAP) mpq_set(A[rows][size], step->cap[i]);
        } else {
            mpq_set_ui(A[rows][2 * i + 1], 1, 1);
            mpq_set(A[rows][2 * i], step->mu[i]);
            if (bit == FORWARD) mpq_neg(A[rows][2 * i], A[rows][2 * i]);
        }
        rows++;
    }
    return rows;
}

// Velocities at the vertices of the solution set. `*continuum`: two of them belong to one combination of modes.
static step_solutions step_vertices(const exact_step *step, const carom_impact_data *data, bool *continuum) {
    step_solutions vertices = {.data = data};
    static mpq_t velocity[MOST_VERTICES][MOST_SIZE];
    int holds[MOST_VERTICES][3], count = 0;
    matrix A;
    mpq_t x[MOST_SIZE], u[MOST_SIZE];
    matrix_init(A);
    for (int c = 0; c < MOST_SIZE; c++) mpq_inits(x[c], u[c], NULL);
    *continuum = false;
    const int size = 2 * step->m, kinds = step->capped ? ALL_FACES : FREE_FACES;
    int states = 1;
    for (int i = 0; i < step->m; i++) states *= kinds;
    for (int state = 0; state < states; state++) {
        int rows = 0, code = state;
        for (int i = 0; i < step->m; i++, code /= kinds) rows = add_face(step, i, faces[code % kinds], A, rows);
        if (rows < size || solve(rows, size, A, x) != size) continue;
        for (int c = 0; c < size; c++) {
            mpq_set(u[c], step->u[c]);
            for (int j = 0; j < size; j++) add_product(u[c], step->W[c][j], x[j]);
        }
        bool lawful = true;
        assert_true(count < MOST_VERTICES);
        for (int i = 0; i < step->m && lawful; i++) lawful = (holds[count][i] = contact_state(step, i, x, u)) >= 0;
        if (!lawful) continue;
        // Vertices with one velocity are told apart by what holds there.
        bool known = false;
        for (int k = 0; k < count && !known; k++) {
            known = true;
            for (int c = 0; c < size; c++) known = known && mpq_equal(velocity[k][c], u[c]);
            known = known && !memcmp(holds[k], holds[count], (size_t)step->m * sizeof(int));
        }
        if (known) continue;
        for (int c = 0; c < size; c++) {
            mpq_init(velocity[count][c]);
            mpq_set(velocity[count][c], u[c]);
        }
        double v[MOST_SIZE];
        for (int k = 0; k < step->nv; k++) {
            mpq_set(u[0], step->v[k]);
            for (int c = 0; c < size; c++) add_product(u[0], step->response[k][c], x[c]);
            v[k] = mpq_get_d(u[0]);
        }
        if (!is_listed_velocity(&vertices, v)) memcpy(vertices.v[vertices.count++], v, (size_t)step->nv * sizeof *v);
        count++;
    }
    // Pairs of vertices with different velocities that share a mode in every contact.
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            bool same = true, shared = true;
            for (int c = 0; c < size; c++) same = same && mpq_equal(velocity[a][c], velocity[b][c]);
            for (int i = 0; i < step->m; i++) {
                bool some = false;
                for (size_t k = 0; k < sizeof contact_modes / sizeof *contact_modes; k++)
                    some = some || (contact_modes[k] & holds[a][i] & holds[b][i]) == contact_modes[k];
                shared = shared && some;
            }
            *continuum = *continuum || (shared && !same);
        }
    for (int k = 0; k < count; k++)
        for (int c = 0; c < size; c++) mpq_clear(velocity[k][c]);
    for (int c = 0; c < MOST_SIZE; c++) mpq_clears(x[c], u[c], NULL);
    matrix_clear(A);
    return vertices;
}

// Families: all numbers spread over 1e16; small whole numbers with mass ratios to 1e12; contacts given twice; whole numbers alone.
enum { STEP_FAMILIES = 4 };

static carom_impact *random_step(carom_stream *stream, int family, int most_contacts) {
    const int m = support_random_integer(stream, family == 2 ? 2 : 1, most_contacts), nv = support_random_integer(stream, 1, 4);
    double M[16] = {0}, normal[12], tangent[12], mu[3], v[4];
    for (int k = 0; k < nv; k++) {
        M[k * nv + k] =
            family == 3 ? support_random_integer(stream, 1, 3) : pow(10, (family == 0 ? 8 : 6) * (2 * carom_stream_uniform(stream) - 1));
        // Coupled, within positive definite matrices.
        for (int l = 0; l < k && family == 0; l++)
            M[k * nv + l] = M[l * nv + k] = 0.3 * (2 * carom_stream_uniform(stream) - 1) * sqrt(M[k * nv + k] * M[l * nv + l]);
        v[k] = family == 0 ? signed_power(stream, 8) : support_random_integer(stream, -3, 3);
    }
    for (int c = 0; c < m * nv; c++) {
        normal[c] = family == 0 ? signed_power(stream, 8) : support_random_integer(stream, -1, 1);
        tangent[c] = family == 0 ? signed_power(stream, 8) : support_random_integer(stream, -1, 1);
    }
    for (int i = 0; i < m; i++) mu[i] = family == 0 ? pow(10, 4 * carom_stream_uniform(stream) - 2) : support_random_integer(stream, 0, 4);
    if (family == 2) {
        memcpy(normal + nv, normal, (size_t)nv * sizeof *normal);
        memcpy(tangent + nv, tangent, (size_t)nv * sizeof *tangent);
    }
    carom_impact *impact = NULL;
    carom_error error;
    const carom_impact_data data = {
        .nv = nv, .contacts = m, .tangent_dim = 1, .mass = M, .normal = normal, .tangent = tangent, .friction = mu, .velocity = v};
    return carom_impact_create(&data, &impact, &error) ? NULL : impact;
}

static void check_steps(const char *name, carom_step_kind kind, uint64_t seed, int count, int most_contacts) {
    tally tallies[STEP_FAMILIES] = {0};
    for (int i = 0; i < count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, seed, (uint64_t)i);
        const int family = i % STEP_FAMILIES;
        carom_impact *impact = random_step(&stream, family, most_contacts);
        // No contact moves, or numbers beyond 1e100.
        if (!impact) continue;
        const carom_impact_data *data = carom_impact_get_data(impact);
        double lmax[3];
        for (int k = 0; k < 3; k++) lmax[k] = family == 0 ? fabs(signed_power(&stream, 8)) : support_random_integer(&stream, 0, 3);
        exact_step step;
        bool continuum, complete;
        step_init(&step, data, kind == CAROM_STEP_CAPPED ? lmax : NULL);
        const step_solutions vertices = step_vertices(&step, data, &continuum);
        step_clear(&step);

        carom_stepper_options options = carom_stepper_defaults();
        options.kind = kind;
        options.selection = CAROM_SELECT_ALL;
        carom_stepper *stepper;
        carom_error error;
        step_solutions found = {.data = data};
        assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
        assert_ok(carom_stepper_enumerate(stepper, data->velocity, lmax, collect_step, &found, &complete, &error), error);
        tallies[family].problems++;
        tallies[family].complete += complete;
        tallies[family].continua += continuum;
        tallies[family].solutions += vertices.count;
        if (complete && continuum) fail_msg("%s %d has a continuum and is called complete", name, i);
        for (int k = 0; k < vertices.count && complete; k++)
            if (!is_listed_velocity(&found, vertices.v[k])) fail_msg("%s %d: solution %d is missing", name, i, k);
        for (int k = 0; k < found.count && complete; k++)
            if (!is_listed_velocity(&vertices, found.v[k])) fail_msg("%s %d: velocity %d is no solution", name, i, k);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
    for (int family = 0; family < STEP_FAMILIES; family++) {
        const tally t = tallies[family];
        print_message("%s, family %d: %d problems, %d velocities, %d continua, %d complete\n", name, family, t.problems, t.solutions,
                      t.continua, t.complete);
        assert_true(t.complete >= (t.problems - t.continua) * 9 / 10);
    }
}

static void complete_steps_hold_all_rational_solutions(void **state) {
    (void)state;
    check_steps("step", CAROM_STEP_SIMULTANEOUS, 1802, support_count(200, 2000, 10000), 2);
    check_steps("step of three contacts", CAROM_STEP_SIMULTANEOUS, 1803, support_count(20, 100, 1000), 3);
}

static void complete_capped_steps_hold_all_rational_solutions(void **state) {
    (void)state;
    check_steps("capped step", CAROM_STEP_CAPPED, 1804, support_count(100, 400, 4000), 2);
}
#endif

// --------------------------------------------------------------------------------------------------------- known answers

typedef struct contact_speeds {
    const carom_impact *impact;
    int count;
    double u[8][4];
} contact_speeds;

static carom_status collect_speeds(void *user, const double *v, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)impulse;
    (void)info;
    (void)error;
    contact_speeds *found = user;
    assert_true(found->count < 8);
    carom_impact_contact_velocity(found->impact, v, found->u[found->count++]);
    return CAROM_OK;
}

// Three outcomes and a continuum, B slipping at 0 to 0.45 m/s, whatever the mass between the contacts and the speed of a body that takes no
// part.
static void check_three_outcomes(double mass, double speed) {
    const double M[] = {1, 0, 0, 0, 0, mass, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const double normal[] = {0, 1, -1, 0, -1, -1, 0, 0}, tangent[] = {1, 1, 0, 0, -1, 1, -1, 0}, mu[] = {4, 4}, v[] = {-1.5, 3, 0, speed};
    carom_impact *impact = support_impact(&(carom_impact_data){
        .nv = 4, .contacts = 2, .tangent_dim = 1, .mass = M, .normal = normal, .tangent = tangent, .friction = mu, .velocity = v});
    carom_stepper_options options = carom_stepper_defaults();
    options.selection = CAROM_SELECT_ALL;
    carom_stepper *stepper;
    carom_error error;
    bool complete;
    contact_speeds found = {.impact = impact};
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    assert_ok(carom_stepper_enumerate(stepper, v, NULL, collect_speeds, &found, &complete, &error), error);
    assert_false(complete);
    assert_int_equal(found.count, 3);
    // Slip of B: none, 0.45, and 3 with A lifting off at 1.5.
    const double slip[] = {0, 0.45, 3};
    for (int k = 0; k < 3; k++) {
        bool is_there = false;
        for (int i = 0; i < 3; i++) is_there = is_there || (fabs(found.u[i][3] - slip[k]) < 1e-5 && (k == 2) == (found.u[i][0] > 1));
        assert_true(is_there);
    }
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

static void mass_ratios_hide_no_solution(void **state) {
    (void)state;
    for (int power = 6; power <= 14; power++) check_three_outcomes(pow(10, -power), 0);
}

// Solutions are told apart by contact velocities.
static void fast_bystanders_hide_no_solution(void **state) {
    (void)state;
    for (int power = 0; power <= 12; power += 2) check_three_outcomes(1e-6, pow(10, power));
}

static carom_status collect_pair(void *user, const double *z, double residual, carom_error *error) {
    (void)residual;
    (void)error;
    memcpy(user, z, 2 * sizeof *z);
    return CAROM_OK;
}

// W = diag(1, 1e-11): a small pivot is a pivot.
static void small_pivots_are_pivots(void **state) {
    (void)state;
    const double W[] = {1, 0, 0, 1e-11}, w[] = {-1, -1};
    double z[2] = {0, 0};
    bool complete;
    carom_error error;
    assert_ok(carom_lcp_enumerate(2, W, w, collect_pair, z, &complete, &error), error);
    assert_true(complete);
    assert_close(z[0], 1, 1e-15);
    assert_close(z[1] / 1e11, 1, 1e-15);
}

// The scene's data rounded: a degenerate problem that round-off has moved has a solution by its residual, and no complete list.
static void solutions_by_residual_are_listed_and_not_complete(void **state) {
    (void)state;
    const double W[] = {1, 1, 1, 1}, w[] = {-1, -1 - 0x1p-52};
    double z[2] = {0, 0};
    bool complete;
    carom_error error;
    assert_ok(carom_lcp_enumerate(2, W, w, collect_pair, z, &complete, &error), error);
    assert_false(complete);
    assert_close(z[0] + z[1], 1, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if __has_include(<gmp.h>) && __has_include(<ppl_c.h>)
        cmocka_unit_test(complete_lcps_hold_all_rational_solutions),
        cmocka_unit_test(complete_steps_hold_all_rational_solutions),
        cmocka_unit_test(complete_capped_steps_hold_all_rational_solutions),
#endif
        cmocka_unit_test(mass_ratios_hide_no_solution),
        cmocka_unit_test(fast_bystanders_hide_no_solution),
        cmocka_unit_test(small_pivots_are_pivots),
        cmocka_unit_test(solutions_by_residual_are_listed_and_not_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
