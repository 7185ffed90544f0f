/* SPDX-License-Identifier: Apache-2.0 */
/* A shell command. What is understood reads and writes words of the text, does nothing that a second reading does not, and does at least what each of its lines does alone. */
#include "base/str.h"
#include "fuzz.h"
#include "policy/shell.h"

static bool fuzz_has(const il_str *list, size_t n, il_str word) {
    for (size_t i = 0; i < n; i++) {
        if (il_str_eq(list[i], word)) {
            return true;
        }
    }
    return false;
}

/* In memory of its own: of a text there are as many lines as bytes. */
static void fuzz_line(const il_shell *whole, il_str line, const il_alloc *alloc) {
    il_shell part;
    il_arena arena;
    il_arena_init(&arena, alloc, (size_t)64 << 20);
    FUZZ_CHECK(il_shell_read(line, &arena, &part, NULL) == IL_OK);
    if (!part.understood) { /* a quote that goes over the line's end */
        il_arena_free(&arena);
        return;
    }
    FUZZ_CHECK((!part.hosts || whole->hosts) && (!part.runs || whole->runs));
    for (size_t i = 0; i < part.nreads; i++) {
        FUZZ_CHECK(fuzz_has(whole->reads, whole->nreads, part.reads[i]));
    }
    for (size_t i = 0; i < part.nwrites; i++) {
        FUZZ_CHECK(fuzz_has(whole->writes, whole->nwrites, part.writes[i]));
    }
    il_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    const il_str text = {(const char *)data, size};
    il_arena arena;
    il_shell sh;
    il_arena_init(&arena, &alloc, (size_t)64 << 20);
    FUZZ_CHECK(il_shell_read(text, &arena, &sh, NULL) == IL_OK);
    FUZZ_CHECK(sh.understood ? sh.why[0] == '\0' : sh.why[0] != '\0' && sh.nreads == 0 && sh.nwrites == 0);
    if (sh.understood) {
        for (size_t i = 0; i < size;
             i++) { /* none of these without quotes, and none between double ones but behind a backslash */
            FUZZ_CHECK(data[i] != '`' || il_str_find(text, IL_STR("'"), 0) != SIZE_MAX ||
                       il_str_find(text, IL_STR("\\"), 0) != SIZE_MAX || il_str_find(text, IL_STR("#"), 0) != SIZE_MAX);
        }
        for (size_t from = 0;
             from < size && il_str_find(text, IL_STR("'"), 0) == SIZE_MAX && il_str_find(text, IL_STR("\""), 0) == SIZE_MAX;) {
            size_t end = il_str_find(text, IL_STR("\n"), from);
            end = end == SIZE_MAX ? size : end;
            fuzz_line(&sh, il_str_part(text, from, end), &alloc);
            from = end + 1;
        }
    }
    il_arena_free(&arena);
    il_arena_init(&arena, &alloc, 20000);
    il_error err = {0};
    if (il_shell_read(text, &arena, &sh, &err) != IL_OK) {
        FUZZ_CHECK(!sh.understood && err.msg[0] != '\0');
    }
    il_arena_free(&arena);
    return 0;
}
