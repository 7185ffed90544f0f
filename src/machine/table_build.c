/* SPDX-License-Identifier: Apache-2.0 */
/* From a model to the sealed bytes: breadth first from the initial state, then sorted, tabulated, sealed. docs/formats.md has the layout. */
#include "base/sort.h"
#include "machine/machine_impl.h"
#include "machine/steps.h"

typedef struct table_found {
    il_arena *arena;
    uint64_t *states;
    uint32_t *parent, *via;
    uint32_t n, cap;
    uint32_t *slots; /* place plus 1 */
    uint32_t bits;   /* 2^bits slots */
} table_found;

static bool table_grow(table_found *f) {
    uint32_t cap = f->cap ? f->cap * 2 : 1024;
    uint64_t *states = IL_NEW_ARRAY(f->arena, uint64_t, cap);
    uint32_t *parent = IL_NEW_ARRAY(f->arena, uint32_t, cap);
    uint32_t *via = IL_NEW_ARRAY(f->arena, uint32_t, cap);
    uint32_t *slots = IL_NEW_ARRAY(f->arena, uint32_t, (size_t)cap * 2);
    if (!states || !parent || !via || !slots) {
        return false;
    }
    if (f->n > 0) {
        memcpy(states, f->states, f->n * sizeof *states);
        memcpy(parent, f->parent, f->n * sizeof *parent);
        memcpy(via, f->via, f->n * sizeof *via);
    }
    f->states = states;
    f->parent = parent;
    f->via = via;
    f->slots = slots;
    f->cap = cap;
    for (f->bits = 0; UINT32_C(1) << f->bits < cap * 2; f->bits++) {
    }
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t at = il_table_slot(states[i], f->bits);
        while (slots[at]) {
            at = (at + 1) & (cap * 2 - 1);
        }
        slots[at] = i + 1;
    }
    return true;
}

/* false only when memory ran out */
static bool table_add(table_found *f, uint64_t state, uint32_t parent, uint32_t via) {
    if (f->n == f->cap && !table_grow(f)) {
        return false;
    }
    uint32_t at = il_table_slot(state, f->bits);
    while (f->slots[at]) {
        if (f->states[f->slots[at] - 1] == state) {
            return true;
        }
        at = (at + 1) & (f->cap * 2 - 1);
    }
    f->states[f->n] = state;
    f->parent[f->n] = parent;
    f->via[f->n] = via;
    f->slots[at] = ++f->n;
    return true;
}

static il_status table_fault(const table_found *f, const il_model *m, uint32_t from, uint32_t symbol, const il_eval *e,
                             il_error *err) {
    uint32_t steps[16];
    uint32_t n = 0;
    il_buf trace;
    il_buf_init(&trace, f->arena, 4096);
    for (uint32_t i = from; i != 0 && n < 16; i = f->parent[i]) {
        steps[n++] = f->via[i];
    }
    while (n > 0) {
        il_model_symbol_brief(m, steps[--n], &trace);
        il_buf_putc(&trace, ' ');
    }
    il_model_symbol_brief(m, symbol, &trace);
    il_str text = {0};
    IL_TRY(il_buf_done(&trace, &text, err));
    if (e->fault_nap != UINT32_MAX && e->fault_var == UINT32_MAX) {
        const il_nap *nap = &m->naps[e->fault_nap];
        il_str action = m->actions[m->symbol_action[nap->symbol]].name;
        il_str rule =
            e->fault_reason > 0 && e->fault_reason <= m->nrules ? m->rules[e->fault_reason - 1].name : IL_STR("no rule");
        return e->fault[4] == 'r' /* nap-refused */
                   ? il_error_at(err, IL_E_INVALID, nap->line, nap->col, 0, "the nap's `%.*s` is refused (`%.*s`) after: %.*s",
                                 IL_STR_ARG(action), IL_STR_ARG(rule), IL_STR_ARG(text))
                   : il_error_at(err, IL_E_INVALID, nap->line, nap->col, 0,
                                 "the naps do not settle: `%.*s` changes something again after %u of them, after: %.*s",
                                 IL_STR_ARG(action), (unsigned)m->nap_bound, IL_STR_ARG(text));
    }
    if (e->fault_nap != UINT32_MAX) {
        symbol = m->naps[e->fault_nap].symbol; /* whose update it is */
    }
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    uint32_t line = a->line;
    uint32_t col = a->col;
    for (uint32_t u = 0; u < a->nupdates; u++) {
        if (a->updates[u].var == e->fault_var) {
            line = a->updates[u].line;
            col = a->updates[u].col;
        }
    }
    il_str var = m->vars[e->fault_var].name;
    const char *what = e->fault[0] == 'd' ? "leaves its domain" : "gets no value (its update errs)";
    return il_error_at(err, IL_E_INVALID, line, col, 0, "`%.*s` %s after: %.*s", IL_STR_ARG(var), what, IL_STR_ARG(text));
}

