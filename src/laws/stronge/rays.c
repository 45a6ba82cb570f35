// SPDX-License-Identifier: Apache-2.0
// Invariant directions of a single contact: s x (-mu B s + d) = 0 (Jia & Wang 2017). No quartic is solved: in the eigenframe of
// B every direction has a bracket of its own.
#include <math.h>

#include "laws/stronge/contact.h"

// ------------------------------------------------------------------------------------------------- in the process itself

// (mu B + lambda) s = d with |s| = 1: lambda is the positive root of 1/|(mu B + lambda)^-1 d| = 1, which is concave and grows with lambda,
// so that Newton's method from 0 never passes it.
double contact_centrifugal_ray(const contact_frame *f, double s[2]) {
    enum { MOST_ITERATIONS = 100 };
    const double accuracy = 1e-16;
    double lambda = 0;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        double norm = 0, slope = 0;
        for (int k = 0; k < 2; k++) {
            const double diagonal = f->mu * f->lambda[k] + lambda;
            s[k] = f->d[k] / diagonal;
            norm += s[k] * s[k];
            slope += s[k] * s[k] / diagonal;
        }
        const double length = sqrt(norm);
        // |B^-1 d| <= mu: friction holds the contact.
        if (i == 0 && length <= 1) return 0;
        const double change = (length - 1) * norm / slope;
        lambda += change;
        for (int k = 0; k < 2; k++) s[k] /= length;
        if (change <= accuracy * lambda) break;
    }
    return lambda;
}

bool contact_snap_to_ray(const contact_frame *f, double reach, double s[2]) {
    enum { MOST_ITERATIONS = 6 };
    const double straight = 1e-15;
    // Turning slower than this is the round-off of directions that do not turn.
    const double still = 4e-16 * (f->mu * f->lambda[0] + fabs(f->d[0]) + fabs(f->d[1]));
    double c = s[0], n = s[1], turned = 0;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        double a[2];
        contact_drive(f, (const double[]){c, n}, a);
        const double turn = c * a[1] - n * a[0];
        if (fabs(turn) <= still) break;
        const double slope = -f->mu * (f->lambda[0] * n * n + f->lambda[1] * c * c) - (c * a[0] + n * a[1]);
        const double angle = -turn / slope;
        // Also where the slope is zero: the quotient is then infinite, and no direction is in reach.
        if (!(fabs(turned + angle) <= reach)) return false;
        turned += angle;
        // The rotation by the angle to second order, made a unit vector again.
        const double cosine = 1 - 0.5 * angle * angle, x = c * cosine - n * angle, y = n * cosine + c * angle, norm = sqrt(x * x + y * y);
        c = x / norm;
        n = y / norm;
        if (fabs(angle) <= straight) break;
        if (i == MOST_ITERATIONS - 1) return false;
    }
    s[0] = c;
    s[1] = n;
    return true;
}

// --------------------------------------------------------------------------------------------------- all of them, by angle

static const char *const type_names[] = {
    [CAROM_RAY_ATTRACTING] = "attracting",
    [CAROM_RAY_REPELLING] = "repelling",
    [CAROM_RAY_CENTRIFUGAL] = "centrifugal",
    [CAROM_RAY_MERGED] = "merged",
};

const char *carom_ray_type_name(carom_ray_type type) { return type_names[type]; }

static const double HALF_TURN = 3.1415926535897932384626433832795;

// Components of p = -d/mu below this share of |p| + L are zero: the rotation into the eigenframe leaves such residues.
#define NO_COMPONENT 1e-14
// |px|^(2/3) + |py|^(2/3) this close to L^(2/3), relative to it: two or three directions have merged.
#define MERGED 1e-12

// With p reflected into the first quadrant: g(angle) = -L sin cos + py cos - px sin; T = -mu g is the turning of the slip.
typedef struct directions {
    double px, py, gap;
    double angle[CAROM_MOST_RAYS];
    carom_ray_type type[CAROM_MOST_RAYS];
    int count;
} directions;

static void add_direction(directions *v, double angle, carom_ray_type type) {
    v->angle[v->count] = angle;
    v->type[v->count++] = type;
}

static double turning(const directions *v, double angle) {
    return -v->gap * sin(angle) * cos(angle) + v->py * cos(angle) - v->px * sin(angle);
}

// The zero of g between two angles at which it has different signs.
static double find_zero(const directions *v, double low, double high) {
    enum { MOST_ITERATIONS = 100 };
    const double accuracy = 1e-16;
    const bool rises = turning(v, high) > 0;
    double angle = 0.5 * (low + high);
    for (int i = 0; i < MOST_ITERATIONS && high - low > accuracy; i++) {
        const double g = turning(v, angle), slope = -v->gap * cos(2 * angle) - v->py * sin(angle) - v->px * cos(angle);
        if (g == 0) return angle;
        if ((g > 0) == rises)
            high = angle;
        else
            low = angle;
        const double newton = angle - g / slope;
        const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
        if (fabs(next - angle) <= accuracy) return next;
        angle = next;
    }
    return angle;
}

