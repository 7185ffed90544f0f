/* SPDX-License-Identifier: Apache-2.0 */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yaml/yaml.h"

static il_status file_errno(int why, const char *what, il_error *err) {
    const il_status status = why == ENOENT || why == ENOTDIR ? IL_E_NOT_FOUND
                             : why == EACCES || why == EPERM ? IL_E_PERMISSION
                             : why == ENOMEM                 ? IL_E_MEMORY
                                                             : IL_E_IO;
    return il_error_set(err, status, "cannot %s it: %s", what, strerror(why));
}

/* Judged on the open file, so that it cannot be swapped in between. */
static il_status file_judge(int fd, size_t max, il_file_trust trust, size_t *size, bool *pipe, il_error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return file_errno(errno, "look at", err);
    }
    *pipe = S_ISFIFO(st.st_mode) && trust == IL_FILE_DATA;
    if (*pipe) { /* it has a writer, or ends at once: what is written is waited for */
        *size = max;
        return fcntl(fd, F_SETFL, 0) == 0 ? IL_OK : file_errno(errno, "read", err);
    }
    if (!S_ISREG(st.st_mode)) {
        return il_error_set(err, IL_E_INVALID, "it is %s, not a regular file",
                            S_ISDIR(st.st_mode) ? "a folder" : "a device or pipe");
    }
    if (trust == IL_FILE_TRUSTED && (st.st_mode & (S_IWGRP | S_IWOTH))) {
        return il_error_set(err, IL_E_PERMISSION, "%s may write it, so it cannot be trusted; run: chmod go-w on it",
                            st.st_mode & S_IWOTH ? "everybody" : "its group");
    }
    if (st.st_size < 0 || (uint64_t)st.st_size > max) {
        return il_error_set(err, IL_E_LIMIT, "it has %llu bytes, the most is %zu", (unsigned long long)st.st_size, max);
    }
    *size = (size_t)st.st_size;
    return IL_OK;
}

static il_status file_bytes(int fd, char *p, size_t cap, size_t *n, il_error *err) {
    *n = 0;
    while (*n < cap) {
        const ssize_t got = read(fd, p + *n, cap - *n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return file_errno(errno, "read", err);
        }
        if (got == 0) {
            break;
        }
        *n += (size_t)got;
    }
    return IL_OK;
}

static il_status file_text(il_str text, il_error *err) {
    uint32_t line = 1, col = 1;
    if (text.n == 0) {
        return il_error_at(err, IL_E_SYNTAX, 1, 1, 0, "the file is empty");
    }
    for (size_t i = 0; i < text.n; i++) {
        const unsigned char c = (unsigned char)text.p[i];
        if (c == 0) {
            return il_error_at(err, IL_E_SYNTAX, line, col, i, "this is a binary file (a NUL byte)");
        }
        if (c == '\n') {
            line++;
            col = 1;
        } else if ((c & 0xc0) != 0x80) {
            col++;
        }
    }
    return IL_OK;
}

il_status il_file_read(il_arena *arena, const char *path, size_t max, il_file_trust trust, il_str *out, il_error *err) {
    size_t size = 0, n = 0;
    char *p = NULL;
    bool pipe = false;
    *out = (il_str){0};
    /* O_NONBLOCK: a pipe nobody writes to must be refused, not waited for. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return file_errno(errno, "open", err);
    }
    il_status status = file_judge(fd, max, trust, &size, &pipe, err);
    if (status == IL_OK && !(p = il_arena_bytes(arena, size + 1))) {
        status = il_arena_fail(arena, err);
    }
    if (status == IL_OK) {
        status = file_bytes(fd, p, size + 1, &n, err); /* one more than it should have: shows that it grew */
    }
    (void)close(fd);
    IL_TRY(status);
    if (n > size && pipe) {
        return il_error_set(err, IL_E_LIMIT, "it has more than %zu bytes", max);
    }
    if (n > size) {
        return il_error_set(err, IL_E_IO, "it changed while it was read; try again");
    }
    IL_CHECK(p != NULL, err);
    IL_TRY(file_text((il_str){p, n}, err));
    *out = (il_str){p, n};
    return IL_OK;
}

il_status il_file_document(il_arena *arena, const char *path, il_file_trust trust, il_json **out, il_error *err) {
    const il_json_limits limits = {.size = sizeof limits, .bytes = IL_DOCUMENT_BYTES_MAX};
    il_str text;
    *out = NULL;
    IL_TRY(il_file_read(arena, path, IL_DOCUMENT_BYTES_MAX, trust, &text, err));
    return il_yaml_parse(arena, text, &limits, out, err);
}
