// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measured impacts: how near laws come to them, which parameters fit, and how much better than chance that is. In libcarom-measure.
///
/// Distances are kinetic: |v|_M = sqrt(v'Mv), relative to |v-|_M, with M of the impact or another metric that is given. docs/measured.md
/// states the method.
#ifndef CAROM_MEASURE_H
#define CAROM_MEASURE_H

#include "carom/laws.h"

CAROM_API_BEGIN

// ------------------------------------------------------------------------------------------------------- measurements

/// One measured impact. Everything is borrowed.
typedef struct carom_measurement {
    const carom_impact *impact;  ///< M, J and v-; friction 0 where it is not known
    const double *after;         ///< v+ [nv]
    const double *covariance;    ///< of (v-, v+), [2nv x 2nv]; NULL: not known
    const double *metric;        ///< [nv x nv] of distances, in place of M: where M is under test; NULL: M
    const double *attitude;      ///< [9] rotation from body to world axes; NULL: not known
    const char *kind;            ///< a name that several impacts share
    int group;                   ///< rank of its group (a toss, a run) among all groups: impacts of one group are not independent
    bool friction_known;
} carom_measurement;

/// Many, as carom_measurements_read makes them.
typedef struct carom_measurements {
    carom_measurement *list;
    int count;
    int groups;                         ///< distinct ones
    double mass;                        ///< [kg] of the body, NaN where it is not known
    char hash[CAROM_DIGEST_TEXT_SIZE];  ///< SHA-256 of the file that they are from
    carom_arena arena;
} carom_measurements;

/// Gives those measurements whose friction is not known this one, at every contact.
carom_status carom_measurements_complete_friction(carom_measurements *measurements, double friction, carom_error *error);

/// Releases impacts and arrays.
void carom_measurements_free(carom_measurements *measurements);

// ----------------------------------------------------------------------------------------------------- without a law

/// Tests whether the impulse acted at the contacts: M (v+ - v-) must lie in the range of J'. With N the null space of J,
/// z = N'M(v+ - v-), chi2 = z'(N'M S M N)^-1 z, S the covariance of v+ - v-; nv - rank J degrees of freedom.
/// @param chi2     NaN where there is no covariance or no degree of freedom
/// @param freedom  degrees of freedom
carom_status carom_measure_lever(const carom_measurement *measurement, double *chi2, int *freedom, carom_error *error);

/// What no law can go below.
typedef struct carom_measure_floor {
    double any;   ///< min |v- + M^-1 J'p - v+|_M / |v-|_M over all impulses p at the contacts
    double cone;  ///< over those within the friction cones, linearised with edges
    /// Of a single contact, NaN where there are several: -u_n+ / u_n-, and |p_t| / p_n of the best impulse.
    double restitution, friction;
} carom_measure_floor;

/// @param friction  mu of every contact; NaN: each contact's own
carom_status carom_measure_find_floor(const carom_measurement *measurement, double friction, int edges, carom_measure_floor *floor,
                                      carom_error *error);

/// The naive set {v- + M^-1 J'p: p within the friction cones, K(v+) <= K(v-), 0 <= Jn_i v+ <= 0.5 max approach}.
/// `count` points of it, uniform in the kinetic metric, by hit and run: directions uniform in the range of M^-1 J', chords cut off by the
/// linearised cones, the energy and the normal velocities.
/// @param friction  as above
/// @param members   [count x nv]
/// @param found     points found: `count`, or 0 where the inelastic outcome that the walk starts from lies outside
carom_status carom_measure_null_set(const carom_measurement *measurement, double friction, int edges, int64_t seed, int64_t count,
                                    double *members, int64_t *found, carom_error *error);

// ---------------------------------------------------------------------------------------------------------------- laws

/// A law as it is confronted with measurements. Everything is borrowed.
typedef struct carom_measure_law {
    const carom_law *law;
    const void *options;  ///< the law's option struct
    const carom_registry *registry;
    carom_interval friction;     ///< of every contact; NaN: each impact's own. An interval: the union of the sets at
                                 ///< CAROM_MEASURE_FRICTIONS values, among which samples are shared
    carom_interval restitution;  ///< in place of the option `restitution`, two different numbers only for laws that draw from an interval;
                                 ///< NaN: that option, else the impact's
    int64_t seed;                ///< of laws that draw: impact i by carom_many_seed(seed, i), and by seeds made of that for further values
                                 ///< of friction
} carom_measure_law;

