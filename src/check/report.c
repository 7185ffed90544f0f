/* SPDX-License-Identifier: Apache-2.0 */
/* The report as canonical JSON. Built as nodes and written sorted, so that equal results are equal bytes. */
#include "base/sha256.h"
#include "check/parts.h"
#include "json/node.h"

typedef struct report {
    il_arena *arena;
    const il_harden *h;
    const il_model *m;
    bool failed; /* some builder had no memory; looked at once, at the end */
} report;

static void report_set(report *r, il_json *o, const char *key, il_json *v) {
    r->failed = !il_json_set(o, il_str_of(key), v) || r->failed;
}
static void report_push(report *r, il_json *list, il_json *v) { r->failed = !il_json_push(list, v) || r->failed; }
static il_json *report_object(report *r) { return il_json_make(r->arena, IL_JSON_OBJECT); }
static il_json *report_list(report *r) { return il_json_make(r->arena, IL_JSON_ARRAY); }
static il_json *report_str(report *r, il_str s) { return il_json_string(r->arena, s); }
static il_json *report_word(report *r, const char *z) { return il_json_string(r->arena, il_str_of(z)); }
static il_json *report_number(report *r, uint64_t v) { return il_json_number(r->arena, (int64_t)v); }

static il_json *report_copy(report *r, const char *text, size_t n) {
    il_str s = {0};
    r->failed = il_arena_copy(r->arena, (il_str){text, n}, &s, NULL) != IL_OK || r->failed;
    return report_str(r, s);
}

static il_json *report_hex(report *r, uint64_t state) {
    char text[24];
    size_t n = il_format(text, sizeof text, "%llx", (unsigned long long)state);
    return report_copy(r, text, n);
}

static il_json *report_digest(report *r, const uint8_t digest[IL_DIGEST_BYTES]) {
    char text[IL_DIGEST_HEX];
    il_digest_hex(digest, text);
    return report_copy(r, text, IL_DIGEST_HEX - 1);
}

static il_json *report_vars(report *r, uint64_t vars) {
    il_json *list = report_list(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        if (vars >> v & 1) {
            report_push(r, list, report_str(r, r->m->vars[v].name));
        }
    }
    return list;
}

static il_json *report_actions(report *r, uint64_t actions) {
    il_json *list = report_list(r);
    for (uint32_t a = 0; a < r->m->nactions; a++) {
        if (actions >> a & 1) {
            report_push(r, list, report_str(r, r->m->actions[a].name));
        }
    }
    return list;
}

static il_json *report_payload(report *r, uint32_t symbol) {
    const il_action_def *a = &r->m->actions[r->m->symbol_action[symbol]];
    il_json *o = report_object(r);
    for (uint32_t f = 0; f < a->nfields; f++) {
        r->failed =
            !il_json_set(o, a->fields[f], report_str(r, a->field_domains[f].names[il_model_field_value(r->m, symbol, f)])) ||
            r->failed;
    }
    return o;
}

/* What the machine as it is says of the step; a witness of a variant or a havoc may take steps that it refuses. */
static void report_verdict(report *r, il_json *o, const il_trace_step *s) {
    il_step step = il_model_eval(r->m, NULL, s->pre, s->symbol).step;
    report_set(r, o, "verdict",
               report_word(r, step.verdict == IL_ACCEPT   ? "accept"
                              : step.verdict == IL_REJECT ? "reject"
                                                          : "fault"));
    bool ruled = step.verdict == IL_REJECT && step.reason > 0 && step.reason <= r->m->nrules;
    report_set(r, o, "reason", ruled ? report_str(r, r->m->rules[step.reason - 1].name) : il_json_make(r->arena, IL_JSON_NULL));
}

