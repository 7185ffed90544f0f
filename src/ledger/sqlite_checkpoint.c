/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: what was committed lies in SQLite's log (WAL), and is copied into the file from time to time, with two waits for the disk. SQLite does that inside
 * of a commit. Here a thread with a connection of its own may do it, so that commits go on meanwhile.
 *
 * SQLite begins the log anew only when all of it was copied, and those who commit go on adding to it; so the thread alone would never bring that about under
 * load. When the log is long and little of it is left to copy, the commit copies the rest itself, which is two short waits. */
#include <signal.h>
#include <string.h>

#include "ledger/sqlite.h"

#define CHECKPOINT_PAGES \
    4000 /* 16 MB: pages that change again and again are copied once, and the wait for the disk is shared by more commits */
#define CHECKPOINT_AGAIN 1000 /* pages until the next try, after one that a reader or a failure stopped */
#define CHECKPOINT_LONG 16000 /* 64 MB; above it the commit copies a rest of at most so many pages: */
#define CHECKPOINT_REST 1500
#define CHECKPOINT_MOST 32000 /* above it the commit copies whatever there is: 128 MB */
#define CHECKPOINT_STACK ((size_t)256 << 10)

static int checkpoint_connect(il_sqlite *l, sqlite3 **db) {
    struct stat st;
    if (stat(l->path, &st) != 0 || st.st_dev != l->checkpoint.device || st.st_ino != l->checkpoint.inode) {
        return SQLITE_CANTOPEN; /* the commits will say that it was replaced */
    }
    int code = sqlite3_open_v2(l->path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) { /* to read something is what makes it look for the log */
        code = sqlite3_exec(*db,
                            l->full ? "PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL; PRAGMA user_version;"
                                    : "PRAGMA trusted_schema = OFF; PRAGMA synchronous = NORMAL; PRAGMA user_version;",
                            NULL, NULL, NULL);
    }
    if (code != SQLITE_OK) {
        (void)sqlite3_close(*db);
        *db = NULL;
    }
    return code;
}

/* Copies what no reader needs to stay as it is. *copied: pages of the log that are in the file now; kept when nobody knows. */
static int checkpoint_copy(sqlite3 *db, int *copied) {
    int pages = -1, done = -1;
    const int code = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &done);
    *copied = code == SQLITE_OK && done >= 0 ? done : *copied;
    return code == SQLITE_BUSY ? SQLITE_OK : code; /* somebody else is at it */
}

static void *checkpoint_run(void *ctx) {
    il_sqlite *l = ctx;
    il_sqlite_checkpoint *c = &l->checkpoint;
    sqlite3 *db = NULL;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->wanted && !c->ends) {
            pthread_cond_wait(&c->wake, &c->lock);
        }
        if (c->ends) {
            break;
        }
        int copied = c->copied;
        pthread_mutex_unlock(&c->lock);
        int code = db ? SQLITE_OK : checkpoint_connect(l, &db);
        if (code == SQLITE_OK) {
            code = checkpoint_copy(db, &copied);
        }
        pthread_mutex_lock(&c->lock);
        c->wanted = false;
        c->copied = copied;
        c->code = code != SQLITE_OK ? code : c->code;
        c->told = code != SQLITE_OK ? c->told : SQLITE_OK;
    }
    pthread_mutex_unlock(&c->lock);
    (void)sqlite3_close(db);
    return NULL;
}

/* Signals are the business of the threads that were there before. */
static bool checkpoint_start(il_sqlite *l) {
    il_sqlite_checkpoint *c = &l->checkpoint;
    sigset_t all, before;
    pthread_attr_t attributes;
    (void)sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    (void)pthread_attr_setstacksize(&attributes, CHECKPOINT_STACK);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    c->started = pthread_create(&c->thread, &attributes, checkpoint_run, l) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return c->started;
}

