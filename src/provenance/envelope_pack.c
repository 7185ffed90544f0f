/* SPDX-License-Identifier: Apache-2.0 */
/* Packing. The payload travels as a text inside the envelope's JSON: a reader that parses and writes it again changes no number in it, and the MAC stays right. */
#include "base/hmac.h"
#include "provenance/envelope.h"

typedef struct il_pool { /* of the labels' texts, each once, in the order of their first use */
    il_str *texts;
    uint8_t (*digests)[IL_DIGEST_BYTES];
    uint32_t *slots; /* number plus one; 0: free */
    uint32_t n, room, mask;
} il_pool;

static il_status pool_init(il_pool *pool, size_t nlabels, uint32_t most, il_arena *arena, il_error *err) {
    uint32_t slots = 2;
    *pool = (il_pool){.room = nlabels < most ? (uint32_t)nlabels : most};
    while (slots < 2 * (pool->room + 1)) {
        slots *= 2;
    }
    pool->mask = slots - 1;
    pool->texts = IL_NEW_ARRAY(arena, il_str, (size_t)pool->room + 1);
    pool->digests = il_arena_array(arena, (size_t)pool->room + 1, IL_DIGEST_BYTES);
    pool->slots = IL_NEW_ARRAY(arena, uint32_t, slots);
    return pool->texts != NULL && pool->digests != NULL && pool->slots != NULL ? IL_OK : il_arena_fail(arena, err);
}

static void pack_names(il_buf *b, const il_origin *o, size_t n, il_str (*name)(const il_origin *, size_t)) {
    il_buf_putc(b, '[');
    for (size_t i = 0; i < n; i++) {
        il_buf_put(b, i > 0 ? IL_STR(",") : IL_STR(""));
        il_json_write_string(b, name(o, i));
    }
    il_buf_putc(b, ']');
}

static void pack_endorsements(il_buf *b, const il_origin *o) {
    il_buf_putc(b, '[');
    for (size_t i = 0; i < il_origin_endorsements(o); i++) {
        const il_endorsement e = il_origin_endorsement(o, i);
        il_buf_puts(b, i > 0 ? ",{\"by\":" : "{\"by\":");
        il_json_write_string(b, e.by);
        il_buf_puts(b, ",\"digest\":\"");
        il_buf_hex(b, e.digest, sizeof e.digest);
        il_buf_puts(b, "\",\"kind\":");
        il_json_write_string(b, e.kind);
        il_buf_putc(b, '}');
    }
    il_buf_putc(b, ']');
}

/* The number of the label's text, which is added when it is new. */
static il_status pool_add(il_pool *pool, const il_origin *o, size_t most, il_arena *arena, uint32_t *number, il_error *err) {
    il_buf b;
    il_str text;
    uint8_t digest[IL_DIGEST_BYTES];
    il_buf_init(&b, arena, most);
    il_buf_puts(&b, "{\"agents\":");
    pack_names(&b, o, il_origin_agents(o), il_origin_agent);
    il_buf_puts(&b, ",\"endorsements\":");
    pack_endorsements(&b, o);
    il_buf_puts(&b, ",\"lineage\":");
    pack_names(&b, o, il_origin_sources(o), il_origin_lineage);
    il_buf_puts(&b, il_origin_more(o) ? ",\"more\":true,\"source\":" : ",\"more\":false,\"source\":");
    il_json_write_string(&b, il_origin_source(o));
    il_buf_putc(&b, '}');
    IL_TRY(il_buf_done(&b, &text, err));
    il_sha256_of(text, digest);
    uint32_t at =
        ((uint32_t)digest[0] | (uint32_t)digest[1] << 8 | (uint32_t)digest[2] << 16 | (uint32_t)digest[3] << 24) & pool->mask;
    for (; pool->slots[at] != 0; at = (at + 1) & pool->mask) {
        if (il_digest_eq(pool->digests[pool->slots[at] - 1], digest)) {
            *number = pool->slots[at] - 1;
            return IL_OK;
        }
    }
    if (pool->n == pool->room) {
        return il_error_set(err, IL_E_LIMIT, "more than %u different labels", (unsigned)pool->room);
    }
    pool->texts[pool->n] = text;
    memcpy(pool->digests[pool->n], digest, sizeof digest);
    *number = pool->n++;
    pool->slots[at] = pool->n;
    return IL_OK;
}

