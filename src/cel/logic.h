/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about conditions that are answered without evaluating them (docs/cel.md, Static questions): can this rule ever
 * match, does an earlier one always match first, are these two the same?
 *
 * A condition is true, false or an error. It is taken apart into facts (atoms) that are either so or not, such as `args.to is
 * there` and `args.to == "x"`; facts that have to do with each other get constraints (bdd.h holds the functions). Facts that
 * are not known to have to do with each other count as independent. So YES is certain; NO comes with an assignment of facts
 * that no constraint forbids but that a request may still be unable to bring about; UNKNOWN is a bound that was reached. A YES
 * is never wrong, given that
 *   - every variable and every field of a record has a value, of the type that the environment declares, and null is none of
 *     a record (with `unset` they may have no value),
 *   - functions of the host give the same for the same arguments,
 *   - no evaluation runs out of its budget.
 *
 * Memory: the session lives in the arena that it was made in, as do the answers; programs are borrowed until the session is
 * used no more. Threads: one at a time.
 *
 *     il_cel_logic *l = NULL;
 *     uint32_t first, second;
 *     IL_TRY(il_cel_logic_new(arena, NULL, &l, err));
 *     IL_TRY(il_cel_logic_add(l, p, &first, err));
 *     IL_TRY(il_cel_logic_add(l, q, &second, err));
 *     il_cel_verdict v;
 *     IL_TRY(il_cel_logic_shadowed(l, &first, 1, second, &v, err));     // IL_CEL_YES: the second rule never decides */
#pragma once
#include "cel/cel.h"

typedef enum il_cel_answer { IL_CEL_UNSURE = 0, IL_CEL_NO, IL_CEL_YES } il_cel_answer;

/* What a condition may be: a set of bits. */
enum { IL_CEL_MAY_TRUE = 1, IL_CEL_MAY_FALSE = 2, IL_CEL_MAY_ERR = 4, IL_CEL_MAY_ANY = 7 };

typedef struct il_cel_logic_limits { /* zero: the default, but for `size` */
    size_t size;                     /* sizeof(il_cel_logic_limits) */
    uint32_t nodes;                  /* 65,536: of all diagrams together, 20 bytes each */
    uint32_t atoms;                  /* 512, at most 4,096 (the C stack has to hold a walk as deep) */
    uint64_t steps;                  /* 2,000,000: of one question or one condition */
    bool unset;                      /* variables and record fields may have no value: reading one is an error */
} il_cel_logic_limits;

typedef struct il_cel_verdict {
    il_cel_answer answer;
    const il_str *facts; /* of a NO: what has to be so, each one a line of text: `args.to == "x"`, `not: run.tainted` */
    size_t nfacts;
} il_cel_verdict;

typedef struct il_cel_logic il_cel_logic;

/* IL_E_ARGUMENT, IL_E_MEMORY, IL_E_LIMIT (the arena's cap); so the others. `limits` may be NULL. */
IL_NODISCARD il_status il_cel_logic_new(il_arena *arena, const il_cel_logic_limits *limits, il_cel_logic **out, il_error *err);
/* Takes the condition in; *id numbers them from 0. All programs of a session have been compiled in the same environment. One
 * that is beyond the bounds is taken too: what is asked about it is UNKNOWN. */
IL_NODISCARD il_status il_cel_logic_add(il_cel_logic *l, const il_cel_program *program, uint32_t *id, il_error *err);

/* Is it impossible that all these conditions are at once what is said of them? All others are made of this one. */
typedef struct il_cel_claim {
    uint32_t id;
    unsigned may; /* IL_CEL_MAY_… */
} il_cel_claim;
IL_NODISCARD il_status il_cel_logic_never(il_cel_logic *l, const il_cel_claim *claims, size_t n, il_cel_verdict *out,
                                          il_error *err);

/* Is it one of these, whatever the request? (IL_CEL_MAY_TRUE: always true; FALSE | ERR: never true; TRUE | FALSE: never an
 * error.) */
IL_NODISCARD il_status il_cel_logic_always(il_cel_logic *l, uint32_t id, unsigned may, il_cel_verdict *out, il_error *err);
/* Whenever a is true, b is. */
IL_NODISCARD il_status il_cel_logic_implies(il_cel_logic *l, uint32_t a, uint32_t b, il_cel_verdict *out, il_error *err);
/* Both are the same: true, false and errors alike. */
IL_NODISCARD il_status il_cel_logic_equivalent(il_cel_logic *l, uint32_t a, uint32_t b, il_cel_verdict *out, il_error *err);
/* Never true together. */
IL_NODISCARD il_status il_cel_logic_disjoint(il_cel_logic *l, uint32_t a, uint32_t b, il_cel_verdict *out, il_error *err);
/* Rules in order, the first that is true decides, one that errs before ends the list with an error: does `id` behind `earlier`
 * never decide? */
IL_NODISCARD il_status il_cel_logic_shadowed(il_cel_logic *l, const uint32_t *earlier, size_t n, uint32_t id, il_cel_verdict *out,
                                             il_error *err);
/* The same, and neither does an error of it ever end the list: without the rule nothing is different. */
IL_NODISCARD il_status il_cel_logic_idle(il_cel_logic *l, const uint32_t *earlier, size_t n, uint32_t id, il_cel_verdict *out,
                                         il_error *err);

/* One of a list in order: the first that is true gives `yes`, one that errs before gives `err`; both are numbers below 8. */
#define IL_CEL_ALWAYS UINT32_MAX
typedef struct il_cel_ruled {
    uint32_t id; /* IL_CEL_ALWAYS: no condition */
    uint8_t yes, err;
} il_cel_ruled;
/* Do both lists give the same, whatever the request? `otherwise`: what a list gives of which none decides. */
IL_NODISCARD il_status il_cel_logic_same(il_cel_logic *l, const il_cel_ruled *a, size_t na, const il_cel_ruled *b, size_t nb,
                                         uint8_t otherwise, il_cel_verdict *out, il_error *err);
