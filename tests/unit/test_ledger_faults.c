/* SPDX-License-Identifier: Apache-2.0 */
/* A whole session on a disk where the n-th operation fails, for every n; on one that tears the n-th write and takes the process with it; and with
 * an SQLite, or a library, that gets no memory for the n-th time. What fails denies; nothing ran and nothing was released without its row; afterwards the
 * ledger is whole and no taint is lost. */
#include "helper_ledger.h"
#include "helper_memory.h"
#include "helper_policy.h"
#include "helper_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interlock/ledger.h"
#include "interlock/monitor.h"
#include "monitor/session.h"

static const char faults_policy[] = "interlock: 1\n"
                                    "machine: trifecta\n"
                                    "servers: { in: { trust: inside } }\n"
                                    "approvals: { expires: 10m }\n"
                                    "tools:\n"
                                    "  - { match: in.n, effects: [] }\n"
                                    "  - { match: in.u, effects: [untrusted] }\n"
                                    "  - { match: in.s, effects: [sensitive] }\n"
                                    "  - { match: in.e, effects: [egress], sink: once }\n"
                                    "  - { match: in.E, effects: [egress] }\n";

typedef enum told_kind { TOLD_RUN = 1, TOLD_RELEASED, TOLD_DENIED, TOLD_FAULT, TOLD_DONE } told_kind;
typedef struct told { /* what the caller was told, as it was told */
    told_kind kind;
    uint32_t effects;
    uint64_t ticket;
} told;
#define TOLD_MAX 64u

typedef struct faults_case {
    policy_case policy;
    const il_alloc *alloc; /* of the ledger and the monitor */
    char path[LEDGER_TEST_PATH];
    uint64_t now, randoms;
    told told[TOLD_MAX];
    size_t ntold;
    il_durability durability;
    int pipe; /* also goes there, for a process that may be gone the next moment; -1: nowhere */
} faults_case;

static bool faults_now(void *ctx, uint64_t *out) {
    *out = ++((faults_case *)ctx)->now;
    return true;
}

static bool faults_random(void *ctx, void *out, size_t n) {
    memset(out, 0, n);
    memcpy(out, &(uint64_t){++((faults_case *)ctx)->randoms}, n < 8 ? n : 8);
    return true;
}

static void faults_tell(faults_case *c, told_kind kind, uint64_t ticket, uint32_t effects) {
    const told t = {.kind = kind, .effects = effects, .ticket = ticket};
    assert_true(c->ntold < TOLD_MAX);
    c->told[c->ntold++] = t;
    if (c->pipe >= 0 && write(c->pipe, &t, sizeof t) != sizeof t) {
        abort();
    }
}

static uint64_t faults_call(faults_case *c, il_monitor *m, const char *tool, char approval[IL_APPROVAL_ID_BYTES]) {
    il_decision d = IL_DECISION_INIT;
    il_error err = {0};
    const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(tool)};
    const il_status s = il_monitor_decide(m, IL_STR("s1"), &call, &d, &err);
    if (s != IL_OK) { /* by its status and by its content */
        assert_false(d.run);
        assert_int_equal(d.action, IL_ACTION_BLOCK);
        assert_int_equal(d.layer, IL_LAYER_FAULT);
        assert_int_not_equal(d.reason[0], '\0');
    }
    faults_tell(c, d.run ? TOLD_RUN : s == IL_OK ? TOLD_DENIED : TOLD_FAULT, d.ticket, d.effects);
    if (approval != NULL) {
        memcpy(approval, d.approval, IL_APPROVAL_ID_BYTES);
    }
    return d.run ? d.ticket : 0;
}

static void faults_settle(faults_case *c, il_monitor *m, uint64_t ticket) {
    il_settlement out = IL_SETTLEMENT_INIT;
    const il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE};
    if (ticket == 0) {
        return;
    }
    const il_status s = il_monitor_settle(m, IL_STR("s1"), ticket, &o, &out, NULL);
    assert_true(s == IL_OK || !out.release);
    faults_tell(c, out.release ? TOLD_RELEASED : TOLD_FAULT, ticket, 0);
}

