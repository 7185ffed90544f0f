/* SPDX-License-Identifier: Apache-2.0 */
#include "check/audit.h"

#include "base/error.h"

const char *il_audit_word_name(il_audit_word w) {
    switch (w) {
    case IL_AUDIT_POST_MISMATCH:
        return "POST_MISMATCH";
    case IL_AUDIT_REJECT_NOW_ACCEPTS:
        return "REJECT_NOW_ACCEPTS";
    case IL_AUDIT_ACCEPT_NOW_REJECTS:
        return "ACCEPT_NOW_REJECTS";
    case IL_AUDIT_REASON_CHANGED:
        return "REASON_CHANGED";
    case IL_AUDIT_OFF_TABLE:
        return "OFF_TABLE";
    case IL_AUDIT_LOST_SYMBOL:
        return "LOST_SYMBOL";
    case IL_AUDIT_MACHINE_UNKNOWN:
        return "MACHINE_UNKNOWN";
    case IL_AUDIT_NOT_READ:
        return "NOT_READ";
    case IL_AUDIT_CHAIN_BREAK:
        return "CHAIN_BREAK";
    case IL_AUDIT_WORDS:
        break;
    }
    return "unknown";
}

void il_audit_init(il_audit *a, il_arena *arena, const il_audit_machine *other) {
    *a = (il_audit){.arena = arena, .other = other};
}

/* ---- findings ------------------------------------------------------------------------------------ */

/* Counts it; *out is NULL when enough are kept. */
static il_status audit_add(il_audit *a, il_audit_word word, bool against, uint64_t row, il_str session, il_audit_finding **out,
                           il_error *err) {
    *out = NULL;
    a->counts[against][word]++;
    if (a->nkept == IL_AUDIT_FINDINGS_KEPT) {
        return IL_OK;
    }
    il_audit_finding *f = IL_NEW(a->arena, il_audit_finding);
    if (!f) {
        return il_arena_fail(a->arena, err);
    }
    *f = (il_audit_finding){.word = word, .against = against, .row = row};
    IL_TRY(il_arena_copy(a->arena, session, &f->session, err));
    if (a->last) {
        a->last->next = f;
    } else {
        a->findings = f;
    }
    a->last = f;
    a->nkept++;
    *out = f;
    return IL_OK;
}

il_status il_audit_note(il_audit *a, il_audit_word word, uint64_t row, il_str session, il_str detail, il_error *err) {
    il_audit_finding *f = NULL;
    IL_TRY(audit_add(a, word, false, row, session, &f, err));
    return f ? il_arena_copy(a->arena, detail, &f->detail, err) : IL_OK;
}

/* ---- one machine ----------------------------------------------------------------------------------- */

static il_step audit_step(const il_audit_machine *k, uint64_t state, uint32_t symbol) {
    return k->table ? il_machine_step(k->table, state, symbol) : il_model_eval(k->model, NULL, state, symbol).step;
}

static il_str audit_said(const il_model *m, il_step step) {
    if (step.verdict == IL_ACCEPT) {
        return IL_STR("accept");
    }
    return step.verdict == IL_REJECT && step.reason > 0 && step.reason <= m->nrules ? m->rules[step.reason - 1].name
                                                                                    : IL_STR("fault");
}

typedef struct audit_look { /* one row through one machine */
    il_audit *a;
    const il_audit_machine *k;
    const il_audit_row *row;
    bool against;
    const il_counterpart *c; /* `against` */
    il_error *err;
} audit_look;

/* The variables of a state that are not at their first value. */
static il_status audit_values(const audit_look *l, const il_model *m, uint64_t state, il_str *out) {
    il_buf b;
    bool any = false;
    il_buf_init(&b, l->a->arena, 1 << 16);
    for (uint32_t v = 0; v < m->nvars; v++) {
        const uint32_t value = il_model_get(m, state, v);
        if (value != 0 && value < m->vars[v].domain.size) {
            il_buf_puts(&b, any ? "," : "");
            il_buf_put(&b, m->vars[v].name);
            il_buf_putc(&b, '=');
            il_buf_put(&b, m->vars[v].domain.names[value]);
            any = true;
        }
    }
    il_buf_puts(&b, any ? "" : "initial");
    return il_buf_done(&b, out, l->err);
}

