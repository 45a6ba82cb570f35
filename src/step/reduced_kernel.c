// SPDX-License-Identifier: Apache-2.0
// The planar impact step as Lemke's method on two rows a contact, compiled once for every instruction set: the build defines KERNEL.
//
// With lam = (lam_n, lam_t) and the velocity after the step u' = u + W lam, a planar contact obeys (Halm & Posa, eq. 32, 33 and 75)
//   0 <= lam_n <= lmax,  u'_n >= 0 at lam_n = 0,  u'_n <= 0 at lam_n = lmax,  u'_n = 0 between,
//   |lam_t| <= mu lam_n, u'_t <= 0 at lam_t = mu lam_n, u'_t >= 0 at lam_t = -mu lam_n, u'_t = 0 between.
// These (lam, u') form a surface of five kinds of plane pieces, the modes. On each, two of the four numbers are free and the others are
// tied to constants, or lam_t to lam_n. A pivot takes the path u' = u + W lam + t (1, 0), t falling from infinity to 0, from one piece into
// the next. So the caps cost no rows, as in the simplex method with bounded variables, and neither do the two cone edges and the slip
// speed of the LCP's friction law: 2m rows instead of 5m.
//
// The path ends: lam is bounded by the caps, so on a ray du' = dt (1, 0); dt > 0 needs every contact open, which is the ray where the path
// began. Without caps it may end on another ray in principle, and the caller has a second method.
//
// Tangential impulses stand in a frame: s = side lam_t + mu lam_n in [0, 2 mu lam_n] of a closed contact, lam_t itself of an open one.
// Slip is s = 0 with side u'_t >= 0. Slip the other way is slip in the other frame, s' = 2 mu lam_n - s.
//
// The tableau x_B = value - T x_N is stored by columns: columns of 2m rows fill vector registers better than rows of 2m + 1 columns.
#include "step/reduced_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef KERNEL
#define KERNEL carom_step_reduced_kernel_portable
#endif

// Columns start at multiples of the widest vector register and are padded with zeros to a multiple of it: no loop has a remainder.
enum { ALIGNMENT = 64, LANES = ALIGNMENT / sizeof(double) };

// Entries below this share of their column's largest, both in units, are no pivots.
#define PIVOT_TOLERANCE 1e-9
// A gap that misses the least ratio by less than this share of the magnitude behind its round-off ties with it; ratios of infinitesimals
// that agree to this share are equal.
#define TIE_TOLERANCE 1e-11
// That magnitude is a sum over the row: it is computed only for gaps within this share of the step's velocities.
#define NEARLY_TIED 1e-4

// Variables of contact i; the artificial speed t is 4m.
enum { NORMAL_SPEED, TANGENT_SPEED };
static int speed_variable(int contact, int axis) { return 2 * contact + axis; }

typedef struct tableau {
    const carom_reduced_problem *problem;
    int contacts, rows;  // rows = 2m; there are rows + 1 columns
    size_t stride;
    double *start;             // columns of the initial tableau [-W, (-1, 0)], all contacts open
    double *columns;           // [(rows + 1) x stride]
    double *value;             // [stride] of the basic variables
    double *weight;            // [stride] 1 / unit of the basic variables
    double *least, *most;      // [stride] bounds of the basic variables in their modes
    double *ratio;             // [stride] how far the entering variable may go before a row meets its bound
    double *work;              // [stride]
    double *row;               // [rows + 1] the pivot row
    double *unit;              // [2 rows + 1] of each variable
    int *basic;                // [rows] variable of each row
    int *nonbasic;             // [rows + 1] variable of each column
    int *place;                // [2 rows + 1] row of a basic variable, ~column of a non-basic one
    carom_reduced_mode *mode;  // [contacts]
    double *side;              // [contacts] +1 or -1
    struct event *events;      // [rows + contacts + 1] that may end a move
    int *tied;                 // [rows + contacts + 1] of them
    double speed;              // largest |u| in units
    const double *u, *lmax;
} tableau;

