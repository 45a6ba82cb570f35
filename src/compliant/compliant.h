// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of compliant contact share: the equations of motion with springs and dampers, and one impact.
#ifndef CAROM_COMPLIANT_COMPLIANT_H
#define CAROM_COMPLIANT_COMPLIANT_H

#include "carom/compliant.h"

// ------------------------------------------------------------------------------------------------- equations of motion

/// What a contact does. Between events it keeps doing it, so that right-hand sides are smooth.
typedef enum compliant_mode {
    COMPLIANT_OPEN,      ///< no force, the gap is positive
    COMPLIANT_RELEASED,  ///< no force: the body leaves faster than the spring would push it
    COMPLIANT_STICKS,    ///< pushes; slip within the regularisation, friction -mu lambda_n r / eps
    COMPLIANT_SLIDES_UP,
    COMPLIANT_SLIDES_DOWN,  ///< pushes; friction -mu lambda_n or mu lambda_n
} compliant_mode;

/// M v' + bias = sum_i Jn_i' lambda_n,i + Jt_i' lambda_t,i in the variables y = (x, v, Lambda): displacements of the coordinates from the
/// system's position, velocities, accumulated normal impulses. Displacements, not positions, so that a relative tolerance is one of them.
typedef struct compliant_motion {
    const carom_system *system;
    int nv, contacts, states;                      ///< states = 2 nv + contacts
    double *stiffness, *damping;                   ///< [contacts], of this impact
    compliant_mode *mode;                          ///< [contacts]
    double slip_regularisation;                    ///< [m/s]
    void *opened;                                  ///< the system's workspace
    carom_system_terms terms;                      ///< at the last y
    double *position;                              ///< [nv] work
    double *push;                                  ///< [contacts] -k phi - c phi' at the last y
    double *slip;                                  ///< [contacts] at the last y
    double *normal_curvature, *tangent_curvature;  ///< [nv x nv] work: curvatures of one contact
    double *normal_row, *tangent_row;              ///< [2 nv] work: derivatives of one contact's forces
    carom_arena arena;                             ///< holds the arrays
} compliant_motion;

carom_status compliant_motion_create(const carom_system *system, double slip_regularisation, compliant_motion *motion, carom_error *error);
void compliant_motion_release(compliant_motion *motion);

/// Terms of the system at y, M factored. Fills `terms`, `push` and `slip`.
void compliant_evaluate(compliant_motion *motion, const double *y);
/// y' at y.
void compliant_derive(compliant_motion *motion, const double *y, double *rate);
/// dy'/dy, column j of it at jacobian[j]. The derivatives of the contact forces are complete; those of M and of the bias forces are left
/// out: they are zero for a single body, and without stiffness for any.
void compliant_linearise(compliant_motion *motion, const double *y, double *const *jacobian);
/// Does the contact push? And is its gap closed?
bool compliant_pushes(const compliant_motion *motion, int contact);
bool compliant_is_closed(const compliant_motion *motion, int contact);
/// What a contact that is closed does at y, the last one.
compliant_mode compliant_closed_mode(const compliant_motion *motion, const double *y, int contact);
/// Rate of a gap at the last y.
double compliant_gap_rate(const compliant_motion *motion, const double *y, int contact);

// ----------------------------------------------------------------------------------------------------------- one impact

/// How an impact starts and when it is over.
typedef struct compliant_start {
    const double *stiffness;                ///< [contacts]
    const double *displacement, *velocity;  ///< [nv]
    double rest_speed;                      ///< a closed contact that approaches no faster is at rest [m/s]
    double least_impulse;                   ///< of every contact [N s]
    double horizon;                         ///< [s]
} compliant_start;

typedef struct compliant_end {
    double *velocity;                            ///< [nv]
    double *impulse;                             ///< [contacts], normal
    double *normal_velocity, *tangent_velocity;  ///< [contacts] at the configuration of the end [m/s]
    double time;
    bool settled;           ///< over, before the horizon
    bool stuck;             ///< no further step could be made, or too many
    double first_fraction;  ///< share of the first contact's impulse that came before the next touched; NaN where all start closed
} compliant_end;

/// A solver of impacts of one system, with everything that it needs allocated. One thread at a time.
typedef struct compliant_solver compliant_solver;

/// @return CAROM_UNSUPPORTED in a build without SUNDIALS
carom_status compliant_solver_create(const carom_system *system, const carom_compliant_options *options, compliant_solver **solver,
                                     carom_error *error);
void compliant_solver_free(compliant_solver *solver);
/// @param end  its arrays are supplied by the caller
/// @return CAROM_INTERNAL with the message of SUNDIALS when it refuses the call
carom_status compliant_solver_run(compliant_solver *solver, const compliant_start *start, compliant_end *end, carom_error *error);

#endif
