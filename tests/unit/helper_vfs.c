/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct vfs_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct, in the same block */
} vfs_file;

static struct vfs_plan {
    unsigned operations;
    size_t n, seen;
    bool sticky, failed;
    vfs_failure how;
} vfs_plan;
static pthread_mutex_t vfs_guard = PTHREAD_MUTEX_INITIALIZER; /* of the plan: a ledger may have a thread of its own */
static sqlite3_vfs *vfs_real;
static sqlite3_vfs vfs_shim;

static bool vfs_fails(vfs_operation operation) {
    bool fails = false;
    (void)pthread_mutex_lock(&vfs_guard);
    if ((vfs_plan.operations & operation) != 0) {
        vfs_plan.seen++;
        fails = vfs_plan.n != 0 && (vfs_plan.sticky ? vfs_plan.seen >= vfs_plan.n : vfs_plan.seen == vfs_plan.n);
        vfs_plan.failed = vfs_plan.failed || fails;
    }
    (void)pthread_mutex_unlock(&vfs_guard);
    return fails;
}

static sqlite3_file *vfs_under(sqlite3_file *file) { return ((vfs_file *)file)->real; }
static const sqlite3_io_methods *vfs_methods(sqlite3_file *file) { return vfs_under(file)->pMethods; }

static int vfs_close(sqlite3_file *file) {
    const int code = vfs_methods(file)->xClose(vfs_under(file));
    file->pMethods = NULL;
    return code;
}

static int vfs_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at) {
    return vfs_fails(VFS_READ) ? SQLITE_IOERR_READ : vfs_methods(file)->xRead(vfs_under(file), p, n, at);
}

static int vfs_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at) {
    if (!vfs_fails(VFS_WRITE)) {
        return vfs_methods(file)->xWrite(vfs_under(file), p, n, at);
    }
    switch (vfs_plan.how) {
    case VFS_ERROR:
        return SQLITE_IOERR_WRITE;
    case VFS_FULL:
        return SQLITE_FULL;
    case VFS_GONE:
        _exit(VFS_GONE_CODE);
    case VFS_TORN:
        (void)vfs_methods(file)->xWrite(vfs_under(file), p, n / 2, at);
        _exit(VFS_GONE_CODE);
    case VFS_LOST:
        return SQLITE_OK;
    }
    return SQLITE_IOERR_WRITE;
}

static int vfs_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return vfs_fails(VFS_TRUNCATE) ? SQLITE_IOERR_TRUNCATE : vfs_methods(file)->xTruncate(vfs_under(file), size);
}

static int vfs_sync(sqlite3_file *file, int flags) {
    return vfs_fails(VFS_SYNC) ? SQLITE_IOERR_FSYNC : vfs_methods(file)->xSync(vfs_under(file), flags);
}

static int vfs_size(sqlite3_file *file, sqlite3_int64 *size) {
    return vfs_fails(VFS_SIZE) ? SQLITE_IOERR_FSTAT : vfs_methods(file)->xFileSize(vfs_under(file), size);
}

static int vfs_lock(sqlite3_file *file, int lock) {
    return vfs_fails(VFS_LOCK) ? SQLITE_IOERR_LOCK : vfs_methods(file)->xLock(vfs_under(file), lock);
}
static int vfs_unlock(sqlite3_file *file, int lock) { return vfs_methods(file)->xUnlock(vfs_under(file), lock); }
static int vfs_reserved(sqlite3_file *file, int *out) { return vfs_methods(file)->xCheckReservedLock(vfs_under(file), out); }
static int vfs_control(sqlite3_file *file, int what, void *p) {
    return vfs_methods(file)->xFileControl(vfs_under(file), what, p);
}
static int vfs_sector(sqlite3_file *file) { return vfs_methods(file)->xSectorSize(vfs_under(file)); }
static int vfs_device(sqlite3_file *file) { return vfs_methods(file)->xDeviceCharacteristics(vfs_under(file)); }

