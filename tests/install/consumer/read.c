// SPDX-License-Identifier: Apache-2.0
// Prints the name of a scene: libcarom-io and what it needs are found.
#include <carom/carom.h>
#include <stdio.h>

int main(int count, char **argument) {
    carom_registry *registry = NULL;
    carom_scene *scene = NULL;
    carom_error error;
    if (count != 2) return 2;
    carom_status status = carom_registry_create(&registry, &error);
    if (!status) status = carom_scene_read(argument[1], registry, &scene, &error);
    if (status)
        fprintf(stderr, "read: %s\n", error.message);
    else
        printf("%s, with carom %s\n", carom_scene_name(scene), CAROM_VERSION);
    carom_scene_free(scene);
    carom_registry_free(registry);
    return (int)status;
}
