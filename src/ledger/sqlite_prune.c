/* SPDX-License-Identifier: Apache-2.0 */
/* Retention. Bodies go, hashes stay; what an object was when its rows were erased is written down in `pruned`, which has its own chain; the row of
 * kind `prune` ties that chain, and where the trail now begins, to the chain of rows. */
#include <string.h>

#include "ledger/sqlite.h"
#include "monitor/recall.h"
#include "monitor/session.h"
#include "policy/kind_part.h"

#define PRUNE_ROWS 1000 /* of one transaction: others wait for the write lock meanwhile */

typedef struct prune_job {
    il_sqlite *l;
    il_str session;
    uint64_t version, now_ms;
    il_ledger_pruned act;
    uint64_t rows; /* erased by this transaction */
    bool more;
    il_sqlite_head anchor; /* the first row that is there; seq 0 or 1: no row is missing */
} prune_job;

/* Runs a query that returns at most one row; *found says whether it did, and it stays open for its columns. */
static il_status prune_ask(prune_job *job, const char *text, uint64_t number, sqlite3_stmt **s, bool *found, il_error *err) {
    int code = sqlite3_prepare_v2(job->l->db, text, -1, s, NULL);
    if (code == SQLITE_OK && sqlite3_bind_parameter_count(*s) >= 2) {
        code = il_sqlite_bind_name(*s, IL_STR(IL_SPACE_SESSION), job->session);
    }
    if (code == SQLITE_OK && sqlite3_bind_parameter_count(*s) >= 3) {
        code = il_sqlite_bind_u64(*s, 3, number);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_step(*s);
    }
    *found = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) {
        return IL_OK;
    }
    il_status status = il_sqlite_fail(job->l, code, err);
    sqlite3_finalize(*s);
    *s = NULL;
    return status;
}

/* The object as it is, into the act. */
static il_status prune_object(prune_job *job, il_error *err) {
    uint8_t state[IL_SESSION_STATE_MAX];
    il_session session;
    size_t n = 0;
    uint64_t version = 0;
    IL_TRY(il_sqlite_object_locked(job->l, IL_STR(IL_SPACE_SESSION), job->session, state, sizeof state, &n, &version, err));
    if (version != job->version) {
        return il_error_set(err, IL_E_CONFLICT, "session `%.*s` was used in between", IL_STR_ARG(job->session));
    }
    IL_TRY(il_session_decode(state, n, &session, err));
    job->act =
        (il_ledger_pruned){.space = IL_STR(IL_SPACE_SESSION), .key = job->session, .version = version, .state = session.state};
    il_chain_body((il_str){(const char *)state, n}, job->l->base.sha256, job->act.state_hash);
    return IL_OK;
}

/* The last row that this transaction erases. */
static il_status prune_through(prune_job *job, il_error *err) {
    sqlite3_stmt *s = NULL;
    bool found;
    IL_TRY(prune_ask(job,
                     "SELECT max(seq), count(*) FROM (SELECT seq FROM rows WHERE key = ?2 AND space = ?1 AND body IS NOT NULL "
                     "ORDER BY seq LIMIT ?3)",
                     PRUNE_ROWS, &s, &found, err));
    job->rows = found ? (uint64_t)sqlite3_column_int64(s, 1) : 0;
    job->act.through = job->rows ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    job->more = job->rows == PRUNE_ROWS;
    sqlite3_finalize(s);
    return IL_OK;
}

static il_status prune_erase(prune_job *job, il_error *err) {
    sqlite3_stmt *s = NULL;
    bool found;
    IL_TRY(prune_ask(job, "UPDATE rows SET body = NULL WHERE key = ?2 AND space = ?1 AND seq <= ?3 AND body IS NOT NULL",
                     job->act.through, &s, &found, err));
    sqlite3_finalize(s);
    return IL_OK;
}

