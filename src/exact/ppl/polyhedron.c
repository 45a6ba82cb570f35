// SPDX-License-Identifier: Apache-2.0
// Closed rational polyhedra on PPL 1.2. Its traps, closed here: it rounds upwards once initialised, predicates return negative numbers on
// errors, an interrupted operation leaves its object unusable, and generators may have fewer coordinates than their space.
#include "exact/ppl/polyhedron.h"

#include <fenv.h>
#include <pthread.h>

#include "carom/clock.h"

// PPL counts its work in weights, deterministically and without signals, and can be told to give up at a limit. How long a weight takes
// depends on the operation, the size of its coefficients and the machine: 1e6 to 1e10 a second were seen. The first limit is below a
// second in any case, and every further one is tried only when the time it took before leaves room for it.
#define FIRST_WEIGHT (1UL << 22)
enum { WEIGHT_GROWTH = 4 };

static pthread_mutex_t ppl_lock = PTHREAD_MUTEX_INITIALIZER;

// ------------------------------------------------------------------------------------------------------------- session

void exact_session_open(exact_session *session, int dimension, int64_t bits, const carom_control *control) {
    *session = (exact_session){.dimension = dimension, .control = control, .bits = bits};
    pthread_mutex_lock(&ppl_lock);
    session->rounding = fegetround();
    session->opened = session->deadline = carom_clock_seconds();
    // A program that uses PPL itself has initialised it. Only polyhedra over GMP's numbers are used, which do not need PPL's rounding.
    const int initialised = ppl_initialize();
    session->owns_library = initialised >= 0;
    if (initialised < 0 && initialised != PPL_ERROR_INVALID_ARGUMENT) session->stop = EXACT_FAILED;
    fesetround(session->rounding);
}

void exact_session_close(exact_session *session) {
    if (session->owns_library) ppl_finalize();
    fesetround(session->rounding);
    pthread_mutex_unlock(&ppl_lock);
}

void exact_session_start(exact_session *session, double seconds) {
    session->deadline = session->opened + seconds;
    session->stop = EXACT_RUNNING;
    session->seen = 0;
}

double exact_session_elapsed(const exact_session *session) { return carom_clock_seconds() - session->opened; }

void exact_session_halt(exact_session *session, exact_stop stop) {
    if (!session->stop) session->stop = stop;
}

bool exact_session_continue(exact_session *session) {
    if (session->stop) return false;
    if (carom_clock_seconds() >= session->deadline) exact_session_halt(session, EXACT_OUT_OF_TIME);
    if (carom_control_cancelled(session->control)) exact_session_halt(session, EXACT_CANCELLED);
    return !session->stop;
}

// Takes the result of a call of PPL; true for a "yes" or a count.
static bool holds(exact_session *session, int result) {
    if (result >= 0) return result > 0;
    exact_session_halt(session, result == PPL_ERROR_OUT_OF_MEMORY ? EXACT_OUT_OF_MEMORY : EXACT_FAILED);
    return false;
}

// The same where the answer does not matter; true while the session goes on.
static bool done(exact_session *session, int result) {
    holds(session, result);
    return !session->stop;
}

// --------------------------------------------------------------------------------------------------------------- making

// The universe, or the empty polyhedron.
static exact_polyhedron make(exact_session *session, int empty) {
    exact_polyhedron made = NULL;
    if (session->stop) return NULL;
    return done(session, ppl_new_C_Polyhedron_from_space_dimension(&made, (ppl_dimension_type)session->dimension, empty)) ? made : NULL;
}

exact_polyhedron exact_polyhedron_universe(exact_session *session) { return make(session, 0); }
exact_polyhedron exact_polyhedron_empty(exact_session *session) { return make(session, 1); }

exact_polyhedron exact_polyhedron_copy(exact_session *session, exact_polyhedron source) {
    exact_polyhedron made = NULL;
    if (session->stop) return NULL;
    return done(session, ppl_new_C_Polyhedron_from_C_Polyhedron(&made, source)) ? made : NULL;
}

void exact_polyhedron_free(exact_polyhedron polyhedron) {
    if (polyhedron) ppl_delete_Polyhedron(polyhedron);
}

