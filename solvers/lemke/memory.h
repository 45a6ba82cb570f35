// SPDX-License-Identifier: Apache-2.0
// Lemke's method that remembers its pivots: for one W and many w, in double precision.
//
// The tableau after a sequence of pivots does not depend on w, only the right-hand sides do. So a tree keeps, for every sequence that was
// met twice, what the next ratio test reads: the entering column, the inverses of its acceptable pivots, bounds of round-off. On a known
// sequence a pivot costs O(n): one ratio test and one update of the right-hand sides. On an unknown one, the entering column is found
// first: that of a saved tableau goes through the pivots since then, exactly as right-hand sides do. It gets the bits that it would have in
// a tableau which takes all these pivots, at a fraction of the cost. The tree grows until its memory is spent.
//
// The tree keeps only what a replay would compute again: results do not depend on what was solved before.
#include "solvers/lemke/rows.h"
#include "solvers/lemke/tableau.h"

// Of the tree, of what it keeps for ties, and of saved tableaus: more does not fit a core's caches.
enum { TREE_BYTES = 2 << 20, TIE_BYTES = 1 << 20, SAVED_BYTES = 1 << 20 };
// Unknown sequences after a node before its tableau is saved: columns of sequences that are not kept start there.
enum { MISSES_TO_SAVE = 4 };
// Nodes for the last pivots of a sequence that is not kept. A column goes through as many pivots at most; then a tableau takes them.
enum { MOST_SPARE = 32 };
enum { UNKNOWN = -1, MET_ONCE = -2, MOST_PIVOTS = CAROM_LEMKE_PIVOTS_PER_ROW * CAROM_LEMKE_MOST_REMEMBERED };

_Static_assert((int)ROW_LANES == (int)LANES, "arrays of rows are padded as the tableau's are");

// What follows one sequence of pivots. Its arrays stand after it in memory, because a solve waits for every cache line that it fetches.
typedef struct pivot_node {
    uint64_t known_rows;  // bits of the rows of the inverse basis that are kept for ties
    uint64_t tied;        // bits of the rows of the last tie; 0: there was none
    int first_row;        // where the known rows stand, side by side
    int saved;            // where its tableau stands; UNKNOWN until MISSES_TO_SAVE unknown sequences began here
    int16_t entering;     // variable that enters next
    int8_t smallest;      // of the last tie, lexicographically
    int8_t misses;        // unknown sequences that began here, up to MISSES_TO_SAVE
    int children[];       // [n] node that follows when a row leaves
} pivot_node;

typedef struct lemke_memory {
    carom_arena arena;
    int n;
    size_t rows;  // n, padded
    const double *W, *y_unit;
    double *per_unit;  // [2n+1] reciprocal units of the variables: powers of two, but for the artificial one's
    double pivot_tolerance, tie_tolerance;
    char *nodes;               // [node_capacity + MOST_SPARE], the last in turn for pivots of sequences that are not kept
    size_t node_size, arrays;  // bytes; those before the arrays of a node
    int node_count, node_capacity;
    double *ties;  // [(tie_capacity + n) x rows] rows of inverse bases, the last n for those that are not kept
    int tie_count, tie_capacity;
    char *saves;  // [save_capacity] tableaus, the first before any pivot
    size_t save_size;
    int save_count, save_capacity;
    lemke_tableau *tableau;
    double *column_unit;            // [stride] scratch: units of the slacks that are columns of the tableau
    int replayed;                   // pivots of the present sequence that the tableau has seen
    double *rhs, *next;             // [rows] right-hand sides, and those after the next pivot
    int *basic;                     // [n] variable of each row
    double *row_per_unit;           // [rows] its reciprocal unit
    double *weight;                 // [rows] bounds of sum_j |inverse basis_ij| |w_j|, for sequences that are not kept
    int weighed;                    // pivots that these bounds have gone through; UNKNOWN: none are needed yet
    pivot_node **path;              // [MOST_PIVOTS] nodes that the present sequence has passed; of spare ones the last MOST_SPARE
    int *leaving, *entered, *left;  // [MOST_PIVOTS] its rows, and the variables that entered and left there
    int depth, artificial;          // pivots of the sequence; row of the artificial variable
    int saved, saved_depth;         // the last saved tableau on its way, and the pivots before that
    double size;                    // of w in units
    double *size_w;                 // [rows] |w|
    double *kept;      // [n] z at the first basis where the artificial variable had vanished, for the case that the method fails later
    bool *kept_basic;  // [n] which of these were basic
    bool ends_there;   // is that the answer
} lemke_memory;

