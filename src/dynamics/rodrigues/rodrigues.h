// SPDX-License-Identifier: Apache-2.0
/// @file
/// The explicit variational integrator on rescaled Rodrigues increments (Baker & Gonzalez): what its files share.
///
/// Bodies are kept as arrays. Positions and velocities are those of centers of mass; the rotational state is the unit quaternion of the
/// attitude and the spin L = J Omega in the inertial frame, which a free body keeps whatever its shape. Attitudes are never accumulated as
/// Rodrigues vectors: those are infinite at a half turn.
///
/// Work is done in blocks of fixed size, and sums are taken block by block in order: results do not depend on the number of threads.
#ifndef CAROM_DYNAMICS_RODRIGUES_RODRIGUES_H
#define CAROM_DYNAMICS_RODRIGUES_RODRIGUES_H

#include "carom/arena.h"
#include "carom/vector3.h"
#include "dynamics/dynamics_internal.h"
#include "dynamics/rodrigues/agenda.h"
#include "dynamics/rodrigues/neighbours.h"

/// How the spin turns a body in a step.
typedef enum rodrigues_map {
    RODRIGUES_SIN,        ///< eqs. 21, 23
    RODRIGUES_TAN,        ///< eq. 25
    RODRIGUES_EXACT,      ///< by the angle h |Omega|
    RODRIGUES_FIRST,      ///< eq. 27: full kicks, then the drift of `tan`
    RODRIGUES_CUBIC,      ///< `tan` with the next term of the angle
    RODRIGUES_SPLITTING,  ///< any inertia: turns about the body's axes, one after the other
    RODRIGUES_IMPLICIT,   ///< any inertia: discrete Moser-Veselov
    RODRIGUES_MIDPOINT,   ///< spheres, by forces in the middle of the step, which is implicit
} rodrigues_map;

/// One state of all bodies, with the forces and torques in it.
typedef struct rodrigues_state {
    double *position, *attitude, *velocity, *spin;  // [n x 3], [n x 4], [n x 3], [n x 3]
    double *force, *torque;                         // [n x 3]
} rodrigues_state;

/// A bond with its reference length r0 and direction n0.
typedef struct rodrigues_bond {
    int first, second;
    double length, direction[3];
    const carom_bonds *law;  // stiffnesses and limits
    bool broken;
} rodrigues_bond;

/// What a bond does: a force on its first body, the opposite on its second, and torques on both.
typedef struct rodrigues_push {
    double force[3], energy, torque[2][3];
} rodrigues_push;

/// What a contact does: the same without torques.
typedef struct rodrigues_press {
    double force[3], energy;
} rodrigues_press;

/// For every body the pairs that it is in: entries[start[i]] .. entries[start[i + 1]]; an entry is 2 pair + (0: first, 1: second).
typedef struct rodrigues_incidence {
    int64_t *start, *entries;
    int64_t capacity;
} rodrigues_incidence;

/// The next impact.
typedef struct rodrigues_event {
    double time;       // from now; infinite for none
    int64_t body;      // the first body
    int64_t other;     // the second, -1 for a wall
    int wall;          // -1 for two bodies
    double normal[3];  // from the other to the body
    double approach;   // speed, > 0
    double normal_impulse, tangent_impulse, energy_change;
} rodrigues_event;

/// What one block of bodies adds up or finds.
typedef struct rodrigues_partial {
    double kinetic, potential;
    int64_t fast_turns;
    int64_t bad;                 // the first body that fails, -1 for none
    double moved, turned, away;  // of an iteration: largest changes of position and angle, largest coordinate
    rodrigues_event event;
} rodrigues_partial;

/// Why a step could not be done. The state is then as it was.
typedef enum rodrigues_problem {
    RODRIGUES_FINE,
    RODRIGUES_TOO_FAST,     // h |W| is past the map's limit, or the implicit equation has no solution
    RODRIGUES_NO_FORCE,     // not finite
    RODRIGUES_COINCIDENT,   // two centers
    RODRIGUES_NO_MEMORY,    // for contacts
    RODRIGUES_NO_MIDPOINT,  // the iteration for the middle of the step does not converge
} rodrigues_problem;

typedef struct rodrigues_failure {
    rodrigues_problem problem;
    int64_t body, other;  // -1 for none
    double turn;          // h |W|
} rodrigues_failure;

