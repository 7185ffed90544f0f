/* SPDX-License-Identifier: Apache-2.0 */
/* One session: each row begins in the state in which the row before it ended, the last one ended in the state that is stored, the calls that are
 * open are those that were admitted and not settled, and policy, machine, principal and parent stay what they were when it began. */
#include <string.h>

#include "ledger/row_steps.h"
#include "ledger/verify.h"
#include "monitor/session.h"
#include "json/node.h"

#define SESSION_ARENA_BYTES ((size_t)1 << 30)

typedef struct session_bond { /* what a session is bound to for good, as its rows of kind `begin` say */
    uint64_t row;             /* 0: none was read */
    char policy[IL_DIGEST_HEX], machine[IL_DIGEST_HEX], principal[IL_SESSION_ID_BYTES], parent[IL_SESSION_ID_BYTES];
} session_bond;

typedef struct session_check {
    il_verify *v;
    il_arena arena; /* of one row */
    il_str id;
    uint64_t nrows;
    il_ledger_pruned pruned; /* the latest act; n 0: none. Its strings are not used */
    uint64_t sealed;         /* the row that sealed it */
    session_bond bond;
    uint64_t state, state_row; /* when `known`: the state after the last row, and the row that it came from */
    uint64_t owed, owed_row;   /* when `owes` */
    uint64_t abandoned_from;   /* when `abandons` */
    uint64_t ticket;           /* the highest that was admitted */
    size_t nopen;
    uint64_t open[IL_TICKETS_MAX];
    bool left; /* the rows just now are older than `pruned`, and it left them for a later one, which has not come */
    bool known;
    bool owes;     /* a breach is found while a call settles: its quarantine stands before the row of the settle */
    bool abandons; /* older builds gave the row of an end the state before the calls were settled that it abandoned */
    bool joined;   /* open calls of a parent or a child are settled here as well */
    uint64_t joins;
    char recalled[IL_DIGEST_HEX];   /* the latest end of the chain of episodes that a row tells; empty: none */
    bool tickets_known, overflowed; /* rows that were dropped or erased may have admitted some */
} session_check;

IL_PRINTF(4, 5)
static void session_found(session_check *c, uint64_t row, const char *what, const char *fmt, ...) {
    char message[IL_ERROR_MSG_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)il_format_list(message, sizeof message, fmt, args);
    va_end(args);
    il_verify_found(c->v, row, c->id, what, message, IL_VERIFY_RESTORE);
}

static bool session_text_is(const il_json *body, il_str member, il_str text) {
    const il_json *value = il_json_get(body, member);
    return il_json_kind_of(value) == IL_JSON_STRING && il_str_eq(il_json_text(value), text);
}

static void session_bond_text(const il_json *body, il_str member, char *out, size_t cap) {
    const il_json *value = il_json_get(body, member);
    const il_str s = il_json_kind_of(value) == IL_JSON_STRING ? il_json_text(value) : IL_STR("");
    (void)il_format(out, cap, "%.*s", IL_STR_ARG(s));
}

/* The same bond as that of the row before, or of the object. */
static void session_bound(session_check *c, uint64_t row, const session_bond *now) {
    if (c->bond.row != 0 && (strcmp(c->bond.policy, now->policy) != 0 || strcmp(c->bond.machine, now->machine) != 0 ||
                             strcmp(c->bond.principal, now->principal) != 0 || strcmp(c->bond.parent, now->parent) != 0)) {
        session_found(c, row, "object-bond",
                      "session `%.*s` is bound to another policy, machine, principal or parent than by row %lld",
                      IL_STR_ARG(c->id), (long long)c->bond.row);
    }
}

/* Whether the session had rows before this one. */
static bool session_again(const session_check *c) { return c->nrows > 1 || c->pruned.n; }

/* A session begins once; afterwards it is taken up again, in the state in which it is. */
static void session_begin(session_check *c, const il_ledger_row *row, const il_json *body) {
    session_bond now = {.row = row->seq};
    if (session_again(c) && !il_json_bool(il_json_get(body, IL_STR("resumed")))) {
        session_found(c, row->seq, "session-missing", "row %lld begins session `%.*s` once more: its state had been removed",
                      (long long)row->seq, IL_STR_ARG(c->id));
    }
    session_bond_text(body, IL_STR("policy"), now.policy, sizeof now.policy);
    session_bond_text(body, IL_STR("machine"), now.machine, sizeof now.machine);
    session_bond_text(body, IL_STR("principal"), now.principal, sizeof now.principal);
    session_bond_text(body, IL_STR("parent"), now.parent, sizeof now.parent);
    session_bound(c, row->seq, &now);
    c->bond = now;
    c->joined = c->joined || now.parent[0];
}

