// SPDX-License-Identifier: Apache-2.0
/// @file
/// The impact: a rigid-body system frozen at the instant several contacts collide, and the outcome sets that laws return.
#ifndef CAROM_IMPACT_H
#define CAROM_IMPACT_H

#include "carom/base.h"

CAROM_API_BEGIN

/// A validated impact with its derived operators. Immutable, so that threads may share it.
typedef struct carom_impact carom_impact;

/// Largest number of velocities and of contacts: beyond, dense operators are not the right tool.
enum { CAROM_MAX_VELOCITIES = 4096, CAROM_MAX_CONTACTS = 1024 };
/// Longest name of a contact or a velocity in bytes: names become parts of file names.
enum { CAROM_MAX_NAME = 80 };

/// The numbers of an impact as they were written, for exact computations: "p/q" with whole p and q > 0, or a decimal. Each array has as
/// many texts as the array of doubles of its name has numbers, in the same order; NULL where there are only doubles.
typedef struct carom_impact_texts {
    const char *const *mass, *const *normal, *const *tangent, *const *friction, *const *velocity, *const *restitution;
} carom_impact_texts;

/// Where the contacts are, for those who show, draw or name them: no law reads it. World axes. A contact without a place, such as a joint
/// at its stop, has NaN in its three rows and NULL for its names.
typedef struct carom_contact_geometry {
    const double *points;       ///< [contacts x 3] where the two bodies touch [m]
    const double *normals;      ///< [contacts x 3] unit, from the first body to the second
    const double *tangents;     ///< [(contacts*tangent_dim) x 3] unit
    const char *const *bodies;  ///< [contacts x 2] names of the first and the second body; NULL entries: not known
    const char *const *geoms;   ///< [contacts x 2] names of the geoms that touch; NULL entries: none
    const double *gaps;         ///< [contacts] distances of the two surfaces, < 0 where they penetrate [m], NaN entries: not known; or NULL
    const int *joints;          ///< [contacts] joints between the two bodies of one robot, 0: of no robot, or not known; or NULL
    int nq;                     ///< 0: no position is known
    const double *qpos;         ///< [nq] the position at which the problem was frozen, in MuJoCo's order [m, rad, quaternions]
} carom_contact_geometry;

/// The frozen problem. All matrices row-major, SI units, borrowed during the call that takes them.
typedef struct carom_impact_data {
    int nv;                     ///< generalised velocities
    int contacts;               ///< touching contacts, m
    int tangent_dim;            ///< 1 planar, 2 spatial
    const double *mass;         ///< M, [nv x nv], symmetric positive definite
    const double *normal;       ///< Jn, [contacts x nv], separation speeds, > 0 opening [m/s]
    const double *tangent;      ///< Jt, [(contacts*tangent_dim) x nv], contact-major tangential velocities [m/s]; NULL: zero rows
    const double *friction;     ///< mu, [contacts], Coulomb coefficients >= 0; NULL: 0
    const double *restitution;  ///< [contacts], in [0,1]; NULL: 0
    const double *velocity;     ///< v-, [nv], pre-impact velocity [m/s, rad/s]
    /// [contacts], distinct, 1 to CAROM_MAX_NAME bytes, none of them another one followed by .1 (or .2 with two tangents), which is a
    /// tangent's name; NULL: A, B, ..., Z, C27, C28, ...
    const char *const *names;
    /// [nv], distinct, 1 to CAROM_MAX_NAME bytes: what each velocity is of, joint by joint; NULL: v.1, v.2, ... where names are asked for
    const char *const *velocity_names;
    const bool *velocity_turns;              ///< [nv] it is an angular velocity [rad/s], otherwise a linear one [m/s]; NULL: not known
    const carom_contact_geometry *geometry;  ///< NULL: not known
} carom_impact_data;

/// The same problem in contact space: order per contact normal, then tangents; size n = contacts * (1 + tangent_dim).
typedef struct carom_delassus_data {
    int contacts, tangent_dim;
    const double *delassus;     ///< W = J M^-1 J', [n x n], symmetric positive semidefinite [1/kg]
    const double *velocity;     ///< u = J v-, [n] [m/s]
    const double *friction;     ///< mu, [contacts]
    const double *restitution;  ///< [contacts]; NULL: 0
    const char *const *names;   ///< as in carom_impact_data
} carom_delassus_data;

