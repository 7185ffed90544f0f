/* SPDX-License-Identifier: Apache-2.0 */
/* The mirror of monitor/plan_decide.c, plan_close.c and plan_answer.c: what they do to a session's calls and approvals is done
 * here from their rows. */
#include "ledger/row_steps.h"

#include <string.h>

#define ROW_FIELDS_MAX 16 /* of an action's payload */

/* ---- members of a body ------------------------------------------------------------------------ */

static il_str row_text(const il_json *body, const char *member) {
    const il_json *value = il_json_get(body, il_str_of(member));
    return il_json_kind_of(value) == IL_JSON_STRING ? il_json_text(value) : IL_STR("");
}

static bool row_is(const il_json *body, const char *member, const char *text) {
    return il_str_eq(row_text(body, member), il_str_of(text));
}

static bool row_truth(const il_json *body, const char *member) {
    const il_json *value = il_json_get(body, il_str_of(member));
    return il_json_kind_of(value) == IL_JSON_BOOL && il_json_bool(value);
}

static uint32_t row_effects(const il_json *body, const char *member) {
    uint32_t bits = 0;
    for (const il_json *e = il_json_first(il_json_get(body, il_str_of(member))); e; e = il_json_next(e)) {
        for (uint32_t i = 0; i < IL_EFFECTS && il_json_kind_of(e) == IL_JSON_STRING; i++) {
            bits |= il_str_eq(il_json_text(e), il_effect_name(1u << i)) ? 1u << i : 0u;
        }
    }
    return bits;
}

bool il_row_state(const il_json *body, il_str member, uint64_t *out) {
    const il_json *value = il_json_get(body, member);
    const il_str s = il_json_kind_of(value) == IL_JSON_STRING ? il_json_text(value) : IL_STR("");
    *out = 0;
    for (size_t i = 0; i < s.n; i++) {
        const char ch = s.p[i];
        const bool digit = ch >= '0' && ch <= '9';
        if (!digit && !(ch >= 'a' && ch <= 'f')) {
            return false;
        }
        *out = *out << 4 | (uint64_t)(digit ? ch - '0' : ch - 'a' + 10);
    }
    return s.n == 16;
}

il_str il_row_machine(const il_json *body) { return row_text(body, "machine"); }

/* ---- what the session has open ----------------------------------------------------------------- */

void il_row_reader_init(il_row_reader *r, const il_bind *bind) { *r = (il_row_reader){.bind = bind}; }

static il_row_ticket *row_open(il_row_reader *r, uint64_t id, uint32_t effects, uint8_t flags) {
    if (r->ntickets == IL_TICKETS_MAX) { /* more than the monitor has: the settle of some was not read */
        r->partial = true;
        memmove(&r->tickets[0], &r->tickets[1], (IL_TICKETS_MAX - 1) * sizeof r->tickets[0]);
        r->ntickets--;
    }
    il_row_ticket *t = &r->tickets[r->ntickets++];
    *t = (il_row_ticket){.id = id, .effects = (uint8_t)effects, .flags = flags};
    return t;
}

static il_row_slot *row_slot(il_row_reader *r, il_str id) {
    for (uint32_t i = 0; i < IL_SLOTS_MAX && id.n; i++) {
        if (il_str_eq(il_str_of(r->slots[i].id), id)) {
            return &r->slots[i];
        }
    }
    return NULL;
}

static void row_free_slot(il_row_reader *r, il_str id) {
    il_row_slot *slot = row_slot(r, id);
    if (slot) {
        *slot = (il_row_slot){0};
    }
}

static void row_ask(il_row_reader *r, il_str id) {
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        if (!r->slots[i].id[0] && id.n < sizeof r->slots[i].id) {
            memcpy(r->slots[i].id, id.p, id.n);
            return;
        }
    }
    r->partial = true;
}

/* ---- what is said of a row --------------------------------------------------------------------- */

static void row_step(il_row *out, uint32_t symbol, bool accepted, il_str reason) {
    if (symbol == IL_NO_SYMBOL || out->nsteps == IL_ROW_STEPS_MAX) {
        out->word = IL_ROW_UNKNOWN;
        out->why = "the machine has no symbol for what the row records";
        return;
    }
    out->steps[out->nsteps++] = (il_row_step){.symbol = symbol, .accepted = accepted, .told = reason.n > 0, .reason = reason};
}

static void row_accept(il_row *out, uint32_t symbol) { row_step(out, symbol, true, IL_STR("")); }

