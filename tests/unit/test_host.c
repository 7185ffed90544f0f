/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "base/str.h"
#include "helper_ledger.h"
#include "host/file.h"
#include "host/shipped.h"
#include "interlock/host.h"

static const char policy_text[] = "interlock: 1\nmachine: trifecta\ntools:\n  - {match: a.b, effects: [sensitive]}\n";

static void write_file(const char *path, const void *p, size_t n, mode_t mode) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_system(void **state) {
    (void)state;
    const il_host host = il_host_system();
    uint64_t first = 0, second = 0;
    uint8_t a[600] = {0}, b[600] = {0};
    assert_int_equal(host.size, sizeof host);
    assert_true(host.now_ms(host.ctx, &first) && host.now_ms(host.ctx, &second));
    assert_true(first > UINT64_C(1700000000000) && second >= first && second - first < 60000);
    assert_true(host.random(host.ctx, a, sizeof a) && host.random(host.ctx, b, sizeof b));
    assert_memory_not_equal(a, b, sizeof a);
    assert_memory_not_equal(a + 500, a + 400, 100); /* filled to its end */
    assert_true(host.random(host.ctx, a, 0));
    const il_alloc *alloc = il_host_alloc();
    void *p = alloc->alloc(alloc->ctx, 0);
    assert_non_null(p);
    alloc->free(alloc->ctx, p);
    alloc->free(alloc->ctx, NULL);
}

/* The processor's block function and the portable one agree on any state and blocks. */
static void test_sha256(void **state) {
    (void)state;
    const il_sha256_blocks fast = il_host_system().sha256;
    uint8_t text[64 * 9 + 1], a[IL_DIGEST_BYTES], b[IL_DIGEST_BYTES];
    uint64_t seed = 0x9e3779b97f4a7c15u;
    if (!fast) {
        print_message("no SHA instructions on this processor\n");
        skip();
    }
    for (int round = 0; round < 2000; round++) {
        il_sha256 x, y;
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[i] = (uint8_t)(seed >> 56);
        }
        il_sha256_init(&x, fast);
        il_sha256_init(&y, NULL);
        for (size_t at = 0; at < sizeof text;) {
            const size_t n = (seed >> (at % 50)) % (sizeof text - at) + 1;
            il_sha256_add(&x, text + at, n); /* at odd addresses too */
            il_sha256_add(&y, text + at, n);
            at += n;
            assert_memory_equal(x.h, y.h, sizeof x.h);
        }
        il_sha256_end(&x, a);
        il_sha256_end(&y, b);
        assert_memory_equal(a, b, sizeof a);
    }
}

/* A child that waits; its owner as it says. */
static pid_t owner_child(uint8_t owner[IL_OWNER_BYTES], int *hold) {
    int says[2], waits[2];
    assert_int_equal(pipe(says) | pipe(waits), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const il_host host = il_host_system();
        char byte;
        (void)close(waits[1]);
        _exit(write(says[1], host.owner, sizeof host.owner) == (ssize_t)sizeof host.owner && read(waits[0], &byte, 1) == 0 ? 0
                                                                                                                           : 1);
    }
    (void)close(waits[0]);
    (void)close(says[1]);
    assert_int_equal(read(says[0], owner, IL_OWNER_BYTES), IL_OWNER_BYTES);
    (void)close(says[0]);
    *hold = waits[1];
    return pid;
}

