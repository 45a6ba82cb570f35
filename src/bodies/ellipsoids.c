// SPDX-License-Identifier: Apache-2.0
// Moments of unions and intersections of ellipsoids with parallel axes: lines along z cross each part in one interval, so that the inner
// integral is exact. What is left is integrated over y, then x, by adaptive quadrature; where the parts meet its integrand has kinks.
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/vector3.h"

enum { MOMENTS = 10 };  // 1, x, y, z, xx, xy, xz, yy, yz, zz

// The outer error wanted, relative to the volume's scale; the inner one must be below the noise that the outer quadrature can see.
#define OUTER_TOLERANCE 1e-11
#define INNER_TOLERANCE 1e-13
// Bisections of a panel: a kink is then within 1e-12 of it.
enum { DEEPEST = 40 };

typedef struct quadrature {
    const carom_shape_data *shape;
    double (*intervals)[2];  // [ellipsoids], workspace
    double x;                // of the line
    double scale[MOMENTS];   // that tolerances are relative to
} quadrature;

typedef void (*integrand)(quadrature *q, double at, double values[MOMENTS]);

// Gauss-Kronrod rule of 7 and 15 nodes on [-1, 1].
static const double KRONROD[8] = {0.99145537112081264, 0.94910791234275852, 0.86486442335976907, 0.74153118559939444,
                                  0.58608723546769113, 0.40584515137739717, 0.20778495500789847, 0};
static const double KRONROD_WEIGHT[8] = {0.022935322010529225, 0.063092092629978553, 0.10479001032225018, 0.14065325971552592,
                                         0.16900472663926790,  0.19035057806478541,  0.20443294007529889, 0.20948214108472783};
static const double GAUSS_WEIGHT[4] = {0.12948496616886969, 0.27970539148927667, 0.38183005050511894, 0.41795918367346939};

// One panel in the angle that maps it: x = middle + half sin(angle) removes the roots at the ends of ellipses.
typedef struct panel {
    double middle, half;
} panel;

static void add_node(quadrature *q, integrand f, panel p, double angle, double kronrod, double gauss, double fine[MOMENTS],
                     double coarse[MOMENTS]) {
    double values[MOMENTS];
    f(q, p.middle + p.half * sin(angle), values);
    const double stretch = p.half * cos(angle);
    for (int i = 0; i < MOMENTS; i++) {
        fine[i] += kronrod * stretch * values[i];
        coarse[i] += gauss * stretch * values[i];
    }
}

// Adds the integral over a range of angles, which is halved until both rules agree.
static void integrate_angles(quadrature *q, integrand f, panel p, double low, double high, double tolerance, int depth,
                             double total[MOMENTS]) {
    const double center = 0.5 * (low + high), half = 0.5 * (high - low);
    double fine[MOMENTS] = {0}, coarse[MOMENTS] = {0};
    for (int k = 0; k < 8; k++) {
        const double gauss = k % 2 ? GAUSS_WEIGHT[k / 2] : 0;
        add_node(q, f, p, center - half * KRONROD[k], half * KRONROD_WEIGHT[k], half * gauss, fine, coarse);
        if (k < 7) add_node(q, f, p, center + half * KRONROD[k], half * KRONROD_WEIGHT[k], half * gauss, fine, coarse);
    }
    double worst = 0;
    for (int i = 0; i < MOMENTS; i++) worst = fmax(worst, fabs(fine[i] - coarse[i]) / q->scale[i]);
    if (worst <= tolerance || depth == DEEPEST) {
        for (int i = 0; i < MOMENTS; i++) total[i] += fine[i];
        return;
    }
    integrate_angles(q, f, p, low, center, tolerance, depth + 1, total);
    integrate_angles(q, f, p, center, high, tolerance, depth + 1, total);
}

static int compare_numbers(const void *first, const void *second) {
    const double a = *(const double *)first, b = *(const double *)second;
    return a < b ? -1 : a > b;
}

// The integral over a range that is cut where parts begin and end.
static void integrate(quadrature *q, integrand f, double *breaks, int count, double tolerance, double total[MOMENTS]) {
    memset(total, 0, MOMENTS * sizeof *total);
    qsort(breaks, (size_t)count, sizeof *breaks, compare_numbers);
    static const double RIGHT_ANGLE = 1.5707963267948966;
    for (int i = 0; i + 1 < count; i++) {
        const panel p = {0.5 * (breaks[i] + breaks[i + 1]), 0.5 * (breaks[i + 1] - breaks[i])};
        if (p.half > 0) integrate_angles(q, f, p, -RIGHT_ANGLE, RIGHT_ANGLE, tolerance, 0, total);
    }
}

