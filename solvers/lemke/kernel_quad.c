// SPDX-License-Identifier: Apache-2.0
// Lemke's method in quadruple precision, in software: only for the few problems that double precision misjudges, mu = 1e5 above all.
// Long double has 113 bits on 64-bit ARM; elsewhere the type is an extension of gcc and clang.
#if __LDBL_MANT_DIG__ == 113
typedef long double quad;
#else
__extension__ typedef __float128 quad;
#endif
#define REAL quad
#include "solvers/lemke/tableau.h"

const carom_lemke_kernel carom_lemke_kernel_quad = {
    .name = "carom_lemke_kernel_quad", .create = create, .free = release, .cover = cover, .run = run, .extract = extract};
