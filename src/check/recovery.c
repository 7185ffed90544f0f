/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery convergence; check/recovery.h says what is asked. Two graphs: the corrective steps alone (X), and those with what all others may do
 * after each of them. */
#include "check/recovery_graph.h"

#include "base/error.h"
#include "base/mem.h"
#include "check/report.h"

#define RECOVERY_PRODUCT_MAX (UINT64_C(1) << 24)
#define RECOVERY_WRITTEN (UINT64_C(1) << 63)    /* a state that one write of any variable made; nothing is followed from it */
#define RECOVERY_LASSO_WORK (UINT64_C(1) << 24) /* steps looked at for a shortest lasso; beyond, the shortest so far is taken */

typedef struct recovery {
    il_harden *h;
    il_check *check;
    uint64_t regions, edges; /* never regions of states, of steps */
    uint32_t quarantined;    /* value of `phase`; UINT32_MAX when the machine cannot freeze */
    uint64_t *danger;
    uint32_t ndanger, cap;
    uint64_t raise, lower; /* variables that an adversary writes */
    il_steps_edge *row;    /* room for the steps of one state */
    uint64_t *in;          /* regions of states, of each node of the graph in hand */
    bool full;
} recovery;

static il_recovery *recovery_of(const recovery *r) { return &r->h->recovery; }

static uint64_t recovery_in(const recovery *r, uint64_t state) {
    uint64_t in = 0;
    for (uint64_t left = r->regions; left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        in |= il_steps_in_region(r->h->subject.steps, k, state, 0, 0) ? UINT64_C(1) << k : 0;
    }
    return in;
}

/* The same, which the graph knows of its nodes. */
static uint64_t recovery_in_of(const recovery *r, const il_recover_graph *g, uint64_t state) {
    const uint32_t node = il_recover_node(g, state);
    return node == UINT32_MAX ? recovery_in(r, state) : r->in[node];
}

static bool recovery_edge_in(const recovery *r, uint64_t pre, uint32_t symbol, uint64_t next) {
    const il_subject *s = &r->h->subject;
    const uint64_t regions = r->edges & s->judged_own[symbol];
    return regions != 0 && il_steps_in_regions(s->steps, regions, pre, symbol, next) != 0;
}

/* The accepted steps of corrective actions, or of all others, in r->row. */
static uint32_t recovery_row(const recovery *r, uint64_t state, bool corrective) {
    const il_subject *s = &r->h->subject;
    il_steps_edges row = il_steps_row(s->steps, NULL, state);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        bool repairs = (s->corrective >> s->m->symbol_action[row.edge[k].symbol] & 1) != 0;
        if (!row.edge[k].fault && repairs == corrective) {
            r->row[n++] = row.edge[k];
        }
    }
    return n;
}

/* Whether a step is in a never region of steps, or enters one of states that was not held before. One that changes nothing is none. */
static bool recovery_enters(const recovery *r, const il_recover_graph *g, uint64_t state, uint64_t held, const il_steps_edge *e) {
    return e->next != state && (recovery_edge_in(r, state, e->symbol, e->next) || (recovery_in_of(r, g, e->next) & ~held) != 0);
}

/* Takes a graph in hand. */
static il_status recovery_hold(recovery *r, const il_recover_graph *g, il_error *err) {
    const il_alloc *alloc = r->h->subject.alloc;
    alloc->free(alloc->ctx, r->in);
    r->in = alloc->alloc(alloc->ctx, (size_t)g->n * sizeof *r->in + 1);
    if (!r->in) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the regions of states");
    }
    for (uint32_t i = 0; i < g->n; i++) {
        r->in[i] = g->mark[i] & IL_RECOVER_ROOT ? 0 : recovery_in(r, il_recover_state(g, i));
    }
    return IL_OK;
}

/* ---- danger states ---- */

static il_status recovery_note(recovery *r, uint64_t state, il_error *err) {
    const il_alloc *alloc = r->h->subject.alloc;
    if (r->ndanger == r->cap) {
        uint32_t cap = r->cap ? r->cap * 2 : 1024;
        uint64_t *bigger = alloc->alloc(alloc->ctx, (size_t)cap * sizeof *bigger);
        if (!bigger) {
            return il_error_set(err, IL_E_MEMORY, "no memory for the danger states");
        }
        if (r->ndanger > 0) {
            memcpy(bigger, r->danger, (size_t)r->ndanger * sizeof *bigger);
        }
        alloc->free(alloc->ctx, r->danger);
        r->danger = bigger;
        r->cap = cap;
    }
    r->danger[r->ndanger++] = state;
    return IL_OK;
}

