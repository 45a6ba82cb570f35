// SPDX-License-Identifier: Apache-2.0
// Laws: their table as Python's values, and asking one.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "binding.h"

enum { OPTION_TEXT_SIZE = 1 << 14 };

const carom_law *binding_law(const char *name) {
    const carom_law *law = carom_law_find(binding_registry, name);
    if (law) return law;
    char names[CAROM_MESSAGE_SIZE / 2] = "";
    for (int i = 0; i < carom_registry_count(binding_registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *one = carom_registry_entry(binding_registry, CAROM_REGISTRY_LAWS, i);
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", one->name);
    }
    binding_refuse("law: there is no '%.60s'; the laws are %s", name, names);
    return NULL;
}

void *binding_options(const carom_law *law, const carom_scene *scene, PyObject *settings) {
    void *options = PyMem_Calloc(1, law->options_size + 1);
    if (!options) return PyErr_NoMemory();
    law->defaults(options);
    const Py_ssize_t count = PyTuple_Check(settings) ? PyTuple_Size(settings) : -1;
    bool failed = count < 0;
    if (failed) PyErr_SetString(PyExc_TypeError, "settings are a tuple of pairs of texts");
    // What the scene gives depends on the sampler that the caller asks for.
    const char *sampler = NULL;
    for (Py_ssize_t i = 0; i < count && !failed; i++) {
        const char *name, *text;
        failed = !binding_parse(PyTuple_GetItem(settings, i), "ss", &name, &text);
        if (!failed && !strcmp(name, "sampler")) sampler = text;
    }
    carom_error error;
    carom_status status = scene && !failed ? carom_scene_apply_law(scene, law, sampler, options, &error) : CAROM_OK;
    if (status) binding_fail(&error);
    failed = failed || status;
    for (Py_ssize_t i = 0; i < count && !failed; i++) {
        const char *name, *text;
        failed = !binding_parse(PyTuple_GetItem(settings, i), "ss", &name, &text);
        if (failed) break;
        status = carom_law_set(law, options, name, text, &error);
        failed = status;
        if (status) binding_fail(&error);
    }
    if (!failed) return options;
    PyMem_Free(options);
    return NULL;
}

// ------------------------------------------------------------------------------------------------------------ the table

// Appends an object that is given away; false with an exception.
static bool append(PyObject *list, PyObject *object) {
    const bool appended = list && object && !PyList_Append(list, object);
    Py_XDECREF(object);
    return appended;
}

// An option as (name, type, least, most, unit, default, doc, choices).
static PyObject *describe_option(const carom_option *row) {
    PyObject *choices = PyList_New(0);
    for (int i = 0; row->type == CAROM_OPTION_CHOICE && row->choices[i] && choices; i++)
        if (!append(choices, binding_text(row->choices[i]))) Py_CLEAR(choices);
    return Py_BuildValue("ssddsssN", row->name, carom_option_type_name(row->type), row->least, row->most, row->unit, row->initial, row->doc,
                         choices);
}

static PyObject *describe_columns(const carom_column *columns, int count) {
    PyObject *list = PyList_New(0);
    for (int i = 0; i < count && list; i++)
        if (!append(list, binding_column(&columns[i]))) Py_CLEAR(list);
    return list;
}

// laws() -> [(name, summary, source, options, outcome columns, result columns, thorough settings, exhaustive settings, elastic), ...]
static PyObject *laws(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    PyObject *list = PyList_New(0);
    for (int i = 0; i < carom_registry_count(binding_registry, CAROM_REGISTRY_LAWS) && list; i++) {
        const carom_law *law = carom_registry_entry(binding_registry, CAROM_REGISTRY_LAWS, i);
        PyObject *options = PyList_New(0), *thorough = PyList_New(0), *exhaustive = PyList_New(0);
        for (int k = 0; k < law->option_count && options; k++)
            if (!append(options, describe_option(&law->options[k]))) Py_CLEAR(options);
        for (const char *const *text = law->thorough; text && *text && thorough; text++)
            if (!append(thorough, binding_text(*text))) Py_CLEAR(thorough);
        for (const char *const *text = law->exhaustive ? law->exhaustive : law->thorough; text && *text && exhaustive; text++)
            if (!append(exhaustive, binding_text(*text))) Py_CLEAR(exhaustive);
        PyObject *row = Py_BuildValue(
            "sssNNNNNN", law->name, law->summary, law->source, options, describe_columns(law->outcome_columns, law->outcome_column_count),
            describe_columns(law->result_columns, law->result_column_count), thorough, exhaustive, PyBool_FromLong(law->elastic));
        if (!append(list, row)) Py_CLEAR(list);
    }
    return list;
}

// law_applies(law, impact) -> would a comparison ask it?
static PyObject *applies(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name;
    PyObject *handle;
    if (!binding_parse(arguments, "sO", &name, &handle)) return NULL;
    const carom_law *law = binding_law(name);
    const carom_impact *impact = law ? binding_impact(handle) : NULL;
    if (!impact) return NULL;
    return PyBool_FromLong(!law->applies || law->applies(impact));
}

// law_options(law, scene, settings) -> [(name, value as text), ...]: every option as these settings leave it
static PyObject *options(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name;
    PyObject *scene_handle, *settings;
    bool failed;
    if (!binding_parse(arguments, "sOO", &name, &scene_handle, &settings)) return NULL;
    const carom_law *law = binding_law(name);
    const carom_scene *scene = law ? binding_optional_scene(scene_handle, &failed) : NULL;
    if (!law || failed) return NULL;
    void *values = binding_options(law, scene, settings);
    char *text = PyMem_Malloc(OPTION_TEXT_SIZE);
    PyObject *list = values && text ? PyList_New(0) : NULL;
    for (int i = 0; i < law->option_count && list; i++) {
        carom_option_print(&law->options[i], values, text, OPTION_TEXT_SIZE);
        PyObject *value = binding_text(text);
        if (!append(list, value ? Py_BuildValue("sN", law->options[i].name, value) : NULL)) Py_CLEAR(list);
    }
    PyMem_Free(text);
    PyMem_Free(values);
    return list;
}

// --------------------------------------------------------------------------------------------------------------- asking

// Which outcomes stay in memory.
enum { KEEP_ALL, KEEP_EXTENT, KEEP_HULL };

// Where blocks of outcomes go: into the extent, and through the filter where there is one.
typedef struct ways {
    carom_extent *extent;
    const carom_sink *corners;
} ways;

static carom_status pass_on(void *user, const carom_table *rows, carom_error *error) {
    const ways *to = user;
    carom_extent_widen(to->extent, rows);
    return to->corners ? to->corners->receive(to->corners->user, rows, error) : CAROM_OK;
}

// What one call gives.
typedef struct answered {
    carom_answer answer;
    carom_extent *extent;  // NULL where all outcomes are kept
    carom_answer outer;    // certified outer set of an exact run that was not finished; empty for none
    double seconds;
} answered;

static void release(answered *got) {
    carom_answer_free(&got->answer);
    carom_answer_free(&got->outer);
    carom_extent_free(got->extent);
}

// Runs without the interpreter's lock.
static carom_status ask(const carom_law *law, carom_law_call *call, int keep, answered *got, carom_error *error) {
    carom_corners *filter = NULL;
    carom_sink corners;
    ways to = {0};
    const carom_sink sink = {&to, pass_on};
    carom_status status = CAROM_OK;
    if (keep != KEEP_ALL) {
        status = carom_extent_create(call->impact, &got->extent, error);
        call->sink = &sink;
    }
    if (!status && keep == KEEP_HULL) {
        status = carom_corners_create(call->impact, law->outcome_columns, law->outcome_column_count, &filter, error);
        if (!status) corners = carom_corners_sink(filter);
        to.corners = &corners;
    }
    to.extent = got->extent;
    // Exact runs keep their set, whose outer part has outcomes of its own.
    carom_exact_set *set = NULL;
    if (law == &carom_exact_law) ((carom_exact_options *)(uintptr_t)call->options)->set = &set;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (!status) status = carom_law_resolve(law, call, &got->answer, error);
    clock_gettime(CLOCK_MONOTONIC, &end);
    got->seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    const carom_table *kept = NULL;
    if (!status && filter) status = carom_corners_outcomes(filter, &kept, error);
    if (!status && kept) status = carom_table_append(got->answer.outcomes, kept, error);
    if (!status && set && set->outer) status = carom_law_resolve(&carom_exact_outer_law, call, &got->outer, error);
    carom_exact_set_free(set);
    carom_corners_free(filter);
    return status;
}

// law_resolve(law, impact, scene, settings, threads, keep, progress) -> (outcomes, result, extent, (outcomes, result) of
// an outer set or None, complete, seconds)
static PyObject *resolve(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name;
    PyObject *impact_handle, *scene_handle, *settings, *progress;
    int threads, keep;
    bool failed;
    if (!binding_parse(arguments, "sOOOiiO", &name, &impact_handle, &scene_handle, &settings, &threads, &keep, &progress)) return NULL;
    const carom_law *law = binding_law(name);
    const carom_impact *impact = law ? binding_impact(impact_handle) : NULL;
    const carom_scene *scene = impact ? binding_optional_scene(scene_handle, &failed) : NULL;
    if (!impact || failed) return NULL;
    void *options = binding_options(law, scene, settings);
    // Sampling draws what is uncertain in a scene's impact, and says in columns what it has drawn.
    carom_law drawing = *law;
    carom_column *columns = NULL;
    const carom_uncertainty *uncertainty = scene && carom_scene_impact(scene) == impact ? carom_scene_uncertainty(scene) : NULL;
    if (options && uncertainty && carom_option_find(law->options, law->option_count, "nested") >= 0) {
        const carom_column *more;
        const int own = law->outcome_column_count, count = own + carom_uncertainty_columns(uncertainty, &more);
        columns = PyMem_Calloc((size_t)count, sizeof *columns);
        if (!columns) {
            PyMem_Free(options);
            return PyErr_NoMemory();
        }
        for (int i = 0; i < count; i++) columns[i] = i < own ? law->outcome_columns[i] : more[i - own];
        ((carom_sample_options *)options)->uncertainty = uncertainty;
        drawing.outcome_columns = columns;
        drawing.outcome_column_count = count;
        law = &drawing;
    }
    binding_watch *watch = options ? binding_watch_start(threads, progress) : NULL;
    if (!watch) {
        PyMem_Free(options);
        PyMem_Free(columns);
        return NULL;
    }
    carom_law_call call = {.impact = impact, .options = options, .registry = binding_registry, .control = binding_watch_control(watch)};
    answered got = {0};
    carom_error error;
    const carom_status status = ask(law, &call, keep, &got, &error);
    const bool undisturbed = binding_watch_end(watch);
    PyMem_Free(options);
    if (status || !undisturbed) {
        release(&got);
        PyMem_Free(columns);
        return undisturbed ? binding_fail(&error) : NULL;
    }
    // Wrapping gives each table away, and an extent is copied.
    const bool complete = carom_answer_complete(&got.answer);
    PyObject *extent = got.extent ? binding_extent(got.extent) : Py_NewRef(Py_None);
    PyObject *outer = !got.outer.outcomes
                          ? Py_NewRef(Py_None)
                          : Py_BuildValue("NN", binding_wrap_table(got.outer.outcomes), binding_wrap_table(got.outer.result));
    PyObject *outcomes = binding_wrap_table_with(got.answer.outcomes, columns), *result = binding_wrap_table(got.answer.result);
    carom_extent_free(got.extent);
    return Py_BuildValue("NNNNNd", outcomes, result, extent, outer, PyBool_FromLong(complete), got.seconds);
}

// impact_describe_rest(impact) -> what is said where nothing collides, or a contact rests and slides; empty otherwise
static PyObject *describe_rest(PyObject *module, PyObject *handle) {
    (void)module;
    char text[CAROM_MESSAGE_SIZE];
    carom_error error;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    return carom_impact_describe_rest(impact, text, &error) ? binding_fail(&error) : binding_text(text);
}

// law_caveats(impact, scene, ((law, settings), ...)) -> [sentence, ...]: what is given and not used
static PyObject *caveats(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *impact_handle, *scene_handle, *asked;
    bool failed;
    if (!PyArg_ParseTuple(arguments, "OOO!", &impact_handle, &scene_handle, &PyTuple_Type, &asked)) return NULL;
    carom_given given = {.impact = binding_impact(impact_handle)};
    const carom_scene *scene = given.impact ? binding_optional_scene(scene_handle, &failed) : NULL;
    if (!given.impact || failed) return NULL;
    // What a scene says counts for its own impact.
    const char *text;
    if (scene && carom_scene_impact(scene) == given.impact) given.uncertainty = carom_scene_uncertainty(scene);
    for (int i = 0; scene && i < carom_scene_settings_count(scene); i++)
        given.restitution = given.restitution || !strcmp(carom_scene_get_setting(scene, i, &text), "restitution");
    const Py_ssize_t count = PyTuple_Size(asked);
    const carom_law **laws = PyMem_Calloc((size_t)count + 1, sizeof *laws);
    int *unused = PyMem_Calloc((size_t)count + 1, sizeof *unused);
    PyObject *list = laws && unused ? PyList_New(0) : PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && list; i++) {
        const char *name;
        PyObject *settings;
        void *options = NULL;
        if (!PyArg_ParseTuple(PyTuple_GetItem(asked, i), "sO", &name, &settings)) Py_CLEAR(list);
        // Files also have outcomes of what is no law here, such as an outer set.
        if (list) laws[i] = carom_law_find(binding_registry, name);
        if (list && laws[i]) options = binding_options(laws[i], scene, settings);
        if (options) unused[i] = carom_law_unused(laws[i], options, &given);
        if (list && laws[i] && !options) Py_CLEAR(list);
        PyMem_Free(options);
    }
    carom_caveats said = {0};
    if (list) carom_law_caveats(&given, laws, unused, (int)count, CAROM_SPELL_KEYWORDS, &said);
    for (int i = 0; i < said.count && list; i++)
        if (!append(list, binding_text(said.text[i]))) Py_CLEAR(list);
    PyMem_Free(laws);
    PyMem_Free(unused);
    return list;
}

PyMethodDef binding_law_methods[] = {{"laws", laws, METH_NOARGS, NULL},
                                     {"law_applies", applies, METH_VARARGS, NULL},
                                     {"law_caveats", caveats, METH_VARARGS, NULL},
                                     {"impact_describe_rest", describe_rest, METH_O, NULL},
                                     {"law_options", options, METH_VARARGS, NULL},
                                     {"law_resolve", resolve, METH_VARARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
