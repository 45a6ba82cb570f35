// SPDX-License-Identifier: Apache-2.0
/// @file
/// The Lie group variational collision integrator (Tran & Leok 2023): what its files share. A body flies freely between impacts, by the
/// discrete Moser-Veselov rotation and an exact parabola; each impact is found inside its step, and the momenta jump there.
#ifndef CAROM_DYNAMICS_LGVCI_LGVCI_H
#define CAROM_DYNAMICS_LGVCI_LGVCI_H

#include "carom/arena.h"
#include "carom/vector3.h"
#include "dynamics/dynamics_internal.h"

typedef struct lgvci_options {
    double step, duration;
    int order;           // 0: second, 1: fourth
    int jump;            // LGVCI_JUMP_ENERGY or LGVCI_JUMP_DISCRETE
    double restitution;  // NaN: 1, or that of the law's options
    const char *law;     // "none": the plane reflects without friction
    double friction;
    int64_t seed, max_impacts, every;
    int rest;  // LGVCI_REST_ENDS or LGVCI_REST_GOES_ON
} lgvci_options;

enum { LGVCI_REST_ENDS, LGVCI_REST_GOES_ON };

enum { LGVCI_SECOND_ORDER, LGVCI_FOURTH_ORDER };
enum { LGVCI_JUMP_ENERGY, LGVCI_JUMP_DISCRETE };

// One point of the body that touches.
typedef struct lgvci_contact {
    double rho[3], chi[3];  // body frame; chi = rho x u, the rotational part of the gap's gradient
    double speed;           // of the gap [m/s]
    int feature;
} lgvci_contact;

// The constants of a run, and the flight that the body is on.
typedef struct lgvci {
    const carom_body *body;
    double mass, gravity, normal[3], offset, radius;
    double inertia[9], inverse[9];
    double trace, inverse_trace, determinant, least_moment;
    bool fourth_order;

    // Where the flight began: its parabola is carried, not stepped, so that rounding does not add up.
    double x0[3], gamma0[3];
    // Of the flight: coefficients of the preprocessed inertia, the longest step of rotation, a bound of |second derivative| of the
    // distance of any body point from the plane.
    double scaling, shift, longest, spin, acceleration;
    // The last accepted state inside the step, and its time since the flight began.
    carom_body_state base;
    double elapsed;

    // Points of sustained contact.
    int touching;

    // The inertia of the last step length.
    double prepared_step, prepared[9], prepared_inverse[9];
} lgvci;

// ------------------------------------------------------------------------------------------------------------- flight

/// Constants from the motion; the flight starts at its initial state.
void lgvci_start(lgvci *run, const carom_body_motion *motion, bool fourth_order);
/// A new flight from this state.
void lgvci_launch(lgvci *run, const carom_body_state *state);
/// The state a time s after the base. `c` receives the Cayley vector of the rotation. No substeps.
/// @return false when the rotation has no solution
bool lgvci_advance(lgvci *run, double s, carom_body_state *next, double c[3]);
/// H = |gamma|^2/(2m) + Pi.J^-1 Pi/2 + m g x3: its three terms, and their sum.
double lgvci_energy(const lgvci *run, const carom_body_state *state, double terms[3]);
/// A speed that velocities compare with [m/s].
double lgvci_speed_scale(const lgvci *run, const carom_body_state *state);

// ---------------------------------------------------------------------------------------------------------- detection

/// The gap n.x + D + min u.rho, u = R'n.
double lgvci_gap(const lgvci *run, const carom_body_state *state);

/// Rounding of that: gaps below it cannot be told from a touch.
double lgvci_gap_resolution(const lgvci *run, const carom_body_state *state);

typedef enum lgvci_search { LGVCI_FREE, LGVCI_HIT, LGVCI_UNSOLVED } lgvci_search;

/// The first time in (0, length] after the base at which the gap becomes negative: none is missed, dips inside the step included.
/// @param s     of the hit, at the end of its bracket where the gap is not negative
/// @param next  the state at the hit, otherwise at the end
/// @param c     Cayley vector of the rotation from the base to `next`
lgvci_search lgvci_find_hit(lgvci *run, double length, double *s, carom_body_state *next, double c[3]);

// -------------------------------------------------------------------------------------------------------------- impact

