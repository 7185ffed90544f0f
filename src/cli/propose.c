/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/propose.h"

#include "interlock/policy.h"

/* Words of tool names, each with a blank before and behind. */
static const char propose_untrusted[] = " fetch crawl scrape browse browser navigate web page pages url issue issues comment "
                                        "comments message messages mail email inbox thread "
                                        "replies history reviews review pull feed news download file attachment ";
static const char propose_sensitive[] =
    " read get list search query find retrieve show view export download fetch select dump history directory tree file files ";
static const char propose_secret[] = " env secret secrets token tokens credential credentials password passwords ";
static const char propose_egress[] = " send post create upload push publish reply comment share invite forward tweet notify add "
                                     "update patch submit navigate fetch crawl scrape "
                                     "request webhook fork message ";
static const char propose_commit[] =
    " delete remove drop pay purchase buy transfer merge deploy approve execute exec run kill revoke grant ";

/* Names of tools that open something that stays: others go on reading it, or it goes on sending. */
static const char propose_standing[] =
    " share publish invite fork subscribe watch connect open navigate browse browser upload sync session stream ";

typedef struct propose_argument {
    const char *names; /* as above */
    const char *kind;
} propose_argument;
static const propose_argument propose_to[] = {
    {" to cc bcc recipient recipients email emails attendees participants invitees ", "email"},
    {" url uri link webhook href endpoint ", "url"},
    {" channel channel_id channels ", "channel"},
    {" host hostname domain ", "host"},
};
static const char propose_reads[] =
    " text body message content title subject description comment summary markdown html query prompt ";

static bool propose_listed(const char *words, il_str word) {
    char padded[40];
    if (word.n == 0 || word.n + 2 >= sizeof padded) {
        return false;
    }
    const size_t n = il_format(padded, sizeof padded, " %.*s ", IL_STR_ARG(word));
    return il_str_find(il_str_of(words), (il_str){padded, n}, 0) != SIZE_MAX;
}

static char propose_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static bool propose_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Whether one of the name's words (`slack_postMessage`: slack, post, message) is listed. */
static bool propose_word(il_str name, const char *words) {
    char word[32];
    size_t n = 0;
    for (size_t i = 0; i <= name.n; i++) {
        const char c = i < name.n ? name.p[i] : '\0';
        const bool hump = i > 0 && c >= 'A' && c <= 'Z' && name.p[i - 1] >= 'a' && name.p[i - 1] <= 'z';
        if (!propose_letter(c) || hump) {
            if (propose_listed(words, (il_str){word, n})) {
                return true;
            }
            n = 0;
        }
        if (propose_letter(c) && n < sizeof word) {
            word[n++] = propose_lower(c);
        }
    }
    return false;
}

static const il_json *propose_arguments(const il_json *tool) {
    return il_json_get(il_json_get(tool, IL_STR("inputSchema")), IL_STR("properties"));
}

static const char *propose_kind(il_str argument) {
    for (size_t i = 0; i < sizeof propose_to / sizeof propose_to[0]; i++) {
        if (propose_listed(propose_to[i].names, argument)) {
            return propose_to[i].kind;
        }
    }
    return NULL;
}

uint32_t il_propose_effects(const il_json *tool) {
    const il_str name = il_json_text(il_json_get(tool, IL_STR("name")));
    const il_json *hints = il_json_get(tool, IL_STR("annotations"));
    const bool open = il_json_bool(il_json_get(hints, IL_STR("openWorldHint")));
    uint32_t effects = 0;
    effects |= propose_word(name, propose_untrusted) || open ? (uint32_t)IL_UNTRUSTED : 0;
    effects |= propose_word(name, propose_sensitive) ? (uint32_t)IL_SENSITIVE : 0;
    effects |= propose_word(name, propose_secret) ? (uint32_t)(IL_SECRET | IL_SENSITIVE) : 0;
    effects |= propose_word(name, propose_egress) || open ? (uint32_t)IL_EGRESS : 0;
    effects |= propose_word(name, propose_commit) ? (uint32_t)IL_COMMIT : 0;
    for (const il_json *a = il_json_first(propose_arguments(tool)); a; a = il_json_next(a)) {
        effects |= propose_kind(il_json_key(a)) ? (uint32_t)IL_EGRESS : 0;
    }
    return effects ? effects : (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE | IL_EGRESS);
}

