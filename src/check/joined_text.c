/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet and a comparison of versions for people, from their objects. */
#include "check/fleet.h"
#include "check/widening.h"

static void joined_pad(il_buf *b, size_t from, size_t width) {
    for (size_t n = b->n - from; n < width; n++) {
        il_buf_putc(b, ' ');
    }
}

static void joined_put(il_buf *b, const il_json *o, const char *key) {
    il_buf_put(b, il_json_text(il_json_get(o, il_str_of(key))));
}

static bool joined_has(const il_json *o, const char *key) {
    const il_json *v = il_json_get(o, il_str_of(key));
    return il_json_kind_of(v) == IL_JSON_STRING || il_json_kind_of(v) == IL_JSON_NUMBER;
}

static bool joined_is(const il_json *o, const char *key, const char *text) {
    const il_json *v = il_json_get(o, il_str_of(key));
    return il_json_kind_of(v) == IL_JSON_STRING && il_str_eq(il_json_text(v), il_str_of(text));
}

static void joined_control(const il_json *c, il_buf *b) {
    if (!joined_is(c, "state", "not needed")) {
        il_buf_puts(b, "control: ");
        joined_put(b, c, "what");
        il_buf_puts(b, ": ");
        joined_put(b, c, "state");
        il_buf_putc(b, '\n');
    }
}

