// SPDX-License-Identifier: Apache-2.0
// Combinations of contact modes decided exactly (docs/laws.md, "Selection"): is there a solution, and does its velocity vary?
//
// The data are M, J, mu, v and the caps as doubles, or W itself in contact space, and the cone directions as they are used. With impulses
// `force x` of unknowns x, a combination of modes is a set of equations and sign conditions on probe'(u + W force x) and on x, with
// W = J M^-1 J'. Multiplied by det M, its minors are those of a matrix of doubles: integers, once rows and columns are multiplied by powers
// of two, which Hadamard's inequality bounds.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/modular.h"
#include "step/step_internal.h"

// Errors of the rounding of exact numbers to doubles, relative: some units.
#define ROUNDED 0x1p-50

struct carom_step_proof {
    carom_arena arena;
    carom_moduli *moduli;
    carom_exact_system system;
    const carom_stepper *stepper;
    int n, nv;                      // nv is 0 in contact space
    int kinds;                      // forces of one contact: see slip_force
    uint64_t *W, *u;                // [n x n], [n]
    uint64_t *response, *v;         // [nv x n] M^-1 J', [nv]
    uint64_t *forces, *replies;     // [contacts x kinds x (1 + dim)], [contacts x kinds x n] W force
    uint64_t *probes;               // [edges x dim] directions of cone edges
    uint64_t *caps, *friction;      // [contacts]
    uint64_t *fixed, *fixed_reply;  // [n] the forces of the caps, and W times them
    uint64_t *ones;                 // 1, and the scale of friction coefficients and directions: [3]
    uint64_t *weight, *rank_table;
    int *coordinate_scale, *contact_scale;    // exponents
    int impulse_exponent, velocity_exponent;  // of the unknowns, without contact_scale; of the constants
    int row_exponent;                         // of contact velocities, beside the constants'
    double *values;                           // [velocities + unknowns] reported
    double *delassus_error, *speed_error;     // [n x n], [n]
    int *unknown_force;                       // [unknowns] contact times kinds plus kind
    int *unknown_of;                          // [contacts] first unknown of each contact
    // Which signs velocities of the system have together: fewer primes decide that.
    carom_moduli *velocity_moduli;
    carom_exact_system velocities;
    uint64_t *jacobian, *edge_steps, *edges;  // [n x nv]; [edges x dim] from an edge to the next, and the edges
    uint64_t *factor;                         // scratch
};

// The impulses that a contact's unknown can stand for: normal alone, an axis of its tangent plane, normal with slip along an edge, and the
// difference of two edges.
enum { FORCE_NORMAL = 0, FORCE_AXIS = 1 };
static int slip_force(const carom_step_proof *proof, int edge) { return 1 + proof->stepper->dim + edge % proof->stepper->edges; }
static int facet_force(const carom_step_proof *proof, int edge) { return slip_force(proof, edge) + proof->stepper->edges; }

// ------------------------------------------------------------------------------------------------------------ exponents

// Lowers an exponent to that of the last bit of a number, where it is not zero.
static void lower(int *least, double value, int shift) {
    if (value != 0 && carom_last_bit(value) + shift < *least) *least = carom_last_bit(value) + shift;
}

// The exponent of a size: 2^exponent is just above it; very low for zero.
static int size_exponent(double size) {
    int exponent;
    frexp(size, &exponent);
    return size > 0 ? exponent : -5000;
}

// Exponents of the whole problem in the scaled units: those of last bits, negated, and those of sizes.
typedef struct widths {
    int mass, jacobian, direction, friction, trial, constant;
    int jacobian_size, friction_size, constant_size;
} widths;

static double jacobian_at(const carom_impact_data *data, int row, int k) {
    const int stride = 1 + data->tangent_dim, contact = row / stride, part = row % stride;
    return part ? data->tangent[(size_t)(contact * data->tangent_dim + part - 1) * (size_t)data->nv + (size_t)k]
                : data->normal[(size_t)contact * (size_t)data->nv + (size_t)k];
}

// Powers of two that bring M to a diagonal of about one, and the rows of each contact to entries of about one.
static void choose_scales(carom_step_proof *proof, const carom_impact_data *data) {
    const int stride = 1 + data->tangent_dim;
    const double *W = carom_impact_delassus(proof->stepper->impact);
    for (int k = 0; k < proof->nv; k++)
        proof->coordinate_scale[k] = -(size_exponent(data->mass[(size_t)k * (size_t)data->nv + (size_t)k]) / 2);
    for (int i = 0; i < data->contacts; i++) {
        int largest = -5000;
        for (int row = i * stride; row < (i + 1) * stride; row++) {
            for (int k = 0; k < proof->nv; k++) {
                const int size = size_exponent(fabs(jacobian_at(data, row, k))) + proof->coordinate_scale[k];
                if (jacobian_at(data, row, k) != 0 && size > largest) largest = size;
            }
            const double inverse_mass = W[(size_t)row * (size_t)(proof->n + 1)];
            if (!proof->nv && inverse_mass > 0 && size_exponent(inverse_mass) / 2 > largest) largest = size_exponent(inverse_mass) / 2;
        }
        proof->contact_scale[i] = largest > -5000 ? -largest : 0;
    }
}

