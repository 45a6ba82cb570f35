// SPDX-License-Identifier: Apache-2.0
// Asking a law: its options from scene and command line, its outcomes on their way, and where a value came from that it refuses.
#include <stdlib.h>
#include <string.h>

#include "cli/cli_internal.h"

// ------------------------------------------------------------------------------------------------------------- options

carom_status cli_refuse_restitution(const carom_law *law, carom_error *error) {
    const bool rule = law->bouncing && strcmp(law->bouncing[0], *carom_law_by_hypothesis) != 0;
    return carom_fail(error, CAROM_BAD_INPUT, "--restitution: has no meaning without --%s %s", rule ? law->bouncing[0] : "hypothesis",
                      rule ? law->bouncing[1] : "stronge or poisson");
}

carom_status cli_check_law_options(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, void *options,
                                   carom_error *error) {
    // Restitution that nothing gives a meaning to is a mistake where it was asked for; a scene's serves other laws.
    if (cli_given(arguments, "restitution") && !carom_law_bounces(law, options)) return cli_refuse_restitution(law, error);
    // A value of the scene that a law has not is for other laws, unless the scene names this one.
    const char *own = carom_scene_law(scene);
    for (int i = 0; own && !strcmp(own, law->name) && i < carom_scene_settings_count(scene); i++) {
        const char *text, *key = carom_scene_get_setting(scene, i, &text);
        const int row = carom_option_find(law->options, law->option_count, key);
        if (row < 0 || cli_given(arguments, key) || carom_option_offers(&law->options[row], text)) continue;
        const carom_status status = carom_law_set(law, options, key, text, error);
        carom_scene_place_error(scene, key, error);
        return status;
    }
    return CAROM_OK;
}

// Does the law itself draw from what is uncertain?
static bool samples_draws(const carom_law *law) { return carom_option_find(law->options, law->option_count, "nested") >= 0; }

bool cli_takes_all(const carom_law *law) {
    for (int i = 0; i < law->outcome_column_count; i++)
        if (!strcmp(law->outcome_columns[i].name, carom_piece_columns[CAROM_PIECE_INDEX].name)) return true;
    return false;
}

carom_status cli_ask_for_all(cli_question *question, const void *options, carom_uncertain_support *support, carom_exact_start *start,
                             carom_error *error) {
    const carom_status status = cli_find_support(question->scene, carom_law_bounces(question->law, options), support, start, error);
    if (status) return status;
    question->support = support;
    question->start = start;
    return CAROM_OK;
}

carom_status cli_prepare_options(const cli_question *question, const char *const *preset, void **options, carom_error *error) {
    const cli_arguments *arguments = question->arguments;
    const carom_law *law = question->law;
    *options = malloc(law->options_size);
    if (!*options) return carom_fail_memory(error, law->name);
    // Each source overrides those before it.
    law->defaults(*options);
    carom_status status = CAROM_OK;
    for (; preset && *preset && !status; preset += 2) status = carom_law_set(law, *options, preset[0], preset[1], error);
    if (!status) status = carom_scene_apply_law(question->scene, law, cli_value(arguments, "sampler"), *options, error);

    // A law may say why it lacks a choice that others have.
    const cli_setting *lacking = question->strict ? cli_not_offered(arguments, law->options, law->option_count) : NULL;
    const char *reason = lacking ? carom_law_refusal(law, lacking->name, lacking->value) : NULL;
    if (!status && reason) status = carom_fail(error, CAROM_BAD_INPUT, "--%s: %s", lacking->name, reason);
    const cli_owner owner = {"law", law->name, law->summary, law->options, law->option_count};
    if (!status) status = cli_apply_owner(arguments, &owner, question->strict, *options, error);

    if (!status && question->strict) status = cli_check_law_options(arguments, question->scene, law, *options, error);
    if (question->support) {
        carom_exact_options *exact = *options;
        exact->start = question->support->vertices ? question->start : NULL;
        exact->friction = question->support->friction;
    }
    // The options are those of sampling, which knows draws itself: each gets as many samples.
    if (samples_draws(law)) {
        carom_sample_options *sample = *options;
        sample->uncertainty = question->uncertainty;
        if (question->draws) sample->nested = question->draws;
        if (question->draws && sample->samples % question->draws) sample->samples += question->draws - sample->samples % question->draws;
    }
    return status;
}