/* A path, without what moves a terminal's cursor. */
static void joined_put_name(il_buf *b, const char *name) {
    for (; *name; name++) {
        il_buf_putc(b, (unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
    }
}

/* The block's own last line: the word about the proof of one session stands above, and is another question's. */
static void joined_word(const il_json *o, const char *failed, const char *open, il_buf *b) {
    int64_t code = 0;
    if (!il_json_int(il_json_get(o, IL_STR("exit")), &code) || code == 0) {
        return;
    }
    il_buf_puts(b, code == 4 ? "NO VERDICT HERE: an instrument failed\n" : code == 1 ? failed : open);
    il_buf_puts(b, code == 4 ? "" : code == 1 ? ": see the failed lines\n" : ": see the lines that are not settled\n");
}

/* `1: take  2 begins: join{sensitive}  2 answers: join{sensitive}  1 is renewed` */
static void fleet_text_witness(const il_json *witness, il_buf *b) {
    for (const il_json *s = il_json_first(witness); s; s = il_json_next(s)) {
        il_buf_puts(b, s == il_json_first(witness) ? "" : "  ");
        joined_put(b, s, "instance");
        il_buf_puts(b, joined_is(s, "move", "start")    ? " begins"
                       : joined_is(s, "move", "answer") ? " answers"
                       : joined_is(s, "move", "renew")  ? " is renewed"
                                                        : "");
        if (joined_has(s, "step")) {
            il_buf_puts(b, ": ");
            joined_put(b, s, "step");
        }
    }
}

void il_fleet_text(const il_json *o, il_buf *b) {
    il_buf_puts(b, il_json_bool(il_json_get(o, IL_STR("family"))) ? "\na family of " : "\na fleet of ");
    joined_put(b, o, "instances");
    il_buf_puts(b, ": ");
    joined_put(b, o, "states");
    il_buf_puts(b, " states, ");
    joined_put(b, o, "edges");
    il_buf_puts(b, " steps, up to the order of alike sessions");
    if (joined_has(o, "bound_hit")) {
        il_buf_puts(b, "; a bound was reached: ");
        joined_put(b, o, "bound_hit");
    }
    il_buf_putc(b, '\n');
    for (const il_json *c = il_json_first(il_json_get(o, IL_STR("checks"))); c; c = il_json_next(c)) {
        const size_t from = b->n;
        joined_put(b, c, "verdict");
        joined_pad(b, from, 14);
        joined_put(b, c, "id");
        if (joined_has(c, "name")) {
            joined_pad(b, from, 31);
            joined_put(b, c, "name");
        }
        if (joined_has(c, "kind")) {
            il_buf_puts(b, "  ");
            joined_put(b, c, "kind");
            il_buf_puts(b, joined_is(c, "kind", "unique") ? "" : " at most ");
            if (!joined_is(c, "kind", "unique")) {
                joined_put(b, c, "most");
            }
            il_buf_puts(b, ", counted at once: ");
            joined_put(b, c, "peak");
        }
        if (joined_has(c, "finding")) {
            il_buf_puts(b, "  ");
            joined_put(b, c, "finding");
        }
        if (joined_has(c, "detail")) {
            il_buf_puts(b, ": ");
            joined_put(b, c, "detail");
        }
        il_buf_putc(b, '\n');
        if (il_json_kind_of(il_json_get(c, IL_STR("witness"))) == IL_JSON_ARRAY) {
            il_buf_puts(b, "              witness: ");
            fleet_text_witness(il_json_get(c, IL_STR("witness")), b);
            il_buf_putc(b, '\n');
        }
    }
    for (const il_json *c = il_json_first(il_json_get(o, IL_STR("controls"))); c; c = il_json_next(c)) {
        joined_control(c, b);
    }
    joined_word(o, "A FLEET BREAKS AN INVARIANT", "THE FLEET IS NOT SETTLED", b);
}

static void widening_text_names(const il_json *o, const char *key, const char *title, il_buf *b) {
    const il_json *first = il_json_first(il_json_get(o, il_str_of(key)));
    if (!first) {
        return;
    }
    il_buf_puts(b, title);
    for (const il_json *n = first; n; n = il_json_next(n)) {
        il_buf_puts(b, n == first ? " " : ", ");
        joined_put(b, n, "kind");
        il_buf_putc(b, ' ');
        joined_put(b, n, "name");
    }
    il_buf_putc(b, '\n');
}

static void widening_text_line(const il_json *c, il_buf *b) {
    const size_t from = b->n;
    const il_json *witness = il_json_get(c, IL_STR("witness"));
    joined_put(b, c, "verdict");
    joined_pad(b, from, 14);
    joined_put(b, c, "id");
    if (joined_has(c, "action") || joined_has(c, "rule")) {
        joined_pad(b, from, 31);
    }
    joined_put(b, c, "action");
    il_buf_puts(b, joined_has(c, "action") && joined_has(c, "rule") ? " as " : "");
    joined_put(b, c, "rule");
    if (joined_has(c, "finding")) {
        il_buf_puts(b, "  ");
        joined_put(b, c, "finding");
    }
    if (joined_has(c, "detail")) {
        il_buf_puts(b, ": ");
        joined_put(b, c, "detail");
    }
    il_buf_putc(b, '\n');
    for (const il_json *s = il_json_first(witness); s; s = il_json_next(s)) {
        il_buf_puts(b, s == il_json_first(witness) ? "              witness: " : " ");
        joined_put(b, s, "step");
        il_buf_puts(b, il_json_next(s) ? "" : "\n");
    }
}

void il_widening_text(const il_json *o, const char *old_name, il_buf *b) {
    bool wider = false;
    il_buf_puts(b, "\nagainst ");
    joined_put_name(b, old_name);
    il_buf_puts(b, ": ");
    joined_put(b, o, "matched_symbols");
    il_buf_puts(b, " symbols in both, ");
    joined_put(b, o, "states");
    il_buf_puts(b, " pairs of states, ");
    joined_put(b, o, "edges");
    il_buf_puts(b, il_json_bool(il_json_get(o, IL_STR("bound_hit"))) ? " steps (a bound was reached)\n" : " steps\n");
    for (const il_json *c = il_json_first(il_json_get(o, IL_STR("checks"))); c; c = il_json_next(c)) {
        widening_text_line(c, b);
        wider = wider || (joined_is(c, "verdict", "FAIL") && !joined_is(c, "finding", "LOST_SYMBOL") &&
                          !joined_is(c, "finding", "BREAKING_RULE"));
    }
    if (il_json_bool(il_json_get(o, IL_STR("beyond")))) {
        il_buf_puts(
            b,
            "behind a listed step the new version is in states that the old one has no words for: nothing is compared there\n");
    }
    widening_text_names(o, "only_old", "only in the old version:", b);
    widening_text_names(o, "only_new", "only in the new version:", b);
    joined_control(il_json_get(o, IL_STR("control")), b);
    joined_word(o, wider ? "WIDER THAN THE OLD VERSION" : "BREAKS WITH THE OLD VERSION", "THE COMPARISON IS NOT SETTLED", b);
}
