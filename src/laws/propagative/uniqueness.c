// SPDX-License-Identifier: Apache-2.0
// When all orders give one outcome. Two contacts: their wedge angle is pi/m (m = 2 and 3 are Theorems 2 and 3 of Seghete & Murphey). Any
// number: all wedge angles are of this form and the normals are independent; then the reflections generate a finite Coxeter group whose
// chamber is the cone of feasible momenta, and every orbit meets a chamber once.
#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "laws/propagative/propagative_internal.h"

// Least eigenvalue of the cosines from which the normals count as independent. Finite groups have 1 - cos(pi/h), 5e-6 for 1000 mirrors.
#define INDEPENDENT_NORMALS                      1e-9
#define CAROM_NAME(constant, name, sentence)     [constant] = name,
#define CAROM_SENTENCE(constant, name, sentence) [constant] = sentence,
static const char *const names[] = {CAROM_UNIQUENESS_LIST(CAROM_NAME)};
static const char *const sentences[] = {CAROM_UNIQUENESS_LIST(CAROM_SENTENCE)};

const char *carom_uniqueness_name(carom_uniqueness_verdict verdict) { return names[verdict]; }
const char *carom_uniqueness_sentence(carom_uniqueness_verdict verdict) { return sentences[verdict]; }

// ------------------------------------------------------------------------------------------------- for all velocities

propagative_wedge propagative_find_wedge(double cosine) {
    const double angle = acos(fmax(-1, fmin(1, -cosine))), order = fmax(2, round(PI / angle));
    return (propagative_wedge){angle, order, fabs(angle - PI / order)};
}

bool propagative_is_unique(const carom_propagative *p) {
    if (!(p->eigenvalues[0] > INDEPENDENT_NORMALS) || carom_propagative_is_jammed(p)) return false;
    for (int i = 0; i < p->mirrors; i++)
        for (int j = 0; j < i; j++)
            if (!(propagative_find_wedge(p->cosine[(size_t)i * (size_t)p->mirrors + (size_t)j]).defect <= CAROM_UNIQUE_TOLERANCE))
                return false;
    return true;
}

// ----------------------------------------------------------------------------------------------- for this velocity

// Momenta of the outcomes, as they come.
typedef struct collection {
    propagative_places places;
    double *momentum;  // [rank], scratch
} collection;

static carom_status collect(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    collection *found = user;
    int place;
    propagative_momentum_after(found->places.p, outcome->impulse, found->momentum);
    return propagative_places_add(&found->places, found->momentum, &place, error);
}

// Counts outcomes and nothing else.
static carom_status count_outcome(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    (void)outcome;
    (void)error;
    ++*(int64_t *)user;
    return CAROM_OK;
}

// The verdict for this impact from its words: how many outcomes they have, and how far apart.
static carom_status study_words(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                carom_uniqueness *u, carom_error *error) {
    collection found = {.places.p = p, .momentum = malloc((size_t)p->rank * sizeof(double) + 1)};
    if (!found.momentum) return carom_fail_memory(error, "uniqueness");
    carom_verdict verdict;
    carom_status status = carom_propagative_enumerate(p, CAROM_WORDS_ADMISSIBLE, limits, control, collect, &found, &verdict, error);
    const int count = found.places.count;
    if (!status) u->difference = propagative_spread(&found.places);
    propagative_places_free(&found.places);
    free(found.momentum);
    u->outcomes = count;
    u->complete = verdict == CAROM_COMPLETE;
    u->sampled = u->complete ? 0 : limits->draws + 2;
    u->verdict = count > 1 ? CAROM_UNIQUE_NOT : u->complete ? CAROM_UNIQUE_HERE : CAROM_UNIQUE_UNKNOWN;
    if (status || u->verdict != CAROM_UNIQUE_NOT) return status;

    // Orders differ: do minimal words, too?
    int64_t minimal = 0;
    status = carom_propagative_enumerate(p, CAROM_WORDS_MINIMAL, limits, control, count_outcome, &minimal, &verdict, error);
    if (verdict != CAROM_COMPLETE) return status;
    u->minimal = minimal;
    if (minimal == 1) u->verdict = CAROM_UNIQUE_MINIMAL;
    return status;
}

// ------------------------------------------------------------------------------------------------------------ together

void carom_uniqueness_free(carom_uniqueness *u) {
    if (!u) return;
    // All matrices are one block, which starts with the cosines.
    free(u->cosine);
    free(u);
}

carom_status carom_propagative_uniqueness(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                          carom_uniqueness **uniqueness, carom_error *error) {
    const size_t m = (size_t)p->contacts, n = (size_t)p->mirrors, size = m * m;
    *uniqueness = NULL;
    carom_uniqueness *u = calloc(1, sizeof *u);
    double *block = calloc(4 * size, sizeof *block);
    if (!u || !block) {
        free(u);
        free(block);
        return carom_fail_memory(error, "uniqueness");
    }
    *u = (carom_uniqueness){.contacts = (int)m,
                            .cosine = block,
                            .wedge_angle = block + size,
                            .defect = block + 2 * size,
                            .order = block + 3 * size,
                            .margin = p->margin,
                            .minimal = -1,
                            .difference = NAN};

    // Angles of all pairs of contacts.
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            const size_t at = i * m + j;
            const int a = p->mirror_of[i], b = p->mirror_of[j];
            u->cosine[at] = p->cosine[(size_t)a * n + (size_t)b];
            // One mirror with itself: the order of Coxeter's matrix is 1.
            const propagative_wedge wedge =
                a == b ? (propagative_wedge){.angle = i == j ? 0 : PI, .order = 1} : propagative_find_wedge(u->cosine[at]);
            u->wedge_angle[at] = wedge.angle;
            u->order[at] = wedge.order;
            u->defect[at] = wedge.defect;
        }

    carom_status status = CAROM_OK;
    if (carom_propagative_is_jammed(p)) {
        u->verdict = CAROM_UNIQUE_JAMMED;
    } else {
        // Two mirrors have a closed form, unless they are parallel.
        if (p->mirrors == 2) {
            const double rates[2] = {p->scale > 0 ? p->start[0] / p->scale : 0, p->scale > 0 ? p->start[1] / p->scale : 0};
            u->has_pair = !carom_two_contacts_solve(p->cosine[1], rates, &u->pair, NULL);
        }
        // Coxeter's condition for all velocities; otherwise the words of this one.
        if (p->unique) {
            u->verdict = CAROM_UNIQUE_ALWAYS;
            u->outcomes = u->minimal = 1;
            u->difference = 0;
            u->complete = true;
        } else {
            status = study_words(p, limits, control, u, error);
        }
    }
    if (status)
        carom_uniqueness_free(u);
    else
        *uniqueness = u;
    return status;
}