static widths measure_widths(const carom_step_proof *proof, const carom_impact_data *data, const double *v, const double *lmax) {
    const carom_stepper *stepper = proof->stepper;
    const int stride = 1 + data->tangent_dim, *d = proof->coordinate_scale, *s = proof->contact_scale;
    const double *W = carom_impact_delassus(stepper->impact);
    int mass = 0, jacobian = 0, direction = 0, friction = 0, constant = 0, cap = 0;
    widths w = {.jacobian_size = 0, .friction_size = 1, .constant_size = -5000};
    for (int i = 0; i < proof->nv; i++)
        for (int k = 0; k < proof->nv; k++) lower(&mass, data->mass[(size_t)i * (size_t)data->nv + (size_t)k], d[i] + d[k]);
    for (int row = 0; row < proof->n; row++) {
        for (int k = 0; k < proof->nv; k++) lower(&jacobian, jacobian_at(data, row, k), d[k] + s[row / stride]);
        for (int c = 0; c < proof->n && !proof->nv; c++) {
            const double entry = W[(size_t)row * (size_t)proof->n + (size_t)c];
            const int shift = s[row / stride] + s[c / stride];
            lower(&jacobian, entry, shift);
            if (entry != 0 && size_exponent(fabs(entry)) + shift > w.jacobian_size) w.jacobian_size = size_exponent(fabs(entry)) + shift;
        }
    }
    for (int k = 0; k < stepper->edges * stepper->dim; k++) lower(&direction, stepper->directions[k], 0);
    for (int i = 0; i < stepper->count; i++) {
        const double mu = data->friction[stepper->first + i];
        lower(&friction, mu, 0);
        if (size_exponent(mu) > w.friction_size) w.friction_size = size_exponent(mu);
    }
    w.mass = -mass;
    w.jacobian = -jacobian;
    w.direction = -direction;
    w.friction = -friction;
    w.trial = w.direction + w.friction;
    // Constants: velocities, and caps in the unit of the unknowns.
    const int unit = w.trial + (proof->nv ? w.jacobian - w.mass : 0);
    for (int k = 0; k < (proof->nv ? proof->nv : proof->n); k++) {
        const int shift = proof->nv ? -d[k] : s[k / stride] + w.jacobian;
        lower(&constant, v[k], shift);
        if (v[k] != 0 && size_exponent(fabs(v[k])) + shift > w.constant_size) w.constant_size = size_exponent(fabs(v[k])) + shift;
    }
    for (int i = 0; i < stepper->count && stepper->beta >= 0; i++) {
        const int shift = -unit - s[stepper->first + i];
        lower(&cap, lmax[i], shift);
        if (lmax[i] != 0 && size_exponent(lmax[i]) + shift > w.constant_size) w.constant_size = size_exponent(lmax[i]) + shift;
    }
    w.constant = -(cap < constant ? cap : constant);
    return w;
}

// Hadamard's bound, in bits, of all minors that the decisions ask for.
static double bits_needed(const carom_step_proof *proof, const widths *w, int unknowns) {
    // Lengths of rows, beside the exponents of their entries: at most so many entries below 4.
    const double length = 2 + 0.5 * log2(proof->nv + unknowns + 2), columns = unknowns;
    const double friction = w->friction_size + 1;
    // Rows of velocities, probe J or probe W, and rows of the unknowns alone.
    const double speed = w->jacobian + w->jacobian_size + w->direction + (proof->nv ? 0 : friction);
    const double alone = w->friction + 2 * w->direction + friction;
    const double rows = (columns + 1) * (fmax(speed, alone) + length + 1);
    // Rows of M, with J'force; the columns of forces are multiplied by 2^trial, and among the constants are forces of caps.
    const double mass = proof->nv * (fmax(w->mass, w->jacobian + friction) + length + 1);
    const double constant = fmax(0, w->constant + w->constant_size) + w->trial + 1 + log2(proof->nv + unknowns + 2);
    return mass + rows + columns * w->trial + constant;
}

// The same for the signs of velocities: rows of J, multiplied by a direction or by the difference of two. Of these no more are independent
// than contact space has dimensions, so that the decisions need more bits.
static double velocity_bits_needed(const carom_step_proof *proof, const widths *w, int unknowns) {
    const int order = 1 + (proof->nv < unknowns ? proof->nv : unknowns);
    return order * (w->jacobian + w->direction + 2 + 0.5 * log2(proof->nv + 1)) + 1;
}

// -------------------------------------------------------------------------------------------------------------- lifetime

static uint64_t *at(const carom_step_proof *proof, uint64_t *array, int index) {
    return array + (size_t)index * (size_t)proof->moduli->count;
}

