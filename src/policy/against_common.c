/* SPDX-License-Identifier: Apache-2.0 */
/* What two policies have in common beyond their entries and rules, and what differs in it. */
#include "base/sha256.h"
#include "policy/against_part.h"

static bool common_listed(const il_policy *p, const il_policy *q, const il_listed *item) {
    const il_str word = il_kinds_word(&p->kinds, item->pattern.kind);
    for (uint32_t i = 0; i < q->names.n; i++) {
        const il_listed *other = &q->names.list[i];
        if (other->pattern.shape == item->pattern.shape && other->accepts == item->accepts &&
            other->is_public == item->is_public && other->ours == item->ours &&
            il_str_eq(other->pattern.text, item->pattern.text) &&
            il_str_eq(il_kinds_word(&q->kinds, other->pattern.kind), word)) {
            return true;
        }
    }
    return false;
}

/* A name that only one has is of its kind; of what is public, aliases of all kinds are looked for. */
static void common_names(il_against *a) {
    for (uint32_t k = 0; k < IL_AGAINST_KINDS; k++) {
        a->names[k] = true;
    }
    for (int side = 0; side < 2; side++) {
        const il_policy *p = a->p[side], *q = a->p[1 - side];
        for (uint32_t i = 0; i < p->names.n; i++) {
            const il_listed *item = &p->names.list[i];
            const uint32_t kind = item->pattern.kind < IL_KIND_CUSTOM ? item->pattern.kind : (uint32_t)IL_KIND_CUSTOM;
            if (common_listed(p, q, item)) {
                continue;
            }
            for (uint32_t k = 0; k < IL_AGAINST_KINDS; k++) {
                a->names[k] = a->names[k] && !item->is_public && k != kind;
            }
        }
    }
    a->names[IL_KIND_URL] = a->names[IL_KIND_URL] && a->names[IL_KIND_HOST];
}

static bool common_strings(const il_str *x, uint32_t nx, const il_str *y, uint32_t ny) {
    bool same = nx == ny;
    for (uint32_t i = 0; i < nx && same; i++) {
        bool there = false;
        for (uint32_t k = 0; k < ny && !there; k++) {
            there = il_str_eq(x[i], y[k]);
        }
        same = there;
    }
    return same;
}

/* Groups of each agent that either declares. */
static bool common_agents(const il_policy *p, const il_policy *q) {
    bool same = true;
    for (uint32_t i = 0; i < p->agents.n && same; i++) {
        const il_agent *x = &p->agents.list[i], *y = il_policy_agent(q, x->id);
        same = y != NULL ? common_strings(x->groups, x->ngroups, y->groups, y->ngroups) : x->ngroups == 0;
    }
    return same;
}

static bool common_monitors(const il_policy *p) {
    bool any = p->mode == IL_MODE_MONITOR;
    for (uint32_t i = 0; i < p->agents.n; i++) {
        any = any || (p->agents.list[i].has_mode && p->agents.list[i].mode == IL_MODE_MONITOR);
    }
    return any;
}

il_status il_against_common(il_against *a, il_error *err) {
    const il_policy *p = a->p[0], *q = a->p[1];
    uint8_t x[IL_DIGEST_BYTES], y[IL_DIGEST_BYTES];
    il_machine_digest(p->machine, x);
    il_machine_digest(q->machine, y);
    a->machine = a->machine_digest = il_digest_eq(x, y);
    if (!a->machine) {
        IL_TRY(il_against_machines(a, &a->machine, err));
    }
    common_names(a);
    a->agents = common_agents(p, q) && common_agents(q, p);
    a->sources = common_strings(p->options.untrusted, p->options.nuntrusted, q->options.untrusted, q->options.nuntrusted) &&
                 common_strings(p->options.trusted, p->options.ntrusted, q->options.trusted, q->options.ntrusted);
    a->monitors = common_monitors(p) || common_monitors(q);
    a->approvals = p->approvals.releases == q->approvals.releases;
    a->language = p->interbolt.on == q->interbolt.on;
    return IL_OK;
}

/* ---- settings ---------------------------------------------------------------------------------------------- */

IL_PRINTF(4, 5)
static il_status common_say(il_against *a, const char *about, il_error *err, const char *fmt, ...) {
    char text[IL_ERROR_MSG_BYTES];
    il_against_finding f = {.kind = IL_AGAINST_SETTING, .about = il_str_of(about)};
    va_list args;
    va_start(args, fmt);
    f.text = (il_str){text, il_format_list(text, sizeof text, fmt, args)};
    va_end(args);
    return il_against_say(a, &f, err);
}

static const char *common_mode(il_mode m) { return m == IL_MODE_ENFORCE ? "enforce" : "monitor"; }

static il_status common_modes(il_against *a, il_error *err) {
    const il_policy *p = a->p[0], *q = a->p[1];
    if (p->mode != q->mode) {
        IL_TRY(common_say(a, "mode", err, "mode `%s`, and `%s` in the other: in `monitor` every call runs", common_mode(p->mode),
                          common_mode(q->mode)));
    }
    for (int side = 0; side < 2; side++) {
        const il_policy *from = a->p[side];
        for (uint32_t i = 0; i < from->agents.n; i++) {
            const il_str id = from->agents.list[i].id;
            const il_mode x = il_policy_mode_of(p, id), y = il_policy_mode_of(q, id);
            const bool default_says_it = x == p->mode && y == q->mode;
            if (x != y && !default_says_it && (side == 0 || il_policy_agent(p, id) == NULL)) {
                IL_TRY(common_say(a, "mode", err, "agent `%.*s`: mode `%s`, and `%s` in the other", IL_STR_ARG(id),
                                  common_mode(x), common_mode(y)));
            }
        }
    }
    return IL_OK;
}

