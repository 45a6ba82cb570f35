// SPDX-License-Identifier: Apache-2.0
// The intersection of two ellipsoids with parallel axes, f1 <= 1 and f2 <= 1. Its gap to a plane is not the larger one of the parts': where
// the deepest point of each lies outside the other, the body touches with its rim. By duality the deepest point is that of an ellipsoid
// w f1 + (1-w) f2 <= 1 of the pencil, for the w at which it lies on both boundaries.
#include "bodies/bodies_internal.h"
#include "carom/bracket.h"
#include "carom/vector3.h"

// Width at which the weight w in (0, 1) is found, and a limit that one halving in four steps would meet.
#define WEIGHT_TOLERANCE 1e-15
enum { MOST_EVALUATIONS = 200 };
// Sections of the search for the deepest point of both: 0.618^80 is below rounding.
enum { GOLDEN_SECTIONS = 80 };

// An ellipsoid sum_i weight_i (rho_i - center_i)^2 <= level.
typedef struct pencil_member {
    double weight[3], center[3], level;
} pencil_member;

// f of one of the two ellipsoids.
static double level_of(const carom_shape_data *shape, int part, const double rho[3]) {
    const double *semiaxes = shape->semiaxes + 3 * part, *center = shape->centers + 3 * part;
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double t = (rho[i] - center[i]) / semiaxes[i];
        sum += t * t;
    }
    return sum;
}

static pencil_member member_at(const carom_shape_data *shape, double w) {
    const double *a = shape->semiaxes, *b = a + 3, *p = shape->centers, *q = p + 3;
    pencil_member member = {.level = 1};
    for (int i = 0; i < 3; i++) {
        const double first = w / (a[i] * a[i]), second = (1 - w) / (b[i] * b[i]), distance = p[i] - q[i];
        member.weight[i] = first + second;
        member.center[i] = (first * p[i] + second * q[i]) / member.weight[i];
        member.level -= first * second / member.weight[i] * distance * distance;
    }
    return member;
}

bool carom_intersection_exists(const carom_shape_data *shape) {
    // The level is convex in w, and the interiors meet where its minimum is positive.
    static const double GOLDEN = 0.6180339887498949;
    double low = 0, high = 1;
    for (int i = 0; i < GOLDEN_SECTIONS; i++) {
        const double left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
        if (member_at(shape, left).level < member_at(shape, right).level)
            high = right;
        else
            low = left;
    }
    return member_at(shape, 0.5 * (low + high)).level > 0;
}

// f1 - f2 at the deepest point of a member: falls from positive at w = 0 to negative at w = 1.
static double level_difference(const carom_shape_data *shape, double w, const double u[3], double rho[3]) {
    // rho = center - sqrt(level / sum u_i^2/weight_i) u_i/weight_i.
    const pencil_member member = member_at(shape, w);
    double spread = 0;
    for (int i = 0; i < 3; i++) spread += u[i] * u[i] / member.weight[i];
    const double scale = sqrt(fmax(member.level, 0) / spread);
    for (int i = 0; i < 3; i++) rho[i] = member.center[i] - scale * u[i] / member.weight[i];
    return level_of(shape, 0, rho) - level_of(shape, 1, rho);
}

double carom_intersection_support(const carom_shape_data *shape, const double u[3], double rho[3]) {
    // The deepest point of one part, where it lies in the other.
    for (int part = 0; part < 2; part++) {
        const double depth = carom_ellipsoid_support(shape->semiaxes + 3 * part, shape->centers + 3 * part, u, rho);
        if (level_of(shape, 1 - part, rho) <= 1) return depth;
    }
    // Otherwise the deepest point on the rim.
    carom_bracket b = {0, 1, level_difference(shape, 0, u, rho), level_difference(shape, 1, u, rho), 0, 0};
    for (int i = 0; i < MOST_EVALUATIONS && b.high - b.low > WEIGHT_TOLERANCE; i++) {
        const double w = carom_bracket_guess(&b);
        if (!(w > b.low && w < b.high)) break;
        carom_bracket_update(&b, w, level_difference(shape, w, u, rho));
    }
    return carom_dot3(u, rho);
}
