/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/steps.h"

#include "base/arena.h"
#include "base/mem.h"
#include "machine/settle.h"

#define IL_STEPS_PART_CELLS (1u << 19)           /* of one table; a single guard may have twice that */
#define IL_STEPS_PART_VALUES 4096u               /* of the variables that parts are put together for */
#define IL_STEPS_TABLE_BYTES ((size_t)128 << 20) /* of all tables */
#define IL_STEPS_ROWS (1u << 18)                 /* a full product up to this has its rows remembered */
#define IL_STEPS_ROW_BYTES ((size_t)128 << 20)
#define IL_STEPS_ARENA_BYTES ((size_t)1 << 30)

/* What a set of variables says, as one number: the sum of value x stride. */
typedef struct steps_lens {
    uint32_t nvars, size;
    uint8_t vars[IL_MODEL_VARS_MAX];
    uint32_t strides[IL_MODEL_VARS_MAX];
} steps_lens;

enum { STEPS_FILLED = 1, STEPS_ESCAPED = 2, STEPS_FAILED = 4 };

typedef struct steps_cell {
    uint64_t next; /* the bits of the part's updates, at their place */
    uint32_t hits;
    uint32_t flags;
} steps_cell;

/* Some updates and clauses of an action that read nearly the same variables. */
typedef struct steps_part {
    uint64_t reads;   /* bit v: variable v */
    uint64_t updates; /* bit u */
    uint64_t mask;    /* bits of the packed state that they write */
    uint32_t clauses; /* bit c */
    uint32_t at;      /* number that the state in hand has in the lens */
    steps_lens lens;
    steps_cell *cells; /* a row of symbols for each number; NULL until asked */
} steps_part;

typedef struct steps_action {
    bool plain; /* asked of the evaluator each time */
    bool ready; /* has its tables */
    uint32_t nparts;
    steps_part *parts;
} steps_action;

/* A region's question: of one variable before the step, or after it. */
typedef struct steps_judge {
    bool plain;
    uint32_t nsymbols, first;
    steps_lens pre, next; /* next's strides go on where pre's end */
    uint8_t *cells;       /* 0 not asked yet, 1 outside, 2 inside */
} steps_judge;

typedef struct steps_row {
    uint32_t n;
    il_steps_edge edges[];
} steps_row;

struct il_steps {
    const il_alloc *alloc;
    const il_model *m;
    il_arena arena;
    size_t bytes; /* of tables */
    steps_action actions[IL_MODEL_ACTIONS_MAX];
    il_settle *settle;   /* NULL: the machine has no naps */
    steps_judge *judges; /* nregions x nactions; a region of states has one */
    bool any, valid;     /* a state is in hand; it is inside its domains */
    uint64_t state;
    uint32_t values[IL_MODEL_VARS_MAX];
    steps_row **rows; /* by place in the full product; NULL when that is too large */
    size_t row_bytes;
    il_steps_edge *edges; /* the row in hand, when it is not remembered */
};

typedef struct steps_reads {
    uint64_t vars[3]; /* pre, call, next; bit v */
    uint32_t nvars;
} steps_reads;

static void steps_visit(void *ctx, size_t var, size_t field) {
    steps_reads *r = ctx;
    if (var < 3) {
        r->vars[var] |= field < IL_MODEL_VARS_MAX ? UINT64_C(1) << field : UINT64_MAX;
    }
}

static steps_reads steps_read(const il_model *m, const il_cel_program *program) {
    steps_reads r = {0};
    il_cel_reads(program, steps_visit, &r);
    uint64_t all = m->nvars < 64 ? (UINT64_C(1) << m->nvars) - 1 : UINT64_MAX;
    r.vars[0] &= all;
    r.vars[2] &= all;
    return r;
}

static uint64_t steps_product(const il_model *m, uint64_t vars) {
    uint64_t n = 1;
    for (uint32_t v = 0; v < m->nvars && n <= UINT32_MAX; v++) {
        n *= vars >> v & 1 ? m->vars[v].domain.size : 1;
    }
    return n;
}

static uint32_t steps_lens_make(steps_lens *l, const il_model *m, uint64_t vars, uint32_t stride) {
    l->nvars = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (vars >> v & 1) {
            l->vars[l->nvars] = (uint8_t)v;
            l->strides[l->nvars++] = stride;
            stride *= m->vars[v].domain.size;
        }
    }
    l->size = stride;
    return stride;
}