static pivot_node *node_at(const lemke_memory *memory, int index) {
    return (pivot_node *)(void *)(memory->nodes + (size_t)index * memory->node_size);
}

// A node of a sequence that is not kept.
static bool is_spare(const lemke_memory *memory, const pivot_node *node) { return node >= node_at(memory, memory->node_capacity); }

static size_t whole_lines(size_t bytes) { return (bytes + CAROM_ARENA_ALIGNMENT - 1) / CAROM_ARENA_ALIGNMENT * CAROM_ARENA_ALIGNMENT; }

// The arrays of a node: [rows] the entering column; 1 over its acceptable pivots, 0 elsewhere; bounds of sum_j |inverse basis_ij| |w_j|,
// the scale of round-off, for w of one unit, minus infinity where there is no acceptable pivot.
static double *column_of(const lemke_memory *memory, const pivot_node *node) {
    return (double *)(void *)((char *)(uintptr_t)node + memory->arrays);
}
static double *inverse_of(const lemke_memory *memory, const pivot_node *node) { return column_of(memory, node) + memory->rows; }
static float *bound_of(const lemke_memory *memory, const pivot_node *node) {
    return (float *)(void *)(column_of(memory, node) + 2 * memory->rows);
}

static double *saved_at(const lemke_memory *memory, int index) {
    return (double *)(void *)(memory->saves + (size_t)index * memory->save_size);
}

// -------------------------------------------------------------------------------------------------- growing the tree

// sum_j |row_j| size_j over whole vectors.
static double sum_of_sizes(size_t count, const double *row, const double *size) {
    double sums[LANES] = {0}, sum = 0;
    for (size_t c = 0; c < count; c += LANES)
        for (size_t l = 0; l < LANES; l++) sums[l] += magnitude(row[c + l]) * size[c + l];
    for (int l = 0; l < LANES; l++) sum += sums[l];
    return sum;
}

static void fill_column_units(lemke_memory *memory) {
    const int *nonbasic = memory->tableau->nonbasic;
    for (int c = 0; c <= memory->n; c++) memory->column_unit[c] = nonbasic[c] < memory->n ? memory->y_unit[nonbasic[c]] : 0;
}

// sum_j |inverse basis_ij| unit_j, where memory->column_unit has the units of the columns.
static double scale_of_units(const lemke_memory *memory, int i) {
    const lemke_tableau *tableau = memory->tableau;
    const double own = tableau->basic[i] < memory->n ? memory->y_unit[tableau->basic[i]] : 0;
    return own + sum_of_sizes(tableau->stride, row_of(tableau, i), memory->column_unit);
}

// A saved tableau: its columns, the scales of round-off for w of one unit, then the lists of variables. Right-hand sides are not saved:
// they are the present solve's, and stand in memory->rhs.
static void save(lemke_memory *memory, pivot_node *node) {
    const lemke_tableau *tableau = memory->tableau;
    const size_t n = (size_t)memory->n, entries = (n + 1) * memory->rows;
    node->saved = memory->save_count++;
    double *to = saved_at(memory, node->saved);
    fill_column_units(memory);
    for (size_t i = 0; i < memory->rows; i++) {
        for (size_t c = 0; c <= n; c++) to[c * memory->rows + i] = i < n ? row_of(tableau, (int)i)[c] : 0;
        to[entries + i] = i < n ? scale_of_units(memory, (int)i) : 0;
    }
    memcpy(to + entries + memory->rows, tableau->lists, (4 * n + 2) * sizeof *tableau->lists);
}