const carom_option *cli_blame(const cli_arguments *arguments, const carom_option *rows, int count, carom_error *error) {
    const bool refused = error->status == CAROM_BAD_INPUT || error->status == CAROM_UNSUPPORTED;
    for (int i = 0; i < count && refused; i++) {
        const size_t length = strlen(rows[i].name);
        if (strncmp(error->message, rows[i].name, length) != 0 || strncmp(error->message + length, ": ", 2) != 0) continue;
        // Flags of a command keep the spelling of the command line, options of laws that of scenes.
        char flag[CLI_NAME_SIZE];
        cli_spell_flag(&rows[i], flag);
        if (!cli_given(arguments, rows[i].name) && !cli_given(arguments, flag)) return &rows[i];
        const carom_error inner = *error;
        cli_pass_on(&rows[i], &inner, error);
        return NULL;
    }
    return NULL;
}

void cli_place_error(const cli_arguments *arguments, const carom_scene *scene, const carom_option *rows, int count, carom_error *error) {
    // A draw of what is uncertain may have no impact.
    const char *const key = "uncertain";
    const size_t length = strlen(key);
    if (!strncmp(error->message, key, length) && strchr(".:", error->message[length])) carom_scene_place_key_error(scene, error);
    const carom_option *row = cli_blame(arguments, rows, count, error);
    if (row) carom_scene_place_error(scene, row->name, error);
}

// -------------------------------------------------------------------------------------------------------------- asking

// Where a block of outcomes goes: into the extent, then into file, points, joint modes and memory where they are wanted.
typedef struct splitter {
    carom_extent *extent, *members;
    const carom_sink *file;
    cli_points *points;
    carom_joint_modes *modes;
    carom_table *kept;
} splitter;

// Receives a block of outcomes and passes it on in all directions.
static carom_status split(void *user, const carom_table *rows, carom_error *error) {
    const splitter *ways = user;
    carom_extent_widen(ways->extent, rows);
    if (ways->members) carom_extent_widen_by_members(ways->members, rows);
    carom_status status = ways->file ? ways->file->receive(ways->file->user, rows, error) : CAROM_OK;
    if (!status && ways->modes) status = carom_joint_modes_see(ways->modes, rows, error);
    if (status) return status;

    // Collect contact velocities. When there are too many, give the memory back, and collect no more.
    cli_points *points = ways->points;
    const int64_t count = points ? points->count + carom_table_rows(rows) : 0;
    if (count > CLI_MOST_POINTS && !points->dropped) {
        free(points->u);
        *points = (cli_points){.impact = points->impact, .n = points->n, .dropped = true};
    }
    if (points && !points->dropped) {
        if (count > points->capacity) {
            const int64_t capacity = count > 2 * points->capacity ? count : 2 * points->capacity;
            double *larger = realloc(points->u, (size_t)capacity * (size_t)points->n * sizeof *larger);
            if (!larger) return carom_fail_memory(error, "outcomes");
            points->u = larger;
            points->capacity = capacity;
        }
        // The contact velocities that outcomes have themselves: a law that moves the bodies takes them where the bodies are in the end.
        const carom_sizes sizes = carom_impact_sizes(points->impact);
        const int dim = sizes.tangents / sizes.contacts;
        const double *normal = carom_table_real_column(rows, CAROM_OUTCOME_NORMAL_VELOCITY);
        const double *tangent = carom_table_real_column(rows, CAROM_OUTCOME_TANGENT_VELOCITY);
        for (int64_t i = 0; i < (count - points->count) * sizes.contacts; i++) {
            double *u = points->u + points->count * points->n + i * (1 + dim);
            u[0] = normal[i];
            for (int k = 0; k < dim; k++) u[1 + k] = tangent[i * dim + k];
        }
        points->count = count;
    }
    return ways->kept ? carom_table_append(ways->kept, rows, error) : CAROM_OK;
}

