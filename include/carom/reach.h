// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sets of post-impact velocities of the Halm-Posa impact inclusion, approximated by sampling.
#ifndef CAROM_REACH_H
#define CAROM_REACH_H

#include "carom/step.h"
#include "carom/uncertain.h"

CAROM_API_BEGIN

// ----------------------------------------------------------------------------------------------------- one solution

/// The numbers by which a solution was made: see below.
typedef struct carom_tape carom_tape;

/// What samples did: of one of them, or the sums over many.
typedef struct carom_sample_counts {
    int64_t samples;         ///< finished
    int64_t terminated;      ///< samples that ended without approaching contacts
    int64_t unsolved;        ///< samples that met a step without verified solution; their velocity is that before it
    int64_t closed;          ///< samples that terminated only by the closing step of Algorithm 2
    int64_t approximate;     ///< terminated ones with a step that may leave the set by O(h); the others are solutions
    int64_t steps;           ///< impact steps, without closing ones; straight pieces of walks
    double steps_squared;    ///< sum of squares over the samples: whole numbers below 2^53, exact in any order
    int64_t fallbacks;       ///< steps that needed more than the solver's first rung
    int64_t looked_up;       ///< steps that a method of batches served
    int64_t listed;          ///< steps of which it is known whether they have several solutions with different velocities
    int64_t several;         ///< steps that have several
    double max_residual;     ///< over all steps
    double max_energy_gain;  ///< largest energy change of a step, >= 0 [J]
} carom_sample_counts;

/// Adds `part` to `total`; of residuals and gains the larger counts.
void carom_sample_counts_add(carom_sample_counts *total, const carom_sample_counts *part);

/// Solves single samples of the discretised inclusion, step by step: `Sim` of Algorithm 1. With its workspace; not to be shared between
/// threads.
typedef struct carom_time_stepping carom_time_stepping;

/// How the caps of a step are drawn; all draws are solutions of the same inclusion.
typedef enum carom_draw {
    CAROM_DRAW_UNIFORM,     ///< uniform in [0,h]^m, independent: the paper's
    CAROM_DRAW_CORRELATED,  ///< a direction held for some steps, half of them near a single contact: covers the set at small h
    CAROM_DRAW_SINGLE,      ///< nearly all on one contact, another one each step
} carom_draw;

/// Names of the draws, NULL-terminated.
extern const char *const carom_draw_names[];

/// @param step       h > 0 [N s]
/// @param max_steps  N >= 1
carom_status carom_time_stepping_create(const carom_impact *impact, const carom_stepper_options *stepper, double step, int64_t max_steps,
                                        carom_draw draw, carom_time_stepping **stepping, carom_error *error);
void carom_time_stepping_free(carom_time_stepping *stepping);

/// One sample from the pre-impact velocity: caps in [0,h]^m drawn from the stream (seed, index), until no contact approaches or max_steps
/// are spent.
/// @param v        [nv] receives the last velocity
/// @param impulse  [n] receives the accumulated impulse, contact-major
/// @return CAROM_COMPLETE for a sample that terminated, CAROM_BUDGET_SPENT after max_steps, CAROM_UNVERIFIED for one that met an unsolved
/// step, CAROM_INTERRUPTED when the caller asked to stop
carom_verdict carom_time_stepping_run(carom_time_stepping *stepping, int64_t seed, int64_t index, double *v, double *impulse,
                                      carom_sample_counts *counts);

/// carom_time_stepping_run with numbers of a tape, whose pieces are steps: caps as shares of h, and one number for the selection of each
/// step that needs it. Where the tape has none, caps are those of the draw, and the number is one of the stream (seed, index).
/// @param played, recorded  as of carom_walker_play
carom_verdict carom_time_stepping_play(carom_time_stepping *stepping, const carom_tape *played, int64_t seed, int64_t index, double *v,
                                       double *impulse, carom_tape *recorded, carom_sample_counts *counts);

/// The closing step of Algorithm 2: one more step with every cap at `cap` [N s]. Updates v, impulse and everything but the steps in the
/// counts of the sample. A sample that has ended is left alone: v' = v solves its step (Lemma 8), whatever else may.
void carom_time_stepping_close(carom_time_stepping *stepping, double cap, double *v, double *impulse, carom_sample_counts *counts);

