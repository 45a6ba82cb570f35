// SPDX-License-Identifier: Apache-2.0
// `carom lcp`: a linear complementarity problem by any solver.
#include <inttypes.h>
#include <stdlib.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

static const cli_flag flags[] = {
    {"solver", "NAME", "LCP solver (default lemke)"},
    {"all", NULL, "enumerate all isolated solutions (up to size 22)"},
    {"list", NULL, "print the solvers, one a line"},
    {"json", NULL, "print one JSON document"},
};

bool cli_solver_is_available(const carom_lcp_solver *solver) {
    static const double identity[] = {1, 0, 0, 1};
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(solver, 2, identity, &lcp, NULL);
    carom_lcp_free(lcp);
    return status != CAROM_UNSUPPORTED;
}

static int print_list(const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS); i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        if (cli_solver_is_available(solver)) printf("%-28s  %s\n", solver->name, solver->summary);
    }
    return EXIT_DONE;
}

// What is said of a problem, as JSON and as text.
typedef struct report {
    const char *solver;
    int n;
    bool complete;
    const char *verdict;
    int64_t pivots;
    int fallbacks;
    json_t *solutions;  // list of {z, residual}
} report;

static carom_status add_solution(void *user, const double *z, double residual, carom_error *error) {
    (void)error;
    report *r = user;
    json_array_append_new(r->solutions, json_pack("{s:o, s:o}", "z", carom_json_reals(z, r->n), "residual", carom_json_real(residual)));
    return CAROM_OK;
}

static int print_report(const cli_arguments *arguments, const report *r) {
    const int status = r->complete ? EXIT_DONE : EXIT_INCOMPLETE;
    if (cli_given(arguments, "json"))
        return cli_print_json(json_pack("{s:s, s:i, s:s, s:b, s:s, s:I, s:i, s:O}", "schema", "carom.lcp/1", "n", r->n, "solver", r->solver,
                                        "complete", r->complete, "verdict", r->verdict, "pivots", (json_int_t)r->pivots, "fallbacks",
                                        r->fallbacks, "solutions", r->solutions),
                              status);
    printf("LCP of size %d, %s: %s, %zu solution%s", r->n, r->solver, r->verdict, json_array_size(r->solutions),
           json_array_size(r->solutions) == 1 ? "" : "s");
    printf(r->pivots ? ", %" PRId64 " pivots\n" : "\n", r->pivots);
    for (size_t k = 0; k < json_array_size(r->solutions); k++) {
        const json_t *solution = json_array_get(r->solutions, k);
        printf("residual %.3g, z =\n", json_real_value(json_object_get(solution, "residual")));
        for (size_t i = 0; i < (size_t)r->n; i++) printf("  %.17g\n", json_number_value(json_array_get(json_object_get(solution, "z"), i)));
    }
    return status;
}

static carom_status find_solver(const cli_arguments *arguments, const carom_lcp_solver **solver, carom_error *error) {
    const char *name = cli_value(arguments, "solver");
    if (!name) name = carom_lcp_lemke.name;
    *solver = carom_registry_find(arguments->registry, CAROM_REGISTRY_SOLVERS, name);
    if (*solver) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--solver: there is no solver '%.60s'; `carom lcp --list` prints them", name);
}

static carom_status solve_one(const carom_lcp_solver *solver, const carom_lcp_problem *problem, report *r, carom_error *error) {
    carom_lcp *lcp = NULL;
    carom_lcp_info info;
    double *z = malloc((size_t)problem->n * sizeof *z);
    carom_status status = z ? carom_lcp_create(solver, problem->n, problem->W, &lcp, error) : carom_fail_memory(error, "LCP");
    if (!status) {
        carom_lcp_solve(lcp, problem->w, z, &info);
        r->complete = info.verdict == CAROM_COMPLETE;
        r->verdict = carom_verdict_name(info.verdict);
        r->pivots = info.pivots;
        r->fallbacks = info.fallbacks;
        if (r->complete) status = add_solution(r, z, info.residual, error);
    }
    carom_lcp_free(lcp);
    free(z);
    return status;
}

static carom_status solve_all(const carom_lcp_problem *problem, report *r, carom_error *error) {
    const carom_status status = carom_lcp_enumerate(problem->n, problem->W, problem->w, add_solution, r, &r->complete, error);
    r->verdict = carom_verdict_name(r->complete ? CAROM_COMPLETE : CAROM_INCOMPLETE);
    return status;
}

static int run_lcp(const cli_arguments *arguments) {
    if (cli_given(arguments, "list")) return print_list(arguments->registry);
    carom_error error;
    const carom_lcp_solver *solver = NULL;
    carom_lcp_problem problem = {0};
    const bool all = cli_given(arguments, "all");
    carom_status status = find_solver(arguments, &solver, &error);
    if (!status && all && cli_given(arguments, "solver"))
        status = carom_fail(&error, CAROM_BAD_INPUT, "--all enumerates bases and takes no --solver");
    if (!status) status = carom_lcp_problem_read(arguments->operand, &problem, &error);
    report r = {.solver = all ? "enumeration" : solver ? solver->name : "", .n = problem.n, .solutions = json_array()};
    if (!status) status = all ? solve_all(&problem, &r, &error) : solve_one(solver, &problem, &r, &error);
    if (!status && problem.warning) fprintf(stderr, "carom: warning: %s\n", problem.warning);
    const int exit_status = status ? cli_report(&error) : print_report(arguments, &r);
    json_decref(r.solutions);
    carom_lcp_problem_release(&problem);
    return exit_status;
}

const cli_command cli_lcp = {
    .name = "lcp",
    .summary = "solve 0 <= z _|_ W z + w >= 0 given as {W, w} or as an FCLIB file",
    .operand = "FILE",
    .optional_switch = "list",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_lcp,
};
