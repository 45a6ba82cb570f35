// SPDX-License-Identifier: Apache-2.0
// The floor: how near any impulse at the contacts can come to the measured outcome.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure_internal.h"

// Solves min |sum_k x_k row_k - b| over x >= 0 by the active sets of Lawson & Hanson (1974, chapter 23); returns the least distance.
// Columns that enter are independent, so that there are never more than `nv` of them.
static carom_status find_distance(int count, int nv, const double *rows, const double *b, double *distance, carom_error *error) {
    carom_arena arena = {0};
    double *x = carom_arena_take(&arena, (size_t)count, sizeof *x), *rest = carom_arena_take(&arena, (size_t)nv, sizeof *rest);
    double *gram = carom_arena_take(&arena, (size_t)nv * (size_t)nv, sizeof *gram), *s = carom_arena_take(&arena, (size_t)nv, sizeof *s);
    int *active = carom_arena_take(&arena, (size_t)nv, sizeof *active);
    const carom_status status = arena.failed ? carom_fail_memory(error, "floor") : CAROM_OK;
    const double size = sqrt(carom_dot(nv, b, b));
    int used = 0;
    if (!status) memcpy(rest, b, (size_t)nv * sizeof *rest);
    // Each round lowers the distance; the limit only guards against rounding.
    bool improves = true;
    for (int round = 0; !status && improves && round < 3 * count + 10 && used < nv; round++) {
        // The edge that the rest leans towards most enters.
        int entering = -1;
        double most = MEASURE_RANK * size;
        for (int k = 0; k < count; k++) {
            const double length = sqrt(carom_dot(nv, rows + k * nv, rows + k * nv));
            const double gain = length > 0 ? carom_dot(nv, rows + k * nv, rest) / length : 0;
            if (x[k] == 0 && gain > most) {
                most = gain;
                entering = k;
            }
        }
        if (entering < 0) break;
        active[used++] = entering;
        for (bool done = false; !done && improves;) {
            // The unconstrained solution over the active edges; an edge that depends on the others adds nothing.
            for (int i = 0; i < used; i++) {
                for (int j = 0; j < used; j++) gram[i * used + j] = carom_dot(nv, rows + active[i] * nv, rows + active[j] * nv);
                s[i] = carom_dot(nv, rows + active[i] * nv, b);
            }
            improves = !carom_cholesky_factor(used, gram);
            if (!improves) {
                used--;
                break;
            }
            carom_cholesky_forward(used, gram, s);
            carom_cholesky_backward(used, gram, s);
            // As far towards it as no weight becomes negative; the edge whose weight vanishes first leaves.
            double reach = 1;
            int leaving = -1;
            for (int i = 0; i < used; i++) {
                const double share = s[i] <= 0 ? x[active[i]] / (x[active[i]] - s[i]) : 1;
                if (s[i] > 0 || share > reach) continue;
                reach = share;
                leaving = i;
            }
            int kept = 0;
            for (int i = 0; i < used; i++) {
                const int k = active[i];
                x[k] = i == leaving ? 0 : fmax(x[k] + reach * (s[i] - x[k]), 0);
                if (x[k] > 0) active[kept++] = k;
            }
            done = leaving < 0;
            improves = kept > 0 && (done || reach > 0);
            used = kept;
        }
        memcpy(rest, b, (size_t)nv * sizeof *rest);
        for (int i = 0; i < used; i++)
            for (int k = 0; k < nv; k++) rest[k] -= x[active[i]] * rows[active[i] * nv + k];
    }
    *distance = status ? (double)NAN : sqrt(carom_dot(nv, rest, rest));
    carom_arena_free(&arena);
    return status;
}

// The impulse p of a single contact that comes nearest in the metric of M, W p = J (v+ - v-), as restitution and friction.
static void estimate_parameters(const carom_measurement *measurement, carom_measure_floor *floor) {
    const carom_impact_data *data = carom_impact_get_data(measurement->impact);
    const int n = 1 + data->tangent_dim;
    double W[9], before[3], after[3], p[3], null_vectors[9];
    int exchanges[3];
    carom_impact_contact_velocity(measurement->impact, data->velocity, before);
    carom_impact_contact_velocity(measurement->impact, measurement->after, after);
    memcpy(W, carom_impact_delassus(measurement->impact), (size_t)(n * n) * sizeof *W);
    for (int i = 0; i < n; i++) p[i] = after[i] - before[i];
    if (before[0] < 0) floor->restitution = -after[0] / before[0];
    if (carom_solve_general(n, W, p, MEASURE_RANK, null_vectors, exchanges) == n && p[0] > 0)
        floor->friction = hypot(p[1], n == 3 ? p[2] : 0) / p[0];
}

carom_status carom_measure_find_floor(const carom_measurement *measurement, double friction, int edges, carom_measure_floor *floor,
                                      carom_error *error) {
    *floor = (carom_measure_floor){NAN, NAN, NAN, NAN};
    const carom_impact_data *data = carom_impact_get_data(measurement->impact);
    const int n = carom_impact_contact_size(measurement->impact);
    measure_frame frame;
    int used_edges;
    carom_status status = carom_impact_cone_edges(measurement->impact, edges, &used_edges, error);
    if (status) return status;
    status = measure_frame_make(measurement, measurement->metric, &frame, error);
    if (status) return status;
    const size_t nv = (size_t)frame.nv, rows_count = (size_t)data->contacts * (size_t)used_edges;
    double *responses = carom_arena_take(&frame.arena, (size_t)n * nv, sizeof *responses);
    double *spare = carom_arena_take(&frame.arena, (size_t)n * nv, sizeof *spare);
    double *rows = carom_arena_take(&frame.arena, rows_count * nv, sizeof *rows);
    double *basis = carom_arena_take(&frame.arena, nv * nv, sizeof *basis);
    double *change = carom_arena_take(&frame.arena, nv, sizeof *change), *rest = carom_arena_take(&frame.arena, nv, sizeof *rest);
    if (frame.arena.failed) status = carom_fail_memory(error, "floor");
    if (!status) {
        // Any impulse: the part of the change of velocity that is orthogonal to all directions of the contacts.
        for (size_t k = 0; k < nv; k++) rest[k] = change[k] = frame.after[k] - frame.before[k];
        measure_responses(measurement, &frame, responses);
        memcpy(spare, responses, (size_t)n * nv * sizeof *spare);
        const int rank = measure_basis(n, frame.nv, spare, basis);
        for (int i = 0; i < rank; i++) {
            const double share = carom_dot(frame.nv, basis + i * frame.nv, rest);
            for (size_t k = 0; k < nv; k++) rest[k] -= share * basis[(size_t)i * nv + k];
        }
        floor->any = sqrt(carom_dot(frame.nv, rest, rest)) / frame.scale;
        // Impulses within the cones.
        const int count = measure_cone_edges(measurement, responses, friction, used_edges, rows);
        status = find_distance(count, frame.nv, rows, change, &floor->cone, error);
        floor->cone = fmax(floor->cone / frame.scale, floor->any);
        if (data->contacts == 1) estimate_parameters(measurement, floor);
    }
    carom_arena_free(&frame.arena);
    return status;
}
