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

// Everything on the way, freed together.
typedef struct workspace {
    const carom_impact *impact;
    exact_data *data;
    size_t n, nv;
    mpq_t *mass;       // [nv x nv], eliminated in place
    mpq_t *jacobian;   // J [n x nv]
    mpq_t *operators;  // (M^-1 J')' [n x nv]
    mpq_t *delassus;   // W [n x n]
    mpq_t *reduced;    // [n x n] W while it is eliminated
    mpq_t *velocity;   // u = J v- [n]
    mpq_t scratch, factor;
    double *settled;  // [n] numbers on their way to the grid
    const char *fault;
} workspace;

// Numbers of one scale.
typedef struct number_list {
    const char *name;
    const char *const *texts;  // NULL where they were computed
    const double *doubles;
    size_t count, stride;  // of texts and doubles
    double scale;
} number_list;

static mpq_t *entry(mpq_t *A, size_t columns, size_t i, size_t j) { return &A[i * columns + j]; }

// ------------------------------------------------------------------------------------------------------------- reading

static void note_change(exact_data *data, double change, double scale) {
    if (change > 0) data->change = fmax(data->change, change / scale);
}

static carom_status read_exactly(mpq_t value, const char *text, const char *name, carom_error *error) {
    if (exact_rational_read(value, text)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s: the text '%.60s' is not \"p/q\" or a decimal with an exponent and decimal places within 1024", name, text);
}

static carom_status read_text(mpq_t value, const char *text, double x, const char *name, carom_error *error) {
    const carom_status status = read_exactly(value, text, name, error);
    if (status) return status;
    if (fabs(exact_rational_double(value) - x) <= SAME_NUMBER * fabs(x)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: the text '%.60s' is not the number %.17g that it stands for", name, text, x);
}

// Exact where there are texts, otherwise settled and on the grid of the scale. Into `values`, `stride` apart.
static carom_status read_numbers(workspace *w, const number_list *list, mpq_t *values, size_t stride, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < list->count; i++) w->settled[i] = list->doubles[i * list->stride];
    exact_settle(list->count, w->settled, list->scale);
    for (size_t i = 0; i < list->count && !status; i++) {
        const double x = list->doubles[i * list->stride];
        mpq_t *value = &values[i * stride];
        if (list->texts)
            status = read_text(*value, list->texts[i * list->stride], x, list->name, error);
        else
            note_change(w->data, fabs(exact_rational_round(*value, w->settled[i], exact_scale_exponent(list->scale)) - x), list->scale);
    }
    return status;
}

// Largest entry of a column of J: all its rows share a grid.
static double column_scale(const workspace *w, size_t column) {
    const carom_impact_data *data = carom_impact_get_data(w->impact);
    double scale = 0;
    for (size_t i = 0; i < (size_t)data->contacts; i++)
        scale = fmax(scale, fmax(fabs(data->normal[i * w->nv + column]), fabs(data->tangent[i * w->nv + column])));
    return scale;
}

static carom_status read_jacobian(workspace *w, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(w->impact);
    const carom_impact_texts *texts = carom_impact_get_texts(w->impact);
    carom_status status = CAROM_OK;
    for (size_t j = 0; j < w->nv && !status; j++) {
        const size_t contacts = (size_t)data->contacts;
        const double scale = column_scale(w, j);
        const number_list normal = {"Jn", texts->normal ? texts->normal + j : NULL, data->normal + j, contacts, w->nv, scale};
        const number_list tangent = {"Jt", texts->tangent ? texts->tangent + j : NULL, data->tangent + j, contacts, w->nv, scale};
        status = read_numbers(w, &normal, entry(w->jacobian, w->nv, 0, j), 2 * w->nv, error);
        if (!status) status = read_numbers(w, &tangent, entry(w->jacobian, w->nv, 1, j), 2 * w->nv, error);
    }
    return status;
}