/* Variables before the step that decide what an expression of an action says: those it reads, and for each `next.x` those that decide x. */
static uint64_t steps_decides(const steps_reads *r, const uint64_t *of) {
    uint64_t vars = r->vars[0];
    for (uint32_t v = 0; v < IL_MODEL_VARS_MAX; v++) {
        vars |= r->vars[2] >> v & 1 ? of[v] : 0;
    }
    return vars;
}

static bool steps_fits(const il_model *m, uint64_t vars, uint32_t nsymbols, bool alone) {
    uint64_t values = steps_product(m, vars);
    return alone ? values <= 2 * IL_STEPS_PART_CELLS / nsymbols
                 : values <= IL_STEPS_PART_VALUES && values <= IL_STEPS_PART_CELLS / nsymbols;
}

/* The part that `vars` make least larger, or a new one; NULL when they are too many for any table. */
static steps_part *steps_place(const il_model *m, steps_action *a, uint32_t nsymbols, uint64_t vars) {
    steps_part *best = NULL;
    uint64_t growth = UINT64_MAX;
    for (uint32_t i = 0; i < a->nparts; i++) {
        steps_part *p = &a->parts[i];
        uint64_t more = steps_product(m, p->reads | vars) / steps_product(m, p->reads);
        bool within = (p->reads & vars) == vars || steps_fits(m, p->reads | vars, nsymbols, false);
        if (within && more < growth) {
            best = p;
            growth = more;
        }
    }
    if (!best && steps_fits(m, vars, nsymbols, true)) {
        best = &a->parts[a->nparts++];
    }
    if (best) {
        best->reads |= vars;
    }
    return best;
}

static bool steps_action_make(il_steps *steps, uint32_t action) {
    const il_model *m = steps->m;
    const il_action_def *def = &m->actions[action];
    steps_action *a = &steps->actions[action];
    uint64_t of[IL_MODEL_VARS_MAX] = {0}; /* variables that decide next.x */
    a->plain = def->nclauses > IL_LOOK_CLAUSES;
    a->parts = IL_NEW_ARRAY(&steps->arena, steps_part, def->nupdates + def->nclauses);
    if (!a->parts) {
        return false;
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        of[v] = UINT64_C(1) << v;
    }
    for (uint32_t u = 0; u < def->nupdates; u++) {
        const il_update *update = &def->updates[u];
        const il_domain *d = &m->vars[update->var].domain;
        steps_reads r = steps_read(m, update->value);
        uint64_t vars = steps_decides(&r, of);
        if (d->kind == IL_DOMAIN_INT && d->overflow == IL_OVERFLOW_SATURATE) {
            vars |= UINT64_C(1) << update->var; /* at its ceiling it stays there */
        }
        of[update->var] = vars;
        steps_part *p = a->plain ? NULL : steps_place(m, a, def->nsymbols, vars);
        a->plain = !p;
        if (p) {
            p->updates |= UINT64_C(1) << u;
            p->mask |= ((UINT64_C(1) << m->vars[update->var].bits) - 1) << m->vars[update->var].shift;
        }
    }
    for (uint32_t c = 0; c < def->nclauses && !a->plain; c++) {
        steps_reads r = steps_read(m, def->clauses[c].guard);
        steps_part *p = steps_place(m, a, def->nsymbols, steps_decides(&r, of));
        a->plain = !p;
        if (p) {
            p->clauses |= UINT32_C(1) << c;
        }
    }
    for (uint32_t i = 0; i < a->nparts; i++) {
        (void)steps_lens_make(&a->parts[i].lens, m, a->parts[i].reads, 1);
    }
    return true;
}

static void steps_judge_make(il_steps *steps, steps_judge *j, const il_cel_program *program, uint32_t first, uint32_t nsymbols) {
    steps_reads r = steps_read(steps->m, program);
    uint64_t values = steps_product(steps->m, r.vars[0]);
    values = values <= IL_STEPS_PART_CELLS ? values * steps_product(steps->m, r.vars[2]) : values;
    j->plain = values > 2 * IL_STEPS_PART_CELLS / nsymbols;
    j->first = first;
    j->nsymbols = nsymbols;
    if (!j->plain) {
        (void)steps_lens_make(&j->next, steps->m, r.vars[2], steps_lens_make(&j->pre, steps->m, r.vars[0], 1));
    }
}

