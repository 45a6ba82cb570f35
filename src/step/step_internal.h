// SPDX-License-Identifier: Apache-2.0
/// @file
/// The impact step from inside: the stepper's fields, and what the methods share.
#ifndef CAROM_STEP_INTERNAL_H
#define CAROM_STEP_INTERNAL_H

#include <math.h>

#include "carom/arena.h"
#include "carom/step.h"

/// Violations of the friction cone and of caps beyond this share of the step's impulses, or of the impulse that stops the contacts, are not
/// round-off; nor are energy gains beyond this share of what such impulses do.
#define CAROM_PHYSICAL_TOLERANCE 1e-9

struct carom_stepper {
    const carom_impact *impact;
    carom_step_kind kind;
    carom_selection selection;
    const carom_lcp_solver *solver;
    carom_lcp *lcp;
    const carom_step_method *method;
    void *state;                    // the method's
    int first, count;               // contacts that take part
    int edges, dim;                 // k; tangent_dim
    int size;                       // of the LCP
    int beta, normal, edge, gamma;  // where each block of the LCP starts; beta is -1 when there are no caps
    double *directions;             // [edges x dim]
    double *W;                      // [size x size]
    double *w, *z;                  // [size]
    double *u, *u_next;             // [n] contact velocities
    double *v_next;                 // [nv]
    double least_mass;              // 1 / max |W_ij| of the contacts that take part: times a speed, an impulse that stops
    double *y_natural, *z_natural;  // [size] units in which the LCP is solved, powers of two: speeds, and impulses that stop
    double *covering;               // [size] of Lemke's method, in these units
    double *scaled;                 // [size] w in these units
    const double *restitution;      // [contacts] of the impact, for CAROM_STEP_NEWTON
    const carom_control *control;   // polled by enumerations; the caller's
    carom_stream *stream;           // that `random` draws from; the caller's
    carom_arena arena;              // of the arrays above
};

/// Rows of the table, each in a file or folder of its own.
extern const carom_step_method carom_step_cone_map, carom_step_lemke, carom_step_modes;

/// Row of contact space where contact i of the step stands.
static inline int carom_step_contact_row(const carom_stepper *stepper, int i) { return (stepper->first + i) * (1 + stepper->dim); }

/// Index in z of force direction a of contact i: 0 is the normal, 1..k the cone edges.
static inline int carom_step_force_index(const carom_stepper *stepper, int i, int a) {
    return a ? stepper->edge + i * stepper->edges + a - 1 : stepper->normal + i;
}

/// Unit direction of a cone edge; indices wrap around.
static inline const double *carom_step_direction(const carom_stepper *stepper, int edge) {
    return stepper->directions + (edge % stepper->edges) * stepper->dim;
}

/// Fills the cone directions and the LCP matrix W.
void carom_step_assemble(carom_stepper *stepper);
/// Chooses natural units and the canonical covering vector, and makes the LCP's handle, on W in these units.
carom_status carom_step_bind(carom_stepper *stepper, carom_error *error);
/// Solves the LCP that was started into stepper->z, in natural units; with a covering vector of its own where the selection is `scattered`.
void carom_step_solve_lcp(carom_stepper *stepper, carom_step_info *info);
/// The factor of one entry of a covering vector that is `scattered`, for a uniform number in (0, 1): between 2^-7 and 2^7, every octave as
/// likely, and uniform in it. Without functions that round in their own way on every machine.
static inline double carom_step_draw_weight(double uniform) {
    const double octave = floor(14 * uniform);
    return ldexp(1 + (14 * uniform - octave), (int)octave - 7);
}
/// Is stepper->z a solution of the LCP that was started? The residual is in natural units.
bool carom_step_verify(carom_stepper *stepper, double *residual);
/// [size] SI sizes of y_i and z_i for tolerances: natural units times those of carom_lcp_units.
void carom_step_units(const carom_stepper *stepper, double *y_unit, double *z_unit);
/// Sets stepper->u and stepper->w for a velocity and caps.
void carom_step_start(carom_stepper *stepper, const double *v, const double *lmax);
/// The same from the contact velocity, which may be stepper->u.
void carom_step_start_contact(carom_stepper *stepper, const double *u, const double *lmax);
/// Contact-major impulses of z: lam_n, then lam_t = D lam_D.
void carom_step_collect_impulse(const carom_stepper *stepper, const double *z, double *impulse);
/// The physical checks, from stepper->u, stepper->u_next and the impulse: friction law, caps, energy. Sets info->energy_change; a violation
/// makes the verdict CAROM_UNVERIFIED.
void carom_step_judge(const carom_stepper *stepper, const double *lmax, const double *impulse, carom_step_info *info);
/// Turns stepper->z, a verified solution of the LCP that was started, into `impulse` and stepper->v_next, and judges it.
void carom_step_accept(carom_stepper *stepper, const double *v, const double *lmax, double *impulse, carom_step_info *info);
/// Outputs of an unsolved step: the velocity before it, no impulse.
void carom_step_leave(const carom_stepper *stepper, const double *v, double *v_next, double *impulse, carom_step_info *info);

/// The LCP solver's solution of a step into stepper->v_next and `impulse`, verified; info says whether it was found.
void carom_step_find_by_lcp(carom_stepper *stepper, const double *v, const double *lmax, double *impulse, carom_step_info *info);
/// `solve` of the method `lemke`, on which others fall back.
void carom_step_solve_by_lcp(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse,
                             carom_step_info *info);

typedef enum carom_step_friction { CAROM_MODE_STICK, CAROM_MODE_EDGE, CAROM_MODE_FACET } carom_step_friction;

/// The mode of one contact. A facet slips between edges `edge` and the next one.
typedef struct carom_step_mode {
    bool open, capped;
    carom_step_friction friction;
    int edge;
} carom_step_mode;

/// Solutions of the equations of one combination of modes, as an affine map of parameters: row 0 is a solution, the others are directions
/// along which the equations still hold.
typedef struct carom_step_solutions {
    int dimension;          ///< number of directions
    const double *impulse;  ///< [(1 + dimension) x n]
    const double *u;        ///< [(1 + dimension) x n] contact velocities after the step
} carom_step_solutions;

/// Do the solutions that also have the signs of their modes have more than one velocity?
carom_status carom_step_solutions_vary(const carom_stepper *stepper, const carom_step_mode *modes, const double *lmax,
                                       const carom_step_solutions *solutions, bool *vary, carom_error *error);

/// Do all combinations of contact modes of a capped step have the same v' wherever two of them have solutions, for contact velocities of
/// the system? Proved by Farkas' lemma, for two planar contacts at most (src/step/cones/unique.c).
bool carom_step_modes_agree(const carom_impact *impact);

#endif