static il_status recovery_product(recovery *r, il_error *err) {
    const il_model *m = r->h->subject.m;
    for (uint64_t i = 0; i < m->product; i++) {
        uint64_t state = 0;
        uint64_t index = i;
        bool memory = false;
        for (uint32_t v = 0; v < m->nvars; v++) {
            uint32_t value = (uint32_t)(index % m->vars[v].domain.size);
            state = il_model_set(m, state, v, value);
            index /= m->vars[v].domain.size;
            memory = memory || (m->vars[v].ghost && value != 0);
        }
        /* A ghost is beyond every adversary: it remembers nothing that did not happen. */
        if (!memory && recovery_in(r, state) != 0) {
            IL_TRY(recovery_note(r, state, err));
        }
    }
    return IL_OK;
}

static uint32_t recovery_expand(void *ctx, uint64_t key, il_space_edge *out) {
    const recovery *r = ctx;
    const il_subject *s = &r->h->subject;
    if (key & RECOVERY_WRITTEN) {
        return 0;
    }
    il_steps_edges row = il_steps_row(s->steps, NULL, key);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        out[n++] = (il_space_edge){row.edge[k].next, row.edge[k].symbol, row.edge[k].fault};
    }
    for (uint32_t i = 0; i < s->nwrites; i++) {
        il_write w = s->writes[i];
        uint32_t now = il_model_get(s->m, key, w.var);
        if (w.value != now && !s->m->vars[w.var].ghost) {
            bool adversary = ((w.value > now ? r->raise : r->lower) >> w.var & 1) != 0;
            uint64_t next = il_model_set(s->m, key, w.var, w.value) | (adversary ? 0 : RECOVERY_WRITTEN);
            out[n++] = (il_space_edge){.next = next, .symbol = s->m->nsymbols + i};
        }
    }
    return n;
}

static il_status recovery_reachable(recovery *r, il_error *err) {
    const il_subject *s = &r->h->subject;
    if (s->m->bits > 62) {
        r->full = true;
        return IL_OK;
    }
    il_unmediated_writes(r->h, &r->raise, &r->lower);
    for (uint32_t v = 0; v < s->m->nvars;
         v++) { /* a typed adversary is taken for one that writes at will: more danger, not less */
        r->raise |= s->m->vars[v].adversary.writes ? UINT64_C(1) << v : 0;
        r->lower |= s->m->vars[v].adversary.writes ? UINT64_C(1) << v : 0;
    }
    il_space space = {0};
    il_space_def def = {.ctx = r, .initial = s->m->initial, .nsymbols = s->m->nsymbols + s->nwrites, .expand = recovery_expand};
    def.first_write = s->m->nsymbols;
    il_space_bounds bounds = s->bounds;
    bounds.states =
        bounds.states > UINT32_MAX / 2 ? UINT32_MAX : bounds.states * 2; /* a state may be there again as a written one */
    bounds.workers = 1;
    il_status status = il_space_explore(&space, s->alloc, &def, &bounds, err);
    r->full = status == IL_OK && space.bound_hit;
    for (uint32_t i = 0; status == IL_OK && !r->full && i < space.n; i++) {
        uint64_t key = il_space_key(&space, i);
        uint64_t state = key & ~RECOVERY_WRITTEN;
        bool twice = key != state && il_space_find(&space, state) != UINT32_MAX;
        if (!twice && recovery_in(r, state) != 0) {
            status = recovery_note(r, state, err);
        }
    }
    il_space_free(&space);
    return status;
}

/* ---- findings ---- */

static bool recovery_has(const recovery *r, const char *word) {
    const il_recovery *out = recovery_of(r);
    for (uint32_t i = 0; i < out->nfindings; i++) {
        if (il_str_eq(il_str_of(out->findings[i].word), il_str_of(word))) {
            return true;
        }
    }
    return false;
}

static il_status recovery_find(recovery *r, il_recover_graph *g, const char *word, const il_recover_way *way, il_error *err) {
    il_recovery *out = recovery_of(r);
    il_recovery_finding *f = &out->findings[out->nfindings++];
    *f = (il_recovery_finding){.word = word, .from = il_recover_state(g, way->node[0])};
    return il_recover_trace(g, way, &f->witness, err);
}