// A symmetric matrix, each entry on the grid of its row and column. Exact texts may be asymmetric by round-off: the symmetric part is used.
static carom_status read_symmetric(workspace *w, mpq_t *A, size_t size, const double *doubles, const char *const *texts, const char *name,
                                   carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < size && !status; i++)
        for (size_t j = 0; j < size && !status; j++) {
            const size_t k = i * size + j;
            // By powers of two, so that both triangles round alike.
            const int rows = exact_scale_exponent(doubles[i * size + i]), columns = exact_scale_exponent(doubles[j * size + j]);
            const double scale = ldexp(1, (rows + columns) / 2);
            if (texts)
                status = read_exactly(A[k], texts[k], name, error);
            else
                status = read_numbers(w, &(number_list){name, NULL, doubles + k, 1, 1, scale}, &A[k], 1, error);
        }
    for (size_t i = 0; i < size && !status; i++)
        for (size_t j = 0; j < i; j++) {
            mpq_t *below = entry(A, size, i, j), *above = entry(A, size, j, i);
            mpq_add(*below, *below, *above);
            mpq_div_2exp(*below, *below, 1);
            mpq_set(*above, *below);
        }
    return status;
}

static carom_status read_friction(workspace *w, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(w->impact);
    const size_t contacts = (size_t)data->contacts;
    const number_list friction = {"mu", carom_impact_get_texts(w->impact)->friction, data->friction, contacts,
                                  1,    carom_max_abs(contacts, data->friction)};
    return read_numbers(w, &friction, w->data->friction, 1, error);
}

// u = J v-. Rounding v- would move a foot at rest by the round-off of the products; its contact velocity is rounded instead.
static carom_status read_velocity(workspace *w, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(w->impact);
    const carom_impact_texts *texts = carom_impact_get_texts(w->impact);
    mpq_t *rest = w->data->rest;
    carom_status status = CAROM_OK;
    for (size_t j = 0; j < w->nv && !status; j++) {
        if (texts->velocity)
            status = read_text(rest[j], texts->velocity[j], data->velocity[j], "v", error);
        else
            mpq_set_d(rest[j], data->velocity[j]);
    }
    if (status) return status;
    if (texts->velocity && texts->normal) {
        for (size_t i = 0; i < w->n; i++)
            for (size_t j = 0; j < w->nv; j++)
                exact_rational_add_product(w->velocity[i], *entry(w->jacobian, w->nv, i, j), rest[j], w->scratch);
        return CAROM_OK;
    }
    double *u = malloc(w->n * sizeof *u);
    if (!u) return carom_fail_memory(error, "exact set");
    carom_impact_contact_velocity(w->impact, data->velocity, u);
    status = read_numbers(w, &(number_list){"v", NULL, u, w->n, 1, carom_impact_velocity_scale(w->impact)}, w->velocity, 1, error);
    free(u);
    return status;
}

// ----------------------------------------------------------------------------------------------------------- operators

// row_i of A -= factor row_k, from column `first` on.
static void subtract_row(workspace *w, mpq_t *A, size_t columns, size_t i, size_t k, size_t first) {
    mpq_neg(w->factor, w->factor);
    for (size_t j = first; j < columns; j++)
        exact_rational_add_product(*entry(A, columns, i, j), *entry(A, columns, k, j), w->factor, w->scratch);
}

// Forward elimination of M X = J': M becomes upper triangular. False when a pivot is not positive.
static bool eliminate_mass(workspace *w) {
    for (size_t k = 0; k < w->nv; k++) {
        if (mpq_sgn(*entry(w->mass, w->nv, k, k)) <= 0) return false;
        for (size_t i = k + 1; i < w->nv; i++) {
            if (!mpq_sgn(*entry(w->mass, w->nv, i, k))) continue;
            mpq_div(w->factor, *entry(w->mass, w->nv, i, k), *entry(w->mass, w->nv, k, k));
            subtract_row(w, w->mass, w->nv, i, k, k);
            // subtract_row left the negative factor; the right-hand sides are rows of `operators`
            for (size_t c = 0; c < w->n; c++)
                exact_rational_add_product(*entry(w->operators, w->nv, c, i), *entry(w->operators, w->nv, c, k), w->factor, w->scratch);
        }
    }
    return true;
}