static const double *saved_scales(const lemke_memory *memory) {
    return saved_at(memory, memory->saved) + ((size_t)memory->n + 1) * memory->rows;
}

static const int *saved_lists(const lemke_memory *memory) { return (const int *)(const void *)(saved_scales(memory) + memory->rows); }

// Brings the tableau to the first `depth` pivots of the present sequence, from the last saved tableau on its way.
static void replay(lemke_memory *memory, int depth) {
    lemke_tableau *tableau = memory->tableau;
    if (memory->replayed < memory->saved_depth) {
        const double *from = saved_at(memory, memory->saved);
        for (int i = 0; i < memory->n; i++) {
            for (int c = 0; c <= memory->n; c++) row_of(tableau, i)[c] = from[(size_t)c * memory->rows + (size_t)i];
            tableau->rhs[i] = tableau->weight[i] = 0;
        }
        memcpy(tableau->lists, saved_lists(memory), (4 * (size_t)memory->n + 2) * sizeof *tableau->lists);
        memory->replayed = memory->saved_depth;
    }
    for (; memory->replayed < depth; memory->replayed++) {
        const int column = ~tableau->place[memory->entered[memory->replayed]];
        copy_column(tableau, column);
        pivot(tableau, memory->leaving[memory->replayed], column);
    }
}

// The column of a variable that is not basic after the present sequence, bit for bit as in a tableau that has taken all its pivots.
static void find_column(lemke_memory *memory, int variable, double *column) {
    // From the tableau or a saved one, whichever has come farther; unless the variable has left the basis since then.
    if (memory->depth - memory->saved_depth >= MOST_SPARE && memory->depth - memory->replayed >= MOST_SPARE) replay(memory, memory->depth);
    const bool is_replayed = memory->replayed >= memory->saved_depth;
    const int known = is_replayed ? memory->replayed : memory->saved_depth;
    int from = memory->depth;
    while (from > known && memory->left[from - 1] != variable) from--;
    if (from > known) {
        // The pivot where it left gave it this column.
        const int r = memory->leaving[from - 1];
        const double *entered = column_of(memory, memory->path[from - 1]), inverse = inverse_of(memory, memory->path[from - 1])[r];
        for (size_t i = 0; i < memory->rows; i++) column[i] = -entered[i] * inverse;
        put(column, r, inverse);
    } else if (is_replayed) {
        copy_column(memory->tableau, ~memory->tableau->place[variable]);
        memcpy(column, memory->tableau->column, memory->rows * sizeof *column);
    } else {
        const int c = ~saved_lists(memory)[2 * memory->n + 1 + variable];
        memcpy(column, saved_at(memory, memory->saved) + (size_t)c * memory->rows, memory->rows * sizeof *column);
    }
    // The pivots after that, as right-hand sides take them.
    for (; from < memory->depth; from++) {
        const int r = memory->leaving[from];
        const double ratio = column[r] * inverse_of(memory, memory->path[from])[r];
        subtract_column(memory->rows, column, column_of(memory, memory->path[from]), ratio, column);
        put(column, r, ratio);
    }
}

// Brings the bounds of the scales of round-off, for the present w, to the present node: each pivot adds what it may add at most.
static void carry_weight(lemke_memory *memory) {
    if (memory->weighed == UNKNOWN) {
        for (size_t i = 0; i < memory->rows; i++) memory->weight[i] = memory->size * saved_scales(memory)[i];
        memory->weighed = memory->saved_depth;
    }
    for (; memory->weighed < memory->depth; memory->weighed++) {
        const pivot_node *node = memory->path[memory->weighed];
        const int r = memory->leaving[memory->weighed];
        const double share = memory->weight[r] * magnitude(inverse_of(memory, node)[r]);
        add_magnitudes(memory->rows, column_of(memory, node), share, memory->weight);
        put(memory->weight, r, share);
    }
}

