// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
//
// A process holds a lock (flock) on each temporary file and folder of its own until it has its name. What bears such a name and can be
// locked was left behind by a process that is gone.
#define _DEFAULT_SOURCE  // realpath, flock
#include "carom/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SUFFIX_SIZE = 8,
    KEPT_NAME = 200,  // file systems allow 255 bytes in a name
    ATTEMPTS = 100,
    LONGEST_START = 128,  // of the kinds of files
    ENDINGS_SIZE = 64,    // their names' endings as a text
    MOST_LINKS = 40,      // one after the other, as in Linux
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";

const carom_file_kind carom_file_hdf5 = {"an HDF5 file", "\x89HDF\r\n\x1a\n", false, ".h5 .hdf5"};

// -------------------------------------------------------------------------------------------------------------- checks

carom_status carom_check_ending(const char *name, const char *endings, const char *what, carom_error *error) {
    // Endings of files that we write or read, and of pictures that we do not write. Others mean nothing to us.
    static const char *const known[] = {".h5",  ".hdf5", ".png",  ".svg",  ".pdf",  ".jpg",  ".jpeg", ".gif",
                                        ".eps", ".tif",  ".tiff", ".json", ".yaml", ".yml",  ".csv",  ".txt",
                                        ".md",  ".html", ".vtk",  ".vtp",  ".xml",  ".urdf", ".npz",  ".mp4"};
    if (!*name) return carom_fail(error, CAROM_BAD_INPUT, "an empty text cannot name %s", what);
    const char *slash = strrchr(name, '/'), *ending = strrchr(slash ? slash : name, '.');
    bool is_known = false, suits = false;
    for (size_t i = 0; ending && i < sizeof known / sizeof *known; i++) is_known = is_known || !strcasecmp(ending, known[i]);
    for (const char *own = endings; is_known && *own; own += strcspn(own, " "), own += strspn(own, " "))
        suits = suits || (strcspn(own, " ") == strlen(ending) && !strncasecmp(own, ending, strlen(ending)));
    if (!is_known || suits) return CAROM_OK;
    // The endings, with "or" before the last of them.
    char list[ENDINGS_SIZE] = "";
    size_t used = 0;
    for (const char *own = endings; *own && used < sizeof list; own += strcspn(own, " "), own += strspn(own, " ")) {
        const int length = (int)strcspn(own, " ");
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", !used ? ", but in " : own[length] ? ", " : " or ", length, own);
    }
    return carom_fail(error, CAROM_BAD_INPUT, "%s: this would be %s, whose name cannot end in %s%s", name, what, ending, list);
}

// A place where nothing is may be written. Links are followed.
static carom_status check_place(const char *target, const carom_file_kind *kind, carom_error *error) {
    struct stat about;
    if (!*target) return carom_fail(error, CAROM_BAD_INPUT, "the name of the file to write is empty");
    if (stat(target, &about)) {
        if (errno == ENOENT) return CAROM_OK;
        return carom_fail_system(error, errno, "%s: the file cannot be written", target);
    }
    if (!S_ISREG(about.st_mode))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: is %s; only regular files are replaced", target,
                          S_ISDIR(about.st_mode) ? "a directory" : "not a regular file");

    // An empty file holds nothing that could be lost.
    char found[LONGEST_START];
    const size_t size = strlen(kind->start);
    FILE *file = fopen(target, "rb");
    if (!file) return carom_fail_system(error, errno, "%s: the file that would be replaced cannot be read", target);
    const size_t count = fread(found, 1, size, file);
    fclose(file);
    if (!count || (count == size && !memcmp(found, kind->start, size))) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: is not %s; only such a file is replaced", target, kind->name);
}

carom_status carom_temporary_check(const char *target, const carom_file_kind *kind, carom_error *error) {
    const carom_status status = check_place(target, kind, error);
    return status || !kind->endings ? status : carom_check_ending(target, kind->endings, kind->name, error);
}

// ---------------------------------------------------------------------------------------------------- names and leftovers

// Draws the next suffix, which no other process or thread draws.
static void draw_suffix(carom_stream *stream, char suffix[SUFFIX_SIZE + 1]) {
    uint64_t bits = carom_stream_bits(stream);
    for (int i = 0; i < SUFFIX_SIZE; i++, bits >>= 5) suffix[i] = letters[bits & 31];
    suffix[SUFFIX_SIZE] = '\0';
}

static void start_suffixes(carom_stream *stream) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    carom_stream_start(stream, (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 32, (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)stream);
}

