/* SPDX-License-Identifier: Apache-2.0 */
/* `Tainted`: a str with a label, which goes with what its methods and operators make of it. What the label of each is stands in docs (bindings/python/docs/carriers.md).
 *
 * The label is behind the fields of a str, where a subclass of Python's would have a slot. The module is found by the label, whose type cannot be derived from. */
#include "core.h"

static Py_ssize_t text_base_size(void) {
    PyObject *size = PyObject_GetAttrString((PyObject *)&PyUnicode_Type, "__basicsize__");
    const Py_ssize_t n = size != NULL ? PyLong_AsSsize_t(size) : -1;
    Py_XDECREF(size);
    return n;
}

/* What CPython laid out cannot change while it runs. */
PyObject **ilpy_text_label(PyObject *text) {
    static Py_ssize_t size;
    if (size == 0) {
        size = text_base_size();
    }
    return (PyObject **)(void *)((char *)text + size);
}

static ilpy_state *text_state(PyObject *text) { return ilpy_state_of_type(Py_TYPE(*ilpy_text_label(text))); }

static PyObject *text_make(PyTypeObject *type, PyObject *plain, PyObject *label) {
    PyObject *args = PyTuple_New(1);
    if (args == NULL) {
        return NULL;
    }
    (void)PyTuple_SetItem(args, 0, Py_NewRef(plain));
    PyObject *self = ((newfunc)PyType_GetSlot(&PyUnicode_Type, Py_tp_new))(type, args, NULL);
    Py_DECREF(args);
    if (self != NULL) {
        *ilpy_text_label(self) = Py_NewRef(label);
    }
    return self;
}

PyObject *ilpy_text(const ilpy_state *s, PyObject *plain, PyObject *label) {
    PyObject *self = plain != NULL && label != NULL ? text_make(s->text, plain, label) : NULL;
    Py_XDECREF(plain);
    Py_XDECREF(label);
    return self;
}

/* Tainted(value, label) */
static PyObject *text_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"value", "label", NULL};
    PyObject *value, *label;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UO", names, &value, &label)) {
        return NULL;
    }
    PyTypeObject *kind = Py_TYPE(label);
    PyObject *name = PyType_GetQualName(kind);
    ilpy_state *s = name != NULL && PyUnicode_CompareWithASCIIString(name, "Origin") == 0 ? ilpy_state_of_type(kind) : NULL;
    Py_XDECREF(name);
    if (s == NULL || s->origin != kind) {
        PyErr_Clear();
        return PyErr_Format(PyExc_TypeError, "label is a Label");
    }
    PyObject *before = NULL, *both = NULL;
    if (!ilpy_carries(s, value, &before) || before == label) {
        both = Py_NewRef(label);
    } else if (before != NULL) { /* a second label adds */
        both = ilpy_label_join(s, before, label);
    }
    PyObject *plain = both != NULL ? PyUnicode_FromObject(value) : NULL,
             *self = plain != NULL ? text_make(type, plain, both) : NULL;
    Py_XDECREF(plain);
    Py_XDECREF(both);
    return self != NULL || PyErr_Occurred() ? self : PyErr_Format(PyExc_TypeError, "a carrier without a label");
}

static void text_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_CLEAR(*ilpy_text_label(self));
    ((destructor)PyType_GetSlot(&PyUnicode_Type, Py_tp_dealloc))(self);
    Py_DECREF(type);
}

/* ---- results: each takes `made` over, which may be NULL ---------------------------------------------------------- */

/* The label of what was made of `self` alone: an endorsement is for the very text that it was given for. */
static PyObject *text_label_of(const ilpy_state *s, PyObject *self, PyObject *made) {
    PyObject *label = *ilpy_text_label(self);
    return !ilpy_label_endorsed(label) || PyUnicode_Compare(made, self) == 0 ? Py_NewRef(label) : ilpy_label_edited(s, label);
}

static PyObject *text_own(PyObject *self, PyObject *made) {
    const ilpy_state *s = made != NULL ? text_state(self) : NULL;
    if (s == NULL) {
        Py_XDECREF(made);
        return NULL;
    }
    return PyUnicode_CheckExact(made) ? ilpy_text(s, made, text_label_of(s, self, made)) : made;
}

