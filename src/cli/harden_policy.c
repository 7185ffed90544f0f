/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/harden_policy.h"

#include <string.h>

#include "check/mislabel.h"
#include "check/report.h"
#include "check/usage.h"
#include "host/preset.h"
#include "interlock/host.h"
#include "policy/approval.h"
#include "policy/bind.h"
#include "policy/effect.h"

enum {
    TOOL_SYMBOLS_MAX = 2 << IL_EFFECTS,
    TOOL_ERRORS_MAX = 10
}; /* of one label: sets of effects with and without approval; single errors */
#define TOOLS_MAX 16384u
#define UNDECLARED IL_STR("undeclared") /* stands for every server that the policy does not name */

typedef struct tools_walk {
    const il_policy *policy;
    const il_bind *bind;
    il_arena *arena;
    il_labels *out;
    uint32_t cap;
} tools_walk;

static void tools_symbol(il_label_tool *tool, uint32_t symbol) {
    for (uint32_t i = 0; i < tool->nsymbols; i++) {
        if (tool->symbols[i] == symbol) {
            return;
        }
    }
    if (symbol != IL_NO_SYMBOL) {
        tool->symbols[tool->nsymbols++] = symbol;
    }
}

static uint32_t tools_approved(const tools_walk *w, uint32_t effects, il_sink_word sink) {
    bool may = w->bind->approves && il_policy_may_release(w->policy, effects);
    return may ? il_bind_admit(w->bind, effects, sink, true) : IL_NO_SYMBOL;
}

static void tools_add_symbols(const tools_walk *w, il_label_tool *tool, uint32_t effects, il_sink_word sink) {
    sink = effects & (uint32_t)IL_EGRESS ? sink : IL_SINK_NONE;
    tools_symbol(tool, il_bind_admit(w->bind, effects, sink, false));
    tools_symbol(tool, tools_approved(w, effects, sink));
}

static void tools_add_error(const tools_walk *w, il_label_tool *tool, const char *effect, const il_label *label, uint32_t effects,
                            il_sink_word sink) {
    sink = effects & (uint32_t)IL_EGRESS ? sink : IL_SINK_NONE;
    tool->errors[tool->nerrors++] = (il_label_error){
        .effect = effect,
        .charged = {il_bind_admit(w->bind, effects, sink, false), tools_approved(w, effects, sink)},
        .truth = {il_bind_admit(w->bind, label->effects, label->sink, false),
                  w->bind->approves ? il_bind_admit(w->bind, label->effects, label->sink, true) : IL_NO_SYMBOL},
    };
}

/* Every single error of a label: an effect that is not declared, a sink that others read later, a destination that is vouched and should not be, a
 * server that is taken for one inside. */
static void tools_add_errors(const tools_walk *w, il_label_tool *tool, const il_label *label, const il_tool *entry,
                             bool vouches) {
    static const char *const dropped[IL_EFFECTS] = {"untrusted", "sensitive", "secret", "egress", "commit"};
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        uint32_t bit = 1u << i;
        bool implied = bit == (uint32_t)IL_SENSITIVE && (label->effects & (uint32_t)IL_SECRET) != 0; /* secret says it as well */
        if ((label->effects & bit) != 0 && !implied) {
            tools_add_error(w, tool, dropped[i], label, label->effects & ~bit, label->sink);
        }
    }
    if (label->sink == IL_SINK_STANDING) {
        tools_add_error(w, tool, "standing", label, label->effects, IL_SINK_ONCE);
    }
    if (vouches && (label->effects & (uint32_t)IL_EGRESS) != 0) {
        tools_add_error(w, tool, "vouched", label, label->effects & ~(uint32_t)IL_EGRESS, label->sink);
    }
    if (label->outside && entry->effects != label->effects) {
        tools_add_error(w, tool, "outside", label, entry->effects, entry->once ? IL_SINK_ONCE : IL_SINK_STANDING);
    }
}

static bool tools_names(const il_tool *t, il_role role) {
    bool names = false;
    for (uint32_t i = 0; i < t->narguments; i++) {
        names = names || t->arguments[i].role == role;
    }
    for (uint32_t i = 0; i < t->nbuilt; i++) {
        names = names || t->built[i].role == role;
    }
    return names;
}

/* What a call may lack of the worst case: by vouching, by a condition on its arguments, or because a child's answer comes back by a join. A condition on
 * `item` is settled behind the admission. */
