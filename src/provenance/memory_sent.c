/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent sent, when it comes back. What stood in escapes was read when it was sent (il_policy_sent); what encodes a value as a whole is asked for
 * here, where there is one value and not a text full of words. */
#include "base/utf8.h"
#include "provenance/memory_part.h"
#include "provenance/normal.h"

#define IL_SENT_VALUE_MAX \
    512u /* bytes of a value whose encodings are asked for; a longer one was in no field that a service keys things by */

static bool il_memory_mark_sent(const il_memory *m, uint64_t sent, uint32_t source) {
    uint8_t mark[IL_MARK_BYTES];
    il_memory_sent_key(sent, mark);
    const il_bag_entry *e = il_bag_find(&m->sent, mark, NULL);
    return e != NULL && e->value < source;
}

static bool il_memory_token_sent(const il_memory *m, il_str token, uint32_t source) {
    return il_memory_mark_sent(m, il_mark_sent(token), source);
}

/* ---- put together from parts of one call ---------------------------------------------------------------- */

#define IL_SENT_PARTS_MIN 5u    /* signs of a value that is looked for so: `15` is in every `1` and `5` */
#define IL_SENT_PIECES_MAX 512u /* that a value may be cut into; one with more counts as sent */

typedef struct il_sent_piece { /* signs [from, to) of a value, which were sent */
    uint16_t from, to;
    uint64_t mark;
} il_sent_piece;
typedef struct il_sent_pieces {
    char text[IL_SENT_VALUE_MAX]; /* the value without what separates */
    size_t n;
    il_sent_piece list[IL_SENT_PIECES_MAX]; /* by where they begin */
    size_t count;
} il_sent_pieces;

static bool il_memory_call_sent(const il_held_call *call, uint64_t mark) {
    bool all = true;
    for (unsigned i = 0; i < IL_HELD_CALL_BITS && all; i++) {
        const uint32_t bit = il_held_call_bit(mark, i, call->nbits);
        all = (call->bits[bit / 64] >> bit % 64 & 1) != 0;
    }
    return all;
}

/* A piece of nothing but digits weighs as much as three signs, so that no number is found in a list of all digits. */
static uint16_t il_sent_weight(const il_sent_pieces *p, const il_sent_piece *piece) {
    bool digits = true;
    for (size_t i = piece->from; i < piece->to && digits; i++) {
        digits = p->text[i] >= '0' && p->text[i] <= '9';
    }
    return digits ? 3 : 1;
}

/* Whether pieces, of this call alone if there is one, make up all of it. */
static bool il_memory_made_up(const il_sent_pieces *p, const il_held_call *call) {
    uint16_t least[IL_SENT_VALUE_MAX + 1]; /* what the pieces up to here weigh; 0: none lead here */
    memset(least, 0, sizeof least);
    for (size_t i = 0; i < p->count; i++) {
        const il_sent_piece *piece = &p->list[i];
        if ((piece->from == 0 || least[piece->from] != 0) && (call == NULL || il_memory_call_sent(call, piece->mark))) {
            const uint16_t weight = (uint16_t)(least[piece->from] + il_sent_weight(p, piece));
            least[piece->to] = least[piece->to] == 0 || weight < least[piece->to] ? weight : least[piece->to];
        }
    }
    return least[p->n] != 0 && (size_t)least[p->n] <= p->n + 2;
}

/* All pieces of the value that were sent, from places on to which others lead; false: too many. */
static bool il_memory_pieces(const il_memory *m, il_sent_pieces *p, uint32_t source) {
    bool led[IL_SENT_VALUE_MAX + 1];
    memset(led, 0, sizeof led);
    led[0] = true;
    for (size_t from = 0; from < p->n; from++) {
        uint64_t h = IL_MARK_SENT_BEGIN;
        for (size_t to = from; led[from] && to < p->n; to++) {
            h = il_mark_sent_add(h, p->text[to]);
            const uint64_t marks[] = {il_mark_sent_end(h), il_mark_sent_end(h) ^ IL_MARK_SENT_PART};
            for (size_t k = 0; k < 2; k++) {
                if (!il_memory_mark_sent(m, marks[k], source)) {
                    continue;
                }
                if (p->count == IL_SENT_PIECES_MAX) {
                    return false;
                }
                p->list[p->count++] = (il_sent_piece){(uint16_t)from, (uint16_t)(to + 1), marks[k]};
                led[to + 1] = true;
            }
        }
    }
    return true;
}

/* One call sent the value in parts, in whatever order: two arguments, items of lists, with other signs between them. */
static bool il_memory_parts_sent(const il_memory *m, il_str value, uint32_t source) {
    il_sent_pieces p;
    p.n = p.count = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (il_sent_char(value.p[i])) {
            if (p.n == sizeof p.text) {
                return false;
            }
            p.text[p.n++] = value.p[i];
        }
    }
    if (p.n < IL_SENT_PARTS_MIN) {
        return false;
    }
    if (!il_memory_pieces(m, &p, source)) {
        return true;
    }
    bool sent = false;
    const uint32_t calls = il_memory_made_up(&p, NULL) ? m->ncalls : 0;
    for (uint32_t i = 0; i < calls && !sent; i++) {
        sent = m->calls[i].source < source && il_memory_made_up(&p, &m->calls[i]);
    }
    return sent;
}

/* ---- encoded -------------------------------------------------------------------------------------------- */

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
        bool sent = il_memory_token_sent(m, (il_str){text, n}, source) || il_memory_parts_sent(m, (il_str){text, n}, source);
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
    return il_memory_token_sent(m, (il_str){text, 2 * value.n}, source) ||
           il_memory_parts_sent(m, (il_str){text, 2 * value.n}, source);
}

/* As readings have it (sent.c): without letter case outside ASCII, full width, marks. false: it is ASCII, or too long. */
static bool il_memory_normal(il_str value, char out[IL_SENT_VALUE_MAX], il_str *normal) {
    size_t n = 0;
    bool wide = false;
    for (size_t i = 0; i < value.n;) {
        const uint8_t *p = (const uint8_t *)value.p + i;
        const size_t length = il_utf8_length(p, value.n - i);
        uint8_t own[12];
        size_t bytes;
        bool space;
        const uint8_t *as = il_normal_point(length > 0 ? il_utf8_point(p, length) : *p, own, &bytes, &space);
        if (bytes + (space ? 1 : 0) > IL_SENT_VALUE_MAX - n) {
            return false;
        }
        memcpy(out + n, as, bytes);
        n += bytes;
        if (space && bytes == 0) {
            out[n++] = ' ';
        }
        wide = wide || *p >= 0x80;
        i += length > 0 ? length : 1;
    }
    *normal = (il_str){out, n};
    return wide;
}

bool il_memory_sent_before(const il_memory *m, il_str value, uint32_t source) {
    char room[IL_SENT_VALUE_MAX];
    il_str normal;
    const bool vouched =
        il_memory_mark_sent(m, il_mark_sent(value) ^ IL_MARK_SENT_VOUCHED, source); /* as a whole, at that time */
    if (!vouched && il_memory_normal(value, room, &normal) &&
        (il_memory_token_sent(m, normal, source) || il_memory_parts_sent(m, normal, source))) {
        return true;
    }
    if (source > m->sent_all || il_memory_token_sent(m, value, source) || il_memory_encoded_sent(m, value, source) ||
        (!vouched && il_memory_parts_sent(m, value, source))) {
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
