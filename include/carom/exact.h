// SPDX-License-Identifier: Apache-2.0
/// @file
/// Exact sets of post-impact velocities of the Halm-Posa impact inclusion, for few planar contacts. In libcarom-exact, which uses the
/// Parma Polyhedra Library and is under GPL-3 terms where it does; a build without PPL says so when asked.
#ifndef CAROM_EXACT_H
#define CAROM_EXACT_H

#include "carom/joint_modes.h"
#include "carom/option.h"
#include "carom/polyhedra.h"

CAROM_API_BEGIN

/// Which set is computed.
typedef enum carom_exact_mode {
    CAROM_EXACT_UNION,  ///< `exact`: the closure of what solutions with finitely many switches reach, as a union of polytopes
    CAROM_EXACT_HULL,   ///< `hull`: a certified outer set, one polytope a cell; ends where `exact` may not
    CAROM_EXACT_EPS,    ///< `eps`: an outer set of every solution, with cells that overlap by a small width
} carom_exact_mode;

/// How a computation ended. X(constant, name, sentence)
#define CAROM_EXACT_STATUS_LIST(X)                                                                                                         \
    X(CAROM_EXACT_OK, "ok", "the set is complete")                                                                                         \
    X(CAROM_EXACT_INCOMPLETE, "incomplete", "a budget was spent before the fixpoint")                                                      \
    X(CAROM_EXACT_TERMINAL_START, "terminal-start", "no contact approaches: the velocity stays what it is")                                \
    X(CAROM_EXACT_UNBOUNDED, "unbounded", "a piece has a ray: the friction cone is not pointed, or the data are wrong")                    \
    X(CAROM_EXACT_TOO_LARGE, "too-large", "the problem has more contacts or velocities than rational arithmetic can serve")                \
    X(CAROM_EXACT_BAD_DATA, "bad-data", "the data are no impact in rational numbers")

#define CAROM_EXACT_ENTRY(constant, name, sentence) constant,
typedef enum carom_exact_status { CAROM_EXACT_STATUS_LIST(CAROM_EXACT_ENTRY) } carom_exact_status;
#undef CAROM_EXACT_ENTRY

const char *carom_exact_status_name(carom_exact_status status);
const char *carom_exact_status_sentence(carom_exact_status status);

/// Contacts up to which sets are usually finished; `compare` asks for no more.
enum { CAROM_EXACT_USUAL_CONTACTS = 3 };
/// Sizes up to which a computation is tried at all.
enum { CAROM_EXACT_MOST_CONTACTS = 5, CAROM_EXACT_MOST_VELOCITIES = 128 };

/// Contacts in space up to which sets of linearised friction cones are computed.
enum { CAROM_EXACT_MOST_SPATIAL_CONTACTS = 2 };
/// Vertices of a start up to which a computation is tried.
enum { CAROM_EXACT_MOST_STARTS = 4096 };

/// A polytope of velocities before the impact: the hull of some of them, for those that are only known to lie there.
typedef struct carom_exact_start {
    int count;                 ///< at least 1
    const double *vertices;    ///< [count x nv] [m/s or rad/s]
    const char *const *texts;  ///< [count x nv] the same as "p/q" or decimals, taken exactly; NULL: rounded as the impact's doubles are
} carom_exact_start;

/// What restitution means in an exact set.
typedef enum carom_exact_hypothesis {
    CAROM_EXACT_INELASTIC,  ///< `none`: contacts do not bounce, whatever their coefficients are
    CAROM_EXACT_POISSON,    ///< `poisson`: a contact gives back e times the normal impulse of its compressions; energy may grow
} carom_exact_hypothesis;

/// A computed set. Everything belongs to it.
typedef struct carom_exact_set {
    carom_exact_status status;
    char reason[CAROM_MESSAGE_SIZE];  ///< one sentence on a status that is not `ok`, and what to do, or on an outer set that need not
                                      ///< shrink; "" otherwise
    int dimension;                    ///< of the contact space that can be reached: the rank of J
    int64_t cone_edges;  ///< 0: the contacts are planar; otherwise the set is one of linearised friction cones of so many edges
    int64_t elapses;     ///< pieces that were elapsed within a cell
    int64_t bits;        ///< of the largest coefficient
    double data_change;  ///< largest rounding of a number of the impact, over its scale; 0: all were exact
    double seconds;
    /// What `pieces` are of the set: "exact"; "inner", of an incomplete run; "outer", with another mode or an interval of friction; "none".
    const char *certificate;
    /// Mode `exact`: the set, or a certified inner set when incomplete. Other modes: a certified outer set when `ok`, otherwise empty.
    carom_polyhedra *pieces;
    carom_polyhedra *outer;  ///< a certified outer set that an incomplete run found; NULL for none
    /// Where asked for, what solutions pass through on their way, the set included: pieces, one list for all cells. Of it `certificate`
    /// holds as of `pieces`, and an incomplete run of mode `exact` without intervals of friction has an inner one. NULL for none.
    carom_polyhedra *reached;
} carom_exact_set;