static uint32_t tools_may_lack(const il_tool *entry, const il_label *label) {
    uint32_t bits = entry->child ? (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE) & ~entry->effects : 0;
    bits |= !label->outside && tools_names(entry, IL_ROLE_TO) ? (uint32_t)IL_EGRESS : 0;
    bits |= !label->outside && tools_names(entry, IL_ROLE_OBJECT) ? (uint32_t)IL_COMMIT : 0;
    for (uint32_t i = 0; entry->when && i < entry->when->n; i++) {
        bits |= entry->when->when[i].bit & ~entry->when->on_item;
    }
    bits |= (bits & (uint32_t)IL_SECRET) && !(entry->said & (uint32_t)IL_SENSITIVE) ? (uint32_t)IL_SENSITIVE : 0;
    return bits & label->effects & ~(label->outside ? (uint32_t)(IL_UNTRUSTED | IL_EGRESS) : 0u);
}

static il_status tools_sample(tools_walk *w, const il_tool *entry, il_str name, il_str server, il_str tool, il_error *err) {
    il_label label;
    IL_TRY(il_policy_label(w->policy, &(il_label_call){.server = server, .tool = tool, .unjoined = true}, w->arena, &label, err));
    if (!label.known) {
        return IL_OK; /* no call of that name is ever admitted */
    }
    if (w->out->ntools == w->cap) {
        return il_error_set(err, IL_E_LIMIT, "more than %u tools and servers that they may be of", (unsigned)TOOLS_MAX);
    }
    il_label_tool *t = &w->out->tools[w->out->ntools++];
    *t = (il_label_tool){.name = name,
                         .symbols = IL_NEW_ARRAY(w->arena, uint32_t, TOOL_SYMBOLS_MAX),
                         .errors = IL_NEW_ARRAY(w->arena, il_label_error, TOOL_ERRORS_MAX)};
    if (!t->symbols || !t->errors) {
        return il_arena_fail(w->arena, err);
    }
    const uint32_t lacks = tools_may_lack(entry, &label);
    uint32_t lacking = 0;
    do { /* the worst case, and every part of it that a call may have */
        const uint32_t effects = label.effects & ~lacking;
        if (!(effects & (uint32_t)IL_SECRET) || (effects & (uint32_t)IL_SENSITIVE)) { /* a secret is sensitive */
            tools_add_symbols(w, t, effects, label.sink);
        }
        lacking = (lacking - lacks) & lacks;
    } while (lacking != 0);
    tools_add_errors(w, t, &label, entry, !label.outside && tools_names(entry, IL_ROLE_TO));
    return IL_OK;
}

/* The form without its stars: a star stands for any run of characters, also none. */
static il_status tools_least(tools_walk *w, il_str form, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, w->arena, 4096);
    for (size_t i = 0; i < form.n; i++) {
        if (form.p[i] != '*') {
            il_buf_putc(&b, form.p[i]);
        }
    }
    if (b.n == 0 || form.p[form.n - 1] == '.') {
        il_buf_puts(&b, "any");
    }
    return il_buf_done(&b, out, err);
}

/* A tool of one server, when the pattern matches it. */
static il_status tools_of_server(tools_walk *w, const il_tool *entry, const il_glob *glob, il_str server, il_str least,
                                 il_error *err) {
    il_buf b;
    il_str name = {0};
    il_buf_init(&b, w->arena, 4096);
    if (server.n > 0) {
        il_buf_put(&b, server);
        il_buf_putc(&b, '.');
    }
    il_buf_put(&b, least);
    IL_TRY(il_buf_done(&b, &name, err));
    return il_glob_matches(glob, name) ? tools_sample(w, entry, name, server, least, err) : IL_OK;
}

static il_status tools_form(tools_walk *w, const il_tool *entry, const il_glob *glob, il_str form, il_error *err) {
    size_t dot = il_str_find(form, IL_STR("."), 0), star = il_str_find(form, IL_STR("*"), 0);
    il_str least = {0}, server = {0};
    if (dot != SIZE_MAX && (star == SIZE_MAX || star > dot)) {
        IL_TRY(tools_least(w, il_str_part(form, dot + 1, form.n), &least, err));
        return tools_sample(w, entry, form, il_str_part(form, 0, dot), least, err);
    }
    IL_TRY(tools_least(w, dot == SIZE_MAX ? form : il_str_part(form, dot + 1, form.n), &least, err));
    if (star == SIZE_MAX) { /* a host's own tool */
        return tools_sample(w, entry, form, server, least, err);
    }
    for (uint32_t i = 0; i < w->policy->nservers; i++) {
        IL_TRY(tools_of_server(w, entry, glob, w->policy->servers[i].name, least, err));
    }
    IL_TRY(tools_of_server(w, entry, glob, UNDECLARED, least, err));
    return dot == SIZE_MAX ? tools_of_server(w, entry, glob, server, least, err) : IL_OK;
}

