// SPDX-License-Identifier: Apache-2.0
/// @file
/// An impact of which some numbers are not known: the velocity before it, friction, restitution, the pose, the masses. A point of the
/// uncertainty is a list of numbers in (0, 1), from which follow the values of its parameters, and from them an impact: for sampling,
/// which draws points at random, and for searches, which choose them.
#ifndef CAROM_UNCERTAIN_H
#define CAROM_UNCERTAIN_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// Deviations at which normal distributions are cut: what lies beyond is left out, and the rest is scaled to a distribution again.
#define CAROM_NORMAL_CUT 3.0

/// How a friction or a restitution coefficient is distributed. Zero: it is known.
typedef struct carom_spread {
    enum {
        CAROM_SPREAD_NONE,     ///< it has the impact's value
        CAROM_SPREAD_UNIFORM,  ///< within the interval
        CAROM_SPREAD_NORMAL    ///< around the impact's value, cut at CAROM_NORMAL_CUT deviations, and where no coefficient can be
    } kind;
    carom_interval range;  ///< of uniform ones
    double deviation;      ///< of normal ones, >= 0
} carom_spread;

/// How the velocity before the impact is distributed, and what the numbers of that mean.
typedef enum carom_velocity_spread {
    CAROM_VELOCITY_KNOWN,
    CAROM_VELOCITY_BOX,         ///< [nv] half-widths >= 0 around the impact's velocity; uniform
    CAROM_VELOCITY_DEVIATIONS,  ///< [nv] deviations >= 0; normal and independent, each cut
    CAROM_VELOCITY_COVARIANCE,  ///< [nv x nv] positive semidefinite; normal, cut in each of its principal directions
    CAROM_VELOCITY_VERTICES     ///< [vertices x nv] of a polytope of velocities, the convex hull of them; the impact's own takes no part
} carom_velocity_spread;

/// What is not known of an impact. Zero: everything is known. SI units, borrowed during the call that takes it.
typedef struct carom_uncertainty_data {
    carom_velocity_spread velocity_spread;
    const double *velocity;           ///< as carom_velocity_spread says [m/s, rad/s, or their squares]
    int vertices;                     ///< of a polytope, >= 1
    const carom_spread *friction;     ///< [contacts]; NULL: known
    const carom_spread *restitution;  ///< [contacts]; NULL: known
    carom_interval mass;              ///< factor of all masses and inertias, > 0; both 0: known
    int nq;                           ///< coordinates of the pose; 0: it is known, and there is no `freeze`
    const double *qpos;               ///< [nq] in MuJoCo's order [m, rad, quaternions]
    const double *qpos_box;           ///< [nq] half-widths >= 0
    /// The impact at another pose, with the same contacts and the velocity of the impact; the core knows no models. May be called from
    /// several threads at once.
    carom_status (*freeze)(void *user, const double *qpos, carom_impact **impact, carom_error *error);
    void *user;  ///< for `freeze`, as long as the uncertainty lives
} carom_uncertainty_data;

/// An impact with what is not known of it. Immutable, so that threads may share it.
typedef struct carom_uncertainty carom_uncertainty;

/// @param impact  with the known numbers; borrowed as long as the uncertainty lives
/// @return CAROM_BAD_INPUT with a message that begins with the key of the data: a width, deviation or factor out of range or not finite,
///         an interval whose ends are in the wrong order, a covariance that is not symmetric or not positive semidefinite
carom_status carom_uncertainty_create(const carom_impact *impact, const carom_uncertainty_data *data, carom_uncertainty **uncertainty,
                                      carom_error *error);
void carom_uncertainty_free(carom_uncertainty *uncertainty);

/// The impact that it is of.
const carom_impact *carom_uncertainty_nominal(const carom_uncertainty *uncertainty);
/// M, J, mu and e are those of the impact, up to one factor of all masses: only v- changes beside it.
bool carom_uncertainty_keeps_contacts(const carom_uncertainty *uncertainty);

/// One number that is not known.
typedef struct carom_uncertain_parameter {
    /// `v0.I` or `v0.NAME`, a velocity before the impact; `mu.CONTACT`; `restitution.CONTACT`; `qpos.I`; `mass`, the factor. I from 1.
    const char *name;
    const char *unit;  ///< "" where it has none, or it is not known
    int column;        ///< of carom_uncertainty_columns
    int index;         ///< within that column's row
} carom_uncertain_parameter;