static il_status pack_check(const il_envelope_pack *how, il_error *err) {
    uint8_t any = 0;
    if (how == NULL || how->size < sizeof *how) {
        return il_error_set(err, IL_E_ARGUMENT, "no settings of the envelope, or without their size");
    }
    IL_TRY(il_origin_name_check(how->audience, "the session", err));
    if (how->run != NULL && (how->run->size < sizeof *how->run || how->run->effects >> IL_ENVELOPE_EFFECTS != 0)) {
        return il_error_set(err, IL_E_ARGUMENT,
                            "the state of a run without its size, or with another effect than taints and egress");
    }
    for (size_t i = 0; i < sizeof how->nonce; i++) {
        any |= how->nonce[i];
    }
    if (any == 0 || how->lasts_ms == 0 || how->lasts_ms > IL_ENVELOPE_LASTS_MAX ||
        how->now_ms > (uint64_t)INT64_MAX - IL_ENVELOPE_LASTS_MAX) {
        return il_error_set(err, IL_E_ARGUMENT, "an envelope has a random nonce, and lasts 1 to %u ms from now",
                            IL_ENVELOPE_LASTS_MAX);
    }
    if (how->key == NULL) {
        return IL_OK;
    }
    IL_TRY(il_origin_name_check(how->key->id, "the key", err));
    if (how->key->secret.n < IL_ENVELOPE_KEY_BYTES_MIN || how->key->secret.n > 4096) {
        return il_error_set(err, IL_E_ARGUMENT, "a key has %u to 4096 bytes", IL_ENVELOPE_KEY_BYTES_MIN);
    }
    return IL_OK;
}

static void pack_member(il_buf *b, il_envelope_member which) {
    il_buf_putc(b, which == IL_ENVELOPE_AUDIENCE ? '{' : ',');
    il_json_write_string(b, il_envelope_members[which]);
    il_buf_putc(b, ':');
}

typedef struct il_packing {
    il_arena arena;
    il_envelope_limits limits;
    const il_envelope_pack *how;
    il_str payload;
    il_pool pool;
    uint32_t *numbers; /* of each label, in the pool, and behind them of the run's */
    size_t mac;        /* where in the text its member goes */
} il_packing;

static void pack_run(il_buf *b, const il_run_state *run, uint32_t origin) {
    const char *comma = "";
    il_buf_puts(b, "{\"effects\":[");
    for (uint32_t i = 0; i < IL_ENVELOPE_EFFECTS; i++) {
        if ((run->effects & (1u << i)) != 0) {
            il_buf_puts(b, comma);
            il_json_write_string(b, il_envelope_effects[i]);
            comma = ",";
        }
    }
    il_buf_putc(b, ']');
    if (run->origin != NULL) {
        il_buf_puts(b, ",\"origin\":");
        il_buf_putu(b, origin);
    }
    il_buf_putc(b, '}');
}

static il_status pack_text(il_packing *p, const il_origin_at *labels, size_t nlabels, il_str *out, il_error *err) {
    const il_envelope_pack *how = p->how;
    il_buf b;
    il_buf_init(&b, &p->arena, p->limits.bytes);
    pack_member(&b, IL_ENVELOPE_AUDIENCE);
    il_json_write_string(&b, how->audience);
    pack_member(&b, IL_ENVELOPE_EXPIRES);
    il_buf_putu(&b, how->now_ms + how->lasts_ms);
    pack_member(&b, IL_ENVELOPE_IS);
    il_buf_putu(&b, IL_ENVELOPE_VERSION);
    pack_member(&b, IL_ENVELOPE_ISSUED);
    il_buf_putu(&b, how->now_ms);
    if (how->key != NULL) {
        pack_member(&b, IL_ENVELOPE_KEY);
        il_json_write_string(&b, how->key->id);
    }
    pack_member(&b, IL_ENVELOPE_LABELS);
    il_buf_putc(&b, '[');
    for (size_t i = 0; i < nlabels; i++) {
        il_buf_puts(&b, i > 0 ? ",{\"origin\":" : "{\"origin\":");
        il_buf_putu(&b, p->numbers[i]);
        il_buf_puts(&b, ",\"path\":");
        il_json_write_string(&b, labels[i].path);
        il_buf_putc(&b, '}');
    }
    il_buf_putc(&b, ']');
    p->mac = b.n;
    pack_member(&b, IL_ENVELOPE_NONCE);
    il_buf_putc(&b, '"');
    il_buf_hex(&b, how->nonce, sizeof how->nonce);
    il_buf_putc(&b, '"');
    pack_member(&b, IL_ENVELOPE_ORIGINS);
    for (uint32_t i = 0; i < p->pool.n; i++) {
        il_buf_putc(&b, i > 0 ? ',' : '[');
        il_buf_put(&b, p->pool.texts[i]);
    }
    il_buf_puts(&b, p->pool.n > 0 ? "]" : "[]");
    pack_member(&b, IL_ENVELOPE_PAYLOAD);
    il_json_write_string(&b, p->payload);
    if (how->run != NULL) {
        pack_member(&b, IL_ENVELOPE_RUN);
        pack_run(&b, how->run, p->numbers[nlabels]);
    }
    il_buf_putc(&b, '}');
    return il_buf_done(&b, out, err);
}

