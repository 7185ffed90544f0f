/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/episode.h"

#include "provenance/episode_part.h"
#include "provenance/index.h"
#include "provenance/typed.h"

typedef struct il_rows { /* fixed-size records that grow in an arena */
    uint8_t *p;
    uint32_t n, cap, width;
} il_rows;

struct il_episode {
    il_arena *arena;
    il_source_kind kind;
    uint64_t ticket;
    uint32_t taints;
    il_str name, agent;
    uint8_t flags;
    bool done;
    il_rows facts, typed, words, sent, vouched; /* words: il_typed_form; the others: marks; facts: il_kept_fact */
    uint32_t nwords;                            /* words, of which each has forms */
    uint32_t ntrusted, nuntrusted;
    il_rows trusted, untrusted; /* il_str */
    il_str *texts;              /* of each, in the order of their digests, what the index keeps */
    il_rows names;              /* two il_str each */
};

/* One more record, to be filled; NULL without memory. */
static void *il_rows_more(il_rows *r, il_arena *arena, uint32_t width) {
    r->width = width;
    if (r->n == r->cap) {
        const uint32_t cap = r->cap == 0 ? 8 : 2 * r->cap;
        uint8_t *p = il_arena_array(arena, cap, width);
        if (p == NULL) {
            return NULL;
        }
        if (r->n > 0) {
            memcpy(p, r->p, (size_t)r->n * width);
        }
        r->p = p;
        r->cap = cap;
    }
    return r->p + (size_t)r->n++ * width;
}

il_status il_episode_new(il_arena *arena, il_source_kind kind, uint64_t ticket, uint32_t taints, il_str name, il_str agent,
                         il_episode **out, il_error *err) {
    il_episode *e = IL_NEW(arena, il_episode);
    *out = NULL;
    if (e == NULL) {
        return il_arena_fail(arena, err);
    }
    *e = (il_episode){.arena = arena, .kind = kind, .ticket = ticket, .taints = taints};
    IL_TRY(il_arena_copy(arena, il_str_part(name, 0, IL_EPISODE_NAME_MAX), &e->name, err));
    IL_TRY(il_arena_copy(arena, il_str_part(agent, 0, IL_EPISODE_NAME_MAX), &e->agent, err));
    *out = e;
    return IL_OK;
}

void il_episode_partial(il_episode *e) { e->flags |= IL_EPISODE_PARTIAL; }

bool il_episode_empty(const il_episode *e) {
    return e->facts.n == 0 && e->typed.n == 0 && e->words.n == 0 && e->sent.n == 0 && e->trusted.n == 0 && e->untrusted.n == 0 &&
           e->names.n == 0 && e->flags == 0;
}

il_status il_episode_text(il_episode *e, il_str text, bool untrusted, il_error *err) {
    il_rows *r = untrusted ? &e->untrusted : &e->trusted;
    if (text.n == 0) {
        return IL_OK;
    }
    if (e->trusted.n + e->untrusted.n >= IL_EPISODE_TEXTS_MAX || text.n > UINT32_MAX) {
        il_episode_partial(e);
        return IL_OK;
    }
    il_str *slot = il_rows_more(r, e->arena, sizeof(il_str));
    if (slot == NULL) {
        return il_arena_fail(e->arena, err);
    }
    *slot = text;
    return IL_OK;
}

uint32_t il_via_marks(il_str via, uint8_t out[IL_VIA_WORDS_MAX * IL_MARK_BYTES]) {
    il_str words[IL_VIA_WORDS_MAX];
    uint32_t n = 0;
    size_t at = 0;
    il_typed_word w;
    while (il_typed_next(via, &at, &w)) {
        if (n == IL_VIA_WORDS_MAX) {
            return 0;
        }
        words[n++] = w.forms[0].text;
    }
    if (n > 0) { /* the signs around the whole are not part of it */
        words[0] = il_typed_front(words[0]);
        words[n - 1] = il_typed_back(words[n - 1]);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (words[i].n == 0) {
            return 0;
        }
        il_mark(IL_MARK_FOLD, (il_str){0}, words[i], out + (size_t)i * IL_MARK_BYTES);
    }
    return n;
}

void il_via_edge(uint8_t out[IL_MARK_BYTES]) { il_mark(IL_MARK_FOLD, IL_STR("edge"), (il_str){0}, out); }