/* A finding that the step by `symbol` from `node` makes, the first of its word. */
static il_status recovery_find_step(recovery *r, il_recover_graph *g, const char *word, uint32_t node, uint32_t symbol,
                                    uint64_t next, il_recover_way *way, il_error *err) {
    if (recovery_has(r, word)) {
        return IL_OK;
    }
    il_recover_stem(g, node, way);
    way->n++; /* room for the step itself, which may lead nowhere */
    way->node[way->n - 1] = node;
    way->kinds[way->n - 1] = 0;
    IL_TRY(recovery_find(r, g, word, way, err));
    il_trace *t = &recovery_of(r)->findings[recovery_of(r)->nfindings - 1].witness;
    t->steps[t->n - 1] = (il_trace_step){.symbol = symbol, .pre = il_recover_state(g, node), .post = next};
    return IL_OK;
}

/* The first node of the search that has all of `with` and none of `without`. */
static uint32_t recovery_first(const il_recover_graph *g, unsigned with, unsigned without) {
    for (uint32_t i = 0; i < g->norder; i++) {
        if ((g->mark[g->order[i]] & with) == with && !(g->mark[g->order[i]] & without)) {
            return g->order[i];
        }
    }
    return UINT32_MAX;
}

/* ---- corrective steps alone ---- */

static uint32_t recovery_degree(const il_recover_list *l, uint32_t node) { return l->first[node + 1] - l->first[node]; }

/* Longest way to the goal; what cannot be ordered has IL_RECOVER_CYCLE: it lies on a cycle or leads to one. */
static il_status recovery_order(recovery *r, il_recover_graph *g, bool *cyclic, il_error *err) {
    const il_alloc *alloc = r->h->subject.alloc;
    uint32_t *left = alloc->alloc(alloc->ctx, (size_t)g->n * 2 * sizeof *left + 1);
    if (!left) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the order of corrective steps");
    }
    uint32_t *length = left + g->n;
    uint32_t n = 0;
    *cyclic = false;
    for (uint32_t i = 0; i < g->n; i++) {
        length[i] = 0;
        left[i] = g->mark[i] & IL_RECOVER_GOAL ? 0 : recovery_degree(&g->next[0], i);
        g->mark[i] |= IL_RECOVER_CYCLE;
        if (left[i] == 0) {
            g->scratch[n++] = i;
        }
    }
    for (uint32_t at = 0; at < n; at++) {
        uint32_t node = g->scratch[at];
        g->mark[node] &= (uint8_t)~IL_RECOVER_CYCLE;
        il_recovery *out = recovery_of(r);
        out->longest = length[node] > out->longest ? length[node] : out->longest;
        for (uint32_t e = g->back[0].first[node]; e < g->back[0].first[node + 1]; e++) {
            uint32_t from = g->back[0].to[e];
            if (g->mark[from] & IL_RECOVER_GOAL) {
                continue;
            }
            length[from] = length[node] + 1 > length[from] ? length[node] + 1 : length[from];
            if (--left[from] == 0) {
                g->scratch[n++] = from;
            }
        }
    }
    for (uint32_t i = 0; i < g->n; i++) {
        *cyclic = *cyclic || (g->mark[i] & IL_RECOVER_CYCLE);
    }
    alloc->free(alloc->ctx, left);
    return IL_OK;
}

/* The shortest stem and loop over nodes marked as cyclic and, when `lost`, without a way to the goal. */
static bool recovery_lasso(il_recover_graph *g, bool lost, il_recover_way *way, uint32_t *stem) {
    uint64_t budget = RECOVERY_LASSO_WORK;
    uint32_t best = UINT32_MAX;
    uint32_t best_length = UINT32_MAX;
    for (uint32_t i = 0; i < g->norder && (budget > 0 || best == UINT32_MAX); i++) {
        uint32_t node = g->order[i];
        if (!(g->mark[node] & IL_RECOVER_CYCLE) || (lost && (g->mark[node] & IL_RECOVER_BACK))) {
            continue;
        }
        il_recover_stem(g, node, way);
        uint32_t before = way->n;
        if (before + 1 >= best_length) { /* a loop has two steps at least, and later nodes lie no nearer */
            break;
        }
        uint64_t enough = UINT64_MAX;
        g->mark[node] |= IL_RECOVER_WON; /* the target, for this search alone */
        bool loops = il_recover_lead(g, way, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_WON, IL_RECOVER_CYCLE, true,
                                     best == UINT32_MAX ? &enough : &budget);
        g->mark[node] &= (uint8_t)~IL_RECOVER_WON;
        if (loops && way->n < best_length) {
            best = node;
            best_length = way->n;
        }
    }
    if (best == UINT32_MAX) {
        return false;
    }
    uint64_t enough = UINT64_MAX;
    il_recover_stem(g, best, way);
    *stem = way->n - 1;
    g->mark[best] |= IL_RECOVER_WON;
    bool loops = il_recover_lead(g, way, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_WON, IL_RECOVER_CYCLE, true, &enough);
    g->mark[best] &= (uint8_t)~IL_RECOVER_WON;
    return loops;
}

