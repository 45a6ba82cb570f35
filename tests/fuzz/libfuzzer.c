// SPDX-License-Identifier: Apache-2.0
// Harnesses under libFuzzer, and mutations that keep the structure of YAML, JSON and command lines, so that most inputs are accepted.
// CAROM_FUZZ names the harness, CAROM_FUZZ_SCENES the directory of the models, CAROM_FUZZ_WORDS a file of words, one a line.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/common_interface_defs.h>

#include "cli/cli_internal.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

enum { MOST_VOCABULARY = 4096, MOST_TOKENS = 4096 };

static const fuzz_harness *harness;
static char *vocabulary[MOST_VOCABULARY];
static size_t vocabulary_size;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    harness = fuzz_find(getenv("CAROM_FUZZ"));
    if (!harness) {
        fprintf(stderr, "CAROM_FUZZ is not one of:");
        for (const fuzz_harness *each = fuzz_harnesses; each->name; each++) fprintf(stderr, " %s", each->name);
        fputc('\n', stderr);
        exit(EXIT_FAILURE);
    }
    const char *words = getenv("CAROM_FUZZ_WORDS");
    FILE *file = words ? fopen(words, "r") : NULL;
    char line[128];
    while (file && vocabulary_size < MOST_VOCABULARY && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line) vocabulary[vocabulary_size++] = strdup(line);
    }
    if (file) fclose(file);
    const char *scenes = getenv("CAROM_FUZZ_SCENES");
    fuzz_enter(scenes ? scenes : "scenes");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    harness->run(bytes, size);
    return 0;
}

// --------------------------------------------------------------------------------------------------------------- choices

static uint64_t state;

// Marsaglia's xorshift: the mutations of a seed are the same everywhere.
static size_t pick(size_t count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return count ? (size_t)(state % count) : 0;
}

static const char *pick_number(void) {
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "3",
                                          "0.5",
                                          "-0.5",
                                          "0.1",
                                          "1e-9",
                                          "1e-12",
                                          "1e9",
                                          "1e12",
                                          "1/3",
                                          "-2/7",
                                          "1e300",
                                          "1e308",
                                          "1e-308",
                                          "4",
                                          "8",
                                          "-0",
                                          "1e-300",
                                          "16",
                                          "0.001",
                                          "100",
                                          "1e400",
                                          "nan",
                                          "inf",
                                          "9007199254740993",
                                          "2147483648",
                                          "-1e-300",
                                          "0.30000000000000004",
                                          "5e-324",
                                          "true",
                                          "''",
                                          "[]",
                                          "{}"};
    return numbers[pick(sizeof numbers / sizeof *numbers)];
}

static const char *pick_word(void) {
    static const char *const few[] = {"A", "B", "C", "input.yaml", "out.h5", "none", "true"};
    if (vocabulary_size && pick(4)) return vocabulary[pick(vocabulary_size)];
    return few[pick(sizeof few / sizeof *few)];
}

// ------------------------------------------------------------------------------------------------------------ text edits

// A text under edit, in room for more.
typedef struct text {
    char *bytes;
    size_t size, most;
} text;

// Puts `size` bytes in the place of [start, end).
static void replace(text *t, size_t start, size_t end, const char *bytes, size_t size) {
    if (t->size - (end - start) + size > t->most) return;
    // What is put in may be a part of the text itself.
    char *copy = malloc(size + 1);
    if (!copy) return;
    memcpy(copy, bytes, size);
    memmove(t->bytes + start + size, t->bytes + end, t->size - end);
    memcpy(t->bytes + start, copy, size);
    t->size = t->size - (end - start) + size;
    free(copy);
}

typedef struct span {
    size_t start, end;
} span;

static size_t length_of(span s) { return s.end - s.start; }

static bool is_word(char c) { return isalnum((unsigned char)c) || strchr("_.+-*/", c); }

