/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/record.h"

#include "provenance/memory.h"
#include "json/node.h"

#define IL_RECORD_BYTES_MAX ((size_t)64 << 10)
#define IL_RECORD_BYTES_TYPICAL 1024u
#define IL_RECORD_LISTED 256u /* bytes of an item of a list */

void il_record_member(il_record *r, il_str key) {
    char *to = il_buf_room(&r->buf, key.n + 4);
    if (to != NULL) {
        to[0] = r->more ? ',' : '{';
        to[1] = '"';
        memcpy(to + 2, key.p, key.n);
        to[key.n + 2] = '"';
        to[key.n + 3] = ':';
        r->buf.n += key.n + 4;
    }
    r->more = true;
}

void il_record_open(il_record *r, il_arena *arena) {
    r->more = false;
    il_buf_init(&r->buf, arena, IL_RECORD_BYTES_MAX);
    (void)il_buf_room(&r->buf, IL_RECORD_BYTES_TYPICAL);
}

void il_record_str(il_record *r, il_str key, il_str s) {
    il_record_member(r, key);
    il_json_write_string(&r->buf, s);
}

void il_record_text(il_record *r, il_str key, const char *z) {
    if (z != NULL && z[0] != '\0') {
        il_record_str(r, key, il_str_of(z));
    } else {
        il_record_member(r, key);
        il_buf_put(&r->buf, IL_STR("null"));
    }
}

void il_record_number(il_record *r, il_str key, uint64_t v) {
    il_record_member(r, key);
    il_buf_putu(&r->buf, v);
}

void il_record_truth(il_record *r, il_str key, bool v) {
    il_record_member(r, key);
    il_buf_put(&r->buf, v ? IL_STR("true") : IL_STR("false"));
}

static void il_record_hex(il_record *r, il_str key, const uint8_t *p, size_t n) {
    il_record_member(r, key);
    il_buf_putc(&r->buf, '"');
    il_buf_hex(&r->buf, p, n);
    il_buf_putc(&r->buf, '"');
}

void il_record_state(il_record *r, il_str key, uint64_t state) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(state >> (8 * (7 - i)));
    }
    il_record_hex(r, key, bytes, sizeof bytes);
}

void il_record_digest(il_record *r, il_str key, const uint8_t *digest) {
    if (digest != NULL) {
        il_record_hex(r, key, digest, IL_DIGEST_BYTES);
    } else {
        il_record_text(r, key, NULL);
    }
}

void il_record_effects(il_record *r, il_str key, uint32_t effects) {
    char separator = '[';
    il_record_member(r, key);
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if ((effects & (1u << i)) != 0) {
            il_buf_putc(&r->buf, separator);
            il_json_write_string(&r->buf, il_effect_name(1u << i));
            separator = ',';
        }
    }
    il_buf_put(&r->buf, separator == '[' ? IL_STR("[]") : IL_STR("]"));
}

void il_record_strings(il_record *r, il_str key, const il_str *list, size_t n) {
    il_record_member(r, key);
    il_buf_putc(&r->buf, '[');
    for (size_t i = 0; i < n; i++) {
        il_buf_put(&r->buf, i > 0 ? IL_STR(",") : IL_STR(""));
        il_json_write_string(&r->buf, il_str_part(list[i], 0, IL_RECORD_LISTED));
    }
    il_buf_putc(&r->buf, ']');
}

#define IL_RECORD_VALUES 16u

/* A text of a result or an argument, cut; bytes that are no text are escaped. */
static void il_record_shown(il_record *r, il_str key, il_str s) {
    char text[IL_RECORD_LISTED + 1];
    const size_t n = il_format(text, sizeof text, "%.*s", IL_STR_ARG(s));
    il_record_str(r, key, (il_str){text, n});
}

void il_record_from(il_record *r, il_str key, const il_source *source) {
    if (source->ticket == 0) {
        il_record_text(r, key, NULL);
        return;
    }
    il_record_member(r, key);
    r->more = false;
    il_record_number(r, IL_STR("ticket"), source->ticket);
    il_record_shown(r, IL_STR("tool"), source->name);
    il_buf_putc(&r->buf, '}');
    r->more = true;
}

