// SPDX-License-Identifier: Apache-2.0
// The midpoint rule L_d = h L((q0+q1)/2, (q1-q0)/h) for L = v'M(q)v/2 - V(q) (Seghete & Murphey, section VI-A), with v = (q1-q0)/h and
// F = grad_q (v'M v)/2 - grad V + A at the midpoint, A the forces without a potential:
//     p0 = M v - h/2 F - P0,      p1 = p0 + h F + P0 + P1.
// Actuators, dampers and fluids enter as A by the discrete Lagrange-d'Alembert principle. The paper has no contacts that stay closed, and
// searches for its friction forces (section VII-B). Here held contacts have impulses at both ends of a step,
//     P0 = sum_i lambda_i n_i(q0) + tau_i t_i(q0) with phi_i(q1) = 0,      P1 = the same at q1 with n_i(q1).v1 = 0,
// and Coulomb's friction |tau_i| <= mu_i lambda_i against the slip t_i.v of the step, or t_i(q1).v1 at its end.
#include "dynamics/propagative/flight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// The iteration for q1 contracts with the step; it ends when positions move by round-off alone.
#define ROUND_OFF 1e-15
// Where round-off keeps them moving by more, the iteration also ends when its steps stop shrinking and are at most this large.
#define STALLED 1e-12

// Pivots below this share of the largest one count as zero: contacts that depend on each other share what they carry.
#define RANK_TOLERANCE 1e-10
// Rates below this share of the largest that the velocity may give count as zero in the laws of contact, and so do impulses that change
// them by no more.
#define LAW_TOLERANCE 1e-12

// Most combinations of modes that are tried: six contacts with friction, or twelve without.
enum { MOST_ITERATIONS = 200, MOST_CODES = 4096 };

// What a held contact does. One without friction closes or is released.
typedef enum contact_mode { STICKS, SLIPS_FORWARD, SLIPS_BACKWARD, RELEASED, CLOSES } contact_mode;

struct propagative_flight {
    const carom_system *system;
    void *workspace;  // of the system
    size_t n, m;      // velocities, contacts
    carom_arena arena;
    carom_system_terms terms;   // at `place`
    double *place;              // [n]
    bool placed, factored;      // the terms, the factor are those of `place`
    double *factor;             // of the mass matrix
    double *zero;               // [n] of zeros
    double *middle, *next;      // [n] the midpoint, and the end that follows from it
    double *v, *force, *given;  // [n] at the midpoint: velocity, F, and A
    double *bent;               // [n] grad_q (v'M v)/2
    double *one, *bias[3];      // [n] scratch
    // Of held contacts, `list`: a row for each normal, and where there is friction one for its tangent after it (stride 2).
    int stride;
    int *list;              // [m]
    contact_mode *mode;     // [m]
    double *along;          // [rows x n] directions of the impulses
    double *response;       // [rows x n] M^-1 of them
    double *row;            // [rows x n] directions of the rates
    double *rest;           // [rows] rates without impulses
    double *rates;          // [rows x rows] rates of unit impulses
    double *impulse;        // [rows]
    double *matrix, *null;  // [rows x rows]
    double *solution;       // [rows]
    double *slow;           // [rows] rates that count as zero
    double *slip;           // [m] of held contacts before their impulses
    double *start;          // [n] velocity before them
    int *exchanges;         // [rows]
};

// ---------------------------------------------------------------------------------------------------------------- life

