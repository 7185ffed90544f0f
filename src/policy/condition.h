/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: the CEL of a policy, and what it may name (docs/policy.md, Conditions).
 *
 * A condition is compiled once, in one of two places: at an effect of an entry, where it can only remove the effect, or at a rule. What could not be
 * meant there (an unknown name, a class that is none, a question that has no answer yet) is an error of the document, at its position. What errs in an
 * evaluation is the caller's to take as the worst case. */
#pragma once
#include "cel/cel.h"
#include "policy/argument.h"
#include "policy/label.h"
#include "policy/tool.h"

typedef enum il_condition_place { IL_CONDITION_EFFECT = 0, IL_CONDITION_RULE } il_condition_place;

/* The variables of every place, in this order; the entry's own names stand behind them. */
typedef enum il_condition_name {
    IL_CONDITION_ARGS = 0,
    IL_CONDITION_TOOL,
    IL_CONDITION_SERVER,
    IL_CONDITION_AGENT,
    IL_CONDITION_RUN,
    IL_CONDITION_PROV,
    IL_CONDITION_STATE,
    IL_CONDITION_ITEM,
    IL_CONDITION_NAMES
} il_condition_name;
#define IL_CONDITION_OWN_MAX 16u /* kinds and remembered names of one entry */

/* What else is asked than variables, as bits of il_condition.asks; bit i below these: variable i, and of Interbolt's names IL_CONDITION_NAMES + i. */
#define IL_CONDITION_ASKS_VOUCHED (1u << 16)
#define IL_CONDITION_ASKS_LABELLED (1u << 17)
#define IL_CONDITION_ASKS_SQL (1u << 18)
#define IL_CONDITION_ASKS_SHELL (1u << 19)
#define IL_CONDITION_ASKS_ENDORSED (1u << 21)
#define IL_CONDITION_ASKS_SOURCES (1u << 20) /* run.sources and its likes: what only a session's memory knows */

typedef struct il_condition {
    const il_cel_program *program;
    uint32_t asks;
} il_condition;
/* Whether it can be told only from the result. */
static inline bool il_condition_on_item(const il_condition *c) { return (c->asks & (1u << IL_CONDITION_ITEM)) != 0; }

/* What may be named at one place. Made once and used for all conditions there; lives as long as their programs. */
typedef struct il_condition_scope {
    il_condition_place place;
    const il_cel_env *env;
    bool items;      /* `item` has fields */
    bool sql, shell; /* the entry names the argument that is read so; of rules both */
    bool interbolt;
    uint32_t nown;
} il_condition_scope;

/* `own`: the entry's kinds and remembered names, each a text in conditions. `item`: paths of the fields of an item that may be read (`user.login`),
 * none when the entry has no readable result. `at`: where a name that cannot stand is refused. */
typedef struct il_condition_names {
    il_condition_place place;
    const il_machine *machine;
    const il_str *groups; /* that there are: any other word compared with one is an error */
    uint32_t ngroups;
    const il_str *own;
    uint32_t nown;
    const il_str *item;
    uint32_t nitem;
    const il_json *given; /* constants by name: what a preset was used with; NULL: none */
    bool sql, shell;
    bool interbolt; /* what Interbolt's conditions name stands behind the names of every policy, and values of two kinds differ, as in CEL. Otherwise to compare
                     * them is an error: a server may take `"true"` for true */
} il_condition_names;
IL_NODISCARD il_status il_condition_scope_new(const il_condition_names *names, const il_json *at, il_arena *arena,
                                              il_condition_scope *out, il_error *err);

/* Compiles one: a text (`args.amount > 5000`), which must give a bool. */
IL_NODISCARD il_status il_condition_new(const il_json *v, const il_condition_scope *scope, il_arena *arena, il_condition *out,
                                        il_error *err);

/* ---- evaluation ------------------------------------------------------------------------------------- */

/* What one decision is about. Filled by the caller, then used for all conditions of this decision: values are made when they are first read. */
typedef struct il_condition_call {
    const il_policy *policy;
    const il_label_call *call;
    uint32_t declared;     /* effects that are known of the call so far; before vouching */
    uint64_t state;        /* the machine's; rules only */
    const il_label *label; /* rules only */
    const il_tool *
        tool; /* the entry, whose `sql` or `shell` argument is read; NULL: several or none, and what is asked about a statement errs */
    const il_str *own; /* values of the entry's own names, in the scope's order; p NULL: none in this call */
    uint32_t nown;
    il_arena *scratch;
    /* made here */
    il_status failed; /* what was asked of the outside could not be answered: a fault of the call */
    il_error why;
    const struct il_sql *sql;
    const struct il_shell *shell;
    uint32_t made;
    il_cel_value values[IL_CONDITION_NAMES + IL_CONDITION_OWN_MAX];
} il_condition_call;

/* The variables that `asks` are made; IL_E_MEMORY, IL_E_LIMIT. */
IL_NODISCARD il_status il_condition_values(il_condition_call *c, uint32_t asks, il_error *err);
/* An error value or a bool. A value that could not be made is an error value as well. */
il_cel_value il_condition_eval(const il_condition *condition, il_condition_call *c);
/* IL_OK, or why something that was asked outside (a store's labels) had no answer: then nothing that was evaluated counts. */
IL_NODISCARD il_status il_condition_done(const il_condition_call *c, il_error *err);
/* The item that the next conditions are about: those of its fields that the scope knows. */
IL_NODISCARD il_status il_condition_item(il_condition_call *c, const il_arg_path *paths, uint32_t npaths, const il_json *item,
                                         il_error *err);

/* ---- for the files of conditions ---------------------------------------------------------------------- */

extern const il_cel_function il_condition_functions[];
extern const size_t il_condition_nfunctions;
/* The words that a function takes as the argument of this number (NULL: it takes none of a fixed list), ended by an empty one. */
const il_str *il_condition_words(il_str function, uint32_t *argument);
/* Position of a condition's first character: behind the quotation mark of a text that has one. */
static inline uint32_t il_condition_col(const il_json *v) { return v->col + (v->plain ? 0u : 1u); }
