// SPDX-License-Identifier: Apache-2.0
/// @file
/// One contact with Coulomb friction and restitution, in contact space: its impact, its invariant directions, and the law `stronge`.
#ifndef CAROM_STRONGE_H
#define CAROM_STRONGE_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// When the restitution of a single contact is over. All agree where normal and tangential motion are not coupled (d = 0).
typedef enum carom_restitution {
    CAROM_RESTITUTION_STRONGE,  ///< energetic: the normal work of restitution is e^2 times that of compression
    CAROM_RESTITUTION_POISSON,  ///< kinetic: the normal impulse of restitution is e times that of compression
    CAROM_RESTITUTION_NEWTON,   ///< kinematic: the normal velocity is -e times the initial one; may add energy
} carom_restitution;

/// A vector of contact space: along the two tangents and the normal.
typedef struct carom_contact_vector {
    double tangent[2], normal;
} carom_contact_vector;

/// One contact: the change of its velocity by an impulse I is W I with W = [[B, d], [d', w]] in the order tangents, normal.
/// A planar contact has zeros for what belongs to the second tangent.
typedef struct carom_contact_problem {
    double tangential[3];           ///< B: entries 11, 12, 22 [1/kg]
    double coupling[2];             ///< d [1/kg]
    double normal;                  ///< w > 0 [1/kg]
    double friction, restitution;   ///< mu >= 0, e in [0, 1]
    carom_contact_vector velocity;  ///< v- [m/s]; normal < 0: approaching
} carom_contact_problem;

/// A state of the process, as it goes on.
typedef struct carom_contact_state {
    carom_contact_vector velocity;  ///< [m/s]
    carom_contact_vector impulse;   ///< accumulated [N s]
} carom_contact_state;

typedef struct carom_contact_options {
    carom_restitution hypothesis;
    double tolerance;  ///< of the integration, relative to |v-|: 1e-15 to 1e-3
    bool tangential;   ///< at an approach speed of exactly zero, compute the limit of vanishing speeds
    /// Receives states in the order of the process: ends of its parts, and points between them on curved ones. NULL: not wanted.
    void (*trace)(void *user, const carom_contact_state *state);
    void *user;
} carom_contact_options;

/// Stronge's hypothesis, tolerance 1e-12: good for 1e-10 relative on well-conditioned contacts.
carom_contact_options carom_contact_defaults(void);

typedef enum carom_contact_status {
    CAROM_CONTACT_IMPACT,
    CAROM_CONTACT_NO_IMPACT,   ///< the contact does not approach: no impulse
    CAROM_CONTACT_TANGENTIAL,  ///< approach speed zero, but sliding would drive the bodies together: no impulse unless asked for
} carom_contact_status;

/// How the tangential motion goes.
typedef enum carom_contact_course {
    CAROM_COURSE_NONE,          ///< no impulse
    CAROM_COURSE_FRICTIONLESS,  ///< mu = 0
    CAROM_COURSE_SLIP,          ///< slides all the time, in changing directions
    CAROM_COURSE_SLIP_STICK,    ///< slides, stops, sticks to the end
    CAROM_COURSE_SLIP_RESUME,   ///< slides, stops, slides on along the centrifugal direction
    CAROM_COURSE_LINE,          ///< slides along an invariant direction
    CAROM_COURSE_LINE_STICK,
    CAROM_COURSE_LINE_RESUME,
    CAROM_COURSE_STICK,   ///< starts without slip and sticks
    CAROM_COURSE_RESUME,  ///< starts without slip and slides along the centrifugal direction
} carom_contact_course;

const char *carom_contact_status_name(carom_contact_status status);
const char *carom_contact_course_name(carom_contact_course course);

/// Room for events: a contact has at most two compressions, and stops slipping once.
enum { CAROM_MOST_CONTACT_EVENTS = 16 };

