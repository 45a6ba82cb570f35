// SPDX-License-Identifier: Apache-2.0
// Plastic outcomes, and the inelastic ones between them and the elastic ones (Seghete & Murphey, eq. 10, 11, 16-18).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/step.h"
#include "laws/propagative/propagative_internal.h"

// Eigenvalues of the cosines below this share of the largest one are round-off of dependent normals.
#define DEPENDENT_NORMALS 1e-12
// Pulling impulses below this share of |p-| are round-off.
#define PULL_TOLERANCE 1e-12

const char *const carom_plastic_kind_names[] = {[CAROM_PLASTIC_UNILATERAL] = "unilateral", [CAROM_PLASTIC_BILATERAL] = "bilateral", NULL};

// 0 <= l _|_ s + C l >= 0: the projection on the cone in the kinetic metric.
static carom_status project_on_cone(const carom_propagative *p, double *impulse, carom_error *error) {
    carom_lcp *lcp;
    carom_status status = carom_lcp_create(&carom_lcp_lemke, p->mirrors, p->cosine, &lcp, error);
    if (status) return status;
    carom_lcp_info info;
    carom_lcp_solve(lcp, p->start, impulse, &info);
    if (info.verdict != CAROM_COMPLETE)
        status = carom_fail(error, CAROM_INTERNAL, "the plastic outcome was not found (%s)", carom_verdict_name(info.verdict));
    carom_lcp_free(lcp);
    return status;
}

// l = -C^+ s: the projection on the complement of all normals (eq. 11; with the impulses of least norm where normals are dependent).
static carom_status project_on_complement(const carom_propagative *p, double *impulse, carom_error *error) {
    const size_t n = (size_t)p->mirrors;
    double *vectors = malloc((n * n + n) * sizeof *vectors);
    if (!vectors) return carom_fail_memory(error, "plastic outcome");
    double *values = vectors + n * n;
    memcpy(vectors, p->cosine, n * n * sizeof *vectors);
    const carom_status status = carom_symmetric_eigen(p->mirrors, vectors, values, error);
    memset(impulse, 0, n * sizeof *impulse);
    for (size_t k = 0; !status && k < n; k++) {
        if (values[k] <= DEPENDENT_NORMALS * values[n - 1]) continue;
        const double part = -carom_dot(p->mirrors, vectors + k * n, p->start) / values[k];
        for (size_t i = 0; i < n; i++) impulse[i] += part * vectors[k * n + i];
    }
    free(vectors);
    return status;
}

carom_status carom_propagative_plastic(const carom_propagative *p, carom_plastic_kind kind, double *impulse, bool *adhesive,
                                       carom_error *error) {
    *adhesive = false;
    memset(impulse, 0, (size_t)p->contacts * sizeof *impulse);
    double *mirror_impulse = malloc((size_t)p->mirrors * sizeof *mirror_impulse);
    if (!mirror_impulse) return carom_fail_memory(error, "plastic outcome");
    const carom_status status =
        kind == CAROM_PLASTIC_UNILATERAL ? project_on_cone(p, mirror_impulse, error) : project_on_complement(p, mirror_impulse, error);
    for (int i = 0; !status && i < p->mirrors; i++) *adhesive = *adhesive || mirror_impulse[i] < -PULL_TOLERANCE * p->scale;
    if (!status) propagative_spread(p, mirror_impulse, impulse);
    free(mirror_impulse);
    return status;
}

// <p_p, u_i> |w_i| and D = p_e - p_p: |D|^2 and 2 <p_p, D> from impulses alone, since D is a combination of normals.
static void measure_segment(const carom_propagative *p, const double *plastic, const double *elastic, double *square, double *twice) {
    *square = *twice = 0;
    for (int i = 0; i < p->mirrors; i++) {
        const double *cosines = p->cosine + (size_t)i * (size_t)p->mirrors;
        double rate = p->start[i], change = 0;
        for (int j = 0; j < p->mirrors; j++) {
            const int contact = p->contact_of[j];
            rate += cosines[j] * plastic[contact] * p->length[j];
            change += cosines[j] * (elastic[contact] - plastic[contact]) * p->length[j];
        }
        const double step = (elastic[p->contact_of[i]] - plastic[p->contact_of[i]]) * p->length[i];
        *square += step * change;
        *twice += 2 * step * rate;
    }
}

void carom_propagative_blend(const carom_propagative *p, double restitution, const double *plastic, const double *elastic,
                             double *impulse) {
    double A, B, share = restitution;
    measure_segment(p, plastic, elastic, &A, &B);
    // E(p_p + a D) - E(p_p) = (A a^2 + B a)/2 must be R^2 (A + B)/2. B vanishes for a bilateral plastic outcome: a = R, where eq. (18)
    // prints sqrt(1 - R^2), which is plastic for R = 1. In the form without cancellation.
    if (B > 0 && restitution < 1) {
        const double square = restitution * restitution;
        share = 2 * square * (A + B) / (B + sqrt(B * B + 4 * A * square * (A + B)));
    }
    for (int i = 0; i < p->contacts; i++) impulse[i] = plastic[i] + share * (elastic[i] - plastic[i]);
}
