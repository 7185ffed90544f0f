/* SPDX-License-Identifier: Apache-2.0 */
#include "check/mislabel.h"

#include "base/error.h"
#include "base/mem.h"
#include "check/behind.h"
#include "check/parts.h"
#include "check/report.h"
#include "check/usage.h"

enum { MISLABEL_STATES = 1 << 18 };
#define MISLABEL_BYTES ((size_t)1 << 28)

/* Steps of the machine; what a symbol means is looked up in `truth`. */
typedef struct mislabel_walk {
    il_subject subject; /* a copy whose ghosts are those of the truth */
    il_view view;
    il_space_def base;
    uint32_t *truth;   /* by symbol */
    uint64_t *allowed; /* a copy of the tools' symbols, with those that are charged wrongly */
    il_steps_edge *row;
    const uint32_t *only_of; /* with `only`: the two symbols that are charged wrongly, and no other */
    bool only;
    il_space right; /* what is reached with every label right, when `known` */
    bool known;
    il_behind_room room;
    il_arena arena; /* its own */
} mislabel_walk;

static il_steps_edges mislabel_rows(void *ctx, uint64_t state) {
    mislabel_walk *w = ctx;
    il_steps_edges row = il_steps_row(w->subject.steps, NULL, state);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        const uint32_t symbol = row.edge[k].symbol;
        if ((w->allowed[symbol / 64] >> symbol % 64 & 1) && (!w->only || symbol == w->only_of[0] || symbol == w->only_of[1])) {
            w->row[n++] = row.edge[k];
        }
    }
    return (il_steps_edges){w->row, n};
}

/* The explorer asks with the symbol that was charged; the region is asked about the one that was deserved. */
static uint32_t mislabel_expand(void *ctx, uint64_t key, il_space_edge *out) {
    mislabel_walk *w = ctx;
    return w->base.expand(w->base.ctx, key, out);
}
static uint64_t mislabel_state(void *ctx, uint64_t key) {
    mislabel_walk *w = ctx;
    return w->base.state(w->base.ctx, key);
}
static uint64_t mislabel_edge(void *ctx, uint64_t key, uint32_t symbol, uint64_t next) {
    mislabel_walk *w = ctx;
    return w->base.edge(w->base.ctx, key, w->truth[symbol], next);
}

static il_status mislabel_define(mislabel_walk *w, uint64_t regions, uint64_t stop, il_space_def *out, il_error *err) {
    const il_subject *s = &w->subject;
    w->view = (il_view){.subject = &w->subject,
                        .dropped = s->lowers,
                        .observer = IL_OBSERVE_GHOSTS,
                        .regions = regions,
                        .stop = stop,
                        .rows = mislabel_rows,
                        .rows_ctx = w};
    if (s->m->bits + il_view_bits(&w->view) > 64) {
        return il_error_set(err, IL_E_LIMIT, "the state and what a check must remember beside it are wider than 64 bits");
    }
    il_view_define(&w->view, &w->base);
    *out = w->base;
    out->ctx = w;
    out->expand = mislabel_expand;
    out->state = w->base.state ? mislabel_state : NULL;
    out->edge = w->base.edge ? mislabel_edge : NULL;
    return IL_OK;
}

static il_status mislabel_explore(mislabel_walk *w, uint64_t regions, uint64_t stop, il_space *space, il_error *err) {
    const il_subject *s = &w->subject;
    il_space_def def;
    *space = (il_space){0};
    IL_TRY(mislabel_define(w, regions, stop, &def, err));
    il_space_bounds bounds = s->bounds;
    bounds.workers = 1;
    return il_space_explore(space, s->alloc, &def, &bounds, err);
}

/* At most the regions that the error reaches: those of right labels and of the steps that are charged wrongly, together. */
static il_status mislabel_perhaps(mislabel_walk *w, const il_label_error *error, uint64_t regions, uint64_t *hits, bool *known,
                                  il_error *err) {
    il_behind b = {.base = &w->right, .room = &w->room, .only = &w->only, .bounds = &w->subject.bounds, .bits = regions};
    *known = false;
    if (!w->known) {
        return IL_OK;
    }
    IL_TRY(mislabel_define(w, regions, 0, &b.def, err));
    w->only_of = error->charged;
    il_behind_begin(&b);
    for (uint32_t i = 0; i < w->right.n && !b.full; i++) {
        il_behind_follow(&b, il_space_key(&w->right, i), true);
    }
    il_behind_finish(&b);
    *hits = b.hits & regions;
    *known = il_behind_whole(&b);
    return IL_OK;
}