static int vfs_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **p) {
    return vfs_fails(VFS_SHM) ? SQLITE_IOERR_SHMMAP : vfs_methods(file)->xShmMap(vfs_under(file), page, size, extend, p);
}

static int vfs_shm_lock(sqlite3_file *file, int at, int n, int flags) {
    /* giving back a lock is not what fails */
    const bool takes = (flags & SQLITE_SHM_LOCK) != 0;
    return takes && vfs_fails(VFS_LOCK) ? SQLITE_IOERR_SHMLOCK : vfs_methods(file)->xShmLock(vfs_under(file), at, n, flags);
}

static void vfs_shm_barrier(sqlite3_file *file) { vfs_methods(file)->xShmBarrier(vfs_under(file)); }
static int vfs_shm_unmap(sqlite3_file *file, int delete) { return vfs_methods(file)->xShmUnmap(vfs_under(file), delete); }

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out) {
    static const sqlite3_io_methods methods = {
        .iVersion = 2, /* no mapped pages: every read is seen */
        .xClose = vfs_close,
        .xRead = vfs_read,
        .xWrite = vfs_write,
        .xTruncate = vfs_truncate,
        .xSync = vfs_sync,
        .xFileSize = vfs_size,
        .xLock = vfs_lock,
        .xUnlock = vfs_unlock,
        .xCheckReservedLock = vfs_reserved,
        .xFileControl = vfs_control,
        .xSectorSize = vfs_sector,
        .xDeviceCharacteristics = vfs_device,
        .xShmMap = vfs_shm_map,
        .xShmLock = vfs_shm_lock,
        .xShmBarrier = vfs_shm_barrier,
        .xShmUnmap = vfs_shm_unmap,
    };
    (void)vfs;
    vfs_file *f = (vfs_file *)file;
    f->base.pMethods = NULL;
    f->real = (sqlite3_file *)(f + 1);
    if (vfs_fails(VFS_OPEN)) {
        return SQLITE_CANTOPEN;
    }
    const int code = vfs_real->xOpen(vfs_real, name, f->real, flags, out);
    if (f->real->pMethods != NULL) {
        f->base.pMethods = &methods;
    }
    return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    return vfs_fails(VFS_DELETE) ? SQLITE_IOERR_DELETE : vfs_real->xDelete(vfs_real, name, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    (void)vfs;
    return vfs_fails(VFS_ACCESS) ? SQLITE_IOERR_ACCESS : vfs_real->xAccess(vfs_real, name, flags, out);
}

void vfs_install(void) {
    if (vfs_real != NULL) {
        return;
    }
    vfs_real = sqlite3_vfs_find(NULL);
    if (vfs_real == NULL) {
        abort();
    }
    vfs_shim = *vfs_real; /* the rest is the real one's, with its own data */
    vfs_shim.zName = "interlock-test";
    vfs_shim.szOsFile = (int)sizeof(vfs_file) + vfs_real->szOsFile;
    vfs_shim.xOpen = vfs_open;
    vfs_shim.xDelete = vfs_delete;
    vfs_shim.xAccess = vfs_access;
    vfs_shim.pNext = NULL;
    if (sqlite3_vfs_register(&vfs_shim, 1) != SQLITE_OK) {
        abort();
    }
}

void vfs_arm(unsigned operations, size_t n, bool sticky, vfs_failure how) {
    (void)pthread_mutex_lock(&vfs_guard);
    vfs_plan = (struct vfs_plan){.operations = operations, .n = n, .sticky = sticky, .how = how};
    (void)pthread_mutex_unlock(&vfs_guard);
}

size_t vfs_disarm(bool *failed) {
    (void)pthread_mutex_lock(&vfs_guard);
    const size_t seen = vfs_plan.seen;
    if (failed != NULL) {
        *failed = vfs_plan.failed;
    }
    vfs_plan = (struct vfs_plan){0};
    (void)pthread_mutex_unlock(&vfs_guard);
    return seen;
}
