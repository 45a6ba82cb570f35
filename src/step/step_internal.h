// SPDX-License-Identifier: Apache-2.0
/// @file
/// The impact step from inside: what its solution by an LCP solver and its enumeration share.
#ifndef CAROM_STEP_INTERNAL_H
#define CAROM_STEP_INTERNAL_H

#include "carom/step.h"

/// Violations of the friction cone and of caps beyond this share of the step's impulses, or of the impulse that stops the contacts, are not
/// round-off; nor are energy gains beyond this share of what such impulses do.
#define CAROM_PHYSICAL_TOLERANCE 1e-9

typedef struct carom_step_modes carom_step_modes;

struct carom_stepper {
    const carom_impact *impact;
    carom_step_kind kind;
    carom_selection selection;
    const carom_lcp_solver *solver;
    carom_lcp *lcp;
    int first, count;               // contacts that take part
    int edges, dim;                 // k; tangent_dim
    int size;                       // of the LCP
    int beta, normal, cone, gamma;  // where each block starts; beta is -1 when there are no caps
    double *directions;             // [edges x dim]
    double *W;                      // [size x size]
    double *w, *z;                  // [size]
    double *u, *u_next;             // [n] contact velocities
    double *v_next;                 // [nv]
    double least_mass;              // 1 / max |W_ij|: times a speed, an impulse that stops
    const double *restitution;      // [contacts] of the impact, for CAROM_STEP_NEWTON
    carom_step_modes *modes;        // of the enumeration; NULL where the selection needs none
    const carom_control *control;   // polled by enumerations; the caller's
    carom_stream *stream;           // that `random` draws from; the caller's
};

/// Row of contact space where contact i of the step stands.
static inline int carom_step_contact_row(const carom_stepper *s, int i) { return (s->first + i) * (1 + s->dim); }

/// Index in z of force direction a of contact i: 0 is the normal, 1..k the cone edges.
static inline int carom_step_force_index(const carom_stepper *s, int i, int a) {
    return a ? s->cone + i * s->edges + a - 1 : s->normal + i;
}

/// [size] which z are basic in the last solution of an LCP whose solver is of the `lemke` family.
const bool *carom_lcp_lemke_basic(const carom_lcp *lcp);

/// Sets s->u and s->w for a velocity and caps.
void carom_step_start(carom_stepper *s, const double *v, const double *lmax);
/// The same from the contact velocity.
void carom_step_start_contact(carom_stepper *s, const double *u, const double *lmax);
/// Contact-major impulses of z: lam_n, then lam_t = D lam_D.
void carom_step_collect_impulse(const carom_stepper *s, const double *z, double *impulse);

/// Turns s->z, a verified solution of the LCP that was started, into `impulse` and s->v_next, and checks the physics: friction law, caps,
/// energy. Sets info->energy_change; a violation makes the verdict CAROM_UNVERIFIED.
void carom_step_accept(carom_stepper *s, const double *v, const double *lmax, double *impulse, carom_step_info *info);

typedef enum carom_step_friction { CAROM_MODE_STICK, CAROM_MODE_EDGE, CAROM_MODE_FACET } carom_step_friction;

/// The mode of one contact. A facet slips between edges `edge` and the next one.
typedef struct carom_step_mode {
    bool open, capped;
    carom_step_friction friction;
    int edge;
} carom_step_mode;

/// Unit direction of a cone edge; indices wrap around.
static inline const double *carom_step_direction(const carom_stepper *s, int edge) { return s->directions + (edge % s->edges) * s->dim; }

/// Do the solutions of one combination of modes have more than one velocity? They are given as an affine map of parameters: row 0 is a
/// solution of the equations, the others are directions along which they still hold; the signs that the modes ask for bound the rest.
/// @param impulse  [(1 + dimension) x n]
/// @param u        [(1 + dimension) x n] contact velocities after the step
carom_status carom_step_modes_vary(const carom_stepper *s, const carom_step_mode *modes, const double *lmax, int dimension,
                                   const double *impulse, const double *u, bool *vary, carom_error *error);

/// Workspace of the enumeration of contact modes.
/// @return CAROM_BAD_INPUT when there are too many modes
carom_status carom_step_modes_create(const carom_stepper *stepper, carom_step_modes **modes, carom_error *error);
void carom_step_modes_free(carom_step_modes *modes);
/// Finds the solutions with distinct v_next, in an order that depends on the problem alone.
/// @param complete  set to false when a continuum of velocities may hide in a singular mode, or when stopped; NULL: singular modes are
///                  passed over
carom_status carom_step_modes_search(carom_stepper *s, const double *v, const double *lmax, bool *complete, carom_error *error);
/// Adds s->v_next with this impulse to what was found, unless it is known; says whether it was added.
carom_status carom_step_modes_add(const carom_stepper *s, const double *v, const double *impulse, const carom_step_info *info, bool *added,
                                  carom_error *error);
int carom_step_modes_count(const carom_step_modes *modes);
/// Solution `index` of the last search; pointers are valid until the next one.
const carom_step_info *carom_step_modes_solution(const carom_stepper *s, int index, const double **v_next, const double **impulse);

#endif
