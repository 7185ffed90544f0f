/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the bytes of an episode (episode_part.h) into a memory. They come from a ledger that somebody may have damaged. */
#include "base/buf.h"
#include "provenance/memory_part.h"

static il_status il_memory_damaged(il_error *err) { return il_error_set(err, IL_E_DAMAGED, "the bytes are no episode"); }

static il_str il_memory_text(il_cursor *c, size_t max) {
    const size_t n = il_cursor_u16(c);
    c->failed = c->failed || n > max;
    return c->failed ? (il_str){0} : il_cursor_bytes(c, n);
}

static il_status il_memory_keep(il_memory *m, il_str text, il_str *out, il_error *err) {
    *out = (il_str){0};
    if (text.n == 0) {
        return IL_OK;
    }
    char *p = m->alloc.alloc(m->alloc.ctx, text.n);
    if (p == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memcpy(p, text.p, text.n);
    m->text_bytes += text.n;
    *out = (il_str){p, text.n};
    return IL_OK;
}

/* The class of the source that comes next. */
static il_status il_memory_classify(il_memory *m, const il_source *s, il_error *err) {
    uint8_t named[IL_MARK_BYTES], mark[IL_MARK_BYTES];
    const char brings[] = {(char)s->kind, (char)(s->taints & 0xff), (char)(s->taints >> 8 & 0xff), (char)(s->taints >> 16 & 0xff),
                           (char)(s->taints >> 24)};
    il_mark(IL_MARK_CLASS, (il_str){brings, sizeof brings}, s->name, named);
    il_mark(IL_MARK_CLASS, (il_str){(const char *)named, sizeof named}, s->agent, mark);
    const il_bag_entry *known = il_bag_find(&m->by_class, mark, NULL);
    if (known != NULL) {
        m->class = known->value;
        return IL_OK;
    }
    void *p = m->firsts;
    IL_TRY(il_grow(&m->alloc, &p, m->nclasses, &m->classes_cap, sizeof *m->firsts, err));
    m->firsts = p;
    IL_TRY(il_bag_add(&m->by_class, mark, m->nclasses, err));
    m->firsts[m->nclasses] = m->nsources + 1;
    m->class = m->nclasses++;
    return IL_OK;
}

static il_status il_memory_read_source(il_memory *m, const il_source *s, il_error *err) {
    void *p = m->sources;
    if (m->nsources >= UINT32_MAX / 2 - 1) {
        return il_error_set(err, IL_E_LIMIT, "a session has too many sources");
    }
    IL_TRY(il_grow(&m->alloc, &p, m->nsources, &m->sources_cap, sizeof *m->sources, err));
    m->sources = p;
    IL_TRY(il_memory_classify(m, s, err));
    il_source *to = &m->sources[m->nsources++];
    *to = (il_source){.kind = s->kind, .ticket = s->ticket, .taints = s->taints};
    IL_TRY(il_memory_keep(m, s->name, &to->name, err));
    return il_memory_keep(m, s->agent, &to->agent, err);
}

static il_status il_memory_read_fact(il_memory *m, il_cursor *c, il_error *err) {
    const il_str mark = il_cursor_bytes(c, IL_MARK_BYTES);
    const uint8_t standing = il_cursor_u8(c), known = (uint8_t)(IL_STANDING_AUTHENTIC | IL_FACT_HAS_VIA);
    const bool has_via = (standing & IL_FACT_HAS_VIA) != 0;
    const uint32_t nvia = has_via ? il_cursor_u8(c) : 0;
    const il_str via = il_cursor_bytes(c, (size_t)nvia * IL_MARK_BYTES);
    const il_str found = il_cursor_bytes(c, has_via ? IL_MARK_BYTES : 0);
    if (c->failed || (standing & ~known) != 0 || nvia > IL_VIA_WORDS_MAX) {
        return il_memory_damaged(err);
    }
    void *p = m->facts;
    IL_TRY(il_grow(&m->alloc, &p, m->nfacts, &m->facts_cap, sizeof *m->facts, err));
    m->facts = p;
    const il_standing is = (standing & IL_STANDING_AUTHENTIC) != 0 ? IL_STANDING_AUTHENTIC : IL_STANDING_CLAIMED;
    il_held_fact *f = &m->facts[m->nfacts];
    *f = (il_held_fact){.source = m->nsources, .standing = is, .has_via = has_via, .via = m->nvia, .nvia = nvia};
    memcpy(f->mark, mark.p, IL_MARK_BYTES);
    if (has_via) {
        memcpy(f->found, found.p, IL_MARK_BYTES);
        IL_TRY(il_bag_add(&m->by_found, f->found, m->nfacts, err));
    }
    for (uint32_t i = 0; i < nvia; i++) {
        void *v = m->via;
        IL_TRY(il_grow(&m->alloc, &v, m->nvia, &m->via_cap, sizeof *m->via, err));
        m->via = v;
        memcpy(m->via[m->nvia++], via.p + (size_t)i * IL_MARK_BYTES, IL_MARK_BYTES);
    }
    return il_bag_add(&m->by_fact, (const uint8_t *)mark.p, m->nfacts++, err);
}

static il_status il_memory_read_typed(il_memory *m, il_cursor *c, il_error *err) {
    const uint32_t n = il_cursor_u32(c);
    il_str before = {0};
    for (uint32_t i = 0; i < n; i++) {
        const il_str s = il_cursor_bytes(c, IL_MARK_BYTES);
        if (c->failed || (i > 0 && memcmp(before.p, s.p, IL_MARK_BYTES) >= 0)) {
            return il_memory_damaged(err);
        }
        before = s;
        if (il_bag_find(&m->typed, (const uint8_t *)s.p, NULL) == NULL) {
            IL_TRY(il_bag_add(&m->typed, (const uint8_t *)s.p, 0, err));
        }
    }
    return IL_OK;
}

/* A call that sends `n` marks: eight bits for each. */
static il_status il_memory_call(il_memory *m, uint32_t n, il_held_call **out, il_error *err) {
    void *p = m->calls;
    uint32_t nbits = 64;
    while (nbits < 8 * n) {
        nbits *= 2;
    }
    IL_TRY(il_grow(&m->alloc, &p, m->ncalls, &m->calls_cap, sizeof *m->calls, err));
    m->calls = p;
    il_held_call *call = &m->calls[m->ncalls];
    *call = (il_held_call){m->nsources, nbits, m->alloc.alloc(m->alloc.ctx, nbits / 8)};
    if (call->bits == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memset(call->bits, 0, nbits / 8);
    m->ncalls++;
    m->call_bytes += nbits / 8;
    *out = call;
    return IL_OK;
}

/* The first time counts. */
static il_status il_memory_read_sent(il_memory *m, il_cursor *c, il_error *err) {
    const uint32_t n = il_cursor_u32(c);
    il_held_call *call = NULL;
    if (c->failed || n > (c->n - c->at) / 8) {
        return il_memory_damaged(err);
    }
    if (n == 0) {
        return IL_OK;
    }
    IL_TRY(il_memory_call(m, n, &call, err));
    for (uint32_t i = 0; i < n; i++) {
        uint8_t mark[IL_MARK_BYTES];
        const uint64_t sent = il_cursor_u64(c);
        il_memory_sent_key(sent, mark);
        if (c->failed) {
            return il_memory_damaged(err);
        }
        for (unsigned k = 0; k < IL_HELD_CALL_BITS; k++) {
            const uint32_t bit = il_held_call_bit(sent, k, call->nbits);
            call->bits[bit / 64] |= UINT64_C(1) << bit % 64;
        }
        if (il_bag_find(&m->sent, mark, NULL) == NULL) {
            IL_TRY(il_bag_add(&m->sent, mark, m->nsources, err));
        }
    }
    return IL_OK;
}

static il_status il_memory_read_words(il_memory *m, il_cursor *c, il_error *err) {
    const uint32_t n = il_cursor_u32(c);
    for (uint32_t i = 0; i < n; i++) {
        il_kept_form f = {.flags = il_cursor_u8(c)};
        const il_str exact = il_cursor_bytes(c, IL_MARK_BYTES), fold = il_cursor_bytes(c, IL_MARK_BYTES);
        const uint8_t without = f.flags & (IL_TYPED_FRONT | IL_TYPED_BACK);
        const bool first = (f.flags & IL_FORM_FIRST) != 0;
        if (c->failed || f.flags > IL_FORM_FIRST || (first && without != 0) || (!first && (i == 0 || without == 0))) {
            return il_memory_damaged(err);
        }
        memcpy(f.exact, exact.p, IL_MARK_BYTES);
        memcpy(f.fold, fold.p, IL_MARK_BYTES);
        IL_TRY(il_memory_word_form(m, &f, err));
    }
    return n > 0 ? il_memory_words_end(m, err) : IL_OK;
}

static il_status il_memory_read_name(il_memory *m, il_cursor *c, il_error *err) {
    const il_str name = il_memory_text(c, IL_EPISODE_NAME_MAX), value = il_memory_text(c, IL_EPISODE_VALUE_MAX);
    il_held_name *held = NULL;
    if (c->failed || name.n == 0) {
        return il_memory_damaged(err);
    }
    for (uint32_t i = 0; i < m->nnames; i++) {
        held = il_str_eq(m->names[i].name, name) ? &m->names[i] : held;
    }
    if (held == NULL) {
        void *p = m->names;
        IL_TRY(il_grow(&m->alloc, &p, m->nnames, &m->names_cap, sizeof *m->names, err));
        m->names = p;
        held = &m->names[m->nnames];
        *held = (il_held_name){0};
        IL_TRY(il_memory_keep(m, name, &held->name, err));
        m->nnames++;
    }
    il_str kept = {0};
    IL_TRY(il_memory_keep(m, value, &kept, err));
    m->text_bytes -= held->value.n;
    il_memory_drop(m, held->value);
    held->value = kept;
    return IL_OK;
}

static il_status il_memory_read_texts(il_memory *m, il_cursor *c, il_source_kind kind, const il_str *texts, size_t ntexts,
                                      il_error *err) {
    const uint32_t trusted = il_cursor_u32(c), untrusted = il_cursor_u32(c);
    if (c->failed || trusted > IL_EPISODE_TEXTS_MAX || untrusted > IL_EPISODE_TEXTS_MAX - trusted ||
        (kind == IL_SOURCE_SENT && trusted + untrusted > 0)) {
        return il_memory_damaged(err);
    }
    if (texts != NULL && ntexts != (size_t)trusted + untrusted) {
        return il_error_set(err, IL_E_ARGUMENT, "these are not the texts of this episode");
    }
    for (uint32_t i = 0; i < trusted + untrusted; i++) {
        const il_str digest = il_cursor_bytes(c, il_cursor_u32(c));
        if (c->failed) {
            return il_memory_damaged(err);
        }
        IL_TRY(il_index_add(m->index, 2 * m->nsources + (i < trusted ? 0u : 1u), m->class, digest,
                            texts != NULL ? texts[i] : (il_str){0}, err));
    }
    return IL_OK;
}

static il_status il_memory_read(il_memory *m, il_cursor *c, const il_str *texts, size_t ntexts, il_error *err) {
    const uint8_t version = il_cursor_u8(c), kind = il_cursor_u8(c), flags = il_cursor_u8(c);
    il_source s = {.kind = (il_source_kind)kind, .ticket = il_cursor_u64(c), .taints = il_cursor_u32(c)};
    s.name = il_memory_text(c, IL_EPISODE_NAME_MAX);
    s.agent = il_memory_text(c, IL_EPISODE_NAME_MAX);
    if (!c->failed && version != IL_EPISODE_VERSION) {
        return il_error_set(err, IL_E_DAMAGED, "an episode of version %u; this build reads %u", (unsigned)version,
                            (unsigned)IL_EPISODE_VERSION);
    }
    if (c->failed || kind > IL_SOURCE_CHILD || flags > (IL_EPISODE_PARTIAL | IL_EPISODE_SENT_ALL)) {
        return il_memory_damaged(err);
    }
    if (kind != IL_SOURCE_SENT) {
        IL_TRY(il_memory_read_source(m, &s, err));
    }
    const uint32_t facts = il_cursor_u32(c);
    if (c->failed || (facts > 0 && kind != IL_SOURCE_RESULT)) {
        return il_memory_damaged(err);
    }
    for (uint32_t i = 0; i < facts; i++) {
        IL_TRY(il_memory_read_fact(m, c, err));
    }
    const uint32_t typed = m->typed.n, words = m->nwords;
    IL_TRY(il_memory_read_typed(m, c, err));
    IL_TRY(il_memory_read_words(m, c, err));
    if (kind != IL_SOURCE_HUMAN && (m->typed.n != typed || m->nwords != words)) {
        return il_memory_damaged(err);
    }
    IL_TRY(il_memory_read_sent(m, c, err));
    const uint32_t names = il_cursor_u16(c);
    for (uint32_t i = 0; i < names; i++) {
        IL_TRY(il_memory_read_name(m, c, err));
    }
    IL_TRY(il_memory_read_texts(m, c, s.kind, texts, ntexts, err));
    if (c->failed || c->at != c->n || names > IL_EPISODE_NAMES_MAX) {
        return il_memory_damaged(err);
    }
    m->partial = m->partial || (flags & IL_EPISODE_PARTIAL) != 0;
    if ((flags & IL_EPISODE_SENT_ALL) != 0 && m->sent_all == UINT32_MAX) {
        m->sent_all = m->nsources;
    }
    return IL_OK;
}

il_status il_memory_apply(il_memory *m, uint64_t number, il_str episode, const il_str *texts, size_t ntexts, il_error *err) {
    if (number != m->episodes + 1) {
        return il_error_set(err, IL_E_STATE, "episode %llu does not follow episode %llu", (unsigned long long)number,
                            (unsigned long long)m->episodes);
    }
    il_cursor c = {.p = (const uint8_t *)episode.p, .n = episode.n};
    IL_TRY(il_memory_read(m, &c, texts, ntexts, err));
    m->episodes = number;
    return IL_OK;
}
