/* SPDX-License-Identifier: Apache-2.0 */
/* Two machines from their first states on, by every symbol that a monitor steps: alike when they accept the same, refuse alike, and show the same of a session. */
#include "policy/against_part.h"

#define MACHINES_PAIRS ((uint32_t)1 << 17)

typedef struct machines_pair {
    uint64_t x, y;
} machines_pair;

typedef struct machines_walk {
    const il_bind *a, *b;
    machines_pair *pairs;
    uint32_t n, *table; /* number of a pair plus one */
    bool same;
} machines_walk;

static void machines_add(machines_walk *w, uint64_t x, uint64_t y) {
    uint64_t h = (x * 0xff51afd7ed558ccdu) ^ (y * 0x9e3779b97f4a7c15u);
    uint32_t at = (uint32_t)(h ^ h >> 32) % (2 * MACHINES_PAIRS);
    for (; w->table[at] != 0; at = (at + 1) % (2 * MACHINES_PAIRS)) {
        const machines_pair *p = &w->pairs[w->table[at] - 1];
        if (p->x == x && p->y == y) {
            return;
        }
    }
    if (w->n == MACHINES_PAIRS) {
        w->same = false; /* not shown */
        return;
    }
    w->pairs[w->n++] = (machines_pair){x, y};
    w->table[at] = w->n;
}

static bool machines_waits(const il_bind *b, il_step s) {
    return il_str_eq(il_machine_reason(b->machine, s.reason), IL_STR("no-approval"));
}

static void machines_try(machines_walk *w, machines_pair at, uint32_t x, uint32_t y) {
    if (x == IL_NO_SYMBOL || y == IL_NO_SYMBOL) {
        w->same = w->same && x == y;
        return;
    }
    const il_step s = il_machine_step(w->a->machine, at.x, x), t = il_machine_step(w->b->machine, at.y, y);
    if (s.verdict != t.verdict || (s.verdict == IL_REJECT && (il_machine_releasable(w->a->machine, s.reason) !=
                                                                  il_machine_releasable(w->b->machine, t.reason) ||
                                                              machines_waits(w->a, s) != machines_waits(w->b, t)))) {
        w->same = false;
    } else if (s.verdict == IL_ACCEPT) {
        machines_add(w, s.next, t.next);
    }
}

static bool machines_look(const machines_walk *w, machines_pair p) {
    static const char *const phases[] = {"quarantined", "ended"};
    const il_bind *a = w->a, *b = w->b;
    bool same = il_bind_counted(a, p.x) == il_bind_counted(b, p.y) && il_bind_fresh(a, p.x) == il_bind_fresh(b, p.y) &&
                il_bind_live(a, p.x, a->flight) == il_bind_live(b, p.y, b->flight) &&
                il_bind_live(a, p.x, a->open) == il_bind_live(b, p.y, b->open) &&
                il_bind_live(a, p.x, a->crossing) == il_bind_live(b, p.y, b->crossing) &&
                il_bind_count(a, p.x, a->asked) == il_bind_count(b, p.y, b->asked) &&
                il_bind_count(a, p.x, a->granted) == il_bind_count(b, p.y, b->granted);
    for (size_t i = 0; i < 2; i++) {
        same = same && il_bind_phase(a, p.x, phases[i]) == il_bind_phase(b, p.y, phases[i]);
    }
    return same;
}

static void machines_steps(machines_walk *w, machines_pair at) {
    static const char *const plain[] = {"request", "approve", "refuse", "quarantine", "end"};
    for (uint32_t e = 0; e < (1u << IL_EFFECTS) && w->same; e++) {
        for (uint32_t k = 0; k < 6; k++) {
            machines_try(w, at, il_bind_admit(w->a, e, (il_sink_word)(k % 3), k >= 3),
                         il_bind_admit(w->b, e, (il_sink_word)(k % 3), k >= 3));
        }
    }
    for (uint32_t taints = 0; taints <= IL_TAINTS && w->same; taints++) {
        for (uint8_t last = 0; last < 3; last++) {
            machines_try(w, at, il_bind_settle(w->a, taints, last), il_bind_settle(w->b, taints, last));
        }
        for (uint8_t k = 0; k < 9; k++) {
            machines_try(w, at, il_bind_join(w->a, taints, k % 3, k / 3), il_bind_join(w->b, taints, k % 3, k / 3));
        }
        if (taints != 0) {
            machines_try(w, at, il_bind_refine(w->a, taints), il_bind_refine(w->b, taints));
        }
    }
    machines_try(w, at, il_bind_lapse(w->a, false), il_bind_lapse(w->b, false));
    machines_try(w, at, il_bind_lapse(w->a, true), il_bind_lapse(w->b, true));
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        machines_try(w, at, il_bind_plain(w->a, plain[i]), il_bind_plain(w->b, plain[i]));
    }
}

