// SPDX-License-Identifier: Apache-2.0
// Friction of spatial contacts without slip, and the weights that hold contacts. With a = (W p)_t, the optimality condition over the disk
// is
//
//     x_i = P_i(x_i - omega_i a_i),   P_i the projection onto |x_i| <= mu_i lambda_i,  omega_i > 0,
//
// and a held contact has (W p)_n = 0. Newton's method takes a piece of this piecewise smooth equation at a time; where it does not get
// nearer, sweeps minimise over one disk after the other, which converge for friction alone (the problem is convex).
#include "reach/balance.h"

#include <math.h>
#include <string.h>

#include "carom/dense.h"

// Residuals within this share of the largest weight are solutions; Newton's method goes on until they are round-off.
#define SOLVED   1e-11
#define ROUNDING 1e-15
// Friction at its bound that others relieve, as equal tangents do, lets the contact slide off by round-off only: less than this share.
#define SLACK 1e-9
// Held contacts whose weight falls below this share of the one before are let go.
#define VANISHED 1e-12
// As a share of the largest entry of W: sticking contacts creep by as much times their impulse, far below the tolerance of walks in space
// unless W is nearly singular or friction jams.
#define REGULARISATION 1e-12

// How strongly friction is pulled to the last shares, beside its own mass.
#define PULL 1e-3

enum { PLAIN_STEPS = 8, MOST_PULLS = 12, SWEEPS = 6, MOST_SECULAR = 60 };

void carom_balance_create(const carom_impact *impact, carom_arena *arena, carom_balance *balance) {
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)carom_impact_get_data(impact)->contacts;
    const double *W = carom_impact_delassus(impact);
    *balance = (carom_balance){
        .impact = impact, .contacts = (int)contacts, .n = (int)n, .regularisation = REGULARISATION * carom_max_abs(n * n, W)};
    balance->slip = carom_arena_take(arena, contacts, sizeof *balance->slip);
    balance->direction = carom_arena_take(arena, 2 * contacts, sizeof(double));
    balance->offset = carom_arena_take(arena, 2 * contacts, sizeof(double));
    balance->held = carom_arena_take(arena, contacts, sizeof *balance->held);
    balance->margin = carom_arena_take(arena, contacts, sizeof(double));
    balance->bounded = carom_arena_take(arena, contacts, sizeof(bool));
    balance->centre = carom_arena_take(arena, n, sizeof(double));
    balance->pull = carom_arena_take(arena, contacts, sizeof(double));
    balance->omega = carom_arena_take(arena, contacts, sizeof(double));
    balance->unknown = carom_arena_take(arena, n, sizeof(int));
    balance->exchanges = carom_arena_take(arena, n, sizeof(int));
    balance->residual = carom_arena_take(arena, n, sizeof(double));
    balance->slope = carom_arena_take(arena, n, sizeof(double));
    balance->matrix = carom_arena_take(arena, n * n, sizeof(double));
    balance->change = carom_arena_take(arena, n, sizeof(double));
    for (size_t i = 0; i < contacts && !arena->failed; i++) {
        // The trace of the tangential block does not depend on the choice of tangents.
        const double trace = W[(3 * i + 1) * n + 3 * i + 1] + W[(3 * i + 2) * n + 3 * i + 2];
        balance->omega[i] = trace > balance->regularisation ? 2 / trace : 0;
    }
}

static const double *row_of(const carom_balance *balance, int row) {
    return carom_impact_delassus(balance->impact) + (size_t)row * (size_t)balance->n;
}

static double friction_of(const carom_balance *balance, int contact) { return carom_impact_get_data(balance->impact)->friction[contact]; }

static double largest_weight(const carom_balance *balance, const double *p) {
    double largest = 0;
    for (int i = 0; i < balance->contacts; i++) largest = fmax(largest, p[3 * i]);
    return largest;
}

static bool is_resting(const carom_balance *balance, int contact) { return balance->slip[contact] >= CAROM_SLIP_STICKING; }

static void list_unknowns(carom_balance *balance) {
    balance->size = 0;
    for (int i = 0; i < balance->contacts; i++) {
        if (balance->held[i]) balance->unknown[balance->size++] = 3 * i;
        for (int k = 1; k <= 2 && is_resting(balance, i); k++) balance->unknown[balance->size++] = 3 * i + k;
    }
}

