/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/steps.h"

#include "base/arena.h"
#include "base/mem.h"
#include "machine/settle.h"

#define IL_STEPS_PART_CELLS (1u << 19)           /* of one table; a single guard may have twice that */
#define IL_STEPS_TABLE_BYTES ((size_t)128 << 20) /* of all tables */
#define IL_STEPS_ROWS ((1u << 20) - 1)           /* a full product up to this has its rows remembered */
#define IL_STEPS_ROW_BITS 28u                    /* and a state has at most so many bits */
#define IL_STEPS_PAGE_BITS 8u                    /* of a state: rows are found in pages of so many */
#define IL_STEPS_GROUP_BITS 12u                  /* of the variables that several actions are put together for; one alone: 16 */
#define IL_STEPS_ROW_BYTES ((size_t)128 << 20)
#define IL_STEPS_ARENA_BYTES ((size_t)1 << 30)

/* What a set of variables says, as one number: the sum of value x stride. */
typedef struct steps_lens {
    uint32_t nvars, size;
    uint8_t vars[IL_MODEL_VARS_MAX];
    uint32_t strides[IL_MODEL_VARS_MAX];
} steps_lens;

/* The same of packed bits as they stand, which is quicker: the sum of the runs. */
typedef struct steps_bits {
    uint32_t nruns, width;
    struct {
        uint64_t mask;
        uint8_t from, to;
    } runs[IL_MODEL_VARS_MAX];
} steps_bits;

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
    uint64_t needs;   /* likewise: those, and what they and the clauses read as `next` */
    uint64_t mask;    /* bits of the packed state that they write */
    uint32_t clauses; /* bit c */
    uint32_t at;      /* number that the state in hand has in the lens */
    steps_lens lens;
    uint32_t fields;   /* of the payload, that have a say in them */
    uint32_t nkinds;   /* of symbols: by the values of these fields */
    uint16_t *kind;    /* of each symbol of the action */
    steps_cell *cells; /* a row of kinds for each number; NULL until asked */
    /* Of each number, once `asked`: two rows of bits by symbol. Those of the first no clause of the part rejects; those of the second have an update
     * without a value. */
    uint64_t *bits;
    bool *asked;
} steps_part;

typedef struct steps_action {
    bool plain;                /* asked of the evaluator each time */
    bool ready;                /* has its tables */
    bool known;                /* its parts were all that it reads and writes when it was made */
    uint32_t nparts, nwriters; /* the first ones write */
    uint64_t mask;             /* bits of the packed state that they write */
    uint64_t turn;             /* of the state that its parts have in hand */
    steps_part *parts;
} steps_action;

/* What a step that is not rejected does to the packed state. */
typedef struct steps_delta {
    uint64_t keep, set;
    uint32_t symbol;
    bool fault;
} steps_delta;
typedef struct steps_deltas {
    const steps_delta *list;
    uint32_t n;
    bool ready;
} steps_deltas;

/* Consecutive actions whose steps are decided by few bits: the steps of all of them, for each value that those bits can have. */
typedef struct steps_group {
    uint32_t first, end;
    steps_bits lens;
    steps_deltas *of; /* 2^width entries; NULL: each action by itself */
} steps_group;

