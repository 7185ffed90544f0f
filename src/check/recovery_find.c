/* SPDX-License-Identifier: Apache-2.0 */
/* What recovery finds, each word with the shortest way to it. */
#include "check/recovery_part.h"

bool il_recovery_has(const il_recovery_run *r, const char *word) {
    const il_recovery *out = il_recovery_out(r);
    for (uint32_t i = 0; i < out->nfindings; i++) {
        if (il_str_eq(il_str_of(out->findings[i].word), il_str_of(word))) {
            return true;
        }
    }
    return false;
}

il_status il_recovery_find(il_recovery_run *r, il_recover_graph *g, const char *word, const il_recover_way *way, il_error *err) {
    il_recovery *out = il_recovery_out(r);
    il_recovery_finding *f = &out->findings[out->nfindings++];
    *f = (il_recovery_finding){.word = word, .from = il_recover_state(g, way->node[0])};
    return il_recover_trace(g, way, &f->witness, err);
}

/* A finding that the step by `symbol` from `node` makes, the first of its word. */
il_status il_recovery_find_step(il_recovery_run *r, il_recover_graph *g, const char *word, uint32_t node, uint32_t symbol,
                                uint64_t next, il_recover_way *way, il_error *err) {
    if (il_recovery_has(r, word)) {
        return IL_OK;
    }
    il_recover_stem(g, node, way);
    way->n++; /* room for the step itself, which may lead nowhere */
    way->node[way->n - 1] = node;
    way->kinds[way->n - 1] = 0;
    IL_TRY(il_recovery_find(r, g, word, way, err));
    il_trace *t = &il_recovery_out(r)->findings[il_recovery_out(r)->nfindings - 1].witness;
    t->steps[t->n - 1] = (il_trace_step){.symbol = symbol, .pre = il_recover_state(g, node), .post = next};
    return IL_OK;
}

/* The first node of the search that has all of `with` and none of `without`. */
uint32_t il_recovery_first(const il_recover_graph *g, unsigned with, unsigned without) {
    for (uint32_t i = 0; i < g->n; i++) {
        if ((g->mark[i] & with) == with && !(g->mark[i] & without)) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t il_recovery_degree(const il_recover_list *l, uint32_t node) { return l->first[node + 1] - l->first[node]; }
