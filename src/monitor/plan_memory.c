/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan changes beside the session: what it knows, and the labels of the places that it wrote (docs/formats.md: episodes, places). */
#include "base/sha256.h"
#include "monitor/place.h"
#include "monitor/plan.h"
#include "policy/approval.h"
#include "policy/carried.h"

#define IL_PLAN_NOTE 256u /* bytes of an endorsement's note */

/* ---- episodes -------------------------------------------------------------------------------------- */

static il_status il_plan_remember_bytes(il_plan *p, il_str bytes, const il_str *texts, size_t ntexts, il_error *err) {
    IL_CHECK(p->episode.n == 0, err);
    if (bytes.n > IL_RECALL_EPISODE_MAX) {
        return il_error_set(err, IL_E_LIMIT, "there is more to remember of it than %zu bytes", IL_RECALL_EPISODE_MAX);
    }
    p->episode = bytes;
    p->texts = texts;
    p->ntexts = ntexts;
    il_recall_next(p->s->recalled, bytes, p->core->sha256, p->s->recalled);
    p->s->episodes++;
    p->moves = true;
    return IL_OK;
}

il_status il_plan_remember(il_plan *p, il_episode *episode, il_error *err) {
    il_str bytes;
    size_t n = 0;
    if (episode == NULL) {
        return IL_OK;
    }
    IL_TRY(il_episode_done(episode, &bytes, err));
    const il_str *texts = il_episode_texts(episode, &n);
    return il_plan_remember_bytes(p, bytes, texts, n, err);
}

il_status il_plan_remember_result(il_plan *p, il_resulted *r, il_error *err) {
    if (r->result.episode == NULL) {
        return IL_OK;
    }
    if (r->bytes.n == 0) {
        IL_TRY(il_episode_done(r->result.episode, &r->bytes, err));
        r->texts = il_episode_texts(r->result.episode, &r->ntexts);
    }
    return il_plan_remember_bytes(p, r->bytes, r->texts, r->ntexts, err);
}

const uint8_t *il_plan_recalled(const il_plan *p) { return p->episode.n > 0 ? p->s->recalled : NULL; }

static il_status il_plan_listens(const il_plan *p, il_error *err) {
    if (il_bind_phase(&p->core->bind, p->s->state, "ended")) {
        return il_error_set(err, IL_E_STATE, "the session has ended");
    }
    return IL_OK;
}

/* The members that both rows have in common. */
static void il_plan_heard(const il_plan *p, il_record *r) {
    il_record_state(r, IL_STR("post"), p->s->state);
    il_record_state(r, IL_STR("pre"), p->s->state);
    il_record_digest(r, IL_STR("recalled"), il_plan_recalled(p));
}

il_status il_plan_say(il_plan *p, il_str text, const uint8_t digest[IL_DIGEST_BYTES], il_error *err) {
    il_episode *e = NULL;
    il_record r;
    bool cut = false;
    IL_TRY(il_plan_listens(p, err));
    if (p->s->parent[0] != '\0') {
        return il_error_set(err, IL_E_STATE, "nobody types in a child session: note what it was told as a task");
    }
    IL_TRY(il_policy_hear(p->core->policy, text, p->arena, &e, &cut, err));
    IL_TRY(il_plan_remember(p, e, err));
    il_record_open(&r, p->arena);
    il_record_truth(&r, IL_STR("cut"), cut);
    il_record_digest(&r, IL_STR("digest"), digest);
    il_plan_heard(p, &r);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "say", 0, &r, err);
}