// Sliding friction, the residuals, and whether friction at rest is at its bound. Returns the largest residual.
static double evaluate(carom_balance *balance, double *p) {
    double worst = 0;
    const double largest = largest_weight(balance, p);
    for (int i = 0; i < balance->contacts; i++)
        for (int k = 0; k < 2 && balance->slip[i] == CAROM_SLIP_SLIDING; k++)
            p[3 * i + 1 + k] = friction_of(balance, i) * p[3 * i] * balance->direction[2 * i + k];
    for (int r = 0; r < balance->size; r++)
        balance->slope[balance->unknown[r]] = carom_dot(balance->n, row_of(balance, balance->unknown[r]), p);
    for (int i = 0; i < balance->contacts; i++) {
        if (balance->held[i]) {
            balance->residual[3 * i] = balance->slope[3 * i];
            worst = fmax(worst, fabs(balance->slope[3 * i]) / row_of(balance, 3 * i)[3 * i]);
        }
        if (!is_resting(balance, i)) continue;
        for (int k = 0; k < 2; k++) balance->slope[3 * i + 1 + k] += balance->offset[2 * i + k];
        const double *x = p + 3 * i + 1, bound = friction_of(balance, i) * fmax(p[3 * i], 0), omega = balance->omega[i];
        double y[2];
        for (int k = 0; k < 2; k++)
            y[k] = x[k] - omega * (balance->slope[3 * i + 1 + k] + balance->pull[i] * (x[k] - balance->centre[3 * i + 1 + k]));
        const double size = hypot(y[0], y[1]);
        balance->bounded[i] = size > bound;
        balance->margin[i] = size - bound - SLACK * largest;
        for (int k = 0; k < 2; k++) {
            balance->residual[3 * i + 1 + k] = x[k] - (size > bound ? bound * y[k] / size : y[k]);
            worst = fmax(worst, fabs(balance->residual[3 * i + 1 + k]));
        }
    }
    return worst;
}

// How row `row` of W p changes with the unknown `column`: sliding friction grows with the weight of a held contact.
static double coefficient(const carom_balance *balance, int row, int column) {
    const double *W = row_of(balance, row);
    const int i = column / 3;
    double entry = W[column];
    if (column % 3 == 0 && balance->slip[i] == CAROM_SLIP_SLIDING)
        entry += friction_of(balance, i) * (W[column + 1] * balance->direction[2 * i] + W[column + 2] * balance->direction[2 * i + 1]);
    return entry + (column % 3 && row == column ? balance->pull[i] : 0);
}

// The derivatives of the two residuals of a contact at rest with the unknown `column`.
static void differentiate(const carom_balance *balance, const double *p, int contact, int column, double *first, double *second) {
    const int row = 3 * contact + 1;
    const double omega = balance->omega[contact], mu = friction_of(balance, contact), bound = mu * fmax(p[3 * contact], 0);
    const double *x = p + row, moves[2] = {column == row, column == row + 1};
    double y[2], dy[2];
    for (int k = 0; k < 2; k++) {
        y[k] = x[k] - omega * (balance->slope[row + k] + balance->pull[contact] * (x[k] - balance->centre[row + k]));
        dy[k] = moves[k] - omega * coefficient(balance, row + k, column);
    }
    double projected[2] = {dy[0], dy[1]};
    if (balance->bounded[contact]) {
        // P(y) = bound y/|y|: it turns with y, and grows with the bound.
        const double size = hypot(y[0], y[1]), c = y[0] / size, s = y[1] / size, turn = bound / size * (c * dy[1] - s * dy[0]);
        const double growth = column == 3 * contact ? mu : 0;
        projected[0] = growth * c - turn * s;
        projected[1] = growth * s + turn * c;
    }
    *first = moves[0] - projected[0];
    *second = moves[1] - projected[1];
}

// One step of Newton's method. False where the equations are singular.
static bool take_step(carom_balance *balance, double *p) {
    const int size = balance->size;
    for (int r = 0; r < size; r++) {
        const int row = balance->unknown[r];
        balance->change[r] = -balance->residual[row];
        for (int c = 0; c < size; c++) {
            double *entry = balance->matrix + r * size + c;
            if (row % 3 == 0) *entry = coefficient(balance, row, balance->unknown[c]);
            // Both rows of a contact at rest at once.
            if (row % 3 == 1) differentiate(balance, p, row / 3, balance->unknown[c], entry, entry + size);
        }
    }
    if (!carom_lu_factor(size, balance->matrix, balance->exchanges)) return false;
    carom_lu_solve(size, balance->matrix, balance->exchanges, balance->change);
    bool left = false;
    for (int r = 0; r < size; r++) {
        const int row = balance->unknown[r], i = row / 3;
        const double after = p[row] + balance->change[r];
        const bool leaves = row % 3 == 0 && balance->leaves && !(after > VANISHED * p[row]);
        p[row] = leaves ? 0 : after;
        if (!leaves) continue;
        balance->held[i] = false;
        balance->slip[i] = CAROM_SLIP_NONE;
        left = true;
    }
    if (!left) return true;
    for (int i = 0; i < balance->contacts; i++)
        if (balance->slip[i] == CAROM_SLIP_NONE) p[3 * i + 1] = p[3 * i + 2] = 0;
    list_unknowns(balance);
    return true;
}

