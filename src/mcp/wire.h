/* SPDX-License-Identifier: Apache-2.0 */
/* The gateway's inside, shared by the files that handle its messages: request.c (client to server), answer.c (the way back), ask.c
 * (a server's requests), notice.c (notifications), start.c (the handshake), restart.c (the next server), stop.c (every way to end). */
#pragma once
#include "mcp/budget.h"
#include "mcp/deny.h"
#include "mcp/filter.h"
#include "mcp/gateway.h"
#include "mcp/pending.h"
#include "mcp/roster.h"
#include "mcp/seen.h"
#include "mcp/upstream.h"
#include "net/reader.h"
#include "net/writer.h"

#define IL_WIRE_REQUEST_MAX ((size_t)4 << 20) /* bytes of a client's message */
#define IL_WIRE_RESULT_MAX ((size_t)16 << 20) /* bytes of a server's message */
#define IL_WIRE_LINE_MAX ((size_t)48 << 20)   /* of one that we write: escapes make it longer */
#define IL_WIRE_ARENA_MAX ((size_t)256 << 20)
#define IL_WIRE_HIGH ((size_t)1 << 20) /* waiting bytes above which the other side is not read */
#define IL_WIRE_WAITING_MAX ((size_t)128 << 20)
#define IL_WIRE_DEPTH 64
#define IL_WIRE_KEPT_MAX ((size_t)64 << 10) /* of a cursor or an address that is kept while its request is in flight */
#define IL_WIRE_NODES 200000
#define IL_WIRE_CALLS 256 /* in flight; the session's tickets bound those that are judged */
#define IL_WIRE_ASKS 16
#define IL_WIRE_LISTS 4 /* of tools, prompts, resources and their templates */
/* One transaction: it keeps others from writing, and what it decided from going on. */
#define IL_WIRE_TURN 64                        /* calls and results */
#define IL_WIRE_TURN_LINE ((size_t)64 << 10)   /* bytes of a message; what takes longer to judge is a transaction by itself */
#define IL_WIRE_TURN_BYTES ((size_t)512 << 10) /* that wait */
#define IL_WIRE_VIOLATIONS 16                  /* bad envelopes of a server within a minute; one more and it is closed */
#define IL_WIRE_VIOLATIONS_MS 60000
/* What a server may send without being asked, in messages a second and in a burst. */
#define IL_WIRE_NOTICES ((il_budget){.per_second = 200, .burst = 1000}) /* passed on to the client */
/* Each denied call is a row of the ledger, for good. Nobody needs so many; above it the client is read as slowly as they fill up again. */
#define IL_WIRE_DENIED ((il_budget){.per_second = 5, .burst = 5000})
#define IL_WIRE_NOISE ((il_budget){.per_second = 50, .burst = 500}) /* each may cost an answer or a line of our log */

typedef enum il_phase {
    IL_PHASE_NEW = 0,   /* no initialize yet */
    IL_PHASE_HANDSHAKE, /* the client's initialize waits for the server's answer */
    IL_PHASE_OPEN,
    IL_PHASE_DRAIN, /* nothing new; what is in flight may end */
    IL_PHASE_STOP
} il_phase;

typedef enum il_life { /* of the server, once the session is open */
                       IL_LIFE_UP = 0,
                       IL_LIFE_DOWN,  /* ended; it is started again when its time has come */
                       IL_LIFE_AGAIN, /* started again, and not asked anything but to initialize */
                       IL_LIFE_LOST   /* ended for good */
} il_life;

typedef struct il_restart {
    il_timer *timer; /* DOWN: when it is started; AGAIN: when it must have answered */
    unsigned tries;  /* in a row */
    bool due;        /* it is time, but the old one is not gone yet */
    int64_t uid;     /* of the initialize that waits */
    uint64_t since;  /* when it began to serve; 0: it does not */
    unsigned told;   /* its capabilities as the client knows them: il_wire_told */
} il_restart;

/* Why a side is not read. */
#define IL_HOLD_HANDSHAKE 1u
#define IL_HOLD_FULL 2u
#define IL_HOLD_DRAIN 4u
#define IL_HOLD_CLIENT 8u  /* it does not read its answers */
#define IL_HOLD_DENIED 16u /* its calls are denied without end */

/* A call that was decided, or whose result was settled, in the turn's transaction, and what it wrote: nothing of that leaves before the commit. */
typedef struct il_wire_member {
    bool settled; /* else decided */
    bool run;     /* decided: it is to go to the server */
    int64_t uid;
    uint64_t ticket;
    size_t from[2], to[2]; /* in what waits for the client and for the server */
    uint8_t args_digest[IL_DIGEST_BYTES];
    il_rpc_id id; /* its text is in id_text */
    char id_text[IL_RPC_ID_BYTES];
} il_wire_member;

