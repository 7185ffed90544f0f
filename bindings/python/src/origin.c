/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of values: immutable, made of others. */
#include "core.h"

typedef struct origin_object {
    PyObject_HEAD il_origin *origin;
    PyObject *value_id; /* made when it is asked for */
    PyObject *edited;   /* the label of an edit; made when it is asked for, NULL where it is this one */
} origin_object;

const il_origin *ilpy_origin_of(PyObject *origin) { return ((origin_object *)origin)->origin; }

static PyObject *origin_of(PyTypeObject *type, const ilpy_state *s, il_status status, il_origin *origin, const il_error *err) {
    if (status != IL_OK) {
        return ilpy_fail(s, status, err);
    }
    origin_object *self = (origin_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL) {
        il_origin_free(origin);
        return NULL;
    }
    self->origin = origin;
    return (PyObject *)self;
}

PyObject *ilpy_label_of(const ilpy_state *s, il_origin *origin) { return origin_of(s->origin, s, IL_OK, origin, NULL); }

/* Origin(source=None, agent=""): None is what nobody knows. */
static PyObject *origin_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    const ilpy_state *s = ilpy_state_of_type(type);
    PyObject *source = Py_None, *agent = Py_None;
    il_str name, by;
    il_origin *o = NULL;
    il_error err = {0};
    static char *names[] = {"source", "agent", NULL};
    if (s == NULL || !PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &source, &agent) ||
        !ilpy_str(source, "source", true, &name) || !ilpy_str(agent, "agent", true, &by)) {
        return NULL;
    }
    const il_status status =
        source == Py_None ? il_origin_unknown(il_host_alloc(), &o, &err) : il_origin_new(il_host_alloc(), name, by, &o, &err);
    return origin_of(type, s, status, o, &err);
}

static void origin_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    il_origin_free(((origin_object *)self)->origin);
    Py_CLEAR(((origin_object *)self)->value_id);
    Py_CLEAR(((origin_object *)self)->edited);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* The origins in a tuple or list, in memory of PyMem's; None among them is NULL where `none`. */
static const il_origin **origin_list(const ilpy_state *s, PyObject *all, bool none, size_t *n) {
    const Py_ssize_t size = PyTuple_Check(all) ? PyTuple_Size(all) : -1;
    if (size < 0) {
        return (const il_origin **)PyErr_Format(PyExc_TypeError, "a tuple of Origin");
    }
    const il_origin **list = PyMem_Calloc((size_t)size + 1, sizeof(const il_origin *));
    if (list == NULL) {
        return (const il_origin **)PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *o = PyTuple_GetItem(all, i);
        if (o == NULL || !(PyObject_TypeCheck(o, s->origin) || (none && o == Py_None))) {
            PyMem_Free((void *)list);
            return o != NULL ? (const il_origin **)PyErr_Format(PyExc_TypeError, "an Origin") : NULL;
        }
        list[i] = o == Py_None ? NULL : ilpy_origin_of(o);
    }
    *n = (size_t)size;
    return list;
}

/* merge(origins: tuple) */
static PyObject *origin_merge(PyObject *class, PyObject *all) {
    const ilpy_state *s = ilpy_state_of_type((PyTypeObject *)class);
    size_t n = 0;
    il_origin *o = NULL;
    il_error err = {0};
    const il_origin **list = s != NULL ? origin_list(s, all, false, &n) : NULL;
    if (list == NULL) {
        return NULL;
    }
    const il_status status = il_origin_merge(il_host_alloc(), list, n, &o, &err);
    PyMem_Free((void *)list);
    return origin_of((PyTypeObject *)class, s, status, o, &err);
}

/* derive(hop, agent, origins: tuple, in which None is a value without a label) */
static PyObject *origin_derive(PyObject *class, PyObject *args) {
    const ilpy_state *s = ilpy_state_of_type((PyTypeObject *)class);
    PyObject *hop, *agent, *all;
    il_str name, by;
    size_t n = 0;
    il_origin *o = NULL;
    il_error err = {0};
    if (s == NULL || !PyArg_ParseTuple(args, "OOO", &hop, &agent, &all) || !ilpy_str(hop, "hop", false, &name) ||
        !ilpy_str(agent, "agent", true, &by)) {
        return NULL;
    }
    const il_origin **list = origin_list(s, all, true, &n);
    if (list == NULL) {
        return NULL;
    }
    const il_status status = il_origin_derive(il_host_alloc(), name, by, list, n, &o, &err);
    PyMem_Free((void *)list);
    return origin_of((PyTypeObject *)class, s, status, o, &err);
}

