/* SPDX-License-Identifier: Apache-2.0 */
/* `session why`: which call first brought each effect that counts now, why the latest denial, and what would pass next. */
#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "cli/output.h"
#include "cli/session.h"
#include "policy/approval.h"
#include "policy/bind.h"
#include "policy/label.h"

/* What one could do next, in the machine's words. */
typedef struct why_next {
    const char *what;
    uint32_t effects;
    il_sink_word sink;
    uint32_t less; /* what a machine that does not tell these effects apart takes them for: then there is no such line */
} why_next;
static const why_next why_nexts[] = {
    {"a call without effects, or to a listed destination", 0, IL_SINK_NONE, UINT32_MAX},
    {"bringing untrusted content", IL_UNTRUSTED, IL_SINK_NONE, 0},
    {"reading private data", IL_SENSITIVE, IL_SINK_NONE, 0},
    {"sending once to a destination that is not listed", IL_EGRESS, IL_SINK_ONCE, 0},
    {"opening a standing way out", IL_EGRESS, IL_SINK_STANDING, 0},
    {"reading a credential", IL_SECRET, IL_SINK_NONE, IL_SENSITIVE},
    {"changing something for good", IL_COMMIT, IL_SINK_NONE, 0},
};
#define WHY_NEXTS (sizeof why_nexts / sizeof why_nexts[0])

static bool why_add(il_json *object, const char *key, il_json *value) { return il_json_set(object, il_str_of(key), value); }

static il_json *why_text(il_view *v, il_str s) {
    return s.n ? il_json_string(&v->arena, s) : il_json_make(&v->arena, IL_JSON_NULL);
}

static il_json *why_time(il_view *v, const il_view_row *row) {
    return row ? il_json_number(&v->arena, (int64_t)row->time_ms) : il_json_make(&v->arena, IL_JSON_NULL);
}

/* The latest decision that was not an allow. */
static const il_view_row *why_denial(const il_view *v) {
    for (size_t i = v->nrows; i-- > 0;) {
        if (il_str_eq(v->rows[i].kind, IL_STR("decision")) && !il_str_eq(il_view_text(&v->rows[i], "action"), IL_STR("allow"))) {
            return &v->rows[i];
        }
    }
    return NULL;
}

static bool why_told(const il_bind *bind, const why_next *next) {
    return next->less == UINT32_MAX ||
           il_bind_admit(bind, next->effects, next->sink, false) != il_bind_admit(bind, next->less, IL_SINK_NONE, false);
}

static il_step why_try(const il_view *v, const il_bind *bind, const why_next *next) {
    return il_machine_step(v->machine, v->session.state, il_bind_admit(bind, next->effects, next->sink, false));
}

/* Whether a human may release what the machine rejects. The policy's word is asked for with --policy; else the trail shows it: a call that
 * waited, or one that could have and did not. */
typedef enum why_release {
    WHY_DEPENDS = 0,
    WHY_WAITS,
    WHY_FULL,
    WHY_FINAL
} why_release; /* full: it may wait when one that is open is not any more */

static why_release why_recorded(const il_view *v, uint32_t effects, il_str rule) {
    why_release found = WHY_DEPENDS;
    for (size_t i = 0; i < v->nrows; i++) {
        const il_view_row *row = &v->rows[i];
        const uint32_t sinks = (uint32_t)(IL_EGRESS | IL_COMMIT);
        if (!il_str_eq(row->kind, IL_STR("decision")) || !il_str_eq(il_view_text(row, "reason"), rule) ||
            (il_view_effects(il_json_get(row->body, IL_STR("effects"))) & sinks) != (effects & sinks)) {
            continue;
        }
        if (il_str_eq(il_view_text(row, "action"), IL_STR("require_approval"))) {
            return WHY_WAITS; /* a block of the same kind before or after it had no free slot */
        }
        if (il_str_eq(il_view_text(row, "sink"), IL_STR("once"))) {
            found = WHY_FINAL;
        }
    }
    return found;
}

