// SPDX-License-Identifier: Apache-2.0
// The least interval of restitution whose set holds a share of the measured outcomes.
//
// A member of the set with every e_i in [0, 1], whose contacts drew coefficients between a and b, is a member of the set with every e_i in
// [lo, hi] if lo <= a and b <= hi. So walks are drawn once: an interval holds an outcome, within the tolerance, if one of the walks that
// end near enough has lo <= a and b <= hi, and one that is wider never holds less.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure_internal.h"

// Coefficients in steps of a hundredth, a rounded down and b up.
enum { STEPS = 100, PLACES = STEPS + 1, NEVER = STEPS + 1 };

// Of four contacts that draw from [0, 1], hardly any four coefficients lie close together: so walks draw from windows of the widths 1, 1/2,
// 1/4 and 1/8, each half-way over its neighbour. Each takes a quarter of the law's samples: an interval of width 0.3 holds as many in all.
enum { WIDTHS = 4, WINDOW_SHARE = 4 };

// Of more intervals of the least width, so many are scored, evenly spread.
enum { MOST_TIED = 8 };

// Outcomes are counted: a share that is met up to rounding is met.
#define ROUNDING 1e-9

typedef int64_t histogram[PLACES][PLACES];

typedef struct search {
    const carom_measure_interval_request *request;
    bool interrupted;
    unsigned char (*least_most)[PLACES];  // [chosen] the least hi with which [lo, hi] holds the outcome, for each lo; NEVER
    histogram *slots, members;            // of a and b: of one impact on its way, and of all
    carom_interval scored;                // the interval that is scored
    double *scores, *weights;             // [chosen] its energy scores; how often the group of each impact was drawn
} search;

// ------------------------------------------------------------------------------------------------------------- the walks

static carom_status draw_windows(const search *s, int index, carom_measure_set *set, carom_error *error) {
    const carom_measure_law *law = s->request->law;
    double friction[CAROM_MEASURE_FRICTIONS];
    const int frictions = measure_frictions(law, friction);
    carom_status status = CAROM_OK;
    int number = 0;
    for (int level = 0; level < WIDTHS; level++) {
        const int parts = 1 << level;
        for (int place = 0; place <= 2 * (parts - 1); place++)
            for (int k = 0; k < frictions && !status && !carom_control_cancelled(s->request->control); k++, number++) {
                const measure_question question = {.friction = friction[k],
                                                   .restitution = {0.5 * place / parts, (0.5 * place + 1) / parts},
                                                   .seed = measure_seed(law, index, number),
                                                   .shares = WINDOW_SHARE * frictions};
                status = measure_ask_once(law, &s->request->measurements->list[index], &question, s->request->control, set, error);
            }
    }
    return status;
}

// Which intervals hold the outcome of one impact, and how many walks are in each.
static carom_status compute(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)worker;
    search *s = user;
    const int index = s->request->chosen[block];
    const carom_measurement *measurement = &s->request->measurements->list[index];
    unsigned char *least_most = s->least_most[block];
    memset(least_most, NEVER, PLACES);
    memset(s->slots[slot], 0, sizeof s->slots[slot]);
    carom_measure_set set = {.nv = carom_impact_get_data(measurement->impact)->nv};
    measure_frame frame;
    carom_status status = measure_frame_make(measurement, measurement->metric, &frame, error);
    if (status) return status;
    double *y = carom_arena_take(&frame.arena, (size_t)set.nv, sizeof *y);
    if (!y) status = carom_fail_memory(error, "restitution");
    if (!status) status = draw_windows(s, index, &set, error);
    for (int64_t i = 0; i < set.count && !status; i++) {
        // A walk that compressed no contact is in every set.
        const carom_interval drawn = set.origins[i].restitution;
        const int a = isnan(drawn.least) ? STEPS : (int)floor(drawn.least * STEPS),
                  b = isnan(drawn.most) ? 0 : (int)ceil(drawn.most * STEPS);
        s->slots[slot][a][b]++;
        measure_whiten(&frame, set.members + i * set.nv, y);
        for (int k = 0; k < set.nv; k++) y[k] -= frame.after[k];
        if (sqrt(carom_dot(set.nv, y, y)) > s->request->tolerance * frame.scale) continue;
        for (int low = 0; low <= a; low++) {
            const int high = b > low ? b : low;
            if (high < least_most[low]) least_most[low] = (unsigned char)high;
        }
    }
    carom_measure_set_free(&set);
    carom_arena_free(&frame.arena);
    return status;
}