static il_status recovery_converge(recovery *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    il_recovery *out = recovery_of(r);
    bool cyclic = false;
    uint32_t stem = 0;
    IL_TRY(recovery_order(r, g, &cyclic, err));
    il_recover_back(g, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_GOAL, IL_RECOVER_ROOT);
    for (uint32_t i = 0; i < g->norder; i++) {
        uint32_t node = g->order[i];
        if (!(g->mark[node] & IL_RECOVER_GOAL) && recovery_degree(&g->next[0], node) == 0) {
            il_recover_stem(g, node, way);
            IL_TRY(recovery_find(r, g, "STUCK", way, err));
            break;
        }
    }
    bool lost = recovery_first(g, 0, IL_RECOVER_BACK) != UINT32_MAX;
    bool lost_cycle = cyclic && recovery_first(g, IL_RECOVER_CYCLE, IL_RECOVER_BACK) != UINT32_MAX;
    if (lost_cycle && recovery_lasso(g, true, way, &stem)) { /* what is lost may as well only lead to a stuck state */
        IL_TRY(recovery_find(r, g, "DIVERGES", way, err));
    }
    out->strength = lost ? IL_RECOVERY_NONE : cyclic ? IL_RECOVERY_WEAK : IL_RECOVERY_STRONG;
    out->longest = out->strength == IL_RECOVERY_STRONG ? out->longest : 0;
    if (out->strength == IL_RECOVERY_WEAK && recovery_lasso(g, false, way, &stem)) {
        out->lasso_from = il_recover_state(g, way->node[0]);
        out->lasso_stem = stem;
        IL_TRY(il_recover_trace(g, way, &out->lasso, err));
    }
    return IL_OK;
}

static bool recovery_lowers(const recovery *r, uint64_t pre, uint64_t next) {
    const il_model *m = r->h->subject.m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if ((m->vars[v].taint || m->vars[v].sticky) && il_model_get(m, next, v) < il_model_get(m, pre, v)) {
            return true;
        }
    }
    return false;
}

/* Every corrective step of X, one by one. */
static il_status recovery_judge_steps(recovery *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    const il_subject *s = &r->h->subject;
    il_recovery *out = recovery_of(r);
    uint32_t unsafe_node = UINT32_MAX, restores_node = UINT32_MAX;
    il_steps_edge unsafe_step = {0}, restores_step = {0};
    for (uint32_t i = 0; i < g->norder && (unsafe_node == UINT32_MAX || restores_node == UINT32_MAX); i++) {
        uint64_t state = il_recover_state(g, g->order[i]);
        uint64_t held = recovery_in_of(r, g, state);
        uint32_t n = recovery_row(r, state, true);
        for (uint32_t k = 0; k < n; k++) {
            il_steps_edge e = r->row[k];
            if (unsafe_node == UINT32_MAX && recovery_enters(r, g, state, held, &e)) {
                unsafe_node = g->order[i];
                unsafe_step = e;
            }
            if (recovery_lowers(r, state, e.next) && restores_node == UINT32_MAX) {
                restores_node = g->order[i];
                restores_step = e;
            }
        }
    }
    if (unsafe_node != UINT32_MAX) {
        IL_TRY(recovery_find_step(r, g, "RECOVERY_UNSAFE", unsafe_node, unsafe_step.symbol, unsafe_step.next, way, err));
    }
    if (restores_node != UINT32_MAX) {
        IL_TRY(
            recovery_find_step(r, g, "RESTORES_COMPROMISE", restores_node, restores_step.symbol, restores_step.next, way, err));
    }
    for (uint32_t i = 0; i < g->norder; i++) {
        uint64_t state = il_recover_state(g, g->order[i]);
        bool goal = (g->mark[g->order[i]] & IL_RECOVER_GOAL) != 0;
        out->restoration = out->restoration || (goal && state == s->m->initial);
        out->inside = out->inside || (goal && !out->inside && recovery_in_of(r, g, state) != 0);
    }
    return IL_OK;
}

