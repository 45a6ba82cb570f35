// SPDX-License-Identifier: Apache-2.0
// MuJoCo models: compiling MJCF and URDF, and the state.
//
// MuJoCo reads a model file itself. Before it does, the text is checked for what would make it abort the process (sizes.c) and for what it
// would do without a word (urdf.c); formulas of the text are replaced by their values (template.c).
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// Arguments of the guarded load.
typedef struct loading {
    const char *path;
    const mjVFS *files;  // holds the expanded text of `path`; NULL: the disk does
    char message[CAROM_MESSAGE_SIZE];
    mjModel *compiled;
    mjData *data;
} loading;

// A model with too many velocities is refused before its data takes memory.
static void compile_model(void *argument) {
    loading *load = argument;
    load->compiled = mj_loadXML(load->path, load->files, load->message, sizeof load->message);
    if (load->compiled && load->compiled->nv <= CAROM_MAX_VELOCITIES) load->data = mj_makeData(load->compiled);
}

carom_status carom_model_load(const char *path, carom_model **model, carom_error *error) {
    return carom_model_load_with(path, NULL, model, error);
}

carom_status carom_model_load_with(const char *path, const carom_model_parameters *parameters, carom_model **model, carom_error *error) {
    if (!model) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_load: model is NULL");
    *model = NULL;
    if (!path || !*path) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_load: the path of the model is empty");

    // Read the text; where it has formulas, MuJoCo gets it from memory with their values.
    char *text = NULL, *expanded = NULL, advice[MODEL_ADVICE_SIZE] = "";
    xmlDoc *document = NULL;
    mjVFS *files = NULL;
    carom_error inner;
    carom_status status = model_read_text(path, &text, error);
    if (!status && parameters && (status = model_expand(text, parameters, &expanded, &inner)))
        carom_fail(error, status, "%s: %s", path, inner.message);

    // Check what MuJoCo does not.
    if (!status) status = model_xml_parse(expanded ? expanded : text, &document, error);
    if (!status) status = model_check_sizes(path, document, error);
    if (!status) model_advise_on_root(document, advice);
    if (!status && expanded) {
        // A file system in memory that has the expanded text under the path's name.
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        const size_t size = strlen(expanded);
        files = malloc(sizeof *files);
        if (files) mj_defaultVFS(files);
        if (!files || strlen(name) >= mjMAXVFSNAME || mj_makeEmptyFileVFS(files, name, (int)size))
            status = carom_fail_memory(error, path);
        else
            memcpy(files->filedata[mj_findFileVFS(files, name)], expanded, size);
    }
    if (document) xmlFreeDoc(document);
    free(text);
    free(expanded);

    // Compile. The message buffer may hold text after a success: only what was returned decides.
    loading load = {.path = path, .files = files};
    if (!status) status = model_guard_call(compile_model, &load, error);
    if (files) mj_deleteVFS(files);
    free(files);
    const int nv = load.compiled ? load.compiled->nv : 0;
    if (!status && !load.compiled)
        status = carom_fail(error, model_lacks_memory(load.message) ? CAROM_OUT_OF_MEMORY : CAROM_BAD_INPUT, "%s: %s", path, load.message);
    if (!status && nv < 1)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the model has no joints, so that nothing can move%s%s", path, *advice ? "; " : "",
                            advice);
    if (!status && nv > CAROM_MAX_VELOCITIES)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the model has %d velocities, more than %d", path, nv, CAROM_MAX_VELOCITIES);
    carom_model *loaded = calloc(1, sizeof *loaded);
    if (loaded) *loaded = (carom_model){.compiled = load.compiled, .data = load.data, .path = strdup(path)};
    if (!status && (!loaded || !loaded->path || !loaded->data)) status = carom_fail_memory(error, path);
    if (!status && *advice) status = model_warn(loaded, error, "%s", advice);
    if (status) {
        if (!loaded && load.data) mj_deleteData(load.data);
        if (!loaded && load.compiled) mj_deleteModel(load.compiled);
        carom_model_free(loaded);
        return status;
    }
    *model = loaded;
    return CAROM_OK;
}

void carom_model_free(carom_model *model) {
    if (!model) return;
    if (model->data) mj_deleteData(model->data);
    if (model->compiled) mj_deleteModel(model->compiled);
    model_clear_warnings(model);
    free(model->touches);
    free(model->path);
    free(model);
}

// ------------------------------------------------------------------------------------------------------------ warnings

