/* SPDX-License-Identifier: Apache-2.0 */
/* Python values as JSON text. Only what an object holds counts, never what its methods say: a `str` that overrides `__str__`, a `dict` that overrides `__iter__` are read
 * as the str and dict that they are. Code of the caller's runs in `default` alone. */
#include "core.h"

#include "json/node.h"

typedef struct value_text {
    char *p;
    size_t n, cap;
    PyObject *other; /* default(), or NULL */
    ilpy_state *s;
    PyObject *labels; /* a list; NULL: nobody asks for them */
    PyObject *index;  /* or NULL */
    char *path;       /* where the value stands that is being written, as a JSON Pointer */
    size_t npath, path_cap;
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

/* Whether one of eight bytes is to be escaped: below 0x20, `"` or `\\`. Bytes from 0x80 on never are. */
static bool value_escapes(const char *p) {
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t b, quote, slash;
    memcpy(&b, p, sizeof b);
    quote = b ^ (ones * '"');
    slash = b ^ (ones * '\\');
    return (((b - ones * 0x20) | (quote - ones) | (slash - ones)) & ~b & high) != 0;
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
        while (i + 8 <= n && !value_escapes(p + i)) {
            i += 8;
        }
        if (i == n) {
            break;
        }
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

static bool value_str(value_text *t, PyObject *v) { /* a key */
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

/* ---- labels ------------------------------------------------------------------------------------------------------- */

static bool value_path(value_text *t, const char *p, size_t n) {
    if (t->path_cap - t->npath < 2 * n + 1) {
        const size_t cap = 2 * (t->path_cap + 2 * n + 64);
        char *room = PyMem_Realloc(t->path, cap);
        if (room == NULL) {
            PyErr_NoMemory();
            return false;
        }
        t->path = room;
        t->path_cap = cap;
    }
    t->path[t->npath++] = '/';
    for (size_t i = 0; i < n; i++) {
        const bool odd = p[i] == '~' || p[i] == '/';
        t->path[t->npath++] = odd ? '~' : p[i];
        if (odd) {
            t->path[t->npath++] = p[i] == '~' ? '0' : '1';
        }
    }
    return true;
}

static bool value_key(value_text *t, PyObject *key) {
    Py_ssize_t n = 0;
    const char *p = t->labels != NULL ? PyUnicode_AsUTF8AndSize(key, &n) : NULL;
    return t->labels == NULL || (p != NULL && value_path(t, p, (size_t)n));
}

static bool value_place(value_text *t, Py_ssize_t i) {
    char digits[24];
    const int n = t->labels != NULL ? PyOS_snprintf(digits, sizeof digits, "%lld", (long long)i) : 0;
    return t->labels == NULL || value_path(t, digits, (size_t)n);
}

/* `label`: NULL or None is an unknown source. */
static bool value_labelled(value_text *t, PyObject *label, PyObject *by) {
    PyObject *row =
        Py_BuildValue("s#OO", t->path != NULL ? t->path : "", (Py_ssize_t)t->npath, label != NULL ? label : Py_None, by);
    const bool done = row != NULL && PyList_Append(t->labels, row) == 0;
    Py_XDECREF(row);
    return done;
}

/* More than ILPY_LABELS since `first` become one, of each of the two that found them. */
static bool value_crowded(value_text *t, Py_ssize_t first) {
    const Py_ssize_t n = PyList_Size(t->labels);
    PyObject *found[] = {t->s->by_carrier, t->s->by_content};
    PyObject *made[2] = {NULL, NULL};
    bool known[2] = {true, true}, done = true;
    if (n - first <= ILPY_LABELS) {
        return true;
    }
    for (Py_ssize_t i = first; done && i < n; i++) {
        PyObject *row = PyList_GetItem(t->labels, i), *label = PyTuple_GetItem(row, 1);
        const int which = PyTuple_GetItem(row, 2) == found[1] ? 1 : 0;
        known[which] = known[which] && label != Py_None;
        if (label != Py_None) {
            made[which] = ilpy_label_add(t->s, made[which], label);
            done = made[which] != NULL;
        }
    }
    done = done && PyList_SetSlice(t->labels, first, n, NULL) == 0;
    for (int i = 0; i < 2; i++) {
        done =
            done && (made[i] == NULL || value_labelled(t, made[i], found[i])) && (known[i] || value_labelled(t, NULL, found[i]));
        Py_XDECREF(made[i]);
    }
    return done;
}

/* A plain word of a few letters is in every text: it is nobody's content. */
static bool value_tells(const char *p, size_t n) {
    bool tells = n >= 12;
    for (size_t i = 0; !tells && n >= 3 && i < n; i++) {
        tells =
            (p[i] >= '0' && p[i] <= '9') || (i > 0 && i + 1 < n && (p[i] == '.' || p[i] == '-' || p[i] == '_' || p[i] == '@'));
    }
    return tells;
}

static bool value_found(value_text *t, const char *p, size_t n) {
    if (t->index == NULL || !value_tells(p, n)) {
        return true;
    }
    PyObject *label = ilpy_index_label(t->s, t->index, p, n);
    const bool done = label != NULL ? value_labelled(t, label, t->s->by_content) : !PyErr_Occurred();
    Py_XDECREF(label);
    return done;
}

/* ---- values ---------------------------------------------------------------------------------------------------------- */

/* `over`: the label of what the value is in, which need not be said again; NULL: none. */
static bool value_put_any(value_text *t, PyObject *v, unsigned depth, PyObject *over);

static bool value_list(value_text *t, PyObject *v, unsigned depth, PyObject *over) {
    const bool list = PyList_Check(v);
    bool done = value_put(t, "[", 1);
    for (Py_ssize_t i = 0; done && i < (list ? PyList_Size(v) : PyTuple_Size(v)); i++) {
        PyObject *item = list ? PyList_GetItem(v, i) : PyTuple_GetItem(v, i);
        Py_XINCREF(item); /* default() may empty the list */
        const size_t at = t->npath;
        done = item != NULL && (i == 0 || value_put(t, ",", 1)) && value_place(t, i) && value_put_any(t, item, depth - 1, over);
        t->npath = at;
        Py_XDECREF(item);
    }
    return done && value_put(t, "]", 1);
}

/* A key has a part in what stands under it; one without a label is looked for as any text is. */
static bool value_key_label(value_text *t, PyObject *key, PyObject *over) {
    PyObject *label;
    if (t->labels == NULL) {
        return true;
    }
    if (!ilpy_carries(t->s, key, &label)) {
        Py_ssize_t n = 0;
        const char *p = over == NULL ? PyUnicode_AsUTF8AndSize(key, &n) : NULL;
        return over != NULL || (p != NULL && value_found(t, p, (size_t)n));
    }
    return (label == over && over != NULL) || value_labelled(t, label, t->s->by_carrier);
}

/* Walked in place: a copy would ask a subclass for its keys. default() may change it, which is refused. */
static bool value_dict(value_text *t, PyObject *v, unsigned depth, PyObject *over) {
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
        const size_t at = t->npath;
        const Py_ssize_t labels = t->labels != NULL ? PyList_Size(t->labels) : 0;
        done = done && (seen++ == 0 || value_put(t, ",", 1)) && value_str(t, key) && value_put(t, ":", 1) && value_key(t, key) &&
               value_key_label(t, key, over) && value_put_any(t, value, depth - 1, over) &&
               (t->labels == NULL || depth != ILPY_DEPTH || value_crowded(t, labels));
        t->npath = at;
        Py_DECREF(key);
        Py_DECREF(value);
    }
    if (done && (seen != size || PyDict_Size(v) != size)) {
        PyErr_SetString(PyExc_ValueError, "a dict that changes while it is read");
        done = false;
    }
    return done && value_put(t, "}", 1);
}

static bool value_other(value_text *t, PyObject *v, unsigned depth, PyObject *over) {
    if (t->other == NULL) {
        PyObject *name = PyType_GetQualName(Py_TYPE(v));
        if (name != NULL) {
            PyErr_Format(PyExc_TypeError, "a value of type `%U` has no JSON form", name);
            Py_DECREF(name);
        }
        return false;
    }
    PyObject *stand = PyObject_CallFunctionObjArgs(t->other, v, NULL);
    const bool done = stand != NULL && value_put_any(t, stand, depth - 1, over);
    Py_XDECREF(stand);
    return done;
}

/* A str and bytes may be of a text that was taken in, whatever became of its carrier. */
static bool value_text_of(value_text *t, PyObject *v, PyObject *over) {
    Py_ssize_t n = 0;
    char *b = NULL;
    const bool str = PyUnicode_Check(v);
    const char *p = str ? PyUnicode_AsUTF8AndSize(v, &n) : PyBytes_AsStringAndSize(v, &b, &n) == 0 ? b : NULL;
    return p != NULL && (str ? value_quoted(t, p, (size_t)n) : value_bytes(t, v)) &&
           (over != NULL || value_found(t, p, (size_t)n));
}

static bool value_put_plain(value_text *t, PyObject *v, unsigned depth, PyObject *over) {
    if (v == Py_None) {
        return value_put(t, "null", 4);
    }
    if (PyBool_Check(v)) {
        return v == Py_True ? value_put(t, "true", 4) : value_put(t, "false", 5);
    }
    if (PyUnicode_Check(v) || PyBytes_Check(v)) {
        return value_text_of(t, v, over);
    }
    if (PyLong_Check(v) || PyFloat_Check(v)) {
        const size_t from = t->n;
        return (PyLong_Check(v) ? value_number(t, v) : value_float(t, v)) &&
               (over != NULL || value_found(t, t->p + from, t->n - from));
    }
    if (PyDict_Check(v)) {
        return value_dict(t, v, depth, over);
    }
    return PyList_Check(v) || PyTuple_Check(v) ? value_list(t, v, depth, over) : value_other(t, v, depth, over);
}

/* The value in a box; a box that has none is one that nobody could look into. */
static bool value_boxed(value_text *t, PyObject *box, unsigned depth, PyObject *over) {
    PyObject *inside = Py_XNewRef(ilpy_carried(box));
    const bool done = inside != NULL ? value_put_any(t, inside, depth - 1, over) : value_put(t, "null", 4);
    Py_XDECREF(inside);
    return done;
}

static bool value_put_any(value_text *t, PyObject *v, unsigned depth, PyObject *over) {
    PyObject *label;
    if (depth == 0) {
        PyErr_Format(PyExc_ValueError, "more than %d levels", ILPY_DEPTH);
        return false;
    }
    if (!ilpy_carries(t->s, v, &label)) {
        return value_put_plain(t, v, depth, over);
    }
    if (t->labels != NULL && (label != over || label == NULL) && !value_labelled(t, label, t->s->by_carrier)) {
        return false;
    }
    over = label != NULL ? label : Py_None;
    return PyUnicode_Check(v) || PyBytes_Check(v) || PyDict_Check(v) || PyList_Check(v) || PyTuple_Check(v)
               ? value_put_plain(t, v, depth, over)
               : value_boxed(t, v, depth, over);
}

PyObject *ilpy_json(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    if (n < 1 || n > 2) {
        PyErr_SetString(PyExc_TypeError, "json(value, default=None, /)");
        return NULL;
    }
    value_text t = {.s = ilpy_state_of(module), .other = n > 1 && args[1] != Py_None ? args[1] : NULL};
    PyObject *out = value_put_any(&t, args[0], ILPY_DEPTH, NULL) ? PyBytes_FromStringAndSize(t.p, (Py_ssize_t)t.n) : NULL;
    PyMem_Free(t.p);
    return out;
}

bool ilpy_judge(ilpy_state *s, PyObject *value, PyObject *other, PyObject *index, ilpy_read *out) {
    value_text t = {.s = s, .other = other != Py_None ? other : NULL, .labels = PyList_New(0)};
    t.index = index != NULL && index != Py_None && !ilpy_index_empty(index) ? index : NULL;
    *out = (ilpy_read){0};
    if (t.labels != NULL && value_put_any(&t, value, ILPY_DEPTH, NULL)) {
        out->labels = PyList_AsTuple(t.labels);
    }
    Py_XDECREF(t.labels);
    PyMem_Free(t.path);
    if (out->labels == NULL) {
        PyMem_Free(t.p);
        return false;
    }
    out->text = (il_str){t.p, t.n};
    return true;
}

void ilpy_read_free(ilpy_read *r) {
    PyMem_Free((char *)r->text.p);
    Py_CLEAR(r->labels);
}

PyObject *ilpy_judged(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    ilpy_state *s = ilpy_state_of(module);
    ilpy_read read;
    if (n < 2 || n > 3 || (n == 3 && args[2] != Py_None && !PyObject_TypeCheck(args[2], s->index))) {
        PyErr_SetString(PyExc_TypeError, "judged(value, default, index=None, /)");
        return NULL;
    }
    if (!ilpy_judge(s, args[0], args[1], n == 3 ? args[2] : NULL, &read)) {
        return NULL;
    }
    PyObject *out = Py_BuildValue("y#O", read.text.p, (Py_ssize_t)read.text.n, read.labels);
    ilpy_read_free(&read);
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

bool ilpy_doc_of(const ilpy_state *s, il_str text, il_json_doc **out) {
    static const il_json_limits limits = {.size = sizeof limits, .bytes = ILPY_BYTES, .depth = ILPY_DEPTH + 1};
    il_error err = {0};
    const il_status status = il_json_doc_new(il_host_alloc(), text, &limits, out, &err);
    return status == IL_OK || ilpy_fail(s, status, &err) != NULL;
}

bool ilpy_doc(const ilpy_state *s, PyObject *bytes, il_json_doc **out) {
    char *p = NULL;
    Py_ssize_t n = 0;
    *out = NULL;
    return bytes == Py_None || (PyBytes_AsStringAndSize(bytes, &p, &n) == 0 && ilpy_doc_of(s, (il_str){p, (size_t)n}, out));
}

PyObject *ilpy_digest(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s = ilpy_state_of(module);
    uint8_t digest[IL_DIGEST_BYTES];
    il_json_doc *doc = NULL;
    il_error err = {0};
    const long times = n == 2 ? PyLong_AsLong(args[1]) : 1;
    if (n < 1 || n > 2 || times < 1) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "digest(text, times=1, /)");
    }
    if (!ilpy_doc(s, args[0], &doc)) {
        return NULL;
    }
    const il_host host = il_host_system(); /* asks the processor, which takes longer than a digest */
    il_status status = IL_OK;
    for (long i = 0; i < times && status == IL_OK; i++) {
        status = il_json_digest(il_json_doc_root(doc), host.sha256, digest, &err);
    }
    il_json_doc_free(doc);
    return status == IL_OK ? ilpy_hex(digest) : ilpy_fail(s, status, &err);
}

PyObject *ilpy_of_str(il_str s) { return PyUnicode_DecodeUTF8(s.p != NULL ? s.p : "", (Py_ssize_t)s.n, "replace"); }
PyObject *ilpy_of_c(const char *s) { return s != NULL ? PyUnicode_FromString(s) : Py_NewRef(Py_None); }
