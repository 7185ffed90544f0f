/* SPDX-License-Identifier: Apache-2.0 */
/* The tree between the phases: parse makes it, check types and resolves it in place, eval walks it, print writes it back.
 * Every node knows its height, which the depth limit bounds, so each phase may recurse. */
#pragma once
#include "cel/cel.h"
#include "cel/lex.h"

#define IL_CEL_SOURCE_BYTES 16384u
#define IL_CEL_DEPTH 64u
#define IL_CEL_NODES 4096u
#define IL_CEL_DEPTH_MAX 512u   /* what a caller may raise the depth to: the C stack has to hold it */
#define IL_CEL_LOCALS 32u       /* macro variables in scope at one place */
#define IL_CEL_COST 10000000    /* node visits: the static bound, and what one evaluation may spend */
#define IL_CEL_LIST_GUESS 1024u /* items that the static bound assumes of a list it knows nothing about */
#define IL_CEL_DOMAIN_MAX 256u  /* words of an inferred finite domain; a larger one is forgotten */

typedef enum il_cel_op {
    IL_CEL_OP_LIT = 0,     /* lit; a list of literals becomes one */
    IL_CEL_OP_UNSUPPORTED, /* name: what it is; lexed and parsed, refused by check */
    IL_CEL_OP_LIST,
    IL_CEL_OP_MAP,    /* key, value, key, value …; refused by check */
    IL_CEL_OP_NAME,   /* resolved to nothing; refused by check */
    IL_CEL_OP_LET,    /* one kid: the expression that the name stands for; check removes it */
    IL_CEL_OP_LOCAL,  /* slot: place among the macro variables */
    IL_CEL_OP_VAR,    /* slot: place in env->vars */
    IL_CEL_OP_SELECT, /* kid.name; field: place in the record */
    IL_CEL_OP_FIELD,  /* a select on a variable: vars[slot].fields[field]; the kid stays for printing */
    IL_CEL_OP_INDEX,
    IL_CEL_OP_CALL, /* name(kids); `receiver`: the first kid is what it was called on. Refused by check */
    IL_CEL_OP_NOT,
    IL_CEL_OP_NEG,
    IL_CEL_OP_MUL,
    IL_CEL_OP_DIV,
    IL_CEL_OP_MOD,
    IL_CEL_OP_ADD,
    IL_CEL_OP_SUB,
    IL_CEL_OP_LT,
    IL_CEL_OP_LE,
    IL_CEL_OP_GT,
    IL_CEL_OP_GE,
    IL_CEL_OP_EQ,
    IL_CEL_OP_NE,
    IL_CEL_OP_IN,
    IL_CEL_OP_AND, /* two or more kids */
    IL_CEL_OP_OR,
    IL_CEL_OP_COND,
    IL_CEL_OP_EXISTS, /* range, body; slot and name: the macro variable */
    IL_CEL_OP_ALL
} il_cel_op;

typedef struct il_cel_node il_cel_node;
struct il_cel_node {
    uint8_t op;          /* il_cel_op */
    bool receiver, root; /* root: written `.name` */
    bool fast;           /* EQ, NE: FIELD against a string LIT */
    uint16_t height;     /* 1 for a leaf */
    uint32_t slot, field;
    uint32_t weight; /* nodes of the subtree: what one visit of all of it costs */
    uint32_t items;  /* static bound of the items of a list */
    il_cel_node *kids, *next;
    il_cel_value lit;
    il_str name;
    const il_cel_type *type; /* check */
    uint64_t cost;           /* check: bound on node visits, saturated */
    /* Positions, for failures while compiling: the texts need not outlive that. */
    const il_cel_source *src;
    uint32_t start, at; /* first byte of the expression; its operator or field name */
};

struct il_cel_program {
    const il_cel_node *root;
};

/* The sign of a unary or binary operator (`&&`); "" for other nodes. */
const char *il_cel_sign(il_cel_op op);

/* `limits` filled in: no zero. */
IL_NODISCARD il_status il_cel_parse(il_arena *arena, il_str source, uint32_t line, uint32_t col, const il_cel_env *env,
                                    const il_cel_limits *limits, il_cel_node **out, il_error *err);

/* Types, resolves fields, folds constant lists, bounds the cost. */
IL_NODISCARD il_status il_cel_check(il_arena *arena, const il_cel_env *env, il_cel_kind want, il_cel_node *root, il_error *err);
