/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_ledger_vfs.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct bad_file {
    sqlite3_file base;
    sqlite3_file *real;
    sqlite3_io_methods methods;
} bad_file;

static sqlite3_vfs *bad_real;
static ledger_vfs_mode bad_mode = LEDGER_VFS_GOOD;
static long bad_left;

/* Counts a write down; whether this one fails. */
static bool bad_now(void) {
    if (bad_mode == LEDGER_VFS_GOOD || bad_left-- != 0) {
        return false;
    }
    if (bad_mode == LEDGER_VFS_DIE) {
        _exit(LEDGER_VFS_DIED);
    }
    bad_mode = LEDGER_VFS_GOOD;
    return true;
}

static sqlite3_file *bad_of(sqlite3_file *f) { return ((bad_file *)f)->real; }
static int bad_close(sqlite3_file *f) { return bad_of(f)->pMethods->xClose(bad_of(f)); }
static int bad_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) { return bad_of(f)->pMethods->xRead(bad_of(f), p, n, at); }
static int bad_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
    return bad_now() ? SQLITE_IOERR_WRITE : bad_of(f)->pMethods->xWrite(bad_of(f), p, n, at);
}
static int bad_truncate(sqlite3_file *f, sqlite3_int64 n) { return bad_of(f)->pMethods->xTruncate(bad_of(f), n); }
static int bad_sync(sqlite3_file *f, int flags) { return bad_of(f)->pMethods->xSync(bad_of(f), flags); }
static int bad_size(sqlite3_file *f, sqlite3_int64 *n) { return bad_of(f)->pMethods->xFileSize(bad_of(f), n); }
static int bad_lock(sqlite3_file *f, int how) { return bad_of(f)->pMethods->xLock(bad_of(f), how); }
static int bad_unlock(sqlite3_file *f, int how) { return bad_of(f)->pMethods->xUnlock(bad_of(f), how); }
static int bad_reserved(sqlite3_file *f, int *out) { return bad_of(f)->pMethods->xCheckReservedLock(bad_of(f), out); }
static int bad_control(sqlite3_file *f, int op, void *p) { return bad_of(f)->pMethods->xFileControl(bad_of(f), op, p); }
static int bad_sector(sqlite3_file *f) { return bad_of(f)->pMethods->xSectorSize(bad_of(f)); }
static int bad_traits(sqlite3_file *f) { return bad_of(f)->pMethods->xDeviceCharacteristics(bad_of(f)); }
static int bad_map(sqlite3_file *f, int page, int size, int extend, void volatile **p) {
    return bad_of(f)->pMethods->xShmMap(bad_of(f), page, size, extend, p);
}
static int bad_shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return bad_of(f)->pMethods->xShmLock(bad_of(f), at, n, flags);
}
static void bad_barrier(sqlite3_file *f) { bad_of(f)->pMethods->xShmBarrier(bad_of(f)); }
static int bad_unmap(sqlite3_file *f, int gone) { return bad_of(f)->pMethods->xShmUnmap(bad_of(f), gone); }

static int bad_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
    bad_file *d = (bad_file *)f;
    (void)vfs;
    d->base.pMethods = NULL;
    d->real = (sqlite3_file *)(d + 1);
    const int code = bad_real->xOpen(bad_real, name, d->real, flags, out);
    if (d->real->pMethods) {
        d->methods = (sqlite3_io_methods){2,           bad_close,  bad_read,   bad_write,  bad_truncate,
                                          bad_sync,    bad_size,   bad_lock,   bad_unlock, bad_reserved,
                                          bad_control, bad_sector, bad_traits, bad_map,    bad_shm_lock,
                                          bad_barrier, bad_unmap,  NULL,       NULL};
        d->base.pMethods = &d->methods;
    }
    return code;
}

void ledger_vfs_install(void) {
    static sqlite3_vfs vfs;
    if (bad_real) {
        return;
    }
    bad_real = sqlite3_vfs_find(NULL);
    vfs = *bad_real;
    vfs.zName = "bad";
    vfs.szOsFile += (int)sizeof(bad_file);
    vfs.xOpen = bad_open;
    assert_int_equal(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

void ledger_vfs_arm(ledger_vfs_mode mode, long writes) {
    bad_mode = mode;
    bad_left = writes;
}

bool ledger_vfs_fired(void) { return bad_mode == LEDGER_VFS_GOOD; }
