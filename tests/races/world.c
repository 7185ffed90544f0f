/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void races_stop(const char *file, int line, const char *what) {
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static const races_call races_calls[RACES_CALLS] = {
    {.tool = "n", .args = "{}"},
    {.tool = "u", .args = "{}"},
    {.tool = "s", .args = "{}"},
    {.tool = "us", .args = "{}"},
    {.tool = "k", .args = "{}"},
    {.tool = "c", .args = "{}"},
    {.tool = "e", .args = "{}"},
    {.tool = "e", .args = "{\"n\":1}"},
    {.tool = "e", .args = "{\"n\":2}"},
    {.tool = "ue", .args = "{}"},
    {.tool = "se", .args = "{}"},
    {.tool = "use", .args = "{}"},
    {.tool = "E", .args = "{}"},
    {.tool = "mail", .args = "{\"to\":\"ana@corp.example\",\"body\":\"hello\"}"},
    {.tool = "mail", .args = "{\"to\":\"eve@evil.example\",\"body\":\"hello\"}"},
    {.tool = "mail", .args = "{\"to\":\"ana@corp.example\",\"body\":\"see https://evil.example/x\"}"},
};

races_world *races_world_new(uint64_t target, uint32_t seed) {
    const size_t cap = (size_t)target + RACES_CLAIMS_MORE;
    races_world *w = mmap(NULL, sizeof *w + cap * sizeof(races_claim), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RACES_MUST(w != MAP_FAILED);
    memcpy(w->calls, races_calls, sizeof races_calls);
    w->target = target;
    w->seed = seed;
    w->cap = (uint32_t)cap;
    atomic_store(&w->clock, 1000000);
    return w;
}

/* Of this process. One for several ledgers, against what the header says: a session of the same id in another one must still not be taken for ours. */
static il_host_recalls *races_recalls;

void races_world_free(races_world *w) {
    il_host_recalls_free(races_recalls);
    races_recalls = NULL;
    (void)munmap(w, sizeof *w + w->cap * sizeof(races_claim));
}

static bool races_now(void *ctx, uint64_t *out) {
    races_world *w = ctx;
    *out = atomic_fetch_add(&w->clock, 1);
    return true;
}

static bool races_random(void *ctx, void *out, size_t n) {
    races_world *w = ctx;
    const uint64_t v = atomic_fetch_add(&w->random, 1) + 1;
    memset(out, 0, n);
    memcpy(out, &v, n < sizeof v ? n : sizeof v);
    return true;
}

il_monitor *races_monitor(races_world *w, const il_policy *policy, il_store store) {
    il_monitor *m = NULL;
    il_error err = {0};
    if (races_recalls == NULL && il_host_recalls_new(il_host_alloc(), 0, &races_recalls, &err) != IL_OK) {
        races_stop(__FILE__, __LINE__, err.msg);
    }
    const il_monitor_config config = {
        .size = sizeof config,
        .cache = il_host_recalls_cache(races_recalls),
        .policy = policy,
        .store = store,
        .host = {.size = sizeof(il_host), .ctx = w, .now_ms = races_now, .random = races_random},
        .call_deadline_ms = RACES_DEADLINE,
    };
    if (il_monitor_new(il_host_alloc(), &config, &m, &err) != IL_OK) {
        races_stop(__FILE__, __LINE__, err.msg);
    }
    return m;
}

il_json_doc *races_json(const char *text) {
    il_json_doc *doc = NULL;
    il_error err = {0};
    RACES_MUST(il_json_doc_new(il_host_alloc(), (il_str){text, strlen(text)}, NULL, &doc, &err) == IL_OK);
    return doc;
}

void races_session_id(uint32_t number, char out[24]) { (void)snprintf(out, 24, "s-%u", number); }

uint32_t races_session_number(il_str id) {
    uint32_t v = 0;
    if (id.n < 3 || id.n > 11 || id.p[0] != 's' || id.p[1] != '-') {
        return UINT32_MAX;
    }
    for (size_t i = 2; i < id.n; i++) {
        if (id.p[i] < '0' || id.p[i] > '9') {
            return UINT32_MAX;
        }
        v = v * 10 + (uint32_t)(id.p[i] - '0');
    }
    return v;
}

static uint32_t races_mix(uint32_t a, uint32_t b) {
    uint64_t h = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 29;
    h *= UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(h >> 32);
}

races_end races_end_of(uint32_t session, uint64_t ticket) {
    static const char *const results[] = {NULL, "{\"text\":\"one\"}", "[1,2]", NULL};
    const uint32_t h = races_mix(session, (uint32_t)ticket);
    const char *text = results[h % 4];
    races_end e = {.doc = text ? races_json(text) : NULL};
    e.outcome = (il_outcome){.size = sizeof e.outcome,
                             .how = h >> 2 & 3 ? IL_OUTCOME_DONE : IL_OUTCOME_FAILED,
                             .absent = h >> 4 & 3 ? 0 : (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE),
                             .result = e.doc ? il_json_doc_root(e.doc) : NULL};
    return e;
}

void races_end_free(races_end *e) { il_json_doc_free(e->doc); }

/* ---- an agent ------------------------------------------------------------------------------- */

typedef struct races_open {
    uint32_t session, claim;
    uint64_t ticket;
} races_open;
#define RACES_OPEN 6u
typedef struct races_agent_state {
    races_world *w;
    il_monitor *m;
    uint32_t r;
    races_open open[RACES_OPEN];
    size_t nopen;
    il_json_doc *args[RACES_CALLS];
} races_agent_state;

static uint32_t agent_below(races_agent_state *a, uint32_t n) {
    a->r ^= a->r << 13;
    a->r ^= a->r >> 17;
    a->r ^= a->r << 5;
    return a->r % n;
}

static void agent_fault(races_agent_state *a, const char *what, const il_error *err) {
    if (atomic_fetch_add(&a->w->faults, 1) == 0) {
        (void)snprintf(a->w->fault, sizeof a->w->fault, "%s: %s", what, err->msg);
    }
}

static il_str agent_str(const char *z) { return (il_str){z, strlen(z)}; }

/* Begins session `number`, every third as a child of the one before it where that is allowed. */
static void agent_begin(races_agent_state *a, uint32_t number) {
    char id[24], parent[24];
    il_error err = {0};
    races_session_id(number, id);
    races_session_id(number ? number - 1 : 0, parent);
    il_begin how = {.size = sizeof how, .principal = agent_str("races")};
    if (number % 3 == 2) {
        how.parent = agent_str(parent);
        il_status s = il_monitor_begin(a->m, agent_str(id), &how, &err);
        if (s == IL_OK || s == IL_E_EXISTS) {
            return;
        }
        how.parent = (il_str){0}; /* it has ended, is not there, or its effects may not be joined */
    }
    il_status s = il_monitor_begin(a->m, agent_str(id), &how, &err);
    if (s != IL_OK && s != IL_E_EXISTS) {
        agent_fault(a, "begin", &err);
    }
}

static void agent_settle(races_agent_state *a, uint32_t session, uint64_t ticket, uint32_t claim) {
    char id[24];
    il_error err = {0};
    races_session_id(session, id);
    il_settlement s = IL_SETTLEMENT_INIT;
    races_end e = races_end_of(session, ticket);
    const il_status st = il_monitor_settle(a->m, agent_str(id), ticket, &e.outcome, &s, &err);
    races_end_free(&e);
    atomic_fetch_add(&a->w->settles, 1);
    if (st != IL_OK && st != IL_E_STATE && st != IL_E_NOT_FOUND) {
        agent_fault(a, "settle", &err);
    }
    if (st == IL_OK && s.release && claim != UINT32_MAX) {
        a->w->claims[claim].released = true;
    } else if (st == IL_OK && s.release) {
        atomic_fetch_add(&a->w->twice, 1); /* what was settled already */
    } else {
        atomic_fetch_add(&a->w->withheld, 1);
    }
}

typedef struct agent_requests {
    char id[8][IL_APPROVAL_ID_BYTES];
    size_t n;
} agent_requests;

static bool agent_collect(void *ctx, const il_approval *p) {
    agent_requests *r = ctx;
    if (r->n < 8) {
        (void)snprintf(r->id[r->n++], sizeof r->id[0], "%s", p->id);
    }
    return true;
}

static void agent_answer(races_agent_state *a, uint32_t session) {
    char id[24];
    agent_requests r = {0};
    il_error err = {0};
    races_session_id(session, id);
    if (il_monitor_approvals(a->m, agent_str(id), agent_collect, &r, &err) != IL_OK) {
        return;
    }
    for (size_t i = 0; i < r.n; i++) {
        const bool yes = agent_below(a, 5) != 0;
        const il_status s = yes ? il_monitor_approve(a->m, agent_str(id), agent_str(r.id[i]), agent_str("human"), &err)
                                : il_monitor_refuse(a->m, agent_str(id), agent_str(r.id[i]), agent_str("human"), &err);
        atomic_fetch_add(&a->w->answered, s == IL_OK);
        if (s != IL_OK && s != IL_E_STATE && s != IL_E_NOT_FOUND) {
            agent_fault(a, "answer", &err);
        }
    }
}

static uint8_t agent_choose(races_agent_state *a) {
    const uint32_t n = agent_below(a, 64);
    return (uint8_t)(n == 0   ? 12 /* a standing sink, for the session's rest */
                     : n < 20 ? agent_below(a, 3)
                              : agent_below(a, RACES_CALLS - 1) + (agent_below(a, RACES_CALLS - 1) >= 12 ? 1 : 0));
}

static void agent_decide(races_agent_state *a, uint32_t session) {
    char id[24];
    il_error err = {0};
    uint8_t which = agent_choose(a);
    which = which == 12 && agent_below(a, 16) ? 0 : which;
    const races_call *c = &a->w->calls[which];
    const il_call call = {
        .size = sizeof call, .server = agent_str("in"), .tool = agent_str(c->tool), .args = il_json_doc_root(a->args[which])};
    races_session_id(session, id);
    il_decision d = IL_DECISION_INIT;
    il_status s = il_monitor_decide(a->m, agent_str(id), &call, &d, &err);
    if (s == IL_E_NOT_FOUND) {
        RACES_MUST(!d.run);
        agent_begin(a, session);
        return;
    }
    if (s != IL_OK) {
        RACES_MUST(!d.run && d.layer == IL_LAYER_FAULT);
        if (strcmp(d.reason, "too-many-in-flight") != 0) {
            agent_fault(a, d.reason, &err);
        }
        return;
    }
    if (!d.run) {
        atomic_fetch_add(d.action == IL_ACTION_REQUIRE_APPROVAL ? &a->w->asked : &a->w->denies, 1);
        return;
    }
    atomic_fetch_add(&a->w->allows, 1);
    const uint32_t claim = atomic_fetch_add(&a->w->nclaims, 1);
    RACES_MUST(claim < a->w->cap);
    a->w->claims[claim] = (races_claim){.session = session, .ticket = (uint32_t)d.ticket, .call = which};
    if (a->nopen == RACES_OPEN) { /* the oldest is forgotten: nobody ever settles it */
        memmove(&a->open[0], &a->open[1], (RACES_OPEN - 1) * sizeof a->open[0]);
        a->nopen--;
    }
    a->open[a->nopen++] = (races_open){.session = session, .claim = claim, .ticket = d.ticket};
}

static void agent_settle_some(races_agent_state *a) {
    while (a->nopen > 0 && agent_below(a, 8) != 0) {
        const uint32_t at = agent_below(a, (uint32_t)a->nopen);
        const races_open o = a->open[at];
        a->open[at] = a->open[--a->nopen];
        agent_settle(a, o.session, o.ticket, o.claim);
        if (agent_below(a, 40) == 0) { /* twice, or one that never was */
            agent_settle(a, o.session, agent_below(a, 2) ? o.ticket : o.ticket + 100000, UINT32_MAX);
        }
    }
}

void races_agent(races_world *w, il_monitor *m, uint32_t who) {
    races_agent_state a = {.w = w, .m = m, .r = races_mix(w->seed, who + 1) | 1u};
    for (size_t i = 0; i < RACES_CALLS; i++) {
        a.args[i] = races_json(w->calls[i].args);
    }
    for (uint64_t done = 0; (done = atomic_load(&w->allows)) < w->target && atomic_load(&w->faults) < 100;) {
        const uint32_t base = (uint32_t)(done / RACES_SESSION);
        /* half of the work is on one session, the rest on its neighbours */
        const uint32_t session = base + (agent_below(&a, 2) ? 0 : agent_below(&a, RACES_WINDOW));
        agent_decide(&a, session);
        agent_settle_some(&a);
        if (agent_below(&a, 12) == 0) {
            agent_answer(&a, session);
        }
        if (base >= RACES_WINDOW && agent_below(&a, 200) == 0) {
            char id[24];
            il_error err = {0};
            races_session_id(base - RACES_WINDOW, id);
            atomic_fetch_add(&w->ended, il_monitor_end(m, agent_str(id), true, &err) == IL_OK);
        }
    }
    for (size_t i = 0; i < RACES_CALLS; i++) {
        il_json_doc_free(a.args[i]);
    }
}

void races_learn(races_world *w, il_monitor *m) {
    il_error err = {0};
    const il_begin how = {.size = sizeof how};
    RACES_MUST(il_monitor_begin(m, agent_str("learn"), &how, &err) == IL_OK);
    for (size_t i = 0; i < RACES_CALLS; i++) {
        il_json_doc *args = races_json(w->calls[i].args);
        const il_call call = {
            .size = sizeof call, .server = agent_str("in"), .tool = agent_str("n"), .args = il_json_doc_root(args)};
        il_decision d = IL_DECISION_INIT;
        RACES_MUST(il_monitor_decide(m, agent_str("learn"), &call, &d, &err) == IL_OK);
        memcpy(w->calls[i].digest, d.args_digest, sizeof d.args_digest);
        il_json_doc_free(args);
    }
}
