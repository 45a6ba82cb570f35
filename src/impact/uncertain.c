// SPDX-License-Identifier: Apache-2.0
// An impact with numbers that are not known: points in the unit cube, the values that follow, and the impacts.
#include "carom/uncertain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/vary.h"

// Entries of a covariance that differ more than this share of what their deviations allow, and correlations whose least eigenvalue is
// further below zero, are a mistake, not round-off.
#define COVARIANCE_TOLERANCE 1e-9

enum { NAME_ROOM = 16, NEWTON_STEPS = 64 };
static const double SQRT_HALF = 0.70710678118654752440, TWO_PI = 6.283185307179586476925286766559;

// One parameter that depends on one uniform number: linear between two ends, or normal around the first and cut at the others.
typedef struct scalar {
    bool normal;
    double center, scale;  // value = center + scale * x
    double least, most;    // x is between these
} scalar;

struct carom_uncertainty {
    carom_arena arena;
    const carom_impact *nominal;
    int dimension, count;
    carom_uncertain_parameter *parameters;  // [count]
    // Velocities come first among both. A polytope or a covariance makes several of them from several uniform numbers.
    carom_velocity_spread velocity_spread;
    int velocities, velocity_dimension;
    int *velocity_index;   // [velocities] among those of the impact
    double *velocity_map;  // [velocity_dimension x velocities] vertices, or principal directions times their deviations
    // Everything else, parameter by parameter; velocities of boxes, too.
    int scalars;
    scalar *scalar;  // [scalars]
    // How the impact is made: its pose, then the other numbers in the order of the parameters.
    int nq;
    double *qpos;
    carom_status (*freeze)(void *user, const double *qpos, carom_impact **impact, carom_error *error);
    void *user;
    bool moves;  // some coordinate of the pose is not known
    bool keeps_contacts;
    carom_column columns[CAROM_UNCERTAIN_COLUMNS];
    int column_count;
    int kind_of_column[CAROM_UNCERTAIN_COLUMNS];
};

// What a column holds.
enum { KIND_DRAW, KIND_VELOCITY, KIND_FRICTION, KIND_RESTITUTION, KIND_QPOS, KIND_MASS };

// How the names of its parameters begin, and what they are for carom_impact_vary. Poses are no numbers of an impact.
static const struct {
    const char *beginning;
    carom_parameter varied;
} kinds[] = {
    [KIND_VELOCITY] = {"v0.", {.kind = CAROM_PARAMETER_VELOCITY}},
    [KIND_FRICTION] = {"mu.", {.kind = CAROM_PARAMETER_FRICTION}},
    [KIND_RESTITUTION] = {"restitution.", {.kind = CAROM_PARAMETER_RESTITUTION}},
    [KIND_QPOS] = {.beginning = "qpos."},
    [KIND_MASS] = {"mass", {.kind = CAROM_PARAMETER_MASS}},
};

// ------------------------------------------------------------------------------------------------------- distributions

static double normal_distribution(double x) { return 0.5 * erfc(-x * SQRT_HALF); }

// The x with Phi(x) = p. Newton's method from 0: Phi is concave above and convex below, so that the steps never pass the solution, and it
// ends when rounding turns them back. Near the cuts, where the density is 0.004 at least, that is 1e-13.
static double normal_quantile(double p) {
    double x = 0;
    for (int i = 0; i < NEWTON_STEPS; i++) {
        const double next = x + (p - normal_distribution(x)) * sqrt(TWO_PI) * exp(x * x / 2);
        if (!(fabs(next) > fabs(x))) break;
        x = next;
    }
    return x;
}

// The x between the cuts below which lies the share u of what is between them.
static double cut_normal(double least, double most, double u) {
    const double below = normal_distribution(least), p = below + u * (normal_distribution(most) - below);
    return fmin(fmax(normal_quantile(p), least), most);
}

void carom_uncertainty_draw(const carom_uncertainty *uncertainty, int64_t seed, int64_t index, double *uniforms) {
    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_UNCERTAIN);
    for (int i = 0; i < uncertainty->dimension; i++) uniforms[i] = carom_stream_uniform(&stream);
}

