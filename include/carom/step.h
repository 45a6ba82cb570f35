// SPDX-License-Identifier: Apache-2.0
/// @file
/// The impact step that laws and samplers are made of: the LCP of an impact, and the way back from its solution.
#ifndef CAROM_STEP_H
#define CAROM_STEP_H

#include <stdint.h>

#include "carom/impact.h"
#include "carom/lcp.h"

CAROM_API_BEGIN

typedef enum carom_step_kind {
    CAROM_STEP_SIMULTANEOUS,  ///< Anitescu & Potra: all contacts, no cap
    CAROM_STEP_CAPPED,        ///< Halm & Posa eq. (75): normal impulses limited to lmax
    CAROM_STEP_ONE_CONTACT,   ///< Anitescu & Potra for one contact, of the sequential law
    CAROM_STEP_NEWTON,        ///< Moreau: simultaneous, with Newton restitution; friction may then add energy
} carom_step_kind;

/// Which solution a step returns where it has several with different velocities.
typedef enum carom_selection {
    CAROM_SELECT_LEMKE,      ///< Lemke's, covering vector 1 in rows of speeds and 1 / max W_ij in rows of impulses: canonical
    CAROM_SELECT_ANY,        ///< any verified one
    CAROM_SELECT_RANDOM,     ///< one of the distinct ones, each as likely
    CAROM_SELECT_SCATTERED,  ///< one of those that Lemke's method finds with random covering vectors
    CAROM_SELECT_AUTO,       ///< what carom_step_selection_auto says; a stepper serves that
    CAROM_SELECT_ALL,        ///< for laws that list all: a single step returns the LCP solver's
} carom_selection;

const char *carom_selection_name(carom_selection selection);

/// A way of computing steps: a row of the table below.
typedef struct carom_step_method carom_step_method;

typedef struct carom_stepper_options {
    carom_step_kind kind;
    int contact;     ///< for CAROM_STEP_ONE_CONTACT
    int cone_edges;  ///< k in spatial problems, even, 4..64; ignored in the plane
    carom_selection selection;
    const carom_lcp_solver *solver;   ///< solves the step's LCP
    const carom_step_method *method;  ///< NULL: the first row of carom_step_methods that serves the selection one step at a time
    const double *restitution;        ///< [contacts] for CAROM_STEP_NEWTON, borrowed; NULL: the impact's
    int cookie;                       ///< set by carom_stepper_defaults
} carom_stepper_options;

/// The simultaneous step, four cone edges, selection `lemke`, our Lemke.
carom_stepper_options carom_stepper_defaults(void);

/// How the steps of a law or sampler are solved, as its options say it.
typedef struct carom_step_choice {
    int64_t cone_edges;
    int selection;       ///< a carom_selection
    const char *solver;  ///< name in the registry
} carom_step_choice;

/// Four cone edges, `lemke`, `lemke`.
carom_step_choice carom_step_choice_defaults(void);

/// Names of the selections, NULL-terminated: all of them; those of laws that take one solution at a time; those that need no enumeration.
extern const char *const carom_selection_names[], *const carom_selection_names_one[], *const carom_selection_names_solver[];

/// The option rows of a carom_step_choice that stands as `member` in the option struct `type`; `selections` are the names it takes, and
/// `initial` is the default.
// clang-format off
#define CAROM_STEP_CHOICE_ROWS(type, member, selections, initial)                                                                         \
    {"cone_edges", CAROM_OPTION_INTEGER, offsetof(type, member.cone_edges), CAROM_MIN_CONE_EDGES, CAROM_MAX_CONE_EDGES, "", "4", \
     "edges of the linearised friction cone of spatial contacts, even", NULL},                                                  \
    {"selection", CAROM_OPTION_CHOICE, offsetof(type, member.selection), 0, 0, "", initial,                                      \
     "which solution of a step where it has several", selections},                                                              \
    {"solver", CAROM_OPTION_TEXT, offsetof(type, member.solver), 0, 0, "", "lemke", "LCP solver (carom lcp --list)", NULL}
// clang-format on

/// Stepper options of that choice; the solver is looked up in `registry`.
/// @return CAROM_BAD_INPUT when there is no such solver, or for cone edges out of range
carom_status carom_step_choice_resolve(const carom_step_choice *choice, carom_step_kind kind, const carom_registry *registry,
                                       carom_stepper_options *options, carom_error *error);

