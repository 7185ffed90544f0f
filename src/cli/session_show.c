/* SPDX-License-Identifier: Apache-2.0 */
/* `session show`: state, every decision, what is open, what waits. */
#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "cli/output.h"
#include "cli/session.h"
#include "policy/interbolt.h"

static bool show_add(il_json *object, const char *key, il_json *value) { return il_json_set(object, il_str_of(key), value); }

static il_json *show_text(il_view *v, il_str s) {
    return s.n ? il_json_string(&v->arena, s) : il_json_make(&v->arena, IL_JSON_NULL);
}

static il_json *show_number(il_view *v, uint64_t n) {
    return il_json_number(&v->arena, (int64_t)(n > INT64_MAX ? INT64_MAX : n));
}

static il_json *show_digest(il_view *v, const uint8_t digest[IL_DIGEST_BYTES]) {
    char *hex = il_arena_bytes(&v->arena, IL_DIGEST_HEX);
    if (!hex) {
        return NULL;
    }
    il_digest_hex(digest, hex);
    return il_json_string(&v->arena, (il_str){hex, IL_DIGEST_HEX - 1});
}

static bool show_is_decision(const il_view_row *row) { return il_str_eq(row->kind, IL_STR("decision")); }

static const char *show_slot(const il_slot *slot) { return slot->state == IL_SLOT_GRANTED ? "granted" : "asked"; }

/* A member of a row's body again, by reference. */
static il_json *show_member(il_view *v, const il_view_row *row, const char *member) {
    const il_json *value = il_json_get(row->body, il_str_of(member));
    return value ? il_json_shallow(&v->arena, value) : il_json_make(&v->arena, IL_JSON_NULL);
}

/* Which request a call waits for or used up, and what became of it. */
static il_json *show_request(il_view *v, const il_view_row *row) {
    const il_str id = il_view_text(row, "approval");
    const il_view_answer a = il_view_answered(v, id);
    il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
    if (!id.n) {
        return il_json_make(&v->arena, IL_JSON_NULL);
    }
    return show_add(o, "id", show_text(v, id)) && show_add(o, "state", show_text(v, il_str_of(a.state))) &&
                   show_add(o, "by", show_text(v, a.by))
               ? o
               : NULL;
}

static il_json *show_state(il_view *v) {
    il_json *state = il_json_make(&v->arena, IL_JSON_OBJECT);
    for (uint32_t i = 0; i < il_machine_vars(v->machine); i++) {
        const il_str value = il_machine_value_name(v->machine, i, il_machine_value(v->machine, v->session.state, i));
        if (!il_json_set(state, il_machine_var_name(v->machine, i), il_json_string(&v->arena, value))) {
            return NULL;
        }
    }
    return state;
}

static il_json *show_calls(il_view *v) {
    il_json *list = il_json_make(&v->arena, IL_JSON_ARRAY);
    static const char *const members[] = {"tool", "effects", "action", "layer", "reason", "run"};
    for (size_t i = 0; i < v->nrows; i++) {
        const il_view_row *row = &v->rows[i];
        if (!show_is_decision(row)) {
            continue;
        }
        il_json *call = il_json_make(&v->arena, IL_JSON_OBJECT);
        bool made =
            show_add(call, "ticket", show_number(v, row->ticket)) && show_add(call, "time_ms", show_number(v, row->time_ms));
        for (size_t m = 0; m < sizeof members / sizeof members[0] && made; m++) {
            made = show_add(call, members[m], show_member(v, row, members[m]));
        }
        made = made && show_add(call, "request", show_request(v, row)) &&
               show_add(call, "settled", show_text(v, il_view_settled(v, row)));
        if (!made || !il_json_push(list, call)) {
            return NULL;
        }
    }
    return list;
}

/* When a human typed something, and the digest of it. */
static il_json *show_said(il_view *v) {
    il_json *list = il_json_make(&v->arena, IL_JSON_ARRAY);
    for (size_t i = 0; i < v->nrows; i++) {
        const il_view_row *row = &v->rows[i];
        if (!il_str_eq(row->kind, IL_STR("say"))) {
            continue;
        }
        il_json *said = il_json_make(&v->arena, IL_JSON_OBJECT);
        const bool made =
            show_add(said, "time_ms", show_number(v, row->time_ms)) && show_add(said, "digest", show_member(v, row, "digest"));
        if (!made || !il_json_push(list, said)) {
            return NULL;
        }
    }
    return list;
}

static il_json *show_open(il_view *v) {
    il_json *list = il_json_make(&v->arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < v->session.ntickets; i++) {
        const il_ticket *t = &v->session.tickets[i];
        il_json *open = il_json_make(&v->arena, IL_JSON_OBJECT);
        const bool made = show_add(open, "ticket", show_number(v, t->id)) &&
                          show_add(open, "tool", show_text(v, il_str_of(t->tool))) &&
                          show_add(open, "effects", il_json_effects(&v->arena, t->effects)) &&
                          show_add(open, "deadline_ms", show_number(v, t->deadline_ms));
        if (!made || !il_json_push(list, open)) {
            return NULL;
        }
    }
    return list;
}

