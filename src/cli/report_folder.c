/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_NAME_MAX 256

static il_status folder_fail(const char *folder, const char *name, const char *what, il_error *err) {
    char why[128];
    int code = errno;
    return il_error_set(err, IL_E_IO, "%s `%s%s%s`: %s", what, folder, name[0] ? "/" : "", name,
                        strerror_r(code, why, sizeof why));
}

static void folder_temporary(const char *name, char out[FOLDER_NAME_MAX]) {
    (void)snprintf(out, FOLDER_NAME_MAX, ".%s.%ld", name, (long)getpid());
}

/* What has the name already must be a plain file: a link would be replaced, but whoever put it there means something else. */
static il_status folder_free(int at, const char *folder, const char *name, il_error *err) {
    struct stat st;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? IL_OK : folder_fail(folder, name, "cannot look at", err);
    }
    return S_ISREG(st.st_mode) ? IL_OK : il_error_set(err, IL_E_IO, "`%s/%s` is no plain file; remove it first", folder, name);
}

static bool folder_put(int fd, il_str text) {
    while (text.n > 0) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        text.p += n;
        text.n -= (size_t)n;
    }
    return fchmod(fd, 0644) == 0 && fsync(fd) == 0;
}

static il_status folder_one(int at, const char *folder, const il_report_file *f, il_error *err) {
    char temporary[FOLDER_NAME_MAX];
    IL_TRY(folder_free(at, folder, f->name, err));
    folder_temporary(f->name, temporary);
    int fd = openat(at, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) {
        return folder_fail(folder, f->name, "cannot write", err);
    }
    bool done = folder_put(fd, f->text);
    int code = errno;
    done = close(fd) == 0 && done;
    if (!done) {
        errno = code;
        il_status status = folder_fail(folder, f->name, "cannot write", err);
        (void)unlinkat(at, temporary, 0);
        return status;
    }
    return IL_OK;
}

il_status il_report_folder_write(const char *folder, const il_report_file *files, size_t n, il_error *err) {
    char temporary[FOLDER_NAME_MAX];
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
        return folder_fail(folder, "", "cannot make", err);
    }
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0) {
        return folder_fail(folder, "", "cannot use (a folder is needed, and no symbolic link)", err);
    }
    il_status status = IL_OK;
    size_t written = 0;
    while (written < n && status == IL_OK) {
        status = folder_one(at, folder, &files[written], err);
        written += status == IL_OK;
    }
    for (size_t i = 0; i < written; i++) {
        folder_temporary(files[i].name, temporary);
        if (status == IL_OK && renameat(at, temporary, at, files[i].name) != 0) {
            status = folder_fail(folder, files[i].name, "cannot write", err);
        }
        if (status != IL_OK) {
            (void)unlinkat(at, temporary, 0);
        }
    }
    if (status == IL_OK && fsync(at) != 0) {
        status = folder_fail(folder, "", "cannot write", err);
    }
    (void)close(at);
    return status;
}
