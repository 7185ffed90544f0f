/* SPDX-License-Identifier: Apache-2.0 */
#include "check/nodes.h"

#include "base/error.h"
#include "base/mem.h"

#define IL_NODES_KEYS (1u << 24)
#define IL_NODES_BYTES ((size_t)1 << 30)

void il_nodes_init(il_nodes *s, const il_alloc *alloc, const il_space_bounds *bounds) {
    *s = (il_nodes){0};
    il_known_init(&s->known, alloc, 64, false, bounds && bounds->states ? bounds->states : IL_NODES_KEYS,
                  bounds && bounds->bytes ? bounds->bytes : IL_NODES_BYTES);
}

void il_nodes_free(il_nodes *s) {
    il_known_free(&s->known);
    *s = (il_nodes){0};
}

uint32_t il_nodes_find(const il_nodes *s, uint64_t key) { return il_known_find(&s->known, key); }

static il_status nodes_memory(il_error *err) { return il_error_set(err, IL_E_MEMORY, "no memory for more pairs of states"); }

il_status il_nodes_add(il_nodes *s, uint64_t key, uint32_t parent, uint32_t *at, bool *fresh, il_error *err) {
    const il_known_added added = il_known_put(&s->known, key, parent, at);
    *fresh = added == IL_KNOWN_NEW;
    s->n = s->known.n;
    s->bound_hit = s->bound_hit || added == IL_KNOWN_FULL;
    return added == IL_KNOWN_MEMORY ? nodes_memory(err) : IL_OK;
}

il_status il_nodes_room(il_nodes *s, void **array, size_t n, size_t *cap, size_t size, bool *within, il_error *err) {
    const il_alloc *alloc = s->known.alloc;
    *within = true;
    if (n < *cap) {
        return IL_OK;
    }
    size_t more = *cap ? *cap : 256;
    if (more > il_nodes_left(s) / size) {
        s->bound_hit = true;
        *within = false;
        return IL_OK;
    }
    void *p = alloc->alloc(alloc->ctx, (*cap + more) * size);
    if (!p) {
        return nodes_memory(err);
    }
    if (n > 0) {
        memcpy(p, *array, n * size);
    }
    alloc->free(alloc->ctx, *array);
    *array = p;
    *cap += more;
    s->known.bytes += more * size;
    return IL_OK;
}

void il_nodes_release(il_nodes *s, void *array, size_t cap, size_t size) {
    if (s->known.alloc) {
        s->known.alloc->free(s->known.alloc->ctx, array);
        s->known.bytes -= cap * size;
    }
}
