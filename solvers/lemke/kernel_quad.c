// SPDX-License-Identifier: Apache-2.0
// Lemke's method in quadruple precision, in software: only for the few problems that double precision misjudges, mu = 1e5 above all.
#include "carom/quad.h"

#define REAL carom_quad
#include "solvers/lemke/tableau.h"

const carom_lemke_kernel carom_lemke_kernel_quad = {
    .name = "carom_lemke_kernel_quad", .create = create, .free = release, .cover = cover, .watch = watch, .run = run, .extract = extract};
