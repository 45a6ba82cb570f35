// SPDX-License-Identifier: Apache-2.0
// Plastic outcomes, and the inelastic ones between them and the elastic ones (Seghete & Murphey, eq. 10, 11, 16-18).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "laws/propagative/propagative_internal.h"

// Eigenvalues of the cosines below this share of the largest one are round-off of dependent normals.
#define DEPENDENT_NORMALS 1e-12
// Pulling impulses below this share of |p-| are round-off.
#define PULL_TOLERANCE 1e-12

const char *const carom_plastic_kind_names[] = {[CAROM_PLASTIC_UNILATERAL] = "unilateral", [CAROM_PLASTIC_BILATERAL] = "bilateral", NULL};

carom_status carom_propagative_plastic(const carom_propagative *p, carom_plastic_kind kind, double *impulse, bool *adhesive,
                                       carom_error *error) {
    const size_t n = (size_t)p->mirrors;
    *adhesive = false;
    memset(impulse, 0, (size_t)p->contacts * sizeof *impulse);
    double *l = calloc(n, sizeof *l);
    if (!l) return carom_fail_memory(error, "plastic outcome");
    carom_status status = CAROM_OK;
    if (kind == CAROM_PLASTIC_UNILATERAL) {
        // 0 <= l _|_ s + C l >= 0: the projection on the cone in the kinetic metric.
        status = propagative_solve_lcp(p->mirrors, p->cosine, p->start, l, "the plastic outcome", error);
    } else {
        // l = -C^+ s: the projection on the complement of all normals (eq. 11; with the impulses of least norm where normals are
        // dependent).
        for (size_t k = 0; k < n; k++) {
            if (p->eigenvalues[k] <= DEPENDENT_NORMALS * p->eigenvalues[n - 1]) continue;
            const double *vector = p->eigenvectors + k * n, part = -carom_dot(p->mirrors, vector, p->start) / p->eigenvalues[k];
            for (size_t i = 0; i < n; i++) l[i] += part * vector[i];
        }
    }
    for (size_t i = 0; !status && i < n; i++) {
        *adhesive = *adhesive || l[i] < -PULL_TOLERANCE * p->scale;
        impulse[p->contact_of[i]] = l[i] / p->length[i];
    }
    free(l);
    return status;
}

void carom_propagative_blend(const carom_propagative *p, double restitution, const double *plastic, const double *elastic,
                             double *impulse) {
    // D = p_e - p_p is a combination of normals, so that A = |D|^2 and B = 2 <p_p, D> follow from impulses alone.
    double A = 0, B = 0, share = restitution;
    for (int i = 0; i < p->mirrors; i++) {
        const double *cosines = p->cosine + (size_t)i * (size_t)p->mirrors;
        double rate = p->start[i], change = 0;
        for (int j = 0; j < p->mirrors; j++) {
            const int contact = p->contact_of[j];
            rate += cosines[j] * plastic[contact] * p->length[j];
            change += cosines[j] * (elastic[contact] - plastic[contact]) * p->length[j];
        }
        const double step = (elastic[p->contact_of[i]] - plastic[p->contact_of[i]]) * p->length[i];
        A += step * change;
        B += 2 * step * rate;
    }
    // E(p_p + a D) - E(p_p) = (A a^2 + B a)/2 must be R^2 (A + B)/2. B vanishes for a bilateral plastic outcome: a = R, where eq. (18)
    // prints sqrt(1 - R^2), which is plastic for R = 1. In the form without cancellation.
    if (B > 0 && restitution < 1) {
        const double square = restitution * restitution;
        share = 2 * square * (A + B) / (B + sqrt(B * B + 4 * A * square * (A + B)));
    }
    for (int i = 0; i < p->contacts; i++) impulse[i] = plastic[i] + share * (elastic[i] - plastic[i]);
}
