/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <pthread.h>

static PyObject *module_version(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyUnicode_FromString(il_version());
}

static PyMethodDef module_methods[] = {
    {"json", (PyCFunction)(void (*)(void))ilpy_json, METH_FASTCALL,
     "json(value, default=None, /)\n--\n\nThe value's JSON text as bytes. `default(value)` says what stands for an object of "
     "another type."},
    {"judged", (PyCFunction)(void (*)(void))ilpy_judged, METH_FASTCALL,
     "judged(value, default, index=None, /)\n--\n\nThe value's JSON text, and the labels of its parts."},
    {"labels", (PyCFunction)(void (*)(void))ilpy_labels, METH_FASTCALL,
     "labels(value, default=None, /)\n--\n\nThe label of a value that is made of all that is in this one, or None."},
    {"document", ilpy_document, METH_O,
     "document(path, /)\n--\n\nA policy file as JSON text, and the fingerprint that Interbolt gives it, or None."},
    {"condition", ilpy_condition, METH_O, "condition(text, /)\n--\n\nWhat a condition asks of who calls, as a tree."},
    {"digest", (PyCFunction)(void (*)(void))ilpy_digest, METH_FASTCALL,
     "digest(text, times=1, /)\n--\n\nThe digest that a decision about arguments of this JSON text carries. `times`: computed so "
     "often, for who measures it."},
    {"frozen", (PyCFunction)(void (*)(void))ilpy_frozen, METH_FASTCALL,
     "frozen(value, other, /)\n--\n\nA copy that nobody else can change."},
    {"envelope", ilpy_envelope, METH_VARARGS,
     "envelope(value, labels, key, audience, lasts_ms, run, /)\n--\n\nA value with its labels as one text."},
    {"opened", ilpy_opened, METH_VARARGS,
     "opened(text, key, audience, policy, fresh, /)\n--\n\n(value, labels, run) of such a text."},
    {"version", module_version, METH_NOARGS, "version()\n--\n\nThe version of the library inside."},
    {NULL, NULL, 0, NULL}};

static bool module_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out) {
    *out = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *out != NULL && PyModule_AddType(module, *out) == 0;
}

static bool module_carriers(PyObject *module, ilpy_state *s) {
    s->by_carrier = PyUnicode_InternFromString("carrier");
    s->by_content = PyUnicode_InternFromString("content");
    if (s->by_carrier == NULL || s->by_content == NULL || !module_type(module, &ilpy_carrier_spec, &s->carrier)) {
        return false;
    }
    s->text = ilpy_text_type(module, s->carrier);
    return s->text != NULL && PyModule_AddType(module, s->text) == 0;
}

static unsigned module_forks;
static void module_forked(void) { module_forks++; }
unsigned ilpy_process(void) { return module_forks; }

static int module_exec(PyObject *module) {
    ilpy_state *s = ilpy_state_of(module);
    PyObject *errors = PyImport_ImportModule("interlock.errors");
    s->failure = errors != NULL ? PyObject_GetAttrString(errors, "failure") : NULL;
    Py_XDECREF(errors);
    return s->failure != NULL && ilpy_records_init(module, s) && module_type(module, &ilpy_policy_spec, &s->policy) &&
                   module_type(module, &ilpy_monitor_spec, &s->monitor) && module_type(module, &ilpy_origin_spec, &s->origin) &&
                   module_type(module, &ilpy_index_spec, &s->index) && module_carriers(module, s)
               ? 0
               : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    const ilpy_state *s = ilpy_state_of(module);
    Py_VISIT(s->failure);
    Py_VISIT((PyObject *)s->decision);
    Py_VISIT((PyObject *)s->witness);
    Py_VISIT((PyObject *)s->settlement);
    Py_VISIT((PyObject *)s->approval);
    Py_VISIT((PyObject *)s->row);
    Py_VISIT((PyObject *)s->policy);
    Py_VISIT((PyObject *)s->monitor);
    Py_VISIT((PyObject *)s->origin);
    Py_VISIT((PyObject *)s->carrier);
    Py_VISIT((PyObject *)s->text);
    Py_VISIT((PyObject *)s->index);
    for (int i = 0; i < 3; i++) {
        Py_VISIT(s->joined[i]);
    }
    return 0;
}

static int module_clear(PyObject *module) {
    ilpy_state *s = ilpy_state_of(module);
    Py_CLEAR(s->failure);
    Py_CLEAR(s->decision);
    Py_CLEAR(s->witness);
    Py_CLEAR(s->settlement);
    Py_CLEAR(s->approval);
    Py_CLEAR(s->row);
    Py_CLEAR(s->policy);
    Py_CLEAR(s->monitor);
    for (int i = 0; i < 3; i++) {
        Py_CLEAR(s->joined[i]);
    }
    Py_CLEAR(s->by_carrier);
    Py_CLEAR(s->by_content);
    Py_CLEAR(s->text);
    Py_CLEAR(s->carrier);
    Py_CLEAR(s->index);
    Py_CLEAR(s->origin);
    return 0;
}

static void module_free(void *module) { (void)module_clear(module); }

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};

static struct PyModuleDef module_def = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "interlock._core",
                                        .m_doc = "The C core. Use the package `interlock`.",
                                        .m_size = sizeof(ilpy_state),
                                        .m_methods = module_methods,
                                        .m_slots = module_slots,
                                        .m_traverse = module_traverse,
                                        .m_clear = module_clear,
                                        .m_free = module_free};

PyMODINIT_FUNC PyInit__core(void) {
    static bool watched;
    if (!watched && pthread_atfork(NULL, NULL, module_forked) != 0) {
        return PyErr_NoMemory();
    }
    watched = true;
    return PyModuleDef_Init(&module_def);
}

ilpy_state *ilpy_state_of(PyObject *module) { return PyModule_GetState(module); }
ilpy_state *ilpy_state_of_type(PyTypeObject *type) { return PyType_GetModuleState(type); }

ilpy_state *ilpy_state_of_any(PyTypeObject *type) {
    PyObject *module = PyType_GetModule(type);
    ilpy_state *s = module != NULL && PyModule_GetDef(module) == &module_def ? PyModule_GetState(module) : NULL;
    PyErr_Clear();
    return s;
}

PyObject *ilpy_fail(const ilpy_state *s, il_status status, const il_error *err) {
    PyObject *e =
        PyObject_CallFunction(s->failure, "ssII", il_status_name(status), err->msg, (unsigned)err->line, (unsigned)err->col);
    if (e != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(e), e);
        Py_DECREF(e);
    }
    return NULL;
}

PyObject *ilpy_misuse(const ilpy_state *s, const char *why) {
    il_error err = {0};
    size_t n = strlen(why);
    n = n < sizeof err.msg ? n : sizeof err.msg - 1;
    memcpy(err.msg, why, n);
    return ilpy_fail(s, IL_E_STATE, &err);
}
