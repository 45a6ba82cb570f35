// SPDX-License-Identifier: Apache-2.0
/// @file
/// Studies of a motion by several runs: ensembles, convergence, orders of impacts. In libcarom-dynamics.
#ifndef CAROM_STUDIES_H
#define CAROM_STUDIES_H

#include "carom/dynamics.h"

CAROM_API_BEGIN

// ------------------------------------------------------------------------------------------------------------------------------- ensembles

/// Columns of an ensemble's members.
typedef enum carom_member_column {
    CAROM_MEMBER_INDEX,
    CAROM_MEMBER_VERDICT,
    CAROM_MEMBER_STEPS,
    CAROM_MEMBER_TIME,
    CAROM_MEMBER_ENERGY_ERROR,
    CAROM_MEMBER_IMPACTS,
    CAROM_MEMBER_FAILURES,   ///< CAROM_NO_INTEGER where the integrator does not count them
    CAROM_MEMBER_DISTANCES,  ///< from the reference run just after each impact that both have
    CAROM_MEMBER_FINAL,      ///< of a system: coordinates, then their rates
    CAROM_MEMBER_MESSAGE,    ///< why the member is not complete; empty where the verdict says it all
    CAROM_MEMBER_COLUMNS
} carom_member_column;

/// Columns of the tubes of a mechanism's ensemble: a row for every recorded time and coordinate. After the least value come quantiles and
/// the largest one.
typedef enum carom_tube_column {
    CAROM_TUBE_TIME,
    CAROM_TUBE_COORDINATE,
    CAROM_TUBE_MEMBERS,
    CAROM_TUBE_LEAST,
} carom_tube_column;

/// Columns of the ends of a mechanism's ensemble: a row for every set of constraints that is closed at the end of some member.
typedef enum carom_end_column { CAROM_END_CONTACTS, CAROM_END_COUNT, CAROM_END_SHARE } carom_end_column;

/// The same motion from perturbed starts.
struct carom_ensemble {
    int64_t requested;          ///< members
    carom_perturbed perturbed;  ///< what differs in their starts
    double perturbation;        ///< and by how much [m, rad]
    bool traced;                ///< keep `traces`, for pictures
    bool recorded;              ///< keep `states`
    carom_table *members;       ///< found: a row for each, in order; fewer than requested after an interruption
    double *traces;             ///< found: [trace_count x trace_width] of the integrator's `trace`; a row of NaN ends a member
    int64_t trace_count;
    carom_table *tubes, *ends;  ///< found, of a mechanism: extents and quantiles at the recorded times, shares of what is closed at the end
    carom_table *states;        ///< found: what each member recorded, member by member: the columns of states, then `member`, its index
};

/// The size of perturbations where nobody says one. Members of a system differ by what is drawn for them: a perturbation would end the
/// symmetry of contacts that touch at once.
double carom_ensemble_default_perturbation(const carom_motion *motion);

/// Runs the members in parallel. The order of rows and every number are those of one thread.
/// @param reference  the run of the motion itself
/// @param ensemble   what is asked for; receives what was found, to be freed by carom_ensemble_free in every case
/// A member whose run is refused, as for a start below the plane, keeps its row, with the verdict "incomplete" and the reason.
/// @return CAROM_OK also when cancelled; CAROM_UNSUPPORTED for a motion that cannot be perturbed; the failure of the first member when all
///         are refused
carom_status carom_ensemble_run(const carom_motion_request *request, const carom_motion_answer *reference, carom_ensemble *ensemble,
                                carom_error *error);
void carom_ensemble_free(carom_ensemble *ensemble);

// ----------------------------------------------------------------------------------------------------------------------------- convergence

/// Runs the motion `runs` times, each with half the step of the one before, and a reference with a step 8 times shorter than the last.
/// @param table  receives a row for each run, columns `step` and the integrator's errors; fewer rows, and CAROM_OK, when cancelled. To be
///               freed in every case
/// @return CAROM_UNSUPPORTED when the integrator does not serve it, CAROM_BAD_INPUT when a run ended early
carom_status carom_convergence_run(const carom_motion_request *request, int runs, carom_table **table, carom_error *error);

// ---------------------------------------------------------------------------------------------------------------------------------- orders

/// Columns of distances between two orders of impacts.
typedef enum carom_orders_column {
    CAROM_ORDERS_SCENE,
    CAROM_ORDERS_COMPLETE,
    CAROM_ORDERS_LARGEST,
    CAROM_ORDERS_TIMES,
    CAROM_ORDERS_DISTANCES,
    CAROM_ORDERS_COLUMNS
} carom_orders_column;

/// Runs two copies of a motion whose impacts take the orders argmin and argmax, and measures how far their momenta part (Seghete &
/// Murphey, Figure 8).
/// @param scene  text of the row
/// @param table  receives a row; created where NULL. To be freed in every case
/// @return CAROM_BAD_INPUT when impacts of the integrator have no order
carom_status carom_orders_run(const carom_motion_request *request, const char *scene, carom_table **table, carom_error *error);

CAROM_API_END

#endif