// A bound that the move of the entering variable meets after gap / rate. The gap is sign x_row + factor x_other and a constant; either row
// may be -1, for none. Without any it is the far bound of the entering variable itself.
typedef struct event {
    int row, other;
    double sign, factor, gap, rate, bound;
    bool other_side;  // s = 2 mu lam_n
} event;

// The entering variable: from where, and which way.
typedef struct move {
    int variable;
    double direction, from;
} move;

static int normal_impulse(const tableau *t, int contact) { return t->rows + 2 * contact; }
static int tangent_impulse(const tableau *t, int contact) { return t->rows + 2 * contact + 1; }
static int artificial(const tableau *t) { return 2 * t->rows; }
static int contact_of(const tableau *t, int variable) { return variable % t->rows / 2; }
static bool is_capped(const tableau *t, int contact) { return t->mode[contact] >= CAROM_REDUCED_CAPPED_SLIP; }
static double friction(const tableau *t, int contact) { return t->problem->friction[contact]; }

static double *column_at(const tableau *t, int c) { return __builtin_assume_aligned(t->columns + (size_t)c * t->stride, ALIGNMENT); }
static double *column_of(const tableau *t, int variable) { return column_at(t, ~t->place[variable]); }

static double least_of(double a, double b) { return a < b ? a : b; }
static double largest_of(double a, double b) { return a > b ? a : b; }

// target += factor source
static void add_column(const tableau *t, double *restrict target, double factor, const double *restrict source) {
    target = __builtin_assume_aligned(target, ALIGNMENT);
    source = __builtin_assume_aligned(source, ALIGNMENT);
    for (size_t i = 0; i < t->stride; i++) target[i] += factor * source[i];
}

static void scale_column(const tableau *t, double *column, double factor) {
    column = __builtin_assume_aligned(column, ALIGNMENT);
    for (size_t i = 0; i < t->stride; i++) column[i] *= factor;
}

// ---------------------------------------------------------------------------------------------------------------- modes

static void bound(tableau *t, int variable, double least, double most) {
    const int row = t->place[variable];
    if (row < 0) return;
    t->least[row] = least;
    t->most[row] = most;
}

// The signs and caps that the mode of a contact asks of its variables. Where lam_n is bounded below by the cone of a sticking contact, the
// cone's two sides are the bounds.
static void set_bounds(tableau *t, int i) {
    const carom_reduced_mode mode = t->mode[i];
    const double cap = t->lmax[i];
    const bool free = mode == CAROM_REDUCED_OPEN || friction(t, i) == 0, forward = t->side[i] > 0;
    bound(t, speed_variable(i, NORMAL_SPEED), is_capped(t, i) ? -INFINITY : 0, is_capped(t, i) ? 0 : INFINITY);
    bound(t, speed_variable(i, TANGENT_SPEED), free || !forward ? -INFINITY : 0, free || forward ? INFINITY : 0);
    bound(t, normal_impulse(t, i), mode == CAROM_REDUCED_STICK ? -INFINITY : 0, cap);
    bound(t, tangent_impulse(t, i), 0, mode == CAROM_REDUCED_CAPPED_STICK ? 2 * friction(t, i) * cap : INFINITY);
}

static void set_mode(tableau *t, int contact, carom_reduced_mode mode) {
    t->mode[contact] = mode;
    set_bounds(t, contact);
}

// Both impulses of the contact are non-basic: lam_t gives way to s = side lam_t + mu lam_n.
static void enter_frame(tableau *t, int contact, double side) {
    double *tangent = column_of(t, tangent_impulse(t, contact));
    t->side[contact] = side;
    add_column(t, column_of(t, normal_impulse(t, contact)), -side * friction(t, contact), tangent);
    if (side < 0) scale_column(t, tangent, side);
}

static void leave_frame(tableau *t, int contact) {
    double *tangent = column_of(t, tangent_impulse(t, contact));
    add_column(t, column_of(t, normal_impulse(t, contact)), friction(t, contact), tangent);
    if (t->side[contact] < 0) scale_column(t, tangent, t->side[contact]);
}