carom_status cli_ask_law(const cli_question *question, const void *options, const carom_sink *file, cli_run *run, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(question->scene);
    const carom_law *law = question->law;
    carom_table *kept = NULL;
    carom_status status = CAROM_OK;
    const carom_given given = cli_given_by(question->arguments, question->scene);
    run->unused = carom_law_unused(law, options, &given);
    run->hypothesis = carom_law_hypothesis(law, options);
    carom_law_restitution(law, options, impact, &run->restitution);
    if (question->threads > 0)
        status = cli_announce_need(question->arguments, question->scene,
                                   carom_option_find(question->law->options, question->law->option_count, "samples") >= 0,
                                   question->threads, error);
    if (!status) status = carom_extent_create(impact, &run->extent, error);
    if (!status && question->collect_points) {
        run->points = malloc(sizeof *run->points);
        if (!run->points) return carom_fail_memory(error, "outcomes");
        *run->points = (cli_points){.impact = impact, .n = carom_impact_contact_size(impact)};
    }
    if (!status && question->keep_outcomes)
        status = carom_outcomes_create(impact, law->outcome_columns, law->outcome_column_count, &kept, error);
    if (!status) {
        // Time the law alone, with the costs of passing its outcomes on.
        splitter ways = {run->extent, question->members, file, run->points, question->modes, kept};
        const carom_sink sink = {&ways, split};
        const double start = carom_clock_seconds();
        const carom_law_call call = {impact, options, question->arguments->registry, question->control, &sink, NULL};
        if (question->uncertainty && !question->support && !samples_draws(law))
            status = carom_law_resolve_draws(carom_law_find(call.registry, law->name), &call, question->uncertainty, question->draws,
                                             question->draw_seed, &run->answer, error);
        else
            status = carom_law_resolve(law, &call, &run->answer, error);
        run->seconds = carom_clock_seconds() - start;
        cli_end_progress();
    }
    // The outcomes that were kept are the answer's, in place of its empty table.
    if (!status && kept) {
        carom_table_free(run->answer.outcomes);
        run->answer.outcomes = kept;
        kept = NULL;
    }
    carom_table_free(kept);
    return status;
}

carom_status cli_resolve_law(const cli_question *question, const void *options, carom_answer *answer, carom_error *error) {
    carom_result_writer *writer = question->writer;
    carom_sink file;
    carom_status status = writer ? carom_result_writer_open_law(writer, question->law, options, &file, error) : CAROM_OK;
    const carom_law_call call = {
        carom_scene_impact(question->scene), options, question->arguments->registry, question->control, writer ? &file : NULL, NULL};
    if (!status) status = carom_law_resolve(question->law, &call, answer, error);
    cli_end_progress();
    if (!status && writer) status = carom_result_writer_close_law(writer, answer->result, error);
    return status;
}

carom_status cli_run_law(const cli_question *question, cli_run *run, carom_error *error) {
    carom_result_writer *writer = question->writer;
    void *options = NULL;
    carom_sink file;
    *run = (cli_run){.law = question->law};
    carom_status status = cli_prepare_options(question, NULL, &options, error);
    if (!status && writer) status = carom_result_writer_open_law(writer, run->law, options, &file, error);
    if (!status) status = cli_ask_law(question, options, writer ? &file : NULL, run, error);
    if (!status && writer) status = carom_result_writer_close_law(writer, run->answer.result, error);
    free(options);
    if (status) {
        cli_place_error(question->arguments, question->scene, run->law->options, run->law->option_count, error);
        cli_run_release(run);
    }
    return status;
}

void cli_run_release(cli_run *run) {
    carom_answer_free(&run->answer);
    carom_extent_free(run->extent);
    if (run->points) free(run->points->u);
    free(run->points);
    run->extent = NULL;
    run->points = NULL;
}

int cli_exit_status(const carom_answer *answer) { return carom_answer_complete(answer) ? EXIT_DONE : EXIT_INCOMPLETE; }
