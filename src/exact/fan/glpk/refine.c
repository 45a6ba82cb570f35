// SPDX-License-Identifier: Apache-2.0
// Planes for finer fans, chosen by trying them all.
#include "exact/fan/glpk/refine.h"

#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"

// A plane is worth it when it lowers the bound by this share of that of the energy alone.
#define WORTH_A_PLANE 1e-7
// A plane is nearly as good as the best where it brings all but this share of what that brings.
#define NEARLY_AS_GOOD 0.03
// Doubles of multiples of a plane differ by less.
#define SAME_NUMBER 1e-9
// Planes that are tried again for the next step, where one of them helps.
// Cuts of a trial: enough for bounds that do not depend on which of several solutions a linear program finds.
enum { MOST_CANDIDATES = 4096, FAVOURITES = 24, TRIAL_ROUNDS = 12 };

void fan_certificate_release(fan_certificate *certificate) {
    value_function_free(certificate->function);
    fan_free(certificate->on);
    *certificate = (fan_certificate){0};
}

// ------------------------------------------------------------------------------------------------------------ candidates

// Multiples of each other, in rationals.
static bool is_parallel(int d, mpq_t *a, mpq_t *b, mpq_t left, mpq_t right) {
    int first = 0;
    while (first < d && !mpq_sgn(a[first])) first++;
    if (first == d || !mpq_sgn(b[first])) return false;
    for (int k = 0; k < d; k++) {
        mpq_mul(left, a[first], b[k]);
        mpq_mul(right, b[first], a[k]);
        if (!mpq_equal(left, right)) return false;
    }
    return true;
}

// A plane's numbers over the largest of them: multiples of a plane have the same, up to rounding.
static void set_real(int d, mpq_t *plane, double *real) {
    int largest = 0;
    for (int k = 0; k < d; k++) {
        real[k] = mpq_get_d(plane[k]);
        if (fabs(real[k]) > fabs(real[largest]) * (1 + SAME_NUMBER)) largest = k;
    }
    const double scale = real[largest];
    for (int k = 0; k < d; k++) real[k] /= scale;
}

static bool is_near(int d, const double *a, const double *b) {
    for (int k = 0; k < d; k++)
        if (!(fabs(a[k] - b[k]) <= SAME_NUMBER)) return false;
    return true;
}

// A plane through the crease of planes a and b, and through a velocity: h_a (h_b.g) - h_b (h_a.g), added to the list unless it is there.
static void add_plane(const fan_problem *problem, int a, int b, mpq_t *velocity, plane_list *list, mpq_t *scratch) {
    const int d = problem->dimension;
    mpq_t *first = problem->planes + a * d, *second = problem->planes + b * d, *made = list->planes + list->count * d;
    double *real = list->reals + list->count * d;
    fan_product(d, first, velocity, scratch[0], scratch[2]);
    fan_product(d, second, velocity, scratch[1], scratch[2]);
    // Parallel to one of the two.
    if (!mpq_sgn(scratch[0]) || !mpq_sgn(scratch[1])) return;
    for (int k = 0; k < d; k++) {
        mpq_mul(made[k], first[k], scratch[1]);
        mpq_mul(scratch[2], second[k], scratch[0]);
        mpq_sub(made[k], made[k], scratch[2]);
    }
    for (int p = 0; p < problem->plane_count; p++)
        if (is_parallel(d, problem->planes + p * d, made, scratch[2], scratch[3])) return;
    set_real(d, made, real);
    for (int p = 0; p < list->count; p++)
        if (is_near(d, list->reals + p * d, real) && is_parallel(d, list->planes + p * d, made, scratch[2], scratch[3])) return;
    list->count++;
}

carom_status refine_list_planes(const fan_problem *problem, const bound_effort *effort, plane_list *list, carom_error *error) {
    const int d = problem->dimension, speeds = problem->speed_count, all = problem->plane_count;
    *list = (plane_list){0};
    list->planes = exact_rationals_take(&list->rationals, (size_t)((MOST_CANDIDATES + 1) * d));
    mpq_t *velocity = exact_rationals_take(&list->rationals, (size_t)d), *scratch = exact_rationals_take(&list->rationals, 6);
    list->reals = malloc((size_t)((MOST_CANDIDATES + 1) * d) * sizeof *list->reals);
    list->hopes = malloc(MOST_CANDIDATES * sizeof *list->hopes);
    list->order = malloc(MOST_CANDIDATES * sizeof *list->order);
    list->sizes = malloc(MOST_CANDIDATES * sizeof *list->sizes);
    if (list->rationals.failed || !list->reals || !list->hopes || !list->order || !list->sizes) return carom_fail_memory(error, "bound");
    // Speeds first (g = h), then mixtures of two that keep the value of a plane.
    for (int mixes = 0; mixes < 2; mixes++)
        for (int g = 0; g < speeds; g++)
            for (int h = mixes ? g + 1 : g; h < (mixes ? speeds : g + 1); h++)
                for (int kept = 0; kept < (mixes ? all : 1) && !bound_effort_spent(effort); kept++) {
                    mpq_t *one = problem->speeds + g * d, *other = problem->speeds + h * d;
                    fan_product(d, problem->planes + kept * d, one, scratch[4], scratch[0]);
                    fan_product(d, problem->planes + kept * d, other, scratch[5], scratch[0]);
                    if (mixes && mpq_sgn(scratch[4]) * mpq_sgn(scratch[5]) >= 0) continue;
                    for (int k = 0; k < d; k++) {
                        mpq_set(velocity[k], one[k]);
                        if (!mixes) continue;
                        mpq_mul(velocity[k], scratch[5], one[k]);
                        mpq_mul(scratch[0], scratch[4], other[k]);
                        mpq_sub(velocity[k], velocity[k], scratch[0]);
                    }
                    for (int a = 0; a < all; a++)
                        for (int b = a + 1; b < all && list->count < MOST_CANDIDATES; b++)
                            add_plane(problem, a, b, velocity, list, scratch);
                }
    for (int p = 0; p < list->count; p++) {
        list->order[p] = p;
        list->hopes[p] = -INFINITY;
    }
    return CAROM_OK;
}

