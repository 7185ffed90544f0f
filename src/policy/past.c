/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/past.h"

#include "policy/carried.h"
#include "policy/compiled.h"
#include "policy/kind.h"
#include "provenance/memory.h"

#define IL_PAST_SHORT 2u  /* bytes of what stands in any text */
#define IL_PAST_DEPTH 64u /* of an argument; what lies deeper is as of every source */

/* ---- lists of names ----------------------------------------------------------------------------------- */

typedef struct il_past_names {
    il_cel_value *items;
    uint32_t n;
} il_past_names;

static void il_past_add(il_past_names *names, il_str name) {
    for (uint32_t i = 0; i < names->n; i++) {
        if (il_str_eq(il_cel_str(names->items[i]), name)) {
            return;
        }
    }
    if (name.n > 0) {
        names->items[names->n++] = il_cel_of_str(name);
    }
}

static il_status il_past_room(il_past_names *names, uint32_t n, il_arena *scratch, il_error *err) {
    *names = (il_past_names){.items = il_arena_array(scratch, (size_t)n + 1, sizeof(il_cel_value))};
    return names->items != NULL ? IL_OK : il_arena_fail(scratch, err);
}

static il_cel_value il_past_list(const il_past_names *names) { return il_cel_of_items(IL_CEL_LIST, names->items, names->n); }

/* What the policy calls a source: what it says of the tool whose result it is, else its own name. */
static il_str il_past_name(const il_policy *p, const il_source *s) {
    const il_tool *tool = p->sourced && s->kind == IL_SOURCE_RESULT ? il_policy_entry(p, s->name) : NULL;
    return tool != NULL && tool->source.n > 0 ? tool->source : s->name;
}

/* Interbolt knows a source when a value of it was marked: noticed by the host, or a result of a tool that says what it is a source of. */
static bool il_past_counts(const il_policy *p, const il_source *s) {
    if (!p->interbolt.on) {
        return s->kind != IL_SOURCE_SENT;
    }
    const il_tool *tool = s->kind == IL_SOURCE_RESULT ? il_policy_entry(p, s->name) : NULL;
    return s->kind == IL_SOURCE_NOTICE || (tool != NULL && tool->source.n > 0);
}

static bool il_past_untrusted(const il_policy *p, const il_source *s) {
    if (p->interbolt.on) { /* by name, whatever the host thought of it when it came */
        return !il_policy_source_trusted(p, il_past_name(p, s));
    }
    return (s->taints & (uint32_t)IL_UNTRUSTED) != 0 || il_policy_source_untrusted(p, il_past_name(p, s));
}

