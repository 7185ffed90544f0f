/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a session: terms (what is compared), atoms (facts about terms) with the constraints between them, and
 * conditions as two diagrams. */
#pragma once
#include "cel/ast.h"
#include "cel/bdd.h"
#include "cel/builtin.h"
#include "cel/logic.h"

/* What a macro variable is of what it runs over. */
enum {
    IL_CEL_ROLE_ITEM = 0, /* of a list; a key of a map; of what may be either, the one variable */
    IL_CEL_ROLE_VALUE,    /* of a map */
    IL_CEL_ROLE_INDEX,    /* of a list */
    IL_CEL_ROLE_EITHER,   /* one of two variables of what may be a list or a map */
    IL_CEL_ROLE_HELD      /* in an optional */
};

/* An expression, each one once: equal terms are equal numbers. Names of macro variables do not matter, nor do brackets and
 * spelling of calls. */
typedef struct il_cel_term {
    uint8_t op;     /* il_cel_op */
    uint8_t role;   /* LOCAL: IL_CEL_ROLE_…; SELECT, INDEX: 1 for `.?`; CALL: 2 for a receiver; macros: 1 for two variables */
    bool sure;      /* never an error */
    bool whole;     /* no error unless a kid is */
    bool strict;    /* an error whenever a kid is */
    uint32_t slot;  /* VAR; LOCAL and macros, numbered by il_cel_term_enter; else IL_CEL_NO_SLOT */
    uint32_t range; /* LOCAL: the term it runs over */
    il_str name;
    const void *callee;
    il_cel_value lit;
    uint32_t kids, nkids;    /* in l->kids */
    uint64_t locals;         /* bit s: depends on the macro variable of slot s */
    const il_cel_type *type; /* what it surely is when it is no error; NULL: anything */
    const il_cel_node *node; /* where it was first met; NULL for one that nobody wrote */
    uint32_t next;           /* in its bucket, 1 + place */
} il_cel_term;

typedef enum il_cel_atom_kind {
    IL_CEL_A_OK = 0,  /* the term is no error */
    IL_CEL_A_PRESENT, /* the key of this SELECT is in its map */
    IL_CEL_A_CLASS,   /* the term is of a class (number, text, range …), none of the others */
    IL_CEL_A_EQUAL,   /* the term equals lit */
    IL_CEL_A_SAME,    /* the terms t and u are equal */
    IL_CEL_A_FROM,    /* an int: t >= lit */
    IL_CEL_A_LESS,    /* t < lit, of its class */
    IL_CEL_A_MORE,    /* t > lit, of its class */
    IL_CEL_A_STARTS,  /* t.startsWith(lit) */
    IL_CEL_A_ENDS,
    IL_CEL_A_CONTAINS,
    IL_CEL_A_MATCHES, /* lit: the pattern */
    IL_CEL_A_SOME     /* some item of t is such that `body` holds of the variables `slots` */
} il_cel_atom_kind;

typedef enum il_cel_class {
    IL_CEL_CLASS_NONE = 0,
    IL_CEL_CLASS_BOOL,
    IL_CEL_CLASS_NUMBER,
    IL_CEL_CLASS_TEXT,
    IL_CEL_CLASS_BYTES,
    IL_CEL_CLASS_TIMESTAMP,
    IL_CEL_CLASS_DURATION,
    IL_CEL_CLASS_RANGE, /* a list or a map */
    IL_CEL_CLASS_OWNER  /* has members: a map or a record */
} il_cel_class;

typedef struct il_cel_atom {
    uint8_t kind;  /* il_cel_atom_kind */
    uint8_t of;    /* il_cel_class */
    uint32_t t, u; /* terms */
    il_cel_value lit;
    const il_regex *regex;
    il_bdd_ref body; /* SOME */
    uint64_t slots;  /* SOME: the variables that run */
    uint64_t locals; /* depends on these from outside */
    uint32_t up;     /* union-find: atoms that constraints join */
} il_cel_atom;

typedef struct il_cel_bits { /* where a condition is true, is false; never both; an error elsewhere */
    il_bdd_ref yes, no;
} il_cel_bits;

typedef struct il_cel_bound_local { /* what a macro variable stands for, by slot */
    uint32_t term;
    bool condition; /* bits is set: it was bound to a condition */
    il_cel_bits bits;
} il_cel_bound_local;

typedef struct il_cel_condition {
    il_cel_bits bits;
    bool lost; /* beyond the bounds */
} il_cel_condition;

typedef struct il_cel_constraint {
    il_bdd_ref f;
    uint32_t atom; /* one of those in it */
} il_cel_constraint;

struct il_cel_logic {
    il_arena *arena;
    il_bdd bdd;
    il_cel_logic_limits limits;
    const il_cel_program *program; /* that is being taken in */
    const il_cel_env *env;         /* its */
    il_cel_term *terms;
    uint32_t nterms, terms_room;
    uint32_t *kids, nkids, kids_room;
    uint32_t *buckets, nbuckets; /* of terms */
    il_cel_atom *atoms;
    uint32_t natoms, atoms_room;
    il_cel_constraint *constraints;
    uint32_t nconstraints, constraints_room;
    il_cel_condition *conditions;
    uint32_t nconditions, conditions_room;
    il_cel_bound_local locals[IL_CEL_LOCALS]; /* by the slot that the parser gave them */
};

