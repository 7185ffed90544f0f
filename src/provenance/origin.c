/* SPDX-License-Identifier: Apache-2.0 */
/* Labels are one block of memory each: the struct, its lists, the bytes of the names. Nothing in it changes once made. */
#include "provenance/origin.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "json/node.h"

#define ORIGIN_MEMORY ((size_t)64 << 20) /* of what is put together */

struct il_origin {
    il_alloc alloc; /* of its block; zeros: a part of an envelope */
    il_str source;
    il_str *lineage, *agents;
    il_endorsement *endorsements;
    size_t nlineage, nagents, nendorsements;
    bool more;
};

/* ---- names --------------------------------------------------------------------------------------------- */

il_status il_origin_name_check(il_str name, const char *what, il_error *err) {
    if (name.n == 0 || name.p == NULL) {
        return il_error_set(err, IL_E_INVALID, "%s without a name", what);
    }
    if (name.n > IL_ORIGIN_NAME_BYTES) {
        return il_error_set(err, IL_E_LIMIT, "the name of %s has more than %u bytes", what, IL_ORIGIN_NAME_BYTES);
    }
    if (!il_str_utf8(name, NULL)) {
        return il_error_set(err, IL_E_INVALID, "the name of %s is no UTF-8", what);
    }
    for (size_t i = 0; i < name.n; i++) {
        const uint8_t c = (uint8_t)name.p[i];
        if (c < 0x20 || c == 0x7f) {
            return il_error_set(err, IL_E_INVALID, "the name of %s has a control character", what);
        }
    }
    return IL_OK;
}

il_status il_origin_endorsement_check(const il_endorsement *e, il_error *err) {
    if (e == NULL || e->size < sizeof *e) {
        return il_error_set(err, IL_E_ARGUMENT, "an endorsement without its size");
    }
    if (e->kind.n == 0 || e->kind.n > IL_ORIGIN_KIND_BYTES) {
        return il_error_set(err, IL_E_INVALID, "the kind of an endorsement has 1 to %u characters", IL_ORIGIN_KIND_BYTES);
    }
    for (size_t i = 0; i < e->kind.n; i++) {
        const char c = e->kind.p[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-' && c != '.') {
            return il_error_set(err, IL_E_INVALID, "`%.*s` is no kind of endorsement: it is one word, as `legal`",
                                IL_STR_ARG(e->kind));
        }
    }
    return il_origin_name_check(e->by, "who endorses", err);
}

static il_status origin_set_init(il_name_set *s, il_arena *arena, size_t room, il_error *err) {
    uint32_t slots = 2;
    room = room < IL_ORIGIN_NAMES ? room : IL_ORIGIN_NAMES;
    while (slots < 2 * room) {
        slots *= 2;
    }
    *s = (il_name_set){.list = IL_NEW_ARRAY(arena, il_str, room + 1), .room = room, .mask = slots - 1};
    s->slots = IL_NEW_ARRAY(arena, uint32_t, slots);
    IL_TRY(s->list != NULL && s->slots != NULL ? IL_OK : il_arena_fail(arena, err));
    IL_CHECK(s->slots != NULL, err);
    return IL_OK;
}

/* False: there is no room for it. */
static bool origin_set_add(il_name_set *s, il_str name) {
    uint32_t h = 2166136261u; /* FNV-1a: names are few, and the table is never fuller than half */
    for (size_t i = 0; i < name.n; i++) {
        h = (h ^ (uint8_t)name.p[i]) * 16777619u;
    }
    uint32_t at = h & s->mask;
    for (; s->slots[at] != 0; at = (at + 1) & s->mask) {
        if (il_str_eq(s->list[s->slots[at] - 1], name)) {
            return true;
        }
    }
    if (s->n == s->room) {
        return false;
    }
    s->list[s->n++] = name;
    s->slots[at] = (uint32_t)s->n;
    return true;
}

/* ---- drafts -------------------------------------------------------------------------------------------- */

