// SPDX-License-Identifier: Apache-2.0
// The rational data of an impact: geometry is rounded, never what is computed from it, so that equal rows stay equal and a foot at rest
// stays at rest. M^-1 J', W and the coordinates follow in exact arithmetic.
#include "exact/ppl/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// A text whose double differs by more than this share is not the text of that number. Reading rounds correctly: 2^-53.
#define SAME_NUMBER 1e-15
// A contact velocity that W cannot explain, in shares of the largest: more than the grid and the round-off of a computed W.
#define UNEXPLAINED_VELOCITY 1e-6
// Rows of a contact that the grid of far larger rows changes by this share of its normal are others.
#define CHANGED_CONTACT 1e-6
// Round-off and the grid may leave this much of a dependent row of W, over its diagonal entry.
#define DEPENDENT_ROW 1e-9

static const double TWO_PI = 6.283185307179586476925286766559;
// Of tangents of half the angles of friction directions: they are off by its inverse square.
#define MOST_DIRECTION_DENOMINATOR (1 << 20)

// The impact on its way into rational numbers.
typedef struct workspace {
    const carom_impact *impact;
    exact_data *data;           // being filled
    size_t n, nv;               // rows and columns of J
    size_t stride;              // rows of a contact
    exact_rationals rationals;  // the arrays that follow
    mpq_t *jacobian;            // J [n x nv]
    mpq_t *response;            // M^-1 J' [nv x n]
    mpq_t *delassus;            // W [n x n]
    mpq_t *velocity;            // u = J v- [starts x n]
    mpq_t *rest;                // v-, and then its part that no impulse changes [starts x nv]
    mpq_t *constants;           // z [starts x constants]
    double speed;               // largest contact velocity before the impact: the scale of u
    mpq_t scratch, factor;      // of row operations
    const char *fault;          // why the data are no impact; NULL while they are one
} workspace;

// Numbers of one scale, at most EXACT_MOST_ROWS of them.
typedef struct number_list {
    const char *name;          // in messages
    const char *const *texts;  // NULL where they were computed
    const double *doubles;
    size_t count, stride;  // of texts and doubles
    double scale;          // of the grid
} number_list;

// ------------------------------------------------------------------------------------------------------------- reading

static void note_change(exact_data *data, double change, double scale) {
    if (change > 0) data->change = fmax(data->change, change / scale);
}

static carom_status read_exactly(mpq_t value, const char *text, const char *name, carom_error *error) {
    if (exact_rational_read(value, text)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s: the text '%.60s' is not \"p/q\" or a decimal with an exponent and decimal places within 1024", name, text);
}

// Reads the text that stands for the number x.
static carom_status read_text(mpq_t value, const char *text, double x, const char *name, carom_error *error) {
    const carom_status status = read_exactly(value, text, name, error);
    if (status) return status;
    if (fabs(exact_rational_double(value) - x) <= SAME_NUMBER * fabs(x)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: the text '%.60s' is not the number %.17g that it stands for", name, text, x);
}

// Exact where there are texts, otherwise settled and on the grid of the scale. Into `values`, `stride` apart.
static carom_status read_numbers(workspace *work, const number_list *list, mpq_t *values, size_t stride, carom_error *error) {
    carom_status status = CAROM_OK;
    double settled[EXACT_MOST_ROWS];
    for (size_t i = 0; i < list->count; i++) settled[i] = list->doubles[i * list->stride];
    exact_settle(list->count, settled, list->scale);
    for (size_t i = 0; i < list->count && !status; i++) {
        const double x = list->doubles[i * list->stride];
        mpq_t *value = &values[i * stride];
        if (list->texts)
            status = read_text(*value, list->texts[i * list->stride], x, list->name, error);
        else
            note_change(work->data, fabs(exact_rational_round(*value, settled[i], exact_scale_exponent(list->scale)) - x), list->scale);
    }
    return status;
}

// A symmetric matrix, each entry on the grid of its row and column. Exact texts may be asymmetric by round-off: the symmetric part is used.
static carom_status read_symmetric(workspace *work, mpq_t *A, size_t size, const double *doubles, const char *const *texts,
                                   const char *name, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < size && !status; i++)
        for (size_t j = 0; j < size && !status; j++) {
            const size_t k = i * size + j;
            // By powers of two, so that both triangles round alike.
            const int rows = exact_scale_exponent(doubles[i * size + i]), columns = exact_scale_exponent(doubles[j * size + j]);
            const number_list entry = {name, NULL, doubles + k, 1, 1, ldexp(1, (rows + columns) / 2)};
            status = texts ? read_exactly(A[k], texts[k], name, error) : read_numbers(work, &entry, &A[k], 1, error);
        }
    for (size_t i = 0; i < size && !status; i++)
        for (size_t j = 0; j < i; j++) {
            mpq_add(A[i * size + j], A[i * size + j], A[j * size + i]);
            mpq_div_2exp(A[i * size + j], A[i * size + j], 1);
            mpq_set(A[j * size + i], A[i * size + j]);
        }
    return status;
}

