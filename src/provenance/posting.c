/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/posting.h"

#include "base/mem.h"

void il_postings_init(il_postings *p, const il_alloc *alloc) { *p = (il_postings){.alloc = alloc}; }

void il_postings_free(il_postings *p) {
    p->alloc->free(p->alloc->ctx, p->list);
    p->alloc->free(p->alloc->ctx, p->before);
    p->alloc->free(p->alloc->ctx, p->heads);
    *p = (il_postings){.alloc = p->alloc};
}

static size_t postings_cap(size_t cap, size_t need) {
    while (cap < need) {
        cap += cap / 4 + 64;
    }
    return cap;
}

static size_t postings_heads(size_t heads, size_t need) {
    if (heads == 0) {
        heads = 64;
    }
    while (heads < need) {
        heads *= 2;
    }
    return heads;
}

static void postings_link(il_postings *p, size_t i) {
    uint32_t *head = &p->heads[p->list[i].key & (p->nheads - 1)];
    p->before[i] = *head;
    *head = (uint32_t)i + 1;
}

il_status il_postings_reserve(il_postings *p, size_t more, il_error *err) {
    const size_t need = p->n + more, cap = postings_cap(p->cap, need), heads = postings_heads(p->nheads, need);
    il_posting *list = p->list;
    uint32_t *before = p->before, *head = p->heads;
    if (cap > p->cap) {
        list = p->alloc->alloc(p->alloc->ctx, cap * sizeof *list);
        before = p->alloc->alloc(p->alloc->ctx, cap * sizeof *before);
    }
    if (heads > p->nheads) {
        head = p->alloc->alloc(p->alloc->ctx, heads * sizeof *head);
    }
    if (list == NULL || before == NULL || head == NULL) {
        p->alloc->free(p->alloc->ctx, list == p->list ? NULL : list);
        p->alloc->free(p->alloc->ctx, before == p->before ? NULL : before);
        p->alloc->free(p->alloc->ctx, head == p->heads ? NULL : head);
        return p->n + more == 0 ? IL_OK : il_error_set(err, IL_E_MEMORY, "no memory for the content index");
    }
    if (list != p->list && p->n > 0) {
        memcpy(list, p->list, p->n * sizeof *list);
        memcpy(before, p->before, p->n * sizeof *before);
    }
    if (list != p->list) {
        p->alloc->free(p->alloc->ctx, p->list);
        p->alloc->free(p->alloc->ctx, p->before);
        p->list = list;
        p->before = before;
        p->cap = cap;
    }
    if (head != p->heads) {
        p->alloc->free(p->alloc->ctx, p->heads);
        memset(head, 0, heads * sizeof *head);
        p->heads = head;
        p->nheads = heads;
        for (size_t i = 0; i < p->n; i++) {
            postings_link(p, i);
        }
    }
    return IL_OK;
}

void il_postings_add(il_postings *p, il_posting posting) {
    p->list[p->n] = posting;
    postings_link(p, p->n++);
}

static size_t postings_size(size_t cap, size_t heads) {
    return cap * (sizeof(il_posting) + sizeof(uint32_t)) + heads * sizeof(uint32_t);
}
size_t il_postings_bytes(const il_postings *p) { return postings_size(p->cap, p->nheads); }
size_t il_postings_bytes_with(const il_postings *p, size_t more) {
    return postings_size(postings_cap(p->cap, p->n + more), postings_heads(p->nheads, p->n + more));
}

il_posting_walk il_postings_walk(const il_postings *p, uint32_t key) {
    return (il_posting_walk){.in = p, .key = key, .next = p->nheads == 0 ? 0 : p->heads[key & (p->nheads - 1)]};
}

bool il_posting_next(il_posting_walk *w, il_posting *out) {
    while (w->next != 0) {
        const uint32_t i = w->next - 1;
        w->next = w->in->before[i];
        if (w->in->list[i].key == w->key) {
            *out = w->in->list[i];
            return true;
        }
    }
    return false;
}
