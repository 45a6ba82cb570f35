// SPDX-License-Identifier: Apache-2.0
// MuJoCo models: compiling MJCF and URDF, and the state.
//
// MuJoCo reads a model file itself. Before it does, the text is checked for what would make it abort the process (sizes.c) and for what it
// would do without a word; formulas of the text are replaced by their values (template.c), a free root and a floor are added (changes.c),
// meshes are found (meshes.c), and a URDF becomes MJCF (urdf.c).
#include <ctype.h>
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
    bool has_plugins;    // the model names some
    char message[CAROM_MESSAGE_SIZE];
    mjModel *compiled;
    mjData *data;
} loading;

// A model with too many velocities is refused before its data takes memory.
static void compile_model(void *argument) {
    loading *load = argument;
    if (load->has_plugins) model_load_plugins();
    load->compiled = mj_loadXML(load->path, load->files, load->message, sizeof load->message);
    if (!load->compiled || load->compiled->nv > CAROM_MAX_VELOCITIES) return;
    model_keep_awake(load->compiled);
    model_make_room(load->compiled);
    load->data = mj_makeData(load->compiled);
}

// Reads a model file: its document, checked for what MuJoCo does not check, and edited. `*text` is what MuJoCo has to read in place of the
// file; NULL: the file itself.
static carom_status read_file(const char *path, const carom_model_options *options, char **text, xmlDoc **document, model_changes *changes,
                              char advice[MODEL_ADVICE_SIZE], carom_error *error) {
    char *original = NULL;
    carom_error inner;
    carom_status status = model_read_text(path, &original, error);
    if (!status && options->parameters && (status = model_expand(original, options->parameters, text, &inner)))
        carom_fail(error, status, "%s: %s", path, inner.message);
    if (!status) status = model_xml_parse(*text ? *text : original, document, error);
    if (!status) status = model_check_template(path, *document, error);
    if (!status) status = model_check_sizes(path, *document, error);
    if (!status) status = model_start_changes(path, *document, options, changes, error);
    if (!status) status = model_check_assets(path, changes, error);
    if (!status) status = model_resolve_meshes(path, changes, error);
    if (!status) model_advise_on_root(*document, advice);
    if (!status) status = model_translate_urdf(path, changes, error);
    if (!status) model_add_ground(changes);
    if (!status && changes->edited) {
        free(*text);
        *text = NULL;
        status = model_xml_print(*document, text, error);
    }
    free(original);
    return status;
}

// A file system in memory that has a text in place of the model's file, and the files of its changes; NULL: no memory.
static mjVFS *hold_files(const char *path, const char *text, const model_changes *changes) {
    mjVFS *files = malloc(sizeof *files);
    if (!files) return NULL;
    mj_defaultVFS(files);
    bool held = model_add_file(files, path, text, strlen(text));
    for (int i = 0; held && i < changes->file_count; i++)
        held = model_add_file(files, changes->files[i].name, changes->files[i].bytes, changes->files[i].size);
    if (held) return files;
    mj_deleteVFS(files);
    free(files);
    return NULL;
}