static void clear_node(const lemke_memory *memory, pivot_node *node, int entering, int misses) {
    node->entering = (int16_t)entering;
    node->misses = (int8_t)misses;
    node->saved = UNKNOWN;
    node->first_row = 0;
    node->known_rows = node->tied = 0;
    // Nothing that follows a spare node is kept.
    for (int i = 0; !is_spare(memory, node) && i < memory->n; i++) node->children[i] = UNKNOWN;
}

// The node that follows when the variable of row r leaves; its complement enters. A sequence that is met once, as many are, leaves only a
// mark.
static pivot_node *child(lemke_memory *memory, pivot_node *node, int r, int entering) {
    const bool kept = !is_spare(memory, node);
    if (kept && node->children[r] >= 0) return node_at(memory, node->children[r]);
    // Many unknown sequences begin here: the tableau is saved, so that the next columns start from it.
    if (kept && node->misses < MISSES_TO_SAVE && ++node->misses == MISSES_TO_SAVE && memory->save_count < memory->save_capacity) {
        replay(memory, memory->depth - 1);
        save(memory, node);
    }
    // At the second meeting the sequence is kept, unless the tree is full; else it gets a spare node.
    const bool keep = kept && node->children[r] == MET_ONCE && memory->node_count < memory->node_capacity;
    pivot_node *made = node_at(memory, keep ? memory->node_count : memory->node_capacity + memory->depth % MOST_SPARE);
    if (kept) node->children[r] = keep ? memory->node_count++ : MET_ONCE;

    // The entering column and what the ratio test needs of it.
    double *column = column_of(memory, made), *weight = memory->weight;
    clear_node(memory, made, entering, 0);
    find_column(memory, entering, column);
    if (keep) {
        // A node that is kept has bounds for every w of one unit, in what is scratch until the ratio test.
        weight = memory->next;
        replay(memory, memory->depth);
        fill_column_units(memory);
        for (int i = 0; i < memory->n; i++) weight[i] = scale_of_units(memory, i);
    } else {
        carry_weight(memory);
    }
    list_pivots(memory->rows, column, memory->row_per_unit, weight,
                memory->pivot_tolerance * largest_in(memory->rows, column, memory->row_per_unit), inverse_of(memory, made),
                bound_of(memory, made));
    return made;
}

// -------------------------------------------------------------------------------------------------------------- ties

// Row i of the inverse basis of a node, where prepare_ties put it.
static double *inverse_row(const lemke_memory *memory, const pivot_node *node, int i) {
    const uint64_t bit = UINT64_C(1) << i;
    const int place =
        node->known_rows & bit ? node->first_row + __builtin_popcountll(node->known_rows & (bit - 1)) : memory->tie_capacity + i;
    return memory->ties + (size_t)place * memory->rows;
}

// Makes these rows of the inverse basis of the present node available.
static void prepare_ties(lemke_memory *memory, pivot_node *node, uint64_t wanted) {
    uint64_t missing = wanted & ~node->known_rows;
    if (!missing) return;
    replay(memory, memory->depth);
    const int count = __builtin_popcountll(wanted | node->known_rows);
    if (!is_spare(memory, node) && memory->tie_count + count <= memory->tie_capacity) {
        // All rows of a node move to the end.
        missing = node->known_rows |= wanted;
        node->first_row = memory->tie_count;
        memory->tie_count += count;
    }
    for (; missing; missing &= missing - 1) {
        const int i = __builtin_ctzll(missing);
        double *row = inverse_row(memory, node, i);
        for (int j = 0; j < (int)memory->rows; j++) row[j] = j < memory->n ? inverse_entry(memory->tableau, i, j) : 0;
    }
}