static il_monitor *faults_monitor(faults_case *c, il_ledger *l) {
    il_monitor *m = NULL;
    il_error err = {0};
    const il_monitor_config config = {
        .size = sizeof config,
        .policy = c->policy.policy,
        .store = il_ledger_store(l),
        .host = {.size = sizeof(il_host), .ctx = c, .now_ms = faults_now, .random = faults_random},
    };
    if (il_monitor_new(c->alloc, &config, &m, &err) != IL_OK) {
        assert_null(m);
        assert_int_equal(err.code, IL_E_MEMORY);
    }
    return m;
}

static il_ledger *faults_open(faults_case *c) {
    il_ledger *l = NULL;
    const il_ledger_options options = {.size = sizeof options, .busy_ms = 1, .durability = c->durability};
    if (il_ledger_open(c->alloc, c->path, &options, &l, NULL) != IL_OK) {
        assert_null(l);
        faults_tell(c, TOLD_FAULT, 0, 0);
    }
    return l;
}

/* A session's whole life: every kind of decision, two calls at once, an approval that is given and used. */
static void faults_live(faults_case *c, il_ledger *l) {
    static const char *const tools[] = {"n", "e", "u", "n", "s", "u", "s", "n"};
    char approval[IL_APPROVAL_ID_BYTES] = "";
    il_monitor *m = faults_monitor(c, l);
    if (m == NULL) {
        faults_tell(c, TOLD_FAULT, 0, 0);
        return;
    }
    const il_begin how = {.size = sizeof how, .resume = true};
    if (il_monitor_begin(m, IL_STR("s1"), &how, NULL) != IL_OK) {
        faults_tell(c, TOLD_FAULT, 0, 0);
    }
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        const uint64_t first = faults_call(c, m, tools[i], NULL), second = i % 3 == 1 ? faults_call(c, m, "n", NULL) : 0;
        faults_settle(c, m, first);
        faults_settle(c, m, second);
    }
    (void)faults_call(c, m, "E", NULL);
    (void)faults_call(c, m, "e", approval);
    if (approval[0] != '\0' && il_monitor_approve(m, IL_STR("s1"), il_str_of(approval), IL_STR("ana"), NULL) != IL_OK) {
        faults_tell(c, TOLD_FAULT, 0, 0);
    }
    faults_settle(c, m, faults_call(c, m, "e", NULL));
    (void)faults_call(c, m, "n", NULL); /* left open */
    il_monitor_free(m);
    faults_tell(c, TOLD_DONE, 0, 0);
}

static void faults_session(faults_case *c) {
    il_ledger *l = faults_open(c);
    if (l != NULL) {
        faults_live(c, l);
        il_ledger_close(l);
    }
}

/* ---- the judge ------------------------------------------------------------------------------ */

typedef struct faults_trail {
    policy_case *policy;
    struct {
        bool ran, released, settled;
        uint32_t effects;
    } tickets[64];
    const char *wrong;
} faults_trail;