// s gives way to s' = 2 mu lam_n - s, by rows where s is basic and by columns where it is not and lam_n is at its cap.
static void change_side(tableau *t, int contact) {
    const int normal = t->place[normal_impulse(t, contact)], tangent = t->place[tangent_impulse(t, contact)];
    const double range = 2 * friction(t, contact);
    t->side[contact] = -t->side[contact];
    if (tangent < 0) {
        add_column(t, column_at(t, ~normal), range, column_at(t, ~tangent));
        scale_column(t, column_at(t, ~tangent), -1);
        return;
    }
    for (int c = 0; c <= t->rows; c++) {
        double *column = column_at(t, c);
        column[tangent] = (normal < 0 ? 0 : range * column[normal]) - column[tangent];
    }
    if (normal < 0) column_at(t, ~normal)[tangent] -= range;
    t->value[tangent] = range * (normal < 0 ? t->lmax[contact] : t->value[normal]) - t->value[tangent];
}

// ------------------------------------------------------------------------------------------------------------ round-off

// Entry (i, j) of the inverse basis: the tableau's column of u'_j.
static double inverse_entry(const tableau *t, int i, int j) {
    const int place = t->place[j];
    return place < 0 ? column_at(t, ~place)[i] : place == i ? 1 : 0;
}

// sum_j |inverse basis_ij| |u_j|, and the impulses of capped contacts: changes of a row by a small share of it are round-off.
static double round_off_scale(const tableau *t, int i) {
    double sum = 0;
    for (int j = 0; j < t->rows; j++) sum += fabs(inverse_entry(t, i, j) * t->u[j]);
    for (int k = 0; k < t->contacts; k++) {
        const int place = t->place[normal_impulse(t, k)];
        if (is_capped(t, k) && place < 0) sum += fabs(column_at(t, ~place)[i] * t->lmax[k]);
    }
    return sum;
}

static double event_scale(const tableau *t, const event *e) {
    double sum = e->bound;
    if (e->row >= 0) sum += round_off_scale(t, e->row);
    if (e->other >= 0) sum += e->factor * round_off_scale(t, e->other);
    return sum;
}

// The j-th infinitesimal of the gap when u is perturbed by (eps, eps^2, ...).
static double infinitesimal(const tableau *t, const event *e, int j) {
    double sum = 0;
    if (e->row >= 0) sum += e->sign * inverse_entry(t, e->row, j);
    if (e->other >= 0) sum += e->factor * inverse_entry(t, e->other, j);
    return sum;
}

// The sign of a sliding speed that may be round-off of zero: then its first infinitesimal decides, as everywhere.
static double sign_of_speed(const tableau *t, int row) {
    const double value = t->value[row];
    if (fabs(value) > NEARLY_TIED * t->speed * t->unit[t->basic[row]] || fabs(value) > TIE_TOLERANCE * round_off_scale(t, row))
        return value < 0 ? -1 : 1;
    double largest = 0;
    for (int j = 0; j < t->rows; j++) largest = largest_of(largest, fabs(inverse_entry(t, row, j)) * t->unit[j]);
    int j = 0;
    while (fabs(inverse_entry(t, row, j)) * t->unit[j] <= PIVOT_TOLERANCE * largest) j++;
    return inverse_entry(t, row, j) < 0 ? -1 : 1;
}

// ----------------------------------------------------------------------------------------------------------- ratio test

// The far side of the cone of a sticking contact, 2 mu lam_n - s >= 0. Either of the two may be the entering variable.
static event far_side(const tableau *t, int contact, const move *entering, const double *column) {
    const int tangent = t->place[tangent_impulse(t, contact)], normal = t->place[normal_impulse(t, contact)];
    const double range = 2 * friction(t, contact), direction = entering->direction;
    event e = {.row = tangent < 0 ? -1 : tangent, .other = normal < 0 ? -1 : normal, .sign = -1, .factor = range, .other_side = true};
    const double s = tangent < 0 ? entering->from : t->value[tangent], fall_of_s = tangent < 0 ? -direction : direction * column[tangent];
    const double lam = normal < 0 ? entering->from : t->value[normal], fall_of_lam = normal < 0 ? -direction : direction * column[normal];
    e.gap = range * lam - s;
    e.rate = range * fall_of_lam - fall_of_s;
    if (normal < 0) e.bound = range * lam;
    // A difference of two numbers that agree to round-off is none.
    if (e.rate <= PIVOT_TOLERANCE * fabs(fall_of_s)) e.rate = 0;
    return e;
}

