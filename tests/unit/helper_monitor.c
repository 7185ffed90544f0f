/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char monitor_policy[] = "interlock: 1\n"
                              "machine: trifecta\n"
                              "ours: { email: ['@corp.example'] }\n"
                              "servers: { in: { trust: inside } }\n"
                              "approvals: { expires: 10m }\n"
                              "tools:\n"
                              "  - { match: in.n, effects: [] }\n"
                              "  - { match: in.u, effects: [untrusted] }\n"
                              "  - { match: in.s, effects: [sensitive] }\n"
                              "  - { match: in.us, effects: [untrusted, sensitive] }\n"
                              "  - { match: in.k, effects: [secret] }\n"
                              "  - { match: in.c, effects: [commit] }\n"
                              "  - { match: in.e, effects: [egress], sink: once }\n"
                              "  - { match: in.ue, effects: [untrusted, egress], sink: once }\n"
                              "  - { match: in.se, effects: [sensitive, egress], sink: once }\n"
                              "  - { match: in.use, effects: [untrusted, sensitive, egress], sink: once }\n"
                              "  - { match: in.E, effects: [egress] }\n"
                              "  - { match: in.uE, effects: [untrusted, egress] }\n"
                              "  - { match: in.sE, effects: [sensitive, egress] }\n"
                              "  - { match: in.usE, effects: [untrusted, sensitive, egress] }\n"
                              "  - { match: in.mail, effects: [egress], sink: once, to: { email: to }, reads: [body] }\n";

const char monitor_remembers[] =
    "interlock: 1\n"
    "machine: trifecta\n"
    "ours: { email: ['@corp.example'] }\n"
    "servers: { in: { trust: inside } }\n"
    "approvals: { expires: 10m }\n"
    "tools:\n"
    "  - { match: in.n, effects: [] }\n"
    "  - { match: in.task, effects: [], child: true }\n"
    "  - { match: in.u, effects: [untrusted] }\n"
    "  - { match: in.s, effects: [sensitive] }\n"
    "  - { match: in.e, effects: [egress], sink: once }\n"
    "  - match: in.read\n"
    "    effects: [untrusted, sensitive]\n"
    "    result: { from: json, items: '$[*]', authentic: { email: from }, free: [body] }\n"
    "  - match: in.note\n"
    "    effects: []\n"
    "    result: { from: json, items: '$[*]', authentic: { email: from }, free: [body] }\n"
    "  - { match: in.mail, effects: [egress], sink: once, audience: addressed, to: { email: to }, reads: [body] }\n"
    "  - { match: in.write, effects: [], stores: { path: path } }\n"
    "  - match: in.get\n"
    "    effects: { sensitive: 'labelled(args.path, \"sensitive\")', untrusted: 'labelled(args.path, \"untrusted\")' }\n";

/* ---- the store ------------------------------------------------------------------------------------- */

static store_object *store_find(test_store *t, il_str key) {
    for (size_t i = 0; i < t->nobjects; i++) {
        if (il_str_eq(il_str_of(t->objects[i].key), key)) {
            return &t->objects[i];
        }
    }
    return NULL;
}

static store_beside *store_find_beside(test_store *t, il_str space, il_str key) {
    for (size_t i = 0; i < t->nbeside; i++) {
        if (il_str_eq(il_str_of(t->beside[i].key), key) && il_str_eq(il_str_of(t->beside[i].space), space)) {
            return &t->beside[i];
        }
    }
    return NULL;
}

static bool store_sessions(il_str space) { return il_str_eq(space, IL_STR(IL_SPACE_SESSION)); }

static uint64_t store_version(test_store *t, const il_store_change *c) {
    const store_object *o = store_sessions(c->space) ? store_find(t, c->key) : NULL;
    const store_beside *b = store_sessions(c->space) ? NULL : store_find_beside(t, c->space, c->key);
    return o != NULL ? o->version : b != NULL ? b->version : 0;
}

static bool store_fails(test_store *t) {
    if (t->fail_after == 0) {
        return true;
    }
    t->fail_after -= t->fail_after == SIZE_MAX ? 0 : 1;
    return false;
}