/* An owner is gone when its process is, and when the machine was booted since; while nothing is certain it is not. */
static void test_owner(void **state) {
    (void)state;
    static const uint8_t nobody[IL_OWNER_BYTES];
    const il_host host = il_host_system(), again = il_host_system();
    uint8_t child[IL_OWNER_BYTES], other[IL_OWNER_BYTES];
    int hold = -1, status = 0;
    assert_memory_equal(host.owner, again.owner, IL_OWNER_BYTES);
    assert_memory_not_equal(host.owner, nobody, IL_OWNER_BYTES);
    assert_false(host.gone(host.ctx, host.owner));
    assert_false(host.gone(host.ctx, nobody));
    const pid_t pid = owner_child(child, &hold);
    assert_memory_not_equal(child, host.owner, IL_OWNER_BYTES);
    assert_false(host.gone(host.ctx, child));
    memcpy(other, child, sizeof other);
    other[4] ^= 1; /* the same pid, begun at another time: reused */
    assert_true(host.gone(host.ctx, other));
    memcpy(other, child, sizeof other);
    other[8] ^= 1; /* another boot */
    assert_true(host.gone(host.ctx, other));
    other[12] ^= 1; /* in another namespace, which may show a boot id of its own: nobody here can tell */
    assert_false(host.gone(host.ctx, other));
    other[8] ^= 1; /* this boot, another namespace: nobody here can tell */
    assert_false(host.gone(host.ctx, other));
    assert_int_equal(kill(pid, SIGKILL), 0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(host.gone(host.ctx, child)); /* a zombie runs no call */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(host.gone(host.ctx, child));
    assert_false(host.gone(host.ctx, other)); /* still not to be told */
    (void)close(hold);
    other[12] ^= 1;
    other[3] = 0xff; /* no pid */
    assert_false(host.gone(host.ctx, other));
}

static il_status read_status(const char *path, size_t max, il_file_trust trust, il_error *err) {
    il_arena arena;
    il_str text;
    il_arena_init(&arena, il_host_alloc(), (size_t)64 << 20);
    const il_status status = il_file_read(&arena, path, max, trust, &text, err);
    assert_int_equal(status == IL_OK, text.p != NULL && text.n > 0);
    il_arena_free(&arena);
    return status;
}

static void test_files(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    il_error err = {0};
    ledger_test_path(path, "f");
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_E_NOT_FOUND);
    write_file(path, "0123456789", 10, 0600);
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_OK);
    assert_int_equal(read_status(path, 9, IL_FILE_TRUSTED, &err), IL_E_LIMIT);
    assert_non_null(strstr(err.msg, "10 bytes"));
    assert_int_equal(chmod(path, 0660), 0);
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_E_PERMISSION);
    assert_non_null(strstr(err.msg, "its group"));
    assert_int_equal(read_status(path, 10, IL_FILE_DATA, &err), IL_OK);
    assert_int_equal(chmod(path, 0602), 0);
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_E_PERMISSION);
    assert_non_null(strstr(err.msg, "everybody"));
    write_file(path, "", 0, 0600);
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_E_SYNTAX);
    assert_non_null(strstr(err.msg, "empty"));
    write_file(path, "a\n\xc3\xa9 \0z", 7, 0600);
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_E_SYNTAX);
    assert_true(strstr(err.msg, "binary") && err.line == 2 && err.col == 3 && err.offset == 5);
    assert_int_equal(unlink(path), 0);
    /* A pipe that nobody writes to must be refused, not waited for. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_E_INVALID);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(read_status(path, 10, IL_FILE_TRUSTED, &err), IL_E_INVALID);
    assert_non_null(strstr(err.msg, "folder"));
    ledger_test_clean(path);
}

/* Each file of machines/ is shipped under its name, and nothing else is. */
static void test_shipped(void **state) {
    (void)state;
    const il_alloc *alloc = il_host_alloc();
    glob_t found;
    char names[256];
    size_t listed = 1;
    assert_int_equal(glob(IL_TEST_SOURCE_DIR "/machines/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *base = strrchr(found.gl_pathv[i], '/') + 1;
        const il_str name = {base, strlen(base) - strlen(".yaml")};
        il_machine *m = NULL, *same = NULL;
        il_error err = {0};
        uint8_t digest[IL_DIGEST_BYTES];
        if (il_host_machine(alloc, name, &m, &err) != IL_OK) {
            fail_msg("%s: %s (is there a row in src/host/shipped.h?)", base, err.msg);
        }
        assert_true(il_str_eq(il_machine_name(m), name));
        il_machine_digest(m, digest);
        assert_int_equal(il_host_machine_by_digest(alloc, digest, &same, &err), IL_OK);
        assert_true(il_str_eq(il_machine_name(same), name));
        il_machine_free(same);
        digest[31] ^= 1;
        assert_int_equal(il_host_machine_by_digest(alloc, digest, &same, &err), IL_E_NOT_FOUND);
        assert_null(same);
        il_machine_free(m);
    }
    (void)il_shipped_names(names, sizeof names);
    for (const char *p = names; *p; p++) {
        listed += *p == ',';
    }
    assert_int_equal(listed, found.gl_pathc);
    globfree(&found);
    il_machine *m = NULL;
    il_error err = {0};
    assert_int_equal(il_host_machine(alloc, IL_STR("nosuch"), &m, &err), IL_E_NOT_FOUND);
    assert_null(m);
    assert_true(strstr(err.msg, "nosuch") && strstr(err.msg, "trifecta"));
}

static void test_bundle(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    il_bundle *b = NULL;
    il_error err = {.line = 99, .col = 99};
    ledger_test_path(path, "policy.yaml");
    assert_int_equal(il_bundle_load(il_host_alloc(), path, &b, &err), IL_E_NOT_FOUND);
    assert_null(b);
    assert_int_equal(err.line, 0); /* not that of an earlier error */
    write_file(path, policy_text, sizeof policy_text - 1, 0600);
    assert_int_equal(il_bundle_load(il_host_alloc(), path, &b, &err), IL_OK);
    assert_true(il_str_eq(il_machine_name(il_policy_machine(il_bundle_policy(b))), IL_STR("trifecta")));
    il_bundle_free(b);
    il_bundle_free(NULL);
    assert_null(il_bundle_policy(NULL));
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(il_bundle_load(il_host_alloc(), path, &b, NULL), IL_E_PERMISSION);
    assert_null(b);
    ledger_test_clean(path);
}

/* A machine named as a file is looked for beside the policy; what is wrong with it is said where the policy names it. */
static void test_bundle_machine(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH], machine[LEDGER_TEST_PATH];
    static const char text[] = "interlock: 1\nmachine: m.yaml\ntools:\n  - {match: a.b, effects: []}\n";
    static const char broken[] = "machine: m\nversion: 1\nvar: {a: bool}\n";
    il_bundle *b = NULL;
    il_error err = {0};
    ledger_test_path(path, "policy.yaml");
    (void)snprintf(machine, sizeof machine, "%.*sm.yaml", (int)(strrchr(path, '/') + 1 - path), path);
    write_file(path, text, sizeof text - 1, 0600);
    assert_int_equal(il_bundle_load(il_host_alloc(), path, &b, &err), IL_E_NOT_FOUND);
    assert_true(err.line == 2 && err.col == 10 && strstr(err.msg, "m.yaml"));
    write_file(machine, broken, sizeof broken - 1, 0600);
    assert_int_not_equal(il_bundle_load(il_host_alloc(), path, &b, &err), IL_OK);
    if (err.line != 2 || err.col != 10 || !strstr(err.msg, "line 3")) {
        fail_msg("%u:%u: %s", (unsigned)err.line, (unsigned)err.col, err.msg);
    }
    assert_null(b);
    ledger_test_clean(path);
}