/* A region's question: of one variable before the step, or after it. */
typedef struct steps_judge {
    bool plain;
    uint32_t nsymbols, first;
    steps_bits pre, next;
    uint8_t *cells; /* 0 not asked yet, 1 outside, 2 inside */
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
    uint64_t turn;       /* states that were in hand so far, this one counted */
    bool valid;          /* it is inside its domains */
    uint64_t state;
    uint32_t values[IL_MODEL_VARS_MAX];
    uint64_t gaps; /* bit v: not every number that the bits of variable v can hold is a value */
    uint32_t ngroups;
    steps_group *groups;
    uint8_t group_of[IL_MODEL_ACTIONS_MAX];
    steps_row ***rows; /* pages by packed state; NULL when the machine is too large */
    size_t row_bytes;
    il_variant variant;        /* whose rows are remembered beside */
    steps_row ***variant_rows; /* likewise; made when a variant is asked for */
    il_arena variant_arena;
    il_steps_edge *edges;   /* the row in hand, when it is not remembered */
    il_steps_edge *scratch; /* steps of a group, while it is filled */
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

/* Updates from which what it reads as `next` comes. */
static uint64_t steps_needs(const steps_reads *r, const uint64_t *of) {
    uint64_t updates = 0;
    for (uint32_t v = 0; v < IL_MODEL_VARS_MAX; v++) {
        updates |= r->vars[2] >> v & 1 ? of[v] : 0;
    }
    return updates;
}

/* Symbols whose payloads agree in the fields that a part reads are of one kind. */
static bool steps_kinds_make(il_steps *steps, const il_action_def *def, steps_part *p) {
    p->nkinds = 1;
    p->kind = IL_NEW_ARRAY(&steps->arena, uint16_t, def->nsymbols);
    for (uint32_t f = 0; p->kind && f < def->nfields; f++) {
        if (p->fields >> f & 1) {
            for (uint32_t i = 0; i < def->nsymbols; i++) {
                p->kind[i] = (uint16_t)(p->kind[i] + p->nkinds * il_model_field_value(steps->m, def->first_symbol + i, f));
            }
            p->nkinds *= def->field_domains[f].size;
        }
    }
    return p->kind != NULL;
}

/* Cells that a table over these variables before the step, and these fields of the payload, has. */
static uint64_t steps_cost(const il_model *m, const il_action_def *def, uint64_t vars, uint32_t fields) {
    uint64_t n = steps_product(m, vars);
    for (uint32_t f = 0; f < def->nfields && n <= UINT32_MAX; f++) {
        n *= fields >> f & 1 ? def->field_domains[f].size : 1;
    }
    return n;
}

/* The part that grows least by these, or a new one where that is smaller than the growth; NULL when they are too many for any table. */
static steps_part *steps_place(const il_model *m, const il_action_def *def, steps_action *a, uint64_t vars, uint32_t fields) {
    const uint64_t own = steps_cost(m, def, vars, fields);
    steps_part *best = NULL;
    uint64_t growth = own <= UINT64_C(2) * IL_STEPS_PART_CELLS ? own : UINT64_MAX;
    for (uint32_t i = 0; i < a->nparts; i++) {
        steps_part *p = &a->parts[i];
        const uint64_t whole = steps_cost(m, def, p->reads | vars, p->fields | fields);
        const uint64_t more = whole - steps_cost(m, def, p->reads, p->fields);
        if (whole <= IL_STEPS_PART_CELLS && more <= growth) {
            best = p;
            growth = more;
        }
    }
    if (!best && growth != UINT64_MAX) {
        best = &a->parts[a->nparts++];
    }
    if (best) {
        best->reads |= vars;
        best->fields |= fields;
    }
    return best;
}

static bool steps_action_make(il_steps *steps, uint32_t action) {
    const il_model *m = steps->m;
    const il_action_def *def = &m->actions[action];
    steps_action *a = &steps->actions[action];
    uint64_t of[IL_MODEL_VARS_MAX] = {0};    /* variables that decide next.x */
    uint64_t needs[IL_MODEL_VARS_MAX] = {0}; /* updates from which it comes */
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
        needs[update->var] = UINT64_C(1) << u | steps_needs(&r, needs);
        steps_part *p = a->plain ? NULL : steps_place(m, def, a, vars, update->fields);
        a->plain = !p;
        if (p) {
            p->updates |= UINT64_C(1) << u;
            p->needs |= needs[update->var];
            p->mask |= ((UINT64_C(1) << m->vars[update->var].bits) - 1) << m->vars[update->var].shift;
        }
    }
    a->nwriters = a->nparts;
    for (uint32_t i = 0; i < a->nparts; i++) {
        a->mask |= a->parts[i].mask;
    }
    for (uint32_t c = 0; c < def->nclauses && !a->plain; c++) {
        steps_reads r = steps_read(m, def->clauses[c].guard);
        steps_part *p = steps_place(m, def, a, steps_decides(&r, of), def->clauses[c].fields);
        a->plain = !p;
        if (p) {
            p->clauses |= UINT32_C(1) << c;
            p->needs |= steps_needs(&r, needs);
        }
    }
    for (uint32_t i = 0; i < a->nparts; i++) {
        (void)steps_lens_make(&a->parts[i].lens, m, a->parts[i].reads, 1);
        if (!steps_kinds_make(steps, def, &a->parts[i])) {
            return false;
        }
    }
    a->known = !a->plain;
    return true;
}

