// SPDX-License-Identifier: Apache-2.0
// Linear equations with sign conditions, decided exactly: elimination, then the simplex method with least indices, on residues.
#include <math.h>
#include <string.h>

#include "carom/modular.h"

// Least indices end by themselves; this is far beyond what tables of this size need.
enum { MOST_PIVOTS = 100000 };

// A column whose variable has no sign, and a row that has become such a variable's.
enum { FREE = -1 };

carom_status carom_exact_system_create(const carom_moduli *moduli, int most_unknowns, int most_rows, carom_exact_system *system,
                                       carom_error *error) {
    const size_t columns = (size_t)most_unknowns + 1, unknowns = (size_t)most_unknowns, rows = (size_t)most_rows;
    const size_t count = (size_t)moduli->count;
    *system = (carom_exact_system){.moduli = moduli};
    carom_arena *arena = &system->arena;
    system->equations = carom_arena_take(arena, unknowns * columns * count, sizeof(uint64_t));
    system->conditions = carom_arena_take(arena, rows * columns * count, sizeof(uint64_t));
    system->table = carom_arena_take(arena, rows * columns * count, sizeof(uint64_t));
    system->row = carom_arena_take(arena, 4 * count, sizeof(uint64_t));
    system->determinant = carom_arena_take(arena, count, sizeof(uint64_t));
    system->pivots = carom_arena_take(arena, unknowns, sizeof(int));
    system->free_unknowns = carom_arena_take(arena, unknowns, sizeof(int));
    system->row_label = carom_arena_take(arena, rows, sizeof(int));
    system->column_label = carom_arena_take(arena, unknowns, sizeof(int));
    if (!arena->failed) return CAROM_OK;
    carom_arena_free(arena);
    return carom_fail_memory(error, "enumeration");
}

void carom_exact_system_free(carom_exact_system *system) { carom_arena_free(&system->arena); }

// ---------------------------------------------------------------------------------------------------------- elimination

// Subtracts multiples of a row from the others so that its column becomes zero in them, and makes the pivot -1.
static void eliminate_column(const carom_moduli *moduli, int rows, int columns, uint64_t *matrix, int pivot_row, int column,
                             uint64_t *inverse) {
    const size_t count = (size_t)moduli->count;
    uint64_t *pivot = matrix + (size_t)pivot_row * (size_t)columns * count;
    carom_residue_negated_inverse(moduli, pivot + (size_t)column * count, inverse);
    for (int j = 0; j < columns; j++) carom_residue_multiply(moduli, pivot + (size_t)j * count, inverse, pivot + (size_t)j * count);
    for (int i = 0; i < rows; i++) {
        uint64_t *row = matrix + (size_t)i * (size_t)columns * count, *factor = row + (size_t)column * count;
        if (i == pivot_row || carom_residue_is_zero(moduli, factor)) continue;
        for (int j = 0; j < columns; j++)
            if (j != column) carom_residue_add_product(moduli, factor, pivot + (size_t)j * count, row + (size_t)j * count);
        memset(factor, 0, count * sizeof *factor);
    }
}

// A pivot in this row among the first `columns`: its column, -1 when all are zero, -2 when the primes do not tell.
static int find_pivot(const carom_moduli *moduli, int columns, const uint64_t *row) {
    bool zero = true;
    for (int j = 0; j < columns; j++) {
        const uint64_t *entry = row + (size_t)j * (size_t)moduli->count;
        if (carom_residue_is_unit(moduli, entry)) return j;
        zero = zero && carom_residue_is_zero(moduli, entry);
    }
    return zero ? -1 : -2;
}

carom_exact_answer carom_exact_eliminate(carom_exact_system *system) {
    const carom_moduli *moduli = system->moduli;
    const size_t count = (size_t)moduli->count;
    const int unknowns = system->unknowns, columns = unknowns + 1;
    system->rank = 0;
    carom_residue_set(moduli, 1, 0, system->determinant);
    for (int i = 0; i < unknowns; i++) {
        uint64_t *row = system->equations + (size_t)i * (size_t)columns * count;
        const int column = find_pivot(moduli, unknowns, row);
        if (column == -2) return CAROM_EXACT_UNDECIDED;
        if (column == -1) {
            // 0 = constant. A constant that only some primes divide is no zero.
            if (!carom_residue_is_zero(moduli, row + (size_t)unknowns * count)) return CAROM_EXACT_EMPTY;
            continue;
        }
        carom_residue_multiply(moduli, system->determinant, row + (size_t)column * count, system->determinant);
        // Rows that hold no pivot stand behind the first `rank`.
        if (i != system->rank)
            for (size_t k = 0; k < (size_t)columns * count; k++) {
                uint64_t *kept = system->equations + (size_t)system->rank * (size_t)columns * count;
                const uint64_t swapped = kept[k];
                kept[k] = row[k];
                row[k] = swapped;
            }
        eliminate_column(moduli, unknowns, columns, system->equations, system->rank, column, system->row);
        system->pivots[system->rank++] = column;
    }
    // Unknowns that no equation determines.
    int free_count = 0;
    for (int j = 0; j < unknowns; j++) {
        bool is_pivot = false;
        for (int i = 0; i < system->rank; i++) is_pivot = is_pivot || system->pivots[i] == j;
        if (!is_pivot) system->free_unknowns[free_count++] = j;
    }
    return free_count ? CAROM_EXACT_VARIES : CAROM_EXACT_SINGLE;
}

