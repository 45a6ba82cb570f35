// SPDX-License-Identifier: Apache-2.0
// Is v' unique for every capped step of an impact?
//
// With caps c, a contact's impulse and velocity after the step are continuous functions of n = 1 + dim free numbers (r, s): lam_n =
// clip(r, 0, c), lam_t = the point of the polygon mu lam_n conv D next to s, u' = lambda - (r, s). So a step asks for (r, s) with
// F(r, s) = u'(r, s) - W lambda(r, s) = u. F is piecewise linear, and as lambda is bounded it is proper and of the degree of -1. On the
// piece of one combination of contact modes its determinant is, up to a common sign, that of A = S W T: T are the impulses that the modes
// leave free, S the velocities that they stop. If det A > 0 on all pieces, F is open and takes every value once (Scholtes 2012,
// section 2.3: coherent orientation): v' is unique. If det A < 0 on some piece, there are steps with three solutions.
//
// Redundant contacts have pieces with det A = 0. Let W_e = W + e D with a positive diagonal D. Where det(S W_e T) > 0 for all small e > 0,
// solutions of the step with W_e are unique. Two solutions lambda, lambda* of a step with W solve that with W_e for u - e D lambda and
// u - e D lambda*, and the solution with W_e changes by at most e L(e) |D (lambda - lambda*)|. If null vectors of A do not move the
// velocity (A a = 0 only with W T a = 0) and det(S W_e T) is of order e^k, k the dimension of the null space, L(e) is bounded, and e to 0
// shows that both have the same v'.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "step/step_internal.h"

// Combinations are some thousand for four contacts in the plane, 28,561 for four in space with four edges: at most some 20 ms.
#define MOST_COMBINATIONS 30000
// In a matrix of unit entries, a pivot below this share of the largest is zero, and null vectors move nothing that is below this share.
#define SINGULAR 1e-11
#define STILL    1e-9
// Perturbations e, between round-off and 1, by which the order of a vanishing determinant is judged.
#define PERTURBATION 1e-5
#define SMALLER      0.1

enum { MOST_WIDTH = 3 };

// One kind of modes of one contact: impulses that it leaves free, and the velocities that these stop, in the contact's own axes.
typedef struct contact_kind {
    int count;
    double impulse[MOST_WIDTH][MOST_WIDTH], stopped[MOST_WIDTH][MOST_WIDTH];
} contact_kind;

typedef struct certificate {
    int contacts, width, n;  // width: 1 + dim
    contact_kind *kinds;     // [contacts x most_kinds]
    int *kind_count;         // [contacts]
    int most_kinds;
    int *chosen;               // [contacts] the combination at hand
    double *W;                 // [n x n] with blocks of unit size
    double *T, *S, *response;  // [n x n], rows of the combination: impulses, velocities, W T
    double *A, *B;             // S W T and S T, rows and columns of A of unit size
    double *factors, *zero, *null_vectors;
    int *exchanges;
} certificate;

static void add_pair(contact_kind *kind, const double impulse[MOST_WIDTH], const double stopped[MOST_WIDTH]) {
    memcpy(kind->impulse[kind->count], impulse, sizeof kind->impulse[0]);
    memcpy(kind->stopped[kind->count++], stopped, sizeof kind->stopped[0]);
}

// All kinds of one contact. Nothing is free where it is open, or slips along an edge at its cap.
static void list_kinds(certificate *proof, int contact, double mu, const double *directions, int edges) {
    static const double axes[MOST_WIDTH][MOST_WIDTH] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int width = proof->width, dim = width - 1;
    contact_kind *list = proof->kinds + contact * proof->most_kinds;
    int count = 1;
    for (int stops = 0; stops < 2; stops++) {
        // Stick. Without friction no impulse is free to stop the slip.
        contact_kind stick = {0};
        for (int p = stops ? 0 : 1; p < (mu > 0 ? width : 1); p++) add_pair(&stick, axes[p], axes[p]);
        if (stick.count) list[count++] = stick;
        for (int j = 0; mu > 0 && j < edges; j++) {
            const double *d = directions + j * dim, *e = directions + (j + 1) % edges * dim;
            // Slip along an edge drags mu lam_n with it; between two edges, their difference is free and stopped.
            contact_kind edge = {0}, facet = {0};
            double along[MOST_WIDTH] = {1}, across[MOST_WIDTH] = {1}, difference[MOST_WIDTH] = {0};
            for (int p = 0; p < dim; p++) along[1 + p] = mu * d[p], across[1 + p] = mu * e[p], difference[1 + p] = d[p] - e[p];
            add_pair(&edge, along, axes[0]);
            if (stops) list[count++] = edge;
            if (stops) add_pair(&facet, across, axes[0]);
            add_pair(&facet, difference, difference);
            if (dim == 2) list[count++] = facet;
        }
    }
    proof->kind_count[contact] = count;
}