/// Checks the data and computes M^-1 J' and W = J M^-1 J' by a Cholesky factorisation of M.
/// @return CAROM_BAD_INPUT naming the matrix and entry: a number that is not finite, M not symmetric (beyond 1e-9 of its largest
///         entry; it is then symmetrised) or not positive definite, a zero normal, mu < 0, restitution outside [0,1], bad sizes or names
/// Cost: O(nv^3 + n nv^2 + n^2 nv) with n = contacts * (1 + tangent_dim).
carom_status carom_impact_create(const carom_impact_data *data, carom_impact **impact, carom_error *error);
/// The same, and keeps copies of the texts of its numbers.
carom_status carom_impact_create_exact(const carom_impact_data *data, const carom_impact_texts *texts, carom_impact **impact,
                                       carom_error *error);

/// An impact in contact space. Its generalised velocity *is* the contact velocity: nv = n, J = identity, M^-1 J' = W, and M is absent.
/// @return CAROM_BAD_INPUT as above; W asymmetric beyond 1e-2 of its largest entry, or clearly indefinite, is refused
carom_status carom_impact_create_delassus(const carom_delassus_data *data, carom_impact **impact, carom_error *error);

void carom_impact_free(carom_impact *impact);

/// Refuses a mass matrix that is not positive definite, or in which a motion z has no more energy than round-off: z'Mz below 2 nv times
/// the round-off of doubles times sum_j M_jj z_j^2, which units do not change.
/// @param names  [nv] of the velocities; NULL: v.1, v.2, ...
/// @return CAROM_BAD_INPUT naming the velocities of the motion, and the one that needs inertia; carom_impact_create does the same
carom_status carom_mass_check(int nv, const double *mass, const char *const *names, carom_error *error);

/// Bodies of one robot with so many joints between them are neighbours, whose shapes often overlap at the joint.
enum { CAROM_NEIGHBOUR_JOINTS = 2 };

/// Receives a sentence.
typedef carom_status carom_say(void *user, const char *sentence, carom_error *error);

/// Looks for what makes an impact one that was hardly meant, in one place for all who make impacts: M nearly singular, equal or opposite
/// rows of J, contacts that are deep, or between neighbouring links of a robot. Each is a sentence for `say`, which may fail.
/// @return CAROM_BAD_INPUT for an impact in contact space whose u is outside the range of W, by more than 1e-6 of its length: no velocity
///         has it, and its energy is not defined. Impacts that integrators make may be so on purpose, and are not reviewed.
carom_status carom_impact_review(const carom_impact *impact, carom_say *say, void *user, carom_error *error);

/// The data, owned by the impact, copies in depth. `mass`, `normal` and `tangent` are NULL for an impact in contact space; `restitution`
/// and `names` never are; `velocity_names`, `velocity_turns` and `geometry` are where nobody gave them.
const carom_impact_data *carom_impact_get_data(const carom_impact *impact);
/// The texts of its numbers, all NULL where it was made of doubles.
const carom_impact_texts *carom_impact_get_texts(const carom_impact *impact);
/// False for an impact in contact space.
bool carom_impact_has_system(const carom_impact *impact);
carom_sizes carom_impact_sizes(const carom_impact *impact);
/// n = contacts * (1 + tangent_dim), the size of contact space.
int carom_impact_contact_size(const carom_impact *impact);
/// W = J M^-1 J', [n x n], contact-major (normal, then tangents). Exactly symmetric.
const double *carom_impact_delassus(const carom_impact *impact);
/// Row c of [n x nv] is M^-1 J_c', the velocity change by a unit impulse along contact direction c.
const double *carom_impact_response(const carom_impact *impact);
/// Row c of [n x nv] is L^-1 J_c', where M = L L': W holds the products of these rows. NULL in contact space.
const double *carom_impact_half_response(const carom_impact *impact);
/// max_j |J_j v-| over all normal and tangential rows [m/s]: the scale of velocity tolerances.
double carom_impact_velocity_scale(const carom_impact *impact);
/// Index of the contact called `name`, -1 if there is none.
int carom_impact_find_contact(const carom_impact *impact, const char *name);
/// Writes "; did you mean 'NAME'?" where the name of a contact is near, otherwise nothing.
/// @return text
const char *carom_impact_suggest_contact(const carom_impact *impact, const char *name, char text[CAROM_SUGGESTION_SIZE]);

/// SHA-256 of the numbers of the problem: M and the Jacobians, or W in contact space, friction, restitution and the velocity.
carom_status carom_impact_digest(const carom_impact *impact, char text[CAROM_DIGEST_TEXT_SIZE], carom_error *error);

/// u = J v, [n], contact-major.
void carom_impact_contact_velocity(const carom_impact *impact, const double *v, double *u);
/// v_next = v + M^-1 J' impulse; v_next may be v.
void carom_impact_apply(const carom_impact *impact, const double *v, const double *impulse, double *v_next);
/// K(v) = v'Mv/2 [J]. In contact space u'W^+u/2, the least kinetic energy of any system with this Delassus operator and contact velocity.
double carom_impact_kinetic_energy(const carom_impact *impact, const double *v);
/// K(v-) [J].
double carom_impact_initial_energy(const carom_impact *impact);
/// Smallest normal velocity min_i Jn_i v of a contact velocity u.
double carom_impact_min_normal(const carom_impact *impact, const double *u);

