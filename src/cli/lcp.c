// SPDX-License-Identifier: Apache-2.0
// `carom lcp`: a linear complementarity problem by any solver.
#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli_internal.h"
#include "io/json.h"

static const cli_flag flags[] = {
    {"solver", "NAME", "LCP solver (default lemke)"},
    {"list", NULL, "print the solvers, one a line"},
    {"json", NULL, "print one JSON document"},
};

// Rows of solvers that this machine's libraries lack are there to say so when asked for by name.
static bool is_available(const carom_lcp_solver *solver) {
    static const double identity[] = {1, 0, 0, 1};
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(solver, 2, identity, &lcp, NULL);
    carom_lcp_free(lcp);
    return status != CAROM_UNSUPPORTED;
}

static int print_list(const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS); i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        if (is_available(solver)) printf("%-28s  %s\n", solver->name, solver->summary);
    }
    return EXIT_DONE;
}

static int print_solution(const cli_arguments *arguments, const carom_lcp_solver *solver, int n, const double *z,
                          const carom_lcp_info *info) {
    const bool solved = info->verdict == CAROM_COMPLETE;
    if (cli_given(arguments, "json")) {
        json_t *solutions = json_array();
        if (solved)
            json_array_append_new(solutions,
                                  json_pack("{s:o, s:o}", "z", carom_json_reals(z, n), "residual", carom_json_real(info->residual)));
        return cli_print_json(json_pack("{s:s, s:i, s:s, s:b, s:s, s:I, s:i, s:o}", "schema", "carom.lcp/1", "n", n, "solver", solver->name,
                                        "complete", solved, "verdict", carom_verdict_name(info->verdict), "pivots",
                                        (json_int_t)info->pivots, "fallbacks", info->fallbacks, "solutions", solutions),
                              solved ? EXIT_DONE : EXIT_INCOMPLETE);
    }
    printf("LCP of size %d, %s: %s, residual %.3g, %" PRId64 " pivots\n", n, solver->name, carom_verdict_sentence(info->verdict),
           info->residual, info->pivots);
    for (int i = 0; solved && i < n; i++) printf("z[%d] = %.17g\n", i, z[i]);
    return solved ? EXIT_DONE : EXIT_INCOMPLETE;
}

static carom_status find_solver(const cli_arguments *arguments, const carom_lcp_solver **solver, carom_error *error) {
    const char *name = cli_value(arguments, "solver");
    if (!name) name = carom_lcp_lemke.name;
    *solver = carom_registry_find(arguments->registry, CAROM_REGISTRY_SOLVERS, name);
    if (*solver) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--solver: there is no solver '%.60s'; `carom lcp --list` prints them", name);
}

// Reads and solves; `z` is the caller's to free.
static carom_status solve(const cli_arguments *arguments, const carom_lcp_solver *solver, carom_lcp_problem *problem, double **z,
                          carom_lcp_info *info, carom_error *error) {
    carom_lcp *lcp = NULL;
    carom_status status = carom_lcp_problem_read(arguments->operand, problem, error);
    if (status) return status;
    *z = malloc((size_t)problem->n * sizeof **z);
    status = *z ? carom_lcp_create(solver, problem->n, problem->W, &lcp, error) : carom_fail_memory(error, "LCP");
    if (!status) carom_lcp_solve(lcp, problem->w, *z, info);
    carom_lcp_free(lcp);
    return status;
}

static int run_lcp(const cli_arguments *arguments) {
    if (cli_given(arguments, "list")) return print_list(arguments->registry);
    carom_error error;
    const carom_lcp_solver *solver = NULL;
    carom_lcp_problem problem = {0};
    carom_lcp_info info;
    double *z = NULL;
    carom_status status = find_solver(arguments, &solver, &error);
    if (!status) status = solve(arguments, solver, &problem, &z, &info, &error);
    const int exit_status = status ? cli_report(&error) : print_solution(arguments, solver, problem.n, z, &info);
    carom_lcp_problem_release(&problem);
    free(z);
    return exit_status;
}

const cli_command cli_lcp = {
    .name = "lcp",
    .summary = "solve 0 <= z _|_ W z + w >= 0 given as {W, w}",
    .operand = "FILE",
    .optional_switch = "list",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_lcp,
};
