// SPDX-License-Identifier: Apache-2.0
// The command `carom`: finds the subcommand and runs it.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cblas.h>

#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

// The only place that lists the commands.
const cli_command *const cli_commands[] = {&cli_info,     &cli_resolve,   &cli_sample, &cli_exact,   &cli_bound, &cli_worst,
                                           &cli_replay,   &cli_modes,     &cli_sweep,  &cli_compare, &cli_query, &cli_hodograph,
                                           &cli_simulate, &cli_compliant, &cli_lcp,    &cli_measure, &cli_draw,  &cli_plot,
                                           &cli_explore,  &cli_design,    &cli_bench,  &cli_docs,    NULL};

static bool is_help(const char *word) { return !strcmp(word, "--help") || !strcmp(word, "-h"); }

// Does what the first word asks for: help, the version, or a command.
static int run(int argc, char **argv) {
    carom_error error;
    if (argc < 2) {
        carom_fail(&error, CAROM_BAD_INPUT, "a command is missing; `carom --help` lists them");
        return cli_report(&error);
    }
    if (is_help(argv[1]) || !strcmp(argv[1], "help")) {
        printf("carom " CAROM_VERSION ": which velocities are possible after a simultaneous rigid-body impact?\n\n"
               "usage: carom COMMAND FILE [options]\n\ncommands:\n");
        for (int i = 0; cli_commands[i]; i++) printf("  %-9s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
        printf("\n`carom COMMAND --help` lists the options, `carom --version --verbose` the libraries of this build. Exit status: 0 done, "
               "1 not finished or incomplete, 2 bad input or usage.\n");
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version")) return cli_version(argc, argv);
    int index = 0;
    while (cli_commands[index] && strcmp(cli_commands[index]->name, argv[1]) != 0) index++;
    if (!cli_commands[index]) {
        carom_suggestion suggestion = {.wanted = argv[1]};
        char phrase[CAROM_SUGGESTION_SIZE];
        for (int i = 0; cli_commands[i]; i++) carom_suggestion_offer(&suggestion, cli_commands[i]->name);
        carom_fail(&error, CAROM_BAD_INPUT, "'%.60s' is not a command; `carom --help` lists them%s", argv[1],
                   carom_suggestion_phrase(&suggestion, phrase));
        return cli_report(&error);
    }
    // Help for the command, wherever it is asked for.
    const cli_command *command = cli_commands[index];
    bool helps = false, json = false;
    for (int i = 2; i < argc; i++) {
        helps = helps || is_help(argv[i]);
        json = json || !strcmp(argv[i], "--json");
    }
    // What finds no memory before the words are read owes its document, too.
    cli_expect_answer(command, json && !helps);
    // All solvers, laws and integrators that this build has.
    carom_registry *registry = NULL;
    carom_status status = carom_registry_create(&registry, &error);
    if (!status) status = carom_siconos_register(registry, &error);
    if (!status) status = carom_exact_register(registry, &error);
    if (!status) status = carom_dynamics_register(registry, &error);
    int exit_status = EXIT_DONE;
    if (status) {
        exit_status = cli_report(&error);
    } else if (helps) {
        cli_help(command, registry);
    } else if (command->shared || cli_ranks_is_first()) {
        // Only some commands share their work between ranks.
        cli_arguments arguments;
        if (cli_parse(command, registry, argc - 2, argv + 2, &arguments, &error)) {
            exit_status = cli_report(&error);
        } else {
            cli_expect_answer(command, cli_given(&arguments, "json"));
            exit_status = command->run(&arguments);
            cli_release(&arguments);
        }
    }
    carom_registry_free(registry);
    return exit_status;
}

// With an OpenBLAS that has threads, and a limit of memory, the process begins again without these threads: one that finds no memory when
// it starts looks for some for ever, and forks and the exit wait for it. Only its own variable stops them, and only from the start.
static void begin_without_blas_threads(char **argv) {
    struct rlimit space;
    const bool threaded = openblas_get_parallel() == OPENBLAS_THREAD && !getenv("OPENBLAS_NUM_THREADS");
    if (!threaded || getrlimit(RLIMIT_AS, &space) || space.rlim_cur == RLIM_INFINITY) return;
    if (!setenv("OPENBLAS_NUM_THREADS", "1", 1)) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    carom_error error;
    begin_without_blas_threads(argv);
    // A full disk or a closed pipe is an error of a write, not the end of the process.
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    // Every file is closed by whoever opened it. Where memory is short, closing libhdf5 at the end would print a second line.
    carom_hdf5_prepare();
    // Sampling is parallel already, and BLAS gives the same bits only for one thread.
    openblas_set_num_threads(1);
    // Of several ranks only the first one prints.
    carom_status started = cli_ranks_start(&error);
    if (!cli_ranks_is_first() && !freopen("/dev/null", "w", stdout) && !started)
        started = carom_fail(&error, CAROM_IO_FAILED, "/dev/null: %s", strerror(errno));
    cli_guard_terminal();
    int status = started ? cli_report(&error) : run(argc, argv);
    // An answer that did not reach its place is not done.
    if ((fflush(stdout) || ferror(stdout)) && status != EXIT_BAD_INPUT) {
        carom_fail_system(&error, cli_output_failure() ? cli_output_failure() : errno, "the answer could not be written");
        status = cli_report(&error);
    }
    cli_release_terminal();
    return cli_ranks_finish(status);
}