void carom_uncertainty_values(const carom_uncertainty *uncertainty, const double *uniforms, double *values) {
    const carom_uncertainty *u = uncertainty;
    const double *const velocity = carom_impact_get_data(u->nominal)->velocity;
    double weights = 0;
    for (int j = 0; j < u->velocities; j++)
        values[j] = u->velocity_spread == CAROM_VELOCITY_COVARIANCE ? velocity[u->velocity_index[j]] : 0;
    for (int k = 0; k < u->velocity_dimension; k++) {
        // Deviations in this principal direction, or the weight of this vertex, which is finite and not 0 at the ends, too.
        const double least = 0x1p-64, most = 1 - 0x1p-53;
        const double factor = u->velocity_spread == CAROM_VELOCITY_COVARIANCE ? cut_normal(-CAROM_NORMAL_CUT, CAROM_NORMAL_CUT, uniforms[k])
                                                                              : -log(fmin(fmax(uniforms[k], least), most));
        weights += factor;
        for (int j = 0; j < u->velocities; j++) values[j] += factor * u->velocity_map[k * u->velocities + j];
    }
    for (int j = 0; j < u->velocities && u->velocity_spread == CAROM_VELOCITY_VERTICES; j++) values[j] /= weights;
    for (int i = 0; i < u->scalars; i++) {
        const scalar *s = &u->scalar[i];
        const double share = uniforms[u->velocity_dimension + i];
        const double x = s->normal ? cut_normal(s->least, s->most, share) : s->least + share * (s->most - s->least);
        values[u->velocities + i] = s->center + s->scale * x;
    }
}

// ------------------------------------------------------------------------------------------------------------- impacts

carom_status carom_uncertainty_impact(const carom_uncertainty *uncertainty, const double *values, carom_impact **impact,
                                      carom_error *error) {
    const carom_uncertainty *u = uncertainty;
    *impact = NULL;
    carom_arena arena = {0};
    carom_impact *posed = NULL;
    carom_parameter *changed = carom_arena_take(&arena, (size_t)u->count, sizeof *changed);
    double *numbers = carom_arena_take(&arena, (size_t)u->count, sizeof *numbers);
    double *qpos = carom_arena_take(&arena, (size_t)u->nq, sizeof *qpos);
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "impact");
    }
    if (u->nq) memcpy(qpos, u->qpos, (size_t)u->nq * sizeof *qpos);
    int count = 0;
    for (int i = 0; i < u->count; i++) {
        const carom_uncertain_parameter *of = &u->parameters[i];
        const int kind = u->kind_of_column[of->column];
        if (kind == KIND_QPOS) {
            qpos[of->index] = values[i];
            continue;
        }
        changed[count] = kinds[kind].varied;
        changed[count].index = of->index;
        numbers[count++] = values[i];
    }
    // First the pose, whose impact has the contacts of the nominal one, or the other numbers and the columns would mean something else.
    carom_status status = u->moves ? u->freeze(u->user, qpos, &posed, error) : CAROM_OK;
    const carom_impact *from = posed ? posed : u->nominal;
    const carom_impact_data *now = carom_impact_get_data(from), *was = carom_impact_get_data(u->nominal);
    bool same = !status && now->nv == was->nv && now->contacts == was->contacts && now->tangent_dim == was->tangent_dim;
    for (int i = 0; i < was->contacts && same; i++) same = !strcmp(now->names[i], was->names[i]);
    if (!status && !same) status = carom_fail(error, CAROM_BAD_INPUT, "uncertain.qpos: at a pose that was drawn there are other contacts");
    // Then the other numbers.
    carom_error inner;
    if (!status && carom_impact_vary(from, count, changed, numbers, impact, &inner))
        status = carom_fail(error, inner.status, "uncertain: of a point that was drawn, %s", inner.message);
    carom_impact_free(posed);
    carom_arena_free(&arena);
    return status;
}

int carom_uncertainty_columns(const carom_uncertainty *uncertainty, const carom_column **columns) {
    *columns = uncertainty->columns;
    return uncertainty->column_count;
}

