// SPDX-License-Identifier: Apache-2.0
// `carom docs`: the manual page and the completion of bash, which are made from the tables of the command.
#include "command_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------- manual page

// Calls `check` with every command and every flag that its `--help` names.
static void visit_help(const char *directory, void (*check)(void *user, const char *command, const char *flag), void *user) {
    char *usage = run_line(directory, 0, "\"$carom\" --help"), line[256];
    const char *commands = strstr(usage, "commands:\n");
    assert_non_null(commands);
    for (const char *row = commands + 10; *row == ' '; row += strcspn(row, "\n") + 1) {
        char command[64], flag[64];
        assert_int_equal(sscanf(row, " %63s", command), 1);
        snprintf(line, sizeof line, "\"$carom\" %s --help", command);
        char *help = run_line(directory, 0, line);
        // A line starts with its flag, or it lists flags of an earlier law.
        for (const char *start = help; *start; start += strcspn(start, "\n") + 1) {
            const bool is_list = !strncmp(start, "  as above: ", 12);
            for (const char *c = start; *c && *c != '\n'; c++)
                if ((is_list || c == start + 2) && c > start && c[-1] == ' ' && sscanf(c, "%63[-a-z]", flag) == 1 && flag[0] == '-')
                    check(user, command, flag);
        }
        free(help);
    }
    free(usage);
}

static void check_manual_entry(void *user, const char *command, const char *flag) {
    char wanted[160], *to = wanted;
    snprintf(wanted, sizeof wanted, "\n.SS \"%s ", command);
    check_text(user, wanted);
    for (; *flag; *to++ = *flag++)
        if (*flag == '-') *to++ = '\\';
    *to = '\0';
    check_text(user, wanted);
}

static void the_manual_has_every_command_and_option(void **state) {
    char *manual = run_line(*state, 0, "\"$carom\" docs man");
    visit_help(*state, check_manual_entry, manual);
    static const char *const sections[] = {"NAME",        "SYNOPSIS",    "DESCRIPTION", "COMMANDS", "LAWS",
                                           "LCP SOLVERS", "EXIT STATUS", "EXAMPLES",    "SEE ALSO"};
    const char *place = manual;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char title[64];
        snprintf(title, sizeof title, "\n.SH %s\n", sections[i]);
        place = strstr(place, title);
        if (!place) fail_msg("section %s is missing or out of order", sections[i]);
    }
    free(manual);
}

// Requests are those of man(7), and each paragraph with a tag has one.
static void the_manual_is_roff(void **state) {
    char *manual = run_line(*state, 0, "\"$carom\" docs man");
    static const char *const macros[] = {".\\\"", ".TH", ".SH", ".SS", ".TP", ".PP", ".br", ".BR"};
    for (const char *line = manual; *line; line += strcspn(line, "\n") + 1) {
        bool known = *line != '.' && *line != '\'' && *line != '\n';
        for (size_t i = 0; i < sizeof macros / sizeof *macros; i++) known = known || !strncmp(line, macros[i], 3);
        if (!known) fail_msg("not a line of a manual page: %.80s", line);
    }
    assert_int_equal(count_text(manual, ".TP\n"), count_text(manual, ".TP\n\\fB"));
    free(manual);
    char *warnings =
        run_line(*state, 0, "command -v groff >/dev/null || exit 0; \"$carom\" docs man | groff -ww -man -Tascii 2>&1 >/dev/null");
    assert_string_equal(warnings, "");
    free(warnings);
}