static bool faults_row(void *ctx, const il_ledger_row *row) {
    faults_trail *t = ctx;
    char text[4096];
    assert_true(row->body.n < sizeof text && row->ticket < 64);
    memcpy(text, row->body.p, row->body.n);
    text[row->body.n] = '\0';
    const il_json *body = policy_json(t->policy, text);
    if (il_str_eq(row->kind, IL_STR("decision")) && il_json_bool(il_json_get(body, IL_STR("run")))) {
        t->wrong = t->tickets[row->ticket].ran ? "a ticket was given twice" : t->wrong;
        t->tickets[row->ticket].ran = true;
        for (const il_json *e = il_json_first(il_json_get(body, IL_STR("effects"))); e != NULL; e = il_json_next(e)) {
            t->tickets[row->ticket].effects |= il_str_eq(il_json_text(e), IL_STR("untrusted"))   ? (uint32_t)IL_UNTRUSTED
                                               : il_str_eq(il_json_text(e), IL_STR("sensitive")) ? (uint32_t)IL_SENSITIVE
                                                                                                 : 0u;
        }
    } else if (il_str_eq(row->kind, IL_STR("settle")) && il_json_bool(il_json_get(body, IL_STR("release")))) {
        t->wrong = !t->tickets[row->ticket].ran      ? "a settle without its call"
                   : t->tickets[row->ticket].settled ? "a call was settled twice"
                                                     : t->wrong;
        t->tickets[row->ticket].settled = true;
    }
    return true;
}

/* NULL: all is well. */
static const char *faults_judge_open(faults_case *c, il_ledger *l) {
    il_error err = {0};
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    faults_trail t = {.policy = &c->policy};
    bool chained = false;
    static uint8_t bytes[IL_SESSION_STATE_MAX];
    static il_session s;
    size_t n = 0;
    uint64_t version = 0;
    (void)ledger_test_rows(l, "", &chained);
    t.wrong = chained ? NULL : "the chain is broken";
    assert_int_equal(il_ledger_rows(l, IL_STR("s1"), faults_row, &t, &err), IL_OK);
    const il_store store = il_ledger_store(l);
    const il_status loaded =
        store.load(store.ctx, IL_STR(IL_SPACE_SESSION), IL_STR("s1"), bytes, sizeof bytes, &n, &version, &err);
    if (loaded == IL_OK) {
        assert_int_equal(il_session_decode(bytes, n, &s, &err), IL_OK);
    } else {
        assert_int_equal(loaded, IL_E_NOT_FOUND);
        memset(&s, 0, sizeof s);
    }
    for (size_t i = 0; i < c->ntold; i++) {
        const told *said = &c->told[i];
        if (said->kind == TOLD_RUN && (!t.tickets[said->ticket].ran || said->ticket >= s.next_ticket)) {
            t.wrong = "a call ran without its row";
        } else if (said->kind == TOLD_RUN && (said->effects & IL_TAINTS & ~(uint32_t)s.counted) != 0) {
            t.wrong = "a taint was lost";
        } else if (said->kind == TOLD_RELEASED && !t.tickets[said->ticket].settled) {
            t.wrong = "a result was released without its row";
        }
    }
    size_t open = 0;
    for (size_t i = 0; i < 64; i++) {
        open += t.tickets[i].ran && !t.tickets[i].settled;
        if ((t.tickets[i].effects & IL_TAINTS & ~(uint32_t)s.counted) != 0) {
            t.wrong = "a taint that has its row is not held";
        }
    }
    t.wrong = open == s.ntickets ? t.wrong : "rows and session disagree on what is open";
    assert_int_equal(il_ledger_verify(l, NULL, NULL, &report, &err), IL_OK);
    t.wrong = report.findings == 0 ? t.wrong : "the ledger does not verify";
    if (t.wrong == NULL) { /* and it goes on */
        il_monitor *m = faults_monitor(c, l);
        const il_begin how = {.size = sizeof how, .resume = true};
        const uint32_t both = (uint32_t)IL_UNTRUSTED | (uint32_t)IL_SENSITIVE;
        const bool had_both = (s.counted & both) == both;
        assert_int_equal(il_monitor_begin(m, IL_STR("s1"), &how, &err), IL_OK);
        assert_true(faults_call(c, m, "n", NULL) != 0);
        if (had_both) {
            assert_int_equal(faults_call(c, m, "E", NULL), 0);
        }
        il_monitor_free(m);
    }
    return t.wrong;
}

