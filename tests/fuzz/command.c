// SPDX-License-Identifier: Apache-2.0
// The whole command in this process: command lines and a file made of fuzzed bytes, and what every answer must obey.
//
// The bytes are lines of words after `carom`, separated by blanks ('' is an empty word), then files: a line `---` begins `input.yaml`, a
// line
// `--- NAME` the file of that name (a witness, a state, a table, a mesh). The lines run one after another in one directory, so that `query`
// finds what `sample -o out.h5` wrote.
#include <ctype.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli_internal.h"
#include "fuzz/fuzz.h"

// `main` of src/cli/main.c, compiled under this name.
int carom_main(int argc, char **argv);

enum { MOST_WORDS = 64, MOST_LINES = 6, NUMBER_SIZE = 32 };

// --------------------------------------------------------------------------------------------------------------- bounds

// Options that decide how long a computation takes, and what is enough of each to reach all code.
static const struct bound {
    const char *option;
    double most;
    const char *text;
} bounds[] = {
    {"samples", 64, "64"},      {"paths", 4, "4"},          {"max_steps", 200, "200"},   {"max_impacts", 200, "200"},
    {"max_states", 500, "500"}, {"max_length", 500, "500"}, {"seconds", 0.2, "0.2"},     {"points", 3, "3"},
    {"perturbations", 2, "2"},  {"ensemble", 3, "3"},       {"convergence", 3, "3"},     {"fan", 4, "4"},
    {"threads", 3, "3"},        {"duration", 2, "2"},       {"pieces", 200, "200"},      {"bits", 512, "512"},
    {"cone_edges", 12, "12"},   {"horizon", 0.02, "0.02"},  {"walks", 64, "64"},         {"planes", 2, "2"},
    {"draws", 64, "64"},        {"resolution", 20, "20"},   {"evaluations", 100, "100"}, {"bound_seconds", 0.1, "0.1"},
    {"null_points", 64, "64"},
};
enum { BOUNDS = sizeof bounds / sizeof *bounds };

static const struct bound *find_bound(const char *option, size_t length) {
    for (int i = 0; i < BOUNDS; i++) {
        size_t k = 0;
        // Flags have dashes where scenes have underlines.
        while (k < length && bounds[i].option[k] && (option[k] == '-' ? '_' : option[k]) == bounds[i].option[k]) k++;
        if (k == length && !bounds[i].option[k]) return &bounds[i];
    }
    return NULL;
}

const char *fuzz_bound_of(const char *option) {
    const struct bound *found = find_bound(option, strlen(option));
    return found ? found->text : NULL;
}

// After a name that has a bound and `: `, `=` or a blank, a number that is larger becomes the bound, and zeros fill the rest.
void fuzz_bound_numbers(char *text) {
    for (char *at = text; *at;) {
        if (!isalpha((unsigned char)*at)) {
            at++;
            continue;
        }
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_-");
        const struct bound *bound = find_bound(at, length);
        at += length ? length : 1;
        if (!bound) continue;
        char *start = at + strspn(at, ":= \t\"'"), *end;
        const double value = strtod(start, &end);
        if (end == start || !(value > bound->most)) continue;
        const size_t room = (size_t)(end - start), used = strlen(bound->text);
        // A number that is too large in fewer digits than the bound has: 9e9.
        if (room < used) {
            memset(start, '0', room);
            start[room - 1] = '1';
            continue;
        }
        memset(start, ' ', room);
        memcpy(start, bound->text, used);
    }
}

// ---------------------------------------------------------------------------------------------------------- one command

// What takes longer is stopped as by Ctrl-C, and must then end well before the time limit of the fuzzer.
enum { PATIENCE = 2 };

static void ignore(int signal_number) { (void)signal_number; }

