// SPDX-License-Identifier: Apache-2.0
// `carom query`: questions about the set in a result file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/worst.h"
#include "cli/query/query.h"

static const cli_flag flags[] = {
    {"max", "EXPR",
     "worst case of a sum of terms c*Jn.NAME, c*Jt.NAME[.2], c*JOINT or c*base.z (velocities), c*v.I (I from 1), c*Pn.NAME, "
     "c*Pt.NAME[.2] (impulses), c*K (energy ratio)"},
    {"contains", "FILE", "is the velocity {v: [...]} in the set, and how far is it from it?"},
    {"hull", "X,Y", "area of the convex hull in the plane of two quantities, each an EXPR as above; volume for more"},
    {"distance", "RESULT", "one-sided Hausdorff distances to the set in another result file"},
    {"metric", "NAME",
     "of distances: euclidean, the length of contact velocities in m/s (default), or kinetic, sqrt(d'M d) of velocities in sqrt(J)"},
    {"where", "CONDITION",
     "only outcomes for which it holds: comparisons with <, <=, >, >=, ==, != joined by and, or, as 'mu.A > 0.7 and v0.1 < 0.2', of terms "
     "as above and of the parameters of uncertain scenes: mu.NAME, restitution.NAME, v0.I, v0.JOINT (before the impact), qpos.I, mass"},
    {"sensitivity", NULL, "with --max, of uncertain scenes: which parameter explains EXPR, by rank correlations and first-order indices"},
    {"gap", "G", "relative gap at which a search for the worst point may stop in three or more dimensions (default 0.01)"},
    {"law", "NAME", "law whose outcomes are meant (default: the only one, or the first of halm-posa-exact, halm-posa)"},
    {"json", NULL, "print one JSON document"},
};

// One question under way: the set, how its distances are measured, and the answer.
typedef struct query {
    const cli_arguments *arguments;
    query_source asked;
    query_parameters parameters;
    carom_metric_kind kind;
    carom_arena memory;  // freed after the answer
    json_t *document;
} query;

// -------------------------------------------------------------------------------------------------------------- reading

// Index of the law with this name; -1 for none.
static int find_law(const carom_result *result, const char *name) {
    for (int i = 0; i < carom_result_laws(result); i++)
        if (!strcmp(carom_result_law_name(result, i), name)) return i;
    return -1;
}

static void release_source(query_source *from) {
    carom_outcome_set_release(&from->set);
    carom_impact_free(from->impact);
    carom_result_close(from->result);
}

// Opens a result file, and reads the impact and the set of one of its laws.
static carom_status read_source(const char *path, const char *law_name, query_source *into, carom_error *error) {
    *into = (query_source){0};
    carom_status status = carom_result_open_apart(path, NULL, &into->result, error);
    if (status) return status;

    // The law by name, or the only one, or the first of those that have whole sets.
    const int laws = carom_result_laws(into->result);
    int law = law_name ? find_law(into->result, law_name) : laws == 1 ? 0 : find_law(into->result, "halm-posa-exact");
    if (law < 0 && law_name) {
        carom_suggestion suggestion = {.wanted = law_name};
        char phrase[CAROM_SUGGESTION_SIZE];
        for (int i = 0; i < laws; i++) carom_suggestion_offer(&suggestion, carom_result_law_name(into->result, i));
        return carom_fail(error, CAROM_BAD_INPUT, "--law: %s has no outcomes of '%.60s'%s", path, law_name,
                          carom_suggestion_phrase(&suggestion, phrase));
    }
    if (law < 0) law = find_law(into->result, "halm-posa");
    if (law < 0) return carom_fail(error, CAROM_BAD_INPUT, "%s: say with --law which of its %d laws is meant", path, laws);

    into->law = law;
    // The impact, from the matrices in the file, and the set of outcomes.
    carom_error inner;
    status = carom_result_read_impact(into->result, &into->impact, &inner);
    if (!status) status = carom_result_set_read(into->result, law, into->impact, &into->set, &inner);
    if (!status) return CAROM_OK;
    // Some messages begin with the file, others do not.
    const bool named = !strncmp(inner.message, path, strlen(path));
    return carom_fail(error, status, "%s%s%s", named ? "" : path, named ? "" : ": ", inner.message);
}

