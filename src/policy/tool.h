/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of `tools`: what a call of the tools that it matches does, and where it sends. */
#pragma once
#include "policy/argument.h"
#include "policy/field.h"
#include "policy/glob.h"

typedef enum il_role {
    IL_ROLE_TO,
    IL_ROLE_OBJECT,
    IL_ROLE_READS,
    IL_ROLE_LINE,
    IL_ROLE_PLAIN,
    IL_ROLE_WITHIN,
    IL_ROLE_STORE,
    IL_ROLE_PART
} il_role; /* LINE: read as READS is, and of one line; WITHIN: names a thing inside the destination; STORE: a place that is written, whatever else it is; PART: goes into a template */

typedef struct il_argument {
    il_role role;
    il_kind kind; /* of TO, OBJECT and STORE */
    il_arg_path path;
} il_argument;
typedef struct il_built { /* a destination or object that is made from several arguments */
    il_role role;
    il_kind kind;
    il_template form;
    il_str remembered;  /* `$page`: what a result was remembered by, instead of a form; empty: none */
    uint32_t line, col; /* of what is remembered */
    il_str fixed;       /* canonical; of a store: the value itself (`=/memory`), instead of a form; empty: none */
} il_built;

typedef struct
    il_own_kind { /* a value that is built from arguments, under the name of its kind: `kinds: { repo: "{owner}/{repo}" }` */
    il_str name;
    il_kind kind;
    il_template form;
} il_own_kind;

/* What an entry is read with. */
typedef struct il_tool_scope {
    il_arena *arena;
    il_kinds *kinds;
    const il_json *own; /* the document's `kinds`, which every entry has but for those of its own; NULL: none */
} il_tool_scope;

typedef struct il_effects il_effects; /* effect.h */

typedef struct il_tool {
    uint32_t nglobs;
    il_glob *globs;
    uint32_t effects;       /* the worst case; secret has set sensitive */
    uint32_t said;          /* as they are written, conditions taken as true */
    const il_effects *when; /* conditions that can take effects away; NULL: none */
    uint32_t nkinds;
    il_own_kind *kinds;
    const il_arg_path *sql, *shell; /* the argument that holds a statement or command, which conditions ask about; NULL: none */
    il_str preset;                  /* where the entry came from; empty: the policy itself */
    il_str source;                  /* what its results are called as a source; empty: the tool's name */
    bool once;                      /* else standing */
    bool sink_said;                 /* `sink` is written out */
    bool addressed;                 /* else public */
    bool child;                     /* what it calls is another agent, with a session of its own */
    uint32_t narguments, nbuilt;
    il_argument *arguments;
    il_built *built;
    bool to_user; /* `to: user`: the addressee is the session's own user */
    uint32_t nremember;
    const il_result_form *result; /* NULL: nothing is said of results, so all in them is free text */
    il_remember *remember;
    uint8_t meaning[IL_DIGEST_BYTES]; /* of the entry without `match`: equal entries have equal digests */
    uint32_t line, col;
} il_tool;

IL_NODISCARD il_status il_tool_load(const il_json *entry, const il_tool_scope *scope, il_tool *out, il_error *err);
/* `{ repo: "{owner}/{repo}" }`, checked. */
IL_NODISCARD il_status il_tool_own_check(const il_json *kinds, const il_tool_scope *scope, il_error *err);
/* Whether some argument, or something that is built from several, has this role. `to: user` is none. */
bool il_tool_declares(const il_tool *t, il_role role);
