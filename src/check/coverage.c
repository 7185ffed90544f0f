/* SPDX-License-Identifier: Apache-2.0 */
/* What was never exercised. A check that passes over it says less than it seems, so the run is not clean. */
#include "check/parts.h"

static void coverage_put(il_buf *b, const char *what, il_str name, bool *any) {
    il_buf_puts(b, *any ? ", " : "");
    il_buf_puts(b, what);
    il_buf_putc(b, ' ');
    il_buf_put(b, name);
    *any = true;
}

il_status il_check_coverage(il_harden *h, il_error *err) {
    const il_model *m = h->subject.m;
    il_check *c = il_check_add(h, "coverage", UINT32_MAX, true);
    if (!c) {
        return il_arena_fail(h->subject.arena, err);
    }
    if (!h->subject.table || h->subject.large) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->bound_hit = true;
        return IL_OK;
    }
    il_buf b;
    il_buf_init(&b, h->subject.arena, 1 << 16);
    bool any = false;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (h->frozen >> v & 1) {
            coverage_put(&b, "frozen variable", m->vars[v].name, &any);
        }
        if (h->survey.saturated >> v & 1) { /* what is counted no more may as well have come back to zero */
            coverage_put(&b, "saturated counter", m->vars[v].name, &any);
        }
        /* the monitor takes these for taints; without `taint: source` no ghost watches them */
        bool named = il_str_eq(m->vars[v].name, IL_STR("untrusted")) || il_str_eq(m->vars[v].name, IL_STR("sensitive")) ||
                     il_str_eq(m->vars[v].name, IL_STR("secret"));
        if (named && !m->vars[v].taint) {
            coverage_put(&b, "unwatched taint", m->vars[v].name, &any);
        }
    }
    for (uint32_t r = 0; r < m->nrules; r++) {
        if (!h->rule_fired[r]) {
            coverage_put(&b, "rule that never fires", m->rules[r].name, &any);
        }
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        bool accepted = false;
        for (uint32_t i = 0; i < m->actions[a].nsymbols; i++) {
            accepted = accepted || h->symbol_accepted[m->actions[a].first_symbol + i];
        }
        if (!accepted) {
            coverage_put(&b, "action that is never accepted", m->actions[a].name, &any);
        }
        if (h->idle_gates >> a & 1) {
            coverage_put(&b, "idle gate", m->actions[a].name, &any);
        }
    }
    c->verdict = any || h->idle_open ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    c->bound_hit = !any && h->idle_open;
    c->finding = !any ? NULL : h->survey.saturated ? "SATURATED" : "NOT_EXERCISED";
    return il_buf_done(&b, &c->detail, err);
}