// `as above` means just that: an option whose choices or default differ from those of the law above is explained again.
static void help_shows_what_differs_from_law_to_law(void **state) {
    static const struct {
        const char *command, *section, *says;
    } rows[] = {{"resolve", "moreau", "  --selection lemke|any  "},
                {"resolve", "routh", "which solution of a step where it has several (default auto)"},
                {"simulate", "inclusion", "  --step X                      grid step: of recorded states, and the largest"},
                {"simulate", "propagative", "  --step X                      grid step [s] (default 0.01)"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[256];
        snprintf(line, sizeof line, "\"$carom\" %s --help | sed -n '/^[a-z]* %s:/,/^$/p'", rows[i].command, rows[i].section);
        char *section = run_line(*state, 0, line);
        check_text(section, rows[i].says);
        free(section);
    }
}

// ---------------------------------------------------------------------------------------------------------- completion

// Completes a line whose words stand in `words` (of bash), with the last one under the cursor; one candidate a line.
static char *complete(const char *directory, const char *words) {
    char line[2 * PATH_SIZE];
    snprintf(line, sizeof line,
             "\"$carom\" docs bash > carom.bash && bash -n carom.bash && . ./carom.bash && COMP_WORDS=(%s) && "
             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && { _carom; rm carom.bash; printf '%%s\\n' \"${COMPREPLY[@]}\" | sort; }",
             words);
    return run_line(directory, 0, line);
}

// All laws, whichever there are.
static void completion_knows_laws(void **state) {
    char *laws = run_line(*state, 0, "\"$carom\" resolve --list | cut -d' ' -f1 | sort"),
         *found = complete(*state, "carom resolve --law =");
    assert_string_equal(found, laws);
    free(laws);
    free(found);
}

static void check_completion(const char *directory, const char *words, const char *expected) {
    char *found = complete(directory, words);
    if (strcmp(found, expected)) fail_msg("%s\n  gives: %s  instead of: %s", words, found, expected);
    free(found);
}

static void completion_knows_words(void **state) {
    check_completion(*state, "carom res", "resolve\n");
    check_completion(*state, "carom resolve --la", "--law\n");
    check_completion(*state, "carom resolve x.yaml --law ant", "\n");
    check_completion(*state, "carom resolve x.yaml --law an", "anitescu-potra\n");
    check_completion(*state, "carom resolve --law = se", "sequential\n");
    check_completion(*state, "carom resolve --selection ''", "all\nany\nauto\nlemke\nrandom\nscattered\n");
    check_completion(*state, "carom sample --selection ''", "any\nauto\nlemke\nrandom\nscattered\n");
    check_completion(*state, "carom lcp --solver siconos-enu", support_has("SICONOS") ? "siconos-enum\n" : "\n");
    check_completion(*state, "carom sample --solver siconos-l", support_has("SICONOS") ? "siconos-lemke\n" : "\n");
    check_completion(*state, "carom sample --seed ''", "\n");
    check_completion(*state, "carom sample --m", "--max-steps\n");
    check_completion(*state, "carom docs ''", "bash\nman\n");
    check_completion(*state, "carom explode ''", "\n");
}

static void completion_knows_files(void **state) {
    run_quietly(*state, 0, "mkdir 'a b' && touch 'the scene.yaml' the.json the.h5 the.txt 'a b/c.yml'");
    check_completion(*state, "carom info the", "the scene.yaml\nthe.json\n");
    check_completion(*state, "carom info 'a b/'", "a b/c.yml\n");
    check_completion(*state, "carom plot ''", "a b\nthe.h5\n");
    check_completion(*state, "carom sample x.yaml -o the.", "the.h5\nthe.json\nthe.txt\n");
    check_completion(*state, "carom compare x.yaml -o ''", "a b\n");
    check_completion(*state, "carom lcp the.t", "the.txt\n");
    run_quietly(*state, 0, "rm -r 'a b'");
}

static void check_flag_completion(void *user, const char *command, const char *flag) {
    char words[160], wanted[80];
    snprintf(words, sizeof words, "carom %s -", command);
    snprintf(wanted, sizeof wanted, "%s\n", flag);
    char *found = complete(user, words);
    check_text(found, wanted);
    free(found);
}

static void completion_has_every_flag(void **state) { visit_help(*state, check_flag_completion, *state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_manual_has_every_command_and_option, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_manual_is_roff, set_up, tear_down),
        cmocka_unit_test_setup_teardown(help_shows_what_differs_from_law_to_law, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_knows_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_knows_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_knows_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completion_has_every_flag, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
