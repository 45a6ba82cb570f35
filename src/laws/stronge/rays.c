// SPDX-License-Identifier: Apache-2.0
// Invariant directions of a single contact: s x (-mu B s + d) = 0 (Jia & Wang 2017). No quartic is solved: in the eigenframe of
// B every direction has a bracket of its own.
#include <math.h>

#include "laws/stronge/contact.h"

// ------------------------------------------------------------------------------------------------- in the process itself

// (mu B + lambda) s = d with |s| = 1: lambda is the positive root of 1/|(mu B + lambda)^-1 d| = 1, which is concave and grows with lambda,
// so that Newton's method from 0 never passes it.
double contact_centrifugal_ray(const contact_frame *frame, double s[2]) {
    enum { MOST_ITERATIONS = 100 };
    const double accuracy = 1e-16;
    double lambda = 0;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        double norm = 0, slope = 0;
        for (int k = 0; k < 2; k++) {
            const double diagonal = frame->mu * frame->lambda[k] + lambda;
            s[k] = frame->d[k] / diagonal;
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

bool contact_snap_to_ray(const contact_frame *frame, double reach, double s[2]) {
    enum { MOST_ITERATIONS = 6 };
    const double straight = 1e-15;
    // Turning slower than this is the round-off of directions that do not turn.
    const double still = 4e-16 * (frame->mu * frame->lambda[0] + fabs(frame->d[0]) + fabs(frame->d[1]));
    double c = s[0], n = s[1], turned = 0;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        double a[2];
        contact_drive(frame, (const double[]){c, n}, a);
        const double turn = c * a[1] - n * a[0];
        if (fabs(turn) <= still) break;
        const double slope = -frame->mu * (frame->lambda[0] * n * n + frame->lambda[1] * c * c) - (c * a[0] + n * a[1]);
        const double angle = -turn / slope;
        // This also holds where the slope is zero: the quotient is infinite then, and no direction is near enough.
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

// Directions by angle, with p reflected into the first quadrant: g(angle) = -L sin cos + py cos - px sin, L = gap, is zero at them;
// T = -mu g is the turning of the slip.
typedef struct directions {
    double px, py, gap;
    double angle[CAROM_MOST_RAYS];
    carom_ray_type type[CAROM_MOST_RAYS];
    int count;
} directions;

// There are at most CAROM_MOST_RAYS.
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
    // Newton's method within the bracket, with bisection.
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
// All of them: those of an axis where p lies on it, otherwise one or two in each quadrant.
static void find_directions(directions *v) {
    const double none = NO_COMPONENT * (v->px + v->py + v->gap);
    if (v->py <= none) {
        // On the first axis, and where cos = -px/L.
        const double excess = v->px - v->gap;
        const bool merged = fabs(excess) <= MERGED * v->gap;
        add_direction(v, 0, CAROM_RAY_REPELLING);
        add_direction(v, HALF_TURN, merged ? CAROM_RAY_MERGED : excess < 0 ? CAROM_RAY_REPELLING : CAROM_RAY_ATTRACTING);
        if (merged || excess > 0) return;
        const double angle = acos(-v->px / v->gap);
        add_direction(v, angle, CAROM_RAY_ATTRACTING);
        add_direction(v, -angle, CAROM_RAY_ATTRACTING);
    } else if (v->px <= none) {
        // On the second axis, and where sin = py/L.
        const double excess = v->py - v->gap;
        const bool merged = fabs(excess) <= MERGED * v->gap;
        add_direction(v, 0.5 * HALF_TURN, merged ? CAROM_RAY_MERGED : excess < 0 ? CAROM_RAY_ATTRACTING : CAROM_RAY_REPELLING);
        add_direction(v, -0.5 * HALF_TURN, CAROM_RAY_ATTRACTING);
        if (merged || excess > 0) return;
        const double angle = asin(v->py / v->gap);
        add_direction(v, angle, CAROM_RAY_REPELLING);
        add_direction(v, HALF_TURN - angle, CAROM_RAY_REPELLING);
    } else {
        // One direction in the first quadrant, one in the third, none in the fourth, and two in the second inside the astroid
        // px^(2/3) + py^(2/3) = L^(2/3), on either side of the angle with |cos| : sin = px^(1/3) : py^(1/3).
        const double a = cbrt(v->px), b = cbrt(v->py), astroid = cbrt(v->gap * v->gap), excess = a * a + b * b - astroid;
        const double middle = atan2(b, -a);
        add_direction(v, find_zero(v, 0, 0.5 * HALF_TURN), CAROM_RAY_REPELLING);
        add_direction(v, find_zero(v, -HALF_TURN, -0.5 * HALF_TURN), CAROM_RAY_ATTRACTING);
        if (fabs(excess) <= MERGED * astroid) {
            add_direction(v, middle, CAROM_RAY_MERGED);
        } else if (excess < 0) {
            add_direction(v, find_zero(v, 0.5 * HALF_TURN, middle), CAROM_RAY_ATTRACTING);
            add_direction(v, find_zero(v, middle, HALF_TURN), CAROM_RAY_REPELLING);
        }
    }
}

carom_status carom_contact_invariant_rays(const carom_contact_problem *problem, carom_invariant_ray rays[CAROM_MOST_RAYS], int *count,
                                          carom_error *error) {
    *count = 0;
    contact_frame frame;
    const carom_status status = contact_frame_make(problem, &frame, error);
    if (status || frame.mu == 0) return status;
    const double p[2] = {-frame.d[0] / frame.mu, -frame.d[1] / frame.mu}, mirror[2] = {p[0] < 0 ? -1 : 1, p[1] < 0 ? -1 : 1};
    directions v = {.px = fabs(p[0]), .py = fabs(p[1]), .gap = frame.lambda[0] - frame.lambda[1]};
    // B isotropic and no coupling: nothing turns the slip.
    if (v.px + v.py + v.gap <= NO_COMPONENT * frame.lambda[0]) return CAROM_OK;
    find_directions(&v);
    for (; *count < v.count; ++*count) {
        // Reflected back, with the rate of its slip speed, in the axes of the caller.
        const double s[2] = {mirror[0] * cos(v.angle[*count]), mirror[1] * sin(v.angle[*count])};
        double a[2];
        contact_drive(&frame, s, a);
        carom_invariant_ray ray = {.rate = (s[0] * a[0] + s[1] * a[1]) * frame.mass_unit, .type = v.type[*count]};
        if (ray.type == CAROM_RAY_ATTRACTING && ray.rate > 0) ray.type = CAROM_RAY_CENTRIFUGAL;
        ray.direction[0] = frame.axis[0] * s[0] - frame.axis[1] * s[1] + 0.0;
        ray.direction[1] = frame.axis[1] * s[0] + frame.axis[0] * s[1] + 0.0;
        ray.angle = atan2(ray.direction[1], ray.direction[0]);
        // Into its place by angle.
        int place = *count;
        for (; place > 0 && ray.angle < rays[place - 1].angle; place--) rays[place] = rays[place - 1];
        rays[place] = ray;
    }
    return CAROM_OK;
}