/* endorse(kind, by, value: bytes of JSON) */
static PyObject *origin_endorse(PyObject *self, PyObject *args) {
    const ilpy_state *s = ilpy_state_of_type(Py_TYPE(self));
    PyObject *kind, *by, *value;
    il_json_doc *doc = NULL;
    il_origin *o = NULL;
    il_error err = {0};
    il_endorsement e = {.size = sizeof e};
    if (s == NULL || !PyArg_ParseTuple(args, "OOO", &kind, &by, &value) || !ilpy_str(kind, "kind", false, &e.kind) ||
        !ilpy_str(by, "by", false, &e.by) || !ilpy_doc(s, value, &doc)) {
        return NULL;
    }
    il_status status = il_value_digest(il_json_doc_root(doc), e.digest, &err);
    status = status == IL_OK ? il_origin_endorse(il_host_alloc(), ilpy_origin_of(self), &e, &o, &err) : status;
    il_json_doc_free(doc);
    return origin_of(Py_TYPE(self), s, status, o, &err);
}

static PyObject *origin_names(const il_origin *o, size_t n, il_str (*name)(const il_origin *o, size_t i)) {
    PyObject *all = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; all != NULL && i < n; i++) {
        PyObject *text = ilpy_of_str(name(o, i));
        if (text == NULL || PyTuple_SetItem(all, (Py_ssize_t)i, text) < 0) {
            Py_CLEAR(all);
        }
    }
    return all;
}
static PyObject *origin_source(PyObject *self, void *unused) {
    (void)unused;
    return ilpy_of_str(il_origin_source(ilpy_origin_of(self)));
}
static PyObject *origin_lineage(PyObject *self, void *unused) {
    (void)unused;
    return origin_names(ilpy_origin_of(self), il_origin_sources(ilpy_origin_of(self)), il_origin_lineage);
}
static PyObject *origin_agents(PyObject *self, void *unused) {
    (void)unused;
    return origin_names(ilpy_origin_of(self), il_origin_agents(ilpy_origin_of(self)), il_origin_agent);
}
static il_str origin_kind(const il_origin *o, size_t i) { return il_origin_endorsement(o, i).kind; }
static PyObject *origin_endorsements(PyObject *self, void *unused) {
    (void)unused;
    return origin_names(ilpy_origin_of(self), il_origin_endorsements(ilpy_origin_of(self)), origin_kind);
}
static PyObject *origin_more(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(il_origin_more(ilpy_origin_of(self)));
}

/* A UUID of version 4. */
static PyObject *origin_value_id(PyObject *self, void *unused) {
    origin_object *o = (origin_object *)self;
    const il_host host = il_host_system();
    uint8_t b[16];
    char text[37];
    size_t n = 0;
    (void)unused;
    if (o->value_id == NULL) {
        if (!host.random(host.ctx, b, sizeof b)) {
            return PyErr_Format(PyExc_OSError, "no randomness");
        }
        b[6] = (uint8_t)((b[6] & 15) | 0x40);
        b[8] = (uint8_t)((b[8] & 63) | 0x80);
        for (size_t i = 0; i < sizeof b; i++) {
            text[n] = '-';
            n += i == 4 || i == 6 || i == 8 || i == 10 ? 1u : 0u;
            text[n++] = "0123456789abcdef"[b[i] >> 4];
            text[n++] = "0123456789abcdef"[b[i] & 15];
        }
        text[n] = '\0';
        o->value_id = PyUnicode_FromString(text);
    }
    return Py_XNewRef(o->value_id);
}

/* ---- of values that are made of others ---------------------------------------------------------------------- */

bool ilpy_label_endorsed(PyObject *label) { return il_origin_endorsements(ilpy_origin_of(label)) > 0; }

static PyObject *origin_merged(const ilpy_state *s, const il_origin *a, const il_origin *b) {
    il_origin *o = NULL;
    il_error err = {0};
    const il_status status = il_origin_merge(il_host_alloc(), (const il_origin *[]){a, b}, 2, &o, &err);
    return origin_of(s->origin, s, status, o, &err);
}

PyObject *ilpy_label_edited(const ilpy_state *s, PyObject *label) {
    origin_object *self = (origin_object *)label;
    if (!ilpy_label_endorsed(label)) {
        return Py_NewRef(label);
    }
    if (self->edited == NULL) { /* an endorsement stays in a merge only where all have it */
        const il_str first = il_origin_lineage(self->origin, 0);
        il_origin *other = NULL;
        il_error err = {0};
        const il_status status = first.n > 0 ? il_origin_new(il_host_alloc(), first, (il_str){0}, &other, &err)
                                             : il_origin_unknown(il_host_alloc(), &other, &err);
        self->edited = status == IL_OK ? origin_merged(s, self->origin, other) : ilpy_fail(s, status, &err);
        il_origin_free(other);
    }
    return Py_XNewRef(self->edited);
}

