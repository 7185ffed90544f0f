/* SPDX-License-Identifier: Apache-2.0 */
/* How a reader's program turns text into something to click, to send to or to pay: the rules are those of mail clients, chat programs and
 * browsers, taken together, at their most generous. A bare host name is a URL when it begins with `www.` or carries something behind it;
 * `plan.txt` and `node.js` alone are words. */
#include "policy/text.h"

#include "base/utf8.h"
#include "policy/kind_part.h"

#define IL_TEXT_ROUNDS 4 /* of undoing percent and entity escapes */

typedef struct il_text_scan {
    il_arena *scratch;
    il_text_found found;
    void *ctx;
    uint32_t count;
    bool stopped, urls_only;
    bool plain; /* the text as a reader sees it, not with percent escapes undone: where bare hosts are linked */
} il_text_scan;

static bool il_text_report(il_text_scan *s, il_kind kind, il_str token) {
    s->count++;
    if (s->count > IL_TEXT_FOUND_MAX || !s->found(s->ctx, kind, token)) {
        s->stopped = true;
    }
    return !s->stopped;
}

static bool il_text_space(char c) { return (unsigned char)c <= 0x20 || c == 0x7f; }
static bool il_text_ends_url(char c) { return il_text_space(c) || c == '"' || c == '<' || c == '>' || c == '`'; }
static bool il_text_high(char c) { return ((unsigned char)c & 0x80u) != 0; }

static size_t il_text_url_end(il_str t, size_t from) {
    size_t end = from;
    while (end < t.n && !il_text_ends_url(t.p[end])) {
        end++;
    }
    return end;
}

/* The length of a sign that typography puts around a word: no-break spaces, quotation marks, dashes, bullet, ellipsis; else 0. None is in a
 * top-level domain, and none becomes a full stop when browsers normalise a host (the ellipsis becomes three, with nothing between). */
static size_t il_text_mark(il_str t, size_t at) {
    static const char *const marks[] = {"\xc2\xa0",     "\xe2\x80\xaf", "\xc2\xab",     "\xc2\xbb",     "\xe2\x80\x93",
                                        "\xe2\x80\x94", "\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9a", "\xe2\x80\x9c",
                                        "\xe2\x80\x9d", "\xe2\x80\x9e", "\xe2\x80\xa2", "\xe2\x80\xa6"};
    il_str rest = il_str_part(t, at, t.n);
    for (size_t i = 0; rest.n > 1 && il_text_high(rest.p[0]) && i < sizeof marks / sizeof marks[0]; i++) {
        if (il_str_starts(rest, il_str_of(marks[i]))) {
            return il_str_of(marks[i]).n;
        }
    }
    return 0;
}

/* Where the name in `t[from..end)` ends: before a mark, and in a URL before `'`, `,` or `;`, when nothing behind could be another label or
 * make user information of it. Then a reader who takes the sign as part of the name gets one that no zone has; all else stays unreadable. */
static size_t il_text_name_end(il_str t, size_t from, size_t end, bool url) {
    size_t cut = from;
    while (cut < end && il_text_mark(t, cut) == 0 && !(url && (t.p[cut] == '\'' || t.p[cut] == ',' || t.p[cut] == ';'))) {
        cut++;
    }
    for (size_t i = cut; i < end; i++) {
        char c = t.p[i];
        size_t mark = il_text_mark(t, i);
        if (c == '.' || c == '@' || c == '\\' || c == '%' || c == '&' || (il_text_high(c) && mark == 0)) {
            return end;
        }
        i += mark > 0 ? mark - 1 : 0;
    }
    return cut;
}

/* Punctuation that a sentence puts behind a URL. */
static il_str il_text_url_trim(il_str url) {
    static const char closing[] = ".,;:!?)]}'*_|";
    while (url.n > 0) {
        char last = url.p[url.n - 1];
        bool trim = false;
        for (size_t i = 0; i + 1 < sizeof closing; i++) {
            trim = trim || closing[i] == last;
        }
        if (!trim) {
            break;
        }
        url.n--;
    }
    return url;
}