carom_status propagative_flight_create(const carom_system *system, propagative_flight **flight, carom_error *error) {
    *flight = NULL;
    propagative_flight *f = calloc(1, sizeof *f);
    if (!f) return carom_fail_memory(error, "motion");
    const size_t n = (size_t)system->nv, m = (size_t)system->contacts;
    const int stride = carom_max_abs(m, system->friction) > 0 ? 2 : 1;
    const size_t rows = (size_t)stride * m;
    *f = (propagative_flight){.system = system, .n = n, .m = m, .stride = stride};
    carom_system_terms *t = &f->terms;
    const struct {
        size_t size;
        double **arrays[17];
    } rooms[] = {{n,
                  {&f->place, &f->zero, &f->middle, &f->v, &f->force, &f->given, &f->one, &f->bent, &f->next, &f->start, &f->bias[0],
                   &f->bias[1], &f->bias[2], &t->bias, &t->actuation, &t->resistance}},
                 {n * n, {&t->mass, &f->factor}},
                 {m, {&t->gap, &t->normal_drift, &t->tangent_drift, &f->slip}},
                 {m * n, {&t->normal, &t->tangent}},
                 {rows, {&f->rest, &f->slow, &f->impulse, &f->solution}},
                 {rows * n, {&f->along, &f->response, &f->row}},
                 {rows * rows, {&f->rates, &f->matrix, &f->null}}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        for (double **const *array = rooms[i].arrays; *array; array++) **array = carom_arena_take(&f->arena, rooms[i].size, sizeof(double));
    f->list = carom_arena_take(&f->arena, m, sizeof *f->list);
    f->mode = carom_arena_take(&f->arena, m, sizeof *f->mode);
    f->exchanges = carom_arena_take(&f->arena, rows, sizeof *f->exchanges);
    const carom_status status = f->arena.failed ? carom_fail_memory(error, "motion") : system->open(system->self, &f->workspace, error);
    if (status)
        propagative_flight_free(f);
    else
        *flight = f;
    return status;
}

void propagative_flight_free(propagative_flight *f) {
    if (!f) return;
    if (f->workspace) f->system->close(f->workspace);
    carom_arena_free(&f->arena);
    free(f);
}

// --------------------------------------------------------------------------------------------------------------- terms

const carom_system_terms *propagative_flight_look(propagative_flight *f, const double *q) {
    if (f->placed && !memcmp(q, f->place, f->n * sizeof *q)) return &f->terms;
    memcpy(f->place, q, f->n * sizeof *q);
    f->system->evaluate(f->workspace, q, f->zero, &f->terms);
    f->placed = true;
    f->factored = f->factored && f->system->constant_mass;
    return &f->terms;
}

// Factors M(q).
static bool factor_mass(propagative_flight *f, const double *q) {
    propagative_flight_look(f, q);
    if (f->factored) return true;
    memcpy(f->factor, f->terms.mass, f->n * f->n * sizeof *f->factor);
    f->factored = carom_all_finite(f->n * f->n, f->factor) && !carom_cholesky_factor((int)f->n, f->factor);
    return f->factored;
}

// x = M^-1 x with the last factor.
static void solve_mass(const propagative_flight *f, double *x) {
    carom_cholesky_forward((int)f->n, f->factor, x);
    carom_cholesky_backward((int)f->n, f->factor, x);
}

bool propagative_flight_velocity(propagative_flight *f, const double *q, const double *p, double *v) {
    if (!factor_mass(f, q)) return false;
    memmove(v, p, f->n * sizeof *p);
    solve_mass(f, v);
    return true;
}

double propagative_flight_kinetic_energy(propagative_flight *f, const double *q, const double *p) {
    return propagative_flight_velocity(f, q, p, f->one) ? 0.5 * carom_dot((int)f->n, p, f->one) : NAN;
}

// Inertia forces and the potential's gradient at `place` with a velocity: what the bias is without actuators, dampers and fluids, whose
// forces remain in the terms. The other terms stay as they are.
static void find_bias(propagative_flight *f, const double *v, double *bias) {
    f->system->evaluate(f->workspace, f->place, v, &f->terms);
    for (size_t k = 0; k < f->n; k++) bias[k] = f->terms.bias[k] + f->terms.actuation[k] + f->terms.resistance[k];
}

// F at the midpoint. With forces A taken out, b(v) = Gamma(v, v) + grad V, where Gamma_j(v, w) = Gamma_jik v_i w_k has the Christoffel
// symbols of M, and the sum of v_j Gamma_j(e_i, v) over j is half of v'(dM/dq_i)v. Differences of b give it exactly:
//     Gamma(v, e) = (b(v + e) - b(v) - b(e) + b(0))/2.
static void find_force(propagative_flight *f) {
    const size_t n = f->n;
    const double *v = f->v;
    double *moving = f->bias[0], *single = f->bias[1], *both = f->bias[2], *still = f->force;
    memset(f->bent, 0, n * sizeof *f->bent);
    find_bias(f, f->zero, still);
    // A unit of the size of the velocity: the differences lose no digits.
    const double unit = f->system->constant_mass ? 0 : carom_max_abs(n, v);
    if (unit > 0) find_bias(f, v, moving);
    for (size_t k = 0; k < n; k++) f->given[k] = f->terms.actuation[k] + f->terms.resistance[k];
    for (size_t i = 0; i < n && unit > 0; i++) {
        memset(f->one, 0, n * sizeof *f->one);
        f->one[i] = unit;
        find_bias(f, f->one, single);
        for (size_t k = 0; k < n; k++) f->one[k] += v[k];
        find_bias(f, f->one, both);
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += v[k] * 0.5 * (both[k] - moving[k] - single[k] + still[k]);
        f->bent[i] = sum / unit;
    }
    for (size_t k = 0; k < n; k++) f->force[k] = f->bent[k] + f->given[k] - still[k];
}

// -------------------------------------------------------------------------------------------------------- held contacts

static double friction_of(const propagative_flight *f, int i) { return f->stride > 1 ? f->system->friction[f->list[i]] : 0; }

// Copies the normals of the held contacts from the terms into `rows`, and their tangents.
static void take_rows(const propagative_flight *f, int count, bool normals, bool tangents, double *rows) {
    const size_t size = f->n * sizeof *rows;
    for (int i = 0; i < count; i++) {
        double *own = rows + (size_t)(f->stride * i) * f->n;
        const size_t at = (size_t)f->list[i] * f->n;
        if (normals) memcpy(own, f->terms.normal + at, size);
        if (tangents && f->stride > 1) memcpy(own + f->n, f->terms.tangent + at, size);
    }
}

// What unit impulses do, with the last factor of the mass.
static void respond(propagative_flight *f, int rows) {
    memcpy(f->response, f->along, (size_t)rows * f->n * sizeof *f->response);
    for (int i = 0; i < rows; i++) solve_mass(f, f->response + (size_t)i * f->n);
}

// x += sum_i impulse_i row_i.
static void add_rows(const propagative_flight *f, int count, const double *rows, double *x) {
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < f->n; k++) x[k] += f->impulse[i] * rows[(size_t)i * f->n + k];
}

