// SPDX-License-Identifier: Apache-2.0
// What the command prints, made safe for terminals at the one place that everything passes: names come from files, and may hold escape
// sequences, marks that turn the order of letters, or bytes that are no text.
#define _GNU_SOURCE  // fopencookie
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "carom/utf8.h"
#include "cli/cli_internal.h"

enum { PART = 4096, LONGEST = 4 };  // bytes that are written at once, and of a character

// One stream, and the start of a character whose end was not written yet.
typedef struct filter {
    FILE *below, *guarded;  // what the stream was before; NULL: it is as it was
    bool whole;             // nothing is changed: JSON keeps names as they are
    int failure;            // errno of the write that failed; 0: none did
    char begun[LONGEST];
    size_t begun_size;
} filter;

static filter filters[2];  // of stdout and stderr

static bool write_all(filter *f, const char *bytes, size_t size) {
    if (fwrite(bytes, 1, size, f->below) == size && !fflush(f->below)) return true;
    f->failure = errno;
    return false;
}

// May the bytes, which are no character, become one by those that follow?
static bool may_begin(const char *bytes, size_t size) {
    const unsigned char lead = (unsigned char)*bytes;
    const size_t length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : 2;
    bool begins = lead >= 0xc2 && lead <= 0xf4 && size < length;
    for (size_t i = 1; i < size && begins; i++) begins = ((unsigned char)bytes[i] & 0xc0) == 0x80;
    return begins;
}

// Receives what is printed, with the layout that tabs and ends of lines make.
static ssize_t write_plain(void *user, const char *bytes, size_t size) {
    filter *f = user;
    if (f->whole) return write_all(f, bytes, size) ? (ssize_t)size : 0;
    char plain[PART];
    size_t filled = 0;
    for (size_t i = 0; i < size; i++) {
        f->begun[f->begun_size++] = bytes[i];
        // Characters are looked at as soon as they are whole; a byte that belongs to none is shown as '?', and those after it begin anew.
        while (f->begun_size) {
            char text[LONGEST + 1] = {0};
            unsigned long code;
            memcpy(text, f->begun, f->begun_size);
            const int length = *text ? carom_utf8_decode(text, &code) : 0;
            if (!length && may_begin(f->begun, f->begun_size)) break;
            if (filled + LONGEST > sizeof plain) {
                if (!write_all(f, plain, filled)) return 0;
                filled = 0;
            }
            const bool shown = length && (carom_utf8_is_shown(code) || code == '\n' || code == '\t');
            const size_t taken = length ? (size_t)length : 1;
            memcpy(plain + filled, shown ? text : "?", shown ? taken : 1);
            filled += shown ? taken : 1;
            f->begun_size -= taken;
            memmove(f->begun, f->begun + taken, f->begun_size);
        }
    }
    return write_all(f, plain, filled) ? (ssize_t)size : 0;
}

void cli_guard_terminal(void) {
    FILE **const streams[] = {&stdout, &stderr};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        filters[i] = (filter){.below = *streams[i]};
        filters[i].guarded = fopencookie(&filters[i], "w", (cookie_io_functions_t){.write = write_plain});
        // Without memory for a stream the bare one serves.
        if (!filters[i].guarded) continue;
        setvbuf(filters[i].guarded, NULL, i || isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, PART);
        *streams[i] = filters[i].guarded;
    }
}

void cli_release_terminal(void) {
    FILE **const streams[] = {&stdout, &stderr};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        if (!filters[i].guarded) continue;
        fclose(filters[i].guarded);
        *streams[i] = filters[i].below;
        filters[i] = (filter){0};
    }
}

int cli_output_failure(void) { return filters[0].failure; }

void cli_print_whole(bool whole) { filters[0].whole = whole; }