/* `refused`: the ledger may be refused as a whole, which loses nothing silently. */
static const char *faults_judge(faults_case *c, bool *refused) {
    il_ledger *l = NULL;
    il_error err = {0};
    const il_ledger_options options = {.size = sizeof options, .must_exist = true};
    *refused = il_ledger_open(il_host_alloc(), c->path, &options, &l, &err) != IL_OK;
    if (*refused) {
        return NULL;
    }
    const char *wrong = faults_judge_open(c, l);
    il_ledger_close(l);
    return wrong;
}

/* ---- the tests ------------------------------------------------------------------------------ */

static void faults_start(faults_case *c) {
    vfs_arm(0, 0, false, VFS_ERROR);
    ledger_test_path(c->path, "ledger.db");
    il_ledger_close(ledger_test_open(c->path, NULL));
    c->now = 1000000;
    c->randoms = 0;
    c->ntold = 0;
    c->pipe = -1;
}

static size_t faults_of(const faults_case *c, told_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < c->ntold; i++) {
        n += c->told[i].kind == kind;
    }
    return n;
}

/* Every n in the plain build, some of them in the slower ones. */
static size_t faults_step(size_t some) { return getenv("IL_TEST_THOROUGH") ? 1 : some; }

/* Every n of a kind of operation, until a session needs no more of them. */
static void faults_each(faults_case *c, const char *name, unsigned operations, bool sticky, vfs_failure how) {
    const size_t step = faults_step(operations == VFS_WRITE || operations == VFS_LOCK ? 7 : 1);
    size_t n = 1, places = 0, refusals = 0, denials = 0;
    for (bool failed = true; failed; n += step) {
        bool refused = false;
        faults_start(c);
        vfs_arm(operations, n, sticky, how);
        faults_session(c);
        (void)vfs_disarm(&failed);
        denials += faults_of(c, TOLD_FAULT);
        const char *wrong = faults_judge(c, &refused);
        if (wrong != NULL) {
            fail_msg("%s %zu: %s (%s)", name, n, wrong, c->path);
        }
        refusals += refused;
        places += failed;
        if (!failed) { /* the undisturbed session, as it should be */
            assert_int_equal(refused, false);
            assert_true(faults_of(c, TOLD_FAULT) == 0 && faults_of(c, TOLD_DONE) == 1);
        }
        ledger_test_clean(c->path);
        assert_true(n < 5000);
    }
    print_message("%-28s %4zu places, %5zu faults told, %zu ledgers refused afterwards\n", name, places, denials, refusals);
    /* files are cut and deleted only when the ledger is closed, where nobody is told anything any more */
    assert_true(places > 0 && (denials > 0) == ((operations & (VFS_TRUNCATE | VFS_DELETE)) == 0));
    assert_int_equal(refusals, 0); /* a failing disk that works again is no damaged ledger */
}

static void disk_errors(void **state) {
    faults_case *c = *state;
    faults_each(c, "a write fails", VFS_WRITE, false, VFS_ERROR);
    faults_each(c, "every write from there on", VFS_WRITE, true, VFS_ERROR);
    faults_each(c, "no room for a write", VFS_WRITE, false, VFS_FULL);
    faults_each(c, "the disk is full", VFS_WRITE, true, VFS_FULL);
    faults_each(c, "a read fails", VFS_READ, false, VFS_ERROR);
    faults_each(c, "the size cannot be had", VFS_SIZE, false, VFS_ERROR);
    faults_each(c, "no shared memory", VFS_SHM, false, VFS_ERROR);
    faults_each(c, "a file does not open", VFS_OPEN, false, VFS_ERROR);
    faults_each(c, "none from there on", VFS_OPEN, true, VFS_ERROR);
    faults_each(c, "no file can be asked for", VFS_ACCESS, false, VFS_ERROR);
    faults_each(c, "a file is not cut", VFS_TRUNCATE, false, VFS_ERROR);
    faults_each(c, "a file is not deleted", VFS_DELETE, false, VFS_ERROR);
    faults_each(c, "a lock fails", VFS_LOCK, false, VFS_ERROR);
    c->durability = IL_DURABLE_FULL;
    faults_each(c, "a sync fails", VFS_SYNC, false, VFS_ERROR);
    faults_each(c, "every sync from there on", VFS_SYNC, true, VFS_ERROR);
    c->durability = IL_DURABLE_NORMAL;
}

