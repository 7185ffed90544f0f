/* SPDX-License-Identifier: Apache-2.0 */
/* Commits. Threads that commit at the same time queue up; the first of them commits for all who wait in one transaction, which is one wait for the
 * disk: compare the version, write the state, append the rows, for each. */
#include <sched.h>
#include <string.h>

#include "ledger/sqlite.h"

#define SQLITE_TOGETHER 256 /* commits of one transaction: bounds how long the others wait */
#define SQLITE_TURNS 64
#define SQLITE_TRIES 4 /* of one transaction, each without whom the one before failed by */

struct il_sqlite_waiter {
    il_sqlite_waiter *next;
    const il_store_change *changes;
    size_t n;
    uint64_t now_ms;
    il_status status;
    il_error *err;
    bool failed; /* by itself: the others go on without it */
    bool done;
};

il_status il_sqlite_begin(il_sqlite *l, il_error *err) {
    if (l->read_only) {
        return il_error_set(err, IL_E_PERMISSION, "ledger `%s` was opened for reading", l->path);
    }
    IL_TRY(il_sqlite_same_file(l, err));
    int code = il_sqlite_run(l, Q_BEGIN);
    return code == SQLITE_OK ? IL_OK : il_sqlite_fail(l, code, err);
}

il_status il_sqlite_end(il_sqlite *l, il_status status, il_error *err) {
    if (status == IL_OK) {
        int code = il_sqlite_run(l, Q_COMMIT);
        if (code == SQLITE_OK) {
            unsigned data = 0; /* our own write moved it; nobody else's can be in it before the next transaction begins */
            l->version_known =
                l->version_known && sqlite3_file_control(l->db, "main", SQLITE_FCNTL_DATA_VERSION, &data) == SQLITE_OK;
            l->data_version = data;
            l->object.known = false; /* unless it was a batch that committed, which knows better */
            return IL_OK;
        }
        status = il_sqlite_fail(l, code, err);
    }
    l->version_known = l->head_known = l->object.known = false;
    /* SQLite may have rolled back by itself; what matters is that no transaction stays open. */
    if (!sqlite3_get_autocommit(l->db)) {
        (void)il_sqlite_run(l, Q_ROLLBACK);
    }
    return status;
}

static il_status sqlite_conflict(const il_store_change *change, il_error *err) {
    return il_error_set(err, IL_E_CONFLICT, "%.*s `%.*s` was changed in between", IL_STR_ARG(change->space),
                        IL_STR_ARG(change->key));
}

static il_status sqlite_compare(il_sqlite *l, const il_store_change *change, il_error *err) {
    sqlite3_stmt *s = l->query[Q_STORED];
    int code = il_sqlite_bind_name(s, change->space, change->key);
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    uint64_t version = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_reset(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return il_sqlite_fail(l, code, err);
    }
    return version == change->expect ? IL_OK : sqlite_conflict(change, err);
}

/* The comparison is part of the writing: nothing is written when the version is another one. */
il_status il_sqlite_move(il_sqlite *l, const il_store_change *change, uint64_t version, uint64_t now_ms, il_error *err) {
    il_sqlite_query q = change->expect ? Q_UPDATE : Q_CREATE;
    sqlite3_stmt *s = l->query[q];
    if (il_sqlite_bind_name(s, change->space, change->key) != SQLITE_OK ||
        sqlite3_bind_blob64(s, 3, change->state.p, change->state.n, SQLITE_STATIC) != SQLITE_OK ||
        il_sqlite_bind_u64(s, 4, now_ms) != SQLITE_OK ||
        (change->expect &&
         (il_sqlite_bind_u64(s, 5, change->expect) != SQLITE_OK || il_sqlite_bind_u64(s, 6, version) != SQLITE_OK))) {
        return il_sqlite_fail(l, sqlite3_errcode(l->db), err);
    }
    int code = il_sqlite_run(l, q);
    if (code != SQLITE_OK) {
        return il_sqlite_fail(l, code, err);
    }
    return sqlite3_changes(l->db) == 1 ? IL_OK : sqlite_conflict(change, err);
}

il_status il_sqlite_append(il_sqlite *l, il_sqlite_head *head, const il_store_change *change, uint64_t now_ms, il_error *err) {
    sqlite3_stmt *s = l->query[Q_APPEND];
    for (size_t i = 0; i < change->nrows; i++) {
        const il_store_row *from = &change->rows[i];
        il_ledger_row row = {.seq = head->seq + 1,
                             .time_ms = il_ledger_number(now_ms),
                             .space = change->space,
                             .key = change->key,
                             .kind = from->kind,
                             .body = from->body,
                             .ticket = il_ledger_number(from->ticket)};
        il_chain_body(row.body, l->base.sha256, row.body_hash);
        il_chain_hash(head->hash, &row, l->base.sha256, row.hash);
        if (!il_sqlite_bind_row(s, &row)) {
            return il_sqlite_fail(l, sqlite3_errcode(l->db), err);
        }
        int code = il_sqlite_run(l, Q_APPEND);
        if (code != SQLITE_OK) {
            return il_sqlite_fail(l, code, err);
        }
        head->seq = row.seq;
        memcpy(head->hash, row.hash, sizeof head->hash);
    }
    return IL_OK;
}