// Words and numbers of a part of the text.
static size_t find_tokens(const text *t, span part, span *tokens) {
    size_t count = 0;
    for (size_t i = part.start; i < part.end && count < MOST_TOKENS;) {
        if (!t->bytes[i] || !is_word(t->bytes[i])) {
            i++;
            continue;
        }
        tokens[count].start = i;
        while (i < part.end && t->bytes[i] && is_word(t->bytes[i])) i++;
        tokens[count++].end = i;
    }
    return count;
}

static bool is_number(const text *t, span s) {
    const char c = t->bytes[s.start];
    return isdigit((unsigned char)c) || (length_of(s) > 1 && strchr("+-.", c) && isdigit((unsigned char)t->bytes[s.start + 1]));
}

// Lines of a part of the text, without their ends.
static size_t find_lines(const text *t, span part, span *lines) {
    size_t count = 0;
    for (size_t i = part.start; i < part.end && count < MOST_TOKENS; i++) {
        lines[count].start = i;
        while (i < part.end && t->bytes[i] != '\n') i++;
        lines[count++].end = i;
    }
    return count;
}

// Entries of a random list or map of one line style: what stands between its brackets and commas.
static size_t find_entries(const text *t, span part, span *entries) {
    size_t opens[64], open_count = 0;
    for (size_t i = part.start; i < part.end; i++)
        if (t->bytes[i] == '[' || t->bytes[i] == '{') opens[open_count < 64 ? open_count++ : pick(64)] = i;
    if (!open_count) return 0;
    const size_t open = opens[pick(open_count)];
    size_t count = 0, depth = 0, start = open + 1;
    for (size_t i = open; i < part.end && count < MOST_TOKENS; i++) {
        const char c = t->bytes[i];
        if (c == '[' || c == '{') depth++;
        const bool closes = c == ']' || c == '}';
        if ((c == ',' && depth == 1) || (closes && depth == 1)) {
            entries[count++] = (span){start, i};
            start = i + 1;
        }
        if (closes && !--depth) break;
    }
    return count;
}

// Swaps, copies, repeats or removes one of several pieces; `separator` goes between a piece and its copy.
static void shuffle(text *t, const span *pieces, size_t count, char separator) {
    if (!count) return;
    span a = pieces[pick(count)], b = pieces[pick(count)];
    switch (pick(4)) {
    case 0: {
        // Removes, with the separator after it.
        const size_t end = a.end < t->size && t->bytes[a.end] == separator ? a.end + 1 : a.end;
        replace(t, a.start, end, "", 0);
        break;
    }
    case 1: {
        // Repeats.
        replace(t, a.end, a.end, t->bytes + a.start, length_of(a));
        if (t->size < t->most) replace(t, a.end, a.end, &separator, 1);
        break;
    }
    case 2: replace(t, a.start, a.end, t->bytes + b.start, length_of(b)); break;
    default: {
        if (a.start > b.start) {
            const span swap = a;
            a = b;
            b = swap;
        }
        if (a.end > b.start) break;
        char *first = malloc(length_of(a) + 1);
        if (!first) break;
        memcpy(first, t->bytes + a.start, length_of(a));
        const size_t old = t->size;
        replace(t, a.start, a.end, t->bytes + b.start, length_of(b));
        const size_t moved = t->size - old;
        replace(t, b.start + moved, b.end + moved, first, length_of(a));
        free(first);
    }
    }
}

// One edit of a part that holds YAML, JSON or XML.
static void edit_structure(text *t, span part) {
    static span found[MOST_TOKENS];
    size_t count;
    switch (pick(8)) {
    case 0:
    case 1:
    case 2:
        // A number becomes another one, or one of the text.
        count = find_tokens(t, part, found);
        for (size_t attempt = 0; count && attempt < 16; attempt++) {
            const span token = found[pick(count)], other = found[pick(count)];
            if (!is_number(t, token)) continue;
            const char *number = pick_number();
            const bool copies = is_number(t, other) && pick(2);
            replace(t, token.start, token.end, copies ? t->bytes + other.start : number, copies ? length_of(other) : strlen(number));
            break;
        }
        break;
    case 3:
    case 4:
        // A word becomes another one.
        count = find_tokens(t, part, found);
        for (size_t attempt = 0; count && attempt < 16; attempt++) {
            const span token = found[pick(count)], other = found[pick(count)];
            if (is_number(t, token)) continue;
            const char *word = pick_word();
            const bool copies = pick(2);
            replace(t, token.start, token.end, copies ? t->bytes + other.start : word, copies ? length_of(other) : strlen(word));
            break;
        }
        break;
    case 5:
    case 6: shuffle(t, found, find_entries(t, part, found), ','); break;
    default: shuffle(t, found, find_lines(t, part, found), '\n');
    }
}