static bool mislabel_same(const il_label_error *a, const il_label_error *b) {
    return a->charged[0] == b->charged[0] && a->charged[1] == b->charged[1] && a->truth[0] == b->truth[0] &&
           a->truth[1] == b->truth[1];
}

/* What one error reaches, kept for tools with the same one. */
typedef struct mislabel_result {
    const il_label_error *error;
    uint64_t reached;
    bool bounded;
    il_trace *traces; /* by region */
} mislabel_result;

static il_status mislabel_ask(il_harden *h, mislabel_walk *w, const uint64_t *used, const il_label_error *error, uint64_t regions,
                              mislabel_result *out, il_error *err) {
    const il_subject *s = &h->subject;
    const il_model *m = s->m;
    memcpy(w->allowed, used, (m->nsymbols / 64 + 1) * sizeof *used);
    memcpy(w->subject.ghosts, s->ghosts, m->nsymbols * sizeof *s->ghosts);
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        w->truth[i] = i;
    }
    for (uint32_t k = 0; k < 2; k++) {
        if (error && error->charged[k] != IL_NO_SYMBOL && error->truth[k] != IL_NO_SYMBOL) {
            w->allowed[error->charged[k] / 64] |= UINT64_C(1) << error->charged[k] % 64;
            w->subject.ghosts[error->charged[k]] = s->ghosts[error->truth[k]];
            w->truth[error->charged[k]] = error->truth[k];
        }
    }
    *out = (mislabel_result){.error = error, .traces = IL_NEW_ARRAY(s->arena, il_trace, m->nregions)};
    if (!out->traces) {
        return il_arena_fail(s->arena, err);
    }
    il_space space = {0};
    uint64_t perhaps = 0;
    bool known = false;
    if (error) {
        IL_TRY(mislabel_perhaps(w, error, regions, &perhaps, &known, err));
    }
    if (known && perhaps == 0) {
        return IL_OK;
    }
    il_status status = mislabel_explore(w, regions, known ? perhaps : 0, &space, err);
    for (uint64_t left = status == IL_OK ? regions : 0; left != 0 && status == IL_OK; left &= left - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(left);
        if (space.hits[r].found) {
            out->reached |= UINT64_C(1) << r;
            status = il_trace_of(h, &w->view, &space, &space.hits[r], &out->traces[r], err);
        }
    }
    out->bounded = status == IL_OK && space.bound_hit && out->reached != regions;
    if (status == IL_OK && !error && !space.bound_hit && space.n <= MISLABEL_STATES) {
        w->known = true;
        w->right = space;
        return il_behind_room_new(&w->room, &w->arena, 4 * space.n, (size_t)m->nsymbols + s->nwrites, err);
    }
    il_space_free(&space);
    return status;
}

static uint32_t mislabel_count(const il_labels *labels) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < labels->ntools; t++) {
        n += labels->tools[t].nerrors;
    }
    return n;
}

static bool mislabel_unseen(const il_label_error *e) {
    bool plain = e->charged[0] == e->truth[0] || e->charged[0] == IL_NO_SYMBOL || e->truth[0] == IL_NO_SYMBOL;
    bool approved = e->charged[1] == e->truth[1] || e->charged[1] == IL_NO_SYMBOL || e->truth[1] == IL_NO_SYMBOL;
    return plain && approved;
}

static il_status mislabel_tool(il_mislabel *out, uint32_t tool, uint32_t error, const mislabel_result *found, const il_model *m) {
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (found->reached >> r & 1) {
            out->points[out->npoints++] = (il_mislabel_point){tool, error, r, found->traces[r]};
        }
    }
    return IL_OK;
}

