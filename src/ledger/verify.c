/* SPDX-License-Identifier: Apache-2.0 */
/* What a whole ledger must look like: first the chain, row by row; then each session, its rows one after the other and against its state. */
#include <string.h>

#include "ledger/file.h"
#include "ledger/ledger.h"
#include "ledger/verify.h"
#include "json/node.h"

#define VERIFY_ARENA_BYTES ((size_t)1 << 30)

/* ---- findings ------------------------------------------------------------------------------- */

IL_PRINTF(6, 7)
static void verify_found(il_verify *v, uint64_t row, il_str session, const char *what, const char *advice, const char *fmt, ...) {
    char message[IL_ERROR_MSG_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)il_format_list(message, sizeof message, fmt, args);
    va_end(args);
    il_verify_found(v, row, session, what, message, advice);
}

void il_verify_found(il_verify *v, uint64_t row, il_str session, const char *what, const char *message, const char *advice) {
    const il_ledger_finding f = {.row = row, .session = session, .what = what, .message = message, .advice = advice};
    v->out->findings++;
    if (v->visit) {
        v->visit(v->ctx, &f);
    }
}

bool il_verify_stops(il_verify *v, il_status status) {
    if (status != IL_E_MEMORY && status != IL_E_IO && status != IL_E_BUSY) {
        return false;
    }
    (void)il_error_set(&v->stopped, status, "%s",
                       status == IL_E_MEMORY ? "out of memory" : "the ledger could not be read to its end");
    return true;
}

il_status il_verify_stopped(const il_verify *v, il_error *err) {
    return v->stopped.code == IL_OK ? IL_OK : il_error_set(err, v->stopped.code, "%s", v->stopped.msg);
}

/* ---- the chain ------------------------------------------------------------------------------ */

typedef struct verify_chain {
    il_verify *v;
    il_arena arena; /* of one row */
    uint64_t seq;   /* of the row before */
    uint8_t hash[IL_DIGEST_BYTES];
    uint64_t session_rows;
    /* of the first row, when rows before it are not there */
    uint64_t begins;
    uint8_t begins_hash[IL_DIGEST_BYTES];
    /* what the latest `prune` row says */
    uint64_t prune_row, acts, anchor;
    char acts_hash[IL_DIGEST_HEX], anchor_hash[IL_DIGEST_HEX];
} verify_chain;

static void verify_hex(const il_json *text, char out[IL_DIGEST_HEX]) {
    const il_str s = il_json_kind_of(text) == IL_JSON_STRING ? il_json_text(text) : IL_STR("");
    (void)il_format(out, IL_DIGEST_HEX, "%.*s", IL_STR_ARG(s));
}

static uint64_t verify_number(const il_json *n) {
    int64_t value = 0;
    return il_json_int(n, &value) && value > 0 ? (uint64_t)value : 0;
}

static void verify_keep_act(il_verify *v, uint64_t n, uint64_t row) {
    if (v->nacts == v->acts_cap) {
        const size_t cap = v->acts_cap ? 2 * v->acts_cap : 64;
        il_verify_act *acts = IL_NEW_ARRAY(&v->arena, il_verify_act, cap);
        if (!acts) {
            (void)il_verify_stops(v, IL_E_MEMORY);
            return;
        }
        if (v->nacts) {
            memcpy(acts, v->acts, v->nacts * sizeof *acts);
        }
        v->acts = acts;
        v->acts_cap = cap;
    }
    v->acts[v->nacts++] = (il_verify_act){.n = n, .row = row};
}

uint64_t il_verify_sealed(const il_verify *v, uint64_t act) {
    size_t from = 0, to = v->nacts; /* in order, in a ledger without a finding */
    while (from < to) {
        const size_t at = from + (to - from) / 2;
        if (v->acts[at].n == act) {
            return v->acts[at].row;
        }
        *(v->acts[at].n < act ? &from : &to) = v->acts[at].n < act ? at + 1 : at;
    }
    return 0;
}

static void verify_prune_row(verify_chain *c, const il_ledger_row *row) {
    il_json *body = NULL;
    il_arena_reset(&c->arena);
    c->prune_row = row->seq;
    const il_status status = il_json_parse(&c->arena, row->body, NULL, &body, NULL);
    if (il_verify_stops(c->v, status) || status != IL_OK) {
        body = NULL;
    }
    const il_json *begins = il_json_get(body, IL_STR("begins"));
    c->acts = verify_number(il_json_get(body, IL_STR("acts")));
    verify_hex(il_json_get(body, IL_STR("acts_hash")), c->acts_hash);
    c->anchor = verify_number(il_json_get(begins, IL_STR("seq")));
    verify_hex(il_json_get(begins, IL_STR("hash")), c->anchor_hash);
    verify_keep_act(c->v, c->acts, row->seq);
}

