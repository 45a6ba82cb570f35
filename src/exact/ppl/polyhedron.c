// SPDX-License-Identifier: Apache-2.0
// Closed rational polyhedra on PPL 1.2. Its traps, closed here: it rounds upwards once initialised, predicates return negative numbers on
// errors, an interrupted operation leaves its object unusable, and generators may have fewer coordinates than their space.
#include "exact/ppl/polyhedron.h"

#include <fenv.h>
#include <ppl_c.h>
#include <pthread.h>
#include <stdlib.h>

#include "carom/clock.h"
#include "exact/ppl/outline.h"

// PPL counts its work in weights, deterministically and without signals, and can be told to give up at a limit. How long a weight takes
// depends on the operation, the size of its coefficients and the machine: 1e6 to 1e10 a second were seen. The first limit is below a
// second in any case, and every further one is tried only when the time it took before leaves room for it.
#define FIRST_WEIGHT (1UL << 22)
enum { WEIGHT_GROWTH = 4 };

static pthread_mutex_t ppl_lock = PTHREAD_MUTEX_INITIALIZER;

struct exact_polyhedron_body {
    ppl_Polyhedron_t exact;
    exact_outline outline;  // the same in doubles, read when it is first asked for
    bool outlined;
    int sharers;  // owners beyond the first
};

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

// Takes a polyhedron of PPL; NULL: none was made.
static exact_polyhedron take(exact_session *session, ppl_Polyhedron_t made) {
    exact_polyhedron polyhedron = made ? calloc(1, sizeof *polyhedron) : NULL;
    if (made && !polyhedron) {
        exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        ppl_delete_Polyhedron(made);
    }
    if (polyhedron) polyhedron->exact = made;
    return polyhedron;
}

// The universe, or the empty polyhedron.
static exact_polyhedron make(exact_session *session, int empty) {
    ppl_Polyhedron_t made = NULL;
    if (session->stop) return NULL;
    const int result = ppl_new_C_Polyhedron_from_space_dimension(&made, (ppl_dimension_type)session->dimension, empty);
    return take(session, done(session, result) ? made : NULL);
}

exact_polyhedron exact_polyhedron_universe(exact_session *session) { return make(session, 0); }
exact_polyhedron exact_polyhedron_empty(exact_session *session) { return make(session, 1); }

exact_polyhedron exact_polyhedron_copy(exact_session *session, exact_polyhedron source) {
    ppl_Polyhedron_t made = NULL;
    if (session->stop) return NULL;
    return take(session, done(session, ppl_new_C_Polyhedron_from_C_Polyhedron(&made, source->exact)) ? made : NULL);
}

exact_polyhedron exact_polyhedron_share(exact_polyhedron polyhedron) {
    if (polyhedron) polyhedron->sharers++;
    return polyhedron;
}

void exact_polyhedron_free(exact_polyhedron polyhedron) {
    if (!polyhedron || polyhedron->sharers-- > 0) return;
    ppl_delete_Polyhedron(polyhedron->exact);
    exact_outline_free(&polyhedron->outline);
    free(polyhedron);
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
        done(session, ppl_Polyhedron_add_generator(polyhedron->exact, generator));
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
        done(session, ppl_Polyhedron_add_constraint(polyhedron->exact, constraint));
    if (constraint) ppl_delete_Constraint(constraint);
    if (form) ppl_delete_Linear_Expression(form);
    mpz_clear(denominator);
}

void exact_polyhedron_project(exact_session *session, exact_polyhedron polyhedron, int dimension) {
    if (session->stop) return;
    done(session, ppl_Polyhedron_remove_higher_space_dimensions(polyhedron->exact, (ppl_dimension_type)dimension));
    exact_outline_free(&polyhedron->outline);
    polyhedron->outlined = false;
}

// -------------------------------------------------------------------------------------------------------------- reading

