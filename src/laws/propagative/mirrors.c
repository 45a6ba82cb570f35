// SPDX-License-Identifier: Apache-2.0
// The mirrors of an impact: normals in the metric of M^-1, and the reflection that a single elastic impact is (Seghete & Murphey, eq. 7).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "laws/propagative/propagative_internal.h"

// Rows M^-1 w_i/|w_i| that differ by no more than this share of their largest entry are of one mirror. On the vectors, not on their cosine:
// 1 - cosine = 1e-12 would still be an angle of 1.4e-6, and outcomes would be wrong by as much.
#define EQUAL_NORMALS 1e-12
// Eigenvalues of the cosines below this share of the largest one are round-off of dependent normals.
#define DEPENDENT_NORMALS 1e-13
// Weights of the hash lie in [1, 2) and are spread by the golden ratio, so that sums of permuted momenta differ.
#define GOLDEN_FRACTION 0.6180339887498949

const char *const carom_word_set_names[] = {
    [CAROM_WORDS_ADMISSIBLE] = "admissible", [CAROM_WORDS_MINIMAL] = "minimal", [CAROM_WORDS_LITERAL] = "literal", NULL};

carom_word_limits carom_word_limits_defaults(void) {
    return (carom_word_limits){.max_states = 100000, .max_length = 1000000, .draws = 1000};
}

// ------------------------------------------------------------------------------------------------------------- mirrors

// |w_i|^2 and <w_i, w_j> stand in the Delassus operator, at the normals of the contacts.
static double normal_product(const carom_impact *impact, int i, int j) {
    const size_t stride = 1 + (size_t)carom_impact_get_data(impact)->tangent_dim, n = (size_t)carom_impact_contact_size(impact);
    return carom_impact_delassus(impact)[(size_t)i * stride * n + (size_t)j * stride];
}

// M^-1 w_i and M^-1 w_j are parallel, by EQUAL_NORMALS.
static bool same_normal(const carom_impact *impact, int i, int j) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t stride = (1 + (size_t)data->tangent_dim) * (size_t)data->nv;
    const double *a = carom_impact_response(impact) + (size_t)i * stride, *b = carom_impact_response(impact) + (size_t)j * stride;
    // In the scale of w_i: |w_i|/|w_j| times the other one.
    const double ratio = sqrt(normal_product(impact, i, i) / normal_product(impact, j, j));
    double largest = 0, difference = 0;
    for (int k = 0; k < data->nv; k++) {
        largest = fmax(largest, fabs(a[k]));
        difference = fmax(difference, fabs(a[k] - ratio * b[k]));
    }
    return difference <= EQUAL_NORMALS * largest;
}

// Fills the mirrors from the impact; all arrays are there.
static carom_status fill(carom_propagative *p, carom_error *error) {
    // Contacts with the same normal are one mirror.
    for (int i = 0; i < p->contacts; i++) {
        int mirror = 0;
        while (mirror < p->mirrors && !same_normal(p->impact, p->contact_of[mirror], i)) mirror++;
        p->mirror_of[i] = mirror;
        if (mirror == p->mirrors) p->contact_of[p->mirrors++] = i;
    }
    const size_t n = (size_t)p->mirrors, stride = 1 + (size_t)carom_impact_get_data(p->impact)->tangent_dim;

    // Lengths, cosines, and rates before the impact.
    double *u = malloc((size_t)carom_impact_contact_size(p->impact) * sizeof *u);
    if (!u) return carom_fail_memory(error, "propagative");
    carom_impact_contact_velocity(p->impact, carom_impact_get_data(p->impact)->velocity, u);
    for (size_t i = 0; i < n; i++) {
        p->length[i] = sqrt(normal_product(p->impact, p->contact_of[i], p->contact_of[i]));
        p->start[i] = u[(size_t)p->contact_of[i] * stride] / p->length[i];
    }
    free(u);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            p->cosine[i * n + j] =
                i == j ? 1 : normal_product(p->impact, p->contact_of[i], p->contact_of[j]) / (p->length[i] * p->length[j]);
    // No rate exceeds |p-|, but for contact velocities that the Delassus operator does not allow.
    p->scale = fmax(sqrt(2 * carom_impact_initial_energy(p->impact)), carom_max_abs(n, p->start));

    // C = V L V' gives the unit normals as rows of V L^1/2, and y = L^-1/2 V' s. Zero eigenvalues of dependent normals are left out.
    double *V = p->eigenvectors, *L = p->eigenvalues;
    memcpy(V, p->cosine, n * n * sizeof *V);
    const carom_status status = carom_symmetric_eigen(p->mirrors, V, L, error);
    size_t first = 0;
    while (!status && first + 1 < n && L[first] <= DEPENDENT_NORMALS * L[n - 1]) first++;
    p->rank = (int)(n - first);
    for (size_t k = first; !status && k < n; k++) {
        const double root = sqrt(L[k]);
        p->momentum[k - first] = carom_dot(p->mirrors, V + k * n, p->start) / root;
        for (size_t i = 0; i < n; i++) p->unit[i * (n - first) + k - first] = root * V[k * n + i];
    }
    return status;
}