/// Is v' proved to be unique in every step that the impact can come to, whatever its caps, and so in the simultaneous step, too? By the
/// orientation of all pieces of the step map (src/step/certificate.c), or for two planar contacts by Farkas' lemma, pair by pair
/// (src/step/cones/unique.c). False may mean that there is no proof.
/// Cost: (k + 3)^m determinants of planar contacts, (3 k + 3)^m in space, up to 30,000; beyond, only frictionless impacts are judged. For
/// two planar contacts 1,225 small linear programs, some 20 ms, if all of them succeed.
carom_status carom_step_prove_unique(const carom_impact *impact, int64_t cone_edges, bool *unique, carom_error *error);

/// The selection of the next function where v' is not proved to be unique: RANDOM or SCATTERED. For single outcomes, which take a hundredth
/// of the time of the proof.
carom_status carom_step_selection_unproved(const carom_impact *impact, int64_t cone_edges, carom_step_kind kind, carom_selection *selection,
                                           carom_error *error);

/// The selection that `auto` stands for: one that leaves out no solution, as fast as that can be. ANY where v' is proved to be unique,
/// RANDOM where the solutions of a step can be listed quickly, otherwise SCATTERED.
/// @param options  of the steppers that will serve it; their selection is not read
carom_status carom_step_selection_auto(const carom_impact *impact, const carom_stepper_options *options, carom_selection *selection,
                                       carom_error *error);

/// What a step did.
typedef struct carom_step_info {
    carom_verdict verdict;
    double residual;  ///< of the step's LCP
    int64_t pivots;
    int fallbacks;         ///< as in carom_lcp_info
    double energy_change;  ///< K(v_next) - K(v) = impulse'(u + u_next)/2 [J]
    int solutions;         ///< distinct v_next of the step, of which this is one; 0: not known
} carom_step_info;

/// The step of one impact with its workspace. Not to be shared between threads.
typedef struct carom_stepper carom_stepper;

/// @return CAROM_BAD_INPUT for a bad contact or number of cone edges, a method that does not serve the selection, or what carom_lcp_create
/// refuses
carom_status carom_stepper_create(const carom_impact *impact, const carom_stepper_options *options, carom_stepper **stepper,
                                  carom_error *error);
void carom_stepper_free(carom_stepper *stepper);

/// The selection that is really served: `any` when the solver is not canonical.
carom_selection carom_stepper_selection(const carom_stepper *stepper);
const carom_lcp_solver *carom_stepper_solver(const carom_stepper *stepper);
const carom_step_method *carom_stepper_method(const carom_stepper *stepper);
/// What computes the steps, as results name it: "lemke:avx512", another LCP solver, "modes".
const char *carom_stepper_path(const carom_stepper *stepper);

/// u = J v, [n]. For the v_next of the last step that carom_stepper_solve took it is known, and only copied.
void carom_stepper_contact_velocity(const carom_stepper *stepper, const double *v, double *u);

/// Size of the step's LCP: m(k+2), m(k+3) when capped, k+2 for one contact.
int carom_stepper_lcp_size(const carom_stepper *stepper);
/// The LCP matrix W, [size x size], rows in the order lam_n, lam_D, gamma (capped: beta first).
const double *carom_stepper_lcp_matrix(const carom_stepper *stepper);
/// The LCP vector w for a velocity and caps.
void carom_stepper_lcp_vector(carom_stepper *stepper, const double *v, const double *lmax, double *w);

/// One impact step: v_next = v + M^-1 J' impulse (eq. 31 simultaneous, eq. 75 capped).
/// @param v        [nv]
/// @param lmax     [contacts] caps >= 0 [N s]; only for CAROM_STEP_CAPPED, otherwise NULL
/// @param v_next   [nv]; may be v; unchanged velocity when the step is unsolved
/// @param impulse  [n] contact-major [N s]; zero when the step is unsolved
/// `info->verdict` is CAROM_COMPLETE only for a step that passed the LCP residual and the physical checks: friction cone,
/// 0 <= lam_n <= lmax, no energy gain. No allocation.
void carom_stepper_solve(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse,
                         carom_step_info *info);

/// The same in contact space, by the LCP solver whatever the method: u_next = u + W impulse, without the mass matrix.
/// @param u_next   [n]; may be u, which it is when the step is unsolved
/// @param impulse  [n]; zero when the step is unsolved
void carom_stepper_solve_contact(carom_stepper *stepper, const double *u, const double *lmax, double *u_next, double *impulse,
                                 carom_step_info *info);

