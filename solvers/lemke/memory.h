// SPDX-License-Identifier: Apache-2.0
// Lemke's method that remembers its pivots: for one W and many w.
//
// The tableau behind a sequence of pivots does not depend on w, only the right-hand sides do. So a tree keeps, for every sequence that was
// met twice, what the next ratio test reads: the entering column, the inverses of its acceptable pivots, bounds of round-off. On a known
// sequence a pivot costs O(n): one ratio test and one update of the right-hand sides. On an unknown one, the sequence is replayed on a
// tableau and goes on there, and the tree grows until its memory is spent.
//
// What is remembered is what would be computed again: results do not depend on what was solved before.
//
// For REAL = double; sequences are replayed on the tableau of lemke_tableau.h.
#include "solvers/lemke/rows.h"
#include "solvers/lemke/tableau.h"

// Of the tree, of what it keeps for ties, and of saved tableaus: more does not fit a core's caches.
enum { TREE_BYTES = 4 << 20, TIE_BYTES = 2 << 20, SAVED_BYTES = 2 << 20 };
// Unknown sequences behind a node after which its tableau is saved: replays start there.
enum { MISSES_TO_SAVE = 4 };
enum { UNKNOWN = -1, MET_ONCE = -2, MOST_PIVOTS = CAROM_PIVOTS_PER_ROW * CAROM_MOST_REMEMBERED };

_Static_assert((int)ROW_LANES == (int)LANES, "arrays of rows are padded as the tableau's are");

// What follows one sequence of pivots. In memory, more arrays stand behind it; what does not fit the caches is waited for.
typedef struct node {
    uint64_t known_rows;  // bits of the rows of the inverse basis that are kept for ties
    uint64_t tied;        // bits of the rows of the last tie; 0: there was none
    int first_row;        // where the known rows stand, side by side
    int saved;            // where its tableau stands; UNKNOWN until many unknown sequences began behind it
    int16_t entering;     // variable that enters next
    int8_t smallest;      // of the last tie, lexicographically
    int8_t misses;        // unknown sequences that began behind it, up to MISSES_TO_SAVE
    int children[];       // [n] node that follows when a row leaves
} node;

typedef struct memory {
    int n;
    size_t rows;  // n, padded
    const double *W, *y_unit;
    double pivot_tolerance, tie_tolerance;
    char *nodes;               // [node_capacity + 1], the last for sequences that the full tree does not keep
    size_t node_size, arrays;  // bytes; those before the arrays of a node
    int node_count, node_capacity;
    double *ties;  // [(tie_capacity + n) x rows] rows of inverse bases, the last n for those that are not kept
    int tie_count, tie_capacity;
    char *saves;  // [save_capacity] tableaus
    size_t save_size;
    int save_count, save_capacity;
    tableau *tableau;
    double *column_unit;     // [stride] scratch: units of the slacks that are columns of the tableau
    int replayed;            // pivots of the present sequence that the tableau has seen
    double *rhs, *next;      // [rows] right-hand sides, and those after the next pivot
    int *basic;              // [n] variable of each row
    int *leaving, *entered;  // [most_pivots] rows and variables of the present sequence
    int depth, artificial;   // its length; row of the artificial variable
    int saved, saved_depth;  // the last saved tableau on its way, and the pivots before that
    const double *w;         // [n] of the present solve
    double size;             // of w in units
    double *size_w;          // [rows] |w|
} memory;

static node *node_at(const memory *m, int index) { return (node *)(void *)(m->nodes + (size_t)index * m->node_size); }

// The node of a sequence that is not kept.
static bool is_spare(const memory *m, const node *k) { return k == node_at(m, m->node_capacity); }