carom_status carom_propagative_create(const carom_impact *impact, carom_propagative **propagative, carom_error *error) {
    *propagative = NULL;
    carom_propagative *p = calloc(1, sizeof *p);
    if (!p) return carom_fail_memory(error, "propagative");
    const size_t m = (size_t)carom_impact_get_data(impact)->contacts;
    p->impact = impact;
    p->contacts = (int)m;
    p->mirror_of = carom_arena_take(&p->arena, m, sizeof *p->mirror_of);
    p->contact_of = carom_arena_take(&p->arena, m, sizeof *p->contact_of);
    p->length = carom_arena_take(&p->arena, m, sizeof *p->length);
    p->cosine = carom_arena_take(&p->arena, m * m, sizeof *p->cosine);
    p->eigenvectors = carom_arena_take(&p->arena, m * m, sizeof *p->eigenvectors);
    p->eigenvalues = carom_arena_take(&p->arena, m, sizeof *p->eigenvalues);
    p->start = carom_arena_take(&p->arena, m, sizeof *p->start);
    p->unit = carom_arena_take(&p->arena, m * m, sizeof *p->unit);
    p->momentum = carom_arena_take(&p->arena, m, sizeof *p->momentum);
    p->weights = carom_arena_take(&p->arena, m, sizeof *p->weights);
    carom_status status = p->arena.failed ? carom_fail_memory(error, "propagative") : fill(p, error);
    if (!status) status = propagative_find_margin(p, error);
    if (status) {
        carom_propagative_free(p);
    } else {
        p->unique = propagative_is_unique(p);
        *propagative = p;
    }
    return status;
}

void carom_propagative_free(carom_propagative *p) {
    if (!p) return;
    carom_arena_free(&p->arena);
    free(p);
}

const carom_impact *carom_propagative_impact(const carom_propagative *p) { return p->impact; }
int carom_propagative_stands_for(const carom_propagative *p, int contact) { return p->contact_of[p->mirror_of[contact]]; }
double carom_propagative_margin(const carom_propagative *p) { return p->margin; }
const double *carom_propagative_weights(const carom_propagative *p) { return p->weights; }
bool carom_propagative_is_jammed(const carom_propagative *p) { return p->margin <= CAROM_JAMMED_MARGIN; }

// ---------------------------------------------------------------------------------------------------------- reflections

double propagative_rate(const carom_propagative *p, const double *momentum, int letter) {
    return carom_dot(p->rank, p->unit + (size_t)letter * (size_t)p->rank, momentum);
}

bool propagative_approaches(const carom_propagative *p, const double *momentum, int letter) {
    return propagative_rate(p, momentum, letter) < -CAROM_WORD_RATE_TOLERANCE * p->scale;
}

bool propagative_is_feasible(const carom_propagative *p, const double *momentum) {
    for (int i = 0; i < p->mirrors; i++)
        if (propagative_approaches(p, momentum, i)) return false;
    return true;
}

bool propagative_is_marginal(const carom_propagative *p, const double *momentum) {
    // Between the tolerance of a rate and that of equal momenta.
    for (int i = 0; i < p->mirrors; i++) {
        const double size = fabs(propagative_rate(p, momentum, i));
        if (size > CAROM_WORD_RATE_TOLERANCE * p->scale && size < CAROM_WORD_MERGE_TOLERANCE * p->scale) return true;
    }
    return false;
}

double propagative_reflect(const carom_propagative *p, double *momentum, int letter) {
    const double impulse = -2 * propagative_rate(p, momentum, letter), *unit = p->unit + (size_t)letter * (size_t)p->rank;
    for (int k = 0; k < p->rank; k++) momentum[k] += impulse * unit[k];
    return impulse;
}

void propagative_momentum_after(const carom_propagative *p, const double *impulse, double *momentum) {
    // y = y- + sum_i l_i u_i. Contacts of one mirror share their impulses.
    memcpy(momentum, p->momentum, (size_t)p->rank * sizeof *momentum);
    for (int i = 0; i < p->mirrors; i++) {
        const double size = impulse[p->contact_of[i]] * p->length[i], *unit = p->unit + (size_t)i * (size_t)p->rank;
        for (int k = 0; k < p->rank; k++) momentum[k] += size * unit[k];
    }
}

bool propagative_same(const carom_propagative *p, const double *a, const double *b) {
    for (int k = 0; k < p->rank; k++)
        if (!(fabs(a[k] - b[k]) <= CAROM_WORD_MERGE_TOLERANCE * p->scale)) return false;
    return true;
}

