/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of electronic mail: `local@domain` and nothing around it. Quoted local parts, comments, display names, routing (`%`, `!`) and
 * address literals are refused; what follows a `+` is part of the address. Case is ignored on both sides, as mail systems in use do. */
#include "policy/kind_part.h"

static il_status il_email_refuse(il_error *err, const char *why) {
    return il_error_set(err, IL_E_INVALID, "not an email address: %s", why);
}

il_status il_email_read(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    size_t at = il_str_find(text, IL_STR("@"), 0);
    if (at == SIZE_MAX || at == 0 || at > 64 || text.n > 320) {
        return il_email_refuse(err, "it is not one name, `@` and a domain");
    }
    for (size_t i = 0; i < at; i++) {
        char c = text.p[i];
        bool dot = c == '.';
        if (!il_ascii_alnum(c) && !dot && c != '_' && c != '+' && c != '-' && c != '=' && c != '\'' && c != '&' && c != '~') {
            return il_email_refuse(err, "its name has a character that mail systems treat differently");
        }
        if (dot && (i == 0 || i + 1 == at || text.p[i - 1] == '.')) {
            return il_email_refuse(err, "its name begins, ends or doubles a dot");
        }
    }
    il_host_part host;
    IL_TRY(il_host_part_read(il_str_part(text, at + 1, text.n), arena, &host, err));
    if (host.literal || host.port.n > 0) {
        return il_email_refuse(err, "its domain is not a name");
    }
    size_t n = at + 1 + host.host.n;
    char *p = il_arena_bytes(arena, n);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    for (size_t i = 0; i <= at; i++) {
        p[i] = il_ascii_lower(text.p[i]);
    }
    memcpy(p + at + 1, host.host.p, host.host.n);
    *canonical = (il_str){p, n};
    return IL_OK;
}
