/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/roster.h"

#include <string.h>

#include "base/error.h"

void il_roster_init(il_roster *r, const il_alloc *alloc) { *r = (il_roster){.alloc = alloc}; }

void il_roster_free(il_roster *r) {
    if (r->alloc != NULL) {
        r->alloc->free(r->alloc->ctx, r->v);
    }
    *r = (il_roster){0};
}

static void roster_hash(il_str s, uint8_t out[IL_ROSTER_KEY]) {
    uint8_t digest[IL_DIGEST_BYTES];
    il_sha256 hash;
    il_sha256_init(&hash, NULL);
    il_sha256_add(&hash, s.p, s.n);
    il_sha256_end(&hash, digest);
    memcpy(out, digest, IL_ROSTER_KEY);
}

/* The first page has no cursor, which is not the empty one. */
static void roster_page(il_str cursor, uint8_t out[IL_ROSTER_KEY]) {
    if (cursor.p == NULL) {
        memset(out, 0, IL_ROSTER_KEY);
    } else {
        roster_hash(cursor, out);
    }
}

static il_roster_entry *roster_find(const il_roster *r, const uint8_t key[IL_ROSTER_KEY]) {
    for (size_t i = 0; i < r->n; i++) {
        if (memcmp(r->v[i].key, key, IL_ROSTER_KEY) == 0) {
            return &r->v[i];
        }
    }
    return NULL;
}

void il_roster_page(il_roster *r, il_str cursor) {
    uint8_t page[IL_ROSTER_KEY];
    roster_page(cursor, page);
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        const bool other = cursor.p != NULL && memcmp(r->v[i].page, page, IL_ROSTER_KEY) != 0;
        if (r->v[i].refused || other) {
            r->v[kept++] = r->v[i];
        }
    }
    r->n = kept;
    r->full = r->full && (cursor.p != NULL || kept == IL_ROSTER_MAX);
}

static il_status roster_room(il_roster *r, il_error *err) {
    if (r->n < r->cap) {
        return IL_OK;
    }
    const size_t cap = r->cap == 0 ? 32 : 2 * r->cap;
    il_roster_entry *grown = r->alloc->alloc(r->alloc->ctx, cap * sizeof *grown);
    if (grown == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for the names of a listing");
    }
    if (r->n > 0) {
        memcpy(grown, r->v, r->n * sizeof *grown);
    }
    r->alloc->free(r->alloc->ctx, r->v);
    r->v = grown;
    r->cap = cap;
    return IL_OK;
}

il_status il_roster_add(il_roster *r, il_str cursor, il_str key, il_str name, il_rostered *how, il_error *err) {
    il_roster_entry e = {.refused = false};
    roster_hash(key, e.key);
    roster_hash(name, e.name);
    roster_page(cursor, e.page);
    il_roster_entry *there = roster_find(r, e.key);
    if (there != NULL) {
        *how = there->refused                                    ? IL_ROSTERED_REFUSED
               : memcmp(there->name, e.name, IL_ROSTER_KEY) == 0 ? IL_ROSTERED_AGAIN
                                                                 : IL_ROSTERED_CLASH;
        there->refused = there->refused || *how == IL_ROSTERED_CLASH;
        return IL_OK;
    }
    *how = r->n == IL_ROSTER_MAX ? IL_ROSTERED_FULL : IL_ROSTERED_NEW;
    if (*how == IL_ROSTERED_FULL) {
        r->full = true;
        return IL_OK;
    }
    IL_TRY(roster_room(r, err));
    r->v[r->n++] = e;
    return IL_OK;
}

void il_roster_refuse(il_roster *r, il_str key) {
    uint8_t hash[IL_ROSTER_KEY];
    roster_hash(key, hash);
    il_roster_entry *e = roster_find(r, hash);
    if (e != NULL) {
        e->refused = true;
    }
}

bool il_roster_refuses(const il_roster *r, il_str key) {
    if (r->n == 0) {
        return false; /* nothing was listed yet */
    }
    uint8_t hash[IL_ROSTER_KEY];
    roster_hash(key, hash);
    const il_roster_entry *e = roster_find(r, hash);
    return e != NULL ? e->refused : r->full;
}
