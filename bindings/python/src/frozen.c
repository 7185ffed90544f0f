/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a value that nobody else can change: what is judged, and what the function gets. */
#include "core.h"

#define FROZEN_DEPTH 64

static PyObject *frozen_any(const ilpy_state *s, PyObject *v, PyObject *other, unsigned depth);

static PyObject *frozen_dict(const ilpy_state *s, PyObject *v, PyObject *other, unsigned depth) {
    PyObject *made = PyDict_New(), *key, *value;
    const Py_ssize_t size = PyDict_Size(v);
    Py_ssize_t at = 0;
    while (made != NULL && PyDict_Next(v, &at, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        PyObject *copy = frozen_any(s, value, other, depth - 1);
        if (copy == NULL || PyDict_SetItem(made, key, copy) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(copy);
        Py_DECREF(key);
        Py_DECREF(value);
        if (made != NULL && PyDict_Size(v) != size) {
            PyErr_SetString(PyExc_ValueError, "a dict that changes while it is read");
            Py_CLEAR(made);
        }
    }
    return made;
}

static PyObject *frozen_items(const ilpy_state *s, PyObject *v, PyObject *other, unsigned depth) {
    PyObject *made = PyList_New(0);
    const bool list = PyList_CheckExact(v);
    for (Py_ssize_t i = 0; made != NULL && i < (list ? PyList_Size(v) : PyTuple_Size(v)); i++) {
        PyObject *item = list ? PyList_GetItem(v, i) : PyTuple_GetItem(v, i);
        Py_XINCREF(item); /* other() may empty the list */
        PyObject *copy = item != NULL ? frozen_any(s, item, other, depth - 1) : NULL;
        if (copy == NULL || PyList_Append(made, copy) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(copy);
        Py_XDECREF(item);
    }
    if (made != NULL && !list) {
        PyObject *tuple = PyList_AsTuple(made);
        Py_DECREF(made);
        made = tuple;
    }
    return made;
}

static PyObject *frozen_any(const ilpy_state *s, PyObject *v, PyObject *other, unsigned depth) {
    if (PyUnicode_CheckExact(v) || v == Py_None || PyLong_CheckExact(v) || PyFloat_CheckExact(v) || PyBool_Check(v) ||
        PyBytes_CheckExact(v) || Py_TYPE(v) == s->text || depth == 0) { /* what lies deeper is too deep to be judged */
        return Py_NewRef(v);
    }
    if (PyDict_CheckExact(v)) {
        return frozen_dict(s, v, other, depth);
    }
    return PyList_CheckExact(v) || PyTuple_CheckExact(v) ? frozen_items(s, v, other, depth)
                                                         : PyObject_CallFunctionObjArgs(other, v, NULL);
}

PyObject *ilpy_frozen(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    if (n != 2) {
        return PyErr_Format(PyExc_TypeError, "frozen(value, other, /)");
    }
    return frozen_any(ilpy_state_of(module), args[0], args[1], FROZEN_DEPTH);
}
