// SPDX-License-Identifier: Apache-2.0
/// @file
/// Linear complementarity problems: solvers as table rows, their one verifier, enumeration.
#ifndef CAROM_LCP_H
#define CAROM_LCP_H

#include "carom/base.h"
#include "carom/loop.h"

CAROM_API_BEGIN

/// What a solve did. Counts are of this call.
typedef struct carom_lcp_info {
    carom_verdict verdict;  ///< CAROM_COMPLETE only when the residual passes
    double residual;        ///< by carom_lcp_residual, independent of the solver; infinite when there is no candidate
    int64_t pivots;         ///< pivots or iterations
    int fallbacks;          ///< rungs of the solver's ladder beyond the first
} carom_lcp_info;

/// Residuals above this are not solutions: double-precision pivoting reaches 1e-15, iterative solvers about 1e-7.
#define CAROM_LCP_TOLERANCE 1e-9
/// Where z, in units, exceeds w by this factor, w is lost in the round-off of W z, and a small residual means nothing.
#define CAROM_LCP_MOST_AMPLIFICATION 1e12

/// Fills [n x n] with what W has rounded off: W + rest has twice its digits.
typedef void (*carom_lcp_rest)(void *user, double *rest);

/// A solver of 0 <= z _|_ W z + w >= 0, as a table row. `create` binds to one W; our own solvers do not allocate in `solve`.
typedef struct carom_lcp_solver {
    const char *name;
    const char *summary;
    bool canonical;  ///< Lemke's method for any covering vector, lexicographic: the selection `lemke`
    int max_size;    ///< largest n that makes sense; 0: no limit
    int attempts;    ///< ways of solving, tried in turn; 0 counts as 1
    /// [attempts] residual, also in the problem's own units, that ends the search; the best of all attempts is taken where none reaches its
    /// goal. NULL: the first attempt counts
    const double *goals;
    const void *method;  ///< the solver's own, for `create`: what distinguishes rows that share their functions
    carom_status (*create)(const struct carom_lcp_solver *row, int n, const double *W, void **state, carom_error *error);
    /// Writes z and the verdict, pivots and fallbacks of `info`. Attempt k follows on attempt k - 1, for the same w, and finds its z.
    /// Never trusted: the caller verifies.
    void (*solve)(void *state, int attempt, const double *w, double *z, carom_lcp_info *info);
    void (*free)(void *state);
    /// Takes another covering vector; NULL for a solver that has none.
    void (*cover)(void *state, const double *covering);
    /// Takes a source of what W has rounded off; NULL for a solver that does not use it.
    void (*sharpen)(void *state, carom_lcp_rest fill, void *user);
    /// Takes whom to ask, now and then, whether to stop `solve` with CAROM_INTERRUPTED; NULL for a solver that does not.
    void (*watch)(void *state, const carom_control *control);
} carom_lcp_solver;

/// An LCP matrix bound to a solver. Not to be shared between threads.
typedef struct carom_lcp carom_lcp;

enum { CAROM_MAX_LCP = 16384 };

/// @param W  [n x n], copied
/// @return CAROM_BAD_INPUT for sizes, non-finite entries, or n above the solver's max_size; CAROM_UNSUPPORTED when the library lacks the
/// solver
carom_status carom_lcp_create(const carom_lcp_solver *solver, int n, const double *W, carom_lcp **lcp, carom_error *error);
void carom_lcp_free(carom_lcp *lcp);
/// Does this machine have the solver? Some rows are there only to say, when asked for by name, that a library lacks theirs.
bool carom_lcp_available(const carom_lcp_solver *solver);

/// The covering vector d of Lemke's method, which solves w + W z + d z_0 for a falling z_0: where there are several solutions, it decides
/// which of them is found. Ones until it is set. The solver forgets what it has learnt with another vector.
/// @param covering  [n] positive and finite; NULL: ones
/// @return false, and nothing changes, for an entry that is not, or where the solver has no covering vector
/// Cost: O(n). No allocation.
bool carom_lcp_cover(carom_lcp *lcp, const double *covering);

/// Tells the solver where the digits are that W has rounded off. Asked for at most once, when a problem needs them: where W is a sum of
/// large and small terms, rounding can make it another problem.
void carom_lcp_sharpen(carom_lcp *lcp, carom_lcp_rest fill, void *user);

/// Lets the caller stop carom_lcp_solve, which then has the verdict CAROM_INTERRUPTED and no candidate. Quadruple precision can take
/// minutes. `control` is borrowed until another is set; NULL: never.
void carom_lcp_watch(carom_lcp *lcp, const carom_control *control);

/// Solves for one w, verifies, and fills `info`. z is defined on every exit (zero when there is no candidate).
/// A w that is not finite gives CAROM_UNVERIFIED with an infinite residual. No allocation; not thread-safe on one handle.
void carom_lcp_solve(carom_lcp *lcp, const double *w, double *z, carom_lcp_info *info);

/// Both residuals of any z, as carom_lcp_solve judges them: of carom_lcp_residual and carom_lcp_relative_residual, infinite where z exceeds
/// w by CAROM_LCP_MOST_AMPLIFICATION. Is z a solution?
bool carom_lcp_verify(carom_lcp *lcp, const double *w, const double *z, double *residual);
/// The units that this handle measures y and z in.
void carom_lcp_get_units(const carom_lcp *lcp, double *y_unit, double *z_unit);

/// max_i |min(z_i, (Wz+w)_i)| / (1 + ||w||_inf); infinite when anything is not finite. The one verifier.
double carom_lcp_residual(int n, const double *W, const double *w, const double *z);