carom_status carom_uncertainty_extend(const carom_uncertainty *uncertainty, const carom_column *own, int own_count, carom_column **columns,
                                      int *count, carom_error *error) {
    *count = own_count + (uncertainty ? uncertainty->column_count : 0);
    *columns = malloc((size_t)(*count + 1) * sizeof **columns);
    if (!*columns) return carom_fail_memory(error, "columns");
    for (int i = 0; i < *count; i++) (*columns)[i] = i < own_count ? own[i] : uncertainty->columns[i - own_count];
    return CAROM_OK;
}

void carom_uncertainty_fill(const carom_uncertainty *uncertainty, int64_t draw, const double *values, carom_table *table, int first) {
    const carom_uncertainty *u = uncertainty;
    const carom_impact_data *data = carom_impact_get_data(u->nominal);
    *carom_table_integers(table, first) = draw;
    for (int c = 1; c < u->column_count; c++) {
        static const double one = 1;
        const double *known[] = {[KIND_VELOCITY] = data->velocity,
                                 [KIND_FRICTION] = data->friction,
                                 [KIND_RESTITUTION] = data->restitution,
                                 [KIND_QPOS] = u->qpos,
                                 [KIND_MASS] = &one};
        const int width = carom_column_width(&u->columns[c], carom_table_sizes(table));
        memcpy(carom_table_reals(table, first + c), known[u->kind_of_column[c]], (size_t)width * sizeof(double));
    }
    for (int i = 0; i < u->count; i++) {
        const carom_uncertain_parameter *of = &u->parameters[i];
        carom_table_reals(table, first + of->column)[of->index] = values[i] + 0.0;
    }
}

// ------------------------------------------------------------------------------------------------------------ creation

const carom_column carom_uncertain_columns[CAROM_UNCERTAIN_COLUMNS] = {
    [KIND_VELOCITY] = {"v_minus", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "pre-impact velocity that was drawn", NULL},
    [KIND_FRICTION] = {"friction", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "", "friction coefficients that were drawn", NULL},
    [KIND_RESTITUTION] = {"restitution", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "", "coefficients of restitution that were drawn", NULL},
    [KIND_QPOS] = {"qpos", CAROM_COLUMN_REAL, 0, "m, rad", "pose that was drawn, in MuJoCo's order, quaternions not yet normalised", NULL},
    [KIND_MASS] = {"mass_scale", CAROM_COLUMN_REAL, 1, "", "factor of all masses and inertias that was drawn", NULL},
    [KIND_DRAW] = {"draw", CAROM_COLUMN_INTEGER, 1, "", "number of the draw of the parameters", NULL},
};

// The column of a kind, which is there from its first parameter on.
static int find_column(carom_uncertainty *u, int kind) {
    for (int i = 0; i < u->column_count; i++)
        if (u->kind_of_column[i] == kind) return i;
    u->columns[u->column_count] = carom_uncertain_columns[kind];
    if (kind == KIND_QPOS) u->columns[u->column_count].width = u->nq;
    u->kind_of_column[u->column_count] = kind;
    return u->column_count++;
}

static void add_parameter(carom_uncertainty *u, int kind, int index) {
    const carom_impact_data *data = carom_impact_get_data(u->nominal);
    const char *known = kind == KIND_VELOCITY                               ? data->velocity_names ? data->velocity_names[index] : NULL
                        : kind == KIND_FRICTION || kind == KIND_RESTITUTION ? data->names[index]
                                                                            : NULL;
    const size_t size = CAROM_MAX_NAME + NAME_ROOM;
    char *name = carom_arena_take(&u->arena, size, 1);
    if (!name) return;
    if (known || kind == KIND_MASS)
        snprintf(name, size, "%s%s", kinds[kind].beginning, known ? known : "");
    else
        snprintf(name, size, "%s%d", kinds[kind].beginning, index + 1);
    const char *unit = kind == KIND_VELOCITY && data->velocity_turns ? data->velocity_turns[index] ? "rad/s" : "m/s" : "";
    u->parameters[u->count++] = (carom_uncertain_parameter){name, unit, find_column(u, kind), index};
}

static void add_scalar(carom_uncertainty *u, int kind, int index, scalar added) {
    add_parameter(u, kind, index);
    u->scalar[u->scalars++] = added;
}