static int space_dimension(exact_session *session, exact_polyhedron polyhedron) {
    ppl_dimension_type dimension = 0;
    return done(session, ppl_Polyhedron_space_dimension(polyhedron->exact, &dimension)) ? (int)dimension : 0;
}

// Receives a minimal generator: a vertex numerators / divisor, or the direction of a ray or line.
typedef void (*generator_visit)(void *user, bool is_vertex, mpz_t *numerators, const mpz_t divisor);

static void visit_generators(exact_session *session, exact_polyhedron polyhedron, generator_visit visit, void *user) {
    if (session->stop) return;
    ppl_Coefficient_t coefficient = NULL;
    ppl_const_Generator_System_t system;
    ppl_Generator_System_const_iterator_t at = NULL, end = NULL;
    mpz_t numerators[EXACT_MOST_COORDINATES], divisor;
    const int d = space_dimension(session, polyhedron);
    for (int i = 0; i < d; i++) mpz_init(numerators[i]);
    mpz_init(divisor);
    bool goes_on = done(session, ppl_new_Coefficient(&coefficient)) && done(session, ppl_new_Generator_System_const_iterator(&at)) &&
                   done(session, ppl_new_Generator_System_const_iterator(&end)) &&
                   done(session, ppl_Polyhedron_get_minimized_generators(polyhedron->exact, &system)) &&
                   done(session, ppl_Generator_System_begin(system, at)) && done(session, ppl_Generator_System_end(system, end));
    while (goes_on && !holds(session, ppl_Generator_System_const_iterator_equal_test(at, end))) {
        ppl_const_Generator_t generator;
        ppl_dimension_type size = 0;
        goes_on = done(session, ppl_Generator_System_const_iterator_dereference(at, &generator)) &&
                  done(session, ppl_Generator_space_dimension(generator, &size));
        // A generator has no coefficients beyond its own space dimension; they are zero.
        for (int i = 0; i < d && goes_on; i++) {
            mpz_set_ui(numerators[i], 0);
            if ((ppl_dimension_type)i >= size) continue;
            goes_on = done(session, ppl_Generator_coefficient(generator, (ppl_dimension_type)i, coefficient));
            ppl_Coefficient_to_mpz_t(coefficient, numerators[i]);
        }
        if (!goes_on) break;
        // All coordinates of a vertex have one divisor.
        const bool is_vertex = ppl_Generator_type(generator) == PPL_GENERATOR_TYPE_POINT;
        mpz_set_ui(divisor, 1);
        if (is_vertex && done(session, ppl_Generator_divisor(generator, coefficient))) ppl_Coefficient_to_mpz_t(coefficient, divisor);
        visit(user, is_vertex, numerators, divisor);
        goes_on = done(session, ppl_Generator_System_const_iterator_increment(at));
    }
    if (at) ppl_delete_Generator_System_const_iterator(at);
    if (end) ppl_delete_Generator_System_const_iterator(end);
    if (coefficient) ppl_delete_Coefficient(coefficient);
    for (int i = 0; i < d; i++) mpz_clear(numerators[i]);
    mpz_clear(divisor);
}

// Vertices on their way to the caller.
typedef struct vertex_reader {
    exact_session *session;
    int dimension, count;
    exact_vertex_visit visit;
    void *user;
    mpq_t vertex[EXACT_MOST_COORDINATES];
} vertex_reader;

static void read_vertex(void *user, bool is_vertex, mpz_t *numerators, const mpz_t divisor) {
    vertex_reader *reader = user;
    if (!is_vertex) exact_session_halt(reader->session, EXACT_UNBOUNDED);
    if (reader->session->stop) return;
    for (int i = 0; i < reader->dimension && reader->visit; i++) {
        mpz_set(mpq_numref(reader->vertex[i]), numerators[i]);
        mpz_set(mpq_denref(reader->vertex[i]), divisor);
        mpq_canonicalize(reader->vertex[i]);
    }
    if (reader->visit) reader->visit(reader->user, reader->vertex);
    reader->count++;
}