/// Lets the caller stop a step: `control` is polled between combinations of modes and between pivots of our Lemke, borrowed until another
/// is set; NULL: never. A step that was stopped has the verdict CAROM_INTERRUPTED, an enumeration is not complete.
void carom_stepper_watch(carom_stepper *stepper, const carom_control *control);

/// The stream that `random` draws from, borrowed until another is set; without one the first solution is taken.
void carom_stepper_set_stream(carom_stepper *stepper, carom_stream *stream);

/// Receives one solution of a step. An error ends the enumeration.
typedef carom_status (*carom_step_visit)(void *user, const double *v_next, const double *impulse, const carom_step_info *info,
                                         carom_error *error);

/// Every distinct v_next of a step (proved ones differ, others by 1e-8 of the largest contact velocity), by contact modes: per contact
/// open, or stopped or capped with stick, slip along each cone edge, or slip between two (docs/laws.md, "Selection"). For a stepper whose
/// selection is `random` or `all`. Combinations that rigorous bounds do not dismiss are decided exactly, on the doubles of the impact, v
/// and lmax.
/// @param complete  proved: false when velocities form a continuum (the LCP solver's solution is then among them), when one is a solution
///                  by its residual alone, when numbers are too far apart to be decided (7900 bits), or when stopped
/// Cost: (k+2)^m planar combinations, (2k+3)^m capped, about twice the base in space; each a system of at most m(1 + tangent_dim)
/// equations.
carom_status carom_stepper_enumerate(carom_stepper *stepper, const double *v, const double *lmax, carom_step_visit visit, void *user,
                                     bool *complete, carom_error *error);

// ------------------------------------------------------------------------------------------------------- step methods

/// Instruction sets that kernels are compiled for, from the narrowest. All versions of a kernel give the same bits.
typedef enum carom_instructions {
    CAROM_INSTRUCTIONS_SCALAR,
    CAROM_INSTRUCTIONS_PORTABLE,
    CAROM_INSTRUCTIONS_AVX2,
    CAROM_INSTRUCTIONS_AVX512,
    CAROM_INSTRUCTIONS
} carom_instructions;

/// Their names as in `--path NAME:avx2`.
extern const char *const carom_instructions_names[CAROM_INSTRUCTIONS];

/// Does this machine run them?
bool carom_instructions_available(carom_instructions instructions);
/// The widest ones that it runs.
carom_instructions carom_instructions_widest(void);

enum { CAROM_STEP_LANES = 8, CAROM_STEP_MOST_BATCHED = 512, CAROM_STEP_UNSERVED = -1 };
/// For `scattered`, samples whose choice is not below this are left to the stepper, and so to a random covering vector.
#define CAROM_STEP_LEFT_OUT (1 - 1.0 / 1024)

/// Samples that take their steps side by side: entry i of column j is at [j * stride + i], and columns start at cache lines. The stride is
/// a multiple of CAROM_STEP_LANES.
typedef struct carom_step_batch {
    size_t stride;
    double *x;        ///< [n + contacts] columns: contact velocity, contact-major, then caps
    double *impulse;  ///< [n] of the step
    double *u_next;   ///< [n]
    double *gain;     ///< [1] energy change
    int32_t *served;  ///< [stride] CAROM_STEP_UNSERVED, or a number that says how the method served the sample
    double *choice;   ///< [1] numbers in (0, 1) that choose among several solutions; NULL where the method does not choose
    /// [stride] distinct u_next of the served samples, 0: not known; NULL: known of none. The choice was used where there are several.
    int32_t *solutions;
    void *scratch;  ///< the method's
} carom_step_batch;

