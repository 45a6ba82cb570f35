// SPDX-License-Identifier: Apache-2.0
// `carom query`: questions about the set in a result file.
#include "cli/query/query.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/json.h"
#include "cli/cli_internal.h"

// A velocity within this share of the impact's scale is in the set: results are read back from text.
#define CONTAINED 1e-9

// Impacts whose operators differ by more than this share are not the same.
#define SAME_IMPACT 1e-9

static const cli_flag flags[] = {
    {"max", "EXPR", "worst case of a sum of terms c*Jn.NAME, c*Jt.NAME, c*Jt.NAME.2, c*v.I (I from 1)"},
    {"contains", "FILE", "is the velocity {v: [...]} in the set, and how far is it from it?"},
    {"hull", "X,Y", "area of the convex hull in the plane of two contact velocities; volume for more"},
    {"distance", "RESULT", "one-sided Hausdorff distances to the set in another result file"},
    {"metric", "NAME", "of distances: euclidean in contact velocities (default), or kinetic"},
    {"gap", "G", "relative gap at which a search for the worst point may stop in three or more dimensions (default 0.01)"},
    {"law", "NAME", "law whose outcomes are meant (default: the only one, or the first of halm-posa-exact, halm-posa)"},
    {"json", NULL, "print one JSON document"},
};

// A set read from a file.
typedef struct source {
    carom_result *result;
    carom_impact *impact;
    carom_result_set set;
} source;

typedef struct query {
    const cli_arguments *arguments;
    source a;
    carom_metric *metric;
    carom_metric_kind kind;
    json_t *document;
} query;

// -------------------------------------------------------------------------------------------------------------- reading

static int find_law(const carom_result *result, const char *name) {
    for (int i = 0; i < carom_result_laws(result); i++)
        if (!strcmp(carom_result_law_name(result, i), name)) return i;
    return -1;
}

static carom_status choose_law(const carom_result *result, const char *path, const char *name, int *law, carom_error *error) {
    static const char *const preferred[] = {"halm-posa-exact", "halm-posa"};
    *law = name ? find_law(result, name) : carom_result_laws(result) == 1 ? 0 : -1;
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred && *law < 0 && !name; i++) *law = find_law(result, preferred[i]);
    if (*law >= 0) return CAROM_OK;
    if (name) return carom_fail(error, CAROM_BAD_INPUT, "--law: %s has no outcomes of '%.60s'", path, name);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: say with --law which of its %d laws is meant", path, carom_result_laws(result));
}

static void release_source(source *from) {
    carom_result_set_release(&from->set);
    carom_impact_free(from->impact);
    carom_result_close(from->result);
}

static carom_status read_source(const char *path, const char *law_name, source *into, carom_error *error) {
    *into = (source){0};
    int law = 0;
    carom_error inner;
    carom_status status = carom_result_open(path, &into->result, error);
    if (!status) status = choose_law(into->result, path, law_name, &law, error);
    if (status) return status;
    status = carom_result_read_impact(into->result, &into->impact, &inner);
    if (!status) status = carom_result_set_read(into->result, law, into->impact, &into->set, &inner);
    if (!status) return CAROM_OK;
    // Some messages begin with the file, others do not.
    const bool named = !strncmp(inner.message, path, strlen(path));
    return carom_fail(error, status, "%s%s%s", named ? "" : path, named ? "" : ": ", inner.message);
}

// ------------------------------------------------------------------------------------------------------------- velocities

static void add_velocity(json_t *object, const query *q, const double *u, const double *v) {
    cli_add_contact_velocity(object, q->a.impact, u);
    json_object_set_new(object, "v_plus", v ? carom_json_reals(v, q->a.set.nv) : json_null());
}

// A point of the metric's space as contact velocities and the velocity that has them.
static carom_status describe_point(const query *q, const double *x, json_t **object, carom_error *error) {
    const int n = q->a.set.n, nv = carom_impact_get_data(q->a.impact)->nv;
    double *u = malloc((size_t)(n + nv) * sizeof *u);
    if (!u) return carom_fail_memory(error, "query");
    carom_metric_unmap(q->metric, x, u);
    carom_metric_velocity(q->metric, u, u + n);
    *object = json_object();
    add_velocity(*object, q, u, q->a.set.v ? u + n : NULL);
    free(u);
    return CAROM_OK;
}

