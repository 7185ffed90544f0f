/* SPDX-License-Identifier: Apache-2.0 */
/* What a human typed, and what a call sends: the two that decide whether a value that comes back is news. */
#include "base/buf.h"
#include "policy/compiled.h"
#include "policy/filler.h"
#include "policy/kind_part.h"
#include "policy/result.h"
#include "policy/text.h"
#include "provenance/episode_part.h"
#include "provenance/sent.h"
#include "provenance/typed.h"

#define IL_SEND_DEPTH 128u /* of arguments; what is deeper counts as sent, whatever it is */

typedef struct il_hearing {
    il_episode *episode;
    il_arena *arena;
    il_str text; /* which is read */
    il_status broken;
    uint32_t typed; /* values */
    bool sends, cut;
} il_hearing;

static il_status il_hear_value(il_hearing *h, il_kind kind, il_str text) {
    il_str canonical = {0};
    const il_status s = text.n > 0 ? il_kind_value(kind, text, h->arena, &canonical, NULL) : IL_E_INVALID;
    if (s != IL_OK) {
        return s == IL_E_INVALID ? IL_OK : s;
    }
    h->typed++;
    h->cut = h->cut || h->typed > IL_EPISODE_TYPED_MAX;
    return h->sends ? il_episode_sent(h->episode, canonical, false, NULL)
                    : il_episode_typed_value(h->episode, il_kind_word(kind), canonical, NULL);
}

/* An address that is the end of another: `brien@x.example` of `o'brien@x.example`. Readers of texts find it, because it could be one; nobody typed it. What was found
 * behind escapes is no text that was typed either. */
static bool il_hear_part(const il_hearing *h, il_str token) {
    const char *text = h->text.p;
    if (token.n == 0 || token.p < text || token.p >= text + h->text.n) {
        return true;
    }
    const size_t at = (size_t)(token.p - text);
    const bool sign = at > 0 && il_str_find(IL_STR("!#$%&'*=?^`{|}~"), il_str_part(h->text, at - 1, at), 0) != SIZE_MAX;
    return sign && at > 1 && (il_ascii_alnum(text[at - 2]) || ((unsigned char)text[at - 2] & 0x80u) != 0);
}

static bool il_hear_found(void *ctx, il_kind kind, il_str token) {
    il_hearing *h = ctx;
    if (!h->sends && kind == IL_KIND_EMAIL && il_hear_part(h, token)) {
        return true;
    }
    h->broken = il_hear_value(h, kind, token);
    return h->broken == IL_OK;
}

/* Addresses, URLs and account numbers, as a reader's program finds them. More than it looks for are not heard. */
static il_status il_hear_text(il_hearing *h, il_str text, il_error *err) {
    h->text = text;
    const il_status s = il_text_destinations(text, h->arena, il_hear_found, h, NULL);
    if (h->broken != IL_OK) {
        return il_arena_fail(h->arena, err);
    }
    h->cut = h->cut || s == IL_E_LIMIT;
    return s == IL_OK || s == IL_E_LIMIT ? IL_OK : il_error_set(err, s, "out of memory");
}

