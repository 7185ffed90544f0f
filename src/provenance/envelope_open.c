/* SPDX-License-Identifier: Apache-2.0 */
/* Opening. The order is: read the JSON, verify the MAC, then the rest; what the host is told (a nonce was used) comes last. */
#include "base/hmac.h"
#include "provenance/envelope.h"

#define OPEN_TREE \
    24u /* bytes of tree for each byte of text: what a list of short labels takes; before the MAC nobody gets more */
#define OPEN_SKEW_MS 300000u /* two hosts' clocks may differ by so much */

struct il_envelope {
    il_arena arena;
    il_alloc alloc;
    const il_json *value;
    il_origin_at *labels;
    size_t nlabels;
    uint64_t expires_ms;
    bool sealed;
    il_run_state run; /* size 0: it carries none */
};

typedef struct il_opening {
    const il_envelope_open *how;
    il_envelope_limits limits;
    il_arena *scratch; /* of the envelope's own tree */
    il_json *root;
    il_envelope *e;
    const il_origin **origins;
    uint8_t nonce[IL_ENVELOPE_NONCE_BYTES];
} il_opening;

static const il_json *open_get(const il_opening *o, il_envelope_member which) {
    return il_json_get(o->root, il_envelope_members[which]);
}

static il_status open_str(const il_json *v, const char *what, il_str *out, il_error *err) {
    *out = il_json_text(v);
    return il_json_kind_of(v) == IL_JSON_STRING ? IL_OK
                                                : IL_JSON_FAIL(v, err, IL_E_INVALID, "%s of the envelope is no text", what);
}

/* ---- the MAC ------------------------------------------------------------------------------------------- */

static il_status open_mac(il_opening *o, il_error *err) {
    const il_json *mac = open_get(o, IL_ENVELOPE_MAC), *id = open_get(o, IL_ENVELOPE_KEY);
    uint8_t said[IL_DIGEST_BYTES], is[IL_DIGEST_BYTES];
    il_str key = {0}, text;
    il_buf b;
    if (mac == NULL && id == NULL) {
        return o->how->channel_trusted ? IL_OK
                                       : il_error_set(err, IL_E_SEAL, "the envelope has no MAC, so anybody may have written it");
    }
    if (mac == NULL || id == NULL || il_json_kind_of(id) != IL_JSON_STRING || !il_digest_read(il_json_text(mac), said)) {
        return il_error_set(err, IL_E_SEAL, "the envelope's MAC or the id of its key is missing or is none");
    }
    if (o->how->key == NULL || !o->how->key(o->how->ctx, il_json_text(id), &key) || key.n < IL_ENVELOPE_KEY_BYTES_MIN) {
        return il_error_set(err, IL_E_SEAL, "there is no key `%.*s` to verify the envelope with", IL_STR_ARG(il_json_text(id)));
    }
    (void)il_json_remove(o->root, il_envelope_members[IL_ENVELOPE_MAC]);
    il_buf_init(&b, o->scratch, 2 * o->limits.bytes); /* escapes may be longer than they were */
    il_json_write(&b, o->root, IL_JSON_SORTED);
    IL_TRY(il_buf_done(&b, &text, err));
    il_hmac_of(key, text, NULL, is);
    if (!il_digest_eq(said, is)) {
        return il_error_set(err, IL_E_SEAL, "the envelope's MAC is wrong: it was changed, or made with another key");
    }
    o->e->sealed = true;
    return IL_OK;
}

/* ---- the head ------------------------------------------------------------------------------------------ */

static il_status open_time(const il_opening *o, il_envelope_member which, uint64_t *out, il_error *err) {
    const il_json *v = open_get(o, which);
    int64_t n;
    if (!il_json_int(v, &n) || n < 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a time of the envelope is no number of milliseconds");
    }
    *out = (uint64_t)n;
    return IL_OK;
}

static il_status open_nonce(il_opening *o, il_error *err) {
    il_str hex;
    IL_TRY(open_str(open_get(o, IL_ENVELOPE_NONCE), "the nonce", &hex, err));
    bool good = hex.n == 2 * sizeof o->nonce;
    for (size_t i = 0; i < hex.n && good; i++) {
        const char c = hex.p[i];
        const bool digit = c >= '0' && c <= '9';
        good = digit || (c >= 'a' && c <= 'f');
        o->nonce[i / 2] = (uint8_t)(o->nonce[i / 2] << 4 | (digit ? c - '0' : c - 'a' + 10));
    }
    return good ? IL_OK : il_error_set(err, IL_E_INVALID, "the nonce of the envelope is not 16 bytes in hex");
}

