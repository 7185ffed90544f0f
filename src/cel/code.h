/* SPDX-License-Identifier: Apache-2.0 */
/* What generate makes and eval runs: words of 8 bytes for a machine with registers.
 *
 * An operand is a number of 16 bits: two say where (register, constant, variable of the caller), the rest which. Registers 0
 * and up are the macro
 * variables by their slot, those behind them hold what is between. A result register is a plain number.
 *
 * Errors are values in registers. What absorbs one (LOGIC, TEST) looks at kinds; everything else passes the first error of its
 * operands on. The
 * exhausted budget is in no register: it ends the run where it happens.
 *
 * A word that leaves a bool may be FUSED: the LOGIC or TEST that reads it is the next word, and is done with it at once. */
#pragma once
#include "cel/value.h"

#define IL_CEL_REGISTERS 1024u   /* of 16 bytes on the C stack; an expression that needs more is refused */
#define IL_CEL_REGISTERS_FEW 24u /* nearly all need no more, and have a small frame */
#define IL_CEL_LOOPS_FEW 3u
#define IL_CEL_WORDS 65535u /* a jump is 16 bits */

enum { IL_CEL_IN_REGISTER = 0, IL_CEL_IN_CONSTANT = 1, IL_CEL_IN_VARIABLE = 2, IL_CEL_PLACES = 1u << 14 };
#define IL_CEL_FUSED 0x80u /* in mode */

/* a: result register; b, c: operands, unless said. "DATA" is a second word. `to`: a word's number. */
#define IL_CEL_CODES(X)                                                                                                                                 \
    X(RETURN) /* b */                                                                                                                                   \
    X(MOVE)   /* a, b */                                                                                                                                \
    X(FAULT)  /* a; b: il_cel_fault */                                                                                                                  \
    X(JUMP)   /* c: to */                                                                                                                               \
    X(DATA)   /* never run */                                                                                                                           \
    X(LOGIC)  /* a: answer so far, b: what is next; mode bit 0: the truth that decides, c: to, when it does */                                          \
    X(TEST)   /* b: condition, c: to, when false; mode 2, a: a register that may be written. DATA a: result, c: to, on error */                         \
    X(FIELD)  /* a, b: record, c: field */                                                                                                              \
    X(MEMBER) /* a, b: record, c: field. DATA mode: how; for selects through an optional, `.?` and has() */                                             \
    X(SELECT) /* a, b, c: name, a constant. DATA mode: how */                                                                                           \
    X(INDEX)  /* a, b, c. DATA mode: how */                                                                                                             \
    X(NOT)    /* a, b */                                                                                                                                \
    X(NEG)    /* a, b */                                                                                                                                \
    X(MUL)                                                                                                                                              \
    X(DIV)                                                                                                                                              \
    X(MOD)                                                                                                                                              \
    X(ADD)                                                                                                                                              \
    X(SUB)                                                                                                                                              \
    X(LT)                                                                                                                                               \
    X(LE)                                                                                                                                               \
    X(GT)                                                                                                                                               \
    X(GE)                                                                                                                                               \
    X(EQ)                                                                                                                                               \
    X(NE)                                                                                                                                               \
    X(IN)     /* a, b, c: list or map; mode: il_cel_alike */                                                                                            \
    X(IN_SET) /* a, b, c: set */                                                                                                                        \
    X(IN_ITEM) /* a: whether found so far, or that one was of another kind, b: value, c: an item of a list that is never built. DATA c: to, on error */ \
    X(FIELD_IS)   /* a, b: record, c: field. DATA c: constant string, mode 1: `!=` */                                                                   \
    X(EACH_IS)    /* a, b: list or map, c: constant: exists(x, x == constant). DATA mode: il_cel_each, a: field, c: loop */                             \
    X(SIZE)       /* a, b. DATA b: first argument register, c: call, for what is no list, map or bytes */                                               \
    X(SIZE_ORDER) /* a, b: of what, c: constant int: size(b) < it. DATA mode: LT to GE; b, c: as of SIZE */                                             \
    X(CALL)       /* a, b: first argument register, c: call */                                                                                          \
    X(HOST)       /* the same of a host's function */                                                                                                   \
    X(MATCHES)    /* a, b: text, c: call */                                                                                                             \
    X(LIST)       /* a: begins a list, c: room */                                                                                                       \
    X(ITEM)       /* a: list, b: item, mode 1: written with `?`; c: to, on error */                                                                     \
    X(MAP)        /* a: begins a map, c: room */                                                                                                        \
    X(KEY)        /* a: map, b; c: to, on error */                                                                                                      \
    X(VALUE)      /* a: map, b, mode 1: its key is written with `?`; c: to, on error */                                                                 \
    X(MAP_DONE)   /* a: map: sorts it */                                                                                                                \
    X(ENTRIES)    /* a: map, b: a map whose entries are added; mode: level, c: to, on error */                                                          \
    X(LOOP) /* a: level, b: range, c: to, the NEXT; mode: il_cel_alike. DATA a: result, mode: what it begins as (il_cel_begin), c: to, on error */      \
    X(NEXT)     /* a: level, b: loop, c: to, while there is one */                                                                                      \
    X(COUNT)    /* a: how many so far, b: condition; c: to, on error */                                                                                 \
    X(ONE)      /* a: the count becomes whether it is 1 */                                                                                              \
    X(OPEN)     /* a: slot, b: optional. DATA a: result, c: to, when there is nothing in it */                                                          \
    X(WRAP)     /* a, b: an optional of b */                                                                                                            \
    X(OPTIONAL) /* a: must be an optional */