static il_status common_approvals(il_against *a, il_error *err) {
    const il_approval_rules *x = &a->p[0]->approvals, *y = &a->p[1]->approvals;
    if (x->releases != y->releases) {
        IL_TRY(common_say(a, "approvals.for", err, "what a human may release: %s%s%s, and %s%s%s in the other",
                          (x->releases & (uint32_t)IL_EGRESS) != 0 ? "egress " : "",
                          (x->releases & (uint32_t)IL_COMMIT) != 0 ? "commit" : "", x->releases == 0 ? "nothing" : "",
                          (y->releases & (uint32_t)IL_EGRESS) != 0 ? "egress " : "",
                          (y->releases & (uint32_t)IL_COMMIT) != 0 ? "commit" : "", y->releases == 0 ? "nothing" : ""));
    }
    if (x->lasts_ms != y->lasts_ms) {
        IL_TRY(common_say(a, "approvals.expires", err, "an approval lasts %llu s, and %llu s in the other",
                          (unsigned long long)(x->lasts_ms / 1000), (unsigned long long)(y->lasts_ms / 1000)));
    }
    if (!common_strings(x->by, x->nby, y->by, y->nby) || !common_strings(y->by, y->nby, x->by, x->nby)) {
        IL_TRY(common_say(a, "approvals.by", err, "others may answer than in the other"));
    }
    if (x->budget != y->budget) {
        IL_TRY(common_say(a, "approvals.budget", err, "%u requests an hour, and %u in the other (0: no bound)",
                          (unsigned)x->budget, (unsigned)y->budget));
    }
    if (x->where != y->where) {
        IL_TRY(common_say(a, "approvals.where", err, "a human is asked in other places than in the other"));
    }
    return IL_OK;
}

static il_status common_server(il_against *a, il_str name, il_error *err) {
    static const il_str features[] = {{"sampling", 8}, {"roots", 5}, {"elicitation", 11}};
    const il_policy *p = a->p[0], *q = a->p[1];
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const bool x = il_policy_server_may(p, name, features[i]), y = il_policy_server_may(q, name, features[i]);
        if (x != y) {
            IL_TRY(common_say(a, "servers", err, "server `%.*s` may %sask for `%.*s`, and may %sin the other", IL_STR_ARG(name),
                              x ? "" : "not ", IL_STR_ARG(features[i]), y ? "" : "not "));
        }
    }
    if (il_policy_server_prototypes(p, name) != il_policy_server_prototypes(q, name)) {
        IL_TRY(common_say(a, "servers", err, "server `%.*s`: `prototype_keys` differs, so some arguments reach it under one only",
                          IL_STR_ARG(name)));
    }
    const il_server *x = il_policy_server(p, name), *y = il_policy_server(q, name);
    if (!il_str_eq(x != NULL ? x->cwd : (il_str){0}, y != NULL ? y->cwd : (il_str){0})) {
        IL_TRY(
            common_say(a, "servers", err, "server `%.*s`: `cwd` differs, so relative names are other places", IL_STR_ARG(name)));
    }
    return IL_OK;
}

il_status il_against_settings(il_against *a, il_error *err) {
    const il_policy *p = a->p[0], *q = a->p[1];
    if (!a->machine) {
        const il_str x = il_machine_name(p->machine), y = il_machine_name(q->machine);
        IL_TRY(common_say(a, "machine", err, "machine `%.*s`, and `%.*s` in the other: a session is stepped otherwise",
                          IL_STR_ARG(x), IL_STR_ARG(y)));
    }
    if (!a->language) {
        IL_TRY(common_say(a, "version", err, "%s, and %s in the other",
                          p->interbolt.on ? "a document of Interbolt" : "a policy of ours",
                          q->interbolt.on ? "a document of Interbolt" : "a policy of ours"));
    }
    IL_TRY(common_modes(a, err));
    IL_TRY(common_approvals(a, err));
    if (!a->sources) {
        IL_TRY(common_say(a, "sources", err, "other sources are trusted or untrusted than in the other"));
    }
    if (il_policy_call_ms(p) != il_policy_call_ms(q)) {
        IL_TRY(common_say(a, "sessions.call_deadline", err,
                          "a call counts as its worst after %llu s, and %llu s in the other (0: the host's)",
                          (unsigned long long)(il_policy_call_ms(p) / 1000), (unsigned long long)(il_policy_call_ms(q) / 1000)));
    }
    if (p->options.laundering != q->options.laundering) {
        IL_TRY(common_say(a, "audit.laundering", err, "what is sent is compared with what was read under one of them only"));
    }
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < a->p[side]->nservers; i++) {
            const il_str name = a->p[side]->servers[i].name;
            if (side == 0 || il_policy_server(p, name) == NULL) {
                IL_TRY(common_server(a, name, err));
            }
        }
    }
    return IL_OK;
}
