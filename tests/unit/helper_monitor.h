/* SPDX-License-Identifier: Apache-2.0 */
/* A store in memory that locks, counts and fails on demand, a clock that is set by hand, and short ways to drive a monitor. */
#pragma once
#include "helper_policy.h"

#include "interlock/monitor.h"
#include "monitor/session.h"
#include <pthread.h>

#define STORE_OBJECTS 16
#define STORE_ROWS 20000
typedef struct store_object {
    char key[IL_SESSION_ID_BYTES];
    uint8_t state[IL_SESSION_STATE_MAX];
    size_t n;
    uint64_t version;
} store_object;
typedef struct store_row {
    char key[IL_SESSION_ID_BYTES];
    char kind[16];
    uint64_t ticket;
    bool moved;       /* its commit moved the object */
    uint64_t version; /* of the object after it */
    char *body;
} store_row;
#define STORE_BESIDE 1024
typedef struct store_beside { /* an object that is no session */
    char space[16], key[IL_SESSION_ID_BYTES];
    uint8_t *state;
    size_t n;
    uint64_t version;
} store_beside;
typedef struct test_store {
    pthread_mutex_t lock;
    store_object objects[STORE_OBJECTS];
    store_beside *beside;
    size_t nbeside;
    store_row *rows;
    size_t nobjects, nrows, loads, commits;
    size_t fail_after; /* calls until one fails; SIZE_MAX: never */
    il_status fail_with;
    bool conflict;            /* every commit finds that somebody else was faster */
    void (*rival)(void *ctx); /* called once before the next commit: somebody else's turn */
    void *rival_ctx;
} test_store;

typedef struct monitor_case {
    policy_case policy;   /* the machine, documents and arguments */
    policy_memory memory; /* the monitor's */
    test_store store;
    il_monitor *monitor;
    uint64_t now;
    bool no_clock, no_random;
    uint64_t randoms;
    uint8_t owner;                /* of the monitors that are made from now on: this byte sixteen times; 0: nobody */
    bool dead[256];               /* owners that are gone */
    size_t asked;                 /* how often that was asked */
    const il_recall_cache *cache; /* of the monitors that are made from now on */
    il_decision d;
    il_settlement s;
    il_error err;
} monitor_case;

/* Compiles `yaml` and makes a monitor and a session `s1`. */
void monitor_case_init(monitor_case *c, const char *yaml);
void monitor_case_init_with(monitor_case *c, const char *machine, const char *yaml);
void monitor_case_free(monitor_case *c);
/* Forgets every session and row; begins `s1` again. */
void monitor_again(monitor_case *c);
il_status monitor_new(monitor_case *c, const il_policy *policy, const il_machine *machine, il_store store, bool enforce,
                      il_monitor **out);
il_monitor *monitor_make(monitor_case *c, const il_policy *policy, const il_machine *machine, bool enforce);

/* On session `s1` unless it is named. The result stands in c->d or c->s too. */
il_status monitor_decide_in(monitor_case *c, const char *session, const char *tool, const char *args);
const il_decision *monitor_decide(monitor_case *c, const char *tool, const char *args);
il_status monitor_settle(monitor_case *c, uint64_t ticket, il_outcome_kind how, uint32_t absent);
/* As done, with a result (JSON text) as the payload itself. */
il_status monitor_settle_with(monitor_case *c, uint64_t ticket, const char *result);
/* Decides, expects an allow, and gives the ticket. */
uint64_t monitor_allow(monitor_case *c, const char *tool, const char *args);
/* Decides and settles as done. */
void monitor_run(monitor_case *c, const char *tool, const char *args);
void monitor_deny(monitor_case *c, const char *tool, const char *args, const char *reason);
/* Decides, expects to wait for a human, and gives the approval's id (valid until the next decision). */
const char *monitor_ask(monitor_case *c, const char *tool, const char *args);

store_object *monitor_object(monitor_case *c, const char *session);
/* The number of objects of another space than sessions', and one of them: NULL when there are not so many. */
size_t monitor_beside(const monitor_case *c, const char *space);
store_beside *monitor_beside_at(monitor_case *c, const char *space, size_t at);
il_session monitor_session(monitor_case *c, const char *session);
/* The value's name of a machine variable in `s1`: "held", "true", "2". */
const char *monitor_var(monitor_case *c, const char *name);
void monitor_is(monitor_case *c, const char *name, const char *value);
/* Rows of a kind, all sessions. */
size_t monitor_rows(const monitor_case *c, const char *kind);
/* The latest row's body of a kind, parsed. */
const il_json *monitor_row(monitor_case *c, const char *kind);
/* Writes a session into the store as it is. */
void monitor_put(monitor_case *c, const char *key, const il_session *s);

/* A policy with one tool for each effect: in.u, in.s, in.us, in.k (secret), in.n (none), in.e and in.E (once and standing egress), in.ue, in.se, in.use,
 * in.uE, in.sE, in.usE, in.c (commit); in.mail is a once sink to corp.example. Approvals for ten minutes. */
extern const char monitor_policy[];
/* One that remembers: in.read (untrusted, sensitive) with an authentic field `from` and a free `body`, in.note (nothing; its result has an authentic `from`), in.mail to
 * addressees, in.n, in.write and in.dir with a store of paths, in.get and in.ls that are sensitive and untrusted where `labelled` says so, in.task. */
extern const char monitor_remembers[];
