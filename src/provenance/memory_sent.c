/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent sent, when it comes back. What stood in escapes was read when it was sent (il_policy_sent); what encodes a value as a whole is asked for
 * here, where there is one value and not a text full of words. */
#include "provenance/memory_part.h"

#define IL_SENT_VALUE_MAX \
    512u /* bytes of a value whose encodings are asked for; a longer one was in no field that a service keys things by */

static bool il_memory_token_sent(const il_memory *m, il_str token, uint32_t source) {
    uint8_t mark[IL_MARK_BYTES];
    il_memory_sent_key(il_mark_sent(token), mark);
    const il_bag_entry *e = il_bag_find(&m->sent, mark, NULL);
    return e != NULL && e->value < source;
}

static size_t il_memory_base64(il_str value, const char *last, char *out) {
    static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t n = 0;
    for (size_t i = 0; i < value.n; i += 3) {
        uint32_t three = 0, have = 0;
        for (; have < 3; have++) {
            three = three << 8 | (i + have < value.n ? (uint8_t)value.p[i + have] : 0u);
        }
        have = value.n - i < 3 ? (uint32_t)(value.n - i) : 3;
        for (uint32_t k = 0; k <= have; k++) {
            const uint32_t sign = three >> (18 - 6 * k) & 63u;
            out[n++] = sign < 62 ? signs[sign] : last[sign - 62];
        }
    }
    return n;
}

/* Base64 of both alphabets, with and without `=`, and hex; letter case does not count. */
static bool il_memory_encoded_sent(const il_memory *m, il_str value, uint32_t source) {
    char text[2 * IL_SENT_VALUE_MAX + 4];
    static const char hex[] = "0123456789abcdef";
    static const char *const alphabets[] = {"+/", "-_"};
    if (value.n < IL_SENT_TOKEN_MIN || value.n > IL_SENT_VALUE_MAX) { /* `30` is 0 in hex, and any number of pages */
        return false;
    }
    for (size_t a = 0; a < sizeof alphabets / sizeof alphabets[0]; a++) {
        size_t n = il_memory_base64(value, alphabets[a], text);
        bool sent = il_memory_token_sent(m, (il_str){text, n}, source);
        for (; n % 4 != 0;) {
            text[n++] = '=';
        }
        if (sent || il_memory_token_sent(m, (il_str){text, n}, source)) {
            return true;
        }
    }
    for (size_t i = 0; i < value.n; i++) {
        text[2 * i] = hex[(uint8_t)value.p[i] >> 4];
        text[2 * i + 1] = hex[(uint8_t)value.p[i] & 15u];
    }
    return il_memory_token_sent(m, (il_str){text, 2 * value.n}, source);
}

bool il_memory_sent_before(const il_memory *m, il_str value, uint32_t source) {
    if (source > m->sent_all || il_memory_token_sent(m, value, source) || il_memory_encoded_sent(m, value, source)) {
        return true;
    }
    size_t at = 0, words = 0;
    bool all = true;
    il_typed_word w;
    while (all && il_typed_next(value, &at, &w)) { /* each of its words was, wherever: short ones are not kept */
        const il_str word = w.forms[0].text;
        words++;
        all = word.n < IL_SENT_TOKEN_MIN || il_memory_token_sent(m, word, source);
    }
    return all && words > 1;
}