static carom_status load_once(const char *path, const carom_model_options *options, carom_model **model, carom_error *error) {
    *model = NULL;
    // Where the text has formulas or changes, MuJoCo gets it from memory.
    char *text = NULL, advice[MODEL_ADVICE_SIZE] = "";
    xmlDoc *document = NULL;
    mjVFS *files = NULL;
    model_changes changes = {.floor = -1};
    carom_status status = model_check_version(error);
    if (!status) status = read_file(path, options, &text, &document, &changes, advice, error);
    if (!status && text && !(files = hold_files(path, text, &changes))) status = carom_fail_memory(error, path);
    bool has_plugins = false;
    for (const xmlNode *node = model_xml_first(document); node; node = model_xml_next(node))
        has_plugins = has_plugins || model_xml_is(node, "plugin");
    if (document) xmlFreeDoc(document);
    free(text);

    // Compile. The message buffer may hold text after a success: only what was returned decides.
    loading load = {.path = path, .files = files, .has_plugins = has_plugins};
    if (!status) status = model_guard_load(compile_model, &load, error);
    if (files) mj_deleteVFS(files);
    free(files);
    const int nv = load.compiled ? model_count(load.compiled->nv) : 0;
    if (!status && !load.compiled) {
        // MuJoCo's sentence, without blanks at its end, and what to do about it where that is known.
        char more[MODEL_ADVICE_SIZE];
        model_advise_on_message(load.message, more);
        for (size_t end = strlen(load.message); end && isspace((unsigned char)load.message[end - 1]); end--) load.message[end - 1] = '\0';
        status = carom_fail(error, model_lacks_memory(load.message) ? CAROM_OUT_OF_MEMORY : CAROM_BAD_INPUT, "%s: %s%s", path, load.message,
                            more);
    }
    if (!status && nv < 1)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the model has no joints, so that nothing can move%s%s", path, *advice ? "; " : "",
                            advice);
    if (!status && nv > CAROM_MAX_VELOCITIES)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the model has %d velocities, more than %d", path, nv, CAROM_MAX_VELOCITIES);
    if (!status) status = model_finish_changes(path, &changes, load.compiled, error);
    carom_model *loaded = calloc(1, sizeof *loaded);
    if (loaded) *loaded = (carom_model){.compiled = load.compiled, .data = load.data, .path = strdup(path)};
    if (!status && (!loaded || !loaded->path || !loaded->data)) status = carom_fail_memory(error, path);
    if (!status) model_settle_mimics(&changes, loaded->compiled, loaded->data);
    if (!status) status = model_refine_vertices(&changes, loaded, error);
    if (!status && *advice) status = model_warn(loaded, error, "%s", advice);
    for (int i = 0; !status && i < changes.note_count; i++) status = model_warn(loaded, error, "%s", changes.notes[i]);
    char floor[MODEL_LABEL_SIZE] = "";
    if (!status && changes.floor >= 0) model_write_name(loaded, mjOBJ_GEOM, changes.floor, "geom", floor, sizeof floor);
    if (*floor && !options->ground->optional)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the model has a floor already, '%s'", path, floor);
    model_free_changes(&changes);
    if (status || *floor) {
        if (!loaded && load.data) mj_deleteData(load.data);
        if (!loaded && load.compiled) mj_deleteModel(load.compiled);
        carom_model_free(loaded);
        if (status) return status;
        // Once more, with the model's floor alone.
        const carom_model_options floorless = {
            .parameters = options->parameters, .free_root = options->free_root, .free_open_root = options->free_open_root};
        status = load_once(path, &floorless, model, error);
        if (status) return status;
        status = model_warn(*model, error, "the model has a floor already, '%s': none is added", floor);
        if (!status) return CAROM_OK;
        carom_model_free(*model);
        *model = NULL;
        return status;
    }
    *model = loaded;
    return CAROM_OK;
}

carom_status carom_model_load(const char *path, carom_model **model, carom_error *error) {
    return carom_model_load_with(path, NULL, model, error);
}

carom_status carom_model_load_with(const char *path, const carom_model_options *options, carom_model **model, carom_error *error) {
    if (!model) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_load: model is NULL");
    *model = NULL;
    if (!path || !*path) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_load: the path of the model is empty");
    const carom_model_options none = {0};
    if (!options) options = &none;
    return load_once(path, options, model, error);
}

