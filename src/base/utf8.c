// SPDX-License-Identifier: Apache-2.0
// UTF-8 by RFC 3629.
#include "carom/utf8.h"

#include <stdlib.h>
#include <string.h>

// The shortest forms: a code point of `length` bytes must be at least this large (RFC 3629, section 3).
static const unsigned long SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};

int carom_utf8_decode(const char *text, unsigned long *code) {
    const unsigned char *bytes = (const unsigned char *)text, lead = *bytes;
    // The first byte says how many follow; 0x80 to 0xc1 and 0xf5 to 0xff begin nothing.
    const int length = lead < 0x80                    ? 1
                       : lead >= 0xc2 && lead <= 0xdf ? 2
                       : lead >= 0xe0 && lead <= 0xef ? 3
                       : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                      : 0;
    *code = length > 1 ? lead & (0x7fu >> length) : lead;
    for (int i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (bytes[i] & 0x3f);
    }
    const bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < SMALLEST[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

bool carom_utf8_is_shown(unsigned long code) {
    static const unsigned long hidden[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f},  {0x2028, 0x202e},
                                              {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i][0] && code <= hidden[i][1]) return false;
    return true;
}

void carom_utf8_make_plain(char *text) {
    char *end = text;
    while (*text) {
        unsigned long code;
        const int length = carom_utf8_decode(text, &code);
        if (length && carom_utf8_is_shown(code)) {
            memmove(end, text, (size_t)length);
            end += length;
        } else {
            *end++ = length == 1 ? ' ' : '?';
        }
        text += length ? length : 1;
    }
    *end = '\0';
}

char *carom_utf8_repair(const char *text) {
    static const char replacement[] = "\xef\xbf\xbd";
    // Each byte grows to three at most.
    char *repaired = malloc(3 * strlen(text) + 1);
    if (!repaired) return NULL;
    char *end = repaired;
    while (*text) {
        unsigned long code;
        const int length = carom_utf8_decode(text, &code);
        memcpy(end, length ? text : replacement, length ? (size_t)length : 3);
        end += length ? length : 3;
        text += length ? length : 1;
    }
    *end = '\0';
    return repaired;
}