void il_record_values(il_record *r, il_str key, const il_label *label, const il_memory *memory) {
    il_record_member(r, key);
    il_buf_putc(&r->buf, '[');
    for (size_t i = 0; i < label->nvalues && i < IL_RECORD_VALUES; i++) {
        const il_vouched *v = &label->values[i];
        il_buf_put(&r->buf, i > 0 ? IL_STR(",") : IL_STR(""));
        r->more = false;
        il_record_shown(r, IL_STR("argument"), v->argument);
        const il_source source = memory != NULL && v->source != 0 ? il_memory_source(memory, v->source) : (il_source){0};
        il_record_from(r, IL_STR("from"), &source);
        il_record_shown(r, IL_STR("kind"), v->kind);
        il_record_shown(r, IL_STR("value"), v->value);
        il_record_truth(r, IL_STR("vouched"), il_vouch_vouches(v->how));
        il_record_text(r, IL_STR("why"), il_vouch_text(v->how));
        il_buf_putc(&r->buf, '}');
    }
    il_buf_putc(&r->buf, ']');
    r->more = true;
}

il_status il_record_done(il_record *r, il_str *out, il_error *err) {
    il_buf_put(&r->buf, r->more ? IL_STR("}") : IL_STR("{}"));
    return il_buf_done(&r->buf, out, err);
}

/* ---- the decision -------------------------------------------------------------------------------- */

static void il_record_symbol(il_record *r, const il_machine *machine, uint32_t symbol) {
    char text[256];
    text[0] = '\0';
    if (symbol != IL_NO_SYMBOL && machine != NULL) {
        (void)il_machine_symbol_text(machine, symbol, text, sizeof text);
    }
    il_record_text(r, IL_STR("symbol"), text);
}

static void il_record_witnesses(il_record *r, const il_decision *d) {
    il_record_member(r, IL_STR("witnesses"));
    il_buf_putc(&r->buf, '[');
    for (uint32_t i = 0; i < d->nwitnesses; i++) {
        const il_witness *w = &d->witnesses[i];
        il_buf_put(&r->buf, i > 0 ? IL_STR(",") : IL_STR(""));
        r->more = false;
        il_record_str(r, IL_STR("effect"), il_effect_name(w->effect));
        il_record_number(r, IL_STR("ticket"), w->ticket);
        il_record_text(r, IL_STR("tool"), w->tool);
        il_buf_putc(&r->buf, '}');
    }
    il_buf_putc(&r->buf, ']');
    r->more = true;
}

static const char *il_record_sink(const il_label *label) {
    switch (label != NULL ? label->sink : IL_SINK_NONE) {
    case IL_SINK_NONE:
        return NULL;
    case IL_SINK_ONCE:
        return "once";
    case IL_SINK_STANDING:
        return "standing";
    }
    return NULL;
}

void il_record_tool(il_record *r, il_str tool) {
    char text[IL_TOOL_BYTES + 32];
    (void)il_format(text, sizeof text, "%.*s", IL_STR_ARG(tool));
    il_record_str(r, IL_STR("tool"), il_str_of(text));
}

void il_record_decision(il_record *r, const il_machine *machine, il_str tool, bool enforced, const il_label *label,
                        const uint8_t *recalled, const il_decision *d) {
    il_record_text(r, IL_STR("action"), il_action_name(d->action));
    il_record_text(r, IL_STR("approval"), d->approval);
    il_record_digest(r, IL_STR("args_digest"), d->args_digest);
    il_record_effects(r, IL_STR("declared"), label != NULL ? label->declared : 0);
    il_record_effects(r, IL_STR("effects"), d->effects);
    il_record_text(r, IL_STR("layer"), il_layer_name(d->layer));
    il_record_text(r, IL_STR("mode"), enforced ? "enforce" : "monitor");
    il_record_state(r, IL_STR("post"), d->post);
    il_record_state(r, IL_STR("pre"), d->pre);
    il_record_text(r, IL_STR("reason"), d->reason);
    il_record_digest(r, IL_STR("recalled"), recalled);
    il_record_truth(r, IL_STR("run"), d->run);
    il_record_text(r, IL_STR("sink"), il_record_sink(label));
    il_record_symbol(r, machine, d->symbol);
    il_record_number(r, IL_STR("ticket"), d->ticket);
    il_record_tool(r, tool);
    il_record_truth(r, IL_STR("unenforced"), d->unenforced);
    il_record_number(r, IL_STR("v"), 1);
    il_record_truth(r, IL_STR("vouched"), label != NULL && label->vouched);
    il_record_text(r, IL_STR("why"), label != NULL ? label->why : NULL);
    il_record_witnesses(r, d);
}