static il_status recovery_alone(recovery *r, il_recover_graph *g, il_error *err) {
    il_recovery *out = recovery_of(r);
    il_recover_way way = {0};
    il_status status = il_recover_way_new(g, &way, err);
    if (status == IL_OK && !g->full) {
        status = recovery_hold(r, g, err);
    }
    if (status == IL_OK && !g->full) {
        out->states = g->norder;
        if (g->space.fault.found) {
            const il_space_hit *hit = &g->space.fault;
            status = recovery_find_step(r, g, "FAULT", hit->node, hit->symbol, hit->next, &way, err);
        }
        if (status == IL_OK) {
            status = recovery_converge(r, g, &way, err);
        }
        if (status == IL_OK) {
            status = recovery_judge_steps(r, g, &way, err);
        }
    }
    il_recover_way_free(g, &way);
    return status;
}

/* ---- with what others do in between ---- */

/* Marks IL_RECOVER_WON from where corrective steps win: the goal, or one corrective step to the goal or to where no step of others leaves what is
 * won already. `rounds`: how often that was used, the bound on corrective steps. */
static void recovery_win(il_recover_graph *g, uint32_t *rounds) {
    for (uint32_t i = 0; i < g->n; i++) {
        g->mark[i] = (uint8_t)(g->mark[i] & IL_RECOVER_GOAL ? g->mark[i] | IL_RECOVER_WON : g->mark[i] & ~IL_RECOVER_WON);
        g->mark[i] &= (uint8_t)~IL_RECOVER_CYCLE;
    }
    *rounds = 0;
    for (bool more = true; more;) {
        for (uint32_t i = 0; i < g->n; i++) { /* not won: what others must not reach; the mark of a cycle serves for it */
            g->mark[i] = (uint8_t)(g->mark[i] & IL_RECOVER_WON ? g->mark[i] & ~IL_RECOVER_CYCLE : g->mark[i] | IL_RECOVER_CYCLE);
        }
        il_recover_back(g, IL_RECOVER_BY_OTHERS, IL_RECOVER_CYCLE, IL_RECOVER_GOAL);
        more = false;
        for (uint32_t i = 0; i < g->n; i++) {
            bool wins = false;
            bool open = !(g->mark[i] & (IL_RECOVER_WON | IL_RECOVER_ROOT));
            for (uint32_t e = g->next[0].first[i]; open && !wins && e < g->next[0].first[i + 1]; e++) {
                uint8_t mark = g->mark[g->next[0].to[e]];
                wins = (mark & IL_RECOVER_GOAL) || !(mark & IL_RECOVER_BACK);
            }
            g->mark[i] |= wins ? IL_RECOVER_WON : 0;
            more = more || wins;
        }
        *rounds += more ? 1 : 0;
    }
}

/* A step by which others enter a never region anew before the goal. */
static il_status recovery_reentry(recovery *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    for (uint32_t i = 0; i < g->norder; i++) {
        uint32_t node = g->order[i];
        if (g->mark[node] & IL_RECOVER_GOAL) {
            continue;
        }
        uint64_t state = il_recover_state(g, node);
        uint64_t held = recovery_in_of(r, g, state);
        uint32_t n = recovery_row(r, state, false);
        for (uint32_t k = 0; k < n; k++) {
            il_steps_edge e = r->row[k];
            if (recovery_enters(r, g, state, held, &e)) {
                return recovery_find_step(r, g, "FRAGILE", node, e.symbol, e.next, way, err);
            }
        }
    }
    return IL_OK;
}

/* From the nearest state that is not won: the corrective step towards the goal, and what others make of it. States from which corrective steps
 * do not recover even by themselves are another finding. */
