/* SPDX-License-Identifier: Apache-2.0 */
/* What the exporters share: guards as terms over whole numbers and truths. Not for other modules.
 *
 * A word is a number, its place among all words of the machine in byte order, so that comparing numbers compares words. A number of the
 * machine stands for itself, also outside its domain, where an update may lead before a clause rejects the step. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "check/export.h"

typedef enum il_term_op {
    IL_TERM_CONST, /* value */
    IL_TERM_PRE,   /* variable `at` before the step */
    IL_TERM_CALL,  /* payload field `at` */
    IL_TERM_NEXT,  /* variable `at` after the updates */
    IL_TERM_NOT,
    IL_TERM_AND,
    IL_TERM_OR,
    IL_TERM_EQ,
    IL_TERM_LT,
    IL_TERM_LE,
    IL_TERM_ADD,
    IL_TERM_SUB,
    IL_TERM_MUL,
    IL_TERM_IF
} il_term_op;
typedef enum il_term_kind { IL_TERM_TRUTH, IL_TERM_NUMBER, IL_TERM_WORD } il_term_kind;

typedef struct il_term il_term;
struct il_term {
    uint8_t op, kind;
    uint32_t at;
    int64_t value;
    int64_t lo, hi; /* what it can be, at least */
    const il_term *kid[3];
};

typedef struct il_export {
    il_arena *arena;
    const il_model *m;
    il_str *words; /* in byte order */
    uint32_t nwords;
    bool no_memory;
    int64_t least, most; /* of all terms that were made */
    uint32_t tables;     /* guards that became truth tables */
    il_buf *out;
    il_error *err;
} il_export;

/* Where a guard stands: what `call` and `next` are. */
typedef struct il_scope {
    uint32_t action;            /* UINT32_MAX: a predicate on states */
    const il_term *const *call; /* a term for each field */
    const il_term **next;       /* a term for each variable */
    uint8_t reason;             /* the rule that rejected, in a region of rejected steps; else 0 */
} il_scope;

/* --- terms: made smaller where that is plain to see ---------------------------------------------------------------------- */
/* What stands between the two sides of an operator, in C as in Promela (` && `); "" for what is none. */
const char *il_term_sign(il_term_op op);
const il_term *il_term_const(il_export *x, il_term_kind kind, int64_t value);
const il_term *il_term_truth(il_export *x, bool truth);
const il_term *il_term_leaf(il_export *x, il_term_op op, uint32_t at, const il_domain *d);
const il_term *il_term_not(il_export *x, const il_term *a);
const il_term *il_term_and(il_export *x, const il_term *a, const il_term *b);
const il_term *il_term_or(il_export *x, const il_term *a, const il_term *b);
const il_term *il_term_compare(il_export *x, il_term_op op, const il_term *a, const il_term *b);
const il_term *il_term_sum(il_export *x, il_term_op op, const il_term *a, const il_term *b);
const il_term *il_term_if(il_export *x, const il_term *c, const il_term *a, const il_term *b);
bool il_term_is(const il_term *t, bool truth); /* the constant */
il_term_kind il_term_kind_of(const il_domain *d);
/* The number of a place of a domain. */
int64_t il_term_code(const il_export *x, const il_domain *d, uint32_t place);
const il_term *il_term_inside(il_export *x, const il_domain *d, const il_term *t);

/* --- guards -------------------------------------------------------------------------------------------------------------- */
/* Numbers that every form can say: far from where 32 bits overflow, and 64 once they are multiplied. */
#define IL_EXPORT_NUMBER_MAX ((int64_t)1 << 30)
bool il_export_holds(int64_t number);
IL_NODISCARD il_status il_export_words(il_export *x);
/* The number of a word; -1 when there is none. */
int64_t il_export_word(const il_export *x, il_str word);
/* NULL where the language goes beyond terms (or memory ran out: x->no_memory). */
const il_term *il_export_term(il_export *x, const il_cel_program *p, const il_scope *scope);
/* What a program says, in any case; `error`: where it errs. IL_E_LIMIT when it reads too much to be tabulated. */
IL_NODISCARD il_status il_export_guard(il_export *x, const il_cel_program *p, const il_scope *scope, uint32_t line, uint32_t col,
                                       const il_term **value, const il_term **error);
IL_NODISCARD il_status il_export_table(il_export *x, const il_cel_program *p, const il_scope *scope, uint32_t line, uint32_t col,
                                       const il_term **value, const il_term **error);

/* --- steps --------------------------------------------------------------------------------------------------------------- */
typedef struct il_export_step {
    const il_term **next;    /* nvars */
    const il_term **clauses; /* nclauses: it rejects */
    const il_term *accept, *fault;
} il_export_step;

/* Payload terms of an action: its fields, or with a symbol their constants. */
const il_term **il_export_call(il_export *x, uint32_t action, const uint32_t *symbol);
/* A step of an action, its naps not counted. `names`: clauses read IL_TERM_NEXT where a variable has an update, else what it comes to. */
IL_NODISCARD il_status il_export_step_of(il_export *x, uint32_t action, const il_term *const *call, bool names,
                                         il_export_step *out);
/* Whether a nap is due whose `when` is `holds`: its step is refused, which is a fault, or changes something. */
const il_term *il_export_due(il_export *x, const il_term *holds, const il_export_step *s);
/* Whether a region holds: of states over IL_TERM_PRE; of steps of `action` over IL_TERM_PRE, `call` and `next`. */
IL_NODISCARD il_status il_export_region(il_export *x, uint32_t region, uint32_t action, const il_term *const *call,
                                        const il_term **next, const il_term **out);
bool il_export_judges(const il_model *m, uint32_t region, uint32_t action); /* a region of accepted steps of that action */
/* Whether `s`, a step of `action`, is rejected for a reason that breaks a region of rejected steps; other regions: false. */
IL_NODISCARD il_status il_export_refused(il_export *x, uint32_t region, uint32_t action, const il_term *const *call,
                                         const il_export_step *s, const il_term **out);
const il_term **il_export_leaves(il_export *x, il_term_op op); /* of all variables */

IL_NODISCARD il_status il_export_promela(il_export *x);
IL_NODISCARD il_status il_export_smt2(il_export *x, uint32_t steps);
IL_NODISCARD il_status il_export_c(il_export *x);