// u = J v- of one v-. Rounding v- would move a foot at rest by the round-off of the products; its contact velocity is rounded instead.
static carom_status read_velocity(workspace *work, const double *v, const char *const *texts, mpq_t *u, mpq_t *rest, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t j = 0; j < work->nv && !status; j++) {
        if (texts)
            status = read_text(rest[j], texts[j], v[j], "v", error);
        else
            mpq_set_d(rest[j], v[j]);
    }
    if (status) return status;
    // Exactly, where J and v- are exact.
    if (texts && carom_impact_get_texts(work->impact)->normal) {
        for (size_t i = 0; i < work->n; i++)
            for (size_t j = 0; j < work->nv; j++)
                exact_rational_add_product(u[i], work->jacobian[i * work->nv + j], rest[j], work->scratch);
        return CAROM_OK;
    }
    // Without texts for both, by the computed products.
    double product[EXACT_MOST_ROWS];
    carom_impact_contact_velocity(work->impact, v, product);
    const number_list velocity = {"v", NULL, product, work->n, 1, work->speed};
    return read_numbers(work, &velocity, u, 1, error);
}

// The velocities before the impact: that of the impact, or the vertices of a polytope. These are read as v- and their distances from it, in
// one grid for each component, and their contact velocities follow exactly: edges that are parallel stay so, and four corners of a
// rectangle in one plane.
static carom_status read_velocities(workspace *work, const carom_exact_start *start, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(work->impact);
    const carom_impact_texts *texts = carom_impact_get_texts(work->impact);
    const size_t n = work->n, nv = work->nv, count = start ? (size_t)start->count : 0;
    work->speed = carom_impact_velocity_scale(work->impact);
    for (size_t s = 0; s < count; s++) {
        double u[EXACT_MOST_ROWS];
        carom_impact_contact_velocity(work->impact, start->vertices + s * nv, u);
        work->speed = fmax(work->speed, carom_max_abs(n, u));
    }
    if (!start) return read_velocity(work, data->velocity, texts->velocity, work->velocity, work->rest, error);
    mpq_t *u = exact_rationals_take(&work->rationals, n), *v = exact_rationals_take(&work->rationals, nv);
    if (work->rationals.failed) return carom_fail_memory(error, "exact set");
    carom_status status = read_velocity(work, data->velocity, texts->velocity, u, v, error);
    for (size_t j = 0; j < nv && !status; j++) {
        double most = 0;
        for (size_t s = 0; s < count; s++) most = fmax(most, fabs(start->vertices[s * nv + j] - data->velocity[j]));
        for (size_t s = 0; s < count && !status; s++) {
            const double component = start->vertices[s * nv + j], apart = component - data->velocity[j];
            mpq_t *read = &work->rest[s * nv + j];
            if (start->texts) {
                status = read_text(*read, start->texts[s * nv + j], component, "start", error);
                mpq_sub(work->factor, *read, v[j]);
            } else {
                note_change(work->data, fabs(exact_rational_round(work->factor, apart, exact_scale_exponent(most)) - apart), most);
                mpq_add(*read, v[j], work->factor);
            }
            for (size_t i = 0; i < n; i++)
                exact_rational_add_product(work->velocity[s * n + i], work->jacobian[i * nv + j], work->factor, work->scratch);
        }
    }
    for (size_t k = 0; k < count * n; k++) mpq_add(work->velocity[k], work->velocity[k], u[k % n]);
    return status;
}

