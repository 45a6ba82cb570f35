// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#define _XOPEN_SOURCE 700  // realpath
#include "carom/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SUFFIX_SIZE = 8,
    KEPT_NAME = 200,  // file systems allow 255 bytes in a name
    ATTEMPTS = 100,
    LONGEST_START = 128,  // of the kinds of files
};

const carom_file_kind carom_file_hdf5 = {"an HDF5 file", "\x89HDF\r\n\x1a\n"};

carom_status carom_temporary_check(const char *target, const carom_file_kind *kind, carom_error *error) {
    // A place where nothing is may be written. Links are followed.
    struct stat about;
    if (!*target) return carom_fail(error, CAROM_BAD_INPUT, "the name of the file to write is empty");
    if (stat(target, &about)) {
        if (errno == ENOENT) return CAROM_OK;
        return carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", target, strerror(errno));
    }
    if (!S_ISREG(about.st_mode))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: is %s; only regular files are replaced", target,
                          S_ISDIR(about.st_mode) ? "a directory" : "not a regular file");

    // An empty file holds nothing that could be lost.
    char found[LONGEST_START];
    const size_t size = strlen(kind->start);
    FILE *file = fopen(target, "rb");
    if (!file) return carom_fail(error, CAROM_IO_FAILED, "%s: the file that would be replaced cannot be read: %s", target, strerror(errno));
    const size_t count = fread(found, 1, size, file);
    fclose(file);
    if (!count || (count == size && !memcmp(found, kind->start, size))) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: is not %s; only such a file is replaced", target, kind->name);
}

carom_status carom_temporary_create(const char *target, const carom_file_kind *kind, carom_temporary *temporary, int *descriptor,
                                    carom_error *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    *temporary = (carom_temporary){.kind = kind};
    *descriptor = -1;
    const carom_status status = carom_temporary_check(target, kind, error);
    if (status) return status;

    // A link stays a link: the file it names is replaced.
    char *followed = realpath(target, NULL);
    temporary->target = followed ? followed : strdup(target);
    const size_t size = temporary->target ? strlen(temporary->target) + SUFFIX_SIZE + 3 : 0;
    char *path = size ? malloc(size) : NULL;
    if (!path) {
        carom_temporary_discard(temporary);
        return carom_fail_memory(error, target);
    }

    // The file beside it is called .NAME.SUFFIX, with a suffix that no other process or thread draws. mkstemp would do, but it makes the
    // file private to its owner.
    const char *slash = strrchr(temporary->target, '/');
    const int directory = slash ? (int)(slash - temporary->target) + 1 : 0;
    struct timespec now = {0};
    carom_stream stream;
    clock_gettime(CLOCK_REALTIME, &now);
    carom_stream_start(&stream, (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 32, (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&stream);
    errno = EEXIST;
    for (int attempt = 0; attempt < ATTEMPTS && *descriptor < 0 && errno == EEXIST; attempt++) {
        char suffix[SUFFIX_SIZE + 1] = {0};
        uint64_t bits = carom_stream_bits(&stream);
        for (int i = 0; i < SUFFIX_SIZE; i++, bits >>= 5) suffix[i] = letters[bits & 31];
        snprintf(path, size, "%.*s.%.*s.%s", directory, temporary->target, KEPT_NAME, temporary->target + directory, suffix);
        *descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (*descriptor >= 0) {
        temporary->path = path;
        return CAROM_OK;
    }
    carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", target, strerror(errno));
    free(path);
    carom_temporary_discard(temporary);
    return CAROM_IO_FAILED;
}

carom_status carom_temporary_commit(carom_temporary *temporary, carom_error *error) {
    // Something else may have taken the place since the file was begun.
    const carom_status status = carom_temporary_check(temporary->target, temporary->kind, error);
    if (status) return status;
    // Within one directory, so that the change is seen at once and whole.
    if (rename(temporary->path, temporary->target))
        return carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", temporary->target, strerror(errno));
    free(temporary->path);
    temporary->path = NULL;
    return CAROM_OK;
}

void carom_temporary_discard(carom_temporary *temporary) {
    if (temporary->path) unlink(temporary->path);
    free(temporary->path);
    free(temporary->target);
    *temporary = (carom_temporary){0};
}

carom_status carom_text_print(FILE *file, const char *name, carom_text_printer *print, const void *content, carom_error *error) {
    // The host program may have a locale with a decimal comma. uselocale changes only this thread.
    const locale_t neutral = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!neutral) return carom_fail_memory(error, name);
    const locale_t callers = uselocale(neutral);
    const carom_status status = print(file, content, error);
    uselocale(callers);
    freelocale(neutral);
    // The disk may be too full for what is still in the buffer.
    if (status || (!fflush(file) && !ferror(file))) return status;
    return carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", name, strerror(errno));
}

carom_status carom_text_write(const char *target, const carom_file_kind *kind, carom_text_printer *print, const void *content,
                              carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    carom_status status = carom_temporary_create(target, kind, &temporary, &descriptor, error);
    if (status) return status;
    // The stream owns the descriptor from here on.
    FILE *file = fdopen(descriptor, "w");
    if (!file) close(descriptor);
    status = file ? carom_text_print(file, target, print, content, error) : carom_fail_memory(error, target);
    if (file && fclose(file) && !status)
        status = carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", target, strerror(errno));
    if (!status) status = carom_temporary_commit(&temporary, error);
    carom_temporary_discard(&temporary);
    return status;
}
