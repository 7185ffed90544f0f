/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of policy and monitor share: an allocator that fails on demand, the shipped machine, policies and arguments from text. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/label.h"

typedef struct policy_memory {
    il_alloc alloc;
    _Atomic size_t left; /* allocations until one fails; SIZE_MAX: never */
    _Atomic size_t calls;
} policy_memory;
void policy_memory_init(policy_memory *m);

typedef struct policy_case {
    policy_memory memory;
    il_arena arena; /* of documents, arguments and labels; may be reset */
    il_arena table; /* of the machine, which borrows from it */
    il_machine *machine;
    il_policy *policy;
    il_status status; /* of the latest policy */
    il_error err;
} policy_case;

/* With machines/NAME.yaml or tests/machines/NAME.yaml, compiled here; tests run from the source root. */
void policy_case_init(policy_case *c, const char *machine);
void policy_case_free(policy_case *c);
/* Compiles YAML text; the policy before it is freed. */
il_policy *policy_load(policy_case *c, const char *yaml);
/* As policy_load, of a policy that is right. */
void policy_must(policy_case *c, const char *yaml);
const il_json *policy_json(policy_case *c, const char *text);
/* Labels `server.tool` (split at the first dot) with JSON arguments. */
il_label policy_label(policy_case *c, const char *tool, const char *args, uint32_t held);