static il_status recovery_undone(recovery *r, il_recover_graph *g, const il_recover_graph *alone, il_recover_way *way,
                                 il_error *err) {
    uint64_t budget = UINT64_MAX;
    uint32_t node = UINT32_MAX;
    for (uint32_t i = 0; i < g->norder && node == UINT32_MAX; i++) {
        uint32_t at = g->order[i];
        uint32_t in_x = il_recover_node(alone, il_recover_state(g, at));
        bool lost = in_x != UINT32_MAX && !(alone->mark[in_x] & IL_RECOVER_BACK);
        node = !(g->mark[at] & IL_RECOVER_WON) && !lost ? at : UINT32_MAX;
    }
    if (node == UINT32_MAX) {
        return IL_OK;
    }
    il_recover_stem(g, node, way);
    uint32_t stem = way->n;
    if (il_recover_lead(g, way, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_GOAL, 0, true, &budget)) {
        way->n = stem + 1; /* the first step of the shortest way to the goal, and from there others lead to what is not won */
        (void)il_recover_lead(g, way, IL_RECOVER_BY_OTHERS, IL_RECOVER_CYCLE, 0, false, &budget);
    }
    return recovery_find(r, g, "FRAGILE", way, err);
}

static bool recovery_live(const recovery *r, uint64_t state) {
    const il_subject *s = &r->h->subject;
    bool live = false;
    for (uint32_t i = 0; i < IL_WAYS_OUT; i++) {
        live = live || (s->out[i].var != UINT32_MAX && il_model_get(s->m, state, s->out[i].var) != 0);
    }
    return live;
}

/* Danger states with a live way out: some corrective step freezes, or all is frozen already. */
static il_status recovery_in_flight(recovery *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    il_recovery *out = recovery_of(r);
    for (uint32_t i = 0; i < g->n; i++) {
        bool moves = !(g->mark[i] & (IL_RECOVER_GOAL | IL_RECOVER_ROOT)) && recovery_degree(&g->next[1], i) > 0;
        g->mark[i] = (uint8_t)(moves ? g->mark[i] | IL_RECOVER_CYCLE : g->mark[i] & ~IL_RECOVER_CYCLE);
    }
    il_recover_back(g, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_CYCLE, IL_RECOVER_GOAL); /* BACK: not frozen */
    bool legal = true;
    for (uint32_t i = 0; i < r->ndanger; i++) {
        uint32_t node = il_recover_node(g, r->danger[i]);
        if (!recovery_live(r, r->danger[i])) {
            continue;
        }
        out->in_flight++;
        bool freezes = !(g->mark[node] & IL_RECOVER_BACK); /* it is frozen, or over, already */
        for (uint32_t e = g->next[0].first[node]; !freezes && e < g->next[0].first[node + 1]; e++) {
            freezes = !(g->mark[g->next[0].to[e]] & IL_RECOVER_BACK);
        }
        if (!freezes && legal) {
            legal = false;
            il_recover_stem(g, node, way);
            if (r->quarantined != UINT32_MAX) {
                IL_TRY(recovery_find(r, g, "NOT_LEGAL_IN_FLIGHT", way, err));
            }
        }
    }
    out->flight = r->quarantined == UINT32_MAX ? IL_RECOVERY_NOTHING_FREEZES : legal ? IL_RECOVERY_LEGAL : IL_RECOVERY_NOT_LEGAL;
    return IL_OK;
}

static il_status recovery_together(recovery *r, il_recover_graph *g, const il_recover_graph *alone, il_error *err) {
    il_recovery *out = recovery_of(r);
    il_recover_way way = {0};
    il_status status = il_recover_way_new(g, &way, err);
    if (status == IL_OK && !g->full) {
        status = recovery_hold(r, g, err);
    }
    if (status == IL_OK && !g->full) {
        recovery_win(g, &out->interleaved);
        status = recovery_undone(r, g, alone, &way, err);
        if (status == IL_OK && !recovery_has(r, "FRAGILE")) {
            status = recovery_reentry(r, g, &way, err);
        }
        out->robust = !recovery_has(r, "FRAGILE") && recovery_first(g, 0, IL_RECOVER_WON) == UINT32_MAX;
        out->interleaved = out->robust ? out->interleaved : 0;
    }
    if (status == IL_OK && !g->full) {
        status = recovery_in_flight(r, g, &way, err);
    }
    il_recover_way_free(g, &way);
    return status;
}

/* ---- the run ---- */