// How far the entering variable itself may go. Of a sticking contact the far side of the cone says that.
static double own_range(const tableau *t, const move *entering) {
    const int contact = contact_of(t, entering->variable);
    if (entering->variable < t->rows || t->mode[contact] == CAROM_REDUCED_STICK) return INFINITY;
    return entering->variable == normal_impulse(t, contact) ? t->lmax[contact] : 2 * friction(t, contact) * t->lmax[contact];
}

// Largest entry of the entering column, in units.
static double largest_entry(const tableau *t, const double *restrict column) {
    double lanes[LANES] = {0}, largest = 0;
    column = __builtin_assume_aligned(column, ALIGNMENT);
    const double *restrict weight = __builtin_assume_aligned(t->weight, ALIGNMENT);
    for (size_t i = 0; i < t->stride; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const double size = fabs(column[i + k]) * weight[i + k];
            lanes[k] = size > lanes[k] ? size : lanes[k];
        }
    for (size_t k = 0; k < LANES; k++) largest = lanes[k] > largest ? lanes[k] : largest;
    return largest;
}

// t->ratio of every row, infinite where the entry is no pivot or the row has no bound; returns the least.
static double row_ratios(tableau *t, double direction, double acceptable, const double *restrict column) {
    double lanes[LANES], smallest = INFINITY;
    column = __builtin_assume_aligned(column, ALIGNMENT);
    const double *restrict weight = __builtin_assume_aligned(t->weight, ALIGNMENT),
                           *restrict value = __builtin_assume_aligned(t->value, ALIGNMENT),
                           *restrict least = __builtin_assume_aligned(t->least, ALIGNMENT),
                           *restrict most = __builtin_assume_aligned(t->most, ALIGNMENT);
    double *restrict ratio = __builtin_assume_aligned(t->ratio, ALIGNMENT);
    for (size_t k = 0; k < LANES; k++) lanes[k] = INFINITY;
    for (size_t i = 0; i < t->stride; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const double fall = direction * column[i + k], rate = fabs(fall), to_least = value[i + k] - least[i + k],
                         to_most = most[i + k] - value[i + k], quotient = (fall > 0 ? to_least : to_most) / rate;
            ratio[i + k] = rate * weight[i + k] > acceptable ? quotient : INFINITY;
            lanes[k] = ratio[i + k] < lanes[k] ? ratio[i + k] : lanes[k];
        }
    for (size_t k = 0; k < LANES; k++) smallest = lanes[k] < smallest ? lanes[k] : smallest;
    return smallest;
}

static event row_event(const tableau *t, int i, double fall) {
    const int variable = t->basic[i];
    if (fall > 0) return (event){.row = i, .other = -1, .sign = 1, .gap = t->value[i] - t->least[i], .rate = fall};
    return (event){.row = i,
                   .other = -1,
                   .sign = -1,
                   .gap = t->most[i] - t->value[i],
                   .rate = -fall,
                   .bound = t->most[i],
                   .other_side = variable == tangent_impulse(t, contact_of(t, variable))};
}

// Bounds that are no bounds of a row.
static int collect_others(const tableau *t, const move *entering, double acceptable, const double *column) {
    int count = 0;
    for (int i = 0; i < t->contacts; i++) {
        if (t->mode[i] != CAROM_REDUCED_STICK) continue;
        const event e = far_side(t, i, entering, column);
        if (e.rate > acceptable * t->unit[tangent_impulse(t, i)]) t->events[count++] = e;
    }
    const double range = own_range(t, entering);
    if (isinf(range)) return count;
    const bool tangent = entering->variable == tangent_impulse(t, contact_of(t, entering->variable));
    t->events[count++] = (event){.row = -1, .other = -1, .gap = range, .rate = 1, .bound = range, .other_side = tangent};
    return count;
}