const carom_stepper *carom_time_stepping_stepper(const carom_time_stepping *stepping);

/// Runs from now on poll `control` before every step, and between the combinations of an enumeration. Borrowed; NULL: never.
void carom_time_stepping_watch(carom_time_stepping *stepping, const carom_control *control);

/// Makes runs from now on record their contact velocities, or stop doing so.
carom_status carom_time_stepping_record(carom_time_stepping *stepping, bool record, carom_error *error);
/// The trace of the last run, [rows x n] contact-major: contact velocities before the impact, then after every step. NULL with `*rows` 0
/// when not recorded, or when there was no memory for it.
const double *carom_time_stepping_trace(const carom_time_stepping *stepping, int *rows);
/// The accumulated impulses of the same rows, [rows x n] contact-major [N s].
const double *carom_time_stepping_impulses(const carom_time_stepping *stepping, int *rows);

// ------------------------------------------------------------------------------------------------------ one walk

/// What restitution means for several contacts: docs/restitution.md.
typedef enum carom_hypothesis {
    CAROM_HYPOTHESIS_NONE,     ///< inelastic, whatever the coefficients are: the inclusion of Halm & Posa
    CAROM_HYPOTHESIS_STRONGE,  ///< energetic: a contact gives back e^2 of the work that its compressions have stored; energy never grows
    CAROM_HYPOTHESIS_POISSON,  ///< kinetic: e times the normal impulse of its compressions; several contacts may gain energy
} carom_hypothesis;

/// Names of the hypotheses, NULL-terminated.
extern const char *const carom_hypothesis_names[];

/// In which proportions the contacts of a walk share the normal impulse.
typedef enum carom_weights {
    CAROM_WEIGHTS_MIXED,     ///< new random ones on every piece: covers the set
    CAROM_WEIGHTS_CONSTANT,  ///< one random proportion for a whole impact, of whichever contacts are active
    CAROM_WEIGHTS_SINGLE,    ///< one contact at a time, until it neither approaches nor has anything left to give back
} carom_weights;

/// Names of the weights, NULL-terminated.
extern const char *const carom_weights_names[];

/// Restitution in a set.
typedef struct carom_rebound_options {
    int hypothesis;              ///< a carom_hypothesis
    carom_interval restitution;  ///< of every contact, drawn for each contact and sample, within [0, 1]; NaN: the impact's coefficients
} carom_rebound_options;

/// What the series column `bounces` holds for each contact.
enum { CAROM_REBOUND_STORED, CAROM_REBOUND_RESTORED, CAROM_REBOUND_COMPRESSIONS, CAROM_REBOUND_RESTITUTION, CAROM_REBOUND_FIELDS };

/// Walks from the pre-impact velocity to the end of the impact. With its workspace; not to be shared between threads.
typedef struct carom_walker carom_walker;

/// How walks go.
typedef struct carom_walker_options {
    int64_t max_steps;  ///< straight pieces of one walk, >= 1
    int weights;        ///< a carom_weights
    carom_rebound_options rebound;
    double tolerance;  ///< of the curved pieces of walks in space, relative to the velocity scale of the impact; 0: CAROM_WALK_TOLERANCE
} carom_walker_options;

/// The default of the tolerance of walks in space, and its range.
#define CAROM_WALK_TOLERANCE       1e-8
#define CAROM_WALK_LEAST_TOLERANCE 1e-12
#define CAROM_WALK_MOST_TOLERANCE  1e-3

/// @return CAROM_BAD_INPUT for options out of range
carom_status carom_walker_create(const carom_impact *impact, const carom_walker_options *options, carom_walker **walker,
                                 carom_error *error);
void carom_walker_free(carom_walker *walker);

/// One solution of dv/ds in D(v) (Halm & Posa, section 3; with restitution docs/restitution.md), random by the stream (seed, index): on
/// each piece the active contacts share the normal impulse with random constant weights, and friction follows. Its end is a point of the
/// set up to rounding, in space up to the tolerance.
/// @param v        [nv] receives the last velocity
/// @param impulse  [n] receives the accumulated impulse, contact-major
/// @param counts   `steps` are straight pieces; there are no residuals
/// @return CAROM_COMPLETE, CAROM_BUDGET_SPENT after max_steps, or CAROM_INTERRUPTED
carom_verdict carom_walker_run(carom_walker *walker, int64_t seed, int64_t index, double *v, double *impulse, carom_sample_counts *counts);

