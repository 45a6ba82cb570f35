// SPDX-License-Identifier: Apache-2.0
/// @file
/// Option tables: rows from which flags, scene keys, `--help` and docs are made.
#ifndef CAROM_OPTION_H
#define CAROM_OPTION_H

#include "carom/status.h"

CAROM_API_BEGIN

typedef enum carom_option_type {
    CAROM_OPTION_INTEGER,   ///< field int64_t; whole numbers written like 1e6 are accepted; 0 in the defaults means "auto" where 1 is the
                            ///< least
    CAROM_OPTION_REAL,      ///< field double; NaN in the defaults means "not set" or "auto"
    CAROM_OPTION_INTERVAL,  ///< field carom_interval: a number, or two with a colon between them; NaN in the defaults means "not set"
    CAROM_OPTION_CHOICE,    ///< field int: index into `choices`
    CAROM_OPTION_TEXT,      ///< field const char *, borrowed from the caller that sets it
    CAROM_OPTION_CONTACTS,  ///< field const char *: contact names with commas between them, borrowed
    CAROM_OPTION_SWITCH,    ///< field bool; "true" or "false" in scenes, a flag without value on the command line
} carom_option_type;

/// "integer", "real", "interval", "choice", "text", "contacts", "switch".
const char *carom_option_type_name(carom_option_type type);

/// The numbers from `least` to `most`; one number where both are equal.
typedef struct carom_interval {
    double least, most;
} carom_interval;

/// The least positive double.
#define CAROM_POSITIVE 4.9406564584124654e-324

/// One option of a law, sampler or command: a row from which flags, scene keys, `--help` and docs are made.
typedef struct carom_option {
    const char *name;  ///< as in scenes (`max_steps`); the flag is `--max-steps`
    carom_option_type type;
    size_t offset;        ///< of the field in the option struct
    double least, most;   ///< closed range of numbers; CAROM_POSITIVE as the least means "greater than zero"
    const char *unit;     ///< "" where it has none
    const char *initial;  ///< default as shown to users
    const char *doc;
    const char *const *choices;  ///< of a choice, NULL-terminated
} carom_option;

/// Initialises `options`, `option_count` and `options_size` of a law or an integrator: an array of rows, and the option struct's type.
#define CAROM_OPTION_TABLE(type, rows) .options = (rows), .option_count = sizeof(rows) / sizeof *(rows), .options_size = sizeof(type)

/// Index of the option called `name` among `count` rows, -1 if there is none.
int carom_option_find(const carom_option *rows, int count, const char *name);

/// Parses `text` by the row's type and range and stores it in the option struct. The whole text must be one token.
/// @return CAROM_BAD_INPUT with a message that starts with the option's name
carom_status carom_option_set(const carom_option *row, void *options, const char *text, carom_error *error);

/// False when the row is a choice without that name, or a number where the text is an interval: it may be meant for another law.
bool carom_option_offers(const carom_option *row, const char *text);

/// Writes the value that the option struct holds as text, as `carom_option_set` would read it. "auto" for a NaN.
void carom_option_print(const carom_option *row, const void *options, char *text, size_t size);

/// Whole-token finite number: decimal notation only. False for "1abc", "nan", "inf", hexadecimal, an empty text.
bool carom_parse_number(const char *text, double *value);
/// A whole number: such a number without a fraction, or BASE^EXPONENT, both in digits, as in 2^20; infinite where it is too large.
bool carom_parse_whole(const char *text, double *value);

/// Writes a number with 17 significant digits and a decimal point, whatever the locale, so that reading it gives the same double.
void carom_print_number(double value, char *text, size_t size);

CAROM_API_END

#endif