static il_status open_head(il_opening *o, il_error *err) {
    il_str audience;
    uint64_t issued;
    IL_TRY(il_json_only(o->root, il_envelope_members, IL_ENVELOPE_MEMBERS, "an envelope", err));
    IL_TRY(open_str(open_get(o, IL_ENVELOPE_AUDIENCE), "the audience", &audience, err));
    IL_TRY(open_time(o, IL_ENVELOPE_ISSUED, &issued, err));
    IL_TRY(open_time(o, IL_ENVELOPE_EXPIRES, &o->e->expires_ms, err));
    IL_TRY(open_nonce(o, err));
    if (!il_str_eq(audience, o->how->audience)) {
        return il_error_set(err, IL_E_MISMATCH, "the envelope is for session `%.*s`", IL_STR_ARG(audience));
    }
    if (o->e->expires_ms <= issued || o->e->expires_ms - issued > IL_ENVELOPE_LASTS_MAX) {
        return il_error_set(err, IL_E_INVALID, "an envelope lasts 1 to %u ms", IL_ENVELOPE_LASTS_MAX);
    }
    if (o->how->now_ms >= o->e->expires_ms) {
        return il_error_set(err, IL_E_STATE, "the envelope has expired");
    }
    if (issued > o->how->now_ms && issued - o->how->now_ms > OPEN_SKEW_MS) {
        return il_error_set(err, IL_E_STATE, "the envelope was made in the future: compare the two hosts' clocks");
    }
    return IL_OK;
}

/* ---- labels ---------------------------------------------------------------------------------------------- */

/* Of an unsealed envelope no word is taken that would make a value look better. */
static bool open_believed(const il_opening *o, il_str source) {
    const il_trust_table *t = o->how->trust;
    return o->e->sealed || t == NULL || t->size < sizeof *t || t->trusts == NULL || !t->trusts(t->ctx, source);
}

static il_status open_names(il_opening *o, il_origin_draft *d, const il_json *v, bool agents, il_error *err) {
    if (il_json_kind_of(v) != IL_JSON_ARRAY || il_json_count(v) > IL_ORIGIN_NAMES) {
        return IL_JSON_FAIL(v, err, il_json_kind_of(v) == IL_JSON_ARRAY ? IL_E_LIMIT : IL_E_INVALID,
                            "a label has a list of at most %u names", IL_ORIGIN_NAMES);
    }
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        il_str name;
        IL_TRY(open_str(c, "a name", &name, err));
        IL_TRY(il_origin_name_check(name, agents ? "an agent" : "a source", err));
        const size_t before = agents ? d->agents.n : d->lineage.n;
        if (agents) {
            il_origin_draft_agent(d, name);
        } else if (open_believed(o, name)) {
            il_origin_draft_source(d, name);
        } else {
            continue;
        }
        if ((agents ? d->agents.n : d->lineage.n) == before) {
            return IL_JSON_FAIL(c, err, IL_E_INVALID, "`%.*s` stands twice in a label", IL_STR_ARG(name));
        }
    }
    return IL_OK;
}

static il_status open_endorsements(const il_opening *o, il_origin_draft *d, const il_json *v, il_error *err) {
    static const il_str members[] = {{"by", 2}, {"digest", 6}, {"kind", 4}};
    if (il_json_kind_of(v) != IL_JSON_ARRAY || il_json_count(v) > IL_ORIGIN_ENDORSEMENTS) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a label has a list of at most %u endorsements", IL_ORIGIN_ENDORSEMENTS);
    }
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        il_endorsement e = {.size = sizeof e};
        IL_TRY(il_json_only(c, members, 3, "an endorsement", err));
        IL_TRY(open_str(il_json_get(c, members[0]), "who endorses", &e.by, err));
        IL_TRY(open_str(il_json_get(c, members[2]), "the kind of an endorsement", &e.kind, err));
        if (!il_digest_read(il_json_text(il_json_get(c, members[1])), e.digest)) {
            return IL_JSON_FAIL(c, err, IL_E_INVALID, "an endorsement is of a value: its digest is missing or is none");
        }
        IL_TRY(il_origin_endorsement_check(&e, err));
        if (o->e->sealed) {
            d->endorsements[d->nendorsements++] = e;
        }
    }
    return IL_OK;
}