static void substitute_back(workspace *w) {
    for (size_t c = 0; c < w->n; c++)
        for (size_t i = w->nv; i-- > 0;) {
            mpq_t *x = entry(w->operators, w->nv, c, i);
            for (size_t j = i + 1; j < w->nv; j++) {
                mpq_neg(w->factor, *entry(w->mass, w->nv, i, j));
                exact_rational_add_product(*x, *entry(w->operators, w->nv, c, j), w->factor, w->scratch);
            }
            mpq_div(*x, *x, *entry(w->mass, w->nv, i, i));
        }
}

static carom_status derive_delassus(workspace *w, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(w->impact);
    carom_status status = read_symmetric(w, w->mass, w->nv, data->mass, carom_impact_get_texts(w->impact)->mass, "M", error);
    if (status) return status;
    for (size_t k = 0; k < w->n * w->nv; k++) mpq_set(w->operators[k], w->jacobian[k]);
    if (!eliminate_mass(w)) {
        w->fault = "the mass matrix is not positive definite in rational numbers";
        return CAROM_OK;
    }
    substitute_back(w);
    for (size_t i = 0; i < w->n; i++)
        for (size_t j = 0; j < w->n; j++)
            for (size_t k = 0; k < w->nv; k++)
                exact_rational_add_product(*entry(w->delassus, w->n, i, j), *entry(w->jacobian, w->nv, i, k),
                                           *entry(w->operators, w->nv, j, k), w->scratch);
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------- contact space

// What round-off and the grid leave of a dependent row of W, over its diagonal entry.
#define DEPENDENT_ROW 1e-9

// Doubles that become the rational W = C W_BB C' of a given rank: rounding W itself would make a singular one regular, or indefinite.
typedef struct contact_space {
    int rank;
    int *rows;        // [n] B
    double *reduced;  // [n x n] W while it is eliminated
    double *core;     // [rank x rank] W_BB
    double *factor;   // its Cholesky factor
    double *spread;   // C [n x rank]
    mpq_t *rational_core, *rational_spread, *product;
} contact_space;

static void take_independent_row(contact_space *c, size_t n, size_t k, double diagonal) {
    double *W = c->reduced;
    if (!(W[k * n + k] > DEPENDENT_ROW * diagonal)) return;
    for (size_t i = 0; i < n; i++) {
        const double factor = i == k ? 0 : W[i * n + k] / W[k * n + k];
        for (size_t j = 0; j < n && factor != 0; j++) W[i * n + j] -= factor * W[k * n + j];
    }
    c->rows[c->rank++] = (int)k;
}

// Rows that are independent beyond round-off, normals first.
static void choose_rows(contact_space *c, size_t n, const double *W) {
    memcpy(c->reduced, W, n * n * sizeof *W);
    for (size_t k = 0; k < n; k += 2) take_independent_row(c, n, k, W[k * n + k]);
    for (size_t k = 1; k < n; k += 2) take_independent_row(c, n, k, W[k * n + k]);
}

// C = W_{:,B} W_BB^-1, whose rows in B are those of the identity. False where W_BB is not positive definite.
static bool derive_spread(contact_space *c, size_t n, const double *W) {
    const size_t r = (size_t)c->rank;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++) c->core[i * r + j] = W[(size_t)c->rows[i] * n + (size_t)c->rows[j]];
    memcpy(c->factor, c->core, r * r * sizeof *c->factor);
    if (carom_cholesky_factor(c->rank, c->factor)) return false;
    for (size_t k = 0; k < n; k++) {
        double *row = c->spread + k * r;
        for (size_t j = 0; j < r; j++) row[j] = W[k * n + (size_t)c->rows[j]];
        carom_cholesky_forward(c->rank, c->factor, row);
        carom_cholesky_backward(c->rank, c->factor, row);
    }
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++) c->spread[(size_t)c->rows[i] * r + j] = i == j;
    return true;
}