// W, M^-1 J', the weight det M, u and v of a system with M. False when a prime divides a pivot.
static bool eliminate_mass(carom_step_proof *proof, const carom_impact_data *data, const widths *w, const double *v) {
    const carom_moduli *moduli = proof->moduli;
    const int nv = proof->nv, n = proof->n, stride = 1 + data->tangent_dim, *d = proof->coordinate_scale, *s = proof->contact_scale;
    const size_t count = (size_t)moduli->count, columns = (size_t)(nv + n);
    carom_arena arena = {0};
    uint64_t *table = carom_arena_take(&arena, (size_t)nv * columns * count, sizeof *table);
    uint64_t *jacobian = carom_arena_take(&arena, (size_t)n * (size_t)nv * count, sizeof *table);
    uint64_t *inverse = carom_arena_take(&arena, count, sizeof *table);
    bool possible = !arena.failed;
    for (int k = 0; k < nv && possible; k++) {
        for (int l = 0; l < nv; l++)
            carom_residue_set(moduli, data->mass[k * nv + l], d[k] + d[l] + w->mass, table + ((size_t)k * columns + (size_t)l) * count);
        for (int c = 0; c < n; c++) {
            uint64_t *entry = jacobian + ((size_t)c * (size_t)nv + (size_t)k) * count;
            carom_residue_set(moduli, jacobian_at(data, c, k), d[k] + s[c / stride] + w->jacobian, entry);
            memcpy(table + ((size_t)k * columns + (size_t)(nv + c)) * count, entry, count * sizeof *entry);
        }
        carom_residue_set(moduli, v[k], w->constant - d[k], at(proof, proof->v, k));
    }
    // Gauss-Jordan on [M | J']; M is positive definite, so that its diagonal gives the pivots, whose product is det M.
    for (int k = 0; k < nv && possible; k++) {
        uint64_t *pivot = table + (size_t)k * columns * count;
        possible = carom_residue_is_unit(moduli, pivot + (size_t)k * count);
        if (!possible) break;
        carom_residue_multiply(moduli, proof->weight, pivot + (size_t)k * count, proof->weight);
        carom_residue_negated_inverse(moduli, pivot + (size_t)k * count, inverse);
        for (size_t j = (size_t)k; j < columns; j++) carom_residue_multiply(moduli, pivot + j * count, inverse, pivot + j * count);
        for (int i = 0; i < nv; i++) {
            uint64_t *row = table + (size_t)i * columns * count, *factor = row + (size_t)k * count;
            if (i == k) continue;
            for (size_t j = (size_t)k + 1; j < columns; j++) carom_residue_add_product(moduli, factor, pivot + j * count, row + j * count);
        }
    }
    // The table holds -M^-1 J'.
    for (int k = 0; k < nv && possible; k++)
        for (int c = 0; c < n; c++) {
            uint64_t *entry = at(proof, proof->response, k * n + c);
            memset(entry, 0, count * sizeof *entry);
            carom_residue_subtract(moduli, entry, table + ((size_t)k * columns + (size_t)(nv + c)) * count, entry);
        }
    for (int a = 0; a < n && possible; a++)
        for (int k = 0; k < nv; k++) {
            const uint64_t *entry = jacobian + ((size_t)a * (size_t)nv + (size_t)k) * count;
            carom_residue_add_product(moduli, entry, at(proof, proof->v, k), at(proof, proof->u, a));
            for (int b = 0; b < n; b++)
                carom_residue_add_product(moduli, entry, at(proof, proof->response, k * n + b), at(proof, proof->W, a * n + b));
        }
    carom_arena_free(&arena);
    return possible;
}

// The forces of every contact, and their replies.
static void fill_forces(carom_step_proof *proof, const widths *w) {
    const carom_stepper *stepper = proof->stepper;
    const carom_moduli *moduli = proof->moduli;
    const int dim = stepper->dim, stride = 1 + dim;
    const size_t count = (size_t)moduli->count;
    for (int j = 0; j < stepper->edges; j++)
        for (int p = 0; p < dim; p++)
            carom_residue_set(moduli, carom_step_direction(stepper, j)[p], w->direction, at(proof, proof->probes, j * dim + p));
    for (int i = 0; i < stepper->count; i++) {
        uint64_t *forces = at(proof, proof->forces, i * proof->kinds * stride);
        carom_residue_set(moduli, carom_impact_get_data(stepper->impact)->friction[stepper->first + i], w->friction,
                          at(proof, proof->friction, i));
        for (int p = 0; p < stride; p++) carom_residue_set(moduli, 1, w->trial, at(proof, forces, p * stride + p));
        for (int j = 0; j < stepper->edges; j++) {
            uint64_t *slip = at(proof, forces, slip_force(proof, j) * stride), *facet = at(proof, forces, facet_force(proof, j) * stride);
            carom_residue_set(moduli, 1, w->trial, slip);
            for (int p = 0; p < dim; p++) {
                const uint64_t *edge = at(proof, proof->probes, j * dim + p);
                const uint64_t *next = at(proof, proof->probes, (j + 1) % stepper->edges * dim + p);
                carom_residue_multiply(moduli, edge, at(proof, proof->friction, i), at(proof, slip, 1 + p));
                uint64_t *difference = at(proof, facet, 1 + p);
                carom_residue_subtract(moduli, edge, next, difference);
                carom_residue_multiply(moduli, difference, at(proof, proof->ones, 1), difference);
            }
        }
        for (int f = 0; f < proof->kinds; f++)
            for (int c = 0; c < proof->n; c++) {
                uint64_t *reply = at(proof, proof->replies, (i * proof->kinds + f) * proof->n + c);
                memset(reply, 0, count * sizeof *reply);
                for (int p = 0; p < stride; p++)
                    carom_residue_add_product(moduli, at(proof, forces, f * stride + p),
                                              at(proof, proof->W, c * proof->n + carom_step_contact_row(stepper, i) + p), reply);
            }
    }
}

// How far the doubles in use are from the exact W and u.
static void bound_errors(carom_step_proof *proof, const widths *w, const double *u) {
    const carom_moduli *moduli = proof->moduli;
    const int n = proof->n, stride = 1 + proof->stepper->dim, *s = proof->contact_scale;
    const double *W = carom_impact_delassus(proof->stepper->impact);
    uint64_t *scaled = proof->rank_table;
    const long double weight = carom_residue_value(moduli, proof->weight);
    const int shift = proof->nv ? w->mass - 2 * w->jacobian : -w->jacobian;
    for (int a = 0; a < n; a++) {
        const long double exact_speed = carom_residue_value(moduli, at(proof, proof->u, a));
        const double speed = (double)ldexpl(exact_speed, -proof->velocity_exponent - s[a / stride] - w->jacobian);
        proof->speed_error[a] = fabs(speed - u[a]) + ROUNDED * fabs(speed);
        for (int b = 0; b < n; b++) {
            carom_residue_multiply(moduli, at(proof, proof->W, a * n + b), proof->weight, scaled);
            const long double entry = ldexpl(carom_residue_value(moduli, scaled) / weight, shift - s[a / stride] - s[b / stride]);
            proof->delassus_error[a * n + b] = fabs((double)(entry - W[a * n + b])) + ROUNDED * fabs(W[a * n + b]);
        }
    }
}