static void steps_bits_make(steps_bits *l, const il_model *m, uint64_t vars) {
    uint64_t mask = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        mask |= vars >> v & 1 ? ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift : 0;
    }
    *l = (steps_bits){0};
    while (mask != 0) {
        uint32_t from = (uint32_t)__builtin_ctzll(mask);
        uint64_t run = mask >> from;
        uint32_t n = ~run ? (uint32_t)__builtin_ctzll(~run) : 64;
        uint64_t ones = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
        l->runs[l->nruns].mask = ones;
        l->runs[l->nruns].from = (uint8_t)from;
        l->runs[l->nruns++].to = (uint8_t)l->width;
        l->width += n;
        mask &= ~(ones << from);
    }
}

static uint64_t steps_bits_mask(const steps_bits *l) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < l->nruns; i++) {
        mask |= l->runs[i].mask << l->runs[i].from;
    }
    return mask;
}

static inline uint64_t steps_see(const steps_bits *l, uint64_t state) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < l->nruns; i++) {
        at |= (state >> l->runs[i].from & l->runs[i].mask) << l->runs[i].to;
    }
    return at;
}

static void steps_judge_make(il_steps *steps, steps_judge *j, const il_cel_program *program, uint32_t first, uint32_t nsymbols) {
    steps_reads r = steps_read(steps->m, program);
    steps_bits_make(&j->pre, steps->m, r.vars[0]);
    steps_bits_make(&j->next, steps->m, r.vars[2]);
    j->plain = j->pre.width + j->next.width > 30 ||
               (UINT64_C(1) << (j->pre.width + j->next.width)) * nsymbols > UINT64_C(4) * IL_STEPS_PART_CELLS;
    j->first = first;
    j->nsymbols = nsymbols;
}

static uint64_t steps_action_reads(const il_steps *steps, uint32_t action) {
    uint64_t reads = 0;
    for (uint32_t i = 0; i < steps->actions[action].nparts; i++) {
        reads |= steps->actions[action].parts[i].reads;
    }
    return reads;
}

/* As many actions as fit go together; of one that does not fit even alone each step is put together when it is asked for. */
static bool steps_groups_make(il_steps *steps) {
    const il_model *m = steps->m;
    steps->groups = IL_NEW_ARRAY(&steps->arena, steps_group, m->nactions);
    if (!steps->groups) {
        return false;
    }
    for (uint32_t a = 0; a < m->nactions;) {
        steps_group *g = &steps->groups[steps->ngroups++];
        uint64_t reads = steps_action_reads(steps, a);
        bool plain = steps->actions[a].plain;
        steps_bits wider;
        g->first = a++;
        g->end = a;
        steps->group_of[g->first] = (uint8_t)(steps->ngroups - 1);
        steps_bits_make(&g->lens, m, reads);
        plain = plain || g->lens.width > IL_STEPS_GROUP_BITS + 4;
        for (; !plain && a < m->nactions && !steps->actions[a].plain; g->end = ++a) {
            reads |= steps_action_reads(steps, a);
            steps_bits_make(&wider, m, reads);
            if (wider.width > IL_STEPS_GROUP_BITS) {
                break;
            }
            g->lens = wider;
            steps->group_of[a] = (uint8_t)(steps->ngroups - 1);
        }
        if (!plain) {
            g->of = IL_NEW_ARRAY(&steps->arena, steps_deltas, (size_t)1 << g->lens.width);
            if (!g->of) {
                return false;
            }
        }
    }
    return true;
}

static size_t steps_pages(const il_model *m) {
    return m->bits > IL_STEPS_PAGE_BITS ? (size_t)1 << (m->bits - IL_STEPS_PAGE_BITS) : 1;
}

/* Where the row of a state is; NULL when memory is short. */
static steps_row **steps_at(il_arena *arena, steps_row ***pages, uint64_t state) {
    steps_row ***page = &pages[state >> IL_STEPS_PAGE_BITS];
    if (!*page) {
        *page = IL_NEW_ARRAY(arena, steps_row *, (size_t)1 << IL_STEPS_PAGE_BITS);
    }
    return *page ? &(*page)[state & ((UINT64_C(1) << IL_STEPS_PAGE_BITS) - 1)] : NULL;
}