il_status il_episode_fact(il_episode *e, const il_fact *fact, il_error *err) {
    if (e->facts.n >= IL_EPISODE_FACTS_MAX || fact->kind.n == 0 || fact->value.n == 0) {
        return IL_OK;
    }
    il_kept_fact *f = il_rows_more(&e->facts, e->arena, sizeof(il_kept_fact));
    if (f == NULL) {
        return il_arena_fail(e->arena, err);
    }
    *f = (il_kept_fact){.standing = (uint8_t)fact->standing};
    il_mark(IL_MARK_FACT, fact->kind, fact->value, f->mark);
    if (fact->has_via) {
        uint8_t via[IL_VIA_WORDS_MAX * IL_MARK_BYTES];
        f->standing |= IL_FACT_HAS_VIA;
        f->nvia = (uint8_t)il_via_marks(fact->via, via);
        if (fact->edge && f->nvia > 0) {
            memmove(via + IL_MARK_BYTES, via, (size_t)(IL_VIA_WORDS_MAX - 1) * IL_MARK_BYTES);
            il_via_edge(via);
            f->nvia = f->nvia < IL_VIA_WORDS_MAX ? (uint8_t)(f->nvia + 1) : 0; /* no room: as a sibling of too many words */
        }
        f->via = il_arena_raw(e->arena, (size_t)f->nvia * IL_MARK_BYTES);
        if (f->via == NULL) {
            return il_arena_fail(e->arena, err);
        }
        memcpy(f->via, via, (size_t)f->nvia * IL_MARK_BYTES);
        il_mark(IL_MARK_FOUND, fact->kind, (il_str){(const char *)f->via, (size_t)f->nvia * IL_MARK_BYTES}, f->found);
    }
    return IL_OK;
}

static il_status il_episode_sends(il_episode *e, il_rows *r, uint64_t mark, il_error *err) {
    uint64_t *p = il_rows_more(r, e->arena, sizeof *p);
    if (p == NULL) {
        return il_arena_fail(e->arena, err);
    }
    *p = mark;
    return IL_OK;
}

il_status il_episode_typed(il_episode *e, il_str text, il_error *err) {
    size_t at = 0;
    il_typed_word w;
    IL_TRY(il_episode_text(e, text, false, err));
    while (e->nwords < IL_EPISODE_WORDS_MAX && il_typed_next(text, &at, &w)) {
        for (uint32_t i = 0; i < w.n; i++) {
            il_kept_form *f = il_rows_more(&e->words, e->arena, sizeof *f);
            if (f == NULL) {
                return il_arena_fail(e->arena, err);
            }
            f->flags = w.forms[i].without;
            il_mark(IL_MARK_WORD, (il_str){0}, w.forms[i].text, f->exact);
            il_mark(IL_MARK_FOLD, (il_str){0}, w.forms[i].text, f->fold);
            f->flags |= i == 0 ? IL_FORM_FIRST : 0;
        }
        e->nwords++;
    }
    return IL_OK;
}

il_status il_episode_typed_value(il_episode *e, il_str kind, il_str value, il_error *err) {
    if (e->typed.n >= IL_EPISODE_TYPED_MAX) {
        return IL_OK;
    }
    uint8_t *p = il_rows_more(&e->typed, e->arena, IL_MARK_BYTES);
    if (p == NULL) {
        return il_arena_fail(e->arena, err);
    }
    il_mark(IL_MARK_TYPED, kind, value, p);
    return IL_OK;
}

static il_status il_episode_token(il_episode *e, il_str token, uint64_t as, il_error *err) {
    if (token.n == 0 || (e->flags & IL_EPISODE_SENT_ALL) != 0) {
        return IL_OK;
    }
    if (e->sent.n >= IL_EPISODE_SENT_MAX) {
        e->flags |= IL_EPISODE_SENT_ALL;
        return IL_OK;
    }
    return il_episode_sends(e, &e->sent, il_mark_sent(token) ^ as, err);
}

il_status il_episode_sent(il_episode *e, il_str value, bool vouched, il_error *err) {
    if (!vouched) {
        return il_episode_token(e, value, 0, err);
    }
    return value.n == 0 ? IL_OK : il_episode_sends(e, &e->vouched, il_mark_sent(value), err);
}

il_status il_episode_sent_part(il_episode *e, il_str part, il_error *err) {
    return il_episode_token(e, part, IL_MARK_SENT_PART, err);
}

void il_episode_sent_all(il_episode *e) { e->flags |= IL_EPISODE_SENT_ALL; }