il_status il_policy_tools(const il_policy *p, il_arena *arena, il_labels *out, il_error *err) {
    il_bind *bind = IL_NEW(arena, il_bind);
    *out = (il_labels){0};
    uint64_t room = 0;
    for (uint32_t i = 0; i < p->ntools; i++) {
        for (uint32_t g = 0; g < p->tools[i].nglobs; g++) {
            room += (uint64_t)p->tools[i].globs[g].nforms * (p->nservers + 2);
        }
    }
    tools_walk w = {.policy = p, .bind = bind, .arena = arena, .out = out, .cap = room < TOOLS_MAX ? (uint32_t)room : TOOLS_MAX};
    out->tools = IL_NEW_ARRAY(arena, il_label_tool, w.cap);
    if (!bind || !out->tools) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_bind_open(p->machine, bind, err));
    for (uint32_t i = 0; i < p->ntools; i++) {
        for (uint32_t g = 0; g < p->tools[i].nglobs; g++) {
            const il_glob *glob = &p->tools[i].globs[g];
            for (uint32_t k = 0; k < glob->nforms; k++) {
                IL_TRY(tools_form(&w, &p->tools[i], glob, glob->forms[k], err));
            }
        }
    }
    return IL_OK;
}

/* ---- what no label mediates ---- */

static void seam_add(il_report *r, il_json *list, const char *seam, il_str name, const char *why) {
    il_json *o = il_report_object(r);
    il_report_set(r, o, "seam", il_report_word(r, seam));
    il_report_set(r, o, "name", il_report_str(r, name));
    il_report_set(r, o, "why", il_report_word(r, why));
    il_report_push(r, list, o);
}

static bool seam_answers(const il_policy *p) {
    bool judged = false;
    for (uint32_t i = 0; i < p->ntools; i++) {
        for (uint32_t g = 0; g < p->tools[i].nglobs; g++) {
            judged = judged || il_glob_matches(&p->tools[i].globs[g], IL_STR("respond"));
        }
    }
    return judged;
}

static il_json *seams_object(il_report *r, const il_policy *p) {
    il_json *list = il_report_list(r);
    if (p->mode == IL_MODE_MONITOR) {
        seam_add(r, list, "mode", IL_STR("monitor"), "every call runs, whatever is decided");
    }
    if (!seam_answers(p)) {
        seam_add(r, list, "answer", IL_STR("respond"),
                 "what the assistant says to its user is no call: addresses and images in it are not seen");
    }
    for (uint32_t i = 0; i < p->ntools; i++) {
        const il_tool *t = &p->tools[i];
        il_str name = t->nglobs > 0 ? t->globs[0].text : (il_str){0};
        bool sink = (t->effects & ((uint32_t)IL_EGRESS | (uint32_t)IL_COMMIT)) != 0;
        if (t->effects == 0) {
            seam_add(r, list, tools_names(t, IL_ROLE_READS) || tools_names(t, IL_ROLE_LINE) ? "free-text" : "no-effects", name,
                     "the entry says that a call does nothing: neither its arguments nor its result are looked at");
        } else if ((t->effects & (uint32_t)IL_UNTRUSTED) == 0) {
            seam_add(r, list, "result", name, "without `untrusted` what a call returns counts as nobody else's words");
        }
        for (uint32_t k = 0; sink && k < t->narguments; k++) {
            if (t->arguments[k].role == IL_ROLE_PLAIN) {
                seam_add(r, list, "plain-argument", t->arguments[k].path.text,
                         "nothing in it is looked at, and the call sends it");
            }
        }
    }
    for (uint32_t i = 0; i < p->nservers; i++) {
        if (p->servers[i].inside) {
            seam_add(r, list, "inside", p->servers[i].name,
                     "that the server is inside the trust domain is declared, not checked");
        }
    }
    return list;
}

