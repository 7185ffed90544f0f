/* SPDX-License-Identifier: Apache-2.0 */
/* The hashes of the rows, as they are read: a hand in the ledger, which no machine would notice. What was pruned is judged by `ledger verify`, which
 * reads all of it. */
#include <string.h>

#include "cli/guard.h"
#include "ledger/ledger.h"

static il_status chain_say(guard_run *run, uint64_t row, const char *what, const char *why, il_error *err) {
    const guard_said said = {.level = "chain", .what = what, .row = row, .why = why};
    return guard_say(run, &said, err);
}

il_status guard_chain_row(guard_run *run, const il_ledger_row *row, il_error *err) {
    guard_chain *c = &run->chain;
    uint8_t hash[IL_DIGEST_BYTES];
    const il_ledger *l = run->ledger;
    const bool first = l->version == 1;
    c->found = c->found || (c->head.flag && il_head_is(&c->head, row));
    if (row->seq == c->seq + 1) { /* behind a gap, which is said, there is nothing to follow from */
        (first ? il_chain_hash_1 : il_chain_hash)(c->hash, row, l->sha256, hash);
        if (!il_digest_eq(hash, row->hash)) {
            IL_TRY(chain_say(run, row->seq, "row-hash",
                             "it does not follow from the row before it: one of its columns or its place was changed", err));
        }
    }
    if (!row->erased && !first) {
        il_chain_body(row->body, l->sha256, hash);
        if (!il_digest_eq(hash, row->body_hash)) {
            IL_TRY(chain_say(run, row->seq, "row-body", "its body is not the one that was written", err));
        }
    }
    c->seq = row->seq;
    memcpy(c->hash, row->hash, sizeof c->hash);
    return IL_OK;
}

typedef struct chain_tail {
    const guard_chain *chain;
    bool there, same, behind; /* the row; with its hash; a later one */
} chain_tail;

static bool chain_tail_row(void *ctx, const il_ledger_row *row) {
    chain_tail *t = ctx;
    if ((int64_t)row->seq < (int64_t)t->chain->seq) {
        return true;
    }
    t->there = row->seq == t->chain->seq;
    t->same = t->there && il_digest_eq(row->hash, t->chain->hash);
    t->behind = !t->there;
    return false;
}

/* Of a ledger that is followed: the row that was read last is still there, or rows before the first one are gone, as pruning does. */
il_status guard_chain_look(guard_run *run, il_error *err) {
    guard_chain *c = &run->chain;
    chain_tail t = {.chain = c};
    if (!run->follow || c->seq == 0 || c->cut) {
        return IL_OK;
    }
    IL_TRY(il_ledger_rows_after(run->ledger, c->seq - 1, chain_tail_row, &t, err));
    if (t.same || t.behind) {
        return IL_OK;
    }
    c->cut = true; /* what comes next has nothing to follow from; said once */
    return chain_say(run, c->seq, t.there ? "row-hash" : "cut",
                     t.there ? "it is not the row that was read before: it was changed since"
                             : "it was read before and is not there any more: rows were cut off at the end",
                     err);
}

il_status guard_chain_end(guard_run *run, il_error *err) {
    guard_chain *c = &run->chain;
    if (!c->head.flag || c->found || c->asked) {
        return IL_OK;
    }
    c->asked = true;
    return chain_say(run, c->head.seq, "head",
                     "no row of that number has the hash that was given with --head: rows were cut off at the end, or the trail "
                     "was written anew",
                     err);
}