static void session_open(session_check *c, const il_ledger_row *row) {
    if (row->ticket <= c->ticket && c->tickets_known) {
        session_found(c, row->seq, "ticket-order", "row %lld admits call %lld after call %lld", (long long)row->seq,
                      (long long)row->ticket, (long long)c->ticket);
    }
    c->ticket = row->ticket > c->ticket ? row->ticket : c->ticket;
    if (c->nopen == IL_TICKETS_MAX) {
        c->overflowed = true;
        return;
    }
    c->open[c->nopen++] = row->ticket;
}

static void session_close(session_check *c, const il_ledger_row *row, const il_json *body) {
    for (size_t i = 0; i < c->nopen; i++) {
        if (c->open[i] == row->ticket) {
            memmove(&c->open[i], &c->open[i + 1], (c->nopen - i - 1) * sizeof c->open[0]);
            c->nopen--;
            return;
        }
    }
    /* A settle that was refused names no tool. */
    if (il_json_kind_of(il_json_get(body, IL_STR("tool"))) != IL_JSON_NULL && !c->joined && c->tickets_known) {
        session_found(c, row->seq, "ticket-unknown", "row %lld settles call %lld, which no row admitted", (long long)row->seq,
                      (long long)row->ticket);
    }
}

/* A fault before the session was understood says nothing of its state. */
static bool session_silent(const il_ledger_row *row, const il_json *body) {
    return il_str_eq(row->kind, IL_STR("decision")) && row->ticket == 0 &&
           session_text_is(body, IL_STR("layer"), IL_STR("fault"));
}

static void session_step(session_check *c, const il_ledger_row *row, const il_json *body) {
    uint64_t pre = 0, post = 0;
    const bool has_post = il_row_state(body, IL_STR("post"), &post);
    bool has_pre = il_row_state(body, IL_STR("pre"), &pre);
    const bool settles = il_str_eq(row->kind, IL_STR("settle"));
    if (session_silent(row, body)) {
        return;
    }
    if (il_str_eq(row->kind, IL_STR("begin")) && session_again(c)) { /* taken up again, which moves nothing */
        has_pre = has_post;
        pre = post;
    }
    const bool abandons = settles && (session_text_is(body, IL_STR("how"), IL_STR("abandoned")) ||
                                      session_text_is(body, IL_STR("how"), IL_STR("inherited")));
    const bool ends = c->abandons && il_str_eq(row->kind, IL_STR("end")) && pre == c->abandoned_from;
    c->abandoned_from = c->abandons ? c->abandoned_from : c->state;
    c->abandons = abandons || (c->abandons && !settles && !has_post);
    if (c->owes && settles && has_pre && pre == c->owed && post == c->state) {
        c->owes = false;
        return;
    }
    if (c->known && has_pre && pre != c->state && !ends) {
        if (il_str_eq(row->kind, IL_STR("quarantine")) && !c->owes) {
            c->owes = true;
            c->owed = c->state;
            c->owed_row = row->seq;
        } else {
            session_found(c, row->seq, "state-step",
                          "row %lld begins in state %016llx, and row %lld of the same session ended in %016llx",
                          (long long)row->seq, (unsigned long long)pre, (long long)c->state_row, (unsigned long long)c->state);
        }
    }
    if (il_str_eq(row->kind, IL_STR("lapse")) && !has_post) {
        /* An approval that expired moves the state; one that is void moved with the row that
         * follows. Rows of older builds do not say where to. */
        c->known = c->known && !session_text_is(body, IL_STR("why"), IL_STR("expired"));
        return;
    }
    c->known = c->known || has_post;
    c->state = has_post ? post : c->state;
    c->state_row = row->seq;
}

static void session_erased(session_check *c, const il_ledger_row *row) {
    if (c->pruned.n == 0 || row->seq > c->pruned.through) {
        session_found(c, row->seq, "row-erased", "the body of row %lld is gone, and no pruning was recorded for it",
                      (long long)row->seq);
        c->known = c->tickets_known = false;
    }
}

/* An act of pruning tells the state of its moment. A long session is pruned in several, and rows that an act left are older than it: they lead to that
 * state, and do not begin there. */
static void session_left(session_check *c, bool left) {
    if (left && !c->left) {
        c->known = false;
    } else if (c->left && !left) {
        if (c->known && c->state != c->pruned.state) {
            session_found(c, c->state_row, "object-state",
                          "session `%.*s` was in state %016llx when it was pruned, and its last row before that ended in %016llx",
                          IL_STR_ARG(c->id), (long long)c->pruned.state, (long long)c->state);
        }
        c->known = true;
        c->state = c->pruned.state;
    }
    c->left = left;
}

