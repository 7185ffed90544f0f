/* SPDX-License-Identifier: Apache-2.0 */
/* The normal form of an Interbolt document, of which Interbolt takes its fingerprint: JSON with all members, also those that were left out, sorted, without
 * spaces, in ASCII. Written by hand: our own canonical text escapes other letters. */
#include "base/sha256.h"
#include "base/utf8.h"
#include "policy/interbolt.h"
#include "json/member.h"

#define IL_FORM_BYTES ((size_t)64 << 20)

static void il_form_unit(il_buf *b, uint32_t unit) {
    char text[8];
    il_buf_put(b, (il_str){text, il_format(text, sizeof text, "\\u%04x", (unsigned)unit)});
}

static void il_form_char(il_buf *b, uint32_t c) {
    static const char plain[] = "\"\\\b\f\n\r\t", named[] = "\"\\bfnrt";
    for (size_t i = 0; i + 1 < sizeof plain; i++) {
        if (c == (uint8_t)plain[i]) {
            il_buf_putc(b, '\\');
            il_buf_putc(b, named[i]);
            return;
        }
    }
    if (c >= 0x20 && c < 0x80) {
        il_buf_putc(b, (char)c);
    } else if (c < 0x10000) {
        il_form_unit(b, c);
    } else {
        il_form_unit(b, 0xd800 + ((c - 0x10000) >> 10));
        il_form_unit(b, 0xdc00 + ((c - 0x10000) & 0x3ff));
    }
}

static void il_form_text(il_buf *b, il_str text) {
    il_buf_putc(b, '"');
    for (size_t i = 0; i < text.n;) {
        const unsigned char *at = (const unsigned char *)text.p + i;
        const size_t n = il_utf8_length(at, text.n - i);
        il_form_char(b, n > 0 ? il_utf8_point(at, n) : *at);
        i += n > 0 ? n : 1;
    }
    il_buf_putc(b, '"');
}

/* `"key":` and the text, or null when there is none; `before` stands in front. */
static void il_form_member(il_buf *b, const char *before, const il_json *v, const char *otherwise) {
    il_buf_puts(b, before);
    if (il_json_kind_of(v) == IL_JSON_STRING) {
        il_form_text(b, il_json_text(v));
    } else {
        il_buf_puts(b, otherwise);
    }
}

static void il_form_list(il_buf *b, const il_json *list) {
    il_buf_putc(b, '[');
    for (const il_json *v = il_json_first(list); v != NULL; v = il_json_next(v)) {
        il_form_member(b, v == il_json_first(list) ? "" : ",", v, "null");
    }
    il_buf_putc(b, ']');
}

static void il_form_rule(il_buf *b, const il_json *rule) {
    il_form_member(b, "{\"action\":", il_json_get(rule, IL_STR("action")), "null");
    il_form_member(b, ",\"name\":", il_json_get(rule, IL_STR("name")), "null");
    il_form_member(b, ",\"require_endorsement\":", il_json_get(rule, IL_STR("require_endorsement")), "null");
    il_form_member(b, ",\"when\":", il_json_get(rule, IL_STR("when")), "null");
    il_buf_putc(b, '}');
}

static void il_form_sink(il_buf *b, const il_json *sink) {
    const il_json *capabilities = il_json_get(sink, IL_STR("capabilities")), *rules = il_json_get(sink, IL_STR("rules"));
    il_buf_puts(b, "{\"capabilities\":");
    if (il_json_kind_of(capabilities) == IL_JSON_ARRAY) {
        il_form_list(b, capabilities);
    } else {
        il_buf_puts(b, "null");
    }
    il_buf_puts(b, ",\"rules\":[");
    for (const il_json *r = il_json_first(rules); r != NULL; r = il_json_next(r)) {
        il_buf_puts(b, r == il_json_first(rules) ? "" : ",");
        il_form_rule(b, r);
    }
    il_buf_puts(b, "]}");
}

static void il_form_agent(il_buf *b, const il_json *agent) {
    il_buf_puts(b, "{\"groups\":");
    il_form_list(b, il_json_get(agent, IL_STR("groups")));
    il_buf_putc(b, '}');
}

/* Members in the order of their keys. */
static void il_form_map(il_buf *b, const il_json *map, void (*one)(il_buf *b, const il_json *v)) {
    const il_json *last = NULL;
    il_buf_putc(b, '{');
    for (size_t i = 0; i < il_json_count(map); i++) {
        const il_json *v = il_json_member_above(map, last);
        il_buf_puts(b, i > 0 ? "," : "");
        il_form_text(b, il_json_key(v));
        il_buf_putc(b, ':');
        one(b, v);
        last = v;
    }
    il_buf_putc(b, '}');
}

il_status il_interbolt_fingerprint(const il_json *doc, il_arena *scratch, uint8_t out[IL_DIGEST_BYTES], il_error *err) {
    const il_json *defaults = il_json_get(doc, IL_STR("defaults")), *sources = il_json_get(doc, IL_STR("sources"));
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, scratch, IL_FORM_BYTES);
    il_buf_puts(&b, "{\"agents\":");
    il_form_map(&b, il_json_get(doc, IL_STR("agents")), il_form_agent);
    il_form_member(&b, ",\"defaults\":{\"fail_mode\":", il_json_get(defaults, IL_STR("fail_mode")), "null");
    il_form_member(&b, ",\"sink_action\":", il_json_get(defaults, IL_STR("sink_action")), "\"require_approval\"");
    il_buf_puts(&b, "},\"sinks\":");
    il_form_map(&b, il_json_get(doc, IL_STR("sinks")), il_form_sink);
    il_buf_puts(&b, ",\"sources\":[");
    for (const il_json *s = il_json_first(sources); s != NULL; s = il_json_next(s)) {
        il_form_member(&b, s == il_json_first(sources) ? "{\"name\":" : ",{\"name\":", il_json_get(s, IL_STR("name")), "null");
        il_form_member(&b, ",\"trust\":", il_json_get(s, IL_STR("trust")), "null");
        il_buf_putc(&b, '}');
    }
    il_form_member(&b, "],\"version\":", il_json_get(doc, IL_STR("version")), "null");
    il_buf_putc(&b, '}');
    IL_TRY(il_buf_done(&b, &text, err));
    il_sha256_of(text, out);
    return IL_OK;
}
