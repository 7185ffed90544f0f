/* SPDX-License-Identifier: Apache-2.0 */
/* What all carriers have in common: a label. A str has it behind its text (text.c); every other carrier is a class in Python that derives from this one, and has its label,
 * and where it is no str, bytes, list, dict or tuple its value, in its `__dict__`. */
#include "core.h"

#define CARRIER_DEPTH 64

static PyObject *carrier_member(PyObject *v, const char *name) {
    PyObject *members = PyObject_GenericGetDict(v, NULL);
    PyObject *member = members != NULL && PyDict_Check(members) ? PyDict_GetItemString(members, name) : NULL;
    Py_XDECREF(members); /* the object holds it */
    PyErr_Clear();
    return member;
}

bool ilpy_carries(const ilpy_state *s, PyObject *v, PyObject **label) {
    *label = NULL;
    if (PyUnicode_CheckExact(v) || PyLong_CheckExact(v) || !PyObject_TypeCheck(v, s->carrier)) {
        return false;
    }
    PyObject *found = PyObject_TypeCheck(v, s->text) ? *ilpy_text_label(v) : carrier_member(v, "_label");
    *label = found != NULL && PyObject_TypeCheck(found, s->origin) ? found : NULL;
    return true;
}

PyObject *ilpy_carried(PyObject *v) { return carrier_member(v, "_value"); }

/* Whether it has the room of a text of ours for a label: a class of somebody else may be made of `str` and Carrier. Never leaves an exception. */
static bool carrier_text(PyObject *self) {
    PyObject *bases = PyUnicode_Check(self) ? PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__mro__") : NULL;
    bool text = false;
    for (Py_ssize_t i = 0; bases != NULL && !text && i < PyTuple_Size(bases); i++) {
        PyObject *base = PyTuple_GetItem(bases, i);
        const ilpy_state *s = ilpy_state_of_any((PyTypeObject *)base);
        text = s != NULL && base == (PyObject *)s->text;
    }
    PyErr_Clear();
    Py_XDECREF(bases);
    return text;
}

static PyObject *carrier_label(PyObject *self, void *unused) {
    (void)unused;
    PyObject *found = carrier_text(self) ? *ilpy_text_label(self) : carrier_member(self, "_label");
    return Py_NewRef(found != NULL ? found : Py_None);
}

static PyGetSetDef carrier_getset[] = {{"label", carrier_label, NULL, "where the value came from; None: nobody knows", NULL},
                                       {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot carrier_slots[] = {{Py_tp_getset, carrier_getset}, {Py_tp_doc, (void *)"A value with a label."}, {0, NULL}};
PyType_Spec ilpy_carrier_spec = {.name = "interlock._core.Carrier",
                                 .basicsize = sizeof(PyObject),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
                                 .slots = carrier_slots};

/* ---- all labels in a value ------------------------------------------------------------------------------------ */

typedef struct carrier_walk {
    ilpy_state *s;
    PyObject *label, *other; /* owned, NULL: none yet; borrowed, NULL: nobody is asked */
} carrier_walk;

static bool carrier_add(carrier_walk *w, PyObject *label) {
    PyObject *unknown = label == NULL ? PyObject_CallFunctionObjArgs((PyObject *)w->s->origin, NULL) : Py_NewRef(label);
    w->label = unknown != NULL ? ilpy_label_add(w->s, w->label, unknown) : NULL;
    Py_XDECREF(unknown);
    return w->label != NULL;
}

static bool carrier_walk_any(carrier_walk *w, PyObject *v, unsigned depth);

static bool carrier_walk_items(carrier_walk *w, PyObject *v, unsigned depth) {
    const bool list = PyList_Check(v);
    bool done = true;
    for (Py_ssize_t i = 0; done && i < (list ? PyList_Size(v) : PyTuple_Size(v)); i++) {
        PyObject *item = list ? PyList_GetItem(v, i) : PyTuple_GetItem(v, i);
        Py_XINCREF(item);
        done = item != NULL && carrier_walk_any(w, item, depth - 1);
        Py_XDECREF(item);
    }
    return done;
}

static bool carrier_walk_members(carrier_walk *w, PyObject *v, unsigned depth) {
    const Py_ssize_t size = PyDict_Size(v);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool done = true;
    while (done && PyDict_Next(v, &at, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        done = carrier_walk_any(w, key, depth - 1) && carrier_walk_any(w, value, depth - 1);
        Py_DECREF(key);
        Py_DECREF(value);
        if (done && PyDict_Size(v) != size) {
            done = carrier_add(w, NULL); /* it changes while it is read */
            break;
        }
    }
    return done;
}

static bool carrier_walk_other(carrier_walk *w, PyObject *v, unsigned depth) {
    if (w->other == NULL) {
        return true;
    }
    PyObject *stand = PyObject_CallFunctionObjArgs(w->other, v, NULL);
    if (stand == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            return false;
        }
        PyErr_Clear();
        return true;
    }
    const bool done = carrier_walk_any(w, stand, depth - 1);
    Py_DECREF(stand);
    return done;
}

static bool carrier_walk_any(carrier_walk *w, PyObject *v, unsigned depth) {
    PyObject *label;
    if (depth == 0) {
        return carrier_add(w, NULL);
    }
    const bool carries = ilpy_carries(w->s, v, &label);
    if (carries && !carrier_add(w, label)) {
        return false;
    }
    if (PyUnicode_Check(v) || PyBytes_Check(v) || PyLong_Check(v) || PyFloat_Check(v) || v == Py_None) {
        return true;
    }
    if (PyDict_Check(v)) {
        return carrier_walk_members(w, v, depth);
    }
    if (PyList_Check(v) || PyTuple_Check(v)) {
        return carrier_walk_items(w, v, depth);
    }
    return carries || carrier_walk_other(w, v, depth);
}

PyObject *ilpy_labels_in(ilpy_state *s, PyObject *label, PyObject *value) {
    carrier_walk w = {.s = s, .label = label};
    if (label != NULL && !carrier_walk_any(&w, value, CARRIER_DEPTH)) {
        Py_CLEAR(w.label);
    }
    return w.label;
}

PyObject *ilpy_labels(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    if (n < 1 || n > 2) {
        return PyErr_Format(PyExc_TypeError, "labels(value, default=None, /)");
    }
    carrier_walk w = {.s = ilpy_state_of(module), .other = n > 1 && args[1] != Py_None ? args[1] : NULL};
    if (!carrier_walk_any(&w, args[0], CARRIER_DEPTH)) {
        Py_XDECREF(w.label);
        return NULL;
    }
    return w.label != NULL ? w.label : Py_NewRef(Py_None);
}
