/* SPDX-License-Identifier: Apache-2.0 */
/* Walks what came back, and tells an episode what it is: facts, trusted and free texts. */
#pragma once
#include "policy/compiled.h"
#include "policy/result.h"

typedef struct il_result_walk {
    const il_kinds *kinds;
    const il_result_form *form; /* NULL: no fields */
    il_arena *arena;
    il_episode *episode;
    bool texts, facts; /* what is kept */
    bool untrusted;    /* free text is */
    bool blind;
} il_result_walk;

/* A text that no field is. */
IL_NODISCARD il_status il_result_free(const il_result_walk *w, il_str text, il_error *err);
/* Every string, number and key below. */
IL_NODISCARD il_status il_result_free_below(const il_result_walk *w, const il_json *v, il_error *err);
/* One item: its declared fields are facts, all else in it is free. `untrusted` is of this item's free text. */
IL_NODISCARD il_status il_result_item(const il_result_walk *w, const il_json *item, bool untrusted, il_error *err);
/* The `Name: value` lines at the head of a text, up to the first empty line, as one item. */
IL_NODISCARD il_status il_result_head(const il_result_walk *w, il_str text, il_error *err);
