/* SPDX-License-Identifier: Apache-2.0 */
/* What would allow a call that is not allowed: each change is tried on the machine before it is said. */
#include "policy/explain_part.h"

#define IL_CHANGE_SINKS ((uint32_t)(IL_EGRESS | IL_COMMIT))
#define IL_CHANGE_BYTES 1024u

IL_PRINTF(4, 5)
static il_status il_change_say(il_explaining *e, const char *kind, il_error *err, const char *fmt, ...) {
    char text[IL_CHANGE_BYTES];
    il_explanation *out = e->out;
    va_list args;
    if (out->nchanges == IL_EXPLAIN_CHANGES) {
        return IL_OK;
    }
    va_start(args, fmt);
    const size_t n = il_format_list(text, sizeof text, fmt, args);
    va_end(args);
    il_explain_change *c = &out->changes[out->nchanges++];
    c->kind = kind;
    return il_arena_copy(e->arena, (il_str){text, n}, &c->text, err);
}

/* `[untrusted, sensitive]` */
static void il_change_words(il_buf *b, uint32_t effects) {
    const char *comma = "";
    il_buf_putc(b, '[');
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if ((effects & (1u << i)) != 0) {
            il_buf_puts(b, comma);
            il_buf_put(b, il_effect_name(1u << i));
            comma = ", ";
        }
    }
    il_buf_putc(b, ']');
}

/* ---- an entry ----------------------------------------------------------------------------------------------- */

static il_status il_change_label(il_explaining *e, il_error *err) {
    const il_str near = il_policy_near(e->p, e->out->name);
    if (!il_glob_name_ok(e->out->name)) {
        return IL_OK; /* no policy can name it */
    }
    return il_change_say(e, "entry", err,
                         "an entry in `tools` that says what it does: `- { match: \"%.*s\", effects: [...] }`%s%.*s%s",
                         IL_STR_ARG(e->out->name), near.n ? "; did you mean `" : "", IL_STR_ARG(near), near.n ? "`?" : "");
}

/* ---- vouching ------------------------------------------------------------------------------------------------- */

static bool il_change_declares(const il_tool *t, il_role role) {
    return (role == IL_ROLE_TO && t->to_user) || il_tool_declares(t, role);
}

static bool il_change_knows(const il_tool *t, il_str argument) {
    bool found = false;
    for (uint32_t i = 0; i < t->narguments; i++) {
        found = found || (t->arguments[i].path.n > 0 && il_str_eq(t->arguments[i].path.steps[0], argument));
    }
    return found;
}

/* The argument of this role that the call leaves out, when it has none of them; empty otherwise. */
static il_str il_change_unnamed(const il_explaining *e, const il_tool *t, il_role role) {
    il_str first = {0};
    if (role == IL_ROLE_TO && t->to_user) {
        return first;
    }
    for (uint32_t i = 0; i < t->narguments; i++) {
        if (t->arguments[i].role != role) {
            continue;
        }
        first = first.n > 0 ? first : t->arguments[i].path.text;
        if (t->arguments[i].path.n > 0 && il_json_get(e->call.args, t->arguments[i].path.steps[0]) != NULL) {
            return (il_str){0};
        }
    }
    for (uint32_t i = 0; i < t->nbuilt; i++) { /* whether it can be built is said by `why` */
        first = t->built[i].role == role ? (il_str){0} : first;
    }
    return first;
}

/* The fewest effects that vouching has to take away for the machine to accept; 0: it would not help. */
static uint32_t il_change_drop(const il_explaining *e) {
    static const uint32_t tries[] = {(uint32_t)IL_EGRESS, (uint32_t)IL_COMMIT, IL_CHANGE_SINKS};
    for (size_t i = 0; i < 3; i++) {
        if ((e->out->label.effects & tries[i]) == tries[i] &&
            il_explain_accepts(e, e->out->state, e->out->label.effects & ~tries[i], e->out->label.sink, false)) {
            return tries[i];
        }
    }
    return 0;
}

/* What a human typed, and what trusted fields say, vouches where the readers are known. */
static il_status il_change_typed(il_explaining *e, const il_tool *t, uint32_t drop, il_error *err) {
    if ((drop & (uint32_t)IL_EGRESS) == 0) {
        return IL_OK; /* a commit has no readers: what is typed counts there as it is */
    }
    if (t->once && t->addressed) {
        return il_change_say(e, "typed", err, "a human who types where it goes: `interlock session say`, or the host");
    }
    return il_change_say(e, "typed", err,
                         "%s`audience: addressed` at the entry, if nobody but the addressee reads there, and a human who types "
                         "where it goes",
                         t->once ? "" : "`sink: once` and ");
}