il_status il_against_machines(il_against *a, bool *same, il_error *err) {
    const il_bind *x = &a->bind[0], *y = &a->bind[1];
    machines_walk w = {.a = x, .b = y, .same = true};
    il_arena room;
    *same = false;
    il_arena_init(&room, a->arena->alloc, a->arena->cap);
    w.pairs = IL_NEW_ARRAY(&room, machines_pair, MACHINES_PAIRS);
    w.table = IL_NEW_ARRAY(&room, uint32_t, 2 * (size_t)MACHINES_PAIRS);
    if (w.pairs == NULL || w.table == NULL) {
        const il_status s = il_arena_fail(&room, err);
        il_arena_free(&room);
        return s;
    }
    w.same = x->refines == y->refines && x->joins == y->joins && x->approves == y->approves && x->slots == y->slots &&
             (x->secret == UINT32_MAX) == (y->secret == UINT32_MAX);
    machines_add(&w, il_machine_initial(x->machine), il_machine_initial(y->machine));
    for (uint32_t i = 0; i < w.n && w.same; i++) {
        w.same = machines_look(&w, w.pairs[i]);
        if (w.same) {
            machines_steps(&w, w.pairs[i]);
        }
    }
    *same = w.same;
    il_arena_free(&room);
    return IL_OK;
}

/* ---- what no state lets pass ------------------------------------------------------------------------------- */

static bool machines_passes_in(const il_policy *p, const il_bind *b, uint64_t state, uint32_t effects, il_sink_word sink) {
    const uint32_t symbol = il_bind_admit(b, effects, sink, false);
    const il_step step = symbol != IL_NO_SYMBOL ? il_machine_step(b->machine, state, symbol) : (il_step){.verdict = IL_ACCEPT};
    return step.verdict == IL_ACCEPT || (b->approves && il_machine_releasable(b->machine, step.reason) &&
                                         il_policy_may_release(p, effects) && il_judged_accepts(b, state, effects, sink, true));
}

static bool machines_passes(il_against *a, int side, uint32_t effects, bool once) {
    uint8_t *known = &a->passes[side][once][effects];
    const il_machine *m = a->bind[side].machine;
    const il_sink_word sink = (effects & (uint32_t)IL_EGRESS) == 0 ? IL_SINK_NONE : once ? IL_SINK_ONCE : IL_SINK_STANDING;
    for (uint32_t i = 0; *known == 0 && i < il_machine_states(m); i++) {
        *known = machines_passes_in(a->p[side], &a->bind[side], il_machine_state(m, i), effects, sink) ? 1 : 0;
    }
    *known = *known == 0 ? 2 : *known;
    return *known == 1;
}

/* Effects that every call has: without conditions, and not to be vouched away. */
static uint32_t machines_least(const il_against_tool *t, int side) {
    uint32_t bits = !t->outside[side] ? 0 : t->lists[side] ? (uint32_t)IL_UNTRUSTED : (uint32_t)(IL_UNTRUSTED | IL_EGRESS);
    for (uint32_t i = 0; i < t->n[side]; i++) {
        const il_tool *tool = t->entries[side][i];
        uint32_t said = tool->said;
        for (uint32_t k = 0; tool->when != NULL && k < tool->when->n; k++) {
            said &= ~tool->when->when[k].bit;
        }
        bits |= il_against_unvouched(t, side) ? said : said & IL_TAINTS;
    }
    return (bits & (uint32_t)IL_SECRET) != 0 ? bits | (uint32_t)IL_SENSITIVE : bits;
}

bool il_against_rejected(il_against *a, const il_against_tool *t) {
    bool rejected = !a->monitors;
    for (int side = 0; side < 2 && rejected; side++) {
        const uint32_t least = machines_least(t, side);
        bool once = t->n[side] > 0;
        for (uint32_t i = 0; i < t->n[side]; i++) {
            once = once && t->entries[side][i]->once;
        }
        for (uint32_t e = 0; t->known[side] && e < (1u << IL_EFFECTS) && rejected; e++) {
            rejected = (e & least) != least || !machines_passes(a, side, e, once);
        }
    }
    return rejected;
}
