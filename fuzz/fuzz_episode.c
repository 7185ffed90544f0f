/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes and the memory that folds them. First byte `b`: operations from which an episode is built (each a letter, a byte of length and so many
 * bytes); anything else and the rest: bytes as a damaged ledger could hold them, folded in.
 *
 * Asserts: what is folded in is whole (a byte less or more is damage) and says the same to a second memory; anything else is damage, never less or
 * more than that; what was built is taken, is the same bytes when it is built again, and answers for what went in. */
#include "base/str.h"
#include "fuzz.h"
#include "interlock/policy.h"
#include "provenance/memory.h"

static il_memory *fuzz_memory(const il_alloc *alloc) {
    il_memory *m = NULL;
    const il_index_limits limits = {.size = sizeof limits, .text_bytes = 1 << 16, .index_bytes = 1 << 20};
    FUZZ_CHECK(il_memory_new(alloc, &limits, &m, NULL) == IL_OK);
    return m;
}

static il_status fuzz_fold(const il_alloc *alloc, il_str bytes, il_memory **out) {
    il_error err = {0};
    *out = fuzz_memory(alloc);
    const il_status s = il_memory_apply(*out, 1, bytes, NULL, 0, &err);
    FUZZ_CHECK(s == IL_OK || s == IL_E_DAMAGED);
    FUZZ_CHECK(s == IL_OK || err.msg[0] != '\0');
    FUZZ_CHECK(il_memory_episodes(*out) == (s == IL_OK ? 1u : 0u));
    return s;
}

static bool fuzz_seen(void *ctx, const il_seen *fact) {
    uint32_t *n = ctx;
    FUZZ_CHECK(fact->source > 0 && (fact->via_words == 0 || fact->via != NULL) && (fact->has_via || fact->via_words == 0));
    (void)il_memory_via_is(fact, IL_STR("bo lee"));
    ++*n;
    return true;
}

static void fuzz_ask(const il_memory *m, il_str kind, il_str value, uint32_t facts[2]) {
    bool named = false;
    facts[0] = facts[1] = 0;
    il_memory_facts(m, kind, value, fuzz_seen, &facts[0]);
    FUZZ_CHECK(il_memory_named(m, value, &named, NULL) == IL_OK);
    facts[1] = (il_memory_typed(m, kind, value) ? 1u : 0u) | (il_memory_typed_words(m, value) ? 2u : 0u) |
               (il_memory_sent_before(m, value, UINT32_MAX) ? 4u : 0u) | (named ? 8u : 0u) | (il_memory_complete(m) ? 16u : 0u);
}

static void fuzz_bytes_of(const il_alloc *alloc, il_str bytes) {
    il_memory *a = NULL, *b = NULL;
    const il_status s = fuzz_fold(alloc, bytes, &a);
    FUZZ_CHECK(fuzz_fold(alloc, bytes, &b) == s);
    if (s == IL_OK) {
        uint32_t x[2], y[2];
        fuzz_ask(a, IL_STR("email"), IL_STR("bo@x.example"), x);
        fuzz_ask(b, IL_STR("email"), IL_STR("bo@x.example"), y);
        FUZZ_CHECK(x[0] == y[0] && x[1] == y[1] && il_memory_sources(a) == il_memory_sources(b));
        FUZZ_CHECK(il_memory_apply(a, 1, bytes, NULL, 0, NULL) == IL_E_STATE);
        const il_status again = il_memory_apply(a, 2, bytes, NULL, 0, NULL);
        FUZZ_CHECK(again == IL_OK || again == IL_E_DAMAGED);
        il_memory_free(b);
        FUZZ_CHECK(fuzz_fold(alloc, il_str_part(bytes, 0, bytes.n - 1), &b) == IL_E_DAMAGED);
        char *more = malloc(bytes.n + 1);
        FUZZ_CHECK(more != NULL);
        memcpy(more, bytes.p, bytes.n);
        more[bytes.n] = 0;
        il_memory_free(b);
        FUZZ_CHECK(fuzz_fold(alloc, (il_str){more, bytes.n + 1}, &b) == IL_E_DAMAGED);
        free(more);
    }
    il_memory_free(a);
    il_memory_free(b);
}

