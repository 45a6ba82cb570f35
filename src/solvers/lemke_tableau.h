// SPDX-License-Identifier: Apache-2.0
// Lemke's method on a condensed tableau, written once for several precisions.
//
// The including file defines REAL (a floating-point type) and LEMKE(name), which gives each precision its own names.
//
// The tableau holds the columns of the non-basic variables only: x_B = rhs - T x_N, with T = [-W | -1] and rhs = w at the start, where
// the basic variables are the slacks y = w + W z + z0 and the last column belongs to the artificial variable z0 (covering vector of
// ones). A pivot exchanges one basic and one non-basic variable. Variables: y_i is i, z_i is n + i, z0 is 2n.

typedef struct LEMKE(tableau) {
    int n, columns;   // columns = n + 1, the artificial variable's last
    size_t stride;    // columns + 1: the right-hand side stands behind them
    REAL *T;          // [n x stride]
    int *basic;       // [n] variable of each row
    int *nonbasic;    // [n+1] variable of each column
    int *place;       // [2n+1] row of a basic variable, ~column of a non-basic one
    int *tied;        // [n] rows that tie in a ratio test
    const double *w;  // [n] the problem's vector
    REAL *weight;     // [n] bounds of sum_j |inverse basis_ij| |w_j|, the magnitude behind the round-off of each right-hand side
} LEMKE(tableau);

static REAL LEMKE(magnitude)(REAL x) { return x < 0 ? -x : x; }

static REAL *LEMKE(row)(const LEMKE(tableau) * t, int i) { return t->T + (size_t)i * t->stride; }

static void LEMKE(start)(LEMKE(tableau) * t, const double *W, const double *w) {
    const int n = t->n;
    t->w = w;
    for (int i = 0; i < n; i++) {
        REAL *row = LEMKE(row)(t, i);
        for (int j = 0; j < n; j++) row[j] = -(REAL)W[(size_t)i * (size_t)n + (size_t)j];
        row[n] = -1;
        row[n + 1] = w[i];
        t->weight[i] = LEMKE(magnitude)(w[i]);
        t->basic[i] = i;
        t->nonbasic[i] = n + i;
        t->place[i] = i;
        t->place[n + i] = ~i;
    }
    t->nonbasic[n] = 2 * n;
    t->place[2 * n] = ~n;
}

// Exchanges the basic variable of row r with the non-basic variable of column c.
static void LEMKE(pivot)(LEMKE(tableau) * t, int r, int c) {
    REAL *pivot_row = LEMKE(row)(t, r);
    const REAL inverse = 1 / pivot_row[c];
    for (size_t j = 0; j < t->stride; j++) pivot_row[j] *= inverse;
    pivot_row[c] = inverse;
    t->weight[r] *= LEMKE(magnitude)(inverse);
    for (int i = 0; i < t->n; i++) {
        if (i == r) continue;
        REAL *row = LEMKE(row)(t, i);
        const REAL factor = row[c];
        if (factor == 0) continue;
        row[c] = 0;
        for (size_t j = 0; j < t->stride; j++) row[j] -= factor * pivot_row[j];
        t->weight[i] += LEMKE(magnitude)(factor) * t->weight[r];
    }
    const int leaving = t->basic[r], entering = t->nonbasic[c];
    t->basic[r] = entering;
    t->nonbasic[c] = leaving;
    t->place[entering] = r;
    t->place[leaving] = ~c;
}

// Entry (i, j) of the inverse basis: the tableau's column of slack y_j.
static REAL LEMKE(inverse_entry)(const LEMKE(tableau) * t, int i, int j) {
    const int place = t->place[j];
    return place < 0 ? LEMKE(row)(t, i)[~place] : place == i ? 1 : 0;
}

// sum_j |inverse basis_ij| |w_j|: right-hand sides that differ by a small share of it are equal up to round-off. Free of units.
static REAL LEMKE(round_off_scale)(const LEMKE(tableau) * t, int i) {
    REAL sum = 0;
    for (int j = 0; j < t->n; j++) sum += LEMKE(magnitude)(LEMKE(inverse_entry)(t, i, j) * t->w[j]);
    return sum;
}

// Is `excess`, by which row i misses the least ratio, round-off? The running bound spares the sum in most cases.
static bool LEMKE(is_tie)(const LEMKE(tableau) * t, int i, REAL excess, double tie_tolerance) {
    return excess <= (REAL)tie_tolerance * t->weight[i] && excess <= (REAL)tie_tolerance * LEMKE(round_off_scale)(t, i);
}

