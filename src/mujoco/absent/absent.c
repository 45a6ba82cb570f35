// SPDX-License-Identifier: Apache-2.0
// MuJoCo models in a build without MuJoCo: no model is ever loaded, and every call that takes one is there for the linker alone.
#include <math.h>
#include <string.h>

#include "carom/model.h"

const char *carom_model_mujoco_version(void) { return NULL; }

carom_detection carom_detection_defaults(void) { return (carom_detection){.margin = 1e-3, .friction = NAN}; }

static carom_status refuse(const char *path, carom_error *error) {
    return carom_fail(error, CAROM_UNSUPPORTED, "%s: " WITHOUT_MUJOCO, path);
}

// By its first element alone: enough to say that a model is one.
carom_model_file carom_model_recognise(const char *text) {
    if (!strncmp(text, "\xef\xbb\xbf", 3)) text += 3;
    if (text[strspn(text, " \t\r\n")] != '<') return CAROM_MODEL_FILE_NONE;
    if (strstr(text, "<mujocoinclude")) return CAROM_MODEL_FILE_PART;
    return strstr(text, "<mujoco") || strstr(text, "<robot") ? CAROM_MODEL_FILE_MODEL : CAROM_MODEL_FILE_XML;
}

carom_status carom_model_load(const char *path, carom_model **model, carom_error *error) {
    *model = NULL;
    return refuse(path, error);
}

carom_status carom_model_load_with(const char *path, const carom_model_options *options, carom_model **model, carom_error *error) {
    (void)options;
    *model = NULL;
    return refuse(path, error);
}

void carom_model_free(carom_model *model) { (void)model; }

int carom_model_nq(const carom_model *model) {
    (void)model;
    return 0;
}

int carom_model_nv(const carom_model *model) {
    (void)model;
    return 0;
}

const char *carom_model_path(const carom_model *model) {
    (void)model;
    return NULL;
}

const double *carom_model_qpos(const carom_model *model) {
    (void)model;
    return NULL;
}

int carom_model_find_coordinate(const carom_model *model, const char *joint) {
    (void)model, (void)joint;
    return -1;
}

int carom_model_joints(const carom_model *model) {
    (void)model;
    return 0;
}

carom_model_joint carom_model_get_joint(const carom_model *model, int index) {
    (void)model, (void)index;
    return (carom_model_joint){0};
}

const double *carom_model_qvel(const carom_model *model) {
    (void)model;
    return NULL;
}

carom_status carom_model_set_state(carom_model *model, const double *qpos, int qpos_count, const double *qvel, int qvel_count,
                                   carom_error *error) {
    (void)model, (void)qpos, (void)qpos_count, (void)qvel, (void)qvel_count;
    return refuse("model", error);
}

carom_status carom_model_set_limit_restitution(carom_model *model, double stops, double strings, carom_error *error) {
    (void)model, (void)stops, (void)strings;
    return refuse("model", error);
}

carom_status carom_model_set_keyframe(carom_model *model, const char *name, carom_error *error) {
    (void)model, (void)name;
    return refuse("model", error);
}

carom_status carom_model_lower(carom_model *model, const char *target, double *shift, carom_error *error) {
    (void)model, (void)target, (void)shift;
    return refuse("model", error);
}

carom_status carom_model_freeze(carom_model *model, const carom_model_contact *contacts, int count, carom_impact **impact,
                                carom_error *error) {
    (void)model, (void)contacts, (void)count;
    *impact = NULL;
    return refuse("model", error);
}

carom_status carom_model_measure_gaps(carom_model *model, const carom_model_contact *contacts, int count, double *gaps,
                                      carom_error *error) {
    (void)model, (void)contacts, (void)count, (void)gaps;
    return refuse("model", error);
}

carom_status carom_model_check_pattern(const carom_model *model, const char *pattern, carom_error *error) {
    (void)model, (void)pattern;
    return refuse("model", error);
}

carom_status carom_model_detect(carom_model *model, const carom_detection *detection, carom_impact **impact, carom_error *error) {
    (void)model, (void)detection;
    *impact = NULL;
    return refuse("model", error);
}

carom_status carom_model_freeze_bare(carom_model *model, bool any, carom_model_start *start, carom_impact **impact, carom_error *error) {
    (void)model, (void)any, (void)start;
    *impact = NULL;
    return refuse("model", error);
}

int carom_model_warnings(const carom_model *model) {
    (void)model;
    return 0;
}

const char *carom_model_warning(const carom_model *model, int index) {
    (void)model, (void)index;
    return NULL;
}

carom_status carom_model_simulator_create(carom_model *model, const carom_impact *impact, carom_model_simulator **simulator,
                                          carom_error *error) {
    (void)model, (void)impact;
    *simulator = NULL;
    return refuse("model", error);
}

void carom_model_simulator_free(carom_model_simulator *simulator) { (void)simulator; }

carom_status carom_model_simulator_run(carom_model_simulator *simulator, const carom_model_run *run, carom_model_end *end,
                                       carom_error *error) {
    (void)simulator, (void)run, (void)end;
    return refuse("model", error);
}

carom_status carom_model_create_system(carom_model *model, const carom_model_contact *contacts, int count, carom_system **system,
                                       carom_error *error) {
    (void)model, (void)contacts, (void)count;
    *system = NULL;
    return refuse("model", error);
}

void carom_model_free_system(carom_system *system) { (void)system; }

int carom_model_controls(const carom_model *model) {
    (void)model;
    return 0;
}

void carom_model_name_control(const carom_model *model, int index, char *name, size_t size) {
    (void)model, (void)index;
    if (size) *name = '\0';
}

carom_status carom_model_key_controls(const carom_model *model, const char *name, const double **values, carom_error *error) {
    (void)model, (void)name;
    *values = NULL;
    return refuse("model", error);
}

carom_status carom_model_create_mechanism(carom_model *model, const carom_model_motion *motion, carom_mechanism **mechanism,
                                          carom_error *error) {
    (void)model, (void)motion;
    *mechanism = NULL;
    return refuse("model", error);
}

void carom_model_free_mechanism(carom_mechanism *mechanism) { (void)mechanism; }

carom_status carom_model_solids(const carom_model *model, const double *velocity, double time, carom_arena *arena, carom_solids *solids,
                                carom_error *error) {
    (void)model, (void)velocity, (void)time, (void)arena;
    *solids = (carom_solids){0};
    return refuse("model", error);
}

// The law is known, so that a comparison with simulators says what it lacks.
carom_mujoco_options carom_mujoco_defaults(void) { return (carom_mujoco_options){0}; }

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    (void)call;
    return refuse("mujoco", error);
}

static void write_defaults(void *options) { *(carom_mujoco_options *)options = carom_mujoco_defaults(); }

const carom_law carom_law_mujoco = {.name = "mujoco",
                                    .summary = "not in this build",
                                    .options_size = sizeof(carom_mujoco_options),
                                    .defaults = write_defaults,
                                    .resolve = resolve};