/* What the session knew goes as well. */
static il_status prune_episodes(prune_job *job, il_error *err) {
    const il_recall_key prefix = il_recall_prefix(job->session);
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(job->l->db,
                                  "DELETE FROM objects WHERE id IN (SELECT id FROM objects WHERE space = ?1 AND key >= ?2 "
                                  "AND key < ?4 LIMIT ?3)",
                                  -1, &s, NULL);
    if (code == SQLITE_OK) {
        code = il_sqlite_bind_name(s, IL_STR(IL_SPACE_MEMORY), (il_str){prefix.text, prefix.n});
    }
    if (code == SQLITE_OK) {
        code = il_sqlite_bind_u64(s, 3, PRUNE_ROWS);
    }
    if (code == SQLITE_OK) {
        code = il_sqlite_bind_after(s, 4, (il_str){prefix.text, prefix.n});
    }
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    il_status status = code == SQLITE_DONE ? IL_OK : il_sqlite_fail(job->l, code, err);
    job->more = job->more || (status == IL_OK && sqlite3_changes(job->l->db) == PRUNE_ROWS);
    sqlite3_finalize(s);
    return status;
}

/* Adds the act to its chain. */
static il_status prune_act(prune_job *job, il_error *err) {
    sqlite3_stmt *s = NULL;
    uint8_t before[IL_DIGEST_BYTES] = {0};
    bool found, whole = true;
    IL_TRY(prune_ask(job, "SELECT n, hash FROM pruned ORDER BY n DESC LIMIT 1", 0, &s, &found, err));
    job->act.n = found ? (uint64_t)sqlite3_column_int64(s, 0) + 1 : 1;
    whole = !found || il_sqlite_digest(s, 1, before);
    sqlite3_finalize(s);
    if (!whole) {
        return il_error_set(err, IL_E_DAMAGED, "the last act of pruning in ledger `%s` has no hash; see interlock ledger verify",
                            job->l->path);
    }
    il_chain_pruned(before, &job->act, job->l->base.sha256, job->act.hash);
    int code = sqlite3_prepare_v2(job->l->db,
                                  "INSERT INTO pruned(space, key, n, version, through, state, state_hash, hash) "
                                  "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                                  -1, &s, NULL);
    bool bound = code == SQLITE_OK && il_sqlite_bind_name(s, job->act.space, job->act.key) == SQLITE_OK &&
                 il_sqlite_bind_u64(s, 3, job->act.n) == SQLITE_OK && il_sqlite_bind_u64(s, 4, job->act.version) == SQLITE_OK &&
                 il_sqlite_bind_u64(s, 5, job->act.through) == SQLITE_OK &&
                 sqlite3_bind_int64(s, 6, (int64_t)job->act.state) == SQLITE_OK &&
                 il_sqlite_bind_digest(s, 7, job->act.state_hash) == SQLITE_OK &&
                 il_sqlite_bind_digest(s, 8, job->act.hash) == SQLITE_OK;
    code = bound ? sqlite3_step(s) : sqlite3_errcode(job->l->db);
    il_status status = code == SQLITE_DONE ? IL_OK : il_sqlite_fail(job->l, code, err);
    sqlite3_finalize(s);
    return status;
}

/* Rows at the beginning that hold nothing any more: erased ones, and those about the ledger itself, which a later `prune` row replaces. All but the
 * last of them are deleted; it is where the trail begins from now on. */
static il_status prune_front(prune_job *job, il_error *err) {
    sqlite3_stmt *s = NULL;
    uint64_t n = 0;
    int code =
        sqlite3_prepare_v2(job->l->db,
                           "SELECT seq, hash, body IS NULL OR (space = '" IL_SPACE_LEDGER "' AND kind IN ('prune', 'upgrade'))"
                           " FROM rows ORDER BY seq LIMIT ?1",
                           -1, &s, NULL);
    if (code == SQLITE_OK) {
        code = il_sqlite_bind_u64(s, 1, PRUNE_ROWS);
    }
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(s)) == SQLITE_ROW && (n == 0 || sqlite3_column_int(s, 2))) {
            if (!il_sqlite_digest(s, 1, job->anchor.hash)) {
                break; /* verify says it; nothing behind it is deleted */
            }
            job->anchor.seq = (uint64_t)sqlite3_column_int64(s, 0);
            n++;
            if (!sqlite3_column_int(s, 2)) {
                break;
            }
        }
    }
    il_status status = code == SQLITE_ROW || code == SQLITE_DONE ? IL_OK : il_sqlite_fail(job->l, code, err);
    sqlite3_finalize(s);
    if (status == IL_OK && n > 1) {
        bool found;
        status = prune_ask(job, "DELETE FROM rows WHERE seq < ?3 AND ?1 <> ?2", job->anchor.seq, &s, &found, err);
        if (status == IL_OK) {
            sqlite3_finalize(s);
        }
    }
    return status;
}

