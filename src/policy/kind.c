/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/kind.h"
#include "policy/kind_part.h"

static const char *const il_kind_words[] = {"email", "host", "url", "repo", "channel", "path", "account", "name"};
#define IL_KIND_COUNT (sizeof il_kind_words / sizeof il_kind_words[0])

bool il_kind_find(il_str word, il_kind *out) {
    for (size_t i = 0; i < IL_KIND_COUNT; i++) {
        if (il_str_eq(word, il_str_of(il_kind_words[i]))) {
            *out = (il_kind)i;
            return true;
        }
    }
    return false;
}

il_str il_kind_word(il_kind kind) { return (size_t)kind < IL_KIND_COUNT ? il_str_of(il_kind_words[kind]) : (il_str){0}; }

static il_status il_kind_host_value(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    il_host_part host;
    IL_TRY(il_host_part_read(text, arena, &host, err));
    if (host.port.n == 0) {
        *canonical = host.host;
        return IL_OK;
    }
    size_t n = host.host.n + 1 + host.port.n;
    char *p = il_arena_bytes(arena, n);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    memcpy(p, host.host.p, host.host.n);
    p[host.host.n] = ':';
    memcpy(p + host.host.n + 1, host.port.p, host.port.n);
    *canonical = (il_str){p, n};
    return IL_OK;
}

il_status il_kind_value(il_kind kind, il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    *canonical = (il_str){0};
    switch (kind < IL_KIND_CUSTOM ? kind : IL_KIND_CUSTOM) {
    case IL_KIND_EMAIL:
        return il_email_read(text, arena, canonical, err);
    case IL_KIND_HOST:
        return il_kind_host_value(text, arena, canonical, err);
    case IL_KIND_URL:
        return il_url_read(text, arena, canonical, err);
    case IL_KIND_REPO:
        return il_repo_read(text, arena, canonical, err);
    case IL_KIND_CHANNEL:
        return il_channel_read(text, arena, canonical, err);
    case IL_KIND_PATH:
        return il_path_read(text, arena, canonical, err);
    case IL_KIND_ACCOUNT:
        return il_account_read(text, arena, canonical, err);
    case IL_KIND_NAME:
    case IL_KIND_CUSTOM:
        return il_name_read(text, arena, canonical, err);
    }
    return il_error_set(err, IL_E_INVALID, "no such kind");
}

/* `.x`, `x:*`, `.x:*` or one host. */
static il_status il_kind_host_pattern(il_str text, il_arena *arena, il_kind_pattern *out, il_error *err) {
    if (il_str_ends(text, IL_STR(":*"))) {
        out->shape |= IL_SHAPE_ANY_PORT;
        text.n -= 2;
    }
    if (text.n > 0 && text.p[0] == '.') {
        out->shape |= IL_SHAPE_SUBDOMAINS;
        text = il_str_part(text, 1, text.n);
    }
    il_host_part host;
    IL_TRY(il_host_part_read(text, arena, &host, err));
    if (host.literal && (out->shape & IL_SHAPE_SUBDOMAINS) != 0) {
        return il_error_set(err, IL_E_INVALID, "an address has no subdomains");
    }
    if (host.port.n > 0 && out->shape != 0) {
        return il_error_set(err, IL_E_INVALID, "a port is written after one exact host only, or `:*` for any port");
    }
    return il_kind_host_value(text, arena, &out->text, err);
}

static il_status il_kind_email_pattern(il_str text, il_arena *arena, il_kind_pattern *out, il_error *err) {
    bool at = text.n > 0 && text.p[0] == '@';
    if (!at && !(text.n > 0 && text.p[0] == '.')) {
        return il_email_read(text, arena, &out->text, err);
    }
    out->shape = at ? IL_SHAPE_MAIL_DOMAIN : IL_SHAPE_SUBDOMAINS;
    il_host_part host;
    IL_TRY(il_host_part_read(il_str_part(text, 1, text.n), arena, &host, err));
    if (host.literal || host.port.n > 0) {
        return il_error_set(err, IL_E_INVALID, "a mail domain is a name");
    }
    out->text = host.host;
    return IL_OK;
}