il_status il_origin_draft_init(il_origin_draft *d, il_arena *arena, size_t sources, size_t agents, il_error *err) {
    *d = (il_origin_draft){0};
    d->endorsements = IL_NEW_ARRAY(arena, il_endorsement, IL_ORIGIN_ENDORSEMENTS);
    IL_TRY(d->endorsements != NULL ? IL_OK : il_arena_fail(arena, err));
    IL_TRY(origin_set_init(&d->lineage, arena, sources, err));
    return origin_set_init(&d->agents, arena, agents, err);
}

void il_origin_draft_source(il_origin_draft *d, il_str name) { d->more = !origin_set_add(&d->lineage, name) || d->more; }
void il_origin_draft_agent(il_origin_draft *d, il_str name) { d->more = !origin_set_add(&d->agents, name) || d->more; }

static size_t origin_names_bytes(const il_str *list, size_t n) {
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += list[i].n;
    }
    return bytes;
}

/* No sum of these can overflow: each name is checked, and there are at most IL_ORIGIN_NAMES of a kind. */
size_t il_origin_room(const il_origin_draft *d) {
    size_t bytes = sizeof(il_origin) + (d->lineage.n + d->agents.n) * sizeof(il_str) + d->nendorsements * sizeof(il_endorsement);
    bytes += d->source.n + origin_names_bytes(d->lineage.list, d->lineage.n) + origin_names_bytes(d->agents.list, d->agents.n);
    for (size_t i = 0; i < d->nendorsements; i++) {
        bytes += d->endorsements[i].kind.n + d->endorsements[i].by.n;
    }
    return bytes;
}

static il_str origin_put(char **to, il_str s) {
    const il_str copy = {*to, s.n};
    if (s.n > 0) {
        memcpy(*to, s.p, s.n);
    }
    *to += s.n;
    return copy;
}

il_origin *il_origin_fill(const il_origin_draft *d, void *room) {
    il_origin *o = room;
    *o = (il_origin){.nlineage = d->lineage.n, .nagents = d->agents.n, .nendorsements = d->nendorsements, .more = d->more};
    o->endorsements = (il_endorsement *)(void *)(o + 1); /* the wider first, so that all are aligned */
    o->lineage = (il_str *)(void *)(o->endorsements + d->nendorsements);
    o->agents = o->lineage + d->lineage.n;
    char *to = (char *)(void *)(o->agents + d->agents.n);
    o->source = origin_put(&to, d->source);
    for (size_t i = 0; i < o->nlineage; i++) {
        o->lineage[i] = origin_put(&to, d->lineage.list[i]);
    }
    for (size_t i = 0; i < o->nagents; i++) {
        o->agents[i] = origin_put(&to, d->agents.list[i]);
    }
    for (size_t i = 0; i < o->nendorsements; i++) {
        o->endorsements[i] = d->endorsements[i];
        o->endorsements[i].kind = origin_put(&to, d->endorsements[i].kind);
        o->endorsements[i].by = origin_put(&to, d->endorsements[i].by);
    }
    return o;
}

static il_status origin_make(const il_alloc *alloc, const il_origin_draft *d, il_origin **out, il_error *err) {
    void *room = alloc->alloc(alloc->ctx, il_origin_room(d));
    if (room == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *out = il_origin_fill(d, room);
    (*out)->alloc = *alloc;
    return IL_OK;
}

void il_origin_free(il_origin *o) {
    if (o != NULL && o->alloc.free != NULL) {
        const il_alloc alloc = o->alloc;
        alloc.free(alloc.ctx, o);
    }
}

/* ---- making -------------------------------------------------------------------------------------------- */

static il_status origin_begin(const il_alloc *alloc, il_origin **out, il_arena *arena, il_error *err) {
    if (alloc == NULL || out == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "no allocator, or no place for the label");
    }
    *out = NULL;
    il_arena_init(arena, alloc, ORIGIN_MEMORY);
    return IL_OK;
}

