/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/pending.h"

#include <string.h>

#include "base/error.h"

void il_pendings_init(il_pendings *p, const il_alloc *alloc, size_t max) {
    *p = (il_pendings){.alloc = alloc, .max = max, .next = 1};
}

static void pending_free(il_pendings *p, il_pending *e) {
    if (e != NULL) {
        p->kept -= e->args.n;
        p->alloc->free(p->alloc->ctx, (void *)(uintptr_t)e->args.p);
        p->alloc->free(p->alloc->ctx, e);
    }
}

void il_pendings_free(il_pendings *p) {
    for (size_t i = 0; i < p->n; i++) {
        pending_free(p, p->v[i]);
    }
    p->alloc->free(p->alloc->ctx, p->v);
    p->v = NULL;
    p->n = p->cap = 0;
}

/* Copies s to *at and moves on. */
static il_str pending_copy(char **at, il_str s) {
    const il_str copy = {s.p != NULL ? *at : NULL, s.n}; /* what is absent stays so */
    if (s.p != NULL && s.n > 0) {
        memcpy(*at, s.p, s.n);
    }
    *at += s.n;
    return copy;
}

static il_status pending_room(il_pendings *p, il_error *err) {
    if (p->n < p->cap) {
        return IL_OK;
    }
    const size_t cap = p->cap == 0 ? 16 : 2 * p->cap;
    il_pending **grown = p->alloc->alloc(p->alloc->ctx, cap * sizeof(il_pending *));
    if (grown == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for a request");
    }
    for (size_t i = 0; i < p->n; i++) {
        grown[i] = p->v[i];
    }
    p->alloc->free(p->alloc->ctx, p->v);
    p->v = grown;
    p->cap = cap;
    return IL_OK;
}

il_status il_pendings_add(il_pendings *p, const il_pending_spec *spec, il_pending **out, il_error *err) {
    *out = NULL;
    if (il_pendings_by_id(p, &spec->id) != NULL) {
        return il_error_set(err, IL_E_EXISTS, "a request with this id is in flight");
    }
    if (p->n >= p->max) {
        return il_error_set(err, IL_E_LIMIT, "%zu requests are in flight; wait for some to be answered", p->n);
    }
    IL_TRY(pending_room(p, err));
    /* One block: the entry and the texts that it owns. */
    il_pending *e =
        p->alloc->alloc(p->alloc->ctx, sizeof *e + spec->id.text.n + spec->token.text.n + spec->what.n + spec->extra.n);
    if (e == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for a request");
    }
    *e = (il_pending){.uid = p->next++, .id = spec->id, .token = spec->token, .message = spec->message, .method = spec->method};
    char *at = (char *)(e + 1);
    e->id.text = pending_copy(&at, spec->id.text);
    e->token.text = pending_copy(&at, spec->token.text);
    e->what = pending_copy(&at, spec->what);
    e->extra = pending_copy(&at, spec->extra);
    p->v[p->n++] = e;
    *out = e;
    return IL_OK;
}

bool il_pendings_keep(il_pendings *p, il_pending *e, il_str args) {
    char *copy = e->args.p == NULL && args.n > 0 && args.n <= IL_PENDINGS_KEPT_MAX - p->kept
                     ? p->alloc->alloc(p->alloc->ctx, args.n)
                     : NULL;
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, args.p, args.n);
    e->args = (il_str){copy, args.n};
    p->kept += args.n;
    return true;
}

void il_pendings_remove(il_pendings *p, il_pending *e) {
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i] == e) {
            memmove(p->v + i, p->v + i + 1, (p->n - i - 1) * sizeof(il_pending *));
            p->n--;
            pending_free(p, e);
            return;
        }
    }
}

il_pending *il_pendings_by_uid(const il_pendings *p, int64_t uid) {
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i]->uid == uid) {
            return p->v[i];
        }
    }
    return NULL;
}

il_pending *il_pendings_by_id(const il_pendings *p, const il_rpc_id *id) {
    for (size_t i = 0; i < p->n; i++) {
        if (il_rpc_id_eq(&p->v[i]->id, id)) {
            return p->v[i];
        }
    }
    return NULL;
}

uint64_t il_pendings_due(const il_pendings *p) {
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < p->n; i++) {
        due = p->v[i]->deadline < due ? p->v[i]->deadline : due;
    }
    return due;
}
