/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `interlock machine show` share. */
#pragma once
#include "check/graph.h"

typedef struct il_show {
    const char *path, *by;
    bool dot, json;
    il_arena arena;
    il_model *m;
    il_graph graph;
} il_show;

/* An expression as text, lets expanded. */
il_str il_show_source(il_show *run, const il_cel_program *program);
/* What a region asks; of one of steps, as its first action has it. */
const il_cel_program *il_show_predicate(const il_model *m, const il_region *r);
const char *il_show_kind(const il_region *r); /* `never` */
const char *il_show_overflow(il_overflow o);
/* Symbols of an action that no reachable state accepts. */
uint32_t il_show_never(const il_show *run, const il_action_def *a);
il_str il_show_nap_symbol(il_show *run, uint32_t nap);
IL_NODISCARD il_status il_show_object(il_show *run, il_json **out, il_error *err);
