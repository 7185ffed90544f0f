/* SPDX-License-Identifier: Apache-2.0 */
/* Layout (little-endian): `ILS` and a version byte, the fixed fields in the order of il_session, then only what is in use of tickets, slots and
 * witnesses, each list with its count. Strings are a length and their bytes. Nothing follows the last byte. Version 1 has no owners, versions 1 and 2 no
 * episodes. */
#include "monitor/session.h"

#include "base/str.h"

#define IL_SESSION_VERSION 3u
#define IL_SESSION_OWNERS 2u   /* the first version with owners */
#define IL_SESSION_EPISODES 3u /* the first version with episodes */
#define IL_TICKET_FLAGS (IL_TICKET_ONCE | IL_TICKET_CROSSING | IL_TICKET_SHADOW | IL_TICKET_INHERITED | IL_TICKET_CHILD)
#define IL_EFFECT_MASK ((1u << IL_EFFECTS) - 1u)

typedef struct il_session_writer {
    uint8_t *p;
    size_t n, cap;
    bool failed;
} il_session_writer;

/* Where the next n bytes go, or NULL once failed. A session is written and read with each decision, up to 32 tickets of it: hence what is fixed is
 * asked for at once, and in steps that a compiler makes one of. */
static inline uint8_t *il_session_room(il_session_writer *w, size_t n) {
    if (w->failed || n > w->cap - w->n) {
        w->failed = true;
        return NULL;
    }
    uint8_t *at = w->p + w->n;
    w->n += n;
    return at;
}

static inline void il_session_put(il_session_writer *w, const void *bytes, size_t n) {
    uint8_t *at = il_session_room(w, n);
    if (at != NULL) {
        memcpy(at, bytes, n);
    }
}

static inline void il_session_put_u8(il_session_writer *w, uint8_t v) {
    uint8_t *at = il_session_room(w, 1);
    if (at != NULL) {
        *at = v;
    }
}

static inline void il_session_little(uint8_t *at, uint64_t v) {
    at[0] = (uint8_t)v;
    at[1] = (uint8_t)(v >> 8);
    at[2] = (uint8_t)(v >> 16);
    at[3] = (uint8_t)(v >> 24);
    at[4] = (uint8_t)(v >> 32);
    at[5] = (uint8_t)(v >> 40);
    at[6] = (uint8_t)(v >> 48);
    at[7] = (uint8_t)(v >> 56);
}

static inline void il_session_put_u64(il_session_writer *w, uint64_t v) {
    uint8_t *at = il_session_room(w, 8);
    if (at != NULL) {
        il_session_little(at, v);
    }
}

static void il_session_put_u16(il_session_writer *w, uint16_t v) {
    il_session_put_u8(w, (uint8_t)(v & 0xffu));
    il_session_put_u8(w, (uint8_t)(v >> 8));
}

/* A NUL-terminated array of `cap` bytes; without its NUL it is refused. */
static void il_session_put_text(il_session_writer *w, const char *z, size_t cap) {
    size_t n = 0;
    while (n < cap && z[n] != '\0') {
        n++;
    }
    if (n == cap || n > 255) {
        w->failed = true;
        return;
    }
    il_session_put_u8(w, (uint8_t)n);
    il_session_put(w, z, n);
}

#define IL_TICKET_FIXED (8u + 8u + 3u + IL_OWNER_BYTES)
static void il_session_put_ticket(il_session_writer *w, const il_ticket *t) {
    uint8_t *at = il_session_room(w, IL_TICKET_FIXED);
    if (at == NULL) {
        return;
    }
    il_session_little(at, t->id);
    il_session_little(at + 8, t->deadline_ms);
    at[16] = t->effects;
    at[17] = t->raised;
    at[18] = t->flags;
    memcpy(at + 19, t->owner, sizeof t->owner);
    il_session_put_text(w, t->tool, sizeof t->tool);
}

/* Of one ticket, slot and witness, and of everything else: their fixed bytes, and each text as long as it may be. */
#define IL_TICKET_BYTES (IL_TICKET_FIXED + IL_TOOL_BYTES)
#define IL_SLOT_BYTES (2u + 8u + 8u + IL_APPROVAL_ID_BYTES + IL_DIGEST_BYTES + IL_TOOL_BYTES + 4u + 16u)
#define IL_WITNESS_BYTES (8u + IL_TOOL_BYTES)
#define IL_REST_BYTES \
    (4u + 8u + 2u * IL_DIGEST_BYTES + 3u * 8u + 5u + 8u + IL_DIGEST_BYTES + 10u + 2u * IL_SESSION_ID_BYTES + 1u + 1u)
_Static_assert(IL_TICKETS_MAX *IL_TICKET_BYTES + IL_SLOTS_MAX * IL_SLOT_BYTES + IL_EFFECTS * IL_WITNESS_BYTES + IL_REST_BYTES <=
                   IL_SESSION_STATE_MAX,
               "the largest session fits");

uint32_t il_session_requests(const il_session *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        n += s->slots[i].state != IL_SLOT_FREE ? 1u : 0u;
    }
    return n;
}

