/* SPDX-License-Identifier: Apache-2.0 */
/* A policy at work on a ledger: each method is one function of interlock/monitor.h. The GIL is given up around each, so the object counts who is inside, and close()
 * waits for nobody: it is refused. */
#include "core.h"

typedef struct monitor_object {
    PyObject_HEAD PyObject *policy;
    il_ledger *ledger;
    il_host_recalls *recalls;
    il_monitor *monitor; /* NULL: closed */
    unsigned owner;      /* ilpy_process() */
    Py_ssize_t inside;
} monitor_object;

static void monitor_let_go(monitor_object *self) {
    if (self->owner == ilpy_process()) {
        il_monitor_free(self->monitor);
        il_host_recalls_free(self->recalls);
        il_ledger_close(self->ledger);
    } /* SQLite may not be touched in a child of the process that opened it: the memory is lost instead */
    self->monitor = NULL;
    self->recalls = NULL;
    self->ledger = NULL;
    Py_CLEAR(self->policy);
}

static il_status monitor_open(monitor_object *self, const char *path, bool enforce, bool durable, uint32_t busy_ms,
                              uint64_t deadline_ms, uint64_t keep_rows, il_error *err) {
    const il_host host = il_host_system();
    const il_ledger_options options = {.size = sizeof options,
                                       .durability = durable ? IL_DURABLE_FULL : IL_DURABLE_NORMAL,
                                       .busy_ms = busy_ms,
                                       .keep_rows = keep_rows,
                                       .sha256 = host.sha256};
    il_status status = il_ledger_open(il_host_alloc(), path, &options, &self->ledger, err);
    status = status == IL_OK ? il_host_recalls_new(il_host_alloc(), 0, &self->recalls, err) : status;
    if (status != IL_OK) {
        return status;
    }
    const il_monitor_config config = {.size = sizeof config,
                                      .policy = ilpy_policy_of(self->policy),
                                      .store = il_ledger_store(self->ledger),
                                      .host = host,
                                      .call_deadline_ms = deadline_ms,
                                      .enforce = enforce,
                                      .cache = il_host_recalls_cache(self->recalls)};
    return il_monitor_new(il_host_alloc(), &config, &self->monitor, err);
}

/* Monitor(policy, ledger=":memory:", enforce=False, durable=False, busy_ms=0, deadline_ms=0, keep_rows=0) */
static PyObject *monitor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    const ilpy_state *s = ilpy_state_of_type(type);
    PyObject *policy, *path = NULL, *encoded = NULL;
    int enforce = 0, durable = 0;
    unsigned busy = 0;
    unsigned long long deadline = 0, keep = 0;
    il_error err = {0};
    static char *names[] = {"policy", "ledger", "enforce", "durable", "busy_ms", "deadline_ms", "keep_rows", NULL};
    if (s == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O!|OppIKK", names, s->policy, &policy, &path, &enforce, &durable, &busy,
                                     &deadline, &keep) ||
        (path != NULL && !PyUnicode_FSConverter(path, &encoded))) {
        return NULL;
    }
    const char *file = encoded != NULL ? PyBytes_AsString(encoded) : ":memory:";
    monitor_object *self = file != NULL ? (monitor_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0) : NULL;
    if (self == NULL) {
        Py_XDECREF(encoded);
        return NULL;
    }
    self->policy = Py_NewRef(policy);
    self->owner = ilpy_process();
    il_status status;
    Py_BEGIN_ALLOW_THREADS status = monitor_open(self, file, enforce != 0, durable != 0, busy, deadline, keep, &err);
    Py_END_ALLOW_THREADS Py_XDECREF(encoded);
    if (status != IL_OK) {
        Py_DECREF(self);
        return ilpy_fail(s, status, &err);
    }
    return (PyObject *)self;
}