/// What the contacts stored and gave back in the last run, and with which restitution, [CAROM_REBOUND_FIELDS * contacts]; NULL without
/// restitution.
const double *carom_walker_bounces(const carom_walker *walker);

/// A number in (0, 1) that a walk has used, or is to use, for one decision.
typedef struct carom_tape_number {
    int32_t piece;  ///< 0 before the first piece, where coefficients and proportions are drawn; then 1, 2, ...; or CAROM_TAPE_POINT
    int32_t what;   ///< which decision on the piece: a carom_tape_decision, times the contacts, plus the contact
    double value;
} carom_tape_number;

/// In place of a piece: `what` is a coordinate of the point of an uncertain impact (carom/uncertain.h). Walks pass over it.
enum { CAROM_TAPE_POINT = -1 };

/// What the numbers of a tape decide. All but the first three are of one contact.
typedef enum carom_tape_decision {
    CAROM_TAPE_SETTLE,       ///< does a long walk go straight on?
    CAROM_TAPE_WHOLE,        ///< does the piece go on to the next event?
    CAROM_TAPE_LENGTH,       ///< how far towards it, otherwise
    CAROM_TAPE_ALONE,        ///< is it the one that takes part, should no other?
    CAROM_TAPE_PART,         ///< does it take part?
    CAROM_TAPE_OCTAVE,       ///< its weight: 2^-octave,
    CAROM_TAPE_MANTISSA,     ///< times a number from 1 to 2
    CAROM_TAPE_HOLD,         ///< is it held at n_i v = 0?
    CAROM_TAPE_LEAST,        ///< with the least weight?
    CAROM_TAPE_LIGHTEN,      ///< does it get a smaller weight where it would open?
    CAROM_TAPE_LIGHTER,      ///< by which factor
    CAROM_TAPE_RESTITUTION,  ///< its coefficient in an interval
    CAROM_TAPE_EXTREME,      ///< Poisson's rate at n_i = 0: an extreme one?
    CAROM_TAPE_SHARE,        ///< which one, otherwise
    CAROM_TAPE_CAP,          ///< time stepping, with steps for pieces: its cap, as a share of h
    CAROM_TAPE_SELECT,       ///< which solution of the step, where it has several
    CAROM_TAPE_SAMPLER,      ///< of a search among both: time stepping, or a walk?
    CAROM_TAPE_DECISIONS
} carom_tape_decision;

/// The numbers of one walk, in the order in which it used them: a walk is a function of them. All zero is an empty tape.
struct carom_tape {
    carom_tape_number *numbers;  ///< [count], by pieces
    int64_t count, capacity;
    bool failed;  ///< there was no memory for some numbers
};

/// Adds a number at the end.
void carom_tape_add(carom_tape *tape, carom_tape_number number);
/// Makes `copy` equal to `tape`.
void carom_tape_copy(const carom_tape *tape, carom_tape *copy);
void carom_tape_release(carom_tape *tape);

/// carom_walker_run with numbers of a tape: on each piece a decision takes the next number for it that the tape has for this piece, and
/// one of the stream (seed, index) where there is none. Numbers that nobody asks for are passed over.
/// @param played    NULL: all numbers are the stream's, as carom_walker_run takes them
/// @param recorded  receives all numbers that were used, by which the walk can be played again with the same bits; NULL: not wanted
carom_verdict carom_walker_play(carom_walker *walker, const carom_tape *played, int64_t seed, int64_t index, double *v, double *impulse,
                                carom_tape *recorded, carom_sample_counts *counts);

/// Runs from now on poll `control` before every piece. Borrowed; NULL: never.
void carom_walker_watch(carom_walker *walker, const carom_control *control);

/// Makes runs from now on record their contact velocities, or stop doing so.
carom_status carom_walker_record(carom_walker *walker, bool record, carom_error *error);
/// The trace of the last run, [rows x n] contact-major: before the impact, then after every piece. NULL with `*rows` 0 when not recorded,
/// or when there was no memory for it.
const double *carom_walker_trace(const carom_walker *walker, int *rows);
/// The accumulated impulses of the same rows, [rows x n] contact-major [N s].
const double *carom_walker_impulses(const carom_walker *walker, int *rows);

