/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the extension `interlock._core` share. CPython's limited API of 3.11, so that one binary serves every later version.
 * Not Py_RETURN_NONE and its like: as the headers of 3.12 have them they count no reference, and 3.11 needs one.
 *
 * Threads: every function here runs with the GIL, but where a comment says that it is given up. An object that was made before a fork is refused after it: its ledger
 * belongs to the parent. */
#pragma once
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <string.h>

#include "interlock/host.h"

/* The module's only state: what Python code must be asked for. */
typedef struct ilpy_state {
    PyObject *failure; /* interlock.errors.failure(status, message, line, col) -> exception */
    PyTypeObject *decision, *witness, *settlement, *approval, *row;
    PyTypeObject *policy, *monitor, *origin, *carrier, *text, *index;
    PyObject *joined[3];               /* the last two labels that were joined, and what came of it */
    PyObject *by_carrier, *by_content; /* which of the two found a label */
} ilpy_state;
ilpy_state *ilpy_state_of(PyObject *module);
ilpy_state *ilpy_state_of_type(PyTypeObject *type); /* of a type of this module; NULL with an exception */
ilpy_state *ilpy_state_of_any(PyTypeObject *type);  /* of any type; NULL, without an exception, where it is not of this module */
/* Another number after each fork; getpid() is a system call. */
unsigned ilpy_process(void);

/* ---- errors: each sets a Python exception and returns NULL ------------------------------------------------ */
PyObject *ilpy_fail(const ilpy_state *s, il_status status, const il_error *err);
PyObject *ilpy_misuse(const ilpy_state *s, const char *why);

/* ---- values (value.c) -------------------------------------------------------------------------------------- */
/* json(value, default=None, /) -> bytes: the value's JSON text. dict, list, tuple, str, bytes, int, float, bool and None by what they hold, whatever a subclass overrides;
 * anything else is what default(value) returns, or TypeError. ValueError for what JSON cannot say (NaN, infinities, lone surrogates, keys that are no
 * text), for more than ILPY_DEPTH levels and more than ILPY_BYTES bytes. */
#define ILPY_DEPTH 64
#define ILPY_BYTES ((size_t)64 << 20)
PyObject *ilpy_json(PyObject *module, PyObject *const *args, Py_ssize_t n);
/* judged(value, default, index=None, /) -> (bytes, labels): the same text, with the labels of the value's parts: a tuple of (JSON Pointer, Origin or None, `carrier` or
 * `content`), those of one walk, so that what is judged is what was labelled. A label is where its carrier is, once for all that is in it; of more than ILPY_LABELS in one
 * member of the value one is made, which stands at that member. `index` is asked for texts that have none. */
#define ILPY_LABELS 64
typedef struct ilpy_read {
    il_str text;
    PyObject *labels;
} ilpy_read;
/* The same for the other files: false with an exception, else *out is freed. `index` may be NULL or None. */
bool ilpy_judge(ilpy_state *s, PyObject *value, PyObject *other, PyObject *index, ilpy_read *out);
void ilpy_read_free(ilpy_read *r);
PyObject *ilpy_judged(PyObject *module, PyObject *const *args, Py_ssize_t n);
/* frozen(value, other, /): a copy that shares nothing that could be changed: of dict, list and tuple new ones; str, bytes, numbers and Tainted as they are; of anything else what
 * other(value) returns (frozen.c). */
PyObject *ilpy_frozen(PyObject *module, PyObject *const *args, Py_ssize_t n);
/* digest(text: bytes, times=1, /) -> str: SHA-256 of the sorted canonical text, as hex (value.c) */
PyObject *ilpy_digest(PyObject *module, PyObject *const *args, Py_ssize_t n);
/* The text of a str argument, borrowed from it; false with an exception. None is the empty text where `none`. */
bool ilpy_str(PyObject *v, const char *what, bool none, il_str *out);
/* A document from JSON text in bytes; NULL with an exception. None: *out is NULL and true. */
bool ilpy_doc(const ilpy_state *s, PyObject *bytes, il_json_doc **out);
bool ilpy_doc_of(const ilpy_state *s, il_str text, il_json_doc **out);
PyObject *ilpy_of_str(il_str s);
PyObject *ilpy_of_c(const char *s); /* NULL: None */

