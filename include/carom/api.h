// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every header of carom includes: standard types, linkage and visibility, the version.
///
/// Conventions of every carom header: matrices are row-major, units are SI, input arrays are borrowed, outputs are defined
/// on every exit, `carom_error *` is last and may be NULL. The library never prints, exits or keeps global state.
#ifndef CAROM_API_H
#define CAROM_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CAROM_EXTERN_BEGIN extern "C" {
#define CAROM_EXTERN_END   }
#else
#define CAROM_EXTERN_BEGIN
#define CAROM_EXTERN_END
#endif

/// Everything between these two is exported by the shared libraries, which are built with hidden visibility.
#define CAROM_API_BEGIN CAROM_EXTERN_BEGIN _Pragma("GCC visibility push(default)")
#define CAROM_API_END   _Pragma("GCC visibility pop") CAROM_EXTERN_END

#if defined(__GNUC__)
#define CAROM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CAROM_PRINTF(text, first)
#endif

#define CAROM_VERSION "0.1.0"

#endif
