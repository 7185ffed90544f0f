/* SPDX-License-Identifier: Apache-2.0 */
/* Time zones from the system's database (TZif version 2 and later, RFC 8536), for the expression language. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/time.h"
#include "interlock/host.h"

enum {
    ZONE_FILE_BYTES = 64 << 10, /* the largest in the database has 4 KiB */
    ZONE_NAME_BYTES = 64,
    ZONE_HEADER_BYTES = 44
};

typedef struct zone_header {
    uint64_t version, isutc, isstd, leaps, times, types, chars;
} zone_header;

/* A rule of the footer: when, in seconds of local standard or daylight time. */
typedef struct zone_rule {
    char kind; /* M, J, or 0 for the day counted from 0 */
    int64_t month, week, day, seconds;
} zone_rule;

/* `Area/City`: no way out of the database's folder. */
static bool zone_named(il_str zone) {
    if (zone.n == 0 || zone.n >= ZONE_NAME_BYTES || zone.p[0] == '/') {
        return false;
    }
    for (size_t i = 0; i < zone.n; i++) {
        char c = zone.p[i];
        bool word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+';
        if (!word && (c != '/' || zone.p[i - 1] == '/')) {
            return false; /* so no dot either */
        }
    }
    return true;
}

static bool zone_read(il_str zone, uint8_t *to, size_t *n) {
    char path[ZONE_NAME_BYTES + 32];
    (void)snprintf(path, sizeof path, "/usr/share/zoneinfo/%.*s", IL_STR_ARG(zone));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat s;
    bool fine = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    *n = 0;
    while (fine && *n < ZONE_FILE_BYTES) {
        ssize_t got = read(fd, to + *n, ZONE_FILE_BYTES - *n);
        fine = got >= 0;
        if (got <= 0) {
            break;
        }
        *n += (size_t)got;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return fine && *n < ZONE_FILE_BYTES;
}

static uint64_t zone_big(const uint8_t *p, size_t bytes) {
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

static bool zone_header_of(const uint8_t *p, size_t n, zone_header *h) {
    if (n < ZONE_HEADER_BYTES || p[0] != 'T' || p[1] != 'Z' || p[2] != 'i' || p[3] != 'f') {
        return false;
    }
    *h = (zone_header){.version = p[4],
                       .isutc = zone_big(p + 20, 4),
                       .isstd = zone_big(p + 24, 4),
                       .leaps = zone_big(p + 28, 4),
                       .times = zone_big(p + 32, 4),
                       .types = zone_big(p + 36, 4),
                       .chars = zone_big(p + 40, 4)};
    return h->isutc <= ZONE_FILE_BYTES && h->isstd <= ZONE_FILE_BYTES && h->leaps <= ZONE_FILE_BYTES &&
           h->times <= ZONE_FILE_BYTES && h->types <= 256 && h->chars <= ZONE_FILE_BYTES;
}

static uint64_t zone_block_bytes(const zone_header *h, uint64_t time_bytes) {
    return h->times * (time_bytes + 1) + h->types * 6 + h->chars + h->leaps * (time_bytes + 4) + h->isstd + h->isutc;
}

/* --- the footer: `AEST-10AEDT,M10.1.0,M4.1.0/3` (POSIX TZ, with RFC 8536's wider hours) --- */

typedef struct zone_text {
    const char *p;
    size_t n, at;
} zone_text;

static char zone_peek(const zone_text *t) { return t->at < t->n ? t->p[t->at] : '\0'; }

static bool zone_take(zone_text *t, char c) {
    bool is = zone_peek(t) == c;
    t->at += is ? 1 : 0;
    return is;
}

static bool zone_abbreviation(zone_text *t) {
    size_t from = t->at;
    if (zone_take(t, '<')) {
        while (zone_peek(t) != '>' && zone_peek(t) != '\0') {
            t->at++;
        }
        return zone_take(t, '>');
    }
    while ((zone_peek(t) >= 'a' && zone_peek(t) <= 'z') || (zone_peek(t) >= 'A' && zone_peek(t) <= 'Z')) {
        t->at++;
    }
    return t->at - from >= 3;
}

static bool zone_number(zone_text *t, int64_t max, int64_t *out) {
    int64_t v = 0;
    size_t from = t->at;
    while (zone_peek(t) >= '0' && zone_peek(t) <= '9' && t->at - from < 4) {
        v = v * 10 + (zone_peek(t) - '0');
        t->at++;
    }
    *out = v;
    return t->at > from && v <= max;
}

/* `[+-]hh[:mm[:ss]]` in seconds. */
static bool zone_clock(zone_text *t, int64_t *out) {
    int64_t sign = zone_take(t, '-') ? -1 : 1, h = 0, m = 0, s = 0;
    if (sign > 0) {
        (void)zone_take(t, '+');
    }
    if (!zone_number(t, 167, &h) ||
        (zone_take(t, ':') && (!zone_number(t, 59, &m) || (zone_take(t, ':') && !zone_number(t, 59, &s))))) {
        return false;
    }
    *out = sign * (h * 3600 + m * 60 + s);
    return true;
}

static bool zone_rule_of(zone_text *t, zone_rule *r) {
    *r = (zone_rule){.seconds = 7200};
    bool fine = zone_take(t, ',');
    if (fine && zone_take(t, 'M')) {
        r->kind = 'M';
        fine = zone_number(t, 12, &r->month) && r->month > 0 && zone_take(t, '.') && zone_number(t, 5, &r->week) && r->week > 0 &&
               zone_take(t, '.') && zone_number(t, 6, &r->day);
    } else if (fine && zone_take(t, 'J')) {
        r->kind = 'J';
        fine = zone_number(t, 365, &r->day) && r->day > 0;
    } else {
        fine = fine && zone_number(t, 365, &r->day);
    }
    return fine && (!zone_take(t, '/') || zone_clock(t, &r->seconds));
}

static bool zone_leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/* The moment of the rule in that year, in local seconds since 1970; false outside the years of timestamps. */
static bool zone_moment(const zone_rule *r, int32_t year, int64_t *out) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool weekly = r->kind == 'M';
    const il_civil first = {.year = year, .month = weekly ? (uint8_t)r->month : 1, .day = 1};
    il_civil at;
    if (!il_civil_seconds(&first, out) || !il_time_civil((il_time){*out, 0}, 0, &at)) {
        return false;
    }
    int64_t day = r->day;
    if (r->kind == 'J') { /* February 29th is never counted */
        day += zone_leap(year) && r->day >= 60 ? 0 : -1;
    } else if (weekly) {
        int64_t last = days[r->month - 1] + (r->month == 2 && zone_leap(year) ? 1 : 0);
        day = (r->day - at.weekday + 7) % 7 + (r->week - 1) * 7;
        day -= day >= last ? 7 : 0; /* the fifth is the last one */
    }
    *out += day * 86400 + r->seconds;
    return true;
}

static bool zone_footer(il_str text, int64_t seconds, int32_t *east) {
    zone_text t = {text.p, text.n, 0};
    int64_t standard = 0, daylight = 0;
    zone_rule begins, ends;
    if (!zone_abbreviation(&t) || !zone_clock(&t, &standard)) {
        return false;
    }
    standard = -standard; /* POSIX counts westwards */
    if (t.at == t.n) {
        *east = (int32_t)standard;
        return true;
    }
    daylight = standard + 3600;
    if (!zone_abbreviation(&t)) {
        return false;
    }
    if (zone_peek(&t) != ',') {
        if (!zone_clock(&t, &daylight)) {
            return false;
        }
        daylight = -daylight;
    }
    if (!zone_rule_of(&t, &begins) || !zone_rule_of(&t, &ends) || t.at != t.n) {
        return false;
    }
    il_civil local;
    int64_t from = 0, to = 0;
    if (!il_time_civil((il_time){seconds, 0}, (int32_t)standard, &local) || !zone_moment(&begins, local.year, &from) ||
        !zone_moment(&ends, local.year, &to)) {
        return false;
    }
    from -= standard;
    to -= daylight;
    bool in = from < to ? seconds >= from && seconds < to : seconds >= from || seconds < to;
    *east = (int32_t)(in ? daylight : standard);
    return true;
}

/* The block with 64-bit times, whose header is `h`. */
static bool zone_block(const uint8_t *p, const zone_header *h, il_str footer, int64_t seconds, int32_t *east) {
    const uint8_t *times = p, *kinds = times + h->times * 8, *types = kinds + h->times;
    uint64_t at = 0;
    if (h->types == 0) {
        return false;
    }
    while (at < h->times && (int64_t)zone_big(times + at * 8, 8) <= seconds) {
        at++;
    }
    if (at == h->times && footer.n > 0) {
        return zone_footer(footer, seconds, east);
    }
    uint64_t type = at == 0 ? 0 : kinds[at - 1]; /* before the first: type 0 (RFC 8536, 3.2) */
    if (type >= h->types) {
        return false;
    }
    *east = (int32_t)(uint32_t)zone_big(types + type * 6, 4);
    return *east > -93600 && *east < 93600;
}

bool il_host_zone(void *ctx, il_str zone, int64_t seconds, int32_t *east) {
    uint8_t file[ZONE_FILE_BYTES];
    size_t n = 0;
    zone_header h;
    (void)ctx;
    if (!zone_named(zone) || !zone_read(zone, file, &n) || !zone_header_of(file, n, &h) || h.version < '2') {
        return false;
    }
    uint64_t at = ZONE_HEADER_BYTES + zone_block_bytes(&h, 4);
    if (at >= n || !zone_header_of(file + at, n - at, &h)) {
        return false;
    }
    at += ZONE_HEADER_BYTES;
    uint64_t bytes = zone_block_bytes(&h, 8);
    if (bytes > n - at || n - at - bytes < 2 || file[at + bytes] != '\n' || file[n - 1] != '\n') {
        return false;
    }
    il_str footer = {(const char *)file + at + bytes + 1, n - at - bytes - 2};
    return zone_block(file + at, &h, footer, seconds, east);
}