// Is row a lexicographically before row b? Ratios that differ by less than the tolerance times the larger one count as equal.
static bool precedes(const lemke_memory *memory, const pivot_node *node, int a, int b) {
    const double *row_a = inverse_row(memory, node, a), *row_b = inverse_row(memory, node, b);
    const double inverse_a = inverse_of(memory, node)[a], inverse_b = inverse_of(memory, node)[b];
    for (int j = 0; j < memory->n; j++) {
        const double ratio_a = row_a[j] * inverse_a, ratio_b = row_b[j] * inverse_b, difference = ratio_a - ratio_b;
        if (magnitude(difference) > memory->tie_tolerance * fmax(magnitude(ratio_a), magnitude(ratio_b))) return difference < 0;
    }
    return a < b;
}

// Of several rows that may tie: the artificial variable's, or the lexicographically smallest. memory->next[i] is what row i misses the
// least ratio by. UNKNOWN when no row ties, which needs a ratio that is not finite.
static int break_tie(lemke_memory *memory, pivot_node *node, uint64_t candidates) {
    const double tolerance = memory->tie_tolerance;
    // The right-hand side is a lower bound of the round-off scale; the other rows need sum_j |inverse basis_ij| |w_j| itself.
    uint64_t unclear = 0;
    for (uint64_t rest = candidates; rest; rest &= rest - 1) {
        const int i = __builtin_ctzll(rest);
        if (!(memory->next[i] <= tolerance * magnitude(memory->rhs[i]))) unclear |= UINT64_C(1) << i;
    }
    uint64_t tied = candidates & ~unclear;
    if (unclear) prepare_ties(memory, node, unclear);
    for (; unclear; unclear &= unclear - 1) {
        const int i = __builtin_ctzll(unclear);
        const double scale = sum_of_sizes(memory->rows, inverse_row(memory, node, i), memory->size_w);
        tied |= (uint64_t)(memory->next[i] <= tolerance * scale) << i;
    }
    if (!tied) return UNKNOWN;
    if (tied >> memory->artificial & 1) return memory->artificial;
    // The smallest of these rows does not depend on w: the last answer is kept.
    if (tied == node->tied) return node->smallest;
    prepare_ties(memory, node, tied);
    int best = __builtin_ctzll(tied);
    for (uint64_t rest = tied & (tied - 1); rest; rest &= rest - 1)
        if (precedes(memory, node, __builtin_ctzll(rest), best)) best = __builtin_ctzll(rest);
    node->tied = tied;
    node->smallest = (int8_t)best;
    return best;
}

// ------------------------------------------------------------------------------------------------------------ solving

// Row that leaves when the variable of the node enters, UNKNOWN on a ray. Sets memory->next, the right-hand sides after that pivot.
static int leaving_row(lemke_memory *memory, pivot_node *node) {
    const double *inverse = inverse_of(memory, node), *column = column_of(memory, node);
    const double scale = memory->tie_tolerance * (is_spare(memory, node) ? 1 : memory->size);
    // The least ratio, and by how much each row misses it: candidates are the rows within their bound of round-off.
    const double least = least_ratio(memory->rows, memory->rhs, inverse);
    if (!(least < INFINITY)) return UNKNOWN;
    subtract_column(memory->rows, memory->rhs, column, least, memory->next);
    const uint64_t candidates = rows_within(memory->rows, memory->next, bound_of(memory, node), scale);
    if (!candidates) return UNKNOWN;
    const int r = candidates & (candidates - 1) ? break_tie(memory, node, candidates) : __builtin_ctzll(candidates);
    if (r == UNKNOWN) return r;
    // A tied row may leave at a ratio that is larger by round-off: its own ratio counts.
    const double theta = memory->rhs[r] * inverse[r];
    if (theta != least) subtract_column(memory->rows, memory->rhs, column, theta, memory->next);
    put(memory->next, r, theta);
    return r;
}