// The least x'Bx/2 + c'x over |x| <= bound, B = [B0 B1; B1 B2] positive definite.
static void solve_disk(const double B[3], const double c[2], double bound, double *x) {
    // (B + alpha) x = -c with the least alpha >= 0 for which |x| <= bound: 1/|x| is concave in alpha, and Newton's method from 0 monotone.
    double alpha = 0;
    for (int k = 0; k < MOST_SECULAR; k++) {
        const double b0 = B[0] + alpha, b2 = B[2] + alpha, determinant = b0 * b2 - B[1] * B[1];
        x[0] = (B[1] * c[1] - b2 * c[0]) / determinant;
        x[1] = (B[1] * c[0] - b0 * c[1]) / determinant;
        const double size = hypot(x[0], x[1]);
        if (!(size > bound * (1 + 1e-14))) return;
        if (bound == 0) break;
        // d|x|/dalpha = -x'(B + alpha)^-1 x/|x|
        const double form = (b2 * x[0] * x[0] - 2 * B[1] * x[0] * x[1] + b0 * x[1] * x[1]) / determinant;
        alpha += (size - bound) / bound * size * size / form;
    }
    const double size = hypot(x[0], x[1]);
    for (int k = 0; k < 2 && size > bound; k++) x[k] *= bound / size;
}

// The friction of one contact at rest after the other, each the best for the others'.
static void sweep(carom_balance *balance, double *p) {
    for (int i = 0; i < balance->contacts; i++) {
        if (!is_resting(balance, i)) continue;
        const double *first = row_of(balance, 3 * i + 1), *second = row_of(balance, 3 * i + 2), rho = balance->pull[i];
        const double B[3] = {first[3 * i + 1] + rho, first[3 * i + 2], second[3 * i + 2] + rho};
        p[3 * i + 1] = p[3 * i + 2] = 0;
        const double c[2] = {carom_dot(balance->n, first, p) + balance->offset[2 * i] - rho * balance->centre[3 * i + 1],
                             carom_dot(balance->n, second, p) + balance->offset[2 * i + 1] - rho * balance->centre[3 * i + 2]};
        solve_disk(B, c, friction_of(balance, i) * fmax(p[3 * i], 0), p + 3 * i + 1);
    }
}

// Newton's method, and sweeps where it does not get nearer. Returns the last residual.
static double iterate(carom_balance *balance, int steps, double *p) {
    double worst = evaluate(balance, p);
    for (int k = 0; k < steps && worst > ROUNDING * largest_weight(balance, p); k++) {
        if (!take_step(balance, p)) return INFINITY;
        const double before = worst;
        worst = evaluate(balance, p);
        if (worst < before / 2) continue;
        if (worst <= SOLVED * largest_weight(balance, p)) break;
        for (int s = 0; s < SWEEPS; s++) sweep(balance, p);
        worst = evaluate(balance, p);
    }
    return worst;
}

bool carom_balance_solve(carom_balance *balance, double *p) {
    list_unknowns(balance);
    memset(balance->centre, 0, (size_t)balance->n * sizeof *balance->centre);
    for (int i = 0; i < balance->contacts; i++) balance->pull[i] = balance->regularisation;
    double worst = iterate(balance, PLAIN_STEPS, p);
    // Friction that may be shared in many ways makes Newton's steps large along what is open: near the last shares it is not.
    bool solved = worst <= SOLVED * largest_weight(balance, p);
    for (int k = 0; k < MOST_PULLS && !solved && isfinite(worst); k++) {
        memcpy(balance->centre, p, (size_t)balance->n * sizeof *balance->centre);
        for (int i = 0; i < balance->contacts; i++) balance->pull[i] = balance->omega[i] > 0 ? PULL / balance->omega[i] : 0;
        worst = iterate(balance, PLAIN_STEPS, p);
        double moved = 0;
        for (int r = 0; r < balance->size; r++) {
            const int row = balance->unknown[r];
            if (row % 3) moved = fmax(moved, PULL * fabs(p[row] - balance->centre[row]));
        }
        solved = worst + moved <= SLACK * largest_weight(balance, p);
    }
    for (int i = 0; i < balance->contacts && solved; i++)
        if (is_resting(balance, i)) balance->slip[i] = balance->margin[i] > 0 ? CAROM_SLIP_ROLLING : CAROM_SLIP_STICKING;
    return solved;
}
