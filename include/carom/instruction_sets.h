// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which instruction sets this machine has, to choose between versions of a kernel. Not installed.
#ifndef CAROM_INSTRUCTION_SETS_H
#define CAROM_INSTRUCTION_SETS_H

#include <stdbool.h>
#include <stddef.h>

/// Does this machine run a kernel? CAROM_X86_KERNEL is its address, or NULL on architectures for which it is not built.
#if defined(__x86_64__)
#define CAROM_HAS_AVX2           (__builtin_cpu_supports("avx2") != 0)
#define CAROM_HAS_AVX512         (__builtin_cpu_supports("avx512f") != 0)
#define CAROM_X86_KERNEL(kernel) (&(kernel))
#else
#define CAROM_HAS_AVX2           false
#define CAROM_HAS_AVX512         false
#define CAROM_X86_KERNEL(kernel) NULL
#endif

#endif
