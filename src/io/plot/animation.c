// SPDX-License-Identifier: Apache-2.0
// Animations by ffmpeg: frames are PNGs, one after the other in a file of a temporary folder, which is ffmpeg's standard input.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "carom/plot.h"
#include "carom/temporary.h"
#include "io/child.h"

// Only files that begin like these are replaced. An MP4 begins with any four bytes and MP4_START, which is looked at here.
static const carom_file_kind gif_kind = {"a GIF animation", "GIF8", false, ".gif"};
static const carom_file_kind mp4_kind = {"an MP4 video", "", false, ".mp4"};
#define MP4_START "ftyp"

// A GIF has at most 256 colours, which are chosen from all frames; it is smaller than the frames.
#define GIF_FILTER "scale=800:-1:flags=lanczos,split[all][some];[some]palettegen[colours];[all][colours]paletteuse"

struct carom_animation {
    char *path;
    const carom_file_kind *kind;
    carom_temporary_folder folder;
    char *frame;  // name of a picture in the folder
    FILE *frames;
};

// Runs ffmpeg with these arguments, the frames on its standard input; its messages go into `said`.
static carom_status run_ffmpeg(const char *path, const char *const words[], int input, carom_error *error) {
    FILE *messages = tmpfile();
    if (!messages) return carom_fail_system(error, errno, "%s: no temporary file", path);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    int outcome;
    const bool found = carom_child_run(words, (int[]){input < 0 ? nowhere : input, nowhere, fileno(messages)}, &outcome);
    carom_status status = CAROM_OK;
    if (!found) {
        status = carom_fail(error, CAROM_UNSUPPORTED, "%s: animations are made by ffmpeg, which was not found: install ffmpeg", path);
    } else if (outcome) {
        char said[CAROM_MESSAGE_SIZE / 2];
        rewind(messages);
        said[fread(said, 1, sizeof said - 1, messages)] = '\0';
        status = carom_fail(error, CAROM_IO_FAILED, "%s: ffmpeg could not write the animation: %s", path,
                            *said ? said : "it said nothing (disk full?)");
    }
    if (nowhere >= 0) close(nowhere);
    fclose(messages);
    return status;
}

// Refuses to replace a file that is neither empty nor an MP4.
static carom_status check_mp4(const char *path, carom_error *error) {
    char found[8];
    FILE *file = fopen(path, "rb");
    const size_t count = file ? fread(found, 1, sizeof found, file) : 0;
    if (file) fclose(file);
    if (!count || (count == sizeof found && !memcmp(found + 4, MP4_START, 4))) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: is not an MP4 video; only such a file is replaced", path);
}

carom_status carom_animation_create(const char *path, carom_animation **animation, carom_error *error) {
    *animation = NULL;
    const char *ending = strrchr(path, '.'), *slash = strrchr(path, '/');
    const carom_file_kind *kind = ending && !strcasecmp(ending, ".gif")   ? &gif_kind
                                  : ending && !strcasecmp(ending, ".mp4") ? &mp4_kind
                                                                          : NULL;
    if (!kind) return carom_fail(error, CAROM_BAD_INPUT, "'%.200s' does not end in .gif or .mp4", path);
    carom_status status = carom_temporary_check(path, kind, error);
    if (!status && kind == &mp4_kind) status = check_mp4(path, error);
    if (!status) status = run_ffmpeg(path, (const char *const[]){"ffmpeg", "-version", NULL}, -1, error);
    if (status) return status;
    carom_animation *made = calloc(1, sizeof *made);
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("."), *copy = strdup(path), *frames = NULL;
    if (!made || !directory || !copy) {
        status = carom_fail_memory(error, path);
    } else {
        *made = (carom_animation){.path = copy, .kind = kind};
        copy = NULL;
        status = carom_temporary_folder_create(directory, slash ? slash + 1 : path, &made->folder, error);
    }
    // Room for the names of a frame and of all of them.
    const size_t size = status ? 0 : strlen(made->folder.path) + sizeof "/frame.png";
    if (!status && (!(made->frame = malloc(size)) || !(frames = malloc(size)))) status = carom_fail_memory(error, path);
    if (!status) {
        snprintf(made->frame, size, "%s/frame.png", made->folder.path);
        snprintf(frames, size, "%s/frames", made->folder.path);
        made->frames = fopen(frames, "w+b");
        if (!made->frames) status = carom_fail_system(error, errno, "%s: the file cannot be written", path);
    }
    if (!status) status = carom_plot_check(made->frame, error);
    free(frames);
    free(directory);
    free(copy);
    if (status)
        carom_animation_free(made);
    else
        *animation = made;
    return status;
}

carom_status carom_animation_add(carom_animation *animation, const carom_plot *plot, const int *looks, carom_error *error) {
    const carom_status status = carom_plot_write_looks(plot, looks, animation->frame, error);
    if (status) return status;
    FILE *frame = fopen(animation->frame, "rb");
    char bytes[BUFSIZ];
    for (size_t size; frame && (size = fread(bytes, 1, sizeof bytes, frame));) fwrite(bytes, 1, size, animation->frames);
    const bool read = frame && !ferror(frame);
    if (frame) fclose(frame);
    unlink(animation->frame);
    if (read && !ferror(animation->frames)) return CAROM_OK;
    return carom_fail_system(error, errno, "%s: the file cannot be written", animation->path);
}

carom_status carom_animation_finish(carom_animation *animation, int rate, carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    if (fflush(animation->frames) || fseek(animation->frames, 0, SEEK_SET))
        return carom_fail_system(error, errno, "%s: the file cannot be written", animation->path);
    carom_status status = carom_temporary_create(animation->path, animation->kind, &temporary, &descriptor, error);
    if (status) return status;
    close(descriptor);
    // A name that could be an option or an address is none behind "file:".
    const size_t size = strlen(temporary.path) + sizeof "file:";
    char *output = malloc(size), pace[16];
    if (output) {
        const bool gif = animation->kind == &gif_kind;
        snprintf(output, size, "file:%s", temporary.path);
        snprintf(pace, sizeof pace, "%d", rate);
        // The colours of H.264 that every player knows need an even number of dots.
        const char *const words[] = {"ffmpeg",
                                     "-v",
                                     "error",
                                     "-y",
                                     "-f",
                                     "image2pipe",
                                     "-c:v",
                                     "png",
                                     "-framerate",
                                     pace,
                                     "-i",
                                     "pipe:0",
                                     gif ? "-filter_complex" : "-vf",
                                     gif ? GIF_FILTER : "scale=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p",
                                     "-f",
                                     gif ? "gif" : "mp4",
                                     output,
                                     NULL};
        status = run_ffmpeg(animation->path, words, fileno(animation->frames), error);
    } else {
        status = carom_fail_memory(error, animation->path);
    }
    if (!status) status = carom_temporary_commit(&temporary, error);
    carom_temporary_discard(&temporary);
    free(output);
    return status;
}

void carom_animation_free(carom_animation *animation) {
    if (!animation) return;
    if (animation->frames) fclose(animation->frames);
    carom_temporary_folder_remove(&animation->folder);
    free(animation->frame);
    free(animation->path);
    free(animation);
}
