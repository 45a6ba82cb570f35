// SPDX-License-Identifier: Apache-2.0
// Inertia and centre of mass of a tossed body, from its impacts at single contacts.
//
// The moments about the reference point o, in body axes and over the mass: (I_o/m) dw + c x dv - r x (dw x c) = r x dv, with r the contact,
// c the centre of mass from o, and dv, dw the changes of the velocity of o and of the angular velocity. Linear in the six entries of I_o/m
// and in c.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/vector3.h"
#include "measure/measure_internal.h"

enum { MOMENTS = 6, UNKNOWNS = 9, EQUATIONS = 3, ROUNDS = 30 };
// Huber's loss is quadratic up to this many standard deviations; the median of |x| of a normal distribution is 0.6745 of them.
#define HUBER          1.345
#define MEDIAN_OF_NORM 0.67448975
// A frame of contact is orthonormal up to the rounding of a file.
#define ORTHONORMAL 1e-6
// Columns of the equations that the others explain up to this share are not determined.
#define DETERMINED 1e-8

// The equations of all impacts.
typedef struct equations {
    int impacts, unknowns;
    double *A, *b;   // [3 impacts x 9], [3 impacts]
    int *group;      // [impacts]
    double *rest;    // [3 impacts] residuals
    double *sorted;  // the same, by size
} equations;

// The equations of one impact; false where it is not of one contact in space on a free body whose attitude is known.
static bool add_impact(equations *e, const carom_measurement *measurement) {
    const carom_impact_data *data = carom_impact_get_data(measurement->impact);
    if (data->contacts != 1 || data->nv != 6 || data->tangent_dim != 2 || !measurement->attitude) return false;
    const double *direction[3] = {data->normal, data->tangent, data->tangent + 6};
    double arm[3] = {0}, world[3][3], body[3][3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            if (fabs(carom_dot(3, direction[i], direction[k]) - (i == k)) > ORTHONORMAL) return false;
        // Rows are (d, r x d), and sum_d d x (r x d) = 2 r.
        double part[3];
        carom_cross3(direction[i], direction[i] + 3, part);
        for (int k = 0; k < 3; k++) arm[k] += 0.5 * part[k];
    }
    for (int k = 0; k < 3; k++) {
        world[0][k] = arm[k];
        world[1][k] = measurement->after[k] - data->velocity[k];
        world[2][k] = measurement->after[3 + k] - data->velocity[3 + k];
    }
    // Into body axes: R' x.
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            body[i][k] = 0;
            for (int l = 0; l < 3; l++) body[i][k] += measurement->attitude[3 * l + k] * world[i][l];
        }
    const double *r = body[0], *dv = body[1], *dw = body[2];
    double *A = e->A + (size_t)e->impacts * EQUATIONS * UNKNOWNS, *b = e->b + e->impacts * EQUATIONS;
    memset(A, 0, EQUATIONS * UNKNOWNS * sizeof *A);
    // (I/m) dw with the entries xx, yy, zz, xy, xz, yz.
    static const int entry[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) A[i * UNKNOWNS + entry[i][k]] = dw[k];
    for (int k = 0; k < 3; k++) {
        // Column k of c: e_k x dv - r x (dw x e_k).
        const double unit[3] = {k == 0, k == 1, k == 2};
        double first[3], turned[3], second[3];
        carom_cross3(unit, dv, first);
        carom_cross3(dw, unit, turned);
        carom_cross3(r, turned, second);
        for (int i = 0; i < 3; i++) A[i * UNKNOWNS + MOMENTS + k] = first[i] - second[i];
    }
    carom_cross3(r, dv, b);
    e->group[e->impacts++] = measurement->group;
    return true;
}

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// Reweighted least squares for Huber's loss; `drawn` [groups] says how often each group counts. False where the unknowns are not
// determined.
static bool solve(equations *e, const double *drawn, double x[UNKNOWNS]) {
    const int count = e->impacts * EQUATIONS, n = e->unknowns;
    double limit = INFINITY;
    memset(x, 0, UNKNOWNS * sizeof *x);
    for (int round = 0; round < ROUNDS; round++) {
        double gram[UNKNOWNS * UNKNOWNS] = {0}, moments[UNKNOWNS] = {0}, scale[UNKNOWNS], last[UNKNOWNS];
        for (int i = 0; i < count; i++) {
            const double *row = e->A + i * UNKNOWNS, rest = e->b[i] - carom_dot(n, row, x);
            e->rest[i] = fabs(rest);
            const double weight = drawn[e->group[i / EQUATIONS]] * (round && fabs(rest) > limit ? limit / fabs(rest) : 1);
            for (int k = 0; k < n; k++) {
                for (int l = 0; l < n; l++) gram[k * n + l] += weight * row[k] * row[l];
                moments[k] += weight * row[k] * e->b[i];
            }
        }
        // Scaled columns, so that what is not determined shows.
        for (int k = 0; k < n; k++) scale[k] = gram[k * n + k] > 0 ? 1 / sqrt(gram[k * n + k]) : 0;
        for (int k = 0; k < n; k++)
            for (int l = 0; l < n; l++) gram[k * n + l] *= scale[k] * scale[l];
        for (int k = 0; k < n; k++) moments[k] *= scale[k];
        if (carom_cholesky_factor(n, gram)) return false;
        for (int k = 0; k < n; k++)
            if (gram[k * n + k] * gram[k * n + k] < DETERMINED) return false;
        carom_cholesky_forward(n, gram, moments);
        carom_cholesky_backward(n, gram, moments);
        memcpy(last, x, sizeof last);
        double change = 0, size = 0;
        for (int k = 0; k < n; k++) {
            x[k] = scale[k] * moments[k];
            change = fmax(change, fabs(x[k] - last[k]));
            size = fmax(size, fabs(x[k]));
        }
        if (round && change <= 1e-10 * size) break;
        // The scale of the residuals, from their median.
        for (int i = 0; i < count; i++) e->sorted[i] = fabs(e->b[i] - carom_dot(n, e->A + i * UNKNOWNS, x));
        qsort(e->sorted, (size_t)count, sizeof *e->sorted, compare);
        limit = HUBER * e->sorted[count / 2] / MEDIAN_OF_NORM;
        if (!(limit > 0)) break;
    }
    return true;
}

