/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the trail, the list of sessions and the acts of pruning. */
#include "ledger/sqlite.h"

/* Version 1 had no hash of the body. */
static const char *sqlite_rows_text(const il_sqlite *l, bool all) {
    if (l->base.version == 1) {
        return all ? "SELECT seq, time_ms, space, key, kind, ticket, body, zeroblob(32), hash FROM rows WHERE seq > ?3 ORDER BY "
                     "seq"
                   : "SELECT seq, time_ms, space, key, kind, ticket, body, zeroblob(32), hash FROM rows WHERE key = ?2 AND "
                     "space = ?1 AND seq > ?3 ORDER BY seq";
    }
    return all ? "SELECT seq, time_ms, space, key, kind, ticket, body, body_hash, hash FROM rows WHERE seq > ?3 ORDER BY seq"
               : "SELECT seq, time_ms, space, key, kind, ticket, body, body_hash, hash FROM rows WHERE key = ?2 AND space = ?1 "
                 "AND seq > ?3 ORDER BY seq";
}

static il_status sqlite_row(const il_sqlite *l, sqlite3_stmt *s, il_ledger_row *row, il_error *err) {
    *row = (il_ledger_row){.seq = (uint64_t)sqlite3_column_int64(s, 0),
                           .time_ms = (uint64_t)sqlite3_column_int64(s, 1),
                           .space = il_sqlite_column(s, 2),
                           .key = il_sqlite_column(s, 3),
                           .kind = il_sqlite_column(s, 4),
                           .ticket = (uint64_t)sqlite3_column_int64(s, 5),
                           .erased = sqlite3_column_type(s, 6) == SQLITE_NULL,
                           .body = il_sqlite_column(s, 6)};
    if (!il_sqlite_digest(s, 7, row->body_hash) || !il_sqlite_digest(s, 8, row->hash)) {
        return il_error_set(err, IL_E_DAMAGED, "row %lld of ledger `%s` has no hash; see interlock ledger verify",
                            (long long)row->seq, l->path);
    }
    return IL_OK;
}

il_status il_sqlite_rows(il_ledger *base, il_str session, uint64_t after, il_ledger_visit visit, void *ctx, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    sqlite3_stmt *s = NULL;
    il_status status = IL_OK;
    int64_t last = INT64_MIN;
    int code = sqlite3_prepare_v2(l->db, sqlite_rows_text(l, session.n == 0), -1, &s, NULL);
    if (code == SQLITE_OK) { /* a damaged number of a row may be below zero, and is shown */
        code = sqlite3_bind_int64(s, 3, after ? (int64_t)il_ledger_number(after) : INT64_MIN);
    }
    if (code == SQLITE_OK && session.n) {
        code = il_sqlite_bind_name(s, IL_STR(IL_SPACE_SESSION), session);
    }
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(s)) == SQLITE_ROW) {
            il_ledger_row row;
            status = sqlite_row(l, s, &row, err);
            if (status == IL_OK && (int64_t)row.seq <= last) { /* SQLite trusts the order in which it finds them */
                status = il_error_set(err, IL_E_DAMAGED, "row %lld of ledger `%s` stands behind row %lld; restore it from a copy",
                                      (long long)row.seq, l->path, (long long)last);
            }
            last = (int64_t)row.seq;
            if (status != IL_OK || !visit(ctx, &row)) {
                code = SQLITE_DONE;
                break;
            }
        }
    }
    if (code != SQLITE_DONE) {
        status = il_sqlite_fail(l, code, err);
    }
    sqlite3_finalize(s);
    return status;
}

il_status il_sqlite_sessions(il_ledger *base, il_ledger_visit_session visit, void *ctx, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(
        l->db, "SELECT key, version, changed_ms FROM objects WHERE space = '" IL_SPACE_SESSION "' ORDER BY changed_ms DESC, key",
        -1, &s, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(s)) == SQLITE_ROW) {
            if (!visit(ctx, il_sqlite_column(s, 0), (uint64_t)sqlite3_column_int64(s, 1), (uint64_t)sqlite3_column_int64(s, 2))) {
                code = SQLITE_DONE;
                break;
            }
        }
    }
    il_status status = code == SQLITE_DONE ? IL_OK : il_sqlite_fail(l, code, err);
    sqlite3_finalize(s);
    return status;
}

il_status il_sqlite_count(il_ledger *base, il_str space, il_str prefix, uint64_t *n, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    sqlite3_stmt *s = NULL;
    *n = 0;
    int code =
        sqlite3_prepare_v2(l->db, "SELECT count(*) FROM objects WHERE space = ?1 AND key >= ?2 AND key < ?3", -1, &s, NULL);
    if (code == SQLITE_OK) {
        code = il_sqlite_bind_name(s, space, prefix);
    }
    if (code == SQLITE_OK) {
        code = il_sqlite_bind_after(s, 3, prefix);
    }
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        *n = (uint64_t)sqlite3_column_int64(s, 0);
    }
    il_status status = code == SQLITE_ROW ? IL_OK : il_sqlite_fail(l, code, err);
    sqlite3_finalize(s);
    return status;
}

il_status il_sqlite_pruned(il_ledger *base, il_str session, il_ledger_visit_pruned visit, void *ctx, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    sqlite3_stmt *s = NULL;
    if (base->version == 1) {
        return IL_OK;
    }
    int code = sqlite3_prepare_v2(
        l->db,
        session.n ? "SELECT n, space, key, version, through, state, state_hash, hash FROM pruned WHERE key = ?2 AND space = ?1 "
                    "ORDER BY n DESC"
                  : "SELECT n, space, key, version, through, state, state_hash, hash FROM pruned ORDER BY n",
        -1, &s, NULL);
    if (code == SQLITE_OK && session.n) {
        code = il_sqlite_bind_name(s, IL_STR(IL_SPACE_SESSION), session);
    }
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(s)) == SQLITE_ROW) {
            il_ledger_pruned p = {.n = (uint64_t)sqlite3_column_int64(s, 0),
                                  .space = il_sqlite_column(s, 1),
                                  .key = il_sqlite_column(s, 2),
                                  .version = (uint64_t)sqlite3_column_int64(s, 3),
                                  .through = (uint64_t)sqlite3_column_int64(s, 4),
                                  .state = (uint64_t)sqlite3_column_int64(s, 5)};
            /* what is none stays zeros, and fits no chain */
            if (!il_sqlite_digest(s, 6, p.state_hash) || !il_sqlite_digest(s, 7, p.hash)) {
                p.n = 0;
            }
            if (!visit(ctx, &p)) {
                code = SQLITE_DONE;
                break;
            }
        }
    }
    il_status status = code == SQLITE_DONE ? IL_OK : il_sqlite_fail(l, code, err);
    sqlite3_finalize(s);
    return status;
}