static il_status audit_found(const audit_look *l, il_audit_word word, const il_model *m, uint32_t symbol, il_str said,
                             il_str now) {
    il_audit_finding *f = NULL;
    il_buf b;
    IL_TRY(audit_add(l->a, word, l->against, l->row->seq, l->row->session, &f, l->err));
    if (!f) {
        return IL_OK;
    }
    IL_TRY(il_arena_copy(l->a->arena, said, &f->said, l->err));
    f->now = now;
    if (symbol == IL_NO_SYMBOL) {
        return IL_OK;
    }
    il_buf_init(&b, l->a->arena, 8192);
    il_model_symbol_brief(m, symbol, &b);
    return il_buf_done(&b, &f->step, l->err);
}

static il_status audit_compare(const audit_look *l, const il_audit_step *s, uint32_t symbol, il_step now) {
    const bool accepts = now.verdict == IL_ACCEPT;
    const il_str said = s->accepted ? IL_STR("accept") : s->told ? s->reason : IL_STR("reject");
    const il_str says = audit_said(l->k->model, now);
    if (accepts != s->accepted) {
        return audit_found(l, accepts ? IL_AUDIT_REJECT_NOW_ACCEPTS : IL_AUDIT_ACCEPT_NOW_REJECTS, l->k->model, symbol, said,
                           says);
    }
    if (!accepts && s->told && !il_str_eq(said, says)) {
        return audit_found(l, IL_AUDIT_REASON_CHANGED, l->k->model, symbol, said, says);
    }
    return IL_OK;
}

/* What both machines speak of is the same: variables that only one has say nothing. */
static bool audit_agrees(const audit_look *l, uint64_t state) {
    if (!l->against) {
        return state == l->row->post;
    }
    const il_counterpart *c = l->c;
    for (uint32_t v = 0; v < c->from->nvars; v++) {
        if (c->vars[v] != UINT32_MAX &&
            il_model_get(c->to, state, c->vars[v]) != c->values[v][il_model_get(c->from, l->row->post, v)]) {
            return false;
        }
    }
    return true;
}

static il_status audit_off(const audit_look *l, const il_model *m, uint64_t state) {
    il_str values = {0};
    if (il_model_valid(m, state)) {
        IL_TRY(audit_values(l, m, state, &values));
    }
    return audit_found(l, IL_AUDIT_OFF_TABLE, m, IL_NO_SYMBOL, values, (il_str){0});
}

static il_status audit_mismatch(const audit_look *l, uint64_t state) {
    const il_model *wrote = l->against ? l->c->from : l->k->model;
    il_str said = {0}, now = {0};
    IL_TRY(audit_values(l, wrote, l->row->post, &said));
    IL_TRY(audit_values(l, l->k->model, state, &now));
    return audit_found(l, IL_AUDIT_POST_MISMATCH, l->k->model, IL_NO_SYMBOL, said, now);
}