static void row_unknown(il_row *out, const char *why) {
    out->word = IL_ROW_UNKNOWN;
    out->why = why;
    out->nsteps = 0;
}

/* `admit{untrusted=true,egress=once}`: as il_machine_symbol_text() writes it. */
static uint32_t row_symbol(const il_machine *m, il_str text) {
    il_payload payload[ROW_FIELDS_MAX];
    size_t n = 0, at = 0;
    while (at < text.n && text.p[at] != '{') {
        at++;
    }
    const il_str action = il_str_part(text, 0, at);
    const bool braces = at < text.n;
    if (braces && text.p[text.n - 1] != '}') {
        return IL_NO_SYMBOL; /* cut */
    }
    const size_t end = braces ? text.n - 1 : text.n;
    for (at += braces ? 1 : 0; at < end && n < ROW_FIELDS_MAX; n++) {
        size_t is = at, to;
        while (is < end && text.p[is] != '=') {
            is++;
        }
        for (to = is; to < end && text.p[to] != ',';) {
            to++;
        }
        payload[n] = (il_payload){il_str_part(text, at, is), il_str_part(text, is + 1, to)};
        at = to + 1;
    }
    return il_machine_action_symbol(m, action, payload, n);
}

/* ---- decisions --------------------------------------------------------------------------------- */

static bool row_accepts(const il_row_reader *r, uint64_t state, uint32_t symbol) {
    return symbol != IL_NO_SYMBOL && il_machine_step(r->bind->machine, state, symbol).verdict == IL_ACCEPT;
}

static void row_admitted(il_row_reader *r, const il_ledger_row *row, const il_row *out, uint32_t effects, il_sink_word sink,
                         bool approved) {
    const uint32_t before = il_bind_counted(r->bind, out->pre), after = il_bind_counted(r->bind, out->post);
    const bool both = (after & (uint32_t)IL_UNTRUSTED) != 0 && (after & (uint32_t)IL_SENSITIVE) != 0;
    uint8_t flags = 0;
    if (sink == IL_SINK_ONCE) {
        flags = approved && both ? IL_TICKET_CROSSING : IL_TICKET_ONCE;
    }
    /* A machine without the word has no secret among what it counts: the monitor keeps that bit, and so do we. */
    const bool hides = r->bind->secret == UINT32_MAX && (effects & (uint32_t)IL_SECRET) != 0;
    const bool raises = hides && !r->secret && (after & (uint32_t)IL_SENSITIVE) != 0;
    il_row_ticket *t = row_open(r, row->ticket, effects, flags);
    t->raised = (uint8_t)(((after & ~before) | (raises ? (uint32_t)IL_SECRET : 0u)) & effects & IL_TAINTS);
    r->secret = r->secret || hides;
}

/* Monitor mode: the call ran although it was rejected. What it may have brought in was admitted where the machine takes it. */
static void row_shadow(il_row_reader *r, const il_ledger_row *row, const il_json *body, il_row *out) {
    const uint32_t effects = row_effects(body, "declared") | row_effects(body, "effects");
    uint32_t taints = effects & IL_TAINTS;
    const uint32_t symbol = il_bind_admit(r->bind, taints, IL_SINK_NONE, false);
    if (taints && row_accepts(r, out->pre, symbol)) {
        row_accept(out, symbol);
        row_admitted(r, row, out, taints, IL_SINK_NONE, false);
        taints = 0;
    } else {
        (void)row_open(r, row->ticket, effects, IL_TICKET_SHADOW);
    }
    r->shadow |= (uint8_t)((row_effects(body, "effects") & ~IL_TAINTS) | taints);
    out->unenforced = true;
}

static il_sink_word row_sink(const il_json *body) {
    return row_is(body, "sink", "once") ? IL_SINK_ONCE : row_is(body, "sink", "standing") ? IL_SINK_STANDING : IL_SINK_NONE;
}

