/* SPDX-License-Identifier: Apache-2.0 */
/* The rule, kept by hand: in one session untrusted content, sensitive data and an egress that no human approved never come together. */
#include <stdlib.h>
#include <string.h>

#include "trail.h"

#define RULE_OPEN 40u
#define RULE_REQUESTS 8u

typedef enum rule_grant { GRANT_NONE = 0, GRANT_ASKED, GRANT_GIVEN } rule_grant;
typedef struct rule_session {
    uint32_t untrusted, sensitive; /* admissions that brought it and were not refined since */
    bool standing;
    struct {
        uint64_t ticket;
        bool once, untrusted, sensitive; /* once: an unapproved egress in flight */
    } open[RULE_OPEN];
    size_t nopen;
    struct {
        char id[IL_APPROVAL_ID_BYTES];
        rule_grant grant;
        uint32_t gains;
    } requests[RULE_REQUESTS];
    uint32_t gains; /* how often a taint or a live egress was newly gained: it voids approvals */
} rule_session;

typedef struct rule_run {
    rule_session *v;
    size_t faults;
    size_t spent, refined, blocked, voided, overdue; /* that the run was not idle */
} rule_run;

static bool rule_live(const rule_session *s) {
    bool live = s->standing;
    for (size_t i = 0; i < s->nopen; i++) {
        live = live || s->open[i].once;
    }
    return live;
}

static void rule_fault(rule_run *run, const trail_row *r, const char *what) {
    if (run->faults++ < 5) {
        (void)fprintf(stderr, "  rule: row %llu, session s-%u, ticket %llu: %s\n", (unsigned long long)r->seq, r->session,
                      (unsigned long long)r->ticket, what);
    }
}

static bool rule_has(const trail_row *r, const char *list, const char *word) {
    for (const il_json *e = il_json_first(il_json_get(r->body, (il_str){list, strlen(list)})); e; e = il_json_next(e)) {
        const il_str s = il_json_text(e);
        if (s.n == strlen(word) && memcmp(s.p, word, s.n) == 0) {
            return true;
        }
    }
    return false;
}

static size_t rule_request(const rule_session *s, il_str id) {
    for (size_t i = 0; i < RULE_REQUESTS; i++) {
        if (s->requests[i].grant != GRANT_NONE && strlen(s->requests[i].id) == id.n &&
            memcmp(s->requests[i].id, id.p, id.n) == 0) {
            return i;
        }
    }
    return RULE_REQUESTS;
}

/* Spends the approval that an allow names; false: it had none. */
static bool rule_spend(rule_run *run, rule_session *s, const trail_row *r) {
    const il_str id = trail_text(r, "approval");
    if (id.n == 0) {
        return false;
    }
    const size_t at = rule_request(s, id);
    if (at == RULE_REQUESTS || s->requests[at].grant != GRANT_GIVEN) {
        rule_fault(run, r, "an approval was used that nobody gave, or a second time");
    } else if (s->requests[at].gains != s->gains) {
        rule_fault(run, r, "an approval outlived a taint or a live egress that was gained after it was asked for");
    } else {
        run->spent++;
    }
    if (at < RULE_REQUESTS) {
        s->requests[at].grant = GRANT_NONE;
    }
    return true;
}

static void rule_decision(rule_run *run, rule_session *s, const trail_row *r) {
    const il_str action = trail_text(r, "action");
    if (action.n != 5 || memcmp(action.p, "allow", 5) != 0) {
        run->blocked += action.n == 5;
        if (trail_true(r, "run")) {
            rule_fault(run, r, "a call that was not allowed ran");
        }
        return;
    }
    const bool untrusted = rule_has(r, "effects", "untrusted");
    const bool sensitive = rule_has(r, "effects", "sensitive") || rule_has(r, "effects", "secret");
    const bool egress = rule_has(r, "effects", "egress"), approved = rule_spend(run, s, r);
    const il_str sink = trail_text(r, "sink");
    const bool once = egress && sink.n == 4, live = rule_live(s);
    if (s->nopen == RULE_OPEN) {
        rule_fault(run, r, "more calls are open than a session can have");
        return;
    }
    s->gains += (untrusted && s->untrusted == 0) || (sensitive && s->sensitive == 0) || (egress && !approved && !live) ? 1 : 0;
    s->untrusted += untrusted;
    s->sensitive += sensitive;
    s->standing = s->standing || (egress && !once && !approved);
    s->open[s->nopen].ticket = r->ticket;
    s->open[s->nopen].once = once && !approved;
    s->open[s->nopen].untrusted = untrusted;
    s->open[s->nopen++].sensitive = sensitive;
}

