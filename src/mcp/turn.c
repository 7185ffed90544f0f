/* SPDX-License-Identifier: Apache-2.0 */
/* One turn of the loop, one transaction. Whoever has 32 calls in flight has several of them, and several results, in the pipes each time the loop looks: they
 * are judged one after the other in one transaction, and their messages wait for its commit. When it fails, none of it was decided: each call is denied, and each
 * result withheld, by the fault that one commit of its own would have been. */
#include <string.h>

#include "base/error.h"
#include "mcp/wire.h"
#include "monitor/fault.h"

#define TURN_KEEP ((size_t)1 << 20) /* a buffer above this is given back */

enum { TURN_CLIENT = 0, TURN_SERVER = 1 };

static bool turn_room(il_wire *w, il_wire_waiting *to, size_t n) {
    if (to->cap - to->n >= n) {
        return true;
    }
    const size_t cap = to->n + n > 2 * to->cap ? to->n + n : 2 * to->cap;
    char *grown = w->c.alloc->alloc(w->c.alloc->ctx, cap);
    if (grown == NULL) {
        return false;
    }
    if (to->n > 0) {
        memcpy(grown, to->p, to->n);
    }
    w->c.alloc->free(w->c.alloc->ctx, to->p);
    to->p = grown;
    to->cap = cap;
    return true;
}

bool il_wire_wait(il_wire *w, bool to_client, il_str line) {
    il_wire_waiting *to = &w->turn.waiting[to_client ? TURN_CLIENT : TURN_SERVER];
    if (!w->turn.on) {
        return false;
    }
    if (!turn_room(w, to, line.n)) {
        il_wire_fatal(w, "out of memory for a message that waits");
        return true;
    }
    memcpy(to->p + to->n, line.p, line.n);
    to->n += line.n;
    return true;
}

/* --- members --- */

void il_wire_member_open(il_wire *w, const il_pending *e, bool settled) {
    il_wire_turn *t = &w->turn;
    if (!t->on) {
        t->on = true;
        il_timer_turn(t->end);
        if (w->c.batch != NULL) {
            il_ledger_batch_begin(w->c.batch);
        }
    }
    il_wire_member *m = &t->members[t->n++];
    m->settled = settled;
    m->run = false;
    m->uid = e->uid;
    m->ticket = e->ticket;
    m->id = e->id;
    if (e->id.text.n > 0) {
        memcpy(m->id_text, e->id.text.p, e->id.text.n);
    }
    m->id.text.p = m->id_text;
    m->from[TURN_CLIENT] = t->waiting[TURN_CLIENT].n;
    m->from[TURN_SERVER] = t->waiting[TURN_SERVER].n;
    t->open = true;
}

void il_wire_member_decided(il_wire *w, il_pending *e, const il_decision *d) {
    if (w->turn.open) {
        e->turn = w->turn.number;
        il_wire_member *m = &w->turn.members[w->turn.n - 1];
        m->run = d->run;
        memcpy(m->args_digest, d->args_digest, sizeof m->args_digest);
    }
}

static void turn_close(il_wire_turn *t) {
    if (t->open) {
        il_wire_member *m = &t->members[t->n - 1];
        m->to[TURN_CLIENT] = t->waiting[TURN_CLIENT].n;
        m->to[TURN_SERVER] = t->waiting[TURN_SERVER].n;
        t->open = false;
    }
}

void il_wire_member_close(il_wire *w) {
    il_wire_turn *t = &w->turn;
    turn_close(t);
    if (t->n == IL_WIRE_TURN || t->waiting[TURN_CLIENT].n + t->waiting[TURN_SERVER].n > IL_WIRE_TURN_BYTES) {
        il_wire_turn_end(w);
    }
}

bool il_wire_in_turn(const il_wire *w, const il_pending *e) { return w->turn.on && e->turn == w->turn.number; }

/* --- the end --- */