/// How a method solves the steps of many samples at once. It learns from the steps of some samples; then its state is frozen and shared by
/// all threads. Unserved steps are for carom_stepper_solve_contact, or, where the method chooses among solutions, for carom_stepper_solve.
typedef struct carom_step_batch_method {
    /// @param stepper  capped, borrowed: what the method serves and learns from
    /// @param step     h, the largest cap [N s]
    /// @return CAROM_UNSUPPORTED where the method cannot serve this impact or selection
    carom_status (*create)(carom_stepper *stepper, double step, carom_instructions instructions, void **state, carom_error *error);
    void (*free)(void *state);
    /// How many steps are enough to learn from.
    int (*training_steps)(const void *state);
    /// Solves one step and learns from it. `u_next` may be u; `*solved` is false when the step has no verified solution.
    carom_status (*learn)(void *state, const double *u, const double *lmax, double *u_next, bool *solved, carom_error *error);
    /// The share of steps that the method is expected to serve, judged by what it has learnt so far.
    double (*promise)(const void *state);
    /// Ends the learning.
    carom_status (*freeze)(void *state, carom_error *error);
    /// What runs, as results name it: "cone-map:avx512".
    const char *(*path)(const void *state);
    /// One thread's arrays for at most `capacity` samples, 1 to CAROM_STEP_MOST_BATCHED.
    carom_status (*batch_create)(const void *state, int capacity, carom_step_batch *batch, carom_error *error);
    void (*batch_free)(carom_step_batch *batch);
    /// One step of the first `count` samples, verified as carom_stepper_solve does. What happens to a sample does not depend on its
    /// neighbours.
    /// @param max_residual  raised to the largest residual of a served sample
    /// @return the number of unserved samples
    int (*solve)(const void *state, carom_step_batch *batch, int count, double *max_residual);
} carom_step_batch_method;

/// A way of computing steps, one at a time, many at once, or both.
struct carom_step_method {
    const char *name;     ///< as in `--path`
    const char *summary;  ///< one line for lists
    unsigned selections;  ///< bits 1 << carom_selection: what it serves
    bool has_kernels;     ///< is it compiled for instruction sets, of which `--path NAME:avx2` chooses one
    int least_size;       ///< variables of the step's LCP from which it is taken without being asked for
    /// One step at a time; all NULL for a method of batches alone. `create` makes what the method needs beside the stepper, which `free`
    /// frees; both may be NULL.
    carom_status (*create)(const carom_stepper *stepper, void **state, carom_error *error);
    void (*free)(void *state);
    void (*solve)(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse, carom_step_info *info);
    /// Every distinct v_next, as carom_stepper_enumerate; NULL where the method finds one.
    carom_status (*enumerate)(carom_stepper *stepper, const double *v, const double *lmax, carom_step_visit visit, void *user,
                              bool *complete, carom_error *error);
    const char *(*path)(const carom_stepper *stepper);  ///< as carom_stepper_path
    const carom_step_batch_method *batch;               ///< NULL: one at a time
};

/// The table, NULL-terminated: earlier rows are preferred.
extern const carom_step_method *const carom_step_methods[];

bool carom_step_method_serves(const carom_step_method *method, carom_selection selection);

/// The row that a path means: "auto" (NULL), a method's name, or NAME:scalar, NAME:portable, NAME:avx2, NAME:avx512.
/// @param instructions  those named, or else the widest of this machine
/// @return CAROM_BAD_INPUT for another text, or where the method has no kernels to choose from; CAROM_UNSUPPORTED where the machine lacks
/// the instructions
carom_status carom_step_method_find(const char *path, const carom_step_method **method, carom_instructions *instructions,
                                    carom_error *error);

/// What accompanies the samples of a batch from step to step; columns are as in the batch.
typedef struct carom_step_samples {
    int live;            ///< samples that still run, side by side
    double *total;       ///< [n] impulse so far
    double *slot;        ///< [1] a number that names the sample
    double *ahead;       ///< [ahead_count] numbers drawn ahead
    int ahead_count;     ///< columns of `ahead`
    int done;            ///< samples that have left, in the order in which they left
    double *done_total;  ///< [n]
    double *done_slot;   ///< [1]
} carom_step_samples;

/// Loops over the samples of a batch that every method shares, compiled for an instruction set.
typedef struct carom_step_loops {
    /// The largest gain of the first `count` samples, at least 0.
    double (*largest_gain)(const carom_step_batch *batch, int count);
    /// After a step: total += impulse, u = u_next. Samples leave when none of their contacts has a normal velocity below the approach
    /// limit.
    /// @param stopped  bit l of stopped[g]: sample 8g + l leaves in any case; NULL: none
    void (*advance)(const carom_impact *impact, carom_step_batch *batch, carom_step_samples *samples, const unsigned char *stopped);
    /// Velocities v = v- + M^-1 J' impulse of the first `count` samples, with the sums of carom_impact_apply.
    void (*velocities)(const carom_impact *impact, const double *impulse, size_t stride, int count, double *v);
} carom_step_loops;

extern const carom_step_loops *const carom_step_loops_of[CAROM_INSTRUCTIONS];

/// Columns of zeros, `stride` numbers each, freed by free; NULL when out of memory.
double *carom_step_columns_create(size_t count, size_t stride);

CAROM_API_END

#endif
