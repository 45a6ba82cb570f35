// SPDX-License-Identifier: Apache-2.0
/// @file
/// Closed rational polyhedra on the Parma Polyhedra Library, within budgets.
///
/// No operation runs for long beyond the deadline: it is tried with a small allowance of work, and again with a larger one only while the
/// time for that is there. Errors stick: the first failure or spent budget stops the session, and every later call does nothing and returns
/// "no". Loops ask `exact_session_continue`. PPL has process-wide state, so that sessions exclude each other.
#ifndef CAROM_EXACT_PPL_POLYHEDRON_H
#define CAROM_EXACT_PPL_POLYHEDRON_H

#include "carom/base.h"
#include "exact/ppl/data.h"
#include "exact/ppl/outline.h"

/// Why a session stopped.
typedef enum exact_stop {
    EXACT_RUNNING,
    EXACT_OUT_OF_TIME,
    EXACT_OUT_OF_PIECES,
    EXACT_OUT_OF_BITS,
    EXACT_OUT_OF_ENERGY,
    EXACT_CANCELLED,
    EXACT_UNBOUNDED,
    EXACT_OUT_OF_MEMORY,
    EXACT_FAILED,  ///< PPL reports an error that must not happen
} exact_stop;

typedef struct exact_session {
    int dimension;  ///< of the space of all polyhedra, at most EXACT_MOST_COORDINATES
    exact_stop stop;
    const carom_control *control;
    double opened;      ///< [s] of the monotonic clock
    double deadline;    ///< the same clock
    int64_t bits;       ///< most bits of a coefficient of a stored polyhedron
    int64_t seen;       ///< largest so far
    bool owns_library;  ///< PPL was not initialised before
    int rounding;       ///< of the caller
} exact_session;

/// Initialises PPL; waits while another session is open. The caller's rounding mode is kept.
void exact_session_open(exact_session *session, int dimension, int64_t bits, const carom_control *control);
void exact_session_close(exact_session *session);
/// Starts a phase that ends `seconds` after the session was opened, whatever stopped the one before.
void exact_session_start(exact_session *session, double seconds);
double exact_session_elapsed(const exact_session *session);
/// False once the session has stopped; stops it when it is cancelled or its time is over.
bool exact_session_continue(exact_session *session);
void exact_session_halt(exact_session *session, exact_stop stop);

/// NULL when the session has stopped.
typedef struct exact_polyhedron_body *exact_polyhedron;

exact_polyhedron exact_polyhedron_universe(exact_session *session);
exact_polyhedron exact_polyhedron_empty(exact_session *session);
exact_polyhedron exact_polyhedron_copy(exact_session *session, exact_polyhedron source);
/// The same polyhedron for another owner, who frees it as well; NULL for NULL. Neither may change it.
exact_polyhedron exact_polyhedron_share(exact_polyhedron polyhedron);
/// Works in stopped sessions too; NULL is allowed.
void exact_polyhedron_free(exact_polyhedron polyhedron);

/// Adds the point [dimension].
void exact_polyhedron_add_point(exact_session *session, exact_polyhedron polyhedron, mpq_t *point);
/// Intersects with sign (row . y) + constant >= 0, or = 0.
/// @param constant  NULL for zero
void exact_polyhedron_constrain(exact_session *session, exact_polyhedron polyhedron, mpq_t *row, int sign, const mpq_t *constant,
                                bool equality);
/// Ends the making of a polyhedron from points or constraints: computes both forms, after which questions only look at them. Takes the
/// polyhedron and returns what replaces it.
exact_polyhedron exact_polyhedron_settle(exact_session *session, exact_polyhedron polyhedron);

/// Forgets all but the first coordinates of the polyhedron, which then belongs to a session of that dimension; vertices and constraints
/// may be visited in any.
void exact_polyhedron_project(exact_session *session, exact_polyhedron polyhedron, int dimension);

// Operations on settled polyhedra return new ones, settled, and NULL when the session has stopped.

exact_polyhedron exact_polyhedron_meet(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other);
exact_polyhedron exact_polyhedron_hull(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other);
/// All points that a chord along one of the speeds in `flow` leads to; `flow` is not empty.
exact_polyhedron exact_polyhedron_elapse(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron flow);
/// The widening of `polyhedron` against `before`, which lies in it (Bagnara, Hill, Ricci & Zaffanella 2003).
exact_polyhedron exact_polyhedron_widen(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron before);
/// The union of both when it is convex; NULL otherwise.
exact_polyhedron exact_polyhedron_merge(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other);
/// Frees `*place` and puts `next` there.
void exact_polyhedron_replace(exact_polyhedron *place, exact_polyhedron next);

bool exact_polyhedron_is_empty(exact_session *session, exact_polyhedron polyhedron);
bool exact_polyhedron_contains(exact_session *session, exact_polyhedron polyhedron, exact_polyhedron other);
/// The polytope in doubles, as long as it lives. Stops the session where a coordinate of a vertex has too many bits, and as EXACT_UNBOUNDED
/// at a ray or line; NULL when it has stopped.
const exact_outline *exact_polyhedron_outline(exact_session *session, exact_polyhedron polyhedron);
/// Dimension of the affine hull; 0 when stopped.
int exact_polyhedron_affine_dimension(exact_session *session, exact_polyhedron polyhedron);

/// Receives a vertex [dimension of the polyhedron]. The array is reused.
typedef void (*exact_vertex_visit)(void *user, mpq_t *vertex);
/// Visits the vertices of a polytope. Stops the session as EXACT_UNBOUNDED at a ray or line.
/// @return how many there are; `visit` may be NULL
int exact_polyhedron_visit_vertices(exact_session *session, exact_polyhedron polyhedron, exact_vertex_visit visit, void *user);

/// Receives a minimal constraint row . y + constant >= 0, or = 0, with whole coefficients: row [dimension of
/// the polyhedron], then the constant.
typedef void (*exact_constraint_visit)(void *user, mpz_t *row, bool equality);
int exact_polyhedron_visit_constraints(exact_session *session, exact_polyhedron polyhedron, exact_constraint_visit visit, void *user);

#endif
