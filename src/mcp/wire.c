/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/wire.h"

#include "base/error.h"

/* False: the message is too large to be written, and was not. */
static bool wire_send(il_wire *w, const il_json *message, bool to_client) {
    if (w->phase == IL_PHASE_STOP || (to_client ? w->client_gone : w->life == IL_LIFE_DOWN || w->life == IL_LIFE_LOST)) {
        return true;
    }
    il_str line;
    il_error err = {0};
    il_status st = il_rpc_line(&w->arena, message, IL_WIRE_LINE_MAX, &line, &err);
    if (st == IL_E_LIMIT) { /* our escapes are longer than what came: six bytes for a control character */
        return false;
    }
    if (st == IL_OK && il_wire_wait(w, to_client, line)) {
        return true;
    }
    if (st == IL_OK) {
        st = to_client ? il_writer_put(w->out, line, &err) : il_upstream_put(w->up, line, &err);
    }
    if (st != IL_OK && st != IL_E_IO) { /* the end of the other side is reported by itself */
        il_wire_fatal(w, err.msg);
    }
    return true;
}

bool il_wire_release(il_wire *w, const il_json *message) { return wire_send(w, message, true); }

void il_wire_to_client(il_wire *w, const il_json *message) {
    if (!wire_send(w, message, true)) {
        il_wire_fatal(w, "a message of our own is too large");
    }
}

void il_wire_to_server(il_wire *w, const il_json *message) {
    if (!wire_send(w, message, false)) {
        il_wire_fatal(w, "a message to the server is too large");
    }
}

void il_wire_refuse(il_wire *w, const il_rpc_id *id, int64_t code, const char *text) {
    il_wire_to_client(w, il_rpc_error(&w->arena, id, code, il_str_of(text), NULL));
}

void il_wire_uninvited(il_wire *w, il_str method, const char *why) {
    const uint64_t n = ++w->uninvited;
    if ((n & (n - 1)) == 0) { /* the first, second, fourth, eighth … : a flood is no flood of lines */
        il_log_write(w->c.log, IL_LOG_WARN, "%.*s: `%.*s` is dropped: %s (%llu so far)", IL_STR_ARG(w->c.name),
                     IL_STR_ARG(il_str_part(method, 0, 64)), why, (unsigned long long)n);
    }
}

bool il_wire_may_note(il_wire *w, il_budget *lines, const char *about) {
    const uint64_t now = il_loop_now_ms();
    const bool may = il_budget_take(lines, now);
    const uint64_t n = il_budget_report(lines, now);
    if (n > 0) {
        il_log_write(w->c.log, IL_LOG_WARN, "more than %u lines a second about %s; left out: %llu", lines->per_second, about,
                     (unsigned long long)n);
    }
    return may;
}

void il_wire_hold(il_wire *w, unsigned why, bool on) {
    w->hold = on ? w->hold | why : w->hold & ~why;
    if (w->hold != 0) {
        il_reader_pause(w->in);
    } else {
        il_reader_resume(w->in);
    }
}

void il_wire_arm(il_wire *w) {
    if (w->turn.on) {
        return; /* once, at its end */
    }
    const uint64_t calls = il_pendings_due(&w->calls), asks = il_pendings_due(&w->asks), now = il_loop_now_ms();
    uint64_t due = calls < asks ? calls : asks;
    due = w->deaf != 0 && w->deaf < due ? w->deaf : due;
    if (due == UINT64_MAX) {
        il_timer_clear(w->due);
    } else {
        il_timer_set(w->due, due > now ? due - now : 0);
    }
}

size_t il_wire_in_flight(const il_wire *w) {
    size_t n = 0;
    for (size_t i = 0; i < w->calls.n; i++) {
        /* of a server outside only a judged call has admitted what it may say */
        n += w->calls.v[i]->message != IL_MSG_INITIALIZE && (w->inside || w->calls.v[i]->judged);
    }
    return n;
}

static const il_str wire_capabilities[] = {{"tools", 5}, {"resources", 9}, {"prompts", 7}, {"completions", 11}, {"logging", 7}};
#define WIRE_CAPABILITIES (sizeof wire_capabilities / sizeof *wire_capabilities)

bool il_wire_serves(const il_wire *w, il_str capability) {
    for (size_t i = 0; i < WIRE_CAPABILITIES; i++) {
        if (il_str_eq(capability, wire_capabilities[i])) {
            return (w->serves & (1u << i)) != 0;
        }
    }
    return capability.n == 0;
}

void il_wire_serve(il_wire *w, const il_json *capabilities) {
    w->serves = 0;
    for (size_t i = 0; i < WIRE_CAPABILITIES; i++) {
        /* 2024-11-05 has completion/complete but no capability for it. */
        if (il_json_get(capabilities, wire_capabilities[i]) != NULL ||
            (w->revision == IL_REVISION_2024_11_05 && il_str_eq(wire_capabilities[i], IL_STR("completions")))) {
            w->serves |= 1u << i;
        }
    }
}

il_json_limits il_wire_limits(size_t bytes) {
    return (il_json_limits){.size = sizeof(il_json_limits),
                            .bytes = bytes,
                            .depth = IL_WIRE_DEPTH,
                            .nodes = IL_WIRE_NODES,
                            .memory = IL_WIRE_ARENA_MAX / 2};
}
