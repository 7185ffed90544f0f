/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/elicit.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "mcp/definition.h"
#include "policy/text.h"

#define ELICIT_NEST 64 /* the reader's limit for the whole message */
#define ELICIT_WORDS 1024
#define ELICIT_BYTES (64 << 10)

/* --- credentials --- */

static bool elicit_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool elicit_lower(char c) { return c >= 'a' && c <= 'z'; }

/* ` user password `: lower case, camelCase and signs taken apart, a space at both ends. */
static il_str elicit_words(il_str s, char out[ELICIT_WORDS]) {
    size_t n = 0;
    out[n++] = ' ';
    for (size_t i = 0; i < s.n && n + 3 < ELICIT_WORDS; i++) {
        const char c = s.p[i];
        const bool letter = elicit_lower(c) || elicit_upper(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
        if (letter && elicit_upper(c) && i > 0 && elicit_lower(s.p[i - 1])) {
            out[n++] = ' ';
        }
        if (letter) {
            out[n++] = elicit_upper(c) ? (char)(c - 'A' + 'a') : c;
        } else if (out[n - 1] != ' ' && c != '\'') {
            out[n++] = ' ';
        }
    }
    if (out[n - 1] != ' ') {
        out[n++] = ' ';
    }
    return (il_str){out, n};
}

bool il_elicit_credential(il_str words) {
    static const char *const asked[] = {
        " password",
        " passwd ",
        " passwort",
        " passcode",
        " passphrase",
        " pass word ",
        " pwd ",
        " secret ",
        " secrets ",
        " client secret",
        " token ",
        " apikey ",
        " api key ",
        " api keys ",
        " access key",
        " private key",
        " privatekey ",
        " secret key",
        " signing key",
        " encryption key",
        " ssh key",
        " credential",
        " pin ",
        " pin code ",
        " otp ",
        " totp ",
        " one time code",
        " onetime code",
        " verification code",
        " auth code",
        " authentication code",
        " security code",
        " 2fa ",
        " mfa ",
        " cvv ",
        " cvc ",
        " seed phrase",
        " recovery phrase",
        " recovery code",
        " backup code",
        " mnemonic ",
        " card number",
        " credit card",
        " ssn ",
        " social security",
        " session cookie",
        " jwt ",
    };
    char text[ELICIT_WORDS];
    const il_str spaced = elicit_words(words, text);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        if (il_str_find(spaced, il_str_of(asked[i]), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* One property of the form. */
static bool elicit_field_ok(const il_json *field) {
    static const il_str said[] = {{"title", 5}, {"description", 11}, {"format", 6}};
    bool asks = il_elicit_credential(il_json_key(field));
    for (size_t i = 0; i < sizeof said / sizeof *said && !asks; i++) {
        asks = il_elicit_credential(il_json_text(il_json_get(field, said[i])));
    }
    return !asks;
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
    const il_json *properties = il_json_get(schema, IL_STR("properties"));
    if (il_definition_fault(IL_MSG_NONE, schema, false) != NULL) {
        return il_error_set(err, IL_E_INVALID, "a field's name has characters that nobody sees");
    }
    for (const il_json *field = il_json_first(properties); field != NULL; field = il_json_next(field)) {
        if (!elicit_field_ok(field)) {
            return il_error_set(err, IL_E_INVALID, "the field `%.*s` asks for a credential",
                                IL_STR_ARG(il_str_part(il_json_key(field), 0, 64)));
        }
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