typedef enum il_cel_code_op {
#define IL_CEL_CODE_ENUM(name) IL_CEL_C_##name,
    IL_CEL_CODES(IL_CEL_CODE_ENUM)
#undef IL_CEL_CODE_ENUM
} il_cel_code_op;

typedef enum il_cel_each {
    IL_CEL_EACH_NOT = 1,   /* x != constant */
    IL_CEL_EACH_ALL = 2,   /* all(x, …) */
    IL_CEL_EACH_FIELD = 4, /* x.field == constant, of a record */
    IL_CEL_EACH_LIST = 8   /* of no map: IL_CEL_ALIKE_LIST */
} il_cel_each;
typedef enum il_cel_how { IL_CEL_PLAIN = 0, IL_CEL_MAYBE, IL_CEL_HAS } il_cel_how; /* x.f, x.?f, has(x.f) */
typedef enum il_cel_begin {
    IL_CEL_BEGIN_FALSE = 0,
    IL_CEL_BEGIN_TRUE,
    IL_CEL_BEGIN_ZERO,
    IL_CEL_BEGIN_LIST,
    IL_CEL_BEGIN_MAP
} il_cel_begin;

typedef struct il_cel_word {
    uint8_t op, mode;
    uint16_t a, b, c;
} il_cel_word;

typedef struct il_cel_loop {
    uint32_t weight; /* steps for one more time around */
    uint16_t slot, slot2;
    bool two;
} il_cel_loop;

typedef struct il_cel_site { /* one call */
    const il_cel_builtin *builtin;
    const il_cel_function *function;
    const il_regex *regex;
    uint32_t nargs;
} il_cel_site;

/* A constant list, for `in`: all strings (hashed) or all ints (sorted); for values of other kinds the list itself. */
typedef struct il_cel_set {
    il_cel_value list;
    const il_cel_value *ints;
    const uint32_t *slots; /* of strings: 1 + place in the list, 0: empty; mask + 1 of them */
    uint32_t n, mask;
} il_cel_set;

typedef struct il_cel_code {
    const il_cel_word *words;
    const il_cel_node *const *nodes; /* by word: what it came from */
    const il_cel_value *constants;
    const il_cel_loop *loops;
    const il_cel_site *sites;
    const il_cel_set *sets;
    uint32_t nwords, nregisters, nlevels;
} il_cel_code;

/* `constant` list: true when there is a set for it. */
IL_NODISCARD bool il_cel_set_worth(const il_cel_value *list);
/* IL_OK or out of memory. */
IL_NODISCARD il_status il_cel_set_make(il_arena *arena, il_cel_value list, il_cel_set *out, il_error *err);
bool il_cel_set_has(il_cel_run *r, const il_cel_set *set, const il_cel_value *v);

/* Runs the words; the budget and scratch are r's. */
il_cel_value il_cel_run_code(il_cel_run *r, const il_cel_code *code, const il_cel_value *vars);
