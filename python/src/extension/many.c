// SPDX-License-Identifier: Apache-2.0
// One outcome for each of many impacts.
#include "binding.h"

// Where the outcomes go: numbers one after the other, and for each impact the energy ratio, and steps, flags, verdict and whether it is
// finished.
enum { OUT_VELOCITY, OUT_NORMAL, OUT_TANGENT, OUT_ENERGY, OUT_ARRAYS };
enum { ROW_STEPS, ROW_FLAGS, ROW_VERDICT, ROW_FINISHED, ROW_FIELDS };

typedef struct request {
    carom_many_call call;
    carom_many_outcome *outcomes;  // [count]
    binding_reals out[OUT_ARRAYS];
} request;

// Lends the arrays of the caller to the outcomes: sizes are those of the impacts.
static bool lend_arrays(request *asked, PyObject *const given[OUT_ARRAYS]) {
    const carom_many_call *call = &asked->call;
    size_t total[OUT_ARRAYS] = {[OUT_ENERGY] = (size_t)call->count};
    for (int64_t i = 0; i < call->count; i++) {
        const carom_impact_data *data = call->data ? &call->data[i] : carom_impact_get_data(call->impacts[i]);
        total[OUT_VELOCITY] += (size_t)data->nv;
        total[OUT_NORMAL] += (size_t)data->contacts;
        total[OUT_TANGENT] += (size_t)(data->contacts * data->tangent_dim);
    }
    static const char *const names[] = {"velocity", "normal_impulse", "tangent_impulse", "energy_ratio"};
    for (int k = 0; k < OUT_ARRAYS; k++)
        if (!binding_take_reals(given[k], names[k], total[k], true, &asked->out[k])) return false;
    asked->outcomes = PyMem_Calloc((size_t)call->count + 1, sizeof *asked->outcomes);
    if (!asked->outcomes) PyErr_NoMemory();
    double *next[] = {asked->out[OUT_VELOCITY].values, asked->out[OUT_NORMAL].values, asked->out[OUT_TANGENT].values};
    for (int64_t i = 0; i < call->count && asked->outcomes; i++) {
        const carom_impact_data *data = call->data ? &call->data[i] : carom_impact_get_data(call->impacts[i]);
        asked->outcomes[i] = (carom_many_outcome){.velocity = next[0], .normal_impulse = next[1], .tangent_impulse = next[2]};
        next[0] += data->nv;
        next[1] += data->contacts;
        next[2] += data->contacts * data->tangent_dim;
    }
    return asked->outcomes;
}

// Asks the law, and writes what is not an array of each outcome.
static PyObject *answer(request *asked, const carom_law *law, PyObject *settings, int threads, PyObject *progress) {
    void *options = binding_options(law, NULL, settings);
    PyObject *rows = options ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizeof(int64_t) * ROW_FIELDS * asked->call.count) : NULL;
    binding_watch *watch = rows ? binding_watch_start(threads, progress) : NULL;
    if (!watch) {
        PyMem_Free(options);
        Py_XDECREF(rows);
        return NULL;
    }
    carom_error error;
    asked->call.options = options;
    asked->call.registry = binding_registry;
    asked->call.control = binding_watch_control(watch);
    const carom_status status = carom_law_sample_many(law, &asked->call, asked->outcomes, &error);
    const bool undisturbed = binding_watch_end(watch);
    PyMem_Free(options);
    if (status || !undisturbed) {
        Py_DECREF(rows);
        return undisturbed ? binding_fail(&error) : NULL;
    }
    int64_t *row = (int64_t *)(void *)PyBytes_AsString(rows);
    for (int64_t i = 0; i < asked->call.count; i++, row += ROW_FIELDS) {
        const carom_many_outcome *one = &asked->outcomes[i];
        asked->out[OUT_ENERGY].values[i] = one->energy_ratio;
        row[ROW_STEPS] = one->steps;
        row[ROW_FLAGS] = one->flags;
        row[ROW_VERDICT] = (int64_t)one->verdict;
        row[ROW_FINISHED] = one->finished;
    }
    return rows;
}

static void release(request *asked) {
    binding_give_back(asked->out, OUT_ARRAYS);
    PyMem_Free(asked->outcomes);
    PyMem_Free((void *)(uintptr_t)asked->call.data);
    PyMem_Free((void *)(uintptr_t)asked->call.impacts);
}