// The arrays, once the primes are known.
static carom_status take_arrays(carom_step_proof *proof, carom_error *error) {
    const carom_stepper *stepper = proof->stepper;
    const size_t n = (size_t)proof->n, nv = (size_t)proof->nv, contacts = (size_t)stepper->count, dim = (size_t)stepper->dim;
    const size_t edges = (size_t)stepper->edges, kinds = (size_t)proof->kinds, unknowns = contacts * (1 + dim);
    const size_t count = (size_t)proof->moduli->count;
    carom_arena *arena = &proof->arena;
    proof->W = carom_arena_take(arena, n * n * count, sizeof(uint64_t));
    proof->u = carom_arena_take(arena, n * count, sizeof(uint64_t));
    proof->response = carom_arena_take(arena, nv * n * count, sizeof(uint64_t));
    proof->v = carom_arena_take(arena, nv * count, sizeof(uint64_t));
    proof->forces = carom_arena_take(arena, contacts * kinds * (1 + dim) * count, sizeof(uint64_t));
    proof->replies = carom_arena_take(arena, contacts * kinds * n * count, sizeof(uint64_t));
    proof->probes = carom_arena_take(arena, edges * dim * count, sizeof(uint64_t));
    proof->caps = carom_arena_take(arena, contacts * count, sizeof(uint64_t));
    proof->friction = carom_arena_take(arena, contacts * count, sizeof(uint64_t));
    proof->fixed = carom_arena_take(arena, n * count, sizeof(uint64_t));
    proof->fixed_reply = carom_arena_take(arena, n * count, sizeof(uint64_t));
    proof->ones = carom_arena_take(arena, 3 * count, sizeof(uint64_t));
    proof->weight = carom_arena_take(arena, count, sizeof(uint64_t));
    proof->rank_table = carom_arena_take(arena, (unknowns * (unknowns + n) + 1) * count, sizeof(uint64_t));
    proof->delassus_error = carom_arena_take(arena, n * n, sizeof(double));
    proof->speed_error = carom_arena_take(arena, n, sizeof(double));
    proof->values = carom_arena_take(arena, nv + n + unknowns, sizeof(double));
    proof->unknown_force = carom_arena_take(arena, unknowns, sizeof(int));
    proof->unknown_of = carom_arena_take(arena, contacts, sizeof(int));
    if (arena->failed) return carom_fail_memory(error, "enumeration");
    // Conditions of a contact: at most two of lam_n and u_n, two of a facet's share, one for each edge; reported: velocities and unknowns.
    const size_t most = contacts * (4 + edges) + (nv ? nv : n) + unknowns;
    return carom_exact_system_create(proof->moduli, (int)unknowns, (int)most, &proof->system, error);
}

// The problem's numbers as residues. False when a prime divides a pivot of M.
static bool fill_problem(carom_step_proof *proof, const carom_impact_data *data, const widths *w, const double *v, const double *lmax) {
    const carom_stepper *stepper = proof->stepper;
    const carom_moduli *moduli = proof->moduli;
    const int n = proof->n, stride = 1 + stepper->dim, *s = proof->contact_scale;
    proof->velocity_exponent = w->constant;
    proof->row_exponent = w->jacobian;
    proof->impulse_exponent = w->trial + (proof->nv ? w->jacobian - w->mass : 0) - w->constant;
    carom_residue_set(moduli, 1, 0, proof->weight);
    carom_residue_set(moduli, 1, 0, at(proof, proof->ones, 0));
    carom_residue_set(moduli, 1, w->friction, at(proof, proof->ones, 1));
    carom_residue_set(moduli, 1, w->friction + w->direction, at(proof, proof->ones, 2));
    if (proof->nv && !eliminate_mass(proof, data, w, v)) return false;
    const double *W = carom_impact_delassus(stepper->impact);
    for (int a = 0; a < n && !proof->nv; a++) {
        carom_residue_set(moduli, v[a], s[a / stride] + w->jacobian + w->constant, at(proof, proof->u, a));
        for (int b = 0; b < n; b++)
            carom_residue_set(moduli, W[a * n + b], s[a / stride] + s[b / stride] + w->jacobian, at(proof, proof->W, a * n + b));
    }
    for (int i = 0; i < stepper->count && stepper->beta >= 0; i++)
        carom_residue_set(moduli, lmax[i], -proof->impulse_exponent - s[stepper->first + i], at(proof, proof->caps, i));
    fill_forces(proof, w);
    bound_errors(proof, w, stepper->u);
    proof->system.weight = proof->weight;
    return true;
}