static carom_status make_set(const query *q, const carom_result_set *from, carom_set **set, carom_error *error) {
    const size_t n = (size_t)from->n;
    double *x = malloc((size_t)from->points * n * sizeof *x);
    if (!x) return carom_fail_memory(error, "query");
    for (int64_t i = 0; i < from->points; i++) carom_metric_map(q->metric, from->u + (size_t)i * n, x + (size_t)i * n);
    const carom_status status = carom_set_create(from->n, from->pieces, from->starts, x, set, error);
    free(x);
    return status;
}

// ----------------------------------------------------------------------------------------------------------- the questions

static carom_status ask_maximum(query *q, const char *text, carom_error *error) {
    const carom_result_set *set = &q->a.set;
    query_functional f;
    const carom_status status = query_functional_parse(q->a.result, set->nv, text, &f, error);
    if (status) return status;
    double most = -INFINITY;
    int64_t best = 0;
    for (int64_t i = 0; i < set->points; i++) {
        const double value = carom_dot(set->n, f.contact, set->u + i * set->n) + carom_dot(set->nv, f.velocity, set->v + i * set->nv);
        if (!(value > most)) continue;
        most = value;
        best = i;
    }
    query_functional_release(&f);
    if (!isfinite(most))
        return carom_fail(error, CAROM_BAD_INPUT, "--max: the factors of '%.100s' are too large for double precision", text);
    json_object_set_new(q->document, "expression", carom_json_text(text));
    json_object_set_new(q->document, "maximum", carom_json_real(most));
    json_object_set_new(q->document, "certified", json_boolean(!strcmp(set->certificate, "exact")));
    add_velocity(q->document, q, set->u + best * set->n, set->v ? set->v + best * set->nv : NULL);
    return CAROM_OK;
}

static double scale_of(const query *q, carom_metric_kind kind) {
    return kind == CAROM_METRIC_KINETIC ? sqrt(2 * carom_impact_initial_energy(q->a.impact)) : carom_impact_velocity_scale(q->a.impact);
}

// `work` [nv + 3 n]
static carom_status measure_containment(query *q, const carom_set *set, const char *path, double *work, carom_error *error) {
    const carom_impact *impact = q->a.impact;
    const int n = q->a.set.n, nv = carom_impact_get_data(impact)->nv;
    double *v = work, *u = v + nv, *x = u + n, *nearest = x + n;
    carom_status status = carom_velocity_read(path, nv, v, error);
    if (status) return status;
    carom_impact_contact_velocity(impact, v, u);
    carom_metric_map(q->metric, u, x);
    double distance = carom_set_distance(set, x, nearest);
    const double unreachable = carom_metric_unreachable(q->metric, v);
    const carom_metric_kind rest_kind = carom_impact_has_system(impact) ? CAROM_METRIC_KINETIC : CAROM_METRIC_EUCLIDEAN;
    // The kinetic metric has both parts in one unit.
    if (q->kind == CAROM_METRIC_KINETIC && rest_kind == q->kind) distance = hypot(distance, unreachable);
    if (!isfinite(distance + unreachable))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: v: its distance from the set is too large for double precision", path);
    const bool contained = distance <= CONTAINED * scale_of(q, q->kind) && unreachable <= CONTAINED * scale_of(q, rest_kind);
    json_t *point = NULL;
    status = describe_point(q, nearest, &point, error);
    if (status) return status;
    json_object_set_new(q->document, "contained", json_boolean(contained));
    json_object_set_new(q->document, "distance", carom_json_real(distance));
    json_object_set_new(q->document, "unreachable", carom_json_real(unreachable));
    json_object_set_new(q->document, "nearest", point);
    return CAROM_OK;
}