static il_json *report_trace(report *r, const il_trace *t) {
    if (!t->found) {
        return il_json_make(r->arena, IL_JSON_NULL);
    }
    il_json *list = report_list(r);
    for (uint32_t i = 0; i < t->n; i++) {
        const il_trace_step *s = &t->steps[i];
        il_json *o = report_object(r);
        uint64_t changed = 0;
        for (uint32_t v = 0; v < r->m->nvars; v++) {
            changed |= il_model_get(r->m, s->pre, v) != il_model_get(r->m, s->post, v) ? UINT64_C(1) << v : 0;
        }
        report_set(r, o, "seq", report_number(r, i + 1));
        report_set(r, o, "pre", report_hex(r, s->pre));
        report_set(r, o, "post", report_hex(r, s->post));
        report_set(r, o, "changed", report_vars(r, changed));
        if (s->symbol == IL_NO_SYMBOL) {
            report_set(r, o, "principal", report_word(r, "adversary"));
            report_set(r, o, "write", report_str(r, r->m->vars[s->var].name));
            report_set(r, o, "value", report_str(r, r->m->vars[s->var].domain.names[s->value]));
        } else {
            const il_action_def *a = &r->m->actions[r->m->symbol_action[s->symbol]];
            report_set(r, o, "principal", report_word(r, il_principal_name(a->principal)));
            report_set(r, o, "action", report_str(r, a->name));
            report_set(r, o, "payload", report_payload(r, s->symbol));
            report_verdict(r, o, s);
        }
        report_push(r, list, o);
    }
    return list;
}

static il_json *report_region(report *r, uint32_t region) {
    return region < r->m->nregions ? report_str(r, r->m->regions[region].name) : il_json_make(r->arena, IL_JSON_NULL);
}

/* The smallest sets of variables that havoc named for a region. */
static il_json *report_names(report *r, const il_check *c) {
    bool laundered = il_str_eq(il_str_of(c->id), IL_STR("havoc-laundered"));
    il_json *list = report_list(r);
    for (const il_havoc_set *s = r->h->havoc; s; s = s->next) {
        if (s->region == c->region && s->laundered == laundered) {
            il_json *o = report_object(r);
            report_set(r, o, "variables", report_vars(r, s->vars));
            report_set(r, o, "witness", report_trace(r, &s->witness));
            report_push(r, list, o);
        }
    }
    return list;
}

static il_json *report_checks(report *r) {
    il_json *list = report_list(r);
    for (const il_check *c = r->h->checks; c; c = c->next) {
        il_json *o = report_object(r);
        report_set(r, o, "id", report_word(r, c->id));
        report_set(r, o, "region", report_region(r, c->region));
        report_set(r, o, "verdict", report_word(r, il_check_verdict_name(c->verdict)));
        report_set(r, o, "bound_hit", il_json_boolean(r->arena, c->bound_hit));
        report_set(r, o, "states", report_number(r, c->states));
        report_set(r, o, "edges", report_number(r, c->edges));
        report_set(r, o, "depth", report_number(r, c->depth));
        report_set(r, o, "finding", c->finding ? report_word(r, c->finding) : il_json_make(r->arena, IL_JSON_NULL));
        report_set(r, o, "detail", report_str(r, c->detail));
        report_set(r, o, "witness", report_trace(r, &c->witness));
        if (il_str_starts(il_str_of(c->id), IL_STR("havoc"))) {
            report_set(r, o, "names", report_names(r, c));
        }
        if (il_str_eq(il_str_of(c->id), IL_STR("gates")) && r->m->regions[c->region].gated) {
            report_set(r, o, "gates_needed", report_actions(r, r->h->gate_sets[c->region]));
        }
        report_push(r, list, o);
    }
    return list;
}

static const char *report_opens(il_guard_opens o) {
    switch (o) {
    case IL_GUARD_OPENS_REGION:
        return "region";
    case IL_GUARD_OPENS_BYPASS:
        return "bypass";
    case IL_GUARD_OPENS_LAUNDERED:
        return "laundering";
    case IL_GUARD_OPENS_CONFIRMED:
        return "confirmed";
    case IL_GUARD_OPENS_UNAPPROVED:
        return "approvals";
    case IL_GUARD_OPENS_FAULT:
        return "fault";
    }
    return "unknown";
}

