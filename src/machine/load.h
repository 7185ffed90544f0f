/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the document loader share. Not for other modules. */
#pragma once
#include "cel/family.h"
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
    il_cel_families families; /* and the index under which something is loaded just now */
    il_cel_let *lets;         /* the lets of the document, then one for each const */
    const il_json **let_nodes;
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
/* A sentence that people are shown: at least one character and one line, and nothing that steers a terminal or reorders what is read. */
IL_NODISCARD il_status il_load_sentence(il_loader *l, const il_json *v, const char *what, il_str *out);
IL_NODISCARD il_status il_load_flag(il_loader *l, const il_json *object, const char *key, bool *out);
/* A name that CEL can say: the key of `member`, or the part of it before an index. */
IL_NODISCARD il_status il_load_ident(il_loader *l, const il_json *member, il_str name, const char *what);
/* The same of a name that stands alone in an expression, and would hide what does so already. */
IL_NODISCARD il_status il_load_free_name(il_loader *l, const il_json *member, il_str name, const char *what);
bool il_load_is_word(il_str s);
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

/* --- families: load_family.c --- */

/* NULL json: the document has none. Before everything else. */
IL_NODISCARD il_status il_load_families(il_loader *l, const il_json *families);
/* For il_cel_env.families; NULL when there are none. */
const il_cel_families *il_load_names(const il_loader *l);
/* What is loaded from here on stands under that index; family l->families.n: under none. */
void il_load_bind(il_loader *l, size_t family, size_t member);
/* The key of a declaration: `cap`, or `cap[c]` with a family (else l->families.n). */
IL_NODISCARD il_status il_load_declared(il_loader *l, const il_json *v, il_str *base, size_t *family);

/* One thing that a map of declarations makes. */
typedef struct il_load_instance {
    const il_json *v;
    il_str base, name; /* `cap`, `cap[net]`; the same without an index */
    size_t family, member;
} il_load_instance;
/* All of them, in the order of the document and of the members; none, or more than `max`, is refused. */
IL_NODISCARD il_status il_load_instances(il_loader *l, const il_json *object, const char *what, const char *plural, uint32_t max,
                                         il_load_instance **out, uint32_t *n);
/* The bases that have an index. */
IL_NODISCARD il_status il_load_bases(il_loader *l, const il_load_instance *all, uint32_t n, const il_cel_indexed **out,
                                     size_t *nout);

/* A name that the document mentions. */
typedef struct il_load_named {
    il_str name; /* with a bound index that of the member */
    il_str base;
    bool every;    /* `cap[*]` */
    bool open;     /* `cap[c]` where nothing binds c: each member of `family` */
    size_t family; /* l->families.n when the index is no family */
} il_load_named;
IL_NODISCARD il_status il_load_name(il_loader *l, const il_json *at, il_str text, il_load_named *out);

IL_NODISCARD il_status il_load_actions(il_loader *l, const il_json *actions);
/* The env of an action's guards and edge regions; its arrays live in the arena. */
IL_NODISCARD il_status il_load_env(il_loader *l, const il_action_def *a, bool rejection, il_cel_env *out);
/* A program over the state `pre` alone, of a kind. */
IL_NODISCARD il_status il_load_over_pre(il_loader *l, const il_json *v, il_cel_kind want, il_cel_program **out);
/* Refuses a program that reads a ghost; `own` (UINT32_MAX: none) may be read. `who` is what reads: `a guard`. */
IL_NODISCARD il_status il_load_no_ghost(il_loader *l, const il_json *v, const il_cel_program *program, uint32_t own,
                                        const char *who);
/* NULL json: the document has none. After actions. */
IL_NODISCARD il_status il_load_naps(il_loader *l, const il_json *naps, const il_json *bound);
IL_NODISCARD il_status il_load_regions(il_loader *l, const il_json *regions);
/* A list of action names as bits: `approve[c]` with c bound, `approve[*]` and `approve[net]` among them. */
IL_NODISCARD il_status il_load_action_set(il_loader *l, const il_json *list, const char *key, uint64_t *out);
/* One entry of it. */
IL_NODISCARD il_status il_load_action_bits(il_loader *l, const il_json *v, uint64_t *out);
/* The contract's number of a rule, from 1; 0 when there is none. */
uint32_t il_load_rule(const il_loader *l, il_str name);
/* Fails at `at` with "no KIND `name`" and the nearest of `names` as a suggestion. */
IL_NODISCARD il_status il_load_unknown(il_loader *l, const il_json *at, const char *kind, il_str name, const il_str *names,
                                       size_t n);
/* The sections `diagnosis` and `fleet`; NULL json: the document has none. After actions and regions. */
IL_NODISCARD il_status il_load_diagnosis(il_loader *l, const il_json *section);
IL_NODISCARD il_status il_load_fleet(il_loader *l, const il_json *section);
IL_NODISCARD il_status il_load_widens(il_loader *l, const il_json *list);
