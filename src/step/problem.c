// SPDX-License-Identifier: Apache-2.0
// The LCP of an impact step (Halm & Posa, eq. 31 and eq. 75), and the way back from its solution to velocities and impulses.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "step/step_internal.h"

void carom_step_assemble(carom_stepper *stepper) {
    const size_t size = (size_t)stepper->size, n = (size_t)carom_impact_contact_size(stepper->impact);
    const double *delassus = carom_impact_delassus(stepper->impact), *friction = carom_impact_get_data(stepper->impact)->friction;
    const int dim = stepper->dim, edges = stepper->edges;
    const double unit = 1;
    carom_cone_directions(dim, edges, stepper->directions);
    // Rows and columns of forces: d_a . W d_b, with the normal (0) and the cone edges (1..k) of every contact as directions.
    for (int i = 0; i < stepper->count; i++)
        for (int j = 0; j < stepper->count; j++)
            for (int a = 0; a <= edges; a++)
                for (int b = 0; b <= edges; b++) {
                    const double *along_a = a ? stepper->directions + (a - 1) * dim : &unit;
                    const double *along_b = b ? stepper->directions + (b - 1) * dim : &unit;
                    const size_t row = (size_t)(carom_step_contact_row(stepper, i) + (a ? 1 : 0));
                    const size_t column = (size_t)(carom_step_contact_row(stepper, j) + (b ? 1 : 0));
                    double sum = 0;
                    for (int p = 0; p < (a ? dim : 1); p++)
                        for (int q = 0; q < (b ? dim : 1); q++)
                            sum += along_a[p] * along_b[q] * delassus[(row + (size_t)p) * n + column + (size_t)q];
                    stepper->W[(size_t)carom_step_force_index(stepper, i, a) * size + (size_t)carom_step_force_index(stepper, j, b)] = sum;
                }
    // The blocks that are the same for every impact: caps lmax - lam_n, friction bounds mu lam_n - sum lam_D, and the multipliers beta and
    // gamma that these add to the velocities.
    for (int i = 0; i < stepper->count; i++) {
        const size_t normal = (size_t)(stepper->normal + i), gamma = (size_t)(stepper->gamma + i);
        if (stepper->beta >= 0) {
            stepper->W[(size_t)(stepper->beta + i) * size + normal] = -1;
            stepper->W[normal * size + (size_t)(stepper->beta + i)] = 1;
        }
        stepper->W[gamma * size + normal] = friction[stepper->first + i];
        for (int a = 1; a <= edges; a++) {
            const size_t edge = (size_t)carom_step_force_index(stepper, i, a);
            stepper->W[gamma * size + edge] = -1;
            stepper->W[edge * size + gamma] = 1;
        }
    }
}

// ------------------------------------------------------------------------------------------------------- natural units

// What W, in natural units, has rounded off. With the rows X of carom_impact_half_response, and d.X for the edges d of the cone, the
// entries between forces are products of such rows; all others are exact.
static void fill_rest(void *user, double *rest) {
    carom_stepper *stepper = user;
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv, size = (size_t)stepper->size;
    const double *half = carom_impact_half_response(stepper->impact);
    const int forces = stepper->count * (1 + stepper->edges);
    for (int f = 0; f < forces; f++) {
        // Contact-major: force a of contact i.
        const int i = f / (1 + stepper->edges), a = f % (1 + stepper->edges);
        const double *own = half + (size_t)carom_step_contact_row(stepper, i) * nv, *d = a ? carom_step_direction(stepper, a - 1) : NULL;
        double *row = stepper->force_rows + (size_t)f * nv;
        for (size_t k = 0; k < nv; k++) {
            row[k] = a ? 0 : own[k];
            for (int p = 0; a && p < stepper->dim; p++) row[k] += d[p] * own[(size_t)(1 + p) * nv + k];
        }
    }
    memset(rest, 0, size * size * sizeof *rest);
    for (int f = 0; f < forces; f++)
        for (int g = 0; g < forces; g++) {
            const size_t r = (size_t)carom_step_force_index(stepper, f / (1 + stepper->edges), f % (1 + stepper->edges));
            const size_t c = (size_t)carom_step_force_index(stepper, g / (1 + stepper->edges), g % (1 + stepper->edges));
            const double *row = stepper->force_rows + (size_t)f * nv, *column = stepper->force_rows + (size_t)g * nv;
            rest[r * size + c] =
                carom_dot_rest((int)nv, row, column, stepper->W[r * size + c]) * (stepper->z_natural[c] * (1 / stepper->y_natural[r]));
        }
}