/* The row's steps from `state`, as far as their verdicts are the row's: what comes after another one follows from it. */
static il_status audit_steps(const audit_look *l, uint64_t state) {
    for (uint32_t i = 0; i < l->row->nsteps; i++) {
        const il_audit_step *s = &l->row->steps[i];
        const uint32_t symbol = l->against ? l->c->symbols[s->symbol] : s->symbol;
        if (l->against && symbol == IL_NO_SYMBOL) {
            return audit_found(l, IL_AUDIT_LOST_SYMBOL, l->c->from, s->symbol, s->accepted ? IL_STR("accept") : s->reason,
                               (il_str){0});
        }
        const il_step now = audit_step(l->k, state, symbol);
        *(l->against ? &l->a->compared : &l->a->steps) += 1;
        if (now.reason == IL_REASON_OFF_TABLE) {
            return audit_off(l, l->k->model, state);
        }
        IL_TRY(audit_compare(l, s, symbol, now));
        if ((now.verdict == IL_ACCEPT) != s->accepted) {
            return IL_OK;
        }
        state = now.next;
    }
    return audit_agrees(l, state) ? IL_OK : audit_mismatch(l, state);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static il_status audit_pair(il_audit *a, const il_model *from, const il_counterpart **out, il_error *err) {
    for (uint32_t i = 0; i < a->npairs; i++) {
        if (a->pairs[i].from == from) {
            *out = &a->pairs[i].c;
            return IL_OK;
        }
    }
    if (a->npairs == IL_AUDIT_PAIRS_MAX) {
        return il_error_set(err, IL_E_LIMIT, "the sessions of this ledger ran on more than %u machines",
                            (unsigned)IL_AUDIT_PAIRS_MAX);
    }
    il_audit_pair *p = &a->pairs[a->npairs];
    IL_TRY(il_counterpart_init(&p->c, a->arena, from, a->other->model, err));
    p->from = from;
    a->npairs++;
    *out = &p->c;
    return IL_OK;
}

static il_status audit_own(il_audit *a, const il_audit_machine *own, const il_audit_row *row, il_error *err) {
    const audit_look l = {.a = a, .k = own, .row = row, .err = err};
    a->rows++;
    if (!il_model_valid(own->model, row->pre) || !il_model_valid(own->model, row->post)) {
        return audit_found(&l, IL_AUDIT_OFF_TABLE, own->model, IL_NO_SYMBOL, (il_str){0}, (il_str){0});
    }
    return audit_steps(&l, row->pre);
}

static il_status audit_other(il_audit *a, const il_audit_machine *own, const il_audit_row *row, il_error *err) {
    audit_look l = {.a = a, .k = a->other, .row = row, .against = true, .err = err};
    uint32_t lost = UINT32_MAX;
    if (!il_model_valid(own->model, row->pre) || !il_model_valid(own->model, row->post)) {
        return IL_OK; /* a finding of the replay */
    }
    IL_TRY(audit_pair(a, own->model, &l.c, err));
    const uint64_t state = il_counterpart_state(l.c, row->pre, &lost);
    return lost == UINT32_MAX ? audit_steps(&l, state) : audit_off(&l, own->model, row->pre);
}

il_status il_audit_row_read(il_audit *a, const il_audit_machine *own, const il_audit_row *row, il_error *err) {
    IL_TRY(audit_own(a, own, row, err));
    if (a->other && a->other->model == own->model) {
        a->itself++;
        return IL_OK;
    }
    return a->other ? audit_other(a, own, row, err) : IL_OK;
}

/* ---- verdicts -------------------------------------------------------------------------------------- */

static uint64_t audit_total(const il_audit *a, bool against, bool unclear) {
    uint64_t n = 0;
    for (uint32_t w = 0; w < IL_AUDIT_WORDS; w++) {
        const bool is = w == IL_AUDIT_MACHINE_UNKNOWN || w == IL_AUDIT_NOT_READ;
        n += is == unclear ? a->counts[against][w] : 0;
    }
    return n;
}

const char *il_audit_replayed(const il_audit *a) {
    return audit_total(a, false, false) ? "FAIL" : audit_total(a, false, true) || a->rows == 0 ? "INCONCLUSIVE" : "PASS";
}

const char *il_audit_against(const il_audit *a) {
    return !a->other                              ? NULL
           : a->rows != 0 && a->itself == a->rows ? NULL
           : audit_total(a, true, false)          ? "FAIL"
           : a->compared == 0                     ? "INCONCLUSIVE"
           : audit_total(a, false, true) != 0     ? "INCONCLUSIVE"
                                                  : "AGREES";
}

static int audit_code(const char *verdict) {
    return !verdict || verdict[0] == 'P' || verdict[0] == 'A' ? 0 : verdict[0] == 'F' ? 1 : 2;
}

int il_audit_exit(const il_audit *a) {
    const int own = audit_code(il_audit_replayed(a)), other = audit_code(il_audit_against(a));
    return own == 1 || other == 1 ? 1 : own > other ? own : other;
}