// Friction or restitution of one contact.
static carom_status add_spread(carom_uncertainty *u, int kind, int index, const carom_spread *spread, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(u->nominal);
    const bool is_friction = kind == KIND_FRICTION;
    const char *key = is_friction ? "friction" : "restitution", *contact = data->names[index];
    const double known = is_friction ? data->friction[index] : data->restitution[index], most = is_friction ? INFINITY : 1;
    const carom_interval range = spread->range;
    if (spread->kind == CAROM_SPREAD_UNIFORM) {
        if (!(range.least >= 0 && range.least <= range.most && range.most <= most && isfinite(range.most)))
            return carom_fail(error, CAROM_BAD_INPUT, "%s.%s: [%g, %g] is no interval of %s", key, contact, range.least, range.most,
                              is_friction ? "numbers >= 0" : "numbers between 0 and 1");
        // An interval of the known value alone leaves it known.
        if (range.least != known || range.most != known)
            add_scalar(u, kind, index, (scalar){.scale = 1, .least = range.least, .most = range.most});
    } else if (spread->kind == CAROM_SPREAD_NORMAL) {
        const double deviation = spread->deviation;
        if (!(deviation >= 0 && isfinite(deviation)))
            return carom_fail(error, CAROM_BAD_INPUT, "%s.%s: the deviation %g is not a finite number >= 0", key, contact, deviation);
        if (deviation > 0)
            add_scalar(u, kind, index,
                       (scalar){.normal = true,
                                .center = known,
                                .scale = deviation,
                                .least = fmax(-CAROM_NORMAL_CUT, -known / deviation),
                                .most = fmin(CAROM_NORMAL_CUT, (most - known) / deviation)});
    }
    return CAROM_OK;
}

// Principal directions of a covariance, scaled by its deviations so that units do not matter: C = D R D, R = Q diag(l) Q', and the
// directions are D Q sqrt(l).
static carom_status add_covariance(carom_uncertainty *u, const double *covariance, carom_error *error) {
    const int nv = carom_impact_get_data(u->nominal)->nv;
    const size_t size = (size_t)nv;
    double *deviation = carom_arena_take(&u->arena, size, sizeof *deviation), *eigen = carom_arena_take(&u->arena, size, sizeof *eigen);
    double *correlation = carom_arena_take(&u->arena, size * size, sizeof *correlation);
    u->velocity_index = carom_arena_take(&u->arena, size, sizeof *u->velocity_index);
    u->velocity_map = carom_arena_take(&u->arena, size * size, sizeof *u->velocity_map);
    if (u->arena.failed) return carom_fail_memory(error, "covariance");
    if (!carom_all_finite(size * size, covariance))
        return carom_fail(error, CAROM_BAD_INPUT, "velocity.covariance: an entry is not finite");
    for (int i = 0; i < nv; i++) {
        if (covariance[i * nv + i] < 0)
            return carom_fail(error, CAROM_BAD_INPUT, "velocity.covariance: entry [%d][%d] is %g, a variance below 0", i, i,
                              covariance[i * nv + i]);
        deviation[i] = sqrt(covariance[i * nv + i]);
        if (deviation[i] > 0) u->velocity_index[u->velocities++] = i;
    }
    // Velocities without a variance have no covariance with others either, and are left out.
    const int used = u->velocities;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++) {
            const double entry = covariance[i * nv + j], allowed = deviation[i] * deviation[j];
            if (fabs(entry - covariance[j * nv + i]) > COVARIANCE_TOLERANCE * allowed)
                return carom_fail(error, CAROM_BAD_INPUT, "velocity.covariance: entries [%d][%d] and [%d][%d] differ: it is not symmetric",
                                  i, j, j, i);
            if (fabs(entry) > (1 + COVARIANCE_TOLERANCE) * allowed)
                return carom_fail(error, CAROM_BAD_INPUT,
                                  "velocity.covariance: entry [%d][%d] is larger than the variances allow: it is not positive semidefinite",
                                  i, j);
        }
    for (int i = 0; i < used; i++)
        for (int j = 0; j < used; j++) {
            const int row = u->velocity_index[i], column = u->velocity_index[j];
            const double sum = covariance[row * nv + column] + covariance[column * nv + row];
            correlation[i * used + j] = sum / 2 / (deviation[row] * deviation[column]);
        }
    const carom_status status = used ? carom_symmetric_eigen(used, correlation, eigen, error) : CAROM_OK;
    if (status) return status;
    if (used && eigen[0] < -COVARIANCE_TOLERANCE)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "velocity.covariance: it is not positive semidefinite: its correlations have the eigenvalue %g", eigen[0]);
    for (int k = used - 1; k >= 0 && eigen[k] > COVARIANCE_TOLERANCE; k--) {
        double *direction = u->velocity_map + u->velocity_dimension++ * used;
        for (int j = 0; j < used; j++) direction[j] = sqrt(eigen[k]) * deviation[u->velocity_index[j]] * correlation[k * used + j];
    }
    for (int j = 0; j < used; j++) add_parameter(u, KIND_VELOCITY, u->velocity_index[j]);
    return CAROM_OK;
}