/// What happened. Letters of events: l starts on an invariant ray, s slip is zero, c a compression ends, k the contact approaches again
/// before its restitution is over, r the end.
typedef struct carom_contact_result {
    carom_contact_status status;
    carom_contact_course course;
    carom_contact_vector impulse;   ///< [N s]
    carom_contact_vector velocity;  ///< v+ = v- + W I [m/s]; its slip is exactly zero when the contact sticks
    char events[CAROM_MOST_CONTACT_EVENTS + 1];
    double event_impulse[CAROM_MOST_CONTACT_EVENTS];  ///< normal impulse at each event [N s]
    carom_contact_vector compression;                 ///< impulse at the end of the first compression [N s]
    int compressions;
    bool sticks;
    bool jams;                ///< at first, the normal velocity falls although the impulse pushes the bodies apart
    bool may_jam;             ///< w <= mu |d|: there are directions of slip in which it does
    double compression_work;  ///< taken from the bodies by the normal impulse, over all compressions [J]
    double restitution_work;  ///< given back [J]
    double friction_work;     ///< taken by friction [J]
    int steps;                ///< of the numerical integration; closed forms take none
} carom_contact_result;

/// Impact of one contact with Coulomb friction and energetic (or another) restitution in the plane or in space: Jia & Wang 2017.
/// The accumulated normal impulse is the clock; slip obeys gamma' = -mu B gamma/|gamma| + d. Integrated as Taylor
/// series in the clock dtau = dIz / |gamma|, which has no singularity at zero slip; closed forms on invariant rays and without slip. After
/// a recompression the works (impulses for Poisson) of all compressions are pooled.
/// @return CAROM_BAD_INPUT for numbers that are not finite, mu < 0, e outside [0,1], W that is not positive definite (a tangential
///         direction without any motion may be missing); `result` is then that of no impact
/// Cost: 1 to 3 microseconds. No allocation; thread-safe.
carom_status carom_contact_solve(const carom_contact_problem *problem, const carom_contact_options *options, carom_contact_result *result,
                                 carom_error *error);

/// The problem of one contact of an impact at the contact velocity u ([n], contact-major); restitution is that of the impact.
void carom_contact_extract(const carom_impact *impact, int contact, const double *u, carom_contact_problem *problem);

/// Options of the law `stronge`.
typedef struct carom_stronge_options {
    const char *contact;    ///< name of the contact that collides; NULL: the only one
    int hypothesis;         ///< a carom_restitution
    double restitution;     ///< in [0, 1]; NaN: the impact's
    double tolerance;       ///< of the integration, relative to the contact's pre-impact velocity: 1e-15 to 1e-3
    bool allow_tangential;  ///< at an approach speed of exactly zero, take the limit of small ones
} carom_stronge_options;

/// The only contact, Stronge's hypothesis, the impact's restitution, tolerance 1e-12.
carom_stronge_options carom_stronge_defaults(void);

/// The single contact that the law `stronge` solves: which contact, its problem, and how.
/// @return CAROM_BAD_INPUT when the impact has several contacts and none is named, or none of that name
carom_status carom_stronge_prepare(const carom_impact *impact, const carom_stronge_options *law_options, int *contact,
                                   carom_contact_problem *problem, carom_contact_options *options, carom_error *error);

/// What slip along an invariant direction does.
typedef enum carom_ray_type {
    CAROM_RAY_ATTRACTING,   ///< slows down; neighbouring directions turn towards it
    CAROM_RAY_REPELLING,    ///< slows down; neighbouring directions turn away
    CAROM_RAY_CENTRIFUGAL,  ///< speeds up, and attracts
    CAROM_RAY_MERGED,       ///< attracts on one side and repels on the other, or neither: a multiple root
} carom_ray_type;

const char *carom_ray_type_name(carom_ray_type type);

/// A direction in which slip stays straight.
typedef struct carom_invariant_ray {
    double direction[2];  ///< unit
    double angle;         ///< of the direction, in (-pi, pi]
    double rate;          ///< change of the slip speed with the normal impulse [1/kg]; > 0: centrifugal
    carom_ray_type type;
} carom_invariant_ray;

enum { CAROM_MOST_RAYS = 4 };

/// All invariant directions, by angle: 2, 3 or 4. 0 where every direction is one (B isotropic, d = 0), or mu = 0.
/// @return CAROM_BAD_INPUT as carom_contact_solve
carom_status carom_contact_invariant_rays(const carom_contact_problem *problem, carom_invariant_ray rays[CAROM_MOST_RAYS], int *count,
                                          carom_error *error);

CAROM_API_END

#endif