il_status il_sqlite_changes(il_sqlite *l, il_sqlite_head *head, const il_store_change *changes, size_t n, uint64_t now_ms,
                            il_error *err) {
    const bool alone = n == 1 && changes[0].moves;
    for (size_t i = 0; i < n && !alone; i++) {
        IL_TRY(sqlite_compare(l, &changes[i], err));
    }
    for (size_t i = 0; i < n; i++) {
        if (changes[i].moves) {
            IL_TRY(il_sqlite_move(l, &changes[i], changes[i].expect + 1, now_ms, err));
        }
        IL_TRY(il_sqlite_append(l, head, &changes[i], now_ms, err));
    }
    return IL_OK;
}

/* The transaction's body; fails when the whole transaction is lost, with the waiter's own error in *err, and the waiter marked. */
static il_status sqlite_together(il_sqlite *l, il_sqlite_waiter *all, il_sqlite_head *head, il_error *err) {
    IL_TRY(il_sqlite_same_version(l, err));
    IL_TRY(il_sqlite_last(l, head, err));
    for (il_sqlite_waiter *w = all; w; w = w->next) {
        if (w->failed) {
            continue;
        }
        w->status = il_sqlite_changes(l, head, w->changes, w->n, w->now_ms, w->err);
        if (w->status != IL_OK && w->status != IL_E_CONFLICT) {
            *err = *w->err;
            w->failed = true;
            return w->status;
        }
    }
    return IL_OK;
}

static il_status sqlite_try(il_sqlite *l, il_sqlite_waiter *all, il_error *why) {
    il_sqlite_head head;
    IL_TRY(il_sqlite_begin(l, why));
    IL_TRY(il_sqlite_end(l, sqlite_together(l, all, &head, why), why));
    l->head = head;
    l->head_known = true;
    return IL_OK;
}

static size_t sqlite_failed(const il_sqlite_waiter *all) {
    size_t n = 0;
    for (; all; all = all->next) {
        n += all->failed ? 1 : 0;
    }
    return n;
}

static void sqlite_commit_all(il_sqlite *l, il_sqlite_waiter *all) {
    il_error why = {0};
    il_status status = IL_E_INTERNAL;
    for (size_t tries = 0; tries < SQLITE_TRIES && status != IL_OK && sqlite_failed(all) == tries; tries++) {
        status = sqlite_try(l, all, &why);
    }
    for (il_sqlite_waiter *w = all; status != IL_OK && w; w = w->next) {
        if (!w->failed) {
            w->status = status;
            *w->err = why;
        }
    }
}

/* Takes the first of those who wait off the queue. */
static il_sqlite_waiter *sqlite_batch(il_sqlite *l) {
    il_sqlite_waiter *all = l->first, *end = all;
    for (size_t i = 1; i < SQLITE_TOGETHER && end->next; i++) {
        end = end->next;
    }
    l->first = end->next;
    l->last = l->first ? l->last : NULL;
    end->next = NULL;
    return all;
}

/* Takes the connection, but lets those go first who wait to load: they are about to join the queue, and the disk is slower than all of them. */
static void sqlite_take_turns(il_sqlite *l) {
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < SQLITE_TURNS && atomic_load(&l->loads) > 0; i++) {
        pthread_mutex_unlock(&l->lock);
        (void)sched_yield();
        pthread_mutex_lock(&l->lock);
    }
}

/* Called and left with the queue's lock. */
static void sqlite_lead(il_sqlite *l) {
    l->led = true;
    pthread_mutex_unlock(&l->queue_lock);
    sqlite_take_turns(l);
    pthread_mutex_lock(&l->queue_lock);
    il_sqlite_waiter *all = sqlite_batch(l);
    pthread_mutex_unlock(&l->queue_lock);
    sqlite_commit_all(l, all);
    pthread_mutex_unlock(&l->lock);
    pthread_mutex_lock(&l->queue_lock);
    while (all) {
        il_sqlite_waiter *next = all->next; /* who is done may be gone at once */
        all->done = true;
        all = next;
    }
    l->led = false;
    pthread_cond_broadcast(&l->settled);
}

il_status il_sqlite_commit(il_ledger *base, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    il_error own = {0};
    il_sqlite_waiter w = {.changes = changes, .n = n, .now_ms = now_ms, .err = err ? err : &own};
    pthread_mutex_lock(&l->queue_lock);
    if (l->last) {
        l->last->next = &w;
    } else {
        l->first = &w;
    }
    l->last = &w;
    while (!w.done) {
        if (l->led) {
            pthread_cond_wait(&l->settled, &l->queue_lock);
        } else {
            sqlite_lead(l);
        }
    }
    pthread_mutex_unlock(&l->queue_lock);
    return w.status;
}