static il_status table_explore(table_found *f, const il_model *m, il_steps *steps, uint32_t max_states, il_error *err) {
    if (!table_add(f, m->initial, 0, 0)) {
        return il_arena_fail(f->arena, err);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        il_steps_edges row = il_steps_row(steps, NULL, f->states[i]);
        for (uint32_t k = 0; k < row.n; k++) {
            if (row.edge[k].fault) {
                il_eval e = il_model_eval(m, NULL, f->states[i], row.edge[k].symbol);
                IL_CHECK(e.fault != NULL, err);
                return table_fault(f, m, i, row.edge[k].symbol, &e, err);
            }
            if (!table_add(f, row.edge[k].next, i, row.edge[k].symbol)) {
                return il_arena_fail(f->arena, err);
            }
            if (f->n > max_states) {
                return il_error_set(err, IL_E_LIMIT, "more than %u states are reachable; the machine cannot be sealed",
                                    (unsigned)max_states);
            }
        }
    }
    return IL_OK;
}

static bool table_before(const void *a, const void *b) { return *(const uint64_t *)a < *(const uint64_t *)b; }

static uint32_t table_place(const uint64_t *a, uint32_t n, uint64_t state) {
    uint32_t lo = 0;
    uint32_t hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (a[mid] < state) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static il_json *table_names(il_arena *arena, const il_str *names, uint32_t n) {
    il_json *list = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        if (!il_json_push(list, il_json_string(arena, names[i]))) {
            return NULL;
        }
    }
    return list;
}

static il_json *table_meta_vars(il_arena *arena, const il_model *m) {
    il_json *list = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < m->nvars; i++) {
        const il_var *v = &m->vars[i];
        il_json *o = il_json_make(arena, IL_JSON_OBJECT);
        if (!il_json_set(o, IL_STR("name"), il_json_string(arena, v->name)) ||
            !il_json_set(o, IL_STR("values"), table_names(arena, v->domain.names, v->domain.size)) || !il_json_push(list, o)) {
            return NULL;
        }
    }
    return list;
}

static il_json *table_meta_actions(il_arena *arena, const il_model *m) {
    il_json *list = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < m->nactions; i++) {
        const il_action_def *a = &m->actions[i];
        il_json *o = il_json_make(arena, IL_JSON_OBJECT);
        il_json *fields = il_json_make(arena, IL_JSON_ARRAY);
        for (uint32_t f = 0; f < a->nfields; f++) {
            il_json *field = il_json_make(arena, IL_JSON_OBJECT);
            if (!il_json_set(field, IL_STR("name"), il_json_string(arena, a->fields[f])) ||
                !il_json_set(field, IL_STR("values"), table_names(arena, a->field_domains[f].names, a->field_domains[f].size)) ||
                !il_json_push(fields, field)) {
                return NULL;
            }
        }
        if (!il_json_set(o, IL_STR("name"), il_json_string(arena, a->name)) || !il_json_set(o, IL_STR("fields"), fields) ||
            !il_json_push(list, o)) {
            return NULL;
        }
    }
    return list;
}

