/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds that are read in one pass: repo, path, account, channel, name. */
#include "policy/kind_part.h"

static il_status il_simple_refuse(il_error *err, const char *what, const char *why) {
    return il_error_set(err, IL_E_INVALID, "not %s: %s", what, why);
}

/* `owner/name`, or more segments where groups nest. Forges ignore case and serve `name.git` as `name`: one spelling is accepted, so that
 * a name that is listed as public cannot be written in another way. */
il_status il_repo_read(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    if (text.n == 0 || text.n > 512) {
        return il_simple_refuse(err, "a repo", "it is empty or too long");
    }
    char *p = il_arena_bytes(arena, text.n);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    size_t from = 0, segments = 0;
    for (size_t i = 0; i <= text.n; i++) {
        if (i < text.n && text.p[i] != '/') {
            char c = text.p[i];
            if (!il_ascii_alnum(c) && c != '-' && c != '_' && c != '.') {
                return il_simple_refuse(err, "a repo", "segments have letters, digits, `-`, `_` and `.` only");
            }
            p[i] = il_ascii_lower(c);
            continue;
        }
        if (i == from || p[from] == '.' || p[i - 1] == '.') {
            return il_simple_refuse(err, "a repo", "a segment is empty, or begins or ends with a dot");
        }
        segments++;
        from = i + 1;
        if (i < text.n) {
            p[i] = '/';
        }
    }
    if (segments < 2 || segments > 8) {
        return il_simple_refuse(err, "a repo", "it is written `owner/name`");
    }
    *canonical = (il_str){p, text.n};
    if (il_str_ends(*canonical, IL_STR(".git"))) {
        return il_simple_refuse(err, "a repo", "write it without `.git`");
    }
    return IL_OK;
}

/* How many bytes name a home in front: `~` or `~ana`; 0: none. What a shell has more of (`~+`, `~1`) is no home. */
static size_t il_path_home(il_str text) {
    size_t n = text.n > 0 && text.p[0] == '~' ? 1 : 0;
    if (n > 0 && n < text.n && (il_ascii_alpha(text.p[n]) || text.p[n] == '_')) {
        while (n < text.n && (il_ascii_alnum(text.p[n]) || text.p[n] == '_' || text.p[n] == '-' || text.p[n] == '.')) {
            n++;
        }
    }
    return n == text.n || text.p[n] == '/' ? n : 0;
}

il_status il_path_read(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    if (text.n == 0 || text.n > 4096) {
        return il_simple_refuse(err, "a path", "it is empty or too long");
    }
    if (!il_text_visible(text) || il_str_find(text, IL_STR("\\"), 0) != SIZE_MAX) {
        return il_simple_refuse(err, "a path", "it has a backslash, a control or an invisible character");
    }
    const size_t home = il_path_home(text);
    if (text.p[0] != '/' && home == 0) {
        return il_simple_refuse(err, "a path", "it begins with `/`, `~/` or `~user/`");
    }
    char *p = il_arena_bytes(arena, text.n + 1);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    size_t n = home;
    memcpy(p, text.p, home);
    for (size_t i = home; i < text.n;) {
        while (i < text.n && text.p[i] == '/') {
            i++;
        }
        size_t start = i;
        while (i < text.n && text.p[i] != '/') {
            i++;
        }
        il_str segment = il_str_part(text, start, i);
        if (il_str_eq(segment, IL_STR(".."))) {
            return il_simple_refuse(err, "a path", "`..` is not accepted");
        }
        if (segment.n > 0 && !il_str_eq(segment, IL_STR("."))) {
            p[n++] = '/';
            memcpy(p + n, segment.p, segment.n);
            n += segment.n;
        }
    }
    if (n == 0) {
        p[n++] = '/';
    }
    *canonical = (il_str){p, n};
    return IL_OK;
}

/* IBAN and the like: letters and digits, single spaces between groups. The checksum is a bank's business: a number that does not verify
 * is still the number that the call names. */
il_status il_account_read(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    if (text.n == 0 || text.n > 64) {
        return il_simple_refuse(err, "an account", "it is empty or too long");
    }
    char *p = il_arena_bytes(arena, text.n);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (il_ascii_alnum(c)) {
            p[n++] = il_ascii_upper(c);
        } else if (c != ' ' || i == 0 || i + 1 == text.n || text.p[i - 1] == ' ') {
            return il_simple_refuse(err, "an account", "it has letters, digits and single spaces between them only");
        }
    }
    if (n < 4 || n > 34) {
        return il_simple_refuse(err, "an account", "it has 4 to 34 letters and digits");
    }
    *canonical = (il_str){p, n};
    return IL_OK;
}

/* Channel names and ids; a leading `#` says nothing. Ids differ by case, so case counts. */
il_status il_channel_read(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    if (text.n > 0 && text.p[0] == '#') {
        text = il_str_part(text, 1, text.n);
    }
    if (text.n == 0 || text.n > 128) {
        return il_simple_refuse(err, "a channel", "it is empty or too long");
    }
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!il_ascii_alnum(c) && c != '-' && c != '_' && c != '.' && !(i == 0 && c == '@')) {
            return il_simple_refuse(err, "a channel", "it has letters, digits, `-`, `_` and `.` only");
        }
    }
    return il_arena_copy(arena, text, canonical, err);
}

il_status il_name_read(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    if (text.n == 0 || text.n > 256) {
        return il_simple_refuse(err, "a name", "it is empty or too long");
    }
    if (!il_text_visible(text)) {
        return il_simple_refuse(err, "a name", "it has control or invisible characters");
    }
    if (text.p[0] == ' ' || text.p[text.n - 1] == ' ') {
        return il_simple_refuse(err, "a name", "it begins or ends with a space");
    }
    return il_arena_copy(arena, text, canonical, err);
}