typedef struct rodrigues {
    const carom_bodies_motion *motion;
    int bodies, workers;
    rodrigues_map map;
    bool fourth_order, has_users, has_contacts;
    double *mass, *inverse_mass, *inertia, *inverse_inertia, *radius;  // inertia [n x 3]
    rodrigues_state now, next;
    rodrigues_state middle;     // of the step, for the map that needs it
    double *saved;              // [n x 13] the state before a composed step
    double potential, kinetic;  // of `now`
    int64_t fast_turns;         // increments of more than a third of a turn, by a map that is not exact
    int64_t evaluations;        // of all forces

    int64_t bonds, broken;
    rodrigues_bond *bond;
    rodrigues_push *bond_push;
    rodrigues_press *contact_push;
    rodrigues_incidence of_bonds, of_contacts;
    int64_t contact_capacity;
    double Kpp;
    int planes;
    double *plane;  // [planes x RODRIGUES_PLANE_ROW]: unit normal, offset, Kpw
    rodrigues_neighbours contacts, colliders;
    rodrigues_agenda agenda;

    int64_t blocks;
    rodrigues_partial *partials;
    double step;                // of the pass being done
    double tie;                 // impacts whose times differ by no more are at one time
    rodrigues_state evaluated;  // where forces are taken
    rodrigues_failure failure;
    carom_arena memory;  // of every array whose size is known at the start
} rodrigues;

enum { RODRIGUES_BLOCK = 256, RODRIGUES_PLANE_ROW = 5 };

typedef void rodrigues_kernel(rodrigues *run, int64_t block, int64_t first, int64_t end);

/// Calls the kernel for blocks of `items`, on several threads when there are many.
void rodrigues_for_blocks(rodrigues *run, int64_t items, rodrigues_kernel *kernel);

// ------------------------------------------------------------------------------------------------------- life and step

/// @return CAROM_BAD_INPUT naming the key; CAROM_UNSUPPORTED for bodies that the map is not for
carom_status rodrigues_check_motion(const carom_bodies_motion *motion, rodrigues_map map, bool fourth_order, carom_error *error);
/// Checks the motion and takes its initial state, with forces and energies. To be released in every case.
carom_status rodrigues_create(const carom_bodies_motion *motion, rodrigues_map map, bool fourth_order, int workers, rodrigues *run,
                              carom_error *error);
void rodrigues_release(rodrigues *run);

/// One step of any sign without impacts, of second or fourth order.
/// @return false with run->failure, and an unchanged state
bool rodrigues_step(rodrigues *run, double h);
/// The step of second order.
bool rodrigues_advance(rodrigues *run, double h);
/// The same for one body of `now` whose force and torque stay what they are, by a map that always has a solution.
void rodrigues_fly(rodrigues *run, int64_t body, double h);
/// Finds the state `next` of the map that takes forces in the middle of the step; its own forces are not taken yet.
/// @return false with run->failure
bool rodrigues_find_midpoint(rodrigues *run, double h);

static inline bool rodrigues_is_sphere(const double moments[3]) { return moments[0] == moments[1] && moments[0] == moments[2]; }

/// E of `now`.
static inline double rodrigues_energy(const rodrigues *run) { return run->kinetic + run->potential; }
/// Omega = R J^-1 R' L.
void rodrigues_angular_velocity(const rodrigues *run, const rodrigues_state *state, int64_t body, double Omega[3]);
/// L.Omega/2.
static inline double rodrigues_rotational_energy(const rodrigues *run, const rodrigues_state *state, int64_t body) {
    const double *inverse = run->inverse_inertia + 3 * body, *L = state->spin + 3 * body;
    if (rodrigues_is_sphere(inverse)) return 0.5 * inverse[0] * carom_dot3(L, L);
    double Omega[3];
    rodrigues_angular_velocity(run, state, body, Omega);
    return 0.5 * carom_dot3(L, Omega);
}

// ------------------------------------------------------------------------------------------------------------- forces

/// Makes bonds with their references, lists and planes from the potentials.
carom_status rodrigues_prepare_forces(rodrigues *run, carom_error *error);
/// Fills the forces and torques of a state, and its energy.
/// @return false with run->failure when memory for contacts is missing
bool rodrigues_evaluate(rodrigues *run, const rodrigues_state *state, double *energy);

/// Terms of the potential energy: of bonds, between bodies, with planes, and all the others.
typedef enum rodrigues_term {
    RODRIGUES_BENDING,
    RODRIGUES_STRETCHING,
    RODRIGUES_SHEAR,
    RODRIGUES_CONTACT,
    RODRIGUES_PLANE,
    RODRIGUES_FIELD,
    RODRIGUES_TERMS
} rodrigues_term;