static il_json *table_meta(il_arena *arena, const il_model *m) {
    il_json *root = il_json_make(arena, IL_JSON_OBJECT);
    il_json *rules = il_json_make(arena, IL_JSON_ARRAY);
    il_json *regions = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < m->nrules; i++) {
        il_json *o = il_json_make(arena, IL_JSON_OBJECT);
        if (!il_json_set(o, IL_STR("name"), il_json_string(arena, m->rules[i].name)) ||
            !il_json_set(o, IL_STR("releasable"), il_json_boolean(arena, m->rules[i].releasable)) || !il_json_push(rules, o)) {
            return NULL;
        }
    }
    for (uint32_t i = 0; i < m->nregions; i++) {
        il_json *o = il_json_make(arena, IL_JSON_OBJECT);
        if (!il_json_set(o, IL_STR("name"), il_json_string(arena, m->regions[i].name)) ||
            !il_json_set(o, IL_STR("gated"), il_json_boolean(arena, m->regions[i].gated)) ||
            !il_json_set(o, IL_STR("edge"), il_json_boolean(arena, m->regions[i].edge)) || !il_json_push(regions, o)) {
            return NULL;
        }
    }
    char *hex = il_arena_get(arena, IL_DIGEST_HEX);
    if (!hex) {
        return NULL;
    }
    il_digest_hex(m->digest, hex);
    bool done = il_json_set(root, IL_STR("machine"), il_json_string(arena, m->name)) &&
                il_json_set(root, IL_STR("source"), il_json_string(arena, (il_str){hex, IL_DIGEST_HEX - 1})) &&
                il_json_set(root, IL_STR("vars"), table_meta_vars(arena, m)) &&
                il_json_set(root, IL_STR("actions"), table_meta_actions(arena, m)) && il_json_set(root, IL_STR("rules"), rules) &&
                il_json_set(root, IL_STR("regions"), regions);
    return done ? root : NULL;
}

static void table_put_pad(il_buf *b, size_t n) {
    for (size_t i = n; i < il_table_pad(n); i++) {
        il_buf_u8(b, 0);
    }
}

/* All cells in memory first: the bitmaps of edge regions come before them in the file. */
static il_status table_cells(const il_model *m, il_steps *steps, const table_found *f, uint32_t *cells, uint8_t **bitmaps,
                             il_error *err) {
    for (uint32_t i = 0; i < f->n; i++) {
        for (uint32_t r = 0; r < m->nregions; r++) {
            if (!m->regions[r].edge && il_steps_in_region(steps, r, f->states[i], 0, 0)) {
                bitmaps[r][i / 8] |= (uint8_t)(1u << (i % 8));
            }
        }
        for (uint32_t s = 0; s < m->nsymbols; s++) {
            size_t at = (size_t)i * m->nsymbols + s;
            il_step step = il_steps_one(steps, NULL, f->states[i], s);
            uint32_t post = step.next == f->states[i] ? i : table_place(f->states, f->n, step.next);
            IL_CHECK(post < f->n && f->states[post] == step.next && (step.verdict == IL_ACCEPT || step.verdict == IL_REJECT),
                     err);
            cells[at] = IL_CELL_OF(post, step.verdict, step.reason);
            for (uint32_t r = 0; r < m->nregions; r++) {
                bool in = m->regions[r].rejection
                              ? step.verdict == IL_REJECT && il_model_refused_wrongly(m, r, f->states[i], s, step.reason)
                              : step.verdict == IL_ACCEPT && m->regions[r].edge &&
                                    il_steps_in_region(steps, r, f->states[i], s, step.next);
                if (in) {
                    bitmaps[r][at / 8] |= (uint8_t)(1u << (at % 8));
                }
            }
        }
    }
    return IL_OK;
}