typedef struct fuzz_told { /* what the latest of each was about */
    il_str fact, typed, words, sent, name;
} fuzz_told;

static void fuzz_operation(il_episode *e, char what, il_str s, fuzz_told *told) {
    il_status got = IL_OK;
    const il_str kind = IL_STR("email");
    il_fact fact = {.kind = kind, .value = s, .standing = IL_STANDING_AUTHENTIC, .has_via = what == 'v', .via = s};
    switch (what) {
    case 'f':
    case 'v':
        got = il_episode_fact(e, &fact, NULL);
        told->fact = s;
        break;
    case 't':
        got = il_episode_text(e, s, true, NULL);
        break;
    case 'w':
        got = il_episode_typed(e, s, NULL);
        told->words = s;
        break;
    case 'y':
        got = il_episode_typed_value(e, kind, s, NULL);
        told->typed = s;
        break;
    case 's':
        got = il_episode_sent_text(e, s, NULL);
        told->sent = s;
        break;
    case 'o':
        got = il_episode_sent(e, s, true, NULL);
        break;
    case 'n':
        got = s.n > 0 ? il_episode_remember(e, s, s, NULL) : IL_OK;
        told->name = s;
        break;
    default:
        break;
    }
    FUZZ_CHECK(got == IL_OK || got == IL_E_LIMIT);
}

static il_episode *fuzz_build(il_arena *arena, fuzz_input in, il_source_kind kind, fuzz_told *told) {
    il_episode *e = NULL;
    FUZZ_CHECK(il_episode_new(arena, kind, 7, IL_UNTRUSTED, IL_STR("s.tool"), IL_STR("ana"), &e, NULL) == IL_OK);
    while (in.n > 0) {
        const char what = (char)fuzz_u8(&in);
        const il_str s = fuzz_bytes(&in, fuzz_u8(&in));
        const bool human = what == 'w' || what == 'y', result = what == 'f' || what == 'v';
        /* only humans type, only results have fields, and what is sent has no texts */
        if ((human && kind == IL_SOURCE_HUMAN) || (result && kind == IL_SOURCE_RESULT) ||
            (what == 't' && kind != IL_SOURCE_SENT) || what == 's' || what == 'o' || what == 'n') {
            fuzz_operation(e, what, s, told);
        }
    }
    return e;
}

static void fuzz_builds(const il_alloc *alloc, fuzz_input in) {
    static const il_source_kind kinds[] = {IL_SOURCE_RESULT, IL_SOURCE_HUMAN, IL_SOURCE_SENT, IL_SOURCE_ERROR};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        il_arena arena;
        fuzz_told told = {0};
        il_str bytes = {0}, again = {0};
        size_t n = 0;
        il_arena_init(&arena, alloc, (size_t)64 << 20);
        il_episode *e = fuzz_build(&arena, in, kinds[i], &told);
        FUZZ_CHECK(il_episode_done(e, &bytes, NULL) == IL_OK);
        FUZZ_CHECK(il_episode_done(fuzz_build(&arena, in, kinds[i], &told), &again, NULL) == IL_OK && il_str_eq(bytes, again));
        const il_str *texts = il_episode_texts(e, &n);
        il_memory *m = fuzz_memory(alloc);
        FUZZ_CHECK(il_memory_apply(m, 1, bytes, texts, n, NULL) == IL_OK);
        uint32_t facts = 0;
        il_memory_facts(m, IL_STR("email"), told.fact, fuzz_seen, &facts);
        FUZZ_CHECK(told.fact.n == 0 || facts > 0);
        FUZZ_CHECK(told.typed.n == 0 || il_memory_typed(m, IL_STR("email"), told.typed));
        FUZZ_CHECK(told.name.n == 0 || il_str_eq(il_memory_remembered(m, told.name), told.name));
        fuzz_bytes_of(alloc, bytes);
        il_memory_free(m);
        il_arena_free(&arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    if (size > 0 && data[0] == 'b') {
        fuzz_builds(&alloc, (fuzz_input){data + 1, size - 1});
    } else if (size > 0) {
        fuzz_bytes_of(&alloc, (il_str){(const char *)data + 1, size - 1});
    }
    return 0;
}