// Rounds C and W_BB, and multiplies.
static carom_status spread_core(workspace *w, contact_space *c, carom_error *error) {
    const size_t n = w->n, r = (size_t)c->rank;
    carom_status status = read_symmetric(w, c->rational_core, r, c->core, NULL, "W", error);
    for (size_t j = 0; j < r && !status; j++) {
        double scale = 0;
        for (size_t k = 0; k < n; k++) scale = fmax(scale, fabs(c->spread[k * r + j]));
        status = read_numbers(w, &(number_list){"W", NULL, c->spread + j, n, r, scale}, &c->rational_spread[j], r, error);
    }
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < r; j++)
            for (size_t i = 0; i < r; i++)
                exact_rational_add_product(c->product[k * r + j], c->rational_spread[k * r + i], c->rational_core[i * r + j], w->scratch);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < r; i++)
                exact_rational_add_product(*entry(w->delassus, n, k, j), c->product[k * r + i], c->rational_spread[j * r + i], w->scratch);
    return status;
}

static carom_status fill_delassus(workspace *w, contact_space *c, carom_error *error) {
    const double *W = carom_impact_delassus(w->impact);
    if (!c->rows || !c->reduced || !c->core || !c->factor || !c->spread || !c->rational_core || !c->rational_spread || !c->product)
        return carom_fail_memory(error, "exact set");
    choose_rows(c, w->n, W);
    if (derive_spread(c, w->n, W)) return spread_core(w, c, error);
    w->fault = "the Delassus operator is not positive semidefinite";
    return CAROM_OK;
}

// In contact space J is the identity, and M^-1 J' is W.
static carom_status read_delassus(workspace *w, carom_error *error) {
    const size_t n = w->n;
    contact_space c = {.rows = calloc(n, sizeof(int)),
                       .reduced = calloc(n * n, sizeof(double)),
                       .core = calloc(n * n, sizeof(double)),
                       .factor = calloc(n * n, sizeof(double)),
                       .spread = calloc(n * n, sizeof(double)),
                       .rational_core = exact_rationals_create(n * n),
                       .rational_spread = exact_rationals_create(n * n),
                       .product = exact_rationals_create(n * n)};
    const carom_status status = fill_delassus(w, &c, error);
    exact_rationals_free(c.rational_core, n * n);
    exact_rationals_free(c.rational_spread, n * n);
    exact_rationals_free(c.product, n * n);
    free(c.rows);
    free(c.reduced);
    free(c.core);
    free(c.factor);
    free(c.spread);
    for (size_t i = 0; i < n; i++) {
        mpq_set_ui(*entry(w->jacobian, n, i, i), 1, 1);
        for (size_t j = 0; j < n; j++) mpq_set(*entry(w->operators, n, i, j), *entry(w->delassus, n, i, j));
    }
    return status;
}

// --------------------------------------------------------------------------------------------------------- coordinates

static bool is_zero_row(mpq_t *A, size_t columns, size_t row) {
    for (size_t j = 0; j < columns; j++)
        if (mpq_sgn(*entry(A, columns, row, j))) return false;
    return true;
}

// Eliminates with row k where it is independent of those before; false where W is not positive semidefinite.
static bool take_row(workspace *w, size_t k) {
    const int sign = mpq_sgn(*entry(w->reduced, w->n, k, k));
    if (sign <= 0) return sign == 0 && is_zero_row(w->reduced, w->n, k);
    w->data->basis[w->data->dimension++] = (int)k;
    for (size_t i = 0; i < w->n; i++) {
        if (i == k || !mpq_sgn(*entry(w->reduced, w->n, i, k))) continue;
        mpq_div(w->factor, *entry(w->reduced, w->n, i, k), *entry(w->reduced, w->n, k, k));
        subtract_row(w, w->reduced, w->n, i, k, 0);
    }
    // A basis row stays out of the rows behind it.
    for (size_t j = 0; j < w->n; j++) mpq_set_ui(*entry(w->reduced, w->n, k, j), 0, 1);
    return true;
}