// The modes of one contact in the order in which they are tried: slip goes on, and is zero else. Returns their number.
static int order_modes(const propagative_flight *f, int i, double slip, contact_mode order[4]) {
    const bool rubs = friction_of(f, i) > 0;
    const contact_mode first = slip > 0 ? SLIPS_FORWARD : SLIPS_BACKWARD, other = slip > 0 ? SLIPS_BACKWARD : SLIPS_FORWARD;
    order[0] = !rubs ? CLOSES : slip != 0 ? first : STICKS;
    order[1] = !rubs ? RELEASED : slip != 0 ? STICKS : first;
    order[2] = other;
    order[3] = RELEASED;
    return rubs ? 4 : 2;
}

// Tangential over normal impulse of a contact that does not stick.
static double impulse_ratio(const propagative_flight *f, int i) {
    return f->mode[i] == SLIPS_FORWARD ? -friction_of(f, i) : f->mode[i] == SLIPS_BACKWARD ? friction_of(f, i) : 0;
}

// Solves for the impulses of the modes: rates of contacts that close vanish, tangential ones of those that stick, too.
static bool solve_modes(propagative_flight *f, int count) {
    const int rows = f->stride * count;
    int size = 0;
    for (int i = 0; i < count; i++) size += (f->mode[i] != RELEASED) + (f->mode[i] == STICKS);
    int row = 0;
    for (int r = 0; r < rows; r++) {
        const contact_mode own = f->mode[r / f->stride];
        if (own == RELEASED || (r % f->stride && own != STICKS)) continue;
        f->solution[row] = -f->rest[r];
        int column = 0;
        for (int i = 0; i < count; i++) {
            const double *unit = f->rates + r * rows + f->stride * i, ratio = impulse_ratio(f, i);
            if (f->mode[i] == RELEASED) continue;
            f->matrix[row * size + column++] = ratio != 0 ? unit[0] + ratio * unit[1] : unit[0];
            if (f->mode[i] == STICKS) f->matrix[row * size + column++] = unit[1];
        }
        row++;
    }
    if (size && carom_solve_least_norm(size, f->matrix, f->solution, RANK_TOLERANCE, f->null, f->exchanges) < 0) return false;
    for (int i = 0, column = 0; i < count; i++) {
        double *own = f->impulse + f->stride * i;
        own[0] = f->mode[i] == RELEASED ? 0 : f->solution[column++];
        if (f->stride > 1) own[1] = f->mode[i] == STICKS ? f->solution[column++] : impulse_ratio(f, i) * own[0];
    }
    return true;
}