// sign (row . y) + constant, multiplied by its common denominator, so that all coefficients are whole. Of full dimension: a form with zeros
// at its end would otherwise live in a smaller space.
// @param denominator  receives the common denominator
static ppl_Linear_Expression_t make_form(exact_session *session, mpq_t *row, int sign, const mpq_t *constant, mpz_t denominator) {
    // The common denominator.
    const int d = session->dimension;
    mpz_set_ui(denominator, 1);
    for (int i = 0; i < d; i++) mpz_lcm(denominator, denominator, mpq_denref(row[i]));
    if (constant) mpz_lcm(denominator, denominator, mpq_denref(*constant));

    // Coefficients of y first, the constant after them.
    ppl_Linear_Expression_t form = NULL;
    ppl_Coefficient_t coefficient = NULL;
    mpz_t whole;
    mpz_init(whole);
    bool goes_on = done(session, ppl_new_Linear_Expression_with_dimension(&form, (ppl_dimension_type)d)) &&
                   done(session, ppl_new_Coefficient(&coefficient));
    for (int i = 0; i < d + (constant != NULL) && goes_on; i++) {
        const mpq_t *value = i < d ? (const mpq_t *)&row[i] : constant;
        mpz_divexact(whole, denominator, mpq_denref(*value));
        mpz_mul(whole, whole, mpq_numref(*value));
        if (i < d && sign < 0) mpz_neg(whole, whole);
        ppl_assign_Coefficient_from_mpz_t(coefficient, whole);
        goes_on = done(session, i < d ? ppl_Linear_Expression_add_to_coefficient(form, (ppl_dimension_type)i, coefficient)
                                      : ppl_Linear_Expression_add_to_inhomogeneous(form, coefficient));
    }
    mpz_clear(whole);
    if (coefficient) ppl_delete_Coefficient(coefficient);
    return form;
}

void exact_polyhedron_add_point(exact_session *session, exact_polyhedron polyhedron, mpq_t *point) {
    if (session->stop) return;
    // PPL's point is a whole form over a divisor.
    ppl_Coefficient_t divisor = NULL;
    ppl_Generator_t generator = NULL;
    mpz_t denominator;
    mpz_init(denominator);
    ppl_Linear_Expression_t form = make_form(session, point, 1, NULL, denominator);
    if (!session->stop && done(session, ppl_new_Coefficient_from_mpz_t(&divisor, denominator)) &&
        done(session, ppl_new_Generator(&generator, form, PPL_GENERATOR_TYPE_POINT, divisor)))
        done(session, ppl_Polyhedron_add_generator(polyhedron, generator));
    if (generator) ppl_delete_Generator(generator);
    if (divisor) ppl_delete_Coefficient(divisor);
    if (form) ppl_delete_Linear_Expression(form);
    mpz_clear(denominator);
}

void exact_polyhedron_constrain(exact_session *session, exact_polyhedron polyhedron, mpq_t *row, int sign, const mpq_t *constant,
                                bool equality) {
    if (session->stop) return;
    ppl_Constraint_t constraint = NULL;
    mpz_t denominator;
    mpz_init(denominator);
    ppl_Linear_Expression_t form = make_form(session, row, sign, constant, denominator);
    const enum ppl_enum_Constraint_Type type = equality ? PPL_CONSTRAINT_TYPE_EQUAL : PPL_CONSTRAINT_TYPE_GREATER_OR_EQUAL;
    if (!session->stop && done(session, ppl_new_Constraint(&constraint, form, type)))
        done(session, ppl_Polyhedron_add_constraint(polyhedron, constraint));
    if (constraint) ppl_delete_Constraint(constraint);
    if (form) ppl_delete_Linear_Expression(form);
    mpz_clear(denominator);
}

void exact_polyhedron_project(exact_session *session, exact_polyhedron polyhedron, int dimension) {
    if (!session->stop) done(session, ppl_Polyhedron_remove_higher_space_dimensions(polyhedron, (ppl_dimension_type)dimension));
}

// ----------------------------------------------------------------------------------------------------------- operations

// An operation of PPL that changes its first operand.
typedef int (*operation)(ppl_Polyhedron_t polyhedron, ppl_const_Polyhedron_t other);

// Applies the operation (NULL: none) to a copy, since one that gives up spoils its object, and computes both forms of the result.
// @param yes  receives the answer of operations that have one; may be NULL
static exact_polyhedron attempt(exact_session *session, operation apply, exact_polyhedron polyhedron, exact_polyhedron other, bool *yes) {
    unsigned long weight = FIRST_WEIGHT;
    int result = PPL_TIMEOUT_EXCEPTION;
    exact_polyhedron target = NULL;
    while (result == PPL_TIMEOUT_EXCEPTION && !session->stop) {
        // An attempt within the allowance of weight. Asking for the minimised systems computes both forms.
        target = exact_polyhedron_copy(session, polyhedron);
        if (session->stop) break;
        ppl_const_Generator_System_t generators;
        ppl_const_Constraint_System_t constraints;
        const double started = carom_clock_seconds();
        ppl_set_deterministic_timeout(weight, 0);
        result = apply ? apply(target, other) : 0;
        int settled = result;
        if (settled >= 0) settled = ppl_Polyhedron_get_minimized_constraints(target, &constraints);
        if (settled >= 0) settled = ppl_Polyhedron_get_minimized_generators(target, &generators);
        if (settled < 0) result = settled;
        ppl_reset_deterministic_timeout();
        if (result != PPL_TIMEOUT_EXCEPTION) break;
        exact_polyhedron_free(target);
        target = NULL;
        // The next attempt may take WEIGHT_GROWTH times as long as this one.
        const double now = carom_clock_seconds();
        if (!exact_session_continue(session)) break;
        if (now + WEIGHT_GROWTH * (now - started) > session->deadline) exact_session_halt(session, EXACT_OUT_OF_TIME);
        weight *= WEIGHT_GROWTH;
    }
    // A session that stopped has no results.
    const bool answer = !session->stop && holds(session, result);
    if (yes) *yes = answer;
    if (!session->stop) return target;
    exact_polyhedron_free(target);
    return NULL;
}

