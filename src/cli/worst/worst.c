// SPDX-License-Identifier: Apache-2.0
// `carom worst`: the largest value of an expression that a directed search finds among all solutions, or that a law's list of outcomes has,
// with a witness, beside what no solution passes.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/worst/worst.h"

static const cli_flag flags[] = {
    {"max", "EXPR", "search for the largest value of a sum of terms as in `query`; as often as there are questions"},
    {"min", "EXPR", "search for the least value"},
    {"law", "NAME", "search the outcomes of this law (default halm-posa: all solutions)"},
    {"evaluations", "N",
     "walks or samples for each expression, a quarter of them plain ones (default 2^17, in space 2^13); the answer is the same for every "
     "number of threads"},
    {"seconds", "S", "in place of evaluations, a budget of time for each expression; the answer then depends on the machine"},
    {"seed", "N", "of the plain samples and of the search (default 0)"},
    {"bound-seconds", "S", "budget of time of each certified bound (default 10 s; 0: no bounds)"},
    {"threads", "N", "threads (default: one per core)"},
    {"output", "FILE", "write the witnesses to a JSON file, for `carom replay`"},
    {"json", NULL, "print one JSON document"},
};

typedef struct bound_effort {
    double seconds;
} bound_effort;

static const carom_option effort_rows[] = {
    {"bound_seconds", CAROM_OPTION_REAL, offsetof(bound_effort, seconds), 0, 1e9, "s", "10", "budget of time of each certified bound",
     NULL},
};

// Values within this share of the scale of the velocities are the same.
#define EXACT 1e-6
// Seconds of a bound where nobody says how many.
#define BOUND_SECONDS 10

// ------------------------------------------------------------------------------------------------------------ searching

static carom_status search(const cli_arguments *arguments, worst_run *run, const carom_control *control, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(run->scene);
    carom_functional *functionals = calloc((size_t)run->count, sizeof *functionals);
    carom_worst *found = calloc((size_t)run->count, sizeof *found);
    carom_status status = functionals && found ? CAROM_OK : carom_fail_memory(error, "worst cases");
    for (int i = 0; i < run->count && !status; i++) functionals[i] = run->questions[i].asked.functional;
    const double start = carom_clock_seconds();
    if (!status) status = carom_worst_search(impact, functionals, run->count, &run->options, control, found, &run->verdict, error);
    run->seconds = carom_clock_seconds() - start;
    cli_end_progress();
    if (status) cli_place_error(arguments, run->scene, carom_worst_rows, CAROM_WORST_ROWS, error);
    if (status) cli_place_error(arguments, run->scene, run->law->options, run->law->option_count, error);
    for (int i = 0; i < run->count && found; i++) run->questions[i].found = found[i];
    // What is reported is what the witness gives again.
    for (int i = 0; i < run->count && !status; i++) {
        worst_question *q = &run->questions[i];
        if (isinf(q->found.value)) continue;
        status = carom_witness_create(impact, &run->options, &q->found.tape, q->found.member, &q->witness, error);
        if (!status && carom_witness_value(&q->witness, &q->asked.functional) != q->found.value)
            status = carom_fail(error, CAROM_INTERNAL, "the witness of %s does not give its value again", q->asked.expression);
    }
    free(functionals);
    free(found);
    return status;
}

