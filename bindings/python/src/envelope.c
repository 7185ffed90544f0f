/* SPDX-License-Identifier: Apache-2.0 */
/* Envelopes (interlock/provenance.h): a value with the labels of its parts, as one JSON text. */
#include "core.h"

static bool envelope_run(const ilpy_state *s, PyObject *v, il_run_state *run, bool *there) {
    *there = v != Py_None;
    *run = (il_run_state){.size = sizeof *run};
    if (!*there) {
        return true;
    }
    PyObject *label = NULL;
    unsigned effects = 0;
    if (!PyArg_ParseTuple(v, "IO", &effects, &label) || (label != Py_None && !PyObject_TypeCheck(label, s->origin))) {
        return PyErr_Occurred() != NULL ? false : PyErr_Format(PyExc_TypeError, "an Origin") != NULL;
    }
    run->effects = effects;
    run->origin = label != Py_None ? ilpy_origin_of(label) : NULL;
    return true;
}

/* envelope(value: bytes of JSON, labels, key: (id, secret) or None, audience, lasts_ms, run: (effects, Origin or None) or None) -> bytes */
PyObject *ilpy_envelope(PyObject *module, PyObject *args) {
    const ilpy_state *s = ilpy_state_of(module);
    const il_host host = il_host_system();
    PyObject *value, *all, *run_object, *out = NULL;
    const char *id = NULL, *secret = NULL, *audience;
    Py_ssize_t nid = 0, nsecret = 0, naudience;
    unsigned long long lasts;
    PyObject *key_object;
    bool with_run;
    il_run_state run;
    il_json_doc *doc = NULL;
    il_error err = {0};
    size_t n = 0, nlabels = 0;
    char *text = NULL;
    if (!PyArg_ParseTuple(args, "OOOs#KO", &value, &all, &key_object, &audience, &naudience, &lasts, &run_object) ||
        (key_object != Py_None && !PyArg_ParseTuple(key_object, "s#y#", &id, &nid, &secret, &nsecret)) ||
        !envelope_run(s, run_object, &run, &with_run) || !ilpy_doc(s, value, &doc)) {
        return NULL;
    }
    il_origin_at *labels = ilpy_labels_at(s, all, &nlabels);
    const il_envelope_key key = {.id = {id, (size_t)nid}, .secret = {secret, (size_t)nsecret}};
    il_envelope_pack how = {.size = sizeof how,
                            .key = id != NULL ? &key : NULL,
                            .audience = {audience, (size_t)naudience},
                            .lasts_ms = lasts,
                            .run = with_run ? &run : NULL};
    if (labels != NULL && (!host.now_ms(host.ctx, &how.now_ms) || !host.random(host.ctx, how.nonce, sizeof how.nonce))) {
        PyErr_SetString(PyExc_OSError, "no clock or no randomness");
    } else if (labels != NULL) {
        const il_status status =
            il_envelope_text_new(il_host_alloc(), il_json_doc_root(doc), labels, nlabels, &how, &text, &n, &err);
        out = status == IL_OK ? PyBytes_FromStringAndSize(text, (Py_ssize_t)n) : ilpy_fail(s, status, &err);
    }
    if (text != NULL) {
        il_host_alloc()->free(il_host_alloc()->ctx, text);
    }
    PyMem_Free(labels);
    il_json_doc_free(doc);
    return out;
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

typedef struct envelope_opening {
    il_str id, secret; /* the one key; no id: any */
    bool keyed;
    PyObject *fresh;
} envelope_opening;

static bool envelope_key(void *ctx, il_str id, il_str *secret) {
    const envelope_opening *o = ctx;
    *secret = o->secret;
    return o->keyed && (o->id.n == 0 || (o->id.n == id.n && memcmp(o->id.p, id.p, id.n) == 0));
}

static bool envelope_fresh(void *ctx, il_str audience, const uint8_t nonce[IL_ENVELOPE_NONCE_BYTES], uint64_t expires_ms) {
    envelope_opening *o = ctx;
    PyObject *answer = PyObject_CallFunction(o->fresh, "s#y#K", audience.p, (Py_ssize_t)audience.n, (const char *)nonce,
                                             (Py_ssize_t)IL_ENVELOPE_NONCE_BYTES, (unsigned long long)expires_ms);
    const bool fresh = answer == Py_True;
    Py_XDECREF(answer);
    return fresh;
}

static PyObject *envelope_labels(const ilpy_state *s, const il_envelope *e) {
    const size_t n = il_envelope_labels(e);
    PyObject *all = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; all != NULL && i < n; i++) {
        const il_origin_at at = il_envelope_label(e, i);
        il_origin *copy = NULL;
        il_error err = {0};
        const il_status status = il_origin_merge(il_host_alloc(), &at.origin, 1, &copy, &err);
        PyObject *label = status == IL_OK ? ilpy_label_of(s, copy) : ilpy_fail(s, status, &err);
        PyObject *row = label != NULL ? Py_BuildValue("s#O", at.path.n > 0 ? at.path.p : "", (Py_ssize_t)at.path.n, label) : NULL;
        Py_XDECREF(label);
        if (row == NULL || PyTuple_SetItem(all, (Py_ssize_t)i, row) < 0) {
            Py_CLEAR(all);
        }
    }
    return all;
}