enum { CAROM_MEASURE_FRICTIONS = 8 };

/// Where a member of a law's set is from.
typedef struct carom_measure_origin {
    int64_t sample;              ///< index of the sample; -1 for laws that do not sample
    int64_t seed;                ///< that the law was asked with
    double friction;             ///< mu that it was asked with; NaN: the impact's own
    carom_interval restitution;  ///< least and largest one drawn by the contacts that were compressed; NaN: the law does not tell
} carom_measure_origin;

/// The law's outcomes for one measurement: points of its set.
typedef struct carom_measure_set {
    int64_t count;
    int nv;
    double *members;                ///< [count x nv] v+ of the outcomes after which no contact approaches
    carom_measure_origin *origins;  ///< [count]
    int64_t flags;                  ///< CAROM_FLAG bits that all members have
    int64_t approximate;            ///< members that may lie outside the set (CAROM_FLAG_APPROXIMATE)
    carom_error reason;             ///< why there are none; an empty message where the law says nothing
} carom_measure_set;

bool carom_measure_applies(const carom_measure_law *law, const carom_measurement *measurement);
/// Can the law's restitution be fitted? It has that option, and a meaning for it.
bool carom_measure_bounces(const carom_measure_law *law);
/// Are its outcomes samples of a set with restitution, which each contact draws from an interval?
bool carom_measure_draws_restitution(const carom_measure_law *law);

/// Asks the law, at v- or another velocity.
/// @param index   of the measurement: for its seed
/// @param before  [nv]; NULL: v-
/// @param set     to be freed by carom_measure_set_free. What the law refuses of this impact is an empty set with the reason
carom_status carom_measure_ask(const carom_measure_law *law, const carom_measurement *measurement, int index, const double *before,
                               const carom_control *control, carom_measure_set *set, carom_error *error);
void carom_measure_set_free(carom_measure_set *set);

/// How a set stands to the measured outcome y. All relative to |v-|_M.
typedef struct carom_measure_score {
    int64_t members;
    int64_t nearest;  ///< index of the nearest member; -1 without members
    double error;     ///< |x - y|_M of the nearest member x; NaN without members, and so are the others
    double radius;    ///< largest |x - mean|_M
    double energy;    ///< E|x - y|_M - E|x - x'|_M / 2, means over the members and their pairs: strictly proper; of a point its error
} carom_measure_score;

/// @param drawn  the members are random draws of a distribution, which is scored; false: they are all there is, equally probable
/// Cost: O(members^2 nv) up to 4000 members, and that of 16 million pairs beyond.
carom_status carom_measure_score_set(const carom_measurement *measurement, const double *members, int64_t count, bool drawn,
                                     carom_measure_score *score, carom_error *error);

/// A residual in units of its noise.
typedef struct carom_measure_chi_square {
    double value;  ///< r' S_r^+ r; NaN where it is not known, infinite where r leaves the range of S_r
    int freedom;   ///< rank of S_r
    double tail;   ///< probability of a larger value
} carom_measure_chi_square;

/// chi2 of the residual r = v+ - x with covariance S_r = S_++ - A S_-+ - (A S_-+)' + A S_-- A', A = dx/dv- by differences, along the
/// selection of x: the same sample of a law of walks, otherwise the outcome next to x. Of two members, the one that is nearest in the
/// kinetic metric and that in the metric of S_++, the smaller value: approximate where a set has others.
/// Without covariance, and for samples of time stepping, nothing is known.
carom_status carom_measure_find_chi_square(const carom_measure_law *law, const carom_measurement *measurement, const carom_measure_set *set,
                                           const carom_measure_score *score, carom_measure_chi_square *chi, carom_error *error);

/// Probability that chi2 with so many degrees of freedom exceeds x.
double carom_measure_chi_square_tail(double x, int freedom);