// J and the directions of the edges as residues of their own, and room for the signs of velocities.
static carom_status prepare_velocities(carom_step_proof *proof, const carom_impact_data *data, const widths *w, carom_error *error) {
    const carom_stepper *stepper = proof->stepper;
    const carom_moduli *moduli = proof->velocity_moduli =
        carom_moduli_create(velocity_bits_needed(proof, w, stepper->count * (1 + stepper->dim)));
    if (!moduli) return carom_fail_memory(error, "enumeration");
    const size_t count = (size_t)moduli->count, n = (size_t)proof->n, nv = (size_t)proof->nv;
    const size_t components = (size_t)stepper->edges * (size_t)stepper->dim;
    proof->jacobian = carom_arena_take(&proof->arena, n * nv * count, sizeof(uint64_t));
    proof->edges = carom_arena_take(&proof->arena, components * count, sizeof(uint64_t));
    proof->edge_steps = carom_arena_take(&proof->arena, components * count, sizeof(uint64_t));
    proof->factor = carom_arena_take(&proof->arena, count, sizeof(uint64_t));
    if (proof->arena.failed) return carom_fail_memory(error, "enumeration");
    const int stride = 1 + stepper->dim;
    for (int c = 0; c < proof->n; c++)
        for (int k = 0; k < proof->nv; k++)
            carom_residue_set(moduli, jacobian_at(data, c, k), proof->coordinate_scale[k] + proof->contact_scale[c / stride] + w->jacobian,
                              proof->jacobian + ((size_t)c * nv + (size_t)k) * count);
    for (size_t k = 0; k < components; k++) carom_residue_set(moduli, stepper->directions[k], w->direction, proof->edges + k * count);
    for (size_t k = 0; k < components; k++)
        carom_residue_subtract(moduli, proof->edges + (k + (size_t)stepper->dim) % components * count, proof->edges + k * count,
                               proof->edge_steps + k * count);
    // At most two conditions of a contact beside its normal, each twice.
    const int most_unknowns = proof->nv > proof->n ? proof->nv : proof->n;
    return carom_exact_system_create(moduli, most_unknowns, 2 * 3 * stepper->count, &proof->velocities, error);
}

carom_status carom_step_proof_create(const carom_stepper *stepper, const double *v, const double *lmax, carom_step_proof **proof,
                                     carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(stepper->impact);
    *proof = NULL;
    carom_step_proof *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "enumeration");
    made->stepper = stepper;
    made->n = carom_impact_contact_size(stepper->impact);
    made->nv = carom_impact_has_system(stepper->impact) ? data->nv : 0;
    made->kinds = 1 + stepper->dim + 2 * stepper->edges;
    made->coordinate_scale = carom_arena_take(&made->arena, (size_t)made->nv + 1, sizeof(int));
    made->contact_scale = carom_arena_take(&made->arena, (size_t)data->contacts, sizeof(int));
    carom_status status = made->arena.failed ? carom_fail_memory(error, "enumeration") : CAROM_OK;
    if (!status) {
        choose_scales(made, data);
        const widths w = measure_widths(made, data, v, lmax);
        // No primes, and so no proof, where numbers are too far apart to be decided.
        made->moduli = carom_moduli_create(bits_needed(made, &w, stepper->count * (1 + stepper->dim)));
        if (made->moduli) status = take_arrays(made, error);
        if (made->moduli && !status && made->nv) status = prepare_velocities(made, data, &w, error);
        if (made->moduli && !status && fill_problem(made, data, &w, v, lmax)) *proof = made;
    }
    if (!*proof) carom_step_proof_free(made);
    return status;
}

void carom_step_proof_free(carom_step_proof *proof) {
    if (!proof) return;
    carom_exact_system_free(&proof->system);
    carom_exact_system_free(&proof->velocities);
    free(proof->velocity_moduli);
    carom_arena_free(&proof->arena);
    free(proof->moduli);
    free(proof);
}

const double *carom_step_proof_delassus_error(const carom_step_proof *proof) { return proof->delassus_error; }
const double *carom_step_proof_speed_error(const carom_step_proof *proof) { return proof->speed_error; }

// ------------------------------------------------------------------------------------------------------ signs of velocities

// A row sign probe'(J v) with the probe on components row .. row + size of contact space; NULL: one component.
static void set_speed(carom_step_proof *proof, int row, int size, const uint64_t *probe, int sign, uint64_t *entries) {
    const carom_moduli *moduli = proof->velocity_moduli;
    const size_t count = (size_t)moduli->count;
    memset(entries, 0, (size_t)(proof->velocities.unknowns + 1) * count * sizeof *entries);
    for (int k = 0; k < proof->nv; k++) {
        uint64_t *entry = entries + (size_t)k * count;
        for (int p = 0; p < size; p++) {
            const uint64_t *part = proof->jacobian + ((size_t)(row + p) * (size_t)proof->nv + (size_t)k) * count;
            if (probe)
                carom_residue_add_product(moduli, probe + (size_t)p * count, part, entry);
            else
                memcpy(entry, part, count * sizeof *entry);
        }
        if (sign > 0) continue;
        memset(proof->factor, 0, count * sizeof *proof->factor);
        carom_residue_subtract(moduli, proof->factor, entry, entry);
    }
}