// ------------------------------------------------------------------------------------------------------- sampled sets

/// How solutions of the inclusion are sampled.
typedef enum carom_sampler {
    CAROM_SAMPLER_LCP,   ///< time stepping with random caps, Algorithm 1: any contacts; samples may leave the set by O(h)
    CAROM_SAMPLER_WALK,  ///< event-exact random solutions without a step; samples lie in the set up to rounding, in space up to a tolerance
    CAROM_SAMPLER_AUTO,  ///< planar contacts: time stepping for even indices, walks for odd ones; spatial contacts: time stepping
} carom_sampler;

/// Names of the samplers, NULL-terminated.
extern const char *const carom_sampler_names[];

typedef struct carom_sample_options {
    int64_t samples;  ///< number of samples, >= 1
    int64_t paths;    ///< samples, the first ones, whose traces are kept: the option and column `path`
    double epsilon;   ///< closing step of Algorithm 2 [m/s], 0 < epsilon < h; NaN: none (Algorithm 1)
    int64_t seed;
    double step;                    ///< h, largest normal impulse of a contact in one step [N s]; NaN: auto
    int draw;                       ///< a carom_draw
    int sampler;                    ///< a carom_sampler; walks use samples, paths and seed alone, and max_steps where all samples are walks
    int64_t max_steps;              ///< N, steps after which a sample counts as not terminated; 0: carom_sample_max_steps
    const char *path;               ///< the step method: "auto", or as carom_step_method_find takes it, "lemke:avx2"
    int weights;                    ///< a carom_weights, of walks
    carom_rebound_options rebound;  ///< with a hypothesis all samples are walks
    double tolerance;               ///< of the curved pieces of walks in space, relative to the velocity scale of the impact
    carom_step_choice method;       ///< how steps are solved
    int64_t nested;                 ///< draws of the parameters of an uncertain impact; 0: one for each sample
    /// What is not known of the impact that is sampled; NULL: everything is known. Borrowed.
    const carom_uncertainty *uncertainty;
} carom_sample_options;

/// 16,384 inelastic samples of the sampler auto, selection auto, seed 0, step auto, max_steps auto, no closing step.
carom_sample_options carom_sample_defaults(void);

/// The N that these options mean: max_steps where it is set, otherwise 100 steps, or 10,000 straight pieces where all samples are walks.
int64_t carom_sample_max_steps(const carom_sample_options *options);

/// The option rows of the struct above; the first CAROM_SAMPLE_SET_ROWS only make sense for more than one sample.
enum { CAROM_SAMPLE_SET_ROWS = 5, CAROM_SAMPLE_ROWS = 17 };
extern const carom_option carom_sample_rows[CAROM_SAMPLE_ROWS];

/// How the options solve the steps of one impact.
typedef struct carom_sample_method {
    carom_stepper_options stepper;  ///< with the selection that `auto` stands for
    double step;                    ///< h, with the number that `auto` stands for [N s]
    bool unique;                    ///< certified: every step has one v', whatever serves it
} carom_sample_method;

/// The selection `auto` is what carom_step_selection_auto says, as far as the path serves it: otherwise `scattered`, or else `any`. With
/// another solver than our Lemke it is `any`.
/// @return CAROM_BAD_INPUT for an unknown path or solver
carom_status carom_sample_resolve_method(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                         carom_sample_method *method, carom_error *error);

/// Room for what statistics say of the path.
enum { CAROM_SAMPLE_PATH_SIZE = 64 };

