// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impacts of compliant bodies: springs, dampers and regularised friction at the contacts of a planar mechanism, integrated in time. In
/// libcarom-compliant, which uses SUNDIALS; a build without it says so when asked.
#ifndef CAROM_COMPLIANT_H
#define CAROM_COMPLIANT_H

#include "carom/laws.h"
#include "carom/model.h"

CAROM_API_BEGIN

/// What is varied between the impacts of a sweep.
typedef enum carom_compliant_sweep {
    CAROM_SWEEP_STIFFNESS,  ///< the ratio of the stiffnesses of two contacts: 10^e, e from -decades to decades
    CAROM_SWEEP_ANGLE,      ///< the initial angle of the only hinge, from -angle to angle, at equal stiffnesses
} carom_compliant_sweep;

/// Contact i with gap phi pushes with lambda_n = max(0, -k_i phi - 2 zeta sqrt(k_i m) phi') while phi <= 0, and rubs with
/// lambda_t = -mu_i lambda_n r / max(|r|, slip_regularisation) for its slip velocity r, where m is the system's mass (Halm & Posa 2023,
/// section 5.4.1).
typedef struct carom_compliant_options {
    int sweep;                   ///< a carom_compliant_sweep
    double min_stiffness;        ///< k of the softest contact [N/m]
    double damping_ratio;        ///< zeta
    double slip_regularisation;  ///< slip below which friction is viscous [m/s]
    int64_t points;              ///< of the sweep
    double decades;              ///< of the stiffness sweep
    double angle;                ///< of the angle sweep [degrees]
    double horizon;              ///< longest time of an impact [s]
    double least_impulse;        ///< normal impulse that every contact has before an impact may end, over m |Jn v-|
    const carom_system *system;  ///< the mechanism at its state; its contacts are those of the impact. Borrowed, never NULL in a call
} carom_compliant_options;

/// The paper's sweep of stiffnesses: 1e6 N/m, zeta 5, 1e-10 m/s, 51 points, 5 decades, 0.01 degrees, 0.1 s, one per cent. No system.
carom_compliant_options carom_compliant_defaults(void);

enum { CAROM_COMPLIANT_ROWS = 9 };
extern const carom_option carom_compliant_rows[CAROM_COMPLIANT_ROWS];

/// Columns of the outcomes, after the common ones.
typedef enum carom_compliant_column {
    CAROM_COMPLIANT_PARAMETER,  ///< log10 of the ratio of stiffnesses, or the initial angle [degrees]
    CAROM_COMPLIANT_SETTLED,    ///< the impact ended before the horizon
    CAROM_COMPLIANT_TIME,       ///< of its end [s]
    CAROM_COMPLIANT_COLUMNS
} carom_compliant_column;

/// Result columns, after the common ones.
typedef enum carom_compliant_result_column {
    CAROM_COMPLIANT_SWEEP,           ///< its name
    CAROM_COMPLIANT_FIRST_FRACTION,  ///< of the last point of an angle sweep: share of the first contact's normal impulse that is delivered
                                     ///< before the second touches; NaN otherwise
    CAROM_COMPLIANT_RESULT_COLUMNS
} carom_compliant_result_column;

/// False in a build without SUNDIALS, where resolving the law returns CAROM_UNSUPPORTED.
bool carom_compliant_available(void);
/// The version of SUNDIALS, such as "6.4.1"; NULL in a build without it.
const char *carom_compliant_sundials_version(void);

/// The sweep as a law: an outcome for each of its impacts, in order. It is in no registry, because it needs the system of the impact.
///
/// CVODE, BDF with an analytic Jacobian; touching and leaving are located as roots. An impact ends when no closed contact approaches
/// faster than a thousandth of m / k_min, and every contact has its least impulse. Gravity, springs and dampers of the model act.
/// `resolve` returns CAROM_UNSUPPORTED without SUNDIALS, for spatial contacts, other than two contacts in a stiffness sweep, other than one
/// hinge, or contacts without a common normal direction of slides, in an angle sweep; CAROM_BAD_INPUT naming the option.
/// Cost: some 10 ms an impact. Points are shared between threads and do not depend on them.
extern const carom_law carom_compliant_law;

CAROM_API_END

#endif
