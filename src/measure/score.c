// SPDX-License-Identifier: Apache-2.0
// How a set stands to the measured outcome: nearest member, radius, energy score.
#include <math.h>

#include "carom/stream.h"
#include "measure/measure_internal.h"

// All pairs of up to 4000 members.
#define MOST_MEMBERS 4000
#define MOST_PAIRS   ((int64_t)MOST_MEMBERS * MOST_MEMBERS)

static double distance(int nv, const double *x, const double *y) {
    double sum = 0;
    for (int k = 0; k < nv; k++) sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sqrt(sum);
}

// The order in which members are paired. More of them than are paired each with each are shuffled (Fisher & Yates), by a stream of their
// own: members come sorted by friction or by sample, and neighbours in the set are nearer to each other than others.
static void choose_order(int64_t count, int64_t *order) {
    for (int64_t i = 0; i < count; i++) order[i] = i;
    if (count <= MOST_MEMBERS) return;
    carom_stream stream;
    carom_stream_start_use(&stream, 0, UINT64_MAX, CAROM_STREAM_MEASURE);
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t k = (int64_t)(carom_stream_uniform(&stream) * (double)(i + 1)), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

carom_status carom_measure_score_set(const carom_measurement *measurement, const double *members, int64_t count, bool drawn,
                                     carom_measure_score *score, carom_error *error) {
    *score = (carom_measure_score){.members = count, .nearest = -1, .error = NAN, .radius = NAN, .energy = NAN};
    if (!count) return CAROM_OK;
    measure_frame frame;
    carom_status status = measure_frame_make(measurement, measurement->metric, &frame, error);
    if (status) return status;
    const int nv = frame.nv;
    double *y = carom_arena_take(&frame.arena, (size_t)count * (size_t)nv, sizeof *y);
    double *mean = carom_arena_take(&frame.arena, (size_t)nv, sizeof *mean);
    int64_t *order = carom_arena_take(&frame.arena, (size_t)count, sizeof *order);
    if (frame.arena.failed) status = carom_fail_memory(error, "score");
    if (!status) {
        double to_measured = 0, least = INFINITY;
        for (int64_t i = 0; i < count; i++) {
            measure_whiten(&frame, members + i * nv, y + i * nv);
            for (int k = 0; k < nv; k++) mean[k] += y[i * nv + k] / (double)count;
            const double away = distance(nv, y + i * nv, frame.after);
            to_measured += away;
            // Distances that are no numbers, or overflow, are never the least.
            if (!(away < least)) continue;
            least = away;
            score->nearest = i;
        }
        // E|x - x'| of a distribution that the members are draws of is the mean over pairs of different members (Gneiting & Raftery 2007,
        // section 4.3). Members that are all there is are equally probable, and x' is x in one pair of `count`. Of large sets each member
        // is paired with those before it in a window of the shuffled order. Rows are summed one by one, so that the sum of millions keeps
        // its digits.
        choose_order(count, order);
        const int64_t window = MOST_PAIRS / count;
        double between = 0, radius = 0, pairs = 0;
        for (int64_t i = 0; i < count; i++) {
            double row = 0;
            for (int64_t j = i > window ? i - window : 0; j < i; j++, pairs++) row += distance(nv, y + order[i] * nv, y + order[j] * nv);
            between += row;
            radius = fmax(radius, distance(nv, y + i * nv, mean));
        }
        score->error = score->nearest < 0 ? (double)NAN : least / frame.scale;
        score->radius = radius / frame.scale;
        const double apart = count > 1 ? between / pairs * (drawn ? 1 : (double)(count - 1) / (double)count) : 0;
        score->energy = (to_measured / (double)count - apart / 2) / frame.scale;
    }
    carom_arena_free(&frame.arena);
    return status;
}