static il_status prune_row(prune_job *job, il_sqlite_head *head, il_error *err) {
    char body[512], hash[IL_DIGEST_HEX], anchor[IL_DIGEST_HEX];
    il_digest_hex(job->act.hash, hash);
    il_digest_hex(job->anchor.hash, anchor);
    size_t n =
        il_format(body, sizeof body, "{\"acts\":%llu,\"acts_hash\":\"%s\",\"begins\":", (unsigned long long)job->act.n, hash);
    n += job->anchor.seq > 1
             ? il_format(body + n, sizeof body - n, "{\"hash\":\"%s\",\"seq\":%llu}", anchor, (unsigned long long)job->anchor.seq)
             : il_format(body + n, sizeof body - n, "null");
    n += il_format(body + n, sizeof body - n, ",\"rows\":%llu,\"session\":\"%.*s\",\"through\":%llu,\"v\":1}",
                   (unsigned long long)job->rows, IL_STR_ARG(job->session), (unsigned long long)job->act.through);
    const il_store_row row = {.kind = IL_STR("prune"), .body = {body, n}};
    const il_store_change change = {.space = IL_STR(IL_SPACE_LEDGER), .key = IL_STR(IL_SPACE_LEDGER), .rows = &row, .nrows = 1};
    return il_sqlite_append(job->l, head, &change, job->now_ms, err);
}

/* The body of one transaction. */
static il_status prune_some(prune_job *job, il_sqlite_head *head, il_error *err) {
    IL_TRY(il_sqlite_same_version(job->l, err));
    IL_TRY(il_sqlite_last(job->l, head, err));
    IL_TRY(prune_object(job, err));
    IL_TRY(prune_through(job, err));
    IL_TRY(prune_episodes(job, err));
    if (job->rows == 0) {
        return IL_OK;
    }
    IL_TRY(prune_erase(job, err));
    IL_TRY(prune_act(job, err));
    IL_TRY(prune_front(job, err));
    return prune_row(job, head, err);
}

static il_status prune_once(prune_job *job, il_error *err) {
    il_sqlite *l = job->l;
    il_sqlite_head head;
    job->more = false;
    IL_TRY(il_sqlite_begin(l, err));
    IL_TRY(il_sqlite_end(l, prune_some(job, &head, err), err));
    l->head = head;
    l->head_known = true;
    return IL_OK;
}

/* As the monitor's: the id stands in the row's body as it is. */
static bool prune_id_ok(il_str id) {
    for (size_t i = 0; i < id.n; i++) {
        if (!il_ascii_alnum(id.p[i]) && !memchr("._:-", id.p[i], 4)) {
            return false;
        }
    }
    return id.n > 0 && id.n < IL_SESSION_ID_BYTES;
}

il_status il_sqlite_prune(il_ledger *base, il_str session, uint64_t version, uint64_t now_ms, uint64_t *erased, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    prune_job job = {.l = l, .session = session, .version = version, .now_ms = now_ms};
    il_status status;
    if (!prune_id_ok(session)) {
        return il_error_set(err, IL_E_ARGUMENT, "`%.*s` is no session's id", IL_STR_ARG(session));
    }
    do {
        pthread_mutex_lock(&l->lock);
        status = prune_once(&job, err);
        l->erased = l->erased || (status == IL_OK && job.rows > 0);
        pthread_mutex_unlock(&l->lock);
        *erased += status == IL_OK ? job.rows : 0;
    } while (status == IL_OK && job.more);
    return status;
}