static carom_status ask_containment(query *q, const char *path, carom_error *error) {
    carom_set *set = NULL;
    const int nv = carom_impact_get_data(q->a.impact)->nv;
    double *work = malloc((size_t)(nv + 3 * q->a.set.n) * sizeof *work);
    carom_status status = work ? make_set(q, &q->a.set, &set, error) : carom_fail_memory(error, "query");
    if (!status) status = measure_containment(q, set, path, work, error);
    carom_set_free(set);
    free(work);
    return status;
}

static carom_status ask_hull(query *q, const char *text, carom_error *error) {
    const carom_result_set *set = &q->a.set;
    int *places = malloc((size_t)set->n * sizeof *places), count = 0;
    double *points = malloc((size_t)set->points * (size_t)set->n * sizeof *points), volume = 0;
    carom_status status = places && points ? CAROM_OK : carom_fail_memory(error, "query");
    if (!status) status = query_axes_parse(q->a.result, text, places, &count, error);
    for (int64_t i = 0; i < set->points && !status; i++)
        for (int k = 0; k < count; k++) points[i * count + k] = set->u[i * set->n + places[k]];
    if (!status) status = carom_hull_volume(count, set->points, points, &volume, error);
    free(places);
    free(points);
    if (status) return status;
    json_object_set_new(q->document, "axes", carom_json_text(text));
    json_object_set_new(q->document, count == 2 ? "area" : "volume", carom_json_real(volume));
    return CAROM_OK;
}

// One direction: the point of `set` that is farthest from `net`.
static carom_status cover(const query *q, const carom_set *set, const carom_set *net, const carom_cover_options *options,
                          const carom_control *control, carom_cover *result, json_t **worst, carom_error *error) {
    double *point = calloc((size_t)q->a.set.n, sizeof *point);
    if (!point) return carom_fail_memory(error, "query");
    *result = (carom_cover){.point = point};
    carom_status status = carom_set_cover(set, net, options, control, result, error);
    if (!status) status = describe_point(q, point, worst, error);
    result->point = NULL;
    free(point);
    return status;
}

static carom_status measure_distance(query *q, const carom_set *a, const carom_set *b, carom_error *error) {
    carom_cover_options options = carom_cover_defaults();
    const char *gap = cli_value(q->arguments, "gap");
    if (gap && (!carom_parse_number(gap, &options.relative_gap) || options.relative_gap < 0))
        return carom_fail(error, CAROM_BAD_INPUT, "--gap: '%.60s' is not a number that is at least 0", gap);
    carom_control control;
    carom_cover forth, back;
    json_t *worst = NULL, *worst_of_b = NULL;
    carom_status status = cli_start_control(q->arguments, &control, error);
    if (!status) status = cover(q, a, b, &options, &control, &forth, &worst, error);
    if (!status) status = cover(q, b, a, &options, &control, &back, &worst_of_b, error);
    if (status) {
        json_decref(worst);
        return status;
    }
    json_object_set_new(q->document, "a_to_b", carom_json_real(forth.radius));
    json_object_set_new(q->document, "b_to_a", carom_json_real(back.radius));
    json_object_set_new(q->document, "hausdorff", carom_json_real(fmax(forth.radius, back.radius)));
    json_object_set_new(q->document, "gap", carom_json_real(fmax(forth.bound - forth.radius, back.bound - back.radius)));
    json_object_set_new(q->document, "worst_point", worst);
    json_object_set_new(q->document, "worst_point_of_b", worst_of_b);
    json_object_set_new(q->document, "complete", json_boolean(!forth.interrupted && !back.interrupted));
    return CAROM_OK;
}

static bool same_impact(const carom_impact *a, const carom_impact *b) {
    const size_t n = (size_t)carom_impact_contact_size(a), entries = n * n;
    const double *first = carom_impact_delassus(a), *second = carom_impact_delassus(b);
    const double tolerance = SAME_IMPACT * carom_max_abs(entries, first);
    for (size_t i = 0; i < entries; i++)
        if (!(fabs(first[i] - second[i]) <= tolerance)) return false;
    return true;
}

