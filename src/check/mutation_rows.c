/* SPDX-License-Identifier: Apache-2.0 */
/* What the mutant in hand does. */
#include "check/mutation_part.h"

/* Anywhere; at a cell of the machine the second is cheaper. */
il_step il_mutating_step(const il_mutating *r, uint64_t state, uint32_t symbol) {
    return il_mutant_step(&r->x->mutants, r->u, state, symbol, il_steps_one(r->s->steps, NULL, state, symbol));
}
il_step il_mutating_step_at(const il_mutating *r, uint32_t cell) {
    uint32_t n = r->s->m->nsymbols;
    return il_mutant_step(&r->x->mutants, r->u, r->states[cell / n], cell % n, r->cells[cell]);
}

static il_steps_edge mutation_edge(uint32_t symbol, il_step step) {
    return (il_steps_edge){.next = step.next, .symbol = symbol, .fault = step.verdict == IL_FAULT};
}

static il_steps_edges mutation_cell_row(il_mutating *r, uint64_t state) {
    const il_mutant *u = r->u;
    il_steps_edges row = il_steps_row(r->s->steps, NULL, state);
    if (state != u->state) {
        return r->only ? (il_steps_edges){0} : row;
    }
    uint32_t n = 0, k = 0;
    for (; !r->only && k < row.n && row.edge[k].symbol < u->symbol; k++) {
        r->row[n++] = row.edge[k];
    }
    if (u->step.verdict != IL_REJECT) {
        r->row[n++] = mutation_edge(u->symbol, u->step);
    }
    for (; !r->only && k < row.n; k++) {
        if (row.edge[k].symbol != u->symbol) {
            r->row[n++] = row.edge[k];
        }
    }
    return (il_steps_edges){r->row, n};
}

/* Rows of a mutant are remembered: every question comes by the same states. A later state takes the place of an earlier one. */
static uint32_t mutation_kept_at(const il_mutating *r, uint64_t state) {
    return (uint32_t)((state * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - r->kept_bits));
}

static il_steps_edges mutation_keep(il_mutating *r, uint64_t state, il_steps_edges row) {
    uint32_t at = mutation_kept_at(r, state);
    il_steps_edge *kept = &r->kept[(size_t)at * r->s->m->nsymbols];
    for (uint32_t k = 0; k < row.n; k++) {
        kept[k] = row.edge[k];
    }
    r->kept_of[at] = state;
    r->kept_n[at] = row.n;
    return (il_steps_edges){kept, row.n};
}

static il_steps_edges mutation_class_row(il_mutating *r, uint64_t state) {
    const il_model *m = r->s->m;
    if (r->only) {
        uint32_t place = il_space_find(&r->plain, state);
        return (il_steps_edges){&r->changed[r->changed_at[place]], r->changed_at[place + 1] - r->changed_at[place]};
    }
    uint32_t at = mutation_kept_at(r, state);
    if (r->kept_n[at] != UINT32_MAX && r->kept_of[at] == state) {
        return (il_steps_edges){&r->kept[(size_t)at * m->nsymbols], r->kept_n[at]};
    }
    if (r->u->op == IL_MUTANT_DROP_CLAUSE) {
        il_variant variant = {.skip = true, .skip_action = (uint32_t)__builtin_ctzll(r->u->actions), .skip_clause = r->u->arg};
        return mutation_keep(r, state, il_steps_row(r->s->steps, &variant, state));
    }
    il_steps_edges row = il_steps_row(r->s->steps, NULL, state);
    for (uint32_t k = 0; k < row.n; k++) {
        r->copy[k] = row.edge[k]; /* the next question may overwrite it */
    }
    uint32_t n = 0, k = 0;
    for (uint32_t a = 0; a < m->nactions; a++) {
        uint32_t end = m->actions[a].first_symbol + m->actions[a].nsymbols;
        bool differs = r->u->actions >> a & 1;
        for (; k < row.n && r->copy[k].symbol < end; k++) {
            if (!differs) {
                r->row[n++] = r->copy[k];
            }
        }
        for (uint32_t i = m->actions[a].first_symbol; differs && i < end; i++) {
            il_step step = il_mutating_step(r, state, i);
            if (step.verdict != IL_REJECT) {
                r->row[n++] = mutation_edge(i, step);
            }
        }
    }
    return mutation_keep(r, state, (il_steps_edges){r->row, n});
}

il_steps_edges il_mutating_rows(void *ctx, uint64_t state) {
    il_mutating *r = ctx;
    return r->u->cell ? mutation_cell_row(r, state) : mutation_class_row(r, state);
}

/* What a class says otherwise of the states that the machine knows. */
void il_mutating_compare(il_mutating *r) {
    const il_model *m = r->s->m;
    r->removes = false;
    r->ndiffers = 0;
    for (uint32_t i = 0; i < r->plain.n; i++) {
        r->changed_at[i + 1] = r->changed_at[i];
        for (uint32_t k = 0; k < m->nsymbols; k++) {
            uint32_t cell = i * m->nsymbols + k;
            if (!(r->u->actions >> m->symbol_action[k] & 1)) {
                continue;
            }
            il_step step = il_mutating_step_at(r, cell);
            const il_step *was = &r->cells[cell];
            if (step.next == was->next && step.verdict == was->verdict && step.reason == was->reason) {
                continue;
            }
            if (step.verdict != IL_REJECT) {
                r->changed[r->changed_at[i + 1]++] = mutation_edge(k, step);
            }
            r->removes = r->removes || was->verdict == IL_ACCEPT;
            r->differs[r->ndiffers++] = cell;
        }
    }
}
