// SPDX-License-Identifier: Apache-2.0
// Moments of unions and intersections of convex parts: lines along z cross each part in one interval, so that the inner integral is exact.
// What is left is integrated over y, then x, by adaptive quadrature; where the parts meet its integrand has kinks.
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/arena.h"
#include "carom/vector3.h"

enum { MOMENTS = 10 };  // 1, x, y, z, xx, xy, xz, yy, yz, zz

// The outer error wanted, relative to the volume's scale; the inner one must be below the noise that the outer quadrature can see.
#define OUTER_TOLERANCE 1e-11
#define INNER_TOLERANCE 1e-13
// Bisections of a panel: a kink is then within 1e-12 of it.
enum { DEEPEST = 40 };
// Faces along the lines, whose crossing tells nothing: third component of the normal.
#define UPRIGHT_FACE 1e-12

typedef struct quadrature {
    const carom_convex *part;
    int parts;
    bool unites;
    double (*intervals)[2];  // [parts], workspace
    double *breaks;          // [most], workspace of a section
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

// Where a part begins and ends along x, and where a polyhedron has corners.
static int x_breaks(const carom_convex *part, double *breaks) {
    if (part->round) {
        const double half = sqrt(part->spread[0]);
        breaks[0] = part->center[0] - half;
        breaks[1] = part->center[0] + half;
        return 2;
    }
    for (int v = 0; v < part->hull.vertices; v++) breaks[v] = part->hull.vertex[3 * v];
    return part->hull.vertices;
}

// The section of an ellipsoid at x: its middle and half its width along y. False where there is none.
static bool round_section(const carom_convex *part, double x, double *middle, double *half) {
    const double *S = part->spread, apart = x - part->center[0], left = 1 - apart * apart / S[0];
    *middle = part->center[1] + S[1] / S[0] * apart;
    *half = left > 0 ? sqrt(left * (S[4] - S[1] * S[1] / S[0])) : 0;
    return *half > 0;
}

// The same along y, in the section at x: a polyhedron's edges cross that plane. Triangles have each edge twice.
static int y_breaks(const carom_convex *part, double x, double *breaks) {
    double middle, half;
    int count = 0;
    if (part->round) {
        if (!round_section(part, x, &middle, &half)) return 0;
        breaks[0] = middle - half;
        breaks[1] = middle + half;
        return 2;
    }
    for (int k = 0; k < 3 * part->hull.triangles; k++) {
        const int from = part->hull.triangle[k], to = part->hull.triangle[k / 3 * 3 + (k + 1) % 3];
        const double *a = part->hull.vertex + 3 * from, *b = part->hull.vertex + 3 * to;
        if (from < to && (a[0] < x) != (b[0] < x)) breaks[count++] = a[1] + (x - a[0]) / (b[0] - a[0]) * (b[1] - a[1]);
    }
    return count;
}

// Where the line through (x, y) along z is in a part; false where it is nowhere.
static bool z_interval(const carom_convex *part, double x, double y, double interval[2]) {
    if (part->round) {
        double middle, width;
        if (!round_section(part, x, &middle, &width)) return false;
        // With the part of the quadric that is left at (x, y), z - c = -(A20 dx + A21 dy)/A22 +- sqrt(left/A22).
        const double *S = part->spread, *A = part->quadric, dx = x - part->center[0], dy = y - part->center[1];
        const double left = 1 - dx * dx / S[0] - (y - middle) * (y - middle) / (S[4] - S[1] * S[1] / S[0]);
        if (!(left > 0)) return false;
        const double center = part->center[2] - (A[6] * dx + A[7] * dy) / A[8], half = sqrt(left / A[8]);
        interval[0] = center - half;
        interval[1] = center + half;
        return true;
    }
    interval[0] = -INFINITY;
    interval[1] = INFINITY;
    for (int t = 0; t < part->hull.triangles; t++) {
        const double *n = part->hull.normal + 3 * t, *corner = part->hull.vertex + 3 * part->hull.triangle[3 * t];
        const double left = n[0] * (corner[0] - x) + n[1] * (corner[1] - y), upright = fabs(n[2]);
        if (upright < UPRIGHT_FACE) {
            if (left < 0) return false;
        } else if (n[2] > 0) {
            interval[1] = fmin(interval[1], corner[2] + left / n[2]);
        } else {
            interval[0] = fmax(interval[0], corner[2] + left / n[2]);
        }
    }
    return interval[1] > interval[0];
}

// The integrand over y: moments of the line through (q->x, y) along z.
static void along_y(quadrature *q, double y, double values[MOMENTS]) {
    // The intervals in which the line meets the parts.
    const bool unites = q->unites;
    double(*all)[2] = q->intervals;
    int crossed = 0, count = 0;
    for (int i = 0; i < q->parts; i++) {
        if (z_interval(&q->part[i], q->x, y, all[crossed]))
            crossed++;
        else if (!unites)
            crossed = -1;
        if (crossed < 0) break;
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
    if (!unites) count = crossed > 0 && all[0][1] > all[0][0];
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
    int count = 0;
    q->x = x;
    for (int i = 0; i < q->parts; i++) count += y_breaks(&q->part[i], x, q->breaks + count);
    integrate(q, along_y, q->breaks, count, INNER_TOLERANCE, values);
}

carom_status carom_convex_moments(const carom_convex *part, int parts, carom_combine combine, carom_moments *moments, carom_error *error) {
    *moments = (carom_moments){0};
    size_t most = 0;
    for (int i = 0; i < parts; i++) most += part[i].round ? 2 : 3 * (size_t)part[i].hull.triangles;
    carom_arena arena = {0};
    double(*intervals)[2] = carom_arena_take(&arena, (size_t)parts, sizeof *intervals), total[MOMENTS];
    double *breaks = carom_arena_take(&arena, most, sizeof *breaks), *sections = carom_arena_take(&arena, most, sizeof *sections);
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "parts");
    }
    // Errors are relative to the largest part's volume and to the extent of all.
    quadrature q = {.part = part, .parts = parts, .unites = combine == CAROM_COMBINE_UNION, .intervals = intervals, .breaks = sections};
    double extent = 0, volume = 0;
    int count = 0;
    for (int i = 0; i < parts; i++) {
        double own = 1, *first = breaks + count;
        count += x_breaks(&part[i], first);
        for (int k = 0; k < 3; k++) {
            const double half = part[i].round ? sqrt(part[i].spread[4 * k]) : 0;
            double low = part[i].center[k] - half, high = part[i].center[k] + half;
            for (int v = 0; v < part[i].hull.vertices; v++) {
                low = fmin(v ? low : INFINITY, part[i].hull.vertex[3 * v + k]);
                high = fmax(v ? high : -INFINITY, part[i].hull.vertex[3 * v + k]);
            }
            own *= 0.5 * (high - low);
            extent = fmax(extent, fmax(fabs(low), fabs(high)));
        }
        volume = fmax(volume, own);
    }
    for (int i = 0; i < MOMENTS; i++) q.scale[i] = volume * (i == 0 ? 1 : i < 4 ? extent : extent * extent);
    integrate(&q, along_x, breaks, count, OUTER_TOLERANCE, total);
    carom_arena_free(&arena);
    moments->volume = total[0];
    memcpy(moments->first, total + 1, sizeof moments->first);
    const double second[9] = {total[4], total[5], total[6], total[5], total[7], total[8], total[6], total[8], total[9]};
    memcpy(moments->second, second, sizeof second);
    return CAROM_OK;
}
