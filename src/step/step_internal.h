// SPDX-License-Identifier: Apache-2.0
/// @file
/// The impact step from inside: the stepper's fields, and what the methods share.
#ifndef CAROM_STEP_INTERNAL_H
#define CAROM_STEP_INTERNAL_H

#include "carom/arena.h"
#include "carom/modular.h"
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
    double *v_next;                 // [nv] whose contact velocity u_next is; NaN after a step in contact space
    double least_mass;              // 1 / max |W_ij| of the contacts that take part: times a speed, an impulse that stops
    double *y_natural, *z_natural;  // [size] units in which the LCP is solved, powers of two: speeds, and impulses that stop
    double *covering;               // [size] of Lemke's method, in these units
    double *scaled;                 // [size] w in these units
    double *change;                 // [2 size + nv + n] scratch of a refinement
    double *impulse_change;         // [n]
    double *force_rows;             // [count (1 + edges) x nv] scratch: L^-1 times normals and cone edges
    const double *restitution;      // [contacts] of the impact, for CAROM_STEP_NEWTON
    const carom_control *control;   // polled by enumerations; the caller's
    carom_stream *stream;           // that `random` draws from; the caller's
    carom_arena arena;              // of the arrays above
};

/// Rows of the table, each in a file or folder of its own.
extern const carom_step_method carom_step_cone_map, carom_step_sweeps, carom_step_lemke, carom_step_modes;

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

/// Friction modes of a contact: stick, slip along each edge, and in space slip between two.
static inline int carom_step_friction_modes(int dim, int edges) { return 1 + edges + (dim == 2 ? edges : 0); }

/// The greatest sliding speed against a cone edge, max_j -d_j.u_t.
double carom_step_sliding_speed(const carom_stepper *stepper, const double *tangent);
/// Writes lam_t as a non-negative combination of the two cone edges around it; returns the sum of their weights, which start at zero.
double carom_step_split_on_edges(const carom_stepper *stepper, const double *tangent, double *weights);

/// Fills the cone directions and the LCP matrix W.
void carom_step_assemble(carom_stepper *stepper);
/// Chooses natural units and the canonical covering vector, and makes the LCP's handle, on W in these units.
carom_status carom_step_bind(carom_stepper *stepper, carom_error *error);
/// Solves the LCP that was started into stepper->z, in natural units; with a covering vector of its own where the selection is `scattered`.
void carom_step_solve_lcp(carom_stepper *stepper, carom_step_info *info);
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
/// Are the velocities after the step small differences of what the impulses do?
bool carom_step_is_coarse(const carom_stepper *stepper, const double *impulse);
/// Refines stepper->z, whose velocities stand in stepper->u_next and, unless in contact space, in stepper->v_next, where W is too coarse
/// for it. Sets `impulse`, the residual, and the verdict: CAROM_COMPLETE or CAROM_UNVERIFIED.
void carom_step_refine(carom_stepper *stepper, const double *lmax, bool in_contact_space, double *impulse, carom_step_info *info);
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

/// Exact decisions on the combinations of modes of one step, from the doubles of the impact, v and lmax.
typedef struct carom_step_proof carom_step_proof;

/// For a stepper that was started with v and lmax. `*proof` is NULL when the numbers of the problem are too far apart.
carom_status carom_step_proof_create(const carom_stepper *stepper, const double *v, const double *lmax, carom_step_proof **proof,
                                     carom_error *error);
void carom_step_proof_free(carom_step_proof *proof);
/// [n x n], [n] How far the impact's W, and stepper->u, are from exact values.
const double *carom_step_proof_delassus_error(const carom_step_proof *proof);
const double *carom_step_proof_speed_error(const carom_step_proof *proof);

/// Has the system a velocity after the step that belongs to these modes of contacts `first` and later, and to no others? That is, u_n > 0
/// where a contact is open, u_n = 0 where it stops and u_n < 0 at its cap; and unless it is open, u_t = 0 where it sticks, u_t against one
/// edge more than against all others, or equally against both edges of a facet. Every velocity belongs to one such combination, so that
/// only these need be decided. Without a system (contact space) the answer is true.
bool carom_step_proof_has_velocity(carom_step_proof *proof, const carom_step_mode *modes, int first);

/// Which combinations are decided. The others count as empty.
typedef enum carom_step_scope {
    CAROM_PROVE_REGULAR,   ///< those whose equations determine the impulses
    CAROM_PROVE_UNSHARED,  ///< all but singular ones with one velocity, which a combination with fewer unknowns has as well
    CAROM_PROVE_EVERY,     ///< all
} carom_step_scope;

/// Decides one combination.
/// @param v_next    [nv] for CAROM_EXACT_SINGLE, correctly rounded but for the last bit
/// @param unknowns  the impulses' unknowns, contact by contact: lam_n unless capped; lam_t (stick); the share of a facet's first edge
carom_exact_answer carom_step_prove(carom_step_proof *proof, const carom_step_mode *modes, carom_step_scope scope, double *v_next,
                                    double *unknowns);

/// Do all combinations of contact modes of a capped step have the same v' wherever two of them have solutions, for contact velocities of
/// the system? Proved by Farkas' lemma, for two planar contacts at most (src/step/cones/unique.c).
bool carom_step_modes_agree(const carom_impact *impact);

#endif