// The corners of the polygon of friction directions, which lie on the unit circle: 1 and -1 in the plane, otherwise at angles near 2 pi
// j/K, (cos a, sin a) = (q^2 - p^2, 2 p q)/(q^2 + p^2) where p/q is tan(a/2) up to 2^-40. One quarter is computed; the others mirror
// it. Round cones have none.
static void read_directions(exact_data *data) {
    const int edges = data->edges, half = edges / 2;
    if (data->stride == 2) {
        mpq_set_si(data->edge[0], 1, 1);
        mpq_set_si(data->edge[1], -1, 1);
        return;
    }
    for (int j = 0; edges && 4 * j <= edges; j++) {
        const double angle = TWO_PI * j / edges;
        mpq_t *edge = &data->edge[2 * j], tangent, square, sum;
        mpq_inits(tangent, square, sum, NULL);
        exact_rational_near(tangent, tan(angle / 2), MOST_DIRECTION_DENOMINATOR);
        if (4 * j == edges) mpq_set_ui(tangent, 1, 1);
        // cos = (1 - t^2)/(1 + t^2), sin = 2 t/(1 + t^2)
        mpq_mul(square, tangent, tangent);
        mpq_set_ui(sum, 1, 1);
        mpq_sub(edge[0], sum, square);
        mpq_add(sum, sum, square);
        mpq_div(edge[0], edge[0], sum);
        mpq_add(edge[1], tangent, tangent);
        mpq_div(edge[1], edge[1], sum);
        if (4 * j != edges) note_change(data, fabs(mpq_get_d(edge[0]) - cos(angle)), 1);
        mpq_clears(tangent, square, sum, NULL);
    }
    for (int j = edges / 4 + 1; j < edges; j++) {
        const int mirrored = j < half ? half - j : j - half;
        for (int axis = 0; axis < 2; axis++) mpq_set(data->edge[2 * j + axis], data->edge[2 * mirrored + axis]);
        mpq_neg(data->edge[2 * j], data->edge[2 * j]);
        if (j >= half) mpq_neg(data->edge[2 * j + 1], data->edge[2 * j + 1]);
    }
}

// mu of the impact, or its least and its largest value.
static carom_status read_friction(workspace *work, const carom_interval *intervals, carom_error *error) {
    exact_data *data = work->data;
    const size_t contacts = (size_t)data->contacts;
    const double *mu = carom_impact_get_data(work->impact)->friction;
    const char *const *texts = carom_impact_get_texts(work->impact)->friction;
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < contacts && !status; i++) {
        // Each on a grid of its own: 1e-6 beside 1e5 is not zero.
        const number_list list = {"mu", texts ? texts + i : NULL, mu + i, 1, 1, mu[i]};
        status = read_numbers(work, &list, data->friction + 2 * i, 1, error);
        if (status) break;
        mpq_set(data->friction[2 * i + 1], data->friction[2 * i]);
        if (!intervals || (intervals[i].least == mu[i] && intervals[i].most == mu[i])) continue;
        exact_rational_shortest(data->friction[2 * i], intervals[i].least);
        exact_rational_shortest(data->friction[2 * i + 1], intervals[i].most);
    }
    return status;
}