static carom_status deliver(void *user, int slot, int64_t block, carom_error *error) {
    (void)block, (void)error;
    search *s = user;
    for (int a = 0; a < PLACES; a++)
        for (int b = 0; b < PLACES; b++) s->members[a][b] += s->slots[slot][a][b];
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------- the least interval

// All intervals [lows[i], lows[i] + width] of the least width that hold the share of the weight, or as much as [0, 1] holds.
// @return their number; 0 where nothing is held
static int find_least(const search *s, double share, int lows[PLACES], int *width) {
    double total = 0, reachable = 0;
    for (int i = 0; i < s->request->count; i++) {
        total += s->weights[i];
        if (s->least_most[i][0] <= STEPS) reachable += s->weights[i];
    }
    if (!(reachable > 0)) return 0;
    const double needed = fmin(share * total, reachable) - ROUNDING * total;
    int count = 0;
    *width = NEVER;
    for (int low = 0; low < PLACES; low++) {
        double held[PLACES + 1] = {0}, sum = 0;
        for (int i = 0; i < s->request->count; i++) held[s->least_most[i][low]] += s->weights[i];
        int high = 0;
        while (high <= STEPS && (sum += held[high]) < needed) high++;
        if (high > STEPS || high - low > *width) continue;
        if (high - low < *width) count = 0;
        *width = high - low;
        lows[count++] = low;
    }
    return count;
}

static carom_interval make_interval(int low, int width) { return (carom_interval){(double)low / STEPS, (double)(low + width) / STEPS}; }

// The energy score of the set with the interval that is scored.
static carom_status score(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)worker, (void)slot;
    search *s = user;
    const int index = s->request->chosen[block];
    const carom_measurement *measurement = &s->request->measurements->list[index];
    carom_measure_law law = *s->request->law;
    law.restitution = s->scored;
    carom_measure_set set;
    carom_measure_score found;
    carom_status status = carom_measure_ask(&law, measurement, index, NULL, s->request->control, &set, error);
    if (status) return status;
    status = carom_measure_score_set(measurement, set.members, set.count, true, &found, error);
    s->scores[block] = found.energy;
    carom_measure_set_free(&set);
    return status;
}

static carom_status ignore(void *user, int slot, int64_t block, carom_error *error) {
    (void)user, (void)slot, (void)block, (void)error;
    return CAROM_OK;
}

static carom_status run_loop(search *s, bool scores, carom_error *error) {
    carom_control quiet = {0};
    if (s->request->control) quiet = *s->request->control;
    quiet.progress = NULL;
    const carom_loop loop = {
        .blocks = s->request->count, .user = s, .compute = scores ? score : compute, .deliver = scores ? ignore : deliver};
    int64_t delivered = 0;
    const carom_status status = carom_loop_run(&loop, &quiet, carom_control_workers(&quiet), &delivered, error);
    s->interrupted = s->interrupted || (!status && delivered < loop.blocks);
    return status;
}

// Of several intervals of one width, that of the least mean energy score.
static carom_status choose_scored(search *s, int count, const int *lows, int width, int *chosen, carom_error *error) {
    const int tried = count < MOST_TIED ? count : MOST_TIED;
    double least = INFINITY;
    carom_status status = CAROM_OK;
    *chosen = lows[count / 2];
    for (int k = 0; k < tried && tried > 1 && !status && !s->interrupted; k++) {
        const int low = lows[k * (count - 1) / (tried - 1)];
        s->scored = make_interval(low, width);
        status = run_loop(s, true, error);
        double sum = 0;
        int scored = 0;
        for (int i = 0; i < s->request->count && !status; i++) {
            if (isnan(s->scores[i])) continue;
            sum += s->scores[i];
            scored++;
        }
        if (!scored || !(sum / scored < least)) continue;
        least = sum / scored;
        *chosen = low;
    }
    return status;
}