static il_status open_origin(il_opening *o, const il_json *v, const il_origin **out, il_error *err) {
    static const il_str members[] = {{"agents", 6}, {"endorsements", 12}, {"lineage", 7}, {"more", 4}, {"source", 6}};
    il_origin_draft d;
    IL_TRY(il_json_only(v, members, 5, "a label", err));
    const il_json *agents = il_json_get(v, members[0]), *lineage = il_json_get(v, members[2]), *more = il_json_get(v, members[3]);
    IL_TRY(il_origin_draft_init(&d, o->scratch, il_json_count(lineage), il_json_count(agents), err));
    IL_TRY(open_str(il_json_get(v, members[4]), "the source of a label", &d.source, err));
    IL_TRY(il_origin_name_check(d.source, "a source", err));
    if (il_json_kind_of(more) != IL_JSON_BOOL) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`more` of a label is true or false");
    }
    IL_TRY(open_names(o, &d, agents, true, err));
    IL_TRY(open_names(o, &d, lineage, false, err));
    IL_TRY(open_endorsements(o, &d, il_json_get(v, members[1]), err));
    d.more = il_json_bool(more) || !o->e->sealed;
    void *room = il_arena_get(&o->e->arena, il_origin_room(&d));
    if (room == NULL) {
        return il_arena_fail(&o->e->arena, err);
    }
    *out = il_origin_fill(&d, room);
    return IL_OK;
}

static il_status open_origins(il_opening *o, const il_json *list, il_error *err) {
    const size_t n = il_json_count(list);
    size_t i = 0;
    if (il_json_kind_of(list) != IL_JSON_ARRAY || n > o->limits.origins) {
        return IL_JSON_FAIL(list, err, il_json_kind_of(list) == IL_JSON_ARRAY ? IL_E_LIMIT : IL_E_INVALID,
                            "`origins` of the envelope is a list of at most %u", (unsigned)o->limits.origins);
    }
    o->origins = il_arena_array(o->scratch, n + 1, sizeof(il_origin *));
    if (o->origins == NULL) {
        return il_arena_fail(o->scratch, err);
    }
    for (const il_json *c = il_json_first(list); c != NULL; c = il_json_next(c)) {
        IL_TRY(open_origin(o, c, &o->origins[i++], err));
    }
    return IL_OK;
}

static il_status open_labels(il_opening *o, const il_json *list, il_error *err) {
    static const il_str members[] = {{"origin", 6}, {"path", 4}};
    const size_t n = il_json_count(list), norigins = il_json_count(open_get(o, IL_ENVELOPE_ORIGINS));
    il_str payload;
    il_parts parts;
    if (il_json_kind_of(list) != IL_JSON_ARRAY || n > o->limits.labels) {
        return IL_JSON_FAIL(list, err, il_json_kind_of(list) == IL_JSON_ARRAY ? IL_E_LIMIT : IL_E_INVALID,
                            "`labels` of the envelope is a list of at most %u", (unsigned)o->limits.labels);
    }
    IL_TRY(open_str(open_get(o, IL_ENVELOPE_PAYLOAD), "the payload", &payload, err));
    IL_TRY(il_parts_read(&parts, payload, &o->limits, &o->e->arena, err));
    o->e->value = parts.list[0].v;
    o->e->labels = IL_NEW_ARRAY(&o->e->arena, il_origin_at, n + 1);
    if (o->e->labels == NULL) {
        return il_arena_fail(&o->e->arena, err);
    }
    for (const il_json *c = il_json_first(list); c != NULL; c = il_json_next(c)) {
        il_origin_at *at = &o->e->labels[o->e->nlabels];
        int64_t number;
        il_str path;
        IL_TRY(il_json_only(c, members, 2, "a labelled path", err));
        IL_TRY(open_str(il_json_get(c, members[1]), "a path", &path, err));
        if (!il_json_int(il_json_get(c, members[0]), &number) || number < 0 || (uint64_t)number >= norigins) {
            return IL_JSON_FAIL(c, err, IL_E_INVALID, "a labelled path names no label of the envelope");
        }
        IL_TRY(il_parts_label(&parts, path, err));
        IL_TRY(il_arena_copy(&o->e->arena, path, &at->path, err));
        at->origin = o->origins[number];
        o->e->nlabels++;
    }
    return IL_OK;
}