// The law, its options, and what is searched among.
static carom_status choose_law(const cli_arguments *arguments, worst_run *run, carom_error *error) {
    static const char *const useless[] = {"samples", "paths", "nested", "epsilon"};
    const char *name = cli_value(arguments, "law"), *seed = cli_value(arguments, "seed");
    char phrase[CAROM_SUGGESTION_SIZE];
    run->law = carom_law_find(arguments->registry, name ? name : "halm-posa");
    if (!run->law)
        return carom_fail(error, CAROM_BAD_INPUT, "--law: there is no law '%.60s'; `carom resolve --list` prints them%s", name,
                          carom_registry_suggest(arguments->registry, CAROM_REGISTRY_LAWS, name, phrase));
    const carom_law *law = run->law;
    const cli_question question = {
        .arguments = arguments, .scene = run->scene, .law = law, .strict = true, .uncertainty = run->options.uncertainty};
    carom_status status = cli_prepare_options(&question, law->exhaustive ? law->exhaustive : law->thorough, &run->law_options, error);
    for (size_t i = 0; i < sizeof useless / sizeof *useless && !status && law->members; i++)
        if (cli_given(arguments, useless[i]))
            status = carom_fail(error, CAROM_BAD_INPUT, "--%s: has no meaning for a search, whose budget is --evaluations or --seconds",
                                useless[i]);
    // Walks unless the command line asks for samples; a scene's `max_steps` may count steps.
    const int sampler = carom_option_find(law->options, law->option_count, "sampler");
    const int steps = carom_option_find(law->options, law->option_count, "max_steps");
    if (!status && sampler >= 0 && !cli_given(arguments, "sampler")) {
        status = carom_law_set(law, run->law_options, "sampler", "walk", error);
        if (!status && steps >= 0 && !cli_given(arguments, "max_steps"))
            status = carom_option_set(&law->options[steps], run->law_options, law->options[steps].initial, error);
    }
    if (!status && seed && carom_option_find(law->options, law->option_count, "seed") >= 0)
        status = carom_law_set(law, run->law_options, "seed", seed, error);
    const carom_law_call call = {carom_scene_impact(run->scene), run->law_options, arguments->registry, NULL, NULL, NULL};
    if (!status) status = carom_law_members(law, &call, &run->source, error);
    if (status) cli_place_error(arguments, run->scene, law->options, law->option_count, error);
    run->options.source = &run->source;
    return status;
}