int carom_exact_rank(const carom_moduli *moduli, int rows, int columns, uint64_t *matrix) {
    const size_t count = (size_t)moduli->count, width = (size_t)columns * count;
    uint64_t factor[CAROM_MOST_EXACT_PRIMES];
    int rank = 0;
    for (int i = 0; i < rows; i++) {
        const uint64_t *pivot = matrix + (size_t)i * width;
        const int column = find_pivot(moduli, columns, pivot);
        if (column == -2) return -1;
        if (column == -1) continue;
        // Without divisions: each row below is multiplied by the pivot.
        for (int k = i + 1; k < rows; k++) {
            uint64_t *row = matrix + (size_t)k * width;
            if (carom_residue_is_zero(moduli, row + (size_t)column * count)) continue;
            memset(factor, 0, count * sizeof *factor);
            carom_residue_subtract(moduli, factor, row + (size_t)column * count, factor);
            for (int j = 0; j < columns; j++) {
                uint64_t *entry = row + (size_t)j * count;
                carom_residue_multiply(moduli, entry, pivot + (size_t)column * count, entry);
                carom_residue_add_product(moduli, factor, pivot + (size_t)j * count, entry);
            }
        }
        rank++;
    }
    return rank;
}

// -------------------------------------------------------------------------------------------------------------- decision

// The table of the conditions over the free unknowns, and the scale that makes its entries integers.
typedef struct exact_table {
    const carom_exact_system *system;
    int columns;      // free unknowns; a constant stands after them
    uint64_t *scale;  // weight times determinant
    uint64_t *scaled, *inverse;
    long double scale_value;
    bool undecided;
} exact_table;

static uint64_t *entry_at(const exact_table *table, int row, int column) {
    return table->system->table + ((size_t)row * (size_t)(table->columns + 1) + (size_t)column) * (size_t)table->system->moduli->count;
}

// An entry of the table as a number: its sign is exact.
static long double value_at(const exact_table *table, int row, int column) {
    const carom_moduli *moduli = table->system->moduli;
    carom_residue_multiply(moduli, entry_at(table, row, column), table->scale, table->scaled);
    return carom_residue_value(moduli, table->scaled) / table->scale_value;
}

static bool is_zero_at(const exact_table *table, int row, int column) {
    return carom_residue_is_zero(table->system->moduli, entry_at(table, row, column));
}

static void rescale(exact_table *table) {
    table->scale_value = carom_residue_value(table->system->moduli, table->scale);
    table->undecided = table->undecided || !carom_residue_is_unit(table->system->moduli, table->scale);
}

// Exchanges the variable of a row with that of a column.
static void exchange(exact_table *table, int row, int column) {
    const carom_exact_system *system = table->system;
    const carom_moduli *moduli = system->moduli;
    const size_t bytes = (size_t)moduli->count * sizeof(uint64_t);
    if (!carom_residue_is_unit(moduli, entry_at(table, row, column))) {
        table->undecided = true;
        return;
    }
    carom_residue_multiply(moduli, table->scale, entry_at(table, row, column), table->scale);
    rescale(table);
    // r = a x + rest: x = r / a - rest / a.
    uint64_t *inverse = table->inverse;
    carom_residue_negated_inverse(moduli, entry_at(table, row, column), inverse);
    for (int j = 0; j <= table->columns; j++)
        if (j != column) carom_residue_multiply(moduli, entry_at(table, row, j), inverse, entry_at(table, row, j));
    memset(entry_at(table, row, column), 0, bytes);
    carom_residue_subtract(moduli, entry_at(table, row, column), inverse, entry_at(table, row, column));
    for (int i = 0; i < system->rows; i++) {
        uint64_t *factor = entry_at(table, i, column);
        if (i == row || carom_residue_is_zero(moduli, factor)) continue;
        for (int j = 0; j <= table->columns; j++)
            if (j != column) carom_residue_add_product(moduli, factor, entry_at(table, row, j), entry_at(table, i, j));
        carom_residue_multiply(moduli, factor, entry_at(table, row, column), factor);
    }
    const int label = system->row_label[row];
    system->row_label[row] = system->column_label[column];
    system->column_label[column] = label;
}

