/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of explanations only. */
#pragma once
#include "policy/bind.h"
#include "policy/compiled.h"
#include "policy/explain.h"
#include "policy/judged.h"

typedef struct il_explaining {
    const il_policy *p;
    il_arena *arena;
    il_explanation *out;
    il_label_call call;
    il_bind bind;
    uint32_t held;
    il_ruling ruling;
} il_explaining;

bool il_explain_accepts(const il_explaining *e, uint64_t state, uint32_t effects, il_sink_word sink, bool approved);
/* What would allow the call, into out->changes. */
IL_NODISCARD il_status il_explain_changes(il_explaining *e, il_error *err);
