/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/progress.h"

#include <string.h>

#define PROGRESS_EXPONENT_MAX 100000 /* numbers this small are 0 to whoever draws a bar */

typedef struct progress_number { /* 0.DIGITS × 10^exponent, the first digit not 0; no digits: zero */
    bool negative;
    size_t n;
    char digits[IL_PROGRESS_BYTES];
    int64_t exponent;
} progress_number;

static progress_number progress_read(il_str s) {
    progress_number r = {.negative = s.n > 0 && s.p[0] == '-'};
    int64_t point = 0, given = 0; /* digits before the point that count; of the exponent */
    bool fraction = false;
    size_t i = r.negative ? 1 : 0;
    for (; i < s.n && s.p[i] != 'e' && s.p[i] != 'E'; i++) {
        const char c = s.p[i];
        if (c == '.') {
            fraction = true;
        } else if (r.n == 0 && c == '0') {
            point -= fraction; /* a zero before the first digit */
        } else if (r.n < sizeof r.digits) {
            r.digits[r.n++] = c;
            point += !fraction;
        }
    }
    const bool down = i + 1 < s.n && s.p[i + 1] == '-';
    for (i++; i < s.n && given < PROGRESS_EXPONENT_MAX; i++) {
        given = s.p[i] >= '0' && s.p[i] <= '9' ? 10 * given + (s.p[i] - '0') : given;
    }
    while (r.n > 0 && r.digits[r.n - 1] == '0') {
        r.n--;
    }
    r.exponent = point + (down ? -given : given);
    r.negative = r.negative && r.n > 0;
    return r;
}

/* Without their signs. */
static int progress_size(const progress_number *a, const progress_number *b) {
    if (a->n == 0 || b->n == 0) {
        return (a->n > 0) - (b->n > 0);
    }
    if (a->exponent != b->exponent) {
        return a->exponent < b->exponent ? -1 : 1;
    }
    return il_str_cmp((il_str){a->digits, a->n}, (il_str){b->digits, b->n});
}

int il_progress_cmp(il_str a, il_str b) {
    const progress_number x = progress_read(a), y = progress_read(b);
    if (x.negative != y.negative) {
        return x.negative ? -1 : 1;
    }
    return x.negative ? -progress_size(&x, &y) : progress_size(&x, &y);
}