static PyObject *text_own_list(PyObject *self, PyObject *made) {
    for (Py_ssize_t i = 0; made != NULL && i < PyList_Size(made); i++) {
        PyObject *one = text_own(self, Py_NewRef(PyList_GetItem(made, i)));
        if (one == NULL || PyList_SetItem(made, i, one) < 0) {
            Py_CLEAR(made);
        }
    }
    return made;
}

static PyObject *text_own_tuple(PyObject *self, PyObject *made) {
    PyObject *all = made != NULL ? PyTuple_New(PyTuple_Size(made)) : NULL;
    for (Py_ssize_t i = 0; all != NULL && i < PyTuple_Size(made); i++) {
        PyObject *one = text_own(self, Py_NewRef(PyTuple_GetItem(made, i)));
        if (one == NULL || PyTuple_SetItem(all, i, one) < 0) {
            Py_CLEAR(all);
        }
    }
    Py_XDECREF(made);
    return all;
}

/* Made of `self` and of what is in `other`, at any depth. */
static PyObject *text_with(PyObject *self, PyObject *made, PyObject *other) {
    ilpy_state *s = made != NULL ? text_state(self) : NULL;
    PyObject *before = s != NULL ? text_label_of(s, self, made) : NULL;
    PyObject *label = before != NULL ? ilpy_labels_in(s, Py_NewRef(before), other) : NULL;
    const bool more = label != before && label != NULL;
    Py_XDECREF(before);
    if (more && ilpy_label_endorsed(label)) {
        PyObject *edited = ilpy_label_edited(s, label);
        Py_DECREF(label);
        label = edited;
    }
    if (s == NULL) {
        Py_XDECREF(made);
        return NULL;
    }
    return ilpy_text(s, made, label);
}

/* ---- methods of str ------------------------------------------------------------------------------------------------ */

/* What `str.name(self, *args, **kwargs)` gives. */
static PyObject *text_asked(PyObject *self, const char *name, PyObject *args, PyObject *kwargs) {
    PyObject *method = PyObject_GetAttrString((PyObject *)&PyUnicode_Type, name);
    const Py_ssize_t n = args != NULL ? PyTuple_Size(args) : 0;
    PyObject *all = method != NULL ? PyTuple_New(n + 1) : NULL, *made = NULL;
    if (all != NULL) {
        (void)PyTuple_SetItem(all, 0, Py_NewRef(self));
        for (Py_ssize_t i = 0; i < n; i++) {
            (void)PyTuple_SetItem(all, i + 1, Py_NewRef(PyTuple_GetItem(args, i)));
        }
        made = PyObject_Call(method, all, kwargs);
    }
    Py_XDECREF(all);
    Py_XDECREF(method);
    return made;
}

#define TEXT_OWN(X) TEXT_LETTERS(X) TEXT_ENDS(X) X(zfill) X(expandtabs) X(__format__)
#define TEXT_LETTERS(X) X(upper) X(lower) X(casefold) X(capitalize) X(title) X(swapcase)
#define TEXT_ENDS(X) X(strip) X(lstrip) X(rstrip) X(removeprefix) X(removesuffix)
#define TEXT_LISTS(X) X(split) X(rsplit) X(splitlines)
#define TEXT_TUPLES(X) X(partition) X(rpartition)
#define TEXT_WITH(X) X(center) X(ljust) X(rjust) X(format) X(format_map) X(translate)

