/* SPDX-License-Identifier: Apache-2.0 */
/* The report as canonical JSON. Built as nodes and written sorted, so that equal results are equal bytes. */
#include "check/report.h"

#include "base/sha256.h"
#include "check/parts.h"

/* The smallest sets of variables that havoc named for a region. */
static il_json *report_names(il_report *r, const il_harden *h, const il_check *c) {
    bool laundered = il_str_eq(il_str_of(c->id), IL_STR("havoc-laundered"));
    il_json *list = il_report_list(r);
    for (const il_havoc_set *s = h->havoc; s; s = s->next) {
        if (s->region == c->region && s->laundered == laundered) {
            il_json *o = il_report_object(r);
            il_report_set(r, o, "variables", il_report_vars(r, s->vars));
            il_report_set(r, o, "witness", il_report_trace(r, &s->witness));
            il_report_push(r, list, o);
        }
    }
    return list;
}

static il_json *report_checks(il_report *r, const il_harden *h) {
    il_json *list = il_report_list(r);
    for (const il_check *c = h->checks; c; c = c->next) {
        il_json *o = il_report_object(r);
        il_report_set(r, o, "id", il_report_word(r, c->id));
        il_report_set(r, o, "region", il_report_region(r, c->region));
        il_report_set(r, o, "verdict", il_report_word(r, il_check_verdict_name(c->verdict)));
        il_report_set(r, o, "bound_hit", il_json_boolean(r->arena, c->bound_hit));
        il_report_set(r, o, "states", il_report_number(r, c->states));
        il_report_set(r, o, "edges", il_report_number(r, c->edges));
        il_report_set(r, o, "depth", il_report_number(r, c->depth));
        il_report_set(r, o, "finding", c->finding ? il_report_word(r, c->finding) : il_json_make(r->arena, IL_JSON_NULL));
        il_report_set(r, o, "detail", il_report_str(r, c->detail));
        il_report_set(r, o, "witness", il_report_trace(r, &c->witness));
        if (il_str_starts(il_str_of(c->id), IL_STR("havoc"))) {
            const bool laundered = il_str_eq(il_str_of(c->id), IL_STR("havoc-laundered"));
            il_report_set(r, o, "names", report_names(r, h, c));
            il_report_set(r, o, "names_cut", il_json_boolean(r->arena, h->unnamed[laundered] >> c->region & 1));
        }
        if (il_str_eq(il_str_of(c->id), IL_STR("gates")) && r->m->regions[c->region].gated) {
            il_report_set(r, o, "gates_needed", il_report_actions(r, h->gate_sets[c->region]));
        }
        il_report_push(r, list, o);
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
static il_json *report_guards(il_report *r, const il_harden *h) {
    il_json *list = il_report_list(r);
    for (uint32_t a = 0; a < r->m->nactions; a++) {
        for (uint32_t k = 0; k < r->m->actions[a].nclauses; k++) {
            il_json *o = il_report_object(r);
            il_json *opens = il_report_list(r);
            il_report_set(r, o, "action", il_report_str(r, r->m->actions[a].name));
            il_report_set(r, o, "clause", il_report_number(r, k + 1));
            il_report_set(r, o, "rule", il_report_str(r, r->m->rules[r->m->actions[a].clauses[k].rule - 1].name));
            for (const il_guard_result *g = h->guards; g; g = g->next) {
                if (g->action == a && g->clause == k) {
                    il_json *one = il_report_object(r);
                    il_report_set(r, one, "what", il_report_word(r, report_opens(g->opens)));
                    il_report_set(r, one, "region", il_report_region(r, g->region));
                    il_report_set(r, one, "witness", il_report_trace(r, &g->witness));
                    il_report_push(r, opens, one);
                }
            }
            il_report_set(r, o, "opens", opens);
            il_report_push(r, list, o);
        }
    }
    return list;
}

static il_json *report_mediation(il_report *r, const il_harden *h) {
    il_json *list = il_report_list(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        il_json *o = il_report_object(r);
        il_report_set(r, o, "variable", il_report_str(r, r->m->vars[v].name));
        il_report_set(r, o, "raised_by", il_report_actions(r, h->writers[v].raised_by));
        il_report_set(r, o, "lowered_by", il_report_actions(r, h->writers[v].lowered_by));
        il_report_push(r, list, o);
    }
    return list;
}

static il_json *report_symbols(il_report *r, const il_harden *h) {
    il_json *list = il_report_list(r);
    for (uint32_t i = 0; h->table.n > 0 && i < r->m->nsymbols; i++) {
        if (!h->symbol_accepted[i]) {
            il_buf b;
            il_str text = {0};
            il_buf_init(&b, r->arena, 4096);
            il_model_symbol_text(r->m, i, &b);
            r->failed = il_buf_done(&b, &text, NULL) != IL_OK || r->failed;
            il_report_push(r, list, il_report_str(r, text));
        }
    }
    return list;
}

static il_json *report_rules(il_report *r, const il_harden *h) {
    il_json *list = il_report_list(r);
    for (uint32_t i = 0; h->table.n > 0 && i < r->m->nrules; i++) {
        if (!h->rule_fired[i]) {
            il_report_push(r, list, il_report_str(r, r->m->rules[i].name));
        }
    }
    return list;
}

static il_json *report_controls(il_report *r, const il_harden *h) {
    static const char *const states[] = {"not run", "failed as it must", "BROKEN", "not needed"};
    il_json *list = il_report_list(r);
    for (const il_control *c = h->controls; c; c = c->next) {
        il_json *o = il_report_object(r);
        il_report_set(r, o, "id", il_report_word(r, c->id));
        il_report_set(r, o, "what", il_report_word(r, c->what));
        il_report_set(r, o, "state", il_report_word(r, states[c->state]));
        il_report_push(r, list, o);
    }
    return list;
}

static il_json *report_concessions(il_report *r, const il_harden *h) {
    il_json *list = il_report_list(r);
    for (uint32_t k = 0; k < r->m->nregions; k++) {
        if (h->concessions[k].found) {
            il_json *o = il_report_object(r);
            il_report_set(r, o, "region", il_report_region(r, k));
            il_report_set(r, o, "lowered_by", il_report_actions(r, h->subject.lowers));
            il_report_set(r, o, "witness", il_report_trace(r, &h->concessions[k]));
            il_report_push(r, list, o);
        }
    }
    return list;
}

/* Checks that hold for a reason which has nothing to do with what they check. */
static il_json *report_vacuity(il_report *r, const il_harden *h) {
    il_json *list = il_report_list(r);
    for (const il_check *c = h->checks; c; c = c->next) {
        if (c->verdict == IL_CHECK_VACUOUS) {
            il_json *o = il_report_object(r);
            il_report_set(r, o, "check", il_report_word(r, c->id));
            il_report_set(r, o, "region", il_report_region(r, c->region));
            il_report_set(r, o, "finding", c->finding ? il_report_word(r, c->finding) : il_report_null(r));
            il_report_push(r, list, o);
        }
    }
    return list;
}

static il_json *report_table(il_report *r, const il_harden *h) {
    il_json *o = il_report_object(r);
    il_report_set(r, o, "states", il_report_number(r, h->states));
    il_report_set(r, o, "symbols", il_report_number(r, r->m->nsymbols));
    il_report_set(r, o, "edges", il_report_number(r, h->edges));
    il_report_set(r, o, "depth", il_report_number(r, h->depth));
    il_report_set(r, o, "sha256", h->table.n > 0 ? il_report_digest(r, h->table_digest) : il_json_make(r->arena, IL_JSON_NULL));
    return o;
}

static il_json *report_limits(il_report *r) {
    static const char *const lines[] = {
        "that every call gets the symbol that its effects deserve (labels and vouching are trusted)",
        "that the ledger keeps one order of steps (storage is trusted)", "what an agent does outside the tools that are gated",
        "side channels: which calls are denied, and when", "that a human who approves looks at what is approved"};
    il_json *list = il_report_list(r);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        il_report_push(r, list, il_report_word(r, lines[i]));
    }
    return list;
}

il_status il_harden_object(const il_harden *h, il_arena *arena, il_json **out, il_error *err) {
    il_report r = {.arena = arena, .m = h->subject.m};
    il_json *o = il_report_object(&r);
    il_json *inputs = il_report_object(&r);
    il_json *bounds = il_report_object(&r);
    uint64_t raise = 0;
    uint64_t lower = 0;
    il_unmediated_writes(h, &raise, &lower);
    il_report_set(&r, inputs, "machine", il_report_digest(&r, h->subject.m->digest));
    il_report_set(&r, bounds, "states", il_report_number(&r, h->subject.bounds.states));
    il_report_set(&r, bounds, "work", il_report_number(&r, h->subject.bounds.work));
    il_report_set(&r, bounds, "hit", il_json_boolean(arena, h->bounded));
    il_report_set(&r, o, "schema", il_report_number(&r, 1));
    il_report_set(&r, o, "tool", il_report_word(&r, "interlock"));
    il_report_set(&r, o, "version", il_report_word(&r, il_version()));
    il_report_set(&r, o, "machine", il_report_str(&r, h->subject.m->name));
    il_report_set(&r, o, "inputs", inputs);
    il_report_set(&r, o, "table", report_table(&r, h));
    il_report_set(&r, o, "regions", il_report_regions(&r));
    il_report_set(&r, o, "variables", il_report_variables(&r));
    il_report_set(&r, o, "bounds", bounds);
    il_report_set(&r, o, "checks", report_checks(&r, h));
    il_report_set(&r, o, "vacuity", report_vacuity(&r, h));
    il_report_set(&r, o, "guards", report_guards(&r, h));
    il_report_set(&r, o, "mediation", report_mediation(&r, h));
    il_report_set(&r, o, "unmediated", il_report_vars(&r, raise | lower));
    il_report_set(&r, o, "concessions", report_concessions(&r, h));
    il_report_set(&r, o, "recovery", il_recovery_object(h->subject.m, &h->recovery, arena));
    il_report_set(&r, o, "survey", il_survey_object(h->subject.m, &h->survey, arena));
    il_report_set(&r, o, "frozen", il_report_vars(&r, h->table.n > 0 ? h->frozen : 0));
    il_report_set(&r, o, "never_fired", report_rules(&r, h));
    il_report_set(&r, o, "never_accepted", report_symbols(&r, h));
    il_report_set(&r, o, "idle_gates", il_report_actions(&r, h->table.n > 0 ? h->idle_gates : 0));
    il_report_set(&r, o, "controls", report_controls(&r, h));
    il_report_set(&r, o, "not_established", report_limits(&r));
    il_report_set(&r, o, "fully_mediated", il_json_boolean(arena, h->fully_mediated));
    il_report_set(&r, o, "verdict", il_report_word(&r, il_harden_verdict(h)));
    il_report_set(&r, o, "exit", il_report_number(&r, (uint64_t)il_harden_exit(h)));
    il_json *certificate = il_json_make(arena, IL_JSON_NULL);
    if (h->certificate.n > 0) {
        uint8_t digest[IL_DIGEST_BYTES];
        il_sha256_of(h->certificate, digest);
        certificate = il_report_object(&r);
        il_report_set(&r, certificate, "sha256", il_report_digest(&r, digest));
    }
    il_report_set(&r, o, "certificate", certificate);
    for (const il_section *k = h->sections; k; k = k->next) {
        (void)il_json_remove(o, il_str_of(k->key)); /* what an instrument of its own says stands in for a summary */
        il_report_set(&r, o, k->key, k->object);
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
