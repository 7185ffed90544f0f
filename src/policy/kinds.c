/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/kinds.h"

#include "policy/kind_part.h"

bool il_kinds_find(const il_kinds *kinds, il_str word, il_kind *out) {
    if (il_kind_find(word, out)) {
        return true;
    }
    for (uint32_t i = 0; i < kinds->n; i++) {
        if (il_str_eq(kinds->words[i], word)) {
            *out = (il_kind)((uint32_t)IL_KIND_CUSTOM + i);
            return true;
        }
    }
    return false;
}

il_str il_kinds_word(const il_kinds *kinds, il_kind kind) {
    if (kind < IL_KIND_CUSTOM) {
        return il_kind_word(kind);
    }
    const uint32_t i = (uint32_t)kind - (uint32_t)IL_KIND_CUSTOM;
    return i < kinds->n ? kinds->words[i] : (il_str){0};
}

static bool il_kinds_word_ok(il_str word) {
    bool ok = word.n > 0 && word.n <= 32 && word.p[0] >= 'a' && word.p[0] <= 'z';
    for (size_t i = 0; ok && i < word.n; i++) {
        ok = il_ascii_digit(word.p[i]) || (word.p[i] >= 'a' && word.p[i] <= 'z') || word.p[i] == '_';
    }
    return ok;
}

/* The built-in kind that this word is most likely meant to be: one slip away, two in a word of five letters or more. */
static il_str il_kinds_meant(il_str word) {
    il_str meant = {0};
    unsigned best = 3;
    for (il_kind k = IL_KIND_EMAIL; k < IL_KIND_CUSTOM; k = (il_kind)(k + 1)) {
        const il_str known = il_kind_word(k);
        const unsigned slips = il_str_distance(known, word);
        if (slips < best && slips <= (known.n >= 5 && word.n >= 5 ? 2u : 1u)) {
            best = slips;
            meant = known;
        }
    }
    return meant;
}

il_status il_kinds_take(il_kinds *kinds, il_str word, const il_json *member, il_arena *arena, il_kind *out, il_error *err) {
    if (il_kinds_find(kinds, word, out)) {
        return IL_OK;
    }
    const il_str meant = il_kinds_meant(word);
    if (meant.n > 0) {
        return il_error_at(err, IL_E_INVALID, member->key_line, member->key_col, member->key_offset,
                           "unknown kind `%.*s`; did you mean `%.*s`? a kind of your own needs a word that is not so near to it",
                           IL_STR_ARG(word), IL_STR_ARG(meant));
    }
    if (!il_kinds_word_ok(word)) {
        return il_error_at(
            err, IL_E_INVALID, member->key_line, member->key_col, member->key_offset,
            "unknown kind `%.*s`; known are email, host, url, repo, channel, path, account and name, and a kind of your own is "
            "a word of a-z, 0-9 and `_`",
            IL_STR_ARG(word));
    }
    if (kinds->n == IL_KINDS_MAX) {
        return il_error_at(err, IL_E_LIMIT, member->key_line, member->key_col, member->key_offset,
                           "more than %u kinds of a policy's own", IL_KINDS_MAX);
    }
    IL_TRY(il_arena_copy(arena, word, &kinds->words[kinds->n], err));
    *out = (il_kind)((uint32_t)IL_KIND_CUSTOM + kinds->n++);
    return IL_OK;
}