// z of the present basis, and which of them are basic.
static void read_basis(const lemke_memory *memory, double *z, bool *basic) {
    for (int i = 0; i < memory->n; i++) {
        z[i] = 0;
        basic[i] = false;
    }
    for (int i = 0; i < memory->n; i++) {
        const int variable = memory->basic[i] - memory->n;
        if (variable < 0 || variable == memory->n) continue;
        z[variable] = memory->rhs[i];
        basic[variable] = true;
    }
}

static carom_verdict recall(void *kernel_memory, const double *w, int64_t *pivots) {
    lemke_memory *memory = kernel_memory;
    const int n = memory->n, most = CAROM_LEMKE_PIVOTS_PER_ROW * n;
    memory->depth = 0;
    memory->replayed = memory->weighed = UNKNOWN;
    memory->saved = memory->saved_depth = 0;
    for (int i = 0; i < n; i++) {
        memory->rhs[i] = w[i];
        memory->row_per_unit[i] = memory->per_unit[i];
        memory->size_w[i] = magnitude(w[i]);
        memory->basic[i] = i;
    }
    memory->size = largest_in(memory->rows, memory->rhs, memory->row_per_unit);
    // The artificial variable enters where w_i / d_i is least. Its column is -d.
    pivot_node *node = node_at(memory, 0);
    int r = memory->artificial = first_row(memory->tableau, w, memory->tie_tolerance);
    const double entry = -w[r] * memory->tableau->uncover[r];
    subtract_column(memory->rows, memory->rhs, column_of(memory, node), entry, memory->next);
    put(memory->next, r, entry);
    const double vanished = VANISHED * memory->tie_tolerance * magnitude(entry);
    bool keeps = memory->ends_there = false;
    while (r != UNKNOWN && memory->depth < most) {
        // The exchange that row r was chosen for.
        double *former = memory->rhs;
        memory->rhs = memory->next;
        memory->next = former;
        const int left = memory->basic[r];
        memory->basic[r] = node->entering;
        memory->row_per_unit[r] = memory->per_unit[node->entering];
        memory->path[memory->depth] = node;
        memory->leaving[memory->depth] = r;
        memory->entered[memory->depth] = node->entering;
        memory->left[memory->depth++] = left;
        ++*pivots;
        if (left == 2 * n) return CAROM_COMPLETE;
        if (!keeps && memory->rhs[memory->artificial] <= vanished) {
            // As `keep` does for a tableau.
            read_basis(memory, memory->kept, memory->kept_basic);
            if (left >= n) memory->kept_basic[left - n] = true;
            keeps = true;
        }
        node = child(memory, node, r, left < n ? left + n : left - n);
        if (node->saved != UNKNOWN) {
            memory->saved = node->saved;
            memory->saved_depth = memory->depth;
        }
        r = leaving_row(memory, node);
    }
    memory->ends_there = keeps;
    return keeps ? CAROM_COMPLETE : r == UNKNOWN ? CAROM_RAY : CAROM_BUDGET_SPENT;
}

static void read_out(const void *kernel_memory, double *z, bool *basic) {
    const lemke_memory *memory = kernel_memory;
    if (!memory->ends_there) {
        read_basis(memory, z, basic);
        return;
    }
    memcpy(z, memory->kept, (size_t)memory->n * sizeof *z);
    memcpy(basic, memory->kept_basic, (size_t)memory->n * sizeof *basic);
}

// ----------------------------------------------------------------------------------------------------------- lifetime

static void forget(void *kernel_memory) {
    lemke_memory *memory = kernel_memory;
    if (!memory) return;
    release(memory->tableau);
    carom_arena_free(&memory->arena);
    free(memory->nodes);
    free(memory->ties);
    free(memory->saves);
    free(memory);
}