static carom_status add_velocity(carom_uncertainty *u, const carom_uncertainty_data *data, carom_error *error) {
    const carom_impact_data *impact = carom_impact_get_data(u->nominal);
    const int nv = impact->nv;
    switch (data->velocity_spread) {
    case CAROM_VELOCITY_KNOWN: return CAROM_OK;
    case CAROM_VELOCITY_BOX:
    case CAROM_VELOCITY_DEVIATIONS:
        for (int i = 0; i < nv; i++) {
            const double width = data->velocity[i];
            const bool box = data->velocity_spread == CAROM_VELOCITY_BOX;
            if (!(width >= 0 && isfinite(width)))
                return carom_fail(error, CAROM_BAD_INPUT, "velocity.%s: entry [%d] is %g, not a finite number >= 0", box ? "box" : "std", i,
                                  width);
            const double end = box ? 1 : CAROM_NORMAL_CUT;
            if (width > 0)
                add_scalar(u, KIND_VELOCITY, i,
                           (scalar){.normal = !box, .center = impact->velocity[i], .scale = width, .least = -end, .most = end});
        }
        return CAROM_OK;
    case CAROM_VELOCITY_COVARIANCE: return add_covariance(u, data->velocity, error);
    case CAROM_VELOCITY_VERTICES: {
        // All velocities, since the polytope need not hold that of the impact.
        if (data->vertices < 1) return carom_fail(error, CAROM_BAD_INPUT, "velocity.vertices: there are none");
        const size_t size = (size_t)data->vertices * (size_t)nv;
        if (!carom_all_finite(size, data->velocity)) return carom_fail(error, CAROM_BAD_INPUT, "velocity.vertices: an entry is not finite");
        u->velocities = nv;
        u->velocity_dimension = data->vertices;
        u->velocity_index = carom_arena_take(&u->arena, (size_t)nv, sizeof *u->velocity_index);
        u->velocity_map = carom_arena_take(&u->arena, size, sizeof *u->velocity_map);
        if (u->arena.failed) return carom_fail_memory(error, "polytope of velocities");
        memcpy(u->velocity_map, data->velocity, size * sizeof *u->velocity_map);
        for (int i = 0; i < nv; i++) {
            u->velocity_index[i] = i;
            add_parameter(u, KIND_VELOCITY, i);
        }
        return CAROM_OK;
    }
    }
    return carom_fail(error, CAROM_BAD_INPUT, "velocity: %d is none of carom_velocity_spread", (int)data->velocity_spread);
}

// The pose, in coordinates that need not be those of the velocities.
static carom_status add_pose(carom_uncertainty *u, const carom_uncertainty_data *data, carom_error *error) {
    if (!u->nq) return CAROM_OK;
    if (!data->freeze || !data->qpos || !data->qpos_box)
        return carom_fail(error, CAROM_BAD_INPUT, "qpos: a pose that is not known needs its coordinates, their widths and a model");
    memcpy(u->qpos, data->qpos, (size_t)u->nq * sizeof *u->qpos);
    for (int i = 0; i < u->nq; i++) {
        const double width = data->qpos_box[i];
        if (!(width >= 0 && isfinite(width)))
            return carom_fail(error, CAROM_BAD_INPUT, "qpos.box: entry [%d] is %g, not a finite number >= 0", i, width);
        if (width > 0) add_scalar(u, KIND_QPOS, i, (scalar){.center = u->qpos[i], .scale = width, .least = -1, .most = 1});
        u->moves = u->moves || width > 0;
    }
    return CAROM_OK;
}