static il_json *show_approvals(il_view *v) {
    il_json *list = il_json_make(&v->arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        const il_slot *slot = &v->session.slots[i];
        if (slot->state == IL_SLOT_FREE) {
            continue;
        }
        il_json *a = il_json_make(&v->arena, IL_JSON_OBJECT);
        const bool made = show_add(a, "id", show_text(v, il_str_of(slot->id))) &&
                          show_add(a, "state", show_text(v, il_str_of(show_slot(slot)))) &&
                          show_add(a, "tool", show_text(v, il_str_of(slot->tool))) &&
                          show_add(a, "effects", il_json_effects(&v->arena, slot->effects)) &&
                          show_add(a, "reason", show_text(v, il_view_held(v, slot))) &&
                          show_add(a, "expires_ms", show_number(v, slot->expires_ms));
        if (!made || !il_json_push(list, a)) {
            return NULL;
        }
    }
    return list;
}

static il_status show_json(il_view *v, il_error *err) {
    const il_session *s = &v->session;
    il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
    bool made =
        show_add(o, "id", show_text(v, v->id)) && show_add(o, "version", show_number(v, v->version)) &&
        show_add(o, "begun_ms", show_number(v, s->begun_ms)) && show_add(o, "seen_ms", show_number(v, s->seen_ms)) &&
        show_add(o, "policy", show_digest(v, s->policy)) && show_add(o, "machine", show_text(v, il_machine_name(v->machine))) &&
        show_add(o, "principal", show_text(v, il_str_of(s->principal))) &&
        show_add(o, "parent", show_text(v, il_str_of(s->parent))) &&
        show_add(o, "unenforced", il_json_boolean(&v->arena, s->unenforced)) &&
        show_add(o, "quarantined", il_json_boolean(&v->arena, s->quarantined)) && show_add(o, "state", show_state(v)) &&
        show_add(o, "counted", il_json_effects(&v->arena, s->counted)) && show_add(o, "said", show_said(v)) &&
        show_add(o, "calls", show_calls(v)) && show_add(o, "open", show_open(v)) && show_add(o, "approvals", show_approvals(v));
    return made ? il_put_json(stdout, o, err) : il_arena_fail(&v->arena, err);
}

static void show_head(const il_view *v) {
    char fingerprint[IL_DIGEST_HEX];
    const il_session *s = &v->session;
    il_digest_hex(s->policy, fingerprint);
    (void)fputs("session ", stdout);
    il_put_text(stdout, v->id);
    (void)fputs("\n  begun     ", stdout);
    il_put_time(stdout, s->begun_ms);
    (void)fputs("\n  changed   ", stdout);
    il_put_time(stdout, s->seen_ms);
    (void)printf("\n  policy    %.16s..., machine ", fingerprint);
    il_put_text(stdout, il_machine_name(v->machine));
    (void)fputs(il_str_eq(il_machine_name(v->machine), IL_STR(IL_INTERBOLT_MACHINE))
                    ? " (no regions: it rejects nothing, the policy's rules alone decide)"
                    : "",
                stdout);
    if (s->principal[0]) {
        (void)fputs("\n  principal ", stdout);
        il_put_text(stdout, il_str_of(s->principal));
    }
    if (s->parent[0]) {
        (void)fputs("\n  parent    ", stdout);
        il_put_text(stdout, il_str_of(s->parent));
    }
    (void)fputs("\n  state    ", stdout);
    for (uint32_t i = 0; i < il_machine_vars(v->machine); i++) {
        const il_str value = il_machine_value_name(v->machine, i, il_machine_value(v->machine, s->state, i));
        (void)printf(" %.*s=%.*s", IL_STR_ARG(il_machine_var_name(v->machine, i)), IL_STR_ARG(value));
    }
    (void)fputc('\n', stdout);
    if (s->quarantined) {
        (void)puts("  QUARANTINED: every call is denied");
    }
    if (s->unenforced) {
        (void)puts("  NOT ENFORCED: began in mode monitor, denied calls may have run");
    }
}

/* `, request ID approved by NAME` behind a decision. */
static void show_request_text(const il_view *v, const il_view_row *row) {
    const il_str id = il_view_text(row, "approval");
    const il_view_answer a = il_view_answered(v, id);
    if (!id.n) {
        return;
    }
    const bool used = strcmp(a.state, "used") == 0;
    (void)fputs(", request ", stdout);
    il_put_text(stdout, id);
    (void)printf(" %s", !a.state[0] ? "(no record of it)" : used ? "approved" : a.state);
    if (a.by.n) {
        (void)fputs(used || strcmp(a.state, "denied") == 0 ? " by " : ", answered by ", stdout);
        il_put_text(stdout, a.by);
    }
    (void)fputs(used && !il_str_eq(il_view_text(row, "action"), IL_STR("allow")) ? " and used" : "", stdout);
}