/* In a process of its own, which is gone at the n-th write or at its end; what it was told comes through a pipe. */
static bool faults_gone(faults_case *c, size_t n, vfs_failure how, bool sticky) {
    int ends[2];
    faults_start(c);
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(ends[0]);
        c->pipe = ends[1];
        vfs_arm(VFS_WRITE, n, sticky, how);
        faults_session(c);
        _exit(0);
    }
    (void)close(ends[1]);
    while (c->ntold < TOLD_MAX && read(ends[0], &c->told[c->ntold], sizeof c->told[0]) == (ssize_t)sizeof c->told[0]) {
        c->ntold++;
    }
    (void)close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == VFS_GONE_CODE));
    return WEXITSTATUS(status) == VFS_GONE_CODE;
}

static void torn_writes(void **state) {
    faults_case *c = *state;
    size_t n = 1, places = 0;
    for (bool torn = true; torn; n += faults_step(5)) {
        bool refused = false;
        torn = faults_gone(c, n, VFS_TORN, false);
        const char *wrong = faults_judge(c, &refused);
        if (wrong != NULL || refused) {
            fail_msg("torn write %zu: %s (%s)", n, wrong != NULL ? wrong : "the ledger is refused", c->path);
        }
        places += torn;
        ledger_test_clean(c->path);
        assert_true(n < 5000);
    }
    print_message("%zu writes torn in half, each the process's last\n", places);
    assert_true(places > 20);
}

/* The judge itself: a disk that loses writes and says nothing must be seen. */
static void lost_writes_are_seen(void **state) {
    faults_case *c = *state;
    size_t seen = 0;
    for (size_t n = 1; n < 60; n += 4) {
        bool refused = false;
        (void)faults_gone(c, n, VFS_LOST, true);
        seen += faults_judge(c, &refused) != NULL || refused;
        ledger_test_clean(c->path);
    }
    print_message("%zu of 15 disks that lose writes were seen\n", seen);
    assert_true(seen >= 5);
}

/* ---- SQLite without memory ------------------------------------------------------------------ */

static struct faults_memory {
    sqlite3_mem_methods real;
    size_t left, seen;
    bool armed, failed;
} faults_memory;

static bool faults_no_memory(void) {
    if (!faults_memory.armed) {
        return false;
    }
    faults_memory.seen++;
    if (faults_memory.left > 0) {
        faults_memory.left--;
        return false;
    }
    const bool fails = !faults_memory.failed; /* one allocation */
    faults_memory.failed = true;
    return fails;
}

static void *faults_malloc(int n) { return faults_no_memory() ? NULL : faults_memory.real.xMalloc(n); }
static void *faults_realloc(void *p, int n) { return faults_no_memory() ? NULL : faults_memory.real.xRealloc(p, n); }

static void sqlite_without_memory(void **state) {
    faults_case *c = *state;
    const size_t step = faults_step(29);
    size_t n = 0, denials = 0, refusals = 0;
    for (bool failed = true; failed; n += step) {
        bool refused = false;
        faults_start(c);
        faults_memory.left = n;
        faults_memory.failed = false;
        faults_memory.armed = true;
        faults_session(c);
        faults_memory.armed = false;
        failed = faults_memory.failed;
        denials += faults_of(c, TOLD_FAULT);
        const char *wrong = faults_judge(c, &refused);
        if (wrong != NULL) {
            fail_msg("allocation %zu: %s (%s)", n, wrong, c->path);
        }
        refusals += refused;
        ledger_test_clean(c->path);
        assert_true(n < 100000);
    }
    print_message("%zu allocations of SQLite failed one by one, %zu faults told\n", n / step - 1, denials);
    assert_true(denials > 0);
    assert_int_equal(refusals, 0);
}