double propagative_key(const carom_propagative *p, const double *momentum) {
    // A weighted mean of the coordinates, in units of the merge tolerance.
    double sum = 0, weights = 0;
    for (int k = 0; k < p->rank; k++) {
        const double spread = GOLDEN_FRACTION * (k + 1), weight = 1 + spread - floor(spread);
        sum += weight * momentum[k];
        weights += weight;
    }
    return p->scale > 0 ? sum / (weights * CAROM_WORD_MERGE_TOLERANCE * p->scale) : 0;
}

// ------------------------------------------------------------------------------------------------- back to the contacts

carom_status propagative_hand_on(const carom_propagative *p, carom_elastic_outcome outcome, int *word, carom_elastic_visit visit,
                                 void *user, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(p->impact);
    const size_t nv = (size_t)data->nv, stride = 1 + (size_t)data->tangent_dim;
    // The word again, on the velocity.
    double *impulse = calloc((size_t)p->contacts + nv, sizeof *impulse), *v = impulse + p->contacts;
    if (!impulse) return carom_fail_memory(error, "word");
    memcpy(v, data->velocity, nv * sizeof *v);
    for (int64_t k = 0; k < outcome.min_length; k++) {
        const double length = p->length[word[k]];
        const size_t contact = (size_t)(word[k] = p->contact_of[word[k]]);
        // lambda = -2 vn / |w|^2, v += lambda M^-1 w. An impact in contact space has vn among its velocities.
        const double normal =
            carom_impact_has_system(p->impact) ? carom_dot(data->nv, data->normal + contact * nv, v) : v[contact * stride];
        const double step = -2 * normal / (length * length);
        const double *response = carom_impact_response(p->impact) + contact * stride * nv;
        for (size_t j = 0; j < nv; j++) v[j] += step * response[j];
        impulse[contact] += step;
    }
    outcome.impulse = impulse;
    outcome.witness = word;
    const carom_status status = visit(user, &outcome, error);
    free(impulse);
    return status;
}

carom_status propagative_resize(void **array, size_t count, size_t size, carom_error *error) {
    void *grown = realloc(*array, (count ? count : 1) * size);
    if (!grown) return carom_fail_memory(error, "words");
    *array = grown;
    return CAROM_OK;
}

carom_status carom_propagative_velocity(const carom_propagative *p, const double *impulse, double *velocity, carom_error *error) {
    const size_t n = (size_t)carom_impact_contact_size(p->impact), stride = n / (size_t)p->contacts;
    // Normal impulses at their places in contact space.
    double *whole = calloc(n, sizeof *whole);
    if (!whole) return carom_fail_memory(error, "propagative");
    for (size_t i = 0; i < (size_t)p->contacts; i++) whole[i * stride] = impulse[i];
    carom_impact_apply(p->impact, carom_impact_get_data(p->impact)->velocity, whole, velocity);
    free(whole);
    return CAROM_OK;
}

carom_status carom_propagative_enumerate(const carom_propagative *p, carom_word_set set, const carom_word_limits *limits,
                                         const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                         carom_error *error) {
    *verdict = CAROM_INCOMPLETE;
    if (carom_propagative_is_jammed(p))
        return carom_fail(error, CAROM_BAD_INPUT, "words need not end: the cone of feasible momenta is flat (its margin is %.3g)",
                          p->margin);
    // Admissible words share momenta in a graph; others are enumerated one by one.
    carom_status status = set == CAROM_WORDS_ADMISSIBLE
                              ? propagative_enumerate_graph(p, limits, control, visit, user, verdict, error)
                              : propagative_enumerate_minimal(p, set, limits, control, visit, user, verdict, error);
    if (status || *verdict != CAROM_INCOMPLETE) return status;
    // Admissible words that are too many are drawn.
    if (!p->unique)
        return set == CAROM_WORDS_ADMISSIBLE ? propagative_sample_orders(p, limits, control, visit, user, verdict, error) : status;

    // More words than the limits allow, and all lead to one outcome. Each letter of an admissible word takes the momentum
    // past one of the group's mirrors between it and the cone, and past no other: all these words have one length. They are the minimal
    // words, too, because the words of any longer way contain one of them. The first of all takes the first approaching contact each time.
    const carom_word_order first = {.kind = CAROM_ORDER_FIRST};
    carom_elastic_outcome outcome = {0};
    int *word;
    status = propagative_spell(p, &first, limits, control, &outcome, &word, verdict, error);
    outcome.count = CAROM_NO_INTEGER;
    if (!status && *verdict == CAROM_COMPLETE) status = propagative_hand_on(p, outcome, word, visit, user, error);
    if (*verdict == CAROM_BUDGET_SPENT) *verdict = CAROM_INCOMPLETE;
    free(word);
    return status;
}
