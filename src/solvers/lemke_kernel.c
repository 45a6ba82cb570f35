// SPDX-License-Identifier: Apache-2.0
// Lemke's method in double precision, compiled once for every instruction set: the build defines KERNEL.
#define REAL double
#ifndef KERNEL
#define KERNEL carom_lemke_kernel_portable
#endif
#include "solvers/lemke_tableau.h"