/* Kinds that are made of segments: `prefix/` + `*`. The prefix is read as a value with a stand-in for the star. */
static il_status il_kind_prefix(il_kind kind, il_str text, il_arena *arena, il_kind_pattern *out, il_error *err) {
    char *p = il_arena_bytes(arena, text.n);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    memcpy(p, text.p, text.n);
    p[text.n - 1] = 'x';
    IL_TRY(il_kind_value(kind, (il_str){p, text.n}, arena, &out->text, err));
    out->text.n--;
    if (out->text.p[out->text.n] != 'x') {
        return il_error_set(err, IL_E_INVALID, "`*` stands for whole segments behind a host or a first segment");
    }
    out->shape = IL_SHAPE_PREFIX;
    if (kind == IL_KIND_PATH && out->text.n <= 1) {
        return il_error_set(err, IL_E_INVALID, "`/*` would list every path; name a folder");
    }
    if (kind == IL_KIND_URL &&
        (il_str_find(out->text, IL_STR("?"), 0) != SIZE_MAX || il_str_find(out->text, IL_STR("#"), 0) != SIZE_MAX)) {
        return il_error_set(err, IL_E_INVALID, "`*` stands for whole path segments only");
    }
    return IL_OK;
}

il_status il_kind_pattern_new(il_kind kind, il_str text, il_arena *arena, il_kind_pattern *out, il_error *err) {
    *out = (il_kind_pattern){.kind = kind};
    bool segments = kind == IL_KIND_URL || kind == IL_KIND_REPO || kind == IL_KIND_PATH;
    if (kind == IL_KIND_HOST) {
        IL_TRY(il_kind_host_pattern(text, arena, out, err));
    } else if (kind == IL_KIND_EMAIL) {
        IL_TRY(il_kind_email_pattern(text, arena, out, err));
    } else if (segments && il_str_ends(text, IL_STR("/*"))) {
        IL_TRY(il_kind_prefix(kind, text, arena, out, err));
    } else {
        IL_TRY(il_kind_value(kind, text, arena, &out->text, err));
    }
    /* A star that is not one of the signs above would be compared as a letter, which nobody means. */
    if (il_str_find(out->text, IL_STR("*"), 0) != SIZE_MAX) {
        return il_error_set(err, IL_E_INVALID,
                            segments ? "`*` stands for whole segments, at the end, after a `/`"
                                     : "`*` is not a sign of this kind");
    }
    return IL_OK;
}

size_t il_kind_port_at(il_str host) {
    for (size_t i = host.n; i > 0; i--) {
        if (host.p[i - 1] == ':') {
            return i - 1;
        }
        if (!il_ascii_digit(host.p[i - 1])) {
            break;
        }
    }
    return host.n;
}

static bool il_kind_under(il_str host, il_str parent) {
    if (il_str_eq(host, parent)) {
        return true;
    }
    return host.n > parent.n + 1 && host.p[host.n - parent.n - 1] == '.' && il_str_ends(host, parent);
}

bool il_kind_matches(const il_kind_pattern *pattern, il_str canonical) {
    if (canonical.n == 0) {
        return false;
    }
    if (pattern->shape == 0) {
        return il_str_eq(pattern->text, canonical);
    }
    if ((pattern->shape & IL_SHAPE_PREFIX) != 0) {
        if (!il_str_starts(canonical, pattern->text)) {
            return false;
        }
        size_t at = pattern->text.n;
        return at < canonical.n && canonical.p[at] != '/' && canonical.p[at] != '?' && canonical.p[at] != '#';
    }
    il_str value = pattern->kind == IL_KIND_EMAIL ? il_kind_host(IL_KIND_EMAIL, canonical) : canonical;
    if ((pattern->shape & IL_SHAPE_MAIL_DOMAIN) != 0) {
        return il_str_eq(pattern->text, value);
    }
    if ((pattern->shape & IL_SHAPE_ANY_PORT) != 0) {
        value = il_str_part(value, 0, il_kind_port_at(value));
    }
    return (pattern->shape & IL_SHAPE_SUBDOMAINS) != 0 ? il_kind_under(value, pattern->text) : il_str_eq(value, pattern->text);
}

il_str il_kind_host(il_kind kind, il_str canonical) {
    size_t from = 0, to = canonical.n;
    if (kind == IL_KIND_EMAIL) {
        from = il_str_find(canonical, IL_STR("@"), 0);
        from += from != SIZE_MAX ? 1 : 0;
    } else if (kind == IL_KIND_URL) {
        from = il_str_find(canonical, IL_STR("://"), 0);
        from += from != SIZE_MAX ? 3 : 0;
        to = il_str_find(canonical, IL_STR("/"), from);
    } else if (kind != IL_KIND_HOST) {
        from = SIZE_MAX;
    }
    if (from == SIZE_MAX || to == SIZE_MAX) {
        return (il_str){0};
    }
    return il_str_part(canonical, from, to);
}