static void monitor_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    monitor_let_go((monitor_object *)self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Begins a call into the core; NULL with an exception. */
static monitor_object *monitor_enter(PyObject *object, const ilpy_state **s) {
    monitor_object *self = (monitor_object *)object;
    *s = ilpy_state_of_type(Py_TYPE(object));
    if (*s == NULL) {
        return NULL;
    }
    if (self->monitor == NULL || self->owner != ilpy_process()) {
        (void)ilpy_misuse(*s, self->monitor == NULL ? "the gate is closed"
                                                    : "the gate was made before a fork; make one in this process");
        return NULL;
    }
    self->inside++;
    return self;
}

static PyObject *monitor_close(PyObject *object, PyObject *unused) {
    monitor_object *self = (monitor_object *)object;
    const ilpy_state *s = ilpy_state_of_type(Py_TYPE(object));
    (void)unused;
    if (s == NULL || self->inside > 0) {
        return s != NULL ? ilpy_misuse(s, "a thread is in the middle of a call") : NULL;
    }
    monitor_let_go(self);
    return Py_NewRef(Py_None);
}

/* Does the call without the GIL, and leaves. */
#define MONITOR_LEAVE(self, status, call)                    \
    do {                                                     \
        PyThreadState *monitor_thread = PyEval_SaveThread(); \
        (status) = (call);                                   \
        PyEval_RestoreThread(monitor_thread);                \
        (self)->inside--;                                    \
    } while (0)

static bool monitor_args(Py_ssize_t n, Py_ssize_t want, const char *usage) {
    if (n != want) {
        PyErr_SetString(PyExc_TypeError, usage);
    }
    return n == want;
}

/* begin(session, parent, principal, resume) */
static PyObject *monitor_begin(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session;
    il_begin how = {.size = sizeof how};
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 4, "begin(session, parent, principal, resume, /)") || !ilpy_str(args[0], "session", false, &session) ||
        !ilpy_str(args[1], "parent", true, &how.parent) || !ilpy_str(args[2], "principal", true, &how.principal)) {
        return NULL;
    }
    how.resume = args[3] == Py_True;
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status, il_monitor_begin(self->monitor, session, &how, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

il_origin_at *ilpy_labels_at(const ilpy_state *s, PyObject *all, size_t *n) {
    const Py_ssize_t size = PyTuple_Check(all) ? PyTuple_Size(all) : 0;
    il_origin_at *list = PyTuple_Check(all) ? PyMem_Calloc((size_t)size + 1, sizeof *list) : NULL;
    if (list == NULL) {
        return (il_origin_at *)(PyTuple_Check(all) ? PyErr_NoMemory() : PyErr_Format(PyExc_TypeError, "labels are a tuple"));
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *pair = PyTuple_GetItem(all, i);
        const bool two = PyTuple_Check(pair) && PyTuple_Size(pair) >= 2; /* what follows says who found it */
        PyObject *path = two ? PyTuple_GetItem(pair, 0) : NULL, *origin = two ? PyTuple_GetItem(pair, 1) : NULL;
        const bool known = origin != NULL && PyObject_TypeCheck(origin, s->origin);
        if (origin == NULL || !ilpy_str(path, "a label's path", false, &list[i].path) || (!known && origin != Py_None)) {
            PyMem_Free(list);
            return PyErr_Occurred() ? NULL : (il_origin_at *)PyErr_Format(PyExc_TypeError, "a label is (path, Origin)");
        }
        list[i].origin = known ? ilpy_origin_of(origin) : NULL;
    }
    *n = (size_t)size;
    return list;
}

/* An exception of reading arguments, as a value; what is no Exception goes on. */
static PyObject *monitor_unread(void) {
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return NULL;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

/* A call is asked about, without the GIL; what came of it. Any failure but of recording what an allow brings is a block in the decision, with its reason. */
static PyObject *monitor_asked(const ilpy_state *s, monitor_object *self, il_str session, const il_call *call, il_decision *d) {
    il_error err = {0};
    il_status status;
    MONITOR_LEAVE(self, status, il_monitor_decide(self->monitor, session, call, d, &err));
    return d->ticket != 0 && status != IL_OK ? ilpy_fail(s, status, &err) : ilpy_decision(s, d);
}

/* Both of the next two. */
static PyObject *monitor_ask(PyObject *object, PyObject *const *args, Py_ssize_t n, bool at_once) {
    const ilpy_state *s;
    il_str session;
    il_json_doc *doc = NULL;
    il_origin_at *labels = NULL;
    il_call call = {.size = sizeof call};
    il_decision d = IL_DECISION_INIT;
    if (!monitor_args(n, 6, "session, server, tool, args, labels, unjoined") || !ilpy_str(args[0], "session", false, &session) ||
        !ilpy_str(args[1], "server", true, &call.server) || !ilpy_str(args[2], "tool", false, &call.tool)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    if (!ilpy_doc(s, args[3], &doc) || (labels = ilpy_labels_at(s, args[4], &call.nlabels)) == NULL) {
        self->inside--;
        il_json_doc_free(doc);
        return NULL;
    }
    call.args = il_json_doc_root(doc);
    call.unjoined = args[5] == Py_True;
    call.labels = labels;
    call.at_once = at_once;
    PyObject *out = monitor_asked(s, self, session, &call, &d);
    PyMem_Free(labels);
    il_json_doc_free(doc);
    return out;
}

/* judge(session, server, tool, args: a value, default, index, at_once, keep) -> (Decision, labels, text or None), in one go what judged() and decide() or check() do; the
 * text when the call does not run, or `keep`. An exception that reading the arguments raised is returned. */
static PyObject *monitor_judge(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    ilpy_state *s = ilpy_state_of_type(Py_TYPE(object));
    const ilpy_state *known;
    il_str session;
    il_json_doc *doc = NULL;
    ilpy_read read;
    il_call call = {.size = sizeof call};
    il_decision d = IL_DECISION_INIT;
    if (s == NULL || !monitor_args(n, 8, "judge(session, server, tool, args, default, index, at_once, keep, /)") ||
        !ilpy_str(args[0], "session", false, &session) || !ilpy_str(args[1], "server", true, &call.server) ||
        !ilpy_str(args[2], "tool", false, &call.tool)) {
        return NULL;
    }
    if (args[5] != Py_None && !PyObject_TypeCheck(args[5], s->index)) {
        return PyErr_Format(PyExc_TypeError, "an Index");
    }
    if (!ilpy_judge(s, args[3], args[4], args[5], &read)) {
        return monitor_unread();
    }
    if (!ilpy_doc_of(s, read.text, &doc)) {
        ilpy_read_free(&read);
        return monitor_unread();
    }
    monitor_object *self = monitor_enter(object, &known);
    il_origin_at *labels = self != NULL ? ilpy_labels_at(s, read.labels, &call.nlabels) : NULL;
    PyObject *decision = NULL, *out = NULL;
    if (labels != NULL) {
        call.args = il_json_doc_root(doc);
        call.labels = labels;
        call.at_once = args[6] == Py_True;
        decision = monitor_asked(s, self, session, &call, &d);
    } else if (self != NULL) {
        self->inside--;
    }
    if (decision != NULL) {
        const char *text = !d.run || args[7] == Py_True ? read.text.p : NULL;
        out = Py_BuildValue("NOy#", decision, read.labels, text, (Py_ssize_t)read.text.n);
    }
    PyMem_Free(labels);
    il_json_doc_free(doc);
    ilpy_read_free(&read);
    return out;
}

/* decide(session, server, tool, args: bytes of JSON or None, labels: tuple, unjoined) -> Decision. Only what the caller did wrong is an exception: all else is a block. */
static PyObject *monitor_decide(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    return monitor_ask(object, args, n, false);
}
/* check(...): the same, of a call that nobody will settle */
static PyObject *monitor_check(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    return monitor_ask(object, args, n, true);
}

/* carry(session) -> (effects, Origin or None): what a session holds, and all that it read */
static PyObject *monitor_carry(PyObject *object, PyObject *session_object) {
    const ilpy_state *s;
    il_str session;
    il_run_state run = {.size = sizeof run};
    il_error err = {0};
    il_status status;
    if (!ilpy_str(session_object, "session", false, &session)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status, il_monitor_carry(self->monitor, session, il_host_alloc(), &run, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    PyObject *label = run.origin != NULL ? ilpy_label_of(s, (il_origin *)run.origin) : Py_NewRef(Py_None);
    PyObject *out = label != NULL ? Py_BuildValue("IO", (unsigned)run.effects, label) : NULL;
    Py_XDECREF(label);
    return out;
}

/* receive(session, effects, Origin or None): what another session holds joins this one */
static PyObject *monitor_receive(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session;
    il_run_state run = {.size = sizeof run};
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 3, "receive(session, effects, label, /)") || !ilpy_str(args[0], "session", false, &session)) {
        return NULL;
    }
    const unsigned long effects = PyLong_AsUnsignedLong(args[1]);
    monitor_object *self = PyErr_Occurred() == NULL ? monitor_enter(object, &s) : NULL;
    if (self == NULL) {
        return NULL;
    }
    if (args[2] != Py_None && !PyObject_TypeCheck(args[2], s->origin)) {
        self->inside--;
        return PyErr_Format(PyExc_TypeError, "an Origin");
    }
    run.effects = (uint32_t)effects;
    run.origin = args[2] != Py_None ? ilpy_origin_of(args[2]) : NULL;
    MONITOR_LEAVE(self, status, il_monitor_receive(self->monitor, session, &run, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

/* settle(session, ticket, done, result: bytes or None, error, args: bytes or None, child or None) -> Settlement */
static PyObject *monitor_settle(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session, child;
    il_json_doc *result = NULL, *asked = NULL;
    il_outcome o = {.size = sizeof o, .bare = true};
    il_settlement out = IL_SETTLEMENT_INIT;
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 7, "settle(session, ticket, done, result, error, args, child, /)") ||
        !ilpy_str(args[0], "session", false, &session) || !ilpy_str(args[4], "error", true, &o.error) ||
        !ilpy_str(args[6], "child", true, &child)) {
        return NULL;
    }
    const unsigned long long ticket = PyLong_AsUnsignedLongLong(args[1]);
    if (ticket == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    if (!ilpy_doc(s, args[3], &result) || !ilpy_doc(s, args[5], &asked)) {
        self->inside--;
        il_json_doc_free(result);
        return NULL;
    }
    o.how = args[2] == Py_True ? IL_OUTCOME_DONE : IL_OUTCOME_FAILED;
    o.result = il_json_doc_root(result);
    o.args = il_json_doc_root(asked);
    MONITOR_LEAVE(self, status,
                  child.n > 0 ? il_monitor_join(self->monitor, session, child, ticket, &o, &out, &err)
                              : il_monitor_settle(self->monitor, session, ticket, &o, &out, &err));
    il_json_doc_free(result);
    il_json_doc_free(asked);
    return status == IL_OK || out.reason[0] != '\0' ? ilpy_settlement(s, &out) : ilpy_fail(s, status, &err);
}

/* say(session, text) */
static PyObject *monitor_say(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session, text;
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 2, "say(session, text, /)") || !ilpy_str(args[0], "session", false, &session) ||
        !ilpy_str(args[1], "text", false, &text)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status, il_monitor_say(self->monitor, session, text, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

/* notice(session, kind, source, text, untrusted, agent=None) */
static PyObject *monitor_notice(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    static const char *const kinds[] = {"message", "description", "task"};
    const ilpy_state *s;
    il_str session, kind;
    il_notice notice = {.size = sizeof notice};
    il_error err = {0};
    il_status status;
    if (!monitor_args(n > 5 ? n - 1 : n, 5, "notice(session, kind, source, text, untrusted, agent=None, /)") ||
        !ilpy_str(args[0], "session", false, &session) || !ilpy_str(args[1], "kind", false, &kind) ||
        !ilpy_str(args[2], "source", true, &notice.from) || !ilpy_str(args[3], "text", false, &notice.text) ||
        (n > 5 && !ilpy_str(args[5], "agent", true, &notice.agent))) {
        return NULL;
    }
    bool known = false;
    for (int i = 0; i < 3; i++) {
        if (kind.n == strlen(kinds[i]) && memcmp(kind.p, kinds[i], kind.n) == 0) {
            notice.kind = (il_notice_kind)i;
            known = true;
        }
    }
    if (!known) {
        return PyErr_Format(PyExc_ValueError, "a notice is a `message`, a `description` or a `task`");
    }
    notice.untrusted = args[4] != Py_False;
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status, il_monitor_notice(self->monitor, session, &notice, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

/* endorse(session, kind, by, value: bytes of JSON, note) */
static PyObject *monitor_endorse(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session, note;
    il_json_doc *doc = NULL;
    il_endorsement e = {.size = sizeof e};
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 5, "endorse(session, kind, by, value, note, /)") || !ilpy_str(args[0], "session", false, &session) ||
        !ilpy_str(args[1], "kind", false, &e.kind) || !ilpy_str(args[2], "by", false, &e.by) ||
        !ilpy_str(args[4], "note", true, &note)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    if (!ilpy_doc(s, args[3], &doc)) {
        self->inside--;
        return NULL;
    }
    status = il_value_digest(il_json_doc_root(doc), e.digest, &err);
    il_json_doc_free(doc);
    if (status == IL_OK) {
        MONITOR_LEAVE(self, status, il_monitor_endorse(self->monitor, session, &e, note, &err));
    } else {
        self->inside--;
    }
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

/* answer(session, approval, by, granted) */
static PyObject *monitor_answer(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session, approval, by;
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 4, "answer(session, approval, by, granted, /)") || !ilpy_str(args[0], "session", false, &session) ||
        !ilpy_str(args[1], "approval", false, &approval) || !ilpy_str(args[2], "by", false, &by)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status,
                  args[3] == Py_True ? il_monitor_approve(self->monitor, session, approval, by, &err)
                                     : il_monitor_refuse(self->monitor, session, approval, by, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

/* end(session, abandon) */
static PyObject *monitor_end(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session;
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 2, "end(session, abandon, /)") || !ilpy_str(args[0], "session", false, &session)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status, il_monitor_end(self->monitor, session, args[1] == Py_True, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

/* quarantine(session, why) */
static PyObject *monitor_quarantine(PyObject *object, PyObject *const *args, Py_ssize_t n) {
    const ilpy_state *s;
    il_str session, why;
    il_error err = {0};
    il_status status;
    if (!monitor_args(n, 2, "quarantine(session, why, /)") || !ilpy_str(args[0], "session", false, &session) ||
        !ilpy_str(args[1], "why", false, &why)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status, il_monitor_quarantine(self->monitor, session, why, &err));
    if (status != IL_OK) {
        return ilpy_fail(s, status, &err);
    }
    return Py_NewRef(Py_None);
}

/* recover(session) -> int: how many calls of processes that are gone were settled as their worst */
static PyObject *monitor_recover(PyObject *object, PyObject *session_object) {
    const ilpy_state *s;
    il_str session;
    il_error err = {0};
    uint32_t settled = 0;
    il_status status;
    if (!ilpy_str(session_object, "session", false, &session)) {
        return NULL;
    }
    monitor_object *self = monitor_enter(object, &s);
    if (self == NULL) {
        return NULL;
    }
    MONITOR_LEAVE(self, status, il_monitor_recover(self->monitor, session, &settled, &err));
    return status == IL_OK ? PyLong_FromUnsignedLong(settled) : ilpy_fail(s, status, &err);
}

/* ---- lists: the visitor runs under the ledger's lock, so the GIL is kept, and no collector may run a finalizer that asks for the lock again --------- */

typedef struct monitor_list {
    const ilpy_state *s;
    PyObject *all; /* NULL: failed, with an exception */
    int collects;
} monitor_list;

static monitor_object *monitor_list_begin(monitor_list *l, PyObject *object) {
    monitor_object *self = l->all != NULL ? monitor_enter(object, &l->s) : NULL;
    if (self == NULL) {
        Py_CLEAR(l->all);
        return NULL;
    }
    l->collects = PyGC_Disable();
    return self;
}

static PyObject *monitor_list_end(monitor_list *l, monitor_object *self, il_status status, const il_error *err) {
    self->inside--;
    if (l->collects) {
        PyGC_Enable();
    }
    if (status != IL_OK && l->all != NULL) {
        Py_CLEAR(l->all);
        return ilpy_fail(l->s, status, err);
    }
    return l->all;
}

static bool monitor_list_add(monitor_list *l, PyObject *item) {
    if (item == NULL || PyList_Append(l->all, item) < 0) {
        Py_CLEAR(l->all);
    }
    Py_XDECREF(item);
    return l->all != NULL;
}
static bool monitor_visit_approval(void *ctx, const il_approval *a) {
    monitor_list *l = ctx;
    return monitor_list_add(l, ilpy_approval(l->s, a));
}
static bool monitor_visit_row(void *ctx, const il_ledger_row *row) {
    monitor_list *l = ctx;
    return monitor_list_add(l, ilpy_row(l->s, row));
}

static PyObject *monitor_approvals(PyObject *object, PyObject *session_object) {
    il_str session;
    il_error err = {0};
    monitor_list l = {.all = ilpy_str(session_object, "session", false, &session) ? PyList_New(0) : NULL};
    monitor_object *self = monitor_list_begin(&l, object);
    return self != NULL
               ? monitor_list_end(&l, self, il_monitor_approvals(self->monitor, session, monitor_visit_approval, &l, &err), &err)
               : NULL;
}

static PyObject *monitor_rows(PyObject *object, PyObject *session_object) {
    il_str session;
    il_error err = {0};
    monitor_list l = {.all = ilpy_str(session_object, "session", true, &session) ? PyList_New(0) : NULL};
    monitor_object *self = monitor_list_begin(&l, object);
    return self != NULL ? monitor_list_end(&l, self, il_ledger_rows(self->ledger, session, monitor_visit_row, &l, &err), &err)
                        : NULL;
}

#define MONITOR_FAST(f) (PyCFunction)(void (*)(void))(f), METH_FASTCALL
static PyMethodDef monitor_methods[] = {
    {"begin", MONITOR_FAST(monitor_begin), "begin(session, parent, principal, resume, /)\n--\n\n"},
    {"decide", MONITOR_FAST(monitor_decide), "decide(session, server, tool, args, labels, unjoined, /)\n--\n\n"},
    {"check", MONITOR_FAST(monitor_check),
     "check(session, server, tool, args, labels, unjoined, /)\n--\n\nOf a call that nobody will settle."},
    {"judge", MONITOR_FAST(monitor_judge),
     "judge(session, server, tool, args, default, index, at_once, keep, /)\n--\n\nOf arguments as they are."},
    {"carry", monitor_carry, METH_O, "carry(session, /)\n--\n\n"},
    {"receive", MONITOR_FAST(monitor_receive), "receive(session, effects, label, /)\n--\n\n"},
    {"settle", MONITOR_FAST(monitor_settle), "settle(session, ticket, done, result, error, args, child, /)\n--\n\n"},
    {"say", MONITOR_FAST(monitor_say), "say(session, text, /)\n--\n\n"},
    {"notice", MONITOR_FAST(monitor_notice), "notice(session, kind, source, text, untrusted, /)\n--\n\n"},
    {"endorse", MONITOR_FAST(monitor_endorse), "endorse(session, kind, by, value, note, /)\n--\n\n"},
    {"answer", MONITOR_FAST(monitor_answer), "answer(session, approval, by, granted, /)\n--\n\n"},
    {"end", MONITOR_FAST(monitor_end), "end(session, abandon, /)\n--\n\n"},
    {"quarantine", MONITOR_FAST(monitor_quarantine), "quarantine(session, why, /)\n--\n\n"},
    {"recover", monitor_recover, METH_O, "recover(session, /)\n--\n\n"},
    {"approvals", monitor_approvals, METH_O, "approvals(session, /)\n--\n\n"},
    {"rows", monitor_rows, METH_O, "rows(session, /)\n--\n\nNone: of all sessions."},
    {"close", monitor_close, METH_NOARGS, "close()\n--\n\nRefused while a thread is inside."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot monitor_slots[] = {{Py_tp_new, (void *)monitor_new},
                                      {Py_tp_dealloc, (void *)monitor_dealloc},
                                      {Py_tp_methods, monitor_methods},
                                      {Py_tp_doc,
                                       (void *)"Monitor(policy, ledger=':memory:', enforce=False, durable=False, busy_ms=0, "
                                               "deadline_ms=0, keep_rows=0)\n--\n\nA policy at work on a ledger."},
                                      {0, NULL}};
PyType_Spec ilpy_monitor_spec = {.name = "interlock._core.Monitor",
                                 .basicsize = sizeof(monitor_object),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                 .slots = monitor_slots};
