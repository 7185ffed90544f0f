/* SPDX-License-Identifier: Apache-2.0 */
/* Python values as JSON text. Only what an object holds counts, never what its methods say: a `str` that overrides `__str__`, a `dict` that overrides `__iter__` are read
 * as the str and dict that they are. Code of the caller's runs in `default` alone. */
#include "core.h"

typedef struct value_text {
    char *p;
    size_t n, cap;
    PyObject *other; /* default(), or NULL */
} value_text;

static bool value_room(value_text *t, size_t n) {
    if (n > ILPY_BYTES || t->n > ILPY_BYTES - n) {
        PyErr_Format(PyExc_ValueError, "a value of more than %zu bytes", (size_t)ILPY_BYTES);
        return false;
    }
    if (t->p != NULL && t->n + n <= t->cap) {
        return true;
    }
    size_t cap = t->cap < 512 ? 512 : t->cap;
    while (cap < t->n + n) {
        cap *= 2;
    }
    char *p = PyMem_Realloc(t->p, cap);
    if (p == NULL) {
        PyErr_NoMemory();
        return false;
    }
    t->p = p;
    t->cap = cap;
    return true;
}

static bool value_put(value_text *t, const char *p, size_t n) {
    if (!value_room(t, n)) {
        return false;
    }
    memcpy(t->p + t->n, p, n);
    t->n += n;
    return true;
}

/* Well-formed UTF-8, as CPython gives it: of ASCII what JSON wants escaped, everything else as it is. */
static bool value_quoted(value_text *t, const char *p, size_t n) {
    static const char hex[] = "0123456789abcdef";
    if (n > ILPY_BYTES || !value_room(t, n + 2)) {
        return n <= ILPY_BYTES ? false : value_room(t, n);
    }
    t->p[t->n++] = '"';
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)p[i];
        if (c >= 0x20 && c != '"' && c != '\\') {
            continue;
        }
        const char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        if (!value_put(t, p + from, i - from) ||
            !(c >= 0x20 ? value_put(t, (const char[]){'\\', (char)c}, 2) : value_put(t, escape, 6))) {
            return false;
        }
        from = i + 1;
    }
    return value_put(t, p + from, n - from) && value_put(t, "\"", 1);
}

static bool value_str(value_text *t, PyObject *v) {
    Py_ssize_t n = 0;
    const char *p = PyUnicode_AsUTF8AndSize(v, &n);
    return p != NULL && value_quoted(t, p, (size_t)n);
}

static bool value_number(value_text *t, PyObject *v) {
    int over = 0;
    const long long small = PyLong_AsLongLongAndOverflow(v, &over);
    if (over == 0) {
        char digits[32];
        const int n = PyErr_Occurred() ? -1 : PyOS_snprintf(digits, sizeof digits, "%lld", small);
        return n > 0 && value_put(t, digits, (size_t)n);
    }
    PyObject *text = PyNumber_ToBase(v, 10); /* ValueError beyond sys.get_int_max_str_digits() */
    Py_ssize_t n = 0;
    const char *p = text != NULL ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
    const bool done = p != NULL && value_put(t, p, (size_t)n);
    Py_XDECREF(text);
    return done;
}

static bool value_float(value_text *t, PyObject *v) {
    const double d = PyFloat_AsDouble(v);
    if (d != d || d - d != 0.0) {
        PyErr_SetString(PyExc_ValueError, "NaN and infinities have no JSON form");
        return false;
    }
    char *p = PyOS_double_to_string(d, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    const bool done = p != NULL && value_put(t, p, strlen(p));
    PyMem_Free(p);
    return done;
}

/* As the text that they are in UTF-8, else as base64. */
static bool value_bytes(value_text *t, PyObject *v) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *p = NULL;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(v, &p, &size) < 0) {
        return false;
    }
    PyObject *text = PyUnicode_DecodeUTF8(p, size, "strict");
    if (text != NULL) {
        const bool done = value_quoted(t, p, (size_t)size);
        Py_DECREF(text);
        return done;
    }
    PyErr_Clear();
    const unsigned char *b = (const unsigned char *)p;
    const size_t n = (size_t)size;
    if (!value_put(t, "\"", 1)) {
        return false;
    }
    for (size_t i = 0; i < n; i += 3) {
        const unsigned a = b[i], c = i + 1 < n ? b[i + 1] : 0, d = i + 2 < n ? b[i + 2] : 0;
        const char four[4] = {letters[a >> 2], letters[(a & 3) << 4 | c >> 4], i + 1 < n ? letters[(c & 15) << 2 | d >> 6] : '=',
                              i + 2 < n ? letters[d & 63] : '='};
        if (!value_put(t, four, 4)) {
            return false;
        }
    }
    return value_put(t, "\"", 1);
}

static bool value_put_any(value_text *t, PyObject *v, unsigned depth);