static void row_decision(il_row_reader *r, const il_ledger_row *row, const il_json *body, il_row *out) {
    const uint32_t symbol = row_symbol(r->bind->machine, row_text(body, "symbol"));
    out->unenforced = row_truth(body, "unenforced");
    if (row_is(body, "layer", "fault")) {
        out->word = row_is(body, "reason", "off-table")        ? IL_ROW_OFF_TABLE
                    : row_is(body, "reason", "ledger-damaged") ? IL_ROW_DAMAGED
                                                               : IL_ROW_SILENT;
        return;
    }
    if (row_is(body, "action", "allow")) {
        /* what a rule asked for was used up by a row of its own, and the call was admitted as any other */
        const bool approved = il_str_find(row_text(body, "symbol"), IL_STR("approved=true"), 0) != SIZE_MAX;
        row_accept(out, symbol);
        row_admitted(r, row, out, row_effects(body, "effects"), row_sink(body), approved);
        row_free_slot(r, row_text(body, "approval"));
        return;
    }
    if (row_is(body, "layer", "machine")) {
        row_step(out, symbol, false, row_text(body, "reason"));
    }
    if (row->ticket && row_is(body, "layer", "rule") && row_accepts(r, out->pre, symbol)) {
        /* monitor mode, and only a rule was against it */
        row_accept(out, symbol);
        row_admitted(r, row, out, row_effects(body, "effects"), row_sink(body), false);
        out->unenforced = true;
    } else if (row->ticket) {
        row_shadow(r, row, body, out);
    }
}

/* ---- settles ----------------------------------------------------------------------------------- */

static uint8_t row_last(const il_row_reader *r, uint8_t flags) {
    const uint8_t kind = flags & (IL_TICKET_ONCE | IL_TICKET_CROSSING);
    for (uint32_t i = 0; i < r->ntickets; i++) {
        if ((r->tickets[i].flags & kind) != 0) {
            return 0;
        }
    }
    return kind == IL_TICKET_ONCE ? 1 : kind == IL_TICKET_CROSSING ? 2 : 0;
}

static bool row_close(il_row_reader *r, uint64_t id, il_row_ticket *out) {
    for (uint32_t i = 0; i < r->ntickets; i++) {
        if (r->tickets[i].id == id) {
            *out = r->tickets[i];
            memmove(&r->tickets[i], &r->tickets[i + 1], (r->ntickets - i - 1) * sizeof r->tickets[0]);
            r->ntickets--;
            return true;
        }
    }
    return false;
}

static void row_settle(il_row_reader *r, const il_ledger_row *row, const il_json *body, il_row *out) {
    il_row_ticket t;
    const il_bind *b = r->bind;
    const bool froze = r->breach, breach = froze || row_is(body, "reason", "label-breach");
    r->breach = false;
    if (!row_text(body, "tool").n) {
        return; /* the call was not open: nothing was settled */
    }
    if (!row_close(r, row->ticket, &t)) {
        row_unknown(out, "the row that admitted this call is not there");
        return;
    }
    if ((t.flags & IL_TICKET_SHADOW) != 0) {
        return;
    }
    const uint32_t refined = row_effects(body, "refined");
    uint32_t lowered = refined & t.raised & il_bind_fresh(b, out->pre);
    lowered &= (lowered & (uint32_t)IL_SENSITIVE) == 0 ? ~(uint32_t)IL_SECRET : UINT32_MAX;
    if (lowered) {
        row_accept(out, il_bind_refine(b, lowered));
    }
    const uint32_t taints = (t.flags & IL_TICKET_INHERITED) != 0 ? 0 : t.effects & IL_TAINTS & ~refined;
    const uint8_t last = row_last(r, t.flags);
    if (breach) {
        row_step(out, il_bind_settle(b, taints, last), false, IL_STR(""));
        row_accept(out, il_bind_settle(b, 0, last));
        if (froze) {
            row_accept(out, il_bind_plain(b, "quarantine"));
        }
        return;
    }
    row_accept(out, il_bind_settle(b, taints, last));
}

/* ---- approvals, quarantine, the beginning ------------------------------------------------------- */

static void row_answer(il_row_reader *r, const il_json *body, bool grant, il_row *out) {
    il_row_slot *slot = row_slot(r, row_text(body, "approval"));
    if (!slot) {
        row_unknown(out, "the row that asked for this approval is not there");
        return;
    }
    row_accept(out, grant           ? il_bind_plain(r->bind, "approve")
                    : slot->granted ? il_bind_lapse(r->bind, true)
                                    : il_bind_plain(r->bind, "refuse"));
    slot->granted = true;
    if (!grant) {
        *slot = (il_row_slot){0};
    }
}