/* Of an unsealed envelope as well: it only adds. */
static il_status open_run(il_opening *o, const il_json *v, il_error *err) {
    static const il_str members[] = {{"effects", 7}, {"origin", 6}};
    if (v == NULL) {
        return IL_OK;
    }
    IL_TRY(il_json_only(v, members, 2, "the run of an envelope", err));
    const il_json *effects = il_json_get(v, members[0]), *origin = il_json_get(v, members[1]);
    int64_t number = 0;
    if (il_json_kind_of(effects) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`effects` of the envelope's run is a list");
    }
    for (const il_json *e = il_json_first(effects); e != NULL; e = il_json_next(e)) {
        uint32_t bit = 0;
        for (uint32_t i = 0; i < IL_ENVELOPE_EFFECTS; i++) {
            bit |= il_json_kind_of(e) == IL_JSON_STRING && il_str_eq(il_json_text(e), il_envelope_effects[i]) ? 1u << i : 0u;
        }
        if (bit == 0 || (o->e->run.effects & bit) != 0) {
            return IL_JSON_FAIL(e, err, IL_E_INVALID, "an effect of the envelope's run is none, or stands twice");
        }
        o->e->run.effects |= bit;
    }
    if (origin != NULL &&
        (!il_json_int(origin, &number) || number < 0 || (uint64_t)number >= il_json_count(open_get(o, IL_ENVELOPE_ORIGINS)))) {
        return IL_JSON_FAIL(origin, err, IL_E_INVALID, "the envelope's run names no label of the envelope");
    }
    o->e->run.origin = origin != NULL ? o->origins[number] : NULL;
    o->e->run.size = sizeof o->e->run;
    return IL_OK;
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static il_status open_read(il_opening *o, il_str text, il_error *err) {
    const il_json_limits json = {.size = sizeof json,
                                 .bytes = o->limits.bytes,
                                 .depth = 8,
                                 .nodes = UINT32_MAX,
                                 .key_bytes = 64,
                                 .memory = OPEN_TREE * o->limits.bytes};
    int64_t version;
    IL_TRY(il_json_parse(o->scratch, text, &json, &o->root, err));
    const il_json *is = open_get(o, IL_ENVELOPE_IS);
    if (is == NULL) {
        return il_error_set(err, IL_E_INVALID, "this is no envelope: it has no `interlock_envelope`");
    }
    if (!il_json_int(is, &version) || version != IL_ENVELOPE_VERSION) {
        return il_error_set(err, IL_E_VERSION, "an envelope of another version than %d", IL_ENVELOPE_VERSION);
    }
    IL_TRY(open_mac(o, err));
    IL_TRY(open_head(o, err));
    IL_TRY(open_origins(o, open_get(o, IL_ENVELOPE_ORIGINS), err));
    IL_TRY(open_labels(o, open_get(o, IL_ENVELOPE_LABELS), err));
    IL_TRY(open_run(o, open_get(o, IL_ENVELOPE_RUN), err));
    if (!o->how->fresh(o->how->ctx, o->how->audience, o->nonce, o->e->expires_ms)) {
        return il_error_set(err, IL_E_STATE, "the envelope was opened in this session before");
    }
    return IL_OK;
}

il_status il_envelope_new(const il_alloc *alloc, il_str text, const il_envelope_open *how, il_envelope **out, il_error *err) {
    il_opening o = {.how = how};
    il_arena scratch;
    if (alloc == NULL || out == NULL || how == NULL || how->size < sizeof *how || how->fresh == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "no allocator or settings, or nobody knows which nonces were used");
    }
    *out = NULL;
    IL_TRY(il_origin_name_check(how->audience, "the session", err));
    IL_TRY(il_envelope_limits_fill(how->limits, &o.limits, err));
    o.e = alloc->alloc(alloc->ctx, sizeof *o.e);
    if (o.e == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *o.e = (il_envelope){.alloc = *alloc};
    il_arena_init(&o.e->arena, &o.e->alloc, IL_ENVELOPE_MEMORY);
    il_arena_init(&scratch, alloc, IL_ENVELOPE_MEMORY);
    o.scratch = &scratch;
    const il_status s = open_read(&o, text, err);
    il_arena_free(&scratch);
    if (s == IL_OK) {
        *out = o.e;
    } else {
        il_envelope_free(o.e);
    }
    return s;
}

void il_envelope_free(il_envelope *e) {
    if (e != NULL) {
        const il_alloc alloc = e->alloc;
        il_arena_free(&e->arena);
        alloc.free(alloc.ctx, e);
    }
}

const il_json *il_envelope_value(const il_envelope *e) { return e != NULL ? e->value : NULL; }
size_t il_envelope_labels(const il_envelope *e) { return e != NULL ? e->nlabels : 0; }
il_origin_at il_envelope_label(const il_envelope *e, size_t i) {
    return e != NULL && i < e->nlabels ? e->labels[i] : (il_origin_at){0};
}
bool il_envelope_run(const il_envelope *e, il_run_state *out) {
    *out = e != NULL ? e->run : (il_run_state){0};
    return out->size != 0;
}
bool il_envelope_sealed(const il_envelope *e) { return e != NULL && e->sealed; }
uint64_t il_envelope_expires_ms(const il_envelope *e) { return e != NULL ? e->expires_ms : 0; }