/// One bond between its bodies; also for tests. Not finite for coincident centers. A broken one does nothing.
/// @param terms  receives its energies of bending, stretching and shear; may be NULL
void rodrigues_bond_push(const rodrigues_bond *bond, const rodrigues_state *state, rodrigues_push *push, double terms[3]);

/// The terms of the energy of `now`, whose sum is the potential energy but for rounding. Costs about an evaluation on one thread.
/// @return false when memory for contacts is missing
bool rodrigues_energy_terms(rodrigues *run, double terms[RODRIGUES_TERMS]);

/// Breaks the bonds of `now` whose force or energy is beyond their limits; forces, where some break, are then those without them.
/// @return false with run->failure when memory for contacts is missing
bool rodrigues_break_bonds(rodrigues *run);

/// Says in run->failure which centers coincide, or which body's force is not finite.
void rodrigues_explain_force(rodrigues *run, const rodrigues_state *state);

/// The highest frequency of small motions about the present state [rad/s], by a power iteration: about 1 % low. 0 where the motion is not
/// a vibration. Costs a hundred evaluations of the forces.
carom_status rodrigues_stiffest_frequency(rodrigues *run, double *frequency, carom_error *error);
/// A bound of that frequency, from what single bonds, contacts, planes and fields do to their bodies. Costs about an evaluation on one
/// thread. Not for callbacks, whose stiffness nobody knows.
carom_status rodrigues_bound_frequency(rodrigues *run, double *frequency, carom_error *error);

// ------------------------------------------------------------------------------------------------------------ impacts

/// The first impact within `length` of `now`, along the parabolas that the next step of that length follows.
/// @return false when memory is missing
bool rodrigues_find_event(rodrigues *run, double length, rodrigues_event *event);
/// Takes the impact `found` in place of the first one so far if it is earlier, or if it is at the same time and its bodies have lower
/// numbers: bodies are looked at in an order that has no meaning.
void rodrigues_keep_first(const rodrigues *run, const rodrigues_event *found, rodrigues_event *first);
/// Keeps the first impact with walls of body i, at x with velocity v, within a time of `length`.
void rodrigues_meet_walls(const rodrigues *run, int64_t i, const double x[3], const double v[3], double length, rodrigues_event *first);
/// @return CAROM_BAD_INPUT when bodies, at the start, reach into walls or each other by more than rounding
carom_status rodrigues_check_gaps(rodrigues *run, carom_error *error);
/// Applies its impulse to `now`, and completes the event's fields. Coulomb's law is that of `carom_contact_solve`.
carom_status rodrigues_collide(rodrigues *run, rodrigues_event *event, carom_error *error);

/// The first time in [0, length] at which f = c[0] + c[1] t + ... + c[degree] t^degree is not positive and falls; infinite for none.
double rodrigues_first_contact(const double *c, int degree, double length);

// -------------------------------------------------------------------------------------- impacts one by one (agenda.c)

/// Prepares the agenda, which serves when nothing but gravity acts between impacts, and for maps that never fail and whose centers follow
/// one parabola wherever it is cut.
carom_status rodrigues_agenda_create(rodrigues *run, carom_error *error);
void rodrigues_agenda_release(rodrigues_agenda *agenda);
/// The first impact within `left`, as rodrigues_find_event. After many changes of cells without an impact, event->body is -1: to be called
/// again.
void rodrigues_agenda_next(rodrigues *run, double left, rodrigues_event *event);
/// Moves the bodies of the event to its time.
void rodrigues_agenda_meet(rodrigues *run, const rodrigues_event *event);
/// Looks for the next events of the bodies of an event that rodrigues_collide has completed.
void rodrigues_agenda_part(rodrigues *run, const rodrigues_event *event);
/// At a grid point: writes down what bodies do next [bodies x RODRIGUES_ERRAND], or takes it back in place of what was found anew, which
/// would differ by rounding.
void rodrigues_agenda_save(const rodrigues *run, double *errands);
/// @return false when they are no such numbers
bool rodrigues_agenda_resume(rodrigues *run, double width, const double *errands);
enum { RODRIGUES_ERRAND = 8 };  // time, time of leaving, cell, partner, its impacts, own impacts

/// Moves all bodies to a time h after the last grid point; times are then from there.
/// @return false with run->failure
bool rodrigues_agenda_finish(rodrigues *run, double h);

// ------------------------------------------------------------------------------------------------ figures and studies

extern const carom_integrator carom_integrator_rodrigues;
carom_status rodrigues_figures(const carom_figures *figures, carom_error *error);
extern const carom_convergence_hooks rodrigues_convergence;

#endif