// Is `entry` a temporary name: a dot, the start of `name`, a dot and a suffix?
static bool is_temporary_name(const char *entry, const char *name) {
    const size_t length = strnlen(name, KEPT_NAME);
    return entry[0] == '.' && !strncmp(entry + 1, name, length) && entry[length + 1] == '.' && strlen(entry) == length + 2 + SUFFIX_SIZE &&
           strspn(entry + length + 2, letters) == SUFFIX_SIZE;
}

// Removes a folder's files and the folder itself. Its listing, which is closed, holds the lock until then.
static void remove_folder(DIR *listing, const char *path) {
    rewinddir(listing);
    for (const struct dirent *entry; (entry = readdir(listing));) unlinkat(dirfd(listing), entry->d_name, 0);
    rmdir(path);
    closedir(listing);
}

// Removes what killed processes left behind under temporary names for `name`: the user's own files (S_IFREG) or folders (S_IFDIR) that can
// be locked.
static void remove_leftovers(const char *directory, const char *name, mode_t type) {
    DIR *opened = opendir(directory);
    if (!opened) return;
    for (const struct dirent *entry; (entry = readdir(opened));) {
        struct stat about;
        if (!is_temporary_name(entry->d_name, name)) continue;
        const int found = openat(dirfd(opened), entry->d_name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        if (found < 0) continue;
        DIR *listing = NULL;
        if (!fstat(found, &about) && (about.st_mode & S_IFMT) == type && about.st_uid == geteuid() && !flock(found, LOCK_EX | LOCK_NB)) {
            char path[PATH_MAX];
            const int length = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
            if (type == S_IFREG) unlinkat(dirfd(opened), entry->d_name, 0);
            if (type == S_IFDIR && length < (int)sizeof path) listing = fdopendir(found);
            if (listing) remove_folder(listing, path);
        }
        if (!listing) close(found);
    }
    closedir(opened);
}

// Locks a new file or folder. False where another process, which took it for a leftover, has just removed it.
static bool hold(int descriptor) {
    struct stat about;
    // File systems without locks remove no leftovers either.
    flock(descriptor, LOCK_EX);
    return fstat(descriptor, &about) || about.st_nlink > 0;
}

// The place that a chain of links leads to, whether or not there is a file; NULL when out of memory or for a chain without an end.
static char *follow_links(const char *target) {
    char *path = realpath(target, NULL);
    if (path) return path;
    path = strdup(target);
    for (int i = 0; i < MOST_LINKS && path; i++) {
        char link[PATH_MAX];
        const ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0) return path;
        link[length] = '\0';
        // Relative links start at the folder of the link.
        const char *slash = *link == '/' ? NULL : strrchr(path, '/');
        const size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = folder + (size_t)length + 1;
        char *next = malloc(size);
        if (next) snprintf(next, size, "%.*s%s", (int)folder, path, link);
        free(path);
        path = next;
    }
    free(path);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------- files

carom_status carom_temporary_create(const char *target, const carom_file_kind *kind, carom_temporary *temporary, int *descriptor,
                                    carom_error *error) {
    *temporary = (carom_temporary){.kind = kind, .held = -1};
    *descriptor = -1;
    const carom_status status = carom_temporary_check(target, kind, error);
    if (status) return status;

    // A link stays a link: the file it names is replaced or made.
    temporary->target = follow_links(target);
    const size_t size = temporary->target ? strlen(temporary->target) + SUFFIX_SIZE + 3 : 0;
    char *path = size ? malloc(size) : NULL;
    if (!path) {
        carom_temporary_discard(temporary);
        return carom_fail_memory(error, target);
    }

    // The file beside it is called .NAME.SUFFIX. mkstemp would do, but it makes the file private to its owner.
    const char *slash = strrchr(temporary->target, '/');
    const int directory = slash ? (int)(slash - temporary->target) + 1 : 0;
    snprintf(path, size, "%.*s", directory ? directory : 1, directory ? temporary->target : ".");
    if (!kind->many) remove_leftovers(path, temporary->target + directory, S_IFREG);
    carom_stream stream;
    start_suffixes(&stream);
    errno = EEXIST;
    for (int attempt = 0; attempt < ATTEMPTS && *descriptor < 0 && errno == EEXIST; attempt++) {
        char suffix[SUFFIX_SIZE + 1];
        draw_suffix(&stream, suffix);
        snprintf(path, size, "%.*s.%.*s.%s", directory, temporary->target, KEPT_NAME, temporary->target + directory, suffix);
        *descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*descriptor < 0 || hold(*descriptor)) continue;
        close(*descriptor);
        *descriptor = -1;
        errno = EEXIST;
    }
    // A file that takes another one's place is open to the same users, from the beginning.
    struct stat replaced;
    if (*descriptor >= 0 && !stat(temporary->target, &replaced)) fchmod(*descriptor, replaced.st_mode & 0777);
    // A second descriptor keeps the lock when the caller closes his.
    if (*descriptor >= 0) temporary->held = fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (temporary->held >= 0) {
        temporary->path = path;
        return CAROM_OK;
    }
    carom_fail_system(error, errno, "%s: the file cannot be written", target);
    if (*descriptor >= 0) {
        unlink(path);
        close(*descriptor);
        *descriptor = -1;
    }
    free(path);
    carom_temporary_discard(temporary);
    return CAROM_IO_FAILED;
}