static void row_lapse(il_row_reader *r, const il_json *body, il_row *out) {
    const il_row_slot *slot = row_slot(r, row_text(body, "approval"));
    if (!row_is(body, "why", "expired") && !row_is(body, "why", "redeemed")) {
        out->word = IL_ROW_SILENT; /* void: the row that follows moved the state */
    } else if (!slot) {
        row_unknown(out, "the row that asked for this approval is not there");
    } else {
        row_accept(out, il_bind_lapse(r->bind, slot->granted));
    }
    row_free_slot(r, row_text(body, "approval"));
}

static void row_quarantine(il_row_reader *r, const il_json *body, il_row *out) {
    const uint32_t symbol = il_bind_plain(r->bind, "quarantine");
    if (row_is(body, "why", "label-breach")) {
        r->breach = true; /* in the middle of a settle, whose row follows and tells it from the start */
        out->word = IL_ROW_SILENT;
    } else if (il_machine_step(r->bind->machine, out->pre, symbol).reason == IL_REASON_OFF_TABLE) {
        out->word = IL_ROW_OFF_TABLE;
    } else {
        row_accept(out, symbol);
    }
}

/* What a parent holds and has in flight becomes the child's, by one symbol. */
static void row_join(il_row_reader *r, const il_row_reader *parent, il_row *out) {
    if (!parent || !parent->knows) {
        row_unknown(out, "the rows of the parent session are not there");
        return;
    }
    const il_bind *p = parent->bind;
    uint32_t taints = (il_bind_counted(p, parent->state) | parent->shadow) & IL_TAINTS;
    taints |= parent->secret ? (uint32_t)(IL_SECRET | IL_SENSITIVE) : 0u;
    taints |= (taints & (uint32_t)IL_SECRET) != 0 ? (uint32_t)IL_SENSITIVE : 0u;
    const uint8_t flight = il_bind_live(p, parent->state, p->flight), open = il_bind_live(p, parent->state, p->open);
    r->shadow = parent->shadow;
    r->secret = r->bind->secret == UINT32_MAX && (taints & (uint32_t)IL_SECRET) != 0;
    if (taints || flight || open) {
        row_accept(out, il_bind_join(r->bind, taints, flight, open));
    }
}

/* What a child's answer brought. */
static void row_joined(il_row_reader *r, const il_json *body, il_row *out) {
    int64_t flight = 0, open = 0;
    const uint32_t taints = row_effects(body, "taints");
    if (!il_json_int(il_json_get(body, IL_STR("flight")), &flight) || flight < 0 || flight > 2 ||
        !il_json_int(il_json_get(body, IL_STR("open")), &open) || open < 0 || open > 2) {
        row_unknown(out, "the row does not say what the child brought");
        return;
    }
    if (taints == 0 && flight == 0 && open == 0) {
        return;
    }
    const uint32_t symbol = il_bind_join(r->bind, taints, (uint8_t)flight, (uint8_t)open);
    if (row_text(body, "reason").n) {
        row_step(out, symbol, false, row_text(body, "reason"));
        return;
    }
    row_accept(out, symbol);
    r->secret = r->secret || (r->bind->secret == UINT32_MAX && (taints & (uint32_t)IL_SECRET) != 0);
    int64_t inherited = 0;
    if (il_json_int(il_json_get(body, IL_STR("inherited")), &inherited) && inherited > 0) {
        (void)row_open(r, (uint64_t)inherited, (uint32_t)IL_EGRESS, IL_TICKET_ONCE | IL_TICKET_INHERITED);
    }
}

static void row_begin(il_row_reader *r, const il_row_reader *parent, const il_json *body, il_row *out) {
    const il_bind *b = r->bind;
    out->unenforced = row_is(body, "mode", "monitor");
    if (row_truth(body, "resumed")) {
        out->has_pre = out->has_post; /* a session that is taken up again does not move */
        out->pre = out->post;
        return;
    }
    out->word = IL_ROW_BEGINS;
    out->has_pre = true;
    out->pre = il_machine_initial(b->machine);
    r->begun = true;
    if (!row_text(body, "parent").n) {
        return;
    }
    row_join(r, parent, out);
    if (il_bind_live(b, out->post, b->flight) != 0) { /* number 1 is the join, and 2 the parent's calls in flight */
        (void)row_open(r, 2, (uint32_t)IL_EGRESS, IL_TICKET_ONCE | IL_TICKET_INHERITED);
    }
}

/* ---- all of them -------------------------------------------------------------------------------- */