static bool why_policy_is(const il_view *v) {
    uint8_t fingerprint[IL_DIGEST_BYTES];
    if (!v->bundle) {
        return false;
    }
    il_policy_fingerprint(il_bundle_policy(v->bundle), fingerprint);
    return il_digest_eq(fingerprint, v->session.policy);
}

static why_release why_released(const il_view *v, const il_bind *bind, const why_next *next, uint8_t rule) {
    const uint32_t symbol = il_bind_admit(bind, next->effects, next->sink, true);
    if (!bind->approves || symbol == IL_NO_SYMBOL || !il_machine_releasable(v->machine, rule)) {
        return WHY_FINAL;
    }
    const bool room = il_machine_step(v->machine, v->session.state, il_bind_plain(bind, "request")).verdict == IL_ACCEPT;
    if (!room && il_session_requests(&v->session) < bind->slots) {
        return WHY_FINAL;
    }
    const il_step step = il_machine_step(v->machine, v->session.state, symbol);
    if (step.verdict != IL_ACCEPT && !il_str_eq(il_machine_reason(v->machine, step.reason), IL_STR("no-approval"))) {
        return WHY_FINAL;
    }
    const why_release found = !why_policy_is(v) ? why_recorded(v, next->effects, il_machine_reason(v->machine, rule))
                              : il_policy_may_release(il_bundle_policy(v->bundle), next->effects) ? WHY_WAITS
                                                                                                  : WHY_FINAL;
    return found == WHY_WAITS && !room ? WHY_FULL : found;
}

static bool why_standing(const il_view_row *denial) {
    return il_str_eq(il_view_text(denial, "layer"), IL_STR("machine")) &&
           il_str_eq(il_view_text(denial, "sink"), IL_STR("standing"));
}

/* What waits for a human, until when, and the command that answers it. */
static void why_request_text(const il_view *v, il_str id) {
    const il_view_answer a = il_view_answered(v, id);
    if (!id.n || !a.state[0]) {
        return;
    }
    const bool waits = strcmp(a.state, "waits") == 0, granted = strcmp(a.state, "granted") == 0;
    (void)fputs("  request ", stdout);
    il_put_text(stdout, id);
    (void)printf(": %s", granted ? "approved, not used yet" : strcmp(a.state, "used") == 0 ? "approved and used" : a.state);
    if (a.by.n) {
        (void)fputs(", answered by ", stdout);
        il_put_text(stdout, a.by);
    }
    if (waits || granted) {
        (void)fputs(waits ? " for a human until " : ", by exactly this call until ", stdout);
        il_put_time(stdout, a.expires_ms);
    }
    if (waits) {
        (void)fputs("\n  to release it once: interlock approvals approve ", stdout);
        il_put_text(stdout, id);
        if (v->ledger_flag) {
            (void)fputs(" --ledger ", stdout);
            il_put_text(stdout, il_str_of(v->ledger_flag));
        }
        if (v->policy_flag) {
            (void)fputs(" --policy ", stdout);
            il_put_text(stdout, il_str_of(v->policy_flag));
        }
    }
    (void)fputc('\n', stdout);
}

/* A witness: a call of this session, or (ticket 0) none. The row gives its time. */
static const il_view_row *why_row(const il_view *v, uint64_t ticket) {
    return ticket ? il_view_find(v, IL_STR("decision"), ticket) : NULL;
}