bool carom_step_proof_has_velocity(carom_step_proof *proof, const carom_step_mode *modes, int first) {
    if (!proof->nv) return true;
    const carom_stepper *stepper = proof->stepper;
    const int dim = stepper->dim, edges = stepper->edges;
    const size_t count = (size_t)proof->velocity_moduli->count;
    carom_exact_system *system = &proof->velocities;
    // One row of equations for each unknown: unknowns that nothing depends on stand for equations beyond nv.
    int equations = 0, conditions = 0;
    for (int i = first; i < stepper->count; i++) {
        if (modes[i].open) continue;
        equations += !modes[i].capped;
        if (modes[i].friction != CAROM_MODE_EDGE) equations += modes[i].friction == CAROM_MODE_STICK ? dim : 1;
    }
    system->unknowns = equations > proof->nv ? equations : proof->nv;
    const size_t width = (size_t)(system->unknowns + 1) * count;
    memset(system->equations, 0, (size_t)system->unknowns * width * sizeof *system->equations);
    equations = 0;
    for (int i = first; i < stepper->count; i++) {
        const carom_step_mode *mode = &modes[i];
        const int row = carom_step_contact_row(stepper, i), previous = (mode->edge + edges - 1) % edges;
        const size_t edge = (size_t)(mode->edge * dim) * count;
        // Normal: 0 where the contact stops.
        if (mode->open || mode->capped)
            set_speed(proof, row, 1, NULL, mode->open ? 1 : -1, system->conditions + (size_t)conditions++ * width);
        else
            set_speed(proof, row, 1, NULL, 1, system->equations + (size_t)equations++ * width);
        if (mode->open) continue;
        // Tangent: 0, or opposite to one edge more than to its neighbours, and so than to all others, or to both edges of a facet.
        for (int p = 0; p < dim && mode->friction == CAROM_MODE_STICK; p++)
            set_speed(proof, row + 1 + p, 1, NULL, 1, system->equations + (size_t)equations++ * width);
        if (mode->friction == CAROM_MODE_EDGE) {
            set_speed(proof, row + 1, dim, proof->edge_steps + edge, 1, system->conditions + (size_t)conditions++ * width);
            set_speed(proof, row + 1, dim, proof->edge_steps + (size_t)(previous * dim) * count, -1,
                      system->conditions + (size_t)conditions++ * width);
        } else if (mode->friction == CAROM_MODE_FACET) {
            set_speed(proof, row + 1, dim, proof->edge_steps + edge, 1, system->equations + (size_t)equations++ * width);
            set_speed(proof, row + 1, dim, proof->edges + edge, -1, system->conditions + (size_t)conditions++ * width);
        }
    }
    memcpy(system->conditions + (size_t)conditions * width, system->conditions, (size_t)conditions * width * sizeof *system->conditions);
    system->signs = system->watched = conditions;
    system->rows = 2 * conditions;
    // Where the primes do not tell, the combination is decided.
    if (carom_exact_eliminate(system) == CAROM_EXACT_UNDECIDED) return true;
    return carom_exact_decide_strictly(system) != CAROM_EXACT_EMPTY;
}

// ------------------------------------------------------------------------------------------------------------- decisions

// A new row of conditions, zero.
static uint64_t *new_condition(carom_step_proof *proof) {
    carom_exact_system *system = &proof->system;
    const size_t size = (size_t)(system->unknowns + 1) * (size_t)proof->moduli->count;
    uint64_t *row = system->conditions + (size_t)system->rows++ * size;
    memset(row, 0, size * sizeof *row);
    return row;
}

// Adds sign times `factor` to an entry.
static void add_entry(const carom_step_proof *proof, uint64_t *row, int column, const uint64_t *factor, int sign) {
    uint64_t *entry = at(proof, row, column);
    if (sign > 0)
        carom_residue_add_product(proof->moduli, factor, at(proof, proof->ones, 0), entry);
    else
        carom_residue_subtract(proof->moduli, entry, factor, entry);
}

// A row probe'(u + W force x), with the probe on components row .. row + size of contact space.
static void add_velocity(const carom_step_proof *proof, int first, int size, const uint64_t *probe, int sign, uint64_t *row) {
    const carom_moduli *moduli = proof->moduli;
    const size_t count = (size_t)moduli->count;
    const int unknowns = proof->system.unknowns;
    uint64_t factor[CAROM_MOST_EXACT_PRIMES];
    for (int p = 0; p < size; p++) {
        memset(factor, 0, count * sizeof *factor);
        if (sign > 0)
            memcpy(factor, probe + (size_t)p * count, count * sizeof *factor);
        else
            carom_residue_subtract(moduli, factor, probe + (size_t)p * count, factor);
        if (carom_residue_is_zero(moduli, factor)) continue;
        for (int j = 0; j < unknowns; j++)
            carom_residue_add_product(moduli, factor, at(proof, proof->replies, proof->unknown_force[j] * proof->n + first + p),
                                      at(proof, row, j));
        carom_residue_add_product(moduli, factor, at(proof, proof->u, first + p), at(proof, row, unknowns));
        carom_residue_add_product(moduli, factor, at(proof, proof->fixed_reply, first + p), at(proof, row, unknowns));
    }
}

