/* SPDX-License-Identifier: Apache-2.0 */
/* What the harnesses of documents share. */
#pragma once
#include "base/utf8.h"
#include "fuzz.h"
#include "json/node.h"

/* Canonical text in the arena; the writer must not fail for a tree that a reader made. */
static inline il_str fuzz_text(il_arena *a, const il_json *v, il_json_order order) {
    il_buf b;
    il_str text;
    il_buf_init(&b, a, SIZE_MAX);
    il_json_write(&b, v, order);
    FUZZ_CHECK(il_buf_done(&b, &text, NULL) == IL_OK);
    return text;
}

/* A refusal is complete: no tree, a code, a message that is one line of valid UTF-8, and a position inside the text. */
static inline void fuzz_refused(il_status s, const il_json *v, const il_error *err, size_t size) {
    FUZZ_CHECK(v == NULL);
    FUZZ_CHECK(s == IL_E_SYNTAX || s == IL_E_LIMIT);
    FUZZ_CHECK(err->code == s);
    FUZZ_CHECK(err->line >= 1 && err->col >= 1);
    FUZZ_CHECK(err->offset <= size + 1); /* one more: the line end that a last line without one is given */
    const il_str msg = il_str_of(err->msg);
    FUZZ_CHECK(msg.n > 0 && il_str_utf8(msg, NULL));
    for (size_t i = 0; i < msg.n; i++) {
        FUZZ_CHECK((unsigned char)msg.p[i] >= 0x20 && msg.p[i] != 0x7f);
    }
}

/* Canonical text is what the header promises: no control character, DEL, U+2028 or U+2029, valid UTF-8. */
static inline void fuzz_canonical(il_str text) {
    FUZZ_CHECK(il_str_utf8(text, NULL));
    for (size_t i = 0; i < text.n; i++) {
        FUZZ_CHECK((unsigned char)text.p[i] >= 0x20 && text.p[i] != 0x7f);
    }
    FUZZ_CHECK(il_str_find(text, IL_STR("\xe2\x80\xa8"), 0) == SIZE_MAX);
    FUZZ_CHECK(il_str_find(text, IL_STR("\xe2\x80\xa9"), 0) == SIZE_MAX);
}
