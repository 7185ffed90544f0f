/* SPDX-License-Identifier: Apache-2.0 */
/* Envelopes. First byte `t`: the rest is a text that somebody sends. `s`: the same, sealed with the right key, so that the rest of the reader is reached. `p`: bytes from
 * which a value with labels is made, packed, and changed at one place.
 *
 * Asserts: what is refused says why, gives nothing and uses up no nonce; what opens is no envelope twice; an unsealed one makes no value trusted or endorsed; what was
 * packed comes out, and does not when a byte of it was changed. */
#include "base/hmac.h"
#include "base/str.h"
#include "fuzz.h"
#include "provenance/envelope.h"

static const char fuzz_secret[] = "0123456789abcdef0123456789abcdef";
#define FUZZ_NOW 1700000000000u

typedef struct fuzz_host {
    unsigned asked;
    bool used;
} fuzz_host;

static bool fuzz_key(void *ctx, il_str id, il_str *secret) {
    (void)ctx;
    *secret = il_str_of(fuzz_secret);
    return il_str_eq(id, IL_STR("k1"));
}
static bool fuzz_fresh(void *ctx, il_str audience, const uint8_t nonce[IL_ENVELOPE_NONCE_BYTES], uint64_t expires_ms) {
    fuzz_host *h = ctx;
    (void)nonce;
    FUZZ_CHECK(il_str_eq(audience, IL_STR("s1")) && expires_ms > FUZZ_NOW);
    h->asked++;
    const bool fresh = !h->used;
    h->used = true;
    return fresh;
}
static bool fuzz_trusts(const void *ctx, il_str source) {
    (void)ctx;
    FUZZ_CHECK(source.n > 0 && source.n <= IL_ORIGIN_NAME_BYTES);
    return true;
}
static const il_trust_table fuzz_all = {.size = sizeof fuzz_all, .trusts = fuzz_trusts};

static il_status fuzz_open(const il_alloc *alloc, il_str text, bool channel, fuzz_host *h) {
    const il_envelope_limits limits = {.size = sizeof limits, .bytes = 1 << 20, .labels = 4096, .origins = 256};
    const il_envelope_open how = {.size = sizeof how,
                                  .audience = IL_STR("s1"),
                                  .now_ms = FUZZ_NOW,
                                  .ctx = h,
                                  .key = fuzz_key,
                                  .fresh = fuzz_fresh,
                                  .channel_trusted = channel,
                                  .trust = &fuzz_all,
                                  .limits = &limits};
    il_envelope *e = NULL;
    il_error err = {0};
    const il_status s = il_envelope_new(alloc, text, &how, &e, &err);
    FUZZ_CHECK((s == IL_OK) == (e != NULL) && (s == IL_OK || err.msg[0] != '\0'));
    FUZZ_CHECK(s != IL_OK || h->asked == 1);
    FUZZ_CHECK(s == IL_OK || s == IL_E_STATE || h->asked == 0);
    FUZZ_CHECK(s != IL_OK || channel || il_envelope_sealed(e));
    for (size_t i = 0; i < il_envelope_labels(e); i++) {
        const il_origin_at at = il_envelope_label(e, i);
        FUZZ_CHECK(at.origin != NULL && (at.path.n == 0 || at.path.p[0] == '/'));
        FUZZ_CHECK(il_envelope_sealed(e) || (il_origin_trust(at.origin, &fuzz_all) == IL_TRUST_UNTRUSTED &&
                                             il_origin_sources(at.origin) == 0 && il_origin_endorsements(at.origin) == 0));
    }
    il_envelope_free(e);
    return s;
}

static void fuzz_text(const il_alloc *alloc, il_str text) {
    for (unsigned channel = 0; channel < 2; channel++) {
        fuzz_host h = {0};
        if (fuzz_open(alloc, text, channel == 1, &h) == IL_OK) {
            h.asked = 0;
            FUZZ_CHECK(fuzz_open(alloc, text, channel == 1, &h) == IL_E_STATE);
        }
    }
}