static bool steps_make(il_steps *steps) {
    const il_model *m = steps->m;
    steps->edges = IL_NEW_ARRAY(&steps->arena, il_steps_edge, m->nsymbols);
    steps->judges = IL_NEW_ARRAY(&steps->arena, steps_judge, (size_t)m->nregions * m->nactions);
    steps->scratch = IL_NEW_ARRAY(&steps->arena, il_steps_edge, m->nsymbols);
    if (!steps->edges || !steps->scratch || !steps->judges) {
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
    for (uint32_t v = 0; v < m->nvars; v++) {
        steps->gaps |= m->vars[v].domain.size != UINT32_C(1) << m->vars[v].bits ? UINT64_C(1) << v : 0;
    }
    if (m->product <= IL_STEPS_ROWS && m->bits <= IL_STEPS_ROW_BITS) {
        steps->rows = IL_NEW_ARRAY(&steps->arena, steps_row **, steps_pages(m));
        if (!steps->rows) {
            return false;
        }
    }
    return steps_groups_make(steps);
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
    il_arena_init(&p->variant_arena, alloc, IL_STEPS_ROW_BYTES);
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
        il_arena_free(&p->variant_arena);
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
    if (p->turn != 0 && p->state == state) {
        return p->valid;
    }
    p->turn++;
    p->state = state;
    p->valid = m->bits == 64 || state >> m->bits == 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint32_t value = (uint32_t)(state >> m->vars[v].shift) & ((UINT32_C(1) << m->vars[v].bits) - 1);
        p->values[v] = value;
        p->valid = p->valid && value < m->vars[v].domain.size;
    }
    return p->valid;
}

/* Where the parts of an action are at in the state in hand. */
static void steps_find(il_steps *p, steps_action *a) {
    for (uint32_t i = 0; a->turn != p->turn && i < a->nparts; i++) {
        steps_part *part = &a->parts[i];
        uint32_t at = 0;
        for (uint32_t k = 0; k < part->lens.nvars; k++) {
            at += p->values[part->lens.vars[k]] * part->lens.strides[k];
        }
        part->at = at;
    }
    a->turn = p->turn;
}

static steps_cell *steps_cell_at(const steps_part *part, const il_action_def *def, uint32_t symbol) {
    return &part->cells[(size_t)part->at * part->nkinds + part->kind[symbol - def->first_symbol]];
}

/* Asks the evaluator once for all parts of a step that are not known yet. */
static void steps_fill(il_steps *p, uint32_t action, uint32_t symbol) {
    const il_action_def *def = &p->m->actions[action];
    const steps_action *a = &p->actions[action];
    uint64_t needs = 0;
    uint32_t clauses = 0;
    for (uint32_t i = 0; i < a->nparts; i++) {
        const steps_part *part = &a->parts[i];
        bool known = steps_cell_at(part, def, symbol)->flags != 0;
        needs |= known ? 0 : part->needs;
        clauses |= known ? 0 : part->clauses;
    }
    il_look look = il_model_look_at(p->m, p->state, symbol, needs, clauses);
    for (uint32_t i = 0; i < a->nparts; i++) {
        const steps_part *part = &a->parts[i];
        steps_cell *cell = steps_cell_at(part, def, symbol);
        if (cell->flags == 0) {
            cell->next = look.next & part->mask;
            cell->hits = look.hits & part->clauses;
            cell->flags = STEPS_FILLED | (look.escaped & part->updates ? STEPS_ESCAPED : 0u) |
                          (look.failed & part->updates ? STEPS_FAILED : 0u);
        }
    }
}

/* Words of bits for the symbols of an action. */
static uint32_t steps_words(const il_steps *p, uint32_t action) { return (p->m->actions[action].nsymbols + 63) / 64; }

/* Tables for the state in hand. false: memory is short, and the action is plain from now on. */
static bool steps_tables(il_steps *p, uint32_t action) {
    steps_action *a = &p->actions[action];
    for (uint32_t i = 0; i < a->nparts && !a->plain && !a->ready; i++) {
        steps_part *part = &a->parts[i];
        part->cells = part->cells ? part->cells : steps_table(p, (size_t)part->lens.size * part->nkinds, sizeof *part->cells);
        part->bits =
            part->bits ? part->bits : steps_table(p, (size_t)part->lens.size * 2 * steps_words(p, action), sizeof *part->bits);
        part->asked = part->asked ? part->asked : steps_table(p, part->lens.size, sizeof *part->asked);
        a->plain = !part->cells || !part->bits || !part->asked;
    }
    a->ready = !a->plain;
    if (a->ready) {
        steps_find(p, a);
    }
    return a->ready;
}

/* The state in hand, at one symbol of an action with tables: all parts together. */
static steps_cell steps_join(il_steps *p, uint32_t action, uint32_t symbol) {
    const il_action_def *def = &p->m->actions[action];
    const steps_action *a = &p->actions[action];
    steps_cell sum = {.next = p->state};
    for (uint32_t i = 0; i < a->nparts; i++) {
        const steps_part *part = &a->parts[i];
        const steps_cell *cell = steps_cell_at(part, def, symbol);
        if (cell->flags == 0) {
            steps_fill(p, action, symbol);
        }
        sum.next = (sum.next & ~part->mask) | cell->next;
        sum.hits |= cell->hits;
        sum.flags |= cell->flags;
    }
    return sum;
}