static bool steps_make(il_steps *steps) {
    const il_model *m = steps->m;
    steps->edges = IL_NEW_ARRAY(&steps->arena, il_steps_edge, m->nsymbols);
    steps->judges = IL_NEW_ARRAY(&steps->arena, steps_judge, (size_t)m->nregions * m->nactions);
    if (!steps->edges || !steps->judges) {
        return false;
    }
    if (m->nnaps > 0) {
        steps->settle = il_settle_new(&steps->arena, m);
        if (!steps->settle) {
            return false;
        }
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        if (!steps_action_make(steps, a)) {
            return false;
        }
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        const il_region *region = &m->regions[r];
        for (uint32_t a = 0; a < m->nactions; a++) {
            steps_judge *j = &steps->judges[(size_t)r * m->nactions + a];
            if (region->edge && region->on[a]) {
                steps_judge_make(steps, j, region->on[a], m->actions[a].first_symbol, m->actions[a].nsymbols);
            } else if (!region->edge && a == 0) {
                steps_judge_make(steps, j, region->predicate, 0, 1);
            }
        }
    }
    if (m->product <= IL_STEPS_ROWS) {
        steps->rows = IL_NEW_ARRAY(&steps->arena, steps_row *, (size_t)m->product);
        return steps->rows != NULL;
    }
    return true;
}

il_status il_steps_new(const il_alloc *alloc, const il_model *m, il_steps **out, il_error *err) {
    *out = NULL;
    il_steps *p = alloc->alloc(alloc->ctx, sizeof *p);
    if (!p) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the machine's decision tables");
    }
    memset(p, 0, sizeof *p);
    p->alloc = alloc;
    p->m = m;
    il_arena_init(&p->arena, alloc, IL_STEPS_ARENA_BYTES);
    if (!steps_make(p)) {
        il_steps_free(p);
        return il_error_set(err, IL_E_MEMORY, "no memory for the machine's decision tables");
    }
    *out = p;
    return IL_OK;
}

void il_steps_free(il_steps *p) {
    if (p) {
        const il_alloc *alloc = p->alloc;
        il_arena_free(&p->arena);
        alloc->free(alloc->ctx, p);
    }
}

/* A zeroed table, or NULL when all of them together would be too large: then the evaluator is asked each time. */
static void *steps_table(il_steps *p, size_t count, size_t size) {
    if (count * size > IL_STEPS_TABLE_BYTES - p->bytes) {
        return NULL;
    }
    void *table = il_arena_array(&p->arena, count, size);
    p->bytes += table ? count * size : 0;
    return table;
}

/* Takes a state in hand. */
static bool steps_hold(il_steps *p, uint64_t state) {
    const il_model *m = p->m;
    if (p->any && p->state == state) {
        return p->valid;
    }
    p->any = true;
    p->state = state;
    p->valid = m->bits == 64 || state >> m->bits == 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint32_t value = (uint32_t)(state >> m->vars[v].shift) & ((UINT32_C(1) << m->vars[v].bits) - 1);
        p->values[v] = value;
        p->valid = p->valid && value < m->vars[v].domain.size;
    }
    for (uint32_t a = 0; p->valid && a < m->nactions; a++) {
        for (uint32_t i = 0; i < p->actions[a].nparts; i++) {
            steps_part *part = &p->actions[a].parts[i];
            uint32_t at = 0;
            for (uint32_t k = 0; k < part->lens.nvars; k++) {
                at += p->values[part->lens.vars[k]] * part->lens.strides[k];
            }
            part->at = at;
        }
    }
    return p->valid;
}

/* Asks the evaluator once for all parts of a step. */
static void steps_fill(il_steps *p, uint32_t action, uint32_t symbol) {
    const il_action_def *def = &p->m->actions[action];
    il_look look = il_model_look(p->m, p->state, symbol);
    for (uint32_t i = 0; i < p->actions[action].nparts; i++) {
        const steps_part *part = &p->actions[action].parts[i];
        steps_cell *cell = &part->cells[(size_t)part->at * def->nsymbols + (symbol - def->first_symbol)];
        cell->next = look.next & part->mask;
        cell->hits = look.hits & part->clauses;
        cell->flags = STEPS_FILLED | (look.escaped & part->updates ? STEPS_ESCAPED : 0u) |
                      (look.failed & part->updates ? STEPS_FAILED : 0u);
    }
}