static il_status store_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                            il_error *err) {
    test_store *t = ctx;
    il_status s = IL_OK;
    (void)pthread_mutex_lock(&t->lock);
    t->loads++;
    const store_object *o = store_sessions(space) ? store_find(t, key) : NULL;
    const store_beside *b = store_sessions(space) ? NULL : store_find_beside(t, space, key);
    if (store_fails(t)) {
        s = il_error_set(err, t->fail_with, "the test's store fails");
    } else if (b != NULL) {
        *n = b->n;
        *version = b->version;
        if (b->n > cap) {
            s = il_error_set(err, IL_E_LIMIT, "too small");
        } else {
            memcpy(buf, b->state, b->n);
        }
    } else if (o == NULL || o->version == 0) {
        s = il_error_set(err, IL_E_NOT_FOUND, "no such object");
    } else {
        *n = o->n;
        *version = o->version;
        if (o->n > cap) {
            s = il_error_set(err, IL_E_LIMIT, "too small");
        } else {
            memcpy(buf, o->state, o->n);
        }
    }
    (void)pthread_mutex_unlock(&t->lock);
    return s;
}

static void store_apply_beside(test_store *t, const il_store_change *c) {
    store_beside *b = store_find_beside(t, c->space, c->key);
    if (!c->moves) {
        return;
    }
    if (b == NULL) {
        if (t->nbeside == STORE_BESIDE) {
            abort();
        }
        b = &t->beside[t->nbeside++];
        memset(b, 0, sizeof *b);
        memcpy(b->space, c->space.p, c->space.n);
        memcpy(b->key, c->key.p, c->key.n);
    }
    free(b->state);
    b->state = malloc(c->state.n);
    memcpy(b->state, c->state.p, c->state.n);
    b->n = c->state.n;
    b->version++;
}

static void store_apply(test_store *t, const il_store_change *c) {
    store_object *o = store_find(t, c->key);
    if (!store_sessions(c->space)) {
        store_apply_beside(t, c);
        return;
    }
    if (c->moves) {
        if (o == NULL) {
            if (t->nobjects == STORE_OBJECTS) {
                abort();
            }
            o = &t->objects[t->nobjects++];
            memset(o, 0, sizeof *o);
            memcpy(o->key, c->key.p, c->key.n);
        }
        memcpy(o->state, c->state.p, c->state.n);
        o->n = c->state.n;
        o->version++;
    }
    for (size_t i = 0; i < c->nrows; i++) {
        if (t->nrows == STORE_ROWS) {
            abort();
        }
        store_row *r = &t->rows[t->nrows++];
        memset(r, 0, sizeof *r);
        memcpy(r->key, c->key.p, c->key.n);
        memcpy(r->kind, c->rows[i].kind.p, c->rows[i].kind.n);
        r->ticket = c->rows[i].ticket;
        r->moved = c->moves;
        r->version = o != NULL ? o->version : 0;
        r->body = malloc(c->rows[i].body.n + 1);
        memcpy(r->body, c->rows[i].body.p, c->rows[i].body.n);
        r->body[c->rows[i].body.n] = '\0';
    }
}

static il_status store_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    test_store *t = ctx;
    il_status s = IL_OK;
    void (*rival)(void *) = t->rival;
    (void)now_ms;
    if (rival != NULL) {
        t->rival = NULL;
        rival(t->rival_ctx);
    }
    (void)pthread_mutex_lock(&t->lock);
    t->commits++;
    if (store_fails(t)) {
        s = il_error_set(err, t->fail_with, "the test's store fails");
    }
    for (size_t i = 0; i < n && s == IL_OK; i++) {
        if (t->conflict || store_version(t, &changes[i]) != changes[i].expect) {
            s = il_error_set(err, IL_E_CONFLICT, "moved");
        }
    }
    for (size_t i = 0; i < n && s == IL_OK; i++) {
        store_apply(t, &changes[i]);
    }
    (void)pthread_mutex_unlock(&t->lock);
    return s;
}

/* ---- the host -------------------------------------------------------------------------------------- */

static bool host_now(void *ctx, uint64_t *out) {
    const monitor_case *c = ctx;
    *out = c->now;
    return !c->no_clock;
}

static bool host_random(void *ctx, void *out, size_t n) {
    monitor_case *c = ctx;
    uint64_t v = __atomic_add_fetch(&c->randoms, 1, __ATOMIC_RELAXED);
    memset(out, 0x5a, n);
    memcpy(out, &v, n < sizeof v ? n : sizeof v);
    return !c->no_random;
}

static bool host_gone(void *ctx, const uint8_t owner[IL_OWNER_BYTES]) {
    monitor_case *c = ctx;
    c->asked++;
    return c->dead[owner[0]];
}

/* ---- the case --------------------------------------------------------------------------------------- */

