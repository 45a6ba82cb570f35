// SPDX-License-Identifier: Apache-2.0
// `carom lcp`: a linear complementarity problem by any solver.
#include <inttypes.h>
#include <stdlib.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

static const cli_flag flags[] = {
    {"solver", "NAME", "LCP solver (default lemke)"},
    {"all", NULL, "enumerate all isolated solutions (up to size 22)"},
    {"list", NULL, "print the solvers, one per line"},
    {"json", NULL, "print one JSON document"},
};

// What is said of a problem, as JSON and as text.
typedef struct report {
    const char *solver;
    int n;
    bool complete;
    carom_verdict verdict;
    int64_t pivots;
    int fallbacks;
    json_t *solutions;   // list of {z, residual}
    const char *caveat;  // NULL: none
} report;

// Receives a solution of a solver or of the enumeration.
static carom_status add_solution(void *user, const double *z, double residual, carom_error *error) {
    (void)error;
    report *said = user;
    json_array_append_new(said->solutions,
                          json_pack("{s:o, s:o}", "z", carom_json_reals(z, said->n), "residual", carom_json_real(residual)));
    return CAROM_OK;
}

// As JSON or as text; both say the same.
static int print_report(const cli_arguments *arguments, const report *said) {
    const int status = said->complete ? EXIT_DONE : EXIT_INCOMPLETE;
    const char *verdict = carom_verdict_name(said->verdict);
    const size_t count = json_array_size(said->solutions);
    if (cli_given(arguments, "json"))
        return cli_print_json(json_pack("{s:s, s:i, s:s, s:b, s:s, s:I, s:i, s:O, s:o}", "schema", "carom.lcp/1", "n", said->n, "solver",
                                        said->solver, "complete", said->complete, "verdict", verdict, "pivots", (json_int_t)said->pivots,
                                        "fallbacks", said->fallbacks, "solutions", said->solutions, "caveats",
                                        said->caveat ? json_pack("[s]", said->caveat) : json_array()),
                              status);
    printf("LCP of size %d, %s: %s, %zu solution%s", said->n, said->solver, verdict, count, count == 1 ? "" : "s");
    printf(said->pivots ? ", %" PRId64 " pivots\n" : "\n", said->pivots);
    if (said->caveat) printf("%s\n", said->caveat);
    for (size_t k = 0; k < count; k++) {
        const json_t *solution = json_array_get(said->solutions, k), *z = json_object_get(solution, "z");
        printf("residual %.3g, z =\n", json_real_value(json_object_get(solution, "residual")));
        // All digits: people paste them into other programs.
        for (size_t i = 0; i < json_array_size(z); i++) printf("  %.17g\n", json_number_value(json_array_get(z, i)));
    }
    return status;
}

static int run_lcp(const cli_arguments *arguments) {
    const carom_registry *registry = arguments->registry;
    if (cli_given(arguments, "list")) return cli_list(arguments->registry, CAROM_REGISTRY_SOLVERS);
    carom_error error;
    char phrase[CAROM_SUGGESTION_SIZE];
    carom_lcp_problem problem = {0};
    // --all enumerates bases; otherwise one solver gives one solution.
    const bool all = cli_given(arguments, "all");
    const char *name = cli_value(arguments, "solver");
    const carom_lcp_solver *solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, name ? name : carom_lcp_lemke.name);
    carom_status status = CAROM_OK;
    if (!solver)
        status = carom_fail(&error, CAROM_BAD_INPUT, "--solver: there is no solver '%.60s'; `carom lcp --list` prints them%s", name,
                            carom_registry_suggest(arguments->registry, CAROM_REGISTRY_SOLVERS, name, phrase));
    else if (all && name)
        status = carom_fail(&error, CAROM_BAD_INPUT, "--all enumerates bases and takes no --solver");
    if (!status) status = carom_lcp_problem_read(arguments->operand, &problem, &error);

    report said = {.n = problem.n, .solutions = json_array()};
    if (!status && all) {
        said.solver = "enumeration";
        status = carom_lcp_enumerate(problem.n, problem.W, problem.w, add_solution, &said, &said.complete, &error);
        said.verdict = said.complete ? CAROM_COMPLETE : CAROM_INCOMPLETE;
    } else if (!status) {
        carom_lcp *lcp = NULL;
        carom_lcp_info info;
        double *z = malloc((size_t)problem.n * sizeof *z);
        status = z ? carom_lcp_create(solver, problem.n, problem.W, &lcp, &error) : carom_fail_memory(&error, "LCP");
        if (!status) {
            carom_lcp_solve(lcp, problem.w, z, &info);
            said.solver = solver->name;
            said.verdict = info.verdict;
            said.complete = info.verdict == CAROM_COMPLETE;
            said.pivots = info.pivots;
            said.fallbacks = info.fallbacks;
            // Only what passes the check is a solution.
            if (said.complete) status = add_solution(&said, z, info.residual, &error);
        }
        carom_lcp_free(lcp);
        free(z);
    }
    if (!status && problem.warning) cli_say("warning", NULL, "%s", problem.warning);
    // A ray proves nothing but for some classes of matrices.
    if (!status && !all && said.verdict == CAROM_RAY)
        said.caveat = problem.n <= CAROM_LCP_MOST_ENUMERATED
                          ? "the method ended on a ray: there may be solutions all the same, and --all looks for them"
                          : "the method ended on a ray: there may be solutions all the same, and another --solver may find one";
    const int exit_status = status ? cli_report(&error) : print_report(arguments, &said);
    json_decref(said.solutions);
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