/// Receives one solution. An error ends the enumeration.
typedef carom_status (*carom_lcp_visit)(void *user, const double *z, double residual, carom_error *error);

enum { CAROM_LCP_MOST_ENUMERATED = 22 };

/// Every isolated solution, by its complementary bases: for each subset a with W_aa regular, z_a = -W_aa^-1 w_a where the signs allow it.
/// Bases that signs and rigorous bounds do not dismiss are decided exactly, for W and w as the doubles they are; a singular basis with a
/// single solution has it listed. Solutions all of whose entries agree to 1e-8 are one.
/// @param complete  proved: false when there is a segment of solutions, when a listed z is a solution by its residual alone, or when
///                  numbers are too far apart to be decided (7900 bits)
/// @return CAROM_BAD_INPUT when n is above CAROM_LCP_MOST_ENUMERATED, or a number is not finite
/// Cost: 2^n inversions of size n/2: tens of milliseconds at n = 12, seconds at n = 20.
carom_status carom_lcp_enumerate(int n, const double *W, const double *w, carom_lcp_visit visit, void *user, bool *complete,
                                 carom_error *error);
/// The same, and polls `control` (may be NULL): what was found until then is reported, and is not complete.
carom_status carom_lcp_enumerate_watched(int n, const double *W, const double *w, const carom_control *control, carom_lcp_visit visit,
                                         void *user, bool *complete, carom_error *error);

// ----------------------------------------------------------------------------------------------------------- our Lemke

/// Our Lemke: condensed tableau, lexicographic ratio test, any covering vector, final basis solved again and refined. The registry also
/// has it held to one instruction set: `lemke:scalar`, `lemke:portable`, `lemke:avx2`, `lemke:avx512`. All give the same bits; an
/// instruction set without a kernel of its own runs the next lower one, and `create` returns CAROM_UNSUPPORTED where the machine lacks the
/// instructions.
extern const carom_lcp_solver carom_lcp_lemke;

/// Name of the kernel that `lemke` uses on this machine, the fastest: "lemke:avx2", ...
const char *carom_lcp_lemke_path(void);

/// Tolerances of its first rung, which solves nearly all problems: pivots below this share of their column's largest entry are zero, and
/// ratios closer than this share of the round-off scale are equal.
#define CAROM_LEMKE_PIVOT_TOLERANCE 1e-9
#define CAROM_LEMKE_TIE_TOLERANCE   1e-10
/// Lemke's method takes about 2n pivots; the limit only bounds a run whose tolerances broke the lexicographic order.
enum { CAROM_LEMKE_PIVOTS_PER_ROW = 50 };

/// [n] which z are basic in the candidate that carom_lcp_solve returned last; NULL where the solver is not `lemke` or one of its
/// instruction sets.
const bool *carom_lcp_lemke_basic(const carom_lcp *lcp);

/// Solves W_aa z_a = -w_a for those z, of any w; the other z are zero. For iterative refinement whose residuals are known better than
/// W z + w. False, and z left alone, when W_aa is singular.
bool carom_lcp_lemke_solve_basis(carom_lcp *lcp, const double *w, double *z);

/// One run of Lemke's method with the tolerances above and all units one: no ladder, and no residual. For certificates, which verify in
/// their own way what z proves. Entries of z may be negative by round-off; `*z` is zero for w >= 0.
/// @return CAROM_COMPLETE, CAROM_RAY, CAROM_BUDGET_SPENT; CAROM_UNVERIFIED when there was no memory
carom_verdict carom_lcp_lemke_once(int n, const double *W, const double *w, double *z);

/// Adds the core's LCP solvers.
carom_status carom_solvers_register(carom_registry *registry, carom_error *error);
/// Adds `siconos-lemke` and the other solvers of Siconos Numerics. In libcarom-siconos.
carom_status carom_siconos_register(carom_registry *registry, carom_error *error);

// --------------------------------------------------------------------------------------------------------------------- units of tolerances

/// Sizes of y_i and z_i, powers of two, such that W_ij z_unit_j / y_unit_i is of the order of one where it is not zero. An impact LCP mixes
/// impulses and speeds, and a mass of 1e-9 kg makes them differ by as much.
/// @param y_unit, z_unit  [n]
void carom_lcp_units(int n, const double *W, double *y_unit, double *z_unit);

/// The residual in these units: max_i |min(z_i / z_unit_i, y_i / y_unit_i)| over the largest of |w_i| / y_unit_i and |z_i| / z_unit_i.
/// Infinite when anything is not finite; 0 for w = 0 and z = 0. Multiplying w, rows or columns changes nothing.
double carom_lcp_relative_residual(int n, const double *W, const double *w, const double *z, const double *y_unit, const double *z_unit);

// ---------------------------------------------------------------------------------------------------------------- the equations of a basis

/// Workspace for one W. Not to be shared between threads.
typedef struct carom_lcp_basis carom_lcp_basis;

/// @param W  [n x n], borrowed for the life of the workspace
carom_status carom_lcp_basis_create(int n, const double *W, carom_lcp_basis **basis, carom_error *error);
void carom_lcp_basis_free(carom_lcp_basis *basis);

/// Solves W_aa z_a = -w_a for the indices a with basic[a], refined; the other z are zero. False, and z left alone, when W_aa is singular.
bool carom_lcp_basis_solve(carom_lcp_basis *basis, const bool *basic, const double *w, double *z);

/// The same, and keeps in z whichever of the two, the given z or the solution, has the smaller residual.
/// Round-off below zero is clipped, in z too: impulses are non-negative.
/// @return the residual of z
double carom_lcp_basis_polish(carom_lcp_basis *basis, const bool *basic, const double *w, double *z);

CAROM_API_END

#endif