// ((at - center) / semiaxis)^2 of a part along an axis.
static double squared_offset(const carom_shape_data *shape, int part, int axis, double at) {
    const double t = (at - shape->centers[3 * part + axis]) / shape->semiaxes[3 * part + axis];
    return t * t;
}

// Half the width of a part's section, in semiaxes, that is left at an offset from the center; 0 outside.
static double share_left(double squared) { return squared < 1 ? sqrt(1 - squared) : 0; }

// The integrand over y: moments of the line through (q->x, y) along z.
static void along_y(quadrature *q, double y, double values[MOMENTS]) {
    // The intervals in which the line meets the parts.
    const carom_shape_data *shape = q->shape;
    const bool unites = shape->combine == CAROM_COMBINE_UNION;
    double(*all)[2] = q->intervals;
    int crossed = 0, count = 0;
    for (int i = 0; i < shape->ellipsoids; i++) {
        const double half = shape->semiaxes[3 * i + 2] * share_left(squared_offset(shape, i, 0, q->x) + squared_offset(shape, i, 1, y));
        if (half == 0 && unites) continue;
        all[crossed][0] = shape->centers[3 * i + 2] - half;
        all[crossed++][1] = shape->centers[3 * i + 2] + half;
    }
    // United, from the lowest on, or intersected.
    if (unites) qsort(all, (size_t)crossed, sizeof *all, compare_numbers);
    for (int i = 0; unites && i < crossed; i++) {
        if (count && all[i][0] <= all[count - 1][1])
            all[count - 1][1] = fmax(all[count - 1][1], all[i][1]);
        else
            memmove(all[count++], all[i], sizeof *all);
    }
    for (int i = 1; !unites && i < crossed; i++) {
        all[0][0] = fmax(all[0][0], all[i][0]);
        all[0][1] = fmin(all[0][1], all[i][1]);
    }
    if (!unites) count = all[0][1] > all[0][0];
    // Integrals of 1, z and z^2 over them.
    double length = 0, first = 0, second = 0;
    for (int i = 0; i < count; i++) {
        const double low = all[i][0], high = all[i][1];
        length += high - low;
        first += (high * high - low * low) / 2;
        second += (high * high * high - low * low * low) / 3;
    }
    const double x = q->x, moments[MOMENTS] = {length,         length * x, length * y,     first,     length * x * x,
                                               length * x * y, first * x,  length * y * y, first * y, second};
    memcpy(values, moments, sizeof moments);
}

// The integrand over x: moments of the plane section at x.
static void along_x(quadrature *q, double x, double values[MOMENTS]) {
    const carom_shape_data *shape = q->shape;
    double breaks[2 * CAROM_MAX_ELLIPSOIDS];
    int count = 0;
    q->x = x;
    for (int i = 0; i < shape->ellipsoids; i++) {
        const double half = shape->semiaxes[3 * i + 1] * share_left(squared_offset(shape, i, 0, x));
        if (half == 0) continue;
        breaks[count++] = shape->centers[3 * i + 1] - half;
        breaks[count++] = shape->centers[3 * i + 1] + half;
    }
    integrate(q, along_y, breaks, count, INNER_TOLERANCE, values);
}

carom_status carom_ellipsoids_moments(const carom_shape_data *shape, carom_moments *moments, carom_error *error) {
    *moments = (carom_moments){0};
    double(*intervals)[2] = malloc((size_t)shape->ellipsoids * sizeof *intervals), total[MOMENTS];
    if (!intervals) return carom_fail_memory(error, "ellipsoids");
    // Errors are relative to the largest part's volume and to the extent of all.
    quadrature q = {.shape = shape, .intervals = intervals};
    double breaks[2 * CAROM_MAX_ELLIPSOIDS], extent = 0, volume = 0;
    for (int i = 0; i < shape->ellipsoids; i++) {
        const double *axes = shape->semiaxes + 3 * i, *center = shape->centers + 3 * i;
        breaks[2 * i] = center[0] - axes[0];
        breaks[2 * i + 1] = center[0] + axes[0];
        volume = fmax(volume, axes[0] * axes[1] * axes[2]);
        for (int k = 0; k < 3; k++) extent = fmax(extent, fabs(center[k]) + axes[k]);
    }
    for (int i = 0; i < MOMENTS; i++) q.scale[i] = volume * (i == 0 ? 1 : i < 4 ? extent : extent * extent);
    integrate(&q, along_x, breaks, 2 * shape->ellipsoids, OUTER_TOLERANCE, total);
    free(intervals);
    moments->volume = total[0];
    memcpy(moments->first, total + 1, sizeof moments->first);
    const double second[9] = {total[4], total[5], total[6], total[5], total[7], total[8], total[6], total[8], total[9]};
    memcpy(moments->second, second, sizeof second);
    return CAROM_OK;
}