fuzz_report fuzz_call(int argc, char **argv) {
    fuzz_report report = {0};
    struct sigaction interrupt, end, ignored = {.sa_handler = ignore};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGINT};
    const struct itimerspec limit = {.it_value.tv_sec = PATIENCE};
    timer_t timer;
    sigaction(SIGINT, &ignored, &interrupt);
    sigaction(SIGTERM, NULL, &end);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &limit, NULL)) exit(EXIT_FAILURE);
    // glibc's streams are variables. Reports of sanitizers go to the descriptor, which stays.
    FILE *const out = stdout, *const err = stderr;
    FILE *const captured_out = open_memstream(&report.out, &report.out_size), *const captured_err =
                                                                                  open_memstream(&report.err, &report.err_size);
    if (!captured_out || !captured_err) exit(EXIT_FAILURE);
    stdout = captured_out;
    stderr = captured_err;
    report.status = carom_main(argc, argv);
    timer_delete(timer);
    stdout = out;
    stderr = err;
    fclose(captured_out);
    fclose(captured_err);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &end, NULL);
    return report;
}

static bool has(int argc, char **argv, const char *word) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], word)) return true;
    return false;
}

static const cli_command *find_command(const char *name) {
    for (int i = 0; cli_commands[i]; i++)
        if (!strcmp(cli_commands[i]->name, name)) return cli_commands[i];
    return NULL;
}

// Is the next word the value of this one: after a flag of the command, or an option of its laws or integrators, that has one?
static bool has_value(const cli_command *command, const char *word) {
    if (!strcmp(word, "-o")) return true;
    if (strncmp(word, "--", 2) != 0 || strchr(word, '=')) return false;
    for (int i = 0; i < command->flag_count; i++)
        if (!strcmp(command->flags[i].name, word + 2)) return command->flags[i].value != NULL;
    for (int i = 0; i < cli_owners(command, fuzz_registry()); i++) {
        const cli_owner owner = cli_owner_at(command, fuzz_registry(), i);
        for (int k = 0; k < owner.option_count; k++) {
            char flag[CLI_NAME_SIZE];
            cli_spell_flag(&owner.options[k], flag);
            if (!strcmp(flag, word + 2)) return owner.options[k].type != CAROM_OPTION_SWITCH;
        }
    }
    return false;
}

// Is JSON asked for? `--overlay --json` names a file.
static bool asks_json(int argc, char **argv) {
    const cli_command *command = find_command(argv[1]);
    bool asks = false;
    for (int i = 2; i < argc && command && !asks; i += has_value(command, argv[i]) ? 2 : 1) asks = !strcmp(argv[i], "--json");
    return asks;
}

// What holds for every command line.
static void check_report(int argc, char **argv, const fuzz_report *report) {
    if (report->status < 0 || report->status > 2) fuzz_fail("exit status %d", report->status);
    if (report->status == 2) {
        if (report->out_size) fuzz_fail("%zu bytes on stdout beside a refusal", report->out_size);
        const char *end = strchr(report->err, '\n');
        if (strncmp(report->err, "carom: ", 7) != 0 || !end || end[1] || strlen(report->err) != report->err_size || report->err_size < 10)
            fuzz_fail("a refusal is not one line: '%s'", report->err);
        return;
    }
    if (strstr(report->err, "internal")) fuzz_fail("%s", report->err);
    // Lists and help are texts.
    if (!asks_json(argc, argv) || has(argc, argv, "--list") || has(argc, argv, "--help") || has(argc, argv, "-h") ||
        !strcmp(argv[1], "help") || !strcmp(argv[1], "--version"))
        return;
    json_error_t error;
    json_t *document = json_loadb(report->out, report->out_size, JSON_REJECT_DUPLICATES, &error);
    if (!document) fuzz_fail("stdout is not one JSON document: %s in line %d: %.200s", error.text, error.line, report->out);
    if (!json_is_string(json_object_get(document, "schema"))) fuzz_fail("the document has no schema");
    json_decref(document);
}

// Splits a line into words in place.
static int split(char *line, char **words, int most) {
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word && count < most; word = strtok_r(NULL, " ", &rest)) {
        if (!strcmp(word, "''")) *word = '\0';
        words[count++] = word;
    }
    return count;
}

// The value of a flag that is given as two words, or NULL.
static const char *value_of(int count, char **words, const char *flag) {
    for (int i = 0; i + 1 < count; i++)
        if (!strcmp(words[i], flag)) return words[i + 1];
    return NULL;
}