// Brings a file or folder to the disk. Places that know nothing of this are as good as they are.
static bool bring_to_disk(int descriptor) { return !fsync(descriptor) || errno == EINVAL || errno == EROFS || errno == ENOTSUP; }

carom_status carom_temporary_commit(carom_temporary *temporary, carom_error *error) {
    // Something else may have taken the place since the file was begun.
    const carom_status status = check_place(temporary->target, temporary->kind, error);
    if (status) return status;
    // Within one directory, so that the change is seen at once and whole; its bytes first, so that no crash of the system shows a name
    // without them.
    const bool whole = temporary->kind->many || bring_to_disk(temporary->held);
    if (!whole || rename(temporary->path, temporary->target))
        return carom_fail_system(error, errno, "%s: the file cannot be written", temporary->target);
    char *slash = strrchr(temporary->path, '/');
    if (slash) slash[1] = '\0';
    const int directory = temporary->kind->many ? -1 : open(slash ? temporary->path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        bring_to_disk(directory);
        close(directory);
    }
    free(temporary->path);
    temporary->path = NULL;
    return CAROM_OK;
}

void carom_temporary_discard(carom_temporary *temporary) {
    // All zero is a file that was never begun.
    if (temporary->kind && temporary->held >= 0) close(temporary->held);
    if (temporary->path) unlink(temporary->path);
    free(temporary->path);
    free(temporary->target);
    *temporary = (carom_temporary){0};
}

// -------------------------------------------------------------------------------------------------------------- folders

carom_status carom_temporary_folder_create(const char *directory, const char *name, carom_temporary_folder *folder, carom_error *error) {
    *folder = (carom_temporary_folder){0};
    const size_t size = strlen(directory) + strlen(name) + SUFFIX_SIZE + 4;
    char *path = malloc(size);
    if (!path) return carom_fail_memory(error, directory);
    remove_leftovers(directory, name, S_IFDIR);
    carom_stream stream;
    start_suffixes(&stream);
    errno = EEXIST;
    for (int attempt = 0; attempt < ATTEMPTS && !folder->listing && errno == EEXIST; attempt++) {
        char suffix[SUFFIX_SIZE + 1];
        draw_suffix(&stream, suffix);
        snprintf(path, size, "%s/.%s.%s", directory, name, suffix);
        if (mkdir(path, 0777)) continue;
        // Listed from the beginning: there may be no memory for that when the folder is removed.
        folder->listing = opendir(path);
        if (folder->listing && hold(dirfd(folder->listing))) break;
        const int reason = folder->listing ? EEXIST : errno;
        if (folder->listing) closedir(folder->listing);
        folder->listing = NULL;
        rmdir(path);
        errno = reason;
    }
    if (folder->listing) {
        folder->path = path;
        return CAROM_OK;
    }
    carom_fail_system(error, errno, "%s: nothing can be written there", directory);
    free(path);
    return CAROM_IO_FAILED;
}

void carom_temporary_folder_remove(carom_temporary_folder *folder) {
    if (!folder->path) return;
    remove_folder(folder->listing, folder->path);
    free(folder->path);
    *folder = (carom_temporary_folder){0};
}

// ----------------------------------------------------------------------------------------------------------------- text

carom_status carom_text_print(FILE *file, const char *name, carom_text_printer *print, const void *content, carom_error *error) {
    // The host program may have a locale with a decimal comma. uselocale changes only this thread.
    const locale_t neutral = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!neutral) return carom_fail_memory(error, name);
    const locale_t callers = uselocale(neutral);
    const carom_status status = print(file, content, error);
    uselocale(callers);
    freelocale(neutral);
    // The disk may be too full, also for what is still in the buffer. Printers do not know the name.
    if ((status && status != CAROM_IO_FAILED) || (!ferror(file) && !fflush(file))) return status;
    return carom_fail_system(error, errno, "%s: the file cannot be written", name);
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
    if (file && fclose(file) && !status) status = carom_fail_system(error, errno, "%s: the file cannot be written", target);
    if (!status) status = carom_temporary_commit(&temporary, error);
    carom_temporary_discard(&temporary);
    return status;
}