static void rule_settle(rule_run *run, rule_session *s, const trail_row *r) {
    for (size_t i = 0; i < s->nopen; i++) {
        if (s->open[i].ticket != r->ticket) {
            continue;
        }
        run->overdue += trail_text(r, "how").n == strlen("overdue");
        if (rule_has(r, "refined", "untrusted")) {
            run->refined++;
            if (!s->open[i].untrusted || s->untrusted != 1) {
                rule_fault(run, r, "untrusted was taken back although not this call alone had brought it");
            }
            s->untrusted -= s->untrusted > 0;
        }
        if (rule_has(r, "refined", "sensitive")) {
            run->refined++;
            if (!s->open[i].sensitive || s->sensitive != 1) {
                rule_fault(run, r, "sensitive was taken back although not this call alone had brought it");
            }
            s->sensitive -= s->sensitive > 0;
        }
        s->open[i] = s->open[--s->nopen];
        return;
    }
    if (trail_true(r, "release")) {
        rule_fault(run, r, "a result was released for a call that is not open");
    }
}

/* A child has what its parent has now; the parent's calls in flight count until their deadline, under one ticket. */
static void rule_begin(rule_run *run, const trail_row *r) {
    rule_session *s = &run->v[r->session];
    const uint32_t parent = races_session_number(trail_text(r, "parent"));
    if (trail_true(r, "resumed")) {
        rule_fault(run, r, "nobody resumes a session here");
    }
    if (parent == UINT32_MAX) {
        return;
    }
    const rule_session *p = &run->v[parent];
    bool flight = false;
    for (size_t i = 0; i < p->nopen; i++) {
        flight = flight || p->open[i].once;
    }
    s->untrusted = p->untrusted > 0 ? 2 : 0; /* nothing of the child's own, so never refined away */
    s->sensitive = p->sensitive > 0 ? 2 : 0;
    s->standing = p->standing;
    if (flight) {
        s->open[s->nopen].ticket = 2; /* 1 is the join */
        s->open[s->nopen++].once = true;
    }
}

static void rule_row(rule_run *run, const trail_row *r) {
    rule_session *s = &run->v[r->session];
    const il_str id = trail_text(r, "approval");
    const size_t at = rule_request(s, id);
    if (trail_is(r, "begin")) {
        rule_begin(run, r);
    } else if (trail_is(r, "decision")) {
        rule_decision(run, s, r);
    } else if (trail_is(r, "settle")) {
        rule_settle(run, s, r);
    } else if (trail_is(r, "request")) {
        size_t free_at = 0;
        while (free_at < RULE_REQUESTS && s->requests[free_at].grant != GRANT_NONE) {
            free_at++;
        }
        if (free_at == RULE_REQUESTS || id.n >= IL_APPROVAL_ID_BYTES || at < RULE_REQUESTS) {
            rule_fault(run, r, "a request beyond the slots, or under an id that is taken");
            return;
        }
        memcpy(s->requests[free_at].id, id.p, id.n);
        s->requests[free_at].id[id.n] = '\0';
        s->requests[free_at].grant = GRANT_ASKED;
        s->requests[free_at].gains = s->gains;
    } else if (at == RULE_REQUESTS && (trail_is(r, "approve") || trail_is(r, "refuse") || trail_is(r, "lapse"))) {
        rule_fault(run, r, "an answer to a request that is not open");
    } else if (trail_is(r, "approve")) {
        if (s->requests[at].grant != GRANT_ASKED) {
            rule_fault(run, r, "approved twice");
        }
        s->requests[at].grant = GRANT_GIVEN;
    } else if (trail_is(r, "refuse") || trail_is(r, "lapse")) {
        run->voided += trail_is(r, "lapse");
        s->requests[at].grant = GRANT_NONE;
    }
    if (s->untrusted > 0 && s->sensitive > 0 && rule_live(s)) {
        rule_fault(run, r, "untrusted content, sensitive data and an unapproved egress are there together");
    }
}

size_t trail_check_rule(const trail *t) {
    rule_run run = {.v = calloc(t->sessions + 1u, sizeof(rule_session))};
    RACES_MUST(run.v);
    for (size_t i = 0; i < t->n; i++) {
        if (t->rows[i].session != UINT32_MAX) {
            rule_row(&run, &t->rows[i]);
        }
    }
    free(run.v);
    printf("  rule: %zu rows of %u sessions: %zu blocked, %zu approvals used, %zu requests lapsed, %zu calls overdue, %zu taints "
           "taken back; "
           "%zu faults\n",
           t->n, t->sessions, run.blocked, run.spent, run.voided, run.overdue, run.refined, run.faults);
    if (t->n > 20000 && (run.blocked == 0 || run.spent == 0 || run.voided == 0)) {
        printf("  rule: the run was idle\n"); /* nothing was shown */
        return 1;
    }
    return run.faults;
}
