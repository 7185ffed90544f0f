/* SPDX-License-Identifier: Apache-2.0 */
/* One row or more of the trail are one request. It is found again from the rows, made again on a fresh ledger under the same clock, and
 * must leave the same rows. */
#include <string.h>

#include "trail.h"

typedef struct replay_run {
    const trail *t;
    const races_world *w;
    il_monitor *m;
    il_ledger *fresh;
    uint64_t now;
    uint8_t random[16];
    size_t at; /* the next recorded row */
    size_t checked, faults;
    const char *request;
    il_json_doc *args[RACES_CALLS];
} replay_run;

static bool replay_now(void *ctx, uint64_t *out) {
    *out = ((replay_run *)ctx)->now;
    return true;
}

static bool replay_random(void *ctx, void *out, size_t n) {
    memcpy(out, ((replay_run *)ctx)->random, n < 16 ? n : 16);
    return true;
}

static il_str replay_str(const char *z) { return (il_str){z, strlen(z)}; }
static bool replay_word(const trail_row *r, const char *key, const char *word) {
    const il_str v = trail_text(r, key);
    return v.n == strlen(word) && memcmp(v.p, word, v.n) == 0;
}

static uint8_t replay_digit(char c) { return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* The bytes that an approval's id was made of. */
static void replay_entropy(replay_run *x, il_str id) {
    memset(x->random, 0, sizeof x->random);
    for (size_t i = 0; i + 1 < id.n && i / 2 < sizeof x->random; i += 2) {
        x->random[i / 2] = (uint8_t)(replay_digit(id.p[i]) << 4 | replay_digit(id.p[i + 1]));
    }
}

static void replay_decide(replay_run *x, il_str id, const trail_row *r) {
    il_decision d = IL_DECISION_INIT;
    const il_str tool = trail_text(r, "tool"), digest = trail_text(r, "args_digest");
    size_t which = 0;
    for (; which < RACES_CALLS; which++) {
        bool same = digest.n == 2u * IL_DIGEST_BYTES;
        for (size_t i = 0; same && i < IL_DIGEST_BYTES; i++) {
            same = x->w->calls[which].digest[i] == (replay_digit(digest.p[2 * i]) << 4 | replay_digit(digest.p[2 * i + 1]));
        }
        if (same) {
            break;
        }
    }
    RACES_MUST(which < RACES_CALLS && tool.n > 3);
    replay_entropy(x, trail_text(r, "approval"));
    const il_call call = {.size = sizeof call,
                          .server = replay_str("in"),
                          .tool = {tool.p + 3, tool.n - 3},
                          .args = il_json_doc_root(x->args[which])};
    (void)!il_monitor_decide(x->m, id, &call, &d, NULL);
}

/* Rows that a request leaves before the one that tells which it was. */
static bool replay_before(const trail_row *r) {
    return trail_is(r, "lapse") || trail_is(r, "request") || (trail_is(r, "settle") && replay_word(r, "how", "abandoned"));
}

static void replay_request(replay_run *x, const trail_row *first) {
    const trail_row *r = first, *end = x->t->rows + x->t->n;
    char text[24];
    races_session_id(first->session, text);
    const il_str id = replay_str(text);
    const bool swept =
        (trail_is(first, "settle") && (replay_word(first, "how", "overdue") || replay_word(first, "how", "inherited"))) ||
        (trail_is(first, "lapse") && replay_word(first, "why", "expired"));
    x->now = first->time_ms;
    x->request = "sweep";
    if (swept) {
        (void)!il_monitor_sweep(x->m, id, NULL, NULL);
        return;
    }
    while (r + 1 < end && replay_before(r)) {
        r++;
    }
    x->request = r->kind.p;
    if (trail_is(r, "begin")) {
        const il_begin how = {.size = sizeof how, .principal = trail_text(r, "principal"), .parent = trail_text(r, "parent")};
        (void)!il_monitor_begin(x->m, id, &how, NULL);
    } else if (trail_is(r, "decision")) {
        replay_decide(x, id, r);
    } else if (trail_is(r, "settle")) {
        races_end e = races_end_of(r->session, r->ticket);
        il_settlement s = IL_SETTLEMENT_INIT;
        (void)!il_monitor_settle(x->m, id, r->ticket, &e.outcome, &s, NULL);
        races_end_free(&e);
    } else if (trail_is(r, "approve")) {
        (void)!il_monitor_approve(x->m, id, trail_text(r, "approval"), trail_text(r, "by"), NULL);
    } else if (trail_is(r, "refuse")) {
        (void)!il_monitor_refuse(x->m, id, trail_text(r, "approval"), trail_text(r, "by"), NULL);
    } else if (trail_is(r, "end")) {
        (void)!il_monitor_end(x->m, id, true, NULL);
    }
}

/* What the fresh ledger was given by the last request, against the recorded rows. */
typedef struct replay_compare {
    replay_run *x;
    size_t seen; /* rows of the fresh ledger, all requests */
} replay_compare;

static void replay_differs(replay_run *x, const trail_row *want, il_str kind, il_str body) {
    if (x->faults++ < 3) {
        (void)fprintf(stderr, "  replay: row %llu of s-%u after %s\n    was   %.*s %.*s\n    again %.*s %.*s\n",
                      (unsigned long long)want->seq, want->session, x->request, (int)want->kind.n, want->kind.p,
                      (int)want->text.n, want->text.p, (int)kind.n, kind.p, (int)body.n, body.p);
    }
}

/* A store around the fresh ledger that sees each row as it is committed. */
static il_status replay_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                             il_error *err) {
    const il_store s = il_ledger_store(((replay_run *)ctx)->fresh);
    return s.load(s.ctx, space, key, buf, cap, n, version, err);
}