// e of the contacts that bounce, and a coordinate for what each of them owes.
static carom_status read_restitution(workspace *work, const carom_exact_options *options, carom_error *error) {
    exact_data *data = work->data;
    const char *const *texts = carom_impact_get_texts(work->impact)->restitution;
    const double *of_impact = carom_impact_get_data(work->impact)->restitution;
    carom_status status = CAROM_OK;
    data->width = data->dimension + data->constants;
    for (int i = 0; i < data->contacts && !status; i++) {
        if (options->hypothesis == CAROM_EXACT_POISSON) {
            if (!isnan(options->restitution))
                exact_rational_shortest(data->restitution[i], options->restitution);
            else if (texts)
                status = read_text(data->restitution[i], texts[i], of_impact[i], "restitution", error);
            else
                exact_rational_shortest(data->restitution[i], of_impact[i]);
        }
        data->owed[i] = mpq_sgn(data->restitution[i]) ? data->width++ : -1;
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------------- operators

// target += factor source, from entry `first` on.
static void add_row(workspace *work, mpq_t *target, mpq_t *source, size_t first, size_t count) {
    for (size_t j = first; j < count; j++) exact_rational_add_product(target[j], source[j], work->factor, work->scratch);
}

// B = A^-1 B for a symmetric positive definite A [size x size], which is spent, and B [size x columns], by Gauss' elimination. False when
// a pivot is not positive.
static bool solve_in_place(workspace *work, size_t size, mpq_t *A, size_t columns, mpq_t *B) {
    for (size_t k = 0; k < size; k++) {
        if (mpq_sgn(A[k * size + k]) <= 0) return false;
        for (size_t i = k + 1; i < size; i++) {
            if (!mpq_sgn(A[i * size + k])) continue;
            mpq_div(work->factor, A[i * size + k], A[k * size + k]);
            mpq_neg(work->factor, work->factor);
            add_row(work, A + i * size, A + k * size, k, size);
            add_row(work, B + i * columns, B + k * columns, 0, columns);
        }
    }
    // Back substitution.
    for (size_t i = size; i-- > 0;) {
        for (size_t j = i + 1; j < size; j++) {
            mpq_neg(work->factor, A[i * size + j]);
            add_row(work, B + i * columns, B + j * columns, 0, columns);
        }
        for (size_t c = 0; c < columns; c++) mpq_div(B[i * columns + c], B[i * columns + c], A[i * size + i]);
    }
    return true;
}

// J and M from the impact; M^-1 J' and W = J M^-1 J' from them.
static carom_status read_system(workspace *work, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(work->impact);
    const carom_impact_texts *texts = carom_impact_get_texts(work->impact);
    const size_t contacts = (size_t)data->contacts, n = work->n, nv = work->nv;
    mpq_t *mass = exact_rationals_take(&work->rationals, nv * nv);
    if (!mass) return carom_fail_memory(error, "exact set");
    carom_status status = CAROM_OK;
    for (size_t j = 0; j < nv && !status; j++) {
        // All rows of J share a grid in a column: that of its largest entry.
        double scale = 0;
        for (size_t i = 0; i < contacts; i++) scale = fmax(scale, fabs(data->normal[i * nv + j]));
        for (size_t i = 0; i < n - contacts; i++) scale = fmax(scale, fabs(data->tangent[i * nv + j]));
        const number_list normal = {"Jn", texts->normal ? texts->normal + j : NULL, data->normal + j, contacts, nv, scale};
        status = read_numbers(work, &normal, work->jacobian + j, work->stride * nv, error);
        // The first tangents of all contacts, then the second ones.
        for (size_t k = 0; k + 1 < work->stride && !status; k++) {
            const size_t first = k * nv + j, apart = (work->stride - 1) * nv;
            const number_list tangent = {"Jt", texts->tangent ? texts->tangent + first : NULL, data->tangent + first, contacts, apart,
                                         scale};
            status = read_numbers(work, &tangent, work->jacobian + (1 + k) * nv + j, work->stride * nv, error);
        }
    }
    if (!status) status = read_symmetric(work, mass, nv, data->mass, texts->mass, "M", error);
    if (status) return status;
    for (size_t i = 0; i < contacts; i++) {
        const double *tangent = data->tangent + i * (work->stride - 1) * nv;
        double change = 0;
        for (size_t r = 0; r < work->stride; r++)
            for (size_t j = 0; j < nv; j++) {
                const double entry = r ? tangent[(r - 1) * nv + j] : data->normal[i * nv + j];
                change = fmax(change, fabs(exact_rational_double(work->jacobian[(work->stride * i + r) * nv + j]) - entry));
            }
        if (change > CHANGED_CONTACT * carom_max_abs(nv, data->normal + i * nv))
            work->fault = "the rows of a contact are others when they are rounded beside rows that are far larger";
    }
    if (work->fault) return CAROM_OK;

    // M^-1 J' by elimination on a copy of J', then W by products.
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < nv; j++) mpq_set(work->response[j * n + i], work->jacobian[i * nv + j]);
    if (!solve_in_place(work, nv, mass, n, work->response)) {
        work->fault = "the mass matrix is not positive definite in rational numbers";
        return CAROM_OK;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < nv; k++)
                exact_rational_add_product(work->delassus[i * n + j], work->jacobian[i * nv + k], work->response[k * n + j], work->scratch);
    return CAROM_OK;
}

// Rows are chosen normals first: 0, 2, 4, ..., 1, 3, 5, ... in the plane.
static size_t row_in_turn(const workspace *work, size_t turn) {
    const size_t contacts = work->n / work->stride, tangents = work->stride - 1;
    if (turn < contacts) return work->stride * turn;
    return work->stride * ((turn - contacts) / tangents) + 1 + (turn - contacts) % tangents;
}

// W of an impact in contact space, where J is the identity and M^-1 J' is W. Rounding W itself would make a singular one regular, or
// indefinite: it is made of a rounded core, W = C W_BB C', of the rank that it has beyond round-off.
static carom_status read_delassus(workspace *work, carom_error *error) {
    enum { MOST = EXACT_MOST_ROWS };
    const size_t n = work->n;
    const double *W = carom_impact_delassus(work->impact);

    // B: rows that are independent beyond round-off.
    size_t B[MOST], r = 0;
    double reduced[MOST * MOST];
    memcpy(reduced, W, n * n * sizeof *W);
    for (size_t turn = 0; turn < n; turn++) {
        const size_t k = row_in_turn(work, turn);
        if (!(reduced[k * n + k] > DEPENDENT_ROW * W[k * n + k])) continue;
        for (size_t i = 0; i < n; i++) {
            const double factor = i == k ? 0 : reduced[i * n + k] / reduced[k * n + k];
            for (size_t j = 0; j < n && factor != 0; j++) reduced[i * n + j] -= factor * reduced[k * n + j];
        }
        B[r++] = k;
    }

    // C = W_{:,B} W_BB^-1, whose rows in B are those of the identity.
    double core[MOST * MOST], factor[MOST * MOST], spread[MOST * MOST];
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++) core[i * r + j] = factor[i * r + j] = W[B[i] * n + B[j]];
    if (carom_cholesky_factor((int)r, factor)) {
        work->fault = "the Delassus operator is not positive semidefinite";
        return CAROM_OK;
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < r; j++) spread[k * r + j] = W[k * n + B[j]];
        carom_cholesky_forward((int)r, factor, spread + k * r);
        carom_cholesky_backward((int)r, factor, spread + k * r);
    }
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++) spread[B[i] * r + j] = i == j;

    // Both rounded, each column of C on the grid of its largest entry, and multiplied.
    mpq_t *rational_core = exact_rationals_take(&work->rationals, r * r), *C = exact_rationals_take(&work->rationals, n * r);
    mpq_t *product = exact_rationals_take(&work->rationals, n * r);
    if (work->rationals.failed) return carom_fail_memory(error, "exact set");
    carom_status status = read_symmetric(work, rational_core, r, core, NULL, "W", error);
    for (size_t j = 0; j < r && !status; j++) {
        double scale = 0;
        for (size_t k = 0; k < n; k++) scale = fmax(scale, fabs(spread[k * r + j]));
        status = read_numbers(work, &(number_list){"W", NULL, spread + j, n, r, scale}, C + j, r, error);
    }
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < r; j++)
            for (size_t i = 0; i < r; i++)
                exact_rational_add_product(product[k * r + j], C[k * r + i], rational_core[i * r + j], work->scratch);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < r; i++)
                exact_rational_add_product(work->delassus[k * n + j], product[k * r + i], C[j * r + i], work->scratch);
    // J = 1, M^-1 J' = W.
    for (size_t i = 0; i < n; i++) mpq_set_ui(work->jacobian[i * n + i], 1, 1);
    for (size_t k = 0; k < n * n; k++) mpq_set(work->response[k], work->delassus[k]);
    return status;
}