/* false: memory is short, and the action is plain from now on. */
static bool steps_tables(il_steps *p, uint32_t action) {
    steps_action *a = &p->actions[action];
    for (uint32_t i = 0; i < a->nparts && !a->plain && !a->ready; i++) {
        if (!a->parts[i].cells) {
            a->parts[i].cells =
                steps_table(p, (size_t)a->parts[i].lens.size * p->m->actions[action].nsymbols, sizeof(steps_cell));
            a->plain = !a->parts[i].cells;
        }
    }
    a->ready = !a->plain;
    return a->ready;
}

/* The state in hand, at one symbol of an action with tables: all parts together. */
static steps_cell steps_join(il_steps *p, uint32_t action, uint32_t symbol) {
    const il_action_def *def = &p->m->actions[action];
    const steps_action *a = &p->actions[action];
    steps_cell sum = {.next = p->state};
    for (uint32_t i = 0; i < a->nparts; i++) {
        const steps_part *part = &a->parts[i];
        const steps_cell *cell = &part->cells[(size_t)part->at * def->nsymbols + (symbol - def->first_symbol)];
        if (cell->flags == 0) {
            steps_fill(p, action, symbol);
        }
        sum.next = (sum.next & ~part->mask) | cell->next;
        sum.hits |= cell->hits;
        sum.flags |= cell->flags;
    }
    return sum;
}

/* Clauses of an action that a variant leaves out. */
static uint32_t steps_skips(const il_steps *p, const il_variant *v, uint32_t action) {
    const il_action_def *def = &p->m->actions[action];
    uint32_t skips = 0;
    for (uint32_t c = 0; v && v->skip && v->skip_action == action && c < def->nclauses && c < IL_LOOK_CLAUSES; c++) {
        skips |= (v->skip_rule ? v->skip_rule == def->clauses[c].rule : v->skip_clause == c) ? UINT32_C(1) << c : 0;
    }
    return skips;
}

static il_verdict steps_verdict(const steps_cell *sum, uint32_t hits) {
    if ((sum->flags & STEPS_FAILED) || ((sum->flags & STEPS_ESCAPED) && hits == 0)) {
        return IL_FAULT;
    }
    return hits == 0 ? IL_ACCEPT : IL_REJECT;
}

/* Naps come after an accepted step. */
static il_verdict steps_settle(il_steps *p, const il_variant *variant, il_verdict verdict, uint64_t *next) {
    bool settled = verdict != IL_ACCEPT || !p->settle || il_settle_state(p->settle, variant, *next, next);
    return settled ? verdict : IL_FAULT;
}

il_step il_steps_one(il_steps *p, const il_variant *variant, uint64_t state, uint32_t symbol) {
    uint32_t action = symbol < p->m->nsymbols ? p->m->symbol_action[symbol] : 0;
    if (symbol >= p->m->nsymbols || !steps_hold(p, state) || (variant && (variant->deleted >> action & 1)) ||
        !steps_tables(p, action)) {
        return il_model_eval(p->m, variant, state, symbol).step;
    }
    steps_cell sum = steps_join(p, action, symbol);
    uint32_t hits = sum.hits & ~steps_skips(p, variant, action);
    il_verdict verdict = steps_settle(p, variant, steps_verdict(&sum, hits), &sum.next);
    il_step s = {.next = verdict == IL_ACCEPT ? sum.next : state, .verdict = (uint8_t)verdict};
    s.reason = verdict == IL_REJECT ? p->m->actions[action].clauses[__builtin_ctz(hits)].rule : 0;
    return s;
}

/* Appends what one action does to the state in hand. */
static uint32_t steps_action_edges(il_steps *p, const il_variant *variant, uint32_t action, uint32_t n) {
    const il_action_def *def = &p->m->actions[action];
    bool tables = steps_tables(p, action);
    uint32_t skips = steps_skips(p, variant, action);
    for (uint32_t symbol = def->first_symbol; symbol < def->first_symbol + def->nsymbols; symbol++) {
        il_steps_edge edge = {.symbol = symbol};
        il_verdict verdict = IL_REJECT;
        if (tables) {
            steps_cell sum = steps_join(p, action, symbol);
            verdict = steps_settle(p, variant, steps_verdict(&sum, sum.hits & ~skips), &sum.next);
            edge.next = sum.next;
        } else {
            il_step step = il_model_eval(p->m, variant, p->state, symbol).step;
            verdict = (il_verdict)step.verdict;
            edge.next = step.next;
        }
        if (verdict != IL_REJECT) {
            edge.fault = verdict == IL_FAULT;
            edge.next = edge.fault ? p->state : edge.next;
            p->edges[n++] = edge;
        }
    }
    return n;
}