// Do the impulses of the modes, and the rates that they leave, obey the laws of contact?
static bool is_consistent(const propagative_flight *f, int count) {
    const int rows = f->stride * count;
    for (int i = 0; i < count; i++) {
        const double *own = f->impulse + f->stride * i;
        const int normal = f->stride * i, tangent = normal + 1;
        // Of a contact that is released the normal rate, of others the slip.
        const int r = f->stride > 1 && f->mode[i] != RELEASED ? tangent : normal;
        const double rate = f->rest[r] + carom_dot(rows, f->rates + r * rows, f->impulse);
        if (own[0] < -f->slow[normal] / f->rates[normal * rows + normal] || (f->mode[i] == RELEASED && rate < -f->slow[r])) return false;
        if (f->mode[i] == STICKS && fabs(own[1]) > friction_of(f, i) * own[0] + f->slow[tangent] / f->rates[tangent * rows + tangent])
            return false;
        if ((f->mode[i] == SLIPS_FORWARD && rate < -f->slow[r]) || (f->mode[i] == SLIPS_BACKWARD && rate > f->slow[r])) return false;
    }
    return true;
}

// Impulses of the held contacts that obey the laws of contact: they push or their normal rates are positive, and friction holds, or opposes
// slip. Rates are those of `rest`, at the velocity v, and, by `row`, of what the impulses do. The first combination of modes that obeys
// them is taken, from `code` on: modes in the order that `slip` gives them. Slip that goes on comes first, because impulses of any size may
// hold contacts that wedge a body, although forces do not stop it at once. Too many contacts without friction close, and the caller
// releases those that pull. False where the laws have no solution.
static bool solve_contacts(propagative_flight *f, int count, const double *v, const double *slip, long *code) {
    const int rows = f->stride * count, n = (int)f->n;
    for (int i = 0; i < rows; i++) {
        const double *row = f->row + (size_t)i * f->n;
        f->slow[i] = LAW_TOLERANCE * sqrt(carom_dot(n, row, row) * carom_dot(n, v, v));
        for (int j = 0; j < rows; j++) f->rates[i * rows + j] = carom_dot(n, row, f->response + (size_t)j * f->n);
    }
    long codes = 1;
    bool rubs = false;
    contact_mode order[4];
    for (int i = 0; i < count && codes <= MOST_CODES; i++) {
        codes *= order_modes(f, i, 0, order);
        rubs = rubs || friction_of(f, i) > 0;
    }
    if (codes > MOST_CODES) {
        for (int i = 0; i < count; i++) {
            rubs = rubs || friction_of(f, i) > 0;
            f->mode[i] = CLOSES;
        }
        return !rubs && solve_modes(f, count);
    }
    for (long tried = 0; tried < codes; tried++, *code = (*code + 1) % codes) {
        long left = *code;
        for (int i = 0; i < count; i++) {
            const int modes = order_modes(f, i, slip ? slip[i] : 0, order);
            f->mode[i] = order[left % modes];
            left /= modes;
        }
        if (solve_modes(f, count) && is_consistent(f, count)) return true;
    }
    return false;
}

// The work that friction does with the last impulses, along `rows`: at the mean of the slip before and after them.
static double friction_work(const propagative_flight *f, int count, const double *rows, const double *before, const double *after) {
    double work = 0;
    for (int i = 0; i < count && f->stride > 1; i++) {
        const double *row = rows + (size_t)(2 * i + 1) * f->n;
        work += f->impulse[2 * i + 1] * 0.5 * (carom_dot((int)f->n, row, before) + carom_dot((int)f->n, row, after));
    }
    return work;
}

// -------------------------------------------------------------------------------------------------------------- a step