static il_status origin_end(const il_alloc *alloc, il_status s, const il_origin_draft *d, il_arena *arena, il_origin **out,
                            il_error *err) {
    if (s == IL_OK) {
        s = origin_make(alloc, d, out, err);
    }
    il_arena_free(arena);
    return s;
}

il_status il_origin_new(const il_alloc *alloc, il_str source, il_str agent, il_origin **out, il_error *err) {
    il_arena arena;
    il_origin_draft d = {0};
    IL_TRY(origin_begin(alloc, out, &arena, err));
    IL_TRY(il_origin_name_check(source, "a source", err));
    IL_TRY(agent.n > 0 ? il_origin_name_check(agent, "an agent", err) : IL_OK);
    const il_status s = il_origin_draft_init(&d, &arena, 1, 1, err);
    if (s == IL_OK) {
        d.source = source;
        il_origin_draft_source(&d, source);
        if (agent.n > 0) {
            il_origin_draft_agent(&d, agent);
        }
    }
    return origin_end(alloc, s, &d, &arena, out, err);
}

il_status il_origin_unknown(const il_alloc *alloc, il_origin **out, il_error *err) {
    il_arena arena;
    const il_origin_draft d = {.source = IL_STR("unknown"), .more = true};
    IL_TRY(origin_begin(alloc, out, &arena, err));
    return origin_end(alloc, IL_OK, &d, &arena, out, err);
}

/* Room for all names of all, and `more` for each. */
static il_status origin_draft_of(il_origin_draft *d, il_arena *arena, const il_origin *const *list, size_t n, il_error *err) {
    size_t sources = 1, agents = 1;
    for (size_t i = 0; i < n; i++) { /* capped on the way: the sums stay small */
        sources = list[i] != NULL && sources < IL_ORIGIN_NAMES ? sources + list[i]->nlineage : sources;
        agents = list[i] != NULL && agents < IL_ORIGIN_NAMES ? agents + list[i]->nagents : agents;
    }
    IL_TRY(il_origin_draft_init(d, arena, sources, agents, err));
    for (size_t i = 0; i < n; i++) {
        const il_origin *o = list[i];
        d->more = d->more || o == NULL || o->more || o->nlineage == 0;
        for (size_t k = 0; o != NULL && k < o->nlineage; k++) {
            il_origin_draft_source(d, o->lineage[k]);
        }
        for (size_t k = 0; o != NULL && k < o->nagents; k++) {
            il_origin_draft_agent(d, o->agents[k]);
        }
    }
    return IL_OK;
}

/* Those of the first that every other has, whoever gave them. */
static void origin_common(il_origin_draft *d, const il_origin *const *list, size_t n) {
    for (size_t i = 0; i < list[0]->nendorsements; i++) {
        const il_endorsement *e = &list[0]->endorsements[i];
        bool all = true;
        for (size_t k = 1; k < n && all; k++) {
            all = il_origin_endorsed(list[k], e->kind, e->digest);
        }
        if (all) {
            d->endorsements[d->nendorsements++] = *e;
        }
    }
}

il_status il_origin_merge(const il_alloc *alloc, const il_origin *const *list, size_t n, il_origin **out, il_error *err) {
    il_arena arena;
    il_origin_draft d = {0};
    IL_TRY(origin_begin(alloc, out, &arena, err));
    for (size_t i = 0; i < n || n == 0; i++) {
        if (n == 0 || list == NULL || list[i] == NULL) {
            return il_error_set(err, IL_E_ARGUMENT, "nothing to merge; what has no label is il_origin_unknown's");
        }
    }
    const il_status s = origin_draft_of(&d, &arena, list, n, err);
    if (s == IL_OK) {
        d.source = list[0]->source;
        origin_common(&d, list, n);
    }
    return origin_end(alloc, s, &d, &arena, out, err);
}

