// SPDX-License-Identifier: Apache-2.0
/// @file
/// What all contacts do together after an impact: which combinations of stick, slide and lift are possible, and with which velocities.
/// For a controller these are the reset maps between its contact modes.
#ifndef CAROM_JOINT_MODES_H
#define CAROM_JOINT_MODES_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// What a contact does in a joint mode. Slip has a direction where the contact is planar.
typedef enum carom_contact_motion {
    CAROM_MOTION_STICK,     ///< closed, at rest in the tangent plane
    CAROM_MOTION_FORWARD,   ///< closed, planar, t > 0
    CAROM_MOTION_BACKWARD,  ///< closed, planar, t < 0
    CAROM_MOTION_SLIDE,     ///< closed, in space, with a tangential velocity
    CAROM_MOTION_LIFT,      ///< opens
    CAROM_MOTIONS
} carom_contact_motion;

/// "stick", "forward", "backward", "slide", "lift".
const char *carom_contact_motion_name(carom_contact_motion motion);

/// One combination, and what is known of its outcomes.
typedef struct carom_joint_mode {
    unsigned char *motions;  ///< [contacts] a carom_contact_motion each
    int64_t count;           ///< outcomes seen in it, or pieces of the exact set that meet it
    int64_t approximate;     ///< those of them with CAROM_FLAG_APPROXIMATE: where it is all of them, the mode may be impossible
    double *normal;          ///< [contacts x 2] least and largest normal velocity [m/s]
    double *tangent;         ///< [tangents x 2] the same of tangential velocities
    double *witness;         ///< [nv] generalised velocities of one outcome
} carom_joint_mode;

/// A list of joint modes. It does not depend on the order in which outcomes came, but for the witnesses, which are the first ones.
typedef struct carom_joint_modes {
    carom_sizes sizes;
    double tolerance;     ///< speed that counts as rest in outcomes that are seen [m/s], as of carom_extent
    int64_t approximate;  ///< outcomes that may lie outside the set, over all modes
    int64_t seen;         ///< outcomes, over all modes
    int64_t unfinished;   ///< outcomes with a contact that approaches still: they are in no mode
    int count;
    carom_joint_mode *modes;  ///< [count] in the order of their motions
    int room;
    carom_arena arena;  ///< of the arrays of the modes
} carom_joint_modes;

carom_status carom_joint_modes_create(const carom_impact *impact, carom_joint_modes **modes, carom_error *error);
void carom_joint_modes_free(carom_joint_modes *modes);

/// One outcome, or one vertex of what an exact set has in a mode: widens the mode's ranges, and makes the mode if it is new. Does not
/// count.
/// @param motions [contacts], normal [contacts], tangent [tangents], velocity [nv]: the witness of a new mode
/// @param mode    receives the mode, which later calls may move; NULL: not wanted
carom_status carom_joint_modes_widen(carom_joint_modes *modes, const unsigned char *motions, const double *normal, const double *tangent,
                                     const double *velocity, carom_joint_mode **mode, carom_error *error);

/// Takes the rows of an outcome set in, each counted in its mode.
carom_status carom_joint_modes_see(carom_joint_modes *modes, const carom_table *outcomes, carom_error *error);
/// The same as a sink, which lives as long as the modes.
carom_sink carom_joint_modes_sink(carom_joint_modes *modes);

CAROM_API_END

#endif