/* Every clause, with what its absence opens; an empty list says that it protects no region. */
static il_json *report_guards(report *r) {
    il_json *list = report_list(r);
    for (uint32_t a = 0; a < r->m->nactions; a++) {
        for (uint32_t k = 0; k < r->m->actions[a].nclauses; k++) {
            il_json *o = report_object(r);
            il_json *opens = report_list(r);
            report_set(r, o, "action", report_str(r, r->m->actions[a].name));
            report_set(r, o, "clause", report_number(r, k + 1));
            report_set(r, o, "rule", report_str(r, r->m->rules[r->m->actions[a].clauses[k].rule - 1].name));
            for (const il_guard_result *g = r->h->guards; g; g = g->next) {
                if (g->action == a && g->clause == k) {
                    il_json *one = report_object(r);
                    report_set(r, one, "what", report_word(r, report_opens(g->opens)));
                    report_set(r, one, "region", report_region(r, g->region));
                    report_set(r, one, "witness", report_trace(r, &g->witness));
                    report_push(r, opens, one);
                }
            }
            report_set(r, o, "opens", opens);
            report_push(r, list, o);
        }
    }
    return list;
}

static il_json *report_mediation(report *r) {
    il_json *list = report_list(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        il_json *o = report_object(r);
        report_set(r, o, "variable", report_str(r, r->m->vars[v].name));
        report_set(r, o, "raised_by", report_actions(r, r->h->writers[v].raised_by));
        report_set(r, o, "lowered_by", report_actions(r, r->h->writers[v].lowered_by));
        report_push(r, list, o);
    }
    return list;
}

static il_json *report_symbols(report *r) {
    il_json *list = report_list(r);
    for (uint32_t i = 0; r->h->table.n > 0 && i < r->m->nsymbols; i++) {
        if (!r->h->symbol_accepted[i]) {
            il_buf b;
            il_str text = {0};
            il_buf_init(&b, r->arena, 4096);
            il_model_symbol_text(r->m, i, &b);
            r->failed = il_buf_done(&b, &text, NULL) != IL_OK || r->failed;
            report_push(r, list, report_str(r, text));
        }
    }
    return list;
}

static il_json *report_rules(report *r) {
    il_json *list = report_list(r);
    for (uint32_t i = 0; r->h->table.n > 0 && i < r->m->nrules; i++) {
        if (!r->h->rule_fired[i]) {
            report_push(r, list, report_str(r, r->m->rules[i].name));
        }
    }
    return list;
}

static il_json *report_controls(report *r) {
    static const char *const states[] = {"not run", "failed as it must", "BROKEN", "not needed"};
    il_json *list = report_list(r);
    for (const il_control *c = r->h->controls; c; c = c->next) {
        il_json *o = report_object(r);
        report_set(r, o, "id", report_word(r, c->id));
        report_set(r, o, "what", report_word(r, c->what));
        report_set(r, o, "state", report_word(r, states[c->state]));
        report_push(r, list, o);
    }
    return list;
}

static il_json *report_concessions(report *r) {
    il_json *list = report_list(r);
    for (uint32_t k = 0; k < r->m->nregions; k++) {
        if (r->h->concessions[k].found) {
            il_json *o = report_object(r);
            report_set(r, o, "region", report_region(r, k));
            report_set(r, o, "lowered_by", report_actions(r, r->h->subject.lowers));
            report_set(r, o, "witness", report_trace(r, &r->h->concessions[k]));
            report_push(r, list, o);
        }
    }
    return list;
}

static il_json *report_recovery(report *r) {
    if (!r->h->recovery.ran) {
        return il_json_make(r->arena, IL_JSON_NULL);
    }
    il_json *o = report_object(r);
    report_set(r, o, "danger", report_number(r, r->h->recovery.danger));
    report_set(r, o, "longest", report_number(r, r->h->recovery.longest));
    report_set(r, o, "strength", report_word(r, r->h->recovery.strong ? "STRONG" : "NONE"));
    report_set(r, o, "robust", il_json_boolean(r->arena, r->h->recovery.robust));
    report_set(r, o, "result", report_word(r, "containment"));
    return o;
}