/* What the arguments of this call miss: what is said of them all is one change. */
static il_status il_change_values(il_explaining *e, const il_tool *t, uint32_t drop, il_error *err) {
    static const uint32_t sinks[] = {(uint32_t)IL_EGRESS, (uint32_t)IL_COMMIT};
    static const il_role roles[] = {IL_ROLE_TO, IL_ROLE_OBJECT};
    const il_label *label = &e->out->label;
    const uint32_t needed = t->once ? (label->declared | e->call.held) & IL_TAINTS : IL_TAINTS;
    const char *kind = NULL, *and = "";
    il_buf b;
    il_str text;
    il_buf_init(&b, e->arena, IL_CHANGE_BYTES / 2);
    for (const il_json *a = il_json_first(e->call.args); a != NULL; a = il_json_next(a)) {
        if (!il_change_knows(t, il_json_key(a)) && il_json_kind_of(a) != IL_JSON_NULL) {
            il_buf_puts(&b, kind == NULL ? "say what each argument is, at the entry: `plain: [" : ", ");
            il_buf_put(&b, il_json_key(a));
            kind = "plain";
        }
    }
    if (kind != NULL) {
        il_buf_puts(&b, "]` if it names no one and nothing that is changed");
        and = "; and ";
    }
    for (size_t r = 0; r < 2; r++) {
        const il_str unnamed = (drop & sinks[r]) != 0 ? il_change_unnamed(e, t, roles[r]) : (il_str){0};
        if (unnamed.n > 0) {
            il_buf_puts(&b, and);
            il_buf_puts(&b, r == 0 ? "name in `" : "name what is changed in `");
            il_buf_put(&b, unnamed);
            il_buf_puts(&b, r == 0 ? "` where it goes" : "`");
            and = "; and ";
            kind = kind != NULL ? kind : "destination";
        }
    }
    for (size_t i = 0; i < label->nvalues; i++) {
        const il_vouched *v = &label->values[i];
        if (il_vouch_vouches(v->how) || v->how == IL_VOUCH_UNREAD) {
            continue;
        }
        il_buf_puts(&b, and);
        il_buf_puts(&b, "list the ");
        il_buf_put(&b, v->kind);
        il_buf_puts(&b, " `");
        il_buf_put(&b, v->value);
        il_buf_puts(&b, "` in `ours`, or in `destinations` for ");
        il_change_words(&b, needed);
        and = "; and ";
        kind = kind != NULL ? kind : "list";
    }
    if (b.failed && b.why == IL_E_LIMIT && !e->arena->capped) { /* more than anybody would read */
        return il_change_say(e, kind != NULL ? kind : "list", err,
                             "declare all of its arguments at the entry, and list where it goes and what it changes");
    }
    IL_TRY(il_buf_done(&b, &text, err));
    if (kind == NULL) {
        return IL_OK;
    }
    IL_TRY(il_change_say(e, kind, err, "%.*s", IL_STR_ARG(text)));
    return il_str_eq(il_str_of(kind), IL_STR("list")) ? il_change_typed(e, t, drop, err) : IL_OK;
}

static il_status il_change_vouch(il_explaining *e, il_error *err) {
    const il_tool *t = e->out->entry;
    const uint32_t drop = il_change_drop(e);
    if (drop == 0 || t == NULL) {
        return IL_OK;
    }
    if (e->out->label.outside) {
        return IL_OK; /* that the server is outside is what would have to change */
    }
    if (e->out->nentries > 1) {
        return il_change_say(e, "entry", err,
                             "one entry for exactly `%.*s`: several unequal patterns match it, and nothing is vouched",
                             IL_STR_ARG(e->out->name));
    }
    if ((drop & (uint32_t)IL_EGRESS) != 0 && !il_change_declares(t, IL_ROLE_TO)) {
        return il_change_say(
            e, "destination", err,
            "declare at the entry which argument says where it goes, `to: { email: ARGUMENT }`, and list where it may go");
    }
    if ((drop & (uint32_t)IL_COMMIT) != 0 && !il_change_declares(t, IL_ROLE_OBJECT)) {
        return il_change_say(
            e, "destination", err,
            "declare at the entry which argument says what is changed, `object: { path: ARGUMENT }`, and list what is yours");
    }
    if (e->call.args != NULL) {
        return il_change_values(e, t, drop, err);
    }
    e->out->depends = true;
    IL_TRY(il_change_say(e, "list", err,
                         "a call that names only what `ours` or `destinations` lists for all that the session holds%s",
                         t->once ? "" : " (for every class, since the sink stays open)"));
    return il_change_typed(e, t, drop, err);
}

/* ---- the server, the sink, approvals ---------------------------------------------------------------------------- */

