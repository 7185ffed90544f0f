/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/record.h"

#include "base/sha256.h"

#define IL_RECORD_BYTES_MAX ((size_t)64 << 10)

il_json *il_record_effects(il_arena *arena, uint32_t effects) {
    il_json *list = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < IL_EFFECTS && list != NULL; i++) {
        if ((effects & (1u << i)) != 0 && !il_json_push(list, il_json_string(arena, il_effect_name(1u << i)))) {
            return NULL;
        }
    }
    return list;
}

/* Texts are copied: the row outlives the decision that they stand in. */
static il_json *il_record_str(il_arena *arena, il_str s) {
    il_str copy;
    return il_arena_copy(arena, s, &copy, NULL) == IL_OK ? il_json_string(arena, copy) : NULL;
}

il_json *il_record_text(il_arena *arena, const char *z) {
    return z == NULL || z[0] == '\0' ? il_json_make(arena, IL_JSON_NULL) : il_record_str(arena, il_str_of(z));
}

il_json *il_record_hex(il_arena *arena, const void *p, size_t n) {
    il_buf b;
    il_str text;
    il_buf_init(&b, arena, 2 * n);
    il_buf_hex(&b, p, n);
    return il_buf_done(&b, &text, NULL) == IL_OK ? il_json_string(arena, text) : NULL;
}

il_json *il_record_state(il_arena *arena, uint64_t state) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(state >> (8 * (7 - i)));
    }
    return il_record_hex(arena, bytes, sizeof bytes);
}

static il_json *il_record_symbol(il_arena *arena, const il_machine *machine, uint32_t symbol) {
    char text[256];
    if (symbol == IL_NO_SYMBOL || machine == NULL) {
        return il_json_make(arena, IL_JSON_NULL);
    }
    (void)il_machine_symbol_text(machine, symbol, text, sizeof text);
    return il_record_text(arena, text);
}

static il_json *il_record_witnesses(il_arena *arena, const il_decision *d) {
    il_json *list = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < d->nwitnesses; i++) {
        il_json *w = il_json_make(arena, IL_JSON_OBJECT);
        bool ok = il_json_set(w, IL_STR("effect"), il_json_string(arena, il_effect_name(d->witnesses[i].effect)));
        ok = ok && il_json_set(w, IL_STR("ticket"), il_json_number(arena, (int64_t)d->witnesses[i].ticket));
        ok = ok && il_json_set(w, IL_STR("tool"), il_record_text(arena, d->witnesses[i].tool));
        if (!ok || !il_json_push(list, w)) {
            return NULL;
        }
    }
    return list;
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

/* A tool's name as the caller gave it: cut, and escaped where it is not text. */
static il_json *il_record_tool(il_arena *arena, il_str tool) {
    char text[IL_TOOL_BYTES + 32];
    (void)il_format(text, sizeof text, "%.*s", IL_STR_ARG(tool));
    return il_record_str(arena, il_str_of(text));
}

bool il_record_judgement(il_arena *arena, il_json *object, uint32_t effects, il_action action, il_layer layer,
                         const char *reason) {
    return il_json_set(object, IL_STR("effects"), il_record_effects(arena, effects)) &&
           il_json_set(object, IL_STR("action"), il_record_text(arena, il_action_name(action))) &&
           il_json_set(object, IL_STR("layer"), il_record_text(arena, il_layer_name(layer))) &&
           il_json_set(object, IL_STR("reason"), il_record_text(arena, reason));
}

il_json *il_record_decision(il_arena *arena, const il_machine *machine, il_str tool, bool enforced, const il_label *label,
                            const il_decision *d) {
    il_json *o = il_json_make(arena, IL_JSON_OBJECT);
    bool ok = il_record_judgement(arena, o, d->effects, d->action, d->layer, d->reason);
    ok = ok && il_json_set(o, IL_STR("approval"), il_record_text(arena, d->approval));
    ok = ok && il_json_set(o, IL_STR("args_digest"), il_record_hex(arena, d->args_digest, sizeof d->args_digest));
    ok = ok && il_json_set(o, IL_STR("declared"), il_record_effects(arena, label != NULL ? label->declared : 0));
    ok = ok && il_json_set(o, IL_STR("mode"), il_record_text(arena, enforced ? "enforce" : "monitor"));
    ok = ok && il_json_set(o, IL_STR("post"), il_record_state(arena, d->post));
    ok = ok && il_json_set(o, IL_STR("pre"), il_record_state(arena, d->pre));
    ok = ok && il_json_set(o, IL_STR("run"), il_json_boolean(arena, d->run));
    ok = ok && il_json_set(o, IL_STR("sink"), il_record_text(arena, il_record_sink(label)));
    ok = ok && il_json_set(o, IL_STR("symbol"), il_record_symbol(arena, machine, d->symbol));
    ok = ok && il_json_set(o, IL_STR("ticket"), il_json_number(arena, (int64_t)d->ticket));
    ok = ok && il_json_set(o, IL_STR("tool"), il_record_tool(arena, tool));
    ok = ok && il_json_set(o, IL_STR("unenforced"), il_json_boolean(arena, d->unenforced));
    ok = ok && il_json_set(o, IL_STR("v"), il_json_number(arena, 1));
    ok = ok && il_json_set(o, IL_STR("vouched"), il_json_boolean(arena, label != NULL && label->vouched));
    ok = ok && il_json_set(o, IL_STR("why"), il_record_text(arena, label != NULL ? label->why : NULL));
    ok = ok && il_json_set(o, IL_STR("witnesses"), il_record_witnesses(arena, d));
    return ok ? o : NULL;
}

il_status il_record_write(il_arena *arena, const il_json *object, il_str *out, il_error *err) {
    if (object == NULL) {
        return il_arena_fail(arena, err);
    }
    il_buf b;
    il_buf_init(&b, arena, IL_RECORD_BYTES_MAX);
    il_json_write(&b, object, IL_JSON_SORTED);
    return il_buf_done(&b, out, err);
}