carom_status carom_step_bind(carom_stepper *stepper, carom_error *error) {
    // max |W| over the contacts that take part: a step of one contact does not know the others.
    const size_t n = (size_t)carom_impact_contact_size(stepper->impact), first = (size_t)carom_step_contact_row(stepper, 0);
    const size_t rows = (size_t)stepper->count * (size_t)(1 + stepper->dim), size = (size_t)stepper->size;
    double largest = 0;
    for (size_t r = first; r < first + rows; r++)
        largest = fmax(largest, carom_max_abs(rows, carom_impact_delassus(stepper->impact) + r * n + first));
    stepper->least_mass = 1 / largest;
    // Natural units, as powers of two, so that the change to them is exact: speeds of the impact, and masses that they meet.
    double mass = carom_scale_to_one(largest), speed = 1 / carom_scale_to_one(carom_impact_velocity_scale(stepper->impact));
    if (!isnormal(mass * speed) || !isnormal(1 / (mass * speed))) mass = speed = 1;
    // y of beta and gamma are impulses, y of lam_n and lam_D are speeds; z the other way round. The covering vector is 1 in rows of speeds
    // and 1 / max |W| in rows of impulses.
    for (int i = 0; i < stepper->size; i++) {
        const bool is_impulse = i < stepper->normal || i >= stepper->gamma;
        stepper->y_natural[i] = is_impulse ? mass * speed : speed;
        stepper->z_natural[i] = is_impulse ? speed : mass * speed;
        stepper->covering[i] = is_impulse && largest > 0 ? 1 / (largest * mass) : 1;
    }
    // W is in these units only while the handle copies it.
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) stepper->W[i * size + j] *= stepper->z_natural[j] * (1 / stepper->y_natural[i]);
    const carom_status status = carom_lcp_create(stepper->solver, stepper->size, stepper->W, &stepper->lcp, error);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) stepper->W[i * size + j] *= stepper->y_natural[i] * (1 / stepper->z_natural[j]);
    if (status) return status;
    carom_lcp_cover(stepper->lcp, stepper->covering);
    if (carom_impact_half_response(stepper->impact)) carom_lcp_sharpen(stepper->lcp, fill_rest, stepper);
    return CAROM_OK;
}

// The factor of one entry of a covering vector that is `scattered`, for a uniform number in (0, 1): between 2^-4 and 2^4, every octave as
// likely, and uniform in it. Narrower, the compass gait keeps to one outcome; wider, tolerances misjudge steps. Without functions that
// every machine rounds in its own way.
enum { SCATTERED_OCTAVES = 8 };
static double draw_weight(double uniform) {
    const double octave = floor(SCATTERED_OCTAVES * uniform);
    return ldexp(1 + (SCATTERED_OCTAVES * uniform - octave), (int)octave - SCATTERED_OCTAVES / 2);
}

void carom_step_solve_lcp(carom_stepper *stepper, carom_step_info *info) {
    carom_lcp_info lcp;
    // A random multiple of every entry of the covering vector.
    if (stepper->selection == CAROM_SELECT_SCATTERED && stepper->stream) {
        for (int i = 0; i < stepper->size; i++)
            stepper->scaled[i] = stepper->covering[i] * draw_weight(carom_stream_uniform(stepper->stream));
        carom_lcp_cover(stepper->lcp, stepper->scaled);
    }
    for (int i = 0; i < stepper->size; i++) stepper->scaled[i] = stepper->w[i] / stepper->y_natural[i];
    carom_lcp_solve(stepper->lcp, stepper->scaled, stepper->z, &lcp);
    for (int i = 0; i < stepper->size; i++) stepper->z[i] *= stepper->z_natural[i];
    *info = (carom_step_info){lcp.verdict, lcp.residual, lcp.pivots, lcp.fallbacks, 0, 0};
}

bool carom_step_verify(carom_stepper *stepper, double *residual) {
    for (int i = 0; i < stepper->size; i++) {
        stepper->scaled[i] = stepper->w[i] / stepper->y_natural[i];
        stepper->z[i] /= stepper->z_natural[i];
    }
    const bool solves = carom_lcp_verify(stepper->lcp, stepper->scaled, stepper->z, residual);
    for (int i = 0; i < stepper->size; i++) stepper->z[i] *= stepper->z_natural[i];
    return solves;
}

void carom_step_units(const carom_stepper *stepper, double *y_unit, double *z_unit) {
    carom_lcp_get_units(stepper->lcp, y_unit, z_unit);
    for (int i = 0; i < stepper->size; i++) {
        y_unit[i] *= stepper->y_natural[i];
        z_unit[i] *= stepper->z_natural[i];
    }
}

// --------------------------------------------------------------------------------------------------------------- steps