/* The URL in `t[from..]` whose authority begins at `authority`. */
static il_str il_text_url(il_str t, size_t from, size_t authority) {
    il_str url = il_text_url_trim(il_str_part(t, from, il_text_url_end(t, authority)));
    size_t end = from + url.n, slash = authority;
    while (slash < end && t.p[slash] != '/' && t.p[slash] != '?' && t.p[slash] != '#') {
        slash++;
    }
    size_t cut = slash > authority ? il_text_name_end(t, authority, slash, true) : slash;
    return cut < slash ? il_str_part(t, from, cut) : url;
}

static bool il_text_scheme_char(char c) { return il_ascii_alnum(c) || c == '+' || c == '-' || c == '.'; }

/* The scheme in front of the colon at `colon`; empty when there is none. */
static il_str il_text_scheme(il_str t, size_t colon) {
    size_t from = colon;
    while (from > 0 && colon - from < 16 && il_text_scheme_char(t.p[from - 1])) {
        from--;
    }
    while (from < colon && !il_ascii_alpha(t.p[from])) {
        from++;
    }
    return il_str_part(t, from, colon);
}

static bool il_text_web_scheme(il_str scheme) {
    return il_str_eq_nocase(scheme, IL_STR("http")) || il_str_eq_nocase(scheme, IL_STR("https")) ||
           il_str_eq_nocase(scheme, IL_STR("ws")) || il_str_eq_nocase(scheme, IL_STR("wss")) ||
           il_str_eq_nocase(scheme, IL_STR("ftp"));
}