il_status il_plan_endorse(il_plan *p, const il_endorsement *endorsement, il_str note, il_error *err) {
    il_episode *e = NULL;
    il_record r;
    char said[IL_PLAN_NOTE + 1];
    const size_t n = il_format(said, sizeof said, "%.*s", IL_STR_ARG(note)); /* cut, and escaped where it is not text */
    IL_TRY(il_plan_listens(p, err));
    if (p->core->policy != NULL && !il_policy_may_answer(p->core->policy, endorsement->by)) {
        return il_error_set(err, IL_E_PERMISSION, "the policy does not let `%.*s` endorse (`approvals: by:`)",
                            IL_STR_ARG(endorsement->by));
    }
    if (p->core->remembers) {
        IL_TRY(il_carried_endorse(endorsement, p->arena, &e, err));
        IL_TRY(il_plan_remember(p, e, err));
    }
    il_record_open(&r, p->arena);
    il_record_str(&r, IL_STR("by"), endorsement->by);
    il_record_digest(&r, IL_STR("digest"), endorsement->digest);
    il_record_str(&r, IL_STR("kind"), endorsement->kind);
    il_record_str(&r, IL_STR("note"), (il_str){said, n});
    il_plan_heard(p, &r);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "endorse", 0, &r, err);
}

static const char *il_notice_word(il_notice_kind kind) {
    switch (kind) {
    case IL_NOTICE_MESSAGE:
        return "message";
    case IL_NOTICE_DESCRIPTION:
        return "description";
    case IL_NOTICE_TASK:
        return "task";
    }
    return NULL;
}

#define IL_NOTICE_FROM 128u

il_status il_plan_notice(il_plan *p, const il_notice *notice, const uint8_t digest[IL_DIGEST_BYTES], il_error *err) {
    il_episode *e = NULL;
    il_record r;
    char from[IL_NOTICE_FROM + 1];
    const size_t n = il_format(from, sizeof from, "%.*s", IL_STR_ARG(notice->from)); /* cut, and escaped where it is not text */
    /* Who told it may have read anything of what this session counts. */
    const bool tainted = (((uint32_t)p->s->counted | p->s->shadow) & (uint32_t)IL_UNTRUSTED) != 0;
    const bool untrusted = notice->untrusted || (notice->kind == IL_NOTICE_TASK && tainted);
    const il_json *text = notice->value != NULL ? notice->value : il_json_string(p->arena, notice->text);
    if (text == NULL) {
        return il_arena_fail(p->arena, err);
    }
    const il_overheard heard = {.kind = notice->kind == IL_NOTICE_DESCRIPTION ? IL_SOURCE_DESCRIPTION : IL_SOURCE_NOTICE,
                                .name = {from, n},
                                .agent = notice->agent.n > 0 ? notice->agent : il_str_of(p->s->principal),
                                .taints = untrusted ? (uint32_t)IL_UNTRUSTED : 0u,
                                .value = text,
                                .trusted = !untrusted,
                                .blind = p->core->blind};
    IL_TRY(il_plan_listens(p, err));
    IL_TRY(il_policy_overhear(p->core->policy, &heard, p->arena, &e, err));
    IL_TRY(il_plan_remember(p, e, err));
    il_record_open(&r, p->arena);
    il_record_digest(&r, IL_STR("digest"), digest);
    il_record_text(&r, IL_STR("from"), from);
    il_record_text(&r, IL_STR("kind"), il_notice_word(notice->kind));
    il_plan_heard(p, &r);
    il_record_truth(&r, IL_STR("untrusted"), untrusted);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "notice", 0, &r, err);
}

/* ---- places ---------------------------------------------------------------------------------------- */

#define IL_PLAN_PLACES_MAX 256u
static il_status il_plan_place_of(il_plan *p, il_str kind, il_str value, il_plan_place **out, il_error *err) {
    char key[IL_DIGEST_HEX];
    il_str bytes = {0};
    IL_TRY(il_place_key(p->core->sha256, kind, value, key, err));
    for (*out = p->places; *out != NULL; *out = (*out)->next) {
        if (memcmp((*out)->key, key, sizeof key) == 0) {
            return IL_OK;
        }
    }
    if (p->nplaces == IL_PLAN_PLACES_MAX) {
        return il_error_set(err, IL_E_LIMIT, "a call reads and writes labels of more than %u places", IL_PLAN_PLACES_MAX);
    }
    il_plan_place *place = IL_NEW(p->arena, il_plan_place);
    if (place == NULL) {
        return il_arena_fail(p->arena, err);
    }
    memcpy(place->key, key, sizeof key);
    const il_str name = {place->key, IL_DIGEST_HEX - 1};
    const il_status s = p->in.load(p->in.load_ctx, p->arena, IL_STR(IL_SPACE_STORE), name, &bytes, &place->version, err);
    if (s == IL_E_NOT_FOUND) {
        place->version = 0;
    } else {
        IL_TRY(s);
        IL_TRY(il_place_labels(bytes, &place->own, &place->below, err));
    }
    place->next = p->places;
    p->places = *out = place;
    p->nplaces++;
    return IL_OK;
}