exact_polyhedron exact_polyhedron_settle(exact_session *session, exact_polyhedron polyhedron) {
    exact_polyhedron settled = attempt(session, NULL, polyhedron, NULL, NULL);
    exact_polyhedron_free(polyhedron);
    return settled;
}

exact_polyhedron exact_polyhedron_meet(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other) {
    return attempt(session, ppl_Polyhedron_intersection_assign, polyhedron, other, NULL);
}

exact_polyhedron exact_polyhedron_hull(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other) {
    return attempt(session, ppl_Polyhedron_poly_hull_assign, polyhedron, other, NULL);
}

exact_polyhedron exact_polyhedron_elapse(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron flow) {
    return attempt(session, ppl_Polyhedron_time_elapse_assign, polyhedron, flow, NULL);
}

exact_polyhedron exact_polyhedron_widen(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron before) {
    return attempt(session, ppl_Polyhedron_BHRZ03_widening_assign, polyhedron, before, NULL);
}

exact_polyhedron exact_polyhedron_merge(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other) {
    bool convex;
    exact_polyhedron merged = attempt(session, ppl_Polyhedron_upper_bound_assign_if_exact, polyhedron, other, &convex);
    if (convex) return merged;
    exact_polyhedron_free(merged);
    return NULL;
}

void exact_polyhedron_replace(exact_polyhedron *place, exact_polyhedron next) {
    exact_polyhedron_free(*place);
    *place = next;
}

bool exact_polyhedron_is_empty(exact_session *session, exact_polyhedron polyhedron) {
    return !session->stop && holds(session, ppl_Polyhedron_is_empty(polyhedron));
}

bool exact_polyhedron_contains(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other) {
    return !session->stop && holds(session, ppl_Polyhedron_contains_Polyhedron(polyhedron, other));
}

int exact_polyhedron_affine_dimension(exact_session *session, exact_polyhedron polyhedron) {
    ppl_dimension_type dimension = 0;
    return !session->stop && done(session, ppl_Polyhedron_affine_dimension(polyhedron, &dimension)) ? (int)dimension : 0;
}

// -------------------------------------------------------------------------------------------------------------- reading

// Remembers how long the coefficient is, and stops the session where it is too long.
static void note_bits(exact_session *session, const mpz_t whole) {
    const int64_t bits = (int64_t)mpz_sizeinbase(whole, 2);
    if (bits > session->seen) session->seen = bits;
    if (bits > session->bits) exact_session_halt(session, EXACT_OUT_OF_BITS);
}

// One vertex, or an end of the session at a ray or line.
static void read_point(exact_session *session, ppl_const_Generator_t generator, ppl_Coefficient_t coefficient, int dimension,
                       mpq_t *vertex) {
    if (ppl_Generator_type(generator) != PPL_GENERATOR_TYPE_POINT) {
        exact_session_halt(session, EXACT_UNBOUNDED);
        return;
    }
    // All coordinates have one divisor.
    mpz_t divisor;
    mpz_init(divisor);
    ppl_dimension_type size = 0;
    holds(session, ppl_Generator_space_dimension(generator, &size));
    holds(session, ppl_Generator_divisor(generator, coefficient));
    ppl_Coefficient_to_mpz_t(coefficient, divisor);
    note_bits(session, divisor);
    for (int i = 0; i < dimension && !session->stop; i++) {
        // A generator has no coefficients beyond its own space dimension; they are zero.
        mpz_set_ui(mpq_numref(vertex[i]), 0);
        if ((ppl_dimension_type)i < size) {
            holds(session, ppl_Generator_coefficient(generator, (ppl_dimension_type)i, coefficient));
            ppl_Coefficient_to_mpz_t(coefficient, mpq_numref(vertex[i]));
        }
        note_bits(session, mpq_numref(vertex[i]));
        mpz_set(mpq_denref(vertex[i]), divisor);
        mpq_canonicalize(vertex[i]);
    }
    mpz_clear(divisor);
}

