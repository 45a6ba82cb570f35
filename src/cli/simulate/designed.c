// SPDX-License-Identifier: Apache-2.0
// Orders of impacts in the solution of a scene's design.
#define _XOPEN_SOURCE 700  // mkstemp
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/design.h"
#include "cli/simulate/simulate.h"

carom_status cli_compare_designed(cli_motion *motion, carom_error *error) {
    // The new scene passes through a temporary file, as it would from `carom design -o` to this command.
    static const char name[] = "/carom-design-XXXXXX";
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    char *path = malloc(strlen(folder) + sizeof name);
    if (!path) return carom_fail_memory(error, "design");
    strcat(strcpy(path, folder), name);
    const int descriptor = mkstemp(path);
    if (descriptor < 0) {
        free(path);
        return carom_fail_system(error, errno, "%s: no temporary file for the designed scene", folder);
    }
    close(descriptor);
    carom_scene *scene = NULL;
    carom_motion_request request = motion->request;
    carom_status status = cli_design_scene(motion->arguments, path, error);
    if (!status) status = carom_scene_read_motion(path, motion->arguments->registry, &scene, error);
    if (!status) {
        request.motion = carom_scene_motion(scene);
        status = carom_orders_run(&request, "designed", &motion->orders, error);
    }
    carom_scene_free(scene);
    unlink(path);
    free(path);
    // A design that was cut short has no solution; what was found before it stays.
    return carom_control_cancelled(&motion->control) ? CAROM_OK : status;
}
