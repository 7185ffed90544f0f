/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of an owner (native byte order: another machine is another boot): pid, the low half of its start time in clock ticks, and four bytes each of a hash of the kernel's boot
 * id and of the namespaces that give pid and time their meaning. A pid alone would be somebody else's tomorrow. */
#include "host/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"

typedef struct owner_parts {
    uint32_t pid, start, boot, spaces;
} owner_parts;

/* All of a short file, NUL-terminated; 0: not readable. */
static size_t owner_read(const char *path, char *out, size_t cap) {
    size_t n = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    for (ssize_t got = 1; got != 0 && n < cap - 1;) {
        got = read(fd, out + n, cap - 1 - n);
        if (got < 0 && errno != EINTR) {
            n = 0;
            break;
        }
        n += got > 0 ? (size_t)got : 0;
    }
    (void)close(fd);
    out[n] = '\0';
    return n;
}

static uint32_t owner_hash(const char *text, size_t n) {
    uint8_t digest[IL_DIGEST_BYTES];
    uint32_t v;
    il_sha256_of((il_str){text, n}, digest);
    memcpy(&v, digest, sizeof v);
    return v;
}

/* Adds what the link at `path` says. */
static size_t owner_link(const char *path, char *out, size_t cap) {
    const ssize_t n = readlink(path, out, cap);
    return n > 0 ? (size_t)n : 0;
}

/* Where this process is. False when /proc is missing, or is that of another namespace: then no pid in it can be trusted. */
static bool owner_here(uint32_t *boot, uint32_t *spaces) {
    char text[256], self[24];
    size_t n = owner_link("/proc/self", text, sizeof text - 1);
    text[n] = '\0';
    (void)snprintf(self, sizeof self, "%ld", (long)getpid());
    if (strcmp(text, self) != 0) {
        return false;
    }
    n = owner_read("/proc/sys/kernel/random/boot_id", text, sizeof text);
    if (n == 0) {
        return false;
    }
    *boot = owner_hash(text, n);
    n = owner_link("/proc/self/ns/pid", text, sizeof text / 2);
    if (n == 0) {
        return false;
    }
    n += owner_link("/proc/self/ns/time", text + n, sizeof text - n); /* shifts start times; older kernels have none */
    *spaces = owner_hash(text, n);
    return true;
}

/* When the process began, and whether only its shell is left: a zombie whose last thread has ended (proc(5), fields 3, 20 and 22 of
 * /proc/PID/stat). The name in the second field may hold anything, so fields are counted behind its closing bracket. */
static bool owner_start(uint32_t pid, uint32_t *start, bool *dead) {
    char path[32], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%lu/stat", (unsigned long)pid);
    const char *at = owner_read(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    if (!at || at[1] != ' ' || !at[2]) {
        return false;
    }
    const char state = at[2];
    unsigned long long threads = 0, begun = 0;
    at += 3;
    for (int field = 4; field <= 22; field++) {
        char *end = NULL;
        const unsigned long long value = strtoull(at, &end, 10); /* some are negative: they are only passed over */
        if (end == at) {
            return false;
        }
        at = end;
        threads = field == 20 ? value : threads;
        begun = field == 22 ? value : begun;
    }
    *start = (uint32_t)begun;
    *dead = (state == 'Z' || state == 'X') && threads <= 1;
    return true;
}

void il_host_owner(uint8_t out[IL_OWNER_BYTES]) {
    owner_parts p = {.pid = (uint32_t)getpid()};
    bool dead = false;
    memset(out, 0, IL_OWNER_BYTES);
    if (owner_here(&p.boot, &p.spaces) && owner_start(p.pid, &p.start, &dead)) {
        _Static_assert(sizeof p == IL_OWNER_BYTES, "an owner is its four parts");
        memcpy(out, &p, sizeof p);
    }
}

bool il_host_gone(void *ctx, const uint8_t owner[IL_OWNER_BYTES]) {
    owner_parts p;
    uint32_t boot = 0, spaces = 0, start = 0;
    bool dead = false;
    (void)ctx;
    memcpy(&p, owner, sizeof p);
    if (p.pid == 0 || p.pid > INT32_MAX || !owner_here(&boot, &spaces)) {
        return false;
    }
    /* Namespaces first: a container may show a boot id of its own, and whoever lives elsewhere cannot be judged from here. */
    if (p.spaces != spaces) {
        return false;
    }
    if (p.boot != boot) {
        return true;
    }
    /* /proc may hide the processes of others, kill(2) does not */
    if (kill((pid_t)p.pid, 0) != 0 && errno == ESRCH) {
        return true;
    }
    return owner_start(p.pid, &start, &dead) && (start != p.start || dead);
}