void carom_step_start_contact(carom_stepper *stepper, const double *u, const double *lmax) {
    double *w = stepper->w;
    if (u != stepper->u) memcpy(stepper->u, u, (size_t)carom_impact_contact_size(stepper->impact) * sizeof *u);
    for (int i = 0; i < stepper->count; i++) {
        const double *own = stepper->u + carom_step_contact_row(stepper, i);
        // Rows of the caps, of normals and edges (velocities before the step), and of the friction bounds.
        if (stepper->beta >= 0) w[stepper->beta + i] = lmax[i];
        // Newton's law asks for complementarity of lam_n and Jn v+ + e Jn v-.
        w[stepper->normal + i] = stepper->kind == CAROM_STEP_NEWTON ? (1 + stepper->restitution[stepper->first + i]) * own[0] : own[0];
        for (int a = 1; a <= stepper->edges; a++)
            w[carom_step_force_index(stepper, i, a)] = carom_dot(stepper->dim, stepper->directions + (a - 1) * stepper->dim, own + 1);
        w[stepper->gamma + i] = 0;
    }
}

void carom_stepper_contact_velocity(const carom_stepper *stepper, const double *v, double *u) {
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv, n = (size_t)carom_impact_contact_size(stepper->impact);
    if (memcmp(v, stepper->v_next, nv * sizeof *v) == 0)
        memcpy(u, stepper->u_next, n * sizeof *u);
    else
        carom_impact_contact_velocity(stepper->impact, v, u);
}

void carom_step_start(carom_stepper *stepper, const double *v, const double *lmax) {
    carom_stepper_contact_velocity(stepper, v, stepper->u);
    carom_step_start_contact(stepper, stepper->u, lmax);
}

void carom_step_collect_impulse(const carom_stepper *stepper, const double *z, double *impulse) {
    memset(impulse, 0, (size_t)carom_impact_contact_size(stepper->impact) * sizeof *impulse);
    for (int i = 0; i < stepper->count; i++) {
        double *contact = impulse + carom_step_contact_row(stepper, i);
        // lam_t = D lam_D: the impulses along the cone edges add up.
        contact[0] = z[stepper->normal + i];
        for (int a = 1; a <= stepper->edges; a++)
            for (int p = 0; p < stepper->dim; p++)
                contact[1 + p] += stepper->directions[(a - 1) * stepper->dim + p] * z[carom_step_force_index(stepper, i, a)];
    }
}

// Share of the impact's contact velocity that is round-off of J v. A step from rest, as Algorithm 2's closing step of a contact that has
// stopped, sees nothing else, and what energy it seems to gain is of that size.
#define ROUND_OFF_SPEED 1e-13

void carom_step_judge(const carom_stepper *stepper, const double *lmax, const double *impulse, carom_step_info *info) {
    const size_t n = (size_t)carom_impact_contact_size(stepper->impact);
    const double speed = carom_max_abs(n, stepper->u), largest = carom_max_abs(n, impulse);
    const double tolerance = CAROM_PHYSICAL_TOLERANCE * fmax(largest, speed * stepper->least_mass);
    // Energy: K(v_next) - K(v) = impulse'(u + u_next)/2. Newton's law of restitution may add energy where there is friction.
    info->energy_change = 0;
    for (size_t c = 0; c < n; c++) info->energy_change += 0.5 * impulse[c] * (stepper->u[c] + stepper->u_next[c]);
    const double round_off = (double)n * largest * ROUND_OFF_SPEED * carom_impact_velocity_scale(stepper->impact);
    bool accepted = stepper->kind == CAROM_STEP_NEWTON || !(info->energy_change > tolerance * speed + round_off);
    // The friction cone and the caps.
    const double *friction = carom_impact_get_data(stepper->impact)->friction;
    for (int i = 0; i < stepper->count && accepted; i++) {
        const double *contact = impulse + carom_step_contact_row(stepper, i);
        const double tangential = stepper->dim == 1 ? fabs(contact[1]) : hypot(contact[1], contact[2]);
        const bool capped = stepper->beta >= 0 && contact[0] > lmax[i] + tolerance;
        accepted = !(contact[0] < 0) && !capped && !(tangential > friction[stepper->first + i] * contact[0] + tolerance);
    }
    if (!accepted) info->verdict = CAROM_UNVERIFIED;
}

void carom_step_accept(carom_stepper *stepper, const double *v, const double *lmax, double *impulse, carom_step_info *info) {
    carom_step_collect_impulse(stepper, stepper->z, impulse);
    carom_impact_apply(stepper->impact, v, impulse, stepper->v_next);
    carom_impact_contact_velocity(stepper->impact, stepper->v_next, stepper->u_next);
    carom_step_judge(stepper, lmax, impulse, info);
}

void carom_step_leave(const carom_stepper *stepper, const double *v, double *v_next, double *impulse, carom_step_info *info) {
    info->energy_change = 0;
    memset(impulse, 0, (size_t)carom_impact_contact_size(stepper->impact) * sizeof *impulse);
    if (v_next != v) memcpy(v_next, v, (size_t)carom_impact_get_data(stepper->impact)->nv * sizeof *v_next);
}