// Does the command take this option: by a flag of its own, or by that of a law or an integrator whose options it takes?
static bool takes(const cli_command *command, int count, char **words, const char *option) {
    for (int i = 0; i < command->flag_count; i++)
        if (find_bound(command->flags[i].name, strlen(command->flags[i].name)) == find_bound(option, strlen(option))) return true;
    // Where one law or integrator is chosen, its options are the only ones.
    const char *chosen = command->laws == CLI_INTEGRATORS ? value_of(count, words, "--integrator") : value_of(count, words, "--law");
    if (!chosen && command->laws == CLI_ONE_LAW) chosen = command->law;
    if (!chosen && command->laws != CLI_ALL_LAWS) return false;
    const carom_registry *registry = fuzz_registry();
    for (int i = 0; i < cli_owners(command, registry); i++) {
        const cli_owner owner = cli_owner_at(command, registry, i);
        if (chosen && command->laws != CLI_ALL_LAWS && strcmp(owner.name, chosen) != 0) continue;
        if (carom_option_find(owner.options, owner.option_count, option) >= 0) return true;
    }
    return false;
}

// Bounds the options that this command line leaves at their defaults.
static int append_bounds(int count, char **words, char storage[][NUMBER_SIZE]) {
    const cli_command *command = find_command(words[0]);
    const int given = count;
    for (int i = 0; i < BOUNDS && command; i++) {
        const char *option = bounds[i].option;
        const bool wanted = takes(command, given, words, option);
        if (!wanted || count > MOST_WORDS - 2) continue;
        snprintf(storage[i], NUMBER_SIZE, "--%s", option);
        for (char *at = storage[i]; *at; at++)
            if (*at == '_') *at = '-';
        bool stands = false;
        for (int k = 1; k < given; k++) stands = stands || !strncmp(words[k], storage[i], strlen(storage[i]));
        if (stands) continue;
        words[count++] = storage[i];
        words[count++] = (char *)bounds[i].text;
    }
    return count;
}

// Command lines that would write outside the directory, or take many seconds by design.
static bool is_out_of_bounds(int count, char **words) {
    for (int i = 0; i < count; i++)
        if (strchr(words[i], '/') || !strcmp(words[i], "tools") || !strcmp(words[i], "..")) return true;
    return !strcmp(words[0], "bench");
}

// The line that begins the next file, or NULL. Within a file a plain `---` is YAML's.
static char *find_file(char *text, bool first) {
    if (!strncmp(text, "--- ", 4) || (first && !strncmp(text, "---\n", 4))) return text;
    char *named = strstr(text, "\n--- "), *plain = first ? strstr(text, "\n---\n") : NULL;
    char *found = plain && (!named || plain < named) ? plain : named;
    return found ? found + 1 : NULL;
}

void fuzz_command(const uint8_t *bytes, size_t size) {
    char *text = fuzz_text(bytes, size);
    // A text with a zero inside is cut there.
    fuzz_bound_numbers(text);
    // Files stand after the command lines; each ends where the next one begins.
    for (char *file = find_file(text, true), *next; file; file = next) {
        char name[64] = "input.yaml", *end = strchr(file, '\n'), *content = end ? end + 1 : file + strlen(file);
        *file = '\0';
        if (end) *end = '\0';
        sscanf(file + 1, "-- %63[a-z0-9._]", name);
        next = find_file(content, false);
        if (*name != '.' && fuzz_may_write(name)) fuzz_write(name, content, next ? (size_t)(next - content) : strlen(content));
    }
    char *rest = NULL;
    int lines = 0;
    for (char *line = strtok_r(text, "\n", &rest); line && lines < MOST_LINES; line = strtok_r(NULL, "\n", &rest), lines++) {
        char *words[MOST_WORDS + 2] = {(char *)"carom"}, storage[BOUNDS][NUMBER_SIZE];
        int count = split(line, words + 1, MOST_WORDS / 2);
        if (!count || is_out_of_bounds(count, words + 1)) continue;
        count = 1 + append_bounds(count, words + 1, storage);
        words[count] = NULL;
        const fuzz_report report = fuzz_call(count, words);
        if (getenv("CAROM_FUZZ_SHOW")) {
            for (int i = 0; i < count; i++) fprintf(stderr, "%s ", words[i]);
            fprintf(stderr, "-> %d, %zu bytes; %s\n", report.status, report.out_size, report.err);
        }
        check_report(count, words, &report);
        free(report.out);
        free(report.err);
    }
    free(text);
    fuzz_sweep();
}