// Fills the rows of the combination, and A and B; returns their size.
static int assemble(certificate *proof) {
    const int n = proof->n, width = proof->width;
    int size = 0;
    for (int i = 0; i < proof->contacts; i++) {
        const contact_kind *kind = &proof->kinds[i * proof->most_kinds + proof->chosen[i]];
        for (int a = 0; a < kind->count; a++, size++) {
            double *impulse = proof->T + size * n, *stopped = proof->S + size * n;
            memset(impulse, 0, (size_t)n * sizeof *impulse);
            memset(stopped, 0, (size_t)n * sizeof *stopped);
            memcpy(impulse + i * width, kind->impulse[a], (size_t)width * sizeof *impulse);
            memcpy(stopped + i * width, kind->stopped[a], (size_t)width * sizeof *stopped);
            carom_multiply(n, n, proof->W, impulse, proof->response + size * n);
        }
    }
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++) {
            proof->A[a * size + b] = carom_dot(n, proof->S + a * n, proof->response + b * n);
            proof->B[a * size + b] = carom_dot(n, proof->S + a * n, proof->T + b * n);
        }
    // Rows, then columns of unit size: mu = 1e5 is no reason to call A singular. Signs of determinants stay.
    for (int a = 0; a < size; a++) {
        const double largest = carom_max_abs((size_t)size, proof->A + a * size);
        for (int b = 0; b < size && largest > 0; b++) proof->A[a * size + b] /= largest, proof->B[a * size + b] /= largest;
    }
    for (int b = 0; b < size; b++) {
        double largest = 0;
        for (int a = 0; a < size; a++) largest = fmax(largest, fabs(proof->A[a * size + b]));
        for (int a = 0; a < size && largest > 0; a++) proof->A[a * size + b] /= largest, proof->B[a * size + b] /= largest;
        for (int c = 0; c < n && largest > 0; c++) proof->response[b * n + c] /= largest;
    }
    return size;
}

// det(A + e B); `regular`, which may be NULL, says whether no pivot is small against the largest.
static double determinant(certificate *proof, int size, double e, bool *regular) {
    for (int i = 0; i < size * size; i++) proof->factors[i] = proof->A[i] + e * proof->B[i];
    if (regular) *regular = false;
    if (!carom_lu_factor(size, proof->factors, proof->exchanges)) return 0;
    double product = 1, least = INFINITY, largest = 0;
    for (int i = 0; i < size; i++) {
        const double pivot = proof->factors[i * size + i];
        product *= proof->exchanges[i] == i ? pivot : -pivot;
        least = fmin(least, fabs(pivot));
        largest = fmax(largest, fabs(pivot));
    }
    if (regular) *regular = size == 0 || least > SINGULAR * largest;
    return product;
}

// Of a singular piece: do its null vectors leave the velocity alone, and is the determinant positive and of order e^k?
static bool is_harmless(certificate *proof, int size) {
    memcpy(proof->factors, proof->A, (size_t)(size * size) * sizeof *proof->factors);
    memset(proof->zero, 0, (size_t)size * sizeof *proof->zero);
    const int rank = carom_solve_general(size, proof->factors, proof->zero, SINGULAR, proof->null_vectors, proof->exchanges);
    for (int k = 0; k < size - rank; k++)
        for (int c = 0; c < proof->n; c++) {
            double moved = 0, parts = 0;
            for (int b = 0; b < size; b++) {
                const double part = proof->null_vectors[k * size + b] * proof->response[b * proof->n + c];
                moved += part;
                parts += fabs(proof->null_vectors[k * size + b]);
            }
            if (fabs(moved) > STILL * parts) return false;
        }
    const double order = pow(SMALLER, size - rank);
    const double more = determinant(proof, size, PERTURBATION, NULL), less = determinant(proof, size, SMALLER * PERTURBATION, NULL);
    return more > 0 && less > 0.5 * order * more && less < 2 * order * more;
}