static bool value_list(value_text *t, PyObject *v, unsigned depth) {
    const bool list = PyList_Check(v);
    bool done = value_put(t, "[", 1);
    for (Py_ssize_t i = 0; done && i < (list ? PyList_Size(v) : PyTuple_Size(v)); i++) {
        PyObject *item = list ? PyList_GetItem(v, i) : PyTuple_GetItem(v, i);
        Py_XINCREF(item); /* default() may empty the list */
        done = item != NULL && (i == 0 || value_put(t, ",", 1)) && value_put_any(t, item, depth - 1);
        Py_XDECREF(item);
    }
    return done && value_put(t, "]", 1);
}

/* Walked in place: a copy would ask a subclass for its keys. default() may change it, which is refused. */
static bool value_dict(value_text *t, PyObject *v, unsigned depth) {
    const Py_ssize_t size = PyDict_Size(v);
    PyObject *key, *value;
    Py_ssize_t at = 0, seen = 0;
    bool done = value_put(t, "{", 1);
    while (done && PyDict_Next(v, &at, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        if (!PyUnicode_Check(key)) {
            PyErr_SetString(PyExc_ValueError, "a key that is no text");
            done = false;
        }
        done = done && (seen++ == 0 || value_put(t, ",", 1)) && value_str(t, key) && value_put(t, ":", 1) &&
               value_put_any(t, value, depth - 1);
        Py_DECREF(key);
        Py_DECREF(value);
    }
    if (done && (seen != size || PyDict_Size(v) != size)) {
        PyErr_SetString(PyExc_ValueError, "a dict that changes while it is read");
        done = false;
    }
    return done && value_put(t, "}", 1);
}

static bool value_other(value_text *t, PyObject *v, unsigned depth) {
    if (t->other == NULL) {
        PyObject *name = PyType_GetQualName(Py_TYPE(v));
        if (name != NULL) {
            PyErr_Format(PyExc_TypeError, "a value of type `%U` has no JSON form", name);
            Py_DECREF(name);
        }
        return false;
    }
    PyObject *stand = PyObject_CallFunctionObjArgs(t->other, v, NULL);
    const bool done = stand != NULL && value_put_any(t, stand, depth - 1);
    Py_XDECREF(stand);
    return done;
}

static bool value_put_any(value_text *t, PyObject *v, unsigned depth) {
    if (depth == 0) {
        PyErr_Format(PyExc_ValueError, "more than %d levels", ILPY_DEPTH);
        return false;
    }
    if (v == Py_None) {
        return value_put(t, "null", 4);
    }
    if (PyBool_Check(v)) {
        return v == Py_True ? value_put(t, "true", 4) : value_put(t, "false", 5);
    }
    if (PyUnicode_Check(v)) {
        return value_str(t, v);
    }
    if (PyLong_Check(v)) {
        return value_number(t, v);
    }
    if (PyFloat_Check(v)) {
        return value_float(t, v);
    }
    if (PyDict_Check(v)) {
        return value_dict(t, v, depth);
    }
    if (PyList_Check(v) || PyTuple_Check(v)) {
        return value_list(t, v, depth);
    }
    return PyBytes_Check(v) ? value_bytes(t, v) : value_other(t, v, depth);
}

PyObject *ilpy_json(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    (void)module;
    if (n < 1 || n > 2) {
        PyErr_SetString(PyExc_TypeError, "json(value, default=None, /)");
        return NULL;
    }
    value_text t = {.other = n > 1 && args[1] != Py_None ? args[1] : NULL};
    PyObject *out = value_put_any(&t, args[0], ILPY_DEPTH) ? PyBytes_FromStringAndSize(t.p, (Py_ssize_t)t.n) : NULL;
    PyMem_Free(t.p);
    return out;
}

bool ilpy_str(PyObject *v, const char *what, bool none, il_str *out) {
    *out = (il_str){0};
    if (none && v == Py_None) {
        return true;
    }
    if (!PyUnicode_Check(v)) {
        PyErr_Format(PyExc_TypeError, "%s is a str", what);
        return false;
    }
    Py_ssize_t n = 0;
    out->p = PyUnicode_AsUTF8AndSize(v, &n);
    out->n = (size_t)n;
    return out->p != NULL;
}

bool ilpy_doc(const ilpy_state *s, PyObject *bytes, il_json_doc **out) {
    static const il_json_limits limits = {.size = sizeof limits, .bytes = ILPY_BYTES, .depth = ILPY_DEPTH + 1};
    char *p = NULL;
    Py_ssize_t n = 0;
    il_error err = {0};
    *out = NULL;
    if (bytes == Py_None) {
        return true;
    }
    if (PyBytes_AsStringAndSize(bytes, &p, &n) < 0) {
        return false;
    }
    const il_status status = il_json_doc_new(il_host_alloc(), (il_str){p, (size_t)n}, &limits, out, &err);
    return status == IL_OK || ilpy_fail(s, status, &err) != NULL;
}

PyObject *ilpy_of_str(il_str s) { return PyUnicode_DecodeUTF8(s.p != NULL ? s.p : "", (Py_ssize_t)s.n, "replace"); }
PyObject *ilpy_of_c(const char *s) { return s != NULL ? PyUnicode_FromString(s) : Py_NewRef(Py_None); }