// The conditions over the free unknowns: what the equations determine is put in.
static void fill_table(exact_table *table) {
    const carom_exact_system *system = table->system;
    const carom_moduli *moduli = system->moduli;
    const size_t count = (size_t)moduli->count, width = (size_t)system->unknowns + 1;
    for (int i = 0; i < system->rows; i++) {
        const uint64_t *condition = system->conditions + (size_t)i * width * count;
        for (int j = 0; j <= table->columns; j++) {
            const size_t source = j < table->columns ? (size_t)system->free_unknowns[j] : (size_t)system->unknowns;
            uint64_t *entry = entry_at(table, i, j);
            memcpy(entry, condition + source * count, count * sizeof *entry);
            for (int e = 0; e < system->rank; e++) {
                const uint64_t *factor = condition + (size_t)system->pivots[e] * count;
                if (carom_residue_is_zero(moduli, factor)) continue;
                carom_residue_add_product(moduli, factor, system->equations + ((size_t)e * width + source) * count, entry);
            }
        }
    }
}

// Brings the table to a point that satisfies all conditions: the row of least label that is negative leaves for the column of least label
// that can raise it. False when a row is negative that nothing can raise, which proves that there is no such point.
static bool make_feasible(exact_table *table) {
    const carom_exact_system *system = table->system;
    for (int pivots = 0; !table->undecided; pivots++) {
        int row = -1, column = -1;
        for (int i = 0; i < system->signs; i++) {
            const bool lower = row < 0 || system->row_label[i] < system->row_label[row];
            if (system->row_label[i] != FREE && lower && value_at(table, i, table->columns) < 0) row = i;
        }
        if (row < 0) return true;
        for (int j = 0; j < table->columns; j++) {
            const bool lower = column < 0 || system->column_label[j] < system->column_label[column];
            if (system->column_label[j] != FREE && lower && value_at(table, row, j) > 0) column = j;
        }
        if (column < 0) return false;
        table->undecided = pivots >= MOST_PIVOTS;
        exchange(table, row, column);
    }
    return true;
}

// From a feasible table: can this reported row rise (direction 1) or fall (-1)? All pivots stay at the table's point; a step of positive
// length answers.
static bool can_move(exact_table *table, int report, int direction) {
    const carom_exact_system *system = table->system;
    for (int pivots = 0; !table->undecided; pivots++) {
        int column = -1, row = -1;
        for (int j = 0; j < table->columns; j++) {
            if (is_zero_at(table, report, j)) continue;
            if (system->column_label[j] == FREE) return true;
            const bool lower = column < 0 || system->column_label[j] < system->column_label[column];
            if (lower && direction * value_at(table, report, j) > 0) column = j;
        }
        if (column < 0) return false;
        for (int i = 0; i < system->signs; i++) {
            if (system->row_label[i] == FREE || !is_zero_at(table, i, table->columns)) continue;
            const bool lower = row < 0 || system->row_label[i] < system->row_label[row];
            if (lower && value_at(table, i, column) < 0) row = i;
        }
        if (row < 0) return true;
        table->undecided = pivots >= MOST_PIVOTS;
        exchange(table, row, column);
    }
    return false;
}

// The table after the elimination. Unknowns without a sign leave the columns for rows of conditions; one that no condition depends on
// stays.
static exact_table start_table(carom_exact_system *system) {
    const carom_moduli *moduli = system->moduli;
    const size_t count = (size_t)moduli->count;
    exact_table table = {.system = system,
                         .columns = system->unknowns - system->rank,
                         .scale = system->row + count,
                         .scaled = system->row + 2 * count,
                         .inverse = system->row + 3 * count};
    memcpy(table.scale, system->determinant, count * sizeof *table.scale);
    if (system->weight) carom_residue_multiply(moduli, table.scale, system->weight, table.scale);
    rescale(&table);
    fill_table(&table);
    for (int i = 0; i < system->rows; i++) system->row_label[i] = i;
    for (int j = 0; j < table.columns; j++) {
        system->column_label[j] = FREE;
        for (int i = 0; i < system->signs && system->column_label[j] == FREE && !table.undecided; i++)
            if (system->row_label[i] != FREE && !is_zero_at(&table, i, j)) exchange(&table, i, j);
    }
    return table;
}

carom_exact_answer carom_exact_decide(carom_exact_system *system, double *values) {
    exact_table table = start_table(system);
    if (!make_feasible(&table)) return table.undecided ? CAROM_EXACT_UNDECIDED : CAROM_EXACT_EMPTY;
    for (int i = system->signs; i < system->signs + system->watched && !table.undecided; i++)
        if (can_move(&table, i, 1) || can_move(&table, i, -1)) return table.undecided ? CAROM_EXACT_UNDECIDED : CAROM_EXACT_VARIES;
    if (table.undecided) return CAROM_EXACT_UNDECIDED;
    for (int i = system->signs; i < system->rows; i++) values[i - system->signs] = (double)value_at(&table, i, table.columns);
    return CAROM_EXACT_SINGLE;
}

carom_exact_answer carom_exact_decide_strictly(carom_exact_system *system) {
    exact_table table = start_table(system);
    // Zero satisfies the conditions, and a sum of points that do so does, too: each may be positive at a point of its own.
    bool positive = true;
    for (int i = system->signs; i < system->signs + system->watched && positive && !table.undecided; i++) positive = can_move(&table, i, 1);
    if (table.undecided) return CAROM_EXACT_UNDECIDED;
    return positive ? CAROM_EXACT_SINGLE : CAROM_EXACT_EMPTY;
}
