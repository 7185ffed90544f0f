/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/elicit.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hidden.h"
#include "base/utf8.h"
#include "mcp/definition.h"
#include "policy/text.h"

#define ELICIT_NEST 64 /* the reader's limit for the whole message */
#define ELICIT_TAIL 64 /* bytes; more than the longest of the words */
#define ELICIT_BYTES (64 << 10)

/* --- credentials --- */

/* Wide, circled and mathematical letters are ASCII ones in another dress, and typography has more spaces and dashes. */
static uint32_t elicit_letter(uint32_t c) {
    if (c >= 0xff01 && c <= 0xff5e) {
        return c - 0xff01 + '!';
    }
    if (c >= 0x24b6 && c <= 0x24e9) {
        return 'a' + (c - 0x24b6) % 26;
    }
    if (c >= 0x1d400 && c <= 0x1d6a3) {
        return 'a' + (c - 0x1d400) % 26;
    }
    return c == 0xa0 || (c >= 0x2000 && c <= 0x206f) || (c >= 0x3000 && c <= 0x3003) ? ' ' : c;
}

static bool elicit_upper(uint32_t c) { return c >= 'A' && c <= 'Z'; }
static bool elicit_lower(uint32_t c) { return c >= 'a' && c <= 'z'; }

/* The end of ` user password `, as it is read: lower case, camelCase and signs taken apart, a space at both ends. */
typedef struct elicit_tail {
    char p[ELICIT_TAIL];
    size_t n;
} elicit_tail;

/* Whether what was read ends in one of the words. */
static bool elicit_read(elicit_tail *t, char c, const il_str *asked, size_t nasked) {
    if (c == ' ' && t->n > 0 && t->p[t->n - 1] == ' ') {
        return false;
    }
    if (t->n == ELICIT_TAIL) {
        memmove(t->p, t->p + ELICIT_TAIL / 2, ELICIT_TAIL / 2);
        t->n = ELICIT_TAIL / 2;
    }
    t->p[t->n++] = c;
    for (size_t i = 0; i < nasked; i++) {
        const il_str word = asked[i];
        if (word.n <= t->n && c == word.p[word.n - 1] && memcmp(t->p + t->n - word.n, word.p, word.n) == 0) {
            return true;
        }
    }
    return false;
}

bool il_elicit_credential(il_str words) {
    static const il_str asked[] = {
        {" password", 9},
        {" passwd ", 8},
        {" passwort", 9},
        {" passcode", 9},
        {" passphrase", 11},
        {" pass word ", 11},
        {" pwd ", 5},
        {" secret ", 8},
        {" secrets ", 9},
        {" client secret", 14},
        {" token ", 7},
        {" apikey ", 8},
        {" api key ", 9},
        {" api keys ", 10},
        {" access key", 11},
        {" private key", 12},
        {" privatekey ", 12},
        {" secret key", 11},
        {" signing key", 12},
        {" encryption key", 15},
        {" ssh key", 8},
        {" credential", 11},
        {" pin ", 5},
        {" pin code ", 10},
        {" otp ", 5},
        {" totp ", 6},
        {" one time code", 14},
        {" onetime code", 13},
        {" verification code", 18},
        {" auth code", 10},
        {" authentication code", 20},
        {" security code", 14},
        {" 2fa ", 5},
        {" mfa ", 5},
        {" cvv ", 5},
        {" cvc ", 5},
        {" seed phrase", 12},
        {" recovery phrase", 16},
        {" recovery code", 14},
        {" backup code", 12},
        {" mnemonic ", 10},
        {" card number", 12},
        {" credit card", 12},
        {" ssn ", 5},
        {" social security", 16},
        {" session cookie", 15},
        {" jwt ", 5},
    };
    static const size_t nasked = sizeof asked / sizeof *asked;
    const unsigned char *p = (const unsigned char *)words.p;
    elicit_tail tail = {.p = " ", .n = 1};
    uint32_t before = 0;
    for (size_t i = 0, n; i < words.n; i += n) {
        n = il_utf8_length(p + i, words.n - i);
        const uint32_t point = n == 0 ? ' ' : il_utf8_point(p + i, n), c = elicit_letter(point);
        n = n == 0 ? 1 : n;
        if (il_text_unseen(point) || (point >= 0x300 && point <= 0x36f) || c == '\'') {
            continue; /* accents may stand apart from their letter */
        }
        if (elicit_upper(c) && elicit_lower(before) && elicit_read(&tail, ' ', asked, nasked)) {
            return true;
        }
        const bool plain = elicit_upper(c) || elicit_lower(c) || (c >= '0' && c <= '9');
        const char as = elicit_upper(c) ? (char)(c - 'A' + 'a') : plain ? (char)c : c >= 0x80 ? '\x80' : ' ';
        if (elicit_read(&tail, as, asked, nasked)) {
            return true;
        }
        before = c;
    }
    return elicit_read(&tail, ' ', asked, nasked);
}