static il_status mislabel_all(il_harden *h, mislabel_walk *w, const il_labels *labels, il_mislabel *out, il_error *err) {
    const il_subject *s = &h->subject;
    const il_model *m = s->m;
    uint64_t *used = NULL;
    uint64_t regions = 0;
    for (uint32_t r = 0; r < m->nregions; r++) {
        regions |= !m->regions[r].gated && !m->regions[r].rejection ? UINT64_C(1) << r : 0;
    }
    w->truth = IL_NEW_ARRAY(s->arena, uint32_t, m->nsymbols);
    w->allowed = IL_NEW_ARRAY(s->arena, uint64_t, m->nsymbols / 64 + 1);
    w->row = IL_NEW_ARRAY(s->arena, il_steps_edge, m->nsymbols);
    w->subject.ghosts = IL_NEW_ARRAY(s->arena, il_symbol_ghosts, m->nsymbols);
    mislabel_result *results = IL_NEW_ARRAY(s->arena, mislabel_result, (size_t)out->errors + 1);
    out->points = IL_NEW_ARRAY(s->arena, il_mislabel_point, (size_t)out->errors * m->nregions);
    if (!w->truth || !w->allowed || !w->row || !w->subject.ghosts || !results || !out->points) {
        return il_arena_fail(s->arena, err);
    }
    IL_TRY(il_usage_symbols(s, labels, &used, err));
    mislabel_result right = {0};
    IL_TRY(mislabel_ask(h, w, used, NULL, regions, &right, err));
    out->skipped = right.reached;
    regions &= ~right.reached;
    for (uint32_t t = 0; t < labels->ntools; t++) {
        uint32_t before = out->npoints;
        for (uint32_t e = 0; e < labels->tools[t].nerrors; e++) {
            const il_label_error *error = &labels->tools[t].errors[e];
            uint32_t k = 0;
            if (mislabel_unseen(error)) {
                out->unseen++;
                continue;
            }
            while (k < out->mutants && !mislabel_same(results[k].error, error)) {
                k++;
            }
            if (k == out->mutants) {
                IL_TRY(mislabel_ask(h, w, used, error, regions, &results[out->mutants++], err));
            }
            out->bounded += results[k].bounded;
            IL_TRY(mislabel_tool(out, t, e, &results[k], m));
        }
        out->tools += out->npoints > before;
    }
    return IL_OK;
}

il_status il_mislabel_run(il_harden *h, const il_labels *labels, il_mislabel *out, il_error *err) {
    mislabel_walk w = {.subject = h->subject};
    *out = (il_mislabel){.labels = labels, .errors = mislabel_count(labels)};
    il_arena_init(&w.arena, h->subject.alloc, MISLABEL_BYTES);
    il_status status = mislabel_all(h, &w, labels, out, err);
    il_space_free(&w.right);
    il_arena_free(&w.arena);
    return status;
}

/* ---- a bare machine ---- */

/* What a label may forget, said by the payload: a field that goes back to its first value, a standing sink that is taken for a single call, a foreign
 * service for the bound one. */
static uint32_t mislabel_forget(const il_model *m, uint32_t symbol, uint32_t field, il_str word) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    const il_domain *d = &a->field_domains[field];
    uint32_t now = il_model_field_value(m, symbol, field);
    for (uint32_t v = 0; v < d->size; v++) {
        if (il_str_eq(d->names[v], word)) {
            return v == now ? IL_NO_SYMBOL : symbol - now * a->strides[field] + v * a->strides[field];
        }
    }
    return IL_NO_SYMBOL;
}

static uint32_t mislabel_other(const il_model *m, uint32_t symbol, const char *field, const char *word) {
    uint32_t f = il_model_field(m, m->symbol_action[symbol], il_str_of(field));
    return f == UINT32_MAX ? IL_NO_SYMBOL : mislabel_forget(m, symbol, f, il_str_of(word));
}

static void mislabel_error(il_label_tool *tool, const char *effect, uint32_t truth, uint32_t charged) {
    if (charged != IL_NO_SYMBOL && charged != truth) {
        tool->errors[tool->nerrors++] = (il_label_error){effect, {charged, IL_NO_SYMBOL}, {truth, IL_NO_SYMBOL}};
    }
}