static void verify_body(verify_chain *c, const il_ledger_row *row, bool ledgers) {
    uint8_t hash[IL_DIGEST_BYTES];
    if (row->erased) {
        c->v->out->erased++;
        if (ledgers) {
            verify_found(c->v, row->seq, IL_STR(""), "row-erased", IL_VERIFY_RESTORE,
                         "row %lld is about the ledger itself and its body is gone", (long long)row->seq);
        }
        return;
    }
    if (c->v->out->version == 1) {
        return; /* covered by the row's own hash */
    }
    il_chain_body(row->body, c->v->l->sha256, hash);
    if (!il_digest_eq(hash, row->body_hash)) {
        verify_found(c->v, row->seq, ledgers ? IL_STR("") : row->key, "row-body", IL_VERIFY_RESTORE,
                     "the body of row %lld is not the one that was written", (long long)row->seq);
    }
}

static void verify_link(verify_chain *c, const il_ledger_row *row, bool ledgers) {
    uint8_t hash[IL_DIGEST_BYTES];
    if (c->v->out->version == 1) {
        il_chain_hash_1(c->hash, row, c->v->l->sha256, hash);
    } else {
        il_chain_hash(c->hash, row, c->v->l->sha256, hash);
    }
    if (!il_digest_eq(hash, row->hash)) {
        verify_found(c->v, row->seq, ledgers ? IL_STR("") : row->key, "row-hash", IL_VERIFY_RESTORE,
                     "row %lld does not follow from the row before it: one of its columns or its place was changed",
                     (long long)row->seq);
    }
}

static bool verify_row(void *ctx, const il_ledger_row *row) {
    verify_chain *c = ctx;
    il_ledger_report *out = c->v->out;
    const bool ledgers = !il_str_eq(row->space, IL_STR(IL_SPACE_SESSION));
    c->session_rows += ledgers ? 0 : 1;
    if (out->rows == 0) {
        out->first = row->seq;
    }
    if (out->rows == 0 && row->seq != c->seq + 1) {
        c->begins = row->seq; /* judged when the latest `prune` row is known */
        memcpy(c->begins_hash, row->hash, sizeof c->begins_hash);
    } else if (row->seq != c->seq + 1) {
        verify_found(c->v, row->seq, ledgers ? IL_STR("") : row->key, "row-missing", IL_VERIFY_RESTORE,
                     "after row %lld comes row %lld: what was between them was removed", (long long)c->seq, (long long)row->seq);
    } else {
        verify_link(c, row, ledgers);
    }
    verify_body(c, row, ledgers);
    if (ledgers && il_str_eq(row->kind, IL_STR("prune")) && !row->erased) {
        verify_prune_row(c, row);
    }
    out->rows++;
    out->last = c->seq = row->seq;
    memcpy(c->hash, row->hash, sizeof c->hash);
    return c->v->stopped.code == IL_OK;
}

/* Where the trail begins: at row 1, or where the latest `prune` row says. */
static void verify_beginning(verify_chain *c) {
    char hash[IL_DIGEST_HEX];
    il_digest_hex(c->begins_hash, hash);
    if (c->begins && !(c->anchor == c->begins && strcmp(hash, c->anchor_hash) == 0)) {
        verify_found(c->v, c->begins, IL_STR(""), "row-missing", IL_VERIFY_RESTORE,
                     "the trail begins at row %lld, and no row of kind `prune` says so", (long long)c->begins);
    }
    if (!c->begins && c->anchor > 1) {
        verify_found(c->v, c->prune_row, IL_STR(""), "row-added", IL_VERIFY_RESTORE,
                     "rows stand before row %lld, where the trail begins since row %lld", (long long)c->anchor,
                     (long long)c->prune_row);
    }
}

/* ---- the acts of pruning ---------------------------------------------------------------------- */

typedef struct verify_acts {
    il_verify *v;
    uint64_t n;
    uint8_t hash[IL_DIGEST_BYTES];
} verify_acts;

static bool verify_act(void *ctx, const il_ledger_pruned *p) {
    verify_acts *a = ctx;
    uint8_t hash[IL_DIGEST_BYTES];
    il_chain_pruned(a->hash, p, a->v->l->sha256, hash);
    if (p->n != a->n + 1 || !il_digest_eq(hash, p->hash)) {
        verify_found(a->v, 0, p->key, "act-hash", IL_VERIFY_RESTORE, "act %lld of pruning does not follow from the one before it",
                     (long long)a->n + 1);
    }
    a->n++;
    memcpy(a->hash, p->hash, sizeof a->hash);
    /* Its rows may be gone, so that nothing else tells that the id was taken. */
    uint8_t state[1];
    size_t n = 0;
    uint64_t version = 0;
    const il_status status = a->v->l->kind->object(a->v->l, IL_STR(IL_SPACE_SESSION), p->key, state, 0, &n, &version, NULL);
    if (status == IL_E_NOT_FOUND) {
        verify_found(a->v, 0, p->key, "session-missing", IL_VERIFY_RESTORE,
                     "act %lld of pruning is about session `%.*s`, which is not there: its id could be used again",
                     (long long)a->n, IL_STR_ARG(p->key));
    }
    return !il_verify_stops(a->v, status);
}