/* Text as a double-quoted scalar when it needs to be one. */
static void propose_scalar(il_buf *out, il_str s) {
    bool plain = s.n > 0;
    for (size_t i = 0; i < s.n; i++) {
        plain = plain && (propose_letter(s.p[i]) ||
                          (i > 0 && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_' || s.p[i] == '-' || s.p[i] == '.')));
    }
    if (plain) {
        il_buf_put(out, s);
    } else {
        const il_json text = {.kind = IL_JSON_STRING, .text = s};
        il_json_write(out, &text, IL_JSON_AS_READ); /* a JSON string is a YAML scalar */
    }
}

static void propose_to_entry(il_buf *out, const il_json *arguments) {
    bool any = false;
    for (size_t i = 0; i < sizeof propose_to / sizeof propose_to[0]; i++) {
        uint32_t n = 0;
        for (const il_json *a = il_json_first(arguments); a; a = il_json_next(a)) {
            if (propose_listed(propose_to[i].names, il_json_key(a))) {
                il_buf_puts(out, n++ ? ", " : any ? ", " : ", to: { ");
                if (n == 1) {
                    il_buf_puts(out, propose_to[i].kind);
                    il_buf_puts(out, ": [");
                }
                propose_scalar(out, il_json_key(a));
            }
        }
        if (n) {
            il_buf_putc(out, ']');
            any = true;
        }
    }
    if (il_json_get(arguments, IL_STR("owner")) && il_json_get(arguments, IL_STR("repo"))) {
        il_buf_puts(out, any ? ", repo: \"{owner}/{repo}\"" : ", to: { repo: \"{owner}/{repo}\"");
        any = true;
    }
    if (any) {
        il_buf_puts(out, " }");
    }
}

static void propose_reads_entry(il_buf *out, const il_json *arguments) {
    bool any = false;
    for (const il_json *a = il_json_first(arguments); a; a = il_json_next(a)) {
        if (propose_listed(propose_reads, il_json_key(a))) {
            il_buf_puts(out, any ? ", " : ", reads: [");
            propose_scalar(out, il_json_key(a));
            any = true;
        }
    }
    if (any) {
        il_buf_putc(out, ']');
    }
}

/* Whether to ask for `sink: once`. It is asked and not proposed: what others can go on reading must stay standing, and only its author
 * knows. */
static bool propose_once_likely(il_str name, uint32_t effects) {
    return (effects & (uint32_t)IL_EGRESS) != 0 && !propose_word(name, propose_standing);
}

void il_propose_entry(il_buf *out, il_str server, const il_json *tool) {
    const uint32_t effects = il_propose_effects(tool);
    const il_json *arguments = propose_arguments(tool);
    const il_str name = il_json_text(il_json_get(tool, IL_STR("name")));
    bool any = false;
    il_buf_puts(out, "- { match: ");
    propose_scalar(out, server);
    il_buf_putc(out, '.');
    il_buf_put(out, name);
    il_buf_puts(out, ", effects: [");
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if (effects & UINT32_C(1) << i) {
            il_buf_puts(out, any ? ", " : "");
            il_buf_put(out, il_effect_name(UINT32_C(1) << i));
            any = true;
        }
    }
    il_buf_putc(out, ']');
    if (effects & (uint32_t)IL_EGRESS) {
        propose_to_entry(out, arguments);
        propose_reads_entry(out, arguments);
    }
    il_buf_puts(out, " }");
    if (propose_once_likely(name, effects)) {
        il_buf_puts(
            out, " # sink: once? if a call only sends and keeps nothing open; without it no human can release it. "
                 "audience: addressed? if nobody but the addressee reads there; without it nothing that a human typed vouches");
    }
}