// I_com = m (I_o/m - (|c|^2 1 - c c')).
static void find_tensor(const double x[UNKNOWNS], double mass, double tensor[9]) {
    static const int entry[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    const double *c = x + MOMENTS;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) tensor[3 * i + k] = mass * (x[entry[i][k]] - (i == k ? carom_dot(3, c, c) : 0) + c[i] * c[k]);
}

carom_status carom_measure_identify(const carom_measurements *measurements, bool com, int64_t draws,
                                    carom_measure_identification *identification, carom_error *error) {
    *identification = (carom_measure_identification){0};
    const size_t most = (size_t)measurements->count + 1, groups = (size_t)measurements->groups + 1;
    carom_arena arena = {0};
    equations e = {.unknowns = com ? UNKNOWNS : MOMENTS,
                   .A = carom_arena_take(&arena, most * EQUATIONS * UNKNOWNS, sizeof(double)),
                   .b = carom_arena_take(&arena, most * EQUATIONS, sizeof(double)),
                   .group = carom_arena_take(&arena, most, sizeof(int)),
                   .rest = carom_arena_take(&arena, most * EQUATIONS, sizeof(double)),
                   .sorted = carom_arena_take(&arena, most * EQUATIONS, sizeof(double))};
    double *drawn = carom_arena_take(&arena, groups, sizeof *drawn), x[UNKNOWNS];
    int *present = carom_arena_take(&arena, groups, sizeof *present), count = 0;
    carom_status status = arena.failed ? carom_fail_memory(error, "identification") : CAROM_OK;
    for (int i = 0; i < measurements->count && !status; i++)
        if (add_impact(&e, &measurements->list[i])) drawn[measurements->list[i].group] = 1;
    for (size_t g = 0; g < groups && !status; g++)
        if (drawn[g] > 0) present[count++] = (int)g;
    if (!status && (e.impacts < EQUATIONS || !solve(&e, drawn, x)))
        status = carom_fail(error, CAROM_BAD_INPUT, "%d impacts at single contacts of a free body with 'R' do not determine its inertia",
                            e.impacts);
    // The mass is not identifiable: moments are those of the mass that the file gives, else that of M.
    double mass = measurements->mass;
    if (!status && isnan(mass)) mass = carom_impact_get_data(measurements->list[0].impact)->mass[0];
    double sum[6] = {0}, square[6] = {0};
    if (!status) {
        identification->impacts = e.impacts;
        find_tensor(x, mass, identification->tensor);
        for (int k = 0; k < 3; k++) {
            identification->inertia[k] = identification->tensor[4 * k];
            identification->com[k] = x[MOMENTS + k];
        }
    }
    int64_t solved = 0;
    for (int64_t draw = 0; draw < draws && !status; draw++) {
        carom_stream stream;
        carom_stream_start_use(&stream, 0, (uint64_t)draw + 1, CAROM_STREAM_MEASURE);
        memset(drawn, 0, groups * sizeof *drawn);
        for (int i = 0; i < count; i++) drawn[present[(int)(carom_stream_uniform(&stream) * count)]] += 1;
        if (!solve(&e, drawn, x)) continue;
        double tensor[9];
        find_tensor(x, mass, tensor);
        for (int k = 0; k < 6; k++) {
            const double away = k < 3 ? tensor[4 * k] - identification->inertia[k] : x[MOMENTS + k - 3] - identification->com[k - 3];
            sum[k] += away;
            square[k] += away * away;
        }
        solved++;
    }
    for (int k = 0; k < 6; k++) {
        const double n = (double)solved, deviation = n > 1 ? sqrt(fmax(square[k] - sum[k] * sum[k] / n, 0) / (n - 1)) : (double)NAN;
        *(k < 3 ? &identification->inertia_error[k] : &identification->com_error[k - 3]) = deviation;
    }
    carom_arena_free(&arena);
    return status;
}