static il_status recovery_conclude(recovery *r, il_error *err) {
    il_check *c = r->check;
    const il_recovery *out = recovery_of(r);
    il_buf b;
    c->states = out->states;
    c->verdict = out->nfindings > 0 ? IL_CHECK_FAIL : r->full ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    c->bound_hit = r->full;
    r->h->bounded = r->h->bounded || r->full;
    if (out->nfindings == 0) {
        c->finding = !r->full && out->strength == IL_RECOVERY_WEAK ? "WEAK" : NULL;
        return IL_OK;
    }
    c->finding = out->findings[0].word;
    c->witness = out->findings[0].witness;
    il_buf_init(&b, r->h->subject.arena, 1 << 16);
    il_buf_puts(&b, "from ");
    il_state_text(r->h->subject.m, out->findings[0].from, &b);
    for (uint32_t i = 1; i < out->nfindings; i++) {
        il_buf_puts(&b, i == 1 ? "; also " : ", ");
        il_buf_puts(&b, out->findings[i].word);
    }
    return il_buf_done(&b, &c->detail, err);
}

static il_status recovery_graphs(recovery *r, il_error *err) {
    il_recover_graph alone = {.h = r->h, .danger = r->danger, .ndanger = r->ndanger};
    il_recover_graph together = alone;
    together.others = true;
    il_status status = il_recover_graph_make(&alone, err);
    if (status == IL_OK && !alone.full) {
        r->check->edges = alone.steps;
        r->check->depth = alone.depth;
        status = recovery_alone(r, &alone, err);
    }
    if (status == IL_OK && !alone.full) {
        recovery_of(r)->ran = true;
        status = il_recover_graph_make(&together, err);
    }
    if (status == IL_OK && !alone.full && !together.full) {
        status = recovery_together(r, &together, &alone, err);
    }
    r->full = alone.full || together.full;
    il_recover_graph_free(&together);
    il_recover_graph_free(&alone);
    return status;
}

static void recovery_begins(recovery *r) {
    il_recovery *out = recovery_of(r);
    for (uint32_t i = 0; i < r->ndanger && !out->begins; i++) {
        out->begins = !il_recovery_goal(r->h->subject.m, r->danger[i]);
        out->outside = r->danger[i];
    }
}

static il_status recovery_run(recovery *r, il_error *err) {
    const il_subject *s = &r->h->subject;
    il_recovery *out = recovery_of(r);
    uint64_t limit = s->bounds.states && s->bounds.states < RECOVERY_PRODUCT_MAX ? s->bounds.states : RECOVERY_PRODUCT_MAX;
    out->scope = s->m->bits < 64 && s->m->product <= limit ? IL_RECOVERY_PRODUCT : IL_RECOVERY_REACHABLE;
    IL_TRY(out->scope == IL_RECOVERY_PRODUCT ? recovery_product(r, err) : recovery_reachable(r, err));
    out->danger = r->ndanger;
    recovery_begins(r);
    if (r->ndanger == 0 && !r->full) {
        out->ran = true;
        r->check->verdict = IL_CHECK_VACUOUS;
        r->check->finding = "NO_DANGER_STATE";
        return IL_OK;
    }
    if (!r->full) {
        IL_TRY(recovery_graphs(r, err));
    }
    return recovery_conclude(r, err);
}

il_status il_check_recovery(il_harden *h, il_error *err) {
    const il_subject *s = &h->subject;
    recovery r = {.h = h, .quarantined = UINT32_MAX};
    uint32_t phase = il_model_var(s->m, IL_STR("phase"));
    bool ends = false;
    for (uint32_t i = 0; phase != UINT32_MAX && i < s->m->vars[phase].domain.size; i++) {
        il_str name = s->m->vars[phase].domain.names[i];
        ends = ends || il_str_eq(name, IL_STR("ended"));
        r.quarantined = il_str_eq(name, IL_STR("quarantined")) ? i : r.quarantined;
    }
    for (uint32_t k = 0; k < s->m->nregions; k++) {
        const il_region *region = &s->m->regions[k];
        uint64_t bit = !region->gated && !region->rejection ? UINT64_C(1) << k : 0;
        r.edges |= region->edge ? bit : 0;
        r.regions |= region->edge ? 0 : bit;
    }
    if (!s->m->goal && (!ends || s->corrective == 0 || r.regions == 0)) {
        return IL_OK; /* the machine declares no recovery */
    }
    r.row = IL_NEW_ARRAY(s->arena, il_steps_edge, s->m->nsymbols);
    r.check = il_check_add(h, "recovery", UINT32_MAX, false);
    il_status status = r.row && r.check ? recovery_run(&r, err) : il_arena_fail(s->arena, err);
    s->alloc->free(s->alloc->ctx, r.danger);
    s->alloc->free(s->alloc->ctx, r.in);
    return status;
}

