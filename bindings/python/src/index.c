/* SPDX-License-Identifier: Apache-2.0 */
/* The content index behind the carriers: texts that were taken in, by their labels, so that a text whose carrier was lost is found by what is in it. */
#include "core.h"

#include "provenance/index.h"

#define INDEX_GROUPS 1024 /* labels that are told apart; what comes later is of an unknown source */
#define INDEX_SCRATCH ((size_t)256 << 20)

typedef struct index_object {
    PyObject_HEAD il_index *index;
    PyObject *labels; /* a list: of each group */
    uint32_t sources;
} index_object;

static PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    const ilpy_state *s = ilpy_state_of_type(type);
    il_error err = {0};
    static char *names[] = {NULL};
    index_object *self = s != NULL && PyArg_ParseTupleAndKeywords(args, kwargs, "", names)
                             ? (index_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0)
                             : NULL;
    if (self == NULL) {
        return NULL;
    }
    self->labels = PyList_New(0);
    const il_index_limits limits = {.size = sizeof limits};
    const il_status status = il_index_new(il_host_alloc(), &limits, &self->index, &err);
    if (status != IL_OK || self->labels == NULL) {
        Py_DECREF(self);
        return status != IL_OK ? ilpy_fail(s, status, &err) : NULL;
    }
    return (PyObject *)self;
}

static void index_dealloc(PyObject *object) {
    index_object *self = (index_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    il_index_free(self->index);
    Py_CLEAR(self->labels);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* The label's group: the same label is the same group. -1 with an exception. */
static Py_ssize_t index_group(index_object *self, PyObject *label) {
    const Py_ssize_t n = PyList_Size(self->labels);
    for (Py_ssize_t i = n; i > 0; i--) {
        if (PyList_GetItem(self->labels, i - 1) == label) {
            return i - 1;
        }
    }
    if (n == INDEX_GROUPS) {
        return PyList_SetItem(self->labels, n - 1, Py_NewRef(Py_None)) == 0 ? n - 1 : -1;
    }
    return PyList_Append(self->labels, label) == 0 ? n : -1;
}

/* add(text: bytes, label) */
static PyObject *index_add(PyObject *object, PyObject *args) {
    index_object *self = (index_object *)object;
    const ilpy_state *s = ilpy_state_of_type(Py_TYPE(object));
    PyObject *text, *label;
    char *p = NULL;
    Py_ssize_t n = 0;
    il_str kept = {0}, digest = {0};
    il_error err = {0};
    il_arena scratch;
    il_buf buf;
    if (s == NULL || !PyArg_ParseTuple(args, "O!O!", &PyBytes_Type, &text, s->origin, &label) ||
        PyBytes_AsStringAndSize(text, &p, &n) < 0) {
        return NULL;
    }
    const Py_ssize_t group = index_group(self, label);
    if (group < 0) {
        return NULL;
    }
    il_arena_init(&scratch, il_host_alloc(), INDEX_SCRATCH);
    il_buf_init(&buf, &scratch, INDEX_SCRATCH / 2);
    il_status status = il_index_digest((il_str){p, (size_t)n}, &buf, &kept, &err);
    status = status == IL_OK ? il_buf_done(&buf, &digest, &err) : status;
    status = status == IL_OK ? il_index_add(self->index, ++self->sources, (uint32_t)group, digest, kept, &err) : status;
    il_arena_free(&scratch);
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

bool ilpy_index_empty(PyObject *index) { return ((index_object *)index)->sources == 0; }

PyObject *ilpy_index_label(ilpy_state *s, PyObject *index, const char *p, size_t n) {
    index_object *self = (index_object *)index;
    uint64_t groups[INDEX_GROUPS / 64] = {0};
    const size_t known = (size_t)PyList_Size(self->labels);
    bool more = false;
    il_error err = {0};
    il_arena scratch;
    il_arena_init(&scratch, il_host_alloc(), INDEX_SCRATCH);
    const il_status status = il_index_groups(self->index, (il_str){p, n}, &scratch, groups, known, &more, &err);
    il_arena_free(&scratch);
    if (status != IL_OK || more) { /* of every source, then */
        return Py_NewRef(Py_None);
    }
    PyObject *label = NULL;
    for (size_t i = 0; i < known; i++) {
        if ((groups[i / 64] >> (i % 64) & 1u) != 0) {
            PyObject *one = PyList_GetItem(self->labels, (Py_ssize_t)i);
            if (one == Py_None) {
                Py_XDECREF(label);
                return Py_NewRef(Py_None);
            }
            label = ilpy_label_add(s, label, one);
            if (label == NULL) {
                return NULL;
            }
        }
    }
    return label != NULL || il_index_complete(self->index) ? label : Py_NewRef(Py_None);
}

/* find(text: bytes) -> Origin, None, or False: nothing of it was taken in */
static PyObject *index_find(PyObject *object, PyObject *text) {
    ilpy_state *s = ilpy_state_of_type(Py_TYPE(object));
    char *p = NULL;
    Py_ssize_t n = 0;
    if (s == NULL || PyBytes_AsStringAndSize(text, &p, &n) < 0) {
        return NULL;
    }
    PyObject *label = ilpy_index_label(s, object, p, (size_t)n);
    return label != NULL || PyErr_Occurred() ? label : Py_NewRef(Py_False);
}

static PyObject *index_complete(PyObject *object, void *unused) {
    (void)unused;
    return PyBool_FromLong(il_index_complete(((index_object *)object)->index));
}

static PyGetSetDef index_getset[] = {
    {"complete", index_complete, NULL, "False: it is full, and not everything that was taken in is found", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef index_methods[] = {
    {"add", index_add, METH_VARARGS, "add(text, label, /)\n--\n\n"},
    {"find", index_find, METH_O, "find(text, /)\n--\n\nThe label, None of an unknown source, False: not found."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot index_slots[] = {{Py_tp_new, (void *)index_new},
                                    {Py_tp_dealloc, (void *)index_dealloc},
                                    {Py_tp_methods, index_methods},
                                    {Py_tp_getset, index_getset},
                                    {Py_tp_doc, (void *)"Index()\n--\n\nWhich texts were taken in, and with what labels."},
                                    {0, NULL}};
PyType_Spec ilpy_index_spec = {.name = "interlock._core.Index",
                               .basicsize = sizeof(index_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = index_slots};