size_t il_session_bound(const il_session *s) {
    size_t n = IL_REST_BYTES + IL_EFFECTS * IL_WITNESS_BYTES + (size_t)s->ntickets * IL_TICKET_BYTES;
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        n += s->slots[i].state != IL_SLOT_FREE ? IL_SLOT_BYTES : 0;
    }
    return n;
}

static void il_session_put_slot(il_session_writer *w, const il_slot *s) {
    il_session_put_u8(w, s->state);
    il_session_put_u64(w, s->expires_ms);
    il_session_put_u64(w, s->lasts_ms);
    il_session_put_text(w, s->id, sizeof s->id);
    il_session_put(w, s->binding, sizeof s->binding);
    il_session_put_text(w, s->tool, sizeof s->tool);
    il_session_put_u8(w, s->effects);
    il_session_put_u8(w, s->reason);
    il_session_put_u16(w, s->rule);
    il_session_put(w, s->by, sizeof s->by);
}

static void il_session_put_witness(il_session_writer *w, const il_witness *x) {
    il_session_put_u64(w, x->ticket);
    if (x->ticket != 0) {
        il_session_put_text(w, x->tool, sizeof x->tool);
    }
}

il_status il_session_encode(const il_session *s, uint8_t *buf, size_t cap, size_t *n, il_error *err) {
    il_session_writer w = {.p = buf, .cap = cap};
    if (s->ntickets > IL_TICKETS_MAX) {
        return il_error_set(err, IL_E_INTERNAL, "a session with %u open calls", s->ntickets);
    }
    il_session_put(&w, "ILS", 3);
    il_session_put_u8(&w, IL_SESSION_VERSION);
    il_session_put_u64(&w, s->state);
    il_session_put(&w, s->policy, sizeof s->policy);
    il_session_put(&w, s->machine, sizeof s->machine);
    il_session_put_u64(&w, s->begun_ms);
    il_session_put_u64(&w, s->seen_ms);
    il_session_put_u64(&w, s->next_ticket);
    il_session_put_u8(&w, (uint8_t)((s->unenforced ? 1u : 0u) | (s->quarantined ? 2u : 0u)));
    il_session_put_u8(&w, s->counted);
    il_session_put_u8(&w, s->flight);
    il_session_put_u8(&w, s->open);
    il_session_put_u8(&w, s->shadow);
    il_session_put_u64(&w, s->episodes);
    if (s->episodes > 0) {
        il_session_put(&w, s->recalled, sizeof s->recalled);
    }
    il_session_put_u16(&w, s->asks);
    if (s->asks > 0) {
        il_session_put_u64(&w, s->asks_ms);
    }
    il_session_put_text(&w, s->principal, sizeof s->principal);
    il_session_put_text(&w, s->parent, sizeof s->parent);
    il_session_put_u8(&w, (uint8_t)s->ntickets);
    for (uint32_t i = 0; i < s->ntickets; i++) {
        il_session_put_ticket(&w, &s->tickets[i]);
    }
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        if (s->slots[i].state != IL_SLOT_FREE) {
            il_session_put_u8(&w, (uint8_t)(i + 1));
            il_session_put_slot(&w, &s->slots[i]);
        }
    }
    il_session_put_u8(&w, 0);
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        il_session_put_witness(&w, &s->witnesses[i]);
    }
    if (w.failed) {
        return il_error_set(err, IL_E_LIMIT, "a session does not fit in %zu bytes", cap);
    }
    *n = w.n;
    return IL_OK;
}

/* At n bytes that are there for sure; NULL once failed. */
static inline const uint8_t *il_session_take(il_cursor *c, size_t n) {
    if (c->failed || n > c->n - c->at) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *at = c->p + c->at;
    c->at += n;
    return at;
}