// --------------------------------------------------------------------------------------------------------- coordinates

// The basis B, and maps of y: metric = W_BB^-1, lift = (M^-1 B') metric.
static carom_status choose_coordinates(workspace *work, carom_error *error) {
    exact_data *data = work->data;
    const size_t n = work->n;
    mpq_t *reduced = exact_rationals_take(&work->rationals, n * n);
    if (!reduced) return carom_fail_memory(error, "exact set");

    for (size_t k = 0; k < n; k += work->stride)
        if (!mpq_sgn(work->delassus[k * n + k]))
            work->fault = "the normal of a contact is zero when it is rounded beside rows that are far larger";
    if (work->fault) return CAROM_OK;

    // W = J M^-1 J' has the rank of J, and its principal minors tell: a row is taken when elimination leaves a positive diagonal entry.
    for (size_t k = 0; k < n * n; k++) mpq_set(reduced[k], work->delassus[k]);
    for (size_t turn = 0; turn < n; turn++) {
        const size_t k = row_in_turn(work, turn);
        mpq_t *row = reduced + k * n;
        const int sign = mpq_sgn(row[k]);
        // A dependent row of a semidefinite W is zero.
        bool zero = true;
        for (size_t j = 0; j < n && zero && sign == 0; j++) zero = mpq_sgn(row[j]) == 0;
        if (sign < 0 || !zero) {
            work->fault = "the Delassus operator is not positive semidefinite";
            return CAROM_OK;
        }
        if (sign == 0) continue;
        data->basis[data->dimension++] = (int)k;
        for (size_t i = 0; i < n; i++) {
            if (i == k || !mpq_sgn(reduced[i * n + k])) continue;
            mpq_div(work->factor, reduced[i * n + k], row[k]);
            mpq_neg(work->factor, work->factor);
            add_row(work, reduced + i * n, row, 0, n);
        }
        // A basis row stays out of the rows after it.
        for (size_t j = 0; j < n; j++) mpq_set_ui(row[j], 0, 1);
    }

    // W_BB, and W_B as the response of y.
    const size_t d = (size_t)data->dimension;
    const int *B = data->basis;
    for (size_t i = 0; i < d; i++) {
        mpq_set_ui(data->metric[i * d + i], 1, 1);
        for (size_t j = 0; j < d; j++) mpq_set(reduced[i * d + j], work->delassus[(size_t)B[i] * n + (size_t)B[j]]);
        for (size_t j = 0; j < n; j++) mpq_set(data->response[i * n + j], work->delassus[(size_t)B[i] * n + j]);
    }
    solve_in_place(work, d, reduced, d, data->metric);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < d; k++) {
            const size_t row = (size_t)B[k];
            mpq_t *metric = &data->metric[k * d + j];
            for (size_t i = 0; i < work->nv; i++)
                exact_rational_add_product(data->lift[i * d + j], work->response[i * n + row], *metric, work->scratch);
        }
    return CAROM_OK;
}