// d along the first axis, or no d: directions along that axis, and a mirrored pair where px is small.
static void find_on_first_axis(directions *v) {
    const double excess = v->px - v->gap;
    const bool merged = v->px > 0 && fabs(excess) <= MERGED * v->gap;
    add_direction(v, 0, CAROM_RAY_REPELLING);
    add_direction(v, HALF_TURN, merged ? CAROM_RAY_MERGED : excess < 0 ? CAROM_RAY_REPELLING : CAROM_RAY_ATTRACTING);
    if (merged || excess > 0) return;
    const double angle = acos(-v->px / v->gap);
    add_direction(v, angle, CAROM_RAY_ATTRACTING);
    add_direction(v, -angle, CAROM_RAY_ATTRACTING);
}

static void find_on_second_axis(directions *v) {
    const double excess = v->py - v->gap;
    const bool merged = fabs(excess) <= MERGED * v->gap;
    add_direction(v, 0.5 * HALF_TURN, merged ? CAROM_RAY_MERGED : excess < 0 ? CAROM_RAY_ATTRACTING : CAROM_RAY_REPELLING);
    add_direction(v, -0.5 * HALF_TURN, CAROM_RAY_ATTRACTING);
    if (merged || excess > 0) return;
    const double angle = asin(v->py / v->gap);
    add_direction(v, angle, CAROM_RAY_REPELLING);
    add_direction(v, HALF_TURN - angle, CAROM_RAY_REPELLING);
}

// One direction in the first quadrant, one in the third, none in the fourth, and two in the second inside the astroid
// px^(2/3) + py^(2/3) = L^(2/3), on either side of the angle with |cos| : sin = px^(1/3) : py^(1/3).
static void find_between_axes(directions *v) {
    const double a = cbrt(v->px), b = cbrt(v->py), astroid = cbrt(v->gap * v->gap), excess = a * a + b * b - astroid;
    add_direction(v, find_zero(v, 0, 0.5 * HALF_TURN), CAROM_RAY_REPELLING);
    add_direction(v, find_zero(v, -HALF_TURN, -0.5 * HALF_TURN), CAROM_RAY_ATTRACTING);
    const double middle = atan2(b, -a);
    if (fabs(excess) <= MERGED * astroid) {
        add_direction(v, middle, CAROM_RAY_MERGED);
    } else if (excess < 0) {
        add_direction(v, find_zero(v, 0.5 * HALF_TURN, middle), CAROM_RAY_ATTRACTING);
        add_direction(v, find_zero(v, middle, HALF_TURN), CAROM_RAY_REPELLING);
    }
}

// The direction at a reflected angle in the axes of the caller, with its rate.
static void make_ray(const contact_frame *f, const double mirror[2], double angle, carom_ray_type type, carom_invariant_ray *ray) {
    const double s[2] = {mirror[0] * cos(angle), mirror[1] * sin(angle)};
    double a[2];
    contact_drive(f, s, a);
    ray->rate = (s[0] * a[0] + s[1] * a[1]) * f->mass_unit;
    ray->type = type == CAROM_RAY_ATTRACTING && ray->rate > 0 ? CAROM_RAY_CENTRIFUGAL : type;
    ray->direction[0] = f->axis[0] * s[0] - f->axis[1] * s[1] + 0.0;
    ray->direction[1] = f->axis[1] * s[0] + f->axis[0] * s[1] + 0.0;
    ray->angle = atan2(ray->direction[1], ray->direction[0]);
}

static void sort_by_angle(carom_invariant_ray *rays, int count) {
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && rays[k].angle < rays[k - 1].angle; k--) {
            const carom_invariant_ray swapped = rays[k];
            rays[k] = rays[k - 1];
            rays[k - 1] = swapped;
        }
}

carom_status carom_contact_invariant_rays(const carom_contact_problem *problem, carom_invariant_ray rays[CAROM_MOST_RAYS], int *count,
                                          carom_error *error) {
    *count = 0;
    contact_frame f;
    const carom_status status = contact_frame_make(problem, &f, error);
    if (status || f.mu == 0) return status;
    const double p[2] = {-f.d[0] / f.mu, -f.d[1] / f.mu}, mirror[2] = {p[0] < 0 ? -1 : 1, p[1] < 0 ? -1 : 1};
    directions v = {.px = fabs(p[0]), .py = fabs(p[1]), .gap = f.lambda[0] - f.lambda[1]};
    const double none = NO_COMPONENT * (v.px + v.py + v.gap);
    // B isotropic and no coupling: nothing turns the slip.
    if (v.px + v.py + v.gap <= NO_COMPONENT * f.lambda[0]) return CAROM_OK;
    if (v.py <= none)
        find_on_first_axis(&v);
    else if (v.px <= none)
        find_on_second_axis(&v);
    else
        find_between_axes(&v);
    for (int i = 0; i < v.count; i++) make_ray(&f, mirror, v.angle[i], v.type[i], &rays[i]);
    *count = v.count;
    sort_by_angle(rays, v.count);
    return CAROM_OK;
}