// ------------------------------------------------------------------------------------------------------------- velocities

// Adds contact velocities to an object, and the generalised velocity, null where the impact has none.
static void add_velocity(json_t *object, const query *q, const double *u, const double *v) {
    cli_add_contact_velocity(object, q->asked.impact, u);
    json_object_set_new(object, "v_plus", v ? carom_json_reals(v, q->asked.set.nv) : json_null());
}

// Adds a velocity as an object of its own.
static void add_point(const query *q, const char *key, const double *u, const double *v) {
    json_t *object = json_object();
    add_velocity(object, q, u, q->asked.set.v ? v : NULL);
    json_object_set_new(q->document, key, object);
}

// ----------------------------------------------------------------------------------------------------------- the questions

// Says that numbers of a set are of outcomes that may lie outside it.
static void say_outside(const query_source *from, const char *path) {
    char caveat[CAROM_CAVEAT_SIZE];
    if (carom_outcome_set_caveat(&from->set, from->impact, caveat)) cli_say("warning", path, "%s", caveat);
}

// Reads what the set needs to have values of a functional.
static carom_status prepare_functional(query *q, const carom_functional *f, carom_error *error) {
    // Corners in the planes of contact velocities are not those of everything else.
    if (carom_outcome_set_omits(&q->asked.set, f))
        cli_say("warning", q->arguments->operand,
                "it holds the corners of the samples' hulls in contact velocities (`--keep hull`); others may have more of this");
    return carom_result_set_read_for(q->asked.result, q->asked.law, f, &q->asked.set, error);
}

// The largest value: a convex set attains it at a vertex, which is a row of the file.
static carom_status ask_maximum(query *q, const char *text, carom_error *error) {
    const carom_outcome_set *set = &q->asked.set;
    carom_functional f;
    carom_maximum most;
    carom_error reason;
    const char *blamed = "max";
    carom_status status = carom_functional_parse(q->asked.impact, text, &f, &reason);
    if (status) return carom_fail(error, status, "--max: %s", reason.message);
    status = prepare_functional(q, &f, &reason);
    if (!status) status = carom_outcome_set_maximum(set, &f, &most, &reason);
    if (!status && cli_given(q->arguments, "sensitivity")) {
        blamed = "sensitivity";
        status = query_add_sensitivity(q->document, &q->asked, &q->parameters, &f, &reason);
    }
    // Other samples are in the set, and a value of theirs is a lower bound of its largest; where one impact is asked about, so is that of a
    // solution.
    bool searched = false;
    carom_control control;
    if (!status && most.approximate && !q->parameters.count && !cli_given(q->arguments, "where")) {
        status = cli_start_control(q->arguments, &control, &reason);
        if (!status) status = carom_worst_raise(q->asked.impact, &f, &control, &most.inner, &searched, &reason);
        cli_end_progress();
    }
    carom_functional_release(&f);
    if (status) return carom_fail(error, status, "--%s: %s", blamed, reason.message);
    if (most.approximate)
        cli_say("warning", q->arguments->operand,
                "the outcome with this maximum may lie outside the set by O(h), so that it is no lower bound; `inner` is one, and `carom "
                "worst` and samples of `--sampler walk` give others");
    const char *source = searched ? "search" : !strcmp(set->certificate, "samples") ? "samples" : "exact";
    json_object_set_new(q->document, "expression", carom_json_text(text));
    json_object_set_new(q->document, "maximum", carom_json_real(most.value));
    json_object_set_new(q->document, "unit", *most.unit ? json_string(most.unit) : json_null());
    json_object_set_new(q->document, "joints", cli_joints_json(carom_impact_get_data(q->asked.impact)));
    json_object_set_new(q->document, "certified", json_boolean(most.certified));
    json_object_set_new(q->document, "approximate", json_boolean(most.approximate));
    json_object_set_new(q->document, "inner", isinf(most.inner) ? json_null() : carom_json_real(most.inner));
    json_object_set_new(q->document, "source", isinf(most.inner) ? json_null() : json_string(source));
    add_velocity(q->document, q, set->u + most.point * set->n, set->v ? set->v + most.point * set->nv : NULL);
    query_add_parameters(q->document, &q->parameters, most.point);
    return CAROM_OK;
}