il_status il_origin_derive(const il_alloc *alloc, il_str hop, il_str agent, const il_origin *const *from, size_t n,
                           il_origin **out, il_error *err) {
    il_arena arena;
    il_origin_draft d = {0};
    IL_TRY(origin_begin(alloc, out, &arena, err));
    IL_TRY(il_origin_name_check(hop, "a hop", err));
    IL_TRY(agent.n > 0 ? il_origin_name_check(agent, "an agent", err) : IL_OK);
    if (n > 0 && from == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "no list of what it was made of");
    }
    const il_status s = origin_draft_of(&d, &arena, from, n, err);
    if (s == IL_OK) {
        d.source = hop;
        d.more = d.more || n == 0;
        if (d.more) {
            il_origin_draft_source(&d, hop);
        }
        if (agent.n > 0) {
            il_origin_draft_agent(&d, agent);
        }
    }
    return origin_end(alloc, s, &d, &arena, out, err);
}

il_status il_origin_endorse(const il_alloc *alloc, const il_origin *o, const il_endorsement *e, il_origin **out, il_error *err) {
    il_arena arena;
    il_origin_draft d = {0};
    IL_TRY(origin_begin(alloc, out, &arena, err));
    if (o == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "no label to endorse");
    }
    IL_TRY(il_origin_endorsement_check(e, err));
    const bool there = il_origin_endorsed(o, e->kind, e->digest);
    if (!there && o->nendorsements == IL_ORIGIN_ENDORSEMENTS) {
        return il_error_set(err, IL_E_LIMIT, "the label has %u endorsements", IL_ORIGIN_ENDORSEMENTS);
    }
    const il_status s = origin_draft_of(&d, &arena, &o, 1, err);
    if (s == IL_OK) {
        d.source = o->source;
        origin_common(&d, &o, 1);
        if (!there) {
            d.endorsements[d.nendorsements++] = *e;
        }
    }
    return origin_end(alloc, s, &d, &arena, out, err);
}

/* ---- asking -------------------------------------------------------------------------------------------- */

il_str il_origin_source(const il_origin *o) { return o != NULL ? o->source : (il_str){0}; }
size_t il_origin_sources(const il_origin *o) { return o != NULL ? o->nlineage : 0; }
il_str il_origin_lineage(const il_origin *o, size_t i) { return o != NULL && i < o->nlineage ? o->lineage[i] : (il_str){0}; }
size_t il_origin_agents(const il_origin *o) { return o != NULL ? o->nagents : 0; }
il_str il_origin_agent(const il_origin *o, size_t i) { return o != NULL && i < o->nagents ? o->agents[i] : (il_str){0}; }
bool il_origin_more(const il_origin *o) { return o == NULL || o->more; }
size_t il_origin_endorsements(const il_origin *o) { return o != NULL ? o->nendorsements : 0; }
il_endorsement il_origin_endorsement(const il_origin *o, size_t i) {
    return o != NULL && i < o->nendorsements ? o->endorsements[i] : (il_endorsement){.size = sizeof(il_endorsement)};
}

il_trust il_origin_trust(const il_origin *o, const il_trust_table *table) {
    if (o == NULL || table == NULL || table->size < sizeof *table || table->trusts == NULL || o->more || o->nlineage == 0) {
        return IL_TRUST_UNTRUSTED;
    }
    for (size_t i = 0; i < o->nlineage; i++) {
        if (!table->trusts(table->ctx, o->lineage[i])) {
            return IL_TRUST_UNTRUSTED;
        }
    }
    return IL_TRUST_TRUSTED;
}

bool il_origin_endorsed(const il_origin *o, il_str kind, const uint8_t digest[IL_DIGEST_BYTES]) {
    for (size_t i = 0; o != NULL && i < o->nendorsements; i++) {
        if (il_str_eq(o->endorsements[i].kind, kind) && il_digest_eq(o->endorsements[i].digest, digest)) {
            return true;
        }
    }
    return false;
}

il_status il_value_digest(const il_json *value, uint8_t out[IL_DIGEST_BYTES], il_error *err) {
    return il_json_digest(value, NULL, out, err);
}