typedef struct carom_exact_options {
    int mode;            ///< a carom_exact_mode
    int64_t cone_edges;  ///< K of spatial contacts, even, 4 to 64: the set is that of linearised friction cones; 0: round cones, refused
    double seconds;      ///< budget of time of the whole run [s], > 0
    int64_t pieces;      ///< most polyhedra in memory, >= 1
    int64_t bits;        ///< most bits of a coefficient, >= 64
    int hypothesis;      ///< a carom_exact_hypothesis; with restitution the mode is CAROM_EXACT_UNION
    double restitution;  ///< of all contacts, in [0, 1], taken as the shortest decimal of the double; NaN: each contact's own
    double gain;         ///< budget of energy with restitution: largest of a piece that is continued, over that before the impact, >= 1
    double cover;        ///< of mode `eps`: width of the overlap, over the largest pre-impact contact velocity, in (0, 1]
    /// Where the velocity before the impact is uncertain, the polytope that it lies in: the set is then the closure of the union of all
    /// sets from there. NULL: the impact's velocity. Borrowed.
    const carom_exact_start *start;
    /// Where friction is uncertain, [contacts] intervals of it: an outer set of all sets for coefficients within, since those may also
    /// change during the impact; where all intervals are of one number, the set for these. NULL: the impact's coefficients. Borrowed.
    const carom_interval *friction;
    /// With a start: contact velocities alone, without what no impulse changes, which costs a dimension for each direction in which the
    /// velocities of the start differ. The velocities of vertices are then those that go with the first vertex of the start.
    bool contacts_only;
    bool reached;           ///< keep what solutions pass through, too
    carom_exact_set **set;  ///< of the law: receives the set itself, to be freed by the caller; NULL: not wanted
    /// Receives the joint modes that the pieces of a set meet that is finished. A run that stops while it looks for them is incomplete, and
    /// has some. NULL: not wanted.
    carom_joint_modes *modes;
} carom_exact_options;

/// Mode `exact`, 30 s, 10,000 polyhedra, 8192 bits, no restitution, gain 1e12, cover 1e-3.
carom_exact_options carom_exact_defaults(void);

/// Options of the law `halm-posa-exact`.
typedef carom_exact_options carom_halm_posa_exact_options;
carom_halm_posa_exact_options carom_halm_posa_exact_defaults(void);

enum { CAROM_EXACT_ROWS = 8 };
extern const carom_option carom_exact_rows[CAROM_EXACT_ROWS];

/// False in a build without PPL, where carom_exact_solve returns CAROM_UNSUPPORTED.
bool carom_exact_available(void);
/// The version of PPL, such as "1.2"; NULL in a build without it.
const char *carom_exact_ppl_version(void);

/// The set of post-impact velocities of dv/ds in M^-1 conv { Jn_i' - mu_i e Jt_i' : Jn_i v <= 0, e in Sgn(Jt_i v) } from v-, stopped when
/// no contact approaches (the impact inclusion of Halm & Posa 2023), for planar contacts, in exact rational arithmetic.
///
/// With Poisson's hypothesis each contact also gives back e_i times the normal impulse that compressed it, and the set ends where nothing
/// is owed (docs/restitution.md). Such a set may gain energy, and be unbounded: it then ends as CAROM_EXACT_INCOMPLETE, without an outer
/// set.
///
/// Numbers that the impact has as text are taken exactly. Of others, those within 2^-31 of their column's scale become equal, and then all
/// are rounded to 2^-40 of it. Spent budgets are a status, with a certified inner set and, where one was found, an outer one: hulls of the
/// cells, or the impulse cone cut by the energy.
///
/// A polytope of velocities before the impact is a start like any other: each cell begins with the part that lies in it, and the part where
/// no contact approaches belongs to the set. Where v- is not determined by the contact velocities, pieces also know what no impulse
/// changes: their vertices are then those of the velocities, and several may have the same contact velocities.
/// @return CAROM_UNSUPPORTED without PPL and for spatial contacts; CAROM_BAD_INPUT for options out of range
/// Cost: milliseconds to seconds for two or three contacts; 4^contacts cells. One call at a time runs in a process, others wait. The
/// caller's rounding mode and signal handlers are left alone.
carom_status carom_exact_solve(const carom_impact *impact, const carom_exact_options *options, const carom_control *control,
                               carom_exact_set **set, carom_error *error);
void carom_exact_set_free(carom_exact_set *set);
/// Nothing of the set is missing.
bool carom_exact_set_complete(const carom_exact_set *set);
/// The set is complete, and one velocity.
bool carom_exact_set_unique(const carom_exact_set *set);

/// The law `halm-posa-exact`. Its outcomes are the vertices of `pieces`.
extern const struct carom_law carom_exact_law;
/// The vertices of `outer` as outcomes, under a name of their own, as result files hold them. The option `set` is where the set is read
/// from. In no registry.
/// @return (resolve) CAROM_BAD_INPUT where there is no outer set
extern const struct carom_law carom_exact_outer_law;

/// The vertices of `reached`, likewise.
extern const struct carom_law carom_exact_reached_law;

/// Adds the law `halm-posa-exact`; in a build without PPL it is there to say so when asked for by name.
carom_status carom_exact_register(carom_registry *registry, carom_error *error);

CAROM_API_END

#endif