static il_status harden_policy_object(il_harden *h, const il_policy *p, const il_labels *labels, il_json **out, il_error *err) {
    il_report r = {.arena = h->subject.arena, .m = h->subject.m};
    il_usage *usage = IL_NEW(h->subject.arena, il_usage);
    if (!usage) {
        return il_arena_fail(h->subject.arena, err);
    }
    IL_TRY(il_usage_run(h, labels, usage, err));
    uint8_t fingerprint[IL_DIGEST_BYTES];
    il_policy_fingerprint(p, fingerprint);
    il_json *o = il_report_object(&r);
    il_report_set(&r, o, "fingerprint", il_report_digest(&r, fingerprint));
    il_report_set(&r, o, "tools", il_report_number(&r, labels->ntools));
    il_report_set(&r, o, "usage", il_usage_object(h->subject.m, usage, h->subject.arena));
    il_report_set(&r, o, "unmediated", seams_object(&r, p));
    *out = o;
    return r.failed ? il_arena_fail(h->subject.arena, err) : IL_OK;
}

static il_status harden_mislabel(il_harden *h, const il_labels *labels, il_error *err) {
    il_mislabel *mislabel = IL_NEW(h->subject.arena, il_mislabel);
    if (!mislabel) {
        return il_arena_fail(h->subject.arena, err);
    }
    IL_TRY(il_mislabel_run(h, labels, mislabel, err));
    return il_harden_join(h, "mislabel", il_mislabel_object(h->subject.m, mislabel, h->subject.arena), err);
}

/* The strings of the labels are the policy's: it must outlive what is made of them. */
static il_status harden_policy_of(il_harden *h, const il_policy *p, il_error *err) {
    il_labels *labels = IL_NEW(h->subject.arena, il_labels);
    il_json *object = NULL, *copy = NULL;
    il_str text = {0};
    if (!labels) {
        return il_arena_fail(h->subject.arena, err);
    }
    IL_TRY(il_policy_tools(p, h->subject.arena, labels, err));
    for (uint32_t t = 0; t < labels->ntools; t++) {
        IL_TRY(il_arena_copy(h->subject.arena, labels->tools[t].name, &labels->tools[t].name, err));
    }
    IL_TRY(harden_policy_object(h, p, labels, &object, err));
    IL_TRY(il_harden_json(object, h->subject.arena, &text, err)); /* by its text, so that nothing of it is the policy's */
    IL_TRY(il_json_parse(h->subject.arena, text, NULL, &copy, err));
    IL_TRY(il_harden_join(h, "policy", copy, err));
    return harden_mislabel(h, labels, err);
}

static il_status harden_bare(il_harden *h, il_error *err) {
    il_arena *arena = h->subject.arena;
    il_labels *labels = IL_NEW(arena, il_labels);
    if (!labels) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_mislabel_symbols(h, labels, err));
    IL_TRY(il_harden_join(h, "policy", il_json_make(arena, IL_JSON_NULL), err));
    return harden_mislabel(h, labels, err);
}

il_status il_harden_policy(il_harden *h, const il_json *doc, il_error *err) {
    il_arena *arena = h->subject.arena;
    if (!h->fully_mediated) {
        IL_TRY(il_harden_join(h, "policy", il_json_make(arena, IL_JSON_NULL), err));
        return il_harden_join(h, "mislabel", il_json_make(arena, IL_JSON_NULL), err);
    }
    if (!doc) {
        return harden_bare(h, err);
    }
    il_machine *machine = NULL;
    il_policy *policy = NULL;
    il_bind bind;
    IL_TRY(il_machine_open(il_host_alloc(), h->table, h->certificate, &machine, err));
    bool usable = il_bind_open(machine, &bind, NULL) == IL_OK; /* else no tool has a symbol, and the line `sessions` tells why */
    il_preset_shelf shelf = {.arena = arena};
    const il_presets presets = il_host_presets(&shelf);
    il_status status = usable ? il_policy_expand(arena, doc, &presets, &doc, err) : harden_bare(h, err);
    if (status == IL_OK && usable) {
        status = il_policy_new(il_host_alloc(), doc, machine, &policy, err);
        status = status == IL_OK ? harden_policy_of(h, policy, err) : status;
    }
    il_policy_free(policy);
    il_machine_free(machine);
    return status;
}

/* ---- text ---- */

static void text_number(il_buf *b, const il_json *o, const char *key) {
    int64_t v = 0;
    (void)il_json_int(il_json_get(o, il_str_of(key)), &v);
    il_buf_puti(b, v);
}

