/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: refused completely, or read into a tree that is written and read back as itself, in both orders. */
#include "tree.h"

static void fuzz_same(il_str a, il_str b) { FUZZ_CHECK(il_str_eq(a, b)); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    il_arena arena;
    il_error err = {0};
    il_json *v = NULL;
    il_arena_init(&arena, &alloc, (size_t)64 << 20);
    const il_status s = il_json_parse(&arena, (il_str){(const char *)data, size}, NULL, &v, &err);
    if (s != IL_OK) {
        fuzz_refused(s, v, &err, size);
    } else {
        static const il_json_order orders[] = {IL_JSON_AS_READ, IL_JSON_SORTED};
        il_str digested = {NULL, 0};
        for (size_t i = 0; i < 2; i++) {
            il_json *again = NULL;
            const il_str text = fuzz_text(&arena, v, orders[i]);
            fuzz_canonical(text);
            FUZZ_CHECK(il_json_parse(&arena, text, NULL, &again, &err) == IL_OK);
            fuzz_same(fuzz_text(&arena, again, orders[i]), text);
            /* sorted text is the same whichever order it came from */
            const il_str sorted = fuzz_text(&arena, again, IL_JSON_SORTED);
            if (i > 0) {
                fuzz_same(sorted, digested);
            }
            digested = sorted;
        }
    }
    il_arena_free(&arena);
    return 0;
}
