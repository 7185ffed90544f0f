/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern, a NUL and a text. Refusals have a position and a message; an answer is the same by the quickest way, by sets alone and of
 * the pattern in a group that is compiled without a table, for any bytes; it costs at most what the weight says, and with one step less there is none. Without
 * memory there is an error and no pattern. */
#include "cel/regex_part.h"
#include "fuzz.h"

static il_regex *fuzz_compile(il_arena *arena, il_str pattern, bool once, il_error *err) {
    il_regex *re = NULL;
    const il_status status =
        once ? il_regex_compile_once(arena, pattern, NULL, &re, err) : il_regex_compile(arena, pattern, &re, err);
    FUZZ_CHECK((status == IL_OK) == (re != NULL));
    FUZZ_CHECK(status == IL_OK ||
               (err->code == status && err->line == 1 && err->col > 0 && err->offset <= pattern.n && err->msg[0] != 0));
    return re;
}

static void fuzz_search(const il_regex *re, const il_regex *grouped, il_str text) {
    const int64_t most = (int64_t)il_regex_weight(re) * ((int64_t)text.n / 64 + 1);
    int64_t enough = most, few = 200000;
    if (re->how == IL_REGEX_BY_SETS && most > few) { /* takes too long here */
        text = il_str_part(text, 0, 64);
    }
    const int answer = il_regex_search(re, text, &enough);
    FUZZ_CHECK((answer == 0 || answer == 1) && enough >= 0);
    int64_t exact = most - enough, less = exact - 1;
    FUZZ_CHECK(il_regex_search(re, text, &exact) == answer && exact == 0);
    FUZZ_CHECK(il_regex_search(re, text, &less) == IL_REGEX_SPENT && less == 0);
    const int sets = il_regex_search_sets(re, text, &few);
    FUZZ_CHECK(sets == answer || (sets == IL_REGEX_SPENT && few == 0));
    few = 200000;
    const int other = grouped != NULL ? il_regex_search(grouped, text, &few) : answer;
    FUZZ_CHECK(other == answer || other == IL_REGEX_SPENT);
}

/* Where memory ends early there is an error and no pattern. */
static void fuzz_short(const il_alloc *alloc, il_str pattern, size_t cap) {
    il_arena arena;
    il_error err = {0};
    il_regex *re = NULL;
    il_arena_init(&arena, alloc, cap);
    const il_status status = il_regex_compile(&arena, pattern, &re, &err);
    FUZZ_CHECK((status == IL_OK) == (re != NULL) && (status == IL_OK || (err.code == status && err.msg[0] != 0)));
    il_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    const il_str all = {(const char *)data, size};
    size_t end = il_str_find(all, IL_STR("\0"), 0);
    end = end == SIZE_MAX ? size : end;
    const il_str pattern = il_str_part(all, 0, end), text = il_str_part(all, end + 1, size);
    il_arena arena;
    il_error err = {0};
    il_arena_init(&arena, &alloc, (size_t)8 << 20);
    const il_regex *re = fuzz_compile(&arena, pattern, false, &err);
    if (re != NULL) {
        char *group = il_arena_bytes(&arena, pattern.n + 4);
        FUZZ_CHECK(group != NULL);
        memcpy(group, "(?:", 3);
        memcpy(group + 3, data, pattern.n);
        group[3 + pattern.n] = ')';
        const il_regex *grouped = fuzz_compile(&arena, (il_str){group, pattern.n + 4}, true, &err);
        /* \Q takes what follows, and a level or four bytes more may be one too many */
        FUZZ_CHECK(grouped != NULL || err.code == IL_E_LIMIT || il_str_find(pattern, IL_STR("\\Q"), 0) != SIZE_MAX);
        fuzz_search(re, grouped, text);
    }
    fuzz_short(&alloc, pattern, arena.used / 8 * (size % 8));
    il_arena_free(&arena);
    return 0;
}