carom_status model_warn(carom_model *model, carom_error *error, const char *format, ...) {
    char sentence[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    char **warnings = realloc(model->warnings, (size_t)(model->warning_count + 1) * sizeof *warnings);
    if (warnings) model->warnings = warnings;
    char *copy = warnings ? strdup(sentence) : NULL;
    if (!copy) return carom_fail_memory(error, "warnings");
    model->warnings[model->warning_count++] = copy;
    return CAROM_OK;
}

void model_clear_warnings(carom_model *model) {
    for (int i = 0; i < model->warning_count; i++) free(model->warnings[i]);
    free(model->warnings);
    model->warnings = NULL;
    model->warning_count = 0;
}

int carom_model_warnings(const carom_model *model) { return model->warning_count; }
const char *carom_model_warning(const carom_model *model, int index) {
    return index >= 0 && index < model->warning_count ? model->warnings[index] : NULL;
}

// --------------------------------------------------------------------------------------------------------------- state

int carom_model_nq(const carom_model *model) { return model->compiled->nq; }
int carom_model_nv(const carom_model *model) { return model->compiled->nv; }
const double *carom_model_qpos(const carom_model *model) { return model->data->qpos; }

int carom_model_find_coordinate(const carom_model *model, const char *joint) {
    const mjModel *compiled = model->compiled;
    const int id = joint && *joint ? mj_name2id(compiled, mjOBJ_JOINT, joint) : -1;
    // Of other joints than these, a position has no single coordinate.
    const bool scalar = id >= 0 && (compiled->jnt_type[id] == mjJNT_HINGE || compiled->jnt_type[id] == mjJNT_SLIDE);
    return scalar ? compiled->jnt_qposadr[id] : -1;
}

// Refuses a vector of the wrong length, or with numbers that are not finite.
static carom_status check_values(const char *what, const double *values, int count, int expected, carom_error *error) {
    if (count != expected) return carom_fail(error, CAROM_BAD_INPUT, "%s has %d numbers, but the model needs %d", what, count, expected);
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) return carom_fail(error, CAROM_BAD_INPUT, "%s[%d] is not finite", what, i);
    }
    return CAROM_OK;
}

carom_status carom_model_set_state(carom_model *model, const double *qpos, int qpos_count, const double *qvel, int qvel_count,
                                   carom_error *error) {
    const mjModel *compiled = model->compiled;
    carom_status status = CAROM_OK;
    if (qpos) status = check_values("qpos", qpos, qpos_count, compiled->nq, error);
    // MuJoCo would silently read a quaternion without length as the identity.
    for (int joint = 0; qpos && !status && joint < compiled->njnt; joint++) {
        const int type = compiled->jnt_type[joint], at = compiled->jnt_qposadr[joint] + (type == mjJNT_FREE ? 3 : 0);
        if (type != mjJNT_FREE && type != mjJNT_BALL) continue;
        const double length = hypot(hypot(qpos[at], qpos[at + 1]), hypot(qpos[at + 2], qpos[at + 3]));
        if (!(length > mjMINVAL) || !isfinite(length * length))
            status =
                carom_fail(error, CAROM_BAD_INPUT, "qpos[%d..%d] is a quaternion without a finite length greater than zero", at, at + 3);
    }
    if (!status && qvel) status = check_values("qvel", qvel, qvel_count, compiled->nv, error);
    if (status) return status;

    // Nothing is changed before all is checked.
    if (qpos) {
        mju_copy(model->data->qpos, qpos, compiled->nq);
        mj_normalizeQuat(compiled, model->data->qpos);
    }
    if (qvel) mju_copy(model->data->qvel, qvel, compiled->nv);
    return CAROM_OK;
}

carom_status carom_model_set_keyframe(carom_model *model, const char *name, carom_error *error) {
    const mjModel *compiled = model->compiled;
    const int key = name && *name ? mj_name2id(compiled, mjOBJ_KEY, name) : -1;
    char phrase[CAROM_SUGGESTION_SIZE];
    if (key < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "there is no keyframe called '%s' in %s%s", name ? name : "", model->path,
                          model_suggest(model, mjOBJ_KEY, model->compiled->nkey, name ? name : "", phrase));
    carom_status status = carom_model_set_state(model, compiled->key_qpos + key * compiled->nq, compiled->nq,
                                                compiled->key_qvel + key * compiled->nv, compiled->nv, error);
    if (status) return status;
    // A keyframe also places the bodies that only a user moves.
    mju_copy(model->data->mocap_pos, compiled->key_mpos + 3 * key * compiled->nmocap, 3 * compiled->nmocap);
    mju_copy(model->data->mocap_quat, compiled->key_mquat + 4 * key * compiled->nmocap, 4 * compiled->nmocap);
    return CAROM_OK;
}
