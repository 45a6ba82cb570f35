// SPDX-License-Identifier: Apache-2.0
// Taylor's method for slip that turns. With the rates p = (lambda, f) of the impulses and a clock x,
//
//     du/dx = s'(x) W p,    f_j = mu_j lambda_j e_j,    e_j = -t_j/|t_j|,
//
// term k + 1 of the velocities follows from the terms up to k of the rates, and these from the terms up to k of the velocities: with
// r = |t|,
//
//     k r_k = -sum_(i<k) (k - i) e_i . t_(k-i),    r_0 e_k = -t_k - sum_(i>0) r_i e_(k-i).
//
// The weights of held contacts and friction that sticks are unknowns of linear equations, the same at every order. A contact that slides
// off from rest has t = x g: the recurrences hold for g, whose term k is an unknown, as e_k depends on it.
//
// Series in s reach no farther than to where slip would vanish for some complex s. With s' = r of the slowest contact they go on: a
// straight line at constant acceleration is a hyperbolic function of x, and slip that vanishes falls exponentially. Where it is on a
// straight line to zero, s = length (1 - (1 - x)^4) leads there in one step, and raises the power with which what is left of its turning
// vanishes.
#include "reach/series.h"

#include <math.h>
#include <string.h>

#include "carom/dense.h"

enum { TERMS = CAROM_SERIES_TERMS, RATES = CAROM_SERIES_RATES };

// Slip that would miss zero by less than this share of its size is on a straight line there.
#define LANDS 0.1
// The longest step where the series says nothing.
#define MOST_REACH 8
// Roots are found to this share.
#define ROUNDING 1e-16

// Parts of a step in which a polynomial is looked at for its first root, and steps towards it.
enum { PARTS = 8, MOST_ROOT_STEPS = 100 };

void carom_series_create(const carom_impact *impact, carom_arena *arena, carom_series *series) {
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)carom_impact_get_data(impact)->contacts;
    *series = (carom_series){.delassus = carom_impact_delassus(impact),
                             .friction = carom_impact_get_data(impact)->friction,
                             .contacts = (int)contacts,
                             .n = (int)n};
    series->velocities = carom_arena_take(arena, TERMS * n, sizeof(double));
    series->rows = carom_arena_take(arena, n, sizeof(int));
    series->column_of = carom_arena_take(arena, n, sizeof(int));
    series->columns = carom_arena_take(arena, (1 + n) * n, sizeof(double));
    series->rates = carom_arena_take(arena, RATES * n, sizeof(double));
    series->impulses = carom_arena_take(arena, TERMS * n, sizeof(double));
    series->speeds = carom_arena_take(arena, RATES * contacts, sizeof(double));
    series->directions = carom_arena_take(arena, RATES * 2 * contacts, sizeof(double));
    series->works = carom_arena_take(arena, contacts * CAROM_WORK_TERMS, sizeof(double));
    series->load = carom_arena_take(arena, 1 + n, sizeof(double));
    series->unknown = carom_arena_take(arena, n, sizeof(int));
    series->exchanges = carom_arena_take(arena, n, sizeof(int));
    series->matrix = carom_arena_take(arena, n * n, sizeof(double));
    series->change = carom_arena_take(arena, n, sizeof(double));
}

static bool is_rolling(const carom_series *series, int contact) { return series->balance->slip[contact] == CAROM_SLIP_ROLLING; }

static bool is_moving(const carom_series *series, int contact) {
    return is_rolling(series, contact) || series->balance->slip[contact] == CAROM_SLIP_SLIDING;
}

static bool is_sticking(const carom_series *series, int contact) { return series->balance->slip[contact] == CAROM_SLIP_STICKING; }

// sum_j factors[j] rows[j], rows of n numbers, four at a time.
static void combine(int n, int count, const double *restrict rows, const double *restrict factors, double *restrict sum) {
    int j = 0;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (; j + 4 <= count; j += 4, rows += 4 * n)
        for (int c = 0; c < n; c++)
            sum[c] += (factors[j] * rows[c] + factors[j + 1] * rows[n + c]) +
                      (factors[j + 2] * rows[2 * n + c] + factors[j + 3] * rows[3 * n + c]);
    for (; j < count; j++, rows += n)
        for (int c = 0; c < n; c++) sum[c] += factors[j] * rows[c];
}