// Independent rows of W, normals first. W = J M^-1 J' has the rank of J, and its principal minors tell.
static void choose_basis(workspace *w) {
    for (size_t k = 0; k < w->n * w->n; k++) mpq_set(w->reduced[k], w->delassus[k]);
    bool definite = true;
    for (size_t k = 0; k < w->n && definite; k += 2) definite = take_row(w, k);
    for (size_t k = 1; k < w->n && definite; k += 2) definite = take_row(w, k);
    if (!definite) w->fault = "the Delassus operator is not positive semidefinite";
}

// metric = W_BB^-1 by Gauss and Jordan; W_BB is positive definite.
static void invert_basis(workspace *w) {
    const size_t d = (size_t)w->data->dimension;
    mpq_t *A = w->reduced, *inverse = w->data->metric;
    for (size_t i = 0; i < d; i++) {
        mpq_set_ui(*entry(inverse, d, i, i), 1, 1);
        for (size_t j = 0; j < d; j++)
            mpq_set(*entry(A, d, i, j), *entry(w->delassus, w->n, (size_t)w->data->basis[i], (size_t)w->data->basis[j]));
    }
    for (size_t k = 0; k < d; k++) {
        mpq_inv(w->factor, *entry(A, d, k, k));
        for (size_t j = 0; j < d; j++) {
            mpq_mul(*entry(A, d, k, j), *entry(A, d, k, j), w->factor);
            mpq_mul(*entry(inverse, d, k, j), *entry(inverse, d, k, j), w->factor);
        }
        for (size_t i = 0; i < d; i++) {
            if (i == k) continue;
            mpq_set(w->factor, *entry(A, d, i, k));
            subtract_row(w, A, d, i, k, 0);
            for (size_t j = 0; j < d; j++)
                exact_rational_add_product(*entry(inverse, d, i, j), *entry(inverse, d, k, j), w->factor, w->scratch);
        }
    }
}

// C = W_{:,B} metric and lift = (M^-1 B') metric.
static void derive_maps(workspace *w) {
    exact_data *data = w->data;
    const size_t d = (size_t)data->dimension;
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < d; k++) {
            const size_t row = (size_t)data->basis[k];
            mpq_t *metric = entry(data->metric, d, k, j);
            for (size_t i = 0; i < w->n; i++)
                exact_rational_add_product(*entry(data->contact_rows, d, i, j), *entry(w->delassus, w->n, i, row), *metric, w->scratch);
            for (size_t i = 0; i < w->nv; i++)
                exact_rational_add_product(*entry(data->lift, d, i, j), *entry(w->operators, w->nv, row, i), *metric, w->scratch);
        }
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < w->n; i++) mpq_set(*entry(data->response, w->n, k, i), *entry(w->delassus, w->n, (size_t)data->basis[k], i));
}

// The start, and the v of y = 0. Contact velocities outside the range of J are there by round-off only, and follow y.
static void derive_start(workspace *w) {
    exact_data *data = w->data;
    const size_t d = (size_t)data->dimension;
    const double scale = carom_impact_velocity_scale(w->impact);
    for (size_t k = 0; k < d; k++) mpq_set(data->start[k], w->velocity[data->basis[k]]);
    for (size_t i = 0; i < w->n; i++) {
        mpq_neg(w->factor, w->velocity[i]);
        for (size_t k = 0; k < d; k++)
            exact_rational_add_product(w->factor, *entry(data->contact_rows, d, i, k), data->start[k], w->scratch);
        const double moved = fabs(mpq_get_d(w->factor));
        note_change(data, moved, scale);
        if (moved > UNEXPLAINED_VELOCITY * scale) w->fault = "the contact velocities before the impact are not in the range of W";
    }
    // rest = v- - lift B v-, in two passes because B v- needs all of v-
    for (size_t k = 0; k < d; k++) {
        mpq_set_ui(w->velocity[k], 0, 1);
        for (size_t j = 0; j < w->nv; j++)
            exact_rational_add_product(w->velocity[k], *entry(w->jacobian, w->nv, (size_t)data->basis[k], j), data->rest[j], w->scratch);
        mpq_neg(w->velocity[k], w->velocity[k]);
    }
    for (size_t j = 0; j < w->nv; j++)
        for (size_t k = 0; k < d; k++) exact_rational_add_product(data->rest[j], *entry(data->lift, d, j, k), w->velocity[k], w->scratch);
}