static double unit_of(const tableau *t, const event *e) {
    const int row = e->row >= 0 ? e->row : e->other;
    return row < 0 ? 0 : t->unit[t->basic[row]] * (e->row >= 0 ? 1 : e->factor);
}

static bool is_tie(const tableau *t, const event *e, double ratio) {
    const double excess = e->gap - ratio * e->rate;
    // The least itself, in most cases alone.
    if (excess <= 0 || excess <= TIE_TOLERANCE * e->bound) return true;
    return excess <= NEARLY_TIED * t->speed * unit_of(t, e) && excess <= TIE_TOLERANCE * event_scale(t, e);
}

// Of the tied events, the lexicographically smallest.
static int lexicographic(const tableau *t, int count) {
    int *tied = t->tied;
    for (int j = 0; j < t->rows && count > 1; j++) {
        double least = INFINITY, largest = 0;
        for (int k = 0; k < count; k++) {
            const event *e = &t->events[tied[k]];
            const double ratio = infinitesimal(t, e, j) / e->rate;
            least = least_of(least, ratio);
            largest = largest_of(largest, fabs(ratio));
        }
        int kept = 0;
        for (int k = 0; k < count; k++) {
            const event *e = &t->events[tied[k]];
            if (infinitesimal(t, e, j) / e->rate - least <= TIE_TOLERANCE * largest) tied[kept++] = tied[k];
        }
        count = kept;
    }
    return tied[0];
}

// The event that ends the move; NULL on a ray. The artificial speed leaves when it ties.
static const event *ratio_test(tableau *t, const move *entering, const double *column) {
    const double acceptable = PIVOT_TOLERANCE * largest_entry(t, column);
    double ratio = row_ratios(t, entering->direction, acceptable, column);
    int count = collect_others(t, entering, acceptable, column), ties = 0;
    for (int k = 0; k < count; k++) ratio = least_of(ratio, t->events[k].gap / t->events[k].rate);
    if (!isfinite(ratio)) return NULL;
    for (int i = 0; i < t->rows; i++) {
        if (isinf(t->ratio[i])) continue;
        const double fall = entering->direction * column[i];
        if ((t->ratio[i] - ratio) * fabs(fall) * t->weight[i] <= NEARLY_TIED * t->speed) t->events[count++] = row_event(t, i, fall);
    }
    for (int k = 0; k < count; k++) {
        const event *e = &t->events[k];
        if (!is_tie(t, e, ratio)) continue;
        if (e->row >= 0 && t->basic[e->row] == artificial(t)) return e;
        t->tied[ties++] = k;
    }
    return ties ? &t->events[lexicographic(t, ties)] : NULL;
}

// --------------------------------------------------------------------------------------------------------------- pivots

// Exchanges the variable of column c with that of the row whose entries stand in t->row: row r, or one that is not stored when r is -1.
static void exchange(tableau *t, int r, int c) {
    const double inverse = 1 / t->row[c];
    double *entering = column_at(t, c);
    for (int j = 0; j <= t->rows; j++) {
        const double factor = t->row[j] * inverse;
        if (j == c || factor == 0) continue;
        add_column(t, column_at(t, j), -factor, entering);
        if (r >= 0) column_at(t, j)[r] = factor;
    }
    scale_column(t, entering, -inverse);
    if (r < 0) return;
    entering[r] = inverse;
    const int left = t->basic[r], entered = t->nonbasic[c];
    t->basic[r] = entered;
    t->weight[r] = 1 / t->unit[entered];
    t->nonbasic[c] = left;
    t->place[entered] = r;
    t->place[left] = ~c;
}

