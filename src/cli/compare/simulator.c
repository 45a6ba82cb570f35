// SPDX-License-Identifier: Apache-2.0
// `carom compare --simulator mujoco`: asks the law `mujoco` as the command line says.
#include "cli/compare/simulator.h"

#include <string.h>

// Its flags are the law's options; `--seed` is the samples', too.
static carom_status read_options(const cli_comparison *c, carom_mujoco_options *options, carom_error *error) {
    *options = carom_mujoco_defaults();
    const carom_status status = cli_apply_rows(c->arguments, carom_law_mujoco.options, carom_law_mujoco.option_count, options, error);
    options->model = carom_scene_model(c->scene);
    if (status || options->model) return status;
    return carom_fail(error, CAROM_BAD_INPUT, "--simulator: %s has no 'model' that MuJoCo could simulate", carom_scene_path(c->scene));
}

carom_status cli_check_simulator(const cli_comparison *c, carom_error *error) {
    const char *name = cli_value(c->arguments, "simulator");
    carom_mujoco_options options;
    for (int i = 0; !name && i < carom_law_mujoco.option_count; i++) {
        const char *flag = carom_law_mujoco.options[i].name;
        if (strcmp(flag, "seed") != 0 && cli_given(c->arguments, flag))
            return carom_fail(error, CAROM_BAD_INPUT, "--%s belongs to --simulator", flag);
    }
    if (!name) return CAROM_OK;
    if (strcmp(name, carom_law_mujoco.name) != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "--simulator: '%.60s' is not a simulator; there is 'mujoco'", name);
    return read_options(c, &options, error);
}

carom_status cli_simulate_impact(cli_comparison *c, const carom_control *control, carom_result_writer *writer, carom_error *error) {
    carom_mujoco_options options;
    carom_sink file;
    cli_run *run = &c->runs[c->count];
    *run = (cli_run){.law = &carom_law_mujoco};
    const cli_question question = {
        .arguments = c->arguments, .scene = c->scene, .law = run->law, .control = control, .keep_outcomes = true, .collect_points = true};
    carom_status status = read_options(c, &options, error);
    if (!status && writer) status = carom_result_writer_open_law(writer, run->law, &options, &file, error);
    if (!status) status = cli_ask_law(&question, &options, writer ? &file : NULL, run, error);
    if (!status && writer) status = carom_result_writer_close_law(writer, run->answer.result, error);
    if (!status) status = cli_coverage_measure(c, run, control, error);
    if (status)
        cli_run_release(run);
    else
        c->count++;
    return status;
}