carom_status carom_uncertainty_create(const carom_impact *impact, const carom_uncertainty_data *data, carom_uncertainty **uncertainty,
                                      carom_error *error) {
    *uncertainty = NULL;
    carom_uncertainty *u = calloc(1, sizeof *u);
    if (!u) return carom_fail_memory(error, "uncertainty");
    const carom_impact_data *known = carom_impact_get_data(impact);
    u->nominal = impact;
    u->velocity_spread = data->velocity_spread;
    u->nq = data->nq > 0 ? data->nq : 0;
    u->freeze = data->freeze;
    u->user = data->user;
    find_column(u, KIND_DRAW);
    // Room for all that may not be known.
    const size_t most = (size_t)known->nv + 2 * (size_t)known->contacts + (size_t)u->nq + 1;
    u->parameters = carom_arena_take(&u->arena, most, sizeof *u->parameters);
    u->scalar = carom_arena_take(&u->arena, most, sizeof *u->scalar);
    u->qpos = carom_arena_take(&u->arena, (size_t)u->nq, sizeof *u->qpos);
    carom_status status = u->arena.failed ? carom_fail_memory(error, "uncertainty") : add_velocity(u, data, error);
    const int velocities = u->count;
    for (int i = 0; i < known->contacts && data->friction && !status; i++)
        status = add_spread(u, KIND_FRICTION, i, &data->friction[i], error);
    for (int i = 0; i < known->contacts && data->restitution && !status; i++)
        status = add_spread(u, KIND_RESTITUTION, i, &data->restitution[i], error);
    if (!status) status = add_pose(u, data, error);
    u->keeps_contacts = u->count == velocities;
    const carom_interval mass = data->mass;
    if (!status && (mass.least != 0 || mass.most != 0)) {
        if (!(mass.least > 0 && mass.least <= mass.most && isfinite(mass.most)))
            status = carom_fail(error, CAROM_BAD_INPUT, "mass.scale: [%g, %g] is no interval of numbers > 0", mass.least, mass.most);
        else if (mass.least != 1 || mass.most != 1)
            add_scalar(u, KIND_MASS, 0, (scalar){.scale = 1, .least = mass.least, .most = mass.most});
    }
    if (!status && u->arena.failed) status = carom_fail_memory(error, "uncertainty");
    u->dimension = u->velocity_dimension + u->scalars;
    if (status)
        carom_uncertainty_free(u);
    else
        *uncertainty = u;
    return status;
}

void carom_uncertainty_free(carom_uncertainty *uncertainty) {
    if (!uncertainty) return;
    carom_arena_free(&uncertainty->arena);
    free(uncertainty);
}

const carom_impact *carom_uncertainty_nominal(const carom_uncertainty *uncertainty) { return uncertainty->nominal; }
bool carom_uncertainty_keeps_contacts(const carom_uncertainty *uncertainty) { return uncertainty->keeps_contacts; }
int carom_uncertainty_count(const carom_uncertainty *uncertainty) { return uncertainty->count; }
const carom_uncertain_parameter *carom_uncertainty_parameters(const carom_uncertainty *uncertainty) { return uncertainty->parameters; }
int carom_uncertainty_dimension(const carom_uncertainty *uncertainty) { return uncertainty->dimension; }
bool carom_uncertainty_moves(const carom_uncertainty *uncertainty) { return uncertainty->moves; }

// Is some parameter of this kind?
static bool has_kind(const carom_uncertainty *u, int kind) {
    bool has = false;
    for (int i = 0; i < u->count; i++) has = has || u->kind_of_column[u->parameters[i].column] == kind;
    return has;
}