/* What a person chooses from, and what is no text. */
static bool elicit_given(il_str key) {
    static const il_str given[] = {{"enum", 4},     {"enumNames", 9}, {"const", 5}, {"default", 7},
                                   {"examples", 8}, {"pattern", 7},   {"type", 4}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (il_str_eq(key, given[i])) {
            return true;
        }
    }
    return false;
}

/* The first member at or below v whose name or words ask for a credential; NULL when none does. `option`: v is one of those that a person chooses
 * from. Forms are flat, but what a client draws of one that is not is not known. */
static const il_json *elicit_asks(const il_json *v, bool option, unsigned depth) {
    const bool label = option && il_json_get(v, IL_STR("const")) != NULL;
    for (const il_json *m = il_json_first(v); m != NULL; m = il_json_next(m)) {
        const il_str key = il_json_key(m);
        if (il_elicit_credential(key) ||
            (il_json_kind_of(m) == IL_JSON_STRING && !label && !elicit_given(key) && il_elicit_credential(il_json_text(m)))) {
            return m;
        }
        const bool options = il_str_eq(key, IL_STR("oneOf")) || il_str_eq(key, IL_STR("anyOf")) || (option && key.n == 0);
        const il_json *below =
            il_json_first(m) == NULL || depth == 0 || (elicit_given(key) && il_json_kind_of(m) == IL_JSON_ARRAY)
                ? NULL
                : elicit_asks(m, options, depth - 1);
        if (below != NULL) {
            return below;
        }
    }
    return NULL;
}

/* --- links --- */

typedef struct elicit_links {
    il_str text;
    bool *cut;      /* by byte of the text */
    bool elsewhere; /* a link that is not there to see: escaped, or inside another */
} elicit_links;

static void elicit_cut(elicit_links *l, size_t from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        l->cut[from + i] = true;
    }
}

static bool elicit_link(void *ctx, il_kind kind, il_str token) {
    static const il_str assumed = {"https://", 8}; /* put before what has no scheme: `www.host.example` */
    elicit_links *l = ctx;
    if (kind == IL_KIND_EMAIL || kind == IL_KIND_ACCOUNT) {
        return true;
    }
    if (token.p != NULL && token.p >= l->text.p && token.p + token.n <= l->text.p + l->text.n) {
        elicit_cut(l, (size_t)(token.p - l->text.p), token.n);
        return true;
    }
    const il_str bare = il_str_starts(token, assumed) ? il_str_part(token, assumed.n, token.n) : (il_str){0};
    size_t at = bare.n > 0 ? il_str_find(l->text, bare, 0) : SIZE_MAX;
    l->elsewhere = l->elsewhere || at == SIZE_MAX;
    for (; at != SIZE_MAX; at = il_str_find(l->text, bare, at + bare.n)) {
        elicit_cut(l, at, bare.n);
    }
    return true;
}

/* A text without links: what has one that cannot be cut out is not shown at all. */
static il_status elicit_text(il_arena *a, il_str text, il_str *out, il_error *err) {
    size_t hidden = 0;
    if (!il_text_clean(a, text, &text, &hidden)) {
        return il_arena_fail(a, err);
    }
    elicit_links l = {.text = text, .cut = IL_NEW_ARRAY(a, bool, text.n + 1)};
    if (l.cut == NULL) {
        return il_arena_fail(a, err);
    }
    IL_TRY(il_text_destinations(text, a, elicit_link, &l, err));
    if (l.elsewhere) {
        *out = IL_STR("[text with a hidden link removed]");
        return IL_OK;
    }
    il_buf b;
    il_buf_init(&b, a, text.n * 16 + 16);
    for (size_t i = 0; i < text.n; i++) {
        if (!l.cut[i]) {
            il_buf_putc(&b, text.p[i]);
        } else if (i == 0 || !l.cut[i - 1]) {
            il_buf_puts(&b, "[link removed]");
        }
    }
    return il_buf_done(&b, out, err);
}