static il_json *report_table(report *r) {
    il_json *o = report_object(r);
    report_set(r, o, "states", report_number(r, r->h->states));
    report_set(r, o, "symbols", report_number(r, r->m->nsymbols));
    report_set(r, o, "edges", report_number(r, r->h->edges));
    report_set(r, o, "depth", report_number(r, r->h->depth));
    report_set(r, o, "sha256", r->h->table.n > 0 ? report_digest(r, r->h->table_digest) : il_json_make(r->arena, IL_JSON_NULL));
    return o;
}

static il_json *report_limits(report *r) {
    static const char *const lines[] = {
        "that every call gets the symbol that its effects deserve (labels and vouching are trusted)",
        "that the ledger keeps one order of steps (storage is trusted)", "what an agent does outside the tools that are gated",
        "side channels: which calls are denied, and when", "that a human who approves looks at what is approved"};
    il_json *list = report_list(r);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        report_push(r, list, report_word(r, lines[i]));
    }
    return list;
}

il_status il_harden_object(const il_harden *h, il_arena *arena, il_json **out, il_error *err) {
    report r = {.arena = arena, .h = h, .m = h->subject.m};
    il_json *o = report_object(&r);
    il_json *inputs = report_object(&r);
    il_json *bounds = report_object(&r);
    uint64_t raise = 0;
    uint64_t lower = 0;
    il_unmediated_writes(h, &raise, &lower);
    report_set(&r, inputs, "machine", report_digest(&r, h->subject.m->digest));
    report_set(&r, bounds, "states", report_number(&r, h->subject.bounds.states));
    report_set(&r, bounds, "hit", il_json_boolean(arena, h->bounded));
    report_set(&r, o, "schema", report_number(&r, 1));
    report_set(&r, o, "tool", report_word(&r, "interlock"));
    report_set(&r, o, "version", report_word(&r, il_version()));
    report_set(&r, o, "machine", report_str(&r, h->subject.m->name));
    report_set(&r, o, "inputs", inputs);
    report_set(&r, o, "table", report_table(&r));
    report_set(&r, o, "bounds", bounds);
    report_set(&r, o, "checks", report_checks(&r));
    report_set(&r, o, "guards", report_guards(&r));
    report_set(&r, o, "mediation", report_mediation(&r));
    report_set(&r, o, "unmediated", report_vars(&r, raise | lower));
    report_set(&r, o, "concessions", report_concessions(&r));
    report_set(&r, o, "recovery", report_recovery(&r));
    report_set(&r, o, "frozen", report_vars(&r, h->table.n > 0 ? h->frozen : 0));
    report_set(&r, o, "never_fired", report_rules(&r));
    report_set(&r, o, "never_accepted", report_symbols(&r));
    report_set(&r, o, "idle_gates", report_actions(&r, h->table.n > 0 ? h->idle_gates : 0));
    report_set(&r, o, "controls", report_controls(&r));
    report_set(&r, o, "not_established", report_limits(&r));
    report_set(&r, o, "fully_mediated", il_json_boolean(arena, h->fully_mediated));
    report_set(&r, o, "verdict", report_word(&r, il_harden_verdict(h)));
    report_set(&r, o, "exit", report_number(&r, (uint64_t)h->exit));
    il_json *certificate = il_json_make(arena, IL_JSON_NULL);
    if (h->certificate.n > 0) {
        uint8_t digest[IL_DIGEST_BYTES];
        il_sha256_of(h->certificate, digest);
        certificate = report_object(&r);
        report_set(&r, certificate, "sha256", report_digest(&r, digest));
    }
    report_set(&r, o, "certificate", certificate);
    for (const il_section *k = h->sections; k; k = k->next) {
        (void)il_json_remove(o, il_str_of(k->key)); /* what an instrument of its own says stands in for a summary */
        report_set(&r, o, k->key, k->object);
    }
    if (r.failed) {
        return il_arena_fail(arena, err);
    }
    *out = o;
    return IL_OK;
}

il_status il_harden_json(const il_json *object, il_arena *arena, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, arena, (size_t)64 << 20);
    il_json_write(&b, object, IL_JSON_SORTED);
    return il_buf_done(&b, out, err);
}
