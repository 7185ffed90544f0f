/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions from anywhere: compile never crashes and fails with a position; what compiles evaluates, and what is printed
 * reads back as the same text with the same value. Built with libFuzzer, or with fuzz/replay.c over the corpus. */
#include "cel/value.h"
#include "fuzz.h"

static const il_cel_type fuzz_bool = {.kind = IL_CEL_BOOL}, fuzz_int = {.kind = IL_CEL_INT},
                         fuzz_string = {.kind = IL_CEL_STRING};
static const il_cel_type fuzz_any = {.kind = IL_CEL_ERROR}, fuzz_ints = {.kind = IL_CEL_LIST, .element = &fuzz_int};
static const il_str fuzz_words[] = {{"none", 4}, {"fresh", 5}, {"held", 4}};
static const il_cel_type fuzz_word = {.kind = IL_CEL_STRING, .domain = fuzz_words, .ndomain = 3};
static const il_cel_field fuzz_fields[] = {
    {{"untrusted", 9}, &fuzz_word}, {{"flight", 6}, &fuzz_bool}, {{"asked", 5}, &fuzz_int}};
static const il_cel_type fuzz_state = {.kind = IL_CEL_RECORD, .fields = fuzz_fields, .nfields = 3, .name = {"state", 5}};
static const il_cel_field fuzz_vars[] = {{{"pre", 3}, &fuzz_state}, {{"next", 4}, &fuzz_state}, {{"b", 1}, &fuzz_bool},
                                         {{"i", 1}, &fuzz_int},     {{"s", 1}, &fuzz_string},   {{"any", 3}, &fuzz_any},
                                         {{"ints", 4}, &fuzz_ints}};
static const il_cel_let fuzz_lets[] = {{{"out", 3}, {"next.flight || b", 16}, 7, 3}, {{"twice", 5}, {"out && out", 10}, 8, 3}};
static const il_cel_env fuzz_env = {sizeof fuzz_env, fuzz_vars, 7, fuzz_lets, 2, NULL, 0, {NULL, 0}, NULL, NULL},
                        fuzz_bare = {sizeof fuzz_bare, fuzz_vars, 7, NULL, 0, NULL, 0, {NULL, 0}, NULL, NULL};

static il_str fuzz_print(const il_cel_program *p, il_arena *arena) {
    il_buf b;
    il_str text = {NULL, 0};
    il_buf_init(&b, arena, (size_t)8 << 20);
    il_cel_print(p, &b);
    FUZZ_CHECK(il_buf_done(&b, &text, NULL) == IL_OK);
    return text;
}

/* As text: a NaN equals nothing, itself included. */
static il_str fuzz_value(const il_cel_value *v, il_arena *arena) {
    il_buf b;
    il_str text = {NULL, 0};
    il_buf_init(&b, arena, (size_t)8 << 20);
    il_cel_write(v, &b);
    return il_buf_done(&b, &text, NULL) == IL_OK ? text : (il_str){NULL, 0};
}

static void fuzz_read(void *ctx, size_t var, size_t field) {
    (void)ctx;
    FUZZ_CHECK(var < 7 && (field == SIZE_MAX || field < 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const il_cel_limits wide = {.size = sizeof wide, .source_bytes = (size_t)8 << 20};
    const il_alloc alloc = fuzz_alloc();
    il_arena arena;
    il_error err = {0};
    il_cel_program *first = NULL, *second = NULL;
    il_arena_init(&arena, &alloc, (size_t)64 << 20);
    il_status s = il_cel_compile(&arena, (il_str){(const char *)data, size}, 1, 1, &fuzz_env, IL_CEL_NULL, NULL, &first, &err);
    if (s != IL_OK) {
        FUZZ_CHECK(first == NULL && err.code == s && err.line > 0 && err.col > 0 && err.msg[0] != 0);
    } else {
        il_cel_value ints[] = {il_cel_of_int(1), il_cel_of_int(INT64_MIN)};
        il_cel_value pre[] = {il_cel_of_str(fuzz_words[1]), il_cel_of_bool(false), il_cel_of_int(2)},
                     next[3] = {il_cel_of_str(fuzz_words[2])};
        il_cel_value vars[7] = {{.kind = IL_CEL_RECORD, .n = 3, .u.items = pre},
                                {.kind = IL_CEL_RECORD, .n = 3, .u.items = next},
                                il_cel_of_bool(true),
                                il_cel_of_int(-1),
                                il_cel_of_str(IL_STR("s")),
                                {0},
                                {.kind = IL_CEL_LIST, .n = 2, .u.items = ints}};
        il_str text = fuzz_print(first, &arena);
        il_cel_reads(first, fuzz_read, NULL);
        FUZZ_CHECK(il_cel_compile(&arena, text, 1, 1, &fuzz_bare, IL_CEL_NULL, &wide, &second, &err) == IL_OK);
        FUZZ_CHECK(il_str_eq(text, fuzz_print(second, &arena)));
        il_cel_value a = il_cel_eval(first, vars, &arena), b = il_cel_eval(second, vars, &arena);
        FUZZ_CHECK(a.kind == b.kind &&
                   (a.kind == IL_CEL_ERROR ? a.fault == b.fault && a.fault != IL_CEL_NO_FAULT
                                             : il_str_eq(fuzz_value(&a, &arena), fuzz_value(&b, &arena))));
    }
    il_arena_free(&arena);
    return 0;
}
