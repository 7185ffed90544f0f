/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "trail.h"

/* By session and ticket. */
typedef struct claim_key {
    uint64_t key;
    size_t at;
} claim_key;

static int claim_order(const void *a, const void *b) {
    const claim_key *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static claim_key *claim_index(size_t n) {
    claim_key *v = calloc(n + 1, sizeof *v);
    RACES_MUST(v);
    return v;
}

static size_t claim_find(const claim_key *v, size_t n, uint64_t key) {
    const claim_key want = {.key = key};
    const claim_key *at = bsearch(&want, v, n, sizeof *v, claim_order);
    return at ? at->at : SIZE_MAX;
}

static size_t claim_fault(size_t faults, uint32_t session, uint64_t ticket, const char *what) {
    if (faults < 5) {
        (void)fprintf(stderr, "  claims: session s-%u, ticket %llu: %s\n", session, (unsigned long long)ticket, what);
    }
    return faults + 1;
}

static size_t claim_twice(const claim_key *v, size_t n, size_t faults, const char *what) {
    for (size_t i = 1; i < n; i++) {
        if (v[i].key == v[i - 1].key) {
            faults = claim_fault(faults, (uint32_t)(v[i].key >> 32), v[i].key & UINT32_MAX, what);
        }
    }
    return faults;
}

size_t trail_check_claims(const trail *t, const races_world *w) {
    const uint32_t n = atomic_load(&w->nclaims);
    claim_key *allowed = claim_index(t->n), *released = claim_index(t->n), *told = claim_index(n);
    size_t nallowed = 0, nreleased = 0, faults = 0, releases = 0;
    for (size_t i = 0; i < t->n; i++) {
        const trail_row *r = &t->rows[i];
        const claim_key key = {.key = (uint64_t)r->session << 32 | r->ticket, .at = i};
        if (r->session == UINT32_MAX) {
            continue;
        }
        if (trail_is(r, "decision") && trail_true(r, "run")) {
            allowed[nallowed++] = key;
        } else if (trail_is(r, "settle") && trail_true(r, "release")) {
            released[nreleased++] = key;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        told[i] = (claim_key){.key = (uint64_t)w->claims[i].session << 32 | w->claims[i].ticket, .at = i};
        releases += w->claims[i].released;
    }
    qsort(allowed, nallowed, sizeof *allowed, claim_order);
    qsort(released, nreleased, sizeof *released, claim_order);
    qsort(told, n, sizeof *told, claim_order);
    faults = claim_twice(allowed, nallowed, faults, "allowed twice under one ticket");
    faults = claim_twice(released, nreleased, faults, "released twice");
    faults = claim_twice(told, n, faults, "two agents were given the same ticket");
    for (uint32_t i = 0; i < n; i++) {
        const races_claim *c = &w->claims[i];
        const uint64_t key = (uint64_t)c->session << 32 | c->ticket;
        const size_t at = claim_find(allowed, nallowed, key);
        const il_str tool = at == SIZE_MAX ? (il_str){"", 0} : trail_text(&t->rows[at], "tool");
        const char *want = w->calls[c->call].tool;
        if (at == SIZE_MAX) {
            faults = claim_fault(faults, c->session, c->ticket, "an agent was told to run a call that has no row");
        } else if (tool.n != strlen(want) + 3 || memcmp(tool.p + 3, want, tool.n - 3) != 0) {
            faults = claim_fault(faults, c->session, c->ticket, "the row is about another tool");
        }
        if (c->released && claim_find(released, nreleased, key) == SIZE_MAX) {
            faults = claim_fault(faults, c->session, c->ticket, "a result was released without its row");
        }
    }
    if (atomic_load(&w->twice) > 0) {
        faults = claim_fault(faults, 0, 0, "a result was released a second time");
    }
    if (nallowed != n || nreleased != releases) {
        faults = claim_fault(faults, 0, 0, "rows and claims differ in number");
    }
    printf("  claims: %u allows and %zu releases against %zu and %zu rows; %zu faults\n", n, releases, nallowed, nreleased,
           faults);
    free(allowed);
    free(released);
    free(told);
    return faults;
}