/// Number of parameters: those whose width is not 0, and those whose interval is one value that the impact does not have.
int carom_uncertainty_count(const carom_uncertainty *uncertainty);
/// [count]: velocities, friction, restitution, pose, mass.
const carom_uncertain_parameter *carom_uncertainty_parameters(const carom_uncertainty *uncertainty);

/// Number of uniform numbers that one point needs. A polytope of velocities needs one for each vertex, a covariance one for each direction
/// in which it is not zero, every other parameter one.
int carom_uncertainty_dimension(const carom_uncertainty *uncertainty);

/// Point `index` of a random sequence: independent numbers, uniform in (0, 1), of a stream (seed, index) of its own use.
/// @param uniforms  [dimension]
void carom_uncertainty_draw(const carom_uncertainty *uncertainty, int64_t seed, int64_t index, double *uniforms);

/// The parameters at a point: continuous in it, and of uniform numbers they have the distributions of the data. Boxes and intervals are
/// linear; normal ones are the inverse of the cut distribution; a polytope takes the vertices with weights -log u_k over their sum, which
/// is uniform on a simplex.
/// @param uniforms  [dimension] in [0, 1]
/// @param values    [count]
/// Cost: below a microsecond for each normal parameter. Thread-safe.
void carom_uncertainty_values(const carom_uncertainty *uncertainty, const double *uniforms, double *values);

/// The impact with these values [count] of its parameters.
/// @return CAROM_BAD_INPUT for a value that an impact cannot have, and for a pose that has other contacts
/// Cost: that of carom_impact_create; with an unknown pose that of `freeze`, too. Thread-safe.
carom_status carom_uncertainty_impact(const carom_uncertainty *uncertainty, const double *values, carom_impact **impact,
                                      carom_error *error);

/// Where the velocity before the impact and friction may be: distributions do not count, only where they are not zero.
typedef struct carom_uncertain_support {
    int vertices;              ///< 0: the velocity is known
    double *velocity;          ///< [vertices x nv] of a polytope that holds all velocities; those of a box are its corners
    carom_interval *friction;  ///< [contacts]; NULL: it is known
} carom_uncertain_support;

/// Most vertices of a box or of a covariance: 2 to the number of what is not known of them.
enum { CAROM_MOST_CORNERS = 4096 };

/// Finds it. The pose, restitution and masses are left as they are; one factor of all masses changes no velocity after an impact.
/// @param support  to be freed by carom_uncertain_support_free
/// @return CAROM_UNSUPPORTED for more than CAROM_MOST_CORNERS corners
carom_status carom_uncertainty_support(const carom_uncertainty *uncertainty, carom_uncertain_support *support, carom_error *error);
void carom_uncertain_support_free(carom_uncertain_support *support);
/// The pose is not known.
bool carom_uncertainty_moves(const carom_uncertainty *uncertainty);
/// Restitution of some contact is not known.
bool carom_uncertainty_bounces(const carom_uncertainty *uncertainty);
/// Is some coefficient of friction uncertain?
bool carom_uncertainty_rubs(const carom_uncertainty *uncertainty);

/// All columns that parameters may have: `draw`, `v_minus`, `friction`, `restitution`, `qpos`, whose width is that of the pose, and
/// `mass_scale`.
enum { CAROM_UNCERTAIN_COLUMNS = 6 };
extern const carom_column carom_uncertain_columns[CAROM_UNCERTAIN_COLUMNS];

/// Columns for the parameters of an outcome: `draw`, the number of its point, and `v_minus`, `friction`, `restitution`, `qpos` and
/// `mass_scale`, those of which something is not known, whole with what is known of them.
/// @return their number
int carom_uncertainty_columns(const carom_uncertainty *uncertainty, const carom_column **columns);
/// The columns of a law or a sampler [own], and after them those of the uncertainty (NULL: none).
/// @param columns  receives `*count` rows, to be freed
carom_status carom_uncertainty_extend(const carom_uncertainty *uncertainty, const carom_column *own, int own_count, carom_column **columns,
                                      int *count, carom_error *error);
/// Fills these columns of the last row, the first of which is column `first` of the table.
/// @param draw  number of the point
void carom_uncertainty_fill(const carom_uncertainty *uncertainty, int64_t draw, const double *values, carom_table *table, int first);

CAROM_API_END

#endif