static il_status table_write(il_arena *arena, const il_model *m, il_steps *steps, uint32_t max_states, il_str *table,
                             il_error *err) {
    table_found f = {.arena = arena};
    IL_TRY(table_explore(&f, m, steps, max_states, err));
    size_t ncells = (size_t)f.n * m->nsymbols;
    if (ncells > IL_TABLE_BYTES_MAX / 4) {
        return il_error_set(err, IL_E_LIMIT, "the table would be larger than %u MiB; the machine cannot be sealed",
                            (unsigned)(IL_TABLE_BYTES_MAX >> 20));
    }
    il_sort(f.states, f.n, sizeof *f.states, table_before);

    uint32_t *cells = IL_NEW_ARRAY(arena, uint32_t, ncells);
    uint8_t *bitmaps[IL_MODEL_REGIONS_MAX] = {0};
    if (!cells) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        bitmaps[r] = il_arena_get(arena, il_table_bitmap(m->regions[r].edge, f.n, m->nsymbols));
        if (!bitmaps[r]) {
            return il_arena_fail(arena, err);
        }
    }
    IL_TRY(table_cells(m, steps, &f, cells, bitmaps, err));

    il_json *root = table_meta(arena, m);
    if (!root) {
        return il_arena_fail(arena, err);
    }
    il_buf meta;
    il_buf_init(&meta, arena, (size_t)16 << 20);
    il_json_write(&meta, root, IL_JSON_SORTED);
    il_str text = {0};
    IL_TRY(il_buf_done(&meta, &text, err));

    il_buf b;
    il_buf_init(&b, arena, IL_TABLE_BYTES_MAX * 2);
    il_buf_puts(&b, IL_TABLE_MAGIC);
    il_buf_u32(&b, 1); /* format */
    il_buf_u32(&b, f.n);
    il_buf_u32(&b, m->nsymbols);
    il_buf_u32(&b, table_place(f.states, f.n, m->initial));
    il_buf_u32(&b, m->nregions);
    il_buf_u32(&b, (uint32_t)text.n);
    il_buf_u32(&b, 0);
    il_buf_u32(&b, 0);
    il_buf_put(&b, text);
    table_put_pad(&b, text.n);
    for (uint32_t i = 0; i < f.n; i++) {
        il_buf_u64(&b, f.states[i]);
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        il_buf_put(&b, (il_str){(const char *)bitmaps[r], il_table_bitmap(m->regions[r].edge, f.n, m->nsymbols)});
    }
    for (size_t i = 0; i < ncells; i++) {
        il_buf_u32(&b, cells[i]);
    }
    il_str body = {0};
    uint8_t seal[IL_DIGEST_BYTES];
    IL_TRY(il_buf_done(&b, &body, err));
    il_sha256_of(body, seal);
    il_buf_put(&b, (il_str){(const char *)seal, sizeof seal});
    return il_buf_done(&b, table, err);
}

il_status il_table_build_by(il_steps *steps, il_arena *arena, const il_model *m, uint32_t max_states, il_str *table,
                            il_error *err) {
    if (max_states == 0 || max_states > IL_TABLE_STATES_MAX) {
        max_states = IL_TABLE_STATES_MAX;
    }
    const size_t cells = IL_TABLE_BYTES_MAX / 4 / m->nsymbols; /* more are not sealed, so they need not be looked for */
    max_states = cells < max_states ? (uint32_t)cells : max_states;
    return table_write(arena, m, steps, max_states, table, err);
}

il_status il_table_build(il_arena *arena, const il_model *m, uint32_t max_states, il_str *table, il_error *err) {
    il_steps *steps = NULL;
    IL_TRY(il_steps_new(arena->alloc, m, &steps, err));
    il_status status = il_table_build_by(steps, arena, m, max_states, table, err);
    il_steps_free(steps);
    return status;
}