typedef struct il_wire_waiting {
    char *p;
    size_t n, cap;
} il_wire_waiting;

typedef struct il_wire_turn {
    il_timer *end;
    bool on;   /* something waits for the end */
    bool open; /* the last member is being handled */
    unsigned number;
    il_wire_waiting waiting[2]; /* for the client, for the server */
    size_t n;
    il_wire_member members[IL_WIRE_TURN];
} il_wire_turn;

typedef struct il_wire {
    il_gateway_config c;
    il_loop *loop;
    il_arena arena; /* of the message that is handled */
    il_reader *in;
    il_writer *out;
    il_upstream *up;
    il_timer *due, *changed, *drain, *slow;
    il_wire_turn turn;
    size_t line; /* bytes of the message that is handled */
    il_phase phase;
    unsigned hold; /* of the client's side */
    uint64_t deaf; /* when a server that does not read is given up; 0: it reads */
    il_pendings calls, asks;
    il_features declared, offered; /* by the client; to the server */
    il_revision revision;
    unsigned serves; /* capabilities of the server that are served, one bit each */
    il_life life;
    il_restart restart;
    bool inside, client_gone, up_stopped, told_initialized;
    bool tools_changed, resources_changed, prompts_changed;
    unsigned violations, interrupts;
    uint64_t violations_at; /* when the first of them was counted */
    il_budget notices, noise, denied;
    il_budget refusals, denials,
        answers; /* lines of our log: about what the client sends, what is denied, what the server answers */
    il_seen cursors[IL_WIRE_LISTS], subscribed;
    il_roster tools, prompts; /* names that were listed */
    il_prototypes prototypes; /* which keys such as `__proto__` may go to the server */
    uint64_t uninvited;       /* messages of the server that nobody asked for, and that were dropped */
    char gone[160];           /* why the server is not there: `exited with status 1` */
    int code;
} il_wire;

/* wire.c: sending, and what all share */
void il_wire_to_client(il_wire *w, const il_json *message); /* NULL: out of memory, which ends the gateway */
/* The same for what the server made large: false when it cannot be written within the limits. Nothing was sent then, and the message's arena may be full. */
IL_NODISCARD bool il_wire_release(il_wire *w, const il_json *message);
void il_wire_to_server(il_wire *w, const il_json *message);
void il_wire_refuse(il_wire *w, const il_rpc_id *id, int64_t code, const char *text);
void il_wire_hold(il_wire *w, unsigned why, bool on);
void il_wire_arm(il_wire *w);                             /* sets the timer to the next deadline */
bool il_wire_serves(const il_wire *w, il_str capability); /* an empty one: yes */
void il_wire_serve(il_wire *w, const il_json *capabilities);
il_json_limits il_wire_limits(size_t bytes);
/* A message of the server that nobody asked for: counted, and said in the log, ever more seldom. */
void il_wire_uninvited(il_wire *w, il_str method, const char *why);
/* Whether our log may have one more line of a sort that a side of the wire can cause at will; what is left out is counted and said. */
bool il_wire_may_note(il_wire *w, il_budget *lines, const char *about);
/* The client's requests in flight during which the server may ask back. */
size_t il_wire_in_flight(const il_wire *w);

/* turn.c: the calls and results that one turn of the loop brings are one transaction; its end is what lets their messages go. A message that needs no
 * decision waits behind those that do. */
IL_NODISCARD bool il_wire_wait(il_wire *w, bool to_client,
                               il_str line); /* true: the line waits for the end of the turn, or is lost with the gateway */
void il_wire_member_open(il_wire *w, const il_pending *e,
                         bool settled); /* what follows, up to its close, is e's part of the transaction */
void il_wire_member_decided(il_wire *w, il_pending *e, const il_decision *d);
void il_wire_member_close(il_wire *w);
/* Commits and sends, now: called by itself at the end of the turn, and before anything that is to be a transaction of its own. Requests that were
 * decided in this turn may be gone afterwards. */
void il_wire_turn_end(il_wire *w);
void il_wire_on_turn_end(void *ctx);
bool il_wire_in_turn(const il_wire *w, const il_pending *e); /* decided in this turn, and not committed */
void il_wire_turn_free(il_wire *w);

/* params.c: false when the request was refused */
bool il_wire_params(il_wire *w, const il_rpc *rpc, const il_mediation *m);
bool il_wire_token(il_wire *w, const il_rpc *rpc, il_rpc_id *token); /* the progress token, not present when there is none */
/* The first key in v that is more than a key in JavaScript and may not go to this server; empty when there is none. */
il_str il_wire_prototype(const il_wire *w, const il_json *v);
/* listing.c */
il_seen *il_wire_cursors(il_wire *w, il_message list); /* that the server gave for this list */
il_json *il_wire_listing(il_wire *w, const il_pending *e,
                         const il_json *result); /* a listing as the client gets it; NULL: no memory */