/* ---- the library without memory ------------------------------------------------------------- */

/* Each allocation of a ledger and a monitor on it, alone or with all that follow; then `ledger verify` likewise. */
static void library_without_memory(void **state) {
    faults_case *c = *state;
    for (int way = 0; way < 4; way++) {
        const bool once = way & 1, file = way & 2;
        const char *name = file ? "file" : "memory";
        size_t n = 0, denials = 0, checks = 0;
        for (bool failed = true; failed; n += faults_step(file ? 3 : 1)) {
            test_memory memory;
            bool refused = false;
            faults_start(c);
            if (!file) {
                ledger_test_clean(c->path);
                (void)snprintf(c->path, sizeof c->path, ":memory:");
            }
            test_memory_init(&memory, n);
            memory.once = once;
            c->alloc = &memory.alloc;
            il_ledger *l = faults_open(c);
            if (l != NULL) {
                faults_live(c, l);
            }
            failed = memory.failed;
            memory.left = SIZE_MAX;
            denials += faults_of(c, TOLD_FAULT);
            const char *wrong = l != NULL ? faults_judge_open(c, l) : file ? faults_judge(c, &refused) : NULL;
            if (wrong != NULL || refused) {
                fail_msg("%s, allocation %zu%s: %s", name, n, once ? "" : " and all after it", wrong ? wrong : "refused");
            }
            if (!failed) { /* the undisturbed session, whole; and its check, which must not call it so without memory */
                assert_true(faults_of(c, TOLD_FAULT) == 0 && faults_of(c, TOLD_DONE) == 1);
                il_status s = IL_E_MEMORY;
                for (; s != IL_OK; checks++) {
                    il_ledger_report report = IL_LEDGER_REPORT_INIT;
                    memory.left = checks;
                    s = il_ledger_verify(l, NULL, NULL, &report, NULL);
                    memory.left = SIZE_MAX;
                    assert_true(s == IL_OK || s == IL_E_MEMORY);
                    assert_int_equal(report.findings, 0);
                    assert_true(checks < 1000);
                }
            }
            il_ledger_close(l);
            c->alloc = il_host_alloc();
            assert_int_equal(memory.live, 0);
            if (file) {
                ledger_test_clean(c->path);
            }
            assert_true(n < 5000);
        }
        print_message("%s, %s: %zu allocations failed, %zu faults told; %zu of a check\n", name,
                      once ? "one" : "all from there on", n - 1, denials, checks - 1);
        assert_true(n > 30 && denials > 0 && checks > 1);
    }
}

static int faults_setup(void **state) {
    static faults_case c;
    c.alloc = il_host_alloc();
    policy_case_init(&c.policy, "trifecta");
    policy_must(&c.policy, faults_policy);
    vfs_install();
    *state = &c;
    return 0;
}

static int faults_teardown(void **state) {
    policy_case_free(&((faults_case *)*state)->policy);
    return 0;
}

int main(void) {
    /* processes end here, the machine does not: a disk in memory shows as much, without waiting for thousands of syncs */
    if (access("/dev/shm", W_OK) == 0 && setenv("TMPDIR", "/dev/shm", 0) != 0) {
        return 5;
    }
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &faults_memory.real) != SQLITE_OK) {
        return 5;
    }
    sqlite3_mem_methods ours = faults_memory.real;
    ours.xMalloc = faults_malloc;
    ours.xRealloc = faults_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK) {
        return 5;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disk_errors),
        cmocka_unit_test(torn_writes),
        cmocka_unit_test(lost_writes_are_seen),
        cmocka_unit_test(sqlite_without_memory),
        cmocka_unit_test(library_without_memory),
    };
    return cmocka_run_group_tests(tests, faults_setup, faults_teardown);
}