static il_status pack_labels(il_packing *p, const il_json *value, const il_origin_at *labels, size_t nlabels, il_error *err) {
    il_buf b;
    il_parts parts;
    il_buf_init(&b, &p->arena, p->limits.bytes);
    il_json_write(&b, value, IL_JSON_SORTED);
    IL_TRY(il_buf_done(&b, &p->payload, err));
    IL_TRY(il_parts_read(&parts, p->payload, &p->limits, &p->arena, err));
    const il_origin *run = p->how->run != NULL ? p->how->run->origin : NULL;
    IL_TRY(pool_init(&p->pool, nlabels + (run != NULL ? 1 : 0), p->limits.origins, &p->arena, err));
    p->numbers = IL_NEW_ARRAY(&p->arena, uint32_t, nlabels + 1);
    if (p->numbers == NULL) {
        return il_arena_fail(&p->arena, err);
    }
    for (size_t i = 0; i < nlabels; i++) {
        if (labels[i].origin == NULL) {
            return il_error_set(err, IL_E_ARGUMENT, "a path without a label; what is not known is il_origin_unknown's");
        }
        IL_TRY(il_parts_label(&parts, labels[i].path, err));
        IL_TRY(pool_add(&p->pool, labels[i].origin, p->limits.bytes, &p->arena, &p->numbers[i], err));
    }
    return run != NULL ? pool_add(&p->pool, run, p->limits.bytes, &p->arena, &p->numbers[nlabels], err) : IL_OK;
}

/* The MAC is over the text without its member; it goes where the order of the keys wants it. */
static il_status pack_seal(il_packing *p, il_str text, const il_alloc *alloc, char **out, size_t *n, il_error *err) {
    char mac[sizeof(",\"mac\":\"\"") + IL_DIGEST_HEX] = {0};
    size_t more = 0;
    if (p->how->key != NULL) {
        uint8_t digest[IL_DIGEST_BYTES];
        char hex[IL_DIGEST_HEX];
        il_hmac_of(p->how->key->secret, text, NULL, digest);
        il_digest_hex(digest, hex);
        more = il_format(mac, sizeof mac, ",\"mac\":\"%s\"", hex);
    }
    *n = text.n + more;
    *out = *n <= p->limits.bytes ? alloc->alloc(alloc->ctx, *n + 1) : NULL;
    if (*out == NULL) {
        return *n > p->limits.bytes ? il_error_set(err, IL_E_LIMIT, "the envelope has more than %zu bytes", p->limits.bytes)
                                    : il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memcpy(*out, text.p, p->mac);
    memcpy(*out + p->mac, mac, more);
    memcpy(*out + p->mac + more, text.p + p->mac, text.n - p->mac);
    (*out)[*n] = '\0';
    return IL_OK;
}

il_status il_envelope_text_new(const il_alloc *alloc, const il_json *value, const il_origin_at *labels, size_t nlabels,
                               const il_envelope_pack *how, char **text, size_t *n, il_error *err) {
    il_packing p = {.how = how};
    il_str plain = {0};
    if (alloc == NULL || text == NULL || n == NULL || (nlabels > 0 && labels == NULL)) {
        return il_error_set(err, IL_E_ARGUMENT, "no allocator, labels or place for the envelope");
    }
    *text = NULL;
    *n = 0;
    IL_TRY(pack_check(how, err));
    IL_TRY(il_envelope_limits_fill(how->limits, &p.limits, err));
    if (nlabels > p.limits.labels) {
        return il_error_set(err, IL_E_LIMIT, "more than %u labels", (unsigned)p.limits.labels);
    }
    il_arena_init(&p.arena, alloc, IL_ENVELOPE_MEMORY);
    il_status s = pack_labels(&p, value, labels, nlabels, err);
    if (s == IL_OK) {
        s = pack_text(&p, labels, nlabels, &plain, err);
    }
    if (s == IL_OK) {
        s = pack_seal(&p, plain, alloc, text, n, err);
    }
    il_arena_free(&p.arena);
    return s;
}