static size_t whole_lines(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

// The arrays of a node: [rows] the entering column; 1 over its acceptable pivots, 0 elsewhere; bounds of sum_j |inverse basis_ij| |w_j|,
// the scale of round-off, for w of one unit, minus infinity where there is no acceptable pivot.
static double *column_of(const memory *m, const node *k) { return (double *)(void *)((char *)(uintptr_t)k + m->arrays); }
static double *inverse_of(const memory *m, const node *k) { return column_of(m, k) + m->rows; }
static float *bound_of(const memory *m, const node *k) { return (float *)(void *)(column_of(m, k) + 2 * m->rows); }

static double *saved_at(const memory *m, int index) { return (double *)(void *)(m->saves + (size_t)index * m->save_size); }

// -------------------------------------------------------------------------------------------------- growing the tree

// sum_j |row_j| size_j over whole vectors.
static double sum_of_sizes(size_t count, const double *row, const double *size) {
    double sums[LANES] = {0}, sum = 0;
    for (size_t c = 0; c < count; c += LANES)
        for (size_t l = 0; l < LANES; l++) sums[l] += magnitude(row[c + l]) * size[c + l];
    for (int l = 0; l < LANES; l++) sum += sums[l];
    return sum;
}

// sum_j |inverse basis_ij| unit_j, where m->column_unit has the units of the columns.
static double round_off_bound(const memory *m, int i) {
    const tableau *t = m->tableau;
    const double own = t->basic[i] < m->n ? m->y_unit[t->basic[i]] : 0;
    return BOUND_MARGIN * (own + sum_of_sizes(t->stride, row_of(t, i), m->column_unit)) + LEAST_BOUND;
}

static void fill_column_units(memory *m) {
    const tableau *t = m->tableau;
    for (int c = 0; c <= m->n; c++) m->column_unit[c] = t->nonbasic[c] < m->n ? m->y_unit[t->nonbasic[c]] : 0;
}

// A saved tableau: the entries, bounds of round-off for w of one unit, then the lists of variables. Right-hand sides are not saved: they
// are the present solve's, and stand in m->rhs.
static void save(memory *m, node *k) {
    const tableau *t = m->tableau;
    const size_t n = (size_t)m->n, entries = n * t->stride;
    k->saved = m->save_count++;
    double *to = saved_at(m, k->saved);
    memcpy(to, t->T, entries * sizeof *to);
    fill_column_units(m);
    for (int i = 0; i < m->n; i++) to[entries + (size_t)i] = round_off_bound(m, i);
    int *lists = (int *)(void *)(to + entries + n);
    memcpy(lists, t->basic, n * sizeof *lists);
    memcpy(lists + n, t->nonbasic, (n + 1) * sizeof *lists);
    memcpy(lists + 2 * n + 1, t->place, (2 * n + 1) * sizeof *lists);
}

static void load(memory *m, int saved) {
    tableau *t = m->tableau;
    const size_t n = (size_t)m->n, entries = n * t->stride;
    const double *from = saved_at(m, saved);
    memcpy(t->T, from, entries * sizeof *from);
    const int *lists = (const int *)(const void *)(from + entries + n);
    memcpy(t->basic, lists, n * sizeof *lists);
    memcpy(t->nonbasic, lists + n, (n + 1) * sizeof *lists);
    memcpy(t->place, lists + 2 * n + 1, (2 * n + 1) * sizeof *lists);
    for (size_t i = 0; i < n; i++) {
        t->rhs[i] = 0;
        t->weight[i] = m->size * from[entries + i];
        t->row_unit[i] = t->unit[t->basic[i]];
    }
}

// Brings the tableau to the first `depth` pivots of the present sequence.
static void replay(memory *m, int depth) {
    if (m->replayed == UNKNOWN) {
        if (m->saved == UNKNOWN)
            start(m->tableau, m->W, m->w);
        else
            load(m, m->saved);
        m->replayed = m->saved == UNKNOWN ? 0 : m->saved_depth;
    }
    for (; m->replayed < depth; m->replayed++) {
        const int column = ~m->tableau->place[m->entered[m->replayed]];
        copy_column(m->tableau, column);
        pivot(m->tableau, m->leaving[m->replayed], column);
    }
}

static void fill_node(memory *m, node *k, int entering) {
    tableau *t = m->tableau;
    k->entering = (int16_t)entering;
    k->saved = UNKNOWN;
    k->first_row = 0;
    k->known_rows = k->tied = 0;
    k->misses = 0;
    for (int i = 0; i < m->n; i++) k->children[i] = UNKNOWN;
    copy_column(t, ~t->place[entering]);
    memcpy(column_of(m, k), t->column, m->rows * sizeof *t->column);
    list_pivots(m->rows, t->column, t->row_unit, t->weight, m->pivot_tolerance * largest_in_units(t), inverse_of(m, k), bound_of(m, k));
    // What serves this w only has the bounds that the tableau carries along.
    if (is_spare(m, k)) return;
    fill_column_units(m);
    for (int i = 0; i < m->n; i++)
        if (inverse_of(m, k)[i] != 0) bound_of(m, k)[i] = (float)round_off_bound(m, i);
}

// The node behind k when the variable of row r left; its complement enters. Sequences that are met once, as many are, leave only a mark.
static node *child(memory *m, node *k, int r, int entering) {
    int *known = &k->children[r];
    if (*known >= 0) return node_at(m, *known);
    if (!is_spare(m, k) && k->misses < MISSES_TO_SAVE && ++k->misses == MISSES_TO_SAVE && m->save_count < m->save_capacity) {
        replay(m, m->depth - 1);
        save(m, k);
    }
    replay(m, m->depth);
    const bool keep = *known == MET_ONCE && !is_spare(m, k) && m->node_count < m->node_capacity;
    node *made = node_at(m, keep ? m->node_count : m->node_capacity);
    *known = keep ? m->node_count++ : MET_ONCE;
    fill_node(m, made, entering);
    return made;
}

// -------------------------------------------------------------------------------------------------------------- ties

static double *inverse_row(const memory *m, const node *k, int i) {
    const uint64_t bit = UINT64_C(1) << i;
    const int place = k->known_rows & bit ? k->first_row + __builtin_popcountll(k->known_rows & (bit - 1)) : m->tie_capacity + i;
    return m->ties + (size_t)place * m->rows;
}

// Is row a lexicographically before row b? Ratios that differ by less than the tolerance times the larger one count as equal.
static bool precedes(const memory *m, const node *k, int a, int b) {
    const double *row_a = inverse_row(m, k, a), *row_b = inverse_row(m, k, b);
    const double inverse_a = inverse_of(m, k)[a], inverse_b = inverse_of(m, k)[b];
    for (int j = 0; j < m->n; j++) {
        const double ratio_a = row_a[j] * inverse_a, ratio_b = row_b[j] * inverse_b, difference = ratio_a - ratio_b;
        if (magnitude(difference) > m->tie_tolerance * fmax(magnitude(ratio_a), magnitude(ratio_b))) return difference < 0;
    }
    return a < b;
}

// Rows of the inverse basis of the present node.
static void prepare_ties(memory *m, node *k, uint64_t candidates) {
    uint64_t missing = candidates & ~k->known_rows;
    if (!missing) return;
    replay(m, m->depth);
    const int count = __builtin_popcountll(candidates | k->known_rows);
    if (!is_spare(m, k) && m->tie_count + count <= m->tie_capacity) {
        // All rows of a node move to the end.
        missing = k->known_rows |= candidates;
        k->first_row = m->tie_count;
        m->tie_count += count;
    }
    for (; missing; missing &= missing - 1) {
        const int i = __builtin_ctzll(missing);
        double *row = inverse_row(m, k, i);
        for (int j = 0; j < (int)m->rows; j++) row[j] = j < m->n ? inverse_entry(m->tableau, i, j) : 0;
    }
}

// Of these rows, those whose next[i], by which they miss the least ratio, is round-off.
static uint64_t ties_among(memory *m, node *k, uint64_t candidates) {
    uint64_t unclear = 0;
    for (uint64_t rest = candidates; rest; rest &= rest - 1) {
        const int i = __builtin_ctzll(rest);
        if (!(m->next[i] <= m->tie_tolerance * magnitude(m->rhs[i]))) unclear |= UINT64_C(1) << i;
    }
    uint64_t tied = candidates & ~unclear;
    if (unclear) prepare_ties(m, k, unclear);
    for (; unclear; unclear &= unclear - 1) {
        const int i = __builtin_ctzll(unclear);
        const double scale = sum_of_sizes(m->rows, inverse_row(m, k, i), m->size_w);
        tied |= (uint64_t)(m->next[i] <= m->tie_tolerance * scale) << i;
    }
    return tied;
}

// The lexicographically smallest of these rows, whatever w is: the last answer is kept.
static int smallest_row(memory *m, node *k, uint64_t tied) {
    if (tied == k->tied) return k->smallest;
    prepare_ties(m, k, tied);
    int best = __builtin_ctzll(tied);
    for (uint64_t rest = tied & (tied - 1); rest; rest &= rest - 1)
        if (precedes(m, k, __builtin_ctzll(rest), best)) best = __builtin_ctzll(rest);
    k->tied = tied;
    k->smallest = (int8_t)best;
    return best;
}

// Of several rows that may tie: the artificial variable's, or the lexicographically smallest.
static int break_tie(memory *m, node *k, uint64_t candidates) {
    const uint64_t tied = ties_among(m, k, candidates);
    if (!tied) return UNKNOWN;
    return tied >> m->artificial & 1 ? m->artificial : smallest_row(m, k, tied);
}

// ------------------------------------------------------------------------------------------------------------ solving

// Row that leaves when the variable of node k enters, UNKNOWN on a ray; m->next are the right-hand sides behind that pivot.
static int leaving_row(memory *m, node *k) {
    const double *inverse = inverse_of(m, k), scale = m->tie_tolerance * (is_spare(m, k) ? 1 : m->size);
    const double least = least_ratio(m->rows, m->rhs, inverse);
    if (!(least < INFINITY)) return UNKNOWN;
    subtract_column(m->rows, m->rhs, column_of(m, k), least, m->next);
    const uint64_t candidates = rows_within(m->rows, m->next, bound_of(m, k), scale);
    if (!candidates) return UNKNOWN;
    const int r = candidates & (candidates - 1) ? break_tie(m, k, candidates) : __builtin_ctzll(candidates);
    if (r == UNKNOWN) return r;
    const double theta = m->rhs[r] * inverse[r];
    if (theta != least) subtract_column(m->rows, m->rhs, column_of(m, k), theta, m->next);
    m->next[r] = theta;
    return r;
}

// The artificial variable enters in the row where w is least. Its column is -1 everywhere.
static int enter_artificial(memory *m) {
    double least = m->w[0];
    for (int i = 1; i < m->n; i++) least = m->w[i] < least ? m->w[i] : least;
    int r = 0;
    for (int i = 0; i < m->n; i++) {
        m->rhs[i] = m->w[i];
        m->size_w[i] = magnitude(m->w[i]);
        m->basic[i] = i;
        if (m->w[i] - least <= m->tie_tolerance * -least) r = i;
    }
    subtract_column(m->rows, m->rhs, column_of(m, node_at(m, 0)), -m->w[r], m->next);
    m->next[r] = -m->w[r];
    m->artificial = r;
    return r;
}

// Makes the exchange that the row was chosen for. Returns the variable that left.
static int take_pivot(memory *m, const node *k, int r) {
    double *behind = m->rhs;
    m->rhs = m->next;
    m->next = behind;
    const int left = m->basic[r];
    m->basic[r] = k->entering;
    m->leaving[m->depth] = r;
    m->entered[m->depth++] = k->entering;
    return left;
}

static double size_in_units(const memory *m, const double *w) {
    double largest = 0;
    for (int i = 0; i < m->n; i++) {
        const double size = magnitude(w[i]) / m->y_unit[i];
        largest = size > largest ? size : largest;
    }
    return largest;
}

static carom_verdict recall(void *kernel_memory, const double *w, int64_t *pivots) {
    memory *m = kernel_memory;
    m->w = w;
    m->depth = 0;
    m->replayed = m->saved = UNKNOWN;
    m->size = size_in_units(m, w);
    const int most = CAROM_PIVOTS_PER_ROW * m->n;
    node *k = node_at(m, 0);
    int r = enter_artificial(m);
    while (r != UNKNOWN && m->depth < most) {
        const int left = take_pivot(m, k, r);
        ++*pivots;
        if (left == 2 * m->n) return CAROM_COMPLETE;
        k = child(m, k, r, left < m->n ? left + m->n : left - m->n);
        if (k->saved != UNKNOWN) {
            m->saved = k->saved;
            m->saved_depth = m->depth;
        }
        r = leaving_row(m, k);
    }
    return r == UNKNOWN ? CAROM_RAY : CAROM_BUDGET_SPENT;
}

static void read_out(const void *kernel_memory, double *z, bool *basic) {
    const memory *m = kernel_memory;
    for (int i = 0; i < m->n; i++) {
        z[i] = 0;
        basic[i] = false;
    }
    for (int i = 0; i < m->n; i++) {
        const int variable = m->basic[i] - m->n;
        if (variable < 0 || variable == m->n) continue;
        z[variable] = m->rhs[i];
        basic[variable] = true;
    }
}

// ----------------------------------------------------------------------------------------------------------- lifetime

static void forget(void *kernel_memory) {
    memory *m = kernel_memory;
    if (!m) return;
    release(m->tableau);
    free(m->nodes);
    free(m->ties);
    free(m->saves);
    free(m->column_unit);
    free(m->rhs);
    free(m->next);
    free(m->size_w);
    free(m->basic);
    free(m->leaving);
    free(m->entered);
    free(m);
}

// Nodes are not touched before they are used: pages that no solve needs cost nothing.
static bool allocate_tree(memory *m) {
    const size_t n = (size_t)m->n;
    m->arrays = whole_lines(sizeof(node) + n * sizeof(int));
    m->node_size = whole_lines(m->arrays + 2 * m->rows * sizeof(double) + m->rows * sizeof(float));
    m->node_capacity = (int)(TREE_BYTES / m->node_size);
    m->tie_capacity = (int)(TIE_BYTES / (m->rows * sizeof(double)));
    m->nodes = aligned_alloc(ALIGNMENT, ((size_t)m->node_capacity + 1) * m->node_size);
    m->ties = aligned_alloc(ALIGNMENT, ((size_t)m->tie_capacity + n) * m->rows * sizeof *m->ties);
    m->save_size = whole_lines(n * (m->tableau->stride + 1) * sizeof(double) + (4 * n + 2) * sizeof(int));
    m->save_capacity = (int)(SAVED_BYTES / m->save_size);
    m->saves = aligned_alloc(ALIGNMENT, (size_t)m->save_capacity * m->save_size);
    return m->nodes && m->ties && m->saves;
}

static void plant_root(memory *m) {
    node *root = node_at(m, m->node_count++);
    // Its tableau is where replays start, anyway.
    root->entering = (int16_t)(2 * m->n);
    root->saved = UNKNOWN;
    root->first_row = 0;
    root->known_rows = root->tied = 0;
    root->misses = MISSES_TO_SAVE;
    for (size_t i = 0; i < m->rows; i++) {
        column_of(m, root)[i] = i < (size_t)m->n ? -1 : 0;
        inverse_of(m, root)[i] = 0;
        bound_of(m, root)[i] = -HUGE_VALF;
    }
    for (int i = 0; i < m->n; i++) root->children[i] = UNKNOWN;
}

static void *remember(int n, const double *W, const double *y_unit, const double *z_unit, double pivot_tolerance, double tie_tolerance) {
    memory *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    *m = (memory){.n = n, .W = W, .y_unit = y_unit, .pivot_tolerance = pivot_tolerance, .tie_tolerance = tie_tolerance};
    m->tableau = create(n, y_unit, z_unit);
    m->rows = m->tableau ? m->tableau->rows : ROW_LANES;
    m->rhs = allocate_rows(m->rows, 0);
    m->next = allocate_rows(m->rows, 0);
    m->size_w = allocate_rows(m->rows, 0);
    m->basic = malloc((size_t)n * sizeof *m->basic);
    m->leaving = malloc(MOST_PIVOTS * sizeof *m->leaving);
    m->entered = malloc(MOST_PIVOTS * sizeof *m->entered);
    if (m->tableau) m->column_unit = allocate_rows(m->tableau->stride, 0);
    if (m->tableau && allocate_tree(m) && m->column_unit && m->rhs && m->next && m->size_w && m->basic && m->leaving && m->entered) {
        plant_root(m);
        return m;
    }
    forget(m);
    return NULL;
}