static int space_dimension(exact_session *session, exact_polyhedron polyhedron) {
    ppl_dimension_type dimension = 0;
    return done(session, ppl_Polyhedron_space_dimension(polyhedron, &dimension)) ? (int)dimension : 0;
}

int exact_polyhedron_visit_vertices(exact_session *session, exact_polyhedron polyhedron, exact_vertex_visit visit, void *user) {
    if (session->stop) return 0;
    ppl_Coefficient_t coefficient = NULL;
    ppl_const_Generator_System_t system;
    ppl_Generator_System_const_iterator_t at = NULL, end = NULL;
    mpq_t vertex[EXACT_MOST_COORDINATES];
    const int d = space_dimension(session, polyhedron);
    for (int i = 0; i < d; i++) mpq_init(vertex[i]);
    // The minimised generators of a polytope are its vertices.
    int count = 0;
    bool goes_on = done(session, ppl_new_Coefficient(&coefficient)) && done(session, ppl_new_Generator_System_const_iterator(&at)) &&
                   done(session, ppl_new_Generator_System_const_iterator(&end)) &&
                   done(session, ppl_Polyhedron_get_minimized_generators(polyhedron, &system)) &&
                   done(session, ppl_Generator_System_begin(system, at)) && done(session, ppl_Generator_System_end(system, end));
    while (goes_on && !holds(session, ppl_Generator_System_const_iterator_equal_test(at, end))) {
        ppl_const_Generator_t generator;
        if (done(session, ppl_Generator_System_const_iterator_dereference(at, &generator)))
            read_point(session, generator, coefficient, d, vertex);
        if (session->stop) break;
        if (visit) visit(user, vertex);
        count++;
        goes_on = done(session, ppl_Generator_System_const_iterator_increment(at));
    }
    if (at) ppl_delete_Generator_System_const_iterator(at);
    if (end) ppl_delete_Generator_System_const_iterator(end);
    if (coefficient) ppl_delete_Coefficient(coefficient);
    for (int i = 0; i < d; i++) mpq_clear(vertex[i]);
    return count;
}

// The same loop over the minimised constraints.
int exact_polyhedron_visit_constraints(exact_session *session, exact_polyhedron polyhedron, exact_constraint_visit visit, void *user) {
    if (session->stop) return 0;
    const int d = space_dimension(session, polyhedron);
    ppl_Coefficient_t coefficient = NULL;
    ppl_const_Constraint_System_t system;
    ppl_Constraint_System_const_iterator_t at = NULL, end = NULL;
    mpz_t row[EXACT_MOST_COORDINATES + 1];
    for (int i = 0; i <= d; i++) mpz_init(row[i]);
    int count = 0;
    bool goes_on = done(session, ppl_new_Coefficient(&coefficient)) && done(session, ppl_new_Constraint_System_const_iterator(&at)) &&
                   done(session, ppl_new_Constraint_System_const_iterator(&end)) &&
                   done(session, ppl_Polyhedron_get_minimized_constraints(polyhedron, &system)) &&
                   done(session, ppl_Constraint_System_begin(system, at)) && done(session, ppl_Constraint_System_end(system, end));
    while (goes_on && !holds(session, ppl_Constraint_System_const_iterator_equal_test(at, end))) {
        ppl_const_Constraint_t constraint;
        ppl_dimension_type size = 0;
        goes_on = done(session, ppl_Constraint_System_const_iterator_dereference(at, &constraint)) &&
                  done(session, ppl_Constraint_space_dimension(constraint, &size));
        for (int i = 0; i < d && goes_on; i++) {
            // Coefficients beyond the constraint's own space dimension are zero.
            mpz_set_ui(row[i], 0);
            if ((ppl_dimension_type)i >= size) continue;
            goes_on = done(session, ppl_Constraint_coefficient(constraint, (ppl_dimension_type)i, coefficient));
            ppl_Coefficient_to_mpz_t(coefficient, row[i]);
        }
        if (!goes_on || !done(session, ppl_Constraint_inhomogeneous_term(constraint, coefficient))) break;
        ppl_Coefficient_to_mpz_t(coefficient, row[d]);
        visit(user, row, ppl_Constraint_type(constraint) == PPL_CONSTRAINT_TYPE_EQUAL);
        count++;
        goes_on = done(session, ppl_Constraint_System_const_iterator_increment(at));
    }
    if (at) ppl_delete_Constraint_System_const_iterator(at);
    if (end) ppl_delete_Constraint_System_const_iterator(end);
    if (coefficient) ppl_delete_Coefficient(coefficient);
    for (int i = 0; i <= d; i++) mpz_clear(row[i]);
    return count;
}