// The columns of the step, and the rates at its start in the first row.
static void list_columns(carom_series *series) {
    const int n = series->n;
    double *columns = series->columns;
    series->width = 0;
    memset(columns, 0, (size_t)n * sizeof *columns);
    for (int r = 0; r < n; r++) {
        const int i = r / 3;
        const bool varies = r % 3 == 0 ? series->balance->held[i] : is_moving(series, i) || is_sticking(series, i);
        const double *W = series->delassus + r * n, weight = series->weights[r];
        series->column_of[r] = varies ? series->width : -1;
        if (varies) {
            memcpy(columns + (1 + series->width) * n, W, (size_t)n * sizeof *W);
            series->rates[series->width] = weight;
            series->rows[series->width++] = r;
        } else {
            for (int c = 0; c < n && weight != 0; c++) columns[c] += weight * W[c];
        }
    }
}

// Term k of the slip of a contact, of its direction, and of its friction.
static void turn(carom_series *series, int contact, int k) {
    const int n = series->n, contacts = series->contacts, pairs = 2 * contacts, rolls = is_rolling(series, contact);
    const double *t = series->velocities + rolls * n + 3 * contact + 1;
    double *e = series->directions + 2 * contact, *r = series->speeds + contact;
    if (k == 0 && !rolls) {
        r[0] = sqrt(t[0] * t[0] + t[1] * t[1]);
        for (int c = 0; c < 2; c++) e[c] = -t[c] / r[0];
    }
    if (k > 0) {
        double speed = 0, x = -t[n * k], y = -t[n * k + 1], factor = k;
        for (int i = 1; i < k; i++) {
            const double *near = e + pairs * i, *far = e + pairs * (k - i), *slip = t + n * (k - i), ri = r[contacts * i];
            factor -= 1;
            speed -= factor * (near[0] * slip[0] + near[1] * slip[1]);
            x -= ri * far[0];
            y -= ri * far[1];
        }
        speed = speed / k - (e[0] * t[n * k] + e[1] * t[n * k + 1]);
        r[contacts * k] = speed;
        e[pairs * k] = (x - speed * e[0]) / r[0];
        e[pairs * k + 1] = (y - speed * e[1]) / r[0];
    }
    // f = mu lambda e, a product of series where the weight varies.
    const bool held = series->balance->held[contact];
    const double mu = series->friction[contact],
                 *weight = held ? series->rates + series->column_of[3 * contact] : series->weights + 3 * contact;
    double *f = series->rates + series->width * k + series->column_of[3 * contact + 1];
    f[0] = f[1] = 0;
    for (int i = 0; i <= (held ? k : 0); i++) {
        const double limit = mu * weight[series->width * i];
        f[0] += limit * e[pairs * (k - i)];
        f[1] += limit * e[pairs * (k - i) + 1];
    }
}

// How row `row` of the equations at order k changes with the unknown `column`: a held weight, with which friction grows; friction that
// sticks; or term k of g for a contact that slides off.
static double coefficient(const carom_series *series, int row, int column, int k) {
    const int i = column / 3, c = column % 3 - 1;
    const double *W = series->delassus + row * series->n + 3 * i, *e = series->directions + 2 * i, mu = series->friction[i];
    if (c < 0) return W[0] + (is_moving(series, i) ? mu * (W[1] * e[0] + W[2] * e[1]) : 0);
    if (is_sticking(series, i)) return W[1 + c] + (row == column ? series->balance->regularisation : 0);
    // r_0 e_k = (e_0 . g_k) e_0 - g_k and what is known;  (k + 1) g_k = s' (W p_k)_t.
    const double f[2] = {series->rates[series->column_of[3 * i + 1]], series->rates[series->column_of[3 * i + 2]]};
    const double limit = (f[0] * e[0] + f[1] * e[1]) / series->speeds[i];
    return limit * ((W[1] * e[0] + W[2] * e[1]) * e[c] - W[1 + c]) - (row == column ? (k + 1) / series->clock[0] : 0);
}

