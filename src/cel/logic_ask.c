/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a function of facts can hold. The constraints between facts are conjoined first. What facts about the items of one
 * list have to do with each other is found on the way: an assignment that the diagram offers is looked at, and when an item
 * that must be there could not be (every item that it could be is excluded by another fact) that reason is conjoined too and
 * the next assignment is looked at. */
#include "cel/logic_part.h"

enum { ASK_ROUNDS = 400 };

typedef struct ask_roots { /* marks the groups of atoms that f is about */
    il_cel_logic *l;
    bool *marked;
} ask_roots;

static void ask_mark(void *ctx, uint32_t var) {
    ask_roots *r = (ask_roots *)ctx;
    r->marked[il_cel_atom_root(r->l, var)] = true;
}

static il_bdd_ref ask_constrained(il_cel_logic *l, il_arena *room, il_bdd_ref f) {
    if (f == IL_BDD_FALSE || l->natoms == 0 || !il_bdd_charge(&l->bdd, 1 + l->nconstraints / 8)) {
        return f;
    }
    ask_roots roots = {l, (bool *)il_arena_get(room, l->natoms)};
    if (roots.marked == NULL) {
        l->bdd.failed = il_arena_fail(room, NULL);
        return IL_BDD_FALSE;
    }
    il_bdd_support(&l->bdd, f, ask_mark, &roots);
    for (uint32_t i = 0; i < l->nconstraints && f != IL_BDD_FALSE && !il_bdd_bad(&l->bdd); i++) {
        if (roots.marked[il_cel_atom_root(l, l->constraints[i].atom)]) {
            f = il_bdd_and(&l->bdd, f, l->constraints[i].f);
        }
    }
    return f;
}

static bool ask_true(uint32_t fact) { return (fact & 1) != 0; }

/* What the items of `fact` are like; false: it is about no items. */
static bool ask_items(const il_cel_logic *l, uint32_t fact, uint32_t *range, uint64_t *slots, il_bdd_ref *body) {
    const il_cel_atom *a = &l->atoms[fact >> 1];
    if (a->kind == IL_CEL_A_SOME) {
        *range = a->t;
        *slots = a->slots;
        *body = a->body;
        return true;
    }
    *range = il_cel_atom_filled(l, a);
    *slots = 0;
    *body = IL_BDD_TRUE;
    return *range != 0;
}

typedef struct ask_want { /* an item that is like `item` and like none of the bodies of the facts `against` */
    il_cel_logic *l;
    il_bdd_ref item;
    uint32_t *against, n;
} ask_want;

/* Whether there can be one, leaving out one of the facts (n: none). */
static bool ask_possible(const ask_want *w, il_arena *room, uint32_t left_out) {
    il_bdd *d = &w->l->bdd;
    il_bdd_ref body = w->item, excluded;
    uint32_t range, *facts, n;
    uint64_t slots;
    for (uint32_t i = 0; i < w->n; i++) {
        if (i != left_out && ask_items(w->l, w->against[i], &range, &slots, &excluded)) {
            body = il_bdd_and(d, body, il_bdd_not(d, excluded));
        }
    }
    il_arena inner;
    il_arena_init(&inner, room->alloc, room->cap);
    const il_cel_answer holds = il_cel_logic_holds(w->l, &inner, body, &facts, &n);
    il_arena_free(&inner);
    return holds != IL_CEL_NO;
}

/* `fact`, true, wants an item: one that each of the false facts about the same list leaves. The clause to conjoin when there
 * is none; else TRUE. */
static il_bdd_ref ask_conflict(il_cel_logic *l, il_arena *room, uint32_t fact, const uint32_t *facts, uint32_t n,
                               uint32_t *against) {
    il_bdd *d = &l->bdd;
    uint32_t range, other;
    uint64_t slots, there;
    il_bdd_ref excluded;
    ask_want want = {l, IL_BDD_TRUE, against, 0};
    if (!ask_true(fact) || !ask_items(l, fact, &range, &slots, &want.item)) {
        return IL_BDD_TRUE;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!ask_true(facts[i]) && ask_items(l, facts[i], &other, &there, &excluded) && other == range &&
            (there == slots || there == 0 || slots == 0)) {
            against[want.n++] = facts[i];
        }
    }
    if (ask_possible(&want, room, want.n)) {
        return IL_BDD_TRUE;
    }
    /* The fewer of them are in the reason, the more assignments it excludes. */
    for (uint32_t i = 0; i < want.n;) {
        if (ask_possible(&want, room, i)) {
            i++;
        } else {
            against[i] = against[--want.n];
        }
    }
    il_bdd_ref clause = il_bdd_not(d, il_bdd_var(d, fact >> 1));
    for (uint32_t i = 0; i < want.n; i++) {
        clause = il_bdd_or(d, clause, il_bdd_var(d, against[i] >> 1));
    }
    return clause;
}

