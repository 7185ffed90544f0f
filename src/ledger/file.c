/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* SQLite file format, section 1.3: the database header. */
enum { AT_PAGE_SIZE = 16, AT_PAGES = 28, AT_USER_VERSION = 60, AT_APPLICATION_ID = 68 };

static uint32_t file_be32(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

/* Whose fault it is: a path that cannot be used is the caller's, the rest the machine's. */
static il_status file_status(int why) {
    return why == EACCES || why == EPERM || why == EROFS || why == ENOTDIR || why == ELOOP || why == ENAMETOOLONG
               ? IL_E_PERMISSION
               : IL_E_IO;
}

il_status il_ledger_file_check(const char *path, bool read_only, struct stat *st, il_error *err) {
    if (stat(path, st) != 0) {
        int why = errno;
        if (why == ENOENT) {
            return il_error_set(err, IL_E_NOT_FOUND, "there is no ledger `%s`; name another with --ledger", path);
        }
        return il_error_set(err, file_status(why), "ledger `%s`: %s", path, strerror(why));
    }
    if (!S_ISREG(st->st_mode)) {
        return il_error_set(err, IL_E_DAMAGED, "ledger `%s` is not a regular file", path);
    }
    if (st->st_mode & (S_IWGRP | S_IWOTH)) {
        return il_error_set(err, IL_E_PERMISSION, "ledger `%s` may be written by others; run: chmod 600 on it", path);
    }
    /* SQLite keeps its log and its locks beside the name, so whoever writes under another name neither sees our commits nor waits for them */
    if (!read_only && st->st_nlink > 1) {
        return il_error_set(err, IL_E_PERMISSION,
                            "ledger `%s` has a second name (a hard link), under which others would not see what is written here; "
                            "remove that name (find -samefile shows it)",
                            path);
    }
    /* asked each time: a flag of the file system, or a remount, does not show in the mode, and SQLite would find out by a signal */
    if (!read_only && (!(st->st_mode & S_IWUSR) || access(path, W_OK) != 0)) {
        return il_error_set(err, IL_E_PERMISSION, "ledger `%s` is read-only; run: chmod u+w on it, or name another with --ledger",
                            path);
    }
    return IL_OK;
}

il_status il_ledger_file_place(const char *path, il_error *err) {
    struct statx st;
    if (strncmp(path, "file:", 5) == 0) {
        return il_error_set(err, IL_E_ARGUMENT,
                            "ledger `%s`: a path is wanted, not an address; if it is a path, write ./ before it", path);
    }
    /* Older kernels do not tell; then the attribute is not in the mask. */
    if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &st) == 0 && S_ISREG(st.stx_mode) &&
        (st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)) {
        return il_error_set(err, IL_E_PERMISSION,
                            "ledger `%s` is mounted alone: its log would stay behind, and others would not see it; mount the "
                            "folder that it is in",
                            path);
    }
    return IL_OK;
}

il_status il_ledger_file_header(const char *path, const uint8_t h[IL_LEDGER_HEADER_BYTES], uint64_t size, bool *shorter,
                                il_error *err) {
    *shorter = false;
    if (size < IL_LEDGER_HEADER_BYTES || memcmp(h, "SQLite format 3", 16) != 0) {
        return il_error_set(err, IL_E_DAMAGED,
                            "`%s` is not a ledger (not a SQLite file, or cut short); name another with --ledger", path);
    }
    if (file_be32(h + AT_APPLICATION_ID) != IL_LEDGER_APPLICATION_ID) {
        return il_error_set(err, IL_E_DAMAGED, "`%s` is a database of another program; name another with --ledger", path);
    }
    uint32_t version = file_be32(h + AT_USER_VERSION);
    if (version < IL_LEDGER_USER_VERSION_OLDEST || version > IL_LEDGER_USER_VERSION) {
        return il_error_set(err, IL_E_VERSION, "ledger `%s` has version %u, this program writes %d; use the newer interlock",
                            path, version, IL_LEDGER_USER_VERSION);
    }
    uint32_t page = (uint32_t)h[AT_PAGE_SIZE] << 8 | h[AT_PAGE_SIZE + 1];
    if (page == 1) {
        page = 65536; /* the format's way to write it in two bytes */
    }
    *shorter = (uint64_t)page * file_be32(h + AT_PAGES) > size;
    return IL_OK;
}

il_status il_ledger_file_folders(const char *path, bool make, il_error *err) {
    char folder[4096];
    size_t n = strlen(path);
    if (n >= sizeof folder) {
        return il_error_set(err, IL_E_LIMIT, "the ledger's path is longer than %zu bytes", sizeof folder - 1);
    }
    memcpy(folder, path, n + 1);
    for (size_t i = 1; i < n; i++) {
        if (folder[i] == '/') {
            folder[i] = '\0';
            if (!make && access(folder, F_OK) != 0 && errno == ENOENT) {
                return il_error_set(err, IL_E_NOT_FOUND,
                                    "there is no folder `%s` for the ledger; make it, or name another ledger with --ledger",
                                    folder);
            }
            if (make && mkdir(folder, 0700) != 0 && errno != EEXIST) {
                return il_error_set(err, file_status(errno), "cannot make the folder `%s`: %s", folder, strerror(errno));
            }
            folder[i] = '/';
        }
    }
    return IL_OK;
}
