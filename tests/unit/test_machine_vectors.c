/* SPDX-License-Identifier: Apache-2.0 */
/* tests/vectors/machine/NAME.json: sequences of symbols with what each must give, through the shipped machine. The bindings run the same file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_memory.h"
#include "interlock/host.h"
#include "interlock/json.h"

static il_json_doc *vectors_read(const il_alloc *alloc, const char *path) {
    static char text[1 << 20];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    assert_int_equal(fclose(f), 0);
    il_json_doc *doc = NULL;
    assert_int_equal(il_json_doc_new(alloc, (il_str){text, n}, NULL, &doc, NULL), IL_OK);
    return doc;
}

static bool vectors_same(il_str a, const char *b) { return a.n == strlen(b) && memcmp(a.p, b, a.n) == 0; }

static uint32_t vectors_symbol(const il_machine *m, il_str text) {
    char name[256];
    for (uint32_t s = 0; s < il_machine_symbols(m); s++) {
        (void)il_machine_symbol_text(m, s, name, sizeof name);
        if (vectors_same(text, name)) {
            return s;
        }
    }
    fail_msg("no symbol `%.*s`", IL_STR_ARG(text));
    return IL_NO_SYMBOL;
}

static void vectors_sequence(const il_machine *m, const il_json *sequence) {
    uint64_t state = il_machine_initial(m);
    il_str name = il_json_text(il_json_get(sequence, IL_STR("name")));
    for (const il_json *s = il_json_first(il_json_get(sequence, IL_STR("steps"))); s; s = il_json_next(s)) {
        il_step step = il_machine_step(m, state, vectors_symbol(m, il_json_text(il_json_get(s, IL_STR("symbol")))));
        il_str reason = il_machine_reason(m, step.reason);
        il_str want = il_json_text(il_json_get(s, IL_STR("reason")));
        bool accept = vectors_same(il_json_text(il_json_get(s, IL_STR("verdict"))), "accept");
        if ((step.verdict == IL_ACCEPT) != accept || reason.n != want.n || (want.n && memcmp(reason.p, want.p, want.n) != 0)) {
            fail_msg("%.*s: line %u: verdict %d, reason %.*s", IL_STR_ARG(name), (unsigned)il_json_line(s), (int)step.verdict,
                     IL_STR_ARG(reason));
        }
        if (!accept) {
            assert_int_equal(step.next, state);
        }
        state = step.next;
    }
}

static void test_vectors(void **state) {
    (void)state;
    test_memory memory;
    test_memory_init(&memory, SIZE_MAX);
    il_json_doc *doc = vectors_read(&memory.alloc, "tests/vectors/machine/trifecta.json");
    const il_json *root = il_json_doc_root(doc);
    il_machine *m = NULL;
    assert_int_equal(il_host_machine(&memory.alloc, il_json_text(il_json_get(root, IL_STR("machine"))), &m, NULL), IL_OK);
    const il_json *sequences = il_json_get(root, IL_STR("sequences"));
    assert_true(il_json_count(sequences) >= 30);
    for (const il_json *s = il_json_first(sequences); s; s = il_json_next(s)) {
        assert_true(il_json_count(il_json_get(s, IL_STR("steps"))) > 0);
        vectors_sequence(m, s);
    }
    il_machine_free(m);
    il_json_doc_free(doc);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