il_status monitor_new(monitor_case *c, const il_policy *policy, const il_machine *machine, il_store store, bool enforce,
                      il_monitor **out) {
    il_monitor_config config = {
        .size = sizeof config,
        .policy = policy,
        .machine = machine,
        .store = store,
        .host = {.size = sizeof(il_host), .ctx = c, .now_ms = host_now, .random = host_random, .gone = host_gone},
        .enforce = enforce,
        .cache = c->cache,
    };
    memset(config.host.owner, c->owner, sizeof config.host.owner);
    return il_monitor_new(&c->memory.alloc, &config, out, &c->err);
}

il_monitor *monitor_make(monitor_case *c, const il_policy *policy, const il_machine *machine, bool enforce) {
    const il_store store = {.size = sizeof(il_store), .ctx = &c->store, .load = store_load, .commit = store_commit};
    il_monitor *m = NULL;
    if (monitor_new(c, policy, machine, store, enforce, &m) != IL_OK) {
        fail_msg("%s", c->err.msg);
    }
    return m;
}

static void monitor_forget(monitor_case *c) {
    for (size_t i = 0; i < c->store.nrows; i++) {
        free(c->store.rows[i].body);
    }
    for (size_t i = 0; i < c->store.nbeside; i++) {
        free(c->store.beside[i].state);
    }
    c->store.nrows = c->store.nobjects = c->store.nbeside = 0;
}

void monitor_again(monitor_case *c) {
    monitor_forget(c);
    c->store.fail_after = SIZE_MAX;
    c->store.fail_with = IL_E_IO;
    c->store.conflict = false;
    c->memory.left = SIZE_MAX;
    c->no_clock = c->no_random = false;
    c->now = 1000000;
    il_begin how = {.size = sizeof how, .principal = IL_STR("ana")};
    if (il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err) != IL_OK) {
        fail_msg("%s", c->err.msg);
    }
}

void monitor_case_init(monitor_case *c, const char *yaml) { monitor_case_init_with(c, "trifecta", yaml); }

void monitor_case_init_with(monitor_case *c, const char *machine, const char *yaml) {
    memset(c, 0, sizeof *c);
    policy_case_init(&c->policy, machine);
    policy_must(&c->policy, yaml);
    policy_memory_init(&c->memory);
    (void)pthread_mutex_init(&c->store.lock, NULL);
    c->store.rows = calloc(STORE_ROWS, sizeof *c->store.rows);
    c->store.beside = calloc(STORE_BESIDE, sizeof *c->store.beside);
    assert_non_null(c->store.rows);
    assert_non_null(c->store.beside);
    c->monitor = monitor_make(c, c->policy.policy, NULL, false);
    monitor_again(c);
}

void monitor_case_free(monitor_case *c) {
    monitor_forget(c);
    free(c->store.rows);
    free(c->store.beside);
    il_monitor_free(c->monitor);
    policy_case_free(&c->policy);
    (void)pthread_mutex_destroy(&c->store.lock);
}

il_status monitor_decide_in(monitor_case *c, const char *session, const char *tool, const char *args) {
    il_call call = {.size = sizeof call, .tool = il_str_of(tool), .args = policy_json(&c->policy, args)};
    size_t dot = il_str_find(call.tool, IL_STR("."), 0);
    if (dot != SIZE_MAX) {
        call.server = il_str_part(call.tool, 0, dot);
        call.tool = il_str_part(call.tool, dot + 1, call.tool.n);
    }
    c->d = (il_decision)IL_DECISION_INIT;
    memset(&c->err, 0, sizeof c->err);
    return il_monitor_decide(c->monitor, il_str_of(session), &call, &c->d, &c->err);
}

const il_decision *monitor_decide(monitor_case *c, const char *tool, const char *args) {
    if (monitor_decide_in(c, "s1", tool, args) != IL_OK) {
        fail_msg("%s: %s (%s)", tool, c->d.reason, c->err.msg);
    }
    return &c->d;
}

il_status monitor_settle(monitor_case *c, uint64_t ticket, il_outcome_kind how, uint32_t absent) {
    il_outcome o = {.size = sizeof o, .how = how, .absent = absent};
    c->s = (il_settlement)IL_SETTLEMENT_INIT;
    return il_monitor_settle(c->monitor, IL_STR("s1"), ticket, &o, &c->s, &c->err);
}