// The entering variable becomes basic in row r.
static void leave_row(tableau *t, const event *e, const move *entering, int c, double distance) {
    if (e->other_side) change_side(t, contact_of(t, t->basic[e->row]));
    add_column(t, t->value, -entering->direction * distance, column_at(t, c));
    for (int j = 0; j <= t->rows; j++) t->row[j] = column_at(t, j)[e->row];
    exchange(t, e->row, c);
    t->value[e->row] = entering->from + entering->direction * distance;
    if (entering->variable == artificial(t))
        bound(t, artificial(t), 0, INFINITY);
    else
        set_bounds(t, contact_of(t, entering->variable));
}

// The entering s runs through the whole cone of a sticking contact: s' = 2 mu lam_n - s leaves in its place.
static void cross_cone(tableau *t, const event *e, int contact, int c) {
    const double range = 2 * friction(t, contact);
    for (int j = 0; j <= t->rows; j++) t->row[j] = range * column_at(t, j)[e->other];
    t->row[c] += 1;
    exchange(t, -1, c);
    t->side[contact] = -t->side[contact];
}

// Moves to the event and returns the variable that has left.
static int take(tableau *t, const event *e, const move *entering) {
    const int c = ~t->place[entering->variable], contact = contact_of(t, entering->variable);
    const double distance = e->gap / e->rate;
    if (e->row >= 0) {
        const int left = t->basic[e->row];
        leave_row(t, e, entering, c, distance);
        return left;
    }
    add_column(t, t->value, -entering->direction * distance, column_at(t, c));
    if (e->other >= 0)
        cross_cone(t, e, contact, c);
    else if (e->other_side)
        change_side(t, contact);
    return entering->variable;
}

// A closing or opening contact, and one that leaves its cap.
static move after_normal_speed(tableau *t, int i) {
    if (t->mode[i] == CAROM_REDUCED_OPEN) {
        const bool rough = friction(t, i) > 0;
        enter_frame(t, i, rough ? sign_of_speed(t, t->place[speed_variable(i, TANGENT_SPEED)]) : 1);
        set_mode(t, i, CAROM_REDUCED_SLIP);
        return (move){normal_impulse(t, i), 1, 0};
    }
    set_mode(t, i, t->mode[i] == CAROM_REDUCED_CAPPED_SLIP ? CAROM_REDUCED_SLIP : CAROM_REDUCED_STICK);
    return (move){normal_impulse(t, i), -1, t->lmax[i]};
}

static move after_normal_impulse(tableau *t, int i, bool at_cap) {
    if (at_cap) {
        set_mode(t, i, t->mode[i] == CAROM_REDUCED_SLIP ? CAROM_REDUCED_CAPPED_SLIP : CAROM_REDUCED_CAPPED_STICK);
        return (move){speed_variable(i, NORMAL_SPEED), -1, 0};
    }
    leave_frame(t, i);
    set_mode(t, i, CAROM_REDUCED_OPEN);
    return (move){speed_variable(i, NORMAL_SPEED), 1, 0};
}

// The piece beyond the one that the path leaves when `left` meets its bound, and the variable that moves there.
static move enter_next_piece(tableau *t, int left, bool at_cap) {
    const int i = contact_of(t, left);
    if (left == speed_variable(i, NORMAL_SPEED)) return after_normal_speed(t, i);
    if (left == normal_impulse(t, i)) return after_normal_impulse(t, i, at_cap);
    const bool capped = is_capped(t, i);
    if (left == speed_variable(i, TANGENT_SPEED)) {
        set_mode(t, i, capped ? CAROM_REDUCED_CAPPED_STICK : CAROM_REDUCED_STICK);
        return (move){tangent_impulse(t, i), 1, 0};
    }
    set_mode(t, i, capped ? CAROM_REDUCED_CAPPED_SLIP : CAROM_REDUCED_SLIP);
    return (move){speed_variable(i, TANGENT_SPEED), t->side[i], 0};
}

// ------------------------------------------------------------------------------------------------------------------ run