il_status il_past_sources(const il_policy *p, const il_label_call *call, il_arena *scratch, il_cel_value out[3], il_error *err) {
    const il_memory *memory = call->memory;
    const uint32_t n = memory != NULL ? il_memory_classes(memory) : 0;
    il_past_names names[3];
    for (size_t i = 0; i < 3; i++) {
        IL_TRY(il_past_room(&names[i], n + il_carried_names(call), scratch, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        const il_source s = il_memory_class(memory, i);
        if (!il_past_counts(p, &s)) {
            continue;
        }
        il_past_add(&names[0], il_past_name(p, &s));
        if (il_past_untrusted(p, &s)) {
            il_past_add(&names[1], il_past_name(p, &s));
        }
        il_past_add(&names[2], s.agent);
    }
    for (size_t i = 0; i < call->nlabels; i++) {
        const il_origin *o = call->labels[i].origin;
        for (size_t k = 0; k < il_origin_sources(o); k++) {
            const il_str name = il_origin_lineage(o, k);
            il_past_add(&names[0], name);
            if (!il_policy_source_trusted(p, name)) {
                il_past_add(&names[1], name);
            }
        }
        for (size_t k = 0; k < il_origin_agents(o); k++) {
            il_past_add(&names[2], il_origin_agent(o, k));
        }
    }
    for (size_t i = 0; i < 3; i++) {
        out[i] = il_past_list(&names[i]);
    }
    return IL_OK;
}

/* ---- one argument --------------------------------------------------------------------------------------- */

typedef struct il_past_look {
    const il_policy *policy;
    const il_memory *memory;
    il_arena *scratch;
    il_past_names names;
    uint64_t *classes;   /* those that a text is of */
    bool untrusted, all; /* all: it may be of every source */
} il_past_look;

static void il_past_of(il_past_look *l, uint32_t class) {
    const il_source s = il_memory_class(l->memory, class);
    il_past_add(&l->names, il_past_name(l->policy, &s));
    l->untrusted = l->untrusted || (s.taints & (uint32_t)IL_UNTRUSTED) != 0 ||
                   il_policy_source_untrusted(l->policy, il_past_name(l->policy, &s));
}

static il_status il_past_text(il_past_look *l, il_str text, il_error *err) {
    const uint32_t n = il_memory_classes(l->memory);
    bool more = false;
    if (text.n == 0 || n == 0 || l->all) {
        return IL_OK;
    }
    IL_TRY(il_memory_find_classes(l->memory, text, l->scratch, l->classes, &more, err));
    l->all = l->all || more;
    for (uint32_t class = 0; class < n; class ++) {
        if ((l->classes[class / 64] >> class % 64 & 1) != 0) {
            il_past_of(l, class);
        }
    }
    return IL_OK;
}

static il_status il_past_walk(il_past_look *l, const il_json *v, unsigned depth, il_error *err) {
    const il_json_kind kind = il_json_kind_of(v);
    if (depth == 0) {
        l->all = true;
        return IL_OK;
    }
    if (kind == IL_JSON_STRING || kind == IL_JSON_NUMBER) {
        IL_TRY(il_past_text(l, il_json_text(v), err));
    }
    for (const il_json *child = il_json_first(v); child != NULL; child = il_json_next(child)) {
        IL_TRY(kind == IL_JSON_OBJECT ? il_past_text(l, il_json_key(child), err) : IL_OK);
        IL_TRY(il_past_walk(l, child, depth - 1, err));
    }
    return IL_OK;
}

/* A human typed all of it: a text of which no other is made by chance. */
static bool il_past_typed(const il_memory *memory, const il_json *argument) {
    const il_str text = il_json_text(argument);
    return memory != NULL && il_json_kind_of(argument) == IL_JSON_STRING && text.n > IL_PAST_SHORT &&
           il_memory_typed_words(memory, text);
}

il_status il_past_argument(const il_policy *p, const il_label_call *call, const il_json *argument, il_arena *scratch,
                           il_cel_value out[2], il_error *err) {
    il_past_look l = {.policy = p, .memory = call->memory, .scratch = scratch};
    const uint32_t n = l.memory != NULL ? il_memory_classes(l.memory) : 0;
    uint32_t named = 0; /* by its labels: at most IL_CALL_NAMES */
    for (size_t i = 0; i < call->nlabels; i++) {
        named +=
            il_carried_about(&call->labels[i], il_json_key(argument)) ? (uint32_t)il_origin_sources(call->labels[i].origin) : 0;
    }
    IL_TRY(il_past_room(&l.names, n + named, scratch, err));
    l.classes = IL_NEW_ARRAY(scratch, uint64_t, n / 64 + 1);
    if (l.classes == NULL) {
        return il_arena_fail(scratch, err);
    }
    if (l.memory != NULL) {
        l.all = !il_memory_complete(l.memory);
        IL_TRY(il_past_walk(&l, argument, IL_PAST_DEPTH, err));
    } else {
        l.all = true;
    }
    for (uint32_t i = 0; i < n && l.all; i++) {
        il_past_of(&l, i);
    }
    const il_trust_table table = il_policy_trust(p);
    bool known = il_past_typed(call->memory, argument); /* where it is from, and not only that it matches nothing */
    for (size_t i = 0; i < call->nlabels; i++) {
        const il_origin *o = call->labels[i].origin;
        if (!il_carried_about(&call->labels[i], il_json_key(argument))) {
            continue;
        }
        for (size_t k = 0; k < il_origin_sources(o); k++) {
            il_past_add(&l.names, il_origin_lineage(o, k));
        }
        const bool trusted = il_origin_trust(o, &table) == IL_TRUST_TRUSTED;
        l.untrusted = l.untrusted || !trusted;
        known = known || (trusted && il_carried_whole(&call->labels[i]));
    }
    l.untrusted = l.untrusted || ((l.all || !known) && (call->held & (uint32_t)IL_UNTRUSTED) != 0);
    out[0] = il_past_list(&l.names);
    out[1] = il_cel_of_str(l.untrusted ? IL_STR("untrusted") : IL_STR("trusted"));
    return IL_OK;
}

/* ---- what the labeller said ------------------------------------------------------------------------------ */

/* Whether a declared path, template or `$name` is about this argument. */
static bool il_past_about(il_str declared, il_str argument) {
    if (il_str_starts(declared, argument)) {
        const char next = declared.n > argument.n ? declared.p[argument.n] : '.';
        return next == '.' || next == '[';
    }
    for (size_t at = il_str_find(declared, IL_STR("{"), 0); at != SIZE_MAX; at = il_str_find(declared, IL_STR("{"), at + 1)) {
        const il_str rest = il_str_part(declared, at + 1, declared.n);
        const char next = rest.n > argument.n ? rest.p[argument.n] : 0;
        if (il_str_starts(rest, argument) && (next == '}' || next == '.')) {
            return true;
        }
    }
    return false;
}

const char *il_past_vouched(const il_label *label, il_str argument, il_cel_value *out) {
    const char *how = "no value of it was looked at";
    bool all = false, against = false;
    for (size_t i = 0; i < label->nvalues && !against; i++) {
        const il_vouched *v = &label->values[i];
        if (il_past_about(v->argument, argument)) {
            how = il_vouch_text(v->how);
            all = il_vouch_vouches(v->how);
            against = !all;
        }
    }
    *out = label->more && !against ? il_cel_of_fault(IL_CEL_BUDGET) : il_cel_of_bool(all);
    return how;
}

/* As its kind reads it: `Bob@Acme.example` is what stands there as `bob@acme.example`. */
static bool il_past_is(const il_vouched *v, il_str value, il_arena *scratch) {
    il_kind kind;
    il_str canonical = {0};
    if (il_str_eq(v->value, value)) {
        return true;
    }
    return il_kind_find(v->kind, &kind) && il_kind_value(kind, value, scratch, &canonical, NULL) == IL_OK &&
           il_str_eq(v->value, canonical);
}

il_cel_value il_past_value_vouched(const il_label *label, il_str value, il_arena *scratch) {
    bool vouched = false;
    for (size_t i = 0; i < label->nvalues; i++) {
        if (il_past_is(&label->values[i], value, scratch)) {
            if (!il_vouch_vouches(label->values[i].how)) {
                return il_cel_of_bool(false);
            }
            vouched = true;
        }
    }
    return !vouched && label->more ? il_cel_of_fault(IL_CEL_BUDGET) : il_cel_of_bool(vouched);
}
