/* SPDX-License-Identifier: Apache-2.0 */
/* What is constant is evaluated here, by the machine itself, so that both agree. From the leaves up; what gives an error stays
 * as it is. */
#include "cel/generate.h"

#define FOLD_STEPS 16384u /* in all: bounds the time, and what unused results take of the arena (64 bytes a step) */

typedef struct fold_state {
    il_arena *arena;
    const il_cel_program *program;
    uint32_t left;
} fold_state;

typedef struct fold_needs { /* of a subtree */
    uint64_t locals;        /* bit s: the macro variable of slot s, from outside */
    bool more;              /* something that only an evaluation has, or a host's function */
} fold_needs;

static void fold_try(fold_state *f, il_cel_node *n) {
    uint32_t weight = n->weight > 0 ? n->weight : 1;
    if (f->left <= weight) {
        return;
    }
    f->left -= weight;
    il_arena scratch; /* for the code: given back at once */
    il_arena_init(&scratch, f->arena->alloc, f->arena->cap);
    il_cel_code code;
    il_error ignored;
    if (il_cel_make(&scratch, &scratch, n, &code, &ignored) == IL_OK) {
        il_cel_run run = {.program = f->program, .scratch = f->arena, .steps = f->left};
        il_cel_value v = il_cel_run_code(&run, &code, NULL);
        f->left = run.steps > 0 ? (uint32_t)run.steps : 0;
        if (v.kind != IL_CEL_ERROR && run.steps >= 0) {
            n->constant = true;
            n->lit = v;
        }
    }
    il_arena_free(&scratch);
}

static bool fold_binds(const il_cel_node *n) { return n->op >= IL_CEL_OP_EXISTS; }

static uint64_t fold_bit(uint32_t slot) { return slot < IL_CEL_LOCALS ? UINT64_C(1) << slot : 0; }

static fold_needs fold_node(fold_state *f, il_cel_node *n) {
    fold_needs all = {0, false};
    if (n->constant) {
        return all;
    }
    if (n->op == IL_CEL_OP_LOCAL) {
        all.locals = fold_bit(n->slot);
        return all;
    }
    if (n->op == IL_CEL_OP_VAR || n->op == IL_CEL_OP_NAME || n->op == IL_CEL_OP_FIELD ||
        (n->op == IL_CEL_OP_CALL && n->builtin == NULL)) {
        all.more = true;
    }
    for (il_cel_node *k = n->kids; k != NULL; k = k->next) {
        fold_needs needs = fold_node(f, k);
        if (fold_binds(n) && k != n->kids) {
            needs.locals &= ~(fold_bit(n->slot) | fold_bit(n->slot2));
        }
        all.locals |= needs.locals;
        all.more = all.more || needs.more;
    }
    if (!all.more && all.locals == 0) {
        fold_try(f, n);
    }
    return all;
}

void il_cel_fold(il_arena *arena, const il_cel_program *program, il_cel_node *root) {
    fold_state f = {arena, program, FOLD_STEPS};
    (void)fold_node(&f, root);
}