/* Which signs a run of characters goes on over. */
typedef enum il_token_width { IL_TOKEN_ALNUM, IL_TOKEN_NAME, IL_TOKEN_ADDRESS } il_token_width;

static bool il_token_char(char c, il_token_width width) {
    const bool name = width != IL_TOKEN_ALNUM && (c == '_' || c == '.' || c == '-');
    return il_sent_char(c) || name || (width == IL_TOKEN_ADDRESS && (c == '@' || c == '+'));
}

/* The runs of characters that names are made of. Short ones say nothing when they are only part of a text. */
static il_status il_episode_runs(il_episode *e, il_str word, il_token_width width, il_error *err) {
    for (size_t i = 0; i < word.n;) {
        const size_t from = i;
        while (i < word.n && il_token_char(word.p[i], width)) {
            i++;
        }
        if (i - from >= IL_SENT_TOKEN_MIN && i - from < word.n) {
            IL_TRY(il_episode_token(e, il_str_part(word, from, i), 0, err));
        }
        i += i == from ? 1 : 0;
    }
    return IL_OK;
}

il_status il_episode_sent_text(il_episode *e, il_str text, il_error *err) {
    size_t at = 0;
    il_typed_word w;
    IL_TRY(il_episode_token(e, text, 0, err));
    while ((e->flags & IL_EPISODE_SENT_ALL) == 0 && il_typed_next(text, &at, &w)) {
        for (uint32_t i = 0; i < w.n; i++) {
            if (w.forms[i].text.n >= IL_SENT_TOKEN_MIN && w.forms[i].text.n < text.n) {
                IL_TRY(il_episode_token(e, w.forms[i].text, 0, err));
            }
        }
        IL_TRY(il_episode_runs(e, w.forms[0].text, IL_TOKEN_ADDRESS, err));
        IL_TRY(il_episode_runs(e, w.forms[0].text, IL_TOKEN_NAME, err));
        IL_TRY(il_episode_runs(e, w.forms[0].text, IL_TOKEN_ALNUM, err));
    }
    return IL_OK;
}

il_status il_episode_remember(il_episode *e, il_str name, il_str value, il_error *err) {
    IL_CHECK(name.n > 0 && name.n <= IL_EPISODE_NAME_MAX, err);
    il_str *pair = NULL;
    for (uint32_t i = 0; i < e->names.n; i++) { /* said twice: the latest */
        il_str *other = (il_str *)(void *)e->names.p + (size_t)2 * i;
        pair = il_str_eq(other[0], name) ? other : pair;
    }
    if (pair == NULL && e->names.n >= IL_EPISODE_NAMES_MAX) {
        return il_error_set(err, IL_E_LIMIT, "more than %u names are remembered", IL_EPISODE_NAMES_MAX);
    }
    pair = pair != NULL ? pair : il_rows_more(&e->names, e->arena, 2 * sizeof(il_str));
    if (pair == NULL) {
        return il_arena_fail(e->arena, err);
    }
    IL_TRY(il_arena_copy(e->arena, name, &pair[0], err));
    return il_arena_copy(e->arena, value.n <= IL_EPISODE_VALUE_MAX ? value : (il_str){0}, &pair[1], err);
}

/* ---- bytes: see episode_part.h --------------------------------------------------------------------- */

/* Writes a number over the four bytes that were left for it. */
static void il_episode_patch(il_buf *b, size_t at, size_t v) {
    for (size_t i = 0; i < 4 && !b->failed; i++) {
        b->p[at + i] = (char)(uint8_t)(v >> (8 * i));
    }
}

static void il_episode_put(il_buf *b, il_str s) {
    il_buf_u16(b, (uint16_t)s.n);
    il_buf_put(b, s);
}

static void il_episode_put_typed(il_episode *e, il_buf *b) {
    e->typed.n = (uint32_t)il_marks_sort(e->typed.p, e->typed.n);
    il_buf_u32(b, e->typed.n);
    il_buf_put(b, (il_str){(const char *)e->typed.p, (size_t)e->typed.n * IL_MARK_BYTES});
}

static bool il_episode_known(const il_episode *e, uint64_t sent) {
    const uint64_t *vouched = (const uint64_t *)(const void *)e->vouched.p;
    for (uint32_t i = 0; i < e->vouched.n; i++) {
        if (vouched[i] == sent) {
            return true;
        }
    }
    return false;
}

