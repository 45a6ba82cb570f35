// SPDX-License-Identifier: Apache-2.0
// Restitution of several contacts: the work that compression stores, or the impulse that it owes, and when that is spent.
#include "reach/rebound.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// Poisson's contacts at n_i = 0 owe more, pay back, or do any of what lies between: the extremes reach the ends of the set.
#define EXTREME 0.8

const char *const carom_hypothesis_names[] = {
    [CAROM_HYPOTHESIS_NONE] = "none", [CAROM_HYPOTHESIS_STRONGE] = "stronge", [CAROM_HYPOTHESIS_POISSON] = "poisson", NULL};

carom_status carom_rebound_create(const carom_impact *impact, const carom_rebound_options *options, carom_rebound **rebound,
                                  carom_error *error) {
    *rebound = NULL;
    if (options->hypothesis < CAROM_HYPOTHESIS_NONE || options->hypothesis > CAROM_HYPOTHESIS_POISSON)
        return carom_fail(error, CAROM_BAD_INPUT, "hypothesis: %d is none of carom_hypothesis", options->hypothesis);
    const carom_interval e = options->restitution;
    if (!isnan(e.least) && !(e.least >= 0 && e.least <= e.most && e.most <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "restitution: %g:%g is not an interval within 0 and 1", e.least, e.most);
    carom_rebound *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "restitution");
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t contacts = (size_t)data->contacts;
    *made = (carom_rebound){.hypothesis = (carom_hypothesis)options->hypothesis,
                            .contacts = data->contacts,
                            .stride = 1 + data->tangent_dim,
                            .impact = impact,
                            .interval = e};
    made->restitution = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->stored = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->rate = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->spent = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->record = carom_arena_take(&made->arena, CAROM_REBOUND_FIELDS * contacts, sizeof(double));
    made->compressing = carom_arena_take(&made->arena, contacts, sizeof(bool));
    if (made->arena.failed) {
        carom_rebound_free(made);
        return carom_fail_memory(error, "restitution");
    }
    *rebound = made;
    return CAROM_OK;
}

void carom_rebound_free(carom_rebound *rebound) {
    if (!rebound) return;
    carom_arena_free(&rebound->arena);
    free(rebound);
}

void carom_rebound_begin(carom_rebound *r, carom_numbers *numbers) {
    const size_t contacts = (size_t)r->contacts;
    const double *of_impact = carom_impact_get_data(r->impact)->restitution;
    memset(r->stored, 0, contacts * sizeof *r->stored);
    memset(r->record, 0, CAROM_REBOUND_FIELDS * contacts * sizeof *r->record);
    memset(r->compressing, 0, contacts * sizeof *r->compressing);
    for (int i = 0; i < r->contacts; i++) {
        // A number draws nothing: the solutions of a law without an interval are those of the same streams.
        const double width = r->interval.most - r->interval.least;
        r->restitution[i] = r->hypothesis == CAROM_HYPOTHESIS_NONE ? 0
                            : isnan(r->interval.least)             ? of_impact[i]
                            : width > 0 ? r->interval.least + width * carom_numbers_take(numbers, CAROM_TAPE_RESTITUTION, i)
                                        : r->interval.least;
        // e^2 of which nothing is left in a double gives nothing back.
        if (r->restitution[i] * r->restitution[i] < DBL_MIN) r->restitution[i] = 0;
        r->record[CAROM_REBOUND_FIELDS * i + CAROM_REBOUND_RESTITUTION] = r->restitution[i];
    }
    r->elastic = carom_max_abs(contacts, r->restitution) > 0;
}

double carom_rebound_event(carom_rebound *r, const double *u, const double *du, const double *p, carom_numbers *numbers) {
    double first = INFINITY;
    for (int i = 0; i < r->contacts; i++) {
        const double n = u[r->stride * i], d = du[r->stride * i], weight = p[r->stride * i], e = r->restitution[i];
        r->spent[i] = INFINITY;
        r->rate[i] = 0;
        if (!(weight > 0) || e == 0) continue;
        if (r->hypothesis == CAROM_HYPOTHESIS_STRONGE && r->stored[i] > 0 && (n > 0 || (n == 0 && d > 0))) {
            // lambda (n s + d s^2/2) = e^2 E. Without a real root n falls to 0 before.
            const double work = e * e * r->stored[i] / weight, radicand = n * n + 2 * d * work;
            if (radicand >= 0) r->spent[i] = 2 * work / (n + sqrt(radicand));
        }
        if (r->hypothesis == CAROM_HYPOTHESIS_POISSON) {
            r->rate[i] = n < 0 || (n == 0 && d < 0) ? e * weight : -weight;
            if (n == 0 && d == 0) {
                const double draw = carom_numbers_take(numbers, CAROM_TAPE_EXTREME, i);
                const double share = carom_numbers_take(numbers, CAROM_TAPE_SHARE, i);
                r->rate[i] = draw < EXTREME / 2 ? e * weight : draw < EXTREME ? -weight : weight * (share * (1 + e) - 1);
            }
            // What is not there cannot be paid.
            if (!(r->stored[i] > 0)) r->rate[i] = fmax(r->rate[i], 0);
            if (r->rate[i] < 0) r->spent[i] = r->stored[i] / -r->rate[i];
        }
        if (r->spent[i] < first) first = r->spent[i];
    }
    return first;
}

double carom_rebound_advance(carom_rebound *r, const double *mean, const double *p, double length) {
    double change = 0;
    for (int i = 0; i < r->contacts; i++) {
        const double weight = p[r->stride * i], e = r->restitution[i];
        if (!(weight > 0)) continue;
        // The work that the normal impulse takes from the bodies: n keeps its sign on a piece.
        const double work = -weight * mean[i] * length, before = r->stored[i];
        double *record = r->record + CAROM_REBOUND_FIELDS * i;
        if (work > 0) {
            if (!r->compressing[i]) record[CAROM_REBOUND_COMPRESSIONS]++;
            record[CAROM_REBOUND_STORED] += work;
        } else {
            record[CAROM_REBOUND_RESTORED] -= work;
        }
        if (work != 0) r->compressing[i] = work > 0;
        if (e == 0) continue;
        if (r->hypothesis == CAROM_HYPOTHESIS_STRONGE) r->stored[i] += work > 0 ? work : work / (e * e);
        if (r->hypothesis == CAROM_HYPOTHESIS_POISSON) r->stored[i] += r->rate[i] * length;
        // A contact that has given all back has nothing, whatever rounding left.
        if (length >= r->spent[i] || r->stored[i] < 0) r->stored[i] = 0;
        if (r->hypothesis == CAROM_HYPOTHESIS_STRONGE) change += e * e * (r->stored[i] - before);
    }
    return change;
}
