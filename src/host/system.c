/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "host/owner.h"
#include "host/sha256.h"
#include "interlock/host.h"

static bool host_now_ms(void *ctx, uint64_t *out) {
    struct timespec t;
    (void)ctx;
    if (clock_gettime(CLOCK_REALTIME, &t) != 0 || t.tv_sec < 0) {
        return false;
    }
    *out = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    return true;
}

static bool host_random(void *ctx, void *out, size_t n) {
    unsigned char *at = out;
    (void)ctx;
    while (n > 0) {
        const ssize_t got = getrandom(at, n, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        n -= (size_t)got;
    }
    return true;
}

il_host il_host_system(void) {
    il_host host = {
        .size = sizeof host, .now_ms = host_now_ms, .random = host_random, .gone = il_host_gone, .sha256 = il_host_sha256()};
    il_host_owner(host.owner);
    return host;
}