// What no impulse changes: v- - lift B v-. One velocity has no coordinates there; the points of a polytope have as many as they span: z
// counts the distances of some of them from the first one, so that the corners of a box have zeros and ones.
// @param contacts_only  no coordinates are wanted
static carom_status find_constants(workspace *work, bool contacts_only, carom_error *error) {
    exact_data *data = work->data;
    const size_t d = (size_t)data->dimension, nv = work->nv, starts = (size_t)data->starts;
    mpq_t *y = exact_rationals_take(&work->rationals, d), *apart = exact_rationals_take(&work->rationals, nv * starts);
    if (work->rationals.failed) return carom_fail_memory(error, "exact set");
    for (size_t s = 0; s < starts; s++) {
        mpq_t *rest = work->rest + s * nv;
        // In two passes, because B v- needs all of v-.
        for (size_t k = 0; k < d; k++) {
            mpq_set_ui(y[k], 0, 1);
            for (size_t j = 0; j < nv; j++)
                exact_rational_add_product(y[k], work->jacobian[(size_t)data->basis[k] * nv + j], rest[j], work->scratch);
            mpq_neg(y[k], y[k]);
        }
        for (size_t j = 0; j < nv; j++)
            for (size_t k = 0; k < d; k++) exact_rational_add_product(rest[j], data->lift[j * d + k], y[k], work->scratch);
        for (size_t j = 0; j < nv; j++) mpq_sub(apart[j * starts + s], rest[j], work->rest[j]);
    }
    for (size_t j = 0; j < nv; j++) mpq_set(data->rest[j], work->rest[j]);

    // Gauss-Jordan on the distances, a column for each start: those at pivots span the others, and their columns hold z.
    size_t rank = 0, pivots[EXACT_MOST_CONSTANTS];
    for (size_t s = 0; s < starts; s++) {
        // The first one alone has no distances.
        size_t row = contacts_only ? nv : rank;
        while (row < nv && !mpq_sgn(apart[row * starts + s])) row++;
        if (row == nv) continue;
        if (rank == EXACT_MOST_CONSTANTS) {
            work->fault = "the velocities before the impact differ in more than 8 directions that no contact feels: vary fewer of them";
            return CAROM_OK;
        }
        for (size_t k = 0; k < starts; k++) mpq_swap(apart[row * starts + k], apart[rank * starts + k]);
        mpq_t *chosen = apart + rank * starts;
        for (size_t k = starts; k-- > s;) mpq_div(chosen[k], chosen[k], chosen[s]);
        for (size_t i = 0; i < nv; i++) {
            if (i == rank || !mpq_sgn(apart[i * starts + s])) continue;
            mpq_neg(work->factor, apart[i * starts + s]);
            add_row(work, apart + i * starts, chosen, s, starts);
        }
        pivots[rank++] = s;
    }
    data->constants = (int)rank;
    data->shift = exact_rationals_take(&data->rationals, nv * rank);
    work->constants = exact_rationals_take(&work->rationals, starts * rank);
    if (data->rationals.failed || work->rationals.failed) return carom_fail_memory(error, "exact set");
    for (size_t i = 0; i < rank; i++) {
        for (size_t j = 0; j < nv; j++) mpq_sub(data->shift[j * rank + i], work->rest[pivots[i] * nv + j], work->rest[j]);
        for (size_t s = 0; s < starts; s++) mpq_set(work->constants[s * rank + i], apart[i * starts + s]);
    }
    return CAROM_OK;
}