/// Tolerance of termination: a contact is done when Jn_i v >= -1e-8 max_j |J_j v-|. It must exceed the residual of a step, or finished
/// impacts are solved again (Algorithm 1); 1e-8 and 1e-12 give identical step counts.
#define CAROM_TERMINATION_TOLERANCE 1e-8
/// The normal velocity below which a contact still approaches, -CAROM_TERMINATION_TOLERANCE times the velocity scale [m/s].
double carom_impact_approach_limit(const carom_impact *impact);
/// No contact approaches any more, for a contact velocity u.
bool carom_impact_terminated(const carom_impact *impact, const double *u);

/// Says of an impact in which no contact approaches that its velocity stays as it is; and of contacts that rest in their normal direction
/// and slide that an impact without collision may begin there, where friction would press them together: W_nn < mu W_nt along the slip
/// (Painleve). Otherwise the text is empty.
carom_status carom_impact_describe_rest(const carom_impact *impact, char text[CAROM_MESSAGE_SIZE], carom_error *error);

// --------------------------------------------------------------------------------------------- friction cones, patches

/// Limits of the number of cone edges; it is even, because directions come in exact opposite pairs.
enum { CAROM_MIN_CONE_EDGES = 4, CAROM_MAX_CONE_EDGES = 64 };

/// Edges k that a request for `cone_edges` means for this impact: 2 for planar contacts, otherwise the request.
/// @return CAROM_BAD_INPUT unless even and within the limits
carom_status carom_impact_cone_edges(const carom_impact *impact, int64_t cone_edges, int *edges, carom_error *error);

/// Unit directions d_j of the linearised cone in the tangent plane, [edges x tangent_dim]: planar +1, -1; spatial
/// (cos 2 pi j/k, sin 2 pi j/k), one half computed and the other its exact negative.
void carom_cone_directions(int tangent_dim, int edges, double *directions);

/// Tangents of a spatial contact where nobody gives any: t1 = y x n, or x where n is parallel to y; t2 = n x t1.
/// @param normal  unit
void carom_impact_default_tangents(const double normal[3], double tangent[2][3]);

/// Which points of a flat patch of contacts stand for all: the corners of their convex hull, and of corners closer than `distance` to each
/// other the outer one. The order of the points decides nothing.
/// @param points  [count x 2] in the plane of the patch [m]
/// @param kept    [count]
carom_status carom_patch_corners(int count, const double *points, double distance, bool *kept, carom_error *error);

// ------------------------------------------------------------------------------------------------------- outcome sets

/// Columns that every law's outcomes have, in this order; a law's own columns follow.
typedef enum carom_outcome_column {
    CAROM_OUTCOME_VELOCITY,          ///< v_plus [nv]; in contact space the contact velocity
    CAROM_OUTCOME_NORMAL_IMPULSE,    ///< [contacts]
    CAROM_OUTCOME_TANGENT_IMPULSE,   ///< [tangents]
    CAROM_OUTCOME_NORMAL_VELOCITY,   ///< Jn v_plus [contacts]
    CAROM_OUTCOME_TANGENT_VELOCITY,  ///< Jt v_plus [tangents]
    CAROM_OUTCOME_ENERGY_RATIO,      ///< K(v_plus) / K(v-); NaN when K(v-) = 0
    CAROM_OUTCOME_WORD,              ///< contacts that acted, in order
    CAROM_OUTCOME_STEPS,             ///< impact steps taken
    CAROM_OUTCOME_TERMINATED,        ///< no contact approaches any more
    CAROM_OUTCOME_FLAGS,
    CAROM_OUTCOME_COLUMNS
} carom_outcome_column;

/// Energy gains of a step beyond this share of the initial kinetic energy are flagged; round-off is below.
#define CAROM_ENERGY_GAIN_FLAGGED 1e-12

/// Bits of the flags column.
enum {
    CAROM_FLAG_UNSOLVED = 1,          ///< a step had no verified solution
    CAROM_FLAG_ENERGY_GAIN = 2,       ///< the kinetic energy grew by more than 1e-12 of its initial value
    CAROM_FLAG_FRICTION_IGNORED = 4,  ///< a contact has friction, and the law has none
    CAROM_FLAG_MARGINAL = 8,          ///< which contacts approach was close to the tolerance
    CAROM_FLAG_ADHESIVE = 16,         ///< a contact pulls
    CAROM_FLAG_APPROXIMATE = 32,      ///< a step may have left the set by O(h): slip reverses or turns in it, or an open contact presses;
                                      ///< in space also by the friction of linearised cones
};