// The unknowns of a combination, the impulses of its caps, and one equation for each unknown.
static void fill_equations(carom_step_proof *proof, const carom_step_mode *modes) {
    const carom_stepper *stepper = proof->stepper;
    const carom_moduli *moduli = proof->moduli;
    const size_t count = (size_t)moduli->count;
    const int dim = stepper->dim;
    carom_exact_system *system = &proof->system;
    system->unknowns = 0;
    memset(proof->fixed, 0, (size_t)proof->n * count * sizeof *proof->fixed);
    memset(proof->fixed_reply, 0, (size_t)proof->n * count * sizeof *proof->fixed_reply);
    for (int i = 0; i < stepper->count; i++) {
        const carom_step_mode *mode = &modes[i];
        const int own = i * proof->kinds;
        proof->unknown_of[i] = system->unknowns;
        if (mode->open) continue;
        const int edge = mode->friction == CAROM_MODE_FACET ? mode->edge + 1 : mode->edge;
        const int pushes = own + (mode->friction == CAROM_MODE_STICK ? FORCE_NORMAL : slip_force(proof, edge));
        for (int p = 0; p <= dim && mode->capped; p++)
            carom_residue_add_product(moduli, at(proof, proof->forces, pushes * (1 + dim) + p), at(proof, proof->caps, i),
                                      at(proof, proof->fixed, carom_step_contact_row(stepper, i) + p));
        for (int c = 0; c < proof->n && mode->capped; c++)
            carom_residue_add_product(moduli, at(proof, proof->replies, pushes * proof->n + c), at(proof, proof->caps, i),
                                      at(proof, proof->fixed_reply, c));
        if (!mode->capped) proof->unknown_force[system->unknowns++] = pushes;
        for (int p = 0; p < dim && mode->friction == CAROM_MODE_STICK; p++) proof->unknown_force[system->unknowns++] = own + FORCE_AXIS + p;
        if (mode->friction == CAROM_MODE_FACET) proof->unknown_force[system->unknowns++] = own + facet_force(proof, mode->edge);
    }
    // The equations, in the order of the unknowns.
    memset(system->equations, 0, (size_t)system->unknowns * (size_t)(system->unknowns + 1) * count * sizeof *system->equations);
    for (int j = 0; j < system->unknowns; j++) {
        const int contact = proof->unknown_force[j] / proof->kinds, kind = proof->unknown_force[j] % proof->kinds;
        const int row = carom_step_contact_row(stepper, contact);
        uint64_t *equation = at(proof, system->equations, j * (system->unknowns + 1));
        if (kind >= 1 + dim + stepper->edges)
            add_velocity(proof, row + 1, dim, at(proof, proof->forces, proof->unknown_force[j] * (1 + dim) + 1), 1, equation);
        else if (kind >= FORCE_AXIS && kind <= dim)
            add_velocity(proof, row + kind, 1, proof->ones, 1, equation);
        else
            add_velocity(proof, row, 1, proof->ones, 1, equation);
    }
}

// The sign conditions of one contact's mode.
static void fill_contact(carom_step_proof *proof, const carom_step_mode *mode, int i) {
    const carom_stepper *stepper = proof->stepper;
    const carom_moduli *moduli = proof->moduli;
    const size_t count = (size_t)moduli->count;
    const int dim = stepper->dim, edges = stepper->edges, row = carom_step_contact_row(stepper, i), constant = proof->system.unknowns;
    const uint64_t *mu = at(proof, proof->friction, i), *mu_scale = at(proof, proof->ones, 1), *edge_scale = at(proof, proof->ones, 2);
    uint64_t factor[CAROM_MOST_EXACT_PRIMES];
    if (mode->open) {
        add_velocity(proof, row, 1, proof->ones, 1, new_condition(proof));
        return;
    }
    // Normal: u_n <= 0 at the cap, otherwise 0 <= lam_n <= cap. lam_n is column `normal` times lam_n below.
    int unknown = proof->unknown_of[i];
    const int normal = mode->capped ? constant : unknown++;
    if (mode->capped) {
        add_velocity(proof, row, 1, proof->ones, -1, new_condition(proof));
    } else {
        add_entry(proof, new_condition(proof), normal, proof->ones, 1);
        if (stepper->beta >= 0) {
            uint64_t *condition = new_condition(proof);
            add_entry(proof, condition, normal, proof->ones, -1);
            add_entry(proof, condition, constant, at(proof, proof->caps, i), 1);
        }
    }
    const uint64_t *lam_n = mode->capped ? at(proof, proof->caps, i) : proof->ones;

    // Stick: lam_t inside mu lam_n conv D. In space, left of the line between two edges d and e: (e - d) x lam_t >= -mu lam_n d x e.
    for (int j = 0; mode->friction == CAROM_MODE_STICK && j < edges; j++) {
        uint64_t *condition = new_condition(proof);
        const uint64_t *d = at(proof, proof->probes, j * dim), *e = at(proof, proof->probes, (j + 1) % edges * dim);
        if (dim == 1) {
            carom_residue_multiply(moduli, mu, lam_n, factor);
            add_entry(proof, condition, normal, factor, 1);
            add_entry(proof, condition, unknown, mu_scale, j == 0 ? -1 : 1);
            continue;
        }
        // mu lam_n (d_x e_y - d_y e_x) + (e_x - d_x) lam_y - (e_y - d_y) lam_x >= 0
        uint64_t cross[CAROM_MOST_EXACT_PRIMES] = {0};
        carom_residue_multiply(moduli, d + count, e, factor);
        carom_residue_subtract(moduli, cross, factor, cross);
        carom_residue_add_product(moduli, d, e + count, cross);
        carom_residue_multiply(moduli, cross, mu, cross);
        carom_residue_multiply(moduli, cross, lam_n, cross);
        add_entry(proof, condition, normal, cross, 1);
        for (int p = 0; p < 2; p++) {
            carom_residue_subtract(moduli, e + (size_t)p * count, d + (size_t)p * count, factor);
            carom_residue_multiply(moduli, factor, edge_scale, factor);
            add_entry(proof, condition, unknown + 1 - p, factor, p == 0 ? 1 : -1);
        }
    }
    if (mode->friction == CAROM_MODE_STICK) return;

    // Slip: the sliding speed along the mode's edge is positive, and no other edge opposes the slip more.
    const uint64_t *along = at(proof, proof->probes, mode->edge * dim);
    add_velocity(proof, row + 1, dim, along, -1, new_condition(proof));
    for (int j = 0; j < edges; j++) {
        if (j == mode->edge) continue;
        uint64_t *condition = new_condition(proof);
        add_velocity(proof, row + 1, dim, at(proof, proof->probes, j * dim), 1, condition);
        add_velocity(proof, row + 1, dim, along, -1, condition);
    }
    // Slip between two edges: the share of the first is between 0 and mu lam_n.
    if (mode->friction == CAROM_MODE_FACET) {
        add_entry(proof, new_condition(proof), unknown, proof->ones, 1);
        uint64_t *condition = new_condition(proof);
        carom_residue_multiply(moduli, mu, lam_n, factor);
        add_entry(proof, condition, normal, factor, 1);
        add_entry(proof, condition, unknown, mu_scale, -1);
    }
}