static il_status replay_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    replay_run *x = ctx;
    const il_store s = il_ledger_store(x->fresh);
    const il_status st = s.commit(s.ctx, changes, n, now_ms, err);
    for (size_t i = 0; st == IL_OK && i < n; i++) {
        for (size_t j = 0; j < changes[i].nrows; j++) {
            const il_store_row *row = &changes[i].rows[j];
            const trail_row *want = x->at < x->t->n ? &x->t->rows[x->at] : NULL;
            x->at++;
            x->checked++;
            if (!want) {
                x->faults++;
            } else if (want->session != races_session_number(changes[i].key) || want->ticket != row->ticket ||
                       want->time_ms != now_ms || want->kind.n != row->kind.n ||
                       memcmp(want->kind.p, row->kind.p, row->kind.n) != 0 || want->text.n != row->body.n ||
                       memcmp(want->text.p, row->body.p, row->body.n) != 0) {
                replay_differs(x, want, row->kind, row->body);
            }
        }
    }
    return st;
}

static void replay_sessions(replay_run *x, il_ledger *recorded) {
    const il_store was = il_ledger_store(recorded), again = il_ledger_store(x->fresh);
    static uint8_t a[IL_SESSION_STATE_MAX], b[IL_SESSION_STATE_MAX];
    for (uint32_t i = 0; i < x->t->sessions; i++) {
        char text[24];
        size_t n = 0, m = 0;
        uint64_t v = 0, u = 0;
        races_session_id(i, text);
        const il_str id = replay_str(text), space = replay_str(IL_SPACE_SESSION);
        const il_status p = was.load(was.ctx, space, id, a, sizeof a, &n, &v, NULL);
        const il_status q = again.load(again.ctx, space, id, b, sizeof b, &m, &u, NULL);
        if (p != q || (p == IL_OK && (n != m || v != u || memcmp(a, b, n) != 0))) {
            if (x->faults++ < 5) {
                (void)fprintf(stderr, "  replay: session %s ends in other bytes, or in another version (%llu, again %llu)\n",
                              text, (unsigned long long)v, (unsigned long long)u);
            }
        }
    }
}

size_t trail_check_replay(const trail *t, races_world *w, const il_policy *policy, il_ledger *recorded) {
    replay_run x = {.t = t, .w = w};
    il_error err = {0};
    RACES_MUST(il_ledger_open(il_host_alloc(), ":memory:", NULL, &x.fresh, &err) == IL_OK);
    const il_monitor_config config = {
        .size = sizeof config,
        .policy = policy,
        .store = {.size = sizeof(il_store), .ctx = &x, .load = replay_load, .commit = replay_commit},
        .host = {.size = sizeof(il_host), .ctx = &x, .now_ms = replay_now, .random = replay_random},
        .call_deadline_ms = RACES_DEADLINE,
    };
    RACES_MUST(il_monitor_new(il_host_alloc(), &config, &x.m, &err) == IL_OK);
    for (size_t i = 0; i < RACES_CALLS; i++) {
        x.args[i] = races_json(w->calls[i].args);
    }
    while (x.at < t->n && x.faults < 20) {
        const size_t before = x.at;
        replay_request(&x, &t->rows[x.at]);
        if (x.at == before) { /* the request left nothing this time */
            replay_differs(&x, &t->rows[x.at], replay_str("nothing"), replay_str(""));
            x.at++;
        }
    }
    replay_sessions(&x, recorded);
    for (size_t i = 0; i < RACES_CALLS; i++) {
        il_json_doc_free(x.args[i]);
    }
    il_monitor_free(x.m);
    il_ledger_close(x.fresh);
    printf("  replay: %zu of %zu rows made again, %u sessions compared; %zu faults\n", x.checked, t->n, t->sessions, x.faults);
    return x.faults;
}