/* Once for each kind of failure until the next success. */
static void checkpoint_tell(il_sqlite *l, int code) {
    il_sqlite_checkpoint *c = &l->checkpoint;
    il_error why = {0};
    pthread_mutex_lock(&c->lock);
    const bool news = code != c->told;
    c->told = code;
    pthread_mutex_unlock(&c->lock);
    if (code != SQLITE_OK && news && c->warn) {
        (void)il_error_set(&why, il_sqlite_status(code), "ledger `%s`: its log cannot be copied into it and grows: %s", l->path,
                           sqlite3_errstr(code));
        c->warn(c->warn_ctx, why.msg);
    }
}

typedef enum checkpoint_who { CHECKPOINT_NOBODY = 0, CHECKPOINT_THREAD, CHECKPOINT_US } checkpoint_who;

/* With c->lock. `pages`: of the log. */
static checkpoint_who checkpoint_due(il_sqlite_checkpoint *c, int pages) {
    if (pages < c->pages || pages < c->copied) { /* a new log */
        c->copied = c->next = 0;
    }
    c->pages = pages;
    const int rest = pages - c->copied;
    if (c->wanted || pages < c->next) {
        return CHECKPOINT_NOBODY;
    }
    if (!c->apart) {
        return pages >= CHECKPOINT_PAGES ? CHECKPOINT_US : CHECKPOINT_NOBODY;
    }
    if (pages >= CHECKPOINT_MOST || (pages >= CHECKPOINT_LONG && rest <= CHECKPOINT_REST)) {
        return CHECKPOINT_US;
    }
    return rest >= CHECKPOINT_PAGES ? CHECKPOINT_THREAD : CHECKPOINT_NOBODY;
}

/* SQLite calls it after each commit, inside of it: what it returned would be the commit's failure, which it is not. */
static int checkpoint_on_commit(void *ctx, sqlite3 *db, const char *name, int pages) {
    il_sqlite *l = ctx;
    il_sqlite_checkpoint *c = &l->checkpoint;
    (void)name;
    pthread_mutex_lock(&c->lock);
    checkpoint_who who = checkpoint_due(c, pages);
    int code = c->code, copied = c->copied;
    c->code = SQLITE_OK;
    if (who == CHECKPOINT_THREAD && !c->started && !checkpoint_start(l)) {
        who = CHECKPOINT_US;
    }
    if (who == CHECKPOINT_THREAD) {
        c->wanted = true;
        pthread_cond_signal(&c->wake);
    }
    if (who != CHECKPOINT_NOBODY && pages >= CHECKPOINT_PAGES) {
        c->next = pages + CHECKPOINT_AGAIN;
    }
    pthread_mutex_unlock(&c->lock);
    if (who == CHECKPOINT_US) {
        code = checkpoint_copy(db, &copied);
        pthread_mutex_lock(&c->lock);
        c->copied = copied;
        c->told = code != SQLITE_OK ? c->told : SQLITE_OK;
        pthread_mutex_unlock(&c->lock);
    }
    if (code != SQLITE_OK) {
        checkpoint_tell(l, code);
    }
    return SQLITE_OK;
}

bool il_sqlite_checkpoint_init(il_sqlite *l, const il_ledger_options *options) {
    il_sqlite_checkpoint *c = &l->checkpoint;
    *c = (il_sqlite_checkpoint){.apart = options->checkpoint_thread, .warn = options->warn, .warn_ctx = options->warn_ctx};
    if (pthread_mutex_init(&c->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&c->wake, NULL) != 0) {
        pthread_mutex_destroy(&c->lock);
        return false;
    }
    return true;
}

void il_sqlite_checkpoint_watch(il_sqlite *l) {
    l->checkpoint.device = l->file.st_dev;
    l->checkpoint.inode = l->file.st_ino;
    (void)sqlite3_wal_hook(l->db, checkpoint_on_commit, l);
}

void il_sqlite_checkpoint_free(il_sqlite *l) {
    il_sqlite_checkpoint *c = &l->checkpoint;
    if (c->started) {
        pthread_mutex_lock(&c->lock);
        c->ends = true;
        pthread_cond_signal(&c->wake);
        pthread_mutex_unlock(&c->lock);
        (void)pthread_join(c->thread, NULL);
    }
    if (c->code != SQLITE_OK) {
        checkpoint_tell(l, c->code);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->wake);
}