/* Room for one more in an array that doubles; false: bdd.failed is set. */
bool il_cel_logic_room(il_cel_logic *l, void **array, uint32_t *room, uint32_t used, size_t size);

/* --- terms (logic_term.c). 0 is a term that equals nothing, after a failure. --------------------------------------------- */
uint32_t il_cel_term_of(il_cel_logic *l, const il_cel_node *n);
uint32_t il_cel_term_lit(il_cel_logic *l, const il_cel_value *v);
/* A call or operator that nobody wrote: size(x), a < b. */
uint32_t il_cel_term_make(il_cel_logic *l, il_cel_op op, il_str name, const uint32_t *kids, uint32_t nkids);
static inline bool il_cel_term_is(const il_cel_term *t, il_cel_kind kind) { return t->type != NULL && t->type->kind == kind; }
/* A function that gives a bool or an error, whatever it is called with. */
bool il_cel_term_bool_call(const il_cel_builtin *b);
/* The macro variables of `n` over the term `range`; the mask of their slots. */
uint64_t il_cel_term_enter(il_cel_logic *l, const il_cel_node *n, uint32_t range);
/* A slot behind all of these. */
uint32_t il_cel_term_slot(uint64_t locals);
uint32_t il_cel_term_local(il_cel_logic *l, uint32_t slot, uint32_t range, uint8_t role);
il_cel_class il_cel_class_of(const il_cel_value *v);
il_cel_class il_cel_class_of_type(const il_cel_type *type);
/* Small whole numbers are ints, whatever they were: as the language compares them. */
il_cel_value il_cel_canonical(il_cel_value v);
/* Constants that no value can equal both of. */
bool il_cel_distinct(const il_cel_value *a, const il_cel_value *b);
/* A number that every comparison treats as exactly itself. */
bool il_cel_plain_number(const il_cel_value *v);
bool il_cel_identical(const il_cel_value *a, const il_cel_value *b);

/* --- facts (logic_atom.c) -------------------------------------------------------------------------------------------------- */
il_bdd_ref il_cel_fact_ok(il_cel_logic *l, uint32_t t);
il_bdd_ref il_cel_fact_class(il_cel_logic *l, uint32_t t, il_cel_class of);
il_bdd_ref il_cel_fact_present(il_cel_logic *l, uint32_t select);
il_bdd_ref il_cel_fact_equal(il_cel_logic *l, uint32_t t, il_cel_value lit);
il_bdd_ref il_cel_fact_same(il_cel_logic *l, uint32_t t, uint32_t u);
il_bdd_ref il_cel_fact_from(il_cel_logic *l, uint32_t t, int64_t least);
il_bdd_ref il_cel_fact_order(il_cel_logic *l, uint32_t t, il_cel_op op, il_cel_value lit);
il_bdd_ref il_cel_fact_text(il_cel_logic *l, il_cel_atom_kind kind, uint32_t t, il_cel_value lit, const il_regex *regex);
il_bdd_ref il_cel_fact_some(il_cel_logic *l, uint32_t range, uint64_t slots, il_bdd_ref body);
/* The term is a list or map with something in it, given that it is a list or map. */
il_bdd_ref il_cel_fact_filled(il_cel_logic *l, uint32_t range);
uint32_t il_cel_atom_root(il_cel_logic *l, uint32_t atom);
/* `f` holds always. */
void il_cel_atom_constrain(il_cel_logic *l, il_bdd_ref f);
/* For an atom that says that t has something in it (FROM 1 of its size): t; else 0. */
uint32_t il_cel_atom_filled(const il_cel_logic *l, const il_cel_atom *a);

/* --- conditions (logic_form.c), questions (logic_ask.c, logic_list.c) ------------------------------------------------------------------- */
il_cel_bits il_cel_bits_of(il_cel_logic *l, const il_cel_node *n);
/* Whether f can hold. On YES *facts (n of them, in `room`) are atoms with their truth: atom << 1 | truth. */
il_cel_answer il_cel_logic_holds(il_cel_logic *l, il_arena *room, il_bdd_ref f, uint32_t **facts, uint32_t *n);
/* A question begins: nothing is spent. */
void il_cel_ask_begin(il_cel_logic *l);
/* YES when f can never hold. f was made since the diagram had `mark` nodes, which are forgotten. */
IL_NODISCARD il_status il_cel_ask_never(il_cel_logic *l, il_bdd_ref f, uint32_t mark, il_cel_verdict *out, il_error *err);
/* --- as text (logic_write.c) ------------------------------------------------------------------------------------------------ */
void il_cel_atom_write(il_cel_logic *l, uint32_t atom, bool truth, il_buf *out);