il_status il_plan_place_labels(void *ctx, const il_place *place, uint32_t *taints, il_error *err) {
    il_plan *p = ctx;
    il_plan_place *at;
    il_place_walk w = {place->kind, place->value, 0};
    *taints = IL_TAINTS;
    IL_TRY(il_plan_place_of(p, w.kind, w.value, &at, err));
    uint32_t found = (uint32_t)at->own | at->below;
    while (il_place_up(&w)) {
        IL_TRY(il_plan_place_of(p, w.kind, w.value, &at, err));
        found |= at->own;
    }
    IL_TRY(il_plan_place_of(p, w.kind, IL_STR(""), &at, err));
    *taints = found | at->own;
    return IL_OK;
}

/* Labels only grow. */
static void il_place_grow(il_plan_place *place, uint32_t own, uint32_t below) {
    const uint8_t was[2] = {place->own, place->below};
    place->own |= (uint8_t)own;
    place->below |= (uint8_t)below;
    place->moves = place->moves || place->own != was[0] || place->below != was[1];
}

il_status il_plan_write_place(il_plan *p, const il_place *place, uint32_t taints, il_error *err) {
    il_plan_place *at;
    il_place_walk w = {place->kind, place->value, 0};
    taints &= IL_TAINTS;
    if (taints == 0) {
        return IL_OK;
    }
    IL_TRY(il_plan_place_of(p, w.kind, w.value, &at, err));
    il_place_grow(at, taints, 0);
    while (il_place_up(&w)) {
        IL_TRY(il_plan_place_of(p, w.kind, w.value, &at, err));
        il_place_grow(at, 0, taints);
    }
    IL_TRY(il_plan_place_of(p, w.kind, IL_STR(""), &at, err));
    il_place_grow(at, 0, taints);
    return IL_OK;
}

/* ---- both ------------------------------------------------------------------------------------------ */

static il_status il_place_change(il_plan *p, const il_plan_place *place, il_store_change *out, il_error *err) {
    *out = (il_store_change){
        .space = IL_STR(IL_SPACE_STORE), .key = {place->key, IL_DIGEST_HEX - 1}, .expect = place->version, .moves = place->moves};
    if (place->moves) {
        char *bytes = il_arena_bytes(p->arena, IL_PLACE_BYTES);
        if (bytes == NULL) {
            return il_arena_fail(p->arena, err);
        }
        il_place_write(place->own, place->below, bytes);
        out->state = (il_str){bytes, IL_PLACE_BYTES};
    }
    return IL_OK;
}

il_status il_plan_beside(il_plan *p, il_store_change *changes, size_t *n, il_error *err) {
    if (p->episode.n > 0) {
        const il_recall_key prefix = il_recall_prefix(p->in.session), key = il_recall_key_of(&prefix, p->s->episodes);
        il_str name;
        IL_TRY(il_arena_copy(p->arena, (il_str){key.text, key.n}, &name, err));
        changes[(*n)++] = (il_store_change){.space = IL_STR(IL_SPACE_MEMORY), .key = name, .moves = true, .state = p->episode};
    }
    if (p->other.n > 0) {
        changes[(*n)++] = (il_store_change){.space = IL_STR(IL_SPACE_SESSION), .key = p->other, .expect = p->other_version};
    }
    for (const il_plan_place *place = p->places; place != NULL; place = place->next) {
        IL_TRY(il_place_change(p, place, &changes[(*n)++], err));
    }
    return IL_OK;
}

void il_plan_forget_all(il_plan *p) {
    p->episode = (il_str){0};
    p->texts = NULL;
    p->ntexts = 0;
    p->places = NULL;
    p->nplaces = 0;
    p->other = (il_str){0};
}