static PyObject *envelope_state(const ilpy_state *s, const il_envelope *e) {
    il_run_state run = {.size = sizeof run};
    il_origin *copy = NULL;
    il_error err = {0};
    if (!il_envelope_run(e, &run)) {
        return Py_NewRef(Py_None);
    }
    if (run.origin == NULL) {
        return Py_BuildValue("IO", (unsigned)run.effects, Py_None);
    }
    const il_status status = il_origin_merge(il_host_alloc(), &run.origin, 1, &copy, &err);
    PyObject *label = status == IL_OK ? ilpy_label_of(s, copy) : ilpy_fail(s, status, &err);
    PyObject *out = label != NULL ? Py_BuildValue("IO", (unsigned)run.effects, label) : NULL;
    Py_XDECREF(label);
    return out;
}

/* opened(text: bytes, key: (id or "", secret) or None, audience, policy, fresh) -> (value: bytes of JSON, labels, run or None). Without a key the channel is trusted. */
PyObject *ilpy_opened(PyObject *module, PyObject *args) {
    const ilpy_state *s = ilpy_state_of(module);
    const il_host host = il_host_system();
    const char *text, *audience, *id = "", *secret = "";
    Py_ssize_t n, naudience, nid = 0, nsecret = 0;
    PyObject *key, *policy, *value = NULL, *labels = NULL, *run = NULL, *out = NULL;
    envelope_opening o = {0};
    il_envelope *e = NULL;
    il_error err = {0};
    if (!PyArg_ParseTuple(args, "y#Os#O!O", &text, &n, &key, &audience, &naudience, s->policy, &policy, &o.fresh) ||
        (key != Py_None && !PyArg_ParseTuple(key, "s#y#", &id, &nid, &secret, &nsecret))) {
        return NULL;
    }
    const il_trust_table trust = il_policy_trust(ilpy_policy_of(policy));
    o.id = (il_str){id, (size_t)nid};
    o.secret = (il_str){secret, (size_t)nsecret};
    o.keyed = key != Py_None;
    il_envelope_open how = {.size = sizeof how,
                            .audience = {audience, (size_t)naudience},
                            .ctx = &o,
                            .key = envelope_key,
                            .fresh = envelope_fresh,
                            .channel_trusted = !o.keyed,
                            .trust = &trust};
    if (!host.now_ms(host.ctx, &how.now_ms)) {
        return PyErr_Format(PyExc_OSError, "no clock");
    }
    il_status status = il_envelope_new(il_host_alloc(), (il_str){text, (size_t)n}, &how, &e, &err);
    char *json = NULL;
    size_t njson = 0;
    status =
        status == IL_OK ? il_json_text_new(il_host_alloc(), il_envelope_value(e), IL_JSON_AS_READ, &json, &njson, &err) : status;
    if (PyErr_Occurred() == NULL) {
        value = status == IL_OK ? PyBytes_FromStringAndSize(json, (Py_ssize_t)njson) : ilpy_fail(s, status, &err);
        labels = value != NULL ? envelope_labels(s, e) : NULL;
        run = labels != NULL ? envelope_state(s, e) : NULL;
        out = run != NULL ? PyTuple_Pack(3, value, labels, run) : NULL;
    }
    Py_XDECREF(value);
    Py_XDECREF(labels);
    Py_XDECREF(run);
    if (json != NULL) {
        il_host_alloc()->free(il_host_alloc()->ctx, json);
    }
    il_envelope_free(e);
    return out;
}
