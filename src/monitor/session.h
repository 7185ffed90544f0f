/* SPDX-License-Identifier: Apache-2.0 */
/* One session's state as bytes: the packed machine state, open tickets, approval slots, witnesses and what it is bound to.
 * These bytes are what a denied call must leave identical. Encoding is little-endian, versioned, and exact: the same session, the same bytes
 * (docs/formats.md). Older layouts are read, and written as the present one when the session next moves. */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "interlock/monitor.h"

#define IL_TICKETS_MAX 32 /* unsettled calls of one session */
#define IL_SLOTS_MAX 8    /* approval slots; a machine with a larger K is refused */

typedef struct il_ticket {
    uint64_t id; /* from 1, in order of admission */
    uint64_t deadline_ms;
    uint8_t effects;               /* as admitted */
    uint8_t raised;                /* taints that this admission raised from none */
    uint8_t flags;                 /* IL_TICKET_* */
    uint8_t owner[IL_OWNER_BYTES]; /* of the host that admitted it; zeros: nobody */
    char tool[IL_TOOL_BYTES];      /* for witnesses of what is in flight */
} il_ticket;
#define IL_TICKET_ONCE 1u      /* reserves `flight` until it settles */
#define IL_TICKET_CROSSING 2u  /* an approved once egress: reserves `crossing` */
#define IL_TICKET_SHADOW 4u    /* monitor mode, not admitted: its settle records and releases, and steps nothing */
#define IL_TICKET_CHILD 16u    /* its answer comes by a join */
#define IL_TICKET_INHERITED 8u /* a parent's call in flight: nobody settles it here, its deadline does */

typedef enum il_slot_state { IL_SLOT_FREE = 0, IL_SLOT_ASKED, IL_SLOT_GRANTED } il_slot_state;
typedef struct il_slot {
    uint8_t state;
    uint64_t expires_ms;
    uint64_t lasts_ms; /* how long a grant lasts once given; from the policy that asked */
    char id[IL_APPROVAL_ID_BYTES];
    uint8_t binding
        [IL_DIGEST_BYTES]; /* SHA-256 over the length-prefixed principal, session, server, tool, argument digest and policy fingerprint */
    char tool[IL_TOOL_BYTES];
    uint8_t effects;
    uint8_t reason; /* the machine's rule that a human is asked to release; 0: the machine accepts, and the policy's rule asks */
    uint8_t by[16]; /* who granted it: SHA-256 of the name, cut; zeros until then */
    uint16_t rule;  /* of the policy, from 1; 0: the machine's alone */
} il_slot;

typedef struct il_session {
    uint64_t state;                   /* packed machine state */
    uint8_t policy[IL_DIGEST_BYTES];  /* fingerprint it is bound to */
    uint8_t machine[IL_DIGEST_BYTES]; /* seal of the table that `state` belongs to */
    uint64_t begun_ms, seen_ms;       /* seen: the latest clock of a commit that moved; time never runs backwards */
    uint64_t next_ticket;
    bool unenforced;      /* began in monitor mode */
    bool quarantined;     /* the monitor's own, beside the machine's phase: a state off the table can step nowhere */
    uint8_t counted;      /* taint bits, flight and open in words of no machine: what a join or another policy's machine reads; */
    uint8_t flight, open; /* 0 no, 1 bound, 2 foreign. Recomputed after each step, checked when decoded */
    uint16_t asks;        /* approvals asked for since `asks_ms`, for the policy's budget; 0: none */
    uint64_t asks_ms;     /* when its present hour began */
    uint8_t shadow;       /* effects of calls that ran although they were rejected (monitor mode) */
    uint64_t episodes;    /* what the session knows: so many were committed (provenance/episode.h), */
    uint8_t recalled[IL_DIGEST_BYTES]; /* and the end of their chain; zeros without any (monitor/recall.h) */
    char principal[IL_SESSION_ID_BYTES];
    char parent[IL_SESSION_ID_BYTES];
    il_slot slots[IL_SLOTS_MAX];
    il_witness witnesses
        [IL_EFFECTS]; /* by effect bit; ticket 0: none. Egress: the first standing sink; what is in flight stands in the tickets */
    uint32_t ntickets;
    il_ticket
        tickets[IL_TICKETS_MAX]; /* behind the first `ntickets` stands anything: most of the struct, and mostly not in use */
} il_session;

/* Requests that are open: asked, or granted and not used. A machine counts so many of them and no more. */
uint32_t il_session_requests(const il_session *s);

/* Bytes that surely hold the encoded session; at most IL_SESSION_STATE_MAX. */
size_t il_session_bound(const il_session *s);
IL_NODISCARD il_status il_session_encode(const il_session *s, uint8_t *buf, size_t cap, size_t *n, il_error *err);
/* IL_E_DAMAGED for bytes that il_session_encode of their layout's build would not write, IL_E_VERSION for a newer layout. */
IL_NODISCARD il_status il_session_decode(const uint8_t *buf, size_t n, il_session *out, il_error *err);
