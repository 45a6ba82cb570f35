// SPDX-License-Identifier: Apache-2.0
// Refinement of a step whose LCP solution is as good as W allows, but not good enough.
//
// Where light bodies meet heavy ones, or a body has little inertia in one direction, the Delassus operator W = J M^-1 J' is a sum of terms
// that differ by the ratio of the masses, and rounds the small ones off: at a ratio of 1e8, W lambda leaves velocities uncertain by 1e-8.
// The velocity after the step knows better. So the equations of the final basis are solved again for what v' = v + M^-1 J' lambda has left
// over, and the corrections go to the impulse and to v' itself, which stays small where lambda does not (iterative refinement).
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "step/step_internal.h"

// Each sweep gains what W has left: eight digits at a ratio of 1e8, four at 1e12.
enum { MOST_SWEEPS = 8 };
// Stop where what is left over is the round-off of velocities.
#define ROUND_OFF 1e-15
// Impulses that, at the least mass, would change velocities by this multiple of what they were: W lambda has lost as many digits.
#define COARSE 1e5
// Share of impulses that is the round-off of their sums.
#define IMPULSE_ROUND_OFF 1e-15

// a - b, zero where it is the round-off of both: impulses of heavy bodies are large numbers in natural units.
static double subtract_impulses(double a, double b) { return fabs(a - b) <= IMPULSE_ROUND_OFF * (fabs(a) + fabs(b)) ? 0 : a - b; }

// y of the LCP in natural units, from stepper->u_next and stepper->z.
static void fill_slacks(const carom_stepper *stepper, const double *lmax, double *y) {
    const double *z = stepper->z, *friction = carom_impact_get_data(stepper->impact)->friction + stepper->first;
    for (int i = 0; i < stepper->count; i++) {
        const int row = carom_step_contact_row(stepper, i), normal = stepper->normal + i, gamma = stepper->gamma + i;
        const double *after = stepper->u_next + row;
        // Velocities after the step, and the multipliers that act on them.
        y[normal] = after[0];
        if (stepper->kind == CAROM_STEP_NEWTON) y[normal] += stepper->restitution[stepper->first + i] * stepper->u[row];
        if (stepper->beta >= 0) {
            y[stepper->beta + i] = subtract_impulses(lmax[i], z[normal]);
            y[normal] += z[stepper->beta + i];
        }
        double tangential = 0;
        for (int a = 1; a <= stepper->edges; a++) {
            const int edge = carom_step_force_index(stepper, i, a);
            y[edge] = carom_dot(stepper->dim, carom_step_direction(stepper, a - 1), after + 1) + z[gamma];
            tangential += z[edge];
        }
        y[gamma] = subtract_impulses(friction[i] * z[normal], tangential);
    }
    for (int i = 0; i < stepper->size; i++) y[i] /= stepper->y_natural[i];
}

// The residual of carom_lcp_residual, with the velocity that was reached in place of W z + w; `size` is that of w.
static double find_residual(const carom_stepper *stepper, const double *y, double *size) {
    double worst = 0;
    *size = 0;
    for (int i = 0; i < stepper->size; i++) {
        worst = fmax(worst, fabs(fmin(y[i], stepper->z[i] / stepper->z_natural[i])));
        *size = fmax(*size, fabs(stepper->w[i] / stepper->y_natural[i]));
    }
    return worst;
}

bool carom_step_is_coarse(const carom_stepper *stepper, const double *impulse) {
    const size_t n = (size_t)carom_impact_contact_size(stepper->impact);
    return carom_max_abs(n, impulse) > COARSE * stepper->least_mass * carom_max_abs(n, stepper->u);
}

void carom_step_refine(carom_stepper *stepper, const double *lmax, bool in_contact_space, double *impulse, carom_step_info *info) {
    const size_t size = (size_t)stepper->size, n = (size_t)carom_impact_contact_size(stepper->impact);
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv;
    const double *W = carom_impact_delassus(stepper->impact);
    const bool *basic = carom_lcp_lemke_basic(stepper->lcp);
    // What there was before a correction that makes things worse.
    double *change = stepper->change, *z = change + size, *v_next = z + size, *u_next = v_next + nv, *y = stepper->scaled;
    double scale, worst = INFINITY;
    for (int sweep = 0; sweep <= MOST_SWEEPS; sweep++) {
        fill_slacks(stepper, lmax, y);
        const double left = find_residual(stepper, y, &scale);
        if (!(left < worst)) {
            memcpy(stepper->z, z, size * sizeof *z);
            memcpy(stepper->v_next, v_next, nv * sizeof *v_next);
            memcpy(stepper->u_next, u_next, n * sizeof *u_next);
            break;
        }
        worst = left;
        if (!(worst > ROUND_OFF * scale) || sweep == MOST_SWEEPS || !carom_lcp_lemke_solve_basis(stepper->lcp, y, change)) break;
        memcpy(z, stepper->z, size * sizeof *z);
        memcpy(v_next, stepper->v_next, nv * sizeof *v_next);
        memcpy(u_next, stepper->u_next, n * sizeof *u_next);
        for (size_t i = 0; i < size; i++) {
            // The velocity takes the whole correction, of which z keeps what its digits hold.
            change[i] = basic[i] ? fmax(-stepper->z[i], change[i] * stepper->z_natural[i]) : -stepper->z[i];
            stepper->z[i] += change[i];
        }
        // The impulse of the correction, and the velocity that it makes.
        carom_step_collect_impulse(stepper, change, stepper->impulse_change);
        if (in_contact_space) {
            for (size_t r = 0; r < n; r++) stepper->u_next[r] += carom_dot((int)n, W + r * n, stepper->impulse_change);
        } else {
            carom_impact_apply(stepper->impact, stepper->v_next, stepper->impulse_change, stepper->v_next);
            carom_impact_contact_velocity(stepper->impact, stepper->v_next, stepper->u_next);
        }
    }
    carom_step_collect_impulse(stepper, stepper->z, impulse);
    info->residual = worst / (1 + scale);
    info->verdict = worst <= CAROM_LCP_TOLERANCE * scale ? CAROM_COMPLETE : CAROM_UNVERIFIED;
}