static void begin(tableau *t, const double *u, const double *lmax) {
    t->u = u;
    t->lmax = lmax;
    t->speed = 0;
    memcpy(t->columns, t->start, (size_t)(t->rows + 1) * t->stride * sizeof *t->columns);
    for (int i = 0; i < t->rows; i++) {
        t->value[i] = u[i];
        t->speed = largest_of(t->speed, fabs(u[i]) / t->unit[i]);
        t->basic[i] = i;
        t->weight[i] = 1 / t->unit[i];
        t->nonbasic[i] = t->rows + i;
        t->place[i] = i;
        t->place[t->rows + i] = ~i;
    }
    t->nonbasic[t->rows] = artificial(t);
    t->place[artificial(t)] = ~t->rows;
    for (int i = 0; i < t->contacts; i++) {
        t->side[i] = 1;
        set_mode(t, i, CAROM_REDUCED_OPEN);
    }
}

// The contact that the artificial speed stops first; among ties the last, which is the lexicographic rule for the unit basis.
static int first_contact(const tableau *t) {
    double least = t->u[0];
    for (int i = 1; i < t->contacts; i++) least = least_of(least, t->u[2 * i]);
    int first = 0;
    for (int i = 0; i < t->contacts; i++)
        if (t->u[2 * i] - least <= -TIE_TOLERANCE * least) first = i;
    return first;
}

static carom_verdict run(void *kernel_tableau, const double *u, const double *lmax, int64_t limit, int64_t *pivots) {
    tableau *t = kernel_tableau;
    begin(t, u, lmax);
    const int first = first_contact(t);
    if (u[2 * first] >= 0) return CAROM_COMPLETE;
    move entering = {artificial(t), 1, 0};
    event e = {.row = 2 * first, .other = -1, .sign = 1, .gap = u[2 * first], .rate = -1};
    for (int64_t count = 0; count < limit; count++) {
        const bool capping = e.row >= 0 ? e.sign < 0 : entering.direction > 0;
        const int left = take(t, &e, &entering);
        ++*pivots;
        if (left == artificial(t)) return CAROM_COMPLETE;
        entering = enter_next_piece(t, left, capping);
        const event *next = ratio_test(t, &entering, column_of(t, entering.variable));
        if (!next) return CAROM_RAY;
        e = *next;
    }
    return CAROM_BUDGET_SPENT;
}

// ------------------------------------------------------------------------------------------------------------- solution

static double basic_value(const tableau *t, int variable, double nonbasic) {
    return t->place[variable] < 0 ? nonbasic : t->value[t->place[variable]];
}

// lam_t of a slipping contact, exactly on the cone.
static double sliding_impulse(const tableau *t, int contact, double normal) { return -t->side[contact] * friction(t, contact) * normal; }

static double within_cap(const tableau *t, int contact, double normal) { return largest_of(0, least_of(normal, t->lmax[contact])); }

static void read_impulse(const void *kernel_tableau, double *impulse) {
    const tableau *t = kernel_tableau;
    for (int i = 0; i < t->contacts; i++) {
        const double normal = within_cap(t, i, basic_value(t, normal_impulse(t, i), is_capped(t, i) ? t->lmax[i] : 0));
        const double s = t->mode[i] == CAROM_REDUCED_OPEN ? 0 : basic_value(t, tangent_impulse(t, i), 0);
        impulse[2 * i] = normal;
        impulse[2 * i + 1] = sliding_impulse(t, i, normal) + t->side[i] * s;
    }
}

// The start holds -W.
static void find_velocity(void *kernel_tableau, const double *impulse, double *u_next) {
    tableau *t = kernel_tableau;
    memcpy(t->work, t->u, (size_t)t->rows * sizeof *t->work);
    for (int j = 0; j < t->rows; j++)
        if (impulse[j] != 0) add_column(t, t->work, -impulse[j], t->start + (size_t)j * t->stride);
    memcpy(u_next, t->work, (size_t)t->rows * sizeof *u_next);
}