/* The last corrective step before the goal is taken away, everywhere: from a danger state outside the goal there is no way to it left. */
il_status il_recovery_control(const il_harden *h, il_control_state *out, il_error *err) {
    il_harden planted = *h;
    planted.recovery = (il_recovery){0};
    recovery r = {.h = &planted, .quarantined = UINT32_MAX};
    il_recover_graph g = {.h = &planted, .danger = &h->recovery.outside, .ndanger = 1, .cut = true};
    il_recover_way way = {0};
    if (!h->recovery.begins) {
        *out = IL_CONTROL_NOT_NEEDED; /* every danger state is in the goal already */
        return IL_OK;
    }
    il_status status = il_recover_graph_make(&g, err);
    if (status == IL_OK && !g.full) {
        status = il_recover_way_new(&g, &way, err);
    }
    if (status == IL_OK && !g.full) {
        status = recovery_converge(&r, &g, &way, err);
    }
    if (status == IL_OK && !g.full) {
        bool caught =
            planted.recovery.strength == IL_RECOVERY_NONE && (recovery_has(&r, "STUCK") || recovery_has(&r, "DIVERGES"));
        *out = caught ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_BROKEN;
    }
    il_recover_way_free(&g, &way);
    il_recover_graph_free(&g);
    return status;
}

/* ---- the report ---- */

const char *il_recovery_strength_name(il_recovery_strength s) {
    switch (s) {
    case IL_RECOVERY_NONE:
        return "NONE";
    case IL_RECOVERY_WEAK:
        return "WEAK";
    case IL_RECOVERY_STRONG:
        return "STRONG";
    }
    return "NONE";
}

static il_json *recovery_way(il_report *r, uint64_t from, const il_trace *t) {
    if (!t->found) {
        return il_report_null(r);
    }
    il_json *o = il_report_object(r);
    il_report_set(r, o, "from", il_report_state(r, from));
    il_report_set(r, o, "steps", il_report_trace(r, t));
    return o;
}

il_json *il_recovery_object(const il_model *m, const il_recovery *r, il_arena *arena) {
    static const char *const flight[] = {"nothing freezes", "legal", "not legal"};
    if (!r->ran) {
        return il_json_make(arena, IL_JSON_NULL);
    }
    il_report b = {.arena = arena, .m = m};
    il_json *o = il_report_object(&b);
    il_json *findings = il_report_list(&b);
    for (uint32_t i = 0; i < r->nfindings; i++) {
        il_json *one = il_report_object(&b);
        il_report_set(&b, one, "finding", il_report_word(&b, r->findings[i].word));
        il_report_set(&b, one, "witness", recovery_way(&b, r->findings[i].from, &r->findings[i].witness));
        il_report_push(&b, findings, one);
    }
    il_report_set(&b, o, "scope", il_report_word(&b, r->scope == IL_RECOVERY_PRODUCT ? "product" : "reachable"));
    il_report_set(&b, o, "danger", il_report_number(&b, r->danger));
    il_report_set(&b, o, "states", il_report_number(&b, r->states));
    il_report_set(&b, o, "strength", il_report_word(&b, il_recovery_strength_name(r->strength)));
    il_report_set(&b, o, "longest", il_report_number(&b, r->longest));
    il_report_set(&b, o, "robust", il_report_bool(&b, r->robust));
    il_report_set(&b, o, "interleaved", il_report_number(&b, r->interleaved));
    il_report_set(&b, o, "result", il_report_word(&b, r->restoration ? "restoration" : "containment"));
    il_report_set(&b, o, "goal_inside_region", il_report_bool(&b, r->inside));
    il_report_set(&b, o, "in_flight", il_report_word(&b, flight[r->flight]));
    il_report_set(&b, o, "in_flight_states", il_report_number(&b, r->in_flight));
    il_report_set(&b, o, "lasso", recovery_way(&b, r->lasso_from, &r->lasso));
    il_report_set(&b, o, "lasso_stem", il_report_number(&b, r->lasso_stem));
    il_report_set(&b, o, "findings", findings);
    return b.failed ? NULL : o;
}
