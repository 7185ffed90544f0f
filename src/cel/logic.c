/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/logic_part.h"

#define LOGIC_NODES 65536u
#define LOGIC_ATOMS 512u
#define LOGIC_ATOMS_MAX 4096u
#define LOGIC_STEPS 2000000u

il_status il_cel_logic_new(il_arena *arena, const il_cel_logic_limits *limits, il_cel_logic **out, il_error *err) {
    *out = NULL;
    if (limits != NULL && limits->size < sizeof *limits) {
        return il_error_set(err, IL_E_ARGUMENT, "`size` of the limits is not set");
    }
    il_cel_logic *l = IL_NEW(arena, il_cel_logic);
    if (l == NULL) {
        return il_arena_fail(arena, err);
    }
    l->arena = arena;
    l->limits = limits != NULL ? *limits : (il_cel_logic_limits){.size = sizeof l->limits};
    l->limits.nodes = l->limits.nodes != 0 ? l->limits.nodes : LOGIC_NODES;
    l->limits.atoms = l->limits.atoms != 0 ? l->limits.atoms : LOGIC_ATOMS;
    l->limits.steps = l->limits.steps != 0 ? l->limits.steps : LOGIC_STEPS;
    if (l->limits.atoms > LOGIC_ATOMS_MAX || l->limits.nodes > (uint32_t)1 << 24) {
        return il_error_set(err, IL_E_ARGUMENT, "a limit above what the library can keep");
    }
    IL_TRY(il_bdd_init(&l->bdd, arena, l->limits.nodes, err));
    /* Term 0 is no expression. */
    if (!il_cel_logic_room(l, (void **)&l->terms, &l->terms_room, 0, sizeof *l->terms)) {
        return il_arena_fail(arena, err);
    }
    l->terms[l->nterms++] = (il_cel_term){.op = IL_CEL_OP_NAME, .slot = IL_CEL_NO_SLOT, .callee = l};
    *out = l;
    return IL_OK;
}

il_status il_cel_logic_add(il_cel_logic *l, const il_cel_program *program, uint32_t *id, il_error *err) {
    *id = 0;
    l->bdd.spent = false;
    l->bdd.failed = IL_OK;
    l->bdd.steps = l->limits.steps;
    l->program = program;
    l->env = program->env;
    const uint32_t nodes = l->bdd.n, atoms = l->natoms, constraints = l->nconstraints;
    il_cel_condition c = {.bits = il_cel_bits_of(l, program->root)};
    const bool room = il_cel_logic_room(l, (void **)&l->conditions, &l->conditions_room, l->nconditions, sizeof c);
    c.lost = l->bdd.spent;
    if (l->bdd.failed != IL_OK || c.lost) { /* what is half made says nothing */
        l->natoms = atoms;
        l->nconstraints = constraints;
        il_bdd_cut(&l->bdd, nodes);
        c.bits = (il_cel_bits){IL_BDD_FALSE, IL_BDD_FALSE};
    }
    if (l->bdd.failed != IL_OK || !room) {
        return il_error_set(err, l->bdd.failed, "no memory to take a condition apart");
    }
    *id = l->nconditions;
    l->conditions[l->nconditions++] = c;
    return IL_OK;
}
