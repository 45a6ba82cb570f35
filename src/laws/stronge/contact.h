// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of the single contact share: the problem in its own units and axes, and the process that runs through it.
///
/// Own units: velocities over the largest component of v-, inverse masses over a third of trace W. Own axes: the eigenvectors of B, so that
/// B is diagonal. gamma is the slip, vz the normal velocity, Iz the normal impulse.
#ifndef CAROM_LAWS_STRONGE_CONTACT_H
#define CAROM_LAWS_STRONGE_CONTACT_H

#include "carom/stronge.h"

/// Highest order of the Taylor series.
enum { CONTACT_MOST_ORDER = 20 };

/// Steps after which an integration counts as failed; the worst of a million random contacts takes about a hundred.
enum { CONTACT_MOST_STEPS = 4096 };

/// The problem in its own units and axes.
typedef struct contact_frame {
    double axis[2];         ///< first eigenvector of B; the second is (-axis[1], axis[0])
    double lambda[2];       ///< eigenvalues of B, the larger one first
    double d[2], w, schur;  ///< schur = w - d' B^-1 d
    double mu, e;
    double slip[2], normal;           ///< v-
    double velocity_unit, mass_unit;  ///< [m/s], [1/kg]
    bool may_jam;                     ///< w <= mu |d|
} contact_frame;

/// Checks the problem and brings it into its own units and axes.
carom_status contact_frame_make(const carom_contact_problem *problem, contact_frame *frame, carom_error *error);

/// a = -mu B s + d for a unit vector s: change of slip, per normal impulse, while it has this direction.
static inline void contact_drive(const contact_frame *frame, const double s[2], double a[2]) {
    for (int i = 0; i < 2; i++) a[i] = frame->d[i] - frame->mu * frame->lambda[i] * s[i];
}

/// The direction in which slip resumes after it stopped, where friction cannot hold: |B^-1 d| > mu.
/// @return its rate > 0, or 0 where the contact sticks
double contact_centrifugal_ray(const contact_frame *frame, double direction[2]);

/// Moves the direction s to the nearest invariant one.
/// @param reach  largest distance to it, in radians
/// @return false when there is none within reach
bool contact_snap_to_ray(const contact_frame *frame, double reach, double s[2]);

// ------------------------------------------------------------------------------------------------------------ process

/// The process as it goes on.
typedef struct contact_process {
    const contact_frame *frame;
    const carom_contact_options *options;
    carom_contact_result *result;   ///< receives events
    double slip[2], normal;         ///< velocity
    double tangential[2], impulse;  ///< accumulated impulse
    bool restituting, over;
    double compression_work, restitution_work, friction_work;
    double compression_impulse, restitution_impulse;
    double first_compression[3];  ///< tangential and normal impulse at the end of the first one
    double snap;                  ///< distance to zero slip or to an invariant ray that counts as zero
    int order;                    ///< of the Taylor series
} contact_process;

/// The process before the impact; all three are borrowed.
contact_process contact_process_start(const contact_frame *frame, const carom_contact_options *options, carom_contact_result *result);
/// Impulses, velocity and works in the caller's units, into the process' result.
void contact_write_result(const contact_process *process);

/// From zero slip to the end: sticks, or slides on in the one direction in which friction cannot hold it.
void contact_leave_rest(contact_process *process);
/// From an invariant ray with the direction s to the end: straight, to rest or to the end.
void contact_run_line(contact_process *process, const double s[2]);

void contact_note(contact_process *process, char event);
void contact_trace(const contact_process *process);
/// What is left of the restitution that is going on: work, impulse or velocity, as the hypothesis says.
double contact_remaining_restitution(const contact_process *process);

/// A part of the process in one phase.
typedef struct contact_part {
    double tangential[2], impulse;
    double work;           ///< of the normal impulse on the bodies
    double friction_work;  ///< taken by friction
} contact_part;

/// Adds a part to impulses and works.
void contact_add(contact_process *process, const contact_part *part);
void contact_end_compression(contact_process *process);
void contact_start_recompression(contact_process *process);
void contact_end(contact_process *process);

/// A part in which slip and normal velocity change at constant rates: straight slip, stick, no friction.
typedef struct contact_segment {
    double slip_rate[2], normal_rate;
    double tangential_rate[2];  ///< of the tangential impulse
    double speed_rate;          ///< of |slip|; of no interest without friction
    double friction;            ///< mu while sliding, 0 otherwise
    double length;              ///< normal impulse after which it ends; may be infinite
} contact_segment;

/// Runs through a segment with all its events, to its end or that of the impact.
void contact_run_segment(contact_process *process, const contact_segment *segment);

/// One step of the numerical integration, to the next event at most. Slip must not be zero.
void contact_step(contact_process *process);

#endif
