/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/memory.h"

#include "base/mem.h"
#include "provenance/memory_part.h"

il_status il_memory_new(const il_alloc *alloc, const il_index_limits *index, il_memory **out, il_error *err) {
    *out = NULL;
    il_memory *m = alloc->alloc(alloc->ctx, sizeof *m);
    if (m == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *m = (il_memory){.alloc = *alloc, .sent_all = UINT32_MAX};
    il_bag_init(&m->by_fact, &m->alloc);
    il_bag_init(&m->by_found, &m->alloc);
    il_bag_init(&m->typed, &m->alloc);
    il_bag_init(&m->words, &m->alloc);
    il_bag_init(&m->sent, &m->alloc);
    il_bag_init(&m->by_class, &m->alloc);
    const il_status s = il_index_new(&m->alloc, index, &m->index, err);
    if (s != IL_OK) {
        il_memory_free(m);
        return s;
    }
    *out = m;
    return IL_OK;
}

void il_memory_drop(il_memory *m, il_str s) {
    void *p = NULL;
    memcpy(&p, &s.p, sizeof p); /* texts are read only, but for this */
    m->alloc.free(m->alloc.ctx, p);
}

void il_memory_free(il_memory *m) {
    if (m == NULL) {
        return;
    }
    const il_alloc alloc = m->alloc;
    for (uint32_t i = 0; i < m->nsources; i++) {
        il_memory_drop(m, m->sources[i].name);
        il_memory_drop(m, m->sources[i].agent);
    }
    for (uint32_t i = 0; i < m->nnames; i++) {
        il_memory_drop(m, m->names[i].name);
        il_memory_drop(m, m->names[i].value);
    }
    for (uint32_t i = 0; i < m->ncalls; i++) {
        alloc.free(alloc.ctx, m->calls[i].bits);
    }
    if (m->index != NULL) {
        il_index_free(m->index);
    }
    il_bag_free(&m->by_fact);
    il_bag_free(&m->by_found);
    il_bag_free(&m->typed);
    il_bag_free(&m->words);
    il_bag_free(&m->sent);
    il_bag_free(&m->by_class);
    void *const arrays[] = {m->sources, m->facts, m->via, m->forms, m->starts, m->names, m->firsts, m->calls};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        alloc.free(alloc.ctx, arrays[i]);
    }
    alloc.free(alloc.ctx, m);
}

uint64_t il_memory_episodes(const il_memory *m) { return m->episodes; }
bool il_memory_complete(const il_memory *m) { return !m->partial && il_index_complete(m->index); }

size_t il_memory_bytes(const il_memory *m) {
    const il_index_size index = il_index_measure(m->index);
    return sizeof *m + index.text_bytes + index.index_bytes + m->text_bytes + il_bag_bytes(&m->by_fact) +
           il_bag_bytes(&m->by_found) + il_bag_bytes(&m->typed) + il_bag_bytes(&m->words) + il_bag_bytes(&m->sent) +
           il_bag_bytes(&m->by_class) + m->classes_cap * sizeof *m->firsts + m->sources_cap * sizeof *m->sources +
           m->facts_cap * sizeof *m->facts + m->via_cap * sizeof *m->via + m->forms_cap * sizeof *m->forms +
           m->words_cap * sizeof *m->starts + m->names_cap * sizeof *m->names + m->calls_cap * sizeof *m->calls + m->call_bytes;
}

uint32_t il_memory_sources(const il_memory *m) { return m->nsources; }
il_source il_memory_source(const il_memory *m, uint32_t number) {
    return number > 0 && number <= m->nsources ? m->sources[number - 1] : (il_source){0};
}

uint32_t il_memory_classes(const il_memory *m) { return m->nclasses; }
il_source il_memory_class(const il_memory *m, uint32_t class) {
    return class < m->nclasses ? il_memory_source(m, m->firsts[class]) : (il_source) { 0 };
}