// Do all pieces have the sign that makes v' unique?
static bool is_oriented(certificate *proof) {
    for (;;) {
        const int size = assemble(proof);
        bool regular;
        const double sign = determinant(proof, size, 0, &regular);
        if (regular ? !(sign > 0) : !is_harmless(proof, size)) return false;
        // The next combination, the first contact's kind fastest.
        int i = 0;
        while (i < proof->contacts && ++proof->chosen[i] == proof->kind_count[i]) proof->chosen[i++] = 0;
        if (i == proof->contacts) return true;
    }
}

// W with blocks of unit size, so that nothing depends on units or on the ratio of masses; false where a contact has no mass at all.
static bool scale_operator(certificate *proof, const double *delassus) {
    const int n = proof->n, width = proof->width;
    memcpy(proof->W, delassus, (size_t)(n * n) * sizeof *proof->W);
    for (int i = 0; i < proof->contacts; i++) {
        double largest = 0;
        for (int p = i * width; p < (i + 1) * width; p++) largest = fmax(largest, delassus[p * n + p]);
        if (!(largest > 0)) return false;
        for (int p = i * width; p < (i + 1) * width; p++)
            for (int c = 0; c < n; c++) {
                proof->W[p * n + c] /= sqrt(largest);
                proof->W[c * n + p] /= sqrt(largest);
            }
    }
    return true;
}

carom_status carom_step_prove_unique(const carom_impact *impact, int64_t cone_edges, bool *unique, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    int edges;
    *unique = false;
    carom_status status = carom_impact_cone_edges(impact, cone_edges, &edges, error);
    if (status) return status;
    // Without friction the LCP is that of a convex quadratic program, whose velocity is unique.
    *unique = carom_max_abs((size_t)data->contacts, data->friction) == 0;
    const int dim = data->tangent_dim, most_kinds = 3 + edges * (dim == 2 ? 3 : 1);
    double combinations = 1;
    for (int i = 0; i < data->contacts; i++) combinations *= data->friction[i] > 0 ? most_kinds : 2;
    if (*unique || combinations > MOST_COMBINATIONS) return CAROM_OK;

    carom_arena arena = {0};
    const size_t contacts = (size_t)data->contacts, n = contacts * (1 + (size_t)dim);
    double *directions = carom_arena_take(&arena, (size_t)(edges * dim), sizeof *directions);
    certificate proof = {.contacts = data->contacts,
                         .width = 1 + dim,
                         .n = (int)n,
                         .kinds = carom_arena_take(&arena, contacts * (size_t)most_kinds, sizeof(contact_kind)),
                         .kind_count = carom_arena_take(&arena, contacts, sizeof(int)),
                         .most_kinds = most_kinds,
                         .chosen = carom_arena_take(&arena, contacts, sizeof(int)),
                         .W = carom_arena_take(&arena, n * n, sizeof(double)),
                         .T = carom_arena_take(&arena, n * n, sizeof(double)),
                         .S = carom_arena_take(&arena, n * n, sizeof(double)),
                         .response = carom_arena_take(&arena, n * n, sizeof(double)),
                         .A = carom_arena_take(&arena, n * n, sizeof(double)),
                         .B = carom_arena_take(&arena, n * n, sizeof(double)),
                         .factors = carom_arena_take(&arena, n * n, sizeof(double)),
                         .zero = carom_arena_take(&arena, n, sizeof(double)),
                         .null_vectors = carom_arena_take(&arena, n * n, sizeof(double)),
                         .exchanges = carom_arena_take(&arena, n, sizeof(int))};
    if (arena.failed) {
        status = carom_fail_memory(error, "certificate of uniqueness");
    } else {
        carom_cone_directions(dim, edges, directions);
        for (int i = 0; i < proof.contacts; i++) list_kinds(&proof, i, data->friction[i], directions, edges);
        *unique = scale_operator(&proof, carom_impact_delassus(impact)) && is_oriented(&proof);
    }
    carom_arena_free(&arena);
    // Orientation is about all contact velocities; the impact comes to few of them where contacts are redundant.
    if (!status && !*unique) *unique = carom_step_modes_agree(impact);
    return status;
}