// C = W_{:,B} metric, and the start in all coordinates.
static carom_status derive_start(workspace *work, carom_error *error) {
    exact_data *data = work->data;
    const size_t n = work->n, d = (size_t)data->dimension, width = (size_t)data->width, constants = (size_t)data->constants;
    data->contact_rows = exact_rationals_take(&data->rationals, n * width);
    data->start = exact_rationals_take(&data->rationals, (size_t)data->starts * width);
    if (data->rationals.failed) return carom_fail_memory(error, "exact set");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++)
                exact_rational_add_product(data->contact_rows[i * width + j], work->delassus[i * n + (size_t)data->basis[k]],
                                           data->metric[k * d + j], work->scratch);
    for (size_t s = 0; s < (size_t)data->starts; s++) {
        mpq_t *start = data->start + s * width, *u = work->velocity + s * n;
        for (size_t k = 0; k < d; k++) mpq_set(start[k], u[data->basis[k]]);
        for (size_t k = 0; k < constants; k++) mpq_set(start[d + k], work->constants[s * constants + k]);
        // Contact velocities outside the range of J are there by round-off only: they follow y, u = C y.
        for (size_t i = 0; i < n; i++) {
            mpq_neg(work->factor, u[i]);
            for (size_t k = 0; k < d; k++)
                exact_rational_add_product(work->factor, data->contact_rows[i * width + k], start[k], work->scratch);
            const double moved = fabs(mpq_get_d(work->factor));
            note_change(data, moved, work->speed);
            if (moved > UNEXPLAINED_VELOCITY * work->speed)
                work->fault = "the contact velocities before the impact are not in the range of W";
        }
    }
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ lifetime