/* --- the whole --- */

static il_status elicit_copy(il_arena *a, const il_json *v, unsigned depth, il_json **out, il_error *err) {
    const il_json_kind kind = il_json_kind_of(v);
    if (kind == IL_JSON_STRING) {
        il_str text = {0};
        IL_TRY(elicit_text(a, il_json_text(v), &text, err));
        *out = il_json_string(a, text);
    } else if (kind == IL_JSON_ARRAY || kind == IL_JSON_OBJECT) {
        *out = il_json_make(a, kind);
        for (const il_json *m = il_json_first(v); m != NULL && depth > 0; m = il_json_next(m)) {
            il_json *child = NULL;
            IL_TRY(elicit_copy(a, m, depth - 1, &child, err));
            if (!(kind == IL_JSON_ARRAY ? il_json_push(*out, child) : il_json_set(*out, il_json_key(m), child))) {
                return il_arena_fail(a, err);
            }
        }
    } else {
        *out = il_json_shallow(a, v);
    }
    return *out != NULL ? IL_OK : il_arena_fail(a, err);
}

static il_status elicit_schema(il_arena *a, const il_json *schema, il_json **out, il_error *err) {
    if (il_definition_fault(IL_MSG_NONE, schema, false) != NULL) {
        return il_error_set(err, IL_E_INVALID, "a field's name has characters that nobody sees");
    }
    const il_json *asks = elicit_asks(schema, false, ELICIT_NEST);
    if (asks != NULL) {
        return il_error_set(err, IL_E_INVALID, "the field `%.*s` asks for a credential",
                            IL_STR_ARG(il_str_part(il_json_key(asks), 0, 64)));
    }
    return elicit_copy(a, schema, ELICIT_NEST, out, err);
}

il_status il_elicit_params(il_arena *a, const il_json *params, il_str server, il_json **out, il_error *err) {
    static const il_str known[] = {{"mode", 4}, {"message", 7}, {"requestedSchema", 15}, {"_meta", 5}};
    const il_json *mode = il_json_get(params, known[0]), *message = il_json_get(params, known[1]),
                  *schema = il_json_get(params, known[2]);
    if (mode != NULL && !il_str_eq(il_json_text(mode), IL_STR("form"))) {
        return il_error_set(err, IL_E_INVALID, "a link that the server chooses was never offered");
    }
    if (il_json_kind_of(message) != IL_JSON_STRING || il_json_kind_of(schema) != IL_JSON_OBJECT) {
        return il_error_set(err, IL_E_INVALID, "`message` must be a string and `requestedSchema` an object");
    }
    il_buf size; /* a person reads it; and links are looked for in all of it */
    il_str written;
    il_buf_init(&size, a, ELICIT_BYTES);
    il_json_write(&size, params, IL_JSON_AS_READ);
    const il_status st = il_buf_done(&size, &written, err);
    if (st == IL_E_LIMIT) {
        return il_error_set(err, IL_E_INVALID, "the question is longer than %d KiB", ELICIT_BYTES >> 10);
    }
    IL_TRY(st);
    IL_TRY(il_json_only(params, known, sizeof known / sizeof *known, "`elicitation/create`", err));
    il_json *form = NULL;
    il_str text = {0}, said = {0};
    IL_TRY(elicit_schema(a, schema, &form, err));
    IL_TRY(elicit_text(a, il_json_text(message), &text, err));
    il_buf b;
    il_buf_init(&b, a, text.n + server.n + 32);
    il_buf_puts(&b, "server ");
    il_buf_put(&b, server);
    il_buf_puts(&b, " asks: ");
    il_buf_put(&b, text);
    IL_TRY(il_buf_done(&b, &said, err));
    il_json *made = il_json_make(a, IL_JSON_OBJECT);
    const bool fine = (mode == NULL || il_json_set(made, known[0], il_json_shallow(a, mode))) &&
                      il_json_set(made, known[1], il_json_string(a, said)) && il_json_set(made, known[2], form);
    if (!fine) {
        return il_arena_fail(a, err);
    }
    *out = made;
    return IL_OK;
}
