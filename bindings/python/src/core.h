/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the extension `interlock._core` share. CPython's limited API of 3.11, so that one binary serves every later version.
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
    PyTypeObject *policy, *monitor, *origin;
} ilpy_state;
ilpy_state *ilpy_state_of(PyObject *module);
ilpy_state *ilpy_state_of_type(PyTypeObject *type); /* of a type of this module; NULL with an exception */

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
/* The text of a str argument, borrowed from it; false with an exception. None is the empty text where `none`. */
bool ilpy_str(PyObject *v, const char *what, bool none, il_str *out);
/* A document from JSON text in bytes; NULL with an exception. None: *out is NULL and true. */
bool ilpy_doc(const ilpy_state *s, PyObject *bytes, il_json_doc **out);
PyObject *ilpy_of_str(il_str s);
PyObject *ilpy_of_c(const char *s); /* NULL: None */

/* ---- the types ---------------------------------------------------------------------------------------------- */
bool ilpy_records_init(PyObject *module, ilpy_state *s); /* decision.c: Decision, Witness, Settlement, Approval, Row */
PyObject *ilpy_decision(const ilpy_state *s, const il_decision *d);
PyObject *ilpy_settlement(const ilpy_state *s, const il_settlement *d);
PyObject *ilpy_approval(const ilpy_state *s, const il_approval *a);
PyObject *ilpy_row(const ilpy_state *s, const il_ledger_row *row);

extern PyType_Spec ilpy_policy_spec, ilpy_monitor_spec, ilpy_origin_spec;
/* Borrowed; lives as long as the object. */
const il_policy *ilpy_policy_of(PyObject *policy);
const il_origin *ilpy_origin_of(PyObject *origin);
