/* SPDX-License-Identifier: Apache-2.0 */
/* The trail of a session as `session show --trail` prints it, read back as steps of its machine. The first line names the machine (`t`, or the larger
 * standard one); every further line is a row, a JSON object.
 *
 * Asserts: a row is read or is refused as one that no monitor would write; what is read is within its bounds and of the machine; whether it agrees
 * with the machine can be asked; a second reader says the same. */
#include "fuzz.h"
#include "interlock/host.h"
#include "ledger/row_steps.h"

static bool fuzz_row(il_arena *arena, il_str line, il_ledger_row *row, const il_json **body) {
    il_json *doc = NULL;
    int64_t seq = 0, ticket = 0;
    if (il_json_parse(arena, line, NULL, &doc, NULL) != IL_OK || il_json_kind_of(doc) != IL_JSON_OBJECT) {
        return false;
    }
    const il_json *kind = il_json_get(doc, IL_STR("kind"));
    (void)il_json_int(il_json_get(doc, IL_STR("seq")), &seq);
    (void)il_json_int(il_json_get(doc, IL_STR("ticket")), &ticket);
    *body = il_json_get(doc, IL_STR("body"));
    *row = (il_ledger_row){.seq = (uint64_t)seq,
                           .space = IL_STR("session"),
                           .key = IL_STR("demo"),
                           .kind = il_json_kind_of(kind) == IL_JSON_STRING ? il_json_text(kind) : IL_STR(""),
                           .ticket = (uint64_t)ticket};
    return *body != NULL;
}

static void fuzz_got(const il_machine *m, const il_row *got) {
    FUZZ_CHECK(got->nsteps <= IL_ROW_STEPS_MAX && got->word <= IL_ROW_DAMAGED);
    FUZZ_CHECK((got->word != IL_ROW_SILENT && got->word != IL_ROW_DAMAGED) || (!got->has_pre && !got->has_post));
    FUZZ_CHECK(got->word != IL_ROW_UNKNOWN || got->why != NULL);
    for (uint32_t i = 0; i < got->nsteps; i++) {
        FUZZ_CHECK(got->steps[i].symbol < il_machine_symbols(m));
        FUZZ_CHECK(!got->steps[i].accepted || !got->steps[i].told);
    }
    (void)il_row_agrees(m, got);
}

static bool fuzz_same(const il_row *a, const il_row *b) {
    bool same = a->word == b->word && a->nsteps == b->nsteps && a->has_pre == b->has_pre && a->has_post == b->has_post &&
                a->pre == b->pre && a->post == b->post && a->unenforced == b->unenforced;
    for (uint32_t i = 0; same && i < a->nsteps; i++) {
        same = a->steps[i].symbol == b->steps[i].symbol && a->steps[i].accepted == b->steps[i].accepted;
    }
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    const il_str all = {(const char *)data, size};
    il_machine *m = NULL;
    il_bind bind;
    il_arena arena;
    const bool small = size > 0 && data[0] == 't';
    FUZZ_CHECK(il_host_machine(&alloc, small ? IL_STR("trifecta") : IL_STR("standard"), &m, NULL) == IL_OK);
    FUZZ_CHECK(il_bind_open(m, &bind, NULL) == IL_OK);
    il_row_reader *readers = malloc(2 * sizeof *readers);
    FUZZ_CHECK(readers != NULL);
    il_row_reader_init(&readers[0], &bind);
    il_row_reader_init(&readers[1], &bind);
    il_arena_init(&arena, &alloc, (size_t)16 << 20);
    for (size_t at = il_str_find(all, IL_STR("\n"), 0); at < size;) {
        const size_t end = il_str_find(all, IL_STR("\n"), at + 1);
        il_ledger_row row;
        const il_json *body = NULL;
        if (fuzz_row(&arena, il_str_part(all, at + 1, end == SIZE_MAX ? size : end), &row, &body)) {
            il_row got = {0}, again = {0};
            il_error err = {0};
            const il_status s = il_row_read(&readers[0], NULL, &row, body, &got, &err);
            FUZZ_CHECK(s == IL_OK || (s == IL_E_INVALID && err.code == s && err.msg[0] != '\0'));
            FUZZ_CHECK(il_row_read(&readers[1], NULL, &row, body, &again, NULL) == s);
            if (s == IL_OK) {
                fuzz_got(m, &got);
                FUZZ_CHECK(fuzz_same(&got, &again));
            }
        }
        at = end;
    }
    il_arena_free(&arena);
    free(readers);
    il_machine_free(m);
    return 0;
}
