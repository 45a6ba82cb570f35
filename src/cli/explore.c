// SPDX-License-Identifier: Apache-2.0
// `carom explore`: a page for the browser, which the Python package writes.
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carom/json.h"
#include "carom/temporary.h"
#include "cli/cli_internal.h"

static const cli_flag flags[] = {
    {"overlay", "FILE,FILE,...", "more result files of the same contacts, to be shown on the same page"},
    {"output", "FILE", "the page, an HTML file (default: the result's name with .html)"},
    {"json", NULL, "print one JSON document"},
};

// Pythons that are tried, one after the other, unless the user names one: a python3 of the user's own may lack what the system's has.
static const char *const pythons[] = {"python3", "/usr/bin/python3"};
enum { PYTHONS = sizeof pythons / sizeof *pythons };

// The exit status of a Python that lacks a package, when it is asked to be quiet about it.
enum { EXIT_LACKS_PACKAGE = 3 };
static const char quiet[] = "quiet";

// Arguments: where the package is; what to do where a package is missing, "quiet" or the names of Pythons that lack one, too; result files;
// the page. Exit status 0, or 2 with one line, or 3 without one, or 1 when interrupted.
static const char program[] =
    "import sys\n"
    "def refuse(message):\n"
    "    print('carom: ' + ' '.join(str(message).split()), file=sys.stderr)\n"
    "    sys.exit(2)\n"
    "def lack(error):\n"
    "    if sys.argv[2] == 'quiet':\n"
    "        sys.exit(3)\n"
    "    other = sys.argv[2] not in ('', sys.executable)\n"
    "    refuse(f'explore needs Python with the packages carom and plotly: {sys.executable} lacks one ({error})'\n"
    "           + f', and so does {sys.argv[2]}' * other + '; CAROM_PYTHON names another Python')\n"
    "# Nothing is imported from the folder that the user happens to be in.\n"
    "sys.path[:] = [sys.argv[1]] * bool(sys.argv[1]) + [folder for folder in sys.path if folder]\n"
    "try:\n"
    "    from carom.explorer import explore_files\n"
    "    explore_files(sys.argv[3:-1], sys.argv[-1])\n"
    "except (ImportError, SyntaxError) as error:\n"
    "    lack(error)\n"
    "except OSError as error:\n"
    "    refuse(f'{error.filename}: {error.strerror}' if error.filename else error)\n"
    "except (ValueError, RuntimeError, MemoryError) as error:\n"
    "    refuse(error)\n"
    "except KeyboardInterrupt:\n"
    "    sys.exit(1)\n";

extern char **environ;

// The folder of a package that was built beside the command: DIRECTORY/python; "" where there is none.
static void find_package(char path[PATH_MAX]) {
    const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    char *end = strrchr(path, '/'), package[PATH_MAX + 32];
    if (end) end[1] = '\0';
    snprintf(package, sizeof package, "%spython/carom/__init__.py", path);
    if (end && !access(package, R_OK) && strlen(path) + sizeof "python" < PATH_MAX)
        strcpy(end + 1, "python");
    else
        path[0] = '\0';
}

// The name of the page: what the user says, or that of the result with another ending. To be freed; NULL when out of memory.
static char *name_page(const char *output, const char *result) {
    const char *dot = strrchr(result, '.');
    const bool shorter = dot && dot > result && !strchr(dot, '/');
    const int length = (int)(shorter ? (size_t)(dot - result) : strlen(result));
    const size_t size = (size_t)length + sizeof ".html";
    char *page = output ? strdup(output) : malloc(size);
    if (page && !output) snprintf(page, size, "%.*s.html", length, result);
    return page;
}

// Runs Python on these arguments and waits for it. EXIT_LACKS_PACKAGE also where there is no such program, and nothing is said.
static int run_python(char *const words[], carom_error *error) {
    pid_t child;
    int outcome = 0;
    bool started = !posix_spawnp(&child, words[0], NULL, NULL, words, environ);
    while (started && waitpid(child, &outcome, 0) < 0 && errno == EINTR) continue;
    // 127 is the other way to learn that there is no such program (POSIX, posix_spawn).
    const int status = started && WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -1;
    if (!started || status == 127 || status == EXIT_LACKS_PACKAGE) return EXIT_LACKS_PACKAGE;
    if (status == EXIT_DONE || status == EXIT_BAD_INPUT) return status;
    carom_fail(error, CAROM_INTERNAL, "%.100s did not finish the page", words[0]);
    return cli_report(error);
}

// Runs the first Python that has the packages. Where none has, one line says what the first of them lacks.
static int run_pythons(char *words[], char **mode, carom_error *error) {
    char *chosen = getenv("CAROM_PYTHON");
    int exit_status = EXIT_LACKS_PACKAGE;
    *mode = (char *)(uintptr_t)quiet;
    for (int i = 0; i < PYTHONS && exit_status == EXIT_LACKS_PACKAGE && !(chosen && *chosen); i++) {
        words[0] = (char *)(uintptr_t)pythons[i];
        exit_status = run_python(words, error);
    }
    if (exit_status != EXIT_LACKS_PACKAGE) return exit_status;
    words[0] = chosen && *chosen ? chosen : (char *)(uintptr_t)pythons[0];
    *mode = (char *)(uintptr_t)(chosen && *chosen ? "" : pythons[1]);
    exit_status = run_python(words, error);
    if (exit_status != EXIT_LACKS_PACKAGE) return exit_status;
    carom_fail(error, CAROM_UNSUPPORTED,
               "explore needs Python with the packages carom and plotly, and there is no '%.100s' (CAROM_PYTHON names another Python)",
               words[0]);
    return cli_report(error);
}

static int run_explore(const cli_arguments *arguments) {
    carom_error error;
    const char *output = cli_value(arguments, "output"), *given = cli_value(arguments, "overlay");
    carom_status status = output ? carom_check_ending(output, ".html .htm", "a page", &error) : CAROM_OK;
    char *overlays = strdup(given ? given : ""), *page = name_page(output, arguments->operand), package[PATH_MAX];
    // Python, two words of its own, the package, the mode, the result, overlays, the page, NULL.
    size_t most = 9;
    for (const char *c = overlays; c && *c; c++) most += *c == ',';
    char **words = calloc(most, sizeof *words);
    if (!status && (!overlays || !page || !words)) status = carom_fail_memory(&error, "explore");
    int exit_status = EXIT_BAD_INPUT;
    if (!status) {
        find_package(package);
        // posix_spawn wants arguments that could be written to.
        size_t count = 1;
        words[count++] = (char *)(uintptr_t) "-c";
        words[count++] = (char *)(uintptr_t)program;
        words[count++] = package;
        char **mode = &words[count++];
        words[count++] = (char *)(uintptr_t)arguments->operand;
        char *rest = NULL;
        for (char *name = strtok_r(overlays, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) words[count++] = name;
        words[count++] = page;
        exit_status = run_pythons(words, mode, &error);
    } else {
        exit_status = cli_report(&error);
    }
    if (exit_status == EXIT_DONE && cli_given(arguments, "json"))
        exit_status = cli_print_json(json_pack("{s:s, s:[o]}", "schema", "carom.explore/1", "files", carom_json_text(page)), EXIT_DONE);
    else if (exit_status == EXIT_DONE)
        puts(page);
    free(overlays);
    free(page);
    free(words);
    return exit_status;
}

const cli_command cli_explore = {
    .name = "explore",
    .summary = "a page of a result file for the browser, with linked plots",
    .operand = "RESULT",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_explore,
};