static bool il_memory_shared(const il_memory *m, const il_held_fact *f) {
    for (const il_bag_entry *e = il_bag_find(&m->by_found, f->found, NULL); e != NULL;
         e = il_bag_find(&m->by_found, f->found, e)) {
        if (memcmp(m->facts[e->value].mark, f->mark, IL_MARK_BYTES) != 0) {
            return true;
        }
    }
    return false;
}

void il_memory_facts(const il_memory *m, il_str kind, il_str value, bool (*visit)(void *ctx, const il_seen *fact), void *ctx) {
    uint8_t mark[IL_MARK_BYTES], edge[IL_MARK_BYTES];
    il_mark(IL_MARK_FACT, kind, value, mark);
    il_via_edge(edge);
    for (const il_bag_entry *e = il_bag_find(&m->by_fact, mark, NULL); e != NULL; e = il_bag_find(&m->by_fact, mark, e)) {
        const il_held_fact *f = &m->facts[e->value];
        const bool marked = f->nvia > 0 && memcmp(m->via[f->via], edge, IL_MARK_BYTES) == 0;
        const uint32_t skip = marked ? 1 : 0;
        const il_seen seen = {.source = f->source,
                              .standing = f->standing,
                              .has_via = f->has_via,
                              .via = f->nvia > skip ? m->via[f->via + skip] : NULL,
                              .via_words = f->nvia - skip,
                              .edge = marked,
                              .shared = f->has_via && il_memory_shared(m, f),
                              .kind = kind,
                              .mark = f->mark};
        if (!visit(ctx, &seen)) {
            return;
        }
    }
}

static bool il_memory_untrusted(void *ctx, uint32_t source) {
    (void)ctx;
    return (source & 1u) != 0;
}

il_status il_memory_named(const il_memory *m, il_str value, bool *out, il_error *err) {
    *out = true;
    if (!il_memory_complete(m)) {
        return IL_OK;
    }
    return il_index_names(m->index, value, il_memory_untrusted, NULL, out, err);
}

/* Merges the two lists that the index has of one source, trusted and untrusted, by place. */
static void il_memory_merge(const il_index_hit *a, size_t na, const il_index_hit *b, size_t nb, il_index_hit *out) {
    size_t i = 0, k = 0;
    while (i < na || k < nb) {
        const bool first = k == nb || (i < na && a[i].at <= b[k].at);
        *out = first ? a[i++] : b[k++];
        out->source /= 2;
        out++;
    }
}

il_status il_memory_find(const il_memory *m, il_str text, il_arena *scratch, il_index_hits *out, il_error *err) {
    il_index_hits hits = {0};
    *out = (il_index_hits){0};
    IL_TRY(il_index_find(m->index, text, scratch, &hits, err));
    il_index_hit *list = IL_NEW_ARRAY(scratch, il_index_hit, hits.n);
    if (list == NULL) {
        return il_arena_fail(scratch, err);
    }
    for (size_t i = 0; i < hits.n;) {
        size_t middle = i;
        while (middle < hits.n && hits.list[middle].source == (hits.list[i].source & ~1u)) {
            middle++;
        }
        size_t end = middle;
        while (end < hits.n && hits.list[end].source == (hits.list[i].source | 1u)) {
            end++;
        }
        il_memory_merge(hits.list + i, middle - i, hits.list + middle, end - middle, list + i);
        i = end;
    }
    *out = (il_index_hits){list, hits.n, hits.more};
    return IL_OK;
}

il_status il_memory_find_classes(const il_memory *m, il_str text, il_arena *scratch, uint64_t *classes, bool *more,
                                 il_error *err) {
    return il_index_groups(m->index, text, scratch, classes, m->nclasses, more, err);
}

il_str il_memory_remembered(const il_memory *m, il_str name) {
    for (uint32_t i = 0; i < m->nnames; i++) {
        if (il_str_eq(m->names[i].name, name)) {
            return m->names[i].value;
        }
    }
    return (il_str){0};
}