/* ---- the types ---------------------------------------------------------------------------------------------- */
bool ilpy_records_init(PyObject *module, ilpy_state *s); /* decision.c: Decision, Witness, Settlement, Approval, Row */
PyObject *ilpy_hex(const uint8_t digest[IL_DIGEST_BYTES]);
PyObject *ilpy_decision(const ilpy_state *s, const il_decision *d);
PyObject *ilpy_settlement(const ilpy_state *s, const il_settlement *d);
PyObject *ilpy_approval(const ilpy_state *s, const il_approval *a);
PyObject *ilpy_row(const ilpy_state *s, const il_ledger_row *row);

extern PyType_Spec ilpy_policy_spec, ilpy_monitor_spec, ilpy_origin_spec, ilpy_index_spec, ilpy_carrier_spec;
/* condition(text, /): (word, source text, what is in it): `and`, `or`, `not` with a list of such; `is`, `is not` with an agent's id, `in` with a group, `other` with "" (condition.c) */
PyObject *ilpy_condition(PyObject *module, PyObject *text);
PyObject *ilpy_document(PyObject *module, PyObject *path); /* policy.c */
PyObject *ilpy_envelope(PyObject *module, PyObject *args); /* envelope.c */
PyObject *ilpy_opened(PyObject *module, PyObject *args);
/* Labels as a tuple of (path, Origin or None, ...). In memory of PyMem's, borrowing from the tuple; NULL with an exception (monitor.c). */
il_origin_at *ilpy_labels_at(const ilpy_state *s, PyObject *all, size_t *n);
/* Borrowed; lives as long as the object. */
const il_policy *ilpy_policy_of(PyObject *policy);
const il_origin *ilpy_origin_of(PyObject *origin);

/* ---- labels (origin.c) and carriers (carrier.c, text.c) ------------------------------------------------------ */
/* Each gives a new reference, or NULL with an exception. */
PyObject *ilpy_label_edited(const ilpy_state *s, PyObject *label);  /* of another value made of one: without its endorsements */
PyObject *ilpy_label_join(ilpy_state *s, PyObject *a, PyObject *b); /* of a value made of both */
PyObject *ilpy_label_add(ilpy_state *s, PyObject *label,
                         PyObject *more); /* the same, takes `label` over; `more` may be NULL, `label` too */
PyObject *ilpy_label_of(const ilpy_state *s, il_origin *origin); /* takes it over */
bool ilpy_label_endorsed(PyObject *label);
/* Whether v is a carrier; *label is borrowed, NULL where it has none that is one, which is an unknown source. Asks nothing that a subclass could answer. */
bool ilpy_carries(const ilpy_state *s, PyObject *v, PyObject **label);
/* The value in a carrier that is no str, bytes, list, dict or tuple; borrowed, NULL without an exception when there is none. */
PyObject *ilpy_carried(PyObject *v);
/* labels(value, default=None, /): the label of a value made of all that is in it, or None. `default` as in json(); where it raises, that part has none. */
PyObject *ilpy_labels(PyObject *module, PyObject *const *args, Py_ssize_t n);
/* The same without `default`, joined to `label`, which is taken over. */
PyObject *ilpy_labels_in(ilpy_state *s, PyObject *label, PyObject *value);
/* A str with a label. Takes both over, `plain` is a str and no subclass. NULL when one of them is. */
PyObject *ilpy_text(const ilpy_state *s, PyObject *plain, PyObject *label);
PyTypeObject *ilpy_text_type(PyObject *module, PyTypeObject *carrier);
PyObject **ilpy_text_label(PyObject *text); /* where its label stands; NULL in it while it is made */
/* Labels of the sources whose content a text has, joined (new), Py_None of an unknown one, or NULL: none, or an exception. */
PyObject *ilpy_index_label(ilpy_state *s, PyObject *index, const char *p, size_t n);
bool ilpy_index_empty(PyObject *index);