// In s = side lam_t + mu lam_n, lam_t may drown for large mu: corrections go to lam_t itself.
static void correct(void *kernel_tableau, const double *u_next, double *impulse) {
    tableau *t = kernel_tableau;
    double *correction = t->work;
    memset(correction, 0, t->stride * sizeof *correction);
    for (int j = 0; j < t->rows; j++)
        if (t->place[j] < 0) add_column(t, correction, u_next[j], column_of(t, j));
    for (int i = 0; i < t->contacts; i++) {
        const int normal = t->place[normal_impulse(t, i)], tangent = t->place[tangent_impulse(t, i)];
        const double change = normal < 0 ? 0 : correction[normal];
        impulse[2 * i] = within_cap(t, i, impulse[2 * i] + change);
        if (tangent >= 0)
            impulse[2 * i + 1] += t->side[i] * (correction[tangent] - friction(t, i) * change);
        else
            impulse[2 * i + 1] = sliding_impulse(t, i, impulse[2 * i]);
    }
}

static const carom_reduced_mode *modes(const void *kernel_tableau) { return ((const tableau *)kernel_tableau)->mode; }

// ------------------------------------------------------------------------------------------------------------- lifetime

static void release(void *kernel_tableau) {
    tableau *t = kernel_tableau;
    if (!t) return;
    free(t->start);
    free(t->row);
    free(t->basic);
    free(t->mode);
    free(t->events);
    free(t->tied);
    free(t);
}

static bool allocate(tableau *t) {
    const size_t rows = (size_t)t->rows, contacts = (size_t)t->contacts, variables = 2 * rows + 1, block = (rows + 1) * t->stride;
    const size_t aligned = (2 * block + 6 * t->stride) * sizeof *t->start;
    t->start = aligned_alloc(ALIGNMENT, aligned);
    t->row = malloc((rows + 1 + variables + contacts) * sizeof *t->row);
    t->basic = malloc((2 * rows + 1 + variables) * sizeof *t->basic);
    t->mode = malloc(contacts * sizeof *t->mode);
    // A row has one event, a sticking contact one more, and the entering variable one.
    t->events = malloc((rows + contacts + 1) * sizeof *t->events);
    t->tied = malloc((rows + contacts + 1) * sizeof *t->tied);
    if (!(t->start && t->row && t->basic && t->mode && t->events && t->tied)) return false;
    memset(t->start, 0, aligned);
    t->columns = t->start + block;
    t->value = t->columns + block;
    t->weight = t->value + t->stride;
    t->least = t->weight + t->stride;
    t->most = t->least + t->stride;
    t->ratio = t->most + t->stride;
    t->work = t->ratio + t->stride;
    t->unit = t->row + rows + 1;
    t->side = t->unit + variables;
    t->nonbasic = t->basic + rows;
    t->place = t->nonbasic + rows + 1;
    return true;
}

// The artificial speed is added to every normal speed, and is measured by the largest.
static void set_units(tableau *t) {
    double *largest = &t->unit[artificial(t)];
    *largest = 0;
    for (int i = 0; i < t->rows; i++) {
        t->unit[i] = t->problem->speed_unit[i];
        t->unit[t->rows + i] = t->problem->impulse_unit[i];
        if (i % 2 == NORMAL_SPEED) *largest = largest_of(*largest, t->unit[i]);
    }
}

static void *create(const carom_reduced_problem *problem) {
    tableau *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->problem = problem;
    t->contacts = problem->contacts;
    t->rows = 2 * problem->contacts;
    t->stride = ((size_t)t->rows + LANES - 1) / LANES * LANES;
    if (!allocate(t)) {
        release(t);
        return NULL;
    }
    set_units(t);
    for (int j = 0; j < t->rows; j++)
        for (int i = 0; i < t->rows; i++) t->start[(size_t)j * t->stride + (size_t)i] = -problem->delassus[i * t->rows + j];
    for (int i = 0; i < t->rows; i += 2) t->start[(size_t)t->rows * t->stride + (size_t)i] = -1;
    return t;
}

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

const carom_reduced_kernel KERNEL = {.name = NAME_OF(KERNEL),
                                     .create = create,
                                     .free = release,
                                     .run = run,
                                     .read_impulse = read_impulse,
                                     .find_velocity = find_velocity,
                                     .correct = correct,
                                     .modes = modes};
