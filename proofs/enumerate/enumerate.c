/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate TABLE: every state of a sealed table at every symbol through il_machine_step() and through the step that was generated from the
 * guards (`interlock machine export --c`), which must say the same; and states and symbols that the table does not have.
 * enumerate TABLE dump | guards: what each of them says, one line a cell. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/table.h"

int machine_step(uint64_t state, uint32_t symbol, uint64_t *next, unsigned *reason); /* the generated one */

#define ENUMERATE_BYTES ((size_t)1 << 29)
#define ENUMERATE_OFF (UINT64_C(1) << 22) /* packed values that are tried one by one; of wider states, those near a row */

static void *enumerate_alloc(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n ? n : 1);
}
static void enumerate_free(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static uint64_t cells, others;

static int enumerate_differs(const il_machine *m, uint64_t state, uint32_t symbol) {
    uint64_t next = 0;
    unsigned reason = 0;
    const int verdict = machine_step(state, symbol, &next, &reason);
    const il_step s = il_machine_step(m, state, symbol);
    cells++;
    if (s.verdict == verdict && s.reason == reason && s.next == next) {
        return 0;
    }
    printf("DIFFERS at state %" PRIu64 ", symbol %u: table %u %u %" PRIu64 ", guards %d %u %" PRIu64 "\n", state,
           (unsigned)symbol, s.verdict, s.reason, s.next, verdict, reason, next);
    return 1;
}

/* What is not in the table is refused and stays. */
static int enumerate_moves(const il_machine *m, uint64_t state, uint32_t symbol, unsigned reason) {
    const il_step s = il_machine_step(m, state, symbol);
    others++;
    if (s.verdict == IL_REJECT && s.reason == reason && s.next == state) {
        return 0;
    }
    printf("MOVES at state %" PRIu64 ", symbol %u\n", state, (unsigned)symbol);
    return 1;
}

static int enumerate_row(const il_machine *m, uint64_t state) { /* whether the table has it, by looking at all of it */
    uint32_t lo = 0, hi = il_machine_states(m);
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (il_machine_state(m, mid) < state) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < il_machine_states(m) && il_machine_state(m, lo) == state;
}

static int enumerate_all(const il_machine *m) {
    const uint32_t n = il_machine_states(m), symbols = il_machine_symbols(m);
    int bad = 0;
    for (uint32_t i = 0; i < n && bad < 10; i++) {
        const uint64_t state = il_machine_state(m, i);
        for (uint32_t s = 0; s < symbols && bad < 10; s++) {
            bad += enumerate_differs(m, state, s);
        }
        bad +=
            enumerate_moves(m, state, symbols, IL_REASON_NO_SYMBOL) + enumerate_moves(m, state, UINT32_MAX, IL_REASON_NO_SYMBOL);
        for (uint32_t b = 0; b < 64; b++) { /* one bit away */
            const uint64_t near = state ^ UINT64_C(1) << b;
            bad += enumerate_row(m, near) ? 0 : enumerate_moves(m, near, (i + b) % symbols, IL_REASON_OFF_TABLE);
        }
    }
    const uint64_t last = il_machine_state(m, n - 1);
    for (uint64_t state = 0; state < ENUMERATE_OFF && state / 2 <= last && bad < 10; state++) {
        bad += enumerate_row(m, state) ? 0 : enumerate_moves(m, state, (uint32_t)(state % symbols), IL_REASON_OFF_TABLE);
    }
    const il_step none = il_machine_step(NULL, last, 0);
    bad += none.verdict != IL_REJECT || none.next != last;
    printf("%" PRIu64 " cells equal, %" PRIu64 " others refused\n", cells, others);
    return bad != 0;
}

static void enumerate_dump(const il_machine *m, int guards) {
    for (uint32_t i = 0; i < il_machine_states(m); i++) {
        for (uint32_t s = 0; s < il_machine_symbols(m); s++) {
            const uint64_t state = il_machine_state(m, i);
            uint64_t next = 0;
            unsigned reason = 0;
            const int verdict = guards ? machine_step(state, s, &next, &reason) : 0;
            const il_step step = il_machine_step(m, state, s);
            printf("%" PRIx64 " %u %d %u %" PRIx64 "\n", state, (unsigned)s, guards ? verdict : step.verdict,
                   guards ? reason : step.reason, guards ? next : step.next);
        }
    }
}

int main(int argc, char **argv) {
    const il_alloc alloc = {enumerate_alloc, enumerate_free, NULL};
    il_error err = {0};
    il_machine *m = NULL;
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    char *bytes = malloc(ENUMERATE_BYTES);
    if (!f || !bytes) {
        puts("no table");
        return 3;
    }
    const size_t n = fread(bytes, 1, ENUMERATE_BYTES, f);
    (void)fclose(f);
    int code = 0;
    if (il_table_open(&alloc, (il_str){bytes, n}, &m, &err) != IL_OK) {
        printf("REFUSED: %s\n", err.msg);
        code = 1;
    } else if (argc > 2) {
        enumerate_dump(m, strcmp(argv[2], "guards") == 0);
    } else {
        code = enumerate_all(m);
    }
    il_machine_free(m);
    free(bytes);
    return code;
}