/* What counts now: stored witnesses, and calls in flight that keep a way out open. */
static void why_counts_text(const il_view *v) {
    bool any = false;
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        const il_witness *w = &v->session.witnesses[i];
        if (w->ticket == 0) {
            continue;
        }
        any = true;
        (void)fputs("  ", stdout);
        il_put_cell(stdout, il_effect_name(w->effect), 10);
        (void)printf(" since call %" PRIu64 ", ", w->ticket);
        il_put_text(stdout, il_str_of(w->tool));
        const il_view_row *row = why_row(v, w->ticket);
        if (row) {
            (void)fputs(", at ", stdout);
            il_put_time(stdout, row->time_ms);
            (void)fputs(il_view_unanswered(il_view_settled(v, row)), stdout);
        }
        (void)fputc('\n', stdout);
    }
    for (uint32_t i = 0; i < v->session.ntickets; i++) {
        const il_ticket *t = &v->session.tickets[i];
        if (t->flags & (IL_TICKET_ONCE | IL_TICKET_CROSSING)) {
            any = true;
            (void)printf("  egress     in flight: call %" PRIu64 ", ", t->id);
            il_put_text(stdout, il_str_of(t->tool));
            (void)fputs(t->flags & IL_TICKET_CROSSING ? " (approved)\n" : "\n", stdout);
        }
    }
    if (!any) {
        (void)puts("  nothing: every call is judged on its own");
    }
    if (v->everywhere) {
        (void)fputs("every file of this ledger's sessions counts as ", stdout);
        il_put_effects(stdout, v->everywhere);
        (void)fputs(", for good: a call wrote under a name that could be any file, such as a relative one\n"
                    "  say in the policy where its server runs: servers: { NAME: { cwd: FOLDER } }, and begin a new ledger\n",
                    stdout);
    }
}

/* A rule of the policy, or its condition, is what the row's `why` is about. */
static bool why_ruled(const il_view_row *denial) {
    const il_str layer = il_view_text(denial, "layer");
    return il_str_eq(layer, IL_STR("rule")) || il_str_eq(layer, IL_STR("fault"));
}

static void why_denial_text(const il_view *v, const il_view_row *denial) {
    const il_str rule = il_view_text(denial, "reason"), sentence = il_view_sentence(rule);
    (void)fputs("last denial: ", stdout);
    il_put_text(stdout, il_view_text(denial, "tool"));
    (void)fputs(" at ", stdout);
    il_put_time(stdout, denial->time_ms);
    (void)fputs(", ", stdout);
    il_put_text(stdout, il_view_text(denial, "action"));
    (void)fputs(" by ", stdout);
    il_put_text(stdout, rule);
    (void)fputs(" (", stdout);
    il_put_text(stdout, il_view_text(denial, "layer"));
    (void)fputs(")\n", stdout);
    if (sentence.n) {
        (void)printf("  %.*s\n", IL_STR_ARG(sentence));
    }
    for (const il_json *w = il_json_first(il_json_get(denial->body, IL_STR("witnesses"))); w; w = il_json_next(w)) {
        int64_t ticket = 0;
        (void)il_json_int(il_json_get(w, IL_STR("ticket")), &ticket);
        (void)fputs("  ", stdout);
        il_put_cell(stdout, il_json_text(il_json_get(w, IL_STR("effect"))), 10);
        (void)printf(" from call %" PRId64 ", ", ticket);
        il_put_text(stdout, il_json_text(il_json_get(w, IL_STR("tool"))));
        (void)fputc('\n', stdout);
    }
    if (il_view_text(denial, "why").n) {
        (void)fputs(why_ruled(denial) ? "  the policy: " : "  not vouched: ", stdout);
        il_put_text(stdout, il_view_text(denial, "why"));
        (void)fputc('\n', stdout);
    }
    if (why_standing(denial)) {
        (void)puts("  its way out is standing (`sink` of its entry in the policy), so no approval can release it");
    }
    why_request_text(v, il_view_text(denial, "approval"));
}

static void why_text_all(const il_view *v, const il_bind *bind, const il_view_row *denial) {
    (void)fputs("session ", stdout);
    il_put_text(stdout, v->id);
    (void)fputs(" counts\n", stdout);
    why_counts_text(v);
    if (denial) {
        why_denial_text(v, denial);
    } else {
        (void)puts(v->erased || v->nrows == 0 ? "its rows were pruned: what was denied is not kept any more"
                                              : "no call was denied");
    }
    (void)puts("next");
    for (size_t i = 0; i < WHY_NEXTS; i++) {
        if (!why_told(bind, &why_nexts[i])) {
            continue;
        }
        const il_step step = why_try(v, bind, &why_nexts[i]);
        (void)printf("  %-52s ", why_nexts[i].what);
        if (step.verdict == IL_ACCEPT && !v->session.quarantined) {
            (void)puts("allowed");
        } else {
            const il_str rule = v->session.quarantined ? IL_STR("quarantined") : il_machine_reason(v->machine, step.reason);
            switch (v->session.quarantined ? WHY_FINAL : why_released(v, bind, &why_nexts[i], step.reason)) {
            case WHY_WAITS:
                (void)printf("waits for a human (%.*s)\n", IL_STR_ARG(rule));
                break;
            case WHY_FULL:
                (void)printf("denied (%.*s) while %" PRIu32 " requests wait already: one that is answered makes room for it\n",
                             IL_STR_ARG(rule), il_session_requests(&v->session));
                break;
            case WHY_FINAL:
                (void)printf("denied (%.*s), final\n", IL_STR_ARG(rule));
                break;
            case WHY_DEPENDS:
                (void)printf("denied (%.*s), unless the policy's `approvals` let a human release it\n", IL_STR_ARG(rule));
                break;
            }
        }
    }
}