il_cel_answer il_cel_logic_holds(il_cel_logic *l, il_arena *room, il_bdd_ref f, uint32_t **facts, uint32_t *n) {
    il_bdd *d = &l->bdd;
    *n = 0;
    *facts = IL_NEW_ARRAY(room, uint32_t, 2 * ((size_t)l->natoms + 1)); /* the second half is for the conflicts */
    if (*facts == NULL) {
        d->failed = il_arena_fail(room, NULL);
        return IL_CEL_UNSURE;
    }
    f = ask_constrained(l, room, f);
    for (uint32_t round = 0; round < ASK_ROUNDS; round++) {
        if (il_bdd_bad(d)) {
            return IL_CEL_UNSURE;
        }
        if (f == IL_BDD_FALSE) {
            return IL_CEL_NO;
        }
        *n = 0;
        for (il_bdd_ref at = f; at != IL_BDD_TRUE;) {
            const il_bdd_node node = d->nodes[at];
            const bool truth = node.low == IL_BDD_FALSE;
            (*facts)[(*n)++] = node.var << 1 | (truth ? 1 : 0);
            at = truth ? node.high : node.low;
        }
        il_bdd_ref clause = IL_BDD_TRUE;
        for (uint32_t i = 0; i < *n && clause == IL_BDD_TRUE; i++) {
            clause = ask_conflict(l, room, (*facts)[i], *facts, *n, *facts + l->natoms + 1);
        }
        if (il_bdd_bad(d)) {
            return IL_CEL_UNSURE;
        }
        if (clause == IL_BDD_TRUE) {
            return IL_CEL_YES;
        }
        f = il_bdd_and(d, f, clause);
    }
    return IL_CEL_UNSURE;
}

/* --- questions --------------------------------------------------- */

static il_status ask_facts(il_cel_logic *l, const uint32_t *facts, uint32_t n, il_cel_verdict *out, il_error *err) {
    enum { FACT_BYTES = 2000 };
    il_str *lines = IL_NEW_ARRAY(l->arena, il_str, n);
    if (lines == NULL) {
        return il_arena_fail(l->arena, err);
    }
    for (uint32_t i = 0; i < n; i++) {
        il_buf b;
        il_buf_init(&b, l->arena, FACT_BYTES);
        il_cel_atom_write(l, facts[i] >> 1, ask_true(facts[i]), &b);
        if (b.failed && b.why == IL_E_LIMIT && !l->arena->capped) { /* too long to be of use */
            il_buf_init(&b, l->arena, FACT_BYTES);
            il_buf_puts(&b, ask_true(facts[i]) ? "(a long fact)" : "not: (a long fact)");
        }
        IL_TRY(il_buf_done(&b, &lines[i], err));
    }
    out->facts = lines;
    out->nfacts = n;
    return IL_OK;
}

il_status il_cel_ask_never(il_cel_logic *l, il_bdd_ref f, uint32_t mark, il_cel_verdict *out, il_error *err) {
    il_arena room;
    il_arena_init(&room, l->arena->alloc, l->arena->cap);
    uint32_t *facts, n;
    const il_cel_answer holds = il_cel_logic_holds(l, &room, f, &facts, &n);
    il_status status = l->bdd.failed;
    if (status != IL_OK) {
        status = il_error_set(err, status, "no memory for an answer about conditions");
    } else {
        out->answer = holds == IL_CEL_NO ? IL_CEL_YES : holds == IL_CEL_YES ? IL_CEL_NO : IL_CEL_UNSURE;
        status = holds == IL_CEL_YES ? ask_facts(l, facts, n, out, err) : IL_OK;
    }
    il_arena_free(&room);
    il_bdd_cut(&l->bdd, mark);
    return status;
}

void il_cel_ask_begin(il_cel_logic *l) {
    l->bdd.spent = false;
    l->bdd.failed = IL_OK;
    l->bdd.steps = l->limits.steps;
}

/* A new question; false: one of the conditions is beyond the bounds. */
static il_status ask_begin(il_cel_logic *l, const il_cel_claim *claims, size_t n, il_cel_verdict *out, bool *known,
                           il_error *err) {
    *out = (il_cel_verdict){IL_CEL_UNSURE, NULL, 0};
    *known = true;
    for (size_t i = 0; i < n; i++) {
        if (claims[i].id >= l->nconditions || claims[i].may > IL_CEL_MAY_ANY) {
            return il_error_set(err, IL_E_ARGUMENT, "there is no condition %u with this truth", (unsigned)claims[i].id);
        }
        *known = *known && !l->conditions[claims[i].id].lost;
    }
    il_cel_ask_begin(l);
    return IL_OK;
}

