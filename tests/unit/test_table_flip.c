/* SPDX-License-Identifier: Apache-2.0 */
/* A changed byte of the shipped table, one at a time: the runtime refuses each. Every byte in front of the cells, and one byte of every cell,
 * all four places by turns; IL_TEST_THOROUGH=1 takes every byte (88 KB hashed 88,000 times: a minute). Sanitizer builds take every 16th. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_machine.h"

#if defined(__SANITIZE_ADDRESS__)
#define FLIP_STRIDE 16
#else
#define FLIP_STRIDE 1
#endif
#define FLIP_PROCESSES 2

/* Offset plus 1 of the first byte that may be changed; 0 when there is none. */
static size_t flip_part(const machine_case *c, size_t from, size_t to) {
    char *copy = malloc(c->h.table.n);
    if (!copy) {
        return 1;
    }
    memcpy(copy, c->h.table.p, c->h.table.n);
    size_t found = 0;
    size_t cells = c->h.table.n - IL_DIGEST_BYTES - (size_t)c->h.states * c->m->nsymbols * 4;
    bool thorough = getenv("IL_TEST_THOROUGH") != NULL;
    for (size_t i = from; i < to && !found; i += FLIP_STRIDE) {
        il_machine *m = NULL;
        size_t in = i - cells;
        if (FLIP_STRIDE == 1 && !thorough && i >= cells && in % 4 != in / 4 % 4) {
            continue;
        }
        copy[i] = (char)(copy[i] ^ (i % 2 ? 1 : 128));
        if (il_machine_open(&c->memory.alloc, (il_str){copy, c->h.table.n}, c->h.certificate, &m, NULL) != IL_E_SEAL || m) {
            found = i + 1;
        }
        copy[i] = c->h.table.p[i];
    }
    free(copy);
    return found;
}

static void test_any_flipped_byte_is_refused(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    assert_true(c.h.fully_mediated);
    il_machine *whole = NULL;
    assert_int_equal(il_machine_open(&c.memory.alloc, c.h.table, c.h.certificate, &whole, NULL),
                     IL_OK); /* or nothing would be shown */
    il_machine_free(whole);
    pid_t child[FLIP_PROCESSES];
    for (size_t k = 0; k < FLIP_PROCESSES; k++) {
        child[k] = fork();
        assert_true(child[k] >= 0);
        if (child[k] == 0) {
            size_t found = flip_part(&c, c.h.table.n * k / FLIP_PROCESSES, c.h.table.n * (k + 1) / FLIP_PROCESSES);
            if (found) {
                (void)fprintf(stderr, "byte %zu of the table may be changed\n", found - 1);
            }
            _exit(found ? 1 : 0);
        }
    }
    for (size_t k = 0; k < FLIP_PROCESSES; k++) {
        int status = -1;
        assert_int_equal(waitpid(child[k], &status, 0), child[k]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    machine_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_flipped_byte_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