/* Asks a part about all symbols. */
static const uint64_t *steps_bits_at(il_steps *p, uint32_t action, const steps_part *part) {
    const il_action_def *def = &p->m->actions[action];
    const uint32_t words = steps_words(p, action);
    uint64_t *bits = part->bits + (size_t)part->at * 2 * words;
    for (uint32_t i = 0; !part->asked[part->at] && i < def->nsymbols; i++) {
        const steps_cell *cell = steps_cell_at(part, def, def->first_symbol + i);
        if (cell->flags == 0) {
            steps_fill(p, action, def->first_symbol + i);
        }
        bits[i / 64] |= cell->hits == 0 ? UINT64_C(1) << (i % 64) : 0;
        bits[words + i / 64] |= cell->flags != STEPS_FILLED ? UINT64_C(1) << (i % 64) : 0;
    }
    part->asked[part->at] = true;
    return bits;
}

/* Of up to 64 symbols of an action with tables those that no part rejects, and those of which something has no value. A part that has one of the clauses
 * `skips` is not asked. */
typedef struct steps_open {
    uint64_t clear, odd;
} steps_open;

static steps_open steps_open_of(il_steps *p, uint32_t action, uint32_t skips, uint32_t word) {
    const steps_action *a = &p->actions[action];
    const uint32_t left = p->m->actions[action].nsymbols - word * 64;
    steps_open open = {.clear = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX};
    for (uint32_t i = 0; i < a->nparts; i++) {
        const uint64_t *bits = steps_bits_at(p, action, &a->parts[i]);
        open.clear &= a->parts[i].clauses & skips ? UINT64_MAX : bits[word];
        open.odd |= bits[steps_words(p, action) + word];
    }
    return open;
}