// How far is a velocity from the set? Part of it is seen in the contact velocities, and the rest at no contact.
static carom_status ask_containment(query *q, const char *path, carom_error *error) {
    const carom_impact *impact = q->asked.impact;
    const size_t n = (size_t)q->asked.set.n, nv = (size_t)carom_impact_get_data(impact)->nv;
    double *v = carom_arena_take(&q->memory, nv, sizeof *v);
    carom_containment answer = {.u = carom_arena_take(&q->memory, n, sizeof(double)),
                                .v = carom_arena_take(&q->memory, nv, sizeof(double))};
    if (q->memory.failed) return carom_fail_memory(error, "query");
    carom_error inner;
    carom_status status = query_check_pose(&q->asked, &inner);
    if (!status) status = query_check_reach(&q->asked, &inner);
    if (status) return carom_fail(error, status, "--contains: %s", inner.message);
    status = carom_velocity_read(path, (int)nv, v, error);
    if (status) return status;
    int64_t answered;
    status = carom_outcome_set_contain(&q->asked.set, impact, q->kind, CAROM_CONTAINED, 1, v, NULL, &answer, &answered, &inner);
    if (status) return carom_fail(error, status, "%s: %s", path, inner.message);
    say_outside(&q->asked, q->arguments->operand);
    json_object_set_new(q->document, "contained", json_boolean(answer.contained));
    json_object_set_new(q->document, "distance", carom_json_real(answer.distance));
    json_object_set_new(q->document, "unreachable", carom_json_real(answer.unreachable));
    json_object_set_new(q->document, "unreachable_unit", json_string(carom_metric_unreachable_unit(impact)));
    add_point(q, "nearest", answer.u, answer.v);
    return CAROM_OK;
}

// The area or volume of the projection to some quantities.
static carom_status ask_hull(query *q, const char *text, carom_error *error) {
    const int most = q->asked.set.n;
    carom_functional *chosen = carom_arena_take(&q->memory, (size_t)most, sizeof *chosen);
    if (!chosen) return carom_fail_memory(error, "query");
    const carom_quantities quantities = carom_impact_quantities(q->asked.impact);
    int count = 0;
    double volume;
    carom_error inner;
    carom_status status = carom_functional_read_list(&quantities, text, 2, most, chosen, NULL, &count, &q->memory, &inner);
    for (int k = 0; k < count && !status; k++) status = prepare_functional(q, &chosen[k], &inner);
    if (!status) status = carom_outcome_set_hull(&q->asked.set, count, chosen, NULL, &volume, &inner);
    for (int k = 0; k < count; k++) carom_functional_release(&chosen[k]);
    if (status) return carom_fail(error, status, "--hull: %s", inner.message);
    say_outside(&q->asked, q->arguments->operand);
    json_object_set_new(q->document, "axes", carom_json_text(text));
    json_object_set_new(q->document, count == 2 ? "area" : "volume", carom_json_real(volume));
    return CAROM_OK;
}