static void text_word(il_buf *b, const il_json *o, const char *key) {
    il_buf_put(b, il_json_text(il_json_get(o, il_str_of(key))));
}

/* The steps of a trace of the report: action and what of its payload is not at rest. */
static void text_steps(il_buf *b, const il_json *steps) {
    for (const il_json *s = il_json_first(steps); s; s = il_json_next(s)) {
        const char *between = "{";
        il_buf_putc(b, ' ');
        text_word(b, s, "action");
        for (const il_json *f = il_json_first(il_json_get(s, IL_STR("payload"))); f; f = il_json_next(f)) {
            il_str value = il_json_text(f);
            if (il_str_eq(value, IL_STR("false")) || il_str_eq(value, IL_STR("none"))) {
                continue;
            }
            il_buf_puts(b, between);
            il_buf_put(b, il_json_key(f));
            if (!il_str_eq(value, IL_STR("true"))) {
                il_buf_putc(b, '=');
                il_buf_put(b, value);
            }
            between = ",";
        }
        il_buf_puts(b, between[0] == ',' ? "}" : "");
    }
}

static void text_mislabel(il_buf *b, const il_json *o, bool each) {
    il_buf_puts(b, "single points of failure: ");
    text_number(b, o, "labels_with_points");
    il_buf_puts(b, " of ");
    text_number(b, o, "labels");
    il_buf_puts(b, " labels; of ");
    text_number(b, o, "errors");
    il_buf_puts(b, " single errors ");
    text_number(b, o, "unseen");
    il_buf_puts(b, " say the same to this machine\n");
    for (const il_json *p = each ? il_json_first(il_json_get(o, IL_STR("points"))) : NULL; p; p = il_json_next(p)) {
        il_buf_puts(b, "  ");
        text_word(b, p, "tool");
        il_buf_puts(b, " without `");
        text_word(b, p, "forgets");
        il_buf_puts(b, "`: ");
        text_word(b, p, "region");
        il_buf_puts(b, " after");
        text_steps(b, il_json_get(p, IL_STR("witness")));
        il_buf_putc(b, '\n');
    }
}

static void text_policy(il_buf *b, const il_json *o) {
    const il_json *usage = il_json_get(o, IL_STR("usage"));
    il_buf_puts(b, "policy: ");
    text_number(b, o, "tools");
    il_buf_puts(b, " tools, which leave ");
    il_buf_putu(b, il_json_count(il_json_get(usage, IL_STR("unused"))));
    il_buf_puts(b, " of ");
    text_number(b, usage, "possible");
    il_buf_puts(b, " symbols of the agent unused\n");
    for (const il_json *r = il_json_first(il_json_get(usage, IL_STR("regions"))); r; r = il_json_next(r)) {
        if (!il_str_eq(il_json_text(il_json_get(r, IL_STR("state"))), IL_STR("held shut"))) {
            il_buf_puts(b, "  ");
            text_word(b, r, "region");
            il_buf_puts(b, il_str_eq(il_json_text(il_json_get(r, IL_STR("state"))), IL_STR("dead"))
                               ? " is dead: these tools cannot come near it\n"
                               : " is not settled: a bound was reached\n");
        }
    }
    for (const il_json *s = il_json_first(il_json_get(o, IL_STR("unmediated"))); s; s = il_json_next(s)) {
        il_buf_puts(b, "  unmediated (");
        text_word(b, s, "seam");
        il_buf_puts(b, ") ");
        text_word(b, s, "name");
        il_buf_puts(b, ": ");
        text_word(b, s, "why");
        il_buf_putc(b, '\n');
    }
}

il_status il_harden_policy_text(const il_json *report, il_arena *arena, il_str *out, il_error *err) {
    const il_json *policy = il_json_get(report, IL_STR("policy")), *mislabel = il_json_get(report, IL_STR("mislabel"));
    il_buf b;
    il_buf_init(&b, arena, (size_t)16 << 20);
    if (il_json_kind_of(policy) == IL_JSON_OBJECT) {
        text_policy(&b, policy);
    }
    if (il_json_count(il_json_get(mislabel, IL_STR("points"))) > 0 || il_json_kind_of(policy) == IL_JSON_OBJECT) {
        text_mislabel(&b, mislabel, il_json_kind_of(policy) == IL_JSON_OBJECT);
    }
    return il_buf_done(&b, out, err);
}
