/* SPDX-License-Identifier: Apache-2.0 */
/* Interbolt documents (`version: "2.0"`): one translator writes them out as a policy of ours, on the machine `rules-only`. What it decides as Interbolt does, and
 * where it does not, stands in docs/from-interbolt.md.
 *
 * The translated document has a section `interbolt`, which says how its rules are read: conditions name what Interbolt's do, a call that no rule decides gets
 * `sink_action`, tools of servers that nobody declared are judged like others, and with `fail_mode: monitor` a rule whose condition errs is passed over. */
#pragma once
#include "cel/cel.h"
#include "interlock/policy.h"
#include "policy/rule.h"
#include "json/node.h"

#define IL_INTERBOLT_MACHINE "rules-only"

/* Whether the document was written for Interbolt: it has no `interlock` and no `machine` (which has a number as `version`), and has a text as `version`, or `sinks`. */
bool il_interbolt_is(const il_json *doc);
/* *out is a policy of ours, in the arena, that borrows from `doc`; its nodes stand where they came from. IL_E_INVALID with position, IL_E_VERSION. */
IL_NODISCARD il_status il_interbolt_expand(il_arena *arena, const il_json *doc, const il_json **out, il_error *err);
/* The fingerprint that Interbolt gives the document: SHA-256 of its normal form. The document has been expanded without an error. */
IL_NODISCARD il_status il_interbolt_fingerprint(const il_json *doc, il_arena *scratch, uint8_t out[IL_DIGEST_BYTES],
                                                il_error *err);

/* ---- the section ---------------------------------------------------------------------------------------- */

typedef struct il_interbolt {
    bool on;
    bool soft;                /* an error in a condition passes its rule over */
    il_policy_rule otherwise; /* `sink_action`, as the rule behind all others */
} il_interbolt;
/* `v` may be NULL: another policy. */
IL_NODISCARD il_status il_interbolt_load(const il_json *v, il_interbolt *out, il_error *err);

/* ---- what conditions name --------------------------------------------------------------------------------- */

/* Behind the names of every policy (il_condition_name), in this order. */
typedef enum il_interbolt_name {
    IL_INTERBOLT_TAINT = 0,
    IL_INTERBOLT_SOURCES,
    IL_INTERBOLT_MAX_TRUST,
    IL_INTERBOLT_TRIFECTA,
    IL_INTERBOLT_NAMES
} il_interbolt_name;
extern const il_cel_field il_interbolt_vars[IL_INTERBOLT_NAMES];
/* `run` and `agent` as Interbolt has them: its words for the legs, and any text for a group. */
extern const il_cel_type il_interbolt_run, il_interbolt_agent;

/* The value of one of the names, of `run` and of `tool`. */
struct il_condition_call;
IL_NODISCARD il_status il_interbolt_value(struct il_condition_call *c, il_interbolt_name name, il_cel_value *out, il_error *err);
IL_NODISCARD il_status il_interbolt_run_value(struct il_condition_call *c, il_cel_value *out, il_error *err);
IL_NODISCARD il_status il_interbolt_tool_value(struct il_condition_call *c, il_cel_value *out, il_error *err);

/* What nobody knows who asks without a session: which sources it read, and, without arguments, their labels. */
IL_NODISCARD il_status il_interbolt_unknown(struct il_condition_call *c, uint32_t asks, il_error *err);

/* ---- what has been written and was not meant ---------------------------------------------------------------- */

struct il_lint_out;
/* What Interbolt's own validate says of a document that loads: what it calls a warning goes to `warn`, what it calls an error to `found`. That a rule is never reached is
 * il_policy_lint's. `doc` is the document as it was written. */
IL_NODISCARD il_status il_interbolt_lint(const il_policy *p, const il_json *doc, il_arena *scratch,
                                         const struct il_lint_out *warn, const struct il_lint_out *found, il_error *err);
/* Its part about rules that ask only who calls: which agents meet each, by their groups, and whether an earlier rule has met them all. */
IL_NODISCARD il_status il_interbolt_lint_agents(const il_policy *p, il_arena *scratch, const struct il_lint_out *found,
                                                il_error *err);