// The rank of W force: null vectors of a singular combination leave the velocity alone when it is that of the equations.
static int velocity_rank(carom_step_proof *proof) {
    const size_t bytes = (size_t)proof->n * (size_t)proof->moduli->count * sizeof(uint64_t);
    for (int j = 0; j < proof->system.unknowns; j++)
        memcpy(at(proof, proof->rank_table, j * proof->n), at(proof, proof->replies, proof->unknown_force[j] * proof->n), bytes);
    return carom_exact_rank(proof->moduli, proof->system.unknowns, proof->n, proof->rank_table);
}

// What the solutions report: velocities after the step, and the unknowns.
static void fill_reports(carom_step_proof *proof) {
    const carom_stepper *stepper = proof->stepper;
    const carom_moduli *moduli = proof->moduli;
    const int unknowns = proof->system.unknowns, dim = stepper->dim, stride = 1 + dim;
    proof->system.watched = proof->nv ? proof->nv : proof->n;
    for (int c = 0; c < proof->n && !proof->nv; c++) add_velocity(proof, c, 1, proof->ones, 1, new_condition(proof));
    for (int k = 0; k < proof->nv; k++) {
        uint64_t *row = new_condition(proof);
        // v + M^-1 J' (fixed + force x)
        add_entry(proof, row, unknowns, at(proof, proof->v, k), 1);
        for (int c = 0; c < proof->n; c++)
            carom_residue_add_product(moduli, at(proof, proof->fixed, c), at(proof, proof->response, k * proof->n + c),
                                      at(proof, row, unknowns));
        for (int j = 0; j < unknowns; j++)
            for (int p = 0; p < stride; p++)
                carom_residue_add_product(
                    moduli, at(proof, proof->forces, proof->unknown_force[j] * stride + p),
                    at(proof, proof->response, k * proof->n + carom_step_contact_row(stepper, proof->unknown_force[j] / proof->kinds) + p),
                    at(proof, row, j));
    }
    for (int j = 0; j < unknowns; j++) add_entry(proof, new_condition(proof), j, proof->ones, 1);
}

// The rank of the equations modulo the first prime: their rank is at least that.
static int least_rank(carom_step_proof *proof) {
    const carom_moduli first = carom_moduli_first(proof->moduli);
    const int unknowns = proof->system.unknowns;
    for (int i = 0; i < unknowns; i++)
        for (int j = 0; j < unknowns; j++)
            proof->rank_table[i * unknowns + j] = *at(proof, proof->system.equations, i * (unknowns + 1) + j);
    return carom_exact_rank(&first, unknowns, unknowns, proof->rank_table);
}

carom_exact_answer carom_step_prove(carom_step_proof *proof, const carom_step_mode *modes, carom_step_scope scope, double *v_next,
                                    double *unknowns) {
    const carom_stepper *stepper = proof->stepper;
    carom_exact_system *system = &proof->system;
    fill_equations(proof, modes);
    if (scope != CAROM_PROVE_EVERY) {
        // Null vectors cannot move the velocity where the rank is all that velocities have.
        const int rank = least_rank(proof);
        const bool still = proof->nv && rank >= proof->nv;
        if (rank < system->unknowns && (scope == CAROM_PROVE_REGULAR || still)) return CAROM_EXACT_EMPTY;
    }
    const carom_exact_answer points = carom_exact_eliminate(system);
    if (points == CAROM_EXACT_EMPTY || points == CAROM_EXACT_UNDECIDED) return points;
    if (points == CAROM_EXACT_VARIES && scope != CAROM_PROVE_EVERY) {
        const int moved = velocity_rank(proof);
        if (moved < 0) return CAROM_EXACT_UNDECIDED;
        // All solutions then have one velocity, and those at a vertex belong to another combination, too.
        if (moved == system->rank) return CAROM_EXACT_EMPTY;
    }
    system->rows = 0;
    for (int i = 0; i < stepper->count; i++) fill_contact(proof, &modes[i], i);
    system->signs = system->rows;
    system->watched = 0;
    carom_exact_answer answer = carom_exact_decide(system, NULL);
    if (answer != CAROM_EXACT_SINGLE) return answer;
    fill_reports(proof);
    answer = carom_exact_decide(system, proof->values);
    if (answer != CAROM_EXACT_SINGLE) return answer;
    const int stride = 1 + stepper->dim;
    for (int k = 0; k < system->watched; k++)
        v_next[k] =
            ldexp(proof->values[k], (proof->nv ? proof->coordinate_scale[k] : -proof->contact_scale[k / stride] - proof->row_exponent) -
                                        proof->velocity_exponent);
    for (int j = 0; j < system->unknowns; j++)
        unknowns[j] = ldexp(proof->values[system->watched + j],
                            proof->impulse_exponent + proof->contact_scale[stepper->first + proof->unknown_force[j] / proof->kinds]);
    return answer;
}
