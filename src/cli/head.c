/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/head.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/options.h"

/* A digest as it is printed: what was typed otherwise is a mistake, and no finding. */
static bool head_is_digest(il_str s) {
    for (size_t i = 0; i < s.n; i++) {
        if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'f')) {
            return false;
        }
    }
    return s.n == IL_DIGEST_HEX - 1;
}

il_status il_head_read(il_head *h, il_error *err) {
    const il_str flag = il_str_of(h->flag ? h->flag : "");
    char number[24];
    size_t at = 0;
    while (at < flag.n && flag.p[at] != ':') {
        at++;
    }
    const il_str hash = il_str_part(flag, at < flag.n ? at + 1 : at, flag.n);
    if (!h->flag) {
        return IL_OK;
    }
    (void)il_format(number, sizeof number, "%.*s", IL_STR_ARG(il_str_part(flag, 0, at)));
    if (!head_is_digest(hash) || at == 0 || at >= sizeof number) {
        return il_error_set(err, IL_E_INVALID, "`--head` takes ROW:HASH as an earlier `ledger verify` printed it");
    }
    (void)il_format(h->hash, sizeof h->hash, "%.*s", IL_STR_ARG(hash));
    return il_options_number("head", number, INT64_MAX, &h->seq, err);
}

bool il_head_is(const il_head *h, const il_ledger_row *row) {
    char hash[IL_DIGEST_HEX], body[160];
    il_digest_hex(row->hash, hash);
    if (row->seq == h->seq && strcmp(hash, h->hash) == 0) {
        return true;
    }
    const size_t n =
        il_format(body, sizeof body, "{\"from\":1,\"head\":\"%s\",\"rows\":%llu,\"v\":1}", h->hash, (unsigned long long)h->seq);
    return il_str_eq(row->kind, IL_STR("upgrade")) && il_str_eq(row->body, (il_str){body, n});
}
