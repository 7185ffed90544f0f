/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the document loader share. Not for other modules. */
#pragma once
#include "machine/model.h"

typedef struct il_load_const {
    il_str name;
    int64_t value;
} il_load_const;

typedef struct il_loader {
    il_arena *arena;
    il_model *m;
    il_load_const *consts;
    size_t nconsts;
    il_cel_let *lets; /* the lets of the document, then one for each const */
    bool *let_used;
    size_t nlets;
    il_cel_type state_type; /* the record behind pre and next */
    il_error *err;
} il_loader;

/* The env of guards over (pre, call, next); il_loader_env_pre is that of state regions. */
enum { IL_LOAD_PRE = 0, IL_LOAD_CALL = 1, IL_LOAD_NEXT = 2 };

/* A member that must be there and of that kind. `where` is what the object is (`action`), `name` its name, may be empty. */
IL_NODISCARD il_status il_load_need(il_loader *l, const il_json *object, const char *key, il_json_kind kind, const char *where,
                                    il_str name, const il_json **out);
/* An optional bool, false when absent. */
IL_NODISCARD il_status il_load_flag(il_loader *l, const il_json *object, const char *key, bool *out);
/* A name that CEL can say. */
IL_NODISCARD il_status il_load_ident(il_loader *l, const il_json *member, const char *what);
/* Lower-case words joined by hyphens. `text` is what stands at `at`. */
IL_NODISCARD il_status il_load_slug(il_loader *l, const il_json *at, il_str text, bool is_key, const char *what);
/* `bool`, a list of words, {enum: …}, {int: lo..hi, overflow: …}; taint is NULL for payload fields, which have no overflow either. */
IL_NODISCARD il_status il_load_domain(il_loader *l, const il_json *v, il_str name, il_domain *out, bool *taint);
/* Compiles the expression that a scalar node holds, at the place where it stands. */
IL_NODISCARD il_status il_load_program(il_loader *l, const il_json *v, const il_cel_env *env, il_cel_kind want,
                                       il_cel_program **out);
IL_NODISCARD il_status il_load_actions(il_loader *l, const il_json *actions);
/* The env of an action's guards and edge regions; its arrays live in the arena. */
IL_NODISCARD il_status il_load_env(il_loader *l, const il_action_def *a, il_cel_env *out);
IL_NODISCARD il_status il_load_regions(il_loader *l, const il_json *regions);
/* A list of action names as bits. */
IL_NODISCARD il_status il_load_action_set(il_loader *l, const il_json *list, const char *key, uint64_t *out);
/* The contract's number of a rule, from 1; 0 when there is none. */
uint32_t il_load_rule(const il_loader *l, il_str name);
/* Fails at `at` with "no KIND `name`" and the nearest of `names` as a suggestion. */
IL_NODISCARD il_status il_load_unknown(il_loader *l, const il_json *at, const char *kind, il_str name, const il_str *names,
                                       size_t n);
/* The sections `diagnosis` and `fleet`; NULL json: the document has none. After actions and regions. */
IL_NODISCARD il_status il_load_diagnosis(il_loader *l, const il_json *section);
IL_NODISCARD il_status il_load_fleet(il_loader *l, const il_json *section);
IL_NODISCARD il_status il_load_widens(il_loader *l, const il_json *list);