static il_status verify_pruned(il_verify *v, const verify_chain *c, il_error *err) {
    verify_acts a = {.v = v};
    char hash[IL_DIGEST_HEX];
    IL_TRY(v->l->kind->pruned(v->l, IL_STR(""), verify_act, &a, err));
    IL_TRY(il_verify_stopped(v, err));
    il_digest_hex(a.hash, hash);
    if (a.n != c->acts || (a.n && strcmp(hash, c->acts_hash) != 0)) {
        verify_found(v, c->prune_row, IL_STR(""), "acts-head", IL_VERIFY_RESTORE,
                     "%lld acts of pruning are recorded, which are not those that the latest `prune` row seals", (long long)a.n);
    }
    return IL_OK;
}

/* ---- rows that belong to no session ------------------------------------------------------------ */

typedef struct verify_orphans {
    il_verify *v;
    il_arena arena;
    il_str last; /* named last; in a row of one session it is named once */
} verify_orphans;

static bool verify_orphan(void *ctx, const il_ledger_row *row) {
    verify_orphans *o = ctx;
    uint8_t state[1];
    size_t n = 0;
    uint64_t version = 0;
    if (!il_str_eq(row->space, IL_STR(IL_SPACE_SESSION)) || il_str_eq(row->key, o->last)) {
        return true;
    }
    const il_status status = o->v->l->kind->object(o->v->l, IL_STR(IL_SPACE_SESSION), row->key, state, 0, &n, &version, NULL);
    if (status != IL_E_NOT_FOUND) {
        return !il_verify_stops(o->v, status);
    }
    verify_found(o->v, row->seq, row->key, "session-missing", IL_VERIFY_RESTORE,
                 "row %lld belongs to session `%.*s`, which is not there: its id could be used again", (long long)row->seq,
                 IL_STR_ARG(row->key));
    il_arena_reset(&o->arena);
    return !il_verify_stops(o->v, il_arena_copy(&o->arena, row->key, &o->last, NULL));
}

/* ---- episodes of no session ------------------------------------------------------------------------ */

static il_status verify_strays(il_verify *v, il_error *err) {
    uint64_t n = 0;
    IL_TRY(v->l->kind->count(v->l, IL_STR(IL_SPACE_MEMORY), IL_STR(""), &n, err));
    if (n > v->episodes) {
        verify_found(v, 0, IL_STR(""), "episode-added", IL_VERIFY_RESTORE, "%lld episodes belong to no session",
                     (long long)(n - v->episodes));
    }
    return IL_OK;
}

/* ---- all of it --------------------------------------------------------------------------------- */

static il_status verify_all(il_verify *v, verify_chain *c, il_error *err) {
    uint64_t rows = 0;
    IL_TRY(v->l->kind->rows(v->l, IL_STR(""), 0, verify_row, c, err));
    IL_TRY(il_verify_stopped(v, err));
    memcpy(v->out->head, c->hash, sizeof v->out->head);
    verify_beginning(c);
    IL_TRY(verify_pruned(v, c, err));
    IL_TRY(il_verify_sessions(v, &rows, err));
    IL_TRY(verify_strays(v, err));
    if (rows == c->session_rows) {
        return IL_OK;
    }
    verify_orphans o = {.v = v, .last = IL_STR("")};
    il_arena_init(&o.arena, v->l->alloc, VERIFY_ARENA_BYTES);
    const il_status status = v->l->kind->rows(v->l, IL_STR(""), 0, verify_orphan, &o, err);
    il_arena_free(&o.arena);
    return status == IL_OK ? il_verify_stopped(v, err) : status;
}

il_status il_ledger_verify(il_ledger *l, il_ledger_visit_finding visit, void *ctx, il_ledger_report *out, il_error *err) {
    if (out->size < sizeof *out) {
        return il_error_set(err, IL_E_ARGUMENT, "`size` of the report is not set");
    }
    const size_t size = out->size;
    *out = (il_ledger_report){.size = size, .version = l->version};
    il_verify v = {.l = l, .visit = visit, .ctx = ctx, .out = out};
    verify_chain c = {.v = &v};
    IL_TRY(l->kind->hold(l, err));
    c.seq = l->dropped;
    memcpy(c.hash, l->dropped_hash, sizeof c.hash);
    il_arena_init(&c.arena, l->alloc, VERIFY_ARENA_BYTES);
    il_arena_init(&v.arena, l->alloc, VERIFY_ARENA_BYTES);
    const il_status status = verify_all(&v, &c, err);
    il_arena_free(&v.arena);
    il_arena_free(&c.arena);
    l->kind->release(l);
    return status;
}