/* Where an accepted step of the state in hand leads, at a symbol that all parts were asked about. */
static uint64_t steps_leads(const il_steps *p, uint32_t action, uint32_t symbol) {
    const steps_action *a = &p->actions[action];
    uint64_t next = p->state & ~a->mask;
    for (uint32_t i = 0; i < a->nwriters; i++) {
        next |= steps_cell_at(&a->parts[i], &p->m->actions[action], symbol)->next;
    }
    return next;
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

/* One step of the state in hand, appended unless it is rejected. */
static uint32_t steps_edge_put(il_steps *p, il_verdict verdict, uint32_t symbol, uint64_t next, il_steps_edge *out, uint32_t n) {
    if (verdict != IL_REJECT) {
        out[n++] = (il_steps_edge){.next = verdict == IL_FAULT ? p->state : next, .symbol = symbol, .fault = verdict == IL_FAULT};
    }
    return n;
}

/* Appends what one action does to the state in hand; naps come after (steps_settle_row), and find those of the evaluator taken already. */
static uint32_t steps_action_edges(il_steps *p, const il_variant *variant, uint32_t action, il_steps_edge *out, uint32_t n) {
    const il_action_def *def = &p->m->actions[action];
    const uint32_t skips = steps_skips(p, variant, action);
    if (!steps_tables(p, action)) {
        for (uint32_t symbol = def->first_symbol; symbol < def->first_symbol + def->nsymbols; symbol++) {
            const il_step step = il_model_eval(p->m, variant, p->state, symbol).step;
            n = steps_edge_put(p, (il_verdict)step.verdict, symbol, step.next, out, n);
        }
        return n;
    }
    for (uint32_t word = 0; word < steps_words(p, action); word++) {
        const steps_open open = steps_open_of(p, action, skips, word);
        for (uint64_t left = open.clear | open.odd; left != 0; left &= left - 1) {
            const uint32_t symbol = def->first_symbol + word * 64 + (uint32_t)__builtin_ctzll(left);
            if (skips || (open.odd & left & -left)) {
                const steps_cell sum = steps_join(p, action, symbol);
                n = steps_edge_put(p, steps_verdict(&sum, sum.hits & ~skips), symbol, sum.next, out, n);
            } else {
                out[n++] = (il_steps_edge){.next = steps_leads(p, action, symbol), .symbol = symbol};
            }
        }
    }
    return n;
}

/* Takes the naps after each step of a row. */
static void steps_settle_row(il_steps *p, const il_variant *variant, uint64_t state, il_steps_edge *row, uint32_t n) {
    for (uint32_t k = 0; p->settle && k < n; k++) {
        if (!row[k].fault && steps_settle(p, variant, IL_ACCEPT, &row[k].next) != IL_ACCEPT) {
            row[k] = (il_steps_edge){.next = state, .symbol = row[k].symbol, .fault = true};
        }
    }
}

/* The row in hand, kept; NULL when memory is short. */
static const steps_row *steps_keep(il_steps *p, il_arena *arena, steps_row **at, uint32_t n) {
    size_t bytes = sizeof(steps_row) + n * sizeof(il_steps_edge);
    steps_row *row = bytes > IL_STEPS_ROW_BYTES - p->row_bytes ? NULL : il_arena_raw(arena, bytes);
    if (row) {
        p->row_bytes += bytes;
        row->n = n;
        memcpy(row->edges, p->edges, n * sizeof *p->edges);
        *at = row;
    }
    return row;
}

/* The steps of a group for what it sees of the state in hand; NULL when memory is short. */
static const steps_deltas *steps_group_fill(il_steps *p, const steps_group *g, steps_deltas *d) {
    uint32_t n = 0;
    uint64_t writes[IL_MODEL_ACTIONS_MAX] = {0};
    for (uint32_t a = g->first; a < g->end; a++) {
        n = steps_action_edges(p, NULL, a, p->scratch, n);
        for (uint32_t i = 0; i < p->actions[a].nparts; i++) {
            writes[a] |= p->actions[a].parts[i].mask;
        }
        if (p->actions[a].plain) {
            return NULL;
        }
    }
    size_t bytes = n * sizeof(steps_delta);
    steps_delta *list = bytes > IL_STEPS_ROW_BYTES - p->row_bytes ? NULL : il_arena_array(&p->arena, n, sizeof *list);
    if (!list) {
        return NULL;
    }
    p->row_bytes += bytes;
    for (uint32_t k = 0; k < n; k++) {
        const il_steps_edge *e = &p->scratch[k];
        uint64_t mask = e->fault ? 0 : writes[p->m->symbol_action[e->symbol]];
        list[k] = (steps_delta){.keep = ~mask, .set = e->next & mask, .symbol = e->symbol, .fault = e->fault};
    }
    *d = (steps_deltas){.list = list, .n = n, .ready = true};
    return d;
}

/* What a group does to a state inside its domains; NULL when that is not remembered. */
static const steps_deltas *steps_group_at(il_steps *p, steps_group *g, uint64_t state) {
    const steps_deltas *d = g->of ? &g->of[steps_see(&g->lens, state)] : NULL;
    if (d && !d->ready) {
        d = steps_hold(p, state) ? steps_group_fill(p, g, &g->of[d - g->of]) : NULL;
        g->of = d ? g->of : NULL;
    }
    return d;
}

static inline il_steps_edge steps_take(const steps_delta *e, uint64_t state) {
    return (il_steps_edge){.next = (state & e->keep) | e->set, .symbol = e->symbol, .fault = e->fault};
}

/* Appends what a group of actions does to a state. */
static uint32_t steps_group_edges(il_steps *p, steps_group *g, uint64_t state, il_steps_edge *out, uint32_t n) {
    const steps_deltas *d = steps_group_at(p, g, state);
    for (uint32_t k = 0; d && k < d->n; k++) {
        out[n++] = steps_take(&d->list[k], state);
    }
    for (uint32_t a = g->first; !d && steps_hold(p, state) && a < g->end; a++) {
        n = steps_action_edges(p, NULL, a, out, n);
    }
    return n;
}

/* The row of a state inside its domains, put together in p->edges; how many steps. */
static uint32_t steps_whole(il_steps *p, uint64_t state) {
    uint32_t n = 0;
    for (uint32_t g = 0; g < p->ngroups; g++) {
        n = steps_group_edges(p, &p->groups[g], state, p->edges, n);
    }
    steps_settle_row(p, NULL, state, p->edges, n);
    return n;
}

/* The row of the machine as it is, remembered; NULL when it is not. */
static const steps_row *steps_remember(il_steps *p, uint64_t state) {
    steps_row **at = p->rows ? steps_at(&p->arena, p->rows, state) : NULL;
    if (!at || *at) {
        return at ? *at : NULL;
    }
    const steps_row *row = steps_keep(p, &p->arena, at, steps_whole(p, state));
    p->rows = row ? p->rows : NULL; /* put together each time from here on */
    return row;
}

/* Whether a state is inside its domains. */
static bool steps_valid(const il_steps *p, uint64_t state) {
    const il_model *m = p->m;
    bool valid = m->bits == 64 || state >> m->bits == 0;
    for (uint64_t left = p->gaps; valid && left != 0; left &= left - 1) {
        const il_var *v = &m->vars[__builtin_ctzll(left)];
        valid = ((uint32_t)(state >> v->shift) & ((UINT32_C(1) << v->bits) - 1)) < v->domain.size;
    }
    return valid;
}

static bool steps_same_variant(const il_variant *a, const il_variant *b) {
    return a->skip == b->skip && a->deleted == b->deleted && a->skip_action == b->skip_action &&
           a->skip_clause == b->skip_clause && a->skip_rule == b->skip_rule;
}

/* Where the row of a variant is remembered; NULL where none are. Those of the variant before are forgotten. */
static steps_row **steps_variant_at(il_steps *p, const il_variant *v, uint64_t state) {
    if (!p->rows || (p->variant_rows && steps_same_variant(v, &p->variant))) {
        return p->rows && p->variant_rows ? steps_at(&p->variant_arena, p->variant_rows, state) : NULL;
    }
    il_arena_free(&p->variant_arena);
    il_arena_init(&p->variant_arena, p->alloc, IL_STEPS_ROW_BYTES);
    p->variant = *v;
    p->variant_rows = IL_NEW_ARRAY(&p->variant_arena, steps_row **, steps_pages(p->m));
    return p->variant_rows ? steps_at(&p->variant_arena, p->variant_rows, state) : NULL;
}

/* What one action of a variant does, appended: by itself where the variant changes it, else out of what is remembered. */
static uint32_t steps_variant_group(il_steps *p, const il_variant *v, uint64_t state, steps_group *g, uint32_t n) {
    bool same = !(v->skip && v->skip_action >= g->first && v->skip_action < g->end);
    for (uint32_t a = g->first; same && a < g->end; a++) {
        same = !(v->deleted >> a & 1);
    }
    if (same) {
        return steps_group_edges(p, g, state, p->edges, n);
    }
    for (uint32_t a = g->first; a < g->end && steps_hold(p, state); a++) {
        n = v->deleted >> a & 1 ? n : steps_action_edges(p, v, a, p->edges, n);
    }
    return n;
}

/* With the row of the machine as it is, whose other actions a variant does not change. */
static uint32_t steps_variant_of(il_steps *p, const il_variant *v, const steps_row *row) {
    const il_model *m = p->m;
    uint32_t n = 0, from = 0;
    for (uint32_t a = 0; a < m->nactions; a++) {
        const uint32_t end = m->actions[a].first_symbol + m->actions[a].nsymbols;
        bool changed = v->skip && v->skip_action == a;
        if (changed && !(v->deleted >> a & 1)) {
            uint32_t begun = n;
            n = steps_action_edges(p, v, a, p->edges, n);
            steps_settle_row(p, v, p->state, p->edges + begun, n - begun);
        }
        for (; from < row->n && row->edges[from].symbol < end; from++) {
            if (!(v->deleted >> a & 1) && !changed) {
                p->edges[n++] = row->edges[from];
            }
        }
    }
    return n;
}

static il_steps_edges steps_variant_row(il_steps *p, const il_variant *v, uint64_t state) {
    steps_row **at = steps_variant_at(p, v, state);
    if (at && *at) {
        return (il_steps_edges){(*at)->edges, (*at)->n};
    }
    const steps_row *row = p->settle && il_settle_touched(p->settle, v) ? NULL : steps_remember(p, state);
    uint32_t n = 0;
    if (!steps_hold(p, state)) {
        return (il_steps_edges){0};
    }
    if (row) {
        n = steps_variant_of(p, v, row);
    } else {
        for (uint32_t g = 0; g < p->ngroups; g++) {
            n = steps_variant_group(p, v, state, &p->groups[g], n);
        }
        steps_settle_row(p, v, state, p->edges, n);
    }
    const steps_row *kept = at ? steps_keep(p, &p->variant_arena, at, n) : NULL;
    p->row_bytes -= kept ? sizeof *kept + n * sizeof(il_steps_edge) : 0; /* that arena has a cap of its own */
    return (il_steps_edges){p->edges, n};
}

il_steps_edges il_steps_row(il_steps *p, const il_variant *variant, uint64_t state) {
    if (!steps_valid(p, state)) {
        return (il_steps_edges){0}; /* off the table */
    }
    if (variant && (variant->skip || variant->deleted != 0)) {
        return steps_variant_row(p, variant, state);
    }
    const steps_row *row = steps_remember(p, state);
    if (row) {
        return (il_steps_edges){row->edges, row->n};
    }
    return (il_steps_edges){p->edges, steps_whole(p, state)};
}

il_steps_edges il_steps_of(il_steps *p, uint32_t action, uint64_t state) {
    const il_action_def *a = &p->m->actions[action];
    if (!steps_valid(p, state)) {
        return (il_steps_edges){0};
    }
    const steps_deltas *d = steps_group_at(p, &p->groups[p->group_of[action]], state);
    uint32_t n = 0;
    for (uint32_t k = 0; d && k < d->n && d->list[k].symbol < a->first_symbol + a->nsymbols; k++) {
        p->edges[n] = steps_take(&d->list[k], state);
        n += d->list[k].symbol >= a->first_symbol;
    }
    if (!d && steps_hold(p, state)) {
        n = steps_action_edges(p, NULL, action, p->edges, 0);
    }
    steps_settle_row(p, NULL, state, p->edges, n);
    return (il_steps_edges){p->edges, n};
}

bool il_steps_touches(const il_steps *p, uint32_t action, uint64_t *reads, uint64_t *writes) {
    steps_bits lens;
    *writes = 0;
    steps_bits_make(&lens, p->m, steps_action_reads(p, action));
    *reads = steps_bits_mask(&lens);
    for (uint32_t i = 0; i < p->actions[action].nparts; i++) {
        *writes |= p->actions[action].parts[i].mask;
    }
    return p->actions[action].known && !p->settle;
}

/* One region's question, by its table where it has one. */
static bool steps_judged(il_steps *p, steps_judge *j, uint32_t region, uint64_t pre, uint32_t symbol, uint64_t next) {
    if (!j->plain && !j->cells) {
        j->cells = steps_table(p, ((size_t)1 << (j->pre.width + j->next.width)) * j->nsymbols, 1);
        j->plain = !j->cells;
    }
    if (j->plain) {
        return il_model_in_region(p->m, region, pre, symbol, next);
    }
    uint64_t at = steps_see(&j->pre, pre) | steps_see(&j->next, next) << j->pre.width;
    uint8_t *cell = &j->cells[at * j->nsymbols + (symbol - j->first)];
    if (*cell == 0) {
        *cell = il_model_in_region(p->m, region, pre, symbol, next) ? 2 : 1;
    }
    return *cell == 2;
}

bool il_steps_in_region(il_steps *p, uint32_t region, uint64_t pre, uint32_t symbol, uint64_t next) {
    const il_model *m = p->m;
    const il_region *r = &m->regions[region];
    if (r->edge) {
        return il_steps_in_regions(p, UINT64_C(1) << region, pre, symbol, next) != 0;
    }
    return !r->rejection && steps_judged(p, &p->judges[(size_t)region * m->nactions], region, pre, 0, 0);
}

uint64_t il_steps_in_regions(il_steps *p, uint64_t regions, uint64_t pre, uint32_t symbol, uint64_t next) {
    const il_model *m = p->m;
    const uint32_t action = symbol < m->nsymbols ? m->symbol_action[symbol] : 0;
    uint64_t in = 0;
    for (uint64_t left = symbol < m->nsymbols ? regions : 0; left != 0; left &= left - 1) {
        const uint32_t k = (uint32_t)__builtin_ctzll(left);
        const il_region *r = &m->regions[k];
        if (r->edge && !r->rejection && r->on[action] &&
            steps_judged(p, &p->judges[(size_t)k * m->nactions + action], k, pre, symbol, next)) {
            in |= left & -left;
        }
    }
    return in;
}

void il_steps_region_reads_of(const il_steps *p, uint32_t region, uint32_t action, uint64_t *pre, uint64_t *next) {
    const steps_judge *j = &p->judges[(size_t)region * p->m->nactions + (p->m->regions[region].edge ? action : 0)];
    *pre = steps_bits_mask(&j->pre);
    *next = steps_bits_mask(&j->next);
}

void il_steps_region_reads(const il_steps *p, uint32_t region, uint64_t *pre, uint64_t *next) {
    *pre = *next = 0;
    for (uint32_t a = 0; a < p->m->nactions; a++) {
        uint64_t before = 0, after = 0;
        il_steps_region_reads_of(p, region, a, &before, &after);
        *pre |= before;
        *next |= after;
    }
}
