/* SPDX-License-Identifier: Apache-2.0 */
/* What the module exports, which is what bindings/js/lib/core.js calls. The parts of each request are named in their order; `n` is the request's length, `now_ms` the wall clock. */
#pragma once
#include "core.h"

#define ILJS_EXPORT(name) __attribute__((export_name(#name)))

/* Room for `n` bytes of request; NULL: no memory. */
ILJS_EXPORT(iljs_in) uint8_t *iljs_in(size_t n);
ILJS_EXPORT(iljs_state_at) const iljs_state *iljs_state_at(void);
/* `random` has been filled anew. */
ILJS_EXPORT(iljs_refill) void iljs_refill(void);
/* The library's version is the answer. */
ILJS_EXPORT(iljs_version) il_status iljs_version(void);

/* ---- machines, presets, policies: each lives as long as the instance ---------------------------------------------- */

/* table, certificate. NULL: the error is in `out`. */
ILJS_EXPORT(iljs_machine) il_machine *iljs_machine(size_t n);
/* policy document. Says which machine it names. */
ILJS_EXPORT(iljs_machine_name) il_status iljs_machine_name(size_t n);
/* name, document */
ILJS_EXPORT(iljs_preset) il_status iljs_preset(size_t n);
/* policy document. At work on `machine`: the answer is the fingerprint (32 bytes) and whether it only monitors. NULL: the error is in `out`; with `wanted` a preset was asked for. */
ILJS_EXPORT(iljs_monitor) il_monitor *iljs_monitor(size_t n, const il_machine *machine, uint32_t enforce, double deadline_ms);
ILJS_EXPORT(iljs_monitor_free) void iljs_monitor_free(il_monitor *m);

/* ---- objects of the store ------------------------------------------------------------------------------------------- */

/* Forgets the objects of the call before. */
ILJS_EXPORT(iljs_clear) void iljs_clear(void);
/* space, key, state. Version 0: there is no such object. */
ILJS_EXPORT(iljs_object) il_status iljs_object(size_t n, double version);
/* A commit was not taken, so what a session knows here may be more than what is stored. */
ILJS_EXPORT(iljs_forget) void iljs_forget(void);

/* ---- sessions: one for each function of interlock/monitor.h ----------------------------------------------------------- */

/* session, parent, principal */
ILJS_EXPORT(iljs_begin) il_status iljs_begin(il_monitor *m, size_t n, double now_ms, uint32_t resume);
/* session, server, tool, arguments, labels (empty: none). IL_OK with a decision, a block too; any other status is of a request that cannot be read. */
ILJS_EXPORT(iljs_decide) il_status iljs_decide(il_monitor *m, size_t n, double now_ms, uint32_t unjoined);
/* session, child (empty: none), result (empty: none), error, arguments (empty: not known) */
ILJS_EXPORT(iljs_settle)
il_status iljs_settle(il_monitor *m, size_t n, double now_ms, double ticket, uint32_t done, uint32_t absent);
/* session, text */
ILJS_EXPORT(iljs_say) il_status iljs_say(il_monitor *m, size_t n, double now_ms);
/* session, from, text, agent; `kind`: an il_notice_kind */
ILJS_EXPORT(iljs_notice) il_status iljs_notice(il_monitor *m, size_t n, double now_ms, uint32_t kind, uint32_t untrusted);
/* session, kind, by, value, note. The value's digest is the answer. */
ILJS_EXPORT(iljs_endorse) il_status iljs_endorse(il_monitor *m, size_t n, double now_ms);
/* session, approval, by */
ILJS_EXPORT(iljs_answer) il_status iljs_answer(il_monitor *m, size_t n, double now_ms, uint32_t granted);
/* session */
ILJS_EXPORT(iljs_end) il_status iljs_end(il_monitor *m, size_t n, double now_ms, uint32_t abandon);
/* session, why */
ILJS_EXPORT(iljs_quarantine) il_status iljs_quarantine(il_monitor *m, size_t n, double now_ms);
/* session. The answer is one after the other, to its end. */
ILJS_EXPORT(iljs_approvals) il_status iljs_approvals(il_monitor *m, size_t n, double now_ms);