static il_bdd_ref ask_claim(il_cel_logic *l, il_cel_claim c) {
    il_bdd *d = &l->bdd;
    const il_cel_bits bits = l->conditions[c.id].bits;
    il_bdd_ref f = IL_BDD_FALSE;
    if ((c.may & IL_CEL_MAY_TRUE) != 0) {
        f = bits.yes;
    }
    if ((c.may & IL_CEL_MAY_FALSE) != 0) {
        f = il_bdd_or(d, f, bits.no);
    }
    if ((c.may & IL_CEL_MAY_ERR) != 0) {
        f = il_bdd_or(d, f, il_bdd_not(d, il_bdd_or(d, bits.yes, bits.no)));
    }
    return f;
}

il_status il_cel_logic_never(il_cel_logic *l, const il_cel_claim *claims, size_t n, il_cel_verdict *out, il_error *err) {
    bool known;
    IL_TRY(ask_begin(l, claims, n, out, &known, err));
    if (!known) {
        return IL_OK;
    }
    const uint32_t mark = l->bdd.n;
    il_bdd_ref f = IL_BDD_TRUE;
    for (size_t i = 0; i < n && !il_bdd_bad(&l->bdd); i++) {
        f = il_bdd_and(&l->bdd, f, ask_claim(l, claims[i]));
    }
    return il_cel_ask_never(l, f, mark, out, err);
}

il_status il_cel_logic_always(il_cel_logic *l, uint32_t id, unsigned may, il_cel_verdict *out, il_error *err) {
    const il_cel_claim other = {id, IL_CEL_MAY_ANY & ~may};
    return il_cel_logic_never(l, &other, 1, out, err);
}

il_status il_cel_logic_implies(il_cel_logic *l, uint32_t a, uint32_t b, il_cel_verdict *out, il_error *err) {
    const il_cel_claim claims[] = {{a, IL_CEL_MAY_TRUE}, {b, IL_CEL_MAY_FALSE | IL_CEL_MAY_ERR}};
    return il_cel_logic_never(l, claims, 2, out, err);
}

il_status il_cel_logic_disjoint(il_cel_logic *l, uint32_t a, uint32_t b, il_cel_verdict *out, il_error *err) {
    const il_cel_claim claims[] = {{a, IL_CEL_MAY_TRUE}, {b, IL_CEL_MAY_TRUE}};
    return il_cel_logic_never(l, claims, 2, out, err);
}

il_status il_cel_logic_equivalent(il_cel_logic *l, uint32_t a, uint32_t b, il_cel_verdict *out, il_error *err) {
    const il_cel_claim both[] = {{a, IL_CEL_MAY_ANY}, {b, IL_CEL_MAY_ANY}};
    bool known;
    IL_TRY(ask_begin(l, both, 2, out, &known, err));
    if (!known) {
        return IL_OK;
    }
    il_bdd *d = &l->bdd;
    const uint32_t mark = d->n;
    const il_cel_bits x = l->conditions[a].bits, y = l->conditions[b].bits;
    const il_bdd_ref yes = il_bdd_ite(d, x.yes, il_bdd_not(d, y.yes), y.yes), no = il_bdd_ite(d, x.no, il_bdd_not(d, y.no), y.no);
    return il_cel_ask_never(l, il_bdd_or(d, yes, no), mark, out, err);
}

static il_status ask_behind(il_cel_logic *l, const uint32_t *earlier, size_t n, il_cel_claim last, il_cel_verdict *out,
                            il_error *err) {
    il_arena room; /* for the claims */
    il_arena_init(&room, l->arena->alloc, l->arena->cap);
    il_cel_claim *claims = IL_NEW_ARRAY(&room, il_cel_claim, n + 1);
    il_status status = claims == NULL ? il_arena_fail(&room, err) : IL_OK;
    if (claims != NULL) {
        for (size_t i = 0; i < n; i++) {
            claims[i] = (il_cel_claim){earlier[i], IL_CEL_MAY_FALSE};
        }
        claims[n] = last;
        status = il_cel_logic_never(l, claims, n + 1, out, err);
    }
    il_arena_free(&room);
    return status;
}

il_status il_cel_logic_shadowed(il_cel_logic *l, const uint32_t *earlier, size_t n, uint32_t id, il_cel_verdict *out,
                                il_error *err) {
    return ask_behind(l, earlier, n, (il_cel_claim){id, IL_CEL_MAY_TRUE}, out, err);
}

il_status il_cel_logic_idle(il_cel_logic *l, const uint32_t *earlier, size_t n, uint32_t id, il_cel_verdict *out, il_error *err) {
    return ask_behind(l, earlier, n, (il_cel_claim){id, IL_CEL_MAY_TRUE | IL_CEL_MAY_ERR}, out, err);
}