// Term k of the unknowns: held contacts stay closed, and sticking ones at rest. False where the equations are singular.
static bool solve_unknowns(carom_series *series, int k) {
    const int n = series->n;
    double *rates = series->rates + series->width * k, *next = series->velocities + n * (k + 1);
    bool rolls = false;
    int size = 0;
    for (int i = 0; i < series->contacts; i++) {
        const bool slides_off = k > 0 && is_rolling(series, i);
        if (series->balance->held[i]) series->unknown[size++] = 3 * i;
        for (int c = 1; c <= 2 && (slides_off || is_sticking(series, i)); c++) series->unknown[size++] = 3 * i + c;
        rolls = rolls || slides_off;
    }
    if (size == 0) return true;
    const bool changes = k == 0 || rolls;
    for (int r = 0; r < size; r++) {
        const int row = series->unknown[r];
        double sum = k == 0 ? series->columns[row] : 0;
        for (int c = 0; c < series->width; c++) sum += series->columns[(1 + c) * n + row] * rates[c];
        series->change[r] = -sum;
        for (int c = 0; c < size && changes; c++) series->matrix[r * size + c] = coefficient(series, row, series->unknown[c], k);
    }
    if (changes && !carom_lu_factor(size, series->matrix, series->exchanges)) return false;
    carom_lu_solve(size, series->matrix, series->exchanges, series->change);
    for (int r = 0; r < size; r++) {
        const int row = series->unknown[r];
        if (row % 3 && is_rolling(series, row / 3))
            next[row] = series->change[r];
        else
            rates[series->column_of[row]] += series->change[r];
    }
    // Friction with the terms just found.
    for (int i = 0; i < series->contacts; i++)
        if (is_moving(series, i) && (series->balance->held[i] || is_rolling(series, i))) turn(series, i, k);
    return true;
}

// The clock at the start, by the accelerations there in s.
static void choose_clock(carom_series *series, const double *acceleration, double guess) {
    double length = INFINITY;
    bool rolls = false;
    series->slowest = -1;
    series->lands = false;
    for (int i = 0; i < series->contacts; i++) {
        const double *t = series->velocities + 3 * i + 1, *a = acceleration + 3 * i + 1;
        rolls = rolls || is_rolling(series, i);
        if (!is_moving(series, i) || is_rolling(series, i)) continue;
        const double slip = series->speeds[i], change = sqrt(a[0] * a[0] + a[1] * a[1]);
        if (!(slip < length * change)) continue;
        length = slip / change;
        series->slowest = i;
        series->lands = t[0] * a[0] + t[1] * a[1] < 0 && fabs(t[0] * a[1] - t[1] * a[0]) < LANDS * slip * change;
    }
    if (rolls || series->slowest < 0) {
        length = fmin(length, guess);
        series->slowest = -1;
        series->lands = false;
    }
    const double straight[4] = {length}, landing[4] = {4 * length, -12 * length, 12 * length, -4 * length};
    memset(series->clock, 0, sizeof series->clock);
    memcpy(series->clock, series->lands ? landing : straight, sizeof landing);
}

