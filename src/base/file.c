// SPDX-License-Identifier: Apache-2.0
// Files that are read.
#include "carom/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The first bytes that are read at once, and of a path that is too long for a message the end.
enum { FIRST_READ = 1 << 16, SHOWN_PATH = 300 };

static const char *shown_path(const char *path) {
    const size_t length = strlen(path);
    return length > SHOWN_PATH ? path + length - SHOWN_PATH : path;
}

carom_status carom_file_open(const char *path, FILE **file, carom_error *error) {
    *file = NULL;
    // A pipe that nobody fills would be waited for for ever. Those of a shell, as in <(command), are under /dev or /proc.
    const bool may_wait = !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (may_wait ? 0 : O_NONBLOCK));
    // A socket cannot be opened.
    struct stat about;
    if (descriptor < 0 && errno == ENXIO) return carom_fail(error, CAROM_BAD_INPUT, "%s: is not a regular file", shown_path(path));
    if (descriptor < 0) return carom_fail_system(error, errno, "%s: cannot be opened", shown_path(path));
    const int failure = fstat(descriptor, &about) ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
    carom_status status = CAROM_OK;
    if (failure)
        status = carom_fail_system(error, failure, "%s: cannot be read", shown_path(path));
    else if (!S_ISREG(about.st_mode) && !may_wait)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: is not a regular file", shown_path(path));
    else if (!(*file = fdopen(descriptor, "rb")))
        status = carom_fail_memory(error, shown_path(path));
    if (status) close(descriptor);
    return status;
}

carom_status carom_file_read(const char *path, size_t most, char **bytes, size_t *size, carom_error *error) {
    *bytes = NULL;
    *size = 0;
    FILE *file;
    carom_status status = carom_file_open(path, &file, error);
    if (status) return status;

    // Grow as it reads, by doubling: the size of a pipe or device is not known before. Larger files than the limit are refused as soon as
    // that shows.
    char *buffer = NULL;
    size_t room = 0, used = 0;
    do {
        room = room > 0 ? 2 * room : FIRST_READ;
        char *grown = realloc(buffer, room);
        if (!grown) {
            status = carom_fail_memory(error, path);
            break;
        }
        buffer = grown;
        used += fread(buffer + used, 1, room - used, file);
    } while (used == room && used <= most);

    if (!status && ferror(file))
        status = carom_fail_system(error, errno, "%s: cannot be read", shown_path(path));
    else if (!status && used > most)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: is larger than %zu MiB", shown_path(path), most >> 20);
    fclose(file);
    if (status) {
        free(buffer);
        return status;
    }
    buffer[used] = '\0';
    *bytes = buffer;
    *size = used;
    return CAROM_OK;
}