#define TEXT_METHOD_OWN(name)                                                        \
    static PyObject *text_##name(PyObject *self, PyObject *args, PyObject *kwargs) { \
        return text_own(self, text_asked(self, #name, args, kwargs));                \
    }
#define TEXT_METHOD_LIST(name)                                                       \
    static PyObject *text_##name(PyObject *self, PyObject *args, PyObject *kwargs) { \
        return text_own_list(self, text_asked(self, #name, args, kwargs));           \
    }
#define TEXT_METHOD_TUPLE(name)                                                      \
    static PyObject *text_##name(PyObject *self, PyObject *args, PyObject *kwargs) { \
        return text_own_tuple(self, text_asked(self, #name, args, kwargs));          \
    }
/* The arguments become part of the text. */
#define TEXT_METHOD_WITH(name)                                                         \
    static PyObject *text_##name(PyObject *self, PyObject *args, PyObject *kwargs) {   \
        PyObject *made = text_with(self, text_asked(self, #name, args, kwargs), args); \
        return made != NULL && kwargs != NULL ? text_and(made, kwargs) : made;         \
    }

/* A text of ours that was just made, with the labels in `more` as well. */
static PyObject *text_and(PyObject *made, PyObject *more) {
    PyObject **label = ilpy_text_label(made);
    ilpy_state *s = text_state(made);
    *label = s != NULL ? ilpy_labels_in(s, *label, more) : *label;
    if (*label == NULL || s == NULL) {
        Py_CLEAR(made);
    }
    return made;
}

TEXT_OWN(TEXT_METHOD_OWN)
TEXT_LISTS(TEXT_METHOD_LIST)
TEXT_TUPLES(TEXT_METHOD_TUPLE)
TEXT_WITH(TEXT_METHOD_WITH)

static PyObject *text_replace(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *made = text_asked(self, "replace", args, kwargs);
    return made != NULL ? text_with(self, made, PyTuple_GetItem(args, 1)) : NULL;
}

/* An iterable is read once. */
static PyObject *text_join(PyObject *self, PyObject *items) {
    PyObject *all = PySequence_List(items);
    PyObject *made = all != NULL ? PyUnicode_Join(self, all) : NULL;
    made = made != NULL && !PyUnicode_CheckExact(made) ? PyUnicode_FromObject(made) : made;
    PyObject *out = made != NULL ? text_with(self, made, all) : NULL;
    Py_XDECREF(all);
    return out;
}

static PyObject *text_elsewhere(const char *module, const char *name) {
    PyObject *m = PyImport_ImportModule(module), *found = m != NULL ? PyObject_GetAttrString(m, name) : NULL;
    Py_XDECREF(m);
    return found;
}

static PyObject *text_encode(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *made = text_asked(self, "encode", args, kwargs);
    const ilpy_state *s = made != NULL ? text_state(self) : NULL;
    PyObject *type = s != NULL ? text_elsewhere("interlock.carrier.octets", "TaintedBytes") : NULL;
    PyObject *label = type != NULL ? ilpy_label_edited(s, *ilpy_text_label(self)) : NULL;
    PyObject *out = label != NULL ? PyObject_CallFunctionObjArgs(type, made, label, NULL) : NULL;
    Py_XDECREF(label);
    Py_XDECREF(type);
    Py_XDECREF(made);
    return out;
}

static PyObject *text_reduce(PyObject *self, PyObject *protocol) {
    (void)protocol;
    PyObject *made = text_elsewhere("interlock.carrier.pickled", "restored"), *plain = PyUnicode_FromObject(self);
    PyObject *out = made != NULL && plain != NULL ? Py_BuildValue("O(OO)", made, plain, *ilpy_text_label(self)) : NULL;
    Py_XDECREF(made);
    Py_XDECREF(plain);
    return out;
}

static PyObject *text_same(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(self);
}

/* ---- operators --------------------------------------------------------------------------------------------------------- */

static bool text_is(PyObject *v) {
    destructor free_it = (destructor)PyType_GetSlot(Py_TYPE(v), Py_tp_dealloc);
    if (free_it == text_dealloc) {
        return true;
    }
    if (PyUnicode_CheckExact(v) || !PyUnicode_Check(v)) {
        return false;
    }
    PyObject *mro = PyObject_GetAttrString((PyObject *)Py_TYPE(v), "__mro__"); /* a class of Python's on top of ours */
    bool found = false;
    for (Py_ssize_t i = 0; mro != NULL && !found && i < PyTuple_Size(mro); i++) {
        found = (destructor)PyType_GetSlot((PyTypeObject *)PyTuple_GetItem(mro, i), Py_tp_dealloc) == text_dealloc;
    }
    Py_XDECREF(mro);
    PyErr_Clear();
    return found;
}

static PyObject *text_binary(PyObject *v, PyObject *w, PyObject *made) {
    if (text_is(v)) {
        return text_with(v, made, w);
    }
    return text_own(w, made != NULL && !PyUnicode_CheckExact(made) ? PyUnicode_FromObject(made) : made);
}

static PyObject *text_add(PyObject *v, PyObject *w) {
    if (!PyUnicode_Check(v) || !PyUnicode_Check(w)) {
        return Py_NewRef(Py_NotImplemented);
    }
    return text_binary(v, w, PyUnicode_Concat(v, w));
}

static PyObject *text_concat(PyObject *self, PyObject *w) {
    PyObject *name = PyUnicode_Check(w) ? NULL : PyType_GetQualName(Py_TYPE(w));
    if (name != NULL) {
        PyErr_Format(PyExc_TypeError, "can only concatenate str (not \"%U\") to str", name);
        Py_DECREF(name);
    }
    return PyUnicode_Check(w) ? text_add(self, w) : NULL;
}

static PyObject *text_remainder(PyObject *v, PyObject *w) {
    if (!PyUnicode_Check(v)) {
        return Py_NewRef(Py_NotImplemented);
    }
    return text_binary(v, w, PyUnicode_Format(v, w));
}

static PyObject *text_repeat(PyObject *self, Py_ssize_t n) {
    return text_own(self, ((ssizeargfunc)PyType_GetSlot(&PyUnicode_Type, Py_sq_repeat))(self, n));
}
static PyObject *text_item(PyObject *self, Py_ssize_t i) {
    return text_own(self, ((ssizeargfunc)PyType_GetSlot(&PyUnicode_Type, Py_sq_item))(self, i));
}
static PyObject *text_subscript(PyObject *self, PyObject *key) {
    PyObject *made = ((binaryfunc)PyType_GetSlot(&PyUnicode_Type, Py_mp_subscript))(self, key);
    return text_own(self, made != NULL && !PyUnicode_CheckExact(made) ? PyUnicode_FromObject(made) : made);
}
static PyObject *text_str(PyObject *self) { return Py_NewRef(self); }
static PyObject *text_repr(PyObject *self) {
    return text_own(self, ((reprfunc)PyType_GetSlot(&PyUnicode_Type, Py_tp_repr))(self));
}

#define TEXT_ROW(name) {#name, (PyCFunction)(void (*)(void))text_##name, METH_VARARGS | METH_KEYWORDS, NULL},
static PyMethodDef text_methods[] = {TEXT_OWN(TEXT_ROW) TEXT_LISTS(TEXT_ROW) TEXT_TUPLES(TEXT_ROW) TEXT_WITH(TEXT_ROW)
                                         TEXT_ROW(replace) TEXT_ROW(encode){"join", text_join, METH_O, NULL},
                                     {"__reduce_ex__", text_reduce, METH_O, NULL},
                                     {"__copy__", text_same, METH_NOARGS, NULL},
                                     {"__deepcopy__", text_same, METH_O, NULL},
                                     {NULL, NULL, 0, NULL}};
static PyType_Slot text_slots[] = {{Py_tp_new, (void *)text_new},
                                   {Py_tp_dealloc, (void *)text_dealloc},
                                   {Py_tp_methods, text_methods},
                                   {Py_tp_str, (void *)text_str},
                                   {Py_tp_repr, (void *)text_repr},
                                   {Py_tp_iter, (void *)PySeqIter_New},
                                   {Py_nb_add, (void *)text_add},
                                   {Py_nb_remainder, (void *)text_remainder},
                                   {Py_sq_concat, (void *)text_concat},
                                   {Py_sq_repeat, (void *)text_repeat},
                                   {Py_sq_item, (void *)text_item},
                                   {Py_mp_subscript, (void *)text_subscript},
                                   {Py_tp_doc, (void *)"Tainted(value, label)\n--\n\nA str with a label."},
                                   {0, NULL}};

PyTypeObject *ilpy_text_type(PyObject *module, PyTypeObject *carrier) {
    const Py_ssize_t size = text_base_size();
    PyType_Spec spec = {.name = "interlock._core.Tainted",
                        .basicsize = (int)(size + (Py_ssize_t)sizeof(PyObject *)),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
                        .slots = text_slots};
    PyObject *bases = size > 0 ? PyTuple_Pack(2, (PyObject *)&PyUnicode_Type, (PyObject *)carrier) : NULL;
    PyObject *type = bases != NULL ? PyType_FromModuleAndSpec(module, &spec, bases) : NULL;
    Py_XDECREF(bases);
    return (PyTypeObject *)type;
}
