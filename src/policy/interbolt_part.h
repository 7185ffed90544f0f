/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the translator share. */
#pragma once
#include "provenance/origin.h"
#include "json/node.h"

typedef struct il_interbolt_doc { /* a document that is being written out */
    const il_json *doc;
    il_json *sources; /* name to trust, as they were read */
    il_arena *arena;
    il_error *err;
} il_interbolt_doc;

/* `made` stands where `at` does; both may be NULL. */
il_json *il_interbolt_at(il_json *made, const il_json *at);
il_json *il_interbolt_text(il_interbolt_doc *x, il_str text, const il_json *at);
IL_NODISCARD il_status il_interbolt_set(il_interbolt_doc *x, il_json *object, il_str key, il_json *value, const il_json *at);
IL_NODISCARD il_status il_interbolt_push(il_interbolt_doc *x, il_json *array, il_json *value);
/* One of the words, NULL behind the last; else an error with the nearest. */
IL_NODISCARD il_status il_interbolt_word(il_interbolt_doc *x, const il_json *v, const char *what, const char *const *words,
                                         uint32_t *out);
/* Of agents, groups and kinds of endorsement. */
bool il_interbolt_name_ok(il_str name);
/* `sinks`, as `servers`, `tools` and `rules`. */
IL_NODISCARD il_status il_interbolt_sinks(il_interbolt_doc *x, il_json *flat);
/* The condition that `require_endorsement: kind` stands for. */
IL_NODISCARD il_status il_interbolt_endorsement(il_arena *arena, il_str kind, il_str *out, il_error *err);
