// SPDX-License-Identifier: Apache-2.0
// The command `carom`: finds the subcommand and runs it.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

const cli_command *const cli_commands[] = {&cli_info,  &cli_resolve,   &cli_sample,   &cli_exact,     &cli_compare,
                                           &cli_query, &cli_hodograph, &cli_simulate, &cli_compliant, &cli_lcp,
                                           &cli_plot,  &cli_design,    &cli_bench,    &cli_docs,      NULL};

static const cli_command *find_command(const char *name) {
    for (int i = 0; cli_commands[i]; i++)
        if (!strcmp(cli_commands[i]->name, name)) return cli_commands[i];
    return NULL;
}

static void print_usage(void) {
    printf("carom %s: which velocities are possible after a simultaneous rigid-body impact?\n\n"
           "usage: carom COMMAND FILE [options]\n\ncommands:\n",
           CAROM_VERSION);
    for (int i = 0; cli_commands[i]; i++) printf("  %-9s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    printf("\n`carom COMMAND --help` lists the options. Exit status: 0 done, 1 not finished or incomplete, 2 bad input or usage.\n");
}

// All solvers and laws that this build has.
static carom_status make_registry(carom_registry **registry, carom_error *error) {
    carom_status status = carom_registry_create(registry, error);
    if (!status) status = carom_siconos_register(*registry, error);
    if (!status) status = carom_exact_register(*registry, error);
    if (!status) status = carom_dynamics_register(*registry, error);
    return status;
}

// A full disk or a closed pipe is an error of a write, not the end of the process.
static void ignore_write_signals(void) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return true;
    return false;
}

static int run_command(const cli_command *command, const carom_registry *registry, int argc, char **argv) {
    if (asks_for_help(argc, argv)) {
        cli_help(command, registry);
        return EXIT_DONE;
    }
    // Other ranks have work with commands alone that share it.
    if (!command->shared && !cli_ranks_is_first()) return EXIT_DONE;
    cli_arguments arguments;
    carom_error error;
    if (cli_parse(command, registry, argc, argv, &arguments, &error)) return cli_report(&error);
    const int status = command->run(&arguments);
    cli_release(&arguments);
    return status;
}

// The status of a run whose output has reached its place: an answer that is lost is not done.
static int finish_output(int status) {
    if ((!fflush(stdout) && !ferror(stdout)) || status == EXIT_BAD_INPUT) return status;
    carom_error error;
    carom_fail(&error, CAROM_IO_FAILED, "the answer could not be written: %s", strerror(errno));
    return cli_report(&error);
}

static int run(int argc, char **argv) {
    carom_error error;
    if (argc < 2) {
        carom_fail(&error, CAROM_BAD_INPUT, "a command is missing; `carom --help` lists them");
        return cli_report(&error);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_usage();
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("carom " CAROM_VERSION);
        return EXIT_DONE;
    }
    const cli_command *command = find_command(argv[1]);
    if (!command) {
        carom_fail(&error, CAROM_BAD_INPUT, "'%.60s' is not a command; `carom --help` lists them", argv[1]);
        return cli_report(&error);
    }
    carom_registry *registry = NULL;
    if (make_registry(&registry, &error)) return cli_report(&error);
    const int status = run_command(command, registry, argc - 2, argv + 2);
    carom_registry_free(registry);
    return status;
}

// Of several ranks one prints.
static carom_status start_ranks(carom_error *error) {
    const carom_status status = cli_ranks_start(error);
    if (cli_ranks_is_first() || freopen("/dev/null", "w", stdout)) return status;
    return status ? status : carom_fail(error, CAROM_IO_FAILED, "/dev/null: %s", strerror(errno));
}

int main(int argc, char **argv) {
    carom_error error;
    ignore_write_signals();
    // Sampling is parallel already, and BLAS gives the same bits only for one thread.
    openblas_set_num_threads(1);
    const int status = start_ranks(&error) ? cli_report(&error) : run(argc, argv);
    return cli_ranks_finish(finish_output(status));
}