// ------------------------------------------------------------------------------------------------------------- fitting

/// A function of one or two numbers in a box, to be minimised.
typedef struct carom_fit_problem {
    int dimension;             ///< 1 or 2
    double least[2], most[2];  ///< the box
    const double *start[2];    ///< values of the first grid in each direction, ascending
    int starts[2];             ///< their numbers
    double tolerance;          ///< of the place, relative to the box
    carom_status (*evaluate)(void *user, const double *x, double *value, carom_error *error);  ///< NaN counts as infinite
    void *user;
} carom_fit_problem;

/// The least value over the grid, refined by golden section between the neighbours (one dimension) or by Nelder & Mead's simplex (two).
/// @param x  [dimension]
carom_status carom_fit_minimise(const carom_fit_problem *problem, double *x, double *value, carom_error *error);

/// Which parameters of a law are fitted to measurements.
typedef struct carom_measure_fit_request {
    const carom_measure_law *law;
    const carom_measurements *measurements;
    const int *chosen;  ///< [count] indices of the measurements to which it is fitted
    int count;
    bool friction, restitution;  ///< one value for all contacts of all chosen impacts
    int64_t draws;               ///< resamples of the bootstrap; 0: none
    const carom_control *control;
} carom_measure_fit_request;

/// Parameters that fit. Those that were not fitted are NaN.
typedef struct carom_measure_fit {
    double friction, restitution;
    double friction_error, restitution_error;  ///< standard deviation over resampled groups; NaN without draws
    double mean_error;                         ///< of the chosen, the value that was minimised
    bool finished;                             ///< false: interrupted
} carom_measure_fit;

/// Minimises the mean of the relative errors |x - v+|_M / |v-|_M over mu in [0, 2] and e in [0, 1]. The bootstrap draws groups with
/// replacement, and looks for the minimum among multiples of CAROM_MEASURE_LATTICE, which all draws share.
carom_status carom_measure_fit_law(const carom_measure_fit_request *request, carom_measure_fit *fit, carom_error *error);

#define CAROM_MEASURE_LATTICE 0.0025

/// Which interval of restitution of a sampled set is asked for.
typedef struct carom_measure_interval_request {
    const carom_measure_law *law;  ///< for which carom_measure_draws_restitution is true; its restitution is not used
    const carom_measurements *measurements;
    const int *chosen;  ///< [count] indices of the measurements to which it is fitted
    int count;
    double share;      ///< of the chosen measurements, in (0, 1]
    double tolerance;  ///< relative error up to which the set holds a measured outcome, > 0
    int64_t draws;     ///< resamples of the bootstrap; 0: none
    const carom_control *control;
} carom_measure_interval_request;

/// The interval that was found.
typedef struct carom_measure_interval {
    carom_interval restitution;      ///< NaN where no set holds any of the outcomes
    double least_error, most_error;  ///< standard deviations of its ends over resampled groups; NaN without draws
    double contained;                ///< share of the chosen outcomes that walks in the interval hold
    double reachable;                ///< the same with [0, 1]
    double members;                  ///< walks in the interval, mean over the chosen measurements
    int tied;                        ///< intervals of this width that hold the share
    bool finished;                   ///< false: interrupted
} carom_measure_interval;

/// The least interval [lo, hi], in hundredths, such that the set with every contact's e in [lo, hi] holds the share of the measured
/// outcomes: within the tolerance of a member. Where [0, 1] holds less than the share, the least one that holds as much. Of intervals of
/// one width, the one of the least mean energy score, with the law's own samples.
/// Walks are drawn once, with e from overlapping windows of the widths 1, 1/2, 1/4 and 1/8, a quarter of the law's samples from each; walks
/// whose contacts drew within an interval are members of its set. Contacts that were not compressed do not count.
/// Cost: about 7 times the walks of one assessment.
/// @return CAROM_BAD_INPUT for a law that does not draw its restitution
carom_status carom_measure_fit_interval(const carom_measure_interval_request *request, carom_measure_interval *found, carom_error *error);

// ---------------------------------------------------------------------------------------------------------- assessment