static carom_status ask_distance(query *q, const char *path, carom_error *error) {
    source other;
    carom_status status = read_source(path, NULL, &other, error);
    carom_set *a = NULL, *b = NULL;
    if (!status && other.set.n != q->a.set.n)
        status = carom_fail(error, CAROM_BAD_INPUT, "--distance: %s has other contacts than %s", path, q->arguments->operand);
    if (!status && !same_impact(q->a.impact, other.impact))
        fprintf(stderr, "carom: warning: %s and %s are of different impacts\n", q->arguments->operand, path);
    if (!status) status = make_set(q, &q->a.set, &a, error);
    if (!status) status = make_set(q, &other.set, &b, error);
    if (!status) status = measure_distance(q, a, b, error);
    carom_set_free(a);
    carom_set_free(b);
    release_source(&other);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- output

static void print_value(const char *key, const json_t *value, int indent) {
    printf("%*s%-18s", indent, "", key);
    if (json_is_number(value)) printf(" %.9g", json_number_value(value));
    if (json_is_boolean(value)) printf(" %s", json_is_true(value) ? "yes" : "no");
    if (json_is_string(value)) printf(" %s", json_string_value(value));
    if (json_is_null(value)) printf(" -");
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
        printf(" %.9g", json_number_value(json_array_get(value, i)));
    printf("\n");
}

static void print_text(json_t *object, int indent) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (json_is_object(value)) {
            printf("%*s%s\n", indent, "", key);
            print_text(value, indent + 2);
        } else if (strcmp(key, "schema") != 0) {
            print_value(key, value, indent);
        }
    }
}

static int print_answer(const query *q) {
    const json_t *complete = json_object_get(q->document, "complete");
    const int status = complete && json_is_false(complete) ? EXIT_INCOMPLETE : EXIT_DONE;
    if (cli_given(q->arguments, "json")) return cli_print_json(json_incref(q->document), status);
    print_text(q->document, 0);
    return status;
}

static carom_status choose_metric(query *q, carom_error *error) {
    const char *name = cli_value(q->arguments, "metric");
    for (int i = 0; carom_metric_names[i]; i++) {
        if (name && strcmp(name, carom_metric_names[i]) != 0) continue;
        q->kind = (carom_metric_kind)i;
        return carom_metric_create(q->a.impact, q->kind, &q->metric, error);
    }
    return carom_fail(error, CAROM_BAD_INPUT, "--metric: '%.60s' is not one of euclidean, kinetic", name);
}

static carom_status ask(query *q, carom_error *error) {
    static const struct {
        const char *flag;
        carom_status (*ask)(query *q, const char *value, carom_error *error);
    } questions[] = {{"max", ask_maximum}, {"contains", ask_containment}, {"hull", ask_hull}, {"distance", ask_distance}};
    carom_status status = CAROM_OK;
    int asked = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && !status; i++) {
        const char *value = cli_value(q->arguments, questions[i].flag);
        asked += value != NULL;
        if (asked > 1) return carom_fail(error, CAROM_BAD_INPUT, "--%s: one question at a time", questions[i].flag);
        if (value) status = questions[i].ask(q, value, error);
    }
    if (!asked) return carom_fail(error, CAROM_BAD_INPUT, "ask for one of --max, --contains, --hull and --distance");
    return status;
}

static int run_query(const cli_arguments *arguments) {
    carom_error error;
    query q = {.arguments = arguments, .document = json_pack("{s:s}", "schema", "carom.query/1")};
    carom_status status = read_source(arguments->operand, cli_value(arguments, "law"), &q.a, &error);
    if (!status) json_object_set_new(q.document, "set", carom_json_text(q.a.set.certificate));
    if (!status) status = choose_metric(&q, &error);
    if (!status) status = ask(&q, &error);
    cli_end_progress();
    const int exit_status = status ? cli_report(&error) : print_answer(&q);
    json_decref(q.document);
    carom_metric_free(q.metric);
    release_source(&q.a);
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