static il_json *why_settled(il_view *v, const il_view_row *row) {
    return row ? why_text(v, il_view_settled(v, row)) : il_json_make(&v->arena, IL_JSON_NULL);
}

static il_json *why_counts_json(il_view *v) {
    il_json *list = il_json_make(&v->arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        const il_witness *w = &v->session.witnesses[i];
        if (w->ticket == 0) {
            continue;
        }
        il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
        const bool made = why_add(o, "effect", il_json_string(&v->arena, il_effect_name(w->effect))) &&
                          why_add(o, "ticket", il_json_number(&v->arena, (int64_t)w->ticket)) &&
                          why_add(o, "tool", why_text(v, il_str_of(w->tool))) &&
                          why_add(o, "time_ms", why_time(v, why_row(v, w->ticket))) &&
                          why_add(o, "settled", why_settled(v, why_row(v, w->ticket)));
        if (!made || !il_json_push(list, o)) {
            return NULL;
        }
    }
    return list;
}

static il_json *why_flight_json(il_view *v) {
    il_json *list = il_json_make(&v->arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < v->session.ntickets; i++) {
        const il_ticket *t = &v->session.tickets[i];
        if ((t->flags & (IL_TICKET_ONCE | IL_TICKET_CROSSING)) == 0) {
            continue;
        }
        il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
        const bool made = why_add(o, "ticket", il_json_number(&v->arena, (int64_t)t->id)) &&
                          why_add(o, "tool", why_text(v, il_str_of(t->tool))) &&
                          why_add(o, "approved", il_json_boolean(&v->arena, (t->flags & IL_TICKET_CROSSING) != 0));
        if (!made || !il_json_push(list, o)) {
            return NULL;
        }
    }
    return list;
}

static il_json *why_request_json(il_view *v, il_str id) {
    const il_view_answer a = il_view_answered(v, id);
    il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
    if (!id.n || !a.state[0]) {
        return il_json_make(&v->arena, IL_JSON_NULL);
    }
    const bool made = why_add(o, "id", why_text(v, id)) && why_add(o, "state", why_text(v, il_str_of(a.state))) &&
                      why_add(o, "by", why_text(v, a.by)) &&
                      why_add(o, "expires_ms", il_json_number(&v->arena, (int64_t)a.expires_ms));
    return made ? o : NULL;
}

static il_json *why_denial_json(il_view *v, const il_view_row *denial) {
    if (!denial) {
        return il_json_make(&v->arena, IL_JSON_NULL);
    }
    const il_str rule = il_view_text(denial, "reason");
    const il_json *witnesses = il_json_get(denial->body, IL_STR("witnesses"));
    il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
    const bool made =
        why_add(o, "time_ms", why_time(v, denial)) && why_add(o, "tool", why_text(v, il_view_text(denial, "tool"))) &&
        why_add(o, "effects", il_json_effects(&v->arena, il_view_effects(il_json_get(denial->body, IL_STR("effects"))))) &&
        why_add(o, "action", why_text(v, il_view_text(denial, "action"))) &&
        why_add(o, "layer", why_text(v, il_view_text(denial, "layer"))) && why_add(o, "reason", why_text(v, rule)) &&
        why_add(o, "sentence", why_text(v, il_view_sentence(rule))) &&
        why_add(o, "sources", witnesses ? il_json_shallow(&v->arena, witnesses) : il_json_make(&v->arena, IL_JSON_ARRAY)) &&
        why_add(o, "unvouched", why_text(v, why_ruled(denial) ? IL_STR("") : il_view_text(denial, "why"))) &&
        why_add(o, "rule", why_text(v, why_ruled(denial) ? il_view_text(denial, "why") : IL_STR(""))) &&
        why_add(o, "standing", il_json_boolean(&v->arena, why_standing(denial))) &&
        why_add(o, "request", why_request_json(v, il_view_text(denial, "approval")));
    return made ? o : NULL;
}

