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
    il_cel_type state_type;  /* the record behind pre and next */
    il_cel_type action_type; /* of `action`: the names of all actions */
    il_cel_type reason_type; /* of `reason`: the rules */
    il_error *err;
} il_loader;

/* Variables of guards and edge regions, in the order of il_model_eval. State regions have the first alone; regions of rejections have the
 * reason in the place of what does not come. */
enum { IL_LOAD_PRE = 0, IL_LOAD_CALL = 1, IL_LOAD_NEXT = 2, IL_LOAD_REASON = 2, IL_LOAD_ACTION = 3, IL_LOAD_NAMES = 4 };

/* A member that must be there and of that kind. `where` is what the object is (`action`), `name` its name, may be empty. */
IL_NODISCARD il_status il_load_need(il_loader *l, const il_json *object, const char *key, il_json_kind kind, const char *where,
                                    il_str name, const il_json **out);
/* An optional bool, false when absent. */
IL_NODISCARD il_status il_load_flag(il_loader *l, const il_json *object, const char *key, bool *out);
/* A name that CEL can say. */
IL_NODISCARD il_status il_load_ident(il_loader *l, const il_json *member, const char *what);
/* Lower-case words joined by hyphens. `text` is what stands at `at`. */
IL_NODISCARD il_status il_load_slug(il_loader *l, const il_json *at, il_str text, bool is_key, const char *what);
/* `bool`, a list of words, {enum: …}, {int: lo..hi, overflow: …}; `var` takes what is said of a variable beside its domain, and is NULL for payload
 * fields, which have no overflow either. */
IL_NODISCARD il_status il_load_domain(il_loader *l, const il_json *v, il_str name, il_domain *out, il_var *var);
/* The place of a value that is written as `true`, a number or a word. */
IL_NODISCARD il_status il_load_value(il_loader *l, const il_json *v, const il_domain *d, uint32_t *place);
IL_NODISCARD il_status il_load_vars(il_loader *l, const il_json *vars);
/* Compiles the expression that a scalar node holds, at the place where it stands. */
IL_NODISCARD il_status il_load_program(il_loader *l, const il_json *v, const il_cel_env *env, il_cel_kind want,
                                       il_cel_program **out);
IL_NODISCARD il_status il_load_actions(il_loader *l, const il_json *actions);
/* The env of an action's guards and edge regions; its arrays live in the arena. */
IL_NODISCARD il_status il_load_env(il_loader *l, const il_action_def *a, bool rejection, il_cel_env *out);
/* A program over the state `pre` alone. */
IL_NODISCARD il_status il_load_over_pre(il_loader *l, const il_json *v, il_cel_program **out);
/* Refuses a program that reads a ghost; `own` (UINT32_MAX: none) may be read. `who` is what reads: `a guard`. */
IL_NODISCARD il_status il_load_no_ghost(il_loader *l, const il_json *v, const il_cel_program *program, uint32_t own, const char *who);
/* NULL json: the document has none. After actions. */
IL_NODISCARD il_status il_load_naps(il_loader *l, const il_json *naps, const il_json *bound);
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
