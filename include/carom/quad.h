// SPDX-License-Identifier: Apache-2.0
/// @file
/// Quadruple precision, in software on most machines; for carom's own libraries.
#ifndef CAROM_QUAD_H
#define CAROM_QUAD_H

// Long double has 113 bits on 64-bit ARM; elsewhere the type is an extension of gcc and clang.
#if __LDBL_MANT_DIG__ == 113
typedef long double carom_quad;
#elif !defined(__SIZEOF_FLOAT128__)
#error "carom needs numbers of 113 bits: a long double that has them, or __float128 of gcc or clang"
#else
__extension__ typedef __float128 carom_quad;
#endif

#endif