static carom_status solve(const cli_arguments *arguments, worst_run *run, carom_error *error) {
    const char *output = cli_value(arguments, "output");
    const carom_impact *impact = carom_scene_impact(run->scene);
    bound_effort effort = {BOUND_SECONDS};
    carom_control control;
    run->options = carom_worst_defaults();
    run->options.uncertainty = carom_scene_uncertainty(run->scene);
    // A scene has no budgets of a search: its `seconds` are those of a law.
    const int seed = carom_option_find(carom_worst_rows, CAROM_WORST_ROWS, "seed");
    carom_status status = carom_scene_apply(run->scene, &carom_worst_rows[seed], 1, &run->options, error);
    if (!status) status = cli_apply_rows(arguments, carom_worst_rows, CAROM_WORST_ROWS, &run->options, error);
    if (!status) status = cli_apply_rows(arguments, effort_rows, 1, &effort, error);
    if (!status && cli_given(arguments, "seconds") && cli_given(arguments, "evaluations"))
        status = carom_fail(error, CAROM_BAD_INPUT, "--seconds: give either a budget of time or --evaluations");
    if (!status) status = choose_law(arguments, run, error);
    cli_objective *asked = calloc((size_t)arguments->count + 1, sizeof *asked);
    run->questions = calloc((size_t)arguments->count + 1, sizeof *run->questions);
    if (!status && !(asked && run->questions)) status = carom_fail_memory(error, "worst cases");
    if (!status) status = cli_read_objectives(arguments, impact, asked, &run->count, error);
    for (int i = 0; i < run->count; i++) run->questions[i] = (worst_question){.asked = asked[i], .upper = NAN};
    free(asked);
    // Places that cannot be written are refused before the work.
    if (!status && output) status = carom_temporary_check(output, &witness_kind, error);
    if (!status) status = cli_start_control(arguments, &control, error);
    if (!status) status = search(arguments, run, &control, error);
    control.progress = NULL;
    if (!status) status = worst_bound(run, effort.seconds, &control, error);
    if (!status && output) status = witness_write(output, run, error);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- output

// Is the value, but for rounding, the largest of all solutions?
static bool is_exact(const carom_impact *impact, const worst_question *q) {
    const double scale = fmax(carom_impact_velocity_scale(impact), fmax(fabs(q->upper), fabs(q->found.value)));
    return q->method && isfinite(q->found.value) && fabs(q->upper - q->found.value) <= EXACT * scale;
}

// A value where the certified one stands beside it. A walk is a sum of many rounded pieces, and the search takes what round-off gives, so
// that what it finds may pass an exact extreme by that; no solution does.
static double without_round_off(const carom_impact *impact, const worst_question *q, double value) {
    return worst_signed(q, is_exact(impact, q) ? fmin(value, q->upper) : value);
}

static json_t *to_json(const worst_run *run) {
    const carom_impact *impact = carom_scene_impact(run->scene);
    json_t *worst = json_array();
    for (int i = 0; i < run->count; i++) {
        const worst_question *q = &run->questions[i];
        const bool none = isinf(q->found.value);
        json_t *one =
            json_pack("{s:o, s:s}", "expression", carom_json_text(q->asked.expression), "sense", q->asked.minimum ? "min" : "max");
        json_object_set_new(one, "value", carom_json_real(worst_signed(q, q->found.value)));
        // For a minimum the certified bound is below.
        json_object_set_new(one, q->asked.minimum ? "lower" : "upper", carom_json_real(worst_signed(q, q->upper)));
        if (q->asked.minimum) json_object_set_new(one, "upper", carom_json_real(without_round_off(impact, q, q->found.value)));
        json_object_set_new(one, "certified", carom_json_real(worst_signed(q, q->upper)));
        json_object_set_new(one, "method", q->method ? json_string(q->method) : json_null());
        json_object_set_new(one, "gap", carom_json_real(isnan(q->upper) || none ? (double)NAN : fmax(0, q->upper - q->found.value)));
        json_object_set_new(one, "exact", json_boolean(is_exact(impact, q)));
        json_object_set_new(one, "passed_by", carom_json_real(isnan(q->upper) || none ? (double)NAN : fmax(0, q->found.value - q->upper)));
        json_object_set_new(one, "unit", *q->asked.functional.unit ? json_string(q->asked.functional.unit) : json_null());
        json_object_set_new(one, "v_plus",
                            none || !carom_impact_has_system(impact) ? json_null()
                                                                     : carom_json_reals(q->witness.v, carom_impact_get_data(impact)->nv));
        if (!none) cli_add_contact_velocity(one, impact, q->witness.u_plus);
        json_object_set_new(one, "members", json_integer(q->found.members));
        json_object_set_new(one, "complete", json_boolean(q->found.complete));
        json_object_set_new(one, "approximate", json_boolean(q->witness.approximate));
        json_object_set_new(one, "word", witness_word_json(impact, &q->witness));
        json_object_set_new(one, "evaluations", json_integer(q->found.evaluations));
        json_object_set_new(one, "samples", json_integer(q->found.samples));
        json_object_set_new(one, "samples_value", carom_json_real(worst_signed(q, q->found.samples_value)));
        json_t *growth = json_array();
        for (int k = 0; k < q->found.grown; k++)
            json_array_append_new(growth, json_pack("[I, o]", (json_int_t)q->found.growth[k].evaluations,
                                                    carom_json_real(worst_signed(q, q->found.growth[k].value))));
        json_object_set_new(one, "growth", growth);
        json_object_set_new(one, "parameters", none ? json_null() : witness_parameters_json(run->options.uncertainty, &q->witness));
        json_object_set_new(one, "pieces", none ? json_null() : json_integer(q->witness.rows - 1));
        json_object_set_new(one, "energy_ratio", none ? json_null() : carom_json_real(q->witness.energy_ratio));
        json_object_set_new(one, "verified", json_boolean(!none && q->witness.verified));
        json_object_set_new(one, "checks", none ? json_null() : witness_checks_json(&q->witness));
        json_array_append_new(worst, one);
    }
    return worst;
}

static void print_number(char text[32], const carom_impact *impact, const carom_functional *f, const char *format, double value) {
    if (isfinite(value))
        snprintf(text, 32, format, cli_shown_of(impact, f, value));
    else
        snprintf(text, 32, "-");
}

// Among what the worst cases were searched, and how many were tried.
static void print_scope(const worst_run *run, bool listed, bool steps) {
    const carom_worst *first = &run->questions[0].found;
    const char *made = steps ? "samples" : !strcmp(run->source.kind->name, "walk") ? "walks" : "walks or samples";
    printf("%s: worst cases among ", carom_scene_name(run->scene));
    if (listed && run->options.uncertainty)
        printf("the outcomes of the law %s, at %" PRId64 " points of what is uncertain for each, %" PRId64 " of them plain", run->law->name,
               first->evaluations, first->samples);
    else if (listed && first->members == 1)
        printf("the outcomes of the law %s, which has one", run->law->name);
    else if (listed)
        printf("the %" PRId64 " outcomes of the law %s", first->members, run->law->name);
    else
        printf("all %s, after %" PRId64 " %s for each, %" PRId64 " of them plain", steps ? "time-stepped samples" : "solutions",
               first->evaluations, made, first->samples);
    printf(" (%.3g s)\n", run->seconds);
}

// A line for each question.
static void print_text(const worst_run *run, const char *file) {
    const carom_impact *impact = carom_scene_impact(run->scene);
    int width = 10;
    double passed_by = 0;
    bool certified = false, unverified = false;
    int found_none = 0;
    for (int i = 0; i < run->count; i++) {
        const int length = (int)strlen(run->questions[i].asked.expression);
        width = length > width ? length : width;
        certified = certified || run->questions[i].method;
        const worst_question *q = &run->questions[i];
        if (is_exact(impact, q)) passed_by = fmax(passed_by, cli_shown_of(impact, &q->asked.functional, q->found.value - q->upper));
        found_none += isinf(q->found.value) != 0;
        unverified = unverified || (run->questions[i].witness.rows && !run->questions[i].witness.verified);
    }
    const bool listed = !run->source.kind->draws, steps = !strcmp(run->source.kind->name, "lcp");
    print_scope(run, listed, steps);
    const char *plain = listed ? "plain points" : steps ? "plain samples" : "plain walks";
    printf("  %-*s  %14s  %14s  %14s  %-6s  %10s\n", width + 4, "", "found", plain, "certified", "method", "gap");
    for (int i = 0; i < run->count; i++) {
        const worst_question *q = &run->questions[i];
        char found[32], best[32], upper[32], gap[32];
        print_number(found, impact, &q->asked.functional, "%.9g", without_round_off(impact, q, q->found.value));
        // A list of all outcomes is not sampled.
        print_number(best, impact, &q->asked.functional, "%.9g",
                     q->found.complete ? (double)NAN : without_round_off(impact, q, q->found.samples_value));
        print_number(upper, impact, &q->asked.functional, "%.9g", worst_signed(q, q->upper));
        print_number(gap, impact, &q->asked.functional, "%.3g", isnan(q->upper) ? (double)NAN : fmax(0, q->upper - q->found.value));
        printf("  %s %-*s  %14s  %14s  %14s  %-6s  %10s  %s%s\n", q->asked.minimum ? "min" : "max", width, q->asked.expression, found, best,
               upper, q->method ? q->method : "-", gap, q->asked.functional.unit, is_exact(impact, q) ? "  exact" : "");
    }
    // Where the worst is, in the uncertain numbers.
    const carom_uncertainty *uncertainty = run->options.uncertainty;
    for (int i = 0; i < run->count && uncertainty; i++) {
        const worst_question *q = &run->questions[i];
        if (!q->witness.parameters) continue;
        printf("  %s %s at", q->asked.minimum ? "min" : "max", q->asked.expression);
        for (int k = 0; k < carom_uncertainty_count(uncertainty); k++)
            printf("%s %s = %.6g", k ? "," : "", carom_uncertainty_parameters(uncertainty)[k].name, q->witness.parameters[k]);
        putchar('\n');
    }
    if (*run->unbounded) printf("there are no certified bounds: %s\n", run->unbounded);
    bool complete = true, approximate = false;
    for (int i = 0; i < run->count; i++) {
        complete = complete && run->questions[i].found.complete;
        approximate = approximate || run->questions[i].witness.approximate;
    }
    if (found_none == run->count)
        printf("No %s was found%s.", listed ? "outcome" : steps ? "sample" : "solution", certified ? "; none passes `certified`" : "");
    else if (listed && complete)
        printf("The law has no other outcomes.");
    else if (listed)
        printf("`found` is of an outcome of the law: there may be others.");
    else if (approximate)
        printf("`found` is of a sample that may lie outside the set by O(h): it is no lower bound.");
    else
        printf("`found` is of a %s: the extreme is at least as far.", steps ? "sample" : "solution");
    if (certified && !listed && found_none < run->count)
        printf(" No solution passes `certified`; `exact`: both are the same but for rounding.");
    if (passed_by > 0) printf(" Witnesses pass it by up to %.2g of round-off, which is not shown.", passed_by);
    putchar('\n');
    if (unverified)
        puts("an independent check of a witness failed: see `checks` of --json");
    else if (found_none < run->count)
        printf("each witness passed an independent check of its path%s\n", found_none ? "; where `found` is empty there is none" : "");
    if (!file) return;
    printf("witnesses written to %s; `carom replay ", file);
    cli_print_word(file);
    puts("` gives them again");
}

static int run_worst(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    worst_run run = {.verdict = CAROM_COMPLETE};
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    run.scene = scene;
    if (!status) status = solve(arguments, &run, &error);
    // Without a walk that ends there is no answer.
    int exit_status = run.verdict == CAROM_COMPLETE ? EXIT_DONE : EXIT_INCOMPLETE;
    for (int i = 0; i < run.count; i++)
        if (isinf(run.questions[i].found.value) || !run.questions[i].witness.verified) exit_status = EXIT_INCOMPLETE;
    // A list that lacks outcomes, where there is one impact.
    const bool listed = !status && !run.source.kind->draws && !run.options.uncertainty;
    for (int i = 0; i < run.count && listed; i++)
        if (!run.questions[i].found.complete) exit_status = EXIT_INCOMPLETE;
    if (!status) cli_warn_uncertain(scene);
    if (!status) cli_say_unused_by(arguments, scene, run.law, run.law_options);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        json_t *document = json_pack("{s:s, s:o, s:I, s:f, s:o}", "schema", "carom.worst/1", "worst", to_json(&run), "seed",
                                     (json_int_t)run.options.seed, "seconds", run.seconds, "file", carom_json_text(file));
        json_object_set_new(document, "law", json_string(run.law->name));
        json_object_set_new(document, "members", json_string(run.source.kind->name));
        json_object_set_new(document, "uncertain", json_boolean(run.options.uncertainty != NULL));
        json_object_set_new(document, "unbounded", *run.unbounded ? carom_json_text(run.unbounded) : json_null());
        json_object_set_new(document, "reproducible", json_boolean(isnan(run.options.seconds)));
        if (run.verdict != CAROM_COMPLETE) json_object_set_new(document, "verdict", json_string(carom_verdict_name(run.verdict)));
        exit_status = cli_print_json(document, exit_status);
    } else {
        print_text(&run, file);
    }
    for (int i = 0; i < run.count; i++) {
        carom_functional_release(&run.questions[i].asked.functional);
        carom_worst_release(&run.questions[i].found);
        carom_witness_release(&run.questions[i].witness);
    }
    free(run.questions);
    carom_member_source_release(&run.source);
    free(run.law_options);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_worst = {
    .name = "worst",
    .summary = "worst cases among all solutions or outcomes of a law, by directed search, with witnesses, beside certified bounds",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .run = run_worst,
};
