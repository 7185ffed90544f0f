/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"
#include "policy/against_part.h"

#define AGAINST_SCRATCH ((size_t)256 << 20)

const char *il_against_word(il_against_kind kind) {
    static const char *const words[] = {"unknown", "call", "after", "setting"};
    return words[kind];
}

il_status il_against_say(il_against *a, const il_against_finding *f, il_error *err) {
    switch (f->kind) {
    case IL_AGAINST_UNKNOWN:
        a->sum->unknown++;
        break;
    case IL_AGAINST_CALL:
        *(f->wider ? &a->sum->wider : &a->sum->narrower) += 1;
        break;
    case IL_AGAINST_AFTER:
        a->sum->after++;
        break;
    case IL_AGAINST_SETTING:
        a->sum->settings++;
        break;
    }
    return a->ask->found(a->ask->ctx, f, err);
}

/* ---- a tool -------------------------------------------------------------------------------------------------- */

typedef struct against_entries {
    il_against_tool *t;
    int side;
} against_entries;

static il_status against_entry(void *ctx, const il_tool *tool, il_error *err) {
    against_entries *e = ctx;
    (void)err;
    if (e->t->n[e->side] < IL_AGAINST_ENTRIES) {
        e->t->entries[e->side][e->t->n[e->side]++] = tool;
    } else {
        e->t->many = true;
    }
    return IL_OK;
}

static il_status against_rules(il_against *a, il_against_tool *t, int side, il_error *err) {
    const il_rules *rules = &a->p[side]->rules;
    t->rules[side] = IL_NEW_ARRAY(&a->scratch, const il_policy_rule *, rules->n + 1);
    if (t->rules[side] == NULL) {
        return il_arena_fail(&a->scratch, err);
    }
    for (uint32_t i = 0; i < rules->n; i++) {
        if (il_rule_names(&rules->list[i], t->name)) {
            t->rules[side][t->nrules[side]++] = &rules->list[i];
        }
    }
    return IL_OK;
}

il_status il_against_tool_of(il_against *a, il_str name, il_against_tool *out, il_error *err) {
    const size_t dot = il_str_find(name, IL_STR("."), 0);
    *out = (il_against_tool){.name = name,
                             .server = dot == SIZE_MAX ? IL_STR("") : il_str_part(name, 0, dot),
                             .tool = dot == SIZE_MAX ? name : il_str_part(name, dot + 1, name.n)};
    for (int side = 0; side < 2; side++) {
        against_entries e = {out, side};
        il_label label;
        const il_label_call call = {.server = out->server, .tool = out->tool};
        IL_TRY(il_policy_match_each(a->p[side], name, against_entry, &e, err));
        IL_TRY(il_policy_label(a->p[side], &call, &a->turn, &label, err));
        out->known[side] = label.known;
        out->outside[side] = out->server.n > 0 && !il_policy_server_inside(a->p[side], out->server);
        out->lists[side] = out->outside[side] && il_label_lists(out->tool);
        IL_TRY(against_rules(a, out, side, err));
    }
    return IL_OK;
}

static il_status against_class(il_against *a, const il_against_class *class, il_error *err) {
    const il_str name = class->name;
    il_against_tool *t = IL_NEW(&a->scratch, il_against_tool);
    bool same = false, results = false, found = false, refuted = false;
    il_str why;
    if (t == NULL) {
        return il_arena_fail(&a->scratch, err);
    }
    a->sum->classes++;
    IL_TRY(il_against_tool_of(a, name, t, err));
    t->exact = class->exact && a->nalike == 0;
    IL_TRY(il_against_proof(a, t, &same, &results, &why, err));
    if ((same && a->machine && a->approvals) || il_against_rejected(a, t)) {
        a->sum->same++;
        return IL_OK;
    }
    IL_TRY(il_against_search(a, t, &found, &refuted, err));
    if (found || (same && !refuted)) { /* but for the machine and for what a human may release, which is said already */
        return IL_OK;
    }
    const il_against_finding f = {
        .about = name,
        .alike = a->alike,
        .nalike = a->nalike,
        .text = refuted ? IL_STR("a call that seemed to show a difference was decided otherwise by the monitor") : why};
    return il_against_say(a, &f, err);
}

/* ---- all tools ----------------------------------------------------------------------------------------------- */

static void against_hash(uint64_t *h, uint64_t v) {
    *h = (*h ^ v) * 0xff51afd7ed558ccdu;
    *h ^= *h >> 32;
}

/* Two names of which entries, rules and server are the same are compared once. Numbers of 128 bits stand for them. */
typedef struct against_key {
    uint64_t h[2];
} against_key;

static bool against_asks_name(const il_against_tool *t) {
    uint32_t asks = 0;
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < t->n[side]; i++) {
            asks |= t->entries[side][i]->when != NULL ? t->entries[side][i]->when->asks : 0;
        }
        for (uint32_t i = 0; i < t->nrules[side]; i++) {
            asks |= t->rules[side][i]->when.asks;
        }
    }
    return (asks & (1u << IL_CONDITION_TOOL | 1u << IL_CONDITION_SERVER)) != 0;
}