/* What opens a program that calls, pays, sends or runs scripts, and has no host that a policy could list. */
static bool il_text_opaque_scheme(il_str scheme) {
    static const char *const names[] = {
        "tel",  "sms",  "smsto", "mms",      "mmsto",   "callto",   "facetime",  "facetime-audio", "sip",
        "sips", "xmpp", "skype", "whatsapp", "bitcoin", "ethereum", "lightning", "javascript",     "vbscript"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (il_str_eq_nocase(scheme, il_str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

/* `data:` with a media type or content behind it. It may hold a page whose scripts build addresses, so nothing in it can be read. */
static bool il_text_data(il_str scheme, il_str behind) {
    bool sign = false;
    /* a longer first word is no media type, and plain text */
    for (size_t i = 0; i < behind.n && i < 256 && !il_text_ends_url(behind.p[i]); i++) {
        sign = sign || behind.p[i] == ',' || behind.p[i] == ';' || behind.p[i] == '/';
    }
    return sign && il_str_eq_nocase(scheme, IL_STR("data"));
}

/* `scheme://…`, and what a browser repairs to it: `https:/x`, `https:\\x`, `https:x`. */
static bool il_text_at_colon(il_text_scan *s, il_str t, size_t colon) {
    il_str scheme = il_text_scheme(t, colon);
    if (colon + 2 < t.n && t.p[colon + 1] == '/' && t.p[colon + 2] == '/') {
        if (scheme.n == 0) {
            return colon + 3 >= t.n || il_text_ends_url(t.p[colon + 3]) || il_text_report(s, IL_KIND_URL, (il_str){0});
        }
        size_t end = il_text_url_end(t, colon + 3);
        if ((end == t.n || t.p[end] == ' ') && il_text_url_trim(il_str_part(t, colon + 3, end)).n == 0) {
            return true; /* `https://` and nothing: a browser takes no space in a host */
        }
        return il_text_report(s, IL_KIND_URL, il_text_url(t, colon - scheme.n, colon + 3));
    }
    bool follows = colon + 1 < t.n && !il_text_ends_url(t.p[colon + 1]) && t.p[colon + 1] != '\'' && t.p[colon + 1] != ')' &&
                   t.p[colon + 1] != ',';
    if (!follows) {
        return true;
    }
    bool opaque = !s->urls_only &&
                  (il_text_opaque_scheme(scheme) || (scheme.n == 4 && il_text_data(scheme, il_str_part(t, colon + 1, t.n))));
    return !(opaque || il_text_web_scheme(scheme)) || il_text_report(s, IL_KIND_URL, (il_str){0});
}

static bool il_text_slash(char c) { return c == '/' || c == '\\'; }
static bool il_text_break(char c) { return c == '\t' || c == '\n' || c == '\r'; }

/* Full stops that browsers read as a dot of a host: U+3002, U+FF0E, U+FF61. */
static bool il_text_wide_dot(il_str t, size_t at) {
    il_str rest = il_str_part(t, at, t.n);
    return il_str_starts(rest, IL_STR("\xe3\x80\x82")) || il_str_starts(rest, IL_STR("\xef\xbc\x8e")) ||
           il_str_starts(rest, IL_STR("\xef\xbd\xa1"));
}

/* Reports a URL that was written without its scheme: what it stands on has one. */
static bool il_text_schemeless(il_text_scan *s, il_str t, size_t at) {
    il_str rest = il_text_url(t, at, at);
    char *p = il_arena_bytes(s->scratch, rest.n + 8);
    if (p == NULL) {
        return il_text_report(s, IL_KIND_URL, (il_str){0});
    }
    memcpy(p, "https://", 8);
    memcpy(p + 8, rest.p, rest.n);
    return il_text_report(s, IL_KIND_URL, (il_str){p, rest.n + 8});
}

/* `file:\\host.example\x`, which mail programs open as a share. `://`, and what browsers repair to it, is read at the colon; `C:\\x` is a drive. */
static bool il_text_share(il_str t, size_t at) {
    il_str scheme = il_text_scheme(t, at - 1);
    bool read = at + 1 < t.n && t.p[at] == '/' && t.p[at + 1] == '/';
    return scheme.n > 1 && !read && !il_text_web_scheme(scheme);
}

/* `//host.example/…`, which takes the scheme of the page that it stands on. Browsers read any number of slashes and backslashes so, drop tabs
 * and line ends between them, and know hosts without a dot: an IPv6 literal and one number of 32 bits. */
static bool il_text_at_slashes(il_text_scan *s, il_str t, size_t at) {
    bool scheme = at > 0 && t.p[at - 1] == ':' && !il_text_share(t, at);
    if (at > 0 && (scheme || il_text_slash(t.p[at - 1]) || il_ascii_alnum(t.p[at - 1]) || t.p[at - 1] == '.' ||
                   t.p[at - 1] == '_' || t.p[at - 1] == '-')) {
        return true;
    }
    size_t back = at;
    while (back > 0 && il_text_break(t.p[back - 1])) {
        back--;
    }
    if (back > 0 && back < at && il_text_slash(t.p[back - 1])) {
        return true; /* read with the slash before the break */
    }
    size_t from = at, slashes = 0;
    while (from < t.n && (il_text_slash(t.p[from]) || il_text_break(t.p[from]))) {
        slashes += il_text_slash(t.p[from]) ? 1u : 0u;
        from++;
    }
    if (slashes < 2) {
        return true;
    }
    size_t end = from;
    bool dot = false, number = true;
    while (end < t.n &&
           (il_ascii_alnum(t.p[end]) || t.p[end] == '-' || t.p[end] == '_' || t.p[end] == '.' || il_text_high(t.p[end]))) {
        dot = dot || (t.p[end] == '.' && end + 1 < t.n && (il_ascii_alnum(t.p[end + 1]) || il_text_high(t.p[end + 1]))) ||
              il_text_wide_dot(t, end);
        number =
            number && (il_ascii_digit(t.p[end]) || (end == from + 1 && t.p[from] == '0' && il_ascii_lower(t.p[end]) == 'x') ||
                       (end > from + 1 && il_ascii_lower(t.p[from + 1]) == 'x' && il_ascii_hex(t.p[end]) >= 0));
        end++;
    }
    if ((end == from && end < t.n && t.p[end] == '[') || (number && end - from >= 8 && !dot)) {
        return il_text_report(s, IL_KIND_URL, (il_str){0});
    }
    return !dot || il_text_schemeless(s, t, from);
}

/* `www.host.example`, which mail and chat programs make a link of. */
static bool il_text_at_www(il_text_scan *s, il_str t, size_t at) {
    size_t from = at;
    while (from > 0 && (t.p[from - 1] == '_' || t.p[from - 1] == '-')) {
        from--; /* emphasis and the sign of a list */
    }
    bool begins =
        from == 0 || !(il_ascii_alnum(t.p[from - 1]) || t.p[from - 1] == '/' || t.p[from - 1] == '.' || t.p[from - 1] == '@');
    bool www = begins && t.n - at > 4 && il_str_eq_nocase(il_str_part(t, at, at + 4), IL_STR("www.")) &&
               (il_ascii_alnum(t.p[at + 4]) || il_text_high(t.p[at + 4]));
    return !www || il_text_schemeless(s, t, at);
}

static bool il_text_local_char(char c) {
    return il_ascii_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-' || il_text_high(c);
}
static bool il_text_domain_char(char c) { return il_ascii_alnum(c) || c == '.' || c == '_' || c == '-' || il_text_high(c); }

/* Whether a bare host may begin at `t[at]`: not within a word, a path or an address, and not the digits of an escape in a URL. */
static bool il_text_host_begins(il_str t, size_t at, bool in_url) {
    if (at == 0) {
        return true;
    }
    char before = t.p[at - 1];
    if (before == '@') {
        return at == 1 || !(il_text_local_char(t.p[at - 2]) || il_text_slash(t.p[at - 2]));
    }
    bool escape = before == '%' && in_url && t.n - at >= 2 && il_ascii_hex(t.p[at]) >= 0 && il_ascii_hex(t.p[at + 1]) >= 0;
    return !escape && !il_text_domain_char(before) && !il_text_slash(before);
}

/* Letters, two or more, or punycode: what tells `evil.example/x` from `v1.2/x`. */
static bool il_text_top_label(il_str label) {
    size_t letters = 0;
    bool only = true;
    for (size_t i = 0; i < label.n; i++) {
        bool high = il_text_high(label.p[i]);
        only = only && (high || il_ascii_alpha(label.p[i]));
        letters += !high || ((unsigned char)label.p[i] & 0x40u) != 0 ? 1u : 0u;
    }
    return (only && letters >= 2) || (label.n > 4 && il_str_eq_nocase(il_str_part(label, 0, 4), IL_STR("xn--")));
}

/* Endings of file names that are no top-level domains: `Node.js/React`, `a.csv/b.csv`. `.md`, `.py`, `.sh`, `.zip` are both. */
static bool il_text_file_ending(il_str label) {
    static const char *const names[] = {"js",  "jsx",  "ts",  "tsx",  "json", "yaml", "yml",  "toml", "ini",
                                        "cfg", "conf", "log", "txt",  "csv",  "tsv",  "pdf",  "doc",  "docx",
                                        "xls", "xlsx", "ppt", "pptx", "html", "htm",  "xml",  "css",  "scss",
                                        "sql", "png",  "jpg", "jpeg", "gif",  "svg",  "java", "hpp",  "cpp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (il_str_eq_nocase(label, il_str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

static bool il_text_four_numbers(il_str host) {
    size_t dots = 0, digits = 0;
    for (size_t i = 0; i < host.n; i++) {
        dots += host.p[i] == '.' ? 1u : 0u;
        digits += il_ascii_digit(host.p[i]) ? 1u : 0u;
    }
    return dots == 3 && dots + digits == host.n;
}

/* `host.example/…`, `?…`, `#…`, with or without a port, which chat programs make a link of and fetch. `t[at]` begins a word. */
static bool il_text_at_host(il_text_scan *s, il_str t, size_t at, bool in_url) {
    if (!il_text_host_begins(t, at, in_url)) {
        return true;
    }
    size_t end = at, from = at, dot = SIZE_MAX;
    while (end < t.n && il_text_domain_char(t.p[end])) {
        size_t mark = il_text_mark(t, end);
        if (mark > 0) {
            end += mark;
            from = end; /* a name begins behind it */
            dot = SIZE_MAX;
            continue;
        }
        if (t.p[end] == '.' && (end == from || t.p[end - 1] == '.')) {
            from = end + 1; /* dots of a sentence */
            dot = SIZE_MAX;
        } else if (t.p[end] == '.' && end + 1 < t.n && il_text_domain_char(t.p[end + 1])) {
            dot = end;
        }
        end++;
    }
    size_t sign = end, digits = end + 1;
    while (end < t.n && t.p[end] == ':' && digits < t.n && digits - end <= 5 && il_ascii_digit(t.p[digits])) {
        sign = ++digits;
    }
    if (dot == SIZE_MAX || dot < from || sign >= t.n || !(t.p[sign] == '/' || t.p[sign] == '?' || t.p[sign] == '#')) {
        return true;
    }
    size_t label_end = t.p[end - 1] == '.' ? end - 1 : end;
    bool numbers = il_text_four_numbers(il_str_part(t, from, label_end));
    il_str last = il_str_part(t, dot + 1, label_end);
    if (!numbers && (!il_text_top_label(last) || il_text_file_ending(last))) {
        return true;
    }
    size_t behind = il_text_url_end(t, sign + 1);
    il_str rest = il_text_url_trim(il_str_part(t, sign + 1, behind));
    if (rest.n == 0 && behind - sign <= 4) {
        return true; /* a folder, or the end of a sentence; more signs than that could be a code */
    }
    bool mask = numbers && rest.n <= 2; /* 10.0.0.0/8 is a network */
    for (size_t i = 0; i < rest.n && mask; i++) {
        mask = il_ascii_digit(rest.p[i]);
    }
    if (mask) {
        return true;
    }
    return il_text_schemeless(s, t, from);
}

/* `4.17.21` of `lodash@4.17.21`, `v4`: no host is all numbers but an address, and that has four. Longer numbers could be an address in one. */
static bool il_text_version(il_str host) {
    size_t digits = 0;
    if (il_text_four_numbers(host)) {
        return false;
    }
    for (size_t i = host.n > 1 && host.p[0] == 'v' ? 1 : 0; i < host.n; i++) {
        digits = il_ascii_digit(host.p[i]) ? digits + 1 : 0;
        if (digits > 4 || !(digits > 0 || host.p[i] == '.')) {
            return false;
        }
    }
    return host.n > 0;
}

/* What else RFC 5322 lets stand in a name, but for the signs of URLs, where `/@name` is no address. */
static bool il_text_atom_sign(char c) { return il_str_find(IL_STR("!$%&'*^`{|}~"), (il_str){&c, 1}, 0) != SIZE_MAX; }

static bool il_text_at_sign(il_text_scan *s, il_str t, size_t at) {
    size_t from = at, to = at + 1;
    bool dot = false;
    while (from > 0 && at - from < 65 && il_text_local_char(t.p[from - 1])) {
        from--;
    }
    while (to < t.n && to - at < 320 && il_text_domain_char(t.p[to])) {
        to++;
    }
    while (to > at + 1 && (t.p[to - 1] == '.' || t.p[to - 1] == '-' || t.p[to - 1] == '_')) {
        to--;
    }
    for (size_t i = at + 1; i < to; i++) {
        dot = dot || t.p[i] == '.';
    }
    bool literal = at + 1 < t.n && t.p[at + 1] == '[';
    if (literal && from < at) {
        return il_text_report(s, IL_KIND_EMAIL, (il_str){0});
    }
    to = il_text_name_end(t, at + 1, to, false);
    if (to == at + 1 || il_text_version(il_str_part(t, at + 1, to))) {
        return true; /* nothing behind the sign, or a number */
    }
    char before = from > 0 ? t.p[from - 1] : ' ';
    bool routed = before == '%' || before == '!' || before == '"' || before == '@';
    if (from == at) {
        /* `@name` is a mention; `"…"@host.example` and `bob!@host.example` are addresses that we do not read */
        size_t name = at;
        while (name > 0 && il_text_atom_sign(t.p[name - 1])) {
            name--;
        }
        bool quoted = before == '"' || (name < at && name > 0 && il_text_local_char(t.p[name - 1]));
        return !(dot && quoted) || il_text_report(s, IL_KIND_EMAIL, (il_str){0});
    }
    if (before == '"' && from > 0) {
        routed = false; /* "bob@x.example": quotes around an address, not around a local part */
    }
    for (size_t i = from; i < at; i++) {
        size_t mark = il_text_mark(t, i);
        from = mark > 0 && i + mark < at ? i + mark : from; /* the name begins behind it */
        i += mark > 0 ? mark - 1 : 0;
    }
    while (from < at && t.p[from] == '.') {
        from++; /* dots of a sentence */
    }
    return il_text_report(s, IL_KIND_EMAIL, il_str_part(t, from, routed ? from : to));
}

/* ISO 13616: the first four characters go to the end, letters count 10 to 35, the number is 1 modulo 97. */
static bool il_text_iban_checks(il_str s) {
    unsigned r = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = il_ascii_upper(s.p[(i + 4) % s.n]);
        r = il_ascii_digit(c) ? (r * 10 + (unsigned)(c - '0')) % 97 : (r * 100 + (unsigned)(c - 'A' + 10)) % 97;
    }
    return r == 1;
}

/* Behind what may stand between two groups of a number: up to three spaces, hyphens or dots. */
static size_t il_text_gap(il_str t, size_t at) {
    for (int i = 0; i < 3; i++) {
        il_str rest = il_str_part(t, at, t.n);
        if (rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '-' || rest.p[0] == '.' || rest.p[0] == '\t')) {
            at++;
        } else if (il_str_starts(rest, IL_STR("\xc2\xa0"))) {
            at += 2; /* no-break space */
        } else if (il_str_starts(rest, IL_STR("\xe2\x80\xaf")) || il_str_starts(rest, IL_STR("\xe2\x80\x89"))) {
            at += 3; /* narrow and thin space */
        }
    }
    return at;
}

/* `t[at]` begins a word. Compact and in capitals counts without its checksum; lower case and groups only with it. */
static bool il_text_at_word(il_text_scan *s, il_str t, size_t at) {
    if (t.n - at < 15 || !il_ascii_alpha(t.p[at]) || !il_ascii_alpha(t.p[at + 1]) || !il_ascii_digit(t.p[at + 2]) ||
        !il_ascii_digit(t.p[at + 3])) {
        return true;
    }
    char joined[34];
    size_t n = 0, i = at, best = 0; /* the beginning of one may check as well: the longest counts */
    bool capitals = true;
    for (bool grouped = false, more = true; more; grouped = true) {
        size_t from = i;
        while (i < t.n && il_ascii_alnum(t.p[i]) && n < sizeof joined) {
            capitals = capitals && il_ascii_upper(t.p[i]) == t.p[i];
            joined[n++] = t.p[i++];
        }
        if (i < t.n && il_ascii_alnum(t.p[i])) {
            break; /* too long to be one */
        }
        if (n >= 15 && ((!grouped && capitals) || il_text_iban_checks((il_str){joined, n}))) {
            best = n;
        }
        size_t gap = il_text_gap(t, i);
        more = i - from == 4 && gap > i && gap < t.n && il_ascii_alnum(t.p[gap]) && n < sizeof joined;
        i = gap;
    }
    if (best == 0) {
        return true;
    }
    il_str token = {0};
    if (il_arena_copy(s->scratch, (il_str){joined, best}, &token, NULL) != IL_OK) {
        token = (il_str){0};
    }
    return il_text_report(s, IL_KIND_ACCOUNT, token);
}

/* U+FF20 and U+FE6B, which normalise to `@`. */
static bool il_text_wide_at(il_str t, size_t at) {
    il_str rest = il_str_part(t, at, t.n);
    bool wide = il_str_starts(rest, IL_STR("\xef\xbc\xa0")) || il_str_starts(rest, IL_STR("\xef\xb9\xab"));
    return wide && rest.n > 3 && il_text_domain_char(rest.p[3]) && at > 0 && il_text_local_char(t.p[at - 1]);
}

/* `t[at]` is a letter, a digit or the like. */
static void il_text_at_letter(il_text_scan *s, il_str t, size_t at, bool in_url) {
    uint32_t before = s->count;
    bool begins = il_ascii_alpha(t.p[at]) && (at == 0 || !il_ascii_alnum(t.p[at - 1]));
    if (begins) {
        (void)il_text_at_www(s, t, at);
    }
    if (s->plain && s->count == before) {
        (void)il_text_at_host(s, t, at, in_url);
    }
    if (begins && !s->stopped) {
        (void)il_text_at_word(s, t, at);
    }
}

/* Whether a value of a URL's query or fragment begins at `t[at]`: what a redirect is told may lack its scheme. */
static bool il_text_value_begins(bool query, il_str t, size_t at) {
    return query && at > 0 && il_str_find(IL_STR("=?#&"), il_str_part(t, at - 1, at), 0) != SIZE_MAX;
}

static void il_text_pass(il_text_scan *s, il_str t) {
    bool query = false;  /* of one URL: behind its path */
    bool in_url = false; /* behind `scheme://`, with nothing since where a reader's program could end it */
    for (size_t i = 0; i < t.n && !s->stopped; i++) {
        char c = t.p[i];
        if (c == ':' && i + 2 < t.n && t.p[i + 1] == '/' && t.p[i + 2] == '/' && i > 0 && il_ascii_alnum(t.p[i - 1])) {
            in_url = true;
        } else if (!(il_text_domain_char(c) || c == '%' || c == '~' || c == '/' || c == ':')) {
            in_url = false;
        }
        query = query || (s->urls_only && (c == '?' || c == '#'));
        if (il_text_domain_char(c) && il_text_value_begins(query, t, i)) {
            (void)il_text_at_host(s, t, i, true);
        }
        if (c == ':') {
            (void)il_text_at_colon(s, t, i);
        } else if (il_text_slash(c)) {
            (void)il_text_at_slashes(s, t, i);
        } else if (!s->urls_only && c == '@') {
            (void)il_text_at_sign(s, t, i);
        } else if (!s->urls_only && c == '\xef' && il_text_wide_at(t, i)) {
            (void)il_text_report(s, IL_KIND_EMAIL, (il_str){0});
        } else if (!s->urls_only && il_text_domain_char(c)) {
            il_text_at_letter(s, t, i, in_url);
        }
    }
}

/* One HTML character reference at `t[at]` (`&#58;`, `&#x3a`, `&colon;`, …): its length in the text, 0 when there is none. */
static size_t il_text_entity(il_str t, size_t at, char out[4], size_t *n) {
    static const struct {
        const char *name;
        char c;
    } named[] = {{"&amp;", '&'},    {"&colon;", ':'},    {"&sol;", '/'}, {"&bsol;", '\\'},  {"&period;", '.'},
                 {"&commat;", '@'}, {"&quest;", '?'},    {"&num;", '#'}, {"&percnt;", '%'}, {"&equals;", '='},
                 {"&Tab;", '\t'},   {"&NewLine;", '\n'}, {"&AMP;", '&'}, {"&comma;", ','}};
    il_str rest = il_str_part(t, at, t.n);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (il_str_starts(rest, il_str_of(named[i].name))) {
            out[0] = named[i].c;
            *n = 1;
            return il_str_of(named[i].name).n;
        }
    }
    if (rest.n < 3 || rest.p[1] != '#') {
        return 0;
    }
    bool hex = il_ascii_lower(rest.p[2]) == 'x';
    size_t i = hex ? 3 : 2, from = i;
    uint32_t c = 0;
    while (i < rest.n) {
        int d = hex ? il_ascii_hex(rest.p[i]) : il_ascii_digit(rest.p[i]) ? rest.p[i] - '0' : -1;
        if (d < 0) {
            break;
        }
        c = c * (hex ? 16u : 10u) + (uint32_t)d;
        if (c > 0x10ffff) {
            return 0;
        }
        i++;
    }
    if (i == from || c == 0 || (c >= 0xd800 && c <= 0xdfff)) {
        return 0;
    }
    *n = il_utf8_put(c, out);
    return i < rest.n && rest.p[i] == ';' ? i + 1 : i;
}

/* Undoes one layer of escapes into a fresh copy; *out is the text itself when there was nothing to undo. */
static il_status il_text_undo(il_text_scan *s, il_str t, bool percent, il_str *out, il_error *err) {
    *out = t;
    char *p = il_arena_bytes(s->scratch, t.n);
    if (p == NULL) {
        return il_arena_fail(s->scratch, err);
    }
    size_t n = 0;
    bool changed = false;
    for (size_t i = 0; i < t.n; i++) {
        char c[4] = {t.p[i], 0, 0, 0};
        size_t width = 1, skip = 0;
        if (percent && t.p[i] == '%' && t.n - i >= 3 && il_ascii_hex(t.p[i + 1]) >= 0 && il_ascii_hex(t.p[i + 2]) >= 0) {
            c[0] = (char)(il_ascii_hex(t.p[i + 1]) * 16 + il_ascii_hex(t.p[i + 2]));
            skip = 3;
        } else if (t.p[i] == '&') {
            skip = il_text_entity(t, i, c, &width);
        }
        if (skip > 0) {
            changed = true;
            i += skip - 1;
        } else {
            width = 1;
        }
        /* a reference is never shorter than the character that it stands for */
        memcpy(p + n, c, width);
        n += width;
    }
    if (changed) {
        *out = (il_str){p, n};
    }
    return IL_OK;
}

/* Undoes layer after layer and looks at each. What is still escaped after the last round is reported as unreadable. */
static il_status il_text_layers(il_text_scan *s, il_str t, bool percent, il_error *err) {
    s->plain = !percent && !s->urls_only;
    for (int round = 0; round < IL_TEXT_ROUNDS && !s->stopped; round++) {
        il_str next;
        IL_TRY(il_text_undo(s, t, percent, &next, err));
        if (next.p == t.p) {
            return IL_OK;
        }
        t = next;
        il_text_pass(s, t);
    }
    if (!s->stopped) {
        il_str next;
        IL_TRY(il_text_undo(s, t, percent, &next, err));
        if (next.p != t.p) {
            (void)il_text_report(s, IL_KIND_URL, (il_str){0});
        }
    }
    return IL_OK;
}

static il_status il_text_limit(const il_text_scan *s, il_error *err) {
    if (s->count > IL_TEXT_FOUND_MAX) {
        return il_error_set(err, IL_E_LIMIT, "a text names more than %u destinations", IL_TEXT_FOUND_MAX);
    }
    return IL_OK;
}

/* Everything behind the authority of the first URL of a run. */
static il_str il_text_behind_authority(il_str run) {
    size_t at = il_str_find(run, IL_STR("://"), 0);
    if (at == SIZE_MAX) {
        return (il_str){0};
    }
    at += 3;
    while (at < run.n && run.p[at] != '/' && run.p[at] != '?' && run.p[at] != '#') {
        at++;
    }
    return il_str_part(run, at, run.n);
}

il_status il_text_nested(il_str url, il_arena *scratch, il_text_found found, void *ctx, il_error *err) {
    il_text_scan s = {.scratch = scratch, .found = found, .ctx = ctx, .urls_only = true};
    il_str rest = il_text_behind_authority(url);
    if (rest.n == 0) {
        return IL_OK;
    }
    il_text_pass(&s, rest);
    IL_TRY(il_text_layers(&s, rest, true, err));
    return il_text_limit(&s, err);
}

il_status il_text_destinations(il_str text, il_arena *scratch, il_text_found found, void *ctx, il_error *err) {
    il_text_scan s = {.scratch = scratch, .found = found, .ctx = ctx, .plain = true};
    il_text_pass(&s, text);
    IL_TRY(il_text_layers(&s, text, false, err)); /* a mail in HTML */
    /* URLs inside URLs: one run at a time, and what a run holds is undone once for all the URLs in it */
    for (size_t i = 0; i < text.n && !s.stopped;) {
        if (il_text_ends_url(text.p[i])) {
            i++;
            continue;
        }
        size_t end = il_text_url_end(text, i);
        il_str rest = il_text_behind_authority(il_str_part(text, i, end));
        /* without a scheme, such as `//host/?u=https%3A…` or `mailto:bob%40host.example`: the whole run */
        il_str run = rest.n > 0 ? rest : il_str_part(text, i, end);
        if (il_str_find(run, IL_STR("%"), 0) != SIZE_MAX || rest.n > 0) {
            IL_TRY(il_text_layers(&s, run, true, err));
        }
        i = end;
    }
    return il_text_limit(&s, err);
}