/// The points whose gaps are within LGVCI_TOUCH_TOLERANCE radii of the least.
#define LGVCI_TOUCH_TOLERANCE 1e-9
int lgvci_collect_contacts(const lgvci *run, const carom_body_state *state, lgvci_contact *contacts, int most);
/// Second time derivative of a contact's gap in free flight.
double lgvci_gap_acceleration(const lgvci *run, const carom_body_state *state, const lgvci_contact *contact);
/// Adds an impulse at one contact to the momenta.
void lgvci_push(const lgvci *run, const lgvci_contact *contact, double impulse, carom_body_state *state);
/// The impulse -(1 + e) speed / (1/m + chi.J^-1 chi); with e = 1 the non-zero root of energy conservation.
double lgvci_reflecting_impulse(const lgvci *run, const lgvci_contact *contact, double restitution);

/// The impulse for which the discrete energies of the segments on both sides of an impact match.
/// @param before  length of the segment that ends here, with the Cayley vector c of its rotation
/// @param after   length of the next one
/// @return false when the equation has no root near the reflecting impulse
bool lgvci_discrete_impulse(const lgvci *run, const carom_body_state *touch, const lgvci_contact *contact, double before, const double c[3],
                            double after, double *impulse);

// ----------------------------------------------------------------------------------------------------------------- law

// The law that decides impacts.
typedef struct lgvci_law {
    bool named;   // by the scene: it decides single contacts too. Otherwise `moreau`, for several at once
    bool singly;  // it takes one contact: several at once collide one after the other
    const carom_law *law;
    void *options;
    double friction, restitution;  // NaN: what the law's options say
    int64_t seed;
    int most;                 // contacts that are looked at
    lgvci_contact *contacts;  // [most], those that touch
    double *rows;             // workspace of the impact
    carom_arena memory;
} lgvci_law;

/// @return CAROM_BAD_INPUT for an unknown law or a value that it refuses. To be released in every case.
carom_status lgvci_law_create(const lgvci *run, const carom_motion_call *call, lgvci_law *law, carom_error *error);
void lgvci_law_release(lgvci_law *law);

/// Asks the law about the first `count` contacts: the state gets the momenta of its first outcome. A law that takes one contact (`applies`)
/// is asked about the one that approaches fastest, which is then the first.
/// @param index   of the impact: the law's seed is raised by it
/// @param solved  false when the law has no complete answer
carom_status lgvci_law_apply(const lgvci *run, const carom_motion_call *call, lgvci_law *law, int64_t index, int count,
                             carom_body_state *state, bool *solved, carom_error *error);

// ---------------------------------------------------------------------------------------------------------------- rest

typedef enum lgvci_rest {
    LGVCI_REST_STAYS,   ///< the step is done
    LGVCI_REST_STILL,   ///< and the body lies still
    LGVCI_REST_LEAVES,  ///< no point presses: the body flies, and nothing is done
    LGVCI_REST_FAILS,   ///< the law has no answer, or the rotation no solution
} lgvci_rest;

/// The law of contacts that go on. To be released by lgvci_law_release in every case.
carom_status lgvci_rest_create(const lgvci *run, const carom_motion_call *call, lgvci_law *law, carom_error *error);
/// A step of a body that touches: it slides, rolls or sticks. The energy does not rise.
/// @param may_leave  false: the step is done even where no point presses
carom_status lgvci_rest_step(lgvci *run, const carom_motion_call *call, lgvci_law *law, double length, bool may_leave, lgvci_rest *rest,
                             carom_error *error);
/// The body is slower than rounding of a fall through its own size.
bool lgvci_still(const lgvci *run, const carom_body_state *state);

// ----------------------------------------------------------------------------------------------------------- recording

enum { LGVCI_STATE_COLUMNS = 12, LGVCI_IMPACT_COLUMNS = 13 };
extern const carom_integrator carom_integrator_lgvci;
extern const carom_column lgvci_state_columns[LGVCI_STATE_COLUMNS], lgvci_impact_columns[LGVCI_IMPACT_COLUMNS];

/// Fills the last row of a table of states.
void lgvci_fill_state(const lgvci *run, const carom_body_state *state, double time, carom_table *table);

typedef struct lgvci_impact {
    double time;
    int64_t step;
    int touching;
    const lgvci_contact *contacts;  ///< [touching]
    const carom_body_state *before, *after;
} lgvci_impact;

/// Adds a row to a table of impacts.
carom_status lgvci_record_impact(const lgvci *run, const lgvci_impact *impact, carom_table *table, carom_error *error);

// ------------------------------------------------------------------------------------------------ figures and studies

carom_status lgvci_figures(const carom_figures *figures, carom_error *error);
/// Time, position and attitude of a state.
enum { LGVCI_TRACE_WIDTH = 13 };
void lgvci_trace(const carom_table *states, int64_t row, double *values);
/// |dx| + |dR|, the largest singular value, of row `index` of two tables of impacts.
double lgvci_impact_distance(const carom_table *first, const carom_table *second, int64_t index);

#endif
