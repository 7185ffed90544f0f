/* SPDX-License-Identifier: Apache-2.0 */
/* The tree between the phases: parse makes it and resolves names, check types it, bounds its cost and finds its constants, generate makes the
 * code that eval runs, print writes it back. Every node knows its height, which the depth limit bounds, so each phase may recurse. */
#pragma once
#include "cel/cel.h"
#include "cel/cost.h"
#include "cel/lex.h"
#include "cel/regex.h"

#define IL_CEL_SOURCE_BYTES 16384u
#define IL_CEL_DEPTH 64u
#define IL_CEL_NODES 4096u
#define IL_CEL_COST 10000000u
#define IL_CEL_TEXT_GUESS 65536u
#define IL_CEL_LIST_GUESS 1024u
/* What a caller may raise the depth to: the C stack has to hold it. A level takes up to 1 KiB of it. In WebAssembly the stack is 256 KiB, and an
 * overflow would be a trap. */
#if defined(__wasm__)
#define IL_CEL_DEPTH_MAX 128u
#else
#define IL_CEL_DEPTH_MAX 512u
#endif
#define IL_CEL_LOCALS 32u /* macro variables in scope at one place */
#define IL_CEL_NO_SLOT UINT32_MAX
#define IL_CEL_DOMAIN_MAX 256u /* words of an inferred finite domain; a larger one is forgotten */

typedef enum il_cel_op {
    IL_CEL_OP_LIT = 0, /* lit */
    IL_CEL_OP_LIST,    /* kids; `maybe` ones are written `?e` */
    IL_CEL_OP_MAP,     /* key, value, key, value …; a `maybe` key is written `?k: v` */
    IL_CEL_OP_NAME,    /* name, with its dots: resolved to nothing; check refuses it, unchecked it is IL_CEL_UNKNOWN */
    IL_CEL_OP_LET,     /* one kid: the expression that the name stands for; check removes it */
    IL_CEL_OP_LOCAL,   /* slot: place among the macro variables */
    IL_CEL_OP_VAR,     /* slot: place in env->vars; name: as there */
    IL_CEL_OP_TYPE,    /* lit: a name that is a type (`int`, `net.IP`) */
    IL_CEL_OP_SELECT,  /* kid.name; `optional`: kid.?name. check sets field: place in the record */
    IL_CEL_OP_FIELD,   /* a select of a record on a variable: vars[slot].fields[field]; the kid stays for printing */
    IL_CEL_OP_HAS,     /* has(kid): the kid is a SELECT */
    IL_CEL_OP_INDEX,   /* kid[kid]; `optional`: kid[?kid] */
    IL_CEL_OP_CALL,    /* name(kids); `receiver`: the first kid is what it was called on. check sets builtin or function */
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
    /* Macros. The first kid is the range; slot/name and, with two variables, slot2/name2 (else IL_CEL_NO_SLOT) are theirs: an item or key; or
     * index and item, key and value. */
    IL_CEL_OP_EXISTS,          /* range, body */
    IL_CEL_OP_ALL,             /* range, body */
    IL_CEL_OP_EXISTS_ONE,      /* range, body; existsOne with two variables */
    IL_CEL_OP_FILTER,          /* range, predicate */
    IL_CEL_OP_TRANSFORM,       /* range, [predicate,] body: map; transformList with two variables */
    IL_CEL_OP_TRANSFORM_MAP,   /* range, [predicate,] body */
    IL_CEL_OP_TRANSFORM_ENTRY, /* range, [predicate,] map literal: transformMapEntry */
    IL_CEL_OP_BIND,            /* init, body: cel.bind(name, init, body) */
    IL_CEL_OP_OPT_MAP,         /* target, body: target.optMap(name, body) */
    IL_CEL_OP_OPT_FLAT_MAP     /* target, body */
} il_cel_op;

/* What is asked of the range of an IN or of a macro in a program whose operands have to be alike. */
typedef enum il_cel_alike {
    IL_CEL_ALIKE_LIST = 1,    /* nothing is known of it: it has to be a list */
    IL_CEL_ALIKE_LITERALS = 2 /* literals that stand there: a value has to be of the kind of one of them */
} il_cel_alike;

typedef struct il_cel_node il_cel_node;
struct il_cel_node {
    uint8_t op;          /* il_cel_op */
    bool receiver, root; /* root: written `.name` */
    bool optional;       /* SELECT, INDEX: as said there */
    bool maybe;          /* an item of a list, or a key of a map, that is written with `?` */
    bool constant;       /* lit holds the value, whatever op says; the kids stay for printing and positions */
    uint8_t alike;       /* IN and macros: il_cel_alike; check, where the limits ask for it */
    uint16_t height;     /* 1 for a leaf */
    uint32_t slot, slot2, field;
    uint32_t weight; /* nodes of the subtree: what one visit of all of it costs */
    il_cel_node *kids, *next;
    il_cel_value lit;
    il_str name, name2;
    const struct il_cel_builtin *builtin; /* CALL: check */
    const il_cel_function *function;      /* CALL: check, a host's */
    const il_regex *regex;                /* CALL of matches with a constant pattern: check */
    const il_cel_type *type;              /* check */
    uint64_t size;                        /* check: bound on the bytes of a text, the items of a list or map */
    il_cel_extent extent;                 /* check: the same, with what is inside */
    uint64_t cost;                        /* check: bound on steps, saturated */
    /* Positions, for failures while compiling and for il_cel_explain. */
    const il_cel_source *src;
    uint32_t start, end; /* the whole expression, [start, end) */
    uint32_t at;         /* its operator, field or function name */
};

struct il_cel_program {
    const il_cel_node *root;
    const struct il_cel_code *code;
    const il_cel_env *env; /* a copy that lives as long as the program, without lets and container */
    uint64_t steps;        /* of one evaluation */
    bool alike;            /* limits.alike */
};

/* The sign of a unary or binary operator (`&&`), the name of a macro; "" for other nodes. */
const char *il_cel_sign(il_cel_op op);

/* Whether what the operator gives is a bool or an error, whatever its operands are. */
static inline bool il_cel_gives_truth(il_cel_op op) {
    return op == IL_CEL_OP_NOT || op == IL_CEL_OP_HAS || (op >= IL_CEL_OP_LT && op <= IL_CEL_OP_OR) ||
           (op >= IL_CEL_OP_EXISTS && op <= IL_CEL_OP_EXISTS_ONE);
}
_Static_assert(IL_CEL_OP_OR - IL_CEL_OP_LT == 8 && IL_CEL_OP_EXISTS_ONE - IL_CEL_OP_EXISTS == 2,
               "comparisons, in, && and ||; the asking macros");

/* `limits` filled in: no zero. */
IL_NODISCARD il_status il_cel_parse(il_arena *arena, il_str source, uint32_t line, uint32_t col, const il_cel_env *env,
                                    const il_cel_limits *limits, il_cel_node **out, il_error *err);

/* Types, resolves fields and overloads, compiles constant patterns, bounds the cost. With limits->unchecked it only resolves. */
IL_NODISCARD il_status il_cel_check(il_arena *arena, const il_cel_env *env, const il_cel_limits *limits, il_cel_kind want,
                                    il_cel_node *root, il_error *err);

/* Makes the code; folds what is constant on the way. */
IL_NODISCARD il_status il_cel_generate(il_arena *arena, il_cel_program *program, il_cel_node *root, il_error *err);

/* One node of it, as il_cel_print. */
void il_cel_print_node(const il_cel_node *node, il_buf *out);