// -------------------------------------------------------------------------------------------------------- command lines

// A value that this option may well take.
static void put_value(const carom_option *row, char *value, size_t size) {
    switch (row->type) {
    case CAROM_OPTION_CHOICE: {
        size_t count = 0;
        while (row->choices[count]) count++;
        snprintf(value, size, "%s", row->choices[pick(count)]);
        break;
    }
    case CAROM_OPTION_CONTACTS: snprintf(value, size, "%s", pick(2) ? "A,B" : "B,A"); break;
    case CAROM_OPTION_TEXT: snprintf(value, size, "%s", pick_word()); break;
    case CAROM_OPTION_INTEGER: snprintf(value, size, "%zu", pick(2) ? pick(9) : pick(200)); break;
    case CAROM_OPTION_REAL:
        if (pick(4))
            snprintf(value, size, "%g", (double)pick(100) / 50);
        else
            snprintf(value, size, "%s", pick_number());
        break;
    case CAROM_OPTION_INTERVAL: snprintf(value, size, "0.%zu:0.%zu", pick(10), pick(10)); break;
    case CAROM_OPTION_SWITCH: *value = '\0';
    }
}

// A value for an option of the command itself: by its name, else by what stands for the value in `--help`.
static void put_flag_value(const cli_flag *flag, char *value, size_t size) {
    static const struct {
        const char *flag, *values[5];
    } known[] = {
        {"output", {"out.h5", "out.h5", "out.png", "out", "out.vtk"}},
        {"max", {"Jn.A", "Jn.A-2*Jt.B", "v.1", "Jt.A.2", "sqrt(2)*Jn.B"}},
        {"axes", {"Jn.A,Jn.B", "Jt.A,Jt.B", "Jn.A,Jt.A", "Jt.A.2,Jn.A", "Jn.C,Jn.A"}},
        {"hull", {"Jn.A,Jn.B", "Jt.A,Jt.B", "Jn.A,Jt.A", "Jn.A,Jn.B,Jt.A", "Jn.A"}},
        {"contains", {"input.yaml", "v.yaml", "input.yaml", "", "out.h5"}},
        {"distance", {"out.h5", "out.h5", "out2.h5", "input.yaml", "out.h5"}},
        {"keep", {"all", "extent", "hull", "hull", "some"}},
        {"law", {"halm-posa", "sequential", "propagative", "stronge", "moreau"}},
        {"solver", {"lemke", "siconos-lemke", "lemke:scalar", "siconos-nsgs", "all"}},
        {"metric", {"euclidean", "kinetic", "kinetic", "euclidean", "none"}},
        {"threads", {"1", "2", "3", "1", "0"}},
        {"simulator", {"mujoco", "mujoco", "mujoco", "mujoco", "bullet"}},
        {"overlay", {"out.h5", "out.h5,out.h5", "input.yaml", "", ","}},
        {"export", {"out.txt", "out.txt", "out", "out.h5", "input.yaml"}},
        {"fclib-out", {"out.h5", "out.hdf5", "out", "out.h5", "input.yaml"}},
        {"figure", {"out.png", "out.svg", "out", "out.h5", "out.png"}},
        {"figures", {"out", "out", "out.png", "", "o"}},
        {"vtk", {"out.vtk", "out.vtp", "out", "out.vtk", "out.h5"}},
        {"vary", {"mu=0:1:0.5", "mu.A=0:1:0.25", "restitution=0:1:1", "v.1=-1:0:0.5", "mass=1:2:1"}},
        {"fit", {"mu,e", "mu", "e", "", "mu,mu"}},
        {"identify", {"inertia,com", "inertia", "com", "", "mass"}},
        {"save-state", {"state.json", "state.json", "out.json", "state", "input.yaml"}},
        {"resume", {"state.json", "state.json", "w.json", "input.yaml", "out.h5"}},
        {"times", {"0", "0,0.1", "0.1,0", "-1", "1e9"}},
        {"window", {"0:0.1", "0.1:0", "0:1e9", ":", "-1:0"}},
        {"size", {"column", "page", "slide", "80x60", "0x0"}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].flag, flag->name)) {
            snprintf(value, size, "%s", known[i].values[pick(5)]);
            return;
        }
    static const char *const integrators[] = {"inclusion", "propagative", "lgvci", "rodrigues", "stepping"};
    static const char *const files[] = {"input.yaml", "out.h5", "w.json", "state.json", "impacts.json", "out", "fuzzed.obj"};
    const char *meta = flag->value;
    if (!strcmp(flag->name, "integrator")) {
        snprintf(value, size, "%s", integrators[pick(sizeof integrators / sizeof *integrators)]);
    } else if (strchr(meta, '|') && !strpbrk(meta, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
        // One of the words between the bars.
        size_t words = 1;
        for (const char *at = meta; *at; at++) words += *at == '|';
        for (size_t skipped = pick(words); skipped; skipped--) meta = strchr(meta, '|') + 1;
        snprintf(value, size, "%.*s", (int)strcspn(meta, "|"), meta);
    } else if (!strncmp(meta, "FILE", 4) || !strncmp(meta, "DIR", 3) || !strncmp(meta, "PLACE", 5)) {
        snprintf(value, size, "%s", files[pick(sizeof files / sizeof *files)]);
    } else if (!strcmp(meta, "EXPR")) {
        snprintf(value, size, "%s", pick(2) ? "Jn.A" : "Jt.B-2*v.1");
    } else if (!strcmp(meta, "N") && pick(4)) {
        snprintf(value, size, "%zu", pick(20));
    } else {
        snprintf(value, size, "%s", pick(4) ? pick_number() : pick_word());
    }
}