// Standard deviations of both ends over resampled groups; of intervals of one width, the one next to that which was found.
static carom_status resample(search *s, int chosen, int width, carom_measure_interval *found, carom_error *error) {
    const carom_measure_interval_request *request = s->request;
    measure_bootstrap bootstrap;
    carom_status status = measure_bootstrap_begin(&bootstrap, request->measurements, request->chosen, request->count, error);
    double sum[2] = {0}, square[2] = {0};
    int64_t drawn = 0;
    for (int64_t draw = 0; draw < request->draws && !status; draw++) {
        int lows[PLACES], its_width = 0, nearest = 0;
        measure_bootstrap_draw(&bootstrap, request->law->seed, draw, s->weights);
        const int count = find_least(s, request->share, lows, &its_width);
        if (!count) continue;
        drawn++;
        for (int i = 1; i < count; i++)
            if (abs(lows[i] - chosen) < abs(lows[nearest] - chosen)) nearest = i;
        const double away[2] = {(double)(lows[nearest] - chosen) / STEPS, (double)(lows[nearest] + its_width - chosen - width) / STEPS};
        for (int k = 0; k < 2; k++) {
            sum[k] += away[k];
            square[k] += away[k] * away[k];
        }
    }
    carom_arena_free(&bootstrap.arena);
    const double n = (double)drawn;
    if (status || drawn < 2) return status;
    found->least_error = sqrt(fmax(square[0] - sum[0] * sum[0] / n, 0) / (n - 1));
    found->most_error = sqrt(fmax(square[1] - sum[1] * sum[1] / n, 0) / (n - 1));
    return CAROM_OK;
}

carom_status carom_measure_fit_interval(const carom_measure_interval_request *request, carom_measure_interval *found, carom_error *error) {
    *found = (carom_measure_interval){.restitution = {NAN, NAN}, .least_error = NAN, .most_error = NAN, .contained = NAN, .reachable = NAN};
    if (!carom_measure_draws_restitution(request->law))
        return carom_fail(error, CAROM_BAD_INPUT, "restitution: the law '%s' does not draw it from an interval", request->law->law->name);
    carom_control quiet = {0};
    if (request->control) quiet = *request->control;
    carom_arena arena = {0};
    const size_t count = (size_t)request->count;
    search s = {.request = request};
    s.least_most = carom_arena_take(&arena, count + 1, sizeof *s.least_most);
    s.slots = carom_arena_take(&arena, (size_t)carom_loop_slots(carom_control_workers(&quiet)), sizeof *s.slots);
    s.scores = carom_arena_take(&arena, count + 1, sizeof *s.scores);
    s.weights = carom_arena_take(&arena, count + 1, sizeof *s.weights);
    carom_status status = arena.failed ? carom_fail_memory(error, "restitution") : run_loop(&s, false, error);
    int lows[PLACES], width = 0, chosen = 0;
    if (!status && !s.interrupted) {
        for (size_t i = 0; i < count; i++) s.weights[i] = 1;
        found->tied = find_least(&s, request->share, lows, &width);
    }
    if (!status && found->tied) status = choose_scored(&s, found->tied, lows, width, &chosen, error);
    if (!status && found->tied && !s.interrupted) {
        int held = 0, held_by_all = 0;
        int64_t members = 0;
        for (size_t i = 0; i < count; i++) {
            held += s.least_most[i][chosen] <= chosen + width;
            held_by_all += s.least_most[i][0] <= STEPS;
        }
        for (int a = chosen; a < PLACES; a++)
            for (int b = 0; b <= chosen + width; b++) members += s.members[a][b];
        found->restitution = make_interval(chosen, width);
        found->contained = (double)held / (double)request->count;
        found->reachable = (double)held_by_all / (double)request->count;
        found->members = (double)members / (double)request->count;
        if (request->draws > 0) status = resample(&s, chosen, width, found, error);
    }
    if (!status && !found->tied && count) found->contained = found->reachable = 0;
    found->finished = !status && !s.interrupted;
    carom_arena_free(&arena);
    return status;
}