/* In the order in which it was sent, but for what was vouched, which stands behind it. */
static void il_episode_put_sent(const il_episode *e, il_buf *b) {
    const uint64_t *sent = (const uint64_t *)(const void *)e->sent.p, *vouched = (const uint64_t *)(const void *)e->vouched.p;
    const size_t at = b->n;
    uint32_t kept = 0;
    il_buf_u32(b, 0);
    for (uint32_t i = 0; i < e->sent.n; i++) {
        if (!il_episode_known(e, sent[i])) {
            il_buf_u64(b, sent[i]);
            kept++;
        }
    }
    for (uint32_t i = 0; i < e->vouched.n; i++) {
        il_buf_u64(b, vouched[i] ^ IL_MARK_SENT_VOUCHED);
        kept++;
    }
    il_episode_patch(b, at, kept);
}

static void il_episode_put_facts(const il_episode *e, il_buf *b) {
    il_buf_u32(b, e->facts.n);
    for (uint32_t i = 0; i < e->facts.n; i++) {
        const il_kept_fact *f = (const il_kept_fact *)(const void *)e->facts.p + i;
        il_buf_put(b, (il_str){(const char *)f->mark, IL_MARK_BYTES});
        il_buf_u8(b, f->standing);
        if ((f->standing & IL_FACT_HAS_VIA) != 0) {
            il_buf_u8(b, f->nvia);
            il_buf_put(b, (il_str){(const char *)f->via, (size_t)f->nvia * IL_MARK_BYTES});
            il_buf_put(b, (il_str){(const char *)f->found, IL_MARK_BYTES});
        }
    }
}

static void il_episode_put_words(const il_episode *e, il_buf *b) {
    il_buf_u32(b, e->words.n);
    for (uint32_t i = 0; i < e->words.n; i++) {
        const il_kept_form *f = (const il_kept_form *)(const void *)e->words.p + i;
        il_buf_u8(b, f->flags);
        il_buf_put(b, (il_str){(const char *)f->exact, IL_MARK_BYTES});
        il_buf_put(b, (il_str){(const char *)f->fold, IL_MARK_BYTES});
    }
}

static il_status il_episode_put_texts(il_episode *e, il_buf *b, il_error *err) {
    const uint32_t n = e->trusted.n + e->untrusted.n;
    e->texts = IL_NEW_ARRAY(e->arena, il_str, n);
    if (e->texts == NULL) {
        return il_arena_fail(e->arena, err);
    }
    if (e->trusted.n > 0) {
        memcpy(e->texts, e->trusted.p, e->trusted.n * sizeof(il_str));
    }
    if (e->untrusted.n > 0) {
        memcpy(e->texts + e->trusted.n, e->untrusted.p, e->untrusted.n * sizeof(il_str));
    }
    il_buf_u32(b, e->trusted.n);
    il_buf_u32(b, e->untrusted.n);
    for (uint32_t i = 0; i < n; i++) {
        const size_t at = b->n;
        il_buf_u32(b, 0);
        IL_TRY(il_index_digest(e->texts[i], b, &e->texts[i], err));
        il_episode_patch(b, at, b->n - at - 4);
    }
    return IL_OK;
}

il_status il_episode_done(il_episode *e, il_str *bytes, il_error *err) {
    il_buf b;
    *bytes = (il_str){0};
    IL_CHECK(!e->done, err);
    e->done = true;
    il_buf_init(&b, e->arena, IL_EPISODE_BYTES_MAX);
    il_buf_u8(&b, IL_EPISODE_VERSION);
    il_buf_u8(&b, (uint8_t)e->kind);
    il_buf_u8(&b, e->flags);
    il_buf_u64(&b, e->ticket);
    il_buf_u32(&b, e->taints);
    il_episode_put(&b, e->name);
    il_episode_put(&b, e->agent);
    il_episode_put_facts(e, &b);
    il_episode_put_typed(e, &b);
    il_episode_put_words(e, &b);
    il_episode_put_sent(e, &b);
    il_buf_u16(&b, (uint16_t)e->names.n);
    for (uint32_t i = 0; i < 2 * e->names.n; i++) {
        il_episode_put(&b, ((const il_str *)(const void *)e->names.p)[i]);
    }
    IL_TRY(il_episode_put_texts(e, &b, err));
    return il_buf_done(&b, bytes, err);
}

const il_str *il_episode_texts(const il_episode *e, size_t *n) {
    *n = e->done ? (size_t)e->trusted.n + e->untrusted.n : 0;
    return e->texts;
}
