// SPDX-License-Identifier: Apache-2.0
// docs/your-robot.md: what the page shows in its blocks `console` is what the command prints. Commands about robots that a reader has to
// fetch stand in blocks of another kind.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of the page may differ by this share, because the last digits are MuJoCo's and BLAS's.
#define NUMBER_TOLERANCE 1e-6

enum { MOST_WORDS = 64 };

// Cuts a line into words, without the brackets and commas of lists.
static int cut(char *line, char *words[MOST_WORDS]) {
    int count = 0;
    for (char *place = NULL, *word = strtok_r(line, " [],\n", &place); word && count < MOST_WORDS; word = strtok_r(NULL, " [],\n", &place))
        words[count++] = word;
    return count;
}

static bool same_word(const char *shown, const char *printed) {
    char *shown_end, *printed_end;
    const double a = strtod(shown, &shown_end), b = strtod(printed, &printed_end);
    if (shown_end == shown || printed_end == printed || *shown_end || *printed_end) return !strcmp(shown, printed);
    return fabs(a - b) <= NUMBER_TOLERANCE * fabs(a);
}

static bool same_line(const char *shown, const char *printed) {
    char *copies[2] = {strdup(shown), strdup(printed)}, *words[2][MOST_WORDS];
    assert_true(copies[0] && copies[1]);
    const int count = cut(copies[0], words[0]);
    bool same = count == cut(copies[1], words[1]);
    for (int i = 0; same && i < count; i++) same = same_word(words[0][i], words[1][i]);
    free(copies[0]);
    free(copies[1]);
    return same;
}

// Each shown line stands in the output, in this order; "..." stands for lines that the page leaves out.
static void check_output(const char *command, char *shown, char *printed) {
    char *rest = NULL, *place = NULL;
    char *actual = strtok_r(printed, "\n", &rest);
    for (char *line = strtok_r(shown, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
        if (!strcmp(line, "...")) continue;
        while (actual && !same_line(line, actual)) actual = strtok_r(NULL, "\n", &rest);
        if (!actual) fail_msg("%s\n  does not print: %s", command, line);
        actual = strtok_r(NULL, "\n", &rest);
    }
}

// Runs every command of the console blocks, in order and in one directory, as a reader does.
static void the_page_shows_what_is_printed(void **state) {
    char *page = read_file("docs", "your-robot.md"), line[4 * PATH_SIZE];
    snprintf(line, sizeof line, "ln -s '%.4000s' scenes && ln -s '%.4000s/../examples' examples", scenes_path, scenes_path);
    run_quietly(*state, 0, line);
    int commands = 0;
    for (char *block = strstr(page, "```console\n"); block; block = strstr(block + 1, "```console\n")) {
        char *end = strstr(block + 3, "```\n");
        assert_non_null(end);
        *end = '\0';
        char *start = block + strlen("```console\n");
        while (!strncmp(start, "$ ", 2)) {
            char *output = strchr(start, '\n'), *next = output ? strstr(output, "\n$ ") : NULL;
            assert_non_null(output);
            *output++ = '\0';
            if (next) *next = '\0';
            snprintf(line, sizeof line, "carom() { \"$carom\" \"$@\"; }; %.4000s 2>&1", start + 2);
            char *printed = run_line(*state, 0, line);
            check_output(start, output, printed);
            free(printed);
            commands++;
            start = next ? next + 1 : end;
        }
        block = end;
    }
    assert_true(commands >= 8);
    free(page);
}

// The scene of the page is the one that ships.
static void the_page_shows_the_shipped_scene(void **state) {
    (void)state;
    char *page = read_file("docs", "your-robot.md"), *scene = read_file("examples", "landing.yaml");
    const char *body = strstr(scene, "model:");
    assert_non_null(body);
    check_text(page, body);
    free(page);
    free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_page_shows_what_is_printed, set_up, tear_down),
        cmocka_unit_test(the_page_shows_the_shipped_scene),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