/* The row of the machine as it is, remembered; NULL when it is not. */
static const steps_row *steps_remember(il_steps *p) {
    const il_model *m = p->m;
    uint32_t place = 0;
    for (uint32_t v = m->nvars; p->rows && v-- > 0;) {
        place = place * m->vars[v].domain.size + p->values[v];
    }
    if (!p->rows || p->rows[place]) {
        return p->rows ? p->rows[place] : NULL;
    }
    uint32_t n = 0;
    for (uint32_t a = 0; a < m->nactions; a++) {
        n = steps_action_edges(p, NULL, a, n);
    }
    size_t bytes = sizeof(steps_row) + n * sizeof(il_steps_edge);
    steps_row *row = bytes > IL_STEPS_ROW_BYTES - p->row_bytes ? NULL : il_arena_get(&p->arena, bytes);
    if (!row) {
        p->rows = NULL; /* memory is short: put together each time */
        return NULL;
    }
    p->row_bytes += bytes;
    row->n = n;
    memcpy(row->edges, p->edges, n * sizeof *p->edges);
    p->rows[place] = row;
    return row;
}

il_steps_edges il_steps_row(il_steps *p, const il_variant *variant, uint64_t state) {
    static const il_variant as_it_is = {0};
    const il_model *m = p->m;
    if (!steps_hold(p, state)) {
        return (il_steps_edges){0}; /* off the table */
    }
    const il_variant *v = variant ? variant : &as_it_is;
    const steps_row *row = p->settle && il_settle_touched(p->settle, v) ? NULL : steps_remember(p);
    if (row && !v->skip && v->deleted == 0) {
        return (il_steps_edges){row->edges, row->n};
    }
    uint32_t n = 0, from = 0;
    for (uint32_t a = 0; a < m->nactions; a++) {
        const il_action_def *def = &m->actions[a];
        if (!row || (v->skip && v->skip_action == a)) {
            n = v->deleted >> a & 1 ? n : steps_action_edges(p, v, a, n);
        }
        for (; row && from < row->n && row->edges[from].symbol < def->first_symbol + def->nsymbols; from++) {
            if (!(v->deleted >> a & 1) && !(v->skip && v->skip_action == a)) {
                p->edges[n++] = row->edges[from];
            }
        }
    }
    return (il_steps_edges){p->edges, n};
}

/* Adds what a lens sees of a state; false when the state is outside its domains. */
static bool steps_look(const il_model *m, const steps_lens *l, uint64_t state, uint32_t *at) {
    bool valid = true;
    for (uint32_t k = 0; k < l->nvars; k++) {
        const il_var *v = &m->vars[l->vars[k]];
        uint32_t value = (uint32_t)(state >> v->shift) & ((UINT32_C(1) << v->bits) - 1);
        valid = valid && value < v->domain.size;
        *at += value * l->strides[k];
    }
    return valid;
}

bool il_steps_in_region(il_steps *p, uint32_t region, uint64_t pre, uint32_t symbol, uint64_t next) {
    const il_model *m = p->m;
    bool edge = m->regions[region].edge;
    if (m->regions[region].rejection) {
        return false;
    }
    if (edge && (symbol >= m->nsymbols || !m->regions[region].on[m->symbol_action[symbol]])) {
        return false; /* an edge that the region does not judge */
    }
    steps_judge *j = &p->judges[(size_t)region * m->nactions + (edge ? m->symbol_action[symbol] : 0)];
    uint32_t at = 0;
    if (!j->plain && !j->cells) {
        j->cells = steps_table(p, (size_t)j->next.size * j->nsymbols, 1);
        j->plain = !j->cells;
    }
    if (j->plain || !steps_look(m, &j->pre, pre, &at) || (edge && !steps_look(m, &j->next, next, &at))) {
        return il_model_in_region(m, region, pre, symbol, next);
    }
    uint8_t *cell = &j->cells[(size_t)at * j->nsymbols + (edge ? symbol - j->first : 0)];
    if (*cell == 0) {
        *cell = il_model_in_region(m, region, pre, symbol, next) ? 2 : 1;
    }
    return *cell == 2;
}