// many_arrays(law, settings, seed, threads, progress, (count, nv, contacts, tangent_dim), arrays, repeated, out)
// arrays: mass, normal, tangent, friction, restitution, velocity, with a leading axis unless `repeated` says that one serves all
static PyObject *many_arrays(PyObject *module, PyObject *arguments) {
    (void)module;
    enum { ARRAYS = 6 };
    const char *name;
    PyObject *settings, *progress, *given[ARRAYS], *out[OUT_ARRAYS];
    long long seed, count;
    int threads, nv, contacts, dim, repeated[ARRAYS];
    if (!binding_parse(arguments, "sOLiO(Liii)(OOOOOO)(pppppp)(OOOO)", &name, &settings, &seed, &threads, &progress, &count, &nv, &contacts,
                       &dim, &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &repeated[0], &repeated[1], &repeated[2],
                       &repeated[3], &repeated[4], &repeated[5], &out[0], &out[1], &out[2], &out[3]))
        return NULL;
    const carom_law *law = binding_law(name);
    if (!law) return NULL;
    if (count < 0 || nv < 1 || contacts < 1 || dim < 1 || dim > 2) return binding_refuse("impacts have velocities and contacts");
    const size_t sizes[ARRAYS] = {(size_t)nv * (size_t)nv,
                                  (size_t)contacts * (size_t)nv,
                                  (size_t)(contacts * dim) * (size_t)nv,
                                  (size_t)contacts,
                                  (size_t)contacts,
                                  (size_t)nv};
    static const char *const names[ARRAYS] = {"mass", "normal", "tangent", "friction", "restitution", "velocity"};
    binding_reals arrays[ARRAYS] = {0};
    bool taken = true;
    for (int k = 0; k < ARRAYS && taken; k++)
        taken = binding_take_optional_reals(given[k], names[k], sizes[k] * (repeated[k] ? 1 : (size_t)count), &arrays[k]);
    request asked = {.call = {.count = count, .seed = seed}};
    carom_impact_data *data = taken ? PyMem_Calloc((size_t)count + 1, sizeof *data) : NULL;
    if (taken && !data) PyErr_NoMemory();
    for (int64_t i = 0; i < count && data; i++) {
        const double *at[ARRAYS];
        for (int k = 0; k < ARRAYS; k++) at[k] = arrays[k].values ? arrays[k].values + (repeated[k] ? 0 : (size_t)i * sizes[k]) : NULL;
        data[i] = (carom_impact_data){.nv = nv,
                                      .contacts = contacts,
                                      .tangent_dim = dim,
                                      .mass = at[0],
                                      .normal = at[1],
                                      .tangent = at[2],
                                      .friction = at[3],
                                      .restitution = at[4],
                                      .velocity = at[5]};
    }
    asked.call.data = data;
    PyObject *rows = data && lend_arrays(&asked, out) ? answer(&asked, law, settings, threads, progress) : NULL;
    release(&asked);
    binding_give_back(arrays, ARRAYS);
    return rows;
}

// many_impacts(law, settings, seed, threads, progress, impacts, out)
static PyObject *many_impacts(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name;
    PyObject *settings, *progress, *handles, *out[OUT_ARRAYS];
    long long seed;
    int threads;
    if (!binding_parse(arguments, "sOLiOO!(OOOO)", &name, &settings, &seed, &threads, &progress, &PyTuple_Type, &handles, &out[0], &out[1],
                       &out[2], &out[3]))
        return NULL;
    const carom_law *law = binding_law(name);
    if (!law) return NULL;
    request asked = {.call = {.count = PyTuple_Size(handles), .seed = seed}};
    const carom_impact **impacts = PyMem_Calloc((size_t)asked.call.count + 1, sizeof *impacts);
    bool taken = impacts;
    if (!impacts) PyErr_NoMemory();
    for (int64_t i = 0; i < asked.call.count && taken; i++) taken = (impacts[i] = binding_impact(PyTuple_GetItem(handles, i))) != NULL;
    asked.call.impacts = impacts;
    PyObject *rows = taken && lend_arrays(&asked, out) ? answer(&asked, law, settings, threads, progress) : NULL;
    release(&asked);
    return rows;
}

// many_seed(seed, index) -> the seed of one impact
static PyObject *many_seed(PyObject *module, PyObject *arguments) {
    (void)module;
    long long seed, index;
    if (!binding_parse(arguments, "LL", &seed, &index)) return NULL;
    return PyLong_FromLongLong((long long)carom_many_seed(seed, index));
}

PyMethodDef binding_many_methods[] = {{"many_arrays", many_arrays, METH_VARARGS, NULL},
                                      {"many_impacts", many_impacts, METH_VARARGS, NULL},
                                      {"many_seed", many_seed, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