static il_status il_change_server(il_explaining *e, il_error *err) {
    const il_tool *t = e->out->entry;
    if (!e->out->label.outside || t == NULL || !il_explain_accepts(e, e->out->state, t->effects, e->out->label.sink, false)) {
        return IL_OK;
    }
    return il_change_say(e, "server", err, "declare server `%.*s` with `trust: inside`, if it runs within your trust domain",
                         IL_STR_ARG(e->call.server));
}

/* `once` sends by value: the machine may accept it as it is, or let a human release it. */
static il_status il_change_release(il_explaining *e, il_error *err) {
    const il_label *label = &e->out->label;
    const bool standing = label->sink == IL_SINK_STANDING, may = il_policy_may_release(e->p, label->effects);
    if (standing && il_explain_accepts(e, e->out->state, label->effects, IL_SINK_ONCE, false)) {
        return il_change_say(e, "sink", err, "`sink: once` at the entry, if a call sends by value and keeps nothing open");
    }
    const uint32_t symbol = il_bind_admit(&e->bind, label->effects, standing ? IL_SINK_ONCE : label->sink, false);
    if (symbol == IL_NO_SYMBOL || !e->bind.approves) {
        return IL_OK;
    }
    const il_step step = il_machine_step(e->bind.machine, e->out->state, symbol);
    if (!il_machine_releasable(e->bind.machine, step.reason) ||
        !il_explain_accepts(e, e->out->state, label->effects, IL_SINK_ONCE, true) || (may && !standing)) {
        return IL_OK;
    }
    const char *what = (label->effects & (uint32_t)IL_EGRESS) != 0
                           ? (label->effects & (uint32_t)IL_COMMIT) != 0 ? "egress, commit" : "egress"
                           : "commit";
    if (!standing) {
        return il_change_say(e, "approvals", err, "`approvals: { for: [%s] }`, and a human's approval of this call", what);
    }
    return may ? il_change_say(
                     e, "sink", err,
                     "`sink: once` at the entry, if a call sends by value and keeps nothing open, and a human's approval")
               : il_change_say(e, "sink", err,
                               "`sink: once` at the entry, if a call sends by value and keeps nothing open, with `approvals: { "
                               "for: [%s] }`, and "
                               "a human's approval",
                               what);
}

/* A session that does not hold one of them. */
static il_status il_change_session(il_explaining *e, il_error *err) {
    for (uint32_t bit = 1; bit < (1u << IL_EFFECTS); bit <<= 1) {
        const uint32_t less = e->held & ~(bit == (uint32_t)IL_SENSITIVE ? bit | (uint32_t)IL_SECRET : bit);
        uint64_t state;
        uint32_t rejected;
        if ((e->held & bit) != 0 && il_judged_state(&e->bind, less, &state, &rejected) &&
            il_explain_accepts(e, state, e->out->label.effects, e->out->label.sink, false)) {
            IL_TRY(il_change_say(e, "session", err, "a session that does not hold `%.*s`", IL_STR_ARG(il_effect_name(bit))));
        }
    }
    return IL_OK;
}

static il_status il_change_rule(il_explaining *e, il_error *err) {
    const il_policy_rule *rule = e->ruling.rule;
    if (e->ruling.erred) {
        return il_change_say(
            e, "rule", err,
            "a condition of rule `%.*s` (line %u) that does not err on this call: ask `has(args.x)` before `args.x`",
            IL_STR_ARG(rule->name), (unsigned)rule->line);
    }
    if (!e->out->accepted) {
        return il_change_say(e, "rule", err, "without rule `%.*s` (line %u), a human's approval", IL_STR_ARG(rule->name),
                             (unsigned)rule->line);
    }
    return il_change_say(
        e, "rule", err,
        "a rule before `%.*s` (line %u) that allows what is meant: `- { tools: \"%.*s\", when: ..., then: allow }`",
        IL_STR_ARG(rule->name), (unsigned)rule->line, IL_STR_ARG(e->out->name));
}

il_status il_explain_changes(il_explaining *e, il_error *err) {
    const il_explanation *out = e->out;
    if (out->action == IL_THEN_ALLOW) {
        return IL_OK;
    }
    if (!out->label.known) {
        return il_change_label(e, err);
    }
    if (out->action == IL_THEN_APPROVAL) {
        IL_TRY(il_change_say(e, "approve", err, "a human's approval of this very call: `interlock approvals`"));
    }
    if (il_str_eq(il_str_of(out->layer), IL_STR("rule")) || e->ruling.erred) {
        return il_change_rule(e, err);
    }
    IL_TRY(il_change_vouch(e, err));
    IL_TRY(il_change_server(e, err));
    IL_TRY(il_change_release(e, err));
    return il_change_session(e, err);
}
