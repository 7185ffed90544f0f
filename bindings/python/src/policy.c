/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include "host/file.h"
#include "policy/interbolt.h"

#define POLICY_SCRATCH ((size_t)64 << 20)

typedef struct policy_object {
    PyObject_HEAD il_bundle *bundle;
} policy_object;

const il_policy *ilpy_policy_of(PyObject *policy) { return il_bundle_policy(((policy_object *)policy)->bundle); }

/* Policy(path, document=None): the file at `path`, or the JSON text `document` (bytes) that stands for one there. */
static PyObject *policy_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    ilpy_state *s = ilpy_state_of_type(type);
    PyObject *path = NULL, *text = Py_None, *encoded = NULL;
    il_json_doc *doc = NULL;
    il_bundle *bundle = NULL;
    il_error err = {0};
    static char *names[] = {"path", "document", NULL};
    if (s == NULL || !PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &path, &text) ||
        !PyUnicode_FSConverter(path, &encoded)) {
        return NULL;
    }
    char *file = PyBytes_AsString(encoded);
    if (file == NULL || !ilpy_doc(s, text, &doc)) {
        Py_DECREF(encoded);
        return NULL;
    }
    il_status status;
    Py_BEGIN_ALLOW_THREADS /* a machine from a file is proven first */
        status = doc != NULL ? il_bundle_new(il_host_alloc(), il_json_doc_root(doc), file, &bundle, &err)
                             : il_bundle_load(il_host_alloc(), file, &bundle, &err);
    Py_END_ALLOW_THREADS il_json_doc_free(doc);
    Py_DECREF(encoded);
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    policy_object *self = (policy_object *)alloc(type, 0);
    if (self == NULL) {
        il_bundle_free(bundle);
        return NULL;
    }
    self->bundle = bundle;
    return (PyObject *)self;
}

static void policy_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    il_bundle_free(((policy_object *)self)->bundle);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *policy_fingerprint(PyObject *self, void *unused) {
    uint8_t digest[IL_DIGEST_BYTES];
    (void)unused;
    il_policy_fingerprint(ilpy_policy_of(self), digest);
    return PyBytes_FromStringAndSize((const char *)digest, sizeof digest);
}

static PyObject *policy_mode(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(il_policy_mode(ilpy_policy_of(self)) == IL_MODE_MONITOR ? "monitor" : "enforce");
}

/* (JSON text, Interbolt's fingerprint or None) of a document that has been read. NULL with an exception. */
static PyObject *policy_text(const ilpy_state *s, il_arena *arena, const il_json *doc) {
    uint8_t digest[IL_DIGEST_BYTES];
    il_str text = {0};
    il_error err = {0};
    const il_json *flat;
    il_buf b;
    const bool theirs = il_interbolt_is(doc);
    il_buf_init(&b, arena, POLICY_SCRATCH / 2);
    il_json_write(&b, doc, IL_JSON_AS_READ);
    il_status status = il_buf_done(&b, &text, &err);
    status =
        status == IL_OK && theirs ? il_interbolt_expand(arena, doc, &flat, &err) : status; /* what has a fingerprint is right */
    status = status == IL_OK && theirs ? il_interbolt_fingerprint(doc, arena, digest, &err) : status;
    return status != IL_OK ? ilpy_fail(s, status, &err)
           : theirs        ? Py_BuildValue("y#y#", text.p, (Py_ssize_t)text.n, (const char *)digest, (Py_ssize_t)sizeof digest)
                           : Py_BuildValue("y#O", text.p, (Py_ssize_t)text.n, Py_None);
}

PyObject *ilpy_document(PyObject *module, PyObject *path) {
    const ilpy_state *s = ilpy_state_of(module);
    PyObject *encoded = NULL;
    il_json *doc = NULL;
    il_error err = {0};
    il_arena arena;
    if (!PyUnicode_FSConverter(path, &encoded)) {
        return NULL;
    }
    il_arena_init(&arena, il_host_alloc(), POLICY_SCRATCH);
    const il_status status = il_file_document(&arena, PyBytes_AsString(encoded), IL_FILE_TRUSTED, &doc, &err);
    PyObject *out = status == IL_OK ? policy_text(s, &arena, doc) : ilpy_fail(s, status, &err);
    il_arena_free(&arena);
    Py_DECREF(encoded);
    return out;
}

/* trusts(origin) -> bool */
static PyObject *policy_trusts(PyObject *self, PyObject *origin) {
    const ilpy_state *s = ilpy_state_of_type(Py_TYPE(self));
    if (s == NULL || !PyObject_TypeCheck(origin, s->origin)) {
        return s != NULL ? PyErr_Format(PyExc_TypeError, "an Origin") : NULL;
    }
    const il_trust_table table = il_policy_trust(ilpy_policy_of(self));
    return PyBool_FromLong(il_origin_trust(ilpy_origin_of(origin), &table) == IL_TRUST_TRUSTED);
}

static PyGetSetDef policy_getset[] = {
    {"fingerprint", policy_fingerprint, NULL, "SHA-256 of the document and its machine, 32 bytes", NULL},
    {"mode", policy_mode, NULL, "`enforce` or `monitor`", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef policy_methods[] = {
    {"trusts", policy_trusts, METH_O, "trusts(origin, /)\n--\n\nWhether every source of it is trusted."}, {NULL, NULL, 0, NULL}};
static PyType_Slot policy_slots[] = {
    {Py_tp_new, (void *)policy_new},
    {Py_tp_dealloc, (void *)policy_dealloc},
    {Py_tp_getset, policy_getset},
    {Py_tp_methods, policy_methods},
    {Py_tp_doc, (void *)"Policy(path, document=None)\n--\n\nA compiled policy with its machine; immutable."},
    {0, NULL}};
PyType_Spec ilpy_policy_spec = {.name = "interlock._core.Policy",
                                .basicsize = sizeof(policy_object),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                .slots = policy_slots};