static bool session_row(void *ctx, const il_ledger_row *row) {
    session_check *c = ctx;
    il_json *body = NULL;
    const bool first = c->nrows++ == 0;
    if (row->erased || (c->pruned.n && row->seq <= c->pruned.through)) {
        if (row->erased) {
            session_erased(c, row);
        }
        return true;
    }
    session_left(c, row->seq < c->sealed);
    il_arena_reset(&c->arena);
    const il_status status = il_json_parse(&c->arena, row->body, NULL, &body, NULL);
    if (il_verify_stops(c->v, status)) {
        return false;
    }
    if (status != IL_OK || il_json_kind_of(body) != IL_JSON_OBJECT) {
        session_found(c, row->seq, "row-body", "the body of row %lld is no JSON object", (long long)row->seq);
        c->known = false;
        return true;
    }
    if (first && !c->pruned.n && c->v->l->dropped == 0 && !il_str_eq(row->kind, IL_STR("begin"))) {
        session_found(c, row->seq, "row-missing", "the session's rows do not start with its beginning");
    }
    session_step(c, row, body);
    if (il_json_kind_of(il_json_get(body, IL_STR("recalled"))) == IL_JSON_STRING) {
        session_bond_text(body, IL_STR("recalled"), c->recalled, sizeof c->recalled);
    }
    if (il_str_eq(row->kind, IL_STR("begin"))) {
        session_begin(c, row, body);
    } else if (il_str_eq(row->kind, IL_STR("decision")) && row->ticket) {
        session_open(c, row);
    } else if (il_str_eq(row->kind, IL_STR("settle"))) {
        session_close(c, row, body);
    } else if (il_str_eq(row->kind, IL_STR("join"))) {
        c->joined = true;
        c->joins++;
    }
    return true;
}

/* The open calls of the object and of the rows. A join brings in a parent's calls, which no row here admitted. */
static void session_tickets(session_check *c, const il_session *s) {
    size_t own = 0;
    bool same = true;
    for (uint32_t i = 0; i < s->ntickets; i++) {
        bool there = false;
        if ((s->tickets[i].flags & IL_TICKET_INHERITED) != 0) {
            continue;
        }
        own++;
        for (size_t j = 0; j < c->nopen; j++) {
            there = there || c->open[j] == s->tickets[i].id;
        }
        same = same && there;
    }
    if (!same || own != c->nopen) {
        session_found(c, 0, "object-calls", "%zu calls are open in the state of session `%.*s`, and %zu by its rows", own,
                      IL_STR_ARG(c->id), c->nopen);
    }
    const uint64_t joined = (s->parent[0] ? IL_TICKETS_MAX : 0) + c->joins; /* numbers that others' calls took */
    if (s->next_ticket <= c->ticket || s->next_ticket - 1 - c->ticket > joined) {
        session_found(c, 0, "object-calls", "the next call of session `%.*s` is %lld, and its rows admitted %lld",
                      IL_STR_ARG(c->id), (long long)s->next_ticket, (long long)c->ticket);
    }
}

static void session_object_bond(session_check *c, const il_session *s) {
    session_bond now = {0};
    il_digest_hex(s->policy, now.policy);
    il_digest_hex(s->machine, now.machine);
    memcpy(now.principal, s->principal, sizeof now.principal);
    memcpy(now.parent, s->parent, sizeof now.parent);
    session_bound(c, 0, &now);
}

/* What the session knows: its episodes, and the end of their chain by its rows. */
static il_status session_episodes(session_check *c, const il_session *s, il_error *err) {
    char end[IL_DIGEST_HEX];
    uint64_t n = 0;
    il_digest_hex(s->recalled, end);
    if (c->recalled[0] && strcmp(end, c->recalled) != 0) {
        session_found(c, 0, "object-recalled", "what session `%.*s` knows by its state is not what it knows by its rows",
                      IL_STR_ARG(c->id));
    }
    IL_TRY(il_verify_episodes(c->v, c->id, s, c->pruned.n > 0, &n, err));
    if (n > s->episodes) {
        session_found(c, 0, "episode-added", "%lld episodes of session `%.*s` are there, and it counts %lld", (long long)n,
                      IL_STR_ARG(c->id), (long long)s->episodes);
    }
    c->v->episodes += n;
    return IL_OK;
}

