// SPDX-License-Identifier: Apache-2.0
// GLPK without its manners: it is silent for the time of a call, and its errors, which would end the process, come back here. Its state
// belongs to the thread, so that threads may solve at the same time.
#include "exact/fan/glpk/linear_program.h"

#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

// Rows may be violated by this, relative to their terms: what they are violated by is paid for afterwards.
#define ROW_TOLERANCE    1e-10
#define COARSE_TOLERANCE 1e-8
// Programs of fans take about as many iterations as they have rows. Beyond some times that, round-off makes the simplex go in circles.
// Between slices it may be told to stop.
enum { ITERATIONS_PER_ROW = 10, LEAST_ITERATIONS = 1000, SLICE = 2000, ATTEMPTS = 3 };

struct linear_program {
    int columns, rows, entries, row_capacity, entry_capacity;
    double *objective;  // [columns]
    double *limits;     // [rows]
    double *prices;     // [rows] of the last solution
    int *row_of;        // [entries] from 1, as GLPK counts; entry 0 is not used
    int *column_of;
    double *values;
    glp_prob *problem;  // with the first `known` rows; NULL before the first solution
    int known;
    jmp_buf escape;
    bool lacks_memory;  // GLPK's last words were about memory
};

carom_status linear_program_create(int columns, const double *objective, linear_program **made, carom_error *error) {
    linear_program *program = calloc(1, sizeof *program);
    double *copy = malloc((size_t)columns * sizeof *copy);
    *made = program;
    if (!program || !copy) {
        free(program);
        free(copy);
        *made = NULL;
        return carom_fail_memory(error, "linear program");
    }
    memcpy(copy, objective, (size_t)columns * sizeof *copy);
    program->columns = columns;
    program->objective = copy;
    return CAROM_OK;
}

void linear_program_free(linear_program *freed) {
    if (!freed) return;
    if (freed->problem) glp_delete_prob(freed->problem);
    free(freed->objective);
    free(freed->limits);
    free(freed->prices);
    free(freed->row_of);
    free(freed->column_of);
    free(freed->values);
    free(freed);
}

// Makes room in an array; false when there is no memory, and the array is as it was.
static bool grow(void **array, size_t capacity, size_t size) {
    void *grown = realloc(*array, capacity * size);
    if (grown) *array = grown;
    return grown != NULL;
}

carom_status linear_program_add_row(linear_program *program, int count, const int *columns, const double *entries, double limit,
                                    carom_error *error) {
    linear_program *p = program;
    bool room = true;
    if (p->rows == p->row_capacity) {
        const int capacity = 2 * p->row_capacity + 64;
        room = grow((void **)&p->limits, (size_t)capacity, sizeof *p->limits) &&
               grow((void **)&p->prices, (size_t)capacity, sizeof *p->prices);
        if (room) p->row_capacity = capacity;
    }
    if (p->entries + count + 1 > p->entry_capacity) {
        const int capacity = 2 * p->entry_capacity + count + 256;
        room = room && grow((void **)&p->row_of, (size_t)capacity, sizeof *p->row_of) &&
               grow((void **)&p->column_of, (size_t)capacity, sizeof *p->column_of) &&
               grow((void **)&p->values, (size_t)capacity, sizeof *p->values);
        if (room) p->entry_capacity = capacity;
    }
    if (!room) return carom_fail_memory(error, "linear program");
    // GLPK refuses numbers that are not finite by ending the process.
    bool finite = isfinite(limit);
    for (int k = 0; k < count; k++) finite = finite && isfinite(entries[k]);
    if (!finite) return carom_fail(error, CAROM_INTERNAL, "a row of the linear program is not finite");
    p->limits[p->rows++] = limit;
    for (int k = 0; k < count; k++) {
        if (entries[k] == 0) continue;
        p->entries++;
        p->row_of[p->entries] = p->rows;
        p->column_of[p->entries] = columns[k] + 1;
        p->values[p->entries] = entries[k];
    }
    return CAROM_OK;
}