/* Takes out what the members wrote. */
static void turn_unwrite(il_wire_turn *t, int side) {
    il_wire_waiting *waiting = &t->waiting[side];
    size_t kept = 0, at = 0;
    for (size_t i = 0; i <= t->n; i++) {
        const size_t to = i < t->n ? t->members[i].from[side] : waiting->n;
        if (to > at) {
            memmove(waiting->p + kept, waiting->p + at, to - at);
            kept += to - at;
        }
        at = i < t->n ? t->members[i].to[side] : to;
    }
    waiting->n = kept;
}

static void turn_refuse(il_wire *w, const il_wire_member *m, il_fault fault) {
    if (m->settled) {
        il_wire_withhold(w, &m->id, IL_MSG_TOOLS_CALL, il_fault_reason(fault));
        return;
    }
    il_decision d = IL_DECISION_INIT;
    memcpy(d.args_digest, m->args_digest, sizeof d.args_digest);
    il_fault_block(&d, fault);
    il_wire_deny(w, &m->id, IL_MSG_TOOLS_CALL, &d);
    il_pending *e = m->run ? il_pendings_by_uid(&w->calls, m->uid) : NULL;
    if (e != NULL) {
        il_pendings_remove(&w->calls, e);
    }
}

/* The refusals stand behind what needed no decision, and wait with it. */
static void turn_lost(il_wire *w, il_status status, const il_error *err) {
    il_wire_turn *t = &w->turn;
    const il_fault fault = il_fault_of(status);
    turn_unwrite(t, TURN_CLIENT);
    turn_unwrite(t, TURN_SERVER);
    il_log_write(w->c.log, IL_LOG_ERROR, "%zu decisions and results are not recorded, and refused (%s): %s", t->n,
                 il_fault_reason(fault), err->msg);
    for (size_t i = 0; i < t->n; i++) {
        turn_refuse(w, &t->members[i], fault);
    }
}

static void turn_send(il_wire *w, int side) {
    il_wire_waiting *waiting = &w->turn.waiting[side];
    const il_str all = {waiting->p, waiting->n};
    il_error err = {0};
    il_status st = IL_OK;
    waiting->n = 0;
    if (all.n == 0 || w->phase == IL_PHASE_STOP) {
        return;
    }
    if (side == TURN_SERVER) {
        st = w->up == NULL ? IL_OK : il_upstream_put(w->up, all, &err);
    } else if (!w->client_gone) {
        st = il_writer_put(w->out, all, &err);
    }
    if (waiting->cap > TURN_KEEP) {
        w->c.alloc->free(w->c.alloc->ctx, waiting->p);
        *waiting = (il_wire_waiting){0};
    }
    if (st != IL_OK && st != IL_E_IO) { /* the end of the other side is reported by itself */
        il_wire_fatal(w, err.msg);
    }
}

void il_wire_turn_end(il_wire *w) {
    il_wire_turn *t = &w->turn;
    il_error err = {0};
    if (!t->on) {
        return;
    }
    turn_close(t);
    const il_status st = w->c.batch != NULL ? il_ledger_batch_end(w->c.batch, &err) : IL_OK;
    if (st != IL_OK) {
        turn_lost(w, st, &err);
    }
    t->on = false;
    t->n = 0;
    t->number++;
    il_wire_arm(w);
    turn_send(w, TURN_SERVER);
    turn_send(w, TURN_CLIENT);
}

void il_wire_on_turn_end(void *ctx) {
    il_wire *w = ctx;
    il_wire_turn_end(w);
    il_wire_drained(w);
    il_arena_reset(&w->arena);
}

void il_wire_turn_free(il_wire *w) {
    il_wire_turn *t = &w->turn;
    if (w->c.batch != NULL) {
        il_ledger_batch_drop(w->c.batch);
    }
    for (int side = TURN_CLIENT; side <= TURN_SERVER; side++) {
        w->c.alloc->free(w->c.alloc->ctx, t->waiting[side].p);
    }
    il_timer_free(t->end);
}
