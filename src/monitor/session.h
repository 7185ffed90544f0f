/* SPDX-License-Identifier: Apache-2.0 */
/* One session's state as bytes: the packed machine state, open tickets, approval slots, witnesses and what it is bound to.
 * These bytes are what a denied call must leave identical. Encoding is little-endian, versioned, and exact: the same session, the same bytes. */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "interlock/monitor.h"

#define IL_TICKETS_MAX 64 /* unsettled calls of one session */
#define IL_SLOTS_MAX 8    /* approval slots; the machine's K may be lower */

typedef struct il_ticket {
    uint64_t id;           /* from 1, in order of admission */
    uint64_t deadline_ms;
    uint8_t effects;       /* as admitted */
    uint8_t raised;        /* taints that this admission raised from none */
    uint8_t flags;         /* IL_TICKET_* */
} il_ticket;
#define IL_TICKET_ONCE 1u     /* reserves `flight` until it settles */
#define IL_TICKET_CROSSING 2u /* an approved once egress: reserves `crossing` */

typedef enum il_slot_state { IL_SLOT_FREE = 0, IL_SLOT_ASKED, IL_SLOT_GRANTED } il_slot_state;
typedef struct il_slot {
    uint8_t state;
    uint64_t expires_ms;
    char id[IL_APPROVAL_ID_BYTES];
    uint8_t binding[IL_DIGEST_BYTES]; /* SHA-256 over principal, session, tool, effects, argument digest and policy fingerprint */
    char tool[IL_TOOL_BYTES + 1];
    uint8_t effects;
    uint8_t reason;                   /* the machine's rule that a human is asked to release */
} il_slot;

typedef struct il_session {
    uint64_t state;                       /* packed machine state */
    uint8_t policy[IL_DIGEST_BYTES];      /* fingerprint it is bound to */
    uint64_t begun_ms;
    uint64_t next_ticket;
    bool unenforced;                      /* ran in monitor mode at least once */
    char principal[IL_SESSION_ID_BYTES + 1];
    uint32_t ntickets;
    il_ticket tickets[IL_TICKETS_MAX];
    il_slot slots[IL_SLOTS_MAX];
    il_witness witnesses[IL_EFFECTS];     /* by effect bit; ticket 0: none */
} il_session;

IL_NODISCARD il_status il_session_encode(const il_session *s, uint8_t *buf, size_t cap, size_t *n, il_error *err);
/* IL_E_DAMAGED for bytes that il_session_encode would not write, IL_E_VERSION for a newer layout. */
IL_NODISCARD il_status il_session_decode(const uint8_t *buf, size_t n, il_session *out, il_error *err);