/* Every single error of the label that a symbol stands for. */
static void mislabel_errors(const il_subject *s, uint32_t symbol, il_label_tool *tool) {
    const il_model *m = s->m;
    const il_symbol_words *w = &s->words[symbol];
    if (w->untrusted) {
        mislabel_error(tool, "untrusted", symbol, mislabel_other(m, symbol, "untrusted", "false"));
    }
    if (w->secret) {
        mislabel_error(tool, "secret", symbol, mislabel_other(m, symbol, "data", "sensitive"));
        mislabel_error(tool, "secret", symbol, mislabel_other(m, symbol, "secret", "false"));
    } else if (w->sensitive) {
        mislabel_error(tool, "sensitive", symbol, mislabel_other(m, symbol, "data", "none"));
        mislabel_error(tool, "sensitive", symbol, mislabel_other(m, symbol, "sensitive", "false"));
    }
    if (w->egress != IL_SINK_NONE) {
        mislabel_error(tool, "egress", symbol, mislabel_other(m, symbol, "egress", "none"));
    }
    if (w->egress == IL_SINK_STANDING) {
        mislabel_error(tool, "standing", symbol, mislabel_other(m, symbol, "egress", w->bound ? "once_bound" : "once"));
    }
    if (w->egress != IL_SINK_NONE && !w->bound) {
        mislabel_error(tool, "foreign", symbol,
                       mislabel_other(m, symbol, "egress", w->egress == IL_SINK_ONCE ? "once_bound" : "standing_bound"));
    }
    if (w->commit) {
        mislabel_error(tool, "commit", symbol, mislabel_other(m, symbol, "commit", "false"));
    }
}

il_status il_mislabel_symbols(const il_harden *h, il_labels *out, il_error *err) {
    enum { MISLABEL_ERRORS = 8 }; /* more than mislabel_errors() makes */
    const il_subject *s = &h->subject;
    const il_model *m = s->m;
    *out = (il_labels){.tools = IL_NEW_ARRAY(s->arena, il_label_tool, m->nsymbols)};
    if (!out->tools) {
        return il_arena_fail(s->arena, err);
    }
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        bool admits = (s->admits >> m->symbol_action[i] & 1) && m->actions[m->symbol_action[i]].principal == IL_AGENT;
        if (!admits || s->words[i].approved) {
            continue;
        }
        il_label_tool *tool = &out->tools[out->ntools++];
        il_buf text;
        *tool = (il_label_tool){.symbols = IL_NEW_ARRAY(s->arena, uint32_t, 2),
                                .errors = IL_NEW_ARRAY(s->arena, il_label_error, MISLABEL_ERRORS)};
        if (!tool->symbols || !tool->errors) {
            return il_arena_fail(s->arena, err);
        }
        il_buf_init(&text, s->arena, 4096);
        il_model_symbol_brief(m, i, &text);
        IL_TRY(il_buf_done(&text, &tool->name, err));
        tool->symbols[tool->nsymbols++] = i;
        mislabel_errors(s, i, tool);
        /* with an approval the same call has another symbol, and the same error */
        uint32_t approved = mislabel_other(m, i, "approved", "true");
        if (approved != IL_NO_SYMBOL) {
            tool->symbols[tool->nsymbols++] = approved;
            uint32_t step = approved - i;
            for (uint32_t e = 0; e < tool->nerrors; e++) {
                tool->errors[e].charged[1] = tool->errors[e].charged[0] + step;
                tool->errors[e].truth[1] = approved;
            }
        }
    }
    return IL_OK;
}

il_json *il_mislabel_object(const il_model *m, const il_mislabel *x, il_arena *arena) {
    il_report b = {.arena = arena, .m = m};
    il_json *o = il_report_object(&b);
    il_json *points = il_report_list(&b);
    il_json *skipped = il_report_list(&b);
    for (uint32_t i = 0; i < x->npoints; i++) {
        const il_mislabel_point *p = &x->points[i];
        const il_label_tool *tool = &x->labels->tools[p->tool];
        il_json *one = il_report_object(&b);
        il_report_set(&b, one, "tool", il_report_str(&b, tool->name));
        il_report_set(&b, one, "forgets", il_report_word(&b, tool->errors[p->error].effect));
        il_report_set(&b, one, "region", il_report_region(&b, p->region));
        il_report_set(&b, one, "witness", il_report_trace(&b, &p->witness));
        il_report_push(&b, points, one);
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (x->skipped >> r & 1) {
            il_report_push(&b, skipped, il_report_region(&b, r));
        }
    }
    il_report_set(&b, o, "labels", il_report_number(&b, x->labels->ntools));
    il_report_set(&b, o, "labels_with_points", il_report_number(&b, x->tools));
    il_report_set(&b, o, "errors", il_report_number(&b, x->errors));
    il_report_set(&b, o, "distinct", il_report_number(&b, x->mutants));
    il_report_set(&b, o, "unseen", il_report_number(&b, x->unseen));
    il_report_set(&b, o, "not_settled", il_report_number(&b, x->bounded));
    il_report_set(&b, o, "regions_not_asked", skipped);
    il_report_set(&b, o, "points", points);
    return b.failed ? NULL : o;
}