// Of the tied rows, the lexicographically smallest row of the inverse basis over its pivot entry. Ratios of one column that differ by less
// than the tolerance times the largest count as equal.
static int LEMKE(lexicographic)(const LEMKE(tableau) * t, int c, int count, double tie_tolerance) {
    for (int j = 0; j < t->n && count > 1; j++) {
        REAL least = 0, largest = 0;
        for (int k = 0; k < count; k++) {
            const REAL ratio = LEMKE(inverse_entry)(t, t->tied[k], j) / LEMKE(row)(t, t->tied[k])[c];
            if (k == 0 || ratio < least) least = ratio;
            if (LEMKE(magnitude)(ratio) > largest) largest = LEMKE(magnitude)(ratio);
        }
        int kept = 0;
        for (int k = 0; k < count; k++) {
            const int row = t->tied[k];
            const REAL ratio = LEMKE(inverse_entry)(t, row, j) / LEMKE(row)(t, row)[c];
            if (ratio - least <= (REAL)tie_tolerance * largest) t->tied[kept++] = row;
        }
        count = kept;
    }
    return t->tied[0];
}

// Row that leaves when column c enters; -1 on a ray. The artificial variable leaves when it ties.
static int LEMKE(ratio_test)(LEMKE(tableau) * t, int c, double pivot_tolerance, double tie_tolerance) {
    const int n = t->n;
    REAL largest = 0;
    for (int i = 0; i < n; i++)
        if (LEMKE(magnitude)(LEMKE(row)(t, i)[c]) > largest) largest = LEMKE(magnitude)(LEMKE(row)(t, i)[c]);
    const REAL acceptable = (REAL)pivot_tolerance * largest;
    int best = -1;
    REAL least = 0;
    for (int i = 0; i < n; i++) {
        const REAL entry = LEMKE(row)(t, i)[c];
        if (!(entry > acceptable)) continue;
        const REAL ratio = LEMKE(row)(t, i)[n + 1] / entry;
        if (best < 0 || ratio < least) {
            best = i;
            least = ratio;
        }
    }
    if (best < 0) return -1;
    int count = 0;
    for (int i = 0; i < n; i++) {
        const REAL entry = LEMKE(row)(t, i)[c];
        if (!(entry > acceptable)) continue;
        if (!LEMKE(is_tie)(t, i, LEMKE(row)(t, i)[n + 1] - least * entry, tie_tolerance)) continue;
        if (t->basic[i] == 2 * n) return i;
        t->tied[count++] = i;
    }
    return LEMKE(lexicographic)(t, c, count, tie_tolerance);
}

// First pivot: z0 enters where w is least; among ties the largest index, which is the lexicographic rule for the unit basis.
static int LEMKE(first_row)(const LEMKE(tableau) * t, double tie_tolerance) {
    const int n = t->n;
    REAL least = LEMKE(row)(t, 0)[n + 1];
    for (int i = 1; i < n; i++)
        if (LEMKE(row)(t, i)[n + 1] < least) least = LEMKE(row)(t, i)[n + 1];
    int r = 0;
    for (int i = 0; i < n; i++)
        if (LEMKE(row)(t, i)[n + 1] - least <= (REAL)tie_tolerance * -least) r = i;
    return r;
}

// Pivots until z0 leaves the basis.
static carom_verdict LEMKE(run)(LEMKE(tableau) * t, int64_t limit, double pivot_tolerance, double tie_tolerance, int64_t *pivots) {
    const int n = t->n;
    int leaving = LEMKE(first_row)(t, tie_tolerance);
    int column = n;
    while (*pivots < limit) {
        const int left = t->basic[leaving];
        LEMKE(pivot)(t, leaving, column);
        ++*pivots;
        if (left == 2 * n) return CAROM_COMPLETE;
        // The complement of what left enters: y_i for z_i and z_i for y_i.
        column = ~t->place[left < n ? left + n : left - n];
        leaving = LEMKE(ratio_test)(t, column, pivot_tolerance, tie_tolerance);
        if (leaving < 0) return CAROM_RAY;
    }
    return CAROM_BUDGET_SPENT;
}

static void LEMKE(extract)(const LEMKE(tableau) * t, double *z) {
    for (int i = 0; i < t->n; i++) {
        const int place = t->place[t->n + i];
        z[i] = place < 0 ? 0 : (double)LEMKE(row)(t, place)[t->n + 1];
    }
}

static void LEMKE(release)(LEMKE(tableau) * t) {
    free(t->T);
    free(t->basic);
    free(t->nonbasic);
    free(t->place);
    free(t->tied);
    free(t->weight);
}

static bool LEMKE(allocate)(LEMKE(tableau) * t, int n) {
    const size_t size = (size_t)n;
    *t = (LEMKE(tableau)){.n = n, .columns = n + 1, .stride = size + 2};
    t->T = malloc(size * t->stride * sizeof *t->T);
    t->basic = malloc(size * sizeof *t->basic);
    t->nonbasic = malloc((size + 1) * sizeof *t->nonbasic);
    t->place = malloc((2 * size + 1) * sizeof *t->place);
    t->tied = malloc(size * sizeof *t->tied);
    t->weight = malloc(size * sizeof *t->weight);
    return t->T && t->basic && t->nonbasic && t->place && t->tied && t->weight;
}