static bool il_hear_has(il_str word, const char *signs) {
    for (; *signs != '\0'; signs++) {
        if (il_str_find(word, (il_str){signs, 1}, 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

static bool il_hear_digits(il_str word) {
    for (size_t i = 0; i < word.n; i++) {
        if (il_ascii_digit(word.p[i])) {
            return true;
        }
    }
    return false;
}

/* `setup.py`, `README.md`: who names a file names no host, though somebody could buy it. A human who means one writes it as a URL. */
static bool il_hear_file(il_str word) {
    static const char *const endings[] = {"md", "py", "sh", "rs", "cc", "mk", "tf", "pm", "ml", "zip", "mov", "ps"};
    const size_t dot = il_str_find(word, IL_STR("."), 0);
    if (dot == SIZE_MAX || dot == 0 || il_str_find(word, IL_STR("."), dot + 1) != SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (il_str_eq_nocase(il_str_part(word, dot + 1, word.n), il_str_of(endings[i]))) {
            return true;
        }
    }
    return false;
}

/* `and/or`, `read/write`: words of every sentence on both sides are no repository. */
static bool il_hear_either(il_str word) {
    const size_t slash = il_str_find(word, IL_STR("/"), 0);
    return il_filler(il_str_part(word, 0, slash)) && il_filler(il_str_part(word, slash + 1, word.n));
}

/* Whole words that are a host, a repository, a path or an account number. */
static il_status il_hear_words(il_hearing *h, il_str text, il_error *err) {
    size_t at = 0;
    uint32_t words = 0;
    il_typed_word w;
    while (il_typed_next(text, &at, &w)) {
        words++;
        h->cut = h->cut || words > IL_EPISODE_WORDS_MAX;
        for (uint32_t i = 0; i < w.n; i++) {
            const il_str word = w.forms[i].text;
            const bool rooted = word.p[0] == '/' || word.p[0] == '~', slash = il_hear_has(word, "/");
            il_status s = IL_OK;
            if (rooted) {
                s = il_hear_value(h, IL_KIND_PATH, word);
            } else if (slash) {
                s = il_hear_either(word) ? IL_OK : il_hear_value(h, IL_KIND_REPO, word);
            } else if (il_hear_has(word, ".:") || il_str_eq_nocase(word, IL_STR("localhost"))) {
                s = il_hear_file(word) ? IL_OK : il_hear_value(h, IL_KIND_HOST, word);
            } else if (il_hear_digits(word)) {
                s = il_hear_value(h, IL_KIND_ACCOUNT, word);
            }
            if (s != IL_OK) {
                return il_arena_fail(h->arena, err);
            }
        }
    }
    return IL_OK;
}

il_status il_policy_hear(const il_policy *p, il_str text, il_arena *arena, il_episode **out, bool *cut, il_error *err) {
    *out = NULL;
    if (cut != NULL) {
        *cut = false;
    }
    if (p != NULL && (p->remembers & (uint32_t)(IL_REMEMBERS_TYPED | IL_REMEMBERS_TEXTS)) == 0) {
        return IL_OK;
    }
    il_hearing h = {.arena = arena};
    IL_TRY(il_episode_new(arena, IL_SOURCE_HUMAN, 0, 0, (il_str){0}, (il_str){0}, &h.episode, err));
    IL_TRY(il_episode_typed(h.episode, text, err));
    IL_TRY(il_hear_text(&h, text, err));
    IL_TRY(il_hear_words(&h, text, err));
    if (cut != NULL) {
        *cut = h.cut;
    }
    *out = h.episode;
    return IL_OK;
}

/* A list of texts and numbers, which a receiver may join. */
static il_status il_send_joined(il_sending *s, const il_json *list, il_error *err) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, s->arena, SIZE_MAX / 2);
    for (const il_json *item = il_json_first(list); item != NULL; item = il_json_next(item)) {
        const il_json_kind kind = il_json_kind_of(item);
        if (kind != IL_JSON_STRING && kind != IL_JSON_NUMBER) {
            return IL_OK;
        }
        il_buf_put(&b, il_json_text(item));
    }
    IL_TRY(il_buf_done(&b, &text, err));
    return il_sent_joined(s, text, err);
}

static il_status il_send_below(il_hearing *h, il_sending *s, const il_json *v, unsigned depth, il_error *err) {
    const il_json_kind kind = il_json_kind_of(v);
    if (kind == IL_JSON_STRING || kind == IL_JSON_NUMBER) {
        const il_str text = il_json_text(v);
        IL_TRY(il_sent_leaf(s, text, false, err));
        /* only URLs and account numbers are written in other ways than their canonical form, letter case apart */
        const bool url = il_hear_has(text, "/") || il_str_find(text, IL_STR("www."), 0) != SIZE_MAX;
        return kind == IL_JSON_STRING && (url || il_hear_digits(text)) ? il_hear_text(h, text, err) : IL_OK;
    }
    if (depth == 0) {
        il_episode_sent_all(h->episode);
        return IL_OK;
    }
    if (kind == IL_JSON_ARRAY && il_json_count(v) > 1) {
        IL_TRY(il_send_joined(s, v, err));
    }
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        if (kind == IL_JSON_OBJECT) {
            IL_TRY(il_sent_leaf(s, il_json_key(c), true, err));
        }
        IL_TRY(il_send_below(h, s, c, depth - 1, err));
    }
    return IL_OK;
}

il_status il_policy_sent(const il_policy *p, const il_label_call *call, const il_label *label, uint64_t ticket, il_arena *arena,
                         il_episode **out, il_error *err) {
    *out = NULL;
    if ((p->remembers & (uint32_t)IL_REMEMBERS_SENT) == 0) {
        return IL_OK;
    }
    il_hearing h = {.arena = arena, .sends = true};
    IL_TRY(il_episode_new(arena, IL_SOURCE_SENT, ticket, 0, (il_str){0}, call->agent, &h.episode, err));
    for (size_t i = 0; i < label->nvalues; i++) {
        const il_vouched *v = &label->values[i];
        const bool known = v->how == IL_VOUCH_LISTED || v->how == IL_VOUCH_TYPED;
        IL_TRY(il_episode_sent(h.episode, v->value, known, err));
    }
    il_sending sending = {.episode = h.episode, .arena = arena};
    IL_TRY(il_send_below(&h, &sending, call->args, IL_SEND_DEPTH, err));
    IL_TRY(il_sent_done(&sending, err));
    *out = il_episode_empty(h.episode) ? NULL : h.episode;
    return IL_OK;
}