void carom_model_free(carom_model *model) {
    if (!model) return;
    if (model->data) mj_deleteData(model->data);
    if (model->compiled) mj_deleteModel(model->compiled);
    model_clear_warnings(model);
    free(model->touches);
    free(model->limits);
    free(model->vertices);
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

int carom_model_nq(const carom_model *model) { return model_count(model->compiled->nq); }
int carom_model_nv(const carom_model *model) { return model_count(model->compiled->nv); }
const char *carom_model_path(const carom_model *model) { return model->path; }
const double *carom_model_qpos(const carom_model *model) { return model->data->qpos; }
const double *carom_model_qvel(const carom_model *model) { return model->data->qvel; }

int carom_model_joints(const carom_model *model) { return model_count(model->compiled->njnt); }

carom_model_joint carom_model_get_joint(const carom_model *model, int index) {
    const mjModel *compiled = model->compiled;
    const int type = compiled->jnt_type[index];
    const char *name = mj_id2name(compiled, mjOBJ_JOINT, index);
    if (type == mjJNT_FREE && !(name && *name)) name = mj_id2name(compiled, mjOBJ_BODY, compiled->jnt_bodyid[index]);
    return (carom_model_joint){.name = name && *name ? name : NULL,
                               .position = compiled->jnt_qposadr[index],
                               .positions = type == mjJNT_FREE   ? 7
                                            : type == mjJNT_BALL ? 4
                                                                 : 1,
                               .velocity = compiled->jnt_dofadr[index],
                               .velocities = type == mjJNT_FREE   ? 6
                                             : type == mjJNT_BALL ? 3
                                                                  : 1};
}

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
    const int nq = model_count(compiled->nq), nv = model_count(compiled->nv);
    carom_status status = CAROM_OK;
    if (qpos) status = check_values("qpos", qpos, qpos_count, nq, error);
    // MuJoCo would silently read a quaternion without length as the identity.
    for (int joint = 0; qpos && !status && joint < compiled->njnt; joint++) {
        const int type = compiled->jnt_type[joint], at = compiled->jnt_qposadr[joint] + (type == mjJNT_FREE ? 3 : 0);
        if (type != mjJNT_FREE && type != mjJNT_BALL) continue;
        const double length = hypot(hypot(qpos[at], qpos[at + 1]), hypot(qpos[at + 2], qpos[at + 3]));
        if (!(length > mjMINVAL) || !isfinite(length * length))
            status =
                carom_fail(error, CAROM_BAD_INPUT, "qpos[%d..%d] is a quaternion without a finite length greater than zero", at, at + 3);
    }
    if (!status && qvel) status = check_values("qvel", qvel, qvel_count, nv, error);
    if (status) return status;

    // Nothing is changed before all is checked.
    if (qpos) {
        mju_copy(model->data->qpos, qpos, nq);
        mj_normalizeQuat(compiled, model->data->qpos);
    }
    if (qvel) mju_copy(model->data->qvel, qvel, nv);
    return CAROM_OK;
}

carom_status model_set_keyframe(carom_model *model, int key, carom_error *error) {
    const mjModel *compiled = model->compiled;
    const int nq = model_count(compiled->nq), nv = model_count(compiled->nv), bodies = model_count(compiled->nmocap);
    carom_status status = carom_model_set_state(model, compiled->key_qpos + key * nq, nq, compiled->key_qvel + key * nv, nv, error);
    if (status) return status;
    // A keyframe also has the controls and activations of actuators, and places the bodies that only a user moves.
    mju_copy(model->data->act, compiled->key_act + key * model_count(compiled->na), model_count(compiled->na));
    mju_copy(model->data->ctrl, compiled->key_ctrl + key * model_count(compiled->nu), model_count(compiled->nu));
    mju_copy(model->data->mocap_pos, compiled->key_mpos + 3 * key * bodies, 3 * bodies);
    mju_copy(model->data->mocap_quat, compiled->key_mquat + 4 * key * bodies, 4 * bodies);
    return CAROM_OK;
}

carom_status carom_model_set_keyframe(carom_model *model, const char *name, carom_error *error) {
    const int key = name && *name ? mj_name2id(model->compiled, mjOBJ_KEY, name) : -1;
    char phrase[CAROM_SUGGESTION_SIZE];
    if (key < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "there is no keyframe called '%s' in %s%s", name ? name : "", model->path,
                          model_suggest(model, mjOBJ_KEY, model_count(model->compiled->nkey), name ? name : "", phrase));
    return model_set_keyframe(model, key, error);
}
