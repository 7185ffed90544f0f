/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, times, durations, offsets and addresses from anywhere: what one reader takes is written as a text that it reads as the
 * same value, and that text is written the same again. A double is read as glibc reads it, and its bits are what eight bytes of
 * input say. */
#include "base/double.h"
#include "base/ip.h"
#include "base/time.h"
#include "fuzz.h"

static void fuzz_double(double d) {
    static const il_double_form forms[] = {IL_DOUBLE_SHORT, IL_DOUBLE_PLAIN, IL_DOUBLE_JSON};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char out[IL_DOUBLE_TEXT];
        const size_t n = il_double_text(d, forms[i], out);
        const il_str text = {out, n};
        double back;
        FUZZ_CHECK(text.n <= IL_DOUBLE_TEXT &&
                   (il_double_finite(d) ? il_double_parse(text, &back) : il_double_parse_word(text, &back)));
        FUZZ_CHECK(il_double_nan(d)             ? il_double_nan(back)
                   : forms[i] == IL_DOUBLE_JSON ? back == d
                                                : il_double_bits(back) == il_double_bits(d));
    }
    FUZZ_CHECK(il_double_nan(d) || (il_double_floor(d) <= d && il_double_ceil(d) >= d));
}

static void fuzz_printed(double d, uint32_t precision) {
    const il_alloc alloc = fuzz_alloc();
    il_arena arena;
    il_buf b;
    il_str text = {NULL, 0};
    char own[2048];
    il_arena_init(&arena, &alloc, (size_t)1 << 20);
    il_buf_init(&b, &arena, sizeof own);
    il_double_exponent(&b, d, precision);
    FUZZ_CHECK(il_buf_done(&b, &text, NULL) == IL_OK);
    const int n = snprintf(own, sizeof own, "%.*e", (int)precision, d);
    FUZZ_CHECK(n > 0 && text.n == (size_t)n && memcmp(text.p, own, text.n) == 0);
    il_arena_free(&arena);
}

static void fuzz_number(il_str text) {
    double d;
    if (!il_double_parse(text, &d)) {
        FUZZ_CHECK(il_double_bits(d) == 0);
        return;
    }
    char *z = malloc(text.n + 1), *end;
    FUZZ_CHECK(z != NULL);
    memcpy(z, text.p, text.n);
    z[text.n] = '\0';
    FUZZ_CHECK(il_double_bits(strtod(z, &end)) == il_double_bits(d) && end == z + text.n);
    free(z);
    fuzz_double(d);
}

static void fuzz_times(il_str text) {
    il_time t, t2;
    int64_t nanos, nanos2;
    int32_t offset;
    if (il_time_parse(text, &t)) {
        char out[IL_TIME_TEXT];
        const size_t n = il_time_text(t, out);
        FUZZ_CHECK(il_time_valid(t) && il_time_parse((il_str){out, n}, &t2) && il_time_cmp(t, t2) == 0);
    } else {
        FUZZ_CHECK(t.seconds == 0 && t.nanos == 0);
    }
    if (il_duration_parse(text, &nanos)) {
        char out[IL_DURATION_TEXT];
        const size_t n = il_duration_text(nanos, out);
        FUZZ_CHECK(il_duration_parse((il_str){out, n}, &nanos2) && nanos == nanos2);
    } else {
        FUZZ_CHECK(nanos == 0);
    }
    FUZZ_CHECK(il_offset_parse(text, &offset) ? offset > -86400 && offset < 86400 : offset == 0);
}

static void fuzz_addresses(il_str text) {
    il_ip ip, ip2;
    il_cidr c, c2;
    char out[IL_CIDR_TEXT];
    if (il_ip_parse(text, &ip)) {
        const size_t n = il_ip_text(&ip, out);
        const il_str own = {out, n};
        FUZZ_CHECK(own.n <= IL_IP_TEXT && il_ip_parse(own, &ip2) && il_ip_eq(&ip, &ip2) && il_ip_canonical(own));
        FUZZ_CHECK(il_ip_canonical(text) == il_str_eq(text, own) && !il_cidr_parse(text, &c));
    }
    if (il_cidr_parse(text, &c)) {
        const size_t n = il_cidr_text(&c, out);
        FUZZ_CHECK(il_cidr_parse((il_str){out, n}, &c2) && il_ip_eq(&c.ip, &c2.ip) && c.prefix == c2.prefix);
        const il_cidr masked = il_cidr_masked(&c);
        FUZZ_CHECK(il_cidr_contains(&c, &masked.ip) && il_cidr_contains(&masked, &c.ip) && il_cidr_contains_cidr(&c, &masked));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_str text = {(const char *)data, size};
    fuzz_input in = {data, size};
    const double d = il_double_of_bits(fuzz_u64(&in));
    fuzz_double(d);
    if (il_double_finite(d)) {
        fuzz_printed(d, fuzz_u8(&in));
    }
    const il_time t = {(int64_t)fuzz_u64(&in), (int32_t)fuzz_u64(&in)};
    il_civil c;
    int64_t seconds;
    FUZZ_CHECK(il_time_civil(t, 0, &c) == il_time_valid(t));
    FUZZ_CHECK(!il_time_valid(t) || (il_civil_seconds(&c, &seconds) && seconds == t.seconds));
    fuzz_number(text);
    fuzz_times(text);
    fuzz_addresses(text);
    return 0;
}