bool carom_uncertainty_bounces(const carom_uncertainty *uncertainty) { return has_kind(uncertainty, KIND_RESTITUTION); }

bool carom_uncertainty_rubs(const carom_uncertainty *uncertainty) { return has_kind(uncertainty, KIND_FRICTION); }

// ------------------------------------------------------------------------------------------------------------- support

// Moves a velocity to both ends of one direction in which it is not known: a component, or a principal direction of a covariance.
static void part_ends(const carom_uncertainty *u, int direction, double *least, double *most) {
    if (u->velocity_spread == CAROM_VELOCITY_COVARIANCE) {
        for (int j = 0; j < u->velocities; j++) {
            const double reach = CAROM_NORMAL_CUT * u->velocity_map[direction * u->velocities + j];
            least[u->velocity_index[j]] -= reach;
            most[u->velocity_index[j]] += reach;
        }
        return;
    }
    const scalar *s = &u->scalar[direction];
    const int index = u->parameters[direction].index;
    least[index] = s->center + s->scale * s->least;
    most[index] = s->center + s->scale * s->most;
}

carom_status carom_uncertainty_support(const carom_uncertainty *uncertainty, carom_uncertain_support *support, carom_error *error) {
    const carom_uncertainty *u = uncertainty;
    const carom_impact_data *data = carom_impact_get_data(u->nominal);
    const size_t nv = (size_t)data->nv;
    *support = (carom_uncertain_support){0};
    int velocities = 0;
    while (velocities < u->count && u->kind_of_column[u->parameters[velocities].column] == KIND_VELOCITY) velocities++;
    const bool listed = u->velocity_spread == CAROM_VELOCITY_VERTICES;
    const int directions = listed || u->velocity_spread == CAROM_VELOCITY_COVARIANCE ? u->velocity_dimension : velocities;
    if (!listed && directions > 0 && 1 << (directions < 30 ? directions : 30) > CAROM_MOST_CORNERS)
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "uncertain.velocity: %d directions have more than %d corners: let at most 12 be uncertain, or list vertices",
                          directions, CAROM_MOST_CORNERS);
    support->vertices = listed ? directions : directions ? 1 << directions : 0;
    support->velocity = calloc((size_t)support->vertices * nv + 1, sizeof *support->velocity);
    if (has_kind(u, KIND_FRICTION)) support->friction = calloc((size_t)data->contacts, sizeof *support->friction);
    if (!support->velocity || (has_kind(u, KIND_FRICTION) && !support->friction)) {
        carom_uncertain_support_free(support);
        return carom_fail_memory(error, "uncertainty");
    }
    // What is known of each vertex, then a factor of two for each direction, or the vertices that were listed.
    for (int k = 0; k < support->vertices; k++) memcpy(support->velocity + (size_t)k * nv, data->velocity, nv * sizeof(double));
    for (int k = 0; k < support->vertices && listed; k++)
        for (int j = 0; j < u->velocities; j++)
            support->velocity[(size_t)k * nv + (size_t)u->velocity_index[j]] = u->velocity_map[k * u->velocities + j];
    for (int direction = 0; direction < directions && !listed; direction++)
        for (int k = 0; k < 1 << direction; k++) {
            double *least = support->velocity + (size_t)k * nv, *most = least + ((size_t)1 << direction) * nv;
            memcpy(most, least, nv * sizeof *most);
            part_ends(u, direction, least, most);
        }
    for (int i = 0; i < data->contacts && support->friction; i++)
        support->friction[i] = (carom_interval){data->friction[i], data->friction[i]};
    for (int i = 0; i < u->scalars && support->friction; i++) {
        const carom_uncertain_parameter *of = &u->parameters[u->count - u->scalars + i];
        const scalar *s = &u->scalar[i];
        if (u->kind_of_column[of->column] == KIND_FRICTION)
            support->friction[of->index] = (carom_interval){s->center + s->scale * s->least, s->center + s->scale * s->most};
    }
    return CAROM_OK;
}

void carom_uncertain_support_free(carom_uncertain_support *support) {
    free(support->velocity);
    free(support->friction);
    *support = (carom_uncertain_support){0};
}
