// SPDX-License-Identifier: Apache-2.0
// `carom bound`: certified bounds of sums of velocities over all solutions, beside the best member of the set that walks find.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

static const cli_flag flags[] = {
    {"max", "EXPR", "bound from above a sum of terms c*Jn.NAME, c*Jt.NAME, c*JOINT, c*v.I as in `query`; as often as there are questions"},
    {"min", "EXPR", "bound it from below"},
    {"planes", "N",
     "most planes that refine the fan of each bound (default 8); without --seconds there is then no budget of time, and the answer does "
     "not depend on the machine"},
    {"seconds", "S", "budget of time of each bound (default 10 s)"},
    {"hypothesis", "NAME", "what restitution means: none (default), or stronge, where only the bound by energy holds"},
    {"restitution", "E|LO:HI", "coefficient of restitution of all contacts (default: the scene's)"},
    {"walks", "N", "walks for the best known member (default 4096, in space 256)"},
    {"seed", "N", "of the walks (default 0)"},
    {"json", NULL, "print one JSON document"},
};

// The walks beside the bounds.
typedef struct walk_options {
    int64_t walks, seed;
} walk_options;

static const carom_option walk_rows[] = {
    {"walks", CAROM_OPTION_INTEGER, offsetof(walk_options, walks), 0, 1e9, "", "4096", "walks for the best known member", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(walk_options, seed), 0, 9e15, "", "0", "of the walks", NULL},
};
// Walks in space are curved, and take a hundred times as long.
enum { WALK_ROWS = sizeof walk_rows / sizeof *walk_rows, PLANAR_WALKS = 4096, SPATIAL_WALKS = 256, WALK_STEPS = 10000 };

// One question, and what is known of it.
typedef struct question {
    cli_objective asked;
    double known;  // the largest value of a member; -INFINITY for none
    carom_bound bound;
} question;

// ------------------------------------------------------------------------------------------------------------- asking

static carom_status read_questions(const cli_arguments *arguments, const carom_impact *impact, question *questions, int *count,
                                   carom_error *error) {
    cli_objective *asked = calloc((size_t)arguments->count + 1, sizeof *asked);
    if (!asked) return carom_fail_memory(error, "bound");
    carom_status status = cli_read_objectives(arguments, impact, asked, count, error);
    for (int i = 0; i < *count; i++) {
        questions[i] = (question){.asked = asked[i], .known = -INFINITY};
        const carom_functional *f = &asked[i].functional;
        if (!status && (f->has_impulse || f->energy != 0))
            status =
                carom_fail(error, CAROM_BAD_INPUT, "--%s: bounds are of sums of velocities (Jn, Jt, v and joints), not of impulses or K",
                           asked[i].minimum ? "min" : "max");
    }
    free(asked);
    return status;
}

// The best members of the set for all questions, among random solutions; where something is uncertain each begins at a draw of its own.
static carom_status walk(const carom_impact *impact, const carom_uncertainty *uncertainty, const carom_bound_options *options,
                         const walk_options *effort, const carom_control *control, question *questions, int count, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t nv = (size_t)data->nv, n = (size_t)carom_impact_contact_size(impact);
    const carom_walker_options how = {.max_steps = WALK_STEPS, .rebound = {options->hypothesis, options->restitution}};
    const size_t drawn = uncertainty ? (size_t)(carom_uncertainty_dimension(uncertainty) + carom_uncertainty_count(uncertainty)) : 0;
    carom_walker *walker = NULL;
    carom_impact *draw = NULL;
    double *v = calloc(nv + 2 * n + drawn, sizeof *v), *u = v + nv, *impulse = u + n, *uniforms = impulse + n;
    carom_status status = v ? CAROM_OK : carom_fail_memory(error, "walks");
    for (int64_t i = 0; i < effort->walks && !status && !carom_control_cancelled(control); i++) {
        if (uncertainty) {
            double *values = uniforms + carom_uncertainty_dimension(uncertainty);
            carom_walker_free(walker);
            carom_impact_free(draw);
            walker = NULL;
            carom_uncertainty_draw(uncertainty, effort->seed, i, uniforms);
            carom_uncertainty_values(uncertainty, uniforms, values);
            status = carom_uncertainty_impact(uncertainty, values, &draw, error);
        }
        if (!status && !walker) status = carom_walker_create(draw ? draw : impact, &how, &walker, error);
        if (status) break;
        carom_walker_watch(walker, control);
        carom_sample_counts counts = {0};
        if (carom_walker_run(walker, effort->seed, i, v, impulse, &counts) != CAROM_COMPLETE) continue;
        carom_impact_contact_velocity(impact, v, u);
        const carom_outcome_point member = {.u = u, .v = v};
        for (int k = 0; k < count; k++)
            questions[k].known = fmax(questions[k].known, carom_functional_value(&questions[k].asked.functional, &member));
    }
    carom_walker_free(walker);
    carom_impact_free(draw);
    free(v);
    return status;
}