static inline uint64_t il_session_number(const uint8_t *p) {
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static void il_session_get(il_cursor *c, void *out, size_t n) {
    const uint8_t *at = il_session_take(c, n);
    if (at != NULL) {
        memcpy(out, at, n);
    }
}

/* Texts are what ids and tool names are made of: visible ASCII. */
static void il_session_get_text(il_cursor *c, char *out, size_t cap) {
    const size_t n = il_cursor_u8(c);
    const uint8_t *at = il_session_take(c, n);
    bool other = n >= cap;
    for (size_t i = 0; !other && at != NULL && i < n; i++) {
        other = (uint8_t)(at[i] - 0x21) > 0x7e - 0x21;
        out[i] = (char)at[i];
    }
    c->failed |= other;
}

static void il_session_get_ticket(il_cursor *c, uint8_t version, il_ticket *t) {
    const bool owners = version >= IL_SESSION_OWNERS;
    const uint8_t *at = il_session_take(c, owners ? IL_TICKET_FIXED : IL_TICKET_FIXED - IL_OWNER_BYTES);
    memset(t, 0, sizeof *t);
    if (at == NULL) {
        return;
    }
    t->id = il_session_number(at);
    t->deadline_ms = il_session_number(at + 8);
    t->effects = at[16];
    t->raised = at[17];
    t->flags = at[18];
    if (owners) {
        memcpy(t->owner, at + 19, sizeof t->owner);
    }
    il_session_get_text(c, t->tool, sizeof t->tool);
    bool both = (t->flags & IL_TICKET_ONCE) != 0 && (t->flags & IL_TICKET_CROSSING) != 0;
    if (t->id == 0 || t->effects > IL_EFFECT_MASK || (t->raised & ~(t->effects & IL_TAINTS)) != 0 ||
        (t->flags & ~IL_TICKET_FLAGS) != 0 || both) {
        c->failed = true;
    }
}

static void il_session_get_slot(il_cursor *c, uint8_t version, il_slot *s) {
    s->state = il_cursor_u8(c);
    s->expires_ms = il_cursor_u64(c);
    s->lasts_ms = il_cursor_u64(c);
    il_session_get_text(c, s->id, sizeof s->id);
    il_session_get(c, s->binding, sizeof s->binding);
    il_session_get_text(c, s->tool, sizeof s->tool);
    s->effects = il_cursor_u8(c);
    s->reason = il_cursor_u8(c);
    if (version >= IL_SESSION_EPISODES) {
        s->rule = il_cursor_u16(c);
        il_session_get(c, s->by, sizeof s->by);
    }
    if ((s->state != IL_SLOT_ASKED && s->state != IL_SLOT_GRANTED) || s->effects > IL_EFFECT_MASK || s->id[0] == '\0') {
        c->failed = true;
    }
}

static void il_session_get_lists(il_cursor *c, uint8_t version, il_session *s) {
    s->ntickets = il_cursor_u8(c);
    if (s->ntickets > IL_TICKETS_MAX) {
        c->failed = true;
    }
    for (uint32_t i = 0; i < s->ntickets && !c->failed; i++) {
        il_session_get_ticket(c, version, &s->tickets[i]);
        /* in order of admission, all of them given out */
        if (s->tickets[i].id >= s->next_ticket || (i > 0 && s->tickets[i].id <= s->tickets[i - 1].id)) {
            c->failed = true;
        }
    }
    for (uint8_t last = 0, place = il_cursor_u8(c); place != 0 && !c->failed; place = il_cursor_u8(c)) {
        if (place <= last || place > IL_SLOTS_MAX) {
            c->failed = true;
            return;
        }
        il_session_get_slot(c, version, &s->slots[place - 1]);
        last = place;
    }
    for (uint32_t i = 0; i < IL_EFFECTS && !c->failed; i++) {
        il_witness *x = &s->witnesses[i];
        x->effect = 1u << i;
        x->ticket = il_cursor_u64(c);
        if (x->ticket != 0) {
            il_session_get_text(c, x->tool, sizeof x->tool);
        }
        c->failed = c->failed || (x->ticket != 0 && x->ticket >= s->next_ticket);
    }
}

il_status il_session_decode(const uint8_t *buf, size_t n, il_session *out, il_error *err) {
    memset(out, 0, offsetof(il_session, tickets));
    il_cursor c = {.p = buf, .n = n};
    il_str magic = il_cursor_bytes(&c, 3);
    uint8_t version = il_cursor_u8(&c);
    if (c.failed || !il_str_eq(magic, IL_STR("ILS"))) {
        return il_error_set(err, IL_E_DAMAGED, "stored bytes are no session");
    }
    if (version > IL_SESSION_VERSION) {
        return il_error_set(err, IL_E_VERSION, "a session of layout %u; this build reads %u", (unsigned)version,
                            IL_SESSION_VERSION);
    }
    out->state = il_cursor_u64(&c);
    il_session_get(&c, out->policy, sizeof out->policy);
    il_session_get(&c, out->machine, sizeof out->machine);
    out->begun_ms = il_cursor_u64(&c);
    out->seen_ms = il_cursor_u64(&c);
    out->next_ticket = il_cursor_u64(&c);
    uint8_t flags = il_cursor_u8(&c);
    out->unenforced = (flags & 1u) != 0;
    out->quarantined = (flags & 2u) != 0;
    out->counted = il_cursor_u8(&c);
    out->flight = il_cursor_u8(&c);
    out->open = il_cursor_u8(&c);
    out->shadow = il_cursor_u8(&c);
    if (version >= IL_SESSION_EPISODES && (out->episodes = il_cursor_u64(&c)) > 0) {
        il_session_get(&c, out->recalled, sizeof out->recalled);
    }
    if (version >= IL_SESSION_EPISODES && (out->asks = il_cursor_u16(&c)) > 0) {
        out->asks_ms = il_cursor_u64(&c);
    }
    il_session_get_text(&c, out->principal, sizeof out->principal);
    il_session_get_text(&c, out->parent, sizeof out->parent);
    il_session_get_lists(&c, version, out);
    if (c.failed || c.at != c.n || version == 0 || flags > 3 || out->counted > IL_TAINTS || out->flight > 2 || out->open > 2 ||
        out->shadow > IL_EFFECT_MASK || out->next_ticket == 0 || out->seen_ms < out->begun_ms) {
        memset(out, 0, offsetof(il_session, tickets));
        return il_error_set(err, IL_E_DAMAGED, "stored bytes are a damaged session");
    }
    return IL_OK;
}