bool propagative_flight_advance(propagative_flight *f, const double *q0, const double *p0, double h, const bool *held, double *q1,
                                double *p1, double *multiplier, bool *released, double *work) {
    const size_t n = f->n;
    int count = 0;
    for (size_t c = 0; c < f->m; c++) {
        multiplier[c] = 0;
        released[c] = false;
        if (held[c]) f->list[count++] = (int)c;
    }
    // Directions and slip of the held contacts at the start.
    const int rows = f->stride * count;
    long code = 0;
    memset(f->impulse, 0, (size_t)rows * sizeof *f->impulse);
    if (!propagative_flight_velocity(f, q0, p0, f->start)) return false;
    take_rows(f, count, true, true, f->along);
    for (int i = 0; i < count && f->stride > 1; i++) f->slip[i] = carom_dot((int)n, f->along + (size_t)(2 * i + 1) * n, f->start);
    memcpy(q1, q0, n * sizeof *q1);
    double last = INFINITY, scale = carom_max_abs(n, q0);
    bool converged = false;
    for (int i = 0; i < MOST_ITERATIONS && !converged; i++) {
        // The end that force and impulses lead to, M v = p0 + h/2 F + P0; first without impulses.
        for (size_t k = 0; k < n; k++) f->middle[k] = 0.5 * (q0[k] + q1[k]);
        if (!factor_mass(f, f->middle)) return false;
        if (i == 0) memcpy(f->v, f->start, n * sizeof *f->v);
        find_force(f);
        for (size_t k = 0; k < n; k++) f->v[k] = p0[k] + 0.5 * h * f->force[k];
        solve_mass(f, f->v);
        for (size_t k = 0; k < n; k++) f->next[k] = q0[k] + h * f->v[k];
        // The path that impulses take back where contacts hold a body at the origin counts, too.
        if (i == 0)
            for (size_t k = 0; k < n; k++) scale = fmax(scale, h * fabs(f->v[k]));
        if (count && h > 0) {
            // Slip is that of the midpoint. Gaps are linear about the last end: (phi(q) + J (next - q))/h is what closes them.
            respond(f, rows);
            take_rows(f, count, false, true, f->row);
            const double *about = i ? q1 : f->next;
            const carom_system_terms *terms = propagative_flight_look(f, about);
            take_rows(f, count, true, false, f->row);
            for (int k = 0; k < count; k++) {
                const double *normal = f->row + (size_t)(f->stride * k) * n;
                double gap = terms->gap[f->list[k]];
                for (size_t j = 0; j < n; j++) gap += normal[j] * (f->next[j] - about[j]);
                f->rest[f->stride * k] = gap / h;
                if (f->stride > 1) f->rest[2 * k + 1] = carom_dot((int)n, normal + n, f->v);
            }
            if (!solve_contacts(f, count, f->v, f->stride > 1 ? f->slip : NULL, &code)) return false;
            add_rows(f, rows, f->response, f->v);
            for (size_t k = 0; k < n; k++) f->next[k] = q0[k] + h * f->v[k];
        }
        if (!carom_all_finite(n, f->next)) return false;
        double change = 0;
        for (size_t k = 0; k < n; k++) change = fmax(change, fabs(f->next[k] - q1[k]));
        scale = fmax(scale, carom_max_abs(n, f->next));
        memcpy(q1, f->next, n * sizeof *q1);
        converged = change <= ROUND_OFF * scale || (change >= last && change <= STALLED * scale);
        last = change;
    }
    *work = h * carom_dot((int)n, f->given, f->v);
    for (size_t k = 0; k < n; k++) p1[k] = p0[k] + h * f->force[k];
    if (!converged || !count) return converged;
    add_rows(f, rows, f->along, p1);
    int closed = 0;
    for (int i = 0; i < count; i++) {
        multiplier[f->list[i]] = f->impulse[f->stride * i];
        released[f->list[i]] = h > 0 && f->mode[i] == RELEASED;
    }
    if (f->stride > 1) {
        memcpy(f->one, p0, n * sizeof *f->one);
        add_rows(f, rows, f->along, f->one);
        if (!propagative_flight_velocity(f, q0, f->one, f->v)) return false;
        *work += friction_work(f, count, f->along, f->start, f->v);
    }
    // Impulses at the end, of those that stay closed, in the metric there.
    for (int i = 0; i < count; i++)
        if (!released[f->list[i]]) f->list[closed++] = f->list[i];
    if (!propagative_flight_velocity(f, q1, p1, f->start)) return false;
    take_rows(f, closed, true, true, f->along);
    memcpy(f->row, f->along, (size_t)(f->stride * closed) * n * sizeof *f->row);
    respond(f, f->stride * closed);
    for (int i = 0; i < f->stride * closed; i++) f->rest[i] = carom_dot((int)n, f->along + (size_t)i * n, f->start);
    for (int i = 0; i < closed && f->stride > 1; i++) f->slip[i] = f->rest[2 * i + 1];
    code = 0;
    if (!solve_contacts(f, closed, f->start, f->stride > 1 ? f->slip : NULL, &code)) return false;
    add_rows(f, f->stride * closed, f->along, p1);
    if (f->stride > 1) {
        memcpy(f->v, f->start, n * sizeof *f->v);
        add_rows(f, f->stride * closed, f->response, f->v);
        *work += friction_work(f, closed, f->along, f->start, f->v);
    }
    return true;
}
