// SPDX-License-Identifier: Apache-2.0
/// @file
/// Surfaces in files: STL, Wavefront OBJ, and MuJoCo's MSH.
#ifndef CAROM_SURFACE_H
#define CAROM_SURFACE_H

#include "carom/arena.h"
#include "carom/status.h"

CAROM_API_BEGIN

/// Largest numbers of points and triangles of a file.
enum { CAROM_SURFACE_POINTS = 4000000, CAROM_SURFACE_TRIANGLES = 4000000 };

typedef enum carom_surface_format {
    CAROM_SURFACE_BY_CONTENT,  ///< STL or OBJ
    CAROM_SURFACE_STL,         ///< binary, or in words
    CAROM_SURFACE_OBJ,
    CAROM_SURFACE_MSH,
} carom_surface_format;

/// Points and triangles. Arrays belong to the arena of the call.
typedef struct carom_surface_points {
    int points;
    double *point;  ///< [points x 3], finite
    int triangles;
    int *triangle;  ///< [triangles x 3], each below `points`
} carom_surface_points;

/// Reads the surface in a file's bytes, of which nothing is trusted. Corners of STL at one place become one point; of OBJ faces of more
/// than three corners become fans.
/// @param path  for messages
/// @return CAROM_BAD_INPUT with file, line and rule, also for fewer than 4 points
/// Cost: a sort of the corners of STL; 0.1 s for a million of them
carom_status carom_surface_parse(const char *path, const char *bytes, size_t size, carom_surface_format format, carom_arena *arena,
                                 carom_surface_points *surface, carom_error *error);

CAROM_API_END

#endif
