// SPDX-License-Identifier: Apache-2.0
// What a certificate proves, whoever made it. Weights and rays are doubles within 2^-52 of exact rationals, so that every sum of products
// has a bound of its error; what rows are violated by is paid for along the whole path.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "exact/fan/glpk/linear_program.h"
#include "exact/fan/glpk/value_function.h"

// A sum of n products of doubles, each of them off by some roundings, is off by at most this share of the sum of their sizes.
static double share_of_error(int n) { return (n + 10) * DBL_EPSILON; }

// An upper bound of sum_i a_i b_i, entries within some roundings of those meant. Products may underflow, but not those of zeros.
static double sum_above(int n, const double *a, const double *b) {
    double sum = 0, size = 0;
    bool zero = true;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
        size += fabs(a[i] * b[i]);
        zero = zero && (a[i] == 0 || b[i] == 0);
    }
    return zero ? 0 : sum + share_of_error(n) * size + DBL_MIN;
}

static double sum_below(int n, const double *a, const double *b) {
    double negative[FAN_MOST_DIMENSION];
    for (int i = 0; i < n; i++) negative[i] = 0 - a[i];
    return 0 - sum_above(n, negative, b);
}

// An upper bound of sqrt(p'(W_BB)p).
static double norm_above(const fan_problem *problem, const double *p) {
    const int d = problem->dimension;
    double square = 0, size = 0;
    for (int k = 0; k < d; k++)
        for (int l = 0; l < d; l++) {
            const double term = p[k] * problem->delassus[k * d + l] * p[l];
            square += term;
            size += fabs(term);
        }
    return size > 0 ? sqrt(fmax(square, 0) + share_of_error(d * d) * size) * (1 + 2 * DBL_EPSILON) + DBL_MIN : 0;
}

double value_function_verify(value_function *function, double path_length) {
    const fan *f = function->on;
    const fan_problem *problem = f->problem;
    const int d = problem->dimension;
    double target[FAN_MOST_DIMENSION], values[FAN_MOST_DIMENSION];
    for (int k = 0; k < d; k++) target[k] = mpq_get_d(problem->target[k]);

    // V >= (c - c2).ray where impacts end: raised where it is not.
    for (int r = 0; r < f->ray_count; r++) {
        const fan_ray *ray = &f->rays[r];
        if (!fan_is_end(problem, ray->positive, ray->negative)) continue;
        const double least = sum_above(d, target, ray->real) - sum_below(d, function->slope, ray->real);
        function->values[r] = fmax(function->values[r], least + DBL_EPSILON * fabs(least));
    }
    // The largest derivative of V along a scaled speed.
    double growth = 0;
    for (int p = 0; p < function->piece_count; p++) {
        const fan_piece *piece = &function->pieces[p];
        const fan_simplex *simplex = &f->simplices[piece->simplex];
        for (int i = 0, free = piece->first_free; i < d; i++)
            values[i] = piece->mask >> i & 1 ? function->values[simplex->rays[i]] : function->free[free++];
        for (int g = 0; g < problem->speed_count; g++)
            if (piece->speeds >> g & 1) growth = fmax(growth, problem->speed_factor[g] * sum_above(d, simplex->real + g * d, values));
    }
    // V on the start: on the part of a simplex at most the largest value that a linear function above V has at a vertex.
    double start = -INFINITY;
    for (int s = 0; s < f->simplex_count; s++) {
        const fan_simplex *simplex = &f->simplices[s];
        const fan_share share = fan_start_share(f, simplex);
        if (share == FAN_NOTHING) continue;
        for (int i = 0; i < d; i++) {
            values[i] = function->values[simplex->rays[i]];
            if (share == FAN_PART) values[i] = fmax(values[i], function->above[s * d + i]);
        }
        for (int k = 0; k < problem->starts; k++) {
            const double value = sum_above(d, simplex->real + (problem->speed_count + k) * d, values);
            start = fmax(start, value + problem->extra[k] + DBL_EPSILON * (fabs(value) + fabs(problem->extra[k])));
        }
    }
    const double energy = norm_above(problem, function->slope) * problem->energy_radius, cost = growth > 0 ? growth * path_length : 0;
    return start + energy + cost + 4 * DBL_EPSILON * (fabs(start) + energy + cost);
}

carom_status fan_path_length(const fan_problem *problem, const bound_effort *effort, double *path_length, carom_error *error) {
    const int d = problem->dimension;
    *path_length = INFINITY;
    // Minimise the largest entry of p in units, such that p.g >= 1 for all scaled speeds.
    int columns[FAN_MOST_DIMENSION + 1];
    double entries[FAN_MOST_DIMENSION + 1], objective[FAN_MOST_DIMENSION + 1] = {0}, x[FAN_MOST_DIMENSION + 1];
    linear_program *program;
    for (int k = 0; k <= d; k++) columns[k] = k;
    objective[d] = 1;
    carom_status status = linear_program_create(d + 1, objective, &program, error);
    for (int g = 0; g < problem->speed_count && !status; g++) {
        for (int k = 0; k < d; k++) entries[k] = -problem->speed_factor[g] * mpq_get_d(problem->speeds[g * d + k]) / problem->unit[k];
        status = linear_program_add_row(program, d, columns, entries, -1, error);
    }
    for (int k = 0; k < 2 * d && !status; k++) {
        const int pair[2] = {k / 2, d};
        status = linear_program_add_row(program, 2, pair, (double[2]){k % 2 ? -1 : 1, -1}, 0, error);
    }
    bool solved = false;
    if (!status) status = linear_program_solve(program, effort, x, NULL, &solved, error);
    linear_program_free(program);
    if (status || !solved) return status;

    // What p really gives: the least p.g, bounded from below.
    double p[FAN_MOST_DIMENSION], speed[FAN_MOST_DIMENSION], least = INFINITY;
    for (int k = 0; k < d; k++) p[k] = x[k] / problem->unit[k];
    for (int g = 0; g < problem->speed_count; g++) {
        for (int k = 0; k < d; k++) speed[k] = problem->speed_factor[g] * mpq_get_d(problem->speeds[g * d + k]);
        least = fmin(least, sum_below(d, p, speed));
    }
    if (least > 0) *path_length = 2 * problem->energy_radius * norm_above(problem, p) / least * (1 + 4 * DBL_EPSILON);
    return status;
}
