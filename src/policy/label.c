/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "policy/effect.h"
#include "policy/place.h"
#include "policy/vouch.h"

/* What the entries that match make of a call. */
typedef struct il_matched {
    const il_tool *tool; /* the first; NULL: none */
    bool several;        /* unequal patterns: their worst case, and nothing is vouched */
    uint32_t effects;
    bool once, child;
    const il_policy *policy; /* what conditions are asked about */
    const il_label_call *call;
    il_arena *scratch;
} il_matched;

static il_status il_matched_add(void *ctx, const il_tool *t, il_error *err) {
    il_matched *m = ctx;
    uint32_t effects;
    IL_TRY(il_effects_call(m->policy, t, m->call, m->scratch, &effects, err));
    m->several = m->tool != NULL;
    m->once = t->once && (m->once || !m->several);
    m->tool = m->several ? m->tool : t;
    m->effects |= effects;
    m->child = m->child || t->child;
    return IL_OK;
}

static il_status il_label_name(il_str server, il_str tool, il_arena *scratch, il_str *out, il_error *err) {
    if (server.n == 0) {
        *out = tool;
        return IL_OK;
    }
    char *p = il_arena_bytes(scratch, server.n + 1 + tool.n);
    if (p == NULL) {
        return il_arena_fail(scratch, err);
    }
    memcpy(p, server.p, server.n);
    p[server.n] = '.';
    memcpy(p + server.n + 1, tool.p, tool.n);
    *out = (il_str){p, server.n + 1 + tool.n};
    return IL_OK;
}

static void il_label_sink(il_label *out, bool once) {
    out->sink = (out->effects & (uint32_t)IL_EGRESS) == 0 ? IL_SINK_NONE : once ? IL_SINK_ONCE : IL_SINK_STANDING;
}

bool il_label_lists(il_str tool) {
    static const il_str methods[] = {
        {"tools/list", 10}, {"prompts/list", 12}, {"resources/list", 14}, {"resources/templates/list", 24}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (il_str_eq(tool, methods[i])) {
            return true;
        }
    }
    return false;
}

bool il_label_bare(il_str tool, const il_json *args) {
    const il_json *cursor = il_json_get(args, IL_STR("cursor"));
    return il_label_lists(tool) && il_json_count(args) == (cursor != NULL ? 1u : 0u) &&
           (cursor == NULL || il_json_kind_of(cursor) == IL_JSON_STRING);
}

static il_status il_label_judge(const il_policy *p, const il_label_call *call, il_arena *scratch, il_label *out, il_error *err) {
    const il_str server = call->server, tool = call->tool;
    const il_json *args = call->args;
    il_str name = {0};
    if (tool.n == 0) {
        return IL_OK;
    }
    IL_TRY(il_label_name(server, tool, scratch, &name, err));
    /* A dot in the server's name, or a host's own tool with one, would let one tool pass for another server's. */
    if (!il_glob_name_ok(name) || il_str_find(server, IL_STR("."), 0) != SIZE_MAX ||
        (server.n == 0 && il_str_find(tool, IL_STR("."), 0) != SIZE_MAX)) {
        return IL_OK;
    }
    bool outside = server.n > 0 && !il_policy_server_inside(p, server), lists = outside && il_label_bare(tool, args);
    il_matched m = {.policy = p, .call = call, .scratch = scratch};
    IL_TRY(il_policy_match_each(p, name, il_matched_add, &m, err));
    if (m.tool == NULL && !lists) {
        return IL_OK;
    }
    out->outside = outside;
    out->child = m.child && !call->unjoined;
    out->declared = m.effects | (m.child && call->unjoined ? (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE) : 0u) |
                    (outside || call->carries ? (uint32_t)IL_UNTRUSTED : 0u) |
                    (outside && !(lists && il_json_count(args) == 0) ? (uint32_t)IL_EGRESS : 0u);
    out->effects = out->declared;
    IL_TRY(il_label_places(p, name, call, scratch, out, err));
    if ((out->declared & IL_SINKS) != 0) {
        if (outside) {
            il_vouch_refuse(out, "the server is outside the trust domain, so every call to it sends data there");
        } else if (m.several) {
            il_vouch_refuse(out, "several unequal entries match this tool; write one for its exact name");
        } else {
            IL_TRY(il_vouch_call(p, m.tool, call, scratch, out, err));
        }
    }
    il_label_sink(out, m.once);
    out->known = true;
    return IL_OK;
}

il_status il_policy_label(const il_policy *p, const il_label_call *call, il_arena *scratch, il_label *out, il_error *err) {
    *out = (il_label){0};
    if (call->args != NULL && il_json_kind_of(call->args) != IL_JSON_OBJECT) {
        return il_error_set(err, IL_E_INVALID, "the arguments are not an object");
    }
    il_status s = il_label_judge(p, call, scratch, out, err);
    if (s != IL_OK) {
        *out = (il_label){0};
    }
    return s;
}
