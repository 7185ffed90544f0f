/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of the lint only. */
#pragma once
#include "cel/ast.h"
#include "policy/compiled.h"
#include "policy/effect.h"
#include "policy/lint.h"

typedef struct il_linting {
    const il_policy *p;
    il_arena *arena;
    const il_lint_out *out;
} il_linting;

typedef struct il_lint_at { /* what a finding is about, and where it stands */
    il_str name;
    uint32_t line, col;
} il_lint_at;
IL_PRINTF(5, 6)
IL_NODISCARD il_status il_lint_say(il_linting *l, const char *kind, const il_lint_at *at, il_error *err, const char *fmt, ...);

/* Whether the node is a field of that variable (`agent.groups`), any where `field` is empty. */
static inline bool il_lint_field(const il_cel_node *n, uint32_t slot, il_str field) {
    return (n->op == IL_CEL_OP_FIELD || n->op == IL_CEL_OP_SELECT) && n->kids != NULL && n->kids->op == IL_CEL_OP_VAR &&
           n->kids->slot == slot && (field.n == 0 || il_str_eq(n->name, field));
}

/* Which entries a rule is about. Forms of all entries' patterns are numbered; a bit says it of one of them. */
typedef struct il_lint_reach {
    uint32_t nforms, words; /* words of 64 bits in a row */
    const il_str *forms;
    uint64_t *may, *sure; /* a row for each rule: some tool, and every tool, that the form matches is the rule's */
    uint32_t *class;      /* of a form: the first form that is surely of the same rules */
} il_lint_reach;
/* IL_E_LIMIT never for a large policy: *known is false then, and nothing is said. */
IL_NODISCARD il_status il_lint_reach_new(const il_policy *p, il_arena *arena, il_lint_reach *out, bool *known, il_error *err);
static inline bool il_lint_bit(const uint64_t *bits, uint32_t words, uint32_t row, uint32_t i) {
    return (bits[(size_t)row * words + i / 64] >> (i % 64) & 1) != 0;
}
/* Whether every tool that rule `a` is about is one of rule `b`'s as well; false when that is not certain. */
bool il_lint_within(const il_policy_rule *a, const il_policy_rule *b);