static il_status against_key_of(il_against *a, il_str name, against_key *out, il_error *err) {
    il_against_tool *t = IL_NEW(&a->scratch, il_against_tool);
    if (t == NULL) {
        return il_arena_fail(&a->scratch, err);
    }
    IL_TRY(il_against_tool_of(a, name, t, err));
    *out = (against_key){{0x9e3779b97f4a7c15u, 0x2545f4914f6cdd1du}};
    for (int k = 0; k < 2; k++) {
        uint64_t *h = &out->h[k];
        for (size_t i = 0; i < t->server.n; i++) {
            against_hash(h, (uint8_t)t->server.p[i] + 1u);
        }
        for (int side = 0; side < 2; side++) {
            against_hash(h, (uint64_t)t->n[side] << 32 | t->nrules[side]);
            against_hash(h, (uint64_t)t->known[side] << 1 | (uint64_t)t->outside[side]);
            against_hash(h, (uint64_t)t->lists[side] + 17);
            for (uint32_t i = 0; i < t->n[side]; i++) {
                against_hash(h, (uint64_t)(t->entries[side][i] - a->p[side]->tools) + 7);
            }
            for (uint32_t i = 0; i < t->nrules[side]; i++) {
                against_hash(h, (uint64_t)(t->rules[side][i] - a->p[side]->rules.list) + 11);
            }
        }
        /* conditions that ask for the name may tell them apart, and so may entries that were not kept */
        for (size_t i = 0; (t->many || against_asks_name(t)) && i < name.n; i++) {
            against_hash(h, (uint8_t)name.p[i] + 300u);
        }
    }
    return IL_OK;
}

static bool against_key_eq(against_key x, against_key y) { return x.h[0] == y.h[0] && x.h[1] == y.h[1]; }

/* Method names last: another name of their class says more. */
static bool against_method(il_str name) { return il_str_find(name, IL_STR("/"), 0) != SIZE_MAX; }

static il_status against_groups(il_against *a, const il_against_classes *classes, const against_key *keys, il_error *err) {
    const il_against_class *names = classes->list;
    const uint32_t n = classes->n;
    bool *done = IL_NEW_ARRAY(a->arena, bool, n + 1);
    il_str *alike = IL_NEW_ARRAY(a->arena, il_str, n + 1);
    if (done == NULL || alike == NULL) {
        return il_arena_fail(a->arena, err);
    }
    for (uint32_t k = 0; k < 2 * n; k++) {
        const uint32_t i = k % n;
        if (done[i] || against_method(names[i].name) != (k >= n)) {
            continue;
        }
        a->alike = alike;
        a->nalike = 0;
        for (uint32_t j = 0; j < n; j++) {
            if (j != i && !done[j] && against_key_eq(keys[i], keys[j])) {
                done[j] = true;
                alike[a->nalike++] = names[j].name;
            }
        }
        done[i] = true;
        il_arena_reset(&a->scratch);
        il_arena_reset(&a->turn);
        IL_TRY(against_class(a, &names[i], err));
    }
    return IL_OK;
}

static il_status against_classes(il_against *a, il_error *err) {
    il_against_classes classes;
    IL_TRY(il_against_names(a->p, a->arena, &classes, err));
    against_key *keys = IL_NEW_ARRAY(a->arena, against_key, classes.n + 1);
    if (keys == NULL) {
        return il_arena_fail(a->arena, err);
    }
    for (uint32_t i = 0; i < classes.n; i++) {
        il_arena_reset(&a->scratch);
        il_arena_reset(&a->turn);
        IL_TRY(against_key_of(a, classes.list[i].name, &keys[i], err));
    }
    IL_TRY(against_groups(a, &classes, keys, err));
    if (!classes.complete) {
        const il_against_finding f = {.about = IL_STR("*"), .text = IL_STR("there are more classes of names than are looked at")};
        return il_against_say(a, &f, err);
    }
    return IL_OK;
}

static il_status against_all(il_against *a, il_error *err) {
    uint8_t x[IL_DIGEST_BYTES], y[IL_DIGEST_BYTES];
    il_policy_fingerprint(a->p[0], x);
    il_policy_fingerprint(a->p[1], y);
    if (il_digest_eq(x, y)) { /* one document, one machine */
        return IL_OK;
    }
    for (int side = 0; side < 2; side++) {
        IL_TRY(il_bind_open(a->p[side]->machine, &a->bind[side], err));
    }
    IL_TRY(il_against_common(a, err));
    IL_TRY(il_against_settings(a, err));
    return against_classes(a, err);
}

il_status il_policy_against(const il_against_ask *ask, il_arena *arena, il_against_sum *out, il_error *err) {
    *out = (il_against_sum){0};
    il_against *a = IL_NEW(arena, il_against);
    if (a == NULL) {
        return il_arena_fail(arena, err);
    }
    *a = (il_against){.ask = ask, .p = {ask->policy, ask->other}, .arena = arena, .sum = out};
    il_arena_init(&a->scratch, arena->alloc, AGAINST_SCRATCH);
    il_arena_init(&a->turn, arena->alloc, AGAINST_SCRATCH);
    const il_status s = against_all(a, err);
    il_arena_free(&a->turn);
    il_arena_free(&a->scratch);
    return s;
}