static void cover_again(void *kernel_memory, const double *covering) {
    lemke_memory *memory = kernel_memory;
    cover(memory->tableau, covering);
    memory->node_count = memory->tie_count = memory->save_count = 0;
    for (int i = 0; i <= 2 * memory->n; i++) memory->per_unit[i] = 1 / memory->tableau->unit[i];
    // The root: the artificial variable enters. Its tableau is the first that is saved.
    pivot_node *root = node_at(memory, memory->node_count++);
    clear_node(memory, root, 2 * memory->n, MISSES_TO_SAVE);
    start(memory->tableau, memory->W, NULL, memory->rhs);
    save(memory, root);
    for (size_t i = 0; i < memory->rows; i++) {
        column_of(memory, root)[i] = -memory->tableau->covering[i];
        inverse_of(memory, root)[i] = -memory->tableau->uncover[i];
        bound_of(memory, root)[i] = -HUGE_VALF;
    }
}

static void *remember(int n, const double *W, const double *y_unit, const double *z_unit, double pivot_tolerance, double tie_tolerance) {
    lemke_memory *memory = calloc(1, sizeof *memory);
    lemke_tableau *tableau = memory ? create(n, y_unit, z_unit) : NULL;
    if (!tableau) {
        free(memory);
        return NULL;
    }
    const size_t size = (size_t)n, rows = tableau->rows;
    *memory = (lemke_memory){.n = n, .rows = rows, .W = W, .y_unit = y_unit, .tableau = tableau};
    memory->pivot_tolerance = pivot_tolerance;
    memory->tie_tolerance = tie_tolerance;
    carom_arena *arena = &memory->arena;
    memory->rhs = carom_arena_take(arena, rows, sizeof *memory->rhs);
    memory->next = carom_arena_take(arena, rows, sizeof *memory->next);
    memory->size_w = carom_arena_take(arena, rows, sizeof *memory->size_w);
    memory->column_unit = carom_arena_take(arena, tableau->stride, sizeof *memory->column_unit);
    memory->basic = carom_arena_take(arena, size, sizeof *memory->basic);
    memory->kept = carom_arena_take(arena, size, sizeof *memory->kept);
    memory->kept_basic = carom_arena_take(arena, size, sizeof *memory->kept_basic);
    memory->per_unit = carom_arena_take(arena, 2 * size + 1, sizeof *memory->per_unit);
    memory->row_per_unit = carom_arena_take(arena, rows, sizeof *memory->row_per_unit);
    memory->weight = carom_arena_take(arena, rows, sizeof *memory->weight);
    memory->path = carom_arena_take(arena, MOST_PIVOTS, sizeof *memory->path);
    memory->leaving = carom_arena_take(arena, MOST_PIVOTS, sizeof *memory->leaving);
    memory->entered = carom_arena_take(arena, MOST_PIVOTS, sizeof *memory->entered);
    memory->left = carom_arena_take(arena, MOST_PIVOTS, sizeof *memory->left);

    // Not from the arena, which clears its arrays: pages that no solve touches cost nothing.
    memory->arrays = whole_lines(sizeof(pivot_node) + size * sizeof(int));
    memory->node_size = whole_lines(memory->arrays + 2 * rows * sizeof(double) + rows * sizeof(float));
    memory->node_capacity = (int)(TREE_BYTES / memory->node_size);
    memory->tie_capacity = (int)(TIE_BYTES / (rows * sizeof(double)));
    memory->save_size = whole_lines((size + 2) * rows * sizeof(double) + (4 * size + 2) * sizeof(int));
    memory->save_capacity = (int)(SAVED_BYTES / memory->save_size);
    memory->nodes = aligned_alloc(CAROM_ARENA_ALIGNMENT, ((size_t)memory->node_capacity + MOST_SPARE) * memory->node_size);
    memory->ties = aligned_alloc(CAROM_ARENA_ALIGNMENT, ((size_t)memory->tie_capacity + size) * rows * sizeof *memory->ties);
    memory->saves = aligned_alloc(CAROM_ARENA_ALIGNMENT, (size_t)memory->save_capacity * memory->save_size);
    if (arena->failed || !memory->nodes || !memory->ties || !memory->saves) {
        forget(memory);
        return NULL;
    }
    cover_again(memory, NULL);
    return memory;
}