// One-sided Hausdorff distances both ways, each with the point that is farthest from the other set.
static carom_status ask_distance(query *q, const char *path, carom_error *error) {
    const carom_impact *impact = q->asked.impact;
    const char *asked_path = q->arguments->operand;
    carom_cover_options options = carom_cover_defaults();
    const char *gap = cli_value(q->arguments, "gap");
    if (gap && (!carom_parse_number(gap, &options.relative_gap) || options.relative_gap < 0))
        return carom_fail(error, CAROM_BAD_INPUT, "--gap: '%.60s' is not a number that is at least 0", gap);
    query_source other;
    carom_status status = read_source(path, NULL, &other, error);
    if (!status && other.set.n != q->asked.set.n)
        status = carom_fail(error, CAROM_BAD_INPUT, "--distance: %s has other contacts than %s", path, asked_path);
    // Contact velocities may be compared; the kinetic metric is that of one pose.
    if (!status && q->kind == CAROM_METRIC_KINETIC) {
        carom_error inner;
        status = query_check_pose(&q->asked, &inner);
        if (!status) status = query_check_pose(&other, &inner);
        if (status) carom_fail(error, status, "--metric: %s", inner.message);
    }
    // The union of the sets of many impacts is not the set of one.
    const bool union_of_sets = q->parameters.count, other_is_union = !status && carom_result_has_column(other.result, other.law, "draw");
    if (!status && union_of_sets != other_is_union)
        cli_say("warning", NULL, "%s has draws of an uncertain impact, a union of sets, and %s has none", union_of_sets ? asked_path : path,
                union_of_sets ? path : asked_path);
    // Sets of different impacts may be compared, but it is seldom meant.
    bool alike = true;
    if (!status) status = carom_impact_resembles(impact, other.impact, &alike, error);
    if (!status && !alike) cli_say("warning", NULL, "%s and %s are of different impacts", asked_path, path);

    if (!status) say_outside(&q->asked, asked_path);
    if (!status) say_outside(&other, path);

    carom_control control;
    carom_set_distances found = {0};
    for (int i = 0; i < 2; i++) {
        found.u[i] = carom_arena_take(&q->memory, (size_t)q->asked.set.n, sizeof(double));
        found.v[i] = carom_arena_take(&q->memory, (size_t)carom_impact_get_data(impact)->nv, sizeof(double));
    }
    if (!status && q->memory.failed) status = carom_fail_memory(error, "query");
    if (!status) status = cli_start_control(q->arguments, &control, error);
    if (!status) status = carom_outcome_set_distances(&q->asked.set, &other.set, impact, q->kind, &options, &control, &found, error);
    release_source(&other);
    if (status) return status;
    json_object_set_new(q->document, "a_to_b", carom_json_real(found.a_to_b));
    json_object_set_new(q->document, "b_to_a", carom_json_real(found.b_to_a));
    json_object_set_new(q->document, "hausdorff", carom_json_real(found.hausdorff));
    json_object_set_new(q->document, "gap", carom_json_real(found.gap));
    add_point(q, "worst_point", found.u[0], found.v[0]);
    add_point(q, "worst_point_of_b", found.u[1], found.v[1]);
    json_object_set_new(q->document, "complete", json_boolean(found.complete));
    if (!found.complete) json_object_set_new(q->document, "verdict", json_string(carom_verdict_name(CAROM_INTERRUPTED)));
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- output

// The answer as lines of a name and its value; an object is indented under its name, and so are velocities under the names of their joints.
static void print_text(json_t *object, const char *const *joints, int indent) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (!strcmp(key, "schema") || !strcmp(key, "joints")) continue;
        if (joints && !strcmp(key, "v_plus") && json_is_array(value)) {
            printf("%*sv_plus\n", indent, "");
            for (size_t i = 0; i < json_array_size(value); i++)
                printf("%*s%-16s %.9g\n", indent + 2, "", joints[i], json_number_value(json_array_get(value, i)));
            continue;
        }
        // A list of objects: each in a line of its own.
        if (json_is_array(value) && json_is_object(json_array_get(value, 0))) {
            for (size_t i = 0; i < json_array_size(value); i++) {
                const char *name;
                json_t *entry;
                printf("%*s", indent, "");
                json_object_foreach(json_array_get(value, i), name, entry) {
                    if (json_is_string(entry)) printf("%-18s", json_string_value(entry));
                    if (json_is_number(entry)) printf(" %s %.3g", name, json_number_value(entry));
                    if (json_is_null(entry)) printf(" %s -", name);
                }
                printf("\n");
            }
            continue;
        }
        // Numbers in 9 digits: the document has all of them.
        printf(json_is_object(value) ? "%*s%s" : "%*s%-18s", indent, "", key);
        if (json_is_number(value)) printf(" %.9g", json_number_value(value));
        if (!strcmp(key, "maximum") && json_is_true(json_object_get(object, "approximate"))) printf(CLI_OUTSIDE);
        if (json_is_boolean(value)) printf(" %s", json_is_true(value) ? "yes" : "no");
        if (json_is_string(value)) printf(" %s", json_string_value(value));
        if (json_is_null(value)) printf(" -");
        for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
            printf(" %.9g", json_number_value(json_array_get(value, i)));
        printf("\n");
        if (json_is_object(value)) print_text(value, joints, indent + 2);
    }
}