/// The rows of the common columns.
const carom_column *carom_outcome_columns(void);

/// An empty outcome set of this impact: the common columns, then `own_count` columns of a law.
carom_status carom_outcomes_create(const carom_impact *impact, const carom_column *own, int own_count, carom_table **outcomes,
                                   carom_error *error);

/// Adds one row and fills the common columns from v_plus and the accumulated impulse (contact-major [n]; NULL: not determined).
/// Signs of zero are normalised. The word is left empty.
carom_status carom_outcomes_add(carom_table *outcomes, const carom_impact *impact, const double *v_plus, const double *impulse,
                                int64_t steps, int64_t flags, carom_error *error);

/// Many outcomes as structure of arrays: component k of row i stands at k * stride + i.
typedef struct carom_outcome_rows {
    int64_t count;
    size_t stride;
    const double *v_plus;          ///< [nv x stride]
    const double *impulse;         ///< [n x stride] accumulated, contact-major; NULL: not determined
    const int64_t *steps, *flags;  ///< [count]
} carom_outcome_rows;

/// Adds the rows as carom_outcomes_add does one by one, with the same bits; faster.
carom_status carom_outcomes_add_rows(carom_table *outcomes, const carom_impact *impact, const carom_outcome_rows *rows, carom_error *error);

/// The column v_plus of these rows alone, [count x nv].
void carom_outcome_velocities(const carom_impact *impact, const carom_outcome_rows *rows, double *v_plus);

/// What a contact does after the impact, by its velocities.
typedef enum carom_contact_mode {
    CAROM_CONTACT_STICKS,      ///< closed, at rest in the tangent plane
    CAROM_CONTACT_SLIDES,      ///< closed, with a tangential velocity
    CAROM_CONTACT_LIFTS,       ///< opens
    CAROM_CONTACT_APPROACHES,  ///< closes still: the outcome has not terminated
    CAROM_CONTACT_MODES
} carom_contact_mode;

/// "stick", "slide", "lift", "approach".
const char *carom_contact_mode_name(carom_contact_mode mode);

/// The mode of one contact: lifts when its normal velocity exceeds the tolerance, sticks when its tangential speed does not.
/// @param normal     Jn_i v+ [m/s]
/// @param tangent    [tangent_dim], its tangential velocities [m/s]
/// @param tolerance  speed that counts as rest [m/s]; extents use that of termination, -carom_impact_approach_limit
carom_contact_mode carom_contact_mode_of(double normal, const double *tangent, int tangent_dim, double tolerance);

/// What a stream of outcomes covers: smallest and largest contact velocities and energy ratios, NaN while there are none, and how often
/// each contact is in each mode.
typedef struct carom_extent {
    carom_sizes sizes;
    int64_t outcomes;
    int64_t approximate;  ///< outcomes that may lie outside the set, with CAROM_FLAG_APPROXIMATE; CAROM_NO_INTEGER: not known
    double *normal;       ///< [contacts x 2], min and max [m/s]
    double *tangent;      ///< [tangents x 2], min and max [m/s]
    double energy_ratio[2];
    double tolerance;   ///< of the modes [m/s]
    int64_t *modes;     ///< [contacts x CAROM_CONTACT_MODES], number of outcomes
    carom_arena arena;  ///< of the arrays
} carom_extent;

carom_status carom_extent_create(const carom_impact *impact, carom_extent **extent, carom_error *error);
void carom_extent_free(carom_extent *extent);
/// Takes the rows of an outcome set in.
void carom_extent_widen(carom_extent *extent, const carom_table *outcomes);
/// Takes in those of the rows that are solutions of the inclusion for certain, without CAROM_FLAG_APPROXIMATE.
void carom_extent_widen_by_members(carom_extent *extent, const carom_table *outcomes);

enum { CAROM_CAVEAT_SIZE = 320 };

/// May outcomes lie outside the set of the inclusion, and why? Walks and exact sets never do, samples of time stepping may. What commands,
/// pages and packages print of such outcomes carries this sentence, or a mark that it explains.
/// @param sizes        of the impact
/// @param approximate  those with CAROM_FLAG_APPROXIMATE, as an extent or joint modes count them
/// @param text         receives a sentence without full stop; empty where none may, or it is not known
/// @return whether some may
bool carom_outcomes_caveat(carom_sizes sizes, int64_t approximate, int64_t outcomes, char text[CAROM_CAVEAT_SIZE]);

CAROM_API_END

#endif
