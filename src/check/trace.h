/* SPDX-License-Identifier: Apache-2.0 */
/* A witness: the steps from one state to another. */
#pragma once
#include "base/buf.h"
#include "machine/model.h"

/* One step: a symbol, or (symbol IL_NO_SYMBOL) an adversary's write of var. */
typedef struct il_trace_step {
    uint32_t symbol, var, value;
    uint64_t pre, post;
} il_trace_step;
typedef struct il_trace {
    bool found;
    uint32_t n;
    il_trace_step *steps;
} il_trace;

/* `admit{sensitive,egress=once} untrusted:=fresh`, steps separated by spaces. */
void il_trace_text(const il_model *m, const il_trace *t, il_buf *out);
/* `phase=live flight=true`: variables that are not at the first value of their domain; `initial` when all are. */
void il_state_text(const il_model *m, uint64_t state, il_buf *out);
