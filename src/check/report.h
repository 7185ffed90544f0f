/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of the report's JSON. Builders may get NULL; that memory ran out is looked at once, at the end (`failed`). Not for other modules. */
#pragma once
#include "check/harden.h"
#include "json/node.h"

typedef struct il_report {
    il_arena *arena;
    const il_model *m;
    bool failed; /* some builder had no memory */
} il_report;

void il_report_set(il_report *r, il_json *o, const char *key, il_json *v);
void il_report_push(il_report *r, il_json *list, il_json *v);
il_json *il_report_object(il_report *r);
il_json *il_report_list(il_report *r);
il_json *il_report_null(il_report *r);
il_json *il_report_str(il_report *r, il_str s);       /* borrowed */
il_json *il_report_word(il_report *r, const char *z); /* likewise */
il_json *il_report_number(il_report *r, uint64_t v);
il_json *il_report_bool(il_report *r, bool v);
il_json *il_report_copy(il_report *r, const char *text, size_t n);
il_json *il_report_buf(il_report *r, il_buf *b); /* what was written */
il_json *il_report_digest(il_report *r, const uint8_t digest[IL_DIGEST_BYTES]);
il_json *il_report_vars(il_report *r, uint64_t vars);
il_json *il_report_actions(il_report *r, uint64_t actions);
il_json *il_report_region(il_report *r, uint32_t region); /* null past the last */
/* `{"flight":"true", ...}`: the variables that are not at their first value. */
il_json *il_report_state(il_report *r, uint64_t state);
/* `accept` with the state that it leads to, `reject` with the rule, or `fault`. */
void il_report_step(il_report *r, il_json *o, uint64_t state, il_step step);
/* The steps, null for a trace that was not found. */
il_json *il_report_trace(il_report *r, const il_trace *t);
/* What was asked: every region with its form and condition, every variable with its values and marks. */
il_json *il_report_regions(il_report *r);
il_json *il_report_variables(il_report *r);