// Answers the one question that is asked.
static carom_status ask(query *q, carom_error *error) {
    // The metric by its name; the first one where none is given.
    const char *metric = cli_value(q->arguments, "metric");
    char phrase[CAROM_SUGGESTION_SIZE];
    while (metric && carom_metric_names[q->kind] && strcmp(metric, carom_metric_names[q->kind]) != 0) q->kind++;
    if (!carom_metric_names[q->kind])
        return carom_fail(error, CAROM_BAD_INPUT, "--metric: '%.60s' is not one of euclidean, kinetic%s", metric,
                          carom_suggest(metric, carom_metric_names, (int)q->kind, phrase));
    carom_status status = CAROM_OK;

    static const struct {
        const char *flag;
        carom_status (*ask)(query *q, const char *value, carom_error *error);
    } questions[] = {{"max", ask_maximum}, {"contains", ask_containment}, {"hull", ask_hull}, {"distance", ask_distance}};
    int asked = 0;
    // What the lengths of the answer are.
    if (cli_given(q->arguments, "contains") || cli_given(q->arguments, "distance")) {
        json_object_set_new(q->document, "metric", json_string(carom_metric_names[q->kind]));
        json_object_set_new(q->document, "unit", json_string(carom_metric_unit(q->kind)));
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions && !status; i++) {
        const char *value = cli_value(q->arguments, questions[i].flag);
        asked += value != NULL;
        if (asked > 1) return carom_fail(error, CAROM_BAD_INPUT, "--%s: one question at a time", questions[i].flag);
        if (value) status = questions[i].ask(q, value, error);
    }
    if (!asked && !status) return carom_fail(error, CAROM_BAD_INPUT, "ask for one of --max, --contains, --hull and --distance");
    return status;
}

static int run_query(const cli_arguments *arguments) {
    carom_error error;
    query q = {.arguments = arguments, .document = json_pack("{s:s}", "schema", "carom.query/1")};
    carom_status status = read_source(arguments->operand, cli_value(arguments, "law"), &q.asked, &error);
    const char *where = cli_value(arguments, "where");
    carom_error inner;
    if (!status) status = query_read_parameters(&q.asked, &q.parameters, &error);
    if (!status && where) {
        status = query_keep_where(&q.asked, &q.parameters, where, &inner);
        if (status) carom_fail(&error, status, "--where: %s", inner.message);
    }
    if (!status && cli_given(arguments, "sensitivity") && !cli_given(arguments, "max"))
        status = carom_fail(&error, CAROM_BAD_INPUT, "--sensitivity: needs --max with the expression that is to be explained");
    if (!status) json_object_set_new(q.document, "set", carom_json_text(q.asked.set.certificate));
    if (!status) json_object_set_new(q.document, "uncertain", json_boolean(q.parameters.count));
    if (!status) status = ask(&q, &error);
    cli_end_progress();
    // A search that was stopped is an answer too, but an incomplete one.
    int exit_status = json_is_false(json_object_get(q.document, "complete")) ? EXIT_INCOMPLETE : EXIT_DONE;
    if (status)
        exit_status = cli_report(&error);
    else if (cli_given(arguments, "json"))
        exit_status = cli_print_json(json_incref(q.document), exit_status);
    else
        print_text(q.document, carom_impact_get_data(q.asked.impact)->velocity_names, 0);
    json_decref(q.document);
    carom_arena_free(&q.memory);
    carom_arena_free(&q.parameters.memory);
    release_source(&q.asked);
    return exit_status;
}

const cli_command cli_query = {
    .name = "query",
    .summary = "worst cases, distances, hulls and coverage of the set in a result file",
    .operand = "RESULT",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_query,
};