void exact_data_free(exact_data *data) {
    if (!data) return;
    exact_rationals_free(&data->rationals);
    free(data);
}

bool exact_data_varies(const exact_data *data) {
    for (int i = 0; i < data->contacts; i++)
        if (!mpq_equal(data->friction[2 * i], data->friction[2 * i + 1])) return true;
    return false;
}

bool exact_data_is_inelastic(const exact_data *data) { return data->width == data->dimension + data->constants; }

void exact_data_start_energy(const exact_data *data, mpq_t largest) {
    const int d = data->dimension;
    mpq_t energy, square, scratch;
    mpq_inits(energy, square, scratch, NULL);
    mpq_set_ui(largest, 0, 1);
    for (int s = 0; s < data->starts; s++) {
        mpq_t *y = data->start + s * data->width;
        mpq_set_ui(energy, 0, 1);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) {
                mpq_mul(square, y[i], y[j]);
                exact_rational_add_product(energy, square, data->metric[i * d + j], scratch);
            }
        if (mpq_cmp(energy, largest) > 0) mpq_set(largest, energy);
    }
    mpq_clears(energy, square, scratch, NULL);
}

carom_status exact_data_create(const carom_impact *impact, const carom_exact_options *options, exact_data **data, const char **fault,
                               carom_error *error) {
    *data = NULL;
    *fault = NULL;
    const carom_impact_data *source = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)source->nv, contacts = (size_t)source->contacts;
    exact_data *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "exact set");
    made->contacts = source->contacts;
    made->n = (int)n;
    made->nv = source->nv;
    made->stride = made->n / made->contacts;
    made->edges = source->tangent_dim == 1 ? 2 : (int)options->cone_edges;
    made->starts = options->start ? options->start->count : 1;
    const size_t starts = (size_t)made->starts;
    // The dimension, not known yet, is at most n.
    made->response = exact_rationals_take(&made->rationals, n * n);
    made->metric = exact_rationals_take(&made->rationals, n * n);
    made->edge = exact_rationals_take(&made->rationals, (size_t)made->edges * (size_t)source->tangent_dim);
    made->friction = exact_rationals_take(&made->rationals, 2 * contacts);
    made->restitution = exact_rationals_take(&made->rationals, contacts);
    made->rest = exact_rationals_take(&made->rationals, nv);
    made->lift = exact_rationals_take(&made->rationals, nv * n);
    workspace work = {.impact = impact, .data = made, .n = n, .nv = nv, .stride = n / contacts};
    work.jacobian = exact_rationals_take(&work.rationals, n * nv);
    work.response = exact_rationals_take(&work.rationals, nv * n);
    work.delassus = exact_rationals_take(&work.rationals, n * n);
    work.velocity = exact_rationals_take(&work.rationals, starts * n);
    work.rest = exact_rationals_take(&work.rationals, starts * nv);
    mpq_inits(work.scratch, work.factor, NULL);
    carom_status status = made->rationals.failed || work.rationals.failed ? carom_fail_memory(error, "exact set") : CAROM_OK;

    // What the impact says, then what follows from it. A fault ends it at any point.
    if (!status) status = carom_impact_has_system(impact) ? read_system(&work, error) : read_delassus(&work, error);
    if (!status) read_directions(made);
    if (!status && !work.fault) status = read_friction(&work, options->friction, error);
    if (!status && !work.fault) status = read_velocities(&work, options->start, error);
    if (!status && !work.fault) status = choose_coordinates(&work, error);
    if (!status && !work.fault) status = find_constants(&work, options->contacts_only, error);
    if (!status && !work.fault) status = read_restitution(&work, options, error);
    if (!status && !work.fault) status = derive_start(&work, error);

    *fault = work.fault;
    mpq_clears(work.scratch, work.factor, NULL);
    exact_rationals_free(&work.rationals);
    if (status || work.fault)
        exact_data_free(made);
    else
        *data = made;
    return status;
}