#define ORIGIN_LOOKS 64u /* names that are compared before a merge is the cheaper way */

static bool origin_names_all(const il_origin *a, size_t na, const il_origin *b, size_t nb,
                             il_str (*name)(const il_origin *o, size_t i)) {
    for (size_t i = 0; i < nb; i++) {
        const il_str one = name(b, i);
        size_t k = 0;
        for (; k < na; k++) {
            const il_str other = name(a, k);
            if (one.n == other.n && memcmp(one.p, other.p, one.n) == 0) {
                break;
            }
        }
        if (k == na) {
            return false;
        }
    }
    return true;
}

/* Whether b adds nothing to a. */
static bool origin_covers(const il_origin *a, const il_origin *b) {
    const size_t na = il_origin_sources(a), nb = il_origin_sources(b), ma = il_origin_agents(a), mb = il_origin_agents(b);
    return na * nb + ma * mb <= ORIGIN_LOOKS && (il_origin_more(a) || !il_origin_more(b)) &&
           origin_names_all(a, na, b, nb, il_origin_lineage) && origin_names_all(a, ma, b, mb, il_origin_agent);
}

PyObject *ilpy_label_join(ilpy_state *s, PyObject *a, PyObject *b) {
    if (a == b) {
        return ilpy_label_edited(s, a);
    }
    if (s->joined[0] == a && s->joined[1] == b) {
        return Py_NewRef(s->joined[2]);
    }
    PyObject *first = ilpy_label_edited(s, a);
    PyObject *made = first == NULL ? NULL
                     : origin_covers(ilpy_origin_of(first), ilpy_origin_of(b))
                         ? Py_NewRef(first)
                         : origin_merged(s, ilpy_origin_of(first), ilpy_origin_of(b));
    Py_XDECREF(first);
    if (made != NULL) {
        PyObject *old[3] = {s->joined[0], s->joined[1], s->joined[2]};
        s->joined[0] = Py_NewRef(a);
        s->joined[1] = Py_NewRef(b);
        s->joined[2] = Py_NewRef(made);
        for (int i = 0; i < 3; i++) {
            Py_XDECREF(old[i]);
        }
    }
    return made;
}

PyObject *ilpy_label_add(ilpy_state *s, PyObject *label, PyObject *more) {
    if (more == NULL || (label == NULL && PyErr_Occurred())) {
        return label;
    }
    PyObject *made = label != NULL ? ilpy_label_join(s, label, more) : ilpy_label_edited(s, more);
    Py_XDECREF(label);
    return made;
}

static PyGetSetDef origin_getset[] = {{"source", origin_source, NULL, "where it was taken in, or the last hop; for people", NULL},
                                      {"lineage", origin_lineage, NULL, "every source that had a part in it, oldest first", NULL},
                                      {"ingested_by", origin_agents, NULL, "every agent that took it in", NULL},
                                      {"endorsements", origin_endorsements, NULL, "kinds of the endorsements that it has", NULL},
                                      {"more", origin_more, NULL, "there is more in it than it names: untrusted for ever", NULL},
                                      {"value_id", origin_value_id, NULL, "an id of this label, a UUID", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef origin_methods[] = {
    {"merge", origin_merge, METH_O | METH_CLASS, "merge(origins, /)\n--\n\nOf a value made of others."},
    {"derive", origin_derive, METH_VARARGS | METH_CLASS,
     "derive(hop, agent, origins, /)\n--\n\nOf what `hop` made of values; None is one without a label."},
    {"endorse", origin_endorse, METH_VARARGS, "endorse(kind, by, value, /)\n--\n\nWith a human's word for these bytes."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot origin_slots[] = {
    {Py_tp_new, (void *)origin_new},
    {Py_tp_dealloc, (void *)origin_dealloc},
    {Py_tp_getset, origin_getset},
    {Py_tp_methods, origin_methods},
    {Py_tp_doc, (void *)"Origin(source=None, agent=None)\n--\n\nWhere a value came from. None: nobody knows."},
    {0, NULL}};
PyType_Spec ilpy_origin_spec = {.name = "interlock._core.Origin",
                                .basicsize = sizeof(origin_object),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                .slots = origin_slots};