bool il_wire_tool_callable(const il_wire *w, il_str name);
bool il_wire_prompt_callable(const il_wire *w, il_str name);
/* request.c */
void il_wire_request(il_wire *w, const il_rpc *rpc);
/* Judges `tool` of the server with these arguments. True: it may go, and e carries the ticket. False: *d holds the refusal's words. */
bool il_wire_judge(il_wire *w, il_pending *e, il_str tool, const il_json *args, il_decision *d);
void il_wire_deny(il_wire *w, const il_rpc_id *id, il_message message, const il_decision *d); /* answers that it was not run */
void il_wire_on_slow_timer(void *ctx);                                                        /* the client is read again */
/* answer.c */
void il_wire_answer(il_wire *w, const il_rpc *rpc);
/* Settles; false: what came must not be released, and `reason` says why. `error`: the text of a failure that the client will get, if there is one. */
bool il_wire_settle(il_wire *w, const il_pending *e, il_outcome_kind how, const il_json *result, il_str error,
                    char reason[IL_REASON_BYTES]);
/* What the server says without being asked, on its way to the client; false: it could not be recorded, and must not be released. */
bool il_wire_note(il_wire *w, il_notice_kind kind, const il_json *value);
void il_wire_withhold(il_wire *w, const il_rpc_id *id, il_message message, const char *reason); /* answers that it was run */
/* Ends a request that gets no answer of the server: settles its worst, answers, forgets it. */
void il_wire_fail(il_wire *w, il_pending *e, il_deny_code code, const char *text);
/* Around failures that come together: one transaction, so that a ledger that others hold is waited for once, and not once a call. */
void il_wire_fail_begin(il_wire *w);
void il_wire_fail_end(il_wire *w);
void il_wire_fail_all(il_wire *w, il_deny_code code, const char *text);
/* ask.c */
void il_wire_ask(il_wire *w, const il_rpc *rpc, const il_mediation *m);
void il_wire_ask_answer(il_wire *w, const il_rpc *rpc);
il_pending *il_wire_asked(const il_wire *w, const il_rpc_id *id); /* the question to the client that has this id, or NULL */
void il_wire_ask_drop(il_wire *w, il_pending *e, bool answer_server, bool tell_client);
/* notice.c */
void il_wire_client_notice(il_wire *w, const il_rpc *rpc);
void il_wire_server_notice(il_wire *w, const il_rpc *rpc);
void il_wire_changed(il_wire *w); /* the timer of list_changed */
void il_wire_cancel_server(il_wire *w, int64_t uid, il_str why);
/* start.c */
void il_wire_initialize(il_wire *w, const il_rpc *rpc);
void il_wire_initialized(il_wire *w, il_pending *e, const il_rpc *rpc); /* the server's answer to ours */
void il_wire_tell_initialized(il_wire *w);
il_json *il_wire_start_params(il_wire *w); /* of our initialize */
/* Whether an answer to it cannot be used, and why. */
bool il_wire_start_fault(const il_rpc *rpc, char *why, size_t cap);
/* restart.c */
unsigned il_wire_told(const il_json *capabilities);              /* as one bit each, with their flags */
void il_wire_gone_text(const il_wire *w, char *out, size_t cap); /* for a call that comes while the server is not there */
void il_wire_restart_plan(il_wire *w);                           /* the server has ended: life becomes DOWN or LOST */
void il_wire_restart_stopped(il_wire *w);
bool il_wire_restart_answer(il_wire *w, const il_rpc *rpc); /* true: the answer was the business of a restart */
void il_wire_on_restart_timer(void *ctx);
/* gateway.c */
IL_NODISCARD il_status il_wire_server_start(il_wire *w, il_error *err);
/* stop.c */
void il_wire_fatal(il_wire *w, const char *text);        /* memory and the like: exit code 5 */
void il_wire_start_failed(il_wire *w, const char *text); /* exit code 3 */
void il_wire_server_gone(il_wire *w, const char *why);
void il_wire_drain(il_wire *w, uint64_t bound_ms);
void il_wire_drained(il_wire *w); /* goes on when nothing is in flight any more */
void il_wire_stop(il_wire *w);
void il_wire_on_stopped(void *ctx);
void il_wire_on_drain_timer(void *ctx);
void il_wire_on_term(void *ctx);
void il_wire_on_interrupt(void *ctx);