/* `note` has 30 bytes of what web.fetch (call 2) brought */
static void show_laundering_text(const il_view_row *row) {
    const il_json *from = il_json_get(row->body, IL_STR("from"));
    int64_t bytes = 0, ticket = 0;
    (void)il_json_int(il_json_get(row->body, IL_STR("bytes")), &bytes);
    (void)fputs("        laundering? `", stdout);
    il_put_text(stdout, il_view_text(row, "argument"));
    (void)printf("` has %" PRId64 " bytes of what ", bytes);
    if (il_json_int(il_json_get(from, IL_STR("ticket")), &ticket)) {
        il_put_text(stdout, il_json_text(il_json_get(from, IL_STR("tool"))));
        (void)printf(" (call %" PRId64 ") brought", ticket);
    } else {
        (void)fputs("reached the agent without a call", stdout);
    }
    (void)puts(il_json_bool(il_json_get(row->body, IL_STR("compared"))) ? "" : ", by its fingerprints");
}

static void show_said_text(const il_view_row *row) {
    (void)fputs("     -  ", stdout);
    il_put_time(stdout, row->time_ms);
    (void)fputs("  a human typed something (sha256 ", stdout);
    il_put_text(stdout, il_str_part(il_view_text(row, "digest"), 0, 16));
    (void)puts("...)");
}

static void show_calls_text(const il_view *v) {
    (void)puts("\n  call  time                      tool                          effects               decision");
    for (size_t i = 0; i < v->nrows; i++) {
        const il_view_row *row = &v->rows[i];
        char call[24] = "-";
        if (il_str_eq(row->kind, IL_STR("laundering"))) {
            show_laundering_text(row);
        } else if (il_str_eq(row->kind, IL_STR("say"))) {
            show_said_text(row);
        }
        if (!show_is_decision(row)) {
            continue;
        }
        if (row->ticket) {
            (void)snprintf(call, sizeof call, "%" PRIu64, row->ticket);
        }
        (void)printf("  %4s  ", call);
        il_put_time(stdout, row->time_ms);
        (void)fputs("  ", stdout);
        il_put_cell(stdout, il_view_text(row, "tool"), 28);
        (void)fputs("  ", stdout);
        il_put_effects_cell(stdout, il_view_effects(il_json_get(row->body, IL_STR("effects"))), 20);
        (void)fputs("  ", stdout);
        il_put_text(stdout, il_view_text(row, "action"));
        if (il_view_text(row, "reason").n) {
            (void)fputs(" (", stdout);
            il_put_text(stdout, il_view_text(row, "layer"));
            (void)fputs(": ", stdout);
            il_put_text(stdout, il_view_text(row, "reason"));
            (void)fputc(')', stdout);
        }
        show_request_text(v, row);
        if (il_json_bool(il_json_get(row->body, IL_STR("unenforced"))) &&
            !il_str_eq(il_view_text(row, "action"), IL_STR("allow"))) {
            (void)fputs(" but it ran", stdout);
        }
        (void)fputs(il_view_unanswered(il_view_settled(v, row)), stdout);
        (void)fputc('\n', stdout);
    }
}

static void show_open_text(const il_view *v) {
    for (uint32_t i = 0; i < v->session.ntickets; i++) {
        const il_ticket *t = &v->session.tickets[i];
        (void)printf("  open: call %" PRIu64 " ", t->id);
        il_put_text(stdout, il_str_of(t->tool));
        (void)fputs(" [", stdout);
        il_put_effects(stdout, t->effects);
        (void)fputs("], counts as its worst after ", stdout);
        il_put_time(stdout, t->deadline_ms);
        (void)fputc('\n', stdout);
    }
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        const il_slot *slot = &v->session.slots[i];
        if (slot->state == IL_SLOT_FREE) {
            continue;
        }
        (void)printf("  approval %s: ", show_slot(slot));
        il_put_text(stdout, il_str_of(slot->id));
        (void)fputs(" for ", stdout);
        il_put_text(stdout, il_str_of(slot->tool));
        (void)fputs(", until ", stdout);
        il_put_time(stdout, slot->expires_ms);
        (void)fputc('\n', stdout);
    }
}

il_status il_session_show(il_view *v, bool json, il_error *err) {
    if (json) {
        return show_json(v, err);
    }
    show_head(v);
    if (v->erased || v->nrows == 0) {
        (void)puts("  rows      pruned: which calls it made is not kept any more");
    }
    show_calls_text(v);
    show_open_text(v);
    return IL_OK;
}