// Bounds as a law, for what they do not use of a scene.
static const char *const bouncing[] = {"hypothesis", "stronge", "poisson", NULL};
static const carom_law as_law = {.name = "bound", .options = carom_bound_rows, .option_count = CAROM_BOUND_ROWS, .bouncing = bouncing};

// Walks, then bounds, with the options of scene and command line.
static carom_status ask(const cli_arguments *arguments, const carom_scene *scene, walk_options *effort, question *questions, int *count,
                        int *unused, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(scene);
    carom_bound_options options = carom_bound_defaults();
    carom_control control;
    *effort = (walk_options){.walks = carom_impact_get_data(impact)->tangent_dim == 1 ? PLANAR_WALKS : SPATIAL_WALKS};
    carom_status status = carom_scene_apply(scene, carom_bound_rows, CAROM_BOUND_ROWS, &options, error);
    if (!status) status = carom_scene_apply(scene, walk_rows, WALK_ROWS, effort, error);
    if (!status) status = cli_apply_rows(arguments, carom_bound_rows, CAROM_BOUND_ROWS, &options, error);
    if (!status) status = cli_apply_rows(arguments, walk_rows, WALK_ROWS, effort, error);
    if (!status && cli_given(arguments, "restitution") && options.hypothesis == CAROM_BOUND_INELASTIC)
        status = carom_fail(error, CAROM_BAD_INPUT, "--restitution: has no meaning without --hypothesis stronge");
    if (!status && cli_given(arguments, "planes") && !cli_given(arguments, "seconds")) options.seconds = NAN;
    if (!status) status = read_questions(arguments, impact, questions, count, error);
    // What is uncertain in the scene.
    carom_uncertain_support support = {0};
    carom_exact_start start;
    if (!status) status = cli_find_support(scene, options.hypothesis != CAROM_BOUND_INELASTIC, &support, &start, error);
    if (!status && support.vertices) options.start = &start;
    if (!status) options.friction = support.friction;
    if (!status) status = cli_start_control(arguments, &control, error);
    control.progress = NULL;
    if (!status) status = walk(impact, carom_scene_uncertainty(scene), &options, effort, &control, questions, *count, error);
    for (int i = 0; i < *count && !status; i++)
        status =
            carom_bound_solve(impact, &questions[i].asked.functional, &options, questions[i].known, &control, &questions[i].bound, error);
    const carom_given given = cli_given_by(arguments, scene);
    *unused = carom_law_unused(&as_law, &options, &given);
    if (status) cli_place_error(arguments, scene, carom_bound_rows, CAROM_BOUND_ROWS, error);
    carom_uncertain_support_free(&support);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- output

// The certified value of a question, and that of the best member; NaN for none.
static double certified(const question *q) { return q->asked.minimum ? 0 - q->bound.upper : q->bound.upper; }
static double member(const question *q) { return isinf(q->known) ? (double)NAN : q->asked.minimum ? 0 - q->known : q->known; }
static double gap(const question *q) { return isinf(q->known) ? (double)NAN : fmax(0, q->bound.upper - q->known); }

static json_t *to_json(const question *questions, int count) {
    json_t *bounds = json_array();
    for (int i = 0; i < count; i++) {
        const question *q = &questions[i];
        const char *unit = q->asked.functional.unit;
        json_t *one =
            json_pack("{s:o, s:s}", "expression", carom_json_text(q->asked.expression), "sense", q->asked.minimum ? "min" : "max");
        json_object_set_new(one, "upper", carom_json_real(q->asked.minimum ? member(q) : certified(q)));
        json_object_set_new(one, "lower", carom_json_real(q->asked.minimum ? certified(q) : member(q)));
        json_object_set_new(one, "certified", carom_json_real(certified(q)));
        json_object_set_new(one, "member", carom_json_real(member(q)));
        json_object_set_new(one, "gap", carom_json_real(gap(q)));
        json_object_set_new(one, "unit", *unit ? json_string(unit) : json_null());
        json_object_set_new(one, "method", json_string(carom_bound_method_name(q->bound.method)));
        json_object_set_new(one, "reason", *q->bound.reason ? carom_json_text(q->bound.reason) : json_null());
        json_object_set_new(one, "energy", carom_json_real(q->asked.minimum ? 0 - q->bound.energy : q->bound.energy));
        json_object_set_new(one, "planes", json_integer(q->bound.planes));
        json_object_set_new(one, "simplices", json_integer(q->bound.simplices));
        json_object_set_new(one, "seconds", carom_json_real(q->bound.seconds));
        json_array_append_new(bounds, one);
    }
    return bounds;
}

// A line for each question: the bound, what proves it, and how near the best member comes.
static void print_text(const carom_scene *scene, const question *questions, int count, int64_t walks) {
    const carom_impact *impact = carom_scene_impact(scene);
    int width = 10;
    for (int i = 0; i < count; i++)
        width = (int)strlen(questions[i].asked.expression) > width ? (int)strlen(questions[i].asked.expression) : width;
    printf("%s: certified bounds of every solution, beside the best of %" PRId64 " walks\n", carom_scene_name(scene), walks);
    printf("  %-*s  %14s  %-6s  %6s  %14s  %12s\n", width + 4, "", "bound", "method", "planes", "member", "gap");
    const char *reason = "";
    for (int i = 0; i < count; i++) {
        const question *q = &questions[i];
        const carom_functional *f = &q->asked.functional;
        char known[32] = "-", apart[32] = "-";
        if (!isinf(q->known)) snprintf(known, sizeof known, "%.9g", cli_shown_of(impact, f, member(q)));
        if (!isinf(q->known)) snprintf(apart, sizeof apart, "%.3g", cli_shown_of(impact, f, gap(q)));
        printf("  %s %-*s  %14.9g  %-6s  %6d  %14s  %12s  %s\n", q->asked.minimum ? "min" : "max", width, q->asked.expression,
               cli_shown_of(impact, f, certified(q)), carom_bound_method_name(q->bound.method), q->bound.planes, known, apart, f->unit);
        if (*q->bound.reason) reason = q->bound.reason;
    }
    if (carom_scene_uncertainty(scene)) {
        printf("for all that is uncertain");
        cli_print_parameters(carom_scene_uncertainty(scene));
    }
    if (*reason) printf("%s\n", reason);
}

static int run_bound(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    walk_options effort = {0};
    int count = 0, unused = 0;
    question *questions = calloc((size_t)arguments->count + 1, sizeof *questions);
    carom_status status =
        questions ? carom_scene_read(arguments->operand, arguments->registry, &scene, &error) : carom_fail_memory(&error, "bound");
    if (!status) status = ask(arguments, scene, &effort, questions, &count, &unused, &error);
    int exit_status = cli_interrupted() ? EXIT_INCOMPLETE : EXIT_DONE;
    if (!status) cli_warn_uncertain(scene);
    if (!status) cli_say_unused(arguments, scene, (const carom_law *[]){&as_law}, &unused, 1);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        json_t *document =
            json_pack("{s:s, s:o, s:I}", "schema", "carom.bound/1", "bounds", to_json(questions, count), "walks", (json_int_t)effort.walks);
        const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
        json_object_set_new(document, "uncertain", json_boolean(uncertainty != NULL));
        if (uncertainty) json_object_set_new(document, "parameters", cli_parameters_json(uncertainty));
        if (cli_interrupted()) json_object_set_new(document, "verdict", json_string(carom_verdict_name(CAROM_INTERRUPTED)));
        exit_status = cli_print_json(document, exit_status);
    } else {
        print_text(scene, questions, count, effort.walks);
    }
    for (int i = 0; i < count; i++) carom_functional_release(&questions[i].asked.functional);
    free(questions);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_bound = {
    .name = "bound",
    .summary = "certified bounds of sums of velocities over all solutions, beside the best of some walks",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_bound,
};
