/* SPDX-License-Identifier: Apache-2.0 */
/* What the core answers, as immutable records. */
#include "core.h"

static PyStructSequence_Field decision_fields[] = {
    {"action", "`allow`, `block` or `require_approval`"},
    {"layer", "which layer decided: `fault`, `labeller`, `machine`, `rule`; None on an allow"},
    {"run", "the tool may run: an allow, or in monitor mode anything but a fault"},
    {"unenforced", "monitor mode: recorded, and not held against the call"},
    {"child", "another agent's work: its answer comes by `join`"},
    {"effects", "bits of the effects that count, after vouching"},
    {"ticket", "to settle; not 0 whenever `run`"},
    {"reason", "id of the rule or fault; empty on an allow"},
    {"approval", "id of the pending request, or of the one that this allow used up; else empty"},
    {"message", "for the model: names the rule and the source calls, never their content"},
    {"digest", "SHA-256 of the sorted canonical arguments, as hex"},
    {"witnesses", "on a rejection by the machine: where each effect of the region came from"},
    {"rule", "which of the policy's rules matched, from 1; 0: none"},
    {NULL, NULL}};
static PyStructSequence_Desc decision_desc = {"interlock._core.Decision", "What was decided of a call.", decision_fields, 12};

static PyStructSequence_Field witness_fields[] = {
    {"effect", "its name"}, {"ticket", "of the call that brought it first"}, {"tool", "of that call"}, {NULL, NULL}};
static PyStructSequence_Desc witness_desc = {"interlock._core.Witness", "Which call first brought an effect.", witness_fields, 3};

static PyStructSequence_Field settlement_fields[] = {{"release", "the result may be returned"},
                                                     {"quarantined", "the session is frozen"},
                                                     {"reason", "why it is withheld; else empty"},
                                                     {NULL, NULL}};
static PyStructSequence_Desc settlement_desc = {"interlock._core.Settlement", "What becomes of a result.", settlement_fields, 3};

static PyStructSequence_Field approval_fields[] = {{"id", NULL},
                                                   {"tool", NULL},
                                                   {"granted", "and not used up yet"},
                                                   {"expires_ms", "wall clock, milliseconds since 1970"},
                                                   {"effects", "bits"},
                                                   {"reason", "the rule that a human is asked to release"},
                                                   {NULL, NULL}};
static PyStructSequence_Desc approval_desc = {"interlock._core.Approval", "A call that waits for a human.", approval_fields, 6};

static PyStructSequence_Field row_fields[] = {{"seq", NULL},    {"time_ms", NULL}, {"session", NULL}, {"kind", NULL},
                                              {"ticket", NULL}, {"body", "JSON"},  {NULL, NULL}};
static PyStructSequence_Desc row_desc = {"interlock._core.Row", "A row of the audit trail.", row_fields, 6};

bool ilpy_records_init(PyObject *module, ilpy_state *s) {
    const struct {
        PyStructSequence_Desc *desc;
        PyTypeObject **type;
    } all[] = {{&decision_desc, &s->decision},
               {&witness_desc, &s->witness},
               {&settlement_desc, &s->settlement},
               {&approval_desc, &s->approval},
               {&row_desc, &s->row}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i].type = PyStructSequence_NewType(all[i].desc);
        if (*all[i].type == NULL || PyModule_AddType(module, *all[i].type) < 0) {
            return false;
        }
    }
    return true;
}

/* Takes over the references; NULL when one of them is. */
static PyObject *record(PyTypeObject *type, PyObject **fields, Py_ssize_t n) {
    bool whole = true;
    for (Py_ssize_t i = 0; i < n; i++) {
        whole = whole && fields[i] != NULL;
    }
    PyObject *out = whole ? PyStructSequence_New(type) : NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (out != NULL) {
            PyStructSequence_SetItem(out, i, fields[i]);
        } else {
            Py_XDECREF(fields[i]);
        }
    }
    return out;
}

static PyObject *record_witnesses(const ilpy_state *s, const il_decision *d) {
    PyObject *all = PyTuple_New(d->nwitnesses);
    for (uint32_t i = 0; all != NULL && i < d->nwitnesses; i++) {
        PyObject *fields[] = {ilpy_of_str(il_effect_name(d->witnesses[i].effect)),
                              PyLong_FromUnsignedLongLong(d->witnesses[i].ticket), PyUnicode_FromString(d->witnesses[i].tool)};
        PyObject *witness = record(s->witness, fields, 3);
        if (witness == NULL || PyTuple_SetItem(all, i, witness) < 0) {
            Py_CLEAR(all);
        }
    }
    return all;
}

PyObject *ilpy_hex(const uint8_t digest[IL_DIGEST_BYTES]) {
    static const char hex[] = "0123456789abcdef";
    char text[2 * IL_DIGEST_BYTES];
    for (size_t i = 0; i < IL_DIGEST_BYTES; i++) {
        text[2 * i] = hex[digest[i] >> 4];
        text[2 * i + 1] = hex[digest[i] & 15];
    }
    return PyUnicode_FromStringAndSize(text, sizeof text);
}

PyObject *ilpy_decision(const ilpy_state *s, const il_decision *d) {
    PyObject *fields[] = {PyUnicode_InternFromString(il_action_name(d->action)),
                          ilpy_of_c(il_layer_name(d->layer)),
                          PyBool_FromLong(d->run),
                          PyBool_FromLong(d->unenforced),
                          PyBool_FromLong(d->child),
                          PyLong_FromUnsignedLong(d->effects),
                          PyLong_FromUnsignedLongLong(d->ticket),
                          PyUnicode_FromString(d->reason),
                          PyUnicode_FromString(d->approval),
                          PyUnicode_FromString(d->message),
                          ilpy_hex(d->args_digest),
                          record_witnesses(s, d),
                          PyLong_FromUnsignedLong(d->rule)};
    return record(s->decision, fields, 13);
}

PyObject *ilpy_settlement(const ilpy_state *s, const il_settlement *d) {
    PyObject *fields[] = {PyBool_FromLong(d->release), PyBool_FromLong(d->quarantined), PyUnicode_FromString(d->reason)};
    return record(s->settlement, fields, 3);
}

PyObject *ilpy_approval(const ilpy_state *s, const il_approval *a) {
    PyObject *fields[] = {PyUnicode_FromString(a->id),         PyUnicode_FromString(a->tool),
                          PyBool_FromLong(a->granted),         PyLong_FromUnsignedLongLong(a->expires_ms),
                          PyLong_FromUnsignedLong(a->effects), PyUnicode_FromString(a->reason != NULL ? a->reason : "")};
    return record(s->approval, fields, 6);
}

PyObject *ilpy_row(const ilpy_state *s, const il_ledger_row *row) {
    PyObject *fields[] = {PyLong_FromUnsignedLongLong(row->seq),
                          PyLong_FromUnsignedLongLong(row->time_ms),
                          ilpy_of_str(row->key),
                          ilpy_of_str(row->kind),
                          PyLong_FromUnsignedLongLong(row->ticket),
                          ilpy_of_str(row->body)};
    return record(s->row, fields, 6);
}