typedef struct failing {
    size_t left, out; /* allocations until one fails; blocks that are not freed */
} failing;

static void *failing_alloc(void *ctx, size_t n) {
    failing *f = ctx;
    if (f->left == 0) {
        return NULL;
    }
    f->left--;
    void *p = malloc(n);
    f->out += p ? 1 : 0;
    return p;
}

static void failing_free(void *ctx, void *p) {
    failing *f = ctx;
    f->out -= p ? 1 : 0;
    free(p);
}

/* Whichever allocation fails, loading says so and keeps nothing. */
static void test_bundle_memory(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    failing f = {0};
    const il_alloc alloc = {failing_alloc, failing_free, &f};
    il_bundle *b = NULL;
    il_status status;
    size_t tries = 0;
    ledger_test_path(path, "policy.yaml");
    write_file(path, policy_text, sizeof policy_text - 1, 0600);
    do {
        f.left = tries++;
        status = il_bundle_load(&alloc, path, &b, NULL);
        if (status != IL_OK) {
            assert_int_equal(status, IL_E_MEMORY);
            assert_null(b);
            assert_int_equal(f.out, 0);
        }
    } while (status != IL_OK && tries < 1000);
    assert_int_equal(status, IL_OK);
    assert_true(tries > 5);
    il_bundle_free(b);
    assert_int_equal(f.out, 0);
    ledger_test_clean(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_system),         cmocka_unit_test(test_sha256),
                                       cmocka_unit_test(test_owner),          cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_shipped),        cmocka_unit_test(test_bundle),
                                       cmocka_unit_test(test_bundle_machine), cmocka_unit_test(test_bundle_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
