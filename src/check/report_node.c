/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"
#include "check/report.h"

void il_report_set(il_report *r, il_json *o, const char *key, il_json *v) {
    r->failed = !il_json_set(o, il_str_of(key), v) || r->failed;
}
void il_report_push(il_report *r, il_json *list, il_json *v) { r->failed = !il_json_push(list, v) || r->failed; }
il_json *il_report_object(il_report *r) { return il_json_make(r->arena, IL_JSON_OBJECT); }
il_json *il_report_list(il_report *r) { return il_json_make(r->arena, IL_JSON_ARRAY); }
il_json *il_report_str(il_report *r, il_str s) { return il_json_string(r->arena, s); }
il_json *il_report_word(il_report *r, const char *z) { return il_json_string(r->arena, il_str_of(z)); }
il_json *il_report_number(il_report *r, uint64_t v) { return il_json_number(r->arena, (int64_t)v); }

il_json *il_report_null(il_report *r) { return il_json_make(r->arena, IL_JSON_NULL); }
il_json *il_report_bool(il_report *r, bool v) { return il_json_boolean(r->arena, v); }

il_json *il_report_buf(il_report *r, il_buf *b) {
    il_str text = {0};
    r->failed = il_buf_done(b, &text, NULL) != IL_OK || r->failed;
    return il_report_str(r, text);
}

il_json *il_report_copy(il_report *r, const char *text, size_t n) {
    il_str s = {0};
    r->failed = il_arena_copy(r->arena, (il_str){text, n}, &s, NULL) != IL_OK || r->failed;
    return il_report_str(r, s);
}

static il_json *report_hex(il_report *r, uint64_t state) {
    char text[24];
    size_t n = il_format(text, sizeof text, "%llx", (unsigned long long)state);
    return il_report_copy(r, text, n);
}

il_json *il_report_digest(il_report *r, const uint8_t digest[IL_DIGEST_BYTES]) {
    char text[IL_DIGEST_HEX];
    il_digest_hex(digest, text);
    return il_report_copy(r, text, IL_DIGEST_HEX - 1);
}

il_json *il_report_vars(il_report *r, uint64_t vars) {
    il_json *list = il_report_list(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        if (vars >> v & 1) {
            il_report_push(r, list, il_report_str(r, r->m->vars[v].name));
        }
    }
    return list;
}

il_json *il_report_actions(il_report *r, uint64_t actions) {
    il_json *list = il_report_list(r);
    for (uint32_t a = 0; a < r->m->nactions; a++) {
        if (actions >> a & 1) {
            il_report_push(r, list, il_report_str(r, r->m->actions[a].name));
        }
    }
    return list;
}

static il_json *report_payload(il_report *r, uint32_t symbol) {
    const il_action_def *a = &r->m->actions[r->m->symbol_action[symbol]];
    il_json *o = il_report_object(r);
    for (uint32_t f = 0; f < a->nfields; f++) {
        r->failed =
            !il_json_set(o, a->fields[f], il_report_str(r, a->field_domains[f].names[il_model_field_value(r->m, symbol, f)])) ||
            r->failed;
    }
    return o;
}

/* What the machine as it is says of the step; a witness of a variant or a havoc may take steps that it refuses. */
static void report_verdict(il_report *r, il_json *o, const il_trace_step *s) {
    il_step step = il_model_eval(r->m, NULL, s->pre, s->symbol).step;
    il_report_set(r, o, "verdict",
                  il_report_word(r, step.verdict == IL_ACCEPT   ? "accept"
                                    : step.verdict == IL_REJECT ? "reject"
                                                                : "fault"));
    bool ruled = step.verdict == IL_REJECT && step.reason > 0 && step.reason <= r->m->nrules;
    il_report_set(r, o, "reason", ruled ? il_report_str(r, r->m->rules[step.reason - 1].name) : il_report_null(r));
}

void il_report_step(il_report *r, il_json *o, uint64_t state, il_step step) {
    bool ruled = step.verdict == IL_REJECT && step.reason > 0 && step.reason <= r->m->nrules;
    il_report_set(r, o, "verdict",
                  il_report_word(r, step.verdict == IL_ACCEPT   ? "accept"
                                    : step.verdict == IL_REJECT ? "reject"
                                                                : "fault"));
    il_report_set(r, o, "reason", ruled ? il_report_str(r, r->m->rules[step.reason - 1].name) : il_report_null(r));
    il_report_set(r, o, "held", il_report_state(r, step.verdict == IL_ACCEPT ? step.next : state));
}

il_json *il_report_state(il_report *r, uint64_t state) {
    il_json *o = il_report_object(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        uint32_t value = il_model_get(r->m, state, v);
        if (value != 0) {
            r->failed = !il_json_set(o, r->m->vars[v].name, il_report_str(r, r->m->vars[v].domain.names[value])) || r->failed;
        }
    }
    return o;
}

/* What a step changes, with its new values. */
static il_json *report_gained(il_report *r, uint64_t pre, uint64_t post) {
    il_json *o = il_report_object(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        uint32_t value = il_model_get(r->m, post, v);
        if (value != il_model_get(r->m, pre, v)) {
            r->failed = !il_json_set(o, r->m->vars[v].name, il_report_str(r, r->m->vars[v].domain.names[value])) || r->failed;
        }
    }
    return o;
}

static il_json *report_brief(il_report *r, uint32_t symbol) {
    il_buf b;
    il_buf_init(&b, r->arena, 8192);
    il_model_symbol_brief(r->m, symbol, &b);
    return il_report_buf(r, &b);
}

il_json *il_report_trace(il_report *r, const il_trace *t) {
    if (!t->found) {
        return il_report_null(r);
    }
    il_json *list = il_report_list(r);
    for (uint32_t i = 0; i < t->n; i++) {
        const il_trace_step *s = &t->steps[i];
        il_json *o = il_report_object(r);
        uint64_t changed = 0;
        for (uint32_t v = 0; v < r->m->nvars; v++) {
            changed |= il_model_get(r->m, s->pre, v) != il_model_get(r->m, s->post, v) ? UINT64_C(1) << v : 0;
        }
        il_report_set(r, o, "seq", il_report_number(r, i + 1));
        il_report_set(r, o, "pre", report_hex(r, s->pre));
        il_report_set(r, o, "post", report_hex(r, s->post));
        il_report_set(r, o, "changed", il_report_vars(r, changed));
        il_report_set(r, o, "gained", report_gained(r, s->pre, s->post));
        il_report_set(r, o, "held", il_report_state(r, s->post));
        if (s->symbol == IL_NO_SYMBOL) {
            il_report_set(r, o, "principal", il_report_word(r, "adversary"));
            il_report_set(r, o, "write", il_report_str(r, r->m->vars[s->var].name));
            il_report_set(r, o, "value", il_report_str(r, r->m->vars[s->var].domain.names[s->value]));
        } else {
            const il_action_def *a = &r->m->actions[r->m->symbol_action[s->symbol]];
            il_report_set(r, o, "principal", il_report_word(r, il_principal_name(a->principal)));
            il_report_set(r, o, "action", il_report_str(r, a->name));
            il_report_set(r, o, "step", report_brief(r, s->symbol));
            il_report_set(r, o, "payload", report_payload(r, s->symbol));
            report_verdict(r, o, s);
        }
        il_report_push(r, list, o);
    }
    return list;
}

il_json *il_report_region(il_report *r, uint32_t region) {
    return region < r->m->nregions ? il_report_str(r, r->m->regions[region].name) : il_report_null(r);
}
