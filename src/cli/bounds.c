/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

#define BOUNDS_STATES_MAX (UINT64_C(1) << 30)
#define BOUNDS_WORK_MAX (UINT64_C(1) << 50)
#define BOUNDS_SECONDS_MAX (UINT64_C(7) * 24 * 3600)
#define BOUNDS_BYTES_MAX (UINT64_C(1) << 42)
#define BOUNDS_SECOND UINT64_C(1000000000)

static uint64_t bounds_now(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * BOUNDS_SECOND + (uint64_t)t.tv_nsec;
}

/* `512M`: bytes, or so many times 2^10, 2^20, 2^30. */
static il_status bounds_bytes(const char *text, uint64_t *out, il_error *err) {
    il_str s = il_str_of(text);
    const char unit = s.n > 0 ? s.p[s.n - 1] : '0';
    const uint32_t shift = unit == 'k' || unit == 'K'   ? 10
                           : unit == 'm' || unit == 'M' ? 20
                           : unit == 'g' || unit == 'G' ? 30
                                                        : 0;
    s.n -= shift != 0;
    int64_t n = 0;
    if (!il_str_int(s, &n) || n < 1 || (uint64_t)n > BOUNDS_BYTES_MAX >> shift) {
        return il_error_set(err, IL_E_INVALID,
                            "`--max-bytes` takes a number of bytes up to 4096G, with k, M or G behind it or not, not `%s`", text);
    }
    *out = (uint64_t)n << shift;
    return IL_OK;
}

static void bounds_say(il_bounds *b, const il_space_progress *now, uint64_t at) {
    const uint64_t all = b->total + now->states;
    const uint64_t since = b->shown ? b->shown : b->begun;
    const double seconds = (double)(at - since) / (double)BOUNDS_SECOND;
    const double rate = seconds > 0 ? (double)(all - b->told) / seconds / 1e6 : 0;
    (void)fprintf(stderr,
                  "%sinterlock %s: %" PRIu64 " states, %" PRIu64 " edges, %" PRIu64 " waiting, %.1f M states/s, %" PRIu64 " s%s",
                  b->terminal ? "\r" : "", b->command, now->states, now->edges, now->frontier, rate,
                  (at - b->begun) / BOUNDS_SECOND, b->terminal ? "\033[K" : "\n");
    (void)fflush(stderr);
    b->drawn = b->terminal;
    b->shown = at;
    b->told = all;
}

static bool bounds_progress(void *ctx, const il_space_progress *now) {
    il_bounds *b = ctx;
    const uint64_t at = bounds_now();
    if (now->states < b->before) { /* another one has begun */
        b->total += b->before;
    }
    b->before = now->states;
    const bool due = at - (b->shown ? b->shown : b->begun) >= BOUNDS_SECOND;
    if ((b->progress && b->shown == 0) || (due && (b->terminal || b->progress))) {
        bounds_say(b, now, at);
    }
    return b->end == 0 || at < b->end;
}

il_status il_bounds_read(il_bounds *b, const char *command, il_error *err) {
    uint64_t states = 0, seconds = 0, bytes = 0, work = 0, workers = 0;
    if (b->states) {
        IL_TRY(il_options_number("max-states", b->states, BOUNDS_STATES_MAX, &states, err));
    }
    if (b->seconds) {
        IL_TRY(il_options_number("max-seconds", b->seconds, BOUNDS_SECONDS_MAX, &seconds, err));
    }
    if (b->bytes) {
        IL_TRY(bounds_bytes(b->bytes, &bytes, err));
    }
    if (b->work) {
        IL_TRY(il_options_number("max-work", b->work, BOUNDS_WORK_MAX, &work, err));
    }
    if (b->workers) {
        IL_TRY(il_options_number("workers", b->workers, IL_SPACE_WORKERS_MAX, &workers, err));
    }
    b->command = command;
    b->begun = bounds_now();
    b->end = seconds ? b->begun + seconds * BOUNDS_SECOND : 0;
    b->terminal = !b->progress && isatty(STDERR_FILENO);
    b->space = (il_space_bounds){.states = (uint32_t)states,
                                 .bytes = (size_t)bytes,
                                 .work = work,
                                 .workers = (uint32_t)workers,
                                 .progress = bounds_progress,
                                 .progress_ctx = b};
    return IL_OK;
}

void il_bounds_done(il_bounds *b) {
    if (b->drawn) {
        (void)fputs("\r\033[K", stderr);
        b->drawn = false;
    }
}