/// Columns of what is found of every impact, without a law.
typedef enum carom_measure_impact_column {
    CAROM_MEASURE_INDEX,
    CAROM_MEASURE_KIND,
    CAROM_MEASURE_GROUP,
    CAROM_MEASURE_CONTACTS,
    CAROM_MEASURE_SPEED,
    CAROM_MEASURE_LEVER_CHI2,
    CAROM_MEASURE_LEVER_FREEDOM,
    CAROM_MEASURE_FLOOR,
    CAROM_MEASURE_FLOOR_CONE,
    CAROM_MEASURE_BEST_RESTITUTION,
    CAROM_MEASURE_BEST_FRICTION,
    CAROM_MEASURE_NULL_ERROR,
    CAROM_MEASURE_NULL_RADIUS,
    CAROM_MEASURE_NULL_SCORE,
    CAROM_MEASURE_IMPACT_COLUMNS
} carom_measure_impact_column;
extern const carom_column carom_measure_impact_columns[CAROM_MEASURE_IMPACT_COLUMNS];

/// Columns of what is found of every impact with one law.
typedef enum carom_measure_law_column {
    CAROM_MEASURE_APPLIES,
    CAROM_MEASURE_MEMBERS,
    CAROM_MEASURE_ERROR,
    CAROM_MEASURE_RADIUS,
    CAROM_MEASURE_SCORE,
    CAROM_MEASURE_CHI2,
    CAROM_MEASURE_FREEDOM,
    CAROM_MEASURE_TAIL,
    CAROM_MEASURE_NEAREST,
    CAROM_MEASURE_REASON,
    CAROM_MEASURE_APPROXIMATE,
    CAROM_MEASURE_LAW_COLUMNS
} carom_measure_law_column;
extern const carom_column carom_measure_law_columns[CAROM_MEASURE_LAW_COLUMNS];

/// Every impact, and every law with it.
typedef struct carom_measure_request {
    const carom_measurements *measurements;
    int law_count;
    const carom_measure_law *laws;  ///< [parts x law_count]: a part of the impacts may have parameters of its own
    const int *part;                ///< [impacts] the part of each
    const double *friction;         ///< [parts] mu of floor and null set; NaN: each impact's own
    int edges;                      ///< of the cones of floor and null set
    int64_t null_members;           ///< 0: no null set
    int64_t seed;                   ///< of the null sets: impact i draws by carom_many_seed(seed, i)
} carom_measure_request;

/// Fills a table for all impacts, and one for each law, with a row for every impact in order. The rows do not depend on the number of
/// threads; memory grows by the rows alone. An interruption leaves a prefix of them.
/// @param impacts  empty, with carom_measure_impact_columns
/// @param laws     [law_count] empty, with carom_measure_law_columns; CAROM_WIDTH_VELOCITY is that of the largest impact, NaN beyond
/// @return the error of the first impact that failed, with its index
carom_status carom_measure_assess(const carom_measure_request *request, const carom_control *control, carom_table *impacts,
                                  carom_table *const *laws, carom_error *error);

// ------------------------------------------------------------------------------------------------------ identification

/// Body of a tossed object as its impacts tell it.
typedef struct carom_measure_identification {
    int impacts;                            ///< with a single contact and an attitude, that it rests on
    double inertia[3];                      ///< diagonal of the tensor [kg m^2]
    double tensor[9];                       ///< the inertia about the centre of mass in body axes [kg m^2]
    double com[3];                          ///< centre of mass from the reference point, body axes [m]
    double inertia_error[3], com_error[3];  ///< standard deviations by bootstrap over groups; NaN without draws
} carom_measure_identification;

/// Solves (I_o/m) dw + c x dv - r x (dw x c) = r x dv in body axes for I_o/m and c, with Huber's loss, over the impacts of one contact in
/// space of a free body with velocities (of the reference point o, angular in world axes).
/// @param com  false: c = 0
/// @return CAROM_BAD_INPUT where there are fewer than three such impacts, or they do not determine the unknowns
carom_status carom_measure_identify(const carom_measurements *measurements, bool com, int64_t draws,
                                    carom_measure_identification *identification, carom_error *error);

CAROM_API_END

#endif
