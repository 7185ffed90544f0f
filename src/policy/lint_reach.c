/* SPDX-License-Identifier: Apache-2.0 */
/* Rules name tools by patterns, and so do entries; which tools there are is known by the entries alone, since a tool that has none is denied before a
 * rule is asked. So rules are compared on the entries' forms. */
#include "policy/lint_part.h"

#define IL_REACH_BITS ((uint64_t)1 << 28) /* 32 MiB a table */

static bool il_reach_meets(const il_glob *globs, uint32_t n, il_str form) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t f = 0; f < globs[i].nforms; f++) {
            if (il_stars_meet(globs[i].forms[f], form)) {
                return true;
            }
        }
    }
    return false;
}

static bool il_reach_holds(const il_glob *globs, uint32_t n, il_str form) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t f = 0; f < globs[i].nforms; f++) {
            if (il_stars_within(form, globs[i].forms[f])) {
                return true;
            }
        }
    }
    return false;
}

static bool il_reach_may(const il_policy_rule *rule, il_str form, bool exact) {
    if (exact) {
        return il_rule_names(rule, form);
    }
    return il_reach_meets(rule->globs, rule->nglobs, form) && !il_reach_holds(rule->nots, rule->nnot, form);
}

static bool il_reach_sure(const il_policy_rule *rule, il_str form) {
    return il_reach_holds(rule->globs, rule->nglobs, form) && !il_reach_meets(rule->nots, rule->nnot, form);
}

bool il_lint_within(const il_policy_rule *a, const il_policy_rule *b) {
    for (uint32_t i = 0; i < a->nglobs; i++) {
        for (uint32_t f = 0; f < a->globs[i].nforms; f++) {
            if (!il_reach_sure(b, a->globs[i].forms[f])) {
                return false;
            }
        }
    }
    return true;
}

static bool il_reach_same(const il_lint_reach *r, uint32_t nrules, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < nrules; i++) {
        if (il_lint_bit(r->sure, r->words, i, a) != il_lint_bit(r->sure, r->words, i, b)) {
            return false;
        }
    }
    return true;
}

/* Forms of which surely the same rules hold, by the hash of their columns. */
static il_status il_reach_classes(il_lint_reach *r, uint32_t nrules, il_arena *arena, il_error *err) {
    uint64_t *hashes = IL_NEW_ARRAY(arena, uint64_t, r->nforms + 1);
    uint32_t room = 16, *table;
    while (room < 2 * r->nforms) {
        room *= 2;
    }
    table = IL_NEW_ARRAY(arena, uint32_t, room); /* a form, and one more */
    if (hashes == NULL || table == NULL) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t f = 0; f < r->nforms; f++) {
        hashes[f] = 0x9e3779b97f4a7c15u;
    }
    for (uint32_t i = 0; i < nrules; i++) {
        for (uint32_t w = 0; w < r->words; w++) {
            for (uint64_t bits = r->sure[(size_t)i * r->words + w]; bits != 0; bits &= bits - 1) {
                uint64_t *h = &hashes[w * 64 + (uint32_t)__builtin_ctzll(bits)];
                *h = (*h ^ (i + 1)) * 0xff51afd7ed558ccdu;
                *h ^= *h >> 32;
            }
        }
    }
    for (uint32_t f = 0; f < r->nforms; f++) {
        uint32_t at = (uint32_t)hashes[f] & (room - 1);
        while (table[at] != 0 && !(hashes[table[at] - 1] == hashes[f] && il_reach_same(r, nrules, table[at] - 1, f))) {
            at = (at + 1) & (room - 1);
        }
        table[at] = table[at] != 0 ? table[at] : f + 1;
        r->class[f] = table[at] - 1;
    }
    return IL_OK;
}

il_status il_lint_reach_new(const il_policy *p, il_arena *arena, il_lint_reach *out, bool *known, il_error *err) {
    uint32_t n = 0;
    *out = (il_lint_reach){0};
    for (uint32_t t = 0; t < p->ntools; t++) {
        for (uint32_t g = 0; g < p->tools[t].nglobs; g++) {
            n += p->tools[t].globs[g].nforms;
        }
    }
    out->words = n / 64 + 1;
    *known = (uint64_t)out->words * 64 * (p->rules.n + 1) <= IL_REACH_BITS;
    if (!*known) {
        return IL_OK;
    }
    il_str *forms = IL_NEW_ARRAY(arena, il_str, n + 1);
    bool *exact = IL_NEW_ARRAY(arena, bool, n + 1);
    out->class = IL_NEW_ARRAY(arena, uint32_t, n + 1);
    out->may = IL_NEW_ARRAY(arena, uint64_t, (size_t)out->words * (p->rules.n + 1));
    out->sure = IL_NEW_ARRAY(arena, uint64_t, (size_t)out->words * (p->rules.n + 1));
    if (forms == NULL || exact == NULL || out->class == NULL || out->may == NULL || out->sure == NULL) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t t = 0; t < p->ntools; t++) {
        for (uint32_t g = 0; g < p->tools[t].nglobs; g++) {
            const il_glob *glob = &p->tools[t].globs[g];
            for (uint32_t f = 0; f < glob->nforms; f++) {
                exact[out->nforms] = il_glob_name_ok(glob->forms[f]);
                forms[out->nforms++] = glob->forms[f];
            }
        }
    }
    out->forms = forms;
    for (uint32_t i = 0; i < p->rules.n; i++) {
        const il_policy_rule *rule = &p->rules.list[i];
        for (uint32_t f = 0; f < n; f++) {
            const uint64_t bit = (uint64_t)1 << (f % 64);
            const size_t at = (size_t)i * out->words + f / 64;
            out->may[at] |= il_reach_may(rule, forms[f], exact[f]) ? bit : 0;
            out->sure[at] |= il_reach_sure(rule, forms[f]) ? bit : 0;
        }
    }
    return il_reach_classes(out, p->rules.n, arena, err);
}