void refine_release_planes(plane_list *list) {
    exact_rationals_free(&list->rationals);
    free(list->reals);
    free(list->hopes);
    free(list->order);
    free(list->sizes);
    *list = (plane_list){0};
}

// ---------------------------------------------------------------------------------------------------------------- trials

// Does a plane with these signs cross the rays of a simplex that are in the mask?
static bool crosses(const fan *on, const fan_simplex *simplex, uint32_t mask, const signed char *signs) {
    bool above = false, below = false;
    for (int i = 0; i < on->problem->dimension; i++) {
        const int sign = mask >> i & 1 ? signs[simplex->rays[i]] : 0;
        above = above || sign > 0;
        below = below || sign < 0;
    }
    return above && below;
}

// Does the plane cross the face around the start, or a piece on whose rows the bound depends? Otherwise it does not make the bound less:
// the prices of the rows, which prove that no better certificate exists, stay what they are.
static bool may_help(const fan_certificate *from, const signed char *signs) {
    const fan *on = from->on;
    const int d = on->problem->dimension;
    for (int s = 0; s < on->simplex_count; s++) {
        const double *weights = on->simplices[s].real + on->problem->speed_count * d;
        uint32_t carrier = 0;
        for (int i = 0; i < on->problem->starts * d; i++) carrier |= (uint32_t)(weights[i] > 0) << i % d;
        const bool holds = fan_start_share(on, &on->simplices[s]) != FAN_NOTHING;
        if (holds && crosses(on, &on->simplices[s], carrier, signs)) return true;
    }
    for (int p = 0; p < from->function->piece_count; p++) {
        const fan_piece *piece = &from->function->pieces[p];
        if (piece->binds && crosses(on, &on->simplices[piece->simplex], piece->mask, signs)) return true;
    }
    return false;
}

carom_status refine_choose(const fan_certificate *from, plane_list *list, slope_cuts *cuts, const bound_effort *effort, int *chosen,
                           carom_error *error) {
    const fan_problem *problem = from->on->problem;
    // Better by a margin, so that round-off does not choose among equals.
    const double worth = WORTH_A_PLANE * problem->target_norm * problem->energy_radius;
    double least = from->function->hope;
    *chosen = -1;
    signed char *signs = malloc((size_t)from->on->ray_count);
    carom_status status = signs ? CAROM_OK : carom_fail_memory(error, "bound");
    for (int rank = 0; rank < list->count && !status && !bound_effort_spent(effort); rank++) {
        const int p = list->order[rank];
        // Planes that were never tried come before all others.
        if (rank >= FAVOURITES && *chosen >= 0 && list->hopes[p] > -INFINITY) break;
        const fan_plane plane = {list->planes + p * problem->dimension, list->reals + p * problem->dimension};
        list->hopes[p] = from->function->hope;
        fan_find_sides(from->on, &plane, true, signs);
        if (!may_help(from, signs)) continue;
        fan *trial = NULL;
        value_function *function = NULL;
        bool solved = false;
        status = fan_copy_roughly(from->on, &trial, error);
        if (!status) status = fan_insert(trial, &plane, error);
        if (!status && !trial->too_large) status = value_function_create(trial, &function, error);
        if (!status && function) status = value_function_solve(function, cuts, TRIAL_ROUNDS, effort, &solved, error);
        if (!status && solved) {
            list->hopes[p] = function->hope;
            list->sizes[p] = trial->simplex_count;
        }
        if (!status && solved && function->hope < least - worth) {
            least = function->hope;
            *chosen = p;
        }
        value_function_free(function);
        fan_free(trial);
    }
    // Of the planes that are nearly as good as the best, the one that leaves the smallest fan: the next steps are then cheaper.
    const double enough = least + NEARLY_AS_GOOD * (from->function->hope - least);
    for (int rank = 0, best = *chosen; rank < list->count && best >= 0; rank++) {
        const int p = list->order[rank];
        if (list->hopes[p] > -INFINITY && list->hopes[p] <= enough && list->sizes[p] < list->sizes[*chosen]) *chosen = p;
    }
    // The next step begins with those that promised most: an insertion sort, stable, and by a margin.
    for (int i = 1; i < list->count; i++)
        for (int j = i; j > 0 && list->hopes[list->order[j]] < list->hopes[list->order[j - 1]] - worth; j--) {
            const int moved = list->order[j];
            list->order[j] = list->order[j - 1];
            list->order[j - 1] = moved;
        }
    free(signs);
    return status;
}