/// What sampling did, over all finished samples.
typedef struct carom_sample_statistics {
    carom_verdict verdict;                         ///< CAROM_COMPLETE, CAROM_INTERRUPTED; CAROM_INCOMPLETE: unsolved samples
    int64_t requested;                             ///< samples asked for
    carom_sample_counts counts;                    ///< of the finished ones
    int64_t walks;                                 ///< how many of them are walks
    int64_t draws;                                 ///< impacts that were drawn; 0 where everything is known
    int64_t lcp_solves;                            ///< without closing steps; 0 for walks, which solve no LCP
    double lcps_per_sample, lcps_per_sample_ci95;  ///< mean over the time-stepped samples, and half width of its 95 % confidence interval
    double nonunique_share;                        ///< of steps that have several solutions with different velocities; NaN: not known
    double max_relative_energy_gain;               ///< over all steps, relative to K(v-); 0 when energy never grew
    double step;                                   ///< h used
    carom_selection selection;                     ///< served
    const carom_step_method *method;               ///< that solved the steps; NULL for walks
    const char *solver;                            ///< LCP solver
    char path[CAROM_SAMPLE_PATH_SIZE];             ///< what ran: "cone-map:avx512", "lemke:avx512", another LCP solver, "modes" or "walk",
                                                   ///< or time stepping and walks, "modes+walk"
    char digest[CAROM_DIGEST_TEXT_SIZE];           ///< of the terminated samples' v_plus, in sample order
} carom_sample_statistics;

/// Columns that sampled outcomes have beside the common ones: the sample's index, the sampler it is from, its trace where it was kept,
/// and what its contacts stored and gave back where there is restitution.
enum { CAROM_SAMPLE_COLUMNS = 4 };
extern const carom_column carom_sample_columns[CAROM_SAMPLE_COLUMNS];

/// Algorithm 1 (`Sim`) for samples 0..samples-1, or Algorithm 2 when epsilon is set (Halm & Posa, section 5).
/// Sample i of seed s draws its caps uniformly from [0,h]^m by stream (s, i). With the sampler `walk`, samples are event-exact random
/// solutions instead; counts of LCPs and residuals are then 0, the step is NaN, solver and path are `walk`. With `auto`, sample i of a
/// planar impact is sample i of `lcp` for even i and of `walk` for odd i. Outcomes of the terminated samples go to `sink` in sample order:
/// an inner approximation of the set, but for those with CAROM_FLAG_APPROXIMATE. They are bit-identical for every number of threads and
/// ranks. With ranks in `control`, rank 0 alone feeds its sink; the statistics of the others, but for the verdict, are of no use.
/// With an uncertainty, sample i is one of an impact of its own: of the draw floor(i nested / samples) of its parameters, or draw i, by
/// the stream (s, draw) of that use; everything else is as without. The union is an inner approximation of the union of the sets. Steps h
/// and their selection are those of the impact that is given; `auto` is not certified where contacts are uncertain, too, and samples go
/// one by one. Rows have the columns of carom_uncertainty_columns after those of samples.
/// @param sink  may be NULL: only the statistics are of interest
/// @return CAROM_BAD_INPUT for options out of range, an or an unknown solver. An interruption is a verdict, not
/// an error. Cost: lcps_per_sample LCPs a sample; memory does not grow with the number of samples.
carom_status carom_reach_sample(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                const carom_control *control, const carom_sink *sink, carom_sample_statistics *statistics,
                                carom_error *error);

/// The step `auto` stands for: the sum of the Anitescu-Potra outcome's normal impulses; when that is zero, the velocity
/// scale over the largest diagonal entry of W; 1 when that is zero too.
carom_status carom_reach_auto_step(const carom_impact *impact, int64_t cone_edges, double *step, carom_error *error);

/// Is the velocity after the first step a function of the caps?
typedef enum carom_first_step_verdict {
    CAROM_FIRST_STEP_ONE,        ///< one velocity
    CAROM_FIRST_STEP_SEVERAL,    ///< several at some caps
    CAROM_FIRST_STEP_UNDECIDED,  ///< too many combinations of modes, or a list of solutions that is not proved to be complete
} carom_first_step_verdict;

enum { CAROM_FIRST_STEP_TEXT = 256 };

/// What Assumption 6 of Halm & Posa says of one impact.
typedef struct carom_first_step {
    carom_first_step_verdict verdict;
    double step;                     ///< h, the step that `auto` stands for [N s]; NaN where no step was taken
    int sets, several;               ///< sets of caps that were tried; those with several velocities
    int most;                        ///< velocities at one of them, at most
    char by[CAROM_FIRST_STEP_TEXT];  ///< how it was found, in a few words
} carom_first_step;

