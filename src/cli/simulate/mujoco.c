// SPDX-License-Identifier: Apache-2.0
// `carom simulate --mujoco`: a model's states as arrays, and three lines of Python that play them in MuJoCo's viewer.
#include <stdio.h>
#include <string.h>

#include "cli/simulate/simulate.h"

carom_status cli_mujoco_check(const cli_motion *motion, carom_error *error) {
    if (!carom_scene_model(motion->scene))
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "--mujoco: only scenes with 'model' have states that MuJoCo knows; --vtk writes others");
    carom_error inner;
    const carom_status status = carom_arrays_check(cli_value(motion->arguments, "mujoco"), &inner);
    return status ? carom_fail(error, status, "--mujoco: %s", inner.message) : CAROM_OK;
}

carom_status cli_mujoco_write(const cli_motion *motion, carom_error *error) {
    const carom_table *states = motion->states;
    const carom_model *model = carom_scene_model(motion->scene);
    const int64_t rows = carom_table_rows(states);
    // Coordinates of slides and hinges are MuJoCo's; integrators of other joints record its qpos.
    const carom_named_array arrays[] = {
        {"t", rows, 0, carom_motion_times(states)},
        {"qpos", rows, carom_model_nq(model), carom_table_real_column(states, carom_table_find(states, "qpos"))},
        {"qvel", rows, carom_model_nv(model), carom_table_real_column(states, carom_table_find(states, "qvel"))}};
    return carom_arrays_write(cli_value(motion->arguments, "mujoco"), arrays, sizeof arrays / sizeof *arrays, error);
}

// A text as Python has it in quotes.
static void print_python(const char *text) {
    putchar('"');
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte < 0x20)
            printf("\\x%02x", byte);
        else
            printf("%s%c", byte == '"' || byte == '\\' ? "\\" : "", byte);
    }
    putchar('"');
}

void cli_mujoco_print_player(const cli_motion *motion) {
    const char *file = cli_value(motion->arguments, "mujoco"), *ending = strrchr(file, '.');
    const bool table = ending && (ending[1] == 'c' || ending[1] == 'C');
    printf("written to %s; Python plays it:\n", file);
    fputs("import mujoco, mujoco.viewer, numpy, time; model = mujoco.MjModel.from_xml_path(", stdout);
    print_python(carom_model_path(carom_scene_model(motion->scene)));
    fputs("); data = mujoco.MjData(model); viewer = mujoco.viewer.launch_passive(model, data)\n", stdout);
    if (table) {
        fputs("rows = numpy.loadtxt(", stdout);
        print_python(file);
        fputs(", delimiter=\",\", skiprows=1); t, qpos = rows[:, 0], rows[:, 1 : 1 + model.nq]\n", stdout);
    } else {
        fputs("run = numpy.load(", stdout);
        print_python(file);
        fputs("); t, qpos = run[\"t\"], run[\"qpos\"]\n", stdout);
    }
    fputs("for dt, data.qpos[:] in zip(numpy.diff(t, append=t[-1]), qpos): mujoco.mj_forward(model, data); viewer.sync(); time.sleep(dt)\n",
          stdout);
}
