/* SPDX-License-Identifier: Apache-2.0 */
/* base64 (RFC 4648, the standard alphabet). Written with padding. Read as cel-go reads it: with all of the padding or none,
 * line ends anywhere, and unused bits of the last character as they are. */
#include "cel/fn.h"

il_cel_value il_cel_fn_base64_encode(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (void)nargs;
    if (args[0].kind != IL_CEL_BYTES) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const unsigned char *s = (const unsigned char *)args[0].u.p;
    const uint64_t n = ((uint64_t)args[0].n + 2) / 3 * 4;
    char *p = n > UINT32_MAX || !il_cel_charge_text(r, args[0].n) ? NULL : il_cel_room(r, (size_t)n);
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t at = 0;
    for (size_t i = 0; i < args[0].n; i += 3) {
        const size_t left = args[0].n - i;
        const uint32_t v = (uint32_t)s[i] << 16 | (left > 1 ? (uint32_t)s[i + 1] << 8 : 0) | (left > 2 ? s[i + 2] : 0u);
        p[at++] = letters[v >> 18];
        p[at++] = letters[v >> 12 & 63];
        p[at++] = left > 1 ? letters[v >> 6 & 63] : '=';
        p[at++] = left > 2 ? letters[v & 63] : '=';
    }
    return il_cel_of_str((il_str){p, at});
}

/* 0 to 63; 64 for a character that is none of the alphabet. */
static uint32_t encode_value(char c) {
    if (c >= 'A' && c <= 'Z') {
        return (uint32_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint32_t)(c - 'a') + 26;
    }
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0') + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

il_cel_value il_cel_fn_base64_decode(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind != IL_CEL_STRING) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const il_str s = il_cel_str(args[0]);
    char *p = il_cel_charge_text(r, s.n) ? il_cel_room(r, s.n / 4 * 3 + 3) : NULL;
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    size_t at = 0, letters = 0, padding = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\r' || s.p[i] == '\n') {
            continue;
        }
        if (s.p[i] == '=') {
            padding++;
            continue;
        }
        const uint32_t v = encode_value(s.p[i]);
        if (v > 63 || padding > 0) {
            return il_cel_of_fault(IL_CEL_BAD_VALUE);
        }
        bits = bits << 6 | v;
        if (++letters % 4 == 0) {
            p[at++] = (char)(bits >> 16 & 255);
            p[at++] = (char)(bits >> 8 & 255);
            p[at++] = (char)(bits & 255);
        }
    }
    const size_t rest = letters % 4; /* 2 letters are one byte, 3 are two */
    if (rest == 1 || (padding > 0 && (rest == 0 || rest + padding != 4))) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    if (rest > 1) {
        p[at++] = (char)(bits >> (rest == 2 ? 4 : 10) & 255);
    }
    if (rest > 2) {
        p[at++] = (char)(bits >> 2 & 255);
    }
    return il_cel_of_bytes((il_str){p, at});
}

il_cel_bound il_cel_bound_encode(const uint64_t *sizes, uint32_t n) {
    const uint64_t size = n > 0 ? il_cel_cost_mul(il_cel_cost_add(sizes[0], 2) / 3, 4) : 0;
    return (il_cel_bound){il_cel_cost_add(2 + size / 64, size / 64), size};
}

il_cel_bound il_cel_bound_decode(const uint64_t *sizes, uint32_t n) {
    const uint64_t size = n > 0 ? sizes[0] / 4 * 3 + 3 : 3;
    return (il_cel_bound){il_cel_cost_add(3 + size / 32, size / 64), size};
}