/* Whether it waits for a human, now or when there is room; null when that is the policy's to say and the trail does not show it. */
static il_json *why_human_json(il_view *v, const il_bind *bind, const why_next *next, il_step step, bool allowed) {
    const why_release r = allowed || v->session.quarantined ? WHY_FINAL : why_released(v, bind, next, step.reason);
    return r == WHY_DEPENDS ? il_json_make(&v->arena, IL_JSON_NULL) : il_json_boolean(&v->arena, r == WHY_WAITS || r == WHY_FULL);
}

static il_json *why_next_json(il_view *v, const il_bind *bind) {
    il_json *list = il_json_make(&v->arena, IL_JSON_ARRAY);
    for (size_t i = 0; i < WHY_NEXTS; i++) {
        const why_next *next = &why_nexts[i];
        if (!why_told(bind, next)) {
            continue;
        }
        const il_step step = why_try(v, bind, next);
        const bool allowed = step.verdict == IL_ACCEPT && !v->session.quarantined;
        const il_str rule = allowed                  ? IL_STR("")
                            : v->session.quarantined ? IL_STR("quarantined")
                                                     : il_machine_reason(v->machine, step.reason);
        il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
        const bool made = why_add(o, "what", why_text(v, il_str_of(next->what))) &&
                          why_add(o, "effects", il_json_effects(&v->arena, next->effects)) &&
                          why_add(o, "allowed", il_json_boolean(&v->arena, allowed)) && why_add(o, "reason", why_text(v, rule)) &&
                          why_add(o, "human", why_human_json(v, bind, next, step, allowed));
        if (!made || !il_json_push(list, o)) {
            return NULL;
        }
    }
    return list;
}

/* What is expired makes room with the session's next use, before anything else is judged (plan_close.c); what is asked here is what that finds. */
static void why_lapse(il_view *v, const il_bind *bind) {
    const il_host host = il_host_system();
    uint64_t now = 0;
    if (!host.now_ms(host.ctx, &now)) {
        return;
    }
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        il_slot *slot = &v->session.slots[i];
        if (slot->state == IL_SLOT_FREE || slot->expires_ms > now) {
            continue;
        }
        const il_step step = il_machine_step(v->machine, v->session.state, il_bind_lapse(bind, slot->state == IL_SLOT_GRANTED));
        if (step.verdict == IL_ACCEPT) {
            v->session.state = step.next;
            *slot = (il_slot){0};
        }
    }
}

il_status il_session_why(il_view *v, bool json, il_error *err) {
    const il_view_row *denial = why_denial(v);
    il_bind bind;
    IL_TRY(il_bind_open(v->machine, &bind, err));
    why_lapse(v, &bind);
    if (!json) {
        why_text_all(v, &bind, denial);
        return IL_OK;
    }
    il_json *o = il_json_make(&v->arena, IL_JSON_OBJECT);
    const bool made = why_add(o, "id", why_text(v, v->id)) && why_add(o, "counts", why_counts_json(v)) &&
                      why_add(o, "everywhere", il_json_effects(&v->arena, v->everywhere)) &&
                      why_add(o, "in_flight", why_flight_json(v)) && why_add(o, "denied", why_denial_json(v, denial)) &&
                      why_add(o, "next", why_next_json(v, &bind));
    return made ? il_put_json(stdout, o, err) : il_arena_fail(&v->arena, err);
}