/* With the right MAC, whatever it says. */
static void fuzz_sealed(const il_alloc *alloc, il_str text) {
    il_arena arena;
    il_json *v = NULL;
    il_buf b;
    il_str out;
    uint8_t mac[IL_DIGEST_BYTES];
    char hex[IL_DIGEST_HEX];
    il_arena_init(&arena, alloc, (size_t)64 << 20);
    if (il_json_parse(&arena, text, NULL, &v, NULL) == IL_OK && il_json_kind_of(v) == IL_JSON_OBJECT) {
        (void)il_json_remove(v, IL_STR("mac"));
        (void)il_json_remove(v, IL_STR("key"));
        FUZZ_CHECK(il_json_set(v, IL_STR("key"), il_json_string(&arena, IL_STR("k1"))));
        il_buf_init(&b, &arena, (size_t)16 << 20);
        il_json_write(&b, v, IL_JSON_SORTED);
        FUZZ_CHECK(il_buf_done(&b, &out, NULL) == IL_OK);
        il_hmac_of(il_str_of(fuzz_secret), out, NULL, mac);
        il_digest_hex(mac, hex);
        FUZZ_CHECK(il_json_set(v, IL_STR("mac"), il_json_string(&arena, il_str_of(hex))));
        il_buf_init(&b, &arena, (size_t)16 << 20);
        il_json_write(&b, v, IL_JSON_SORTED);
        FUZZ_CHECK(il_buf_done(&b, &out, NULL) == IL_OK);
        fuzz_text(alloc, out);
    }
    il_arena_free(&arena);
}

/* Where, what: a byte of the text is changed; the rest is the value, and a label for its whole and its first part. */
static void fuzz_packs(const il_alloc *alloc, fuzz_input in) {
    const size_t where = (size_t)(fuzz_u64(&in) & 0xffffff);
    const uint8_t what = fuzz_u8(&in);
    il_arena arena;
    il_json *v = NULL;
    il_origin *web = NULL;
    char *text = NULL;
    size_t n = 0;
    const il_envelope_key key = {IL_STR("k1"), il_str_of(fuzz_secret)};
    const il_envelope_pack how = {
        .size = sizeof how, .key = &key, .audience = IL_STR("s1"), .now_ms = FUZZ_NOW - 1, .lasts_ms = 1000, .nonce = {1}};
    il_arena_init(&arena, alloc, (size_t)64 << 20);
    FUZZ_CHECK(il_origin_new(alloc, IL_STR("web"), IL_STR("ana"), &web, NULL) == IL_OK);
    if (il_json_parse(&arena, (il_str){(const char *)in.p, in.n}, NULL, &v, NULL) == IL_OK) {
        const il_origin_at labels[] = {{{NULL, 0}, web}, {IL_STR("/0"), web}};
        const bool list = il_json_kind_of(v) == IL_JSON_ARRAY && il_json_count(v) > 0;
        const il_status s = il_envelope_text_new(alloc, v, labels, list ? 2 : 1, &how, &text, &n, NULL);
        FUZZ_CHECK(s == IL_OK || s == IL_E_LIMIT || s == IL_E_INVALID);
        if (s == IL_OK && n < (1 << 20)) {
            fuzz_host h = {0};
            FUZZ_CHECK(fuzz_open(alloc, (il_str){text, n}, false, &h) == IL_OK);
            text[where % n] = (char)((unsigned char)text[where % n] ^ (what | 1u));
            h = (fuzz_host){0};
            FUZZ_CHECK(fuzz_open(alloc, (il_str){text, n}, false, &h) != IL_OK);
        }
        alloc->free(alloc->ctx, text);
    }
    il_origin_free(web);
    il_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    if (size == 0) {
        return 0;
    }
    const il_str rest = {(const char *)data + 1, size - 1};
    if (data[0] == 't') {
        fuzz_text(&alloc, rest);
    } else if (data[0] == 's') {
        fuzz_sealed(&alloc, rest);
    } else if (data[0] == 'p') {
        fuzz_packs(&alloc, (fuzz_input){data + 1, size - 1});
    }
    return 0;
}
