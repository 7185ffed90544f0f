/* SPDX-License-Identifier: Apache-2.0 */
/* Builders of result objects that are asked once, at the end, whether memory was enough. Keys and words are static text or live in the arena. */
#pragma once
#include "json/node.h"
#include "machine/model.h"

typedef struct il_maker {
    il_arena *arena;
    bool failed;
} il_maker;

il_json *il_maker_object(il_maker *k);
il_json *il_maker_list(il_maker *k);
void il_maker_set(il_maker *k, il_json *object, const char *key, il_json *v);
void il_maker_push(il_maker *k, il_json *list, il_json *v);
il_json *il_maker_word(il_maker *k, const char *z); /* null for NULL */
il_json *il_maker_text(il_maker *k, il_str s);      /* null when empty */
il_json *il_maker_number(il_maker *k, uint64_t v);
il_json *il_maker_truth(il_maker *k, bool v);
il_json *il_maker_null(il_maker *k);
/* A packed state as rows of the trail spell it: 16 hexadecimal digits. */
il_json *il_maker_state(il_maker *k, uint64_t state);
/* As il_model_symbol_brief(); null for IL_NO_SYMBOL. */
il_json *il_maker_symbol(il_maker *k, const il_model *m, uint32_t symbol);
/* The variables that are not at their first value, by name: what a person wants to know of a state. */
il_json *il_maker_values(il_maker *k, const il_model *m, uint64_t state);
IL_NODISCARD il_status il_maker_done(const il_maker *k, il_error *err);