bool carom_series_expand(carom_series *series, const carom_balance *balance, const double *u, const double *p, double guess) {
    const int n = series->n, contacts = series->contacts;
    double *load = series->load, factors[RATES];
    series->balance = balance;
    series->weights = p;
    list_columns(series);
    const int width = series->width;
    memcpy(series->velocities, u, (size_t)n * sizeof *u);
    memset(series->impulses, 0, (size_t)width * sizeof *series->impulses);
    for (int i = 0; i < contacts; i++) {
        const double *f = p + 3 * i + 1, size = sqrt(f[0] * f[0] + f[1] * f[1]);
        for (int c = 0; c < 2 && is_rolling(series, i); c++) series->directions[2 * i + c] = f[c] / size;
    }
    for (int k = 0; k < RATES; k++) {
        double *rates = series->rates + k * width, *next = series->velocities + (k + 1) * n;
        for (int c = 0; c < width && k > 0; c++) rates[c] = 0;
        for (int r = 0; r < n; r++) next[r] = 0;
        for (int i = 0; i < contacts; i++)
            if (is_moving(series, i)) turn(series, i, k);
        if (!solve_unknowns(series, k)) return false;
        load[0] = 1;
        if (k == 0) {
            memcpy(load + 1, rates, (size_t)width * sizeof *rates);
            combine(n, 1 + width, series->columns, load, next);
            choose_clock(series, next, guess);
        } else if (series->slowest >= 0 && !series->lands) {
            const double *speeds = series->speeds + series->slowest;
            series->clock[k] = speeds[contacts * k] * (series->clock[0] / speeds[0]);
        }
        // (k + 1) P_(k+1) = (s' p)_k, and u = u_0 + W P.
        const double share = 1.0 / (k + 1);
        for (int j = 0; j <= k; j++) factors[j] = share * series->clock[k - j];
        load[0] = series->times[k + 1] = factors[0];
        combine(width, k + 1, series->rates, factors, load + 1);
        memcpy(series->impulses + (k + 1) * width, load + 1, (size_t)width * sizeof *load);
        combine(n, 1 + width, series->columns, load, next);
        for (int i = 0; i < contacts && k == 0; i++) {
            const double *e = series->directions + 2 * i, *t = next + 3 * i + 1;
            if (is_rolling(series, i)) series->speeds[i] = -(t[0] * e[0] + t[1] * e[1]);
            if (is_moving(series, i) && !(series->speeds[i] > 0)) return false;
        }
    }
    // N' = s' n, with all terms of the product: the work is exactly that of these velocities and impulses, so that no energy appears.
    for (int i = 0; i < contacts; i++) {
        double *work = series->works + i * CAROM_WORK_TERMS, normal[TERMS];
        memset(work, 0, CAROM_WORK_TERMS * sizeof *work);
        if (!(p[3 * i] > 0) || balance->held[i]) continue;
        for (int k = 0; k < TERMS; k++) normal[k] = series->velocities[k * n + 3 * i];
        for (int j = 0; j < RATES; j++)
            for (int k = 0; k < TERMS; k++) work[j + k + 1] += series->clock[j] * normal[k];
        for (int k = 1; k < CAROM_WORK_TERMS; k++) work[k] /= k;
    }
    return true;
}

// value^(1/order), to a few hundredths, and the same bits on every machine: logarithms are straight between powers of two.
static double find_root(double value, int order) {
    int exponent;
    const double mantissa = frexp(value, &exponent), logarithm = (2 * mantissa - 2 + exponent) / order, whole = floor(logarithm);
    return ldexp(1 + logarithm - whole, (int)whole);
}

double carom_series_reach(const carom_series *series, double tolerance) {
    double reach = series->lands ? 1 : MOST_REACH;
    for (int k = TERMS - 2; k < TERMS; k++) {
        const double last = carom_max_abs((size_t)series->n, series->velocities + k * series->n);
        if (last > 0) reach = fmin(reach, find_root(tolerance / last, k));
    }
    return reach;
}

void carom_series_sum(int count, int width, const double *terms, double x, double *restrict sum) {
    double powers[CAROM_WORK_TERMS] = {1};
    for (int k = 1; k < count; k++) powers[k] = powers[k - 1] * x;
    combine(width, count, terms, powers, sum);
}

double carom_series_root(int count, int stride, const double *terms, double offset, double sign, double end) {
    double around = 0;
    for (int k = count - 1; k > 0; k--) around = (fabs(terms[k * stride]) + around) * end;
    if (offset + sign * terms[0] > fabs(sign) * around) return INFINITY;
    // The first part in which it falls, and Newton's method there, by halves where that leaves the bracket.
    double low = 0, high = 0, x = 0;
    bool found = false;
    for (int part = 1; part <= PARTS && !found; part++) {
        double value = 0;
        low = high;
        x = high = end * part / PARTS;
        for (int k = count - 1; k >= 0; k--) value = terms[k * stride] + x * value;
        found = offset + sign * value <= 0;
    }
    if (!found) return INFINITY;
    for (int step = 0; step < MOST_ROOT_STEPS && high - low > ROUNDING * high; step++) {
        double value = 0, slope = 0;
        for (int k = count - 1; k >= 0; k--) {
            slope = value + x * slope;
            value = terms[k * stride] + x * value;
        }
        value = offset + sign * value;
        *(value <= 0 ? &high : &low) = x;
        const double change = -value / (sign * slope);
        if (fabs(change) <= ROUNDING * x) break;
        x = x + change > low && x + change < high ? x + change : (low + high) / 2;
    }
    return x;
}