int exact_polyhedron_visit_vertices(exact_session *session, exact_polyhedron polyhedron, exact_vertex_visit visit, void *user) {
    if (session->stop) return 0;
    // The minimised generators of a polytope are its vertices.
    vertex_reader reader = {.session = session, .dimension = space_dimension(session, polyhedron), .visit = visit, .user = user};
    for (int i = 0; i < reader.dimension; i++) mpq_init(reader.vertex[i]);
    visit_generators(session, polyhedron, read_vertex, &reader);
    for (int i = 0; i < reader.dimension; i++) mpq_clear(reader.vertex[i]);
    return reader.count;
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
                   done(session, ppl_Polyhedron_get_minimized_constraints(polyhedron->exact, &system)) &&
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

// ------------------------------------------------------------------------------------------------------------- outlines

typedef struct outline_reader {
    exact_session *session;
    exact_outline *outline;
} outline_reader;

static void outline_vertex(void *user, bool is_vertex, mpz_t *numerators, const mpz_t divisor) {
    const outline_reader *reader = user;
    if (!is_vertex) reader->outline->bounded = false;
    if (is_vertex && !exact_outline_add_vertex(reader->outline, numerators, divisor))
        exact_session_halt(reader->session, EXACT_OUT_OF_MEMORY);
}

static void outline_row(void *user, mpz_t *row, bool equality) {
    const outline_reader *reader = user;
    if (!exact_outline_add_row(reader->outline, row, equality)) exact_session_halt(reader->session, EXACT_OUT_OF_MEMORY);
}

static const exact_outline *find_outline(exact_session *session, exact_polyhedron polyhedron) {
    if (polyhedron->outlined) return &polyhedron->outline;
    polyhedron->outlined = true;
    polyhedron->outline.bounded = true;
    polyhedron->outline.dimension = space_dimension(session, polyhedron);
    outline_reader reader = {session, &polyhedron->outline};
    visit_generators(session, polyhedron, outline_vertex, &reader);
    exact_polyhedron_visit_constraints(session, polyhedron, outline_row, &reader);
    return &polyhedron->outline;
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
        result = apply ? apply(target->exact, other->exact) : 0;
        int settled = result;
        if (settled >= 0) settled = ppl_Polyhedron_get_minimized_constraints(target->exact, &constraints);
        if (settled >= 0) settled = ppl_Polyhedron_get_minimized_generators(target->exact, &generators);
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
    if (session->stop) return NULL;
    const exact_outline *first = find_outline(session, polyhedron), *second = find_outline(session, other);
    if (exact_outline_misses(first, second)) return exact_polyhedron_empty(session);
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
    if (session->stop || exact_outline_parts(find_outline(session, polyhedron), find_outline(session, other))) return NULL;
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
    return !session->stop && holds(session, ppl_Polyhedron_is_empty(polyhedron->exact));
}

bool exact_polyhedron_contains(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other) {
    if (session->stop || exact_outline_lacks(find_outline(session, polyhedron), find_outline(session, other))) return false;
    return holds(session, ppl_Polyhedron_contains_Polyhedron(polyhedron->exact, other->exact));
}

const exact_outline *exact_polyhedron_outline(exact_session *session, exact_polyhedron polyhedron) {
    if (session->stop) return NULL;
    const exact_outline *outline = find_outline(session, polyhedron);
    if (outline->bits > session->seen) session->seen = outline->bits;
    if (outline->bits > session->bits) exact_session_halt(session, EXACT_OUT_OF_BITS);
    if (!outline->bounded) exact_session_halt(session, EXACT_UNBOUNDED);
    return session->stop ? NULL : outline;
}

int exact_polyhedron_affine_dimension(exact_session *session, exact_polyhedron polyhedron) {
    ppl_dimension_type dimension = 0;
    return !session->stop && done(session, ppl_Polyhedron_affine_dimension(polyhedron->exact, &dimension)) ? (int)dimension : 0;
}