il_status monitor_settle_with(monitor_case *c, uint64_t ticket, const char *result) {
    il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE, .result = policy_json(&c->policy, result), .bare = true};
    c->s = (il_settlement)IL_SETTLEMENT_INIT;
    memset(&c->err, 0, sizeof c->err);
    return il_monitor_settle(c->monitor, IL_STR("s1"), ticket, &o, &c->s, &c->err);
}

uint64_t monitor_allow(monitor_case *c, const char *tool, const char *args) {
    const il_decision *d = monitor_decide(c, tool, args);
    if (d->action != IL_ACTION_ALLOW || !d->run || d->ticket == 0 || d->layer != IL_LAYER_NONE || d->reason[0] != '\0') {
        fail_msg("%s was not allowed: %s", tool, d->reason);
    }
    return d->ticket;
}

void monitor_run(monitor_case *c, const char *tool, const char *args) {
    uint64_t ticket = monitor_allow(c, tool, args);
    assert_int_equal(monitor_settle(c, ticket, IL_OUTCOME_DONE, 0), IL_OK);
    assert_true(c->s.release);
}

void monitor_deny(monitor_case *c, const char *tool, const char *args, const char *reason) {
    const il_decision *d = monitor_decide(c, tool, args);
    if (d->action != IL_ACTION_BLOCK || d->run || d->ticket != 0 || strcmp(d->reason, reason) != 0) {
        fail_msg("%s: %s %s, not block %s", tool, il_action_name(d->action), d->reason, reason);
    }
}

const char *monitor_ask(monitor_case *c, const char *tool, const char *args) {
    const il_decision *d = monitor_decide(c, tool, args);
    if (d->action != IL_ACTION_REQUIRE_APPROVAL || d->run || d->ticket != 0 || d->approval[0] == '\0') {
        fail_msg("%s: %s %s, no request", tool, il_action_name(d->action), d->reason);
    }
    return c->d.approval;
}

store_object *monitor_object(monitor_case *c, const char *session) { return store_find(&c->store, il_str_of(session)); }

store_beside *monitor_beside_at(monitor_case *c, const char *space, size_t at) {
    for (size_t i = 0; i < c->store.nbeside; i++) {
        if (strcmp(c->store.beside[i].space, space) == 0 && at-- == 0) {
            return &c->store.beside[i];
        }
    }
    return NULL;
}

size_t monitor_beside(const monitor_case *c, const char *space) {
    size_t n = 0;
    for (size_t i = 0; i < c->store.nbeside; i++) {
        n += strcmp(c->store.beside[i].space, space) == 0 ? 1 : 0;
    }
    return n;
}

il_session monitor_session(monitor_case *c, const char *session) {
    il_session s;
    const store_object *o = monitor_object(c, session);
    assert_non_null(o);
    assert_int_equal(il_session_decode(o->state, o->n, &s, &c->err), IL_OK);
    return s;
}

const char *monitor_var(monitor_case *c, const char *name) {
    il_session s = monitor_session(c, "s1");
    uint32_t var = il_machine_var_find(c->policy.machine, il_str_of(name));
    il_str value = il_machine_value_name(c->policy.machine, var, il_machine_value(c->policy.machine, s.state, var));
    il_str copy = {0};
    assert_int_equal(il_arena_copy(&c->policy.arena, value, &copy, NULL), IL_OK);
    return copy.p;
}

void monitor_is(monitor_case *c, const char *name, const char *value) {
    if (strcmp(monitor_var(c, name), value) != 0) {
        fail_msg("%s is %s, not %s", name, monitor_var(c, name), value);
    }
}

size_t monitor_rows(const monitor_case *c, const char *kind) {
    size_t n = 0;
    for (size_t i = 0; i < c->store.nrows; i++) {
        n += strcmp(c->store.rows[i].kind, kind) == 0 ? 1u : 0u;
    }
    return n;
}

const il_json *monitor_row(monitor_case *c, const char *kind) {
    for (size_t i = c->store.nrows; i > 0; i--) {
        if (strcmp(c->store.rows[i - 1].kind, kind) == 0) {
            return policy_json(&c->policy, c->store.rows[i - 1].body);
        }
    }
    fail_msg("no row %s", kind);
    return NULL;
}

void monitor_put(monitor_case *c, const char *key, const il_session *s) {
    store_object *o = monitor_object(c, key);
    if (o == NULL) {
        o = &c->store.objects[c->store.nobjects++];
        memset(o, 0, sizeof *o);
        memcpy(o->key, key, strlen(key));
    }
    assert_int_equal(il_session_encode(s, o->state, sizeof o->state, &o->n, &c->err), IL_OK);
    o->version++;
}