static il_status session_object(session_check *c, const uint8_t *state, size_t n, uint64_t version, il_error *err) {
    il_session s;
    il_error why = {0};
    uint8_t hash[IL_DIGEST_BYTES];
    if (il_session_decode(state, n, &s, &why) != IL_OK) {
        session_found(c, 0, "object-damaged", "the state of session `%.*s` does not decode: %s", IL_STR_ARG(c->id), why.msg);
        return IL_OK;
    }
    IL_TRY(session_episodes(c, &s, err));
    if (c->pruned.n && version == c->pruned.version) {
        il_chain_body((il_str){(const char *)state, n}, c->v->l->sha256, hash);
        if (!il_digest_eq(hash, c->pruned.state_hash)) {
            session_found(c, 0, "object-state", "the state of session `%.*s` is not what it was when its rows were pruned",
                          IL_STR_ARG(c->id));
        }
        return IL_OK;
    }
    if (version < c->pruned.version) {
        session_found(c, 0, "object-state", "the state of session `%.*s` is older than the pruning of its rows",
                      IL_STR_ARG(c->id));
    }
    session_object_bond(c, &s);
    if (c->known && s.state != c->state) {
        session_found(c, c->state_row, "object-state",
                      "session `%.*s` is stored in state %016llx, and its last row ended in %016llx", IL_STR_ARG(c->id),
                      (long long)s.state, (long long)c->state);
    }
    if (c->tickets_known && !c->overflowed) {
        session_tickets(c, &s);
    }
    return IL_OK;
}

static bool session_act(void *ctx, const il_ledger_pruned *p) {
    session_check *c = ctx;
    c->pruned = *p;
    return false; /* the latest comes first */
}

static il_status session_one(session_check *c, il_error *err) {
    uint8_t state[IL_SESSION_STATE_MAX];
    il_ledger *l = c->v->l;
    size_t n = 0;
    uint64_t version = 0;
    IL_TRY(l->kind->pruned(l, c->id, session_act, c, err));
    c->sealed = c->pruned.n ? il_verify_sealed(c->v, c->pruned.n) : 0;
    c->tickets_known = c->pruned.n == 0 && l->dropped == 0;
    c->known = c->pruned.n > 0;
    c->state = c->pruned.state;
    c->state_row = c->pruned.through;
    IL_TRY(l->kind->rows(l, c->id, 0, session_row, c, err));
    IL_TRY(il_verify_stopped(c->v, err));
    session_left(c, false);
    if (c->owes) {
        session_found(c, c->owed_row, "state-step", "row %lld begins in a state that no row of its session led to",
                      (long long)c->owed_row);
    }
    if (c->nrows == 0 && c->pruned.n == 0 && l->dropped == 0) {
        session_found(c, 0, "row-missing", "session `%.*s` has no rows, and no pruning was recorded for it", IL_STR_ARG(c->id));
    }
    il_error why = {0};
    const il_status status = l->kind->object(l, IL_STR(IL_SPACE_SESSION), c->id, state, sizeof state, &n, &version, &why);
    if (status == IL_E_DAMAGED || status == IL_E_LIMIT) {
        session_found(c, 0, "object-damaged", "%s", why.msg);
        return IL_OK;
    }
    if (status != IL_OK) {
        return il_error_set(err, status, "%s", why.msg);
    }
    return session_object(c, state, n, version, err);
}

typedef struct session_ids {
    il_arena arena;
    il_str *ids;
    size_t n, cap;
    bool full;
} session_ids;

static bool session_id(void *ctx, il_str session, uint64_t version, uint64_t changed_ms) {
    session_ids *i = ctx;
    (void)version, (void)changed_ms;
    if (i->n == i->cap) {
        const size_t cap = i->cap ? 2 * i->cap : 256;
        il_str *ids = IL_NEW_ARRAY(&i->arena, il_str, cap);
        if (!ids) {
            i->full = true;
            return false;
        }
        if (i->n) {
            memcpy(ids, i->ids, i->n * sizeof *ids);
        }
        i->ids = ids;
        i->cap = cap;
    }
    i->full = il_arena_copy(&i->arena, session, &i->ids[i->n], NULL) != IL_OK;
    i->n += i->full ? 0 : 1;
    return !i->full;
}

static il_status session_each(il_verify *v, const session_ids *ids, uint64_t *rows, il_error *err) {
    il_arena arena;
    il_status status = IL_OK;
    il_arena_init(&arena, v->l->alloc, SESSION_ARENA_BYTES);
    for (size_t i = 0; i < ids->n && status == IL_OK; i++) {
        session_check c = {.v = v, .arena = arena, .id = ids->ids[i]};
        status = session_one(&c, err);
        arena = c.arena;
        *rows += c.nrows;
        v->out->sessions++;
    }
    il_arena_free(&arena);
    return status;
}

il_status il_verify_sessions(il_verify *v, uint64_t *rows, il_error *err) {
    session_ids ids = {0};
    il_arena_init(&ids.arena, v->l->alloc, SESSION_ARENA_BYTES);
    il_status status = v->l->kind->sessions(v->l, session_id, &ids, err);
    if (status == IL_OK && ids.full) {
        status = il_arena_fail(&ids.arena, err);
    }
    if (status == IL_OK) {
        status = session_each(v, &ids, rows, err);
    }
    il_arena_free(&ids.arena);
    return status;
}
