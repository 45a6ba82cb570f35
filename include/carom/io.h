// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files: scenes in, result files and pictures out. In libcarom-io.
#ifndef CAROM_IO_H
#define CAROM_IO_H

#include "carom/files.h"
#include "carom/plot.h"
#include "carom/pose.h"
#include "carom/result.h"
#include "carom/scene.h"
#include "carom/space.h"
#include "carom/stage.h"

#endif