static void row_of_kind(il_row_reader *r, const il_row_reader *parent, const il_ledger_row *row, const il_json *body,
                        il_row *out) {
    const il_str kind = row->kind;
    if (il_str_eq(kind, IL_STR("decision"))) {
        row_decision(r, row, body, out);
    } else if (il_str_eq(kind, IL_STR("settle"))) {
        row_settle(r, row, body, out);
    } else if (il_str_eq(kind, IL_STR("begin"))) {
        row_begin(r, parent, body, out);
    } else if (il_str_eq(kind, IL_STR("request"))) {
        row_accept(out, il_bind_plain(r->bind, "request"));
        row_ask(r, row_text(body, "approval"));
    } else if (il_str_eq(kind, IL_STR("approve")) || il_str_eq(kind, IL_STR("refuse"))) {
        row_answer(r, body, il_str_eq(kind, IL_STR("approve")), out);
    } else if (il_str_eq(kind, IL_STR("lapse"))) {
        row_lapse(r, body, out);
    } else if (il_str_eq(kind, IL_STR("quarantine"))) {
        row_quarantine(r, body, out);
    } else if (il_str_eq(kind, IL_STR("end"))) {
        if (r->abandons && out->pre == r->abandoned_from) {
            out->pre = r->state; /* older builds gave an end the state before the calls were settled that it abandons */
        }
        row_accept(out, il_bind_plain(r->bind, "end"));
    } else if (il_str_eq(kind, IL_STR("join"))) {
        row_joined(r, body, out);
    } else if (!il_str_eq(kind, IL_STR("say")) && !il_str_eq(kind, IL_STR("notice")) && !il_str_eq(kind, IL_STR("laundering")) &&
               !il_str_eq(kind, IL_STR("labels")) && !il_str_eq(kind, IL_STR("endorse"))) { /* which move nothing */
        row_unknown(out, "a row of a kind that this build does not know");
    }
}

il_status il_row_read(il_row_reader *r, const il_row_reader *parent, const il_ledger_row *row, const il_json *body, il_row *out,
                      il_error *err) {
    *out = (il_row){.word = IL_ROW_STEPS};
    if (il_json_kind_of(body) != IL_JSON_OBJECT) {
        return il_error_set(err, IL_E_INVALID, "the body of row %llu is no JSON object", (unsigned long long)row->seq);
    }
    out->has_pre = il_row_state(body, IL_STR("pre"), &out->pre);
    out->has_post = il_row_state(body, IL_STR("post"), &out->post);
    const bool begins = il_str_eq(row->kind, IL_STR("begin"));
    const bool moves =
        !il_str_eq(row->kind, IL_STR("lapse")) || row_is(body, "why", "expired") || row_is(body, "why", "redeemed");
    if (!out->has_post && il_str_eq(row->kind, IL_STR("lapse")) && moves) { /* of an older build */
        row_free_slot(r, row_text(body, "approval"));
        row_unknown(out, "the row does not say where it led");
        r->knows = false;
        return IL_OK;
    }
    if (moves && (!out->has_post || (!out->has_pre && !begins))) {
        return il_error_set(err, IL_E_INVALID, "row %llu does not say from which state to which it leads",
                            (unsigned long long)row->seq);
    }
    row_of_kind(r, parent, row, body, out);
    if (out->word == IL_ROW_SILENT || out->word == IL_ROW_DAMAGED) {
        out->has_pre = out->has_post = false;
        return IL_OK;
    }
    const bool abandons = row_is(body, "how", "abandoned") || row_is(body, "how", "inherited");
    r->abandoned_from = r->abandons ? r->abandoned_from : r->state;
    r->abandons = abandons && r->knows;
    r->knows = true;
    r->state = out->post;
    if ((il_bind_counted(r->bind, r->state) & (uint32_t)IL_SENSITIVE) == 0) {
        r->secret = false; /* as the monitor keeps it: with what it is part of */
    }
    return IL_OK;
}

bool il_row_agrees(const il_machine *m, const il_row *row) {
    uint64_t state = row->pre;
    if (row->word != IL_ROW_STEPS && row->word != IL_ROW_BEGINS) {
        return true;
    }
    for (uint32_t i = 0; i < row->nsteps; i++) {
        const il_step step = il_machine_step(m, state, row->steps[i].symbol);
        const bool accepted = step.verdict == IL_ACCEPT;
        if (accepted != row->steps[i].accepted ||
            (!accepted && row->steps[i].told && !il_str_eq(il_machine_reason(m, step.reason), row->steps[i].reason))) {
            return false;
        }
        state = step.next;
    }
    return state == row->post;
}