// ------------------------------------------------------------------------------------------------------------ lifetime

void exact_data_free(exact_data *data) {
    if (!data) return;
    const size_t n = (size_t)data->n, nv = (size_t)data->nv;
    exact_rationals_free(data->contact_rows, n * n);
    exact_rationals_free(data->response, n * n);
    exact_rationals_free(data->metric, n * n);
    exact_rationals_free(data->friction, n);
    exact_rationals_free(data->start, n);
    exact_rationals_free(data->rest, nv);
    exact_rationals_free(data->lift, nv * n);
    free(data->basis);
    free(data);
}

static exact_data *allocate_data(const carom_impact *impact) {
    exact_data *data = calloc(1, sizeof *data);
    if (!data) return NULL;
    const carom_impact_data *source = carom_impact_get_data(impact);
    data->contacts = source->contacts;
    data->nv = source->nv;
    data->n = carom_impact_contact_size(impact);
    const size_t n = (size_t)data->n, nv = (size_t)data->nv;
    data->basis = calloc(n, sizeof *data->basis);
    data->contact_rows = exact_rationals_create(n * n);
    data->response = exact_rationals_create(n * n);
    data->metric = exact_rationals_create(n * n);
    data->friction = exact_rationals_create(n);
    data->start = exact_rationals_create(n);
    data->rest = exact_rationals_create(nv);
    data->lift = exact_rationals_create(nv * n);
    if (data->basis && data->contact_rows && data->response && data->metric && data->friction && data->start && data->rest && data->lift)
        return data;
    exact_data_free(data);
    return NULL;
}

static bool allocate_workspace(workspace *w) {
    w->mass = exact_rationals_create(w->nv * w->nv);
    w->jacobian = exact_rationals_create(w->n * w->nv);
    w->operators = exact_rationals_create(w->n * w->nv);
    w->delassus = exact_rationals_create(w->n * w->n);
    w->reduced = exact_rationals_create(w->n * w->n);
    w->velocity = exact_rationals_create(w->n);
    w->settled = malloc(w->n * sizeof *w->settled);
    mpq_inits(w->scratch, w->factor, NULL);
    return w->mass && w->jacobian && w->operators && w->delassus && w->reduced && w->velocity && w->settled;
}

static void free_workspace(workspace *w) {
    exact_rationals_free(w->mass, w->nv * w->nv);
    exact_rationals_free(w->jacobian, w->n * w->nv);
    exact_rationals_free(w->operators, w->n * w->nv);
    exact_rationals_free(w->delassus, w->n * w->n);
    exact_rationals_free(w->reduced, w->n * w->n);
    exact_rationals_free(w->velocity, w->n);
    free(w->settled);
    mpq_clears(w->scratch, w->factor, NULL);
}

static carom_status fill(workspace *w, carom_error *error) {
    const bool system = carom_impact_has_system(w->impact);
    carom_status status = system ? read_jacobian(w, error) : CAROM_OK;
    if (!status) status = system ? derive_delassus(w, error) : read_delassus(w, error);
    if (!status && !w->fault) status = read_friction(w, error);
    if (!status && !w->fault) status = read_velocity(w, error);
    if (status || w->fault) return status;
    choose_basis(w);
    if (w->fault) return CAROM_OK;
    invert_basis(w);
    derive_maps(w);
    derive_start(w);
    return CAROM_OK;
}

carom_status exact_data_create(const carom_impact *impact, exact_data **data, const char **fault, carom_error *error) {
    *data = NULL;
    *fault = NULL;
    exact_data *made = allocate_data(impact);
    if (!made) return carom_fail_memory(error, "exact set");
    workspace w = {.impact = impact, .data = made, .n = (size_t)made->n, .nv = (size_t)made->nv};
    carom_status status = allocate_workspace(&w) ? fill(&w, error) : carom_fail_memory(error, "exact set");
    free_workspace(&w);
    *fault = w.fault;
    if (status || w.fault)
        exact_data_free(made);
    else
        *data = made;
    return status;
}