// Everything that GLPK does in a solution.
static void solve(linear_program *program, const bound_effort *effort, double *x, bool *solved) {
    linear_program *p = program;
    const bool begins = !p->problem;
    if (begins) {
        p->problem = glp_create_prob();
        glp_add_cols(p->problem, p->columns);
        for (int j = 0; j < p->columns; j++) {
            glp_set_col_bnds(p->problem, j + 1, GLP_FR, 0, 0);
            glp_set_obj_coef(p->problem, j + 1, p->objective[j]);
        }
    }
    // Rows that came since the last solution: a basis stays one, and the dual simplex goes on from it.
    if (p->rows > p->known) glp_add_rows(p->problem, p->rows - p->known);
    for (int i = p->known; i < p->rows; i++) glp_set_row_bnds(p->problem, i + 1, GLP_UP, 0, p->limits[i]);
    if (begins) {
        glp_load_matrix(p->problem, p->entries, p->row_of, p->column_of, p->values);
        glp_scale_prob(p->problem, GLP_SF_GM | GLP_SF_EQ | GLP_SF_2N | GLP_SF_SKIP);
        glp_adv_basis(p->problem, 0);
    } else {
        // The entries of a row stand together, and rows in their order.
        int first = 1;
        while (first <= p->entries && p->row_of[first] <= p->known) first++;
        for (int i = p->known; i < p->rows; i++) {
            int count = 0;
            while (first + count <= p->entries && p->row_of[first + count] == i + 1) count++;
            glp_set_mat_row(p->problem, i + 1, count, p->column_of + first - 1, p->values + first - 1);
            first += count;
        }
    }
    p->known = p->rows;

    // Where round-off keeps the simplex from ending, it begins anew from all slacks, and with tolerances that are less fine.
    const double tolerances[ATTEMPTS] = {ROW_TOLERANCE, COARSE_TOLERANCE, COARSE_TOLERANCE};
    const int most = LEAST_ITERATIONS + ITERATIONS_PER_ROW * (p->rows + p->columns);
    *solved = false;
    for (int attempt = 0; attempt < ATTEMPTS && !*solved; attempt++) {
        glp_smcp options;
        glp_init_smcp(&options);
        options.msg_lev = GLP_MSG_OFF;
        options.meth = (begins && attempt == 0) || attempt == 2 ? GLP_PRIMAL : GLP_DUALP;
        options.it_lim = SLICE;
        options.tol_bnd = options.tol_dj = tolerances[attempt];
        if (attempt) glp_std_basis(p->problem);
        int ended = GLP_EITLIM;
        for (int done = 0; done < most && ended == GLP_EITLIM && (done == 0 || !bound_effort_spent(effort)); done += SLICE)
            ended = glp_simplex(p->problem, &options);
        *solved = !ended && glp_get_status(p->problem) == GLP_OPT;
        if (bound_effort_spent(effort)) break;
    }
    for (int j = 0; j < p->columns; j++) x[j] = glp_get_col_prim(p->problem, j + 1);
    for (int i = 0; i < p->rows; i++) p->prices[i] = glp_get_row_dual(p->problem, i + 1);
}

// Called by GLPK in place of its output: before it gives up it says why.
static int listen(void *program, const char *text) {
    if (strstr(text, "memory")) ((linear_program *)program)->lacks_memory = true;
    return 1;
}

// Called by GLPK in place of the end of the process. After an error the only thing that its state allows is to be freed.
static void escape(void *program) {
    glp_free_env();
    longjmp(((linear_program *)program)->escape, 1);
}

carom_status linear_program_solve(linear_program *program, const bound_effort *effort, double *x, const double **prices, bool *solved,
                                  carom_error *error) {
    *solved = false;
    if (prices) *prices = NULL;
    if (setjmp(program->escape)) {
        program->problem = NULL;
        program->known = 0;
        if (program->lacks_memory) return carom_fail_memory(error, "linear program");
        return carom_fail(error, CAROM_INTERNAL, "GLPK gave up on a linear program");
    }
    program->lacks_memory = false;
    glp_error_hook(escape, program);
    glp_term_hook(listen, program);
    const int terminal = glp_term_out(GLP_OFF);
    solve(program, effort, x, solved);
    glp_term_out(terminal);
    glp_term_hook(NULL, NULL);
    glp_error_hook(NULL, NULL);
    if (prices && *solved) *prices = program->prices;
    return CAROM_OK;
}