/// Tests Assumption 6, that v' is a function of (v, lmax), at the first step: lists all solutions of the step from v- with all caps at h,
/// h/2, h/4 and h/16, with each contact alone at h, and without caps (Anitescu & Potra). One velocity at each of them is no proof for the
/// caps between, nor for later steps; several at one of them are a proof. Without friction, or where no contact approaches, v' is unique.
/// @param control  may be NULL; an interruption leaves it undecided
/// @return CAROM_BAD_INPUT for cone edges out of range. Cost: contacts + 5 enumerations of at most 5000 combinations of modes.
carom_status carom_reach_first_step(const carom_impact *impact, int64_t cone_edges, const carom_control *control, carom_first_step *first,
                                    carom_error *error);

/// Is this the end of a solution of the impact inclusion, with round cones, by way of these velocities? True is certain, to 2e-9 of the
/// velocity scale: every piece is a straight solution, or in the plane the one that spends each normal impulse evenly. False says that
/// neither is. For outcomes of other laws: are they members of the set?
/// @param u, impulse  [rows x n] contact velocities [m/s] and accumulated impulses [N s], the first row before the impact
carom_status carom_reach_certify_path(const carom_impact *impact, int rows, const double *u, const double *impulse, bool *certain,
                                      carom_error *error);

/// Constants of the theory for one impact (Halm & Posa, Assumption 2, Lemma 6, Theorem 8, Algorithm 2).
typedef struct carom_reach_bounds {
    bool pointed;            ///< proved: no non-zero combination of forces of the (linearised) cones vanishes
    bool pointed_certified;  ///< `pointed` is proved, true or false; false where it could not be decided
    double r_norm;           ///< least ||r||_2 with r.M^-1 f >= 1 for every cone edge f; NaN when not pointed, or not found
    double psi;              ///< sigma_max(M^-1 Jbar') m (1 + max mu) + 1, of the closing step
    double step_bound_c;     ///< c of eq. (78) for the step h; NaN when not pointed or without a mass matrix
    /// Theorem 8: with caps uniform in [0,h]^m, P(steps > step_bound + j) <= exp(-j / step_tail).
    double step_bound;  ///< c ceil(||v-||_M); NaN as c
    double step_tail;   ///< (m + 1)^2
} carom_reach_bounds;

/// psi of Algorithm 2, with Jbar over all directions of cones with `edges` edges (a count from carom_impact_cone_edges).
carom_status carom_reach_psi(const carom_impact *impact, int edges, double *psi, carom_error *error);

/// @param step  h, the cap of a step's normal impulses [N s], > 0; NaN where it is not known: the bounds of steps are then NaN, too
/// `pointed` holds for the numbers of the impact as they stand in double precision, and for the cones with `edges` edges. Forces that
/// cancel are proved where two normals are exactly opposite, or where no small change of the cones makes them pointed. Cost: two
/// quadratic programs in nv unknowns, some nv^2 contacts each; eigenvalues of matrices of size nv and contacts*(1+tangent_dim), of size nv
/// alone where the latter is above 128; where not pointed and with up to 512 cone edges three LCPs with a variable for each of them.
carom_status carom_reach_get_bounds(const carom_impact *impact, int edges, double step, carom_reach_bounds *bounds, carom_error *error);

/// What Lemma 1 of Halm & Posa is asked: samples of g(lmax) for lmax uniform in [0,h]^caps.
typedef struct carom_net_question {
    double lipschitz;  ///< of g, in the 2-norm [1/kg]. The theory only says that there is one.
    double step;       ///< h [N s]
    int64_t caps;      ///< contacts times steps
    double epsilon;    ///< [m/s]
    double failure;    ///< probability in (0,1) with which the samples may fail to be an epsilon-net of the image of g
} carom_net_question;

/// log10 of the least N that Lemma 1 certifies: (1 - Omega)^N / Omega <= failure with Omega = ceil(h L sqrt(caps) / epsilon)^-caps.
/// A logarithm, because N seldom fits a double.
/// @return CAROM_BAD_INPUT for a number that is not positive and finite, or a failure that is no probability
carom_status carom_reach_log10_samples(const carom_net_question *question, double *log10_samples, carom_error *error);

CAROM_API_END

#endif
