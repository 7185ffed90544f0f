/* SPDX-License-Identifier: Apache-2.0 */
/* The audit for laundering (`audit: {laundering: true}`): what a call sends that stands in what the session read, also as an excerpt or written in another way. It judges
 * nothing, and a finding is no proof of a leak; that nothing was found proves nothing. */
#include "monitor/plan.h"

#define IL_AUDIT_ROWS_MAX 16u  /* of one call */
#define IL_AUDIT_TEXTS_MAX 64u /* of its arguments that are looked at */
#define IL_AUDIT_DEPTH 16u
#define IL_AUDIT_PATH 128u

typedef struct il_audit {
    il_plan *plan;
    uint64_t ticket;
    il_str tool;
    uint32_t rows, texts;
    char path[IL_AUDIT_PATH]; /* of the argument that is looked at: `to[0].address` */
} il_audit;

static il_status il_audit_row(il_audit *a, const il_source *source, const il_index_hit *hit, uint64_t bytes, il_error *err) {
    il_plan *p = a->plan;
    il_record r;
    il_record_open(&r, p->arena);
    il_record_text(&r, IL_STR("argument"), a->path);
    il_record_number(&r, IL_STR("bytes"), bytes);
    il_record_truth(&r, IL_STR("compared"), hit->compared);
    il_record_from(&r, IL_STR("from"), source);
    il_record_text(&r, IL_STR("how"), hit->token ? "token" : "run");
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_state(&r, IL_STR("pre"), p->s->state);
    il_record_effects(&r, IL_STR("taints"), source->taints & IL_TAINTS);
    il_record_str(&r, IL_STR("tool"), a->tool);
    il_record_number(&r, IL_STR("v"), 1);
    a->rows++;
    return il_plan_row(p, "laundering", a->ticket, &r, err);
}

/* One row a source: its longest run, or a token when there is no run. Human words are his to send. */
static il_status il_audit_hits(il_audit *a, const il_index_hits *hits, il_error *err) {
    for (size_t i = 0; i < hits->n && a->rows < IL_AUDIT_ROWS_MAX;) {
        size_t best = i, end = i;
        while (end < hits->n && hits->list[end].source == hits->list[i].source) {
            const il_index_hit *h = &hits->list[end], *b = &hits->list[best];
            best = (!h->token && b->token) || (h->token == b->token && h->n > b->n) ? end : best;
            end++;
        }
        const il_source source = il_memory_source(a->plan->memory, hits->list[i].source);
        if (source.kind != IL_SOURCE_HUMAN && (source.taints & IL_TAINTS) != 0) {
            IL_TRY(il_audit_row(a, &source, &hits->list[best], hits->list[best].n, err));
        }
        i = end;
    }
    return IL_OK;
}

static il_status il_audit_text(il_audit *a, il_str text, il_error *err) {
    il_index_hits hits;
    if (text.n == 0 || a->texts == IL_AUDIT_TEXTS_MAX || a->rows >= IL_AUDIT_ROWS_MAX) {
        return IL_OK;
    }
    a->texts++;
    IL_TRY(il_memory_find(a->plan->memory, text, a->plan->arena, &hits, err));
    return il_audit_hits(a, &hits, err);
}

/* `n` bytes of the path are about `v`. What lies deeper or does not fit is not looked at. */
static il_status il_audit_walk(il_audit *a, const il_json *v, size_t n, unsigned depth, il_error *err) {
    const il_json_kind kind = il_json_kind_of(v);
    uint32_t at = 0;
    a->path[n] = '\0';
    if (kind == IL_JSON_STRING || kind == IL_JSON_NUMBER) {
        return il_audit_text(a, il_json_text(v), err);
    }
    if (depth == 0 || (kind != IL_JSON_OBJECT && kind != IL_JSON_ARRAY)) {
        return IL_OK;
    }
    for (const il_json *c = il_json_first(v); c != NULL && a->rows < IL_AUDIT_ROWS_MAX && a->texts < IL_AUDIT_TEXTS_MAX;
         c = il_json_next(c), at++) {
        const size_t more = kind == IL_JSON_ARRAY ? il_format(a->path + n, sizeof a->path - n, "[%u]", (unsigned)at)
                                                  : il_format(a->path + n, sizeof a->path - n, n > 0 ? ".%.*s" : "%.*s",
                                                              IL_STR_ARG(il_json_key(c)));
        IL_TRY(il_audit_walk(a, c, n + more, depth - 1, err));
    }
    return IL_OK;
}

il_status il_plan_audit(il_plan *p, const il_call *call, il_str tool, const il_label *label, uint64_t ticket, il_error *err) {
    if (!p->core->audits || p->memory == NULL || call->args == NULL ||
        (label->declared & (uint32_t)(IL_EGRESS | IL_COMMIT)) == 0) {
        return IL_OK;
    }
    il_audit a = {.plan = p, .ticket = ticket, .tool = tool};
    return il_audit_walk(&a, call->args, 0, IL_AUDIT_DEPTH, err);
}