// An option of the command or of one of its laws, with a value, as it stands on a command line; "" for none.
static void put_option(const cli_command *command, char *words, size_t size) {
    char value[160] = "", flag[CLI_NAME_SIZE];
    *words = '\0';
    const int owners = cli_owners(command, fuzz_registry());
    if (command->flag_count && (owners == 0 || command->laws == CLI_NO_LAWS || pick(3) == 0)) {
        const cli_flag *own = &command->flags[pick((size_t)command->flag_count)];
        if (own->value) put_flag_value(own, value, sizeof value);
        snprintf(words, size, " %s%s%s%s", strcmp(own->name, "output") ? "--" : "-o", strcmp(own->name, "output") ? own->name : "",
                 own->value ? " " : "", value);
    } else if (command->laws != CLI_NO_LAWS && owners) {
        const cli_owner owner = cli_owner_at(command, fuzz_registry(), (int)pick((size_t)owners));
        if (!owner.option_count) return;
        const carom_option *row = &owner.options[pick((size_t)owner.option_count)];
        cli_spell_flag(row, flag);
        *value = ' ';
        put_value(row, value + 1, sizeof value - 1);
        snprintf(words, size, " --%s%s", flag, row->type == CAROM_OPTION_SWITCH ? "" : value);
    }
}

// The command of a line, which may have none.
static const cli_command *command_of(const text *t, span line) {
    for (size_t i = 0; cli_commands[i]; i++) {
        const size_t length = strlen(cli_commands[i]->name);
        if (length <= length_of(line) && !memcmp(cli_commands[i]->name, t->bytes + line.start, length) &&
            (length == length_of(line) || t->bytes[line.start + length] == ' '))
            return cli_commands[i];
    }
    return NULL;
}

