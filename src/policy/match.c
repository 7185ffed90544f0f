/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries a tool has. */
#include "cel/suggest.h"
#include "policy/compiled.h"

/* Index of the exact entry, UINT32_MAX when there is none. */
static uint32_t il_match_exact(const il_policy *p, il_str name) {
    size_t lo = 0, hi = p->nexact;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = il_str_cmp(p->exact[mid].name, name);
        if (order == 0) {
            return p->exact[mid].tool;
        }
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return UINT32_MAX;
}

static bool il_match_pattern(const il_tool *t, il_str name) {
    for (uint32_t g = 0; g < t->nglobs; g++) {
        if (!t->globs[g].exact && il_glob_matches(&t->globs[g], name)) {
            return true;
        }
    }
    return false;
}

il_status il_policy_match_each(const il_policy *p, il_str name, il_match_visit visit, void *ctx, il_error *err) {
    const uint32_t exact = il_match_exact(p, name);
    if (exact != UINT32_MAX) {
        return visit(ctx, &p->tools[exact], err);
    }
    const il_tool *first = NULL;
    for (uint32_t i = 0; i < p->ntools; i++) {
        const il_tool *t = &p->tools[i];
        if (!il_match_pattern(t, name) || (first != NULL && memcmp(first->meaning, t->meaning, IL_DIGEST_BYTES) == 0)) {
            continue;
        }
        first = first != NULL ? first : t;
        IL_TRY(visit(ctx, t, err));
    }
    return IL_OK;
}

il_str il_policy_near(const il_policy *p, il_str name) {
    il_cel_near near = il_cel_near_to(name);
    for (size_t i = 0; i < p->nexact; i++) {
        il_cel_near_try(&near, p->exact[i].name);
    }
    return near.best;
}

typedef struct il_match_sole {
    const il_tool *tool;
    uint32_t n;
} il_match_sole;

static il_status il_match_count(void *ctx, const il_tool *tool, il_error *err) {
    il_match_sole *m = ctx;
    (void)err;
    m->tool = tool;
    m->n++;
    return IL_OK;
}

const il_tool *il_policy_entry(const il_policy *p, il_str name) {
    il_match_sole m = {0};
    return il_policy_match_each(p, name, il_match_count, &m, NULL) == IL_OK && m.n == 1 ? m.tool : NULL;
}
