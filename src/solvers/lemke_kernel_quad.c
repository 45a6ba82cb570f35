// SPDX-License-Identifier: Apache-2.0
// Lemke's method in quadruple precision, in software: only for the few problems that double precision misjudges, mu = 1e5 above all.
__extension__ typedef __float128 quad;
#define REAL   quad
#define KERNEL carom_lemke_kernel_quad
#include "solvers/lemke_tableau.h"