// One edit of the command lines in [0, end).
static void edit_commands(text *t, size_t end) {
    static span lines[MOST_TOKENS], words[MOST_TOKENS];
    const size_t line_count = find_lines(t, (span){0, end}, lines);
    if (!line_count) return;
    const span line = lines[pick(line_count)];
    const cli_command *command = command_of(t, line);
    char added[512];
    // Words of the line: what stands between blanks.
    size_t count = 0;
    for (size_t i = line.start; i < line.end && count < MOST_TOKENS; i++) {
        words[count].start = i;
        while (i < line.end && t->bytes[i] != ' ') i++;
        words[count++].end = i;
    }
    switch (pick(8)) {
    case 0: {
        // Another command on the same file.
        size_t commands = 0;
        while (cli_commands[commands]) commands++;
        const char *name = cli_commands[pick(commands)]->name;
        if (command) replace(t, line.start, line.start + strlen(command->name), name, strlen(name));
        break;
    }
    case 1: {
        // A question about what was written.
        static const char *const more[] = {"query out.h5 --json",
                                           "plot out.h5 -o picture",
                                           "query out.h5 --max Jn.A --json",
                                           "query out.h5 --hull Jn.A,Jn.B --json",
                                           "plot out.h5 --axes Jn.A,Jn.B -o out.png",
                                           "query out.h5 --contains input.yaml --json",
                                           "query out.h5 --distance out.h5 --json",
                                           "bound input.yaml --max Jn.A --json",
                                           "worst input.yaml --max Jn.A -o w.json",
                                           "replay w.json --json",
                                           "explore out.h5 -o out.html",
                                           "simulate input.yaml --save-state state.json",
                                           "simulate input.yaml --resume state.json --json"};
        const int length = snprintf(added, sizeof added, "%s\n", more[pick(sizeof more / sizeof *more)]);
        replace(t, end, end, added, (size_t)length);
        break;
    }
    case 2: {
        // A word goes, or becomes a number, a word, or another word of the line.
        if (count < 2) break;
        const span word = words[1 + pick(count - 1)], other = words[1 + pick(count - 1)];
        const char *in_place = pick(2) ? pick_number() : pick_word();
        if (pick(2))
            replace(t, word.start, word.end, in_place, strlen(in_place));
        else
            replace(t, word.start, word.end, t->bytes + other.start, pick(3) ? length_of(other) : 0);
        break;
    }
    default:
        if (!command) break;
        put_option(command, added, sizeof added);
        replace(t, line.end, line.end, added, strlen(added));
        if (!pick(3)) replace(t, line.end, line.end, " --json", 7);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < 4; i++) pick(1);
    // Now and then whatever libFuzzer thinks of: among it, words of its dictionary.
    if (harness->form == FUZZ_BYTES || !size || !pick(6)) return LLVMFuzzerMutate(bytes, size, most);
    text t = {(char *)bytes, size, most};
    for (size_t edits = 1 + pick(3); edits && t.size; edits--) {
        // Lines of commands end where the first file begins; an edit stays within one file.
        enum { MOST_FILES = 8 };
        size_t files[MOST_FILES + 1], count = 0;
        if (harness->form == FUZZ_COMMANDS)
            for (size_t i = 0; i + 4 <= t.size && count < MOST_FILES; i++)
                if (!memcmp(t.bytes + i, "---", 3) && (!i || t.bytes[i - 1] == '\n')) files[count++] = i;
        files[count] = t.size;
        if (harness->form == FUZZ_COMMANDS && (pick(count > 1 ? 2 : 3) || !count)) {
            edit_commands(&t, files[0]);
            continue;
        }
        const size_t chosen = pick(count);
        span part = {count ? files[chosen] : 0, count ? files[chosen + 1] : t.size};
        // The line that names the file stays.
        while (count && part.start < part.end && t.bytes[part.start++] != '\n') continue;
        edit_structure(&t, part);
    }
    return t.size;
}
