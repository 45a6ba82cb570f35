// SPDX-License-Identifier: Apache-2.0
/// @file
/// A question before libraries are called that do not survive a lack of memory.
#ifndef CAROM_BASE_ROOM_H
#define CAROM_BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/// Could this process have so many more bytes at this moment? They are not kept.
bool carom_has_room(size_t size);

#endif
